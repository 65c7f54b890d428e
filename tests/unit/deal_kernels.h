/* Kernels whose work is dealt, written by hand, with their manifests. For sim_deal.c and cuda_deal.c, after cmocka.h. */
#ifndef TESTS_UNIT_DEAL_KERNELS_H
#define TESTS_UNIT_DEAL_KERNELS_H

#include "lang/manifest/manifest.h"

/* Every kernel adds src[i], and `hints`, to dst[i] for each iteration i that it takes. */
#define HEAD                                                                                                           \
    ".version 8.6\n.target sm_90a\n.address_size 64\n"                                                                 \
    ".visible .entry k(.param .u64 src, .param .u64 dst, .param .s64 n, .param .u64 counter, .param .s64 hints)\n{\n"  \
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .b32 %i, %n, %last, %step;\n"                      \
    "ld.param.u64 %rd0, [src];\ncvta.to.global.u64 %rd0, %rd0;\nld.param.u64 %rd1, [dst];\n"                           \
    "cvta.to.global.u64 %rd1, %rd1;\nld.param.u64 %rd2, [counter];\ncvta.to.global.u64 %rd2, %rd2;\n"                  \
    "ld.param.s64 %rd3, [n];\ncvt.u32.u64 %n, %rd3;\nsub.u32 %last, %n, 1;\nld.param.s64 %rd3, [hints];\n"             \
    "cvt.u32.u64 %r0, %rd3;\nmov.u32 %r1, %tid.x;\nmov.u32 %i, %ctaid.x;\nmov.u32 %step, %nctaid.x;\n"
#define ADD                                                                                                            \
    "mul.wide.u32 %rd4, %i, 4;\nadd.u64 %rd5, %rd0, %rd4;\nadd.u64 %rd6, %rd1, %rd4;\n"                                \
    "ld.global.u32 %r2, [%rd5];\nadd.u32 %r2, %r2, %r0;\nred.relaxed.gpu.global.add.u32 [%rd6], %r2;\n"

static const char DEAL_STATIC[] = HEAD "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra L_end;\n"
                                  "L_next: setp.ge.u32 %p1, %i, %n;\n@%p1 bra L_end;\n" ADD
                                  "add.u32 %i, %i, %step;\nbra L_next;\nL_end: ret;\n}\n";

/* A team's first iteration is its own number; each one that it has done draws the next. So there are n draws, and the
 * last of all of them wraps to 0. */
static const char DEAL_TICKETS[] = HEAD
    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra L_end;\n"
    "L_next: setp.ge.u32 %p1, %i, %n;\n@%p1 bra L_end;\n" ADD
    "atom.relaxed.gpu.global.inc.u32 %r3, [%rd2], %last;\nadd.u32 %i, %step, %r3;\nbra L_next;\nL_end: ret;\n}\n";

static const char DEAL_UNWRAPPED[] = HEAD
    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra L_end;\n"
    "L_next: setp.ge.u32 %p1, %i, %n;\n@%p1 bra L_end;\n" ADD
    "atom.relaxed.gpu.global.inc.u32 %r3, [%rd2], %n;\nadd.u32 %i, %step, %r3;\nbra L_next;\nL_end: ret;\n}\n";

/* Clusters of two. The thread that draws in rank 0 sends the ticket to both CTAs' `full` (8 bytes by st.async each); both
 * arrive at rank 0's `empty` when they have read it. In iteration i rank r adds to dst[2 * i + r]. Between, the warps of
 * a CTA meet at a named barrier; the end is a barrier of the cluster that is not .aligned.
 * Shared: ticket at 0, full at 8, empty at 16. */
