/* The watch: what its findings say. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/sim/watch/internal.h"

typedef struct Words { /* a sentence in parts that are cut to fit */
    char s[480];
    size_t n;
} Words;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
say(Words *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(w->s + w->n, sizeof w->s - w->n, fmt, ap);
    va_end(ap);
    if (n > 0) w->n = (size_t)n < sizeof w->s - w->n ? w->n + (size_t)n : sizeof w->s - 1;
}

static void say_cta(Words *w, const SimCta *cta)
{
    say(w, "CTA (%u,%u,%u)", cta->id[0], cta->id[1], cta->id[2]);
}

static void say_bytes(Words *w, const Access *a, uint64_t first, uint64_t end)
{
    if (end - first == 1) say(w, "byte %" PRIu64 " of ", first);
    else say(w, "bytes %" PRIu64 "..%" PRIu64 " of ", first, end - 1);
    if (a->cta) {
        say(w, "shared memory of ");
        say_cta(w, a->cta);
    } else {
        Text block;
        text_init(&block, a->w->mem);
        sim_describe_block(a->m, a->block, &block);
        say(w, "%s", block.s);
        text_free(&block);
    }
}

static const Agent *agent_of(const ClusterWatch *c, uint32_t agent)
{
    return c && agent < c->nagents ? &c->agent[agent] : NULL;
}

static void say_barrier(Words *w, const ClusterWatch *c, const Agent *g)
{
    say(w, "the mbarrier at smem+%u", g->offset);
    if (c->cluster->nctas < 2 || g->rank >= c->cluster->nctas) return;
    say(w, " of ");
    say_cta(w, c->cluster->ctas[g->rank]);
}

static void say_phase(Words *w, const ClusterWatch *c, const ThreadWatch *t, const Agent *g, uint32_t agent,
                      uint32_t time)
{
    uint32_t known = know_time(t, KNOW_C, t->cluster, agent);
    say(w, "it completes phase %u of ", time - 1 - g->shift);
    say_barrier(w, c, g);
    if (know_time(t, KNOW_E, t->cluster, agent) >= time) {
        say(w, ", for which this thread has waited only with .relaxed");
    } else if (known > g->shift) {
        say(w, "; this thread has waited for phase %u of it", known - 1 - g->shift);
    } else {
        say(w, ", for which this thread has not waited");
    }
}

/* What the thread's last wait on the barrier asked for, which did not cover phase `phase`. */
static void note_last_wait(Text *notes, SimMachine *m, const ThreadWatch *t, const Agent *g, uint32_t agent,
                           uint32_t phase)
{
    const LastWait *l = &t->last_wait[agent % LAST_WAITS];
    if (l->agent != agent || l->shift != g->shift || !l->over || l->seen > phase) return;
    text_lit(notes, "\n    last wait there: ");
    sim_describe_place(m, l->pc, notes);
    if (l->parity >= 0) text_printf(notes, " for parity %d", l->parity);
    if (l->seen == 0) text_lit(notes, ", which names the phase before phase 0 and returned at once");
    else if (l->late) text_printf(notes, ", until phase %u was over", (unsigned)l->seen - 1);
    else text_printf(notes, ", which named phase %u and returned at once", (unsigned)l->seen - 1);
}

static void note_phase(Text *notes, const Access *a, const Agent *g, const Record *o)
{
    uint32_t phase = o->done_time - 1 - g->shift;
    SimCluster *c = a->cluster->cluster;
    const SimBarrier *b = g->rank < c->nctas ? mbar_find(c->ctas[g->rank], g->offset) : NULL;
    note_last_wait(notes, a->m, a->t, g, o->done_agent, phase);
    uint32_t known = know_time(a->t, KNOW_C, a->t->cluster, o->done_agent);
    if (b && b->phase == phase && known >= g->shift && known - g->shift == phase && b->last_expected == 0)
        mbar_describe_end(a->m, b, notes);
}

static bool is_committed(const Access *a, const Record *o)
{
    const SimThread *t = sim_thread(a->m, o->who);
    return t == NULL || o->done_time <= t->committed;
}

