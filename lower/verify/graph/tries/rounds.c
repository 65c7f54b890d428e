/* What becomes of values from turn to turn, in one pass over the ops: how they come round, and what they are made from.
 * Also which values and variables something is made from.
 *
 * m times `turns` turns of any loop later a value is a multiple of m times `step` more, for each m; step 0: it is the
 * same. So an index (1, 1), k / 2 (2, 1), k / 2 % 3 (6, 0). Of what is made from one loop, or one variable, step is how much more it
 * is, so that k - k / 3 * 3 is (3, 0). When a variable comes back to what it held, or its remainder does, the runs show
 * (tries/period.c): here it counts as if it stayed, or as an index.
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"

enum { BITS = 64 };
static const uint64_t REST = UINT64_C(1) << (BITS - 1);

int64_t rounds_joint(int64_t a, int64_t b)
{
    int64_t r;
    return mul_s64(a / gcd_s64(a, b), b, &r) ? r : INT64_MAX;
}

static Round unknown(Round x)
{
    x.turns = x.step = 0;
    return x;
}

static bool scales(const Round *x, int64_t by)
{
    return !x->bits || (by & (by - 1)) == 0;
}

/* After so many times the turns. */
static Round later(Round x, int64_t by)
{
    if (!scales(&x, by)) return mul_s64(x.turns, by, &x.turns) ? x : unknown(x); /* a multiple of step still */
    return mul_s64(x.turns, by, &x.turns) && mul_s64(x.step, by, &x.step) ? x : unknown(x);
}

static bool exact(const Round *x)
{
    return !x->bits && (x->exact || x->step == 0);
}

/* Of one loop, or one variable: the last bits may stand for several. */
static bool of_one(const Round *x)
{
    uint64_t last = UINT64_C(1) << (BITS - 1), of = x->loops ? x->loops : x->vars;
    return !(x->loops && x->vars) && !(of & (of - 1)) && of != last;
}

/* x + sign * y; sign 0: what is made from both otherwise. */
static Round both(Round x, Round y, int sign)
{
    Round r = {.loops = x.loops | y.loops, .vars = x.vars | y.vars, .bits = x.bits || y.bits};
    r.changes = x.changes || y.changes;
    r.given = x.given | y.given;
    int64_t turns = x.turns && y.turns ? rounds_joint(x.turns, y.turns) : INT64_MAX, sum;
    if (turns == INT64_MAX) return r;
    x = later(x, turns / x.turns);
    y = later(y, turns / y.turns);
    r.turns = x.turns && y.turns ? turns : 0;
    r.exact = r.turns && sign && exact(&x) && exact(&y) && of_one(&r) && (sign > 0 ? add_s64 : sub_s64)(x.step, y.step, &sum);
    r.step = r.exact ? sum : r.turns ? gcd_s64(x.step, y.step) : 0;
    return r;
}

static Round times(Round x, int64_t k)
{
    return mul_s64(x.step, k, &x.step) ? x : unknown(x);
}

/* After as many turns as it takes to be a multiple of m more. */
static Round until(Round x, int64_t m)
{
    int64_t by = m / gcd_s64(m, x.step);
    return scales(&x, by) ? later(x, by) : unknown(x);
}

static Round quotient(Round x, int64_t by)
{
    x = until(x, by);
    x.step /= by;
    return x;
}

static Round rest_of(Round x, int64_t by)
{
    x = until(x, by);
    x.step = 0;
    return x;
}

/* With a constant: the bits above the constant's come through as they are, or are all alike. */
static Round masked(const IrOp *op, Round x, int64_t mask)
{
    int64_t below = mask < 0 ? ~mask : mask, low = 1;
    if (below >= INT32_MAX) return unknown(x);
    while (low <= below) low *= 2;
    bool alike = op->op == IR_AND ? mask >= 0 : op->op == IR_OR && mask < 0;
    return alike ? rest_of(x, low) : times(until(x, low), op->op == IR_XOR && mask < 0 ? -1 : 1);
}

Round round_of_arg(const Verifier *v, const IrArg *arg)
{
    return arg && arg->kind == IRA_VAL ? v->rounds[arg->id - 1] : (Round){.turns = 1};
}

