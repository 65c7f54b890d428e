/* One kernel, statement by statement: this file is the table of contents of the folder. */
#include "lower/schedule.h"

static void block(Lower *L, const PBlock *b);
static void roles(Lower *L, const PStmt *st);

/* ---- the manifest's head ---- */

static void tensors(Lower *L)
{
    MfKernel *mf = &L->ir->mf;
    for (uint32_t i = 0; i < L->k->tensors.n; i++) {
        const PTensor *t = L->k->tensors.v[i];
        MfTensor *m = vec_add(L->a, &mf->tensors);
        m->name = name_text(L, t->name);
        m->type = (uint8_t)t->type;
        m->rank = (uint8_t)t->rank;
        m->strided = t->strided;
        for (int d = 0; d < t->rank; d++) {
            m->extent[d] = scalar_lx(L, t->extent[d]);
            m->stride[d] = scalar_lx(L, t->stride[d]);
        }
        uint32_t size = elem_info(t->type)->global_bits / 8u;
        m->align = size ? size : 1;
    }
}

static void arguments(Lower *L)
{
    MfKernel *mf = &L->ir->mf;
    for (uint32_t i = 0; i < L->k->params.n; i++) {
        const PParam *p = &L->k->params.v[i];
        struct MfArg *arg = (struct MfArg *)vec_add(L->a, &mf->args);
        arg->is_scalar = p->is_scalar;
        arg->index = p->is_scalar ? mf->scalars.n : p->tensor->index;
        if (!p->is_scalar) continue;
        MfScalar *s = vec_add(L->a, &mf->scalars);
        *s = (MfScalar){name_text(L, p->name), (uint8_t)p->type, p->sym};
    }
}

static void launch_shape(Lower *L)
{
    if (has_across(L->k)) { /* deal.c */
        L->ir->mf.threads = (uint32_t)L->k->threads;
        return;
    }
    static const char DIM[] = "xyz";
    MfKernel *mf = &L->ir->mf;
    LxPool *p = &mf->lx;
    for (int i = 0; i < 3; i++) {
        const char *text;
        int64_t cluster = L->k->cluster[i], limit = i == 0 ? INT32_MAX : 65535, k;
        Poly g = scalar_poly(L, L->k->grid[i]);
        mf->grid[i] = scalar_lx(L, L->k->grid[i]);
        mf->cluster[i] = (uint32_t)cluster;
        Span at = L->k->grid_span.hi ? L->k->grid_span : L->k->span;
        Lx fits = lx_op(L->a, p, LX_LE, mf->grid[i], lx_const(L->a, p, limit));
        bool ok;
        if (poly_is_const(g, &k)) {
            ok = k <= limit;
        } else {
            text = arena_printf(L->a, "grid.%c = %s <= %lld", DIM[i], lx_text(L, mf->grid[i]), (long long)limit);
            ok = launch_check(L, E1130, fits, at, text, "limits of the grid, CUDA guide");
        }
        if (!ok)
            lower_error(L, E0903, at, "grid.%c is %s, the limit is %lld", DIM[i], poly_text(L, g), (long long)limit);
        Lx cond = 0;
        if (cluster == 1) continue;
        text = arena_printf(L->a, "grid.%c = %s is a multiple of %lld", DIM[i], lx_text(L, mf->grid[i]),
                            (long long)cluster);
        Need n = need_multiple(L, g, cluster, &cond);
        if (n == NEED_CHECK && launch_check(L, E1129, cond, at, text, "the grid is made of whole clusters"))
            n = NEED_PROVED;
        if (n == NEED_PROVED) continue;
        Diag *d = lower_error(L, E0905, at, "grid.%c = %s is no multiple of the cluster's %lld", DIM[i],
                              poly_text(L, g), (long long)cluster);
        diag_label(L->c->diags, d, L->k->cluster_span, "the cluster");
    }
    mf->threads = (uint32_t)L->k->threads;
}

static void manifest_head(Lower *L)
{
    MfKernel *mf = &L->ir->mf;
    mf->name = name_text(L, L->k->name);
    mf->entry = L->k->entry;
    for (uint32_t i = 0; i < L->k->syms.n; i++) {
        MfSym *s = vec_add(L->a, &mf->syms);
        *s = (MfSym){name_text(L, L->k->syms.v[i].name), L->k->syms.v[i].kind};
    }
    for (uint32_t i = 0; i < L->k->trusts.n; i++)
        vec_push(L->a, &mf->trusts,
                 arena_printf(L->a, "%s(%s)", L->k->trusts.v[i].cond->k == TRUST_SORTED ? "sorted" : "distinct",
                              name_text(L, L->k->trusts.v[i].cond->tensor->name)));
    tensors(L);
    arguments(L);
    launch_shape(L);
}

