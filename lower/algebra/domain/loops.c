/* Forms and loops: an index alone, and what is made while a loop's body runs. */
#include "lower/algebra/domain/inside.h"

bool domain_range(Domain *d, Atom index, Poly *from, Poly *last)
{
    const AtomInfo *info = atom_info(d, index);
    if (info->kind != ATOM_INDEX) return false;
    *from = poly_now(d, info->a);
    *last = poly_now(d, info->b);
    return !from->bad && !last->bad;
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
    uint32_t budget = LOOK_MAX;
    p = poly_now(d, p);
    return p.bad || made(d, p, after, upto, &budget);
}
