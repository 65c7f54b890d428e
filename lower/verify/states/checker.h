/* What the files of this room share. A kernel is run once, all agents (a role of a CTA) side by side, a turn of a loop each per round, by
 * numbers that are not known (values/numbers.h): values/values.c works out scalars, state.c keeps what is so at one point of the run, step.c and the files
 * that it names say what ops do to it, cover.c finds states that are examples of others and guesses such others, explore.c drives.
 *
 * Glossary: agent - the threads of a role in one CTA; item - something that happened and that somebody may not know to be over; to fork - to go
 * on with each of two states, in one of which a number is >= 0 and in the other it is not; to name a number - to go on with one of which
 * only its range is known, the same for all who make it of equal numbers in the same way. */
#ifndef LOWER_VERIFY_STATES_CHECKER_H
#define LOWER_VERIFY_STATES_CHECKER_H

#include <setjmp.h>

#include "lower/verify/states/state/state.h"
#include "lower/verify/verify.h"
#include "lower/verify/states/states.h"

/* ---- the kernel, prepared: kernel.c ---- */

typedef struct Begun { /* a value or, behind those, a variable that an agent has from that op on, whichever way it came there */
    uint32_t at, what, slot;
    int64_t var; /* what that variable is at first */
} Begun;
typedef struct Code { /* a body: init, a role, or exit */
    const IrRole *role;
    uint32_t first;    /* number of its first op, through all bodies */
    uint32_t *partner; /* by op: the else or end of what opens a block, and back */
    uint32_t *around;  /* by op: what opens the block that it stands in, + 1 */
    uint32_t *begin;   /* by else or end: the op that opens the block */
    bool *steps;       /* by op that opens a block: there is more in it than copies and scalars */
    uint32_t *live;    /* by op, `words` each: slots of what is asked for there or behind it */
    uint32_t words, slots;
    uint32_t *slot, *var_slot; /* by IR value, by variable: where an agent keeps it, + 1; 0: it does not */
    bool *var_begun;           /* by variable: it begins as one of `begun` */
    VEC(Begun) begun;          /* by op */
    uint32_t *begun_at;        /* by op: its first one of these */
    uint32_t depth;
} Code;

typedef VEC(uint32_t) Bufs;
enum { CLASSES = 256 };

typedef struct Node { /* a state at the beginning of a round */
    Num *cells;
    uint32_t ncells, natoms; /* atoms are 1 .. natoms */
    Facts facts;
    uint64_t *sets;
    uint32_t words, nsets; /* words: of a set */
    uint32_t from, same; /* the node that it comes from, and the one before with that signature, + 1 */
    uint32_t of;         /* of one that is a guess: the node before by which, + 1 */
    State *was;          /* .. the state that it was made of */
    bool overtaken;      /* it is an example of a later one */
} Node;
typedef struct Ban { /* node may not be made by going on as from `by`; twice: not in fewer, longer steps either */
    uint32_t node, by;
} Ban;
typedef struct Bound { /* of a guess after so many bans: what was told apart in its first round */
    uint32_t node, by, bans;
    Num fork;
} Bound;
typedef struct Worked {
    uint64_t step;
    Num num;
} Worked;
typedef struct Quotient { /* of the launch: x / by is q */
    Num x, q;
    int64_t by;
} Quotient;

typedef struct Divided { /* a number of the launch that leaves this rest */
    uint32_t atom;
    int64_t by, rest;
} Divided;
typedef struct Refuted { /* what launches have in common that go wrong so */
    bool any;
    Facts facts;
    VEC(Divided) divided;
} Refuted;

