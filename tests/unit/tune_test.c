/* tilecc tune: which schedules are chosen from times, and what becomes of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tilecc/tune/tune.h"

enum { POINTS = 5 };

static Candidate v[TUNE_CANDIDATES];

/* Times at 5 points, from 1 KB on, a factor of 4 apart; the first candidate is the program untuned. */
static size_t make(size_t n, const double ms[][POINTS])
{
    memset(v, 0, sizeof v);
    v[0].schedule = "";
    for (size_t c = 0; c < n; c++) {
        static char names[TUNE_CANDIDATES][16];
        names[c][0] = (char)('a' + c);
        v[c + 1].schedule = names[c];
        v[c + 1].plain = c == 0;
        for (size_t p = 0; p < POINTS; p++) {
            v[c + 1].ms[p] = ms[c][p];
            v[c + 1].bytes[p] = (double)(1024 << 2 * p);
        }
    }
    return n + 1;
}

static void chosen(size_t n, const double ms[][POINTS], const char *want)
{
    Choices c;
    char got[POINTS + 1] = "";
    size_t all = make(n, ms);
    assert_true(tune_choose(v, all, POINTS, &c));
    for (size_t p = 0, i = 0; p < POINTS; p++) {
        while (i + 1 < c.n && c.v[i + 1].point <= p) i++;
        got[p] = v[c.v[i].candidate].schedule[0];
    }
    assert_string_equal(got, want);
    assert_int_equal(c.v[0].from, 0);
    for (size_t i = 1; i < c.n; i++) assert_int_equal(c.v[i].from, 2048ll << 2 * (c.v[i].point - 1)); /* in the middle */
}

static void the_best_of_each_range(void **state)
{
    (void)state;
    chosen(2, (const double[][POINTS]){{2, 2, 2, 8, 32}, {1, 1, 4, 16, 64}}, "bbaaa");
    chosen(3, (const double[][POINTS]){{3, 3, 3, 3, 3}, {1, 1, 9, 9, 9}, {9, 9, 9, 1, 1}}, "bbacc");
    chosen(2, (const double[][POINTS]){{1, 1, 1, 1, 1}, {9, 9, 9, 9, 9}}, "aaaaa");
}

/* What scatters by less than a change is worth changes nothing; what the program has anyway wins a draw. */
static void little_changes_nothing(void **state)
{
    (void)state;
    chosen(2, (const double[][POINTS]){{1, 1.005, 1, 1.005, 1}, {1.005, 1, 1.005, 1, 1.005}}, "aaaaa");
    chosen(2, (const double[][POINTS]){{1, 1, 1.01, 1, 1}, {1.01, 1.01, 1, 1.01, 1.01}}, "aaaaa");
    chosen(2, (const double[][POINTS]){{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}, "aaaaa");
    chosen(2, (const double[][POINTS]){{1.1, 1.1, 1.1, 1.1, 1.1}, {1, 1, 1, 1, 1}}, "bbbbb");
}

static size_t named(const char *const *names, size_t n, const double ms[][POINTS])
{
    size_t all = make(n, ms);
    for (size_t c = 0; c < n; c++) v[c + 1].schedule = (char *)names[c];
    return all;
}

static void combined(const char *const *names, size_t n, const double ms[][POINTS], const char *want)
{
    char *found[TUNE_COMBINATIONS], got[256] = "";
    size_t all = named(names, n, ms), k = tune_combine(v, all, POINTS, found);
    for (size_t i = 0; i < k; i++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? ", " : "", found[i]);
        free(found[i]);
    }
    assert_string_equal(got, want);
}

/* Two changes that gain each by itself are tried together, where that would beat all that was measured, and only there. */
static void what_gains_is_combined(void **state)
{
    (void)state;
    static const char *const PLAIN[] = {"default", "by static", "by launch", "stages 2", "stages 4", "hints off"};
    combined(PLAIN, 6, (const double[][POINTS]){{10, 10, 10, 10, 10}, {9, 11, 9, 10, 10}, {10, 11, 11, 10, 10}, {8, 9, 10, 10, 10}, {9, 9, 10, 10, 10}, {10, 10, 9, 10, 9.95}},
             "by static stages 2, by static hints off");
    combined(PLAIN, 6, (const double[][POINTS]){{10, 10, 10, 10, 10}, {9, 9, 9, 9, 9}, {5, 0, 5, 0, 5}, {8, 8, 8, 8, 8}, {11, 0, 11, 0, 11}, {9, 11, 9, 11, 9}},
             "by launch hints off, by static stages 2"); /* one iteration has no depth */
    static const char *const TILES[] = {"BM=64", "BM=8 BN=T", "BM=64 hints off", "BM=64 stages 4", "BM=8 BN=T hints on", "BM=8 BN=T by clc", "BM=8 BN=T stages 1"};
    combined(TILES, 7, (const double[][POINTS]){{10, 10, 10, 10, 9}, {9, 9, 20, 9, 9}, {9, 9, 9, 9, 9}, {9, 9, 9, 9, 9}, {6, 9, 18, 9, 9}, {6, 9, 15, 9, 9}, {6, 9, 18, 9, 9}},
             "BM=8 BN=T by clc stages 1 hints on, BM=64 stages 4 hints off"); /* of each set of tiles by itself, and only of the better one */
    static const char *const LISTED[] = {"default", "by launch", "hints off", "by launch hints off"};
    combined(LISTED, 4, (const double[][POINTS]){{10, 10, 10, 10, 10}, {8, 8, 8, 8, 8}, {8, 8, 8, 8, 8}, {7, 7, 7, 7, 7}}, "");
}

