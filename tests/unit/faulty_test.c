/* A faulty expression in every place where one can stand: the program is refused with an error, and nothing crashes.
 *
 * PLACES has programs with a hole `@` per operand of every production of the grammar that takes an expression: parse.y
 * itself says which those are. FAULTS has what goes into the hole, with the declarations that it needs. All of the
 * one are crossed with all of the other; then numbers of every program of tests/golden become faults, in turn. */
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ptxgen/include/tilecc.h"

/* ---- faults ---- */

typedef struct Fault {
    const char *use, *declared; /* declared: items of the file */
    bool fits;                  /* may be right in some places: only a crash is wrong there */
    const char *define;         /* -D F=.. */
} Fault;

static const Fault FAULTS[] = {
    /* constants of this file */
    {"F", "const F = nowhere;", false, NULL},
    {"F", "const F = nowhere(1);", false, NULL},
    {"F", "const F = G + 1; const G = nowhere;", false, NULL},
    {"F", "const F = F;", false, NULL},
    {"F", "const F = G; const G = H; const H = F + 1;", false, NULL},
    {"F", "fn f(a) = F + a; const F = f(1);", false, NULL},
    {"F", "fn f(a) = g(a); fn g(a) = f(a); const F = f(1);", false, NULL},
    {"F", "const F = 9223372036854775807 + 1;", false, NULL},
    {"F", "const F = 9223372036854775807 * 2;", false, NULL},
    {"F", "const F = -(-9223372036854775807 - 1);", false, NULL},
    {"F", "const F = 3 << 63;", false, NULL},
    {"F", "const F = 1 << 64;", false, NULL},
    {"F", "const F = 1 >> -1;", false, NULL},
    {"F", "const F = 1 / 0;", false, NULL},
    {"F", "const F = 1 % 0;", false, NULL},
    {"F", "const F = ceil(1, 0);", false, NULL},
    {"F", "fn f(a, b) = a / b; const F = f(1, 0);", false, NULL},
    {"F", "const F = 1 < 2;", false, NULL},
    {"F", "const F = !1;", false, NULL},
    {"F", "const F = \"text\";", false, NULL},
    {"F", "const F = 1.5;", false, NULL},
    {"F", "const F = f32;", false, NULL},
    {"F", "const F = cta.x;", false, NULL},
    {"F", "const F = cta;", false, NULL},
    {"F", "const F = other; kernel other() { }", false, NULL},
    {"F", "const F = f; fn f(a) = a;", false, NULL},
    {"F", "const F = f(); fn f(a) = a;", false, NULL},
    {"F", "const F = G[0]; const G = 1;", false, NULL},
    {"F", "const F = G.x; const G = 1;", false, NULL},
    {"F", "const F = peer(G, 0); const G = 1;", false, NULL},
    {"F", "const F = 1; const F = nowhere;", false, NULL},
    {"F", "const F = 1;", false, "1x"},
    /* constants and functions of other files */
    {"ring_a.A", "import ring_a;", false, NULL},
    {"bad.UNKNOWN", "import bad;", false, NULL},
    {"bad.OVER", "import bad;", false, NULL},
    {"bad.SELF", "import bad;", false, NULL},
    {"bad.TEXT", "import bad;", false, NULL},
    {"bad.CALLED", "import bad;", false, NULL},
    {"bad.zero(1)", "import bad;", false, NULL},
    {"bad.NONE", "import bad;", false, NULL},
    {"bad.none(1)", "import bad;", false, NULL},
    {"user.FROM_BAD", "import user;", false, NULL},
    {"F", "import bad; const F = bad.UNKNOWN + 1;", false, NULL},
    {"garbled.C", "import garbled;", false, NULL},
    {"garbled.f(1)", "import garbled;", false, NULL},
    {"missing.C", "import missing;", false, NULL},
    {"missing.f(1)", "import missing;", false, NULL},
    /* on the spot */
    {"nowhere", "", false, NULL},
    {"nowhere(1)", "", false, NULL},
    {"nowhere[0]", "", false, NULL},
    {"nowhere.C", "", false, NULL},
    {"(1 / 0)", "", true, NULL},
    {"(1 << 64)", "", true, NULL},
    {"(9223372036854775807 + 1)", "", true, NULL},
    {"zero(1)", "fn zero(a) = a / 0;", true, NULL},
    {"self(1)", "fn self(a) = self(a);", true, NULL},
    {"min(1)", "", true, NULL},
    {"\"text\"", "", true, NULL},
    {"1.5", "", true, NULL},
    {"(1 < 2)", "", true, NULL},
    {"f32", "", true, NULL},
    {"cta", "", true, NULL},
    {"cta.q", "", true, NULL},
    {"k", "", true, NULL},
    {"x", "", true, NULL},
    {"x[0]", "", true, NULL},
    {"x[0 +: 4]", "", true, NULL},
    {"t", "", true, NULL},
    {"peer(t, 0)", "", true, NULL},
    {"9223372036854775807", "", true, NULL},
    {"(-1)", "", true, NULL},
    {"0", "", true, NULL},
};
enum { NFAULTS = sizeof FAULTS / sizeof *FAULTS };

