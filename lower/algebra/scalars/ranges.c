/* The ranges of scalars, by constants. INT64_MIN and INT64_MAX stand for "none". */
#include "lower/algebra/scalars/scalars.h"

/* Sizes and strides: what the runtime lets through. */
static Interval sym_range(const Lower *L, uint32_t i)
{
    const PSym *s = &L->k->syms.v[i];
    if (s->kind == MF_SCALAR) return ir_range_of_type(s->type);
    return (Interval){s->kind == MF_SIZE && L->scalars->positive[i], MF_EXTENT_MAX};
}

bool scalar_positive(Lower *L, const Sx *x)
{
    if (scalar_range(L, x).lo >= 1) return true;
    const Scalar *s = scalar_of(L, x);
    bool has_form = !(s->uses & (USE_VAR | USE_LOAD)) && !(s->loops & ~(L->scalars->open_mask & INT64_MAX)); /* indices have forms in their loops */
    return has_form && domain_le(L->d, poly_const(L->d, 1), scalar_poly(L, x));
}

/* gridDim limits, CUDA guide, compute capabilities */
static Interval cta_range(Lower *L, int axis)
{
    int64_t hi = axis == 0 ? INT32_MAX - 1 : 65534, ctas = scalar_range(L, L->k->grid[axis]).hi;
    return (Interval){0, ctas >= 1 && ctas - 1 < hi ? ctas - 1 : hi};
}

static Interval load_range(const PTensor *t)
{
    Interval r = ir_range_of_type(t->type);
    if (r.lo > -1) r.lo = -1; /* index out of range */
    return r;
}

const Sx *scalar_over(Lower *L, const Sx *x)
{
    const Sx *m = x->op == SX_SUB ? x->a : NULL;
    return m && m->op == SX_MAX && scalar_of(L, m->b) == scalar_of(L, x->b) ? m->a : NULL;
}

static Interval range_of_op(Lower *L, const Sx *x)
{
    Interval a = scalar_range(L, x->a), b = x->b ? scalar_range(L, x->b) : (Interval){0, 0};
    const Sx *over = scalar_over(L, x);
    if (over) return interval_of(LX_MAX, interval_of(LX_SUB, scalar_range(L, over), b), (Interval){0, 0});
    bool quotient = x->op == SX_DIV || x->op == SX_CEIL, launch = x->b && scalar_uses(L, x->b) == USE_LAUNCH;
    if (b.lo < 1 && b.hi >= 1 && (quotient || x->op == SX_MOD || launch) && scalar_positive(L, x->b)) b.lo = 1;
    if (b.lo < 1 && quotient && launch) return interval_shrunk(a); /* 0 is refused */
    switch ((SxOp)x->op) {
    case SX_NEG: return interval_neg(a);
    case SX_INV: return (Interval){~a.hi, ~a.lo};
    default: return interval_of(sx_launch_op((SxOp)x->op), a, b);
    }
}

static Interval range_of(Lower *L, const Sx *x)
{
    switch ((SxOp)x->op) {
    case SX_SYM: return sym_range(L, (uint32_t)x->k);
    case SX_CTA: return cta_range(L, (int)x->k);
    case SX_CLUSTER: return (Interval){0, L->k->cluster[x->k] - 1};
    case SX_RANK: return (Interval){0, L->cluster_size - 1};
    case SX_INDEX: return loop_state(L, x->k)->range;
    case SX_LET: return L->scalars->lets[x->k].bounded ? L->scalars->lets[x->k].range : scalar_range(L, x->a);
    case SX_VAR: return L->scalars->vars[x->k].range;
    case SX_LOAD: return load_range(x->tensor);
    default: return sx_is_bool(x) ? (Interval){0, 1} : range_of_op(L, x);
    }
}

/* Division by 0 gives any value; the sum inside ceil(a / b) may leave 64 bits where the result does not. */
static bool inner_fits(Lower *L, const Sx *x)
{
    Interval a = scalar_range(L, x->a), b = scalar_range(L, x->b);
    if (b.lo < 1 && !scalar_positive(L, x->b)) return b.hi < 0 && a.lo > INT64_MIN;
    return x->op != SX_CEIL || interval_add(a, b).hi < INT64_MAX;
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
    if (s->range.lo == NO_LO) s->unbounded |= SIDE_LO;
    if (s->range.hi == NO_HI) s->unbounded |= SIDE_HI;
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
    s->range = UNBOUNDED;
}

Interval scalar_range(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return (Interval){x->k, x->k};
    Scalar *s = scalar_of(L, x);
    if (s->has_range && (s->ranged == L->scalars->ranged || !(s->uses & (USE_VAR | USE_INDEX)))) return s->range;
    s->range = range_of(L, x);
    s->has_range = true;
    s->has_extremes = false;
    s->ranged = L->scalars->ranged;
    find_wraps(L, s);
    return s->range;
}

void loop_range(Lower *L, const PStmt *st)
{
    LoopState *s = &L->scalars->loops[st->id];
    s->stmt = st;
    s->range = (Interval){scalar_range(L, st->lo).lo, scalar_range(L, st->value).hi};
    if (s->range.hi != NO_HI && s->range.hi != NO_LO) s->range.hi--;
    if (s->range.hi < s->range.lo) s->range.hi = s->range.lo; /* no turn: nothing is computed, but what divides by bounds wants two in order */
}
