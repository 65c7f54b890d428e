/* What conversions and sums must give, from the definitions: IEEE 754, the OCP specification of 8-bit floats, and the
 * PTX ISA where those leave a choice. A finite value is held exactly in a long double; nothing here looks at tilecc.
 */
#ifndef TESTS_UNIT_THREADS_VALUES_H
#define TESTS_UNIT_THREADS_VALUES_H

#include <float.h>
#include <math.h>

#include "lang/lang.h"

_Static_assert(LDBL_MANT_DIG >= 64, "a long double holds every 64-bit integer");

typedef struct ValueType {
    const char *name, *npy;
    int bits;
    char kind; /* u s f: unsigned, signed, float */
} ValueType;
static const ValueType VALUE_TYPES[] = {
    [TYPE_U8] = {"u8", "u1", 8, 'u'},      [TYPE_U16] = {"u16", "u2", 16, 'u'},   [TYPE_U32] = {"u32", "u4", 32, 'u'},
    [TYPE_U64] = {"u64", "u8", 64, 'u'},   [TYPE_S8] = {"s8", "i1", 8, 's'},      [TYPE_S16] = {"s16", "i2", 16, 's'},
    [TYPE_S32] = {"s32", "i4", 32, 's'},   [TYPE_S64] = {"s64", "i8", 64, 's'},   [TYPE_F16] = {"f16", "f2", 16, 'f'},
    [TYPE_BF16] = {"bf16", "u2", 16, 'f'}, [TYPE_F32] = {"f32", "f4", 32, 'f'},   [TYPE_TF32] = {"tf32", "f4", 32, 'f'},
    [TYPE_F64] = {"f64", "f8", 64, 'f'},   [TYPE_E4M3] = {"e4m3", "u1", 8, 'f'},  [TYPE_E5M2] = {"e5m2", "u1", 8, 'f'},
};

typedef struct Format {
    int mantissa, emin, emax; /* bits behind the point; exponents of the smallest and largest normal numbers */
    int shift;                /* zero bits behind the mantissa */
    int bits;
    bool ieee; /* has infinities: the largest exponent is theirs */
    long double largest;
} Format;

static inline Format format_of(int type)
{
    switch (type) {
    case TYPE_F16: return (Format){10, -14, 15, 0, 16, true, 65504.0L};
    case TYPE_BF16: return (Format){7, -126, 127, 0, 16, true, 0x1.FEp127L};
    case TYPE_F32: return (Format){23, -126, 127, 0, 32, true, 0x1.FFFFFEp127L};
    case TYPE_TF32: return (Format){10, -126, 127, 13, 32, true, 0x1.FFCp127L};
    case TYPE_E4M3: return (Format){3, -6, 8, 0, 8, false, 448.0L};
    case TYPE_E5M2: return (Format){2, -14, 15, 0, 8, true, 57344.0L};
    default: return (Format){52, -1022, 1023, 0, 64, true, 0x1.FFFFFFFFFFFFFp1023L};
    }
}

static inline bool is_real(int type)
{
    return VALUE_TYPES[type].kind == 'f';
}

