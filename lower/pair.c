/* What only some targets have of tensor copies: modes, and barriers of the other CTA of a pair (.cta_group::2). */
#include "lower/parts.h"

/* instead: what would do on this target. */
static bool lacks(Lower *L, Feature f, Span at, const char *what, const char *instead, Refusal *why)
{
    if (target_has(L->c->target, f)) return false;
    *why = (Refusal){E0801, at, arena_printf(L->a, "%s has no %s", L->c->target->name, what),
                     .fix = arena_printf(L->a, "%s; or compile for one of %s", instead, feature_targets(L->a, f))};
    return true;
}

/* ---- modes ---- */

typedef struct ModeForms {
    InstrForm cta, cluster, multicast, prefetch, store;
} ModeForms;
#define LOADS(m)                                                                                                       \
    FORM_TMA_LOAD_##m##_CTA, FORM_TMA_LOAD_##m##_CLUSTER, FORM_TMA_LOAD_##m##_MULTICAST, FORM_TMA_PREFETCH_##m
static const ModeForms FORMS[] = {
    [MAP_TILED] = {LOADS(TILE), FORM_TMA_STORE_TILE},
    [MAP_IM2COL] = {LOADS(IM2COL), FORM_TMA_STORE_IM2COL},
    [MAP_IM2COL_W] = {LOADS(IM2COL_W), FORM_TMA_STORE_TILE},
    [MAP_IM2COL_W128] = {LOADS(IM2COL_W128), FORM_TMA_STORE_TILE},
    [MAP_GATHER4] = {LOADS(GATHER4), FORM_TMA_STORE_TILE},
    [MAP_SCATTER4] = {LOADS(TILE), FORM_TMA_STORE_SCATTER4},
};
#undef LOADS

/* Nothing is known of what tensormap.replace does to maps of these modes: it has fields of tiles only. */
bool mode_known_view(Lower *L, const MoveInfo *mi, Refusal *why)
{
    if (!mi->tensor->run_time) return true;
    *why = (Refusal){E0493, mi->mv->via_span,
                     arena_printf(L->a, "view `%s` is made at run time, and a kernel can make maps of tiles only (tensormap.replace)",
                                  name_text(L, mi->tensor->name)),
                     .label_span = mi->tensor->span, .label = "the view", .fix = "give the view bounds of sizes and parameters"};
    return false;
}

bool target_copies(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMove *mv = mi->mv;
    const ModeForms *f = &FORMS[mv->map->mode];
    size_t n;
    const char *mode = word_list(WORDS_MODE, &n)[mv->map->mode];
    Span at = mv->via_span;
    bool rows = mv->map->mode == MAP_GATHER4 || mv->map->mode == MAP_SCATTER4;
    const char *instead = rows ? "`via bulk` takes rows by index one by one" : "an im2col map, or a box, takes the same pixels";
    if (mi->prefetch)
        return !lacks(L, form_info(f->prefetch)->feature, at, arena_printf(L->a, "%s prefetches", mode),
                      rows ? "prefetch rows `via bulk`" : "prefetch a box of pixels", why);
    if (!mi->load) return !lacks(L, form_info(f->store)->feature, at, arena_printf(L->a, "%s stores", mode), instead, why);
    if (mv->cast != CAST_NONE)
        return !lacks(L, form_info(f->multicast)->feature, at, arena_printf(L->a, "multicasts of %s loads", mode),
                      "leave `multicast` out: each CTA loads its own tile (.shared::cta)", why);
    bool own = !mv->dst.peer && !mi->in_pair;
    if (own && target_has(L->c->target, form_info(f->cta)->feature)) return true;
    if (own && lacks(L, form_info(f->cta)->feature, at, arena_printf(L->a, "%s loads", mode), instead, why))
        return target_has(L->c->target, form_info(f->cluster)->feature);
    return !lacks(L, form_info(f->cluster)->feature, at, arena_printf(L->a, "%s loads into other CTAs' tiles", mode),
                  "load into the own tile (.shared::cta), then `move t -> peer(u, rank);`", why);
}

/* ---- the other CTA's barrier ---- */