/* ---- moves ---- */

typedef struct Saved { /* a plan that is refused leaves nothing behind */
    uint32_t maps, params, checks;
} Saved;

static Saved save(const Lower *L)
{
    return (Saved){L->ir->mf.maps.n, L->ir->mf.params.n, L->ir->mf.checks.n};
}

static void restore(Lower *L, Saved s)
{
    L->ir->mf.maps.n = L->descs.n = L->map_tensors.n = s.maps;
    L->ir->mf.params.n = s.params;
    L->ir->mf.checks.n = s.checks;
}

static void no_instruction(Lower *L, const MoveInfo *mi, const Refusal *tensor, const Refusal *bulk)
{
    ErrorCode code = tensor->code == E0801 ? E0801 : E0520; /* what the target lacks counts more */
    Diag *g = lower_error(L, code, mi->stmt->span, "no copy instruction fits this move");
    diag_note(L->c->diags, g, tensor->span, "tensor copy: %s", tensor->text);
    diag_note(L->c->diags, g, bulk->span, "bulk copy: %s", bulk->text);
    const char *other = tensor->by_bulk || !tensor->fix ? bulk->fix : NULL;
    if (tensor->fix && other) diag_fix(L->c->diags, g, "%s, or %s", tensor->fix, other);
    else if (tensor->fix || other) diag_fix(L->c->diags, g, "%s", tensor->fix ? tensor->fix : other);
}

/* `via` pins the instruction; otherwise the first that fits in the order tensor, bulk. */
bool choose_copy(Lower *L, MoveInfo *mi, bool *tensor, TensorPlan *t, BulkPlan *b, Refusal *no_tensor)
{
    Saved before = save(L);
    Refusal no_bulk;
    PVia via = mi->mv->via;
    *tensor = via != VIA_BULK;
    if (*tensor && tensor_plan(L, mi, t, no_tensor)) return true;
    if (via == VIA_MAP) {
        if (no_tensor->text) lower_refuse(L, no_tensor);
        return false;
    }
    restore(L, before);
    *tensor = false;
    if (bulk_plan(L, mi, b, &no_bulk)) return true;
    restore(L, before);
    if (via == VIA_BULK) lower_refuse(L, &no_bulk);
    else no_instruction(L, mi, no_tensor, &no_bulk);
    return false;
}

/* Does the condition say that a loop's index is a multiple of c? */
static bool multiple_index(const Sx *x, int64_t *loop, int64_t *c)
{
    while (x->op == SX_LET) x = x->a;
    if (x->op != SX_EQ || x->a->op != SX_MOD || x->b->op != SX_CONST || x->b->k != 0) return false;
    const Sx *of = x->a->a;
    while (of->op == SX_LET) of = of->a;
    if (of->op != SX_INDEX || x->a->b->op != SX_CONST || x->a->b->k < 2) return false;
    *loop = of->k;
    *c = x->a->b->k;
    return true;
}

/* Where `k % c == 0` holds, k is c times an index of its own: quotients of k then differ from turn to turn. */
static void by_condition(Lower *L, Access *a, const Sx *cond)
{
    int64_t k, c, zero;
    Domain *d = L->d;
    while (cond->op == SX_LET) cond = cond->a;
    if (cond->op == SX_LAND) {
        by_condition(L, a, cond->a);
        by_condition(L, a, cond->b);
        return;
    }
    if (!multiple_index(cond, &k, &c) || k >= L->k->nloops) return;
    LoopState *s = loop_state(L, k);
    const PStmt *st = s->stmt;
    if (st == NULL || !poly_is_const(scalar_poly(L, st->lo), &zero) || zero != 0) return;
    for (uint32_t i = 0; i < a->loops.n; i++) {
        if (a->loops.v[i].index != s->atoms.index) continue;
        Poly whole = s->index, count = poly_ceil(d, scalar_poly(L, st->value), poly_const(d, c));
        const char *name = name_text(L, st->name);
        OpenLoop own = {domain_index(d, name, poly_const(d, 0), count, DEP_LOOP),
                        domain_index(d, name, poly_const(d, 0), count, DEP_TEAM), s->atoms.index};
        s->index = poly_mul(d, poly_const(d, c), poly_atom(d, own.index));
        L->fresh_lets = true;
        scalars_forget(L, USE_INDEX);
        region_boxes(L, &a->info);
        s->index = whole;
        L->fresh_lets = false;
        scalars_forget(L, USE_INDEX);
        a->loops.v[i] = own;
        return;
    }
}

