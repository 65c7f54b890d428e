/* The kernel, prepared: its blocks, which values decide something and where they are asked for, between which numbers they lie, and how
 * much room a state takes. */
#include "lang/checked.h"
#include "lang/lang.h"
#include "lower/verify/states/steps/steps.h"

/* ---- blocks ---- */

static bool steps(const Checker *c, const IrOp *op)
{
    IrGroup g = (IrGroup)ir_op_info(op->op)->group;
    if (op->op == IR_SET) return c->needed_var[ir_find(op, IRK_VAR)->id];
    return g == IRG_BARRIER || g == IRG_SYNC || g == IRG_GROUP || g == IRG_FENCE || g == IRG_THREAD || op->op == IR_TICKET || op->op == IR_BREAK;
}

static void match_blocks(Checker *c, Code *b)
{
    uint32_t n = b->role->ops.n, depth = 0, loops = 0, *open = arena_array(c->arena, uint32_t, n + 1);
    b->partner = arena_array(c->arena, uint32_t, n + 1);
    b->around = arena_array(c->arena, uint32_t, n + 1);
    b->begin = arena_array(c->arena, uint32_t, n + 1);
    b->steps = arena_array(c->arena, bool, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        for (uint32_t j = 0; j < depth && steps(c, op); j++) b->steps[open[j]] = true;
        if (op->op == IR_ELSE || op->op == IR_END) {
            uint32_t begin = open[--depth];
            b->begin[i] = b->role->ops.v[begin].op == IR_ELSE ? b->begin[begin] : begin;
            loops -= op->op == IR_END && b->role->ops.v[b->begin[i]].op != IR_IF;
            b->steps[b->begin[i]] |= b->steps[begin];
            b->partner[begin] = i;
            b->partner[i] = begin;
        }
        b->around[i] = depth ? open[depth - 1] + 1 : 0;
        if (ir_opens_block((IrOpcode)op->op)) open[depth++] = i;
        loops += op->op == IR_LOOP || op->op == IR_REPEAT || op->op == IR_LANES;
        if (loops > b->depth) b->depth = loops;
    }
}

/* ---- which values count ---- */

static bool by_role(const IrOp *op, IrKey key)
{
    switch (key) {
    case IRK_SLOT:
    case IRK_OFFSET:
    case IRK_BYTES:
    case IRK_RANK:
    case IRK_MASK:
    case IRK_BAR_RANK:
    case IRK_PHASE:
    case IRK_ALONG:
    case IRK_INFO:
    case IRK_COND: return true;
    case IRK_A:
    case IRK_B: return op->op == IR_LOOP || op->op == IR_STS || op->op == IR_ST_ASYNC || op->op == IR_TICKET;
    default: return false;
    }
}

static bool scalar(const IrOp *op)
{
    return ir_op_info(op->op)->group == IRG_SCALAR && op->op != IR_TICKET;
}

/* From the last op to the first, again while loops bring more. */
static bool mark_needed(Checker *c, const Code *b, bool *vars)
{
    bool more = false;
    for (uint32_t i = b->role->ops.n; i-- > 0;) {
        const IrOp *op = &b->role->ops.v[i];
        const IrArg *var = ir_find(op, IRK_VAR);
        bool wanted = op->op == IR_SET || op->op == IR_VAR ? vars[var->id] : op->dst && c->needed[op->dst - 1];
        if (op->op == IR_GET && wanted) more |= !vars[var->id], vars[var->id] = true;
        if (op->guard.pred && (!scalar(op) || wanted)) more |= !c->needed[op->guard.pred - 1], c->needed[op->guard.pred - 1] = true;
        for (uint32_t j = 0; j < op->nargs; j++) {
            const IrArg *arg = &op->args[j];
            bool counts = scalar(op) && op->op != IR_GADDR ? wanted && arg->key != IRK_RECIP : by_role(op, (IrKey)arg->key);
            if (arg->kind != IRA_VAL || !counts || c->needed[arg->id - 1]) continue;
            c->needed[arg->id - 1] = more = true;
        }
    }
    return more;
}

