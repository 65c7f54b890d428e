/* lower/: programs in, the text of the IR, launch checks and refusals out. Whatever is lowered is well-formed and passes
 * the verifier. */
#include "tests/unit/lang_fixture.h"

#include "lower/lower.h"
#include "lower/verify/verify.h"

typedef struct Lowered {
    Room *room;
    Arena scratch;
    Text ir, plan, errors;
    Sources sources;
    Diags diags;
    bool ok;
} Lowered;

static void lower_source(void **state, Lowered *l, const char *text)
{
    *l = (Lowered){.room = *state};
    Arena *a = &l->room->arena;
    arena_init(&l->scratch, &l->room->mem);
    text_init(&l->ir, &l->room->mem);
    text_init(&l->plan, &l->room->mem);
    text_init(&l->errors, &l->room->mem);
    sources_init(&l->sources, a);
    diags_init(&l->diags, a, &l->sources);
    Compilation c = {
        .arena = a, .scratch = &l->scratch, .names = names_new(a), .sources = &l->sources, .diags = &l->diags};
    ParseContext pc = {.arena = a, .names = c.names, .diags = &l->diags, .sources = &l->sources};
    Source *src = sources_add(&l->sources, "t.tile", text, strlen(text));
    Checked *ch = check_unit(&c, parse_unit(&pc, src), NULL, 0, NULL, "sm_90a");
    l->ok = ch != NULL;
    for (size_t i = 0; ch && i < check_kernel_count(ch); i++) {
        PKernel *k = check_kernel(ch, i);
        IrKernel *ir = k ? lower_kernel(&c, k, &l->plan) : NULL;
        l->ok &= ir != NULL;
        if (ir == NULL) continue;
        assert_null(ir_check(&l->scratch, ir));
        IrModule m = {.target = c.target->name};
        vec_push(&l->scratch, &m.kernels, ir);
        ir_print(&l->ir, &m, NULL);
        l->ok &= ir_verify(&l->scratch, &l->diags, ir, NULL, NULL);
    }
    diags_render(&l->diags, DIAG_SHORT, false, &l->errors);
    if (l->ir.s == NULL) text_lit(&l->ir, "");
    if (l->errors.s == NULL) text_lit(&l->errors, "");
}

static void done(Lowered *l)
{
    text_free(&l->ir);
    text_free(&l->plan);
    text_free(&l->errors);
    arena_free(&l->scratch);
}

static void contains(const char *text, const char *part)
{
    if (strstr(text, part)) return;
    print_error("no \"%s\" in:\n%s\n", part, text);
    fail();
}

/* Every part stands in the text of the IR, one after the other. */
static void accepts(void **state, const char *text, const char *const *parts)
{
    Lowered l;
    lower_source(state, &l, text);
    if (!l.ok) print_error("%s\n%s\n", l.errors.s, l.ir.s);
    assert_true(l.ok);
    const char *at = l.ir.s;
    for (; *parts; parts++) {
        contains(at, *parts);
        at = strstr(at, *parts) + strlen(*parts);
    }
    done(&l);
}

static void refuses(void **state, const char *text, const char *code, const char *words)
{
    Lowered l;
    lower_source(state, &l, text);
    contains(l.errors.s, code);
    contains(l.errors.s, words);
    assert_false(l.ok);
    done(&l);
}

#define ACCEPTS(text, ...) accepts(state, text, (const char *const[]){__VA_ARGS__, NULL})
#define COPY_HEAD "kernel k(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 256), ceil(M, 64)) {\n"

static void explicit_copy(void **state)
{
    ACCEPTS(COPY_HEAD "map in = src box [64, 256]; map out = dst box [64, 256];\n"
                      "shared tile: bf16[64, 256]; barrier full; let row = cta.y * 64; let col = cta.x * 256;\n"
                      "move src[row, col] -> tile via in commit full; wait full;\n"
                      "move tile -> dst[row, col] via out commit group; wait group; }\n",
            "map in = src tiled bf16", "check E1124 N % 8 == 0", "smem 32776", "bar.init full, 1", "fence.mbar_init",
            "bar.arrive_expect full, 32768", "%row = mul.i32 %ctaid.y, 64", "%col = mul.i32 %ctaid.x, 256",
            "tma.load in [%row, %col] -> tile, full, bytes 32768", "bar.wait full, 0",
            "tma.store out [%row, %col], tile, bytes 32768", "grp.commit", "grp.wait 0 full\n  }");
}

