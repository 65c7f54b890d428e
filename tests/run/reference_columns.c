/* The reference of the columns of convolutions.
 *
 *   reference columns IN.npy OUT.npy KERNEL PADDING STRIDE DILATION
 *             IN is [N, .., C] with 1 to 3 dimensions of space; KERNEL and the others have a number for each, "3,3". OUT is
 *             [pixels, taps * C]: pixel p of the convolution's output (outermost dimension first) and tap t take
 *             IN[n, p * stride + t * dilation - padding, c], zeros where that is outside
 */
#include <stddef.h>
#include <stdlib.h>

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

int columns(char **v)
{
    static const unsigned char zero[8];
    Array in = load(v[0]), out = load(v[1]);
    Window w = {.n = in.rank - 2};
    long taps = 1, pixels = 1, image = 1;
    if (w.n < 1 || w.n > SPACE || out.rank != 2) fail("shapes", v[1]);
    numbers(v[2], w.n, w.kernel);
    numbers(v[3], w.n, w.padding);
    numbers(v[4], w.n, w.stride);
    numbers(v[5], w.n, w.dilation);
    for (int i = 0; i < w.n; i++) {
        w.in[i] = in.shape[1 + i];
        w.out[i] = (w.in[i] + 2 * w.padding[i] - w.dilation[i] * (w.kernel[i] - 1) - 1) / w.stride[i] + 1;
        taps *= w.kernel[i];
        pixels *= w.out[i];
        image *= w.in[i];
    }
    long c = in.shape[in.rank - 1];
    if (out.shape[0] != in.shape[0] * pixels || out.shape[1] != taps * c) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long row = (long)i / (taps * c), column = (long)i % (taps * c);
        long from = source(&w, row % pixels, column / c);
        size_t at = (size_t)((row / pixels * image + from) * c + column % c);
        if (differ(&out, i, from >= 0 ? in.data + at * (size_t)in.size : zero)) return 1;
    }
    return 0;
}
