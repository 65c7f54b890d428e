/* Races: two accesses to bytes of a buffer, one of them a write, come one after the other in every schedule; where
 * threads wrote and the async proxy reads or writes next, the writer's fence lies in between. */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

/* ---- proxies ---- */

static bool by_proxy(const Access *a)
{
    return a->async && !a->generic;
}

static bool of_cluster(const Verifier *v, EventId fence)
{
    return verify_arg(v, v->events.v[fence - 1].op, IRK_SPACE)->id == IRS_CLUSTER;
}

/* What st.async wrote: a fence of one who has waited for it, of shared memory of the cluster. */
static bool fenced_after(const Verifier *v, const Access *a, EventId b)
{
    for (uint32_t k = 0; k < v->threads.n; k++) {
        const Thread *t = &v->threads.v[k];
        uint32_t lo = 0, hi = t->fences[FENCE_ASYNC].n; /* from the first one on */
        while (lo < hi) {
            uint32_t middle = lo + (hi - lo) / 2;
            if (access_before(v, a, t->fences[FENCE_ASYNC].v[middle])) hi = middle;
            else lo = middle + 1;
        }
        while (lo < t->fences[FENCE_ASYNC].n && !of_cluster(v, t->fences[FENCE_ASYNC].v[lo])) lo++;
        if (lo < t->fences[FENCE_ASYNC].n && event_before(v, t->fences[FENCE_ASYNC].v[lo], b)) return true;
    }
    return false;
}

/* PTX ISA, async proxy: what a thread wrote is seen by copies after its fence.proxy.async. */
static bool fenced(const Verifier *v, const Access *a, EventId b)
{
    if (a->generic) return fenced_after(v, a, b);
    EventId fence = fence_behind(v, a->start, FENCE_ASYNC); /* it comes before what any other one comes before */
    return fence && event_before(v, fence, b);
}

static bool tensor_memory(const Verifier *v, const Access *a)
{
    return v->k->bufs.v[a->at.buf].lanes != 0; /* of one proxy: unroll/tensor_memory.c */
}

static void check_proxy(Verifier *v, const Access *a, const Access *b)
{
    check_tensor_fence(v, a, b);
    if (!a->write || by_proxy(a) || !by_proxy(b) || tensor_memory(v, a) || fenced(v, a, b->start)) return;
    Diag *g = verify_refuse(v, E0606, b->op,
                            a->generic ? "this copy comes after a fill of %s by another CTA, with no fence.async cluster in between by one who waited for it"
                                       : "this copy comes after threads wrote %s, with no fence.async by them in between",
                            v->k->bufs.v[a->at.buf].name);
    verify_also(v, g, a->op, a->generic ? "written by st.async or red.async" : "written by threads");
}

/* ---- order ---- */

/* Of those found, the one that shows best what is missing. */
static void found(Verifier *v, const Access *a, const Access *b)
{
    int plain = race_plain(v, a, b);
    if (v->race.b && v->race.plain >= plain) return;
    v->race = (Race){a, b, plain};
}

/* In any order. */
static bool harmless(const Verifier *v, const Access *a, const Access *b)
{
    if (!(a->write || b->write) || (a->act && a->act == b->act) || (a->op == b->op && a->start == b->start)) return true;
    return a->reduce && a->reduce == b->reduce && verify_commutes(v, a->op);
}

/* Their bytes may meet; a comes first in the run. */
static void check_pair(Verifier *v, const Access *a, const Access *b)
{
    if (harmless(v, a, b)) return;
    if (access_before(v, a, b->start) || tensor_in_order(v, a, b)) {
        check_proxy(v, a, b);
        if (!a->write) verify_depends(v, a, b, true);
    } else if (!conds_exclusive(v, a->only, b->only)) {
        found(v, a, b);
    }
}

/* ---- places ---- */

/* Each pair: to report the first one that is wrong, and for the certificate. */
static void check_pairs(Verifier *v, const Place *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t j = i + 1; j < p->n && !v->failed && v->race.plain < RACE_PLAIN; j++)
            if (ranges_meet(v, p, i, j)) check_pair(v, &p->all[i], &p->all[j]);
}

/* What threads wrote, and copies may touch only behind a fence. */
static bool wants_fence(const Verifier *v, const Access *a)
{
    return a->write && !by_proxy(a) && !tensor_memory(v, a);
}

