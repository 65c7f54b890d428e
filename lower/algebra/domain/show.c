/* Forms as text and as launch expressions. Both put back what the normal form took apart: remainders (x - q * d),
 * and atoms that a known multiple has replaced by scale * child + offset. */
#include <inttypes.h>
#include <stdio.h>

#include "lower/algebra/domain/inside.h"

enum { SHOW_DEPTH = 2 * LEVEL_MAX, TEXT_MAX = 4096, LX_STEPS = 4096 };

/* p = k * (num % den) + rest with fewer terms than p, for a quotient atom of p. */
static const AtomInfo *peel_remainder(Domain *d, Poly p, Poly *k, Poly *rest)
{
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t j = 0; j < p.terms[i].natoms; j++) {
            Atom q = p.terms[i].atoms[j];
            const AtomInfo *info = atom_info(d, q);
            if (info->kind != ATOM_DIV) continue;
            Poly num = poly_now(d, info->a), den = poly_now(d, info->b), coef, other, times;
            poly_split(d, p, q, &coef, &other);
            if (!poly_exact(d, raw_neg(d, coef), den, &times) || times.n != 1) continue;
            Poly more = raw_sub(d, other, raw_mul(d, times, num));
            if (more.bad || more.n + 1 >= p.n) continue;
            *k = times;
            *rest = more;
            return info;
        }
    }
    return NULL;
}

/* Replaces scale * child by parent - offset where the terms allow it. */
static Poly with_parents(Domain *d, Poly p)
{
    for (uint32_t step = 0; step < TERMS_MAX; step++) {
        Poly next = p;
        for (uint32_t i = 0; i < p.n && next.terms == p.terms; i++) {
            Poly one = {&p.terms[i], 1, false};
            for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
                const AtomInfo *info = atom_info(d, p.terms[i].atoms[k]);
                Poly coef, unused, times;
                if (info->parent == 0) continue;
                poly_split(d, one, p.terms[i].atoms[k], &coef, &unused);
                if (!poly_exact(d, coef, info->a, &times)) continue;
                Poly value = raw_sub(d, raw_atom(d, info->parent), info->b);
                Poly sum = raw_add(d, raw_sub(d, p, one), raw_mul(d, times, value));
                if (!sum.bad) {
                    next = sum;
                    break;
                }
            }
        }
        if (next.terms == p.terms) break;
        p = next;
    }
    return p;
}

/* (num + den - 1) / den is ceil(num / den). */
static bool as_ceil(Domain *d, Poly num, Poly den, Poly *x)
{
    int64_t m, k = poly_constant_term(num);
    if (!poly_is_const(den, &m) || m < 2 || k != m - 1) return false;
    *x = raw_plus(d, num, -k);
    return true;
}

/* ---- Text ---- */

typedef struct Out {
    Domain *d;
    Arena *a;
    VEC(char) text;
    unsigned depth;
} Out;

static void put(Out *o, const char *s)
{
    for (; *s && o->text.n < TEXT_MAX; s++) vec_push(o->a, &o->text, *s);
}

static void put_poly(Out *o, Poly p, bool factor);

static void put_call(Out *o, const char *name, Poly a, Poly b)
{
    put(o, name);
    put(o, "(");
    put_poly(o, a, false);
    put(o, ", ");
    put_poly(o, b, false);
    put(o, ")");
}

static void put_binary(Out *o, Poly a, const char *op, Poly b)
{
    put(o, "(");
    put_poly(o, a, true);
    put(o, op);
    put_poly(o, b, true);
    put(o, ")");
}

static void put_atom(Out *o, Atom x)
{
    Domain *d = o->d;
    const AtomInfo *info = atom_info(d, x);
    Poly c;
    switch ((AtomKind)info->kind) {
    case ATOM_MIN: put_call(o, "min", info->a, info->b); return;
    case ATOM_MAX: put_call(o, "max", info->a, info->b); return;
    case ATOM_DIV:
        if (as_ceil(d, info->a, info->b, &c)) put_call(o, "ceil", c, info->b);
        else put_binary(o, info->a, " / ", info->b);
        return;
    default: break;
    }
    if (info->parent) put_binary(o, raw_sub(d, raw_atom(d, info->parent), info->b), " / ", info->a);
    else put(o, info->name ? info->name : "?");
}

/* `first`: nothing stands before it. */
static void put_term(Out *o, const Term *t, bool first)
{
    bool minus = t->coef < 0;
    int64_t k = minus ? -t->coef : t->coef;
    char digits[24];
    put(o, first ? (minus ? "-" : "") : (minus ? " - " : " + "));
    snprintf(digits, sizeof digits, "%" PRId64, k);
    if (k != 1 || t->natoms == 0) put(o, digits);
    for (uint8_t i = 0; i < t->natoms; i++) {
        if (i || k != 1) put(o, " * ");
        put_atom(o, t->atoms[i]);
    }
}

