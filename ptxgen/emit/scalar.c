#include <string.h>

#include "ptxgen/emit/emit.h"

/* Mnemonics of 32 and 64 bits (arithmetic, or bits alone), and of predicates where there are any. */
static const char *const MNEMONICS[IR_OP_COUNT][3] = {
    [IR_ADD] = {"add.s32", "add.s64", NULL},       [IR_SUB] = {"sub.s32", "sub.s64", NULL},
    [IR_MUL] = {"mul.lo.s32", "mul.lo.s64", NULL}, [IR_MIN] = {"min.s32", "min.s64", NULL},
    [IR_MAX] = {"max.s32", "max.s64", NULL},       [IR_SHL] = {"shl.b32", "shl.b64", NULL},
    [IR_SHR] = {"shr.s32", "shr.s64", NULL},       [IR_AND] = {"and.b32", "and.b64", "and.pred"},
    [IR_OR] = {"or.b32", "or.b64", "or.pred"},     [IR_XOR] = {"xor.b32", "xor.b64", "xor.pred"},
    [IR_NOT] = {"not.b32", "not.b64", "not.pred"},
};

static Opnd convert(PtxWriter *w, const IrArg *arg, RegClass c)
{
    return c == RC_PRED ? ptx_valuep(w, arg) : c == RC_B32 ? ptx_value32(w, arg) : ptx_value64(w, arg);
}

/* A natural number times constants is one multiplication, of 32 bits to 64, from the number itself. */
static bool multiplied(PtxWriter *w, const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    if (op->op != IR_MUL || op->type != IR_I64 || a->kind != IRA_VAL) return false;
    const PtxVal v = w->vals.v[a->id - 1];
    Opnd k = ptx_value(w, b);
    if (v.kind != OPND_REG || v.k <= 0 || k.kind != OPND_INT || k.u.k <= 0 || k.u.k > INT32_MAX / v.k) return false;
    Opnd of = {.kind = OPND_REG, .cls = RC_B32, .reg = v.of}, times = opnd_int(v.k * k.u.k);
    PTX_INS(w, "mul.wide.u32", ptx_define(w, op), of, times);
    ptx_is_times(w, op, v.of, times.u.k);
    return true;
}

void ptx_op_binary(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    if (multiplied(w, op)) return;
    RegClass c = ptx_class(op->type);
    Opnd a = convert(w, ir_find(op, IRK_A), c);
    bool shift = op->op == IR_SHL || op->op == IR_SHR; /* PTX: the count is a u32 whatever the width */
    Opnd b = convert(w, ir_find(op, IRK_B), shift ? RC_B32 : c);
    PTX_INS(w, MNEMONICS[op->op][c == RC_PRED ? 2 : c == RC_B64], ptx_define(w, op), a, b);
}

void ptx_op_not(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    RegClass c = ptx_class(op->type);
    Opnd a = convert(w, ir_find(op, IRK_A), c);
    PTX_INS(w, MNEMONICS[IR_NOT][c == RC_PRED ? 2 : c == RC_B64], ptx_define(w, op), a);
}

void ptx_op_const(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    ptx_define_int(w, op, ir_find(op, IRK_A)->imm); /* no code: users take it as an immediate */
}

const MfParam *ptx_param(const PtxWriter *w, MfParamKind kind, uint32_t index, uint32_t *number)
{
    const MfKernel *mf = &w->k->mf;
    for (*number = 0; *number < mf->params.n; ++*number)
        if (mf->params.v[*number].kind == kind && mf->params.v[*number].index == index) return &mf->params.v[*number];
    return NULL;
}

void ptx_op_param(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    uint32_t expr = ir_find(op, IRK_EXPR)->id, number;
    int64_t k;
    if (ptx_param(w, MF_PARAM_VALUE, expr, &number)) {
        char name[PTX_PARAM_ROOM];
        Opnd at = ptx_param_name(name, number, true);
        /* The low half of a little-endian s64 is its value where it fits 32 bits. */
        PTX_INS(w, op->type == IR_I32 ? "ld.param.b32" : "ld.param.b64", ptx_define(w, op), at);
    } else if (lx_is_const(&w->k->mf.lx, expr, &k)) {
        ptx_define_int(w, op, k);
    } else { /* ir_check asks for no parameter: the assembler refuses it */
        PTX_INS(w, "ld.param.b64", ptx_define(w, op), opnd_lit("[missing]"));
    }
}

