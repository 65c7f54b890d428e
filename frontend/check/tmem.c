/* Tensor memory: tiles in it, regions of them, moves into and out of them, `shift`, `pair`. */
#include "frontend/check/check.h"

enum { LANES = 128, WARP_LANES = 32, COLUMN_BYTES = 4, SHIFT_BYTES = 32, CP_STEP = 32, CP_ROWS = 4 };

/* ---- targets ---- */

static bool has_tmem(Env *e, Span at)
{
    if (e->c->target->tmem_columns) return true;
    Diag *g = diag_at(e->c->diags, E0806, at, "%s has no tensor memory", e->c->target->name);
    diag_fix(e->c->diags, g, "targets that have it: %s", feature_targets(e->c->scratch, FEAT_BLK));
    return false;
}

/* ---- declarations ---- */

static int64_t elem_bytes(const PTile *t)
{
    return elem_info(t->type)->shared_bits / 8;
}

bool tmem_type_fits(Env *e, const PTile *t, const TypeExpr *type)
{
    const char *name = name_of(e, t->name);
    Diag *g = NULL;
    int64_t most = e->c->target->tmem_columns ? e->c->target->tmem_columns : 512;
    if (t->swizzle || t->interleave) {
        g = diag_at(e->c->diags, E0550, type->span, "`%s` has a layout of shared memory", name);
        diag_fix(e->c->diags, g, "leave it out: rows lie in lanes, elements in columns");
    } else if (t->rank != 2) {
        diag_at(e->c->diags, E0550, type->span, "a tile in tensor memory is [lanes, elements]; `%s` has rank %d", name, t->rank);
    } else if (elem_info(t->type)->kind == ELEM_PACKED) {
        g = diag_at(e->c->diags, E0550, type->span, "%s has no place in tensor memory", elem_info(t->type)->name);
        diag_fix(e->c->diags, g, "a type of 8 bits, and `convert` on the move into it");
    } else if (t->extent[0] > LANES) {
        diag_at(e->c->diags, E0515, type->span, "`%s` has %lld lanes; tensor memory has %d", name, (long long)t->extent[0], LANES);
    } else if (t->extent[1] * elem_bytes(t) % COLUMN_BYTES != 0) {
        diag_at(e->c->diags, E0560, type->span, "%lld elements of %lld bytes are no whole number of 32-bit columns",
                (long long)t->extent[1], (long long)elem_bytes(t));
    } else if (t->extent[1] * elem_bytes(t) / COLUMN_BYTES > most / t->slots) {
        diag_at(e->c->diags, E0906, type->span, "`%s` takes %lld columns; tensor memory has %lld", name,
                (long long)(t->extent[1] * elem_bytes(t) / COLUMN_BYTES * t->slots), (long long)most);
    } else {
        return true;
    }
    return false;
}

void tmem_decl(Env *e, const Stmt *s)
{
    declare_tile(e, s, has_tmem(e, s->span) ? tile_type(e, s->id, s->type, true) : NULL);
}

/* ---- regions ---- */

/* Lanes with a step come in fours: l, l + 32, l + 64, l + 96, then l + 1, .. */
int64_t tmem_reach_of(const PDim *lanes)
{
    bool fours = lanes->step == CP_STEP && lanes->extent % CP_ROWS == 0;
    return fours ? (CP_ROWS - 1) * CP_STEP + lanes->extent / CP_ROWS : (lanes->extent - 1) * lanes->step + 1;
}

bool tmem_region(Env *e, const PRegion *r)
{
    const PTile *t = r->tile;
    const PDim *lanes = &r->dim[0], *elems = &r->dim[1];
    int64_t at = 0; /* a column that only the run knows: lower/plan/tensor_memory.c */
    Diag *g;
    if (!sx_is_const(lanes->start, &at)) {
        g = diag_at(e->c->diags, E0555, lanes->span, "the lane where this part of `%s` begins is not known at compile time", name_of(e, t->name));
        diag_fix(e->c->diags, g, "a column may be a scalar, and the number of a tile of an array: `%s[:, k * 16 +: 16]`, `%s[k]`", name_of(e, t->name),
                 name_of(e, t->name));
        return false;
    }
    if (!sx_is_const(elems->start, &at)) at = 0;
    if (elems->step != 1) {
        diag_at(e->c->diags, E0515, elems->span, "a step along the columns");
    } else if (at * elem_bytes(t) % COLUMN_BYTES || elems->extent * elem_bytes(t) % COLUMN_BYTES) {
        diag_at(e->c->diags, E0515, elems->span, "elements %lld to %lld of %lld bytes are no whole 32-bit columns", (long long)at,
                (long long)(at + elems->extent - 1), (long long)elem_bytes(t));
    } else if (lanes->step != 1 && (lanes->step != CP_STEP || lanes->extent % CP_ROWS)) {
        g = diag_at(e->c->diags, E0515, lanes->span, "%lld lanes, %lld apart", (long long)lanes->extent, (long long)lanes->step);
        diag_fix(e->c->diags, g, "lanes with a step are those of 4x256b: `l +: 4 by 32`, or `l +: 4 * n by 32`, n of each 32");
    } else if (!lanes->marked || !elems->marked) {
        g = diag_at(e->c->diags, E0320, r->span, "a part of `%s` has lanes and elements", name_of(e, t->name));
        diag_fix(e->c->diags, g, "`%s[l +: lanes, i +: elements]`", name_of(e, t->name));
    } else {
        return true;
    }
    return false;
}

