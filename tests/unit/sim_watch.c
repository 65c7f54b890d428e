/* The watch: order of accesses, copies, proxies and mbarriers in one CTA. `bad` is the sequence that breaks the
 * rule. */
#include "tests/unit/sim_watch_world.h"

static void read_without_wait(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 4096, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 5), b, CTA_SCOPE);
    ld(w, at(w, 0, 5), smem(w, 0, 2048), 4);
}

static void read_behind_relaxed_wait(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 4096, b);
    phase(w, 0, b);
    wait(w, at(w, 0, 5), b, bad ? RELAXED : CTA_SCOPE);
    ld(w, at(w, 0, 5), smem(w, 0, 2048), 4);
}

static void read_behind_wait_for_earlier_phase(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    wait(w, at(w, 0, 5), b, CTA_SCOPE);
    ld(w, at(w, 0, 5), smem(w, 0, 1024), 4);
    arrive(w, at(w, 0, 5), 0, b, CTA_SCOPE);
    phase(w, 0, b);
    wait(w, at(w, 0, 0), b, CTA_SCOPE);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 5), b, CTA_SCOPE);
    ld(w, at(w, 0, 5), smem(w, 0, 1024), 4);
}

static void wait_by_another_thread_is_passed_on_by_bar_sync(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 4096, b);
    phase(w, 0, b);
    wait(w, at(w, 0, 5), b, CTA_SCOPE);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    ld(w, at(w, 0, 6), smem(w, 0, 1024), 16);
}

static void relaxed_arrival_orders_nothing(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    arrive(w, at(w, 0, 1), 0, b, bad ? RELAXED : CTA_SCOPE);
    phase(w, 0, b);
    wait(w, at(w, 0, 2), b, CTA_SCOPE);
    ld(w, at(w, 0, 2), smem(w, 0, 512), 4);
}

static void writes_behind_the_arrival_are_not_covered(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    if (!bad) st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    arrive(w, at(w, 0, 1), 0, b, CTA_SCOPE);
    if (bad) st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    phase(w, 0, b);
    wait(w, at(w, 0, 2), b, CTA_SCOPE);
    ld(w, at(w, 0, 2), smem(w, 0, 512), 4);
}

static void copy_carries_what_its_issuer_knew(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    if (!bad) st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    load(w, at(w, 0, 1), gmem(w, 0), 0, 1024, 128, b);
    if (bad) st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    phase(w, 0, b);
    wait(w, at(w, 0, 2), b, CTA_SCOPE);
    ld(w, at(w, 0, 2), smem(w, 0, 512), 4);
}

static void two_threads_without_barrier(World *w, bool bad)
{
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    ld(w, at(w, 0, 40), smem(w, 0, 512), 4);
}

static void barrier_of_other_threads(World *w, bool bad)
{
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    bar_sync(w, 0, 1, bad ? 32 : 0, bad ? 32 : 64);
    ld(w, at(w, 0, 40), smem(w, 0, 512), 4);
}

static void generations_of_a_named_barrier_are_apart(World *w, bool bad)
{
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    bar_sync(w, 0, 1, 0, 32);
    bar_sync(w, 0, 1, 32, 32);
    if (!bad) bar_sync(w, 0, 1, 0, 64);
    ld(w, at(w, 0, 40), smem(w, 0, 512), 4);
}

/* A fast thread arrives for the next round before a slow one has left the last. */
static void next_round_begins_before_all_left(World *w, bool bad)
{
    SimNamed *n = &w->cta[0].named[2];
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    for (uint32_t i = 0; i < 2; i++) watch_named_arrive(&w->m, at(w, 0, i), n);
    watch_named_leave(&w->m, at(w, 0, 0), n);
    if (bad) st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    watch_named_arrive(&w->m, at(w, 0, 0), n);
    watch_named_leave(&w->m, at(w, 0, 1), n);
    watch_named_done(&w->m, n);
    ld(w, at(w, 0, 1), smem(w, 0, 512), 4);
    watch_named_arrive(&w->m, at(w, 0, 1), n);
    watch_named_leave(&w->m, at(w, 0, 1), n);
    watch_named_leave(&w->m, at(w, 0, 0), n);
    watch_named_done(&w->m, n);
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
}

