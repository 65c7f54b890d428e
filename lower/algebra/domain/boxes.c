/* Boxes that never overlap.
 *
 * Between teams: in each dimension the other indices are put at their extremes, which leaves the interval of starts
 * as team part + [least, greatest]. The team part is a sum of steps times digits. Digits of a team index t are
 * t % d1, t / d1 % (d2 / d1), .., t / dm for the divisors d1 | d2 | .. | dm by which it is divided anywhere in the
 * boxes; together they determine t. Sorted by step, a digit whose step is at least what the boxes and all smaller
 * digits span is separated, if all greater ones are: the greatest digit in which two teams differ then keeps them
 * apart. If every digit of every team index is separated in some dimension, different teams never overlap.
 *
 * Where that fails, the other indices become digits as well (`free`): they need not be separated, but where they are,
 * what lies below them in steps is compared at equal values: (k * 132 + t) * 64 for t < 132 and any two k.
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/algebra/domain/inside.h"

enum { TEAMS_MAX = 8, FREE_MAX = 8, CHAIN_MAX = 6, DIGITS_MAX = 24 };

typedef struct Chain { /* one team index and its quotients, by increasing divisor */
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
    int number;
    Poly team;             /* the common team part of both boxes' starts */
    Poly span_ab, span_ba; /* starts at least so far apart: A(t) before B(t'), and B before A */
} Dimension;

typedef struct Separation {
    Domain *d;
    Arena *a;
    Chain chains[TEAMS_MAX + FREE_MAX];
    int nchains;
    const char *why;
} Separation;

/* Least and greatest start of a box in one dimension, and its extent at most. */
typedef struct Span {
    Poly lo, hi, extent;
    bool known;
} Span;

static const char *atom_text(Separation *s, Atom x)
{
    return domain_text(s->d, s->a, raw_atom(s->d, x));
}

/* Adds `x / divisor` to the chain if the divisors divide one another. */
static bool chain_add(Domain *d, Chain *c, Atom q, Poly divisor)
{
    int at = 0;
    Poly e;
    for (; at < c->n; at++) {
        if (c->atom[at] == q) return true;
        if (!poly_exact(d, divisor, c->divisor[at], &e)) break;
    }
    if (c->n == CHAIN_MAX || at == 0) return false;
    if (at < c->n && !poly_exact(d, c->divisor[at], divisor, &e)) return false;
    for (int i = c->n; i > at; i--) {
        c->atom[i] = c->atom[i - 1];
        c->divisor[i] = c->divisor[i - 1];
    }
    c->atom[at] = q;
    c->divisor[at] = divisor;
    c->n++;
    return true;
}

/* A chain of its own for every other index that p mentions, by itself or divided. */
static bool collect_free(Separation *s, Poly p)
{
    Domain *d = s->d;
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            Atom x = p.terms[i].atoms[k];
            const AtomInfo *info = atom_info(d, x);
            if (info->kind == ATOM_DIV) {
                Poly num = poly_now(d, info->a);
                if (num.n != 1 || num.terms[0].natoms != 1 || num.terms[0].coef != 1) continue;
                x = num.terms[0].atoms[0];
            }
            if (atom_info(d, x)->kind != ATOM_INDEX) continue;
            int c = 0;
            while (c < s->nchains && s->chains[c].atom[0] != x) c++;
            if (c < s->nchains) continue;
            if (c == TEAMS_MAX + FREE_MAX) return false;
            s->chains[c] = (Chain){.atom = {x}, .divisor = {poly_const(d, 1)}, .n = 1, .free = true};
            s->nchains++;
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
            for (int c = 0; c < s->nchains; c++) {
                if (!poly_same(poly_now(d, info->a), raw_atom(d, s->chains[c].atom[0]))) continue;
                Poly den = poly_now(d, info->b);
                if (poly_depends(d, den) & ~(unsigned)DEP_LAUNCH) continue;
                if (!chain_add(d, &s->chains[c], q, den)) {
                    s->why = arena_printf(s->a, "%s is divided by numbers that do not divide one another",
                                          atom_text(s, s->chains[c].atom[0]));
                    return false;
                }
            }
        }
    }
    return true;
}

