/* Iterations of pipelines: which ones this team runs, and their indices.
 *
 * across grid   static: team, team + teams, ..        ticket: the loading role draws numbers from a counter and passes
 *               them on through a ring of ids, -1 at the end        launch: one CTA, or cluster, per iteration
 * else          nested loops */
#include "lower/schedule.h"

Pipe *pipe_of(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->pipes.n; i++)
        if (s->pipes.v[i]->st == st) return s->pipes.v[i];
    Pipe *p = arena_new(L->a, Pipe);
    *p = (Pipe){.st = st, .batch = 1, .deal = st->pipe->deal, .across = st->pipe->deal != DEAL_NONE, .ids = RING_NONE};
    for (int i = 0; i < st->pipe->n; i++) {
        p->order[i] = (uint8_t)i;
        PStmt *x = &p->index[i];
        *x = (PStmt){.kind = P_FOR, .span = st->pipe->v[i].span, .id = st->pipe->v[i].loop, .name = st->pipe->v[i].name};
        x->lo = st->pipe->v[i].lo;
        x->value = st->pipe->v[i].hi;
    }
    vec_push(L->a, &s->pipes, p);
    return p;
}

/* ---- the launch ---- */

static bool total_of(Lower *L, Pipe *p)
{
    LxPool *pool = &L->ir->mf.lx;
    for (int i = 0; i < p->st->pipe->n; i++) {
        Lx lo = scalar_lx(L, p->index[i].lo), hi = scalar_lx(L, p->index[i].value);
        if (lo == 0 || hi == 0) {
            lower_error(L, E0745, p->index[i].span, "the range of `%s` is not known at launch",
                        name_text(L, p->index[i].name));
            return false;
        }
        Lx n = lx_op(L->a, pool, LX_MAX, lx_op(L->a, pool, LX_SUB, hi, lo), lx_const(L->a, pool, 0));
        p->total = i ? lx_op(L->a, pool, LX_MUL, p->total, n) : n;
    }
    return true;
}

static bool asks_ahead(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE && s->move->ahead > 0) return true;
        if (asks_ahead(&s->body) || asks_ahead(&s->other)) return true;
    }
    return false;
}

/* Bytes that lie side by side in memory of what one iteration moves. */
static int64_t run_of(Lower *L, const MoveInfo *mi)
{
    int64_t n = mi->bits / 8, k;
    for (int d = mi->rank - 1; d >= 0; d--) {
        n *= mi->extent[d];
        bool whole = mi->g->dim[d].whole || (poly_is_const(scalar_poly(L, mi->tensor->extent[d]), &k) && k == mi->extent[d]);
        if (!whole) break;
    }
    return n;
}

/* Teams run side by side: what they move at a time should be neighbours in memory on the side that has the shorter runs,
 * on that of the stores if both are alike. Which team gets an iteration is open, and so is their order. */
static void choose_order(Lower *L, Pipe *p)
{
    const Planned *best = NULL;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < L->sched->moves.n; i++) {
        const Planned *m = L->sched->moves.v[i];
        PMoveKind kind = m->st->move->kind;
        if (m->across != p || (kind != MOVE_LOAD && kind != MOVE_STORE)) continue;
        int64_t n = run_of(L, &m->mi);
        if (n > least || (n == least && (kind == MOVE_LOAD || !best->mi.load))) continue;
        best = m;
        least = n;
    }
    if (best == NULL) return;
    int n = 0, count = p->st->pipe->n;
    bool taken[PIPE_INDICES] = {false};
    for (int d = 0; d < best->mi.rank; d++) {
        for (int i = 0; i < count; i++) {
            if (taken[i] || !domain_mentions(L->d, best->mi.start[d], L->loops[p->index[i].id].atoms.index)) continue;
            taken[i] = true;
            p->order[n++] = (uint8_t)i;
        }
    }
    if (n == count) return;
    for (int i = 0; i < count; i++) p->order[i] = (uint8_t)i; /* some index moves nothing there */
}

