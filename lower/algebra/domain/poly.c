/* Polynomials: arithmetic, and bringing forms up to date with the facts. */
#include <string.h>

#include "lower/algebra/domain/inside.h"

static bool coef_fits(int64_t k)
{
    return k >= -COEF_MAX && k <= COEF_MAX;
}

int mono_cmp(const Term *x, const Term *y)
{
    if (x->natoms != y->natoms || x->atoms != y->atoms) {
        uint8_t n = x->natoms < y->natoms ? x->natoms : y->natoms;
        for (uint8_t i = 0; i < n; i++) {
            if (x->atoms[i] != y->atoms[i]) return x->atoms[i] < y->atoms[i] ? -1 : 1;
        }
    }
    return y->natoms - x->natoms;
}

bool mono_divides(const Term *m, const Term *by, Term *quotient, Atom *room)
{
    uint8_t n = 0, j = 0;
    for (uint8_t i = 0; i < m->natoms; i++) {
        if (j < by->natoms && by->atoms[j] == m->atoms[i]) j++;
        else room[n++] = m->atoms[i];
    }
    quotient->atoms = room;
    quotient->natoms = n;
    return j == by->natoms;
}

/* What m has in common with t, in its place. */
static uint8_t mono_gcd(Atom *m, uint8_t nm, const Term *t)
{
    uint8_t n = 0;
    for (uint8_t i = 0, j = 0; i < nm && j < t->natoms;) {
        if (m[i] == t->atoms[j]) j++, m[n++] = m[i++];
        else if (m[i] < t->atoms[j]) i++;
        else j++;
    }
    return n;
}

uint8_t mono_common(Domain *d, Poly a, Poly b, int64_t lo, Atom *m)
{
    uint8_t n = 0;
    for (uint8_t i = 0; a.n && b.n && i < a.terms[0].natoms; i++)
        if (atom_info(d, a.terms[0].atoms[i])->lo >= lo) m[n++] = a.terms[0].atoms[i];
    for (uint32_t i = 1; i < a.n && n; i++) n = mono_gcd(m, n, &a.terms[i]);
    for (uint32_t i = 0; i < b.n && n; i++) n = mono_gcd(m, n, &b.terms[i]);
    return n;
}

Poly term_poly(Domain *d, int64_t coef, const Atom *atoms, uint8_t n)
{
    if (coef == 0) return POLY_ZERO;
    if (!coef_fits(coef)) return POLY_BAD;
    Atom *copy = NULL;
    if (n) {
        copy = arena_array(d->arena, Atom, n);
        memcpy(copy, atoms, n * sizeof *copy);
    }
    Term *t = arena_new(d->arena, Term);
    *t = (Term){coef, n, copy};
    return (Poly){t, 1, false};
}

Poly poly_const(Domain *d, int64_t k)
{
    return term_poly(d, k, NULL, 0);
}

Poly raw_atom(Domain *d, Atom x)
{
    return (Poly){&atom_info(d, x)->unit, 1, false};
}

Poly poly_atom(Domain *d, Atom x)
{
    return poly_now(d, raw_atom(d, x));
}

bool poly_is_const(Poly p, int64_t *k)
{
    if (p.bad || p.n > 1 || (p.n == 1 && p.terms[0].natoms)) return false;
    *k = p.n ? p.terms[0].coef : 0;
    return true;
}

Atom poly_plain(Poly p)
{
    return !p.bad && p.n == 1 && p.terms[0].natoms == 1 && p.terms[0].coef == 1 ? p.terms[0].atoms[0] : 0;
}

int64_t poly_constant_term(Poly p)
{
    return p.n && p.terms[p.n - 1].natoms == 0 ? p.terms[p.n - 1].coef : 0;
}

bool poly_same(Poly a, Poly b)
{
    if (a.bad || b.bad || a.n != b.n) return false;
    if (a.terms == b.terms) return true;
    for (uint32_t i = 0; i < a.n; i++) {
        if (a.terms[i].coef != b.terms[i].coef || mono_cmp(&a.terms[i], &b.terms[i]) != 0) return false;
    }
    return true;
}

bool poly_apart(Domain *d, Poly a, Poly b, int64_t *k)
{
    a = poly_now(d, a), b = poly_now(d, b);
    int64_t x = poly_constant_term(a), y = poly_constant_term(b);
    *k = x - y;
    a.n -= x != 0, b.n -= y != 0;
    return poly_same(a, b);
}

