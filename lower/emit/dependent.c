/* Programmatic dependent launch (CUDA C++ programming guide; PTX ISA, griddepcontrol): a kernel may begin while those before it in its stream
 * still run, as soon as each of their CTAs has said so or has exited. What it makes ready for itself alone is done then; in front of the first
 * access to global memory it waits until all of them are over, and what they wrote is seen.
 *
 * Every kernel waits, in each CTA, also one that touches nothing: whoever waits for it relies on all before it being over, too. It says so
 * behind its own wait: its own CTAs are all there then, and those of the next launch take no place from them; said sooner, several launches stand in
 * line on the SMs, in the places of those that work, which at 8 to 32 CTAs per SM costs up to a tenth. A kernel that reads numbers first, to know
 * where to copy, says it at once all the same: its next launch is needed sooner than it would come (measured on the H100). With tensor memory it is
 * said when that is allocated: else a CTA of the next launch might take the columns and wait for the end of one that waits for them. */
#include <string.h>

#include "lower/emit/values.h"

static uint32_t wait_at(const IrRole *init)
{
    uint32_t i = 0;
    while (i < init->ops.n && !ir_touches_global(&init->ops.v[i])) i++;
    return i;
}

static bool has_op(const IrRole *r, IrOpcode op)
{
    for (uint32_t i = 0; i < r->ops.n; i++)
        if (r->ops.v[i].op == op) return true;
    return false;
}

static bool reads_numbers(const IrKernel *k)
{
    bool any = has_op(&k->init, IR_LOADS);
    for (uint32_t i = 0; i < k->roles.n; i++) any |= has_op(&k->roles.v[i], IR_LOADS);
    return any;
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
    uint32_t wait = wait_at(init);
    put_at(L, init, wait, IR_DEP_WAIT);
    put_at(L, init, has_op(init, IR_TC_ALLOC) ? init->ops.n : reads_numbers(L->ir) ? 0 : wait + 1, IR_DEP_LAUNCH);
    L->ir->mf.dependent = true;
}
