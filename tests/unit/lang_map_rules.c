/* Every tensor-map rule: a descriptor that breaks just that rule, and one that just does not.
 *
 * Limits are those of cuda.h (cuTensorMapEncodeTiled, Im2col, Im2colWide), of the PTX ISA's section on tensors, and of
 * what the driver was seen to refuse where both are silent.
 */
#include "tests/unit/lang_fixture.h"

#include "lang/maps/rules.h"

typedef struct Breaches {
    unsigned n;
    MapBreach first;
    char all[1000];
} Breaches;

static void collect(void *user, const MapBreach *b)
{
    Breaches *to = user;
    if (to->n++ == 0) to->first = *b;
    size_t at = strlen(to->all);
    snprintf(to->all + at, sizeof to->all - at, " %s", error_info(b->code)->code);
}

static Breaches check(const MapDesc *d)
{
    Breaches b = {.n = 0};
    int n = map_check(d, collect, &b);
    assert_int_equal(n, b.n);
    return b;
}

static void only(const MapDesc *d, ErrorCode code)
{
    Breaches b = check(d);
    if (b.n != 1 || b.first.code != code) fail_msg("%s expected, got%s", error_info(code)->code, b.n ? b.all : " none");
    assert_true(strlen(b.first.rule_id) == 3 && strchr("TD", b.first.rule_id[0]));
    assert_true(b.first.text[0] != 0);
}

static void fine(const MapDesc *d)
{
    Breaches b = check(d);
    if (b.n) fail_msg("no breach expected, got%s: %s", b.all, b.first.text);
}

#define BREAKS(code, base, ...)                                                                                        \
    do {                                                                                                               \
        MapDesc d = base();                                                                                            \
        __VA_ARGS__;                                                                                                   \
        only(&d, code);                                                                                                \
    } while (0)
#define FINE(base, ...)                                                                                                \
    do {                                                                                                               \
        MapDesc d = base();                                                                                            \
        __VA_ARGS__;                                                                                                   \
        fine(&d);                                                                                                      \
    } while (0)

/* bf16[1000, 1024], box [64, 64] */
static MapDesc tiled(void)
{
    return (MapDesc){.mode = MAP_TILED,
                     .type = MAP_BF16,
                     .rank = 2,
                     .address = 0x1000,
                     .dim = {1000, 1024},
                     .pitch = {2048},
                     .box = {64, 64},
                     .elem_stride = {1, 1},
                     .sm = 90,
                     .is_load = true};
}

/* bf16[8, 100, 1024] */
static MapDesc tiled3(void)
{
    MapDesc d = tiled();
    d.rank = 3;
    for (int i = 0; i < 3; i++) {
        d.dim[i] = (int64_t[]){8, 100, 1024}[i];
        d.pitch[i] = (int64_t[]){204800, 2048, 0}[i];
        d.box[i] = (int64_t[]){2, 8, 64}[i];
        d.elem_stride[i] = 1;
    }
    return d;
}

static MapDesc tiled5(void)
{
    MapDesc d = tiled();
    d.rank = 5;
    for (int i = 0; i < 5; i++) {
        d.dim[i] = 16;
        d.pitch[i] = (int64_t[]){131072, 8192, 512, 32, 0}[i];
        d.box[i] = (int64_t[]){2, 2, 2, 2, 16}[i];
        d.elem_stride[i] = 1;
    }
    return d;
}

/* NHWC bf16[32, 64, 64, 128], 3 x 3 window */
static MapDesc im2col(void)
{
    MapDesc d = {.mode = MAP_IM2COL,
                 .type = MAP_BF16,
                 .rank = 4,
                 .address = 0x1000,
                 .dim = {32, 64, 64, 128},
                 .pitch = {1048576, 16384, 256},
                 .elem_stride = {1, 1, 1, 1},
                 .swizzle = MAP_SWIZZLE_128B,
                 .lower = {-1, -1},
                 .upper = {-1, -1},
                 .channels = 64,
                 .pixels = 128,
                 .sm = 90,
                 .is_load = true};
    return d;
}

