/* The simulator's own 128 bytes of a tensor map. */
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/sim/copies/maps.h"

/* Little-endian fields at fixed bytes. Arrays innermost first, as tensormap.replace numbers them; what a mode does not use
 * is 0. Fields are wide enough to hold what tensormap.replace may put there, so that a wrong value is seen when the map is
 * used. */
enum {
    AT_MAGIC = 0,   /* 4 */
    AT_VERSION = 4, /* 1, then one byte each */
    AT_MODE = 5,
    AT_TYPE = 6,
    AT_RANK = 7,
    AT_INTERLEAVE = 8,
    AT_SWIZZLE = 9, /* 0 none, 1 .. 3: 32, 64, 128 bytes */
    AT_L2 = 10,
    AT_FILL = 11,
    AT_USES = 12,      /* bit 0 is_load, 1 is_store */
    AT_ATOM = 13,      /* of the swizzle: 0 .. 3: 16, 32, 32 with flip, 64 bytes */
    AT_SM = 14,        /* 2 */
    AT_ADDRESS = 16,   /* 8 */
    AT_DIM = 24,       /* 5 x 4: minus 1 */
    AT_PITCH = 44,     /* 4 x 8: [0] is that of dimension 1 */
    AT_BOX = 76,       /* 5 x 4 */
    AT_STEP = 96,      /* 5 x 1 */
    AT_LOWER = 101,    /* 3 x 2, outermost first */
    AT_UPPER = 107,    /* 3 x 2 */
    AT_CHANNELS = 113, /* 2 */
    AT_PIXELS = 115,   /* 2 */
    AT_END = 117,      /* zeros up to the check sum */
    AT_SUM = 120,      /* 8 */
    MAP_VERSION = 2,
};
#define MAGIC UINT32_C(0x4D54D517)

static void put(uint8_t *at, int n, int64_t v)
{
    uint64_t bits = v == MAP_UNKNOWN ? 0 : (uint64_t)v;
    for (int i = 0; i < n; i++, bits >>= 8) at[i] = (uint8_t)bits;
}

static uint64_t get(const uint8_t *at, int n)
{
    uint64_t v = 0;
    for (int i = n; i-- > 0;) v = v << 8 | at[i];
    return v;
}

static int64_t get_s16(const uint8_t *at)
{
    uint64_t v = get(at, 2);
    return v < 0x8000 ? (int64_t)v : (int64_t)v - 0x10000;
}

enum { SWIZZLE_SPANS = 4, ATOMS = 4, SPAN_128B = 3 };

static void seal(uint8_t *map)
{
    put(map + AT_SUM, 8, (int64_t)XXH3_64bits(map, AT_SUM));
}

static void put_header(uint8_t *map)
{
    put(map + AT_MAGIC, 4, MAGIC);
    put(map + AT_VERSION, 1, MAP_VERSION);
}

void sim_map_encode(const MapDesc *d, uint8_t map[SIM_MAP_BYTES])
{
    int span = d->swizzle < SPAN_128B ? d->swizzle : SPAN_128B;
    memset(map, 0, SIM_MAP_BYTES);
    put_header(map);
    const int bytes[] = {(int)d->mode, d->type, d->rank, d->interleave, span, d->l2, d->fill};
    for (int i = 0; i < 7; i++) put(map + AT_MODE + i, 1, bytes[i]);
    put(map + AT_USES, 1, d->is_load | d->is_store << 1);
    put(map + AT_ATOM, 1, d->swizzle - span);
    put(map + AT_SM, 2, d->sm);
    put(map + AT_ADDRESS, 8, d->address);
    for (int i = 0; i < d->rank && i < MAP_RANK; i++) {
        int at = d->rank - 1 - i;
        put(map + AT_DIM + i * 4, 4, d->dim[at] - 1);
        if (i > 0) put(map + AT_PITCH + (i - 1) * 8, 8, d->pitch[at]);
        put(map + AT_BOX + i * 4, 4, d->box[at]);
        put(map + AT_STEP + i, 1, d->elem_stride[at]);
    }
    for (int i = 0; i < 3; i++) {
        put(map + AT_LOWER + i * 2, 2, d->lower[i]);
        put(map + AT_UPPER + i * 2, 2, d->upper[i]);
    }
    put(map + AT_CHANNELS, 2, d->channels);
    put(map + AT_PIXELS, 2, d->pixels);
    seal(map);
}

