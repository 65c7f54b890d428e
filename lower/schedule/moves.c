/* The planning walk's part per move: its regions, its copies and what they need, who issues it, what it touches. */
#include "lower/apart/apart.h"
#include "lower/plan/work.h"
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* ---- copies ---- */

static Ring *ring_of(Lower *L, const MoveInfo *mi)
{
    return &L->sched->rings[mi->tile->index];
}

static bool copies_in_pair(Lower *L, const Planned *p)
{
    if (!move_peers(&p->mi)->in_pair || p->copies.t) return true;
    Diag *g = lower_error(L, E0541, p->st->move->commit_span, "no tensor copy fits this move, and bulk copies have no .cta_group");
    if (p->copies.no_tensor) diag_note(L->c->diags, g, p->copies.no_tensor->span, "tensor copy: %s", p->copies.no_tensor->text);
    return false;
}

static bool plan_copy(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    if (!region_resolve(L, p->st, &p->mi)) return false;
    if (!L->derived) {
        if (!written_plan(L, p)) return false;
    } else if (mv->dst.peer || (mv->cast == CAST_MASK && L->cluster_size > 1)) {
        p->by_rank = true;
        if (!remote_plan(L, p)) return false;
    } else if (mv->kind == MOVE_LOAD && !plan_multicast(L, &p->mi)) {
        return false;
    }
    if (!choose_copy(L, &p->mi, L->derived && !p->mi.prefetch, &p->copies) || !copies_in_pair(L, p)) return false;
    access_note(L, &p->mi);
    if (!p->mi.prefetch) {
        p->access = L->accesses->all.n - 1;
        L->accesses->all.v[p->access]->planned = p->st->id;
    }
    p->bytes = p->copies.bytes;
    if (!p->mi.prefetch) *(p->mi.load ? &p->dst : &p->src) = ring_of(L, &p->mi);
    p->agent = L->derived && p->mi.load && !p->copies.g ? AG_LOAD : AG_WORK;
    return true;
}

/* All CTAs read, then all write: one that sends a tile is not to receive the same one. */
static bool received_apart(Lower *L, const Planned *p, const int *target)
{
    const PMove *mv = p->st->move;
    uint32_t senders = 0, receivers = 0;
    for (int r = 0; r < L->cluster_size; r++) {
        uint32_t to = L->derived ? move_peers(&p->mi)->to[r] : target[r] < 0 ? 0 : 1u << target[r];
        senders |= (uint32_t)(to != 0) << r;
        receivers |= to;
    }
    if (!(senders & receivers) || mv->kind == MOVE_FILL || subtiles_disjoint(L, &p->mi, p->other)) return true;
    const char *fix = mv->src.slot ? "receive into a tile with a name of its own; a loop of two moves sends there and back" : "receive into a second tile";
    return cannot(L, NULL, E0617, mv->dst.span, mv->src.span, "sent here", fix, "this CTA's tile is sent while another CTA writes it");
}

/* A copy, or a fill. */
static bool plan_peer(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    int target[RANKS_MAX] = {0}; /* by hand */
    p->other = arena_new(L->a, MoveInfo);
    if (!L->derived && !role_committed(L, p->st)) return false;
    if (!between_tiles(L, p->st, &p->mi, p->other)) return false;
    if (!(L->derived ? remote_plan(L, p) : cluster_named(L, mv->dst.peer, mv->dst.span, true, target)) || !received_apart(L, p, target)) return false;
    bool any = !L->derived;
    for (int r = 0; r < L->cluster_size; r++) any |= move_peers(&p->mi)->to[r] != 0;
    if (!any) return true; /* the condition holds at no rank */
    p->by_rank = mv->reduce >= 0;
    if (!between_plan(L, p->st, &p->mi, p->other)) return false;
    p->bytes = p->other->bytes;
    if (mv->kind != MOVE_FILL) p->src = ring_of(L, &p->mi);
    p->agent = L->derived ? AG_SEND : AG_WORK;
    if (L->derived) p->dst = ring_of(L, p->other);
    return true;
}

/* ---- work by threads ---- */
static bool plan_threads(Lower *L, Planned *p)
{
    p->other = arena_new(L->a, MoveInfo);
    if (!between_tiles(L, p->st, &p->mi, p->other)) return false;
    p->agent = AG_WORK;
    p->dst = ring_of(L, p->other);
    if (p->st->move->kind != MOVE_SHARED) return true;
    p->src = ring_of(L, &p->mi);
    if (subtiles_disjoint(L, &p->mi, p->other)) return true;
    return cannot(L, NULL, E0534, p->st->move->dst.span, p->st->move->src.span, "the source", "move to another tile", "the destination may overlap the source");
}

