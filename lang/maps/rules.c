#include "lang/maps/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lang/checked.h"
#include "lang/maps/breach.h"

#define DIM_MAX (INT64_C(1) << 31)
#define PITCH_END (INT64_C(1) << 40)

enum { BOX_MAX = 256, STEP_MAX = 8, CHANNELS_MAX = 256, PIXELS_MAX = 1024, BOX_BYTES_MAX = 228 * 1024 };

void map_breach(MapCheck *c, ErrorCode code, const char *rule_id, MapField field, int index, const char *fmt, ...)
{
    MapBreach b = {.code = code, .rule_id = rule_id, .field = field, .index = index};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b.text, sizeof b.text, fmt, ap);
    va_end(ap);
    c->breaches++;
    if (c->report) c->report(c->user, &b);
}

static bool no_multiple(int64_t v, int64_t of)
{
    return map_known(v) && v % of != 0;
}

/* ---- facts about values ---- */

typedef struct TypeFacts {
    const char *name;
    uint8_t global_bits, shared_bits;
    bool is_float, is_packed, align16;
} TypeFacts;

static const TypeFacts TYPES[MAP_TYPE_COUNT] = {
    [MAP_U8] = {"u8", 8, 8, false, false, false},
    [MAP_U16] = {"u16", 16, 16, false, false, false},
    [MAP_U32] = {"u32", 32, 32, false, false, false},
    [MAP_S32] = {"s32", 32, 32, false, false, false},
    [MAP_U64] = {"u64", 64, 64, false, false, false},
    [MAP_S64] = {"s64", 64, 64, false, false, false},
    [MAP_F16] = {"f16", 16, 16, true, false, false},
    [MAP_F32] = {"f32", 32, 32, true, false, false},
    [MAP_F64] = {"f64", 64, 64, true, false, false},
    [MAP_BF16] = {"bf16", 16, 16, true, false, false},
    [MAP_F32_FTZ] = {"f32 (ftz)", 32, 32, true, false, false},
    [MAP_TF32] = {"tf32", 32, 32, true, false, false},
    [MAP_TF32_FTZ] = {"tf32 (ftz)", 32, 32, true, false, false},
    [MAP_U4_ALIGN8] = {"b4a8", 4, 4, false, true, false},
    [MAP_U4_ALIGN16] = {"b4a16", 4, 8, false, true, true},
    [MAP_U6_ALIGN16] = {"b6a16", 6, 8, false, true, true},
};

static bool type_known(int t)
{
    return t >= 0 && t < MAP_TYPE_COUNT;
}

int map_global_bits(int map_type)
{
    return type_known(map_type) ? TYPES[map_type].global_bits : 0;
}

int map_shared_bits(int map_type)
{
    return type_known(map_type) ? TYPES[map_type].shared_bits : 0;
}

static const struct SwizzleFacts {
    const char *name;
    uint8_t span;
    uint16_t align; /* PTX ISA, Tensors: the pattern repeats after 256, 512, 1024 bytes (D02) */
} SWIZZLES[] = {
    [MAP_SWIZZLE_NONE] = {"no swizzle", 0, 128},
    [MAP_SWIZZLE_32B] = {"swizzle 32", 32, 256},
    [MAP_SWIZZLE_64B] = {"swizzle 64", 64, 512},
    [MAP_SWIZZLE_128B] = {"swizzle 128", 128, 1024},
    [MAP_SWIZZLE_128B_ATOM_32B] = {"swizzle 128 atom 32", 128, 1024},
    [MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B] = {"swizzle 128 atom 32 flip", 128, 1024},
    [MAP_SWIZZLE_128B_ATOM_64B] = {"swizzle 128 atom 64", 128, 1024},
};

static bool swizzle_known(int s)
{
    return s >= MAP_SWIZZLE_NONE && s <= MAP_SWIZZLE_128B_ATOM_64B;
}

int swizzle_span(int s)
{
    return swizzle_known(s) ? SWIZZLES[s].span : 0;
}

int swizzle_align(int s)
{
    return swizzle_known(s) ? SWIZZLES[s].align : 128;
}

static bool is_wide(const MapDesc *d) { return map_is_wide(d->mode); }
static bool is_im2col(const MapDesc *d) { return map_is_im2col(d->mode); }
static bool is_rows4(const MapDesc *d) { return map_is_rows4(d->mode); }

