/* What the copy modes do, written down from the PTX ISA as plain loops ("Tensors": tiled mode, gather4 and scatter4, im2col
 * mode, im2col::w modes, interleave layout, swizzling modes, sub-byte types) and from what was measured on an H200. It shares
 * nothing with runtime/sim: the oracle of sim_modes.c.
 *
 * ref_copy fills a plan: for each byte of the box's shared memory the address of the byte of global memory that belongs to
 * it, or REF_FILLED, REF_GAP (of packed types), REF_UNTOUCHED. Returns the bytes that the copy moves; -1: it ends the kernel.
 */
#ifndef TESTS_SIM_MODES_REF_H
#define TESTS_SIM_MODES_REF_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_FILLED = -1, REF_UNTOUCHED = -2, REF_GAP = -3, REF_BYTES = 96 * 1024 };

typedef enum RefMode { REF_TILED, REF_IM2COL, REF_W, REF_W128, REF_ROWS4 } RefMode;
/* Of the swizzling modes. */
typedef enum RefSwizzle { REF_NONE, REF_32, REF_64, REF_128, REF_128_ATOM_32, REF_128_ATOM_64 } RefSwizzle;

typedef struct RefCopy { /* all arrays innermost dimension first, as the PTX ISA numbers them */
    RefMode mode;
    bool load;
    int rank;
    int bits,
        container; /* of an element in global memory; bytes of global memory that 16 bytes of shared memory hold */
    int64_t address, size[5], stride[5]; /* stride[0] is not used */
    int64_t box[5], step[5];
    int64_t lower[3], upper[3]; /* W, H, D */
    int64_t channels, pixels;
    int slice; /* bytes of a slice of interleaved layouts, else 0 */
    RefSwizzle swizzle;
    int64_t coord[5], offset[3]; /* w modes: wHalo, wOffset */
    uint64_t shared;
} RefCopy;