static void chain_widths(Domain *d, Chain *c)
{
    const AtomInfo *team = atom_info(d, c->atom[0]);
    for (int i = 0; i < c->n; i++) {
        Poly w = POLY_BAD, lo, hi;
        if (i + 1 < c->n) {
            if (poly_exact(d, c->divisor[i + 1], c->divisor[i], &c->factor[i])) w = raw_plus(d, c->factor[i], -1);
        } else if (team->kind == ATOM_INDEX && poly_extreme(d, team->b, true, DEP_LAUNCH, &hi) &&
                   poly_extreme(d, team->a, false, DEP_LAUNCH, &lo)) {
            w = raw_sub(d, poly_div(d, hi, c->divisor[i]), poly_div(d, lo, c->divisor[i]));
        }
        c->width[i] = w;
    }
}

/* p = team part + the rest, which the launch determines. */
static void split_team(Domain *d, Poly p, Poly *team, Poly *rest)
{
    *team = *rest = p.bad ? POLY_BAD : POLY_ZERO;
    for (uint32_t i = 0; i < p.n; i++) {
        Poly one = {&p.terms[i], 1, false};
        Poly *to = poly_depends(d, one) & ~(unsigned)DEP_LAUNCH ? team : rest;
        *to = raw_add(d, *to, one);
    }
}

/* The team part as steps of digits; false where it is something else. */
static bool digits_of(Separation *s, Poly team, Digit *digits, int *n)
{
    Domain *d = s->d;
    *n = 0;
    for (int c = 0; c < s->nchains; c++) {
        Chain *chain = &s->chains[c];
        Poly carried = POLY_ZERO;
        for (int i = 0; i < chain->n; i++) {
            Poly coef;
            poly_split(d, team, chain->atom[i], &coef, &team);
            if (poly_depends(d, coef) & ~(unsigned)DEP_LAUNCH) return false;
            Poly step = raw_add(d, coef, carried);
            if (i + 1 < chain->n) carried = raw_mul(d, step, chain->factor[i]);
            if (step.n == 0 && !step.bad) continue;
            int sign = step.bad || carried.bad ? 0 : prove_sign(d, step);
            if (sign == 0 || *n == DIGITS_MAX) return false;
            digits[(*n)++] = (Digit){chain, i, sign < 0 ? raw_neg(d, step) : step};
        }
    }
    return team.n == 0 && !team.bad;
}

static bool le(Domain *d, Poly a, Poly b)
{
    return prove_ge0(d, raw_sub(d, b, a), PROOF_STEPS);
}

/* The digit to be dealt with next: one whose step is at most every other's. */
static int least_digit(Domain *d, const Digit *digits, int n)
{
    for (int i = 0; i < n; i++) {
        bool least = true;
        for (int j = 0; j < n && least; j++) least = j == i || le(d, digits[i].step, digits[j].step);
        if (least) return i;
    }
    return -1;
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
        if (s->why == NULL) {
            s->why = arena_printf(s->a, "the start %s in dimension %d is not a sum of steps of the team's indices",
                                  domain_text(d, s->a, dim->team), dim->number);
        }
        return false;
    }
    while (n > 0) {
        int i = least_digit(d, digits, n);
        if (i < 0) {
            if (s->why == NULL) {
                s->why = arena_printf(s->a, "the steps %s and %s in dimension %d can't be compared",
                                      domain_text(d, s->a, digits[0].step), domain_text(d, s->a, digits[1].step),
                                      dim->number);
            }
            return false;
        }
        Digit g = digits[i];
        digits[i] = digits[--n];
        Poly width = g.chain->width[g.at];
        int64_t w;
        if (g.chain->separated[g.at] || (poly_is_const(width, &w) && w <= 0)) continue;
        order[m++] = g;
        bool over_ab = le(d, ab, g.step);
        if (!over_ab || !le(d, ba, g.step)) {
            run = m;
            Poly span = over_ab ? ba : ab;
            if (s->why == NULL && !span.bad) {
                s->why = arena_printf(s->a,
                                      "in dimension %d the start moves by %s with %s, which is not known to be as far "
                                      "as the %s elements touched reach",
                                      dim->number, domain_text(d, s->a, g.step), atom_text(s, g.chain->atom[g.at]),
                                      domain_text(d, s->a, span));
            }
        }
        Poly more = raw_mul(d, g.step, width);
        ab = raw_add(d, ab, more);
        ba = raw_add(d, ba, more);
    }
    for (int i = run; i < m; i++) order[i].chain->separated[order[i].at] = true;
    return run < m;
}

