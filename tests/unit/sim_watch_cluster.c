/* The watch: clusters, ends of threads and CTAs, atomics. `bad` is the sequence that breaks the rule. */
#include "tests/unit/sim_watch_world.h"

/* ---- clusters ---- */
static void remote_start(World *w, bool bad)
{
    if (!bad) cluster_sync(w, true);
    st(w, at(w, 0, 0), smem(w, 1, 512), 4);
}

static void remote_arrival_before_start(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 1, 0), 0);
    watch_fence_init(&w->m, at(w, 1, 0));
    if (!bad) cluster_sync(w, true);
    arrive(w, at(w, 0, 0), 1, b, CLUSTER_SCOPE);
}

static void multicast_before_start(World *w, bool bad)
{
    SimBarrier *b = init(w, at(w, 1, 0), 0);
    watch_fence_init(&w->m, at(w, 1, 0));
    if (!bad) cluster_sync(w, true);
    load(w, at(w, 0, 0), gmem(w, 0), 1, 1024, 128, b);
}

static void remote_write_needs_cluster_scope(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 1, 0), smem(w, 0, 512), 4);
    arrive(w, at(w, 1, 0), 0, b, bad ? CTA_SCOPE : CLUSTER_SCOPE);
    phase(w, 0, b);
    wait(w, at(w, 0, 3), b, CLUSTER_SCOPE);
    ld(w, at(w, 0, 3), smem(w, 0, 512), 4);
}

static void wait_needs_cluster_scope_for_remote_writes(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 1, 0), smem(w, 0, 512), 4);
    arrive(w, at(w, 1, 0), 0, b, CLUSTER_SCOPE);
    phase(w, 0, b);
    wait(w, at(w, 0, 3), b, bad ? CTA_SCOPE : CLUSTER_SCOPE);
    ld(w, at(w, 0, 3), smem(w, 0, 512), 4);
}

/* The completion of a copy is seen at any scope, also of a copy that another CTA issued. */
static void multicast_data(World *w, bool bad)
{
    SimBarrier *b = ready(w, 1, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 1, 1024, 128, b);
    phase(w, 1, b);
    if (!bad) wait(w, at(w, 1, 3), b, CTA_SCOPE);
    ld(w, at(w, 1, 3), smem(w, 1, 1024), 4);
}

static void fence_of_the_own_memory_for_a_remote_write(World *w, bool bad)
{
    cluster_sync(w, true);
    st(w, at(w, 1, 0), smem(w, 0, 1024), 128);
    fence(w, at(w, 1, 0), bad ? FORM_FENCE_ASYNC_SHARED : FORM_FENCE_ASYNC_CLUSTER);
    cluster_sync(w, false);
    store(w, at(w, 0, 0), 1024, 0, 128);
}

static void peer_copy_source(World *w, bool bad)
{
    SimBarrier *b = ready(w, 1, 0), *back = ready(w, 0, 0);
    prepare(w, 0, 1024, 128);
    peer(w, at(w, 0, 0), 1024, 1, 4096, 128, b);
    phase(w, 1, b);
    if (!bad) {
        wait(w, at(w, 1, 0), b, CLUSTER_SCOPE);
        arrive(w, at(w, 1, 0), 0, back, CLUSTER_SCOPE);
        phase(w, 0, back);
        wait(w, at(w, 0, 0), back, CLUSTER_SCOPE);
    }
    st(w, at(w, 0, 0), smem(w, 0, 1024), 4);
}

static void exit_under_remote_access(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    ld(w, at(w, 1, 0), smem(w, 0, 512), 4);
    if (!bad) cluster_sync(w, true);
    exit_cta(w, 0);
}

static void exit_under_remote_arrival(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    arrive(w, at(w, 1, 0), 0, b, CLUSTER_SCOPE);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 63), b, RELAXED);
    exit_cta(w, 0);
}

static void exit_before_the_copy_was_seen(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 128, b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 9), b, CTA_SCOPE);
    exit_cta(w, 0);
}

static void exit_of_the_source_of_a_peer_copy(World *w, bool bad)
{
    SimBarrier *b = ready(w, 1, 0);
    prepare(w, 0, 1024, 128);
    peer(w, at(w, 0, 0), 1024, 1, 4096, 128, b);
    phase(w, 1, b);
    wait(w, at(w, 1, 0), b, CTA_SCOPE);
    if (!bad) cluster_sync(w, true);
    exit_cta(w, 0);
}

