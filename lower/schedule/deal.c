/* Iterations of pipelines: which ones this team runs, and their indices.
 *
 * across grid   static: team, team + teams, ..        ticket: the loading role draws numbers from a counter and passes
 *               them on through a ring of ids, -1 at the end        launch: one CTA, or cluster, per iteration
 *               clc: as launch, but a team that is done takes over a cluster that has not started (sm_100 on)
 * else          nested loops */
#include "lower/apart/apart.h"
#include "lower/plan/device_maps.h"
#include "lower/schedule/schedule.h"

/* Of several alternatives of a kernel all but the first are for less work: a team for each iteration. */
static PDeal deal_asked(const Lower *L, const PStmt *st)
{
    PDeal wish = L->k->wish ? L->k->wish->deal : DEAL_ANY;
    if (st->pipe->deal != DEAL_ANY || only_across(L->k) != st) return st->pipe->deal;
    return wish == DEAL_ANY && L->k->alternative > 0 ? DEAL_LAUNCH : wish;
}

Pipe *pipe_of(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    Pipe *p = loop_use(L, st)->pipe;
    if (p) return p;
    p = loop_use(L, st)->pipe = arena_new(L->a, Pipe);
    *p = (Pipe){.st = st, .use = loop_use(L, st), .batch = 1, .deal = deal_asked(L, st), .across = st->pipe->deal != DEAL_NONE};
    for (int i = 0; i < st->pipe->n; i++) {
        p->order[i] = (uint8_t)i;
        p->index[i] = pipe_index(st->pipe, i);
    }
    vec_push(L->a, &s->pipes, p);
    s->nacross += p->across;
    return p;
}

/* ---- the launch ---- */

static Lx count_of(Lower *L, const PStmt *index)
{
    Lx lo = scalar_lx(L, index->lo);
    return lx_op(L->a, &L->ir->mf.lx, LX_SUB, scalar_lx(L, index->value), lo);
}

static bool total_of(Lower *L, Pipe *p)
{
    LxPool *pool = &L->ir->mf.lx;
    int64_t k;
    for (int i = 0; i < p->st->pipe->n; i++) {
        Lx lo = scalar_lx(L, p->index[i].lo), hi = scalar_lx(L, p->index[i].value);
        if (lo == 0 || hi == 0)
            return cannot(L, NULL, E0745, p->index[i].span, (lo == 0 ? p->index[i].lo : p->index[i].value)->span, "this depends on data",
                          "deal a range of sizes and parameters, and put a `for` or `if` inside", "the range of `%s` is not known at launch",
                          name_text(L, p->index[i].name));
        Lx n = count_of(L, &p->index[i]);
        bool natural = lx_is_const(pool, lo, &k) && k <= 0 && scalar_of_sizes(L, p->index[i].value);
        if (!natural) n = lx_op(L->a, pool, LX_MAX, n, lx_const(L->a, pool, 0));
        p->total = i ? lx_op(L->a, pool, LX_MUL, p->total, n) : n;
    }
    return true;
}

/* The first move that asks for what comes later. */
static const PStmt *asks_ahead(const Sched *s, const Pipe *p)
{
    FOR_MOVES_OF(s, p->use, m)
        if (m->st->move->ahead > 0) return m->st;
    return NULL;
}

/* Bytes that lie side by side in memory of what one iteration moves. */
static int64_t run_of(Lower *L, const MoveInfo *mi)
{
    int64_t n = mi->bits / 8, k;
    for (int d = mi->rank - 1; d >= 0; d--) {
        const PDim *p = &mi->g->dim[d];
        n *= p->extent;
        bool whole = p->whole || (poly_is_const(scalar_poly(L, mi->tensor->extent[d]), &k) && k == p->extent);
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
    FOR_MOVES_OF(L->sched, p->use, m) {
        PMoveKind kind = m->st->move->kind;
        if (kind != MOVE_LOAD && kind != MOVE_STORE) continue;
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
            if (taken[i] || !domain_mentions(L->d, best->mi.start[d], L->scalars->loops[p->index[i].id].atoms.index)) continue;
            taken[i] = true;
            p->order[n++] = (uint8_t)i;
        }
    }
    if (n == count) return;
    for (int i = 0; i < count; i++) p->order[i] = (uint8_t)i; /* some index moves nothing there */
}

