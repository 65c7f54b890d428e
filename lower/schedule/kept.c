/* Tiles that the working role keeps for itself: no ring lets copies into them overlap with other work. The tile has one slot;
 * each copy into it begins a generation that keeps what is there, and is awaited at once. Threads change it in between.
 *
 * Where other CTAs fill it, all of them come to a copy together: each says of its own tile that it is free (release), hears it
 * of those that it fills (acquire), copies, waits for what comes to itself, and tells those who sent it (done).
 */
#include "lower/schedule/schedule.h"

static Ring *kept(Lower *L, uint32_t ring)
{
    return &L->sched->rings[ring];
}

/* Nobody of this CTA is at the tile. */
static void settle(Lower *L, uint32_t ring)
{
    if (kept(L, ring)->reading) agent_wait_readers(L);
    if (tmem_reads(L, ring)) tmem_settle(L);
    agent_store_sync(L);
}

void kept_open(Lower *L, uint32_t ring)
{
    Ring *r = kept(L, ring);
    if (r->opened) { /* what is copied may be of threads */
        r->opened = false;
        agent_store_sync(L);
        return;
    }
    settle(L, ring);
    ring_release(L, ring);
    ring_advance(L, ring);
    ring_acquire(L, ring);
}

void kept_await(Lower *L, uint32_t ring)
{
    Ring *r = kept(L, ring);
    ring_await(L, ring, r->full, r->across);
    if (r->generic) ir_ref(L->a, emit_new(L, IR_FENCE_ASYNC), IRK_SPACE, IRA_WORD, IRS_CLUSTER);
    if (r->across) remote_done(L, ring);
}

static bool copies_into(const PStmt *st, const Ring *r)
{
    return st->kind == P_MOVE && !move_by_threads(st->move) && st->move->dst.tile == r->tile;
}

/* What comes first may be no copy: then the generation is one of nothing. */
void kept_begin(Lower *L, uint32_t ring)
{
    Ring *r = kept(L, ring);
    ring_acquire(L, ring);
    r->opened = r->filled_by_copies && copies_into(L->stmt, r);
    if (r->opened || !r->filled_by_copies) return;
    agent_store_sync(L);
    ring_arrive_full(L, ring);
    kept_await(L, ring);
}