static void exit_before_bulk_reads_are_over(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 256);
    if (!bad) group_wait(w, at(w, 0, 0), true);
    exit_cta(w, 0);
}

static void exit_with_an_open_group(World *w, bool bad)
{
    prepare(w, 0, 1024, 256);
    store(w, at(w, 0, 0), 1024, 0, 128);
    store_as(w, at(w, 0, 0), 1152, 128, 128, false);
    if (!bad) commit(w, at(w, 0, 0));
    group_wait(w, at(w, 0, 0), true);
    exit_cta(w, 0);
}

static void exited_threads_count_for_the_cluster_barrier(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    ld(w, at(w, 1, 0), smem(w, 0, 512), 4);
    if (!bad) {
        for (uint32_t i = 0; i < THREADS; i++) watch_thread_exit(&w->m, at(w, 1, i));
        cluster_arrive(w, 0, true);
        cluster_wait(w, 0);
    }
    exit_cta(w, 0);
}

/* What must be over at an exit in memory order: plain writes and atomics; reads only have to be executed. */
static void exit_behind_a_relaxed_barrier_and_stores(World *w, bool bad)
{
    cluster_sync(w, true);
    st(w, at(w, 1, 0), smem(w, 0, 512), 4);
    cluster_sync(w, bad);
    exit_cta(w, 0);
}

static void exit_behind_a_relaxed_barrier_and_arrivals(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    cluster_sync(w, true);
    arrive(w, at(w, 1, 0), 0, b, CLUSTER_SCOPE);
    cluster_sync(w, bad);
    exit_cta(w, 0);
}

static void exit_behind_a_relaxed_barrier_and_atomics(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    if (bad) atomic_of(w, at(w, 1, 0), smem(w, 0, 512), WATCH_RED, ACCESS_RELAXED, CLUSTER);
    else ld(w, at(w, 1, 0), smem(w, 0, 512), 4);
    cluster_sync(w, true);
    exit_cta(w, 0);
}

static void exit_behind_a_fence_and_a_relaxed_barrier(World *w, bool bad)
{
    cluster_sync(w, true);
    st(w, at(w, 1, 0), smem(w, 0, 512), 4);
    watch_fence(&w->m, at(w, 1, 0), bad ? CTA : CLUSTER, false);
    cluster_sync(w, true);
    exit_cta(w, 0);
}

/* A relaxed read that has seen the value of a relaxed store is executed behind it. */
static void exit_behind_a_relaxed_flag(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    if (!bad) ld(w, at(w, 1, 0), smem(w, 0, 512), 4);
    atomic_of(w, at(w, 1, 0), gmem(w, 64), WATCH_ST, ACCESS_RELAXED, CLUSTER);
    if (bad) ld(w, at(w, 1, 0), smem(w, 0, 512), 4);
    atomic_of(w, at(w, 0, 9), gmem(w, 64), WATCH_LD, ACCESS_RELAXED, CLUSTER);
    exit_cta(w, 0);
}

/* The flag itself, in the memory of the CTA that waits for it, is over once it is seen. */
static void exit_behind_a_remote_flag(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    atomic_of(w, at(w, 1, 0), smem(w, 0, 512), WATCH_ST, ACCESS_RELAXED, CLUSTER);
    if (!bad) atomic_of(w, at(w, 0, 9), smem(w, 0, 512), WATCH_LD, ACCESS_RELAXED, CLUSTER);
    exit_cta(w, 0);
}

/* red gives no value back: nothing is learnt by it. */
static void exit_behind_a_reduction(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    ld(w, at(w, 1, 0), smem(w, 0, 512), 4);
    atomic_of(w, at(w, 1, 0), gmem(w, 64), WATCH_RED, ACCESS_RELAXED, CLUSTER);
    atomic_of(w, at(w, 0, 9), gmem(w, 64), bad ? WATCH_RED : WATCH_ATOM, ACCESS_RELAXED, CLUSTER);
    exit_cta(w, 0);
}

static void async_stores_to_the_same_word(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 0, 0), smem(w, 0, 512), 4);
    cluster_sync(w, false);
    async_store(w, at(w, 1, 0), 0, 512, b, !bad);
    async_store(w, at(w, 1, 1), 0, 512, b, !bad);
}

