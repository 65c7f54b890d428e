/* What the verifier works on: the kernel as it is prepared, what happens in one unrolling, and the state of the proof. Private to
 * the rooms of the verifier (verify_parts.h).
 *
 * Glossary: thread - one that runs a body; a role of one thread has one, others are stood for by three: the elected one
 * and any two others, or one where that is enough (verify_alike.c). event - an op as done by a thread. clock - of each
 * thread, how many of its events come before. phase - of a barrier slot of a CTA. access - bytes of a buffer that a copy or
 * a thread reads or writes. turn - of a loop. burst - copies of a thread with no synchronisation between them: one event.
 */
#ifndef LOWER_VERIFY_TYPES_H
#define LOWER_VERIFY_TYPES_H

#include "lower/verify_forms.h"

/* ---- the kernel, prepared ---- */
enum {
    BLOCK_EVENTS = 1, /* synchronisation in it: unrolled */
    BLOCK_COPIES = 2
};
typedef struct Operands { /* of a scalar op; NULL: none */
    const IrArg *a, *b, *cond;
    uint32_t var;
    bool pure; /* run_pure */
} Operands;
typedef struct Made { /* a result that was worked out; op 0: none */
    uint32_t op; /* + 1 */
    Form cond, a, b, x;
} Made;
typedef struct Resolved { /* y: x, or the number that was chosen for it; of one unrolling. x 0: none */
    Form x, y;
    uint32_t unrolling;
    bool by_trip;
} Resolved;
enum { RESOLVED = 256 };
typedef struct Inside { /* the values that a block defines, and those that may differ from turn to turn */
    uint32_t *value, *varying, n, nvarying;
} Inside;
typedef struct Body {
    const IrRole *role;
    uint32_t base;     /* ops are numbered through all bodies: this one's first */
    uint32_t *partner; /* by op that opens a block: its else or end; by those: what they close */
    uint8_t *block;    /* by op that opens a block */
    uint32_t *next;    /* by op: itself, or the first behind it that is not worked out when needed */
} Body;

/* ---- what happens ---- */
typedef struct Event {
    uint32_t thread, pos; /* pos: 1 for the thread's first */
    uint32_t op;
    uint32_t *clock;                  /* by thread: the newest event that is not after this one */
    uint32_t loop, level, pass, turn; /* innermost unrolled loop: its op, how many there are, which time it runs */
} Event;
typedef uint32_t EventId; /* 1-based; 0: none */

typedef struct Part { /* what counts on a phase */
    EventId event;
    uint32_t op;
    bool arrives, expects, copies, remote;
} Part;
typedef struct Bringer { /* a thread whose copies count on a phase */
    uint32_t thread;
    Form bytes;
    uint32_t *clock; /* of the first of them */
} Bringer;
typedef struct Phase {
    uint32_t slot;   /* number of the barrier slot, through all CTAs */
    uint32_t number; /* from 0 */
    uint32_t arrivals;
    Form expected, delivered;
    uint32_t *clock;   /* of all that is certain to count on it */
    uint32_t *arrived; /* of the arrivals alone */
    VEC(EventId) waits;
    VEC(Part) parts;
    VEC(Bringer) bringers;
    uint32_t op; /* last that counted on it */
    bool complete;
} Phase;
typedef struct BarSlot {
    VEC(Phase *) phases; /* the last one is open */
    VEC(EventId) early;  /* waits for the phase before the first */
    uint32_t count;
    EventId init;
} BarSlot;

