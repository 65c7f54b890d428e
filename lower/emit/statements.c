/* Statements that are nothing but scalars, variables, waits for groups, and what a loop's index is. */
#include "lower/emit/values.h"
#include "lower/kernel/report.h"

IrOp *emit_set(Lower *L, IrOpcode code, uint32_t var, Opnd x)
{
    IrOp *op = emit_new(L, code);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, var);
    put_opnd(L, op, IRK_A, x);
    return op;
}

void emit_grp_wait(Lower *L, int64_t groups, IrHow how)
{
    IrOp *op = emit_new(L, IR_GRP_WAIT);
    ir_imm(L->a, op, IRK_N, groups);
    ir_ref(L->a, op, IRK_HOW, IRA_WORD, how);
}

void lower_let(Lower *L, const PStmt *st)
{
    LetState *s = &L->scalars->lets[st->id];
    scalar_let(L, st);
    uint8_t uses = L->derived ? USE_VAR : USE_VAR | USE_LOAD;
    s->has_value = false;
    if (!(scalar_uses(L, st->value) & uses)) return; /* made where it is used */
    s->value = value_wide(L, st->value);
    s->has_value = true;
}

void lower_assign(Lower *L, const PStmt *st)
{
    VarState *v = &L->scalars->vars[st->id];
    Opnd x = value_wide(L, st->value);
    if (st->kind == P_SET && !opnd_is(L->guard, 1)) x = emit_sel(L, IR_I64, L->guard, x, emit_get(L, v->ir));
    if (st->kind == P_VAR) v->ir = ir_var(L->a, L->ir, IR_I64, name_text(L, st->name));
    emit_set(L, st->kind == P_VAR ? IR_VAR : IR_SET, v->ir, x);
    scalar_assign(L, st);
}

/* Made once: while moves are planned. */
static void loop_atoms(Lower *L, const PStmt *st, LoopState *s)
{
    Domain *d = L->d;
    loop_range(L, st);
    s->wide = !interval_within(s->range, INT32_MIN, INT32_MAX - 1);
    Poly from = scalar_poly(L, st->lo), count = poly_sub(d, scalar_poly(L, st->value), from);
    unsigned depends = DEP_LOOP | (domain_depends(d, count) & DEP_DATA);
    const char *name = name_text(L, st->name);
    s->atoms.index = domain_index(d, name, from, count, L->scalars->team_atoms ? (unsigned)DEP_TEAM : depends);
    s->atoms.turn = domain_index(d, name, from, count, DEP_TEAM);
    s->index = poly_add(d, from, poly_atom(d, s->atoms.index));
}

void loop_open(Lower *L, const PStmt *st)
{
    LoopState *s = &L->scalars->loops[st->id];
    if (s->atoms.index == 0) loop_atoms(L, st, s);
    vec_push(L->a, &L->scalars->open_loops, s->atoms);
    L->scalars->open_mask |= loop_bit(st->id);
}

void loop_close(Lower *L, const PStmt *st)
{
    L->scalars->open_loops.n--;
    L->scalars->open_mask &= ~loop_bit(st->id);
}

/* A bound of a loop whose index fits 32 bits. Where the bound itself may not, it is cut to what does: a start beyond
 * every index and an end before every index stay so. */
Opnd lower_bound(Lower *L, const Sx *x, bool wide)
{
    if (wide) return value_wide(L, x);
    Interval range = scalar_range(L, x);
    if (interval_within(range, INT32_MIN, INT32_MAX)) return value_low(L, x);
    Opnd v = value_wide(L, x);
    if (range.lo < INT32_MIN) v = emit_op(L, IR_MAX, IR_I64, v, opnd_imm(INT32_MIN));
    if (range.hi > INT32_MAX) v = emit_op(L, IR_MIN, IR_I64, v, opnd_imm(INT32_MAX));
    return emit_cvt(L, IR_I32, v);
}
