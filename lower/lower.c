/* One kernel, statement by statement: this file is the table of contents of the folder. */
#include "lower/parts.h"

static void block(Lower *L, const PBlock *b);

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
    Diag *g = lower_error(L, E0520, mi->stmt->span, "no copy instruction fits this move");
    diag_note(L->c->diags, g, tensor->span, "tensor copy: %s", tensor->text);
    diag_note(L->c->diags, g, bulk->span, "bulk copy: %s", bulk->text);
    const char *fix = tensor->fix ? tensor->fix : bulk->fix;
    if (fix) diag_fix(L->c->diags, g, "%s", fix);
}

typedef struct Choice {
    bool tensor;
    TensorPlan t;
    BulkPlan b;
    Refusal no_tensor, no_bulk;
} Choice;

/* `via` pins the instruction; otherwise the first that fits in the order tensor, bulk. */
static bool choose(Lower *L, MoveInfo *mi, Choice *c)
{
    Saved before = save(L);
    PVia via = mi->mv->via;
    c->tensor = via != VIA_BULK;
    if (c->tensor && tensor_plan(L, mi, &c->t, &c->no_tensor)) return true;
    if (via == VIA_MAP) {
        if (c->no_tensor.text) lower_refuse(L, &c->no_tensor);
        return false;
    }
    restore(L, before);
    c->tensor = false;
    if (bulk_plan(L, mi, &c->b, &c->no_bulk)) return true;
    restore(L, before);
    if (via == VIA_BULK) lower_refuse(L, &c->no_bulk);
    else no_instruction(L, mi, &c->no_tensor, &c->no_bulk);
    return false;
}

/* Where interleaved maps leave the bytes in shared memory has not been measured. */
static bool interleaved(Lower *L, const MoveInfo *mi)
{
    if (mi->tile->interleave == 0) return false;
    Diag *g = lower_error(L, E1001, mi->stmt->span, "moves of interleaved tiles are not supported yet");
    diag_label(L->c->diags, g, mi->tile->span, "the tile's layout");
    return true;
}

static void move(Lower *L, const PStmt *st)
{
    MoveInfo mi;
    Choice c = {0};
    uint32_t bar = 0;
    Opnd slot = opnd_imm(0);
    if (!region_resolve(L, st, &mi) || !choose(L, &mi, &c) || interleaved(L, &mi)) return;
    MfTensor *t = &L->ir->mf.tensors.v[mi.tensor->base ? mi.tensor->base->index : mi.tensor->index];
    if (mi.load) t->read = true;
    else t->written = true;
    if (c.tensor) tensor_values(L, &mi, &c.t);
    else bulk_values(L, &mi, &c.b);
    sync_before(L, &mi);
    int64_t bytes = c.tensor ? c.t.piece_bytes * c.t.npieces : c.b.run * c.b.nruns;
    if (mi.load && !sync_arrive(L, &mi, bytes, &bar, &slot)) return;
    if (c.tensor) tensor_emit(L, &mi, &c.t, bar, slot);
    else bulk_emit(L, &mi, &c.b, bar, slot);
    sync_after(L, &mi);
    Access *a = vec_add(L->a, &L->accesses);
    *a = (Access){mi, !mi.load, mi.mv->overlap_any};
    if (L->plan == NULL) return;
    if (c.tensor) plan_tensor(L, &mi, &c.t);
    else plan_bulk(L, &mi, &c.b, mi.mv->via == VIA_INFERRED ? &c.no_tensor : NULL);
}

/* ---- scalars ---- */

static void let(Lower *L, const PStmt *st)
{
    LetState *s = &L->lets[st->id];
    s->name = name_text(L, st->name);
    s->poly = scalar_poly(L, st->value);
    s->has_poly = true;
    if (!(scalar_uses(L, st->value) & (USE_VAR | USE_LOAD))) return; /* made where it is used */
    s->value = sx_is_bool(st->value) ? value_pred(L, st->value) : value_wide(L, st->value);
    s->has_value = true;
}

static void assign(Lower *L, const PStmt *st)
{
    VarState *v = &L->vars[st->id];
    Opnd x = value_wide(L, st->value);
    Poly p = scalar_poly(L, st->value);
    if (st->kind == P_VAR) {
        v->ir = L->ir->vars.n;
        IrVar *ir = vec_add(L->a, &L->ir->vars);
        *ir = (IrVar){name_text(L, st->name), IR_I64};
    }
    IrOp *op = emit_new(L, st->kind == P_VAR ? IR_VAR : IR_SET);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, v->ir);
    put_opnd(L, op, IRK_A, x);
    v->poly = p;
    L->epoch++;
}

/* ---- blocks ---- */