static void bar_arrive_releases(World *w, bool bad)
{
    SimNamed *n = &w->cta[0].named[3];
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    if (!bad) watch_named_arrive(&w->m, at(w, 0, 1), n);
    watch_named_arrive(&w->m, at(w, 0, 2), n);
    watch_named_leave(&w->m, at(w, 0, 2), n);
    watch_named_done(&w->m, n);
    ld(w, at(w, 0, 2), smem(w, 0, 512), 4);
}

static void write_over_a_read(World *w, bool bad)
{
    st(w, at(w, 0, 1), smem(w, 0, 512), 16);
    bar_sync(w, 0, 0, 0, THREADS);
    for (uint32_t i = 0; i < 20; i++) ld(w, at(w, 0, i), smem(w, 0, 512), 16);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    st(w, at(w, 0, 50), smem(w, 0, 512), 16);
}

static void warp(World *w, bool bad)
{
    SimThread *lanes[32];
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    for (uint32_t i = 0; i < 32; i++) lanes[i] = at(w, 0, i);
    watch_warp(&w->m, lanes, 32, !bad);
    ld(w, at(w, 0, 2), smem(w, 0, 512), 4);
}

static void bytes_of_one_granule(World *w, bool bad)
{
    for (uint32_t i = 0; i < 4; i++) st(w, at(w, 0, i), smem(w, 0, 512 + i * 4), 4);
    ld(w, at(w, 0, 2), smem(w, 0, bad ? 519 : 520), 1);
}

static void single_bytes(World *w, bool bad)
{
    for (uint32_t i = 0; i < 16; i++) st(w, at(w, 0, i), smem(w, 0, 512 + i), 1);
    st(w, at(w, 0, 7), smem(w, 0, bad ? 518 : 519), 1);
}

static void split_granules_join_again(World *w, bool bad)
{
    for (uint32_t i = 0; i < 16; i++) st(w, at(w, 0, i), smem(w, 0, 512 + i), 1);
    bar_sync(w, 0, 0, 0, THREADS);
    st(w, at(w, 0, 0), smem(w, 0, 512), 16);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    ld(w, at(w, 0, 9), smem(w, 0, 515), 2);
}

static void never_written(World *w, bool bad)
{
    st(w, at(w, 0, 3), smem(w, 0, 512), bad ? 4 : 8);
    ld(w, at(w, 0, 3), smem(w, 0, 512), 8);
}

static void copy_of_what_was_never_written(World *w, bool bad)
{
    prepare(w, 0, 1024, bad ? 240 : 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void atomic_on_what_was_never_written(World *w, bool bad)
{
    if (!bad) st(w, at(w, 0, 3), smem(w, 0, 512), 4);
    atomic(w, at(w, 0, 3), smem(w, 0, 512), true, true, ACCESS_RELAXED);
}

static void missing_proxy_fence(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 1024), 256);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC_SHARED);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void proxy_fence_of_another_space(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 1024), 256);
    fence(w, at(w, 0, 0), bad ? FORM_FENCE_ASYNC_GLOBAL : FORM_FENCE_ASYNC);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void proxy_fence_before_the_write(World *w, bool bad)
{
    if (bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC);
    st(w, at(w, 0, 0), smem(w, 0, 1024), 256);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void proxy_fence_by_each_writer(World *w, bool bad)
{
    for (uint32_t i = 0; i < 16; i++) {
        st(w, at(w, 0, i), smem(w, 0, 1024 + i * 16), 16);
        if (!bad || i != 7) fence(w, at(w, 0, i), FORM_FENCE_ASYNC_SHARED);
    }
    bar_sync(w, 0, 0, 0, THREADS);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void proxy_fence_by_the_reader_behind_the_barrier(World *w, bool bad)
{
    for (uint32_t i = 0; i < 16; i++) st(w, at(w, 0, i), smem(w, 0, 1024 + i * 16), 16);
    if (bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC);
    bar_sync(w, 0, 0, 0, THREADS);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void fenced_but_no_barrier(World *w, bool bad)
{
    st(w, at(w, 0, 9), smem(w, 0, 1024), 256);
    fence(w, at(w, 0, 9), FORM_FENCE_ASYNC);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

static void copy_over_a_threads_write_needs_the_fence(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 0, 0), smem(w, 0, 1024), 16);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC_SHARED);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
}

/* Consumer reads, arrives on the empty barrier, the producer waits and fills again: no proxy fence is asked for. */
static void ring_reuse(World *w, bool bad)
{
    SimBarrier *full = ready(w, 0, 0), *empty = ready(w, 0, 8);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, full);
    phase(w, 0, full);
    for (uint32_t i = 32; i < 64; i++) {
        wait(w, at(w, 0, i), full, CTA_SCOPE);
        ld(w, at(w, 0, i), smem(w, 0, 1024 + (i - 32) * 4), 4);
        arrive(w, at(w, 0, i), 0, empty, CTA_SCOPE);
    }
    phase(w, 0, empty);
    if (!bad) wait(w, at(w, 0, 0), empty, CTA_SCOPE);
    load(w, at(w, 0, 0), gmem(w, 128), 0, 1024, 128, full);
}