/* Nothing is wrong with two accesses whose bytes may meet: as check_pair, which says what is. */
static bool fine(Verifier *v, const Access *a, const Access *b)
{
    if (harmless(v, a, b) || tensor_in_order(v, a, b)) return true;
    if (!access_before(v, a, b->start)) return conds_exclusive(v, a->only, b->only);
    if (!tensor_fenced(v, a, b)) return false;
    return !wants_fence(v, a) || !by_proxy(b) || fenced(v, a, b->start);
}

typedef VEC(uint32_t) Numbers; /* of accesses of a place */
typedef struct Pending {       /* for what a thread does next */
    uint32_t next;    /* it has not been compared with accesses from here on */
    Numbers open[2];  /* reads and writes that may still go on */
    Numbers unfenced; /* over, but copies may not touch what they wrote */
} Pending;

/* What a thread comes after once, all that it does later comes after, too: so each access is looked at by each thread until it is
 * over, and no more. */
static bool compare(Verifier *v, const Place *p, Pending *t, Numbers *list, uint32_t at)
{
    const Access *b = &p->all[at];
    uint32_t n = list->n, kept = 0;
    verify_spend(v, n / 16);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = list->v[i];
        const Access *a = &p->all[x];
        bool over = list == &t->unfenced
                        ? fenced(v, a, b->start)
                        : access_before(v, a, b->start) && tensor_fenced(v, a, b) && !tensor_in_order(v, a, b);
        if (over && list != &t->unfenced && wants_fence(v, a) && !fenced(v, a, b->start))
            vec_push(&v->run, &t->unfenced, x);
        if (over) continue;
        if (!fine(v, a, b) && ranges_meet(v, p, x, at)) return false;
        list->v[kept++] = x;
    }
    list->n = kept;
    return true;
}

static bool place_fine(Verifier *v, const Place *p)
{
    Pending *of = arena_array(&v->run, Pending, v->threads.n);
    for (uint32_t i = 0; i < p->n && !v->failed; i++) {
        const Access *b = &p->all[i];
        Pending *t = &of[v->events.v[b->start - 1].thread];
        for (; t->next < i; t->next++) vec_push(&v->run, &t->open[p->all[t->next].write], t->next);
        if (!compare(v, p, t, &t->open[1], i) || (b->write && !compare(v, p, t, &t->open[0], i))) return false;
        if (by_proxy(b) && !compare(v, p, t, &t->unfenced, i)) return false;
    }
    return true;
}

/* Parts of a tile that loops move through: those which are apart in this run are so in all turns, or in order. */
static void check_moving(Verifier *v, const Place *p)
{
    if (!v->moving[p->all->at.buf]) return;
    for (uint32_t i = 0; i < p->n && !v->failed; i++) {
        verify_spend(v, i / 4);
        for (uint32_t j = 0; j < i; j++)
            if (!fine(v, &p->all[j], &p->all[i]) && !parts_apart(v, &p->all[j], &p->all[i])) found(v, &p->all[j], &p->all[i]);
    }
}

bool find_race(Verifier *v)
{
    v->race = (Race){0};
    places_find(v);
    for (uint32_t i = 0; i < v->places.n && !v->failed && v->race.b == NULL; i++)
        if (!place_fine(v, &v->places.v[i])) check_pairs(v, &v->places.v[i]);
    return v->race.b != NULL;
}

enum { LISTED_MAX = 4000000 };

/* The certificate names the dependences of graphs that are small enough, and of no more pairs than this. */
static bool listed(Verifier *v, const Place *p)
{
    uint64_t pairs = (uint64_t)p->n * p->n / 2;
    if (v->certificate == NULL || v->listed + pairs > LISTED_MAX) return false;
    v->listed += pairs;
    return true;
}

void check_races(Verifier *v)
{
    v->race = (Race){0};
    for (uint32_t i = 0; i < v->places.n && !v->failed; i++) {
        if (listed(v, &v->places.v[i]) || !place_fine(v, &v->places.v[i])) check_pairs(v, &v->places.v[i]);
        if (v->race.b == NULL) check_moving(v, &v->places.v[i]);
        if (v->race.b && !v->failed) tell_race(v, &v->race);
    }
}
