/* Scalars are integers by meaning, their values are computed in 64 bits. An operation whose range is not within 64 bits
 * by constants is one of three:
 *
 *   made of sizes and parameters: evaluated at launch, where an overflow is an error;
 *   made of indices too, or of data with known bounds: the launch evaluates its extremes, and refuses to run where
 *     one of them does not exist in 64 bits;
 *   anything else: its value wraps around, so its normal form is opaque and nothing is folded through it.
 *
 * In the first two cases it is exact: what holds for integers holds for its value. */
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"

/* 0 where an operand is missing or the constants overflow. */
Lx lx_known(Lower *L, LxOp op, Lx a, Lx b)
{
    LxPool *p = &L->ir->mf.lx;
    int64_t k;
    if (a == 0 || b == 0) return 0;
    Lx r = lx_op(L->a, p, op, a, b);
    return lx_is_const(p, a, &k) && lx_is_const(p, b, &k) && !lx_is_const(p, r, &k) ? 0 : r;
}

static Lx number(Lower *L, int64_t k)
{
    return lx_const(L->a, &L->ir->mf.lx, k);
}

static Extremes negated(Lower *L, Extremes x)
{
    Lx zero = number(L, 0);
    return (Extremes){lx_known(L, LX_SUB, zero, x.hi), lx_known(L, LX_SUB, zero, x.lo)};
}

static Extremes corners(Lower *L, LxOp op, Extremes a, Extremes b)
{
    int64_t k;
    if (b.lo && b.lo == b.hi && lx_is_const(&L->ir->mf.lx, b.lo, &k)) { /* grows with a, or falls */
        bool falls = k < 0 && op != LX_SHL;
        return (Extremes){lx_known(L, op, falls ? a.hi : a.lo, b.lo), lx_known(L, op, falls ? a.lo : a.hi, b.lo)};
    }
    Lx c[4] = {lx_known(L, op, a.lo, b.lo), lx_known(L, op, a.lo, b.hi), lx_known(L, op, a.hi, b.lo), lx_known(L, op, a.hi, b.hi)};
    Extremes r = {c[0], c[0]};
    for (int i = 1; i < 4; i++) r = (Extremes){lx_known(L, LX_MIN, r.lo, c[i]), lx_known(L, LX_MAX, r.hi, c[i])};
    return r;
}

static bool at_least(Lower *L, const Sx *x, int64_t k)
{
    return scalar_range(L, x).lo >= k;
}

/* By a number of the launch: an error for 0. Any other divisor must be known to be positive. */
static Extremes quotient(Lower *L, const Sx *x, Extremes a, Extremes b)
{
    Lx zero = number(L, 0);
    if (b.lo && b.lo == b.hi) return corners(L, x->op == SX_CEIL ? LX_CEIL : LX_DIV, a, b);
    if (!scalar_positive(L, x->b)) return (Extremes){0, 0};
    return (Extremes){lx_known(L, LX_MIN, a.lo, zero), lx_known(L, LX_MAX, a.hi, zero)};
}

static Extremes remainder_of(Lower *L, const Sx *x, Extremes b)
{
    Lx one = number(L, 1);
    if (scalar_positive(L, x->b)) return (Extremes){number(L, 0), lx_known(L, LX_SUB, b.hi, one)};
    if (b.lo == 0 || b.lo != b.hi) return (Extremes){0, 0};
    Lx zero = lx_known(L, LX_MOD, b.lo, b.lo); /* or an error */
    Lx above = lx_known(L, LX_SUB, lx_known(L, LX_MAX, b.lo, one), one); /* b - 1, and 0 for b < 0 */
    Lx m = lx_known(L, LX_MAX, above, lx_known(L, LX_XOR, b.lo, number(L, -1))); /* |b| - 1, also for b = -2^63 */
    return (Extremes){lx_known(L, LX_SUB, zero, m), lx_known(L, LX_ADD, zero, m)};
}

