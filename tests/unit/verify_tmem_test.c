/* Tensor memory in the verifier: correct kernels, what may be left out of them, and what may not. */
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

/* One role copies, shifts, copies behind the shift, and copies again when the other one has read. */
static const char TEXT[] =
    "module sm_100a\n"
    "kernel k entry k {\n"
    "  tensor src u8 [128, 32] stride [32, 1] read align 1\n"
    "  tensor dst u8 [128, 32] stride [32, 1] written align 1\n"
    "  arg tensor src\n  arg tensor dst\n"
    "  map in = src tiled u8 offset 0 dim [128, 32] pitch [32, 1] box [128, 32] swizzle 32B load\n"
    "  map to = dst tiled u8 offset 0 dim [128, 32] pitch [32, 1] box [128, 32] swizzle 32B store\n"
    "  map half = src tiled u8 offset 0 dim [128, 32] pitch [32, 1] box [128, 16] swizzle 32B load\n"
    "  param map in\n  param map to\n  param map half\n"
    "  grid 64, 1, 1\n  cluster 1, 1, 1\n  threads 160\n  smem 8448\n  tmem_columns 32\n"
    "  buf s bytes 4096 align 256 slots 1 pitch 4096 at 0\n"
    "  tmem u lanes 128 columns 8 slots 1 pitch 8 at 0\n"
    "  buf o bytes 4096 align 256 slots 1 pitch 4096 at 4096\n"
    "  buf cell bytes 8 align 128 slots 1 pitch 128 at 8192\n"
    "  bar full slots 1 count 1 at 8320\n  bar done slots 1 count 1 at 8328\n"
    "  bar ready slots 1 count 1 at 8336\n  bar back slots 1 count 1 at 8344\n"
    "  plan out = copy extent [128, 32] src u8 pitch [32, 1] dst u8 pitch [32, 1] span 32 panel 4096 swizzle 32B threads 128 "
    "vector 16 method 0 block 16, 1 deal 0 ways 16, 16\n"
    "  init {\n"
    "    elect bar.init full, 1\n    elect bar.init done, 1\n    elect bar.init ready, 1\n    elect bar.init back, 1\n"
    "    elect fence.mbar_init\n"
    "    elect tc.alloc cell, n 32\n    elect tc.relinquish\n"
    "    cta.sync 0, 160\n"
    "    tc.base cell\n"
    "    %d = tc.desc s, lead 16, stride 256, swizzle 32B\n"
    "  }\n"
    "  role copy warps 1 elect {\n"
    "    bar.arrive_expect full, 4096\n"
    "    tma.load in [0, 0] -> s, full, bytes 4096\n"
    "    bar.wait full, 0\n"
    "    tc.cp 128x256b, plain, s, by %d, step 32, n 1 -> u\n"
    "    tc.commit done\n"
    "    bar.wait done, 0\n"
    "    tc.fence after\n"
    "    tc.shift u, n 1\n"
    "    tc.cp 4x256b, plain, s, by %d, step 32, n 1 -> u(31, 0)\n"
    "    tc.commit ready\n"
    "    bar.wait back, 0\n"
    "    tc.fence after\n"
    "    tc.cp 128x256b, plain, s, by %d, step 32, n 1 -> u\n"
    "    tc.commit done\n"
    "    bar.wait done, 1\n"
    "  }\n"
    "  role out warps 4 {\n"
    "    bar.wait ready, 0\n"
    "    tc.fence after\n"
    "    tc.ld out, u -> o\n"
    "    fence.async shared\n"
    "    tc.fence before\n"
    "    cta.sync 1, 128\n"
    "    elect bar.arrive back\n"
    "    elect tma.store to [0, 0], o, bytes 4096\n"
    "    elect grp.commit\n"
    "    elect grp.wait 0 read\n"
    "  }\n"
    "  exit {\n"
    "    cta.sync 0, 160\n"
    "    tc.fence after\n"
    "    elect tc.free 32\n"
    "  }\n"
    "}\n";

