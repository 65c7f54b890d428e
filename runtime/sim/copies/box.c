/* The walk over the bytes of one tensor copy: rows, pieces, ranges, conversions. */
#include <string.h>

#include "lang/checked.h"
#include "runtime/sim/copies/maps.h"

/* ---- rows and pieces ---- */

static void row_at(const BoxWalk *w, uint32_t r, const int64_t at[6], BoxRow *out)
{
    bool inside = true;
    uint64_t address = (uint64_t)w->map.address + (uint64_t)w->begin;
    for (int i = 1; i < w->axes; i++) {
        if (at[i] < 0 || at[i] >= w->extent[i]) inside = false;
        address += (uint64_t)at[i] * w->distance[i]; /* wraps only where it is not used or not in memory */
    }
    *out = (BoxRow){.shared = r * w->pitch, .global = address};
    if (inside) {
        out->from = w->from;
        out->to = w->to;
    }
}

static void tile_row(const BoxWalk *w, uint32_t r, int64_t at[6])
{
    uint32_t left = r;
    for (int i = 1; i < w->axes; i++) {
        uint32_t n = w->count[i], index = left;
        if (i < w->axes - 1) {
            left /= n;
            index -= left * n;
        }
        at[i] = w->origin[i] + (int64_t)index * w->step[i];
    }
}

void box_row(const BoxWalk *w, uint32_t r, BoxRow *out)
{
    int64_t at[6];
    switch (w->map.mode) {
    case MAP_TILED: tile_row(w, r, at); break;
    case MAP_GATHER4:
    case MAP_SCATTER4: at[1] = w->start[1 + r]; break;
    default: box_pixel(w, r, at); break;
    }
    row_at(w, r, at, out);
}

/* Bytes lo .. hi of a row that are piece p: units, one of which the tensor's end cuts in two. */
static void piece_bytes(const BoxWalk *w, uint32_t p, uint32_t *lo, uint32_t *hi)
{
    uint32_t unit = p > w->cut ? p - 1 : p;
    *lo = unit * w->unit;
    *hi = *lo + w->unit;
    if (p == w->cut) *hi = w->to;
    else if (unit == w->cut) *lo = w->to;
}

static inline BoxPiece piece_of(const BoxWalk *w, const BoxRow *row, uint32_t p)
{
    uint32_t lo, hi;
    piece_bytes(w, p, &lo, &hi);
    return (BoxPiece){
        .global = row->global + lo,
        .shared = box_place(w, row->shared, lo),
        .bytes = (uint8_t)(hi - lo),
        .inside = lo >= row->from && hi <= row->to,
    };
}

void box_pieces(const BoxWalk *w, BoxPiece *out)
{
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        for (uint32_t p = 0; p < w->row_pieces; p++) *out++ = piece_of(w, &row, p);
    }
}

/* ---- ranges ---- */

typedef struct Merge { /* puts ranges that follow each other together */
    uint64_t at, bytes;
    bool (*shared)(void *user, uint32_t offset, uint32_t bytes);
    bool (*global)(void *user, uint64_t address, uint64_t bytes);
    void *user;
} Merge;

static bool merge_end(Merge *m)
{
    if (m->bytes == 0) return true;
    uint64_t at = m->at, bytes = m->bytes;
    m->bytes = 0;
    return m->shared ? m->shared(m->user, (uint32_t)at, (uint32_t)bytes) : m->global(m->user, at, bytes);
}

static bool merge_add(Merge *m, uint64_t at, uint64_t bytes)
{
    if (m->bytes && m->at + m->bytes == at) {
        m->bytes += bytes;
        return true;
    }
    if (!merge_end(m)) return false;
    m->at = at;
    m->bytes = bytes;
    return true;
}

