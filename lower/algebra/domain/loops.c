/* Forms and loops: an index replaced by its values, and what is made while a loop's body runs. */
#include "lower/algebra/domain/inside.h"

enum { BUDGET = 256 }; /* atoms looked at in one form */

bool domain_range(Domain *d, Atom index, Poly *first, Poly *last)
{
    const AtomInfo *info = atom_info(d, index);
    if (info->kind != ATOM_INDEX) return false;
    *first = poly_now(d, info->a);
    *last = poly_now(d, info->b);
    return !first->bad && !last->bad;
}

/* ---- x replaced ---- */

static Poly with(Domain *d, Poly p, Atom x, Poly value, uint32_t *budget);

static Poly atom_with(Domain *d, Atom y, Atom x, Poly value, uint32_t *budget)
{
    const AtomInfo *info = atom_info(d, y);
    if (y == x) return value;
    if (info->kind < ATOM_DIV) return raw_atom(d, y);
    if ((*budget)-- == 0) {
        *budget = 0;
        return POLY_BAD;
    }
    Poly was_a = poly_now(d, info->a), was_b = poly_now(d, info->b);
    Poly a = with(d, was_a, x, value, budget), b = with(d, was_b, x, value, budget);
    if (a.bad || b.bad) return POLY_BAD;
    if (poly_same(a, was_a) && poly_same(b, was_b)) return raw_atom(d, y);
    if (info->kind == ATOM_DIV) return poly_div(d, a, b);
    return info->kind == ATOM_MIN ? poly_min(d, a, b) : poly_max(d, a, b);
}

static Poly with(Domain *d, Poly p, Atom x, Poly value, uint32_t *budget)
{
    Poly sum = POLY_ZERO;
    if (p.bad) return p;
    for (uint32_t i = 0; i < p.n && !sum.bad; i++) {
        Poly product = poly_const(d, p.terms[i].coef);
        for (uint8_t k = 0; k < p.terms[i].natoms && !product.bad; k++)
            product = raw_mul(d, product, atom_with(d, p.terms[i].atoms[k], x, value, budget));
        sum = product.bad ? POLY_BAD : raw_add(d, sum, product);
    }
    return sum;
}

Poly domain_with(Domain *d, Poly p, Atom x, Poly value)
{
    uint32_t budget = BUDGET;
    p = poly_now(d, p);
    if (!poly_mentions(d, p, x)) return p;
    return with(d, p, x, poly_now(d, value), &budget);
}

bool domain_linear(Domain *d, Poly p, Atom x, int64_t *coef, Poly *rest)
{
    Poly zero = POLY_ZERO, k;
    p = poly_now(d, p);
    poly_split(d, p, x, &k, rest);
    *coef = 0;
    if (p.bad || k.bad || rest->bad || poly_mentions(d, *rest, x)) return false;
    return poly_same(k, zero) || poly_is_const(k, coef);
}

/* ---- what is made when ---- */

Atom domain_newest(const Domain *d)
{
    return d->natoms;
}

static bool made(Domain *d, Poly p, Atom after, Atom upto, uint32_t *budget)
{
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            Atom x = p.terms[i].atoms[k];
            const AtomInfo *info = atom_info(d, x);
            bool derived = info->kind > ATOM_INDEX;
            if (!derived && x > after && x <= upto) return true;
            if ((*budget)-- == 0) return true;
            if (derived && (made(d, info->a, after, upto, budget) || made(d, info->b, after, upto, budget))) return true;
        }
    }
    return false;
}

bool domain_made(Domain *d, Poly p, Atom after, Atom upto)
{
    uint32_t budget = BUDGET;
    p = poly_now(d, p);
    return p.bad || made(d, p, after, upto, &budget);
}
