/* `move` and `prefetch`: directions, shapes and types of both sides. */
#include <string.h>

#include "frontend/check/check.h"

/* ---- shapes ---- */

static int marked_extents(const PRegion *r, int64_t *extent)
{
    int n = 0;
    for (int d = 0; d < r->rank; d++)
        if (r->dim[d].marked) extent[n++] = r->dim[d].extent;
    return n;
}

/* The region with as many dimensions marked as the tile has, the last ones of those that are not; NULL: the others don't fit. */
static const char *with_marks(Env *e, const PRegion *g, const int64_t *tile, int nt)
{
    const Source *src = sources_file(e->c->sources, g->span.lo);
    int64_t extent[P_RANK];
    bool plain = true;
    int more = nt;
    for (int d = 0; d < g->rank; d++) plain = plain && g->dim[d].extent == 0 && !g->dim[d].whole;
    for (int d = 0; d < g->rank && !plain; d++) more -= g->dim[d].marked;
    if (src == NULL || more < 0 || nt > g->rank) return NULL;
    for (int d = g->rank, n = nt; d-- > 0;) {
        const PDim *p = &g->dim[d];
        bool marked = p->marked && !plain, mark = !marked && more > 0;
        more -= mark;
        extent[d] = mark ? tile[n - 1] : 0;
        if ((marked || mark) && n-- == 0) return NULL;
        if (marked && p->extent && p->extent != tile[n]) return NULL;
    }
    Text t;
    text_in(&t, e->c->scratch);
    text_put(&t, src->text + (g->span.lo - src->base), g->dim[0].span.lo - g->span.lo);
    for (int d = 0; d < g->rank; d++) {
        text_put(&t, src->text + (g->dim[d].span.lo - src->base), g->dim[d].span.hi - g->dim[d].span.lo);
        if (extent[d]) text_printf(&t, " +: %lld", (long long)extent[d]);
        text_str(&t, d + 1 < g->rank ? ", " : "]");
    }
    const char *text = text_end(&t);
    return strchr(text, '\n') ? NULL : text;
}

static void rank_error(Env *e, const PRegion *g, const PRegion *s, const int64_t *tile, int nt, int ng, bool plain)
{
    Diag *d = diag_at(e->c->diags, E0320, g->span, "the region has %d dimension%s, the tile %d", ng, ng == 1 ? "" : "s",
                      nt);
    diag_label(e->c->diags, d, s->span, "the tile is %s", shape_text(e, nt, tile));
    bool one = false;
    for (int i = 0; i < nt; i++) one |= tile[i] == 1;
    const char *marked = (plain && ng > nt) || (ng < nt && !one && !plain) ? with_marks(e, g, tile, nt) : NULL;
    if (marked) {
        diag_fix(e->c->diags, d, "`%s`", marked);
    } else if (plain && ng > nt) {
        diag_fix(e->c->diags, d, "mark the dimensions that the tile has with `start +: extent` or `:`");
    } else if (ng < nt && one) {
        diag_fix(e->c->diags, d, "a plain number picks one row, without a dimension of its own: `t[r, :]`, not `t[r +: 1, :]`");
    } else if (ng < nt && !plain && g->rank >= nt) {
        diag_fix(e->c->diags, d, "a plain number picks one where another dimension is marked: `start +: extent` for each that the tile has");
    }
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
            Diag *x = diag_at(e->c->diags, E0312, p->span, "the whole dimension is %lld, the tile has %lld",
                              (long long)k, (long long)want);
            diag_label(e->c->diags, x, s->span, "the tile is %s", shape_text(e, nt, tile));
            return false;
        }
        if (p->extent == 0) p->extent = want;
        if (p->extent != want) {
            Diag *x = diag_at(e->c->diags, E0312, p->span, "%lld %s here, the tile has %lld", (long long)p->extent,
                              p->rows ? "rows" : "elements", (long long)want);
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
    if (elem_info(g->tensor->type)->kind != ELEM_PACKED && elem_info(s->tile->type)->kind != ELEM_PACKED)
        diag_fix(e->c->diags, d, "copies don't convert: put a tile of %s in between, and move from tile to tile with "
                                 "`via threads convert`", elem_info(g->tensor->type)->name);
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
    return mode_direction(e, m);
}

static bool match_parts(Env *e, PMove *m, PRegion *g, const PRegion *s)
{
    bool im2col = m->map && map_is_im2col(m->map->mode) && m->map->tensor == g->tensor;
    return (im2col || match_shapes(e, g, s)) && match_map(e, m, g) && mode_clauses(e, m) && mode_part(e, m, g, s);
}

/* ---- tile to tile ---- */