void access_note(Lower *L, const MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    MfTensor *t = &L->ir->mf.tensors.v[mi->tensor->base ? mi->tensor->base->index : mi->tensor->index];
    if (mi->load) t->read = true;
    else t->written = true;
    if (!mi->load && mi->mv->reduce >= 0) t->read = true; /* it is combined with what lies there */
    if (mi->prefetch) return;
    Access *a = vec_add(L->a, &L->accesses);
    *a = (Access){.info = *mi, .write = !mi->load, .waived = mv->overlap_any, .reduce = mi->load ? -1 : mv->reduce};
    a->pipe = L->across;
    a->role = L->sync.many && !L->sched ? L->sync.role + 1 : 0;
    a->nteam = L->nteam;
    memcpy(a->team, L->team, sizeof a->team);
    for (uint32_t i = 0; i < L->open_loops.n; i++) vec_push(L->a, &a->loops, L->open_loops.v[i]);
    for (uint32_t i = 0; i < L->conditions.n; i++) by_condition(L, a, L->conditions.v[i]);
}

/* A multicast whose parts this CTA brings, or a load into another one's tile. */
static bool beyond(Lower *L, MoveInfo *mi, Shares *shares)
{
    const PMove *mv = mi->mv;
    int target[RANKS_MAX];
    if (mv->commit == COMMIT_BARRIER && (mv->barrier_peer || mv->dst.peer) && !pair_plan(L, mi)) return false;
    if (mv->cast == CAST_NONE && !mv->dst.peer) return true;
    if (!role_committed(L, mi->stmt)) return false;
    if (mv->cast == CAST_MASK) return role_mask(L, mi);
    if (mv->cast != CAST_NONE) return plan_multicast(L, mi, shares);
    return cluster_peers(L, mv->dst.peer, mv->dst.span, target);
}

static void copy(Lower *L, const PStmt *st)
{
    MoveInfo mi, whole;
    TensorPlan t;
    BulkPlan b;
    Refusal no_tensor = {0};
    bool tensor;
    uint32_t bar = 0;
    Opnd slot = opnd_imm(0), guard = L->guard, brings = opnd_imm(1);
    Shares shares = {.n = 1, .dim = -1};
    if (!region_resolve(L, st, &mi)) return;
    whole = mi;
    if (!beyond(L, &mi, &shares) || !choose_copy(L, &mi, &tensor, &t, &b, &no_tensor)) return;
    if (mi.in_pair && !tensor) {
        Diag *g = lower_error(L, E0541, st->move->commit_span, "no tensor copy fits this move, and bulk copies have no .cta_group");
        diag_note(L->c->diags, g, no_tensor.span, "tensor copy: %s", no_tensor.text);
        return;
    }
    if (mi.in_pair) mi.bar_rank = mi.mv->barrier_peer ? value_low(L, mi.mv->barrier_peer) : emit_sreg(L, IRR_CLUSTER_CTARANK);
    if (st->move->cast != CAST_NONE && st->move->cast != CAST_MASK && cluster_size_of(L, st->move->cast) > 1)
        brings = multicast_values(L, &mi, st->move->cast, &shares);
    if (mi.mv->dst.peer) {
        mi.to_peer = true;
        mi.peer = value_low(L, mi.mv->dst.peer);
    }
    if (tensor) tensor_values(L, &mi, &t);
    else bulk_values(L, &mi, &b);
    if (!mi.prefetch) sync_before(L, &whole);
    if (tensor && t.device) device_copy(L, &mi, &t);
    int64_t bytes = (tensor ? t.piece_bytes * t.npieces : b.run * b.nruns) * shares.n;
    Opnd each = tensor && !mi.prefetch && shares.n == 1 ? tensor_bytes(L, &mi, &t) : opnd_imm(bytes);
    if (mi.open_mask) {
        each = opnd_imm(bytes = 0); /* `expect` announces them */
        brings = emit_cmp(L, IRL_NE, mi.mask, opnd_imm(0));
    } else if (st->move->cast == CAST_MASK) {
        each = role_mask_bytes(L, &mi, each);
    }
    if (mi.load && !mi.prefetch && !sync_arrive(L, &mi, each, bytes, &bar, &slot)) return;
    L->guard = emit_logic(L, IR_AND, guard, brings);
    if (tensor) t.ok = emit_logic(L, IR_AND, t.ok, brings);
    if (tensor) tensor_emit(L, &mi, &t, bar, slot);
    else bulk_emit(L, &mi, &b, bar, slot);
    L->guard = guard;
    if (!mi.prefetch) sync_after(L, &whole);
    access_note(L, &whole);
    if (L->plan == NULL) return;
    if (tensor) plan_tensor(L, &mi, &t);
    else plan_bulk(L, &mi, &b, mi.mv->via == VIA_INFERRED ? &no_tensor : NULL);
}

