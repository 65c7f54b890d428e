/* Barriers of threads: cta.sync, warp.sync, and that of the cluster. */
#include "lower/verify/graph/unroll/unroll.h"

enum { WARP = -1 };

static bool in_role(const Verifier *v, const Thread *t)
{
    return t->body > 0 && t->body + 1 < v->bodies.n;
}

static bool belongs(const SyncPoint *s, const Thread *t)
{
    return t->rank == s->rank && (s->role == UINT32_MAX || s->role == t->role);
}

static uint32_t members(const Verifier *v, const SyncPoint *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->threads.n; i++) n += belongs(s, &v->threads.v[i]);
    return n;
}

/* The use of the barrier that v->now arrives at: one that waits for it, or a new one. */
static SyncPoint *point_of(Verifier *v, uint32_t op, uint32_t id, uint32_t role)
{
    for (uint32_t i = v->syncs.n; i-- > 0;) {
        SyncPoint *s = &v->syncs.v[i];
        if (s->rank != v->now->rank || s->id != id || s->role != role) continue;
        if (s->arrived < s->members) return s;
        break;
    }
    SyncPoint *s = vec_add(&v->run, &v->syncs);
    *s = (SyncPoint){.rank = v->now->rank, .id = id, .role = role, .op = op, .clock = verify_clock_copy(v, NULL)};
    s->members = members(v, s);
    return s;
}

static void arrive(Verifier *v, uint32_t op, uint32_t id, uint32_t role)
{
    SyncPoint *s = point_of(v, op, id, role);
    event_new(v, op);
    verify_clock_join(v, s->clock, v->now->clock);
    s->arrived++;
    v->now->sync = (uint32_t)(s - v->syncs.v);
    v->now->block = WAITS_SYNC;
}

static void step_cta(Verifier *v, uint32_t op)
{
    const Thread *t = v->now;
    int64_t threads = ir_find(v->ops[op], IRK_THREADS)->imm, id = ir_find(v->ops[op], IRK_ID)->imm;
    const IrRole *r = &v->k->roles.v[t->role];
    bool role = in_role(v, t), own = role && threads == (int64_t)r->warps * 32 && v->k->roles.n > 1,
         all = threads == v->k->mf.threads;
    if (v->ops[op]->elect || (role && r->elect) || (!own && !all) || id < 0 || id > 15) {
        verify_refuse(v, E0671, op, "cta.sync %lld of %lld threads by %s: the role has %u threads, the CTA %u",
                      (long long)id, (long long)threads, v->ops[op]->elect || (role && r->elect) ? "one thread" : "all",
                      role ? r->warps * 32 : v->k->mf.threads, v->k->mf.threads);
        return;
    }
    uint32_t *user = &v->sync_ids[id], now = own ? t->role + 1 : UINT32_MAX;
    if (*user && *user != now) {
        verify_refuse(v, E0671, op, "cta.sync %lld is used by two different sets of threads", (long long)id);
        return;
    }
    *user = now;
    arrive(v, op, (uint32_t)id, own ? t->role : UINT32_MAX);
}

static void step_cluster(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    if (v->ops[op]->elect || (in_role(v, t) && v->k->roles.v[t->role].elect)) {
        verify_refuse(v, E0671, op, "%s by one thread: it is for all threads of the cluster", verify_op_text(v, op));
        return;
    }
    if (v->ops[op]->op == IR_CLUSTER_WAIT) {
        if (t->waited == t->arrived) verify_refuse(v, E0671, op, "cluster.wait without a cluster.arrive before it");
        t->block = WAITS_CLUSTER;
        return;
    }
    if (t->waited != t->arrived) {
        verify_refuse(v, E0671, op, "cluster.arrive twice with no cluster.wait in between");
        return;
    }
    event_new(v, op);
    if (t->arrived == v->cluster.n) {
        vec_push(&v->run, &v->cluster, verify_clock_copy(v, NULL));
        vec_push(&v->run, &v->cluster_arrived, 0);
    }
    verify_clock_join(v, v->cluster.v[t->arrived], t->clock);
    v->cluster_arrived.v[t->arrived++]++;
}

void sync_step(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    Form guard = run_guard(v, op);
    if (form_is(&v->f, guard, 0)) return;
    if (!form_is(&v->f, guard, 1)) {
        verify_refuse(v, E0608, op, "%s happens under a condition: what follows would depend on it",
                      verify_op_text(v, op));
        return;
    }
    if (o->op == IR_CTA_SYNC) {
        step_cta(v, op);
    } else if (o->op == IR_WARP_SYNC) { /* of several warps each its own threads: orders nothing between any two */
        if ((in_role(v, v->now) || v->k->roles.n == 1) && !v->k->roles.v[v->now->role].elect && v->k->roles.v[v->now->role].warps == 1)
            arrive(v, op, (uint32_t)WARP, v->now->role);
    } else {
        step_cluster(v, op);
    }
}

void sync_retry(Verifier *v)
{
    Thread *t = v->now;
    if (t->block == WAITS_SYNC) {
        const SyncPoint *s = &v->syncs.v[t->sync];
        if (s->arrived < s->members) return;
        event_after(v, s->clock);
    } else {
        if (v->cluster_arrived.v[t->waited] < v->threads.n) return;
        event_after(v, v->cluster.v[t->waited++]);
    }
    event_new(v, run_op(v));
    t->block = RUNS;
    t->pc++;
}

bool sync_lacks(const Verifier *v, const Thread *waiting, const Thread *other)
{
    if (waiting->block == WAITS_CLUSTER) return other->arrived <= waiting->waited;
    const SyncPoint *s = &v->syncs.v[waiting->sync];
    return belongs(s, other) && !(other->block == WAITS_SYNC && other->sync == waiting->sync);
}