/* Elements of 4 bits come with gaps, are spread out on the way to tensor memory, and leave as bytes. */
static const char PACKED[] =
    "module sm_100a\n"
    "kernel k entry k {\n"
    "  tensor src b4a16 [128, 128] stride [128, 1] read align 1\n"
    "  tensor dst u8 [128, 128] stride [128, 1] written align 1\n"
    "  arg tensor src\n  arg tensor dst\n"
    "  map in = src tiled u4_align16 offset 0 dim [128, 128] pitch [64, 0] box [128, 128] swizzle 128B load\n"
    "  map to = dst tiled u8 offset 0 dim [128, 128] pitch [128, 1] box [128, 128] swizzle 128B store\n"
    "  param map in\n  param map to\n"
    "  grid 1, 1, 1\n  cluster 1, 1, 1\n  threads 128\n  smem 32912\n  tmem_columns 32\n"
    "  buf s bytes 16384 align 1024 slots 1 pitch 16384 at 0\n"
    "  tmem u lanes 128 columns 32 slots 1 pitch 32 at 0\n"
    "  buf o bytes 16384 align 1024 slots 1 pitch 16384 at 16384\n"
    "  buf cell bytes 8 align 128 slots 1 pitch 128 at 32768\n"
    "  bar full slots 1 count 1 at 32896\n  bar done slots 1 count 1 at 32904\n"
    "  plan out = copy extent [128, 128] src u8 pitch [128, 1] dst u8 pitch [128, 1] span 128 panel 16384 swizzle 128B "
    "threads 128 vector 16 method 0 block 16, 1 deal 0 ways 16, 16\n"
    "  init {\n"
    "    elect bar.init full, 1\n    elect bar.init done, 1\n    elect fence.mbar_init\n"
    "    elect tc.alloc cell, n 32\n    elect tc.relinquish\n"
    "    cta.sync 0, 128\n"
    "    tc.base cell\n"
    "    %d = tc.desc s, lead 16, stride 1024, swizzle 128B\n"
    "  }\n"
    "  role work warps 4 {\n"
    "    elect bar.arrive_expect full, 8192\n"
    "    elect tma.load in [0, 0] -> s, full, bytes 8192\n"
    "    bar.wait full, 0\n"
    "    elect tc.cp 128x256b, b4x16_p64, s, by %d, step 32, n 4 -> u\n"
    "    elect tc.commit done\n"
    "    bar.wait done, 0\n"
    "    tc.fence after\n"
    "    tc.ld out, u -> o\n"
    "    fence.async shared\n"
    "    tc.fence before\n"
    "    cta.sync 1, 128\n"
    "    elect tma.store to [0, 0], o, bytes 16384\n"
    "    elect grp.commit\n"
    "    elect grp.wait 0 read\n"
    "  }\n"
    "  exit {\n"
    "    cta.sync 0, 128\n"
    "    tc.fence after\n"
    "    elect tc.free 32\n"
    "  }\n"
    "}\n";

typedef struct Change {
    const char *from, *to, *code; /* NULL: it is as correct */
} Change;

#define CP4 "    tc.cp 4x256b, plain, s, by %d, step 32, n 1 -> u(31, 0)\n"
#define FIRST "    tc.cp 128x256b, plain, s, by %d, step 32, n 1 -> u\n    tc.commit done\n"