static MapDesc im2col3(void)
{
    MapDesc d = {.mode = MAP_IM2COL,
                 .type = MAP_BF16,
                 .rank = 3,
                 .address = 0x1000,
                 .dim = {32, 100000, 128},
                 .pitch = {25600000, 256},
                 .elem_stride = {1, 1, 1},
                 .channels = 64,
                 .pixels = 128,
                 .sm = 90,
                 .is_load = true};
    return d;
}

static MapDesc im2col5(void)
{
    MapDesc d = {.mode = MAP_IM2COL,
                 .type = MAP_BF16,
                 .rank = 5,
                 .address = 0x1000,
                 .dim = {4, 64, 64, 64, 128},
                 .pitch = {67108864, 1048576, 16384, 256},
                 .elem_stride = {1, 1, 1, 1, 1},
                 .channels = 64,
                 .pixels = 128,
                 .sm = 90,
                 .is_load = true};
    return d;
}

static MapDesc wide(void)
{
    MapDesc d = im2col();
    d.mode = MAP_IM2COL_W;
    d.sm = 100;
    return d;
}

static MapDesc gather(void)
{
    MapDesc d = tiled();
    d.mode = MAP_GATHER4;
    d.sm = 100;
    d.box[0] = 4;
    return d;
}

static MapDesc packed(int type)
{
    MapDesc d = tiled();
    d.type = type;
    d.sm = 100;
    d.box[1] = 128;
    d.pitch[0] = 768;
    return d;
}

static MapDesc b4a16(void)
{
    return packed(MAP_U4_ALIGN16);
}

static MapDesc b6a16(void)
{
    return packed(MAP_U6_ALIGN16);
}

static MapDesc b4a8(void)
{
    MapDesc d = packed(MAP_U4_ALIGN8);
    d.box[1] = 64;
    return d;
}

static MapDesc interleaved(void)
{
    MapDesc d = tiled3();
    d.interleave = MAP_INTERLEAVE_16B;
    return d;
}

static MapDesc interleaved32(void)
{
    MapDesc d = tiled3();
    d.interleave = MAP_INTERLEAVE_32B;
    d.swizzle = MAP_SWIZZLE_32B;
    return d;
}

static void the_base_descriptors_are_fine(void **state)
{
    (void)state;
    MapDesc all[] = {tiled(),  tiled3(), tiled5(), im2col(), im2col3(),     im2col5(),      wide(),
                     gather(), b4a16(),  b6a16(),  b4a8(),   interleaved(), interleaved32()};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) fine(&all[i]);
}

static void T02_data_types(void **state)
{
    (void)state;
    BREAKS(E0402, tiled, d.type = 16);
    BREAKS(E0402, tiled, d.type = -1);
    FINE(b6a16, d.type = 15);
    FINE(tiled, d.type = 0);
}

static void T03_compute_capability(void **state)
{
    (void)state;
    BREAKS(E0403, tiled, d.sm = 89);
    FINE(tiled, d.sm = 90);
    FINE(tiled, d.sm = 0);
    BREAKS(E0404, wide, d.sm = 90);
    FINE(wide, d.sm = 100);
    for (int s = MAP_SWIZZLE_128B_ATOM_32B; s <= MAP_SWIZZLE_128B_ATOM_64B; s++) {
        BREAKS(E0405, tiled, d.swizzle = s);
        FINE(tiled, d.swizzle = s; d.sm = 100);
    }
    FINE(tiled, d.swizzle = MAP_SWIZZLE_128B);
    BREAKS(E0406, b4a8, d.sm = 90);
    BREAKS(E0406, b4a16, d.sm = 90);
    BREAKS(E0406, b6a16, d.sm = 90);
    FINE(b6a16, d.sm = 120);
}

static void T04_rank(void **state)
{
    (void)state;
    BREAKS(E0407, tiled, d.rank = 0);
    BREAKS(E0407, tiled, d.rank = 6);
    FINE(tiled, d.rank = 1; d.dim[0] = 1024);
    BREAKS(E0408, tiled, d.interleave = MAP_INTERLEAVE_16B);
    FINE(interleaved, d.rank = 3);
    BREAKS(E0409, im2col3, d.rank = 2; d.dim[1] = 1024; d.pitch[0] = 2048);
    FINE(im2col3, d.rank = 3);
}

