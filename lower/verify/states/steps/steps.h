/* What steps do: what the files of this folder say to each other. */
#ifndef LOWER_VERIFY_STATES_STEPS_H
#define LOWER_VERIFY_STATES_STEPS_H

#include "lower/verify/states/state/forms.h"

/* ---- each.c: loops over copies ---- */

bool each_begin(Checker *c, uint32_t loop, Num lo, Num hi); /* false: its turns are run one by one */
void each_end(Checker *c);
void each_fails(Checker *c); /* what does not hold of all turns together may hold of each: they are run one by one the next time, if it is known how many there are */
bool each_tells_apart(Checker *c); /* what it stopped for is not the same in all turns: they are run one by one the next time */

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
void gaps_prepare(Checker *c);
bool bufs_overlap(const IrBuf *a, const IrBuf *b);
void written(Checker *c, Piece x);
static inline bool at_most(Checker *c, Num x, Num y) /* x <= y */
{
    return facts_imply(&c->n, &c->st->facts, num_add(&c->n, y, -1, x));
}
static inline bool conflict(const Item *x, const Item *y) /* at one place */
{
    return (x->write || y->write) && !commute(x->red, y->red);
}
enum { BY_ONE, BY_EACH };
void ask_written(Checker *c, const Item *x); /* what is read there was written */
uint32_t touch(Checker *c, Item x, int who); /* x: at which place, and how */

/* ---- places.c: what two copies touch in tensors ---- */

typedef struct Asked { /* ops by CTAs; of the first n loops around each the second one's index is so much greater: from least to most */
    uint32_t op[2], cta[2], n;
    int64_t least[LEVELS], most[LEVELS]; /* NO_LO, NO_HI: there is no bound. If not equal then both above 0, or both below */
} Asked;
void places_prepare(Checker *c);
typedef struct Reach { /* between which numbers an op touches, on each axis of its view of a tensor, in all launches and turns */
    uint32_t view, naxes; /* 0: it has no such view */
    Interval at[MAP_RANK];
} Reach;
Reach tensor_reach(Checker *c, uint32_t op);
static inline bool lies_behind(Interval x, Interval y)
{
    return x.lo != NO_LO && y.hi != NO_HI && x.lo >= y.hi;
}
static inline bool far_apart(const Reach *x, const Reach *y) /* by these alone they do not meet */
{
    for (uint32_t i = 0; x->view == y->view && i < x->naxes; i++)
        if (lies_behind(x->at[i], y->at[i]) || lies_behind(y->at[i], x->at[i])) return true;
    return false;
}
bool ask_places(Checker *c, const Asked *q, bool sure); /* they may meet; sure: they do */

/* ---- global.c ---- */

void global_prepare(Checker *c);
bool touch_global(Checker *c, const IrOp *op, uint32_t *item); /* whether an item is made of it */
bool global_over(Checker *c, uint32_t item);                   /* who does not know that comes to its place no more */
bool turns_join(Checker *c, const Item *x, Item *y); /* by one op, and known to the same: y becomes both */

/* ---- what steps do: step.c, bars.c, copies.c, core.c ---- */

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
void fewer_pending(Checker *c, uint32_t bar, int32_t times, uint32_t last); /* last: the op of the last that counted before, + 1 */
bool step_bar(Checker *c, const IrOp *op); /* whether it waits */
static inline bool arrives_from_afar(const Checker *c, const Item *x, uint32_t bar) /* it counts on it, and is no copy */
{
    return c->st->agents[x->agent].cta != bar / c->nslots && ir_op_info(c->op[x->op]->op)->group == IRG_BARRIER;
}
void step_copy(Checker *c, const IrOp *op);
void step_group(Checker *c, const IrOp *op);
void step_threads(Checker *c, const IrOp *op);
void step_core(Checker *c, const IrOp *op);
Num along_of(Checker *c, const IrOp *op, const IrArg *buf); /* in tensor memory: bytes further in each lane */

#endif
