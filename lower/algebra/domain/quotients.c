/* Quotients, remainders, minima and maxima. */
#include "lower/algebra/domain/inside.h"

/* The multiple of m nearest to k, over m. */
static int64_t near_quotient(int64_t k, int64_t m)
{
    int64_t q = floor_div_by(k, m);
    return k - q * m > m / 2 ? q + 1 : q;
}

/* a = quotient * b + rest, b != 0. Coefficients of the rest lie around 0, its constant in [0, b) for a constant b:
 * then equal quotients have equal rests. */
static void divide(Domain *d, Poly a, Poly b, Poly *quotient, Poly *rest)
{
    const Term *lead = &b.terms[0];
    int64_t m = lead->coef < 0 ? -lead->coef : lead->coef;
    Poly q = POLY_ZERO;
    uint32_t at = 0;
    for (uint32_t step = 0; at < a.n && step < 2 * TERMS_MAX; step++) {
        const Term *s = &a.terms[at];
        Term t;
        Atom room[DEGREE_MAX];
        int64_t k = 0;
        if (mono_divides(s, lead, &t, room)) {
            k = s->natoms == 0 ? floor_div_by(s->coef, m) : near_quotient(s->coef, m);
            if (lead->coef < 0) k = -k;
        }
        if (k == 0) {
            at++;
            continue;
        }
        Poly part = term_poly(d, k, t.atoms, t.natoms);
        Poly less = raw_sub(d, a, raw_mul(d, part, b));
        Poly more = raw_add(d, q, part);
        if (less.bad || more.bad) break;
        /* A term that stays (with the rest of its coefficient) has been dealt with. */
        if (less.n > at && mono_cmp(&less.terms[at], s) == 0) at++;
        a = less;
        q = more;
    }
    *quotient = q;
    *rest = a;
}

/* floor((f * x + k) / (f * y)) = floor((x + floor(k / f)) / y) for f >= 1. */
static void cancel(Domain *d, Poly *rest, Poly *b)
{
    int64_t k = poly_constant_term(*rest), g = gcd_s64(poly_content(*rest, false), poly_content(*b, true));
    if (g == 1 && b->terms[0].natoms == 0) return;
    Poly body = raw_plus(d, *rest, -k);
    if (body.n == 0 || body.bad) return;
    Atom m[DEGREE_MAX];
    int64_t least = g; /* value of f */
    uint8_t n = mono_common(d, *b, body, 1, m);
    for (uint8_t i = 0; i < n; i++)
        if (!mul_s64(least, atom_info(d, m[i])->lo, &least)) least = INT64_MAX;
    if (k >= least || -k > least) n = 0; /* floor(k / f) would depend on the atoms */
    if (g == 1 && n == 0) return;
    Poly f = term_poly(d, g, m, n), x, y;
    if (!poly_exact(d, body, f, &x) || !poly_exact(d, *b, f, &y)) return;
    if (n && k != 0) k = k < 0 ? -1 : 0;
    else k = floor_div_by(k, g);
    *rest = raw_plus(d, x, k);
    *b = y;
}

/* p = quotient atom + more? */
static const AtomInfo *as_quotient(Domain *d, Poly p, Poly *more)
{
    for (uint32_t i = 0; i < p.n; i++) {
        const Term *t = &p.terms[i];
        const AtomInfo *info = t->natoms == 1 && t->coef == 1 ? atom_info(d, t->atoms[0]) : NULL;
        if (info == NULL || info->kind != ATOM_DIV || !info->positive) continue;
        *more = raw_sub(d, p, (Poly){t, 1, false});
        return info;
    }
    return NULL;
}

static Poly quotient_atom(Domain *d, Poly a, Poly b, bool positive)
{
    Atom x = atom_derived(d, ATOM_DIV, a, b, positive);
    return x ? raw_atom(d, x) : POLY_BAD;
}

