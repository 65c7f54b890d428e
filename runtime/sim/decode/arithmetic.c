/* Arithmetic, conversion, moves and control: from a row and its modifiers to operations. The instruction is one that PTX
 * has (plain.def). */
#include "runtime/sim/decode/decode.h"

#include <string.h>

enum { OPERANDS = 5 }; /* of arithmetic, with the result */

static const PtxOperand *operand(Decoder *d, uint32_t i)
{
    return i < d->instr->nopd ? &d->instr->opd[i] : NULL;
}

static bool count(Decoder *d, uint32_t least, uint32_t most)
{
    uint32_t n = d->instr->nopd;
    if (n >= least && n <= most) return true;
    if (least == most) decode_problem(d, "`%s` has %u operands here, not %u", d->instr->opcode, least, n);
    else decode_problem(d, "`%s` has %u to %u operands here, not %u", d->instr->opcode, least, most, n);
    return false;
}

static int twice(int type)
{
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    default: return PTX_S64;
    }
}

/* An operation whose operands are the instruction's, typed by the signature. */
static SimOp *by_signature(Decoder *d, SimOpcode code, const char *signature, int type)
{
    Slot s[OPERANDS] = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT};
    uint32_t n = (uint32_t)strlen(signature);
    if (!count(d, n, n)) n = 0;
    for (uint32_t i = 0; i < n; i++) {
        char c = signature[i];
        int t = c == 't'   ? type
                : c == 'w' ? twice(type)
                : c == 'u' ? PTX_U32
                : c == 's' ? PTX_S32
                : c == 'f' ? PTX_F32
                           : PTX_PRED;
        s[i] = i ? decode_source(d, operand(d, i), t, false) : decode_result(d, operand(d, i), t, false);
    }
    SimOp *op = decode_emit(d, code);
    op->type = (uint8_t)type;
    op->d = s[0];
    op->a = s[1];
    op->b = s[2];
    op->c = s[3];
    if (s[4] != NO_SLOT) op->imm = s[4];
    return op;
}

static SimOpcode code_of(const PlainRow *row, int type)
{
    return (SimOpcode)((int)row->code + decode_family(row->family, type));
}

static SimOpcode offset(SimOpcode from, int by)
{
    return (SimOpcode)((int)from + by);
}

void decode_alu(Decoder *d, const Mods *m, const PlainRow *row)
{
    by_signature(d, code_of(row, m->type[0]), row->signature, m->type[0]);
}

/* ---- integers ---- */
void decode_add(Decoder *d, const Mods *m, const PlainRow *row)
{
    bool sub = row->opcode[0] == 's', carry_in = row->code == SIM_ADDC;
    int type = m->type[0];
    if (carry_in || mods_has(m, G_CC)) {
        Slot carry = decode_carry(d);
        SimOp *op = by_signature(d, SIM_ADDC, row->signature, type);
        op->n = (uint8_t)((carry_in ? 1 : 0) | (mods_has(m, G_CC) ? 2 : 0) | (sub ? 4 : 0));
        op->imm = carry;
    } else if (mods_has(m, G_SAT)) {
        by_signature(d, sub ? SIM_SUBSAT_S32 : SIM_ADDSAT_S32, row->signature, type);
    } else {
        decode_alu(d, m, row);
    }
}

static void multiply_24(Decoder *d, const Mods *m, const PlainRow *row)
{
    SimOp *op = by_signature(d, row->code, row->signature, m->type[0]);
    op->n = mods_get(m, G_PART, 0) == 1;
    if (mods_has(m, G_SAT)) op->flags = FLAG_SAT;
}

