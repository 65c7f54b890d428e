/* The rules of a tensor copy's operands, and the shape of the box that they ask for. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/sim/copies/maps.h"

enum { ROWS4 = 4, WIDE_PIXELS = 128, WIDE_GROUP = 32 };

typedef struct Refusal {
    int *rule;
    char *text;
    size_t size;
} Refusal;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
refuse(const Refusal *r, ErrorCode code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->text, r->size, fmt, ap);
    va_end(ap);
    *r->rule = (int)code;
    return false;
}

/* The modes, their pixels and halos once more, as the PTX ISA has them: an oracle does not ask the compiler's tables. */
static bool is_rows4(const MapDesc *d)
{
    return d->mode == MAP_GATHER4 || d->mode == MAP_SCATTER4;
}

static bool is_wide(const MapDesc *d)
{
    return d->mode == MAP_IM2COL_W || d->mode == MAP_IM2COL_W128;
}

static bool is_im2col(const MapDesc *d)
{
    return d->mode == MAP_IM2COL || is_wide(d);
}

/* Sixteen elements in 16 bytes of shared memory, fewer in global memory. */
static bool has_gaps(int type)
{
    return map_shared_bits(type) != map_global_bits(type);
}

static int64_t slice_bytes(const MapDesc *d)
{
    return d->interleave == MAP_INTERLEAVE_16B ? 16 : 32;
}

/* ---- what the ISA leaves open: SIMULATOR.md has the list ---- */

static bool said_by_the_isa(const BoxWalk *w, const Refusal *r)
{
    const MapDesc *d = &w->map;
    if (d->swizzle == MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B)
        return refuse(
            r, E1352,
            "swizzle 128 atom 32 flip: which of two neighbouring 128-byte lines has its 8-byte halves flipped is "
            "in a figure of the PTX ISA, not in its text");
    if (d->mode == MAP_IM2COL && d->interleave && d->channels * map_global_bits(d->type) / 8 != slice_bytes(d))
        return refuse(r, E1352,
                      "%" PRId64 " channels of a pixel are %" PRId64 " bytes, more or less than a slice of %" PRId64
                      ": the PTX ISA does not say how im2col copies lay several slices of a pixel",
                      d->channels, d->channels * map_global_bits(d->type) / 8, slice_bytes(d));
    for (int i = 1; d->mode == MAP_GATHER4 && i <= ROWS4; i++)
        if (w->start[i] < 0)
            return refuse(r, E1352, "row %" PRId64 " of a gather4: the PTX ISA does not say what a negative one brings",
                          w->start[i]);
    return true;
}

/* The halo is "at the end of the image": of which one, and where its pixels go, is said only while there is one row. */
static bool halo_is_said(const BoxWalk *w, uint32_t pixels, const Refusal *r)
{
    int64_t last = w->origin[1] + (int64_t)(pixels - 1) * w->step[1];
    if (w->halo == 0 || last <= w->high[0]) return true;
    return refuse(r, E1352,
                  "wHalo is %" PRIu32 " and the %" PRIu32 " pixels from W %" PRId64
                  " on pass the end of the pixel box at %" PRId64
                  ": the PTX ISA does not say in words where the halo of a row goes that ends within a copy",
                  w->halo, pixels, w->origin[1], w->high[0]);
}

/* ---- rules ---- */

static void keep_first(void *user, const MapBreach *b)
{
    MapBreach *first = user;
    if (first->rule_id == NULL) *first = *b;
}

/* What a map may be used for can depend on the direction: corners, packed types. */
static bool direction_fits(const BoxWalk *w, const Refusal *r)
{
    const MapDesc *d = &w->map;
    MapBreach first = {.rule_id = NULL};
    if (d->mode == MAP_TILED && d->swizzle <= MAP_SWIZZLE_128B && map_global_bits(d->type) % 8 == 0) return true;
    if (map_check(d, keep_first, &first) == 0) return true;
    return refuse(r, E1318, "the map does not suit %s: %s (%s)", w->load ? "a load" : "a store", first.text,
                  error_info(first.code)->code);
}

static bool operands_fit(const BoxWalk *w, const Refusal *r)
{
    const MapDesc *d = &w->map;
    MapCopy c = {.shared = w->shared, .halo = MAP_UNKNOWN, .halo_offset = MAP_UNKNOWN};
    for (int i = 0; i < MAP_RANK; i++) c.start[i] = MAP_UNKNOWN;
    for (int i = 0; i < 3; i++) c.offset[i] = MAP_UNKNOWN;
    for (int i = 0; i < d->rank; i++) c.start[d->rank - 1 - i] = w->start[i];
    for (int i = 0; d->mode == MAP_IM2COL && w->load && i < d->rank - 2; i++) c.offset[d->rank - 3 - i] = w->offset[i];
    if (is_wide(d)) {
        c.halo = w->offset[0];
        c.halo_offset = w->offset[1];
    }
    if (d->interleave) { /* counts slices: any number of them is a multiple of 16 bytes */
        c.start[d->rank - 1] = MAP_UNKNOWN;
        if (!w->load && w->start[0] < 0) return refuse(r, E1318, "a store starts at %" PRId64, w->start[0]);
    }
    for (int i = 1; d->mode == MAP_SCATTER4 && i <= ROWS4; i++)
        if (w->start[i] < 0) return refuse(r, E1318, "row %" PRId64 " of a scatter4 is negative", w->start[i]);
    MapBreach first = {.rule_id = NULL};
    if (map_check_copy(d, &c, keep_first, &first) == 0) return true;
    ErrorCode code = first.field == MAPF_SHARED ? E1314 : E1318;
    return refuse(r, code, "%s (%s)", first.text, error_info(first.code)->code);
}

