#include "runtime/sim/watch/tmem.h"

#include <stdio.h>

#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/internal.h"

/* Records of tensor memory have flags of their own. */
enum { TREC_OP = 15, TREC_WRITE = 16, TREC_HALF = 32 };
enum { ROW_BYTES = TMEM_COLUMNS * 4 };

static TensorOp op_of(const Record *r)
{
    return (TensorOp)(r->flags & TREC_OP);
}

/* ---- agents ---- */
static uint32_t agent_of(Watch *w, SimThread *t, TensorAgent which)
{
    static const AgentKind kinds[] = {[TENSOR_LOADS] = AGENT_TENSOR_LOADS,
                                      [TENSOR_STORES] = AGENT_TENSOR_STORES,
                                      [TENSOR_COMMITS] = AGENT_TENSOR_COMMITS};
    ThreadWatch *tw = t->watch;
    TensorTime *x = &tw->tensor_time[which];
    if (x->agent == NO_AGENT)
        x->agent = agent_new(w, t->cta->cluster->watch,
                             (Agent){.kind = kinds[which], .rank = (uint16_t)t->cta->rank, .thread = t->id});
    return x->agent;
}

static TensorAgent agent_for(TensorOp op)
{
    return op == TENSOR_LD ? TENSOR_LOADS : op == TENSOR_ST ? TENSOR_STORES : TENSOR_COMMITS;
}

/* ---- synchronisation ---- */
void watch_tensor_wait(SimMachine *m, SimThread *const *lane, uint32_t n, bool store)
{
    Watch *w = watch_of(m);
    ThreadWatch *first = lane[0]->watch;
    if (w == NULL || first == NULL) return;
    TensorTime *x = &first->tensor_time[store ? TENSOR_STORES : TENSOR_LOADS];
    if (x->agent == NO_AGENT) return;
    x->time++;
    for (uint32_t i = 0; i < n; i++) {
        ThreadWatch *tw = lane[i]->watch;
        clock_set(&w->clocks, &tw->tensor, x->agent, x->time);
        clock_set(&w->clocks, &tw->k[KNOW_E], x->agent, x->time);
    }
}

void watch_tensor_fence(SimMachine *m, SimThread *t, bool after)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    const ClusterWatch *c = t->cta->cluster->watch;
    if (w == NULL || tw == NULL || c == NULL) return;
    if (!after) {
        clock_acquire(&w->clocks, &tw->k[KNOW_B], tw->tensor);
        tw->own[KNOW_B] = tw->own[KNOW_C];
        tick(tw);
        return;
    }
    clock_acquire(&w->clocks, &tw->tensor, tw->k[KNOW_B]);
    const Clock *e = tw->k[KNOW_E];
    for (uint32_t i = 0; e && i < e->n; i++) {
        if (e->time[i] && c->agent[i].kind == AGENT_TENSOR_COMMITS) clock_set(&w->clocks, &tw->tensor, i, e->time[i]);
    }
}

void watch_tensor_commit(SimMachine *m, SimThread *t, uint32_t *agent, uint32_t *number)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    *agent = NO_AGENT;
    *number = 0;
    if (w == NULL || tw == NULL) return;
    *agent = agent_of(w, t, TENSOR_COMMITS);
    *number = ++tw->tensor_time[TENSOR_COMMITS].time;
}

/* The arrival is a release at cluster scope of what its issuer knew, like the completion of a copy. */
bool watch_tensor_barrier(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, uint32_t agent, uint32_t number)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    MbarWatch *bw = b->watch;
    if (w == NULL || tw == NULL || bw == NULL || agent == NO_AGENT) return true;
    if (!watch_mbar_use(m, t, cta, b)) return false;
    bool near = cta == t->cta;
    gather_add(w, &bw->local, tw, near ? MASK_ALL : MASK_EXEC);
    if (!near) {
        SimWho who = sim_who(t);
        who.async = true;
        gather_add(w, &bw->remote, tw, MASK_ORDER);
        pending_note(w, cta, END_EXEC, agent, (Pending){.time = number, .who = who});
    }
    tick(tw);
    return true;
}

void watch_tensor_committed(SimMachine *m, SimBarrier *b, uint32_t agent, uint32_t number)
{
    Watch *w = watch_of(m);
    MbarWatch *bw = b->watch;
    if (w == NULL || bw == NULL || agent == NO_AGENT) return;
    for (int i = KNOW_C; i <= KNOW_E; i++)
        if (clock_get(bw->local.k[i], agent) < number) clock_set(&w->clocks, &bw->local.k[i], agent, number);
}

WatchCopy *watch_tensor_source(SimMachine *m, SimThread *t)
{
    Watch *w = watch_of(m);
    ThreadWatch *tw = t->watch;
    if (w == NULL || tw == NULL) return NULL;
    WatchCopy *c = watch_copy(m, t, false, false);
    uint32_t agent = agent_of(w, t, TENSOR_COMMITS);
    watch_copy_until(c, agent, tw->tensor_time[TENSOR_COMMITS].time + 1);
    return c;
}

