#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/ir/ir.h"
#include "tests/unit/ir_fixture.h"
#include "tests/unit/ir_texts.h"

static IrModule *read_text(Fixture *x, const char *text, size_t n)
{
    Source *f = sources_add(&x->sources, "t.ir", text, n);
    assert_non_null(f);
    return ir_read(&x->arena, x->names, &x->diags, f);
}

static void report(Fixture *x)
{
    diags_render(&x->diags, DIAG_HUMAN, false, &x->out);
    print_message("%s\n", x->out.s ? x->out.s : "");
}

/* What is printed is read to what is printed again. */
static void round_trip(const char *text)
{
    Fixture x;
    Text again;
    begin(&x);
    text_init(&again, &x.mem);
    IrModule *m = read_text(&x, text, strlen(text));
    if (m == NULL) report(&x);
    assert_non_null(m);
    ir_print(&x.out, m, NULL);
    IrModule *second = read_text(&x, x.out.s, x.out.n);
    if (second == NULL) {
        print_message("%s\n", x.out.s);
        report(&x);
    }
    assert_non_null(second);
    ir_print(&again, second, NULL);
    assert_string_equal(x.out.s, again.s);
    text_free(&again);
    finish(&x);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int i = 0; i < IR_TEXT_COUNT; i++) round_trip(IR_TEXTS[i].text);
}

static const char EVERYTHING[] =
    "module sm_100a cluster_dst\n"
    "kernel \"odd name\" entry \"quote \\\" back \\\\ bell \\x07\" {\n"
    "  sym N size\n  sym min size\n  sym \"_\" size\n  sym lda stride\n  sym n scalar\n"
    "  tensor a f32 [N, min(N, min), 3] stride [lda, 3, 1] strided read written align 128\n"
    "  tensor none u8 [] stride [] align 1\n"
    "  scalar n s32 sym n\n"
    "  arg scalar n\n  arg tensor a\n"
    "  map m = a im2col f32 offset N * 4 dim [N, 3, 3] pitch [lda * 4, 12, _] box [1, 1, 3] elem_stride [1, 2, 1] "
    "interleave 32B"
    " swizzle 128B_atom_32B_flip_8B l2 256B fill nan lower [-1, 0, 2] upper [0, -3, 0] channels 64 pixels 1024 load "
    "store\n"
    "  map \"m.2\" = a tiled tf32_ftz offset 0 dim [] pitch [] box []\n"
    "  param value (N + 1) * (-n - -3) - (lda - (N - 1)) % 7\n  param address a\n  param map m\n"
    "  check E0601 !(N % 16 == 0) || n < 3 && (N & 7) <= 1 \"text\" why \"a \\\"rule\\\"\" at \"x.tile:1:2\"\n"
    "  check E0602 _ \"\" why \"\" at \"\"\n"
    "  trust distinct a\n"
    "  grid -9223372036854775808, 9223372036854775807, N << 2 >> 1 ^ 3 | n\n  cluster 2, 1, 4\n  threads 128\n  smem "
    "4096\n"
    "  buf t bytes 1024 align 128 slots 2 pitch 1024 at 0\n"
    "  bar full slots 3 count 7 at 2048\n  bar more slots 1 count 1 at 2072 derived\n"
    "  policy p = evict_last fraction 0.123456789\n  policy q = evict_normal fraction 1e-10 else evict_first\n"
    "  var v i64\n  var w pred\n  var x i32\n"
    "  init {\n    pol.create p\n    pol.create q\n  }\n"
    "  role main warps 1 elect {\n"
    "    bar.init full[0], 7\n    bar.init full[1], 7\n    bar.init full[2], 7\n    bar.init more, 1\n    "
    "fence.mbar_init\n"
    "    %1 = const.i64 -9223372036854775808\n    %named = const.i32 -7\n    %3 = const.pred 1\n"
    "    %\"two words\" = add.i32 %named, 1\n    %5 = sreg cluster_nctarank\n    %6 = param.i64 ceil(N, max(n, 1))\n"
    "    var v = %1\n    var w = %3\n    var x = 0\n"
    "    %7 = div.i64 %1, 3\n    %8 = not.pred %3\n    %9 = cmp ne %1, %7\n    %10 = and.pred %9, %8\n    %11 = "
    "sel.i64 %9, %7, 0\n"
    "    %12 = cvt.i32 %1\n    @%10 %13 = ld.scalar a, %11\n    %14 = gaddr a, 16\n    %15 = zaddr\n"
    "    if %9\n      if %8\n        set v = %13\n      else\n        set x = 1\n      end\n    else\n    end\n"
    "    %16 = loop.i32 0 .. %5\n      %17 = get.i64 v\n      @%10 set w = 0\n    end\n"
    "    bar.expect full[1], %12\n    bar.arrive full[2]\n    bar.wait full[0], %16x\n"
    "  }\n"
    "  role other warps 3 {\n    fence.async shared\n    fence.async cluster\n    fence.async global\n    grp.wait 3 "
    "full\n"
    "    %z = const.i32 1\n"
    "    tma.load m [0, %z, 2], info [%z] -> t[%z]+%z, full[%z], bytes 768, pol p\n"
    "    blk.load 0 -> t[1], bytes %z, full[2]\n"
    "    blk.store t+16 -> 0, bytes 32, pol q\n"
    "    tma.store m [1, 2, 3], t[0]+512, bytes 512 any_order\n  }\n"
    "}\n"
    "kernel second entry second {\n  grid 1, 1, 1\n}\n";

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    size_t head = (size_t)(at - text), rest = strlen(at + strlen(from)), n = strlen(to);
    char *s = malloc(head + n + rest + 1);
    assert_non_null(s);
    memcpy(s, text, head);
    memcpy(s + head, to, n);
    memcpy(s + head + n, at + strlen(from), rest + 1);
    return s;
}