/* N, D, H, W, C; interleaved N, C / slice, D, H, W (measured: the channels of a slice are no dimension of their own). */
int map_first_corner(MapMode mode, int interleave, int rank)
{
    return map_is_wide(mode) ? rank - 2 : interleave != MAP_INTERLEAVE_NONE ? 2 : 1;
}

int64_t map_slice_bytes(int interleave)
{
    return interleave == MAP_INTERLEAVE_16B ? 16 : interleave == MAP_INTERLEAVE_32B ? 32 : 0;
}

static const char *mode_name(MapMode m)
{
    return (unsigned)m < MAP_MODE_COUNT ? map_mode(m)->word : "?";
}

/* ---- bytes of a box ---- */

/* Elements of the innermost dimension that one copy takes. */
static int64_t inner_elements(const MapDesc *d)
{
    return is_im2col(d) ? d->channels : d->box[d->rank - 1];
}

/* Product that stays at INT64_MAX instead of overflowing; MAP_UNKNOWN stays unknown. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t r;
    if (!map_known(a) || !map_known(b)) return MAP_UNKNOWN;
    return mul_s64(a, b, &r) ? r : INT64_MAX;
}

static int64_t traversed(int64_t box, int64_t step)
{
    if (!map_known(box) || !map_known(step)) return MAP_UNKNOWN;
    return step <= 1 ? box : box / step + (box % step != 0);
}

/* Interleaved layouts (measured on an H200, SIMULATOR.md): the innermost dimension counts slices of 16 or 32 bytes, which
 * lie one after the other (W), and the second outermost one numbers the slices of a pixel (C / slice): a copy takes one
 * of those, whatever its box says. Bytes of a slice that the box counts; 0: it counts elements (im2col: channels). */
static int64_t box_slice(const MapDesc *d)
{
    return is_im2col(d) || is_rows4(d) ? 0 : map_slice_bytes(d->interleave);
}
enum { SLICE_DIM = 1 };

/* Rows in shared memory: all but the innermost dimension, and those of a halo. */
static int64_t rows_of(const MapDesc *d, int64_t halo)
{
    const MapModeInfo *m = map_mode(d->mode);
    int64_t rows = 1, pixels = m->pixels ? m->pixels : d->pixels, more = is_wide(d) ? times(m->halo_rows, halo) : 0, sum;
    if (is_im2col(d)) return !map_known(pixels) || !map_known(more) ? MAP_UNKNOWN : add_s64(pixels, more, &sum) ? sum : INT64_MAX;
    if (is_rows4(d)) return 4;
    bool slices = box_slice(d) > 0;
    for (int i = 0; i < d->rank - 1; i++)
        if (!slices || i != SLICE_DIM) rows = times(rows, traversed(d->box[i], d->elem_stride[i]));
    return rows;
}

static int64_t inner_bytes(const MapDesc *d, int bits_per_element)
{
    int64_t n = inner_elements(d);
    if (box_slice(d)) return times(traversed(n, d->elem_stride[d->rank - 1]), box_slice(d));
    int64_t bits = times(n, bits_per_element);
    return map_known(bits) ? bits / 8 : MAP_UNKNOWN;
}

static bool has_shape(const MapDesc *d)
{
    return type_known(d->type) && d->rank >= 1 && d->rank <= MAP_RANK;
}

/* Gap bytes of b4a16 and b6a16 are not written, so they don't count: CUTLASS expects sizeof_bits = 4 or 6 bits per
 * element of its "unpacksmem" types. */
int64_t map_copy_bytes(const MapDesc *d, int64_t halo)
{
    return has_shape(d) ? times(rows_of(d, halo), inner_bytes(d, map_global_bits(d->type))) : MAP_UNKNOWN;
}

int64_t map_tx_bytes(const MapDesc *d)
{
    return map_copy_bytes(d, 0);
}

/* Packed elements, and rows narrower than the swizzle's span, lie spread out. */
int64_t map_copy_room(const MapDesc *d, int64_t halo)
{
    if (!has_shape(d)) return MAP_UNKNOWN;
    int64_t pitch = inner_bytes(d, map_shared_bits(d->type)), span = swizzle_span(d->swizzle);
    if (map_known(pitch) && d->interleave == MAP_INTERLEAVE_NONE && pitch < span) pitch = span;
    return times(rows_of(d, halo), pitch);
}