/* ---- accesses ---- */
typedef enum TensorFault { TENSOR_FINE, TENSOR_UNWRITTEN, TENSOR_UPPER, TENSOR_ORDER } TensorFault;
typedef struct Check { /* one walk over the columns of a lane */
    SimMachine *m;
    Watch *w;
    ThreadWatch *t;
    SimThread *thread;
    SimCta *cta;
    SimWho who;
    TensorOp op;
    bool write, half;
    uint32_t record;
    TensorFault fault;
    uint32_t other;
} Check;

static bool is_sync(TensorOp op)
{
    return op == TENSOR_ALLOC || op == TENSOR_DEALLOC;
}

static bool executed(const ThreadWatch *t, const Record *o)
{
    return know_time(t, KNOW_E, t->cluster, o->agent) >= o->time;
}

static bool over(const Check *c, const Record *o)
{
    const ThreadWatch *t = c->t;
    TensorOp before = op_of(o);
    if (c->op == TENSOR_ALLOC) return true; /* the columns were given back, and it waited for that */
    if (is_sync(before)) return executed(t, o);
    if (clock_get(t->tensor, o->done_agent) >= o->done_time) return true;
    if (is_sync(c->op)) return know_time(t, KNOW_E, t->cluster, o->done_agent) >= o->done_time;
    bool pipeline = before == TENSOR_SHIFT && c->op == TENSOR_CP_4X256B;
    return pipeline && (o->agent == t->agent || clock_get(t->tensor, o->agent) >= o->time);
}

static bool same_operation(const Check *c, uint32_t other)
{
    const ShadowPool *p = &c->w->shadows;
    const Record *r = &p->record[c->record], *o = &p->record[other];
    return other == c->record || (r->agent == o->agent && r->time == o->time && r->who.pc == o->who.pc);
}

static bool fault(Check *c, TensorFault what, uint32_t other)
{
    c->fault = what;
    c->other = other;
    return false;
}

static bool step(void *user, Cell in, Cell *out)
{
    Check *c = user;
    ShadowPool *p = &c->w->shadows;
    uint32_t v[OTHERS_MAX], keep[OTHERS_MAX + 1], n = 0, had = others_get(p, in.others, v);
    if (in.write && !same_operation(c, in.write)) {
        const Record *o = &p->record[in.write];
        if (!c->write && op_of(o) == TENSOR_ALLOC) return fault(c, TENSOR_UNWRITTEN, in.write);
        if (!over(c, o)) return fault(c, TENSOR_ORDER, in.write);
        if (!c->write && !c->half && o->flags & TREC_HALF) return fault(c, TENSOR_UPPER, in.write);
    } else if (in.write == 0 && !c->write) {
        return fault(c, TENSOR_UNWRITTEN, 0);
    }
    *out = in;
    for (uint32_t i = 0; i < had; i++) {
        if (v[i] == c->record && !c->write) return true;
        if (same_operation(c, v[i])) continue;
        if (!c->write) keep[n++] = v[i];
        else if (!over(c, &p->record[v[i]])) return fault(c, TENSOR_ORDER, v[i]);
    }
    if (c->write) out->write = c->record;
    else keep[n++] = c->record;
    if (n > OTHERS_MAX) { /* of too many readers one of the newer ones is forgotten */
        uint32_t i = OTHERS_MAX - OTHERS_PART + c->record % OTHERS_PART;
        keep[i] = keep[--n];
    }
    out->others = others_make(p, keep, n);
    return true;
}

void watch_tensor_begin(SimMachine *m, SimThread *t, TensorOp op, bool half, WatchTensor *w)
{
    *w = (WatchTensor){.op = op, .half = half};
    if (m->watch && t->watch && t->cta->shadow) w->t = t;
}

static uint32_t make_record(Watch *w, const WatchTensor *x, bool write)
{
    ThreadWatch *tw = x->t->watch;
    bool sync = is_sync(x->op);
    TensorAgent which = agent_for(x->op);
    uint32_t agent = sync ? NO_AGENT : agent_of(w, x->t, which), n = record_new(&w->shadows);
    Record *r = &w->shadows.record[n];
    r->agent = tw->agent;
    r->time = sync ? tw->own[KNOW_E] : tw->own[KNOW_C];
    r->done_agent = agent;
    r->done_time = sync ? 0 : tw->tensor_time[which].time + 1;
    r->flags = (uint16_t)((unsigned)x->op | (write ? TREC_WRITE : 0u) | (x->half && write ? TREC_HALF : 0u));
    r->who = sim_who(x->t);
    r->who.async = !sync;
    return n;
}

static bool report(const Check *c, uint32_t lane, uint64_t byte);

