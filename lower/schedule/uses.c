/* Tiles as rings: which block is a turn, who fills a slot and who uses it; and which tiles have no ring that would let copies
 * overlap with other work: those the working role keeps for itself, one slot. */
#include "lower/apart/apart.h"
#include "lower/schedule/schedule.h"

/* The move, or the loop within the turn that it stands in. NULL: it is in no turn of the ring. */
static const PStmt *stands_in(const Ring *r, const Planned *p)
{
    if (!planned_within(p, r->turn, r->depth)) return NULL;
    return p->depth > r->depth ? p->chain[r->depth + 1].loop : p->st;
}

/* The innermost block around all moves of the tile, and around the loop from turn to turn of which it carries something. */
static void find_turn(Ring *r)
{
    if (r->moves.n == 0) return;
    const Planned *first = r->moves.v[0];
    uint32_t depth = first->depth;
    for (uint32_t i = 1; i < r->moves.n; i++) {
        const Planned *p = r->moves.v[i];
        uint32_t same = 0;
        while (same < depth && same < p->depth && p->chain[same + 1].block == first->chain[same + 1].block) same++;
        depth = same;
    }
    for (uint32_t k = depth; k > 0 && r->carried; k--)
        if (first->chain[k].loop == r->carried) depth = k - 1;
    r->depth = depth;
    r->turn = first->chain[depth].block;
    r->loop = first->chain[depth].loop;
    r->pipe = first->chain[depth].pipe;
    r->looped = first->chain[depth].looped;
}

/* No ring lets the tile's copies overlap with other work: the working role keeps it for itself. */
static void keep(Ring *r, const Planned *p, const char *why, const char *fix)
{
    if (r->kept) return;
    r->kept = true;
    r->why = why;
    r->fix = fix;
    r->held_by = p->st;
    r->held_for = r->fill ? r->fill->st : NULL;
}

/* The `if` of the turn in whose different branches two moves stand, so that a turn has only one of them; NULL: there is none. */
static const PStmt *parted_by(const Ring *r, const Planned *a, const Planned *b)
{
    const Around *at = planned_parted(a, b);
    return at && at->block == r->depth ? at->branch : NULL;
}

/* The load that fills the tile in the other branch where threads fill it in the first one: the loading role fills the ring. */
static const Planned *other_branch(const Ring *r, const Planned *p)
{
    for (uint32_t i = 0; p->agent == AG_WORK && i < r->moves.n; i++) {
        const Planned *q = r->moves.v[i];
        if (q->agent == AG_LOAD && q->dst == p->dst && parted_by(r, p, q)) return q;
    }
    return p;
}

bool uses_apart(const Sched *s, const PStmt *st)
{
    for (uint32_t i = 0; i < s->apart.n; i++)
        if (s->apart.v[i] == st) return true;
    return false;
}

/* Nothing but moves and names: what each agent may go through on its own. */
static bool only_moves(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next)
        if ((s->kind != P_MOVE && s->kind != P_LET && s->kind != P_VIEW && s->kind != P_IF) || !only_moves(&s->body) || !only_moves(&s->other)) return false;
    return true;
}

/* Each agent goes through both branches before the next one does: the filler first. False: more stands in them than can be gone through
 * several times. */
static bool go_apart(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    if (uses_apart(s, st)) return true;
    if (!only_moves(&st->body) || !only_moves(&st->other)) return false;
    vec_push(L->a, &s->apart, st);
    return true;
}

/* Does every use before p stand in another branch? One that may fill the tile, too. */
static bool only_other_branches(Lower *L, const Ring *r, const Planned *p)
{
    for (uint32_t i = 0; r->moves.v[i] != p; i++) {
        if (r->moves.v[i]->agent == p->agent) continue;
        const PStmt *at = parted_by(r, r->moves.v[i], p);
        if (at == NULL || (r->nfills > 0 && !go_apart(L, at))) return false;
    }
    return true;
}

/* Is the part filled by a copy of the same turn in front of p, too? */
static bool fills_again(Lower *L, const Ring *r, const Planned *p)
{
    if (p->agent == AG_WORK) return false;
    for (uint32_t i = 0; r->moves.v[i] != p; i++) {
        const Planned *q = r->moves.v[i];
        if (q->agent != p->agent || q->dst != p->dst || parted_by(r, p, q)) continue;
        bool remote = p->agent == AG_SEND || p->by_rank || q->by_rank;
        if (remote ? !remote_apart(L, q, p) : !subtiles_disjoint(L, &q->mi, &p->mi)) return true;
    }
    return false;
}

