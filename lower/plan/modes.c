/* What only some targets have of tensor copies. */
#include "lower/plan/copies.h"

bool mode_lacks(Lower *L, Feature f, Span at, const char *what, const char *instead, Refusal *why)
{
    if (target_has(L->c->target, f)) return false;
    return !cannot(L, why, E0801, at, (Span){0, 0}, NULL, arena_printf(L->a, "%s; or compile for one of %s", instead, feature_targets(L->a, f)),
                   "%s has no %s", L->c->target->name, what);
}

/* Nothing is known of what tensormap.replace does to maps of these modes: it has fields of tiles only. */
bool mode_known_view(Lower *L, const MoveInfo *mi, Refusal *why)
{
    if (!mi->tensor->run_time) return true;
    return cannot(L, why, E0493, mi->mv->via_span, mi->tensor->span, "the view", "give the view bounds of sizes and parameters",
                  "view `%s` is made at run time, and a kernel can make maps of tiles only (tensormap.replace)", name_text(L, mi->tensor->name));
}

bool target_copies(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMove *mv = mi->mv;
    const MapModeInfo *f = map_mode(mv->map->mode);
    const char *mode = f->word;
    Span at = mv->via_span;
    bool rows = is_rows4(mv);
    const char *instead = rows ? "`via bulk` takes rows by index one by one" : "an im2col map, or a box, takes the same pixels";
    if (mi->prefetch)
        return !mode_lacks(L, form_info(f->prefetch)->feature, at, arena_printf(L->a, "%s prefetches", mode),
                           rows ? "prefetch rows `via bulk`" : "prefetch a box of pixels", why);
    if (!mi->load) return !mode_lacks(L, form_info(f->store)->feature, at, arena_printf(L->a, "%s stores", mode), instead, why);
    if (mv->cast != CAST_NONE)
        return !mode_lacks(L, form_info(f->load[LOAD_MULTICAST])->feature, at, arena_printf(L->a, "multicasts of %s loads", mode),
                           "leave `multicast` out: each CTA loads its own tile (.shared::cta)", why);
    bool own = !mv->dst.peer && !move_peers(mi)->in_pair;
    if (own && target_has(L->c->target, form_info(f->load[LOAD_CTA])->feature)) return true;
    if (own && mode_lacks(L, form_info(f->load[LOAD_CTA])->feature, at, arena_printf(L->a, "%s loads", mode), instead, why))
        return target_has(L->c->target, form_info(f->load[LOAD_CLUSTER])->feature);
    return !mode_lacks(L, form_info(f->load[LOAD_CLUSTER])->feature, at, arena_printf(L->a, "%s loads into other CTAs' tiles", mode),
                       "load into the own tile (.shared::cta), then `move t -> peer(u, rank);`", why);
}
