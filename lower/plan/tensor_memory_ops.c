/* Tensor memory of a kernel: columns, allocation and release; its ops. */
#include "lower/emit/values.h"
#include "lower/kernel/report.h"
#include "lower/plan/tensor_memory.h"

enum { CELL_ALIGN = 128 };

bool tmem_used(const Lower *L)
{
    return L->ir->tmem != 0;
}

/* ---- columns ---- */

/* Copies and shifts take 8 columns at a multiple of 8, or 4 at a multiple of 4. */
static uint32_t aligned(uint32_t column, uint32_t columns)
{
    uint32_t to = columns < TMEM_SHIFT_COLUMNS ? TMEM_CHUNK / 4 : TMEM_SHIFT_COLUMNS;
    return (column + to - 1) / to * to;
}

void tmem_buffer(Lower *L, const PTile *t)
{
    uint32_t columns = (uint32_t)(t->extent[1] * elem_info(t->type)->shared_bits / 32);
    IrBuf *b = vec_add(L->a, &L->ir->bufs);
    b->name = name_text(L, t->name);
    b->span = t->span;
    b->align = 1;
    b->slots = (uint32_t)t->slots;
    b->lanes = (uint16_t)t->extent[0];
    b->columns = (uint16_t)columns;
    b->column_pitch = (uint16_t)aligned(columns, columns);
    b->bytes = b->pitch = 4 * (uint32_t)t->extent[0] * columns;
}

void tmem_columns(Lower *L)
{
    uint32_t at = 0, most = L->c->target->tmem_columns;
    IrKernel *k = L->ir;
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        IrBuf *b = &k->bufs.v[i];
        if (b->lanes == 0) continue;
        at = aligned(at, b->columns);
        b->column = (uint16_t)at;
        at += tmem_width(b);
        if (at > most) break;
    }
    if (at == 0) return;
    for (k->tmem = TMEM_UNIT; k->tmem < at; k->tmem *= 2) {}
    k->pair = L->k->pair;
    L->remote |= k->pair;
    if (at <= most) return;
    Diag *g = lower_error(L, E0906, k->span, "kernel `%s` takes more than the %u columns of tensor memory", name_text(L, L->k->name), most);
    for (uint32_t i = 0; i < k->bufs.n; i++)
        if (k->bufs.v[i].lanes) diag_note(L->c->diags, g, k->bufs.v[i].span, "%s: %u columns", k->bufs.v[i].name, tmem_width(&k->bufs.v[i]));
}

/* ---- init and exit ---- */

static IrOp *op_in(Lower *L, IrRole *body, IrOpcode code)
{
    return ir_op(L->a, body, code, (Span){0, 0});
}

void tmem_begin(Lower *L)
{
    if (!tmem_used(L)) return;
    vec_push(L->a, &L->ir->bufs, ((IrBuf){.name = "tmem.cell", .bytes = IR_CELL_BYTES, .align = CELL_ALIGN, .slots = 1, .pitch = CELL_ALIGN}));
    IrOp *op = op_in(L, &L->pre, IR_TC_ALLOC);
    op->elect = true;
    ir_ref(L->a, op, IRK_DST, IRA_BUF, L->ir->bufs.n - 1);
    ir_imm(L->a, op, IRK_N, L->ir->tmem);
    op_in(L, &L->pre, IR_TC_KEEP)->elect = true;
}

void tmem_address(Lower *L)
{
    if (tmem_used(L)) ir_ref(L->a, op_in(L, &L->pre, IR_TC_BASE), IRK_SRC, IRA_BUF, L->ir->bufs.n - 1);
}

static void fence_in(Lower *L, IrRole *body, IrOrder o)
{
    ir_ref(L->a, op_in(L, body, IR_TC_FENCE), IRK_ORDER, IRA_WORD, o);
}

/* Of a pair both CTAs are done before either frees (PTX ISA, tcgen05.dealloc). */
void tmem_end(Lower *L, uint32_t threads)
{
    if (!tmem_used(L)) return;
    fence_in(L, &L->post, IRD_BEFORE);
    if (L->ir->pair) {
        ir_ref(L->a, op_in(L, &L->post, IR_CLUSTER_ARRIVE), IRK_SEM, IRA_WORD, IRS_RELEASE);
        op_in(L, &L->post, IR_CLUSTER_WAIT);
    } else {
        IrOp *op = op_in(L, &L->post, IR_CTA_SYNC);
        ir_imm(L->a, op, IRK_ID, 0);
        ir_imm(L->a, op, IRK_THREADS, threads);
    }
    fence_in(L, &L->post, IRD_AFTER);
    IrOp *op = op_in(L, &L->post, IR_TC_FREE);
    op->elect = true;
    ir_imm(L->a, op, IRK_N, L->ir->tmem);
}

