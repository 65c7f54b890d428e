/* Which comparisons, minima and maxima of a loop's index the runs decide. A run has few turns, so what comes out of a comparison in them tells
 * of longer loops only where it is
 * - the same in all turns, or made from the index modulo a small constant;
 * - `k < c`: the turn at which it changes has as many turns behind it as may notice, S, in the longest run;
 * - `k + c < n` with n the end of the loop, and c small: the last turns of every run are those of a longer one.
 * Others are held open (verify_open.c): against another size, against twice the index, far from both ends, of two indices.
 */
#include "lang/checked.h"
#include "lower/verify_parts.h"

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
    turns = op->type == IR_PRED ? turns : modulus_within(v, op, turns);
    made_from(v, ir_find(op, IRK_A), turns, depth - 1, m);
    made_from(v, ir_find(op, IRK_B), turns, depth - 1, m);
    made_from(v, ir_find(op, IRK_COND), turns, depth - 1, m);
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

/* d is c times the index of a loop and what does not depend on other indices. */
static bool against(const Verifier *v, Linear d, uint32_t index)
{
    const IrOp *loop = loop_of(v, d.t[index].value);
    int64_t c = d.t[index].c, far;
    Linear rest = d, end = of_arg(v, ir_find(loop, IRK_B), DEPTH);
    rest.t[index] = rest.t[--rest.n];
    if (widest(v, &rest, &far)) return far / (c < 0 ? -c : c) <= v->ring;
    if ((c != 1 && c != -1) || !end.ok || end.n == 0) return false;
    rest = sum(rest, end, c);
    return rest.ok && widest(v, &rest, &far) && far <= v->ring + 1;
}

bool compare_followed(const Verifier *v, uint32_t at)
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
    if (indices == 0) return true;
    return indices == 1 && periods == 0 && against(v, d, index);
}