static void commits_of_one_phase(void **state)
{
    ACCEPTS(
        COPY_HEAD
        "shared a: bf16[32, 256]; shared b: bf16[32, 256]; barrier f[2];\n"
        "move src[cta.y * 64, cta.x * 256] -> a commit f[1]; move src[cta.y * 64 + 32, cta.x * 256] -> b commit f[1];\n"
        "wait f[1]; move a -> dst[cta.y * 64, cta.x * 256]; move b -> dst[cta.y * 64 + 32, cta.x * 256]; }\n",
        "bar.init f[0], 1", "bar.init f[1], 1", "bar.expect f[1], 16384", "tma.load", "bar.arrive_expect f[1], 16384",
        "tma.load", "bar.wait f[1], 0", "tma.store", "tma.store");
}

static void panels(void **state)
{
    ACCEPTS("kernel k(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 128), ceil(M, 64)) {\n"
            "shared t: bf16[64, 128] swizzle 128; move src[cta.y * 64, cta.x * 128] -> t; move t -> dst[cta.y * 64, "
            "cta.x * 128]; }\n",
            "map src.map = src", "box [64, 64] swizzle 128B", "align 1024", "bar.arrive_expect t.full, 16384",
            "-> t, t.full, bytes 8192", "-> t+8192, t.full, bytes 8192", "bar.wait t.full, 0", "t+8192, bytes 8192",
            "grp.commit", "grp.wait 0 read");
}

static void rows_wider_than_a_box(void **state)
{
    ACCEPTS("kernel k(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 512), ceil(M, 2)) {\n"
            "shared t: bf16[2, 512]; move src[cta.y * 2, cta.x * 512] -> t; move t -> dst[cta.y * 2, cta.x * 512]; }\n",
            "box [1, 256]", "-> t, t.full, bytes 512", "-> t+512,", "-> t+1024,", "-> t+1536,");
}

static void variables_have_bounds(void **state)
{
    ACCEPTS("kernel k(x: global f32[M, 512], y: global f32[M, 512]) grid (M) { shared t: f32[1, 64]; var to = 0;\n"
            "for k in 8 { move x[cta.x, to] -> t; move t -> y[cta.x, to]; to = 64 * (k + 1); } }\n",
            "tma.load", "tma.store", "set to");
    ACCEPTS("kernel k(x: global f32[M, W], y: global f32[M, W], s: s64) grid (M) { shared t: f32[1, 32]; var r = 0;\n"
            "for k in W { move x[r, 0] -> t; move t -> y[cta.x, 0]; r = r + s; } }\n",
            "check E1117", "`r + s` fits 64 bits");
}

static void derived_in_a_loop(void **state)
{
    ACCEPTS("kernel k(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(M, 64)) { shared t: bf16[64, 128]; "
            "var off = 0;\n"
            "for j in ceil(N, 128) { move src[cta.x * 64, off] -> t; move t -> dst[cta.x * 64, off]; off = off + 128; "
            "} }\n",
            "var t.phase = 0", "var off = 0", "loop", "bar.arrive_expect t.full, 16384", "tma.load", "get.i32 t.phase",
            "bar.wait t.full", "tma.store", "grp.commit", "set off", "grp.wait 0 read", "xor.i32", "end", "grp.wait 0 read");
}

/* A map that steps over rows: the four rows of `t` reach over seven, into what `u` brings in the next turn. */
static void strided_map_in_a_loop(void **state)
{
    ACCEPTS("kernel k(a: global bf16[M, 64], o: global bf16[M, 64]) { map m = o box [8, 64] stride [2, 1];\n"
            "shared t: bf16[4, 64]; shared u: bf16[1, 64]; move a[0, 0] -> t; move a[9, 0] -> u;\n"
            "for i in 0 .. 4 { move u -> o[i * 4, 0]; if i < 3 { move t -> o[i * 4, 0] via m; } } }\n",
            "loop", "grp.wait 0 full", "tma.store o.map", "grp.wait 0 full", "tma.store m", "end");
}

enum { CONDITIONS = 1500 };

/* What a tile holds depends on every condition so far: time and memory must not grow with all their products. */
static void many_conditions(void **state)
{
    static char text[CONDITIONS * 48 + 256];
    int n = snprintf(text, sizeof text, "kernel k(x: global f32[M, 32], k: s64) { shared t: f32[4, 32];\n");
    for (int i = 0; i < CONDITIONS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "if k > %d { move x[0, 0] -> t; }\n", i);
    snprintf(text + n, sizeof text - (size_t)n, "}\n");
    ACCEPTS(text, "tma.load");
}