static void copy_over_a_copy_in_flight(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 0), b, CTA_SCOPE);
    load(w, at(w, 0, 0), gmem(w, 128), 0, 1024, 128, b);
}

static void write_over_a_copy_in_flight(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 3), b, CTA_SCOPE);
    st(w, at(w, 0, 3), smem(w, 0, 1100), 4);
}

static void store_of_what_a_load_brings(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 0), b, CTA_SCOPE);
    store(w, at(w, 0, 0), 1024, 4096, 128); /* both through the async proxy: no fence */
}

static void overwrite_before_the_store_has_read(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    if (!bad) group_wait(w, at(w, 0, 0), true);
    st(w, at(w, 0, 0), smem(w, 0, 1024), 4);
}

static void group_wait_is_by_its_thread(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    group_wait(w, at(w, 0, bad ? 1 : 0), true);
    bar_sync(w, 0, 0, 0, THREADS);
    st(w, at(w, 0, 1), smem(w, 0, 1024), 4);
}

static void earlier_group_only(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 128);
    store(w, at(w, 0, 0), 1152, 128, 128);
    watch_group_wait(&w->m, at(w, 0, 0), 1, true);
    st(w, at(w, 0, 0), smem(w, 0, bad ? 1152 : 1024), 128);
}

static void read_of_stored_bytes_behind_wait_read(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    group_wait(w, at(w, 0, 0), bad);
    ld(w, at(w, 0, 0), gmem(w, 16), 4);
}

static void load_of_stored_bytes_without_fence(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    group_wait(w, at(w, 0, 0), false);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC_GLOBAL);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 8192, 256, b);
}

static void load_of_stored_bytes_without_wait(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    if (!bad) group_wait(w, at(w, 0, 0), false);
    fence(w, at(w, 0, 0), FORM_FENCE_ASYNC);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 8192, 256, b);
}

static void two_stores_to_the_same_bytes(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    if (!bad) group_wait(w, at(w, 0, 0), false);
    store(w, at(w, 0, 0), 1024, 128, 256);
}

static void reductions_among_themselves(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store_as(w, at(w, 0, 0), 1024, 0, 256, true);
    store_as(w, at(w, 0, 0), 1024, 0, 256, !bad);
    commit(w, at(w, 0, 0));
    if (!bad) atomic(w, at(w, 2, 0), gmem(w, 0), true, true, ACCESS_RELAXED);
}

