/* libtile against a driver that records what it is asked (fake_driver.h), with a kernel made by hand (runtime_world.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/runtime_world.h"

#define PLAIN (&(Variant){0})

/* ---- launching ---- */

static void launches_what_was_bound(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    assert_int_equal(fake.smem_set, 65536);
    assert_int_equal(launch(w, 100, 200), TILE_OK);
    assert_int_equal(w->err.text[0], 0);
    assert_int_equal(fake.launches, 1);
    assert_int_equal(fake.config.grid_x, 4);
    assert_int_equal(fake.config.grid_y, 4);
    assert_int_equal(fake.config.grid_z, 1);
    assert_int_equal(fake.config.block_x, 128);
    assert_int_equal(fake.config.smem, 65536);
    assert_int_equal(fake.config.nattrs, 0);
    assert_int_equal(*(int64_t *)fake.params[2], 42);
    assert_int_equal(*(uint64_t *)fake.params[0], 0x10000000); /* the fake map's first word */
    assert_int_equal(*(uint64_t *)fake.params[1], 0x20000000);

    const FakeEncode *in = fake_encode(1);
    assert_int_equal(in->type, MAP_BF16);
    assert_int_equal(in->rank, 2);
    assert_int_equal(in->address, 0x10000000);
    assert_int_equal(in->dims[0], 200); /* innermost first */
    assert_int_equal(in->dims[1], 100);
    assert_int_equal(in->pitches[0], 400);
    assert_int_equal(in->box[0], 64);
    assert_int_equal(in->box[1], 32);
    assert_int_equal(in->elem_strides[0], 1);
    assert_int_equal(in->swizzle, MAP_SWIZZLE_128B);
    close_world(w);
}

static void maps_are_encoded_once(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    assert_int_equal(launch(w, 64, 64), TILE_OK);
    assert_int_equal(fake.encodes, 2);
    assert_int_equal(launch(w, 64, 64), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.encodes, 2);
    for (int i = 0; i < 4; i++) { /* alternating addresses stay cached */
        assert_int_equal(bind(w, "src", i % 2 ? 0x10000000 : 0x30000000, 64, 64), TILE_OK);
        assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
        assert_int_equal(*(uint64_t *)fake.params[0], i % 2 ? 0x10000000 : 0x30000000);
    }
    assert_int_equal(fake.encodes, 3);
    assert_int_equal(launch(w, 64, 72), TILE_OK);
    assert_int_equal(fake.encodes, 5);
    assert_int_equal(fake.launches, 8);
    double ms = 0;
    assert_int_equal(tile_time(w->args, NULL, 10, &ms, &w->err), TILE_OK);
    assert_int_equal(fake.launches, 18);
    assert_true(ms > 1.9 && ms < 2.1);
    close_world(w);
}

