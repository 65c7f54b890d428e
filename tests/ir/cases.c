/* One function per kernel: its arguments, and what it must make of them. */
#include "tests/ir/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024, POISON = 0xA5 };

uint64_t world_random(World *x)
{
    x->seed = x->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return x->seed >> 24;
}

/* ---- arguments ---- */

/* Filled with random bytes if the kernel reads it, else with what must not be taken for a result. */
static Tensor *tensor(World *x, const char *name, tile_type type, int64_t rows, int64_t columns, bool random)
{
    Tensor *t = &x->tensors[x->ntensors++];
    *t = (Tensor){.name = name, .type = type, .rank = columns ? 2 : 1, .shape = {rows, columns}};
    t->bytes = (size_t)(rows * (columns ? columns : 1)) * (size_t)tile_type_bits(type) / 8;
    t->data = malloc(t->bytes + 1);
    t->want = malloc(t->bytes + 1);
    if (t->data == NULL || t->want == NULL) abort();
    for (size_t i = 0; i < t->bytes; i++) t->data[i] = random ? (uint8_t)world_random(x) : POISON;
    memcpy(t->want, t->data, t->bytes);
    return t;
}

static void scalar(World *x, const char *name, int64_t value)
{
    x->scalars[x->nscalars].name = name;
    x->scalars[x->nscalars++].value = value;
}

static void copied(const Tensor *to, size_t at, const Tensor *from, size_t from_at, size_t bytes)
{
    memcpy(to->want + at, from->data + from_at, bytes);
}

/* ---- chunks copied, however they are dealt ---- */

/* The first n of 20 chunks. */
static void chunks(World *x, int64_t n)
{
    Tensor *src = tensor(x, "src", TILE_U8, 20 * CHUNK, 0, true),
           *dst = tensor(x, "dst", TILE_U8, 20 * CHUNK, 0, false);
    scalar(x, "n", n);
    copied(dst, 0, src, 0, (size_t)n * CHUNK);
}

/* All rows of 64 halves. */
static void rows_of_64(World *x, int64_t rows)
{
    Tensor *src = tensor(x, "src", TILE_BF16, rows, 64, true), *dst = tensor(x, "dst", TILE_BF16, rows, 64, false);
    copied(dst, 0, src, 0, src->bytes);
}

/* out[r] = table[idx[r]], zeros where there is no such row. */
static void gather(World *x, int64_t rows)
{
    enum { TABLE = 50, BYTES = 256 };
    Tensor *table = tensor(x, "table", TILE_U8, TABLE, BYTES, true), *idx = tensor(x, "idx", TILE_S32, rows, 0, true),
           *out = tensor(x, "out", TILE_U8, rows, BYTES, false);
    for (int64_t r = 0; r < rows; r++) {
        int32_t i = (int32_t)(world_random(x) % (TABLE + 10)) - 5;
        memcpy(idx->data + r * 4, &i, 4);
        uint8_t *row = out->want + r * BYTES;
        if (i < 0 || i >= TABLE) memset(row, 0, BYTES);
        else memcpy(row, table->data + i * BYTES, BYTES);
    }
    memcpy(idx->want, idx->data, idx->bytes);
}

/* ---- clusters ---- */

/* Each of four CTAs gets the whole of a. */
static void four_times(World *x, int64_t turns)
{
    Tensor *a = tensor(x, "a", TILE_BF16, turns * 64, 64, true), *b = tensor(x, "b", TILE_BF16, turns * 256, 64, false);
    for (size_t r = 0; r < 4; r++) copied(b, r * a->bytes, a, 0, a->bytes);
}

/* Of n chunks per CTA, each goes to the right neighbour. */
static void to_the_right(World *x, int64_t n)
{
    Tensor *src = tensor(x, "src", TILE_U8, 4 * n * CHUNK, 0, true),
           *dst = tensor(x, "dst", TILE_U8, 4 * n * CHUNK, 0, false);
    size_t part = (size_t)n * CHUNK;
    for (size_t r = 0; r < 4; r++) copied(dst, (r + 1) % 4 * part, src, r * part, part);
}

