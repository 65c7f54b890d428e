/* The examples of the PTX ISA's figures as constants, and what copies of other modes than tiles are refused for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sim_modes_case.h"
#include "tests/unit/sim_modes_ref.h"

/* ---- the examples of the PTX ISA ---- */

/* Its sizes stand outermost first there: 64 images of 9 x 14 pixels of 64 channels; of the coordinates (7, 7, 4, 0) the 7 in
 * the middle must be W and the 4 H, else the base of two of the three examples is outside its pixel box. */
static Case figure(int64_t h, int64_t stride, int64_t channels, int64_t pixels, int64_t low, int64_t high)
{
    Case c = {.load = true, .shared = 1024, .ncoords = 4, .ninfo = 2};
    c.d = (MapDesc){.mode = MAP_IM2COL,
                    .rank = 4,
                    .type = MAP_F16,
                    .address = 0x100000000000,
                    .dim = {64, h, 14, 64},
                    .pitch = {128 * 14 * h, 128 * 14, 128},
                    .elem_stride = {1, stride, stride, 1},
                    .lower = {low, low},
                    .upper = {high, high},
                    .channels = channels,
                    .pixels = pixels};
    return c;
}

/* Pixel `row` of the copy is (n, h, w); outside: h or w < 0 or beyond. */
static void expect_pixel(const BoxWalk *w, uint32_t row, int64_t n, int64_t h, int64_t x)
{
    const MapDesc *d = &w->map;
    BoxRow r;
    box_row(w, row, &r);
    bool inside = n < d->dim[0] && h >= 0 && h < d->dim[1] && x >= 0 && x < d->dim[2];
    assert_int_equal(r.to - r.from, inside ? w->row_bytes : 0);
    if (inside) assert_int_equal(r.global, d->address + n * d->pitch[0] + h * d->pitch[1] + x * d->pitch[2]);
}

static void figure_13_lower_and_upper_minus_1(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = figure(9, 1, 8, 64, -1, -1);
    memcpy(c.start, (int64_t[]){0, 7, 4, 7}, 4 * sizeof *c.start);
    assert_true(begin(&w, &c, &rule));
    assert_int_equal(w.box_bytes, 64 * 8 * 2);
    for (uint32_t i = 0; i < 6; i++) expect_pixel(&w, i, 7, 4, 7 + i); /* to W = 12, the upper corner */
    for (uint32_t i = 0; i < 42; i++) expect_pixel(&w, 6 + i, 7, 5 + i / 14, i % 14 - 1LL);
    for (uint32_t i = 0; i < 16; i++) expect_pixel(&w, 48 + i, 8, i / 14 - 1LL, i % 14 - 1LL); /* H = 7 was the last */
}

static void figure_14_offsets_2_2(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = figure(9, 1, 8, 64, 0, -2);
    memcpy(c.start, (int64_t[]){0, 7, 4, 7}, 4 * sizeof *c.start);
    memcpy(c.offset, (int64_t[]){2, 2}, 2 * sizeof *c.offset);
    assert_true(begin(&w, &c, &rule));
    for (uint32_t i = 0; i < 5; i++) expect_pixel(&w, i, 7, 6, 9 + i); /* 7 + 2 .. 11 + 2 */
    for (uint32_t i = 0; i < 24; i++) expect_pixel(&w, 5 + i, 7, 7 + i / 12, 2 + i % 12);
    for (uint32_t i = 0; i < 35; i++) expect_pixel(&w, 29 + i, 8, 2 + i / 12, 2 + i % 12);
    c.start[2] = 7; /* the box ends at H = 9 - 1 - 2 */
    assert_false(begin(&w, &c, &rule));
    assert_int_equal(rule, E1318);
}

static void figure_15_traversal_stride_2(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = figure(8, 2, 16, 32, -1, -1);
    memcpy(c.start, (int64_t[]){0, 7, 5, 7}, 4 * sizeof *c.start);
    memcpy(c.offset, (int64_t[]){1, 1}, 2 * sizeof *c.offset);
    assert_true(begin(&w, &c, &rule));
    assert_int_equal(w.box_bytes, 32 * 16 * 2); /* the stride does not change the number of pixels */
    for (uint32_t i = 0; i < 3; i++) expect_pixel(&w, i, 7, 6, 8 + 2 * i);
    for (uint32_t i = 0; i < 28; i++) expect_pixel(&w, 3 + i, 8, 2 * (i / 7), 2 * (i % 7)); /* H = 5 + 2 is outside */
    expect_pixel(&w, 31, 9, 0, 0);
}

