/* What the files of this room share. A kernel is run once, all agents (a role of a CTA) side by side, a turn of a loop each per round, by
 * numbers that are not known (numbers.h): values.c works out scalars, state.c keeps what is so at one point of the run, step.c and the files
 * that it names say what ops do to it, cover.c finds states that are examples of others and guesses such others, explore.c drives.
 *
 * Glossary: agent - the threads of a role in one CTA; item - something that happened and that somebody may not know to be over; to fork - to go
 * on with each of two states, in one of which a number is >= 0 and in the other it is not; to name a number - to go on with one of which
 * only its range is known, the same for all who make it of equal numbers in the same way. */
#ifndef TESTS_STATES_CHECKER_H
#define TESTS_STATES_CHECKER_H

#include <setjmp.h>

#include "tests/states/state.h"
#include "tests/states/states.h"

/* ---- the kernel, prepared: kernel.c ---- */

typedef struct Code { /* a body: init, a role, or exit */
    const IrRole *role;
    uint32_t first;    /* number of its first op, through all bodies */
    uint32_t *partner; /* by op: the else or end of what opens a block, and back */
    uint32_t *around;  /* by op: what opens the block that it stands in, + 1 */
    uint32_t *begin;   /* by else or end: the op that opens the block */
    bool *steps;       /* by op that opens a block: there is more in it than copies and scalars */
    uint32_t *live;    /* by op, `words` each: values (by slot), then variables, that are asked for there or behind it */
    uint32_t words;
    uint16_t *slot; /* by IR value: where an agent keeps it, + 1; 0: it does not */
    uint32_t nvalues, depth;
} Code;

enum { CLASSES = 256 };

typedef struct Node { /* a state at the beginning of a round */
    Num *cells;
    uint32_t ncells, natoms; /* atoms are 1 .. natoms */
    Facts facts;
    uint64_t *sets;
    uint32_t words; /* of a set */
    uint32_t from, same; /* the node that it comes from, and the one before with that signature, + 1 */
    uint32_t of;         /* of one that is a guess: the node before by which, + 1 */
    bool overtaken;      /* it is an example of a later one */
} Node;
typedef struct Ban { /* node may not be made by going on as from `by`; twice: not in fewer, longer steps either */
    uint32_t node, by;
} Ban;

typedef struct Checker {
    Arena *arena;
    const IrKernel *k;
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
    uint32_t *bar_base;                                   /* by barrier: its first slot */
    uint64_t *waiters;                                    /* by barrier: roles that wait for it */
    Agent *place;                                         /* by agent: where its own begin */
    bool *knows;                                          /* by set: what is in it somebody knows, or will; who knows more may do what others may */
    uint32_t nenv, nvars, nframes, nsets, bar_sets, most_groups;

    Names *val_names, *class_names, *sigs;
    VEC(ValData) vals;
    Val *launch_vals; /* by launch expression, from 0 */
    Facts launch_facts;
    uint32_t natoms; /* of the launch */
    VEC(const char *) atom_names;

    State *st;          /* the one that is run */
    uint32_t agent, pc; /* whose turn it is, and where */
    jmp_buf out;
    int stop; /* why it was left: STOP_.. */
    Num fork;
    uint32_t split_atom;
    int64_t split_by;
    const char *why;
    uint32_t why_op;
    ErrorCode error;

    bool begins, meets, frees_alone; /* all threads of the cluster come together in front of the roles, at the end; tensor memory is freed before that */
    uint64_t work;      /* that may still be done */
    Val *init;          /* by IR value, while init is run */
    uint32_t *asks;     /* by agent and class: the last op at which it names such a number, + 1 */
    bool forgets;       /* what conditions outside of loops are made of */
    uint32_t *touches;  /* by agent, space and buffer: the last op at which it touches what may lie there, + 1 */
    bool learned;       /* somebody names numbers or touches memory who was not known to do so, */
    uint32_t learned_at; /* .. when there were so many states */

    Text *trace; /* NULL: none is wanted */

    VEC(Node) nodes;
    VEC(uint32_t) heads; /* by signature: its newest node, + 1 */
    VEC(Ban) bans;
    bool exact;      /* how often loops in loops turn */
    bool narrow;     /* no guesses */
    uint32_t failed; /* the node from which it went wrong */
} Checker;
enum { STOP_FORK = 1, STOP_SPLIT, STOP_REFUSED, STOP_LOST };