/* Tickets keep the teams in step with each other, which DRAM pages like; clusters have no counter of their own. */
static void choose_deal(Lower *L, Pipe *p)
{
    if (p->deal == DEAL_CLC)
        lower_error(L, E1001, p->st->pipe->deal_span, "dealing by clc is not supported yet");
    bool fits = L->cluster_size == 1 && L->sched->nacross == 1 && !asks_ahead(&p->st->body);
    if (p->deal == DEAL_TICKET && !fits)
        lower_error(L, E0746, p->st->pipe->deal_span, "%s",
                    L->cluster_size > 1        ? "tickets are for single CTAs: deal to clusters `by static`"
                    : L->sched->nacross > 1    ? "one counter per launch: only one pipeline of a kernel is dealt by tickets"
                                               : "`ahead` needs to know what comes next: deal `by static`");
    if (p->deal == DEAL_ANY) p->deal = fits ? DEAL_TICKET : DEAL_STATIC;
    if (p->deal == DEAL_LAUNCH && L->sched->nacross > 1)
        lower_error(L, E0746, p->st->pipe->deal_span, "one team per iteration: only for the only pipeline of a kernel");
}

/* Bytes of global memory that the iterations move, as far as the pipelines' own moves tell. */
static Lx traffic(Lower *L)
{
    Sched *s = L->sched;
    LxPool *pool = &L->ir->mf.lx;
    Lx sum = 0;
    for (uint32_t i = 0; i < s->pipes.n; i++) {
        const Pipe *p = s->pipes.v[i];
        int64_t bytes = 0;
        for (uint32_t k = 0; k < s->moves.n; k++) {
            const Planned *m = s->moves.v[k];
            bool direct = m->across == p && m->chain[m->depth].block == &p->st->body && !m->conditional;
            PMoveKind kind = m->st->move->kind;
            if (direct && (kind == MOVE_LOAD || kind == MOVE_STORE)) bytes += m->bytes * m->shares;
        }
        if (!p->across || bytes == 0) continue;
        Lx n = lx_op(L->a, pool, LX_MUL, p->total, lx_const(L->a, pool, bytes));
        sum = sum ? lx_op(L->a, pool, LX_ADD, sum, n) : n;
    }
    return sum;
}

void deal_launch(Lower *L)
{
    Sched *s = L->sched;
    MfKernel *mf = &L->ir->mf;
    LxPool *pool = &mf->lx;
    Lx teams = 0;
    PDeal deal = DEAL_NONE;
    for (uint32_t i = 0; i < s->pipes.n; i++) {
        Pipe *p = s->pipes.v[i];
        if (!p->across || !total_of(L, p)) continue;
        choose_deal(L, p);
        choose_order(L, p);
        Lx n = lx_op(L->a, pool, LX_CEIL, p->total, lx_const(L->a, pool, p->batch));
        teams = teams ? lx_op(L->a, pool, LX_MAX, teams, n) : n;
        deal = p->deal;
    }
    if (deal == DEAL_NONE) return;
    mf->traffic = traffic(L);
    const int64_t *c = L->k->cluster;
    mf->grid[0] = lx_op(L->a, pool, LX_MUL, teams, lx_const(L->a, pool, c[0]));
    mf->grid[1] = lx_const(L->a, pool, c[1]);
    mf->grid[2] = lx_const(L->a, pool, c[2]);
    for (int i = 0; i < 3; i++) mf->cluster[i] = (uint32_t)c[i];
    if (deal == DEAL_LAUNCH) {
        Lx fits = lx_op(L->a, pool, LX_LE, mf->grid[0], lx_const(L->a, pool, INT32_MAX));
        launch_check(L, E1130, fits, L->k->span, arena_printf(L->a, "grid.x = %s <= 2147483647", lx_text(L, mf->grid[0])),
                     "limits of the grid, CUDA guide");
        return;
    }
    mf->deal = deal == DEAL_TICKET ? MF_DEAL_TICKET : MF_DEAL_STATIC;
    mf->teams = teams;
    mf->per_sm = s->per_sm;
}

/* ---- indices ---- */

static void set_index(Lower *L, const PStmt *x, Opnd v)
{
    LoopState *s = &L->loops[x->id];
    s->value = s->wide ? v : emit_cvt(L, IR_I32, v);
}

/* The index that is last in the order runs fastest. */
static void set_indices(Lower *L, const Pipe *p, Opnd id)
{
    for (int i = p->st->pipe->n - 1; i >= 0; i--) {
        const PStmt *x = &p->index[p->order[i]];
        Opnd lo = value_wide(L, x->lo), v = id;
        if (i > 0) {
            Opnd n = emit_op(L, IR_SUB, IR_I64, value_wide(L, x->value), lo);
            v = emit_op(L, IR_MOD, IR_I64, id, n);
            id = emit_op(L, IR_DIV, IR_I64, id, n);
        }
        set_index(L, x, emit_op(L, IR_ADD, IR_I64, v, lo));
    }
}