static Case wide_figure(int64_t h, int64_t width, int64_t stride, int64_t low, int64_t high, int64_t x)
{
    Case c = {.load = true, .shared = 1024, .ncoords = 4, .ninfo = 2, .start = {0, x, 2, 7}};
    c.d = (MapDesc){.mode = MAP_IM2COL_W,
                    .rank = 4,
                    .type = MAP_F16,
                    .swizzle = MAP_SWIZZLE_128B,
                    .address = 0x100000000000,
                    .dim = {128, h, width, 64},
                    .pitch = {128 * width * h, 128 * width, 128},
                    .elem_stride = {1, 1, stride, 1},
                    .lower = {low},
                    .upper = {high},
                    .channels = 64,
                    .pixels = 128};
    return c;
}

static void wide_copies_stay_in_their_line(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = wide_figure(9, 7, 1, 0, 0, 3); /* figures 18 and 19 without their halo: 4 pixels, then 7 of each image */
    assert_true(begin(&w, &c, &rule));
    for (uint32_t i = 0; i < 4; i++) expect_pixel(&w, i, 7, 2, 3 + i);
    for (uint32_t i = 0; i < 124; i++) expect_pixel(&w, 4 + i, 8 + i / 7, 2, i % 7);
    c.offset[0] = 2; /* with it: where the halo of a line goes that ends within the copy is in the figure only */
    assert_false(begin(&w, &c, &rule));
    assert_int_equal(rule, E1352);
    c.d.mode = MAP_IM2COL_W128;
    assert_false(begin(&w, &c, &rule));
    assert_int_equal(rule, E1352);
}

static void w_offsets_move_the_box(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = wide_figure(9, 67, 2, -1, 0, -1); /* figures 20 and 21 */
    assert_true(begin(&w, &c, &rule));
    for (uint32_t i = 0; i < 34; i++) expect_pixel(&w, i, 7, 2, 2 * i - 1LL); /* -1 .. 65 */
    expect_pixel(&w, 34, 8, 2, -1);
    c.offset[1] = 1;
    assert_true(begin(&w, &c, &rule));
    for (uint32_t i = 0; i < 34; i++) expect_pixel(&w, i, 7, 2, 2 * i); /* 0 .. 66 */
    expect_pixel(&w, 34, 8, 2, 0);
    c = wide_figure(7, 7, 3, -1, -1, -1); /* figures 22 to 24 */
    for (int64_t o = 0; o < 3; o++) {
        c.offset[1] = o;
        assert_true(begin(&w, &c, &rule));
        for (uint32_t i = 0; i < 3; i++) expect_pixel(&w, i, 7, 2, 3 * i - 1LL + o);
        expect_pixel(&w, 3, 8, 2, -1 + o);
    }
}

static void halos_stand_behind_their_pixels(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = wide_figure(9, 300, 1, 0, 0, 100);
    c.offset[0] = 2;
    assert_true(begin(&w, &c, &rule));
    assert_int_equal(w.box_bytes, 130 * 128);
    for (uint32_t i = 0; i < 130; i++) expect_pixel(&w, i, 7, 2, 100 + i);
    c.d.mode = MAP_IM2COL_W128;
    assert_true(begin(&w, &c, &rule));
    assert_int_equal(w.box_bytes, 136 * 128);
    for (uint32_t i = 0; i < 136; i++) expect_pixel(&w, i, 7, 2, 100 + i / 34 * 32 + i % 34);
}

static void figure_10_gather4(void **state)
{
    (void)state;
    BoxWalk w;
    int rule;
    Case c = {
        .load = true, .shared = 1024, .ncoords = 5, .start = {16, 2, 5, 0, 9}}; /* (1, 2), (1, 5), (1, 0), (1, 9) */
    c.d = (MapDesc){.mode = MAP_GATHER4,
                    .rank = 2,
                    .type = MAP_U8,
                    .address = 0x100000000000,
                    .dim = {9, 64},
                    .pitch = {64},
                    .box = {1, 32},
                    .elem_stride = {1, 1}};
    assert_true(begin(&w, &c, &rule));
    assert_int_equal(w.box_bytes, 128);
    for (uint32_t i = 0; i < 4; i++) {
        BoxRow r;
        box_row(&w, i, &r);
        assert_int_equal(r.shared, 32 * i);
        assert_int_equal(r.to, i == 3 ? 0 : 32); /* row 9 is behind the end */
        if (i < 3) assert_int_equal(r.global, c.d.address + 16 + 64 * c.start[1 + i]);
    }
    c.start[2] = -1;
    assert_false(begin(&w, &c, &rule));
    assert_int_equal(rule, E1352);
    c.load = false;
    c.d.mode = MAP_SCATTER4;
    assert_false(begin(&w, &c, &rule));
    assert_int_equal(rule, E1318);
}

