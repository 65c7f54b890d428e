/* Arithmetic on slots: integers and bits, and the common float operations; the rest is in alu_float.c, alu_cvt.c.
 *
 * One switch over opcodes that have their type in their name, since an interpreter spends its time here.
 * PTX ISA: Integer, Extended-Precision, Comparison and Selection, Logic and Shift Instructions.
 */
#include "runtime/sim/exec/alu.h"

#include <math.h>

/* ---- helpers: all on unsigned, so that nothing overflows ---- */
static inline uint64_t mask_bits(uint32_t n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* The low n bits of x with their sign; n in 1 .. 64. */
static inline uint64_t extend(uint64_t x, uint32_t n)
{
    uint64_t sign = UINT64_C(1) << (n - 1);
    x &= mask_bits(n);
    return (x ^ sign) - sign;
}

static uint64_t mulhi_u64(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, m1 = ah * bl + (low >> 32), m2 = al * bh + (uint32_t)m1;
    return ah * bh + (m1 >> 32) + (m2 >> 32);
}

static uint64_t mulhi_s64(uint64_t a, uint64_t b)
{
    uint64_t h = mulhi_u64(a, b);
    return h - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}

static uint32_t popcount(uint64_t x)
{
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((x * UINT64_C(0x0101010101010101)) >> 56);
}

/* Leading zeros of 64 bits; 64 for 0. */
static uint32_t leading(uint64_t x)
{
    for (int i = 1; i < 64; i *= 2) x |= x >> i;
    return popcount(~x);
}

static uint64_t reverse(uint64_t x, int n)
{
    uint64_t r = 0;
    for (int i = 0; i < n; i++) r |= ((x >> i) & 1) << (n - 1 - i);
    return r;
}

static inline uint64_t clamp_s32(int64_t x)
{
    return (uint32_t)(int32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static int type_bits(int type)
{
    return 8 * ptx_type_bytes((PtxType)type);
}

static bool type_signed(int type)
{
    return type >= PTX_S8 && type <= PTX_S64;
}

/* ---- the rarer operations ---- */
/* add.cc, addc, sub.cc, subc (PTX ISA: the borrow is kept as the carry's complement nowhere: CC.CF = borrow). */
static uint64_t add_carry(const SimOp *op, uint64_t *slot, uint64_t a, uint64_t b)
{
    uint32_t bits = (uint32_t)type_bits(op->type);
    uint64_t in = (op->n & 1) ? slot[op->imm] & 1 : 0;
    uint64_t mask = mask_bits(bits), r;
    bool carry;
    a &= mask;
    b &= mask;
    if (op->n & 4) {
        r = a - b - in;
        carry = a < b || (a == b && in);
    } else {
        r = a + b + in;
        carry = bits < 64 ? (r >> bits) != 0 : r < a || (r == a && b && in);
    }
    if (op->n & 2) slot[op->imm] = carry;
    return r & mask;
}

static uint64_t mad_carry(const SimOp *op, uint64_t *slot)
{
    uint64_t a = slot[op->a], b = slot[op->b], product;
    uint32_t bits = (uint32_t)type_bits(op->type);
    if (bits == 64) product = !(op->n & 8) ? a * b : type_signed(op->type) ? mulhi_s64(a, b) : mulhi_u64(a, b);
    else if (type_signed(op->type)) product = extend(a, 32) * extend(b, 32) >> (op->n & 8 ? 32 : 0);
    else product = (uint64_t)(uint32_t)a * (uint32_t)b >> (op->n & 8 ? 32 : 0);
    return add_carry(op, slot, product, slot[op->c]);
}

/* mul24, mad24: operands are the low 24 bits; .lo: bits 0 .. 31 of the 48-bit product, .hi: bits 16 .. 47. */
static uint64_t mul24(const SimOp *op, uint64_t a, uint64_t b)
{
    uint64_t product = type_signed(op->type) ? extend(a, 24) * extend(b, 24)
                                             : (a & mask_bits(24)) * (b & mask_bits(24));
    return (uint32_t)(product >> (op->n & 1 ? 16 : 0));
}

static uint64_t mad24(const SimOp *op, const uint64_t *slot)
{
    uint64_t p = mul24(op, slot[op->a], slot[op->b]), c = slot[op->c];
    return op->flags & FLAG_SAT ? clamp_s32((int64_t)(int32_t)p + (int32_t)c) : (uint32_t)(p + c);
}

static uint64_t minmax16x2(const SimOp *op, uint64_t a, uint64_t b)
{
    uint64_t r = 0;
    bool sign = op->type == PTX_S16;
    for (uint32_t i = 0; i < 32; i += 16) {
        uint64_t x = (a >> i) & 0xffff, y = (b >> i) & 0xffff;
        int32_t sx = sign ? (int16_t)x : (int32_t)x, sy = sign ? (int16_t)y : (int32_t)y;
        int32_t m = (sx < sy) == (op->n == 1) ? sy : sx;
        if ((op->flags & FLAG_RELU) && m < 0) m = 0;
        r |= ((uint64_t)(uint32_t)m & 0xffff) << i;
    }
    return r;
}

static uint64_t minmax_relu(const SimOp *op, uint64_t a, uint64_t b)
{
    int32_t x = (int32_t)a, y = (int32_t)b, m = (x < y) == (op->n == 1) ? y : x;
    return m < 0 ? 0 : (uint32_t)m;
}

static int32_t dot_part(uint64_t x, uint32_t at, uint32_t bits, bool sign)
{
    uint64_t part = x >> at;
    return (int32_t)(uint32_t)(sign ? extend(part, bits) : part & mask_bits(bits));
}

static uint64_t dot(const SimOp *op, uint64_t a, uint64_t b, uint64_t c, bool two)
{
    uint32_t sum = (uint32_t)c, wide = two ? 16 : 8, from = two && (op->n & 4) ? 16 : 0;
    for (uint32_t i = 0; i < (two ? 2u : 4u); i++) {
        int64_t x = dot_part(a, i * wide, wide, op->n & 1), y = dot_part(b, from + i * 8, 8, op->n & 2);
        sum += (uint32_t)(x * y);
    }
    return sum;
}

static uint64_t shf(const SimOp *op, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t both = (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
    uint32_t n = (uint32_t)c;
    n = op->n & 2 ? n & 31 : n > 32 ? 32 : n;
    return op->n & 1 ? (uint32_t)(both >> n) : (uint32_t)(both << n >> 32);
}

/* PTX ISA, bfind: the most significant 1 (of signed types: bit unlike the sign), all ones if there is none. */
static uint64_t bfind(uint64_t x, uint32_t bits, bool sign, bool amount)
{
    if (sign) x = extend(x, bits) >> 63 ? ~extend(x, bits) : x;
    x &= mask_bits(bits);
    if (!x) return UINT32_MAX;
    uint32_t at = 63 - leading(x);
    return amount ? bits - 1 - at : at;
}

/* PTX ISA, bfe: bits beyond the operand are its sign (signed) or 0. */
static uint64_t bfe(uint64_t a, uint64_t b, uint64_t c, uint32_t bits, bool sign)
{
    uint32_t pos = b & 0xff, len = c & 0xff;
    if (!len) return 0;
    uint64_t x = sign ? extend(a, bits) : a & mask_bits(bits);
    uint64_t fill = sign && x >> 63 ? UINT64_MAX : 0;
    uint64_t shifted = pos >= bits ? fill : pos ? (x >> pos) | (fill << 1 << (63 - pos)) : x;
    /* the field's sign: its highest bit inside the operand */
    uint32_t top = pos + len - 1 < bits - 1 ? len : bits > pos ? bits - pos : 1;
    uint64_t r = sign ? extend(shifted, top) : shifted & mask_bits(top);
    if (!sign && pos >= bits) r = 0;
    return r & mask_bits(bits);
}

static uint64_t bfi(const SimOp *op, const uint64_t *slot, uint32_t bits)
{
    uint32_t pos = slot[op->c] & 0xff, len = slot[op->imm] & 0xff;
    uint64_t into = slot[op->b] & mask_bits(bits);
    if (pos >= bits || !len) return into;
    uint64_t field = mask_bits(len) << pos & mask_bits(bits);
    return (into & ~field) | (slot[op->a] << pos & field);
}

static uint64_t lop3(uint64_t a, uint64_t b, uint64_t c, uint32_t table)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b, z = (uint32_t)c, r = 0;
    if (table & 0x01) r |= ~x & ~y & ~z;
    if (table & 0x02) r |= ~x & ~y & z;
    if (table & 0x04) r |= ~x & y & ~z;
    if (table & 0x08) r |= ~x & y & z;
    if (table & 0x10) r |= x & ~y & ~z;
    if (table & 0x20) r |= x & ~y & z;
    if (table & 0x40) r |= x & y & ~z;
    if (table & 0x80) r |= x & y & z;
    return r;
}

/* PTX ISA, prmt: selectors of the special modes, by the low two bits of c. */
static uint64_t prmt(uint64_t a, uint64_t b, uint64_t c, int mode)
{
    static const uint16_t modes[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    uint64_t bytes = (uint64_t)(uint32_t)b << 32 | (uint32_t)a, r = 0;
    uint32_t select = mode ? modes[mode - 1][c & 3] : (uint32_t)c & 0xffff;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t s = select >> 4 * i & 15;
        uint64_t byte = bytes >> 8 * (s & 7) & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * i;
    }
    return r;
}

/* PTX ISA, bmsk: b bits of ones from bit a on; clamped to 32, or modulo 32. */
static uint64_t bmsk(uint64_t a, uint64_t b, bool wrap)
{
    uint32_t pos = (uint32_t)a, len = (uint32_t)b;
    if (wrap) {
        pos &= 31;
        len &= 31;
    }
    if (pos >= 32) return 0;
    return (uint32_t)(mask_bits(len > 32 ? 32 : len) << pos);
}

/* PTX ISA, szext: the low b bits of a, extended. */
static uint64_t szext(const SimOp *op, uint64_t a, uint64_t b)
{
    uint32_t n = (uint32_t)b;
    if (op->n & 1) n &= 31;
    else if (n >= 32) return (uint32_t)a;
    if (!n) return 0;
    return (uint32_t)(op->type == PTX_S32 ? extend(a, n) : a & mask_bits(n));
}

/* ---- comparison of any type ---- */
static bool compare_int(int how, int type, uint64_t a, uint64_t b)
{
    uint32_t bits = (uint32_t)type_bits(type);
    if (!bits) bits = 1;
    uint64_t flip = UINT64_C(1) << 63;
    a = type_signed(type) ? extend(a, bits) ^ flip : a & mask_bits(bits);
    b = type_signed(type) ? extend(b, bits) ^ flip : b & mask_bits(bits);
    switch (how) {
    case CMP_EQ: return a == b;
    case CMP_NE: return a != b;
    case CMP_LT: return a < b;
    case CMP_LE: return a <= b;
    case CMP_GT: return a > b;
    default: return a >= b;
    }
}

/* Element `half` of packed types; 0 else. */
static bool compare(const SimOp *op, uint64_t a, uint64_t b, uint32_t half, bool ftz)
{
    int type = op->type;
    if (type == PTX_F16X2 || type == PTX_BF16X2) {
        type = type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
        a >>= 16 * half;
        b >>= 16 * half;
    }
    if (type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64)
        return alu_compare_float((AluCompare)op->flags, alu_load(type, a, ftz), alu_load(type, b, ftz));
    return compare_int(op->flags, type, a, b);
}

static bool combine(uint32_t how, bool x, bool c)
{
    return how == 1 ? x && c : how == 2 ? x || c : how == 3 ? x != c : x;
}

static void setp(const SimOp *op, uint64_t *slot)
{
    uint64_t a = slot[op->a], b = slot[op->b];
    bool ftz = op->n & 2, packed = op->type == PTX_F16X2 || op->type == PTX_BF16X2;
    bool c = op->extra ? (slot[op->c] & 1) != (op->n & 1) : false;
    bool p = compare(op, a, b, 0, ftz), q = packed ? compare(op, a, b, 1, ftz) : !p;
    if (op->d != NO_SLOT) slot[op->d] = combine(op->extra, p, c);
    if (op->imm != NO_SLOT) slot[op->imm] = combine(op->extra, q, c);
}

static uint64_t set(const SimOp *op, const uint64_t *slot)
{
    uint32_t how = op->extra & 3;
    bool c = how ? (slot[op->c] & 1) != (op->extra >> 2 & 1) : false, packed = false;
    uint64_t yes;
    switch (op->n) {
    case PTX_F32: yes = 0x3f800000; break;
    case PTX_F16: yes = 0x3c00; break;
    case PTX_BF16: yes = 0x3f80; break;
    case PTX_F16X2: yes = 0x3c00; break;
    case PTX_BF16X2: yes = 0x3f80; break;
    default: yes = mask_bits((uint32_t)type_bits(op->n)); break;
    }
    packed = op->type == PTX_F16X2 || op->type == PTX_BF16X2;
    if (packed) yes &= 0xffff;
    uint64_t r = combine(how, compare(op, slot[op->a], slot[op->b], 0, op->imm & 1), c) ? yes : 0;
    if (packed && combine(how, compare(op, slot[op->a], slot[op->b], 1, op->imm & 1), c)) r |= yes << 16;
    return r;
}

static uint64_t slct_f32(const SimOp *op, const uint64_t *slot)
{
    double c = alu_load(PTX_F32, slot[op->c], op->flags & FLAG_FTZ);
    return slot[c >= 0 ? op->a : op->b];
}

static bool alu_more(const SimOp *op, uint64_t *s)
{
    uint64_t a = op->a == NO_SLOT ? 0 : s[op->a], b = op->b == NO_SLOT ? 0 : s[op->b];
    uint64_t c = op->c == NO_SLOT ? 0 : s[op->c], r;
    switch (op->code) {
    case SIM_MUL24: r = mul24(op, a, b); break;
    case SIM_MAD24: r = mad24(op, s); break;
    case SIM_ADD16X2: r = ((a + b) & 0xffff) | ((((a >> 16) + (b >> 16)) & 0xffff) << 16); break;
    case SIM_MINMAX16X2: r = minmax16x2(op, a, b); break;
    case SIM_MINMAX_RELU_S32: r = minmax_relu(op, a, b); break;
    case SIM_ADDC: r = add_carry(op, s, a, b); break;
    case SIM_MADC: r = mad_carry(op, s); break;
    case SIM_DP4A: r = dot(op, a, b, c, false); break;
    case SIM_DP2A: r = dot(op, a, b, c, true); break;
    case SIM_CNOT_B16: r = !(uint16_t)a; break;
    case SIM_CNOT_B32: r = !(uint32_t)a; break;
    case SIM_CNOT_B64: r = !a; break;
    case SIM_POPC_B32: r = popcount((uint32_t)a); break;
    case SIM_POPC_B64: r = popcount(a); break;
    case SIM_CLZ_B32: r = leading((uint32_t)a) - 32; break;
    case SIM_CLZ_B64: r = leading(a); break;
    case SIM_BREV_B32: r = reverse(a, 32); break;
    case SIM_BREV_B64: r = reverse(a, 64); break;
    case SIM_BFIND_U32: r = bfind(a, 32, false, op->n); break;
    case SIM_BFIND_S32: r = bfind(a, 32, true, op->n); break;
    case SIM_BFIND_U64: r = bfind(a, 64, false, op->n); break;
    case SIM_BFIND_S64: r = bfind(a, 64, true, op->n); break;
    case SIM_BFE_U32: r = bfe(a, b, c, 32, false); break;
    case SIM_BFE_S32: r = bfe(a, b, c, 32, true); break;
    case SIM_BFE_U64: r = bfe(a, b, c, 64, false); break;
    case SIM_BFE_S64: r = bfe(a, b, c, 64, true); break;
    case SIM_BFI_B32: r = bfi(op, s, 32); break;
    case SIM_BFI_B64: r = bfi(op, s, 64); break;
    case SIM_BMSK: r = bmsk(a, b, op->n & 1); break;
    case SIM_SZEXT: r = szext(op, a, b); break;
    case SIM_SET: r = set(op, s); break;
    case SIM_SLCT_F32: r = slct_f32(op, s); break;
    case SIM_SETP: setp(op, s); return true;
    default: return alu_cvt(op, s) || alu_float(op, s);
    }
    s[op->d] = r;
    return true;
}

/* ---- the switch ---- */
/* clang-format off */
#define A s[op->a]
#define B s[op->b]
#define C s[op->c]
#define GIVE(x)                                                                                                        \
    s[op->d] = (x);                                                                                                    \
    break
/* T: the unsigned type that results have, S: the type that operands have. */
#define INT_OPS(N, T, S)                                                                                               \
    case SIM_ADD_##N: GIVE((T)(A + B));                                                                                \
    case SIM_SUB_##N: GIVE((T)(A - B));                                                                                \
    case SIM_MULLO_##N: GIVE((T)(A * B));                                                                              \
    case SIM_MADLO_##N: GIVE((T)(A * B + C));                                                                          \
    case SIM_MIN_##N: GIVE((T)((S)A < (S)B ? A : B));                                                                  \
    case SIM_MAX_##N: GIVE((T)((S)A > (S)B ? A : B));                                                                  \
    case SIM_SAD_##N: GIVE((T)(C + ((S)A > (S)B ? A - B : B - A)));                                                    \
    case SIM_SETP_EQ_##N: GIVE((T)A == (T)B);                                                                          \
    case SIM_SETP_NE_##N: GIVE((T)A != (T)B);                                                                          \
    case SIM_SETP_LT_##N: GIVE((S)A < (S)B);                                                                           \
    case SIM_SETP_LE_##N: GIVE((S)A <= (S)B);                                                                          \
    case SIM_SETP_GT_##N: GIVE((S)A > (S)B);                                                                           \
    case SIM_SETP_GE_##N: GIVE((S)A >= (S)B);
#define DIV_U(N, T)                                                                                                    \
    case SIM_DIV_##N: GIVE((T)((T)B ? (T)A / (T)B : (T)-1));                                                           \
    case SIM_REM_##N: GIVE((T)((T)B ? (T)A % (T)B : (T)-1));
#define DIV_S(N, T, S)                                                                                                 \
    case SIM_DIV_##N: GIVE((T)((T)B == 0 ? (T)-1 : (S)B == -1 ? (T)(0 - A) : (T)((S)A / (S)B)));                       \
    case SIM_REM_##N: GIVE((T)((T)B == 0 ? (T)-1 : (S)B == -1 ? 0 : (T)((S)A % (S)B)));                                \
    case SIM_ABS_##N: GIVE((T)((S)A < 0 ? 0 - A : A));                                                                 \
    case SIM_NEG_##N: GIVE((T)(0 - A));
#define BIT_OPS(N, T, bits)                                                                                            \
    case SIM_AND_##N: GIVE((T)(A & B));                                                                                \
    case SIM_OR_##N: GIVE((T)(A | B));                                                                                 \
    case SIM_XOR_##N: GIVE((T)(A ^ B));                                                                                \
    case SIM_NOT_##N: GIVE((T)~A);                                                                                     \
    case SIM_SHL_##N: GIVE((T)((uint32_t)B >= (bits) ? 0 : A << (uint32_t)B));
#define SHIFTS(U, S, T, bits)                                                                                          \
    case SIM_SHR_##U: GIVE((T)((uint32_t)B >= (bits) ? 0 : (T)A >> (uint32_t)B));                                      \
    case SIM_SHR_##S: GIVE((T)shift_right(extend(A, bits), (uint32_t)B >= (bits) ? (bits)-1 : (uint32_t)B));
/* clang-format on */

static inline uint64_t shift_right(uint64_t x, uint32_t n) /* arithmetic; n < 64 */
{
    return x >> 63 ? ~(~x >> n) : x >> n;
}

bool sim_alu(const SimOp *op, uint64_t *s)
{
    switch (op->code) {
    case SIM_MOV: GIVE(A);
    case SIM_PACK: GIVE((A & (uint64_t)op->imm) | (B & mask_bits(op->extra)) << op->n);
    case SIM_UNPACK: GIVE(A >> op->n & mask_bits(op->extra));
    case SIM_ZEXT8: GIVE((uint8_t)A);
    case SIM_ZEXT16: GIVE((uint16_t)A);
    case SIM_ZEXT32: GIVE((uint32_t)A);
    case SIM_SEXT_8_16: GIVE((uint16_t)extend(A, 8));
    case SIM_SEXT_8_32: GIVE((uint32_t)extend(A, 8));
    case SIM_SEXT_8_64: GIVE(extend(A, 8));
    case SIM_SEXT_16_32: GIVE((uint32_t)extend(A, 16));
    case SIM_SEXT_16_64: GIVE(extend(A, 16));
    case SIM_SEXT_32_64: GIVE(extend(A, 32));
    case SIM_SELP: GIVE(C & 1 ? A : B);
    case SIM_SLCT_S32:
        GIVE((int32_t)C >= 0 ? A : B);
        INT_OPS(U16, uint16_t, uint16_t)
        INT_OPS(U32, uint32_t, uint32_t)
        INT_OPS(U64, uint64_t, uint64_t)
        INT_OPS(S16, uint16_t, int16_t)
        INT_OPS(S32, uint32_t, int32_t)
        INT_OPS(S64, uint64_t, int64_t)
        DIV_U(U16, uint16_t)
        DIV_U(U32, uint32_t)
        DIV_U(U64, uint64_t)
        DIV_S(S16, uint16_t, int16_t)
        DIV_S(S32, uint32_t, int32_t)
        DIV_S(S64, uint64_t, int64_t)
    case SIM_MULHI_U16: GIVE((uint16_t)((uint32_t)(uint16_t)A * (uint16_t)B >> 16));
    case SIM_MULHI_S16: GIVE((uint16_t)(extend(A, 16) * extend(B, 16) >> 16));
    case SIM_MULHI_U32: GIVE((uint64_t)(uint32_t)A * (uint32_t)B >> 32);
    case SIM_MULHI_S32: GIVE((uint32_t)(extend(A, 32) * extend(B, 32) >> 32));
    case SIM_MULHI_U64: GIVE(mulhi_u64(A, B));
    case SIM_MULHI_S64: GIVE(mulhi_s64(A, B));
    case SIM_MADHI_U16: GIVE((uint16_t)(((uint32_t)(uint16_t)A * (uint16_t)B >> 16) + C));
    case SIM_MADHI_S16: GIVE((uint16_t)((extend(A, 16) * extend(B, 16) >> 16) + C));
    case SIM_MADHI_U32: GIVE((uint32_t)(((uint64_t)(uint32_t)A * (uint32_t)B >> 32) + C));
    case SIM_MADHI_S32: GIVE((uint32_t)((extend(A, 32) * extend(B, 32) >> 32) + C));
    case SIM_MADHI_U64: GIVE(mulhi_u64(A, B) + C);
    case SIM_MADHI_S64: GIVE(mulhi_s64(A, B) + C);
    case SIM_MULWIDE_U16: GIVE((uint32_t)(uint16_t)A * (uint16_t)B);
    case SIM_MULWIDE_S16: GIVE((uint32_t)(extend(A, 16) * extend(B, 16)));
    case SIM_MULWIDE_U32: GIVE((uint64_t)(uint32_t)A * (uint32_t)B);
    case SIM_MULWIDE_S32: GIVE(extend(A, 32) * extend(B, 32));
    case SIM_MADWIDE_U16: GIVE((uint32_t)((uint32_t)(uint16_t)A * (uint16_t)B + C));
    case SIM_MADWIDE_S16: GIVE((uint32_t)(extend(A, 16) * extend(B, 16) + C));
    case SIM_MADWIDE_U32: GIVE((uint64_t)(uint32_t)A * (uint32_t)B + C);
    case SIM_MADWIDE_S32: GIVE(extend(A, 32) * extend(B, 32) + C);
    case SIM_ADDSAT_S32: GIVE(clamp_s32((int64_t)(int32_t)A + (int32_t)B));
    case SIM_SUBSAT_S32: GIVE(clamp_s32((int64_t)(int32_t)A - (int32_t)B));
    case SIM_MADHISAT_S32:
        GIVE(clamp_s32((int64_t)(int32_t)(uint32_t)(extend(A, 32) * extend(B, 32) >> 32) + (int32_t)C));
        BIT_OPS(B16, uint16_t, 16)
        BIT_OPS(B32, uint32_t, 32)
        BIT_OPS(B64, uint64_t, 64)
        SHIFTS(U16, S16, uint16_t, 16)
        SHIFTS(U32, S32, uint32_t, 32)
        SHIFTS(U64, S64, uint64_t, 64)
    case SIM_AND_PRED: GIVE(A & B & 1);
    case SIM_OR_PRED: GIVE((A | B) & 1);
    case SIM_XOR_PRED: GIVE((A ^ B) & 1);
    case SIM_NOT_PRED: GIVE(~A & 1);
    case SIM_SHF: GIVE(shf(op, A, B, C));
    case SIM_LOP3: GIVE(lop3(A, B, C, (uint32_t)op->imm));
    case SIM_PRMT: GIVE(prmt(A, B, C, op->n));
    case SIM_ADD_F32: GIVE(alu_f32_bits(alu_f32(A) + alu_f32(B)));
    case SIM_SUB_F32: GIVE(alu_f32_bits(alu_f32(A) - alu_f32(B)));
    case SIM_MUL_F32: GIVE(alu_f32_bits(alu_f32(A) * alu_f32(B)));
    case SIM_FMA_F32: GIVE(alu_f32_bits(fmaf(alu_f32(A), alu_f32(B), alu_f32(C))));
    case SIM_ADD_F64: GIVE(alu_f64_nan(alu_f64(A) + alu_f64(B), A, B, A));
    case SIM_SUB_F64: GIVE(alu_f64_nan(alu_f64(A) - alu_f64(B), A, B, A));
    case SIM_MUL_F64: GIVE(alu_f64_nan(alu_f64(A) * alu_f64(B), A, B, A));
    case SIM_FMA_F64: GIVE(alu_f64_nan(fma(alu_f64(A), alu_f64(B), alu_f64(C)), A, B, C));
    default: return alu_more(op, s);
    }
    return true;
}
