/* Moves by the agent, or the role of the source, whose they are. */
#include "lower/apart/apart.h"
#include "lower/plan/device_maps.h"
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* ---- by threads ---- */

/* Copies of the kernel may touch what threads store. */
static bool copied_too(const Sched *s, const PTensor *t)
{
    FOR_MOVES(s, p)
        if (!p->copies.g && p->mi.tensor && base_of(p->mi.tensor) == base_of(t)) return true;
    return false;
}

/* Or, with tensor memory, by the tensor core. What is still on its way of what it touches, in a tensor or here, is waited for. */
static void work(Lower *L, Planned *p)
{
    Sched *s = L->sched;
    Between b = {0};
    bool store = p->copies.g && !p->mi.load;
    if (p->other) b = between_values(L, p->st, &p->mi, p->other);
    if (p->src) kept_arrive(L, p->src);
    if (p->dst) kept_arrive(L, p->dst);
    if (move_by_tensor_core(p->st->move)) {
        tmem_start(L, p);
        return;
    }
    if (p->tm) tmem_settle(L);
    if (store) kept_overwritten(L, p);
    if (p->ordered) agent_wait_stores(L, false);
    agent_before_work(L, p->dst);
    if (p->tm) tmem_work(L, p);
    else if (p->copies.g) global_emit(L, &p->mi, p->copies.g, p->plan);
    else between_work(L, &b, p->plan, p->zeros);
    s->now->dirty = true;
    s->now->unfenced |= p->dst != NULL;
    s->now->stored |= store && copied_too(s, p->mi.tensor);
}

/* ---- copies ---- */

/* In roles of the source: see device_maps.c. */
static void make_map(Lower *L, const Planned *p, Opnd slot)
{
    const TensorPlan *t = p->copies.t;
    if (!L->derived && t && t->device) device_make(L, &L->device->maps.v[t->device - 1], slot);
}

static void load(Lower *L, Planned *p)
{
    Ring *r = p->dst;
    const PMove *mv = p->st->move;
    bool committed = mv->commit == COMMIT_BARRIER, kept = r->kept && !committed;
    Opnd guard = L->guard, slot = ring_slot(p->dst);
    if (p->ordered) agent_wait_stores(L, true);
    if (kept) kept_open(L, p);
    if (!committed) ring_expect(L, p, slot);
    else if (!written_arrive(L, p, &slot)) return;
    CopyValues v = {0};
    L->guard = emit_logic(L, IR_AND, guard, remote_values(L, p, &v));
    copies_values(L, &p->mi, &p->copies, &v);
    make_map(L, p, v.slot);
    copies_emit(L, &p->mi, &p->copies, &v, committed ? mv->barrier->index : r->full, slot);
    L->guard = guard;
    if (kept) kept_issued(L, p);
}

static void store(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    CopyValues v = {0};
    copies_values(L, &p->mi, &p->copies, &v); /* where it goes may stand in memory: that is read while the tile arrives */
    kept_arrive(L, p->src);
    kept_overwritten(L, p);
    agent_store_sync(L);
    if (p->ordered) agent_wait_stores(L, false);
    make_map(L, p, v.slot);
    copies_emit(L, &p->mi, &p->copies, &v, 0, opnd_imm(0));
    if (mv->in_group) return;
    L->sched->now->pending = true;
    if (mv->commit == COMMIT_DERIVED) agent_reads(L, p->src);
    if (L->sched->alone || !L->derived) agent_commit(L); /* so that the tile is free before what is stored next */
}

static void prefetch(Lower *L, Planned *p)
{
    Ahead now;
    int64_t ahead = p->st->move->ahead;
    if (ahead > 0 && !deal_ahead(L, p, ahead, &now)) return;
    CopyValues v = {0};
    copies_values(L, &p->mi, &p->copies, &v);
    copies_emit(L, &p->mi, &p->copies, &v, 0, opnd_imm(0));
    if (ahead > 0) deal_now(L, &now);
}

static void send(Lower *L, Planned *p)
{
    Between b = between_values(L, p->st, &p->mi, p->other);
    if (p->src) kept_arrive(L, p->src);
    if (!L->derived) {
        Opnd slot;
        if (b.from) agent_store_sync(L);
        if (written_arrive(L, p, &slot)) between_send(L, &b, p->st->move->barrier->index, slot);
        return;
    }
    Ring *to = p->dst;
    Opnd slot = ring_slot(to);
    bool sums = p->st->move->reduce >= 0 && !to->kept;
    if (to->kept) kept_open(L, p);
    if (p->by_rank && !sums) ring_expect(L, p, slot);
    between_send(L, &b, sums ? to->sum : to->full, slot);
    if (to->kept) kept_issued(L, p);
}

void agent_move(Lower *L, Planned *p)
{
    Sched *s = L->sched;
    Agent before = s->role;
    if (!(s->active >> p->agent & 1)) return;
    sched_as(L, p->agent);
    switch (p->st->move->kind) {
    case MOVE_LOAD: (p->copies.g ? work : load)(L, p); break;
    case MOVE_STORE: (p->copies.g ? work : store)(L, p); break;
    case MOVE_PREFETCH: prefetch(L, p); break;
    case MOVE_PEER:
    case MOVE_SHARED:
    case MOVE_FILL: (p->st->move->dst.peer ? send : work)(L, p); break;
    case MOVE_TMEM_CP:
    case MOVE_TMEM_LD:
    case MOVE_TMEM_ST:
    case MOVE_SHIFT: work(L, p); break;
    }
    sched_as(L, before);
}