static const char *const FILES[][2] = {
    {"ring_a", "import ring_b; const A = ring_b.B;"},
    {"ring_b", "import ring_a; const B = ring_a.A + 1;"},
    {"bad", "const UNKNOWN = nowhere; const OVER = 1 << 64; const SELF = SELF; const TEXT = \"t\"; fn zero(a) = a / 0; "
            "const CALLED = zero(1);"},
    {"user", "import bad; const FROM_BAD = bad.UNKNOWN;"},
    {"garbled", "const C = ; fn f(a) = a;"},
};

/* ---- places ---- */

typedef struct Place {
    const char *rule; /* right-hand side, as parse.y has it */
    int n;            /* which of its expressions, from 1 on */
    const char *text; /* `@`: the hole; `$`: a hole that declares a name which nothing else does */
} Place;

#define KERNEL(BODY) "kernel k(x: global f32[N, 64], i: global s32[N]) { " BODY " }"
#define MOVES(BODY) KERNEL("shared t: f32[8, 64]; " BODY)
#define DEEP(BODY) \
    "target sm_100a; kernel k(x: global u8[128, 64]) grid (1) threads 128 { shared s: u8[2][128, 32]; tmem t: u8[2][128, 32]; " BODY " }"
#define PAIR(BODY) \
    "kernel k(x: global f32[N, 64]) grid (2) cluster (2) { shared t: f32[8, 64]; shared u: f32[8, 64]; barrier b; barrier a[2]; " BODY " }"
#define IMAGE(OPTIONS, BODY) "kernel k(x: global f32[N, H, W, 64]) { shared t: f32[16, 64]; map m = x " OPTIONS "; " BODY " }"
#define IM2COL(LOWER, UPPER, CHANNELS, PIXELS, OFFSET)                                                                   \
    IMAGE("im2col lower " LOWER " upper " UPPER " channels " CHANNELS " pixels " PIXELS,                                 \
          "move x[0, 0, 0, 0] -> t via m offset " OFFSET ";")

