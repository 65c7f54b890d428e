/* libtile when something fails: a program that uses all of its calls, with each allocation of the host in turn refused, and each call of the
 * driver. Whatever fails, what comes back says so in a sentence, nothing leaks, and the next one works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/runtime_world.h"
#include "tests/unit/scarce.h"
#include "tilecc.h"

/* Groups of rows by views made at run time, dealt by tickets, in two schedules. */
static const char SOURCE[] = "kernel groups<BM = 8 | 4>(x: global f32[T, D], offs: global s32[G1], y: global f32[G, S, D])\n"
                             "    where G1 == G + 1\n"
                             "    trust sorted(offs)\n"
                             "{\n"
                             "    pipeline g in G across grid by ticket {\n"
                             "        let first = offs[g];\n"
                             "        view xg = x[first +: offs[g + 1] - first, :];\n"
                             "        pipeline (i, j) in (ceil(S, BM), ceil(D, 32)) {\n"
                             "            shared t: f32[BM, 32];\n"
                             "            move xg[i * BM, j * 32] -> t;\n"
                             "            move t -> y[g, i * BM +: BM, j * 32 +: 32];\n"
                             "        }\n"
                             "    }\n"
                             "}\n";

/* ---- memory ---- */

typedef struct Caller { /* `user` of its callbacks */
    Scarce memory; /* first */
    long lines;
} Caller;

static void count_line(void *user, const char *text)
{
    ((Caller *)user)->lines++;
    assert_true(text[0] && !strchr(text, '\n'));
}

/* ---- a program ---- */

typedef struct Use {
    const char *device; /* NULL: the driver of fake_driver.h */
    const char *ptx;
    size_t size;
    char file[64]; /* with the same in it */
    Caller caller;
    tile_status status; /* of the first call that failed, and what it said */
    tile_error err;
} Use;

static bool did(Use *u, tile_status s, const tile_error *e)
{
    assert_int_equal(s, e->status);
    assert_true((s == TILE_OK) == (e->text[0] == 0));
    if (s != TILE_OK && u->status == TILE_OK) {
        u->status = s;
        u->err = *e;
    }
    return s == TILE_OK;
}

/* Memory of the driver, so that what a failure of the driver's keeps is no leak of this program. */
static CuAddress held[64];

static CuResult hold(CuAddress *p, size_t bytes)
{
    CuResult r = MemAlloc(p, bytes);
    for (size_t i = 0; r == CU_OK && i < sizeof held / sizeof *held; i++) {
        if (held[i]) continue;
        held[i] = *p;
        return r;
    }
    return r;
}

static CuResult let_go(CuAddress p)
{
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (held[i] == p) held[i] = 0;
    return MemFree(p);
}

static void let_all_go(void)
{
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (held[i]) let_go(held[i]);
}

static tile_device *open(Use *u)
{
    tile_device *d = NULL;
    tile_error e;
    const tile_options opt = {sizeof opt, scarce_realloc, count_line, &u->caller};
    tile_status s;
    if (u->device) {
        s = tile_device_open_with(u->device, &opt, &d, &e);
    } else {
        CudaApi api = fake_api();
        api.MemAlloc = hold;
        api.MemFree = let_go;
        s = cuda_device_open(&api, NULL, -1, &(Host){opt.realloc, opt.log, opt.user}, &d, &e);
    }
    assert_true(did(u, s, &e) == (d != NULL));
    return d;
}

enum { GROUPS = 2, ROWS = 12, COLUMNS = 64, MOST = 8 };