void ptx_op_sreg(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    static const char *const names[IRR_COUNT] = {
        [IRR_CTAID_X] = "%ctaid.x",
        [IRR_CTAID_Y] = "%ctaid.y",
        [IRR_CTAID_Z] = "%ctaid.z",
        [IRR_NCTAID_X] = "%nctaid.x",
        [IRR_NCTAID_Y] = "%nctaid.y",
        [IRR_NCTAID_Z] = "%nctaid.z",
        [IRR_CLUSTER_CTAID_X] = "%cluster_ctaid.x",
        [IRR_CLUSTER_CTAID_Y] = "%cluster_ctaid.y",
        [IRR_CLUSTER_CTAID_Z] = "%cluster_ctaid.z",
        [IRR_CLUSTER_NCTAID_X] = "%cluster_nctaid.x",
        [IRR_CLUSTER_NCTAID_Y] = "%cluster_nctaid.y",
        [IRR_CLUSTER_NCTAID_Z] = "%cluster_nctaid.z",
        [IRR_CLUSTER_CTARANK] = "%cluster_ctarank",
        [IRR_CLUSTER_NCTARANK] = "%cluster_nctarank",
    };
    const char *name = names[ir_find(op, IRK_REG)->id];
    Opnd d = ptx_define(w, op);
    PTX_INS(w, "mov.u32", d, opnd_textn(name, strlen(name)));
    ptx_is_times(w, op, d.reg, 1);
}

void ptx_op_cmp(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    static const char *const set[2][6] = {
        {"setp.eq.s32", "setp.ne.s32", "setp.lt.s32", "setp.le.s32", "setp.gt.s32", "setp.ge.s32"},
        {"setp.eq.s64", "setp.ne.s64", "setp.lt.s64", "setp.le.s64", "setp.gt.s64", "setp.ge.s64"}};
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    RegClass ca = ptx_arg_class(w, a), cb = ptx_arg_class(w, b);
    uint32_t r = ir_find(op, IRK_REL)->id;
    if (ca == RC_PRED || cb == RC_PRED) { /* setp does not compare predicates */
        Opnd x = ptx_valuep(w, a), y = ptx_valuep(w, b), d = ptx_define(w, op);
        PTX_INS(w, "xor.pred", d, x, y);
        if (r == IRL_EQ) PTX_INS(w, "not.pred", d, d);
        return;
    }
    bool wide = !(ca == RC_B32 || cb == RC_B32) || ca == RC_B64 || cb == RC_B64;
    Opnd x = wide ? ptx_value64(w, a) : ptx_value32(w, a), y = wide ? ptx_value64(w, b) : ptx_value32(w, b);
    PTX_INS(w, set[wide][r], ptx_define(w, op), x, y);
}

void ptx_op_sel(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    RegClass c = ptx_class(op->type);
    Opnd p = ptx_valuep(w, ir_find(op, IRK_COND));
    Opnd a = convert(w, ir_find(op, IRK_A), c), b = convert(w, ir_find(op, IRK_B), c);
    Opnd d = ptx_define(w, op);
    if (c != RC_PRED) {
        PTX_INS(w, c == RC_B32 ? "selp.b32" : "selp.b64", d, a, b, p);
        return;
    }
    Opnd t = ptx_reg(w, RC_PRED); /* selp does not select predicates */
    PTX_INS(w, "not.pred", t, p);
    PTX_INS(w, "and.pred", t, t, b);
    PTX_INS(w, "and.pred", d, a, p);
    PTX_INS(w, "or.pred", d, d, t);
}

void ptx_op_cvt(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    const IrArg *arg = ir_find(op, IRK_A);
    Opnd a = ptx_value(w, arg);
    RegClass to = ptx_class(op->type);
    if (a.kind == OPND_INT && to != RC_PRED) {
        ptx_define_int(w, op, arg->kind == IRA_VAL && ptx_arg_class(w, arg) == RC_PRED ? a.u.k != 0 : a.u.k);
        return;
    }
    RegClass from = a.kind == OPND_REG ? (RegClass)a.cls : RC_NONE;
    if (from == RC_PRED && to != RC_PRED) {
        PTX_INS(w, to == RC_B32 ? "selp.b32" : "selp.b64", ptx_define(w, op), opnd_int(1), opnd_int(0), a);
        return;
    }
    const char *m = to == RC_PRED ? "mov.pred" : to == RC_B32 ? "mov.b32" : "mov.b64";
    if (from == RC_B64 && to == RC_B32) m = "cvt.u32.u64";
    bool natural = arg->kind == IRA_VAL && from != RC_NONE && w->vals.v[arg->id - 1].k == 1;
    if (from == RC_B32 && to == RC_B64) m = natural ? "cvt.u64.u32" : "cvt.s64.s32";
    if (from != RC_PRED && to == RC_PRED) {
        PTX_INS(w, from == RC_B32 ? "setp.ne.b32" : "setp.ne.b64", ptx_define(w, op), a, opnd_int(0));
        return;
    }
    PTX_INS(w, m, ptx_define(w, op), a);
    if (natural) ptx_is_times(w, op, w->vals.v[arg->id - 1].of, 1);
}