void decode_mul(Decoder *d, const Mods *m, const PlainRow *row)
{
    int type = m->type[0], part = mods_get(m, G_PART, 0), at = decode_family(FAM_INT6, type);
    bool mad = row->opcode[1] == 'a', cc = mods_has(m, G_CC), carry_in = row->code == SIM_MADC;
    if (row->code == SIM_MUL24 || row->code == SIM_MAD24) {
        multiply_24(d, m, row);
    } else if (cc || carry_in) {
        Slot carry = decode_carry(d);
        SimOp *op = by_signature(d, SIM_MADC, row->signature, type);
        op->n = (uint8_t)((carry_in ? 1 : 0) | (cc ? 2 : 0) | (part == 1 ? 8 : 0));
        op->imm = carry;
    } else if (mods_has(m, G_SAT)) {
        by_signature(d, SIM_MADHISAT_S32, row->signature, type);
    } else if (part == 2) {
        by_signature(d, offset(mad ? SIM_MADWIDE_U16 : SIM_MULWIDE_U16, at), mad ? "wttw" : "wtt", type);
    } else if (part == 1) {
        by_signature(d, offset(mad ? SIM_MADHI_U16 : SIM_MULHI_U16, at), row->signature, type);
    } else {
        decode_alu(d, m, row);
    }
}

static void minmax_packed(Decoder *d, const Mods *m, const PlainRow *row)
{
    SimOp *op = by_signature(d, SIM_MINMAX16X2, row->signature, m->type[0]);
    op->type = m->type[0] == ALU_S16X2 ? PTX_S16 : PTX_U16;
    op->n = row->opcode[1] == 'a';
    if (mods_has(m, G_RELU)) op->flags = FLAG_RELU;
}

void decode_minmax(Decoder *d, const Mods *m, const PlainRow *row)
{
    int type = m->type[0];
    if (type == ALU_U16X2 || type == ALU_S16X2) {
        minmax_packed(d, m, row);
    } else if (row->family == FAM_INT6 && mods_has(m, G_RELU)) {
        by_signature(d, SIM_MINMAX_RELU_S32, row->signature, type)->n = row->opcode[1] == 'a';
    } else if (row->family == FAM_INT6) {
        decode_alu(d, m, row);
    } else {
        SimOp *op = by_signature(d, row->code, row->signature, type);
        op->flags = (uint8_t)((mods_has(m, G_FTZ) ? FLAG_FTZ : 0) | (mods_has(m, G_NAN) ? FLAG_NAN : 0));
        op->n = mods_has(m, G_XORSIGN);
    }
}

void decode_bits(Decoder *d, const Mods *m, const PlainRow *row)
{
    SimOp *op = by_signature(d, code_of(row, m->type[0]), row->signature, m->type[0]);
    switch (row->code) {
    case SIM_SHF: op->n = (uint8_t)(mods_get(m, G_SIDE, 0) | mods_get(m, G_WRAP, 0) << 1); break;
    case SIM_BFIND_U32: op->n = mods_has(m, G_AMOUNT); break;
    case SIM_PRMT: op->n = m->got[G_PRMT]; break;
    case SIM_TESTP: op->n = (uint8_t)mods_get(m, G_TESTP, 0); break;
    default: op->n = (uint8_t)mods_get(m, G_WRAP, 0); break;
    }
}

void decode_lop3(Decoder *d, const Mods *m, const PlainRow *row)
{
    const PtxOperand *table = operand(d, 4);
    if (table != NULL && table->kind != PTX_INT) decode_problem(d, "the table of `lop3` is a constant");
    SimOp *op = by_signature(d, row->code, row->signature, m->type[0]);
    op->imm = table == NULL ? 0 : table->value & 255;
}

void decode_dot(Decoder *d, const Mods *m, const PlainRow *row)
{
    SimOp *op = by_signature(d, row->code, row->signature, m->type[0]);
    op->n = (uint8_t)((m->type[0] == PTX_S32) | (m->type[1] == PTX_S32) << 1 | (mods_get(m, G_PART, 0) == 1) << 2);
}

/* ---- comparison ---- */
static bool is_float(int type)
{
    return type >= PTX_F16 && type <= PTX_F64;
}

static bool is_signed(int type)
{
    return type >= PTX_S8 && type <= PTX_S64;
}

