#include "tests/sim/tensor_reference.h"

#include <string.h>

/* ---- tcgen05.cp ---- */
/* Byte of shared memory behind byte `byte` of row `row` of a K-major matrix. PTX ISA, Strides: rows come in eights, SBO
 * apart; without swizzle the eights are split into core matrices of 8 x 16 bytes, LBO apart along the row; with it the
 * rows of eight are as long as the swizzle's span, and what stands there was permuted by it. */
static int64_t place(const TensorSource *s, int64_t row, int64_t byte)
{
    int64_t eight = row / 8, in_eight = row % 8;
    if (s->swizzle == 0) {
        int64_t core = s->start + eight * s->sbo + byte / 16 * s->lbo;
        return core + in_eight * 16 + byte % 16;
    }
    int64_t plain = s->start + eight * s->sbo + in_eight * s->swizzle + byte;
    /* In each line of 128 bytes a chunk of 16 goes to the place with the number chunk xor line, of as many lines and
     * chunks as the span has chunks. */
    int64_t chunks = s->swizzle / 16, line = plain / 128, chunk = plain / 16 % 8;
    int64_t group = chunk / chunks, other = 0;
    for (int64_t bit = 1; bit < chunks; bit *= 2)
        if ((chunk % chunks / bit + line % chunks / bit) % 2) other += bit;
    return line * 128 + (group * chunks + other) * 16 + plain % 16;
}

static int bit_of(const unsigned char *p, int64_t bit)
{
    return p[bit / 8] >> bit % 8 & 1;
}

/* Element e of 16, bit by bit: 6-bit elements in the low bits of their byte, 4-bit ones in its middle. */
static unsigned element(const unsigned char chunk[16], int bits, int e)
{
    unsigned v = 0;
    for (int b = 0; b < bits; b++)
        v |= (unsigned)bit_of(chunk, (int64_t)e * bits + b) << (b + (8 - bits) / 2 * (bits == 4));
    return v;
}

static bool source_byte(const char *format, const TensorSource *s, int64_t row, int64_t byte, unsigned *out)
{
    unsigned char chunk[16];
    int bits = strcmp(format, "none") == 0        ? 8
               : strcmp(format, "b4x16_p64") == 0 ? 4
               : strcmp(format, "b6x16_p32") == 0 ? 6
                                                  : 0;
    for (int64_t i = 0; i < 16; i++) {
        int64_t at = place(s, row, byte / 16 * 16 + i);
        if (at < 0 || at >= s->n) return false;
        chunk[i] = s->bytes[at];
    }
    *out = bits == 8 ? chunk[byte % 16] : element(chunk, bits, (int)(byte % 16));
    return bits != 0;
}

/* The lanes that row `row` goes to, from the first lane on; how many. */
static int lanes_of(const char *shape, int64_t row, int64_t out[4])
{
    int64_t warp = row / 32, in_warp = row % 32;
    if (strncmp(shape, "128x", 4) == 0) {
        out[0] = row;
        return 1;
    }
    if (strcmp(shape, "4x256b") == 0) { /* a row for each warp's part */
        out[0] = row * 32;
        return 1;
    }
    if (strcmp(shape, "64x128b.warpx2::02_13") == 0) { /* the first half to warps 0 and 2, the second to 1 and 3 */
        static const int64_t warps[2][2] = {{0, 2}, {1, 3}};
        for (int i = 0; i < 2; i++) out[i] = warps[warp][i] * 32 + in_warp;
        return 2;
    }
    if (strcmp(shape, "64x128b.warpx2::01_23") == 0) {
        static const int64_t warps[2][2] = {{0, 1}, {2, 3}};
        for (int i = 0; i < 2; i++) out[i] = warps[warp][i] * 32 + in_warp;
        return 2;
    }
    for (int i = 0; i < 4; i++) out[i] = i * 32 + in_warp;
    return strcmp(shape, "32x128b.warpx4") == 0 ? 4 : 0;
}

