/* `fill`: a value as the bits of an element. */
#include <math.h>
#include <string.h>

#include "frontend/check/check.h"

/* ---- floating-point values ---- */

typedef struct FloatFormat {
    ElemType type;
    int exponent, mantissa; /* bits */
    int shift;              /* unused bits below the mantissa */
    bool infinities;        /* the largest exponent is for infinities and NaN only; else it has numbers, up to .. */
    double max;             /* .. this */
} FloatFormat;
static const FloatFormat FORMATS[] = {{TYPE_F16, 5, 10, 0, true, 0},  {TYPE_BF16, 8, 7, 0, true, 0},
                                      {TYPE_F32, 8, 23, 0, true, 0},  {TYPE_TF32, 8, 10, 13, true, 0},
                                      {TYPE_F64, 11, 52, 0, true, 0}, {TYPE_E4M3, 4, 3, 0, false, 448},
                                      {TYPE_E5M2, 5, 2, 0, true, 0}};

/* Rounds to nearest, ties to even; false where that is not finite. */
static bool float_bits(ElemType type, double v, uint64_t *bits)
{
    const FloatFormat *f = FORMATS;
    while (f->type != type) f++;
    int bias = (1 << (f->exponent - 1)) - 1, e;
    bool minus = signbit(v) != 0;
    uint64_t sign = (uint64_t)minus << (f->exponent + f->mantissa);
    double a = minus ? -v : v;
    *bits = sign << f->shift;
    if (a == 0) return true;
    if (isinf(a)) return false;
    (void)frexp(a, &e); /* a = m * 2^e with m in [0.5, 1) */
    e--;
    if (e < 1 - bias) e = 1 - bias;
    double units = ldexp(a, f->mantissa - e); /* of the last place: below 2^(mantissa + 1) */
    uint64_t n = (uint64_t)units, one = (uint64_t)1 << f->mantissa;
    double rest = units - (double)n;
    if (rest > 0.5 || (rest == 0.5 && (n & 1))) n++;
    if (n == 2 * one) {
        n = one;
        e++;
    }
    if (f->infinities ? e > bias : ldexp((double)n, e - f->mantissa) > f->max) return false;
    uint64_t exponent = n < one ? 0 : (uint64_t)(e + bias);
    *bits = (sign | exponent << f->mantissa | (n & (one - 1))) << f->shift;
    return true;
}

static bool integer_bits(const ElemInfo *t, int64_t v, uint64_t *bits)
{
    int n = t->shared_bits;
    *bits = (uint64_t)v & (n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1);
    if (t->kind == ELEM_UINT) return v >= 0 && (n == 64 || v < (int64_t)1 << n);
    int64_t half = n == 64 ? INT64_MAX : ((int64_t)1 << (n - 1)) - 1;
    return v <= half && v >= -half - 1;
}

/* ---- the value ---- */

static bool is_fraction(const Expr *x, double *v)
{
    if (x->kind == EX_UNARY && x->op == OP_NEG && is_fraction(x->lhs, v)) {
        *v = -*v;
        return true;
    }
    if (x->kind != EX_FLOAT) return false;
    *v = x->f;
    return true;
}

static void does_not_fit(Env *e, const PMove *m, Span at, const char *value, const char *why)
{
    Diag *g = diag_at(e->c->diags, E0315, at, "%s %s %s", value, why, elem_info(m->dst.tile->type)->name);
    diag_label(e->c->diags, g, m->dst.tile->span, "`%s` is declared here", name_of(e, m->dst.tile->name));
}

static bool fraction_value(Env *e, PMove *m, const Expr *x, double v)
{
    const ElemInfo *t = elem_info(m->dst.tile->type);
    const char *text = arena_printf(e->c->scratch, "%.9g", v);
    if (t->kind != ELEM_FLOAT) {
        does_not_fit(e, m, x->span, text, "is no value of the integer type");
        return false;
    }
    if (float_bits(m->dst.tile->type, v, &m->value)) return true;
    does_not_fit(e, m, x->span, text, "is too large for");
    return false;
}

static bool scalar_value(Env *e, PMove *m, const Expr *x)
{
    const ElemInfo *t = elem_info(m->dst.tile->type);
    int64_t k;
    const Sx *v = scalar(e, x);
    if (!v) return false;
    if (sx_is_const(v, &k)) {
        bool fits = t->kind == ELEM_FLOAT ? float_bits(m->dst.tile->type, (double)k, &m->value)
                                          : integer_bits(t, k, &m->value);
        if (!fits) does_not_fit(e, m, x->span, arena_printf(e->c->scratch, "%lld", (long long)k), "does not fit");
        return fits;
    }
    if (t->kind != ELEM_FLOAT) {
        m->value_sx = v;
        return true;
    }
    Diag *g = diag_at(e->c->diags, E0301, x->span, "the value of a `fill` with %s must be known at compile time", t->name);
    diag_fix(e->c->diags, g, "only a tile of integers takes any scalar");
    return false;
}

/* ---- the statement ---- */

static bool fills(Env *e, const PMove *m)
{
    const PTile *t = m->dst.tile;
    Diag *g;
    if (!t) {
        g = diag_at(e->c->diags, E0310, m->dst.span, "`fill` writes shared tiles");
        diag_fix(e->c->diags, g, "fill a tile and move it: `fill t = 0; move t -> x[..];`");
        return false;
    }
    const ElemInfo *info = elem_info(t->type);
    if (t->tensor) {
        g = diag_at(e->c->diags, E0310, m->dst.span, "`fill` writes shared tiles");
        diag_label(e->c->diags, g, t->span, "`%s` is in tensor memory", name_of(e, t->name));
        diag_fix(e->c->diags, g, "fill a shared tile and move it: `fill s = 0; move s -> t via threads;`");
        return false;
    }
    if (info->kind == ELEM_PACKED) {
        g = diag_at(e->c->diags, E0317, m->dst.span, "single values of %s have no address", info->name);
    } else if (m->dst.peer && info->shared_bits < 32) {
        g = diag_at(e->c->diags, E0535, m->dst.span, "elements of %s have %d bits", info->name, info->shared_bits);
        diag_fix(e->c->diags, g, "fill a tile of this CTA and move it: `fill t = 0; move t -> peer(u, rank);`");
    } else {
        return true;
    }
    diag_label(e->c->diags, g, t->span, "`%s` is declared here", name_of(e, t->name));
    return false;
}

void fill_stmt(Env *e, const Stmt *s)
{
    PMove *m = arena_new(e->c->scratch, PMove);
    m->kind = MOVE_FILL;
    double v;
    bool ok = region(e, s->fill.dst, &m->dst);
    ok = clauses(e, &s->fill.clauses, m) && ok;
    if (!ok || !fills(e, m) || (m->dst.peer && !no_steps(e, &m->dst))) return;
    ok = is_fraction(s->fill.value, &v) ? fraction_value(e, m, s->fill.value, v) : scalar_value(e, m, s->fill.value);
    ok = clauses_fit(e, &s->fill.clauses, m, m->dst.peer ? SHAPE_FILL_PEER : SHAPE_FILL) && ok;
    ok = ok && commit_fits(e, m) && reduce_fits(e, m, m->dst.tile->type, FORM_RED_ASYNC, "in a peer's shared memory");
    if (ok) emit_stmt(e, P_MOVE, s->span)->move = m;
}