int64_t map_smem_bytes(const MapDesc *d)
{
    return map_copy_room(d, 0);
}

/* ---- the rules, one function per group ---- */

static void check_target(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (d->sm == 0) return;
    if (d->sm < 90) map_breach(c, E0403, "T03", MAPF_TYPE, -1, "compute capability is %d.%d", d->sm / 10, d->sm % 10);
    if (d->sm >= 100) return;
    if (is_wide(d))
        map_breach(c, E0404, "T03", MAPF_RANK, -1, "%s on compute capability %d.%d", mode_name(d->mode), d->sm / 10,
               d->sm % 10);
    if (d->swizzle >= MAP_SWIZZLE_128B_ATOM_32B && swizzle_known(d->swizzle))
        map_breach(c, E0405, "T03", MAPF_SWIZZLE, -1, "%s on compute capability %d.%d", SWIZZLES[d->swizzle].name,
               d->sm / 10, d->sm % 10);
    if (TYPES[d->type].is_packed)
        map_breach(c, E0406, "T03", MAPF_TYPE, -1, "%s on compute capability %d.%d", TYPES[d->type].name, d->sm / 10,
               d->sm % 10);
}

static void check_rank(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (d->interleave != MAP_INTERLEAVE_NONE && d->rank < 3)
        map_breach(c, E0408, "T04", MAPF_RANK, -1, "rank %d with interleave", d->rank);
    if (is_im2col(d) && d->rank < 3)
        map_breach(c, E0409, "T04", MAPF_RANK, -1, "rank %d of an %s map", d->rank, mode_name(d->mode));
    if (is_rows4(d) && d->rank != 2)
        map_breach(c, E0437, "T14", MAPF_RANK, -1, "rank %d of a %s map", d->rank, mode_name(d->mode));
}

int map_global_align(int map_type, int interleave)
{
    return interleave == MAP_INTERLEAVE_32B || TYPES[map_type].align16 ? 32 : 16;
}

static void check_address(MapCheck *c)
{
    const MapDesc *d = c->d;
    int align = map_global_align(d->type, d->interleave);
    if (no_multiple(d->address, 16))
        map_breach(c, E0410, "T05", MAPF_ADDRESS, -1, "address 0x%" PRIx64 " is not a multiple of 16",
               (uint64_t)d->address);
    else if (no_multiple(d->address, align))
        map_breach(c, E0411, "T05", MAPF_ADDRESS, -1, "address 0x%" PRIx64 " is not a multiple of 32",
               (uint64_t)d->address);
}

static void check_dims(MapCheck *c)
{
    const MapDesc *d = c->d;
    for (int i = 0; i < d->rank; i++)
        if (map_outside(d->dim[i], 1, DIM_MAX))
            map_breach(c, E0412, "T06", MAPF_DIM, i, "extent %" PRId64 " of dimension %d is not 1 to 2147483648", d->dim[i],
                   i);
    int64_t inner = d->dim[c->inner];
    if (TYPES[d->type].align16 && no_multiple(inner, 128))
        map_breach(c, E0413, "T06", MAPF_DIM, c->inner, "innermost extent %" PRId64 " of %s is not a multiple of 128",
               inner, TYPES[d->type].name);
    if (d->type == MAP_U4_ALIGN8 && no_multiple(inner, 2))
        map_breach(c, E0414, "T06", MAPF_DIM, c->inner, "innermost extent %" PRId64 " of b4a8 is odd", inner);
    int64_t bits = times(inner, map_global_bits(d->type));
    if (d->is_store && d->interleave == MAP_INTERLEAVE_NONE && no_multiple(bits, 128))
        map_breach(c, E0454, "D03", MAPF_DIM, c->inner,
               "innermost extent %" PRId64 " of a tensor that is stored to takes %" PRId64
               " bytes, not a multiple of 16",
               inner, bits / 8);
}

