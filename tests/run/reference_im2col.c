/* The references of im2col, from the words of the PTX ISA, "Tensors: im2col mode".
 *
 *   A box in the pixels of a tensor [N, .., H, W, C]: in each spatial dimension from LOWER to the extent - 1 + UPPER, in steps of
 *   STEP. Its pixels are numbered with W fastest, then H, D, N.
 *   reference im2col IN.npy OUT.npy LOWER UPPER STEP FIRST TAPS FILL
 *             OUT[(p * all taps + tap) * c + k] = IN[pixel p of the box + FIRST + tap, k] for the first c channels, FILL (hex, per
 *             element) where that is outside; taps are numbered like pixels, TAPS of them by dimension
 *   reference col2im COLS.npy BEFORE.npy OUT.npy LOWER UPPER ADD
 *             OUT = BEFORE but for the pixels of the box: there COLS[p, ..], or (ADD 1, f4) their sum
 *   reference slices IN.npy OUT.npy LOWER UPPER STEP FIRST TAPS FILL
 *             the same of an interleaved tensor [N, S, .., W, c] whose S slices of a pixel have c channels each: OUT is
 *             [all taps, S, pixels, c], or that several times
 *   reference unslice COLS.npy BEFORE.npy OUT.npy LOWER UPPER ADD
 *             col2im of such a tensor: COLS is [1, S, pixels, c]
 *   reference w_rows IN.npy OUT.npy EVERY HALO OFFSET
 *             IN is [N, H, W, C], OUT [N * H * tiles, .., C]: from pixel 128 * tile + OFFSET of each row on EVERY and HALO more, again
 *             and again, each time EVERY further; 0 behind the row
 *   reference w_steps IN.npy OUT.npy EVERY HALO MORE OFFSET FURTHER
 *             OUT is [turns, N * H, .., C]: of each row 128 pixels like that, in turn s with HALO + MORE * s and OFFSET + FURTHER * s;
 *             0 in what follows the last of them
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

typedef struct Box {
    int n;                              /* spatial dimensions */
    long lower[RANK], size[RANK], step[RANK];
} Box;

static int list(const char *s, long *out)
{
    int n = 0;
    for (char *end; *s && n < RANK; s = *end ? end + 1 : end) out[n++] = strtol(s, &end, 10);
    return n;
}

/* Spatial dimensions are those from `from` on but for the last one. */
static Box box_of(const Array *a, char **lower, int with_step, int from)
{
    Box b = {.n = a->rank - 1 - from};
    long upper[RANK];
    int fits = list(lower[0], b.lower) == b.n && list(lower[1], upper) == b.n;
    for (int d = 0; d < b.n; d++) b.step[d] = 1;
    if (with_step) fits &= list(lower[2], b.step) == b.n;
    if (!fits) fail("numbers of the box", lower[0]);
    for (int d = 0; d < b.n; d++) b.size[d] = (a->shape[from + d] + upper[d] - b.lower[d] + b.step[d] - 1) / b.step[d];
    return b;
}

/* Number k of the box's pixels, at[0] the image; displaced by tap number t of those from `first` on. */
static void pixel(const Box *b, long k, const long *first, const long *taps, long t, long *at)
{
    for (int d = b->n; d > 0; d--) {
        at[d] = b->lower[d - 1] + k % b->size[d - 1] * b->step[d - 1];
        k /= b->size[d - 1];
        if (first == NULL) continue;
        at[d] += first[d - 1] + t % taps[d - 1];
        t /= taps[d - 1];
    }
    at[0] = k;
}

/* -1: outside */
static long place(const Array *a, const long *at)
{
    long k = 0;
    for (int d = 0; d < a->rank - 1; d++) {
        if (at[d] < 0 || at[d] >= a->shape[d]) return -1;
        k = k * a->shape[d] + at[d];
    }
    return k * a->shape[a->rank - 1];
}

static void set_bytes(const char *hex, unsigned char bytes[8])
{
    uint64_t fill = strtoull(hex, NULL, 16);
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(fill >> 8 * i);
}

int im2col(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    Box b = box_of(&in, v + 2, 1, 1);
    long first[RANK], taps[RANK], all = 1, at[RANK], c = out.shape[out.rank - 1], channels = in.shape[in.rank - 1];
    if (list(v[5], first) != b.n || list(v[6], taps) != b.n || c > channels) fail("numbers of the taps", v[6]);
    unsigned char bytes[8];
    set_bytes(v[7], bytes);
    long pixels = in.shape[0];
    for (int d = 0; d < b.n; d++) all *= taps[d], pixels *= b.size[d];
    if (out.count != (size_t)(pixels * all * c)) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long row = (long)i / c;
        pixel(&b, row / all, first, taps, row % all, at);
        long from = place(&in, at);
        if (differ(&out, i, from < 0 ? bytes : in.data + (size_t)(from + (long)i % c) * (size_t)in.size)) return 1;
    }
    return 0;
}

/* Element `to` becomes element i of cols, or (add, f4) that is added to it. */
static void put(Array *want, size_t to, const Array *cols, size_t i, int add)
{
    unsigned char *x = want->data + to * (size_t)want->size;
    float sum, part;
    if (!add) {
        memcpy(x, cols->data + i * (size_t)cols->size, (size_t)cols->size);
        return;
    }
    memcpy(&sum, x, sizeof sum);
    memcpy(&part, cols->data + i * sizeof part, sizeof part);
    sum += part;
    memcpy(x, &sum, sizeof sum);
}

