/* The emitter, second half: who runs what, and the ops of roles, lanes and clusters. Kernels are IR text. */
#include "ptx_bench.h"

#define HEAD(threads, cluster)                                                                                         \
    "module sm_90a\n"                                                                                                  \
    "kernel k entry k {\n"                                                                                             \
    "  sym N size\n"                                                                                                   \
    "  tensor a f32 [N, 32] stride [32, 1] read written align 16\n"                                                    \
    "  arg tensor a\n"                                                                                                 \
    "  map m = a tiled f32 offset 0 dim [N, 32] pitch [128, 4] box [8, 32] load store\n"                               \
    "  map i = a im2col f32 offset 0 dim [N, 4, 8] pitch [128, 32, 4] box [1, 1, 8] channels 8 pixels 8 store\n"       \
    "  param map m\n  param map i\n  param address a\n  param value N\n  param counter\n  param hints\n"               \
    "  grid 4, 1, 1\n  cluster " cluster "\n  threads " threads "\n  smem 4096\n"                                      \
    "  buf t bytes 1152 align 128 slots 2 pitch 1152 at 0\n"                                                           \
    "  buf cell bytes 8 align 8 slots 2 pitch 8 at 2560\n"                                                             \
    "  bar full slots 1 count 1 at 2576\n"                                                                             \
    "  policy p = evict_last fraction 1 by_traffic\n  policy q = evict_first fraction 1\n"                             \
    "  var v i32\n"
#define ONE "1, 1, 1"
#define FOUR "4, 1, 1"
#define BAR "    elect bar.init full, 1\n    elect fence.mbar_init\n"

/* What must stand there line after line, and that nothing of `not` does. */
static void expect_text(Bench *b, const char *kernel, const char *const *want, const char * not )
{
    read_kernel(b, kernel);
    Emitted e = emit(b);
    char *body = arena_strdup(&b->arena, e.text, (size_t)(strstr(e.text, "tile_manifest") - e.text));
    const char *at = body;
    for (; *want; want++) {
        const char *found = strstr(at, *want);
        if (found == NULL) print_error("lacks, in its place: %s\n%s\n", *want, at);
        assert_non_null(found);
        at = found + strlen(*want);
    }
    if (not &&strstr(body, not )) print_error("%s\nhas: %s\n", body, not );
    assert_true(not == NULL || strstr(body, not ) == NULL);
    ptx_free(e.w);
    assemble_all(b);
}
#define EXPECT(b, not, kernel, ...) expect_text(b, kernel, (const char *const[]){__VA_ARGS__, NULL}, not )

/* A role of one thread whose init and exit need nobody else: all others leave at once. */
static void test_lone_role(void **state)
{
    EXPECT(*state, "$role_",
           HEAD("64", ONE) "  init {\n" BAR "  }\n"
                           "  role main warps 1 elect {\n    bar.arrive full\n  }\n"
                           "  exit {\n    elect bar.wait full, 0\n  }\n}\n",
           "    setp.gt.u32 %p0, %r0, 31;\n    @%p0 bra $leave_0;\n    elect.sync _|%p1, 0xffffffff;\n"
           "    @!%p1 bra $leave_0;\n",
           "    mbarrier.init.shared::cta.b64 [%r1+2576], 1;\n    fence.mbarrier_init.release.cluster;\n"
           "    mbarrier.arrive.shared::cta.b64 _, [%r1+2576];\n$wait_full_1:\n",
           "$leave_0:\n    ret;\n");
}

