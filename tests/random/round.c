/* Conversions between all number types, from the exact value: lang/SPEC.md, Conversions by threads. */
#include <string.h>

#include "program.h"

typedef struct Exact { /* magnitude * 2^power, or no number */
    bool negative, nan, infinite;
    uint64_t magnitude;
    int power;
} Exact;

typedef struct Format {
    int exponent, mantissa, low; /* bits; low: unused bits below */
    bool infinities;             /* else the largest exponent has numbers, and a NaN with all bits set */
} Format;

static Format format_of(tile_type t)
{
    switch ((int)t) {
    case TILE_F16: return (Format){5, 10, 0, true};
    case TILE_BF16: return (Format){8, 7, 0, true};
    case TILE_TF32: return (Format){8, 10, 13, true};
    case TILE_E4M3: return (Format){4, 3, 0, false};
    case TILE_E5M2: return (Format){5, 2, 0, true};
    case TILE_F64: return (Format){11, 52, 0, true};
    default: return (Format){8, 23, 0, true};
    }
}

static uint64_t bits_of(tile_type t, const void *from)
{
    uint64_t v = 0;
    memcpy(&v, from, (size_t)type_size(t));
    return v;
}

static Exact exact_of(tile_type t, const void *from)
{
    uint64_t v = bits_of(t, from);
    int bits = tile_type_bits(t);
    if (!type_float(t)) {
        bool negative = type_signed(t) && v >> (bits - 1) & 1;
        uint64_t all = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        return (Exact){.negative = negative, .magnitude = negative ? (~v + 1) & all : v};
    }
    Format f = format_of(t == TILE_TF32 ? TILE_F32 : t); /* a tf32 is read as the f32 that its bits are */
    uint64_t field = v >> f.mantissa & ((UINT64_C(1) << f.exponent) - 1), fraction = v & ((UINT64_C(1) << f.mantissa) - 1);
    Exact x = {.negative = v >> (f.exponent + f.mantissa) & 1};
    bool top = field == (UINT64_C(1) << f.exponent) - 1;
    x.nan = top && (f.infinities ? fraction != 0 : fraction == (UINT64_C(1) << f.mantissa) - 1);
    x.infinite = top && f.infinities && fraction == 0;
    x.magnitude = field ? fraction | UINT64_C(1) << f.mantissa : fraction;
    x.power = (field ? (int)field : 1) - ((1 << (f.exponent - 1)) - 1) - f.mantissa;
    return x;
}

static uint64_t to_int(tile_type from, tile_type to, const Exact *x, bool sat)
{
    int bits = tile_type_bits(to);
    bool has_sign = type_signed(to);
    uint64_t most = has_sign ? (UINT64_C(1) << (bits - 1)) - 1 : bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX,
             least = has_sign ? most + 1 : 0, m = x->magnitude; /* least: its magnitude */
    bool clamp = sat || type_float(from), over = x->infinite;
    if (x->nan) return bits == 64 || from == TILE_F64 ? UINT64_C(1) << (bits - 1) : 0;
    if (x->power < 0) m = x->power <= -64 ? 0 : m >> -x->power;
    else if (m && (x->power >= 64 || m << x->power >> x->power != m)) over = true;
    else m = m ? m << x->power : 0;
    if (clamp && x->negative && (over || m > least)) m = least;
    else if (clamp && !x->negative && (over || m > most)) m = most;
    return x->negative ? ~m + 1 : m;
}

static uint64_t to_float(tile_type from, tile_type to, Exact x, bool sat)
{
    Format f = format_of(to);
    bool small = to == TILE_E4M3 || to == TILE_E5M2;
    int bias = (1 << (f.exponent - 1)) - 1, least = 1 - bias - f.mantissa; /* the power of a subnormal's last bit */
    uint64_t top = (UINT64_C(1) << f.exponent) - 1, ones = (UINT64_C(1) << f.mantissa) - 1;
    uint64_t infinity = top << f.mantissa, largest = f.infinities ? infinity - 1 : infinity | (ones - 1);
    uint64_t sign = (uint64_t)x.negative << (f.exponent + f.mantissa), v;
    if (x.nan) return (infinity | ones) << f.low;
    if (x.infinite) {
        Format g = format_of(from);
        bool further = g.exponent > f.exponent || (g.exponent == f.exponent && g.mantissa > f.mantissa);
        return (sign | (small || (sat && further) ? largest : infinity)) << f.low;
    }
    if (!x.magnitude) return sign << f.low;
    while (!(x.magnitude >> 63)) x.magnitude <<= 1, x.power--;
    int last = x.power + 63 - f.mantissa; /* power of the last bit that is kept */
    if (last < least) last = least;
    int drop = last - x.power;
    uint64_t kept = drop > 63 ? 0 : x.magnitude >> drop, rest = drop > 64 ? 1 : drop == 64 ? x.magnitude : x.magnitude << (64 - drop);
    uint64_t half = UINT64_C(1) << 63;
    if (drop <= 64 && (rest > half || (rest == half && kept & 1))) kept++;
    if (kept >> (f.mantissa + 1)) kept >>= 1, last++;
    if (kept >> f.mantissa) v = (uint64_t)(last - least + 1) << f.mantissa | (kept & ones);
    else v = kept;
    if (last - least + 1 > (int)top || v > largest) v = small || sat ? largest : infinity;
    return (sign | v) << f.low;
}

void value_round(tile_type to, void *out, tile_type from, const void *in, bool sat)
{
    Exact x = exact_of(from, in);
    uint64_t v = type_float(to) ? to_float(from, to, x, sat) : to_int(from, to, &x, sat);
    memcpy(out, &v, (size_t)type_size(to));
}

bool value_nan(tile_type t, const void *in)
{
    return type_float(t) && exact_of(t, in).nan;
}
