/* Lexer, parser and tree: precedence, places, every form of the grammar, recovery, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/parse/ast.h"

typedef struct Fixture {
    Mem mem;
    jmp_buf fail;
    Arena arena;
    Sources sources;
    Diags diags;
    Text out;
    ParseContext cx;
    Unit *unit;
} Fixture;

static void open_fixture(Fixture *f)
{
    memset(f, 0, sizeof *f);
    f->mem.fail = &f->fail;
    arena_init(&f->arena, &f->mem);
    sources_init(&f->sources, &f->arena);
    diags_init(&f->diags, &f->arena, &f->sources);
    text_init(&f->out, &f->mem);
    f->cx = (ParseContext){&f->arena, names_new(&f->arena), &f->diags, &f->sources};
}

static void close_fixture(Fixture *f)
{
    text_free(&f->out);
    arena_free(&f->arena);
}

/* The text must outlive the fixture. */
static void parse(Fixture *f, const char *text)
{
    open_fixture(f);
    f->unit = parse_unit(&f->cx, sources_add(&f->sources, "t.tile", text, strlen(text)));
}

static const Stmt *body_of(const Fixture *f)
{
    assert_non_null(f->unit->first);
    return f->unit->last->body.first;
}

static void check_expr(const char *text, const char *printed)
{
    char src[512];
    Fixture f;
    snprintf(src, sizeof src, "const c = %s;", text);
    parse(&f, src);
    if (setjmp(f.fail)) fail();
    assert_int_equal(f.diags.errors, 0);
    print_expr(f.unit->first->expr, f.cx.names, &f.out);
    assert_string_equal(f.out.s, printed);
    close_fixture(&f);
}

static void check_tree(const char *src, const char *printed)
{
    Fixture f;
    parse(&f, src);
    if (setjmp(f.fail)) fail();
    print_unit(f.unit, f.cx.names, &f.sources, &f.out);
    assert_string_equal(f.out.s ? f.out.s : "", printed);
    assert_int_equal(f.diags.errors, 0);
    close_fixture(&f);
}

/* "E0105@2:13 E0118@3:1": every error with its place, in order. */
static void check_errors(const char *src, const char *expected)
{
    Fixture f;
    char got[1024] = "";
    parse(&f, src);
    if (setjmp(f.fail)) fail();
    for (const Diag *g = f.diags.first; g; g = g->next) {
        const char *path;
        uint32_t line, col;
        size_t n = strlen(got);
        source_place(&f.sources, g->span.lo, &path, &line, &col);
        snprintf(got + n, sizeof got - n, "%s%s@%u:%u", n ? " " : "", error_info(g->code)->code, (unsigned)line,
                 (unsigned)col);
    }
    assert_string_equal(got, expected);
    close_fixture(&f);
}

/* ---- expressions ---- */

static void precedence(void **state)
{
    (void)state;
    check_expr("a + b * c", "a + b * c");
    check_expr("(a + b) * c", "(a + b) * c");
    check_expr("a - b - c", "a - b - c");
    check_expr("a - (b - c)", "a - (b - c)");
    check_expr("a || b && c", "a || b && c");
    check_expr("(a || b) && c", "(a || b) && c");
    check_expr("a & b == c", "a & b == c"); /* not as in C: bits bind tighter than comparison */
    check_expr("(a & b) == c", "a & b == c");
    check_expr("a & (b == c)", "a & (b == c)");
    check_expr("a | (b & c)", "a | b & c");
    check_expr("(a | b) & c", "(a | b) & c");
    check_expr("a ^ b & c ^ d | e", "a ^ b & c ^ d | e");
    check_expr("(a ^ (b & c)) | (d ^ e)", "a ^ b & c | d ^ e");
    check_expr("a & (b | c) ^ d", "a & (b | c) ^ d");
    check_expr("a << b + c", "a << b + c");
    check_expr("(a << b) + c", "(a << b) + c");
    check_expr("-a * b", "-a * b");
    check_expr("-(a * b)", "-(a * b)");
    check_expr("!a == b", "!a == b");
    check_expr("- - ~a", "--~a");
    check_expr("-a[i].b", "-a[i].b");
    check_expr("(a < b) == (c < d)", "(a < b) == (c < d)");
    check_expr("a / b / c % d", "a / b / c % d");
}

