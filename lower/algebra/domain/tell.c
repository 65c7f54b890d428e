/* Why boxes of different teams are not proved apart: in one sentence, about the first axis that somebody has written where they are not. */
#include <ctype.h>
#include <string.h>

#include "lower/algebra/domain/separation.h"

static const char *atom_text(const Separation *s, Atom x)
{
    const AtomInfo *info = atom_info(s->d, x);
    return info->kind == ATOM_INDEX ? info->name : domain_text(s->d, s->a, raw_atom(s->d, x));
}

/* Is it one size, which a `where` can bound? */
static bool is_name(const char *text)
{
    if (isdigit((unsigned char)*text)) return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == 0;
}

static Poly start_of(const Separation *s, const DomAxis *x, int side)
{
    return poly_now(s->d, x->start[side]);
}

/* The first atom of p that q has not. */
static Atom own_atom(Domain *d, Poly p, Poly q)
{
    FOR_ATOMS(p, x)
        if (!poly_mentions(d, q, x)) return x;
    return 0;
}

static const char *in_different_ways(const Separation *s, const DomAxis *x)
{
    Domain *d = s->d;
    const char *a = domain_text(d, s->a, x->start[0]), *b = domain_text(d, s->a, x->start[1]);
    if (poly_same(start_of(s, x, 0), start_of(s, x, 1)))
        return arena_printf(s->a, "by how much the start %s in %s moves with the team, what loops inside of it count decides", a, x->name);
    if (strcmp(a, b) != 0) return arena_printf(s->a, "the two starts in %s, %s and %s, follow the team in different ways", x->name, a, b);
    Atom own = own_atom(d, start_of(s, x, 0), start_of(s, x, 1));
    const char *name = own ? atom_text(s, own) : a;
    return arena_printf(s->a, "the two starts in %s are both written %s, but %s of the one is not %s of the other", x->name, a, name, name);
}

static bool of_team(const Separation *s, const Part *p)
{
    const AtomInfo *info = atom_info(s->d, s->number[p->number].atom);
    return info->kind == ATOM_INDEX && info->depends & DEP_TEAM;
}

/* The number of the team that moves least of those that are not known to move far enough. */
static const char *too_near(Separation *s, const Row *r, const Sum *sum)
{
    int least = -1;
    Poly far = POLY_BAD;
    for (int i = 0; i < sum->n; i++) {
        const Part *p = &sum->part[i];
        if (!of_team(s, p) || p->step.bad || (least >= 0 && !at_most(s, p->step, sum->part[least].step))) continue;
        Sum less = {.n = 0, .lo = sum->lo, .hi = sum->hi};
        for (int k = 0; k < sum->n; k++) {
            const Part *q = &sum->part[k];
            bool below = !of_team(s, q) || (!q->step.bad && at_most(s, q->step, p->step) && !(k > i && at_most(s, p->step, q->step)));
            if (k != i && below) less.part[less.n++] = *q;
        }
        Poly ab = reach_of(s, r, &less, -1, false), ba = reach_of(s, r, &less, -1, true);
        if (ab.bad || ba.bad || (at_most(s, ab, p->step) && at_most(s, ba, p->step))) continue;
        least = i;
        far = at_most(s, ab, p->step) ? ba : ab;
    }
    if (least < 0) return NULL;
    const char *step = domain_text(s->d, s->a, sum->part[least].step), *reach = domain_text(s->d, s->a, far);
    return arena_printf(s->a, "in %s the start moves by %s with %s, which is not known to be as far as the %s elements touched reach%s", r->axis->name,
                        step, atom_text(s, s->number[sum->part[least].number].atom), reach,
                        is_name(step) ? arena_printf(s->a, ": `where %s >= %s` would say so", step, reach) : "");
}

static const char *no_steps(Separation *s, const Row *r)
{
    Poly team, rest;
    domain_split(s->d, r->axis->start[0], DEP_TEAM, &team, &rest);
    return arena_printf(s->a, "the start %s in %s is not a sum of steps of the team's indices, nor is what one of them has known to end before the next begins",
                        domain_text(s->d, s->a, team), r->axis->name);
}

/* What the number moves the start by has no sign that is known. */
static const char *no_sign(Separation *s, const Row *r, const Part *p)
{
    Poly step, rest;
    Atom x = s->number[p->number].atom;
    poly_split(s->d, r->start[0], x, &step, &rest);
    const char *text = domain_text(s->d, s->a, step);
    if (!is_name(text)) return no_steps(s, r);
    return arena_printf(s->a, "in %s the start moves by %s with %s, which may be less than 0: `where %s >= 0` would say that it is not", r->axis->name,
                        text, atom_text(s, x), text);
}

/* A number of the team moves the two in ways of their own. */
static const char *tell_ways(Separation *s, const Row *r, const Sum *sum)
{
    bool alike = poly_same(r->start[0], r->start[1]), differ = !alike && (poly_depends(s->d, sum->rest[0]) | poly_depends(s->d, sum->rest[1])) & DEP_TEAM;
    for (int i = 0; i < sum->n; i++) differ |= of_team(s, &sum->part[i]) && !sum->part[i].alike;
    return differ && !r->axis->quiet ? in_different_ways(s, r->axis) : NULL;
}