/* The same with synchronisation: all threads come to init and exit, the lanes of the first warp one by one. */
static void test_init_and_exit(void **state)
{
    EXPECT(*state, NULL,
           HEAD("64", FOUR) "  init {\n" BAR "    cluster.arrive relaxed\n    cluster.wait\n    cta.sync 3, 64\n  }\n"
                            "  role main warps 1 elect {\n    bar.arrive full\n  }\n"
                            "  exit {\n    cta.sync 4, 64\n    cluster.arrive release\n    cluster.wait\n"
                            "    elect grp.wait 1 read\n  }\n}\n",
           "    mov.u32 %r0, %tid.x;\n    shr.u32 %r0, %r0, 5;\n",
           "    elect.sync _|%p1, 0xffffffff;\n    setp.eq.u32 %p2, %r0, 0;\n    and.pred %p1, %p1, %p2;\n"
           "    @%p1 mbarrier.init.shared::cta.b64 [%r1+2576], 1;\n    @%p1 fence.mbarrier_init.release.cluster;\n"
           "    barrier.cluster.arrive.relaxed;\n    barrier.cluster.wait.acquire;\n"
           "    barrier.sync.aligned 3, 64;\n"
           "    setp.ge.u32 %p3, %r0, 1;\n    @%p3 bra $leave_0;\n$role_main_1:\n    @!%p1 bra $leave_0;\n"
           "    mbarrier.arrive.shared::cta.b64 _, [%r1+2576];\n$leave_0:\n    barrier.sync 4, 64;\n"
           "    barrier.cluster.arrive.release;\n    barrier.cluster.wait.acquire;\n"
           "    @%p1 cp.async.bulk.wait_group.read 1;\n    ret;\n");
}

/* Roles by their warps, in order; warps without a role leave. */
static void test_dispatch(void **state)
{
    EXPECT(
        *state, NULL,
        HEAD("256", ONE) "  init {\n" BAR "    cta.sync 0, 256\n  }\n"
                         "  role \"work it\" warps 4 {\n    elect bar.arrive full\n    bar.wait full, 0\n  }\n"
                         "  role all warps 1 {\n    warp.sync\n  }\n"
                         "  role two warps 2 elect {\n    bar.arrive full\n  }\n}\n",
        "    setp.ge.u32 %p3, %r0, 4;\n    @%p3 bra $after_work_it_1;\n$role_work_it_1:\n"
        "    @%p1 mbarrier.arrive.shared::cta.b64 _, [%r1+2576];\n$wait_full_2:\n",
        "    bra $leave_0;\n$after_work_it_1:\n    setp.ge.u32 %p5, %r0, 5;\n    @%p5 bra $after_all_3;\n$role_all_3:\n"
        "    bar.warp.sync 0xffffffff;\n    bra $leave_0;\n$after_all_3:\n"
        "    setp.ge.u32 %p6, %r0, 7;\n    @%p6 bra $leave_0;\n$role_two_4:\n    elect.sync _|%p7, 0xffffffff;\n"
        "    setp.eq.u32 %p8, %r0, 5;\n    and.pred %p7, %p7, %p8;\n    @!%p7 bra $leave_0;\n");
}

/* Where all warps have a role the last one needs no test, and a kernel of one warp no index of it. */
static void test_one_warp(void **state)
{
    EXPECT(*state, "%tid",
           HEAD("32", ONE) "  role all warps 1 {\n    elect bar.init full, 1\n    %n = param.i64 N\n"
                           "    %some = cmp gt %n, 0\n    warp.sync\n    @%some elect bar.arrive full\n  }\n}\n",
           "$role_all_1:\n    elect.sync _|%p1, 0xffffffff;\n    @%p1 mbarrier.init",
           "    setp.gt.s64 %p2, %rd7, 0;\n    bar.warp.sync 0xffffffff;\n    and.pred %p3, %p2, %p1;\n"
           "    @%p3 mbarrier.arrive");
}

static void test_lanes(void **state)
{
#define LANES(n)                                                                                                       \
    "    %i" n " = lanes " n "\n      %x" n " = cvt.i64 %i" n "\n      %at" n " = mul.i64 %x" n ", 16\n"               \
    "      %to" n " = gaddr a, %at" n "\n      blk.store t -> %to" n ", bytes 16\n    end\n"
    EXPECT(*state, NULL,
           HEAD("32", ONE) "  role rows warps 1 {\n    elect bar.init full, 1\n" LANES("8") LANES("32") LANES("40")
               LANES("64") "    grp.commit\n    grp.wait 0 full\n  }\n}\n",
           "    mov.u32 %r0, %laneid;\n",
           "    mov.b32 %r2, %r0;\n    setp.ge.s32 %p2, %r2, 8;\n    @%p2 bra $done_i8_2;\n    cvt.s64.s32",
           "[%r1], 16;\n$done_i8_2:\n    mov.b32 %r3, %r0;\n    cvt.s64.s32",
           "[%r1], 16;\n    mov.b32 %r4, %r0;\n$lanes_i40_4:\n",
           "    add.s32 %r4, %r4, 32;\n    setp.lt.s32 %p3, %r4, 40;\n    @%p3 bra $lanes_i40_4;\n$done_i40_4:\n",
           "    setp.lt.s32 %p4, %r5, 64;\n", "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n");
#undef LANES
}

