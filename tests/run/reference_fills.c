/* The references of byte masks and of fills.
 *
 *   reference some_bytes IN.npy BEFORE.npy OUT.npy MASK
 *             byte k of OUT is that of IN where bit k % 16 of MASK is 1, that of BEFORE elsewhere
 *   reference a_byte_each IN.npy BEFORE.npy OUT.npy   the same of rows, with 1 << the row's number for a mask
 *   reference masks IN.npy BEFORE.npy OUT.npy WHICH.npy   the same with the low half of WHICH[row]
 *   reference told OUT.npy CTAS                       OUT[c, r, ..]: what CTA c of a cluster heard from the one of rank r
 *   reference spread OUT.npy V, added IN.npy OUT.npy V   golden/cluster/peer_fills.tile: spread, sums
 *   reference turns OUT.npy N                         OUT[c, k, ..] = 4 k + (c + 3) % 4 for k < N
 *   reference framed V.npy OUT.npy                    rows 8 to 23 of each 32 are V's, the others 0
 *   reference first IN.npy OUT.npy ROWS               IN's rows in front of row ROWS, then 0
 *   reference striped OUT.npy                         golden/fill/zeros.tile: parts
 *   reference bordered IN.npy OUT.npy                 OUT[n, c, y, x, ..] = IN[n, c, y - 1, x - 2, ..], zeros outside
 *   reference halves IN.npy OUT.npy                   OUT[n, c, y, x, ..] = IN[n, c, 2 y, 2 x, ..]
 *   reference biased IN.npy B.npy OUT.npy             f32: OUT[n, c, w, s] = IN[n, c, w, s] + B[w % 16, s]
 *   reference more IN.npy V OUT.npy                   f32: OUT = IN + V
 *   reference topped IN.npy OUT.npy ROWS V ADD        s32: ADD more than IN in the upper half of each ROWS rows, than V in the lower one
 *   reference exchanged IN.npy OUT.npy TIMES          u32: OUT[r, ..] = IN[r, ..] + TIMES * IN[1 - r, ..]
 *   reference six_bits IN.npy OUT.npy                 OUT's bits are the low 6 of IN's bytes, the first lowest
 */
#include <stdlib.h>
#include <string.h>

#include "reference.h"

static int bytes_differ(Array *in, const Array *before, const Array *out, long (*mask)(const void *, size_t row), const void *user)
{
    size_t size = (size_t)in->size, row_bytes = in->count / (size_t)in->shape[0] * size;
    for (size_t i = 0; i < out->count; i++) {
        unsigned char want[8];
        for (size_t b = 0; b < size; b++) {
            size_t k = i * size + b;
            long m = mask(user, k / row_bytes);
            want[b] = m >> k % 16 & 1 ? in->data[k] : before->data[k];
        }
        if (differ(out, i, want)) return 1;
    }
    return 0;
}

static long one_mask(const void *user, size_t row)
{
    (void)row;
    return *(const long *)user;
}

static long row_bit(const void *user, size_t row)
{
    (void)user;
    return 1L << row;
}

static long listed_mask(const void *user, size_t row)
{
    return (long)(integer(user, row) & 0xffff);
}

int some_bytes(char **v)
{
    Array in = load(v[0]), before = load(v[1]), out = load(v[2]);
    long mask = strtol(v[3], NULL, 0);
    return bytes_differ(&in, &before, &out, one_mask, &mask);
}

int a_byte_each(char **v)
{
    Array in = load(v[0]), before = load(v[1]), out = load(v[2]);
    return bytes_differ(&in, &before, &out, row_bit, NULL);
}

int masks(char **v)
{
    Array in = load(v[0]), before = load(v[1]), out = load(v[2]), which = load(v[3]);
    return bytes_differ(&in, &before, &out, listed_mask, &which);
}

int told(char **v)
{
    static const double heard[] = {0, 2.5, -1, 1e300};
    Array out = load(v[0]);
    long ctas = strtol(v[1], NULL, 10), per = (long)out.count / ctas / 4;
    for (long i = 0; i < (long)out.count; i++) {
        long c = i / per / 4, from = i / per % 4;
        if (differ(&out, (size_t)i, (const unsigned char *)&heard[(c % 4 - from + 4) % 4])) return 1;
    }
    return 0;
}

/* What the tile of a CTA has in its 16 rows of 64: told by the CTA of rank `from`, in turn k. */
static int32_t spread_value(long row, long column, long from, long k, int32_t v)
{
    static const int32_t rows[16] = {7, 7, 7, 7, 0, 0, 5, 5, 6, 6, 6, 6, 8, 8, 8, 8};
    if (row == 4) return column < 4 ? v : (int32_t)(k * 3 + from);
    if (row == 5) return column == 0 ? 1 : column == 1 ? 2 : column < 4 ? 3 : -4;
    return rows[row];
}

int spread(char **v)
{
    Array out = load(v[0]);
    int32_t value = (int32_t)strtol(v[1], NULL, 10);
    for (long i = 0; i < (long)out.count; i++) {
        long column = i % 64, row = i / 64 % 16, k = i / 1024 % 3, cta = i / 3072;
        int32_t want = spread_value(row, column, (cta + 3) % 4, k, value);
        if (differ(&out, (size_t)i, (const unsigned char *)&want)) return 1;
    }
    return 0;
}

