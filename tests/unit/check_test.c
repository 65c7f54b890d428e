/* The checked program: folding, sizes, views, inlining, shapes, modules, and graphs that are too large as trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/prog.h"

typedef struct Module { /* what an import finds; the last one has no name */
    const char *name, *text;
} Module;
typedef struct Fixture {
    Mem mem;
    jmp_buf fail;
    Arena arena, scratch;
    Sources sources;
    Diags diags;
    Compilation c;
    Checked *checked;
    PKernel *k; /* the last kernel; NULL after an error */
} Fixture;

static const char *read_module(void *user, const char *module, const char *from, size_t *size, const char **path,
                               const char **why)
{
    (void)from, (void)why;
    for (const Module *m = user; m && m->name; m++) {
        if (strcmp(m->name, module) != 0) continue;
        *size = strlen(m->text);
        *path = m->name;
        return m->text;
    }
    return NULL;
}

static void check_with(Fixture *f, const char *text, Define *defines, size_t ndefines, const Module *modules)
{
    memset(f, 0, sizeof *f);
    f->mem.fail = &f->fail;
    arena_init(&f->arena, &f->mem);
    arena_init(&f->scratch, &f->mem);
    sources_init(&f->sources, &f->arena);
    diags_init(&f->diags, &f->arena, &f->sources);
    f->c = (Compilation){.arena = &f->arena, .scratch = &f->scratch, .names = names_new(&f->arena), .sources = &f->sources,
                         .diags = &f->diags};
    if (setjmp(f->fail)) fail();
    ParseContext pc = {&f->arena, f->c.names, &f->diags, &f->sources};
    Unit *unit = parse_unit(&pc, sources_add(&f->sources, "t.tile", text, strlen(text)));
    assert_int_equal(f->diags.errors, 0);
    ImportReader reader = {.read = read_module, .user = (void *)(uintptr_t)modules};
    f->checked = check_unit(&f->c, unit, defines, ndefines, &reader, NULL);
    for (size_t i = 0; i < check_kernel_count(f->checked); i++) f->k = check_kernel(f->checked, i);
}

static void check(Fixture *f, const char *text) { check_with(f, text, NULL, 0, NULL); }

static void close_fixture(Fixture *f)
{
    arena_free(&f->scratch);
    arena_free(&f->arena);
}

/* "E0201@2:5 E0301@3:9": every error with its place. */
static void check_errors(const char *text, const char *expected)
{
    Fixture f;
    char got[1024] = "";
    check(&f, text);
    for (const Diag *g = f.diags.first; g; g = g->next) {
        const char *path;
        uint32_t line, col;
        size_t n = strlen(got);
        source_place(&f.sources, g->span.lo, &path, &line, &col);
        snprintf(got + n, sizeof got - n, "%s%s@%u:%u", n ? " " : "", error_info(g->code)->code, (unsigned)line, (unsigned)col);
    }
    assert_string_equal(got, expected);
    close_fixture(&f);
}

static const PStmt *nth(const PBlock *b, int n)
{
    const PStmt *s = b->first;
    while (n-- > 0 && s) s = s->next;
    assert_non_null(s);
    return s;
}

/* ---- folding ---- */

static int64_t folded(const char *expr)
{
    char src[512];
    Fixture f;
    snprintf(src, sizeof src, "const c = %s; kernel k(x: global u8[N]) { shared t: u8[16]; move x[c] -> t; }", expr);
    check(&f, src);
    assert_non_null(f.k);
    const Sx *x = f.k->body.first->move->src.dim[0].start;
    assert_int_equal(x->op, SX_CONST);
    int64_t k = x->k;
    close_fixture(&f);
    return k;
}

static void folding(void **state)
{
    (void)state;
    assert_true(folded("-1 / 64") == -1); /* floor, not towards zero */
    assert_true(folded("-1 % 64") == 63);
    assert_true(folded("1 / -64") == -1);
    assert_true(folded("1 % -64") == -63);
    assert_true(folded("-64 / 64") == -1);
    assert_true(folded("-65 / -64") == 1);
    assert_true(folded("-65 % -64") == -1);
    assert_true(folded("ceil(65, 64)") == 2);
    assert_true(folded("ceil(-65, 64)") == -1);
    assert_true(folded("ceil(64, 64)") == 1);
    assert_true(folded("ceil(0, 64)") == 0);
    assert_true(folded("min(3, -4, 5)") == -4);
    assert_true(folded("max(3, -4, 5)") == 5);
    assert_true(folded("-8 >> 1") == -4);
    assert_true(folded("-1 >> 63") == -1);
    assert_true(folded("-1 << 63") == INT64_MIN);
    assert_true(folded("~5 & 0xff") == 0xfa);
    assert_true(folded("6 ^ 3 | 8") == 13);
    assert_true(folded("-9223372036854775808") == INT64_MIN);
    assert_true(folded("-9223372036854775808 % -1") == 0);
    assert_true(folded("-9223372036854775808 / 3") == -3074457345618258603);
}

