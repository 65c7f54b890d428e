/* The ops by which roles hand the slots of a ring to each other. */
#include "lower/schedule/schedule.h"

bool ring_uses(const Ring *r, Agent a)
{
    return r->agents >> a & 1;
}

static Ring *ring_at(Lower *L, uint32_t i)
{
    return &L->sched->rings[i];
}

/* ---- counters: slot and phase of the next turn, never set back ---- */

static uint32_t counter_var(Lower *L, const char *name, const char *what)
{
    uint32_t v = L->ir->vars.n;
    IrVar *var = vec_add(L->a, &L->ir->vars);
    *var = (IrVar){arena_printf(L->a, "%s.%s", name, what), IR_I32};
    emit_set(L, IR_VAR, v, opnd_imm(0));
    return v;
}

static void counter_begin(Lower *L, Counter *c, const char *name, uint32_t slots)
{
    *c = (Counter){.set = true, .slots = slots};
    if (slots > 1) c->pos = counter_var(L, name, "slot");
    c->phase = counter_var(L, name, "phase");
}

static const char *name_of(Lower *L, const Ring *r)
{
    return r->tile ? name_text(L, r->tile->name) : "ids";
}

/* Which of its barriers a role waits for, and so which counters it has. */
static bool waits_free(const Ring *r, Agent a)
{
    return r->empty != RING_NONE && r->filler == a;
}

void ring_role(Lower *L)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->nrings; i++) {
        Ring *r = &s->rings[i];
        if (r->turn == NULL || !ring_uses(r, s->role) || !r->looped) continue;
        const char *name = name_of(L, r);
        counter_begin(L, &r->at[s->role], name, r->slots);
        if (r->empty == RING_NONE) continue;
        if (r->lead == r->slots) r->free_at[s->role] = r->at[s->role];
        else counter_begin(L, &r->free_at[s->role], arena_printf(L->a, "%s.free", name), r->lead);
    }
}

static Opnd position(Lower *L, const Counter *c)
{
    return c->set && c->slots > 1 ? emit_get(L, c->pos) : opnd_imm(0);
}

static Opnd phase(Lower *L, const Counter *c)
{
    return c->set ? emit_get(L, c->phase) : opnd_imm(0);
}

static void counter_next(Lower *L, const Counter *c)
{
    Opnd wrap = opnd_imm(1), ph = phase(L, c);
    if (c->slots > 1) {
        Opnd next = emit_op(L, IR_ADD, IR_I32, position(L, c), opnd_imm(1));
        Opnd end = emit_cmp(L, IRL_EQ, next, opnd_imm(c->slots));
        wrap = emit_cvt(L, IR_I32, end);
        emit_set(L, IR_SET, c->pos, emit_sel(L, IR_I32, end, opnd_imm(0), next));
    }
    emit_set(L, IR_SET, c->phase, emit_op(L, IR_XOR, IR_I32, ph, wrap));
}

void ring_advance(Lower *L, uint32_t ring)
{
    Ring *r = ring_at(L, ring);
    Agent a = L->sched->role;
    if (!r->at[a].set) return;
    counter_next(L, &r->at[a]);
    if (r->empty != RING_NONE && r->lead != r->slots) counter_next(L, &r->free_at[a]);
}

Opnd ring_slot(Lower *L, uint32_t ring)
{
    return position(L, &ring_at(L, ring)->at[L->sched->role]);
}

void ring_place(Lower *L, MoveInfo *mi)
{
    if (mi->tile == NULL || mi->prefetch) return;
    const Ring *r = ring_at(L, mi->tile->index);
    const Counter *c = &r->at[L->sched->role];
    mi->ring = (RingPlace){.set = true, .counted = c->set && c->slots > 1, .counter = c->pos, .pitch = r->pitch};
    mi->ring.inner = r->inner > 1 ? L->sched->batch_index : opnd_imm(0);
}

/* ---- barriers ---- */

static void bar(Lower *L, IrOp *op, uint32_t b, Opnd slot)
{
    ir_ref(L->a, op, IRK_BAR, IRA_BAR, b);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
}

static bool from_others(const Lower *L, const Ring *r)
{
    return r->cast != CAST_NONE || r->peered || (r->handed && L->cluster_size > 1);
}

Opnd ring_leader(Lower *L)
{
    if (L->cluster_size == 1) return opnd_imm(1);
    return emit_cmp(L, IRL_EQ, emit_sreg(L, IRR_CLUSTER_CTARANK), opnd_imm(0));
}

