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
    Opnd own = emit_op(L, IR_ADD, IR_I64, team, opnd_imm(1)), left = emit_op(L, IR_SUB, IR_I64, emit_op(L, IR_ADD, IR_I64, teams, n), own);
    Opnd turns = emit_op(L, IR_MAX, IR_I64, emit_op(L, IR_DIV, IR_I64, left, n), opnd_imm(0));
    Opnd k = emit_loop(L, IR_I64, opnd_imm(0), turns);
    L->sched->team_step = n;
    deal_turn(L, p, emit_op(L, IR_ADD, IR_I64, team, emit_op(L, IR_MUL, IR_I64, k, n)));
    emit_end(L);
}

static void store_id(Lower *L, const Ring *r, Opnd id)
{
    IrOp *op = emit_new(L, IR_STS);
    put_buf(L, op, IRK_DST, r->buf, ring_slot(r), opnd_imm(0));
    put_opnd(L, op, IRK_A, id);
}

/* By the team's first CTA, to every one of them. */
static void send_id(Lower *L, const Ring *ring, Opnd id)
{
    Opnd leader = ring_leader(L);
    for (int r = 0; r < L->cluster_size; r++) {
        IrOp *op = emit_when(L, IR_ST_ASYNC, leader);
        put_opnd(L, op, IRK_A, id);
        put_buf(L, op, IRK_DST, ring->buf, ring_slot(ring), opnd_imm(0));
        put_bar(L, op, ring->full, ring_slot(ring));
        ir_imm(L->a, op, IRK_RANK, r);
    }
}

/* The loading role draws the next number while it issues what the last one stands for. */
static Opnd draw(Lower *L, Pipe *p, uint32_t next, Opnd teams)
{
    Opnd t = emit_get(L, next);
    Opnd id = emit_sel(L, IR_I64, emit_cmp(L, IRL_LT, t, teams), t, opnd_imm(-1));
    if (p->ids == NULL) return id;
    ring_acquire(L, p->ids);
    if (p->ids->handed) {
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
    IrOp *op = emit_value(L, IR_TICKET, IR_I64, "drawn");
    IrVal v = op->dst;
    emit_if(op, leader);
    put_opnd(L, op, IRK_B, teams);
    Opnd others = sreg_over(L, IRR_NCTAID_X, L->k->cluster[0]);
    emit_set(L, IR_SET, next, emit_op(L, IR_ADD, IR_I64, (Opnd){.v = v}, others));
}

static void leave_at_end(Lower *L, Opnd id)
{
    Opnd stop = emit_cmp(L, IRL_LT, id, opnd_imm(0));
    put_opnd(L, emit_new(L, IR_BREAK), IRK_COND, stop);
}

static uint32_t own_first(Lower *L, const char *name)
{
    uint32_t var = ir_var(L->a, L->ir, IR_I64, name);
    emit_set(L, IR_VAR, var, sreg_over(L, IRR_CTAID_X, L->k->cluster[0]));
    return var;
}

/* Read from the ring by all agents; by whose it is not, where that has it anyhow. */
static Opnd read_id(Lower *L, const Ring *r, Opnd own)
{
    Sched *s = L->sched;
    bool answer = r->pipe->deal == DEAL_CLC, hand = own.v != 0;
    IrOp *op = emit_value(L, hand ? IR_HAND : answer ? IR_CLC_ID : IR_LDS, IR_I64, answer ? "first" : "id");
    if (hand) {
        put_opnd(L, op, IRK_A, own);
        sched_as(L, AG_LOAD);
        op->agent = L->agent;
        sched_as(L, AG_NONE);
    }
    put_buf(L, op, IRK_SRC, r->buf, ring_slot(r), opnd_imm(0));
    for (int a = 0; a < AG_COUNT; a++)
        if (s->active >> a & 1 && !(hand && a == AG_LOAD)) s->state[a].id_read = true;
    return (Opnd){.v = op->dst};
}

static void deal_ticket(Lower *L, Pipe *p, Opnd teams)
{
    Sched *s = L->sched;
    bool passed = p->ids != NULL, handed = passed && p->ids->handed, alone = s->shape[AG_LOAD] == SHAPE_ELECT;
    param_add(L, MF_PARAM_COUNTER, 0);
    sched_as(L, AG_LOAD);
    uint32_t next = own_first(L, "next");
    sched_as(L, AG_NONE);
    emit_new(L, IR_REPEAT);
    scope_open(L);
    Opnd id = opnd_imm(0);
    FOR_AGENTS(L, a)
    {
        if (a == AG_LOAD) id = draw(L, p, next, teams);
        else ring_wait_full(L, p->ids);
        if (a == AG_LOAD && !handed && !alone) emit_new(L, IR_WARP_SYNC);
    }
    if (passed) id = read_id(L, p->ids, alone && !handed ? id : opnd_imm(0));
    leave_at_end(L, id);
    sched_as(L, AG_LOAD);
    draw_next(L, next, teams);
    sched_as(L, AG_NONE);
    deal_turn(L, p, id);
    FOR_AGENTS(L, a)
    {
        if (a != AG_LOAD || handed) {
            agent_id_sync(L);
            ring_release(L, p->ids);
        }
        if (passed) ring_advance(L, p->ids);
    }
    emit_end(L);
}

static void ask(Lower *L, Pipe *p)
{
    ring_acquire(L, p->ids);
    Opnd leader = ring_leader(L);
    IrOp *op = emit_when(L, IR_CLC_NEXT, leader);
    put_buf(L, op, IRK_DST, p->ids->buf, ring_slot(p->ids), opnd_imm(0));
    put_bar(L, op, p->ids->full, ring_slot(p->ids));
}

/* The next answer is on its way while the loads of this turn are issued. Whoever has read it lets the async proxy write the
 * slot again behind a fence (PTX ISA, clusterlaunchcontrol.try_cancel, example). */
static void deal_clc(Lower *L, Pipe *p)
{
    uint32_t now = own_first(L, "id");
    emit_new(L, IR_REPEAT);
    scope_open(L);
    Opnd id = emit_get(L, now);
    sched_as(L, AG_LOAD);
    ask(L, p);
    sched_as(L, AG_NONE);
    deal_turn(L, p, id);
    FOR_AGENTS(L, a) ring_wait_full(L, p->ids);
    Opnd first = read_id(L, p->ids, opnd_imm(0));
    leave_at_end(L, first);
    FOR_AGENTS(L, a) emit_fence(L, IRS_SHARED);
    emit_set(L, IR_SET, now, emit_op(L, IR_DIV, IR_I64, first, opnd_imm(L->k->cluster[0])));
    FOR_AGENTS(L, a)
    {
        agent_id_sync(L);
        ring_release(L, p->ids);
        ring_advance(L, p->ids);
    }
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
