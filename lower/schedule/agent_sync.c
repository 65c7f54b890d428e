/* What an agent's threads do to see what the others of them did: synchronisation, fences, groups. */
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

static void cta_sync(Lower *L)
{
    Sched *s = L->sched;
    if (s->role == AG_WORK && s->tensor) tmem_fence(L, IRD_BEFORE);
    if (L->derived && s->warps[s->role] == 1) {
        emit_new(L, IR_WARP_SYNC);
    } else {
        IrOp *op = emit_new(L, IR_CTA_SYNC);
        ir_imm(L->a, op, IRK_ID, L->derived ? (int64_t)s->role + 1 : L->sync->id);
        ir_imm(L->a, op, IRK_THREADS, (int64_t)s->warps[s->role] * 32);
    }
    if (s->role == AG_WORK && s->tensor) tmem_fence(L, IRD_AFTER);
    s->now->dirty = s->now->waited = s->now->id_read = false;
}

/* All threads of the role have read the iteration's number: its slot may be given back. */
void agent_id_sync(Lower *L)
{
    Sched *s = L->sched;
    if (!s->now->id_read || s->shape[s->role] == SHAPE_ELECT) return;
    if (s->shape[s->role] == SHAPE_THREADS) cta_sync(L);
    else emit_new(L, IR_WARP_SYNC);
    s->now->id_read = false;
}

void agent_fence(Lower *L)
{
    Sched *s = L->sched;
    if (s->now->unfenced) emit_fence(L, IRS_SHARED);
    if (s->now->stored) emit_fence(L, IRS_GLOBAL);
    s->now->unfenced = s->now->stored = false;
}

/* The elected thread's ops come behind what all threads did (PTX ISA, async proxy: writers fence, then synchronise). */
void agent_store_sync(Lower *L)
{
    Sched *s = L->sched;
    if (s->shape[s->role] == SHAPE_LANES && s->now->dirty) {
        emit_new(L, IR_WARP_SYNC);
        s->now->dirty = s->now->id_read = false;
    }
    if (s->shape[s->role] != SHAPE_THREADS || !s->now->dirty) return;
    agent_fence(L);
    cta_sync(L);
}

void agent_arrive_sync(Lower *L)
{
    L->sched->now->dirty |= L->sched->now->waited;
    agent_store_sync(L);
}

void agent_commit(Lower *L)
{
    Sched *s = L->sched;
    if (s->now->pending) {
        emit_new(L, IR_GRP_COMMIT);
        s->now->groups++;
        s->now->unread = s->now->unwritten = s->now->unseen = true;
    }
    s->now->pending = false;
}

/* A store that is on its way reads the tile. */
void agent_reads(Lower *L, Ring *r)
{
    Sched *s = L->sched;
    r->group = s->now->groups + s->now->pending;
    if (r->reading) return;
    r->reading = true;
    vec_push(L->a, &s->readers, r);
}

/* The stores of so many groups have read their tiles, or (turn) what a turn of that block reads counts no more. */
static void readers_leave(Sched *s, uint32_t groups, const PBlock *turn)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < s->readers.n; i++) {
        Ring *r = s->readers.v[i];
        r->reading = turn ? r->turn != turn : r->group > groups;
        if (r->reading) s->readers.v[left++] = r;
    }
    s->readers.n = left;
}

void agent_wait_group(Lower *L, int64_t n, IrHow how)
{
    Sched *s = L->sched;
    uint32_t done = n < s->now->groups ? s->now->groups - (uint32_t)n : 0;
    emit_grp_wait(L, n, how);
    s->now->unwritten &= n > 0 || how == IRH_READ;
    s->now->unread &= done < s->now->groups;
    s->now->dirty = true; /* threads come behind the one that has waited */
    readers_leave(s, done, NULL);
}

/* What stores read, of the ring's tile or (NULL) of any, is read before it is overwritten. Groups complete in order. */
static void wait_readers(Lower *L, const Ring *r)
{
    Sched *s = L->sched;
    if (r == NULL || r->group > s->now->groups) agent_commit(L);
    uint32_t last = r ? r->group : s->now->groups;
    agent_wait_group(L, s->now->groups - last, IRH_READ);
}

/* PTX ISA, async proxy: a fence stands between the copy that wrote and the one that reads. */
void agent_wait_stores(Lower *L, bool reads)
{
    Sched *s = L->sched;
    agent_commit(L);
    if (L->derived || s->now->unwritten) agent_wait_group(L, 0, IRH_FULL);
    if (reads && (L->derived || s->now->unseen)) {
        emit_fence(L, IRS_GLOBAL);
        s->now->stored = s->now->unseen = false;
    }
    if (s->shape[s->role] == SHAPE_LANES) emit_new(L, IR_WARP_SYNC);
}

void agent_readers_youngest(Lower *L)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->readers.n; i++) {
        Ring *r = s->readers.v[i];
        if (r->group < s->state[AG_WORK].groups) r->group = s->state[AG_WORK].groups;
    }
}

/* Tiles of outer blocks: the next turn may overwrite what this one's stores read. */
bool agent_readers_end(Lower *L, const PBlock *b)
{
    Sched *s = L->sched;
    bool outer = false;
    if (s->role != AG_WORK || !L->derived) return false; /* in roles of the source the next turn waits for them where it overwrites: written_turn */
    readers_leave(s, 0, b);
    for (uint32_t i = 0; i < s->readers.n; i++) outer |= s->readers.v[i]->thread_writes || s->readers.v[i]->kept;
    if (outer) wait_readers(L, NULL);
    return outer;
}

void agent_free(Lower *L, const Ring *r)
{
    if (r->reading) wait_readers(L, r);
    if (tmem_reads(L, r)) tmem_settle(L);
}

/* What threads are about to overwrite nobody reads any more, and what they are about to read is there. */
void agent_before_work(Lower *L, const Ring *dst)
{
    if (dst) agent_free(L, dst);
    agent_store_sync(L);
}
