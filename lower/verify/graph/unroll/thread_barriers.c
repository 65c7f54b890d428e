/* Barriers of threads: cta.sync, warp.sync, and that of the cluster. */
#include "lang/limits.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { WARP = NAMED_BARRIERS, CLUSTER };

static bool belongs(const SyncPoint *s, const Thread *t)
{
    return (s->rank == UINT32_MAX || s->rank == t->rank) && (s->role == UINT32_MAX || s->role == t->role);
}

static bool same_barrier(const SyncPoint *a, const SyncPoint *b)
{
    return a->rank == b->rank && a->id == b->id && a->role == b->role;
}

/* v->now arrives at a use of the barrier that is not over, or begins a new one. */
static void arrive(Verifier *v, uint32_t op, Meeting meeting, SyncPoint use)
{
    uint32_t i = v->syncs.n;
    event_new(v, op);
    while (i > 0 && !same_barrier(&v->syncs.v[i - 1], &use)) i--;
    if (i == 0 || v->syncs.v[i - 1].arrived == v->syncs.v[i - 1].members) {
        for (uint32_t x = 0; x < v->threads.n; x++) use.members += belongs(&use, &v->threads.v[x]);
        use.clock = verify_clock_copy(v, NULL);
        vec_push(&v->run, &v->syncs, use);
        i = v->syncs.n;
    }
    verify_clock_join(v, v->syncs.v[i - 1].clock, v->now->clock);
    v->syncs.v[i - 1].arrived++;
    v->now->at[meeting] = i;
}

/* Goes on if all have arrived. */
static void meet(Verifier *v, uint32_t op, Meeting meeting)
{
    Thread *t = v->now;
    const SyncPoint *s = &v->syncs.v[t->at[meeting] - 1];
    if (s->arrived < s->members) return;
    t->at[meeting] = 0;
    t->block = RUNS;
    verify_clock_join(v, v->now->clock, s->clock);
    event_new(v, op);
}

/* Of the CTA, or of the role. */
static void step_cta(Verifier *v, uint32_t op)
{
    const Thread *t = v->now;
    bool all = ir_find(v->ops[op], IRK_THREADS)->imm == v->k->mf.threads;
    uint32_t id = (uint32_t)ir_find(v->ops[op], IRK_ID)->imm, now = all ? UINT32_MAX : t->role + 1;
    uint32_t *user = &v->sync_ids[id];
    if (*user && *user != now) {
        verify_refuse(v, E0671, op, "cta.sync %u is used by two different sets of threads", id);
        return;
    }
    *user = now;
    arrive(v, op, OF_THREADS, (SyncPoint){.rank = t->rank, .id = id, .role = all ? UINT32_MAX : t->role, .op = op});
}

/* Of several warps each its own threads: orders nothing between any two. */
static void step_warp(Verifier *v, uint32_t op)
{
    const Thread *t = v->now;
    bool role = t->body > 0 && t->body + 1 < v->bodies.n;
    const IrRole *r = &v->k->roles.v[t->role];
    if ((role || v->k->roles.n == 1) && !r->elect && r->warps == 1)
        arrive(v, op, OF_THREADS, (SyncPoint){.rank = t->rank, .id = WARP, .role = t->role, .op = op});
}

static void step_cluster(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    bool waits = v->ops[op]->op == IR_CLUSTER_WAIT;
    if (waits && t->at[OF_CLUSTER] == 0)
        verify_refuse(v, E0671, op, "cluster.wait without a cluster.arrive before it");
    else if (waits) t->block = WAITS_CLUSTER;
    else if (t->at[OF_CLUSTER])
        verify_refuse(v, E0671, op, "cluster.arrive twice with no cluster.wait in between");
    else arrive(v, op, OF_CLUSTER, (SyncPoint){.rank = UINT32_MAX, .id = CLUSTER, .role = UINT32_MAX, .op = op});
}

void sync_step(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    if (t->block != RUNS) meet(v, op, t->block == WAITS_CLUSTER ? OF_CLUSTER : OF_THREADS);
    else if (!run_happens(v, op)) return;
    else if (v->ops[op]->op == IR_CTA_SYNC) step_cta(v, op);
    else if (v->ops[op]->op == IR_WARP_SYNC) step_warp(v, op);
    else step_cluster(v, op);
    if (t->at[OF_THREADS]) t->block = WAITS_SYNC;
}

bool sync_lacks(const Verifier *v, const Thread *waiting, const Thread *other)
{
    Meeting meeting = waiting->block == WAITS_CLUSTER ? OF_CLUSTER : OF_THREADS;
    return belongs(&v->syncs.v[waiting->at[meeting] - 1], other) && other->at[meeting] != waiting->at[meeting];
}