static bool is_bits(int type)
{
    return type >= PTX_B8 && type <= PTX_B64;
}

static AluCompare comparison(const Mods *m)
{
    static const AluCompare unsigned_words[] = {CMP_LT, CMP_LE, CMP_GT, CMP_GE};
    int how = mods_get(m, G_CMP, CMP_EQ);
    return how > CMP_NAN ? unsigned_words[how - CMP_LO] : (AluCompare)how;
}

/* The predicate that `.and` .. combine with; its place, or NO_SLOT. */
static Slot combined(Decoder *d, const Mods *m, uint32_t at)
{
    if (!count(d, at + mods_has(m, G_BOOL), at + mods_has(m, G_BOOL)) || !mods_has(m, G_BOOL)) return NO_SLOT;
    PtxOperand c = *operand(d, at);
    c.negated = false; /* the operation does that */
    return decode_source(d, &c, PTX_PRED, false);
}

void decode_setp(Decoder *d, const Mods *m, const PlainRow *row)
{
    int type = m->type[0];
    AluCompare how = comparison(m);
    Slot c = combined(d, m, 3);
    if (d->bad) return;
    const PtxOperand *p = operand(d, 0), *q = NULL;
    if (p->kind == PTX_PAIR && p->nitems == 2) {
        q = &p->items[1];
        p = &p->items[0];
    }
    Slot a = decode_source(d, operand(d, 1), type, false), b = decode_source(d, operand(d, 2), type, false);
    Slot to = decode_result(d, p, PTX_PRED, false), also = q ? decode_result(d, q, PTX_PRED, false) : NO_SLOT;
    bool simple = !is_float(type) && c == NO_SLOT && also == NO_SLOT;
    SimOp *op = decode_emit(d,
                            simple ? offset(SIM_SETP_EQ_U16, 6 * (int)how + decode_family(FAM_INT6, type)) : row->code);
    op->type = (uint8_t)type;
    op->flags = (uint8_t)how;
    op->d = to;
    op->a = a;
    op->b = b;
    if (simple) return;
    op->c = c;
    op->imm = also;
    op->extra = m->got[G_BOOL];
    op->n = (uint8_t)((c != NO_SLOT && operand(d, 3)->negated) | (mods_has(m, G_FTZ) ? 2 : 0));
}

void decode_set(Decoder *d, const Mods *m, const PlainRow *row)
{
    int type = m->type[1];
    AluCompare how = comparison(m);
    Slot c = combined(d, m, 3);
    if (d->bad) return;
    Slot a = decode_source(d, operand(d, 1), type, false), b = decode_source(d, operand(d, 2), type, false);
    Slot to = decode_result(d, operand(d, 0), m->type[0], false);
    SimOp *op = decode_emit(d, row->code);
    op->type = (uint8_t)type;
    op->flags = (uint8_t)how;
    op->n = m->type[0];
    op->d = to;
    op->a = a;
    op->b = b;
    op->c = c;
    op->extra = (uint16_t)(m->got[G_BOOL] | (c != NO_SLOT && operand(d, 3)->negated ? 4 : 0));
    op->imm = mods_has(m, G_FTZ);
}

void decode_slct(Decoder *d, const Mods *m, const PlainRow *row)
{
    bool f = m->type[1] == PTX_F32;
    SimOp *op = by_signature(d, f ? SIM_SLCT_F32 : row->code, f ? "tttf" : "ttts", m->type[0]);
    if (mods_has(m, G_FTZ)) op->flags = FLAG_FTZ;
}

/* ---- floats ---- */
static uint8_t float_flags(const Mods *m)
{
    int flags = mods_get(m, G_ROUND, FLAG_RN);
    if (mods_has(m, G_IROUND)) flags = mods_get(m, G_IROUND, FLAG_RN) | FLAG_INTEGRAL;
    if (mods_has(m, G_FTZ)) flags |= FLAG_FTZ;
    if (mods_has(m, G_SAT)) flags |= FLAG_SAT;
    if (mods_has(m, G_RELU)) flags |= FLAG_RELU;
    if (mods_has(m, G_SATFINITE)) flags |= FLAG_SATFINITE;
    return (uint8_t)flags;
}