static const char *tell_steps(Separation *s, const Row *r, const Sum *sum)
{
    unsigned depends = poly_depends(s->d, sum->rest[0]);
    for (int i = 0; i < sum->n; i++)
        if (of_team(s, &sum->part[i]) && sum->part[i].alike && sum->part[i].step.bad) return no_sign(s, r, &sum->part[i]);
    if (sum->lo.bad) return NULL;
    if (depends & DEP_TEAM) return depends & DEP_LOOP ? in_different_ways(s, r->axis) : no_steps(s, r);
    return too_near(s, r, sum);
}

/* Of an axis that means the same to those alone that agree in something, why it was left out. */
static const char *moved(Separation *s)
{
    for (int i = s->nrows; i-- > 0;) {
        const DomAxis *x = s->row[i].axis;
        for (int k = 0; x && x->name && k < x->nagree; k++)
            if (!all_same(s, raw_atom(s->d, x->agree[k]))) return arena_printf(s->a, "where %s lies changes with %s", x->name, atom_text(s, x->agree[k]));
    }
    return NULL;
}

static const char *data_start(const Separation *s)
{
    const DomPair *p = s->pair;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < p->naxes; i++)
            if (p->axis[i].name && p->axis[i].nagree == 0 && poly_depends(s->d, start_of(s, &p->axis[i], side)) & DEP_DATA)
                return arena_printf(s->a, "the start %s in %s is known only when the kernel runs", domain_text(s->d, s->a, p->axis[i].start[side]),
                                    p->axis[i].name);
    return NULL;
}

/* A quotient by what may be 0 is no number that moves by steps. */
static const char *unknown_divisor(const Separation *s)
{
    for (int i = 0; i < 2 * s->pair->naxes; i++) {
        const DomAxis *axis = &s->pair->axis[i / 2];
        Poly start = start_of(s, axis, i % 2);
        FOR_ATOMS(start, x) {
            const AtomInfo *q = atom_info(s->d, x);
            if (axis->name == NULL || q->kind != ATOM_DIV || q->positive || !(q->depends & VARIES)) continue;
            const char *by = domain_text(s->d, s->a, q->b);
            return arena_printf(s->a, "in %s the start is divided by %s, which is not known to be at least 1%s", axis->name, by,
                                is_name(by) ? arena_printf(s->a, ": `where %s >= 1` would say so", by) : "");
        }
    }
    return NULL;
}

static bool is_digit(Domain *d, Atom digit, Atom x)
{
    Poly body, rest;
    for (uint32_t i = 0; i < d->made.n && digit && digit != x; i++) {
        const Made *m = &d->made.v[i];
        if (m->index != digit) continue;
        domain_split(d, m->num, VARIES, &body, &rest);
        return m->kind != MADE_NUMBER && is_digit(d, poly_plain(body), x);
    }
    return digit && digit == x;
}

/* Of an index that is not known to be equal on both sides the digit that is not. */
static Atom digit_of(Separation *s, Atom x)
{
    Domain *d = s->d;
    for (int i = s->nrows; i-- > s->naxes;) {
        const Row *r = &s->row[i];
        if (r->axis || !poly_mentions(d, r->start[0], x)) continue;
        for (int k = 0; k < s->nnumbers; k++) {
            const Number *n = &s->number[k];
            if (n->atom != x && !n->same && poly_mentions(d, r->start[0], n->atom) && is_digit(d, n->atom, x)) return n->atom;
        }
    }
    return x;
}

/* It moves some start, by a number that others move as well. */
static const char *with_others(Separation *s, Atom x)
{
    for (int i = 0; i < s->naxes; i++) {
        const Row *r = &s->row[i];
        if (!r->axis->name || !agreed(s, r) || !poly_mentions(s->d, r->start[0], x)) continue;
        if (poly_depends(s->d, r->start[0]) & DEP_LOOP) return in_different_ways(s, r->axis);
        return arena_printf(s->a, "%s is divided by numbers that do not divide one another", atom_text(s, x));
    }
    return NULL;
}

const char *tell_together(Separation *s)
{
    Atom x = first_together(s);
    const char *why = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->nrows && why == NULL; i++) {
            const Row *r = &s->row[i];
            if (!r->axis || !r->axis->name || !agreed(s, r) || (pass && i < s->naxes)) continue; /* of which there is a second one */
            Sum sum = sum_of(s, r);
            why = pass ? tell_steps(s, r, &sum) : tell_ways(s, r, &sum);
        }
    }
    if (why == NULL) why = data_start(s);
    if (why == NULL) why = moved(s);
    if (why == NULL) why = unknown_divisor(s);
    Atom digit = digit_of(s, x);
    if (why == NULL && digit == x) why = with_others(s, x);
    if (why == NULL) return arena_printf(s->a, "teams with different %s touch the same elements: no start depends on it", atom_text(s, digit));
    return arena_printf(s->a, "teams with different %s are not separated: %s", atom_text(s, x), why);
}
