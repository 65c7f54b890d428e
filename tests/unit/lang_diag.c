/* Diagnostics: what is kept, in which order, and how it is shown. */
#include "tests/unit/lang_fixture.h"

#include "lang/diag/diag.h"

typedef struct Desk {
    Sources sources;
    Diags diags;
    const char *text;
    uint32_t base;
} Desk;

static Desk *desk(Room *r, const char *path, const char *text)
{
    Desk *k = arena_new(&r->arena, Desk);
    sources_init(&k->sources, &r->arena);
    k->base = sources_add(&k->sources, path, text, strlen(text))->base;
    k->text = text;
    diags_init(&k->diags, &r->arena, &k->sources);
    return k;
}

/* The span of the first occurrence of `part`. */
static Span of(const Desk *k, const char *part)
{
    uint32_t at = k->base + (uint32_t)(strstr(k->text, part) - k->text);
    return (Span){at, at + (uint32_t)strlen(part)};
}

static void shows(Room *r, Desk *k, DiagFormat f, bool colour, const char *expected)
{
    Text t;
    text_init(&t, &r->mem);
    text_lit(&t, "");
    diags_render(&k->diags, f, colour, &t);
    assert_string_equal(t.s, expected);
    text_free(&t);
}

/* W0001 has a short rule and no source, so that the expected texts stay readable. */
#define RULE "rule: A declared name is used."

static void a_mark_stands_under_its_text(void **state)
{
    Desk *k = desk(*state, "copy.tile", "let a = 1;\nlet b = a;\n");
    diag_at(&k->diags, W0001, of(k, "b"), "`%s` hides %d names", "b", 2);
    shows(*state, k, DIAG_HUMAN, false,
          "warning W0001: `b` hides 2 names\n"
          " --> copy.tile:2:5\n"
          "  |\n"
          "2 | let b = a;\n"
          "  |     ^\n"
          "  |\n"
          "  = " RULE "\n"
          "\n");
}

static void labels_notes_and_fix_follow(void **state)
{
    Desk *k = desk(*state, "copy.tile", "first\n2\n3\nsecond third\n");
    Diag *g = diag_at(&k->diags, W0001, of(k, "third"), "text");
    diag_label(&k->diags, g, of(k, "first"), "declared here");
    diag_label(&k->diags, g, of(k, "second"), "and here");
    diag_note(&k->diags, g, (Span){0, 0}, "N is %d", 100);
    diag_note(&k->diags, g, of(k, "2"), "seen");
    diag_fix(&k->diags, g, "rename it");
    shows(*state, k, DIAG_HUMAN, false,
          "warning W0001: text\n"
          " --> copy.tile:4:8\n"
          "  |\n"
          "1 | first\n"
          "  | ----- declared here\n"
          "...\n"
          "4 | second third\n"
          "  |        ^^^^^\n"
          "  | ------ and here\n"
          "  |\n"
          "  = " RULE "\n"
          "  = note: N is 100\n"
          "  = note: seen (copy.tile:2:1)\n"
          "  = fix: rename it\n"
          "\n");
}

static void rule_shows_its_source(void **state)
{
    Desk *k = desk(*state, "t", "x");
    diag_at(&k->diags, E0435, (Span){0, 0}, "inner box of 8 bytes");
    Text t;
    text_init(&t, &((Room *)*state)->mem);
    diags_render(&k->diags, DIAG_HUMAN, false, &t);
    assert_non_null(
        strstr(t.s, "= rule: The inner box is a multiple of 16 bytes. [cuda.h, cuTensorMapEncodeTiled: boxDim"));
    text_free(&t);
}

static void tabs_and_code_points_keep_marks_in_place(void **state)
{
    Desk *k = desk(*state, "t", "\tx\ty = \"\xC3\xA9\xE2\x86\x92\" z;");
    diag_at(&k->diags, W0001, of(k, "z"), "z");
    shows(*state, k, DIAG_HUMAN, false,
          "warning W0001: z\n"
          " --> t:1:13\n"
          "  |\n"
          "1 |     x   y = \"\xC3\xA9\xE2\x86\x92\" z;\n"
          "  |                  ^\n"
          "  |\n"
          "  = " RULE "\n"
          "\n");
}

static void control_characters_are_made_visible(void **state)
{
    /* An escape sequence, a broken byte and a right-to-left override must not reach the terminal. */
    Desk *k = desk(*state, "t",
                   "a\x1B[31m\xFF\xE2\x80\xAE"
                   "b");
    diag_at(&k->diags, W0001, of(k, "b"), "\x1B");
    shows(*state, k, DIAG_HUMAN, false,
          "warning W0001: \xEF\xBF\xBD\n"
          " --> t:1:9\n"
          "  |\n"
          "1 | a\xEF\xBF\xBD[31m\xEF\xBF\xBD\xEF\xBF\xBD"
          "b\n"
          "  |         ^\n"
          "  |\n"
          "  = " RULE "\n"
          "\n");
}

