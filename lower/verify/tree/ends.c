/* Loops end: how often they run is a number. PTX ISA, div, rem: what a division by 0 gives is not said, nor that it is the same
 * everywhere; so no trip count, and nothing that it is made from, depends on one. */
#include "lower/verify/tree/facts.h"

enum { NOT_ASKED, WELL, BADLY };
typedef struct Ends {
    const TreeFacts *f;
    uint8_t *value, *var; /* what was found: by value, by variable */
    const bool *divisor;  /* by expression of the launch: it divides by it */
} Ends;

static bool value_well(Ends *e, IrVal v);

static bool not_zero(const Ends *e, const IrArg *x)
{
    if (tree_not_zero(e->f, x)) return true;
    const IrOp *op = x->kind == IRA_VAL ? tree_definition(e->f, tree_uncast(e->f, x->id)) : NULL;
    if (op == NULL || op->op != IR_PARAM) return false;
    Lx launch = ir_find(op, IRK_EXPR)->id;
    return e->divisor[launch] || ir_launch_of_none(&e->f->k->mf, launch);
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
              ir_launch_divisors(f->a, &f->k->mf)};
    for (uint32_t i = 0; i < f->tree->ops.n; i++) {
        const IrOp *op = tree_op(f, i);
        if ((op->op != IR_LOOP && op->op != IR_BREAK) || operands_well(&e, op)) continue;
        *where = op;
        return false;
    }
    return true;
}