/* ---- tcgen05.cp ---- */

static int64_t copies_of(PWarps w)
{
    return w == WARPS_X4 ? 4 : w == WARPS_ONE ? 1 : 2;
}

static bool cp_types(Env *e, const PMove *m)
{
    const PTile *a = m->src.tile, *b = m->dst.tile;
    bool packed = elem_info(a->type)->kind == ELEM_PACKED, byte = elem_bytes(b) == 1;
    Diag *g;
    if (m->convert && (!packed || a->type == TYPE_B4A8 || !byte)) {
        g = diag_at(e->c->diags, E0314, m->work_span, "tcgen05.cp makes 8 bits of b4a16 and b6a16; here %s would become %s",
                    elem_info(a->type)->name, elem_info(b->type)->name);
        if (!packed) diag_fix(e->c->diags, g, "convert by threads in shared memory first: `convert via threads`");
    } else if (!m->convert && packed && byte) {
        g = diag_at(e->c->diags, E0305, m->dst.span, "the source holds %s, the destination %s", elem_info(a->type)->name,
                    elem_info(b->type)->name);
        diag_fix(e->c->diags, g, "say that it decompresses: `convert`");
    } else if (!m->convert && a->type != b->type) {
        g = diag_at(e->c->diags, E0305, m->dst.span, "the source holds %s, the destination %s", elem_info(a->type)->name,
                    elem_info(b->type)->name);
    } else if (m->sat) {
        g = diag_at(e->c->diags, E0314, m->work_span, "`sat` has no meaning here: every value of %s is one of 8 bits", elem_info(a->type)->name);
    } else {
        return true;
    }
    diag_label(e->c->diags, g, a->span, "`%s` is declared here", name_of(e, a->name));
    diag_label(e->c->diags, g, b->span, "`%s` is declared here", name_of(e, b->name));
    return false;
}

/* Extents of the marked dimensions; false, and an error, if there are not two. */
static bool rows_of(Env *e, const PRegion *r, int64_t extent[2])
{
    int n = 0;
    for (int d = 0; d < r->rank; d++)
        if (r->dim[d].marked && n < 2) extent[n++] = r->dim[d].extent;
        else n += r->dim[d].marked;
    if (n == 2) return true;
    Diag *g = diag_at(e->c->diags, E0320, r->span, "this has %d dimension%s; rows and elements are moved", n, n == 1 ? "" : "s");
    diag_label(e->c->diags, g, r->tile->span, "`%s` is declared here", name_of(e, r->tile->name));
    return false;
}

/* Of a source, whose dimensions in front of those two are pieces of a lane, one after the other: their number in *pieces. */
static bool pieces_of(Env *e, const PRegion *r, int64_t *pieces, int64_t extent[2])
{
    PRegion last = *r;
    int n = 0;
    last.dim = arena_array(e->c->scratch, PDim, (size_t)r->rank);
    memcpy(last.dim, r->dim, (size_t)r->rank * sizeof *r->dim);
    *pieces = 1;
    for (int d = 0; d < r->rank; d++) n += r->dim[d].marked;
    for (int d = 0; d < r->rank && n > 2; d++) {
        if (!r->dim[d].marked) continue;
        *pieces *= r->dim[d].extent;
        last.dim[d].marked = false;
        n--;
    }
    return rows_of(e, &last, extent);
}

/* As many lanes as rows, and the tile has no others: copies of the rows go to lanes of its columns that are no tile's, for
 * columns are allocated with all their lanes. */
static PWarps spare_lanes(const PMove *m, int64_t rows, int64_t lanes)
{
    if (m->warps != WARPS_ONE || m->dst.dim[0].step != 1 || rows != lanes || m->dst.tile->extent[0] != lanes) return m->warps;
    return rows == 64 ? WARPS_X2_02_13 : rows == 32 ? WARPS_X4 : m->warps;
}