int added(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    uint32_t value = (uint32_t)strtoul(v[2], NULL, 10);
    for (long i = 0; i < (long)out.count; i++) {
        long column = i % 64, row = i / 64 % 16, k = i / 1024 % 3, cta = i / 3072;
        uint32_t want;
        memcpy(&want, in.data + i * 4, 4);
        if (row < 4) want += 7;
        if (row == 4 && column < 4) want += value;
        if (row == 4 && column < 60) want += (uint32_t)(k * 3 + (cta + 1) % 4);
        if (differ(&out, (size_t)i, (const unsigned char *)&want)) return 1;
    }
    return 0;
}

int turns(char **v)
{
    Array out = load(v[0]);
    long n = strtol(v[1], NULL, 10);
    for (long i = 0; i < (long)out.count; i++) {
        long k = i / out.shape[2] % out.shape[1], cta = i / out.shape[2] / out.shape[1];
        int32_t want = (int32_t)(k * 4 + (cta + 3) % 4);
        if (k < n && differ(&out, (size_t)i, (const unsigned char *)&want)) return 1;
    }
    return 0;
}

static const unsigned char ZERO[8];

int framed(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    for (size_t i = 0; i < out.count; i++) {
        size_t columns = (size_t)out.shape[1], row = i / columns % 32;
        const unsigned char *want = row < 8 || row > 23 ? ZERO : in.data + ((row - 8) * columns + i % columns) * (size_t)in.size;
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

int first(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    long rows = strtol(v[2], NULL, 10);
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, (long)i / out.shape[1] < rows ? in.data + i * (size_t)in.size : ZERO)) return 1;
    return 0;
}

int striped(char **v)
{
    Array out = load(v[0]);
    for (size_t i = 0; i < out.count; i++) {
        size_t row = i / 64 % 32;
        uint32_t want = row < 8 ? 7 : row == 24 && i % 64 == 0 ? 5 : row > 26 ? 9 : 0;
        if (differ(&out, i, (const unsigned char *)&want)) return 1;
    }
    return 0;
}

/* [n, c, y, x, s] of OUT is [n, c, y * step - up, x * step - left, s] of IN. */
static int pixels(char **v, long step, long up, long left)
{
    Array in = load(v[0]), out = load(v[1]);
    for (long i = 0; i < (long)out.count; i++) {
        long s = i % out.shape[4], x = i / out.shape[4] % out.shape[3] * step - left;
        long y = i / out.shape[4] / out.shape[3] % out.shape[2] * step - up, image = i / out.shape[4] / out.shape[3] / out.shape[2];
        int inside = y >= 0 && y < in.shape[2] && x >= 0 && x < in.shape[3];
        size_t from = (size_t)(((image * in.shape[2] + y) * in.shape[3] + x) * in.shape[4] + s);
        if (differ(&out, (size_t)i, inside ? in.data + from * (size_t)in.size : ZERO)) return 1;
    }
    return 0;
}

int bordered(char **v)
{
    return pixels(v, 1, 1, 2);
}

int halves(char **v)
{
    return pixels(v, 2, 0, 0);
}

int biased(char **v)
{
    Array in = load(v[0]), b = load(v[1]), out = load(v[2]);
    long slice = in.shape[in.rank - 1], width = in.shape[in.rank - 2];
    for (long i = 0; i < (long)out.count; i++) {
        float x, y;
        memcpy(&x, in.data + i * 4, 4);
        memcpy(&y, b.data + (i / slice % width % 16 * slice + i % slice) * 4, 4);
        x += y;
        if (differ(&out, (size_t)i, (const unsigned char *)&x)) return 1;
    }
    return 0;
}

int more(char **v)
{
    Array in = load(v[0]), out = load(v[2]);
    float add = strtof(v[1], NULL);
    for (size_t i = 0; i < out.count; i++) {
        float x;
        memcpy(&x, in.data + i * 4, 4);
        x += add;
        if (differ(&out, i, (const unsigned char *)&x)) return 1;
    }
    return 0;
}

int topped(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    long rows = strtol(v[2], NULL, 10), value = strtol(v[3], NULL, 10), add = strtol(v[4], NULL, 10);
    if (in.count != out.count) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long row = (long)i / out.shape[1] % rows;
        uint32_t x = (uint32_t)value;
        if (row < rows / 2) memcpy(&x, in.data + i * 4, 4);
        x += (uint32_t)add;
        if (differ(&out, i, (const unsigned char *)&x)) return 1;
    }
    return 0;
}

int exchanged(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    uint32_t times = (uint32_t)strtoul(v[2], NULL, 10);
    if (in.count != out.count || out.shape[0] != 2) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        uint32_t mine, other;
        memcpy(&mine, in.data + i * 4, 4);
        memcpy(&other, in.data + (i + out.count / 2) % out.count * 4, 4);
        mine += times * other;
        if (differ(&out, i, (const unsigned char *)&mine)) return 1;
    }
    return 0;
}

int six_bits(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    if (in.count * 6 != out.count * 8) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        unsigned char want = 0;
        for (size_t b = 0; b < 8; b++) {
            size_t at = i * 8 + b;
            want |= (unsigned char)((in.data[at / 6] >> at % 6 & 1) << b);
        }
        if (differ(&out, i, &want)) return 1;
    }
    return 0;
}