static void the_same_elsewhere(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    int64_t at[3] = {0x30000000, 0x20000000, 41};
    assert_int_equal(tile_launch_at(w->args, at, 3, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_says(w, "E1115: argument `src` of kernel `copy` is missing");
    assert_int_equal(launch(w, 64, 64), TILE_OK);
    assert_int_equal(tile_launch_at(w->args, at, 3, NULL, &w->err), TILE_OK);
    assert_int_equal(*(uint64_t *)fake.params[0], 0x30000000);
    assert_int_equal(fake.encodes, 3); /* the other map is that of before */
    assert_int_equal(tile_launch_at(w->args, at, 3, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.encodes, 3);
    assert_int_equal(fake.launches, 3);
    const struct {
        int64_t src, dst, n;
        tile_status want;
        const char *says;
    } wrong[] = {
        {0, 0x20000000, 41, TILE_ERROR_ARGUMENT, "E1106: `src` has address 0"},
        {0x30000000, -1, 41, TILE_ERROR_ARGUMENT, "E1106: `dst` runs past the end of memory"},
        {0x30000008, 0x20000000, 41, TILE_ERROR_CHECK, "E0410: map `in` of `src`"},
        {0x30000000, 0x30000100, 41, TILE_ERROR_CHECK, "E1107"},
        {0x30000000, 0x20000000, INT64_C(1) << 31, TILE_ERROR_ARGUMENT, "E1109: `n` is 2147483648, which does not fit s32"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const int64_t bad[3] = {wrong[i].src, wrong[i].dst, wrong[i].n};
        assert_int_equal(tile_launch_at(w->args, bad, 3, NULL, &w->err), wrong[i].want);
        assert_says(w, wrong[i].says);
    }
    assert_int_equal(tile_launch_at(w->args, at, 2, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_says(w, "kernel `copy` has 3 parameters, not 2");
    assert_int_equal(fake.launches, 3);
    at[2] = 7;
    assert_int_equal(tile_launch_at(w->args, at, 3, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.launches, 4);
    close_world(w);
}

/* At one address a map of each of the sizes that alternate. */
static void maps_of_sizes_that_alternate(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    for (int round = 0; round < 3; round++) {
        for (uint64_t n = 64; n <= 72; n += 8) {
            assert_int_equal(launch(w, 64, (int64_t)n), TILE_OK);
            for (int i = 0; i < 4; i++) {
                uint64_t address = i % 2 ? 0x10000000 : 0x30000000;
                const int64_t at[3] = {(int64_t)address, 0x20000000, 7};
                assert_int_equal(tile_launch_at(w->args, at, 3, NULL, &w->err), TILE_OK);
                const uint64_t *map = fake.params[0];
                assert_int_equal(map[0], address);
                assert_int_equal(map[1], n);
            }
        }
    }
    assert_int_equal(fake.encodes, 2 * 3); /* of `src` at two places, of `dst` */
    close_world(w);
}

static void clusters(void **state)
{
    (void)state;
    World *w = open_world(&(Variant){.cluster = 2});
    assert_int_equal(launch(w, 64, 256), TILE_OK);
    assert_int_equal(fake.config.nattrs, 1);
    assert_int_equal(fake.attr.id, CU_LAUNCH_CLUSTER_DIMENSION);
    assert_int_equal(fake.attr.value.cluster.x, 2);
    assert_int_equal(fake.attr.value.cluster.y, 1);
    assert_int_equal(launch(w, 64, 192), TILE_ERROR_CHECK);
    assert_says(w, "E0905: grid.x is 3, not a multiple of the cluster's 2 (N = 192)");
    assert_int_equal(fake.launches, 1);
    close_world(w);
}

static void driver_errors_are_named(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    fake.encode_result = CU_INVALID_VALUE;
    assert_int_equal(launch(w, 64, 64), TILE_ERROR_DRIVER);
    assert_says(
        w, "E1110: map `in` of `src`: cuTensorMapEncodeTiled failed: CUDA_ERROR_INVALID_VALUE (1): invalid argument");
    fake.encode_result = CU_OK;
    fake.launch_result = 700;
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_DRIVER);
    assert_says(w, "cuLaunchKernelEx failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    assert_says(w, "must be restarted");
    assert_int_equal(tile_launch(w->args, NULL, NULL), TILE_ERROR_DRIVER);
    close_world(w);
}

/* ---- binding ---- */

static void binding_names_what_is_wrong(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    int64_t shape[] = {64, 64, 1}, transposed[] = {1, 64};
    assert_int_equal(bind(w, "scr", 0x1000, 64, 64), TILE_ERROR_ARGUMENT);
    assert_says(w, "kernel `copy` has no parameter `scr`; did you mean `src`? (it has: src, dst, n)");
    assert_int_equal(tile_bind(w->args, "src", 0x1000, 0, TILE_F16, 2, shape, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1102: `src` has type f16, the kernel's is bf16");
    assert_int_equal(tile_bind(w->args, "src", 0x1000, 0, TILE_BF16, 3, shape, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1103: `src` has rank 3, the kernel's is 2: [M, N]");
    assert_int_equal(tile_bind(w->args, "src", 0x1000, 0, TILE_BF16, 2, shape, transposed, &w->err),
                     TILE_ERROR_ARGUMENT);
    assert_says(w, "E1105: `src` has no `stride` clause");
    assert_says(w, "\nfix: pass a contiguous copy");
    assert_int_equal(bind(w, "src", 0x1000, -1, 64), TILE_ERROR_ARGUMENT);
    assert_int_equal(bind(w, "src", 0x1000, INT64_C(1) << 39, INT64_C(1) << 39), TILE_ERROR_ARGUMENT);
    assert_says(w, "larger than 2^63 bytes");
    assert_int_equal(bind(w, "src", 0x1000, 64, (INT64_C(1) << 40) + 1), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1104: `src`: extent 1 (of 0 .. 1, outermost first) is 1099511627777, the limit "
                                     "is 2^40");
    assert_int_equal(tile_bind(w->args, "src", 0x1000, 8191, TILE_BF16, 2, shape, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1104: `src` spans 8192 bytes, but its memory has 8191");
    assert_int_equal(bind(w, "n", 0x1000, 64, 64), TILE_ERROR_ARGUMENT);
    assert_int_equal(bind(w, "src", 0, 64, 64), TILE_ERROR_ARGUMENT);
    assert_int_equal(tile_bind_scalar(w->args, "src", 1, &w->err), TILE_ERROR_ARGUMENT);
    assert_int_equal(tile_bind_scalar(w->args, "n", INT64_C(1) << 31, &w->err), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1109: `n` is 2147483648, which does not fit s32");
    assert_int_equal(tile_bind_scalar(w->args, "n", -(INT64_C(1) << 31), &w->err), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1115: argument `src` of kernel `copy` is missing\n"
                                     "E1115: argument `dst` of kernel `copy` is missing");
    close_world(w);
}

static void symbols_agree(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    int64_t m = 0;
    assert_int_equal(tile_symbol(w->args, "M", &m, &w->err), TILE_ERROR_ARGUMENT);
    assert_int_equal(bind(w, "src", 0x10000000, 64, 64), TILE_OK);
    assert_int_equal(tile_symbol(w->args, "M", &m, &w->err), TILE_OK);
    assert_int_equal(m, 64);
    assert_int_equal(tile_symbol(w->args, "K", &m, &w->err), TILE_ERROR_ARGUMENT);
    assert_int_equal(bind(w, "dst", 0x20000000, 65, 72), TILE_OK);
    assert_int_equal(tile_bind_scalar(w->args, "n", 1, &w->err), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_ARGUMENT);
    assert_string_equal(w->err.text, "E1104: M is 64 from `src` but 65 from `dst`\n"
                                     "E1104: N is 64 from `src` but 72 from `dst`");
    assert_int_equal(bind(w, "dst", 0x20000000, 64, 64), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    close_world(w);
}

/* ---- checks ---- */

static void every_failed_check_is_listed(void **state)
{
    (void)state;
    World *w = open_world(&(Variant){.smem = 300000});
    assert_int_equal(launch(w, 3000000, 7), TILE_ERROR_CHECK);
    assert_says(w, "E1101: does not hold: N % 8 == 0 (N = 7); stores move whole 16 bytes [copy.tile:3:5]");
    assert_says(w, "E1101: does not hold: M <= 1000 (M = 3000000); where [copy.tile:1:9]");
    assert_says(w, "E0903: grid.y is 93750, the limit is 65535 (M = 3000000)");
    assert_says(w, "E0901: kernel `copy` needs 300000 bytes of shared memory per CTA, Fake 0 (sm_90) has 232448");
    assert_null(strstr(w->err.text, "map `")); /* what follows from a fact that does not hold */
    assert_int_equal(fake.encodes, 0);
    assert_int_equal(fake.launches, 0);
    close_world(w);
}

/* What the launch evaluates must exist in 64 bits: checks, values for the kernel, the grid, fields of maps. */
static void expressions_stay_in_64_bits(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        World *w = open_world(&(Variant){.overflow = what + 1});
        static const char *const texts[] = {
            "E1117: can't be evaluated: n * 2^62 fits: it leaves 64 bits (n = 2)",
            "E1117: `n * 4611686018427387904`, which the kernel uses, leaves 64 bits (n = 2)", "E1117: grid.z leaves 64 bits (n = 2)",
            "E1117: extent 0 of map `in` leaves 64 bits (n = 2)"};
        assert_int_equal(bind(w, "src", 0x10000000, 64, 64), TILE_OK);
        assert_int_equal(bind(w, "dst", 0x20000000, 64, 64), TILE_OK);
        assert_int_equal(tile_bind_scalar(w->args, "n", 2, &w->err), TILE_OK);
        assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
        assert_says(w, texts[what]);
        assert_int_equal(fake.launches, 0);
        close_world(w);
        fake_reset();
    }
}

static void misaligned_addresses(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    assert_int_equal(launch(w, 64, 64), TILE_OK);
    assert_int_equal(bind(w, "src", 0x10000008, 64, 64), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_says(w, "E1106: `src` is at 0x10000008, not a multiple of 16");
    assert_int_equal(fake.launches, 1);
    close_world(w);
}

static void overlap_is_refused(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    assert_int_equal(launch(w, 64, 64), TILE_OK);
    assert_int_equal(bind(w, "dst", 0x10000000 + 64 * 64 * 2 - 16, 64, 64), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_says(w, "E1107: `dst` is written and overlaps `src` in memory");
    assert_int_equal(bind(w, "dst", 0x10000000 + 64 * 64 * 2, 64, 64), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    close_world(w);
}

static void column_ranges_may_interleave(void **state)
{
    (void)state;
    const struct {
        int64_t src_pitch, dst_pitch;
        uint64_t distance; /* bytes from src to dst */
        tile_status want;
    } cases[] = {
        {256, 256, 128, TILE_OK},              /* the next 64 of 256 columns */
        {256, 256, 256 * 2 - 128, TILE_OK},    /* the last ones */
        {256, 256, 112, TILE_ERROR_CHECK},     /* 8 columns in common */
        {256, 256, 256 * 2, TILE_ERROR_CHECK}, /* one row on: the same columns */
        {256, 256, 256 * 2 + 128, TILE_OK},
        {256, 512, 128, TILE_OK},          /* rows of dst are rows of src's matrix, too */
        {256, 264, 128, TILE_ERROR_CHECK}, /* pitches that drift */
        {64, 256, 128, TILE_ERROR_CHECK},  /* src has no gaps */
    };
    World *w = open_world(&(Variant){.strided = true});
    assert_int_equal(tile_bind_scalar(w->args, "n", 1, &w->err), TILE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(bind_pitch(w, "src", 0x10000000, 32, 64, cases[i].src_pitch), TILE_OK);
        assert_int_equal(bind_pitch(w, "dst", 0x10000000 + cases[i].distance, 32, 64, cases[i].dst_pitch), TILE_OK);
        tile_status s = tile_launch(w->args, NULL, &w->err);
        if (s != cases[i].want) fail_msg("case %zu: %s", i, w->err.text);
    }
    assert_int_equal(bind_pitch(w, "src", 0x10000000, 32, 64, 0), TILE_OK); /* broadcast loads are fine */
    assert_int_equal(bind_pitch(w, "dst", 0x20000000, 32, 64, 64), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(bind_pitch(w, "dst", 0x20000000, 32, 64, 32), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_says(w, "E0418: `dst` is written, but elements share memory: stride 0 is 32, and the dimensions of smaller "
                   "strides reach over 64 elements");
    assert_int_equal(bind_pitch(w, "dst", 0x20000000, 32, 64, 0), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_says(w, "E0418: `dst` is written, but elements share memory: stride 0 is 0, and");
    assert_int_equal(bind_pitch(w, "src", 0x10000000, 1, 64, 64), TILE_OK);
    assert_int_equal(bind_pitch(w, "dst", 0x20000000, 1, 64, 64), TILE_OK);
    if (tile_launch(w->args, NULL, &w->err) != TILE_OK) fail_msg("%s", w->err.text);
    close_world(w);
}

/* ---- empty tensors ---- */

static void nothing_to_write_launches_nothing(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    assert_int_equal(launch(w, 0, 64), TILE_OK);
    assert_int_equal(launch(w, 64, 0), TILE_OK);
    assert_int_equal(bind(w, "src", 0, 0, 7), TILE_OK); /* an empty tensor needs no memory, and no check is made */
    assert_int_equal(bind(w, "dst", 0, 0, 7), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.launches + fake.encodes, 0);
    assert_int_equal(launch(w, 64, 64), TILE_OK);
    assert_int_equal(fake.launches, 1);
    close_world(w);
}

/* gather(src: bf16[M, N], dst: bf16[64, 64]): src may be empty while dst is not. */
static tile_status load_gather(World *w, bool nan)
{
    Manifest m = {.compiler = "tilecc test", .target = "sm_90", .source = "gather.tile"};
    MfKernel *k = vec_add(&w->arena, &m.kernels);
    build_kernel(&w->arena, k, &(Variant){.load_nan = nan});
    Lx n64 = lx_const(&w->arena, &k->lx, 64);
    for (int i = 0; i < 2; i++) k->tensors.v[1].extent[i] = k->maps.v[1].dim[i] = n64;
    k->maps.v[1].pitch[0] = lx_const(&w->arena, &k->lx, 128);
    k->tensors.v[1].stride[0] = n64;
    k->grid[0] = k->grid[1] = k->grid[2];
    MfWords words = manifest_encode(&m, &w->arena);
    text_printf(&w->ptx, ".version 8.6\n.target sm_90\n.global .align 8 .b64 %s[] = {", MANIFEST_SYMBOL);
    for (size_t i = 0; i < words.n; i++) text_printf(&w->ptx, "%s%llu", i ? ", " : "", (unsigned long long)words.w[i]);
    text_str(&w->ptx, "};\n");
    tile_status s = tile_module_load(w->device, w->ptx.s, w->ptx.n, &w->module, &w->err);
    return s == TILE_OK ? tile_args_new(tile_kernel_at(w->module, 0), &w->args, &w->err) : s;
}

static void empty_inputs_read_as_zeros(void **state)
{
    (void)state;
    World *w = world_new();
    assert_int_equal(load_gather(w, false), TILE_OK);
    assert_int_equal(bind(w, "src", 0, 0, 128), TILE_OK);
    assert_int_equal(bind(w, "dst", 0x20000000, 64, 64), TILE_OK);
    assert_int_equal(tile_bind_scalar(w->args, "n", 1, &w->err), TILE_OK);
    if (tile_launch(w->args, NULL, &w->err) != TILE_OK) fail_msg("%s", w->err.text);
    assert_int_equal(fake.launches, 1);
    assert_int_equal(fake.allocs, 1);
    const FakeEncode *in = fake_encode(1);
    const unsigned char *zeros = (const unsigned char *)(uintptr_t)in->address;
    assert_int_equal(in->dims[1], 1);
    for (uint64_t i = 0; i < in->dims[0] * 2; i++) assert_int_equal(zeros[i], 0);
    assert_int_equal(fake_encode(0)->dims[0], 64);
    close_world(w);

    fake_reset();
    w = world_new();
    assert_int_equal(load_gather(w, true), TILE_OK);
    assert_int_equal(bind(w, "src", 0, 0, 128), TILE_OK);
    assert_int_equal(bind(w, "dst", 0x20000000, 64, 64), TILE_OK);
    assert_int_equal(tile_bind_scalar(w->args, "n", 1, &w->err), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_says(w, "E1108: `src` is empty where map `in`, which fills with NaN, reads it");
    assert_int_equal(fake.launches, 0);
    close_world(w);
}

/* The memory that stands in for nothing is made while the report is being written. */
static void an_empty_tensor_hides_no_other_failure(void **state)
{
    (void)state;
    World *w = world_new();
    assert_int_equal(load_gather(w, false), TILE_OK);
    assert_int_equal(bind(w, "src", 0, 0, 128), TILE_OK);
    assert_int_equal(bind(w, "dst", 0x20000008, 64, 64), TILE_OK);
    assert_int_equal(tile_bind_scalar(w->args, "n", 1, &w->err), TILE_OK);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_says(w, "E0410");
    assert_int_equal(fake.allocs, 1);
    assert_int_equal(fake.launches, 0);
    close_world(w);
}

/* ---- modules ---- */

static void modules_are_judged_before_the_driver(void **state)
{
    (void)state;
    const struct {
        const char *target;
        int cc;
        tile_status want;
    } cases[] = {{"sm_90a", 90, TILE_OK},
                 {"sm_90a", 100, TILE_ERROR_MODULE},
                 {"sm_90", 90, TILE_OK},
                 {"sm_90", 120, TILE_OK},
                 {"sm_100a", 90, TILE_ERROR_MODULE},
                 {"sm_100f", 103, TILE_OK},
                 {"sm_100f", 120, TILE_ERROR_MODULE},
                 {"sm_103f", 100, TILE_ERROR_MODULE},
                 {"sm_7", 90, TILE_ERROR_MODULE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_reset();
        fake.cc = cases[i].cc;
        World *w = world_new();
        tile_status s = world_load(w, &(Variant){.target = cases[i].target});
        if (s != cases[i].want) fail_msg("%s on %d: %s", cases[i].target, cases[i].cc, w->err.text);
        assert_int_equal(fake.loads, s == TILE_OK);
        close_world(w);
    }
    fake_reset();
    fake.cc = 100;
    World *w = world_new();
    assert_int_equal(world_load(w, PLAIN), TILE_ERROR_MODULE);
    assert_string_equal(w->err.text, "E1111: the image: the module is for sm_90a, which runs on compute capability 9.0 "
                                     "only, but Fake 0 (sm_100) has 10.0");
    close_world(w);
}

static void damaged_modules(void **state)
{
    (void)state;
    World *w = world_new();
    tile_module *m = NULL;
    build_ptx(w, PLAIN);
    assert_int_equal(tile_module_load(w->device, "", 0, &m, &w->err), TILE_ERROR_MODULE);
    assert_int_equal(tile_module_load(w->device, ".version 8.6", 12, &m, &w->err), TILE_ERROR_MODULE);
    assert_says(w, "E1112: the image: ");
    assert_int_equal(tile_module_load(w->device, "\177ELF", 4, &m, &w->err), TILE_ERROR_MODULE);
    char *digit = strstr(w->ptx.s, "= {");
    assert_non_null(digit);
    for (size_t cut = 0; cut < w->ptx.n; cut += 7)
        assert_int_not_equal(tile_module_load(w->device, w->ptx.s, cut, &m, NULL), TILE_OK);
    digit[60] = digit[60] == '1' ? '2' : '1';
    assert_int_equal(tile_module_load(w->device, w->ptx.s, w->ptx.n, &m, &w->err), TILE_ERROR_MODULE);
    assert_null(m);
    assert_int_equal(tile_module_load_file(w->device, "/nonexistent/x.ptx", &m, &w->err), TILE_ERROR_ARGUMENT);
    assert_says(w, "E1201: /nonexistent/x.ptx can't be opened: ");
    assert_int_equal(fake.loads, 0);
    close_world(w);
}

static void the_jit_log_is_kept(void **state)
{
    (void)state;
    World *w = world_new();
    fake.load_result = 218;
    fake.jit_log = "ptxas error : line 7";
    assert_int_equal(world_load(w, PLAIN), TILE_ERROR_MODULE);
    assert_says(w, "cuModuleLoadDataEx failed");
    assert_says(w, "\nptxas error : line 7");
    close_world(w);

    fake_reset();
    w = world_new();
    assert_int_equal(world_load(w, &(Variant){.entry = "missing"}), TILE_ERROR_DRIVER);
    assert_says(w, "cuModuleGetFunction failed");
    assert_int_equal(fake.unloads, 1);
    close_world(w);
}

static void kernels_describe_themselves(void **state)
{
    (void)state;
    World *w = open_world(PLAIN);
    tile_param p;
    assert_int_equal(tile_kernel_count(w->module), 1);
    assert_null(tile_kernel_find(w->module, "cpoy"));
    assert_null(tile_kernel_at(w->module, 1));
    assert_int_equal(tile_param_count(w->kernel), 3);
    assert_int_equal(tile_param_info(w->kernel, 1, &p), TILE_OK);
    assert_string_equal(p.name, "dst");
    assert_string_equal(p.extents, "[M, N]");
    assert_true(p.written && !p.read && !p.is_scalar && p.rank == 2 && p.type == TILE_BF16);
    assert_int_equal(tile_param_info(w->kernel, 3, &p), TILE_ERROR_ARGUMENT);
    tile_kernel_facts f;
    tile_kernel_info(w->kernel, &f);
    assert_string_equal(f.target, "sm_90a");
    assert_int_equal(f.threads, 128);
    assert_string_equal(tile_device_name(w->device), "Fake 0 (sm_90)");
    assert_string_equal(tile_device_arch(w->device), "sm_90a");
    tile_module *m;
    assert_int_equal(tile_module_load_source(w->device, "x.tile", "", 0, NULL, 0, &m, &w->err), TILE_ERROR_UNSUPPORTED);
    close_world(w);
}

/* cuda.c, SMALL_TENSOR_FAULT: bit 85, only for Blackwell, small and not dense. */
static void small_maps_are_mended(void **state)
{
    (void)state;
    const struct {
        const char *target;
        int cc, version;
        int64_t m, pitch;
        bool mended;
    } cases[] = {{"sm_100a", 100, 13000, 32, 256, true},
                 {"sm_100a", 100, 13000, 32, 64, false},
                 {"sm_100a", 100, 13000, 512, 256, false},
                 {"sm_100a", 100, 13040, 32, 256, false},
                 {"sm_90a", 90, 13000, 32, 256, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_reset();
        fake.cc = cases[i].cc;
        fake.version = cases[i].version;
        fake.mark_maps = 1;
        World *w = open_world(&(Variant){.strided = true, .target = cases[i].target});
        assert_int_equal(tile_bind_scalar(w->args, "n", 1, &w->err), TILE_OK);
        assert_int_equal(bind_pitch(w, "src", 0x10000000, cases[i].m, 64, cases[i].pitch), TILE_OK);
        assert_int_equal(bind_pitch(w, "dst", 0x20000000, cases[i].m, 64, cases[i].pitch), TILE_OK);
        if (tile_launch(w->args, NULL, &w->err) != TILE_OK) fail_msg("%s", w->err.text);
        uint64_t word = ((const uint64_t *)fake.params[0])[1];
        assert_true((word == UINT64_MAX) == !cases[i].mended);
        if (cases[i].mended) assert_true(word == ~(UINT64_C(1) << 21));
        if (cases[i].mended) { /* the same tensor, of memory that is larger */
            const int64_t shape[] = {cases[i].m, 64}, strides[] = {cases[i].pitch, 1};
            assert_int_equal(tile_bind(w->args, "src", 0x10000000, 1 << 20, TILE_BF16, 2, shape, strides, &w->err), TILE_OK);
            if (tile_launch(w->args, NULL, &w->err) != TILE_OK) fail_msg("%s", w->err.text);
            assert_true(((const uint64_t *)fake.params[0])[1] == UINT64_MAX);
        }
        close_world(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(launches_what_was_bound, setup),
        cmocka_unit_test_setup(maps_are_encoded_once, setup),
        cmocka_unit_test_setup(the_same_elsewhere, setup),
        cmocka_unit_test_setup(maps_of_sizes_that_alternate, setup),
        cmocka_unit_test_setup(clusters, setup),
        cmocka_unit_test_setup(driver_errors_are_named, setup),
        cmocka_unit_test_setup(binding_names_what_is_wrong, setup),
        cmocka_unit_test_setup(symbols_agree, setup),
        cmocka_unit_test_setup(every_failed_check_is_listed, setup),
        cmocka_unit_test_setup(expressions_stay_in_64_bits, setup),
        cmocka_unit_test_setup(misaligned_addresses, setup),
        cmocka_unit_test_setup(overlap_is_refused, setup),
        cmocka_unit_test_setup(column_ranges_may_interleave, setup),
        cmocka_unit_test_setup(nothing_to_write_launches_nothing, setup),
        cmocka_unit_test_setup(empty_inputs_read_as_zeros, setup),
        cmocka_unit_test_setup(an_empty_tensor_hides_no_other_failure, setup),
        cmocka_unit_test_setup(modules_are_judged_before_the_driver, setup),
        cmocka_unit_test_setup(damaged_modules, setup),
        cmocka_unit_test_setup(the_jit_log_is_kept, setup),
        cmocka_unit_test_setup(kernels_describe_themselves, setup),
        cmocka_unit_test_setup(small_maps_are_mended, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
