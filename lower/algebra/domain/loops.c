/* Forms and loops: an index alone. */
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
    Poly k;
    p = poly_now(d, p);
    poly_split(d, p, x, &k, rest);
    return !p.bad && !poly_mentions(d, *rest, x) && poly_is_const(k, coef);
}

Atom domain_moving(Domain *d, Poly p, Poly *coef, Poly *rest)
{
    FOR_ATOMS(p, x) {
        if ((atom_info(d, x)->depends & ~(unsigned)DEP_LAUNCH) == 0) continue;
        poly_split(d, p, x, coef, rest);
        return x;
    }
    return 0;
}

Atom domain_newest(const Domain *d)
{
    return d->natoms;
}

/* ---- by values ---- */

enum { VALUES_MAX = 64 };

/* Of one index alone, and of numbers. */
static bool of_one(Domain *d, Poly p, Atom *index, uint32_t *budget)
{
    FOR_ATOMS(p, of) {
        const AtomInfo *x = atom_info(d, of);
        if (x->kind < ATOM_INDEX || (*budget)-- == 0) return false;
        if (x->kind == ATOM_INDEX && *index == 0) *index = x->self;
        bool is = x->kind == ATOM_INDEX ? *index == x->self
                                        : of_one(d, poly_now(d, x->a), index, budget) && of_one(d, poly_now(d, x->b), index, budget);
        if (!is) return false;
    }
    return true;
}

/* What p is for each value of the index, if that is a line, and not written as one. */
static bool line(Domain *d, Poly p, Atom index, Poly *as)
{
    const AtomInfo *x = atom_info(d, index);
    int64_t at, first = 0, step = 0;
    if (x->hi >= VALUES_MAX || poly_level(d, p) == x->level) return false;
    for (int64_t v = 0; v <= x->hi; v++) {
        if (!poly_is_const(domain_with(d, p, index, poly_const(d, v)), &at)) return false;
        if (v == 0) first = at;
        else if (v == 1) step = at - first;
        else if (at != first + v * step) return false;
    }
    *as = raw_plus(d, raw_scale(d, raw_atom(d, index), step), first);
    return true;
}

Poly domain_straight(Domain *d, Poly p)
{
    Poly left = p = poly_now(d, p), as;
    for (Atom index = p.n != 0; index;) {
        Poly of = POLY_ZERO, rest = POLY_ZERO;
        index = 0;
        for (uint32_t i = 0; i < left.n; i++) {
            uint32_t budget = LOOK_MAX;
            Atom x = index;
            Poly one = {&left.terms[i], 1, false}, *to = of_one(d, one, &x, &budget) ? &of : &rest;
            if (to == &of) index = x;
            *to = raw_add(d, *to, one);
        }
        if (index && line(d, of, index, &as)) p = raw_add(d, raw_sub(d, p, of), as);
        left = rest;
    }
    return p;
}
