/* Maps that the device makes: what orders them with the copies that read them is proved, or the kernel is refused. */
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

/* Two views that data places, a ring of two slots; accepted as it is. */
static const char HEAD[] = "module sm_90a\n"
                           "\n"
                           "kernel k entry k {\n"
                           "  sym T size\n"
                           "  sym G size\n"
                           "  tensor x u32 [T, 32] stride [32, 1] read align 16\n"
                           "  tensor offs s32 [G] stride [1] read align 4\n"
                           "  tensor y u32 [T, 32] stride [32, 1] written align 16\n"
                           "  arg tensor x\n"
                           "  arg tensor offs\n"
                           "  arg tensor y\n"
                           "  map xg.map = x tiled u32 offset 0 dim [T, 32] pitch [128, 4] box [4, 32] l2 128B load\n"
                           "  map yg.map = y tiled u32 offset 0 dim [T, 32] pitch [128, 4] box [4, 32] l2 128B store\n"
                           "  param map xg.map\n"
                           "  param map yg.map\n"
                           "  param maps 512\n"
                           "  param value max(G, 0)\n"
                           "  param address offs\n"
                           "  param value T\n"
                           "  param address x\n"
                           "  param address y\n"
                           "  deal static max(G, 0) per_sm 1\n"
                           "  grid max(G, 0), 1, 1\n"
                           "  cluster 1, 1, 1\n"
                           "  threads 64\n"
                           "  smem 1304\n"
                           "  buf t bytes 512 align 128 slots 2 pitch 512 at 0\n"
                           "  buf xg.maps bytes 128 align 128 slots 2 pitch 128 at 0 maps\n"
                           "  buf load.cell bytes 128 align 128 slots 1 pitch 128 at 1024\n"
                           "  buf yg.maps bytes 128 align 128 slots 2 pitch 128 at 256 maps\n"
                           "  buf work.cell bytes 128 align 128 slots 1 pitch 128 at 1152\n"
                           "  bar t.full slots 2 count 1 at 1280 derived\n"
                           "  bar t.empty slots 1 count 1 at 1296 derived\n"
                           "  var t.slot i32\n"
                           "  var t.phase i32\n"
                           "  var t.free.phase i32\n"
                           "  var xg.fresh i64\n"
                           "  var t.slot.2 i32\n"
                           "  var t.phase.2 i32\n"
                           "  var t.free.phase.2 i32\n"
                           "  var yg.fresh i64\n"
                           "  init {\n"
                           "    %1 = param.i64 max(G, 0)\n"
                           "    %ctaid.x = sreg ctaid.x\n"
                           "    %3 = cvt.i64 %ctaid.x\n"
                           "    %4 = sreg nctaid.x\n"
                           "    %5 = cvt.i64 %4\n"
                           "    %6 = add.i64 %3, 1\n"
                           "    %7 = add.i64 %1, %5\n"
                           "    %8 = sub.i64 %7, %6\n"
                           "    %9 = div.i64 %8, %5\n"
                           "    %10 = max.i64 %9, 0\n"
                           "    %11 = param.i64 T\n"
                           "    elect bar.init t.full[0], 1\n"
                           "    elect bar.init t.full[1], 1\n"
                           "    elect bar.init t.empty, 1\n"
                           "    elect fence.mbar_init\n"
                           "    cta.sync 0, 64\n"
                           "  }\n";