/* PTX ISA, im2col mode: "The filter corner location must be within the bounding box"; im2col::w modes: "The first element
 * can lie outside of the Bounding Box in the W-dimension only and only on the left side". Measured: ends the kernel. */
static bool base_fits(const BoxWalk *w, const Refusal *r)
{
    static const char *const names[] = {"W", "H", "D"};
    for (int i = 0; i < w->walked; i++) {
        int64_t at = w->origin[1 + i];
        if (at <= w->high[i] && (at >= w->low[i] || is_wide(&w->map))) continue;
        return refuse(r, E1318,
                      "%s of the base pixel is %" PRId64 ", outside its pixel box, which is %" PRId64 " to %" PRId64
                      " here",
                      names[i], at, w->low[i], w->high[i]);
    }
    return true;
}

/* ---- axes ---- */

static void add_axis(BoxWalk *w, int64_t origin, int64_t extent, uint64_t distance, int64_t count, int64_t step)
{
    int i = w->axes++;
    w->origin[i] = origin;
    w->extent[i] = extent;
    w->distance[i] = distance;
    w->count[i] = (uint32_t)count;
    w->step[i] = (uint8_t)step;
}

static int64_t taken(int64_t box, int64_t step)
{
    return (box + step - 1) / step;
}

/* Dimension i, innermost first. */
static void add_dimension(BoxWalk *w, int i, int64_t count)
{
    const MapDesc *d = &w->map;
    int at = d->rank - 1 - i;
    bool slices = d->interleave != MAP_INTERLEAVE_NONE;
    uint64_t distance = i > 0 ? (uint64_t)d->pitch[at] : slices ? (uint64_t)slice_bytes(d) : 0;
    int64_t step = i == 0 && !slices ? 1 : d->elem_stride[at]; /* the innermost is ignored without interleave (T08) */
    add_axis(w, w->start[i], d->dim[at], distance, taken(count, step), step);
}

/* Interleaved layouts as measured: the innermost dimension counts slices of 16 or 32 bytes that follow each other; the
 * second outermost one numbers the slices of a pixel, of which a copy takes one, whatever the box says. */
static void set_tile(BoxWalk *w)
{
    const MapDesc *d = &w->map;
    bool slices = d->interleave != MAP_INTERLEAVE_NONE;
    if (slices) add_axis(w, 0, slice_bytes(d), 1, slice_bytes(d), 1);
    for (int i = 0; i < d->rank; i++) {
        int at = d->rank - 1 - i;
        add_dimension(w, i, slices && at == 1 ? 1 : d->box[at]);
    }
    for (int i = 1; i < w->axes; i++) w->rows *= w->count[i];
}

static void set_rows4(BoxWalk *w)
{
    add_dimension(w, 0, w->map.box[1]);
    add_dimension(w, 1, 1);
    w->rows = ROWS4;
}

/* Axis 1 is W, 2 is H, 3 is D, the last one N; without interleave axis 0 is C. lower and upper are outermost first. */
static bool set_im2col(BoxWalk *w, const Refusal *r)
{
    const MapDesc *d = &w->map;
    bool slices = d->interleave != MAP_INTERLEAVE_NONE, wide = is_wide(d);
    int spatial = d->rank - 2;
    if (slices) add_axis(w, 0, slice_bytes(d), 1, slice_bytes(d), 1);
    for (int i = 0; i < d->rank; i++) add_dimension(w, i, i == 0 && !slices ? d->channels : 1);
    w->walked = wide ? 1 : spatial;
    for (int i = 0; i < w->walked; i++) {
        int corner = wide ? 0 : spatial - 1 - i;
        w->low[i] = d->lower[corner];
        w->high[i] = w->extent[1 + i] - 1 + d->upper[corner];
        w->shift[i] = wide ? w->offset[1] : w->load ? w->offset[i] : 0;
    }
    uint32_t pixels = d->mode == MAP_IM2COL_W128 ? WIDE_PIXELS : (uint32_t)d->pixels;
    w->group = d->mode == MAP_IM2COL_W128 ? WIDE_GROUP : pixels;
    w->halo = wide ? (uint32_t)w->offset[0] : 0;
    w->rows = pixels / w->group * (w->group + w->halo);
    return base_fits(w, r) && halo_is_said(w, pixels, r);
}