static bool match_tile_types(Env *e, const PMove *m)
{
    const PTile *a = m->src.tile, *b = m->dst.tile;
    bool packed = elem_info(a->type)->kind == ELEM_PACKED || elem_info(b->type)->kind == ELEM_PACKED;
    Diag *g;
    if (m->convert && packed) {
        g = diag_at(e->c->diags, E0314, m->work_span, "threads don't convert %s to %s", elem_info(a->type)->name,
                    elem_info(b->type)->name);
    } else if (packed && (m->transpose || m->reverse || m->sum || m->reduce >= 0)) {
        g = diag_at(e->c->diags, E0317, m->work_span, "single values of %s have no address", elem_info(a->type)->name);
    } else if (!m->convert && a->type != b->type) {
        g = diag_at(e->c->diags, E0305, m->dst.span, "the source holds %s, the destination %s",
                    elem_info(a->type)->name, elem_info(b->type)->name);
        if (m->kind == MOVE_SHARED && !packed) diag_fix(e->c->diags, g, "convert them: `convert via threads`");
    } else {
        return true;
    }
    diag_label(e->c->diags, g, a->span, "`%s` is declared here", name_of(e, a->name));
    if (a != b) diag_label(e->c->diags, g, b->span, "`%s` is declared here", name_of(e, b->name));
    return false;
}

/* Rows in the opposite order are a work of its own; sums turn nothing. */
static bool order_alone(Env *e, const PMove *m)
{
    if (!(m->reverse && (m->transpose || m->convert)) && !(m->sum && (m->transpose || m->reverse))) return true;
    Diag *g = diag_at(e->c->diags, E0520, m->work_span, "`%s` and `%s` in one move", m->reverse ? "reverse" : "sum",
                      m->transpose ? "transpose" : m->sum ? "sum" : "convert");
    diag_fix(e->c->diags, g, "two moves, with a tile in between");
    return false;
}

static bool match_tile_shapes(Env *e, const PMove *m)
{
    int64_t a[P_RANK], b[P_RANK];
    int na = marked_extents(&m->src, a), nb = marked_extents(&m->dst, b);
    const char *shape = shape_text(e, na, a);
    if (m->sum && na < 2) {
        diag_at(e->c->diags, E0320, m->work_span, "a region of rank %d has nothing to add along and something left", na);
        return false;
    }
    if (m->sum) memmove(a, a + 1, (size_t)--na * sizeof *a);
    if (m->transpose && na < 2) {
        diag_at(e->c->diags, E0320, m->work_span, "a region of rank %d can't be transposed", na);
        return false;
    }
    if (m->transpose) {
        int64_t k = a[na - 1];
        a[na - 1] = a[na - 2];
        a[na - 2] = k;
    }
    bool same = na == nb;
    for (int d = 0; same && d < na; d++) same = a[d] == b[d];
    if (same) return true;
    Diag *g = diag_at(e->c->diags, na != nb ? E0320 : m->transpose ? E0514 : E0312, m->dst.span, "the destination is %s%s, not %s",
                      shape_text(e, nb, b), m->transpose ? " with rows and columns exchanged" : "",
                      shape_text(e, na, a));
    diag_label(e->c->diags, g, m->src.span, "the source is %s", shape);
    return false;
}

static bool threads_asked(Env *e, const Stmt *s, const PMove *m)
{
    if (m->via == VIA_THREADS) return true;
    Diag *g = diag_at(e->c->diags, m->convert ? E0314 : E0520, s->span,
                      "%s is done by threads, and they never come unasked",
                      m->convert       ? "a conversion"
                      : m->transpose   ? "a transposition"
                      : m->reverse     ? "a reversal"
                      : m->sum         ? "a sum along a dimension"
                      : m->reduce >= 0 ? "a sum of tiles"
                                       : "a move between tiles of a CTA");
    diag_fix(e->c->diags, g, "add `via threads`");
    return false;
}

static bool add_only(Env *e, const PMove *m)
{
    size_t n;
    if (m->reduce < 0 || strcmp(word_list(WORDS_REDUCE, &n)[m->reduce], "add") == 0) return true;
    Diag *g = diag_at(e->c->diags, E0517, m->work_span, "threads add; they have no `%s`",
                      word_list(WORDS_REDUCE, &n)[m->reduce]);
    diag_fix(e->c->diags, g, "copies have it, into memory: `move t -> y[..] reduce %s;`", word_list(WORDS_REDUCE, &n)[m->reduce]);
    return false;
}

/* b4a16 and b6a16: what lies between the groups of a tile has no value. */
static bool without_gaps(Env *e, const PMove *m)
{
    const ElemInfo *t = elem_info(m->src.tile->type);
    if (t->global_bits == t->shared_bits) return true;
    Diag *g = diag_at(e->c->diags, E0317, m->src.span, "between its groups, a tile of %s has bytes without a value, which this would read", t->name);
    diag_label(e->c->diags, g, m->src.tile->span, "`%s` is declared here", name_of(e, m->src.tile->name));
    if (m->kind == MOVE_PEER) diag_fix(e->c->diags, g, "load it into the peer's tile: `move x[..] -> peer(t, rank);`, or by a multicast");
    else diag_fix(e->c->diags, g, "load it into both tiles");
    return false;
}

