/* Atoms and facts. */
#include "lower/algebra/domain/inside.h"

DomScratch domain_scratch(const Domain *d)
{
    return (DomScratch){arena_mark(d->arena), d->kept};
}

void domain_release(Domain *d, DomScratch s)
{
    if (d->kept == s.kept) arena_release(d->arena, s.mark);
}

Domain *domain_new(Arena *a)
{
    Domain *d = arena_new(a, Domain);
    d->arena = a;
    return d;
}

/* ---- Atoms ---- */

Atom atom_add(Domain *d, AtomKind kind, const char *name, unsigned depends)
{
    if (d->natoms % ATOM_BLOCK == 0) vec_push(d->arena, &d->blocks, arena_array(d->arena, AtomInfo, ATOM_BLOCK));
    Atom x = ++d->natoms;
    AtomInfo *info = atom_info(d, x);
    *info = (AtomInfo){.kind = (uint8_t)kind,
                       .depends = depends,
                       .epoch = d->epoch,
                       .self = x,
                       .name = name,
                       .lo = NO_LO,
                       .hi = NO_HI};
    info->unit = (Term){1, 1, &info->self};
    d->kept++;
    return x;
}

Atom domain_param(Domain *d, const char *name, uint32_t sym, int64_t lo, int64_t hi)
{
    Atom x = atom_add(d, ATOM_PARAM, name, DEP_LAUNCH);
    AtomInfo *info = atom_info(d, x);
    info->sym = sym;
    info->lo = lo;
    info->hi = hi;
    return x;
}

unsigned poly_depends(Domain *d, Poly p)
{
    unsigned all = 0;
    FOR_ATOMS(p, x) all |= atom_info(d, x)->depends;
    return all;
}

bool domain_mentions(Domain *d, Poly p, Atom x)
{
    return poly_mentions(d, poly_now(d, p), x);
}

unsigned domain_depends(Domain *d, Poly p)
{
    p = poly_now(d, p);
    return p.bad ? DEP_LAUNCH | DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA : poly_depends(d, p);
}

void domain_split(Domain *d, Poly p, unsigned depends, Poly *on, Poly *rest)
{
    p = poly_now(d, p);
    *on = *rest = p.bad ? POLY_BAD : POLY_ZERO;
    for (uint32_t i = 0; i < p.n && !p.bad; i++) {
        Poly one = {&p.terms[i], 1, false};
        Poly *to = poly_depends(d, one) & depends ? on : rest;
        *to = raw_add(d, *to, one);
    }
}

unsigned poly_level(Domain *d, Poly p)
{
    unsigned level = 0;
    FOR_ATOMS(p, x) {
        unsigned l = atom_info(d, x)->level;
        if (l > level) level = l;
    }
    return level;
}

static uint8_t level_above(Domain *d, Poly a, Poly b)
{
    unsigned x = poly_level(d, a), y = poly_level(d, b);
    if (y > x) x = y;
    return (uint8_t)(x < UINT8_MAX ? x + 1 : x);
}

Atom domain_index(Domain *d, const char *name, Poly from, Poly count, unsigned depends)
{
    Atom x = atom_add(d, ATOM_INDEX, name, depends);
    AtomInfo *info = atom_info(d, x);
    info->a = from;
    info->b = raw_plus(d, poly_now(d, count), -1);
    info->level = level_above(d, POLY_ZERO, info->b);
    info->lo = 0;
    info->hi = poly_interval(d, info->b).hi;
    return x;
}

void domain_at_most(Domain *d, Atom index, int64_t hi)
{
    AtomInfo *info = atom_info(d, index);
    if (hi < info->hi) info->hi = hi;
}

static int64_t ceil_bound(int64_t lo, int64_t offset, int64_t scale)
{
    int64_t x;
    return lo == NO_LO || !add_s64(lo, -offset, &x) || x == INT64_MIN ? NO_LO : -floor_div_by(-x, scale);
}

static int64_t floor_bound(int64_t hi, int64_t offset, int64_t scale)
{
    int64_t x;
    return hi == NO_HI || !add_s64(hi, -offset, &x) ? NO_HI : floor_div_by(x, scale);
}