static const Place PLACES[] = {
    {"\"const\" name \"=\" expr \";\"", 1, "const C = @; kernel k() { if C > 1 { } }"},
    {"\"fn\" name tparams \"(\" params \")\" \"=\" expr \";\"", 1, "fn f(a) = a + @; kernel k() { let w = f(1); if w > 1 { } }"},
    {"sum", 1, "kernel k<A = @>() { if A > 1 { } }"},
    {"sum", 1, "fn f<A = @>() { if A > 1 { } } kernel k() { f(); }"},
    {"sum", 1, "kernel k<B = 1, A = @>() { if A > 1 { } }"},
    {"alternatives \"|\" sum", 1, "kernel k<A = 1 | @>() { if A > 1 { } }"},
    {"name \":\" \"barrier\" bdim", 1, "fn f(b: barrier[@]) { wait b[0]; } kernel k() { barrier a[2]; f(a); }"},
    {"\"[\" exprs \"]\"", 1, "kernel k(x: global f32[$]) { shared t: f32[4]; move x[0] -> t; }"},
    {"\"[\" exprs \"]\"", 1, "kernel k(x: global f32[4, $]) { shared t: f32[4, 4]; move x[0, 0] -> t; }"},
    {"\"[\" exprs \"]\"", 1, MOVES("shared u: f32[8, @]; move x[0, 0] -> u;")},
    {"\"[\" exprs \"]\"", 1, MOVES("view v = x : f32[@, 4]; move v[0, 0] -> t;")},
    {"\"[\" exprs \"]\"", 1, DEEP("tmem v: u8[128, @];")},
    {"\"[\" exprs \"]\"", 1, "fn f(t: shared f32[$, 64]) { fill t = 0; } " MOVES("f(t);")},
    {"dims \"[\" exprs \"]\"", 1, MOVES("shared u: f32[2][@, 64]; move x[0, 0] -> u[0];")},
    {"dims \"[\" exprs \"]\"", 1, DEEP("tmem v: u8[2][128, @];")},
    {"\"[\" exprs \"]\"", 1, MOVES("shared u: f32[@][8, 64]; move x[0, 0] -> u[0];")},
    {"layout \"stride\" \"[\" exprs \"]\"", 1, "kernel k(x: global f32[N, 64] stride [$, 1]) { shared t: f32[8, 64]; move x[0, 0] -> t; }"},
    {"layout \"interleave\" prim", 1, KERNEL("shared u: f32[8, 8, 8] interleave @; fill u = 0;")},
    {"\"swizzle\" prim", 1, KERNEL("shared u: f32[8, 8] swizzle @; move x[0, 0] -> u;")},
    {"\"swizzle\" prim", 1, KERNEL("shared u: f32[8, 8]; map m = x box [8, 8] swizzle @; move x[0, 0] -> u via m;")},
    {"\"swizzle\" prim \"atom\" prim", 1, DEEP("shared u: f32[8, 8] swizzle @ atom 32;")},
    {"\"swizzle\" prim \"atom\" prim", 2, DEEP("shared u: f32[8, 8] swizzle 128 atom @;")},
    {"\"swizzle\" prim \"atom\" prim \"flip\"", 1, DEEP("shared u: f32[8, 8] swizzle @ atom 32 flip;")},
    {"\"swizzle\" prim \"atom\" prim \"flip\"", 2, DEEP("shared u: f32[8, 8] swizzle 128 atom @ flip;")},
    {"attrs \"grid\" tuple", 1, "kernel k() grid (@) { if cta.x > 1 { } }"},
    {"attrs \"grid\" tuple", 1, "kernel k() grid (1, @) cluster (1, 2) { if grid.y > 1 { } }"},
    {"attrs \"cluster\" tuple", 1, "kernel k() grid (4) cluster (@) { if cluster.rank > 1 { } }"},
    {"attrs \"threads\" prim", 1, "kernel k() threads @ { shared t: f32[32]; fill t = 0; }"},
    {"attrs \"where\" exprs", 1, "kernel k(x: global f32[N]) where @ { if N > 1 { } }"},
    {"attrs \"where\" exprs", 1, "kernel k(x: global f32[N]) where N > 1, @ > N { if N > 1 { } }"},
    {"attrs \"trust\" exprs", 1, "kernel k(i: global s32[N]) trust @ { if i[0] > 1 { } }"},
    {"attrs \"trust\" exprs", 1, "kernel k(i: global s32[N]) trust distinct(@) { if i[0] > 1 { } }"},
    {"\"(\" exprs \")\"", 1, "kernel k() grid (2, @, 2) { if cta.y > 1 { } }"},
    {"\"let\" name \"=\" expr", 1, KERNEL("let w = @; if w > 1 { }")},
    {"\"let\" name \"=\" expr", 1, KERNEL("roles { role a { let w = @; if w > 1 { } } }")},
    {"\"var\" name \"=\" expr", 1, KERNEL("var w = @; if w > 1 { }")},
    {"name \"=\" expr", 1, KERNEL("var w = 0; w = @; if w > 1 { }")},
    {"\"barrier\" name bdim bopts", 1, MOVES("barrier b[@]; move x[0, 0] -> t commit b[0]; wait b[0];")},
    {"\"view\" name \"=\" prim", 1, MOVES("view v = @; move v[0, 0] -> t;")},
    {"\"view\" name \"=\" prim", 1, MOVES("view v = x[@ +: 8, :]; move v[0, 0] -> t;")},
    {"\"view\" name \"=\" prim \":\" type", 1, MOVES("view v = @ : f32[N, 64]; move v[0, 0] -> t;")},
    {"\"map\" name \"=\" prim mopts", 1, MOVES("map m = @ box [8, 64]; move x[0, 0] -> t via m;")},
    {"\"[\" expr \"]\"", 1, KERNEL("barrier b[@]; wait b[0];")},
    {"\"box\" \"[\" exprs \"]\"", 1, MOVES("map m = x box [8, @]; move x[0, 0] -> t via m;")},
    {"\"stride\" \"[\" exprs \"]\"", 1, MOVES("map m = x box [8, 64] stride [@, 1]; move x[0, 0] -> t via m;")},
    {"\"l2\" prim", 1, MOVES("map m = x box [8, 64] l2 @; move x[0, 0] -> t via m;")},
    {"\"interleave\" prim", 1, MOVES("map m = x box [8, 64] interleave @; move x[0, 0] -> t via m;")},
    {"\"lower\" tuple", 1, IM2COL("(@, -1)", "(-1, -1)", "64", "16", "(1, 1)")},
    {"\"upper\" tuple", 1, IM2COL("(-1, -1)", "(-1, @)", "64", "16", "(1, 1)")},
    {"\"channels\" prim", 1, IM2COL("(-1, -1)", "(-1, -1)", "@", "16", "(1, 1)")},
    {"\"pixels\" prim", 1, IM2COL("(-1, -1)", "(-1, -1)", "64", "@", "(1, 1)")},
    {"popts IDENT prim", 1, MOVES("policy p = evict_last fraction @ else evict_first; move x[0, 0] -> t cache p;")},
    {"\"move\" prim \"->\" prim clauses", 1, MOVES("move @ -> t;")},
    {"\"move\" prim \"->\" prim clauses", 1, MOVES("move x[@, 0] -> t;")},
    {"\"move\" prim \"->\" prim clauses", 1, MOVES("fill t = 0; move t[@ +: 4, :] -> x[0, 0];")},
    {"\"move\" prim \"->\" prim clauses", 1, DEEP("move t[@] -> s[0] via threads;")},
    {"\"move\" prim \"->\" prim clauses", 2, MOVES("move x[0, 0] -> @;")},
    {"\"move\" prim \"->\" prim clauses", 2, MOVES("fill t = 0; move t -> x[0, @];")},
    {"\"move\" prim \"->\" prim clauses", 2, DEEP("fill s[0] = 0; move s[0] -> t[0][:, @ +: 32];")},
    {"\"prefetch\" prim clauses", 1, MOVES("prefetch @;")},
    {"\"prefetch\" prim clauses", 1, MOVES("prefetch x[@ +: 8, 0 +: 64];")},
    {"\"shift\" prim clauses", 1, DEEP("shift @;")},
    {"\"shift\" prim clauses", 1, DEEP("fill s[0] = 0; move s[0] -> t[0] via threads; shift t[0][@ +: 32, 0 +: 32];")},
    {"\"fill\" prim \"=\" expr clauses", 1, MOVES("fill @ = 0;")},
    {"\"fill\" prim \"=\" expr clauses", 1, MOVES("fill t[@ +: 4, :] = 0;")},
    {"\"fill\" prim \"=\" expr clauses", 2, MOVES("fill t = @;")},
    {"\"fill\" prim \"=\" expr clauses", 2, PAIR("fill peer(t, cluster.rank ^ 1) = @;")},
    {"\"wait\" prim", 1, PAIR("arrive a[0]; wait @;")},
    {"\"wait\" prim", 1, PAIR("arrive a[0]; wait a[@];")},
    {"prim", 1, MOVES("fill t = 0; group { move t -> x[0, 0] commit group; } wait group @;")},
    {"prim \"read\"", 1, MOVES("fill t = 0; move t -> x[0, 0] commit group; wait group @ read;")},
    {"\"arrive\" prim", 1, PAIR("arrive @; wait b;")},
    {"\"arrive\" prim", 1, PAIR("arrive peer(a[0], @); wait a[0];")},
    {"\"expect\" prim \",\" expr", 1, PAIR("expect @, 16; wait b;")},
    {"\"expect\" prim \",\" expr", 2, PAIR("expect b, @; wait b;")},
    {"path targs \"(\" args \")\"", 1, "fn f(a) { if a > 1 { } } kernel k() { f(@); }"},
    {"path targs \"(\" args \")\"", 1, "fn f(t: shared f32[8, 64]) { fill t = 0; } " MOVES("f(@);")},
    {"path targs \"(\" args \")\"", 1, "fn f(g: global f32[N, 64]) { if N > 1 { } } " MOVES("f(@);")},
    {"path targs \"(\" args \")\"", 1, "fn f(b: barrier) { wait b; } " MOVES("f(@);")},
    {"path targs \"(\" args \")\"", 1, "fn f(m: map) { prefetch m; } " MOVES("f(@);")},
    {"path targs \"(\" args \")\"", 1, "fn f(p: policy) { } " MOVES("f(@);")},
    {"path targs \"(\" args \")\"", 1, "fn f(n: s32) { if n > 1 { } } " MOVES("f(@);")},
    {"path targs \"(\" args \")\"", 1, "fn f<A>() { if A > 1 { } } kernel k() { f<@>(); }"},
    {"path targs \"(\" args \")\"", 2, "fn f<A>(a) { if A > a { } } kernel k() { f<@>(1); }"},
    {"path targs \"(\" args \")\"", 2, "fn f<A>(a) { if A > a { } } kernel k() { f<1>(@); }"},
    {"\"<\" sums \">\"", 1, "fn f<A, B>() { if A > B { } } kernel k() { f<1, @>(); }"},
    {"\"multicast\" \"(\" expr \")\"", 1, PAIR("move x[0, 0] -> t multicast (@);")},
    {"\"bytes\" tuple", 1, KERNEL("shared t: f32[64]; fill t = 0; move t -> x[0, 0 +: 64] via bulk bytes (@);")},
    {"\"offset\" tuple", 1, IM2COL("(-1, -1)", "(-1, -1)", "64", "16", "(1, @)")},
    {"\"halo\" tuple", 1, "target sm_100a; " IMAGE("im2col_w lower (0) upper (0) channels 64 pixels 16", "move x[0, 0, 0, 0] -> t via m halo (@, 0);")},
    {"\"halo\" tuple", 1, "target sm_100a; " IMAGE("im2col_w lower (0) upper (0) channels 64 pixels 16", "move x[0, 0, 0, 0] -> t via m halo (0, @);")},
    {"\"ahead\" prim", 1, MOVES("pipeline n in 8 { prefetch x[n * 8, 0] ahead @; shared u: f32[8, 64]; move x[n * 8, 0] -> u; }")},
    {"\"commit\" prim", 1, PAIR("move x[0, 0] -> t commit @; wait b;")},
    {"\"commit\" prim", 1, PAIR("move x[0, 0] -> t commit a[@]; wait a[0];")},
    {"\"commit\" prim", 1, PAIR("move t -> peer(u, 1) commit peer(b, @); wait b;")},
    {"popt \"stages\" prim", 1, KERNEL("pipeline n in 8 stages @ { shared u: f32[8, 64]; move x[n * 8, 0] -> u; }")},
    {"popt \"threads\" prim", 1, KERNEL("pipeline n in 8 threads @ { shared u: f32[8, 64]; move x[n * 8, 0] -> u; }")},
    {"\"if\" expr block", 1, KERNEL("if @ { }")},
    {"\"if\" expr block", 1, KERNEL("if @ > 1 { }")},
    {"\"if\" expr block", 1, KERNEL("if N > 1 { if @ > 1 { } }")},
    {"\"if\" expr block", 1, MOVES("pipeline n in 4 across grid { if n > @ { move x[n * 8, 0] -> t; } }")},
    {"\"if\" expr block \"else\" block", 1, MOVES("if @ > 1 { fill t = 0; } else { fill t = 1; }")},
    {"\"if\" expr block \"else\" if", 1, MOVES("if @ > 1 { fill t = 0; } else if N > 1 { fill t = 1; }")},
    {"\"role\" name \"threads\" prim block", 1, KERNEL("roles { role a threads @ { } }")},
    {"expr", 1, KERNEL("for n in @ { if i[n] > 1 { } }")},
    {"expr", 1, KERNEL("for (m, n) in (2, @) { if i[n] > m { } }")},
    {"expr", 1, KERNEL("pipeline n in @ across grid { if i[n] > 1 { } }")},
    {"expr", 1, KERNEL("roles { role a { for n in @ { if i[n] > 1 { } } } }")},
    {"expr \"..\" expr", 1, KERNEL("for n in @ .. 8 { if i[n] > 1 { } }")},
    {"expr \"..\" expr", 2, KERNEL("pipeline n in 0 .. @ { if i[n] > 1 { } }")},
    {"expr", 1, MOVES("move x[@, 0 +: 64] -> t[0 +: 1, :];")},
    {"expr", 1, KERNEL("let w = i[@]; if w > 1 { }")},
    {"expr \"+:\" expr", 1, MOVES("move x[@ +: 8, 0 +: 64] -> t;")},
    {"expr \"+:\" expr", 2, MOVES("move x[0 +: @, 0 +: 64] -> t;")},
    {"expr \"+:\" expr", 2, MOVES("view v = x[0 +: @, :]; move v[0, 0] -> t;")},
    {"expr \"+:\" expr", 1, MOVES("move x[i[@ +: 8], 0 +: 64] -> t;")},
    {"expr \"+:\" expr \"by\" expr", 1, MOVES("move x[@ +: 8 by 2, 0 +: 64] -> t;")},
    {"expr \"+:\" expr \"by\" expr", 2, MOVES("move x[0 +: @ by 2, 0 +: 64] -> t;")},
    {"expr \"+:\" expr \"by\" expr", 3, MOVES("move x[0 +: 8 by @, 0 +: 64] -> t;")},
    {"\"{\" exprs \"}\"", 1, MOVES("move x[{0, 1, @, 3, 4, 5, 6, 7}, 0 +: 64] -> t;")},
    {"sum", 1, "fn f<A>() { if A > 1 { } } kernel k() { f<@>(); }"},
    {"sums \",\" sum", 1, "fn f<A, B>() { if A > B { } } kernel k() { f<@, 1>(); }"},
    {"sums \",\" sum", 2, "fn f<A, B>() { if A > B { } } kernel k() { f<1, @>(); }"},
    {"exprs \",\" expr", 1, KERNEL("let w = min(@, 1); if w > 1 { }")},
    {"exprs \",\" expr", 2, KERNEL("let w = ceil(N, @); if w > 1 { }")},
    {"\"(\" expr \")\"", 1, KERNEL("let w = (@); if w > 1 { }")},
    {"name \"(\" args \")\"", 1, "fn f(a) = a + 1; " KERNEL("let w = f(@); if w > 1 { }")},
    {"\"peer\" \"(\" expr \",\" expr \")\"", 1, PAIR("move x[0, 0] -> peer(@, 1) commit b; wait b;")},
    {"\"peer\" \"(\" expr \",\" expr \")\"", 2, PAIR("move x[0, 0] -> peer(t, @) commit b; wait b;")},
    {"prim \"[\" subs \"]\"", 1, KERNEL("let w = (@)[0]; if w > 1 { }")},
    {"prim \".\" name", 1, KERNEL("let w = (@).x; if w > 1 { }")},
    {"prim \".\" name \"(\" args \")\"", 1, KERNEL("let w = (@).f(1); if w > 1 { }")},
    {"prim \".\" name \"(\" args \")\"", 2, "import std.tiles; " KERNEL("let w = std.tiles.f(@); if w > 1 { }")},
};
enum { NPLACES = sizeof PLACES / sizeof *PLACES };

