/* Moves by tensor copies: the cuts, what the coordinates need, and the ops. */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"
#include "lower/plan/device_maps.h"
#include "lower/plan/maps.h"

enum {
    FAR = INT32_MAX - INT16_MAX /* beyond every tensor, and any piece's start from there fits 32 bits */
};

/* The largest divisor of x up to limit whose pieces start at multiples of 128 bytes, else the largest. */
static int64_t cut_of(int64_t x, int64_t limit, int64_t pitch_bits, bool innermost)
{
    int64_t best = 1;
    if (x <= limit) return x;
    for (int64_t n = (x + limit - 1) / limit; n <= x; n++) { /* pieces */
        if (x % n != 0) continue;
        int64_t c = x / n;
        if (best == 1 && c > 1) best = c;
        if (c * pitch_bits % (SMEM_TMA_ALIGN * 8) == 0) return c;
        if (innermost && c * pitch_bits < SMEM_BULK_ALIGN * 8) break;
    }
    return best;
}

/* Elements of each dimension of the tile that one copy takes: pieces stay contiguous in shared memory. */
static bool cut(Lower *L, const MoveInfo *mi, bool one_piece, int64_t c[P_RANK], Refusal *why)
{
    const PTile *t = mi->tile;
    bool whole = true; /* all dimensions further in are moved in full */
    for (int i = t->rank - 1; i >= 0; i--) {
        int64_t x = mi->s->dim[i].extent;
        bool inner = i == t->rank - 1;
        if (inner && tile_span(mi->tile)) {
            int64_t panel = tile_span(mi->tile) * 8 / mi->sbits;
            if (t->extent[i] < panel)
                return cannot(L, why, E0460, t->span, (Span){0, 0}, NULL, "choose a smaller swizzle, or a wider tile",
                              "rows of `%s` are %lld bytes, the swizzle's span is %lld", name_text(L, t->name),
                              (long long)(t->extent[i] * mi->sbits / 8), (long long)tile_span(mi->tile));
            c[i] = x <= panel || one_piece ? x : panel;
            if (x > panel && (x % panel != 0 || one_piece))
                return cannot(L, why, E0522, mi->s->span, (Span){0, 0}, NULL,
                              one_piece ? "leave `via` out: an inferred map is cut into panels" : NULL,
                              one_piece ? "%lld bytes of `%s` wide are more than one panel of %lld"
                                        : "%lld bytes of `%s` wide are no whole number of panels of %lld",
                              (long long)(x * mi->sbits / 8), name_text(L, t->name), (long long)tile_span(mi->tile));
            continue;
        }
        int64_t s = 1;
        for (int p = 0; p < mi->npairs; p++)
            if (mi->pair[p].tile_dim == i) s = move_step(mi, mi->pair[p].tensor_dim);
        int64_t limit = one_piece ? x : (BOX_MAX - 1) / s + 1;
        c[i] = whole ? cut_of(x, limit, tile_pitch_bits(mi->tile, i), inner) : 1;
        if (c[i] < x && one_piece)
            return cannot(L, why, E0521, mi->s->span, t->span, "the tile", "leave `via` out: an inferred map is cut into contiguous pieces",
                          "this part of `%s` is not contiguous: dimension %d further in is not taken in full", name_text(L, t->name), i + 1);
        whole = whole && c[i] == t->extent[i];
    }
    return true;
}

bool tensor_one_piece(Lower *L, const MoveInfo *mi, Refusal *why)
{
    int64_t c[P_RANK];
    return cut(L, mi, true, c, why);
}

/* Which pieces the cuts make, outermost first. */
static bool pieces(Lower *L, const MoveInfo *mi, const int64_t c[P_RANK], TensorPlan *out, Refusal *why)
{
    int64_t n = 1, count[P_RANK];
    for (int i = 0; i < mi->tile->rank; i++) {
        count[i] = mi->s->dim[i].extent / c[i];
        n *= count[i];
        if (n > PIECES_MAX)
            return cannot(L, why, E0522, mi->stmt->span, mi->tile->span, "rows wider than 256 elements, or parts of them, are copies of their own",
                          NULL, "the move would be cut into more than %d tensor copies", PIECES_MAX);
    }
    out->npieces = (uint32_t)n;
    out->pieces = arena_array(L->a, Piece, (size_t)n);
    for (int64_t p = 0; p < n; p++) {
        int64_t rest = p, at[P_RANK] = {0};
        for (int i = mi->tile->rank - 1; i >= 0; i--) {
            at[i] = rest % count[i] * c[i];
            rest /= count[i];
            out->pieces[p].offset += at[i] * tile_pitch_bits(mi->tile, i) / 8;
        }
        for (int q = 0; q < mi->npairs; q++)
            out->pieces[p].at[mi->pair[q].tensor_dim] = at[mi->pair[q].tile_dim] * move_step(mi, mi->pair[q].tensor_dim);
        if (out->pieces[p].offset % SMEM_TMA_ALIGN != 0)
            return cannot(L, why, E0507, mi->stmt->span, mi->tile->span, "rows that are no multiple of 128 bytes", NULL,
                          "piece %lld would start at byte %lld of `%s`", (long long)p, (long long)out->pieces[p].offset, name_text(L, mi->tile->name));
    }
    return true;
}