static void replace(Domain *d, Atom x, Poly by)
{
    AtomInfo *info = atom_info(d, x);
    info->replaced = true;
    info->now = by;
    d->nreplaced++;
    d->epoch++;
}

/* x = scale * child + offset, child >= lo, <= hi. */
static void replace_scaled(Domain *d, Atom x, Poly scale, int64_t offset, int64_t lo, int64_t hi)
{
    const AtomInfo *parent = atom_info(d, x);
    Atom c = atom_add(d, (AtomKind)parent->kind, parent->name, parent->depends);
    AtomInfo *child = atom_info(d, c);
    child->parent = x;
    child->lo = lo;
    child->hi = hi;
    child->a = scale;
    child->b = poly_const(d, offset);
    replace(d, x, raw_plus(d, raw_mul(d, scale, raw_atom(d, c)), offset));
}

Atom domain_opaque(Domain *d, const char *name, int64_t lo, int64_t hi, int64_t mod, int64_t rem, unsigned depends)
{
    Atom x = atom_add(d, ATOM_OPAQUE, name, depends);
    AtomInfo *info = atom_info(d, x);
    info->lo = lo;
    info->hi = hi;
    if (mod > 1 && mod <= COEF_MAX) {
        rem -= floor_div_by(rem, mod) * mod;
        replace_scaled(d, x, poly_const(d, mod), rem, ceil_bound(lo, rem, mod), floor_bound(hi, rem, mod));
    }
    return x;
}

static uint32_t hash_poly(uint32_t h, Poly p)
{
    for (uint32_t i = 0; i < p.n; i++) {
        uint64_t k = (uint64_t)p.terms[i].coef;
        h = (h ^ (uint32_t)(k ^ (k >> 32))) * 0x9e3779b1u;
        for (uint8_t j = 0; j < p.terms[i].natoms; j++) h = (h ^ p.terms[i].atoms[j]) * 0x85ebca6bu;
        h ^= h >> 15;
    }
    return h;
}

/* Of the operands' ranges that of the atom. */
static Interval derived_range(AtomKind kind, Interval a, Interval b)
{
    if (kind == ATOM_DIV) return interval_div(a, b);
    return interval_of(kind == ATOM_MIN ? LX_MIN : LX_MAX, a, b);
}

Atom atom_derived(Domain *d, AtomKind kind, Poly a, Poly b, bool positive)
{
    uint32_t h = hash_poly(hash_poly((uint32_t)kind + 1, a) + 1, b);
    Atom *bucket = &d->bucket[(h ^ (h >> 11)) % ATOM_BUCKETS];
    for (Atom x = *bucket; x; x = atom_info(d, x)->next) {
        const AtomInfo *info = atom_info(d, x);
        if (info->hash == h && info->kind == kind && info->positive == positive && poly_same(info->a, a) &&
            poly_same(info->b, b)) {
            return x;
        }
    }
    unsigned level = level_above(d, a, b);
    if (level > LEVEL_MAX || d->nderived == DERIVED_MAX) return 0;
    d->nderived++;
    Atom x = atom_add(d, kind, NULL, poly_depends(d, a) | poly_depends(d, b));
    AtomInfo *info = atom_info(d, x);
    info->a = a;
    info->b = b;
    info->level = (uint8_t)level;
    info->hash = h;
    info->positive = positive;
    info->next = *bucket;
    *bucket = x;
    if (kind == ATOM_DIV && !positive) return x;
    Interval range = derived_range(kind, poly_interval(d, a), poly_interval(d, b));
    info->lo = range.lo;
    info->hi = range.hi;
    info->exact = kind == ATOM_DIV && d->nmultiples && prove_multiple(d, b, a);
    return x;
}

/* ---- Facts ---- */

static bool keep_ge(Domain *d, Poly p)
{
    if (d->nge == FACTS_MAX) return false;
    d->ge[d->nge++] = p;
    return true;
}

static bool keep_multiple(Domain *d, Poly divisor, Poly x)
{
    if (d->nmultiples == FACTS_MAX) return false;
    d->multiples[d->nmultiples++] = (Multiple){divisor, x};
    return true;
}

static bool replaceable(Domain *d, Atom x)
{
    return atom_info(d, x)->kind <= ATOM_PARAM && d->nreplaced < REPLACED_MAX;
}

