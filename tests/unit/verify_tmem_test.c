/* Tensor memory in the verifier: one correct kernel, what may be left out of it, and what may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/ir.h"

/* One role copies, shifts, copies behind the shift, and copies again when the other one has read. */
static const char TEXT[] =
    "module sm_100a\n"
    "kernel k entry k {\n"
    "  tensor src u8 [128, 32] stride [32, 1] read align 1\n"
    "  tensor dst u8 [128, 32] stride [32, 1] written align 1\n"
    "  arg tensor src\n  arg tensor dst\n"
    "  map in = src tiled u8 offset 0 dim [128, 32] pitch [32, 1] box [128, 32] swizzle 32B load\n"
    "  map to = dst tiled u8 offset 0 dim [128, 32] pitch [32, 1] box [128, 32] swizzle 32B store\n"
    "  param map in\n  param map to\n"
    "  grid 1, 1, 1\n  cluster 1, 1, 1\n  threads 160\n  smem 8448\n  tmem_columns 32\n"
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
    "  }\n"
    "  role copy warps 1 elect {\n"
    "    bar.arrive_expect full, 4096\n"
    "    tma.load in [0, 0] -> s, full, bytes 4096\n"
    "    bar.wait full, 0\n"
    "    tc.cp 128x256b, plain, s, lead 16, stride 256, swizzle 32B, step 32, n 1 -> u\n"
    "    tc.commit done\n"
    "    bar.wait done, 0\n"
    "    tc.fence after\n"
    "    tc.shift u, n 1\n"
    "    tc.cp 4x256b, plain, s, lead 16, stride 256, swizzle 32B, step 32, n 1 -> u(31, 0)\n"
    "    tc.commit ready\n"
    "    bar.wait back, 0\n"
    "    tc.fence after\n"
    "    tc.cp 128x256b, plain, s, lead 16, stride 256, swizzle 32B, step 32, n 1 -> u\n"
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

typedef struct Change {
    const char *from, *to, *code; /* NULL: it is as correct */
} Change;

#define CP4 "    tc.cp 4x256b, plain, s, lead 16, stride 256, swizzle 32B, step 32, n 1 -> u(31, 0)\n"
#define FIRST "    tc.cp 128x256b, plain, s, lead 16, stride 256, swizzle 32B, step 32, n 1 -> u\n    tc.commit done\n"

static const Change CHANGES[] = {
    {"", "", NULL},
    /* waits, and their fences */
    {"    tc.commit done\n    bar.wait done, 0\n", "", "E0601"},                    /* a shift is not in order behind a copy */
    {"    bar.wait done, 0\n    tc.fence after\n", "    tc.fence after\n    bar.wait done, 0\n", "E0675"},
    {"    bar.wait done, 0\n    tc.fence after\n", "    bar.wait done, 0\n", "E0675"},
    {"    tc.shift u, n 1\n" CP4, CP4 "    tc.shift u, n 1\n", "E0601"},            /* .. nor behind 4x256b */
    {"    tc.shift u, n 1\n", "    tc.shift u, n 1\n    tc.shift u, n 1\n", "E0602"}, /* .. nor behind another */
    {CP4, CP4 CP4, "E0657"},
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
    /* all of it has a value */
    {FIRST, "    tc.commit done\n", "E0610"},
    /* allocation and release */
    {"    cta.sync 0, 160\n    tc.fence after\n", "    cta.sync 0, 160\n", "E0674"},
    /* other orders that are as good */
    {"    cta.sync 0, 160\n    tc.fence after\n", "    tc.fence after\n", NULL}, /* `back` says that the threads have read */
    {"    elect tc.relinquish\n    cta.sync 0, 160\n", "    cta.sync 0, 160\n    elect tc.relinquish\n", NULL},
    {"    tc.commit ready\n", "    tc.commit ready\n    tc.fence before\n", NULL},
};

typedef struct Fixture {
    Mem mem;
    jmp_buf fail;
    Arena arena;
    Sources sources;
    Diags diags;
    Text out;
} Fixture;

static char *changed(const Change *c)
{
    const char *at = strstr(TEXT, c->from);
    if (at == NULL) fail_msg("not in the text: %s", c->from);
    size_t head = (size_t)(at - TEXT), n = strlen(c->to), rest = strlen(at + strlen(c->from));
    char *s = malloc(head + n + rest + 1);
    assert_non_null(s);
    memcpy(s, TEXT, head);
    memcpy(s + head, c->to, n);
    memcpy(s + head + n, at + strlen(c->from), rest + 1);
    return s;
}

static bool check(Fixture *x, const Change *c, const char *text)
{
    IrModule *m = ir_read(&x->arena, names_new(&x->arena), &x->diags, sources_add(&x->sources, "t.ir", text, strlen(text)));
    bool ok = m && ir_verify(&x->arena, &x->diags, m, m->kernels.v[0], NULL);
    diags_render(&x->diags, DIAG_SHORT, false, &x->out);
    bool right = c->code ? !ok && x->out.s && strstr(x->out.s, c->code) : ok;
    if (!right) print_error("%s -> %s: expected %s, got %s\n", c->from, c->to, c->code ? c->code : "no error", x->out.s ? x->out.s : "none");
    return right;
}

static bool verdict(const Change *c)
{
    Fixture x;
    memset(&x, 0, sizeof x);
    x.mem.fail = &x.fail;
    if (setjmp(x.fail)) abort();
    arena_init(&x.arena, &x.mem);
    sources_init(&x.sources, &x.arena);
    diags_init(&x.diags, &x.arena, &x.sources);
    text_init(&x.out, &x.mem);
    char *text = changed(c);
    bool right = check(&x, c, text);
    free(text);
    text_free(&x.out);
    arena_free(&x.arena);
    return right;
}

static void test_changes(void **state)
{
    (void)state;
    bool right = true;
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) right = verdict(&CHANGES[i]) && right;
    assert_true(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
