/* Tensor memory: allocation, copies and shifts, commits, fences, moves by threads. Addresses are registers: lane << 16 | column. */
#include <string.h>

#include "lower/ir/thread_work.h"
#include "lower/ir/tensor_memory.h"
#include "ptxgen/emit/emit.h"

static const Opnd NONE = {.kind = OPND_EMPTY};
enum { LANE_BIT = 16, QUARTER = 32, QUARTER_BITS = 2, WARP_GROUP = 4, CELL_BITS = 2, CELL = 1 << CELL_BITS /* bytes of a column */ };

static Opnd group_word(const PtxWriter *w)
{
    return w->k->pair ? opnd_lit("2") : opnd_lit("1");
}

/* ---- allocation ---- */

/* All lanes of the CTA's first warp, which has the elected thread of init and exit. */
static void by_warp(PtxWriter *w, InstrForm form, Opnd columns, Opnd at)
{
    uint32_t label = w->labels++;
    if (w->warp.kind == OPND_REG) {
        Opnd other = ptx_reg(w, RC_PRED);
        PTX_INS(w, "setp.ne.u32", other, w->warp, opnd_int(0));
        ptx_branch(w, other, true, "others", "", label);
    }
    ptx_form(w, NONE, FORM_WARP_SYNC);
    w->slots[SLOT_group1] = group_word(w);
    if (form != FORM_TC_RELINQUISH) {
        w->slots[SLOT_n] = columns;
        w->slots[form == FORM_TC_ALLOC ? SLOT_dst : SLOT_taddr] = at;
    }
    ptx_form(w, NONE, form);
    if (w->warp.kind == OPND_REG) ptx_label(w, "others", "", label);
}

void ptx_op_tc_alloc(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrArg *n = ir_find(op, IRK_N);
    Opnd columns = opnd_int(n ? n->imm : 0);
    (void)guard;
    if (op->op == IR_TC_ALLOC) by_warp(w, FORM_TC_ALLOC, columns, ptx_shared_address(w, op, IRK_DST));
    else if (op->op == IR_TC_FREE) by_warp(w, FORM_TC_DEALLOC, columns, w->tmem);
    else by_warp(w, FORM_TC_RELINQUISH, columns, NONE);
}

void ptx_op_tc_base(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    Opnd at = ptx_shared_address(w, op, IRK_SRC);
    at.kind = OPND_MEM;
    w->tmem = ptx_reg(w, RC_B32);
    PTX_INS(w, "ld.shared.b32", w->tmem, at);
}

/* ---- addresses ---- */

static Opnd plus(PtxWriter *w, Opnd r, int64_t k)
{
    if (k == 0) return r;
    Opnd x = ptx_reg(w, RC_B32);
    PTX_INS(w, "add.s32", x, r, opnd_int(k));
    return x;
}

/* A register without, and the constant: lanes and columns. */
static Opnd tensor_address(PtxWriter *w, const IrOp *op, IrKey key, int64_t *k)
{
    const IrArg *object = ir_find(op, key), *slot = ir_part(op, object, IRK_SLOT), *byte = ir_part(op, object, IRK_OFFSET);
    const IrBuf *b = &w->k->bufs.v[object->id];
    int64_t at = byte ? byte->imm : 0, pitch = 4 * (int64_t)b->columns;
    *k = b->column + (at / pitch << LANE_BIT) + at % pitch / 4;
    const IrArg *along = ir_find(op, IRK_ALONG);
    Opnd s = slot ? ptx_value32(w, slot) : opnd_int(0), a = along ? ptx_value32(w, along) : opnd_int(0), base = w->tmem;
    if (s.kind == OPND_INT) {
        *k += s.u.k * b->column_pitch;
    } else {
        base = ptx_reg(w, RC_B32);
        PTX_INS(w, "mad.lo.s32", base, s, opnd_int(b->column_pitch), w->tmem);
    }
    if (a.kind == OPND_INT) {
        *k += a.u.k / CELL;
        return base;
    }
    Opnd r = ptx_reg(w, RC_B32);
    PTX_INS(w, "shr.u32", r, a, opnd_int(CELL_BITS));
    PTX_INS(w, "add.s32", r, base, r);
    return r;
}

/* ---- descriptors: PTX ISA, Shared memory descriptor ---- */

enum { ADDRESS_SHIFT = 4, ADDRESS_MASK = 0x3FFF };

