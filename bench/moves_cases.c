/* The cases. Peers with the same shapes stand in peers.py, which moves.c compares by their bytes. */
#include <stdlib.h>
#include <string.h>

#include "bench/moves.h"

#define SHAPE(...)                                                                                                     \
    (const int64_t[])                                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define RANK_OF(...) (int)(sizeof(SHAPE(__VA_ARGS__)) / sizeof(int64_t))
#define INPUT(b, param, type, fill, ...) bench_tensor(b, param, type, fill, RANK_OF(__VA_ARGS__), SHAPE(__VA_ARGS__))
#define OUTPUT(b, param, type, fill, ...)                                                                              \
    (bench_tensor(b, param, type, fill, RANK_OF(__VA_ARGS__), SHAPE(__VA_ARGS__))->is_output = true)

static double bytes_of(const Bench *b)
{
    double sum = 0;
    for (int i = 0; i < b->ntensors; i++) sum += (double)b->tensors[i].n * (double)b->tensors[i].size;
    return sum;
}

/* ---- copy: [M, N] ---- */

static void set_up_copy(Bench *b)
{
    INPUT(b, "src", TILE_BF16, FILL_BITS, b->dim[0], b->dim[1]);
    OUTPUT(b, "dst", TILE_BF16, FILL_POISON, b->dim[0], b->dim[1]);
    b->bytes = bytes_of(b);
}

static uint64_t want_copy(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    return bench_value(&b->tensors[0], i);
}

/* ---- transpose: [M, N] ---- */

static void set_up_transpose_of(Bench *b, tile_type type)
{
    INPUT(b, "src", type, FILL_BITS, b->dim[0], b->dim[1]);
    OUTPUT(b, "dst", type, FILL_POISON, b->dim[1], b->dim[0]);
    b->bytes = bytes_of(b);
}
static void set_up_transpose_bf16(Bench *b)
{
    set_up_transpose_of(b, TILE_BF16);
}
static void set_up_transpose_f32(Bench *b)
{
    set_up_transpose_of(b, TILE_F32);
}

static uint64_t want_transpose(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    uint64_t m = (uint64_t)b->dim[0], n = (uint64_t)b->dim[1];
    return bench_value(&b->tensors[0], i % m * n + i / m);
}

/* ---- gather_rows: R rows of D elements out of V ---- */

static void set_up_gather(Bench *b)
{
    int64_t r = b->dim[0], d = b->dim[1], v = b->dim[2];
    INPUT(b, "table", TILE_BF16, FILL_BITS, v, d);
    INPUT(b, "idx", TILE_S32, FILL_INDEX, r)->limit = v;
    OUTPUT(b, "out", TILE_BF16, FILL_POISON, r, d);
    b->bytes = 2.0 * (double)r * (double)d * 2 + (double)r * 4;
}

static uint64_t want_gather(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    uint64_t d = (uint64_t)b->dim[1];
    return bench_value(&b->tensors[0], bench_value(&b->tensors[1], i / d) * d + i % d);
}

/* ---- scatter_add: R rows of D elements into V, again in every launch ---- */

static void set_up_scatter(Bench *b)
{
    int64_t r = b->dim[0], d = b->dim[1], v = b->dim[2];
    INPUT(b, "x", TILE_F32, FILL_SMALL, r, d);
    INPUT(b, "idx", TILE_S32, FILL_INDEX, r)->limit = v;
    OUTPUT(b, "acc", TILE_F32, FILL_ZERO, v, d);
    b->bytes = 3.0 * (double)r * (double)d * 4 + (double)r * 4;
    b->first = malloc((size_t)v * sizeof *b->first);
    b->next = malloc((size_t)r * sizeof *b->next);
    if (!b->first || !b->next) abort();
    memset(b->first, 0xFF, (size_t)v * sizeof *b->first);
    for (int64_t i = 0; i < r; i++) {
        uint64_t row = bench_value(&b->tensors[1], (uint64_t)i);
        b->next[i] = b->first[row];
        b->first[row] = (int32_t)i;
    }
}

