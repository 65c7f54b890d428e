/* References of what calculates. Of whole numbers every order of the additions gives the same bits; a sum of other floats may
 * differ from the exact one by a rounding per addition.
 *
 *   reference small TYPE SHAPE LIMIT SEED OUT.npy     whole numbers from -LIMIT to LIMIT (from 0 for unsigned types)
 *   reference floats TYPE SHAPE SEED OUT.npy          numbers between -2 and 2 with all their digits
 *   reference sum PARTS.npy BEFORE.npy OUT.npy        f32: OUT[..] = BEFORE[..] + the sum of PARTS[s, ..] over s
 *   reference scatter_add IN.npy INDEX.npy BEFORE.npy OUT.npy
 *             f32: OUT[v, ..] = BEFORE[v, ..] + the sum of all IN[r, ..] with INDEX[r] == v; IN is f32, or bf16 (u2)
 *   reference scattered OP TYPE IN.npy INDEX.npy BEFORE.npy OUT.npy
 *             the same by any operation of `reduction`, on rows and sums of one type
 *   reference convert FROM TO IN.npy OUT.npy SAT      OUT[..] = IN[..] in another type, clamped if SAT is 1; a NaN gives
 *             a NaN; results that TO can't hold exactly are no tests
 *   reference reduction OP TYPE PARTS.npy BEFORE.npy OUT.npy
 *             OUT[..] = BEFORE[..] combined with all PARTS[s, ..] in order by min, max, and, or, xor, add (of integers modulo
 *             2^bits), inc (0 from the operand on, else one more), dec (the operand from 0 and from beyond it, else one less)
 * TYPE, FROM and TO are names of .tile: u8 s32 f16 bf16 ..
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

typedef struct Type {
    const char *name, *npy;
    int bits;
    char kind; /* u s f b h: unsigned, signed, float, bf16, f16 */
} Type;

static const Type TYPES[] = {{"u8", "u1", 8, 'u'},   {"u16", "u2", 16, 'u'}, {"u32", "u4", 32, 'u'}, {"s8", "i1", 8, 's'},
                             {"s16", "i2", 16, 's'}, {"s32", "i4", 32, 's'}, {"f32", "f4", 32, 'f'}, {"f64", "f8", 64, 'f'},
                             {"bf16", "u2", 16, 'b'}, {"f16", "f2", 16, 'h'}, {"u64", "u8", 64, 'u'}, {"s64", "i8", 64, 's'}};

static const Type *type_of(const char *name)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].name, name) == 0) return &TYPES[i];
    fail("no such type", name);
}

