/* What values, and all that is made of them, must not depend on: found from the program's order, again until nothing is added.
 *
 * Loops end: how often they run is a number. PTX ISA, div, rem: what a division by 0 gives is not said, nor that it is the same
 * everywhere; so no trip count, nor how often something is drawn, and nothing that it is made from, depends on one.
 *
 * Clusters: CTAs that reach into each other's slots go through the blocks around that alike, as often and in step. So the loops and
 * conditions there come from numbers that are the same in all of them. */
#include "lower/verify/tree/facts.h"

typedef struct Tainted {
    TreeFacts *f;
    bool *value, *var, *block; /* by value, by variable; by op that opens a block: whether it is gone through depends on it */
    bool changed;
} Tainted;
typedef bool Taints(Tainted *t, uint32_t at, const IrOp *op, bool operands); /* is what the op makes so? at: in the tree, from 1 */

static void taint(Tainted *t, bool *what, bool so)
{
    t->changed |= so && !*what;
    *what |= so;
}

static bool operands_tainted(const Tainted *t, const IrOp *op)
{
    bool so = op->guard.pred && t->value[op->guard.pred - 1];
    for (uint32_t i = 0; i < op->nargs && !so; i++)
        so = (op->args[i].kind == IRA_VAL && t->value[op->args[i].id - 1]) || (op->op == IR_GET && op->args[i].kind == IRA_VAR && t->var[op->args[i].id]);
    return so;
}

/* An `if` that synchronises nothing: bytes.c looks at both ways. */
static bool only_copies(const TreeFacts *f, uint32_t at)
{
    bool only = tree_op(f, at)->op == IR_IF;
    uint32_t end = tree_last(f, at);
    for (uint32_t i = at + 1; only && i < end; i++) {
        IrGroup group = ir_op_info((IrOpcode)tree_op(f, i)->op)->group;
        only = group == IRG_COPY || tree_op(f, i)->op == IR_ELSE || (group == IRG_SCALAR && tree_op(f, i)->op != IR_SET);
    }
    return only;
}

static void look_at(Tainted *t, uint32_t at, const IrOp *op, Taints *source)
{
    const TreeFacts *f = t->f;
    uint32_t around = at ? f->at[at - 1].around : 0;
    bool inside = around && t->block[around - 1], so = operands_tainted(t, op);
    if (op->op == IR_VAR || op->op == IR_SET) taint(t, &t->var[ir_find(op, IRK_VAR)->id], so || inside);
    if (op->op == IR_BREAK && around) taint(t, &t->block[around - 1], so);
    if (at && ir_opens_block(op->op) && op->op != IR_ELSE) {
        bool through = inside || (so && !only_copies(f, at - 1));
        taint(t, &t->block[at - 1], through);
        if (op->op == IR_IF && tree_op(f, f->at[at - 1].end)->op == IR_ELSE) taint(t, &t->block[f->at[at - 1].end], through);
    }
    if (op->dst && !t->value[op->dst - 1]) taint(t, &t->value[op->dst - 1], source(t, at, op, so));
}

static Tainted spread(TreeFacts *f, Taints *source)
{
    Tainted t = {f, arena_array(f->a, bool, f->values), arena_array(f->a, bool, f->k->vars.n), arena_array(f->a, bool, f->tree->ops.n), true};
    while (t.changed) {
        t.changed = false;
        for (uint32_t i = 0; i < f->k->init.ops.n; i++) look_at(&t, 0, &f->k->init.ops.v[i], source);
        for (uint32_t i = 0; i < f->tree->ops.n; i++) look_at(&t, i + 1, tree_op(f, i), source);
    }
    return t;
}

/* ---- loops end ---- */

static bool not_zero(TreeFacts *f, const IrArg *x)
{
    const IrOp *op = x->kind == IRA_VAL ? tree_definition(f, tree_uncast(f, x->id)) : NULL;
    bool param = op && op->op == IR_PARAM;
    if (param && f->divisors == NULL) f->divisors = ir_launch_divisors(f->a, &f->k->mf);
    if (param && f->divisors[ir_find(op, IRK_EXPR)->id]) return true;
    Interval r = tree_range(f, x, f->ctas);
    return r.lo > 0 || r.hi < 0;
}

static bool divides_by_zero(Tainted *t, uint32_t at, const IrOp *op, bool operands)
{
    (void)at;
    return operands || ((op->op == IR_DIV || op->op == IR_MOD) && !not_zero(t->f, ir_find(op, IRK_B)));
}

