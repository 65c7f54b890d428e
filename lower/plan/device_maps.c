/* Tensor copies through views that are made at run time.
 *
 * The launch encodes a map with the box and layout (a template); the role that copies makes a map of its own from it wherever
 * the view gets another place or shape (map.set). A copy in flight still reads its map, so a map belongs to a slot of
 * the tile that the copy fills, or stores: where the slot is free for the next copy, so is its map. A slot's map is made at the
 * turn's begin, if it is not yet that of this run of the declaration: a set of bits, one per slot, says so.
 *
 * An empty view has no map: the one made for it has one row of 16 bytes (no map that stores use has less), loads start far
 * outside of it, stores are left out. */
#include "lower/emit/values.h"
#include "lower/plan/device_maps.h"

#include "lang/lang.h"

static bool refuse(Refusal *why, ErrorCode code, const MoveInfo *mi, const char *text, const char *label,
                   const char *fix, bool by_bulk)
{
    *why = (Refusal){
        .code = code, .span = mi->stmt->span, .text = text, .label_span = mi->tensor->span, .label = label, .fix = fix, .by_bulk = by_bulk};
    return false;
}

/* ---- what may be done ---- */

bool device_same_team(Lower *L, const MoveInfo *mi, Refusal *why)
{
    if (mi->mv->cast == CAST_NONE || L->cluster_size == 1) return true;
    uint8_t uses = scalar_uses(L, mi->tensor->offset);
    for (int d = 0; d < mi->tensor->rank; d++) uses |= scalar_uses(L, mi->tensor->extent[d]);
    if (!(uses & (USE_TEAM | USE_VAR))) return true;
    return refuse(
        why, E0491, mi, "a multicast through a view that may be another one in each CTA of the cluster", "the view",
        "let the view depend on sizes, indices and elements of tensors, not on cta.*, cluster.* and variables", false);
}

/* From dimension to dimension, by what the launch knows of the pitch, or by what is known of the start. */
static bool start_aligned(Lower *L, const MoveInfo *mi, Poly start, Poly pitch, ErrorCode code, Refusal *why)
{
    Domain *d = L->d;
    Poly all = poly_mul(d, start, pitch);
    int64_t k;
    if (poly_is_const(start, &k) && k == 0) return true;
    Need n = need_multiple(L, pitch, SMEM_BULK_ALIGN);
    bool by_pitch = n.is <= NEED_CHECK;
    if (!by_pitch) n = need_multiple(L, all, SMEM_BULK_ALIGN);
    const char *rule = "a view starts at a multiple of 16 bytes";
    if (need_met(L, n, code, mi->tensor->span, rule, "%s is a multiple of 16", poly_text(L, by_pitch ? pitch : all))) return true;
    return refuse(
        why, E0490, mi,
        arena_printf(L->a, "the view's start, byte %s, %s a multiple of 16", poly_text(L, all),
                     unproved_multiple(all, SMEM_BULK_ALIGN)),
        "the view",
        "count in multiples of 16 bytes, e.g. `first * 8` elements of 2 bytes, and state what is left in `where`", false);
}

bool device_aligned(Lower *L, const MoveInfo *mi, ErrorCode code, Refusal *why)
{
    const PTensor *t = mi->tensor, *base = t->base;
    Domain *d = L->d;
    Poly size = poly_const(d, mi->bits / 8), offset = poly_mul(d, scalar_poly(L, t->offset), size);
    if (domain_divides(d, SMEM_BULK_ALIGN, offset)) return true;
    if (t->reshaped) return start_aligned(L, mi, offset, poly_const(d, 1), code, why);
    for (int b = 0; b < base->rank; b++) {
        Poly start = scalar_poly(L, t->start[b]);
        if (!start_aligned(L, mi, start, poly_mul(d, scalar_poly(L, base->stride[b]), size), code, why)) return false;
    }
    return true;
}

/* Pitches that the kernel works out: a launch can't check them. */
static bool pitches(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PTensor *t = mi->tensor;
    for (int i = 0; t->reshaped && i < t->rank - 1; i++) {
        Poly pitch = poly_mul(L->d, scalar_poly(L, t->stride[i]), poly_const(L->d, mi->bits / 8));
        Need n = need_multiple(L, pitch, SMEM_BULK_ALIGN);
        const char *rule = "pitches of tensor maps are multiples of 16 bytes";
        if (need_met(L, n, E1160, t->span, rule, "%s is a multiple of 16", poly_text(L, pitch))) continue;
        return refuse(
            why, E0492, mi,
            arena_printf(L->a, "the pitch of dimension %d of `%s`, %s bytes, %s a multiple of 16", i,
                         name_text(L, t->name), poly_text(L, pitch), unproved_multiple(pitch, SMEM_BULK_ALIGN)),
            "the view", "let the rows be multiples of 16 bytes, e.g. `k * 8` elements of 2 bytes", true);
    }
    return true;
}

/* PTX ISA, tensor maps: strides below 2^40 bytes. */
static bool small_enough(Lower *L, const MoveInfo *mi)
{
    const PTensor *base = mi->tensor->base;
    if (!mi->tensor->reshaped) return true;
    Poly all = poly_const(L->d, mi->bits / 8);
    for (int b = 0; b < base->rank; b++) all = poly_mul(L->d, all, scalar_poly(L, base->extent[b]));
    Need n = need_at_most(L, all, (INT64_C(1) << 40) - 16);
    return n.is != NEED_CHECK || need_met(L, n, E1160, mi->tensor->span, "pitches of tensor maps are below 2^40 bytes", "%s < 2^40", poly_text(L, all));
}