/* ---- scopes: PTX ISA, Morally strong operations ---- */
/* Thread t, after another one has met it by a release at `by` and an acquire at `of`, reads what that one has written.
 * The flag has been accessed by the two alone, so their race shows as well: E1315 in any case. */
static void hand_over(World *w, uint32_t from, uint32_t to, uint32_t by, uint32_t of)
{
    st(w, at(w, from, 0), gmem(w, 0), 16);
    atomic_of(w, at(w, from, 0), gmem(w, 4096), WATCH_ST, ACCESS_RELEASE, by);
    atomic_of(w, at(w, to, 33), gmem(w, 4096), WATCH_LD, ACCESS_ACQUIRE, of);
    ld(w, at(w, to, 33), gmem(w, 4), 4);
}

static void release_of_the_cta(World *w, bool bad)
{
    hand_over(w, 0, bad ? 1 : 0, CTA, GPU);
}

static void acquire_of_the_cta(World *w, bool bad)
{
    hand_over(w, 0, bad ? 2 : 0, GPU, CTA);
}

static void release_of_the_cluster(World *w, bool bad)
{
    hand_over(w, 0, bad ? 2 : 1, CLUSTER, SYS);
}

static void acquire_of_the_cluster(World *w, bool bad)
{
    hand_over(w, bad ? 2 : 1, 0, SYS, CLUSTER);
}

/* The flag's own operations reach far enough; the fences count, too. */
static void scope_of_the_releasing_fence(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    watch_fence(&w->m, at(w, 0, 0), bad ? CTA : CLUSTER, false);
    atomic_of(w, at(w, 0, 0), gmem(w, 4096), WATCH_ST, ACCESS_RELAXED, GPU);
    atomic_of(w, at(w, 1, 0), gmem(w, 4096), WATCH_LD, ACCESS_ACQUIRE, GPU);
    ld(w, at(w, 1, 0), gmem(w, 4), 4);
}

