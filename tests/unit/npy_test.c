/* .npy files: what is read, and hostile bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tilecc/run/npy.h"

/* A file of version 1 with this header text and `data` bytes of data; exactly as large as said, for the sanitizers. */
static unsigned char *make(int version, const char *header, size_t data, size_t *size)
{
    size_t n = strlen(header), head = version == 1 ? 10 : 12;
    *size = head + n + data;
    unsigned char *f = malloc(*size);
    assert_non_null(f);
    memset(f, 0, *size);
    memcpy(f, "\x93NUMPY", 6);
    f[6] = (unsigned char)version;
    f[8] = (unsigned char)(n & 255);
    f[9] = (unsigned char)(n >> 8);
    memcpy(f + head, header, n);
    return f;
}

static bool read_text(int version, const char *header, size_t data, NpyArray *a, char why[NPY_WHY])
{
    size_t size;
    unsigned char *f = make(version, header, data, &size);
    bool ok = npy_read(f, size, a, why);
    free(f);
    return ok;
}

static void good_files(void **state)
{
    (void)state;
    NpyArray a;
    char why[NPY_WHY];
    assert_true(read_text(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", 48, &a, why));
    assert_string_equal(a.descr, "<f4");
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.shape[0], 3);
    assert_int_equal(a.shape[1], 4);
    assert_int_equal(a.bytes, 48);
    assert_true(read_text(2, "{\"shape\":(5,),\"descr\":\"|u1\",\"fortran_order\":False}", 5, &a, why));
    assert_int_equal(a.rank, 1);
    assert_true(read_text(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (), }", 2, &a, why));
    assert_int_equal(a.rank, 0);
    assert_true(
        read_text(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (9223372036854775807, 0), }", 0, &a, why));
}

static void hostile_headers(void **state)
{
    (void)state;
    const struct {
        const char *header;
        size_t data;
        const char *why;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8, "is in Fortran order"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, "is big-endian"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, "is truncated: 7 of 8 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, "has bytes behind its data"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8, "larger than memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }", 8, "beyond 2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 8, "no tuple of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4, "more than 8 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", 8, "no tuple of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8, "no tuple of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", 8, "no tuple of numbers"},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", 8, "neither True nor False"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "occurs twice"},
        {"{'descr': '<f4', 'fortran_order': False}", 8, "without descr"},
        {"{'descr': '<f4', 'x': False}", 8, "unknown key"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8, "holds records"},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}", 32, "has the dtype '<U4', which is no number"},
        {"{'descr': '|S4', 'fortran_order': False, 'shape': (2,)}", 8, "has the dtype '|S4', which is no number"},
        {"{'descr': 'O', 'fortran_order': False, 'shape': (2,)}", 8, "which is no number"},
        {"{'descr': '<f99999', 'fortran_order': False, 'shape': (2,)}", 8, "which is no number"},
        {"{'descr': '<f4", 8, "whose descr is no dtype"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8, "behind the dictionary"},
        {"{'descr", 0, "no dictionary"},
        {"", 0, "no dictionary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NpyArray a;
        char why[NPY_WHY];
        assert_false(read_text(1, cases[i].header, cases[i].data, &a, why));
        if (!strstr(why, cases[i].why)) fail_msg("case %zu: %s", i, why);
    }
}

static void cut_files(void **state)
{
    (void)state;
    size_t size;
    NpyArray a;
    char why[NPY_WHY];
    for (int version = 1; version <= 2; version++) {
        unsigned char *f = make(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8, &size);
        for (size_t n = 0; n < size; n++) {
            unsigned char *part = malloc(n + 1);
            assert_non_null(part);
            memcpy(part, f, n);
            assert_false(npy_read(part, n, &a, why));
            assert_true(why[0] != 0);
            free(part);
        }
        f[6] = 3;
        assert_false(npy_read(f, size, &a, why));
        free(f);
    }
    assert_false(npy_read("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, &a, why));
    assert_string_equal(why, "is truncated in its header");
}

static void headers_round_trip(void **state)
{
    (void)state;
    const int64_t shape[] = {3, 1, INT64_MAX, 0, 5};
    for (int rank = 0; rank <= 5; rank++) {
        char header[NPY_HEADER_MAX];
        size_t n = npy_header("<u2", rank, shape, header);
        assert_int_equal(n % 64, 0);
        char file[NPY_HEADER_MAX + 64] = {0};
        memcpy(file, header, n);
        NpyArray a;
        char why[NPY_WHY];
        bool whole = npy_read(file, n + 2, &a, why);
        if (rank == 0) assert_true(whole); /* the others lack their data or have none */
        assert_int_equal(a.rank, rank);
        for (int i = 0; i < rank; i++) assert_int_equal(a.shape[i], shape[i]);
    }
}

static void dtypes(void **state)
{
    (void)state;
    assert_true(npy_dtype_fits("<u2", "<u2", true));
    assert_true(npy_dtype_fits("=u2", "<u2", false));
    assert_true(npy_dtype_fits("|V2", "<u2", true));
    assert_true(npy_dtype_fits("<V1", "|u1", true));
    assert_false(npy_dtype_fits("|V2", "<u2", false));
    assert_false(npy_dtype_fits("<i2", "<u2", true));
    assert_false(npy_dtype_fits("<u4", "<u2", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files),         cmocka_unit_test(hostile_headers), cmocka_unit_test(cut_files),
        cmocka_unit_test(headers_round_trip), cmocka_unit_test(dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
