/* What the rooms of the verifier share: private to them.
 *
 * A kernel is unrolled, for one choice of trip counts after the other, into a graph of events: verify_run.c runs the
 * bodies of all roles of all CTAs of a cluster by values that are linear forms (verify_forms.c, verify_ops.c), in one
 * schedule; verify_event.c gives each event its clock: what has certainly happened before it, in every schedule.
 * verify_inside.c finds the blocks of a body, verify_counters.c what turns counters alone; verify_block.c,
 * verify_barrier.c, verify_copy.c and verify_thread.c are the steps of ops, verify_burst.c that of loops over copies;
 * verify_bytes.c knows which bytes of a buffer are the same.
 * verify_race.c, verify_cover.c, verify_global.c and verify_end.c prove properties of a finished graph, whose accesses
 * verify_place.c sorts; verify_regions.c and verify_unequal.c tell parts of tensors apart. verify_choice.c enumerates the
 * trip counts, for nests that verify_nests.c tells apart one by one; verify_period.c, verify_moduli.c, verify_steer.c,
 * verify_open.c, verify_turns.c and verify_cycle.c extend the result to all of them; verify_repeat.c
 * shows that loops which tickets end do end. verify_stuck.c reports a run that can't go on, verify_tell.c what would
 * order two accesses. verify.c drives.
 *
 * Glossary: thread - one that runs a body; a role of one thread has one, others are stood for by three: the elected one
 * and any two others, or one where that is enough (verify_alike.c). event - an op as done by a thread. clock - of each thread, how many of its events come before.
 * phase - of a barrier slot of a CTA. access - bytes of a buffer that a copy or a thread reads or writes. turn - of a
 * loop. burst - copies of a thread with no synchronisation between them: one event.
 */