void decode_float(Decoder *d, const Mods *m, const PlainRow *row)
{
    int type = m->type[0], flags = float_flags(m);
    bool half = type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2;
    SimOpcode code = row->code;
    if (!flags && !half && code >= SIM_FADD && code <= SIM_FFMA)
        code = offset(type == PTX_F32 ? SIM_ADD_F32 : SIM_ADD_F64, (int)code - SIM_FADD);
    by_signature(d, code, row->signature, type)->flags = (uint8_t)(type == PTX_F64 ? flags & ~FLAG_FTZ : flags);
}

/* ---- conversion ---- */
/* Integers without .sat: the low bits of the narrower type, extended to the register. */
static SimOpcode extension(int to, int from, uint32_t bytes)
{
    uint32_t n = decode_bytes(to) < decode_bytes(from) ? decode_bytes(to) : decode_bytes(from);
    bool sign = is_signed(decode_bytes(to) <= decode_bytes(from) ? to : from);
    if (decode_bytes(to) > decode_bytes(from) && !is_signed(to)) bytes = decode_bytes(to);
    if (n >= bytes) return n == 8 ? SIM_MOV : n == 4 ? SIM_ZEXT32 : n == 2 ? SIM_ZEXT16 : SIM_ZEXT8;
    if (!sign) return n == 4 ? SIM_ZEXT32 : n == 2 ? SIM_ZEXT16 : SIM_ZEXT8;
    if (n == 4) return SIM_SEXT_32_64;
    if (n == 2) return bytes == 8 ? SIM_SEXT_16_64 : SIM_SEXT_16_32;
    return bytes == 8 ? SIM_SEXT_8_64 : bytes == 4 ? SIM_SEXT_8_32 : SIM_SEXT_8_16;
}

static bool is_packed(int type)
{
    return type == PTX_F16X2 || type == PTX_BF16X2 || type == ALU_E4M3X2 || type == ALU_E5M2X2;
}

static void cvt_pack(Decoder *d, const Mods *m)
{
    int to = m->type[0];
    SimOp *op = by_signature(d, SIM_CVT_PACK, m->ntypes == 3 ? "uuuu" : "uuu", PTX_U32);
    op->type = (uint8_t)to;
}

static void cvt_packed(Decoder *d, const Mods *m)
{
    int to = m->type[0], from = m->type[1];
    if (!count(d, from == PTX_F32 ? 3 : 2, from == PTX_F32 ? 3 : 2)) return;
    Slot a = decode_source(d, operand(d, 1), from, false);
    Slot b = from == PTX_F32 ? decode_source(d, operand(d, 2), from, false) : NO_SLOT;
    Slot to_slot = decode_result(d, operand(d, 0), to, false);
    SimOp *op = decode_emit(d, SIM_CVT_X2);
    op->type = (uint8_t)to;
    op->n = (uint8_t)from;
    op->flags = float_flags(m);
    op->d = to_slot;
    op->a = a;
    op->b = b;
}

static bool any_float(int type)
{
    return is_float(type) || type == ALU_TF32;
}

