/* Work by threads between a tensor and a tile, where no copy does it: any step, any start, rows of any length. What lies outside of the
 * tensor is known dimension by dimension: elements from low on, below high, are its. Accesses are as wide as is known of every
 * address, so that none crosses such a border. */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"
#include "lower/plan/maps.h"
#include "lower/plan/threads.h"
#include "lower/plan/work.h"

enum { WIDEST = 16 };

static bool refuse(Refusal *why, Span at, const char *text)
{
    *why = (Refusal){.code = E0520, .span = at, .text = text};
    return false;
}

/* Starts and pitches of all dimensions but the rows', and the view's place. */
static bool places_divide(Lower *L, const MoveInfo *mi, const GlobalPart *g, int64_t n)
{
    Domain *d = L->d;
    const PTensor *t = mi->tensor;
    if (t->base && !domain_divides(d, n, poly_mul(d, scalar_poly(L, t->offset), poly_const(d, mi->bits / 8)))) return false;
    for (int i = 0; i < mi->rank; i++) {
        Poly pitch = poly_mul(d, scalar_poly(L, t->stride[i]), poly_const(d, mi->bits / 8));
        if (!domain_divides(d, n, poly_mul(d, mi->start[i], pitch))) return false;
        if (i != g->row && mi->g->dim[i].extent > 1 && !domain_divides(d, n, poly_mul(d, pitch, poly_const(d, move_step(mi, i))))) return false;
    }
    return true;
}

/* The widest access that no place, and no border of the tensor, stands in the way of. */
static uint32_t alignment(Lower *L, const MoveInfo *mi, GlobalPart *g)
{
    Domain *d = L->d;
    int64_t size = mi->bits / 8, k, n = WIDEST;
    g->row = mi->pair[mi->npairs - 1].tensor_dim;
    g->rows = move_step(mi, g->row) == 1 && poly_is_const(scalar_poly(L, mi->tensor->stride[g->row]), &k) && k == 1;
    if (!g->rows) return (uint32_t)size;
    bool cut = g->low[g->row] || g->high[g->row];
    Poly end = poly_mul(d, scalar_poly(L, mi->tensor->extent[g->row]), poly_const(d, size));
    while (n > size && (!places_divide(L, mi, g, n) || (cut && !domain_divides(d, n, end)))) n /= 2;
    return (uint32_t)n;
}

static bool does(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMove *mv = mi->mv;
    if (mi->bits != mi->sbits || mi->bits < 8 || mi->bits % 8) return refuse(why, mi->stmt->span, "threads move whole bytes, packed elements need a tensor map");
    if (mi->tile->swizzle > MAP_SWIZZLE_128B) return refuse(why, mi->tile->span, "threads can't follow a swizzle whose atom is larger than 16 bytes");
    if (mi->tile->interleave && mv->via == VIA_INFERRED) return refuse(why, mi->tile->span, "an interleaved tile asks for a tensor map; `via threads` does without");
    if (mi->prefetch || mv->via == VIA_MAP || mv->via == VIA_BULK) return refuse(why, mi->stmt->span, "threads come where no copy is asked for");
    if (mv->dst.peer) return refuse(why, mv->dst.span, "threads reach tiles of their own CTA only");
    if (mv->cast != CAST_NONE) return refuse(why, mv->cast_span, "threads load for their own CTA only");
    if (mv->reduce >= 0) return refuse(why, mv->work_span, "threads don't reduce into global memory");
    if (mv->bytes) return refuse(why, mv->bytes_span, "threads have no byte mask");
    for (int d = 0; d < mi->rank; d++) {
        if (mi->g->dim[d].rows) return refuse(why, mi->g->dim[d].span, "threads don't pick rows by index");
        if (mi->g->dim[d].open) return refuse(why, mi->g->dim[d].span, "threads don't go on from a pixel");
    }
    return mi->load || !map_overlaps(L, mi, why) || refuse(why, mi->stmt->span, "threads don't store to rows that overlap");
}

bool global_plan(Lower *L, const MoveInfo *mi, GlobalPart *g, Refusal *why)
{
    Domain *d = L->d;
    *g = (GlobalPart){.row = 0};
    if (!does(L, mi, why)) return false;
    for (int i = 0; i < mi->rank; i++) {
        Poly last = poly_add(d, mi->start[i], poly_const(d, (mi->g->dim[i].extent - 1) * move_step(mi, i)));
        g->low[i] = !domain_le(d, poly_const(d, 0), mi->start[i]);
        g->high[i] = !mi->g->dim[i].whole && !domain_lt(d, last, scalar_poly(L, mi->tensor->extent[i]));
    }
    g->align = alignment(L, mi, g);
    return true;
}