static void launches(Use *u, tile_device *d, tile_kernel *k, const uint64_t at[3])
{
    static const int64_t x[] = {ROWS, COLUMNS}, offs[] = {GROUPS + 1}, y[] = {GROUPS, MOST, COLUMNS};
    tile_args *a = NULL;
    tile_error e;
    tile_launch_facts facts;
    int64_t value;
    double ms;
    if (!did(u, tile_args_new(k, &a, &e), &e)) {
        assert_null(a);
        return;
    }
    bool ok = did(u, tile_bind(a, "x", at[0], 0, TILE_F32, 2, x, NULL, &e), &e);
    ok = did(u, tile_bind(a, "offs", at[1], 0, TILE_S32, 1, offs, NULL, &e), &e) && ok;
    ok = did(u, tile_bind(a, "y", at[2], 0, TILE_F32, 3, y, NULL, &e), &e) && ok;
    ok = ok && did(u, tile_symbol(a, "G", &value, &e), &e) && did(u, tile_launch_info(a, &facts, &e), &e);
    ok = ok && did(u, tile_launch(a, NULL, &e), &e) && did(u, tile_launch(a, NULL, &e), &e);
    ok = ok && did(u, tile_time(a, NULL, 2, &ms, &e), &e) && did(u, tile_synchronize(d, NULL, &e), &e);
    tile_args_free(a);
}

static void modules(Use *u, tile_device *d, const uint64_t at[3])
{
    tile_module *m[2] = {NULL, NULL};
    tile_error e;
    if (did(u, tile_module_load(d, u->ptx, u->size, &m[0], &e), &e)) launches(u, d, tile_kernel_at(m[0], 0), at);
    else assert_null(m[0]);
    if (!did(u, tile_module_load_file(d, u->file, &m[1], &e), &e)) assert_null(m[1]);
    tile_module_free(m[1]);
    tile_module_free(m[0]);
}

/* Also after a failure all goes on, as far as there is something to go on with. */
static void use(Use *u)
{
    static const size_t BYTES[3] = {ROWS * COLUMNS * 4, (GROUPS + 1) * 4, GROUPS * MOST * COLUMNS * 4};
    static const int32_t offs[] = {0, 5, ROWS};
    static float y[GROUPS][MOST][COLUMNS];
    uint64_t at[3] = {0, 0, 0};
    tile_error e;
    u->status = TILE_OK;
    u->err = (tile_error){.status = TILE_OK};
    tile_device *d = open(u);
    if (!d) return;
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        ok = did(u, tile_alloc(d, BYTES[i], &at[i], &e), &e) && ok;
        assert_true(ok || at[i] == 0 || e.status == TILE_OK);
    }
    if (ok && did(u, tile_write(d, at[1], offs, sizeof offs, &e), &e)) {
        for (int i = 0; i < ROWS; i++) {
            float row[COLUMNS];
            for (int k = 0; k < COLUMNS; k++) row[k] = (float)(i * COLUMNS + k);
            ok = did(u, tile_write(d, at[0] + (size_t)i * sizeof row, row, sizeof row, &e), &e) && ok;
        }
        if (ok) modules(u, d, at);
        ok = did(u, tile_read(d, y, at[2], sizeof y, &e), &e);
        if (ok && u->device && u->status == TILE_OK) {
            assert_int_equal((int)y[0][4][1], 4 * COLUMNS + 1);
            assert_int_equal((int)y[1][0][0], 5 * COLUMNS);
            assert_int_equal((int)y[1][7][0], 0);
        }
    }
    for (int i = 0; i < 3; i++)
        if (at[i]) did(u, tile_release(d, at[i], &e), &e);
    tile_device_close(d);
}

static void begin(Use *u, const char *device)
{
    static tilecc_result *r; /* lives as long as the test */
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX};
    if (!r) r = tilecc_compile(&opt, "groups.tile", SOURCE, strlen(SOURCE));
    if (r->status != TILECC_OK) fail_msg("%s%s", r->message, r->diagnostics);
    *u = (Use){.device = device, .ptx = r->output, .size = r->output_size};
    snprintf(u->file, sizeof u->file, "/tmp/scarce_test.%ld.ptx", (long)getpid());
    FILE *f = fopen(u->file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(u->ptx, 1, u->size, f), u->size);
    fclose(f);
    use(u);
    if (u->status != TILE_OK) fail_msg("nothing fails, and: %s", u->err.text);
    assert_int_equal(u->caller.memory.live, 0);
    assert_true(u->caller.lines >= (device ? 4 : 3)); /* opened, two modules, one launch that is new */
}