static void primaries(void **state)
{
    (void)state;
    check_expr("ceil(M, 64)", "ceil(M, 64)");
    check_expr("peer(t, (cluster.rank + 1) % cluster.size)", "peer(t, (cluster.rank + 1) % cluster.size)");
    check_expr("grid.x + cta.y", "grid.x + cta.y");
    check_expr("std.tiles.f(a, 2)", "std.tiles.f(a, 2)");
    check_expr("x[b, s * 64 +: 64, h, :]", "x[b, s * 64 +: 64, h, :]");
    check_expr("x[31 +: 4 by 32, {r0, r1, r2, r3}]", "x[31 +: 4 by 32, {r0, r1, r2, r3}]");
    check_expr("x[idx[r +: 64]][k % S]", "x[idx[r +: 64]][k % S]");
    check_expr("in + box[swizzle] + stride.offset", "in + box[swizzle] + stride.offset");
}

static void literals(void **state)
{
    (void)state;
    check_expr("1_000", "1000");
    check_expr("0x3333", "13107");
    check_expr("0b1010_1010", "170");
    check_expr("9223372036854775807", "9223372036854775807");
    check_expr("-9223372036854775808", "-9223372036854775808");
    check_expr("1.5", "1.5");
    check_expr("25e-2", "0.25");
    check_expr("1_0.2_5e0_1", "102.5");
    check_expr("0.1", "0.10000000000000001");
    check_expr("4.9406564584124654e-324", "4.9406564584124654e-324");
    check_expr("1e0", "1.0");
    check_expr("\"a\\n\\t\\\"\\\\\xc3\xa9\"", "\"a\\n\\t\\\"\\\\\xc3\xa9\"");
}

static void comments(void **state)
{
    (void)state;
    check_expr("/* a /* b */ 1 // c\n + /**/ 2 /***/", "1 + 2");
}

static void places(void **state)
{
    (void)state;
    const char *src = "kernel k() {\n    let row = (cta.y + 1) * 64;\n}\n";
    Fixture f;
    parse(&f, src);
    const Stmt *s = body_of(&f);
    uint32_t base = f.unit->source->base;
    assert_int_equal(s->span.lo - base, strstr(src, "let") - src);
    assert_int_equal(s->span.hi - base, strchr(src, ';') - src); /* without the `;` */
    assert_int_equal(s->id.span.lo - base, strstr(src, "row") - src);
    const Expr *e = s->expr;
    assert_int_equal(e->span.lo - base, strchr(src, '=') + 2 - src);
    assert_int_equal(e->op_span.lo - base, strchr(src, '*') - src);
    assert_int_equal(e->lhs->span.hi - base, strchr(src, '*') - 1 - src); /* with its parentheses */
    assert_int_equal(f.unit->first->body.span.hi - base, strrchr(src, '}') + 1 - src);
    assert_int_equal(e->depth, 4);
    close_fixture(&f);
}

/* ---- statements and items ---- */

#define IN_KERNEL(text) "kernel k() {\n" text "\n}"
#define KERNEL_OF(text) "kernel k @1:1-11\n  body @1:12-3:2\n" text

static void declarations(void **state)
{
    (void)state;
    check_tree(IN_KERNEL("let a = 1; var b = 2; b = 3;"), KERNEL_OF("    let a @2:1-10\n      value 1 @2:9-10\n"
                                                                    "    var b @2:12-21\n      value 2 @2:20-21\n"
                                                                    "    assign b @2:23-28\n      value 3 @2:27-28\n"));
    check_tree(IN_KERNEL("shared t: bf16[4][64, 64] swizzle 128 atom 32 flip stride [1, 2] interleave 16;"),
               KERNEL_OF("    shared t @2:1-79\n"
                         "      type bf16[4][64, 64] stride [1, 2] swizzle 128 atom 32 flip interleave 16 @2:11-79\n"));
    check_tree(IN_KERNEL("tmem t: u8[128, 16]; barrier f; barrier e[S] free;"),
               KERNEL_OF("    tmem t @2:1-20\n      type u8[128, 16] @2:9-20\n"
                         "    barrier f @2:22-31\n"
                         "    barrier e @2:33-50\n      count S @2:43-44\n      free @2:46-50\n"));
    check_tree(IN_KERNEL("view v = o[:, 4 +: 8]; view w = o: f32[8];"),
               KERNEL_OF("    view v @2:1-22\n      src o[:, 4 +: 8] @2:10-22\n"
                         "    view w @2:24-42\n      src o @2:33-34\n      type f32[8] @2:36-42\n"));
    check_tree(
        IN_KERNEL("policy p = evict_last fraction 0.5 else evict_first;"),
        KERNEL_OF(
            "    policy p evict_last @2:1-52\n      option fraction 0.5 @2:23-35\n      else evict_first @2:36-52\n"));
    check_tree(
        IN_KERNEL("map m = x im2col lower (-1) upper (0) channels 64 pixels 8 box [1] stride [2] fill nan l2 256 "
                  "interleave 32 swizzle 64;"),
        KERNEL_OF(
            "    map m @2:1-119\n      src x @2:9-10\n      mode im2col @2:11-17\n      lower (-1) @2:18-28\n"
            "      upper (0) @2:29-38\n      channels 64 @2:39-50\n      pixels 8 @2:51-59\n      box [1] @2:60-67\n"
            "      stride [2] @2:68-78\n      fill nan @2:79-87\n      l2 256 @2:88-94\n      interleave 32 @2:95-108\n"
            "      layout swizzle 64 @2:109-119\n"));
}

