/* The rules of tensor-map copies that are about operands of the instruction, not about the descriptor. */
#include <inttypes.h>

#include "lang/maps/breach.h"

enum { SHARED_ALIGN = 128 };

static void check_starts(MapCheck *c, const MapCopy *k)
{
    const MapDesc *d = c->d;
    int inner = c->inner, bits = map_global_bits(d->type);
    int64_t at = k->start[inner];
    bool slices = d->interleave != MAP_INTERLEAVE_NONE; /* counted in slices (rules.c) */
    if (!slices && at != MAP_UNKNOWN && (at % 128 * bits) % 128 != 0) /* bits of 16 bytes */
        map_breach(c, E0450, "D03", MAPF_START, inner, "start %" PRId64 " of elements of %d bits is not at a multiple of 16 bytes",
               at, bits);
    else if (map_shared_bits(d->type) != bits && at != MAP_UNKNOWN && at % 128 != 0) /* PTX ISA, tensor copy restrictions */
        map_breach(c, E0450, "D03", MAPF_START, inner, "start %" PRId64 " of packed elements with gaps is not a multiple of 128",
               at);
    for (int i = 0; d->is_store && i < d->rank; i++) /* measured: error 715 */
        if (k->start[i] != MAP_UNKNOWN && k->start[i] < 0)
            map_breach(c, E0501, "D03", MAPF_START, i, "a store starts at %" PRId64, k->start[i]);
}

static void check_offsets(MapCheck *c, const MapCopy *k)
{
    const MapDesc *d = c->d;
    int64_t max = map_offset_most(d->rank);
    for (int i = 0; d->mode == MAP_IM2COL && i < d->rank - 2; i++)
        if (map_outside(k->offset[i], 0, max))
            map_breach(c, E0445, "T17", MAPF_OFFSET, i, "offset %" PRId64 ", the limit for rank %d is %" PRId64, k->offset[i],
                   d->rank, max);
}

static void check_halo(MapCheck *c, const MapCopy *k)
{
    const MapDesc *d = c->d;
    if (!map_is_wide(d->mode)) return;
    int64_t max = map_mode(d->mode)->halo_most;
    if (map_outside(k->halo, 0, max))
        map_breach(c, E0446, "T17", MAPF_HALO, 0, "wHalo %" PRId64 ", the limit is %" PRId64, k->halo, max);
    if (map_outside(k->halo_offset, 0, MAP_W_OFFSET_MOST))
        map_breach(c, E0447, "T17", MAPF_HALO, 1, "wOffset %" PRId64 ", the limit is %d", k->halo_offset, MAP_W_OFFSET_MOST);
}

int map_check_copy(const MapDesc *d, const MapCopy *k, void (*report)(void *user, const MapBreach *b), void *user)
{
    MapCheck c = {.d = d, .report = report, .user = user, .inner = d->rank - 1};
    if (d->rank < 1 || d->rank > MAP_RANK) return 0;
    if (k->shared != MAP_UNKNOWN && k->shared % SHARED_ALIGN != 0)
        map_breach(&c, E0448, "D01", MAPF_SHARED, -1, "shared address %" PRId64 " is not a multiple of %d", k->shared,
               SHARED_ALIGN);
    check_starts(&c, k);
    if (d->rank >= 3) {
        check_offsets(&c, k);
        check_halo(&c, k);
    }
    return c.breaches;
}