bool box_shared_ranges(const BoxWalk *w, bool inside_only, bool (*tell)(void *user, uint32_t offset, uint32_t bytes),
                       void *user)
{
    Merge m = {.shared = tell, .user = user};
    bool dense = w->pitch == w->row_bytes && /* a whole row fills its place, in whatever order */
                 (w->swizzle_mask == 0 || w->row_bytes % ((w->swizzle_mask + 1) << w->swizzle_shift) == 0);
    if (dense && !inside_only) return tell(user, 0, w->box_bytes);
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        uint32_t from = inside_only ? row.from : 0, to = inside_only ? row.to : w->row_bytes;
        if (dense && to - from == w->row_bytes) {
            if (!merge_add(&m, row.shared, w->row_bytes)) return false;
            continue;
        }
        for (uint32_t b = from; b < to; b += w->unit) {
            uint32_t n = w->packs ? BOX_CHUNK : to - b < w->unit ? to - b : w->unit;
            if (!merge_add(&m, box_place(w, row.shared, b), n)) return false;
        }
    }
    return merge_end(&m);
}

bool box_gaps(const BoxWalk *w, bool (*tell)(void *user, uint32_t offset, uint32_t bytes), void *user)
{
    if (w->unit == BOX_CHUNK || w->packs) return true;
    for (uint32_t r = 0; r < w->rows; r++)
        for (uint32_t b = 0; b < w->row_bytes; b += w->unit)
            if (!tell(user, box_place(w, r * w->pitch, b) + w->unit, BOX_CHUNK - w->unit)) return false;
    return true;
}

bool box_global_ranges(const BoxWalk *w, bool (*tell)(void *user, uint64_t address, uint64_t bytes), void *user)
{
    Merge m = {.global = tell, .user = user};
    if (w->from == w->to) return true;
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        if (row.from < row.to && !merge_add(&m, row.global + row.from, row.to - row.from)) return false;
    }
    return merge_end(&m);
}

bool box_hull(const BoxWalk *w, uint64_t *address, uint64_t *bytes)
{
    int64_t lo, hi, reach;
    if (w->map.mode != MAP_TILED || w->from == w->to || !add_s64(w->map.address, w->begin, &lo)) return false;
    if (!add_s64(lo, w->to, &hi) || !add_s64(lo, w->from, &lo)) return false;
    for (int i = 1; i < w->axes; i++) {
        int64_t step = w->step[i], low = w->origin[i], high = low + (int64_t)(w->count[i] - 1) * step;
        if (low < 0) low += (-low + step - 1) / step * step;
        if (high >= w->extent[i]) high -= (high - w->extent[i] + step) / step * step;
        if (low > high || high < 0) return false; /* nothing inside */
        if (!mul_s64(low, (int64_t)w->distance[i], &reach) || !add_s64(lo, reach, &lo)) return false;
        if (!mul_s64(high, (int64_t)w->distance[i], &reach) || !add_s64(hi, reach, &hi)) return false;
    }
    *address = (uint64_t)lo;
    *bytes = (uint64_t)hi - (uint64_t)lo;
    return true;
}

/* ---- conversions ---- */

/* To 10 explicit bits of mantissa, to nearest, ties to even; subnormals are rounded like others, also in tf32_ftz maps,
 * and every NaN becomes one (measured). */
static uint32_t to_tf32(uint32_t bits)
{
    if ((bits & 0x7F800000u) == 0x7F800000u) return bits & 0x7FFFFFu ? 0x7FFFE000u : bits;
    return (bits + 0xFFFu + (bits >> 13 & 1)) & ~UINT32_C(0x1FFF);
}

void box_convert(uint8_t *data, size_t n)
{
    for (size_t at = 0; at + 4 <= n; at += 4) {
        uint32_t bits;
        memcpy(&bits, data + at, 4);
        bits = to_tf32(bits);
        memcpy(data + at, &bits, 4);
    }
}

void box_pack(uint8_t out[12], const uint8_t in[BOX_CHUNK])
{
    for (int i = 0; i < 12; i += 3, in += 4) { /* four values are three bytes */
        uint32_t v = (in[0] & 63u) | (in[1] & 63u) << 6 | (in[2] & 63u) << 12 | (in[3] & 63u) << 18;
        for (int k = 0; k < 3; k++) out[i + k] = (uint8_t)(v >> 8 * k);
    }
}
