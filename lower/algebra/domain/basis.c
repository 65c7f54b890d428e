/* The numbers that starts are sums of: indices, or what takes their place. Where starts go by x / n and x modulo n, x is n * q + r for two numbers
 * of their own, q and r < n; where they go by c / n and c modulo n for c = k * G + cta.x, c is a number, and cta.x is c - k * G. The normal form
 * does the rest: each quotient becomes one of the numbers, or is taken apart in the next step. What stands for an index is a row: its difference from
 * the index, which is 0. */
#include "lower/algebra/domain/separation.h"

enum { STEPS_MAX = 16 };

/* A quotient that varies, of body + rest: body is what of it varies. The divisor is a number of the launch; or an index is divided by what others say,
 * as the rows that the last group has. */
typedef struct Quotient {
    Atom atom;
    Poly body, rest, den;
} Quotient;

static Atom plain_index(Domain *d, Poly p)
{
    Atom x = poly_plain(p);
    return x && atom_info(d, x)->kind == ATOM_INDEX ? x : 0;
}

static bool quotient_in(Separation *s, Atom q, Quotient *out)
{
    Domain *d = s->d;
    const AtomInfo *info = atom_info(d, q);
    if (info->kind != ATOM_DIV || !(info->depends & VARIES)) return false;
    *out = (Quotient){.atom = q, .den = poly_now(d, info->b)};
    domain_split(d, poly_now(d, info->a), VARIES, &out->body, &out->rest);
    if (out->body.n == 0 || out->body.bad) return false;
    if (poly_depends(d, out->den) & ~(unsigned)DEP_LAUNCH) {
        Atom x = plain_index(d, out->body);
        if (x == 0 || out->rest.n || poly_depends(d, out->den) & DEP_DATA || poly_mentions(d, out->den, x)) return false;
    }
    return info->positive || at_most(s, poly_const(d, 1), out->den);
}

/* (132 * k + x) / 16 is written 8 * k + (4 * k + x) / 16. Of p = coef * (body / den + more) + .. that is what was divided. */
static Poly undivided(Domain *d, Poly p, const Quotient *q)
{
    Poly coef, rest, more, body = q->body;
    poly_split(d, p, q->atom, &coef, &rest);
    for (uint32_t i = 0; i < rest.n; i++) {
        const Term *t = &rest.terms[i];
        if (t->natoms == 1 && poly_mentions(d, q->body, t->atoms[0]) && poly_exact(d, (Poly){t, 1, false}, coef, &more))
            body = raw_add(d, body, raw_mul(d, q->den, more));
    }
    return body;
}

/* The index that stands for it, of so many values. */
static Atom made_index(Domain *d, Made m, Poly count, const char *name)
{
    for (uint32_t i = 0; i < d->made.n; i++) {
        const Made *of = &d->made.v[i];
        if (of->kind == m.kind && poly_same(poly_now(d, of->num), m.num) && poly_same(poly_now(d, of->den), m.den)) return of->index;
    }
    m.index = domain_index(d, name, POLY_ZERO, count, poly_depends(d, m.num));
    vec_push(d->arena, &d->made, m);
    return m.index;
}

typedef struct Change { /* what stands for an index, and for the quotient that was found */
    Atom index, quotient;
    Poly as, is;
} Change;

static Poly changed(Domain *d, Atom x, void *context)
{
    const Change *c = context;
    if (x == c->index) return c->as;
    return x == c->quotient ? c->is : domain_with(d, raw_atom(d, x), c->index, c->as);
}

static void change(Separation *s, const Change *c)
{
    Domain *d = s->d;
    Poly one = poly_const(d, 1), left = raw_sub(d, raw_atom(d, c->index), c->as);
    for (int i = s->naxes; i < s->nrows; i++)
        for (int side = 0; side < 2; side++) s->row[i].start[side] = with_values(d, s->row[i].start[side], changed, (void *)c);
    s->row[s->nrows++] = (Row){.start = {left, left}, .extent = {one, one}, .size = one};
}

