/* Reductions of the copy engine and of atom / red on the bits of memory.
 *
 * f16 and bf16 are added in double: their sum has at most 41 bits for f16; for bf16 it is rounded twice, which is the
 * same as once, because double has more than 2 * 8 + 2 bits of precision (and sums that end up subnormal are exact). */
#include <math.h>
#include <string.h>

#include "runtime/sim/maps.h"

/* ---- 16-bit floats ---- */

typedef struct Small { /* a binary format of 16 bits */
    int mantissa;      /* explicit bits */
    int bias;
} Small;

#define F16 ((Small){10, 15}) /* constants where they are used, so that each format gets code of its own */
#define BF16 ((Small){7, 127})

enum { DOUBLE_MANTISSA = 52, DOUBLE_BIAS = 1023 };

static inline double power_of_two(int e) /* within double's normal range */
{
    uint64_t bits = (uint64_t)(e + DOUBLE_BIAS) << DOUBLE_MANTISSA;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline double widen(uint16_t h, Small f)
{
    uint64_t mantissa = h & ((1u << f.mantissa) - 1), exponent = (h & 0x7FFFu) >> f.mantissa;
    uint64_t top = 0x7FFFu >> f.mantissa, bits;
    double d;
    if (exponent == 0) {
        d = (double)mantissa * power_of_two(1 - f.bias - f.mantissa);
    } else {
        uint64_t e = exponent == top ? 2047 : exponent + (uint64_t)(DOUBLE_BIAS - f.bias);
        bits = e << DOUBLE_MANTISSA | mantissa << (DOUBLE_MANTISSA - f.mantissa);
        memcpy(&d, &bits, sizeof d);
    }
    return h & 0x8000 ? -d : d;
}

/* To nearest, ties to even. NaN: 0x7FFF, the canonical one of both formats (PTX ISA, Floating Point: NaN payloads). */
static inline uint16_t narrow(double d, Small f)
{
    if (isnan(d)) return 0x7FFF;
    uint16_t sign = signbit(d) ? 0x8000 : 0, inf = (uint16_t)((0x7FFFu >> f.mantissa) << f.mantissa);
    double a = fabs(d);
    int least = 1 - f.bias, shift = DOUBLE_MANTISSA - f.mantissa;
    if (a < power_of_two(least)) { /* one more may be the least normal number: the bits say that too */
        double units = rint(a * power_of_two(f.mantissa - least));
        return (uint16_t)(sign | (uint16_t)units);
    }
    if (isinf(a)) return sign | inf;
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits += (UINT64_C(1) << (shift - 1)) - 1 + (bits >> shift & 1);
    bits = (bits >> shift) - ((uint64_t)(DOUBLE_BIAS - f.bias) << f.mantissa);
    return (uint16_t)(sign | (bits >= inf ? inf : bits));
}

/* ---- loops: one per operation and type ---- */

#define EACH(T, expression)                                                                                            \
    for (size_t at = 0; at + sizeof(T) <= n; at += sizeof(T)) {                                                        \
        T d, s;                                                                                                        \
        memcpy(&d, dst + at, sizeof d);                                                                                \
        memcpy(&s, src + at, sizeof s);                                                                                \
        d = (T)(expression);                                                                                           \
        memcpy(dst + at, &d, sizeof d);                                                                                \
    }                                                                                                                  \
    return

static void reduce_order_unsigned(uint8_t *dst, const uint8_t *src, size_t n, bool max, bool wide)
{
    if (wide && max) {
        EACH(uint64_t, d > s ? d : s);
    } else if (wide) {
        EACH(uint64_t, d < s ? d : s);
    } else if (max) {
        EACH(uint32_t, d > s ? d : s);
    } else {
        EACH(uint32_t, d < s ? d : s);
    }
}

static void reduce_order_signed(uint8_t *dst, const uint8_t *src, size_t n, bool max, bool wide)
{
    if (wide && max) {
        EACH(int64_t, d > s ? d : s);
    } else if (wide) {
        EACH(int64_t, d < s ? d : s);
    } else if (max) {
        EACH(int32_t, d > s ? d : s);
    } else {
        EACH(int32_t, d < s ? d : s);
    }
}

/* PTX ISA, atom: inc and dec stay within [0 .. operand]. */
static void reduce_u32(uint8_t *dst, const uint8_t *src, size_t n, RedOp op)
{
    switch (op) {
    case RED_ADD: EACH(uint32_t, d + s);
    case RED_INC: EACH(uint32_t, d >= s ? 0 : d + 1);
    case RED_DEC: EACH(uint32_t, d == 0 || d > s ? s : d - 1);
    case RED_AND: EACH(uint32_t, d & s);
    case RED_OR: EACH(uint32_t, d | s);
    case RED_XOR: EACH(uint32_t, d ^ s);
    default: return;
    }
}

static void reduce_u64(uint8_t *dst, const uint8_t *src, size_t n, RedOp op)
{
    switch (op) {
    case RED_ADD: EACH(uint64_t, d + s);
    case RED_AND: EACH(uint64_t, d & s);
    case RED_OR: EACH(uint64_t, d | s);
    case RED_XOR: EACH(uint64_t, d ^ s);
    default: return;
    }
}

static inline uint16_t order_small(uint16_t x, uint16_t y, bool min, Small f)
{
    double a = widen(x, f), b = widen(y, f);
    if (isnan(a)) return isnan(b) ? 0x7FFF : y;
    if (isnan(b)) return x;
    bool below = a < b || (a == b && signbit(a) && !signbit(b));
    return below == min ? x : y;
}

static void reduce_small(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, bool brain)
{
    if (op == RED_ADD && brain) {
        EACH(uint16_t, narrow(widen(d, BF16) + widen(s, BF16), BF16));
    } else if (op == RED_ADD) {
        EACH(uint16_t, narrow(widen(d, F16) + widen(s, F16), F16));
    } else if (op == RED_MIN || op == RED_MAX) {
        EACH(uint16_t, brain ? order_small(d, s, op == RED_MIN, BF16) : order_small(d, s, op == RED_MIN, F16));
    }
}

static float flush(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static float canonical(float x) /* PTX ISA: NaN results of f32 are 0x7FFFFFFF */
{
    static const uint32_t nan_bits = 0x7FFFFFFF;
    if (isnan(x)) memcpy(&x, &nan_bits, sizeof x);
    return x;
}

static float order_f32(float a, float b, bool max)
{
    if (isnan(a)) return canonical(b);
    if (isnan(b)) return a;
    bool below = a < b || (a == b && signbit(a) && !signbit(b));
    return below != max ? a : b;
}

static double order_f64(double a, double b, bool max)
{
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    bool below = a < b || (a == b && signbit(a) && !signbit(b));
    return below != max ? a : b;
}

static void reduce_f32(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, bool ftz)
{
    if (op == RED_ADD && ftz) {
        EACH(float, canonical(flush(flush(d) + flush(s))));
    } else if (op == RED_ADD) {
        EACH(float, canonical(d + s));
    } else if (op == RED_MIN || op == RED_MAX) {
        EACH(float, order_f32(d, s, op == RED_MAX));
    }
}

/* A NaN stays as it is, the operand's first (measured). */
static double add_f64(double d, double s)
{
    return isnan(s) ? s : isnan(d) ? d : d + s;
}

static void reduce_f64(uint8_t *dst, const uint8_t *src, size_t n, RedOp op)
{
    if (op == RED_ADD) {
        EACH(double, add_f64(d, s));
    } else if (op == RED_MIN || op == RED_MAX) {
        EACH(double, order_f64(d, s, op == RED_MAX));
    }
}

static size_t type_bytes(PtxType type)
{
    switch (type) {
    case PTX_B16:
    case PTX_F16:
    case PTX_BF16: return 2;
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_F32: return 4;
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
    case PTX_F64: return 8;
    default: return 0;
    }
}

void sim_reduce_ftz(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, PtxType type, bool ftz)
{
    if (op == RED_EXCH) {
        memmove(dst, src, n);
        return;
    }
    bool order = op == RED_MIN || op == RED_MAX;
    switch (type) {
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
        if (!order) reduce_u32(dst, src, n, op);
        else if (type == PTX_S32) reduce_order_signed(dst, src, n, op == RED_MAX, false);
        else reduce_order_unsigned(dst, src, n, op == RED_MAX, false);
        break;
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
        if (!order) reduce_u64(dst, src, n, op);
        else if (type == PTX_S64) reduce_order_signed(dst, src, n, op == RED_MAX, true);
        else reduce_order_unsigned(dst, src, n, op == RED_MAX, true);
        break;
    case PTX_F16:
    case PTX_F16X2: reduce_small(dst, src, n, op, false); break;
    case PTX_BF16:
    case PTX_BF16X2: reduce_small(dst, src, n, op, true); break;
    case PTX_F32: reduce_f32(dst, src, n, op, ftz); break;
    case PTX_F64: reduce_f64(dst, src, n, op); break;
    default: break;
    }
}

void sim_reduce(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, PtxType type)
{
    sim_reduce_ftz(dst, src, n, op, type, false);
}

/* Slots hold the least significant byte first on every host that the simulator supports. */
uint64_t sim_atomic(uint8_t *at, RedOp op, PtxType type, uint64_t a, uint64_t b, bool ftz)
{
    uint64_t old = 0, compared = 0;
    size_t n = type_bytes(type);
    memcpy(&old, at, n);
    memcpy(&compared, &a, n);
    if (op != RED_CAS) sim_reduce_ftz(at, (const uint8_t *)&a, n, op, type, ftz);
    else if (old == compared) memcpy(at, &b, n);
    return old;
}

/* PTX ISA, cp.reduce.async.bulk.tensor: "the valid combinations of .redOp and element type". */
PtxType sim_reduce_type(int map_type, RedOp op)
{
    static const PtxType number[MAP_TYPE_COUNT] = {
        [MAP_U8] = PTX_NO_TYPE,
        [MAP_U16] = PTX_NO_TYPE,
        [MAP_U32] = PTX_U32,
        [MAP_S32] = PTX_S32,
        [MAP_U64] = PTX_U64,
        [MAP_S64] = PTX_S64,
        [MAP_F16] = PTX_F16,
        [MAP_F32] = PTX_F32,
        [MAP_F64] = PTX_F64, /* not in the ISA's table; works (measured) */
        [MAP_BF16] = PTX_BF16,
        [MAP_F32_FTZ] = PTX_F32,
        [MAP_TF32] = PTX_NO_TYPE,
        [MAP_TF32_FTZ] = PTX_NO_TYPE,
        [MAP_U4_ALIGN8] = PTX_NO_TYPE,
        [MAP_U4_ALIGN16] = PTX_NO_TYPE,
        [MAP_U6_ALIGN16] = PTX_NO_TYPE,
    };
    if (map_type < 0 || map_type >= MAP_TYPE_COUNT) return PTX_NO_TYPE;
    PtxType t = number[map_type];
    bool whole = t == PTX_U32 || t == PTX_S32 || t == PTX_U64 || t == PTX_S64;
    switch (op) {
    case RED_ADD: return t == PTX_S64 ? PTX_NO_TYPE : t;
    case RED_MIN:
    case RED_MAX: return t == PTX_F32 || t == PTX_F64 ? PTX_NO_TYPE : t;
    case RED_INC:
    case RED_DEC: return t == PTX_U32 ? t : PTX_NO_TYPE;
    case RED_AND:
    case RED_OR:
    case RED_XOR: return whole ? t : PTX_NO_TYPE;
    default: return PTX_NO_TYPE;
    }
}
