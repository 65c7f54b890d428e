/* Divisors: PTX ISA, div, rem: what a division by 0 gives is not said, nor that it is the same everywhere. So how often a loop runs
 * does not depend on one. */
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

enum { WELL = 1, BADLY, FUEL = 200 };

/* ---- what is not 0 ---- */

/* x is 0 where y is. */
static bool zero_with(const LxPool *p, Lx x, Lx y)
{
    if (x == y) return true; /* equal expressions are one node */
    const LxNode *n = &p->nodes.v[x - 1];
    const LxNode *b = n->b ? &p->nodes.v[n->b - 1] : NULL;
    if (n->op == LX_MUL) return zero_with(p, n->a, y) || zero_with(p, n->b, y);
    if (b == NULL || b->op != LX_CONST) return false;
    if (n->op == LX_MAX) return b->k == 0 && zero_with(p, n->a, y);
    return (n->op == LX_CEIL || n->op == LX_DIV) && b->k > 0 && zero_with(p, n->a, y);
}

enum { NEEDED = 1, HOLDS = 2, DIVISOR = 4 };

/* Expressions that the launch divides by: it is refused where a check fails, or what it needs can't be worked out. Operands
 * come before what uses them. */
static uint8_t *launch_divisors(Verifier *v)
{
    const MfKernel *mf = &v->k->mf;
    uint8_t *mark = arena_array(v->arena, uint8_t, mf->lx.nodes.n + 1);
    for (uint32_t i = 0; i < mf->checks.n; i++) mark[mf->checks.v[i].cond] |= NEEDED | HOLDS;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == MF_PARAM_VALUE) mark[mf->params.v[i].index] |= NEEDED;
    for (uint32_t i = mf->lx.nodes.n; i > 0; i--) {
        const LxNode *n = &mf->lx.nodes.v[i - 1];
        if (!(mark[i] & NEEDED) || n->op == LX_CONST || n->op == LX_SYM) continue;
        bool both = n->op == LX_LAND && mark[i] & HOLDS;
        mark[n->a] |= both ? NEEDED | HOLDS : NEEDED;
        if (n->b && (both || (n->op != LX_LAND && n->op != LX_LOR))) mark[n->b] |= both ? NEEDED | HOLDS : NEEDED;
        if (n->op == LX_DIV || n->op == LX_MOD || n->op == LX_CEIL) mark[n->b] |= DIVISOR;
    }
    return mark;
}

static bool launch_divides(Verifier *v, Form x)
{
    if (v->launch_divisors == NULL) {
        v->launch_divisors = arena_new(v->arena, LaunchDivisors);
        const uint8_t *mark = launch_divisors(v);
        for (uint32_t i = 0; i < v->nops; i++)
            if (v->ops[i]->op == IR_PARAM && mark[ir_find(v->ops[i], IRK_EXPR)->id] & DIVISOR)
                vec_push(v->arena, v->launch_divisors, run_result(v, i, 0, 0, 0));
    }
    for (uint32_t i = 0; i < v->launch_divisors->n; i++)
        if (v->launch_divisors->v[i] == x) return true;
    return false;
}

/* Where the number of iterations or CTAs is 0, nothing is launched. */
bool divisor_not_zero(Verifier *v, Form n)
{
    const MfKernel *mf = &v->k->mf;
    const FormData *d = form_data(&v->f, n);
    if (d->lo > 0 || d->hi < 0) return true;
    const FormAtom *a = d->n == 1 && d->k == 0 ? atom_data(&v->f, d->t[0].atom) : NULL;
    if (a && a->kind == ATOM_PARAM && zero_with(&mf->lx, mf->deal != MF_DEAL_NONE ? mf->teams : mf->grid[0], a->a)) return true;
    return launch_divides(v, n);
}

/* ---- what is divided ---- */

/* The operand, from its op alone, is not 0. */
static bool known_not_zero(Verifier *v, const IrArg *x)
{
    if (x->kind != IRA_VAL) return x->imm != 0;
    uint32_t def = v->def[x->id - 1];
    const IrOp *op = v->ops[def];
    if (op->op == IR_CONST) return ir_find(op, IRK_A)->imm != 0;
    if (op->op == IR_CVT) return known_not_zero(v, v->operands[def].a);
    return op->op == IR_PARAM && divisor_not_zero(v, run_result(v, def, 0, 0, 0));
}

/* Where no divisor can be 0, what is not taken apart is no such division either. */
static bool any_by_zero(Verifier *v)
{
    for (uint32_t i = 0; i < v->nops && v->by_zero == 0; i++) {
        const IrOp *op = v->ops[i];
        if ((op->op == IR_DIV || op->op == IR_MOD) && !known_not_zero(v, v->operands[i].b)) v->by_zero = BADLY;
    }
    if (v->by_zero == 0) v->by_zero = WELL;
    return v->by_zero == BADLY;
}

static bool form_well(Verifier *v, Form x, int fuel);

static bool atom_well(Verifier *v, uint32_t atom, int fuel);

static bool parts_well(Verifier *v, const FormAtom *a, int fuel)
{
    switch ((FormAtomKind)a->kind) {
    case ATOM_OP:
        if ((a->sub == IR_DIV || a->sub == IR_MOD) && !divisor_not_zero(v, a->b)) return false;
        return form_well(v, a->a, fuel) && form_well(v, a->b, fuel);
    case ATOM_SEL: return form_well(v, a->a, fuel) && form_well(v, a->b, fuel) && form_well(v, a->c, fuel);
    case ATOM_LOAD: return form_well(v, a->b, fuel) && form_well(v, a->c, fuel);
    case ATOM_GT0:
    case ATOM_EQ0: return form_well(v, a->a, fuel);
    case ATOM_PROD: return atom_well(v, a->a, fuel) && atom_well(v, a->b, fuel);
    case ATOM_LEAF: {
        bool scalar = a->a >= v->nops || v->operands[a->a].pure || v->ops[a->a]->op == IR_GET;
        return !scalar || !any_by_zero(v);
    }
    case ATOM_SUM: return form_well(v, a->a, fuel);
    default: return true; /* numbers of the launch */
    }
}

static bool atom_well(Verifier *v, uint32_t atom, int fuel)
{
    while (v->divided.n < atom) vec_push(v->arena, &v->divided, 0);
    if (v->divided.v[atom - 1] == 0) {
        FormAtom a = *atom_data(&v->f, atom);
        bool well = fuel > 0 && parts_well(v, &a, fuel - 1);
        v->divided.v[atom - 1] = well ? WELL : BADLY;
    }
    return v->divided.v[atom - 1] == WELL;
}

static bool form_well(Verifier *v, Form x, int fuel)
{
    for (uint32_t i = 0; x && i < form_data(&v->f, x)->n; i++)
        if (!atom_well(v, form_data(&v->f, x)->t[i].atom, fuel)) return false;
    return true;
}

bool bounds_divided_well(Verifier *v, uint32_t op, Form lo, Form hi)
{
    if (form_well(v, lo, FUEL) && form_well(v, hi, FUEL)) return true;
    Diag *g = verify_refuse(v, E0660, op,
                            "how often this loop runs depends on a division by what may be 0: nothing shows that it ends");
    if (g) diag_fix(v->diags, g, "divide by the maximum of that and 1");
    return false;
}