#ifndef LOWER_VERIFY_PARTS_H
#define LOWER_VERIFY_PARTS_H

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
typedef struct Region { /* the part of a tensor that a copy touches; NULL where it is not known */
    uint32_t id;        /* equal ones have the same; set when the graph is finished */
    uint32_t map;       /* UINT32_MAX: bytes lo[0] .. hi[0] of the tensor */
    uint32_t tensor, n;
    Form lo[MAP_RANK], hi[MAP_RANK];
    Form exact[MAP_RANK];   /* lo by exact sums; set when the graph is finished */
    int64_t wide[MAP_RANK]; /* hi - lo; INT64_MAX: no constant */
    Form cond;              /* pred under which the copy happens */
    Row *row;               /* by dimension; NULL: all begin elsewhere */
} Region;
typedef struct Bytes { /* bytes lo .. hi of a buffer's slot in a CTA */
    uint32_t rank, buf;
    int64_t slot;
    Form lo, hi;
    int64_t step, width; /* pieces of so many bytes begin at lo, lo + step, .. and the last one ends at hi; step 0: all bytes */
} Bytes;
typedef struct Access {
    Bytes at;
    Form cond; /* pred under which it happens to all of the bytes; 0: not known */
    Form only; /* pred without which it does not happen; 0: not known */
    bool write, async;
    uint16_t reduce; /* operation and type, where it combines with what lies there: two of one kind commute. 0: none */
    uint32_t shape; /* of bytes with gaps: equal where the gaps are; 0: all bytes */
    uint32_t op;
    EventId start, end; /* end of a thread's access: start; of a store's: the grp.wait for it, 0: none */
    Phase *phase;       /* tells the end of a copy that counts on a barrier */
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
    bool uneven;             /* what turns order depends on the turn */
    uint64_t loaded, stored; /* tensors that copies read and write */
    Form (*sreg)[IRR_COUNT]; /* by rank */
    uint32_t *nest[NEST_LEVELS]; /* by op: of loops, the nest it is part of; 0: none */

    VEC(Choice) choices;
    VEC(Tried) tried;    /* the last ones, round and round: */
    uint32_t remembered; /* how many there were */
    VEC(int64_t) limits; /* numbers that clip trip counts */
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
    VEC(Access) accesses;
    VEC(Place) places; /* of a finished graph */
    VEC(Transfer) transfers;
    VEC(Form) unresolved; /* values that no choice made another */
    VEC(Form) positive; /* of a finished graph: what is known to be above 0, by exact sums */
    VEC(Cell) cells;
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

/* verify.c */
void verify_clear(Verifier *v); /* for another run */
Span verify_place(const Verifier *v, uint32_t op);
/* Reports at op, once per kernel: what follows an error can't be judged. NULL where one was reported before. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
Diag *
verify_refuse(Verifier *v, ErrorCode code, uint32_t op, const char *fmt, ...);
/* Refuses when the run is over, or can't go on, unless a race was found then: it is what the protocol's failing comes to.
 * The label stands at `also`. */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
void
verify_hold(Verifier *v, ErrorCode code, uint32_t op, uint32_t also, const char *label, const char *fmt, ...);
/* Counts work, and that of forms since it was counted last; refused where it gets too much. */
void verify_spent(Verifier *v);
static inline void verify_spend(Verifier *v, uint64_t work)
{
    work += v->f.work;
    v->f.work = 0;
    if (v->budget >= work) v->budget -= work;
    else verify_spent(v);
}
/* ir_find of an op by its number. */
static inline const IrArg *verify_arg(const Verifier *v, uint32_t op, IrKey key)
{
    uint16_t at = v->args[op][key];
    return at ? &v->ops[op]->args[at - 1] : NULL;
}
void verify_also(Verifier *v, Diag *g, uint32_t op, const char *text);
const char *verify_op_text(const Verifier *v, uint32_t op); /* "bar.wait", with its role where there are several */
const char *verify_bar_name(Verifier *v, uint32_t slot);    /* slot: through all CTAs */
const char *verify_form_text(Verifier *v, Form x);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void verify_proved(Verifier *v, const char *fmt, ...);
const char *verify_line(Verifier *v, uint32_t op);
void verify_depends(Verifier *v, const Access *from, const Access *to, bool reuse); /* for the certificate */
static inline bool verify_stopped(const Verifier *v)
{
    return v->failed || v->again;
}
int64_t verify_ring(const Verifier *v, uint32_t op); /* S of the loop: verify_period.c */
/* The body of an op. */
const Body *verify_body(const Verifier *v, uint32_t op);

/* verify_inside.c */
void blocks_match(Verifier *v, const Body *b);
void inside_find(Verifier *v, const Body *b, uint32_t open, uint32_t *in);

/* verify_choice.c */
/* x, or the number that was chosen for it. */
Form choice_resolve(Verifier *v, Form x, bool *by_trip);
/* The same, but a number made from a draw stays what it is: it also says when the draws are over, and trip counts that are made
 * from it are chosen without regard to that. */
Form choice_value(Verifier *v, Form x, bool *by_trip);
bool choice_drawn(const Verifier *v, Form x); /* made from a draw */
/* Adds a choice of values for what x depends on, x counting the turns of loop `op` (or a pred), and sets again. */
void choice_add(Verifier *v, uint32_t op, Form x);
/* Whether the run can go on with the choice that was added: clears again. Otherwise it starts again. */
bool choice_go_on(Verifier *v);
/* A condition that only the launch decides: tried both ways. False for others, and nothing is chosen. */
bool choice_guard(Verifier *v, uint32_t op, Form guard);
bool choice_next(Verifier *v); /* false: all have been tried */
/* Whether the run that has ended did not meet what was taken over from the one before: it is done again without. */
bool choices_stale(Verifier *v);

/* Where a choice is that follows another one, which is there. */
uint32_t choice_following(const Verifier *v, const Choice *c, const Choice *owner, uint32_t at);
/* A trip count without what was chosen: what its choice needs so that it, too, has the turns that matter; false: nothing. */
bool choice_shift_for(Verifier *v, Form count, Shift *out);
bool choice_shift(Verifier *v, const Shift *by); /* choices from now on have it; false: they had */

/* verify_turns.c */
void turns_prepare(Verifier *v);
void turns_begin(Verifier *v); /* a run */
void turns_loop(Verifier *v, uint32_t op, int64_t turns); /* v->now enters a loop, which has so many */
/* v->now leaves a repeat after so many turns. certain: whatever is chosen. */
void turns_repeat(Verifier *v, uint32_t op, int64_t turns, bool certain);
void turns_keep(Verifier *v);  /* the run is proved */
/* After all runs: refuses what they left out; true if they are to be done again, with more trip counts. */
bool turns_check(Verifier *v);

/* verify_tried.c */
void tried_remember(Verifier *v); /* the choices of a run that has ended */
void tried_forget(Verifier *v);
bool tried_before(Verifier *v); /* the choices as they are now, and what follows from them */

/* verify_nests.c */
void nests_find(Verifier *v);
/* Whether the loops of the two choices have nothing in common: in all of the kernel, or in the turns of loops around both. */
typedef enum Apart { APART_NO, APART_ALWAYS, APART_IN_TURNS } Apart;
Apart nests_apart(const Verifier *v, const Choice *a, const Choice *b);
void nests_together(Verifier *v); /* together */
bool nests_own(const Verifier *v, Form of); /* a trip count that is made from values of its nest */

/* verify_run.c */
void run_prepare(Verifier *v);
void run_kernel(Verifier *v); /* one unrolling */
void run_step(Verifier *v);   /* the op where v->now is */
bool run_pure(const IrOp *op); /* its value is worked out when needed */
Form run_value(Verifier *v, const IrArg *arg);
Form run_result(Verifier *v, uint32_t index, Form cond, Form a, Form b); /* of a pure op */
Form run_whole(Verifier *v, const IrArg *arg); /* without what is known where v->now is */
bool run_by_trip(const Verifier *v, const IrArg *arg);
/* The value if it is a number; otherwise refused. */
bool run_number(Verifier *v, uint32_t op, const IrArg *arg, const char *what, int64_t *k);
/* A new value, lo .. hi, that op `index` of v->now gets from elsewhere. */
Form run_answer(Verifier *v, IrType type, uint32_t index, int64_t lo, int64_t hi);
/* Guard of the op and of the blocks around: 1 if it has none. */
Form run_guarded(Verifier *v, uint32_t op); /* of an op that has one */
static inline Form run_guard(Verifier *v, uint32_t op)
{
    return v->ops[op]->guard ? run_guarded(v, op) : v->now->guard;
}
void run_forget(Verifier *v, uint32_t var); /* v->now's variable may hold anything */
uint32_t run_op(const Verifier *v);         /* number of the op where v->now is */
/* Names what v->now does as one, the same for all threads that share it. */
uint32_t run_act(const Verifier *v);
/* Counts v->now's part in its act; whether all threads of the role that share it have now done it. */
bool run_shared(Verifier *v, uint32_t **clock); /* clock: what each of those threads comes after */
bool run_agreed(Verifier *v, Form x);           /* whether x is the same for all of them */

/* verify_counters.c */
typedef struct Stretch Stretch;
void counters_prepare(Verifier *v);
bool counters_turn(Verifier *v, const Body *b, Stretch *s); /* v->now goes through the stretch where it is; false: op by op */

/* verify_block.c */
void block_step(Verifier *v, uint32_t op);

/* verify_repeat.c */
void repeat_draw(Verifier *v, uint32_t op, Form value, Form draws); /* v->now gets a new answer; draws 0: of a cluster */
/* A break leaves its repeat where this pred atom is `truth`: refused unless some draw has that answer. any: it is the
 * repeat's first turn, or the pred is known, so it may be one that no draw decides. */
bool repeat_test(Verifier *v, uint32_t op, uint32_t pred, bool truth, bool any);
bool repeat_in_row(const Verifier *v); /* the grid has clusters along x only */
void repeat_over(Verifier *v, uint32_t op); /* a break leaves its repeat whatever v->now has drawn */

/* verify_alike.c */
void alike_prepare(Verifier *v);
/* Of a run that has ended: whether the threads of each role did the same. Otherwise more of them have to stand for it: again. */
bool alike_check(Verifier *v);
static inline void alike_note(Verifier *v, uint32_t op, uint32_t x)
{
    if (v->now->traced && !(op < v->nops && v->ops[op]->elect)) vec_push(&v->run, &v->now->trace, x);
}
void alike_note_access(Verifier *v, const Access *a);

/* verify_event.c */
EventId event_new(Verifier *v, uint32_t op);          /* of v->now */
EventId event_burst(Verifier *v, uint32_t op);        /* the same as the last one if that was a copy, too */
void event_after(Verifier *v, const uint32_t *clock); /* what v->now does next comes after all this */
uint32_t *verify_clock_copy(Verifier *v, const uint32_t *clock);
void verify_clock_join(const Verifier *v, uint32_t *clock, const uint32_t *other);
/* a, or the wait for p, is not after clock */
static inline bool event_in(const Verifier *v, EventId a, const uint32_t *clock)
{
    const Event *e = &v->events.v[a - 1];
    return clock[e->thread] >= e->pos;
}
bool phase_in(const Verifier *v, const Phase *p, const uint32_t *clock);
static inline bool event_before(const Verifier *v, EventId a, EventId b)
{
    return event_in(v, a, v->events.v[b - 1].clock);
}
bool phase_before(const Verifier *v, const Phase *p, EventId b);
bool access_before(const Verifier *v, const Access *a, EventId b); /* a's end */

/* verify_barrier.c */
void barrier_step(Verifier *v, uint32_t op);
bool barrier_slot(Verifier *v, uint32_t op, uint32_t rank,
                  uint32_t *slot); /* of the op's barrier operand in that CTA */
Phase *barrier_open(Verifier *v, uint32_t slot);
/* The op's event counts on the slot's open phase: refused if that may not have begun, or the barrier may not be ready. */
bool barrier_part(Verifier *v, uint32_t slot, Part p);
void barrier_deliver(Verifier *v, const Sum *s); /* what the part above brings */
void barrier_retry(Verifier *v); /* v->now waits for a phase: goes on if it is over */
/* verify_sync.c: barriers of threads and of the cluster */
void sync_step(Verifier *v, uint32_t op);
void sync_retry(Verifier *v);
bool sync_lacks(const Verifier *v, const Thread *waiting,
                const Thread *other); /* whether it is other that is missing */

/* verify_stuck.c */
void report_stuck(Verifier *v); /* nobody can go on */

/* verify_copy.c */
void copy_step(Verifier *v, uint32_t op);
uint64_t copy_address(const Verifier *v, const IrArg *address, int depth); /* tensors that it may point into */
/* The bytes of a buffer operand; false, and refused, if they are not certain to lie in it. */
bool copy_bytes(Verifier *v, uint32_t op, IrKey key, uint32_t rank, Form bytes, Form guard, Bytes *out);
void group_step(Verifier *v, uint32_t op);
/* verify_thread.c: by threads in shared memory */
void thread_step(Verifier *v, uint32_t op);
void thread_store(Verifier *v, const Bytes *at, Form value, bool by_trip); /* for ld.shared */

/* verify_burst.c */
void access_add(Verifier *v, Access a); /* appends, or joins to what it continues */
void burst_count(Verifier *v, Sum s);
void burst_flush(Verifier *v); /* counts all sums of v->now */
void burst_enter(Verifier *v, uint32_t op, Form first, Form end);
void burst_leave(Verifier *v, const Frame *fr);

/* verify_bytes.c */
bool bytes_same_place(const Bytes *a, const Bytes *b); /* the same slot */
bool bytes_equal(const Bytes *a, const Bytes *b);
bool bytes_overlap(Verifier *v, const Bytes *a, const Bytes *b);
/* All turns of a loop whose n-th one touches `at`, moved by c: true if `at` is now exactly that. */
bool bytes_repeat(Verifier *v, Bytes *at, Form lo, Form hi, int64_t c, Form turns);
bool bytes_apart_by(Verifier *v, const Bytes *at, int64_t c, Form turns); /* those of different turns do not meet */
bool bytes_join(Bytes *a, const Bytes *b); /* a becomes both, if they lie side by side */
bool conds_exclusive(Verifier *v, Form a, Form b);

/* verify_tell.c: what is wrong, in the words of who wrote the program */
void tell_race(Verifier *v, const Race *r);
int race_plain(const Verifier *v, const Access *a, const Access *b);
void tell_waiting(Verifier *v, Diag *g, uint32_t wait); /* nothing completes what op `wait` waits for: what might */
void tell_unwaited(Verifier *v, Diag *g); /* barriers that nobody waits for */
void tell_in_flight(Verifier *v, Diag *g, const Access *a); /* at the end of the kernel */

/* of a finished graph */
void places_find(Verifier *v); /* sorts the accesses: comes first */
void check_races(Verifier *v);
bool find_race(Verifier *v); /* of a graph that need not be finished: sets race, reports nothing */
void check_coverage(Verifier *v);
void check_global(Verifier *v);
void regions_prepare(Verifier *v); /* of a finished graph */
bool regions_apart(Verifier *v, const Region *a, const Region *b); /* verify_regions.c: of one map, of equal ones, or bytes */
/* verify_unequal.c */
enum { COORDINATE_MAX = 1 << 30 };
void unequal_prepare(Verifier *v);                 /* of a finished graph */
bool numbers_unequal(Verifier *v, Form x, Form y); /* in every launch */
void check_end(Verifier *v);
void check_cycles(Verifier *v);
void check_draws(Verifier *v);

/* verify_steer.c */
void steer_prepare(Verifier *v);
bool steer_not_negative(Verifier *v, const IrArg *arg); /* in every turn of every launch */
void steer_see(Verifier *v, uint32_t at, Form x, bool trip); /* trip: made from chosen trip counts */
/* After all runs: refuses what came out one way only; true if the runs are to be done again, with that held open. */
bool steer_check(Verifier *v);

/* A loop over copies' lanes, or one whose bounds are numbers. */
static inline bool loop_fixed(const IrOp *op)
{
    return op->op == IR_LANES ||
           (op->op == IR_LOOP && ir_find(op, IRK_A)->kind == IRA_IMM && ir_find(op, IRK_B)->kind == IRA_IMM);
}

/* A loop whose trip count is not a number: it is looked at for itself. */
static inline bool loop_own_count(const IrOp *op)
{
    return op->op == IR_REPEAT || (op->op == IR_LOOP && !loop_fixed(op));
}

/* The op that defines it; NULL: it is no value. */
static inline const IrOp *verify_def(const Verifier *v, const IrArg *arg)
{
    return arg && arg->kind == IRA_VAL ? v->ops[v->def[arg->id - 1]] : NULL;
}

/* Whether it is the number *k; else *k stays. */
static inline bool verify_number(const Verifier *v, const IrArg *arg, int64_t *k)
{
    const IrOp *op = verify_def(v, arg);
    if (arg && arg->kind == IRA_IMM) *k = arg->imm;
    else if (op && op->op == IR_CONST) *k = ir_find(op, IRK_A)->imm;
    else return false;
    return true;
}

/* verify_compare.c */
/* What few turns make of it tells of longer loops: of a comparison, minimum or maximum; of what comes round with the index. */
bool compare_followed(Verifier *v, uint32_t op); /* notes how far from the ends of loops it is */
void compare_begin(Verifier *v);
void compare_fit(Verifier *v); /* ring, to what was noted */
bool index_followed(const Verifier *v, uint32_t op);

/* verify_open.c */
/* Whether the op on a and b, held open, came out as x here: then another form stands for it. */
bool open_decided(const Verifier *v, uint32_t op, Form x, Form a, Form b);
Form open_form(Verifier *v, uint32_t op); /* the form that stands for it where v->now is */

/* verify_sizes.c */
void sizes_prepare(Verifier *v); /* f.sizes */

/* verify_moduli.c */
void moduli_prepare(Verifier *v); /* fixed, joint, and ring */
/* The value of a pure op comes round after `turns` turns (0: it is used as it is) if its operands do after as many as this. */
int64_t modulus_within(const Verifier *v, const IrOp *op, int64_t turns);
int64_t modulus_joint(int64_t a, int64_t b); /* the least common multiple; INT64_MAX: too large */
/* What steers was seen to come round after so many turns: whether the period gets longer by that, and the ring with it. */
bool moduli_longer(Verifier *v, int64_t turns);

/* verify_period.c */
bool period_parity(const Verifier *v, uint32_t var); /* its bits are the parities of waits */
bool period_steps(const Verifier *v, uint32_t loop); /* its turns move variables of the program that steer */
bool period_longer(Verifier *v); /* after all runs: whether they are to be done again, with more turns */
void period_prepare(Verifier *v);
void period_turn(Verifier *v, const Frame *fr);        /* v->now begins a turn */
void period_begin(Verifier *v);                        /* a run */
void period_check(Verifier *v);                        /* after all runs */

#endif