int64_t poly_content(Poly p, bool with_constant)
{
    int64_t g = 0;
    for (uint32_t i = 0; i < p.n; i++) {
        if (p.terms[i].natoms || with_constant) g = gcd_s64(g, p.terms[i].coef);
    }
    return g;
}

/* Room for terms that are written at once. */
static Term *room_for(Domain *d, uint32_t terms)
{
    return arena_grow(d->arena, NULL, 0, terms * sizeof(Term));
}

/* a + sign * b */
static Poly merge(Domain *d, Poly a, Poly b, int64_t sign)
{
    if (a.bad || b.bad) return POLY_BAD;
    if (b.n == 0) return a;
    if (a.n == 0 && sign > 0) return b;
    Term *sum = room_for(d, a.n + b.n);
    uint32_t n = 0, i = 0, j = 0;
    while (i < a.n || j < b.n) {
        int c = i == a.n ? 1 : j == b.n ? -1 : mono_cmp(&a.terms[i], &b.terms[j]);
        if (c < 0) {
            sum[n++] = a.terms[i++];
            continue;
        }
        sum[n] = b.terms[j];
        sum[n].coef = sign * b.terms[j++].coef;
        if (c == 0) sum[n].coef += a.terms[i++].coef;
        if (!coef_fits(sum[n].coef)) return POLY_BAD;
        if (sum[n].coef) n++;
    }
    if (n > TERMS_MAX) return POLY_BAD;
    sum = arena_grow(d->arena, sum, (a.n + b.n) * sizeof *sum, n * sizeof *sum); /* it has become shorter */
    return n ? (Poly){sum, n, false} : POLY_ZERO;
}

Poly raw_add(Domain *d, Poly a, Poly b)
{
    return merge(d, a, b, 1);
}

Poly raw_sub(Domain *d, Poly a, Poly b)
{
    return merge(d, a, b, -1);
}

Poly raw_scale(Domain *d, Poly a, int64_t k)
{
    if (a.bad || !coef_fits(k)) return POLY_BAD;
    if (k == 1) return a;
    if (k == 0 || a.n == 0) return POLY_ZERO;
    Term *t = room_for(d, a.n);
    for (uint32_t i = 0; i < a.n; i++) {
        t[i] = a.terms[i];
        if (!mul_s64(a.terms[i].coef, k, &t[i].coef) || !coef_fits(t[i].coef)) return POLY_BAD;
    }
    return (Poly){t, a.n, false};
}

Poly raw_neg(Domain *d, Poly a)
{
    return raw_scale(d, a, -1);
}

Poly raw_plus(Domain *d, Poly a, int64_t k)
{
    Term t = {.coef = k};
    if (a.bad || !coef_fits(k)) return POLY_BAD;
    if (a.n == 0) return poly_const(d, k);
    return k ? merge(d, a, (Poly){&t, 1, false}, 1) : a;
}

Poly raw_mul_term(Domain *d, Poly a, const Term *t)
{
    if (t->natoms == 0) return raw_scale(d, a, t->coef);
    if (a.bad) return POLY_BAD;
    Term *out = room_for(d, a.n);
    for (uint32_t i = 0; i < a.n; i++) {
        const Term *s = &a.terms[i];
        if (!mul_s64(s->coef, t->coef, &out[i].coef) || !coef_fits(out[i].coef)) return POLY_BAD;
        unsigned n = (unsigned)s->natoms + t->natoms;
        if (n > DEGREE_MAX) return POLY_BAD;
        out[i].natoms = (uint8_t)n;
        if (s->natoms == 0) {
            out[i].atoms = t->atoms;
            continue;
        }
        Atom *m = arena_array(d->arena, Atom, n);
        for (uint8_t k = 0, x = 0, y = 0; k < n; k++) {
            bool first = y == t->natoms || (x < s->natoms && s->atoms[x] <= t->atoms[y]);
            m[k] = first ? s->atoms[x++] : t->atoms[y++];
        }
        out[i].atoms = m;
    }
    return (Poly){out, a.n, false};
}