static Poly div_now(Domain *d, Poly a, Poly b, unsigned depth)
{
    int64_t k = 0;
    if (a.bad || b.bad || b.n == 0) return POLY_BAD;
    if (poly_is_const(b, &k) && k < 0) {
        a = raw_neg(d, a);
        b = raw_neg(d, b);
        k = -k;
    }
    if (k == 0 && !prove_ge0(d, raw_plus(d, b, -1), FOLD_STEPS)) return quotient_atom(d, a, b, false);
    Poly sum = POLY_ZERO, q, rest = a, more;
    for (int round = 0; round < 3; round++) {
        divide(d, rest, b, &q, &rest);
        sum = raw_add(d, sum, q);
        if (rest.n == 0 || rest.bad || sum.bad) return sum;
        Poly before = b;
        cancel(d, &rest, &b);
        if (poly_same(before, b)) break;
    }
    int64_t bc = 0, rc = 0;
    bool constant = poly_is_const(b, &bc);
    if (constant && bc == 1) return raw_add(d, sum, rest);
    if (constant && poly_is_const(rest, &rc)) return raw_plus(d, sum, floor_div_by(rc, bc));
    const AtomInfo *inner = as_quotient(d, rest, &more);
    if (inner && depth < LEVEL_MAX) {
        /* floor((floor(x / y) + more) / b) = floor((x + more * y) / (y * b)) */
        Poly x = poly_now(d, inner->a), y = poly_now(d, inner->b);
        Poly num = raw_add(d, x, raw_mul(d, y, more)), den = raw_mul(d, y, b);
        if (!num.bad && !den.bad) return raw_add(d, sum, div_now(d, num, den, depth + 1));
    }
    Interval range = poly_interval(d, rest);
    int64_t least = poly_interval(d, b).lo;
    if (least < 1) least = 1;
    if (range.lo >= 0 && range.hi < least && range.hi != NO_HI) return sum;
    if (range.hi < 0 && range.lo != NO_LO && -least <= range.lo) return raw_plus(d, sum, -1);
    Poly above = raw_plus(d, raw_sub(d, b, rest), -1);
    if (prove_ge0(d, rest, FOLD_STEPS)) {
        if (prove_ge0(d, above, FOLD_STEPS)) return sum;
    } else if (range.hi < 0 && prove_ge0(d, raw_add(d, rest, b), FOLD_STEPS)) {
        return raw_plus(d, sum, -1);
    }
    return raw_add(d, sum, quotient_atom(d, rest, b, true));
}

Poly poly_div(Domain *d, Poly a, Poly b)
{
    return div_now(d, poly_now(d, a), poly_now(d, b), 0);
}

Poly poly_mod(Domain *d, Poly a, Poly b)
{
    a = poly_now(d, a);
    b = poly_now(d, b);
    Poly q = div_now(d, a, b, 0);
    if (d->nmultiples && !q.bad && prove_multiple(d, b, a)) return POLY_ZERO;
    return raw_sub(d, a, raw_mul(d, b, q));
}

bool domain_remainder(Domain *d, Poly p, Poly *of, Poly *by)
{
    for (uint32_t i = 0; i < p.n; i++)
        for (uint8_t j = 0; j < p.terms[i].natoms; j++) {
            Atom q = p.terms[i].atoms[j];
            const AtomInfo *info = atom_info(d, q);
            if (info->kind != ATOM_DIV) continue;
            Poly a = poly_now(d, info->a), b = poly_now(d, info->b);
            if (!poly_same(p, raw_sub(d, a, raw_mul(d, b, raw_atom(d, q))))) continue;
            *of = a;
            *by = b;
            return true;
        }
    return false;
}

