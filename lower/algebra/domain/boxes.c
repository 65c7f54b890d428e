/* Boxes that never overlap.
 *
 * Between teams: in each dimension the other indices are put at their extremes, which leaves the interval of starts
 * as team part + [least, greatest]. The team part is a sum of steps times digits. Digits of a team index t are
 * t % d1, t / d1 % (d2 / d1), .., t / dm for the divisors d1 | d2 | .. | dm by which it is divided anywhere in the
 * boxes; together they determine t. Sorted by step, a digit whose step is at least what the boxes and all smaller
 * digits span is separated, if all greater ones are: the greatest digit in which two teams differ then keeps them
 * apart. So is one whose differences keep the boxes apart whatever multiple of what the other steps have in common is added:
 * 2 * j in 3 * i + 2 * j, j < 3. If every digit of every team index is separated in some dimension, different teams never overlap.
 *
 * Where that fails, the other indices become digits as well (`free`): they need not be separated, but where they are,
 * what lies below them in steps is compared at equal values: (k * 132 + t) * 64 for t < 132 and any two k.
 *
 * An axis that means the same only to those that agree in some indices is looked at when their digits are separated:
 * then the teams that are left agree in them. What is data of one place (DEP_DATA alone) is one value for all.
 */
#include <ctype.h>
#include <string.h>

#include "lower/algebra/domain/inside.h"

enum { TEAMS_MAX = 8 + 3 /* indices of a pipeline, dimensions of a cluster */, FREE_MAX = 8, CHAIN_MAX = 6, DIGITS_MAX = 24, MULTIPLES_MAX = 1024 };

typedef struct Chain { /* one team index and the quotients of index + offset, by increasing divisor */
    Poly offset;
    Atom atom[CHAIN_MAX];
    Poly divisor[CHAIN_MAX];
    Poly factor[CHAIN_MAX]; /* divisor[i + 1] / divisor[i] */
    Poly width[CHAIN_MAX];  /* greatest difference of two values of digit i; bad: unknown */
    bool separated[CHAIN_MAX];
    int n;
    bool free; /* no team index */
} Chain;

typedef struct Digit {
    Chain *chain;
    int at;
    Poly step; /* >= 0 */
} Digit;

typedef struct Dimension {
    const DomAxis *axis;
    Poly team;             /* the common team part of both boxes' starts */
    Poly span_ab, span_ba; /* starts at least so far apart: A(t) before B(t'), and B before A */
} Dimension;

typedef struct Separation {
    Domain *d;
    Arena *a;
    Chain chains[TEAMS_MAX + FREE_MAX];
    int nchains;
    Runs runs; /* the loops around both */
    const char *why, *moves; /* moves: why an axis that some have to agree on was left out */
} Separation;

/* Least and greatest start of a box on one axis, and its extent at most. */
typedef struct Span {
    Poly lo, hi, extent;
    bool known;
} Span;

static const char *atom_text(Separation *s, Atom x)
{
    const AtomInfo *info = atom_info(s->d, x);
    return info->kind == ATOM_INDEX ? info->name : domain_text(s->d, s->a, raw_atom(s->d, x));
}

/* Adds `(x + offset) / divisor` to the chain if the divisors divide one another. Multiples of a divisor in the offset only add to
 * its quotient: of all offsets the one of the greatest divisor serves. */
static bool chain_add(Domain *d, Chain *c, Atom q, Poly offset, Poly divisor)
{
    int at = 0;
    Poly e;
    for (; at < c->n; at++) {
        if (c->atom[at] == q) return true;
        if (!poly_exact(d, divisor, c->divisor[at], &e)) break;
    }
    if (c->n == CHAIN_MAX) return false;
    if (at < c->n && !poly_exact(d, c->divisor[at], divisor, &e)) return false;
    if (!poly_exact(d, raw_sub(d, c->offset, offset), at < c->n ? divisor : c->divisor[at - 1], &e)) return false;
    if (at == c->n) c->offset = offset;
    for (int i = c->n; i > at; i--) {
        c->atom[i] = c->atom[i - 1];
        c->divisor[i] = c->divisor[i - 1];
    }
    c->atom[at] = q;
    c->divisor[at] = divisor;
    c->n++;
    return true;
}