static void T05_address(void **state)
{
    (void)state;
    BREAKS(E0410, tiled, d.address = 0x1008);
    FINE(tiled, d.address = 0x1010);
    BREAKS(E0411, interleaved32, d.address = 0x1010);
    BREAKS(E0411, b4a16, d.address = 0x1010);
    BREAKS(E0411, b6a16, d.address = 0x1010);
    FINE(b6a16, d.address = 0x1020);
    FINE(interleaved, d.address = 0x1010);
    FINE(b4a8, d.address = 0x1010);
}

static void T06_extents(void **state)
{
    (void)state;
    BREAKS(E0412, tiled, d.dim[0] = 0);
    BREAKS(E0412, tiled, d.dim[0] = -5);
    BREAKS(E0412, tiled, d.dim[0] = INT64_C(2147483649));
    FINE(tiled, d.dim[0] = INT64_C(2147483648));
    FINE(tiled, d.dim[0] = 1);
    BREAKS(E0413, b4a16, d.dim[1] = 1024 + 64);
    BREAKS(E0413, b6a16, d.dim[1] = 1024 + 64);
    FINE(b6a16, d.dim[1] = 128);
    BREAKS(E0414, b4a8, d.dim[1] = 1023);
    FINE(b4a8, d.dim[1] = 1022);
    BREAKS(E0456, im2col3, d.dim[1] = INT64_C(2147483648));
    FINE(im2col3, d.dim[1] = INT64_C(2147483647));
    BREAKS(E0456, im2col3, d.dim[1] = INT64_C(2147483647); d.upper[0] = 1);
    FINE(im2col3, d.dim[1] = INT64_C(2147483648); d.upper[0] = -1);
    FINE(im2col3, d.dim[0] = INT64_C(2147483648));
}

static void T07_pitches(void **state)
{
    (void)state;
    BREAKS(E0415, tiled, d.pitch[0] = 2056);
    FINE(tiled, d.pitch[0] = 2064);
    FINE(tiled, d.pitch[1] = 3);
    BREAKS(E0416, tiled, d.pitch[0] = INT64_C(1) << 40);
    BREAKS(E0416, tiled, d.pitch[0] = -2048);
    FINE(tiled, d.pitch[0] = (INT64_C(1) << 40) - 16);
    BREAKS(E0417, interleaved32, d.pitch[1] = 2064);
    BREAKS(E0417, b4a16, d.pitch[0] = 784);
    FINE(interleaved, d.pitch[1] = 2064);
    FINE(b4a8, d.pitch[0] = 784);
}

static void T07_written_tensors_do_not_overlap_themselves(void **state)
{
    (void)state;
    FINE(tiled, d.pitch[0] = 0);
    FINE(tiled, d.pitch[0] = 16);
    BREAKS(E0418, tiled, d.pitch[0] = 0; d.is_store = true);
    BREAKS(E0418, tiled, d.pitch[0] = 2032; d.is_store = true);
    FINE(tiled, d.pitch[0] = 2048; d.is_store = true);
    FINE(tiled, d.dim[0] = 1; d.pitch[0] = 0; d.is_store = true);
    FINE(tiled3, d.is_store = true; d.pitch[0] = 2048; d.pitch[1] = 16384); /* dimensions swapped */
    BREAKS(E0418, tiled3, d.is_store = true; d.pitch[0] = 2048; d.pitch[1] = 14336);
}

static void T08_element_strides(void **state)
{
    (void)state;
    BREAKS(E0419, tiled, d.elem_stride[0] = 0);
    BREAKS(E0419, tiled, d.elem_stride[0] = 9);
    FINE(tiled, d.elem_stride[0] = 8);
    BREAKS(E0420, tiled, d.elem_stride[1] = 2);
    FINE(interleaved, d.elem_stride[2] = 2);
    BREAKS(E0420, im2col, d.elem_stride[3] = 2);
    FINE(im2col, d.interleave = MAP_INTERLEAVE_16B; d.elem_stride[3] = 2);
    FINE(im2col, d.elem_stride[2] = 2);
    BREAKS(E0419, interleaved, d.elem_stride[2] = 9);
}

