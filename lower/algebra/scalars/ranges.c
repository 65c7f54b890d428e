/* The ranges of scalars, by constants. INT64_MIN and INT64_MAX stand for "none". */
#include "lower/algebra/scalars/scalars.h"

/* Sizes and strides: what the runtime lets through. */
void sym_range(const Lower *L, uint32_t i, int64_t *lo, int64_t *hi)
{
    const PSym *s = &L->k->syms.v[i];
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (s->kind != MF_SCALAR) {
        *lo = s->kind == MF_SIZE && L->scalars->positive[i];
        *hi = MF_EXTENT_MAX;
    } else if (s->type == TYPE_S32) {
        *lo = INT32_MIN;
        *hi = INT32_MAX;
    } else if (s->type == TYPE_U32) {
        *lo = 0;
        *hi = UINT32_MAX;
    }
}

bool scalar_positive(Lower *L, const Sx *x)
{
    int64_t lo, hi;
    scalar_range(L, x, &lo, &hi);
    if (lo >= 1) return true;
    return scalar_uses(L, x) == USE_LAUNCH && domain_le(L->d, poly_const(L->d, 1), scalar_poly(L, x));
}

/* The least 2^k - 1 that is at least x >= 0. */
static int64_t ones_above(int64_t x)
{
    for (int shift = 1; shift < 64; shift *= 2) x |= x >> shift;
    return x;
}

/* |a / b| <= |a| */
static void range_div(int64_t al, int64_t ah, int64_t *lo, int64_t *hi)
{
    if (al == INT64_MIN || ah == INT64_MAX) return;
    *lo = al < -ah ? al : -ah;
    *hi = ah > -al ? ah : -al;
}

static void range_of(Lower *L, const Sx *x, int64_t *lo, int64_t *hi)
{
    int64_t al, ah, bl = 0, bh = 0;
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    switch ((SxOp)x->op) {
    case SX_CONST: *lo = *hi = x->k; return;
    case SX_SYM:
        sym_range(L, (uint32_t)x->k, lo, hi);
        return;
    case SX_CTA: /* gridDim limits, CUDA guide, compute capabilities */
        *lo = 0;
        *hi = x->k == 0 ? INT32_MAX - 1 : 65534;
        scalar_range(L, L->k->grid[x->k], &al, &ah);
        if (ah >= 1 && ah - 1 < *hi) *hi = ah - 1;
        return;
    case SX_CLUSTER:
        *lo = 0;
        *hi = L->k->cluster[x->k] - 1;
        return;
    case SX_RANK:
        *lo = 0;
        *hi = L->cluster_size - 1;
        return;
    case SX_INDEX:
        *lo = loop_state(L, x->k)->lo;
        *hi = loop_state(L, x->k)->hi;
        return;
    case SX_LET: scalar_range(L, x->a, lo, hi); return;
    case SX_VAR:
        *lo = L->scalars->vars[x->k].lo;
        *hi = L->scalars->vars[x->k].hi;
        return;
    case SX_LOAD: {
        const ElemInfo *e = elem_info(x->tensor->type);
        if (e->global_bits >= 64) return;
        *lo = e->kind == ELEM_SINT ? -(INT64_C(1) << (e->global_bits - 1)) : -1; /* -1: index out of range */
        *hi = (INT64_C(1) << (e->kind == ELEM_SINT ? e->global_bits - 1 : e->global_bits)) - 1;
        return;
    }
    default: break;
    }
    if (sx_is_bool(x)) {
        *lo = 0;
        *hi = 1;
        return;
    }
    scalar_range(L, x->a, &al, &ah);
    if (x->b) scalar_range(L, x->b, &bl, &bh);
    if (bl < 1 && x->b && scalar_positive(L, x->b)) bl = 1;
    switch ((SxOp)x->op) {
    case SX_ADD:
        *lo = bound_add(al, bl, false);
        *hi = bound_add(ah, bh, true);
        break;
    case SX_SUB:
        *lo = bound_add(al, bound_neg(bh), false);
        *hi = bound_add(ah, bound_neg(bl), true);
        break;
    case SX_NEG:
        *lo = bound_neg(ah);
        *hi = bound_neg(al);
        break;
    case SX_MUL:
        *lo = al;
        *hi = ah;
        interval_mul(lo, hi, bl, bh);
        break;
    case SX_DIV:
        if (bl < 1) {
            range_div(al, ah, lo, hi);
            break;
        }
        *lo = al;
        *hi = ah;
        interval_div(lo, hi, bl, bh);
        break;
    case SX_CEIL:
        if (bl >= 1) { /* what has no bound is still a number of 64 bits */
            *lo = al == INT64_MIN ? al / bl : al <= 0 ? al : bh == INT64_MAX ? 1 : (al - 1) / bh + 1;
            *hi = ah <= 0 ? 0 : (ah - 1) / bl + 1;
        } else {
            range_div(al, ah, lo, hi);
        }
        break;
    case SX_MOD:
        if (bl >= 1) {
            *lo = 0;
            *hi = bh == INT64_MAX ? bh : bh - 1;
            if (al >= 0 && ah < *hi) *hi = ah;
        }
        break;
    case SX_MIN:
        *lo = al < bl ? al : bl;
        *hi = ah < bh ? ah : bh;
        break;
    case SX_MAX:
        *lo = al > bl ? al : bl;
        *hi = ah > bh ? ah : bh;
        break;
    case SX_SHL:
        if (bl != bh || bl < 0 || bl >= 62) break;
        *lo = al;
        *hi = ah;
        interval_mul(lo, hi, INT64_C(1) << bl, INT64_C(1) << bl);
        break;
    case SX_SHR:
        if (bl >= 0 && bh < 64) {
            *lo = al == INT64_MIN ? al : al < 0 ? al : 0;
            *hi = ah == INT64_MAX ? ah : ah < 0 ? -1 : ah >> bl;
        }
        break;
    case SX_AND:
        if (bl >= 0) {
            *lo = 0;
            *hi = bh;
        } else if (al >= 0) {
            *lo = 0;
            *hi = ah;
        }
        break;
    case SX_INV:
        *lo = ~ah;
        *hi = ~al;
        break;
    case SX_OR:
    case SX_XOR:
        if (al < 0 || bl < 0) break;
        *lo = 0;
        *hi = ones_above(ah | bh);
        break;
    default: break;
    }
}

