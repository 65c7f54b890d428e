/* Moves to other CTAs in derived schedules: which CTAs take part, worked out for each rank, and the bytes that each gets.
 *
 * A condition that the rank decides says who takes part. In each turn of such a tile's ring the loading role of every CTA
 * waits until the tiles that it fills and its own are free, announces the bytes that all together bring to its own, and
 * issues its copies. So does the sending role where copies between CTAs are not one to one.
 *
 * A reduction into another CTA's tile comes when that is loaded: there the sending role says so (`ready`), and announces
 * what will be added (`sum`), which those who use the tile wait for.
 */
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

static bool under_other_conditions(const Sync *s)
{
    for (uint32_t i = 0; i < s->naround; i++)
        if (!s->around[i].followed) return true;
    return false;
}

/* ---- several CTAs write one tile ---- */

static bool far_apart(Lower *L, const Sx *x, int r, const Sx *y, int q, int64_t before, int64_t behind)
{
    int64_t k;
    Poly other = scalar_at_rank(L, y, q);
    return poly_apart(L->d, scalar_at_rank(L, x, r), other, &k) && (k >= before || k <= -behind);
}

static int64_t length(const PDim *d)
{
    return (d->extent - 1) * d->step + 1;
}

/* Of the CTAs r and q into one tile. */
static bool parts_apart(Lower *L, const PRegion *a, int r, const PRegion *b, int q)
{
    bool apart = a->slot && b->slot && far_apart(L, a->slot, r, b->slot, q, 1, 1);
    for (int d = 0; d < a->rank && !apart; d++) apart = far_apart(L, a->dim[d].start, r, b->dim[d].start, q, length(&b->dim[d]), length(&a->dim[d]));
    return apart;
}

/* May what the CTA of rank r writes by the one move be what that of rank q writes by the other? The CTAs where it may; 0: none. */
static uint32_t meet_in(Lower *L, const Planned *a, int r, const Planned *b, int q)
{
    uint32_t both = peers_filled(L, &a->mi, r) & peers_filled(L, &b->mi, q);
    return both && parts_apart(L, &a->st->move->dst, r, &b->st->move->dst, q) ? 0 : both;
}

bool remote_apart(Lower *L, const Planned *a, const Planned *b)
{
    bool apart = true;
    for (int i = 0; i < L->cluster_size * L->cluster_size && apart; i++) apart = !meet_in(L, a, i / (int)L->cluster_size, b, i % (int)L->cluster_size);
    return apart;
}

bool remote_returns(const Lower *L, const Planned *p)
{
    bool own = true;
    for (int r = 0; r < L->cluster_size && own; r++) own = peers_filled(L, &p->mi, r) == 0 || peers_filled(L, &p->mi, r) >> r & 1;
    return own;
}

/* Nothing orders what several CTAs write to one: each has a part of its own. */
static bool places_apart(Lower *L, const Planned *p)
{
    bool several = false;
    const Peers *peers = move_peers(&p->mi);
    for (int t = 0; t < L->cluster_size; t++) several |= peers->from[t] > 1;
    for (int r = 0; r < L->cluster_size && several && p->st->move->reduce < 0; r++) {
        for (int q = 0; q < r; q++) {
            uint32_t there = meet_in(L, p, r, p, q);
            if (there == 0) continue;
            return cannot(L, NULL, E0628, p->st->move->dst.span, (Span){0, 0}, NULL,
                          p->st->move->cast == CAST_MASK ? "give each its own part of the tile, or let one CTA send to both"
                                                         : "give each its own part or tile of an array, or `reduce`",
                          "ranks %d and %d may both write this place of rank %d", q, r, __builtin_ctz(there));
        }
    }
    return true;
}

/* A reduction by which the order of several counts comes from one CTA alone. */
static bool counts_alone(Lower *L, const Planned *p)
{
    int reduce = p->st->move->reduce;
    if (reduce < 0 || reduction_commutes(reduce_word(reduce))) return true;
    for (int t = 0; t < L->cluster_size; t++) {
        int from = move_peers(&p->mi)->from[t];
        if (from < 2) continue;
        return cannot(L, NULL, E0613, p->st->span, (Span){0, 0}, NULL, "let one CTA at a time do it, by an `if` for each",
                      "%d CTAs `%s` in the tile of the CTA of rank %d, and nothing says in which order", from, reduce_word(reduce), t);
    }
    return true;
}

/* ---- whose tile: by the index of a loop ---- */

enum { PEER_TURNS = 64 }; /* of all loops around whose trips are numbers */