static void move(Lower *L, const PStmt *st)
{
    switch (st->move->kind) {
    case MOVE_PEER: role_send(L, st); break;
    case MOVE_SHARED: role_work(L, st); break;
    case MOVE_FILL:
        if (st->move->dst.peer) role_fill_peer(L, st);
        else role_work(L, st);
        break;
    case MOVE_TMEM_CP:
    case MOVE_TMEM_LD:
    case MOVE_TMEM_ST:
    case MOVE_SHIFT: tmem_role_move(L, st); break;
    default: copy(L, st); break;
    }
}

/* ---- scalars ---- */

void lower_let(Lower *L, const PStmt *st)
{
    LetState *s = &L->lets[st->id];
    s->name = name_text(L, st->name);
    s->poly = scalar_poly(L, st->value);
    s->has_poly = true;
    cluster_let(L, st->id, st->value);
    uint8_t uses = L->sched ? USE_VAR : USE_VAR | USE_LOAD;
    s->has_value = false;
    if (!(scalar_uses(L, st->value) & uses)) return; /* made where it is used */
    s->value = sx_is_bool(st->value) ? value_pred(L, st->value) : value_wide(L, st->value);
    s->has_value = true;
}

void lower_assign(Lower *L, const PStmt *st)
{
    VarState *v = &L->vars[st->id];
    Opnd x = value_wide(L, st->value);
    Poly p = scalar_poly(L, st->value);
    if (st->kind == P_SET && !opnd_is(L->guard, 1)) x = emit_sel(L, IR_I64, L->guard, x, emit_get(L, v->ir));
    if (st->kind == P_VAR) {
        v->ir = L->ir->vars.n;
        IrVar *ir = vec_add(L->a, &L->ir->vars);
        *ir = (IrVar){name_text(L, st->name), IR_I64};
    }
    emit_set(L, st->kind == P_VAR ? IR_VAR : IR_SET, v->ir, x);
    cluster_assign(L, st->id, st->value, p);
    v->poly = p;
    L->epoch++;
}

/* ---- blocks ---- */

void loop_atoms(Lower *L, const PStmt *st, LoopState *s)
{
    Domain *d = L->d;
    loop_range(L, st);
    s->wide = s->lo < INT32_MIN || s->hi >= INT32_MAX;
    Poly first = scalar_poly(L, st->lo), count = poly_sub(d, scalar_poly(L, st->value), first);
    unsigned depends = DEP_LOOP |
                       ((scalar_uses(L, st->lo) | scalar_uses(L, st->value)) & (USE_VAR | USE_LOAD) ? (unsigned)DEP_DATA
                                                                                                    : 0u);
    const char *name = name_text(L, st->name);
    s->atoms.index = domain_index(d, name, first, count, L->team_atoms ? (unsigned)DEP_TEAM : depends);
    s->atoms.turn = domain_index(d, name, first, count, DEP_TEAM);
    s->index = poly_atom(d, s->atoms.index);
}

void loop_open(Lower *L, const PStmt *st)
{
    LoopState *s = &L->loops[st->id];
    if (s->atoms.index == 0) loop_atoms(L, st, s);
    vec_push(L->a, &L->open_loops, s->atoms);
    L->open_mask |= loop_bit(st->id);
}

void loop_close(Lower *L, const PStmt *st)
{
    L->open_loops.n--;
    L->open_mask &= ~loop_bit(st->id);
}

/* A bound of a loop whose index fits 32 bits. Where the bound itself may not, it is cut to what does: a start beyond
 * every index and an end before every index stay so. */