static uint64_t want_scatter(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    uint64_t d = (uint64_t)b->dim[1], bits = 0;
    float sum = 0;
    for (int32_t r = b->first[i / d]; r >= 0; r = b->next[r]) {
        uint64_t x = bench_value(&b->tensors[0], (uint64_t)r * d + i % d);
        float f;
        memcpy(&f, &x, sizeof f);
        sum += f;
    }
    sum *= (float)b->launches;
    if (sum == 0) return 0; /* sums of -0 and 0 are 0 */
    memcpy(&bits, &sum, sizeof sum);
    return bits;
}

/* ---- permute_heads: [B, S, H, D] ---- */

static void set_up_heads(Bench *b)
{
    const int64_t *n = b->dim;
    INPUT(b, "x", TILE_BF16, FILL_BITS, n[0], n[1], n[2], n[3]);
    OUTPUT(b, "out", TILE_BF16, FILL_POISON, n[0], n[2], n[1], n[3]);
    b->bytes = bytes_of(b);
}

static uint64_t want_heads(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    uint64_t s = (uint64_t)b->dim[1], h = (uint64_t)b->dim[2], d = (uint64_t)b->dim[3];
    uint64_t at_d = i % d, at_s = i / d % s, at_h = i / d / s % h, at_b = i / d / s / h;
    return bench_value(&b->tensors[0], ((at_b * s + at_s) * h + at_h) * d + at_d);
}

/* ---- halo: [H, W] in tiles of 32 x 64 with a border of 1 row and 4 columns ---- */

enum { HALO_H = 32, HALO_W = 64 };

static void set_up_halo(Bench *b)
{
    int64_t h = b->dim[0], w = b->dim[1];
    INPUT(b, "x", TILE_F32, FILL_BITS, h, w);
    OUTPUT(b, "y", TILE_F32, FILL_POISON, h / HALO_H, w / HALO_W, HALO_H + 2, HALO_W + 8);
    b->bytes = bytes_of(b);
}

static uint64_t want_halo(const Bench *b, const Tensor *t, uint64_t i)
{
    int64_t h = b->dim[0], w = b->dim[1], tw = HALO_W + 8, th = HALO_H + 2, n = (int64_t)i;
    int64_t col = n % tw, row = n / tw % th, tx = n / tw / th % t->shape[1], ty = n / tw / th / t->shape[1];
    row += ty * HALO_H - 1;
    col += tx * HALO_W - 4;
    if (row < 0 || row >= h || col < 0 || col >= w) return 0;
    return bench_value(&b->tensors[0], (uint64_t)(row * w + col));
}

/* ---- convert: bf16 -> f32, [M, N] ---- */

static void set_up_convert(Bench *b)
{
    INPUT(b, "x", TILE_BF16, FILL_BITS, b->dim[0], b->dim[1]);
    OUTPUT(b, "y", TILE_F32, FILL_POISON, b->dim[0], b->dim[1]);
    b->bytes = bytes_of(b);
}

static uint64_t want_convert(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    return bench_value(&b->tensors[0], i) << 16;
}

/* ---- concat: [M, N1] and [M, N2] side by side ---- */

static void set_up_concat(Bench *b)
{
    INPUT(b, "a", TILE_BF16, FILL_BITS, b->dim[0], b->dim[1]);
    INPUT(b, "b", TILE_BF16, FILL_BITS, b->dim[0], b->dim[2]);
    OUTPUT(b, "out", TILE_BF16, FILL_POISON, b->dim[0], b->dim[1] + b->dim[2]);
    b->bytes = bytes_of(b);
}

static uint64_t want_concat(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    uint64_t n1 = (uint64_t)b->dim[1], n2 = (uint64_t)b->dim[2], row = i / (n1 + n2), col = i % (n1 + n2);
    return col < n1 ? bench_value(&b->tensors[0], row * n1 + col) : bench_value(&b->tensors[1], row * n2 + col - n1);
}