static void check_pitches(MapCheck *c)
{
    const MapDesc *d = c->d;
    int align = map_global_align(d->type, d->interleave);
    for (int i = 0; i < c->inner; i++) {
        int64_t pitch = d->pitch[i];
        if (!map_known(pitch)) continue;
        if (pitch < 0 || pitch >= PITCH_END)
            map_breach(c, E0416, "T07", MAPF_PITCH, i, "pitch %" PRId64 " bytes of dimension %d is not 0 to 2^40 - 1",
                   pitch, i);
        if (pitch % 16 != 0)
            map_breach(c, E0415, "T07", MAPF_PITCH, i, "pitch %" PRId64 " bytes of dimension %d is not a multiple of 16",
                   pitch, i);
        else if (pitch % align != 0)
            map_breach(c, E0417, "T07", MAPF_PITCH, i, "pitch %" PRId64 " bytes of dimension %d is not a multiple of 32",
                   pitch, i);
    }
}

/* Dimensions by rising pitch; each must step over all that the smaller ones reach. Encoding accepts maps that don't
 * (measured: stride 0, overlapping rows), and loads have a use for them; stores don't. */
static void check_overlap(MapCheck *c)
{
    const MapDesc *d = c->d;
    int order[MAP_RANK], n = 0;
    if (!d->is_store || d->interleave != MAP_INTERLEAVE_NONE || !map_known(d->dim[c->inner])) return;
    for (int i = 0; i < c->inner; i++) {
        if (!map_known(d->pitch[i]) || !map_known(d->dim[i])) return;
        if (d->dim[i] <= 1) continue;
        int at = n++;
        for (; at > 0 && d->pitch[order[at - 1]] > d->pitch[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    int64_t reach = times(d->dim[c->inner], map_global_bits(d->type)) / 8; /* bytes from the first to behind the last */
    for (int k = 0; k < n; k++) {
        int i = order[k];
        if (d->pitch[i] < reach) {
            map_breach(c, E0418, "T07", MAPF_PITCH, i,
                   "pitch %" PRId64 " bytes of dimension %d, but what it steps over takes %" PRId64 " bytes",
                   d->pitch[i], i, reach);
            return; /* the reach of larger pitches says nothing any more */
        }
        int64_t step = times(d->pitch[i], d->dim[i] - 1);
        if (!add_s64(reach, step, &reach)) return;
    }
}

static void check_steps(MapCheck *c)
{
    const MapDesc *d = c->d;
    for (int i = 0; i < d->rank; i++) {
        int64_t step = d->elem_stride[i];
        if (i == c->inner && d->interleave == MAP_INTERLEAVE_NONE) {
            if (map_known(step) && step != 1)
                map_breach(c, E0420, "T08", MAPF_STRIDE, i, "element stride %" PRId64 " of the innermost dimension", step);
        } else if (map_outside(step, 1, STEP_MAX)) {
            map_breach(c, E0419, "T08", MAPF_STRIDE, i, "element stride %" PRId64 " of dimension %d is not 1 to 8", step,
                   i);
        }
    }
}

static void check_interleave(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (d->interleave == MAP_INTERLEAVE_NONE) return;
    if (d->interleave == MAP_INTERLEAVE_32B && d->swizzle != MAP_SWIZZLE_32B && swizzle_known(d->swizzle))
        map_breach(c, E0422, "T09", MAPF_SWIZZLE, -1, "interleave 32 with %s", SWIZZLES[d->swizzle].name);
    if (d->type == MAP_U6_ALIGN16) map_breach(c, E0423, "T09", MAPF_INTERLEAVE, -1, "b6a16 with interleave");
    if (is_wide(d) || is_rows4(d))
        map_breach(c, E0424, "T09", MAPF_INTERLEAVE, -1, "%s with interleave", mode_name(d->mode));
}

static bool swizzle_in(const MapDesc *d, unsigned mask)
{
    return mask >> d->swizzle & 1u;
}

/* T11. Wide modes have no unswizzled layout, which T10 says for them. */
static void check_packed_swizzle(MapCheck *c)
{
    const MapDesc *d = c->d;
    unsigned both = 1u << MAP_SWIZZLE_NONE | 1u << MAP_SWIZZLE_128B | 1u << MAP_SWIZZLE_128B_ATOM_32B;
    if (d->type == MAP_U6_ALIGN16) {
        if (!swizzle_in(d, both | 1u << MAP_SWIZZLE_128B_ATOM_64B))
            map_breach(c, E0427, "T11", MAPF_SWIZZLE, -1, "b6a16 with %s", SWIZZLES[d->swizzle].name);
        else if (d->is_load && d->swizzle == MAP_SWIZZLE_128B_ATOM_64B)
            map_breach(c, E0430, "T11", MAPF_SWIZZLE, -1, "a load of b6a16 with swizzle 128 atom 64");
    }
    if (d->type == MAP_U4_ALIGN16) {
        if (!swizzle_in(d, both)) map_breach(c, E0428, "T11", MAPF_SWIZZLE, -1, "b4a16 with %s", SWIZZLES[d->swizzle].name);
        if (d->is_store) map_breach(c, E0429, "T11", MAPF_TYPE, -1, "a store of b4a16");
    }
}

static void check_swizzle(MapCheck *c)
{
    const MapDesc *d = c->d;
    unsigned wide = 1u << MAP_SWIZZLE_64B | 1u << MAP_SWIZZLE_128B | 1u << MAP_SWIZZLE_128B_ATOM_32B;
    int64_t bytes = inner_bytes(d, map_shared_bits(d->type)), span = swizzle_span(d->swizzle);
    if (is_wide(d) && !swizzle_in(d, wide))
        map_breach(c, E0426, "T10", MAPF_SWIZZLE, -1, "%s with %s", mode_name(d->mode), SWIZZLES[d->swizzle].name);
    if (d->interleave == MAP_INTERLEAVE_NONE && span && map_known(bytes) && bytes > span)
        map_breach(c, E0425, "T10", is_im2col(d) ? MAPF_CHANNELS : MAPF_BOX, is_im2col(d) ? -1 : c->inner,
               "inner box of %" PRId64 " bytes with %s", bytes, SWIZZLES[d->swizzle].name);
    check_packed_swizzle(c);
}

static void check_hints(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (d->l2 < MAP_L2_NONE || d->l2 > MAP_L2_256B)
        map_breach(c, E0431, "T12", MAPF_L2, -1, "L2 promotion number %d", d->l2);
    if (d->fill != MAP_FILL_ZERO && d->fill != MAP_FILL_NAN)
        map_breach(c, E0432, "T13", MAPF_FILL, -1, "fill number %d", d->fill);
    if (d->fill == MAP_FILL_NAN && !TYPES[d->type].is_float)
        map_breach(c, E0433, "T13", MAPF_FILL, -1, "fill nan for %s", TYPES[d->type].name);
}

static void check_inner_box(MapCheck *c, MapField field, int index, ErrorCode unit_code, ErrorCode packed_code)
{
    const MapDesc *d = c->d;
    int64_t n = inner_elements(d), bits = times(n, TYPES[d->type].global_bits);
    if (TYPES[d->type].align16) {
        if (map_known(n) && n != 128)
            map_breach(c, packed_code, field == MAPF_BOX ? "T14" : "T16", field, index,
                   "inner box of %" PRId64 " values of %s is not 128", n, TYPES[d->type].name);
    } else if (no_multiple(bits, 128)) { /* the text asks it without interleave only; the driver always (measured) */
        map_breach(c, unit_code, field == MAPF_BOX ? "T14" : "D03", field, index,
               "inner box of %" PRId64 " %s is %" PRId64 " bytes, not a multiple of 16", n, TYPES[d->type].name,
               bits / 8);
    }
}

static void check_box(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (is_im2col(d)) return;
    for (int i = 0; i < d->rank; i++) {
        if (is_rows4(d) && d->rank == 2 && i == 0) continue;
        if (map_outside(d->box[i], 1, BOX_MAX))
            map_breach(c, E0434, "T14", MAPF_BOX, i, "box extent %" PRId64 " of dimension %d is not 1 to 256", d->box[i],
                   i);
    }
    if (is_rows4(d) && d->rank == 2 && map_known(d->box[0]) && d->box[0] != 4 && d->box[0] != 1)
        map_breach(c, E0438, "T14", MAPF_BOX, 0, "box of %" PRId64 " rows in a %s map", d->box[0], mode_name(d->mode));
    check_inner_box(c, MAPF_BOX, c->inner, E0435, E0436);
}

static void check_corner(MapCheck *c, MapField field, int index, int64_t v, int rank_for_range)
{
    static const int64_t limit[] = {[3] = 32768, [4] = 128, [5] = 16};
    int64_t n = limit[rank_for_range];
    if (map_outside(v, -n, n - 1))
        map_breach(c, E0439, "T15", field, index, "corner %" PRId64 " of dimension %d is not %" PRId64 " to %" PRId64, v,
               index, -n, n - 1);
}

static void check_corners(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (!is_im2col(d) || d->rank < 3) return;
    int first = map_first_corner(d->mode, d->interleave, d->rank), end = first + (is_wide(d) ? 1 : d->rank - 2);
    for (int dim = first; dim < end; dim++) {
        int64_t lower = d->lower[dim - first], upper = d->upper[dim - first], n = d->dim[dim], area, far;
        check_corner(c, MAPF_LOWER, dim, lower, is_wide(d) ? 3 : d->rank);
        check_corner(c, MAPF_UPPER, dim, upper, is_wide(d) ? 3 : d->rank);
        if (d->is_store && ((map_known(lower) && lower < 0) || (map_known(upper) && upper > 0)))
            map_breach(c, E0453, "T15", map_known(lower) && lower < 0 ? MAPF_LOWER : MAPF_UPPER, dim,
                   "corners %" PRId64 " and %" PRId64 " of dimension %d reach outside the tensor", lower, upper, dim);
        if (map_known(upper) && map_known(n) && n <= DIM_MAX && add_s64(n, upper, &far) && far > INT32_MAX)
            map_breach(c, E0456, "T06", MAPF_DIM, dim,
                   "extent %" PRId64 " of dimension %d plus upper %" PRId64 " is above 2147483647", n, dim, upper);
        if (!map_known(lower) || !map_known(upper) || !map_known(n)) continue;
        if (!sub_s64(n, lower, &area) || !add_s64(area, upper, &area)) continue; /* an extent that T06 reports */
        if (n >= 1 && area < 1)
            map_breach(c, E0440, "T15", MAPF_LOWER, dim,
                   "extent %" PRId64 " of dimension %d, lower %" PRId64 " and upper %" PRId64 " leave no pixel", n, dim,
                   lower, upper);
    }
}

static void check_im2col(MapCheck *c)
{
    const MapDesc *d = c->d;
    if (!is_im2col(d)) return;
    check_corners(c);
    if (map_outside(d->channels, 1, CHANNELS_MAX))
        map_breach(c, E0441, "T16", MAPF_CHANNELS, -1, "%" PRId64 " channels are not 1 to 256", d->channels);
    if (!map_mode(d->mode)->pixels && map_outside(d->pixels, 1, PIXELS_MAX))
        map_breach(c, E0443, "T16", MAPF_PIXELS, -1, "%" PRId64 " pixels are not 1 to 1024", d->pixels);
    check_inner_box(c, MAPF_CHANNELS, -1, E0444, E0442);
}

static void check_box_bytes(MapCheck *c)
{
    int64_t bytes = map_smem_bytes(c->d);
    if (map_known(bytes) && bytes > BOX_BYTES_MAX)
        map_breach(c, E0452, "D01", is_im2col(c->d) ? MAPF_PIXELS : MAPF_BOX, -1,
               "the box takes %" PRId64 " bytes of shared memory, more than 233472", bytes);
}

/* Without these the other rules have nothing to stand on. */
static bool check_basics(MapCheck *c)
{
    const MapDesc *d = c->d;
    int before = c->breaches;
    if (!type_known(d->type)) map_breach(c, E0402, "T02", MAPF_TYPE, -1, "data type number %d", d->type);
    if (d->rank < 1 || d->rank > MAP_RANK) map_breach(c, E0407, "T04", MAPF_RANK, -1, "rank %d", d->rank);
    if (d->interleave < MAP_INTERLEAVE_NONE || d->interleave > MAP_INTERLEAVE_32B)
        map_breach(c, E0421, "T09", MAPF_INTERLEAVE, -1, "interleave number %d", d->interleave);
    if (!swizzle_known(d->swizzle)) map_breach(c, E0455, "T10", MAPF_SWIZZLE, -1, "swizzle number %d", d->swizzle);
    return c->breaches == before;
}

int map_check(const MapDesc *d, void (*report)(void *user, const MapBreach *b), void *user)
{
    static void (*const rules[])(MapCheck *) = {
        check_target,     check_rank,    check_address, check_dims, check_pitches, check_overlap,   check_steps,
        check_interleave, check_swizzle, check_hints,   check_box,  check_im2col,  check_box_bytes,
    };
    MapCheck c = {.d = d, .report = report, .user = user, .inner = d->rank - 1};
    if (!check_basics(&c)) return c.breaches;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) rules[i](&c);
    return c.breaches;
}
