/* Comparisons, minima and maxima that are held open: chosen trip counts make them of two numbers, and what the runs make of them does not
 * tell of longer loops (tries/compare.c). Longer loops may have them otherwise, in any of
 * their turns, so they are worked out anew from the indices of loops as values of which nothing is known but that they are
 * within their bounds, and from the launch values as these stand.
 *
 * The index of two turns is one value where both are the same turns of like loops: then it is equal in every launch. What
 * is made from it is equal where the expression is. The numbers that stand for it don't count: in the few turns of a
 * run these may be equal where those of longer loops are not.
 */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { OPEN_FUEL = 64 };

static Form open_value(Verifier *v, const IrArg *arg, int *fuel);

/* 0 for an operand that there is not; *fuel below 0 where the expression can't be told from others. */
static Form open_part(Verifier *v, const IrArg *arg, int *fuel)
{
    return arg ? open_value(v, arg, fuel) : 0;
}

static Form open_op(Verifier *v, uint32_t op, int *fuel)
{
    uint32_t leaves = v->f.leaves;
    const Operands *o = &v->operands[op];
    Form a = open_part(v, o->a, fuel), b = open_part(v, o->b, fuel), c = open_part(v, o->cond, fuel);
    Form x = *fuel < 0 ? 0 : run_result(v, op, c, a, b);
    if (leaves != v->f.leaves) *fuel = -1; /* a new value */
    return *fuel < 0 ? 0 : x;
}

/* x: the turn. */
static Form open_index(Verifier *v, const IrOp *op, Form x, int *fuel)
{
    Form lo = open_value(v, ir_find(op, IRK_A), fuel), hi = open_value(v, ir_find(op, IRK_B), fuel);
    if (*fuel < 0) return 0;
    int64_t first = form_data(&v->f, lo)->lo, last = form_data(&v->f, hi)->hi;
    if (last == first + 1) return form_const(&v->f, first);
    return form_atom(&v->f, (FormAtom){.kind = ATOM_OPEN,
                                       .type = op->type,
                                       .a = x,
                                       .b = lo,
                                       .c = hi,
                                       .lo = first,
                                       .hi = last == INT64_MAX || last == INT64_MIN ? INT64_MAX : last - 1});
}

static Form open_value(Verifier *v, const IrArg *arg, int *fuel)
{
    if (--*fuel < 0) return 0;
    if (arg->kind != IRA_VAL) return form_const(&v->f, arg->imm);
    uint32_t def = v->def[arg->id - 1];
    const IrOp *op = v->ops[def];
    if (v->operands[def].pure) return op->op == IR_SREG ? run_value(v, arg) : open_op(v, def, fuel);
    Form x = run_value(v, arg);
    if (op->op == IR_LOOP && x && run_by_trip(v, arg)) return open_index(v, op, x, fuel);
    if (x == 0 || op->op == IR_GET || (op->op != IR_LOADS && run_by_trip(v, arg)))
        *fuel = -1; /* variables may be equal by chance */
    return *fuel < 0 ? 0 : x;
}

Form open_form(Verifier *v, uint32_t op)
{
    int fuel = OPEN_FUEL;
    Form x = open_op(v, op, &fuel);
    return fuel < 0 ? form_leaf(&v->f, (IrType)v->ops[op]->type) : x;
}