/* ---- gemm_loads: the tiles of A [M, K] and B [N, K] that a GEMM loads; every 16th step of K is stored ---- */

enum { GEMM_BM = 128, GEMM_BN = 128, GEMM_BK = 64, GEMM_STORED = 16 };

static void set_up_gemm(Bench *b)
{
    int64_t m = b->dim[0], n = b->dim[1], k = b->dim[2], steps = k / GEMM_BK;
    int64_t kept = (steps + GEMM_STORED - 1) / GEMM_STORED * GEMM_BK, tm = m / GEMM_BM, tn = n / GEMM_BN;
    INPUT(b, "A", TILE_BF16, FILL_BITS, m, k);
    INPUT(b, "B", TILE_BF16, FILL_BITS, n, k);
    OUTPUT(b, "oa", TILE_BF16, FILL_POISON, tn, m, kept);
    OUTPUT(b, "ob", TILE_BF16, FILL_POISON, tm, n, kept);
    double loads = (double)tm * (double)tn * (double)steps * (GEMM_BM + GEMM_BN) * GEMM_BK * 2;
    b->bytes = loads + 2.0 * (double)b->tensors[2].n + 2.0 * (double)b->tensors[3].n;
}

static uint64_t want_gemm(const Bench *b, const Tensor *t, uint64_t i)
{
    uint64_t kept = (uint64_t)t->shape[2], k = (uint64_t)b->dim[2], col = i % kept,
             row = i / kept % (uint64_t)t->shape[1];
    uint64_t from = col / GEMM_BK * GEMM_STORED * GEMM_BK + col % GEMM_BK;
    return bench_value(&b->tensors[t == &b->tensors[2] ? 0 : 1], row * k + from);
}

/* ---- im2col: columns of a 3 x 3 convolution with padding 1 of [N, H, W, C] ---- */

static void set_up_im2col(Bench *b)
{
    const int64_t *n = b->dim;
    INPUT(b, "x", TILE_BF16, FILL_BITS, n[0], n[1], n[2], n[3]);
    OUTPUT(b, "cols", TILE_BF16, FILL_POISON, n[0] * n[1] * n[2], 9 * n[3]);
    b->bytes = bytes_of(b);
}

static uint64_t want_im2col(const Bench *b, const Tensor *t, uint64_t i)
{
    (void)t;
    int64_t h = b->dim[1], w = b->dim[2], c = b->dim[3], pixel = (int64_t)i / (9 * c), column = (int64_t)i % (9 * c);
    int64_t tap = column / c, y = pixel / w % h + tap / 3 - 1, x = pixel % w + tap % 3 - 1;
    if (y < 0 || y >= h || x < 0 || x >= w) return 0;
    return bench_value(&b->tensors[0], (uint64_t)(((pixel / (h * w) * h + y) * w + x) * c + column % c));
}

#define AUTO 0
#define OFF (-1)
#define T(file) "bench/tile/" file ".tile"

