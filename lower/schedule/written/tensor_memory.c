/* Tensor memory in roles of the source. */
#include "lower/emit/values.h"
#include "lower/plan/tensor_memory.h"
#include "lower/schedule/written/sync.h"

void role_tensor_fence(Lower *L, IrOrder o)
{
    if (L->sync->tensor) tmem_fence(L, o);
}

/* Of each pair the even CTA begins it, for both. */
static bool by_even(Lower *L, const PStmt *st)
{
    for (int r = 1; L->ir->pair && r < L->cluster_size; r += 2) {
        if (left_out_at(L, r)) continue;
        Diag *g = lower_error(L, E0570, st->span, "rank %d would begin this, too", r);
        diag_label(L->c->diags, g, L->k->pair_span, "CTAs in pairs");
        diag_fix(L->c->diags, g, "if cluster.rank %% 2 == 0 { .. }");
        return false;
    }
    return true;
}

static void by_tensor_core(Lower *L, const PStmt *st, TmemPlan *p)
{
    Opnd slot = opnd_imm(0), from = opnd_imm(0), at;
    if (!by_even(L, st)) return;
    if (p->piece) {
        slot = region_slot(L, &p->shared);
        from = region_offset(L, &p->shared);
        sync_arrived(L, &p->shared);
        role_sync(L, false);
    }
    if (!sync_commit_slot(L, st, &at)) return;
    tmem_emit(L, p, slot, from, L->guard);
    Opnd both = L->ir->pair ? emit_op(L, IR_SHL, IR_I32, opnd_imm(3), emit_sreg(L, IRR_CLUSTER_CTARANK)) : opnd_imm(0);
    IrOp *op = emit_new(L, IR_TC_COMMIT);
    emit_if(op, L->sync->guard);
    put_bar(L, op, st->move->barrier->index, at);
    if (L->ir->pair) put_opnd(L, op, IRK_MASK, both);
    if (L->plan) explain_move(L, st, tmem_text(L, p));
}

static void by_threads(Lower *L, const PStmt *st, TmemPlan *p)
{
    uint32_t plan;
    Sync *s = L->sync;
    if (!tmem_threads(L, p, s->threads, &plan)) return;
    Opnd slot = region_slot(L, &p->shared), at = region_offset(L, &p->shared);
    role_before_work(L, st->move->kind == MOVE_TMEM_ST ? &p->shared : NULL, st->move->kind == MOVE_TMEM_LD ? &p->shared : NULL);
    tmem_emit_threads(L, p, plan, slot, at, L->guard);
    s->worked = true;
    s->unfenced |= st->move->kind == MOVE_TMEM_LD;
    if (L->plan == NULL) return;
    const char *text = tmem_threads_text(L->a, L->ir, plan, st->move->kind == MOVE_TMEM_LD);
    explain_move(L, st, arena_printf(L->a, "    threads: %s\n      all %u of the role\n", text, s->threads));
}

void tmem_role_move(Lower *L, const PStmt *st)
{
    TmemPlan p;
    if (!tmem_plan(L, st, &p)) return;
    if (move_by_tensor_core(st->move)) by_tensor_core(L, st, &p);
    else by_threads(L, st, &p);
}
