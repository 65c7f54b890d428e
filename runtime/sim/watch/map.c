/* The watch: tensor maps that change while a kernel runs.
 *
 * Copies read their map through the tensormap proxy. Between a write of the map's bytes and a copy that uses it there must
 * be, beside the order C (PTX ISA, fence.proxy.tensormap, tensormap.cp_fenceproxy):
 *   - a release: fence.proxy.tensormap::generic.release of a thread that knows the write (its own, mostly), or the
 *     tensormap.cp_fenceproxy that wrote it, of a scope that includes the thread of the copy;
 *   - behind that an acquire: fence.proxy.tensormap::generic.acquire of this address, of a scope that includes the writer,
 *     by a thread of the CTA that the copy is ordered behind.
 * What the host wrote before the launch needs neither here.
 */
#include <string.h>

#include "runtime/sim/copies/maps.h"
#include "runtime/sim/watch/internal.h"

enum { WRITERS = 8, BUCKETS = 256 };

typedef struct MapRelease {
    uint32_t cluster, rank, agent, time;
    Reach reach;
    Clock *known; /* its order then, of its cluster and of others */
    Foreign *foreign;
    uint32_t next; /* of the same bucket, index + 1 */
} MapRelease;

typedef struct Writers { /* of a map's bytes: their last ones */
    uint32_t record[WRITERS], n;
} Writers;

typedef struct MapAcquire {
    const SimBlock *block;
    uint64_t offset;
    uint32_t rank, agent, time;
    uint32_t n;
    struct {
        uint32_t cluster, agent, time;
    } of[WRITERS]; /* the writes that it has passed on */
} MapAcquire;

struct MapWatch {
    MapRelease *release;
    uint32_t n, cap, bucket[BUCKETS];
};

static uint32_t bucket_of(uint32_t cluster, uint32_t agent)
{
    return (cluster * 31 + agent) % BUCKETS;
}

static bool within(Reach reach, uint32_t cluster, uint32_t rank, const ThreadWatch *t, uint32_t own_rank)
{
    return reach == REACH_ALL || (cluster == t->cluster && (reach == REACH_CLUSTER || rank == own_rank));
}

void map_watch_free(Watch *w)
{
    if (w->maps == NULL) return;
    if (w->maps->release) mem_free(w->mem, w->maps->release);
    mem_free(w->mem, w->maps);
    w->maps = NULL;
}

void map_watch_clear(Watch *w, ClusterWatch *c)
{
    if (c->acquire) pool_give(&w->clocks, c->acquire, c->capacquire * sizeof *c->acquire);
    c->acquire = NULL;
    c->nacquire = c->capacquire = 0;
}

/* ---- releases ---- */

void watch_map_release(SimMachine *m, SimThread *t, uint32_t scope)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL) return;
    if (w->maps == NULL) {
        w->maps = mem_resize(w->mem, NULL, sizeof *w->maps);
        *w->maps = (struct MapWatch){0};
    }
    struct MapWatch *x = w->maps;
    x->release = mem_grow(w->mem, x->release, &x->cap, x->n + 1, sizeof *x->release);
    uint32_t *bucket = &x->bucket[bucket_of(tw->cluster, tw->agent)];
    x->release[x->n++] = (MapRelease){.cluster = tw->cluster,
                                      .rank = t->cta->rank,
                                      .agent = tw->agent,
                                      .time = tw->own[KNOW_C],
                                      .reach = reach_of(scope),
                                      .known = clock_ref(tw->k[KNOW_C]),
                                      .foreign = foreign_ref(tw->foreign),
                                      .next = *bucket};
    *bucket = x->n;
    tick(tw);
}

static bool release_knows(const MapRelease *r, const Record *o)
{
    if (r->cluster == o->who.cluster)
        return r->agent == o->agent ? r->time >= o->time : clock_get(r->known, o->agent) >= o->time;
    const ForeignEntry *e = foreign_find(r->foreign, o->who.cluster);
    return e && clock_get(e->k[KNOW_C], o->agent) >= o->time;
}

static bool released_by(const MapRelease *r, const Record *o, const ThreadWatch *t, uint32_t rank)
{
    return release_knows(r, o) && know_time(t, KNOW_C, r->cluster, r->agent) >= r->time &&
           within(r->reach, r->cluster, r->rank, t, rank);
}

static bool released(const Watch *w, const Record *o, const ThreadWatch *t, uint32_t rank)
{
    const struct MapWatch *x = w->maps;
    if (x == NULL) return false;
    for (uint32_t i = x->bucket[bucket_of(o->who.cluster, o->agent)]; i; i = x->release[i - 1].next)
        if (released_by(&x->release[i - 1], o, t, rank)) return true;
    for (uint32_t i = x->n; i-- > 0;)
        if (released_by(&x->release[i], o, t, rank)) return true;
    return false;
}

