/* The watch: copies, their completions, and what must be over at the ends of threads and CTAs. */
#include <string.h>

#include "runtime/sim/copies/maps.h"
#include "runtime/sim/watch/internal.h"

enum { COPY_TARGETS = 20 }; /* a multicast reaches 16 CTAs */

typedef enum CopyPart { COPY_READ, COPY_WRITE, COPY_GAP, COPY_MAP } CopyPart;
typedef struct CopyTarget { /* one record: bytes with one completion in one memory */
    const void *memory;     /* SimCta or SimBlock */
    const SimBarrier *b;
    CopyPart part;
    uint32_t record;
    ShadowMemo memo;
} CopyTarget;

struct WatchCopy {
    SimWho who;
    uint16_t flags;
    bool bulk_group;
    uint64_t group;
    uint32_t ndone, ntargets, next;
    struct {
        uint32_t agent, time;
    } done[COPY_TARGETS]; /* completions by mbarriers */
    CopyTarget target[COPY_TARGETS];
};

/* st.async and red.async write through the generic proxy. */
static bool is_generic(const SimMachine *m, uint32_t pc)
{
    const SimProgram *p = m->launch.program;
    if (p == NULL || pc >= p->nops || p->ops[pc].code != SIM_FORM) return false;
    uint64_t form = (uint64_t)p->ops[pc].imm;
    return form < p->nforms && form_info(p->forms[form].form)->proxy == PROXY_GENERIC;
}

/* PTX ISA: a store of st.async is weak; red.async is .relaxed.cluster; the operations of cp.reduce.async.bulk are
 * .relaxed.gpu each. */
static int strength(bool generic, bool reduce)
{
    if (generic) return reduce ? REC_REDUCE | REC_STRONG | REACH_CLUSTER << REC_REACH_SHIFT : 0;
    return REC_PROXY | (reduce ? REC_REDUCE | REACH_ALL << REC_REACH_SHIFT : 0);
}

WatchCopy *watch_copy(SimMachine *m, SimThread *t, bool bulk_group, bool reduce)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL) return NULL;
    WatchCopy *c = pool_take(&w->clocks, sizeof *c);
    *c = (WatchCopy){.who = sim_who(t), .bulk_group = bulk_group, .group = t->committed + 1};
    c->who.async = true;
    c->flags = (uint16_t)(REC_ASYNC | strength(is_generic(m, c->who.pc), reduce) | (bulk_group ? REC_GROUP : 0) |
                          (watch_any_order(m, c->who.pc) ? REC_ANY_ORDER : 0));
    if (!bulk_group) return c;
    ClusterWatch *cw = t->cta->cluster->watch;
    if (tw->reads_agent == NO_AGENT) {
        Agent a = {.kind = AGENT_READS, .rank = (uint16_t)t->cta->rank, .thread = t->id};
        tw->reads_agent = agent_new(w, cw, a);
        a.kind = AGENT_ALL;
        tw->all_agent = agent_new(w, cw, a);
    }
    tw->group = c->group;
    tw->group_who = c->who;
    return c;
}

void watch_copy_until(WatchCopy *c, uint32_t agent, uint32_t time)
{
    if (c == NULL || c->ndone == COPY_TARGETS) return;
    c->done[c->ndone].agent = agent;
    c->done[c->ndone++].time = time;
}

/* ---- records ---- */
static uint32_t copy_record(Watch *w, const ThreadWatch *t, const WatchCopy *c, uint16_t flags, uint32_t agent,
                            uint64_t time)
{
    uint32_t n = record_new(&w->shadows);
    Record *r = &w->shadows.record[n];
    r->agent = t->agent;
    r->time = t->own[KNOW_C];
    r->done_agent = agent;
    r->done_time = (uint32_t)time;
    r->flags = flags;
    r->who = c->who;
    return n;
}

/* A read is over when any of the copy's completions is known. */
static void add_completion(Watch *w, const ThreadWatch *t, const WatchCopy *c, uint32_t record, uint32_t i)
{
    Record *r = &w->shadows.record[record];
    if (r->done_agent == NO_AGENT) {
        r->done_agent = c->done[i].agent;
        r->done_time = c->done[i].time;
        return;
    }
    uint32_t n = copy_record(w, t, c, r->flags, c->done[i].agent, c->done[i].time);
    r = &w->shadows.record[record]; /* the array may have moved */
    w->shadows.record[n].alt = r->alt;
    r->alt = n;
    record_unpin(&w->shadows, n);
}

static bool is_write(CopyPart p)
{
    return p == COPY_WRITE || p == COPY_GAP;
}