static void find_needed(Checker *c)
{
    bool *vars = arena_array(c->arena, bool, c->k->vars.n + 1), more = true;
    c->needed = arena_array(c->arena, bool, c->k->value_types.n + 1);
    while (more) {
        more = false;
        for (uint32_t i = c->code.n; i-- > 0;) more |= mark_needed(c, &c->code.v[i], vars);
    }
    c->needed_var = vars;
}

/* ---- variables of which remainders alone are asked ---- */

enum { MODULUS_MOST = 64 };

static void more_asked(Checker *c, uint32_t var, int64_t by)
{
    int64_t *all = &c->modulus[var];
    if (*all == 0) return;
    *all = by > 0 && by <= MODULUS_MOST ? *all / gcd_s64(*all, by) * by : 0;
    if (*all > MODULUS_MOST) *all = 0;
}

/* What an op asks of the value, made of the variable by sums with numbers; whether it makes such a value itself. */
static bool asks_remainder(Checker *c, const IrOp *op, const IrArg *arg, uint32_t var)
{
    const IrArg *with = ir_find(op, IRK_B), *set = op->op == IR_SET ? ir_find(op, IRK_VAR) : NULL;
    bool number = with && with->kind == IRA_IMM && arg->key == IRK_A;
    int64_t by = number && (op->op == IR_MOD || op->op == IR_AND) ? divisor_of(op->op, op->type == IR_PRED, with->imm) : 0;
    if (set && set->id == var) return false;
    bool sum = (number && (op->op == IR_ADD || op->op == IR_SUB)) || op->op == IR_CVT;
    if (sum && !c->wraps[op->dst - 1]) return true;
    more_asked(c, var, by);
    return false;
}

static void find_moduli(Checker *c)
{
    uint32_t *of = arena_array(c->arena, uint32_t, c->k->value_types.n + 1); /* by IR value: the variable, + 1 */
    c->modulus = arena_array(c->arena, int64_t, c->k->vars.n + 1);
    for (uint32_t i = 0; i < c->k->vars.n; i++) c->modulus[i] = 1;
    for (uint32_t i = 0; i < c->nops; i++) {
        const IrOp *op = c->op[i];
        if (op->op == IR_GET) of[op->dst - 1] = ir_find(op, IRK_VAR)->id + 1;
        if (scalar(op) && op->dst && !c->needed[op->dst - 1]) continue;
        for (uint32_t j = 0; j < op->nargs; j++) {
            const IrArg *arg = &op->args[j];
            uint32_t var = arg->kind == IRA_VAL ? of[arg->id - 1] : 0;
            if (var && (scalar(op) || by_role(op, (IrKey)arg->key)) && asks_remainder(c, op, arg, var - 1)) of[op->dst - 1] = var;
        }
    }
}

/* ---- ranges ---- */

static Interval type_range(IrType t)
{
    if (t == IR_PRED) return (Interval){0, 1};
    return t == IR_I32 ? (Interval){INT32_MIN, INT32_MAX} : UNBOUNDED;
}

static Interval range_of(const Checker *c, const IrArg *arg)
{
    return arg->kind == IRA_IMM ? interval_at(arg->imm) : c->range[arg->id - 1];
}

static Interval register_range(const Checker *c, IrReg reg)
{
    const uint32_t *n = c->k->mf.cluster;
    if (reg == IRR_CLUSTER_CTARANK) return (Interval){0, (int64_t)c->nctas - 1};
    if (reg == IRR_CLUSTER_NCTARANK) return interval_at(c->nctas);
    if (reg >= IRR_CLUSTER_NCTAID_X) return interval_at(n[reg - IRR_CLUSTER_NCTAID_X]);
    if (reg >= IRR_CLUSTER_CTAID_X) return (Interval){0, (int64_t)n[reg - IRR_CLUSTER_CTAID_X] - 1};
    Lx grid = c->k->mf.deal == MF_DEAL_NONE ? c->k->mf.grid[reg % 3] : 0;
    Interval all = grid ? interval_meet(c->launch[grid - 1], (Interval){1, INT32_MAX}) : (Interval){1, INT32_MAX};
    return reg >= IRR_NCTAID_X ? all : (Interval){0, all.hi - 1};
}

