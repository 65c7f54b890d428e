/* The watch: knowledge handed on by barriers, arrivals and proxy fences. */
#include <string.h>

#include "runtime/sim/watch/internal.h"

void tick(ThreadWatch *t)
{
    t->own[KNOW_C]++;
    t->own[KNOW_E]++;
}

/* ---- gathering and taking ---- */
static void gather(Watch *w, Gather *g, uint32_t agent, Clock *const *k, const uint32_t *own, Foreign *foreign,
                   unsigned mask)
{
    ClockPool *p = &w->clocks;
    for (int i = 0; i < KNOW_COUNT; i++) {
        if (!(mask >> i & 1)) continue;
        if (k[i] && k[i] != g->last[i]) {
            clock_gather(p, &g->k[i], k[i]);
            clock_drop(p, g->last[i]);
            g->last[i] = clock_ref(k[i]);
        }
        if (own[i]) clock_set(p, &g->k[i], agent, own[i]);
    }
    if (mask >> KNOW_C & 1 && foreign) {
        Foreign *f = foreign_join(p, g->foreign, foreign, UINT32_MAX);
        foreign_drop(p, g->foreign);
        g->foreign = f;
    }
}

void gather_add(Watch *w, Gather *g, const ThreadWatch *t, unsigned mask)
{
    gather(w, g, t->agent, t->k, t->own, t->foreign, mask);
}

/* A relaxed arrival behind a fence releases what the fence covers (PTX ISA, Release and Acquire Patterns). */
static void gather_fenced(Watch *w, Gather *g, const ThreadWatch *t, Reach r)
{
    const Snapshot *f = &t->fence[r];
    if (f->taken) gather(w, g, t->agent, f->k, f->own, f->foreign, MASK_ORDER);
}

void clocks_drop(Watch *w, Clock **k)
{
    for (int i = 0; i < KNOW_COUNT; i++) {
        clock_drop(&w->clocks, k[i]);
        k[i] = NULL;
    }
}

void gather_clear(Watch *w, Gather *g)
{
    clocks_drop(w, g->k);
    clocks_drop(w, g->last);
    foreign_drop(&w->clocks, g->foreign);
    g->foreign = NULL;
}

void knowledge_take(Watch *w, ThreadWatch *t, Clock *const *k, Foreign *f, unsigned mask)
{
    for (int i = 0; i < KNOW_COUNT; i++) {
        if (mask >> i & 1) clock_acquire(&w->clocks, &t->k[i], k[i]);
    }
    if (mask >> KNOW_C & 1 && f && f != t->foreign) {
        Foreign *j = foreign_join(&w->clocks, t->foreign, f, t->cluster);
        foreign_drop(&w->clocks, t->foreign);
        t->foreign = j;
    }
}

void thread_clear(Watch *w, ThreadWatch *t)
{
    clocks_drop(w, t->k);
    clock_drop(&w->clocks, t->tensor);
    t->tensor = NULL;
    foreign_drop(&w->clocks, t->foreign);
    t->foreign = NULL;
    for (int i = 0; i < REACH_COUNT; i++) {
        clocks_drop(w, t->fence[i].k);
        foreign_drop(&w->clocks, t->fence[i].foreign);
        foreign_drop(&w->clocks, t->fence[i].set);
        foreign_drop(&w->clocks, t->heard[i]);
        foreign_drop(&w->clocks, t->last_heard[i]);
        t->fence[i].foreign = t->fence[i].set = t->heard[i] = t->last_heard[i] = NULL;
    }
    for (int i = 0; i < TAKEN_SETS; i++) {
        foreign_drop(&w->clocks, t->taken[i]);
        t->taken[i] = NULL;
    }
}

/* ---- barriers of threads ---- */
static void meeting_forget(Watch *w, Meeting *r)
{
    clocks_drop(w, r->k);
    foreign_drop(&w->clocks, r->foreign);
    r->foreign = NULL;
}

void meeting_clear(Watch *w, Meeting *r)
{
    meeting_forget(w, r);
    gather_clear(w, &r->in);
    gather_clear(w, &r->exited);
}

static void meeting_arrive(Watch *w, ThreadWatch *t, Meeting *r, uint32_t *round, bool relaxed)
{
    gather_add(w, &r->in, t, relaxed ? MASK_EXEC : MASK_ALL);
    if (relaxed) gather_fenced(w, &r->in, t, REACH_CLUSTER);
    tick(t);
    *round = r->round;
}