static Chain *chain_of(Separation *s, Atom x)
{
    for (int c = 0; c < s->nchains; c++)
        if (s->chains[c].atom[0] == x) return &s->chains[c];
    return NULL;
}

/* p = index + offset, which is one value for all; 0: it is not. */
static Atom index_in(Domain *d, Poly p, Poly *offset)
{
    Atom x = 0;
    for (uint32_t i = 0; i < p.n; i++) {
        const Term *t = &p.terms[i];
        Atom first = t->natoms ? t->atoms[0] : 0;
        if ((poly_depends(d, (Poly){t, 1, false}) & ~(unsigned)(DEP_LAUNCH | DEP_DATA)) == 0) continue;
        if (x || t->coef != 1 || t->natoms != 1 || atom_info(d, first)->kind != ATOM_INDEX) return 0;
        x = first;
    }
    if (x) *offset = raw_sub(d, p, raw_atom(d, x));
    return x;
}

/* A chain of its own for every other index that p mentions, by itself or divided. */
static bool collect_free(Separation *s, Poly p)
{
    Domain *d = s->d;
    Poly offset;
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            Atom x = p.terms[i].atoms[k];
            const AtomInfo *info = atom_info(d, x);
            if (info->kind == ATOM_DIV) x = index_in(d, poly_now(d, info->a), &offset);
            if (x == 0 || atom_info(d, x)->kind != ATOM_INDEX) continue;
            if (chain_of(s, x)) continue;
            if (s->nchains == TEAMS_MAX + FREE_MAX) return false;
            s->chains[s->nchains++] = (Chain){.atom = {x}, .divisor = {poly_const(d, 1)}, .n = 1, .free = true};
        }
    }
    return true;
}

static bool collect_quotients(Separation *s, Poly p)
{
    Domain *d = s->d;
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            Atom q = p.terms[i].atoms[k];
            const AtomInfo *info = atom_info(d, q);
            if (info->kind != ATOM_DIV || !info->positive) continue;
            Poly offset, den = poly_now(d, info->b);
            Atom x = index_in(d, poly_now(d, info->a), &offset);
            Chain *c = x ? chain_of(s, x) : NULL;
            if (c == NULL || poly_depends(d, den) & ~(unsigned)DEP_LAUNCH || chain_add(d, c, q, offset, den)) continue;
            if (!poly_same(offset, c->offset)) continue; /* another number's quotient */
            s->why = arena_printf(s->a, "%s is divided by numbers that do not divide one another", atom_text(s, x));
            return false;
        }
    }
    return true;
}

static void chain_widths(Domain *d, Chain *c)
{
    const AtomInfo *team = atom_info(d, c->atom[0]);
    for (int i = 0; i < c->n; i++) {
        Poly w = POLY_BAD, last;
        if (i + 1 < c->n) {
            if (poly_exact(d, c->divisor[i + 1], c->divisor[i], &c->factor[i])) w = raw_plus(d, c->factor[i], -1);
        } else if (team->kind == ATOM_INDEX && poly_extreme(d, team->b, true, DEP_LAUNCH, &last)) {
            Poly first = poly_div(d, c->offset, c->divisor[i]);
            w = raw_sub(d, poly_div(d, raw_add(d, c->offset, last), c->divisor[i]), first);
        }
        c->width[i] = w;
    }
}

/* p = team part + the rest, which is the same for all. */
static void split_team(Domain *d, Poly p, Poly *team, Poly *rest)
{
    domain_split(d, p, VARIES, team, rest);
}