#define TURNS_MOST (INT64_C(1) << 48) /* a nanosecond each, they take three days */

Interval range_compared(IrRel rel, Interval x, Interval y)
{
    bool less = x.hi < y.lo, most = x.hi <= y.lo, more = x.lo > y.hi, least = x.lo >= y.hi, one = interval_is(x) && interval_is(y) && x.lo == y.lo, other = less || more;
    const bool yes[] = {one, other, less, most, more, least}, no[] = {other, one, least, more, most, less}; /* as IrRel */
    return yes[rel] ? interval_at(1) : no[rel] ? interval_at(0) : (Interval){0, 1};
}

/* Of what is put in a buffer for others to read: what is read was written, as E0610 says. */
static Interval put_in(const Checker *c, const IrArg *buf)
{
    Interval all = {1, 0};
    for (uint32_t i = 0; i < c->nops; i++) {
        const IrArg *dst = ir_find(c->op[i], IRK_DST), *a = ir_find(c->op[i], IRK_A);
        if (dst == NULL || dst->kind != IRA_BUF || !bufs_overlap(&c->k->bufs.v[dst->id], &c->k->bufs.v[buf->id])) continue;
        if (dst->id != buf->id || (c->op[i]->op != IR_STS && c->op[i]->op != IR_ST_ASYNC)) return UNBOUNDED;
        all = all.lo > all.hi ? range_of(c, a) : interval_hull(all, range_of(c, a));
    }
    return all.lo > all.hi ? UNBOUNDED : all;
}

static Interval exact_range(const Checker *c, const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    Interval x = a && (a->kind == IRA_IMM || a->kind == IRA_VAL) ? range_of(c, a) : UNBOUNDED,
             y = b && (b->kind == IRA_IMM || b->kind == IRA_VAL) ? range_of(c, b) : UNBOUNDED;
    switch ((IrOpcode)op->op) {
    case IR_CONST:
    case IR_CVT: return x;
    case IR_PARAM: return c->launch[ir_find(op, IRK_EXPR)->id - 1];
    case IR_SREG: return register_range(c, (IrReg)ir_find(op, IRK_REG)->id);
    case IR_LOADS: {
        Interval r = ir_range_of_type((ElemType)c->k->mf.tensors.v[ir_find(op, IRK_TENSOR)->id].type);
        return op->guard.pred ? interval_hull(r, interval_at(-1)) : r;
    }
    case IR_LOOP: { /* one that never turns has some index, too */
        Interval most = interval_add(interval_at(x.hi), interval_at(TURNS_MOST));
        int64_t last = y.hi != NO_HI && y.hi - 1 < most.hi ? y.hi - 1 : most.hi;
        return (Interval){x.lo, last < x.lo ? x.lo : last};
    }
    case IR_LDS: return op->guard.pred ? UNBOUNDED : put_in(c, ir_find(op, IRK_SRC));
    case IR_CLC_ID:
    case IR_TICKET: return (Interval){-1, INT32_MAX};
    case IR_GET: return c->var_range[ir_find(op, IRK_VAR)->id];
    case IR_SEL: return interval_hull(x, y);
    case IR_CMP: return range_compared((IrRel)ir_find(op, IRK_REL)->id, x, y);
    default: break;
    }
    LxOp lx = (LxOp)IR_LX_OPS[op->op];
    bool numbers = a && b && lx >= LX_ADD && lx <= LX_XOR && op->type != IR_PRED;
    if (!numbers || ((lx == LX_DIV || lx == LX_MOD) && y.lo < 1)) return type_range((IrType)op->type);
    if (lx == LX_SHL && x.lo >= 0 && x.hi < INT64_C(1) << 31 && interval_within(y, 0, 31)) return (Interval){x.lo << y.lo, x.hi << y.hi};
    return interval_of(lx, x, y);
}