/* PTX ISA, tensor copies: the box starts at a multiple of 16 bytes of the innermost dimension. */
bool tensor_inner_start(Lower *L, const MoveInfo *mi, Refusal *why)
{
    int d = mi->rank - 1;
    int64_t m = 128 / gcd_s64(128, mi->bits);
    Need n = need_multiple(L, mi->start[d], m);
    if (n.is == NEED_PROVED) return true;
    const char *rule = "a tensor copy starts at a multiple of 16 bytes of the innermost dimension", *bytes = bytes_text(L, mi->start[d], mi->bits);
    if (need_met(L, n, E1121, mi->g->dim[d].span, rule, "%s is a multiple of 16", bytes)) return true;
    return cannot(L, why, E0450, mi->g->dim[d].span, mi->tensor->span, "the tensor",
                  arena_printf(L->a, "start at a multiple of %lld elements, or state it: `where .. %% %lld == 0`", (long long)m, (long long)m),
                  "the innermost start, %s bytes, %s a multiple of 16", bytes, unproved_multiple(mi->start[d], m));
}

/* A tensor map counts neighbours of the innermost dimension by the element's size alone. */
static bool inner_contiguous(Lower *L, const MoveInfo *mi, Refusal *why)
{
    int d = mi->rank - 1;
    Poly stride = scalar_poly(L, mi->tensor->stride[d]);
    if (domain_eq(L->d, stride, poly_const(L->d, 1))) return true;
    return cannot(L, why, E0467, mi->g->dim[d].span, mi->tensor->span, "the view leaves out the dimension that is contiguous",
                  "let the view keep the innermost dimension, and move 16 bytes of it or more",
                  "neighbours in the innermost dimension of `%s` lie %s elements apart", name_text(L, mi->tensor->name), poly_text(L, stride));
}

static bool whole_bytes(Lower *L, const MoveInfo *mi, Poly x, ErrorCode code, const char *what, Refusal *why)
{
    int64_t m = 8 / gcd_s64(8, mi->bits);
    Need n = need_multiple(L, x, m);
    const char *rule = "packed elements that share a byte stay together";
    if (need_met(L, n, code, mi->tensor->span, rule, "%s, %s elements of %lld bits, takes whole bytes", what, poly_text(L, x), (long long)mi->bits))
        return true;
    return cannot(L, why, code, mi->g->span, mi->tensor->span, "the tensor", NULL, "%s, %s elements of %lld bits, is no whole number of bytes",
                  what, poly_text(L, x), (long long)mi->bits);
}

/* The offset and pitches of a map are in bytes; those of packed elements might be cut. */
static bool in_bytes(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PTensor *t = mi->tensor;
    if (mi->bits % 8 == 0) return true;
    if (t->base && !whole_bytes(L, mi, scalar_poly(L, t->offset), E0410, "the view's start", why)) return false;
    for (int d = 0; d < mi->rank - 1; d++)
        if (!whole_bytes(L, mi, scalar_poly(L, t->stride[d]), E0415, "the pitch", why)) return false;
    return true;
}

bool tensor_contiguous(Lower *L, const MoveInfo *mi, Refusal *why)
{
    return inner_contiguous(L, mi, why) && in_bytes(L, mi, why);
}

/* A coordinate that is cut to FAR, or left out beyond it, must lie outside there. */
bool tensor_before_far(Lower *L, const MoveInfo *mi, int d, Refusal *why)
{
    Poly extent = device_extent(L, mi->tensor, d);
    Need n = need_at_most(L, extent, FAR);
    if (n.is == NEED_PROVED) return true;
    bool data = mi->g->dim[d].rows || domain_depends(L->d, mi->start[d]) & DEP_DATA;
    const char *which = data ? "a coordinate that depends on data" : "a coordinate whose bounds are not known";
    if (need_met(L, n, E1122, mi->g->dim[d].span, arena_printf(L->a, "%s reaches indices below %d", which, FAR), "%s", lx_text(L, n.cond)))
        return true;
    return cannot(L, why, E0504, mi->g->dim[d].span, mi->tensor->span, "the tensor", NULL, "%s reaches indices below %d, the extent is %s",
                  which, FAR, poly_text(L, extent));
}

