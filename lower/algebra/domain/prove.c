/* Proofs and extremes. */
#include <string.h>

#include "lower/algebra/domain/inside.h"

Interval poly_interval(Domain *d, Poly p)
{
    Interval sum = {0, 0};
    for (uint32_t i = 0; i < p.n && !p.bad; i++) {
        const Term *t = &p.terms[i];
        Interval x = {t->coef, t->coef};
        for (uint8_t k = 0; k < t->natoms; k++) {
            const AtomInfo *info = atom_info(d, t->atoms[k]);
            x = interval_mul(x, (Interval){info->lo, info->hi});
        }
        sum = interval_add(sum, x);
    }
    return p.bad ? UNBOUNDED : sum;
}

/* ---- p >= 0 ---- */

typedef struct Proof {
    Domain *d;
    uint32_t steps; /* left */
    uint32_t nlocal;
    uint32_t used;               /* facts already subtracted on this path; local facts behind FACTS_MAX */
    Poly local[LOCAL_FACTS_MAX]; /* >= 0: ranges that are not empty, of the indices removed on this path */
} Proof;

static bool ge0(Proof *pf, Poly p);

/* Of quotients of one level that with the greatest divisor goes first: x / W - H * (x / (H * W)) is a remainder of
 * x / W, which must still be there when the other one is bounded. */
static bool goes_before(Domain *d, Atom x, Atom y)
{
    const AtomInfo *a = atom_info(d, x), *b = atom_info(d, y);
    if (a->level != b->level) return a->level > b->level;
    if (a->kind == ATOM_INDEX || b->kind == ATOM_INDEX) {
        bool first = a->kind == ATOM_MIN || a->kind == ATOM_MAX, second = b->kind == ATOM_MIN || b->kind == ATOM_MAX;
        if (first != second) return first; /* nothing is lost where both of its two are asked */
    }
    if (a->kind == ATOM_DIV && b->kind == ATOM_DIV && a->b.n && b->b.n) {
        const Term *s = &a->b.terms[0], *t = &b->b.terms[0];
        if (s->natoms != t->natoms) return s->natoms > t->natoms;
        if (s->coef != t->coef) return s->coef > t->coef;
    }
    return x > y;
}

/* vary: of the atoms alone that the launch does not know. */
static Atom highest_atom(Domain *d, Poly p, bool vary)
{
    Atom best = 0;
    FOR_ATOMS(p, x) {
        const AtomInfo *info = atom_info(d, x);
        if (vary && (info->depends & ~(unsigned)DEP_LAUNCH) == 0) continue;
        if (best == 0 || (x != best && goes_before(d, x, best))) best = x;
    }
    return best;
}

/* A minimum that is added, or a maximum that is taken away: p >= 0 is that of both of its two, so it goes before what one of two shows. */
static Atom asks_both(Domain *d, Poly p)
{
    for (uint32_t i = 0; i < p.n; i++) {
        const Term *t = &p.terms[i];
        AtomKind kind = t->natoms == 1 ? (AtomKind)atom_info(d, t->atoms[0])->kind : ATOM_INDEX;
        if (kind == (t->coef > 0 ? ATOM_MIN : ATOM_MAX)) return t->atoms[0];
    }
    return 0;
}

static int sign_of(Proof *pf, Poly p)
{
    Interval x = poly_interval(pf->d, p);
    if (x.lo >= 0) return 1;
    if (x.hi <= 0) return -1;
    if (ge0(pf, p)) return 1;
    return ge0(pf, raw_neg(pf->d, p)) ? -1 : 0;
}

static bool ge0_with(Proof *pf, Poly coef, Poly value, Poly rest)
{
    return ge0(pf, raw_add(pf->d, raw_mul(pf->d, coef, value), rest));
}

typedef struct Quotient { /* floor(num / den), den >= 1 */
    Poly num, den;
    bool exact;
} Quotient;

static Quotient quotient_of(Domain *d, const AtomInfo *q)
{
    return (Quotient){poly_now(d, q->a), poly_now(d, q->b), q->exact};
}

/* coef * q + rest >= 0: s * coef = c * den, and s * q lies within what den * q does. The form is an integer, so
 * s * form >= -(s - 1) is enough. */
