/* Reductions of the copy engine and of atom / red on the bits of memory.
 *
 * f16 and bf16 are added in float and rounded twice, which is the same as once: float has at least 2 * p + 2 bits of
 * precision for their p = 11 and 8 (and sums that end up subnormal are exact). */
#include <math.h>
#include <string.h>

#include "lang/lang.h"
#include "runtime/sim/copies/maps.h"

/* ---- 16-bit floats: without branches, so that loops become vector code ---- */

static inline uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t mask_of(bool b)
{
    return (uint32_t)0 - (uint32_t)b;
}

static inline uint32_t pick(bool first, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & mask_of(first));
}

/* The mantissa's and the exponent's bits, moved to float's place, count 2^-112 times too little: subnormals too. */
static inline float widen_f16(uint16_t h)
{
    uint32_t bits = bits_of(float_of((h & 0x7FFFu) << 13) * 0x1p112f);
    bits |= mask_of((h & 0x7C00u) == 0x7C00u) & 0x7F800000u;
    return float_of(bits | (h & 0x8000u) << 16);
}

static inline float widen_bf16(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

/* To nearest, ties to even. NaN: 0x7FFF, the canonical one of both formats (PTX ISA, Floating Point: NaN payloads).
 * Subnormals: their unit is that of 0.5 in float. */
static inline uint16_t narrow_f16(float f)
{
    uint32_t bits = bits_of(f), a = bits & 0x7FFFFFFFu, sign = bits >> 16 & 0x8000u;
    uint32_t normal = (a + 0xFFFu + (a >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t small = bits_of(float_of(a) + 0.5f) - 0x3F000000u;
    uint32_t r = pick(a < 0x38800000u, small, pick(a < 0x47800000u, normal, 0x7C00u));
    return (uint16_t)pick(a > 0x7F800000u, 0x7FFFu, r | sign);
}

static inline uint16_t narrow_bf16(float f)
{
    uint32_t bits = bits_of(f), r = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)pick((bits & 0x7FFFFFFFu) > 0x7F800000u, 0x7FFFu, r);
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

static inline uint16_t order_small(uint16_t x, uint16_t y, bool min, bool brain)
{
    float a = brain ? widen_bf16(x) : widen_f16(x), b = brain ? widen_bf16(y) : widen_f16(y);
    if (isnan(a)) return isnan(b) ? 0x7FFF : y;
    if (isnan(b)) return x;
    bool below = a < b || (a == b && signbit(a) && !signbit(b));
    return below == min ? x : y;
}

enum { BLOCK = 8 }; /* elements whose sums are computed at once */

static void add_block_f16(uint8_t *dst, const uint8_t *src, size_t n)
{
    uint16_t d[BLOCK] = {0}, s[BLOCK] = {0};
    memcpy(d, dst, n);
    memcpy(s, src, n);
    for (int i = 0; i < BLOCK; i++) d[i] = narrow_f16(widen_f16(d[i]) + widen_f16(s[i]));
    memcpy(dst, d, n);
}

static void add_block_bf16(uint8_t *dst, const uint8_t *src, size_t n)
{
    uint16_t d[BLOCK] = {0}, s[BLOCK] = {0};
    memcpy(d, dst, n);
    memcpy(s, src, n);
    for (int i = 0; i < BLOCK; i++) d[i] = narrow_bf16(widen_bf16(d[i]) + widen_bf16(s[i]));
    memcpy(dst, d, n);
}

static void reduce_small(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, bool brain)
{
    enum { BYTES = BLOCK * sizeof(uint16_t) };
    if (op == RED_MIN || op == RED_MAX) {
        EACH(uint16_t, order_small(d, s, op == RED_MIN, brain));
    }
    for (; op == RED_ADD && n; dst += BYTES, src += BYTES, n -= n < BYTES ? n : BYTES) {
        size_t part = n < BYTES ? n : BYTES;
        if (brain) add_block_bf16(dst, src, part);
        else add_block_f16(dst, src, part);
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

void sim_reduce(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, PtxType type, bool ftz)
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

/* Slots hold the least significant byte first on every host that the simulator supports. */
uint64_t sim_atomic(uint8_t *at, RedOp op, PtxType type, uint64_t a, uint64_t b, bool ftz)
{
    uint64_t old = 0, compared = 0;
    size_t n = (size_t)ptx_type_bytes(type);
    if (n > sizeof old) return 0;
    memcpy(&old, at, n);
    memcpy(&compared, &a, n);
    if (op != RED_CAS) sim_reduce(at, (const uint8_t *)&a, n, op, type, ftz);
    else if (old == compared) memcpy(at, &b, n);
    return old;
}

/* Which operation goes with which type of map is a row of lang/reductions.def, in the order of RedOp. */
PtxType sim_reduce_type(int map_type, RedOp op)
{
    static const PtxType number[MAP_TYPE_COUNT] = {
        [MAP_U32] = PTX_U32, [MAP_S32] = PTX_S32, [MAP_U64] = PTX_U64,   [MAP_S64] = PTX_S64,     [MAP_F16] = PTX_F16,
        [MAP_F32] = PTX_F32, [MAP_F64] = PTX_F64, [MAP_BF16] = PTX_BF16, [MAP_F32_FTZ] = PTX_F32,
    };
    size_t n;
    const char *const *words = word_list(WORDS_REDUCE, &n);
    return (size_t)op < n && reduction_of_map(words[op], map_type) ? number[map_type] : PTX_NO_TYPE;
}
