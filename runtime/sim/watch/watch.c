#include "runtime/sim/watch/watch.h"

#include <string.h>

#include "runtime/sim/watch/internal.h"

/* ---- a launch, a cluster ---- */
void watch_init(SimMachine *m)
{
    watch_forget(m->memory);
    Watch *w = mem_resize(&m->mem, NULL, sizeof *w);
    *w = (Watch){.mem = &m->mem};
    clocks_init(&w->clocks, &m->mem);
    shadow_pool_init(&w->shadows, &m->mem);
    m->watch = w;
}

void watch_forget(SimMemory *memory)
{
    for (uint32_t i = 0; memory && i < memory->n; i++) {
        if (memory->blocks[i]->shadow) shadow_free(memory->blocks[i]->shadow);
        memory->blocks[i]->shadow = NULL;
    }
}

/* Nothing of the machine points into the watch any more. */
static void detach(SimCluster *c)
{
    for (uint32_t i = 0; i < c->nctas; i++) {
        SimCta *a = c->ctas[i];
        if (a == NULL) continue;
        for (uint32_t k = 0; k < a->nthreads; k++) a->threads[k].watch = NULL;
        for (uint32_t k = 0; k < a->barriers.n; k++) a->barriers.v[k]->watch = NULL;
        for (uint32_t k = 0; k < 16; k++) a->named[k].watch = NULL;
        a->shadow = NULL;
    }
    c->watch = c->barrier_watch = NULL;
}

void watch_free(SimMachine *m)
{
    Watch *w = watch_of(m);
    if (w == NULL) return;
    m->watch = NULL;
    for (uint32_t i = 0; i < m->nresident; i++) detach(m->resident[i]);
    watch_forget(m->memory);
    map_watch_free(w);
    shadow_pool_free(&w->shadows);
    clocks_free(&w->clocks);
    mem_free(w->mem, w);
}

uint32_t agent_new(Watch *w, ClusterWatch *c, Agent a)
{
    if (c->nagents == c->capagents) {
        uint32_t cap = c->capagents * 2;
        Agent *v = pool_take(&w->clocks, arena_bytes(cap, sizeof *v));
        memcpy(v, c->agent, c->nagents * sizeof *v);
        pool_give(&w->clocks, c->agent, c->capagents * sizeof *v);
        c->agent = v;
        c->capagents = cap;
    }
    c->agent[c->nagents] = a;
    return c->nagents++;
}

static void start_threads(Watch *w, ClusterWatch *c, SimCta *a, CtaWatch *cta)
{
    cta->first_agent = c->nagents;
    ThreadWatch *v = pool_take(&w->clocks, arena_bytes(a->nthreads, sizeof *v));
    for (uint32_t i = 0; i < a->nthreads; i++) {
        uint32_t agent = agent_new(w, c, (Agent){.rank = (uint16_t)a->rank, .thread = i});
        v[i] = (ThreadWatch){.agent = agent,
                             .cluster = c->cluster->number,
                             .reads_agent = NO_AGENT,
                             .all_agent = NO_AGENT,
                             .own = {[KNOW_C] = 1, [KNOW_E] = 1}};
        for (int k = 0; k < LAST_WAITS; k++) v[i].last_wait[k].agent = NO_AGENT;
        for (int k = 0; k < TENSOR_AGENTS; k++) v[i].tensor_time[k].agent = NO_AGENT;
        a->threads[i].watch = &v[i];
    }
}

void watch_cluster_start(SimMachine *m, SimCluster *cluster)
{
    Watch *w = watch_of(m);
    if (w == NULL) return;
    uint32_t threads = 0;
    for (uint32_t i = 0; i < cluster->nctas; i++) threads += cluster->ctas[i]->nthreads;
    ClusterWatch *c = pool_take(&w->clocks, sizeof *c);
    *c = (ClusterWatch){.cluster = cluster, .capagents = threads + 33};
    c->agent = pool_take(&w->clocks, arena_bytes(c->capagents, sizeof *c->agent));
    agent_new(w, c, (Agent){.kind = AGENT_LAUNCHES});
    for (uint32_t i = 0; i < cluster->nctas; i++) {
        SimCta *a = cluster->ctas[i];
        CtaWatch *cta = pool_take(&w->clocks, sizeof *cta);
        *cta = (CtaWatch){0};
        cta->shadow = shadow_new(&w->shadows, a, a->smem_bytes);
        a->shadow = cta;
        start_threads(w, c, a, cta);
    }
    cluster->watch = c;
    cluster->barrier_watch = &c->barrier;
}