typedef struct Row { /* it begins at scale * element + k, the element one of a tensor that has no two equal ones */
    uint32_t tensor; /* UINT32_MAX: it does not */
    int64_t scale, k;
    Form byte;  /* of the element */
    bool whole; /* the region is no wider than the scale */
    bool read;  /* where the copy happens the element is in the tensor */
} Row;
typedef struct View { /* where a map that the kernel makes lies */
    uint32_t id, tensor, n; /* n dimensions; 0: not known */
    Form some;              /* pred: it is not empty */
    Form from, dim[MAP_RANK], pitch[MAP_RANK]; /* in bytes, but dim; pitch of the innermost, too */
    bool chain; /* different coordinates within it are different bytes */
} View;
typedef struct Region { /* the part of a tensor that a copy touches; NULL where it is not known */
    uint32_t id;        /* equal ones have the same; set when the graph is finished */
    uint32_t map;       /* UINT32_MAX: bytes lo[0] .. hi[0] of the tensor */
    uint32_t tensor, n;
    Form lo[MAP_RANK], hi[MAP_RANK];
    Form exact[MAP_RANK];   /* lo by exact sums; set when the graph is finished */
    int64_t wide[MAP_RANK]; /* hi - lo; INT64_MAX: no constant */
    Form cond;              /* pred under which the copy happens */
    Row *row;               /* by dimension; NULL: all begin elsewhere */
    View *view;             /* whose map says where it lies; NULL: known at launch */
    bool within;            /* nothing where its view is empty; set when the graph is finished */
} Region;
typedef struct Bytes { /* bytes lo .. hi of a buffer's slot in a CTA */
    uint32_t rank, buf;
    int64_t slot;
    Form lo, hi;
    int64_t step, width; /* pieces of so many bytes begin at lo, lo + step, .. and the last one ends at hi; step 0: all bytes */
} Bytes;
enum { GAP_UNIT = 16 };
typedef struct Access {
    Bytes at;
    Form cond; /* pred under which it happens to all of the bytes; 0: not known */
    Form only; /* pred without which it does not happen; 0: not known */
    bool write, async;
    bool generic; /* async, but through the generic proxy: st.async, red.async */
    uint16_t reduce; /* operation and type, where it combines with what lies there: two of one kind commute. 0: none */
    uint8_t gap;     /* of each 16 bytes the last ones that a write leaves without a value, or a read does not look at */
    uint32_t shape; /* of bytes with gaps: equal where the gaps are; 0: all bytes */
    uint32_t op;
    EventId start, end; /* end of a thread's access: start; of a store's: the grp.wait for it, 0: none */
    Phase *phase;       /* tells the end of a copy that counts on a barrier */
    Phase *also;        /* so does this one, in another CTA: of what a pair's commit completes; or NULL */
    uint32_t act;       /* equal where several threads share one op, or turns of a loop over copies */
    uint32_t group;     /* of a store: its bulk group, 0: not committed */
} Access;
typedef struct Meeting { /* two ranges that may have bytes in common, as one of them sees it */
    uint32_t range; /* the other one */
    bool covers;    /* which lies within this one */
} Meeting;
typedef struct Recent { /* an access that later ones are compared with */
    const Access *a;
    uint32_t act; /* not 0: only accesses of this act */
} Recent;
typedef struct Over { /* from event pos of a thread on: write `at` is over there, + 1 */
    uint32_t pos, at;
} Over;
typedef struct Writing { /* writes under equal conditions */
    VEC(const Access *) all;
    Over *over; /* by thread */
} Writing;
typedef struct ByteRange { /* equal bytes of a place */
    Bytes at;
    bool fixed; /* from and to are numbers; there may be gaps */
    int64_t from, to;
    VEC(Meeting) meets;
    VEC(Recent) recent;
    VEC(Writing) writings; /* those that perhaps write no byte left out */
    const Access *gaps;    /* the write that leaves the largest ones; NULL: none does */
    const Access *read;    /* the last one that was found to be covered */
    VEC(const Access *) covered; /* by these */
} ByteRange;
typedef struct Place { /* a slot of a buffer in a CTA: its accesses in the order of the run */
    const Access *all;
    uint32_t n;
    uint32_t *range; /* by access */
    VEC(ByteRange) ranges;
} Place;
typedef struct Transfer { /* a copy's other side: global memory */
    uint64_t tensors;     /* one bit each */
    Region *region;
    uint32_t rank, op;
    bool write, reduce, any_order;
    EventId start, full; /* full: the grp.wait full for it */
    Phase *phase;
    uint32_t group;
} Transfer;
typedef struct Cell { /* what st.shared and st.async have left for ld.shared */
    uint32_t rank, buf;
    int64_t slot;
    Form offset, value;
    bool by_trip;
} Cell;

