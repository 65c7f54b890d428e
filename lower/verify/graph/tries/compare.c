/* Which comparisons, minima and maxima of a loop's index the runs decide. A run has few turns, so what comes out of a comparison in them tells
 * of longer loops only where it is
 * - the same in all turns, or made from the index modulo a small constant;
 * - `k < c`: the turn at which it changes is one of the first F;
 * - `k + c < n` with n the end of the loop, and c small: the last E turns of every run are those of a longer one;
 * - of numbers of turns: `n < c`, and `n < m + c` of two loops. With more turns than c they all have it alike, those of the
 *   longest run, and it takes c + 1 of them away where it says that another loop has as many less.
 * Others are held open (tries/open.c): against another size, against twice the index, far from both ends, of two indices.
 *
 * Several comparisons may meet, of one loop or of loops that roles pass side by side, so F and E are the farthest of
 * all. Between them a loop of 2 S + 1 turns has as many as it has without such comparisons, in which nothing but the remainders of
 * joint moduli tells one turn from another: each remainder has a turn with the turns in front of it and behind it that it
 * reaches (the slots of a ring), so it meets every condition as it does in longer loops. Windows of those that begin
 * in the first F turns end before the last E.
 *
 * Where the turns of a loop around differ in this way, or by remainders, the loops inside have each number of turns in each
 * of those, and in one behind those: that takes F + E + 2 turns, and as many as there are remainders (v->together).
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { TERMS = 8, DEPTH = 24 };

typedef struct Term { /* c times: a value, or what a launch expression says */
    uint32_t value, expr;
    int64_t c;
} Term;
typedef struct Linear {
    bool ok;
    uint32_t n;
    Term t[TERMS];
    int64_t k;
} Linear;

static Linear number(int64_t k)
{
    return (Linear){.ok = true, .k = k};
}

static Linear single(uint32_t value, uint32_t expr)
{
    return (Linear){.ok = true, .n = 1, .t = {{value, expr, 1}}};
}

static void add_term(Linear *x, Term t)
{
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->t[i].value != t.value || x->t[i].expr != t.expr) continue;
        x->ok &= add_s64(x->t[i].c, t.c, &x->t[i].c);
        if (x->t[i].c == 0) x->t[i] = x->t[--x->n];
        return;
    }
    if (x->n == TERMS) x->ok = false;
    else x->t[x->n++] = t;
}

static Linear sum(Linear a, Linear b, int64_t c)
{
    int64_t k;
    a.ok &= b.ok && mul_s64(b.k, c, &k) && add_s64(a.k, k, &a.k);
    for (uint32_t i = 0; i < b.n && a.ok; i++) {
        Term t = b.t[i];
        a.ok &= mul_s64(t.c, c, &t.c);
        if (a.ok) add_term(&a, t);
    }
    return a;
}

static Linear product(Linear a, Linear b)
{
    return a.n == 0 ? sum(number(0), b, a.k) : b.n == 0 ? sum(number(0), a, b.k) : (Linear){0};
}

static Linear of_expr(const Verifier *v, uint32_t x, int depth)
{
    const LxNode *e = &v->k->mf.lx.nodes.v[x - 1];
    Linear r = {0};
    if (e->op == LX_CONST) return number(e->k);
    if (depth && (e->op == LX_ADD || e->op == LX_SUB))
        r = sum(of_expr(v, e->a, depth - 1), of_expr(v, e->b, depth - 1), e->op == LX_ADD ? 1 : -1);
    if (depth && e->op == LX_MUL) r = product(of_expr(v, e->a, depth - 1), of_expr(v, e->b, depth - 1));
    return r.ok ? r : single(0, x);
}

static Linear of_arg(const Verifier *v, const IrArg *arg, int depth);

/* A bound that is clipped to the range of its type is the bound. */
static bool clips(const IrOp *op, const Linear *limit)
{
    return limit->n == 0 && (op->op == IR_MAX ? limit->k == INT32_MIN : op->op == IR_MIN && limit->k == INT32_MAX);
}

static Linear of_op(const Verifier *v, const IrOp *op, int depth)
{
    const IrArg *x = ir_find(op, IRK_A), *y = ir_find(op, IRK_B);
    if (op->op == IR_CONST) return number(x->imm);
    if (op->op == IR_CVT) return of_arg(v, x, depth);
    Linear a = of_arg(v, x, depth), b = of_arg(v, y, depth);
    switch ((IrOpcode)op->op) {
    case IR_ADD: return sum(a, b, 1);
    case IR_SUB: return sum(a, b, -1);
    case IR_MUL: return product(a, b);
    case IR_SHL: return b.n == 0 && b.k >= 0 && b.k < 31 ? sum(number(0), a, INT64_C(1) << b.k) : (Linear){0};
    case IR_MIN:
    case IR_MAX: return clips(op, &b) ? a : (Linear){0};
    default: return (Linear){0};
    }
}