/* ---- the grammar: which places there are ---- */

static char *file_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("can't read %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static const char *root(void)
{
    const char *r = getenv("ROOT");
    return r ? r : "..";
}

typedef struct Rule {
    char text[200];
    int expressions;
    char op[8]; /* of an operator: it has its places by itself */
} Rule;

static int expressions_in(const char *rule)
{
    static const char *const KINDS[] = {"expr", "sum", "prim", "exprs", "args", "sums", "tuple", "bdim", "targs"};
    char copy[200];
    int n = 0;
    snprintf(copy, sizeof copy, "%s", rule);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
        for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) n += strcmp(w, KINDS[i]) == 0;
    return n;
}

/* The right-hand side that a line starts: up to its action or its precedence. */
static bool rule_of(const char *line, Rule *r)
{
    const char *at = line + strspn(line, " ");
    while (isalpha((unsigned char)*at) || *at == '_') at++;
    at += strspn(at, " ");
    if ((*at != ':' && *at != '|') || at[1] != ' ') return false;
    bool quoted = false;
    size_t n = 0;
    for (at += 2; *at && *at != '\n' && (quoted || (*at != '{' && *at != '%' && *at != ';')); at++) {
        if (*at == '"') quoted = !quoted;
        if (n + 1 < sizeof r->text) r->text[n++] = *at;
    }
    while (n && r->text[n - 1] == ' ') n--;
    r->text[n] = 0;
    r->expressions = expressions_in(r->text);
    r->op[0] = 0;
    char a[8] = "", b[8] = "";
    if (sscanf(r->text, "%7[a-z] \"%7[^\"]\" %7[a-z]", a, r->op, b) == 3 && strcmp(a, b) == 0 && ispunct((unsigned char)r->op[0]) &&
        !strchr(",.", r->op[0]) && strcmp(r->op, "+:") != 0 && (strcmp(a, "expr") == 0 || strcmp(a, "sum") == 0))
        return true;
    if (sscanf(r->text, "\"%7[-!~]\" %7[a-z]", r->op, b) == 2) return true;
    r->op[0] = 0;
    return true;
}

