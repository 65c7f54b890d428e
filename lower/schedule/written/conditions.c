/* Conditions around arrivals and waits of the source.
 *
 * A condition that the verifier can work out for every turn and CTA (of constants, indices, the rank, ends of loops), or
 * that has one value in a launch, is followed: arrivals and waits under it happen where it holds. Under other conditions
 * (data, sizes against indices) they always happen, as those of derived schedules do; only copies are left out. That is
 * the same protocol if both sides of it have the condition: counts.c.
 */
#include "lower/emit/values.h"
#include "lower/schedule/written/sync.h"

/* The terms that are known at launch, without the constant; false where others than those and indices are in p. */
static bool launch_part(Lower *L, Poly p, Poly *out)
{
    *out = poly_const(L->d, 0);
    if (p.bad) return false;
    for (uint32_t i = 0; i < p.n; i++) {
        Poly t = {.terms = &p.terms[i], .n = 1};
        unsigned depends = domain_depends(L->d, t);
        if (p.terms[i].natoms == 0) continue;
        if (depends & ~(unsigned)(DEP_LAUNCH | DEP_LOOP | DEP_RANK)) return false;
        if (depends & DEP_LAUNCH && depends & DEP_LOOP) return false;
        if (depends & DEP_LAUNCH) *out = poly_add(L->d, *out, t);
    }
    return !out->bad;
}

/* `k + c < n`, n the end of a loop around: the verifier knows it where it knows how often the loop runs. */
static bool against_end(Lower *L, const Sx *x)
{
    Poly p, end, minus;
    Domain *d = L->d;
    Poly b = scalar_poly(L, x->b);
    if (!launch_part(L, poly_sub(d, scalar_poly(L, x->a), b), &p)) return false;
    minus = poly_sub(d, poly_const(d, 0), p);
    for (uint32_t i = 0; i < L->k->nloops; i++) {
        const PStmt *st = L->scalars->loops[i].stmt;
        if (st == NULL || L->scalars->loops[i].atoms.index == 0 || !(L->scalars->open_mask & loop_bit(i))) continue;
        Poly lo = scalar_poly(L, st->lo);
        if (!launch_part(L, poly_sub(d, scalar_poly(L, st->value), lo), &end)) continue;
        if (end.n && (poly_same(end, p) || poly_same(end, minus))) return true;
    }
    return false;
}

bool sync_follows(Lower *L, const Sx *x)
{
    switch ((SxOp)x->op) {
    case SX_LAND:
    case SX_LOR: return sync_follows(L, x->a) && sync_follows(L, x->b);
    case SX_NOT: return sync_follows(L, x->a);
    default: break;
    }
    if (x->launch || !(scalar_uses(L, x) & (USE_LAUNCH | USE_CTA | USE_LOAD))) return true;
    return x->op >= SX_EQ && x->op <= SX_GE && against_end(L, x);
}
