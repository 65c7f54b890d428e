/* Arrival and reuse made explicit: barriers and groups of the source, and those that the compiler derives.
 *
 * Derived loads complete on one barrier per tile and are waited for right before the first use of what they bring.
 * Stores are bulk groups: their reading is waited for before the tile is written again, their writing before the
 * same elements are read or written again. Groups complete in order, so "at most n pending" is enough, with n the
 * groups committed after the one that is wanted. `groups` counts those in straight line: a block that may not have
 * run counts for nothing after it, and at a loop's head the stores of the turn before are the youngest.
 */
#include "lower/apart/apart.h"
#include "lower/emit/values.h"
#include "lower/schedule/written/sync.h"

/* ---- groups ---- */

static void commit(Lower *L)
{
    Sync *s = L->sync;
    emit_new(L, IR_GRP_COMMIT);
    s->groups++;
    for (uint32_t i = 0; i < s->stores.n; i++) {
        if (s->stores.v[i].committed) continue;
        s->stores.v[i].committed = true;
        s->stores.v[i].seq = s->groups;
    }
}

static void wait_groups(Lower *L, int64_t n, IrHow how)
{
    Sync *s = L->sync;
    emit_grp_wait(L, n, how);
    s->worked = true; /* the elected thread alone has waited */
    for (uint32_t i = 0; i < s->stores.n; i++) {
        PendingStore *p = &s->stores.v[i];
        if (!p->committed || (int64_t)s->groups - p->seq < n) continue;
        p->read_done = true;
        if (how == IRH_FULL) p->full_done = true;
    }
}

void sync_wait_store(Lower *L, uint32_t i, IrHow how)
{
    if (!L->sync->stores.v[i].committed) commit(L);
    wait_groups(L, L->sync->groups - L->sync->stores.v[i].seq, how);
}

void sync_wait_group(Lower *L, const PStmt *st)
{
    wait_groups(L, st->n, st->read ? IRH_READ : IRH_FULL);
}

void sync_group_end(Lower *L)
{
    commit(L);
}

/* ---- moves ---- */

static void unwaited(Lower *L, const MoveInfo *mi, const PStmt *other, const char *what, const char *fix)
{
    Diag *g = lower_error(L, E0711, mi->stmt->span,
                          "this move %s the same elements of `%s` as one that nobody waited for", what,
                          name_text(L, mi->tensor->name));
    diag_label(L->c->diags, g, other->span, "may still be on its way");
    diag_fix(L->c->diags, g, "%s", fix);
}

/* Of a store in an earlier turn: the loops whose turns are told apart. */
static const TensorAccess *of_turns(Lower *L, const MoveInfo *mi, uint32_t turns)
{
    TensorAccess *a = tensor_access(L, mi);
    if (turns) a->loops.n = turns;
    return a;
}

/* A(t) and B(t') of different turns of the loops, in one CTA: groups are waited for by the thread that committed them. The verifier
 * follows no turns: what is read must be complete, unless it lies in another view. */
static bool same_place(Lower *L, const PendingStore *p, const TensorAccess *now)
{
    const PTensor *a = p->info->tensor, *b = now->info->tensor;
    if (base_of(a) != base_of(b)) return false;
    if (p->turn == 0) return !accesses_apart(L, p->access, now, APART_HERE, NULL);
    if (!now->info->load) return !accesses_apart(L, p->access, now, APART_TURNS, NULL);
    if (a->run_time || b->run_time) return true;
    const TensorAccess *x = of_turns(L, &(MoveInfo){.tensor = p->info->tensor}, p->turn);
    return !accesses_apart(L, x, of_turns(L, &(MoveInfo){.tensor = now->info->tensor}, 0), APART_TURNS, NULL);
}

static bool same_part(Lower *L, const PendingStore *p, const MoveInfo *mi)
{
    if (p->tile != mi->tile) return false;
    if (!p->known) return true;
    if (p->turn == 0) return !subtiles_disjoint(L, p->info, mi);
    return p->info->slot_const < 0 || mi->slot_const < 0 || p->info->slot_const == mi->slot_const;
}

