/* What the checker of trees knows of a tree before it walks it: accesses, where they lie in their slots, who uses a ring and how.
 * Read from the ops alone; PROOF.md says what for. */
#ifndef LOWER_VERIFY_TREE_FACTS_H
#define LOWER_VERIFY_TREE_FACTS_H

#include <stddef.h>
#include <string.h>

#include "lang/limits.h"
#include "lower/algebra/domain/domain.h"
#include "lower/ir/ir.h"

enum { TREE_AGENTS = 4, TREE_EVENTS = 8, TREE_RANKS = 16 };

typedef enum AccessHow {
    BY_THREADS, /* generic proxy, over when the op is */
    TO_EVENT,   /* an asynchronous write, whose bytes complete a phase; or a commit, which arrives there and has none */
    BY_GROUP,   /* an asynchronous read, in a bulk group */
    BY_COMMIT,  /* what the tensor core does: a copy into its memory, or a shift there */
    BY_LANES,   /* by threads in tensor memory: for others it is over behind a tc.fence before and a synchronisation */
    TO_PEER,    /* an asynchronous read, over when the write at the peer is */
    OF_MAP,     /* map.set, which fences what it writes */
    OF_EVENT,   /* an await: of no bytes, but over before the event comes again */
    OF_ARRIVAL  /* of no bytes either: the phase at which it counts, of an event or of a release, is over when all of them have come */
} AccessHow;
#define POLY_UNKNOWN ((Poly){.bad = true})
typedef enum TreeLook { LOOK_RANGE /* no more */, LOOK_WHOLE /* what a condition picks is one number, with a range .. */, LOOK_SUMS /* .. or a sum */ } TreeLook;
typedef struct TreeView { /* where values are looked at */
    uint32_t rank;  /* in that CTA; ctas: in any */
    uint32_t since; /* what is made behind that op, from 1, is another number for each of two accesses; UINT32_MAX: nothing is */
    TreeLook look;
} TreeView;
static inline TreeView tree_at(uint32_t rank)
{
    return (TreeView){rank, UINT32_MAX, LOOK_SUMS};
}
typedef struct TreeSeen { /* a value there; turn: from 1, when it was found */
    uint32_t turn;
    bool wraps; /* but for multiples of 2^32 */
    Poly is;
    Interval range;
} TreeSeen;
typedef struct TreePlace { /* of what an op does in a slot: from first + byte + pitch * slot on, so many bytes: size + per * bytes; NULL: 0 */
    const IrArg *byte, *slot, *bytes; /* in tensor memory in each of its lanes, those of slots side by side */
    const IrArg *target;   /* the number of the CTA to whose slot it goes; NULL: it is that of the slot */
    int64_t first, pitch, size, per;
    uint64_t lanes[2];     /* of tensor memory, a bit each */
    uint32_t rank;         /* in that CTA; ctas: in any */
    bool lost;             /* where it lies is not known */
    bool whole;            /* anywhere in the slot */
    bool found, summed;    /* these have been asked for: */
    Interval begins, ends; /* between what .. */
    Poly start, extent;    /* .. and as sums */
    bool inside;           /* it is known to be */
    const struct TreePlace *beside; /* asked about last: does it meet that one? (places.c) */
    bool meets;
} TreePlace;
typedef struct TreeAccess { /* by an agent of one CTA, of the slot of one */
    uint32_t op, ring, buf;
    uint8_t agent; /* number of the role, from 0 */
    uint8_t rank, at; /* CTAs: whose agent it is, whose slot */
    uint8_t how;
    uint32_t out;    /* among those of the ring that are waited for, from 1 */
    uint64_t *apart; /* a set of what it was found not to meet; NULL: nothing */
    uint32_t over;   /* in sets of what is not known (state.h): that it is over; generic: the bit behind, that what it wrote is visible */
    bool write, one; /* one: by the elected thread */
    bool generic;    /* what it writes copies see behind a fence alone */
    uint32_t event;  /* of its ring, that it completes: from 1 */
    uint32_t sender; /* .. among those of the ring */
    uint32_t to;     /* TO_PEER: the first of its destinations, which follow one another: one for each CTA that may be it */
    uint32_t adds;   /* a reduction that commutes: of which kind and type, from 1; those of one may come in any order */
    TreePlace *place, *any; /* in its CTA; as far as it is the same in any */
} TreeAccess;

static inline bool has_bytes(const TreeAccess *x)
{
    return x->buf != UINT32_MAX;
}
static inline bool is_copy(const TreeAccess *x) /* it goes on by itself */
{
    return x->how != BY_THREADS && x->how < OF_MAP;
}