Opnd lower_bound(Lower *L, const Sx *x, bool wide)
{
    int64_t lo, hi;
    if (wide) return value_wide(L, x);
    scalar_range(L, x, &lo, &hi);
    if (lo >= INT32_MIN && hi <= INT32_MAX) return value_low(L, x);
    Opnd v = value_wide(L, x);
    if (lo < INT32_MIN) v = emit_op(L, IR_MAX, IR_I64, v, opnd_imm(INT32_MIN));
    if (hi > INT32_MAX) v = emit_op(L, IR_MIN, IR_I64, v, opnd_imm(INT32_MAX));
    return emit_cvt(L, IR_I32, v);
}

static void loop(Lower *L, const PStmt *st)
{
    LoopState *s = &L->loops[st->id];
    sync_flush_loads(L);
    loop_open(L, st);
    Opnd a = lower_bound(L, st->lo, s->wide), b = lower_bound(L, st->value, s->wide);
    IrType t = s->wide ? IR_I64 : IR_I32;
    Opnd guard = L->guard, sync_guard = L->sync.guard;
    b = emit_sel(L, t, guard, b, a);
    L->guard = L->sync.guard = opnd_imm(1);
    SyncMark mark = sync_enter(L, &st->body);
    role_loop(L);
    s->value = emit_loop(L, t, a, b);
    vars_forget(L, &st->body);
    block(L, &st->body);
    L->stmt = st;
    sync_flush_loads(L);
    role_loop(L);
    emit_end(L);
    L->guard = guard;
    L->sync.guard = sync_guard;
    vars_forget(L, &st->body);
    sync_leave(L, &mark);
    loop_close(L, st);
}

/* No branch: what the condition excludes is left out copy by copy, so that barriers, groups and phases never depend on
 * data (sync_cond.c: on what they do). Scalars are pure and made either way. */
static void branch(Lower *L, const PStmt *st)
{
    Opnd outer = L->guard, cond = value_pred(L, st->value);
    SyncBranch sync = sync_branch(L, st, cond);
    L->guard = emit_logic(L, IR_AND, outer, cond);
    vec_push(L->a, &L->conditions, st->value);
    block(L, &st->body);
    L->conditions.n--;
    L->stmt = st;
    vars_forget(L, &st->body);
    if (st->has_else) {
        sync_branch_else(L, st, cond, &sync);
        L->guard = emit_logic(L, IR_AND, outer, emit_not(L, cond));
        block(L, &st->other);
        L->stmt = st;
        vars_forget(L, &st->other);
    }
    L->guard = outer;
    sync_branch_end(L, &sync);
}

static void group(Lower *L, const PStmt *st)
{
    block(L, &st->body);
    L->stmt = st;
    sync_group_end(L);
}

static void block(Lower *L, const PBlock *b)
{
    bool beside = b == &L->k->body && L->k->roles_span.hi; /* roles: their scalars are made in each of them */
    for (const PStmt *st = b->first; st; st = st->next) {
        L->stmt = st;
        if (beside && st->kind != P_ROLES) continue;
        switch (st->kind) {
        case P_LET: lower_let(L, st); break;
        case P_VAR:
        case P_SET: lower_assign(L, st); break;
        case P_FOR: loop(L, st); break;
        case P_IF: branch(L, st); break;
        case P_GROUP: group(L, st); break;
        case P_MOVE: move(L, st); break;
        case P_WAIT: sync_wait(L, st); break;
        case P_WAIT_GROUP: sync_wait_group(L, st); break;
        case P_ARRIVE: sync_arrive_stmt(L, st); break;
        case P_EXPECT: sync_expect(L, st); break;
        case P_ROLES: roles(L, st); break;
        case P_VIEW: device_declare(L, st); break;
        case P_PIPELINE: break; /* schedule.h */
        }
    }
}

/* ---- the whole ---- */

/* What an op gives whose guard is false: ops.def. */
static void instead(Lower *L, IrOp *op)
{
    IrOp none = {.op = IR_CONST, .type = op->type, .dst = op->dst, .span = op->span};
    ir_imm(L->a, &none, IRK_A, -1);
    *op = none;
}

/* Without what never happens. */
static void set_ops(Lower *L, IrRole *to, const IrRole *from)
{
    to->ops.n = 0;
    to->ops.cap = from->ops.n;
    to->ops.v = arena_array(L->a, IrOp, from->ops.n);
    for (uint32_t i = 0; i < from->ops.n; i++) {
        IrOp *op = &to->ops.v[to->ops.n];
        *op = from->ops.v[i];
        bool never = op->guard.when == IRW_NEVER;
        if (never && op->dst) instead(L, op);
        if (!never || op->dst) to->ops.n++;
    }
}