/* The first one to leave closes the round: whoever arrives now arrives for the next. */
static void meeting_leave(Watch *w, ThreadWatch *t, Meeting *r, const uint32_t *round)
{
    if (*round == r->round) {
        meeting_forget(w, r);
        for (int i = 0; i < KNOW_COUNT; i++) {
            if (r->exited.k[i]) clock_gather(&w->clocks, &r->in.k[i], r->exited.k[i]);
            r->k[i] = clock_ref(r->in.k[i]);
        }
        r->foreign = foreign_ref(r->in.foreign);
        gather_clear(w, &r->in);
        r->round++;
    }
    r->left = true;
    knowledge_take(w, t, r->k, r->foreign, MASK_ALL);
}

void meeting_exit(Watch *w, ThreadWatch *t, Meeting *r)
{
    gather_add(w, &r->exited, t, MASK_EXEC);
}

static Meeting *named_of(SimThread *t, SimNamed *n, uint32_t *which)
{
    CtaWatch *c = t->cta->shadow;
    *which = (uint32_t)(n - t->cta->named);
    if (c == NULL || *which >= 16) return NULL;
    n->watch = &c->named[*which];
    return n->watch;
}

void watch_named_arrive(SimMachine *m, SimThread *t, SimNamed *n)
{
    uint32_t i;
    Meeting *r = m->watch && t->watch ? named_of(t, n, &i) : NULL;
    ThreadWatch *tw = t->watch;
    if (r) meeting_arrive(watch_of(m), tw, r, &tw->named_round[i], false);
}

void watch_named_leave(SimMachine *m, SimThread *t, SimNamed *n)
{
    uint32_t i;
    Meeting *r = m->watch && t->watch ? named_of(t, n, &i) : NULL;
    ThreadWatch *tw = t->watch;
    if (r) meeting_leave(watch_of(m), tw, r, &tw->named_round[i]);
}

void watch_named_done(SimMachine *m, SimNamed *n)
{
    Watch *w = watch_of(m);
    Meeting *r = n->watch;
    if (w == NULL || r == NULL) return;
    if (!r->left) { /* all came by bar.arrive */
        gather_clear(w, &r->in);
        r->round++;
    }
    meeting_forget(w, r);
    r->left = false;
}

void watch_cluster_arrive(SimMachine *m, SimThread *t, bool relaxed)
{
    ClusterWatch *c = t->cta->cluster->watch;
    ThreadWatch *tw = t->watch;
    if (m->watch && c && tw) meeting_arrive(watch_of(m), tw, &c->barrier, &tw->cluster_round, relaxed);
}

void watch_cluster_leave(SimMachine *m, SimThread *t)
{
    ClusterWatch *c = t->cta->cluster->watch;
    ThreadWatch *tw = t->watch;
    if (m->watch && c && tw) meeting_leave(watch_of(m), tw, &c->barrier, &tw->cluster_round);
}

void watch_warp(SimMachine *m, SimThread *const *threads, uint32_t n, bool memory)
{
    Watch *w = watch_of(m);
    if (w == NULL || n < 2) return;
    unsigned mask = memory ? MASK_ALL : MASK_EXEC;
    Gather g = {0};
    for (uint32_t i = 0; i < n; i++) {
        ThreadWatch *t = threads[i]->watch;
        if (t == NULL) continue;
        gather_add(w, &g, t, mask);
        tick(t);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (threads[i]->watch) knowledge_take(w, threads[i]->watch, g.k, g.foreign, mask);
    }
    gather_clear(w, &g);
}

/* ---- mbarriers: PTX ISA, mbarrier ---- */
static void seen_clear(Watch *w, MbarWatch *b, int i)
{
    clocks_drop(w, b->seen[i].local);
    clocks_drop(w, b->seen[i].remote);
    foreign_drop(&w->clocks, b->seen[i].local_foreign);
    foreign_drop(&w->clocks, b->seen[i].remote_foreign);
    b->seen[i].local_foreign = b->seen[i].remote_foreign = NULL;
    b->seen[i].has_far = false;
}

void mbar_clear(Watch *w, MbarWatch *b)
{
    gather_clear(w, &b->local);
    gather_clear(w, &b->remote);
    b->has_far = false;
    seen_clear(w, b, 0);
    seen_clear(w, b, 1);
}

static bool mbar_bytes(SimMachine *m, SimThread *t, const SimLoc *at, uint16_t flags)
{
    Watch *w = watch_of(m);
    Access a = access_of(m, t, at);
    a.flags = (uint16_t)(REC_WRITE | REC_SHARED | flags);
    a.of_mbar = true;
    a.who = sim_who(t);
    a.record = record_new(&w->shadows);
    Record *r = &w->shadows.record[a.record];
    r->agent = a.t->agent;
    r->time = a.t->own[KNOW_C];
    r->flags = a.flags;
    r->who = a.who;
    ShadowMemo memo = {0};
    bool ok = access_run(&a, at, 8, &memo);
    record_unpin(&w->shadows, a.record);
    return ok;
}