/* The elements that mi reads or writes were written by an earlier store: its writing is waited for. */
static void before_global(Lower *L, const TensorAccess *now)
{
    Sync *s = L->sync;
    const MoveInfo *mi = now->info;
    bool fence = false;
    for (uint32_t i = 0; i < s->stores.n; i++) {
        PendingStore *p = &s->stores.v[i];
        if (p->full_done && (p->fenced || !mi->load)) continue;
        if (!mi->load && (mi->mv->overlap_any || p->stmt->move->overlap_any)) continue;
        if (!same_place(L, p, now)) continue;
        if (!p->full_done && p->is_explicit) {
            unwaited(L, mi, p->stmt, mi->load ? "reads" : "writes", "write `wait group;` before it");
            p->full_done = p->fenced = true; /* reported once */
            continue;
        }
        if (!p->full_done) sync_wait_store(L, i, IRH_FULL);
        fence |= mi->load;
    }
    if (!fence) return;
    IrOp *op = emit_new(L, IR_FENCE_ASYNC);
    ir_ref(L->a, op, IRK_SPACE, IRA_WORD, IRS_GLOBAL);
    for (uint32_t i = 0; i < s->stores.n; i++) s->stores.v[i].fenced |= s->stores.v[i].full_done;
}

/* A load that still reads what the store is going to write. */
static void before_overwrite(Lower *L, const TensorAccess *now)
{
    Sync *s = L->sync;
    for (uint32_t i = 0; i < s->loads.n;) {
        PendingLoad *p = &s->loads.v[i];
        bool other = base_of(p->info->tensor) != base_of(now->info->tensor);
        if (other || accesses_apart(L, p->access, now, APART_HERE, NULL)) {
            i++;
        } else if (p->barrier) {
            unwaited(L, now->info, p->info->stmt, "writes", "wait for the load's barrier before it");
            i++;
        } else {
            sync_wait_derived(L, p->info->tile);
            i = 0;
        }
    }
}

void sync_arrived(Lower *L, const MoveInfo *mi)
{
    const Sync *s = L->sync;
    for (uint32_t i = 0; i < s->loads.n; i++) {
        const PendingLoad *p = &s->loads.v[i];
        if (p->barrier || p->info->tile != mi->tile || subtiles_disjoint(L, p->info, mi)) continue;
        sync_wait_derived(L, mi->tile);
        return;
    }
}

void sync_before(Lower *L, const MoveInfo *mi)
{
    Sync *s = L->sync;
    sync_arrived(L, mi);
    const TensorAccess *now = tensor_access(L, mi);
    before_global(L, now);
    if (!mi->load) before_overwrite(L, now);
    for (uint32_t i = 0; mi->load && i < s->stores.n; i++) { /* the tile is still being read */
        PendingStore *p = &s->stores.v[i];
        if (p->is_explicit || p->read_done || !same_part(L, p, mi)) continue;
        sync_wait_store(L, i, IRH_READ);
    }
    role_sync(L, false);
}

void sync_after(Lower *L, const MoveInfo *mi)
{
    Sync *s = L->sync;
    if (mi->load) {
        PendingLoad *p = vec_add(L->a, &s->loads);
        *p = (PendingLoad){.info = mi, .access = tensor_access(L, mi)};
        if (mi->mv->commit != COMMIT_BARRIER) return;
        p->barrier = mi->mv->barrier;
        if (mi->mv->barrier_slot && !poly_is_const(scalar_poly(L, mi->mv->barrier_slot), &p->slot)) p->slot = -1;
        return;
    }
    PendingStore *p = vec_add(L->a, &s->stores);
    *p = (PendingStore){.stmt = mi->stmt,
                        .tile = mi->tile,
                        .info = mi,
                        .access = tensor_access(L, mi),
                        .known = true,
                        .is_explicit = mi->mv->commit == COMMIT_GROUP || mi->mv->in_group};
    if (!mi->mv->in_group) commit(L);
}

