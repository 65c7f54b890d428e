/* The simulator's own 128 bytes of a tensor map. */
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/sim/maps.h"

/* Little-endian fields at fixed bytes. Arrays outermost first, as in MapDesc; what a mode does not use is 0. */
enum {
    AT_MAGIC = 0,   /* 4 */
    AT_VERSION = 4, /* 1, then one byte each */
    AT_MODE = 5,
    AT_TYPE = 6,
    AT_RANK = 7,
    AT_INTERLEAVE = 8,
    AT_SWIZZLE = 9,
    AT_L2 = 10,
    AT_FILL = 11,
    AT_USES = 12,     /* bit 0 is_load, 1 is_store */
    AT_SM = 14,       /* 2 */
    AT_ADDRESS = 16,  /* 8 */
    AT_DIM = 24,      /* 5 x 4: minus 1 */
    AT_PITCH = 44,    /* 5 x 5 */
    AT_BOX = 69,      /* 5 x 2 */
    AT_STEP = 79,     /* 5 x 1 */
    AT_LOWER = 84,    /* 3 x 2 */
    AT_UPPER = 90,    /* 3 x 2 */
    AT_CHANNELS = 96, /* 2 */
    AT_PIXELS = 98,   /* 2 */
    AT_END = 100,     /* zeros up to the check sum */
    AT_SUM = 120,     /* 8 */
    MAP_VERSION = 1,
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

void sim_map_encode(const MapDesc *d, uint8_t map[SIM_MAP_BYTES])
{
    memset(map, 0, SIM_MAP_BYTES);
    put(map + AT_MAGIC, 4, MAGIC);
    const int bytes[] = {MAP_VERSION, (int)d->mode, d->type, d->rank, d->interleave, d->swizzle, d->l2, d->fill};
    for (int i = 0; i < 8; i++) put(map + AT_VERSION + i, 1, bytes[i]);
    put(map + AT_USES, 1, d->is_load | d->is_store << 1);
    put(map + AT_SM, 2, d->sm);
    put(map + AT_ADDRESS, 8, d->address);
    for (int i = 0; i < d->rank && i < MAP_RANK; i++) {
        put(map + AT_DIM + i * 4, 4, d->dim[i] - 1);
        put(map + AT_PITCH + i * 5, 5, i < d->rank - 1 ? d->pitch[i] : 0);
        put(map + AT_BOX + i * 2, 2, d->box[i]);
        put(map + AT_STEP + i, 1, d->elem_stride[i]);
    }
    for (int i = 0; i < 3; i++) {
        put(map + AT_LOWER + i * 2, 2, d->lower[i]);
        put(map + AT_UPPER + i * 2, 2, d->upper[i]);
    }
    put(map + AT_CHANNELS, 2, d->channels);
    put(map + AT_PIXELS, 2, d->pixels);
    put(map + AT_SUM, 8, (int64_t)XXH3_64bits(map, AT_SUM));
}

static void read_fields(const uint8_t *map, MapDesc *d)
{
    *d = (MapDesc){
        .mode = (MapMode)map[AT_MODE],
        .type = map[AT_TYPE],
        .rank = map[AT_RANK],
        .interleave = map[AT_INTERLEAVE],
        .swizzle = map[AT_SWIZZLE],
        .l2 = map[AT_L2],
        .fill = map[AT_FILL],
        .is_load = map[AT_USES] & 1,
        .is_store = map[AT_USES] >> 1 & 1,
        .sm = (int)get(map + AT_SM, 2),
        .address = (int64_t)get(map + AT_ADDRESS, 8),
        .channels = (int64_t)get(map + AT_CHANNELS, 2),
        .pixels = (int64_t)get(map + AT_PIXELS, 2),
    };
    for (int i = 0; i < d->rank && i < MAP_RANK; i++) {
        d->dim[i] = (int64_t)get(map + AT_DIM + i * 4, 4) + 1;
        d->pitch[i] = (int64_t)get(map + AT_PITCH + i * 5, 5);
        d->box[i] = (int64_t)get(map + AT_BOX + i * 2, 2);
        d->elem_stride[i] = map[AT_STEP + i];
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
    /* The sum is no secret: what follows relies on the rules, not on it. */
    MapBreach first = {.rule_id = NULL};
    if (out->mode > MAP_SCATTER4 || map_check(out, keep_first, &first) != 0) {
        snprintf(text, size, "the tensor map breaks a rule%s%s", first.rule_id ? ": " : "",
                 first.rule_id ? first.text : " (its mode is unknown)");
        return false;
    }
    return true;
}
