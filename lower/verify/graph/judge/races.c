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
        uint32_t lo = 0, hi = t->async_fences.n; /* as below */
        while (lo < hi) {
            uint32_t middle = lo + (hi - lo) / 2;
            if (access_before(v, a, t->async_fences.v[middle])) hi = middle;
            else lo = middle + 1;
        }
        while (lo < t->async_fences.n && !of_cluster(v, t->async_fences.v[lo])) lo++;
        if (lo < t->async_fences.n && event_before(v, t->async_fences.v[lo], b)) return true;
    }
    return false;
}

/* PTX ISA, async proxy: what a thread wrote is seen by copies after its fence.proxy.async. */
static bool fenced(const Verifier *v, const Access *a, EventId b)
{
    if (a->generic) return fenced_after(v, a, b);
    const Event *e = &v->events.v[a->start - 1];
    const Thread *t = &v->threads.v[e->thread];
    uint32_t lo = 0, hi = t->async_fences.n; /* the first one behind it comes before what any other one comes before */
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (v->events.v[t->async_fences.v[middle] - 1].pos > e->pos) hi = middle;
        else lo = middle + 1;
    }
    return lo < t->async_fences.n && event_before(v, t->async_fences.v[lo], b);
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

static void ordered(Verifier *v, const Access *a, const Access *b)
{
    check_proxy(v, a, b);
    if (!a->write) verify_depends(v, a, b, true);
}

/* Their bytes may meet. */
static void check_pair(Verifier *v, const Access *a, const Access *b)
{
    if (!(a->write || b->write) || (a->act && a->act == b->act)) return;
    if (a->reduce && a->reduce == b->reduce && verify_commutes(v, a->op)) return;
    if (a->op == b->op && a->start == b->start) return;
    bool forth = access_before(v, a, b->start) || tensor_in_order(v, a, b);
    bool back = !forth && (access_before(v, b, a->start) || tensor_in_order(v, b, a));
    if (!forth && !back && conds_exclusive(v, a->only, b->only)) return;
    if (forth) ordered(v, a, b);
    else if (back) ordered(v, b, a);
    else if (a->start <= b->start) found(v, a, b);
    else found(v, b, a);
}

/* ---- places ---- */

static bool ranges_meet(const Place *p, uint32_t i, uint32_t j)
{
    const ByteRange *x = &p->ranges.v[p->range[i]];
    for (uint32_t m = 0; m < x->meets.n; m++)
        if (x->meets.v[m].range == p->range[j]) return true;
    return false;
}

/* Each pair: to report the first one that is wrong, and for the certificate. */
static void check_pairs(Verifier *v, const Place *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t j = i + 1; j < p->n && !v->failed && v->race.plain < RACE_PLAIN; j++)
            if (ranges_meet(p, i, j)) check_pair(v, &p->all[i], &p->all[j]);
}

/* Nothing is wrong with two accesses whose bytes may meet; a comes first in the run. */
static bool fine(Verifier *v, const Access *a, const Access *b)
{
    if (!(a->write || b->write) || (a->act && a->act == b->act)) return true;
    if (a->op == b->op && a->start == b->start) return true;
    if (tensor_in_order(v, a, b)) return true;
    if (!access_before(v, a, b->start)) return conds_exclusive(v, a->only, b->only);
    if (!tensor_fenced(v, a, b)) return false;
    return !a->write || by_proxy(a) || !by_proxy(b) || tensor_memory(v, a) || fenced(v, a, b->start);
}

/* Whether what is proved of b and a later access c proves the same of x->a and c. Then x->a needs no comparison any more:
 * b has all of its bytes and is a write or it is none; it ends before b starts, and whoever comes after b comes after
 * b's start; c can't be excused from b by its condition unless it is from x->a; and where fences matter, b is of the
 * async proxy, so that the fence came before it, or of the same thread. Accesses of b's own act are excused from b: x->a
 * stays to be compared with them, until an access of another act stands in, too. Behind a fill by another CTA it is any
 * fence of one who has waited for it, and so for x->a if that is one, too; not if a thread wrote x->a. */
static bool settled(Verifier *v, Recent *x, const Access *b)
{
    const Access *a = x->a;
    if ((a->write && !b->write) || (a->act && a->act == b->act)) return false;
    if (a->only != b->only && !form_is(&v->f, b->only, 1)) return false;
    if (a->write && !a->async && b->generic) return false;
    if (a->write && !a->async && !b->async && v->events.v[a->start - 1].thread != v->events.v[b->start - 1].thread)
        return false;
    if (b->phase && !event_in(v, b->start, b->phase->clock)) return false;
    if (b->also && !event_in(v, b->start, b->also->clock)) return false;
    if (!access_before(v, a, b->start)) return false;
    if (b->act == 0 || (x->act && x->act != b->act)) return true;
    x->act = b->act;
    return false;
}

static bool compare(Verifier *v, Place *p, const ByteRange *at, const Access *b)
{
    for (uint32_t m = 0; m < at->meets.n; m++) {
        ByteRange *other = &p->ranges.v[at->meets.v[m].range];
        bool covers = at->meets.v[m].covers;
        uint32_t kept = 0;
        verify_spend(v, other->recent.n / 16);
        for (uint32_t i = 0; i < other->recent.n; i++) {
            Recent x = other->recent.v[i];
            if ((x.act == 0 || x.act == b->act) && !fine(v, x.a, b)) return false;
            if (!covers || !settled(v, &x, b)) other->recent.v[kept++] = x;
        }
        other->recent.n = kept;
    }
    return true;
}

static bool place_fine(Verifier *v, Place *p)
{
    for (uint32_t i = 0; i < p->n && !v->failed; i++) {
        ByteRange *at = &p->ranges.v[p->range[i]];
        if (!compare(v, p, at, &p->all[i])) return false;
        vec_push(&v->run, &at->recent, ((Recent){.a = &p->all[i]}));
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
