/* Fills of a tile of another CTA: st.async and red.async, a few bytes each, with the value in registers. They write through
 * the generic proxy (PTX ISA, st.async: weak stores; async proxy: cp{.reduce}.async.bulk alone), so that copies see what
 * they wrote only behind a fence of one who has waited for them. */
#include "lower/emit/values.h"
#include "lower/plan/work.h"
#include "lower/schedule/moves.h"
#include "lower/schedule/written/sync.h"

enum { FILL_PEER_MAX = 1024, FILLS_UNROLLED = 8 };

static bool refuse(Lower *L, const PStmt *st, const MoveInfo *to, ErrorCode code, const char *text)
{
    Diag *g = lower_error(L, code, st->span, "%s", text);
    diag_label(L->c->diags, g, to->tile->span, "the tile");
    if (st->move->reduce >= 0) diag_fix(L->c->diags, g, "fill a tile of this CTA and move it: `fill t = ..; move t -> peer(u, rank) reduce ..;`");
    else diag_fix(L->c->diags, g, "fill a tile of this CTA and move it: `fill t = ..; move t -> peer(u, rank);`");
    return false;
}

bool fill_peer_plan(Lower *L, const PStmt *st, const MoveInfo *to)
{
    int64_t bytes = to->bytes;
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

static void one(Lower *L, const PStmt *st, const FillPeer *f, Opnd v, int64_t bytes, Opnd at)
{
    int rop = st->move->reduce;
    IrOp *op = emit_new(L, rop >= 0 ? IR_RED_ASYNC : IR_ST_FILL);
    emit_if(op, f->guard);
    if (rop >= 0) ir_ref(L->a, op, IRK_ROP, IRA_WORD, (uint32_t)rop);
    ir_ref(L->a, op, IRK_ELEM, IRA_WORD, f->to->tile->type);
    put_opnd(L, op, IRK_A, v);
    put_buf(L, op, IRK_DST, f->to->tile->index, f->slot, at);
    ir_imm(L->a, op, IRK_BYTES, bytes);
    put_bar(L, op, f->bar, f->bar_slot);
    put_opnd(L, op, IRK_RANK, f->rank);
}

void fill_peer_emit(Lower *L, const PStmt *st, const FillPeer *f)
{
    int64_t w = width(L, st, f->to), n = f->to->bytes / w;
    Opnd v = value(L, st, f->to);
    if (n <= FILLS_UNROLLED) {
        for (int64_t i = 0; i < n; i++) one(L, st, f, v, w, emit_op(L, IR_ADD, IR_I32, f->at, opnd_imm(i * w)));
        return;
    }
    Opnd i = emit_loop(L, IR_I32, opnd_imm(0), opnd_imm(n));
    Opnd far = emit_op(L, IR_MUL, IR_I32, i, opnd_imm(w));
    one(L, st, f, v, w, emit_op(L, IR_ADD, IR_I32, f->at, far));
    emit_end(L);
}

const char *fill_peer_text(Lower *L, const PStmt *st, const MoveInfo *to)
{
    int64_t w = width(L, st, to);
    return arena_printf(L->a, "    %s, registers -> shared of another CTA\n      %lld bytes, %lld at a time",
                        st->move->reduce >= 0 ? "red.async" : "st.async", (long long)to->bytes, (long long)w);
}

/* fill peer(t, r) = v, in roles of the source. */
void role_fill_peer(Lower *L, const PStmt *st)
{
    MoveInfo to;
    const PMove *mv = st->move;
    int target[RANKS_MAX];
    FillPeer f = {.to = &to, .guard = L->guard};
    if (!role_committed(L, st) || !region_tile(L, st, &mv->dst, &to)) return;
    if (!cluster_peers(L, mv->dst.peer, mv->dst.span, target) || !fill_peer_plan(L, st, &to)) return;
    f.slot = region_slot(L, &to);
    f.at = region_offset(L, &to);
    f.rank = value_low(L, mv->dst.peer);
    if (!sync_arrive(L, &to, opnd_imm(to.bytes), to.bytes, &f.bar, &f.bar_slot)) return;
    fill_peer_emit(L, st, &f);
    if (L->plan == NULL) return;
    explain_move(L, st, arena_printf(L->a, "%s, barrier %s there\n", fill_peer_text(L, st, &to), L->ir->bars.v[f.bar].name));
}
