/* Who waits for what, in words: for a deadlock, and for a launch that came to a limit. */
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/copies/async.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/watch.h"

enum { GROUPS_MAX = 64, LINES = 12, TEXT_MAX = 2400 };

typedef struct Group { /* threads of a CTA that wait at one place for one thing, or run in one loop */
    const SimThread *first;
    uint32_t n, last; /* how many; the last one's number */
} Group;
typedef struct Groups {
    Group v[GROUPS_MAX];
    uint32_t n;
    uint64_t more; /* threads of further groups */
} Groups;

/* Running threads are told of by the loops that they are in. */
static bool run_alike(const SimMachine *m, const SimThread *x, const SimThread *y)
{
    SimLoop a = {0}, b = {0};
    bool p = false, q = false;
    if (x->wait != WAIT_NONE || y->wait != WAIT_NONE || x->cta != y->cta) return false;
    if (!sim_loop_of(m, x, &a, &p) || !sim_loop_of(m, y, &b, &q)) return x->pc == y->pc;
    return a.first == b.first && a.last == b.last && p == q;
}

static bool alike(const SimThread *x, const SimThread *y)
{
    return x->wait != WAIT_NONE && x->cta == y->cta && x->wait == y->wait && x->at == y->at && x->on == y->on &&
           x->on_phase == y->on_phase && x->named == y->named &&
           (x->wait != WAIT_COLLECTIVE || (x->mask == y->mask && x->id / 32 == y->id / 32));
}

static void group_thread(const SimMachine *m, Groups *g, const SimThread *t)
{
    for (uint32_t i = g->n; i-- > 0;) {
        if (!alike(g->v[i].first, t) && !run_alike(m, g->v[i].first, t)) continue;
        g->v[i].n++;
        g->v[i].last = t->id;
        return;
    }
    if (g->n == GROUPS_MAX) g->more++;
    else g->v[g->n++] = (Group){.first = t, .n = 1, .last = t->id};
}

static SimCluster *oldest(const SimMachine *m, uint32_t after, bool any)
{
    SimCluster *best = NULL;
    for (uint32_t i = 0; i < m->nresident; i++) {
        SimCluster *c = m->resident[i];
        if ((any || c->number > after) && (best == NULL || c->number < best->number)) best = c;
    }
    return best;
}

/* Lanes of t's mask that are not there, and the first of them; 0: none. */
static uint32_t missing_lanes(const SimThread *t, const SimThread **first)
{
    const SimWarp *w = &t->cta->warps[t->id / 32u];
    uint32_t missing = 0;
    for (uint32_t i = 0; i < w->n && i < 32; i++) {
        const SimThread *x = &t->cta->threads[w->first + i];
        bool there = x->wait == WAIT_COLLECTIVE && x->mask == t->mask && x->at == t->at;
        if (!(t->mask >> i & 1) || x->wait == WAIT_EXITED || there) continue;
        if (missing == 0) *first = x;
        missing |= UINT32_C(1) << i;
    }
    return missing;
}

/* It waits for lanes that run: they are only not there yet. */
static bool soon(const SimThread *t)
{
    const SimThread *x = NULL;
    return t->wait == WAIT_COLLECTIVE && missing_lanes(t, &x) && x->wait == WAIT_NONE;
}

static void group_all(const SimMachine *m, Groups *g, bool run)
{
    for (SimCluster *c = oldest(m, 0, true); c; c = oldest(m, c->number, false))
        for (uint32_t r = 0; r < c->nctas; r++)
            for (uint32_t i = 0; i < c->ctas[r]->nthreads; i++) {
                const SimThread *t = &c->ctas[r]->threads[i];
                if (c->ctas[r]->started && t->wait != WAIT_EXITED && (t->wait == WAIT_NONE) == run && !soon(t))
                    group_thread(m, g, t);
            }
}

static void put_cta(const SimCta *cta, Text *out)
{
    text_printf(out, "CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", cta->id[0], cta->id[1], cta->id[2]);
}

/* ---- what is missing, per kind of wait ---- */

static void put_group_wait(SimMachine *m, const SimThread *t, Text *out)
{
    const char *reads = t->group_read ? "the reads of " : "";
    text_printf(out, "until at most %" PRIu32 " of its bulk groups are under way; %s%" PRIu64 " are", t->group_target,
                reads, async_groups_left(t, m, t->group_read));
}

static void put_cluster_wait(const SimThread *t, Text *out)
{
    const SimCluster *c = t->cta->cluster;
    const char *comma = "";
    text_lit(out, "at the cluster barrier for ");
    for (uint32_t r = 0; r < c->nctas; r++) {
        const SimCta *cta = c->ctas[r];
        uint32_t missing = 0;
        for (uint32_t i = 0; i < cta->nthreads; i++)
            missing += cta->threads[i].wait != WAIT_EXITED && cta->threads[i].cluster_phase != c->generation + 1;
        if (missing == 0) continue;
        text_printf(out, "%s%" PRIu32 " of %" PRIu32 " threads of ", comma, missing, cta->nthreads);
        put_cta(cta, out);
        if (!cta->started) text_lit(out, ", which has not started");
        comma = ", ";
    }
}

/* "3, 5 .. 7" */
static void put_lanes(uint32_t lanes, Text *out)
{
    const char *comma = "";
    for (uint32_t i = 0; i < 32; i++) {
        if (!(lanes >> i & 1)) continue;
        uint32_t last = i;
        while (last < 31 && lanes >> (last + 1) & 1) last++;
        text_printf(out, "%s%" PRIu32, comma, i);
        if (last > i) text_printf(out, " .. %" PRIu32, last);
        comma = ", ";
        i = last;
    }
}