static bool ge0_quotient(Proof *pf, Quotient q, int sign, Poly coef, Poly rest)
{
    Domain *d = pf->d;
    Poly num = q.num, den = q.den, c, s;
    poly_common(d, coef, den, &c, &s);
    Poly bound = num;
    if (sign > 0 && !q.exact) bound = raw_plus(d, raw_sub(d, num, den), 1);
    Poly sum = raw_add(d, raw_mul(d, c, bound), raw_mul(d, s, rest));
    return ge0(pf, raw_plus(d, raw_add(d, sum, s), -1));
}

/* Sizes and the like alone. */
static bool at_least_0(Domain *d, const Term *t)
{
    bool all = true;
    for (uint8_t i = 0; i < t->natoms; i++) all = all && atom_info(d, t->atoms[i])->lo >= 0;
    return all;
}

/* num = n * x + m, and rest has a multiple of x: c times num - den * q, a remainder, is split off where that leaves less of q.
 * (4 * (i / 2) - i + 1, which is i ^ 1, is 2 * (i / 2) + 1 less a remainder of at most 1.) So it is of all of that times a size. */
static bool split_remainder(Domain *d, const AtomInfo *q, Poly *coef, Poly *rest, Poly *rem, int64_t *c)
{
    Poly num = poly_now(d, q->a), den = poly_now(d, q->b);
    int64_t n;
    if (coef->n != 1 || !at_least_0(d, &coef->terms[0]) || !poly_is_const(den, &n) || num.n == 0 || num.terms[0].natoms == 0 || n < 1)
        return false;
    const Term *lead = &num.terms[0], *times = &coef->terms[0];
    int64_t k = times->coef;
    for (uint32_t i = 0; i < rest->n; i++) {
        const Term *t = &rest->terms[i];
        Term by;
        Atom room[DEGREE_MAX];
        int64_t part;
        if (!mono_divides(t, lead, &by, room) || by.natoms != times->natoms) continue;
        if (by.natoms && memcmp(by.atoms, times->atoms, by.natoms * sizeof *by.atoms) != 0) continue;
        *c = t->coef / lead->coef;
        if (t->coef % lead->coef || !mul_s64(*c, n, &part) || (*c < 0) == (k < 0) || (k < 0 ? part >= -k : -part >= k))
            return false;
        Poly size = term_poly(d, 1, times->atoms, times->natoms);
        *coef = raw_scale(d, size, k + part);
        *rest = raw_sub(d, *rest, raw_mul(d, size, raw_scale(d, num, *c)));
        *rem = raw_scale(d, size, n - 1);
        return !rest->bad;
    }
    return false;
}

/* The least value, or the greatest, of c times a remainder that is at most rem. */
static Poly remainder_bound(Domain *d, Poly rem, int64_t c, bool max)
{
    return (c > 0) == max ? raw_scale(d, rem, c) : POLY_ZERO;
}

/* Where q = floor((y + more) / k) for a quotient y: of that, by k. */
static bool made_from(Domain *d, Quotient q, const AtomInfo *y, Quotient *of)
{
    Quotient in = quotient_of(d, y);
    int64_t a, b, s = 1;
    if (poly_is_const(q.den, &b) && poly_is_const(in.den, &a)) s = a / gcd_s64(a, b);
    Poly num = raw_scale(d, q.num, s), den = raw_scale(d, q.den, s), more;
    if (!poly_exact(d, den, in.den, &of->den) || !poly_exact(d, raw_sub(d, num, in.num), in.den, &more)) return false;
    of->num = raw_add(d, raw_atom(d, y->self), more);
    of->exact = false;
    return true;
}

/* coef * q + rest, where the rest has of a quotient y that q is made from what makes them a remainder, y % k: that is an
 * integer, which goes no further than to k - 1. */
static bool ge0_remainder(Proof *pf, Quotient q, int sign, Poly coef, Poly rest)
{
    Domain *d = pf->d;
    for (uint32_t i = 0; i < rest.n; i++) {
        const Term *t = &rest.terms[i];
        for (uint8_t j = 0; j < t->natoms; j++) {
            const AtomInfo *y = atom_info(d, t->atoms[j]);
            Quotient of;
            bool remainder = y->kind == ATOM_DIV && y->positive && (t->coef < 0) == (sign > 0);
            if (remainder && made_from(d, q, y, &of)) return ge0_quotient(pf, of, sign, coef, rest);
        }
    }
    return false;
}