/* Of the buffer's first byte. */
void ptx_op_tc_desc(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    TmemCp c = tmem_cp(w->k, op);
    Opnd at = ptx_shared_address(w, op, IRK_SRC), low = ptx_reg(w, RC_B32), d = ptx_define(w, op);
    Opnd address = plus(w, (Opnd){.kind = OPND_REG, .cls = RC_B32, .reg = at.reg}, at.u.k);
    PTX_INS(w, "shr.u32", low, address, opnd_int(ADDRESS_SHIFT));
    PTX_INS(w, "and.b32", low, low, opnd_int(ADDRESS_MASK));
    PTX_INS(w, "cvt.u64.u32", d, low);
    PTX_INS(w, "or.b64", d, d, opnd_int((int64_t)tmem_descriptor(&c)));
}

/* The buffer's with what of the distance to the source is known at run time; the rest in *k, in units of the field. Both are
 * multiples of 16 bytes, and the field holds all addresses of the buffer (ir_check): nothing carries out of it. */
static Opnd descriptor(PtxWriter *w, const IrOp *op, int64_t *k)
{
    const IrArg *src = ir_find(op, IRK_SRC), *desc = ir_find(op, IRK_DESC);
    *k = 0;
    const IrArg *slot = ir_part(op, src, IRK_SLOT), *byte = ir_part(op, src, IRK_OFFSET);
    Opnd d = ptx_value64(w, desc), s = slot ? ptx_value32(w, slot) : opnd_int(0), b = byte ? ptx_value32(w, byte) : opnd_int(0);
    int64_t pitch = w->k->bufs.v[src->id].pitch >> ADDRESS_SHIFT;
    if (s.kind == OPND_INT) {
        *k += s.u.k * pitch;
    } else {
        Opnd x = ptx_reg(w, RC_B64);
        PTX_INS(w, "mad.wide.u32", x, s, opnd_int(pitch), d);
        d = x;
    }
    if (b.kind == OPND_INT) {
        *k += b.u.k >> ADDRESS_SHIFT;
    } else {
        Opnd units = ptx_reg(w, RC_B32), x = ptx_reg(w, RC_B64);
        PTX_INS(w, "shr.u32", units, b, opnd_int(ADDRESS_SHIFT));
        PTX_INS(w, "mad.wide.u32", x, units, opnd_int(1), d);
        d = x;
    }
    return d;
}

/* ---- the tensor core ---- */

void ptx_op_tc_cp(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const InstrForm forms[IRP_SHAPES] = {
        [IRP_128X256B] = FORM_TC_CP_128X256B,           [IRP_4X256B] = FORM_TC_CP_4X256B,
        [IRP_128X128B] = FORM_TC_CP_128X128B,           [IRP_64X128B_02_13] = FORM_TC_CP_64X128B_02_13,
        [IRP_64X128B_01_23] = FORM_TC_CP_64X128B_01_23, [IRP_32X128B_X4] = FORM_TC_CP_32X128B_X4};
    TmemCp c = tmem_cp(w->k, op);
    int64_t k, far;
    Opnd base = tensor_address(w, op, IRK_DST, &k), first = descriptor(w, op, &far);
    for (uint32_t i = 0; i < c.n; i++) {
        Opnd d = first;
        int64_t on = far + ((int64_t)i * c.step >> ADDRESS_SHIFT);
        if (on) {
            d = ptx_reg(w, RC_B64);
            PTX_INS(w, "add.s64", d, first, opnd_int(on));
        }
        w->slots[SLOT_taddr] = plus(w, base, k + (int64_t)i * tmem_shape(c.shape)->columns);
        w->slots[SLOT_desc] = d;
        w->slots[SLOT_group1] = group_word(w);
        w->slots[SLOT_fmt] = c.format == IRF_B6 ? opnd_lit(".b8x16.b6x16_p32") : c.format == IRF_B4 ? opnd_lit(".b8x16.b4x16_p64") : NONE;
        ptx_form(w, guard, forms[c.shape]);
    }
}

void ptx_op_tc_shift(PtxWriter *w, const IrOp *op, Opnd guard)
{
    int64_t k, n = ir_find(op, IRK_N)->imm;
    Opnd base = tensor_address(w, op, IRK_DST, &k);
    for (int64_t i = 0; i < n; i++) {
        w->slots[SLOT_taddr] = plus(w, base, k + i * TMEM_SHIFT_COLUMNS);
        w->slots[SLOT_group1] = group_word(w);
        ptx_form(w, guard, FORM_TC_SHIFT);
    }
}

