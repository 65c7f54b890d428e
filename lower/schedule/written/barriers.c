/* Barriers of the source: which there are, what each role keeps of their phases, what arrives there, and who waits. */
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* ---- which there are ---- */

void sync_begin(Lower *L)
{
    const PKernel *k = L->k;
    Sync *s = L->sync;
    s->guard = opnd_imm(1);
    s->many = k->roles_span.hi != 0;
    s->bars = arena_array(L->a, Explicit, k->barriers.n);
    for (uint32_t i = 0; i < k->barriers.n; i++) {
        const PBarrier *p = k->barriers.v[i];
        s->bars[i].looped = s->many;
        vec_push(L->a, &L->ir->bars, ((IrBar){.name = name_text(L, p->name), .slots = (uint32_t)p->slots, .count = 1, .free = p->is_free, .span = p->span}));
    }
}

void sync_note(Lower *L, const PStmt *st)
{
    const PMove *mv = st->kind == P_MOVE ? st->move : NULL;
    const PBarrier *b = mv ? mv->barrier : st->barrier;
    const Sx *slot = mv ? mv->barrier_slot : st->value;
    if (b == NULL || st->kind == P_EXPECT) return;
    Explicit *e = &L->sync->bars[b->index];
    bool far = mv ? (L->cluster_size > 1 && (mv->cast || mv->barrier_peer)) || (L->k->pair && move_by_tensor_core(mv)) : st->peer != NULL;
    e->looped |= L->sched->depth > 0 || (slot && slot->op != SX_CONST);
    for (uint32_t i = 0; i < L->sync->naround; i++) e->looped |= L->sync->around[i].followed;
    e->generic |= mv && mv->kind == MOVE_FILL && mv->dst.peer;
    if (st->kind == P_WAIT && b->slots == 1) {
        e->again |= e->waited == L->sync->block + 1;
        e->waited = L->sync->block + 1;
    }
    e->far |= far;
    L->remote |= far;
}

static uint32_t phase_var(Lower *L, const char *name, int64_t first, Span span)
{
    uint32_t v = ir_var(L->a, L->ir, IR_I32, name);
    IrOp *op = ir_op(L->a, &L->body, IR_VAR, span);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, v);
    ir_imm(L->a, op, IRK_A, first);
    return v;
}

/* One variable holds the phases of all slots of a barrier, a bit each: it is right for any order of the slots. */
void sync_role(Lower *L)
{
    Sync *s = L->sync;
    s->commits.n = s->naround = 0;
    for (uint32_t i = 0; i < L->k->barriers.n; i++) {
        const PBarrier *b = L->k->barriers.v[i];
        if (!s->bars[i].looped) {
            s->bars[i].waits = arena_array(L->a, uint32_t, (size_t)b->slots);
            continue;
        }
        if (b->slots > 32)
            cannot(L, NULL, E0712, b->span, (Span){0, 0}, NULL, "use several barriers, or a shorter ring",
                   "barrier `%s` has %lld slots; in loops and roles it has at most 32", name_text(L, b->name), (long long)b->slots);
        int64_t all = b->slots >= 32 ? -1 : (INT64_C(1) << b->slots) - 1;
        s->bars[i].bits = phase_var(L, arena_printf(L->a, "%s.phase", name_text(L, b->name)), b->is_free ? all : 0,
                                    b->span);
    }
}

/* ---- arrivals and waits ---- */

/* The slot: a constant in range, or a value that is proved to be. */
static bool explicit_slot(Lower *L, const PBarrier *b, const Sx *slot, int64_t *k, Opnd *value)
{
    *k = 0;
    *value = opnd_imm(0);
    if (slot == NULL) return true;
    Poly p = scalar_poly(L, slot);
    bool constant = poly_is_const(p, k), ok;
    if (constant) ok = *k >= 0 && *k < b->slots;
    else ok = domain_le(L->d, poly_const(L->d, 0), p) && domain_le(L->d, p, poly_const(L->d, b->slots - 1));
    *value = constant ? opnd_imm(*k) : value_low(L, slot);
    if (!constant) *k = -1;
    if (ok) return true;
    const char *fix = constant ? NULL : arena_printf(L->a, "write the slot as `.. %% %lld`", (long long)b->slots);
    Span at = slot->op == SX_INDEX ? L->stmt->span : slot->span; /* an index has its own in one place */
    return cannot(L, NULL, E0508, at, b->span, "the barrier", fix, "slot %s of barrier `%s` is not %sone of 0 .. %lld", poly_text(L, p),
                  name_text(L, b->name), constant ? "" : "proved to be ", (long long)b->slots - 1);
}

/* Commits of one block to one phase, as far as can be seen, are one arrival. */
static Commit *open_commit(Lower *L, const PMove *mv, Poly slot, int64_t k)
{
    Sync *s = L->sync;
    const Sx *peer = mv->barrier_peer;
    for (uint32_t i = 0; i < s->commits.n; i++) {
        const Commit *c = &s->commits.v[i];
        bool same = (c->peer == NULL) == (peer == NULL) && (peer == NULL || poly_same(scalar_poly(L, c->peer), scalar_poly(L, peer)));
        if (c->barrier == mv->barrier && same && poly_same(c->slot, slot)) return &s->commits.v[i];
    }
    Commit *c = vec_add(L->a, &s->commits);
    *c = (Commit){.barrier = mv->barrier, .slot = slot, .k = k, .peer = peer, .guard = opnd_imm(0)};
    return c;
}

