/* What comes behind stores of the same role. A store without a commit is waited for by whatever may meet it; one that is committed to a group by
 * a `wait group` of the program: between the two there has to be one. (That a load comes behind it in one turn the verifier sees.) */
#include "lower/apart/apart.h"
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* Bulk groups complete in any order. */
static bool stores_meet_when(Lower *L, const TensorAccess *a, const TensorAccess *b, Apart when)
{
    return !a->waived && !b->waived && !accesses_commute(a, b) && !accesses_apart(L, a, b, when, NULL);
}

/* In different turns. The verifier follows no turns: what is read must be complete, unless it lies in another view. */
static bool meet_in_turns(Lower *L, const TensorAccess *store, const TensorAccess *then)
{
    if (then->write) return stores_meet_when(L, store, then, APART_TURNS);
    if (store->info->tensor->run_time || then->info->tensor->run_time) return true;
    TensorAccess a = *store, b = *then;
    memset(&a.axes, 0, sizeof a.axes);
    memset(&b.axes, 0, sizeof b.axes);
    MoveInfo of[2] = {{.tensor = store->info->tensor}, {.tensor = then->info->tensor}};
    a.info = &of[0];
    b.info = &of[1];
    axes_of(L, &a);
    axes_of(L, &b);
    return !accesses_apart(L, &a, &b, APART_TURNS, NULL);
}

/* The first wait behind so many moves. */
static uint32_t waits_from(const Sync *s, uint32_t moves)
{
    uint32_t first = 0, end = s->waits.n;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (s->waits.v[middle].at < moves) first = middle + 1;
        else end = middle;
    }
    return first;
}

/* Within the n-th loop around the move, that included. */
static bool within(const Planned *p, uint32_t n, const PBlock *b)
{
    while (n <= p->depth && p->chain[n].block != b) n++;
    return n <= p->depth;
}

/* A wait after the store in each turn of a loop around it, or in front of the other one; within the n-th loop, which is around
 * both. from: the first move in the outermost one. */
static bool waited_for(const Sync *s, const Planned *store, uint32_t at_store, const Planned *then, uint32_t at_then,
                       uint32_t n, uint32_t from)
{
    for (uint32_t i = waits_from(s, from); i < s->waits.n; i++) {
        const GroupWait *w = &s->waits.v[i];
        if (w->at > at_store && w->newer == 0 && within(store, n, w->block)) return true;
        if (w->at <= at_then && w->newer <= w->turn && within(then, n, w->block)) return true;
    }
    return false;
}

static void unwaited(Lower *L, const Planned *p, const Planned *store)
{
    L->stmt = p->st;
    cannot(L, NULL, E0711, p->st->span, store->st->span, "may still be on its way", "write `wait group;` before it",
           "this move %s the same elements of `%s` as one that nobody waited for", p->mi.load ? "reads" : "writes", name_text(L, p->mi.tensor->name));
    L->stmt = NULL;
}

static bool is_committed(const Planned *store)
{
    return store->st->move->commit == COMMIT_GROUP || store->st->move->in_group;
}

/* False: nothing else is said of p. */
static bool behind(Lower *L, Planned *p, const Planned *store, uint32_t from)
{
    const TensorAccess *a = L->accesses->all.v[store->access], *b = L->accesses->all.v[p->access];
    bool written = is_committed(store), first = a->planned < b->planned;
    uint32_t n = loops_around(a, b);
    if (a->role != b->role || base_of(a->info->tensor) != base_of(b->info->tensor)) return true;
    if (!written) {
        bool here = first && !((a->waived || b->waived) && b->write) && !accesses_apart(L, a, b, APART_HERE, NULL);
        p->ordered = p->ordered || here || (n > 0 && meet_in_turns(L, a, b));
        return true;
    }
    if (n == 0 || !meet_in_turns(L, a, b) || waited_for(L->sync, store, a->planned, p, b->planned, n, from)) return true;
    unwaited(L, p, store);
    return false;
}

