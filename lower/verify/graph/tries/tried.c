/* Trip counts that have been tried already. Choices that follow another one by patterns may come out as before: a run is
 * made by the values of its choices, in the order in which it meets them, so equal values make an equal graph. What a run
 * would meet is foretold from one that is remembered: as long as both have the same values, they meet the same.
 */
#include <string.h>

#include "lower/verify/graph/tries/tries.h"

enum { REMEMBERED = 64 };

static bool same_choice(const Choice *a, const Choice *b)
{
    return a->of == b->of && a->op == b->op && a->owner == b->owner && a->turn == b->turn && a->n == b->n &&
           a->value == b->value;
}

static bool as_then(Verifier *v, const Tried *then)
{
    if (v->choices.n > then->n) return false;
    uint32_t *at = arena_array(&v->run, uint32_t, then->n);
    for (uint32_t i = 0; i < then->n; i++) {
        const Choice *c = &then->all[i];
        if (i < v->choices.n) {
            if (!same_choice(&v->choices.v[i], c)) return false;
            at[i] = v->choices.v[i].at;
        } else {
            at[i] = c->owner == UINT32_MAX ? 0 : choice_following(v, c, &then->all[c->owner], at[c->owner]);
        }
        if (c->value[at[i] % c->n] != c->value[c->at % c->n]) return false;
    }
    return true;
}

void tried_remember(Verifier *v)
{
    uint32_t n = v->choices.n, i = 0;
    while (i < n && v->choices.v[i].owner == UINT32_MAX) i++;
    if (i == n) return; /* no patterns: the odometer comes to nothing twice */
    if (v->tried.n < REMEMBERED) (void)vec_add(v->arena, &v->tried);
    Tried *t = &v->tried.v[v->remembered++ % REMEMBERED];
    if (t->room < n) {
        t->all = arena_array(v->arena, Choice, n);
        t->room = n;
    }
    t->n = n;
    memcpy(t->all, v->choices.v, n * sizeof *t->all);
}

void tried_forget(Verifier *v)
{
    for (uint32_t i = 0; i < v->tried.n; i++) v->tried.v[i].n = 0;
}

bool tried_before(Verifier *v)
{
    for (uint32_t i = 0; i < v->tried.n; i++)
        if (v->tried.v[i].n && as_then(v, &v->tried.v[i])) return true;
    return false;
}