typedef struct TreeSender { /* of bytes for an event: the agent of a CTA */
    uint8_t event, agent, rank;
    uint16_t to; /* CTAs at which it may bring some .. */
    uint16_t asked, brings; /* .. and, of those that have been asked about, surely does (tree_brings) */
} TreeSender;
typedef struct TreeRing {
    const char *name;
    bool tensor; /* a tile of tensor memory: one generation, which begins when that is allocated */
    bool tells;  /* in a kernel of pairs: its events tell of others .. */
    bool paired; /* .. as of this one, where a CTA acts in both */
    uint8_t used, releases;     /* agents */
    uint8_t alone;              /* agents of one thread */
    uint8_t waits[TREE_AGENTS]; /* bits of events */
    uint32_t event[TREE_EVENTS + 1]; /* IrBar; behind those that are awaited `free`, at which releases arrive and `acquire` waits */
    uint32_t commits; /* bits of events at which those of the tensor core arrive */
    uint32_t nevents;  /* that are awaited: the number of `free` */
    uint32_t hears;    /* events that tell of it: its own, and those of rings that tell of it, each by its number there */
    uint32_t messages; /* .. of one that tells: the first of its events */
    uint32_t remote;   /* bits of events at which other CTAs arrive */
    bool has_copies; /* something of it is asynchronous */
    bool across, reached; /* CTAs touch each other's slots; an op that names it reaches others */
    VEC(uint32_t) ops, begun;     /* that name it or one of its events; that begin a generation: in order */
    VEC(uint32_t) announced;      /* .. that announce bytes */
    VEC(uint32_t) access;         /* to it */
    VEC(uint32_t) sources;        /* rings from which copies to other CTAs' slots of this one are made */
    VEC(uint32_t) outs;           /* bits of accesses that their agent waits for */
    uint32_t bits, *now;          /* of sets of what is not known; by bit: the access that has it where the walk is (tree_now) */
    /* sets of its accesses: state.h */
    uint64_t *writes, *fences, *far_fences; /* of what writes; that it is visible; .. what other CTAs wrote */
    uint64_t *copies;                       /* asynchronous, and known to be over by who made them */
    uint64_t *needs;                        /* by fact (needs_of) */
    uint64_t *lasting;                      /* all but facts that are asked for of the generation at hand alone */
    uint64_t *own;                          /* by agent and CTA: what its threads did synchronously */
    uint64_t *by_one;                       /* what elected threads did, visible or not */
    uint64_t *bound;                        /* by event and CTA: completes with the event there */
    /* a generation's record, in words: state.h; from at_bytes on it is made of bytes */
    uint32_t slots, words, ctas;
    VEC(TreeSender) senders;
    uint32_t at_unknown[TREE_AGENTS], at_unheard, at_part, at_announced, at_bytes, size;
    uint64_t *begun_as; /* what it is when it begins: state_begin */
} TreeRing;

typedef struct TreeOp {
    uint32_t first;       /* its first access; those of the next op begin at that one's */
    uint32_t next;        /* itself, or the first behind it that is no scalar; those have nothing to do with rings */
    uint32_t around, end; /* the op that opens the block around it, from 1; of what opens a block, its `end` or `else` */
    uint32_t ring;        /* it is done to that one, or to an event of it; from 1 */
    uint32_t loop;        /* it is that one, from 1 */
    uint16_t always, may; /* CTAs: where its guard surely holds, where it may */
    uint32_t *targets;    /* by CTA, and 1 behind those (tree_targets); 0, NULL: not asked for yet */
    uint8_t event;        /* from 1; of a release `free` */
    uint8_t agent;        /* the agent that has it, or a block around it; 0: all */
    bool in_lanes;        /* it is `lanes`, or stands inside */
} TreeOp;

typedef struct TreeValues {
    TreeView at;
    TreeSeen *value;
} TreeValues;
typedef struct TreeAsked { /* what has been asked for so far; NULL: not yet */
    const Interval *launch; /* by expression of the launch */
    VEC(TreeValues) seen;
    Atom *atom[TREE_RANKS + 1][2]; /* of values in a CTA, or in any; whether it is another one for each of two accesses */
    uint32_t turns; /* so often another index has been looked at */
    bool turning;   /* one is */
    uint32_t pairs, *held; /* places.c: so many pairs of conditions were compared; by value: in which pair it was seen to hold, or not */
} TreeAsked;

typedef struct TreeMap { /* what its copies count, and take in shared memory, without a halo and with one of a row */
    int64_t bytes[2], room[2];
    bool wide;
} TreeMap;

typedef VEC(const IrArg *) TreeSets; /* what a variable is given */