static void a_range_over_lines_is_marked_on_the_first(void **state)
{
    Desk *k = desk(*state, "t", "ab {\n  c\n}\n");
    diag_at(&k->diags, W0001, of(k, "{\n  c\n}"), "block");
    shows(*state, k, DIAG_HUMAN, false,
          "warning W0001: block\n"
          " --> t:1:4\n"
          "  |\n"
          "1 | ab {\n"
          "  |    ^ (to line 3)\n"
          "  |\n"
          "  = " RULE "\n"
          "\n");
}

static void a_long_line_is_cut_around_the_mark(void **state)
{
    char line[4001];
    memset(line, '.', 4000);
    memcpy(line + 2000, "HERE", 4);
    line[4000] = 0;
    Desk *k = desk(*state, "t", line);
    diag_at(&k->diags, W0001, of(k, "HERE"), "far");
    Text t;
    text_init(&t, &((Room *)*state)->mem);
    diags_render(&k->diags, DIAG_HUMAN, false, &t);
    assert_true(t.n < 500);
    const char *shown = strstr(t.s, "HERE"), *mark = strstr(t.s, "^^^^");
    assert_non_null(shown);
    assert_non_null(mark);
    const char *shown_line = shown, *mark_line = mark;
    while (shown_line[-1] != '\n') shown_line--;
    while (mark_line[-1] != '\n') mark_line--;
    assert_int_equal(shown - shown_line, mark - mark_line);
    text_free(&t);
}

static void labels_in_other_files_get_a_block_of_their_own(void **state)
{
    Room *r = *state;
    Desk *k = desk(r, "a.tile", "use\n");
    uint32_t other = sources_add(&k->sources, "b.tile", "decl\n", 5)->base;
    Diag *g = diag_at(&k->diags, W0001, of(k, "use"), "text");
    diag_label(&k->diags, g, (Span){other, other + 4}, "here");
    shows(r, k, DIAG_HUMAN, false,
          "warning W0001: text\n"
          " --> a.tile:1:1\n"
          "  |\n"
          "1 | use\n"
          "  | ^^^\n"
          " ::: b.tile:1:1\n"
          "  |\n"
          "1 | decl\n"
          "  | ---- here\n"
          "  |\n"
          "  = " RULE "\n"
          "\n");
}

static void order_is_by_place_then_by_time(void **state)
{
    Desk *k = desk(*state, "t", "a b c");
    diag_at(&k->diags, E0201, of(k, "c"), "third");
    diag_at(&k->diags, E0202, of(k, "a"), "first");
    diag_at(&k->diags, E0201, of(k, "a"), "second\nline");
    shows(*state, k, DIAG_SHORT, true,
          "t:1:1: error E0202: first\n"
          "t:1:1: error E0201: second line\n"
          "t:1:5: error E0201: third\n");
    assert_int_equal(k->diags.errors, 3);
}

static void the_same_report_at_the_same_place_is_kept_once(void **state)
{
    Desk *k = desk(*state, "t", "a b");
    for (int i = 0; i < 300; i++) {
        Diag *g = diag_at(&k->diags, E0201, of(k, "a"), "turn %d", i);
        diag_label(&k->diags, g, of(k, "b"), "label"); /* a dropped one may still be added to */
    }
    diag_at(&k->diags, E0202, of(k, "a"), "another code");
    assert_int_equal(k->diags.errors, 2);
    shows(*state, k, DIAG_SHORT, false, "t:1:1: error E0201: turn 0\nt:1:1: error E0202: another code\n");
}

static void errors_beyond_the_limit_are_counted_only(void **state)
{
    Desk *k = desk(*state, "t", "abcdefghij");
    k->diags.max_errors = 2;
    for (uint32_t i = 0; i < 10; i++) diag_at(&k->diags, E0201, (Span){k->base + i, k->base + i + 1}, "e");
    diag_at(&k->diags, W0001, of(k, "j"), "w");
    assert_int_equal(k->diags.errors, 10);
    assert_int_equal(k->diags.warnings, 1);
    shows(*state, k, DIAG_SHORT, false, "t:1:1: error E0201: e\nt:1:2: error E0201: e\nt:1:10: warning W0001: w\n");
}

static void trial_runs_leave_no_trace(void **state)
{
    Desk *k = desk(*state, "t", "a");
    k->diags.quiet = true;
    diag_fix(&k->diags, diag_at(&k->diags, E0201, of(k, "a"), "tried"), "never mind");
    k->diags.quiet = false;
    assert_int_equal(k->diags.errors, 0);
    diag_at(&k->diags, E0201, of(k, "a"), "meant");
    shows(*state, k, DIAG_SHORT, false, "t:1:1: error E0201: meant\n");
}

