/* Launches of kernels whose work is dealt: grids, counters of tickets, cache hints, on the driver of fake_driver.h. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/counters.h"
#include "tests/unit/runtime_world.h"

#define TICKETS (&(Variant){.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = 1})

static tile_status launch_n(World *w, int64_t n)
{
    bind_all(w, 64, 64, n);
    return tile_launch(w->args, NULL, &w->err);
}

static CuStream stream_of(uintptr_t handle)
{
    return (CuStream)handle;
}

/* The address that the last launch got for counter i: behind two maps and a value. */
static uint64_t counter_at(int i)
{
    return *(uint64_t *)fake.params[3 + i];
}

static uint64_t counter_on(World *w, uintptr_t stream)
{
    if (tile_launch(w->args, stream_of(stream), &w->err) != TILE_OK) fail_msg("%s", w->err.text);
    assert_int_equal(*(uint32_t *)(uintptr_t)counter_at(0), 0);
    return counter_at(0);
}

/* ---- grids ---- */

static void as_many_teams_as_run_at_once(void **state)
{
    (void)state;
    const struct {
        Variant v;
        int blocks, clusters;
        int64_t n;
        unsigned grid_x;
    } cases[] = {
        {{.deal = MF_DEAL_STATIC, .per_sm = 1}, 2, 0, 1000, 132},
        {{.deal = MF_DEAL_STATIC, .per_sm = 2}, 2, 0, 1000, 264},
        {{.deal = MF_DEAL_STATIC, .per_sm = 4}, 3, 0, 1000, 396}, /* the schedule wants more than fit */
        {{.deal = MF_DEAL_STATIC, .per_sm = 1}, 2, 0, 131, 131},  /* fewer iterations than SMs */
        {{.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = 1}, 2, 0, 1, 1},
        {{.deal = MF_DEAL_STATIC, .per_sm = 1, .cluster = 2}, 0, 60, 1000, 120}, /* not all SMs have a partner */
        {{.deal = MF_DEAL_STATIC, .per_sm = 1, .cluster = 4}, 0, 99, 1000, 132}, /* at most one CTA per SM */
        {{.deal = MF_DEAL_STATIC, .per_sm = 1, .cluster = 4}, 0, 99, 5, 20},
        {{.deal = MF_DEAL_STATIC, .per_sm = 1, .cluster = 16}, 0, 3, 1000, 48},
        {{.deal = MF_DEAL_STATIC, .per_sm = 1, .dependent = true}, 2, 0, 131, 131},
        {{.deal = MF_DEAL_STATIC, .per_sm = 1, .cluster = 4, .dependent = true}, 0, 99, 5, 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_reset();
        fake.blocks = cases[i].blocks;
        fake.clusters = cases[i].clusters;
        World *w = open_world(&cases[i].v);
        assert_int_equal(fake.occupancies, 1);
        if (launch_n(w, cases[i].n) != TILE_OK) fail_msg("case %zu: %s", i, w->err.text);
        if (fake.config.grid_x != cases[i].grid_x) fail_msg("case %zu: grid.x is %u", i, fake.config.grid_x);
        assert_int_equal(fake.config.grid_y, 1);
        assert_int_equal(fake.config.grid_z, 1);
        assert_int_equal(fake.config.nattrs, (cases[i].v.cluster > 1) + cases[i].v.dependent);
        assert_int_equal(fake.non_portable, cases[i].v.cluster > 8);
        assert_int_equal(launch_n(w, cases[i].n + 1), TILE_OK);
        assert_int_equal(fake.occupancies, 1); /* once for the kernel, not per launch */
        close_world(w);
    }
}

static void no_iterations_launch_nothing(void **state)
{
    (void)state;
    World *w = open_world(TICKETS);
    tile_launch_facts f;
    assert_int_equal(launch_n(w, 0), TILE_OK);
    assert_int_equal(launch_n(w, -5), TILE_OK);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
    assert_int_equal(f.grid[0] + f.grid[1] + f.grid[2], 0);
    assert_int_equal(fake.launches, 0);
    assert_int_equal(launch_n(w, 7), TILE_OK);
    assert_int_equal(fake.config.grid_x, 7);
    close_world(w);
}

static void tickets_are_32_bits(void **state)
{
    (void)state;
    const int64_t shift = INT64_C(1) << 20;
    World *w = open_world(&(Variant){.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = 1, .factor = shift});
    assert_int_equal(launch_n(w, 4095), TILE_OK);
    assert_int_equal(launch_n(w, 4096), TILE_ERROR_CHECK);
    assert_string_equal(w->err.text, "E1136: kernel `copy` deals 4294967296 iterations by tickets, the limit is "
                                     "4294967295 (n = 4096)");
    assert_int_equal(fake.launches, 1);
    close_world(w);

    fake_reset();
    w = open_world(&(Variant){.deal = MF_DEAL_STATIC, .per_sm = 1, .factor = shift});
    assert_int_equal(launch_n(w, 4096), TILE_OK);
    assert_int_equal(fake.config.grid_x, 132);
    close_world(w);

    fake_reset();
    w = open_world(&(Variant){.deal = MF_DEAL_STATIC, .per_sm = 1, .factor = INT64_C(1) << 62});
    assert_int_equal(launch_n(w, 4), TILE_ERROR_CHECK);
    assert_says(w, "E1117: the number of iterations of kernel `copy` leaves 64 bits (n = 4)");
    close_world(w);
}

static void nothing_fits(void **state)
{
    (void)state;
    fake.clusters = 0;
    World *w = open_world(&(Variant){.cluster = 16}); /* without dealing, too */
    assert_int_equal(fake.non_portable, 1);
    assert_int_equal(launch(w, 64, 64 * 16), TILE_ERROR_CHECK);
    assert_string_equal(w->err.text,
                        "E1137: kernel `copy`: not one cluster of 16 x 1 x 1 CTAs, each of 128 threads and "
                        "65536 bytes of shared memory, fits Fake 0 (sm_90)");
    close_world(w);

    fake_reset();
    fake.occupancy_result = CU_INVALID_CLUSTER_SIZE; /* the other way in which a driver says so */
    w = open_world(&(Variant){.cluster = 16});
    assert_int_equal(launch(w, 64, 64 * 16), TILE_ERROR_CHECK);
    assert_says(w, "E1137");
    close_world(w);

    fake_reset();
    fake.blocks = 0;
    w = open_world(TICKETS);
    assert_int_equal(launch_n(w, 5), TILE_ERROR_CHECK);
    assert_string_equal(w->err.text,
                        "E1137: kernel `copy`: not one CTA of 128 threads and 65536 bytes of shared memory "
                        "fits Fake 0 (sm_90)");
    close_world(w);

    fake_reset(); /* a limit that has a name of its own is not said twice */
    w = open_world(&(Variant){.deal = MF_DEAL_STATIC, .per_sm = 1, .smem = 300000});
    assert_int_equal(launch_n(w, 5), TILE_ERROR_CHECK);
    assert_says(w, "E0901");
    assert_null(strstr(w->err.text, "E1137"));
    close_world(w);

    fake_reset();
    fake.occupancy_result = CU_INVALID_VALUE;
    w = world_new();
    assert_int_equal(world_load(w, TICKETS), TILE_ERROR_DRIVER);
    assert_says(w, "cuOccupancyMaxActiveBlocksPerMultiprocessor failed: CUDA_ERROR_INVALID_VALUE");
    close_world(w);
}

/* ---- counters ---- */

static void streams_have_their_counters(void **state)
{
    (void)state;
    World *w = open_world(TICKETS);
    assert_int_equal(launch_n(w, 500), TILE_OK);
    unsigned allocs = fake.allocs;
    uint64_t of_null = counter_at(0), of_a = counter_on(w, 0x100), of_b = counter_on(w, 0x200);
    uint64_t of_thread = counter_on(w, CU_STREAM_OF_THREAD);
    assert_int_equal(counter_on(w, CU_STREAM_OF_DEVICE), of_null); /* two names of one stream */
    assert_int_equal(counter_on(w, 0), of_null);
    assert_int_equal(counter_on(w, 0x100), of_a);
    assert_int_equal(counter_on(w, 0x200), of_b);
    assert_int_equal(counter_on(w, CU_STREAM_OF_THREAD), of_thread);
    const uint64_t all[] = {of_null, of_a, of_b, of_thread};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_int_not_equal(all[i], all[j]);
    fake.generation = 1; /* the stream is gone, its handle is a new one's */
    assert_int_not_equal(counter_on(w, 0x100), of_a);
    assert_int_equal(fake.allocs, allocs);
    for (uintptr_t i = 0; i < 3 * PAGE_PLACES; i++) {
        uint64_t at = counter_on(w, 0x10000 + 16 * i);
        for (int j = 0; j < 4; j++) assert_int_not_equal(at, all[j]);
        if (i % 97 == 0) assert_int_equal(counter_on(w, 0x10000 + 16 * i), at);
    }
    assert_int_equal(fake.allocs, allocs + 3);
    assert_int_equal(fake.streams, fake.streams_freed);
    fake.generation = 0;
    assert_int_equal(counter_on(w, 0x100), of_a); /* found in a table that has grown */
    close_world(w);
}

static void every_counter_of_a_kernel(void **state)
{
    (void)state;
    World *w = open_world(&(Variant){.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = MF_COUNTERS, .hints = true});
    assert_int_equal(launch_n(w, 500), TILE_OK);
    uint64_t first = counter_at(0);
    for (int i = 0; i < MF_COUNTERS; i++) {
        assert_int_equal(counter_at(i), first + 4 * (uint64_t)i);
        assert_int_equal(*(uint32_t *)(uintptr_t)counter_at(i), 0);
    }
    assert_true(counter_on(w, 0x100) >= first + PLACE_BYTES || counter_at(0) + PLACE_BYTES <= first);
    close_world(w);

    fake_reset();
    w = world_new();
    assert_int_equal(world_load(w, &(Variant){.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = MF_COUNTERS + 1}),
                     TILE_ERROR_MODULE);
    assert_says(w, "a kernel has too many counters");
    close_world(w);
}

static void captured_launches_share_nothing(void **state)
{
    (void)state;
    World *w = open_world(TICKETS);
    assert_int_equal(bind(w, "src", 0x10000000, 64, 64), TILE_OK);
    assert_int_equal(bind(w, "dst", 0x20000000, 64, 64), TILE_OK);
    assert_int_equal(tile_bind_scalar(w->args, "n", 9, &w->err), TILE_OK);
    fake.capturing = fake.capture_status =
        CU_CAPTURE_ACTIVE; /* from the first launch on: also the memory is made now */
    uint64_t last = 0;
    for (int i = 0; i < PAGE_PLACES + 10; i++) {
        uint64_t at = counter_on(w, 0x100);
        assert_int_not_equal(at, last);
        last = at;
    }
    assert_int_equal(fake.allocs, 2);
    assert_int_equal(fake.mode, 0); /* as it was */
    fake.capturing = fake.capture_status = 0;
    assert_true(counter_on(w, 0x100) > last);
    fake.capture_status = 2; /* invalidated: the launch itself says so */
    assert_int_equal(counter_on(w, 0x100), counter_at(0));
    close_world(w);
}

typedef struct Thread {
    World *w;
    uint64_t counter;
} Thread;

static void *on_own_stream(void *user)
{
    Thread *t = user;
    t->counter = counter_on(t->w, CU_STREAM_OF_THREAD);
    return NULL;
}

static void threads_have_default_streams(void **state)
{
    (void)state;
    World *w = open_world(TICKETS);
    assert_int_equal(launch_n(w, 500), TILE_OK);
    uint64_t mine = counter_on(w, CU_STREAM_OF_THREAD), seen[8];
    for (int i = 0; i < 8; i++) { /* one after the other: the system may use a thread's memory and number again */
        Thread t = {w, 0};
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, on_own_stream, &t), 0);
        assert_int_equal(pthread_join(id, NULL), 0);
        assert_int_not_equal(t.counter, mine);
        for (int j = 0; j < i; j++) assert_int_not_equal(t.counter, seen[j]);
        seen[i] = t.counter;
    }
    assert_int_equal(counter_on(w, CU_STREAM_OF_THREAD), mine);
    close_world(w);
}