typedef struct TreeFacts {
    Arena *a;
    Domain *domain;
    const IrKernel *k;
    const IrRole *tree;
    uint32_t values; /* of it and of init: those of the roles are behind them */
    uint32_t ctas; /* of a cluster */
    VEC(TreeAccess) access;
    TreeOp *at; /* by op */
    VEC(int64_t) loops; /* the index that is looked at (tree_turns); INT64_MIN: none */
    TreeMap *map;        /* by map */
    uint32_t nrings;     /* of the kernel; behind them a ring for each tile of tensor memory */
    TreeRing *ring;
    uint32_t *tensor_ring; /* by buffer in tensor memory */
    uint32_t messages;   /* events of rings that tell of others */
    uint8_t committer[TREE_RANKS]; /* by CTA at which commits of the tensor core arrive: the one whose they are, from 1 */
    uint32_t words;   /* of a ring's set, at most */
    uint32_t *defined, *in_init; /* by value: its op in the tree, in init, from 1; 0: elsewhere */
    uint8_t sync[NAMED_BARRIERS]; /* by named barrier: the agent whose threads come together there */
    TreeSets *sets;   /* by variable */
    uint8_t *owner;   /* by variable: the agent that has it, 0: all */
    uint8_t *cell;    /* by buffer: the agent whose cell it is */
    const bool *divisors; /* by expression of the launch: it divides by it (tree_ends) */
    const bool *unlike; /* by value: may not be the same in all CTAs of the cluster (tree_alike) */
    TreeAsked *asked; /* values.c */
    const char *wrong; /* a tree of no use; wrong_op */
    uint32_t wrong_op;
} TreeFacts;

static inline const IrOp *tree_op(const TreeFacts *f, uint32_t i)
{
    return &f->tree->ops.v[i];
}
static inline bool tree_by_one(const TreeFacts *f, const IrOp *op) /* the elected thread of its agent */
{
    return op->elect || (op->agent && f->k->roles.v[op->agent - 1].elect);
}
static inline uint8_t bit(uint32_t agent) /* sets of agents */
{
    return (uint8_t)(1u << agent);
}
/* Where what stands in a block of its own ends, with its `else`. */
static inline uint32_t tree_last(const TreeFacts *f, uint32_t op)
{
    if (!ir_opens_block(f->tree->ops.v[op].op)) return op;
    uint32_t end = f->at[op].end;
    return f->tree->ops.v[end].op == IR_ELSE ? f->at[end].end : end;
}

static inline uint32_t tree_not_before(const uint32_t *ops, uint32_t n, uint32_t op) /* of ops in order the first that is not before it */
{
    uint32_t lo = 0;
    while (lo < n) {
        uint32_t mid = lo + (n - lo) / 2;
        if (ops[mid] < op) lo = mid + 1;
        else n = mid;
    }
    return lo;
}

/* Does a generation of the ring begin by an op from .. to - 1? */
static inline bool tree_begins(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to)
{
    const TreeRing *r = &f->ring[ring];
    uint32_t i = tree_not_before(r->begun.v, r->begun.n, from);
    return i < r->begun.n && r->begun.v[i] < to;
}

static inline const TreeAccess *tree_access_of(const TreeFacts *f, const TreeRing *r, uint32_t bit_) /* `over`, or the one behind */
{
    return &f->access.v[r->now[bit_]];
}
static inline const TreeAccess *tree_out(const TreeFacts *f, const TreeRing *r, uint32_t out) /* of those that are waited for */
{
    return tree_access_of(f, r, r->outs.v[out]);
}
void tree_numbers(TreeFacts *f, TreeRing *r); /* numbers.c: the bits of the ring's accesses */
/* numbers.c: the op stands on each way through the block, by the op that opens it, from 1; 0: through the tree. Of loops one turn. */
bool tree_surely(const TreeFacts *f, uint32_t op, uint32_t block);
/* The walk comes to that op, which stands in no block: accesses in it have their numbers. From access `from` on; returns the first one behind. */
uint32_t tree_now(TreeFacts *f, uint32_t op, uint32_t from);

bool tree_facts(Arena *a, const IrKernel *k, TreeFacts *f); /* f is zeroed; false: f->wrong */
COLD void tree_wrong(TreeFacts *f, uint32_t op, const char *what); /* the first is told */
void tree_form(TreeFacts *f, uint32_t op); /* form.c */
TreePlace *tree_place(const TreeFacts *f, uint32_t rank, TreePlace p);
TreeAccess tree_access(const TreeFacts *f, uint32_t op, uint32_t rank, AccessHow how, bool write); /* by its agent in the CTA of that rank */
bool tree_slot(const TreeFacts *f, TreeAccess *x, IrKey key); /* to that slot of a ring; false: it is none */
void tree_access_add(TreeFacts *f, TreeAccess *x, uint32_t set); /* one at each CTA of the set */

