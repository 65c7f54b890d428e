/* tensor_random [--seed N] [--cases N] [--keep DIR]: random programs of tensor memory - tcgen05.ld and .st of every
 * shape, .cp of every shape, format and swizzle, .shift, for one CTA and for pairs - made as PTX with directives, run on
 * the simulator in its modes, compared with tensor_reference.c. 288 cases have every combination of shape, format,
 * swizzle and pair; what else there is to choose is random.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/case.h"

typedef struct Gen {
    uint64_t state;
    char *s;
    size_t n, cap;
    int ctas, columns, pitch; /* allocated; of them the first `pitch` are compared */
    int smem;                 /* bytes of the source, from 0 on; the barriers and the address stand behind it */
} Gen;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(Gen *g, const char *fmt, ...)
{
    va_list ap;
    if (g->n + 4096 > g->cap) g->s = must(realloc(g->s, g->cap = g->cap * 2 + 16384));
    va_start(ap, fmt);
    int n = vsnprintf(g->s + g->n, g->cap - g->n, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= g->cap - g->n) give_up("a line is too long");
    g->n += (size_t)n;
}

static int below(Gen *g, int n)
{
    return (int)(random_next(&g->state) % (uint64_t)n);
}

/* {%r0, .. } */
static void registers(Gen *g, int n)
{
    for (int i = 0; i < n; i++) put(g, "%s%%r%d", i ? ", " : "{", i);
    put(g, "}");
}

/* ---- parts of a program ---- */
static void head(Gen *g)
{
    put(g,
        ".version 8.8\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n.reqntid 128\n{\n"
        "    .reg .pred %%p<4>;\n    .reg .b32 %%r<128>;\n    .reg .b32 %%base, %%me, %%warp, %%rank, %%tmem, %%t, "
        "%%x, %%thread;\n"
        "    .reg .b64 %%a, %%b, %%c, %%w, %%desc;\n"
        "    mov.u32 %%base, smem;\n    mov.u32 %%me, %%tid.x;\n    shr.u32 %%warp, %%me, 5;\n"
        "    mov.u32 %%rank, %%cluster_ctarank;\n    shl.b32 %%thread, %%rank, 7;\n    add.u32 %%thread, %%thread, "
        "%%me;\n"
        "    ld.param.u64 %%a, [p0];\n    cvta.to.global.u64 %%a, %%a;\n"
        "    ld.param.u64 %%b, [p1];\n    cvta.to.global.u64 %%b, %%b;\n"
        "    ld.param.u64 %%c, [p2];\n    cvta.to.global.u64 %%c, %%c;\n"
        "    setp.ne.u32 %%p0, %%me, 0;\n    setp.ne.u32 %%p1, %%warp, 0;\n    @%%p0 bra $inited;\n"
        "    mbarrier.init.shared::cta.b64 [%%base+%d], 1;\n    mbarrier.init.shared::cta.b64 [%%base+%d], 1;\n"
        "    mbarrier.init.shared::cta.b64 [%%base+%d], 1;\n"
        "    fence.mbarrier_init.release.cluster;\n$inited:\n    @%%p1 bra $allocated;\n"
        "    tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [%%base+%d], %d;\n$allocated:\n",
        g->smem, g->smem + 8, g->smem + 16, g->ctas, g->smem + 24, g->columns);
}

static void sync_threads(Gen *g)
{
    if (g->ctas == 1) put(g, "    bar.sync 0;\n");
    else put(g, "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n");
}

static void tensor_sync(Gen *g)
{
    put(g, "    tcgen05.fence::before_thread_sync;\n");
    sync_threads(g);
    put(g, "    tcgen05.fence::after_thread_sync;\n");
}

/* The low halves of the columns, each in a word of its own, to the buffer at %b. */
static void low_halves(Gen *g)
{
    put(g,
        "    shl.b32 %%t, %%warp, 21;\n    add.u32 %%t, %%t, %%tmem;\n    mul.wide.u32 %%w, %%thread, %d;\n    add.u64 "
        "%%w, %%w, %%b;\n",
        g->pitch * 4);
    for (int at = 0; at < g->pitch; at += 16) {
        put(g, "    tcgen05.ld.sync.aligned.32x32b.x8.pack::16b.b32 ");
        registers(g, 8);
        put(g, ", [%%t];\n    tcgen05.wait::ld.sync.aligned;\n");
        for (int i = 0; i < 8; i++)
            put(g,
                "    and.b32 %%x, %%r%d, 65535;\n    st.global.u32 [%%w+%d], %%x;\n    shr.u32 %%x, %%r%d, 16;\n    "
                "st.global.u32 [%%w+%d], %%x;\n",
                i, (at + 2 * i) * 4, i, (at + 2 * i + 1) * 4);
        put(g, "    add.u32 %%t, %%t, 16;\n");
    }
}

