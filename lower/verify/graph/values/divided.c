/* Divisors: PTX ISA, div, rem: what a division by 0 gives is not said, nor that it is the same everywhere. So how often a loop runs
 * does not depend on one. */
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

enum { WELL = 1, BADLY, FUEL = 200 };

/* ---- what is not 0 ---- */

static bool launch_divides(Verifier *v, Form x)
{
    if (v->launch_divisors == NULL) {
        v->launch_divisors = arena_new(v->arena, LaunchDivisors);
        const bool *divisor = ir_launch_divisors(v->arena, &v->k->mf);
        for (uint32_t i = 0; i < v->nops; i++)
            if (v->ops[i]->op == IR_PARAM && divisor[ir_find(v->ops[i], IRK_EXPR)->id])
                vec_push(v->arena, v->launch_divisors, run_result(v, i, 0, 0, 0));
    }
    for (uint32_t i = 0; i < v->launch_divisors->n; i++)
        if (v->launch_divisors->v[i] == x) return true;
    return false;
}

bool divisor_not_zero(Verifier *v, Form n)
{
    const FormData *d = form_data(&v->f, n);
    if (d->lo > 0 || d->hi < 0) return true;
    const FormAtom *a = d->n == 1 && d->k == 0 ? atom_data(&v->f, d->t[0].atom) : NULL;
    if (a && a->kind == ATOM_PARAM && ir_launch_of_none(&v->k->mf, a->a)) return true;
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