/* Of the loops within that depth. *open: one of the others may have no turn. */
static PeerTurns peer_turns(Lower *L, const Planned *p, uint32_t depth, bool *open)
{
    PeerTurns t = {0};
    int64_t all = 1;
    for (uint32_t i = depth + 1; i <= p->depth; i++) {
        const Pipe *pipe = p->chain[i].pipe;
        int indices = pipe == NULL ? p->chain[i].loop->kind == P_FOR : pipe->across ? 0 : pipe->st->pipe->n;
        for (int k = 0; k < indices; k++) {
            const PStmt *st = pipe ? &pipe->index[k] : p->chain[i].loop;
            int64_t lo, hi;
            bool known = poly_is_const(scalar_poly(L, st->lo), &lo) && poly_is_const(scalar_poly(L, st->value), &hi) && lo < hi;
            *open |= !known;
            if (!known || all > PEER_TURNS) continue;
            all = t.n == 8 || hi - lo > PEER_TURNS ? PEER_TURNS + 1 : all * (hi - lo);
            if (all > PEER_TURNS) continue;
            t.turns[t.n] = hi - lo;
            t.index[t.n++] = L->scalars->loops[st->id].atoms.index;
        }
    }
    if (all > PEER_TURNS) t.n = 0;
    return t;
}

bool remote_always(Lower *L, const Planned *p, uint32_t depth)
{
    bool open = false;
    peer_turns(L, p, depth, &open);
    return !open;
}

static bool next_turn(PeerTurns *t)
{
    for (int i = t->n; i-- > 0;) {
        if (++t->at[i] < t->turns[i]) return true;
        t->at[i] = 0;
    }
    return false;
}

/* In each turn each CTA is filled as often: then the bytes that it waits for are the same. False after an error. */
static bool find_peers(Lower *L, const Planned *p, Peers *peers)
{
    const PRegion *dst = &p->st->move->dst;
    bool begun = false, open = false;
    PeerTurns t = peer_turns(L, p, 0, &open);
    do {
        int target[RANKS_MAX];
        uint8_t from[RANKS_MAX] = {0};
        if (!cluster_named_in(L, dst->peer, dst->span, true, &t, target)) return false;
        for (int r = 0; r < L->cluster_size; r++) {
            if (target[r] < 0) continue;
            peers->by_turn |= begun && !(peers->to[r] >> target[r] & 1);
            peers->to[r] |= (uint16_t)(1u << target[r]);
            from[target[r]]++;
        }
        if (begun && memcmp(peers->from, from, sizeof from) != 0)
            return cannot(L, NULL, E0742, dst->span, (Span){0, 0}, NULL,
                          "instead of the loop a statement for each of them: `peer(t, 1)`, `peer(t, 2)`; or let each CTA send in each turn: `(cluster.rank + d) % cluster.size`",
                          "which CTAs are sent to differs from turn to turn of the loop, and each waits for as many bytes in every turn");
        memcpy(peers->from, from, sizeof from);
        begun = true;
    } while (next_turn(&t));
    return true;
}

bool remote_plan(Lower *L, Planned *p)
{
    Peers *peers = peers_new(L, &p->mi);
    L->remote = true;
    peers->open = under_other_conditions(L->sync);
    if (p->st->move->cast == CAST_MASK) return mask_plan(L, &p->mi) && places_apart(L, p);
    return find_peers(L, p, peers) && counts_alone(L, p) && places_apart(L, p);
}

int64_t remote_most(const Lower *L, const Planned *p)
{
    uint8_t most = 0;
    for (int r = 0; r < L->cluster_size; r++)
        if (move_peers(&p->mi)->from[r] > most) most = move_peers(&p->mi)->from[r];
    return p->bytes * most;
}

Opnd remote_bytes(Lower *L, const Planned *p)
{
    return emit_sel(L, IR_I32, L->sched->open, mask_bytes(L, &p->mi, planned_bytes(L, p)), opnd_imm(0));
}

Opnd remote_values(Lower *L, const Planned *p, CopyValues *v)
{
    const PMove *mv = p->st->move;
    Opnd brings = opnd_imm(1);
    if (move_peers(&p->mi)->in_pair) v->bar_rank = mv->barrier_peer ? value_low(L, mv->barrier_peer) : emit_sreg(L, IRR_CLUSTER_CTARANK);
    if (mv->dst.peer) {
        v->peer = value_low(L, mv->dst.peer);
    } else if (mv->cast == CAST_MASK && L->cluster_size > 1) {
        v->mask = mask_value(L, &p->mi);
        if (move_peers(&p->mi)->open_mask) brings = emit_cmp(L, IRL_NE, v->mask, opnd_imm(0));
    } else if (mv->cast != CAST_NONE && cluster_size_of(L, mv->cast) > 1) {
        brings = multicast_values(L, &p->mi, v);
    }
    return brings;
}

/* ---- rings ---- */

/* Each CTA fills one other's tile, all moves the same one's: who is filled tells nobody else that its slot is free. */
static bool one_to_one(const Lower *L, const Planned *p, const Planned *first)
{
    bool same = true;
    const Peers *x = move_peers(&p->mi), *y = move_peers(&first->mi);
    for (int r = 0; r < L->cluster_size; r++) same = same && x->to[r] && x->from[r] == 1 && x->to[r] == y->to[r];
    return same;
}

static void fills(Lower *L, Ring *r, const Planned *p)
{
    for (int s = 0; s < L->cluster_size; s++) r->reach[s] |= (uint16_t)(peers_filled(L, &p->mi, s) | 1u << s);
}

