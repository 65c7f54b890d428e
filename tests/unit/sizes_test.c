/* Options of programs that were built with another header of the same interface: shorter, and longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tilecc.h"

static const char SOURCE[] = "kernel k(x: global f32[N]) {\n    shared t: f32[4];\n    move x[0] -> t;\n    move t -> x[4];\n}\n";

/* What a shorter struct is followed by: anything. */
typedef union Followed {
    tilecc_options o;
    tilecc_cache_facts facts;
    unsigned char bytes[sizeof(tilecc_cache_facts) + sizeof(tilecc_options) + 64];
} Followed;

static tilecc_result *compiled(const tilecc_options *o)
{
    tilecc_result *r = tilecc_compile(o, "k.tile", SOURCE, sizeof SOURCE - 1);
    assert_non_null(r);
    return r;
}

/* Each field is a last one once: without those behind it all is as if they were zero. */
static void shorter_options_end_in_zeros(void **state)
{
    static const size_t ENDS[] = {
        offsetof(tilecc_options, arch),       offsetof(tilecc_options, default_arch), offsetof(tilecc_options, defines),
        offsetof(tilecc_options, realloc),    offsetof(tilecc_options, hints),        offsetof(tilecc_options, path_maps),
        offsetof(tilecc_options, no_dependent_launch), offsetof(tilecc_options, cache), offsetof(tilecc_options, tune),
        offsetof(tilecc_options, pin),        offsetof(tilecc_options, no_variants),  offsetof(tilecc_options, gpu), sizeof(tilecc_options)};
    (void)state;
    tilecc_result *want = compiled(&(tilecc_options){.struct_size = sizeof(tilecc_options), .emit = TILECC_EMIT_PTX});
    assert_int_equal(want->status, TILECC_OK);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        Followed f;
        memset(&f, 0xA5, sizeof f);
        memset(&f, 0, ENDS[i]);
        f.o.struct_size = ENDS[i];
        f.o.emit = TILECC_EMIT_PTX;
        tilecc_result *r = compiled(&f.o);
        assert_int_equal(r->status, TILECC_OK);
        assert_int_equal(r->output_size, want->output_size);
        assert_memory_equal(r->output, want->output, r->output_size);
        tilecc_free(r);
    }
    tilecc_free(want);
}

static void longer_options_are_cut(void **state)
{
    (void)state;
    Followed f;
    memset(&f, 0xA5, sizeof f);
    memset(&f, 0, sizeof f.o);
    f.o.struct_size = sizeof f.o + 64;
    f.o.emit = TILECC_EMIT_PTX;
    tilecc_result *r = compiled(&f.o);
    assert_int_equal(r->status, TILECC_OK);
    tilecc_free(r);
}

static void options_without_a_size_are_refused(void **state)
{
    (void)state;
    tilecc_result *r = compiled(&(tilecc_options){.emit = TILECC_EMIT_PTX});
    assert_int_equal(r->status, TILECC_ERROR_USAGE);
    assert_non_null(strstr(r->message, "struct_size of the options is 0"));
    tilecc_free(r);
}

static void values_that_are_not_listed_are_refused(void **state)
{
    (void)state;
    for (int hints = -2; hints <= 2; hints++) {
        tilecc_result *r = compiled(&(tilecc_options){.struct_size = sizeof(tilecc_options), .emit = TILECC_EMIT_PTX, .hints = hints});
        assert_int_equal(r->status, hints < -1 || hints > 1 ? TILECC_ERROR_USAGE : TILECC_OK);
        tilecc_free(r);
    }
}

static void nothing_is_written_beyond_shorter_facts(void **state)
{
    (void)state;
    for (size_t size = sizeof(size_t); size <= sizeof(tilecc_cache_facts); size += size < 64 ? 8 : 509) {
        Followed f, before;
        memset(&f, 0xA5, sizeof f);
        f.facts.struct_size = size;
        before = f;
        tilecc_cache(TILECC_CACHE_COUNT, &f.facts);
        assert_int_equal(f.facts.struct_size, size);
        assert_memory_equal(f.bytes + size, before.bytes + size, sizeof f - size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_options_end_in_zeros),
        cmocka_unit_test(longer_options_are_cut),
        cmocka_unit_test(options_without_a_size_are_refused),
        cmocka_unit_test(values_that_are_not_listed_are_refused),
        cmocka_unit_test(nothing_is_written_beyond_shorter_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