/* What is made of the launch's numbers and of indices alone fits 64 bits: else the launch is refused (E1117). */
static bool from_data(const Checker *c, const IrOp *op)
{
    bool data = op->op == IR_LOADS || op->op == IR_LDS || op->op == IR_TICKET || op->op == IR_CLC_ID || (op->op == IR_GET && c->var_data[ir_find(op, IRK_VAR)->id]);
    for (uint32_t i = 0; i < op->nargs; i++) data |= op->args[i].kind == IRA_VAL && c->data[op->args[i].id - 1];
    return data;
}

/* Whether a variable may be more than was known. */
static bool find_ranges(Checker *c, const Code *b, bool last)
{
    bool more = false;
    for (uint32_t i = 0; i < b->role->ops.n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        if (op->op == IR_SET || op->op == IR_VAR) {
            uint32_t var = ir_find(op, IRK_VAR)->id;
            Interval x = range_of(c, ir_find(op, IRK_A)), *y = &c->var_range[var], z = y->lo > y->hi ? x : interval_hull(x, *y);
            bool data = from_data(c, op);
            more |= data && !c->var_data[var];
            c->var_data[var] |= data;
            if (z.lo == y->lo && z.hi == y->hi) continue;
            more = true;
            *y = last ? type_range((IrType)c->k->vars.v[var].type) : z;
        }
        if (op->dst == 0) continue;
        Interval r = exact_range(c, op), type = type_range((IrType)op->type), was = c->range[op->dst - 1];
        if (op->op == IR_LDS && !interval_within(r, was.lo, was.hi)) {
            more = true;
            r = last ? type : interval_hull(r, was);
        }
        bool may = op->op == IR_ADD || op->op == IR_SUB || op->op == IR_MUL || op->op == IR_SHL || op->op == IR_CVT;
        bool fits = op->type == IR_I64 ? op->op == IR_CVT || (r.lo > NO_LO && r.hi < NO_HI) || !from_data(c, op) : r.lo >= type.lo && r.hi <= type.hi;
        c->data[op->dst - 1] = from_data(c, op);
        c->wraps[op->dst - 1] = may && !fits;
        c->range[op->dst - 1] = fits || !may ? interval_meet(r, type) : type;
    }
    return more;
}

enum { TURNS_OF_RANGES = 64 };

static void find_all_ranges(Checker *c)
{
    bool more = true;
    c->var_range = arena_array(c->arena, Interval, c->k->vars.n + 1);
    c->var_data = arena_array(c->arena, bool, c->k->vars.n + 1);
    for (uint32_t i = 0; i < c->k->vars.n; i++) c->var_range[i] = (Interval){1, 0}; /* none yet */
    for (int turn = 0; more; turn++) {
        more = false;
        for (uint32_t i = 0; i < c->code.n; i++) more |= find_ranges(c, &c->code.v[i], turn >= TURNS_OF_RANGES);
    }
}

/* ---- all ---- */

static void number_ops(Checker *c)
{
    for (uint32_t i = 0; i < ir_bodies(c->k); i++) {
        const IrRole *r = ir_body(c->k, i);
        vec_push(c->arena, &c->code, ((Code){.role = r, .first = c->nops}));
        c->nops += r->ops.n;
    }
    c->op = arena_array(c->arena, const IrOp *, c->nops + 1);
    c->def = arena_array(c->arena, uint32_t, c->k->value_types.n + 1);
    for (uint32_t i = 0; i < c->code.n; i++) {
        Code *b = &c->code.v[i];
        for (uint32_t j = 0; j < b->role->ops.n; j++) {
            const IrOp *op = &b->role->ops.v[j];
            c->op[b->first + j] = op;
            if (op->dst) c->def[op->dst - 1] = b->first + j;
        }
    }
}

enum { PERIOD_MOST = 64 };

/* Of what is made of an index by sums and multiples; quotients and remainders of such are taken by divisor. scale: by IR value; 0: it is not
 * made of it. */