Poly poly_ceil(Domain *d, Poly a, Poly b)
{
    b = poly_now(d, b);
    a = poly_now(d, a);
    int64_t k = 0;
    if (poly_is_const(b, &k) && k < 0) {
        b = raw_neg(d, b);
        a = raw_neg(d, a);
        k = -k;
    }
    /* ceil(a / b) = floor((a + b - 1) / b) needs b >= 1; -floor(-a / b) holds for every b. */
    if (k > 0 || prove_ge0(d, raw_plus(d, b, -1), FOLD_STEPS))
        return div_now(d, raw_plus(d, raw_add(d, a, b), -1), b, 0);
    return raw_neg(d, div_now(d, raw_neg(d, a), b, 0));
}

/* An order of forms without meaning, the same whichever of the two stands first. */
static int poly_cmp(Poly a, Poly b)
{
    for (uint32_t i = 0; i < a.n && i < b.n; i++) {
        int c = mono_cmp(&a.terms[i], &b.terms[i]);
        if (c) return c;
        if (a.terms[i].coef != b.terms[i].coef) return a.terms[i].coef < b.terms[i].coef ? -1 : 1;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

static Poly least(Domain *d, Poly a, Poly b, AtomKind kind)
{
    a = poly_now(d, a);
    b = poly_now(d, b);
    if (a.bad || b.bad) return POLY_BAD;
    Poly diff = raw_sub(d, b, a);
    Interval range = poly_interval(d, diff);
    if (range.lo >= 0 || prove_ge0(d, diff, FOLD_STEPS)) return kind == ATOM_MIN ? a : b;
    if (range.hi <= 0 || prove_ge0(d, raw_neg(d, diff), FOLD_STEPS)) return kind == ATOM_MIN ? b : a;
    int64_t g = gcd_s64(poly_content(a, true), poly_content(b, true));
    if (g > 1) {
        poly_exact(d, a, poly_const(d, g), &a);
        poly_exact(d, b, poly_const(d, g), &b);
    }
    if (poly_cmp(a, b) > 0) {
        Poly t = a;
        a = b;
        b = t;
    }
    Atom x = atom_derived(d, kind, a, b, false);
    return x ? raw_scale(d, raw_atom(d, x), g) : POLY_BAD;
}

Poly poly_min(Domain *d, Poly a, Poly b)
{
    return least(d, a, b, ATOM_MIN);
}

Poly poly_max(Domain *d, Poly a, Poly b)
{
    return least(d, a, b, ATOM_MAX);
}

/* a and k = 2^n - 1: bits of k are those of a % 2^n, of numbers below 0 as well. a ^ k turns them around, a | k sets them. */
static Poly low_bits(Domain *d, LxOp op, Poly a, int64_t k)
{
    Poly low = poly_mod(d, a, poly_const(d, k + 1)), rest = poly_sub(d, a, low);
    return op == LX_AND ? low : raw_plus(d, op == LX_OR ? rest : raw_sub(d, rest, low), k);
}

bool poly_op(Domain *d, LxOp op, Poly a, Poly b, Poly *out)
{
    static Poly (*const OPS[LX_OP_COUNT])(Domain *, Poly, Poly) = {
        [LX_ADD] = poly_add, [LX_SUB] = poly_sub,   [LX_MUL] = poly_mul, [LX_DIV] = poly_div,
        [LX_MOD] = poly_mod, [LX_CEIL] = poly_ceil, [LX_MIN] = poly_min, [LX_MAX] = poly_max,
    };
    int64_t k, j;
    bool number = poly_is_const(b, &k), shift = op == LX_SHL || op == LX_SHR, bits = op == LX_AND || op == LX_OR || op == LX_XOR;
    if (OPS[op]) *out = OPS[op](d, a, b);
    else if (!number || !(shift || bits)) return false;
    else if (poly_is_const(a, &j) && lx_apply(op, j, k, &j) == LX_OK) *out = poly_const(d, j);
    else if (shift && k >= 0 && k < 62) *out = (op == LX_SHL ? poly_mul : poly_div)(d, a, poly_const(d, INT64_C(1) << k));
    else if (bits && k >= 0 && k < INT64_MAX && (k & (k + 1)) == 0) *out = low_bits(d, op, a, k);
    else return false;
    return true;
}
