/* Long loops of a constant number of turns: of `for k in 1000` the runs have the first and the last turns, those in between are left
 * out. How many are left is a choice, as it is for other loops, but of counts of at least 2 S + 1 turns that leave the remainder of 1000
 * (modulo the joint period of all that steers: tries/moduli.c), two of them: from those the loop differs by middle turns that are
 * put in, whole periods of them (tries/period.c). Counts near each other (`for k in 999`) have as many turns less as they have.
 *
 * What can't be proved in this way is unrolled as it stands (verify.c).
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum {
    LONG = 64,
    NEAR = 16
}; /* turns of loops that are unrolled as they are; how far from each other counts go together */

static bool is_long(const IrOp *op)
{
    int64_t turns;
    if (op->op != IR_LOOP) return false;
    const IrArg *lo = ir_find(op, IRK_A), *hi = ir_find(op, IRK_B);
    bool numbers = lo && hi && lo->kind == IRA_IMM && hi->kind == IRA_IMM;
    return numbers && sub_s64(hi->imm, lo->imm, &turns) && turns > LONG && hi->imm <= INT32_MAX;
}

bool constants_long(const IrKernel *k)
{
    for (uint32_t i = 0; i < k->roles.n; i++)
        for (uint32_t j = 0; j < k->roles.v[i].ops.n; j++)
            if (is_long(&k->roles.v[i].ops.v[j])) return true;
    return false;
}

void constants_find(Verifier *v)
{
    v->is_long = arena_array(v->arena, bool, v->nops + 1);
    for (uint32_t i = 0; i < v->nops && !v->in_full; i++) {
        v->is_long[i] = is_long(v->ops[i]) && v->block[i] & BLOCK_EVENTS;
        if (v->is_long[i]) constants_end(v, i);
    }
}

/* Turns far from each other meet in nothing but slots, which come round: so few turns show all that many do. Not so where one reads in
 * global memory what another one wrote, nor where places in a tile move with the index (tries/period.c). */
void constants_check(Verifier *v)
{
    uint64_t read = 0;
    for (uint32_t i = 0; i < v->nops; i++) read |= copy_tensors(v, i, false);
    if (v->counts.n && !v->few && read & v->stored) verify_refuse(v, E0660, v->nops, "in many turns it may read what it wrote");
}

Form constants_end(Verifier *v, uint32_t loop)
{
    int64_t end = v->operands[loop].b->imm, k = end;
    uint32_t i = 0;
    while (i < v->counts.n && (end - v->counts.v[i] > NEAR || v->counts.v[i] - end > NEAR)) i++;
    if (i < v->counts.n) k = v->counts.v[i];
    else vec_push(v->arena, &v->counts, k);
    Form of = form_atom(&v->f, (FormAtom){.kind = ATOM_COUNT, .a = (uint32_t)k, .lo = k, .hi = k});
    return form_add(&v->f, of, 1, form_const(&v->f, end - k));
}

int64_t constants_count(const Verifier *v, Form of)
{
    const FormData *d = form_data(&v->f, of);
    bool one = d->n == 1 && d->t[0].c == 1 && atom_data(&v->f, d->t[0].atom)->kind == ATOM_COUNT;
    return one ? d->lo : 0;
}