static bool shared_move(Env *e, const Stmt *s, PMove *m)
{
    if (!clauses_fit(e, &s->move.clauses, m, SHAPE_SHARED) || !threads_asked(e, s, m)) return false;
    if (!order_alone(e, m) || !match_tile_types(e, m) || !without_gaps(e, m) || !match_tile_shapes(e, m)) return false;
    return add_only(e, m);
}

static bool same_layout(Env *e, const PMove *m)
{
    const PTile *a = m->src.tile, *b = m->dst.tile;
    if (a->swizzle == b->swizzle && a->interleave == b->interleave) return true;
    Diag *g = diag_at(e->c->diags, E0536, m->dst.span, "the tiles differ in their %s",
                      a->swizzle == b->swizzle ? "interleave" : "swizzle");
    diag_label(e->c->diags, g, a->span, "`%s` is declared here", name_of(e, a->name));
    diag_label(e->c->diags, g, b->span, "`%s` is declared here", name_of(e, b->name));
    diag_fix(e->c->diags, g, "give both the same, or move by threads to a tile of the other one first");
    return false;
}

static bool peer_move(Env *e, const Stmt *s, PMove *m)
{
    if (!clauses_fit(e, &s->move.clauses, m, SHAPE_PEER)) return false;
    if (m->via == VIA_MAP) {
        Diag *g = diag_at(e->c->diags, E0506, m->via_span, "a copy to a peer goes through no map");
        diag_fix(e->c->diags, g, "via bulk, or no `via` at all");
        return false;
    }
    return match_tile_types(e, m) && without_gaps(e, m) && match_tile_shapes(e, m) && same_layout(e, m) &&
           commit_fits(e, m) &&
           reduce_fits(e, m, m->src.tile->type, FORM_BULK_REDUCE_PEER, "in a peer's shared memory");
}

/* ---- global memory ---- */

static bool load(Env *e, const Stmt *s, PMove *m)
{
    m->is_load = true;
    if (!match_types(e, &m->src, &m->dst) || !match_parts(e, m, &m->src, &m->dst))
        return false;
    if (!clauses_fit(e, &s->move.clauses, m, m->dst.peer ? SHAPE_LOAD_PEER : SHAPE_LOAD)) return false;
    if (m->cast != CAST_NONE && !target_has(e->c->target, FEAT_MULTICAST_FAST))
        diag_at(e->c->diags, P0001, m->cast_span, "multicast may be slow on %s", e->c->target->name);
    return commit_fits(e, m);
}

/* PTX ISA, Sub-byte Types: a load of b6a16 leaves 12 bytes and a gap (.b6x16_p32), a store takes the low 6 bits of 16 bytes
 * (.b6p2x16). */
static bool store_types(Env *e, const PMove *m)
{
    const PTensor *t = m->dst.tensor;
    const PTile *tile = m->src.tile;
    Diag *g;
    if (t->type == TYPE_B6A16 && tile->type == TYPE_U8 && m->convert && !m->sat) return true;
    if (t->type == TYPE_B6A16 && tile->type != TYPE_U8) {
        g = diag_at(e->c->diags, E0317, m->src.span, "a store to b6a16 packs the low 6 bits of bytes");
        diag_label(e->c->diags, g, tile->span, "`%s` is %s", name_of(e, tile->name), elem_info(tile->type)->name);
        diag_fix(e->c->diags, g, "move a tile of u8, and say `convert`");
    } else if (t->type == TYPE_B6A16 && tile->type == TYPE_U8) {
        g = diag_at(e->c->diags, E0305, m->dst.span, "the tensor holds b6a16, the tile u8");
        diag_fix(e->c->diags, g, "add `convert`: the low 6 bits of each byte are stored");
    } else if (m->convert) {
        g = diag_at(e->c->diags, E0314, m->work_span, "copies keep the element type; threads convert, from tile to tile");
        diag_fix(e->c->diags, g, "`move a -> b convert via threads;`, then move `b`");
    } else {
        return match_types(e, &m->dst, &m->src);
    }
    return false;
}

static bool store(Env *e, const Stmt *s, PMove *m)
{
    if (!store_types(e, m) || !match_parts(e, m, &m->dst, &m->src))
        return false;
    return clauses_fit(e, &s->move.clauses, m, SHAPE_STORE) &&
           reduce_fits(e, m, m->dst.tensor->type, m->via == VIA_BULK ? FORM_BULK_REDUCE : FORM_TMA_REDUCE_TILE,
                       "in global memory");
}

/* ---- the statement ---- */

