/* The planning walk's part per move: its regions, its copies and what they need, who issues it, what it touches. */
#include "lower/apart/apart.h"
#include "lower/plan/work.h"
#include "lower/schedule/schedule.h"

/* ---- copies ---- */

static bool plan_copy(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    if (!region_resolve(L, p->st, &p->mi)) return false;
    if (mv->dst.peer || (mv->cast == CAST_MASK && L->cluster_size > 1)) {
        p->by_rank = true;
        if (!remote_plan(L, p)) return false;
    } else if (mv->kind == MOVE_LOAD && !plan_multicast(L, &p->mi, &p->shares)) {
        return false;
    }
    if (!choose_copy(L, &p->mi, &p->tensor, &p->t, &p->b, &p->no_tensor)) return false;
    if (!p->mi.prefetch) p->access = L->accesses->all.n;
    access_note(L, &p->mi);
    p->bytes = p->tensor ? p->t.piece_bytes * p->t.npieces : p->b.run * p->b.nruns;
    if (!p->mi.prefetch) *(p->mi.load ? &p->dst : &p->src) = p->mi.tile->index;
    p->agent = p->mi.load && !L->sched->alone ? AG_LOAD : AG_WORK;
    return true;
}

/* A copy, or a fill: that has no source. */
static bool plan_peer(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    bool fill = mv->kind == MOVE_FILL;
    if (!fill && !region_tile(L, p->st, &mv->src, &p->mi)) return false;
    if (!region_tile(L, p->st, &mv->dst, &p->other)) return false;
    if (fill) p->mi = p->other;
    const MoveInfo *a = &p->mi, *b = &p->other;
    if (!remote_plan(L, p)) return false;
    bool any = false;
    for (int r = 0; r < L->cluster_size; r++) any |= p->to[r] != 0;
    if (!any) return true; /* the condition holds at no rank */
    p->by_rank = mv->reduce >= 0;
    if (fill ? !fill_peer_plan(L, p->st, b) : !plan_runs(L, p->st, a, b)) return false;
    p->bytes = b->bytes;
    if (!fill) p->src = a->tile->index;
    p->dst = b->tile->index;
    p->agent = AG_SEND;
    return true;
}

/* ---- work by threads ---- */
static bool plan_threads(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    if (mv->kind == MOVE_SHARED && !region_tile(L, p->st, &mv->src, &p->mi)) return false;
    if (!region_tile(L, p->st, &mv->dst, &p->other)) return false;
    p->agent = AG_WORK;
    p->dst = p->other.tile->index;
    if (mv->kind == MOVE_SHARED) p->src = p->mi.tile->index;
    else p->mi = p->other;
    return true;
}

static bool plan_tmem(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    p->tm = arena_new(L->a, TmemPlan);
    p->agent = AG_WORK;
    if (L->ir->pair && move_by_tensor_core(mv) && !tmem_paired(L, p)) return false;
    if (!tmem_plan(L, p->st, p->tm)) return false;
    p->mi = mv->kind == MOVE_SHIFT ? p->tm->tensor : p->tm->shared;
    if (mv->kind == MOVE_TMEM_LD) p->dst = p->mi.tile->index;
    else if (mv->kind != MOVE_SHIFT) p->src = p->mi.tile->index;
    return true;
}

/* When the number of threads is known. */
static void finish_threads(Lower *L, Planned *p)
{
    const Sched *s = L->sched;
    Workers by = {.threads = s->warps[AG_WORK] * 32, .batch = 1};
    if (p->across && p->across->whole) {
        by.batch = p->across->batch;
        by.pitch_from = batch_pitch(L, p->across, p->mi.tile);
        by.pitch_to = batch_pitch(L, p->across, p->other.tile);
    }
    if (p->tm) {
        tmem_threads(L, p->tm, by.threads, &p->plan);
    } else {
        p->zeros = plan_zeros(L, p->st, &p->other, by);
        if (p->zeros == 0) plan_work(L, p->st, &p->mi, &p->other, by, &p->plan);
    }
}

void plan_threads_all(Lower *L)
{
    for (uint32_t i = 0; i < L->sched->moves.n; i++) {
        Planned *p = L->sched->moves.v[i];
        if (move_by_threads(p->st->move)) finish_threads(L, p);
    }
}

static const TensorAccess *access_of(const Lower *L, const Planned *p)
{
    return L->accesses->all.v[p->access];
}

/* Does a store of the team cross the load? waited: in front of moves from that number on the working role has waited for it. */
static const Planned *crossed(Lower *L, uint32_t load, uint32_t waited)
{
    Sched *s = L->sched;
    const Planned *p = s->moves.v[load];
    for (uint32_t i = 0; i < s->moves.n; i++) {
        const Planned *q = s->moves.v[i];
        if (q->st->move->kind != MOVE_STORE || base_of(q->mi.tensor) != base_of(p->mi.tensor)) continue;
        bool behind = i > load, taken = behind && (waited <= i || rings_takes(L, p->dst, q));
        if (taken && p->depth == 0 && q->depth == 0) continue; /* neither comes again */
        const TensorAccess *first = access_of(L, behind ? p : q), *second = access_of(L, behind ? q : p);
        if (accesses_cross(L, first, second, taken) && !accesses_refused(L, first, second)) return q;
    }
    return NULL;
}

