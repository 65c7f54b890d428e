/* The rules of the operands of tensor-map copies: for each a copy that breaks just it, and one that just doesn't.
 * Limits from the PTX ISA (Tensors: im2col and im2col::w modes, bounding box) and as measured on an H200. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "lang/maps/rules.h"

typedef struct Seen {
    int n;
    ErrorCode first;
} Seen;

static void see(void *user, const MapBreach *b)
{
    Seen *s = user;
    if (s->n++ == 0) s->first = b->code;
}

static const MapCopy NOTHING_KNOWN = {
    .start = {MAP_UNKNOWN, MAP_UNKNOWN, MAP_UNKNOWN, MAP_UNKNOWN, MAP_UNKNOWN},
    .shared = MAP_UNKNOWN,
    .offset = {MAP_UNKNOWN, MAP_UNKNOWN, MAP_UNKNOWN},
    .halo = MAP_UNKNOWN,
    .halo_offset = MAP_UNKNOWN,
};

#define COPY(mode_, rank_, type_, store, change)                                                                       \
    MapDesc d = {.mode = mode_, .rank = rank_, .type = type_, .is_load = !(store), .is_store = store};                 \
    MapCopy c = NOTHING_KNOWN;                                                                                         \
    Seen s = {0};                                                                                                      \
    change;                                                                                                            \
    int n = map_check_copy(&d, &c, see, &s);                                                                           \
    assert_int_equal(n, s.n)
#define BREAKS(code, mode_, rank_, type_, store, change)                                                               \
    do {                                                                                                               \
        COPY(mode_, rank_, type_, store, change);                                                                      \
        assert_int_equal(n, 1);                                                                                        \
        assert_int_equal(s.first, code);                                                                               \
    } while (0)
#define FINE(mode_, rank_, type_, store, change)                                                                       \
    do {                                                                                                               \
        COPY(mode_, rank_, type_, store, change);                                                                      \
        assert_int_equal(n, 0);                                                                                        \
    } while (0)

static void D01_shared_address(void **state)
{
    (void)state;
    BREAKS(E0448, MAP_TILED, 2, MAP_BF16, false, c.shared = 1024 + 64);
    BREAKS(E0448, MAP_TILED, 2, MAP_BF16, true, c.shared = 16);
    FINE(MAP_TILED, 2, MAP_BF16, false, c.shared = 128);
    FINE(MAP_TILED, 2, MAP_BF16, true, c.shared = 0);
}

static void D02_swizzle_pattern_starts(void **state)
{
    (void)state;
    assert_int_equal(swizzle_align(MAP_SWIZZLE_NONE), 128);
    assert_int_equal(swizzle_align(MAP_SWIZZLE_32B), 256);
    assert_int_equal(swizzle_align(MAP_SWIZZLE_64B), 512);
    assert_int_equal(swizzle_align(MAP_SWIZZLE_128B), 1024);
    assert_int_equal(swizzle_align(MAP_SWIZZLE_128B_ATOM_64B), 1024);
}

static void D03_inner_start(void **state)
{
    (void)state;
    BREAKS(E0450, MAP_TILED, 2, MAP_BF16, false, c.start[1] = 4);
    FINE(MAP_TILED, 2, MAP_BF16, false, c.start[1] = 8);
    FINE(MAP_TILED, 2, MAP_BF16, false, c.start[0] = 3; c.start[1] = -16);
    BREAKS(E0450, MAP_TILED, 1, MAP_U8, false, c.start[0] = -8);
    FINE(MAP_TILED, 1, MAP_F64, false, c.start[0] = 2);
    BREAKS(E0450, MAP_TILED, 1, MAP_F64, false, c.start[0] = 1);
    FINE(MAP_TILED, 2, MAP_U4_ALIGN8, false, c.start[1] = 32);
    BREAKS(E0450, MAP_TILED, 2, MAP_U4_ALIGN8, false, c.start[1] = 16);
    BREAKS(E0450, MAP_IM2COL, 4, MAP_BF16, false, c.start[3] = 4);
    FINE(MAP_IM2COL, 4, MAP_BF16, false, d.interleave = MAP_INTERLEAVE_16B; c.start[3] = 5); /* counts slices */
    BREAKS(E0450, MAP_TILED, 1, MAP_U8, false, c.start[0] = INT64_MAX);
}

static void stores_start_inside(void **state)
{
    (void)state;
    BREAKS(E0501, MAP_TILED, 3, MAP_F32, true, c.start[1] = -1);
    FINE(MAP_TILED, 3, MAP_F32, true, c.start[1] = 0);
    FINE(MAP_TILED, 3, MAP_F32, false, c.start[1] = -1);
}

static void T17_offsets_and_halo(void **state)
{
    (void)state;
    FINE(MAP_IM2COL, 3, MAP_F16, false, c.offset[0] = 65535);
    BREAKS(E0445, MAP_IM2COL, 3, MAP_F16, false, c.offset[0] = 65536);
    FINE(MAP_IM2COL, 4, MAP_F16, false, c.offset[0] = 0; c.offset[1] = 255);
    BREAKS(E0445, MAP_IM2COL, 4, MAP_F16, false, c.offset[0] = 1; c.offset[1] = 256);
    FINE(MAP_IM2COL, 5, MAP_F16, false, c.offset[2] = 31);
    BREAKS(E0445, MAP_IM2COL, 5, MAP_F16, false, c.offset[2] = 32);
    BREAKS(E0445, MAP_IM2COL, 5, MAP_F16, false, c.offset[0] = -1);
    FINE(MAP_IM2COL_W, 4, MAP_F16, false, c.halo = 511; c.halo_offset = 31);
    BREAKS(E0446, MAP_IM2COL_W, 4, MAP_F16, false, c.halo = 512);
    FINE(MAP_IM2COL_W128, 4, MAP_F16, false, c.halo = 31);
    BREAKS(E0446, MAP_IM2COL_W128, 4, MAP_F16, false, c.halo = 32);
    BREAKS(E0447, MAP_IM2COL_W, 4, MAP_F16, false, c.halo = 0; c.halo_offset = 32);
    FINE(MAP_TILED, 4, MAP_F16, false, c.halo = 600; c.offset[0] = -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(D01_shared_address),  cmocka_unit_test(D02_swizzle_pattern_starts),
        cmocka_unit_test(D03_inner_start),     cmocka_unit_test(stores_start_inside),
        cmocka_unit_test(T17_offsets_and_halo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
