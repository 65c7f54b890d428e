/* Races: two accesses to bytes of a buffer, one of them a write, come one after the other in every schedule; where
 * threads wrote and the async proxy reads or writes next, a fence lies in between. */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

static void check_proxy(Verifier *v, const Access *a, const Access *b)
{
    check_tensor_fence(v, a, b);
    if (pair_fenced(v, a, b)) return;
    Diag *g = verify_refuse(v, E0606, b->op,
                            a->generic ? "this copy comes after a fill of %s by another CTA, with no fence.async cluster in between by one who waited for it"
                                       : "this copy comes after threads wrote %s, with no fence.async in between, by them or by one who waited for them",
                            v->k->bufs.v[a->at.buf].name);
    verify_also(v, g, a->op, a->generic ? "written by st.async or red.async" : "written by threads");
}

/* Of those found, the one that shows best what is missing. */
static void found(Verifier *v, const Access *a, const Access *b)
{
    int plain = a->op == b->op ? 0 : a->write && b->write ? 1 : RACE_PLAIN;
    if (v->race.b && v->race.plain >= plain) return;
    v->race = (Race){a, b, plain};
}

/* Their bytes may meet; a comes first in the run. */
static void check_pair(Verifier *v, const Access *a, const Access *b)
{
    if (pair_harmless(v, a, b)) return;
    if (access_before(v, a, b->start) || tensor_in_order(v, a, b)) {
        check_proxy(v, a, b);
        if (!a->write && v->certificate) verify_depends(v, a, b, true);
    } else if (!conds_exclusive(v, a->only, b->only)) {
        found(v, a, b);
    }
}

/* ---- places ---- */

/* In this run; or parts of a tile that loops move through, in others of their turns. */
static bool meet(Verifier *v, const Place *p, uint32_t i, uint32_t j)
{
    if (ranges_meet(v, p, i, j)) return true;
    return v->moving[p->all->at.buf] && !v->silent && !places_apart(v, &p->all[i], &p->all[j]);
}

/* Each pair: to report the first one that is wrong, and for the certificate. */
static void check_pairs(Verifier *v, const Place *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t j = i + 1; j < p->n && !v->failed && v->race.plain < RACE_PLAIN; j++) {
            const Access *a = &p->all[i], *b = &p->all[j];
            if (ranges_meet(v, p, i, j)) check_pair(v, a, b);
            else if (v->moving[a->at.buf] && !pair_fine(v, a, b) && meet(v, p, i, j)) found(v, a, b);
        }
    }
}

bool find_race(Verifier *v)
{
    v->race = (Race){0};
    places_find(v);
    for (uint32_t i = 0; i < v->places.n && !v->failed && v->race.b == NULL; i++)
        if (pairs_wrong(v, &v->places.v[i], meet) < v->places.v[i].n) check_pairs(v, &v->places.v[i]);
    return v->race.b != NULL;
}

void check_races(Verifier *v)
{
    v->race = (Race){0};
    for (uint32_t i = 0; i < v->places.n && !v->failed; i++) {
        const Place *p = &v->places.v[i];
        if (p->listed || pairs_wrong(v, p, meet) < p->n) check_pairs(v, p);
        if (v->race.b && !v->failed) tell_race(v, &v->race);
    }
}