const Case bench_cases[] = {
    {"copy, bf16 65536 x 16384",
     "copy",
     {65536, 16384},
     {70, 520},
     set_up_copy,
     want_copy,
     {{"tensor", T("copy"), "copy", "", AUTO},
      {"tensor, no hints", T("copy"), "copy", "", OFF},
      {"via bulk", T("copy_bulk"), "copy_bulk", "", AUTO},
      {"via bulk, no hints", T("copy_bulk"), "copy_bulk", "", OFF},
      {"explicit, a tile per CTA", "examples/copy_explicit.tile", "copy", "", AUTO}}},
    {"transpose, bf16 16384 x 16384",
     "transpose_bf16",
     {16384, 16384},
     {264, 136},
     set_up_transpose_bf16,
     want_transpose,
     {{"B = 128", T("transpose"), "transpose", "", AUTO}, {"B = 64", T("transpose"), "transpose", "B=64", AUTO}}},
    {"transpose, f32 16384 x 16384",
     "transpose_f32",
     {16384, 16384},
     {132, 68},
     set_up_transpose_f32,
     want_transpose,
     {{"B = 64", T("transpose"), "transpose", "T=f32,B=64", AUTO}}},
    {"gather rows of 8 KB",
     "gather_8k",
     {65536, 4096, 65536},
     {40, 4096, 30},
     set_up_gather,
     want_gather,
     {{"via bulk", T("gather_rows"), "gather_rows", "D=4096", AUTO}}},
    {"gather rows of 4 KB",
     "gather_4k",
     {131072, 2048, 131072},
     {40, 2048, 30},
     set_up_gather,
     want_gather,
     {{"via bulk", T("gather_rows"), "gather_rows", "D=2048", AUTO}}},
    {"gather rows of 2 KB",
     "gather_2k",
     {262144, 1024, 262144},
     {40, 1024, 30},
     set_up_gather,
     want_gather,
     {{"via bulk", T("gather_rows"), "gather_rows", "D=1024", AUTO}}},
    {"gather rows of 1 KB",
     "gather_1k",
     {524288, 512, 524288},
     {100, 512, 30},
     set_up_gather,
     want_gather,
     {{"via bulk", T("gather_rows"), "gather_rows", "D=512", AUTO}}},
    {"scatter-add, f32 65536 x 1024",
     "scatter_add",
     {65536, 1024, 65536},
     {60, 1024, 20},
     set_up_scatter,
     want_scatter,
     {{"reduce via bulk", T("scatter_add"), "scatter_add", "", AUTO}}},
    {"permute heads, bf16 8 x 4096 x 32 x 128",
     "permute_heads",
     {8, 4096, 32, 128},
     {2, 70, 3, 128},
     set_up_heads,
     want_heads,
     {{"4-D tensor copies", T("permute_heads"), "permute_heads", "", AUTO}}},
    {"halo, f32 16384 x 16384 in 32 x 64",
     "halo",
     {16384, 16384},
     {96, 192},
     set_up_halo,
     want_halo,
     {{"tensor", T("halo"), "halo", "", AUTO}}},
    {"convert bf16 -> f32, 32768 x 16384",
     "convert",
     {32768, 16384},
     {70, 136},
     set_up_convert,
     want_convert,
     {{"via threads", T("convert"), "widen", "", AUTO}}},
    {"concat, bf16 65536 x (8192 + 8192)",
     "concat",
     {65536, 8192, 8192},
     {70, 520, 136},
     set_up_concat,
     want_concat,
     {{"two views", T("concat"), "concat", "", AUTO}}},
    {"im2col 3x3, bf16 32 x 64 x 64 x 128",
     "unfold_32",
     {32, 64, 64, 128},
     {3, 7, 10, 128},
     set_up_im2col,
     want_im2col,
     {{"128 channels", T("im2col"), "im2col", "", AUTO},
      {"64 channels, swizzle 128", "examples/im2col.tile", "im2col3x3", "C=128", AUTO}}},
    {"im2col 3x3, bf16 256 x 64 x 64 x 128",
     "unfold_256",
     {256, 64, 64, 128},
     {3, 9, 10, 128},
     set_up_im2col,
     want_im2col,
     {{"128 channels", T("im2col"), "im2col", "", AUTO},
      {"64 channels, swizzle 128", "examples/im2col.tile", "im2col3x3", "C=128", AUTO}}},
    {"loads of a GEMM, 4096 x 4096 x 8192",
     NULL,
     {4096, 4096, 8192},
     {256, 256, 2048},
     set_up_gemm,
     want_gemm,
     {{"cluster 1 x 1", T("gemm_loads"), "gemm_loads", "CX=1,CY=1", AUTO},
      {"cluster 2 x 1", T("gemm_loads"), "gemm_loads", "CX=2,CY=1", AUTO},
      {"cluster 1 x 2", T("gemm_loads"), "gemm_loads", "CX=1,CY=2", AUTO},
      {"cluster 2 x 2", T("gemm_loads"), "gemm_loads", "CX=2,CY=2", AUTO}}},
};
const size_t bench_ncases = sizeof bench_cases / sizeof *bench_cases;
