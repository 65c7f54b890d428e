/* What two boxes that meet say of the indices.
 *
 * Values: on an axis the two have places in common. Where one of them lies within bounds, that bounds the other one's indices, and may
 * leave one value of an index (x[1, i * 16] and x[i, 0 +: 16] meet for i = 1 alone). An index that has one value on one side may be moved by in
 * the way of the other side: then the digit method (boxes.c) compares them.
 *
 * Rotations: c + k modulo n, where the values of c lie within n of each other, is a number r < n of its own; boxes that agree in r
 * agree in c. So starts count by r, and c is one axis more, which means something where r is the same. Where r has one value left,
 * so has c. So do those that are turned around in groups, c ^ (n - 1) for n a power of two.
 */
#include "lower/algebra/domain/inside.h"

enum { FORCED_MAX = 16, ROUNDS = 3 };

typedef struct DomAt { /* index == value */
    Atom index;
    Poly value;
} DomAt;
typedef struct Meet {
    Domain *d;
    const Runs *runs;
    DomAxis *axis; /* as they are at the values */
    int naxes;
    DomAt forced[2][FORCED_MAX];
    int nforced[2];
} Meet;

static DomAxis *axes_copy(Arena *a, const DomPair *p)
{
    DomAxis *axis = arena_array(a, DomAxis, DOM_AXES_MAX);
    for (int i = 0; i < p->naxes; i++) axis[i] = p->axis[i];
    return axis;
}

static bool le(const Meet *m, Poly a, Poly b)
{
    return prove_ge0_where(m->d, m->runs, raw_sub(m->d, b, a), PROOF_STEPS);
}

static bool of_launch(Domain *d, Poly p)
{
    return (poly_depends(d, p) & ~(unsigned)DEP_LAUNCH) == 0;
}

/* ---- rotations ---- */

/* p ^ (den - 1) */
static Poly flipped_by(Domain *d, Poly p, Poly den)
{
    return raw_plus(d, raw_sub(d, raw_add(d, p, den), raw_scale(d, poly_mod(d, p, den), 2)), -1);
}

/* The index that stands for it, of so many values. */
Atom turned_index(Domain *d, Turned t, Poly count)
{
    for (uint32_t i = 0; i < d->turned.n; i++) {
        const Turned *of = &d->turned.v[i];
        if (of->kind == t.kind && poly_same(poly_now(d, of->num), t.num) && poly_same(poly_now(d, of->den), t.den)) return of->index;
    }
    Poly is = t.kind == TURNED_NOT ? t.num : t.kind == TURNED_FLIP ? flipped_by(d, t.num, t.den) : poly_mod(d, t.num, t.den);
    t.index = domain_index(d, domain_text(d, d->arena, is), POLY_ZERO, count, poly_depends(d, t.num));
    vec_push(d->arena, &d->turned, t);
    return t.index;
}

/* Who agrees in the index agrees in num. */
void add_turned(Domain *d, Arena *a, DomAxis *axis, int *naxes, const char *name, Poly num, Atom index)
{
    Poly one = poly_const(d, 1);
    Atom *agree = arena_new(a, Atom);
    *agree = index;
    axis[(*naxes)++] = (DomAxis){.name = name, .start = {num, num}, .extent = {one, one}, .agree = agree, .nagree = 1, .quiet = true};
}

static Atom rotated(Domain *d, Poly num, Poly den)
{
    return turned_index(d, (Turned){.num = num, .den = den, .kind = TURNED_MODULO}, den);
}

static Atom flipped(Domain *d, Poly num, Poly den)
{
    Poly last;
    if (!domain_max(d, num, &last)) return 0;
    Poly groups = raw_plus(d, poly_div(d, last, den), 1); /* whole ones */
    return turned_index(d, (Turned){.num = num, .den = den, .kind = TURNED_FLIP}, raw_mul(d, den, groups));
}

/* Do all its values lie within n of each other? */
static bool within(const Meet *m, Poly num, Poly n)
{
    Domain *d = m->d;
    Poly lo, hi;
    if (!poly_extreme(d, num, false, DEP_LAUNCH, &lo) || !poly_extreme(d, num, true, DEP_LAUNCH, &hi)) return false;
    return le(m, raw_plus(d, raw_sub(d, hi, lo), 1), n);
}

/* Is s * 2 * den * (x / den) all that is left of s * (x ^ (den - 1))? */
static bool flips(Domain *d, Poly num, Poly den, Poly coef, Poly rest, Poly *s)
{
    int64_t n;
    Atom x = poly_plain(num);
    if (x == 0 || atom_info(d, x)->kind != ATOM_INDEX || !poly_is_const(den, &n) || !power_of_two(n)) return false;
    return poly_exact(d, coef, raw_scale(d, den, 2), s) && !poly_mentions(d, raw_add(d, rest, raw_mul(d, *s, num)), x);
}