static void misfit(Lower *L, const Pipe *p, const char *what, Span at, const char *why)
{
    cannot(L, NULL, E0746, p->st->pipe->deal_span, at, why, "deal `by static`, or leave `by` out", "%s", what);
}

static Span other_across(const Lower *L, const Pipe *p)
{
    for (uint32_t i = 0; i < L->sched->pipes.n; i++)
        if (L->sched->pipes.v[i]->across && L->sched->pipes.v[i] != p) return L->sched->pipes.v[i]->st->span;
    return p->st->span;
}

static void no_multicast(Lower *L, const Pipe *p)
{
    const char *fix = arena_printf(L->a, "compile for %sa, deal `by static`, or leave `by` out", L->c->target->name);
    cannot(L, NULL, E0801, p->st->pipe->deal_span, L->k->cluster_span, "the cluster", fix,
           "%s has no clusterlaunchcontrol for clusters: an answer for all of their CTAs", L->c->target->name);
}

static bool target_answers(const Lower *L)
{
    return target_has(L->c->target, L->cluster_size > 1 ? FEAT_CLC_MULTICAST : form_info(FORM_CLC_TRY_CANCEL)->feature);
}

/* Where the hardware hands out what has not started, that is best: no counter in memory, and clusters get the answer
 * together; but not where each CTA that starts has room for maps in memory. Tickets keep the teams in step with each other, which DRAM pages like; in a cluster they cost a hand-over. */
static PDeal best_deal(const Lower *L, bool drawn)
{
    if (!drawn || L->sched->nacross > 1 || !L->sched->used[AG_LOAD]) return DEAL_STATIC;
    if (target_answers(L) && L->device->maps.n == 0) return DEAL_CLC;
    return L->cluster_size == 1 ? DEAL_TICKET : DEAL_STATIC;
}

static void choose_deal(Lower *L, Pipe *p)
{
    const PStmt *ahead = asks_ahead(L->sched, p);
    bool one_by_one = p->deal == DEAL_TICKET || p->deal == DEAL_CLC;
    if (p->deal == DEAL_TICKET && L->sched->nacross > 1)
        misfit(L, p, "a launch has one counter of tickets, for one pipeline", other_across(L, p), "another one");
    else if (one_by_one && ahead)
        misfit(L, p, p->deal == DEAL_CLC ? "with clc nobody knows what comes next" : "with tickets nobody knows what comes next",
               ahead->span, "`ahead` asks for it");
    else if ((p->deal == DEAL_LAUNCH || p->deal == DEAL_CLC) && L->sched->nacross > 1)
        misfit(L, p, "a team per iteration needs the launch for one pipeline", other_across(L, p), "another one");
    else if (p->deal == DEAL_CLC && L->cluster_size > 1 && !target_answers(L))
        no_multicast(L, p);
    if (p->deal == DEAL_ANY) p->deal = best_deal(L, ahead == NULL);
    if (p->deal == DEAL_TICKET || p->deal == DEAL_CLC) L->sched->used[AG_LOAD] = true; /* it draws them */
}

/* Bytes of global memory that the block moves itself, whichever way its conditions go. */
static int64_t moved(const Sched *s, const PBlock *b)
{
    int64_t bytes = 0;
    for (const PStmt *st = b->first; st; st = st->next) {
        if (st->kind == P_MOVE) {
            const Planned *m = s->moves.v[st->id];
            PMoveKind kind = st->move->kind;
            if (kind == MOVE_LOAD || kind == MOVE_STORE) bytes += planned_brings(m);
        } else if (st->kind != P_FOR && st->kind != P_PIPELINE) {
            int64_t then = moved(s, &st->body), other = moved(s, &st->other);
            bytes += then > other ? then : other;
        }
    }
    return bytes;
}