void decode_cvt(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (mods_has(m, G_PACK)) {
        cvt_pack(d, m);
        return;
    }
    int to = m->type[0], from = m->type[1];
    if (is_packed(to) || is_packed(from)) {
        cvt_packed(d, m);
        return;
    }
    if (!count(d, 2, 2)) return;
    bool to_int = !any_float(to), from_int = !any_float(from), wider = to != PTX_BF16 && from != PTX_BF16;
    const PtxOperand *r = operand(d, 0);
    Slot a = decode_source(d, operand(d, 1), from, from_int && wider), result = decode_result(d, r, to, to_int && wider);
    uint32_t bytes = r->kind == PTX_REG && r->var ? (uint32_t)ptx_type_bytes(r->var->type) : decode_bytes(to);
    SimOp *op = decode_emit(d, to_int ? (from_int ? SIM_CVT_II : SIM_CVT_FI) : from_int ? SIM_CVT_IF : row->code);
    if (to_int && from_int && !mods_has(m, G_SAT)) op->code = (uint16_t)extension(to, from, bytes);
    op->type = (uint8_t)to;
    op->n = (uint8_t)from;
    op->flags = float_flags(m);
    op->extra = (uint16_t)bytes;
    op->d = result;
    op->a = a;
}

/* ---- moves ---- */
static SimOp *move(Decoder *d, SimOpcode code, Slot to, Slot from)
{
    SimOp *op = decode_emit(d, code);
    op->d = to;
    op->a = from;
    return op;
}

static int bits_type(uint32_t bytes)
{
    return bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
}

/* mov.b64 {lo, hi}, r */
static void unpack(Decoder *d, const PtxOperand *to, const PtxOperand *from, uint32_t bytes)
{
    uint32_t each = bytes / to->nitems;
    Slot a = decode_source(d, from, bytes == 16 ? PTX_B128 : bits_type(bytes), false);
    for (uint32_t i = 0; i < to->nitems; i++) {
        if (to->items[i].kind == PTX_SINK) continue;
        Slot r = decode_result(d, &to->items[i], bits_type(each), false);
        if (bytes == 16) {
            move(d, SIM_MOV, r, a + i);
            continue;
        }
        SimOp *op = move(d, SIM_UNPACK, r, a);
        op->n = (uint8_t)(8 * each * i);
        op->extra = (uint16_t)(8 * each);
    }
}

/* mov.b64 r, {lo, hi}: the result is wider than its parts, so it is none of them. */
static void pack(Decoder *d, const PtxOperand *to, const PtxOperand *from, uint32_t bytes)
{
    uint32_t each = bytes / from->nitems;
    Slot r = decode_result(d, to, bytes == 16 ? PTX_B128 : bits_type(bytes), false), part[8];
    for (uint32_t i = 0; i < from->nitems; i++) part[i] = decode_source(d, &from->items[i], bits_type(each), false);
    if (bytes == 16) {
        for (uint32_t i = 0; i < 2; i++) move(d, SIM_MOV, r + i, part[i]);
        return;
    }
    for (uint32_t i = 1; i < from->nitems; i++) {
        SimOp *op = move(d, SIM_PACK, r, i == 1 ? part[0] : r);
        op->b = part[i];
        op->n = (uint8_t)(8 * each * i);
        op->extra = (uint16_t)(8 * each);
        op->imm = (int64_t)((UINT64_C(1) << (8 * each * i)) - 1);
    }
}

void decode_mov(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 2, 2)) return;
    const PtxOperand *to = operand(d, 0), *from = operand(d, 1);
    int type = m->type[0];
    uint32_t bytes = decode_bytes(type);
    const PtxOperand *vector = to->kind == PTX_VECTOR ? to : from->kind == PTX_VECTOR ? from : NULL;
    if (vector != NULL) {
        uint32_t n = vector->nitems, least = bytes == 16 ? 8 : 1;
        bool fits = (n == 2 || n == 4) && bytes / n >= least && to->kind != from->kind && (is_bits(type) || type == PTX_B128);
        if (!fits) decode_problem(d, "a vector of `mov` has 2 or 4 parts, together of the size of its .b type");
        else if (vector == to) unpack(d, to, from, bytes);
        else pack(d, to, from, bytes);
        return;
    }
    if (from->kind == PTX_SPECIAL) {
        decode_special(d, from->name, type, false, decode_result(d, to, type, false));
        return;
    }
    if (type == PTX_B128) {
        Slot a = decode_source(d, from, type, false), r = decode_result(d, to, type, false);
        for (uint32_t i = 0; i < 2; i++) move(d, SIM_MOV, r + i, a + i);
        return;
    }
    Slot a = decode_source(d, from, type, false);
    move(d, row->code, decode_result(d, to, type, false), a);
}

