/* Boxes that never overlap.
 *
 * Two boxes that meet have a place in common on each axis: A's start less B's is less than either is long. Starts are sums of steps times numbers
 * (basis.c), and each side has numbers of its own. A number that moves both sides alike adds its step times how far its two values are apart. Where
 * the step is at least what the boxes and all other numbers span, the two are equal; what remains then spans less for the others. So is a
 * number whose differences keep the boxes apart whatever multiple of what the other steps have in common is added: 2 * j in 3 * i + 2 * j, j < 3.
 * If all numbers that a team's indices are made of are equal, only one team's boxes meet; and if all of one box lies behind all of the
 * other on some axis, or in other residues, none do.
 *
 * Where that fails, what boxes that meet say of the indices is looked for: values that they have (values.c), and what equal starts and
 * conditions say of both (ties.c). By that numbers may be equal that were not.
 *
 * An axis that means the same only to those that agree in some indices is looked at when these are equal. What is data of one place (DEP_DATA
 * alone) is one value for all.
 */
#include "lower/algebra/domain/separation.h"

enum { MULTIPLES_MAX = 1024 };

bool at_most(const Separation *s, Poly a, Poly b)
{
    return prove_ge0_where(s->d, &s->runs, raw_sub(s->d, b, a), PROOF_STEPS);
}

/* ---- numbers ---- */

static Number *number_of(Separation *s, Atom x)
{
    for (int i = 0; i < s->nnumbers; i++)
        if (s->number[i].atom == x) return &s->number[i];
    return NULL;
}

static void numbers_in(Separation *s, Poly p)
{
    Domain *d = s->d;
    FOR_ATOMS(p, x) {
        const AtomInfo *info = atom_info(d, x);
        Number n = {.atom = info->self, .last = POLY_BAD};
        int64_t last;
        if (info->kind > ATOM_INDEX || !(info->depends & VARIES) || number_of(s, n.atom) || s->nnumbers == NUMBERS_MAX) continue;
        if (info->kind != ATOM_INDEX || !domain_max(d, info->b, &n.last)) n.last = POLY_BAD;
        n.same = poly_is_const(n.last, &last) && last <= 0;
        s->number[s->nnumbers++] = n;
    }
}

bool moved_by(Domain *d, Poly p, Atom x)
{
    return poly_mentions(d, p, x) && !poly_same(domain_with(d, p, x, POLY_ZERO), p);
}

/* Is p made of nothing but numbers that are equal, and what is one value for all? */
static bool same_in(Separation *s, Poly p, int *fuel)
{
    FOR_ATOMS(p, of) {
        const AtomInfo *x = atom_info(s->d, of);
        if (!(x->depends & VARIES)) continue;
        bool derived = x->kind > ATOM_INDEX && --*fuel >= 0;
        const Number *n = number_of(s, x->self);
        if (derived ? !same_in(s, poly_now(s->d, x->a), fuel) || !same_in(s, poly_now(s->d, x->b), fuel) : n == NULL || !n->same) return false;
    }
    return true;
}

bool all_same(Separation *s, Poly p)
{
    int fuel = LOOK_MAX;
    return !p.bad && same_in(s, p, &fuel);
}

bool agreed(Separation *s, const Row *r)
{
    for (int i = 0; r->axis && i < r->axis->nagree; i++)
        if (!all_same(s, raw_atom(s->d, r->axis->agree[i]))) return false;
    return true;
}

Atom first_together(Separation *s)
{
    for (int i = 0; i < s->pair->nteam; i++) {
        const Number *n = number_of(s, s->pair->team[i]);
        if (n == NULL || !n->same) return s->pair->team[i];
    }
    return 0;
}

/* ---- sums ---- */

/* What c times a number from 0 to last is at least and at most; false where nobody knows its sign. */
static bool range_of(const Separation *s, Poly c, Poly last, Poly *lo, Poly *hi)
{
    bool up = at_most(s, POLY_ZERO, c);
    if (!up && !at_most(s, c, POLY_ZERO)) return false;
    *lo = up ? POLY_ZERO : raw_mul(s->d, c, last);
    *hi = up ? raw_mul(s->d, c, last) : POLY_ZERO;
    return true;
}