static const char ROLES[] =
    "  role load warps 1 {\n"
    "    var t.slot = 0\n"
    "    var t.phase = 0\n"
    "    var t.free.phase = 0\n"
    "    var xg.fresh = 0\n"
    "    %12 = loop.i64 0 .. %10\n"
    "      %13 = mul.i64 %12, %5\n"
    "      %14 = add.i64 %3, %13\n"
    "      set xg.fresh = 0\n"
    "      %15 = mul.i64 %14, 4\n"
    "      %xg.first = ld.scalar offs, %15\n"
    "      %xg.end = add.i64 %xg.first, 8\n"
    "      %18 = min.i64 %xg.end, %11\n"
    "      %xg.start = max.i64 %xg.first, 0\n"
    "      %20 = max.i64 %18, %xg.start\n"
    "      %xg.extent = sub.i64 %20, %xg.start\n"
    "      %22 = cmp gt %xg.extent, 0\n"
    "      %xg.offset = mul.i64 %xg.start, 32\n"
    "      %24 = mul.i64 %xg.offset, 4\n"
    "      %25 = sel.i64 %22, %24, 0\n"
    "      %26 = gaddr x, %25\n"
    "      %27 = min.i64 %xg.extent, 4294967295\n"
    "      %28 = sel.i64 %22, %27, 1\n"
    "      %29 = sel.i64 %22, 128, 16\n"
    "      %30 = sel.i64 %22, 32, 1\n"
    "      %31 = loop.i32 0 .. 2\n"
    "        %32 = get.i32 t.free.phase\n"
    "        %33 = xor.i32 %32, 1\n"
    "        elect bar.wait t.empty, %33\n"
    "        warp.sync\n"
    "        %34 = get.i32 t.slot\n"
    "        elect map.set xg.map -> xg.maps[%34], cell load.cell, fresh xg.fresh, at %26, dim [%28, %30], pitch "
    "[%29]\n"
    "        %35 = get.i32 t.slot\n"
    "        elect bar.arrive_expect t.full[%35], 512\n"
    "        %36 = get.i32 t.slot\n"
    "        %37 = mul.i32 %31, 4\n"
    "        %38 = sel.i32 %22, %37, 2147450880\n"
    "        elect tma.load xg.map [%38, 0] -> t[%36], t.full[%35], bytes 512, by xg.maps[%36]\n"
    "        %39 = get.i32 t.phase\n"
    "        %40 = get.i32 t.slot\n"
    "        %41 = add.i32 %40, 1\n"
    "        %42 = cmp eq %41, 2\n"
    "        %43 = cvt.i32 %42\n"
    "        %44 = sel.i32 %42, 0, %41\n"
    "        set t.slot = %44\n"
    "        %45 = xor.i32 %39, %43\n"
    "        set t.phase = %45\n"
    "        %46 = get.i32 t.free.phase\n"
    "        %47 = xor.i32 %46, 1\n"
    "        set t.free.phase = %47\n"
    "      end\n"
    "    end\n"
    "  }\n"
    "  role work warps 1 {\n"
    "    var t.slot.2 = 0\n"
    "    var t.phase.2 = 0\n"
    "    var t.free.phase.2 = 0\n"
    "    var yg.fresh = 0\n"
    "    %48 = loop.i64 0 .. %10\n"
    "      %49 = mul.i64 %48, %5\n"
    "      %50 = add.i64 %3, %49\n"
    "      set yg.fresh = 0\n"
    "      %51 = mul.i64 %50, 4\n"
    "      %yg.first = ld.scalar offs, %51\n"
    "      %yg.end = add.i64 %yg.first, 8\n"
    "      %54 = min.i64 %yg.end, %11\n"
    "      %yg.start = max.i64 %yg.first, 0\n"
    "      %56 = max.i64 %54, %yg.start\n"
    "      %yg.extent = sub.i64 %56, %yg.start\n"
    "      %58 = cmp gt %yg.extent, 0\n"
    "      %yg.offset = mul.i64 %yg.start, 32\n"
    "      %60 = mul.i64 %yg.offset, 4\n"
    "      %61 = sel.i64 %58, %60, 0\n"
    "      %62 = gaddr y, %61\n"
    "      %63 = min.i64 %yg.extent, 4294967295\n"
    "      %64 = sel.i64 %58, %63, 1\n"
    "      %65 = sel.i64 %58, 128, 16\n"
    "      %66 = sel.i64 %58, 32, 1\n"
    "      %67 = loop.i32 0 .. 2\n"
    "        %68 = get.i32 t.slot.2\n"
    "        %69 = get.i32 t.phase.2\n"
    "        elect bar.wait t.full[%68], %69\n"
    "        warp.sync\n"
    "        %70 = get.i32 t.slot.2\n"
    "        elect map.set yg.map -> yg.maps[%70], cell work.cell, fresh yg.fresh, at %62, dim [%64, %66], pitch "
    "[%65]\n"
    "        %71 = get.i32 t.slot.2\n"
    "        %72 = mul.i32 %67, 4\n"
    "        @%58 elect tma.store yg.map [%72, 0], t[%71], bytes 512, by yg.maps[%71] any_order\n"
    "        grp.commit\n"
    "        grp.wait 1 read\n"
    "        warp.sync\n"
    "        elect bar.arrive t.empty\n"
    "        %73 = get.i32 t.phase.2\n"
    "        %74 = get.i32 t.slot.2\n"
    "        %75 = add.i32 %74, 1\n"
    "        %76 = cmp eq %75, 2\n"
    "        %77 = cvt.i32 %76\n"
    "        %78 = sel.i32 %76, 0, %75\n"
    "        set t.slot.2 = %78\n"
    "        %79 = xor.i32 %73, %77\n"
    "        set t.phase.2 = %79\n"
    "        %80 = get.i32 t.free.phase.2\n"
    "        %81 = xor.i32 %80, 1\n"
    "        set t.free.phase.2 = %81\n"
    "      end\n"
    "    end\n"
    "    grp.wait 0 read\n"
    "  }\n"
    "}\n";