static bool plan_tmem(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    p->tm = arena_new(L->a, TmemPlan);
    p->agent = AG_WORK;
    if (L->ir->pair && move_by_tensor_core(mv) && !(L->derived ? tmem_paired(L, p) : written_tmem(L, p->st))) return false;
    if (!tmem_plan(L, p->st, p->tm)) return false;
    p->mi = mv->kind == MOVE_SHIFT ? p->tm->tensor : p->tm->shared;
    if (mv->kind == MOVE_TMEM_LD) p->dst = ring_of(L, &p->mi);
    else if (mv->kind != MOVE_SHIFT) p->src = ring_of(L, &p->mi);
    return true;
}

/* When the number of threads is known. */
static void finish_threads(Lower *L, Planned *p)
{
    const Sched *s = L->sched;
    Workers by = {.threads = s->warps[AG_WORK] * 32, .batch = 1};
    const Pipe *across = planned_across(p);
    if (across && across->whole) {
        by.batch = across->batch;
        by.pitch_from = batch_pitch(L, across, p->mi.tile);
        by.pitch_to = batch_pitch(L, across, p->other->tile);
    }
    if (p->copies.g) {
        plan_global_work(L, &p->mi, p->copies.g, by.threads, &p->plan);
    } else if (p->tm) {
        tmem_threads(L, p->tm, by.threads, &p->plan);
    } else {
        p->zeros = plan_zeros(L, p->st, p->other, by);
        if (p->zeros == 0) plan_work(L, p->st, &p->mi, p->other, by, &p->plan);
    }
}

void plan_threads_all(Lower *L)
{
    FOR_MOVES(L->sched, p)
        if (planned_by_threads(p)) finish_threads(L, p);
}

/* ---- order in global memory ---- */

static const Planned *move_of(const Lower *L, uint32_t access)
{
    return L->sched->moves.v[L->accesses->all.v[access]->planned];
}

/* The move by which the working role has waited for each load's tile: its first use of it; where it loads itself, in front of stores
 * that may meet it (kept.c). What goes to other CTAs alone it never waits for. */
static void first_uses(Lower *L)
{
    const Sched *s = L->sched;
    uint32_t *next = arena_array(L->a, uint32_t, s->nrings);
    for (uint32_t i = 0; i < s->nrings; i++) next[i] = UINT32_MAX;
    for (uint32_t i = s->moves.n; i-- > 0;) {
        const Planned *p = s->moves.v[i];
        if (p->agent == AG_WORK && p->src) next[p->src - s->rings] = i;
        if (p->st->move->kind == MOVE_LOAD)
            L->accesses->all.v[p->access]->taken = p->agent == AG_WORK ? i : remote_returns(L, p) ? next[p->dst - s->rings] : UINT32_MAX;
        if (p->agent == AG_WORK && p->dst) next[p->dst - s->rings] = i; /* threads change what a copy brought */
    }
}

/* May the working role wait for the load's tile at the store? */
static bool takes(const Lower *L, const Planned *load, const Planned *store)
{
    return remote_returns(L, load) && rings_takes(load->dst, store);
}

static bool crossing(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    const TensorAccess *load = a->write ? b : a, *store = a->write ? a : b;
    return accesses_cross(L, a, b, load_waited_for(load, store));
}

static bool add_crossing(Lower *L, void *to, uint32_t a, uint32_t b)
{
    const TensorAccess *x = L->accesses->all.v[a], *y = L->accesses->all.v[b], *load = x->write ? y : x, *store = x->write ? x : y;
    const Planned *p = move_of(L, x->write ? b : a), *q = move_of(L, x->write ? a : b), **crossed = to;
    bool behind = store->planned > load->planned;
    bool taken = behind && (load_waited_for(load, store) || takes(L, p, q));
    if (taken && p->depth == 0 && q->depth == 0) return true; /* neither comes again */
    const Planned **first = &crossed[x->write ? b : a];
    bool sooner = *first == NULL || store->planned < L->accesses->all.v[(*first)->access]->planned;
    if (sooner && accesses_cross(L, x, y, taken) && !accesses_refused(L, x, y)) *first = q;
    return true;
}

