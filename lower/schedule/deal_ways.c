/* The ways of dealing: how a team comes to its next iteration. */
#include "lower/schedule/schedule.h"

static Opnd sreg_over(Lower *L, IrReg r, int64_t d)
{
    Opnd v = emit_sreg(L, r);
    return emit_cvt(L, IR_I64, emit_op(L, IR_DIV, IR_I32, v, opnd_imm(d)));
}

static void deal_static(Lower *L, Pipe *p, Opnd teams)
{
    Opnd team = sreg_over(L, IRR_CTAID_X, L->k->cluster[0]), n = sreg_over(L, IRR_NCTAID_X, L->k->cluster[0]);
    Opnd left = emit_op(L, IR_SUB, IR_I64, emit_op(L, IR_ADD, IR_I64, teams, n), emit_op(L, IR_ADD, IR_I64, team, opnd_imm(1)));
    Opnd turns = emit_op(L, IR_MAX, IR_I64, emit_op(L, IR_DIV, IR_I64, left, n), opnd_imm(0));
    Opnd k = emit_loop(L, IR_I64, opnd_imm(0), turns);
    L->sched->team_step = n;
    deal_turn(L, p, emit_op(L, IR_ADD, IR_I64, team, emit_op(L, IR_MUL, IR_I64, k, n)));
    emit_end(L);
}

static void store_id(Lower *L, uint32_t ring, Opnd id)
{
    Opnd slot = ring_slot(L, ring);
    IrOp *op = emit_new(L, IR_STS);
    ir_ref(L->a, op, IRK_DST, IRA_BUF, L->sched->rings[ring].buf);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
    put_opnd(L, op, IRK_A, id);
}

static Opnd load_id(Lower *L, uint32_t ring)
{
    Opnd slot = ring_slot(L, ring);
    vec_push(L->a, &L->values->hoisted, 0);
    bool answer = L->sched->rings[ring].pipe->deal == DEAL_CLC;
    IrVal v = ir_value(L->a, L->ir, IR_I64, answer ? "first" : "id");
    IrOp *op = emit_new(L, answer ? IR_CLC_ID : IR_LDS);
    op->type = IR_I64;
    op->dst = v;
    ir_ref(L->a, op, IRK_SRC, IRA_BUF, L->sched->rings[ring].buf);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
    L->sched->id_read = true;
    return (Opnd){.v = v};
}

/* The team's first CTA alone does it. */
static IrOp *by_leader(Lower *L, IrOpcode code)
{
    Opnd leader = ring_leader(L);
    IrOp *op = emit_new(L, code);
    emit_if(op, leader);
    return op;
}

static void into_ids(Lower *L, IrOp *op, uint32_t ring, IrKey key, Opnd slot)
{
    const Ring *r = &L->sched->rings[ring];
    ir_ref(L->a, op, key, key == IRK_BAR ? IRA_BAR : IRA_BUF, key == IRK_BAR ? r->full : r->buf);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
}

/* To every CTA of the team, its own among them. */
static void send_id(Lower *L, uint32_t ring, Opnd id)
{
    Opnd slot = ring_slot(L, ring);
    id = (Opnd){.v = emit_materialize(L, IR_I64, id)};
    for (int r = 0; r < L->cluster_size; r++) {
        IrOp *op = by_leader(L, IR_ST_ASYNC);
        put_opnd(L, op, IRK_A, id);
        into_ids(L, op, ring, IRK_DST, slot);
        into_ids(L, op, ring, IRK_BAR, slot);
        ir_imm(L->a, op, IRK_RANK, r);
    }
}

/* The loading role draws the next number while it issues what the last one stands for. */
static Opnd draw(Lower *L, Pipe *p, uint32_t next, Opnd teams)
{
    Opnd t = emit_get(L, next);
    Opnd id = emit_sel(L, IR_I64, emit_cmp(L, IRL_LT, t, teams), t, opnd_imm(-1));
    if (p->ids == RING_NONE) return id;
    ring_wait_free(L, p->ids);
    if (L->sched->rings[p->ids].handed) {
        send_id(L, p->ids, id);
        ring_wait_full(L, p->ids);
    } else {
        store_id(L, p->ids, id);
        ring_arrive_full(L, p->ids);
    }
    return id;
}

