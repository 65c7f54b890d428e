/* The rules of tensor-map copies that are about operands of the instruction, not about the descriptor. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lang/map_rules.h"

enum { SHARED_ALIGN = 128, W_OFFSET_MAX = 31 };

typedef struct Check {
    void (*report)(void *user, const MapBreach *b);
    void *user;
    int breaches;
} Check;

#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
static void
breach(Check *c, ErrorCode code, const char *rule_id, MapField field, int index, const char *fmt, ...)
{
    MapBreach b = {.code = code, .rule_id = rule_id, .field = field, .index = index};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b.text, sizeof b.text, fmt, ap);
    va_end(ap);
    c->breaches++;
    if (c->report) c->report(c->user, &b);
}

static bool outside(int64_t v, int64_t lo, int64_t hi)
{
    return v != MAP_UNKNOWN && (v < lo || v > hi);
}

static void check_starts(Check *c, const MapDesc *d, const MapCopy *k)
{
    int inner = d->rank - 1, bits = map_global_bits(d->type);
    int64_t at = k->start[inner];
    bool slices = d->interleave != MAP_INTERLEAVE_NONE; /* counted in slices (map_rules.c) */
    if (!slices && at != MAP_UNKNOWN && (at % 128 * bits) % 128 != 0) /* bits of 16 bytes */
        breach(c, E0450, "D03", MAPF_START, inner, "start %" PRId64 " of elements of %d bits is not at a multiple of 16 bytes",
               at, bits);
    else if (map_shared_bits(d->type) != bits && at != MAP_UNKNOWN && at % 128 != 0) /* PTX ISA, tensor copy restrictions */
        breach(c, E0450, "D03", MAPF_START, inner, "start %" PRId64 " of packed elements with gaps is not a multiple of 128",
               at);
    for (int i = 0; d->is_store && i < d->rank; i++) /* measured: error 715 */
        if (k->start[i] != MAP_UNKNOWN && k->start[i] < 0)
            breach(c, E0501, "D03", MAPF_START, i, "a store starts at %" PRId64, k->start[i]);
}

/* PTX ISA, Tensors: im2col mode; the width of an offset shrinks with the number of spatial dimensions. */
static void check_offsets(Check *c, const MapDesc *d, const MapCopy *k)
{
    static const int64_t max[] = {65535, 255, 31};
    for (int i = 0; d->mode == MAP_IM2COL && i < d->rank - 2; i++)
        if (outside(k->offset[i], 0, max[d->rank - 3]))
            breach(c, E0445, "T17", MAPF_OFFSET, i, "offset %" PRId64 ", the limit for rank %d is %" PRId64, k->offset[i],
                   d->rank, max[d->rank - 3]);
}

static void check_halo(Check *c, const MapDesc *d, const MapCopy *k)
{
    if (d->mode != MAP_IM2COL_W && d->mode != MAP_IM2COL_W128) return;
    int64_t max = d->mode == MAP_IM2COL_W ? 511 : 31;
    if (outside(k->halo, 0, max))
        breach(c, E0446, "T17", MAPF_HALO, 0, "wHalo %" PRId64 ", the limit is %" PRId64, k->halo, max);
    if (outside(k->halo_offset, 0, W_OFFSET_MAX))
        breach(c, E0447, "T17", MAPF_HALO, 1, "wOffset %" PRId64 ", the limit is %d", k->halo_offset, W_OFFSET_MAX);
}

int map_check_copy(const MapDesc *d, const MapCopy *k, void (*report)(void *user, const MapBreach *b), void *user)
{
    Check c = {.report = report, .user = user};
    if (d->rank < 1 || d->rank > MAP_RANK) return 0;
    if (k->shared != MAP_UNKNOWN && k->shared % SHARED_ALIGN != 0)
        breach(&c, E0448, "D01", MAPF_SHARED, -1, "shared address %" PRId64 " is not a multiple of %d", k->shared,
               SHARED_ALIGN);
    check_starts(&c, d, k);
    if (d->rank >= 3) {
        check_offsets(&c, d, k);
        check_halo(&c, d, k);
    }
    return c.breaches;
}