static void end_cta(Watch *w, SimCta *a)
{
    CtaWatch *cta = a->shadow;
    if (cta == NULL) return;
    for (uint32_t i = 0; i < a->nthreads; i++) {
        if (a->threads[i].watch) thread_clear(w, a->threads[i].watch);
    }
    if (a->nthreads) pool_give(&w->clocks, a->threads[0].watch, a->nthreads * sizeof(ThreadWatch));
    for (uint32_t i = 0; i < a->barriers.n; i++) {
        MbarWatch *b = a->barriers.v[i]->watch;
        if (b == NULL) continue;
        mbar_clear(w, b);
        pool_give(&w->clocks, b, sizeof *b);
    }
    for (uint32_t i = 0; i < 16; i++) meeting_clear(w, &cta->named[i]);
    shadow_free(cta->shadow);
    if (cta->tensor) shadow_free(cta->tensor);
    foreign_drop(&w->clocks, cta->fenced);
    foreign_drop(&w->clocks, cta->fences_met);
    foreign_drop(&w->clocks, cta->last_met);
    for (int i = 0; i < END_COUNT; i++) {
        Ending *e = &cta->end[i];
        clock_drop(&w->clocks, e->exited);
        clock_drop(&w->clocks, e->last);
        pool_give(&w->clocks, e->pending, e->npending * sizeof *e->pending);
    }
    pool_give(&w->clocks, cta, sizeof *cta);
}

void watch_cluster_end(SimMachine *m, SimCluster *cluster)
{
    Watch *w = watch_of(m);
    ClusterWatch *c = cluster->watch;
    if (w == NULL || c == NULL) return;
    for (uint32_t i = 0; i < cluster->nctas; i++) end_cta(w, cluster->ctas[i]);
    meeting_clear(w, &c->barrier);
    map_watch_clear(w, c);
    locations_free(w, &c->shared);
    locations_free(w, &c->parts);
    pool_give(&w->clocks, c->agent, c->capagents * sizeof *c->agent);
    pool_give(&w->clocks, c, sizeof *c);
    detach(cluster);
}

/* ---- what a thread knows ---- */
uint32_t know_time(const ThreadWatch *t, KnowKind k, uint32_t cluster, uint32_t agent)
{
    if (cluster == t->cluster) {
        uint32_t time = clock_get(t->k[k], agent);
        return agent == t->agent && t->own[k] > time ? t->own[k] : time;
    }
    const ForeignEntry *e = foreign_find(t->foreign, cluster);
    return e ? clock_get(e->k[k], agent) : 0;
}

/* t knows, by the clock k, that the access is over. */
bool record_over(const ShadowPool *p, const ThreadWatch *t, KnowKind k, const Record *r)
{
    if (!(r->flags & REC_ASYNC)) return know_time(t, k, r->who.cluster, r->agent) >= r->time;
    for (;; r = &p->record[r->alt]) {
        if (r->done_agent == NO_AGENT || know_time(t, k, r->who.cluster, r->done_agent) >= r->done_time) return true;
        if (r->alt == 0) return false;
    }
}

static bool passed_on(const Access *a, const Record *o)
{
    const ShadowPool *p = &a->w->shadows;
    if (a->cta == NULL) return record_over(p, a->t, KNOW_GLOBAL, o);
    return record_over(p, a->t, KNOW_CLUSTER, o) || (o->who.rank == a->cta->rank && record_over(p, a->t, KNOW_CTA, o));
}

/* Both are of one copy: a copy has one issuer and one time. */
static bool same_copy(const Access *a, const Record *o)
{
    const Record *r = &a->w->shadows.record[a->record];
    return o == r || (r->flags & o->flags & REC_ASYNC && r->agent == o->agent && r->time == o->time &&
                      r->who.cluster == o->who.cluster);
}

/* The scope of each includes the thread of the other: with both strong, "morally strong" of the PTX ISA. */
static bool in_scope(const Access *a, const Record *o)
{
    uint16_t x = a->flags & REC_REACH, y = o->flags & REC_REACH;
    int reach = (x < y ? x : y) >> REC_REACH_SHIFT;
    if (a->t->cluster != o->who.cluster) return reach == REACH_ALL;
    return reach >= REACH_CLUSTER || a->who.rank == o->who.rank;
}