/* Bulk groups complete in any order: a store that may write what an earlier one writes comes behind its completion. So does a
 * load by the working role, which is awaited in front of stores that may meet it, behind that of all stores that it may meet. */
void plan_order(Lower *L)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->moves.n; i++) {
        Planned *p = s->moves.v[i];
        if (p->st->move->kind == MOVE_LOAD) p->ordered = p->agent == AG_WORK && crossed(L, i, i) != NULL;
        if (p->st->move->kind != MOVE_STORE) continue;
        for (uint32_t j = 0; j < s->moves.n && !p->ordered; j++) {
            const Planned *q = s->moves.v[j];
            if (q->st->move->kind != MOVE_STORE || (j > i && p->depth == 0 && q->depth == 0)) continue;
            p->ordered = stores_meet(L, access_of(L, q), access_of(L, p));
        }
    }
}

/* The move by which the working role has waited for each load's tile: its first use of it. */
static uint32_t *first_uses(Lower *L)
{
    const Sched *s = L->sched;
    uint32_t *use = arena_array(L->a, uint32_t, s->moves.n), *next = arena_array(L->a, uint32_t, s->nrings);
    for (uint32_t i = 0; i < s->nrings; i++) next[i] = UINT32_MAX;
    for (uint32_t i = s->moves.n; i-- > 0;) {
        const Planned *p = s->moves.v[i];
        if (p->agent == AG_WORK && p->src != RING_NONE) next[p->src] = i;
        use[i] = p->dst != RING_NONE ? next[p->dst] : UINT32_MAX;
        if (p->agent == AG_WORK && p->dst != RING_NONE) next[p->dst] = i; /* threads change what a copy brought */
    }
    return use;
}

/* What a load by a role of its own brings may be what the team stores, or is to store: that role does not know when. */
void plan_crossing(Lower *L)
{
    Sched *s = L->sched;
    const uint32_t *use = first_uses(L);
    for (uint32_t i = 0; i < s->moves.n; i++) {
        const Planned *p = s->moves.v[i], *q = p->agent == AG_LOAD && p->mi.load ? crossed(L, i, use[i]) : NULL;
        if (q) rings_keep_load(L, p, q);
    }
}

static void take_before(Lower *L, const uint32_t *use, uint32_t store)
{
    Sched *s = L->sched;
    const Planned *p = s->moves.v[store];
    for (uint32_t j = 0; j < store; j++) {
        Planned *q = s->moves.v[j];
        if (q->agent != AG_LOAD || q->taken <= store || use[j] <= store) continue;
        if (!store_overtakes(L, L->accesses->all.v[q->access], L->accesses->all.v[p->access]) || !rings_take(L, q->dst, p)) continue;
        for (uint32_t i = 0; i < store; i++)
            if (s->moves.v[i]->dst == q->dst && s->moves.v[i]->taken > store) s->moves.v[i]->taken = store;
    }
}

void plan_overtaking(Lower *L)
{
    const uint32_t *use = first_uses(L);
    for (uint32_t i = 0; i < L->sched->moves.n; i++)
        if (L->sched->moves.v[i]->st->move->kind == MOVE_STORE) take_before(L, use, i);
}

bool plan_move(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    Planned *p = arena_new(L->a, Planned);
    *p = (Planned){.st = st, .src = RING_NONE, .dst = RING_NONE, .shares = {.n = 1, .dim = -1}, .agent = AG_NONE,
                    .taken = UINT32_MAX};
    vec_push(L->a, &s->moves, p);
    p->chain = arena_array(L->a, Link, s->depth + 1);
    p->depth = s->depth;
    p->across = s->across;
    p->conditional = s->conditions > 0;
    memcpy(p->chain, s->chain, (s->depth + 1) * sizeof *p->chain);
    switch (st->move->kind) {
    case MOVE_LOAD:
    case MOVE_STORE:
    case MOVE_PREFETCH: return plan_copy(L, p);
    case MOVE_SHARED: return plan_threads(L, p);
    case MOVE_FILL: return st->move->dst.peer ? plan_peer(L, p) : plan_threads(L, p);
    case MOVE_PEER: return plan_peer(L, p);
    case MOVE_TMEM_CP:
    case MOVE_TMEM_LD:
    case MOVE_TMEM_ST:
    case MOVE_SHIFT: return plan_tmem(L, p);
    }
    return false;
}

void plan_taken(Lower *L)
{
    const Sched *s = L->sched;
    const uint32_t *uses = first_uses(L);
    for (uint32_t k = 0; k < L->accesses->all.n; k++) {
        TensorAccess *a = L->accesses->all.v[k];
        a->planned = 0;
        while (a->planned < s->moves.n && s->moves.v[a->planned]->st != a->info.stmt) a->planned++;
        if (a->planned == s->moves.n) continue;
        const Planned *p = s->moves.v[a->planned];
        uint32_t use = p->agent == AG_WORK && p->mi.load ? a->planned : uses[a->planned]; /* in front of stores of it: kept.c */
        a->taken = p->taken < use ? p->taken : use;
        a->behind = p->ordered && !a->write;
    }
}