static void old_drivers_deal_statically(void **state)
{
    (void)state;
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->mem.fail = &w->fail;
    if (setjmp(w->fail)) fail_msg("out of memory");
    arena_init(&w->arena, &w->mem);
    text_init(&w->ptx, &w->mem);
    CudaApi api = fake_api();
    api.StreamGetId = NULL;
    assert_int_equal(cuda_device_open(&api, NULL, -1, NULL, &w->device, &w->err), TILE_OK);
    assert_int_equal(world_load(w, TICKETS), TILE_OK);
    assert_int_equal(launch_n(w, 500), TILE_ERROR_NO_DEVICE);
    assert_says(w, "E1116: the driver has no cuStreamGetId: CUDA 12.0 is needed");
    assert_int_equal(fake.launches, 0);
    close_world(w);
}

/* ---- CTAs of one iteration each ---- */

/* Of CTAs that move 8 KB each no more than 10, 80 KB, are on an SM, where the L2 holds what they move and it is 15 for each of these 7 SMs, or more; and half
 * of them, where they are more than 20. Of 5 to 15, 40 KB and more, all of them, and not one more. */
static void few_ctas_of_an_sm(void **state)
{
    (void)state;
    fake.sms = 7;
    fake.l2 = 3 << 20;
    World *w = open_world(&(Variant){.smem = 4096, .hints = true});
    tile_launch_facts f;
    fake.sms = fake.l2 = 0;
    assert_int_equal(launch(w, 32, 34 * 64), TILE_OK);
    assert_int_equal(fake.config.smem, 4096);
    assert_int_equal(launch(w, 32, 104 * 64), TILE_OK);
    assert_int_equal(fake.config.smem, 13696);
    assert_in_range(228 << 10, 15 * (13696 + 1024), 16 * (13696 + 1024) - 1);
    assert_int_equal(launch(w, 32, 105 * 64), TILE_OK);
    assert_int_equal(fake.config.smem, 20224); /* 10 of them with the 1024 bytes of the system's fit into 228 KB, 11 do not */
    assert_in_range(228 << 10, 10 * (20224 + 1024), 11 * (20224 + 1024) - 1);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
    assert_int_equal(f.smem, 20224);
    assert_int_equal(launch(w, 64, 128 * 64), TILE_OK); /* 2 MiB: two thirds of the L2, 256 CTAs, in two turns of 19 on an SM */
    assert_int_equal(fake.config.smem, 10752);
    assert_in_range(228 << 10, 19 * (10752 + 1024), 20 * (10752 + 1024) - 1);
    assert_int_equal(launch(w, 64, 129 * 64), TILE_OK);
    assert_int_equal(fake.config.smem, 4096);
    close_world(w);

    static const Variant OTHERS[] = {{.smem = 21000, .hints = true}, /* no more than 10 have room */
                                     {.smem = 4096},                  /* nobody knows what it moves */
                                     {.smem = 4096, .hints = true, .cluster = 2},
                                     {.smem = 4096, .hints = true, .deal = MF_DEAL_STATIC, .per_sm = 2}};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        fake_reset();
        fake.sms = 7;
        fake.l2 = 3 << 20;
        w = open_world(&OTHERS[i]);
        assert_int_equal(launch(w, 32, 114 * 64), TILE_OK);
        assert_int_equal(fake.config.smem, OTHERS[i].smem);
        close_world(w);
    }
}