void ptx_op_tc_commit(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrArg *mask = ir_find(op, IRK_MASK);
    Opnd mbar = ptx_shared_address(w, op, IRK_BAR);
    if (mask) w->slots[SLOT_mask] = ptx_value16(w, mask);
    w->slots[SLOT_mbar] = mbar;
    w->slots[SLOT_group1] = group_word(w);
    ptx_form(w, guard, mask ? FORM_TC_COMMIT_MULTICAST : FORM_TC_COMMIT);
}

void ptx_op_tc_fence(PtxWriter *w, const IrOp *op, Opnd guard)
{
    ptx_form(w, guard, ir_find(op, IRK_ORDER)->id == IRD_BEFORE ? FORM_TC_FENCE_BEFORE : FORM_TC_FENCE_AFTER);
}

/* ---- by threads ---- */

typedef struct Rows {
    PtxWriter *w;
    const IrPlan *p;
    const IrSide *side; /* of shared memory */
    bool out;
    uint32_t columns;   /* of a lane */
    Opnd tensor;        /* address of the warp's first lane */
    Opnd row;           /* address of the thread's row, unswizzled */
    Opnd panel;         /* the same, swizzled, of the panel `at` */
    int64_t at;
} Rows;

/* Where byte x of the row lies. Rows begin where the span does, so a chunk is exchanged for its XOR with what the row says. */
static Opnd byte_address(Rows *r, int64_t x)
{
    PtxWriter *w = r->w;
    const IrSide *s = r->side;
    uint32_t mask = thr_swizzle_mask(s->swizzle);
    if (s->span == 0 || mask == 0) {
        int64_t off = s->span ? x / s->span * s->panel + x % s->span : x;
        return (Opnd){.kind = OPND_MEM, .cls = RC_B32, .reg = r->row.reg, .u.k = off};
    }
    if (r->at != x / s->span) {
        r->at = x / s->span;
        Opnd lin = plus(w, r->row, r->at * s->panel), bits = ptx_reg(w, RC_B32);
        r->panel = ptx_reg(w, RC_B32);
        PTX_INS(w, "shr.u32", bits, lin, opnd_int(3));
        PTX_INS(w, "and.b32", bits, bits, opnd_int(mask));
        PTX_INS(w, "xor.b32", r->panel, lin, bits);
    }
    int64_t in = x % s->span, chunk = in & mask, rest = in - chunk;
    Opnd at = r->panel;
    if (chunk) {
        at = ptx_reg(w, RC_B32);
        PTX_INS(w, "xor.b32", at, r->panel, opnd_int(chunk));
    }
    return (Opnd){.kind = OPND_MEM, .cls = RC_B32, .reg = at.reg, .u.k = rest};
}

static Opnd list(PtxWriter *w, const Opnd *v, uint32_t n)
{
    memcpy(w->coords, v, n * sizeof *v);
    w->ncoords = n;
    return (Opnd){.kind = OPND_COORDS};
}

static void shared_words(Rows *r, const Opnd *v, uint32_t column, uint32_t n)
{
    static const char *const names[2][3] = {{"ld.shared.b32", "ld.shared.v2.b32", "ld.shared.v4.b32"},
                                            {"st.shared.b32", "st.shared.v2.b32", "st.shared.v4.b32"}};
    uint32_t words = r->p->vector / 4u;
    for (uint32_t i = 0; i < n;) {
        uint32_t take = words;
        while (take > 1 && (take > n - i || (column + i) % take)) take /= 2;
        const char *name = names[r->out][take == 4 ? 2 : take == 2 ? 1 : 0];
        Opnd at = byte_address(r, 4 * (int64_t)(column + i)), data = take == 1 ? v[i] : list(r->w, v + i, take);
        if (r->out) PTX_INS(r->w, name, at, data);
        else PTX_INS(r->w, name, data, at);
        i += take;
    }
}

/* Columns first .. first + n of the lane, so many at a time as have registers. */
static void lane_columns(Rows *r, uint32_t first, uint32_t n)
{
    PtxWriter *w = r->w;
    Opnd v[PTX_LIST];
    for (uint32_t done = 0; done < n;) {
        uint32_t take = PTX_LIST;
        while (take > n - done) take /= 2;
        for (uint32_t i = 0; i < take; i++) v[i] = ptx_reg(w, RC_B32);
        if (!r->out) shared_words(r, v, first + done, take);
        w->slots[SLOT_taddr] = plus(w, r->tensor, first + done);
        w->slots[SLOT_op] = opnd_lit("32x32b");
        w->slots[SLOT_n] = opnd_int(take);
        w->slots[SLOT_regs] = list(w, v, take);
        ptx_form(w, NONE, r->out ? FORM_TC_LD : FORM_TC_ST);
        if (r->out) ptx_form(w, NONE, FORM_TC_WAIT_LD);
        if (r->out) shared_words(r, v, first + done, take);
        done += take;
    }
    if (!r->out) ptx_form(w, NONE, FORM_TC_WAIT_ST);
}