/* .. that the iterations move, as far as the pipelines' own moves tell. */
static Lx traffic(Lower *L)
{
    Sched *s = L->sched;
    LxPool *pool = &L->ir->mf.lx;
    Lx sum = 0;
    for (uint32_t i = 0; i < s->pipes.n; i++) {
        const Pipe *p = s->pipes.v[i];
        if (!p->across) continue;
        int64_t bytes = moved(s, &p->st->body);
        if (bytes == 0) continue;
        Lx n = lx_op(L->a, pool, LX_MUL, p->total, lx_const(L->a, pool, bytes));
        sum = sum ? lx_op(L->a, pool, LX_ADD, sum, n) : n;
    }
    return sum;
}

/* With a CTA for each iteration the first of several schedules, for launches that go through DRAM for long, has no more of them on an SM than rings
 * would load ahead. More lower the bandwidth: an H100 transposes at 0.98 of the speed with as many as fit. 0: as many as fit. */
static uint32_t loads_of(Lower *L)
{
    int64_t bytes = 0;
    if (!L->k->alternatives || L->k->alternative > 0 || L->k->wish || L->ir->mf.traffic == 0) return 0;
    FOR_MOVES(L->sched, m) {
        bool direct = planned_across(m) && planned_block(m) == &planned_across(m)->st->body;
        if (direct && m->agent == AG_LOAD && m->naround == 0) bytes += m->bytes;
    }
    return bytes < MF_FLIGHT ? (uint32_t)bytes : MF_FLIGHT;
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
    if (deal == DEAL_LAUNCH || deal == DEAL_CLC) {
        if (deal == DEAL_LAUNCH) mf->loads = loads_of(L);
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
    LoopState *s = &L->scalars->loops[x->id];
    s->value = s->wide ? v : emit_cvt(L, IR_I32, v);
}

static Lx at_least_1(Lower *L, Lx n)
{
    return lx_op(L->a, &L->ir->mf.lx, LX_MAX, n, lx_const(L->a, &L->ir->mf.lx, 1));
}

/* 2^62 / n + 1 for the n of an index whose numbers are those of CTAs, below 2^31: one multiplication divides by it. It is exact: n times that is
 * above 2^62 by at most n, which times a number of a CTA stays below 2^62. Without iterations nobody divides. */
static Lx reciprocal(Lower *L, const PStmt *x)
{
    LxPool *pool = &L->ir->mf.lx;
    Lx some = at_least_1(L, count_of(L, x));
    return lx_op(L->a, pool, LX_ADD, lx_op(L->a, pool, LX_DIV, lx_const(L->a, pool, INT64_C(1) << 62), some), lx_const(L->a, pool, 1));
}

/* How many numbers the index has, to divide by. A launch without iterations has no CTA; but where another pipeline has some, CTAs come here, too. */
static Opnd numbers_of(Lower *L, const PStmt *x, Opnd lo)
{
    Opnd n = opnd_is(lo, 0) ? value_wide(L, x->value) : emit_param(L, count_of(L, x));
    if (n.v == 0) return n.k < 1 ? opnd_imm(1) : n;
    return L->sched->nacross > 1 ? emit_param(L, at_least_1(L, count_of(L, x))) : n;
}

static Opnd divide(Lower *L, const Pipe *p, const PStmt *x, IrOpcode op, Opnd id, Opnd n)
{
    bool by_launch = p->deal == DEAL_LAUNCH && n.v != 0 && !L->sched->planning;
    return by_launch ? emit_by_recip(L, op, id, n, reciprocal(L, x)) : emit_op(L, op, IR_I64, id, n);
}

/* The index that is last in the order runs fastest. */
void deal_indices(Lower *L, const Pipe *p, Opnd id)
{
    for (int i = p->st->pipe->n - 1; i >= 0; i--) {
        const PStmt *x = &p->index[p->order[i]];
        Opnd lo = value_wide(L, x->lo), v = id;
        if (i > 0) {
            Opnd n = numbers_of(L, x, lo);
            v = divide(L, p, x, IR_MOD, v, n);
            id = divide(L, p, x, IR_DIV, id, n);
        }
        set_index(L, x, emit_op(L, IR_ADD, IR_I64, v, lo));
    }
}

bool deal_ahead(Lower *L, const Planned *p, int64_t n, Ahead *now)
{
    Sched *s = L->sched;
    const Pipe *pipe = p->chain[p->depth].pipe;
    if (pipe == NULL || pipe->deal == DEAL_LAUNCH) return false; /* a CTA has one iteration */
    *now = (Ahead){.pipe = pipe, .guard = L->guard, .inside = L->inside};
    for (int i = 0; i < pipe->st->pipe->n; i++) now->value[i] = L->scalars->loops[pipe->index[i].id].value;
    Opnd ok;
    if (pipe->across) {
        Opnd id = emit_op(L, IR_ADD, IR_I64, s->id, emit_op(L, IR_MUL, IR_I64, s->team_step, opnd_imm(n)));
        ok = emit_cmp(L, IRL_LT, id, emit_param(L, pipe->total));
        deal_indices(L, pipe, id);
    } else { /* the last index goes on */
        const PStmt *x = &pipe->index[pipe->st->pipe->n - 1];
        LoopState *loop = &L->scalars->loops[x->id];
        loop->value = emit_op(L, IR_ADD, loop->wide ? IR_I64 : IR_I32, loop->value, opnd_imm(n));
        ok = emit_cmp(L, IRL_LT, loop->value, lower_bound(L, x->value, loop->wide));
    }
    L->guard = emit_logic(L, IR_AND, L->guard, ok);
    L->inside = emit_logic(L, IR_AND, L->inside, ok); /* what is read to know where lies beyond the indices' ranges, too */
    values_forget(L, USE_INDEX);
    return true;
}

void deal_now(Lower *L, const Ahead *now)
{
    for (int i = 0; i < now->pipe->st->pipe->n; i++) L->scalars->loops[now->pipe->index[i].id].value = now->value[i];
    L->guard = now->guard;
    L->inside = now->inside;
    values_forget(L, USE_INDEX);
}

/* One turn: a team's iteration, or batch of them. */
void deal_turn(Lower *L, Pipe *p, Opnd id)
{
    L->sched->id = id;
    if (p->batch > 1) {
        batch_turn(L, p);
        return;
    }
    deal_indices(L, p, id);
    walk_turn(L, p->st, p, NULL);
}

/* Rule G: iterations differ in their indices, CTAs of a team in their ranks. */
static void across_open(Lower *L, Pipe *p)
{
    L->accesses->across = p;
    L->scalars->nteam = 0;
    L->scalars->team_atoms = true;
    for (int i = 0; i < p->st->pipe->n; i++) {
        loop_open(L, &p->index[i]);
        L->scalars->open_loops.n--; /* no loop of the team's */
        L->scalars->team[L->scalars->nteam++] = L->scalars->loops[p->index[i].id].atoms.index;
    }
    L->scalars->team_atoms = false;
    for (int i = 0; i < 3; i++)
        if (L->scalars->cluster_atom[i]) L->scalars->team[L->scalars->nteam++] = L->scalars->cluster_atom[i];
}

static void across_close(Lower *L, Pipe *p)
{
    for (int i = p->st->pipe->n - 1; i >= 0; i--) {
        L->scalars->open_loops.n++;
        loop_close(L, &p->index[i]);
    }
    L->accesses->across = NULL;
    teams_beside(L);
}

void deal_walk(Lower *L, Pipe *p)
{
    if (!p->across) {
        walk_loop(L, p->st, p);
        return;
    }
    across_open(L, p);
    scope_open(L);
    if (L->sched->planning) {
        deal_indices(L, p, (Opnd){.v = ir_value(L->a, L->ir, IR_I64, NULL)}); /* no number: what is made of one is kept */
        walk_turn(L, p->st, p, NULL);
    } else {
        LxPool *pool = &L->ir->mf.lx;
        Opnd teams = emit_param(L, lx_op(L->a, pool, LX_CEIL, p->total, lx_const(L->a, pool, p->batch)));
        deal_by(L, p, teams);
    }
    scope_close(L);
    across_close(L, p);
}