static void draw_next(Lower *L, uint32_t next, Opnd teams)
{
    Opnd leader = ring_leader(L);
    vec_push(L->a, &L->values->hoisted, 0);
    IrVal v = ir_value(L->a, L->ir, IR_I64, "drawn");
    IrOp *op = emit_new(L, IR_TICKET);
    op->type = IR_I64;
    op->dst = v;
    emit_if(op, leader);
    put_opnd(L, op, IRK_B, teams);
    Opnd others = sreg_over(L, IRR_NCTAID_X, L->k->cluster[0]);
    emit_set(L, IR_SET, next, emit_op(L, IR_ADD, IR_I64, (Opnd){.v = v}, others));
}

static void leave_at_end(Lower *L, Opnd id)
{
    IrVal stop = emit_materialize(L, IR_PRED, emit_cmp(L, IRL_LT, id, opnd_imm(0)));
    ir_ref(L->a, emit_new(L, IR_BREAK), IRK_COND, IRA_VAL, stop);
}

static uint32_t own_first(Lower *L, const char *name)
{
    uint32_t var = L->ir->vars.n;
    IrVar *v = vec_add(L->a, &L->ir->vars);
    *v = (IrVar){name, IR_I64};
    emit_set(L, IR_VAR, var, sreg_over(L, IRR_CTAID_X, L->k->cluster[0]));
    return var;
}

static void deal_ticket(Lower *L, Pipe *p, Opnd teams)
{
    Sched *s = L->sched;
    bool loads = s->role == AG_LOAD, passed = p->ids != RING_NONE, handed = passed && s->rings[p->ids].handed;
    param_add(L, MF_PARAM_COUNTER, 0);
    uint32_t next = loads ? own_first(L, "next") : 0;
    emit_new(L, IR_REPEAT);
    scope_open(L);
    Opnd id = opnd_imm(0);
    if (loads) id = draw(L, p, next, teams);
    else ring_wait_full(L, p->ids);
    if (loads && !handed && s->shape[AG_LOAD] != SHAPE_ELECT) emit_new(L, IR_WARP_SYNC);
    if (!loads || handed || s->shape[AG_LOAD] != SHAPE_ELECT) id = load_id(L, p->ids);
    leave_at_end(L, id);
    if (loads) draw_next(L, next, teams);
    deal_turn(L, p, id);
    if (!loads || handed) {
        walk_id_sync(L);
        ring_release(L, p->ids);
    }
    if (passed) ring_advance(L, p->ids);
    emit_end(L);
}

static void ask(Lower *L, Pipe *p)
{
    ring_wait_free(L, p->ids);
    Opnd slot = ring_slot(L, p->ids);
    IrOp *op = by_leader(L, IR_CLC_NEXT);
    into_ids(L, op, p->ids, IRK_DST, slot);
    into_ids(L, op, p->ids, IRK_BAR, slot);
}

/* The next answer is on its way while the loads of this turn are issued. Whoever has read it lets the async proxy write the
 * slot again behind a fence (PTX ISA, clusterlaunchcontrol.try_cancel, example). */
static void deal_clc(Lower *L, Pipe *p)
{
    uint32_t now = own_first(L, "id");
    emit_new(L, IR_REPEAT);
    scope_open(L);
    Opnd id = emit_get(L, now);
    if (L->sched->role == AG_LOAD) ask(L, p);
    deal_turn(L, p, id);
    ring_wait_full(L, p->ids);
    Opnd first = load_id(L, p->ids);
    leave_at_end(L, first);
    ir_ref(L->a, emit_new(L, IR_FENCE_ASYNC), IRK_SPACE, IRA_WORD, IRS_SHARED);
    emit_set(L, IR_SET, now, emit_op(L, IR_DIV, IR_I64, first, opnd_imm(L->k->cluster[0])));
    walk_id_sync(L);
    ring_release(L, p->ids);
    ring_advance(L, p->ids);
    emit_end(L);
}

void deal_by(Lower *L, Pipe *p, Opnd teams)
{
    switch (p->deal) {
    case DEAL_LAUNCH: deal_turn(L, p, sreg_over(L, IRR_CTAID_X, L->k->cluster[0])); break;
    case DEAL_TICKET: deal_ticket(L, p, teams); break;
    case DEAL_CLC: deal_clc(L, p); break;
    default: deal_static(L, p, teams); break;
    }
}
