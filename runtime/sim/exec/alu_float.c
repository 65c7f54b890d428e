/* Floats in every format of PTX, rounded once.
 *
 * f16, bf16 and f32 are computed in double: products are exact there, sums are rounded to odd, so that the one
 * rounding to the format that follows is the exact result's (Boldo, Melquiond: "Emulation of FMA and correctly rounded
 * sums: proved algorithms using rounding to odd"). f64 in the directed modes and f32 quotients and roots change the
 * host's rounding mode; operands pass through volatile variables so that nothing is computed outside of it.
 * PTX ISA: Floating Point, Half Precision and Mixed Precision Floating Point Instructions.
 */
#include "runtime/sim/exec/alu.h"

#include <fenv.h>
#include <math.h>

const FloatFormat FORMAT_F16 = {10, 5}, FORMAT_BF16 = {7, 8}, FORMAT_F32 = {23, 8}, FORMAT_F64 = {52, 11};

/* ---- formats ---- */
uint64_t float_pack(FloatFormat f, bool negative, uint64_t m, int e, bool sticky, int rounding)
{
    int precision = f.mantissa + 1, bias = (1 << (f.exponent - 1)) - 1, least = 1 - bias;
    uint64_t sign = (uint64_t)negative << (f.mantissa + f.exponent);
    uint64_t infinity = (((uint64_t)1 << f.exponent) - 1) << f.mantissa;
    if (!m) return sign | (sticky && (rounding == FLAG_RM ? negative : rounding == FLAG_RP && !negative));
    while (!(m >> 63)) {
        m <<= 1;
        e--;
    }
    e += 63; /* of the leading bit */
    int drop = 64 - precision + (e < least ? least - e : 0);
    uint64_t kept = drop >= 64 ? 0 : m >> drop;
    bool half = drop <= 64 && (m >> (drop - 1) & 1);
    bool rest = sticky || (drop > 64 ? true : (m & (((uint64_t)1 << (drop - 1)) - 1)) != 0);
    switch (rounding) {
    case FLAG_RN: kept += half && (rest || (kept & 1)); break;
    case FLAG_RNA: kept += half; break;
    case FLAG_RM: kept += negative && (half || rest); break;
    case FLAG_RP: kept += !negative && (half || rest); break;
    default: break;
    }
    /* the hidden bit and carries count up the exponent */
    uint64_t bits = kept;
    if (e >= least) {
        if (e + bias - 1 >= 1 << f.exponent) /* beyond: avoids shifting bits out */
            bits = infinity;
        else bits = ((uint64_t)(e + bias - 1) << f.mantissa) + kept;
    }
    if (bits >= infinity) {
        bool to_infinity = rounding == FLAG_RN || rounding == FLAG_RNA || (rounding == FLAG_RM && negative) ||
                           (rounding == FLAG_RP && !negative);
        bits = to_infinity ? infinity : infinity - 1;
    }
    return sign | bits;
}

uint64_t float_from_double(FloatFormat f, double x, int rounding)
{
    uint64_t bits = alu_f64_bits(x), m = bits & (((uint64_t)1 << 52) - 1);
    int e = (int)(bits >> 52 & 2047);
    uint64_t infinity = (((uint64_t)1 << f.exponent) - 1) << f.mantissa;
    if (e == 2047) {
        if (m) return infinity | (((uint64_t)1 << f.mantissa) - 1);
        return infinity | (bits >> 63) << (f.mantissa + f.exponent);
    }
    if (e) m |= (uint64_t)1 << 52;
    return float_pack(f, bits >> 63, m, (e ? e : 1) - 1075, false, rounding);
}

double float_bf16(uint64_t bits)
{
    return (double)alu_f32((bits & 0xffff) << 16);
}

double float_f16(uint64_t bits)
{
    uint32_t magnitude = ((uint32_t)bits & 0x7fff) << 13;
    double x;
    if (magnitude >= 0x0f800000) x = (double)alu_f32(magnitude | 0x7f800000); /* infinity, NaN */
    else x = (double)alu_f32(magnitude) * 0x1p112;                            /* as if the exponent had f32's bias */
    return bits & 0x8000 ? -x : x;
}

static bool is_nan64(uint64_t x)
{
    return (x & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000);
}

uint64_t alu_nan(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t quiet = UINT64_C(1) << 51;
    if (is_nan64(b)) return b | quiet;
    if (is_nan64(c)) return c | quiet;
    return is_nan64(a) ? a | quiet : UINT64_C(0xfff8000000000000);
}

static double flush(double x, double least_normal)
{
    return fabs(x) < least_normal ? copysign(0, x) : x;
}