static bool conflict(const Access *a, const Record *o)
{
    uint16_t both = a->flags & o->flags;
    if (!((a->flags | o->flags) & REC_WRITE)) return false;
    if (both & REC_WRITE && (a->flags | o->flags) & REC_ANY_ORDER) return false;
    if (both & (REC_STRONG | REC_REDUCE) && in_scope(a, o)) return false;
    return !same_copy(a, o);
}

/* The table at the head of watch.h. */
static Fault order(const Access *a, const Record *o)
{
    if (!record_over(&a->w->shadows, a->t, KNOW_C, o)) return FAULT_ORDER;
    if (!(o->flags & REC_WRITE) || !(a->flags & REC_PROXY)) return FAULT_NONE;
    bool through_proxy = o->flags & REC_PROXY;
    if (through_proxy && (a->cta || a->flags & REC_WRITE)) return FAULT_NONE;
    return passed_on(a, o) ? FAULT_NONE : FAULT_PROXY;
}

/* Remembers what is wrong with regard to a record; true: nothing is. */
static bool accept(Access *a, uint32_t record, Fault fault)
{
    a->other = record;
    a->fault = fault;
    return fault == FAULT_NONE;
}

/* Whoever is ordered behind the read a is ordered behind the read o too, and a conflicts with all that o does. */
static bool supersedes(const Access *a, const Record *o)
{
    const ShadowPool *p = &a->w->shadows;
    const Record *r = &p->record[a->record];
    if (o->flags & (REC_WRITE | REC_CONST) || (a->flags & ~o->flags & (REC_STRONG | REC_REDUCE | REC_ANY_ORDER)))
        return false;
    if (a->flags & (REC_STRONG | REC_REDUCE)) {
        bool one_cta = a->t->cluster == o->who.cluster && a->who.rank == o->who.rank;
        if (!one_cta || (a->flags & REC_REACH) > (o->flags & REC_REACH)) return false;
    }
    if (!(r->flags & REC_ASYNC)) return record_over(p, a->t, KNOW_C, o);
    return o->flags & REC_ASYNC && r->alt == 0 && o->alt == 0 && o->who.cluster == r->who.cluster &&
           o->done_agent == r->done_agent && o->done_time <= r->done_time;
}

/* Of an access that is no conflict: does it still matter behind this one? */
static bool still_matters(const Access *a, const Record *o)
{
    if (!(a->flags & REC_WRITE)) return !supersedes(a, o);
    return !(o->flags & REC_MBAR) && !record_over(&a->w->shadows, a->t, KNOW_C, o);
}

/* Checks the reads and the unordered writes of a cell; those that still matter go into keep. Readers come before the
 * last write: of a slot that is filled too early they say more than the copy that filled it before. */
static bool check_others(Access *a, Cell in, uint32_t *keep, uint32_t *n, bool *known)
{
    const ShadowPool *p = &a->w->shadows;
    uint32_t v[OTHERS_MAX], had = others_get(p, in.others, v);
    bool write = a->flags & REC_WRITE;
    for (uint32_t i = 0; i < had; i++) {
        const Record *o = &p->record[v[i]];
        if (write && o->flags & REC_CONST) return accept(a, v[i], FAULT_CONST);
        if (v[i] == a->record) {
            *known = true;
        } else if (conflict(a, o)) {
            if (!accept(a, v[i], order(a, o))) return false;
            if (!(a->flags & REC_WRITE)) keep[(*n)++] = v[i];
        } else if (still_matters(a, o)) {
            keep[(*n)++] = v[i];
        }
    }
    return true;
}

static bool step(void *user, Cell in, Cell *out)
{
    Access *a = user;
    ShadowPool *p = &a->w->shadows;
    uint32_t keep[OTHERS_MAX + 1], n = 0;
    bool write = a->flags & REC_WRITE, known = false;
    if (in.write == 0 && a->cta && a->wants_data) return accept(a, 0, FAULT_UNWRITTEN);
    if (a->flags & REC_CONST && in.write) return accept(a, in.write, FAULT_CONST);
    if (in.others && !check_others(a, in, keep, &n, &known)) return false;
    if (in.write && in.write != a->record) {
        const Record *o = &p->record[in.write];
        if (o->flags & REC_GAP && a->wants_data) return accept(a, in.write, FAULT_UNWRITTEN);
        if (o->flags & REC_MBAR && !a->of_mbar) return accept(a, in.write, FAULT_MBAR);
        if (!(o->flags & REC_MBAR) && conflict(a, o)) {
            if (!accept(a, in.write, order(a, o))) return false;
        } else if (write && still_matters(a, o)) {
            keep[n++] = in.write;
        }
    }
    *out = in;
    if (write) out->write = a->record;
    else if (known) return true;
    else keep[n++] = a->record;
    if (n >
        OTHERS_MAX) { /* of too many one of the newer ones is forgotten: so the parts with older ones stay as they are */
        uint32_t i = OTHERS_MAX - OTHERS_PART + a->record % OTHERS_PART;
        keep[i] = keep[--n];
    }
    out->others = others_make(p, keep, n);
    return true;
}

