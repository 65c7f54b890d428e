/* Tensor memory, and what else only sm_100a has. Tensors are [rows, bytes] and [lanes, bytes]. */
#include <string.h>

#include "forms.h"

typedef struct Shape4 { /* rows of the source, its clause, and which row lane l gets */
    const char *clause;
    int rows;
} Shape4;
static const Shape4 SHAPES[] = {{"", 128}, {" multicast warpx2_02_13", 64}, {" multicast warpx2_01_23", 64}, {" multicast warpx4", 32}};

static int row_of(int shape, int lane)
{
    switch (shape) {
    case 1: return lane % 64;                    /* warps 0 and 2 have the first half */
    case 2: return lane / 64 * 32 + lane % 32;   /* warps 0 and 1 have it */
    case 3: return lane % 32;
    default: return lane;
    }
}

static const char *layout_of(int bytes)
{
    return bytes == 128 ? " swizzle 128" : bytes == 64 ? " swizzle 64" : bytes == 32 ? " swizzle 32" : "";
}

/* Shared memory to tensor memory by each shape, and back by threads; alone or in pairs of CTAs. */
static void copies(Gen *g, int which)
{
    bool pairs = which == 2;
    int shape = (2 * g->variant + which) % 4;
    static const tile_type types[] = {TILE_U8, TILE_BF16, TILE_F32, TILE_U32};
    tile_type t = types[draw(g, 0, 3)];
    int bytes = 16 << (3 * g->variant + which) % 4, n = bytes / type_size(t), rows = SHAPES[shape].rows, ctas = pairs ? 2 : 1;
    int x = TENSOR(g, t, false, ctas, rows, n), y = TENSOR(g, t, false, ctas, 128, n);
    g->p->attributes = keep_text(g->p, " grid (%d)%s threads %d", ctas, pairs ? " cluster (2) pair" : "", (int)PICK(g, 128, 256));
    const char *rank = pairs ? "cluster.rank" : "0", *layout = layout_of(bytes);
    TEXT(g, "shared s: %s[%d, %d]%s;\ntmem t: %s[128, %d];\nshared o: %s[128, %d]%s;", tensor_type(g, x), rows, n, layout, tensor_type(g, x), n,
         tensor_type(g, x), n, layout);
    TEXT(g, "move %s[%s, :, :] -> s;\nmove s -> t%s;\nmove t -> o via threads;", tensor_name(g, x), rank, SHAPES[shape].clause);
    TEXT(g, "move o -> %s[%s, :, :]%s;", tensor_name(g, y), rank, pairs ? " overlap any" : "");
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)ctas * 128 * n; i++) {
        int lane = (int)(i / n % 128);
        pair(g, s, (i / n / 128 * rows + row_of(shape, lane)) * n + i % n, i);
    }
}

/* By threads into tensor memory, shifts, four strided lanes. */
static void shifted(Gen *g, bool pairs)
{
    int bytes = (int)PICK(g, 32, 64, 128), ctas = pairs ? 2 : 1, k = (int)draw(g, 1, 3), four = g->variant % 2 == 0 || draw(g, 0, 1);
    int x = TENSOR(g, TILE_U8, false, ctas, 128, bytes), f = TENSOR(g, TILE_U8, false, 4, 32), y = TENSOR(g, TILE_U8, false, ctas, 128, bytes);
    g->p->attributes = keep_text(g->p, " grid (%d)%s threads 128", ctas, pairs ? " cluster (2) pair" : "");
    const char *rank = pairs ? "cluster.rank" : "0", *layout = layout_of(bytes);
    TEXT(g, "shared s: u8[128, %d]%s;\ntmem t: u8[128, %d];\nshared f: u8[4, 32] swizzle 32;\nshared o: u8[128, %d]%s;", bytes, layout, bytes, bytes, layout);
    TEXT(g, "move %s[%s, :, :] -> s;\nmove %s -> f;\nmove s -> t via threads;", tensor_name(g, x), rank, tensor_name(g, f));
    TEXT(g, "for k in %d { shift t[32 +: 32, 0 +: 32]; shift t[96 +: 32, 0 +: %d]; }", k, bytes);
    if (four) TEXT(g, "move f -> t[31 +: 4 by 32, 0 +: 32];");
    TEXT(g, "move t -> o via threads;\nmove o -> %s[%s, :, :]%s;", tensor_name(g, y), rank, pairs ? " overlap any" : "");
    Stmt *s = means(g, x, y), *last = means(g, f, y);
    for (int64_t i = 0; i < (int64_t)ctas * 128 * bytes; i++) {
        int64_t lane = i / bytes % 128, column = i % bytes, from = lane;
        bool moves = (lane / 32 == 1 && column < 32) || lane / 32 == 3;
        for (int n = 0; n < k && moves && from % 32 != 31; n++) from++;
        if (four && lane % 32 == 31 && column < 32) pair(g, last, lane / 32 * 32 + column, i);
        else pair(g, s, (i / bytes / 128 * 128 + from) * bytes + column, i);
    }
}