static void bulk_is_clipped(void **state)
{
    ACCEPTS(
        "kernel k(src: global u8[L], dst: global u8[L]) where L % 16 == 0 grid (ceil(L, 4096)) { shared t: u8[4096];\n"
        "move src[cta.x * 4096] -> t via bulk; move t -> dst[cta.x * 4096] via bulk; }\n",
        "check E1101", "zeros 4096", "min.i64", "bar.arrive_expect t.full, 4096", "blk.load", "blk.load", "bar.wait",
        "blk.store");
}

static void gathered_rows(void **state)
{
    ACCEPTS(
        "kernel k(table: global bf16[V, D], idx: global s32[R], out: global bf16[R, D]) where D == 1024 grid (R) {\n"
        "shared t: bf16[1024]; move table[idx[cta.x], :] -> t via bulk; move t -> out[cta.x, :] via bulk; }\n",
        "bar.arrive_expect", "ld.scalar idx", "blk.load", "blk.load", "blk.store");
}

/* One row per CTA, where START says. */
#define ROW(PARAMS, START)                                                                                          \
    "kernel k(x: global u8[64, 64], y: global u8[M, 64]" PARAMS ") grid (32) {\n"                                   \
    "shared t: u8[1, 64]; move x[0, 0] -> t; move t -> y[" START ", 0]; }\n"

static void values_fit_64_bits(void **state)
{
    Lowered l;
    ACCEPTS(ROW(", n: s64", "(n + cta.x) * 1000003 / 1000003 - n"), "check E1117", "n * 1000003",
            "(n + 31) * 1000003 <= 9223372036854775807");
    /* The sum inside ceil is no part of the difference's extremes. */
    ACCEPTS(ROW(", n: s64", "ceil(n + cta.x * 60, 60) - ceil(n, 60)"), "check E1117",
            "n + 1860 + 59 <= 9223372036854775807");
    refuses(state, ROW(", idx: global s64[K]", "(idx[0] + cta.x) * 16 / 16 - idx[0]"), "E0701", "different CTAs");
    refuses(state, ROW("", "cta.x * 4611686018427387904 * 4 / 4611686018427387904 / 4"), "E0701", "different CTAs");
    lower_source(state, &l, ROW(", n: s32", "(cta.x + 1) * 128 + n * 64"));
    assert_true(l.ok);
    assert_null(strstr(l.ir.s, "E1117"));
    done(&l);
}

static void refusals(void **state)
{
    refuses(state,
            COPY_HEAD "barrier f; shared t: bf16[64, 256]; move src[cta.y * 64, cta.x * 256 + 1] -> t commit f; wait f; move t -> dst[cta.y * 64, "
                      "cta.x * 256]; }\n",
            "E0520", "no copy instruction fits");
    refuses(
        state,
        COPY_HEAD
        "map in = src box [64, 128]; shared t: bf16[64, 256]; barrier f;\n"
        "move src[cta.y * 64, cta.x * 256] -> t via in commit f; wait f; move t -> dst[cta.y * 64, cta.x * 256]; }\n",
        "E0462", "128");
    refuses(
        state,
        COPY_HEAD
        "shared t: bf16[64, 256]; move src[cta.y * 64, cta.x * 256] -> t; move t -> dst[cta.y * 32, cta.x * 256]; }\n",
        "E0701", "different CTAs");
    refuses(state,
            COPY_HEAD "map out = dst box [64, 256]; shared t: bf16[64, 256]; move src[cta.y * 64, cta.x * 256] -> t;\n"
                      "move t -> dst[cta.y * 64 - 1, cta.x * 256] via out; }\n",
            "E0501", "at least 0");
    refuses(
        state,
        COPY_HEAD
        "shared t: bf16[512, 256]; move src[cta.y * 64, cta.x * 256] -> t; move t -> dst[cta.y * 64, cta.x * 256]; }\n",
        "E0901", "262144 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(explicit_copy),
        in_room(commits_of_one_phase),
        in_room(panels),
        in_room(rows_wider_than_a_box),
        in_room(variables_have_bounds),
        in_room(derived_in_a_loop),
        in_room(strided_map_in_a_loop),
        in_room(many_conditions),
        in_room(bulk_is_clipped),
        in_room(gathered_rows),
        in_room(values_fit_64_bits),
        in_room(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
