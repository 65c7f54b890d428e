/* The walk over the bytes of one tensor copy: coordinates, bounds, fill, swizzle. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/checked.h"
#include "runtime/sim/maps.h"

enum { CHUNK = 16 }; /* what swizzles exchange, and the step in which stores honour the inner end */

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
static bool
refuse(int *rule, ErrorCode code, char *text, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, size, fmt, ap);
    va_end(ap);
    *rule = (int)code;
    return false;
}

/* ---- what the simulator knows, and rules of the operands ---- */

static const char *mode_name(MapMode mode)
{
    size_t n;
    const char *const *words = word_list(WORDS_MODE, &n);
    return (size_t)mode < n ? words[mode] : "?";
}

/* The place where modes, layouts and types join that are not walked yet. */
static bool known(const MapDesc *d, int *rule, char *text, size_t size)
{
    switch (d->mode) {
    case MAP_TILED: break;
    case MAP_IM2COL:
    case MAP_IM2COL_W:
    case MAP_IM2COL_W128:
    case MAP_GATHER4:
    case MAP_SCATTER4:
        return refuse(rule, E1351, text, size, "copies through %s maps are not simulated yet", mode_name(d->mode));
    }
    if (d->swizzle > MAP_SWIZZLE_128B)
        return refuse(rule, E1351, text, size, "swizzles with larger atoms (sm_100) are not simulated yet");
    if (map_global_bits(d->type) % 8 != 0)
        return refuse(rule, E1351, text, size, "packed types (sm_100) are not simulated yet");
    return true;
}

static void keep_first(void *user, const MapBreach *b)
{
    MapBreach *first = user;
    if (first->rule_id == NULL) *first = *b;
}

static bool operands_fit(const BoxWalk *w, int *rule, char *text, size_t size)
{
    MapCopy c = {.shared = w->shared, .halo = MAP_UNKNOWN, .halo_offset = MAP_UNKNOWN};
    for (int i = 0; i < MAP_RANK; i++) c.start[i] = MAP_UNKNOWN;
    for (int i = 0; i < 3; i++) c.offset[i] = MAP_UNKNOWN;
    for (int i = 0; i < w->map.rank; i++) c.start[w->map.rank - 1 - i] = w->start[i];
    if (w->map.interleave) { /* counts slices: any number of them is a multiple of 16 bytes */
        c.start[w->map.rank - 1] = MAP_UNKNOWN;
        if (!w->load && w->start[0] < 0)
            return refuse(rule, E1318, text, size, "a store starts at %" PRId64, w->start[0]);
    }
    MapBreach first = {.rule_id = NULL};
    if (map_check_copy(&w->map, &c, keep_first, &first) == 0) return true;
    ErrorCode code = first.field == MAPF_SHARED ? E1314 : E1318;
    return refuse(rule, code, text, size, "%s (%s)", first.text, error_info(first.code)->code);
}

/* ---- preparation ---- */

/* Where the tensor ends for bytes of the innermost dimension. Loads fill behind the last element; stores honour the end
 * in steps of 16 bytes only and write over what lies between (triton-lang/triton#11583). */
