/* Scheduled kernels: what the tensor core does is begun by the working role's elected thread, and committed to one barrier of
 * the kernel's; the whole role waits for it where it has to be done:
 *
 *   before threads read or write tensor memory
 *   before another operation of the tensor core on the same place, but for 4x256b behind a shift (PTX ISA, Pipelined tcgen05
 *     instructions: no other pair of copies and shifts is in order)
 *   before threads overwrite what is still read, before slots are given back, at the borders of loops
 *
 * In a pair the even CTA begins it for both: when both have arrived at `ready`, and the commit arrives at both.
 */
#include "lower/apart/apart.h"
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* ---- conditions of a pair ---- */

/* The CTA that begins it takes its own places for both: descriptor and address are operands of one instruction. */
static bool alike(Lower *L, const Sx *x, Span at)
{
    if (cluster_pairs(L, x)) return true;
    return cannot(L, NULL, E0558, at, L->k->pair_span, "CTAs in pairs", "let each CTA load what differs to the same place of its own tile",
                  "%s is not proved to be the same in both CTAs of a pair, and one of them begins this for both", poly_text(L, scalar_poly(L, x)));
}

bool tmem_paired(Lower *L, const Planned *p)
{
    const PMove *mv = p->st->move;
    const PRegion *side[] = {&mv->src, &mv->dst};
    for (int i = 0; i < 2; i++) {
        if (!alike(L, side[i]->slot, side[i]->span)) return false;
        for (int d = 0; d < side[i]->rank; d++)
            if (!alike(L, side[i]->dim[d].start, side[i]->dim[d].span)) return false;
    }
    if (p->naround == 0) return true;
    return cannot(L, NULL, E0558, p->st->span, L->k->pair_span, "CTAs in pairs", "copy always, and put the condition on the moves that come after",
                  "under a condition one CTA of a pair could do this alone");
}

/* ---- barriers and phases ---- */

static Ring *new_ring(Lower *L, const char *what, uint32_t count)
{
    Ring *r = &L->sched->rings[L->sched->nrings++];
    *r = (Ring){.slots = 1, .lead = 1, .looped = true, .empty = BAR_NONE};
    ring_new(L, r, arena_printf(L->a, "tmem.%s", what));
    r->full = ring_bar(L, r, "tmem", what, 1, count);
    return r;
}

void tmem_barriers(Lower *L)
{
    TmemSched *t = &L->sched->tmem;
    bool starts = false;
    FOR_MOVES(L->sched, p) starts |= move_by_tensor_core(p->st->move);
    if (starts) t->done = new_ring(L, "done", 1);
    if (starts && L->ir->pair) t->ready = new_ring(L, "ready", 2);
}

/* All threads of the role: who is late could miss a phase, so they come together before the next one is begun. */
static void wait(Lower *L, const Ring *r)
{
    Sched *s = L->sched;
    ring_await(L, r, r->full, L->ir->pair);
    tmem_fence(L, IRD_AFTER);
    ring_advance(L, r);
    s->now->dirty |= s->shape[s->role] != SHAPE_ELECT;
}

/* ---- pairs ---- */

/* "This CTA acts for its pair": the even one; each for itself where there are none. */
static Opnd is_even(Lower *L)
{
    if (!L->ir->pair) return opnd_imm(1);
    Opnd bit = emit_op(L, IR_AND, IR_I32, emit_sreg(L, IRR_CLUSTER_CTARANK), opnd_imm(1));
    return emit_cmp(L, IRL_EQ, bit, opnd_imm(0));
}

/* What this CTA's part of the copy reads is there, and what it overwrites nobody reads: both tell each other, the own barrier
 * first. Who has heard of the other one's phase then knows that its own is over: neither is ever two ahead. */
