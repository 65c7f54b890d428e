/* The watch: knowledge handed on by atomics and fences (PTX ISA, Release and Acquire Patterns, Observation order).
 *
 * A release at a location is for those that its scope includes, and an acquire learns of those that its own scope
 * includes. What was released is therefore kept three times: by operations of device scope for everybody, by those of
 * at least cluster scope for the own cluster, by all for the own CTA. An acquire takes as many of them as its scope
 * reaches. With a fence the smaller scope counts, that of the fence or of the operation that it goes with.
 */
#include <string.h>

#include "runtime/sim/watch/internal.h"

/* ---- locations ---- */
static void location_clear(Watch *w, Location *l)
{
    foreign_drop(&w->clocks, l->released);
    foreign_drop(&w->clocks, l->fenced);
    l->released = l->fenced = NULL;
    l->narrow = false;
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

static bool has_taken(const ThreadWatch *t, const Foreign *set)
{
    for (int i = 0; i < TAKEN_SETS; i++) {
        if (t->taken[i] == set) return true;
    }
    return false;
}

/* The same for a set that may come again. */
static void take_often(Watch *w, ThreadWatch *t, Foreign *set)
{
    if (set == NULL || has_taken(t, set)) return;
    take_set(w, t, set);
    Foreign **slot = &t->taken[t->next_taken++ % TAKEN_SETS];
    foreign_drop(&w->clocks, *slot);
    *slot = foreign_ref(set);
}

static void set_add(Watch *w, Foreign **into, Foreign *set)
{
    if (*into == set) return;
    Foreign *f = foreign_join(&w->clocks, *into, set, UINT32_MAX);
    foreign_drop(&w->clocks, *into);
    *into = f;
}

/* Where many locations hold much, memory would not do for a set each: from then on those that change share one, which
 * knows too much. Orders are taken for granted then that are none; nothing is reported wrongly. */
#define SETS_BYTES ((size_t)192 << 20)
static void location_add(Watch *w, Location *l, Foreign *set)
{
    if (w->clocks.live < SETS_BYTES) {
        set_add(w, &l->released, set);
        return;
    }
    if (l->released) set_add(w, &w->coarse, l->released);
    set_add(w, &w->coarse, set);
    foreign_drop(&w->clocks, l->released);
    l->released = foreign_ref(w->coarse);
}

/* ---- fences: PTX ISA, membar / fence ---- */
void hear(Watch *w, ThreadWatch *t, Reach r, Foreign *set)
{
    if (set == t->last_heard[r] || has_taken(t, set)) return;
    set_add(w, &t->heard[r], set);
    foreign_drop(&w->clocks, t->last_heard[r]);
    t->last_heard[r] = foreign_ref(set);
}

void watch_fence(SimMachine *m, SimThread *t, uint32_t scope, bool sc)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL || t->cta->shadow == NULL || t->cta->cluster->watch == NULL) return;
    int reach = (int)reach_of(scope);
    for (int r = 0; r <= reach; r++) {
        take_set(w, tw, tw->heard[r]);
        foreign_drop(&w->clocks, tw->heard[r]);
        foreign_drop(&w->clocks, tw->last_heard[r]);
        tw->heard[r] = tw->last_heard[r] = NULL;
    }
    /* fence.sc: those that come before this one whatever the schedule is (PTX ISA, Fence-SC: its order does not
     * contradict causality). */
    CtaWatch *cta = t->cta->shadow;
    sc = sc && reach == REACH_ALL;
    if (sc) take_often(w, tw, cta->fences_met);
    Foreign *set = sc ? as_set(w, tw, tw->k, tw->own, tw->foreign) : NULL;
    if (sc) set_add(w, &cta->fenced, set);
    tw->fences++;
    for (int r = 0; r <= reach; r++) {
        Snapshot *f = &tw->fence[r];
        for (int i = 0; i < KNOW_COUNT; i++) {
            clock_drop(&w->clocks, f->k[i]);
            f->k[i] = clock_ref(tw->k[i]);
            f->own[i] = tw->own[i];
        }
        foreign_drop(&w->clocks, f->foreign);
        f->foreign = foreign_ref(tw->foreign);
        foreign_drop(&w->clocks, f->set);
        f->set = foreign_ref(set);
        f->serial = tw->fences;
        f->taken = true;
    }
    foreign_drop(&w->clocks, set);
    tick(tw);
}

/* ---- atomics ---- */
static void learn(const Atomic *a)
{
    for (int r = (int)a->reach; r >= 0; r--) {
        const Location *l = part_of(a, (Reach)r, false);
        if (l == NULL || l->released == NULL || (a->reach == REACH_ALL && r != REACH_ALL && !l->narrow)) continue;
        if (a->acquires) take_often(a->w, a->t, l->released);
        else hear(a->w, a->t, (Reach)r, l->released);
    }
    const Location *l = part_of(a, REACH_CLUSTER, false);
    if (l && l->executed) knowledge_take(a->w, a->t, l->executed->k, NULL, MASK_EXEC);
}

/* What t knew at its last fence that reaches so far; NULL: there is none. The thread keeps it. */
static Foreign *fence_set(Watch *w, ThreadWatch *t, Reach r)
{
    Snapshot *f = &t->fence[r];
    const Snapshot *wide = &t->fence[REACH_ALL];
    if (!f->taken || f->set) return f->set;
    if (wide->set && wide->serial == f->serial) f->set = foreign_ref(wide->set);
    else f->set = as_set(w, t, f->k, f->own, f->foreign);
    return f->set;
}

static void publish(const Atomic *a)
{
    Watch *w = a->w;
    ThreadWatch *t = a->t;
    Foreign *now = a->releases ? as_set(w, t, t->k, t->own, t->foreign) : NULL, *widest = NULL;
    for (int r = (int)a->reach; r >= 0; r--) {
        Foreign *set = now ? now : fence_set(w, t, (Reach)r);
        Location *l = set ? part_of(a, (Reach)r, true) : NULL;
        if (r == REACH_ALL) widest = set;
        if (l) location_add(w, l, set);
        if (l && set != widest) l->narrow = true;
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

static void fences_learn(const Atomic *a, CtaWatch *cta)
{
    Foreign *set = a->all->fenced;
    if (set == NULL || set == cta->last_met) return;
    set_add(a->w, &cta->fences_met, set);
    foreign_drop(&a->w->clocks, cta->last_met);
    cta->last_met = foreign_ref(set);
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
    CtaWatch *cta = t->cta->shadow;
    if (cta == NULL) return;
    bool make = writes && (a.releases || a.several || a.t->fence[REACH_CTA].taken || cta->fenced);
    a.all = location(a.w, shared ? &home->shared : &a.w->global, owner, at->offset, PART_ALL, make);
    if (a.all == NULL) return;
    bool wide = a.reach == REACH_ALL;
    if (wide && what != WATCH_ST && what != WATCH_RED) fences_learn(&a, cta);
    if (what == WATCH_LD || what == WATCH_ATOM) learn(&a);
    if (writes) change(&a, what);
    if (wide && writes && cta->fenced) set_add(a.w, &a.all->fenced, cta->fenced);
}