void tmem_fence(Lower *L, IrOrder o)
{
    if (tmem_used(L)) ir_ref(L->a, emit_new(L, IR_TC_FENCE), IRK_ORDER, IRA_WORD, o);
}

/* ---- ops ---- */

static Opnd tensor_slot(Lower *L, const MoveInfo *mi)
{
    return mi->slot_const >= 0 ? opnd_imm(mi->slot_const) : value_low(L, mi->s->slot);
}

/* Bytes of the lane in front of the part, where only the run knows them. What the launch checks, or the grid bounds, is cut to
 * that once more: the verifier sees ops alone. */
static Opnd tensor_along(Lower *L, const TmemPlan *p)
{
    int64_t size = p->tensor.sbits / 8, last = p->tensor.tile->extent[1] - p->tensor.s->dim[1].extent;
    int64_t unit = p->unit % size ? size : p->unit;
    if (p->start == NULL) return opnd_imm(0);
    Opnd start = value_low(L, p->start);
    if (!(scalar_uses(L, p->start) & (USE_LAUNCH | USE_TEAM))) return emit_op(L, IR_MUL, IR_I32, start, opnd_imm(size));
    Opnd units = emit_op(L, IR_DIV, IR_I32, start, opnd_imm(unit / size));
    units = emit_op(L, IR_MIN, IR_I32, emit_op(L, IR_MAX, IR_I32, units, opnd_imm(0)), opnd_imm(last * size / unit));
    return emit_op(L, IR_MUL, IR_I32, units, opnd_imm(unit));
}

static void put_along(Lower *L, IrOp *op, Opnd along)
{
    if (!opnd_is(along, 0)) put_opnd(L, op, IRK_ALONG, along);
}

static void emit_cp(Lower *L, const TmemPlan *p, const CpPiece *q, Opnd from_slot, Opnd from, Opnd slot, Opnd along, Opnd guard)
{
    const TmemCp *c = &q->cp;
    from = emit_op(L, IR_ADD, IR_I32, from, opnd_imm(q->from));
    Opnd desc = emit_descriptor(L, p->shared.tile->index, c->lead, c->stride, c->swizzle);
    IrOp *op = emit_when(L, IR_TC_CP, guard);
    ir_ref(L->a, op, IRK_SHAPE, IRA_WORD, c->shape);
    ir_ref(L->a, op, IRK_FORMAT, IRA_WORD, c->format);
    put_buf(L, op, IRK_SRC, p->shared.tile->index, from_slot, from);
    put_opnd(L, op, IRK_DESC, desc);
    ir_imm(L->a, op, IRK_STEP, c->step);
    ir_imm(L->a, op, IRK_N, c->n);
    put_buf(L, op, IRK_DST, p->tensor.tile->index, slot, opnd_imm(p->at + q->at));
    put_along(L, op, along);
}

void tmem_emit(Lower *L, const TmemPlan *p, Opnd from_slot, Opnd from, Opnd guard)
{
    Opnd slot = tensor_slot(L, &p->tensor), along = tensor_along(L, p);
    if (p->piece == NULL) {
        IrOp *op = emit_when(L, IR_TC_SHIFT, guard);
        put_buf(L, op, IRK_DST, p->tensor.tile->index, slot, opnd_imm(p->at));
        ir_imm(L->a, op, IRK_N, p->n);
        put_along(L, op, along);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) emit_cp(L, p, &p->piece[i], from_slot, from, slot, along, guard);
}

void tmem_emit_threads(Lower *L, const TmemPlan *p, uint32_t plan, Opnd slot, Opnd at, Opnd guard)
{
    bool out = p->tensor.mv->kind == MOVE_TMEM_LD;
    Opnd place = opnd_imm(p->at), number = tensor_slot(L, &p->tensor), along = tensor_along(L, p);
    IrOp *op = emit_when(L, out ? IR_TC_LD : IR_TC_ST, guard);
    ir_ref(L->a, op, IRK_PLAN, IRA_PLAN, plan);
    put_buf(L, op, IRK_SRC, out ? p->tensor.tile->index : p->shared.tile->index, out ? number : slot, out ? place : at);
    put_buf(L, op, IRK_DST, out ? p->shared.tile->index : p->tensor.tile->index, out ? slot : number, out ? at : place);
    put_along(L, op, along);
}
