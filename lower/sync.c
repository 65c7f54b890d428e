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

/* Loads whose barriers are derived, and barriers at which other CTAs arrive. */
static void find_derived(Lower *L, const PBlock *b, bool inside)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE && s->move->is_load && s->move->commit == COMMIT_DERIVED) {
            TileSync *t = &L->sync.tiles[s->move->dst.tile->index];
            t->derived = true;
            t->in_block |= inside;
        }
        if (s->kind == P_ARRIVE && s->peer) L->remote = L->sync.far[s->barrier->index] = true;
        find_derived(L, &s->body, inside || s->kind == P_FOR);
        find_derived(L, &s->other, inside);
        for (uint32_t i = 0; i < s->roles.n; i++) find_derived(L, &s->roles.v[i].body, inside);
    }
}

static uint32_t derived_bar(Lower *L, const PTile *tile)
{
    IrBar *b = vec_add(L->a, &L->ir->bars);
    *b = (IrBar){.name = arena_printf(L->a, "%s.full", name_text(L, tile->name)),
                 .slots = 1,
                 .count = 1,
                 .derived = true,
                 .span = tile->span};
    return L->ir->bars.n - 1;
}

void sync_begin(Lower *L)
{
    const PKernel *k = L->k;
    Sync *s = &L->sync;
    s->tiles = arena_array(L->a, TileSync, k->tiles.n);
    s->bars = arena_array(L->a, Explicit, k->barriers.n);
    s->far = arena_array(L->a, bool, k->barriers.n);
    for (uint32_t i = 0; i < k->barriers.n; i++) {
        const PBarrier *p = k->barriers.v[i];
        IrBar *b = vec_add(L->a, &L->ir->bars);
        *b = (IrBar){.name = name_text(L, p->name), .slots = (uint32_t)p->slots, .count = 1, .span = p->span};
    }
    find_derived(L, &k->body, false);
    for (uint32_t i = 0; i < k->tiles.n; i++)
        if (s->tiles[i].derived) s->tiles[i].bar = derived_bar(L, k->tiles.v[i]);
}

static uint32_t phase_var(Lower *L, const char *name, int64_t first, Span span)
{
    uint32_t v = L->ir->vars.n;
    IrVar *var = vec_add(L->a, &L->ir->vars);
    *var = (IrVar){name, IR_I32};
    IrOp *op = ir_op(L->a, &L->body, IR_VAR, span);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, v);
    ir_imm(L->a, op, IRK_A, first);
    return v;
}

/* What of b's body is used in loops, or at slots that are not constant. */
static void find_looped(Lower *L, const PBlock *b, bool inside)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        bool commit = s->kind == P_MOVE && s->move->commit == COMMIT_BARRIER;
        const PBarrier *bar = commit ? s->move->barrier : s->barrier;
        const Sx *slot = commit ? s->move->barrier_slot : s->value;
        if (commit || s->kind == P_WAIT || s->kind == P_ARRIVE)
            L->sync.bars[bar->index].looped |= inside || (slot && slot->op != SX_CONST);
        find_looped(L, &s->body, inside || s->kind == P_FOR);
        find_looped(L, &s->other, inside);
    }
}

/* One variable holds the phases of all slots of a barrier, a bit each: it is right for any order of the slots. */
void sync_role(Lower *L, const PBlock *body, bool many)
{
    Sync *s = &L->sync;
    s->loads.n = s->stores.n = s->commits.n = s->groups = s->depth = 0;
    s->many = many;
    for (uint32_t i = 0; i < L->k->barriers.n; i++) {
        s->bars[i] = (Explicit){.slot = arena_array(L->a, Phase, (size_t)L->k->barriers.v[i]->slots)};
        s->bars[i].looped = many;
    }
    find_looped(L, body, false);
    for (uint32_t i = 0; i < L->k->tiles.n; i++) {
        TileSync *t = &s->tiles[i];
        if (!t->derived || !t->in_block) continue;
        t->phase_var = phase_var(L, arena_printf(L->a, "%s.phase", name_text(L, L->k->tiles.v[i]->name)), 0,
                                 L->k->tiles.v[i]->span);
    }
    for (uint32_t i = 0; i < L->k->barriers.n; i++) {
        const PBarrier *b = L->k->barriers.v[i];
        if (!s->bars[i].looped) continue;
        if (b->slots > 32) {
            Diag *g = lower_error(L, E0712, b->span, "barrier `%s` has %lld slots; in loops and roles it has at most 32",
                                  name_text(L, b->name), (long long)b->slots);
            diag_fix(L->c->diags, g, "use several barriers, or a shorter ring");
        }
        int64_t all = b->slots >= 32 ? -1 : (INT64_C(1) << b->slots) - 1;
        s->bars[i].bits = phase_var(L, arena_printf(L->a, "%s.phase", name_text(L, b->name)), b->is_free ? all : 0,
                                    b->span);
    }
}

