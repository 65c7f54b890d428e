/* Interned names, spelling suggestions, and places in source texts. */
#include "tests/unit/lang_fixture.h"

#include "lang/names.h"
#include "lang/diag/source.h"

static void equal_text_is_one_name(void **state)
{
    Room *r = *state;
    Names *n = names_new(&r->arena);
    Name tile = names_intern(n, "tile", 4), tiles = names_intern(n, "tiles", 5);
    assert_int_equal(tile, 1);
    assert_int_equal(tiles, 2);
    assert_int_equal(names_intern(n, "tiles of bf16", 4), tile);
    assert_int_equal(names_find(n, "tiles", 5), tiles);
    assert_int_equal(names_find(n, "til", 3), 0);
    assert_string_equal(names_text(n, tiles), "tiles");
    assert_string_equal(names_text(n, 0), "");
    assert_int_equal(names_count(n), 2);
}

static void a_name_may_be_empty_or_hold_zero_bytes(void **state)
{
    Room *r = *state;
    Names *n = names_new(&r->arena);
    Name empty = names_intern(n, "", 0), zero = names_intern(n, "a\0b", 3), a = names_intern(n, "a", 1);
    assert_int_not_equal(empty, zero);
    assert_int_not_equal(zero, a);
    assert_int_equal(names_find(n, "a\0b", 3), zero);
}

static void a_hundred_thousand_names_stay_apart(void **state)
{
    Room *r = *state;
    Names *n = names_new(&r->arena);
    char buf[16];
    for (unsigned i = 0; i < 100000; i++) {
        int len = snprintf(buf, sizeof buf, "t%u", i);
        assert_int_equal(names_intern(n, buf, (size_t)len), i + 1);
    }
    assert_string_equal(names_text(n, 77778), "t77777");
    assert_int_equal(names_find(n, "t99999", 6), 100000);
}

static void spelling_counts_edits_and_swapped_neighbours(void **state)
{
    (void)state;
    assert_int_equal(spelling_distance("", ""), 0);
    assert_int_equal(spelling_distance("gather4", "gather4"), 0);
    assert_int_equal(spelling_distance("gater4", "gather4"), 1);
    assert_int_equal(spelling_distance("gahter4", "gather4"), 1);
    assert_int_equal(spelling_distance("evict_frist", "evict_first"), 1);
    assert_int_equal(spelling_distance("abc", ""), 3);
    assert_int_equal(spelling_distance("kitten", "sitting"), 3);
}

static void a_suggestion_is_near(void **state)
{
    (void)state;
    const char *const words[] = {"gather4", "scatter4", "im2col", "im2col_w"};
    assert_string_equal(spelling_nearest("gahter4", words, 4), "gather4");
    assert_string_equal(spelling_nearest("im2co", words, 4), "im2col");
    assert_null(spelling_nearest("swizzle", words, 4));
    assert_null(spelling_nearest("", words, 4));
    assert_null(spelling_nearest("x", words, 4));
    char endless[2000];
    memset(endless, 'g', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(spelling_nearest(endless, words, 4));
}

static void positions_know_file_line_and_column(void **state)
{
    Room *r = *state;
    Sources s;
    sources_init(&s, &r->arena);
    Source *a = sources_add(&s, "a.tile", "one\r\ntwo\n\nlast", 14), *b = sources_add(&s, "b.tile", "", 0);
    Source *c = sources_add(&s, "c.tile", "x\n", 2);
    const char *path;
    uint32_t line, col, len;

    assert_int_equal(a->base, 1);
    source_place(&s, a->base + 5, &path, &line, &col);
    assert_string_equal(path, "a.tile");
    assert_int_equal(line, 2);
    assert_int_equal(col, 1);
    source_place(&s, a->base + 14, &path, &line, &col); /* the end of the text is a place of its file */
    assert_int_equal(line, 4);
    assert_int_equal(col, 5);
    source_place(&s, b->base, &path, &line, &col);
    assert_string_equal(path, "b.tile");
    assert_int_equal(line, 1);
    source_place(&s, c->base + 2, &path, &line, &col);
    assert_int_equal(line, 2);
    assert_int_equal(col, 1);
    source_place(&s, 0, &path, &line, &col);
    assert_string_equal(path, "");
    assert_int_equal(line, 0);
    assert_null(sources_file(&s, s.end));

    assert_memory_equal(source_line(&s, a, 1, &len), "one", 3);
    assert_int_equal(len, 3);
    source_line(&s, a, 3, &len);
    assert_int_equal(len, 0);
    assert_memory_equal(source_line(&s, a, 4, &len), "last", 4);
    assert_int_equal(len, 4);
    source_line(&s, a, 5, &len);
    assert_int_equal(len, 0);
}

static void more_than_a_gibibyte_is_refused(void **state)
{
    Room *r = *state;
    Sources s;
    sources_init(&s, &r->arena);
    assert_null(sources_add(&s, "huge", "", SIZE_MAX));
    assert_null(sources_add(&s, "huge", "", (size_t)1 << 30));
    assert_non_null(sources_add(&s, "small", "x", 1));
}

static void joining_spans_ignores_no_place(void **state)
{
    (void)state;
    Span s = span_join((Span){5, 7}, (Span){1, 6}), none = {0, 0};
    assert_int_equal(s.lo, 1);
    assert_int_equal(s.hi, 7);
    s = span_join(none, (Span){3, 4});
    assert_int_equal(s.lo, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(equal_text_is_one_name),
        in_room(a_name_may_be_empty_or_hold_zero_bytes),
        in_room(a_hundred_thousand_names_stay_apart),
        in_room(spelling_counts_edits_and_swapped_neighbours),
        in_room(a_suggestion_is_near),
        in_room(positions_know_file_line_and_column),
        in_room(more_than_a_gibibyte_is_refused),
        in_room(joining_spans_ignores_no_place),
    };
    return cmocka_run_group_tests_name("lang/names", tests, NULL, NULL);
}
