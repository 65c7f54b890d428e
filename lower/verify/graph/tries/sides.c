/* Whether the runs saw both sides of each minimum and maximum that trip counts are made from: of `min(n, m)` turns some runs have n and
 * others m, and what the one shows says nothing of the other. Where a side is missing that a launch may have, choices get values from
 * both sides of the place where the two meet, or, of two that were chosen, each those of the other, and the runs are done again.
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"

enum { LESS = 1, GREATER = 2, NESTED = 8 };

static bool share_atom(const FormData *a, const FormData *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j < b->n; j++)
            if (a->t[i].atom == b->t[j].atom) return true;
    return false;
}

static void add_near(Verifier *v, Sides *s, int64_t k)
{
    if (!choice_among(s->near.v, s->near.n, k)) vec_push(v->arena, &s->near, k);
}

/* Values of choices that may be on the other side of 0 with d. */
static void look_around(Verifier *v, Sides *s, const FormData *d)
{
    for (uint32_t i = 0; i < v->choices.n; i++) {
        const Choice *c = &v->choices.v[i];
        int64_t scale, far;
        if (!share_atom(form_data(&v->f, c->of), d)) continue;
        if (!choice_scale(form_data(&v->f, c->of), d, &scale)) {
            for (uint32_t j = 0; j < c->n; j++) add_near(v, s, c->value[j]);
        } else if (sub_s64(0, d->k, &far)) {
            s->at = far / scale;
            s->clips = true;
            for (int64_t k = -1; k <= 1; k++) add_near(v, s, s->at + k);
        }
    }
}

static void met(Verifier *v, uint32_t op, Form a, Form b)
{
    int64_t p, q;
    bool trip = false;
    if (!form_is_const(&v->f, choice_resolve(v, a, true, &trip), &p) || !form_is_const(&v->f, choice_resolve(v, b, true, &trip), &q)) return;
    Sides *s = NULL;
    for (uint32_t i = 0; i < v->sides.n && s == NULL; i++)
        if (v->sides.v[i].a == a && v->sides.v[i].b == b) s = &v->sides.v[i];
    if (s == NULL) {
        vec_push(v->arena, &v->sides, ((Sides){.a = a, .b = b, .op = op}));
        s = &v->sides.v[v->sides.n - 1];
    }
    s->seen |= p < q ? LESS : p > q ? GREATER : 0;
    Form d = s->seen == (LESS | GREATER) ? 0 : form_add(&v->f, a, -1, b);
    if (d && !choice_drawn(v, d)) look_around(v, s, form_data(&v->f, d));
}

static void note(Verifier *v, uint32_t op, Form x, int nested)
{
    for (uint32_t i = 0; x && nested && i < form_data(&v->f, x)->n; i++) {
        FormAtom a = *atom_data(&v->f, form_data(&v->f, x)->t[i].atom);
        if (!atom_extreme(&a)) continue;
        met(v, op, a.a, a.b);
        note(v, op, a.a, nested - 1);
        note(v, op, a.b, nested - 1);
    }
}

void sides_note(Verifier *v, uint32_t op, Form count)
{
    if (!v->few) note(v, op, count, NESTED);
}

static bool far(const Verifier *v, Form x)
{
    int64_t k;
    return form_is_const(&v->f, x, &k) && (k >= INT32_MAX || k <= INT32_MIN);
}

/* A launch may have a side that no run had. A whole type's range clips nothing. */
static bool missing(Verifier *v, const Sides *s)
{
    Form d = form_add(&v->f, s->a, -1, s->b);
    if (far(v, s->a) || far(v, s->b) || (d && choice_drawn(v, d))) return false;
    bool less = d == 0 || form_data(&v->f, d)->lo < 0, greater = d == 0 || form_data(&v->f, d)->hi > 0;
    return (less && !(s->seen & LESS)) || (greater && !(s->seen & GREATER));
}

bool sides_more(Verifier *v)
{
    bool more = false;
    for (uint32_t i = 0; i < v->sides.n && !v->failed; i++) {
        const Sides *s = &v->sides.v[i];
        if (!missing(v, s)) continue;
        if (s->clips) more |= choice_clipped(v, s->op, s->at);
        for (uint32_t j = 0; j < s->near.n && !v->failed; j++) more |= choice_beside(v, s->near.v[j]);
    }
    return more && !v->failed;
}

void sides_check(Verifier *v)
{
    for (uint32_t i = 0; i < v->sides.n && !v->failed; i++)
        if (missing(v, &v->sides.v[i]))
            verify_refuse(v, E0660, v->sides.v[i].op, "the trip count is made from a minimum or maximum of which the runs that were tried show one side");
}