bool watch_mbar_init(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, const SimLoc *at)
{
    Watch *w = watch_of(m);
    ClusterWatch *c = cta->cluster->watch;
    ThreadWatch *tw = t->watch;
    if (w == NULL || c == NULL || tw == NULL) return true;
    MbarWatch *bw = b->watch;
    if (bw == NULL) {
        bw = pool_take(&w->clocks, sizeof *bw);
        *bw = (MbarWatch){0};
        b->watch = bw;
        bw->agent = agent_new(w, c,
                              (Agent){.kind = AGENT_MBAR, .rank = (uint16_t)cta->rank, .offset = (uint32_t)at->offset});
    } else {
        mbar_clear(w, bw);
        c->agent[bw->agent].shift = ++bw->done; /* the new life's phases are others */
    }
    bw->init_agent = tw->agent;
    bw->init_time = tw->own[KNOW_C];
    bw->init = sim_who(t);
    return mbar_bytes(m, t, at, REC_MBAR);
}

bool watch_mbar_inval(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, const SimLoc *at)
{
    if (m->watch == NULL || t->watch == NULL) return true;
    return watch_mbar_use(m, t, cta, b) && mbar_bytes(m, t, at, REC_INVAL);
}

bool watch_mbar_use(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    MbarWatch *bw = b->watch;
    if (w == NULL || tw == NULL || bw == NULL) return true;
    if (cta != t->cta) {
        SimWho who = sim_who(t);
        if (!check_started(m, t, cta, &who, "this is about an mbarrier of")) return false;
        /* Under way when its thread goes on: there for those who see its phase, or whom a release behind it reaches. */
        Pending p = {.time = tw->own[KNOW_C], .seen_of = bw->agent, .seen = bw->done + 1, .who = who};
        pending_note(w, cta, END_ORDER, tw->agent, p);
        gather_add(w, &bw->local, tw, MASK_EXEC); /* expect_tx and complete_tx are seen to be over too */
        tick(tw);
    }
    if (know_time(tw, KNOW_C, tw->cluster, bw->init_agent) >= bw->init_time) return true;
    if (know_time(tw, KNOW_M, tw->cluster, bw->init_agent) >= bw->init_time) return true;
    return report_init(m, t, cta, b, false);
}

void watch_mbar_arrive(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, bool relaxed, bool cluster_scope)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    MbarWatch *bw = b->watch;
    if (w == NULL || tw == NULL || bw == NULL) return;
    gather_add(w, &bw->local, tw, MASK_EXEC);
    bool near = cta == t->cta;
    Gather *to = near ? &bw->local : &bw->remote;
    if (relaxed && (near || cluster_scope)) gather_fenced(w, to, tw, near ? REACH_CTA : REACH_CLUSTER);
    else if (near || cluster_scope) gather_add(w, to, tw, MASK_ORDER);
    if (!near && cluster_scope && !relaxed) {
        bw->far = sim_who(t);
        bw->has_far = true;
    }
    tick(tw);
}

/* Arrivals of earlier phases stay in what is gathered: each phase follows them in the order of the barrier's changes.
 * That the phase is complete stands in both parts, whatever the scope of the copies and of the wait. */
void watch_mbar_phase(SimMachine *m, SimCta *cta, SimBarrier *b)
{
    (void)cta;
    Watch *w = watch_of(m);
    MbarWatch *bw = b->watch;
    if (w == NULL || bw == NULL) return;
    bw->done++;
    clock_set(&w->clocks, &bw->local.k[KNOW_C], bw->agent, bw->done);
    clock_set(&w->clocks, &bw->local.k[KNOW_E], bw->agent, bw->done);
    seen_clear(w, bw, 1);
    bw->seen[1] = bw->seen[0];
    for (int i = 0; i < KNOW_COUNT; i++) {
        bw->seen[0].local[i] = clock_ref(bw->local.k[i]);
        bw->seen[0].remote[i] = clock_ref(bw->remote.k[i]);
    }
    bw->seen[0].local_foreign = foreign_ref(bw->local.foreign);
    bw->seen[0].remote_foreign = foreign_ref(bw->remote.foreign);
    bw->seen[0].far = bw->far;
    bw->seen[0].has_far = bw->has_far;
    bw->has_far = false;
}

/* A relaxed wait: a fence behind it makes this known. */
static void hear_clocks(Watch *w, ThreadWatch *t, Reach r, Clock *const *k, Foreign *f)
{
    Foreign *one = foreign_one(&w->clocks, t->cluster, k);
    hear(w, t, r, one);
    if (f) hear(w, t, r, f);
    foreign_drop(&w->clocks, one);
}