bool tensor_cp(const char *shape, const char *format, const TensorSource *s, uint32_t *matrix, int64_t pitch,
               int64_t lane, int64_t column)
{
    int64_t rows = strncmp(shape, "128x", 4) == 0 ? 128 : shape[0] == '6' ? 64 : shape[0] == '3' ? 32 : 4;
    int64_t words = strstr(shape, "256b") ? 8 : 4;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t w = 0; w < words; w++) {
            uint32_t v = 0;
            int64_t to[4];
            int n = lanes_of(shape, row, to);
            for (int64_t b = 0; b < 4; b++) {
                unsigned x;
                if (!source_byte(format, s, row, 4 * w + b, &x)) return false;
                v |= (uint32_t)x << 8 * b;
            }
            for (int i = 0; i < n; i++) matrix[(lane + to[i]) * pitch + column + w] = v;
            if (n == 0 || column + w >= pitch) return false;
        }
    return true;
}

/* ---- tcgen05.shift: 31 rows of 32 bytes; each row takes what the next one has ---- */
bool tensor_shift(uint32_t *matrix, int64_t pitch, int64_t lane, int64_t column)
{
    if (lane % 32 || column + 8 > pitch) return false;
    for (int64_t row = 0; row < 31; row++)
        for (int64_t c = 0; c < 8; c++)
            matrix[(lane + row) * pitch + column + c] = matrix[(lane + row + 1) * pitch + column + c];
    return true;
}

/* ---- tcgen05.ld, .st: for each word of the figure the thread and the register that hold it ---- */
typedef struct Move {
    bool packed, store;
    uint32_t *regs, *matrix;
    int64_t n, pitch, lane, column;
} Move;

/* The word at (row, word) of the fragment: one column, or two with 16 bits each. `from`: its first column if not
 * `word` or twice that. */
static void move_word(const Move *m, int64_t thread, int64_t reg, int64_t row, int64_t word, int64_t more)
{
    uint32_t *r = &m->regs[thread * m->n + reg];
    uint32_t *cell = &m->matrix[(m->lane + row) * m->pitch + m->column + more + word * (m->packed ? 2 : 1)];
    if (!m->packed && m->store) cell[0] = *r;
    else if (!m->packed) *r = cell[0];
    else if (m->store) {
        cell[0] = (cell[0] & 0xFFFF0000u) | (*r & 0xFFFF);
        cell[1] = (cell[1] & 0xFFFF0000u) | *r >> 16;
    } else {
        *r = (cell[0] & 0xFFFF) | cell[1] << 16;
    }
}

bool tensor_move(const char *shape, bool packed, int64_t half, bool store, uint32_t *regs, int64_t n, uint32_t *matrix,
                 int64_t pitch, int64_t lane, int64_t column)
{
    Move m = {packed, store, regs, matrix, n, pitch, lane, column};
    if (strcmp(shape, "32x32b") == 0) {
        for (int64_t row = 0; row < 32; row++)
            for (int64_t r = 0; r < n; r++) move_word(&m, row, r, row, r, 0);
    } else if (strcmp(shape, "16x64b") == 0) { /* rows 0 .. 7: threads 0 2 | 4 6 | ..; rows 8 .. 15: 1 3 | 5 7 | .. */
        for (int64_t r = 0; r < n; r++)
            for (int64_t row = 0; row < 16; row++)
                for (int64_t c = 0; c < 2; c++) move_word(&m, row % 8 * 4 + c * 2 + row / 8, r, row, 2 * r + c, 0);
    } else if (strcmp(shape, "16x128b") == 0) { /* r0: rows 0 .. 7, four threads a row; r1: rows 8 .. 15 */
        for (int64_t x = 0; x < n / 2; x++)
            for (int64_t row = 0; row < 16; row++)
                for (int64_t c = 0; c < 4; c++) move_word(&m, row % 8 * 4 + c, 2 * x + row / 8, row, 4 * x + c, 0);
    } else if (strcmp(shape, "16x256b") == 0) { /* r0, r1: two columns of rows 0 .. 7; r2, r3: of rows 8 .. 15 */
        for (int64_t x = 0; x < n / 4; x++)
            for (int64_t row = 0; row < 16; row++)
                for (int64_t c = 0; c < 8; c++)
                    move_word(&m, row % 8 * 4 + c / 2, 4 * x + row / 8 * 2 + c % 2, row, 8 * x + c, 0);
    } else if (strcmp(shape, "16x32bx2") == 0) { /* threads 0 .. 15 the first access, 16 .. 31 the second */
        for (int64_t row = 0; row < 16; row++)
            for (int64_t r = 0; r < n; r++) {
                move_word(&m, row, r, row, r, 0);
                move_word(&m, row + 16, r, row, r, half);
            }
    } else {
        return false;
    }
    return true;
}
