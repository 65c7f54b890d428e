/* The watch: knowledge handed on by atomics and fences (PTX ISA, Release and Acquire Patterns, Observation order).
 *
 * A release at a location is for those that its scope includes, and an acquire learns of those that its own scope
 * includes. What was released is therefore kept three times: by operations of device scope for everybody, by those of
 * at least cluster scope for the own cluster, by all for the own CTA. An acquire takes as many of them as its scope
 * reaches. With a fence the smaller scope counts, that of the fence or of the operation that it goes with.
 */
#include <string.h>

#include "runtime/sim/watch_internal.h"

/* ---- locations ---- */
static void location_clear(Watch *w, Location *l)
{
    foreign_drop(&w->clocks, l->released);
    l->released = NULL;
    if (l->executed) gather_clear(w, l->executed);
}

void locations_free(Watch *w, Locations *l)
{
    for (uint32_t i = 0; i < l->cap; i++) {
        location_clear(w, &l->v[i]);
        pool_give(&w->clocks, l->v[i].executed, sizeof *l->v[i].executed);
    }
    pool_give(&w->clocks, l->v, l->cap * sizeof *l->v);
    *l = (Locations){0};
}

static Location *probe(const Locations *l, const void *owner, uint64_t offset, uint32_t part)
{
    uint64_t hash = ((uint64_t)(uintptr_t)owner >> 4) * UINT64_C(0x9E3779B97F4A7C15) + offset * 64 + part;
    hash = (hash ^ hash >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    uint32_t i = (uint32_t)(hash >> 32) & (l->cap - 1);
    while (l->v[i].owner && (l->v[i].owner != owner || l->v[i].offset != offset || l->v[i].part != part)) {
        i = (i + 1) & (l->cap - 1);
    }
    return &l->v[i];
}

static void grow(Watch *w, Locations *l)
{
    Locations big = {.n = l->n, .cap = l->cap ? l->cap * 2 : 64};
    big.v = pool_take(&w->clocks, arena_bytes(big.cap, sizeof *big.v));
    memset(big.v, 0, big.cap * sizeof *big.v);
    for (uint32_t i = 0; i < l->cap; i++) {
        const Location *o = &l->v[i];
        if (o->owner) *probe(&big, o->owner, o->offset, o->part) = *o;
    }
    pool_give(&w->clocks, l->v, l->cap * sizeof *l->v);
    *l = big;
}

static Location *location(Watch *w, Locations *l, const void *owner, uint64_t offset, uint32_t part, bool make)
{
    Location *at = l->cap ? probe(l, owner, offset, part) : NULL;
    if ((at && at->owner) || !make) return at && at->owner ? at : NULL;
    if (l->n * 2 >= l->cap) {
        grow(w, l);
        at = probe(l, owner, offset, part);
    }
    *at = (Location){.owner = owner, .offset = offset, .part = part, .agent = NO_AGENT};
    l->n++;
    return at;
}

typedef struct Atomic {
    Watch *w;
    ClusterWatch *c; /* the thread's */
    ThreadWatch *t;
    Location *all;
    uint32_t rank;
    bool several; /* CTAs in the cluster */
    bool acquires, releases;
    Reach reach;
} Atomic;

/* What was released for those whom r stands for; NULL: nothing. */
static Location *part_of(const Atomic *a, Reach r, bool make)
{
    if (r == REACH_ALL) return a->all;
    if (r == REACH_CLUSTER && !a->several) return NULL; /* the CTA's part says the same */
    uint32_t part = r == REACH_CLUSTER ? PART_CLUSTER : a->rank;
    Location *l = location(a->w, &a->c->parts, a->all->owner, a->all->offset, part, make);
    if (l && l->stores != a->all->stores) {
        location_clear(a->w, l);
        l->stores = a->all->stores;
    }
    return l;
}

/* ---- knowledge as sets ---- */
/* With the cluster's own entry. */
static Foreign *as_set(Watch *w, const ThreadWatch *t, Clock *const *k, const uint32_t *own, Foreign *foreign)
{
    Clock *full[KNOW_COUNT];
    for (int i = 0; i < KNOW_COUNT; i++) {
        full[i] = clock_ref(k[i]);
        if (own[i]) clock_set(&w->clocks, &full[i], t->agent, own[i]);
    }
    Foreign *one = foreign_one(&w->clocks, t->cluster, full), *set = foreign_join(&w->clocks, one, foreign, UINT32_MAX);
    clocks_drop(w, full);
    foreign_drop(&w->clocks, one);
    return set;
}

static void take_set(Watch *w, ThreadWatch *t, Foreign *set)
{
    const ForeignEntry *e = foreign_find(set, t->cluster);
    if (e) knowledge_take(w, t, e->k, NULL, MASK_ALL);
    if (set && set->n > (e != NULL)) knowledge_take(w, t, (Clock *[KNOW_COUNT]){0}, set, MASK_ALL);
}

static void set_add(Watch *w, Foreign **into, Foreign *set)
{
    if (*into == set) return;
    Foreign *f = foreign_join(&w->clocks, *into, set, UINT32_MAX);
    foreign_drop(&w->clocks, *into);
    *into = f;
}

/* ---- fences: PTX ISA, membar / fence ---- */
void hear(Watch *w, ThreadWatch *t, Reach r, Foreign *set)
{
    set_add(w, &t->heard[r], set);
}

void watch_fence(SimMachine *m, SimThread *t, uint32_t scope)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL) return;
    int reach = (int)reach_of(scope);
    for (int r = 0; r <= reach; r++) {
        take_set(w, tw, tw->heard[r]);
        foreign_drop(&w->clocks, tw->heard[r]);
        tw->heard[r] = NULL;
    }
    for (int r = 0; r <= reach; r++) {
        Snapshot *f = &tw->fence[r];
        for (int i = 0; i < KNOW_COUNT; i++) {
            clock_drop(&w->clocks, f->k[i]);
            f->k[i] = clock_ref(tw->k[i]);
            f->own[i] = tw->own[i];
        }
        foreign_drop(&w->clocks, f->foreign);
        f->foreign = foreign_ref(tw->foreign);
        f->taken = true;
    }
    tick(tw);
}