/* ---- a row ---- */

/* Where the tensor ends for bytes of the innermost dimension. Loads fill behind the last element; stores honour the end
 * in steps of 16 bytes only and write over what lies between (triton-lang/triton#11583). */
static int64_t inner_end(const BoxWalk *w, int64_t bytes)
{
    return w->load ? bytes : (bytes + BOX_CHUNK - 1) / BOX_CHUNK * BOX_CHUNK;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void set_row(BoxWalk *w)
{
    const MapDesc *d = &w->map;
    int64_t bits = d->interleave ? 8 : map_global_bits(d->type);
    w->begin = w->origin[0] * bits / 8;
    w->row_bytes = (uint32_t)(w->count[0] * bits / 8);
    w->from = (uint32_t)clamp(-w->begin, 0, w->row_bytes);
    w->to = (uint32_t)clamp(inner_end(w, w->extent[0] * bits / 8) - w->begin, w->from, w->row_bytes);
    if (w->from == w->to) w->from = w->to = 0;
    w->unit = has_gaps(d->type) ? (uint32_t)(16 * bits / 8) : BOX_CHUNK;
    w->packs = !w->load && has_gaps(d->type);
    uint32_t span = (uint32_t)swizzle_span(d->swizzle), width = w->row_bytes / w->unit * BOX_CHUNK;
    w->pitch = width < span && !d->interleave ? span : width;
    w->cut = w->to % w->unit ? w->to / w->unit : UINT32_MAX;
    w->row_pieces = w->row_bytes / w->unit + (w->cut != UINT32_MAX);
}

/* PTX ISA, Swizzling modes: atoms of 16, 32 or 64 bytes are exchanged by the number of the 128-byte line. */
static void set_swizzle(BoxWalk *w)
{
    uint32_t atom = w->map.swizzle == MAP_SWIZZLE_128B_ATOM_32B   ? 32
                    : w->map.swizzle == MAP_SWIZZLE_128B_ATOM_64B ? 64
                                                                  : BOX_CHUNK;
    uint32_t span = (uint32_t)swizzle_span(w->map.swizzle);
    w->swizzle_mask = span ? span / atom - 1 : 0;
    for (w->swizzle_shift = 4; 1u << w->swizzle_shift < atom; w->swizzle_shift++) {
    }
}

static void set_span(BoxWalk *w)
{
    uint32_t width = w->row_bytes / w->unit * BOX_CHUNK;
    w->span_bytes = (w->rows - 1) * w->pitch + width;
    uint32_t last = (w->rows - 1) * w->pitch / 128 * 128; /* the last rows may lie anywhere in their 128 bytes */
    for (uint32_t r = last / w->pitch; r < w->rows; r++)
        for (uint32_t b = 0; b < width; b += BOX_CHUNK) {
            uint32_t end = box_swizzle(w, r * w->pitch + b) + BOX_CHUNK;
            if (end > w->span_bytes) w->span_bytes = end;
        }
}

bool box_begin(BoxWalk *w, const MapDesc *map, bool load, bool reduce, uint32_t shared, const int64_t *start,
               int nstart, const int64_t *offset, int noffset, int *rule, char *text, size_t size)
{
    Refusal r = {rule, text, size};
    *w = (BoxWalk){.map = *map, .load = load, .shared = shared, .rows = 1};
    (void)reduce; /* reductions keep the rules of stores */
    int want = is_rows4(map) ? 1 + ROWS4 : map->rank;
    if (map->rank < 1 || map->rank > MAP_RANK || nstart != want)
        return refuse(&r, E1318, "%d coordinates for a map of rank %d", nstart, map->rank);
    if (noffset > 0 && noffset != (is_wide(map) ? 2 : map->rank - 2))
        return refuse(&r, E1318, "%d values of im2col for a map of rank %d", noffset, map->rank);
    w->map.is_load = load;
    w->map.is_store = !load;
    for (int i = 0; i < nstart; i++) w->start[i] = start[i];
    for (int i = 0; i < noffset && i < 3; i++) w->offset[i] = offset[i];
    if (!direction_fits(w, &r) || !operands_fit(w, &r) || !said_by_the_isa(w, &r)) return false;
    if (is_rows4(map)) set_rows4(w);
    else if (!is_im2col(map)) set_tile(w);
    else if (!set_im2col(w, &r)) return false;
    set_row(w);
    set_swizzle(w);
    set_span(w);
    w->npieces = (uint64_t)w->rows * w->row_pieces;
    w->box_bytes = w->rows * w->row_bytes;
    if (map->fill == MAP_FILL_NAN) w->fill = UINT64_C(0x7FF77FF77FF77FF7); /* measured for all float types (M11) */
    return true;
}