/* No more CTAs on an SM than load 48 KiB together, or as much more as the memory is faster than an H100's. */
static void loads_of_an_sm(void **state)
{
    (void)state;
    static const struct Case {
        uint32_t loads;
        int clock, ctas; /* ctas 0: as many as fit */
    } cases[] = {{0, 2619000, 0},     {2048, 2619000, 24},  {8192, 2619000, 6},  {16384, 2619000, 3}, {20000, 2619000, 3}, {32768, 2619000, 2},
                 {49152, 2619000, 2}, {8192, 1593000, 6},   {8192, 0, 6},        {8192, 3841000, 9},  {16384, 3841000, 4}, {32768, 3841000, 2},
                 {49152, 3841000, 2}, {UINT32_MAX, 3841000, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct Case *c = &cases[i];
        fake_reset();
        fake.memory_clock = c->clock;
        World *w = open_world(&(Variant){.smem = 4096, .hints = true, .loads = c->loads});
        assert_int_equal(launch(w, 64, 4096 * 64), TILE_OK);
        if (c->ctas) assert_in_range(228 << 10, (unsigned)c->ctas * (fake.config.smem + 1024), (unsigned)(c->ctas + 1) * (fake.config.smem + 1024) - 1);
        else assert_int_equal(fake.config.smem, 4096);
        assert_int_equal(fake.smem_set, fake.config.smem > 49152 ? fake.config.smem : 0); /* more has to be asked for */
        close_world(w);
    }
}

/* ---- hints ---- */

static void hints_follow_the_traffic(void **state)
{
    (void)state;
    fake.l2 = 50 << 17;
    World *w = open_world(&(Variant){.deal = MF_DEAL_STATIC, .per_sm = 2, .hints = true});
    tile_launch_facts f;
    fake.l2 = 0;
    assert_int_equal(launch(w, 100, 131072), TILE_OK); /* 50 MiB: 8 times the L2 */
    assert_int_equal(*(int64_t *)fake.params[3], 0);
    assert_int_equal(launch(w, 100, 131080), TILE_OK);
    assert_int_equal(*(int64_t *)fake.params[3], 1);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
    assert_int_equal(f.hints, 1);
    assert_int_equal(f.traffic, INT64_C(400) * 131080);
    assert_int_equal(f.l2, 50 << 17);
    assert_string_equal(f.deal, "static");
    assert_int_equal(f.iterations, 41);
    assert_int_equal(f.teams, 41);
    assert_int_equal(f.grid[0], 41);
    assert_int_equal(f.per_sm, 2);
    assert_int_equal(f.counters, 0);
    close_world(w);

    fake_reset();
    w = open_world(&(Variant){0});
    assert_int_equal(launch(w, 64, 128), TILE_OK);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
    assert_null(f.deal);
    assert_int_equal(f.hints, -1);
    assert_int_equal(f.grid[0], 2);
    assert_int_equal(f.grid[1], 2);
    assert_int_equal(bind(w, "dst", 0x20000000, 64, 64), TILE_OK);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_ERROR_ARGUMENT);
    assert_int_equal(f.grid[0], 0);
    assert_int_equal(fake.launches, 1);
    close_world(w);
}