/* Warps of which several reach the same lanes share their columns. */
static void share_columns(Rows *r, Opnd warp, uint32_t groups)
{
    PtxWriter *w = r->w;
    uint32_t words = r->p->vector / 4u, each = (r->columns + groups - 1) / groups;
    each = (each + words - 1) / words * words;
    for (uint32_t g = 0; g < groups && g * each < r->columns; g++) {
        uint32_t label = w->labels++, rest = r->columns - g * each;
        Opnd p = NONE;
        if (groups > 1) {
            Opnd group = ptx_reg(w, RC_B32);
            p = ptx_reg(w, RC_PRED);
            PTX_INS(w, "shr.u32", group, warp, opnd_int(QUARTER_BITS));
            PTX_INS(w, "setp.ne.u32", p, group, opnd_int(g));
            ptx_branch(w, p, true, "group", r->p->name, label);
        }
        r->at = -1;
        lane_columns(r, g * each, rest < each ? rest : each);
        if (groups > 1) ptx_label(w, "group", r->p->name, label);
    }
}

/* The role's warps follow those of the roles before it. */
static uint32_t first_warp(const IrKernel *k, const IrOp *op)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < k->roles.n; i++) {
        const IrRole *r = &k->roles.v[i];
        if (r->ops.n && op >= r->ops.v && op < r->ops.v + r->ops.n) return warps;
        warps += r->warps;
    }
    return 0;
}

/* PTX ISA, "Access restrictions": a warp reaches the lanes of its number modulo 4 in the CTA. */
void ptx_op_tc_threads(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrPlan *p = &w->k->plans.v[ir_find(op, IRK_PLAN)->id];
    bool out = op->op == IR_TC_LD;
    Rows r = {.w = w, .p = p, .side = out ? &p->dst : &p->src, .out = out};
    r.columns = p->extent[1] * (elem_info((ElemType)r.side->type)->shared_bits / 8u) / 4u;
    uint32_t label = w->labels++;
    int64_t k;
    if (guard.kind != OPND_EMPTY) ptx_branch(w, guard, false, "skip", p->name, label);
    Opnd base = tensor_address(w, op, out ? IRK_SRC : IRK_DST, &k), quarter = ptx_reg(w, RC_B32), row = ptx_reg(w, RC_B32);
    int64_t first = k >> LANE_BIT, lanes = p->extent[0];
    ptx_form(w, NONE, FORM_WARP_SYNC); /* .aligned: all lanes of the warp are here */
    PTX_INS(w, "and.b32", quarter, w->warp, opnd_int(WARP_GROUP - 1));
    if (first || lanes < TMEM_LANES) {
        Opnd away = ptx_reg(w, RC_PRED), from = plus(w, quarter, -first / QUARTER);
        PTX_INS(w, "setp.ge.u32", away, from, opnd_int(lanes / QUARTER));
        ptx_branch(w, away, true, "away", p->name, label);
    }
    r.tensor = ptx_reg(w, RC_B32);
    PTX_INS(w, "mad.lo.s32", r.tensor, quarter, opnd_int(QUARTER << LANE_BIT), base);
    r.tensor = plus(w, r.tensor, k & ((INT64_C(1) << LANE_BIT) - 1));
    PTX_INS(w, "mov.u32", row, opnd_lit("%laneid"));
    PTX_INS(w, "mad.lo.s32", row, quarter, opnd_int(QUARTER), row);
    Opnd at = ptx_shared_address(w, op, out ? IRK_DST : IRK_SRC), start = (Opnd){.kind = OPND_REG, .cls = RC_B32, .reg = at.reg};
    r.row = ptx_reg(w, RC_B32);
    PTX_INS(w, "mad.lo.s32", r.row, row, opnd_int(r.side->pitch[0]), plus(w, start, at.u.k - first * r.side->pitch[0]));
    Opnd warp = w->warp;
    uint32_t before = first_warp(w->k, op), groups = p->threads / TMEM_LANES;
    if (before && groups > 1) warp = plus(w, warp, -(int64_t)before);
    share_columns(&r, warp, groups);
    if (first || lanes < TMEM_LANES) ptx_label(w, "away", p->name, label);
    if (guard.kind != OPND_EMPTY) ptx_label(w, "skip", p->name, label);
}