typedef struct Frame {
    uint32_t op;
    int64_t at, past; /* unrolled: this turn, and the first one that is none; repeat: this turn alone */
    bool burst;       /* a loop over copies: its body is passed once */
    Form first, end;  /* its bounds */
    uint32_t index;   /* its atom */
    uint32_t accesses, sums, transfers, known, facts; /* counts where the block begins */
    Form guard;                                       /* of the block around */
    uint32_t pass;                                    /* how many times the thread came to it before */
} Frame;
enum { FRAMES = 64 };

typedef struct Sum { /* bytes of copies not yet counted on their barrier */
    uint32_t slot;
    Form bytes;
    uint32_t *clock; /* what has happened before any of them */
    uint32_t op;
} Sum;
typedef struct Dependence { /* of the certificate */
    uint32_t buf, from, to; /* op `from` is over before op `to` */
    bool reuse;             /* what is read is written again; otherwise: what is written is read */
    bool elsewhere; /* in another loop */
    bool counted;
    int64_t turns; /* fewest between them */
} Dependence;
typedef enum Block { RUNS, WAITS_PHASE, WAITS_SYNC, WAITS_CLUSTER, ENDED } Block;

typedef struct Thread {
    uint32_t id, rank, role, rep; /* rep 0: the elected one */
    uint32_t copies;              /* how many threads it stands for */
    uint32_t body, pc;
    Block block;
    uint32_t slot; /* WAITS_PHASE */
    uint32_t sync; /* WAITS_SYNC: the point */
    Form *value;   /* by value: 0: not worked out */
    Form *loaded;  /* by value that an op brings from elsewhere: before anything was chosen for it */
    bool *by_trip; /* by value: depends on chosen trip counts */
    Form *vars;
    bool *var_by_trip;
    Frame *frames;
    uint32_t depth;
    Form guard; /* of the block where it is */
    uint32_t pos, acts;
    uint32_t *clock;
    EventId last, burst; /* burst: the event of copies with nothing in between, 0: none */
    VEC(Sum) sums;
    uint32_t groups;          /* committed */
    uint32_t stores;          /* accesses before this one are none of its stores, or over */
    uint32_t sent, on_way;    /* transfers before these are none of its stores, or committed; or waited for in full */
    uint32_t *times;          /* by op: loops entered */
    uint32_t *made;           /* by op, then by variable: values that are not taken apart */
    uint32_t arrived, waited; /* on the cluster's barrier */
    VEC(EventId) async_fences, init_fences;
    VEC(EventId) tensor_before, tensor_after; /* its tc.fences */
    uint32_t tensor_from;     /* accesses before this one are none of its uncommitted operations of the tensor core */
    uint8_t *ready; /* by barrier slot: it comes after its initialisation */
    bool traced;
    VEC(uint32_t) trace; /* what it does in ops that all threads of the role do: verify_alike.c */
} Thread;

typedef struct SyncPoint {   /* one use of cta.sync or warp.sync */
    uint32_t rank, id, role; /* role UINT32_MAX: all of the CTA */
    uint32_t members, arrived;
    uint32_t *clock;
    uint32_t op;
} SyncPoint;

typedef struct Shared {
    uint32_t act, n; /* how many of the role's threads have done it */
    Form agreed;
    uint32_t *clock; /* what each of them comes after */
} Shared;

typedef struct Break { /* a condition that run time decides ends a repeat, or not */
    uint32_t pass;
    int64_t turn;
    uint32_t atom;
} Break;

typedef struct Draw { /* of a ticket, or of a cluster of the grid */
    uint32_t op, thread, rank;
    uint32_t atom; /* the answer */
    Form draws;    /* tickets: after how many the counter starts again; clusters: 0 */
    bool seen;     /* a break of the thread has looked at it */
} Draw;
typedef struct Bound { /* a break leaves its loop with the tickets that are not below it */
    uint32_t op;
    Form below, draws;
} Bound;