static void test_everything(void **state)
{
    (void)state;
    char *text = replaced(EVERYTHING, "%16x", "1");
    round_trip(text);
    free(text);
}

/* Objects with equal names and names that need quotes, as inlining makes them. */
static void test_names_made_unique(void **state)
{
    (void)state;
    Fixture x;
    begin(&x);
    IrModule *m = read_text(&x, IR_TEXTS[2].text, strlen(IR_TEXTS[2].text));
    assert_non_null(m);
    IrKernel *k = m->kernels.v[0];
    k->bufs.v[1].name = k->bufs.v[0].name;
    k->mf.maps.v[1].name = "in";
    k->mf.maps.v[2].name = "in.2";
    for (uint32_t i = 0; i < k->value_names.n; i++) k->value_names.v[i] = i % 2 ? "x" : NULL;
    ir_print(&x.out, m, NULL);
    IrModule *second = read_text(&x, x.out.s, x.out.n);
    if (second == NULL) report(&x);
    assert_non_null(second);
    assert_string_equal(second->kernels.v[0]->bufs.v[1].name, "tile.2");
    assert_string_equal(second->kernels.v[0]->mf.maps.v[1].name, "in.3");
    assert_string_equal(second->kernels.v[0]->mf.maps.v[2].name, "in.2");
    finish(&x);
}

static void test_source_lines(void **state)
{
    (void)state;
    Fixture x;
    begin(&x);
    IrModule *m = read_text(&x, IR_TEXTS[0].text, strlen(IR_TEXTS[0].text));
    assert_non_null(m);
    ir_print(&x.out, m, &x.sources);
    assert_non_null(strstr(x.out.s, ": bar.wait full, 0\n    bar.wait full, 0\n"));
    text_clear(&x.out);
    const IrRole *r = &m->kernels.v[0]->roles.v[0];
    ir_print_op(&x.out, m->kernels.v[0], &r->ops.v[r->ops.n - 3]);
    assert_string_equal(x.out.s, "tma.store out [%row, %col], tile, bytes 16384");
    finish(&x);
}

typedef struct Bad {
    const char *from, *to, *code, *text;
} Bad;