static int64_t inner_end(const BoxWalk *w, int64_t bytes)
{
    return w->load ? bytes : (bytes + CHUNK - 1) / CHUNK * CHUNK;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void add_axis(BoxWalk *w, int64_t origin, int64_t extent, uint64_t distance, int64_t box, int64_t step)
{
    int i = w->axes++;
    w->origin[i] = origin;
    w->extent[i] = extent;
    w->distance[i] = distance;
    w->count[i] = (uint32_t)((box + step - 1) / step);
    w->step[i] = (uint8_t)step;
    if (i > 0) w->rows *= w->count[i];
}

static void set_axes(BoxWalk *w)
{
    const MapDesc *d = &w->map;
    for (int i = 0; i < d->rank; i++) {
        int at = d->rank - 1 - i;
        uint64_t distance = i == 0 ? (uint64_t)map_global_bits(d->type) / 8 : (uint64_t)d->pitch[at];
        int64_t step = i == 0 ? 1 : d->elem_stride[at]; /* the innermost is ignored without interleave (T08) */
        add_axis(w, w->start[i], d->dim[at], distance, d->box[at], step);
    }
}

/* Interleaved layouts as measured: the innermost dimension counts slices of 16 or 32 bytes that follow each other; the
 * second outermost one numbers the slices of a pixel, of which a copy takes one, whatever the box says. */
static void set_slice_axes(BoxWalk *w)
{
    const MapDesc *d = &w->map;
    int64_t slice = d->interleave == MAP_INTERLEAVE_16B ? 16 : 32;
    add_axis(w, 0, slice, 1, slice, 1);
    for (int i = 0; i < d->rank; i++) {
        int at = d->rank - 1 - i;
        uint64_t distance = i == 0 ? (uint64_t)slice : (uint64_t)d->pitch[at];
        add_axis(w, w->start[i], d->dim[at], distance, at == 1 ? 1 : d->box[at], d->elem_stride[at]);
    }
}

static void set_row(BoxWalk *w)
{
    int64_t size = (int64_t)w->distance[0], begin = w->origin[0] * size;
    w->row_bytes = (uint32_t)(w->count[0] * size);
    w->from = (uint32_t)clamp(-begin, 0, w->row_bytes);
    w->to = (uint32_t)clamp(inner_end(w, w->extent[0] * size) - begin, w->from, w->row_bytes);
    if (w->from == w->to) w->from = w->to = 0;
    uint32_t span = (uint32_t)swizzle_span(w->map.swizzle);
    w->pitch = w->row_bytes < span && !w->map.interleave ? span : w->row_bytes;
    w->swizzle_mask = span ? span / CHUNK - 1 : 0;
    w->row_pieces = w->row_bytes / CHUNK + (w->to % CHUNK != 0);
}

bool box_begin(BoxWalk *w, const MapDesc *map, bool load, bool reduce, uint32_t shared, const int64_t *start,
               int nstart, const int64_t *offset, int noffset, int *rule, char *text, size_t size)
{
    *w = (BoxWalk){.map = *map, .load = load, .shared = shared};
    if (map->rank < 1 || map->rank > MAP_RANK || nstart != map->rank)
        return refuse(rule, E1318, text, size, "%d coordinates for a map of rank %d", nstart, map->rank);
    if (!known(map, rule, text, size)) return false;
    w->map.is_load = load;
    w->map.is_store = !load;
    (void)reduce; /* reductions keep the rules of stores */
    for (int i = 0; i < nstart; i++) w->start[i] = start[i];
    for (int i = 0; i < noffset && i < 3; i++) w->offset[i] = offset[i];
    if (!operands_fit(w, rule, text, size)) return false;
    w->rows = 1;
    if (map->interleave) set_slice_axes(w);
    else set_axes(w);
    set_row(w);
    w->npieces = (uint64_t)w->rows * w->row_pieces;
    w->box_bytes = w->rows * w->row_bytes;
    w->span_bytes = (w->rows - 1) * w->pitch + w->row_bytes;
    uint32_t last = (w->rows - 1) * w->pitch / 128 * 128; /* the last rows may lie anywhere in their 128 bytes */
    for (uint32_t r = last / w->pitch; r < w->rows; r++)
        for (uint32_t b = 0; b < w->row_bytes; b += CHUNK) {
            uint32_t end = box_swizzle(w, r * w->pitch + b) + CHUNK;
            if (end > w->span_bytes) w->span_bytes = end;
        }
    if (map->fill == MAP_FILL_NAN) w->fill = UINT64_C(0x7FF77FF77FF77FF7); /* measured for all float types (M11) */
    return true;
}

/* ---- rows and pieces ---- */

void box_row(const BoxWalk *w, uint32_t r, BoxRow *out)
{
    bool inside = true;
    uint64_t address = (uint64_t)w->map.address + (uint64_t)w->origin[0] * w->distance[0];
    uint32_t left = r;
    for (int i = 1; i < w->axes; i++) {
        uint32_t n = w->count[i], index = left;
        if (i < w->axes - 1) {
            left /= n;
            index -= left * n;
        }
        int64_t at = w->origin[i] + (int64_t)index * w->step[i];
        if (at < 0 || at >= w->extent[i]) inside = false;
        address += (uint64_t)at * w->distance[i]; /* wraps only where it is not used or not in memory */
    }
    *out = (BoxRow){.shared = r * w->pitch, .global = address};
    if (inside) {
        out->from = w->from;
        out->to = w->to;
    }
}

/* Bytes lo .. hi of a row that are piece p: chunks, one of which the tensor's end cuts in two. */
static void piece_bytes(const BoxWalk *w, uint32_t p, uint32_t *lo, uint32_t *hi)
{
    uint32_t cut = w->to % CHUNK ? w->to / CHUNK : UINT32_MAX, chunk = p > cut ? p - 1 : p;
    *lo = chunk * CHUNK;
    *hi = *lo + CHUNK;
    if (p == cut) *hi = w->to;
    else if (chunk == cut) *lo = w->to;
}

static inline BoxPiece piece_of(const BoxWalk *w, const BoxRow *row, uint32_t p)
{
    uint32_t lo, hi;
    piece_bytes(w, p, &lo, &hi);
    return (BoxPiece){
        .global = row->global + lo,
        .shared = box_swizzle(w, row->shared + lo),
        .bytes = (uint8_t)(hi - lo),
        .inside = lo >= row->from && hi <= row->to,
    };
}

void box_piece(const BoxWalk *w, uint64_t k, BoxPiece *out)
{
    uint32_t n = (uint32_t)k, r = n / w->row_pieces; /* npieces fits: a box is shared memory */
    BoxRow row;
    box_row(w, r, &row);
    *out = piece_of(w, &row, n - r * w->row_pieces);
}

void box_pieces(const BoxWalk *w, BoxPiece *out)
{
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        for (uint32_t p = 0; p < w->row_pieces; p++) *out++ = piece_of(w, &row, p);
    }
}

