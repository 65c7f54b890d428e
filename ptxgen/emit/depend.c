/* griddepcontrol.wait, behind what a kernel works out for itself. To an assembler that is all the same: what needs no memory may come behind the wait, and
 * does, as late as it is used (ptxas 13.0: indices, addresses, what is clipped). Where what counts is the time from the wait on (lower/emit/dependent.c), whether
 * the wait is the one or the other of two hangs on the values that are used behind it. */
#include "ptxgen/emit/emit.h"

static const Opnd NONE = {.kind = OPND_EMPTY};

static Opnd mixed(PtxWriter *w, Opnd mix, Opnd x)
{
    if (mix.kind == OPND_EMPTY) return x;
    Opnd both = ptx_reg(w, RC_B32);
    PTX_INS(w, "xor.b32", both, mix, x);
    return both;
}

/* All bits of x have their part in it. */
static void settle(PtxWriter *w, Opnd *mix, Opnd x)
{
    if (x.cls == RC_B32) {
        *mix = mixed(w, *mix, x);
    } else if (x.cls == RC_B64) {
        Opnd low = ptx_reg(w, RC_B32), high = ptx_reg(w, RC_B32), part = ptx_reg(w, RC_B64);
        PTX_INS(w, "cvt.u32.u64", low, x);
        PTX_INS(w, "shr.u64", part, x, opnd_int(32));
        PTX_INS(w, "cvt.u32.u64", high, part);
        *mix = mixed(w, mixed(w, *mix, low), high);
    } else if (x.cls == RC_PRED) {
        Opnd one = ptx_reg(w, RC_B32);
        PTX_INS(w, "selp.b32", one, opnd_int(1), opnd_int(0), x);
        *mix = mixed(w, *mix, one);
    }
}

static void wait_behind(PtxWriter *w, Opnd mix)
{
    if (mix.kind == OPND_EMPTY) {
        ptx_form(w, NONE, FORM_GRIDDEP_WAIT);
        return;
    }
    Opnd p = ptx_reg(w, RC_PRED), q = ptx_reg(w, RC_PRED);
    PTX_INS(w, "setp.eq.s32", p, mix, opnd_int(0));
    PTX_INS(w, "setp.ne.s32", q, mix, opnd_int(0));
    ptx_form(w, p, FORM_GRIDDEP_WAIT);
    ptx_form(w, q, FORM_GRIDDEP_WAIT);
}

static void settle_value(PtxWriter *w, bool *seen, IrVal v, Opnd *mix)
{
    if (v == 0 || seen[v - 1]) return;
    seen[v - 1] = true;
    const PtxVal *x = &w->vals.v[v - 1];
    if (x->kind == OPND_REG) settle(w, mix, (Opnd){.kind = OPND_REG, .cls = x->cls, .reg = x->reg});
}

/* What was worked out in front of the wait and is used behind it, in this role or another. A role that goes on and on has time for its beginning. */
static Opnd settle_all(PtxWriter *w, const IrOp *wait)
{
    const IrKernel *k = w->k;
    bool *seen = arena_array(w->arena, bool, k->value_types.n + 1);
    Opnd mix = NONE;
    for (uint32_t i = 0; i < k->roles.n; i++) {
        const IrRole *r = &k->roles.v[i];
        uint32_t first = 0;
        for (uint32_t j = 0; j < r->ops.n; j++)
            if (&r->ops.v[j] == wait) first = j + 1;
        for (uint32_t j = first; j < r->ops.n; j++) {
            const IrOp *op = &r->ops.v[j];
            if (op->op == IR_LOOP || op->op == IR_REPEAT) return NONE;
            settle_value(w, seen, op->guard.pred, &mix);
            for (uint32_t a = 0; a < op->nargs; a++)
                if (op->args[a].kind == IRA_VAL) settle_value(w, seen, op->args[a].id, &mix);
        }
    }
    return mix;
}

void ptx_op_dependent(PtxWriter *w, const IrOp *op, Opnd guard)
{
    if (op->op == IR_DEP_WAIT) wait_behind(w, ir_has(w->k, IR_LOADS) ? settle_all(w, op) : NONE);
    else ptx_form(w, guard, FORM_GRIDDEP_LAUNCH);
}