void decode_cvta(Decoder *d, const Mods *m, const PlainRow *row)
{
    static const uint8_t spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_SHARED,
                                     PTX_SPACE_LOCAL,  PTX_SPACE_CONST,  PTX_SPACE_PARAM};
    if (!count(d, 2, 2)) return;
    PtxSpace space = (PtxSpace)spaces[mods_get(m, G_SPACE, 0)];
    bool to = mods_has(m, G_TO);
    const PtxOperand *from = operand(d, 1);
    if (from->kind == PTX_SYMBOL && from->var && from->var->space != space)
        decode_problem(d, "`%s` does not lie in the state space of this `cvta`", from->name);
    Slot a = decode_source(d, from, m->type[0], false);
    Slot r = decode_result(d, operand(d, 0), m->type[0], false);
    SimOp *op = move(d, to ? SIM_CVTA_TO : row->code, r, a);
    op->extra = (uint16_t)space;
}

void decode_isspacep(Decoder *d, const Mods *m, const PlainRow *row)
{
    static const uint8_t spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_SHARED,
                                     PTX_SPACE_LOCAL,  PTX_SPACE_CONST,  PTX_SPACE_PARAM};
    if (!count(d, 2, 2)) return;
    int space = mods_get(m, G_SPACE, 0);
    Slot a = decode_source(d, operand(d, 1), PTX_U64, false);
    SimOp *op = move(d, row->code, decode_result(d, operand(d, 0), PTX_PRED, false), a);
    op->extra = spaces[space];
    op->b = space == SPACE_SHARED_CLUSTER;
}

/* ---- control ---- */
void decode_exit(Decoder *d, const Mods *m, const PlainRow *row)
{
    (void)m;
    if (count(d, 0, 0)) decode_emit(d, row->code);
}

void decode_nop(Decoder *d, const Mods *m, const PlainRow *row)
{
    (void)m;
    decode_emit(d, row->code);
}

void decode_sleep(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 1, 1)) return;
    decode_source(d, operand(d, 0), m->type[0], false);
    decode_emit(d, row->code);
}

/* Branch targets are indices of instructions until the function is complete. */
static int64_t target(Decoder *d, const PtxOperand *o)
{
    if (o->kind != PTX_SYMBOL || o->var != NULL || o->value) {
        decode_problem(d, "a branch goes to a label");
        return 0;
    }
    int64_t at = ptx_find_label(d->func, d->instr->scope, o->name);
    if (at < 0) decode_problem(d, "there is no label `%s` here", o->name);
    return at < 0 ? 0 : at;
}

void decode_bra(Decoder *d, const Mods *m, const PlainRow *row)
{
    (void)m;
    if (!count(d, 1, 1)) return;
    int64_t to = target(d, operand(d, 0));
    decode_emit(d, row->code)->imm = to;
}

void decode_brx(Decoder *d, const Mods *m, const PlainRow *row)
{
    (void)m;
    if (!count(d, 2, 2)) return;
    const PtxOperand *list = operand(d, 1);
    Slot a = decode_source(d, operand(d, 0), PTX_U32, false);
    if (list->nitems == 0 || list->nitems > UINT16_MAX) {
        decode_problem(d, "`brx.idx` has a list of 1 .. 65535 `.branchtargets`");
        return;
    }
    SimOp *op = decode_emit(d, row->code);
    op->a = a;
    op->extra = (uint16_t)list->nitems;
    op->imm = (int64_t)d->ops.n;
    for (uint32_t i = 0; i < list->nitems; i++) {
        int64_t to = target(d, &list->items[i]);
        op = decode_emit(d, SIM_BRA);
        op->guard = 0; /* the table's */
        op->imm = to;
    }
}