/* One turn: a team's iteration, or batch of them. */
static void turn(Lower *L, Pipe *p, Opnd id)
{
    if (p->batch == 1) {
        set_indices(L, p, id);
        roles_turn(L, p, false);
        return;
    }
    roles_begin(L, &p->st->body);
    Opnd first = emit_op(L, IR_MUL, IR_I64, id, opnd_imm(p->batch)), g;
    bool lanes = L->lanes;
    if (lanes) g = emit_lanes(L, p->batch);
    else g = emit_loop(L, IR_I32, opnd_imm(0), opnd_imm(p->batch));
    Opnd at = emit_op(L, IR_ADD, IR_I64, first, emit_cvt(L, IR_I64, g));
    L->inside = emit_cmp(L, IRL_LT, at, emit_param(L, p->total));
    L->sched->batch_index = g;
    set_indices(L, p, at);
    roles_turn(L, p, true);
    L->inside = opnd_imm(1);
    L->sched->batch_index = opnd_imm(0);
    emit_end(L);
    if (lanes) L->in_lanes = false;
    roles_end(L, &p->st->body);
}

/* ---- dealing ---- */

static Opnd sreg_over(Lower *L, IrReg r, int64_t d)
{
    Opnd v = emit_sreg(L, r);
    return emit_cvt(L, IR_I64, emit_op(L, IR_DIV, IR_I32, v, opnd_imm(d)));
}

static Opnd get64(Lower *L, uint32_t var)
{
    vec_push(L->a, &L->hoisted, 0);
    IrVal v = ir_value(L->a, L->ir, IR_I64, NULL);
    IrOp *op = emit_new(L, IR_GET);
    op->type = IR_I64;
    op->dst = v;
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, var);
    return (Opnd){.v = v};
}

static void put64(Lower *L, IrOpcode code, uint32_t var, Opnd v)
{
    IrOp *op = emit_new(L, code);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, var);
    put_opnd(L, op, IRK_A, v);
}

static void deal_static(Lower *L, Pipe *p, Opnd teams)
{
    Opnd team = sreg_over(L, IRR_CTAID_X, L->k->cluster[0]), n = sreg_over(L, IRR_NCTAID_X, L->k->cluster[0]);
    Opnd left = emit_op(L, IR_SUB, IR_I64, emit_op(L, IR_ADD, IR_I64, teams, n), emit_op(L, IR_ADD, IR_I64, team, opnd_imm(1)));
    Opnd turns = emit_op(L, IR_MAX, IR_I64, emit_op(L, IR_DIV, IR_I64, left, n), opnd_imm(0));
    Opnd k = emit_loop(L, IR_I64, opnd_imm(0), turns);
    L->sched->team_step = n;
    turn(L, p, emit_op(L, IR_ADD, IR_I64, team, emit_op(L, IR_MUL, IR_I64, k, n)));
    emit_end(L);
}

static void store_id(Lower *L, uint32_t ring, Opnd id)
{
    Opnd slot = ring_slot(L, ring);
    IrOp *op = emit_new(L, IR_STS);
    ir_ref(L->a, op, IRK_DST, IRA_BUF, L->sched->rings[ring].buf);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
    put_opnd(L, op, IRK_A, id);
}

static Opnd load_id(Lower *L, uint32_t ring)
{
    Opnd slot = ring_slot(L, ring);
    vec_push(L->a, &L->hoisted, 0);
    IrVal v = ir_value(L->a, L->ir, IR_I64, "id");
    IrOp *op = emit_new(L, IR_LDS);
    op->type = IR_I64;
    op->dst = v;
    ir_ref(L->a, op, IRK_SRC, IRA_BUF, L->sched->rings[ring].buf);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
    return (Opnd){.v = v};
}

/* The loading role draws the next number while it issues what the last one stands for. */
static Opnd draw(Lower *L, Pipe *p, uint32_t next, Opnd teams)
{
    Opnd t = get64(L, next);
    Opnd id = emit_sel(L, IR_I64, emit_cmp(L, IRL_LT, t, teams), t, opnd_imm(-1));
    ring_wait_free(L, p->ids);
    store_id(L, p->ids, id);
    ring_arrive_full(L, p->ids);
    return id;
}