/* ---- barriers ---- */

static void bar_operand(Lower *L, IrOp *op, uint32_t bar, int64_t slot)
{
    ir_ref(L->a, op, IRK_BAR, IRA_BAR, bar);
    if (slot) ir_imm(L->a, op, IRK_SLOT, slot);
}

static void bar_slot(Lower *L, IrOp *op, uint32_t bar, Opnd slot)
{
    ir_ref(L->a, op, IRK_BAR, IRA_BAR, bar);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
}

/* Bytes that this move brings: none where its condition does not hold. */
static uint32_t arrive_op(Lower *L, uint32_t bar, Opnd slot, int64_t bytes)
{
    Opnd guarded = emit_sel(L, IR_I32, L->guard, opnd_imm(bytes), opnd_imm(0));
    IrOp *op = emit_new(L, IR_BAR_ARRIVE_EXPECT);
    bar_slot(L, op, bar, slot);
    put_opnd(L, op, IRK_BYTES, guarded);
    return L->body.ops.n;
}

/* All arrivals of a phase but the last become expectations: one arrival for all copies of a role. */
static bool arrive(Lower *L, Phase *p, uint32_t bar, Opnd slot, int64_t bytes)
{
    if (p->arrive_op) L->body.ops.v[p->arrive_op - 1].op = IR_BAR_EXPECT;
    p->arrive_op = arrive_op(L, bar, slot, bytes);
    p->bytes += bytes;
    if (p->bytes <= TX_LIMIT) return true;
    Diag *g = lower_error(L, E0623, L->stmt->span, "%lld bytes complete on one phase of `%s`, a barrier counts %lld",
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

/* The slot: a constant in range, or a value that is proved to be. */
static bool explicit_slot(Lower *L, const PBarrier *b, const Sx *slot, Span at, int64_t *k, Opnd *value)
{
    *k = 0;
    *value = opnd_imm(0);
    if (slot == NULL) return true;
    Poly p = scalar_poly(L, slot);
    bool constant = poly_is_const(p, k), ok;
    if (constant) ok = *k >= 0 && *k < b->slots;
    else ok = domain_le(L->d, poly_const(L->d, 0), p) && domain_le(L->d, p, poly_const(L->d, b->slots - 1));
    *value = constant ? opnd_imm(*k) : value_low(L, slot);
    if (!constant) *k = -1;
    if (ok) return true;
    Diag *g = lower_error(L, E0508, slot ? slot->span : at, "slot %s of barrier `%s` is not %sone of 0 .. %lld",
                          poly_text(L, p), name_text(L, b->name), constant ? "" : "proved to be ",
                          (long long)b->slots - 1);
    diag_label(L->c->diags, g, b->span, "the barrier");
    if (!constant) diag_fix(L->c->diags, g, "write the slot as `.. %% %lld`", (long long)b->slots);
    return false;
}

/* The commit before in the same block that goes to the same phase, as far as can be seen: its number in `commits`. */
static Commit *open_commit(Lower *L, const PBarrier *b, Poly slot)
{
    Sync *s = &L->sync;
    for (uint32_t i = 0; i < s->commits.n; i++)
        if (s->commits.v[i].barrier == b && poly_same(s->commits.v[i].slot, slot)) return &s->commits.v[i];
    Commit *c = vec_add(L->a, &s->commits);
    *c = (Commit){.barrier = b, .slot = slot};
    return c;
}

static void close_commits(Lower *L, const PBarrier *b)
{
    Sync *s = &L->sync;
    uint32_t kept = 0;
    for (uint32_t i = 0; b && i < s->commits.n; i++)
        if (s->commits.v[i].barrier != b) s->commits.v[kept++] = s->commits.v[i];
    s->commits.n = kept;
}

bool sync_arrive(Lower *L, const MoveInfo *mi, int64_t bytes, uint32_t *bar, Opnd *slot)
{
    *slot = opnd_imm(0);
    if (mi->mv->commit == COMMIT_BARRIER) {
        int64_t k;
        const PBarrier *b = mi->mv->barrier;
        if (!explicit_slot(L, b, mi->mv->barrier_slot, mi->mv->commit_span, &k, slot)) return false;
        *bar = b->index;
        Explicit *e = &L->sync.bars[b->index];
        Poly p = mi->mv->barrier_slot ? scalar_poly(L, mi->mv->barrier_slot) : poly_const(L->d, 0);
        Phase *phase = e->looped ? &open_commit(L, b, p)->phase : &e->slot[k];
        if (phase->arrive_op == 0) counts_note(L, *bar, *slot, false, 1);
        return arrive(L, phase, *bar, *slot, bytes);
    }
    TileSync *t = &L->sync.tiles[mi->tile->index];
    *bar = t->bar;
    return arrive(L, &t->phase, t->bar, opnd_imm(0), bytes);
}

static Opnd looped_parity(Lower *L, const Explicit *e, Opnd slot)
{
    vec_push(L->a, &L->hoisted, 0);
    IrVal bits = ir_value(L->a, L->ir, IR_I32, NULL);
    IrOp *op = emit_new(L, IR_GET);
    op->type = IR_I32;
    op->dst = bits;
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, e->bits);
    Opnd parity = emit_op(L, IR_AND, IR_I32, emit_op(L, IR_SHR, IR_I32, (Opnd){.v = bits}, slot), opnd_imm(1));
    Opnd bit = opnd_is(slot, 0) ? opnd_imm(1) : emit_op(L, IR_SHL, IR_I32, opnd_imm(1), slot);
    Opnd next = emit_op(L, IR_XOR, IR_I32, (Opnd){.v = bits}, bit);
    op = emit_new(L, IR_SET);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, e->bits);
    put_opnd(L, op, IRK_A, next);
    return parity;
}