/* Bytes behind byte b of a row that stay together in shared memory. The exchanged bits are the same all over a row, so
 * an exchange of bit 4 leaves chunks, one of bit 5 pairs of chunks, .. */
static uint32_t together(const BoxWalk *w, uint32_t row_shared, uint32_t b)
{
    uint32_t x = (w->shared + row_shared) >> 7 & w->swizzle_mask;
    if (x == 0) return w->row_bytes - b;
    uint32_t unit = (x & (~x + 1)) * CHUNK, end = (b / unit + 1) * unit;
    return (end < w->row_bytes ? end : w->row_bytes) - b;
}

void box_run(const BoxWalk *w, uint64_t k, BoxPiece *first, uint32_t *bytes, uint64_t *npieces)
{
    uint32_t r = (uint32_t)(k / w->row_pieces), p = (uint32_t)(k - (uint64_t)r * w->row_pieces), lo, hi;
    BoxRow row;
    box_row(w, r, &row);
    box_piece(w, k, first);
    piece_bytes(w, p, &lo, &hi);
    uint32_t begin = lo, end = begin + together(w, row.shared, begin);
    if (first->inside) {
        if (end > row.to) end = row.to;
    } else if (begin < row.from && end > row.from) {
        end = row.from;
    }
    for (*npieces = 0; p < w->row_pieces; p++, ++*npieces) {
        piece_bytes(w, p, &lo, &hi);
        if (hi > end) break;
    }
    *bytes = end - begin;
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
                 (w->swizzle_mask == 0 || w->row_bytes % ((w->swizzle_mask + 1) * CHUNK) == 0);
    if (dense && !inside_only) return tell(user, 0, w->box_bytes);
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        uint32_t from = inside_only ? row.from : 0, to = inside_only ? row.to : w->row_bytes;
        if (dense && to - from == w->row_bytes) {
            if (!merge_add(&m, row.shared, w->row_bytes)) return false;
            continue;
        }
        for (uint32_t b = from; b < to; b += CHUNK) {
            uint32_t n = to - b < CHUNK ? to - b : CHUNK;
            if (!merge_add(&m, box_swizzle(w, row.shared + b), n)) return false;
        }
    }
    return merge_end(&m);
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
    int64_t lo = w->origin[0] * (int64_t)w->distance[0], hi, reach;
    if (w->from == w->to || !add_s64(w->map.address, lo, &lo)) return false;
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