/* The columns that are compared: from the buffer at %a, row by row, or to that at %b. */
static void rows(Gen *g, bool store)
{
    put(g, "    shl.b32 %%t, %%warp, 21;\n    add.u32 %%t, %%t, %%tmem;\n    mul.wide.u32 %%w, %%thread, %d;\n",
        g->pitch * 4);
    put(g, "    add.u64 %%w, %%w, %s;\n", store ? "%b" : "%a");
    for (int at = 0; at < g->pitch; at += 16) {
        if (store) {
            put(g, "    tcgen05.ld.sync.aligned.32x32b.x16.b32 ");
            registers(g, 16);
            put(g, ", [%%t];\n    tcgen05.wait::ld.sync.aligned;\n");
        }
        for (int i = 0; i < 16; i += 4)
            if (store)
                put(g, "    st.global.v4.u32 [%%w+%d], {%%r%d, %%r%d, %%r%d, %%r%d};\n", (at + i) * 4, i, i + 1, i + 2,
                    i + 3);
            else
                put(g, "    ld.global.v4.u32 {%%r%d, %%r%d, %%r%d, %%r%d}, [%%w+%d];\n", i, i + 1, i + 2, i + 3,
                    (at + i) * 4);
        if (!store) {
            put(g, "    tcgen05.st.sync.aligned.32x32b.x16.b32 [%%t], ");
            registers(g, 16);
            put(g, ";\n");
        }
        put(g, "    add.u32 %%t, %%t, 16;\n");
    }
    if (!store) put(g, "    tcgen05.wait::st.sync.aligned;\n");
}

static void wait(Gen *g, int barrier, const char *label)
{
    put(g, "$%s:\n    mbarrier.try_wait.parity.shared::cta.b64 %%p2, [%%base+%d], 0;\n    @!%%p2 bra $%s;\n", label,
        barrier, label);
}

static void tail(Gen *g)
{
    tensor_sync(g);
    put(g,
        "    @%%p1 bra $leave;\n    tcgen05.dealloc.cta_group::%d.sync.aligned.b32 %%tmem, %d;\n"
        "    tcgen05.relinquish_alloc_permit.cta_group::%d.sync.aligned;\n$leave:\n    ret;\n}\n",
        g->ctas, g->columns, g->ctas);
}

static int power(int n)
{
    int p = 32;
    while (p < n) p *= 2;
    return p;
}

/* ---- tcgen05.ld, .st ---- */
static void load_store(Gen *g, int which)
{
    static const char *const names[] = {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};
    static const int regs_of[] = {1, 1, 2, 4, 1}, columns_of[] = {1, 2, 4, 8, 1}, most[] = {7, 7, 6, 5, 7};
    int shape = which % 5, num = 1 << (which / 20 + below(g, 3)) % (most[shape] + 1), regs = regs_of[shape] * num;
    bool packed = which / 5 % 2, store = which / 10 % 2;
    int wide = columns_of[shape] * num * (packed ? 2 : 1);
    if (wide > 256) {
        num /= 2, regs /= 2, wide /= 2;
    }
    int half = shape == 4 ? 1 + below(g, 100) + (store ? wide : 0) : 0, column = below(g, 30),
        lane = shape ? 16 * below(g, 2) : 0;
    int need = column + wide + half;
    if (need > 512) column = 0, half = half ? 512 - wide : 0, need = wide + half;
    g->pitch = (need + 15) / 16 * 16;
    g->columns = power(g->pitch);
    g->ctas = 1;
    g->smem = 0;
    put(g, "//! kernel k threads 128 smem 32\n//! buffer image u32 128,%d random\n", g->pitch);
    put(g, "//! buffer regs u32 128,%d random\n//! buffer out u32 128,%d poison\n", regs, store ? g->pitch : regs);
    put(g, "//! param image\n//! param out\n//! param regs\n");
    if (store) put(g, "//! expect out copy image\n");
    put(g, "//! expect out tensor_%s %s %d %d %s %d %d %d %d\n", store ? "st" : "ld", names[shape], packed, half,
        store ? "regs" : "image", regs, g->pitch, lane, column);
    if (store && packed) put(g, "//! expect out mask 65535\n");
    head(g);
    sync_threads(g);
    put(g, "    ld.shared.u32 %%tmem, [%%base+24];\n");
    rows(g, false);
    tensor_sync(g);
    put(g, "    shl.b32 %%t, %%warp, 21;\n    add.u32 %%t, %%t, %%tmem;\n    add.u32 %%t, %%t, %d;\n",
        (lane << 16) + column);
    put(g, "    mul.wide.u32 %%w, %%me, %d;\n    add.u64 %%w, %%w, %s;\n", regs * 4, store ? "%c" : "%b");
    for (int i = 0; i < regs && store; i++) put(g, "    ld.global.u32 %%r%d, [%%w+%d];\n", i, 4 * i);
    put(g, "    tcgen05.%s.sync.aligned.%s.x%d%s.b32 ", store ? "st" : "ld", names[shape], num,
        !packed ? ""
        : store ? ".unpack::16b"
                : ".pack::16b");
    char immediate[32] = "";
    if (shape == 4) snprintf(immediate, sizeof immediate, ", %d", half);
    if (store) put(g, "[%%t]%s, ", immediate);
    registers(g, regs);
    if (store) put(g, ";\n    tcgen05.wait::st.sync.aligned;\n");
    else put(g, ", [%%t]%s;\n    tcgen05.wait::ld.sync.aligned;\n", immediate);
    for (int i = 0; i < regs && !store; i++) put(g, "    st.global.u32 [%%w+%d], %%r%d;\n", 4 * i, i);
    if (store && packed) low_halves(g);
    else if (store) rows(g, true);
    tail(g);
}