/* Less than times scatter is nothing that a file should pin, and neither is what loses elsewhere as much as it gains. */
static void only_gains_are_written(void **state)
{
    (void)state;
    const Choices one = {.v = {{1, 0, 0}}, .n = 1}, two = {.v = {{1, 0, 0}, {2, 3, 4096}}, .n = 2};
    const double still[POINTS] = {0}, loud[POINTS] = {0.05, 0.05, 0.05, 0.05, 0.05};
    make(2, (const double[][POINTS]){{10, 9.5, 10, 10, 10}, {10, 10, 10, 9, 9}});
    for (size_t p = 0; p < POINTS; p++) v[0].ms[p] = 10;
    assert_true(tune_wins(v, still, POINTS, &one));
    assert_false(tune_wins(v, loud, POINTS, &one));
    assert_true(tune_wins(v, loud, POINTS, &two));
    v[1].ms[4] = 10.9;
    assert_false(tune_wins(v, still, POINTS, &one));
    v[1].ms[1] = 9.9;
    v[1].ms[4] = 10;
    assert_false(tune_wins(v, still, POINTS, &one));
}

static void what_is_refused_is_not_taken(void **state)
{
    (void)state;
    Choices c;
    chosen(2, (const double[][POINTS]){{2, 2, 2, 2, 2}, {0, 1, 1, 0, 0}}, "abbaa");
    chosen(2, (const double[][POINTS]){{0, 0, 2, 2, 2}, {1, 0, 0, 0, 0}}, "baaaa");
    size_t n = make(2, (const double[][POINTS]){{0}, {0}});
    assert_false(tune_choose(v, n, POINTS, &c));
}

/* Code is small: five winners become at most four. */
static void few_schedules(void **state)
{
    (void)state;
    Choices c;
    double ms[POINTS][POINTS];
    for (int i = 0; i < POINTS; i++)
        for (int p = 0; p < POINTS; p++) ms[i][p] = i == p ? 1 : 2;
    size_t n = make(POINTS, (const double(*)[POINTS])ms);
    assert_true(tune_choose(v, n, POINTS, &c));
    assert_in_range(c.n, 1, TUNE_SCHEDULES);
}

/* With tiles of several rows small launches move equally many bytes: the range begins where they are more. */
static void thresholds_are_told_apart(void **state)
{
    (void)state;
    Choices c;
    size_t n = make(2, (const double[][POINTS]){{1, 1, 9, 9, 9}, {9, 9, 1, 1, 1}});
    for (size_t p = 0; p < 3; p++) v[2].bytes[p] = 65536;
    assert_true(tune_choose(v, n, POINTS, &c));
    assert_int_equal(c.n, 2);
    assert_int_equal(c.v[1].from, 65536);
}

static void the_file_keeps_what_is_others(void **state)
{
    (void)state;
    make(2, (const double[][POINTS]){{1}, {1}});
    Choices c = {.v = {{1, 0, 0}, {2, 1, 4096}}, .n = 2};
    char *text = tune_file(NULL, "copy", "NVIDIA H200", v, &c);
    assert_true(text[0] == '#');
    assert_non_null(strstr(text, "\ncopy on \"NVIDIA H200\" from 0: a\ncopy on \"NVIDIA H200\" from 4096: b\n"));
    free(text);
    c.n = 1;
    text = tune_file("# mine\ncopy on \"NVIDIA H200\" from 0: x\ncopy on \"NVIDIA H20\" from 0: y\n\ncopy2 on \"NVIDIA H200\" from 0: z", "copy",
                     "NVIDIA H200", v, &c);
    assert_string_equal(text, "# mine\ncopy on \"NVIDIA H20\" from 0: y\n\ncopy2 on \"NVIDIA H200\" from 0: z\ncopy on \"NVIDIA H200\" from 0: a\n");
    free(text);
    c.n = 0; /* what was pinned no longer gains */
    text = tune_file("copy on \"NVIDIA H200\" from 0: x\n# mine\n", "copy", "NVIDIA H200", v, &c);
    assert_string_equal(text, "# mine\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_each_range),     cmocka_unit_test(little_changes_nothing),
        cmocka_unit_test(what_is_refused_is_not_taken), cmocka_unit_test(few_schedules),
        cmocka_unit_test(thresholds_are_told_apart),  cmocka_unit_test(the_file_keeps_what_is_others),
        cmocka_unit_test(what_gains_is_combined),     cmocka_unit_test(only_gains_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
