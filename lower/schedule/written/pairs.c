/* Loads that complete on the barrier of the other CTA of a pair (.cta_group::2). */
#include "lower/algebra/scalars/scalars.h"
#include "lower/schedule/written/sync.h"

/* At this rank: who gets the data, whose barrier is named. */
static bool not_of_pair(Lower *L, const MoveInfo *mi, int rank, int to, int bar)
{
    const PMove *mv = mi->mv;
    if (mv->dst.peer)
        return cannot(L, NULL, E0530, mv->commit_span, mv->dst.span, "the destination", "commit peer(.., rank) with the rank of the destination",
                      "at rank %d the bytes arrive in CTA %d, the barrier is that of CTA %d, and these are no pair", rank, to, bar);
    return cannot(L, NULL, E0540, mv->commit_span, mv->dst.span, "the tile is the own one", "commit peer(.., cluster.rank & ~1), or cluster.rank ^ 1",
                  "at rank %d the barrier is that of rank %d, the pair is %d and %d", rank, bar, rank & ~1, rank | 1);
}

static bool disagree(Lower *L, const MoveInfo *mi, int from, int to, const int *bar)
{
    return cannot(L, NULL, E0540, mi->mv->commit_span, mi->mv->cast_span, "the signal goes to the even or to the odd CTA of each pair",
                  "name the even one in all of them: commit peer(.., cluster.rank & ~1)",
                  "rank %d writes to rank %d and names the barrier of rank %d; that one expects the bytes on rank %d", from, to, bar[from], bar[to]);
}

/* Without .cta_group: into another CTA it is more likely that the barrier's rank was forgotten. */
static bool has_pairs(Lower *L, const MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    Refusal why;
    if (mv->dst.peer && !target_has(L->c->target, FEAT_BLK)) {
        const char *fix = arena_printf(L->a, "commit peer(.., rank) with the rank of the destination; or compile for one of %s", feature_targets(L->a, FEAT_BLK));
        return cannot(L, NULL, E0530, mv->commit_span, mv->dst.span, "the destination", fix,
                      "the bytes arrive in another CTA than that of the barrier, and %s has no .cta_group::2", L->c->target->name);
    }
    if (mode_lacks(L, FEAT_BLK, mv->commit_span,
                   ".cta_group::2, with which a load completes on the barrier of the other CTA of its pair",
                   "commit to a barrier of the own CTA", &why)) {
        lower_refuse(L, &why);
        return false;
    }
    return true;
}

bool pair_plan(Lower *L, MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    int bar[RANKS_MAX], to[RANKS_MAX];
    for (int r = 0; r < L->cluster_size; r++) bar[r] = to[r] = r;
    if (mv->barrier_peer && !cluster_named(L, mv->barrier_peer, mv->commit_span, false, bar)) return false;
    if (mv->dst.peer && !cluster_named(L, mv->dst.peer, mv->dst.span, false, to)) return false;
    bool other = false;
    for (int r = 0; r < L->cluster_size; r++) other |= bar[r] >= 0 && to[r] >= 0 && bar[r] != to[r];
    if (!other) return true; /* that of the destination, perhaps by another name */
    peers_new(L, mi)->in_pair = true;
    if (!has_pairs(L, mi)) return false;
    for (int r = 0; r < L->cluster_size; r++)
        if (bar[r] >= 0 && to[r] >= 0 && ((bar[r] ^ to[r]) & ~1)) return not_of_pair(L, mi, r, to[r], bar[r]);
    for (int r = 0; r < L->cluster_size && mv->cast != CAST_NONE; r++)
        for (int at = 0; at < L->cluster_size && bar[r] >= 0; at++)
            if (peers_filled(L, mi, r) >> at & 1 && bar[at] >= 0 && ((bar[r] ^ bar[at]) & 1)) return disagree(L, mi, r, at, bar);
    if (L->cluster_size % 2)
        return cannot(L, NULL, E0540, mv->commit_span, L->k->cluster_span, "the cluster", NULL, "a cluster of %lld CTAs is not made of pairs",
                      (long long)L->cluster_size);
    L->remote = true;
    return true;
}