typedef struct Checker {
    Arena *arena, run; /* run: of one exploration */
    const IrKernel *k;
    IrKernel *own;         /* the same, with what launches have to check */
    uint32_t k_nodes;      /* so many of its expressions were there before */
    const int64_t *given;  /* a launch: by expression of the launch; NULL: any */
    const uint8_t *status; /* .. LxStatus */
    Refuted refuted;
    bool may_demand;        /* somebody writes down what launches have to check */
    bool demands, demanded; /* it may be demanded of launches that they are no such as fail; it was */
    VEC(Lx) atom_lx;       /* by atom of the launch, from 0; 0: no expression of it */
    Sources *sources; /* NULL: there are none */
    Numbers n;
    Interval *launch;                                     /* by launch expression, from 0 */
    Interval *range, *var_range;                          /* by IR value, by variable: in all launches and turns */
    uint32_t *def;                                        /* by IR value: the op, by number */
    int64_t *period;                                      /* by loop, by number: of what it is divided by to decide something */
    bool *data, *var_data;                                /* by IR value, by variable: it is made from what is not known at launch */
    bool *wraps, *needed, *needed_var;                    /* by IR value: it may not fit its type; it decides something */
    VEC(Code) code;                                       /* init, the roles, exit */
    const IrOp **op;                                      /* by number */
    uint32_t nops, nctas, nroles, nagents, nslots, nbars; /* nslots: of the barriers of a CTA; nbars: of all */
    uint32_t *bar_base, *count;                           /* by barrier: its first slot; by slot: arrivals of a phase */
    uint32_t *bar_last;                                   /* by body and barrier: the last op that has to do with it, + 1 */
    Bufs *over;                                           /* by buffer: those that lie in the same memory, it among them */
    uint32_t *buf_last;                                   /* by body and buffer: the last op that has to do with what lies there, + 1 */
    uint64_t *waiters;                                    /* by barrier: roles that wait for it */
    Agent *place;                                         /* by agent: where its own begin */
    bool *mine;                                           /* by set of an agent: it is no knowledge, of which who has more may do what others may */
    int64_t *modulus;                                     /* by variable: all that is asked of it is what it leaves by that; 0: more is */
    bool *same;                                           /* by IR value: what the launch says, and nothing else */
    uint32_t nenv, nbegun, nframes, bar_sets, most_groups; /* bar_sets: so many are the agents' */

    Names *val_names, *class_names, *sigs, *shapes;
    VEC(ValData) vals;
    VEC(Worked) worked; /* by Val, to be told apart or named: what it is in this step, if it was asked for */
    uint64_t nsteps;
    VEC(Val) num_vals; /* by Num, from 0: what is nothing but that; 0: not asked for yet */
    Val *launch_vals; /* by launch expression, from 0 */
    Facts launch_facts;
    bool coarse; /* some of them are made of so many others that nothing is known of them */
    uint32_t natoms; /* of the launch */
    VEC(const char *) atom_names;
    VEC(Quotient) quotients;

    State *all;         /* that there are, */
    uint32_t nstates;   /* .. so many */
    State *st;          /* the one that is run */
    uint32_t agent, pc; /* whose turn it is, and where */
    jmp_buf out;
    int stop; /* why it was left: STOP_.. */
    Num fork;
    uint32_t split_atom;
    int64_t split_by;
    Refusal why;
    uint32_t *forks; /* by op: NULL as long as nothing has forked */
    bool goes_on; /* nothing ended that run: it was held */
    bool lenient; /* it goes on where a barrier's phases may be mistaken: what that comes to says more */

    bool begins, meets, frees_alone; /* all threads of the cluster come together in front of the roles, at the end; tensor memory is freed before that */
    bool frees_unfenced; /* .. and nothing fences what roles did there last but they themselves */
    uint64_t work;      /* that may still be done in this way; */
    uint64_t *all_work; /* .. in all */
    Val *init;          /* by IR value, while init is run */
    Val *begun;         /* by agent and Begun: by the launch's numbers */
    uint32_t *wanted;   /* by agent and atom of the launch: the last op at which it begins with what is made of that, + 1 */
    uint32_t *asks;     /* by agent and class: the last op at which it names such a number, + 1; */
    bool *no_asks;      /* .. something was forgotten as it does not */
    bool *reads_cells;  /* by role and buffer: it reads what is put there */
    bool *reads_again;  /* by buffer: somebody reads twice what is put there once */
    bool *singly;       /* by op that is a loop over copies: its turns are run one by one */
    bool forgot;        /* what somebody may ask for: what fails then may be right */
    uint32_t *touches;  /* by agent, space and buffer: the last op at which it touches what may lie there, + 1; */
    bool *no_touches;   /* .. something was forgotten as it does not */
    uint8_t *gaps; /* by buffer: what loads of packed elements leave out there, of each 16 bytes */
    struct Places *places;
    struct Globals *globals;
    bool learned;       /* somebody names numbers or touches memory of whom it was counted on that he does not, */
    uint32_t learned_at; /* .. when there were so many states */

    Text *trace; /* NULL: none is wanted */

    VEC(Node) nodes;
    VEC(uint32_t) heads; /* by signature: its newest node, + 1 */
    VEC(Ban) bans;
    VEC(Bound) asked_of, bounds; /* in this run; for the next ones */
    bool exact;      /* how often loops in loops turn */
    bool any_turns;  /* .. some turned as often as their range allows: what fails then may be no launch's */
    bool tells;      /* whether copies happen is told apart */
    bool narrow;     /* no guesses */
    uint32_t failed; /* the node from which it went wrong */
} Checker;
enum { STOP_FORK = 1, STOP_SPLIT, STOP_REFUSED, STOP_LOST };

void kernel_prepare(Checker *c);
Interval range_compared(IrRel rel, Interval x, Interval y); /* whether that holds: 1, 0, or either */

/* ---- live.c ---- */

void find_live(Checker *c, Code *b);
void find_same(Checker *c);
void begin_values(Checker *c); /* what the agent at hand begins with at its op */
bool launch_wanted(const Checker *c, const State *s, uint32_t atom);

static inline void learn(Checker *c)
{
    c->learned = true;
    c->learned_at = c->nodes.n;
}