static void find_period(Checker *c, const Code *b, uint32_t loop, int64_t *scale)
{
    const uint32_t first = b->first + loop, end = b->first + b->partner[loop];
    int64_t *period = &c->period[first];
    *period = 1;
    if (c->op[first]->dst == 0) return;
    scale[c->op[first]->dst - 1] = 1;
    for (uint32_t i = first + 1; i < end; i++) {
        const IrOp *op = c->op[i];
        const IrArg *a = ir_find(op, IRK_A), *with = ir_find(op, IRK_B), *rel = ir_find(op, IRK_REL);
        int64_t x = a && a->kind == IRA_VAL ? scale[a->id - 1] : 0, y = with && with->kind == IRA_VAL ? scale[with->id - 1] : 0, most = x > y ? x : y;
        if (op->dst == 0 || !scalar(op) || most == 0 || !c->needed[op->dst - 1] || op->op == IR_CMP) continue;
        int64_t by = x && with && with->kind == IRA_IMM ? divisor_of(op->op, (uint8_t)(rel ? rel->id : op->type == IR_PRED), with->imm) : 0;
        int64_t all = by && most * by <= PERIOD_MOST ? *period / gcd_s64(*period, most * by) * (most * by) : *period;
        if (all <= PERIOD_MOST) *period = all;
        if (by == 0 || op->op == IR_DIV || op->op == IR_SHR) scale[op->dst - 1] = by && by <= PERIOD_MOST ? most * by : most;
    }
    for (uint32_t i = first; i < end; i++)
        if (c->op[i]->dst) scale[c->op[i]->dst - 1] = 0;
}

static void find_periods(Checker *c)
{
    int64_t *scale = arena_array(c->arena, int64_t, c->k->value_types.n + 1);
    c->period = arena_array(c->arena, int64_t, c->nops + 1);
    for (uint32_t i = 0; i < c->code.n; i++)
        for (uint32_t j = 0; j < c->code.v[i].role->ops.n; j++) {
            IrOpcode op = (IrOpcode)c->code.v[i].role->ops.v[j].op;
            if (op == IR_LOOP || op == IR_LANES || op == IR_REPEAT) find_period(c, &c->code.v[i], j, scale);
        }
}

static void lay_out_agents(Checker *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->nops; i++)
        if (c->op[i]->op == IR_GRP_WAIT && ir_find(c->op[i], IRK_N)->imm > most) most = (uint32_t)ir_find(c->op[i], IRK_N)->imm;
    c->most_groups = most + 1;
    c->nagents = c->nctas * c->nroles;
    c->place = arena_array(c->arena, Agent, c->nagents + 1);
    for (uint32_t i = 0; i < c->nagents; i++) {
        const Code *b = &c->code.v[1 + i % c->nroles];
        c->place[i] = (Agent){.cta = (uint16_t)(i / c->nroles),
                              .body = (uint16_t)(1 + i % c->nroles),
                              .env = c->nenv,
                              .begun = c->nbegun,
                              .frames = c->nframes,
                              .sets = c->bar_sets,
                              .many = !b->role->elect};
        c->nenv += b->slots;
        c->nbegun += b->begun.n;
        c->nframes += b->depth;
        c->bar_sets += GROUPS + c->most_groups + 1;
    }
    c->begun = arena_array(c->arena, Val, c->nbegun + 1);
    c->asks = arena_array(c->arena, uint32_t, c->nagents * CLASSES);
    c->no_asks = arena_array(c->arena, bool, c->nagents * CLASSES);
    c->touches = arena_array(c->arena, uint32_t, c->nagents * SPACES * c->nctas * c->k->bufs.n + 1);
    c->no_touches = arena_array(c->arena, bool, c->nagents * SPACES * c->nctas * c->k->bufs.n + 1);
    c->singly = arena_array(c->arena, bool, c->nops + 1);
    c->reads_again = arena_array(c->arena, bool, c->k->bufs.n + 1);
    c->reads_cells = arena_array(c->arena, bool, c->nroles * c->k->bufs.n + 1);
    for (uint32_t r = 0; r < c->nroles; r++)
        for (uint32_t i = 0; i < c->code.v[1 + r].role->ops.n; i++) {
            const IrOp *op = &c->code.v[1 + r].role->ops.v[i];
            if (op->op == IR_LDS || op->op == IR_CLC_ID) c->reads_cells[r * c->k->bufs.n + ir_find(op, IRK_SRC)->id] = true;
        }
    c->mine = arena_array(c->arena, bool, c->bar_sets + 1);
    for (uint32_t i = 0; i < c->nagents; i++) c->mine[c->place[i].sets + MINE] = true;
}