double alu_load(int type, uint64_t bits, bool ftz)
{
    double x;
    switch (type) {
    case PTX_F16: x = float_f16(bits); return ftz ? flush(x, 0x1p-14) : x;
    case PTX_BF16: x = float_bf16(bits); return ftz ? flush(x, 0x1p-126) : x;
    case PTX_F32: x = (double)alu_f32(bits); return ftz ? flush(x, 0x1p-126) : x;
    default: return alu_f64(bits);
    }
}

static FloatFormat format_of(int type)
{
    return type == PTX_F16 ? FORMAT_F16 : type == PTX_BF16 ? FORMAT_BF16 : type == PTX_F32 ? FORMAT_F32 : FORMAT_F64;
}

uint64_t alu_store(int type, double x, int flags)
{
    if (flags & FLAG_SAT) x = x > 1 ? 1 : x > 0 ? x : 0;
    if ((flags & FLAG_RELU) && x <= 0) x = 0;
    if (type == PTX_F64) return alu_f64_bits(x);
    FloatFormat f = format_of(type);
    uint64_t r;
    if (type == PTX_F32 && !(flags & FLAG_ROUND)) r = alu_f32_bits((float)x);
    else r = float_from_double(f, x, flags & FLAG_ROUND);
    uint64_t hidden = (uint64_t)1 << f.mantissa, sign = (uint64_t)1 << (f.mantissa + f.exponent);
    if ((flags & FLAG_FTZ) && (r & (sign - 1)) < hidden) r &= sign;
    return r;
}

bool alu_compare_float(AluCompare how, double a, double b)
{
    bool unordered = a != a || b != b;
    switch (how) {
    case CMP_EQ: return a == b;
    case CMP_NE: return !unordered && a != b;
    case CMP_LT: return a < b;
    case CMP_LE: return a <= b;
    case CMP_GT: return a > b;
    case CMP_GE: return a >= b;
    case CMP_EQU: return unordered || a == b;
    case CMP_NEU: return unordered || a != b;
    case CMP_LTU: return unordered || a < b;
    case CMP_LEU: return unordered || a <= b;
    case CMP_GTU: return unordered || a > b;
    case CMP_GEU: return unordered || a >= b;
    case CMP_NUM: return !unordered;
    default: return unordered;
    }
}

/* ---- sums in double, rounded to odd ---- */
/* a and b are within f32's range, so nothing overflows. */
static double add_odd(double a, double b, int flags)
{
    double s = a + b;
    if (s == 0 && (flags & FLAG_ROUND) == FLAG_RM && signbit(a) != signbit(b)) return -0.0;
    if (!(fabs(s) < INFINITY)) return s;
    double big = fabs(a) < fabs(b) ? b : a, small = fabs(a) < fabs(b) ? a : b;
    double back = s - big, error = small - back;
    uint64_t bits = alu_f64_bits(s);
    if (error != 0 && !(bits & 1)) bits += (error > 0) == (s > 0) ? 1 : UINT64_MAX;
    return alu_f64(bits);
}