/* ---- variables: registers that keep their number ---- */

void ptx_op_var(PtxWriter *w, const IrOp *op, Opnd guard)
{
    uint32_t var = ir_find(op, IRK_VAR)->id;
    RegClass c = ptx_class(w->k->vars.v[var].type);
    Opnd *reg = &w->vars.v[var];
    const char *mov = c == RC_PRED ? "mov.pred" : c == RC_B32 ? "mov.b32" : "mov.b64";
    if (op->op == IR_GET) {
        PTX_INS(w, mov, ptx_define(w, op), *reg);
        return;
    }
    Opnd a = convert(w, ir_find(op, IRK_A), c);
    if (reg->kind == OPND_EMPTY) *reg = ptx_reg(w, c);
    ptx_ins(w, guard, mov, (const Opnd[]){*reg, a}, 2);
}

/* ---- addresses and elements ---- */

static Opnd tensor_base(const PtxWriter *w, const IrOp *op)
{
    return w->tensors[ir_find(op, IRK_TENSOR)->id];
}

void ptx_op_gaddr(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    Opnd byte = ptx_value64(w, ir_find(op, IRK_BYTE));
    PTX_INS(w, "add.s64", ptx_define(w, op), tensor_base(w, op), byte);
}

void ptx_op_zaddr(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    PTX_INS(w, "mov.b64", ptx_define(w, op), opnd_lit(PTX_ZERO));
}

/* The tensor is written by no one while the kernel runs (SPEC: scalars are pure), so the read-only path will do; but not where the kernel begins while
 * those before it still write: ptxas has loads of what never changes in front of griddepcontrol.wait. A load's destination may be wider than its type: it is extended by the type's sign. */
void ptx_op_loads(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const char *type = elem_info((ElemType)w->k->mf.tensors.v[ir_find(op, IRK_TENSOR)->id].type)->ptx;
    char mnemonic[32];
    strcpy(mnemonic, w->k->mf.dependent ? "ld.global." : "ld.global.nc.");
    memcpy(mnemonic + strlen(mnemonic), type, strlen(type) + 1); /* of integers: "s32" */
    Opnd base = tensor_base(w, op), byte = ptx_value64(w, ir_find(op, IRK_BYTE)), at = base;
    if (byte.kind != OPND_INT || byte.u.k != 0) {
        at = ptx_reg(w, RC_B64);
        PTX_INS(w, "add.s64", at, base, byte);
    }
    Opnd d = ptx_define(w, op);
    if (guard.kind != OPND_EMPTY) PTX_INS(w, "mov.b64", d, opnd_int(-1));
    at.kind = OPND_MEM;
    ptx_ins(w, guard, mnemonic, (const Opnd[]){d, at}, 2);
}

/* PTX ISA, atom: inc starts again at 0 behind its operand. */
void ptx_op_ticket(PtxWriter *w, const IrOp *op, Opnd guard)
{
    Opnd bound = ptx_value32(w, ir_find(op, IRK_B));
    Opnd d = ptx_define(w, op), drawn = ptx_reg(w, RC_B32), at = w->counter;
    if (bound.kind == OPND_INT) {
        bound.u.k = (int32_t)(uint32_t)((uint64_t)bound.u.k - 1);
    } else {
        Opnd last = ptx_reg(w, RC_B32);
        PTX_INS(w, "add.s32", last, bound, opnd_int(-1));
        bound = last;
    }
    at.kind = OPND_MEM;
    if (guard.kind != OPND_EMPTY) PTX_INS(w, "mov.b64", d, opnd_int(-1));
    ptx_ins(w, guard, "atom.relaxed.gpu.global.inc.u32", (const Opnd[]){drawn, at, bound}, 3);
    ptx_ins(w, guard, "cvt.u64.u32", (const Opnd[]){d, drawn}, 2);
}