/* Against the definition, over all small operands. */
static void division_is_floor(void **state)
{
    (void)state;
    for (int a = -7; a <= 7; a++)
        for (int b = -3; b <= 3; b++) {
            char expr[64];
            if (b == 0) continue;
            snprintf(expr, sizeof expr, "(%d) / (%d) * 100 + (%d) %% (%d)", a, b, a, b);
            int64_t q = folded(expr);
            int fq = a / b - (a % b != 0 && (a < 0) != (b < 0));
            assert_int_equal(q, fq * 100 + (a - fq * b));
        }
}

static void identities(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k(x: global u8[N], n: s64) { shared t: u8[16]; move x[(n + 0) * 1 / 1 - 0 << 0] -> t; }");
    const Sx *x = f.k->body.first->move->src.dim[0].start;
    assert_int_equal(x->op, SX_SYM);
    assert_true(x->launch);
    close_fixture(&f);
}

static void what_is_known_at_launch(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k(x: global s32[N], n: s64) grid (4) {\n"
              "  shared t: s32[4]; var v = 0;\n"
              "  for i in 0 .. 2 { move x[N * 4 + n] -> t; move x[cta.x + n] -> t; move x[i] -> t; move x[v] -> t; move x[x[0]] -> t; }\n"
              "}\n");
    const PStmt *s = nth(&f.k->body, 1)->body.first;
    static const bool launch[] = {true, false, false, false, false};
    for (int i = 0; i < 5; i++, s = s->next) assert_int_equal(s->move->src.dim[0].start->launch, launch[i]);
    close_fixture(&f);
}

/* ---- parameters ---- */

static void sizes(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k(n: s32, a: global f32[M, N] stride [S, 1], b: global f32[N, n, 8]) grid (ceil(M, 64), n) { }");
    PKernel *k = f.k;
    assert_int_equal(k->syms.n, 4);
    const char *names[4] = {"n", "M", "N", "S"};
    const MfSymKind kinds[4] = {MF_SCALAR, MF_SIZE, MF_SIZE, MF_STRIDE};
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(names_text(f.c.names, k->syms.v[i].name), names[i]);
        assert_int_equal(k->syms.v[i].kind, kinds[i]);
    }
    assert_int_equal(k->params.n, 3);
    assert_true(k->params.v[0].is_scalar);
    assert_int_equal(k->params.v[0].sym, 0);
    const PTensor *a = k->tensors.v[0], *b = k->tensors.v[1];
    assert_true(a->strided);
    assert_int_equal(a->stride[0]->k, 3);
    assert_ptr_equal(a->extent[1], b->extent[0]);
    assert_int_equal(b->extent[1]->op, SX_SYM); /* an extent that is a scalar parameter */
    assert_int_equal(b->extent[1]->k, 0);
    assert_int_equal(b->stride[2]->k, 1);
    assert_int_equal(b->stride[1]->k, 8);
    assert_int_equal(b->stride[0]->op, SX_MUL);
    assert_int_equal(k->grid[1]->op, SX_SYM);
    assert_int_equal(k->grid[2]->k, 1);
    assert_int_equal(k->threads, 32);
    close_fixture(&f);
}

static void defines(void **state)
{
    (void)state;
    Fixture f;
    Define d[] = {{"k.BM", "0x20", false}, {"T", "f16", false}, {"W", "-0b11", false}, {"other.BM", "8", false}};
    check_with(&f, "const W = 7; kernel k<BM = 64, T = f32, BN = BM * 2>(x: global T[N]) { shared t: T[BN + W]; move x[0] -> t; }", d, 4,
               NULL);
    assert_int_equal(f.k->tiles.v[0]->type, TYPE_F16);
    assert_int_equal(f.k->tiles.v[0]->extent[0], 61);
    assert_true(d[0].used && d[1].used && d[2].used && !d[3].used);
    close_fixture(&f);
}

/* ---- regions and views ---- */