/* ---- what is refused ---- */

static int refusal(const Case *c)
{
    BoxWalk w;
    int rule = 0;
    return begin(&w, c, &rule) ? 0 : rule;
}

static void operands_are_checked(void **state)
{
    (void)state;
    Case good = figure(9, 1, 8, 64, -1, -1), c = good;
    memcpy(good.start, (int64_t[]){0, 4, 7, 7}, 4 * sizeof *good.start);
    assert_int_equal(refusal(&good), 0);
    c = good;
    c.start[0] = 4; /* not a multiple of 16 bytes */
    assert_int_equal(refusal(&c), E1318);
    c = good;
    c.offset[1] = 256; /* T17: 255 in four dimensions */
    assert_int_equal(refusal(&c), E1318);
    c = good;
    c.shared += 64;
    assert_int_equal(refusal(&c), E1314);
    c = good;
    c.ninfo = 1;
    assert_int_equal(refusal(&c), E1318);
    c = good; /* a store must stay inside: lower >= 0 */
    c.load = false;
    c.ninfo = 0;
    assert_int_equal(refusal(&c), E1318);
    c.d.lower[0] = c.d.lower[1] = 0;
    assert_int_equal(refusal(&c), 0);
    c.start[3] = -1;
    assert_int_equal(refusal(&c), E1318);
    c = wide_figure(9, 300, 1, 0, 0, 0);
    c.offset[0] = 512;
    assert_int_equal(refusal(&c), E1318);
    c.offset[0] = 0;
    c.offset[1] = 32;
    assert_int_equal(refusal(&c), E1318);
    c.offset[1] = 0;
    c.start[1] = 300; /* right of the box */
    assert_int_equal(refusal(&c), E1318);
    c.start[1] = -5; /* left of it */
    assert_int_equal(refusal(&c), 0);
}

static void packed_operands_are_checked(void **state)
{
    (void)state;
    Case c = {.load = true, .shared = 1024, .ncoords = 1};
    c.d = (MapDesc){.rank = 1, .type = MAP_U6_ALIGN16, .address = 4096, .dim = {512}, .box = {128}, .elem_stride = {1}};
    assert_int_equal(refusal(&c), 0);
    c.start[0] = 64; /* PTX ISA: "must be a multiple of 128" */
    assert_int_equal(refusal(&c), E1318);
    c.start[0] = 0;
    c.load = false;
    assert_int_equal(refusal(&c), 0);
    c.d.type = MAP_U4_ALIGN16; /* a store of b4a16 */
    assert_int_equal(refusal(&c), E1318);
}

static void open_questions_are_refused(void **state)
{
    (void)state;
    Case c = {.load = true, .shared = 1024, .ncoords = 3, .ninfo = 1};
    c.d = (MapDesc){.mode = MAP_IM2COL,
                    .rank = 3,
                    .type = MAP_F16,
                    .address = 4096,
                    .dim = {4, 4, 8},
                    .pitch = {1024, 128},
                    .elem_stride = {1, 1, 1},
                    .interleave = MAP_INTERLEAVE_16B,
                    .channels = 8,
                    .pixels = 16};
    assert_int_equal(refusal(&c), 0);
    c.d.channels = 16; /* two slices of a pixel */
    assert_int_equal(refusal(&c), E1352);
    c = (Case){.load = true, .shared = 1024, .ncoords = 1};
    c.d = (MapDesc){.rank = 1, .type = MAP_U8, .address = 4096, .dim = {512}, .box = {128}, .elem_stride = {1}};
    c.d.swizzle = MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    assert_int_equal(refusal(&c), E1352);
}

static void packing_drops_two_bits_of_eight(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        uint8_t in[16], out[12], want[12];
        for (uint32_t k = 0; k < 16; k++) in[k] = (uint8_t)((16 * i + k) * 2654435761u >> 13);
        box_pack(out, in);
        ref_pack6(want, in);
        assert_memory_equal(out, want, sizeof out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_13_lower_and_upper_minus_1),
        cmocka_unit_test(figure_14_offsets_2_2),
        cmocka_unit_test(figure_15_traversal_stride_2),
        cmocka_unit_test(wide_copies_stay_in_their_line),
        cmocka_unit_test(w_offsets_move_the_box),
        cmocka_unit_test(halos_stand_behind_their_pixels),
        cmocka_unit_test(figure_10_gather4),
        cmocka_unit_test(operands_are_checked),
        cmocka_unit_test(packed_operands_are_checked),
        cmocka_unit_test(open_questions_are_refused),
        cmocka_unit_test(packing_drops_two_bits_of_eight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