/* ---- acquires ---- */

static Writers writers_of(const Watch *w, const SimLoc *at)
{
    Writers v = {.n = 0};
    const Shadow *s = at->block->shadow;
    for (uint64_t b = at->offset, end; s && b < at->offset + SIM_MAP_BYTES; b = end) {
        uint32_t record = shadow_at(s, b, &end).write, i = 0;
        if (record == 0 || !(w->shadows.record[record].flags & REC_WRITE)) continue;
        while (i < v.n && v.record[i] != record) i++;
        if (i == v.n && v.n < WRITERS) v.record[v.n++] = record;
    }
    return v;
}

static bool in_global(const SimLoc *at)
{
    return at->space == PTX_SPACE_GLOBAL && at->block && !at->block->read_only;
}

static MapAcquire *acquire_of(Watch *w, ClusterWatch *c, const SimLoc *at, uint32_t agent)
{
    for (uint32_t i = 0; i < c->nacquire; i++) {
        MapAcquire *a = &c->acquire[i];
        if (a->block == at->block && a->offset == at->offset && a->agent == agent) return a;
    }
    if (c->nacquire == c->capacquire) {
        uint32_t cap = c->capacquire ? 2 * c->capacquire : 16;
        MapAcquire *v = pool_take(&w->clocks, arena_bytes(cap, sizeof *v));
        if (c->nacquire) memcpy(v, c->acquire, c->nacquire * sizeof *v);
        if (c->acquire) pool_give(&w->clocks, c->acquire, c->capacquire * sizeof *v);
        c->acquire = v;
        c->capacquire = cap;
    }
    return &c->acquire[c->nacquire++];
}

void watch_map_acquire(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t scope)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL || !in_global(at)) return;
    Writers v = writers_of(w, at);
    if (v.n == 0) return;
    MapAcquire *a = acquire_of(w, t->cta->cluster->watch, at, tw->agent);
    *a = (MapAcquire){
        .block = at->block, .offset = at->offset, .rank = t->cta->rank, .agent = tw->agent, .time = tw->own[KNOW_C]};
    for (uint32_t i = 0; i < v.n; i++) {
        const Record *o = &w->shadows.record[v.record[i]];
        if (!record_over(&w->shadows, tw, KNOW_C, o) || !released(w, o, tw, t->cta->rank) ||
            !within(reach_of(scope), o->who.cluster, o->who.rank, tw, t->cta->rank))
            continue;
        a->of[a->n].cluster = o->who.cluster;
        a->of[a->n].agent = o->agent;
        a->of[a->n++].time = o->time;
    }
    tick(tw);
}

static bool acquired(const ClusterWatch *c, const SimLoc *at, const Record *o, const ThreadWatch *t, uint32_t rank)
{
    for (uint32_t i = 0; i < c->nacquire; i++) {
        const MapAcquire *a = &c->acquire[i];
        if (a->block != at->block || a->offset != at->offset || a->rank != rank) continue;
        if (know_time(t, KNOW_C, t->cluster, a->agent) < a->time) continue;
        for (uint32_t k = 0; k < a->n; k++)
            if (a->of[k].cluster == o->who.cluster && a->of[k].agent == o->agent && a->of[k].time == o->time)
                return true;
    }
    return false;
}

bool watch_map_use(SimMachine *m, SimThread *t, const SimLoc *at, bool async)
{
    Watch *w = watch_of(m);
    const ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL || !in_global(at)) return true;
    Writers v = writers_of(w, at);
    for (uint32_t i = 0; i < v.n; i++) {
        const Record *o = &w->shadows.record[v.record[i]];
        SimWho who = sim_who(t), other = o->who;
        who.async = async;
        if (acquired(t->cta->cluster->watch, at, o, tw, t->cta->rank)) continue;
        if (!released(w, o, tw, t->cta->rank))
            return sim_fail_at(m, E1306, &who, &other,
                               "the tensor map was written in this kernel: behind the write "
                               "fence.proxy.tensormap::generic.release (or tensormap.cp_fenceproxy as the write), of a "
                               "scope that includes this thread, is missing");
        return sim_fail_at(
            m, E1306, &who, &other,
            "the tensor map was written in this kernel: fence.proxy.tensormap::generic.acquire of its "
            "address, in this CTA, behind the release and of a scope that includes the writer, is missing");
    }
    return true;
}