/* How the end of an asynchronous access can be known. */
static void say_completion(Words *w, const Access *a, const Record *o)
{
    const Agent *g = o->who.cluster == a->t->cluster ? agent_of(a->cluster, o->done_agent) : NULL;
    if (o->flags & REC_GROUP) {
        bool own = o->agent == a->t->agent && o->who.cluster == a->t->cluster;
        say(w, "it belongs to bulk group %u of %s, ", o->done_time, own ? "this thread" : "its thread");
        if (g && g->kind == AGENT_ALL && know_time(a->t, KNOW_C, a->t->cluster, o->done_agent - 1) >= o->done_time) {
            say(w, "of which only the reads were waited for (wait_group.read; the writes need wait_group)");
        } else if (!is_committed(a, o)) {
            say(w, "which is not even committed (cp.async.bulk.commit_group)");
        } else if (own) {
            say(w, "which has not been waited for (%s)",
                g && g->kind == AGENT_READS ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group");
        } else {
            say(w, "and no wait of that thread for it (cp.async.bulk.wait_group) is ordered before this access");
        }
    } else if (g && g->kind == AGENT_TENSOR_COMMITS) {
        bool relaxed = know_time(a->t, KNOW_E, a->t->cluster, o->done_agent) >= o->done_time;
        say(w, "it is over when a tcgen05.commit behind it arrives, for which this thread has %s",
            relaxed ? "waited only with .relaxed" : "not waited");
    } else if (g) {
        say_phase(w, a->cluster, a->t, g, o->done_agent, o->done_time);
    } else {
        say(w, "no wait for its completion is ordered before this access");
    }
}

static void say_order(Words *w, const Access *a, const Record *o)
{
    static const char *const scopes[REACH_COUNT] = {".cta", ".cluster", ".gpu"};
    if (a->flags & o->flags & (REC_STRONG | REC_REDUCE)) {
        uint16_t x = a->flags & REC_REACH, y = o->flags & REC_REACH;
        say(w,
            "both are strong (relaxed, atomic), but the scope of %s (%s) does not include the other's thread, and "
            "nothing orders them",
            x < y   ? "this one"
            : x > y ? "the other one"
                    : "both",
            scopes[(x < y ? x : y) >> REC_REACH_SHIFT]);
    } else if (know_time(a->t, KNOW_E, o->who.cluster, o->agent) >= o->time) {
        say(w, "it was executed before, but only .relaxed operations (or collectives without memory order, or scopes "
               "that are too small) stand between them");
    } else {
        say(w, "no barrier and no release / acquire pair of a scope that includes both threads orders it before this "
               "access");
    }
}

static void say_fence(Words *w, const Access *a, const Record *o)
{
    const char *space = ".global";
    if (a->cta) space = o->who.rank == a->cta->rank ? ".shared::cta" : ".shared::cluster";
    say(w, "fence.proxy.async or fence.proxy.async%s is missing between them", space);
    for (int k = KNOW_CTA; k <= KNOW_GLOBAL; k++) {
        if (!record_over(&a->w->shadows, a->t, (KnowKind)k, o)) continue;
        say(w, " (there is one of another state space)");
        return;
    }
}

static ErrorCode order_code(const Access *a, const Record *o)
{
    bool write = a->flags & REC_WRITE, async = a->flags & REC_ASYNC;
    if (o->flags & REC_ASYNC) {
        if (!write) return E1303;
        if (!(o->flags & REC_WRITE)) return E1304;
        return a->cta ? E1304 : E1315;
    }
    return !(o->flags & REC_WRITE) && async ? E1304 : E1315;
}

static const char *verb(uint16_t flags)
{
    bool write = flags & REC_WRITE, reduce = flags & REC_REDUCE;
    if (flags & REC_MBAR) return "an mbarrier.init there";
    if (flags & REC_INVAL) return "an mbarrier.inval there";
    if (flags & REC_ASYNC)
        return !write ? "a copy that reads" : reduce ? "a reduction that writes" : "a copy that writes";
    return !write ? "a read of" : reduce ? "an atomic operation on" : "a write of";
}

/* What the compiler took for granted of data may be why accesses to global memory meet. */
static void note_trusts(Text *notes, const Access *a)
{
    size_t n;
    const MfKernel *k = a->m->launch.kernel;
    const char *const *facts = word_list(WORDS_TRUST, &n);
    for (uint32_t i = 0; a->cta == NULL && k && i < k->trusts.n; i++)
        text_printf(notes, "\n    trusted, not checked: %s(%s); this may be because it is untrue", facts[k->trusts.v[i].fact], k->tensors.v[k->trusts.v[i].tensor].name);
    if (a->cta == NULL && k && a->m->opt->check_trust) text_lit(notes, "\n    stores under `overlap any` count as any other: `trust` was asked for");
}

static bool report_order(const Access *a, const Record *o, const Words *bytes)
{
    Words why = {0};
    bool proxy = a->fault == FAULT_PROXY;
    if (proxy) say_fence(&why, a, o);
    else if (o->flags & REC_ASYNC) say_completion(&why, a, o);
    else say_order(&why, a, o);
    bool there = a->flags & (REC_MBAR | REC_INVAL);
    Text notes;
    text_init(&notes, a->w->mem);
    const Agent *g = o->who.cluster == a->t->cluster ? agent_of(a->cluster, o->done_agent) : NULL;
    if (!proxy && o->flags & REC_ASYNC && !(o->flags & REC_GROUP) && g && g->kind == AGENT_MBAR)
        note_phase(&notes, a, g, o);
    note_trusts(&notes, a);
    sim_fail_notes(a->m, proxy ? E1306 : order_code(a, o), &a->who, &o->who, notes.s, "%s%s%s, after %s%s: %s",
                   verb(a->flags), there ? ", at " : " ", bytes->s, verb(o->flags), o->flags & REC_INVAL ? "" : " them",
                   why.s);
    text_free(&notes);
    return false;
}

static bool concerns(const Access *a, Cell c)
{
    if (c.write == a->other) return true;
    uint32_t v[OTHERS_MAX], n = others_get(&a->w->shadows, c.others, v);
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] == a->other) return true;
    }
    return false;
}