static Part part_of(Separation *s, int number, Poly a, Poly b, Poly *fixed)
{
    Domain *d = s->d;
    const Number *n = &s->number[number];
    Part p = {number, poly_same(a, b), POLY_BAD, POLY_BAD, POLY_BAD, gcd_s64(poly_content(a, true), poly_content(b, true))};
    Poly lo, hi, c = n->has[0] ? b : a;
    if (n->has[0] && n->has[1]) {
        *fixed = raw_add(d, *fixed, raw_sub(d, raw_mul(d, a, n->value[0]), raw_mul(d, b, n->value[1])));
        p.content = 0;
    } else if (p.alike || n->has[0] || n->has[1]) { /* a * x - b * y = b * (x - y) + (a - b) * x */
        if (!p.alike) *fixed = raw_add(d, *fixed, raw_mul(d, raw_sub(d, a, b), n->value[!n->has[0]]));
        p.content = poly_content(c, true);
        if (!range_of(s, c, n->last, &lo, &hi)) return p;
        p.step = lo.n || lo.bad ? raw_neg(d, c) : at_most(s, POLY_ZERO, c) ? c : raw_neg(d, c);
        p.hi = raw_mul(d, p.step, n->last);
        p.lo = raw_neg(d, p.hi);
    } else if (range_of(s, a, n->last, &p.lo, &p.hi) && range_of(s, b, n->last, &lo, &hi)) {
        p.lo = raw_sub(d, p.lo, hi);
        p.hi = raw_sub(d, p.hi, lo);
    }
    return p;
}

static void split_same(Separation *s, Poly p, Poly *same, Poly *rest)
{
    *same = *rest = p.bad ? POLY_BAD : POLY_ZERO;
    for (uint32_t i = 0; i < p.n && !p.bad; i++) {
        Poly one = {&p.terms[i], 1, false}, *to = all_same(s, one) ? same : rest;
        *to = raw_add(s->d, *to, one);
    }
}

static bool of_launch(Domain *d, Poly p)
{
    return !p.bad && !(poly_depends(d, p) & ~(unsigned)DEP_LAUNCH);
}

Sum sum_of(Separation *s, const Row *r)
{
    Domain *d = s->d;
    Sum sum; /* large, as Separation is */
    Poly same[2], rest[2], c[2], left[2], lo[3], hi[3];
    for (int side = 0; side < 2; side++) split_same(s, r->start[side], &same[side], &rest[side]);
    Poly fixed = raw_sub(d, same[0], same[1]);
    sum.n = 0;
    for (int i = 0; i < s->nnumbers && fixed.n; i++)
        if (s->number[i].same && s->number[i].has[0]) fixed = domain_with(d, fixed, s->number[i].atom, s->number[i].value[0]);
    sum.same = fixed;
    for (int side = 0; side < 2; side++) sum.moving[side] = rest[side];
    for (int i = 0; i < s->nnumbers && rest[0].n + rest[1].n; i++) {
        bool of = true;
        for (int side = 0; side < 2; side++) {
            poly_split(d, rest[side], s->number[i].atom, &c[side], &left[side]);
            of = of && of_launch(d, c[side]) && !moved_by(d, left[side], s->number[i].atom);
        }
        if (s->number[i].same || !of || c[0].n + c[1].n == 0) continue;
        for (int side = 0; side < 2; side++) rest[side] = left[side];
        sum.part[sum.n] = part_of(s, i, c[0], c[1], &fixed);
        sum.n += sum.part[sum.n].content != 0;
    }
    const Poly of[3] = {fixed, rest[0], rest[1]};
    bool known = true;
    for (int i = 0; i < 3; i++) known = known && domain_min(d, of[i], &lo[i]) && domain_max(d, of[i], &hi[i]);
    sum.lo = known ? raw_sub(d, raw_add(d, lo[0], lo[1]), hi[2]) : POLY_BAD;
    sum.hi = known ? raw_sub(d, raw_add(d, hi[0], hi[1]), lo[2]) : POLY_BAD;
    sum.rest[0] = rest[0];
    sum.rest[1] = rest[1];
    sum.fixed = rest[0].n + rest[1].n == 0 && of_launch(d, fixed) ? fixed : POLY_BAD;
    return sum;
}

Poly reach_of(Separation *s, const Row *r, const Sum *sum, int part, bool behind)
{
    Domain *d = s->d;
    Poly reach = raw_add(d, r->extent[behind], behind ? raw_neg(d, sum->lo) : sum->hi);
    for (int i = 0; i < sum->n; i++)
        if (i != part) reach = raw_add(d, reach, behind ? raw_neg(d, sum->part[i].lo) : sum->part[i].hi);
    return reach;
}

/* ---- what is never, what is equal ---- */

/* Do x and y lie in different residues of a common modulus? `diff`: x.start - y.start with every part whose coefficients are multiples of
 * g left out. */
