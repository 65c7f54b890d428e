/* The compiler as a library when memory runs out: whichever allocation fails, the result says so and nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/scarce.h"
#include "tilecc.h"

static const char *const PROGRAMS[] = {
    "kernel copy(x: global f32[M, 64], y: global f32[M, 64]) grid (ceil(M, 8)) {\n"
    "    for i in 0 .. 4 {\n"
    "        shared t: f32[2, 64];\n"
    "        move x[cta.x * 8 + i * 2, 0] -> t;\n"
    "        move t -> y[cta.x * 8 + i * 2, 0];\n"
    "    }\n"
    "}\n",
    "fn part(a, b) = a * 2 + b;\n"
    "kernel views(x: global f32[M, 64], idx: global s32[K], y: global f32[K, 64]) where K >= 4 grid (K) {\n"
    "    view v = x[:, 0 +: 32];\n"
    "    shared t: f32[1, 32];\n"
    "    barrier b;\n"
    "    move v[idx[cta.x], 0] -> t commit b;\n"
    "    wait b;\n"
    "    if part(cta.x, 1) > 3 { move t -> y[cta.x, 0 +: 32] via bulk; }\n"
    "}\n",
    "kernel refused(x: global f32[M, N], y: global f32[M, N]) grid (2) {\n"
    "    shared t: f32[8, 3];\n"
    "    move x[0, 0] -> t;\n"
    "    move t -> y[0, 0];\n"
    "    move u -> y[0, 0];\n"
    "}\n",
};

static void every_allocation(void **state)
{
    static const tilecc_emit EMITS[] = {TILECC_EMIT_TOKENS, TILECC_EMIT_AST, TILECC_EMIT_IR, TILECC_EMIT_PTX,
                                        TILECC_EMIT_PLAN, TILECC_EMIT_DEFINES};
    (void)state;
    for (size_t p = 0; p < sizeof PROGRAMS / sizeof *PROGRAMS; p++) {
        for (size_t e = 0; e < sizeof EMITS / sizeof *EMITS; e++) {
            Scarce s = {0};
            tilecc_options opt = {.struct_size = sizeof opt, .emit = EMITS[e], .realloc = scarce_realloc, .user = &s};
            const char *text = PROGRAMS[p];
            tilecc_result *r = tilecc_compile(&opt, "m.tile", text, strlen(text));
            assert_non_null(r);
            tilecc_status whole = r->status;
            tilecc_free(r);
            assert_int_equal(s.live, 0);
            for (long n = 0, all = s.made; n < all; n++) {
                s = (Scarce){.refused = n + 1, .behind = true};
                r = tilecc_compile(&opt, "m.tile", text, strlen(text));
                assert_true(r == NULL || r->status == TILECC_ERROR_ENVIRONMENT || r->status == whole);
                tilecc_free(r);
                assert_int_equal(s.live, 0);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
