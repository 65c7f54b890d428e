/* Forms as text and as launch expressions. Both put back what the normal form took apart: remainders (x - q * d),
 * and atoms that a known multiple has replaced by scale * child + offset; text the indices that count from elsewhere than 0. */
#include "lower/algebra/domain/inside.h"

enum { LX_STEPS = 4096 };

/* p = k * (num % den) + rest with fewer terms than p, for a quotient atom of p. */
static const AtomInfo *peel_remainder(Domain *d, Poly p, Poly *k, Poly *rest)
{
    FOR_ATOMS(p, q) {
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

/* An index as what goes by its name, which is greater than it by where it counts from. */
static Poly by_name(Domain *d, Atom x, void *unused)
{
    const AtomInfo *info = atom_info(d, x);
    Poly p = raw_atom(d, x);
    return info->kind == ATOM_INDEX && info->a.n ? raw_sub(d, p, with_values(d, poly_now(d, info->a), by_name, unused)) : p;
}

/* (num + den - 1) / den is ceil(num / den). */
static bool as_ceil(Domain *d, Poly num, Poly den, Poly *x)
{
    int64_t m, k = poly_constant_term(num);
    if (!poly_is_const(den, &m) || m < 2 || k != m - 1) return false;
    *x = raw_plus(d, num, -k);
    return true;
}

typedef struct Out {
    Domain *d;
    Arena *a;
    LxPool *pool;
    bool all;       /* every atom is a symbol, by its own number; otherwise what the launch knows, by the launch's */
    uint32_t steps; /* left: shared operands are walked once per use */
} Out;

static bool put_poly(Out *o, Poly p, Lx *out);

static bool put_binary(Out *o, LxOp op, Poly a, Poly b, Lx *out)
{
    Lx x, y;
    if (!put_poly(o, a, &x) || !put_poly(o, b, &y)) return false;
    *out = lx_op(o->a, o->pool, op, x, y);
    return true;
}

static bool put_atom(Out *o, Atom x, Lx *out)
{
    Domain *d = o->d;
    const AtomInfo *info = atom_info(d, x);
    Poly c;
    switch ((AtomKind)info->kind) {
    case ATOM_MIN: return put_binary(o, LX_MIN, info->a, info->b, out);
    case ATOM_MAX: return put_binary(o, LX_MAX, info->a, info->b, out);
    case ATOM_DIV:
        if (as_ceil(d, info->a, info->b, &c)) return put_binary(o, LX_CEIL, c, info->b, out);
        return put_binary(o, LX_DIV, info->a, info->b, out);
    case ATOM_INDEX: break;
    default:
        if (info->parent) return put_binary(o, LX_DIV, raw_sub(d, raw_atom(d, info->parent), info->b), info->a, out);
    }
    if (!o->all && info->kind > ATOM_PARAM) return false;
    *out = lx_sym(o->a, o->pool, o->all ? x : info->sym);
    return true;
}

/* |t|, times x if there is one */
static bool put_term(Out *o, const Term *t, Lx x, Lx *out)
{
    int64_t k = t->coef < 0 ? -t->coef : t->coef;
    Lx product = k == 1 && (t->natoms || x) ? 0 : lx_const(o->a, o->pool, k), y = 0;
    for (uint8_t i = 0; i <= t->natoms; i++) {
        if (i == t->natoms) y = x;
        else if (!put_atom(o, t->atoms[i], &y)) return false;
        if (y) product = product ? lx_op(o->a, o->pool, LX_MUL, product, y) : y;
    }
    *out = product;
    return true;
}

static Lx put_sum(Out *o, Lx sum, bool minus, Lx x)
{
    if (sum == 0 && minus) sum = lx_const(o->a, o->pool, 0);
    return sum ? lx_op(o->a, o->pool, minus ? LX_SUB : LX_ADD, sum, x) : x;
}

/* What is added first: no node for the sign. */
static bool put_poly(Out *o, Poly p, Lx *out)
{
    Domain *d = o->d;
    Poly k, rest = p;
    Lx sum = 0, x, less[TERMS_MAX];
    uint32_t nless = 0;
    if (p.bad || o->steps == 0) return false;
    o->steps--;
    for (const AtomInfo *q; nless < TERMS_MAX && (q = peel_remainder(d, rest, &k, &rest)) != NULL;) {
        if (!put_binary(o, LX_MOD, q->a, q->b, &x) || !put_term(o, &k.terms[0], x, &x)) return false;
        if (k.terms[0].coef < 0) less[nless++] = x;
        else sum = put_sum(o, sum, false, x);
    }
    rest = with_parents(d, o->all ? with_values(d, rest, by_name, NULL) : rest);
    if (rest.bad) return false;
    for (int minus = 0; minus < 2; minus++) {
        for (uint32_t i = 0; i < rest.n; i++) {
            if ((rest.terms[i].coef < 0) != (minus == 1)) continue;
            if (!put_term(o, &rest.terms[i], 0, &x)) return false;
            sum = put_sum(o, sum, minus == 1, x);
        }
    }
    for (uint32_t i = 0; i < nless; i++) sum = put_sum(o, sum, true, less[i]);
    *out = sum ? sum : lx_const(o->a, o->pool, 0);
    return true;
}

bool domain_lx(Domain *d, Arena *a, LxPool *pool, Poly p, Lx *out)
{
    p = poly_now(d, p);
    if (p.bad || (poly_depends(d, p) & ~(unsigned)DEP_LAUNCH)) return false;
    return put_poly(&(Out){d, a, pool, false, LX_STEPS}, p, out);
}

const char *domain_text(Domain *d, Arena *a, Poly p)
{
    LxPool pool = {0};
    Lx x;
    Text t;
    if (!put_poly(&(Out){d, a, &pool, true, LX_STEPS}, poly_now(d, p), &x)) return "(too large to follow)";
    const char **names = arena_array(a, const char *, pool.nodes.n);
    for (uint32_t i = 0; i < pool.nodes.n; i++) { /* each symbol by the number of its node */
        LxNode *n = &pool.nodes.v[i];
        if (n->op != LX_SYM) continue;
        names[i] = atom_info(d, (Atom)n->k)->name;
        n->k = i;
    }
    text_in(&t, a);
    lx_print(&t, &pool, x, names);
    return text_end(&t);
}