/* ---- what fails ---- */

static void every_allocation(void **state)
{
    static const char *const DEVICES[] = {"sim", "sim:fuzz,schedules=2", NULL};
    (void)state;
    for (int i = 0; i < 3; i++) {
        Use u;
        fake_reset();
        begin(&u, DEVICES[i]);
        long all = u.caller.memory.made, failed = 0;
        for (long n = 1; n <= all; n += n < 320 ? 1 : 7) {
            u.caller = (Caller){.memory = {.refused = n}};
            fake_reset();
            use(&u);
            assert_int_equal(u.caller.memory.live, 0);
            assert_int_equal(fake.allocs, fake.frees);
            if (u.status == TILE_OK) continue; /* what can be done without it */
            failed++;
            bool launched = u.status == TILE_ERROR_KERNEL && strstr(u.err.text, "E1321"); /* the simulator's, for the kernel */
            if (u.status != TILE_ERROR_MEMORY && !launched)
                fail_msg("allocation %ld: status %d, %s", n, (int)u.status, u.err.text);
        }
        print_message("%s: %ld allocations, %ld of which are needed\n", DEVICES[i] ? DEVICES[i] : "driver", all, failed);
        assert_true(failed > 10);
        remove(u.file);
    }
}

/* What a call that failed should have given back is lost, and so is what stands in a context that can't be entered. */
static bool keeps(const char *call)
{
    return strcmp(call, "CtxPushCurrent") == 0 || strcmp(call, "ThreadExchangeStreamCaptureMode") == 0;
}

static void every_driver_call(void **state)
{
    Use u;
    (void)state;
    fake_reset();
    begin(&u, NULL);
    long all = fake_calls, failed = 0;
    assert_true(all > 60);
    for (long n = 1; n <= all; n++) {
        fake_reset();
        fake.fail_at = n;
        u.caller = (Caller){0};
        use(&u);
        assert_non_null(fake.failed);
        assert_int_equal(u.caller.memory.live, 0);
        assert_int_equal(fake.pushes, fake.pops);
        assert_int_equal(fake.retains, fake.releases);
        assert_int_equal(fake.streams, fake.streams_freed);
        if (!keeps(fake.failed)) assert_int_equal(fake.allocs, fake.frees);
        let_all_go();
        if (u.status == TILE_OK) continue;
        failed++;
        char call[64];
        snprintf(call, sizeof call, "cu%s", fake.failed);
        if (!strstr(u.err.text, call) && !strstr(u.err.text, "cuCtx") && !strstr(u.err.text, "bytes for the tensor maps") &&
            !strstr(u.err.text, strncmp(call, "cuPrimary", 9) == 0 ? "cuDevicePrimaryCtxRetain" : "cuOccupancy"))
            fail_msg("%s fails, and the error says: %s", call, u.err.text);
    }
    print_message("%ld calls of the driver, %ld of which are needed\n", all, failed);
    assert_true(failed > 30);
    remove(u.file);
}

static void options(void **state)
{
    tile_device *d;
    tile_error e;
    (void)state;
    assert_int_equal(tile_device_open_with("sim", &(tile_options){.struct_size = 0}, &d, &e), TILE_ERROR_ARGUMENT);
    assert_null(d);
    assert_non_null(strstr(e.text, "struct_size"));
    struct { /* an older one, and what lies behind it */
        size_t struct_size;
        void *garbage[3];
    } old = {sizeof old.struct_size, {&old, &old, &old}};
    assert_int_equal(tile_device_open_with("sim", (const tile_options *)(const void *)&old, &d, &e), TILE_OK);
    tile_device_close(d);
    struct { /* a newer one */
        tile_options known;
        void *more;
    } newer = {{sizeof newer, NULL, NULL, NULL}, &newer};
    assert_int_equal(tile_device_open_with("sim", &newer.known, &d, &e), TILE_OK);
    tile_device_close(d);
    assert_int_equal(tile_device_open_with("sim", NULL, &d, NULL), TILE_OK);
    tile_device_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options),
        cmocka_unit_test(every_driver_call),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
