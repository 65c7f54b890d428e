/* What the rooms of the verifier share: private to them.
 *
 * A kernel is unrolled, for one choice of trip counts after the other, into a graph of events: unroll/run.c runs the
 * bodies of all roles of all CTAs of a cluster by values that are linear forms (values/forms.c, values/ops.c), in one
 * schedule; unroll/events.c gives each event its clock: what has certainly happened before it, in every schedule.
 * unroll/inside.c finds the blocks of a body, the steps of ops are in unroll/blocks.c, unroll/barriers.c,
 * unroll/thread_barriers.c, unroll/copies.c and unroll/threads.c, those of loops over copies in unroll/bursts.c;
 * values/bytes.c knows which bytes of a buffer are the same, unroll/tensor_memory.c what the tensor core does and what of
 * tensor memory is in order.
 * judge/races.c, judge/coverage.c, judge/global.c, judge/always.c and judge/end.c prove properties of a finished graph,
 * whose accesses judge/places.c sorts and judge/pairs.c compares; values/polys.c says where they lie, values/views.c where
 * maps do. tries/choices.c enumerates the trip counts, and tries/remainders.c the slots that loops begin with; tries/period.c,
 * tries/rounds.c, tries/moduli.c, tries/compare.c, tries/nests.c, tries/turns.c, tries/roles.c, tries/launches.c and judge/cycles.c
 * extend the result to all of them, tries/constants.c to long constant ones; of a kernel that is proved elsewhere a few are looked at, and nothing is extended (few);
 * unroll/stuck.c reports a run that can't go on, judge/tell.c what would order two accesses. verify.c drives.
 */
#ifndef LOWER_VERIFY_GRAPH_VERIFIER_H
#define LOWER_VERIFY_GRAPH_VERIFIER_H

#include "lower/ir/ir.h"
#include "lower/verify/graph/tries/choices.h"
#include "lower/verify/graph/unroll/events.h"
#include "lower/verify/graph/values/forms.h"
#include "lower/verify/verify.h"

enum {
    BLOCK_EVENTS = 1, /* synchronisation in it: unrolled */
    BLOCK_COPIES = 2,
    BLOCK_SETS = 4, /* of variables */
    BLOCK_PICKS = 8 /* of slots, by copies, in few turns: unrolled, too */
};
typedef struct Operands { /* of a scalar op; NULL: none */
    const IrArg *a, *b, *cond;
    uint32_t var;
    uint32_t before; /* the op before it that gives the variable a value, + 1; 0: none */
    bool pure; /* run_pure */
} Operands;
typedef struct Resolved { /* y: x, or the number that was chosen for it; of one unrolling. x 0: none */
    Form x, y;
    uint32_t unrolling;
    bool by_trip;
} Resolved;
enum { RESOLVED = 256 };
typedef struct Body {
    const IrRole *role;
    uint32_t first, end; /* ops are numbered through all bodies */
} Body;