/* Each of several reductions that are not ordered has to be over, not only the last. */
static void reader_waits_for_all_reductions(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    bar_sync(w, 0, 0, 0, THREADS);
    store_as(w, at(w, 0, 1), 1024, 0, 256, true);
    store_as(w, at(w, 0, 2), 1024, 0, 256, true);
    commit(w, at(w, 0, 1));
    commit(w, at(w, 0, 2));
    if (!bad) group_wait(w, at(w, 0, 1), false);
    group_wait(w, at(w, 0, 2), false);
    bar_sync(w, 0, 0, 0, THREADS);
    ld(w, at(w, 0, 3), gmem(w, 16), 4);
}

static void threads_write_then_load_of_global(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 0, 0), gmem(w, 0), 256);
    fence(w, at(w, 0, 0), bad ? FORM_FENCE_ASYNC_SHARED : FORM_FENCE_ASYNC_GLOBAL);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 8192, 256, b);
}

static void write_over_the_source_of_a_load(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 8192, 256, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 1), b, CTA_SCOPE);
    st(w, at(w, 0, 1), gmem(w, 128), 4);
}

/* ---- mbarriers ---- */
static void init_without_barrier_of_threads(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    arrive(w, at(w, 0, 7), 0, b, CTA_SCOPE);
}

static void own_init_needs_no_fence(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    arrive(w, at(w, 0, bad ? 1 : 0), 0, b, CTA_SCOPE);
}

static void copy_engine_needs_the_init_fence(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    if (!bad) watch_fence_init(&w->m, at(w, 0, 0));
    bar_sync(w, 0, 0, 0, THREADS);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
}

static void init_fence_before_the_init(World *w, bool bad)
{
    if (bad) watch_fence_init(&w->m, at(w, 0, 0));
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    if (!bad) watch_fence_init(&w->m, at(w, 0, 0));
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
}

static void proxy_fence_serves_for_the_init(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC);
    bar_sync(w, 0, 0, 0, THREADS);
    load(w, at(w, 0, 5), gmem(w, 0), 0, 1024, 128, b);
}

/* The barrier lies in shared memory. */
static void proxy_fence_of_global_for_the_init(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    fence(w, at(w, 0, 0), bad ? FORM_FENCE_ASYNC_GLOBAL : FORM_FENCE_ASYNC_SHARED);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
}

/* PTX ISA, Release and Acquire Patterns: a fence and a relaxed arrival, a relaxed wait and a fence. */
static void relaxed_arrival_behind_a_fence(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    if (bad) watch_fence(&w->m, at(w, 0, 1), CTA, false);
    st(w, at(w, 0, 1), smem(w, 0, 512), 4);
    if (!bad) watch_fence(&w->m, at(w, 0, 1), CTA, false);
    arrive(w, at(w, 0, 1), 0, b, RELAXED);
    phase(w, 0, b);
    wait(w, at(w, 0, 2), b, CTA_SCOPE);
    ld(w, at(w, 0, 2), smem(w, 0, 512), 4);
}

static void fence_behind_a_relaxed_wait(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (bad) watch_fence(&w->m, at(w, 0, 5), CTA, false);
    wait(w, at(w, 0, 5), b, RELAXED);
    if (!bad) watch_fence(&w->m, at(w, 0, 5), CTA, false);
    ld(w, at(w, 0, 5), smem(w, 0, 1024), 4);
}

static void remote_arrival_behind_relaxed_cluster_barrier(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 0, 0), 0);
    if (!bad) watch_fence_init(&w->m, at(w, 0, 0));
    cluster_sync(w, true);
    arrive(w, at(w, 1, 3), 0, b, CLUSTER_SCOPE);
}

static void relaxed_cluster_barrier_orders_no_data(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, bad);
    ld(w, at(w, 1, 3), smem(w, 0, 512), 4);
}

static void touching_a_live_barrier(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 16);
    SimLoc l = smem(w, 0, 16);
    if (!bad) watch_mbar_inval(&w->m, at(w, 0, 0), &w->cta[0], b, &l);
    st(w, at(w, 0, 0), smem(w, 0, 20), 2);
}

static void beside_a_live_barrier(World *w, bool bad)
{
    ready(w, 0, 16);
    st(w, at(w, 0, 0), smem(w, 0, bad ? 16 : 24), 8);
}