static CopyTarget *target_of(Watch *w, const ThreadWatch *t, WatchCopy *c, const SimLoc *at, const SimBarrier *b,
                             CopyPart part)
{
    bool shared = at->space == PTX_SPACE_SHARED, write = is_write(part);
    const void *memory = shared ? (const void *)at->cta : (const void *)at->block;
    for (uint32_t i = 0; i < c->ntargets; i++) {
        CopyTarget *g = &c->target[i];
        if (g->memory == memory && g->b == b && g->part == part) return g;
    }
    uint32_t i = c->ntargets < COPY_TARGETS ? c->ntargets++ : c->next++ % COPY_TARGETS;
    record_unpin(&w->shadows, c->target[i].record);
    c->target[i] = (CopyTarget){.memory = memory, .b = b, .part = part};
    uint16_t flags = (uint16_t)(c->flags | (shared ? REC_SHARED : 0) | (write ? REC_WRITE : 0));
    if (!write) flags = (uint16_t)(flags & ~(REC_REDUCE | REC_STRONG)); /* its source is read like any other */
    if (part == COPY_MAP) flags = (uint16_t)(flags & ~REC_PROXY); /* another proxy: map.c */
    if (part == COPY_GAP) flags |= REC_GAP;
    const MbarWatch *bw = b ? b->watch : NULL;
    uint32_t agent = NO_AGENT;
    uint64_t time = 0;
    if (c->bulk_group) {
        agent = write ? t->all_agent : t->reads_agent;
        time = c->group;
    } else if (write && bw) {
        agent = bw->agent;
        time = (uint64_t)bw->done + 1;
    }
    c->target[i].record = copy_record(w, t, c, flags, agent, time);
    if (!write && !c->bulk_group) {
        for (uint32_t k = 0; k < c->ndone; k++) add_completion(w, t, c, c->target[i].record, k);
    }
    return &c->target[i];
}

static bool copy_bytes(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes, const SimBarrier *b,
                       CopyPart part)
{
    Watch *w = watch_of(m);
    bool shared = at->space == PTX_SPACE_SHARED, write = is_write(part);
    if (c == NULL || bytes == 0 || (shared ? at->cta == NULL : at->space != PTX_SPACE_GLOBAL || at->block == NULL)) {
        return true;
    }
    if (!shared && at->block->read_only && !write) return true;
    Access a = access_of(m, t, at);
    CopyTarget *g = target_of(w, a.t, c, at, b, part);
    a.record = g->record;
    a.flags = w->shadows.record[g->record].flags;
    a.who = c->who;
    a.wants_data = !write || c->flags & REC_REDUCE;
    return access_run(&a, at, bytes, &g->memo);
}

bool watch_copy_read(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes)
{
    if (c && at->space == PTX_SPACE_SHARED && at->cta && at->cta != t->cta &&
        !check_started(m, t, at->cta, &c->who, "the copy reads shared memory of")) {
        return false;
    }
    return copy_bytes(m, t, c, at, bytes, NULL, COPY_READ);
}

bool watch_copy_write(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes, SimBarrier *b)
{
    if (c && at->space == PTX_SPACE_SHARED && at->cta && at->cta != t->cta &&
        !check_started(m, t, at->cta, &c->who, "the copy writes shared memory of")) {
        return false;
    }
    return copy_bytes(m, t, c, at, bytes, b, COPY_WRITE);
}

bool watch_copy_gap(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes, SimBarrier *b)
{
    return copy_bytes(m, t, c, at, bytes, b, COPY_GAP);
}

bool watch_copy_map(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at)
{
    if (c == NULL || at->space != PTX_SPACE_GLOBAL || at->block == NULL || at->block->read_only) return true;
    return copy_bytes(m, t, c, at, SIM_MAP_BYTES, NULL, COPY_MAP) && watch_map_use(m, t, at, true);
}

void watch_copy_home(SimMachine *m, WatchCopy *c, SimCta *home, SimBarrier *b)
{
    const MbarWatch *bw = b->watch;
    if (m->watch && c && bw)
        pending_note(watch_of(m), home, END_EXEC, bw->agent, (Pending){.time = bw->done + 1, .who = c->who});
}

