/* Programmatic dependent launch (CUDA C++ programming guide; PTX ISA, griddepcontrol): a kernel may begin while those before it in its stream
 * still run, as soon as each of their CTAs has said so or has exited. What it makes ready for itself alone is done then; in front of the first
 * access to global memory it waits until all of them are over, and what they wrote is seen.
 *
 * Every kernel waits, in each CTA, also one that touches nothing: whoever waits for it relies on all before it being over, too. It says so at
 * once: its own CTAs are all there then, and those of the next launch take no place from them. With tensor memory it says so when that is allocated:
 * else a CTA of the next launch might take the columns and wait for the end of one that waits for them. */
#include <string.h>

#include "lower/emit/values.h"

static uint32_t wait_at(const IrRole *init)
{
    uint32_t depth = 0, outermost = 0;
    for (uint32_t i = 0; i < init->ops.n; i++) {
        const IrOp *op = &init->ops.v[i];
        if (op->op == IR_END) depth--;
        if (ir_opens_block(op->op) && op->op != IR_ELSE && depth++ == 0) outermost = i;
        if (ir_touches_global(op)) return depth ? outermost : i;
    }
    return init->ops.n;
}

static bool allocates(const IrRole *init)
{
    for (uint32_t i = 0; i < init->ops.n; i++)
        if (init->ops.v[i].op == IR_TC_ALLOC) return true;
    return false;
}

static void put_at(Lower *L, IrRole *r, uint32_t at, IrOpcode op)
{
    ir_op(L->a, r, op, (Span){0, 0});
    IrOp added = r->ops.v[r->ops.n - 1];
    memmove(&r->ops.v[at + 1], &r->ops.v[at], (r->ops.n - 1 - at) * sizeof added);
    r->ops.v[at] = added;
}

void body_depend(Lower *L)
{
    IrRole *init = &L->ir->init;
    uint32_t wait = wait_at(init), launch = allocates(init) ? init->ops.n : 0;
    put_at(L, init, launch, IR_DEP_LAUNCH);
    put_at(L, init, wait + (launch <= wait), IR_DEP_WAIT);
    L->ir->mf.dependent = true;
}