static void copy_over_a_live_barrier(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 1024 + 64);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, bad ? 128 : 64, b);
}

static void inval_counts_as_a_write(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 16);
    SimLoc l = smem(w, 0, 16);
    watch_mbar_inval(&w->m, at(w, 0, 0), &w->cta[0], b, &l);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    st(w, at(w, 0, 9), smem(w, 0, 16), 8);
}

static void init_over_a_copy_in_flight(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 0), b, CTA_SCOPE);
    init(w, at(w, 0, 0), 1024);
}

/* The second life of a barrier: phases of the first do not count. */
static void second_life(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    SimThread *t = at(w, 0, 0);
    SimLoc l = smem(w, 0, 0);
    arrive(w, t, 0, b, CTA_SCOPE);
    phase(w, 0, b);
    wait(w, t, b, CTA_SCOPE);
    watch_mbar_inval(&w->m, t, t->cta, b, &l);
    b->phase = 0;
    watch_mbar_init(&w->m, t, t->cta, b, &l);
    watch_fence_init(&w->m, t);
    load(w, t, gmem(w, 0), 0, 1024, 128, b);
    if (!bad) {
        phase(w, 0, b);
        wait(w, t, b, CTA_SCOPE);
    }
    ld(w, t, smem(w, 0, 1024), 4);
}

static const Case cases[] = {
    CASE(read_without_wait, E1303),
    CASE(read_behind_relaxed_wait, E1303),
    CASE(read_behind_wait_for_earlier_phase, E1303),
    CASE(wait_by_another_thread_is_passed_on_by_bar_sync, E1303),
    CASE(relaxed_arrival_orders_nothing, E1315),
    CASE(writes_behind_the_arrival_are_not_covered, E1315),
    CASE(copy_carries_what_its_issuer_knew, E1315),
    CASE(two_threads_without_barrier, E1315),
    CASE(barrier_of_other_threads, E1315),
    CASE(generations_of_a_named_barrier_are_apart, E1315),
    CASE(next_round_begins_before_all_left, E1315),
    CASE(bar_arrive_releases, E1315),
    CASE(write_over_a_read, E1315),
    CASE(warp, E1315),
    CASE(bytes_of_one_granule, E1315),
    CASE(single_bytes, E1315),
    CASE(split_granules_join_again, E1315),
    CASE(never_written, E1305),
    CASE(copy_of_what_was_never_written, E1305),
    CASE(atomic_on_what_was_never_written, E1305),
    CASE(missing_proxy_fence, E1306),
    CASE(proxy_fence_of_another_space, E1306),
    CASE(proxy_fence_before_the_write, E1306),
    CASE(proxy_fence_by_each_writer, E1306),
    CASE(proxy_fence_by_the_reader_behind_the_barrier, E1306),
    CASE(fenced_but_no_barrier, E1315),
    CASE(copy_over_a_threads_write_needs_the_fence, E1306),
    CASE(ring_reuse, E1304),
    CASE(copy_over_a_copy_in_flight, E1304),
    CASE(write_over_a_copy_in_flight, E1304),
    CASE(store_of_what_a_load_brings, E1303),
    CASE(overwrite_before_the_store_has_read, E1304),
    CASE(group_wait_is_by_its_thread, E1304),
    CASE(earlier_group_only, E1304),
    CASE(read_of_stored_bytes_behind_wait_read, E1303),
    CASE(load_of_stored_bytes_without_fence, E1306),
    CASE(load_of_stored_bytes_without_wait, E1303),
    CASE(two_stores_to_the_same_bytes, E1315),
    CASE(reductions_among_themselves, E1315),
    CASE(reader_waits_for_all_reductions, E1303),
    CASE(threads_write_then_load_of_global, E1306),
    CASE(write_over_the_source_of_a_load, E1304),
    CASE(init_without_barrier_of_threads, E1307),
    CASE(own_init_needs_no_fence, E1307),
    CASE(copy_engine_needs_the_init_fence, E1307),
    CASE(init_fence_before_the_init, E1307),
    CASE(proxy_fence_serves_for_the_init, E1307),
    CASE(proxy_fence_of_global_for_the_init, E1307),
    CASE(relaxed_arrival_behind_a_fence, E1315),
    CASE(fence_behind_a_relaxed_wait, E1303),
    CASE(remote_arrival_behind_relaxed_cluster_barrier, E1307),
    CASE(relaxed_cluster_barrier_orders_no_data, E1315),
    CASE(touching_a_live_barrier, E1316),
    CASE(beside_a_live_barrier, E1316),
    CASE(copy_over_a_live_barrier, E1316),
    CASE(inval_counts_as_a_write, E1315),
    CASE(init_over_a_copy_in_flight, E1304),
    CASE(second_life, E1303),
};

