/* Arrival and reuse made explicit: barriers and groups of the source, and those that the compiler derives.
 *
 * Derived loads complete on one barrier per tile and are waited for right before the first use of what they bring.
 * Stores are bulk groups: their reading is waited for before the tile is written again, their writing before the
 * same elements are read or written again. Groups complete in order, so "at most n pending" is enough, with n the
 * groups committed after the one that is wanted. `groups` counts those in straight line: a block that may not have
 * run counts for nothing after it, and at a loop's head the stores of the turn before are the youngest.
 */
#include "lower/parts.h"

/* ---- start ---- */

static void find_derived(Lower *L, const PBlock *b, bool inside)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE && s->move->is_load && s->move->commit == COMMIT_DERIVED) {
            TileSync *t = &L->sync.tiles[s->move->dst.tile->index];
            t->derived = true;
            t->in_block |= inside;
        }
        bool block = s->kind == P_FOR || s->kind == P_IF;
        find_derived(L, &s->body, inside || block);
        find_derived(L, &s->other, inside || block);
    }
}

static void init_bar(Lower *L, uint32_t bar)
{
    for (uint32_t slot = 0; slot < L->ir->bars.v[bar].slots; slot++) {
        IrOp *op = ir_op(L->a, &L->pre, IR_BAR_INIT, L->ir->bars.v[bar].span);
        ir_ref(L->a, op, IRK_BAR, IRA_BAR, bar);
        if (slot) ir_imm(L->a, op, IRK_SLOT, slot);
        ir_imm(L->a, op, IRK_COUNT_, 1);
    }
}

static void derived_bar(Lower *L, const PTile *tile, TileSync *t)
{
    const char *name = name_text(L, tile->name);
    t->bar = L->ir->bars.n;
    IrBar *b = vec_add(L->a, &L->ir->bars);
    *b = (IrBar){
        .name = arena_printf(L->a, "%s.full", name), .slots = 1, .count = 1, .derived = true, .span = tile->span};
    if (!t->in_block) return;
    t->phase_var = L->ir->vars.n;
    IrVar *v = vec_add(L->a, &L->ir->vars);
    *v = (IrVar){arena_printf(L->a, "%s.phase", name), IR_I32};
    IrOp *op = ir_op(L->a, &L->pre, IR_VAR, tile->span);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, t->phase_var);
    ir_imm(L->a, op, IRK_A, 0);
}

void sync_begin(Lower *L)
{
    const PKernel *k = L->k;
    Sync *s = &L->sync;
    s->tiles = arena_array(L->a, TileSync, k->tiles.n);
    s->bars = arena_array(L->a, Phase *, k->barriers.n);
    for (uint32_t i = 0; i < k->barriers.n; i++) {
        const PBarrier *p = k->barriers.v[i];
        s->bars[i] = arena_array(L->a, Phase, (size_t)p->slots);
        IrBar *b = vec_add(L->a, &L->ir->bars);
        *b = (IrBar){.name = name_text(L, p->name), .slots = (uint32_t)p->slots, .count = 1, .span = p->span};
    }
    find_derived(L, &k->body, false);
    for (uint32_t i = 0; i < k->tiles.n; i++)
        if (s->tiles[i].derived) derived_bar(L, k->tiles.v[i], &s->tiles[i]);
    for (uint32_t i = 0; i < L->ir->bars.n; i++) init_bar(L, i);
    if (L->ir->bars.n) ir_op(L->a, &L->pre, IR_FENCE_MBAR_INIT, (Span){0, 0});
}

/* ---- barriers ---- */

static void bar_operand(Lower *L, IrOp *op, uint32_t bar, int64_t slot)
{
    ir_ref(L->a, op, IRK_BAR, IRA_BAR, bar);
    if (slot) ir_imm(L->a, op, IRK_SLOT, slot);
}

/* All arrivals of a phase but the last become expectations: the count stays 1. */
static bool arrive(Lower *L, Phase *p, uint32_t bar, int64_t slot, int64_t bytes)
{
    if (p->arrive_op) L->body.ops.v[p->arrive_op - 1].op = IR_BAR_EXPECT;
    IrOp *op = emit_new(L, IR_BAR_ARRIVE_EXPECT);
    bar_operand(L, op, bar, slot);
    ir_imm(L->a, op, IRK_BYTES, bytes);
    p->arrive_op = L->body.ops.n;
    p->bytes += bytes;
    if (p->bytes <= TX_LIMIT) return true;
    Diag *g = lower_error(L, E0710, L->stmt->span, "%lld bytes complete on one phase of `%s`, a barrier counts %lld",
                          (long long)p->bytes, L->ir->bars.v[bar].name, (long long)TX_LIMIT);
    diag_label(L->c->diags, g, L->ir->bars.v[bar].span, "the barrier");
    return false;
}