Poly raw_mul(Domain *d, Poly a, Poly b)
{
    if (a.bad || b.bad) return POLY_BAD;
    if (a.n < b.n) {
        Poly t = a;
        a = b;
        b = t;
    }
    if (b.n == 0) return POLY_ZERO;
    Poly sum = raw_mul_term(d, a, &b.terms[0]);
    for (uint32_t i = 1; i < b.n && !sum.bad; i++) sum = raw_add(d, sum, raw_mul_term(d, a, &b.terms[i]));
    return sum;
}

Poly poly_add(Domain *d, Poly a, Poly b)
{
    return raw_add(d, poly_now(d, a), poly_now(d, b));
}

Poly poly_sub(Domain *d, Poly a, Poly b)
{
    return raw_sub(d, poly_now(d, a), poly_now(d, b));
}

Poly poly_mul(Domain *d, Poly a, Poly b)
{
    return raw_mul(d, poly_now(d, a), poly_now(d, b));
}

/* Where it stands in the monomial; natoms: nowhere. */
static uint8_t atom_in(const Term *t, Atom x)
{
    uint8_t k = 0;
    while (k < t->natoms && t->atoms[k] != x) k++;
    return k;
}

void poly_split(Domain *d, Poly p, Atom x, Poly *coef, Poly *rest)
{
    uint32_t n = 0, left = 0;
    for (uint32_t i = 0; i < p.n; i++) n += atom_in(&p.terms[i], x) < p.terms[i].natoms;
    *coef = POLY_ZERO;
    *rest = p.bad ? POLY_ZERO : p;
    if (n == 0) return;
    Term *in = room_for(d, p.n), *out = in + n;
    *coef = (Poly){in, n, false};
    *rest = n < p.n ? (Poly){out, p.n - n, false} : POLY_ZERO;
    for (uint32_t i = 0; i < p.n; i++) {
        const Term *t = &p.terms[i];
        uint8_t k = atom_in(t, x);
        if (k == t->natoms) {
            out[left++] = *t;
            continue;
        }
        *in = (Term){t->coef, (uint8_t)(t->natoms - 1), NULL};
        if (t->natoms > 1) {
            Atom *less = arena_array(d->arena, Atom, t->natoms - 1u);
            for (uint8_t i2 = 0, j = 0; i2 < t->natoms; i2++) {
                if (i2 != k) less[j++] = t->atoms[i2];
            }
            in->atoms = less;
        }
        in++;
    }
    /* Dividing by one atom keeps the order, which multiplication keeps. */
}

bool poly_exact(Domain *d, Poly a, Poly b, Poly *quotient)
{
    if (a.bad || b.bad || b.n == 0) return false;
    Poly q = POLY_ZERO;
    for (uint32_t step = 0; a.n; step++) {
        Term t;
        Atom room[DEGREE_MAX];
        const Term *lead = &b.terms[0];
        if (step == TERMS_MAX || a.terms[0].coef % lead->coef != 0) return false;
        if (!mono_divides(&a.terms[0], lead, &t, room)) return false;
        Poly part = term_poly(d, a.terms[0].coef / lead->coef, t.atoms, t.natoms);
        a = raw_sub(d, a, raw_mul(d, part, b));
        q = raw_add(d, q, part);
        if (a.bad || q.bad) return false;
    }
    *quotient = q;
    return true;
}

Poly poly_common(Domain *d, Poly c, Poly den, Poly *cq, Poly *dq)
{
    if (poly_exact(d, c, den, cq)) {
        *dq = poly_const(d, 1);
        return den;
    }
    Atom m[DEGREE_MAX];
    uint8_t n = mono_common(d, den, c, 0, m);
    int64_t g = gcd_s64(poly_content(c, true), poly_content(den, true));
    Poly f = term_poly(d, g ? g : 1, m, n);
    if (!poly_exact(d, c, f, cq) || !poly_exact(d, den, f, dq)) {
        *cq = c;
        *dq = den;
        return poly_const(d, 1);
    }
    return f;
}

/* One of after < number <= upto. made: of indices and unknown values alone, into whose ranges nobody looks. */
static bool mentions(Domain *d, Poly p, Atom after, Atom upto, bool made, uint32_t *budget)
{
    FOR_ATOMS(p, x) {
        const AtomInfo *info = atom_info(d, x);
        bool derived = info->kind > ATOM_INDEX;
        if ((x > after && x <= upto && !(made && derived)) || (*budget)-- == 0) return true;
        if (derived && mentions(d, info->a, after, upto, made, budget)) return true;
        if (info->level && (derived || !made) && mentions(d, info->b, after, upto, made, budget)) return true;
    }
    return false;
}