static uint32_t round_up(uint64_t n)
{
    uint32_t k = 1;
    while (k < n) k *= 2;
    return k;
}

void global_side(const MoveInfo *mi, const GlobalPart *g, const IrPlan *q, IrSide *s)
{
    uint64_t next = (uint64_t)mi->bits / 8;
    *s = (IrSide){.type = (uint8_t)mi->tile->type, .global = true, .rows = g->rows, .align = (uint16_t)g->align};
    for (uint32_t d = q->rank; d-- > 0; next = (uint64_t)s->pitch[d] * q->extent[d]) s->pitch[d] = round_up(next);
}

/* ---- ops ---- */

/* Number of the first element at or behind place `at` of the tensor, 0 to n. */
static Opnd first_from(Lower *L, const MoveInfo *mi, int d, Opnd at)
{
    Opnd far = emit_op(L, IR_SUB, IR_I64, value_wide(L, mi->g->dim[d].start), at), n = opnd_imm(mi->g->dim[d].extent);
    if (move_step(mi, d) > 1) far = emit_op(L, IR_DIV, IR_I64, far, opnd_imm(move_step(mi, d)));
    Opnd first = emit_op(L, IR_SUB, IR_I64, opnd_imm(0), far);
    return emit_cvt(L, IR_I32, emit_op(L, IR_MIN, IR_I64, emit_op(L, IR_MAX, IR_I64, first, opnd_imm(0)), n));
}

void global_emit(Lower *L, const MoveInfo *mi, const GlobalPart *g, uint32_t plan)
{
    const PTensor *t = mi->tensor, *base = base_of(t);
    int64_t size = mi->bits / 8;
    Opnd byte = opnd_imm(0), ok = L->inside, pitch[P_RANK], low[P_RANK], high[P_RANK];
    bool cut = false;
    if (t->base) byte = emit_op(L, IR_MUL, IR_I64, value_wide(L, t->offset), opnd_imm(size));
    for (int d = 0; d < mi->rank; d++) {
        pitch[d] = emit_op(L, IR_MUL, IR_I64, value_wide(L, t->stride[d]), opnd_imm(size));
        Opnd start = value_wide(L, mi->g->dim[d].start);
        byte = emit_op(L, IR_ADD, IR_I64, byte, emit_op(L, IR_MUL, IR_I64, start, pitch[d]));
        pitch[d] = emit_op(L, IR_MUL, IR_I64, pitch[d], opnd_imm(move_step(mi, d)));
        if (move_pair(mi, d)) {
            low[d] = g->low[d] ? first_from(L, mi, d, opnd_imm(0)) : opnd_imm(0);
            high[d] = g->high[d] ? first_from(L, mi, d, value_wide(L, t->extent[d])) : opnd_imm(mi->g->dim[d].extent);
            cut |= g->low[d] || g->high[d];
            continue;
        }
        if (g->low[d]) ok = emit_logic(L, IR_AND, ok, emit_cmp(L, IRL_GE, start, opnd_imm(0)));
        if (g->high[d]) ok = emit_logic(L, IR_AND, ok, emit_cmp(L, IRL_LT, start, value_wide(L, t->extent[d])));
    }
    int first = mi->pair[0].tensor_dim;
    if (!opnd_is(ok, 1)) {
        high[first] = emit_sel(L, IR_I32, ok, high[first], opnd_imm(0));
        cut = true;
    }
    MfTensor *m = &L->ir->mf.tensors.v[base->index];
    if (m->align < g->align) m->align = g->align;
    Opnd slot = region_slot(L, mi), at = region_offset(L, mi), address = emit_gaddr(L, base->index, byte);
    IrOp *op = emit_when(L, mi->load ? IR_THR_LOAD : IR_THR_STORE, L->guard);
    op->any_order = !mi->load && mi->mv->overlap_any;
    ir_ref(L->a, op, IRK_PLAN, IRA_PLAN, plan);
    if (mi->load) put_opnd(L, op, IRK_FROM, address);
    else put_buf(L, op, IRK_SRC, mi->tile->index, slot, at), put_opnd(L, op, IRK_TO, address);
    for (int p = 0; p < mi->npairs; p++) put_opnd(L, op, IRK_PITCHES, pitch[mi->pair[p].tensor_dim]);
    for (int p = 0; p < mi->npairs && cut; p++) put_opnd(L, op, IRK_LOW, low[mi->pair[p].tensor_dim]);
    for (int p = 0; p < mi->npairs && cut; p++) put_opnd(L, op, IRK_HIGH, high[mi->pair[p].tensor_dim]);
    if (mi->load) put_buf(L, op, IRK_DST, mi->tile->index, slot, at);
}