static bool le(const Separation *s, Poly a, Poly b)
{
    return prove_ge0_where(s->d, &s->runs, raw_sub(s->d, b, a), PROOF_STEPS);
}

static bool still_together(const Chain *c, int i)
{
    int64_t w;
    return !c->separated[i] && !(poly_is_const(c->width[i], &w) && w <= 0);
}

static bool agree_in(Separation *s, Atom x)
{
    const Chain *c = chain_of(s, x);
    for (int i = 0; c && i < c->n; i++)
        if (still_together(c, i)) c = NULL;
    return c != NULL;
}

/* Is p made of nothing but indices in which the teams that are left agree, and what a launch knows? */
static bool same_for_left(Separation *s, Poly p, int *fuel)
{
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            const AtomInfo *x = atom_info(s->d, p.terms[i].atoms[k]);
            if ((x->depends & ~(unsigned)DEP_LAUNCH) == 0) continue;
            bool derived = x->kind > ATOM_INDEX && --*fuel >= 0;
            if (derived ? !same_for_left(s, poly_now(s->d, x->a), fuel) || !same_for_left(s, poly_now(s->d, x->b), fuel)
                        : x->kind != ATOM_INDEX || !agree_in(s, x->self))
                return false;
        }
    }
    return true;
}

/* The team part as steps of digits that may differ; false where it is something else. */
static bool digits_of(Separation *s, Poly all, Digit *digits, int *n)
{
    Domain *d = s->d;
    Poly team = POLY_ZERO;
    int fuel = LOOK_MAX;
    *n = 0;
    for (uint32_t i = 0; i < all.n; i++) {
        Poly one = {&all.terms[i], 1, false};
        if (!same_for_left(s, one, &fuel)) team = raw_add(d, team, one);
    }
    for (int c = 0; c < s->nchains; c++) {
        Chain *chain = &s->chains[c];
        Poly carried = POLY_ZERO;
        for (int i = 0; i < chain->n; i++) {
            Poly coef;
            poly_split(d, team, chain->atom[i], &coef, &team);
            if (poly_depends(d, coef) & ~(unsigned)DEP_LAUNCH) return false;
            Poly step = raw_add(d, coef, carried);
            if (i + 1 < chain->n) carried = raw_mul(d, step, chain->factor[i]);
            if ((step.n == 0 && !step.bad) || !still_together(chain, i)) continue;
            bool bad = step.bad || carried.bad, up = !bad && le(s, POLY_ZERO, step), down = !bad && !up && le(s, step, POLY_ZERO);
            if (!(up || down) || *n == DIGITS_MAX) return false;
            digits[(*n)++] = (Digit){chain, i, down ? raw_neg(d, step) : step};
        }
    }
    return team.n == 0 && !team.bad;
}

/* The digit to be dealt with next: one whose step is at most every other's. */
static int least_digit(const Separation *s, const Digit *digits, int n)
{
    for (int i = 0; i < n; i++) {
        bool least = true;
        for (int j = 0; j < n && least; j++) least = j == i || le(s, digits[i].step, digits[j].step);
        if (least) return i;
    }
    return -1;
}

static bool number_of(Poly p, int64_t *k)
{
    return poly_is_const(p, k) && *k < INT64_MAX / 8 && *k > INT64_MIN / 8;
}

/* Team parts of A and B that differ by t and any multiple of m: is none of the differences one where the boxes meet? */
static bool misses(int64_t t, int64_t m, int64_t ab, int64_t ba)
{
    int64_t above = ba + floor_mod_s64(t - ba, m); /* the least one with A behind B */
    return m - above >= ab;
}

/* All other steps together move starts by multiples of a number. Modulo that the digit's difference is what counts: 2 * j in
 * 3 * i + 2 * j for j < 3, or r in 4 * i + r and 4 * i + 2 + r for r < 2. */