static void add_use(Lower *L, Ring *r, const Planned *p, bool writes)
{
    const PStmt *at = stands_in(r, p);
    uint8_t bit = (uint8_t)(1u << p->agent);
    bool threads = planned_by_threads(p), copies = !threads && !move_by_tensor_core(p->st->move);
    bool stores = !writes && copies && p->agent == AG_WORK && !p->st->move->dst.peer;
    if (r->carried && writes && p->agent != AG_WORK) keep(r, p, "a turn of the loop leaves it to a later one", "use `pipeline`, in which each iteration loads what it uses");
    if (r->agents == 0) {
        r->fill = writes && !r->kept ? other_branch(r, p) : p;
        r->filler = r->fill->agent;
    }
    if (!writes && p->agent == AG_SEND && ((r->filler == AG_SEND && r->fill != p) || r->summed))
        keep(p->dst, p, "what came from another CTA is sent on in it", "none in a ring, where each waits for the one before; what all CTAs want `multicast` sends to them at once");
    if (writes && p->agent == r->filler && r->agents & (uint8_t)~bit && !only_other_branches(L, r, p))
        keep(r, p, "it is filled again where it has been read in the same iteration", "use a second tile");
    else if (writes && p->st->move->reduce < 0 && fills_again(L, r, p))
        keep(r, p, "a part of it is filled twice in an iteration", "use a second tile");
    else if (writes && p->agent != r->filler && p->agent != AG_WORK)
        keep(r, p, "it is filled by copies behind work by threads, or by copies of two kinds",
             "use a tile for each: what copies bring in one, what threads or other CTAs write in another");
    else if (writes && p->agent != AG_WORK && planned_block(p) != r->turn)
        keep(r, p, "it is filled in a loop, and used outside of it",
             "use it in the loop, make the loop a pipeline, or fill all of the tile by one move");
    if (r->kept && p->agent != AG_WORK) return;
    r->filled_by_copies |= writes && copies;
    if (!(r->agents & bit)) r->first[p->agent] = at;
    if (r->first_work == NULL && p->agent == AG_WORK) r->first_work = p;
    r->agents |= bit;
    r->thread_writes |= writes && threads;
    r->thread_reads |= !writes && !copies;
    r->stored |= stores;
    r->stored_always |= stores && p->naround == 0;
    if (writes && p->agent == r->filler) {
        r->nfills++;
        r->last_fill = p;
        r->bytes += planned_brings(p);
        r->certain |= p->naround == 0;
    }
}

bool rings_takes(const Ring *r, const Planned *p)
{
    if (r->turn == NULL || r->filler != AG_LOAD || r->unread || r->summed || !(r->agents & 1u << AG_WORK)) return false;
    /* One wait is for all loads of the turn, and the first one that there is. */
    return r->last_fill && r->last_fill->st->id < p->st->id && p->st->id <= r->first_work->st->id && stands_in(r, p);
}

void rings_take(Ring *r, const Planned *p)
{
    r->first[AG_WORK] = stands_in(r, p);
}

void rings_keep_load(Lower *L, const Planned *load, const Planned *store)
{
    Ring *r = load->dst;
    const PTensor *t = base_of(load->mi.tensor);
    if (r->kept) return;
    keep(r, store, arena_printf(L->a, "`%s` is written here, and what is loaded may be that", name_text(L, t->name)),
         "keep what is written in a tile, or write to another tensor");
    r->held_for = load->st;
}

/* What is sent and what threads write lie with two roles that nothing orders within a turn. */
static void check_sent(Lower *L, const Planned *send)
{
    const Ring *r = send->src;
    if (send->agent != AG_SEND || r == NULL) return;
    if (r->looped && !remote_always(L, send, r->depth)) /* a turn of the target shows that the source has been read */
        keep(send->dst, send, "what is sent to it is of outside of a loop that may have no turn", "load what is sent in the loop, too");
    if (!r->thread_writes) return;
    for (uint32_t i = 0; i < r->moves.n; i++) {
        const Planned *p = r->moves.v[i];
        if (p->agent != AG_WORK || p->dst != send->src) continue;
        if (r->filler != AG_WORK && subtiles_disjoint(L, p->other ? p->other : &p->mi, &send->mi)) continue;
        keep(send->dst, send, "what threads write is sent to it", NULL);
        return;
    }
}