static void texts_name_the_bytes_and_what_is_missing(void **state)
{
    (void)state;
    World *w = test_malloc(sizeof *w);
    open_world(w);
    read_behind_wait_for_earlier_phase(w, true);
    assert_non_null(strstr(text_of(w), "bytes 1024..1027 of shared memory of CTA (0,0,0)"));
    assert_non_null(strstr(text_of(w), "phase 2 of the mbarrier at smem+0"));
    assert_non_null(strstr(text_of(w), "has waited for phase 0 of it"));
    close_world(w);
    open_world(w);
    read_of_stored_bytes_behind_wait_read(w, true);
    assert_non_null(strstr(text_of(w), "bytes 16..19 of the allocation at 0x100000000000 (1048576 bytes)"));
    assert_non_null(strstr(text_of(w), "only the reads were waited for"));
    close_world(w);
    test_free(w);
}

static void turns(World *w, uint32_t n)
{
    SimBarrier *full = ready(w, 0, 0), *empty = ready(w, 0, 8);
    for (uint32_t k = 0; k < n; k++) {
        SimThread *t = at(w, 0, 0);
        if (k) wait(w, t, empty, CTA_SCOPE);
        load(w, t, gmem(w, 0), 0, 4096, 2048, full);
        phase(w, 0, full);
        for (uint32_t i = 32; i < 48; i++) {
            t = at(w, 0, i);
            wait(w, t, full, CTA_SCOPE);
            ld(w, t, smem(w, 0, 4096 + k % 64 * 16 + (i - 32) * 4), 4);
            ld(w, t, smem(w, 0, 4096 + (i - 32) * 4), 16);
            arrive(w, t, 0, empty, CTA_SCOPE);
        }
        phase(w, 0, empty);
        if (w->m.failed) fail_msg("turn %u: %s", k, text_of(w));
    }
}

static void long_ring(World *w, bool bad)
{
    (void)bad;
    turns(w, 300);
}

/* Records and lists are swept: a long run needs no more memory than its shadow. */
static void long_runs_stay_bounded(void **state)
{
    (void)state;
    World *w = test_malloc(sizeof *w);
    open_world(w);
    turns(w, 6000);
    close_world(w);
    test_free(w);
}

static bool runs_with(World *w, void (*run)(World *, bool), uint32_t allocations)
{
    set_up(w);
    w->left = allocations;
    if (setjmp(w->fail)) return false;
    start(w);
    run(w, false);
    return true;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    World *w = test_malloc(sizeof *w);
    static void (*const run[])(World *, bool) = {ring_reuse, inval_counts_as_a_write, reader_waits_for_all_reductions,
                                                 long_ring};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        uint32_t n = 1;
        while (!runs_with(w, run[i], n++)) {
            w->left = 0;
            tear_down(w);
            assert_true(n < 1000);
        }
        w->left = 0;
        tear_down(w);
    }
    test_free(w);
}

int main(void)
{
    const struct CMUnitTest more[] = {
        cmocka_unit_test(texts_name_the_bytes_and_what_is_missing),
        cmocka_unit_test(long_runs_stay_bounded),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return run_all(cases, sizeof cases / sizeof *cases, more, sizeof more / sizeof *more);
}
