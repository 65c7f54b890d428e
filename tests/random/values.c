/* Elements of every type and random numbers. Floating-point values are integers that all types hold exactly. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

void *keep(Program *p, size_t bytes)
{
    struct Chunk *c = calloc(1, sizeof(max_align_t) + bytes);
    if (!c) abort();
    c->next = p->memory;
    p->memory = c;
    return (char *)c + sizeof(max_align_t);
}

const char *keep_text(Program *p, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0) abort();
    char *s = keep(p, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    return s;
}

void program_free(Program *p)
{
    while (p->memory) {
        struct Chunk *next = p->memory->next;
        free(p->memory);
        p->memory = next;
    }
    free(p);
}

uint64_t rng_bits(Rng *r) /* splitmix64 */
{
    uint64_t z = r->s += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int64_t rng_in(Rng *r, int64_t low, int64_t high)
{
    return high <= low ? low : low + (int64_t)(rng_bits(r) % (uint64_t)(high - low + 1));
}

bool rng_odds(Rng *r, int percent)
{
    return rng_in(r, 0, 99) < percent;
}

int type_size(tile_type t)
{
    return tile_type_bits(t) / 8;
}

bool type_float(tile_type t)
{
    return t >= TILE_F16;
}

bool type_signed(tile_type t)
{
    return t >= TILE_S8;
}

static void float_format(tile_type t, int *exponent, int *mantissa)
{
    switch ((int)t) {
    case TILE_F16: *exponent = 5, *mantissa = 10; return;
    case TILE_BF16: *exponent = 8, *mantissa = 7; return;
    case TILE_E4M3: *exponent = 4, *mantissa = 3; return;
    case TILE_E5M2: *exponent = 5, *mantissa = 2; return;
    case TILE_F64: *exponent = 11, *mantissa = 52; return;
    default: *exponent = 8, *mantissa = 23; return;
    }
}

static uint64_t load_bits(tile_type t, const void *from)
{
    uint64_t v = 0;
    memcpy(&v, from, (size_t)type_size(t));
    return v;
}

static void store_bits(tile_type t, void *to, uint64_t v)
{
    memcpy(to, &v, (size_t)type_size(t));
}

static double float_load(tile_type t, const void *from)
{
    int e, m;
    float_format(t, &e, &m);
    uint64_t bits = load_bits(t, from);
    uint64_t field = bits >> m & ((UINT64_C(1) << e) - 1), fraction = bits & ((UINT64_C(1) << m) - 1);
    double d = field ? ldexp((double)(fraction | UINT64_C(1) << m), (int)field - (1 << (e - 1)) + 1 - m) : 0.0;
    return bits >> (e + m) & 1 ? -d : d;
}

static void float_store(tile_type t, void *to, double d)
{
    int e, m, power;
    float_format(t, &e, &m);
    uint64_t bits = d < 0 ? UINT64_C(1) << (e + m) : 0;
    if (d != 0) {
        double f = frexp(fabs(d), &power); /* 0.5 <= f < 1 */
        bits |= (uint64_t)(power - 1 + (1 << (e - 1)) - 1) << m;
        bits |= (uint64_t)ldexp(f, m + 1) & ((UINT64_C(1) << m) - 1);
    }
    store_bits(t, to, bits);
}

static int64_t int_load(tile_type t, const void *from)
{
    uint64_t v = load_bits(t, from);
    int bits = tile_type_bits(t);
    if (type_signed(t) && bits < 64 && v >> (bits - 1) & 1) v |= UINT64_MAX << bits;
    return (int64_t)v;
}

void value_store(tile_type t, void *to, int64_t small)
{
    if (type_float(t)) float_store(t, to, (double)small);
    else store_bits(t, to, (uint64_t)small);
}

void value_convert(tile_type to, void *out, tile_type from, const void *in)
{
    if (type_float(from) && type_float(to)) float_store(to, out, float_load(from, in));
    else if (type_float(from)) store_bits(to, out, (uint64_t)(int64_t)float_load(from, in));
    else if (type_float(to)) float_store(to, out, (double)int_load(from, in));
    else store_bits(to, out, (uint64_t)int_load(from, in));
}

static uint64_t int_reduce(tile_type t, Reduce op, const void *a, const void *b)
{
    uint64_t x = load_bits(t, a), y = load_bits(t, b);
    bool less = type_signed(t) ? int_load(t, a) < int_load(t, b) : x < y;
    switch (op) {
    case R_ADD: return x + y;
    case R_MIN: return less ? x : y;
    case R_MAX: return less ? y : x;
    case R_AND: return x & y;
    case R_OR: return x | y;
    case R_XOR: return x ^ y;
    case R_INC: return x >= y ? 0 : x + 1;
    case R_DEC: return x == 0 || x > y ? y : x - 1;
    default: return y;
    }
}

void value_reduce(tile_type t, Reduce op, void *place, const void *value)
{
    if (op == R_NONE) {
        memcpy(place, value, (size_t)type_size(t));
    } else if (type_float(t)) {
        double a = float_load(t, place), b = float_load(t, value);
        float_store(t, place, op == R_ADD ? a + b : op == R_MIN ? fmin(a, b) : fmax(a, b));
    } else {
        store_bits(t, place, int_reduce(t, op, place, value));
    }
}

void tensor_fill(Program *p, Tensor *t, Rng *r)
{
    int64_t n = tensor_elements(p, t);
    int size = type_size(t->type);
    t->first = keep(p, (size_t)(n * size));
    for (int64_t i = 0; i < n; i++) {
        uint64_t v = rng_bits(r);
        if (t->type == TILE_TF32) v &= ~UINT64_C(0x801fff); /* loads round to what the type holds; no NaN, no infinity */
        if (t->small) value_store(t->type, t->first + i * size, (int64_t)(v % 9) * (type_signed(t->type) && v >> 32 & 1 ? -1 : 1));
        else memcpy(t->first + i * size, &v, (size_t)size);
    }
}

const char *const REDUCE_NAMES[] = {"", "add", "min", "max", "and", "or", "xor", "inc", "dec"};