/* Completing the copy is a release at cluster scope of what its issuer knew (PTX ISA, cp.async.bulk). */
bool watch_copy_barrier(SimMachine *m, SimThread *t, WatchCopy *c, SimCta *cta, SimBarrier *b)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    MbarWatch *bw = b->watch;
    if (w == NULL || c == NULL || bw == NULL) return true;
    if (cta != t->cta && !check_started(m, t, cta, &c->who, "the copy completes on an mbarrier of")) return false;
    uint32_t cluster = tw->cluster, init = bw->init_agent;
    bool visible = know_time(tw, KNOW_M, cluster, init) >= bw->init_time ||
                   know_time(tw, KNOW_CLUSTER, cluster, init) >= bw->init_time ||
                   (cta == t->cta && know_time(tw, KNOW_CTA, cluster, init) >= bw->init_time);
    if (!visible) return report_init(m, t, cta, b, true);
    b->last_copy = b->phase + 1;
    gather_add(w, &bw->local, tw, cta == t->cta ? MASK_ALL : MASK_EXEC);
    if (cta != t->cta) gather_add(w, &bw->remote, tw, MASK_ORDER);
    if (c->ndone == COPY_TARGETS) return true;
    c->done[c->ndone].agent = bw->agent;
    c->done[c->ndone++].time = bw->done + 1;
    for (uint32_t i = 0; i < c->ntargets; i++) {
        if (!is_write(c->target[i].part) && !c->bulk_group) add_completion(w, tw, c, c->target[i].record, c->ndone - 1);
    }
    return true;
}

void watch_copy_issued(SimMachine *m, SimThread *t, WatchCopy *c)
{
    Watch *w = watch_of(m);
    if (w == NULL || c == NULL) return;
    for (uint32_t i = 0; i < c->ntargets; i++) {
        const CopyTarget *g = &c->target[i];
        const Record *r = &w->shadows.record[g->record];
        if (r->flags & REC_SHARED && !c->bulk_group && r->done_agent != NO_AGENT) {
            Pending p = {.time = r->done_time, .who = c->who};
            for (uint32_t k = 0; k < t->cta->cluster->nctas; k++) {
                SimCta *cta = t->cta->cluster->ctas[k];
                if (cta == g->memory) pending_note(w, cta, END_EXEC, r->done_agent, p);
            }
        }
        record_unpin(&w->shadows, g->record);
    }
    tick(t->watch);
    pool_give(&w->clocks, c, sizeof *c);
}

/* ---- bulk groups: PTX ISA, cp.async.bulk.wait_group ---- */
void watch_group_commit(SimMachine *m, SimThread *t)
{
    (void)m; /* a copy's group is the one that was open when it was issued */
    (void)t;
}

void watch_group_wait(SimMachine *m, SimThread *t, uint64_t group, bool read)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL || tw->reads_agent == NO_AGENT || group == 0) return;
    uint32_t time = (uint32_t)group;
    for (int i = KNOW_C; i <= KNOW_E; i++) {
        clock_set(&w->clocks, &tw->k[i], tw->reads_agent, time);
        if (!read) clock_set(&w->clocks, &tw->k[i], tw->all_agent, time);
    }
}

/* ---- ends ---- */
static void end_gather(Watch *w, Ending *e, Clock *k)
{
    if (k == NULL || k == e->last) return;
    clock_gather(&w->clocks, &e->exited, k);
    clock_drop(&w->clocks, e->last);
    e->last = clock_ref(k);
}

bool watch_thread_exit(SimMachine *m, SimThread *t)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    CtaWatch *c = t->cta->shadow;
    if (w == NULL || tw == NULL || c == NULL) return true;
    if (tw->group && clock_get(tw->k[KNOW_C], tw->reads_agent) < tw->group) {
        SimWho who = sim_who(t);
        bool committed = tw->group <= t->committed;
        return sim_fail_at(m, E1312, &who, &tw->group_who,
                           "the thread exits while its bulk group %llu may still read shared memory: %s",
                           (unsigned long long)tw->group,
                           committed ? "cp.async.bulk.wait_group.read 0 is missing before the exit"
                                     : "the copy is not even committed; cp.async.bulk.commit_group and "
                                       "cp.async.bulk.wait_group.read 0 are missing before the exit");
    }
    bool alone = t->cta->cluster->nctas < 2;
    end_gather(w, &c->end[END_EXEC], tw->k[KNOW_E]);
    if (!alone) end_gather(w, &c->end[END_ORDER], tw->k[KNOW_C]);
    ClusterWatch *cw = t->cta->cluster->watch;
    if (cw && !alone) meeting_exit(w, tw, &cw->barrier);
    return true;
}

bool watch_cta_exit(SimMachine *m, SimCta *cta)
{
    const CtaWatch *c = cta->shadow;
    if (m->watch == NULL || c == NULL) return true;
    for (int k = 0; k < END_COUNT; k++) {
        const Ending *e = &c->end[k];
        for (uint32_t i = 0; i < e->npending; i++) {
            const Pending *p = &e->pending[i];
            bool seen = p->seen && clock_get(c->end[END_EXEC].exited, p->seen_of) >= p->seen;
            if (p->time > clock_get(e->exited, i) && !seen) return report_exit(m, cta, (End)k, i);
        }
    }
    return true;
}
