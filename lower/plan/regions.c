/* A move taken apart: which part of the tensor, which part of the tile, how the tile's part lies in shared memory. */
#include "lang/checked.h"
#include "lower/emit/values.h"
#include "lower/plan/copies.h"

static const Sx *sx_zero(Lower *L)
{
    Sx *x = arena_new(L->a, Sx);
    *x = (Sx){.op = SX_CONST, .launch = true};
    return x;
}

/* Marked dimensions of both sides, in order, are each other's partners. */
static bool pair_up(Lower *L, MoveInfo *mi)
{
    int t = 0;
    for (int d = 0; d < mi->g->rank; d++) {
        if (!mi->g->dim[d].marked) continue;
        while (t < mi->s->rank && !mi->s->dim[t].marked) t++;
        if (t == mi->s->rank || mi->s->dim[t].extent != mi->g->dim[d].extent)
            return cannot(L, NULL, E0312, mi->g->dim[d].span, (Span){0, 0}, NULL, NULL, "the two sides of the move have different shapes");
        mi->pair[mi->npairs++] = (Pair){(uint8_t)d, (uint8_t)t++};
    }
    return true;
}

/* ---- how a tile lies ---- */

int64_t tile_span(const PTile *t)
{
    return t->interleave ? 0 : swizzle_span(t->swizzle); /* interleaved: slices, one after the other */
}

int64_t tile_panel_rows(const PTile *t)
{
    int64_t rows = tile_span(t) ? 1 : 0;
    for (int i = 0; i < t->rank - 1; i++) rows *= t->extent[i];
    return rows;
}

int64_t tile_pitch_bits(const PTile *t, int d)
{
    int64_t element = elem_info(t->type)->shared_bits, span = tile_span(t), pitch = span ? span * 8 : element;
    if (span && d == t->rank - 1) return element * tile_panel_rows(t); /* right where the start is a multiple of the span */
    for (int i = d + 1; i < (span ? t->rank - 1 : t->rank); i++) pitch *= t->extent[i];
    return pitch;
}

/* ---- the tile's side ---- */

/* Elements of a panel's row. */
static int64_t panel_elements(const MoveInfo *mi)
{
    return tile_span(mi->tile) * 8 / mi->sbits;
}

/* Bytes from the tile's first to element `start` of the innermost dimension: in which panel, and where in its row. */
static Poly slice_offset(Lower *L, const MoveInfo *mi, Poly start)
{
    Domain *d = L->d;
    Poly x = poly_mul(d, start, poly_const(d, mi->sbits / 8)), span = poly_const(d, tile_span(mi->tile));
    if (mi->tile->extent[mi->tile->rank - 1] <= panel_elements(mi)) return x;
    Poly in_row = poly_mod(d, x, span), panel_bytes = poly_const(d, tile_span(mi->tile) * tile_panel_rows(mi->tile));
    return poly_add(d, poly_mul(d, poly_div(d, x, span), panel_bytes), in_row);
}

/* Elements from the first to behind the last, in a dimension of a tile; in tensor memory steps go otherwise. */
static int64_t reach_of(const MoveInfo *mi, int i)
{
    const PDim *p = &mi->s->dim[i];
    if (p->step == 1) return p->extent;
    return mi->tile->tensor ? mi->tile->extent[i] : (p->extent - 1) * p->step + 1;
}

static bool inside_tile(Lower *L, MoveInfo *mi, int i)
{
    const PDim *p = &mi->s->dim[i];
    const PTile *t = mi->tile;
    Poly start = mi->at[i];
    int64_t last = t->extent[i] - (t->tensor ? p->extent : reach_of(mi, i)), k;
    if (poly_is_const(start, &k) && k >= 0 && k <= last) return true;
    if (need_within(L, start, last, E1127, p->span, "the part must lie inside the tile")) return true;
    const char *extent = arena_printf(L->a, "the tile has extent %lld here", (long long)t->extent[i]);
    return cannot(L, NULL, E0508, p->span, t->span, extent, NULL, "a part of %lld elements from %s is not proved to lie inside the %lld of `%s`",
                  (long long)p->extent, poly_text(L, start), (long long)t->extent[i], name_text(L, t->name));
}