/* ---- atomics ---- */
static void learn(const Atomic *a)
{
    for (int r = 0; r <= (int)a->reach; r++) {
        const Location *l = part_of(a, (Reach)r, false);
        if (l == NULL || l->released == NULL) continue;
        if (a->acquires) take_set(a->w, a->t, l->released);
        else hear(a->w, a->t, (Reach)r, l->released);
    }
    const Location *l = part_of(a, REACH_CLUSTER, false);
    if (l && l->executed) knowledge_take(a->w, a->t, l->executed->k, NULL, MASK_EXEC);
}

static void publish(const Atomic *a)
{
    Watch *w = a->w;
    ThreadWatch *t = a->t;
    Foreign *now = a->releases ? as_set(w, t, t->k, t->own, t->foreign) : NULL;
    for (int r = 0; r <= (int)a->reach; r++) {
        const Snapshot *f = &t->fence[r];
        Foreign *set = foreign_ref(now);
        if (set == NULL && f->taken) set = as_set(w, t, f->k, f->own, f->foreign);
        Location *l = set ? part_of(a, (Reach)r, true) : NULL;
        if (l) set_add(w, &l->released, set);
        foreign_drop(&w->clocks, set);
    }
    foreign_drop(&w->clocks, now);
    Location *l = part_of(a, REACH_CLUSTER, true);
    if (l == NULL) return;
    if (l->executed == NULL) {
        l->executed = pool_take(&w->clocks, sizeof *l->executed);
        *l->executed = (Gather){0};
    }
    gather_add(w, l->executed, t, MASK_EXEC);
}

/* A store ends what was released there before, but for what the same thread has; an atomic operation goes on with it. */
static void change(const Atomic *a, WatchAtomic what)
{
    Location *l = a->all;
    bool own = l->agent == a->t->agent && l->cluster == a->t->cluster;
    if (what == WATCH_ST && !own) {
        l->stores++;
        location_clear(a->w, l);
    }
    l->agent = what == WATCH_ST || own ? a->t->agent : NO_AGENT;
    l->cluster = a->t->cluster;
    publish(a);
    if (a->releases || a->several) tick(a->t);
}

void watch_atomic(SimMachine *m, SimThread *t, const SimLoc *at, WatchAtomic what, AccessKind kind, uint32_t scope)
{
    Atomic a = {.w = watch_of(m), .t = t->watch, .c = t->cta->cluster->watch, .rank = t->cta->rank};
    if (a.w == NULL || a.t == NULL || a.c == NULL || kind == ACCESS_WEAK) return;
    bool shared = at->space == PTX_SPACE_SHARED, writes = what != WATCH_LD;
    const void *owner = shared ? (const void *)at->cta : at->space == PTX_SPACE_GLOBAL ? (const void *)at->block : NULL;
    ClusterWatch *home = shared && at->cta ? at->cta->cluster->watch : NULL;
    if (owner == NULL || (shared && home == NULL)) return;
    a.several = t->cta->cluster->nctas > 1;
    a.acquires = kind == ACCESS_ACQUIRE || kind == ACCESS_ACQ_REL;
    a.releases = kind == ACCESS_RELEASE || kind == ACCESS_ACQ_REL;
    a.reach = reach_of(scope);
    bool make = writes && (a.releases || a.several || a.t->fence[REACH_CTA].taken);
    a.all = location(a.w, shared ? &home->shared : &a.w->global, owner, at->offset, PART_ALL, make);
    if (a.all == NULL) return;
    if (what == WATCH_LD || what == WATCH_ATOM) learn(&a);
    if (writes) change(&a, what);
}