static void json_is_one_object_per_line(void **state)
{
    Desk *k = desk(*state, "a\"b", "x\n  \xC3\xA9y");
    Diag *g = diag_at(&k->diags, W0001, of(k, "y"), "say \"y\"");
    diag_label(&k->diags, g, of(k, "x"), "l");
    diag_note(&k->diags, g, (Span){0, 0}, "n");
    diag_at(&k->diags, W0001, (Span){0, 0}, "nowhere");
    shows(
        *state, k, DIAG_JSON, true,
        "{\"code\":\"W0001\",\"class\":\"warning\",\"text\":\"nowhere\",\"rule\":\"A declared name is used.\","
        "\"source\":\"\",\"path\":null,\"line\":0,\"col\":0,\"end_line\":0,\"end_col\":0,\"labels\":[],\"notes\":[],"
        "\"fix\":null}\n"
        "{\"code\":\"W0001\",\"class\":\"warning\",\"text\":\"say \\\"y\\\"\",\"rule\":\"A declared name is "
        "used.\",\"source\":\"\",\"path\":\"a\\\"b\",\"line\":2,\"col\":4,\"end_line\":2,\"end_col\":5,\"labels\":["
        "{\"text\":\"l\",\"path\":\"a\\\"b\",\"line\":1,\"col\":1,\"end_line\":1,\"end_col\":2}],\"notes\":[{\"text\":"
        "\"n\",\"path\":null,\"line\":0,\"col\":0,\"end_line\":0,\"end_col\":0}],\"fix\":null}\n");
}

static void colour_changes_nothing_but_escapes(void **state)
{
    Room *r = *state;
    Desk *k = desk(r, "t", "abc");
    diag_fix(&k->diags, diag_at(&k->diags, E0201, of(k, "b"), "text"), "fix");
    Text plain, colour;
    text_init(&plain, &r->mem);
    text_init(&colour, &r->mem);
    diags_render(&k->diags, DIAG_HUMAN, false, &plain);
    diags_render(&k->diags, DIAG_HUMAN, true, &colour);
    assert_true(colour.n > plain.n);
    size_t n = 0;
    for (size_t i = 0; i < colour.n; i++) {
        if (colour.s[i] == '\033') {
            while (colour.s[i] != 'm') i++;
            continue;
        }
        colour.s[n++] = colour.s[i];
    }
    assert_int_equal(n, plain.n);
    assert_memory_equal(colour.s, plain.s, n);
    text_free(&plain);
    text_free(&colour);
}

static void places_outside_every_file_do_no_harm(void **state)
{
    Room *r = *state;
    Desk *k = desk(r, "t", "abc");
    Diag *g = diag_at(&k->diags, E0201, (Span){4000000000u, 4000000001u}, "far");
    diag_label(&k->diags, g, (Span){2, UINT32_MAX}, "over the end");
    Text t;
    text_init(&t, &r->mem);
    for (int f = DIAG_HUMAN; f <= DIAG_JSON; f++) diags_render(&k->diags, (DiagFormat)f, false, &t);
    assert_non_null(strstr(t.s, "far"));
    text_free(&t);
}

static void codes_are_found_by_their_text_and_sorted(void **state)
{
    (void)state;
    ErrorCode c;
    assert_true(error_find("E0412", &c));
    assert_int_equal(c, E0412);
    assert_string_equal(error_info(c)->code, "E0412");
    assert_false(error_find("E9999", &c));
    for (int i = 0; i < ERROR_COUNT; i++) {
        const ErrorInfo *e = error_info((ErrorCode)i);
        assert_int_equal(strlen(e->code), 5);
        assert_true(e->code[0] == 'E' ? e->cls == DIAG_ERROR
                                      : e->live && e->cls == (e->code[0] == 'W' ? DIAG_WARNING : DIAG_PERFORMANCE));
        size_t n = strlen(e->rule);
        assert_true(n > 10 && e->rule[n - 1] == '.');
        assert_true(e->explain[0] != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(a_mark_stands_under_its_text),
        in_room(labels_notes_and_fix_follow),
        in_room(rule_shows_its_source),
        in_room(tabs_and_code_points_keep_marks_in_place),
        in_room(control_characters_are_made_visible),
        in_room(a_range_over_lines_is_marked_on_the_first),
        in_room(a_long_line_is_cut_around_the_mark),
        in_room(labels_in_other_files_get_a_block_of_their_own),
        in_room(order_is_by_place_then_by_time),
        in_room(the_same_report_at_the_same_place_is_kept_once),
        in_room(errors_beyond_the_limit_are_counted_only),
        in_room(trial_runs_leave_no_trace),
        in_room(json_is_one_object_per_line),
        in_room(colour_changes_nothing_but_escapes),
        in_room(places_outside_every_file_do_no_harm),
        in_room(codes_are_found_by_their_text_and_sorted),
    };
    return cmocka_run_group_tests_name("lang/diag", tests, NULL, NULL);
}
