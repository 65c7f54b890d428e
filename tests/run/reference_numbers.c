/* References of single numbers: conversions and quotients at the ends of their ranges.
 *
 *   reference edges TYPE SHAPE SEED OUT.npy           half of them values where rounding, saturation and signs go wrong
 *                                                     (ends of ranges, near powers of two, halves, infinities, NaN),
 *                                                     half of them random bits
 *   reference converted FROM TO IN.npy OUT.npy SAT    OUT[..] = IN[..] in another type, as tests/unit/threads_values.h
 *                                                     defines it; any NaN is a NaN
 *   reference quotients A.npy B.npy D SIZE OUT.npy    golden/scalars/ceil.tile: rows 2 i + 1 and 2 i of OUT are made of
 *                                                     elements 2 i and 2 i + 1; what is divided by 0 may be anything
 * TYPE, FROM and TO are names of .tile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "tests/unit/threads_values.h"

static int type_named(const char *name)
{
    for (int t = 0; t < (int)(sizeof VALUE_TYPES / sizeof *VALUE_TYPES); t++)
        if (strcmp(VALUE_TYPES[t].name, name) == 0) return t;
    fail("no such type", name);
}

static uint64_t bits_at(const Array *a, size_t i)
{
    uint64_t x = 0;
    memcpy(&x, a->data + i * (size_t)a->size, (size_t)a->size);
    return x;
}

static long double edge_number(uint64_t *seed)
{
    static const long double odd[] = {0, 0.25L, 0.5L, 0.75L, 1, 1.5L, 2.5L, 3.5L, 127.5L, 255.5L, 448, 464, 65504, 65519, 65520};
    static const long double off[] = {0, 1, -1, 0.5L, -0.5L, 0x1p-20L, -0x1p-20L};
    uint64_t x = random_bits(seed);
    long double v = x % 3 ? ldexpl(1, (int)(x >> 8) % 66) + off[(x >> 40) % 7] : odd[(x >> 8) % 15];
    return x >> 63 ? -v : v;
}

static uint64_t edge_of(int type, uint64_t *seed)
{
    int n = VALUE_TYPES[type].bits;
    uint64_t x = random_bits(seed), sign = x >> 63 ? UINT64_C(1) << (n - 1) : 0;
    if (!is_real(type)) {
        static const uint64_t near[] = {0, 1, 2, 3, 7, 8};
        uint64_t k = near[x % 6], from = (x >> 8) % 3 == 0 ? 0 : (x >> 8) % 3 == 1 ? UINT64_C(1) << (n - 1) : UINT64_C(1) << (x >> 16) % (uint64_t)n;
        return (x >> 40 & 1 ? from + k : from - k) & low_bits(n);
    }
    Format f = format_of(type);
    switch (x % 8) {
    case 0: return sign | exact_bits(f, ldexpl(1, f.emin - f.mantissa)); /* the smallest */
    case 1: return sign | exact_bits(f, ldexpl(1, f.emin));
    case 2: return sign | exact_bits(f, f.largest);
    case 3: return sign | (f.ieee ? exact_bits(f, (long double)INFINITY) : UINT64_C(0x7f));
    case 4: return sign | (low_bits(f.bits - 1) & ~low_bits(f.mantissa + f.shift - 1)); /* NaN */
    default: return rounded(type, edge_number(seed), true);
    }
}

int edges(char **v)
{
    int type = type_named(v[0]), n = VALUE_TYPES[type].bits;
    Array a = new_array(VALUE_TYPES[type].npy, v[1], v[3]);
    uint64_t seed = strtoull(v[2], NULL, 0), of_type = low_bits(n) & ~(is_real(type) ? low_bits(format_of(type).shift) : 0);
    for (size_t i = 0; i < a.count; i++) {
        uint64_t x = i % 2 ? random_bits(&seed) & of_type : edge_of(type, &seed);
        memcpy(a.data + i * (size_t)a.size, &x, (size_t)a.size);
    }
    save(&a, v[3]);
    return 0;
}

int converted_all(char **v)
{
    int from = type_named(v[0]), to = type_named(v[1]);
    Array in = load(v[2]), out = load(v[3]);
    if (in.count != out.count || in.size * 8 != VALUE_TYPES[from].bits || out.size * 8 != VALUE_TYPES[to].bits) fail("shapes", v[3]);
    for (size_t i = 0; i < out.count; i++) {
        bool nan;
        uint64_t x = bits_at(&in, i), want = converted(from, to, v[4][0] == '1', x, &nan);
        if (nan && is_nan(to, bits_at(&out, i))) continue;
        unsigned char bytes[8];
        memcpy(bytes, &want, 8);
        if (!differ(&out, i, bytes)) continue;
        printf("%s %llx to %s\n", v[0], (unsigned long long)x, v[1]);
        return 1;
    }
    return 0;
}

__extension__ typedef __int128 Wide;

/* 64 bits of the quotient rounded down; b is not 0. */
static Wide floor_of(Wide a, Wide b)
{
    Wide q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t wrapped(Wide x)
{
    uint64_t low = (uint64_t)x;
    int64_t r;
    memcpy(&r, &low, 8);
    return r;
}

static int64_t rest_of(int64_t a, int64_t b)
{
    return wrapped((Wide)a - floor_of(a, b) * b);
}

static int64_t ceil_of(int64_t a, int64_t b)
{
    return wrapped(-floor_of(-(Wide)a, b));
}

enum { COLUMNS = 11 };

/* What a row has; known: which of them are numbers. */
static void row_of(int64_t x, int64_t k, int64_t d, int64_t size, int64_t want[COLUMNS], bool known[COLUMNS])
{
    for (int c = 0; c < COLUMNS; c++) known[c] = c >= 4 || k != 0;
    if (k) {
        want[0] = wrapped(floor_of(x, k));
        want[1] = rest_of(x, k);
        want[2] = ceil_of(x, k);
        if ((known[3] = want[2] != 0)) want[3] = rest_of(x, want[2]);
    }
    want[4] = ceil_of(x, d);
    want[5] = ceil_of(x, size);
    want[6] = ceil_of(x, 3);
    want[7] = ceil_of(x, -3);
    want[8] = ceil_of(x, 8);
    if ((known[9] = ceil_of(x, -8) != 0)) want[9] = rest_of(x, ceil_of(x, -8));
    want[10] = rest_of(x, d);
}

int quotients(char **v)
{
    Array a = load(v[0]), b = load(v[1]), out = load(v[4]);
    int64_t d = strtoll(v[2], NULL, 0), size = strtoll(v[3], NULL, 0);
    if (a.count != b.count || out.count != 2 * COLUMNS * a.count) fail("shapes", v[4]);
    for (size_t i = 0; i < out.count; i++) {
        int64_t want[COLUMNS] = {0};
        bool known[COLUMNS];
        size_t row = i / (2 * COLUMNS) ^ 1, c = i / 2 % COLUMNS;
        row_of(integer(&a, row), integer(&b, row), d, size, want, known);
        unsigned char bytes[8];
        memcpy(bytes, &want[c], 8);
        if (!known[c] || !differ(&out, i, bytes)) continue;
        printf("of %lld and %lld\n", (long long)integer(&a, row), (long long)integer(&b, row));
        return 1;
    }
    return 0;
}