/* What the working role alone puts into it. The tile is given free to all that may fill it, and to itself. */
static void kept_ring(Lower *L, Ring *r)
{
    for (uint32_t i = 0; i < r->moves.n; i++) {
        Planned *p = r->moves.v[i];
        PCast cast = p->st->move->cast;
        bool others = p->by_rank || (cast != CAST_NONE && cluster_size_of(L, cast) > 1);
        if (p->dst != r || planned_by_threads(p)) continue;
        r->across |= others;
        fills(L, r, p);
    }
    for (int a = 0; a < L->cluster_size; a++) /* who tells another one that its tile is free hears of that one's last turn */
        for (int b = 0; b < L->cluster_size; b++)
            if (r->reach[a] >> b & 1) r->reach[b] |= (uint16_t)(1u << a);
}

void remote_ring(Lower *L, Ring *r)
{
    if (r->kept) {
        kept_ring(L, r);
        return;
    }
    for (uint32_t i = 0; i < r->moves.n; i++) {
        const Planned *p = r->moves.v[i];
        if (p->dst != r || p->agent != r->filler) continue;
        r->by_rank |= p->by_rank || (p->agent == AG_SEND && !one_to_one(L, p, r->fill));
    }
    if (!r->by_rank) return;
    r->cast = CAST_ALL;
    r->peered = false;
    r->bytes = 0;
    for (uint32_t i = 0; i < r->moves.n; i++) {
        Planned *p = r->moves.v[i];
        if (p->dst != r || p->agent != r->filler) continue;
        p->by_rank |= p->agent == AG_SEND;
        fills(L, r, p);
        r->bytes += p->by_rank ? remote_most(L, p) : planned_brings(p);
    }
}

uint32_t remote_arrivals(const Lower *L, const uint16_t *sets)
{
    int most = 0;
    for (int s = 0; s < L->cluster_size; s++)
        if (__builtin_popcount(sets[s]) > most) most = __builtin_popcount(sets[s]);
    return (uint32_t)most;
}

/* "This CTA is one of the set". */
static Opnd one_of(Lower *L, uint32_t set)
{
    if (set == (1u << L->cluster_size) - 1) return opnd_imm(1);
    Opnd bit = emit_op(L, IR_SHR, IR_I32, opnd_imm(set), emit_sreg(L, IRR_CLUSTER_CTARANK));
    return emit_cmp(L, IRL_NE, emit_op(L, IR_AND, IR_I32, bit, opnd_imm(1)), opnd_imm(0));
}

/* At the event that it is said by; BAR_NONE: a release. */
static void arrive(Lower *L, const Ring *r, uint32_t bar, Opnd rank, Opnd guard)
{
    IrOp *op = emit_when(L, bar == BAR_NONE ? IR_RELEASE : IR_BAR_ARRIVE, guard);
    if (bar == BAR_NONE) ir_ref(L->a, op, IRK_RING, IRA_RING, r->ir);
    else put_bar(L, op, bar, opnd_turn(r->ir));
    put_opnd(L, op, IRK_RANK, rank);
}

/* Each CTA s hears from those of sets[s], and from itself so much more often that all hear as many arrivals. */
static void tell(Lower *L, const Ring *r, uint32_t bar, const uint16_t *sets)
{
    int most = (int)remote_arrivals(L, sets);
    for (int s = 0; s < L->cluster_size; s++)
        if (sets[s]) arrive(L, r, bar, opnd_imm(s), one_of(L, sets[s]));
    for (int n = 0; n < most; n++) {
        uint32_t few = 0;
        for (int s = 0; s < L->cluster_size; s++)
            if (__builtin_popcount(sets[s]) + n < most) few |= 1u << s;
        if (few == 0) return;
        Opnd guard = one_of(L, few);
        arrive(L, r, bar, emit_sreg(L, IRR_CLUSTER_CTARANK), guard);
    }
}

void remote_release(Lower *L, const Ring *r)
{
    tell(L, r, BAR_NONE, r->reach);
}

/* ---- sums ---- */

/* What a turn's reductions bring to this CTA. */
static Opnd sum_bytes(Lower *L, const Ring *r)
{
    Opnd all = opnd_imm(0);
    FOR_MOVES(L->sched, p)
        if (p->agent == AG_SEND && p->dst == r) all = emit_op(L, IR_ADD, IR_I32, all, remote_bytes(L, p));
    return all;
}

void remote_ready(Lower *L, const Ring *r)
{
    Opnd bytes = sum_bytes(L, r);
    ring_announce(L, IR_BAR_ARRIVE_EXPECT, r->sum, ring_slot(r), bytes);
    tell(L, r, r->ready, r->adds_to);
    ring_await(L, r, r->ready, true);
}

/* ---- kept tiles ---- */

void remote_done(Lower *L, const Ring *r)
{
    tell(L, r, r->done, r->reach);
    ring_await(L, r, r->done, true);
}