/* A break leaves its own repeat; lanes of what is elected draw nothing. */
static void test_tickets(void **state)
{
    EXPECT(*state, NULL,
           HEAD("32",
                ONE) "  role draw warps 1 {\n    elect bar.init full, 1\n    %n = param.i64 N\n    repeat\n"
                     "      %i = loop.i32 0 .. 3\n        repeat\n          elect %t = ticket.next 8\n"
                     "          elect st.shared cell[%i], %t\n          warp.sync\n          %u = ld.shared cell[1]\n"
                     "          %end = cmp ge %u, %n\n          break %end\n        end\n      end\n"
                     "      elect %w = ticket.next %n\n      elect st.shared cell[0], %w\n      warp.sync\n"
                     "      %z = ld.shared cell\n      %last = cmp ge %z, 3\n      break %last\n    end\n  }\n}\n",
           "    ld.param.b64 %rd3, [param_4];\n    cvta.to.global.u64 %rd3, %rd3;\n", "$repeat_2:\n",
           "$loop_i_3:\n$repeat_4:\n    mov.b64 ", ", -1;\n    @%p1 atom.relaxed.gpu.global.inc.u32 ",
           ", [%rd3], 7;\n    @%p1 cvt.u64.u32 ", "    @%p1 st.shared.b64 [", "+2560], ", "    ld.shared.b64 ",
           ", [%r0+2568];\n", " bra $done_4;\n    bra $repeat_4;\n$done_4:\n", " bra $loop_i_3;\n$done_i_3:\n",
           ", -1;\n", " bra $done_2;\n    bra $repeat_2;\n$done_2:\n");
}

/* Scalars of the elected thread: loads and settings are its own, what is pure all may do. */
static void test_elected_scalars(void **state)
{
    EXPECT(*state, NULL,
           HEAD("32", ONE) "  tensor idx s32 [N] stride [1] read align 16\n  arg tensor idx\n  param address idx\n"
                           "  role draw warps 1 {\n    elect bar.init full, 1\n    var v = 7\n"
                           "    %n = param.i64 N\n    %some = cmp gt %n, 2\n    @%some elect %x = ld.scalar idx, 8\n"
                           "    elect %y = cvt.i32 %x\n    elect set v = %y\n    @%some elect set v = 3\n"
                           "    elect %z = get.i32 v\n    elect %w = cvt.i64 %z\n    elect st.shared cell[1], %w\n"
                           "    elect fence.async shared\n  }\n}\n",
           "    mov.b32 %r1, 7;\n", "    and.pred %p3, %p2, %p1;\n", ", -1;\n    @%p3 ld.global.nc.s32 ",
           "    @%p1 mov.b32 %r1, %r2;\n    and.pred %p4, %p2, %p1;\n    @%p4 mov.b32 %r1, 3;\n",
           "    @%p1 st.shared.b64 [%r0+2568], ", "    @%p1 fence.proxy.async.shared::cta;\n");
}

