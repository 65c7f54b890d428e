/* Barriers of threads: the sixteen named ones of a CTA, and the one of a cluster.
 *
 * Named barriers (PTX ISA, barrier): a warp has arrived once all its lanes that have not exited have; then it counts
 * for 32 threads, whatever it holds. A barrier completes when as many threads as its operand says have arrived;
 * without that operand, when all warps have that still have threads, so an exit can complete it (PTX ISA, exit). With
 * the operand, threads that have exited are missed for ever: a deadlock.
 *
 * The cluster barrier completes when all threads of the cluster that have not exited have arrived (PTX ISA,
 * barrier.cluster).
 */
#include <inttypes.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/watch/watch.h"

#define LANES 32u

/* ---- named barriers ---- */
static const SimOp *op_of(const SimMachine *m, const SimThread *t)
{
    return &m->launch.program->ops[t->at];
}

static bool is_red(const SimOp *op)
{
    return op->code == SIM_BAR && op->n >= 2;
}

/* Lanes of the warp that have not exited; `gone` is about to. */
static uint32_t live_lanes(const SimCta *cta, uint32_t warp, const SimThread *gone)
{
    const SimWarp *w = &cta->warps[warp];
    uint32_t live = 0;
    for (uint32_t i = 0; i < w->n && i < LANES; i++) {
        const SimThread *t = &cta->threads[w->first + i];
        if (t != gone && t->wait != WAIT_EXITED) live |= 1u << i;
    }
    return live;
}

static bool named_complete(const SimCta *cta, const SimNamed *n, const SimThread *gone)
{
    /* Each full warp has 32 lanes that arrived, exited, or never were; `gone` may not be counted yet. */
    uint32_t missing = cta->nwarps * LANES - cta->nthreads, full = 0;
    if (n->arrived + cta->nexited + missing + 1 < n->needed) return false;
    for (uint32_t w = 0; w < cta->nwarps && w < LANES; w++) {
        uint32_t live = live_lanes(cta, w, gone);
        if (n->lanes[w] && (n->lanes[w] & live) == live) full += LANES;
        else if (live && n->all) return false;
    }
    return n->all || full >= n->needed;
}

static void named_result(const SimNamed *n, const SimOp *op, SimThread *t)
{
    if (!is_red(op) || op->d == NO_SLOT) return;
    t->slot[op->d] = op->n == 2 ? n->red_popc : op->n == 3 ? n->red_and : n->red_or;
}

/* All go on: those that wait, and `running` (NULL: none), who has arrived last. */
static void named_release(SimMachine *m, SimCta *cta, uint32_t id, SimThread *running, bool leaves)
{
    SimNamed *n = &cta->named[id];
    m->progress++;
    for (uint32_t i = 0; i < cta->nthreads; i++) {
        SimThread *t = &cta->threads[i];
        bool waits = t->wait == WAIT_NAMED && t->named == id;
        if (!waits && !(t == running && leaves)) continue;
        if (m->watch) watch_named_leave(m, t, n);
        named_result(n, op_of(m, t), t);
        if (!waits) continue;
        t->pc = t->at + 1;
        sim_wake(m, t);
    }
    if (m->watch) watch_named_done(m, n);
    n->arrived = n->needed = 0;
    n->generation++;
    n->all = n->red = false;
    for (uint32_t w = 0; w < LANES; w++) n->lanes[w] = 0;
}

static bool named_operands(SimMachine *m, SimThread *t, uint32_t id, uint32_t threads, bool all, bool wait)
{
    uint32_t room = t->cta->nwarps * LANES;
    if (t->cta->nwarps > LANES) return sim_fail(m, E1318, t, "barriers are for CTAs of up to 1024 threads");
    if (id > 15) return sim_fail(m, E1318, t, "barrier %" PRIu32 " is none of the sixteen of a CTA (0 .. 15)", id);
    if (all && wait) return true;
    if (all || threads == 0) return sim_fail(m, E1318, t, "barrier %" PRIu32 " needs a number of threads", id);
    if (threads % LANES)
        return sim_fail(m, E1318, t, "barrier %" PRIu32 " for %" PRIu32 " threads, which is no multiple of 32", id,
                        threads);
    if (threads > room)
        return sim_fail(m, E1323, t, "barrier %" PRIu32 " for %" PRIu32 " threads in a CTA of %" PRIu32, id, threads,
                        t->cta->nthreads);
    return true;
}