static bool ge0_without(Proof *pf, Poly p, Atom x)
{
    Domain *d = pf->d;
    AtomInfo *info = atom_info(d, x);
    Poly coef, rest;
    poly_split(d, p, x, &coef, &rest);
    int sign = sign_of(pf, coef);
    if (info->kind == ATOM_MIN || info->kind == ATOM_MAX) {
        /* It is one of the two; and a minimum is <= both, a maximum >= both. */
        bool either = sign != 0 && (sign > 0) == (info->kind == ATOM_MAX);
        Poly a = raw_add(d, raw_mul(d, coef, poly_now(d, info->a)), rest), b = raw_add(d, raw_mul(d, coef, poly_now(d, info->b)), rest);
        if (!either) return ge0(pf, a) && ge0(pf, b);
        return poly_interval(d, b).lo >= 0 || ge0(pf, a) || ge0(pf, b); /* what is plain costs none of the steps */
    }
    if (sign == 0) return false;
    int64_t k = sign > 0 ? info->lo : info->hi;
    bool bounded = sign > 0 ? k != NO_LO : k != NO_HI;
    if (info->kind == ATOM_INDEX) {
        Poly most = poly_now(d, info->b);
        uint32_t nlocal = pf->nlocal;
        if (poly_interval(d, most).lo < 0 && !most.bad && nlocal < LOCAL_FACTS_MAX) {
            pf->used &= ~(1u << (FACTS_MAX + nlocal));
            pf->local[pf->nlocal++] = most;
        }
        bool ok = sign > 0 ? ge0(pf, rest) : ge0_with(pf, coef, most, rest);
        pf->nlocal = nlocal;
        return ok || (sign < 0 && bounded && ge0_with(pf, coef, poly_const(d, k), rest));
    }
    if (info->kind != ATOM_DIV) return bounded && ge0_with(pf, coef, poly_const(d, k), rest);
    if (!info->positive) return false;
    Poly unused, q = coef, less = rest, rem;
    int64_t c;
    if (split_remainder(d, info, &q, &less, &rem, &c) &&
        ge0(pf, raw_add(d, raw_add(d, raw_mul(d, q, raw_atom(d, x)), less), remainder_bound(d, rem, c, false))))
        return true;
    Quotient plain = quotient_of(d, info);
    bool whole = poly_exact(d, coef, plain.den, &unused);
    if (ge0_remainder(pf, plain, sign, coef, rest)) return true;
    if (whole && ge0_quotient(pf, plain, sign, coef, rest)) return true;
    if (bounded && ge0_with(pf, coef, poly_const(d, k), rest)) return true;
    return !whole && ge0_quotient(pf, plain, sign, coef, rest);
}

/* Takes from p a multiple of one known fact f >= 0 that cancels a term. */
static bool ge0_by_fact(Proof *pf, Poly p)
{
    Domain *d = pf->d;
    for (uint32_t i = 0; i < FACTS_MAX + pf->nlocal; i++) {
        if ((i < FACTS_MAX && i >= d->nge) || (pf->used >> i & 1u)) continue;
        Poly f = i < FACTS_MAX ? poly_now(d, d->ge[i]) : pf->local[i - FACTS_MAX];
        if (f.bad) continue;
        for (uint32_t j = 0; j < p.n; j++) {
            for (uint32_t k = 0; k < f.n; k++) {
                Term m;
                Atom room[DEGREE_MAX];
                int64_t have = p.terms[j].coef, take = f.terms[k].coef;
                if ((have < 0) != (take < 0) || f.terms[k].natoms == 0) continue;
                if (!mono_divides(&p.terms[j], &f.terms[k], &m, room)) continue;
                int64_t times = have < 0 ? (-have - take - 1) / -take : have / take;
                if (times == 0) continue;
                Poly by = term_poly(d, times, m.atoms, m.natoms);
                if (poly_interval(d, by).lo < 0) continue;
                pf->used |= 1u << i;
                bool ok = ge0(pf, raw_sub(d, p, raw_mul(d, by, f)));
                pf->used &= ~(1u << i);
                if (ok) return true;
            }
        }
    }
    return false;
}

