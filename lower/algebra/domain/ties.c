/* What two boxes A(x) and B(y) that meet say of x and y together. Where starts move by multiples of a number, and no box is longer, they are
 * equal: that gives indices of B as forms of A's, one after the other. What holds for B, by conditions and as its indices have ranges, then
 * holds for A's indices as well. By all that, an index may be the same on both sides (j, i under j >= i meets i, j only where i = j), or
 * nothing be left. */
#include "lower/algebra/domain/inside.h"

enum { TIES_MAX = 8 };

typedef struct Ties {
    Domain *d;
    Atom index[TIES_MAX]; /* of B */
    Poly value[TIES_MAX]; /* by A's */
    int n;
    Runs holds;           /* of A's */
} Ties;

/* An index of B by those of A; bad: nothing is known of it. */
static Poly value_of(Domain *d, Atom x, void *context)
{
    const Ties *t = context;
    for (int i = 0; i < t->n; i++)
        if (t->index[i] == x) return t->value[i];
    return atom_info(d, x)->depends & VARIES ? POLY_BAD : raw_atom(d, x);
}

static void hold(Ties *t, Poly p)
{
    runs_add(t->d, &t->holds, with_values(t->d, poly_now(t->d, p), value_of, t));
}

/* Its start is a, which A's indices make: of B's one at most is not known yet. True: it is known now. */
static bool tie(Ties *t, Poly a, Poly b)
{
    Domain *d = t->d;
    Poly rest = POLY_ZERO, coef = POLY_ZERO, value;
    Atom x = 0;
    for (uint32_t i = 0; i < b.n; i++) {
        Poly one = {&b.terms[i], 1, false}, known = with_values(d, one, value_of, t);
        Atom of = b.terms[i].natoms == 1 ? b.terms[i].atoms[0] : 0;
        if (!known.bad) {
            rest = raw_add(d, rest, known);
        } else {
            if (x || of == 0 || atom_info(d, of)->kind != ATOM_INDEX) return false;
            x = of;
            coef = poly_const(d, b.terms[i].coef);
        }
    }
    a = raw_sub(d, a, rest);
    if (x == 0) {
        runs_add(d, &t->holds, a);
        runs_add(d, &t->holds, raw_neg(d, a));
        return false;
    }
    if (t->n == TIES_MAX || !poly_exact(d, a, coef, &value)) return false;
    t->index[t->n] = x;
    t->value[t->n++] = value;
    return true;
}

/* Do the two only meet where they start at one place? */
static bool equal_starts(Domain *d, const DomAxis *x)
{
    Poly a = poly_now(d, x->start[0]), b = poly_now(d, x->start[1]), am, ar, bm, br, ae, be;
    if (x->nagree || a.bad || b.bad || !domain_max(d, x->extent[0], &ae) || !domain_max(d, x->extent[1], &be)) return false;
    domain_split(d, a, VARIES, &am, &ar);
    domain_split(d, b, VARIES, &bm, &br);
    int64_t g = gcd_s64(gcd_s64(poly_content(am, true), poly_content(bm, true)), poly_content(raw_sub(d, ar, br), true));
    Poly step = poly_const(d, g);
    return g > 0 && prove_ge0(d, raw_sub(d, step, ae), PROOF_STEPS) && prove_ge0(d, raw_sub(d, step, be), PROOF_STEPS);
}

static bool holds(const Ties *t, Poly p)
{
    return prove_ge0_where(t->d, &t->holds, p, PROOF_STEPS);
}

void ties(Domain *d, const DomPair *p, DomAxis *axis, int *naxes, bool *never)
{
    Ties t = {.d = d};
    bool equal[DOM_AXES_MAX], more = true;
    for (int i = 0; i < p->naxes; i++) equal[i] = equal_starts(d, &p->axis[i]);
    while (more) {
        more = false;
        t.holds.n = 0;
        for (int i = 0; i < p->naxes; i++) more = (equal[i] && tie(&t, poly_now(d, p->axis[i].start[0]), poly_now(d, p->axis[i].start[1]))) || more;
    }
    for (int i = 0; i < p->nholds[0]; i++) runs_add(d, &t.holds, p->holds[0][i]);
    for (int i = 0; i < p->nholds[1]; i++) hold(&t, p->holds[1][i]);
    for (int i = 0; i < t.n; i++) {
        hold(&t, raw_atom(d, t.index[i]));
        hold(&t, raw_sub(d, atom_info(d, t.index[i])->b, raw_atom(d, t.index[i])));
    }
    for (uint32_t i = 0; i < t.holds.n; i++) *never = *never || holds(&t, raw_plus(d, raw_neg(d, t.holds.more[i]), -1));
    for (int i = 0; i < t.n && *naxes < DOM_AXES_MAX; i++) {
        Poly own = raw_atom(d, t.index[i]), ahead = raw_sub(d, t.value[i], own);
        if (ahead.n == 0 || (holds(&t, ahead) && holds(&t, raw_neg(d, ahead)))) axis[(*naxes)++] = domain_number(d, own, own);
    }
}