static void draw_next(Lower *L, uint32_t next, Opnd teams)
{
    vec_push(L->a, &L->hoisted, 0);
    IrVal v = ir_value(L->a, L->ir, IR_I64, "drawn");
    IrOp *op = emit_new(L, IR_TICKET);
    op->type = IR_I64;
    op->dst = v;
    put_opnd(L, op, IRK_B, teams);
    put64(L, IR_SET, next, emit_op(L, IR_ADD, IR_I64, (Opnd){.v = v}, sreg_over(L, IRR_NCTAID_X, 1)));
}

static void deal_ticket(Lower *L, Pipe *p, Opnd teams)
{
    Sched *s = L->sched;
    bool loads = s->role == AG_LOAD;
    uint32_t next = L->ir->vars.n;
    param_add(L, MF_PARAM_COUNTER, 0);
    if (loads) {
        IrVar *v = vec_add(L->a, &L->ir->vars);
        *v = (IrVar){"next", IR_I64};
        put64(L, IR_VAR, next, sreg_over(L, IRR_CTAID_X, 1));
    }
    emit_new(L, IR_REPEAT);
    scope_open(L);
    Opnd id = opnd_imm(0);
    if (loads) id = draw(L, p, next, teams);
    else ring_wait_full(L, p->ids);
    if (loads && s->shape[AG_LOAD] != SHAPE_ELECT) emit_new(L, IR_WARP_SYNC);
    if (!loads || s->shape[AG_LOAD] != SHAPE_ELECT) id = load_id(L, p->ids);
    IrVal stop = emit_materialize(L, IR_PRED, emit_cmp(L, IRL_LT, id, opnd_imm(0)));
    ir_ref(L->a, emit_new(L, IR_BREAK), IRK_COND, IRA_VAL, stop);
    if (loads) draw_next(L, next, teams);
    turn(L, p, id);
    if (!loads) ring_release(L, p->ids);
    ring_advance(L, p->ids);
    emit_end(L);
}

static void nested(Lower *L, Pipe *p, int i)
{
    if (i == p->st->pipe->n) {
        roles_turn(L, p, false);
        return;
    }
    const PStmt *x = &p->index[i];
    LoopState *s = &L->loops[x->id];
    loop_open(L, x);
    Opnd a = lower_bound(L, x->lo, s->wide), b = lower_bound(L, x->value, s->wide);
    s->value = emit_loop(L, s->wide ? IR_I64 : IR_I32, a, b);
    vars_forget(L, &p->st->body);
    nested(L, p, i + 1);
    emit_end(L);
    vars_forget(L, &p->st->body);
    loop_close(L, x);
}

/* Rule G: iterations differ in their indices, CTAs of a team in their ranks. */
static void across_open(Lower *L, Pipe *p)
{
    L->across = p;
    L->nteam = 0;
    L->team_atoms = true;
    for (int i = 0; i < p->st->pipe->n; i++) {
        loop_open(L, &p->index[i]);
        L->open_loops.n--; /* no loop of the team's */
        L->team[L->nteam++] = L->loops[p->index[i].id].atoms.index;
    }
    L->team_atoms = false;
    for (int i = 0; i < 3; i++)
        if (L->cluster_atom[i]) L->team[L->nteam++] = L->cluster_atom[i];
}

static void across_close(Lower *L, Pipe *p)
{
    for (int i = p->st->pipe->n - 1; i >= 0; i--) {
        L->open_loops.n++;
        loop_close(L, &p->index[i]);
    }
    L->across = NULL;
    L->nteam = 0;
}

void deal_walk(Lower *L, Pipe *p)
{
    if (!p->across) {
        nested(L, p, 0);
        return;
    }
    across_open(L, p);
    scope_open(L);
    if (L->sched->planning) {
        set_indices(L, p, sreg_over(L, IRR_CTAID_X, 1)); /* not a constant: conditions on it would fold for good */
        roles_turn(L, p, false);
    } else {
        LxPool *pool = &L->ir->mf.lx;
        Opnd teams = emit_param(L, lx_op(L->a, pool, LX_CEIL, p->total, lx_const(L->a, pool, p->batch)));
        if (p->deal == DEAL_LAUNCH) turn(L, p, sreg_over(L, IRR_CTAID_X, L->k->cluster[0]));
        else if (p->deal == DEAL_TICKET) deal_ticket(L, p, teams);
        else deal_static(L, p, teams);
    }
    scope_close(L);
    across_close(L, p);
}
