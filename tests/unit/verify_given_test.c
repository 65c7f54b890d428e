/* Masks and halos that are known only at run time: the verifier counts what they bring, and to whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/ir/ir.h"
#include "lower/verify/verify.h"
#include "tests/unit/ir_fixture.h"

/* One CTA of four sends to those of a mask, m, each of which expects what it gets. */
static const char MASK[] =
    "module sm_90a\n"
    "kernel given entry given {\n"
    "  sym m scalar\n"
    "  sym M size\n"
    "  tensor x f32 [M, 64] stride [64, 1] read align 4\n"
    "  tensor y f32 [4, M, 64] stride [64 * M, 64, 1] written align 4\n"
    "  scalar m s32 sym m\n"
    "  arg tensor x\n"
    "  arg tensor y\n"
    "  arg scalar m\n"
    "  map x.map = x tiled f32 offset 0 dim [M, 64] pitch [256, 4] box [16, 64] l2 128B load\n"
    "  map y.map = y tiled f32 offset 0 dim [4, M, 64] pitch [64 * M * 4, 256, 4] box [1, 16, 64] l2 128B store\n"
    "  param value m\n"
    "  param map x.map\n"
    "  param map y.map\n"
    "  check E1101 M % 16 == 0 \"M % 16 == 0\" why \"a fact of the kernel's `where`\" at \"m.tile:3:96\"\n"
    "  check E1101 16 <= M \"M >= 16\" why \"a fact of the kernel's `where`\" at \"m.tile:3:109\"\n"
    "  check E1142 0 <= m && m <= 15 \"0 <= m <= 15\" why \"the mask names CTAs of the cluster\" at \"m.tile:9:54\"\n"
    "  grid 4, 1, 1\n"
    "  cluster 4, 1, 1\n"
    "  threads 64\n"
    "  smem 4104\n"
    "  buf t bytes 4096 align 128 slots 1 pitch 4096 at 0\n"
    "  bar full slots 1 count 1 at 4096\n"
    "  var full.phase i32\n"
    "  var full.phase.2 i32\n"
    "  init {\n"
    "    %1 = param.i64 m\n"
    "    %2 = sreg cluster_ctarank\n"
    "    %3 = cvt.i64 %2\n"
    "    %4 = shr.i64 %1, %3\n"
    "    %5 = cvt.i32 %4\n"
    "    %6 = and.i32 %5, 1\n"
    "    %7 = mul.i32 %6, 4096\n"
    "    %8 = cmp eq %2, 0\n"
    "    %9 = cvt.i32 %1\n"
    "    %10 = and.i32 %9, 15\n"
    "    %11 = cmp ne %10, 0\n"
    "    %12 = and.pred %8, %11\n"
    "    %13 = cmp ne %2, 0\n"
    "    %14 = and.i64 %4, 1\n"
    "    %15 = cmp eq %14, 1\n"
    "    elect bar.init full, 1\n"
    "    elect fence.mbar_init\n"
    "    cluster.arrive relaxed\n"
    "    cluster.wait\n"
    "  }\n"
    "  role load warps 1 elect {\n"
    "    var full.phase = 0\n"
    "    bar.expect full, %7\n"
    "    @%8 bar.arrive_expect full, 0\n"
    "    @%12 tma.load x.map [0, 0] -> t, full, bytes 4096, mask %10\n"
    "    @%13 bar.arrive full\n"
    "  }\n"
    "  role store warps 1 elect {\n"
    "    var full.phase.2 = 0\n"
    "    %16 = get.i32 full.phase.2\n"
    "    %17 = and.i32 %16, 1\n"
    "    %18 = xor.i32 %16, 1\n"
    "    set full.phase.2 = %18\n"
    "    bar.wait full, %17, scope cluster\n"
    "    @%15 tma.store y.map [%2, 0, 0], t, bytes 4096\n"
    "    grp.commit\n"
    "    grp.wait 0 full\n"
    "  }\n"
    "  exit {\n"
    "    cluster.arrive release\n"
    "    cluster.wait\n"
    "  }\n"
    "}\n";