/* Each with its code and a part of the sentence. */
static const Bad BAD[] = {
    {"module", "modul", "E0690", "`modul` where `module`"},
    {"8.6", "8", "E0690", "version"},
    {"tensor src bf16", "tensor src bf17", "E0690", "bf17"},
    {"[M, N] stride [N, 1] read", "[M, N] stride [N] read", "E0690", "stride per extent"},
    {"sym N size", "sym M size", "E0691", "`M` is declared twice"},
    {"ceil(N, 128)", "ceil(Q, 128)", "E0691", "no symbol has the name `Q`"},
    {"ceil(N, 128)", "ceil(N, 128", "E0690", "`)`"},
    {"grid ceil", "gird ceil", "E0690", "gird"},
    {"threads 32", "threads 4294967296", "E0692", "4294967296"},
    {"threads 32", "threads -1", "E0692", "-1"},
    {"box [64, 128]", "box [64, 70000]", "E0692", "70000"},
    {"box [64, 128]", "box [64]", "E0690", "per dimension"},
    {"swizzle none", "swizzle 128b", "E0690", "did you mean `128B`"},
    {"slots 1 count 1", "slots 0 count 1", "E0692", "0 is not from 1"},
    {"tma.load in", "tma.lode in", "E0690", "tma.lode"},
    {"tma.load in", "tma.load inn", "E0691", "inn"},
    {"%row = mul.i32 %y, 64", "%row = mul.i32 %z, 64", "E0691", "`z`"},
    {"%row = mul.i32 %y, 64", "%row = mul %y, 64", "E0690", "`mul` is no op"},
    {"%row = mul.i32 %y, 64", "%x = mul.i32 %y, 64", "E0691", "twice"},
    {"%row = mul.i32 %y, 64", "mul.i32 %y, 64", "E0690", "defines a value"},
    {"bar.wait full, 0", "%w = bar.wait full, 0", "E0690", "defines no value"},
    {"-> tile", "-> \"tile", "E0690", "string"},
    {"-> tile", "-> \"\\q\\x0\"", "E0690", "escape"},
    {"-> tile", "-> tile$", "E0690", "character"},
    {"grp.wait 0 read", "grp.wait 0 reed", "E0690", "did you mean `read`"},
    {"\n  }\n}\n", "\n  }\n", "E0690", "the end of the text"},
    {"sreg ctaid.x", "sreg ctaid.w", "E0690", "ctaid.w"},
    /* well-formedness */
    {"    elect bar.init full, 1\n", "", "E0662", "no bar.init"},
    {"elect bar.init full, 1\n", "elect bar.init full, 1\n    elect bar.init full, 1\n", "E0662", "once"},
    {"-> tile, full", "-> tile[1], full", "E0662", "slot that it does not have"},
    {"-> tile, full", "-> tile+16, full", "E0662", "more bytes than"},
    {"-> tile, full", "-> tile+99999, full", "E0662", "outside its slot"},
    {"grp.commit\n", "end\n", "E0662", "no block is open"},
    {"grp.commit\n", "else\n", "E0662", "no block is open"},
    {"grp.commit\n", "if %x\n", "E0662", "no pred"},
    {"grp.commit\n", "%i = loop.i32 0 .. 3\n", "E0662", "not closed"},
    {"grp.commit\n", "@%x grp.commit\n", "E0662", "guard is no pred"},
    {"%row = mul.i32 %y, 64", "%row = mul.i64 %y, 64", "E0662", "wrong type"},
    {"%row = mul.i32 %y, 64", "%row = mul.i32 %y, 4294967296", "E0662", "does not fit"},
    {"%row = mul.i32 %y, 64", "%row = cvt.i64 %y", "E0662", "wrong type"},
    {"slots 1 pitch 16384 at 0", "slots 1 pitch 16384 at 64", "E0662", "misaligned"},
    {"slots 1 pitch 16384 at 0", "slots 1 pitch 16384 at 65408", "E0662", "outside"},
    {"count 1 at 65000", "count 1 at 8", "E0662", "overlap"},
    {"count 1 at 65000", "count 1 at 65001", "E0662", "misaligned"},
    /* what stands once, and where */
    {"\n  }\n}\n", "\n  }\n  init {\n    grp.commit\n  }\n}\n", "E0690", "init stands once"},
    {"\n  }\n}\n", "\n  }\n  exit {\n    grp.commit\n  }\n  exit {\n    grp.commit\n  }\n}\n", "E0690", "exit stands once"},
    {"  grid", "  schedule 2 of 2\n  grid", "E0690", "no such schedule"},
    {"  grid", "  schedule 0 of 2\n  pick 2 bytes 16 gpu \"\"\n  grid", "E0690", "picks a schedule"},
    {"version 8.6", "version 8", "E0690", "a version such as"},
};