static void wait_derived(Lower *L, const PTile *tile)
{
    Sync *s = &L->sync;
    TileSync *t = &s->tiles[tile->index];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->loads.n; i++)
        if (s->loads.v[i].barrier || s->loads.v[i].info.tile != tile) s->loads.v[kept++] = s->loads.v[i];
    s->loads.n = kept;
    if (!t->in_block) {
        IrOp *op = emit_new(L, IR_BAR_WAIT);
        bar_operand(L, op, t->bar, 0);
        ir_imm(L->a, op, IRK_PHASE, t->phase.waits & 1);
        t->phase = (Phase){.waits = t->phase.waits + 1};
        return;
    }
    vec_push(L->a, &L->hoisted, 0);
    IrVal now = ir_value(L->a, L->ir, IR_I32, NULL);
    IrOp *op = emit_new(L, IR_GET);
    op->type = IR_I32;
    op->dst = now;
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, t->phase_var);
    op = emit_new(L, IR_BAR_WAIT);
    bar_operand(L, op, t->bar, 0);
    ir_ref(L->a, op, IRK_PHASE, IRA_VAL, now);
    Opnd next = emit_op(L, IR_XOR, IR_I32, (Opnd){.v = now}, opnd_imm(1));
    op = emit_new(L, IR_SET);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, t->phase_var);
    put_opnd(L, op, IRK_A, next);
    t->phase = (Phase){0};
}

void sync_flush_loads(Lower *L)
{
    Sync *s = &L->sync;
    for (uint32_t i = 0; i < s->loads.n;) {
        if (s->loads.v[i].barrier) i++;
        else wait_derived(L, s->loads.v[i].info.tile), i = 0;
    }
}

static Phase *explicit_phase(Lower *L, const PBarrier *b, const Sx *slot, Span at, int64_t *k)
{
    *k = 0;
    if (L->sync.depth) {
        Diag *g = lower_error(L, E1001, at, "barrier `%s` is used inside a loop or if", name_text(L, b->name));
        diag_label(L->c->diags, g, b->span, "the barrier");
        diag_fix(L->c->diags, g, "leave commit and wait out: the compiler derives them");
        return NULL;
    }
    if (slot && !poly_is_const(scalar_poly(L, slot), k)) {
        Diag *g = lower_error(L, E1001, slot->span, "the slot of barrier `%s` is not a constant",
                              name_text(L, b->name));
        diag_label(L->c->diags, g, b->span, "the barrier");
        return NULL;
    }
    if (*k >= 0 && *k < b->slots) return &L->sync.bars[b->index][*k];
    Diag *g = lower_error(L, E0508, slot ? slot->span : at, "slot %lld of barrier `%s` is not one of 0 .. %lld",
                          (long long)*k, name_text(L, b->name), (long long)b->slots - 1);
    diag_label(L->c->diags, g, b->span, "the barrier");
    return NULL;
}

bool sync_arrive(Lower *L, const MoveInfo *mi, int64_t bytes, uint32_t *bar, Opnd *slot)
{
    *slot = opnd_imm(0);
    if (mi->mv->commit == COMMIT_BARRIER) {
        int64_t k;
        Phase *p = explicit_phase(L, mi->mv->barrier, mi->mv->barrier_slot, mi->mv->commit_span, &k);
        if (p == NULL) return false;
        *bar = mi->mv->barrier->index;
        *slot = opnd_imm(k);
        return arrive(L, p, *bar, k, bytes);
    }
    TileSync *t = &L->sync.tiles[mi->tile->index];
    *bar = t->bar;
    return arrive(L, &t->phase, t->bar, 0, bytes);
}

void sync_wait(Lower *L, const PStmt *st)
{
    int64_t k;
    Sync *s = &L->sync;
    Phase *p = explicit_phase(L, st->barrier, st->value, st->span, &k);
    if (p == NULL) return;
    IrOp *op = emit_new(L, IR_BAR_WAIT);
    bar_operand(L, op, st->barrier->index, k);
    ir_imm(L->a, op, IRK_PHASE, (p->waits + (st->barrier->is_free ? 1 : 0)) & 1);
    *p = (Phase){.waits = p->waits + 1};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->loads.n; i++)
        if (s->loads.v[i].barrier != st->barrier || s->loads.v[i].slot != k) s->loads.v[kept++] = s->loads.v[i];
    s->loads.n = kept;
}