void kernel_prepare(Checker *c);
static inline void learn(Checker *c)
{
    c->learned = true;
    c->learned_at = c->nodes.n;
}

/* ---- ends.c: what stands around the roles ---- */

void ends_check(Checker *c);

/* ---- values.c ---- */

void values_prepare(Checker *c);
Val val_num(Checker *c, Num x);
static inline const ValData *val_data(const Checker *c, Val v)
{
    return &c->vals.v[v - 1];
}
Val val_of_op(Checker *c, uint32_t op); /* of a scalar, by what the agent has */
Val val_of_arg(Checker *c, const IrArg *arg);
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

/* ---- state.c and tidy.c ---- */

typedef struct Turn { /* a cell that is a loop's index */
    uint32_t cell, op;
    bool inner, ends; /* of a loop that stands in the one before; the next cell is its end */
} Turn;
typedef struct Sig {
    Arena *arena;
    VEC(uint32_t) words;
    VEC(Num) cells;
    VEC(Turn) turns;
    const Num *put; /* NULL, or cells to put in the place of these, */
    uint32_t at;    /* .. so many of them so far */
} Sig;
State *states_new(Checker *c);
State *states_copy(Checker *c, const State *s);
void states_free(State *s);
bool states_assume(Checker *c, State *s, Num x);        /* x >= 0; false: it can't be */
void states_map(Checker *c, State *s, const NumMap *m); /* all of its numbers but for facts */
bool states_split(Checker *c, State *s, uint32_t atom, int64_t by, int64_t rest);
void states_tidy(Checker *c, State *s);                 /* forgets what nobody asks any more, and numbers the rest anew */
void states_write(Checker *c, State *s, Sig *to);       /* states in which the same happens have the same signature, and numbers in the same places */

static inline uint64_t *set_of(const Checker *c, const State *s, uint32_t agent, uint32_t kind)
{
    return s->sets + (size_t)(c->place[agent].sets + kind) * s->words;
}
static inline uint64_t *bar_set(const Checker *c, const State *s, uint32_t bar, uint32_t kind)
{
    return s->sets + (size_t)(c->bar_sets + bar * BAR_SETS + kind) * s->words;
}
static inline bool set_has(const uint64_t *s, uint32_t bit)
{
    return s[bit / 64] >> bit % 64 & 1;
}
static inline void set_add(uint64_t *s, uint32_t bit)
{
    s[bit / 64] |= UINT64_C(1) << bit % 64;
}
static inline void set_join(uint64_t *s, const uint64_t *t, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) s[i] |= t[i];
}
uint32_t item_new(Checker *c, Item x);
void item_over(const Checker *c, State *s, uint32_t i); /* nobody asks what it did; who counts behind it on a barrier has to know it as long as that may be */

/* ---- memory.c ---- */

typedef struct Where { /* bytes of a space: a CTA's shared memory, its tensor memory, its maps */
    uint16_t space, buf;
    Num lo, hi;
} Where;
Where place_of(Checker *c, const IrOp *op, const IrArg *buf, Num bytes, uint32_t cta);
static inline Item item_at(Item x, Where w, Num only) /* x, there */
{
    x.space = w.space;
    x.buf = w.buf;
    x.lo = w.lo;
    x.hi = w.hi;
    x.only = only;
    return x;
}
static inline uint32_t *touches_of(const Checker *c, uint32_t agent, uint32_t space, uint32_t buf)
{
    return &c->touches[(agent * SPACES * c->nctas + space) * c->k->bufs.n + buf];
}
enum { BY_ONE, BY_EACH };
uint32_t touch(Checker *c, Item x, int who); /* x: at which place, and how */