static bool taken_apart(const IrOp *op)
{
    switch ((IrOpcode)op->op) {
    case IR_CONST:
    case IR_CVT:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_SHL:
    case IR_MIN:
    case IR_MAX: return true;
    default: return false;
    }
}

static Linear of_arg(const Verifier *v, const IrArg *arg, int depth)
{
    if (arg == NULL) return (Linear){0};
    if (arg->kind != IRA_VAL) return number(arg->imm);
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_PARAM && depth) return of_expr(v, ir_find(op, IRK_EXPR)->id, depth - 1);
    Linear r = depth && taken_apart(op) ? of_op(v, op, depth - 1) : (Linear){0};
    return r.ok ? r : single(arg->id, 0);
}

/* ---- what a term is made from ---- */

typedef struct Origin {
    bool index;     /* of a loop whose trip count is chosen, as it is */
    bool period;    /* of one modulo a constant */
    int64_t joint;  /* turns after which all of those come round together */
} Origin;

/* turns: after which what is made from it comes round; 0: it is used as it is. */
static void made_from(const Verifier *v, const IrArg *arg, int64_t turns, int depth, Origin *m)
{
    if (arg == NULL || arg->kind != IRA_VAL) return;
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_LOOP || op->op == IR_LANES) {
        if (loop_fixed(op)) return;
        if (turns) m->joint = modulus_joint(m->joint, turns);
        if (turns) m->period = true;
        else m->index = true;
        return;
    }
    if (!run_pure(op)) return;
    if (depth == 0) {
        m->index = true;
        return;
    }
    turns = modulus_within(v, op, turns);
    made_from(v, ir_find(op, IRK_A), turns, depth - 1, m);
    made_from(v, ir_find(op, IRK_B), turns, depth - 1, m);
    made_from(v, ir_find(op, IRK_COND), 0, depth - 1, m);
}

static Origin made(const Verifier *v, uint32_t value)
{
    Origin m = {.joint = 1};
    if (value) made_from(v, &(IrArg){.kind = IRA_VAL, .id = value}, 0, DEPTH, &m);
    return m;
}

/* It comes round with all else that the runs have in numbers. */
static bool comes_round(const Verifier *v, const Origin *m)
{
    return !m->period || v->joint % m->joint == 0;
}

bool index_followed(const Verifier *v, uint32_t at)
{
    Origin m = made(v, v->ops[at]->dst);
    return !m.index && comes_round(v, &m);
}

static const IrOp *loop_of(const Verifier *v, uint32_t value)
{
    const IrOp *op = value ? v->ops[v->def[value - 1]] : NULL;
    return op && op->op == IR_LOOP && !loop_fixed(op) ? op : NULL;
}

/* How far the constant and the indices of loops with a fixed number of turns go to either side. */
static bool widest(const Verifier *v, const Linear *d, int64_t *most)
{
    int64_t all = d->k < 0 ? -d->k : d->k;
    for (uint32_t i = 0; i < d->n; i++) {
        const IrOp *op = d->t[i].value ? v->ops[v->def[d->t[i].value - 1]] : NULL;
        if (op == NULL || !loop_fixed(op)) return false;
        const IrArg *lo = ir_find(op, IRK_A), *hi = ir_find(op, IRK_B);
        int64_t far = op->op == IR_LANES ? 32 : hi->imm > -lo->imm ? hi->imm : -lo->imm, x;
        if (!mul_s64(d->t[i].c < 0 ? -d->t[i].c : d->t[i].c, far, &x) || !add_s64(all, x, &all)) return false;
    }
    *most = all;
    return true;
}

/* ---- how far it reaches ---- */

void compare_begin(Verifier *v)
{
    v->front = v->end = 0;
    for (uint32_t i = 0; i < v->nops; i++) v->unlike[i].front = v->unlike[i].end = 0;
}

static void reaches(uint32_t *far, int64_t turns)
{
    if (turns > *far) *far = (uint32_t)turns;
}

static void tells_apart(Verifier *v, uint32_t loop, int64_t front, int64_t end)
{
    reaches(&v->front, front);
    reaches(&v->end, end);
    reaches(&v->unlike[loop].front, front);
    reaches(&v->unlike[loop].end, end);
}