static bool direction(Env *e, const Stmt *s, PMove *m)
{
    if (m->src.peer) {
        Diag *g = diag_at(e->c->diags, E0310, m->src.span, "nothing is copied out of a peer's shared memory");
        diag_fix(e->c->diags, g, "let that CTA send it: `move t -> peer(u, rank);`");
        return false;
    }
    if (m->src.tensor && m->dst.tensor) {
        Diag *g = diag_at(e->c->diags, E0310, s->span, "both sides are global tensors");
        diag_fix(e->c->diags, g, "move through a shared tile: one move into it, one out of it");
        return false;
    }
    m->kind = m->src.tensor ? MOVE_LOAD : m->dst.tensor ? MOVE_STORE : m->dst.peer ? MOVE_PEER : MOVE_SHARED;
    return true;
}

void move_stmt(Env *e, const Stmt *s)
{
    PMove *m = arena_new(e->c->scratch, PMove);
    bool ok = region(e, s->move.src, &m->src);
    ok = region(e, s->move.dst, &m->dst) && ok;
    ok = clauses(e, &s->move.clauses, m) && ok;
    if (!ok) return;
    if ((m->src.tile && m->src.tile->tensor) || (m->dst.tile && m->dst.tile->tensor)) {
        if (no_steps(e, &m->src) && no_steps(e, &m->dst) && tmem_move(e, s, m)) emit_stmt(e, P_MOVE, s->span)->move = m;
        return;
    }
    if (!direction(e, s, m)) return;
    if ((m->kind == MOVE_PEER || m->dst.peer) && !(no_steps(e, &m->src) && no_steps(e, &m->dst))) return;
    switch (m->kind) {
    case MOVE_LOAD: ok = load(e, s, m); break;
    case MOVE_STORE: ok = store(e, s, m); break;
    case MOVE_SHARED: ok = shared_move(e, s, m); break;
    default: ok = peer_move(e, s, m);
    }
    if (ok) emit_stmt(e, P_MOVE, s->span)->move = m;
}

/* ---- prefetch ---- */

/* No tile gives the extents: the region does, or the box of the map. */
static bool prefetch_extents(Env *e, PMove *m)
{
    PRegion *r = &m->src;
    for (int d = 0; d < r->rank; d++) {
        PDim *p = &r->dim[d];
        if (!p->marked || p->extent) continue;
        if (p->whole && sx_is_const(r->tensor->extent[d], &p->extent)) continue;
        if (!p->whole && m->map) {
            p->extent = (m->map->box[d] + m->map->elem_stride[d] - 1) / m->map->elem_stride[d];
            continue;
        }
        Diag *g = diag_at(e->c->diags, E0320, p->span, "how much is prefetched %s",
                          p->whole ? "is only known at launch" : "is not given");
        diag_fix(e->c->diags, g, "write `start +: extent`");
        return false;
    }
    return true;
}

/* `prefetch m`: of the descriptor; no statement, for it happens once, where the kernel starts. */
static bool prefetch_map(Env *e, const Stmt *s)
{
    const Expr *x = s->move.src;
    const Entity *ent = x->kind == EX_NAME ? env_find(e, x->id.name) : NULL;
    if (!ent || ent->kind != ENT_MAP) return false;
    if (!e->c->diags->excluded) ent->map->prefetched = true;
    const Clause *c = s->move.clauses.first;
    if (c) diag_at(e->c->diags, E0111, c->span, "`prefetch` of a map takes no clauses");
    return true;
}

void prefetch_stmt(Env *e, const Stmt *s)
{
    if (prefetch_map(e, s)) return;
    PMove *m = arena_new(e->c->scratch, PMove);
    m->kind = MOVE_PREFETCH;
    bool ok = region(e, s->move.src, &m->src);
    ok = clauses(e, &s->move.clauses, m) && ok;
    if (!ok || !clauses_fit(e, &s->move.clauses, m, SHAPE_PREFETCH)) return;
    if (!m->src.tensor) {
        Diag *g = diag_at(e->c->diags, E0310, m->src.span, "only global memory is prefetched, into L2");
        diag_label(e->c->diags, g, m->src.tile->span, "`%s` is a %s", name_of(e, m->src.tile->name),
                   m->src.tile->tensor ? "tile of tensor memory" : "shared tile");
        return;
    }
    if (m->ahead && !e->pipe) {
        Diag *g = diag_at(e->c->diags, E0111, s->span,
                          "`ahead` counts turns of a pipeline, and there is none around this");
        diag_fix(e->c->diags, g, "write the region that is needed later");
        return;
    }
    if (!match_map(e, m, &m->src) || !mode_clauses(e, m) || !mode_part(e, m, &m->src, NULL)) return;
    if (prefetch_extents(e, m)) emit_stmt(e, P_MOVE, s->span)->move = m;
}