typedef struct Choice {
    Form of; /* normal form, without constant */
    const int64_t *value;
    uint32_t n, at;
    int64_t constant, scale; /* of the trip count that it was made for: scale * value + constant */
    uint32_t op;    /* the loop */
    uint32_t key[2]; /* choices that are made again and again in turns around have the same */
    uint32_t owner; /* choice that this one follows, UINT32_MAX: none */
    uint32_t turn;  /* how many of the owner's came before */
    bool own;       /* of the loop's nest alone: verify_nests.c */
    bool drawn;     /* made from the answer to a draw */
    bool kept, used; /* taken over from the run before; found in this run */
} Choice;
typedef struct ValueList {
    const int64_t *v;
    uint32_t n;
} ValueList;
typedef struct Shift { /* another trip count, scale * value + constant, that depends on the same choice */
    Form of;
    uint32_t op; /* the loop that the choice was made for */
    int64_t constant, scale;
    uint32_t loop; /* with that count */
} Shift;
typedef struct Turns { /* of a loop whose trip count is chosen, or made from what is */
    int64_t most, now; /* in the runs that are over; in this one */
    int64_t upper;     /* no launch has more */
    int64_t left;      /* a repeat was left after so many because it was chosen so: more may be possible */
    uint32_t ranks;    /* where it was looked at, one bit each */
} Turns;
typedef struct Tried { /* choices of a run that has ended */
    Choice *all;
    uint32_t n, room;
} Tried;
typedef struct Unlike { /* turns of a loop that conditions on its index tell apart: the first and last ones, by remainders */
    uint32_t front, end;
    bool rounds;
} Unlike;
enum { NEST_LEVELS = 3 };
enum { OPEN_NUMBERS = 1, /* of two numbers */ OPEN_ALWAYS }; /* wherever trip counts decide it */
enum { REACHED_NOW = 1, REACHED = 2 };
enum { SEEN_TRUE = 1, SEEN_FALSE = 2, SEEN_TRIP = 4 };

typedef struct Held { /* a refusal that waits for the end of the run, which may show what it comes from */
    ErrorCode code;
    uint32_t op, also;
    const char *text, *label; /* text NULL: none */
} Held;
typedef struct Race { /* two accesses that nothing orders; a comes first in the run */
    const Access *a, *b;
    int plain; /* 0 .. RACE_PLAIN: how well it shows what is missing */
} Race;
enum { RACE_PLAIN = 2 };