static void read_fields(const uint8_t *map, MapDesc *d)
{
    int span = map[AT_SWIZZLE], atom = map[AT_ATOM];
    *d = (MapDesc){
        .mode = (MapMode)map[AT_MODE],
        .type = map[AT_TYPE],
        .rank = map[AT_RANK],
        .interleave = map[AT_INTERLEAVE],
        .swizzle = span == SPAN_128B ? span + atom : span,
        .l2 = map[AT_L2],
        .fill = map[AT_FILL],
        .is_load = map[AT_USES] & 1,
        .is_store = map[AT_USES] >> 1 & 1,
        .sm = (int)get(map + AT_SM, 2),
        .address = (int64_t)get(map + AT_ADDRESS, 8),
        .channels = (int64_t)get(map + AT_CHANNELS, 2),
        .pixels = (int64_t)get(map + AT_PIXELS, 2),
    };
    for (int i = 0; i < d->rank && i < MAP_RANK && d->rank <= MAP_RANK; i++) {
        int at = d->rank - 1 - i;
        d->dim[at] = (int64_t)get(map + AT_DIM + i * 4, 4) + 1;
        d->pitch[at] = i > 0 ? (int64_t)get(map + AT_PITCH + (i - 1) * 8, 8) : 0;
        d->box[at] = (int64_t)get(map + AT_BOX + i * 4, 4);
        d->elem_stride[at] = map[AT_STEP + i];
    }
    for (int i = 0; i < 3; i++) {
        d->lower[i] = get_s16(map + AT_LOWER + i * 2);
        d->upper[i] = get_s16(map + AT_UPPER + i * 2);
    }
}

static void keep_first(void *user, const MapBreach *b)
{
    MapBreach *first = user;
    if (first->rule_id == NULL) *first = *b;
}

bool sim_map_decode(const uint8_t map[SIM_MAP_BYTES], MapDesc *out, char *text, size_t size)
{
    if (get(map + AT_MAGIC, 4) != MAGIC) {
        snprintf(text, size, "the 128 bytes are no tensor map of the simulator (it never reads those of a driver)");
        return false;
    }
    if (map[AT_VERSION] != MAP_VERSION) {
        snprintf(text, size, "the tensor map has version %d, this simulator reads %d", map[AT_VERSION], MAP_VERSION);
        return false;
    }
    if (get(map + AT_SUM, 8) != XXH3_64bits(map, AT_SUM)) {
        snprintf(text, size, "the tensor map was changed after it was encoded: its check sum is wrong");
        return false;
    }
    read_fields(map, out);
    if (map[AT_ATOM] && map[AT_SWIZZLE] != SPAN_128B && map[AT_SWIZZLE]) {
        snprintf(text, size,
                 "the tensor map breaks a rule: swizzle atomicity %d goes with swizzle 128 only (PTX ISA, "
                 "Swizzling modes)",
                 map[AT_ATOM]);
        return false;
    }
    /* The sum is no secret: what follows relies on the rules, not on it. */
    MapBreach first = {.rule_id = NULL};
    if (out->mode > MAP_SCATTER4 || map_check(out, keep_first, &first) != 0) {
        if (first.rule_id)
            snprintf(text, size, "the tensor map breaks a rule: %s (%s)", first.text, error_info(first.code)->code);
        else snprintf(text, size, "the tensor map breaks a rule (its mode is unknown)");
        return false;
    }
    return true;
}

/* ---- tensormap.replace ---- */

/* PTX ISA, tensormap.replace, values of .elemtype: those of cuda.h but for three. */
static const uint8_t ELEMENT_TYPES[] = {MAP_U8,       MAP_U16,       MAP_U32,        MAP_S32,       MAP_U64,  MAP_S64,
                                        MAP_F16,      MAP_F32,       MAP_F32_FTZ,    MAP_F64,       MAP_BF16, MAP_TF32,
                                        MAP_TF32_FTZ, MAP_U4_ALIGN8, MAP_U4_ALIGN16, MAP_U6_ALIGN16};
enum { ELEMENT_CODES = sizeof ELEMENT_TYPES };