/* 132 SMs, 50 MB of L2; CTAs of 64 columns and 32 rows. */
static void the_launch_takes_a_schedule(void **state)
{
    (void)state;
    const struct {
        int64_t m, n;
        unsigned threads;
    } cases[] = {{32, 64, 32}, {32, 64 * 263, 32}, {32, 64 * 264, 64}, {64, 64 * 263, 64}, {64, 64 * 264, 128}, {32, 64, 32}, {960, 64 * 200, 128}};
    World *w = open_world(&(Variant){.schedules = 3});
    tile_launch_facts f;
    assert_int_equal(tile_kernel_count(w->module), 1);
    assert_null(tile_kernel_at(w->module, 1));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bind_all(w, cases[i].m, cases[i].n, 1);
        for (int again = 0; again < 2; again++) {
            if (tile_launch(w->args, NULL, &w->err) != TILE_OK) fail_msg("case %zu: %s", i, w->err.text);
            if (fake.config.block_x != cases[i].threads) fail_msg("case %zu: %u threads", i, fake.config.block_x);
        }
        assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
        assert_int_equal(128 >> f.schedule, cases[i].threads);
        assert_int_equal(f.schedules, 3);
    }
    bind_all(w, 32, 63, 1); /* a check fails, and the next launch is chosen anew */
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_CHECK);
    assert_int_equal(launch_n(w, 1), TILE_OK);
    close_world(w);

    fake_reset();
    w = open_world(&(Variant){.schedules = 2, .hints = true}); /* moves M * N * 4 bytes */
    bind_all(w, 1000, 26208, 1);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.config.block_x, 64);
    bind_all(w, 1000, 26216, 1);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.config.block_x, 128);
    close_world(w);
}