typedef VEC(Form) LaunchDivisors; /* values that the launch, too, divides by */
typedef struct Verifier {
    Arena *arena;
    Diags *diags;
    const IrKernel *k;
    Text *certificate; /* NULL: none wanted */
    Forms f;
    VEC(Body) bodies; /* init, roles, exit */
    const IrOp **ops; /* by number */
    uint8_t *group;       /* by number: IrGroup */
    Operands *operands;   /* by number */
    uint16_t (*args)[IRK_KEYS]; /* by number: the first operand with a key, + 1; 0: none */
    uint8_t *box;         /* by number: the map's box has the bytes that the copy counts */
    struct Stretch **stretch; /* by number: verify_counters.c */
    Made *results;        /* of pure ops, by hash */
    uint32_t result_mask;
    Resolved resolved[RESOLVED];
    uint32_t unrollings;  /* begun, and gone on with after another choice */
    Inside *inside;       /* by number, of what opens a block */
    uint32_t nops, nvalues;
    uint32_t *def;           /* by value: its op */
    uint32_t nranks, nslots; /* slots: of one CTA */
    uint32_t *bar_base;      /* by barrier: number of its slot 0 */
    uint32_t *place_base;    /* by buffer: number of its slot 0 */
    uint32_t nplaces;        /* slots of buffers, of one CTA */
    uint32_t slots;          /* most of a buffer or barrier */
    uint32_t rings;          /* the same, twice that where barriers are used under conditions */
    uint32_t ring;           /* S, whose 2 S + 1 turns tell of longer loops (verify_compare.c): at least */
    uint32_t base;           /* the slots and the period; */
    uint32_t joint;          /* turns after which all moduli and variables that steer come round together: verify_moduli.c */
    uint32_t front, end;     /* first and last turns of a loop that comparisons of its index tell from those between */
    Unlike *unlike;          /* by op that opens a loop */
    bool both_ends;          /* of some loop they tell its last turns, and its first or remainders */
    bool any_together;       /* for some loop: */
    uint32_t *together;      /* by op: how many turns of a loop with loops inside may all be unlike each other; 0: all are alike */
    bool *counter;           /* by variable: turns a ring of the compiler's */
    bool *indexed;           /* by op: something that steers is made from the loop's index */
    bool all_indexed;        /* loops whose turns are chosen together differ in that: all count as those */
    bool conditional;        /* barriers are used under conditions that differ from turn to turn: twice that */
    bool dealt;              /* work is drawn: by tickets, or clusters of the grid */
    bool uneven;             /* what turns order depends on the turn */
    uint64_t loaded, stored; /* tensors that copies read and write */
    Form (*sreg)[IRR_COUNT]; /* by rank */
    VEC(uint8_t) divided;    /* verify_divided.c: by atom, - 1; 0: not looked at */
    uint8_t by_zero;         /* the same of all divisors */
    LaunchDivisors *launch_divisors;
    uint32_t *nest[NEST_LEVELS]; /* by op: of loops, the nest it is part of; 0: none */

    VEC(Choice) choices;
    VEC(Tried) tried;    /* the last ones, round and round: */
    uint32_t remembered; /* how many there were */
    VEC(int64_t) limits; /* numbers that clip trip counts */
    VEC(int64_t) picked;     /* of a run: numbers in minima and maxima that were chosen */
    VEC(Shift) shifts;
    VEC(Shift) wanted; /* of loops that may turn out to have too few turns */
    VEC(ValueList) lists; /* values of choices */
    Turns *turns;         /* by op */
    uint8_t *reached;     /* by op: REACHED_NOW, REACHED */
    bool afresh;         /* another one was met: the choices are made anew */
    uint8_t *seen;      /* by op that steers: how it came out */
    uint32_t *steers;   /* by op: a condition of that op, + 1 */
    uint8_t *open;      /* by op that steers: whether it is a comparison that is held open */
    uint32_t met_open;  /* one that is and came up in this run, + 1; 0: none */
    uint32_t opened;    /* the first that is, + 1; 0: none */
    uint8_t opened_seen; /* how it came out before */
    bool *joins;        /* by op that steers: made from conditions that are looked at themselves */
    uint8_t *chosen;    /* by op: loops whose trip count is a choice, or made from one */
    bool fixed;         /* slots or conditions are not those of counters alone: rings turned by one slot are another program (verify_period.c) */
    bool split;         /* repeats end each at its own time */
    uint32_t reps;      /* threads that stand for a role of several: verify_alike.c */
    bool again, failed; /* again: a choice was added, or found to need more values */
    bool silent;        /* nothing is reported now */
    Held held;
    uint64_t budget;    /* work that may still be done: steps, and what takes as long */

    Arena run; /* memory of one run, as all that follows: */
    Frame *frames; /* room for those of all threads */
    uint32_t frames_room, deepest; /* deepest: most blocks in each other */
    VEC(Thread) threads;
    Thread *now;
    uint32_t *clocks; /* room for more of them */
    uint32_t clocks_left;
    VEC(Event) events;
    VEC(Phase *) phases;
    BarSlot *bars; /* by rank and slot */
    EventId *tensor_alloc, *tensor_free; /* by rank; 0: none */
    VEC(Access) accesses;
    VEC(Place) places; /* of a finished graph */
    VEC(Transfer) transfers;
    VEC(Form) unresolved; /* values that no choice made another */
    VEC(Form) positive; /* of a finished graph: what is known to be above 0, by exact sums */
    VEC(Cell) cells;
    struct Views *views; /* verify_views.c */
    VEC(Break) breaks;
    VEC(Draw) draws;
    VEC(Bound) bounds;
    VEC(SyncPoint) syncs;
    VEC(EventId) global_fences;
    VEC(Shared) shared;
    uint32_t *shared_slots, shared_mask; /* by hash of their act: number, + 1 */
    uint32_t sync_ids[16];   /* role + 1 that uses it, UINT32_MAX: the CTA; 0: nobody yet */
    VEC(uint32_t *) cluster; /* clocks of its barrier's phases */
    VEC(uint32_t) cluster_arrived;
    uint32_t runs, events_max;
    VEC(Dependence) dependences; /* printed in the certificate */
    uint64_t listed;             /* pairs of accesses that were looked at for them */
    uint8_t *told;               /* by barrier slot: printed, too */
    struct Period *period;       /* verify_period.c */
    Race race;                   /* b NULL: none was found */
    struct Regions *regions;     /* verify_regions.c */
    struct Unequal *unequal;     /* verify_unequal.c */
    bool by_known;               /* what is known in this graph went into what these two worked out */
} Verifier;

#endif