/* s * (num - den * (num / den)) in p as s * r, or what is left of num ^ (den - 1); 0: there is none. */
static Atom turn(const Meet *m, Poly *p, Poly *num)
{
    Domain *d = m->d;
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint8_t k = 0; k < p->terms[i].natoms; k++) {
            Atom q = p->terms[i].atoms[k];
            const AtomInfo *info = atom_info(d, q);
            Poly coef, rest, s, is;
            if (info->kind != ATOM_DIV || info->depends & DEP_DATA || of_launch(d, raw_atom(d, q))) continue;
            Poly n = poly_now(d, info->a), den = poly_now(d, info->b);
            poly_split(d, *p, q, &coef, &rest);
            if (!of_launch(d, den) || (!info->positive && !le(m, poly_const(d, 1), den))) continue;
            bool whole = poly_exact(d, coef, den, &s) && within(m, n, den);
            Atom r = whole ? rotated(d, n, den) : flips(d, n, den, coef, rest, &s) ? flipped(d, n, den) : 0;
            if (r == 0) continue;
            is = whole ? raw_sub(d, n, raw_atom(d, r)) : raw_plus(d, raw_sub(d, raw_add(d, n, raw_atom(d, r)), den), 1);
            *p = raw_add(d, rest, raw_mul(d, s, is));
            *num = n;
            return r;
        }
    }
    return 0;
}

/* ---- values ---- */

static const DomAt *value_of(const Meet *m, int side, Atom x)
{
    for (int i = 0; i < m->nforced[side]; i++)
        if (m->forced[side][i].index == x) return &m->forced[side][i];
    return NULL;
}

static bool force(Meet *m, int side, Atom x, Poly value)
{
    if (m->nforced[side] == FORCED_MAX || value.bad || value_of(m, side, x)) return false;
    m->forced[side][m->nforced[side]++] = (DomAt){x, value};
    for (int i = 0; i < m->naxes; i++) {
        m->axis[i].start[side] = domain_with(m->d, m->axis[i].start[side], x, value);
        m->axis[i].extent[side] = domain_with(m->d, m->axis[i].extent[side], x, value);
    }
    return true;
}

/* from <= step * x + rest <= to, step >= 1: the one value of x that is left. */
static bool only_value(const Meet *m, Atom x, Poly step, Poly rest, Poly from, Poly to, Poly *value)
{
    Domain *d = m->d;
    const AtomInfo *info = atom_info(d, x);
    Poly most = poly_now(d, info->b), lo, hi;
    if (!poly_extreme(d, rest, false, DEP_LAUNCH, &lo) || !poly_extreme(d, rest, true, DEP_LAUNCH, &hi)) return false;
    Poly below = poly_div(d, raw_sub(d, to, lo), step), above = poly_ceil(d, raw_sub(d, from, hi), step);
    if (le(m, below, POLY_ZERO)) *value = POLY_ZERO;
    else if (of_launch(d, most) && le(m, most, above)) *value = most;
    else if (poly_same(below, above)) *value = below;
    else return false;
    return !value->bad;
}

/* num is value modulo den, where it stands for an index and what the launch knows: then that has one value, too. */
static bool force_turned(Meet *m, int side, const Turned *t, Poly value)
{
    Domain *d = m->d;
    Poly num = poly_now(d, t->num), lo, step, rest;
    if (t->kind == TURNED_FLIP) return force(m, side, poly_plain(num), flipped_by(d, value, t->den));
    if (!poly_extreme(d, num, false, DEP_LAUNCH, &lo)) return false;
    Poly at = raw_add(d, lo, poly_mod(d, raw_sub(d, value, lo), t->den));
    for (uint32_t i = 0; i < num.n; i++) {
        if (num.terms[i].natoms != 1 || atom_info(d, num.terms[i].atoms[0])->kind != ATOM_INDEX) continue;
        Atom x = num.terms[i].atoms[0];
        int64_t sign;
        poly_split(d, num, x, &step, &rest);
        if (!of_launch(d, rest) || !poly_is_const(step, &sign) || (sign != 1 && sign != -1)) continue;
        return force(m, side, x, raw_scale(d, raw_sub(d, at, rest), sign));
    }
    return false;
}

static const Turned *turned_by(Domain *d, Atom x)
{
    for (uint32_t i = 0; i < d->turned.n; i++)
        if (d->turned.v[i].index == x) return &d->turned.v[i];
    return NULL;
}

static Poly with_turns(const Meet *m, Poly p)
{
    Poly num;
    while (!p.bad && turn(m, &p, &num)) continue;
    return p;
}

