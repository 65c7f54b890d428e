/* The side of work by threads that lies in global memory: coordinates from places in the plan's box, addresses from those. */
#include "ptxgen/emit_threads.h"

static const Opnd NONE = {.kind = OPND_EMPTY};

static Opnd operand(PtxWriter *w, const IrArg *arg, bool wide)
{
    if (arg->kind == IRA_IMM && arg->imm >= 0 && arg->imm <= INT32_MAX) return opnd_int(arg->imm);
    return ptx_in_reg(w, wide ? ptx_value64(w, arg) : ptx_value32(w, arg), wide ? RC_B64 : RC_B32);
}

void ptx_thr_box(PtxWriter *w, const IrOp *op, const IrPlan *p, ThrBox *out)
{
    bool load = op->op == IR_THR_LOAD;
    const IrArg *pitch, *low, *high;
    *out = (ThrBox){.p = p, .s = load ? &p->src : &p->dst};
    out->from = ptx_in_reg(w, ptx_value64(w, ir_find(op, load ? IRK_FROM : IRK_TO)), RC_B64);
    ir_list(op, IRK_PITCHES, &pitch);
    unsigned n = ir_list(op, IRK_LOW, &low);
    ir_list(op, IRK_HIGH, &high);
    for (uint32_t d = 0; d < p->rank; d++) {
        out->pitch[d] = operand(w, &pitch[d], true);
        if (n == 0) continue;
        bool whole = high[d].kind == IRA_IMM && high[d].imm >= p->extent[d];
        if (low[d].kind != IRA_IMM || low[d].imm > 0) out->low[d] = operand(w, &low[d], false);
        if (!whole) out->high[d] = operand(w, &high[d], false);
    }
}

static Opnd both(PtxWriter *w, Opnd all, const char *mnemonic, Opnd a, Opnd b)
{
    if (b.kind == OPND_EMPTY) return all;
    Opnd p = ptx_reg(w, RC_PRED);
    PTX_INS(w, mnemonic, p, a, b);
    if (all.kind != OPND_EMPTY) PTX_INS(w, "and.pred", p, p, all);
    return p;
}

static uint32_t log_of(uint32_t n)
{
    uint32_t l = 0;
    while (n >> (l + 1)) l++;
    return l;
}

Opnd ptx_thr_place(PtxWriter *w, const ThrBox *b, Opnd place, Opnd *inside)
{
    Opnd at = b->from;
    *inside = NONE;
    for (uint32_t d = 0; d < b->p->rank; d++) {
        uint32_t pitch = b->s->pitch[d];
        Opnd x = place;
        if (b->p->extent[d] == 1) {
            x = ptx_reg(w, RC_B32);
            PTX_INS(w, "mov.b32", x, opnd_int(0));
        } else {
            if (pitch > 1) {
                x = ptx_reg(w, RC_B32);
                PTX_INS(w, "shr.u32", x, place, opnd_int(log_of(pitch)));
            }
            if (d > 0) {
                Opnd own = ptx_reg(w, RC_B32);
                PTX_INS(w, "and.b32", own, x, opnd_int(b->s->pitch[d - 1] / pitch - 1));
                x = own;
            }
        }
        *inside = both(w, *inside, "setp.ge.s32", x, b->low[d]);
        *inside = both(w, *inside, "setp.lt.s32", x, b->high[d]);
        if (b->p->extent[d] == 1) continue;
        Opnd next = ptx_reg(w, RC_B64);
        if (b->pitch[d].kind == OPND_INT) {
            PTX_INS(w, "mad.wide.u32", next, x, b->pitch[d], at);
        } else {
            Opnd wide = ptx_reg(w, RC_B64);
            PTX_INS(w, "cvt.u64.u32", wide, x);
            PTX_INS(w, "mad.lo.s64", next, wide, b->pitch[d], at);
        }
        at = next;
    }
    return at;
}

void ptx_thr_global(PtxWriter *w, Opnd inside, const char *mnemonic, bool store, Opnd at, Opnd data, const Opnd *words, uint32_t n)
{
    at.kind = OPND_MEM;
    at.u.k = 0;
    for (uint32_t i = 0; i < n && !store && inside.kind != OPND_EMPTY; i++) PTX_INS(w, "mov.b32", words[i], opnd_int(0));
    if (store) ptx_ins(w, inside, mnemonic, (const Opnd[]){at, data}, 2);
    else ptx_ins(w, inside, mnemonic, (const Opnd[]){data, at}, 2);
}