/* ---- compiling ---- */

static char folder[64];
static unsigned compiled, refused, wrong;

static void write_files(void)
{
    snprintf(folder, sizeof folder, "/tmp/faulty.XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s.tile", folder, FILES[i][0]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%s\n", FILES[i][1]);
        fclose(f);
    }
}

static void remove_files(void)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s.tile", folder, FILES[i][0]);
        unlink(path);
    }
    rmdir(folder);
}

/* The text with `use` from `at` to `end`, compiled. */
static void refuse(const char *path, const char *text, size_t at, size_t end, const Fault *f)
{
    static const tilecc_emit EMIT[] = {TILECC_EMIT_IR, TILECC_EMIT_PTX, TILECC_EMIT_PLAN};
    const tilecc_define define = {"F", f->define};
    const char *dirs[] = {folder};
    tilecc_options o = {.struct_size = sizeof o,
                        .emit = EMIT[compiled % 3],
                        .error_format = TILECC_SHORT,
                        .defines = &define,
                        .ndefines = f->define != NULL,
                        .import_dirs = dirs,
                        .nimport_dirs = 1};
    size_t room = strlen(text) + strlen(f->use) + strlen(f->declared) + 3;
    char *whole = malloc(room);
    assert_non_null(whole);
    int n = snprintf(whole, room, "%.*s%s%s\n%s\n", (int)at, text, f->use, text + end, f->declared);
    tilecc_result *r = tilecc_compile(&o, path, whole, (size_t)n);
    assert_non_null(r);
    compiled++;
    refused += r->status == TILECC_ERROR_SOURCE;
    bool ok = r->status == TILECC_ERROR_SOURCE ? r->errors > 0 && r->diagnostics_size > 0 : r->status == TILECC_OK && f->fits;
    if (!ok || strstr(r->diagnostics, "E0662")) {
        wrong++;
        print_error("%s: status %d, %u errors, %s%s\n%s", path, (int)r->status, r->errors, r->message, r->diagnostics, whole);
    }
    tilecc_free(r);
    free(whole);
}