int col2im(char **v)
{
    Array cols = load(v[0]), want = load(v[1]), out = load(v[2]);
    Box b = box_of(&out, v + 3, 0, 1);
    long c = out.shape[out.rank - 1], at[RANK];
    int add = v[5][0] == '1';
    if (want.count != out.count || cols.size != out.size) fail("shapes", v[2]);
    for (size_t i = 0; i < cols.count; i++) {
        pixel(&b, (long)i / c, NULL, NULL, 0, at);
        long to = place(&out, at);
        if (to < 0) fail("more pixels than the box has", v[0]);
        put(&want, (size_t)(to + (long)i % c), &cols, i, add);
    }
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, want.data + i * (size_t)out.size)) return 1;
    return 0;
}

/* The first element of slice s of the pixel, -1: outside. */
static long slice_place(const Array *a, const long *at, long s)
{
    if (at[0] < 0 || at[0] >= a->shape[0]) return -1;
    long k = at[0] * a->shape[1] + s;
    for (int d = 2; d < a->rank - 1; d++) {
        if (at[d - 1] < 0 || at[d - 1] >= a->shape[d]) return -1;
        k = k * a->shape[d] + at[d - 1];
    }
    return k * a->shape[a->rank - 1];
}

int slices(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    Box b = box_of(&in, v + 2, 1, 2);
    long first[RANK], taps[RANK], all = 1, at[RANK], c = in.shape[in.rank - 1], pixels = in.shape[0];
    if (list(v[5], first) != b.n || list(v[6], taps) != b.n || out.shape[out.rank - 1] != c) fail("numbers of the taps", v[6]);
    unsigned char bytes[8];
    set_bytes(v[7], bytes);
    for (int d = 0; d < b.n; d++) all *= taps[d], pixels *= b.size[d];
    long tap = in.shape[1] * pixels * c; /* elements */
    if (out.count == 0 || out.count % (size_t)(all * tap) != 0) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long k = (long)i;
        pixel(&b, k / c % pixels, first, taps, k / tap % all, at);
        long from = slice_place(&in, at, k / c / pixels % in.shape[1]);
        if (differ(&out, i, from < 0 ? bytes : in.data + (size_t)(from + k % c) * (size_t)in.size)) return 1;
    }
    return 0;
}

int unslice(char **v)
{
    Array cols = load(v[0]), want = load(v[1]), out = load(v[2]);
    Box b = box_of(&out, v + 3, 0, 2);
    long c = out.shape[out.rank - 1], pixels = out.shape[0], at[RANK];
    for (int d = 0; d < b.n; d++) pixels *= b.size[d];
    if (want.count != out.count || cols.size != out.size || cols.count != (size_t)(out.shape[1] * pixels * c)) fail("shapes", v[2]);
    for (size_t i = 0; i < cols.count; i++) {
        long k = (long)i;
        pixel(&b, k / c % pixels, NULL, NULL, 0, at);
        long to = slice_place(&out, at, k / c / pixels);
        if (to < 0) fail("more pixels than the box has", v[0]);
        put(&want, (size_t)(to + k % c), &cols, i, v[5][0] == '1');
    }
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, want.data + i * (size_t)out.size)) return 1;
    return 0;
}

int w_rows(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    long every = atol(v[2]), halo = atol(v[3]), offset = atol(v[4]);
    unsigned char fill[16] = {0};
    long lines = in.shape[0] * in.shape[1], tiles = lines ? out.shape[0] / lines : 0;
    if (in.rank != 4 || out.rank != 3 || out.shape[0] != lines * tiles || out.shape[2] != in.shape[3]) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long row = (long)i / out.shape[2], k = row % out.shape[1], r = row / out.shape[1] / tiles, tile = row / out.shape[1] % tiles;
        long w = 128 * tile + offset + k / (every + halo) * every + k % (every + halo);
        if (w >= in.shape[2]) {
            if (differ(&out, i, fill)) return 1;
            continue;
        }
        size_t from = (size_t)((r * in.shape[2] + w) * in.shape[3] + (long)i % out.shape[2]);
        if (differ(&out, i, in.data + from * (size_t)in.size)) return 1;
    }
    return 0;
}

int w_steps(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    long every = atol(v[2]), lines = in.shape[0] * in.shape[1], c = in.shape[3];
    unsigned char fill[16] = {0};
    if (in.rank != 4 || out.rank != 4 || out.shape[1] != lines || out.shape[3] > c) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long row = (long)i / out.shape[3], k = row % out.shape[2], r = row / out.shape[2] % lines, s = row / out.shape[2] / lines;
        long halo = atol(v[3]) + atol(v[4]) * s, offset = atol(v[5]) + atol(v[6]) * s;
        long w = offset + k / (every + halo) * every + k % (every + halo);
        int there = k < 128 / every * (every + halo) && w < in.shape[2];
        size_t from = there ? (size_t)((r * in.shape[2] + w) * c + (long)i % out.shape[3]) : 0;
        if (differ(&out, i, there ? in.data + from * (size_t)in.size : fill)) return 1;
    }
    return 0;
}