static Span span_of(Domain *d, const DomBox *box, int dim, unsigned keep)
{
    Span s = {POLY_BAD, POLY_BAD, POLY_BAD, false};
    Poly p = poly_now(d, box->start[dim]);
    s.known = poly_extreme(d, p, false, keep, &s.lo) && poly_extreme(d, p, true, keep, &s.hi) &&
              domain_max(d, box->extent[dim], &s.extent);
    return s;
}

/* x behind y, whatever the indices of either: x.lo >= y.hi + y.extent */
static bool behind(Domain *d, const Span *x, const Span *y)
{
    return x->known && y->known && le(d, raw_add(d, y->hi, y->extent), x->lo);
}

/* Do x and y lie in different residues of a common modulus? `diff`: x.start - y.start with every part whose
 * coefficients are multiples of g left out. */
static bool residues_apart(Domain *d, int64_t g, int64_t diff, Poly xe, Poly ye)
{
    if (g < 2) return false;
    diff -= floor_div_by(diff, g) * g;
    return le(d, ye, poly_const(d, diff)) && le(d, raw_plus(d, xe, diff), poly_const(d, g));
}

/* As above for starts whose indices differ: only what the launch determines cancels. */
static bool apart_by_residue(Domain *d, const DomBox *A, const DomBox *B, int dim)
{
    Poly ta, ra, tb, rb;
    split_team(d, poly_now(d, A->start[dim]), &ta, &ra);
    split_team(d, poly_now(d, B->start[dim]), &tb, &rb);
    Poly diff = raw_sub(d, ra, rb);
    if (ta.bad || tb.bad || diff.bad) return false;
    int64_t g = gcd_s64(gcd_s64(poly_content(ta, true), poly_content(tb, true)), poly_content(diff, false));
    return residues_apart(d, g, poly_constant_term(diff), poly_now(d, A->extent[dim]), poly_now(d, B->extent[dim]));
}

static const char *first_together(Separation *s)
{
    for (int c = 0; c < s->nchains; c++) {
        const Chain *chain = &s->chains[c];
        for (int i = 0; i < chain->n && !chain->free; i++) {
            int64_t w;
            bool fixed = poly_is_const(chain->width[i], &w) && w <= 0;
            if (!chain->separated[i] && !fixed) return atom_text(s, chain->atom[i]);
        }
    }
    return NULL;
}

static bool team_chains(Separation *s, const Atom *team, int nteam)
{
    s->why = "an index that differs between teams is not a plain index";
    if (nteam > TEAMS_MAX) return false;
    for (int i = 0; i < nteam; i++) {
        Poly p = poly_atom(s->d, team[i]);
        int64_t k;
        if (poly_is_const(p, &k)) continue;
        if (p.n != 1 || p.terms[0].natoms != 1 || p.terms[0].coef != 1) return false;
        s->chains[s->nchains++] = (Chain){.atom = {p.terms[0].atoms[0]}, .divisor = {poly_const(s->d, 1)}, .n = 1};
    }
    s->why = NULL;
    return true;
}

/* The digits of the dimensions whose starts are known, with the other indices where `free`. */
static bool find_digits(Separation *s, const Span *sa, const Span *sb, int rank, bool free)
{
    for (int pass = free ? 0 : 1; pass < 2; pass++) {
        for (int i = 0; i < rank; i++) {
            const Poly p[4] = {sa[i].lo, sa[i].hi, sb[i].lo, sb[i].hi};
            for (int k = 0; k < 4 && sa[i].known && sb[i].known; k++)
                if (!(pass ? collect_quotients(s, p[k]) : collect_free(s, p[k]))) return false;
        }
    }
    for (int c = 0; c < s->nchains; c++) chain_widths(s->d, &s->chains[c]);
    return true;
}

/* Only where both boxes follow the digits in the same way. */
static bool dimension_of(Separation *s, const Span *a, const Span *b, int number, Dimension *out)
{
    Domain *d = s->d;
    Poly t, u, al, ah, bl, bh;
    split_team(d, a->lo, &t, &al);
    split_team(d, a->hi, &u, &ah);
    bool agree = poly_same(t, u);
    split_team(d, b->lo, &u, &bl);
    agree = agree && poly_same(t, u);
    split_team(d, b->hi, &u, &bh);
    if (!agree || !poly_same(t, u)) return false;
    *out = (Dimension){number, t, raw_sub(d, raw_add(d, ah, a->extent), bl), raw_sub(d, raw_add(d, bh, b->extent), al)};
    return true;
}