static void scope_of_the_acquiring_fence(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    atomic_of(w, at(w, 0, 0), gmem(w, 4096), WATCH_ATOM, ACCESS_RELEASE, GPU);
    atomic_of(w, at(w, 2, 0), gmem(w, 4096), WATCH_LD, ACCESS_VOLATILE, SYS);
    watch_fence(&w->m, at(w, 2, 0), bad ? CLUSTER : GPU, false);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

/* A smaller fence does not take back what a larger one before it has covered. */
static void fences_of_two_scopes(World *w, bool bad)
{
    if (!bad) st(w, at(w, 0, 0), gmem(w, 0), 16);
    watch_fence(&w->m, at(w, 0, 0), GPU, false);
    if (bad) st(w, at(w, 0, 0), gmem(w, 0), 16);
    watch_fence(&w->m, at(w, 0, 0), CTA, false);
    atomic_of(w, at(w, 0, 0), gmem(w, 4096), WATCH_ST, ACCESS_RELAXED, GPU);
    atomic_of(w, at(w, 2, 0), gmem(w, 4096), WATCH_LD, ACCESS_ACQUIRE, GPU);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

/* "A release operation on M, followed by a strong write on M in program order". */
static void store_behind_a_release_of_the_same_thread(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    atomic(w, at(w, 0, 0), gmem(w, 4096), false, true, ACCESS_RELEASE);
    atomic(w, at(w, 0, bad ? 1 : 0), gmem(w, 4096), false, true, ACCESS_RELAXED);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, false, ACCESS_ACQUIRE);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

/* A relaxed store of another CTA ends what was released for the own one alone. */
static void smaller_parts_end_with_the_sequence(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    atomic_of(w, at(w, 0, 0), gmem(w, 4096), WATCH_ST, ACCESS_RELEASE, GPU);
    atomic_of(w, at(w, 2, 0), gmem(w, 4096), bad ? WATCH_ST : WATCH_RED, ACCESS_RELAXED, GPU);
    atomic_of(w, at(w, 0, 40), gmem(w, 4096), WATCH_LD, ACCESS_ACQUIRE, GPU);
    ld(w, at(w, 0, 40), gmem(w, 4), 4);
}

static void atomics_of_two_ctas(World *w, bool bad)
{
    atomic_of(w, at(w, 0, 0), gmem(w, 64), WATCH_RED, ACCESS_RELAXED, CLUSTER);
    atomic_of(w, at(w, 1, 0), gmem(w, 64), WATCH_RED, ACCESS_RELAXED, bad ? CTA : CLUSTER);
}

static void atomics_of_two_clusters(World *w, bool bad)
{
    atomic_of(w, at(w, 0, 0), gmem(w, 64), WATCH_ATOM, ACCESS_RELAXED, bad ? CLUSTER : GPU);
    atomic_of(w, at(w, 2, 0), gmem(w, 64), WATCH_ATOM, ACCESS_RELAXED, GPU);
}

static void atomics_of_one_cta(World *w, bool bad)
{
    atomic_of(w, at(w, 0, 0), gmem(w, 64), WATCH_ATOM, ACCESS_RELAXED, CTA);
    atomic_of(w, at(w, bad ? 1 : 0, 50), gmem(w, 64), WATCH_LD, ACCESS_RELAXED, CTA);
}

/* A read of the cluster's scope does not stand for one of the CTA's before it. */
static void reads_of_two_scopes(World *w, bool bad)
{
    atomic_of(w, at(w, 0, 0), gmem(w, 64), WATCH_LD, ACCESS_RELAXED, bad ? CTA : CLUSTER);
    atomic_of(w, at(w, 0, 0), gmem(w, 64), WATCH_LD, ACCESS_RELAXED, CLUSTER);
    atomic_of(w, at(w, 1, 0), gmem(w, 64), WATCH_ST, ACCESS_RELAXED, CLUSTER);
}

/* ---- atomics, other clusters ---- */
static void flag_with_release_and_acquire(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    atomic(w, at(w, 0, 0), gmem(w, 4096), false, true, bad ? ACCESS_RELAXED : ACCESS_RELEASE);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, false, ACCESS_ACQUIRE);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

static void flag_without_acquire(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    atomic(w, at(w, 0, 0), gmem(w, 4096), false, true, ACCESS_RELEASE);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, false, bad ? ACCESS_RELAXED : ACCESS_ACQUIRE);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

static void fences_and_relaxed_flag(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    watch_fence(&w->m, at(w, 0, 0), 2, false);
    atomic(w, at(w, 0, 0), gmem(w, 4096), true, true, ACCESS_RELAXED);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, false, ACCESS_RELAXED);
    if (!bad) watch_fence(&w->m, at(w, 2, 0), 2, false);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

static void fence_behind_the_flag(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    if (!bad) watch_fence(&w->m, at(w, 0, 0), 2, false);
    atomic(w, at(w, 0, 0), gmem(w, 4096), false, true, ACCESS_RELAXED);
    if (bad) watch_fence(&w->m, at(w, 0, 0), 2, false);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, false, ACCESS_ACQUIRE);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

/* An atomic in between goes on with the release sequence, a plain relaxed store ends it. */
static void release_sequence(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    atomic(w, at(w, 0, 0), gmem(w, 4096), false, true, ACCESS_RELEASE);
    atomic(w, at(w, 1, 0), gmem(w, 4096), !bad, true, ACCESS_RELAXED);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, false, ACCESS_ACQUIRE);
    ld(w, at(w, 2, 0), gmem(w, 4), 4);
}

/* The last of three that count up reads what all have written. */
static void counter_of_arrivals(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 4);
    atomic(w, at(w, 0, 0), gmem(w, 4096), true, true, bad ? ACCESS_ACQUIRE : ACCESS_ACQ_REL);
    st(w, at(w, 1, 0), gmem(w, 4), 4);
    atomic(w, at(w, 1, 0), gmem(w, 4096), true, true, ACCESS_ACQ_REL);
    atomic(w, at(w, 2, 0), gmem(w, 4096), true, true, ACCESS_ACQ_REL);
    ld(w, at(w, 2, 0), gmem(w, 0), 8);
}

