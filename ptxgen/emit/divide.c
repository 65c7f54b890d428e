/* Floor division and its remainder. */
#include "ptxgen/emit/emit.h"

/* The same code in two widths. */
typedef struct Width {
    RegClass cls;
    const char *mov, *add, *sub, *mul, *div, *and_, *xor_, *sar, *selp, *ne;
    int64_t sign; /* shift that leaves nothing but the sign */
} Width;
static const Width W32 = {RC_B32,    "mov.b32", "add.s32", "sub.s32",  "mul.lo.s32",  "div.s32",
                          "and.b32", "xor.b32", "shr.s32", "selp.b32", "setp.ne.s32", 31};
static const Width W64 = {RC_B64,    "mov.b64", "add.s64", "sub.s64",  "mul.lo.s64",  "div.s64",
                          "and.b64", "xor.b64", "shr.s64", "selp.b64", "setp.ne.s64", 63};

static int log2_exact(int64_t k)
{
    if (k <= 0 || (k & (k - 1)) != 0) return -1;
    int n = 0;
    while (k > 1) k >>= 1, n++;
    return n;
}

/* PTX divides towards zero: where the remainder is not zero and its sign is not the divisor's, the quotient is one too high
 * and the remainder one divisor away. `fix` is -1 there, else 0. */
static void truncated(PtxWriter *w, const Width *t, const PtxQuotient *d)
{
    PTX_INS(w, t->div, d->q, d->a, d->b);
    PTX_INS(w, t->mul, d->r, d->q, d->b);
    PTX_INS(w, t->sub, d->r, d->a, d->r);
    if (d->b.kind == OPND_INT && d->b.u.k > 0) {
        PTX_INS(w, t->sar, d->fix, d->r, opnd_int(t->sign)); /* -1 where the remainder is negative */
        return;
    }
    Opnd p = ptx_reg(w, RC_PRED);
    PTX_INS(w, t->xor_, d->fix, d->r, d->b);
    PTX_INS(w, t->sar, d->fix, d->fix, opnd_int(t->sign));
    PTX_INS(w, t->ne, p, d->r, opnd_int(0));
    PTX_INS(w, t->selp, d->fix, d->fix, opnd_int(0), p);
}

/* A division of 64 bits takes several times as long as one of 32, which is enough for most numbers. */
static void narrow_first(PtxWriter *w, const PtxQuotient *d)
{
    static const Opnd always = {.kind = OPND_EMPTY};
    Opnd high = ptx_reg(w, RC_B64), p = ptx_reg(w, RC_PRED);
    Opnd a = ptx_reg(w, RC_B32), b = ptx_reg(w, RC_B32), q = ptx_reg(w, RC_B32), r = ptx_reg(w, RC_B32);
    uint32_t label = w->labels++;
    PTX_INS(w, "or.b64", high, d->a, d->b);
    PTX_INS(w, "shr.u64", high, high, opnd_int(32));
    PTX_INS(w, "setp.ne.s64", p, high, opnd_int(0));
    ptx_branch(w, p, true, "wide", "", label);
    PTX_INS(w, "cvt.u32.u64", a, d->a);
    PTX_INS(w, "cvt.u32.u64", b, d->b);
    PTX_INS(w, "div.u32", q, a, b);
    PTX_INS(w, "mul.lo.s32", r, q, b);
    PTX_INS(w, "sub.s32", r, a, r);
    PTX_INS(w, "cvt.u64.u32", d->q, q);
    PTX_INS(w, "cvt.u64.u32", d->r, r);
    PTX_INS(w, "mov.b64", d->fix, opnd_int(0));
    ptx_branch(w, always, true, "divided", "", label);
    ptx_label(w, "wide", "", label);
    truncated(w, &W64, d);
    ptx_label(w, "divided", "", label);
}