/* Parts and arrays of tiles, by threads both ways. */
static void parts(Gen *g)
{
    int n = (int)draw(g, 1, 4), lanes = 32 * (int)PICK(g, 1, 2), bytes = 16 * (int)PICK(g, 1, 2, 4), lane = 32 * (int)draw(g, 0, 4 - lanes / 32);
    int x = TENSOR(g, TILE_U8, false, n, lanes, bytes), y = TENSOR(g, TILE_U8, false, n, lanes, bytes);
    g->p->attributes = " grid (1) threads 128";
    TEXT(g, "tmem t: u8[%d][128, %d];\nfor k in %d {\nshared a: u8[%d, %d];\nshared b: u8[%d, %d];", n, 2 * bytes, n, lanes, bytes, lanes, bytes);
    TEXT(g, "move %s[k, :, :] -> a;\nmove a -> t[k][%d +: %d, %d +: %d] via threads;", tensor_name(g, x), lane, lanes, bytes, bytes);
    TEXT(g, "move t[k][%d +: %d, %d +: %d] -> b via threads;\nmove b -> %s[k, :, :]; }", lane, lanes, bytes, bytes, tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)n * lanes * bytes; i++) pair(g, s, i, i);
}

/* A ring through tensor memory in three roles, with commits of copies and of shifts. */
static void ring(Gen *g)
{
    int slots = (int)draw(g, 1, 2), turns = (int)draw(g, 1, 4), shift = (int)draw(g, 0, 1);
    int x = TENSOR(g, TILE_U8, false, turns * 128, 128), y = TENSOR(g, TILE_U8, false, turns * 128, 128);
    g->p->items = keep_text(g->p, "fn fill_slot(s: shared u8[128, 128] swizzle 128, t: tmem u8[128, 128], done: barrier) { move s -> t commit done; }\n");
    TEXT(g, "shared s: u8[%d][128, 128] swizzle 128;\ntmem t: u8[%d][128, 128];\nshared o: u8[128, 128] swizzle 128;", slots, slots);
    TEXT(g, "barrier full[%d];\nbarrier empty[%d] free;\nbarrier done[%d];\nbarrier taken[%d] free;\nbarrier moved[%d];", slots, slots, slots, slots, slots);
    TEXT(g, "roles { role load { for k in %d { wait empty[k %% %d]; move %s[k * 128, 0] -> s[k %% %d] commit full[k %% %d]; } }", turns, slots,
         tensor_name(g, x), slots, slots);
    TEXT(g, "role copy { for k in %d { wait full[k %% %d]; wait taken[k %% %d]; move s[k %% %d] -> t[k %% %d] commit done[k %% %d];", turns, slots, slots,
         slots, slots, slots);
    TEXT(g, "wait done[k %% %d];", slots);
    TEXT(g, "shift t[k %% %d][%d +: 32, 0 +: 128] commit moved[k %% %d]; } }", slots, 32 * shift, slots);
    TEXT(g, "role store threads 128 { for k in %d { wait done[k %% %d]; arrive empty[k %% %d]; wait moved[k %% %d]; move t[k %% %d] -> o via threads;", turns, slots,
         slots, slots, slots);
    TEXT(g, "arrive taken[k %% %d]; move o -> %s[k * 128, 0] commit group; wait group read; } } }", slots, tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)turns * 128 * 128; i++) {
        int64_t lane = i / 128 % 128;
        pair(g, s, lane / 32 == shift && lane % 32 != 31 ? i + 128 : i, i);
    }
}

