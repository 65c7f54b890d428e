/* Ranks that moves between CTAs name, and those that the conditions around a statement leave out. */
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"
#include "lower/schedule/peers.h"
#include "lower/schedule/written/sync.h"

/* ---- conditions around ---- */

void around_enter(Lower *L, const PStmt *branch, bool other, bool followed)
{
    Sync *s = L->sync;
    vec_push(L->a, &s->around, ((Around){.branch = branch, .other = other, .followed = followed, .block = s->block}));
}

void around_leave(Lower *L)
{
    L->sync->around.n--;
}

bool left_out_at(Lower *L, int rank)
{
    const Sync *s = L->sync;
    bool out = false;
    cluster_rank(L, rank);
    for (uint32_t i = 0; i < s->around.n && !out; i++) {
        int holds = s->around.v[i].followed ? cond_now(L, s->around.v[i].branch->value) : -1;
        out = holds >= 0 && (holds != 0) == s->around.v[i].other;
    }
    cluster_rank(L, -1);
    return out;
}

/* ---- ranks that are named ---- */

/* The front end has refused what it could; here are the ranks that only normal forms tell. */
static bool ranks_named(Lower *L, const Sx *peer, Span at, bool copy, int target[16])
{
    for (int r = 0; r < L->cluster_size; r++) {
        int64_t k;
        target[r] = -1;
        if (left_out_at(L, r)) continue;
        Poly p = scalar_at_rank(L, peer, r);
        if (!poly_is_const(p, &k)) {
            Diag *g = lower_error(L, E0742, at, "the rank %s is not known for each CTA of the cluster", poly_text(L, p));
            diag_fix(L->c->diags, g, "compute it from cluster.rank: `(cluster.rank + 1) %% cluster.size`");
            return false;
        }
        if (k < 0 || k >= L->cluster_size) {
            lower_error(L, E0531, at, "rank %lld of a cluster of %lld, at rank %d", (long long)k, (long long)L->cluster_size, r);
            return false;
        }
        if (copy && k == r) {
            Diag *g = lower_error(L, E0618, at, "at rank %d the peer is the CTA itself", r);
            diag_fix(L->c->diags, g, "name another rank: `(cluster.rank + 1) %% cluster.size`");
            return false;
        }
        target[r] = (int)k;
    }
    return true;
}

bool cluster_peers(Lower *L, const Sx *peer, Span at, int target[16])
{
    return ranks_named(L, peer, at, true, target);
}

bool cluster_named(Lower *L, const Sx *peer, Span at, int target[16])
{
    return ranks_named(L, peer, at, false, target);
}