IrRole *role_end(Lower *L, const char *name, uint32_t warps, bool elect)
{
    IrRole *r = vec_add(L->a, &L->ir->roles);
    *r = (IrRole){.name = name, .warps = warps, .elect = elect};
    set_ops(L, r, &L->body);
    L->body.ops.n = 0;
    return r;
}

/* Roles of the source: what stands in front of them is scalars, made by all. */
static void roles(Lower *L, const PStmt *st)
{
    for (uint32_t i = 0; i < st->roles.n; i++) {
        const PRole *r = &st->roles.v[i];
        scope_open(L);
        role_begin(L, r, i);
        L->epoch++;
        sync_role(L, &r->body, true);
        for (const PStmt *v = L->k->body.first; v != st; v = v->next) { /* a role uses no value of another one */
            L->stmt = v;
            if (v->kind == P_LET) lower_let(L, v);
            else if (v->kind == P_VAR || v->kind == P_SET) lower_assign(L, v);
        }
        L->stmt = st;
        L->device_body = device_wanted(L, &r->body) ? &r->body : NULL;
        L->device_cell = 0;
        for (const PStmt *v = L->k->body.first; v; v = v->next) /* views beside the roles: each makes its own maps */
            if (v->kind == P_VIEW) device_declare(L, v);
        block(L, &r->body);
        L->stmt = NULL;
        sync_end(L);
        role_finish(L, r);
        scope_close(L);
    }
    L->device_body = NULL;
    device_place(L);
}

static void sequential(Lower *L)
{
    sync_begin(L); /* barriers */
    if (L->k->roles_span.hi == 0) sync_role(L, &L->k->body, false);
    L->sync.guard = opnd_imm(1);
    block(L, &L->k->body);
    L->stmt = NULL;
    if (L->ir->roles.n == 0) {
        sync_end(L);
        role_end(L, "main", 1, true);
    }
    counts_set(L);
}

/* The descriptors that the program wants early: in front of the barriers, whose initialisation they overlap with. */
static void prefetch_maps(Lower *L)
{
    for (uint32_t i = 0; i < L->k->maps.n; i++) {
        const PMap *m = L->k->maps.v[i];
        uint32_t at = L->map_of[i];
        if (!m->prefetched || at == 0 || at == UINT32_MAX) continue;
        IrOp *op = ir_op(L->a, &L->pre, IR_MAP_PREFETCH, m->span);
        op->elect = true;
        ir_ref(L->a, op, IRK_MAP, IRA_MAP, at - 1);
    }
}

static void whole(Lower *L)
{
    prefetch_maps(L);
    uint32_t warps = 0;
    for (uint32_t i = 0; i < L->ir->roles.n; i++) warps += L->ir->roles.v[i].warps;
    if (L->ir->mf.threads < warps * 32) L->ir->mf.threads = warps * 32;
    sync_init_ops(L, warps > 1 ? L->ir->mf.threads : 32); /* `threads` may ask for more than the roles have */
    set_ops(L, &L->ir->init, &L->pre);
    set_ops(L, &L->ir->exit, &L->post);
}

IrKernel *lower_kernel(Compilation *c, const PKernel *k, Text *plan)
{
    Lower *L = arena_new(c->scratch, Lower);
    *L = (Lower){.c = c,
                 .a = c->scratch,
                 .k = k,
                 .plan = plan,
                 .guard = opnd_imm(1),
                 .inside = opnd_imm(1),
                 .at_rank = -1};
    L->ir = arena_new(L->a, IrKernel);
    L->ir->name = k->name;
    L->ir->span = k->span;
    L->map_of = arena_array(L->a, uint32_t, k->maps.n);
    L->pol_of = arena_array(L->a, uint32_t, k->policies.n);
    L->scalar_reads = arena_array(L->a, Span, k->tensors.n);

    scalars_begin(L); /* symbols, facts, grid, variables */
    manifest_head(L); /* parameters, launch shape */
    memory_buffers(L);
    if (schedule_wanted(k)) schedule_kernel(L);
    else sequential(L);
    independence_check(L);
    exact_check(L);
    whole(L); /* init, roles, exit */
    memory_place(L);
    if (L->failed) return NULL;
    if (plan) plan_print(L);
    return L->ir;
}
