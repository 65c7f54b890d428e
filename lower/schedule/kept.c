/* Tiles that the working role keeps for itself: no ring lets copies into them overlap with other work. The tile has one slot;
 * copies into different parts of it that stand behind each other are a generation, which keeps what else is there. They are awaited
 * where the tile is used next, and at the borders of loops. Threads change it in between.
 *
 * Where other CTAs fill it, all of them come to a copy together: each says of its own tile that it is free (release), hears it
 * of those that it fills (acquire), copies, waits for what comes to itself, and tells those who sent it (done).
 */
#include "lower/apart/apart.h"
#include "lower/schedule/schedule.h"

static void await(Lower *L, const Ring *r)
{
    ring_await(L, r, r->full, r->across);
    if (r->generic) emit_fence(L, IRS_CLUSTER);
    if (r->across) remote_done(L, r);
    if (!L->derived) ring_advance(L, r); /* what the program's own barriers order is no matter of generations */
}

static bool joins(Lower *L, const Ring *r, const Planned *p)
{
    bool apart = r->arriving.n > 0;
    for (uint32_t i = 0; i < r->arriving.n && apart; i++) apart = subtiles_disjoint(L, &r->arriving.v[i]->mi, &p->mi);
    return apart;
}

void kept_open(Lower *L, const Planned *p)
{
    Ring *r = p->dst;
    bool opened = r->opened, more = !opened && joins(L, r, p);
    r->opened = false;
    if (more) L->body.ops.v[r->announced - 1].op = IR_BAR_EXPECT;
    if (!opened && !more) kept_arrive(L, r);
    if (!opened && (!more || !L->derived)) agent_free(L, r); /* nobody of this CTA is at it */
    agent_store_sync(L); /* what is copied may be of threads */
    if (!opened && !more && L->derived) {
        ring_release(L, r);
        ring_advance(L, r);
        ring_acquire(L, r);
    }
    r->announced = L->body.ops.n;
}

void kept_issued(Lower *L, const Planned *p)
{
    Ring *r = p->dst;
    if (r->across) {
        await(L, r);
        return;
    }
    if (r->arriving.n == 0) vec_push(L->a, &L->sched->arriving, r);
    vec_push(L->a, &r->arriving, p);
}

void kept_arrive(Lower *L, const Ring *r)
{
    Sched *s = L->sched;
    uint32_t left = 0;
    for (uint32_t i = 0; i < s->arriving.n; i++) {
        Ring *at = s->arriving.v[i];
        if (r && at != r) {
            s->arriving.v[left++] = at;
            continue;
        }
        await(L, at);
        at->arriving.n = 0;
    }
    s->arriving.n = left;
}

void kept_overwritten(Lower *L, const Planned *store)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->arriving.n;) {
        const Ring *r = s->arriving.v[i];
        bool read = false;
        for (uint32_t k = 0; k < r->arriving.n && !read; k++)
            read = store_overtakes(L, L->accesses->all.v[r->arriving.v[k]->access], L->accesses->all.v[store->access]);
        if (read) kept_arrive(L, r);
        else i++;
    }
}

/* What comes first may be no copy: then the generation is one of nothing. */
void kept_begin(Lower *L, Ring *r)
{
    const Planned *p = L->stmt->kind == P_MOVE ? planned_at(L->sched, L->stmt->id) : NULL;
    ring_acquire(L, r);
    r->opened = r->filled_by_copies && p && p->dst == r && !planned_by_threads(p);
    if (r->opened || !r->filled_by_copies) return;
    agent_store_sync(L);
    ring_arrive_full(L, r);
    await(L, r);
}