/* By the reciprocal, of 31-bit numbers: recip is 2^62 / b + 1. Of the product only bits 62 to 92 count, and those below carry into them once. */
static void multiplied(PtxWriter *w, PtxQuotient *d, Opnd recip)
{
    Opnd a = ptx_reg(w, RC_B32), b = ptx_reg(w, RC_B32), q = ptx_reg(w, RC_B32), r = ptx_reg(w, RC_B32);
    Opnd low = ptx_reg(w, RC_B32), high = ptx_reg(w, RC_B32), half = ptx_reg(w, RC_B64);
    PTX_INS(w, "cvt.u32.u64", low, recip);
    PTX_INS(w, "shr.u64", half, recip, opnd_int(32));
    PTX_INS(w, "cvt.u32.u64", high, half);
    PTX_INS(w, "cvt.u32.u64", a, d->a);
    PTX_INS(w, "cvt.u32.u64", b, d->b);
    PTX_INS(w, "mul.hi.u32", low, a, low);
    PTX_INS(w, "cvt.u64.u32", half, low);
    PTX_INS(w, "mad.wide.u32", half, a, high, half);
    PTX_INS(w, "shr.u64", half, half, opnd_int(30));
    PTX_INS(w, "cvt.u32.u64", q, half);
    PTX_INS(w, "cvt.u64.u32", d->q, q);
    PTX_INS(w, "mul.lo.s32", r, q, b);
    PTX_INS(w, "sub.s32", r, a, r);
    PTX_INS(w, "cvt.u64.u32", d->r, r);
    d->q32 = q.reg;
    d->r32 = r.reg;
}

static bool same_opnd(const Opnd *a, const Opnd *b)
{
    if (a->kind != b->kind) return false;
    return a->kind == OPND_INT ? a->u.k == b->u.k : a->kind == OPND_REG && a->cls == b->cls && a->reg == b->reg;
}

/* What was divided before in the blocks that are open, or is now. */
static const PtxQuotient *divided(PtxWriter *w, const Width *t, Opnd a, Opnd b, const IrArg *recip)
{
    for (uint32_t i = 0; i < PTX_QUOTIENTS && i < w->nquotients; i++)
        if (same_opnd(&w->quotients[i].a, &a) && same_opnd(&w->quotients[i].b, &b)) return &w->quotients[i];
    PtxQuotient *d = &w->quotients[w->nquotients++ % PTX_QUOTIENTS];
    *d = (PtxQuotient){.a = a, .b = b, .q = ptx_reg(w, t->cls), .r = ptx_reg(w, t->cls)};
    if (recip) {
        multiplied(w, d, ptx_value64(w, recip));
        return d;
    }
    d->fix = ptx_reg(w, t->cls);
    if (t == &W64 && b.kind != OPND_INT) narrow_first(w, d);
    else truncated(w, t, d);
    return d;
}

void ptx_op_div(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    const Width *t = op->type == IR_I32 ? &W32 : &W64;
    const IrArg *left = ir_find(op, IRK_A), *right = ir_find(op, IRK_B);
    Opnd a = t == &W32 ? ptx_value32(w, left) : ptx_value64(w, left), b = t == &W32 ? ptx_value32(w, right) : ptx_value64(w, right);
    bool want_q = op->op == IR_DIV;
    if (b.kind == OPND_INT && b.u.k == 1 && !want_q) {
        ptx_define_int(w, op, 0);
        return;
    }
    a = ptx_in_reg(w, a, t->cls);
    int shift = b.kind == OPND_INT ? log2_exact(b.u.k) : -1;
    if (shift == 0) {
        PTX_INS(w, t->mov, ptx_define(w, op), a);
        return;
    }
    if (shift > 0) { /* an arithmetic shift floors, and the low bits are the distance from there */
        PTX_INS(w, want_q ? t->sar : t->and_, ptx_define(w, op), a, opnd_int(want_q ? shift : b.u.k - 1));
        return;
    }
    const PtxQuotient *d = divided(w, t, a, b, ir_find(op, IRK_RECIP));
    if (d->fix.kind == OPND_EMPTY) {
        PTX_INS(w, t->mov, ptx_define(w, op), want_q ? d->q : d->r);
        ptx_is_times(w, op, want_q ? d->q32 : d->r32, 1);
        return;
    }
    if (want_q) {
        PTX_INS(w, t->add, ptx_define(w, op), d->q, d->fix);
        return;
    }
    Opnd back = ptx_reg(w, t->cls);
    PTX_INS(w, t->and_, back, d->fix, b);
    PTX_INS(w, t->add, ptx_define(w, op), d->r, back);
}