static void actions(void **state)
{
    (void)state;
    check_tree(
        IN_KERNEL("move a -> b via m multicast x reduce add cache p bytes (3) commit f;"),
        KERNEL_OF(
            "    move @2:1-68\n      src a @2:6-7\n      dst b @2:11-12\n      via m @2:13-18\n"
            "      multicast x @2:19-30\n      reduce add @2:31-41\n      cache p @2:42-49\n      bytes (3) @2:50-59\n"
            "      commit f @2:60-68\n"));
    check_tree(
        IN_KERNEL("move a -> peer(b, 1) via threads multicast (3) offset (1, 2) halo (1, 0) convert sat transpose "
                  "overlap any "
                  "commit group;"),
        KERNEL_OF("    move @2:1-120\n      src a @2:6-7\n      dst peer(b, 1) @2:11-21\n      via threads @2:22-33\n"
                  "      multicast 3 @2:34-47\n      offset (1, 2) @2:48-61\n      halo (1, 0) @2:62-73\n"
                  "      convert sat @2:74-85\n      transpose @2:86-95\n      overlap any @2:96-107\n"
                  "      commit group @2:108-120\n"));
}

static void waits(void **state)
{
    (void)state;
    check_tree(IN_KERNEL("wait f[1]; wait group; wait group 1; wait group read; wait group 2 read;"),
               KERNEL_OF("    wait @2:1-10\n      barrier f[1] @2:6-10\n    wait group @2:12-22\n"
                         "    wait group @2:24-36\n      count 1 @2:35-36\n    wait group read @2:38-53\n"
                         "    wait group read @2:55-72\n      count 2 @2:66-67\n"));
    check_tree(
        IN_KERNEL("arrive peer(f, 1); expect f, 64; prefetch a ahead 2; shift t; fill t = 0 reduce add;"),
        KERNEL_OF(
            "    arrive @2:1-18\n      barrier peer(f, 1) @2:8-18\n    expect @2:20-32\n      barrier f @2:27-28\n"
            "      bytes 64 @2:30-32\n    prefetch @2:34-52\n      src a @2:43-44\n      ahead 2 @2:45-52\n"
            "    shift @2:54-61\n      src t @2:60-61\n    fill @2:63-84\n      dst t @2:68-69\n      value 0 "
            "@2:72-73\n"
            "      reduce add @2:74-84\n"));
    check_tree(IN_KERNEL("f(); std.tiles.g<64, B + 1>(a, 2);"),
               KERNEL_OF("    call @2:1-4\n      path f @2:1-2\n    call @2:6-34\n      path std.tiles.g @2:6-17\n     "
                         " targ 64 @2:18-20\n"
                         "      targ B + 1 @2:22-27\n      arg a @2:29-30\n      arg 2 @2:32-33\n"));
}