static bool resolve_tile(Lower *L, MoveInfo *mi)
{
    const PTile *t = mi->tile;
    Domain *d = L->d;
    mi->at = arena_array(L->a, Poly, (size_t)t->rank);
    mi->offset = poly_const(d, 0);
    mi->bytes = mi->sbits;
    for (int i = 0; i < t->rank; i++) {
        const PDim *p = &mi->s->dim[i];
        mi->at[i] = scalar_poly(L, p->start);
        mi->bytes *= p->extent;
        if (!inside_tile(L, mi, i)) return false;
        int64_t pitch = tile_pitch_bits(mi->tile, i), k;
        if (poly_is_const(mi->at[i], &k) && k == 0) continue;
        bool within = i == t->rank - 1 && tile_span(mi->tile) && !domain_divides(d, panel_elements(mi), mi->at[i]);
        bool slices = within && mi->mv->kind == MOVE_TMEM_CP && mi->s == &mi->mv->src;
        if (slices && domain_divides(d, 16 * 8 / mi->sbits, mi->at[i])) { /* a descriptor begins anywhere in the pattern (PTX ISA, Shared memory descriptor) */
            mi->sliced = true;
            mi->offset = poly_add(d, mi->offset, slice_offset(L, mi, mi->at[i]));
            continue;
        }
        if (within && mi->mv->kind == MOVE_TMEM_CP)
            return cannot(L, NULL, E0552, p->span, t->span, "the tile", NULL,
                          "tcgen05.cp can't read this: element %s of `%s` is not proved to begin at a multiple of 16 bytes, %d elements",
                          poly_text(L, mi->at[i]), name_text(L, t->name), 16 * 8 / mi->sbits);
        if (within) {
            const char *panels = arena_printf(L->a, "its panels are %lld bytes, %lld elements, wide", (long long)tile_span(mi->tile), (long long)panel_elements(mi));
            return cannot(L, NULL, E0507, p->span, t->span, panels, NULL, "column %s of `%s` is not the start of a panel", poly_text(L, mi->at[i]), name_text(L, t->name));
        }
        if (pitch % 8 != 0 && !domain_divides(d, 8 / gcd_s64(8, pitch), mi->at[i]))
            return cannot(L, NULL, E0507, p->span, (Span){0, 0}, NULL, NULL, "the part starts in the middle of a byte");
        Poly bits = poly_mul(d, mi->at[i], poly_const(d, pitch));
        mi->offset = poly_add(d, mi->offset, poly_div(d, bits, poly_const(d, 8)));
    }
    mi->bytes /= 8;
    return true;
}

void region_part(Lower *L, const MoveInfo *mi, DomBox *box)
{
    box->rank = mi->tile->rank;
    for (int i = 0; i < box->rank; i++) {
        box->start[i] = mi->at[i];
        box->extent[i] = poly_const(L->d, reach_of(mi, i)); /* with a step: others may lie between */
    }
}

static bool resolve_slot(Lower *L, MoveInfo *mi)
{
    mi->slot_const = 0;
    if (mi->s->slot == NULL) return true;
    Poly slot = scalar_poly(L, mi->s->slot);
    int64_t last = mi->tile->slots - 1;
    if (poly_is_const(slot, &mi->slot_const)) {
        if (mi->slot_const >= 0 && mi->slot_const <= last) return true;
    } else {
        mi->slot_const = -1;
        if (domain_le(L->d, poly_const(L->d, 0), slot) && domain_le(L->d, slot, poly_const(L->d, last))) return true;
    }
    const char *array = arena_printf(L->a, "an array of %lld tiles", (long long)mi->tile->slots);
    const char *fix = arena_printf(L->a, "write the slot as `.. %% %lld`", (long long)mi->tile->slots);
    return cannot(L, NULL, E0508, mi->s->span, mi->tile->span, array, fix, "slot %s of `%s` is not proved to lie in 0 .. %lld",
                  poly_text(L, slot), name_text(L, mi->tile->name), (long long)last);
}