/* The indices of one side, whose start p lies within from .. to. */
static bool values_within(Meet *m, Poly p, int side, Poly from, Poly to)
{
    Domain *d = m->d;
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            Atom t = p.terms[i].atoms[k];
            Poly step, rest, value;
            if (atom_info(d, t)->kind != ATOM_INDEX) continue;
            poly_split(d, p, t, &step, &rest);
            if (!of_launch(d, step) || poly_mentions(d, rest, t)) continue;
            bool up = le(m, poly_const(d, 1), step), down = !up && le(m, step, poly_const(d, -1));
            bool one = up ? only_value(m, t, step, rest, from, to, &value)
                          : down && only_value(m, t, raw_neg(d, step), raw_neg(d, rest), raw_neg(d, to),
                                               raw_neg(d, from), &value);
            const Turned *of = one ? turned_by(d, t) : NULL;
            if (one && (of ? force_turned(m, side, of, value) : force(m, side, t, value))) return true;
        }
    }
    return false;
}

/* On one axis: it meets the other box, and the tensor. */
static bool values_on(Meet *m, const DomAxis *x, int side)
{
    Domain *d = m->d;
    Poly p = with_turns(m, poly_now(d, x->start[side])), other = with_turns(m, poly_now(d, x->start[!side])), lo, hi, own, its;
    if (x->nagree || p.bad || !domain_max(d, x->extent[side], &own)) return false;
    if (x->size.n && values_within(m, p, side, raw_plus(d, raw_neg(d, own), 1), raw_plus(d, poly_now(d, x->size), -1))) return true;
    return domain_min(d, other, &lo) && domain_max(d, other, &hi) && domain_max(d, x->extent[!side], &its) &&
           values_within(m, p, side, raw_plus(d, raw_sub(d, lo, own), 1), raw_plus(d, raw_add(d, hi, its), -1));
}

/* x moves the one side as it does the other: it has one value. */
static void align(Domain *d, DomAxis *axis, int side, const DomAt *at)
{
    Poly own, its, rest, p = poly_now(d, axis->start[side]);
    poly_split(d, p, at->index, &own, &rest);
    poly_split(d, poly_now(d, axis->start[!side]), at->index, &its, &rest);
    if (poly_same(own, its) || !of_launch(d, its)) return;
    axis->start[side] = raw_add(d, p, raw_mul(d, raw_sub(d, its, own), raw_sub(d, raw_atom(d, at->index), at->value)));
}

static bool values(Meet *m, Arena *a, const DomPair *p, DomPair *at, DomPair *aligned)
{
    Domain *d = m->d;
    bool more = true;
    for (int round = 0; round < ROUNDS && more; round++) {
        more = false;
        for (int i = 0; i < p->naxes; i++)
            for (int side = 0; side < 2; side++) more = values_on(m, &m->axis[i], side) || more;
    }
    *at = *aligned = *p;
    at->axis = m->axis;
    if (m->nforced[0] + m->nforced[1] == 0) return false;
    DomAxis *axis = axes_copy(a, p);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < m->nforced[side]; k++)
            for (int i = 0; i < p->naxes; i++) align(d, &axis[i], side, &m->forced[side][k]);
    aligned->axis = axis;
    for (int k = 0; k < m->nforced[0]; k++) {
        const DomAt *its = value_of(m, 1, m->forced[0][k].index);
        if (its == NULL || !poly_same(its->value, m->forced[0][k].value) || aligned->naxes == DOM_AXES_MAX) continue;
        axis[aligned->naxes++] = domain_number(d, raw_atom(d, its->index), raw_atom(d, its->index));
    }
    return true;
}

/* ---- rotations as axes ---- */

static void rotations(const Meet *m, Arena *a, DomAxis *axis, DomPair *p)
{
    Domain *d = m->d;
    int n = p->naxes;
    for (int i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++) {
            Poly start = poly_now(d, axis[i].start[side]), num;
            Atom r = 0;
            while (!start.bad && p->naxes < DOM_AXES_MAX && (r = turn(m, &start, &num)) != 0) add_turned(d, a, axis, &p->naxes, axis[i].name, num, r);
            axis[i].start[side] = start;
        }
    }
    p->axis = axis;
}

bool pair_meets(Domain *d, Arena *a, const Runs *runs, const DomPair *p, DomPair *at, DomPair *aligned, bool *never)
{
    Meet *m = arena_new(a, Meet);
    *m = (Meet){.d = d, .runs = runs, .axis = axes_copy(a, p), .naxes = p->naxes};
    bool any = values(m, a, p, at, aligned);
    DomAxis *axis = axes_copy(a, aligned);
    int n = aligned->naxes;
    rotations(m, a, axis, aligned);
    numbers(d, a, runs, axis, &aligned->naxes);
    ties(d, p, axis, &aligned->naxes, never);
    return any || aligned->naxes > n;
}
