/* tile_check_trusts(): indices that lie apart, of several dimensions and types, against what stands in them here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tile.h"
#include "tilecc.h"

static const char PROGRAM[] =
    "kernel scatter<I = s32>(x: global f32[R, K, 16], to: global I[R, K] stride [P, 1], y: global f32[V, 16]) trust distinct(to) {"
    " pipeline (r, k) in (R, K) across grid { shared t: f32[16]; move x[r, k, :] -> t via bulk; move t -> y[to[r, k], :] via bulk; } }";

enum { ROWS = 3, COLUMNS = 2, PITCH = 5, PLACES = 9 };

typedef struct Case {
    int at[ROWS * COLUMNS];
    const char *wrong; /* NULL: nothing */
} Case;

static const Case CASES[] = {
    {{0, 1, 2, 3, 4, 5}, NULL},
    {{8, -1, 7, -1, 99, 99}, NULL}, /* those are no rows */
    {{0, 1, 2, 3, 4, 1}, "E1162: the kernel trusts distinct(to), but to[0, 1] and to[2, 1] are both 1"},
    {{8, 0, 0, 8, 5, 6}, "E1162: the kernel trusts distinct(to), but to[0, 1] and to[1, 0] are both 0"},
};

static void in_type(const char *name, tile_type type, size_t size)
{
    static const int64_t X[3] = {ROWS, COLUMNS, 16}, Y[2] = {PLACES, 16}, TO[2] = {ROWS, COLUMNS}, STRIDES[2] = {PITCH, 1};
    tilecc_define define = {"I", name};
    tilecc_options o = {.struct_size = sizeof o, .emit = TILECC_EMIT_PTX, .defines = &define, .ndefines = 1, .no_performance_warnings = 1};
    tilecc_result *r = tilecc_compile(&o, "t.tile", PROGRAM, sizeof PROGRAM - 1);
    tile_device *d = NULL;
    tile_module *m = NULL;
    tile_args *a = NULL;
    tile_error e;
    uint64_t memory = 0, x, y;
    assert_true(r && r->status == TILECC_OK);
    assert_int_equal(tile_device_open("sim:fast", &d, &e), TILE_OK);
    assert_int_equal(tile_module_load(d, r->output, r->output_size, &m, &e), TILE_OK);
    assert_int_equal(tile_args_new(tile_kernel_find(m, "scatter"), &a, &e), TILE_OK);
    assert_int_equal(tile_alloc(d, 4096, &memory, &e), TILE_OK);
    x = memory + 1024, y = memory + 2048;
    size_t bytes = ((ROWS - 1) * PITCH + COLUMNS) * size;
    assert_int_equal(tile_bind(a, "to", memory, bytes, type, 2, TO, STRIDES, &e), TILE_OK);
    assert_int_equal(tile_check_trusts(a, 1, &e), TILE_ERROR_ARGUMENT); /* x and y are missing */
    assert_int_equal(tile_bind(a, "x", x, 0, TILE_F32, 3, X, NULL, &e), TILE_OK);
    assert_int_equal(tile_bind(a, "y", y, 0, TILE_F32, 2, Y, NULL, &e), TILE_OK);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        unsigned char data[ROWS * PITCH * 8];
        memset(data, 0, sizeof data); /* between the rows all are equal */
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            int64_t v = CASES[c].at[i];
            for (size_t b = 0; b < size; b++) data[(size_t)(i / COLUMNS * PITCH + i % COLUMNS) * size + b] = (unsigned char)((uint64_t)v >> (8 * b));
        }
        assert_int_equal(tile_write(d, memory, data, bytes, &e), TILE_OK);
        tile_check_trusts(a, 0, &e);
        assert_string_equal(e.text, "");
        assert_int_equal(tile_check_trusts(a, 1, &e), CASES[c].wrong ? TILE_ERROR_CHECK : TILE_OK);
        assert_string_equal(e.text, CASES[c].wrong ? CASES[c].wrong : "");
    }
    tile_args_free(a);
    tile_release(d, memory, NULL);
    tile_module_free(m);
    tile_device_close(d);
    tilecc_free(r);
}

static void places_are_looked_at(void **state)
{
    (void)state;
    in_type("s32", TILE_S32, 4);
    in_type("s64", TILE_S64, 8);
    in_type("u32", TILE_U32, 4);
    in_type("s16", TILE_S16, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_looked_at)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