/* `factor`: an operand, which needs parentheses if it is more than one name or number. */
static void put_poly(Out *o, Poly p, bool factor)
{
    Domain *d = o->d;
    if (o->depth == SHOW_DEPTH || o->text.n >= TEXT_MAX) {
        put(o, "..");
        return;
    }
    o->depth++;
    Poly k, rest = p;
    const AtomInfo *remainders[TERMS_MAX];
    Poly times[TERMS_MAX];
    uint32_t n = 0;
    for (const AtomInfo *q; n < TERMS_MAX && (q = peel_remainder(d, rest, &k, &rest)) != NULL; n++) {
        remainders[n] = q;
        times[n] = k;
    }
    rest = with_parents(d, rest);
    int64_t one;
    bool simple = n + rest.n <= 1 && (n ? poly_is_const(times[0], &one) && one == 1
                                        : rest.n == 0 || rest.terms[0].natoms == 0 ||
                                              (rest.terms[0].natoms == 1 && rest.terms[0].coef == 1));
    bool parens = factor && !simple;
    if (parens) put(o, "(");
    bool first = true;
    for (uint32_t i = 0; i < rest.n && rest.terms[i].natoms; i++, first = false) put_term(o, &rest.terms[i], first);
    for (uint32_t i = 0; i < n; i++, first = false) {
        bool unit = times[i].terms[0].natoms == 0 && (times[i].terms[0].coef == 1 || times[i].terms[0].coef == -1);
        if (unit) {
            put(o, times[i].terms[0].coef < 0 ? (first ? "-" : " - ") : (first ? "" : " + "));
        } else {
            put_term(o, &times[i].terms[0], first);
            put(o, " * ");
        }
        put_binary(o, remainders[i]->a, " % ", remainders[i]->b);
    }
    int64_t c = poly_constant_term(rest);
    if (c || first) put_term(o, &(Term){.coef = c}, first);
    if (parens) put(o, ")");
    o->depth--;
}

const char *domain_text(Domain *d, Arena *a, Poly p)
{
    Out o = {.d = d, .a = a};
    p = poly_now(d, p);
    if (p.bad) return "(too large to follow)";
    put_poly(&o, p, false);
    vec_push(a, &o.text, '\0');
    return o.text.v;
}

/* ---- Launch expressions ---- */

typedef struct LxOut {
    Domain *d;
    Arena *a;
    LxPool *pool;
    uint32_t steps; /* left: shared operands are walked once per use */
} LxOut;

static bool lx_poly(LxOut *o, Poly p, Lx *out);

static bool lx_binary(LxOut *o, LxOp op, Poly a, Poly b, Lx *out)
{
    Lx x, y;
    if (!lx_poly(o, a, &x) || !lx_poly(o, b, &y)) return false;
    *out = lx_op(o->a, o->pool, op, x, y);
    return true;
}

static bool lx_atom(LxOut *o, Atom x, Lx *out)
{
    Domain *d = o->d;
    const AtomInfo *info = atom_info(d, x);
    Poly c;
    switch ((AtomKind)info->kind) {
    case ATOM_MIN: return lx_binary(o, LX_MIN, info->a, info->b, out);
    case ATOM_MAX: return lx_binary(o, LX_MAX, info->a, info->b, out);
    case ATOM_DIV:
        if (as_ceil(d, info->a, info->b, &c)) return lx_binary(o, LX_CEIL, c, info->b, out);
        return lx_binary(o, LX_DIV, info->a, info->b, out);
    case ATOM_SIZE:
    case ATOM_PARAM:
        if (info->parent) {
            return lx_binary(o, LX_DIV, raw_sub(d, raw_atom(d, info->parent), info->b), info->a, out);
        }
        *out = lx_sym(o->a, o->pool, info->sym);
        return true;
    default: return false;
    }
}

static Lx lx_sum(LxOut *o, Lx sum, bool minus, Lx x)
{
    if (sum) return lx_op(o->a, o->pool, minus ? LX_SUB : LX_ADD, sum, x);
    return minus ? lx_op(o->a, o->pool, LX_SUB, lx_const(o->a, o->pool, 0), x) : x;
}

/* |t|, times x if there is one */
static bool lx_term(LxOut *o, const Term *t, Lx x, Lx *out)
{
    int64_t k = t->coef < 0 ? -t->coef : t->coef;
    Lx product = k == 1 && (t->natoms || x) ? 0 : lx_const(o->a, o->pool, k), y = 0;
    for (uint8_t i = 0; i <= t->natoms; i++) {
        if (i == t->natoms) y = x;
        else if (!lx_atom(o, t->atoms[i], &y)) return false;
        if (y) product = product ? lx_op(o->a, o->pool, LX_MUL, product, y) : y;
    }
    *out = product;
    return true;
}

static bool lx_poly(LxOut *o, Poly p, Lx *out)
{
    Domain *d = o->d;
    Poly k, rest = p;
    Lx sum = 0, x, y;
    if (p.bad || o->steps == 0) return false;
    o->steps--;
    for (const AtomInfo *q; (q = peel_remainder(d, rest, &k, &rest)) != NULL;) {
        if (!lx_binary(o, LX_MOD, q->a, q->b, &x) || !lx_term(o, &k.terms[0], x, &y)) return false;
        sum = lx_sum(o, sum, k.terms[0].coef < 0, y);
    }
    rest = with_parents(d, rest);
    for (int minus = 0; minus < 2; minus++) { /* what is added first: no node for the sign */
        for (uint32_t i = 0; i < rest.n; i++) {
            if ((rest.terms[i].coef < 0) != (minus == 1)) continue;
            if (!lx_term(o, &rest.terms[i], 0, &x)) return false;
            sum = lx_sum(o, sum, minus == 1, x);
        }
    }
    *out = sum ? sum : lx_const(o->a, o->pool, 0);
    return true;
}

bool domain_lx(Domain *d, Arena *a, LxPool *pool, Poly p, Lx *out)
{
    LxOut o = {d, a, pool, LX_STEPS};
    p = poly_now(d, p);
    if (p.bad || (poly_depends(d, p) & ~(unsigned)DEP_LAUNCH)) return false;
    return lx_poly(&o, p, out);
}