/* At this rank: who gets the data, whose barrier is named. */
static bool not_of_pair(Lower *L, const MoveInfo *mi, int rank, int to, int bar)
{
    const PMove *mv = mi->mv;
    Diag *g;
    if (mv->dst.peer)
        g = lower_error(L, E0530, mv->commit_span, "at rank %d the bytes arrive in CTA %d, the barrier is that of CTA %d, and these are no pair",
                        rank, to, bar);
    else
        g = lower_error(L, E0540, mv->commit_span, "at rank %d the barrier is that of rank %d, the pair is %d and %d", rank, bar,
                        rank & ~1, rank | 1);
    diag_label(L->c->diags, g, mv->dst.span, mv->dst.peer ? "the destination" : "the tile is the own one");
    if (mv->dst.peer) diag_fix(L->c->diags, g, "commit peer(.., rank) with the rank of the destination");
    else diag_fix(L->c->diags, g, "commit peer(.., cluster.rank & ~1), or cluster.rank ^ 1");
    return false;
}

static bool disagree(Lower *L, const MoveInfo *mi, int from, int to, const int *bar)
{
    Diag *g = lower_error(
        L, E0540, mi->mv->commit_span,
        "rank %d writes to rank %d and names the barrier of rank %d; that one expects the bytes on rank %d", from, to,
        bar[from], bar[to]);
    diag_label(L->c->diags, g, mi->mv->cast_span, "the signal goes to the even or to the odd CTA of each pair");
    diag_fix(L->c->diags, g, "name the even one in all of them: commit peer(.., cluster.rank & ~1)");
    return false;
}

/* Whom the CTA of that rank writes to, or may write to. */
static uint32_t reached(Lower *L, const MoveInfo *mi, int rank)
{
    int64_t mask = 0;
    if (mi->mv->cast != CAST_MASK) return cluster_set(L, mi->mv->cast, rank);
    cluster_rank(L, rank);
    bool known = poly_is_const(scalar_poly(L, mi->mv->mask), &mask);
    cluster_rank(L, -1);
    return known ? (uint32_t)mask : (1u << L->cluster_size) - 1;
}

/* Without .cta_group: into another CTA it is more likely that the barrier's rank was forgotten. */
static bool has_pairs(Lower *L, const MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    Refusal why;
    Diag *g;
    if (mv->dst.peer && !target_has(L->c->target, FEAT_BLK)) {
        g = lower_error(L, E0530, mv->commit_span, "the bytes arrive in another CTA than that of the barrier, and %s has no .cta_group::2",
                        L->c->target->name);
        diag_label(L->c->diags, g, mv->dst.span, "the destination");
        diag_fix(L->c->diags, g, "commit peer(.., rank) with the rank of the destination; or compile for one of %s",
                 feature_targets(L->a, FEAT_BLK));
        return false;
    }
    if (lacks(L, FEAT_BLK, mv->commit_span,
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
    if (mv->barrier_peer && !cluster_named(L, mv->barrier_peer, mv->commit_span, bar)) return false;
    if (mv->dst.peer && !cluster_named(L, mv->dst.peer, mv->dst.span, to)) return false;
    for (int r = 0; r < L->cluster_size; r++) mi->in_pair |= bar[r] >= 0 && to[r] >= 0 && bar[r] != to[r];
    if (!mi->in_pair) return true; /* that of the destination, perhaps by another name */
    if (!has_pairs(L, mi)) return false;
    for (int r = 0; r < L->cluster_size; r++)
        if (bar[r] >= 0 && to[r] >= 0 && ((bar[r] ^ to[r]) & ~1)) return not_of_pair(L, mi, r, to[r], bar[r]);
    for (int r = 0; r < L->cluster_size && mv->cast != CAST_NONE; r++)
        for (int at = 0; at < L->cluster_size && bar[r] >= 0; at++)
            if (reached(L, mi, r) >> at & 1 && bar[at] >= 0 && ((bar[r] ^ bar[at]) & 1)) return disagree(L, mi, r, at, bar);
    if (L->cluster_size % 2) {
        Diag *g = lower_error(L, E0540, mv->commit_span, "a cluster of %lld CTAs is not made of pairs",
                              (long long)L->cluster_size);
        diag_label(L->c->diags, g, L->k->cluster_span, "the cluster");
        return false;
    }
    L->remote = true;
    return true;
}
