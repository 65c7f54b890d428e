/* The reference of im2col.
 *
 *   reference im2col3x3 IN.npy OUT.npy                IN is [N, H, W, C]: OUT[n * H * W + p * W + q, (r * 3 + s) * C + c] =
 *             IN[n, p + r - 1, q + s - 1, c], zeros where that is outside
 */
#include <stddef.h>

#include "reference.h"

int im2col3x3(char **v)
{
    static const unsigned char zero[8];
    Array in = load(v[0]), out = load(v[1]);
    long h = in.shape[1], w = in.shape[2], c = in.shape[3];
    if (in.rank != 4 || out.rank != 2 || out.shape[0] != in.shape[0] * h * w || out.shape[1] != 9 * c) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long pixel = (long)i / (9 * c), column = (long)i % (9 * c), at = column / c;
        long y = pixel / w % h + at / 3 - 1, x = pixel % w + at % 3 - 1;
        int inside = y >= 0 && y < h && x >= 0 && x < w;
        size_t from = (size_t)(((pixel / (h * w) * h + y) * w + x) * c + column % c);
        if (differ(&out, i, inside ? in.data + from * (size_t)in.size : zero)) return 1;
    }
    return 0;
}
