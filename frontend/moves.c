/* `move`: operands matched, clauses checked. */
#include <string.h>

#include "frontend/check.h"

/* ---- clauses ---- */

static bool one_of_each(Env *e, const ClauseList *l)
{
    bool ok = true;
    for (const Clause *c = l->first; c; c = c->next)
        for (const Clause *p = l->first; p != c; p = p->next) {
            bool commit = (c->kind == CL_COMMIT || c->kind == CL_COMMIT_GROUP) &&
                          (p->kind == CL_COMMIT || p->kind == CL_COMMIT_GROUP);
            bool via = (c->kind == CL_VIA || c->kind == CL_VIA_THREADS) && (p->kind == CL_VIA || p->kind == CL_VIA_THREADS);
            if (c->kind != p->kind && !commit && !via) continue;
            Diag *g = diag_at(e->c->diags, E0110, c->span, "a second clause of this kind");
            diag_label(e->c->diags, g, p->span, "the first one");
            ok = false;
        }
    return ok;
}

static bool via_clause(Env *e, const Clause *c, PMove *m)
{
    m->via_span = c->span;
    const Entity *ent = env_find(e, c->id.name);
    if (!ent && c->id.name == e->ch->n_bulk) {
        m->via = VIA_BULK;
        return true;
    }
    if (!ent) {
        unknown_map(e, c->id);
        return false;
    }
    if (ent->kind == ENT_BAD) return false;
    if (ent->kind != ENT_MAP) {
        Diag *g = diag_at(e->c->diags, E0506, c->id.span, "`%s` is not a map", name_of(e, c->id.name));
        if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
        diag_fix(e->c->diags, g, "via a map, `via bulk`, or no `via` at all");
        return false;
    }
    m->via = VIA_MAP;
    m->map = ent->map;
    return true;
}

static bool cache_clause(Env *e, const Clause *c, PMove *m)
{
    const Entity *ent = env_find(e, c->id.name);
    if (ent && ent->kind == ENT_POLICY) {
        m->cache = ent->policy;
        return true;
    }
    if (ent && ent->kind == ENT_BAD) return false;
    if (!ent) {
        unknown_policy(e, c->id);
    } else {
        Diag *g = diag_at(e->c->diags, E0306, c->id.span, "`%s` is not a policy", name_of(e, c->id.name));
        if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
    }
    return false;
}

static bool commit_clause(Env *e, const Clause *c, PMove *m)
{
    m->commit_span = c->span;
    if (e->in_group) {
        diag_at(e->c->diags, E0111, c->span, "a move inside `group { }` is committed by the block");
        return false;
    }
    if (c->kind == CL_COMMIT_GROUP) {
        m->commit = COMMIT_GROUP;
        return true;
    }
    m->commit = COMMIT_BARRIER;
    m->barrier = barrier_ref(e, c->expr, &m->barrier_slot);
    return m->barrier != NULL;
}

static bool later_clause(Env *e, const Clause *c)
{
    const char *what = NULL;
    switch (c->kind) {
    case CL_VIA_THREADS: what = "copies by threads (`via threads`) are"; break;
    case CL_MULTICAST: what = "`multicast` is"; break;
    case CL_REDUCE: what = "`reduce` is"; break;
    case CL_BYTES: what = "byte masks (`bytes`) are"; break;
    case CL_OFFSET: what = "im2col offsets (`offset`) are"; break;
    case CL_HALO: what = "`halo` is"; break;
    case CL_AHEAD: what = "`ahead` is"; break;
    case CL_CONVERT: what = "`convert` is"; break;
    case CL_TRANSPOSE: what = "`transpose` is"; break;
    default: return true;
    }
    not_yet(e, c->span, what);
    return false;
}

static bool overlap_clause(Env *e, const Clause *c, PMove *m)
{
    m->overlap_any = true;
    if (strcmp(name_of(e, c->id.name), "any") == 0) return true;
    Diag *g = diag_at(e->c->diags, E0205, c->id.span, "`overlap %s` does not exist", name_of(e, c->id.name));
    diag_fix(e->c->diags, g, "overlap any");
    return false;
}

static bool clauses(Env *e, const ClauseList *l, PMove *m)
{
    bool ok = one_of_each(e, l);
    for (const Clause *c = l->first; c; c = c->next) {
        switch (c->kind) {
        case CL_VIA: ok = via_clause(e, c, m) && ok; break;
        case CL_CACHE: ok = cache_clause(e, c, m) && ok; break;
        case CL_COMMIT: case CL_COMMIT_GROUP: ok = commit_clause(e, c, m) && ok; break;
        case CL_OVERLAP: ok = overlap_clause(e, c, m) && ok; break;
        default: ok = later_clause(e, c) && ok;
        }
    }
    return ok;
}

/* ---- shapes ---- */

static int marked_extents(const PRegion *r, int64_t *extent)
{
    int n = 0;
    for (int d = 0; d < r->rank; d++)
        if (r->dim[d].marked) extent[n++] = r->dim[d].extent;
    return n;
}