/* Other CTAs reduce into the tile, between its load and its uses. */
static void add_sum(Lower *L, Ring *r, const Planned *p)
{
    const PStmt *at = stands_in(r, p);
    if (r->agents == 0 || r->filler != AG_LOAD) keep(r, p, "other CTAs reduce into what was not loaded", NULL);
    else if (r->agents & 1u << AG_WORK) keep(r, p, "it is used before other CTAs reduce into it in the same iteration", "use a second tile");
    else if (planned_block(p) != r->turn) keep(r, p, "it is reduced into in a loop, and used outside of it", "load and use it in the loop, too");
    else if (r->summed && (r->sum_op != p->st->move->reduce || !reduction_commutes(reduce_word(r->sum_op))))
        keep(r, p, "other CTAs reduce into it twice in an iteration, and the order of the two matters", NULL);
    if (r->kept) return;
    r->sum_op = p->st->move->reduce;
    if (!r->summed) r->first[AG_SEND] = at;
    r->last_fill = p;
    r->agents |= 1u << AG_SEND;
    r->summed = true;
    for (int s = 0; s < L->cluster_size; s++) r->adds_to[s] |= move_peers(&p->mi)->to[s];
}

static void add_multicast(Lower *L, Ring *r, const Planned *p)
{
    const PMove *mv = p->st->move;
    PCast cast = p->by_rank ? CAST_ALL
                 : mv->cast != CAST_NONE && mv->cast != CAST_MASK && cluster_size_of(L, mv->cast) > 1 ? mv->cast : CAST_NONE;
    if (p->by_rank || r->by_rank) cast = r->cast = CAST_ALL;
    r->by_rank |= p->by_rank;
    if (r->nfills > 1 && r->cast != cast)
        keep(r, p, r->cast != CAST_NONE && cast != CAST_NONE ? "it is filled by multicasts to different sets" : "it is filled by a multicast and by a load of one CTA",
             "use a second tile");
    r->cast = cast;
}

static void add_move(Lower *L, const Planned *p)
{
    Sched *s = L->sched;
    const PMove *mv = p->st->move;
    s->used[p->agent] = true;
    if (p->src) add_use(L, p->src, p, false);
    if (!p->dst) return;
    Ring *r = p->dst;
    const Peers *peers = move_peers(&p->mi);
    if (peers->by_turn) keep(r, p, "whose tile it is differs from turn to turn", NULL);
    if (peers->open) keep(r, p, "whether other CTAs fill it only the run knows", NULL);
    if (mv->reduce >= 0 && p->agent == AG_SEND) {
        r->generic |= mv->kind == MOVE_FILL;
        add_sum(L, r, p);
        return;
    }
    if (mv->reduce >= 0 && p->agent == AG_WORK) add_use(L, r, p, false);
    add_use(L, r, p, true);
    r->generic |= mv->dst.peer && mv->kind == MOVE_FILL;
    if (r->kept) return;
    if (p->agent == AG_SEND) r->peered = true;
    if (p->agent == AG_LOAD) add_multicast(L, r, p);
}

/* ---- order of branches ---- */

/* Where threads fill a tile in one branch and a load in the one behind it, the load's ops stand first: it begins the generation. */
static void order_branches(Lower *L, Ring *r)
{
    for (uint32_t i = 0; i < r->moves.n && r->filler == AG_LOAD && !r->kept; i++) {
        const Planned *p = r->moves.v[i];
        if (p->agent != AG_WORK || p->dst != r) continue;
        for (uint32_t j = i + 1; j < r->moves.n; j++) {
            const Planned *q = r->moves.v[j];
            const PStmt *at = q->agent == AG_LOAD ? parted_by(r, p, q) : NULL;
            if (at && !go_apart(L, at))
                keep(r, p, "threads fill it in the branch in front of that where a copy does, and there is more in them than moves", NULL);
        }
    }
}

/* ---- kept tiles ---- */

static uint32_t kept(const Sched *s)
{
    uint32_t n = 0;
    FOR_RINGS(s, r) n += r->kept;
    return n;
}