/* ---- groups ---- */

static void commit(Lower *L)
{
    Sync *s = &L->sync;
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
    Sync *s = &L->sync;
    IrOp *op = emit_new(L, IR_GRP_WAIT);
    ir_imm(L->a, op, IRK_N, n);
    ir_ref(L->a, op, IRK_HOW, IRA_WORD, how);
    for (uint32_t i = 0; i < s->stores.n; i++) {
        PendingStore *p = &s->stores.v[i];
        if (!p->committed || (int64_t)s->groups - p->seq < n) continue;
        p->read_done = true;
        if (how == IRH_FULL) p->full_done = true;
    }
}

static void wait_store(Lower *L, uint32_t i, IrHow how)
{
    if (!L->sync.stores.v[i].committed) commit(L);
    wait_groups(L, L->sync.groups - L->sync.stores.v[i].seq, how);
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

enum { TURNS_MAX = 32 };

static Poly by_turn(Lower *L, Poly p, uint32_t turns)
{
    Domain *d = L->d;
    Poly sum = poly_const(d, 0);
    for (uint32_t t = 0; t < p.n; t++) {
        Poly product = poly_const(d, p.terms[t].coef);
        for (unsigned i = 0; i < p.terms[t].natoms; i++) {
            Atom x = p.terms[t].atoms[i];
            for (uint32_t k = 0; k < turns; k++)
                if (L->open_loops.v[k].index == x) x = L->open_loops.v[k].turn;
            product = poly_mul(d, product, poly_atom(d, x));
        }
        sum = poly_add(d, sum, product);
    }
    sum.bad |= p.bad;
    return sum;
}

/* A(t) and B(t') of different turns of the loop. Different CTAs are proved along with it: the same starts do both. */
static bool turns_disjoint(Lower *L, const PendingStore *p, const MoveInfo *mi)
{
    const char *why;
    Atom index[3 + TURNS_MAX];
    int n = 0;
    if (!p->info->has_gbox || !mi->has_gbox || p->turn > TURNS_MAX) return false;
    for (int i = 0; i < L->nteam; i++) index[n++] = L->team[i];
    for (uint32_t i = 0; i < p->turn; i++) index[n++] = L->open_loops.v[i].turn;
    DomBox a = p->info->gbox, b = mi->gbox;
    for (int i = 0; i < a.rank; i++) {
        a.start[i] = by_turn(L, a.start[i], p->turn);
        b.start[i] = by_turn(L, b.start[i], p->turn);
    }
    return domain_disjoint_teams(L->d, L->a, &a, &b, index, n, &why);
}

static bool same_place(Lower *L, const PendingStore *p, const MoveInfo *mi)
{
    const PTensor *a = p->info->tensor, *b = mi->tensor;
    if ((a->base ? a->base : a) != (b->base ? b->base : b) || views_disjoint(L, a, b)) return false;
    if (!p->known) return true;
    if (p->turn == 0) return !regions_disjoint(L, p->info, mi);
    return mi->load || !turns_disjoint(L, p, mi); /* the verifier follows no turns: what is read must be complete */
}

static bool same_part(Lower *L, const PendingStore *p, const MoveInfo *mi)
{
    if (p->tile != mi->tile) return false;
    if (!p->known) return true;
    if (p->turn == 0) return !subtiles_disjoint(L, p->info, mi);
    return p->info->slot_const < 0 || mi->slot_const < 0 || p->info->slot_const == mi->slot_const;
}

/* The elements that mi reads or writes were written by an earlier store: its writing is waited for. */
static void before_global(Lower *L, const MoveInfo *mi)
{
    Sync *s = &L->sync;
    bool fence = false;
    for (uint32_t i = 0; i < s->stores.n; i++) {
        PendingStore *p = &s->stores.v[i];
        if (p->full_done && (p->fenced || !mi->load)) continue;
        if (!mi->load && (mi->mv->overlap_any || p->stmt->move->overlap_any)) continue;
        if (!same_place(L, p, mi)) continue;
        if (!p->full_done && p->is_explicit) {
            unwaited(L, mi, p->stmt, mi->load ? "reads" : "writes", "write `wait group;` before it");
            p->full_done = p->fenced = true; /* reported once */
            continue;
        }
        if (!p->full_done) wait_store(L, i, IRH_FULL);
        fence |= mi->load;
    }
    if (!fence) return;
    IrOp *op = emit_new(L, IR_FENCE_ASYNC);
    ir_ref(L->a, op, IRK_SPACE, IRA_WORD, IRS_GLOBAL);
    for (uint32_t i = 0; i < s->stores.n; i++) s->stores.v[i].fenced |= s->stores.v[i].full_done;
}

/* A load that still reads what the store is going to write. */
static void before_overwrite(Lower *L, const MoveInfo *mi)
{
    Sync *s = &L->sync;
    for (uint32_t i = 0; i < s->loads.n;) {
        PendingLoad *p = &s->loads.v[i];
        if (regions_disjoint(L, &p->info, mi)) {
            i++;
        } else if (p->barrier) {
            unwaited(L, mi, p->info.stmt, "writes", "wait for the load's barrier before it");
            i++;
        } else {
            wait_derived(L, p->info.tile);
            i = 0;
        }
    }
}

void sync_before(Lower *L, const MoveInfo *mi)
{
    Sync *s = &L->sync;
    for (uint32_t i = 0; i < s->loads.n; i++) { /* what arrives in the tile is used or overwritten */
        PendingLoad *p = &s->loads.v[i];
        if (p->barrier || p->info.tile != mi->tile || subtiles_disjoint(L, &p->info, mi)) continue;
        wait_derived(L, mi->tile);
        break;
    }
    before_global(L, mi);
    if (!mi->load) before_overwrite(L, mi);
    for (uint32_t i = 0; mi->load && i < s->stores.n; i++) { /* the tile is still being read */
        PendingStore *p = &s->stores.v[i];
        if (p->is_explicit || p->read_done || !same_part(L, p, mi)) continue;
        wait_store(L, i, IRH_READ);
    }
}

void sync_after(Lower *L, const MoveInfo *mi)
{
    Sync *s = &L->sync;
    if (mi->load) {
        PendingLoad *p = vec_add(L->a, &s->loads);
        *p = (PendingLoad){.info = *mi};
        if (mi->mv->commit != COMMIT_BARRIER) return;
        p->barrier = mi->mv->barrier;
        if (mi->mv->barrier_slot) poly_is_const(scalar_poly(L, mi->mv->barrier_slot), &p->slot);
        return;
    }
    MoveInfo *info = arena_new(L->a, MoveInfo);
    *info = *mi;
    PendingStore *p = vec_add(L->a, &s->stores);
    *p = (PendingStore){.stmt = mi->stmt,
                        .tile = mi->tile,
                        .info = info,
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
    Sync *s = &L->sync;
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
    vec_push(L->a, &s->stores, p);
}

/* Stores of the turn before: those of the body that its own waits don't cover. Loops in it are opened for the while, so
 * that what any of their turns wrote is known. */
static void carry(Lower *L, const PBlock *b, uint32_t turn)
{
    Sync *s = &L->sync;
    uint32_t first = s->stores.n;
    for (const PStmt *st = b->first; st; st = st->next) {
        bool open = st->kind == P_FOR && scalar_known_here(L, st->lo) && scalar_known_here(L, st->value);
        if (st->kind == P_MOVE && !st->move->is_load) carry_store(L, st, turn);
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

SyncMark sync_enter(Lower *L, const PBlock *body, bool loop)
{
    Sync *s = &L->sync;
    SyncMark m = {arena_array(L->a, PendingStore, s->stores.n), s->stores.n, 0, s->groups};
    if (m.nstores) memcpy(m.stores, s->stores.v, m.nstores * sizeof *m.stores);
    if (loop) carry(L, body, L->open_loops.n);
    m.ncarried = s->stores.n - m.nstores;
    s->depth++;
    return m;
}

/* Older entries are as they were, the block may not have run; those of the block count from its start. */
void sync_leave(Lower *L, const SyncMark *m)
{
    Sync *s = &L->sync;
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
}

SyncMark sync_else(Lower *L, const SyncMark *m)
{
    Sync *s = &L->sync;
    sync_leave(L, m);
    s->depth++;
    SyncMark first = {.nstores = s->stores.n - m->nstores};
    first.stores = arena_array(L->a, PendingStore, first.nstores);
    if (first.nstores) memcpy(first.stores, s->stores.v + m->nstores, first.nstores * sizeof *first.stores);
    s->stores.n = m->nstores;
    return first;
}

void sync_join(Lower *L, const SyncMark *first)
{
    for (uint32_t i = 0; i < first->nstores; i++) vec_push(L->a, &L->sync.stores, first->stores[i]);
}

void sync_end(Lower *L)
{
    Sync *s = &L->sync;
    sync_flush_loads(L);
    for (uint32_t i = 0; i < s->stores.n; i++) {
        if (s->stores.v[i].full_done) continue;
        wait_groups(L, 0, IRH_FULL);
        return;
    }
}