/* g * x + k >= 0 where x + floor(k / g) is, since x is an integer: what remainders lose below g is nothing then. */
static Poly tightened(Domain *d, Poly p)
{
    int64_t g = poly_content(p, false);
    if (g <= 1) return p;
    Term *t = arena_array(d->arena, Term, p.n);
    for (uint32_t i = 0; i < p.n; i++) {
        t[i] = p.terms[i];
        t[i].coef = floor_div_by(t[i].coef, g);
    }
    return (Poly){t, p.n - (t[p.n - 1].coef == 0), false}; /* the constant term is last */
}

static bool ge0(Proof *pf, Poly p)
{
    if (p.bad || pf->steps == 0) return false;
    pf->steps--;
    p = tightened(pf->d, p);
    Interval range = poly_interval(pf->d, p);
    if (range.lo >= 0) return true;
    if (range.hi < 0 && range.hi != NO_LO) return false;
    Atom x = asks_both(pf->d, p);
    if (x == 0) x = highest_atom(pf->d, p, false);
    if (x == 0) return false;
    if (ge0_without(pf, p, x)) return true;
    return (pf->d->nge || pf->nlocal) && ge0_by_fact(pf, p);
}

bool prove_ge0(Domain *d, Poly p, uint32_t steps)
{
    static const Runs none;
    return prove_ge0_where(d, &none, p, steps);
}

bool prove_ge0_where(Domain *d, const Runs *runs, Poly p, uint32_t steps)
{
    if (p.bad) return false;
    Interval range = poly_interval(d, p);
    if (range.lo >= 0) return true;
    /* One basic term is what its interval says, unless a fact says more. */
    if (range.hi < 0 || (p.n == 1 && d->nge + runs->n == 0 && poly_level(d, p) == 0)) return false;
    DomScratch scratch = domain_scratch(d);
    Proof pf;
    pf.d = d;
    pf.steps = steps;
    pf.nlocal = runs->n;
    pf.used = 0;
    for (uint32_t i = 0; i < runs->n; i++) pf.local[i] = runs->more[i];
    bool ok = ge0(&pf, p);
    domain_release(d, scratch);
    return ok;
}

void runs_add(Domain *d, Runs *runs, Poly p)
{
    p = poly_now(d, p);
    for (uint32_t i = 0; i < runs->n; i++)
        if (poly_same(runs->more[i], p)) return;
    if (!p.bad && p.n && runs->n < sizeof runs->more / sizeof *runs->more) runs->more[runs->n++] = p;
}

int prove_sign(Domain *d, Poly p)
{
    if (prove_ge0(d, p, PROOF_STEPS)) return 1;
    return prove_ge0(d, raw_neg(d, p), PROOF_STEPS) ? -1 : 0;
}

bool domain_le(Domain *d, Poly a, Poly b)
{
    return prove_ge0(d, poly_sub(d, b, a), PROOF_STEPS);
}

bool domain_le_where(Domain *d, const Poly *holds, int n, Poly a, Poly b)
{
    Runs runs = {.n = 0};
    for (int i = 0; i < n; i++) runs_add(d, &runs, holds[i]);
    return prove_ge0_where(d, &runs, poly_sub(d, b, a), PROOF_STEPS);
}

bool domain_lt(Domain *d, Poly a, Poly b)
{
    return prove_ge0(d, raw_plus(d, poly_sub(d, b, a), -1), PROOF_STEPS);
}

bool domain_eq(Domain *d, Poly a, Poly b)
{
    Poly diff = poly_sub(d, a, b);
    int64_t k;
    if (diff.bad) return false;
    if (poly_is_const(diff, &k)) return k == 0;
    return prove_ge0(d, diff, PROOF_STEPS) && prove_ge0(d, raw_neg(d, diff), PROOF_STEPS);
}

/* ---- Multiples ---- */