/* ---- tcgen05.cp, .shift ---- */
typedef struct Copy {
    int shape, format, swizzle, start, lbo, sbo, lane, column;
} Copy;
static const char *const copies[] = {
    "128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"};
static const char *const formats[] = {"none", "b4x16_p64", "b6x16_p32"};

static Copy random_copy(Gen *g, int i)
{
    static const int swizzles[] = {0, 32, 64, 128};
    static const int rows_of[] = {128, 4, 128, 64, 64, 32};
    Copy c = {.shape = i % 6, .format = i / 6 % 3, .swizzle = swizzles[i / 18 % 4]};
    bool wide = c.shape < 2;
    int eights = (rows_of[c.shape] + 7) / 8, line = c.swizzle ? c.swizzle : 16;
    if (c.swizzle) {
        c.start = c.swizzle * 8 * below(g, 3) + 16 * below(g, c.swizzle / 16 - wide);
        c.sbo = line * 8 * (1 + below(g, 2));
        c.lbo = 16 * below(g, 4); /* not used */
        g->smem = c.start / (8 * c.swizzle) * (8 * c.swizzle) + eights * c.sbo;
    } else { /* the chunks of a row lie side by side, or far apart */
        bool far = below(g, 2);
        c.start = 16 * below(g, 50);
        c.lbo = far ? eights * 128 + 16 * below(g, 5) : 128;
        c.sbo = far ? 128 : 256 + 16 * below(g, 3);
        g->smem = c.start + eights * c.sbo + (wide ? c.lbo : 0) + 128;
    }
    c.lane = c.shape == 1 ? below(g, 32) : 0;
    c.column = 4 * below(g, (g->pitch - 8) / 4 + 1);
    return c;
}

static void copy(Gen *g, const Copy *c)
{
    uint64_t code = c->swizzle == 128 ? 2 : c->swizzle == 64 ? 4 : c->swizzle == 32 ? 6 : 0;
    uint64_t rest = (uint64_t)(c->lbo / 16) << 16 | (uint64_t)(c->sbo / 16) << 32 | UINT64_C(1) << 46 | code << 61;
    put(g,
        "    add.u32 %%x, %%base, %d;\n    and.b32 %%x, %%x, 262143;\n    shr.u32 %%x, %%x, 4;\n    cvt.u64.u32 "
        "%%desc, %%x;\n"
        "    or.b64 %%desc, %%desc, 0x%016llx;\n    add.u32 %%x, %%tmem, %d;\n",
        c->start, (unsigned long long)rest, (c->lane << 16) + c->column);
    put(g, "    tcgen05.cp.cta_group::%d.%s%s%s [%%x], %%desc;\n", g->ctas, copies[c->shape],
        c->format ? ".b8x16." : "", c->format ? formats[c->format] : "");
}

static void commit(Gen *g, int barrier)
{
    if (g->ctas == 1) {
        put(g, "    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%%base+%d];\n", barrier);
        return;
    }
    put(g,
        "    mov.u32 %%x, 3;\n    cvt.u16.u32 %%mask, %%x;\n"
        "    tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%%base+%d], "
        "%%mask;\n",
        barrier);
}