enum { SIDE_LO = 1, SIDE_HI = 2 };

/* Division by 0 gives any value; the sum inside ceil(a / b) may leave 64 bits where the result does not. */
static bool inner_fits(Lower *L, const Sx *x)
{
    int64_t al, ah, bl, bh;
    scalar_range(L, x->a, &al, &ah);
    scalar_range(L, x->b, &bl, &bh);
    if (bl < 1 && !scalar_positive(L, x->b)) return bh < 0 && al > INT64_MIN;
    return x->op != SX_CEIL || bound_add(ah, bh, true) < INT64_MAX;
}

/* Of an operation: may its value leave 64 bits? (exact.c) And how a ceil is made: a sum needs a divisor of at least 1. */
static void find_wraps(Lower *L, Scalar *s)
{
    SxOp op = (SxOp)s->x->op;
    bool divides = op == SX_DIV || op == SX_MOD || op == SX_CEIL;
    s->wraps = false;
    s->unbounded = 0;
    s->in_parts = op == SX_CEIL && !scalar_positive(L, s->x->b);
    if (s->uses == USE_LAUNCH || !(divides || op == SX_ADD || op == SX_SUB || op == SX_MUL || op == SX_SHL || op == SX_NEG))
        return;
    if (s->lo == INT64_MIN) s->unbounded |= SIDE_LO;
    if (s->hi == INT64_MAX) s->unbounded |= SIDE_HI;
    if (divides && inner_fits(L, s->x)) s->unbounded = 0;
    else if (divides) s->unbounded = SIDE_LO | SIDE_HI;
    if (s->unbounded == 0 || scalar_fits_at_launch(L, s->x)) return;
    if (op == SX_CEIL && !s->in_parts) {
        s->unbounded = 0;
        s->in_parts = true;
        return;
    }
    s->unbounded = 0;
    s->wraps = s->has_extremes = true;
    s->extremes = (Extremes){0, 0};
    s->lo = INT64_MIN;
    s->hi = INT64_MAX;
}

void scalar_range(Lower *L, const Sx *x, int64_t *lo, int64_t *hi)
{
    if (x->op == SX_CONST) {
        *lo = *hi = x->k;
        return;
    }
    Scalar *s = scalar_of(L, x);
    if (!s->has_range) {
        range_of(L, x, &s->lo, &s->hi);
        s->has_range = true;
        find_wraps(L, s);
    }
    *lo = s->lo;
    *hi = s->hi;
}

void loop_range(Lower *L, const PStmt *st)
{
    LoopState *s = &L->scalars->loops[st->id];
    int64_t unused;
    s->stmt = st;
    scalar_range(L, st->lo, &s->lo, &unused);
    scalar_range(L, st->value, &unused, &s->hi);
    if (s->hi != INT64_MAX && s->hi != INT64_MIN) s->hi--;
}