static void refused(const char *from, const char *to, const char *what)
{
    Fixture x;
    char *text = replaced(IR_TEXTS[0].text, from, to);
    begin(&x);
    assert_null(read_text(&x, text, strlen(text)));
    diags_render(&x.diags, DIAG_SHORT, false, &x.out);
    if (strstr(x.out.s, what) == NULL) fail_msg("%s: %s", what, x.out.s);
    finish(&x);
    free(text);
}

static void test_depth(void **state)
{
    (void)state;
    Fixture x;
    begin(&x);
    Text t;
    text_init(&t, &x.mem);
    text_lit(&t, "grid ");
    for (int i = 0; i < 600; i++) text_str(&t, i < 300 ? "(" : i > 300 ? ")" : "N)");
    refused("grid ceil(N, 128)", t.s, "nested too deeply");
    text_clear(&t);
    for (int i = 0; i < 65; i++) text_printf(&t, "%%d%d = loop.i32 0 .. 1\n", i);
    for (int i = 0; i < 65; i++) text_lit(&t, "end\n");
    refused("grp.commit\n", t.s, "nested too deeply");
    text_free(&t);
    finish(&x);
}

static void test_reader_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Fixture x;
        char *text = replaced(IR_TEXTS[0].text, BAD[i].from, BAD[i].to);
        begin(&x);
        IrModule *m = read_text(&x, text, strlen(text));
        diags_render(&x.diags, DIAG_SHORT, false, &x.out);
        bool ok = m == NULL && x.diags.errors == 1 && strstr(x.out.s, BAD[i].code) && strstr(x.out.s, BAD[i].text);
        if (!ok)
            fail_msg("%s -> %s: expected %s .. %s, got %s", BAD[i].from, BAD[i].to, BAD[i].code, BAD[i].text,
                     x.out.s ? x.out.s : "nothing");
        finish(&x);
        free(text);
    }
}

/* Every prefix, and every text with one byte changed, is read or refused with one message. */
static void test_hostile_texts(void **state)
{
    (void)state;
    size_t n = strlen(EVERYTHING);
    uint32_t seed = 1;
    for (size_t i = 0; i < 4 * n; i++) {
        Fixture x;
        size_t len = i < n ? i : n;
        char *text = malloc(len + 1);
        assert_non_null(text);
        memcpy(text, EVERYTHING, len);
        text[len] = 0;
        seed = seed * 1664525u + 1013904223u;
        if (i >= n) text[seed % n] = (char)(seed >> 24);
        begin(&x);
        IrModule *m = read_text(&x, text, len);
        assert_true(m ? x.diags.errors == 0 : x.diags.errors == 1);
        if (m) ir_print(&x.out, m, &x.sources);
        finish(&x);
        free(text);
    }
}

static void *failing_realloc(void *user, void *p, size_t n)
{
    int *left = user;
    if (n == 0) {
        free(p);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(p, n) : NULL;
}

static void print_with(Fixture *x, int *left, int allowed)
{
    if (setjmp(x->fail)) return;
    IrModule *m = read_text(x, IR_TEXTS[0].text, strlen(IR_TEXTS[0].text));
    *left = allowed;
    ir_print(&x->out, m, NULL);
}

/* Printing keeps nothing when memory runs out. */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 40; allowed++) {
        Fixture x;
        int left = 1 << 30;
        begin(&x);
        x.mem.realloc = failing_realloc;
        x.mem.user = &left;
        print_with(&x, &left, allowed);
        left = 1 << 30;
        finish(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_names_made_unique), cmocka_unit_test(test_source_lines),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_reader_errors),     cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