static bool alone_by_multiples(const Digit *g, const Digit *digits, int n, const Dimension *dim)
{
    int64_t step, width, all = 0, k, ab, ba;
    for (int i = 0; i < n; i++) {
        if (!number_of(digits[i].step, &k)) return false;
        if (&digits[i] != g) all = gcd_s64(all, k);
    }
    bool numbers = number_of(g->step, &step) && number_of(dim->span_ab, &ab) && number_of(dim->span_ba, &ba);
    if (all == 0 || !numbers || !number_of(g->chain->width[g->at], &width)) return false;
    for (int64_t i = 1, t = 0; i <= width; i++) {
        t = (t + step) % all;
        if (i > MULTIPLES_MAX || !misses(t, all, ab, ba) || !misses(-t, all, ab, ba)) return false;
    }
    return true;
}

/* Is it one size, which a `where` can bound? */
static bool is_name(const char *text)
{
    if (isdigit((unsigned char)*text)) return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == 0;
}

/* Nobody has written what stands in numbers. */
static bool tells(const Separation *s, const Dimension *dim)
{
    return s->why == NULL && dim->axis->name;
}

/* Of the digits that no dimension has separated yet; true: separated more. */
static bool separate_dimension(Separation *s, const Dimension *dim)
{
    Domain *d = s->d;
    Digit digits[DIGITS_MAX];
    Digit order[DIGITS_MAX]; /* by increasing step */
    int n, m = 0, run = 0;   /* from order[run] on all are separated */
    Poly ab = dim->span_ab, ba = dim->span_ba;
    if (!digits_of(s, dim->team, digits, &n)) {
        if (tells(s, dim)) {
            s->why = arena_printf(s->a, "the start %s in %s is not a sum of steps of the team's indices",
                                  domain_text(d, s->a, dim->team), dim->axis->name);
        }
        return false;
    }
    for (int i = 0; i < n; i++)
        if (alone_by_multiples(&digits[i], digits, n, dim)) return digits[i].chain->separated[digits[i].at] = true;
    while (n > 0) {
        int i = least_digit(s, digits, n);
        if (i < 0) {
            if (tells(s, dim)) {
                s->why = arena_printf(s->a, "the steps %s and %s in %s can't be compared",
                                      domain_text(d, s->a, digits[0].step), domain_text(d, s->a, digits[1].step),
                                      dim->axis->name);
            }
            return false;
        }
        Digit g = digits[i];
        digits[i] = digits[--n];
        Poly width = g.chain->width[g.at];
        order[m++] = g;
        bool over_ab = le(s, ab, g.step);
        if (!over_ab || !le(s, ba, g.step)) {
            run = m;
            Poly span = over_ab ? ba : ab;
            if (tells(s, dim) && !span.bad) {
                const char *step = domain_text(d, s->a, g.step), *reach = domain_text(d, s->a, span);
                s->why = arena_printf(s->a, "in %s the start moves by %s with %s, which is not known to be as far as the %s elements touched reach%s",
                                      dim->axis->name, step, atom_text(s, g.chain->atom[g.at]), reach,
                                      is_name(step) ? arena_printf(s->a, ": `where %s >= %s` would say so", step, reach) : "");
            }
        }
        Poly more = raw_mul(d, g.step, width);
        ab = raw_add(d, ab, more);
        ba = raw_add(d, ba, more);
    }
    for (int i = run; i < m; i++) order[i].chain->separated[order[i].at] = true;
    return run < m;
}

static Span span_of(Domain *d, const DomAxis *x, int side, unsigned keep)
{
    Span s = {POLY_BAD, POLY_BAD, POLY_BAD, false};
    Poly p = poly_now(d, x->start[side]);
    s.known = poly_extreme(d, p, false, keep, &s.lo) && poly_extreme(d, p, true, keep, &s.hi) &&
              domain_max(d, x->extent[side], &s.extent);
    return s;
}