/* Does what t brings agree with those who have arrived before? */
static bool named_agrees(SimMachine *m, SimThread *t, uint32_t id, uint32_t needed, bool red)
{
    const SimNamed *n = &t->cta->named[id];
    if (n->needed == 0) return true;
    if (n->needed != needed)
        return sim_fail(m, E1323, t,
                        "barrier %" PRIu32 " for %" PRIu32 " threads, but others have arrived on it for %" PRIu32, id,
                        needed, n->needed);
    if (n->red != red)
        return sim_fail(m, E1323, t, "barrier %" PRIu32 " mixes .red with .sync or .arrive in one use", id);
    if (n->lanes[t->id / LANES] >> t->lane & 1)
        return sim_fail(m, E1323, t, "this thread arrives twice on barrier %" PRIu32 " before it completes", id);
    return true;
}

/* .aligned: "all threads in the warp must execute the same barrier instruction" (PTX ISA, barrier). On a GPU that shows
 * in some compilations only; fast mode takes it. */
static bool one_place(SimMachine *m, SimThread *t, uint32_t first)
{
    if (!m->checking || first == t->at) return true;
    const SimPlace *there = &m->launch.program->places[first];
    return sim_fail(m, E1323, t,
                    "lanes of one warp arrive on one barrier at different places (another lane at PTX line %" PRIu32
                    "); with .aligned (and bar) all of them must execute the same instruction",
                    there->ptx_line);
}

static void reduce(SimNamed *n, const SimOp *op, const SimThread *t, bool first)
{
    bool p = (t->slot[op->c] & 1) != (op->flags & 1);
    if (first) {
        n->red_and = 1;
        n->red_or = n->red_popc = 0;
    }
    n->red_and &= p;
    n->red_or |= p;
    n->red_popc += p;
}

/* threads: ignored where the SIM_BAR that t executes has no such operand. */
ExecResult sim_named_barrier(SimMachine *m, SimThread *t, uint32_t id, uint32_t threads, bool wait)
{
    SimCta *cta = t->cta;
    const SimOp *op = op_of(m, t);
    bool all = op->code == SIM_BAR && op->b == NO_SLOT;
    if (!named_operands(m, t, id, threads, all, wait)) return EXEC_FAILED;
    uint32_t needed = all ? cta->nwarps * LANES : threads;
    if (!named_agrees(m, t, id, needed, is_red(op))) return EXEC_FAILED;
    SimNamed *n = &cta->named[id];
    uint32_t w = t->id / LANES;
    bool first = n->needed == 0, aligned = op->code == SIM_BAR ? op->extra : false;
    if (n->lanes[w] && aligned && !one_place(m, t, n->at[w])) return EXEC_FAILED;
    if (n->lanes[w] == 0) n->at[w] = t->at;
    n->all = all && (first || n->all);
    n->red = is_red(op);
    n->needed = needed;
    n->arrived++;
    n->lanes[t->id / LANES] |= 1u << t->lane;
    if (n->red) reduce(n, op, t, first);
    if (m->watch) watch_named_arrive(m, t, n);
    m->progress++;
    if (named_complete(cta, n, NULL)) {
        named_release(m, cta, id, t, wait);
        return EXEC_BUDGET;
    }
    if (!wait) return EXEC_BUDGET;
    t->named = id;
    t->pc = t->at;
    sim_block(m, t, WAIT_NAMED);
    return EXEC_BLOCKED;
}