/* ---- what steps do: step.c, bars.c, copies.c, core.c ---- */

static inline Num num_k(Checker *c, int64_t k)
{
    return num_const(&c->n, k);
}
static inline const IrOp *op_now(const Checker *c)
{
    return &code_of(c)->role->ops.v[c->pc];
}
static inline bool by_each(const Checker *c, const IrOp *op) /* by each thread of the role */
{
    return c->st->agents[c->agent].many && !op->elect;
}
Num only_now(Checker *c, const IrOp *op);                         /* 0: the op happens; else whether it does, 0 or 1. Of an op that does not: num_k(c, 0) */
Num only_if(Checker *c, Val v);                                   /* 1 where it holds, else 0 */
Num both_of(Checker *c, Num x, Num y);                            /* of two such; 0: that does */
static inline bool asks_bytes(const IrOp *copy, const IrOp *pred) /* whether the copy has any */
{
    const IrArg *bytes = ir_find(copy, IRK_BYTES), *a = ir_find(pred, IRK_A), *b = ir_find(pred, IRK_B);
    return bytes && pred->op == IR_CMP && ir_find(pred, IRK_REL)->id == IRL_GT && a->kind == bytes->kind && a->id == bytes->id && a->kind == IRA_VAL &&
           b->kind == IRA_IMM && b->imm == 0;
}
static inline bool some_bytes(const IrOp *const *ops, const uint32_t *def, const IrOp *copy, uint32_t pred) /* one of the conditions that it is made of */
{
    const IrOp *op = ops[def[pred - 1]];
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    if (asks_bytes(copy, op)) return true;
    return op->op == IR_AND && ((a->kind == IRA_VAL && some_bytes(ops, def, copy, a->id)) || (b->kind == IRA_VAL && some_bytes(ops, def, copy, b->id)));
}
uint64_t targets_of(Checker *c, const IrOp *op, uint32_t own); /* CTAs: by a mask, a rank, or the own one */
uint32_t bar_of(Checker *c, const IrOp *op, uint32_t cta);
uint32_t bars_of(Checker *c, const IrOp *op, uint32_t bar[64]); /* of all that it counts on: how many */
const IrBar *bar_info(const Checker *c, uint32_t bar);
void count_on(Checker *c, uint32_t bar, uint32_t item, bool each, bool certain);
void bar_bytes(Checker *c, uint32_t bar, Num bytes, int64_t times);
void bar_complete(Checker *c, uint32_t bar);
bool step_bar(Checker *c, const IrOp *op); /* whether it waits */
static inline bool arrives_from_afar(const Checker *c, const Item *x, uint32_t bar) /* it counts on it, and is no copy */
{
    return c->st->agents[x->agent].cta != bar / c->nslots && ir_op_info(c->op[x->op]->op)->group == IRG_BARRIER;
}
void step_copy(Checker *c, const IrOp *op);
void step_group(Checker *c, const IrOp *op);
void step_threads(Checker *c, const IrOp *op);
void step_core(Checker *c, const IrOp *op);

/* ---- cover.c ---- */

bool example_of(Checker *c, const Node *x, uint32_t node); /* with other numbers in the place of its atoms */
void overtake(Checker *c, uint32_t node); /* those of before that are examples of it need not be asked any more */
bool covered(Checker *c, const Node *x, uint32_t name); /* c->st is an example of one of before */
bool widened(Checker *c, const Sig *sig, uint32_t name, uint32_t from, uint32_t *by); /* c->st, made one of which it is an example, and what follows in a like way */

/* ---- trace.c ---- */

void trace_state(Checker *c, uint32_t node);
void trace_by(Checker *c, uint32_t by, const char *how);
void trace_stop(Checker *c);

#endif