/* p == coef * x + k with one atom x. */
static Atom single_atom(Poly p, int64_t *coef, int64_t *k)
{
    *k = poly_constant_term(p);
    if (p.bad || p.n != (*k ? 2u : 1u) || p.terms[0].natoms != 1) return 0;
    *coef = p.terms[0].coef;
    return p.terms[0].atoms[0];
}

bool domain_assume_le(Domain *d, Poly a, Poly b)
{
    Poly p = poly_sub(d, b, a);
    int64_t coef, k;
    if (p.bad) return false;
    if (poly_is_const(p, &k)) return k >= 0;
    Atom x = single_atom(p, &coef, &k);
    if (x == 0) return keep_ge(d, p);
    AtomInfo *info = atom_info(d, x);
    if (info->kind > ATOM_PARAM && !keep_ge(d, p)) return false; /* the atom may be replaced by another */
    if (coef > 0) {
        int64_t lo = -floor_div_by(k, coef);
        if (lo > info->lo) info->lo = lo;
    } else {
        int64_t hi = floor_div_by(k, -coef);
        if (hi < info->hi) info->hi = hi;
    }
    return true;
}

/* x with coef * x + k == 0 modulo m; coef and m have no common factor, m < 2^31. */
static int64_t solve_linear(int64_t coef, int64_t k, int64_t m)
{
    int64_t r0 = m, r1 = coef % m, s0 = 0, s1 = 1; /* r = s * coef modulo m */
    if (r1 < 0) r1 += m;
    while (r1) {
        int64_t q = r0 / r1, r = r0 - q * r1, s = s0 - q * s1;
        r0 = r1;
        r1 = r;
        s0 = s1;
        s1 = s;
    }
    int64_t x = (s0 % m) * (-(k % m)) % m;
    return x < 0 ? x + m : x;
}

static bool assume_divides_const(Domain *d, int64_t m, Poly x)
{
    Poly q = POLY_ZERO; /* the part that m divides anyway */
    for (uint32_t i = 0; i < x.n; i++) {
        if (x.terms[i].coef % m == 0) q = raw_add(d, q, (Poly){&x.terms[i], 1, false});
    }
    x = raw_sub(d, x, q);
    if (x.n == 0) return true;
    int64_t g = gcd_s64(poly_content(x, true), m), coef, k; /* g < m */
    if (g > 1) poly_exact(d, x, poly_const(d, g), &x);
    m /= g;
    Atom a = single_atom(x, &coef, &k);
    if (a == 0 || !replaceable(d, a) || m > INT32_MAX) return keep_multiple(d, poly_const(d, m), x);
    if (gcd_s64(coef, m) != 1) return false; /* holds for no value */
    const AtomInfo *info = atom_info(d, a);
    int64_t r = solve_linear(coef, k, m);
    if (r != 0 && info->lo >= 1) r -= m; /* so that the new atom is >= 1 too */
    replace_scaled(d, a, poly_const(d, m), r, ceil_bound(info->lo, r, m), floor_bound(info->hi, r, m));
    return true;
}

bool domain_assume_divides(Domain *d, Poly divisor, Poly x)
{
    int64_t m;
    divisor = poly_now(d, divisor);
    x = poly_now(d, x);
    if (divisor.bad || x.bad || divisor.n == 0) return false;
    if (x.n == 0) return true;
    if (poly_is_const(divisor, &m)) return assume_divides_const(d, m < 0 ? -m : m, x);
    Poly xq, dq;
    poly_common(d, x, divisor, &xq, &dq);
    if (poly_is_const(dq, &m)) return assume_divides_const(d, m < 0 ? -m : m, xq);
    int64_t coef, k;
    Atom a = single_atom(xq, &coef, &k);
    bool fits = a && k == 0 && (coef == 1 || coef == -1) && replaceable(d, a) && atom_info(d, a)->lo >= 0 &&
                !poly_mentions(d, dq, a) && poly_depends(d, dq) == DEP_LAUNCH &&
                prove_ge0(d, raw_plus(d, dq, -1), PROOF_STEPS);
    if (!fits) return keep_multiple(d, divisor, x);
    const AtomInfo *info = atom_info(d, a);
    replace_scaled(d, a, dq, 0, info->lo >= 1 ? 1 : 0, info->hi);
    return true;
}