static void shapes(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k(x: global f32[B, M, N]) {\n"
              "  shared t: f32[16, 8]; shared u: f32[2][1, 16, 8];\n"
              "  move x[3, 4 +: 16, :] -> t;\n"
              "  move x[1, 2, 3] -> u[1];\n"
              "  move x[0, 0 +: 8 by 2, 0 +: 4] -> t[8 +: 8, 0 +: 4];\n"
              "}\n");
    const PRegion *r = &f.k->body.first->move->src;
    assert_false(r->dim[0].marked);
    assert_int_equal(r->dim[0].extent, 1);
    assert_int_equal(r->dim[1].extent, 16);
    assert_true(r->dim[2].whole); /* N is the tile's 8: proved or checked at launch */
    assert_int_equal(r->dim[2].extent, 8);
    const PMove *m = nth(&f.k->body, 1)->move;
    for (int d = 0; d < 3; d++) assert_true(m->src.dim[d].marked);
    assert_int_equal(m->src.dim[1].extent, 16); /* the tile's */
    assert_int_equal(m->dst.slot->k, 1);
    m = nth(&f.k->body, 2)->move;
    assert_int_equal(m->src.dim[1].step, 2);
    assert_int_equal(m->dst.dim[0].start->k, 8);
    assert_true(m->is_load);
    close_fixture(&f);
}

static void views(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k(x: global f32[64, 8, 128]) {\n"
              "  shared t: f32[4, 16];\n"
              "  view v = x[8 +: 32, 3, 64 +: 64];\n"
              "  view w = v[4 +: 8, :];\n"
              "  view flat = x : f32[512, 128];\n"
              "  move w[0, 0] -> t; move flat[0, 0] -> t;\n"
              "}\n");
    assert_non_null(f.k);
    const PTensor *w = f.k->body.first->move->src.tensor, *x = f.k->tensors.v[0];
    assert_ptr_equal(w->base, x);
    assert_int_equal(w->rank, 2);
    assert_int_equal(w->extent[0]->k, 8);
    assert_int_equal(w->extent[1]->k, 64);
    assert_int_equal(w->stride[0]->k, 8 * 128);
    assert_int_equal(w->dim_of[0], 0);
    assert_int_equal(w->dim_of[1], 2);
    assert_int_equal(w->start[0]->k, 12);
    assert_int_equal(w->start[1]->k, 3);
    assert_int_equal(w->start[2]->k, 64);
    assert_int_equal(w->offset->k, 12 * 8 * 128 + 3 * 128 + 64);
    const PTensor *flat = nth(&f.k->body, 1)->move->src.tensor;
    assert_true(flat->reshaped && !flat->strided);
    assert_int_equal(flat->stride[0]->k, 128);
    assert_int_equal(f.k->facts.n, 0); /* all of it is constant */
    close_fixture(&f);
}

static void views_known_at_launch(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k(x: global f32[M, N], n: s64) { view v = x[n +: 32, :]; shared t: f32[4, 4]; move v[0, 0] -> t; }");
    assert_int_equal(f.k->facts.n, 2); /* n >= 0, n + 32 <= M */
    assert_int_equal(f.k->facts.v[0].cond->op, SX_GE);
    assert_int_equal(f.k->facts.v[1].cond->op, SX_LE);
    close_fixture(&f);
}

/* ---- functions and modules ---- */

static void inlining(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "fn row(i, h) = i * h + 1;\n"
              "fn inner<T, W = 16>(x: global T[N], i) { shared t: T[W]; let at = row(i, W); move x[at] -> t; }\n"
              "fn outer(x: global f32[K], i) { inner<f32>(x, i); inner<f32, 4>(x, i + 1); }\n"
              "kernel k(x: global f32[N]) grid (8) { outer(x, cta.x); }\n");
    assert_non_null(f.k);
    assert_int_equal(f.k->tiles.n, 2); /* a tile of its own per call */
    assert_int_equal(f.k->tiles.v[0]->extent[0], 16);
    assert_int_equal(f.k->tiles.v[1]->extent[0], 4);
    const PStmt *let = f.k->body.first, *move = let->next;
    assert_int_equal(let->kind, P_LET);
    assert_int_equal(let->value->op, SX_ADD);
    assert_int_equal(let->value->a->op, SX_MUL);
    assert_int_equal(let->value->a->a->op, SX_CTA);
    assert_int_equal(move->move->src.dim[0].start->op, SX_LET);
    assert_ptr_equal(move->move->src.tensor, f.k->tensors.v[0]);
    assert_string_equal(names_text(f.c.names, move->frame->fn), "inner");
    assert_string_equal(names_text(f.c.names, move->frame->outer->fn), "outer");
    assert_null(move->frame->outer->outer);
    close_fixture(&f);
}

/* Extents of parameters: names are bound, the rest must agree. */
static void extents_of_parameters(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "fn f(x: global f32[R, R]) { }\n"
              "fn g(x: global f32[n, 8], n) { }\n"
              "kernel k(a: global f32[M, N], b: global f32[M, 8], c: global f32[M, M]) { f(a); f(c); g(b, M); g(b, M + 1); }\n");
    assert_non_null(f.k);
    assert_int_equal(f.k->facts.n, 2); /* N == M for f(a), M + 1 == M for g */
    close_fixture(&f);
    check_errors("fn f(x: global f32[R, R]) { }\nkernel k(a: global f32[4, 8]) { f(a); }\n", "E0219@2:35");
}