static const char DEAL_CLUSTERS[] = HEAD
    ".reg .b32 %s, %rank, %at, %bar, %peer, %phase;\n.shared .align 16 .b8 mem[32];\n"
    "mov.u32 %s, mem;\nmov.u32 %rank, %cluster_ctarank;\nmov.u32 %phase, 0;\n"
    "shr.u32 %i, %i, 1;\nshr.u32 %step, %step, 1;\n"
    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra L_made;\n"
    "mbarrier.init.shared::cta.b64 [%s+8], 1;\nmbarrier.init.shared::cta.b64 [%s+16], 2;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "L_made: barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
    "L_next: setp.ge.u32 %p1, %i, %n;\n@%p1 bra L_end;\n"
    "@%p0 bra L_wait;\n"
    "shl.b32 %r4, %i, 1;\nadd.u32 %r4, %r4, %rank;\nmul.wide.u32 %rd4, %r4, 4;\nadd.u64 %rd5, %rd0, %rd4;\n"
    "add.u64 %rd6, %rd1, %rd4;\nld.global.u32 %r2, [%rd5];\nadd.u32 %r2, %r2, %r0;\n"
    "red.relaxed.gpu.global.add.u32 [%rd6], %r2;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s+8], 8;\n"
    /* both expect the ticket before rank 0 sends it: their arrivals at `empty` say so */
    "mov.u32 %r5, 0;\nadd.u32 %at, %s, 16;\nmapa.shared::cluster.u32 %peer, %at, %r5;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%peer];\n"
    "setp.ne.u32 %p2, %rank, 0;\n@%p2 bra L_wait;\n"
    "L_empty: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%s+16], %phase;\n@!%p3 bra L_empty;\n"
    "atom.relaxed.gpu.global.inc.u32 %r3, [%rd2], %last;\nadd.u32 %r3, %step, %r3;\nadd.u32 %bar, %s, 8;\nmov.u32 %r6, "
    "0;\n"
    "L_send: mapa.shared::cluster.u32 %at, %s, %r6;\nmapa.shared::cluster.u32 %peer, %bar, %r6;\n"
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%at], {%r3, %r3}, [%peer];\n"
    "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 2;\n@%p4 bra L_send;\n"
    "L_wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%s+8], %phase;\n@!%p3 bra L_wait;\n"
    "ld.shared::cta.u32 %i, [%s];\nxor.b32 %phase, %phase, 1;\nbarrier.cta.sync 3, 64;\nbra L_next;\n"
    "L_end: barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\nret;\n}\n";

typedef struct Deal {
    const char *body;
    uint8_t deal;
    uint32_t per_sm, cluster, threads;
    const char *device;
} Deal;

enum { MOST = 400, OLD = 7 }; /* longest tensor; what dst has before */

static inline void add_vector(Arena *a, MfKernel *k, const char *name, bool written)
{
    MfTensor t = {.name = name, .type = TYPE_U32, .rank = 1, .read = true, .written = written, .align = 16};
    t.extent[0] = lx_sym(a, &k->lx, 0);
    t.stride[0] = lx_const(a, &k->lx, 1);
    vec_push(a, &k->tensors, t);
    vec_push(a, &k->args, ((struct MfArg){false, k->tensors.n - 1}));
    vec_push(a, &k->params, ((MfParam){MF_PARAM_ADDRESS, k->tensors.n - 1}));
}

static inline void write_module(const Deal *d, Arena *a, Text *out)
{
    Manifest m = {.compiler = "by hand", .target = "sm_90a", .source = "deal.tile"};
    MfKernel *k = vec_add(a, &m.kernels);
    *k = (MfKernel){.name = "k", .entry = "k", .cluster = {d->cluster, 1, 1}, .threads = d->threads};
    vec_push(a, &k->syms, ((MfSym){"L", MF_SIZE}));
    add_vector(a, k, "src", false);
    add_vector(a, k, "dst", true);
    Lx n = lx_op(a, &k->lx, LX_DIV, lx_sym(a, &k->lx, 0), lx_const(a, &k->lx, d->cluster));
    vec_push(a, &k->params, ((MfParam){MF_PARAM_VALUE, n}));
    vec_push(a, &k->params, ((MfParam){MF_PARAM_COUNTER, 0}));
    vec_push(a, &k->params, ((MfParam){MF_PARAM_HINTS, 0}));
    k->deal = d->deal;
    k->per_sm = d->per_sm;
    k->teams = n;
    k->traffic = lx_op(a, &k->lx, LX_MUL, lx_sym(a, &k->lx, 0), lx_const(a, &k->lx, 12));
    k->grid[0] = k->grid[1] = k->grid[2] = lx_const(a, &k->lx, 1);
    MfWords w = manifest_encode(&m, a);
    text_str(out, d->body);
    text_printf(out, ".global .align 8 .b64 %s[%zu] = {", MANIFEST_SYMBOL, w.n);
    for (size_t i = 0; i < w.n; i++) text_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)w.w[i]);
    text_str(out, "};\n");
}

/* Element i of src. */
static inline uint32_t deal_source(uint32_t i)
{
    return 1000 + i * i;
}

#endif
