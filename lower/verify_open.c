/* Comparisons that are held open: chosen trip counts decide them, and in all runs they came out one way. Longer loops may
 * have them the other way, in any of their turns, so the runs are done again with a pred of which nothing is known in
 * their place.
 *
 * Two of them are one pred where the same expression is made from the same turns of like loops, the same launch values
 * and the same elements: then they are equal in every launch. The numbers that they compare don't count: in the few
 * turns of a run these may be equal where those of longer loops are not.
 */
#include "lower/verify_parts.h"

enum { OPEN_FUEL = 64 };

static Form open_value(Verifier *v, const IrArg *arg, int *fuel);

static Form open_atom(Verifier *v, const IrOp *op, uint8_t type, Form a, Form b, Form c)
{
    return form_atom(&v->f, (Atom){.kind = ATOM_OPEN,
                                   .sub = op->op,
                                   .type = type,
                                   .boolean = op->type == IR_PRED,
                                   .a = a,
                                   .b = b,
                                   .c = c,
                                   .lo = op->type == IR_PRED ? 0 : INT64_MIN,
                                   .hi = op->type == IR_PRED ? 1 : INT64_MAX});
}

/* 0 for an operand that there is not; *fuel below 0 where the expression can't be told from others. */
static Form open_part(Verifier *v, const IrArg *arg, int *fuel)
{
    return arg ? open_value(v, arg, fuel) : 0;
}

static Form open_op(Verifier *v, const IrOp *op, int *fuel)
{
    const IrArg *rel = ir_find(op, IRK_REL);
    Form a = open_part(v, ir_find(op, IRK_A), fuel), b = open_part(v, ir_find(op, IRK_B), fuel),
         c = open_part(v, ir_find(op, IRK_COND), fuel);
    return *fuel < 0 ? 0 : open_atom(v, op, rel ? (uint8_t)rel->id : op->type, a, b, c);
}

static Form open_value(Verifier *v, const IrArg *arg, int *fuel)
{
    if (--*fuel < 0) return 0;
    if (arg->kind != IRA_VAL) return form_const(&v->f, arg->imm);
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_PARAM) return open_atom(v, op, op->type, form_const(&v->f, ir_find(op, IRK_EXPR)->id), 0, 0);
    Form x = run_value(v, arg);
    if (x == 0 || form_data(&v->f, x)->depth) *fuel = -1;
    if (*fuel < 0) return 0;
    if (op->op == IR_LOOP) {
        Form lo = open_value(v, ir_find(op, IRK_A), fuel), hi = open_value(v, ir_find(op, IRK_B), fuel);
        return *fuel < 0 ? 0 : open_atom(v, op, op->type, x, lo, hi);
    }
    if (run_pure(op)) return op->op == IR_CONST || op->op == IR_PARAM || op->op == IR_SREG ? x : open_op(v, op, fuel);
    if (op->op == IR_GET || (op->op != IR_LOADS && run_by_trip(v, arg))) *fuel = -1; /* variables may be equal by chance */
    return *fuel < 0 ? 0 : x;
}

bool open_decided(const Verifier *v, uint32_t op, Form x, Form a, Form b)
{
    if (x == 0 || form_data(&v->f, x)->n) return false;
    return v->open[op] == OPEN_ALWAYS || (form_data(&v->f, a)->n == 0 && form_data(&v->f, b)->n == 0);
}

Form open_comparison(Verifier *v, uint32_t op)
{
    int fuel = OPEN_FUEL;
    Form x = open_op(v, v->ops[op], &fuel);
    return fuel < 0 ? form_leaf(&v->f, IR_PRED) : x;
}
