/* Loops end: how often they run is a number. PTX ISA, div, rem: what a division by 0 gives is not said, nor that it is the same
 * everywhere; so no trip count, and nothing that it is made from, depends on one. */
#include "lower/verify/tree/facts.h"

enum { NOT_ASKED, WELL, BADLY };
typedef struct Ends {
    const TreeFacts *f;
    uint8_t *value, *var; /* what was found: by value, by variable */
    uint8_t *launch;      /* by expression of the launch: bits of */
} Ends;
enum { NEEDED = 1, HOLDS = 2, DIVISOR = 4 };

static bool value_well(Ends *e, IrVal v);

/* Expressions that the launch divides by: it is refused where a check fails, or what it needs can't be worked out. Operands
 * come before what uses them. */
static void launch_divisors(Ends *e)
{
    const MfKernel *mf = &e->f->k->mf;
    for (uint32_t i = 0; i < mf->checks.n; i++) e->launch[mf->checks.v[i].cond] |= NEEDED | HOLDS;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == MF_PARAM_VALUE) e->launch[mf->params.v[i].index] |= NEEDED;
    for (uint32_t i = mf->lx.nodes.n; i > 0; i--) {
        const LxNode *n = &mf->lx.nodes.v[i - 1];
        if (!(e->launch[i] & NEEDED) || n->op == LX_CONST || n->op == LX_SYM) continue;
        bool both = n->op == LX_LAND && e->launch[i] & HOLDS, one = n->op == LX_LAND || n->op == LX_LOR;
        e->launch[n->a] |= both ? NEEDED | HOLDS : NEEDED;
        if (n->b && (both || !one)) e->launch[n->b] |= both ? NEEDED | HOLDS : NEEDED;
        if (n->op == LX_DIV || n->op == LX_MOD || n->op == LX_CEIL) e->launch[n->b] |= DIVISOR;
    }
}

/* x is 0 where y is. */
static bool zero_with(const LxPool *p, Lx x, Lx y)
{
    if (x == y) return true; /* equal expressions are one node */
    const LxNode *n = &p->nodes.v[x - 1], *b = n->b ? &p->nodes.v[n->b - 1] : NULL;
    if (n->op == LX_MUL) return zero_with(p, n->a, y) || zero_with(p, n->b, y);
    if (b == NULL || b->op != LX_CONST) return false;
    if (n->op == LX_MAX) return b->k == 0 && zero_with(p, n->a, y);
    return (n->op == LX_CEIL || n->op == LX_DIV) && b->k > 0 && zero_with(p, n->a, y);
}

/* Where the number of iterations or CTAs is 0, nothing is launched. */
static bool not_zero(const Ends *e, const IrArg *x)
{
    const MfKernel *mf = &e->f->k->mf;
    if (tree_not_zero(e->f, x)) return true;
    const IrOp *op = x->kind == IRA_VAL ? tree_definition(e->f, tree_uncast(e->f, x->id)) : NULL;
    if (op == NULL || op->op != IR_PARAM) return false;
    Lx launch = ir_find(op, IRK_EXPR)->id;
    return e->launch[launch] & DIVISOR || zero_with(&mf->lx, mf->deal != MF_DEAL_NONE ? mf->teams : mf->grid[0], launch);
}

static bool operands_well(Ends *e, const IrOp *op)
{
    bool well = op->guard.pred == 0 || value_well(e, op->guard.pred);
    for (uint32_t i = 0; i < op->nargs && well; i++)
        if (op->args[i].kind == IRA_VAL) well = value_well(e, op->args[i].id);
    return well;
}

/* Whatever it is set to, wherever that is. */
static bool var_well(Ends *e, uint32_t var)
{
    if (e->var[var] != NOT_ASKED) return e->var[var] == WELL;
    e->var[var] = WELL; /* for what it is set to that is made from itself */
    bool well = true;
    for (uint32_t i = 0; i < e->f->tree->ops.n && well; i++) {
        const IrOp *op = tree_op(e->f, i);
        if ((op->op == IR_VAR || op->op == IR_SET) && ir_find(op, IRK_VAR)->id == var) well = operands_well(e, op);
    }
    if (well) return true;
    for (uint32_t i = 0; i < e->f->k->vars.n; i++) /* what was found on the assumption is asked again */
        if (e->var[i] == WELL) e->var[i] = NOT_ASKED;
    for (uint32_t i = 0; i < e->f->k->value_types.n; i++)
        if (e->value[i] == WELL) e->value[i] = NOT_ASKED;
    e->var[var] = BADLY;
    return false;
}

static bool value_well(Ends *e, IrVal v)
{
    uint8_t *known = &e->value[v - 1];
    if (*known != NOT_ASKED) return *known == WELL;
    const IrOp *op = tree_definition(e->f, v);
    *known = WELL;
    bool divides = op && (op->op == IR_DIV || op->op == IR_MOD);
    bool well = op == NULL || ((!divides || not_zero(e, ir_find(op, IRK_B))) && operands_well(e, op));
    if (well && op && op->op == IR_GET) well = var_well(e, ir_find(op, IRK_VAR)->id);
    *known = well ? WELL : BADLY;
    return well;
}

bool tree_ends(const TreeFacts *f, const IrOp **where)
{
    Ends e = {f, arena_array(f->a, uint8_t, f->k->value_types.n), arena_array(f->a, uint8_t, f->k->vars.n + 1),
              arena_array(f->a, uint8_t, f->k->mf.lx.nodes.n + 1)};
    launch_divisors(&e);
    for (uint32_t i = 0; i < f->tree->ops.n; i++) {
        const IrOp *op = tree_op(f, i);
        if ((op->op != IR_LOOP && op->op != IR_BREAK) || operands_well(&e, op)) continue;
        *where = op;
        return false;
    }
    return true;
}