/* ---- blocks ---- */

static bool region_known_here(Lower *L, const PRegion *r)
{
    for (int i = 0; i < r->rank; i++)
        if (!scalar_known_here(L, r->dim[i].start)) return false;
    return scalar_known_here(L, r->slot);
}

static void carry_store(Lower *L, const PStmt *st, uint32_t turn)
{
    Sync *s = L->sync;
    MoveInfo *info = arena_new(L->a, MoveInfo);
    PendingStore p = {.stmt = st,
                      .info = info,
                      .tile = st->move->src.tile,
                      .committed = true,
                      .seq = s->groups,
                      .turn = turn,
                      .is_explicit = st->move->commit == COMMIT_GROUP || st->move->in_group};
    const PStmt *now = L->stmt;
    L->stmt = st;
    p.known = region_known_here(L, &st->move->src) && region_known_here(L, &st->move->dst) &&
              region_resolve(L, st, info);
    L->stmt = now;
    info->tensor = st->move->dst.tensor;
    if (!p.known) *info = (MoveInfo){.tensor = info->tensor};
    p.access = of_turns(L, info, turn);
    vec_push(L->a, &s->stores, p);
}

/* Stores of the turn before: those of the body that its own waits don't cover. Loops in it are opened for the while, so
 * that what any of their turns wrote is known. */
static void carry(Lower *L, const PBlock *b, uint32_t turn)
{
    Sync *s = L->sync;
    uint32_t first = s->stores.n;
    for (const PStmt *st = b->first; st; st = st->next) {
        bool open = st->kind == P_FOR && scalar_known_here(L, st->lo) && scalar_known_here(L, st->value);
        if (st->kind == P_MOVE && st->move->kind == MOVE_STORE) carry_store(L, st, turn);
        if (open) loop_open(L, st);
        carry(L, &st->body, turn);
        if (open) loop_close(L, st);
        carry(L, &st->other, turn);
        if (st->kind != P_WAIT_GROUP || st->n != 0) continue;
        for (uint32_t i = first; i < s->stores.n; i++) {
            s->stores.v[i].read_done = true;
            s->stores.v[i].full_done |= !st->read;
        }
    }
}

SyncMark sync_enter(Lower *L, const PBlock *body)
{
    Sync *s = L->sync;
    SyncMark m = {arena_array(L->a, PendingStore, s->stores.n), s->stores.n, 0, s->groups, s->block};
    s->block = ++s->nblocks;
    sync_close_commits(L, NULL);
    if (m.nstores) memcpy(m.stores, s->stores.v, m.nstores * sizeof *m.stores);
    carry(L, body, L->scalars->open_loops.n);
    m.ncarried = s->stores.n - m.nstores;
    s->depth++;
    return m;
}

/* Older entries are as they were, the block may not have run; those of the block count from its start. */
void sync_leave(Lower *L, const SyncMark *m)
{
    Sync *s = L->sync;
    uint32_t n = m->nstores;
    if (n) memcpy(s->stores.v, m->stores, n * sizeof *m->stores);
    for (uint32_t i = m->nstores + m->ncarried; i < s->stores.n; i++) {
        s->stores.v[n] = s->stores.v[i];
        if (s->stores.v[n].committed) s->stores.v[n].seq = m->groups;
        n++;
    }
    s->stores.n = n;
    s->groups = m->groups;
    s->depth--;
    s->block = m->block;
    sync_close_commits(L, NULL);
}

void sync_end(Lower *L)
{
    Sync *s = L->sync;
    sync_flush_loads(L);
    for (uint32_t i = 0; i < s->stores.n; i++) {
        if (s->stores.v[i].full_done) continue;
        wait_groups(L, 0, IRH_FULL);
        return;
    }
}