static bool any_division_by_zero(TreeFacts *f, const IrRole *body)
{
    bool any = false;
    for (uint32_t i = 0; i < body->ops.n && !any; i++) {
        const IrOp *op = &body->ops.v[i];
        if (op->op != IR_DIV && op->op != IR_MOD) continue;
        any = !not_zero(f, ir_find(op, IRK_B));
    }
    return any;
}

uint32_t tree_ends(TreeFacts *f)
{
    if (!any_division_by_zero(f, &f->k->init) && !any_division_by_zero(f, f->tree)) return UINT32_MAX;
    Tainted t = spread(f, divides_by_zero);
    for (uint32_t i = 0; i < f->tree->ops.n; i++) {
        const IrOp *op = tree_op(f, i);
        bool counts = op->op == IR_LOOP || op->op == IR_TICKET || (op->op == IR_IF && !only_copies(f, i));
        if (counts && operands_tainted(&t, op)) return i;
    }
    return UINT32_MAX;
}

/* ---- in step ---- */

/* Of the CTAs of a cluster the same: ctaid.x / 4 where its CTAs are 4 in x. */
static bool of_the_cluster(const TreeFacts *f, const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    if (op->op != IR_DIV || a->kind != IRA_VAL || b->kind != IRA_IMM || b->imm <= 0) return false;
    const IrOp *from = tree_definition(f, tree_uncast(f, a->id));
    if (from == NULL || from->op != IR_SREG) return false;
    uint32_t reg = ir_find(from, IRK_REG)->id, d = reg; /* x, y, z are first */
    return reg <= IRR_CTAID_Z && b->imm % f->k->mf.cluster[d] == 0;
}

/* What the op reads is one number that one CTA sends to all, in the same turn, or the hardware's answer to all. */
static bool sent_to_all(const TreeFacts *f, uint32_t at, const IrOp *op)
{
    const IrArg *turn = ir_part(op, ir_find(op, IRK_SRC), IRK_SLOT);
    if (at == 0 || turn == NULL || turn->kind != IRA_TURN || (op->op == IR_LDS && tree_handed(f, op) == NULL)) return false;
    const TreeRing *r = &f->ring[turn->id];
    uint32_t sent = 0, by = TREE_RANKS;
    for (uint32_t i = 0; i < r->access.n; i++) {
        const TreeAccess *y = &f->access.v[r->access.v[i]];
        if (!y->write) continue;
        if ((by < TREE_RANKS && y->rank != by) || f->at[y->op].around != f->at[at - 1].around || (op->op == IR_CLC_ID && tree_op(f, y->op)->op != IR_CLC_NEXT)) return false;
        by = y->rank;
        sent |= 1u << y->at;
    }
    return sent == (1u << f->ctas) - 1;
}

static bool same_by_rank(const TreeFacts *f, IrVal v)
{
    const IrArg arg = {.kind = IRA_VAL, .id = v};
    int64_t first = 0, other;
    bool same = tree_number(f, &arg, 0, &first);
    for (uint32_t s = 1; s < f->ctas && same; s++) same = tree_number(f, &arg, s, &other) && other == first;
    return same;
}

static bool may_differ(const Tainted *t, uint32_t at, const IrOp *op, bool operands)
{
    const TreeFacts *f = t->f;
    switch ((IrOpcode)op->op) {
    case IR_SREG: {
        uint32_t reg = ir_find(op, IRK_REG)->id;
        if (reg <= IRR_CTAID_Z) return f->k->mf.cluster[reg] > 1;
        return reg < IRR_NCTAID_X || reg > IRR_NCTAID_Z;
    }
    case IR_LDS:
    case IR_CLC_ID: return !sent_to_all(f, at, op);
    case IR_TICKET: return true;
    default: return operands;
    }
}

static bool differs(Tainted *t, uint32_t at, const IrOp *op, bool operands)
{
    return may_differ(t, at, op, operands) && !same_by_rank(t->f, op->dst) && !of_the_cluster(t->f, op);
}

bool tree_same(const TreeFacts *f, IrVal v)
{
    return f->unlike && !f->unlike[v - 1];
}

uint32_t tree_alike(TreeFacts *f)
{
    uint32_t first = UINT32_MAX;
    if (f->ctas == 1) return first;
    Tainted t = spread(f, differs);
    f->unlike = t.value;
    for (uint32_t r = 0; r < f->nrings; r++)
        for (uint32_t k = 0; k < f->ring[r].ops.n && f->ring[r].reached; k++) {
            uint32_t i = f->ring[r].ops.v[k];
            bool own = f->at[i].ring != r + 1 && !tree_reaches_others(f, tree_op(f, i)); /* what is done to the own slot alone comes as often as it likes */
            if (i < first && !own && f->at[i].around && t.block[f->at[i].around - 1]) first = i;
        }
    return first;
}