Round round_of_op(const Verifier *v, const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    Round x = round_of_arg(v, a), y = round_of_arg(v, b), all = both(both(x, y, 0), round_of_arg(v, ir_find(op, IRK_COND)), 0);
    int64_t k = 0;
    bool known = b && verify_number(v, b, &k), first = !known && a && verify_number(v, a, &k);
    switch ((IrOpcode)op->op) {
    case IR_ADD: return both(x, y, 1);
    case IR_SUB: return both(x, y, -1);
    case IR_CVT: return x;
    case IR_SEL:
    case IR_NOT: return all;
    case IR_MUL: return known ? times(x, k) : first ? times(y, k) : all;
    case IR_SHL:
        if (known && k >= 0 && k < 31) return times(x, INT64_C(1) << k);
        break;
    case IR_SHR:
        if (known && k >= 0 && k < 31) return quotient(x, INT64_C(1) << k);
        break;
    case IR_DIV:
        if (known && k > 0) return quotient(x, k);
        break;
    case IR_MOD:
        if (known && k > 0) return rest_of(x, k);
        break;
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        if (known || first) return masked(op, known ? x : y, k);
        all.step &= -all.step; /* each bit is made from those at its place */
        all.bits = all.step != 0;
        return all;
    default: break;
    }
    return all.step ? unknown(all) : all;
}

/* Symbols that the launch expression is made from; that of those that are too many is one of the rest. */
static uint64_t symbols(const LxPool *p, uint32_t x)
{
    const LxNode *n = &p->nodes.v[x - 1];
    if (n->op == LX_SYM) return UINT64_C(1) << (n->k < BITS - 1 ? n->k : BITS - 1);
    return n->op == LX_CONST ? 0 : symbols(p, n->a) | (n->b ? symbols(p, n->b) : 0);
}

/* What is no result of other values: given is what chosen trip counts may be a number for. */
static Round of_leaf(const Verifier *v, uint32_t at, int64_t step)
{
    const IrOp *op = v->ops[at];
    if (op->op == IR_GET)
        return (Round){.turns = 1,
                       .step = v->counting && v->counting[v->operands[at].var] ? 1 : step,
                       .exact = v->variable_bit[v->operands[at].var] != 0,
                       .vars = v->variable_bit[v->operands[at].var],
                       .given = v->given[v->operands[at].var] ? ROUND_VARIABLE : 0};
    if (loop_fixed(v, at)) return (Round){.turns = 1};
    return op->op == IR_LOOP ? (Round){.turns = 1, .step = 1, .exact = true, .loops = v->loop_bit[at]} : (Round){.given = REST};
}

static bool sets(const IrOp *op)
{
    return op->op == IR_SET || op->op == IR_VAR;
}

/* A variable that holds what is not numbers of the program or of turns that come round. */
static bool gives(const Verifier *v, uint32_t at)
{
    const IrOp *op = v->ops[at];
    Round x = round_of_arg(v, ir_find(op, IRK_A));
    return sets(op) && !v->given[v->operands[at].var] && (x.given || x.turns == 0 || (x.loops && x.step));
}

void rounds_find(Verifier *v, int64_t step)
{
    memset(v->given, 0, v->k->vars.n * sizeof *v->given);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < v->nops; i++) {
            const IrOp *op = v->ops[i];
            bool launch = op->op == IR_PARAM || op->op == IR_SREG;
            if (op->dst == 0) continue;
            Round *r = &v->rounds[op->dst - 1];
            *r = launch                ? (Round){.turns = 1, .given = v->from_launch[i]}
                 : v->operands[i].pure ? round_of_op(v, op)
                                       : of_leaf(v, i, step);
            r->changes |= op->elect || !v->operands[i].pure;
        }
        for (uint32_t i = 0; i < v->nops; i++) {
            if (!gives(v, i)) continue;
            v->given[v->operands[i].var] = more = true;
        }
    }
}

/* ---- what something is made from ---- */

static void add(Verifier *v, uint32_t by, const IrArg *arg, uint8_t bit);

static void add_pred(Verifier *v, uint32_t by, IrVal pred, uint8_t bit)
{
    if (pred) add(v, by, &(IrArg){.kind = IRA_VAL, .id = pred}, bit);
}

static void add_variable(Verifier *v, uint32_t by, uint32_t var, uint8_t bit)
{
    if (v->cone_of_variable[var] & bit) return;
    v->cone_of_variable[var] |= bit;
    if (v->parity[var] && bit != CONE_LOADS) return;
    for (uint32_t i = v->given_by[var]; i; i = v->operands[i - 1].before) {
        add(v, by, v->operands[i - 1].a, bit);
        add_pred(v, by, v->ops[i - 1]->guard.pred, bit);
    }
}

static void add(Verifier *v, uint32_t by, const IrArg *arg, uint8_t bit)
{
    if (arg == NULL || arg->kind != IRA_VAL) return;
    uint32_t at = v->def[arg->id - 1];
    const IrOp *op = v->ops[at];
    if (v->cone[at] & bit) return;
    v->cone[at] |= bit;
    if (bit == CONE_STEERS && v->steers[at] == 0) v->steers[at] = by + 1;
    if (op->op == IR_GET && bit != CONE_STEERS) add_variable(v, by, v->operands[at].var, bit);
    if (bit != CONE_LOADS && !v->operands[at].pure) return;
    for (uint32_t i = 0; i < op->nargs; i++) add(v, by, &op->args[i], bit);
    add_pred(v, by, op->guard.pred, bit);
}

