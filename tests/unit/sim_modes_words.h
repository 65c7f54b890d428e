/* A copy through a MapDesc in the words of sim_modes_ref.h. */
#ifndef TESTS_SIM_MODES_WORDS_H
#define TESTS_SIM_MODES_WORDS_H

#include <string.h>

#include "lang/maps/rules.h"
#include "tests/unit/sim_modes_ref.h"

/* coord, offset: as the instruction has them. */
static inline RefCopy ref_words(const MapDesc *d, bool load, uint64_t shared, const int64_t coord[5],
                                const int64_t offset[3])
{
    static const RefMode modes[] = {
        [MAP_TILED] = REF_TILED,      [MAP_IM2COL] = REF_IM2COL, [MAP_IM2COL_W] = REF_W,
        [MAP_IM2COL_W128] = REF_W128, [MAP_GATHER4] = REF_ROWS4, [MAP_SCATTER4] = REF_ROWS4};
    static const RefSwizzle swizzles[] = {[MAP_SWIZZLE_NONE] = REF_NONE,
                                          [MAP_SWIZZLE_32B] = REF_32,
                                          [MAP_SWIZZLE_64B] = REF_64,
                                          [MAP_SWIZZLE_128B] = REF_128,
                                          [MAP_SWIZZLE_128B_ATOM_32B] = REF_128_ATOM_32,
                                          [MAP_SWIZZLE_128B_ATOM_64B] = REF_128_ATOM_64};
    RefCopy r = {.mode = modes[d->mode],
                 .load = load,
                 .rank = d->rank,
                 .container = 16,
                 .address = d->address,
                 .channels = d->channels,
                 .pixels = d->pixels,
                 .swizzle = swizzles[d->swizzle],
                 .shared = shared};
    switch (d->type) {
    case MAP_U8: r.bits = 8; break;
    case MAP_F16:
    case MAP_BF16:
    case MAP_U16: r.bits = 16; break;
    case MAP_U64:
    case MAP_S64:
    case MAP_F64: r.bits = 64; break;
    case MAP_U4_ALIGN8: r.bits = 4; break;
    case MAP_U4_ALIGN16: r.bits = 4, r.container = 8; break;
    case MAP_U6_ALIGN16: r.bits = 6, r.container = 12; break;
    default: r.bits = 32; break;
    }
    if (d->interleave) r.slice = d->interleave == MAP_INTERLEAVE_16B ? 16 : 32;
    for (int i = 0; i < d->rank; i++) {
        int at = d->rank - 1 - i;
        r.size[i] = d->dim[at];
        r.stride[i] = d->pitch[at];
        r.box[i] = d->box[at];
        r.step[i] = d->elem_stride[at];
    }
    int corners = d->mode == MAP_IM2COL ? d->rank - 2 : 1;
    for (int i = 0; i < corners; i++) {
        r.lower[i] = d->lower[corners - 1 - i];
        r.upper[i] = d->upper[corners - 1 - i];
    }
    memcpy(r.coord, coord, sizeof r.coord);
    memcpy(r.offset, offset, sizeof r.offset);
    return r;
}

#endif