bool report_access(const Access *a, const Shadow *s, uint64_t failed, uint64_t end)
{
    uint64_t last = failed, to;
    while (last < end && last < s->bytes) {
        Cell c = shadow_at(s, last, &to);
        if (a->fault == FAULT_UNWRITTEN && a->other == 0 ? c.write != 0 : !concerns(a, c)) break;
        last = to;
    }
    if (last > end) last = end;
    if (last == failed) last++;
    Words bytes = {0};
    say_bytes(&bytes, a, failed, last);
    if (a->fault == FAULT_UNWRITTEN && a->other) {
        return sim_fail_at(a->m, E1305, &a->who, &a->w->shadows.record[a->other].who,
                           "%s %s, the gap behind packed elements that a copy brought: it has no value (PTX ISA, "
                           "Sub-byte Types)",
                           verb(a->flags), bytes.s);
    }
    if (a->fault == FAULT_UNWRITTEN) {
        return sim_fail_at(a->m, E1305, &a->who, NULL, "%s %s, which nothing has written since the CTA started",
                           verb(a->flags), bytes.s);
    }
    const Record *o = &a->w->shadows.record[a->other];
    if (a->fault == FAULT_MBAR) {
        return sim_fail_at(a->m, E1316, &a->who, &o->who,
                           "%s %s, which hold an mbarrier that is alive (mbarrier.inval ends it)", verb(a->flags),
                           bytes.s);
    }
    return report_order(a, o, &bytes);
}