typedef struct Dependence { /* of the certificate */
    uint32_t buf, from, to; /* op `from` is over before op `to` */
    bool reuse;             /* what is read is written again; otherwise: what is written is read */
    bool elsewhere; /* in another loop */
    bool counted;
    int64_t turns; /* fewest between them */
} Dependence;
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
    bool few;          /* trip counts: nothing is said of others */
    bool in_full;      /* long loops of a constant number of turns, too: none of these is left out (tries/constants.c) */
    const Demands *demands; /* NULL: none are written down */
    Text *certificate; /* NULL: none wanted */
    Forms f;
    VEC(Body) bodies; /* init, roles, exit */
    const IrOp **ops; /* by number */
    uint32_t *partner; /* by op that opens a block: its else or end; by end: what it closes */
    uint32_t *around;  /* by op: what opens the block that it stands in, + 1; 0: it is in none */
    uint32_t *next;    /* by op: itself, or the first behind it that is not worked out when needed */
    uint8_t *block;    /* by op that opens a block */
    uint8_t *group;       /* by number: IrGroup */
    Operands *operands;   /* by number */
    uint32_t *given_by;   /* by variable: the last op that gives it a value, + 1 */
    uint16_t (*args)[IRK_KEYS]; /* by number: the first operand with a key, + 1; 0: none */
    Resolved resolved[RESOLVED];
    uint32_t unrollings;  /* begun */
    uint32_t nops, nvalues;
    uint32_t *def;           /* by value: its op */
    uint32_t nranks, nslots; /* slots: of one CTA */
    uint32_t *bar_base;      /* by barrier: number of its slot 0 */
    uint32_t *place_base;    /* by buffer: number of its slot 0 */
    uint32_t nplaces;        /* slots of buffers, of one CTA */
    bool *moving;            /* by buffer: turns of loops that the launch bounds decide which bytes are meant */
    uint32_t slots;          /* most of a buffer or barrier */
    uint32_t ring;           /* S, whose 2 S + 1 turns tell of longer loops (tries/compare.c): at least */
    uint32_t base;           /* the slots and the period; */
    int64_t *counting;       /* by variable: like a loop's index it comes round only in its remainder by that; 0: in full */
    uint32_t joint;          /* turns after which all moduli and variables that steer come round together: tries/moduli.c */
    uint32_t front, end;     /* first and last turns of a loop that comparisons of its index tell from those between */
    Unlike *unlike;          /* by op that opens a loop */
    uint32_t *together;      /* by op: how many turns of a loop with loops inside may all be unlike each other; 0: all are alike */
    bool conditional;        /* barriers are used under conditions that differ from turn to turn: twice that */
    bool uneven;             /* what turns order depends on the turn */
    uint64_t loaded, stored; /* tensors that copies read and write; of what is read by its address any */
    Form (*sreg)[IRR_COUNT]; /* by rank */

    VEC(Choice) choices;
    VEC(int64_t) limits; /* numbers that clip trip counts, or by which values are greater since loops that are made from them had too few turns */
    VEC(Dividend) dividends;
    VEC(int64_t) beside; /* that show another side of a minimum or maximum; */
    struct Roles *roles;       /* tries/roles.c */
    struct Launches *launches; /* tries/launches.c */
    VEC(ValueList) lists; /* values of choices */
    Turns *turns;         /* by op */
    bool *is_long;        /* by op: a loop of a large constant number of turns, of which the middle ones are left out */
    VEC(int64_t) counts;  /* to which those go on */
    bool afresh;         /* another one was met: the choices are made anew */
    Round *rounds;      /* by value */
    VEC(uint32_t) own;  /* loops whose trip count is not a number */
    uint64_t *loop_bit, *variable_bit, turning; /* by op, by variable: which bit it is in those; loops that are unrolled */
    bool *given;        /* by variable: as Round */
    uint64_t *from_launch; /* by op that is a value of the launch: given */
    uint8_t *cone, *cone_of_variable; /* by op, by variable: CONE_SYNC .. */
    uint32_t *steers;   /* by op in CONE_STEERS: the op that uses it, + 1 */
    bool *open;         /* by op: held open */
    uint32_t met_open;  /* one that is and came up in this run, + 1; 0: none */
    uint8_t *chosen;    /* by op: loops whose trip count is a choice, or made from one */
    int64_t *rate;      /* by op that opens a loop: how long a turn takes (judge/cycles.c); 0: nothing tells in this run */
    bool remainders;    /* some are chosen */
    bool again, failed; /* again: a choice was added, or found to need more values */
    bool silent;        /* nothing is reported now */
    bool judging;       /* a run, or its graph */
    bool aside;         /* it has failed, and is put aside (tries/launches.c) */
    bool trusting;      /* .. none is */
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
    VEC(Access) transfers; /* to global memory */
    Asked **asked_of;    /* by op: judge/always.c, of all runs */
    struct Polys *polys; /* values/polys.c; NULL: not asked for */
    VEC(Cell) cells;
    VEC(const View *) views; /* of all runs */
    VEC(Side) shapes;        /* so, too: each once */
    VEC(SyncPoint) syncs;
    Acts *acts; /* by rank and role, by number */
    uint32_t sync_ids[16]; /* role + 1 that uses it, UINT32_MAX: the CTA; 0: nobody yet */
    uint32_t runs, events_max;
    VEC(Dependence) dependences; /* printed in the certificate */
    Names *depending;            /* from and to of each of them, as its name */
    uint64_t listed;             /* pairs of accesses that were looked at for them */
    uint8_t *told;               /* by barrier slot: printed, too */
    struct Period *period;       /* tries/period.c */
    bool *parity;                /* by variable: its bits are the parities of waits */
    Race race;                   /* b NULL: none was found */
} Verifier;

/* ---- verify.c ---- */
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
/* Does the op count on that barrier: by an arrival, or by bytes? */
static inline bool verify_counts(const Verifier *v, uint32_t op, uint32_t bar)
{
    const IrArg *of = verify_arg(v, op, IRK_BAR);
    return of && of->id == bar && v->ops[op]->op != IR_BAR_WAIT && v->ops[op]->op != IR_BAR_INIT;
}
void verify_also(Verifier *v, Diag *g, uint32_t op, const char *text);
const char *verify_op_text(const Verifier *v, uint32_t op); /* "bar.wait", with its role where there are several */
uint32_t verify_bar(const Verifier *v, uint32_t slot); /* slot: through all CTAs */
const char *verify_bar_name(Verifier *v, uint32_t slot);
const char *verify_form_text(Verifier *v, Form x);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void verify_proved(Verifier *v, const char *fmt, ...);
const char *verify_line(Verifier *v, uint32_t op);
void verify_run(Verifier *v); /* one run, judged */
void verify_depends(Verifier *v, const Access *from, const Access *to, bool reuse); /* for the certificate */
static inline bool verify_stopped(const Verifier *v)
{
    return v->failed || v->again;
}
bool verify_side_by_side(const Verifier *v, uint32_t a, uint32_t b); /* one loop, or loops of two roles that pass their turns together */
/* The body of an op. */
const Body *verify_body(const Verifier *v, uint32_t op);
uint32_t verify_around(const Verifier *v, uint32_t op); /* the innermost loop of its own trip count around it; nops: none */

/* A loop over copies' lanes, or one whose bounds are numbers: the runs have all of its turns. */
static inline bool loop_fixed(const Verifier *v, uint32_t at)
{
    const IrOp *op = v->ops[at];
    return op->op == IR_LANES || (op->op == IR_LOOP && !v->is_long[at] && ir_find(op, IRK_A)->kind == IRA_IMM &&
                                  ir_find(op, IRK_B)->kind == IRA_IMM);
}

/* A loop whose trip count is not a number, or a large one: it is looked at for itself. */
static inline bool loop_own_count(const Verifier *v, uint32_t at)
{
    return v->ops[at]->op == IR_REPEAT || (v->ops[at]->op == IR_LOOP && !loop_fixed(v, at));
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

#endif
