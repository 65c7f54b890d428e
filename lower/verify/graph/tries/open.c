/* Comparisons, minima and maxima that are held open: chosen trip counts make them of two numbers, and what the runs make
 * of them does not tell of longer loops (tries/compare.c). Longer loops may have them otherwise, in any of their turns, so
 * they are worked out anew from the indices of loops as values of which nothing is known but that they are within their
 * bounds, and from the launch values as these stand.
 *
 * The index of two turns is one value where both are the same turns of like loops: then it is equal in every launch. What
 * is made from it is equal where the expression is. The numbers that stand for it don't count: in the few turns of a
 * run these may be equal where those of longer loops are not.
 * What is loaded stands for itself, not for the number that was chosen for it.
 */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { OPEN_FUEL = 64 };

static Form open_value(Verifier *v, const IrArg *arg, bool any, int *fuel);

/* 0 for an operand that there is not; *fuel below 0 where the expression can't be told from others. */
static Form open_part(Verifier *v, const IrArg *arg, bool any, int *fuel)
{
    return arg ? open_value(v, arg, any, fuel) : 0;
}

static Form open_op(Verifier *v, uint32_t op, bool any, int *fuel)
{
    uint32_t leaves = v->f.leaves;
    const Operands *o = &v->operands[op];
    Form a = open_part(v, o->a, any, fuel), b = open_part(v, o->b, any, fuel), c = open_part(v, o->cond, any, fuel);
    Form x = *fuel < 0 ? 0 : run_result(v, op, c, a, b);
    if (leaves != v->f.leaves) *fuel = -1; /* a new value */
    return *fuel < 0 ? 0 : x;
}

/* turn: where v->now is; 0: any. */
static Form open_index(Verifier *v, uint32_t loop, Form turn, int *fuel)
{
    Form lo = open_value(v, v->operands[loop].a, turn == 0, fuel), hi = open_value(v, v->operands[loop].b, turn == 0, fuel);
    if (*fuel < 0) return 0;
    int64_t first = form_data(&v->f, lo)->lo, last = form_data(&v->f, hi)->hi;
    if (last == first + 1) return form_const(&v->f, first);
    return form_atom(&v->f, (FormAtom){.kind = ATOM_OPEN,
                                       .sub = turn == 0,
                                       .type = v->ops[loop]->type,
                                       .a = turn ? turn : loop,
                                       .b = lo,
                                       .c = hi,
                                       .lo = first,
                                       .hi = last == INT64_MAX || last == INT64_MIN ? INT64_MAX : last - 1});
}

/* A value that is not worked out from others: variables may be equal by chance, and so what they are handed over in. */
static Form open_leaf(Verifier *v, uint32_t at, bool any)
{
    const IrOp *op = v->ops[at];
    const IrArg arg = {.kind = IRA_VAL, .id = op->dst};
    if (op->op == IR_LOOP) return run_value(v, &arg);
    if (op->op == IR_GET || ((op->op == IR_LDS || op->op == IR_TICKET) && (any || run_by_trip(v, &arg)))) return 0;
    return v->now->loaded[op->dst - 1];
}

static Form open_value(Verifier *v, const IrArg *arg, bool any, int *fuel)
{
    if (--*fuel < 0) return 0;
    if (arg->kind != IRA_VAL) return form_const(&v->f, arg->imm);
    uint32_t at = v->def[arg->id - 1];
    const IrOp *op = v->ops[at];
    if (op->op == IR_SREG) return run_value(v, arg);
    if (v->operands[at].pure) return open_op(v, at, any, fuel);
    if (op->op == IR_LOOP && (any || run_by_trip(v, arg))) return open_index(v, at, any ? 0 : run_value(v, arg), fuel);
    Form x = open_leaf(v, at, any);
    if (x == 0) *fuel = -1;
    return x;
}

Form open_form(Verifier *v, uint32_t op)
{
    int fuel = OPEN_FUEL;
    Form x = open_op(v, op, false, &fuel);
    return fuel < 0 ? form_leaf(&v->f, (IrType)v->ops[op]->type) : x;
}

Form open_count(Verifier *v, uint32_t loop)
{
    int fuel = 4 * OPEN_FUEL;
    Form lo = open_value(v, v->operands[loop].a, true, &fuel), hi = open_value(v, v->operands[loop].b, true, &fuel);
    return fuel < 0 ? 0 : form_add(&v->f, hi, -1, lo);
}