/* Takes multiples of known multiples away from x where that cancels its terms. */
static Poly without_multiples(Domain *d, Poly divisor, Poly x)
{
    for (uint32_t i = 0; i < d->nmultiples && x.n; i++) {
        Poly f = poly_now(d, d->multiples[i].x), by = poly_now(d, d->multiples[i].divisor), unused;
        if (f.bad || f.n == 0 || by.bad || by.n == 0) continue;
        for (uint32_t j = 0; j < x.n; j++) {
            Term m;
            Atom room[DEGREE_MAX];
            if (x.terms[j].coef % f.terms[0].coef || !mono_divides(&x.terms[j], &f.terms[0], &m, room)) continue;
            Poly times = term_poly(d, x.terms[j].coef / f.terms[0].coef, m.atoms, m.natoms);
            Poly less = raw_sub(d, x, raw_mul(d, times, f));
            if (less.bad || less.n >= x.n || !poly_exact(d, raw_mul(d, times, by), divisor, &unused)) continue;
            x = less;
            break;
        }
    }
    return x;
}

bool prove_multiple(Domain *d, Poly divisor, Poly x)
{
    Poly q;
    if (poly_exact(d, x, divisor, &q)) return true;
    return d->nmultiples && poly_exact(d, without_multiples(d, divisor, x), divisor, &q);
}

bool domain_divides(Domain *d, int64_t m, Poly x)
{
    x = poly_now(d, x);
    if (x.bad) return false;
    if (poly_content(x, true) % m == 0) return true;
    return d->nmultiples && prove_multiple(d, poly_const(d, m), x);
}

/* ---- Extremes ---- */

typedef struct Search {
    Domain *d;
    uint32_t steps;
} Search;

static bool extreme(Search *s, Poly p, bool max, Poly *out);

static uint32_t varying_terms(Domain *d, Poly p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p.n; i++) n += (poly_depends(d, (Poly){&p.terms[i], 1, false}) & ~(unsigned)DEP_LAUNCH) != 0;
    return n;
}

/* Bound of coef * q + rest where q is a quotient and up tells which bound of q is wanted. */
static bool extreme_quotient(Search *s, const AtomInfo *q, Poly coef, Poly rest, bool up, Poly before, Poly *out)
{
    Domain *d = s->d;
    Poly num = poly_now(d, q->a), den = poly_now(d, q->b), c, e, n, m;
    if (!q->positive) return false;
    Poly left = coef, less = rest, rem;
    int64_t times;
    bool max = up == (prove_sign(d, coef) > 0);
    if (split_remainder(d, q, &left, &less, &rem, &times)) { /* the quotient goes in the next step */
        *out = raw_add(d, raw_add(d, raw_mul(d, left, raw_atom(d, q->self)), less),
                       remainder_bound(d, rem, times, max));
        return !out->bad;
    }
    /* coef = c * f, den = f * e: f * q lies in [r - f + 1, r] with r = floor(num / e). */
    Poly f = poly_common(d, coef, den, &c, &e);
    int64_t one;
    Poly related = POLY_BAD;
    if (!(poly_is_const(f, &one) && one == 1) && prove_sign(d, f) > 0) {
        Poly r = poly_div(d, num, e);
        if (!up && !q->exact) r = raw_plus(d, raw_sub(d, r, f), 1);
        related = raw_add(d, raw_mul(d, c, r), rest);
        /* It is the better one where the form is a remainder, x - q * den. */
        if (!related.bad && varying_terms(d, related) < varying_terms(d, before)) {
            *out = related;
            return true;
        }
    }
    bool fixed = (poly_depends(d, den) & ~(unsigned)DEP_LAUNCH) == 0;
    if (extreme(s, num, up, &n)) {
        bool ok = fixed;
        m = den;
        if (!fixed && prove_ge0(d, n, PROOF_STEPS) && prove_ge0(d, num, PROOF_STEPS)) {
            ok = extreme(s, den, !up, &m) && prove_ge0(d, raw_plus(d, m, -1), PROOF_STEPS);
        }
        if (ok) {
            *out = raw_add(d, raw_mul(d, coef, poly_div(d, n, m)), rest);
            return true;
        }
    }
    *out = related;
    return !related.bad;
}