static double get(const Type *t, const Array *a, size_t i)
{
    const unsigned char *p = a->data + i * (size_t)a->size;
    uint32_t bits = 0;
    float f;
    double d;
    if (a->size * 8 != t->bits) fail("its elements have another size", t->name);
    if (t->kind == 'u' || t->kind == 's') return (double)integer(a, i);
    if (t->bits == 64) {
        memcpy(&d, p, 8);
        return d;
    }
    if (t->kind == 'h') {
        memcpy(&bits, p, 2);
        int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
        d = exponent == 31 ? (mantissa ? NAN : INFINITY) : ldexp(mantissa + (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
        return bits >> 15 ? -d : d;
    }
    memcpy((unsigned char *)&bits + (4 - a->size), p, (size_t)a->size); /* a bf16 is the upper half of an f32 */
    memcpy(&f, &bits, 4);
    return f;
}

static void put(const Type *t, double v, unsigned char *p)
{
    float f = (float)v;
    int64_t k = 0;
    if (t->kind == 'u' || t->kind == 's') {
        k = (int64_t)v;
        memcpy(p, &k, (size_t)t->bits / 8);
    } else if (t->bits == 64) {
        memcpy(p, &v, 8);
    } else {
        unsigned char b[4];
        memcpy(b, &f, 4);
        if (t->kind == 'b' && !isnan(v) && (b[0] || b[1])) fail("no exact result in this type", t->name);
        memcpy(p, b + (4 - t->bits / 8), (size_t)t->bits / 8);
    }
}

int small(char **v)
{
    const Type *t = type_of(v[0]);
    Array a = new_array(t->npy, v[1], v[4]);
    uint64_t seed = strtoull(v[3], NULL, 0), limit = strtoull(v[2], NULL, 0);
    for (size_t i = 0; i < a.count; i++) {
        double least = t->kind == 'u' ? 0 : -(double)limit;
        uint64_t span = t->kind == 'u' ? limit + 1 : 2 * limit + 1;
        put(t, least + (double)(random_bits(&seed) % span), a.data + i * (size_t)a.size);
    }
    save(&a, v[4]);
    return 0;
}

static int differ_float(const Array *out, size_t i, double want)
{
    float f = (float)want;
    unsigned char b[4];
    memcpy(b, &f, 4);
    return differ(out, i, b);
}

int sum(char **v)
{
    Array parts = load(v[0]), before = load(v[1]), out = load(v[2]);
    const Type *t = type_of("f32");
    if (out.count != before.count || (out.count && parts.count % out.count != 0)) fail("shapes", v[0]);
    for (size_t i = 0; i < out.count; i++) {
        double x = get(t, &before, i);
        for (size_t at = i; at < parts.count; at += out.count) x += get(t, &parts, at);
        if (differ_float(&out, i, x)) return 1;
    }
    return 0;
}

int scatter_add(char **v)
{
    Array in = load(v[0]), index = load(v[1]), before = load(v[2]), out = load(v[3]);
    const Type *from = type_of(in.size == 2 ? "bf16" : "f32"), *to = type_of("f32");
    size_t rows = (size_t)out.shape[0], width = rows ? out.count / rows : 0;
    double *x = calloc(out.count + 1, sizeof *x);
    if (!x || out.count != before.count || in.count != index.count * width) fail("shapes", v[0]);
    for (size_t i = 0; i < out.count; i++) x[i] = get(to, &before, i);
    for (size_t r = 0; r < index.count; r++) {
        int64_t row = integer(&index, r);
        if (row < 0 || (uint64_t)row >= rows) continue;
        for (size_t c = 0; c < width; c++) x[(size_t)row * width + c] += get(from, &in, r * width + c);
    }
    for (size_t i = 0; i < out.count; i++)
        if (differ_float(&out, i, x[i])) return 1;
    free(x);
    return 0;
}

/* Between integers the low bits stay, unless they are clamped; whatever comes from a float is clamped. */
static double to_integer(const Type *from, const Type *to, double x, int sat)
{
    double low = to->kind == 's' ? -ldexp(1, to->bits - 1) : 0, high = ldexp(1, to->kind == 's' ? to->bits - 1 : to->bits) - 1;
    if (from->kind == 'f' || from->kind == 'b') sat = 1;
    if (isnan(x)) return 0;
    x = trunc(x);
    if (!sat) return x; /* put() takes the low bits */
    return x < low ? low : x > high ? high : x;
}

int convert(char **v)
{
    const Type *from = type_of(v[0]), *to = type_of(v[1]);
    Array in = load(v[2]), out = load(v[3]);
    int sat = v[4][0] == '1', whole = to->kind == 'u' || to->kind == 's';
    if (in.count != out.count || out.size * 8 != to->bits) fail("shapes", v[3]);
    for (size_t i = 0; i < out.count; i++) {
        unsigned char want[8];
        double x = get(from, &in, i);
        if (isnan(x) && !whole && isnan(get(to, &out, i))) continue;
        put(to, whole ? to_integer(from, to, x, sat) : x, want);
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

int floats(char **v)
{
    const Type *t = type_of(v[0]);
    Array a = new_array(t->npy, v[1], v[3]);
    uint64_t seed = strtoull(v[2], NULL, 0);
    for (size_t i = 0; i < a.count; i++) {
        uint64_t x = random_bits(&seed);
        double d = (double)(int64_t)x * 0x1p-62;
        float f = (float)d;
        unsigned char *p = a.data + i * (size_t)a.size, b[4];
        uint16_t half = (uint16_t)((x >> 48 & 0x8000) | (12 + (x & 3)) << 10 | (x >> 8 & 1023));
        memcpy(b, &f, 4);
        if (t->bits == 64) memcpy(p, &d, 8);
        else if (t->kind == 'h') memcpy(p, &half, 2);
        else memcpy(p, b + (4 - t->bits / 8), (size_t)t->bits / 8);
    }
    save(&a, v[3]);
    return 0;
}

static int64_t combine(const char *op, const Type *t, int64_t x, int64_t y)
{
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    int less = t->kind == 'u' ? a < b : x < y;
    if (strcmp(op, "min") == 0) return less ? x : y;
    if (strcmp(op, "max") == 0) return less ? y : x;
    if (strcmp(op, "and") == 0) return x & y;
    if (strcmp(op, "or") == 0) return x | y;
    if (strcmp(op, "xor") == 0) return x ^ y;
    if (strcmp(op, "add") == 0) return (int64_t)(a + b);
    if (strcmp(op, "inc") == 0) return less ? x + 1 : 0;
    if (strcmp(op, "dec") == 0) return x == 0 || a > b ? y : x - 1;
    fail("no such operation", op);
}

typedef struct Value { /* of an element on its way */
    int64_t k;
    double sum, size; /* floats: exact enough, and the sum of what was added without signs */
    int n;
} Value;

static Value start(const Type *t, const Array *a, size_t i)
{
    Value x = {.k = 0};
    if (t->kind == 'u' || t->kind == 's') x.k = integer(a, i);
    else x.sum = get(t, a, i);
    x.size = fabs(x.sum);
    return x;
}

static void take(Value *x, const char *op, const Type *t, const Array *a, size_t i)
{
    Value y = start(t, a, i);
    x->n++;
    x->size += y.size;
    if (t->kind == 'u' || t->kind == 's') x->k = combine(op, t, x->k, y.k);
    else if (strcmp(op, "add") == 0) x->sum += y.sum;
    else if (strcmp(op, "min") == 0) x->sum = fmin(x->sum, y.sum);
    else if (strcmp(op, "max") == 0) x->sum = fmax(x->sum, y.sum);
    else fail("no operation of floats", op);
}

static int check(const Array *out, size_t i, const char *op, const Type *t, const Value *x)
{
    if (t->kind == 'u' || t->kind == 's') return differ(out, i, (const unsigned char *)&x->k);
    double got = get(t, out, i), unit = t->bits == 64 ? 0x1p-52 : t->bits == 32 ? 0x1p-24 : t->kind == 'b' ? 0x1p-8 : 0x1p-11;
    double most = strcmp(op, "add") == 0 ? x->n * unit * x->size : 0;
    if (fabs(got - x->sum) <= most) return 0;
    printf("element %zu is %.17g, expected %.17g, at most %g away\n", i, got, x->sum, most);
    return 1;
}

int reduction(char **v)
{
    const Type *t = type_of(v[1]);
    Array parts = load(v[2]), before = load(v[3]), out = load(v[4]);
    if (out.count != before.count || out.size * 8 != t->bits || (out.count && parts.count % out.count != 0)) fail("shapes", v[2]);
    for (size_t i = 0; i < out.count; i++) {
        Value x = start(t, &before, i);
        for (size_t at = i; at < parts.count; at += out.count) take(&x, v[0], t, &parts, at);
        if (check(&out, i, v[0], t, &x)) return 1;
    }
    return 0;
}

int scattered(char **v)
{
    const Type *t = type_of(v[1]);
    Array in = load(v[2]), index = load(v[3]), before = load(v[4]), out = load(v[5]);
    size_t rows = (size_t)out.shape[0], width = rows ? out.count / rows : 0;
    if (out.count != before.count || in.count != index.count * width) fail("shapes", v[2]);
    for (size_t i = 0; i < out.count; i++) {
        Value x = start(t, &before, i);
        for (size_t r = 0; r < index.count; r++)
            if (integer(&index, r) == (int64_t)(i / width)) take(&x, v[0], t, &in, r * width + i % width);
        if (check(&out, i, v[0], t, &x)) return 1;
    }
    return 0;
}