static bool residues_apart(Domain *d, const Runs *holds, int64_t g, int64_t diff, Poly xe, Poly ye)
{
    if (g < 2) return false;
    diff -= floor_div_by(diff, g) * g;
    return prove_ge0_where(d, holds, raw_sub(d, poly_const(d, diff), ye), PROOF_STEPS) &&
           prove_ge0_where(d, holds, raw_sub(d, poly_const(d, g - diff), xe), PROOF_STEPS);
}

static bool row_never(Separation *s, const Row *r, const Sum *sum)
{
    int64_t g = poly_content(sum->fixed, false);
    for (int i = 0; i < sum->n; i++) g = gcd_s64(g, sum->part[i].content);
    if (!sum->fixed.bad && residues_apart(s->d, &s->runs, g, poly_constant_term(sum->fixed), r->extent[0], r->extent[1])) return true;
    return at_most(s, reach_of(s, r, sum, -1, false), POLY_ZERO) || at_most(s, reach_of(s, r, sum, -1, true), POLY_ZERO);
}

static bool number_fits(Poly p, int64_t *k)
{
    return poly_is_const(p, k) && *k < INT64_MAX / 8 && *k > INT64_MIN / 8;
}

/* Starts that differ by t and any multiple of m: is none of the differences one where the boxes meet? */
static bool misses(int64_t t, int64_t m, int64_t ab, int64_t ba)
{
    int64_t above = ba + floor_mod_s64(t - ba, m); /* the least one with A behind B */
    return m - above >= ab;
}

/* All other steps together move starts by multiples of a number. Modulo that the difference of the number's values is what counts: 2 * j in
 * 3 * i + 2 * j for j < 3, or r in 4 * i + r and 4 * i + 2 + r for r < 2. */
static bool equal_by_multiples(const Separation *s, const Row *r, const Sum *sum, int part)
{
    int64_t step, last, all = 0, fixed, a, b;
    for (int i = 0; i < sum->n; i++)
        if (i != part) all = gcd_s64(all, sum->part[i].content);
    bool fits = number_fits(sum->fixed, &fixed) && number_fits(r->extent[0], &a) && number_fits(r->extent[1], &b);
    if (all == 0 || !fits || !number_fits(sum->part[part].step, &step) || !number_fits(s->number[sum->part[part].number].last, &last)) return false;
    for (int64_t i = 1, t = 0; i <= last; i++) {
        t = (t + step) % all;
        if (i > MULTIPLES_MAX || !misses(t, all, a + fixed, b - fixed) || !misses(-t, all, a + fixed, b - fixed)) return false;
    }
    return true;
}

/* All others of a side together reach less far than each by itself where the range of one depends on another: 8 * g + c, c < min(8, n - 8 * g), is below n. */
static bool equal_by_ranges(const Separation *s, const Row *r, const Sum *sum, int part)
{
    Domain *d = s->d;
    const Part *p = &sum->part[part];
    Poly step, other, lo[2], hi[2], least, most;
    if (!p->alike || !domain_min(d, sum->same, &least) || !domain_max(d, sum->same, &most)) return false;
    for (int side = 0; side < 2; side++) {
        poly_split(d, sum->moving[side], s->number[p->number].atom, &step, &other);
        if (!domain_min(d, other, &lo[side]) || !domain_max(d, other, &hi[side])) return false;
    }
    Poly up = raw_add(d, raw_add(d, r->extent[0], most), raw_sub(d, hi[0], lo[1]));
    Poly down = raw_sub(d, raw_add(d, r->extent[1], raw_sub(d, hi[1], lo[0])), least);
    return at_most(s, up, p->step) && at_most(s, down, p->step);
}

static bool equal_on(Separation *s, const Row *r, const Sum *sum, int part)
{
    Poly step = sum->part[part].step;
    if (step.bad) return false;
    if (at_most(s, reach_of(s, r, sum, part, false), step) && at_most(s, reach_of(s, r, sum, part, true), step)) return true;
    return equal_by_multiples(s, r, sum, part) || equal_by_ranges(s, r, sum, part);
}

/* Until no row says more. */
static bool only_one_team(Separation *s)
{
    for (bool more = true; more && !s->never;) {
        more = false;
        for (int i = 0; i < s->nrows && !s->never; i++) {
            const Row *r = &s->row[i];
            if (!agreed(s, r)) continue;
            Sum sum = sum_of(s, r);
            s->never = row_never(s, r, &sum);
            for (int k = 0; k < sum.n; k++) {
                if (s->number[sum.part[k].number].same || !equal_on(s, r, &sum, k)) continue;
                s->number[sum.part[k].number].same = more = true;
            }
            for (int k = 0; k < s->nnumbers && !more && !s->never; k++)
                if (sum.rest[0].n && equal_in_order(s, r, k)) s->number[k].same = more = true;
        }
    }
    return s->never || (s->pair->nteam && first_together(s) == 0);
}