static const struct Part {
    const char *name;
    uint8_t ordinals; /* 0: the field is no array */
    uint8_t codes;    /* 0: any value */
} PARTS[REPLACE_COUNT] = {
    [REPLACE_ADDRESS] = {"global_address", 0, 0},
    [REPLACE_RANK] = {"rank", 0, 0},
    [REPLACE_BOX] = {"box_dim", 5, 0},
    [REPLACE_DIM] = {"global_dim", 5, 0},
    [REPLACE_STRIDE] = {"global_stride", 4, 0},
    [REPLACE_STEP] = {"element_stride", 5, 0},
    [REPLACE_TYPE] = {"elemtype", 0, ELEMENT_CODES},
    [REPLACE_INTERLEAVE] = {"interleave_layout", 0, 3},
    [REPLACE_SWIZZLE] = {"swizzle_mode", 0, 5},
    [REPLACE_ATOM] = {"swizzle_atomicity", 0, ATOMS},
    [REPLACE_FILL] = {"fill_mode", 0, 2},
};

static int64_t at_most(uint64_t v, uint64_t most)
{
    return (int64_t)(v < most ? v : most);
}

static void put_part(uint8_t *map, ReplaceField part, uint32_t i, uint64_t v)
{
    switch (part) {
    case REPLACE_ADDRESS: put(map + AT_ADDRESS, 8, (int64_t)v); break;
    case REPLACE_RANK: put(map + AT_RANK, 1, at_most((v & UINT32_MAX) + 1, UINT8_MAX)); break; /* zero-based */
    case REPLACE_BOX: put(map + AT_BOX + i * 4, 4, (int64_t)(v & UINT32_MAX)); break;
    case REPLACE_DIM: put(map + AT_DIM + i * 4, 4, (int64_t)(v & UINT32_MAX) - 1); break;
    case REPLACE_STRIDE: put(map + AT_PITCH + i * 8, 8, (int64_t)v); break;
    case REPLACE_STEP: put(map + AT_STEP + i, 1, at_most(v & UINT32_MAX, UINT8_MAX)); break;
    case REPLACE_TYPE: put(map + AT_TYPE, 1, ELEMENT_TYPES[v]); break;
    case REPLACE_INTERLEAVE: put(map + AT_INTERLEAVE, 1, (int64_t)v); break;
    case REPLACE_SWIZZLE: put(map + AT_SWIZZLE, 1, (int64_t)v); break;
    case REPLACE_ATOM: put(map + AT_ATOM, 1, (int64_t)v); break;
    case REPLACE_FILL: put(map + AT_FILL, 1, (int64_t)v); break;
    case REPLACE_COUNT: break;
    }
}

/* Programs that make a map from nothing start with zeros. What it will be used for is not known. */
static void start_map(uint8_t *map)
{
    put_header(map);
    seal(map);
}

bool sim_map_replace(uint8_t map[SIM_MAP_BYTES], ReplaceField part, uint32_t ordinal, uint64_t value, int *rule,
                     char *text, size_t size)
{
    static const uint8_t zeros[SIM_MAP_BYTES];
    const struct Part *p = &PARTS[part];
    *rule = E1324;
    if (memcmp(map, zeros, SIM_MAP_BYTES) == 0) start_map(map);
    if (get(map + AT_MAGIC, 4) != MAGIC || map[AT_VERSION] != MAP_VERSION ||
        get(map + AT_SUM, 8) != XXH3_64bits(map, AT_SUM)) {
        snprintf(text, size, "the 128 bytes are neither a tensor map of the simulator nor zeros");
        return false;
    }
    *rule = E1318;
    if (map[AT_MODE] != MAP_TILED && map[AT_MODE] != MAP_GATHER4 && map[AT_MODE] != MAP_SCATTER4) {
        snprintf(text, size, "the instruction is one of mode .tile, the map one of im2col");
        return false;
    }
    if (p->ordinals && ordinal >= p->ordinals) {
        snprintf(text, size, "ordinal %u of .%s, which has %d", (unsigned)ordinal, p->name, p->ordinals);
        return false;
    }
    if (p->codes && value >= p->codes) {
        snprintf(text, size, ".%s has no value %llu", p->name, (unsigned long long)value);
        return false;
    }
    if (part == REPLACE_SWIZZLE && value >= SWIZZLE_SPANS) {
        *rule = E1351;
        snprintf(text, size, "swizzles of 96 bytes (sm_103a) are not simulated");
        return false;
    }
    put_part(map, part, ordinal, value);
    seal(map);
    return true;
}