static bool atom_extreme(Search *s, AtomInfo *info, bool up, Poly *out)
{
    Domain *d = s->d;
    int64_t k = up ? info->hi : info->lo;
    bool bounded = up ? k != NO_HI : k != NO_LO;
    switch ((AtomKind)info->kind) {
    case ATOM_INDEX: *out = up ? poly_now(d, info->b) : POLY_ZERO; return true;
    case ATOM_MIN:
    case ATOM_MAX: {
        Poly a, b;
        bool min = info->kind == ATOM_MIN;
        bool has_a = extreme(s, poly_now(d, info->a), up, &a), has_b = extreme(s, poly_now(d, info->b), up, &b);
        if (has_a && has_b) *out = min ? poly_min(d, a, b) : poly_max(d, a, b);
        else *out = has_a ? a : b;
        /* One bound is enough above a minimum and below a maximum. */
        return (has_a && has_b) || ((has_a || has_b) && min == up);
    }
    default: *out = bounded ? poly_const(d, k) : POLY_BAD; return bounded;
    }
}

/* coef * x + rest for a minimum or maximum x bounds from both sides what either of its two gives, together with the rest. That is the better
 * bound where one of them cancels what moves in the rest: min(n, a + c) - a. False where it does not. */
static bool extreme_either(Search *s, const AtomInfo *x, Poly coef, Poly rest, bool max, bool up, Poly *out)
{
    Domain *d = s->d;
    Poly of[2], found[2];
    uint32_t varying = varying_terms(d, rest);
    if ((x->kind == ATOM_MIN) != up) return false;
    of[0] = raw_add(d, raw_mul(d, coef, poly_now(d, x->a)), rest);
    of[1] = raw_add(d, raw_mul(d, coef, poly_now(d, x->b)), rest);
    if (of[0].bad || of[1].bad || (varying_terms(d, of[0]) >= varying && varying_terms(d, of[1]) >= varying)) return false;
    bool first = extreme(s, of[0], max, &found[0]), second = extreme(s, of[1], max, &found[1]);
    if (first && second) *out = max ? poly_min(d, found[0], found[1]) : poly_max(d, found[0], found[1]);
    else *out = found[!first];
    return first || second;
}

static bool extreme(Search *s, Poly p, bool max, Poly *out)
{
    Domain *d = s->d;
    for (;;) {
        if (p.bad) return false;
        Atom x = highest_atom(d, p, true);
        if (x == 0) break;
        if (s->steps == 0) return false;
        s->steps--;
        AtomInfo *info = atom_info(d, x);
        Poly coef, rest, value;
        poly_split(d, p, x, &coef, &rest);
        int sign = prove_sign(d, coef);
        if (sign == 0) return false;
        bool up = (sign > 0) == max, extremes = info->kind == ATOM_MIN || info->kind == ATOM_MAX;
        if (extremes && extreme_either(s, info, coef, rest, max, up, out)) return true;
        if (info->kind == ATOM_DIV) {
            if (!extreme_quotient(s, info, coef, rest, up, p, &p)) return false;
        } else {
            if (!atom_extreme(s, info, up, &value)) return false;
            p = raw_add(d, raw_mul(d, coef, value), rest);
        }
    }
    *out = p;
    return true;
}

bool domain_max(Domain *d, Poly p, Poly *out)
{
    return extreme(&(Search){d, EXTREME_STEPS}, poly_now(d, p), true, out);
}

bool domain_min(Domain *d, Poly p, Poly *out)
{
    return extreme(&(Search){d, EXTREME_STEPS}, poly_now(d, p), false, out);
}

Interval domain_interval(Domain *d, Poly p)
{
    Poly lo, hi;
    p = poly_now(d, p);
    Interval r = poly_interval(d, p), x;
    if (p.bad || poly_level(d, p) == 0) return r;
    DomScratch scratch = domain_scratch(d);
    if (domain_min(d, p, &lo) && (x = poly_interval(d, lo)).lo > r.lo) r.lo = x.lo;
    if (domain_max(d, p, &hi) && (x = poly_interval(d, hi)).hi < r.hi) r.hi = x.hi;
    domain_release(d, scratch);
    return r;
}
