/* P0005: how much of the loads is on its way, where that is too little for the bandwidth of global memory; and what holds it back.
 *
 * Bytes of an iteration's loads times the iterations that they run ahead, times the CTAs of an SM. Where a tile has one slot, its load
 * waits until the iteration before is done with it: half the time nothing is on its way. */
#include "lower/schedule/schedule.h"

/* An SM of the H200. */
enum {
    SM_THREADS = 2048,
    SM_CTAS = 32,
    AHEAD_MOST = 8
};

/* By a role of its own; or by the one thread that does all. */
static bool loaded(const Sched *s, const Ring *r)
{
    return r->tile && r->turn && r->looped && (s->alone ? r->filled_by_copies : !r->kept && r->filler == AG_LOAD);
}

static int64_t turn_of(const Ring *r)
{
    return r->bytes * (r->pipe ? r->pipe->batch : 1);
}

static bool launched(const Sched *s)
{
    bool all = true;
    for (uint32_t i = 0; i < s->pipes.n; i++) all &= !s->pipes.v[i]->across || s->pipes.v[i]->deal == DEAL_LAUNCH;
    return all;
}

/* As a launch has them that is not dealt, or deals a team to each iteration. */
static int64_t ctas_of(Lower *L)
{
    Sched *s = L->sched;
    int64_t threads = 0, most = SM_CTAS, room = L->c->target->smem_per_cta + SM_RESERVED;
    if (has_across(L->k) && !launched(s)) return s->per_sm;
    for (int a = 0; a < AG_COUNT; a++) threads += s->used[a] ? (int64_t)s->warps[a] * 32 : 0;
    if (threads < L->k->threads) threads = L->k->threads;
    if (threads > 0 && SM_THREADS / threads < most) most = SM_THREADS / threads;
    int64_t by_memory = room / (rings_smem(L) + SM_RESERVED);
    if (by_memory < most) most = by_memory;
    return most > 0 ? most : 1;
}

typedef struct Flight { /* of a block and those within it */
    int64_t bytes; /* of a CTA: on their way at most; .. */
    int64_t turn;  /* .. of one iteration */
    bool several;  /* slots */
    bool inner;    /* a loop within has loads of its own, or copies that are waited for where their tile is used */
    const Ring *most;
} Flight;

static void add(const Sched *s, Flight *f, const PBlock *b, const Ring *r)
{
    f->inner |= (r->turn != b && loaded(s, r)) || (r->kept && r->filled_by_copies && !s->alone);
    if (!loaded(s, r)) return;
    f->bytes += turn_of(r) * r->lead;
    f->turn += turn_of(r);
    f->several |= r->slots > 1;
    if (f->most == NULL || turn_of(r) > turn_of(f->most)) f->most = r;
}

/* By the first ring of a turn. */
static Flight *flights(Lower *L)
{
    const Sched *s = L->sched;
    Flight *all = arena_array(L->a, Flight, s->nrings);
    FOR_RINGS(s, r) {
        for (const Link *at = r->turn && r->tile ? r->moves.v[0]->chain : NULL; at; at = at->block == r->turn ? NULL : at + 1) {
            const Ring *first = rings_at(L, at->block, AG_NONE);
            if (first) add(s, &all[first - s->rings], at->block, r);
        }
    }
    return all;
}

/* Could the `for` be dealt with the pipeline that it is all of? */
static bool deals(Lower *L, const Ring *r, const PStmt *loop)
{
    const Pipe *across = planned_across(r->fill);
    bool all = across && loop->kind == P_FOR && across->st->body.first == loop && loop->next == NULL &&
               across->st->pipe->n < PIPE_INDICES;
    return all && ((scalar_uses(L, loop->lo) | scalar_uses(L, loop->value)) & (USE_LOAD | USE_INDEX | USE_VAR)) == 0;
}

static void tell(Lower *L, const PStmt *loop, const Flight *f, int64_t ctas)
{
    const Ring *r = f->most;
    int64_t stages = r->pipe ? r->pipe->st->pipe->stages : 0;
    bool sequential = loop && loop->kind == P_FOR, pinned = stages && stages < AHEAD_MOST;
    int64_t chosen = pinned && ctas > 2 ? 2 : ctas; /* more of them make up for few stages: rings.c */
    int64_t ahead = (sequential || pinned || r->lead > AHEAD_MOST ? AHEAD_MOST : r->lead) * chosen,
            least = (FLIGHT_BYTES / 2 + ahead - 1) / ahead, all = (FLIGHT_BYTES + ahead - 1) / ahead;
    bool small = f->turn < least;
    if (loop == NULL || !(sequential || pinned || small)) return; /* shared memory is full */
    Diag *g = diag_at(L->c->diags, P0005, r->fill->st->span,
                      "at most %lld bytes of loads are on their way per SM, an H200 wants %d: %lld bytes an iteration, "
                      "`%s` %lld ahead, %lld CTA%s",
                      (long long)(f->bytes * ctas), FLIGHT_BYTES, (long long)f->turn, name_text(L, r->tile->name),
                      (long long)r->lead, (long long)ctas, ctas == 1 ? "" : "s");
    diag_label(L->c->diags, g, loop->span, "%s",
               sequential ? "iterations of a `for` do not overlap"
               : pinned   ? "`stages` says how many iterations overlap"
                          : "the loop");
    if (deals(L, r, loop)) {
        diag_fix(L->c->diags, g, "make `%s` an index of the pipeline across the grid, too", name_text(L, loop->name));
        return;
    }
    const char *larger = small ? arena_printf(L->a, "load more in an iteration: %lld bytes for half of that, %lld for all",
                                              (long long)least, (long long)all)
                               : NULL;
    const char *first = sequential ? "make the loop a `pipeline`" : pinned ? "leave `stages` out" : NULL;
    if (first && larger) diag_fix(L->c->diags, g, "%s, and %s", first, larger);
    else diag_fix(L->c->diags, g, "%s", first ? first : larger);
}

void flight_tell(Lower *L)
{
    const Sched *s = L->sched;
    const Flight *all = flights(L);
    int64_t ctas = ctas_of(L);
    FOR_RINGS(s, r) {
        if (!loaded(s, r) || (r->pipe && r->pipe->deal == DEAL_LAUNCH)) continue;
        const Ring *first = rings_at(L, r->turn, AG_NONE);
        const Flight *f = &all[first - s->rings];
        while (!loaded(s, first)) first = first->beside[AG_NONE];
        if (first != r || f->inner || f->bytes * ctas / (f->several ? 1 : 2) >= FLIGHT_BYTES / 2) continue;
        tell(L, r->loop, f, ctas);
    }
}