static void control(void **state)
{
    (void)state;
    check_tree(
        IN_KERNEL("for i in n { } for (i, j) in (1 .. n, m) { }"),
        KERNEL_OF("    for @2:1-11\n      index i @2:5-6\n      range n @2:10-11\n      body @2:12-15\n"
                  "    for @2:16-41\n      index i @2:21-22\n      index j @2:24-25\n      range 1 .. n @2:31-37\n"
                  "      range m @2:39-40\n      body @2:42-45\n"));
    check_tree(
        IN_KERNEL("pipeline i in n stages 4 threads 128 across grid by ticket { wait f; }"),
        KERNEL_OF("    pipeline @2:1-59\n      index i @2:10-11\n      range n @2:15-16\n      stages 4 @2:24-25\n"
                  "      threads 128 @2:34-37\n      across grid by ticket @2:38-59\n      body @2:60-71\n"
                  "        wait @2:62-68\n          barrier f @2:67-68\n"));
    check_tree(
        IN_KERNEL("if a { } else if b { } else { } group { }"),
        KERNEL_OF(
            "    if @2:1-5\n      condition a @2:4-5\n      then @2:6-9\n      else @2:15-32\n        if @2:15-19\n"
            "          condition b @2:18-19\n          then @2:20-23\n          else @2:29-32\n"
            "    group @2:33-38\n      body @2:39-42\n"));
    check_tree(IN_KERNEL("roles { role load { } role store threads 128 { } }"),
               KERNEL_OF("    roles @2:1-6\n      role load @2:9-18\n        body @2:19-22\n      role store @2:23-45\n"
                         "        threads 128 @2:42-45\n        body @2:46-49\n"));
}

static void items(void **state)
{
    (void)state;
    check_tree("target sm_90a, sm_100a; import std.tiles; const c = 1;",
               "target sm_90a, sm_100a @1:1-24\nimport std.tiles @1:25-42\nconst c @1:43-55\n  value 1 @1:53-54\n");
    check_tree("fn f(i, n) = i * n;", "fn f @1:1-11\n  param i @1:6-7\n  param n @1:9-10\n  value i * n @1:14-19\n");
    check_tree("fn f<A, T = bf16>(x: shared T[A], b: barrier[2], m: map, p: policy, n: s64) { }",
               "fn f @1:1-76\n  tparam A @1:6-7\n  tparam T = bf16 @1:9-10\n  param x shared @1:19-33\n    type T[A] "
               "@1:29-33\n"
               "  param b barrier @1:35-48\n    count 2 @1:46-47\n  param m map @1:50-56\n  param p policy @1:58-67\n"
               "  param n s64 @1:69-75\n  body @1:77-80\n");
    check_tree("kernel k() grid (1, 2) cluster (2) threads 64 where M % 4 == 0, N == 1 trust distinct(i) pair { }",
               "kernel k @1:1-94\n  grid 1, 2 @1:12-23\n  cluster 2 @1:24-35\n  threads 64 @1:36-46\n"
               "  where M % 4 == 0, N == 1 @1:47-71\n  trust distinct(i) @1:72-89\n  pair @1:90-94\n  body @1:95-98\n");
    check_tree("", "");
    check_tree("\xef\xbb\xbf// only a comment", "");
}

/* ---- errors ---- */

static void recovery(void **state)
{
    (void)state;
    check_errors(IN_KERNEL("let a = ; let b = 1; let c = ; move x -> ;"), "E0105@2:9 E0105@2:30 E0105@2:42");
    check_errors(IN_KERNEL("let a = 1\nlet b = ;"), "E0118@2:10 E0105@3:9");
    check_errors(IN_KERNEL("for i n { let a = ; } let b = ;"), "E0105@2:7 E0105@2:19 E0105@2:31");
    check_errors("kernel a( { let b = ; }\nkernel c() { let d = ; }", "E0115@1:11 E0105@1:21 E0105@2:22");
    check_errors("kernel a() { for i in n {\nkernel c() { let d = ; }", "E0115@2:1 E0105@2:22");
    check_errors("fn f(a) = ;\nfn g(b) = ;", "E0105@1:11 E0105@2:11");
    check_errors(IN_KERNEL("let a = (1; let b = [; let c = f(1, ; let d = ;"),
                 "E0115@2:11 E0105@2:21 E0105@2:37 E0105@2:47");
    check_errors(IN_KERNEL("roles { wait a; role r { let b = ; } } let c = ;"), "E0105@2:9 E0105@2:48");
    check_errors("}\n) ]\nkernel k() { let a = ; }", "E0116@1:1 E0116@2:1 E0116@2:3 E0105@3:22");
    check_errors("kernel a() { group { roles {\nkernel b( { let c = ; }", "E0115@2:1 E0115@2:11 E0105@2:21");
    check_errors("kernel k() {", "E0115@1:13");
    check_errors("kernel", "E0105@1:7");
}