/* ---- launches.c ---- */

void refuted_keep(Checker *c, const State *s);
/* Of what is refused: in some launch it goes wrong, which is told, or it is not refused; true: others are checked from now on. */
bool launch_judge(Checker *c, Verdict *v);
bool launch_demand(Checker *c); /* what goes wrong now does so in launches alone that nobody makes: they are checked for from now on */
void launch_checks(const Checker *c, const Demands *to); /* writes these down */
Verdict states_of_launch(Checker *c, const int64_t *given, const uint8_t *status); /* explore.c: a launch, run by its numbers */

/* ---- ends.c: what stands around the roles ---- */

void ends_check(Checker *c);

/* ---- values.c, launch.c ---- */

void values_prepare(Checker *c);
const char *expr_text(const Checker *c, Lx x); /* of the launch */
Val val_num(Checker *c, Num x);
static inline const ValData *val_data(const Checker *c, Val v)
{
    return &c->vals.v[v - 1];
}
Val val_of_op(Checker *c, uint32_t op); /* of a scalar, by what the agent has */
Val val_of_arg(Checker *c, const IrArg *arg);
enum { VAL_MOST = 256 /* of so many others, told apart, it is a number of its own */ };
enum { SPLIT_MOST = 16 /* remainders by more are not told apart */ };
bool val_is_num(const Checker *c, Val v, int64_t *k);
uint32_t val_size(const Checker *c, Val v);
bool val_has(const Checker *c, Val v, uint32_t atom); /* of the launch: it may be made of it */
Val val_make(Checker *c, ValData d); /* with what can be worked out at once */
typedef struct NumMap {              /* of atoms: y in the place of one; or by_number: from natoms + 1 on others; or y in the place of atom times `times` and something of `other` */
    uint32_t atom, other;
    int64_t times;
    Num y;
    const uint32_t *by_number;
} NumMap;
Num num_map(Checker *c, Num x, const NumMap *m);
Val val_map(Checker *c, Val v, const NumMap *m);
bool val_is_false(Checker *c, Val v); /* by numbers alone */
int val_try(Checker *c, Val v);       /* is it true? -1: it may be either */
Num val_force(Checker *c, Val v);     /* forks where it has to */
Num val_soft(Checker *c, Val v);      /* names what would fork */
bool val_truth(Checker *c, Val v);
Val val_settled(Checker *c, Val v); /* with what is decided by now */
Named *named_of(Checker *c, uint32_t class, const Num *key, uint32_t nkey, Interval r);
Num name_number(Checker *c, uint32_t class, const Num *key, uint32_t nkey, Interval r);
uint32_t class_of(Checker *c, const void *what, size_t n);
uint32_t class_of_val(Checker *c, const ValData *d);
uint32_t launch_of(const Checker *c, const IrOp *op); /* ValData.of, .imm */
int64_t imm_of(const IrOp *op);
int64_t divisor_of(uint8_t op, uint8_t rel, int64_t k); /* by how much an op with k behind its first operand divides that; 0: it does not */
Num fresh_number(Checker *c, Interval r);
bool ask(Checker *c, Num x); /* is it >= 0? */

/* ---- step.c and what it names ---- */

#if defined(__GNUC__)
#define NORETURN __attribute__((noreturn))
#else
#define NORETURN
#endif
NORETURN void stop_at(Checker *c, int why);
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 3, 4)))
#endif
void refuse(Checker *c, ErrorCode code, const char *fmt, ...);
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 2, 3)))
#endif
void lost(Checker *c, const char *fmt, ...);            /* it can't be followed */
bool step(Checker *c);                       /* an op of c->agent; whether its turn is over */
static inline bool of_launch(const IrOp *op) /* an agent has it from the start, wherever it stands */
{
    return op->op == IR_PARAM || op->op == IR_SREG;
}
static inline const Code *code_of(const Checker *c)
{
    return &c->code.v[c->st->agents[c->agent].body];
}

static inline uint32_t global_space(const Checker *c) /* of all tensors; its `buf` is the op */
{
    return SPACES * c->nctas;
}
static inline uint32_t touch_of(const Checker *c, uint32_t agent, uint32_t space, uint32_t buf) /* in `touches` */
{
    return (agent * SPACES * c->nctas + space) * c->k->bufs.n + buf;
}
static inline Num num_k(Checker *c, int64_t k)
{
    return num_const(&c->n, k);
}

/* ---- explore.c ---- */

Checker *states_of_all(Arena *a, const IrKernel *k, Sources *sources, bool may_demand, Text *trace, Verdict *v); /* the checker that has said so */
bool run_round(Checker *c, State *s, State **out); /* false: it has failed */
bool all_done(const Checker *c, const State *s);

/* ---- trace.c ---- */

void trace_state(Checker *c, uint32_t node);
void trace_by(Checker *c, uint32_t by, const char *how);
void trace_stop(Checker *c);

#endif