bool watch_tensor_touch(SimMachine *m, WatchTensor *x, SimCta *cta, uint32_t lane, uint32_t column, uint32_t n,
                        bool write)
{
    Watch *w = watch_of(m);
    if (x->t == NULL || cta->shadow == NULL) return true;
    CtaWatch *cw = cta->shadow;
    SimWho who = sim_who(x->t);
    if (cta != x->t->cta && !check_started(m, x->t, cta, &who, "the operation is on tensor memory of")) return false;
    if (cw->tensor == NULL) cw->tensor = shadow_new(&w->shadows, cta, (uint64_t)TMEM_LANES * ROW_BYTES);
    if (x->record[write] == 0) x->record[write] = make_record(w, x, write);
    Check c = {.m = m,
               .w = w,
               .t = x->t->watch,
               .thread = x->t,
               .cta = cta,
               .who = who,
               .op = x->op,
               .write = write,
               .half = x->half,
               .record = x->record[write]};
    uint64_t failed;
    uint64_t at = (uint64_t)lane * ROW_BYTES + (uint64_t)column * 4;
    if (shadow_walk(cw->tensor, at, (uint64_t)n * 4, &x->memo[write], step, &c, &failed)) return true;
    return report(&c, lane, failed);
}

void watch_tensor_end(SimMachine *m, WatchTensor *x)
{
    Watch *w = watch_of(m);
    if (x->t == NULL) return;
    for (int i = 0; i < 2; i++)
        if (x->record[i]) record_unpin(&w->shadows, x->record[i]);
    tick(x->t->watch);
}

/* ---- findings ---- */
static const char *const op_names[] = {
    [TENSOR_ALLOC] = "tcgen05.alloc", [TENSOR_DEALLOC] = "tcgen05.dealloc", [TENSOR_LD] = "tcgen05.ld",
    [TENSOR_ST] = "tcgen05.st",       [TENSOR_CP] = "tcgen05.cp",           [TENSOR_CP_4X256B] = "tcgen05.cp",
    [TENSOR_SHIFT] = "tcgen05.shift"};

/* What is missing between the two. fences: the tcgen05.fence alone. */
static const char *missing(const Check *c, const Record *o, bool *fences)
{
    const ThreadWatch *t = c->t;
    const SimThread *by = sim_thread(c->m, o->who);
    const ThreadWatch *other = by ? by->watch : NULL;
    bool own = o->agent == t->agent, load = op_of(o) == TENSOR_LD, copy = !load && op_of(o) != TENSOR_ST;
    uint32_t waits = other ? other->tensor_time[agent_for(op_of(o))].time : 0;
    *fences = !is_sync(op_of(o)) && know_time(t, KNOW_E, t->cluster, o->done_agent) >= o->done_time;
    if (is_sync(op_of(o))) return "no synchronisation of threads stands between them";
    if (*fences && (copy || clock_get(t->k[KNOW_B], o->done_agent) >= o->done_time))
        return copy ? "the commit behind it was waited for, but tcgen05.fence::after_thread_sync is missing behind the "
                      "wait"
                    : "tcgen05.fence::after_thread_sync is missing behind the synchronisation of the threads";
    if (*fences)
        return "tcgen05.fence::before_thread_sync is missing between its wait and the synchronisation of the threads";
    if (copy)
        return waits >= o->done_time ? "this thread has not waited for the mbarrier of the tcgen05.commit behind it"
                                     : "no tcgen05.commit stands behind it";
    if (waits < o->done_time)
        return load ? "tcgen05.wait::ld is missing behind it" : "tcgen05.wait::st is missing behind it";
    return own ? "its wait comes later" : "it was waited for, but no synchronisation of threads stands between them";
}

static ErrorCode order_code(const Check *c, const Record *o)
{
    bool copy = op_of(o) == TENSOR_CP || op_of(o) == TENSOR_CP_4X256B || op_of(o) == TENSOR_SHIFT;
    if (!(o->flags & TREC_WRITE)) return E1304;
    return copy && !c->write ? E1303 : E1315;
}

static bool report(const Check *c, uint32_t lane, uint64_t byte)
{
    char where[160];
    uint32_t column = (uint32_t)(byte % ROW_BYTES / 4);
    snprintf(where, sizeof where, "lane %u, column %u of the tensor memory of CTA (%u,%u,%u)", (unsigned)lane,
             (unsigned)column, (unsigned)c->cta->id[0], (unsigned)c->cta->id[1], (unsigned)c->cta->id[2]);
    if (c->fault == TENSOR_UNWRITTEN)
        return sim_fail_at(c->m, E1362, &c->who, NULL, "%s reads %s, which nothing has written since it was allocated",
                           op_names[c->op], where);
    const Record *o = &c->w->shadows.record[c->other];
    SimWho other = o->who;
    other.async = false;
    if (c->fault == TENSOR_UPPER)
        return sim_fail_at(c->m, E1367, &c->who, &other,
                           "%s reads all 32 bits of %s, whose upper 16 the PTX ISA leaves open after tcgen05.st with "
                           ".unpack::16b",
                           op_names[c->op], where);
    bool fences;
    const char *why = missing(c, o, &fences);
    return sim_fail_at(c->m, fences ? E1365 : order_code(c, o), &c->who, &other, "%s %s %s, after %s that %s it: %s",
                       op_names[c->op],
                       is_sync(c->op) ? "of"
                       : c->write     ? "writes"
                                      : "reads",
                       where, op_names[op_of(o)], o->flags & TREC_WRITE ? "writes" : "reads", why);
}