/* ---- two boxes ---- */

static void rows_add(Separation *s, const DomAxis *axis, int n)
{
    Domain *d = s->d;
    for (int i = 0; i < n && s->nrows < ROWS_MAX; i++) {
        const DomAxis *x = &axis[i];
        Row *r = &s->row[s->nrows];
        *r = (Row){.axis = x, .start = {poly_now(d, x->start[0]), poly_now(d, x->start[1])}, .size = poly_now(d, x->size)};
        if (domain_max(d, x->extent[0], &r->extent[0]) && domain_max(d, x->extent[1], &r->extent[1])) s->nrows++;
    }
}

/* Both are in loops, whose indices have values: a number of the launch is at least 1. */
static void loops_run(Separation *s)
{
    Domain *d = s->d;
    for (int i = 0; i < 2 * s->pair->naxes; i++) {
        Poly start = poly_now(d, s->pair->axis[i / 2].start[i % 2]);
        FOR_ATOMS(start, x) {
            const AtomInfo *info = atom_info(d, x);
            Poly more = info->kind == ATOM_INDEX ? poly_now(d, info->b) : POLY_BAD;
            if (s->runs.n < RUNS_MAX && of_launch(d, more) && poly_interval(d, more).lo < 0) runs_add(d, &s->runs, more);
        }
    }
}

bool domain_apart_teams(Domain *d, Arena *a, const DomPair *p, const char **why)
{
    Separation all, *s = &all; /* large: what is not in use yet has no value */
    DomAxis tied[DOM_AXES_MAX];
    int ntied = 0;
    if (p->nteam == 0) return true;
    s->d = d;
    s->a = a;
    s->pair = p;
    s->nrows = s->naxes = s->nnumbers = 0;
    s->runs.n = 0;
    s->never = false;
    loops_run(s);
    rows_add(s, p->axis, p->naxes);
    basis_find(s);
    for (int i = 0; i < p->nteam; i++) numbers_in(s, raw_atom(d, p->team[i]));
    for (int i = 0; i < 2 * s->nrows; i++) numbers_in(s, s->row[i / 2].start[i % 2]);
    if (only_one_team(s)) return true;
    *why = tell_together(s);
    ties(d, p, tied, &ntied, &s->never);
    rows_add(s, tied, ntied);
    for (int i = 0; i < s->nrows; i++)
        for (int side = 0; side < 2; side++) s->row[i].at[side] = s->row[i].start[side];
    bool more = true;
    while (!only_one_team(s) && more) more = values_find(s);
    return s->never || first_together(s) == 0;
}

DomAxis domain_number(Domain *d, Poly a, Poly b)
{
    Poly one = poly_const(d, 1);
    return (DomAxis){.start = {a, b}, .extent = {one, one}, .quiet = true};
}

bool domain_apart(Domain *d, const DomPair *p)
{
    Runs holds = {.n = 0};
    for (int i = 0; i < p->nholds[0]; i++) runs_add(d, &holds, p->holds[0][i]);
    for (int i = 0; i < p->nholds[1]; i++) runs_add(d, &holds, p->holds[1][i]);
    for (int i = 0; i < p->naxes; i++) {
        const DomAxis *x = &p->axis[i];
        Poly ae = poly_now(d, x->extent[0]), be = poly_now(d, x->extent[1]);
        Poly diff = poly_sub(d, x->start[0], x->start[1]);
        if (prove_ge0_where(d, &holds, raw_sub(d, diff, be), PROOF_STEPS)) return true;
        if (prove_ge0_where(d, &holds, raw_sub(d, raw_neg(d, diff), ae), PROOF_STEPS)) return true;
        if (residues_apart(d, &holds, poly_content(diff, false), poly_constant_term(diff), ae, be)) return true;
    }
    return false;
}

bool domain_disjoint(Domain *d, const DomBox *A, const DomBox *B)
{
    DomAxis axis[MAP_RANK_MAX];
    DomPair p = {.axis = axis, .naxes = A->rank < B->rank ? A->rank : B->rank};
    for (int i = 0; i < p.naxes; i++) axis[i] = (DomAxis){.start = {A->start[i], B->start[i]}, .extent = {A->extent[i], B->extent[i]}};
    return domain_apart(d, &p);
}
