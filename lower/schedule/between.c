/* Moves from tile to tile.
 *
 * Fills of a tile of another CTA: st.async and red.async, a few bytes each, with the value in registers. They write through
 * the generic proxy (PTX ISA, st.async: weak stores; async proxy: cp{.reduce}.async.bulk alone), so that copies see what
 * they wrote only behind a fence of one who has waited for them. */
#include "lower/schedule/between.h"

#include "lower/emit/values.h"
#include "lower/kernel/report.h"
#include "lower/plan/work.h"

enum { FILL_PEER_MAX = 1024, FILLS_UNROLLED = 8 };

static bool refuse(Lower *L, const PStmt *st, const MoveInfo *to, ErrorCode code, const char *text)
{
    const char *fix = st->move->reduce >= 0 ? "fill a tile of this CTA and move it: `fill t = ..; move t -> peer(u, rank) reduce ..;`"
                                            : "fill a tile of this CTA and move it: `fill t = ..; move t -> peer(u, rank);`";
    return cannot(L, NULL, code, st->span, to->tile->span, "the tile", fix, "%s", text);
}

bool between_tiles(Lower *L, const PStmt *st, MoveInfo *from, MoveInfo *to)
{
    const PMove *mv = st->move;
    bool fill = mv->kind == MOVE_FILL;
    if (!fill && !region_tile(L, st, &mv->src, from)) return false;
    if (!region_tile(L, st, &mv->dst, to)) return false;
    if (fill) *from = *to;
    return true;
}

bool between_plan(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to)
{
    int64_t bytes = to->bytes;
    if (st->move->kind != MOVE_FILL) return plan_runs(L, st, from, to);
    if (!plan_one_run(to)) return refuse(L, st, to, E0583, "the region is no single run of bytes");
    if (bytes <= FILL_PEER_MAX) return true;
    return refuse(L, st, to, E0582, arena_printf(L->a, "%lld bytes; a fill of a peer's tile has at most %d", (long long)bytes, FILL_PEER_MAX));
}

/* Bytes of one instruction: as wide as the part's place and size allow; red.async has no vectors. */
static int64_t width(Lower *L, const PStmt *st, const MoveInfo *to)
{
    int64_t w = SMEM_BULK_ALIGN, size = to->sbits / 8;
    if (st->move->reduce >= 0) return size;
    while (w > size && (to->bytes % w != 0 || !domain_divides(L->d, w, to->offset))) w /= 2;
    return w;
}

static Opnd value(Lower *L, const PStmt *st, const MoveInfo *to)
{
    const PMove *mv = st->move;
    if (mv->value_sx) return to->sbits == 64 ? value_wide(L, mv->value_sx) : value_low(L, mv->value_sx);
    if (to->sbits == 64) return opnd_imm((int64_t)mv->value);
    return opnd_imm((int32_t)(uint32_t)mv->value);
}

Between between_values(Lower *L, const PStmt *st, MoveInfo *from, MoveInfo *to)
{
    Between b = {.st = st, .from = st->move->kind == MOVE_FILL ? NULL : from, .to = to, .from_slot = opnd_imm(0), .from_at = opnd_imm(0)};
    if (st->move->dst.peer) b.rank = value_low(L, st->move->dst.peer);
    b.to_slot = region_slot(L, to);
    b.to_at = region_offset(L, to);
    if (b.from) {
        b.from_slot = region_slot(L, from);
        b.from_at = region_offset(L, from);
    }
    return b;
}

void between_work(Lower *L, const Between *b, uint32_t plan, int64_t zeros)
{
    Opnd v = b->st->move->value_sx ? value(L, b->st, b->to) : opnd_imm(0);
    IrOp *op = emit_when(L, zeros ? IR_ST_BULK : b->from ? IR_THR_COPY : IR_THR_FILL, L->guard);
    if (zeros == 0) ir_ref(L->a, op, IRK_PLAN, IRA_PLAN, plan);
    if (b->from) put_buf(L, op, IRK_SRC, b->from->tile->index, b->from_slot, b->from_at);
    put_buf(L, op, IRK_DST, b->to->tile->index, b->to_slot, b->to_at);
    if (b->st->move->value_sx) put_opnd(L, op, IRK_VALUE, v);
    if (zeros) ir_imm(L->a, op, IRK_BYTES, zeros);
}

/* ---- to other CTAs ---- */

/* Of the part so many bytes from `far` on; v: of a fill. */
static void send(Lower *L, const Between *b, uint32_t bar, Opnd bar_slot, Opnd v, int64_t bytes, Opnd far)
{
    int rop = b->st->move->reduce;
    Opnd at = emit_op(L, IR_ADD, IR_I32, b->to_at, far);
    IrOp *op = emit_when(L, b->from ? rop >= 0 ? IR_BLK_REDUCE_PEER : IR_BLK_PEER : rop >= 0 ? IR_RED_ASYNC : IR_ST_FILL, L->guard);
    if (rop >= 0) ir_ref(L->a, op, IRK_ROP, IRA_WORD, (uint32_t)rop);
    if (rop >= 0 || !b->from) ir_ref(L->a, op, IRK_ELEM, IRA_WORD, b->to->tile->type);
    if (b->from) put_buf(L, op, IRK_SRC, b->from->tile->index, b->from_slot, b->from_at);
    else put_opnd(L, op, IRK_A, v);
    put_buf(L, op, IRK_DST, b->to->tile->index, b->to_slot, at);
    ir_imm(L->a, op, IRK_BYTES, bytes);
    put_bar(L, op, bar, bar_slot);
    put_opnd(L, op, IRK_RANK, b->rank);
}

void between_send(Lower *L, const Between *b, uint32_t bar, Opnd bar_slot)
{
    if (b->from) {
        send(L, b, bar, bar_slot, opnd_imm(0), b->to->bytes, opnd_imm(0));
        return;
    }
    int64_t w = width(L, b->st, b->to), n = b->to->bytes / w;
    Opnd v = value(L, b->st, b->to);
    if (n <= FILLS_UNROLLED) {
        for (int64_t i = 0; i < n; i++) send(L, b, bar, bar_slot, v, w, opnd_imm(i * w));
        return;
    }
    Opnd i = emit_loop(L, IR_I32, opnd_imm(0), opnd_imm(n));
    send(L, b, bar, bar_slot, v, w, emit_op(L, IR_MUL, IR_I32, i, opnd_imm(w)));
    emit_end(L);
}

const char *between_text(Lower *L, const PStmt *st, const MoveInfo *to)
{
    bool adds = st->move->reduce >= 0;
    if (st->move->kind == MOVE_FILL)
        return arena_printf(L->a, "    %s, registers -> shared of another CTA\n      %lld bytes, %lld at a time",
                            adds ? "red.async" : "st.async", (long long)to->bytes, (long long)width(L, st, to));
    return arena_printf(L->a, "    cp%s.async.bulk, shared -> shared of another CTA\n      %lld bytes", adds ? ".reduce" : "", (long long)to->bytes);
}