/* An index that moves the body by steps of 1 is the number less the others. */
static bool by_number(Separation *s, Poly body, Quotient *q)
{
    Domain *d = s->d;
    Poly lo, hi;
    if (!domain_min(d, body, &lo)) return false;
    for (uint32_t i = 0; i < body.n; i++) {
        const Term *t = &body.terms[i];
        Poly one = {t, 1, false};
        if (t->natoms != 1 || (t->coef != 1 && t->coef != -1) || atom_info(d, t->atoms[0])->kind != ATOM_INDEX) continue;
        if (moved_by(d, raw_sub(d, body, one), t->atoms[0])) continue;
        Poly count = domain_max(d, body, &hi) ? raw_plus(d, raw_sub(d, hi, lo), 1)
                                                                  : raw_atom(d, domain_opaque(d, "count", 1, INT64_MAX, 1, 0, DEP_DATA));
        Atom number = made_index(d, (Made){.num = body, .kind = MADE_NUMBER}, count, domain_text(d, d->arena, body));
        Poly is = raw_add(d, raw_atom(d, number), lo);
        Poly as = raw_scale(d, raw_sub(d, is, raw_sub(d, body, one)), t->coef);
        change(s, &(Change){t->atoms[0], q->atom, as, poly_div(d, raw_add(d, domain_with(d, q->body, t->atoms[0], as), q->rest), q->den)});
        return true;
    }
    return false;
}

/* x + rest = den * (quotient + its least value) + remainder */
static void by_digits(Separation *s, const Quotient *q)
{
    Domain *d = s->d;
    Atom x = poly_plain(q->body);
    const AtomInfo *info = atom_info(d, x);
    Poly num = raw_add(d, q->body, q->rest), first = poly_div(d, q->rest, q->den);
    Poly count = raw_plus(d, raw_sub(d, poly_div(d, raw_add(d, q->rest, poly_now(d, info->b)), q->den), first), 1);
    const char *name = info->name;
    Atom r = made_index(d, (Made){num, q->den, MADE_REMAINDER, 0}, q->den, name);
    Atom n = made_index(d, (Made){num, q->den, MADE_QUOTIENT, 0}, count, domain_text(d, d->arena, raw_atom(d, q->atom)));
    Poly is = raw_add(d, raw_atom(d, n), first);
    Poly as = raw_sub(d, raw_add(d, raw_mul(d, q->den, is), raw_atom(d, r)), q->rest);
    change(s, &(Change){x, q->atom, as, is});
}

/* Of the quotients one that says a number that more than one of them says; else of several indices; else that of the greatest divisor, as those of
 * its divisors are then of the remainder. */
static bool next_change(Separation *s)
{
    Domain *d = s->d;
    Quotient q, best = {0};
    Poly unused;
    for (int whole = 1; whole >= 0; whole--) {
        for (int i = 2 * s->naxes; i < 2 * s->nrows; i++) {
            Poly p = s->row[i / 2].start[i % 2];
            FOR_ATOMS(p, x) {
                if (!quotient_in(s, x, &q)) continue;
                if (plain_index(d, q.body)) {
                    if (best.atom == 0 || poly_exact(d, q.den, best.den, &unused)) best = q;
                    continue;
                }
                Poly body = undivided(d, p, &q);
                if (whole && poly_same(body, q.body)) continue;
                if (by_number(s, body, &q)) return true;
            }
        }
    }
    if (best.atom) by_digits(s, &best);
    return best.atom != 0;
}

/* Rows stay as they are; what stands for an index comes into a second one of each. */
void basis_find(Separation *s)
{
    int n = s->nrows;
    for (int i = 0; i < n; i++) s->row[s->nrows++] = s->row[i];
    s->naxes = n;
    int steps = 0;
    while (steps < STEPS_MAX && next_change(s)) steps++;
    if (steps) return;
    s->nrows = n;
    s->naxes = 0;
}