static void T09_interleave(void **state)
{
    (void)state;
    BREAKS(E0421, tiled3, d.interleave = 3);
    BREAKS(E0421, tiled3, d.interleave = -1);
    BREAKS(E0422, interleaved32, d.swizzle = MAP_SWIZZLE_64B);
    BREAKS(E0422, interleaved32, d.swizzle = MAP_SWIZZLE_NONE);
    FINE(interleaved, d.swizzle = MAP_SWIZZLE_64B);
    BREAKS(E0423, interleaved, d.type = MAP_U6_ALIGN16; d.sm = 100; d.box[2] = 128);
    FINE(interleaved, d.type = MAP_U4_ALIGN16; d.sm = 100; d.box[2] = 128);
    BREAKS(E0424, wide, d.interleave = MAP_INTERLEAVE_16B);
    BREAKS(E0424, wide, d.mode = MAP_IM2COL_W128; d.interleave = MAP_INTERLEAVE_16B);
    FINE(im2col, d.interleave = MAP_INTERLEAVE_16B);
    /* gather4 has rank 2, which interleave alone forbids: both rules speak */
    MapDesc g = gather();
    g.interleave = MAP_INTERLEAVE_16B;
    Breaches b = check(&g);
    assert_string_equal(b.all, " E0408 E0424");
}