static void wait(Lower *L, uint32_t b, Opnd slot, Opnd parity, bool cluster, Opnd guard)
{
    IrOp *op = emit_new(L, IR_BAR_WAIT);
    emit_if(op, guard);
    bar(L, op, b, slot);
    put_opnd(L, op, IRK_PHASE, parity);
    if (cluster) ir_ref(L->a, op, IRK_SCOPE, IRA_WORD, IRC_CLUSTER);
    /* Who is late could miss a phase: all have passed before the slot is given back. */
    if (L->sched->shape[L->sched->role] == SHAPE_THREADS) L->sched->dirty = true;
    if (L->sched->shape[L->sched->role] != SHAPE_LANES) return;
    /* One lane waits for all: a lane that is late could miss a phase. */
    op->elect = true;
    emit_new(L, IR_WARP_SYNC);
}

/* The first `lead` of these waits pass: the phase before the first one counts as complete. */
void ring_wait_free(Lower *L, uint32_t ring)
{
    Ring *r = ring_at(L, ring);
    const Counter *c = &r->free_at[L->sched->role];
    if (!waits_free(r, L->sched->role)) return;
    Opnd slot = position(L, c), parity = emit_op(L, IR_XOR, IR_I32, phase(L, c), opnd_imm(1));
    wait(L, r->empty, slot, parity, from_others(L, r), r->handed ? ring_leader(L) : opnd_imm(1));
}

void ring_wait_full(Lower *L, uint32_t ring)
{
    Ring *r = ring_at(L, ring);
    const Counter *c = &r->at[L->sched->role];
    if (r->full == RING_NONE) return;
    Opnd slot = position(L, c);
    if (r->peered || (r->handed && r->filler == L->sched->role)) { /* nobody else of this CTA counts the bytes that come */
        IrOp *op = emit_new(L, IR_BAR_ARRIVE_EXPECT);
        bar(L, op, r->full, slot);
        ir_imm(L->a, op, IRK_BYTES, r->bytes);
    }
    Opnd parity = phase(L, c);
    wait(L, r->full, slot, parity, from_others(L, r), opnd_imm(1));
}

void ring_wait_also(Lower *L, uint32_t ring, uint32_t b)
{
    const Counter *c = &ring_at(L, ring)->at[L->sched->role];
    Opnd slot = position(L, c), parity = phase(L, c);
    wait(L, b, slot, parity, true, opnd_imm(1));
}

void ring_arrive_full(Lower *L, uint32_t ring)
{
    Ring *r = ring_at(L, ring);
    if (r->full == RING_NONE) return; /* read by the lanes of the filler alone */
    Opnd slot = ring_slot(L, ring);
    bar(L, emit_new(L, IR_BAR_ARRIVE), r->full, slot);
}

/* A turn of a multicast shows that all its CTAs have seen the slot free, for their bytes come after that. Where a condition
 * may hold the bytes back, arrivals show it: else a CTA could release the next turn where this one is not yet awaited. */
void ring_join(Lower *L, const Ring *r, Opnd slot)
{
    for (uint32_t i = 0; i < cluster_size_of(L, r->cast); i++) {
        Opnd rank = cluster_member(L, r->cast, i);
        IrOp *op = emit_new(L, IR_BAR_ARRIVE);
        bar(L, op, r->full, slot);
        put_opnd(L, op, IRK_RANK, rank);
    }
}

/* Rank of the CTA that fills this one's tile. */
static Opnd source_rank(Lower *L, const Ring *r)
{
    Opnd rank = emit_sreg(L, IRR_CLUSTER_CTARANK), v = opnd_imm(0);
    for (int s = 0; s < L->cluster_size; s++)
        v = emit_sel(L, IR_I32, emit_cmp(L, IRL_EQ, rank, opnd_imm(r->target[s])), opnd_imm(s), v);
    return v;
}

void ring_release(Lower *L, uint32_t ring)
{
    Ring *r = ring_at(L, ring);
    if (r->empty == RING_NONE) return;
    Opnd slot = position(L, &r->free_at[L->sched->role]);
    if (r->by_rank) {
        remote_release(L, r, slot);
        return;
    }
    uint32_t n = r->cast != CAST_NONE ? cluster_size_of(L, r->cast) : 1;
    for (uint32_t k = 1; k <= n; k++) { /* that of the CTA that may bring all comes last: then all have their arrivals */
        uint32_t i = k % n;
        Opnd rank = r->peered ? source_rank(L, r) : n > 1 ? cluster_member(L, r->cast, i) : opnd_imm(0);
        IrOp *op = emit_new(L, IR_BAR_ARRIVE);
        bar(L, op, r->empty, slot);
        if (r->peered || n > 1 || (r->handed && L->cluster_size > 1)) put_opnd(L, op, IRK_RANK, rank);
    }
}
