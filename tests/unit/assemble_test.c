/* The assembler: what it is told, what it says, and what happens where there is none. */
#include "ptx_bench.h"

static void refused(Bench *b, tilecc_assembler which)
{
    AsmOptions opt = {.arch = "sm_90a", .which = which};
    Emitted e = emit(b);
    char *text = arena_strdup(&b->arena, e.text, e.size);
    memcpy(strstr(text, "wait_group.read 0"), "wait_grouq.read 0", 17);
    memcpy(strstr(text, "expect_tx.shared"), "expect_ty.shared", 16);
    AsmResult r = assemble(&b->arena, &opt, text, e.size, &e.lines, &b->sources);
    assert_int_equal(r.status, TILECC_ERROR_TOOL);
    if (r.assembler[0] == 0) {
        print_message("skipped: %s\n", r.message);
    } else {
        expect_in(r.message, "refused the PTX");
        expect_in(r.log, "dir/\"k\\\".tile:3:5: error: ");
        expect_in(r.log, "PTX line ");
    }
    ptx_free(e.w);
}

static void test_refused(void **state)
{
    Bench *b = *state;
    with_source(b);
    refused(b, TILECC_ASM_PTXAS);
    refused(b, TILECC_ASM_NVJITLINK);
}

static void test_no_assembler(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 1);
    Emitted e = emit(b);
    AsmOptions opt = {.arch = "sm_90a", .ptxas = "/nowhere/ptxas", .nvjitlink = "/nowhere/libnvJitLink.so"};
    AsmResult r = assemble(&b->arena, &opt, e.text, e.size, &e.lines, NULL);
    assert_int_equal(r.status, TILECC_ERROR_TOOL);
    assert_string_equal(r.message,
                        "neither libnvJitLink nor ptxas was found; tried /nowhere/libnvJitLink.so, /nowhere/ptxas");
    opt.which = TILECC_ASM_PTXAS;
    r = assemble(&b->arena, &opt, e.text, e.size, &e.lines, NULL);
    assert_string_equal(r.message, "ptxas was found nowhere; tried /nowhere/ptxas");
    ptx_free(e.w);
}

typedef struct Scarce {
    int left; /* allocations until one fails */
} Scarce;

static void *scarce(void *user, void *p, size_t n)
{
    Scarce *s = user;
    if (n == 0) {
        free(p);
        return NULL;
    }
    return s->left-- > 0 ? realloc(p, n) : NULL;
}

/* Emits and assembles until the allocation that fails; whether all went well. Nothing may leak, no file stay. */
static bool with_scarce_memory(Bench *b, Scarce *s, tilecc_assembler which)
{
    jmp_buf fail;
    Mem mem = {.realloc = scarce, .user = s, .fail = &fail};
    Arena a;
    PtxWriter *volatile w = NULL;
    volatile bool done = false;
    arena_init(&a, &mem);
    if (setjmp(fail) == 0) {
        w = ptx_begin(&a, &mem, &b->m, &b->opt);
        ptx_kernel(w, b->k);
        size_t size;
        PtxLines lines;
        const char *text = ptx_end(w, &size, &lines, NULL);
        AsmOptions opt = {.arch = "sm_90a", .which = which};
        assemble(&a, &opt, text, size, &lines, NULL);
        done = true;
    }
    ptx_free(w);
    arena_free(&a);
    return done;
}

static void test_no_memory(void **state)
{
    Bench *b = *state;
    bulk_ring(b);
    for (int which = TILECC_ASM_NVJITLINK; which <= TILECC_ASM_PTXAS; which++) {
        int n = 0;
        for (;; n++) {
            Scarce s = {n};
            if (with_scarce_memory(b, &s, (tilecc_assembler)which)) break;
        }
        assert_true(n > 3);
    }
}

/* What the assembler does not know is told apart from PTX that is wrong. */
static void test_unknown_target(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 1);
    Emitted e = emit(b);
    for (int which = TILECC_ASM_NVJITLINK; which <= TILECC_ASM_PTXAS; which++) {
        AsmOptions opt = {.arch = "sm_999", .which = (tilecc_assembler)which};
        AsmResult r = assemble(&b->arena, &opt, e.text, e.size, &e.lines, NULL);
        assert_int_equal(r.status, TILECC_ERROR_TOOL);
        if (r.assembler[0]) expect_in(r.message, "too old");
    }
    ptx_free(e.w);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_refused),
        T(test_no_assembler),
        T(test_no_memory),
        T(test_unknown_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