/* Columns that only the run knows: copies, stores by threads, shifts, loads by threads, in turns of a loop. */
static void blocks(Gen *g, int by_threads)
{
    int n = (int)PICK(g, 2, 4), bytes = 32 * n, d = (int)draw(g, 0, n - 1), shifts = (int)draw(g, 0, 1) || !by_threads;
    int x = TENSOR(g, TILE_U8, false, 128, bytes), y = TENSOR(g, TILE_U8, false, 128, bytes);
    const char *layout = layout_of(bytes);
    g->p->attributes = " grid (1) threads 128";
    TEXT(g, "shared s: u8[128, %d]%s;\ntmem t: u8[128, %d];\nfill s = 0;\nmove s -> t via threads;", bytes, layout, bytes);
    if (!by_threads) TEXT(g, "shared u: u8[128, %d]%s;\nmove %s -> u;", bytes, layout, tensor_name(g, x));
    TEXT(g, "for k in %d {", n);
    if (by_threads) TEXT(g, "shared a: u8[128, 32];\nmove %s[:, k * 32 +: 32] -> a;\nmove a -> t[:, (k + %d) %% %d * 32 +: 32] via threads; }", tensor_name(g, x), d, n);
    else TEXT(g, "move u[:, k * 32 +: 32] -> t[:, (k + %d) %% %d * 32 +: 32]; }", d, n);
    if (shifts) TEXT(g, "for k in %d { shift t[32 +: 32, k * 32 +: 32]; }", n);
    TEXT(g, "for k in %d { shared b: u8[128, 32];\nmove t[:, k * 32 +: 32] -> b via threads;\nmove b -> %s[:, k * 32 +: 32]; }", n, tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)128 * bytes; i++) {
        int64_t lane = i / bytes, from = shifts && lane / 32 == 1 && lane != 63 ? lane + 1 : lane, block = (i % bytes / 32 + n - d) % n;
        pair(g, s, from * bytes + block * 32 + i % 32, i);
    }
}

/* Values of 4 and 6 bits that become bytes on their way. */
static void wider(Gen *g)
{
    bool six = g->variant % 2;
    int bits = six ? 6 : 4, bytes = 128 * bits / 8, shape = (int)draw(g, 0, 3), rows = SHAPES[shape].rows;
    int x = TENSOR(g, TILE_U8, false, rows, bytes), y = TENSOR(g, TILE_U8, false, 128, 128);
    Tensor *in = &g->p->tensor[x];
    in->packed = six ? TILE_B6A16 : TILE_B4A16;
    in->bits_packed = bits;
    g->p->attributes = " grid (1) threads 128";
    TEXT(g, "shared w: %s[%d, 128] swizzle 128;\ntmem u: u8[128, 128];\nshared p: u8[128, 128];", six ? "b6a16" : "b4a16", rows);
    TEXT(g, "move %s[0, 0] -> w;\nmove w -> u%s convert;\nmove u -> p via threads;\nmove p -> %s[0, 0];", tensor_name(g, x), SHAPES[shape].clause, tensor_name(g, y));
    for (int lane = 0; lane < 128; lane++)
        for (int c = 0; c < 128; c++) {
            int row = row_of(shape, lane), bit = c * bits;
            const uint8_t *p = in->first + row * bytes + bit / 8;
            int v = (p[0] | (bit % 8 + bits > 8 ? p[1] << 8 : 0)) >> bit % 8 & ((1 << bits) - 1);
            Stmt *s = means(g, -1, y);
            s->value = six ? v : v << 2;
            pair(g, s, -1, lane * 128 + c);
        }
}

/* Some bytes of each 16; work taken over by clusterlaunchcontrol; tiles of zeros. */
static void others(Gen *g, int how)
{
    int m = (int)draw(g, 1, 9), l = 1024, mask = (int)draw(g, 0, 65535), ctas = how == 2 ? 2 : 1;
    int x = TENSOR(g, TILE_U8, false, m, ctas, l), y = TENSOR(g, TILE_U8, false, m, ctas, l);
    if (how == 2) g->p->attributes = " cluster (2)";
    const char *rank = how == 2 ? "cluster.rank" : "0";
    TEXT(g, "pipeline i in %d across grid%s { shared t: u8[%d];", m, how == 1 || how == 2 ? " by clc" : "", l);
    if (how == 3) TEXT(g, "fill t = 0;");
    else TEXT(g, "move %s[i, %s, :] -> t via bulk;", tensor_name(g, x), rank);
    TEXT(g, "move t -> %s[i, %s, :] via bulk%s; }", tensor_name(g, y), rank, how ? "" : keep_text(g->p, " bytes (%d)", mask));
    Stmt *s = means(g, how == 3 ? -1 : x, y);
    for (int64_t i = 0; i < (int64_t)m * ctas * l; i++)
        if (how || mask >> i % 16 & 1) pair(g, s, how == 3 ? -1 : i, i);
}