/* x behind y, whatever the indices of either: x.lo >= y.hi + y.extent */
static bool behind(const Separation *s, const Span *x, const Span *y)
{
    return x->known && y->known && le(s, raw_add(s->d, y->hi, y->extent), x->lo);
}

/* Do x and y lie in different residues of a common modulus? `diff`: x.start - y.start with every part whose
 * coefficients are multiples of g left out. */
static bool residues_apart(const Separation *s, int64_t g, int64_t diff, Poly xe, Poly ye)
{
    if (g < 2) return false;
    diff -= floor_div_by(diff, g) * g;
    return le(s, ye, poly_const(s->d, diff)) && le(s, raw_plus(s->d, xe, diff), poly_const(s->d, g));
}

/* As above for starts whose indices differ: only what is the same for all cancels. */
static bool apart_by_residue(const Separation *s, const DomAxis *x)
{
    Domain *d = s->d;
    Poly ta, ra, tb, rb;
    split_team(d, poly_now(d, x->start[0]), &ta, &ra);
    split_team(d, poly_now(d, x->start[1]), &tb, &rb);
    Poly diff = raw_sub(d, ra, rb);
    if (ta.bad || tb.bad || diff.bad) return false;
    int64_t g = gcd_s64(gcd_s64(poly_content(ta, true), poly_content(tb, true)), poly_content(diff, false));
    return residues_apart(s, g, poly_constant_term(diff), poly_now(d, x->extent[0]), poly_now(d, x->extent[1]));
}

static const char *first_together(Separation *s)
{
    for (int c = 0; c < s->nchains; c++)
        for (int i = 0; i < s->chains[c].n && !s->chains[c].free; i++)
            if (still_together(&s->chains[c], i)) return atom_text(s, s->chains[c].atom[i]);
    return NULL;
}

static bool team_chains(Separation *s, const Atom *team, int nteam)
{
    if (nteam > TEAMS_MAX) {
        s->why = arena_printf(s->a, "they differ in %d indices, and no more than %d are told apart", nteam, TEAMS_MAX);
        return false;
    }
    for (int i = 0; i < nteam; i++) s->chains[s->nchains++] = (Chain){.atom = {team[i]}, .divisor = {poly_const(s->d, 1)}, .n = 1};
    return true;
}

/* The digits of the axes whose starts are known, with the other indices where `free`. */
static bool find_digits(Separation *s, Span span[][2], int n, bool free)
{
    for (int pass = free ? 0 : 1; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            const Poly p[4] = {span[i][0].lo, span[i][0].hi, span[i][1].lo, span[i][1].hi};
            for (int k = 0; k < 4 && span[i][0].known && span[i][1].known; k++)
                if (!(pass ? collect_quotients(s, p[k]) : collect_free(s, p[k]))) return false;
        }
    }
    return true;
}

/* Only where both boxes follow the digits in the same way. */
static bool dimension_of(Separation *s, const DomAxis *x, const Span *a, const Span *b, Dimension *out)
{
    Domain *d = s->d;
    Poly t, u, v, w, al, ah, bl, bh;
    split_team(d, a->lo, &t, &al);
    split_team(d, a->hi, &u, &ah);
    split_team(d, b->lo, &v, &bl);
    split_team(d, b->hi, &w, &bh);
    if (!poly_same(t, u) || !poly_same(t, v) || !poly_same(t, w)) return false;
    *out = (Dimension){x, t, raw_sub(d, raw_add(d, ah, a->extent), bl), raw_sub(d, raw_add(d, bh, b->extent), al)};
    return true;
}

/* The first atom of p that q has not. */
static Atom own_atom(Domain *d, Poly p, Poly q)
{
    for (uint32_t i = 0; i < p.n; i++)
        for (uint8_t k = 0; k < p.terms[i].natoms; k++)
            if (!poly_mentions(d, q, p.terms[i].atoms[k])) return p.terms[i].atoms[k];
    return 0;
}