bool device_allowed(Lower *L, const MoveInfo *mi, Refusal *why)
{
    if (!target_has(L->c->target, form_info(FORM_MAP_REPLACE)->feature))
        return refuse(
            why, E0801, mi,
            arena_printf(L->a, "%s can't make tensor maps (tensormap.replace) for this view", L->c->target->name),
            "made at run time", arena_printf(L->a, "compile for %sa", L->c->target->name), true);
    if (!L->derived && !L->device->roles)
        return refuse(why, E0493, mi, "a map for a view that is made at run time needs a role whose warp makes it",
                      "the view", "leave the explicit synchronisation out, write `roles`", true);
    if (mi->prefetch)
        return refuse(why, E0494, mi, "nobody knows when a prefetch has read a map that the kernel makes", "the view",
                      NULL, true);
    if (mi->bits < 8 || mi->bits != mi->sbits)
        return refuse(why, E0495, mi, "packed elements need bounds that are known at launch", "the view",
                      "give the view bounds of sizes and parameters", false);
    return device_same_team(L, mi, why) && device_aligned(L, mi, E1160, why) && pitches(L, mi, why) &&
           small_enough(L, mi);
}

/* ---- the template ---- */

/* Of the base tensor where the view is a part of it; of a shape that was made up where it has another one. */
void device_template(Lower *L, const PTensor *t, const MapDesc *d, MfMap *m)
{
    LxPool *p = &L->ir->mf.lx;
    int64_t size = elem_info(t->type)->global_bits / 8, pitch = size;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->reshaped) {
            m->dim[i] = lx_const(L->a, p, d->box[i]);
            m->pitch[i] = lx_const(L->a, p, pitch);
            pitch = (pitch * d->box[i] + 15) / 16 * 16;
        } else {
            int b = t->dim_of[i];
            m->dim[i] = scalar_lx(L, t->base->extent[b]);
            Lx bytes = lx_const(L->a, p, size);
            m->pitch[i] = lx_op(L->a, p, LX_MUL, scalar_lx(L, t->base->stride[b]), bytes);
        }
    }
}

Poly device_extent(Lower *L, const PTensor *t, int d)
{
    if (!t->run_time) return scalar_poly(L, t->extent[d]);
    if (!t->reshaped) return scalar_poly(L, t->base->extent[t->dim_of[d]]);
    Poly all = poly_const(L->d, 1);
    for (int b = 0; b < t->base->rank; b++) all = poly_mul(L->d, all, scalar_poly(L, t->base->extent[b]));
    return all;
}

Opnd device_some(Lower *L, const PTensor *t)
{
    Opnd some = opnd_imm(1);
    for (int d = 0; d < t->rank; d++) {
        if (domain_le(L->d, poly_const(L->d, 1), scalar_poly(L, t->extent[d]))) continue;
        some = emit_logic(L, IR_AND, some, emit_cmp(L, IRL_GT, value_wide(L, t->extent[d]), opnd_imm(0)));
    }
    return some;
}

uint32_t device_buffer(Lower *L, const char *of, const DeviceMap *m, uint32_t slots)
{
    IrBuf b = {.name = arena_printf(L->a, m ? "%s.maps" : "%s.cell", of), .bytes = IR_MAP_BYTES, .align = IR_MAP_BYTES, .slots = slots, .pitch = IR_MAP_BYTES};
    b.maps = m != NULL;
    if (m) b.span = m->view->span;
    vec_push(L->a, &L->ir->bufs, b);
    return L->ir->bufs.n - 1;
}

void device_place(Lower *L)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < L->ir->bufs.n; i++) {
        IrBuf *b = &L->ir->bufs.v[i];
        if (!b->maps) continue;
        b->offset = at;
        at += b->slots * b->pitch;
    }
    if (at) param_add(L, MF_PARAM_MAPS, at);
}

void device_make(Lower *L, const DeviceMap *m, Opnd slot)
{
    IrOp *op = emit_new(L, IR_MAP_SET);
    ir_ref(L->a, op, IRK_MAP, IRA_MAP, m->map);
    put_buf(L, op, IRK_DST, m->buf, slot, opnd_imm(0));
    ir_ref(L->a, op, IRK_SRC, IRA_BUF, m->cell);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, m->fresh);
    put_opnd(L, op, IRK_FROM, m->from);
    for (int d = 0; d < m->view->rank; d++) put_opnd(L, op, IRK_DIMS, m->dim[d]);
    for (int d = 0; d < m->view->rank - 1; d++) put_opnd(L, op, IRK_PITCHES, m->pitch[d]);
}

/* Until the role comes by here again all of it stays as it is. */
void device_values(Lower *L, DeviceMap *m)
{
    const PTensor *t = m->view, *base = t->base;
    int64_t size = elem_info(t->type)->global_bits / 8;
    MfTensor *tensor = &L->ir->mf.tensors.v[base->index];
    Opnd some = device_some(L, t);
    Opnd byte = emit_op(L, IR_MUL, IR_I64, value_wide(L, t->offset), opnd_imm(size));
    m->from = emit_gaddr(L, base->index, emit_sel(L, IR_I64, some, byte, opnd_imm(0)));
    for (int d = 0; d < t->rank; d++) {
        Opnd n = emit_op(L, IR_MIN, IR_I64, value_wide(L, t->extent[d]), opnd_imm(UINT32_MAX));
        m->dim[d] = emit_sel(L, IR_I64, some, n, opnd_imm(d == t->rank - 1 ? SMEM_BULK_ALIGN / size : 1));
        if (d == t->rank - 1) break;
        Opnd pitch = emit_op(L, IR_MUL, IR_I64, value_wide(L, t->stride[d]), opnd_imm(size));
        m->pitch[d] = emit_sel(L, IR_I64, some, pitch, opnd_imm(SMEM_BULK_ALIGN));
    }
    if (tensor->align < 16) tensor->align = 16;
}