/* Bits of numbers within -m - 1 .. m stay below the next power of two. */
static Extremes bits(Lower *L, Extremes a, Extremes b)
{
    Lx ones = number(L, -1);
    Lx y = lx_known(L, LX_MAX, b.hi, lx_known(L, LX_XOR, b.lo, ones));
    Lx m = lx_known(L, LX_MAX, lx_known(L, LX_MAX, a.hi, lx_known(L, LX_XOR, a.lo, ones)), y);
    Lx hi = lx_known(L, LX_MUL, m, number(L, 2));
    return (Extremes){lx_known(L, LX_XOR, hi, ones), hi};
}

static Extremes of_binary(Lower *L, const Sx *x)
{
    Extremes a = scalar_extremes(L, x->a), b = scalar_extremes(L, x->b);
    Lx zero = number(L, 0);
    switch ((SxOp)x->op) {
    case SX_ADD: return (Extremes){lx_known(L, LX_ADD, a.lo, b.lo), lx_known(L, LX_ADD, a.hi, b.hi)};
    case SX_SUB:
        if (scalar_over(L, x)) return (Extremes){zero, lx_known(L, LX_MAX, lx_known(L, LX_SUB, scalar_extremes(L, scalar_over(L, x)).hi, b.lo), zero)};
        return (Extremes){lx_known(L, LX_SUB, a.lo, b.hi), lx_known(L, LX_SUB, a.hi, b.lo)};
    case SX_MUL:
        if (!at_least(L, x->a, 0) || !at_least(L, x->b, 0)) return corners(L, LX_MUL, a, b);
        return (Extremes){lx_known(L, LX_MUL, a.lo, b.lo), lx_known(L, LX_MUL, a.hi, b.hi)};
    case SX_SHL: return corners(L, LX_SHL, a, b);
    case SX_DIV:
    case SX_CEIL: return quotient(L, x, a, b);
    case SX_MOD: return remainder_of(L, x, b);
    case SX_MIN: return (Extremes){lx_known(L, LX_MIN, a.lo, b.lo), lx_known(L, LX_MIN, a.hi, b.hi)};
    case SX_MAX: return (Extremes){lx_known(L, LX_MAX, a.lo, b.lo), lx_known(L, LX_MAX, a.hi, b.hi)};
    case SX_SHR: return (Extremes){lx_known(L, LX_MIN, a.lo, zero), lx_known(L, LX_MAX, a.hi, zero)};
    default: return bits(L, a, b);
    }
}

static Extremes of_node(Lower *L, const Sx *x)
{
    Lx one = number(L, 1), ones = number(L, -1);
    switch ((SxOp)x->op) {
    case SX_CTA: return (Extremes){number(L, 0), lx_known(L, LX_SUB, scalar_lx(L, L->k->grid[x->k]), one)};
    case SX_INDEX: {
        const PStmt *loop = loop_state(L, x->k)->stmt;
        if (loop == NULL) return (Extremes){0, 0};
        return (Extremes){scalar_extremes(L, loop->lo).lo, lx_known(L, LX_SUB, scalar_extremes(L, loop->value).hi, one)};
    }
    case SX_VAR: return L->scalars->vars[x->k].extremes;
    case SX_LET: return L->scalars->lets[x->k].bounded ? L->scalars->lets[x->k].extremes : scalar_extremes(L, x->a);
    case SX_NEG: return negated(L, scalar_extremes(L, x->a));
    case SX_INV: {
        Extremes a = scalar_extremes(L, x->a);
        return (Extremes){lx_known(L, LX_XOR, a.hi, ones), lx_known(L, LX_XOR, a.lo, ones)};
    }
    default: return x->b && !sx_is_bool(x) ? of_binary(L, x) : (Extremes){0, 0};
    }
}