/* ---- tensor_memory.c ---- */
void tree_commits(TreeFacts *f);
/* What an op of the tensor core, or of threads on its memory, does there and, for copies, in shared memory. */
void tree_tensor(TreeFacts *f, uint32_t op, uint32_t rank);
bool tree_in_order(const TreeFacts *f, const TreeAccess *now, const TreeAccess *before); /* though the one before may not be over */
bool tree_frees(const TreeFacts *f); /* it is freed behind all that is done there */

/* ---- values.c: in the CTA of that rank; rank `ctas`: in any ---- */
typedef enum TreeWhen { WHEN_NEVER, WHEN_ALWAYS, WHEN_OPEN } TreeWhen;
const IrOp *tree_definition(const TreeFacts *f, IrVal v); /* in the tree or in init; NULL: elsewhere */
IrVal tree_uncast(const TreeFacts *f, IrVal v);           /* the number that it was before conversions */
Interval tree_range(const TreeFacts *f, const IrArg *x, uint32_t rank);
bool tree_number(const TreeFacts *f, const IrArg *arg, uint32_t rank, int64_t *out); /* false: not one number */
TreeWhen tree_when(const TreeFacts *f, const IrOp *op, uint32_t rank); /* by its guard */
Poly tree_value(const TreeFacts *f, TreeView at, const IrArg *x);
Poly tree_where(const TreeFacts *f, Poly p, IrVal pred, const IrArg *bytes, uint32_t rank); /* p where the pred holds, 0 elsewhere; of so many bytes */
Atom tree_index(const TreeFacts *f, IrVal index, TreeView at); /* of a loop */

/* places.c: finds where it is: surely within its slot? */
bool tree_inside(const TreeFacts *f, const TreeAccess *x);
/* places.c: can x, which is done now, touch bytes that y touched before it in the same generation, at least one of them writing? */
bool tree_conflict(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y);

/* ---- ranks.c: clusters ---- */
bool tree_reaches_others(const TreeFacts *f, const IrOp *op);
int64_t tree_few_turns(const TreeFacts *f, uint32_t loop); /* of a block: so many can be looked at one by one; 0: it is no loop, or has too many */
void tree_turn(const TreeFacts *f, uint32_t loop, int64_t index); /* where they are looked at (TreeAsked.turning) it is that; INT64_MIN: any */
/* Of the loops around the op whose trips are numbers, one turn after the other; first: none is set yet. False: no more, and none is set. */
bool tree_turns(const TreeFacts *f, uint32_t op, bool first);
enum { TREE_TRIPS_OPEN = -1 };
int64_t tree_trips(const IrOp *op); /* of a loop, where it is known */
bool tree_targets(const TreeFacts *f, const IrOp *op, uint32_t rank, uint32_t *set); /* CTAs at which it has its effect; false: not known */
uint32_t tree_reach(const TreeFacts *f, const IrOp *op, uint32_t rank); /* .. in any turn of the loops around */
/* The op where it is not so; UINT32_MAX: it is. */
uint32_t tree_alike(TreeFacts *f); /* depends.c: CTAs that reach into each other come there in step */
uint32_t tree_ends(TreeFacts *f); /* depends.c: no trip count depends on a division by what may be 0 */
uint32_t tree_draws(const TreeFacts *f); /* draws.c: each loop that a draw ends does end, and as much is drawn as is said */
const IrArg *tree_handed(const TreeFacts *f, const IrOp *op); /* draws.c: what the op reads from a ring in each turn: the number that all writes have; NULL: not known */
bool tree_same(const TreeFacts *f, IrVal v); /* depends.c, behind tree_alike: the value is the same in all CTAs of the cluster */
bool tree_starts(const TreeFacts *f); /* every thread finds the barriers initialised */
bool tree_leaves(const TreeFacts *f); /* the cluster has all its barriers before it begins, and stays until all has come */
/* bytes.c: for each event of the ring as many bytes are announced as come, in each CTA. */
bool tree_bytes(const TreeFacts *f, uint32_t ring);
static inline bool tree_announces(const IrOp *op)
{
    return op->op == IR_BAR_EXPECT || op->op == IR_BAR_ARRIVE_EXPECT;
}
int64_t tree_announced(const TreeFacts *f, uint32_t op); /* bytes.c: so many bytes at most, in a generation; INT32_MAX: or more */
/* bytes.c: to the CTA `to` the ring's i-th sender surely brings some in each generation. */
bool tree_brings(const TreeFacts *f, uint32_t ring, uint32_t i, uint32_t to);

#endif
