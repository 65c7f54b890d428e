/* Roles of the source, or its one thread; and moves for which they name barriers. */
#include "lower/apart/apart.h"
#include "lower/emit/roles.h"
#include "lower/emit/values.h"
#include "lower/plan/device_maps.h"
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* ---- roles ---- */

/* Stores of the turn before may still read their tiles; their groups are the youngest. */
void written_turn(Lower *L, const PStmt *loop)
{
    const Sched *s = L->sched;
    FOR_MOVES_OF(s, loop_use(L, loop), p) {
        const PMove *mv = p->st->move;
        if (mv->kind != MOVE_STORE) continue;
        s->now->unwritten = s->now->unseen = true;
        if (mv->commit == COMMIT_DERIVED && !mv->in_group) agent_reads(L, p->src);
    }
}

static void walk_role(Lower *L, const PBlock *body)
{
    Sched *s = L->sched;
    bool many = s->shape[AG_WORK] == SHAPE_THREADS;
    FOR_RINGS(s, r) r->reading = false; /* by a role before */
    s->readers.n = 0;
    walk_block(L, body);
    L->stmt = NULL;
    if (s->planning) return;
    if (s->now->unread) emit_grp_wait(L, 0, IRH_READ);
    if (many) body_elect(&L->body, 0, SHAPE_THREADS);
    IrRole *r = vec_add(L->a, &L->ir->roles);
    *r = (IrRole){.name = s->source, .warps = s->warps[AG_WORK], .elect = !many};
    body_set(L, r, &L->body);
    count_turns(L->a, L->ir, r);
}

/* All threads of a role in which they work together run it: they pass its waits, make its scalars and do its work; copies, arrivals and
 * groups are those of one of them, the elected one. */
static void begin_role(Lower *L, const PRole *r, uint32_t number)
{
    Sched *s = L->sched;
    s->source = name_text(L, r->name);
    bool many = device_makes(L, AG_WORK, s->source);
    s->tensor = false;
    FOR_MOVES(s, p) { /* where they are planned */
        if (!planned_within(p, &r->body, 0)) continue;
        many |= planned_by_threads(p);
        s->tensor |= p->tm != NULL;
    }
    L->sync->role = number;
    L->accesses->role = number + 1;
    L->device->roles = true;
    s->shape[AG_WORK] = many ? SHAPE_THREADS : SHAPE_ELECT;
    s->warps[AG_WORK] = (uint32_t)r->threads / 32;
    if (many && !s->planning && ++L->sync->id == NAMED_BARRIERS) {
        lower_error(L, E0907, r->span, "more than %d roles whose threads work together: each has a barrier of threads", NAMED_BARRIERS - 1);
        L->sync->id = 1;
    }
}

/* What stands in front of them is scalars, made by all; a role uses no value of another one. */
void written_roles(Lower *L, const PStmt *st)
{
    for (uint32_t i = 0; i < st->roles.n; i++) {
        const PRole *r = &st->roles.v[i];
        scope_open(L);
        begin_role(L, r, i);
        L->scalars->epoch++;
        if (!L->sched->planning) sync_role(L);
        for (const PStmt *v = L->k->body.first; v != st; v = v->next) {
            L->stmt = v;
            if (v->kind == P_LET) lower_let(L, v);
            else if (v->kind == P_VAR || v->kind == P_SET) lower_assign(L, v);
        }
        L->stmt = st;
        for (const PStmt *v = L->k->body.first; v && !L->sched->planning; v = v->next) /* views beside the roles: each makes its own maps */
            if (v->kind == P_VIEW) device_view(L, v);
        walk_role(L, &r->body);
        scope_close(L);
    }
    L->accesses->role = 0;
}

/* A tile into which something is loaded without a commit. */
static void derived_ring(Lower *L, Ring *r)
{
    const char *name = name_text(L, r->tile->name);
    r->kept = r->filled_by_copies = true;
    r->slots = r->lead = 1;
    ring_new(L, r, name);
    r->full = ring_bar(L, r, name, "full", 1, 1);
}