static const char *in_different_ways(Separation *s, const DomAxis *x)
{
    Domain *d = s->d;
    const char *a = domain_text(d, s->a, x->start[0]), *b = domain_text(d, s->a, x->start[1]);
    if (poly_same(poly_now(d, x->start[0]), poly_now(d, x->start[1])))
        return arena_printf(s->a, "by how much the start %s in %s moves with the team, what loops inside of it count decides", a, x->name);
    if (strcmp(a, b) != 0)
        return arena_printf(s->a, "the two starts in %s, %s and %s, follow the team in different ways", x->name, a, b);
    Atom own = own_atom(d, poly_now(d, x->start[0]), poly_now(d, x->start[1]));
    const char *name = own ? atom_text(s, own) : a;
    return arena_printf(s->a, "the two starts in %s are both written %s, but %s of the one is not %s of the other", x->name, a, name, name);
}

/* Do the teams that are left agree in what the axis is counted by? */
static bool agreed(Separation *s, const DomAxis *x)
{
    for (int i = 0; i < x->nagree; i++) {
        if (agree_in(s, x->agree[i])) continue;
        if (x->name) s->moves = arena_printf(s->a, "where %s lies changes with %s", x->name, atom_text(s, x->agree[i]));
        return false;
    }
    return true;
}

/* Is every digit of the teams separated? `keep`: what stays in the starts instead of being put at its extremes. */
static bool separate(Separation *s, const DomPair *p, unsigned keep, bool free)
{
    Domain *d = s->d;
    Span span[DOM_AXES_MAX][2];
    Dimension dims[DOM_AXES_MAX];
    int ndims = 0;
    for (int i = 0; i < p->naxes; i++) {
        const DomAxis *x = &p->axis[i];
        bool same = poly_same(x->start[0], x->start[1]) && poly_same(x->extent[0], x->extent[1]);
        span[i][0] = span_of(d, x, 0, keep);
        span[i][1] = same ? span[i][0] : span_of(d, x, 1, keep);
    }
    if (!find_digits(s, span, p->naxes, free)) return false;
    for (int c = 0; c < s->nchains; c++) chain_widths(d, &s->chains[c]);
    for (int i = 0; i < p->naxes; i++) {
        if (!span[i][0].known || !span[i][1].known) continue;
        if (dimension_of(s, &p->axis[i], &span[i][0], &span[i][1], &dims[ndims])) ndims++;
        else if (s->why == NULL && !p->axis[i].quiet) s->why = in_different_ways(s, &p->axis[i]);
    }
    /* What one axis has separated need not be looked at on the others: the teams left agree in it. */
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < ndims; i++) more = (agreed(s, dims[i].axis) && separate_dimension(s, &dims[i])) || more;
    }
    return first_together(s) == NULL;
}

/* On some axis all of one box lies behind all of the other, or in other residues, whatever the indices are. */
static bool always_apart(const Separation *s, const DomPair *p)
{
    Domain *d = s->d;
    for (int i = 0; i < p->naxes; i++) {
        const DomAxis *x = &p->axis[i];
        if (x->nagree || (poly_same(x->start[0], x->start[1]) && poly_same(x->extent[0], x->extent[1]))) continue;
        Span a = span_of(d, x, 0, DEP_LAUNCH), b = span_of(d, x, 1, DEP_LAUNCH);
        if (behind(s, &a, &b) || behind(s, &b, &a) || apart_by_residue(s, x)) return true;
    }
    return false;
}

static const char *data_start(Separation *s, const DomPair *p)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < p->naxes; i++)
            if (p->axis[i].name && p->axis[i].nagree == 0 && poly_depends(s->d, poly_now(s->d, p->axis[i].start[side])) & DEP_DATA)
                return arena_printf(s->a, "the start %s in %s is known only when the kernel runs",
                                    domain_text(s->d, s->a, p->axis[i].start[side]), p->axis[i].name);
    return NULL;
}