/* Is every digit of the teams separated? `keep`: what stays in the starts instead of being put at its extremes. */
static bool separate(Separation *s, const DomBox *A, const DomBox *B, unsigned keep, bool free)
{
    Domain *d = s->d;
    Span sa[MAP_RANK_MAX], sb[MAP_RANK_MAX];
    Dimension dims[MAP_RANK_MAX];
    int rank = A->rank < B->rank ? A->rank : B->rank, ndims = 0;
    for (int i = 0; i < rank; i++) {
        bool same = poly_same(A->start[i], B->start[i]) && poly_same(A->extent[i], B->extent[i]);
        sa[i] = span_of(d, A, i, keep);
        sb[i] = same ? sa[i] : span_of(d, B, i, keep);
    }
    if (!find_digits(s, sa, sb, rank, free)) return false;
    for (int i = 0; i < rank; i++) {
        if (!sa[i].known || !sb[i].known) continue;
        if (dimension_of(s, &sa[i], &sb[i], i, &dims[ndims])) ndims++;
        else if (s->why == NULL)
            s->why = arena_printf(s->a, "the two starts in dimension %d, %s and %s, follow the team in different ways",
                                  i, domain_text(d, s->a, A->start[i]), domain_text(d, s->a, B->start[i]));
    }
    /* What one dimension has separated need not be looked at in the others: the teams left agree in it. */
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < ndims; i++) more = separate_dimension(s, &dims[i]) || more;
    }
    return first_together(s) == NULL;
}

/* In some dimension all of one box lies behind all of the other, or in other residues, whatever the indices are. */
static bool always_apart(Domain *d, const DomBox *A, const DomBox *B)
{
    int rank = A->rank < B->rank ? A->rank : B->rank;
    for (int i = 0; i < rank; i++) {
        if (poly_same(A->start[i], B->start[i]) && poly_same(A->extent[i], B->extent[i])) continue;
        Span x = span_of(d, A, i, DEP_LAUNCH), y = span_of(d, B, i, DEP_LAUNCH);
        if (behind(d, &x, &y) || behind(d, &y, &x) || apart_by_residue(d, A, B, i)) return true;
    }
    return false;
}

static const char *data_start(Separation *s, const DomBox *box)
{
    for (int i = 0; i < box->rank; i++)
        if (poly_depends(s->d, poly_now(s->d, box->start[i])) & DEP_DATA)
            return arena_printf(s->a, "the start %s in dimension %d is known only when the kernel runs",
                                domain_text(s->d, s->a, box->start[i]), i);
    return NULL;
}

bool domain_disjoint_teams(Domain *d, Arena *a, const DomBox *A, const DomBox *B, const Atom *team, int nteam,
                           const char **why)
{
    if (nteam == 0 || always_apart(d, A, B)) return true;
    Separation s = {.d = d, .a = a}, f;
    if (!team_chains(&s, team, nteam)) {
        *why = s.why;
        return false;
    }
    f = s;
    if (separate(&s, A, B, DEP_LAUNCH | DEP_TEAM, false)) return true;
    if (separate(&f, A, B, DEP_LAUNCH | DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA, true)) return true;
    const char *together = first_together(&s);
    if (s.why == NULL) s.why = data_start(&s, A);
    if (s.why == NULL) s.why = data_start(&s, B);
    if (together == NULL) *why = s.why; /* the digits themselves were not found */
    else if (s.why) *why = arena_printf(a, "teams with different %s are not separated: %s", together, s.why);
    else *why = arena_printf(a, "teams with different %s touch the same elements: no start depends on it", together);
    return false;
}

bool domain_disjoint(Domain *d, const DomBox *A, const DomBox *B)
{
    int rank = A->rank < B->rank ? A->rank : B->rank;
    for (int i = 0; i < rank; i++) {
        Poly ae = poly_now(d, A->extent[i]), be = poly_now(d, B->extent[i]);
        Poly diff = poly_sub(d, A->start[i], B->start[i]);
        if (prove_ge0(d, raw_sub(d, diff, be), PROOF_STEPS)) return true;
        if (prove_ge0(d, raw_sub(d, raw_neg(d, diff), ae), PROOF_STEPS)) return true;
        if (diff.bad) continue;
        if (residues_apart(d, poly_content(diff, false), poly_constant_term(diff), ae, be)) return true;
    }
    return false;
}