void watch_mbar_asked(SimMachine *m, SimThread *t, const SimBarrier *b, int parity, uint64_t seen, bool over)
{
    ThreadWatch *tw = t->watch;
    const MbarWatch *bw = b->watch;
    const ClusterWatch *c = t->cta->cluster->watch;
    if (m->watch == NULL || tw == NULL || bw == NULL || c == NULL) return;
    LastWait *l = &tw->last_wait[bw->agent % LAST_WAITS], was = *l;
    *l = (LastWait){.agent = bw->agent,
                    .shift = c->agent[bw->agent].shift,
                    .pc = t->at,
                    .seen = (uint32_t)seen,
                    .parity = (int8_t)parity,
                    .over = over};
    bool again = was.agent == l->agent && was.shift == l->shift;
    if (!over && again) l->seen = was.seen;
    l->late = over && again && was.pc == l->pc && !was.over;
}

bool watch_mbar_seen(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, uint64_t phase, bool relaxed,
                     bool cluster_scope)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    MbarWatch *bw = b->watch;
    if (phase > b->observed) b->observed = phase;
    if (w == NULL || tw == NULL || bw == NULL || phase == 0) return true;
    int i = phase < b->phase;
    if (!relaxed && !cluster_scope && bw->seen[i].has_far) return report_scope(m, t, cta, b, &bw->seen[i].far);
    knowledge_take(w, tw, bw->seen[i].local, bw->seen[i].local_foreign, relaxed ? MASK_EXEC : MASK_ALL);
    if (relaxed) hear_clocks(w, tw, REACH_CTA, bw->seen[i].local, bw->seen[i].local_foreign);
    if (!cluster_scope) return true;
    if (relaxed) hear_clocks(w, tw, REACH_CLUSTER, bw->seen[i].remote, bw->seen[i].remote_foreign);
    else knowledge_take(w, tw, bw->seen[i].remote, bw->seen[i].remote_foreign, MASK_ORDER);
    return true;
}

/* ---- proxy fences: PTX ISA, membar / fence; mbarriers lie in shared memory ---- */
/* What t knows of the own CTA's agents: fence.proxy.async.shared::cta is about its memory only. */
static void pass_on_own(Watch *w, const ClusterWatch *c, ThreadWatch *t, uint32_t rank)
{
    const Clock *know = t->k[KNOW_C];
    for (uint32_t i = 0; know && i < know->n; i++) {
        if (know->time[i] && c->agent[i].rank == rank) clock_set(&w->clocks, &t->k[KNOW_CTA], i, know->time[i]);
    }
}

void watch_fence_proxy(SimMachine *m, SimThread *t, InstrForm form)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    ClusterWatch *c = t->cta->cluster->watch;
    if (w == NULL || tw == NULL || c == NULL) return;
    bool all = form == FORM_FENCE_ASYNC, global = form == FORM_FENCE_ASYNC_GLOBAL || all;
    bool cta = form == FORM_FENCE_ASYNC_SHARED || form == FORM_FENCE_GENERIC_RELEASE;
    bool cluster = form == FORM_FENCE_ASYNC_CLUSTER || form == FORM_FENCE_GENERIC_ACQUIRE || all;
    if (!(cta || cluster || global)) return;
    bool pass[KNOW_COUNT] = {
        [KNOW_M] = cta || cluster, [KNOW_CTA] = cta || cluster, [KNOW_CLUSTER] = cluster, [KNOW_GLOBAL] = global};
    for (int i = 0; i < KNOW_COUNT; i++) {
        if (!pass[i]) continue;
        if (i == KNOW_CTA && t->cta->cluster->nctas > 1) pass_on_own(w, c, tw, t->cta->rank);
        else clock_acquire(&w->clocks, &tw->k[i], tw->k[KNOW_C]);
        tw->own[i] = tw->own[KNOW_C];
    }
    if (global && tw->foreign) {
        Foreign *f = foreign_raise(&w->clocks, tw->foreign, KNOW_C, KNOW_GLOBAL);
        foreign_drop(&w->clocks, tw->foreign);
        tw->foreign = f;
    }
    tick(tw);
}

void watch_launches_over(SimMachine *m, SimThread *t)
{
    Watch *w = watch_of(m);
    if (w) clock_set(&w->clocks, &((ThreadWatch *)t->watch)->k[KNOW_C], LAUNCHES, 1);
}

void watch_fence_init(SimMachine *m, SimThread *t)
{
    ThreadWatch *tw = t->watch;
    if (m->watch == NULL || tw == NULL) return;
    tw->own[KNOW_M] = tw->own[KNOW_C];
    tick(tw);
}