/* The swizzles of 128 bytes whose atoms are larger. */
static void atoms(Gen *g, int which)
{
    static const char *const layouts[] = {" swizzle 128 atom 32", " swizzle 128 atom 32 flip", " swizzle 128 atom 64"};
    int m = (int)draw(g, 1, 40), n = 64 * (int)draw(g, 1, 2);
    const char *layout = layouts[which % 3];
    g->p->unrun = which % 3 == 1; /* which bytes are exchanged stands in a figure of the PTX ISA only */
    int x = TENSOR(g, TILE_BF16, false, m, n), y = TENSOR(g, TILE_BF16, false, m, n);
    TEXT(g, "map in = %s box [16, 64]%s;", tensor_name(g, x), layout);
    TEXT(g, "pipeline (i, j) in (ceil(%d, 16), %d) across grid { shared t: bf16[16, 64]%s;", m, n / 64, layout);
    TEXT(g, "move %s[i * 16, j * 64] -> t via in;", tensor_name(g, x));
    TEXT(g, "move t -> %s[i * 16, j * 64]; }", tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)m * n; i++) pair(g, s, i, i);
}

/* Elements of 4 bits without gaps travel as bytes. */
static void packed(Gen *g)
{
    int m = (int)draw(g, 1, 20), n = 64 * (int)draw(g, 1, 2), r = (int)PICK(g, 4, 8);
    int x = TENSOR(g, TILE_U8, false, m, n), y = TENSOR(g, TILE_U8, false, m, n);
    for (int i = 0; i < 2; i++) g->p->tensor[i ? y : x].packed = TILE_B4A8, g->p->tensor[i ? y : x].bits_packed = 4;
    TEXT(g, "pipeline i in ceil(%d, %d) across grid { shared t: b4a8[%d, %d]%s;", m, r, r, 2 * n, n == 64 && draw(g, 0, 1) ? " swizzle 64" : "");
    TEXT(g, "move %s[i * %d, 0] -> t; move t -> %s[i * %d, 0]; }", tensor_name(g, x), r, tensor_name(g, y), r);
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)m * n; i++) pair(g, s, i, i);
}

/* Bytes whose low 6 bits are stored next to each other. */
static void narrower(Gen *g)
{
    int m = (int)draw(g, 1, 20), x = TENSOR(g, TILE_U8, false, m, 128), y = TENSOR(g, TILE_U8, false, m, 96);
    g->p->tensor[y].packed = TILE_B6A16;
    g->p->tensor[y].bits_packed = 6;
    TEXT(g, "pipeline i in ceil(%d, 8) across grid { shared t: u8[8, 128] swizzle 128; move %s[i * 8, 0] -> t;", m, tensor_name(g, x));
    TEXT(g, "move t -> %s[i * 8, 0] convert; }", tensor_name(g, y));
    const uint8_t *in = g->p->tensor[x].first;
    for (int k = 0; k < m * 96; k++) {
        const uint8_t *p = in + k / 3 * 4; /* four values in three bytes */
        int v = k % 3 == 0 ? (p[0] & 63) | p[1] << 6 : k % 3 == 1 ? (p[1] & 63) >> 2 | p[2] << 4 : (p[2] & 63) >> 4 | (p[3] & 63) << 2;
        Stmt *s = means(g, -1, y);
        s->value = v & 255;
        pair(g, s, -1, k);
    }
}

void form_tmem(Gen *g, int which)
{
    switch (which) {
    case 0:
    case 1:
    case 2: copies(g, which); return;
    case 3: shifted(g, draw(g, 0, 1)); return;
    case 4: parts(g); return;
    case 5: ring(g); return;
    case 6: wider(g); return;
    case 7:
    case 8: others(g, (2 * g->variant + which - 7) % 4); return;
    case 9: packed(g); return;
    case 10: narrower(g); return;
    case 13:
    case 14: blocks(g, which - 13); return;
    default: atoms(g, 2 * g->variant + which - 11); return;
    }
}
