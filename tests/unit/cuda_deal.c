/* Counters of tickets on a GPU (runtime/counters.h): launches that run at the same time share none, in whatever way they
 * come to run so. Without a GPU of sm_90 the tests are skipped. Sums tell: a ticket that is drawn twice or never is seen
 * in them. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/cuda_api.h"
#include "tests/unit/deal_kernels.h"

#define CUDA_OK(call) assert_int_equal(call, CU_OK)

/* What only these tests need of the driver. */
static struct {
    CuResult (*StreamBeginCapture)(CuStream s, int mode);
    CuResult (*StreamEndCapture)(CuStream s, void **graph);
    CuResult (*StreamWaitEvent)(CuStream s, CuEvent e, unsigned flags);
    CuResult (*GraphInstantiate)(void **exec, void *graph, unsigned long long flags);
    CuResult (*GraphLaunch)(void *exec, CuStream s);
    CuResult (*CtxSynchronize)(void);
} more;

static CudaApi api;
static tile_device *device; /* NULL: there is no GPU */

static void look_up(void *library, const char *symbol, void *to)
{
    void *p = dlsym(library, symbol);
    assert_non_null(p);
    memcpy(to, &p, sizeof p);
}

static int open_gpu(void **state)
{
    (void)state;
    void *library;
    tile_error err;
    CuContext ctx;
    CuDevice d;
    int major = 0;
    if (cuda_api_load(&api, &library, &err) != TILE_OK || api.Init(0) != CU_OK || api.DeviceGet(&d, 0) != CU_OK)
        return 0;
    if (api.DeviceGetAttribute(&major, CU_ATTR_CC_MAJOR, d) != CU_OK || major != 9) return 0;
    CUDA_OK(api.PrimaryCtxRetain(&ctx, d));
    CUDA_OK(api.CtxPushCurrent(ctx));
    look_up(library, "cuStreamBeginCapture_v2", &more.StreamBeginCapture);
    look_up(library, "cuStreamEndCapture", &more.StreamEndCapture);
    look_up(library, "cuStreamWaitEvent", &more.StreamWaitEvent);
    look_up(library, "cuGraphInstantiateWithFlags", &more.GraphInstantiate);
    look_up(library, "cuGraphLaunch", &more.GraphLaunch);
    look_up(library, "cuCtxSynchronize", &more.CtxSynchronize);
    if (tile_device_open("cuda", &device, &err) != TILE_OK) fail_msg("%s", err.text);
    return 0;
}

static int close_gpu(void **state)
{
    (void)state;
    tile_device_close(device);
    return 0;
}

/* ---- lanes: arguments with a target of their own ---- */

typedef struct Lane {
    tile_args *args;
    uint64_t src, dst;
    uint32_t launches;
} Lane;

static tile_module *load(const Deal *d)
{
    jmp_buf no_memory;
    Mem mem = {.fail = &no_memory};
    if (setjmp(no_memory)) fail_msg("out of memory");
    Arena arena;
    Text ptx;
    arena_init(&arena, &mem);
    text_init(&ptx, &mem);
    write_module(d, &arena, &ptx);
    tile_module *m;
    tile_error err;
    if (tile_module_load(device, ptx.s, ptx.n, &m, &err) != TILE_OK) fail_msg("%s", err.text);
    text_free(&ptx);
    arena_free(&arena);
    return m;
}

static Lane open_lane(tile_module *m)
{
    Lane l = {0};
    tile_error err;
    uint32_t words[MOST];
    const int64_t length = MOST;
    assert_int_equal(tile_args_new(tile_kernel_at(m, 0), &l.args, &err), TILE_OK);
    assert_int_equal(tile_alloc(device, sizeof words, &l.src, &err), TILE_OK);
    assert_int_equal(tile_alloc(device, sizeof words, &l.dst, &err), TILE_OK);
    for (uint32_t i = 0; i < MOST; i++) words[i] = deal_source(i);
    assert_int_equal(tile_write(device, l.src, words, sizeof words, &err), TILE_OK);
    for (uint32_t i = 0; i < MOST; i++) words[i] = OLD;
    assert_int_equal(tile_write(device, l.dst, words, sizeof words, &err), TILE_OK);
    assert_int_equal(tile_synchronize(device, NULL, &err), TILE_OK); /* other streams don't wait for the default one */
    assert_int_equal(tile_bind(l.args, "src", l.src, 0, TILE_U32, 1, &length, NULL, &err), TILE_OK);
    assert_int_equal(tile_bind(l.args, "dst", l.dst, 0, TILE_U32, 1, &length, NULL, &err), TILE_OK);
    return l;
}

static void launch_on(Lane *l, CuStream s)
{
    tile_error err;
    if (tile_launch(l->args, s, &err) != TILE_OK) fail_msg("%s", err.text);
    l->launches++;
}

/* After the GPU is done: every launch has added every element once. */
static void close_lane(Lane *l)
{
    tile_error err;
    uint32_t words[MOST];
    assert_int_equal(tile_read(device, words, l->dst, sizeof words, &err), TILE_OK);
    for (uint32_t i = 0; i < MOST; i++) assert_int_equal(words[i], (uint32_t)(OLD + l->launches * deal_source(i)));
    tile_args_free(l->args);
    tile_release(device, l->src, NULL);
    tile_release(device, l->dst, NULL);
}

static CuStream new_stream(void)
{
    CuStream s;
    CUDA_OK(api.StreamCreate(&s, CU_NON_BLOCKING_STREAM));
    return s;
}

enum { LANES = 8, ROUNDS = 200 };
static const Deal TICKETS = {DEAL_TICKETS, MF_DEAL_TICKET, 1, 1, 32, "cuda"};