bool tensor_coordinate(Lower *L, const MoveInfo *mi, int d, int64_t last, TensorPlan *out, Refusal *why)
{
    Span at = mi->g->dim[d].span;
    Poly p = mi->start[d];
    int64_t k;
    bool constant = poly_is_const(p, &k);
    if (constant && k >= 0 && k + last <= INT32_MAX) return true;
    int64_t least = mi->load ? INT32_MIN : 0, most = INT32_MAX - last;
    Interval range = scalar_range(L, mi->g->dim[d].start);
    bool never_below = range.lo >= least || (!mi->load && conditions_at_least(L, p, least));
    Need low = never_below ? (Need){NEED_PROVED, 0} : need_at_least(L, p, least);
    Need high = range.hi <= most ? (Need){NEED_PROVED, 0} : need_at_most(L, p, most);
    const char *rule = "coordinates of tensor copies are 32-bit numbers", *below = mi->load ? rule : "a tensor store that starts below 0 ends the kernel";
    if (high.is == NEED_CHECK && !need_met(L, high, E1122, at, rule, "%s", lx_text(L, high.cond))) high.is = NEED_NEVER;
    if (low.is == NEED_CHECK && !need_met(L, low, mi->load ? E1122 : E1123, at, below, "%s", lx_text(L, low.cond))) low.is = NEED_NEVER;
    if (high.is == NEED_NEVER || (mi->load && low.is == NEED_NEVER))
        return cannot(L, why, E0504, at, (Span){0, 0}, NULL, NULL, "coordinate %s does not fit 32 bits", poly_text(L, p));
    if (mi->load) {
        out->clamp[d] = low.is == NEED_UNKNOWN || high.is == NEED_UNKNOWN;
        return !out->clamp[d] || tensor_before_far(L, mi, d, why);
    }
    out->huge[d] = high.is == NEED_UNKNOWN;
    if (out->huge[d] && !tensor_before_far(L, mi, d, why)) return false;
    if (low.is <= NEED_CHECK) return true;
    if (mi->g->dim[d].extent == 1 && !constant) { /* wholly outside: nothing would be written */
        out->negative[d] = true;
        return true;
    }
    return cannot(L, why, E0501, at, mi->tensor->span, arena_printf(L->a, "a box of %lld here may lie partly below 0", (long long)mi->g->dim[d].extent), NULL,
                  "the store's start %s is %s 0", poly_text(L, p), constant ? "below" : "not proved to be at least");
}

/* triton-lang/triton#11583: the end of the innermost dimension is honoured in steps of 16 bytes only. */
bool tensor_stored_extent(Lower *L, const MoveInfo *mi, Refusal *why)
{
    int d = mi->rank - 1;
    Poly n = scalar_poly(L, mi->tensor->extent[d]);
    int64_t m = 128 / gcd_s64(128, mi->bits);
    Need need = need_multiple(L, n, m);
    if (need.is == NEED_PROVED) return true;
    const char *rule = "a tensor store clips the innermost dimension in steps of 16 bytes", *bytes = bytes_text(L, n, mi->bits);
    if (need_met(L, need, E1124, mi->stmt->span, rule, "%s is a multiple of 16", bytes)) return true;
    return cannot(L, why, E0454, mi->stmt->span, mi->tensor->span, "the tensor", NULL,
                  "rows of `%s`, %s bytes, are no multiple of 16: the store would write past their end", name_text(L, mi->tensor->name), bytes);
}

bool tensor_layout(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMap *m = mi->mv->map;
    if (mi->prefetch || (m->swizzle == mi->tile->swizzle && m->interleave == mi->tile->interleave)) return true;
    return cannot(L, why, E0461, mi->mv->via_span, mi->tile->span, "the tile's layout",
                  m->interleave == mi->tile->interleave ? "give map and tile the same swizzle" : "give map and tile the same interleave",
                  "map `%s` has swizzle of %d bytes, interleave %d; tile `%s` has %d and %d", name_text(L, m->name), swizzle_span(m->swizzle),
                  (int)map_slice_bytes(m->interleave), name_text(L, mi->tile->name), swizzle_span(mi->tile->swizzle),
                  (int)map_slice_bytes(mi->tile->interleave));
}