/* The tables of "Swizzling modes": what stands at chunk c of the line of 128 bytes whose number is l. */
static const uint8_t REF_TABLE_32[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
static const uint8_t REF_TABLE_64[4][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}};
static const uint8_t REF_TABLE_128[8][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
    {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2}, {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
static const uint8_t REF_TABLE_ATOM_32[4][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}};
static const uint8_t REF_TABLE_ATOM_64[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};

static uint64_t ref_swizzled(uint64_t address, RefSwizzle s)
{
    uint64_t line = address / 128, chunk = address / 16 % 8, to = chunk;
    const uint8_t *row = s == REF_32            ? REF_TABLE_32[line % 2]
                         : s == REF_64          ? REF_TABLE_64[line % 4]
                         : s == REF_128         ? REF_TABLE_128[line % 8]
                         : s == REF_128_ATOM_32 ? REF_TABLE_ATOM_32[line % 4]
                         : s == REF_128_ATOM_64 ? REF_TABLE_ATOM_64[line % 2]
                                                : REF_TABLE_32[0];
    for (uint64_t c = 0; c < 8; c++)
        if (row[c] == chunk) to = c;
    return line * 128 + to * 16 + address % 16;
}

static int64_t ref_span(RefSwizzle s)
{
    return s == REF_NONE ? 0 : s == REF_32 ? 32 : s == REF_64 ? 64 : 128;
}

typedef struct RefOut {
    const RefCopy *c;
    int64_t *plan;
    int64_t row_bytes, width, pitch, rows;
} RefOut;

/* One row: the bytes of global memory from `first` on, those of the innermost dimension counted from its begin. */
static void ref_row(RefOut *o, int64_t row, int64_t begin, int64_t end, int64_t address, bool inside)
{
    const RefCopy *c = o->c;
    for (int64_t b = 0; b < o->width; b++) {
        int64_t unit = b / 16, in_unit = b % 16, data = unit * c->container + in_unit;
        uint64_t at = ref_swizzled(c->shared + (uint64_t)(row * o->pitch + b), c->swizzle) - c->shared;
        bool there = inside && begin + data >= 0 && begin + data < end;
        o->plan[at] = in_unit >= c->container ? REF_GAP : there ? address + data : REF_FILLED;
    }
    o->rows++;
}

/* A pixel at W, H, D of image n; its channels, or one slice of them. */
static void ref_pixel(RefOut *o, int64_t row, const int64_t at[3], int64_t n)
{
    const RefCopy *c = o->c;
    int first = c->slice ? 0 : 1, spatial = c->rank - 2;
    bool inside = n >= 0 && n < c->size[c->rank - 1];
    int64_t address = c->address + n * c->stride[c->rank - 1];
    for (int i = 0; i < spatial; i++) {
        int dim = first + i;
        int64_t step = dim == 0 ? c->slice : c->stride[dim];
        if (at[i] < 0 || at[i] >= c->size[dim]) inside = false;
        address += at[i] * step;
    }
    if (c->slice) {
        int64_t slice = c->coord[c->rank - 2];
        if (slice < 0 || slice >= c->size[c->rank - 2]) inside = false;
        ref_row(o, row, 0, c->slice, address + slice * c->stride[c->rank - 2], inside);
        return;
    }
    int64_t begin = c->coord[0] * c->bits / 8;
    ref_row(o, row, begin, c->size[0] * c->bits / 8, address + begin, inside);
}

/* "The tensor coordinates .. across DHW dimensions: specify the location of the convolution filter base in the tensor space.
 * The filter corner location must be within the bounding box." "im2col offsets are added to the filter base coordinates". */
static bool ref_im2col(RefOut *o)
{
    const RefCopy *c = o->c;
    int first = c->slice ? 0 : 1, spatial = c->rank - 2;
    int64_t pos[3] = {0, 0, 0}, low[3], high[3], n = c->coord[c->rank - 1];
    for (int i = 0; i < spatial; i++) {
        pos[i] = c->coord[first + i];
        low[i] = c->lower[i];
        high[i] = c->size[first + i] - 1 + c->upper[i];
        if (pos[i] < low[i] || pos[i] > high[i]) return false;
    }
    for (int64_t p = 0; p < c->pixels; p++) {
        int64_t at[3] = {0, 0, 0};
        for (int i = 0; i < spatial; i++) at[i] = pos[i] + (c->load ? c->offset[i] : 0);
        ref_pixel(o, p, at, n);
        int i = 0;
        for (; i < spatial; i++) {
            pos[i] += c->step[first + i];
            if (pos[i] <= high[i]) break;
            pos[i] = low[i];
        }
        if (i == spatial) n += c->step[c->rank - 1];
    }
    return true;
}

/* "elements are accessed across the W dimension only while keeping the H and D dimension constant"; wOffset is added to both
 * corners and to W; "the first element can lie outside .. only on the left side". */
static bool ref_wide(RefOut *o)
{
    const RefCopy *c = o->c;
    int64_t halo = c->offset[0], low = c->lower[0] + c->offset[1], n = c->coord[c->rank - 1], row = 0;
    int64_t high = c->size[1] - 1 + c->upper[0] + c->offset[1], pixels = c->mode == REF_W128 ? 128 : c->pixels;
    int64_t at[3] = {c->coord[1] + c->offset[1], c->rank > 3 ? c->coord[2] : 0, c->rank > 4 ? c->coord[3] : 0};
    if (at[0] > high) return false;
    for (int64_t p = 1; p <= pixels; p++) {
        ref_pixel(o, row++, at, n);
        if (halo && (c->mode == REF_W128 ? p % 32 == 0 : p == pixels)) {
            int64_t next[3] = {at[0], at[1], at[2]};
            for (int64_t h = 0; h < halo; h++) {
                next[0] += c->step[1];
                ref_pixel(o, row++, next, n);
            }
        }
        at[0] += c->step[1];
        if (at[0] > high) {
            at[0] = low;
            n += c->step[c->rank - 1];
        }
    }
    return true;
}

static void ref_rows4(RefOut *o)
{
    const RefCopy *c = o->c;
    int64_t begin = c->coord[0] * c->bits / 8;
    for (int i = 0; i < 4; i++) {
        int64_t row = c->coord[1 + i];
        ref_row(o, i, begin, c->size[0] * c->bits / 8, c->address + row * c->stride[1] + begin,
                row >= 0 && row < c->size[1]);
    }
}

static void ref_tiled(RefOut *o)
{
    const RefCopy *c = o->c;
    int64_t n[5] = {1, 1, 1, 1, 1}, row = 0, begin = c->coord[0] * c->bits / 8;
    for (int i = 1; i < c->rank; i++) n[i] = (c->box[i] + c->step[i] - 1) / c->step[i];
    for (int64_t e = 0; e < n[4]; e++)
        for (int64_t d = 0; d < n[3]; d++)
            for (int64_t h = 0; h < n[2]; h++)
                for (int64_t w = 0; w < n[1]; w++, row++) {
                    const int64_t index[5] = {0, w, h, d, e};
                    int64_t address = c->address + begin;
                    bool inside = true;
                    for (int i = 1; i < c->rank; i++) {
                        int64_t at = c->coord[i] + index[i] * c->step[i];
                        if (at < 0 || at >= c->size[i]) inside = false;
                        address += at * c->stride[i];
                    }
                    ref_row(o, row, begin, c->size[0] * c->bits / 8, address, inside);
                }
}

static inline int64_t ref_copy(const RefCopy *c, int64_t plan[REF_BYTES])
{
    int64_t elements = c->mode == REF_IM2COL || c->mode == REF_W || c->mode == REF_W128 ? c->channels : c->box[0];
    RefOut o = {.c = c, .plan = plan, .row_bytes = c->slice ? c->slice : elements * c->bits / 8};
    o.width = o.row_bytes / c->container * 16;
    o.pitch = o.width < ref_span(c->swizzle) && !c->slice ? ref_span(c->swizzle) : o.width;
    for (int i = 0; i < REF_BYTES; i++) plan[i] = REF_UNTOUCHED;
    bool ok = true;
    switch (c->mode) {
    case REF_IM2COL: ok = ref_im2col(&o); break;
    case REF_W:
    case REF_W128: ok = ref_wide(&o); break;
    case REF_ROWS4: ref_rows4(&o); break;
    case REF_TILED: ref_tiled(&o); break;
    }
    return ok ? o.rows * o.row_bytes : -1;
}

/* .b6p2x16: "each containing 6-bits of data at the LSB and 2-bits of padding at the MSB, are copied .. by discarding the
 * 2-bits of padding data and packing the 6-bits data contiguously". */
static inline void ref_pack6(uint8_t out[12], const uint8_t in[16])
{
    for (int bit = 0; bit < 96; bit++) {
        int value = in[bit / 6] >> bit % 6 & 1;
        if (bit % 8 == 0) out[bit / 8] = 0;
        out[bit / 8] = (uint8_t)(out[bit / 8] | value << bit % 8);
    }
}

#endif