/* Where a clause, or a tile of fewer lanes, would make it a shape. */
static void cp_advice(Env *e, Diag *g, const PMove *m, int64_t rows, int64_t lanes)
{
    const char *name = name_of(e, m->dst.tile->name);
    if (m->warps != WARPS_ONE && rows == m->dst.tile->extent[0]) diag_fix(e->c->diags, g, "leave `multicast` out: `%s` has as many lanes as there are rows", name);
    else if (rows == 32 && lanes == LANES) diag_fix(e->c->diags, g, "`multicast warpx4`");
    else if (rows == 64 && lanes == LANES) diag_fix(e->c->diags, g, "`multicast warpx2_02_13` or `multicast warpx2_01_23`");
    else if ((rows == 32 || rows == 64) && rows == lanes)
        diag_fix(e->c->diags, g, "the instruction writes copies of them to the other lanes, too: give `%s` %lld lanes, or all %d and `multicast %s`", name,
                 (long long)rows, LANES, rows == 32 ? "warpx4" : "warpx2_02_13");
    else diag_fix(e->c->diags, g, "128 rows; 64 with `multicast warpx2_..`; 32 with `multicast warpx4`; 4 to `l +: 4 by 32`; or `via threads`");
}

static bool cp_shape(Env *e, PMove *m)
{
    int64_t a[2], b[2], pieces;
    if (!pieces_of(e, &m->src, &pieces, a) || !rows_of(e, &m->dst, b)) return false;
    PWarps warps = spare_lanes(m, a[0], b[0]);
    int64_t copies = copies_of(m->warps);
    bool strided = m->dst.dim[0].step != 1, spare = warps != m->warps;
    Diag *g;
    if (pieces * a[1] != b[1]) {
        g = diag_at(e->c->diags, E0551, m->dst.span, "rows of %lld elements go to lanes of %lld", (long long)(pieces * a[1]), (long long)b[1]);
    } else if (a[0] * copies != b[0] && !spare) {
        g = diag_at(e->c->diags, E0551, m->dst.span, "%lld rows%s fill %lld lanes; here are %lld", (long long)a[0],
                    copies == 1 ? "" : copies == 2 ? ", each twice," : ", each four times,", (long long)(a[0] * copies), (long long)b[0]);
        if (b[0] == LANES || m->warps != WARPS_ONE) cp_advice(e, g, m, a[0], b[0]);
    } else if (!spare && a[0] != (copies == 4 ? 32 : copies == 2 ? 64 : strided ? b[0] : LANES)) {
        g = diag_at(e->c->diags, E0551, m->dst.span, "%lld rows to %lld %slanes: no shape of tcgen05.cp does that", (long long)a[0],
                    (long long)b[0], b[0] < m->dst.tile->extent[0] ? arena_printf(e->c->scratch, "of %lld ", (long long)m->dst.tile->extent[0]) : "");
        cp_advice(e, g, m, a[0], b[0]);
    } else {
        m->warps = warps;
        return true;
    }
    diag_label(e->c->diags, g, m->src.span, "the source");
    return false;
}

static bool cp_move(Env *e, const Stmt *s, PMove *m)
{
    m->kind = MOVE_TMEM_CP;
    return clauses_fit(e, &s->move.clauses, m, SHAPE_TMEM_CP) && cp_types(e, m) && cp_shape(e, m);
}

/* ---- by threads ---- */

static bool whole_warps(Env *e, const PRegion *r)
{
    int64_t first = 0;
    const PDim *l = &r->dim[0];
    sx_is_const(l->start, &first);
    if (l->step == 1 && first % WARP_LANES == 0 && l->extent % WARP_LANES == 0) return true;
    Diag *g = diag_at(e->c->diags, E0553, l->span, l->step == 1 ? "%lld lanes from lane %lld" : "%lld lanes from lane %lld, with a step",
                      (long long)l->extent, (long long)first);
    diag_fix(e->c->diags, g, "each warp has 32 lanes of its own: start and number of lanes are multiples of 32");
    return false;
}

static bool threads_move(Env *e, const Stmt *s, PMove *m)
{
    const PRegion *t = m->src.tile->tensor ? &m->src : &m->dst;
    int64_t a[2], b[2];
    m->kind = m->src.tile->tensor ? MOVE_TMEM_LD : MOVE_TMEM_ST;
    if (!clauses_fit(e, &s->move.clauses, m, SHAPE_TMEM_THREADS) || !rows_of(e, &m->src, a) || !rows_of(e, &m->dst, b)) return false;
    Diag *g;
    if (m->src.tile->type != m->dst.tile->type) {
        g = diag_at(e->c->diags, E0305, m->dst.span, "the source holds %s, the destination %s", elem_info(m->src.tile->type)->name,
                    elem_info(m->dst.tile->type)->name);
        diag_label(e->c->diags, g, m->src.tile->span, "`%s` is declared here", name_of(e, m->src.tile->name));
    } else if (a[0] != b[0] || a[1] != b[1]) {
        g = diag_at(e->c->diags, E0312, m->dst.span, "the destination is %s, not %s", shape_text(e, 2, b), shape_text(e, 2, a));
        diag_label(e->c->diags, g, m->src.span, "the source");
    } else {
        return whole_warps(e, t);
    }
    return false;
}