Extremes scalar_extremes(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return (Extremes){number(L, x->k), number(L, x->k)};
    Scalar *s = scalar_of(L, x);
    Interval range = scalar_range(L, x); /* may find them on the way */
    if (s->has_extremes) return s->extremes;
    Extremes e;
    if (s->uses == USE_LAUNCH) {
        e.lo = e.hi = scalar_lx(L, x);
    } else {
        e = of_node(L, x);
        if ((e.lo == 0 || e.hi == 0) && range.lo != NO_LO && range.hi != NO_HI) e = (Extremes){number(L, range.lo), number(L, range.hi)};
        if (e.lo == 0 || e.hi == 0) e = (Extremes){0, 0};
    }
    s->extremes = e;
    s->has_extremes = true;
    return e;
}

/* The sum inside ceil(a / b) = (a + (b - 1)) / b. */
static Lx ceil_inner(Lower *L, const Sx *x)
{
    Extremes a = scalar_extremes(L, x->a), b = scalar_extremes(L, x->b);
    return lx_known(L, LX_ADD, a.hi, lx_known(L, LX_SUB, b.hi, number(L, 1)));
}

bool scalar_fits_at_launch(Lower *L, const Sx *x)
{
    Extremes e = scalar_extremes(L, x);
    return e.lo && e.hi && (x->op != SX_CEIL || scalar_of(L, x)->in_parts || ceil_inner(L, x));
}

/* ---- the launch checks ---- */

void exact_note(Lower *L, const Sx *x)
{
    Scalar *s = scalar_of(L, x);
    if (s->unbounded == 0 || s->noted) return;
    s->noted = true;
    vec_push(L->a, &L->scalars->wide_scalars, x);
    for (int i = 0; i < 2; i++) {
        const Sx *part = sx_through_lets(i ? x->b : x->a);
        if (part == NULL || part->op == SX_CONST) continue;
        /* Its inner sum, or its divisor, is not among the extremes. */
        if (part->op == SX_CEIL || part->op == SX_DIV || part->op == SX_MOD) continue;
        bool same_side = x->op == SX_ADD || (x->op == SX_MUL && at_least(L, x->a, 0) && at_least(L, x->b, 0));
        bool both = s->unbounded == (SIDE_LO | SIDE_HI) && x->op != SX_DIV && x->op != SX_CEIL && x->op != SX_MOD;
        Scalar *p = scalar_of(L, part);
        if (both || (same_side && (p->unbounded & ~s->unbounded) == 0)) p->covered = true;
    }
}

static Lx exists(Lower *L, Lx cond, Lx x, bool least)
{
    LxPool *p = &L->ir->mf.lx;
    if (x == 0 || p->nodes.v[x - 1].op == LX_SYM || p->nodes.v[x - 1].op == LX_CONST) return cond;
    Lx c = least ? lx_known(L, LX_LE, number(L, INT64_MIN), x) : lx_known(L, LX_LE, x, number(L, INT64_MAX));
    return cond ? lx_known(L, LX_LAND, cond, c) : c;
}

void exact_check(Lower *L)
{
    for (uint32_t i = 0; i < L->scalars->wide_scalars.n; i++) {
        const Sx *x = L->scalars->wide_scalars.v[i];
        const Scalar *s = scalar_of(L, x);
        Lx cond = 0;
        if (s->covered) continue;
        if (s->unbounded & SIDE_LO) cond = exists(L, cond, s->extremes.lo, true);
        if (s->unbounded & SIDE_HI) cond = exists(L, cond, s->extremes.hi, false);
        if (x->op == SX_CEIL && !s->in_parts) cond = exists(L, cond, ceil_inner(L, x), false);
        if (cond == 0 || launch_checked(L, E1117, cond)) continue;
        launch_check(L, E1117, cond, x->span, arena_printf(L->a, "`%s` fits 64 bits", source_text(L, x->span)),
                     "the kernel computes it for every index");
    }
}

bool scalar_exact(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return true;
    scalar_range(L, x);
    return !scalar_of(L, x)->wraps;
}