static void modules(void **state)
{
    (void)state;
    Fixture f;
    const Module m[] = {{"a.b", "import c; const W = 4; fn w(n) = n * W + c.one;"}, {"c", "const one = 1;"}, {NULL, NULL}};
    check_with(&f, "import a.b; import c; kernel k(x: global f32[N]) { shared t: f32[a.b.w(3) + a.b.W + c.one]; move x[0] -> t; }", NULL, 0,
               m);
    assert_non_null(f.k);
    assert_int_equal(f.k->tiles.v[0]->extent[0], 18);
    close_fixture(&f);
}

/* The bounds of inner loops are worked out once. */
static void bounds_of_loops(void **state)
{
    (void)state;
    Fixture f;
    check(&f, "kernel k() { var v = 4; for (i, j) in (v, v + 1) { v = v + 1; } }");
    const PStmt *let = nth(&f.k->body, 1), *outer = let->next, *inner = outer->body.first;
    assert_int_equal(let->kind, P_LET);
    assert_int_equal(outer->kind, P_FOR);
    assert_int_equal(outer->value->op, SX_VAR);
    assert_int_equal(inner->kind, P_FOR);
    assert_int_equal(inner->value->op, SX_LET);
    assert_int_equal(inner->value->k, let->id);
    close_fixture(&f);
}

/* ---- graphs ---- */

/* 2^60 paths through 60 nodes. */
static void shared_graphs(void **state)
{
    (void)state;
    char src[8192];
    size_t n = 0;
    for (int wide = 0; wide < 2; wide++) {
        n = (size_t)snprintf(src, sizeof src, "fn d(n) = n * n + n;\nkernel k(x: global f32[N], n: s64) {\n  barrier b; shared t: f32[4]; shared u: f32[4];\n  let a0 = n + 1;\n");
        for (int i = 0; i < 60; i++)
            n += (size_t)snprintf(src + n, sizeof src - n, wide ? "  let a%d = d(a%d) - a%d;\n" : "  let a%d = a%d + a%d;\n", i + 1, i, i);
        snprintf(src + n, sizeof src - n, "  move x[a60] -> t commit b;\n  move x[a60 - a59] -> u commit b;\n  wait b;\n  view v = x[a60 +: 4];\n}\n");
        Fixture f;
        check(&f, src);
        assert_non_null(f.k);
        assert_int_equal(f.k->nlets, 61);
        close_fixture(&f);
    }
}

static void limits(void **state)
{
    (void)state;
    check_errors("fn f(n) = f(n);\nkernel k() { let a = f(1); }\n", "E0208@1:11");
    check_errors("const a = b;\nconst b = a + a + b;\nkernel k() { }\n", "E0218@2:11 E0218@2:19");
    check_errors("kernel k(x: global u8[M, 4611686018427387904, 2]) { }\n", "E0303@1:26");
    check_errors("kernel k() { shared t: u8[16777216, 16777216, 16777216, 16777216]; }\n", "E0901@1:24");
    check_errors("kernel k(x: global u8[9223372036854775807]) { view v = x[9223372036854775807 +: 1]; }\n", "E0303@1:58");
    check_errors("kernel k() { }\nkernel WARP_SZ(ntid: s64) { }\nkernel visible() grid (1) { for i in 0 { } for j in 4 .. 2 { } }\n", "");
}

static void one_mistake_one_error(void **state)
{
    (void)state;
    check_errors("kernel k(x: global f32[N]) { let a = b; let b = a + b; shared t: f32[c]; move x[a] -> t; move t -> x[b]; wait t; }\n",
                 "E0201@1:38 E0201@1:70");
    check_errors("fn f(n) { let a = 1 / n; let b = a + 1; shared t: f32[b]; }\nkernel k() { f(0); f(0); }\n", "E0302@1:19");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding),          cmocka_unit_test(division_is_floor),
        cmocka_unit_test(identities),       cmocka_unit_test(what_is_known_at_launch),
        cmocka_unit_test(sizes),            cmocka_unit_test(defines),
        cmocka_unit_test(shapes),           cmocka_unit_test(views),
        cmocka_unit_test(views_known_at_launch), cmocka_unit_test(inlining),
        cmocka_unit_test(extents_of_parameters), cmocka_unit_test(modules),
        cmocka_unit_test(bounds_of_loops),  cmocka_unit_test(shared_graphs),
        cmocka_unit_test(limits),           cmocka_unit_test(one_mistake_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