/* c * turn - far, or far - c * turn, compared with 0: how many turns are not as those behind them. */
static int64_t turns_before(const IrOp *op, int64_t c, int64_t far)
{
    IrRel rel = op->op == IR_CMP ? (IrRel)ir_find(op, IRK_REL)->id : c < 0 ? IRL_LE : IRL_LT;
    bool from_there = c < 0 ? rel == IRL_LE || rel == IRL_GT : rel == IRL_LT || rel == IRL_GE;
    int64_t by = c < 0 ? -c : c;
    return far / by + (far % by || !from_there);
}

/* d is c times the index of a loop and what does not depend on other indices. */
static bool against(Verifier *v, const IrOp *op, Linear d, uint32_t index)
{
    uint32_t at = v->def[d.t[index].value - 1];
    const IrOp *loop = loop_of(v, d.t[index].value);
    const IrArg *from = ir_find(loop, IRK_A);
    int64_t c = d.t[index].c, far;
    Linear rest = d, lo = of_arg(v, from, DEPTH), end = of_arg(v, ir_find(loop, IRK_B), DEPTH);
    rest.t[index] = rest.t[--rest.n];
    bool first = lo.ok && lo.n == 0;
    Linear front = first ? sum(rest, lo, c) : rest;
    if (front.ok && widest(v, &front, &far) && (first || steer_not_negative(v, from))) {
        if (far / (c < 0 ? -c : c) > v->base) return false;
        tells_apart(v, at, turns_before(op, c, far), 0);
        return true;
    }
    if ((c != 1 && c != -1) || !end.ok || end.n == 0) return false;
    rest = sum(rest, end, c);
    if (!rest.ok || !widest(v, &rest, &far) || far > (int64_t)v->base + 1) return false;
    tells_apart(v, at, 0, far);
    return true;
}

/* A launch value that a loop's number of turns is made from; more: what that number has besides. */
static bool counts_turns(const Verifier *v, const Term *t, int64_t *more)
{
    for (uint32_t i = 0; i < v->nops; i++) {
        if (v->ops[i]->op != IR_LOOP || loop_fixed(v->ops[i])) continue;
        const IrArg *lo = ir_find(v->ops[i], IRK_A), *hi = ir_find(v->ops[i], IRK_B);
        Linear count = sum(of_arg(v, hi, DEPTH), of_arg(v, lo, DEPTH), -1);
        for (uint32_t j = 0; count.ok && j < count.n; j++) {
            if (count.t[j].expr != t->expr || (count.t[j].c != 1 && count.t[j].c != -1)) continue;
            *more = count.k < 0 ? -count.k : count.k;
            return true;
        }
    }
    return false;
}

/* Launch values alone: chosen trip counts may decide it. */
static bool of_launch(Verifier *v, const IrOp *op, const Linear *d)
{
    int64_t far = d->k < 0 ? -d->k : d->k, more = 0;
    uint32_t exprs = 0;
    for (uint32_t i = 0; i < d->n; i++) exprs += d->t[i].expr != 0;
    if (op->op != IR_CMP || exprs == 0) return true;
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->t[i].expr == 0) continue;
        if ((d->t[i].c != 1 && d->t[i].c != -1) || !counts_turns(v, &d->t[i], &more)) return false;
        if (!add_s64(far, more, &far)) return false;
    }
    if (far > v->base) return false;
    reaches(&v->end, far + 1);
    return true;
}

bool compare_followed(Verifier *v, uint32_t at)
{
    const IrOp *op = v->ops[at];
    Linear d = sum(of_arg(v, ir_find(op, IRK_A), DEPTH), of_arg(v, ir_find(op, IRK_B), DEPTH), -1);
    uint32_t indices = 0, periods = 0, index = 0;
    for (uint32_t i = 0; d.ok && i < d.n; i++) {
        Origin m = made(v, d.t[i].value);
        if (loop_of(v, d.t[i].value)) {
            index = i;
            indices++;
        } else if (m.index || !comes_round(v, &m)) {
            return false;
        } else {
            periods += m.period;
        }
    }
    if (!d.ok) return false;
    if (indices == 0) return of_launch(v, op, &d);
    return indices == 1 && periods == 0 && against(v, op, d, index);
}

/* 2 S + 1 turns are at least the first F, the last E, and what loops without ends have between them. Where the order of
 * events is the same in all turns, only the copies and their bytes being under conditions, it is proved by any of
 * them: it is enough that both accesses of each pair lie between the ends. */
void compare_fit(Verifier *v)
{
    uint32_t least = v->slots > v->joint ? v->slots : v->joint;
    uint32_t plain = 2 * least + 1, reach = 2 * v->slots + v->joint;
    uint32_t between = !v->uneven ? v->slots + v->joint : plain > reach ? plain : reach;
    uint32_t all = v->front + v->end + between;
    if (!v->few && v->front + v->end && v->ring < all / 2) v->ring = all / 2;
}