bool report_init(SimMachine *m, SimThread *t, const SimCta *cta, const SimBarrier *b, bool copy)
{
    const MbarWatch *bw = b->watch;
    const ThreadWatch *tw = t->watch;
    const ClusterWatch *c = cta->cluster->watch;
    SimWho who = sim_who(t);
    who.async = copy;
    Words name = {0};
    say_barrier(&name, c, &c->agent[bw->agent]);
    bool ordered = know_time(tw, KNOW_C, tw->cluster, bw->init_agent) >= bw->init_time;
    const char *why =
        copy && ordered ? "fence.mbarrier_init.release.cluster (or fence.proxy.async) is missing behind the init; the "
                          "copy engine sees the barrier only then"
        : copy
            ? "fence.mbarrier_init.release.cluster behind the init, and a barrier of threads behind that, are missing"
        : cta == t->cta
            ? "no barrier of threads or release / acquire pair stands between the init and this use"
            : "fence.mbarrier_init.release.cluster behind the init and a cluster barrier (its arrive may then "
              "be .relaxed), or a cluster barrier with release and acquire, are missing";
    return sim_fail_at(m, E1307, &who, &bw->init, "the init of %s is not visible here: %s", name.s, why);
}

bool report_scope(SimMachine *m, SimThread *t, const SimCta *cta, const SimBarrier *b, const SimWho *far)
{
    const MbarWatch *bw = b->watch;
    const ClusterWatch *c = cta->cluster->watch;
    SimWho who = sim_who(t);
    Words name = {0};
    say_barrier(&name, c, &c->agent[bw->agent]);
    return sim_fail_at(m, E1329, &who, far,
                       "a wait with .acquire.cta on %s, where a thread of another CTA has arrived: its scope leaves that "
                       "thread out, nothing that it has released is acquired",
                       name.s);
}

bool report_exit(SimMachine *m, SimCta *cta, End end, uint32_t agent)
{
    const ClusterWatch *c = cta->cluster->watch;
    const CtaWatch *watch = cta->shadow;
    const Agent *g = agent_of(c, agent);
    const Pending *p = &watch->end[end].pending[agent];
    uint32_t known = clock_get(watch->end[end].exited, agent);
    Words w = {0};
    say_cta(&w, cta);
    if (end == END_ORDER && clock_get(watch->end[END_EXEC].exited, agent) >= p->time) {
        return sim_fail_at(
            m, E1311, &p->who, NULL,
            "%s has exited, and this access to its shared memory is not ordered before that: only .relaxed operations "
            "(or scopes that are too small) stand between them; a last cluster barrier with release and acquire does "
            "it",
            w.s);
    }
    if (!p->who.async || g == NULL || g->kind != AGENT_MBAR) {
        return sim_fail_at(
            m, E1311, &p->who, NULL,
            "%s has exited, and none of its threads has waited for anything that comes after this access "
            "to its shared memory: a last cluster barrier, or an arrival that it waits for",
            w.s);
    }
    bool into = g->rank == cta->rank;
    say(&w, " has exited while this copy may still use its shared memory: it completes phase %u of ",
        p->time - 1 - g->shift);
    say_barrier(&w, c, g);
    say(&w, ", and no thread of the CTA has waited for ");
    if (known > g->shift) say(&w, "more than phase %u of it", known - 1 - g->shift);
    else say(&w, "it");
    return sim_fail_at(m, into ? E1317 : E1311, &p->who, NULL, "%s%s", w.s,
                       into ? "" : " or for something that comes after that");
}

void watch_describe_missed(const SimMachine *m, const SimThread *t, const SimBarrier *b, Text *out)
{
    const ThreadWatch *tw = t->watch;
    const MbarWatch *bw = b->watch;
    if (m->watch == NULL || tw == NULL || bw == NULL) return;
    const LastWait *l = &tw->last_wait[bw->agent % LAST_WAITS];
    if (l->agent != bw->agent || l->over || l->seen >= b->phase) return;
    if (l->seen + UINT64_C(1) == b->phase)
        text_printf(out, "; its waits have not seen the end of phase %u", (unsigned)l->seen);
    else
        text_printf(out, "; its waits have not seen the ends of phases %u .. %u", (unsigned)l->seen,
                    (unsigned)b->phase - 1);
}