/* What was measured on the device counts first; on others, and for smaller launches, what the compiler thinks. 132 SMs; launches move M * N * 4 bytes. */
static void what_was_measured_counts(void **state)
{
    (void)state;
    const MfPick tuned[] = {{"Fake 0", 1, MF_BYTES, 1 << 20}, {"Fake 0", 2, MF_BYTES, 1 << 16}, {"Fake 0", 0, MF_BYTES, 0},
                            {"NVIDIA H100", 2, MF_BYTES, 0}, {0}};
    const MfPick other[] = {{"NVIDIA H100", 0, MF_BYTES, 0}, {0}};
    const struct {
        int64_t m, n;
        unsigned threads;
    } cases[] = {{64, 248, 128}, {64, 256, 32}, {64, 4088, 32}, {64, 4096, 64}, {1000, 26216, 64}, {8, 8, 128}};
    World *w = open_world(&(Variant){.schedules = 3, .hints = true, .tuned = tuned});
    tile_launch_facts f;
    assert_string_equal(tile_device_gpu(w->device), "Fake 0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bind_all(w, cases[i].m, cases[i].n, 1);
        assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
        if (fake.config.block_x != cases[i].threads) fail_msg("case %zu: %u threads", i, fake.config.block_x);
        assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
        assert_string_equal(f.pick, "bytes");
        assert_true(f.picked_for_gpu);
        assert_int_equal(f.pick_least, cases[i].threads == 128 ? 0 : cases[i].threads == 32 ? 1 << 16 : 1 << 20);
    }
    close_world(w);

    fake_reset();
    w = open_world(&(Variant){.schedules = 2, .hints = true, .tuned = other});
    bind_all(w, 64, 256, 1);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.config.block_x, 64);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
    assert_null(f.pick);
    bind_all(w, 1000, 26216, 1);
    assert_int_equal(tile_launch_info(w->args, &f, &w->err), TILE_OK);
    assert_string_equal(f.pick, "L2");
    assert_true(f.schedule == 0 && f.pick_least == 2 && !f.picked_for_gpu);
    close_world(w);

    fake_reset(); /* without traffic all bytes of the tensors: 2 of 2 bytes an element */
    w = open_world(&(Variant){.schedules = 3, .tuned = tuned});
    bind_all(w, 64, 248, 1);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.config.block_x, 128);
    bind_all(w, 64, 256, 1);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_OK);
    assert_int_equal(fake.config.block_x, 32);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_many_teams_as_run_at_once, setup),
        cmocka_unit_test_setup(no_iterations_launch_nothing, setup),
        cmocka_unit_test_setup(tickets_are_32_bits, setup),
        cmocka_unit_test_setup(nothing_fits, setup),
        cmocka_unit_test_setup(streams_have_their_counters, setup),
        cmocka_unit_test_setup(every_counter_of_a_kernel, setup),
        cmocka_unit_test_setup(captured_launches_share_nothing, setup),
        cmocka_unit_test_setup(threads_have_default_streams, setup),
        cmocka_unit_test_setup(old_drivers_deal_statically, setup),
        cmocka_unit_test_setup(few_ctas_of_an_sm, setup),
        cmocka_unit_test_setup(loads_of_an_sm, setup),
        cmocka_unit_test_setup(hints_follow_the_traffic, setup),
        cmocka_unit_test_setup(the_launch_takes_a_schedule, setup),
        cmocka_unit_test_setup(what_was_measured_counts, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
