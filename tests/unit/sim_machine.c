/* The simulated machine as a whole: PTX texts are read, decoded and run, and what they leave in memory is compared
 * with plain reference code; programs that go wrong are named by what is wrong with them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/machine.h"

/* ---- a small device: one module, its memory, its launches ---- */
enum { PARAMS = 8 };
typedef struct World {
    Mem mem;
    Arena arena;
    jmp_buf fail;
    SimMemory memory;
    SimModule *module;
    SimBlock *globals[8];
    SimOptions opt;
    SimLaunch launch;
    uint64_t param[PARAMS];
    uint64_t seed;
    SimOutcome out;
} World;

static void show_problem(void *user, uint32_t line, const char *text)
{
    (void)user;
    print_error("PTX line %u: %s\n", (unsigned)line, text);
}

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"

static void world_read(World *w, const char *ptx)
{
    uint32_t problems = 0;
    const PtxModule *m = ptx_read(&w->arena, ptx, strlen(ptx), show_problem, NULL, &problems);
    assert_non_null(m);
    assert_int_equal(problems, 0);
    w->module = sim_decode(&w->arena, m, show_problem, NULL, &problems);
    assert_int_equal(problems, 0);
    assert_non_null(w->module);
    assert_true(w->module->nglobals <= 8);
    for (uint32_t i = 0; i < w->module->nglobals; i++) {
        const SimGlobal *g = &w->module->globals[i];
        w->globals[i] = sim_alloc(&w->memory, g->bytes);
        assert_non_null(w->globals[i]);
        if (g->init) memcpy(w->globals[i]->data, g->init, (size_t)g->bytes);
        w->globals[i]->read_only = g->is_const;
    }
}

static World *world_open(const char *ptx)
{
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->mem.fail = &w->fail;
    arena_init(&w->arena, &w->mem);
    sim_memory_init(&w->memory, UINT64_C(1) << 28);
    if (setjmp(w->fail)) fail_msg("out of memory");
    world_read(w, ptx);
    w->opt = (SimOptions){.mode = SIM_FAST, .max_steps = 20000000, .max_bytes = 1 << 28, .max_seconds = 60};
    w->launch = (SimLaunch){.module = w->module,
                            .program = w->module->programs[0],
                            .grid = {1, 1, 1},
                            .cluster = {1, 1, 1},
                            .threads = 32,
                            .params = (const uint8_t *)w->param,
                            .globals = w->globals};
    return w;
}

static void world_close(World *w)
{
    arena_free(&w->arena);
    sim_memory_free(&w->memory);
    free(w);
}

static uint32_t *buffer(World *w, int param, uint32_t words)
{
    SimBlock *b = sim_alloc(&w->memory, (uint64_t)words * 4);
    assert_non_null(b);
    w->param[param] = b->address;
    return (uint32_t *)(void *)b->data;
}

static const SimOutcome *run(World *w)
{
    sim_run(&w->launch, &w->memory, &w->opt, w->seed, &w->out);
    return &w->out;
}

static void runs(World *w)
{
    if (!run(w)->ok) fail_msg("seed %" PRIu64 ": %s", w->seed, w->out.text);
}

static void finds(World *w, ErrorCode code, const char *words)
{
    run(w);
    if (getenv("SIM_SHOW")) print_message("%s\n", w->out.text);
    if (w->out.ok) fail_msg("no finding, but %s was expected", error_info(code)->code);
    if (w->out.code != code || !strstr(w->out.text, words))
        fail_msg("%s expected, with '%s'; got %s: %s", error_info(code)->code, words, error_info(w->out.code)->code,
                 w->out.text);
    assert_non_null(strstr(w->out.text, error_info(code)->rule));
    assert_non_null(strstr(w->out.text, w->launch.program->name));
}

/* Fast, and under many seeds. `check` looks at the buffers, which are cleared before each run. */
static void runs_under_seeds(World *w, int seeds, uint32_t *clear, uint32_t words, void (*check)(World *, uint32_t *))
{
    for (int seed = -1; seed < seeds; seed++) {
        w->opt.mode = seed < 0 ? SIM_FAST : SIM_CHECK;
        w->seed = (uint64_t)seed;
        if (clear) memset(clear, 0, words * sizeof *clear);
        runs(w);
        check(w, clear);
    }
}