static bool of_tensor(const Planned *p)
{
    return (p->st->move->kind == MOVE_LOAD || p->st->move->kind == MOVE_STORE) && p->agent != AG_NONE;
}

static bool is_store(const Planned *p)
{
    return p->st->move->kind == MOVE_STORE && of_tensor(p);
}

static bool in_one_loop(const Planned *p, const Planned *q)
{
    return p->depth && q->depth && p->chain[1].block == q->chain[1].block;
}

/* ---- in one turn ---- */

typedef struct OneTurn { /* by access */
    Planned **move, **before; /* before: the first store that nobody waited for in front of this one */
} OneTurn;

static bool meet_in_one_turn(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    return a->write && b->write && base_of(a->info->tensor) == base_of(b->info->tensor) && stores_meet_when(L, a, b, APART_HERE);
}

/* In the loops around either. A wait for groups is passed whatever the conditions around it. */
static bool waited_between(const Sync *s, const Planned *store, uint32_t at_store, const Planned *then, uint32_t at_then)
{
    for (uint32_t i = waits_from(s, at_store + 1); i < s->waits.n && s->waits.v[i].at <= at_then; i++) {
        const GroupWait *w = &s->waits.v[i];
        if (w->newer == 0 && (within(store, 0, w->block) || within(then, 0, w->block))) return true;
    }
    return false;
}

static bool add_before(Lower *L, void *to, uint32_t x, uint32_t y)
{
    OneTurn *t = to;
    bool swap = L->accesses->all.v[x]->planned > L->accesses->all.v[y]->planned;
    const TensorAccess *a = L->accesses->all.v[swap ? y : x], *b = L->accesses->all.v[swap ? x : y];
    Planned *store = t->move[swap ? y : x], *p = t->move[swap ? x : y], **before = &t->before[swap ? x : y];
    if (!store || !p || store == p || !is_committed(store) || a->role != b->role || planned_parted(store, p)) return true;
    bool sooner = !*before || a->planned < L->accesses->all.v[(*before)->access]->planned;
    if (sooner && !waited_between(L->sync, store, a->planned, p, b->planned)) *before = store;
    return true;
}

static OneTurn one_turn(Lower *L)
{
    uint32_t n = L->accesses->all.n;
    OneTurn t = {.move = arena_array(L->a, Planned *, n), .before = arena_array(L->a, Planned *, n)};
    for (uint32_t i = 0; i < L->sched->moves.n; i++)
        if (is_store(L->sched->moves.v[i])) t.move[L->sched->moves.v[i]->access] = L->sched->moves.v[i];
    accesses_meeting(L, &(AccessSearch){.pairs = PAIRS_STORES, .meet = meet_in_one_turn, .found = add_before, .to = &t});
    return t;
}

/* What stands behind comes before it in loops alone; of stores that are committed only those of the same loops count. */
void written_order(Lower *L)
{
    const Sched *s = L->sched;
    OneTurn turn = one_turn(L);
    VEC(uint32_t) uncommitted = {0};
    for (uint32_t i = 0; i < s->moves.n; i++)
        if (is_store(s->moves.v[i]) && !is_committed(s->moves.v[i])) vec_push(L->a, &uncommitted, i);
    for (uint32_t i = 0, from = 0; i < s->moves.n; i++) {
        Planned *p = s->moves.v[i];
        bool more = of_tensor(p);
        if (more && p->access < L->accesses->all.n && turn.before[p->access]) {
            unwaited(L, p, turn.before[p->access]);
            more = false;
        }
        uint32_t end = p->depth ? s->moves.n : i;
        if (i && !in_one_loop(p, s->moves.v[i - 1])) from = i;
        for (uint32_t j = 0; j < uncommitted.n && more && uncommitted.v[j] < end && !p->ordered; j++)
            more = behind(L, p, s->moves.v[uncommitted.v[j]], 0);
        for (uint32_t j = from; j < end && more && in_one_loop(p, s->moves.v[j]); j++)
            if (is_store(s->moves.v[j]) && is_committed(s->moves.v[j])) more = behind(L, p, s->moves.v[j], from);
    }
}