static void T10_inner_box_and_swizzle_span(void **state)
{
    (void)state;
    FINE(tiled, d.swizzle = MAP_SWIZZLE_128B; d.box[1] = 64);
    BREAKS(E0425, tiled, d.swizzle = MAP_SWIZZLE_128B; d.box[1] = 72);
    FINE(tiled, d.swizzle = MAP_SWIZZLE_64B; d.box[1] = 32);
    BREAKS(E0425, tiled, d.swizzle = MAP_SWIZZLE_64B; d.box[1] = 40);
    FINE(tiled, d.swizzle = MAP_SWIZZLE_32B; d.box[1] = 16);
    BREAKS(E0425, tiled, d.swizzle = MAP_SWIZZLE_32B; d.box[1] = 24);
    FINE(tiled, d.swizzle = MAP_SWIZZLE_NONE; d.box[1] = 256);
    FINE(interleaved, d.swizzle = MAP_SWIZZLE_32B; d.box[2] = 64);
    BREAKS(E0425, im2col, d.channels = 72);
    FINE(b4a16, d.swizzle = MAP_SWIZZLE_128B); /* 128 values in 128 bytes of shared memory */
    BREAKS(E0426, wide, d.swizzle = MAP_SWIZZLE_NONE);
    BREAKS(E0426, wide, d.swizzle = MAP_SWIZZLE_32B; d.channels = 16);
    BREAKS(E0426, wide, d.swizzle = MAP_SWIZZLE_128B_ATOM_64B);
    BREAKS(E0426, wide, d.swizzle = MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
    FINE(wide, d.swizzle = MAP_SWIZZLE_64B; d.channels = 32);
    FINE(wide, d.swizzle = MAP_SWIZZLE_128B_ATOM_32B);
    BREAKS(E0455, tiled, d.swizzle = 7);
    BREAKS(E0455, tiled, d.swizzle = -1);
}

static void T11_swizzles_of_packed_types(void **state)
{
    (void)state;
    BREAKS(E0427, b6a16, d.swizzle = MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
    BREAKS(E0428, b4a16, d.swizzle = MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
    BREAKS(E0428, b4a16, d.swizzle = MAP_SWIZZLE_128B_ATOM_64B);
    for (int s = 0; s < 3; s++) {
        int ok = (const int[]){MAP_SWIZZLE_NONE, MAP_SWIZZLE_128B, MAP_SWIZZLE_128B_ATOM_32B}[s];
        FINE(b6a16, d.swizzle = ok);
        FINE(b4a16, d.swizzle = ok);
        FINE(b6a16, d.swizzle = ok; d.is_load = false; d.is_store = true);
    }
    BREAKS(E0429, b4a16, d.is_load = false; d.is_store = true);
    BREAKS(E0430, b6a16, d.swizzle = MAP_SWIZZLE_128B_ATOM_64B);
    FINE(b6a16, d.swizzle = MAP_SWIZZLE_128B_ATOM_64B; d.is_load = false; d.is_store = true);
}

static void T12_T13_hint_and_fill(void **state)
{
    (void)state;
    BREAKS(E0431, tiled, d.l2 = 4);
    BREAKS(E0431, tiled, d.l2 = -1);
    FINE(tiled, d.l2 = MAP_L2_256B);
    BREAKS(E0432, tiled, d.fill = 2);
    FINE(tiled, d.fill = MAP_FILL_NAN);
    BREAKS(E0433, tiled, d.type = MAP_U16; d.fill = MAP_FILL_NAN);
    BREAKS(E0433, b4a8, d.fill = MAP_FILL_NAN);
    BREAKS(E0433, b6a16, d.fill = MAP_FILL_NAN);
    const int floats[] = {MAP_F16, MAP_F32, MAP_F64, MAP_BF16, MAP_F32_FTZ, MAP_TF32, MAP_TF32_FTZ};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) FINE(tiled, d.type = floats[i]; d.fill = MAP_FILL_NAN);
}

static void T14_box(void **state)
{
    (void)state;
    BREAKS(E0434, tiled, d.box[0] = 0);
    BREAKS(E0434, tiled, d.box[0] = 257);
    FINE(tiled, d.box[0] = 256);
    FINE(tiled, d.box[0] = 1);
    FINE(tiled, d.dim[0] = 1; d.box[0] = 256); /* larger than the tensor: accepted by the driver */
    BREAKS(E0435, tiled, d.box[1] = 4);
    BREAKS(E0435, tiled, d.box[1] = 60);
    FINE(tiled, d.box[1] = 8);
    BREAKS(E0435, interleaved, d.box[2] = 4);
    BREAKS(E0435, b4a8, d.box[1] = 48);
    FINE(b4a8, d.box[1] = 32);
    BREAKS(E0436, b4a16, d.box[1] = 64);
    BREAKS(E0436, b6a16, d.box[1] = 256);
    BREAKS(E0437, tiled3, d.mode = MAP_GATHER4; d.sm = 100; d.box[0] = 4);
    BREAKS(E0437, tiled, d.mode = MAP_SCATTER4; d.rank = 1; d.sm = 100; d.box[0] = 64; d.dim[0] = 1024);
    BREAKS(E0438, gather, d.box[0] = 64);
    FINE(gather, d.mode = MAP_SCATTER4; d.is_load = false; d.is_store = true);
    FINE(gather, d.box[0] = 1);
}

static void T15_corners(void **state)
{
    (void)state;
    FINE(im2col3, d.lower[0] = -32768; d.upper[0] = 32767);
    BREAKS(E0439, im2col3, d.lower[0] = -32769);
    BREAKS(E0439, im2col3, d.upper[0] = 32768);
    FINE(im2col, d.lower[0] = -128; d.upper[1] = 127);
    BREAKS(E0439, im2col, d.lower[1] = -129);
    BREAKS(E0439, im2col, d.upper[0] = 128);
    FINE(im2col5, d.lower[0] = -16; d.upper[2] = 15);
    BREAKS(E0439, im2col5, d.lower[2] = -17);
    BREAKS(E0439, im2col5, d.upper[1] = 16);
    FINE(wide, d.lower[0] = -32768; d.upper[0] = 32767);
    BREAKS(E0439, wide, d.lower[0] = -32769);
    FINE(wide, d.lower[1] = 99999); /* one corner only */
    BREAKS(E0440, im2col, d.lower[1] = 32; d.upper[1] = -32);
    FINE(im2col, d.lower[1] = 32; d.upper[1] = -31);
    BREAKS(E0440, wide, d.lower[0] = 64; d.upper[0] = 0);
    /* interleaved: N, C, H, W */
    BREAKS(E0440, im2col, d.interleave = MAP_INTERLEAVE_16B; d.dim[3] = 3; d.lower[1] = 2);
    FINE(im2col, d.interleave = MAP_INTERLEAVE_16B; d.dim[3] = 4; d.lower[1] = 2);
    FINE(im2col, d.interleave = MAP_INTERLEAVE_16B; d.dim[1] = 1; d.lower[0] = 5);
    assert_int_equal(map_first_corner(MAP_IM2COL, MAP_INTERLEAVE_NONE, 4), 1);
    assert_int_equal(map_first_corner(MAP_IM2COL, MAP_INTERLEAVE_32B, 3), 2);
    assert_int_equal(map_first_corner(MAP_IM2COL_W, MAP_INTERLEAVE_NONE, 5), 3);
}

static void T16_channels_and_pixels(void **state)
{
    (void)state;
    BREAKS(E0441, im2col3, d.channels = 0);
    BREAKS(E0441, im2col3, d.channels = 264);
    FINE(im2col3, d.channels = 256);
    BREAKS(E0442, im2col3, d.type = MAP_U6_ALIGN16; d.sm = 100; d.channels = 64);
    FINE(im2col3, d.type = MAP_U6_ALIGN16; d.sm = 100; d.channels = 128);
    BREAKS(E0443, im2col3, d.pixels = 0);
    BREAKS(E0443, im2col3, d.pixels = 1025);
    FINE(im2col3, d.pixels = 1024);
    FINE(wide, d.mode = MAP_IM2COL_W128; d.pixels = 5000);
    BREAKS(E0444, im2col3, d.channels = 4);
    FINE(im2col3, d.channels = 8);
}

static void D03_stored_rows_are_whole_units(void **state)
{
    (void)state;
    BREAKS(E0454, tiled, d.is_store = true; d.dim[1] = 100);
    FINE(tiled, d.dim[1] = 100);
    FINE(tiled, d.is_store = true; d.dim[1] = 104);
}

static void the_box_fits_shared_memory(void **state)
{
    (void)state;
    /* u8[4, 228, 256] is 228 KiB */
    FINE(tiled3, d.type = MAP_U8; d.box[0] = 4; d.box[1] = 228; d.box[2] = 256);
    BREAKS(E0452, tiled3, d.type = MAP_U8; d.box[0] = 4; d.box[1] = 229; d.box[2] = 256);
    FINE(tiled3, d.type = MAP_U8; d.box[0] = 4; d.box[1] = 230; d.box[2] = 256; d.elem_stride[1] = 2);
    BREAKS(E0452, im2col3, d.channels = 256; d.pixels = 457);
    FINE(im2col3, d.channels = 256; d.pixels = 456);
}

static void im2col_stores_stay_inside(void **state)
{
    (void)state;
    FINE(im2col, d.is_store = true; d.lower[0] = d.lower[1] = 0; d.upper[0] = d.upper[1] = 0);
    FINE(im2col, d.is_store = true; d.lower[0] = d.lower[1] = 1; d.upper[0] = d.upper[1] = -1);
    BREAKS(E0453, im2col, d.is_store = true; d.lower[0] = -1; d.lower[1] = 0; d.upper[0] = d.upper[1] = 0);
    BREAKS(E0453, im2col, d.is_store = true; d.lower[0] = d.lower[1] = 0; d.upper[0] = 0; d.upper[1] = 1);
}

static void all_broken_rules_are_reported(void **state)
{
    (void)state;
    MapDesc d = tiled();
    d.address = 8;
    d.pitch[0] = 2050;
    d.box[0] = 300;
    d.fill = 2;
    Breaches b = check(&d);
    assert_string_equal(b.all, " E0410 E0415 E0432 E0434");
    assert_int_equal(map_check(&d, NULL, NULL), 4);
}

static void a_breach_says_where_and_how_much(void **state)
{
    (void)state;
    MapDesc d = tiled();
    d.pitch[0] = 2056;
    Breaches b = check(&d);
    assert_int_equal(b.first.field, MAPF_PITCH);
    assert_int_equal(b.first.index, 0);
    assert_string_equal(b.first.text, "pitch 2056 bytes of dimension 0 is not a multiple of 16");
    d = tiled();
    d.box[1] = 60;
    b = check(&d);
    assert_int_equal(b.first.field, MAPF_BOX);
    assert_int_equal(b.first.index, 1);
    assert_string_equal(b.first.text, "inner box of 60 bf16 is 120 bytes, not a multiple of 16");
}

static void unknown_fields_break_nothing(void **state)
{
    (void)state;
    MapDesc bases[] = {tiled(), tiled5(), im2col(), im2col5(), wide(), gather(), b4a16(), interleaved32()};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        for (int store = 0; store < 2; store++) {
            MapDesc d = bases[i];
            if (store && d.type == MAP_U4_ALIGN16) continue;
            d.is_store = store;
            d.address = d.channels = d.pixels = MAP_UNKNOWN;
            for (int k = 0; k < MAP_RANK; k++) d.dim[k] = d.pitch[k] = d.box[k] = d.elem_stride[k] = MAP_UNKNOWN;
            for (int k = 0; k < 3; k++) d.lower[k] = d.upper[k] = MAP_UNKNOWN;
            fine(&d);
        }
    }
}

/* Any numbers at all: no overflow (the sanitizer watches) and no loop. */
static void no_value_is_too_odd(void **state)
{
    (void)state;
    const int64_t odd[] = {0,
                           1,
                           -1,
                           16,
                           128,
                           256,
                           257,
                           INT32_MAX,
                           INT64_C(1) << 31,
                           INT64_C(1) << 32,
                           INT64_C(1) << 40,
                           INT64_MAX,
                           INT64_MAX - 15,
                           INT64_MIN + 1,
                           MAP_UNKNOWN};
    uint64_t seed = 88172645463325252u;
    for (int turn = 0; turn < 200000; turn++) {
        int64_t v[32];
        for (int i = 0; i < 32; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            v[i] = odd[seed % (sizeof odd / sizeof *odd)];
        }
        MapDesc d = {.mode = (MapMode)(seed >> 8 & 7) % 6,
                     .type = (int)(seed >> 12 & 31) - 4,
                     .rank = (int)(seed >> 20 & 7),
                     .address = v[0],
                     .channels = v[1],
                     .pixels = v[2],
                     .interleave = (int)(seed >> 24 & 3),
                     .swizzle = (int)(seed >> 28 & 7),
                     .l2 = (int)(seed >> 32 & 7),
                     .fill = (int)(seed >> 36 & 3),
                     .sm = (seed >> 40 & 1) ? 90 : 100,
                     .is_store = seed >> 41 & 1,
                     .is_load = seed >> 42 & 1};
        memcpy(d.dim, v + 3, sizeof d.dim);
        memcpy(d.pitch, v + 8, sizeof d.pitch);
        memcpy(d.box, v + 13, sizeof d.box);
        memcpy(d.elem_stride, v + 18, sizeof d.elem_stride);
        memcpy(d.lower, v + 23, sizeof d.lower);
        memcpy(d.upper, v + 26, sizeof d.upper);
        assert_true(map_check(&d, NULL, NULL) >= 0);
        map_tx_bytes(&d);
        map_smem_bytes(&d);
    }
}

#define BYTES(base, tx, smem, ...)                                                                                     \
    do {                                                                                                               \
        MapDesc d = base();                                                                                            \
        __VA_ARGS__;                                                                                                   \
        assert_int_equal(map_tx_bytes(&d), tx);                                                                        \
        assert_int_equal(map_smem_bytes(&d), smem);                                                                    \
    } while (0)

static void bytes_of_a_box(void **state)
{
    (void)state;
    BYTES(tiled, 8192, 8192, );
    BYTES(tiled, 64 * 32, 64 * 128, d.swizzle = MAP_SWIZZLE_128B; d.box[1] = 16); /* pitch is the span: measured */
    BYTES(tiled, 22 * 128, 22 * 128, d.elem_stride[0] = 3);                       /* ceil(64 / 3) rows */
    BYTES(tiled5, 16 * 32, 16 * 32, );
    BYTES(gather, 4 * 128, 4 * 128, );
    BYTES(gather, 4 * 128, 4 * 128, d.box[0] = 1);
    BYTES(im2col, 128 * 128, 128 * 128, d.elem_stride[1] = 2); /* strides don't change the pixel count */
    BYTES(wide, 128 * 128, 128 * 128, d.mode = MAP_IM2COL_W128; d.pixels = 7);
    BYTES(b4a8, 64 * 32, 64 * 32, );
    BYTES(b4a16, 64 * 64, 64 * 128, ); /* 8 of 16 bytes are gap */
    BYTES(b6a16, 64 * 96, 64 * 128, ); /* 4 of 16 */
    MapDesc d = wide(); /* PTX ISA, im2col::w modes: wHalo pixels more, or as many behind each 32 of 128 */
    assert_int_equal(map_copy_bytes(&d, 0), map_tx_bytes(&d));
    d.mode = MAP_IM2COL_W;
    d.pixels = 96;
    assert_int_equal(map_copy_bytes(&d, 3), 99 * 128);
    d.mode = MAP_IM2COL_W128;
    assert_int_equal(map_copy_bytes(&d, 3), (128 + 12) * 128);
    d.mode = MAP_IM2COL;
    assert_int_equal(map_copy_bytes(&d, 3), 96 * 128);
    d.channels = MAP_UNKNOWN;
    assert_true(map_copy_bytes(&d, 0) == MAP_UNKNOWN);
    d = tiled();
    d.box[0] = MAP_UNKNOWN;
    assert_true(map_tx_bytes(&d) == MAP_UNKNOWN);
    assert_true(map_smem_bytes(&d) == MAP_UNKNOWN);
}

static void spans_and_alignments_of_swizzles(void **state)
{
    (void)state;
    const int span[] = {0, 32, 64, 128, 128, 128, 128}, align[] = {128, 256, 512, 1024, 1024, 1024, 1024};
    for (int s = 0; s < 7; s++) {
        assert_int_equal(swizzle_span(s), span[s]);
        assert_int_equal(swizzle_align(s), align[s]);
    }
    assert_int_equal(swizzle_span(-1), 0);
    assert_int_equal(swizzle_align(99), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_descriptors_are_fine),
        cmocka_unit_test(T02_data_types),
        cmocka_unit_test(T03_compute_capability),
        cmocka_unit_test(T04_rank),
        cmocka_unit_test(T05_address),
        cmocka_unit_test(T06_extents),
        cmocka_unit_test(T07_pitches),
        cmocka_unit_test(T07_written_tensors_do_not_overlap_themselves),
        cmocka_unit_test(T08_element_strides),
        cmocka_unit_test(T09_interleave),
        cmocka_unit_test(T10_inner_box_and_swizzle_span),
        cmocka_unit_test(T11_swizzles_of_packed_types),
        cmocka_unit_test(T12_T13_hint_and_fill),
        cmocka_unit_test(T14_box),
        cmocka_unit_test(T15_corners),
        cmocka_unit_test(T16_channels_and_pixels),
        cmocka_unit_test(D03_stored_rows_are_whole_units),
        cmocka_unit_test(the_box_fits_shared_memory),
        cmocka_unit_test(im2col_stores_stay_inside),
        cmocka_unit_test(all_broken_rules_are_reported),
        cmocka_unit_test(a_breach_says_where_and_how_much),
        cmocka_unit_test(unknown_fields_break_nothing),
        cmocka_unit_test(no_value_is_too_odd),
        cmocka_unit_test(bytes_of_a_box),
        cmocka_unit_test(spans_and_alignments_of_swizzles),
    };
    return cmocka_run_group_tests_name("lang/map_rules", tests, NULL, NULL);
}