/* p = +-x + rest == 0 with x replaceable by the rest: prefers one whose bounds the rest is known to keep, then the
 * latest. */
static Atom solvable(Domain *d, Poly p, Poly *by)
{
    Atom best = 0;
    bool best_bounded = false;
    for (uint32_t i = 0; i < p.n; i++) {
        const Term *t = &p.terms[i];
        if (t->natoms != 1 || (t->coef != 1 && t->coef != -1) || !replaceable(d, t->atoms[0])) continue;
        Atom x = t->atoms[0];
        Poly rest = raw_sub(d, p, (Poly){t, 1, false});
        if (t->coef == 1) rest = raw_neg(d, rest);
        if ((poly_depends(d, rest) & ~(unsigned)DEP_LAUNCH) || poly_mentions(d, rest, x)) continue;
        const AtomInfo *info = atom_info(d, x);
        bool bounded = (info->lo == NO_LO || prove_ge0(d, raw_plus(d, rest, -info->lo), PROOF_STEPS)) &&
                       info->hi == NO_HI;
        if (best && best_bounded && !bounded) continue;
        best = x;
        best_bounded = bounded;
        *by = rest;
    }
    return best;
}

/* k * (x % m) == r (k, r constants) says that m divides x - r / k. */
static bool assume_remainder(Domain *d, Poly p, bool *used)
{
    for (uint32_t i = 0; i < p.n; i++) {
        const Term *t = &p.terms[i];
        if (t->natoms == 0) continue;
        Atom q = t->atoms[t->natoms - 1];
        const AtomInfo *info = atom_info(d, q);
        if (info->kind != ATOM_DIV || !info->positive) continue;
        Poly den = poly_now(d, info->b), num = poly_now(d, info->a), coef, rest, factor;
        int64_t k;
        poly_split(d, p, q, &coef, &rest);
        if (!poly_exact(d, coef, den, &factor) || !poly_is_const(factor, &k) || k == 0) continue;
        /* p = k * (den * q - num) + off, so num = off / k modulo den */
        Poly off = raw_add(d, rest, raw_scale(d, num, k));
        int64_t r;
        if (!poly_is_const(off, &r) || r % k != 0) continue;
        *used = true;
        return domain_assume_divides(d, den, raw_plus(d, num, -(r / k)));
    }
    return false;
}

static bool assume_zero(Domain *d, Poly p, unsigned depth)
{
    int64_t k, g = poly_content(p, true);
    Poly by;
    if (p.bad) return false;
    if (poly_is_const(p, &k)) return k == 0;
    if (g > 1) poly_exact(d, p, poly_const(d, g), &p);
    bool used = false, ok = assume_remainder(d, p, &used);
    if (used) return ok;
    Atom x = solvable(d, p, &by);
    if (x) {
        const AtomInfo *info = atom_info(d, x);
        Poly above = info->lo == NO_LO ? POLY_ZERO : raw_plus(d, by, -info->lo);
        Poly below = info->hi == NO_HI ? POLY_ZERO : raw_plus(d, raw_neg(d, by), info->hi);
        replace(d, x, by);
        /* Now that x is gone: what proved it may be a fact about x. */
        if (above.n && !prove_ge0(d, above, PROOF_STEPS)) domain_assume_le(d, POLY_ZERO, above);
        if (below.n) domain_assume_le(d, POLY_ZERO, below);
        return true;
    }
    /* 2 * A == 3 * B: A is a multiple of 3. */
    for (uint32_t i = 0; i < p.n && depth < 4; i++) {
        const Term *t = &p.terms[i];
        Poly one = {t, 1, false}, rest = raw_sub(d, p, one);
        g = poly_content(rest, true);
        if (t->natoms == 1 && replaceable(d, t->atoms[0]) && g > 1) {
            uint32_t before = d->nreplaced;
            if (!domain_assume_divides(d, poly_const(d, g), one)) return false;
            if (d->nreplaced > before) return assume_zero(d, poly_now(d, p), depth + 1);
        }
    }
    bool above = keep_ge(d, p), below = keep_ge(d, raw_neg(d, p));
    return above && below;
}

bool domain_assume_eq(Domain *d, Poly a, Poly b)
{
    return assume_zero(d, poly_sub(d, a, b), 0);
}