/* ---- accesses ---- */
Access access_of(SimMachine *m, SimThread *t, const SimLoc *at)
{
    Access a = {.m = m, .w = watch_of(m), .t = t->watch, .cluster = t->cta->cluster->watch};
    if (at->space == PTX_SPACE_SHARED) a.cta = at->cta;
    else a.block = at->block;
    return a;
}

static bool report_const(const Access *a, uint64_t failed)
{
    const Record *o = &a->w->shadows.record[a->other];
    bool write = a->flags & REC_WRITE;
    SimWho other = o->who;
    return sim_fail_at(a->m, E1315, &a->who, &other,
                       "byte %llu of an allocation is %s: memory that .nc loads read must be read-only for the whole "
                       "duration of the kernel (PTX ISA, ld.global.nc), however the two are ordered",
                       (unsigned long long)failed,
                       write ? "written, which ld.global.nc reads in the same kernel"
                             : "read by ld.global.nc, which the same kernel has written");
}

/* Launched before others are over: has the thread seen that they are? What it has heard from a thread that waited will do. */
static bool launches_over(const Access *a)
{
    if (!a->m->launch.dependent) return true;
    if (a->flags & REC_CONST)
        return sim_fail_at(a->m, E1331, &a->who, NULL, "ld.global.nc in a kernel that may start while launches before it still write: what it reads must be read-only for the whole duration of the "
                                                       "kernel (PTX ISA, ld.global.nc), and an assembler may put it in front of griddepcontrol.wait");
    if (clock_get(a->t->k[KNOW_C], LAUNCHES)) return true;
    return sim_fail_at(a->m, E1331, &a->who, NULL, "global memory is touched while launches before this one may still run: nothing that this thread has waited for is "
                                                   "behind griddepcontrol.wait");
}

bool access_run(Access *a, const SimLoc *at, uint32_t bytes, ShadowMemo *memo)
{
    Shadow *s;
    if (a->cta == NULL && !launches_over(a)) return false;
    if (a->cta) {
        CtaWatch *cta = a->cta->shadow;
        if (cta == NULL) return true;
        s = cta->shadow;
    } else {
        if (a->block->unread && at->offset >= a->block->unread) return true;
        if (a->block->shadow == NULL) a->block->shadow = shadow_new(&a->w->shadows, a->block, a->block->bytes);
        s = a->block->shadow;
    }
    uint64_t failed;
    if (shadow_walk(s, at->offset, bytes, memo, step, a, &failed)) return true;
    if (a->fault == FAULT_CONST) return report_const(a, failed);
    return report_access(a, s, failed, at->offset + bytes);
}

static bool in_shadow(const SimLoc *at)
{
    if (at->space == PTX_SPACE_SHARED) return at->cta != NULL;
    return at->space == PTX_SPACE_GLOBAL && at->block && !at->block->read_only;
}

void pending_note(Watch *w, SimCta *cta, End end, uint32_t agent, Pending p)
{
    CtaWatch *c = cta->shadow;
    if (c == NULL) return;
    Ending *e = &c->end[end];
    if (agent >= e->npending) {
        uint32_t n = agent + 32;
        Pending *v = pool_take(&w->clocks, arena_bytes(n, sizeof *v));
        memset(v, 0, n * sizeof *v);
        if (e->npending) memcpy(v, e->pending, e->npending * sizeof *v);
        pool_give(&w->clocks, e->pending, e->npending * sizeof *v);
        e->pending = v;
        e->npending = n;
    }
    if (e->pending[agent].time < p.time) e->pending[agent] = p;
}