/* ---- arithmetic and control ---- */
#define OUT_PROLOGUE                                                                                                   \
    ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n"                                                       \
    "ld.param.u64 %rd1, [p_out];\ncvta.to.global.u64 %rd1, %rd1;\n"                                                    \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                                            \
    "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"

static void check_sums(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k <= i; k++) sum += k * k + 3;
        assert_int_equal(out[i], sum);
    }
}

static void loops_and_sums(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry sums(.param .u64 p_out)\n{\n" OUT_PROLOGUE
                               "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
                               "again:\n"
                               "mad.lo.u32 %r6, %r5, %r5, %r6;\nadd.u32 %r6, %r6, 3;\nadd.u32 %r5, %r5, 1;\n"
                               "setp.le.u32 %p1, %r5, %r4;\n@%p1 bra again;\n"
                               "st.global.u32 [%rd3], %r6;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 128);
    w->launch.grid[0] = 4;
    runs_under_seeds(w, 20, out, 128, check_sums);
    assert_int_equal(w->out.stats.clusters, 4);
    world_close(w);
}

static void check_branches(World *w, uint32_t *out)
{
    (void)w;
    static const uint32_t expected[4] = {100, 207, 300, 407};
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], expected[i % 4]);
}

static void branches_by_table_and_guard(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry table(.param .u64 p_out)\n{\n" OUT_PROLOGUE "and.b32 %r5, %r1, 3;\n"
                               "targets: .branchtargets L0, L1, L2, L3;\n"
                               "brx.idx %r5, targets;\n"
                               "L0: mov.u32 %r6, 100;\nbra.uni join;\nL1: mov.u32 %r6, 200;\nbra.uni join;\n"
                               "L2: mov.u32 %r6, 300;\nbra.uni join;\nL3: mov.u32 %r6, 400;\n"
                               "join:\n"
                               "and.b32 %r7, %r1, 1;\nsetp.eq.u32 %p1, %r7, 0;\n@!%p1 add.u32 %r6, %r6, 7;\n"
                               "st.global.u32 [%rd3], %r6;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 32);
    runs_under_seeds(w, 8, out, 32, check_branches);
    world_close(w);
}

static void check_local(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(out[i], 7 - i % 8 + 10 * i);
}

static void local_memory_is_each_threads_own(void **state)
{
    (void)state;
    World *w = world_open(HEAD
                          ".visible .entry local(.param .u64 p_out)\n{\n.local .align 4 .b8 depot[32];\n" OUT_PROLOGUE
                          "mov.u64 %rd4, depot;\nmov.u32 %r5, 0;\nmul.lo.u32 %r9, %r4, 10;\n"
                          "fill:\n"
                          "mul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd4, %rd5;\nsub.u32 %r6, 7, %r5;\n"
                          "add.u32 %r6, %r6, %r9;\nst.local.u32 [%rd6], %r6;\nadd.u32 %r5, %r5, 1;\n"
                          "setp.lt.u32 %p1, %r5, 8;\n@%p1 bra fill;\n"
                          "and.b32 %r7, %r1, 7;\nmul.wide.u32 %rd7, %r7, 4;\ncvta.local.u64 %rd8, %rd4;\n"
                          "add.s64 %rd8, %rd8, %rd7;\nld.u32 %r8, [%rd8];\n" /* generic */
                          "st.global.u32 [%rd3], %r8;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 64);
    w->launch.threads = 64;
    runs_under_seeds(w, 8, out, 64, check_local);
    world_close(w);
}

static void check_vectors(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(out[i], (i ^ 3) + 5);
}

static void vectors_and_signs(void **state)
{
    (void)state;
    World *w = world_open(
        HEAD ".visible .entry vectors(.param .u64 p_out, .param .u64 p_in)\n{\n.reg .b16 %h<4>;\n" OUT_PROLOGUE
             "ld.param.u64 %rd4, [p_in];\nmul.wide.u32 %rd5, %r1, 16;\nadd.s64 %rd4, %rd4, %rd5;\n"
             "add.s64 %rd6, %rd1, %rd5;\n"
             "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd4];\n"
             "ld.global.s8 %r9, [%rd4+64];\n" /* -5 */
             "sub.s32 %r5, %r5, %r9;\nsub.s32 %r6, %r6, %r9;\nsub.s32 %r7, %r7, %r9;\nsub.s32 %r8, %r8, %r9;\n"
             "st.global.v4.u32 [%rd6], {%r8, %r7, %r6, %r5};\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 16), *in = buffer(w, 1, 32);
    for (uint32_t i = 0; i < 16; i++) in[i] = i;
    for (uint32_t i = 16; i < 32; i++) in[i] = 0xFB;
    w->launch.threads = 4;
    runs_under_seeds(w, 4, out, 16, check_vectors);
    world_close(w);
}

/* ---- several threads ---- */
static void check_atomics(World *w, uint32_t *out)
{
    (void)w;
    uint32_t seen = 0;
    assert_int_equal(out[0], 256);
    assert_int_equal(out[1], 255);
    assert_int_equal(out[2], 256);     /* by compare and swap */
    assert_int_equal(out[3], 255 % 8); /* inc wraps at 7: 256 = 32 times around gives 0 */
    for (uint32_t i = 0; i < 256; i++) seen += out[8 + i];
    assert_int_equal(seen, 256); /* every old value once */
    for (uint32_t i = 0; i < 256; i++) assert_int_equal(out[8 + i], 1);
}

static void atomics_of_many_threads(void **state)
{
    (void)state;
    World *w = world_open(
        HEAD ".visible .entry atomics(.param .u64 p_out)\n{\n" OUT_PROLOGUE "atom.global.add.u32 %r5, [%rd1], 1;\n"
             "mul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd4, %rd1, %rd4;\nred.global.add.u32 [%rd4+32], 1;\n"
             "red.global.max.u32 [%rd1+4], %r4;\n"
             "setp.eq.u32 %p2, %r4, 0;\n@!%p2 atom.global.inc.u32 %r10, [%rd1+12], 7;\n" /* 255 times */
             "again: ld.relaxed.gpu.global.u32 %r6, [%rd1+8];\nadd.u32 %r7, %r6, 1;\n"
             "atom.global.cas.b32 %r8, [%rd1+8], %r6, %r7;\nsetp.ne.u32 %p1, %r8, %r6;\n@%p1 bra again;\n"
             "ret;\n}\n");
    uint32_t *out = buffer(w, 0, 8 + 256);
    w->launch.threads = 64;
    w->launch.grid[0] = 4;
    runs_under_seeds(w, 16, out, 8 + 256, check_atomics);
    world_close(w);
}

static void check_shared(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 256; i++) assert_int_equal(out[i], i / 128 * 128 + 127 - i % 128 + 9);
}

static const char REVERSE[] = HEAD
    ".extern .shared .align 16 .b8 dynamic[];\n.visible .entry reverse(.param .u64 p_out)\n{\n"
    ".shared .align 4 .b8 tile[512];\n" OUT_PROLOGUE
    "mul.lo.u32 %r5, %r1, 4;\nmov.u32 %r6, tile;\nadd.u32 %r7, %r6, %r5;\n"
    "mov.u32 %r12, dynamic;\nadd.u32 %r12, %r12, %r5;\nmov.u32 %r13, 9;\nst.shared.u32 [%r12], %r13;\n"
    "st.shared.u32 [%r7], %r4;\nbar.sync 0;\n"
    "sub.u32 %r8, 508, %r5;\nadd.u32 %r8, %r6, %r8;\nld.shared.u32 %r9, [%r8];\n"
    "ld.shared.u32 %r14, [%r12];\nadd.u32 %r9, %r9, %r14;\n"
    "st.global.u32 [%rd3], %r9;\nret;\n}\n";

static void shared_memory_and_bar_sync(void **state)
{
    (void)state;
    World *w = world_open(REVERSE);
    uint32_t *out = buffer(w, 0, 256);
    w->launch.threads = 128;
    w->launch.smem = 512;
    w->launch.grid[0] = 2;
    runs_under_seeds(w, 24, out, 256, check_shared);
    world_close(w);
}

static void check_chain(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(out[i], 40 - i);
}

/* CTA i waits for CTA i + 1: the first ones spin until all are there. */
static void a_flag_that_a_later_cta_sets(void **state)
{
    (void)state;
    World *w = world_open(HEAD
                          ".visible .entry chain(.param .u64 p_out)\n{\n" OUT_PROLOGUE
                          "mov.u32 %r5, %nctaid.x;\nsub.u32 %r6, %r5, 1;\nmov.u32 %r7, 1;\n"
                          "setp.eq.u32 %p1, %r2, %r6;\n@%p1 bra set;\n"
                          "spin: ld.acquire.gpu.global.u32 %r8, [%rd3+4];\nsetp.eq.u32 %p2, %r8, 0;\n@%p2 bra spin;\n"
                          "add.u32 %r7, %r8, 1;\n"
                          "set: st.release.gpu.global.u32 [%rd3], %r7;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 40);
    w->launch.threads = 1;
    w->launch.grid[0] = 40;
    runs_under_seeds(w, 6, out, 40, check_chain);
    world_close(w);
}

static void check_ids(World *w, uint32_t *out)
{
    /* grid 4 x 6 x 1 of clusters 2 x 3: each CTA writes where its grid position leads */
    for (uint32_t y = 0; y < 6; y++)
        for (uint32_t x = 0; x < 4; x++) {
            const uint32_t *at = out + (y * 4 + x) * 8;
            assert_int_equal(at[0], x / 2 + 10 * (y / 3));
            assert_int_equal(at[1], x % 2 + 10 * (y % 3));
            assert_int_equal(at[2], x % 2 + 2 * (y % 3)); /* rank: x fastest */
            assert_int_equal(at[3], 6);
            assert_int_equal(at[4], 2 + 10 * 2);
            assert_int_equal(at[5], 4 + 10 * 6);
            assert_int_equal(at[6], 33 % 32 + 10 * 1);
            assert_int_equal(at[7], 48);
        }
    assert_int_equal(w->out.stats.clusters, 4);
}

static void special_registers(void **state)
{
    (void)state;
    World *w = world_open(
        HEAD ".visible .entry ids(.param .u64 p_out)\n{\n" OUT_PROLOGUE "setp.ne.u32 %p1, %r1, 33;\n@%p1 ret;\n"
             "mov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %nctaid.x;\nmad.lo.u32 %r7, %r5, %r6, %r2;\n"
             "mul.wide.u32 %rd4, %r7, 32;\nadd.s64 %rd4, %rd1, %rd4;\n"
             "mov.u32 %r8, %clusterid.x;\nmov.u32 %r9, %clusterid.y;\nmad.lo.u32 %r8, %r9, 10, %r8;\n"
             "st.global.u32 [%rd4], %r8;\n"
             "mov.u32 %r8, %cluster_ctaid.x;\nmov.u32 %r9, %cluster_ctaid.y;\nmad.lo.u32 %r8, %r9, 10, %r8;\n"
             "st.global.u32 [%rd4+4], %r8;\n"
             "mov.u32 %r8, %cluster_ctarank;\nst.global.u32 [%rd4+8], %r8;\n"
             "mov.u32 %r8, %cluster_nctarank;\nst.global.u32 [%rd4+12], %r8;\n"
             "mov.u32 %r8, %nclusterid.x;\nmov.u32 %r9, %nclusterid.y;\nmad.lo.u32 %r8, %r9, 10, %r8;\n"
             "st.global.u32 [%rd4+16], %r8;\n"
             "mov.u32 %r8, %nctaid.x;\nmov.u32 %r9, %nctaid.y;\nmad.lo.u32 %r8, %r9, 10, %r8;\n"
             "st.global.u32 [%rd4+20], %r8;\n"
             "mov.u32 %r8, %laneid;\nmov.u32 %r9, %warpid;\nmad.lo.u32 %r8, %r9, 10, %r8;\n"
             "st.global.u32 [%rd4+24], %r8;\n"
             "mov.u32 %r8, %ntid.x;\nst.global.u32 [%rd4+28], %r8;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 24 * 8);
    w->launch.threads = 48;
    w->launch.grid[0] = 4;
    w->launch.grid[1] = 6;
    w->launch.cluster[0] = 2;
    w->launch.cluster[1] = 3;
    runs_under_seeds(w, 6, out, 24 * 8, check_ids);
    world_close(w);
}

static void check_ring(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], i / 4 * 4 + (i + 3) % 4 + 1000);
}

/* Each CTA writes into its right neighbour's shared memory, between two cluster barriers. */
static void peers_in_a_cluster(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry ring(.param .u64 p_out)\n{\n.shared .align 4 .b8 box[4];\n" OUT_PROLOGUE
                               "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                               "mov.u32 %r5, %cluster_ctarank;\nadd.u32 %r6, %r5, 1;\nand.b32 %r6, %r6, 3;\n"
                               "mov.u32 %r7, box;\nmapa.shared::cluster.u32 %r8, %r7, %r6;\nadd.u32 %r9, %r2, 1000;\n"
                               "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared::cluster.u32 [%r8], %r9;\n"
                               "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                               "ld.shared.u32 %r10, [%r7];\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd4, %rd1, %rd4;\n"
                               "@%p1 st.global.u32 [%rd4], %r10;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 8);
    w->launch.grid[0] = 8;
    w->launch.cluster[0] = 4;
    runs_under_seeds(w, 24, out, 8, check_ring);
    world_close(w);
}

static void check_pipe(World *w, uint32_t *out)
{
    (void)w;
    for (uint32_t i = 0; i < 20; i++) assert_int_equal(out[i], 3 * i + 1);
}

/* A producer and a consumer, one slot, full and empty barriers. */
#define WAIT(name, bar, parity)                                                                                        \
    name ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [" bar "], " parity ";\n@!%p1 bra " name ";\n"

static void mbarriers_hand_over(void **state)
{
    (void)state;
    World *w = world_open(
        HEAD
        ".visible .entry pipe(.param .u64 p_out)\n{\n.shared .align 8 .b8 bars[16];\n.shared .align 4 .b8 "
        "slot[4];\n" OUT_PROLOGUE "mov.u32 %r5, bars;\nsetp.eq.u32 %p2, %r1, 0;\n"
        "@%p2 mbarrier.init.shared::cta.b64 [%r5], 1;\n@%p2 mbarrier.init.shared::cta.b64 [%r5+8], 1;\n"
        "bar.sync 0;\nmov.u32 %r6, 0;\nmov.u32 %r10, 0;\n"
        "setp.eq.u32 %p3, %r1, 32;\n@%p3 bra consume;\n@!%p2 ret;\n"
        "produce: xor.b32 %r7, %r10, 1;\n" WAIT(
            "W1", "%r5+8",
            "%r7") "mad.lo.u32 %r8, %r6, 3, 1;\nst.shared.u32 [slot], %r8;\nmbarrier.arrive.shared::cta.b64 _, [%r5];\n"
                   "xor.b32 %r10, %r10, 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 20;\n@%p4 bra produce;\nret;\n"
                   "consume:\n" WAIT(
                       "W2", "%r5",
                       "%r10") "ld.shared.u32 %r9, [slot];\nmbarrier.arrive.shared::cta.b64 _, [%r5+8];\n"
                               "mul.wide.u32 %rd5, %r6, 4;\nadd.s64 %rd5, %rd1, %rd5;\nst.global.u32 [%rd5], %r9;\n"
                               "xor.b32 %r10, %r10, 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 20;\n@%p4 bra "
                               "consume;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 20);
    w->launch.threads = 64;
    runs_under_seeds(w, 24, out, 20, check_pipe);
    world_close(w);
}

/* ---- what goes wrong ---- */
static const char POKE[] = /* st.u32 at out + offset */
    HEAD ".visible .entry poke(.param .u64 p_out, .param .u64 p_at)\n{\n.reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [p_out];\nld.param.u64 %rd2, [p_at];\nadd.s64 %rd1, %rd1, %rd2;\n"
         "st.u32 [%rd1], 7;\nret;\n}\n";

static void addresses_lead_somewhere(void **state)
{
    (void)state;
    World *w = world_open(POKE);
    for (int mode = SIM_FAST; mode <= SIM_CHECK; mode++) {
        w->opt.mode = (SimMode)mode;
        w->launch.threads = 1;
        uint32_t *out = buffer(w, 0, 100);
        w->param[1] = 396;
        runs(w);
        assert_int_equal(out[99], 7);
        w->param[1] = 400 + 16;
        finds(w, E1313, "4 bytes at address 0x");
        assert_non_null(strstr(w->out.text, "16 bytes behind the end of the allocation of parameter"));
        assert_non_null(strstr(w->out.text, "(400 bytes)"));
        w->param[1] = 400;
        finds(w, E1313, "right behind the end of the allocation");
        w->param[1] = (uint64_t)-4;
        finds(w, E1313, "4 bytes before the allocation of parameter");
        w->param[1] = 2;
        finds(w, E1314, "multiple of 4");
        assert_non_null(strstr(w->out.text, "CTA (0,0,0) thread 0"));
        assert_non_null(strstr(w->out.text, "PTX line"));
        w->param[0] = 0;
        w->param[1] = 0;
        finds(w, E1313, "at address 0x0: nothing is allocated there");
        w->param[0] = SIM_PARAM_BASE;
        finds(w, E1328, "parameters");
        w->param[0] = SIM_LOCAL_BASE;
        finds(w, E1313, "local memory");
        w->param[0] = SIM_SHARED_BASE + SIM_SMEM_BASE;
        finds(w, E1313, "shared memory of 0 bytes");
        w->param[0] = UINT64_MAX - 7;
        finds(w, E1313, "4 bytes at address 0xfffffffffffffff8");
    }
    world_close(w);
}

static void shared_addresses_stay_in_their_window(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry edge(.param .u64 p_at)\n{\n.shared .align 4 .b8 tile[64];\n"
                               ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [p_at];\nmov.u64 %rd2, tile;\n"
                               "add.s64 %rd2, %rd2, %rd1;\nst.shared.u32 [%rd2], 7;\nret;\n}\n");
    w->launch.threads = 1;
    w->param[0] = 60;
    runs(w);
    w->param[0] = 64;
    finds(w, E1313, "right behind the end of the CTA's shared memory of 64 bytes");
    w->param[0] = (uint64_t)-4;
    finds(w, E1313, "4 bytes before the CTA's shared memory");
    w->param[0] = UINT64_C(1) << 32;
    finds(w, E1313, "32 bits");
    w->param[0] = UINT64_C(1) << SIM_SMEM_RANK;
    finds(w, E1313, "not in the shared memory of the CTA or its cluster");
    w->launch.grid[0] = w->launch.cluster[0] = 2;
    finds(w, E1313, ".shared::cta is the own one");
    world_close(w);
}

static void constants_are_not_written(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n.global .align 4 .u32 cell = 5;\n"
                               ".visible .entry constant(.param .u64 p_out, .param .u64 p_at)\n{\n" OUT_PROLOGUE
                               "ld.const.u32 %r5, [table+8];\nld.global.u32 %r6, [cell];\nadd.u32 %r5, %r5, %r6;\n"
                               "st.global.u32 [%rd3], %r5;\nld.param.u64 %rd4, [p_at];\nsetp.eq.u64 %p1, %rd4, 0;\n"
                               "@%p1 ret;\nst.u32 [%rd4], 1;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 1);
    w->launch.threads = 1;
    runs(w);
    assert_int_equal(out[0], 8);
    w->param[1] = w->globals[0]->read_only ? w->globals[0]->address : w->globals[1]->address;
    finds(w, E1328, "constant memory");
    world_close(w);
}

static void a_trap_is_told(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry stop()\n{\n.reg .pred %p1;\n.reg .b32 %r1;\nmov.u32 %r1, %tid.x;\n"
                               "setp.eq.u32 %p1, %r1, 37;\n@%p1 trap;\nret;\n}\n");
    runs(w);
    w->launch.threads = 64;
    finds(w, E1322, "thread 37 (warp 1, lane 5)");
    assert_non_null(strstr(w->out.text, "PTX line 10"));
    world_close(w);
}

/* One thread, a barrier at smem+1024 whose init is visible, pointers %rd1 and %rd2. */
#define LEADS(body)                                                                                                    \
    HEAD ".extern .shared .align 128 .b8 smem[];\n.visible .entry leads(.param .u64 p_in, .param .u64 p_out)\n{\n"     \
         ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nmov.u32 %r1, smem;\nmov.u32 %r2, 7;\n"               \
         "ld.param.u64 %rd1, [p_in];\nld.param.u64 %rd2, [p_out];\n"                                                   \
         "mbarrier.init.shared::cta.b64 [%r1+1024], 1;\nfence.mbarrier_init.release.cluster;\n" body "ret;\n}\n"
#define LEADS_LOAD "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 512, [%r1+1024];\n"
#define LEADS_WAIT(parity)                                                                                             \
    "w" parity ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1+1024], " parity ";\n@!%p1 bra w" parity ";\n"

static void leads(const char *ptx, ErrorCode code, const char *words)
{
    World *w = world_open(ptx);
    w->launch.threads = 1;
    w->launch.smem = 1040;
    buffer(w, 0, 256);
    buffer(w, 1, 256);
    w->opt.mode = SIM_CHECK;
    finds(w, code, words);
    world_close(w);
}

static void findings_lead_to_the_fault(void **state)
{
    (void)state;
    leads(LEADS("mbarrier.arrive.shared::cta.b64 _, [%r1+1024];\n" LEADS_LOAD LEADS_WAIT(
              "0") "ld.shared.u32 %r3, [%r1];\n"),
          E1303,
          "phase 0 ended with 0 bytes expected: CTA (0,0,0) thread 0, PTX line 16: mbarrier.arrive.shared::cta.b64");
    leads(LEADS("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+1024], 512;\n" LEADS_LOAD LEADS_WAIT(
              "1") "ld.shared.u32 %r3, [%r1];\n"),
          E1303, "for parity 1, which names the phase before phase 0 and returned at once");
    leads(LEADS("st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};\nfence.proxy.async;\n"
                "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16;\ncp.async.bulk.wait_group 0;\n"
                "st.shared.u32 [%r1], %r2;\n"),
          E1304, "which is not even committed (cp.async.bulk.commit_group)");
    leads(LEADS("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+1024], 512;\n"
                "mbarrier.arrive.shared::cta.b64 _, [%r1+1024];\n"),
          E1325, "1 arrival where none is pending");
    leads(LEADS("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1+1024], 512;\n"), E1309,
          "at: CTA (0,0,0) thread 0, PTX line 16: mbarrier.expect_tx");
    leads(LEADS("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+1024], 512;\n" LEADS_WAIT("0")), E1301,
          "waits for phase 0 (parity 0) of the barrier at smem+1024 (init PTX line 14), which needs 512 of 512 bytes");
    leads(LEADS("st.global.u32 [%rd2+1024], %r2;\n"), E1313, "the allocation of parameter p_out (1024 bytes)");
    leads(LEADS("brkpt;\n"), E1322, "brkpt is executed");
}

static void limits_end_a_launch(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry forever()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\n"
                               "again: add.u32 %r1, %r1, 1;\nbra again;\n}\n");
    w->opt.max_steps = 100000;
    finds(w, E1319, "100000 steps");
    assert_non_null(strstr(w->out.text, "threads 0 .. 31 of CTA (0,0,0) run in a loop around PTX lines 8 .. 9"));
    assert_int_equal(w->out.stats.steps, 100000);
    w->opt.max_steps = 0;
    w->opt.max_seconds = 0.05;
    finds(w, E1320, "0.05 seconds");
    world_close(w);

    /* Registers and pc come back: this never ends, and is told without a limit. */
    w = world_open(HEAD ".visible .entry still()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\n"
                        "again: xor.b32 %r1, %r1, 1;\nbra again;\n}\n");
    w->opt.max_steps = 0;
    for (int mode = SIM_FAST; mode <= SIM_CHECK; mode++) {
        w->opt.mode = (SimMode)mode;
        finds(w, E1301, "threads 0 .. 31 of CTA (0,0,0) run in a loop around PTX lines 8 .. 9, which changes nothing");
    }
    world_close(w);

    w = world_open(HEAD ".visible .entry big()\n{\n.local .align 4 .b8 depot[524000];\nret;\n}\n");
    w->launch.threads = 1024;
    w->launch.grid[0] = w->launch.cluster[0] = 8;
    finds(w, E1321, "the threads of one cluster alone take");
    world_close(w);
}

static void launches_fit_the_kernel(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry fixed()\n.reqntid 64, 1, 1\n{\nret;\n}\n");
    finds(w, E1318, "threads per CTA: 32, where 64");
    w->launch.threads = 64;
    runs(w);
    w->launch.smem = 1 << 20;
    finds(w, E1318, "shared memory");
    w->launch.smem = 0;
    w->launch.grid[1] = 0;
    finds(w, E1318, "grid dimension");
    w->launch.grid[1] = 3;
    w->launch.cluster[1] = 2;
    finds(w, E1318, "cluster");
    w->launch.cluster[1] = 0; /* none */
    runs(w);
    assert_int_equal(w->out.stats.clusters, 3);
    world_close(w);
}

/* Two threads, each at the barrier on which the other would arrive. */
static void two_barriers_deadlock(void **state)
{
    (void)state;
    World *w = world_open(
        HEAD ".visible .entry embrace()\n{\n.shared .align 8 .b8 bars[16];\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"
             "mov.u32 %r1, %tid.x;\nmov.u32 %r5, bars;\nsetp.eq.u32 %p2, %r1, 0;\n"
             "@%p2 mbarrier.init.shared::cta.b64 [%r5], 1;\n@%p2 mbarrier.init.shared::cta.b64 [%r5+8], 1;\n"
             "bar.sync 0;\nsetp.eq.u32 %p3, %r1, 32;\n@%p3 bra $role_right;\n@!%p2 ret;\n"
             "$role_left:\n" WAIT("W1", "%r5", "0") "mbarrier.arrive.shared::cta.b64 _, [%r5+8];\nret;\n"
                                                    "$role_right:\n" WAIT(
                                                        "W2", "%r5+8",
                                                        "0") "mbarrier.arrive.shared::cta.b64 _, [%r5];\nret;\n}\n");
    w->launch.threads = 64;
    for (uint64_t seed = 0; seed < 10; seed++) {
        w->seed = seed;
        w->opt.mode = seed == 0 ? SIM_FAST : SIM_CHECK;
        finds(w, E1301, "thread 0 of CTA (0,0,0)");
        assert_non_null(strstr(w->out.text, "thread 32 of CTA (0,0,0)"));
        assert_non_null(strstr(w->out.text, "smem+0"));
        assert_non_null(strstr(w->out.text, "smem+8"));
        assert_non_null(strstr(w->out.text, "62 of 64 threads have exited"));
        assert_true(strlen(w->out.text) < 3000);
    }
    w->launch.grid[0] = 1000; /* the others cannot help */
    finds(w, E1301, "thread 0 of CTA (0,0,0)");
    assert_true(strlen(w->out.text) < 3600);
    world_close(w);
}

static void a_barrier_that_not_all_reach(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry lost()\n{\n.reg .pred %p1;\n.reg .b32 %r1;\nmov.u32 %r1, %tid.x;\n"
                               "setp.ge.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 3, 64;\nret;\n}\n");
    w->launch.threads = 64;
    finds(w, E1301, "threads 0 .. 31 of CTA (0,0,0) wait for barrier 3, where 32 of 64 threads have arrived");
    world_close(w);
}

static void the_same_seed_is_the_same_run(void **state)
{
    (void)state;
    World *w = world_open(REVERSE);
    buffer(w, 0, 256);
    w->launch.threads = 128;
    w->launch.smem = 512;
    w->launch.grid[0] = 2;
    w->opt.mode = SIM_CHECK;
    for (w->seed = 1; w->seed < 5; w->seed++) {
        runs(w);
        SimStats first = w->out.stats;
        runs(w);
        assert_memory_equal(&first, &w->out.stats, sizeof first);
    }
    world_close(w);
}

/* Garbage of registers that nothing wrote depends on the seed, zeros stand there in fast mode. */
static void registers_start_with_anything(void **state)
{
    (void)state;
    World *w = world_open(HEAD ".visible .entry unset(.param .u64 p_out)\n{\n" OUT_PROLOGUE
                               "st.global.u32 [%rd3], %r20;\nret;\n}\n");
    uint32_t *out = buffer(w, 0, 32);
    runs(w);
    for (int i = 0; i < 32; i++) assert_int_equal(out[i], 0);
    w->opt.mode = SIM_CHECK;
    w->seed = 1;
    runs(w);
    uint32_t first = out[0];
    assert_int_not_equal(first, 0);
    w->seed = 2;
    runs(w);
    assert_int_not_equal(out[0], first);
    world_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_and_sums),
        cmocka_unit_test(branches_by_table_and_guard),
        cmocka_unit_test(local_memory_is_each_threads_own),
        cmocka_unit_test(vectors_and_signs),
        cmocka_unit_test(atomics_of_many_threads),
        cmocka_unit_test(shared_memory_and_bar_sync),
        cmocka_unit_test(a_flag_that_a_later_cta_sets),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(peers_in_a_cluster),
        cmocka_unit_test(mbarriers_hand_over),
        cmocka_unit_test(addresses_lead_somewhere),
        cmocka_unit_test(shared_addresses_stay_in_their_window),
        cmocka_unit_test(constants_are_not_written),
        cmocka_unit_test(a_trap_is_told),
        cmocka_unit_test(findings_lead_to_the_fault),
        cmocka_unit_test(limits_end_a_launch),
        cmocka_unit_test(launches_fit_the_kernel),
        cmocka_unit_test(two_barriers_deadlock),
        cmocka_unit_test(a_barrier_that_not_all_reach),
        cmocka_unit_test(the_same_seed_is_the_same_run),
        cmocka_unit_test(registers_start_with_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