static void copy_shift(Gen *g, int i)
{
    g->ctas = 1 + i / 72 % 2;
    g->pitch = 16 * (1 + below(g, 4));
    g->columns = power(g->pitch);
    Copy c = random_copy(g, i);
    g->smem = (g->smem + 1023) / 1024 * 1024;
    bool shift = below(g, 2), before = shift && c.shape == 1;
    int at = 8 * below(g, g->pitch / 8), lane = 32 * below(g, 4);
    put(g, "//! kernel k grid %d cluster %d threads 128 smem %d\n//! buffer image u32 %d,%d random\n", g->ctas, g->ctas,
        g->smem + 32, g->ctas * 128, g->pitch);
    put(g, "//! buffer source u8 %d random\n//! buffer out u32 %d,%d poison\n", g->ctas * g->smem, g->ctas * 128,
        g->pitch);
    put(g, "//! param image\n//! param out\n//! param source\n//! expect out copy image\n");
    for (int r = 0; r < g->ctas; r++) {
        for (int k = 0; k < 2; k++) {
            if (k == before)
                put(g, "//! expect out tensor_cp %s %s source %d %d %d %d %d %d %d %d %d %d\n", copies[c.shape],
                    formats[c.format], r * g->smem, g->smem, c.start, c.lbo, c.sbo, c.swizzle, r * 128, g->pitch,
                    c.lane, c.column);
            else if (shift) put(g, "//! expect out tensor_shift %d %d %d %d\n", r * 128, g->pitch, lane, at);
        }
    }
    head(g);
    put(g, "    .reg .b16 %%mask;\n");
    sync_threads(g);
    put(g, "    ld.shared.u32 %%tmem, [%%base+%d];\n", g->smem + 24);
    rows(g, false);
    put(g,
        "    @%%p0 bra $filled;\n    mul.wide.u32 %%w, %%rank, %d;\n    add.u64 %%w, %%w, %%c;\n"
        "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%base+%d], %d;\n"
        "    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%%base], [%%w], %d, "
        "[%%base+%d];\n$filled:\n",
        g->smem, g->smem, g->smem, g->smem, g->smem);
    wait(g, g->smem, "full");
    tensor_sync(g);
    put(g, "    setp.ne.u32 %%p3, %%thread, 0;\n    @%%p3 bra $issued;\n");
    if (before)
        put(g, "    add.u32 %%x, %%tmem, %d;\n    tcgen05.shift.cta_group::%d.down [%%x];\n", (lane << 16) + at,
            g->ctas);
    copy(g, &c);
    commit(g, g->smem + 8);
    put(g, "$issued:\n");
    wait(g, g->smem + 8, "copied");
    put(g, "    tcgen05.fence::after_thread_sync;\n");
    if (shift && !before) {
        put(g, "    @%%p3 bra $moved;\n    add.u32 %%x, %%tmem, %d;\n    tcgen05.shift.cta_group::%d.down [%%x];\n",
            (lane << 16) + at, g->ctas);
        commit(g, g->smem + 16);
        put(g, "$moved:\n");
        wait(g, g->smem + 16, "shifted");
        put(g, "    tcgen05.fence::after_thread_sync;\n");
    }
    rows(g, true);
    tail(g);
}

/* ---- runs ---- */
static bool run(const Gen *g, const char *device, uint64_t seed, const char *keep)
{
    const char *at = g->s;
    int line = 1;
    Case c;
    Verdict v;
    tile_device *d = NULL;
    tile_error err;
    if (!case_read(&c, "random", &at, &line)) give_up("no directives");
    if (tile_device_open(device, &d, &err) != TILE_OK) give_up("%s: %s", device, err.text);
    case_run(&c, d, g->s, g->n, seed, &v);
    tile_device_close(d);
    if (v.ran && v.right) return true;
    char path[300];
    snprintf(path, sizeof path, "%s/tensor_%llu.ptx", keep, (unsigned long long)seed);
    FILE *f = fopen(path, "w");
    if (f) {
        fwrite(g->s, 1, g->n, f);
        fclose(f);
    }
    printf("FAILED on %s, data of seed %llu (%s): %s\n", device, (unsigned long long)seed, path, v.said);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    int cases = 288, failed = 0;
    const char *keep = ".";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--keep") == 0) keep = argv[i + 1];
        else give_up("there is no option %s", argv[i]);
    }
    for (int i = 0; i < cases; i++) {
        uint64_t s = seed * 100000 + (uint64_t)i;
        char check[64];
        Gen g = {.state = s};
        if (i % 2) load_store(&g, i / 2);
        else copy_shift(&g, i / 2);
        g.s[g.n] = 0;
        snprintf(check, sizeof check, "sim:check,seed=%llu", (unsigned long long)s);
        failed += !run(&g, check, s, keep) || !run(&g, "sim:fast", s, keep);
        free(g.s);
    }
    printf("%d of %d cases passed, seed %llu\n", cases - failed, cases, (unsigned long long)seed);
    return failed != 0;
}
