/* The reference of the columns of convolutions.
 *
 *   reference columns IN.npy OUT.npy KERNEL PADDING STRIDE DILATION
 *             IN is [N, .., C] with 1 to 3 dimensions of space; KERNEL and the others have a number for each, "3,3". OUT is
 *             [pixels, taps * C]: pixel p of the convolution's output (outermost dimension first) and tap t take
 *             IN[n, p * stride + t * dilation - padding, c], zeros where that is outside
 *   reference folded COLS.npy OUT.npy KERNEL PADDING STRIDE DILATION
 *             f4, the other way: OUT [N, .., C] has the sum of all COLS [pixels, taps * C] that would be taken from there
 *   reference tiled IN.npy OUT.npy TILE HALO
 *             OUT is IN in tiles, row-major one behind the other, each with a halo: TILE and HALO have a number per dimension;
 *             zeros outside
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

enum { SPACE = 3 };
typedef struct Window {
    int n;
    long in[SPACE], out[SPACE], kernel[SPACE], padding[SPACE], stride[SPACE], dilation[SPACE];
} Window;

static void numbers(const char *s, int n, long *out)
{
    char *end;
    for (int i = 0; i < n; i++) {
        out[i] = strtol(s, &end, 10);
        if (end == s || *end != (i + 1 < n ? ',' : 0)) fail("a number for each dimension of space", s);
        s = end + 1;
    }
}

/* Number `at` of a grid with these extents, outermost first. */
static void unravel(long at, int n, const long *extent, long *out)
{
    for (int i = n - 1; i >= 0; i--) {
        out[i] = at % extent[i];
        at /= extent[i];
    }
}

/* The pixel of the image that tap `tap` of output pixel `pixel` is; -1: outside. */
static long source(const Window *w, long pixel, long tap)
{
    long p[SPACE], t[SPACE], at = 0;
    unravel(pixel, w->n, w->out, p);
    unravel(tap, w->n, w->kernel, t);
    for (int i = 0; i < w->n; i++) {
        long x = p[i] * w->stride[i] + t[i] * w->dilation[i] - w->padding[i];
        if (x < 0 || x >= w->in[i]) return -1;
        at = at * w->in[i] + x;
    }
    return at;
}

typedef struct Folding {
    Window w;
    long taps, pixels, image, channels;
} Folding;

static Folding folding(const Array *image, const Array *columns, char **v)
{
    Folding f = {.w.n = image->rank - 2, .taps = 1, .pixels = 1, .image = 1, .channels = image->shape[image->rank - 1]};
    Window *w = &f.w;
    if (w->n < 1 || w->n > SPACE || columns->rank != 2) fail("shapes", v[1]);
    numbers(v[2], w->n, w->kernel);
    numbers(v[3], w->n, w->padding);
    numbers(v[4], w->n, w->stride);
    numbers(v[5], w->n, w->dilation);
    for (int i = 0; i < w->n; i++) {
        w->in[i] = image->shape[1 + i];
        w->out[i] = (w->in[i] + 2 * w->padding[i] - w->dilation[i] * (w->kernel[i] - 1) - 1) / w->stride[i] + 1;
        f.taps *= w->kernel[i];
        f.pixels *= w->out[i];
        f.image *= w->in[i];
    }
    if (columns->shape[0] != image->shape[0] * f.pixels || columns->shape[1] != f.taps * f.channels) fail("shapes", v[1]);
    return f;
}

/* The element of the image that element i of the columns is; -1: outside. */
static long folded_at(const Folding *f, size_t i)
{
    long c = f->channels, row = (long)i / (f->taps * c), column = (long)i % (f->taps * c);
    long from = source(&f->w, row % f->pixels, column / c);
    return from < 0 ? -1 : (row / f->pixels * f->image + from) * c + column % c;
}

int columns(char **v)
{
    static const unsigned char zero[8];
    Array in = load(v[0]), out = load(v[1]);
    Folding f = folding(&in, &out, v);
    for (size_t i = 0; i < out.count; i++) {
        long at = folded_at(&f, i);
        if (differ(&out, i, at >= 0 ? in.data + (size_t)at * (size_t)in.size : zero)) return 1;
    }
    return 0;
}

int folded(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    Folding f = folding(&out, &in, v);
    if (in.size != sizeof(float) || out.size != sizeof(float)) fail("f4 is wanted", v[0]);
    float *sum = calloc(out.count + 1, sizeof *sum);
    if (!sum) fail("memory", v[1]);
    for (size_t i = 0; i < in.count; i++) {
        long at = folded_at(&f, i);
        float x;
        memcpy(&x, in.data + i * sizeof x, sizeof x);
        if (at >= 0) sum[at] += x;
    }
    int bad = 0;
    for (size_t i = 0; i < out.count && !bad; i++) bad = differ(&out, i, (const unsigned char *)&sum[i]);
    free(sum);
    return bad;
}

int tiled(char **v)
{
    static const unsigned char zero[8];
    Array in = load(v[0]), out = load(v[1]);
    long tile[RANK], halo[RANK], tiles[RANK], with[RANK], number[RANK], inside[RANK], size = 1, all = 1;
    numbers(v[2], in.rank, tile);
    numbers(v[3], in.rank, halo);
    for (int d = 0; d < in.rank; d++) {
        tiles[d] = (in.shape[d] + tile[d] - 1) / tile[d];
        with[d] = tile[d] + 2 * halo[d];
        size *= with[d];
        all *= tiles[d];
    }
    if (out.count != (size_t)(size * all)) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long at = 0;
        unravel((long)i / size, in.rank, tiles, number);
        unravel((long)i % size, in.rank, with, inside);
        for (int d = 0; d < in.rank && at >= 0; d++) {
            long x = number[d] * tile[d] + inside[d] - halo[d];
            at = x < 0 || x >= in.shape[d] ? -1 : at * in.shape[d] + x;
        }
        if (differ(&out, i, at >= 0 ? in.data + (size_t)at * (size_t)in.size : zero)) return 1;
    }
    return 0;
}