/* A quotient by what may be 0 is no number that moves by steps. */
static const char *unknown_divisor(Separation *s, const DomPair *p)
{
    Domain *d = s->d;
    for (int i = 0; i < 2 * p->naxes; i++) {
        const DomAxis *axis = &p->axis[i / 2];
        Poly start = poly_now(d, axis->start[i % 2]);
        for (uint32_t t = 0; t < start.n && axis->name; t++) {
            for (uint8_t k = 0; k < start.terms[t].natoms; k++) {
                const AtomInfo *q = atom_info(d, start.terms[t].atoms[k]);
                if (q->kind != ATOM_DIV || q->positive || !(q->depends & VARIES)) continue;
                const char *by = domain_text(d, s->a, q->b);
                return arena_printf(s->a, "in %s the start is divided by %s, which is not known to be at least 1%s", axis->name, by,
                                    is_name(by) ? arena_printf(s->a, ": `where %s >= 1` would say so", by) : "");
            }
        }
    }
    return NULL;
}

/* Both are in loops, whose indices have values: a number of the launch is at least 1. */
static Separation separation(Domain *d, Arena *a, const DomPair *p)
{
    Separation s = {.d = d, .a = a};
    for (int i = 0; i < 2 * p->naxes; i++) {
        Poly start = poly_now(d, p->axis[i / 2].start[i % 2]);
        for (uint32_t t = 0; t < start.n; t++) {
            for (uint8_t k = 0; k < start.terms[t].natoms && s.runs.n < RUNS_MAX; k++) {
                const AtomInfo *info = atom_info(d, start.terms[t].atoms[k]);
                if (info->kind != ATOM_INDEX) continue;
                Poly more = poly_now(d, info->b);
                bool is_new = !more.bad && !(poly_depends(d, more) & ~(unsigned)DEP_LAUNCH);
                for (uint32_t n = 0; n < s.runs.n; n++) is_new = is_new && !poly_same(s.runs.more[n], more);
                if (is_new && poly_interval(d, more).lo < 0) s.runs.more[s.runs.n++] = more;
            }
        }
    }
    return s;
}

/* By what a pair that meets says of its indices: it never does, or only within one team. */
static bool meeting_apart(Domain *d, Arena *a, const DomPair *p)
{
    DomPair at, aligned;
    Separation s = separation(d, a, p);
    bool never = false;
    if (!pair_meets(d, a, &s.runs, p, &at, &aligned, &never)) return false;
    return never || always_apart(&s, &at) ||
           (team_chains(&s, p->team, p->nteam) && separate(&s, &aligned, DEP_LAUNCH | VARIES | DEP_DATA, true));
}

bool domain_apart_teams(Domain *d, Arena *a, const DomPair *p, const char **why)
{
    Separation s = separation(d, a, p), f;
    if (p->nteam == 0 || always_apart(&s, p)) return true;
    if (!team_chains(&s, p->team, p->nteam)) {
        *why = s.why;
        return false;
    }
    f = s;
    if (separate(&s, p, DEP_LAUNCH | DEP_TEAM, false)) return true;
    if (separate(&f, p, DEP_LAUNCH | DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA, true)) return true;
    const char *together = first_together(&s);
    if (meeting_apart(d, a, p)) return true;
    if (s.why == NULL) s.why = data_start(&s, p);
    if (s.why == NULL) s.why = s.moves;
    if (s.why == NULL) s.why = unknown_divisor(&s, p);
    if (together == NULL) *why = s.why; /* the digits themselves were not found */
    else if (s.why) *why = arena_printf(a, "teams with different %s are not separated: %s", together, s.why);
    else *why = arena_printf(a, "teams with different %s touch the same elements: no start depends on it", together);
    return false;
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
        if (residues_apart(&(Separation){.d = d}, poly_content(diff, false), poly_constant_term(diff), ae, be)) return true;
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