static void lay_out_barriers(Checker *c)
{
    c->bar_base = arena_array(c->arena, uint32_t, c->k->bars.n + 1);
    c->waiters = arena_array(c->arena, uint64_t, c->k->bars.n + 1);
    for (uint32_t i = 0; i < c->k->bars.n; i++) {
        c->bar_base[i] = c->nslots;
        c->nslots += c->k->bars.v[i].slots;
    }
    c->nbars = c->nctas * c->nslots;
    c->bar_last = arena_array(c->arena, uint32_t, c->code.n * c->k->bars.n + 1);
    for (uint32_t b = 0; b < c->code.n; b++)
        for (uint32_t i = 0; i < c->code.v[b].role->ops.n; i++) {
            const IrArg *bar = ir_find(&c->code.v[b].role->ops.v[i], IRK_BAR);
            if (bar && bar->kind == IRA_BAR) c->bar_last[b * c->k->bars.n + bar->id] = i + 1;
        }
    c->count = arena_array(c->arena, uint32_t, c->nslots + 1);
    for (uint32_t r = 0; r < c->nroles; r++)
        for (uint32_t i = 0; i < c->code.v[1 + r].role->ops.n; i++) {
            const IrOp *op = &c->code.v[1 + r].role->ops.v[i];
            if (op->op == IR_BAR_WAIT) c->waiters[ir_find(op, IRK_BAR)->id] |= UINT64_C(1) << r;
        }
}

static void find_last_of_bufs(Checker *c)
{
    uint32_t n = c->k->bufs.n;
    c->over = arena_array(c->arena, Bufs, n + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (bufs_overlap(&c->k->bufs.v[i], &c->k->bufs.v[j])) vec_push(c->arena, &c->over[i], j);
    c->buf_last = arena_array(c->arena, uint32_t, c->code.n * n + 1);
    for (uint32_t b = 0; b < c->code.n; b++)
        for (uint32_t i = 0; i < c->code.v[b].role->ops.n; i++) {
            const IrOp *op = &c->code.v[b].role->ops.v[i];
            for (uint32_t j = 0; j < op->nargs; j++)
                for (uint32_t k = 0; op->args[j].kind == IRA_BUF && k < c->over[op->args[j].id].n; k++) c->buf_last[b * n + c->over[op->args[j].id].v[k]] = i + 1;
        }
}

/* In a cluster roles do what others don't: there it is seen who touches what. */
static void touch_as_named(Checker *c)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        for (uint32_t i = 0; i < SPACES * c->k->bufs.n; i++) c->touches[touch_of(c, a, 0, i)] = c->buf_last[c->place[a].body * c->k->bufs.n + i % c->k->bufs.n];
}

enum { AGENTS_MOST = 64 };

void kernel_prepare(Checker *c)
{
    const IrKernel *k = c->k;
    c->nctas = k->mf.cluster[0] * k->mf.cluster[1] * k->mf.cluster[2];
    c->nroles = k->roles.n;
    if (c->nctas * c->nroles > AGENTS_MOST) lost(c, "too many agents");
    c->range = arena_array(c->arena, Interval, k->value_types.n + 1);
    c->wraps = arena_array(c->arena, bool, k->value_types.n + 1);
    c->data = arena_array(c->arena, bool, k->value_types.n + 1);
    number_ops(c);
    find_needed(c);
    for (uint32_t i = 0; i < c->code.n; i++) match_blocks(c, &c->code.v[i]);
    find_all_ranges(c);
    find_moduli(c);
    find_same(c);
    for (uint32_t i = 0; i < c->code.n; i++) find_live(c, &c->code.v[i]);
    find_periods(c);
    lay_out_barriers(c);
    find_last_of_bufs(c);
    lay_out_agents(c);
    if (c->nctas == 1) touch_as_named(c);
    gaps_prepare(c);
    global_prepare(c);
}
