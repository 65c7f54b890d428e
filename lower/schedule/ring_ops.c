/* The ops by which roles hand the slots of a ring to each other. */
#include "lower/schedule/schedule.h"

static void put_ring(Lower *L, IrOp *op, const Ring *r)
{
    ir_ref(L->a, op, IRK_RING, IRA_RING, r->ir);
}

/* What the agent does from here on is of the ring's next generation. */
void ring_advance(Lower *L, const Ring *r)
{
    if (r->looped || r->kept) put_ring(L, emit_new(L, IR_DONE), r);
}

/* ---- barriers ---- */

static bool from_others(const Lower *L, const Ring *r)
{
    return r->cast != CAST_NONE || r->peered || r->across || (r->handed && L->cluster_size > 1);
}

Opnd ring_leader(Lower *L)
{
    if (L->cluster_size == 1) return opnd_imm(1);
    return emit_cmp(L, IRL_EQ, emit_sreg(L, IRR_CLUSTER_CTARANK), opnd_imm(0));
}

/* Behind a wait: who is late could miss a phase, where there is more than one. */
static void come_together(Lower *L, const Ring *r, IrOp *op)
{
    Sched *s = L->sched;
    bool threads = s->shape[s->role] == SHAPE_THREADS;
    if (threads && !L->derived) s->now->waited = true;
    else if (threads && (r->looped || r->kept)) s->now->dirty = true; /* before the slot is given back */
    if (s->shape[s->role] != SHAPE_LANES) return;
    op->elect = true; /* one lane waits for all */
    emit_new(L, IR_WARP_SYNC);
}

void ring_await(Lower *L, const Ring *r, uint32_t b, bool cluster)
{
    IrOp *op = emit_at(L, IR_AWAIT, b, ring_slot(r));
    if (cluster) ir_ref(L->a, op, IRK_SCOPE, IRA_WORD, IRC_CLUSTER);
    come_together(L, r, op);
}

void ring_acquire(Lower *L, const Ring *r)
{
    Opnd leader = r->handed ? ring_leader(L) : opnd_imm(1);
    IrOp *op = emit_when(L, IR_ACQUIRE, leader);
    put_ring(L, op, r);
    if (r->empty == BAR_NONE) return;
    if (from_others(L, r)) ir_ref(L->a, op, IRK_SCOPE, IRA_WORD, IRC_CLUSTER);
    come_together(L, r, op);
}

void ring_announce(Lower *L, IrOpcode code, uint32_t bar, Opnd slot, Opnd bytes)
{
    put_opnd(L, emit_at(L, code, bar, slot), IRK_BYTES, bytes);
}

Opnd planned_bytes(Lower *L, const Planned *p)
{
    bool varies = p->copies.t && p->copies.t->halo_bytes;
    return varies ? tensor_bytes(L, &p->mi, p->copies.t) : opnd_imm(planned_brings(p));
}

/* A turn of a multicast shows that all its CTAs have seen the slot free, for their bytes come after that. Where a condition
 * may hold the bytes back, arrivals show it: else a CTA could release the next turn where this one is not yet awaited. */
static void join(Lower *L, const Ring *r, Opnd slot)
{
    for (uint32_t i = 0; i < cluster_size_of(L, r->cast); i++) {
        Opnd rank = cluster_member(L, r->cast, i);
        put_opnd(L, emit_at(L, IR_BAR_ARRIVE, r->full, slot), IRK_RANK, rank);
    }
}

/* Every fill of a turn but the last only expects its bytes, where its condition holds; the last one arrives, too. In a
 * batch all is expected at once, before it. */
void ring_expect(Lower *L, const Planned *p, Opnd slot)
{
    Ring *r = p->dst;
    if (r->pipe && r->pipe->batch > 1) return;
    Opnd bytes = p->by_rank ? remote_bytes(L, p)
                            : emit_sel(L, IR_I32, L->guard, planned_bytes(L, p), opnd_imm(0));
    bool last = r->kept || ++r->filled == r->nfills;
    r->announced = L->body.ops.n + 1;
    ring_announce(L, last ? IR_BAR_ARRIVE_EXPECT : IR_BAR_EXPECT, r->full, slot, bytes);
    if (last && r->joined) join(L, r, slot);
}

void ring_wait_full(Lower *L, const Ring *r)
{
    if (r->full == BAR_NONE) return;
    if (r->peered || (r->handed && r->filler == L->sched->role)) /* nobody else of this CTA counts the bytes that come */
        ring_announce(L, IR_BAR_ARRIVE_EXPECT, r->full, ring_slot(r), opnd_imm(r->bytes));
    ring_await(L, r, r->full, from_others(L, r));
}

void ring_arrive_full(Lower *L, const Ring *r)
{
    if (r->full == BAR_NONE) return; /* read by the lanes of the filler alone */
    emit_at(L, IR_BAR_ARRIVE, r->full, ring_slot(r));
}

/* Rank of the CTA that fills this one's tile. */
static Opnd source_rank(Lower *L, const Ring *r)
{
    const uint16_t *to = move_peers(&r->fill->mi)->to; /* one each */
    Opnd rank = emit_sreg(L, IRR_CLUSTER_CTARANK), v = opnd_imm(0);
    for (int s = 0; s < L->cluster_size; s++)
        v = emit_sel(L, IR_I32, emit_cmp(L, IRL_EQ, rank, opnd_imm(__builtin_ctz(to[s]))), opnd_imm(s), v);
    return v;
}

void ring_release(Lower *L, const Ring *r)
{
    if (r->empty == BAR_NONE) return;
    if (r->by_rank || r->across) {
        remote_release(L, r);
        return;
    }
    uint32_t n = r->cast != CAST_NONE ? cluster_size_of(L, r->cast) : 1;
    for (uint32_t k = 1; k <= n; k++) { /* that of the CTA that may bring all comes last: then all have their arrivals */
        uint32_t i = k % n;
        Opnd rank = r->peered ? source_rank(L, r) : n > 1 ? cluster_member(L, r->cast, i) : opnd_imm(0);
        IrOp *op = emit_new(L, IR_RELEASE);
        put_ring(L, op, r);
        if (r->peered || n > 1 || (r->handed && L->cluster_size > 1)) put_opnd(L, op, IRK_RANK, rank);
    }
}