static void test_cluster_ops(void **state)
{
    EXPECT(*state, NULL,
           HEAD("32", FOUR) "  role move warps 1 elect {\n    bar.init full, 1\n    fence.mbar_init\n"
                            "    %r = sreg cluster_ctarank\n    %n = param.i64 N\n    pol.create p\n    pol.create q\n"
                            "    %x = gaddr a, 0\n"
                            "    tma.load m [0, 0] -> t[1], full, bytes 1024, rank %r, pol p\n"
                            "    tma.load m [0, 0] -> t[%r]+128, full, bytes 1024, rank 3\n"
                            "    tma.load m [0, 0] -> t, full, bytes 1024, mask %r, pol q\n"
                            "    blk.load %x -> t, bytes 16, full, rank 2\n"
                            "    blk.load %x -> t, bytes 16, full, mask 9, pol p\n"
                            "    blk.peer t[0] -> t[1], bytes 32, full, rank 1\n"
                            "    blk.reduce_peer xor s32, t[0] -> t[1], bytes 32, full, rank 1\n"
                            "    blk.reduce_peer min u32, t[0] -> t[1], bytes 32, full, rank 1\n"
                            "    st.async 7 -> cell[1], full, rank 1\n"
                            "    bar.arrive full, rank %r\n    fence.acqrel cluster\n"
                            "    bar.wait full, 0, scope cluster\n  }\n}\n",
           "    createpolicy.fractional.L2::evict_last.b64 %rd5, 0f3F800000;\n"
           "    createpolicy.fractional.L2::evict_unchanged.b64 %rd8, 0f3F800000;\n    selp.b64 %rd5, %rd5, %rd8, %p1;\n"
           "    createpolicy.fractional.L2::evict_first.b64 %rd6, 0f3F800000;\n",
           "    mapa.shared::cluster.u32 %r2, %r0, %r1;\n"
           "    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
           "[%r2+1152], [%rd0, {0, 0}], [%r2+2576], %rd5;\n",
           "    mapa.shared::cluster.u32 %r4, %r3, 3;\n    mapa.shared::cluster.u32 %r5, %r0, 3;\n"
           "    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4+128], "
           "[%rd0, {0, 0}], [%r5+2576];\n",
           "    cvt.u16.u32 %h0, %r1;\n",
           "::bytes.multicast::cluster.L2::cache_hint [%r0], [%rd0, {0, 0}], [%r0+2576], %h0, %rd6;\n",
           "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd9], 16, [%r6+2576];\n",
           "::bytes.multicast::cluster.L2::cache_hint [%r0], [%rd9], 16, [%r0+2576], 9, %rd5;\n",
           "    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7+1152], [%r0], 32, "
           "[%r7+2576];\n",
           "    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32 [",
           "bytes.min.u32 [",
           "    st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r10+2568], %rd10, [%r10+2576];\n",
           "    mbarrier.arrive.shared::cluster.b64 _, [%r11+2576];\n    fence.acq_rel.cluster;\n",
           "    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ");
}

static void test_reductions(void **state)
{
    EXPECT(*state, NULL,
           HEAD("32",
                ONE) "  role move warps 1 elect {\n    bar.init full, 1\n    pol.create q\n    %x = gaddr a, 0\n"
                     "    blk.reduce add bf16, t -> %x, bytes 16\n    blk.reduce add f16, t -> %x, bytes 16\n"
                     "    blk.reduce min bf16, t -> %x, bytes 16\n    blk.reduce add f32, t -> %x, bytes 16, pol q\n"
                     "    blk.reduce and u64, t -> %x, bytes 16\n    blk.reduce max s64, t -> %x, bytes 16 any_order\n"
                     "    tma.reduce add m [0, 0], t, bytes 1024\n    tma.reduce add i [0, 0, 0], t, bytes 256, pol q\n"
                     "    tma.prefetch m [0, 8]\n    blk.prefetch %x, bytes 64, pol q\n    grp.commit\n  }\n}\n",
           ".bulk_group.add.noftz.bf16 [%rd7], [%r0], 16;\n", ".bulk_group.add.noftz.f16 [", ".bulk_group.min.bf16 [",
           ".bulk_group.L2::cache_hint.add.f32 [%rd7], [%r0], 16, %rd6;\n", ".bulk_group.and.b64 [",
           "$any_order_1:\n    cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s64 [",
           "    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd0, {0, 0}], [%r0];\n",
           "    cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group.L2::cache_hint [",
           "    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, {8, 0}];\n",
           "    cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd7], 64, %rd6;\n");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_lone_role), T(test_init_and_exit), T(test_dispatch),   T(test_one_warp),        T(test_lanes),
        T(test_tickets),   T(test_cluster_ops),   T(test_reductions), T(test_elected_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