static void loop_atoms(Lower *L, const PStmt *st, LoopState *s)
{
    Domain *d = L->d;
    loop_range(L, st);
    s->wide = s->lo < INT32_MIN || s->hi >= INT32_MAX;
    Poly first = scalar_poly(L, st->lo), count = poly_sub(d, scalar_poly(L, st->value), first);
    unsigned depends = DEP_LOOP |
                       ((scalar_uses(L, st->lo) | scalar_uses(L, st->value)) & (USE_VAR | USE_LOAD) ? (unsigned)DEP_DATA
                                                                                                    : 0u);
    const char *name = name_text(L, st->name);
    s->atoms.index = domain_index(d, name, first, count, depends);
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
static Opnd bound32(Lower *L, const Sx *x)
{
    int64_t lo, hi;
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
    Opnd a = s->wide ? value_wide(L, st->lo) : bound32(L, st->lo),
         b = s->wide ? value_wide(L, st->value) : bound32(L, st->value);
    SyncMark mark = sync_enter(L, &st->body, true);
    s->value = emit_loop(L, s->wide ? IR_I64 : IR_I32, a, b);
    vars_forget(L, &st->body);
    block(L, &st->body);
    L->stmt = st;
    sync_flush_loads(L);
    emit_end(L);
    vars_forget(L, &st->body);
    sync_leave(L, &mark);
    loop_close(L, st);
}

static void branch(Lower *L, const PStmt *st)
{
    sync_flush_loads(L);
    IrVal cond = emit_materialize(L, IR_PRED, value_pred(L, st->value));
    ir_ref(L->a, emit_new(L, IR_IF), IRK_COND, IRA_VAL, cond);
    SyncMark mark = sync_enter(L, &st->body, false), first = {0};
    scope_open(L);
    block(L, &st->body);
    L->stmt = st;
    sync_flush_loads(L);
    scope_close(L);
    vars_forget(L, &st->body);
    if (st->has_else) {
        first = sync_else(L, &mark);
        emit_new(L, IR_ELSE);
        scope_open(L);
        block(L, &st->other);
        L->stmt = st;
        sync_flush_loads(L);
        scope_close(L);
        vars_forget(L, &st->other);
    }
    emit_new(L, IR_END);
    sync_leave(L, &mark);
    sync_join(L, &first);
}

static void group(Lower *L, const PStmt *st)
{
    block(L, &st->body);
    L->stmt = st;
    sync_group_end(L);
}

static void block(Lower *L, const PBlock *b)
{
    for (const PStmt *st = b->first; st; st = st->next) {
        L->stmt = st;
        switch (st->kind) {
        case P_LET: let(L, st); break;
        case P_VAR:
        case P_SET: assign(L, st); break;
        case P_FOR: loop(L, st); break;
        case P_IF: branch(L, st); break;
        case P_GROUP: group(L, st); break;
        case P_MOVE: move(L, st); break;
        case P_WAIT: sync_wait(L, st); break;
        case P_WAIT_GROUP: sync_wait_group(L, st); break;
        case P_PIPELINE:
        case P_ROLES:
        case P_ARRIVE:
        case P_EXPECT: break;
        }
    }
}

/* ---- the whole ---- */

static void main_role(Lower *L)
{
    IrRole *r = vec_add(L->a, &L->ir->roles);
    uint32_t n = L->pre.ops.n + L->body.ops.n;
    *r = (IrRole){.name = "main", .warps = 1, .elect = true};
    r->ops.v = arena_array(L->a, IrOp, n);
    r->ops.n = r->ops.cap = n;
    if (L->pre.ops.n) memcpy(r->ops.v, L->pre.ops.v, L->pre.ops.n * sizeof *r->ops.v);
    if (L->body.ops.n) memcpy(r->ops.v + L->pre.ops.n, L->body.ops.v, L->body.ops.n * sizeof *r->ops.v);
}

IrKernel *lower_kernel(Compilation *c, const PKernel *k, Text *plan)
{
    Lower *L = arena_new(c->scratch, Lower);
    *L = (Lower){.c = c, .a = c->scratch, .k = k, .plan = plan};
    L->ir = arena_new(L->a, IrKernel);
    L->ir->name = k->name;
    L->ir->span = k->span;
    L->map_of = arena_array(L->a, uint32_t, k->maps.n);
    L->pol_of = arena_array(L->a, uint32_t, k->policies.n);
    L->scalar_reads = arena_array(L->a, Span, k->tensors.n);

    scalars_begin(L); /* symbols, facts, grid, variables */
    manifest_head(L); /* parameters, launch shape */
    memory_buffers(L);
    sync_begin(L); /* barriers */
    block(L, &k->body);
    L->stmt = NULL;
    sync_end(L);
    independence_check(L);
    exact_check(L);
    memory_place(L);
    main_role(L);
    if (L->failed) return NULL;
    if (plan) plan_print(L);
    return L->ir;
}