/* What comes is of another phase of the barrier, at slot k where no loop uses it, and of those that are waited for again in a turn;
 * NULL: of all that loops use. */
static void close_commits(Lower *L, const PBarrier *b, int64_t k)
{
    Sync *s = L->sync;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->commits.n; i++) {
        const Commit *c = &s->commits.v[i];
        const Explicit *e = &s->bars[c->barrier->index];
        bool stays = b == NULL ? !e->looped : c->barrier == b ? !e->looped && c->k != k : !e->again;
        if (stays) s->commits.v[kept++] = *c;
    }
    s->commits.n = kept;
}

void sync_in(Lower *L, uint32_t block, uint32_t turn)
{
    L->sync->block = block;
    L->sync->turn = turn;
    close_commits(L, NULL, 0);
}

/* All but the last become expectations. It happens where one of them does; of bytes each brings none where its condition does not hold. */
bool sync_arrive(Lower *L, const PMove *mv, Opnd each, Opnd *slot)
{
    int64_t k;
    const PBarrier *b = mv->barrier;
    agent_arrive_sync(L);
    if (!explicit_slot(L, b, mv->barrier_slot, &k, slot)) return false;
    Commit *c = open_commit(L, mv, mv->barrier_slot ? scalar_poly(L, mv->barrier_slot) : poly_const(L->d, 0), k);
    bool first = c->arrival == 0;
    c->guard = emit_logic(L, IR_OR, c->guard, L->sync->guard);
    if (first || !opnd_is(L->sync->guard, 1)) counts_commit(L, b->index, *slot, first, mv->barrier_peer);
    Opnd guarded = emit_sel(L, IR_I32, L->guard, each, opnd_imm(0)), rank = mv->barrier_peer ? value_low(L, mv->barrier_peer) : opnd_imm(0);
    if (!first) L->body.ops.v[c->arrival - 1].op = IR_BAR_EXPECT;
    IrOp *op = emit_at(L, IR_BAR_ARRIVE_EXPECT, b->index, *slot);
    emit_if(op, c->guard);
    put_opnd(L, op, IRK_BYTES, guarded);
    if (mv->barrier_peer) put_opnd(L, op, IRK_RANK, rank);
    c->arrival = L->body.ops.n;
    return true;
}

bool sync_commit_slot(Lower *L, const PStmt *st, Opnd *slot)
{
    int64_t k;
    const PMove *mv = st->move;
    if (!explicit_slot(L, mv->barrier, mv->barrier_slot, &k, slot)) return false;
    agent_arrive_sync(L);
    counts_note(L, mv->barrier->index, *slot, false, NULL);
    if (L->ir->pair) counts_pair(L);
    close_commits(L, mv->barrier, k);
    return true;
}

static Opnd looped_parity(Lower *L, const Explicit *e, Opnd slot)
{
    Opnd bits = emit_get(L, e->bits);
    Opnd parity = emit_op(L, IR_AND, IR_I32, emit_op(L, IR_SHR, IR_I32, bits, slot), opnd_imm(1));
    Opnd next = emit_op(L, IR_XOR, IR_I32, bits, emit_op(L, IR_SHL, IR_I32, opnd_imm(1), slot));
    emit_if(emit_set(L, IR_SET, e->bits, next), L->sync->guard);
    return parity;
}

void sync_wait(Lower *L, const PStmt *st)
{
    int64_t k;
    Opnd slot, parity;
    Sync *s = L->sync;
    const PBarrier *b = st->barrier;
    Explicit *e = &s->bars[b->index];
    if (!explicit_slot(L, b, st->value, &k, &slot)) return;
    if (e->looped) parity = looped_parity(L, e, slot);
    else parity = opnd_imm((e->waits[k]++ + (b->is_free ? 1 : 0)) & 1);
    IrOp *op = emit_at(L, IR_BAR_WAIT, b->index, slot);
    if (e->looped) emit_if(op, s->guard);
    put_opnd(L, op, IRK_PHASE, parity);
    if (e->far) ir_ref(L->a, op, IRK_SCOPE, IRA_WORD, IRC_CLUSTER);
    if (e->generic) emit_fence(L, IRS_CLUSTER);
    if (L->sched->tensor) tmem_fence(L, IRD_AFTER);
    L->sched->now->waited = true;
    counts_note(L, b->index, slot, true, NULL);
    close_commits(L, b, k);
}

/* One arrival for the role, whatever its number of threads. */
void sync_arrive_stmt(Lower *L, const PStmt *st)
{
    int64_t k;
    Opnd slot;
    const PBarrier *b = st->barrier;
    if (!explicit_slot(L, b, st->value, &k, &slot)) return;
    Opnd rank = st->peer ? value_low(L, st->peer) : opnd_imm(0);
    agent_arrive_sync(L);
    if (L->sched->tensor) tmem_fence(L, IRD_BEFORE);
    IrOp *op = emit_at(L, IR_BAR_ARRIVE, b->index, slot);
    emit_if(op, L->sync->guard);
    if (st->peer) put_opnd(L, op, IRK_RANK, rank);
    counts_note(L, b->index, slot, false, st->peer);
    close_commits(L, b, k);
}

void sync_expect(Lower *L, const PStmt *st)
{
    int64_t k;
    Opnd slot;
    if (!explicit_slot(L, st->barrier, st->value, &k, &slot)) return;
    Opnd bytes = value_low(L, st->bytes);
    IrOp *op = emit_at(L, IR_BAR_EXPECT, st->barrier->index, slot);
    emit_if(op, L->guard);
    put_opnd(L, op, IRK_BYTES, bytes);
}