void sync_wait(Lower *L, const PStmt *st)
{
    int64_t k;
    Opnd slot, parity;
    Sync *s = &L->sync;
    const PBarrier *b = st->barrier;
    Explicit *e = &s->bars[b->index];
    if (!explicit_slot(L, b, st->value, st->span, &k, &slot)) return;
    if (e->looped) parity = looped_parity(L, e, slot);
    else parity = opnd_imm((e->slot[k].waits + (b->is_free ? 1 : 0)) & 1);
    IrOp *op = emit_new(L, IR_BAR_WAIT);
    bar_slot(L, op, b->index, slot);
    put_opnd(L, op, IRK_PHASE, parity);
    if (s->far[b->index]) ir_ref(L->a, op, IRK_SCOPE, IRA_WORD, IRC_CLUSTER);
    counts_note(L, b->index, slot, true, 1);
    if (!e->looped) e->slot[k] = (Phase){.waits = e->slot[k].waits + 1};
    close_commits(L, b);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->loads.n; i++)
        if (s->loads.v[i].barrier != b || (s->loads.v[i].slot != k && k >= 0)) s->loads.v[kept++] = s->loads.v[i];
    s->loads.n = kept;
}

/* One arrival for the role, whatever its number of threads. */
void sync_arrive_stmt(Lower *L, const PStmt *st)
{
    int64_t k;
    Opnd slot;
    const PBarrier *b = st->barrier;
    if (!explicit_slot(L, b, st->value, st->span, &k, &slot)) return;
    Opnd rank = st->peer ? value_low(L, st->peer) : opnd_imm(0);
    IrOp *op = emit_new(L, IR_BAR_ARRIVE);
    bar_slot(L, op, b->index, slot);
    if (st->peer) put_opnd(L, op, IRK_RANK, rank);
    counts_note(L, b->index, slot, false, st->peer ? cluster_sources(L, st->peer, st->span) : 1);
    close_commits(L, b);
    if (!L->sync.bars[b->index].looped) L->sync.bars[b->index].slot[k].arrive_op = 0;
}