/* The copy's box is one that the user described: it must be the region that the move names. */
static bool fits_map(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMap *m = mi->mv->map;
    if (!tensor_layout(L, mi, why)) return false;
    for (int d = 0; d < mi->rank; d++) {
        int64_t count = (m->box[d] + m->elem_stride[d] - 1) / m->elem_stride[d];
        const PDim *x = &mi->g->dim[d];
        bool step = x->step == 1 || x->step == m->elem_stride[d];
        if (count == x->extent && step) continue;
        const char *text =
            step ? arena_printf(L->a, "dimension %d: the box of map `%s` has %lld elements, the move %lld", d,
                                name_text(L, m->name), (long long)count, (long long)x->extent)
                 : arena_printf(L->a, "dimension %d: the map steps over %lld elements, the move over %lld", d,
                                (long long)m->elem_stride[d], (long long)x->step);
        return cannot(L, why, E0462, mi->mv->via_span, m->box_span.hi ? m->box_span : m->span, "the map's box",
                      step ? arena_printf(L->a, "make entry %d of the box %lld", d, (long long)(x->extent * m->elem_stride[d]))
                           : "use the same step in both",
                      "%s", text);
    }
    return true;
}

bool tensor_plan(Lower *L, MoveInfo *mi, TensorPlan *out, Refusal *why)
{
    bool given = mi->mv->via == VIA_MAP;
    int64_t c[P_RANK] = {0}, box[P_RANK], stride[P_RANK];
    *out = (TensorPlan){0};
    if (is_im2col(mi->mv)) return im2col_plan(L, mi, out, why);
    if (is_rows4(mi->mv)) return gather_plan(L, mi, out, why);
    *why = (Refusal){.code = E0520, .span = mi->stmt->span, .text = ""};
    for (int d = 0; d < mi->rank; d++) {
        if (mi->g->dim[d].rows == NULL) continue;
        *why = (Refusal){E0520, mi->g->dim[d].span, "rows by index are not neighbours: a box can't take them",
                         .fix = target_has(L->c->target, FEAT_BLK) ? "via a gather4 or scatter4 map" : NULL, .by_bulk = true};
        return false;
    }
    if (mi->mv->bytes) {
        *why = (Refusal){E0581, mi->mv->bytes_span, "a tensor copy has no byte mask", .by_bulk = true};
        return false;
    }
    if (!tensor_contiguous(L, mi, why) || (mi->tensor->run_time && !device_allowed(L, mi, why))) return false;
    out->device = mi->tensor->run_time;
    if (mi->tile->interleave && !slices_fit(L, mi, why)) return false;
    if (given && (!map_explicit(L, mi->mv->map, &out->map, why) || !fits_map(L, mi, why))) return false;
    if (!cut(L, mi, given, c, why) || !tile_aligned(L, mi, SMEM_TMA_ALIGN, why) || !pieces(L, mi, c, out, why)) return false;
    for (int d = 0; d < mi->rank; d++) box[d] = stride[d] = 1;
    for (int p = 0; p < mi->npairs; p++) {
        int d = mi->pair[p].tensor_dim;
        int64_t n = c[mi->pair[p].tile_dim];
        stride[d] = move_step(mi, d);
        box[d] = n * stride[d] <= BOX_MAX ? n * stride[d] : (n - 1) * stride[d] + 1;
    }
    if (!given && !map_inferred(L, mi, box, stride, &out->map, why)) return false;
    out->piece_bytes = map_bytes(L, out->map, 0);
    bool slices = mi->tile->interleave != MAP_INTERLEAVE_NONE;
    if (!slices && (!tensor_inner_start(L, mi, why) || (!mi->load && !tensor_stored_extent(L, mi, why)))) return false;
    for (int d = 0; d < map_rank(mi->rank, mi->tile->interleave); d++)
        if (!tensor_coordinate(L, mi, d, out->pieces[out->npieces - 1].at[d] + move_past(mi, d), out, why)) return false;
    return true;
}

/* ---- ops ---- */

static Opnd start_value(Lower *L, const MoveInfo *mi, int d, bool clamp)
{
    const Sx *x = mi->g->dim[d].start;
    if (!clamp) return value_low(L, x);
    Opnd v = value_wide(L, x); /* far outside stays outside: every box there is zeros */
    v = emit_op(L, IR_MAX, IR_I64, v, opnd_imm(INT32_MIN));
    v = emit_op(L, IR_MIN, IR_I64, v, opnd_imm(FAR));
    return emit_cvt(L, IR_I32, v);
}

Opnd tensor_bytes(Lower *L, const MoveInfo *mi, const TensorPlan *p)
{
    return p->halo_bytes ? im2col_bytes(L, mi, p) : opnd_imm(p->piece_bytes * p->npieces);
}