static void rank_error(Env *e, const PRegion *g, const PRegion *s, const int64_t *tile, int nt, int ng, bool plain)
{
    Diag *d = diag_at(e->c->diags, E0312, g->span, "the region has %d dimension%s, the tile %d", ng, ng == 1 ? "" : "s", nt);
    diag_label(e->c->diags, d, s->span, "the tile is %s", shape_text(e, nt, tile));
    if (plain && ng > nt) diag_fix(e->c->diags, d, "mark the dimensions that the tile has with `start +: extent` or `:`");
}

/* The marked dimensions of the region take, in order, the extents of the tile. */
static bool match_shapes(Env *e, PRegion *g, const PRegion *s)
{
    int64_t tile[P_RANK], mine[P_RANK];
    int nt = marked_extents(s, tile), ng = marked_extents(g, mine);
    bool plain = true;
    for (int d = 0; d < g->rank; d++) plain = plain && g->dim[d].extent == 0 && !g->dim[d].whole;
    if (nt != ng) {
        rank_error(e, g, s, tile, nt, ng, plain);
        return false;
    }
    int n = 0;
    for (int d = 0; d < g->rank; d++) {
        PDim *p = &g->dim[d];
        if (!p->marked) continue;
        int64_t want = tile[n++], k;
        if (p->whole && sx_is_const(g->tensor->extent[d], &k) && k != want) {
            Diag *x = diag_at(e->c->diags, E0312, p->span, "the whole dimension is %lld, the tile has %lld", (long long)k,
                              (long long)want);
            diag_label(e->c->diags, x, s->span, "the tile is %s", shape_text(e, nt, tile));
            return false;
        }
        if (p->extent == 0) p->extent = want;
        if (p->extent != want) {
            Diag *x = diag_at(e->c->diags, E0312, p->span, "%lld elements here, the tile has %lld", (long long)p->extent,
                              (long long)want);
            diag_label(e->c->diags, x, s->span, "the tile is %s", shape_text(e, nt, tile));
            return false;
        }
    }
    return true;
}

static bool match_types(Env *e, const PRegion *g, const PRegion *s)
{
    if (g->tensor->type == s->tile->type) return true;
    Diag *d = diag_at(e->c->diags, E0305, g->span, "the tensor holds %s, the tile %s", elem_info(g->tensor->type)->name,
                      elem_info(s->tile->type)->name);
    diag_label(e->c->diags, d, s->tile->span, "`%s` is declared here", name_of(e, s->tile->name));
    return false;
}

static bool match_map(Env *e, PMove *m, const PRegion *g)
{
    if (!m->map) return true;
    if (m->map->tensor != g->tensor) {
        Diag *d = diag_at(e->c->diags, E0463, m->via_span, "`%s` maps `%s`, not `%s`", name_of(e, m->map->name),
                          name_of(e, m->map->tensor->name), name_of(e, g->tensor->name));
        diag_label(e->c->diags, d, m->map->span, "the map is declared here");
        return false;
    }
    if (m->is_load) m->map->is_load = true;
    else m->map->is_store = true;
    return true;
}

/* ---- the statement ---- */

static bool direction(Env *e, const Stmt *s, PMove *m)
{
    if (m->src.tensor && m->dst.tile) {
        m->is_load = true;
        return true;
    }
    if (m->src.tile && m->dst.tensor) {
        m->kind = MOVE_STORE;
        return true;
    }
    if (m->src.tile) {
        not_yet(e, s->span, "moves between shared tiles are");
    } else {
        Diag *g = diag_at(e->c->diags, E0310, s->span, "both sides are global tensors");
        diag_fix(e->c->diags, g, "move through a shared tile: one move into it, one out of it");
    }
    return false;
}

static bool clauses_fit(Env *e, const Stmt *s, const PMove *m)
{
    if (m->commit == COMMIT_BARRIER && !m->is_load) {
        Diag *g = diag_at(e->c->diags, E0111, m->commit_span, "a store completes a bulk group, not a barrier");
        diag_fix(e->c->diags, g, "commit group, and later `wait group`");
        return false;
    }
    if ((m->commit == COMMIT_GROUP || m->in_group) && m->is_load) {
        Diag *g = diag_at(e->c->diags, E0111, m->in_group ? m->src.span : m->commit_span,
                          "a load completes a barrier, not a bulk group");
        diag_fix(e->c->diags, g, m->in_group ? "move it out of `group { }`" : "commit a barrier, and later wait for it");
        return false;
    }
    for (const Clause *c = s->move.clauses.first; c; c = c->next) {
        if (c->kind != CL_OVERLAP || !m->is_load) continue;
        diag_at(e->c->diags, E0111, c->span, "`overlap any` is about writes to global memory; this is a load");
        return false;
    }
    return true;
}

void move_stmt(Env *e, const Stmt *s)
{
    PMove *m = arena_new(e->c->scratch, PMove);
    m->reduce = -1;
    bool ok = region(e, s->move.src, &m->src);
    ok = region(e, s->move.dst, &m->dst) && ok;
    ok = clauses(e, &s->move.clauses, m) && ok;
    m->in_group = e->in_group;
    if (!ok || !direction(e, s, m)) return;
    PRegion *g = m->is_load ? &m->src : &m->dst, *t = m->is_load ? &m->dst : &m->src;
    if (!match_types(e, g, t) || !match_shapes(e, g, t) || !match_map(e, m, g) || !clauses_fit(e, s, m)) return;
    emit_stmt(e, P_MOVE, s->span)->move = m;
}