static bool whole_dim(Lower *L, const MoveInfo *mi, int d)
{
    const PDim *p = &mi->g->dim[d];
    if (!p->whole) return true;
    Poly extent = scalar_poly(L, mi->tensor->extent[d]);
    Need n = need_equal(L, extent, p->extent);
    const char *rule = "`:` moves the whole dimension, and the tile has this extent";
    if (need_met(L, n, E1125, p->span, rule, "%s == %lld", poly_text(L, extent), (long long)p->extent)) return true;
    const char *label = arena_printf(L->a, "extent %lld", (long long)p->extent);
    const char *fix = arena_printf(L->a, "write the part that is meant: `start +: %lld`", (long long)p->extent);
    return cannot(L, NULL, E0312, p->span, mi->tile->span, label, fix, "`:` stands for %s elements, the tile has %lld here", poly_text(L, extent),
                  (long long)p->extent);
}

const Pair *move_pair(const MoveInfo *mi, int d)
{
    for (int p = 0; p < mi->npairs; p++)
        if (mi->pair[p].tensor_dim == d) return &mi->pair[p];
    return NULL;
}

int64_t move_step(const MoveInfo *mi, int d)
{
    int64_t step = mi->g->dim[d].step;
    return step == 1 && mi->mv->via == VIA_MAP ? mi->mv->map->elem_stride[d] : step;
}

int64_t move_width(const MoveInfo *mi, int d)
{
    return (mi->g->dim[d].extent - 1) * move_step(mi, d) + 1 + move_past(mi, d);
}

bool region_box(Lower *L, const MoveInfo *mi, DomBox *box)
{
    Domain *d = L->d;
    const PTensor *t = mi->tensor;
    if (t->base && t->reshaped) return false;
    box->rank = t->base ? t->base->rank : t->rank;
    for (int i = 0; t->base && i < t->base->rank; i++) {
        box->start[i] = scalar_poly(L, t->start[i]);
        box->extent[i] = poly_const(d, 1);
    }
    for (int i = 0; i < t->rank; i++) {
        int b = t->base ? t->dim_of[i] : i;
        if (mi->g->dim[i].open) { /* anywhere in the tensor */
            if (!t->base) box->start[b] = poly_const(d, 0);
            box->extent[b] = scalar_poly(L, t->extent[i]);
            continue;
        }
        box->start[b] = t->base ? poly_add(d, box->start[b], mi->start[i]) : mi->start[i];
        if (mi->g->dim[i].rows) box->extent[b] = scalar_poly(L, t->base ? t->base->extent[b] : t->extent[i]); /* any row of the tensor */
        else box->extent[b] = poly_const(d, move_width(mi, i));
    }
    return true;
}

bool region_tile(Lower *L, const PStmt *st, const PRegion *s, MoveInfo *mi)
{
    *mi = (MoveInfo){.mv = st->move, .stmt = st, .s = s, .tile = s->tile};
    mi->sbits = elem_info(mi->tile->type)->shared_bits;
    return resolve_tile(L, mi) && resolve_slot(L, mi);
}

/* A prefetch has no tile: one stands in that would take the region as it is. */
static const PRegion *no_tile(Lower *L, const PMove *mv)
{
    const PRegion *g = &mv->src;
    PTile *t = arena_new(L->a, PTile);
    PRegion *s = arena_new(L->a, PRegion);
    *t = (PTile){.name = g->tensor->name, .span = g->span, .type = g->tensor->type, .slots = 1};
    if (mv->map) t->interleave = mv->map->interleave;
    *s = (PRegion){.span = g->span, .tile = t, .dim = arena_array(L->a, PDim, P_RANK)};
    for (int d = 0; d < g->rank; d++) {
        if (!g->dim[d].marked) continue;
        t->extent[t->rank++] = g->dim[d].extent;
        s->dim[s->rank] = (PDim){.start = sx_zero(L), .extent = g->dim[d].extent, .step = 1, .marked = true};
        s->dim[s->rank++].span = g->dim[d].span;
    }
    for (int i = 0; is_im2col(mv) && i < 2; i++) {
        t->extent[t->rank++] = i ? mv->map->channels : im2col_pixels(mv);
        s->dim[s->rank] = (PDim){.start = sx_zero(L), .extent = t->extent[i], .step = 1, .marked = true, .span = g->span};
        s->rank++;
    }
    return s;
}

