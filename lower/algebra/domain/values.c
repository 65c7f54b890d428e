/* Values that numbers have where two boxes meet. On an axis the two have places in common. Where one of them lies within bounds, that bounds the
 * other one's numbers, and may leave one value of a number: x[1, i * 16] and x[i, 0 +: 16] meet for i = 1 alone. A number that has one value
 * on one side may be moved by in another way there. */
#include "lower/algebra/domain/separation.h"

/* from <= step * x + rest <= to, step >= 1: the one value of x that is left. */
static bool only_value(const Separation *s, const Number *x, Poly step, Poly rest, Poly from, Poly to, Poly *value)
{
    Domain *d = s->d;
    Poly lo, hi;
    if (!domain_min(d, rest, &lo) || !domain_max(d, rest, &hi)) return false;
    Poly below = poly_div(d, raw_sub(d, to, lo), step), above = poly_ceil(d, raw_sub(d, from, hi), step);
    if (at_most(s, below, POLY_ZERO)) *value = POLY_ZERO;
    else if (at_most(s, x->last, above)) *value = x->last;
    else if (poly_same(below, above)) *value = below;
    else return false;
    return !value->bad;
}

static void has_value(Separation *s, Number *x, int side, Poly value)
{
    Poly count = raw_plus(s->d, x->last, 1); /* it is below that */
    x->has[side] = true;
    x->value[side] = value;
    x->same = x->same || (x->has[!side] && poly_same(poly_mod(s->d, x->value[!side], count), poly_mod(s->d, value, count)));
    for (int i = 0; i < s->nrows; i++) s->row[i].at[side] = domain_with(s->d, s->row[i].at[side], x->atom, value);
}

/* The numbers of one side, whose start p lies within from .. to. */
static bool values_within(Separation *s, Poly p, int side, Poly from, Poly to)
{
    Domain *d = s->d;
    for (int i = 0; i < s->nnumbers; i++) {
        Number *x = &s->number[i];
        Poly step, rest, value;
        if (x->has[side] || atom_info(d, x->atom)->kind != ATOM_INDEX) continue;
        poly_split(d, p, x->atom, &step, &rest);
        if (step.n == 0 || poly_depends(d, step) & ~(unsigned)DEP_LAUNCH || moved_by(d, rest, x->atom)) continue;
        bool up = at_most(s, poly_const(d, 1), step), down = !up && at_most(s, step, poly_const(d, -1));
        bool one = up ? only_value(s, x, step, rest, from, to, &value)
                      : down && only_value(s, x, raw_neg(d, step), raw_neg(d, rest), raw_neg(d, to), raw_neg(d, from), &value);
        if (!one) continue;
        has_value(s, x, side, value);
        return true;
    }
    return false;
}

/* On one row: it meets the other box, and the tensor. */
static bool values_on(Separation *s, const Row *r, int side)
{
    Domain *d = s->d;
    Poly p = r->at[side], other = r->at[!side], lo, hi, own = r->axis ? r->extent[side] : poly_const(d, 1);
    if (p.bad || (r->axis && r->axis->nagree)) return false;
    if (r->size.n && values_within(s, p, side, raw_plus(d, raw_neg(d, own), 1), raw_plus(d, r->size, -1))) return true;
    return r->axis && domain_min(d, other, &lo) && domain_max(d, other, &hi) &&
           values_within(s, p, side, raw_plus(d, raw_sub(d, lo, own), 1), raw_plus(d, raw_add(d, hi, r->extent[!side]), -1));
}

bool values_find(Separation *s)
{
    bool more = false;
    for (int i = 0; i < 2 * s->nrows; i++) more = values_on(s, &s->row[i / 2], i % 2) || more;
    return more;
}
