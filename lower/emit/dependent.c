/* Programmatic dependent launch (CUDA C++ programming guide; PTX ISA, griddepcontrol): a kernel may begin while those before it in its stream
 * still run, as soon as each of their CTAs has said so or has exited. What it makes ready for itself alone is done then; in front of the first
 * access to global memory it waits until all of them are over, and what they wrote is seen.
 *
 * Every kernel waits, in each CTA, also one that touches nothing: whoever waits for it relies on all before it being over, too. It says so
 * behind its own wait: its own CTAs are all there then, and those of the next launch take no place from them; said sooner, several launches stand in
 * line on the SMs, in the places of those that work, which at 8 to 32 CTAs per SM costs up to a tenth. A kernel that reads numbers, to know where to
 * copy, takes longer, and its next launch is needed sooner than it would come: of few CTAs it says so at once where its loads wait for numbers, and
 * else as soon as its loads are on their way, which are those that the next launch's would take time from (measured on the H100). With tensor memory
 * it is said when that is allocated: else a CTA of the next launch might take the columns and wait for the end of one that waits for them. */
#include <string.h>

#include "lower/emit/values.h"

/* Blocks around what comes behind the op, of those around it. */
static uint32_t depth_behind(uint32_t depth, const IrOp *op)
{
    return op->op == IR_END ? depth - 1 : ir_opens_block((IrOpcode)op->op) && op->op != IR_ELSE ? depth + 1 : depth;
}

/* In front of the first op that touches global memory, and of the branches around it. */
static uint32_t wait_at(const IrRole *r)
{
    uint32_t depth = 0, at = 0;
    for (uint32_t i = 0; i < r->ops.n; i++) {
        if (depth == 0) at = i;
        if (ir_touches_global(&r->ops.v[i])) return at;
        depth = depth_behind(depth, &r->ops.v[i]);
    }
    return r->ops.n;
}

static bool has_loop(const IrRole *r)
{
    return ir_body_has(r, IR_LOOP) || ir_body_has(r, IR_REPEAT);
}

/* Behind the role's last load that it does not wait for one before, and the branches around that; 0: it has none. */
static uint32_t behind_loads(const IrRole *r)
{
    uint32_t at = 0, depth = 0;
    bool loaded = false;
    for (uint32_t i = 0; i < r->ops.n && r->ops.v[i].op != IR_BAR_WAIT; i++) {
        const IrOp *op = &r->ops.v[i];
        depth = depth_behind(depth, op);
        loaded |= op->op == IR_TMA_LOAD || op->op == IR_BLK_LOAD;
        if (!loaded || depth) continue;
        at = i + 1;
        loaded = false;
    }
    return at;
}

static IrOp *put_at(Lower *L, IrRole *r, uint32_t at, IrOpcode op)
{
    ir_op(L->a, r, op, (Span){0, 0});
    IrOp added = r->ops.v[r->ops.n - 1];
    memmove(&r->ops.v[at + 1], &r->ops.v[at], (r->ops.n - 1 - at) * sizeof added);
    r->ops.v[at] = added;
    return &r->ops.v[at];
}

static IrOp *put_value(Lower *L, IrRole *r, uint32_t at, IrOpcode op, IrType t)
{
    IrOp *o = put_at(L, r, at, op);
    o->type = (uint8_t)t;
    o->dst = ir_value(L->a, L->ir, t, NULL);
    return o;
}

/* At once, in launches of few CTAs. */
static void say_early(Lower *L)
{
    enum { FEW_CTAS = 64 };
    IrRole *init = &L->ir->init;
    IrOp *ctas = put_value(L, init, 0, IR_SREG, IR_I32);
    ir_ref(L->a, ctas, IRK_REG, IRA_WORD, IRR_NCTAID_X);
    IrVal n = ctas->dst;
    IrOp *few = put_value(L, init, 1, IR_CMP, IR_PRED);
    ir_ref(L->a, few, IRK_REL, IRA_WORD, IRL_LE);
    ir_ref(L->a, few, IRK_A, IRA_VAL, n);
    ir_imm(L->a, few, IRK_B, FEW_CTAS);
    IrVal is = few->dst;
    put_at(L, init, 2, IR_DEP_LAUNCH)->guard.pred = is;
}

/* A kernel that reads numbers. */
static void say_by_loads(Lower *L)
{
    IrKernel *k = L->ir;
    bool looped = has_loop(&k->init), early = ir_body_has(&k->init, IR_LOADS);
    IrRole *loads = NULL;
    uint32_t at = 0;
    for (uint32_t i = 0; i < k->roles.n; i++) {
        IrRole *r = &k->roles.v[i];
        looped |= has_loop(r);
        if (loads == NULL && (at = behind_loads(r)) > 0) loads = r;
    }
    if (looped || loads == NULL) {
        put_at(L, &k->init, 0, IR_DEP_LAUNCH);
        return;
    }
    for (uint32_t i = 0; i < at; i++) early |= loads->ops.v[i].op == IR_LOADS;
    put_at(L, loads, at, IR_DEP_LAUNCH);
    if (early) say_early(L);
}

/* A kernel that reads numbers is over later than the next launch would begin: what it does behind the wait is what counts. Of those, one thread that does it
 * all waits where it needs to, behind barriers that are armed. Of others what counts is how soon the next launch is called. */
static IrRole *waiting(IrKernel *k)
{
    if (!ir_has(k, IR_LOADS)) return &k->init;
    IrRole *alone = k->roles.n == 1 && k->roles.v[0].elect && !has_loop(&k->roles.v[0]) ? &k->roles.v[0] : NULL;
    bool init = wait_at(&k->init) < k->init.ops.n || ir_body_has(&k->init, IR_TC_ALLOC) || ir_body_has(&k->init, IR_CTA_SYNC) || ir_body_has(&k->init, IR_CLUSTER_WAIT);
    return alone && !init ? alone : &k->init;
}

void body_depend(Lower *L)
{
    IrRole *init = &L->ir->init, *r = waiting(L->ir);
    uint32_t wait = wait_at(r);
    put_at(L, r, wait, IR_DEP_WAIT);
    if (ir_body_has(init, IR_TC_ALLOC)) put_at(L, init, init->ops.n, IR_DEP_LAUNCH);
    else if (ir_has(L->ir, IR_LOADS)) say_by_loads(L);
    else put_at(L, r, wait + 1, IR_DEP_LAUNCH);
    L->ir->mf.dependent = true;
}