void sync_expect(Lower *L, const PStmt *st)
{
    int64_t k;
    Opnd slot;
    if (!explicit_slot(L, st->barrier, st->value, st->span, &k, &slot)) return;
    Opnd bytes = value_low(L, st->bytes);
    IrOp *op = emit_new(L, IR_BAR_EXPECT);
    bar_slot(L, op, st->barrier->index, slot);
    put_opnd(L, op, IRK_BYTES, bytes);
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

/* The same with the loops' indices told apart as if they were teams. */
Poly poly_by_turn(Lower *L, Poly p, const OpenLoop *loops, uint32_t turns)
{
    Domain *d = L->d;
    Poly sum = poly_const(d, 0);
    for (uint32_t t = 0; t < p.n; t++) {
        Poly product = poly_const(d, p.terms[t].coef);
        for (unsigned i = 0; i < p.terms[t].natoms; i++) {
            Atom x = p.terms[t].atoms[i];
            for (uint32_t k = 0; k < turns; k++)
                if (loops[k].index == x) x = loops[k].turn;
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
        a.start[i] = poly_by_turn(L, a.start[i], L->open_loops.v, p->turn);
        b.start[i] = poly_by_turn(L, b.start[i], L->open_loops.v, p->turn);
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
        if (mi->mv->barrier_slot && !poly_is_const(scalar_poly(L, mi->mv->barrier_slot), &p->slot)) p->slot = -1;
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
    Sync *s = &L->sync;
    SyncMark m = {arena_array(L->a, PendingStore, s->stores.n), s->stores.n, 0, s->groups, s->block};
    s->block = ++s->nblocks;
    close_commits(L, NULL);
    if (m.nstores) memcpy(m.stores, s->stores.v, m.nstores * sizeof *m.stores);
    carry(L, body, L->open_loops.n);
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
    s->block = m->block;
    close_commits(L, NULL);
}

/* Everything is initialised by one thread; the others, if any, see it behind a barrier of the CTA, and CTAs of a cluster
 * behind one of the cluster (PTX ISA, fence.mbarrier_init). */
void sync_init_ops(Lower *L, uint32_t threads)
{
    bool cluster = L->remote;
    for (uint32_t b = 0; b < L->ir->bars.n; b++) {
        for (uint32_t slot = 0; slot < L->ir->bars.v[b].slots; slot++) {
            IrOp *op = ir_op(L->a, &L->pre, IR_BAR_INIT, L->ir->bars.v[b].span);
            op->elect = true;
            ir_ref(L->a, op, IRK_BAR, IRA_BAR, b);
            if (slot) ir_imm(L->a, op, IRK_SLOT, slot);
            ir_imm(L->a, op, IRK_COUNT_, L->ir->bars.v[b].count);
        }
    }
    if (L->ir->bars.n) ir_op(L->a, &L->pre, IR_FENCE_MBAR_INIT, (Span){0, 0})->elect = true;
    if (cluster) {
        ir_ref(L->a, ir_op(L->a, &L->pre, IR_CLUSTER_ARRIVE, (Span){0, 0}), IRK_SEM, IRA_WORD, IRS_RELAXED);
        ir_op(L->a, &L->pre, IR_CLUSTER_WAIT, (Span){0, 0});
        ir_ref(L->a, ir_op(L->a, &L->post, IR_CLUSTER_ARRIVE, (Span){0, 0}), IRK_SEM, IRA_WORD, IRS_RELAXED);
        ir_op(L->a, &L->post, IR_CLUSTER_WAIT, (Span){0, 0});
    } else if (threads > 32 && L->ir->bars.n) {
        IrOp *op = ir_op(L->a, &L->pre, IR_CTA_SYNC, (Span){0, 0});
        ir_imm(L->a, op, IRK_ID, 0);
        ir_imm(L->a, op, IRK_THREADS, threads);
    }
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