static void lexical_errors(void **state)
{
    (void)state;
    check_errors(IN_KERNEL("let a = 1 $ ; let b = ;"), "E0101@2:11 E0105@2:23");
    check_errors(IN_KERNEL("let a = \xff\xfe\xff 1;"), "E0107@2:9");
    check_errors(IN_KERNEL("let a = \"x\n;"), "E0103@2:9");
    check_errors("/* no end", "E0102@1:1");
    check_errors("const a = 99999999999999999999;", "E0104@1:11");
    check_errors("const a = 9223372036854775808;", "E0104@1:11");
    check_errors("const a = 1 - 9223372036854775808;", "E0104@1:15");
    check_errors("const a = 1e999;", "E0114@1:11");
}

/* pre, n times mid, post */
static char *repeated(const char *pre, const char *mid, size_t n, const char *post)
{
    size_t len = strlen(mid);
    char *s = malloc(strlen(pre) + n * len + strlen(post) + 1);
    assert_non_null(s);
    char *p = s + strlen(strcpy(s, pre));
    for (size_t i = 0; i < n; i++, p += len) memcpy(p, mid, len);
    strcpy(p, post);
    return s;
}

static void check_repeated(const char *pre, const char *mid, size_t n, const char *post, unsigned errors,
                           const char *code)
{
    char *src = repeated(pre, mid, n, post);
    Fixture f;
    parse(&f, src);
    if (setjmp(f.fail)) fail();
    print_unit(f.unit, f.cx.names, &f.sources, &f.out);
    assert_int_equal(f.diags.errors, errors);
    if (errors) assert_string_equal(error_info(f.diags.first->code)->code, code);
    close_fixture(&f);
    free(src);
}

static void limits(void **state)
{
    (void)state;
    check_repeated("const a = 1", " + 1", EXPR_DEPTH_MAX - 1, ";", 0, "");
    check_repeated("const a = 1", " + 1", EXPR_DEPTH_MAX, ";", 1, "E0117");
    check_repeated("const a = 1", " + 1", 1000000, ";", 1, "E0117");
    check_repeated("const a = x", "[0]", 5000, ";", 1, "E0117");
    check_repeated("const a = x", ".y", 5000, ";", 1, "E0117");
    check_repeated("const a = ", "-", 5000, "1;", 1, "E0117");
    check_repeated("const a = ", "-", 100000, "1;", 1, "E0117");
    check_repeated("const a = f(0", ", 1", 100000, ");", 0, "");
    check_repeated("const a = ", "(", NESTING_MAX, "1;", 1, "E0115");
    check_repeated("const a = ", "(", NESTING_MAX + 1, "1;", 1, "E0106");
    check_repeated("const a = ", "a[1 << 2 + 3 * -(", 100000, "1;", 1, "E0106");
    check_repeated("kernel k() { ", "if a { } else ", NESTING_MAX - 1, "{ } }", 0, "");
    check_repeated("kernel k() { ", "if a { } else ", NESTING_MAX + 2, "{ } }", 1, "E0106");
    check_repeated("kernel k() { ", "if a { } ", 100000, "}", 0, "");
    check_repeated("kernel k() { ", "group { ", 100000, "", 1, "E0106");
    check_repeated("kernel k() { ", "let a = 1; ", 100000, "}", 0, "");
    check_repeated("kernel k() { ", "let a = ; ", 1000, "}", 1000, "E0105");
}

/* ---- tokens ---- */

static void tokens(void **state)
{
    (void)state;
    const char *src = "let x\n  += 0x1F .. \"a\"; // end";
    Fixture f;
    open_fixture(&f);
    if (setjmp(f.fail)) fail();
    print_tokens(&f.cx, sources_add(&f.sources, "t.tile", src, strlen(src)), &f.out);
    assert_string_equal(f.out.s,
                        "1:1-4 word let\n1:5-6 name x\n2:3-4 punctuation +\n2:4-5 punctuation =\n2:6-10 int 0x1F\n"
                        "2:11-13 punctuation ..\n2:14-17 string \"a\"\n2:17-18 punctuation ;\n2:25-25 end\n");
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence), cmocka_unit_test(primaries), cmocka_unit_test(literals),
        cmocka_unit_test(comments),   cmocka_unit_test(places),    cmocka_unit_test(declarations),
        cmocka_unit_test(actions),    cmocka_unit_test(waits),     cmocka_unit_test(control),
        cmocka_unit_test(items),      cmocka_unit_test(recovery),  cmocka_unit_test(lexical_errors),
        cmocka_unit_test(limits),     cmocka_unit_test(tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