/* Each CTA of a pair: out = x + y, and a tile of z, made in the other one's memory. */
static void pair(World *w, int64_t variant)
{
    (void)variant;
    Tensor *x = tensor(w, "x", TILE_U32, 512, 0, true), *y = tensor(w, "y", TILE_U32, 512, 0, true),
           *z = tensor(w, "z", TILE_BF16, 16, 64, true), *out = tensor(w, "out", TILE_U32, 512, 0, false),
           *zout = tensor(w, "zout", TILE_BF16, 16, 64, false);
    for (size_t i = 0; i < 512; i++) {
        uint32_t a, b;
        memcpy(&a, x->data + i * 4, 4);
        memcpy(&b, y->data + i * 4, 4);
        a += b;
        memcpy(out->want + i * 4, &a, 4);
    }
    copied(zout, 0, z, 0, z->bytes);
}

/* ---- reductions ---- */

static float of_bf16(const uint8_t *p)
{
    uint16_t h;
    float f;
    memcpy(&h, p, 2);
    uint32_t bits = (uint32_t)h << 16;
    memcpy(&f, &bits, 4);
    return f;
}

static void to_bf16(uint8_t *p, float f) /* of numbers that it holds exactly */
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t h = (uint16_t)(bits >> 16);
    memcpy(p, &h, 2);
}

/* Small whole numbers, so that floats add without rounding. */
static void small_numbers(World *x, Tensor *t)
{
    size_t bytes = (size_t)tile_type_bits(t->type) / 8;
    for (size_t i = 0; i < t->bytes / bytes; i++) {
        int32_t n = (int32_t)(world_random(x) % 41) - 20;
        float f = (float)n;
        if (t->type == TILE_F32) memcpy(t->data + i * 4, &f, 4);
        else to_bf16(t->data + i * 2, f);
    }
    memcpy(t->want, t->data, t->bytes);
}

/* a += src and b += halves by each of the CTAs; c = max(c, ints); d ^= bits, by one of them; e += src by a map. */
static void reduce(World *x, int64_t ctas)
{
    Tensor *src = tensor(x, "src", TILE_F32, 8, 32, true), *halves = tensor(x, "halves", TILE_BF16, 128, 0, true),
           *ints = tensor(x, "ints", TILE_S32, 64, 0, true), *a = tensor(x, "a", TILE_F32, 256, 0, true),
           *b = tensor(x, "b", TILE_BF16, 128, 0, true), *c = tensor(x, "c", TILE_S32, 64, 0, true),
           *d = tensor(x, "d", TILE_U64, 32, 0, true), *e = tensor(x, "e", TILE_F32, 8, 32, true);
    Tensor *floats[] = {src, halves, a, b, e};
    scalar(x, "n", ctas);
    for (int i = 0; i < 5; i++) small_numbers(x, floats[i]);
    for (size_t i = 0; i < 256; i++) {
        float s, f, g;
        memcpy(&s, src->data + i * 4, 4);
        memcpy(&f, a->data + i * 4, 4);
        memcpy(&g, e->data + i * 4, 4);
        f += (float)ctas * s;
        g += (float)ctas * s;
        memcpy(a->want + i * 4, &f, 4);
        memcpy(e->want + i * 4, &g, 4);
    }
    for (size_t i = 0; i < 128; i++)
        to_bf16(b->want + i * 2, of_bf16(b->data + i * 2) + (float)ctas * of_bf16(halves->data + i * 2));
    for (size_t i = 0; i < 64; i++) {
        int32_t p, q;
        memcpy(&p, ints->data + i * 4, 4);
        memcpy(&q, c->data + i * 4, 4);
        if (p > q) memcpy(c->want + i * 4, &p, 4);
    }
    for (size_t i = 0; i < 256; i++) d->want[i] = d->data[i] ^ (ctas % 2 ? ints->data[i] : 0);
}

static const Case CASES[] = {
    {"ring", chunks, {0, 1, 2, 3, 4, 20}, 6},
    {"work", chunks, {0, 1, 3, 20}, 4},
    {"ticket", chunks, {0, 1, 5, 20}, 4},
    {"lanes", gather, {1, 47, 48, 130}, 4},
    {"multicast", four_times, {1, 2, 3, 7}, 4},
    {"dsmem", to_the_right, {1, 2, 3, 6}, 4},
    {"peer", pair, {0}, 1},
    {"reduce", reduce, {1, 2, 3}, 3},
    {"hints", rows_of_64, {8, 64, 100, 200}, 4},
};

const Case *case_find(const char *name)
{
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (strcmp(CASES[i].name, name) == 0) return &CASES[i];
    return NULL;
}