/* What a load by a role of its own brings may be what the team stores, or is to store: that role does not know when, so its tile is kept. One by
 * the working role comes behind the completion of all stores that it may meet. */
void plan_crossing(Lower *L)
{
    const Planned **by = arena_array(L->a, const Planned *, L->accesses->all.n); /* by access, of a load: the first store that crosses it */
    first_uses(L);
    accesses_meeting(L, &(AccessSearch){.pairs = PAIRS_MIXED, .meet = crossing, .found = add_crossing, .to = by});
    FOR_MOVES(L->sched, p) {
        if (p->st->move->kind != MOVE_LOAD) continue;
        if (p->agent == AG_WORK) L->accesses->all.v[p->access]->behind = p->ordered = by[p->access] != NULL;
        else if (by[p->access]) rings_keep_load(L, p, by[p->access]);
    }
}

static bool wait_for_it(Lower *L, void *to, uint32_t a, uint32_t b)
{
    bool *waits = to;
    waits[b] = true;
    waits[a] |= a == b || move_of(L, a)->depth > 0 ||
                move_of(L, b)->depth > 0; /* else the earlier one never comes again */
    return true;
}

/* Bulk groups complete in any order: a store that may write what an earlier one writes comes behind its completion. */
void plan_order(Lower *L)
{
    bool *waits = arena_array(L->a, bool, L->accesses->all.n);
    accesses_meeting(L, &(AccessSearch){.pairs = PAIRS_STORES, .meet = stores_meet, .found = wait_for_it, .to = waits, .settled = waits});
    FOR_MOVES(L->sched, p)
        if (p->st->move->kind == MOVE_STORE) p->ordered = waits[p->access];
}

static bool overtaken(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    const TensorAccess *load = a->write ? b : a, *store = a->write ? a : b;
    return !load_waited_for(load, store) && store_overtakes(L, load, store);
}

/* By ring: the first store that overtakes a load. */
static bool add_overtaking(Lower *L, void *to, uint32_t a, uint32_t b)
{
    const Planned **first = to, *p = move_of(L, a), *q = move_of(L, b);
    if (L->accesses->all.v[a]->write || p->agent != AG_LOAD || !takes(L, p, q)) return true;
    first += p->dst - L->sched->rings;
    if (*first == NULL || q->st->id < (*first)->st->id) *first = q;
    return true;
}

/* What a role of its own loads and the team then stores to has been waited for. */
void plan_overtaking(Lower *L)
{
    const Sched *s = L->sched;
    const Planned **first = arena_array(L->a, const Planned *, s->nrings);
    first_uses(L);
    accesses_meeting(L, &(AccessSearch){.pairs = PAIRS_MIXED, .meet = overtaken, .found = add_overtaking, .to = first});
    FOR_RINGS(s, r) {
        const Planned *q = first[r - s->rings];
        if (q == NULL) continue;
        rings_take(r, q);
        for (uint32_t i = 0; i < r->moves.n; i++) {
            const Planned *p = r->moves.v[i];
            if (p->dst == r && p->agent == AG_LOAD && remote_returns(L, p)) L->accesses->all.v[p->access]->taken = q->st->id;
        }
    }
}

static Planned *plan_new(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    Planned *p = arena_new(L->a, Planned);
    *p = (Planned){.st = st,
                   .agent = AG_NONE,
                   .chain = s->chain,
                   .depth = s->depth,
                   .role = s->source,
                   .around = L->sync->around,
                   .naround = L->sync->naround};
    vec_push(L->a, &s->moves, p);
    if (!L->derived) sync_note(L, st);
    return p;
}

static bool plan_kind(Lower *L, Planned *p)
{
    const PStmt *st = p->st;
    switch (st->move->kind) {
    case MOVE_LOAD:
    case MOVE_STORE:
    case MOVE_PREFETCH: return plan_copy(L, p);
    case MOVE_SHARED:
    case MOVE_FILL:
    case MOVE_PEER: return st->move->dst.peer ? plan_peer(L, p) : plan_threads(L, p);
    case MOVE_TMEM_CP:
    case MOVE_TMEM_LD:
    case MOVE_TMEM_ST:
    case MOVE_SHIFT: return plan_tmem(L, p);
    }
    return false;
}

void plan_move(Lower *L, const PStmt *st)
{
    Planned *p = plan_new(L, st);
    if (plan_kind(L, p) && !L->derived && planned_by_threads(p)) finish_threads(L, p); /* a role of the source says how many they are */
}