static void both_ready(Lower *L)
{
    const Ring *r = L->sched->tmem.ready;
    Opnd other = emit_op(L, IR_XOR, IR_I32, emit_sreg(L, IRR_CLUSTER_CTARANK), opnd_imm(1));
    ring_acquire(L, r);
    tmem_fence(L, IRD_BEFORE);
    ring_arrive_full(L, r);
    put_opnd(L, emit_at(L, IR_BAR_ARRIVE, r->full, ring_slot(r)), IRK_RANK, other);
    wait(L, r);
}

/* ---- operations of the tensor core ---- */

/* By the elected thread, of the CTA that acts for its pair. */
static void commit(Lower *L, uint32_t bar, Opnd slot, Opnd guard, Opnd rank)
{
    Opnd both = L->ir->pair ? emit_op(L, IR_SHL, IR_I32, opnd_imm(3), rank) : opnd_imm(0);
    IrOp *op = emit_at(L, IR_TC_COMMIT, bar, slot);
    emit_if(op, guard);
    if (L->ir->pair) put_opnd(L, op, IRK_MASK, both);
}

void tmem_settle(Lower *L)
{
    Sched *s = L->sched;
    if (s->planning || s->role != AG_WORK || s->tmem.pending.n == 0) return;
    Opnd even = is_even(L), rank = opnd_imm(0);
    if (L->ir->pair) rank = emit_op(L, IR_AND, IR_I32, emit_sreg(L, IRR_CLUSTER_CTARANK), opnd_imm(~INT64_C(1)));
    ring_acquire(L, s->tmem.done);
    commit(L, s->tmem.done->full, ring_slot(s->tmem.done), even, rank);
    wait(L, s->tmem.done);
    s->tmem.pending.n = 0;
}

bool tmem_reads(const Lower *L, const Ring *r)
{
    const TmemSched *t = &L->sched->tmem;
    for (uint32_t i = 0; i < t->pending.n; i++)
        if (t->pending.v[i]->src == r) return true;
    return false;
}

/* In order without a wait: see above. */
static bool pipelined(const Planned *a, const Planned *b)
{
    return a->st->move->kind == MOVE_SHIFT && b->st->move->kind == MOVE_TMEM_CP && b->tm->piece[0].cp.shape == IRP_4X256B;
}

static bool must_settle(Lower *L, const Planned *p)
{
    const TmemSched *t = &L->sched->tmem;
    for (uint32_t i = 0; i < t->pending.n; i++) {
        const Planned *q = t->pending.v[i];
        if (!pipelined(q, p) && !subtiles_disjoint(L, &q->tm->tensor, &p->tm->tensor)) return true;
    }
    return false;
}

void tmem_start(Lower *L, Planned *p)
{
    Sched *s = L->sched;
    bool shift = p->st->move->kind == MOVE_SHIFT;
    if (must_settle(L, p)) tmem_settle(L);
    Opnd slot = shift ? opnd_imm(0) : region_slot(L, &p->mi), from = shift ? opnd_imm(0) : region_offset(L, &p->mi);
    agent_store_sync(L); /* also passes on the waits: nobody is late for the phase before */
    if (!L->derived) { /* to a barrier of the program; an `if` of it says who of a pair does it */
        Opnd at;
        if (!sync_commit_slot(L, p->st, &at)) return;
        tmem_emit(L, p->tm, slot, from, L->guard);
        commit(L, p->st->move->barrier->index, at, L->sync->guard, L->ir->pair ? emit_sreg(L, IRR_CLUSTER_CTARANK) : opnd_imm(0));
        return;
    }
    Opnd even = is_even(L);
    if (L->ir->pair) both_ready(L);
    tmem_emit(L, p->tm, slot, from, emit_logic(L, IR_AND, even, L->guard));
    vec_push(L->a, &s->tmem.pending, p);
}

void tmem_work(Lower *L, Planned *p)
{
    Opnd slot = region_slot(L, &p->mi), at = region_offset(L, &p->mi);
    tmem_emit_threads(L, p->tm, p->plan, slot, at, L->guard);
}