static void every_place_is_there(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/frontend/parse/parse.y", root());
    char *grammar = file_text(path), *at = strstr(grammar, "\n%%\n"), *end = at ? strstr(at + 4, "\n%%\n") : NULL;
    assert_non_null(end);
    bool known[NPLACES] = {false};
    int rules = 0;
    for (; at < end; at = strchr(at + 1, '\n')) {
        Rule r;
        if (!rule_of(at + 1, &r)) continue;
        for (int i = 0; i < NPLACES; i++) known[i] = known[i] || strcmp(PLACES[i].rule, r.text) == 0;
        rules += r.expressions > 0;
        for (int n = 1; n <= r.expressions && !r.op[0]; n++) {
            bool found = false;
            for (int i = 0; i < NPLACES; i++) found = found || (PLACES[i].n == n && strcmp(PLACES[i].rule, r.text) == 0);
            /* lists and units of one expression are the expression */
            bool passed_on = strcmp(r.text, "prim") == 0 || strcmp(r.text, "exprs") == 0;
            if (!found && !passed_on) fail_msg("no place for expression %d of `%s`", n, r.text);
        }
    }
    assert_true(rules > 80);
    for (int i = 0; i < NPLACES; i++)
        if (!known[i]) fail_msg("parse.y has no `%s`", PLACES[i].rule);
    free(grammar);
}