bool poly_mentions(Domain *d, Poly p, Atom x)
{
    uint32_t budget = LOOK_MAX;
    return mentions(d, p, x - 1, x, false, &budget);
}

bool domain_made(Domain *d, Poly p, Atom after, Atom upto)
{
    uint32_t budget = LOOK_MAX;
    p = poly_now(d, p);
    return p.bad || mentions(d, p, after, upto, true, &budget);
}

/* ---- atoms replaced ---- */

Poly with_values(Domain *d, Poly p, AtomValue *of, void *context)
{
    Poly sum = p.bad ? POLY_BAD : POLY_ZERO;
    for (uint32_t i = 0; i < p.n && !sum.bad; i++) {
        Poly product = poly_const(d, p.terms[i].coef);
        for (uint8_t k = 0; k < p.terms[i].natoms && !product.bad; k++) product = raw_mul(d, product, of(d, p.terms[i].atoms[k], context));
        sum = raw_add(d, sum, product);
    }
    return sum;
}

static Poly derived(Domain *d, AtomKind kind, Poly a, Poly b)
{
    if (kind == ATOM_DIV) return poly_div(d, a, b);
    return kind == ATOM_MIN ? poly_min(d, a, b) : poly_max(d, a, b);
}

/* Brings `changed` and `now` up to date. */
static const AtomInfo *atom_now(Domain *d, Atom x)
{
    AtomInfo *info = atom_info(d, x);
    if (info->epoch == d->epoch) return info;
    info->epoch = d->epoch;
    if (info->kind < ATOM_INDEX) {
        info->changed = info->replaced;
        if (info->replaced) info->now = poly_now(d, info->now);
    } else if (info->kind > ATOM_INDEX) {
        Poly a = poly_now(d, info->a), b = poly_now(d, info->b);
        info->changed = !poly_same(a, info->a) || !poly_same(b, info->b);
        if (info->changed) {
            info->now = POLY_BAD; /* what folding it asks of facts that mention it */
            info->now = derived(d, (AtomKind)info->kind, a, b);
        }
    }
    d->kept++;
    return info;
}

static Poly value_now(Domain *d, Atom x, void *unused)
{
    (void)unused;
    const AtomInfo *info = atom_now(d, x);
    return info->changed ? info->now : raw_atom(d, x);
}

Poly poly_brought(Domain *d, Poly p)
{
    bool changed = false;
    FOR_ATOMS(p, x) changed = changed || atom_now(d, x)->changed;
    return changed ? with_values(d, p, value_now, NULL) : p;
}

typedef struct Values {
    const Atom *of;
    const Poly *value;
    int n;
    uint32_t budget; /* derived atoms looked into */
} Values;

static Poly value_given(Domain *d, Atom x, void *context)
{
    Values *v = context;
    for (int i = 0; i < v->n; i++)
        if (v->of[i] == x) return v->value[i];
    const AtomInfo *info = atom_info(d, x);
    AtomKind kind = (AtomKind)info->kind;
    if (kind < ATOM_DIV) return raw_atom(d, x);
    if (v->budget == 0) return POLY_BAD;
    v->budget--;
    Poly was_a = poly_now(d, info->a), was_b = poly_now(d, info->b);
    Poly a = with_values(d, was_a, value_given, v), b = with_values(d, was_b, value_given, v);
    if (a.bad || b.bad) return POLY_BAD;
    return poly_same(a, was_a) && poly_same(b, was_b) ? raw_atom(d, x) : derived(d, kind, a, b);
}

Poly domain_with(Domain *d, Poly p, Atom x, Poly value)
{
    p = poly_now(d, p);
    value = poly_now(d, value);
    return poly_mentions(d, p, x) ? with_values(d, p, value_given, &(Values){&x, &value, 1, LOOK_MAX}) : p;
}

Poly domain_rename(Domain *d, Poly p, const Atom *from, const Atom *to, int n)
{
    Poly *value = arena_array(d->arena, Poly, (size_t)n);
    for (int i = 0; i < n; i++) value[i] = raw_atom(d, to[i]);
    return n ? with_values(d, poly_now(d, p), value_given, &(Values){from, value, n, LOOK_MAX}) : p;
}
