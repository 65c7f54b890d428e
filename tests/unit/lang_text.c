/* The writer behind diagnostics, IR, PTX and JSON. */
#include "tests/unit/lang_fixture.h"

#include <inttypes.h>

#include "lang/text.h"

static void numbers_are_written_like_printf_does(void **state)
{
    Room *r = *state;
    Text t;
    text_init(&t, &r->mem);
    const int64_t values[] = {0,    1,     -1,  9,          10,        99,        100,       101,       999,
                              1000, 12345, -42, 1000000007, INT32_MIN, INT64_MAX, INT64_MIN, -INT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%" PRId64, values[i]);
        text_clear(&t);
        text_int(&t, values[i]);
        assert_string_equal(t.s, expected);
    }
    text_clear(&t);
    text_uint(&t, UINT64_MAX);
    assert_string_equal(t.s, "18446744073709551615");
    text_free(&t);
}

static void pieces_join_and_are_terminated(void **state)
{
    Room *r = *state;
    Text t;
    text_init(&t, &r->mem);
    text_put(&t, NULL, 0);
    assert_string_equal(t.s, "");
    text_lit(&t, "mbarrier");
    text_char(&t, '.');
    text_str(&t, "init");
    text_printf(&t, " [%s], %d;", "full", 3);
    assert_string_equal(t.s, "mbarrier.init [full], 3;");
    assert_int_equal(t.n, strlen(t.s));
    text_free(&t);
    assert_null(t.s);
}

static void what_comes_in_front(void **state)
{
    Room *r = *state;
    Text t;
    text_init(&t, &r->mem);
    text_put_front(&t, "", 0);
    text_put_front(&t, "end", 3);
    text_put_front(&t, "the ", 4);
    assert_int_equal(t.n, 7);
    assert_string_equal(t.s, "the end");
    text_free(&t);
}

static void text_longer_than_any_buffer(void **state)
{
    Room *r = *state;
    Text t;
    text_init(&t, &r->mem);
    for (int i = 0; i < 20000; i++) text_printf(&t, "%d,", i);
    assert_int_equal(t.n, strlen(t.s));
    char *pad = test_malloc(5000);
    memset(pad, 'x', 4999);
    pad[4999] = 0;
    text_clear(&t);
    text_printf(&t, "<%s>", pad);
    assert_int_equal(t.n, 5001);
    assert_int_equal(t.s[5000], '>');
    test_free(pad);
    text_free(&t);
}

static void check_json(Room *r, const char *s, size_t n, const char *expected)
{
    Text t;
    text_init(&t, &r->mem);
    text_json(&t, s, n);
    assert_string_equal(t.s, expected);
    text_free(&t);
}

static void json_strings_are_escaped(void **state)
{
    check_json(*state, "", 0, "\"\"");
    check_json(*state, "a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\"");
    check_json(*state, "\n\t\r\b\0\x7f", 6, "\"\\n\\t\\r\\u0008\\u0000\\u007f\"");
    check_json(*state, "\xC3\xA9\xE2\x86\x92\xF0\x9F\x98\x80", 9, "\"\xC3\xA9\xE2\x86\x92\xF0\x9F\x98\x80\"");
}

#define FFFD "\xEF\xBF\xBD"

static void invalid_utf8_becomes_the_replacement_character(void **state)
{
    check_json(*state, "\xFF", 1, "\"" FFFD "\"");
    check_json(*state, "\xC0\xAF", 2, "\"" FFFD FFFD "\"");                   /* overlong */
    check_json(*state, "\xED\xA0\x80", 3, "\"" FFFD FFFD FFFD "\"");          /* surrogate */
    check_json(*state, "\xF4\x90\x80\x80", 4, "\"" FFFD FFFD FFFD FFFD "\""); /* above U+10FFFF */
    check_json(*state, "a\xE2\x86", 3, "\"a" FFFD FFFD "\"");                 /* cut off */
    check_json(*state, "\x80z", 2, "\"" FFFD "z\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(numbers_are_written_like_printf_does),
        in_room(pieces_join_and_are_terminated),
        in_room(what_comes_in_front),
        in_room(text_longer_than_any_buffer),
        in_room(json_strings_are_escaped),
        in_room(invalid_utf8_becomes_the_replacement_character),
    };
    return cmocka_run_group_tests_name("lang/text", tests, NULL, NULL);
}