/* All that fills them is done by the working role; so is what sends from them, into tiles that are kept, too. */
static void agents_of_kept(Sched *s)
{
    FOR_MOVES(s, p)
        if (p->agent == AG_SEND && p->src && p->src->kept) keep(p->dst, p, "what is sent to it stands in a tile of which that is so", NULL);
    FOR_MOVES(s, p) {
        if (!p->dst || !p->dst->kept) continue;
        p->by_rank |= p->agent == AG_SEND;
        p->agent = AG_WORK;
    }
}

static void begin(Sched *s)
{
    memset(s->used, 0, sizeof s->used);
    s->apart.n = 0;
    FOR_RINGS(s, r) {
        *r = (Ring){.tile = r->tile, .turn = r->turn, .depth = r->depth, .loop = r->loop, .pipe = r->pipe, .looped = r->looped, .carried = r->carried, .moves = r->moves, .kept = r->kept, .why = r->why, .fix = r->fix, .held_by = r->held_by, .held_for = r->held_for};
    }
}

/* P0004: said once per tile, where it is found out. */
static void tell_kept(Lower *L, const Ring *r)
{
    Diag *g = diag_at(L->c->diags, P0004, r->held_by->span, "each copy into `%s` is waited for where it is used next: %s", name_text(L, r->tile->name), r->why);
    if (r->held_for && r->held_for != r->held_by) diag_label(L->c->diags, g, r->held_for->span, "filled here");
    diag_label(L->c->diags, g, r->tile->span, "the tile");
    if (r->fix) diag_fix(L->c->diags, g, "%s", r->fix);
}

/* ---- by block and statement ---- */

typedef struct PlaceKey {
    uintptr_t at, a;
} PlaceKey;

void rings_index(Lower *L)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->ring_at.n; i++) s->ring_at.v[i] = NULL;
    for (Ring *r = s->rings + s->nrings; r-- > s->rings;) {
        for (Agent a = AG_LOAD; a <= AG_NONE && r->turn; a++) {
            if (a != AG_NONE && !(r->tile && ring_uses(r, a))) continue;
            PlaceKey key = {a == AG_NONE ? (uintptr_t)r->turn : (uintptr_t)r->first[a], a};
            Name n = names_intern(s->places, (const char *)&key, sizeof key);
            if (s->ring_at.n < n) vec_push(L->a, &s->ring_at, NULL);
            r->beside[a] = s->ring_at.v[n - 1];
            s->ring_at.v[n - 1] = r;
        }
    }
}

Ring *rings_at(const Lower *L, const void *at, Agent a)
{
    PlaceKey key = {(uintptr_t)at, a};
    Name n = names_find(L->sched->places, (const char *)&key, sizeof key);
    return n ? L->sched->ring_at.v[n - 1] : NULL;
}

/* ---- the whole ---- */

/* Nobody reads it, but it must still arrive. */
static void await_unread(Sched *s, Ring *r)
{
    if (r->turn == NULL || r->kept || r->agents & (1u << AG_WORK) || (r->agents != 1u << r->filler && !r->summed)) return;
    r->unread = true;
    r->agents |= 1u << AG_WORK;
    r->first[AG_WORK] = stands_in(r, r->last_fill);
    s->used[AG_WORK] = true;
}

void rings_find(Lower *L)
{
    Sched *s = L->sched;
    uint32_t n;
    FOR_MOVES(s, p) {
        if (p->src) vec_push(L->a, &p->src->moves, p);
        if (p->dst && p->dst != p->src) vec_push(L->a, &p->dst->moves, p);
    }
    FOR_RINGS(s, r) find_turn(r);
    do { /* a tile more that is kept changes who uses others */
        n = kept(s);
        agents_of_kept(s);
        begin(s);
        FOR_MOVES(s, p) add_move(L, p);
        FOR_MOVES(s, p) check_sent(L, p);
        FOR_RINGS(s, r) order_branches(L, r);
        plan_crossing(L);
    } while (kept(s) > n);
    FOR_RINGS(s, r) {
        if (r->turn == NULL) continue;
        remote_ring(L, r);
        await_unread(s, r);
        if (r->kept && r->held_by) tell_kept(L, r);
    }
    rings_index(L);
}