bool check_started(SimMachine *m, SimThread *t, SimCta *cta, const SimWho *who, const char *what)
{
    ThreadWatch *tw = t->watch;
    const CtaWatch *c = cta->shadow;
    if (cta == t->cta || c == NULL || (cta->rank < 64 && tw->started >> cta->rank & 1)) return true;
    for (uint32_t i = 0; i < cta->nthreads; i++) {
        if (clock_get(tw->k[KNOW_E], c->first_agent + i) == 0) continue;
        if (cta->rank < 64) tw->started |= UINT64_C(1) << cta->rank;
        return true;
    }
    return sim_fail_at(m, E1310, who, NULL,
                       "%s CTA (%u,%u,%u), which may not have started: nothing that this thread has waited for shows "
                       "that it runs. A cluster barrier (barrier.cluster.arrive, also .relaxed, and "
                       "wait) at the start of the kernel shows that all CTAs of the cluster run",
                       what, cta->id[0], cta->id[1], cta->id[2]);
}

/* A record for the instruction: that of the last time while it says the same. */
static ThreadRecord *thread_record(const Access *a)
{
    ShadowPool *p = &a->w->shadows;
    ThreadWatch *tw = a->t;
    ThreadRecord *r = &tw->record[a->who.pc % THREAD_RECORDS];
    bool same = r->record && r->pc == a->who.pc && r->time == tw->own[KNOW_C] && r->flags == a->flags;
    if (same && r->sweeps == p->sweeps) return r;
    uint32_t n = record_new(p);
    record_unpin(p, n);
    p->record[n].agent = tw->agent;
    p->record[n].time = tw->own[KNOW_C];
    p->record[n].flags = a->flags;
    p->record[n].who = a->who;
    *r = (ThreadRecord){.record = n, .pc = a->who.pc, .time = tw->own[KNOW_C], .sweeps = p->sweeps, .flags = a->flags};
    return r;
}

/* A strong store, the way flags are set, is over once it has been seen; other writes must be ordered. */
static void note_remote(const Access *a)
{
    bool order = a->flags & REC_WRITE && (a->flags & REC_REDUCE || !(a->flags & REC_STRONG));
    Pending p = {.time = a->t->own[order ? KNOW_C : KNOW_E], .who = a->who};
    pending_note(a->w, a->cta, order ? END_ORDER : END_EXEC, a->t->agent, p);
}

static bool thread_access(Access *a, SimThread *t, const SimLoc *at, uint32_t bytes)
{
    if (a->cta) a->flags |= REC_SHARED;
    a->who = sim_who(t);
    ThreadRecord *r = thread_record(a);
    a->record = r->record;
    if (a->cta && a->cta != t->cta) {
        if (!check_started(a->m, t, a->cta, &a->who, "the access is to shared memory of")) return false;
        note_remote(a);
        r->memo.valid = false; /* it is of one CTA's memory */
    }
    bool ok = access_run(a, at, bytes, &r->memo);
    if (a->cta && a->cta != t->cta) r->memo.valid = false;
    return ok;
}

static uint16_t strength(AccessKind kind, uint32_t scope)
{
    return kind == ACCESS_WEAK ? 0 : (uint16_t)(REC_STRONG | reach_of(scope) << REC_REACH_SHIFT);
}

bool watch_read(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t bytes, AccessKind kind, uint32_t scope)
{
    if (m->watch == NULL || t->watch == NULL || !in_shadow(at)) return true;
    Access a = access_of(m, t, at);
    a.flags = strength(kind, scope);
    a.wants_data = true;
    return thread_access(&a, t, at, bytes);
}

bool watch_read_const(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t bytes)
{
    if (m->watch == NULL || t->watch == NULL || !in_shadow(at)) return true;
    Access a = access_of(m, t, at);
    a.flags = at->space == PTX_SPACE_GLOBAL ? REC_CONST : 0;
    a.wants_data = true;
    return thread_access(&a, t, at, bytes);
}

bool watch_any_order(const SimMachine *m, uint32_t pc)
{
    const SimProgram *p = m->launch.program;
    return !m->opt->check_trust && p && p->places && pc < p->nops && p->places[pc].any_order;
}

bool watch_write(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t bytes, AccessKind kind, uint32_t scope,
                 bool reduce)
{
    if (m->watch == NULL || t->watch == NULL || !in_shadow(at)) return true;
    Access a = access_of(m, t, at);
    a.flags = (uint16_t)(REC_WRITE | strength(kind, scope) | (reduce ? REC_REDUCE : 0) |
                          (watch_any_order(m, sim_who(t).pc) ? REC_ANY_ORDER : 0));
    a.wants_data = reduce;
    return thread_access(&a, t, at, bytes);
}