/* ---- the statements ---- */

static bool from_global(Env *e, const Stmt *s, const PMove *m)
{
    if (!m->src.tensor && !m->dst.tensor) return false;
    Diag *g = diag_at(e->c->diags, E0310, s->span, "nothing moves between global and tensor memory");
    diag_fix(e->c->diags, g, m->src.tensor ? "through a shared tile: `move x[..] -> s; move s -> t;`"
                                            : "through a shared tile: `move t -> s via threads; move s -> x[..];`");
    return true;
}

bool tmem_move(Env *e, const Stmt *s, PMove *m)
{
    Diag *g;
    if (from_global(e, s, m)) return false;
    if (m->dst.peer) {
        g = diag_at(e->c->diags, E0310, m->dst.span, "tensor memory reaches no other CTA");
        diag_fix(e->c->diags, g, "through a shared tile of this CTA");
    } else if (m->src.tile->tensor && m->dst.tile->tensor) {
        g = diag_at(e->c->diags, E0310, s->span, "both sides are in tensor memory");
        diag_fix(e->c->diags, g, "through a shared tile: `move t -> s via threads; move s -> u;`");
    } else if (m->via == VIA_THREADS) {
        return threads_move(e, s, m);
    } else if (m->dst.tile->tensor) {
        return cp_move(e, s, m);
    } else {
        g = diag_at(e->c->diags, E0520, s->span, "tensor memory is read by threads, and they never come unasked");
        diag_fix(e->c->diags, g, "add `via threads`");
    }
    return false;
}

void shift_stmt(Env *e, const Stmt *s)
{
    PMove *m = arena_new(e->c->scratch, PMove);
    int64_t lane = 0, k = 0;
    m->kind = MOVE_SHIFT;
    bool ok = region(e, s->move.src, &m->src);
    ok = clauses(e, &s->move.clauses, m) && ok;
    m->dst = m->src;
    if (!ok || !clauses_fit(e, &s->move.clauses, m, SHAPE_SHIFT)) return;
    if (!m->src.tile || !m->src.tile->tensor) {
        Diag *g = diag_at(e->c->diags, E0310, m->src.span, "only rows in tensor memory are shifted");
        Span at = m->src.tile ? m->src.tile->span : m->src.tensor->span;
        diag_label(e->c->diags, g, at, m->src.tile ? "a tile in shared memory" : "a tensor in global memory");
        return;
    }
    if (!target_has(e->c->target, FEAT_TCGEN_SHIFT)) {
        Diag *g = diag_at(e->c->diags, E0801, s->span, "%s has no tcgen05.shift", e->c->target->name);
        diag_fix(e->c->diags, g, "targets that have it: %s", feature_targets(e->c->scratch, FEAT_TCGEN_SHIFT));
        return;
    }
    const PDim *l = &m->src.dim[0], *c = &m->src.dim[1];
    sx_is_const(l->start, &lane);
    sx_is_const(c->start, &k);
    if (l->step == 1 && lane % WARP_LANES == 0 && l->extent == WARP_LANES && c->extent * elem_bytes(m->src.tile) % SHIFT_BYTES == 0) {
        emit_stmt(e, P_MOVE, s->span)->move = m;
        return;
    }
    Diag *g = diag_at(e->c->diags, E0554, m->src.span, "%lld lanes from lane %lld, %lld bytes each", (long long)l->extent, (long long)lane,
                      (long long)(c->extent * elem_bytes(m->src.tile)));
    diag_fix(e->c->diags, g, "32 lanes from a multiple of 32, and a multiple of 32 bytes: one `shift` for each warp's lanes");
}

/* ---- pair ---- */

bool tmem_kernel(Env *e)
{
    const PKernel *k = e->kernel;
    int64_t size = k->cluster[0] * k->cluster[1] * k->cluster[2];
    bool tensor = false;
    Diag *g;
    for (uint32_t i = 0; i < k->tiles.n; i++) tensor |= k->tiles.v[i]->tensor;
    if (!k->pair) return true;
    if (!has_tmem(e, k->pair_span)) return false;
    if (!tensor) {
        g = diag_at(e->c->diags, E0556, k->pair_span, "`pair` in a kernel without tensor memory");
        diag_fix(e->c->diags, g, "leave it out");
    } else if (size % 2 != 0) {
        g = diag_at(e->c->diags, E0556, k->pair_span, "the cluster has %lld CTA%s: they are no pairs", (long long)size, size == 1 ? "" : "s");
        if (k->cluster_span.hi) diag_label(e->c->diags, g, k->cluster_span, "the cluster");
        diag_fix(e->c->diags, g, "`cluster (2)`");
    } else {
        return true;
    }
    return false;
}
