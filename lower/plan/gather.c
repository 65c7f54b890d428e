/* Moves through gather4 and scatter4 maps: an instruction per four rows, whose numbers come one by one. A number outside of
 * the tensor is passed as its extent: a row of zeros, or one that is not written. */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"
#include "lower/plan/maps.h"

enum { ROWS = 4 };

static bool columns(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMap *m = mi->mv->map;
    if (m->box[1] == mi->g->dim[1].extent) return true;
    return cannot(L, why, E0462, mi->mv->via_span, m->box_span, "the map's box",
                  arena_printf(L->a, "box [4, %lld], or moves of %lld columns", (long long)mi->g->dim[1].extent, (long long)m->box[1]),
                  "the box of map `%s` has %lld columns, the move %lld", name_text(L, m->name), (long long)m->box[1], (long long)mi->g->dim[1].extent);
}

static int64_t group_bytes(const MoveInfo *mi)
{
    return ROWS * tile_pitch_bits(mi->tile, mi->pair[0].tile_dim) / 8;
}

/* Each group of four rows starts where a tensor copy may. */
static bool groups_aligned(Lower *L, const MoveInfo *mi, Refusal *why)
{
    if (mi->prefetch || mi->g->dim[0].extent == ROWS || group_bytes(mi) % SMEM_TMA_ALIGN == 0) return true;
    return cannot(L, why, E0507, mi->s->span, mi->tile->span, "the tile", "take rows of 32 bytes or more",
                  "four rows of `%s` take %lld bytes, no multiple of %d", name_text(L, mi->tile->name), (long long)group_bytes(mi), SMEM_TMA_ALIGN);
}

bool gather_plan(Lower *L, const MoveInfo *mi, TensorPlan *out, Refusal *why)
{
    out->mode = (uint8_t)mi->mv->map->mode;
    if (!target_copies(L, mi, why) || !tensor_contiguous(L, mi, why) || !mode_known_view(L, mi, why)) return false;
    if (!map_explicit(L, mi->mv->map, &out->map, why)) return false;
    if (!tensor_layout(L, mi, why) || !columns(L, mi, why)) return false;
    if (!tensor_one_piece(L, mi, why) || !tile_aligned(L, mi, SMEM_TMA_ALIGN, why) || !groups_aligned(L, mi, why)) return false;
    out->npieces = (uint32_t)(mi->g->dim[0].extent / ROWS);
    out->piece_bytes = map_bytes(L, out->map, 0);
    if (!tensor_inner_start(L, mi, why) || (!mi->load && !tensor_stored_extent(L, mi, why))) return false;
    return tensor_before_far(L, mi, 0, why) && tensor_coordinate(L, mi, 1, 0, out, why);
}

/* ---- ops ---- */

Opnd move_row(Lower *L, const MoveInfo *mi, int d, const CopyValues *v, Opnd index)
{
    const PDim *p = &mi->g->dim[d];
    Opnd first = move_peers(mi)->shares.dim == d ? v->share_at : opnd_imm(0);
    return row_index(L, p->rows, p->extent + move_past(mi, d), first, p->extent, index);
}

static Opnd row(Lower *L, const MoveInfo *mi, const CopyValues *v, Opnd index)
{
    const Sx *extent = mi->tensor->extent[0];
    Opnd at = move_row(L, mi, 0, v, index);
    Opnd below = emit_cmp(L, IRL_LT, at, value_wide(L, extent));
    Opnd ok = emit_logic(L, IR_AND, emit_cmp(L, IRL_GE, at, opnd_imm(0)), below);
    ok = emit_logic(L, IR_AND, ok, L->inside);
    Opnd beyond = value_low(L, extent);
    return emit_sel(L, IR_I32, ok, emit_cvt(L, IR_I32, at), beyond);
}

static void group(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, Opnd g, uint32_t bar, Opnd bar_slot)
{
    Opnd at[ROWS + 1], first = emit_op(L, IR_MUL, IR_I32, g, opnd_imm(ROWS));
    for (int k = 0; k < ROWS; k++) at[k] = row(L, mi, v, emit_op(L, IR_ADD, IR_I32, first, opnd_imm(k)));
    at[ROWS] = v->start[1];
    Opnd byte = emit_op(L, IR_ADD, IR_I32, v->offset, emit_op(L, IR_MUL, IR_I32, g, opnd_imm(group_bytes(mi))));
    tensor_op(L, mi, p, v, at, ROWS + 1, byte, bar, bar_slot);
}

void gather_emit(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, uint32_t bar, Opnd bar_slot)
{
    int64_t n = p->npieces;
    if (n > COPIES_UNROLLED || (n > 1 && L->values->lanes && !L->values->in_lanes)) {
        group(L, mi, p, v, emit_each(L, n), bar, bar_slot);
        emit_end(L);
        return;
    }
    for (int64_t g = 0; g < n; g++) group(L, mi, p, v, opnd_imm(g), bar, bar_slot);
}