/* Knowledge of another cluster travels on within the cluster, and back. */
static void other_clusters_by_way_of_a_barrier(World *w, bool bad)
{
    st(w, at(w, 2, 5), gmem(w, 0), 16);
    bar_sync(w, 2, 0, 0, THREADS);
    atomic(w, at(w, 2, 0), gmem(w, 4096), false, true, ACCESS_RELEASE);
    atomic(w, at(w, 0, 0), gmem(w, 4096), true, false, ACCESS_ACQUIRE);
    if (!bad) bar_sync(w, 0, 0, 0, THREADS);
    st(w, at(w, 0, 7), gmem(w, 0), 4);
    bar_sync(w, 0, 0, 0, THREADS);
    atomic(w, at(w, 0, 0), gmem(w, 8192), false, true, ACCESS_RELEASE);
    atomic(w, at(w, 2, 9), gmem(w, 8192), true, false, ACCESS_ACQUIRE);
    ld(w, at(w, 2, 9), gmem(w, 0), 16);
}

static void other_clusters_write_needs_the_fence(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    st(w, at(w, 2, 5), gmem(w, 0), 256);
    atomic(w, at(w, 2, 5), gmem(w, 4096), false, true, ACCESS_RELEASE);
    atomic(w, at(w, 0, 0), gmem(w, 4096), true, false, ACCESS_ACQUIRE);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_ASYNC_GLOBAL);
    load(w, at(w, 0, 0), gmem(w, 0), 0, 1024, 256, b);
}

static void clusters_are_concurrent(World *w, bool bad)
{
    st(w, at(w, 0, 0), gmem(w, 0), 16);
    st(w, at(w, 2, 0), gmem(w, bad ? 12 : 16), 4);
}

static void strong_operations_do_not_race(World *w, bool bad)
{
    SimLoc l = gmem(w, 64);
    watch_write(&w->m, at(w, 0, 0), &l, 4, ACCESS_RELAXED, GPU, false);
    watch_write(&w->m, at(w, 2, 0), &l, 4, bad ? ACCESS_WEAK : ACCESS_VOLATILE, SYS, false);
    watch_read(&w->m, at(w, 1, 0), &l, 4, ACCESS_RELAXED, GPU);
}

static void shared_flag(World *w, bool bad)
{
    SimLoc flag = smem(w, 0, 0);
    st(w, at(w, 0, 1), flag, 4);
    bar_sync(w, 0, 0, 0, THREADS);
    st(w, at(w, 0, 1), smem(w, 0, 64), 4);
    atomic(w, at(w, 0, 1), flag, false, true, ACCESS_RELEASE);
    atomic(w, at(w, 0, 33), flag, true, false, bad ? ACCESS_VOLATILE : ACCESS_ACQUIRE);
    ld(w, at(w, 0, 33), smem(w, 0, 64), 4);
}

static void one_way_fence_to_the_async_proxy(World *w, bool bad)
{
    st(w, at(w, 0, 0), smem(w, 0, 1024), 256);
    if (!bad) fence(w, at(w, 0, 0), FORM_FENCE_GENERIC_RELEASE);
    store(w, at(w, 0, 0), 1024, 0, 256);
}

/* complete_tx and expect_tx of a peer end with the phase too. */
static void exit_under_remote_complete_tx(World *w, bool bad)
{
    SimBarrier *b = ready(w, 0, 0);
    watch_mbar_use(&w->m, at(w, 1, 0), &w->cta[0], b);
    phase(w, 0, b);
    if (!bad) wait(w, at(w, 0, 63), b, CTA_SCOPE);
    exit_cta(w, 0);
}

/* A multicast read of global memory is over when any of its destinations is complete. */
static void source_of_a_multicast(World *w, bool bad)
{
    SimBarrier *b[2] = {ready(w, 0, 0), ready(w, 1, 0)};
    SimThread *t = at(w, 0, 0);
    SimLoc from = gmem(w, 0);
    WatchCopy *c = watch_copy(&w->m, t, false, false);
    for (uint32_t i = 0; i < 2; i++) watch_copy_barrier(&w->m, t, c, &w->cta[i], b[i]);
    watch_copy_read(&w->m, t, c, &from, 128);
    for (uint32_t i = 0; i < 2; i++) {
        SimLoc to = smem(w, i, 1024);
        watch_copy_write(&w->m, t, c, &to, 128, b[i]);
    }
    watch_copy_issued(&w->m, t, c);
    for (uint32_t i = 0; i < 2; i++) phase(w, i, b[i]);
    if (!bad) wait(w, at(w, 1, 5), b[1], CTA_SCOPE);
    st(w, at(w, 1, 5), gmem(w, 16), 4);
}