/* ---- the host's rounding ---- */
static int host_rounding(int flags)
{
    switch (flags & FLAG_ROUND) {
    case FLAG_RZ: return FE_TOWARDZERO;
    case FLAG_RM: return FE_DOWNWARD;
    case FLAG_RP: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

static double f64_in_mode(int code, double x, double y, double z, int flags)
{
    volatile double a = x, b = y, c = z, r = 0;
    int mode = host_rounding(flags);
    if (mode != FE_TONEAREST) fesetround(mode);
    switch (code) {
    case SIM_FADD: r = a + b; break;
    case SIM_FSUB: r = a - b; break;
    case SIM_FMUL: r = a * b; break;
    case SIM_FFMA: r = fma(a, b, c); break;
    case SIM_FDIV: r = a / b; break;
    case SIM_FRCP: r = 1 / a; break;
    default: r = sqrt(a); break;
    }
    if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
    return r;
}

static double f32_in_mode(int code, double x, double y, int flags)
{
    volatile float a = (float)x, b = (float)y, r;
    int mode = host_rounding(flags);
    if (mode != FE_TONEAREST) fesetround(mode);
    switch (code) {
    case SIM_FDIV: r = a / b; break;
    case SIM_FRCP: r = 1 / a; break;
    default: r = sqrtf(a); break;
    }
    if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
    return (double)r;
}

/* ---- one element ---- */
static double minmax(double a, double b, const SimOp *op)
{
    bool max = op->code == SIM_FMAX, flip = false;
    if (a != a || b != b) {
        if (op->flags & FLAG_NAN || (a != a && b != b)) return NAN;
    }
    if (op->n & 1) { /* .xorsign.abs */
        flip = signbit(a) != signbit(b);
        a = fabs(a);
        b = fabs(b);
    }
    double r;
    if (a != a) r = b;
    else if (b != b) r = a;
    else if (a == b) r = signbit(a) ? (max ? b : a) : (max ? a : b); /* +0 > -0 */
    else r = (a < b) == max ? b : a;
    return flip ? -r : r;
}

/* The result before it is rounded to the type. */
static double element(const SimOp *op, int type, double a, double b, double c)
{
    int flags = op->flags;
    bool wide = type == PTX_F64;
    switch (op->code) {
    case SIM_FADD: return wide ? f64_in_mode(SIM_FADD, a, b, 0, flags) : add_odd(a, b, flags);
    case SIM_FSUB: return wide ? f64_in_mode(SIM_FSUB, a, b, 0, flags) : add_odd(a, -b, flags);
    case SIM_FMUL: return wide ? f64_in_mode(SIM_FMUL, a, b, 0, flags) : a * b;
    case SIM_FFMA: return wide ? f64_in_mode(SIM_FFMA, a, b, c, flags) : add_odd(a * b, c, flags);
    case SIM_FDIV:
    case SIM_FRCP:
    case SIM_FSQRT: return wide ? f64_in_mode(op->code, a, b, 0, flags) : f32_in_mode(op->code, a, b, flags);
    case SIM_FRSQRT: return 1 / sqrt(a);
    case SIM_FSIN: return sin(a);
    case SIM_FCOS: return cos(a);
    case SIM_FLG2: return log2(a);
    case SIM_FEX2: return exp2(a);
    case SIM_FTANH: return tanh(a);
    default: return minmax(a, b, op);
    }
}

static bool testp(int type, uint64_t bits, int what)
{
    FloatFormat f = format_of(type);
    uint64_t sign = (uint64_t)1 << (f.mantissa + f.exponent), hidden = (uint64_t)1 << f.mantissa;
    uint64_t infinity = sign - hidden, x = bits & (sign - 1);
    switch (what) {
    case 0: return x < infinity;
    case 1: return x == infinity;
    case 2: return x <= infinity;
    case 3: return x > infinity;
    case 4: return x == 0 || (x >= hidden && x < infinity);
    default: return x != 0 && x < hidden;
    }
}

/* NaN: f64 stays as it is, others become the canonical one. */
static uint64_t sign_op(const SimOp *op, int type, uint64_t a, uint64_t b)
{
    FloatFormat f = format_of(type);
    uint64_t sign = (uint64_t)1 << (f.mantissa + f.exponent), hidden = (uint64_t)1 << f.mantissa;
    if ((op->flags & FLAG_FTZ) && (a & (sign - 1)) < hidden) a &= sign;
    uint64_t rest = a & (sign - 1);
    if (op->code != SIM_COPYSIGN && rest > sign - hidden) return type == PTX_F64 ? a : sign - 1;
    if (op->code == SIM_FABS) return rest;
    if (op->code == SIM_FNEG) return rest | (~a & sign);
    return (b & (sign - 1)) | (a & sign);
}

static uint64_t one(const SimOp *op, int type, uint64_t a, uint64_t b, uint64_t c)
{
    bool ftz = op->flags & FLAG_FTZ;
    if (op->code == SIM_FABS || op->code == SIM_FNEG || op->code == SIM_COPYSIGN) return sign_op(op, type, a, b);
    if (op->code == SIM_TESTP) return testp(type, a, op->n);
    int flags = op->flags;
    if (op->code == SIM_FMIN || op->code == SIM_FMAX) flags &= ~FLAG_NAN;
    return alu_store(type, element(op, type, alu_load(type, a, ftz), alu_load(type, b, ftz), alu_load(type, c, ftz)),
                     flags);
}

bool alu_float(const SimOp *op, uint64_t *slot)
{
    if (op->code < SIM_FADD || op->code > SIM_TESTP) return false;
    uint64_t a = slot[op->a], b = op->b == NO_SLOT ? 0 : slot[op->b], c = op->c == NO_SLOT ? 0 : slot[op->c];
    if (op->type == PTX_F16X2 || op->type == PTX_BF16X2) {
        int type = op->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
        uint64_t low = one(op, type, a & 0xffff, b & 0xffff, c & 0xffff);
        slot[op->d] = low | one(op, type, a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
    } else {
        uint64_t r = one(op, op->type, a, b, c);
        bool arithmetic = op->code <= SIM_FFMA || op->code == SIM_FMIN || op->code == SIM_FMAX;
        if (op->type == PTX_F64 && arithmetic && is_nan64(r)) r = alu_nan(a, b, op->code == SIM_FFMA ? c : b);
        slot[op->d] = r;
    }
    return true;
}