static const Change CHANGES[] = {
    {"", "", NULL},
    /* places that the run knows */
    {CP4, "    tc.cp 4x256b, plain, s, by %d, step 32, n 1 -> u(31, 0), along 0\n", NULL},
    {CP4, "    tc.cp 4x256b, plain, s, by %d, step 32, n 1 -> u(31, 0), along 16\n", "E0658"}, /* beyond the lane */
    {CP4, "    tc.cp 4x256b, plain, s, by %d, step 32, n 1 -> u(31, 0), along -16\n", "E0658"},
    {"    tc.shift u, n 1\n", "    tc.shift u, n 1, along 4\n", "E0658"},
    {"    tc.ld out, u -> o\n", "    tc.ld out, u -> o, along 4\n", "E0658"},
    /* waits, and their fences */
    {"    tc.commit done\n    bar.wait done, 0\n", "", "E0601"},                    /* a shift is not in order behind a copy */
    {"    bar.wait done, 0\n    tc.fence after\n", "    tc.fence after\n    bar.wait done, 0\n", "E0675"},
    {"    bar.wait done, 0\n    tc.fence after\n", "    bar.wait done, 0\n", "E0675"},
    {"    tc.shift u, n 1\n" CP4, CP4 "    tc.shift u, n 1\n", "E0601"},            /* .. nor behind 4x256b */
    {"    tc.shift u, n 1\n", "    tc.shift u, n 1\n    tc.shift u, n 1\n", "E0602"}, /* .. nor behind another */
    {CP4, CP4 CP4, "E0657"},
    {CP4, "    %i = loop.i32 0 .. 2\n" CP4 "    end\n", "E0657"},
    /* a source that the run knows */
    {CP4, "    %x = sreg ctaid.x\n    %f = and.i32 %x, 8\n    tc.cp 4x256b, plain, s+%f, by %d, step 32, n 1 -> u(31, 0)\n", "E0658"},
    {CP4, "    %x = sreg ctaid.x\n    %b = and.i32 %x, 1\n    %f = mul.i32 %b, 16\n"
          "    tc.cp 4x256b, plain, s+%f, by %d, step 32, n 1 -> u(31, 0)\n", NULL},
    {CP4, "    %x = sreg ctaid.x\n    %b = and.i32 %x, 1\n    %f = mul.i32 %b, 4080\n"
          "    tc.cp 4x256b, plain, s+%f, by %d, step 32, n 1 -> u(31, 0)\n", "E0658"},
    {"    bar.wait ready, 0\n    tc.fence after\n", "    bar.wait ready, 0\n", "E0675"},
    {"    bar.wait ready, 0\n", "", "E0612"},
    {"    tc.fence before\n    cta.sync 1, 128\n", "    cta.sync 1, 128\n", "E0675"},
    {"    tc.fence before\n    cta.sync 1, 128\n", "    cta.sync 1, 128\n    tc.fence before\n", "E0675"},
    {"    bar.wait back, 0\n    tc.fence after\n", "    bar.wait back, 0\n", "E0675"},
    {"    bar.wait back, 0\n", "", "E0602"},
    /* commits */
    {"    tc.commit done\n    bar.wait done, 1\n", "", "E0676"},
    {"    tc.commit done\n    bar.wait done, 1\n", "    tc.commit done\n", "E0674"},
    {"    tc.commit ready\n", "    tc.commit done\n", "E0607"},
    {"bar.init done, 1", "bar.init done, 2", "E0604"},
    /* the source */
    {"    bar.wait full, 0\n", "", "E0601"},
    {"-> o\n    fence.async shared\n", "-> o\n", "E0606"},
    {"expect full, 4096\n    tma.load in [0, 0] -> s, full, bytes 4096", /* rows of half a span lie a span apart */
     "expect full, 2048\n    tma.load half [0, 0] -> s+2048, full, bytes 2048", "E0658"},
    /* all of it has a value */
    {FIRST, "    tc.commit done\n", "E0610"},
    /* allocation and release */
    {"    cta.sync 0, 160\n    tc.fence after\n", "    cta.sync 0, 160\n", "E0674"},
    /* other orders that are as good */
    {"    cta.sync 0, 160\n    tc.fence after\n", "    tc.fence after\n", "E0674"}, /* nobody has come together there */
    {"    elect tc.relinquish\n    cta.sync 0, 160\n", "    cta.sync 0, 160\n    elect tc.relinquish\n", NULL},
    {"    tc.commit ready\n", "    tc.commit ready\n    tc.fence before\n", NULL},
};

static const Change PACKED_CHANGES[] = {
    {"", "", NULL},
    {"-> s, full", "-> s+1024, full", "E0658"}, /* twice as many bytes lie there as the barrier counts */
    {"b4x16_p64", "plain", "E0610"},
    {"b4x16_p64", "b6x16_p32", "E0610"},
    {"[0, 0], o,", "[0, 0], s,", "E0610"},
};

static char *changed(const char *whole, const Change *c)
{
    const char *at = strstr(whole, c->from);
    if (at == NULL) fail_msg("not in the text: %s", c->from);
    size_t head = (size_t)(at - whole), n = strlen(c->to), rest = strlen(at + strlen(c->from));
    char *s = malloc(head + n + rest + 1);
    assert_non_null(s);
    memcpy(s, whole, head);
    memcpy(s + head, c->to, n);
    memcpy(s + head + n, at + strlen(c->from), rest + 1);
    return s;
}

static bool check(Fixture *x, const Change *c, const char *text)
{
    IrModule *m = ir_read(&x->arena, x->names, &x->diags, sources_add(&x->sources, "t.ir", text, strlen(text)));
    bool ok = m && ir_verify(&x->arena, &x->diags, m->kernels.v[0], NULL, NULL);
    diags_render(&x->diags, DIAG_SHORT, false, &x->out);
    bool right = c->code ? !ok && x->out.s && strstr(x->out.s, c->code) : ok;
    if (!right) print_error("%s -> %s: expected %s, got %s\n", c->from, c->to, c->code ? c->code : "no error", x->out.s ? x->out.s : "none");
    return right;
}

static bool verdict(const char *whole, const Change *c)
{
    Fixture x;
    begin(&x);
    char *text = changed(whole, c);
    bool right = check(&x, c, text);
    free(text);
    finish(&x);
    return right;
}

static void test_changes(void **state)
{
    (void)state;
    bool right = true;
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) right = verdict(TEXT, &CHANGES[i]) && right;
    assert_true(right);
}

static void test_packed(void **state)
{
    (void)state;
    bool right = true;
    for (size_t i = 0; i < sizeof PACKED_CHANGES / sizeof *PACKED_CHANGES; i++) right = verdict(PACKED, &PACKED_CHANGES[i]) && right;
    assert_true(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes), cmocka_unit_test(test_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