void tensor_values(Lower *L, const MoveInfo *mi, const TensorPlan *p, CopyValues *v)
{
    int share = move_peers(mi)->shares.dim;
    Opnd inside = p->device ? emit_logic(L, IR_AND, L->inside, device_some(L, mi->tensor)) : L->inside;
    v->ok = mi->load ? L->guard : emit_logic(L, IR_AND, L->guard, inside);
    v->slot = region_slot(L, mi);
    v->offset = region_offset(L, mi);
    if (share >= 0) v->offset = emit_op(L, IR_ADD, IR_I32, v->offset, v->share_byte);
    if (is_im2col(mi->mv)) im2col_values(L, mi, v);
    v->bytes = opnd_imm(p->piece_bytes);
    if (p->halo_bytes && !mi->prefetch) v->bytes = im2col_bytes(L, mi, p);
    for (int d = 0; d < map_rank(mi->rank, mi->tile->interleave); d++) {
        if (mi->g->dim[d].rows) continue; /* gather.c */
        v->start[d] = start_value(L, mi, d, p->clamp[d]);
        if (d == share) v->start[d] = emit_op(L, IR_ADD, IR_I32, v->start[d], v->share_at);
        if (d == 0 && mi->load && !opnd_is(inside, 1))
            v->start[d] = emit_sel(L, IR_I32, inside, v->start[d], opnd_imm(FAR));
        if (!p->negative[d] && !p->huge[d]) continue;
        Opnd wide = value_wide(L, mi->g->dim[d].start);
        if (p->negative[d]) v->ok = emit_logic(L, IR_AND, v->ok, emit_cmp(L, IRL_GE, wide, opnd_imm(0)));
        if (p->huge[d]) v->ok = emit_logic(L, IR_AND, v->ok, emit_cmp(L, IRL_LE, wide, opnd_imm(FAR)));
    }
}

void tensor_op(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, const Opnd *at, int n, Opnd byte, uint32_t bar, Opnd bar_slot)
{
    int rop = mi->mv->reduce;
    IrOp *op = emit_when(L, mi->prefetch ? IR_TMA_PREFETCH : mi->load ? IR_TMA_LOAD : rop >= 0 ? IR_TMA_REDUCE : IR_TMA_STORE, v->ok);
    op->any_order = !mi->load && mi->mv->overlap_any;
    if (!mi->load && rop >= 0) ir_ref(L->a, op, IRK_ROP, IRA_WORD, (uint32_t)rop);
    ir_ref(L->a, op, IRK_MAP, IRA_MAP, p->map);
    for (int d = 0; d < n; d++) put_opnd(L, op, IRK_COORDS, at[d]);
    for (int i = 0; i < v->ninfo; i++) put_opnd(L, op, IRK_INFO, v->info[i]);
    if (!mi->prefetch) put_buf(L, op, mi->load ? IRK_DST : IRK_SRC, mi->tile->index, v->slot, byte);
    if (mi->load && !mi->prefetch) put_bar(L, op, bar, bar_slot);
    if (!mi->prefetch) put_opnd(L, op, IRK_BYTES, v->bytes);
    if (mi->mv->dst.peer) put_opnd(L, op, IRK_RANK, v->peer);
    if (!opnd_is(v->mask, 0)) put_opnd(L, op, IRK_MASK, v->mask);
    if (move_peers(mi)->in_pair) put_opnd(L, op, IRK_BAR_RANK, v->bar_rank);
    policy_operand(L, op, mi);
    if (p->device == 0 || L->device->maps.n == 0) return; /* planning */
    put_buf(L, op, IRK_DESC, L->device->maps.v[p->device - 1].buf, v->slot, opnd_imm(0));
}

static void piece_op(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, const Piece *piece, uint32_t bar, Opnd bar_slot)
{
    Opnd at[P_RANK];
    int n = map_rank(mi->rank, mi->tile->interleave);
    for (int d = 0; d < n; d++) at[d] = emit_op(L, IR_ADD, IR_I32, v->start[d], opnd_imm(piece->at[d]));
    Opnd byte = emit_op(L, IR_ADD, IR_I32, v->offset, opnd_imm(piece->offset));
    tensor_op(L, mi, p, v, at, n, byte, bar, bar_slot);
}

void tensor_emit(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, uint32_t bar, Opnd bar_slot)
{
    if (opnd_is(v->ok, 0)) return;
    if (is_rows4(mi->mv)) {
        gather_emit(L, mi, p, v, bar, bar_slot);
        return;
    }
    for (uint32_t i = 0; i < p->npieces; i++) piece_op(L, mi, p, v, &p->pieces[i], bar, bar_slot);
}
