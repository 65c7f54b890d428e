#include "tilecc/run/contents.h"

#include <stdlib.h>
#include <string.h>

/* ---- the word ---- */

static bool number(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;
    uint64_t x = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (x > (UINT64_MAX - 9) / 10) return false;
        x = x * 10 + (uint64_t)(*p - '0');
    }
    bool any = p > *at;
    *out = x;
    *at = p;
    return any;
}

static bool is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(word, name, n) == 0;
}

bool contents_parse(const char *word, size_t n, Contents *out)
{
    const char *p = word, *end = word + n;
    *out = (Contents){.kind = CONTENTS_RANDOM};
    if (is(word, n, "zeros")) return out->kind = CONTENTS_ZEROS, true;
    if (is(word, n, "iota")) return out->kind = CONTENTS_IOTA, true;
    if (n >= 4 && memcmp(word, "perm", 4) == 0) {
        out->kind = CONTENTS_PERM;
        p += 4;
        return p == end || (number(&p, end, &out->seed) && p == end);
    }
    if (!number(&p, end, &out->seed)) return false;
    if (p == end) return true;
    out->kind = CONTENTS_BELOW;
    return *p++ == '%' && number(&p, end, &out->below) && p == end && out->below > 0;
}

/* ---- numbers ---- */

typedef struct Format { /* of floating-point types */
    int exponent, mantissa;
} Format;

static Format format_of(tile_type t)
{
    switch (t) {
    case TILE_F16: return (Format){5, 10};
    case TILE_BF16: return (Format){8, 7};
    case TILE_F32: return (Format){8, 23};
    case TILE_TF32: return (Format){8, 10}; /* in the upper bits of 32 */
    case TILE_F64: return (Format){11, 52};
    case TILE_E4M3: return (Format){4, 3};
    case TILE_E5M2: return (Format){5, 2};
    default: return (Format){0, 0};
    }
}

/* splitmix64 (Steele, Lea, Flood 2014): public domain constants. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 0 .. n - 1, each equally often. */
static uint64_t draw_below(uint64_t *state, uint64_t n)
{
    uint64_t least = (0 - n) % n, x = draw(state); /* 2^64 mod n numbers too many */
    while (x < least) x = draw(state);
    return x % n;
}

/* The bits of the whole number x in the type: of so many as it counts exactly. */
static uint64_t whole(tile_type t, uint64_t x)
{
    Format f = format_of(t);
    if (f.mantissa == 0) return x;
    x &= (UINT64_C(2) << f.mantissa) - 1;
    int unused = t == TILE_TF32 ? 13 : 0, top = 0;
    if (x == 0) return 0;
    while (x >> top > 1) top++;
    uint64_t bias = (UINT64_C(1) << (f.exponent - 1)) - 1, fraction = (x << (f.mantissa - top)) & ((UINT64_C(1) << f.mantissa) - 1);
    return (((bias + (uint64_t)top) << f.mantissa) | fraction) << unused;
}

/* Neither infinite nor NaN: the largest exponent is halved. e4m3 has no infinity and one NaN, all ones. */
static uint64_t finite_bits(tile_type t, uint64_t bits)
{
    Format f = format_of(t);
    if (f.mantissa == 0) return bits;
    int low = t == TILE_TF32 ? 13 : 0;
    uint64_t ones = (UINT64_C(1) << f.exponent) - 1, top = UINT64_C(1) << (f.exponent - 1);
    bits &= ~((UINT64_C(1) << low) - 1);
    if ((bits >> (f.mantissa + low) & ones) == ones) bits &= ~(top << (f.mantissa + low));
    return bits;
}

static void put(unsigned char *to, size_t i, size_t size, uint64_t bits)
{
    for (size_t b = 0; b < size; b++) to[i * size + b] = (unsigned char)(bits >> (8 * b));
}

static void fill_perm(uint64_t seed, tile_type t, unsigned char *to, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++) put(to, i, size, whole(t, i));
    for (size_t i = n; i > 1; i--) { /* Fisher and Yates */
        size_t j = (size_t)draw_below(&seed, i);
        unsigned char swap[8];
        memcpy(swap, to + (i - 1) * size, size);
        memmove(to + (i - 1) * size, to + j * size, size);
        memcpy(to + j * size, swap, size);
    }
}

void contents_fill(const Contents *c, tile_type t, void *to, size_t n, size_t bytes)
{
    uint64_t state = c->seed;
    int bits = tile_type_bits(t);
    size_t size = (size_t)bits / 8;
    unsigned char *p = to;
    if (bits % 8 || c->kind == CONTENTS_ZEROS) { /* packed: bytes of several elements */
        for (size_t i = 0; i < bytes; i++) p[i] = c->kind == CONTENTS_ZEROS ? 0 : (unsigned char)draw(&state);
        return;
    }
    if (c->kind == CONTENTS_PERM) {
        fill_perm(c->seed, t, p, n, size);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t x = c->kind == CONTENTS_IOTA    ? whole(t, i)
                     : c->kind == CONTENTS_BELOW ? whole(t, draw_below(&state, c->below))
                                                 : finite_bits(t, draw(&state));
        put(p, i, size, x);
    }
}