static void put_collective_wait(SimMachine *m, const SimThread *t, Text *out)
{
    const SimThread *x = NULL;
    uint32_t missing = missing_lanes(t, &x);
    text_str(out, missing & (missing - 1) ? "for lanes " : "for lane ");
    put_lanes(missing, out);
    if (x == NULL) return;
    text_printf(out, "; lane %u is at ", (unsigned)x->lane);
    sim_describe_place(m, x->wait == WAIT_NONE ? x->pc : x->at, out);
}

static void put_wait(SimMachine *m, const SimThread *t, Text *out)
{
    switch (t->wait) {
    case WAIT_MBARRIER:
        if (t->on && t->on_phase) mbar_describe_wait(m, t->cta, t->on, t->on_phase - 1, out);
        else text_lit(out, "for an mbarrier");
        return;
    case WAIT_GROUP: put_group_wait(m, t, out); return;
    case WAIT_NAMED: {
        const SimNamed *n = &t->cta->named[t->named & 15];
        text_printf(out, "for barrier %" PRIu32 ", where %" PRIu32 " of %" PRIu32 " threads have arrived", t->named,
                    n->arrived, n->needed);
        return;
    }
    case WAIT_CLUSTER: put_cluster_wait(t, out); return;
    case WAIT_COLLECTIVE: put_collective_wait(m, t, out); return;
    case WAIT_TMEM: tmem_describe_wait(m, t, out); return;
    case WAIT_NONE:
    case WAIT_EXITED: return;
    }
}

static void put_loop(SimMachine *m, const SimThread *t, Text *out)
{
    const SimPlace *places = m->launch.program->places;
    SimLoop l;
    bool still;
    if (!sim_loop_of(m, t, &l, &still)) {
        sim_describe_place(m, t->pc, out);
        return;
    }
    if (places == NULL) return;
    uint32_t first = places[l.first].ptx_line, last = places[l.last].ptx_line;
    text_printf(out, "in a loop around PTX line%s %" PRIu32, last > first ? "s" : "", first);
    if (last > first) text_printf(out, " .. %" PRIu32, last);
    if (still) text_lit(out, ", which changes nothing");
    text_lit(out, ", at ");
    sim_describe_place(m, t->pc, out);
}

static void put_group(SimMachine *m, const Group *g, Text *out)
{
    const SimThread *t = g->first;
    SimWho who = sim_who(t);
    if (t->wait == WAIT_NONE) who.pc = t->pc;
    const char *role = sim_role(m, who), *verb = t->wait == WAIT_NONE ? "run" : "wait";
    if (g->n == 1) text_printf(out, "\n    thread %u", (unsigned)t->id);
    else if (g->last - t->id + 1u == g->n) text_printf(out, "\n    threads %u .. %" PRIu32, (unsigned)t->id, g->last);
    else text_printf(out, "\n    %" PRIu32 " of the threads %u .. %" PRIu32, g->n, (unsigned)t->id, g->last);
    text_lit(out, " of ");
    put_cta(t->cta, out);
    if (role) text_printf(out, " (role %s)", role);
    text_printf(out, " %s%s ", verb, g->n == 1 ? "s" : "");
    if (t->wait == WAIT_NONE) {
        put_loop(m, t, out);
        return;
    }
    put_wait(m, t, out);
    if (t->wait == WAIT_MBARRIER && t->on) watch_describe_missed(m, t, t->on, out);
    text_lit(out, ", at ");
    sim_describe_place(m, t->at, out);
    if (t->wait == WAIT_MBARRIER && t->on && t->on->delivered > t->on->expected) mbar_describe_end(m, t->on, out);
}

static void put_exited(SimMachine *m, Text *out)
{
    uint32_t lines = 0;
    for (SimCluster *c = oldest(m, 0, true); c; c = oldest(m, c->number, false))
        for (uint32_t r = 0; r < c->nctas; r++) {
            const SimCta *cta = c->ctas[r];
            if (cta->nexited == 0 || cta->nexited == cta->nthreads || lines == 3) continue;
            lines++;
            text_lit(out, "\n    of ");
            put_cta(cta, out);
            text_printf(out, " %" PRIu32 " of %" PRIu32 " threads have exited", cta->nexited, cta->nthreads);
        }
}

/* Has a CTA of another cluster been told of that waits at the same place? */
static bool told(const Groups *g, uint32_t i)
{
    const SimThread *t = g->v[i].first;
    for (uint32_t k = 0; k < i; k++) {
        const SimThread *x = g->v[k].first;
        if (x->cta->cluster != t->cta->cluster && x->at == t->at && x->wait == t->wait) return true;
    }
    return false;
}

void sim_waits(SimMachine *m, uint32_t lines, Text *out)
{
    Groups *g = arena_new(&m->arena, Groups);
    group_all(m, g, true);
    group_all(m, g, false);
    uint64_t more = g->more;
    for (uint32_t i = 0; i < g->n; i++) {
        if (lines == 0 || out->n > TEXT_MAX || told(g, i)) {
            more += g->v[i].n;
        } else {
            put_group(m, &g->v[i], out);
            lines--;
        }
    }
    if (more) text_printf(out, "\n    and %" PRIu64 " more thread%s", more, more == 1 ? "" : "s");
}

void sim_deadlock(SimMachine *m)
{
    Text w;
    text_init(&w, &m->mem);
    sim_waits(m, LINES, &w);
    put_exited(m, &w);
    size_t before = w.n;
    async_describe(m, &w);
    if (w.n - before > 600) w.n = before + 600, w.s[w.n] = 0;
    sim_fail(m, E1301, NULL, "%s%s",
             m->ready.n ? "no thread can get on: those that run come back to the same state, and nothing changes"
                        : "all threads that are left wait for something that cannot happen any more",
             w.s ? w.s : "");
    text_free(&w);
}