bool cones_number(const Verifier *v, uint32_t at, IrKey key)
{
    IrGroup group = (IrGroup)v->group[at];
    if (group != IRG_BARRIER && group != IRG_COPY && group != IRG_THREAD) return false;
    if (key == IRK_OFFSET || key == IRK_ALONG || key == IRK_BYTES) return v->counts.n > 0;
    return key == IRK_SLOT || key == IRK_PHASE || key == IRK_RANK || key == IRK_MASK || key == IRK_BAR_RANK;
}

/* Coordinates and addresses only tell places of tensors: they count where copies read what others write. */
static bool counts(const Verifier *v, IrKey key)
{
    return (v->loaded & v->stored) != 0 || (key != IRK_COORDS && key != IRK_INFO && key != IRK_FROM && key != IRK_TO);
}

bool cones_steers(const IrOp *op, IrKey key)
{
    return op->op == IR_IF || op->op == IR_LOOP || key == IRK_BYTES || key == IRK_OFFSET;
}

static void add_operand(Verifier *v, uint32_t at, const IrArg *arg)
{
    IrKey key = (IrKey)arg->key;
    bool scalar = v->group[at] == IRG_SCALAR;
    if (cones_number(v, at, key)) add(v, at, arg, CONE_SYNC);
    if (!scalar && key == IRK_OFFSET) add(v, at, arg, CONE_PLACE);
    if (!scalar && counts(v, key)) add(v, at, arg, CONE_LOADS);
    if (!v->operands[at].pure && cones_steers(v->ops[at], key)) add(v, at, arg, CONE_STEERS);
}

/* A load that is left out gives another value than the element: where that counts, its condition steers. */
static void add_roots(Verifier *v)
{
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        IrGroup group = (IrGroup)v->group[i];
        for (uint32_t j = 0; j < op->nargs; j++) add_operand(v, i, &op->args[j]);
        bool orders = group == IRG_BARRIER || group == IRG_SYNC || group == IRG_GROUP || group == IRG_FENCE;
        if (orders) add_pred(v, i, op->guard.pred, CONE_SYNC);
        if (op->op != IR_LOADS) add_pred(v, i, op->guard.pred, CONE_LOADS);
    }
    for (uint32_t i = 0; i < v->nops; i++)
        if (v->ops[i]->op != IR_LOADS || v->cone[i] & CONE_LOADS) add_pred(v, i, v->ops[i]->guard.pred, CONE_STEERS);
}

/* Of those that are too many the last ones share a bit. */
static void number_bits(Verifier *v)
{
    uint32_t loops = 0, vars = 0;
    for (uint32_t i = 0; i < v->nops; i++) {
        if (!loop_own_count(v, i)) continue;
        vec_push(v->arena, &v->own, i);
        v->loop_bit[i] = UINT64_C(1) << (loops < BITS - 1 ? loops++ : loops);
        if (v->block[i] & BLOCK_EVENTS) v->turning |= v->loop_bit[i];
    }
    for (uint32_t i = 0; i < v->k->vars.n; i++)
        if (v->cone_of_variable[i] & (CONE_SYNC | CONE_PLACE))
            v->variable_bit[i] = UINT64_C(1) << (vars < BITS - 1 ? vars++ : vars);
}

void rounds_prepare(Verifier *v)
{
    v->cone = arena_array(v->arena, uint8_t, v->nops + 1);
    v->cone_of_variable = arena_array(v->arena, uint8_t, v->k->vars.n);
    v->steers = arena_array(v->arena, uint32_t, v->nops + 1);
    v->loop_bit = arena_array(v->arena, uint64_t, v->nops + 1);
    v->variable_bit = arena_array(v->arena, uint64_t, v->k->vars.n);
    v->given = arena_array(v->arena, bool, v->k->vars.n);
    v->rounds = arena_array(v->arena, Round, v->nvalues);
    v->from_launch = arena_array(v->arena, uint64_t, v->nops + 1);
    for (uint32_t i = 0; i < v->nops; i++) {
        uint64_t of = v->ops[i]->op == IR_PARAM ? symbols(&v->k->mf.lx, ir_find(v->ops[i], IRK_EXPR)->id) : 0;
        v->from_launch[i] = of ? of : REST;
    }
    add_roots(v);
    number_bits(v);
    rounds_find(v, 1);
}