/* ---- tests ---- */

static void kernels_run_as_simulated(void **state)
{
    (void)state;
    if (!device) skip();
    static const Deal cases[] = {{DEAL_STATIC, MF_DEAL_STATIC, 2, 1, 32, "cuda"},
                                 {DEAL_TICKETS, MF_DEAL_TICKET, 2, 1, 32, "cuda"},
                                 {DEAL_CLUSTERS, MF_DEAL_TICKET, 1, 2, 64, "cuda"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tile_module *m = load(&cases[i]);
        Lane l = open_lane(m);
        for (int k = 0; k < ROUNDS; k++) launch_on(&l, NULL);
        assert_int_equal(tile_synchronize(device, NULL, NULL), TILE_OK);
        close_lane(&l);
        tile_module_free(m);
    }
}

/* The first launches of this device fall into the capture: its memory for counters is made there. Two branches of the graph
 * run at the same time. */
static void graphs(void **state)
{
    (void)state;
    if (!device) skip();
    tile_module *m = load(&TICKETS);
    Lane a = open_lane(m), b = open_lane(m);
    CuStream s = new_stream(), t = new_stream();
    CuEvent fork, join;
    CUDA_OK(api.EventCreate(&fork, 2)); /* CU_EVENT_DISABLE_TIMING */
    CUDA_OK(api.EventCreate(&join, 2));
    CUDA_OK(more.StreamBeginCapture(s, 0)); /* CU_STREAM_CAPTURE_MODE_GLOBAL, the strictest */
    CUDA_OK(api.EventRecord(fork, s));
    CUDA_OK(more.StreamWaitEvent(t, fork, 0));
    for (int i = 0; i < 20; i++) {
        launch_on(&a, s);
        launch_on(&b, t);
    }
    CUDA_OK(api.EventRecord(join, t));
    CUDA_OK(more.StreamWaitEvent(s, join, 0));
    void *graph, *exec;
    CUDA_OK(more.StreamEndCapture(s, &graph));
    CUDA_OK(more.GraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < ROUNDS; i++) {
        CUDA_OK(more.GraphLaunch(exec, s));
        launch_on(&b, t); /* beside the graph, into the same sums */
    }
    CUDA_OK(api.StreamSynchronize(s));
    CUDA_OK(api.StreamSynchronize(t));
    a.launches = 20 * ROUNDS;
    b.launches = 20 * ROUNDS + ROUNDS;
    close_lane(&a);
    close_lane(&b);
    tile_module_free(m);
}

static void many_streams(void **state)
{
    (void)state;
    if (!device) skip();
    tile_module *m = load(&TICKETS);
    Lane lanes[LANES];
    CuStream streams[LANES] = {NULL, (CuStream)(uintptr_t)CU_STREAM_OF_DEVICE,
                               (CuStream)(uintptr_t)CU_STREAM_OF_THREAD};
    for (int i = 0; i < LANES; i++) {
        lanes[i] = open_lane(m);
        if (i > 2) streams[i] = new_stream();
    }
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < LANES; i++) launch_on(&lanes[i], streams[i]);
    for (int i = 0; i < LANES; i++) CUDA_OK(api.StreamSynchronize(streams[i]));
    for (int i = 0; i < LANES; i++) close_lane(&lanes[i]);
    tile_module_free(m);
}

/* A stream that is destroyed goes on until its work is done, and the next one may get its handle. */
static void streams_that_are_gone(void **state)
{
    (void)state;
    if (!device) skip();
    tile_module *m = load(&TICKETS);
    Lane lanes[LANES];
    for (int i = 0; i < LANES; i++) lanes[i] = open_lane(m);
    for (int k = 0; k < ROUNDS; k++) {
        CuStream s = new_stream();
        launch_on(&lanes[k % LANES], s);
        launch_on(&lanes[k % LANES], s);
        CUDA_OK(api.StreamDestroy(s));
    }
    CUDA_OK(more.CtxSynchronize());
    for (int i = 0; i < LANES; i++) close_lane(&lanes[i]);
    tile_module_free(m);
}

typedef struct Worker {
    Lane lane;
    CuContext ctx;
    pthread_t id;
} Worker;

static void *work(void *user)
{
    Worker *w = user;
    CuStream s = (CuStream)(uintptr_t)CU_STREAM_OF_THREAD;
    tile_error err;
    if (api.CtxPushCurrent(w->ctx) != CU_OK) return NULL;
    for (int i = 0; i < ROUNDS; i++) /* no asserts: they belong to the test's thread */
        if (tile_launch(w->lane.args, s, &err) == TILE_OK) w->lane.launches++;
    return api.StreamSynchronize(s) == CU_OK ? w : NULL;
}

static void streams_of_threads(void **state)
{
    (void)state;
    if (!device) skip();
    tile_module *m = load(&TICKETS);
    Worker w[LANES];
    for (int i = 0; i < LANES; i++) {
        w[i] = (Worker){.lane = open_lane(m)};
        CUDA_OK(api.CtxGetCurrent(&w[i].ctx));
    }
    for (int i = 0; i < LANES; i++) assert_int_equal(pthread_create(&w[i].id, NULL, work, &w[i]), 0);
    for (int i = 0; i < LANES; i++) {
        void *done = NULL;
        assert_int_equal(pthread_join(w[i].id, &done), 0);
        assert_non_null(done);
        assert_int_equal(w[i].lane.launches, ROUNDS);
        close_lane(&w[i].lane);
    }
    tile_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs), /* first: see there */
        cmocka_unit_test(kernels_run_as_simulated),
        cmocka_unit_test(many_streams),
        cmocka_unit_test(streams_that_are_gone),
        cmocka_unit_test(streams_of_threads),
    };
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