/* 128 pixels and wHalo, h, more, of which one is certain. */
static const char HALO[] =
    "module sm_100a\n"
    "kernel k entry k {\n"
    "  sym h scalar\n"
    "  sym N size\n"
    "  sym H size\n"
    "  sym W size\n"
    "  tensor x bf16 [N, H, W, 64] stride [64 * W * H, 64 * W, 64, 1] read align 2\n"
    "  tensor out bf16 [1, 129, 64] stride [8256, 64, 1] written align 2\n"
    "  scalar h s32 sym h\n"
    "  arg tensor x\n"
    "  arg tensor out\n"
    "  arg scalar h\n"
    "  map row = x im2col_w bf16 offset 0 dim [N, H, W, 64] pitch [64 * W * H * 2, 64 * W * 2, 128, 2] box [0, 0, 0, 0] swizzle 128B channels 64 pixels 128 load\n"
    "  map out.map = out tiled bf16 offset 0 dim [1, 129, 64] pitch [16512, 128, 2] box [1, 129, 64] swizzle 128B l2 128B store\n"
    "  param map row\n"
    "  param value h\n"
    "  param map out.map\n"
    "  check E1101 1 <= N \"N >= 1\" why \"a fact of the kernel's `where`\" at \"h.tile:2:92\"\n"
    "  check E1101 1 <= H \"H >= 1\" why \"a fact of the kernel's `where`\" at \"h.tile:2:100\"\n"
    "  check E1101 132 <= W \"W >= 132\" why \"a fact of the kernel's `where`\" at \"h.tile:2:108\"\n"
    "  check E1101 1 <= h \"h >= 1\" why \"a fact of the kernel's `where`\" at \"h.tile:2:118\"\n"
    "  check E1141 h <= 2 \"0 <= h <= 2\" why \"wHalo and wOffset have few bits, and the tile so much room\" at \"h.tile:5:43\"\n"
    "  grid 1, 1, 1\n"
    "  cluster 1, 1, 1\n"
    "  threads 32\n"
    "  smem 17416\n"
    "  buf t bytes 16640 align 1024 slots 1 pitch 17408 at 0\n"
    "  bar t.full slots 1 count 1 at 17408 derived\n"
    "  init {\n"
    "    elect bar.init t.full, 1\n"
    "    elect fence.mbar_init\n"
    "  }\n"
    "  role main warps 1 elect {\n"
    "    %1 = param.i64 h\n"
    "    %2 = max.i64 %1, 0\n"
    "    %3 = min.i64 %2, 2\n"
    "    %4 = cvt.i32 %3\n"
    "    %5 = mul.i32 %4, 128\n"
    "    %6 = add.i32 %5, 16384\n"
    "    bar.arrive_expect t.full, %6\n"
    "    tma.load row [0, 0, 0, 0], info [%4, 0] -> t, t.full, bytes %6\n"
    "    bar.wait t.full, 0\n"
    "    tma.store out.map [0, 0, 0], t, bytes 16512\n"
    "    grp.commit\n"
    "    grp.wait 0 full\n"
    "  }\n"
    "}\n";

typedef struct Change {
    const char *text, *from, *to, *code; /* NULL: still proved */
} Change;

static const Change CHANGES[] = {
    {MASK, "", "", NULL},
    {MASK, "%5 = cvt.i32 %4", "%20 = cvt.i32 %1\n    %21 = and.i32 %20, 15\n    %5 = shr.i32 %21, %2", NULL}, /* the same bit */
    {MASK, "%6 = and.i32 %5, 1", "%6 = and.i32 %5, 3", "E06"},
    {MASK, "%4 = shr.i64 %1, %3", "%20 = xor.i64 %3, 1\n    %4 = shr.i64 %1, %20", "E06"}, /* what the neighbour gets */
    {MASK, "%10 = and.i32 %9, 15", "%10 = and.i32 %9, 7", "E06"},   /* rank 3 expects, and gets nothing */
    {MASK, "%10 = and.i32 %9, 15", "%10 = and.i32 %9, 31", NULL},    /* of at most 15, says the launch */
    {MASK, "%10 = and.i32 %9, 15", "%10 = add.i32 %9, 0", NULL},
    {MASK, "%10 = and.i32 %9, 15", "%10 = or.i32 %9, 16", "E0658"}, /* there is no rank 4 */
    {MASK, "%10 = and.i32 %9, 15", "%10 = or.i32 %9, 1", "E06"},
    {MASK, "%11 = cmp ne %10, 0", "%11 = cmp ne %10, 1", "E06"},
    {MASK, "@%15 tma.store", "tma.store", "E0610"},
    {MASK, "%15 = cmp eq %14, 1", "%15 = cmp eq %14, 0", "E0610"},
    {MASK, "%15 = cmp eq %14, 1", "%15 = cmp ne %14, 0", NULL},
    {HALO, "", "", NULL},
    {HALO, "%6 = add.i32 %5, 16384", "%6 = add.i32 %5, 16512", "E0659"},
    {HALO, "%5 = mul.i32 %4, 128", "%5 = mul.i32 %4, 64", "E0659"},
    {HALO, "bar.arrive_expect t.full, %6", "bar.arrive_expect t.full, 16640", "E0605"},
    {HALO, "bytes 16512", "bytes 16640", "E06"}, /* of h 1 the last row is not there */
    {HALO, "%3 = min.i64 %2, 2", "%3 = min.i64 %2, 3", NULL}, /* the launch has checked it */
    {HALO, "  check E1141 h <= 2 ", "  check E1141 h <= 3 ", NULL}, /* and so has this */
    {HALO, "%3 = min.i64 %2, 2", "%3 = add.i64 %2, 1", "E0658"},
};

static char *changed_text(const Change *c)
{
    const char *at = strstr(c->text, c->from);
    if (at == NULL) fail_msg("not in the text: %s", c->from);
    size_t head = (size_t)(at - c->text), from = strlen(c->from), to = strlen(c->to), all = strlen(c->text);
    char *text = malloc(all - from + to + 1);
    assert_non_null(text);
    memcpy(text, c->text, head);
    memcpy(text + head, c->to, to);
    memcpy(text + head + to, at + from, all - head - from + 1);
    return text;
}

static void changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        const Change *c = &CHANGES[i];
        Fixture x;
        char *text = changed_text(c);
        begin(&x);
        IrModule *m = ir_read(&x.arena, x.names, &x.diags, sources_add(&x.sources, "t.ir", text, strlen(text)));
        bool ok = m && ir_verify(&x.arena, &x.diags, m->kernels.v[0], NULL, NULL);
        diags_render(&x.diags, DIAG_SHORT, false, &x.out);
        const char *said = x.out.s ? x.out.s : "";
        if (m == NULL || ok != (c->code == NULL) || (!ok && !strstr(said, c->code)))
            fail_msg("%s -> %s: expected %s, got %s", c->from, c->to, c->code ? c->code : "no error", said);
        finish(&x);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