void written_kernel(Lower *L)
{
    Sched *s = L->sched;
    s->source = "main";
    s->warps[AG_WORK] = 1;
    sync_begin(L);
    schedule_plan(L);
    if (L->failed) return;
    FOR_RINGS(s, r) r->full = r->empty = r->done = BAR_NONE;
    FOR_MOVES(s, p)
        if (p->mi.load && p->st->move->commit == COMMIT_DERIVED && p->dst && !p->dst->kept) derived_ring(L, p->dst);
    device_find(L);
    device_buffers(L);
    written_order(L);
    s->active = 1u << AG_WORK;
    sched_as(L, AG_WORK);
    L->scalars->epoch++;
    if (L->k->roles_span.hi) {
        walk_block(L, &L->k->body);
    } else {
        sync_role(L);
        walk_role(L, &L->k->body);
    }
    counts_set(L);
}

/* ---- statements ---- */

/* Groups are noted when moves are planned, what comes behind them is to know of all of them. */
static void group(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    Sync *y = L->sync;
    if (!s->planning && st->kind == P_WAIT_GROUP) {
        agent_wait_group(L, st->n, st->read ? IRH_READ : IRH_FULL);
    } else if (!s->planning) {
        s->now->pending = true;
        agent_commit(L);
    } else if (st->kind == P_GROUP) {
        y->turn++;
    } else if (!st->read) {
        vec_push(L->a, &y->waits, ((GroupWait){s->moves.n, (uint32_t)st->n, y->turn, s->chain[s->depth].block}));
    }
}

void written_sync(Lower *L, const PStmt *st)
{
    if (st->kind == P_GROUP || st->kind == P_WAIT_GROUP) group(L, st);
    else if (L->sched->planning) sync_note(L, st);
    else if (st->kind == P_WAIT) sync_wait(L, st);
    else if (st->kind == P_ARRIVE) sync_arrive_stmt(L, st);
    else sync_expect(L, st);
}

/* ---- copies from and to tensors ----
 *
 * `commit b` announces a multicast's bytes on the own b, on which the parts that the CTAs bring all complete; `commit
 * peer(b, r)` announces and arrives at CTA r, like the own one does for a load. */

/* What other CTAs write needs a barrier that both sides know. */
bool role_committed(Lower *L, const PStmt *st)
{
    const PMove *mv = st->move;
    if (mv->commit == COMMIT_BARRIER) return true;
    return cannot(L, NULL, E0771, st->span, (Span){0, 0}, NULL,
                  mv->cast != CAST_NONE ? "`commit` a barrier, and `wait` for it in every CTA that it reaches"
                                        : "`commit peer(b, rank)`, and `wait b` in the CTA that it reaches",
                  "in `roles` nothing says when this has arrived in the other CTAs");
}

/* A multicast whose parts this CTA brings, or a load into another one's tile. */
bool written_plan(Lower *L, Planned *p)
{
    MoveInfo *mi = &p->mi;
    const PMove *mv = mi->mv;
    int target[RANKS_MAX];
    L->sync->turn += mv->kind == MOVE_STORE && !mv->in_group;
    bool far = mv->cast != CAST_NONE || mv->dst.peer, pairs = mv->commit == COMMIT_BARRIER && (mv->barrier_peer || mv->dst.peer);
    if (far && !role_committed(L, p->st)) return false;
    if (!(mv->cast == CAST_MASK ? mask_plan(L, mi) : plan_multicast(L, mi))) return false;
    if (mv->dst.peer && mv->cast == CAST_NONE && !cluster_named(L, mv->dst.peer, mv->dst.span, true, target)) return false;
    return !pairs || pair_plan(L, mi);
}

bool written_arrive(Lower *L, const Planned *p, Opnd *slot)
{
    const PMove *mv = p->st->move;
    if (p->dst) { /* what the program leaves to the compiler is over with the tile */
        kept_arrive(L, p->dst);
        agent_free(L, p->dst);
    }
    agent_store_sync(L);
    Opnd each = planned_bytes(L, p);
    if (move_peers(&p->mi)->open_mask) each = opnd_imm(0); /* `expect` announces them */
    else if (mv->cast == CAST_MASK) each = mask_bytes(L, &p->mi, each);
    return sync_arrive(L, mv, each, slot);
}

/* ---- tensor memory ---- */

/* Of each pair the even CTA begins it, for both. */
bool written_tmem(Lower *L, const PStmt *st)
{
    for (int r = 1; L->ir->pair && r < L->cluster_size; r += 2) {
        if (left_out_at(L, r)) continue;
        return cannot(L, NULL, E0570, st->span, L->k->pair_span, "CTAs in pairs", "if cluster.rank % 2 == 0 { .. }", "rank %d would begin this, too", r);
    }
    return true;
}
