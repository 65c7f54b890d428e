/* Ten threads launch at once: one device, one module and one kernel for all, arguments of each thread's own; on the simulator, where
 * what was written is compared, and on the driver of fake_driver.h, with counters, maps of changing shapes and modules that come and go.
 * With ThreadSanitizer: unit/tsan.sh. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/runtime_world.h"
#include "tilecc.h"

enum { THREADS = 10, TURNS = 12 };

typedef struct Thread {
    int number;
    tile_device *device;
    tile_kernel *kernel;
    const char *ptx;
    size_t size;
    char wrong[4096]; /* cmocka's checks are for the main thread */
} Thread;

static void in_ten_threads(void *(*body)(void *), Thread with)
{
    static Thread t[THREADS];
    pthread_t id[THREADS];
    for (int i = 0; i < THREADS; i++) {
        t[i] = with;
        t[i].number = i;
        assert_int_equal(pthread_create(&id[i], NULL, body, &t[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(id[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (t[i].wrong[0]) fail_msg("thread %d: %s", i, t[i].wrong);
}

static tile_status bind_one(tile_args *a, const char *name, uint64_t at, tile_type type, int64_t rows, int64_t columns, tile_error *e)
{
    const int64_t shape[] = {rows, columns};
    return tile_bind(a, name, at, 0, type, 2, shape, NULL, e);
}

static tile_kernel *load(const Thread *t, tile_module **m, tile_error *e)
{
    return tile_module_load(t->device, t->ptx, t->size, m, e) == TILE_OK ? tile_kernel_at(*m, 0) : NULL;
}

/* ---- the simulator ---- */

static const char SOURCE[] = "kernel copy(x: global u32[M, N], y: global u32[M, N]) {\n"
                             "    pipeline i in ceil(M, 4) across grid {\n"
                             "        shared t: u32[4, 64];\n"
                             "        move x[i * 4, 0] -> t;\n"
                             "        move t -> y[i * 4, 0];\n"
                             "    }\n"
                             "}\n";

/* NULL, or what is wrong. */
static const char *copy_once(const Thread *t, tile_kernel *k, int turn, tile_error *e)
{
    uint32_t in[16 * 64], out[16 * 64];
    int64_t rows = 1 + (t->number + turn) % 16;
    size_t bytes = (size_t)rows * 64 * sizeof *in;
    for (int i = 0; i < 16 * 64; i++) in[i] = (uint32_t)(t->number << 24 | turn << 16 | i);
    memset(out, 0, sizeof out);
    uint64_t x = 0, y = 0;
    tile_args *a = NULL;
    tile_launch_facts facts;
    e->text[0] = 0;
    bool ok = tile_alloc(t->device, bytes, &x, e) == TILE_OK && tile_alloc(t->device, bytes, &y, e) == TILE_OK &&
              tile_write(t->device, x, in, bytes, e) == TILE_OK && tile_args_new(k, &a, e) == TILE_OK &&
              bind_one(a, "x", x, TILE_U32, rows, 64, e) == TILE_OK && bind_one(a, "y", y, TILE_U32, rows, 64, e) == TILE_OK &&
              tile_launch_info(a, &facts, e) == TILE_OK && tile_launch(a, NULL, e) == TILE_OK && tile_synchronize(t->device, NULL, e) == TILE_OK &&
              tile_read(t->device, out, y, bytes, e) == TILE_OK;
    tile_args_free(a);
    if (x) tile_release(t->device, x, NULL);
    if (y) tile_release(t->device, y, NULL);
    if (!ok) return e->text[0] ? e->text : "it failed and says nothing";
    return memcmp(in, out, bytes) == 0 ? NULL : "another thread's numbers";
}

static void *simulates(void *user)
{
    Thread *t = user;
    tile_error e;
    for (int turn = 0; turn < TURNS && !t->wrong[0]; turn++) {
        tile_module *own = NULL;
        tile_kernel *k = turn % 4 == 3 ? load(t, &own, &e) : t->kernel;
        const char *wrong = k ? copy_once(t, k, turn, &e) : e.text;
        if (wrong) snprintf(t->wrong, sizeof t->wrong, "%s", wrong);
        tile_module_free(own);
    }
    return NULL;
}

static void on_the_simulator(void **state)
{
    (void)state;
    const tilecc_options o = {.struct_size = sizeof o, .emit = TILECC_EMIT_PTX};
    tilecc_result *r = tilecc_compile(&o, "k.tile", SOURCE, sizeof SOURCE - 1);
    assert_non_null(r);
    if (r->status != TILECC_OK) fail_msg("%s", r->diagnostics);
    static const char *const DEVICES[] = {"sim:fast", "sim:check"};
    for (int i = 0; i < 2; i++) {
        Thread t = {.ptx = r->output, .size = r->output_size};
        tile_module *m = NULL;
        tile_error e;
        if (tile_device_open(DEVICES[i], &t.device, &e) != TILE_OK) fail_msg("%s", e.text);
        t.kernel = load(&t, &m, &e);
        if (!t.kernel) fail_msg("%s", e.text);
        in_ten_threads(simulates, t);
        tile_module_free(m);
        tile_device_close(t.device);
    }
    tilecc_free(r);
}

/* Each thread compiles, too: the compiler has no globals. */
static void *compiles(void *user)
{
    Thread *t = user;
    const tilecc_options o = {.struct_size = sizeof o, .emit = TILECC_EMIT_PTX, .cache = t->number % 2};
    for (int turn = 0; turn < 4; turn++) {
        tilecc_result *r = tilecc_compile(&o, "k.tile", SOURCE, sizeof SOURCE - 1);
        if (!r || r->status != TILECC_OK || r->output_size != t->size || memcmp(r->output, t->ptx, t->size) != 0)
            snprintf(t->wrong, sizeof t->wrong, "another PTX: %s", r ? r->diagnostics : "no memory");
        tilecc_free(r);
    }
    return NULL;
}

static void compilations(void **state)
{
    (void)state;
    char folder[] = "/tmp/threads_launch_test.XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("TILECC_CACHE", "on", 1);
    setenv("TILECC_CACHE_DIR", folder, 1);
    const tilecc_options o = {.struct_size = sizeof o, .emit = TILECC_EMIT_PTX};
    tilecc_result *r = tilecc_compile(&o, "k.tile", SOURCE, sizeof SOURCE - 1);
    assert_non_null(r);
    in_ten_threads(compiles, (Thread){.ptx = r->output, .size = r->output_size});
    tilecc_free(r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- a GPU ---- */

static void *launches(void *user)
{
    Thread *t = user;
    tile_error e;
    for (int turn = 0; turn < 20 * TURNS && !t->wrong[0]; turn++) {
        tile_module *own = NULL;
        tile_args *a = NULL;
        tile_launch_facts facts;
        tile_kernel *k = turn % 16 == 15 ? load(t, &own, &e) : t->kernel;
        CuStream stream = turn % 3 ? (CuStream)(uintptr_t)(0x100 * (t->number + 1)) : NULL; /* its own, and one for all */
        int64_t rows = 8 * (1 + turn % 7);
        bool ok = k && tile_args_new(k, &a, &e) == TILE_OK;
        for (int i = 0; ok && i < 3; i++)
            ok = bind_one(a, "src", 0x10000000 + 0x10000 * (uint64_t)t->number, TILE_BF16, rows, 64, &e) == TILE_OK &&
                 bind_one(a, "dst", 0x20000000 + 0x100 * (uint64_t)i, TILE_BF16, rows, 64, &e) == TILE_OK && tile_bind_scalar(a, "n", turn + 1, &e) == TILE_OK &&
                 tile_launch(a, stream, &e) == TILE_OK && tile_launch_info(a, &facts, &e) == TILE_OK && tile_synchronize(t->device, stream, &e) == TILE_OK;
        if (!ok) snprintf(t->wrong, sizeof t->wrong, "%s", e.text);
        tile_args_free(a);
        tile_module_free(own);
    }
    return NULL;
}

static void on_a_gpu(void **state)
{
    (void)state;
    const Variant variants[] = {{0}, {.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = 1}, {.deal = MF_DEAL_STATIC, .per_sm = 2, .hints = true}};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        fake_reset();
        World *w = open_world(&variants[i]);
        in_ten_threads(launches, (Thread){.device = w->device, .kernel = w->kernel, .ptx = w->ptx.s, .size = w->ptx.n});
        tile_args_free(w->args); /* not close_world(): what the fake counts, it counts without a lock */
        tile_module_free(w->module);
        tile_device_close(w->device);
        text_free(&w->ptx);
        arena_free(&w->arena);
        free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_simulator), cmocka_unit_test(compilations), cmocka_unit_test(on_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