typedef struct Change {
    const char *from, *to; /* the first one from there on */
    const char *code, *text;
} Change;

static const Change CHANGES[] = {
    {"        elect map.set xg.map -> xg.maps[%34], cell load.cell, fresh xg.fresh, at %26, dim [%28, %30], pitch "
     "[%29]\n",
     "", "E0610", "xg.maps is read where nothing has written it"},
    {"        elect map.set yg.map -> yg.maps[%70], cell work.cell, fresh yg.fresh, at %62, dim [%64, %66], pitch "
     "[%65]\n",
     "", "E0610", "yg.maps is read where nothing has written it"},
    {"xg.maps[%34], cell", "xg.maps[0], cell", "E06", "xg.maps is"},
    {"by xg.maps[%36]", "by xg.maps[0]", NULL, NULL}, /* each run begins at slot 0, and one load is ahead */
    {"by yg.maps[%71]", "by yg.maps[1]", "E06", "yg.maps is"},
    /* the wait for the slot comes too late for its map */
    {"        elect bar.wait t.empty, %33\n        warp.sync\n        %34 = get.i32 t.slot\n        elect map.set "
     "xg.map -> "
     "xg.maps[%34], cell load.cell, fresh xg.fresh, at %26, dim [%28, %30], pitch [%29]\n",
     "        %34 = get.i32 t.slot\n        elect map.set xg.map -> xg.maps[%34], cell load.cell, fresh xg.fresh, at "
     "%26, dim "
     "[%28, %30], pitch [%29]\n        elect bar.wait t.empty, %33\n        warp.sync\n",
     NULL, NULL}, /* not with one turn ahead: the map's last copy has arrived before the last release */
    {"grp.wait 1 read", "grp.wait 2 read", "E06", ""},
    {"grp.wait 1 read", "grp.commit", "E06", ""},
    {"        elect bar.wait t.empty, %33\n        warp.sync\n", "", "E06", ""},
    {"        elect map.set yg.map -> yg.maps[%70], cell work.cell",
     "        elect map.set yg.map -> yg.maps[%70], cell load.cell", NULL,
     NULL}, /* one after the other: one load is ahead */
};

/* The first one in text, which has room for it. */
static void replace(char *text, const Change *c)
{
    char *at = strstr(text, c->from);
    if (at == NULL) fail_msg("not in the text: %s", c->from);
    size_t n = strlen(c->from);
    memmove(at + strlen(c->to), at + n, strlen(at + n) + 1);
    memcpy(at, c->to, strlen(c->to));
}

static char *whole(size_t more)
{
    size_t head = strlen(HEAD), n = strlen(ROLES);
    char *text = malloc(head + n + more + 1);
    assert_non_null(text);
    memcpy(text, HEAD, head);
    memcpy(text + head, ROLES, n + 1);
    return text;
}

static bool verified(Fixture *x, const char *text)
{
    IrModule *m = ir_read(&x->arena, x->names, &x->diags, sources_add(&x->sources, "t.ir", text, strlen(text)));
    bool ok = m && ir_verify(&x->arena, &x->diags, m->kernels.v[0], NULL, NULL);
    diags_render(&x->diags, DIAG_SHORT, false, &x->out);
    return ok;
}

static void accepted(void **state)
{
    (void)state;
    Fixture x;
    begin(&x);
    char *text = whole(0);
    if (!verified(&x, text)) fail_msg("%s", x.out.s);
    finish(&x);
    free(text);
}

/* What the verifier says of text, which c has been made to. */
static void expect(const char *text, const Change *c)
{
    Fixture x;
    begin(&x);
    bool ok = verified(&x, text), wanted = c->code == NULL;
    const char *said = x.out.s ? x.out.s : "";
    if (ok != wanted || (!ok && !(strstr(said, c->code) && strstr(said, c->text))))
        fail_msg("%s -> %s: expected %s %s, got %s", c->from, c->to, c->code ? c->code : "no error",
                 c->text ? c->text : "", said);
    finish(&x);
}

static void changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        const Change *c = &CHANGES[i];
        char *text = whole(strlen(c->to));
        replace(text, c);
        expect(text, c);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepted), cmocka_unit_test(changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