/* Completion on the peer's barrier says nothing of the own destination's. */
static void destination_of_a_multicast(World *w, bool bad)
{
    SimBarrier *b[2] = {ready(w, 0, 0), ready(w, 1, 0)};
    SimThread *t = at(w, 0, 0);
    WatchCopy *c = watch_copy(&w->m, t, false, false);
    for (uint32_t i = 0; i < 2; i++) watch_copy_barrier(&w->m, t, c, &w->cta[i], b[i]);
    for (uint32_t i = 0; i < 2; i++) {
        SimLoc to = smem(w, i, 1024);
        watch_copy_write(&w->m, t, c, &to, 128, b[i]);
    }
    watch_copy_issued(&w->m, t, c);
    for (uint32_t i = 0; i < 2; i++) phase(w, i, b[i]);
    wait(w, at(w, 0, 5), b[0], CTA_SCOPE);
    if (!bad) wait(w, at(w, 1, 5), b[1], CTA_SCOPE);
    cluster_sync(w, bad);
    ld(w, at(w, 1, 5), smem(w, 1, 1024), 4);
}

static const Case cases[] = {
    CASE(remote_start, E1310),
    CASE(remote_arrival_before_start, E1310),
    CASE(multicast_before_start, E1310),
    CASE(remote_write_needs_cluster_scope, E1315),
    CASE(wait_needs_cluster_scope_for_remote_writes, E1329),
    CASE(multicast_data, E1303),
    CASE(fence_of_the_own_memory_for_a_remote_write, E1306),
    CASE(peer_copy_source, E1304),
    CASE(exit_under_remote_access, E1311),
    CASE(exit_under_remote_arrival, E1311),
    CASE(exit_before_the_copy_was_seen, E1317),
    CASE(exit_of_the_source_of_a_peer_copy, E1311),
    CASE(exit_before_bulk_reads_are_over, E1312),
    CASE(exit_with_an_open_group, E1312),
    CASE(exited_threads_count_for_the_cluster_barrier, E1311),
    CASE(flag_with_release_and_acquire, E1315),
    CASE(flag_without_acquire, E1315),
    CASE(fences_and_relaxed_flag, E1315),
    CASE(fence_behind_the_flag, E1315),
    CASE(release_sequence, E1315),
    CASE(counter_of_arrivals, E1315),
    CASE(other_clusters_by_way_of_a_barrier, E1315),
    CASE(other_clusters_write_needs_the_fence, E1306),
    CASE(clusters_are_concurrent, E1315),
    CASE(strong_operations_do_not_race, E1315),
    CASE(shared_flag, E1315),
    CASE(one_way_fence_to_the_async_proxy, E1306),
    CASE(exit_under_remote_complete_tx, E1311),
    CASE(exit_behind_a_relaxed_barrier_and_stores, E1311),
    CASE(exit_behind_a_relaxed_barrier_and_arrivals, E1311),
    CASE(exit_behind_a_relaxed_barrier_and_atomics, E1311),
    CASE(exit_behind_a_fence_and_a_relaxed_barrier, E1311),
    CASE(exit_behind_a_relaxed_flag, E1311),
    CASE(exit_behind_a_remote_flag, E1311),
    CASE(exit_behind_a_reduction, E1311),
    CASE(async_stores_to_the_same_word, E1304),
    CASE(release_of_the_cta, E1315),
    CASE(acquire_of_the_cta, E1315),
    CASE(release_of_the_cluster, E1315),
    CASE(acquire_of_the_cluster, E1315),
    CASE(scope_of_the_releasing_fence, E1315),
    CASE(scope_of_the_acquiring_fence, E1315),
    CASE(fences_of_two_scopes, E1315),
    CASE(store_behind_a_release_of_the_same_thread, E1315),
    CASE(smaller_parts_end_with_the_sequence, E1315),
    CASE(atomics_of_two_ctas, E1315),
    CASE(atomics_of_two_clusters, E1315),
    CASE(atomics_of_one_cta, E1315),
    CASE(reads_of_two_scopes, E1315),
    CASE(source_of_a_multicast, E1304),
    CASE(destination_of_a_multicast, E1303),
};

int main(void)
{
    return run_all(cases, sizeof cases / sizeof *cases, NULL, 0);
}