bool region_resolve(Lower *L, const PStmt *st, MoveInfo *mi)
{
    const PMove *mv = st->move;
    bool load = mv->kind == MOVE_LOAD || mv->kind == MOVE_PREFETCH;
    *mi = (MoveInfo){.mv = mv, .stmt = st, .load = load, .prefetch = mv->kind == MOVE_PREFETCH};
    mi->g = load ? &mv->src : &mv->dst;
    mi->s = mi->prefetch ? no_tile(L, mv) : load ? &mv->dst : &mv->src;
    mi->tensor = mi->g->tensor;
    mi->tile = mi->s->tile;
    mi->rank = mi->tensor->rank;
    mi->bits = elem_info(mi->tensor->type)->global_bits;
    mi->sbits = elem_info(mi->tile->type)->shared_bits;
    mi->start = arena_array(L->a, Poly, (size_t)mi->rank);
    for (int i = 0; i < mi->rank; i++) mi->start[i] = scalar_poly(L, mi->g->dim[i].start);
    if (!pair_up(L, mi) || !resolve_tile(L, mi) || !resolve_slot(L, mi)) return false;
    for (int i = 0; i < mi->rank; i++)
        if (!whole_dim(L, mi, i)) return false;
    return true;
}

static Opnd slice_value(Lower *L, const MoveInfo *mi, Opnd start)
{
    Opnd x = emit_op(L, IR_MUL, IR_I32, start, opnd_imm(mi->sbits / 8)), span = opnd_imm(tile_span(mi->tile));
    if (mi->tile->extent[mi->tile->rank - 1] <= panel_elements(mi)) return x;
    Opnd panel = emit_op(L, IR_MUL, IR_I32, emit_op(L, IR_DIV, IR_I32, x, span), opnd_imm(tile_span(mi->tile) * tile_panel_rows(mi->tile)));
    return emit_op(L, IR_ADD, IR_I32, panel, emit_op(L, IR_MOD, IR_I32, x, span));
}

/* ---- where it is ---- */

static Opnd part_offset(Lower *L, const MoveInfo *mi)
{
    int64_t k;
    if (poly_is_const(mi->offset, &k)) return opnd_imm(k);
    Opnd bytes = opnd_imm(0);
    for (int i = 0; i < mi->tile->rank; i++) {
        Opnd start = value_low(L, mi->s->dim[i].start);
        int64_t pitch = tile_pitch_bits(mi->tile, i);
        if (mi->sliced && i == mi->tile->rank - 1) start = slice_value(L, mi, start);
        else if (pitch % 8 == 0) start = emit_op(L, IR_MUL, IR_I32, start, opnd_imm(pitch / 8));
        else start = emit_op(L, IR_DIV, IR_I32, emit_op(L, IR_MUL, IR_I32, start, opnd_imm(pitch)), opnd_imm(8));
        bytes = emit_op(L, IR_ADD, IR_I32, bytes, start);
    }
    return bytes;
}

/* Bytes from the slot's start to a tile of an array, or of the batch. */
static Opnd inner_offset(Lower *L, const MoveInfo *mi, const RingPlace *in)
{
    Opnd inner = in->batch ? L->batch_index : opnd_imm(0);
    if (mi->tile->is_array) inner = mi->slot_const >= 0 ? opnd_imm(mi->slot_const) : value_low(L, mi->s->slot);
    return emit_op(L, IR_MUL, IR_I32, inner, opnd_imm(in->pitch));
}

/* NULL: the tile is in no ring. */
static const RingPlace *place_of(const Lower *L, const MoveInfo *mi)
{
    return L->places && !mi->prefetch ? &L->places[mi->tile->index] : NULL;
}

Opnd region_offset(Lower *L, const MoveInfo *mi)
{
    Opnd part = part_offset(L, mi);
    const RingPlace *in = place_of(L, mi);
    return in ? emit_op(L, IR_ADD, IR_I32, part, inner_offset(L, mi, in)) : part;
}

Opnd region_slot(Lower *L, const MoveInfo *mi)
{
    const RingPlace *in = place_of(L, mi);
    if (in) return in->slot;
    if (mi->slot_const >= 0) return opnd_imm(mi->slot_const);
    return value_low(L, mi->s->slot);
}