static void crossed(void **state)
{
    (void)state;
    compiled = refused = wrong = 0;
    for (int i = 0; i < NPLACES; i++) {
        const char *hole = strpbrk(PLACES[i].text, "@$");
        assert_non_null(hole);
        size_t at = (size_t)(hole - PLACES[i].text);
        for (int k = 0; k < NFAULTS; k++) {
            Fault f = FAULTS[k];
            f.fits = f.fits || (*hole == '$' && !*f.declared);
            refuse("place.tile", PLACES[i].text, at, at + 1, &f);
        }
    }
    print_message("%d places, %d faults, %u programs, %u refused\n", NPLACES, NFAULTS, compiled, refused);
    assert_int_equal(wrong, 0);
    assert_true(refused > compiled * 9 / 10);
}

/* Operators, on either side, in conditions and numbers, and where only sums stand. */
static void operators(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/frontend/parse/parse.y", root());
    char *grammar = file_text(path), *at = strstr(grammar, "\n%%\n"), *end = strstr(at + 4, "\n%%\n");
    int operators = 0;
    wrong = 0;
    for (; at < end; at = strchr(at + 1, '\n')) {
        static const char *const AROUND[] = {KERNEL("let w = %s; if w > 1 { }"), KERNEL("if %s { }"),
                                             "fn f<A = 1>() { if A > 1 { } } kernel k() { f<%s>(); }"};
        Rule r;
        if (!rule_of(at + 1, &r) || !r.op[0]) continue;
        operators++;
        for (int side = 0; side < r.expressions; side++)
            for (int a = 0; a < 3; a++) {
                char inner[32], text[200];
                if (r.expressions == 1) snprintf(inner, sizeof inner, "%s@", r.op);
                else snprintf(inner, sizeof inner, side ? "(1 %s @)" : "(@ %s 1)", r.op);
                snprintf(text, sizeof text, AROUND[a], inner); /* NOLINT: one of the three above */
                size_t hole = (size_t)(strchr(text, '@') - text);
                for (int k = 0; k < NFAULTS; k++) refuse("operator.tile", text, hole, hole + 1, &FAULTS[k]);
            }
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(operators, 18 + 3 + 5 + 3);
    free(grammar);
}

/* ---- numbers of programs that are right ---- */

static unsigned turn, number;

static void numbers_of(const char *path)
{
    char *text = file_text(path);
    for (const char *s = text; *s;) {
        if (s[0] == '/' && s[1] == '/') s += strcspn(s, "\n");
        else if (isalpha((unsigned char)*s) || *s == '_') s += strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        else if (isdigit((unsigned char)*s)) {
            size_t n = strspn(s, "0123456789abcdefxABCDEF.");
            while (n > 1 && s[n - 1] == '.') n--;
            size_t at = (size_t)(s - text);
            s += n;
            if (number++ % 4) continue; /* a quarter of them: half a minute with sanitizers */
            /* those that make a program wrong wherever they stand: a bare name declares a size in a parameter's extents */
            while (FAULTS[turn % NFAULTS].fits || strcmp(FAULTS[turn % NFAULTS].use, "nowhere") == 0) turn++;
            refuse(path, text, at, at + n, &FAULTS[turn++ % NFAULTS]);
        } else s++;
    }
    free(text);
}

static void programs_in(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[1024];
        struct stat st;
        size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.' || strcmp(e->d_name, "lib") == 0) continue;
        assert_true(snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path);
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) programs_in(path);
        else if (n > 5 && strcmp(e->d_name + n - 5, ".tile") == 0) numbers_of(path);
    }
    closedir(d);
}

static void golden_programs(void **state)
{
    (void)state;
    char dir[900];
    snprintf(dir, sizeof dir, "%s/tests/golden", root());
    compiled = wrong = turn = number = 0;
    programs_in(dir);
    print_message("%u programs\n", compiled);
    assert_int_equal(wrong, 0);
    assert_true(compiled > 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_place_is_there), cmocka_unit_test(crossed),
                                       cmocka_unit_test(operators), cmocka_unit_test(golden_programs)};
    write_files();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_files();
    return failed;
}