static inline uint64_t low_bits(int n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* The value of an element; a tf32 is read like the f32 whose bits it has. */
static inline long double value_of(int type, uint64_t bits)
{
    if (!is_real(type)) {
        int n = VALUE_TYPES[type].bits;
        if (VALUE_TYPES[type].kind == 'u' || !(bits >> (n - 1) & 1)) return (long double)bits;
        return -(long double)((~bits & low_bits(n)) + 1);
    }
    Format f = format_of(type == TYPE_TF32 ? TYPE_F32 : type);
    uint64_t m = bits & low_bits(f.mantissa), e = bits >> f.mantissa & low_bits(f.bits - 1 - f.mantissa);
    uint64_t top = low_bits(f.bits - 1 - f.mantissa);
    long double v;
    if (f.ieee && e == top) v = m ? (long double)NAN : (long double)INFINITY;
    else if (!f.ieee && e == top && m == low_bits(f.mantissa)) v = (long double)NAN;
    else if (e == 0) v = ldexpl((long double)m, f.emin - f.mantissa);
    else v = ldexpl((long double)(m | UINT64_C(1) << f.mantissa), (int)e - 1 + f.emin - f.mantissa);
    return bits >> (f.bits - 1) & 1 ? -v : v;
}

/* Bits of a value that the format has. */
static inline uint64_t exact_bits(Format f, long double v)
{
    uint64_t sign = signbit(v) ? UINT64_C(1) << (f.bits - 1) : 0;
    int point = f.mantissa + f.shift, e;
    v = fabsl(v);
    if (isinf(v)) return sign | (low_bits(f.bits - 1 - point) << point);
    frexpl(v, &e);
    e = v == 0 || e - 1 < f.emin ? f.emin : e - 1;
    uint64_t m = (uint64_t)ldexpl(v, f.mantissa - e);
    uint64_t biased = m >> f.mantissa ? (uint64_t)(e - f.emin + 1) : 0;
    return sign | (biased << f.mantissa | (m & low_bits(f.mantissa))) << f.shift;
}

/* To the nearest number of the format, ties to the even one; beyond the largest: infinity, or the largest. */
static inline uint64_t rounded(int type, long double v, bool sat)
{
    Format f = format_of(type);
    int e;
    if (isfinite(v) && v != 0) {
        frexpl(v, &e);
        int unit = (e - 1 < f.emin ? f.emin : e - 1) - f.mantissa;
        long double r = rintl(ldexpl(fabsl(v), -unit));
        v = copysignl(ldexpl(r, unit), v);
    }
    if (fabsl(v) > f.largest) v = copysignl(sat ? f.largest : (long double)INFINITY, v);
    return exact_bits(f, v);
}

static inline uint64_t clamped(int type, long double v)
{
    int n = VALUE_TYPES[type].bits;
    bool sign = VALUE_TYPES[type].kind == 's';
    long double least = sign ? -ldexpl(1, n - 1) : 0, most = ldexpl(1, sign ? n - 1 : n) - 1;
    if (v < least) v = least;
    if (v > most) v = most;
    return (v < 0 ? 0 - (uint64_t)-v : (uint64_t)v) & low_bits(n);
}

/* The element that a conversion gives. *nan: any NaN will do. */
static inline uint64_t converted(int from, int to, bool sat, uint64_t bits, bool *nan)
{
    long double v = value_of(from, bits);
    int n = VALUE_TYPES[to].bits;
    *nan = false;
    if (is_real(to)) {
        bool small = n == 8; /* PTX has them with .satfinite alone */
        if (is_real(from) && format_of(from).largest <= format_of(to).largest) sat = false; /* SPEC: infinities stay */
        *nan = isnan(v);
        return *nan ? 0 : rounded(to, v, sat || small);
    }
    if (!is_real(from)) return sat ? clamped(to, v) : (v < 0 ? 0 - (uint64_t)-v : (uint64_t)v) & low_bits(n);
    /* PTX ISA, cvt: NaN gives 0, or the integer with the topmost bit alone where either type has 64 bits. */
    if (isnan(v)) return from == TYPE_F64 || n == 64 ? UINT64_C(1) << (n - 1) : 0;
    return clamped(to, truncl(v));
}

/* a + b in a type. f32 and f64 by the machine's own arithmetic, which is IEEE 754's; of 16 bits: a sum in f64 (f16) or
 * f32 (bf16) has more than twice the digits, so that rounding it again is harmless. */
static inline uint64_t sum_of(int type, uint64_t a, uint64_t b, bool *nan)
{
    *nan = false;
    if (!is_real(type)) return (a + b) & low_bits(VALUE_TYPES[type].bits);
    volatile double x = (double)value_of(type, a), y = (double)value_of(type, b);
    volatile float s = (float)x, t = (float)y;
    volatile float single = s + t;
    volatile double twice = x + y;
    long double v = type == TYPE_F64 || type == TYPE_F16 ? (long double)twice : (long double)single;
    *nan = isnan(v);
    return *nan ? 0 : rounded(type, v, false);
}

static inline bool is_nan(int type, uint64_t bits)
{
    return is_real(type) && isnan(value_of(type, bits));
}

#endif