/* ---- cluster barrier ---- */
static bool cluster_complete(const SimCluster *c, const SimThread *gone)
{
    uint64_t there = c->arrived, all = 0;
    for (uint32_t r = 0; r < c->nctas; r++) {
        if (!c->ctas[r]->started) return false;
        there += c->ctas[r]->nexited + 1; /* `gone` may not be counted yet; an upper limit is enough here */
        all += c->ctas[r]->nthreads;
    }
    if (c->arrived == 0 || there < all) return false;
    for (uint32_t r = 0; r < c->nctas; r++)
        for (uint32_t i = 0; i < c->ctas[r]->nthreads; i++) {
            const SimThread *t = &c->ctas[r]->threads[i];
            if (t != gone && t->wait != WAIT_EXITED && t->cluster_phase != c->generation + 1) return false;
        }
    return true;
}

static void cluster_leave(SimMachine *m, SimThread *t)
{
    t->cluster_phase = 0;
    if (m->watch) watch_cluster_leave(m, t);
}

static void cluster_release(SimMachine *m, SimCluster *c)
{
    m->progress++;
    c->generation++;
    c->arrived = 0;
    for (uint32_t r = 0; r < c->nctas; r++)
        for (uint32_t i = 0; i < c->ctas[r]->nthreads; i++) {
            SimThread *t = &c->ctas[r]->threads[i];
            if (t->wait != WAIT_CLUSTER) continue;
            cluster_leave(m, t);
            t->pc = t->at + 1;
            sim_wake(m, t);
        }
}

/* The other lanes of t's warp that have arrived (wait: that wait) in this generation stand where t does. */
static bool cluster_aligned(SimMachine *m, SimThread *t, bool wait)
{
    const SimWarp *w = &t->cta->warps[t->id / LANES];
    uint64_t phase = t->cta->cluster->generation + 1;
    for (uint32_t i = 0; i < w->n; i++) {
        const SimThread *x = &t->cta->threads[w->first + i];
        if (x == t || x->wait == WAIT_EXITED || x->cluster_phase != phase) continue;
        if (wait && x->wait != WAIT_CLUSTER) continue;
        if (!one_place(m, t, wait ? x->at : x->cluster_at)) return false;
    }
    return true;
}

ExecResult sim_cluster_arrive(SimMachine *m, SimThread *t, bool relaxed, bool aligned)
{
    SimCluster *c = t->cta->cluster;
    if (t->cluster_phase) {
        sim_fail(m, E1323, t, "this thread arrives on the cluster barrier again without having waited for it");
        return EXEC_FAILED;
    }
    if (aligned && m->checking && !cluster_aligned(m, t, false)) return EXEC_FAILED;
    t->cluster_at = t->at;
    t->cluster_phase = c->generation + 1;
    c->arrived++;
    m->progress++;
    if (m->watch) watch_cluster_arrive(m, t, relaxed);
    if (cluster_complete(c, NULL)) cluster_release(m, c);
    return EXEC_BUDGET;
}

ExecResult sim_cluster_wait(SimMachine *m, SimThread *t, bool aligned)
{
    SimCluster *c = t->cta->cluster;
    if (t->cluster_phase == 0) {
        sim_fail(m, E1323, t, "this thread waits for the cluster barrier without having arrived on it");
        return EXEC_FAILED;
    }
    if (t->cluster_phase == c->generation + 1) {
        if (aligned && m->checking && !cluster_aligned(m, t, true)) return EXEC_FAILED;
        t->pc = t->at;
        sim_block(m, t, WAIT_CLUSTER);
        return EXEC_BLOCKED;
    }
    cluster_leave(m, t);
    return EXEC_BUDGET;
}

void sim_sync_exit(SimMachine *m, SimThread *t)
{
    SimCta *cta = t->cta;
    for (uint32_t id = 0; id < 16; id++) {
        SimNamed *n = &cta->named[id];
        if (n->needed && named_complete(cta, n, t)) named_release(m, cta, id, NULL, false);
    }
    if (cluster_complete(cta->cluster, t)) cluster_release(m, cta->cluster);
}
