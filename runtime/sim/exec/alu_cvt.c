/* cvt: between integers and floats of all formats. PTX ISA, cvt, cvt.pack. */
#include "runtime/sim/exec/alu.h"

#include <math.h>

static uint32_t bits_of(int type)
{
    return type == ALU_TF32 ? 32 : 8 * (uint32_t)ptx_type_bytes((PtxType)type);
}

static bool is_signed(int type)
{
    return type >= PTX_S8 && type <= PTX_S64;
}

static uint64_t ones(uint32_t n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t sign_extend(uint64_t x, uint32_t n)
{
    uint64_t sign = UINT64_C(1) << (n - 1);
    return ((x & ones(n)) ^ sign) - sign;
}

/* An integer as magnitude and sign. */
static uint64_t magnitude(int type, uint64_t x, bool *negative)
{
    x = is_signed(type) ? sign_extend(x, bits_of(type)) : x & ones(bits_of(type));
    *negative = is_signed(type) && x >> 63;
    return *negative ? 0 - x : x;
}

/* The integer nearest to it that the type has, extended to its register of `bytes`. */
static uint64_t clamp(int type, uint64_t m, bool negative, uint32_t bytes)
{
    uint32_t n = bits_of(type);
    uint64_t r;
    if (!is_signed(type)) {
        r = negative ? 0 : m > ones(n) ? ones(n) : m;
        return r;
    }
    uint64_t limit = ones(n - 1) + negative;
    if (m > limit) m = limit;
    r = negative ? 0 - m : m;
    return r & ones(8 * bytes);
}

static double to_integral(double x, int flags)
{
    switch (flags & FLAG_ROUND) {
    case FLAG_RZ: return trunc(x);
    case FLAG_RM: return floor(x);
    case FLAG_RP: return ceil(x);
    default: return rint(x);
    }
}

/* PTX ISA, cvt: out of range values are clamped; NaN gives 0, or the middle of the range if either type has 64 bits. */
static uint64_t float_to_int(const SimOp *op, uint64_t a)
{
    double x = alu_load(op->n, a, op->flags & FLAG_FTZ);
    uint32_t n = bits_of(op->type);
    if (x != x) {
        bool middle = op->n == PTX_F64 || n == 64;
        return !middle ? 0 : clamp(op->type, UINT64_C(1) << (n - 1), is_signed(op->type), op->extra);
    }
    x = to_integral(x, op->flags);
    double m = fabs(x);
    return clamp(op->type, m >= 0x1p64 ? UINT64_MAX : (uint64_t)m, x < 0, op->extra);
}

static FloatFormat format_of(int type)
{
    return type == PTX_F16 ? FORMAT_F16 : type == PTX_BF16 ? FORMAT_BF16 : type == PTX_F64 ? FORMAT_F64 : FORMAT_F32;
}

static uint64_t int_to_float(const SimOp *op, uint64_t a)
{
    bool negative;
    uint64_t m = magnitude(op->n, a, &negative);
    if (op->flags & FLAG_SAT) m = negative ? 0 : m > 1 ? 1 : m;
    return float_pack(format_of(op->type), negative && m, m, 0, false, op->flags & FLAG_ROUND);
}

/* f32 in the format with 10 bits of mantissa, the other bits 0. */
static uint64_t to_tf32(double x, int flags)
{
    static const FloatFormat tf32 = {10, 8};
    if ((flags & FLAG_RELU) && x <= 0) x = 0;
    if (x != x) return 0x7fffe000;
    uint64_t r = float_from_double(tf32, x, flags & FLAG_ROUND);
    if ((flags & FLAG_SATFINITE) && (r & 0x3ffff) == 0x3fc00) r--;
    return r << 13;
}

static uint64_t finite(int type, uint64_t r, int flags)
{
    uint64_t infinity = type == PTX_F16 ? 0x7c00 : type == PTX_BF16 ? 0x7f80 : 0x7f800000;
    uint64_t sign = type == PTX_F32 ? 0x80000000 : 0x8000;
    return (flags & FLAG_SATFINITE) && (r & (sign - 1)) == infinity ? r - 1 : r;
}

/* NaN of an H200: f64 keeps sign and leading bits of the payload, also when it becomes narrower; bf16 and .rna.tf32
 * keep their bits; else the canonical one. */
static uint64_t nan_to_nan(const SimOp *op, uint64_t a)
{
    if (op->type == ALU_TF32) {
        if ((op->flags & FLAG_ROUND) != FLAG_RNA) return 0x7fffe000;
        return (a & 0xffffe000) - (op->flags & FLAG_SATFINITE ? 0x2000 : 0);
    }
    FloatFormat f = format_of(op->type);
    uint64_t sign = UINT64_C(1) << (f.mantissa + f.exponent), quiet = UINT64_C(1) << (f.mantissa - 1);
    if (op->n == PTX_F64) {
        uint64_t payload = (a & ones(52)) >> (52 - f.mantissa), infinity = sign - 2 * quiet;
        return (a >> 63 ? sign : 0) | infinity | quiet | payload;
    }
    if (op->type == PTX_F64) {
        bool canonical = op->n == PTX_F32 && (op->flags & FLAG_FTZ);
        return canonical ? UINT64_C(0x7fffffffe0000000) : alu_f64_bits(alu_load(op->n, a, false));
    }
    if (op->n == PTX_BF16 && op->type == PTX_F32 && !(op->flags & FLAG_FTZ)) return (a & 0xffff) << 16;
    return sign - 1;
}

static uint64_t float_to_float(const SimOp *op, uint64_t a)
{
    int flags = op->flags;
    double x = alu_load(op->n, a, (flags & FLAG_FTZ) && op->n == PTX_F32);
    if (x != x && !(flags & (FLAG_SAT | FLAG_RELU))) return nan_to_nan(op, a);
    if (op->type == ALU_TF32) return to_tf32(x, flags);
    if (flags & FLAG_INTEGRAL) {
        x = to_integral(x, flags);
        flags &= ~FLAG_ROUND;
    }
    if (op->type != PTX_F32) flags &= ~FLAG_FTZ;
    return finite(op->type, alu_store(op->type, x, flags), flags);
}

/* ---- 8-bit floats (OCP 8-bit Floating Point Specification; PTX ISA, Alternate Floating-Point Data Formats) ---- */
static double from_e4m3(uint64_t bits)
{
    int e = (int)(bits >> 3 & 15), m = (int)(bits & 7);
    double x = e == 15 && m == 7 ? (double)NAN : e ? ldexp(8 + m, e - 10) : ldexp(m, -9);
    return bits & 0x80 ? -x : x;
}

/* Always .satfinite: there is no infinity in e4m3, and .satfinite is mandatory. */
static uint64_t to_fp8(int type, double x, int flags)
{
    static const FloatFormat e4m3 = {3, 4}, e5m2 = {2, 5};
    bool four = type == ALU_E4M3X2;
    if ((flags & FLAG_RELU) && x <= 0) x = 0;
    if (x != x) return 0x7f;
    uint64_t most = four ? 0x7e : 0x7b, sign = signbit(x) ? 0x80 : 0;
    double limit = four ? 448 : 57344;
    if (fabs(x) >= limit) return sign | most;
    uint64_t r = float_from_double(four ? e4m3 : e5m2, x, FLAG_RN);
    if (four && fabs(x) >= 256) { /* the exponent that IEEE 754 would use for infinity is an ordinary one */
        double step = rint(fabs(x) / 32);
        r = sign | (0x78 + (uint64_t)step - 8);
    }
    return r;
}

static uint64_t half_to(const SimOp *op, double x)
{
    int flags = op->flags & ~FLAG_SATFINITE;
    switch (op->type) {
    case PTX_F16X2: return finite(PTX_F16, alu_store(PTX_F16, x, flags), op->flags);
    case PTX_BF16X2: return finite(PTX_BF16, alu_store(PTX_BF16, x, flags), op->flags);
    default: return to_fp8(op->type, x, flags);
    }
}

/* d, a, b of f32: a becomes the upper half. d, a of a packed type: halves stay where they are. */
static uint64_t packed(const SimOp *op, uint64_t a, uint64_t b)
{
    double high, low;
    uint32_t width = op->type == PTX_F16X2 || op->type == PTX_BF16X2 ? 16 : 8;
    switch (op->n) {
    case PTX_F32:
        high = alu_load(PTX_F32, a, op->flags & FLAG_FTZ);
        low = alu_load(PTX_F32, b, op->flags & FLAG_FTZ);
        break;
    case PTX_F16X2:
        high = float_f16(a >> 16);
        low = float_f16(a);
        break;
    case PTX_BF16X2:
        high = float_bf16(a >> 16);
        low = float_bf16(a);
        break;
    case ALU_E4M3X2:
        high = from_e4m3(a >> 8);
        low = from_e4m3(a);
        break;
    default: /* e5m2: the upper byte of an f16 */
        high = float_f16(a & 0xff00);
        low = float_f16((a & 0xff) << 8);
        break;
    }
    return half_to(op, high) << width | half_to(op, low);
}

/* PTX ISA, cvt.pack: d = c << 2n | a << n | b, of n bits each */
static uint64_t pack(const SimOp *op, const uint64_t *slot)
{
    uint32_t n = bits_of(op->type);
    bool na, nb;
    uint64_t a = magnitude(PTX_S32, slot[op->a], &na), b = magnitude(PTX_S32, slot[op->b], &nb);
    uint64_t r = (clamp(op->type, a, na, 4) & ones(n)) << n | (clamp(op->type, b, nb, 4) & ones(n));
    if (n == 8 && op->c != NO_SLOT) r |= slot[op->c] << 16;
    return (uint32_t)r;
}

bool alu_cvt(const SimOp *op, uint64_t *slot)
{
    uint64_t r;
    bool negative;
    switch (op->code) {
    case SIM_CVT_II:
        r = magnitude(op->n, slot[op->a], &negative);
        r = clamp(op->type, r, negative, op->extra);
        break;
    case SIM_CVT_IF: r = int_to_float(op, slot[op->a]); break;
    case SIM_CVT_FI: r = float_to_int(op, slot[op->a]); break;
    case SIM_CVT_FF: r = float_to_float(op, slot[op->a]); break;
    case SIM_CVT_X2: r = packed(op, slot[op->a], op->b == NO_SLOT ? 0 : slot[op->b]); break;
    case SIM_CVT_PACK: r = pack(op, slot); break;
    default: return false;
    }
    slot[op->d] = r;
    return true;
}
