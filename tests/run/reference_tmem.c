/* The references of tensor memory, from the text of the PTX ISA.
 *
 *   reference lanes IN.npy OUT.npy SHAPE FIRST BITS   OUT holds the 128 lanes of each CTA, one CTA after the other, IN the rows of
 *             each: SHAPE is 128x256b, 4x256b, 128x128b, 64x128b_02_13, 64x128b_01_23 or 32x128b, FIRST the first lane of
 *             4x256b. BITS of an element of IN: 8, or 4 and 6, which become 8. Lanes without a row are zeros.
 *   reference pieces IN.npy OUT.npy SHAPE BITS "TO:ROW:FROM:COUNT:FIRST .."   the same piece by piece: COUNT elements of a lane from
 *             element TO on are those from FROM on of row ROW + r of IN, r the lane's row of SHAPE. IN has rows of its last
 *             dimension; what no piece writes is zero. OUT has the lanes from 0 on, or 128 of them several times. BITS below 8: as above.
 *   reference slide IN.npy NEXT.npy OUT.npy           IN has 128 lanes; for each k row i of every 32 gets row i + 1, and row 31
 *             NEXT[k, i / 32], as often as it fits
 *   reference tcgen SF.npy W4.npy BEFORE.npy OUT.npy   examples/tcgen.tile, step by step
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

enum { LANES = 128, WARP = 32 };

/* Whether a lane gets row *row. tcgen05.cp: "Warp pairs": warps 0 and 2, 1 and 3 (02_13); 0 and 1, 2 and 3 (01_23) have the same
 * half of the rows. */
static int row_of(const char *shape, long first, long lane, long *row)
{
    long warp = lane / WARP, in = lane % WARP;
    if (strncmp(shape, "128x", 4) == 0) *row = lane;
    else if (strcmp(shape, "4x256b") == 0) *row = warp;
    else if (strcmp(shape, "64x128b_02_13") == 0) *row = warp % 2 * WARP + in;
    else if (strcmp(shape, "64x128b_01_23") == 0) *row = warp / 2 * WARP + in;
    else *row = in;
    return strcmp(shape, "4x256b") != 0 || in == first;
}

static long rows_of(const char *shape)
{
    return strtol(shape, NULL, 10);
}

/* Optional decompression: 4 bits become bits 2 to 5 of a byte, 6 bits its low ones; elements lie low bits first. */
static unsigned char element(const Array *in, size_t at, int bits)
{
    unsigned v = 0;
    if (bits == 8) return in->data[at];
    for (int b = 0; b < bits; b++) {
        size_t bit = at * (size_t)bits + (size_t)b;
        v |= (in->data[bit / 8] >> bit % 8 & 1u) << b;
    }
    return (unsigned char)(bits == 4 ? v << 2 : v);
}

int lanes(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    const char *shape = v[2];
    long first = strtol(v[3], NULL, 10), width = out.shape[1], rows = rows_of(shape), row;
    int bits = (int)strtol(v[4], NULL, 10);
    if (out.rank != 2 || out.shape[0] % LANES) fail("shapes", v[1]);
    /* A row of IN may be longer than a lane. */
    size_t elements = in.count * (size_t)in.size * 8 / (size_t)bits, length = elements / (size_t)(out.shape[0] / LANES * rows);
    for (size_t i = 0; i < out.count; i++) {
        long lane = (long)i / width, cta = lane / LANES;
        unsigned char want = 0;
        if (row_of(shape, first, lane % LANES, &row)) want = element(&in, (size_t)(cta * rows + row) * length + i % (size_t)width, bits);
        if (differ(&out, i, &want)) return 1;
    }
    return 0;
}

int pieces(char **v)
{
    enum { PIECES_MAX = 64, NUMBERS = 5 };
    static const unsigned char zeros[8] = {0};
    Array in = load(v[0]), out = load(v[1]);
    const char *shape = v[2];
    int bits = (int)strtol(v[3], NULL, 10), n = 0;
    long p[PIECES_MAX][NUMBERS], width = out.shape[1], length = in.shape[in.rank - 1] * 8 / bits, row;
    for (char *s = v[4]; *s; n++)
        for (int k = 0; k < NUMBERS && n < PIECES_MAX; k++, s += *s != 0) p[n][k] = strtol(s, &s, 10);
    if (out.rank != 2 || out.size != in.size || n > PIECES_MAX) fail("pieces", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        long lane = (long)i / width % LANES, at = (long)i % width;
        const unsigned char *want = zeros;
        unsigned char less;
        for (int k = 0; k < n; k++) {
            if (at < p[k][0] || at >= p[k][0] + p[k][3] || !row_of(shape, p[k][4], lane, &row)) continue;
            size_t from = (size_t)((p[k][1] + row) * length + p[k][2] + at - p[k][0]);
            if (bits < 8) less = element(&in, from, bits);
            want = bits < 8 ? &less : in.data + from * (size_t)in.size;
        }
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

int slide(char **v)
{
    Array in = load(v[0]), next = load(v[1]), out = load(v[2]);
    long width = in.shape[1], piece = next.shape[2];
    for (long k = 0; k < next.shape[0]; k++) {
        for (long lane = 0; lane < LANES; lane++) {
            unsigned char *row = in.data + lane * width;
            if (lane % WARP != WARP - 1) memcpy(row, row + width, (size_t)width);
            for (long i = 0; lane % WARP == WARP - 1 && i < width; i++)
                row[i] = next.data[(k * 4 + lane / WARP) * piece + i % piece];
        }
    }
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, in.data + i)) return 1;
    return 0;
}

int tcgen(char **v)
{
    Array sf = load(v[0]), w4 = load(v[1]), before = load(v[2]), out = load(v[3]);
    enum { SCALES = 16, FREE = 16, WIDTH = 128, MOVED = 32 };
    static unsigned char u[LANES][WIDTH];
    long row;
    for (long lane = 0; lane < LANES; lane++)
        for (long i = 0; i < WIDTH; i++) u[lane][i] = element(&w4, (size_t)(lane * WIDTH + i), 4);
    for (long lane = 0; lane + 1 < WARP; lane++) memcpy(u[lane], u[lane + 1], MOVED);
    for (long lane = WARP - 1; lane < LANES; lane += WARP) memset(u[lane], 0, MOVED);
    for (size_t i = 0; i < out.count; i++) {
        long lane = (long)i / out.shape[1], column = (long)i % out.shape[1];
        unsigned char want = before.data[i];
        if (column < SCALES && row_of("64x128b_02_13", 0, lane, &row)) want = sf.data[row * SCALES + column];
        if (column >= SCALES + FREE) want = u[lane][column - SCALES - FREE];
        if (differ(&out, i, &want)) return 1;
    }
    return 0;
}
