/* Launch expressions: meaning, folding, sharing, printing. */
#include "tests/unit/lang_fixture.h"

#include "lang/interval.h"
#include "lang/lx.h"

typedef struct Sheet {
    Room *room;
    LxPool pool;
} Sheet;

static Lx k(Sheet *s, int64_t v)
{
    return lx_const(&s->room->arena, &s->pool, v);
}

static Lx sym(Sheet *s, uint32_t n)
{
    return lx_sym(&s->room->arena, &s->pool, n);
}

static Lx op(Sheet *s, LxOp o, Lx a, Lx b)
{
    return lx_op(&s->room->arena, &s->pool, o, a, b);
}

/* Value of `a op b` computed at launch (symbols, so that nothing folds). */
static LxStatus run(LxOp o, int64_t a, int64_t b, int64_t *out)
{
    LxNode nodes[3] = {
        {.op = LX_SYM, .k = 0}, {.op = LX_SYM, .k = 1}, {.op = (uint8_t)o, .a = 1, .b = o == LX_NOT ? 0 : 2}};
    int64_t syms[2] = {a, b}, values[3];
    uint8_t status[3];
    lx_eval(nodes, 3, syms, values, status);
    *out = values[2];
    return (LxStatus)status[2];
}

static void gives(LxOp o, int64_t a, int64_t b, int64_t expected)
{
    int64_t v;
    assert_int_equal(run(o, a, b, &v), LX_OK);
    assert_true(v == expected);
}

static void fails(LxOp o, int64_t a, int64_t b, LxStatus expected)
{
    int64_t v;
    assert_int_equal(run(o, a, b, &v), expected);
}

static void division_is_floor_division(void **state)
{
    (void)state;
    gives(LX_DIV, 7, 2, 3);
    gives(LX_DIV, -7, 2, -4);
    gives(LX_DIV, 7, -2, -4);
    gives(LX_DIV, -7, -2, 3);
    gives(LX_DIV, -8, 2, -4);
    gives(LX_MOD, 7, 4, 3);
    gives(LX_MOD, -7, 4, 1);
    gives(LX_MOD, 7, -4, -1);
    gives(LX_MOD, -8, 4, 0);
    gives(LX_MOD, INT64_MIN, -1, 0);
    gives(LX_CEIL, 1000, 256, 4);
    gives(LX_CEIL, 1024, 256, 4);
    gives(LX_CEIL, 0, 256, 0);
    gives(LX_CEIL, -1, 256, 0);
    gives(LX_CEIL, -257, 256, -1);
    gives(LX_CEIL, INT64_MAX, 2, INT64_C(4611686018427387904));
    fails(LX_DIV, 1, 0, LX_DIV_ZERO);
    fails(LX_MOD, 1, 0, LX_DIV_ZERO);
    fails(LX_CEIL, 1, 0, LX_DIV_ZERO);
    fails(LX_DIV, INT64_MIN, -1, LX_OVERFLOW);
    fails(LX_CEIL, INT64_MIN, -1, LX_OVERFLOW);
}

static void overflow_is_found(void **state)
{
    (void)state;
    gives(LX_ADD, INT64_MAX, INT64_MIN, -1);
    fails(LX_ADD, INT64_MAX, 1, LX_OVERFLOW);
    fails(LX_ADD, INT64_MIN, -1, LX_OVERFLOW);
    gives(LX_SUB, -1, INT64_MAX, INT64_MIN);
    fails(LX_SUB, 0, INT64_MIN, LX_OVERFLOW);
    fails(LX_SUB, -2, INT64_MAX, LX_OVERFLOW);
    gives(LX_MUL, INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 62);
    gives(LX_MUL, INT64_C(-4294967296), INT64_C(2147483648), INT64_MIN);
    fails(LX_MUL, INT64_C(4294967296), INT64_C(2147483648), LX_OVERFLOW);
    fails(LX_MUL, INT64_MIN, -1, LX_OVERFLOW);
    fails(LX_MUL, -1, INT64_MIN, LX_OVERFLOW);
    gives(LX_MUL, INT64_MIN, 1, INT64_MIN);
    gives(LX_MUL, 0, INT64_MIN, 0);
}

static void shifts_count_from_0_to_63(void **state)
{
    (void)state;
    gives(LX_SHL, 3, 4, 48);
    gives(LX_SHL, -1, 63, INT64_MIN);
    gives(LX_SHL, 0, 63, 0);
    fails(LX_SHL, 1, 63, LX_OVERFLOW);
    fails(LX_SHL, INT64_C(1) << 62, 1, LX_OVERFLOW);
    gives(LX_SHR, -5, 1, -3);
    gives(LX_SHR, INT64_MIN, 63, -1);
    gives(LX_SHR, INT64_MAX, 63, 0);
    fails(LX_SHL, 1, 64, LX_BAD_SHIFT);
    fails(LX_SHR, 1, -1, LX_BAD_SHIFT);
}

static void comparisons_and_logic_give_0_or_1(void **state)
{
    (void)state;
    gives(LX_LT, -1, 0, 1);
    gives(LX_LE, 0, 0, 1);
    gives(LX_EQ, 5, 5, 1);
    gives(LX_NE, 5, 5, 0);
    gives(LX_LAND, 7, -7, 1);
    gives(LX_LOR, 0, 9, 1);
    gives(LX_NOT, 9, 0, 0);
    gives(LX_NOT, 0, 0, 1);
    gives(LX_MIN, -3, 2, -3);
    gives(LX_MAX, -3, 2, 2);
    gives(LX_AND, 12, 10, 8);
    gives(LX_OR, 12, 10, 14);
    gives(LX_XOR, 12, 10, 6);
}

/* N == 0 || M % N == 0: the right side may fail where the left decides. */
static void the_left_side_can_decide_alone(void **state)
{
    (void)state;
    LxNode n[] = {{.op = LX_SYM, .k = 0},         {.op = LX_SYM, .k = 1},         {.op = LX_CONST, .k = 0},
                  {.op = LX_EQ, .a = 1, .b = 3},  {.op = LX_MOD, .a = 2, .b = 1}, {.op = LX_EQ, .a = 5, .b = 3},
                  {.op = LX_LOR, .a = 4, .b = 6}, {.op = LX_LOR, .a = 6, .b = 4}, {.op = LX_ADD, .a = 6, .b = 7}};
    int64_t values[9], zero[2] = {0, 10}, five[2] = {5, 10};
    uint8_t status[9];
    lx_eval(n, 9, zero, values, status);
    assert_int_equal(status[6], LX_OK);
    assert_true(values[6] == 1);
    assert_int_equal(status[7], LX_DIV_ZERO);
    assert_int_equal(status[8], LX_DIV_ZERO); /* failure passes on to what uses it */
    lx_eval(n, 9, five, values, status);
    for (int i = 0; i < 9; i++) assert_int_equal(status[i], LX_OK);
    assert_true(values[8] == 2);
}

static void constants_fold_where_they_are_defined(void **state)
{
    Sheet s = {.room = *state};
    int64_t v;
    assert_true(lx_is_const(&s.pool, op(&s, LX_MUL, k(&s, 6), k(&s, 7)), &v) && v == 42);
    assert_true(lx_is_const(&s.pool, op(&s, LX_NOT, k(&s, 6), 0), &v) && v == 0);
    assert_false(lx_is_const(&s.pool, op(&s, LX_DIV, k(&s, 6), k(&s, 0)), &v));
    assert_false(lx_is_const(&s.pool, op(&s, LX_ADD, k(&s, INT64_MAX), k(&s, 1)), &v));
    assert_false(lx_is_const(&s.pool, sym(&s, 0), &v));
    assert_false(lx_is_const(&s.pool, 0, &v));
    Lx n = sym(&s, 0);
    assert_int_equal(op(&s, LX_ADD, n, k(&s, 0)), n);
    assert_int_equal(op(&s, LX_MUL, k(&s, 1), n), n);
    assert_int_equal(op(&s, LX_CEIL, n, k(&s, 1)), n);
    assert_int_equal(op(&s, LX_MAX, n, n), n);
    assert_int_not_equal(op(&s, LX_SUB, k(&s, 0), n), n);
    assert_true(lx_is_const(&s.pool, op(&s, LX_LAND, k(&s, 0), n), &v) && v == 0);
}

static void equal_expressions_are_one_node(void **state)
{
    Sheet s = {.room = *state};
    Lx a = op(&s, LX_CEIL, sym(&s, 1), k(&s, 64));
    uint32_t before = s.pool.nodes.n;
    for (int i = 0; i < 100; i++) assert_int_equal(op(&s, LX_CEIL, sym(&s, 1), k(&s, 64)), a);
    assert_int_equal(s.pool.nodes.n, before);
    for (int i = 0; i < 5000; i++) op(&s, LX_ADD, sym(&s, 0), k(&s, 100 + i));
    assert_int_equal(op(&s, LX_CEIL, sym(&s, 1), k(&s, 64)), a);
    for (uint32_t i = 0; i < s.pool.nodes.n; i++) { /* operands come before their users */
        assert_true(s.pool.nodes.v[i].a <= i);
        assert_true(s.pool.nodes.v[i].b <= i);
    }
}

static const char *const NAMES[] = {"M", "N", "stride"};

static void prints(Sheet *s, Lx x, const char *expected)
{
    Text t;
    text_init(&t, &s->room->mem);
    lx_print(&t, &s->pool, x, NAMES);
    assert_string_equal(t.s, expected);
    text_free(&t);
}

static void printing_uses_the_least_parentheses(void **state)
{
    Sheet s = {.room = *state};
    Lx m = sym(&s, 0), n = sym(&s, 1), two = k(&s, 2);
    prints(&s, op(&s, LX_ADD, m, op(&s, LX_MUL, n, two)), "M + N * 2");
    prints(&s, op(&s, LX_MUL, op(&s, LX_ADD, m, n), two), "(M + N) * 2");
    prints(&s, op(&s, LX_SUB, op(&s, LX_SUB, m, n), two), "M - N - 2");
    prints(&s, op(&s, LX_SUB, m, op(&s, LX_SUB, n, two)), "M - (N - 2)");
    prints(&s, op(&s, LX_EQ, op(&s, LX_MOD, op(&s, LX_MUL, n, two), k(&s, 16)), k(&s, 0)), "N * 2 % 16 == 0");
    prints(&s, op(&s, LX_CEIL, op(&s, LX_ADD, m, two), k(&s, 64)), "ceil(M + 2, 64)");
    prints(&s, op(&s, LX_NOT, op(&s, LX_LT, m, n), 0), "!(M < N)");
    prints(&s, op(&s, LX_LAND, op(&s, LX_LOR, m, n), op(&s, LX_LE, m, n)), "(M || N) && M <= N");
    prints(&s, op(&s, LX_EQ, op(&s, LX_EQ, m, n), two), "(M == N) == 2");
    prints(&s, op(&s, LX_SHL, m, op(&s, LX_AND, n, two)), "M << (N & 2)");
    prints(&s, op(&s, LX_MUL, m, k(&s, -5)), "M * -5");
    Lx minus = op(&s, LX_SUB, k(&s, 0), m);
    prints(&s, minus, "-M");
    prints(&s, op(&s, LX_SUB, n, op(&s, LX_MUL, minus, two)), "N - -M * 2");
    prints(&s, op(&s, LX_SUB, k(&s, 0), op(&s, LX_MUL, m, n)), "-M * N");
    prints(&s, op(&s, LX_SUB, k(&s, 0), op(&s, LX_CEIL, m, two)), "-ceil(M, 2)");
    prints(&s, op(&s, LX_SUB, k(&s, 0), k(&s, INT64_MIN)), "0 - -9223372036854775808");
    prints(&s, op(&s, LX_MIN, op(&s, LX_MAX, m, n), sym(&s, 2)), "min(max(M, N), stride)");
}

static void huge_shared_expressions_are_cut_when_printed(void **state)
{
    Sheet s = {.room = *state};
    Lx x = sym(&s, 0);
    for (int i = 0; i < 60; i++) x = op(&s, LX_MUL, x, x); /* 2^60 factors on paper */
    for (int i = 0; i < 500; i++) x = op(&s, LX_ADD, x, k(&s, i + 1));
    Text t;
    text_init(&t, &s.room->mem);
    lx_print(&t, &s.pool, x, NAMES);
    assert_true(t.n < 10000);
    assert_non_null(strstr(t.s, "..."));
    text_free(&t);
}

/* Of operands in two intervals: the corners, and what lies between them. */
static void interval_has_results(LxOp o, Interval x, Interval y, const int64_t *v, size_t n)
{
    Interval r = interval_of(o, x, y);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            int64_t result;
            if (v[i] < x.lo || v[i] > x.hi || v[j] < y.lo || v[j] > y.hi || lx_apply(o, v[i], v[j], &result) != LX_OK) continue;
            if (result >= r.lo && result <= r.hi) continue;
            fail_msg("op %d: %lld, %lld give %lld, outside of %lld .. %lld", (int)o, (long long)v[i], (long long)v[j], (long long)result,
                     (long long)r.lo, (long long)r.hi);
        }
    }
}

static void intervals_have_what_their_numbers_give(void **state)
{
    static const int64_t V[] = {INT64_MIN, INT64_MIN + 1, -(INT64_C(1) << 33), -65, -7, -1, 0, 1, 2, 5, 63, 64, INT64_C(1) << 33, INT64_MAX - 1, INT64_MAX};
    enum { N = sizeof V / sizeof *V };
    (void)state;
    for (int o = LX_ADD; o <= LX_XOR; o++)
        for (size_t i = 0; i < N * N; i++)
            for (size_t j = 0; j < N * N; j++)
                if (i / N <= i % N && j / N <= j % N) interval_has_results((LxOp)o, (Interval){V[i / N], V[i % N]}, (Interval){V[j / N], V[j % N]}, V, N);
}

static void intervals_are_as_narrow_as_is_known(void **state)
{
    static const struct {
        LxOp op;
        Interval x, y, r;
    } ROWS[] = {{LX_ADD, {1, NO_HI}, {2, 3}, {3, NO_HI}},        {LX_SUB, {0, 9}, {NO_LO, 4}, {-4, NO_HI}},
                {LX_MUL, {-2, 3}, {-5, 7}, {-15, 21}},           {LX_MUL, {INT64_C(1) << 40, INT64_C(1) << 41}, {INT64_C(1) << 40, NO_HI}, {INT64_MAX - 1, NO_HI}},
                {LX_DIV, {-9, 9}, {2, 4}, {-5, 4}},              {LX_CEIL, {-9, 9}, {2, 4}, {-4, 5}},
                {LX_CEIL, {1, NO_HI}, {1, NO_HI}, {1, NO_HI}},   {LX_MOD, {3, 5}, {6, 9}, {3, 5}},
                {LX_MOD, {-1, 5}, {6, 9}, {0, 8}},               {LX_DIV, {4, 8}, {0, 2}, {NO_LO, NO_HI}},
                {LX_SHL, {1, 3}, {4, 4}, {16, 48}},              {LX_SHR, {-1, 32}, {2, 3}, {-1, 8}},
                {LX_AND, {NO_LO, NO_HI}, {0, 7}, {0, 7}},        {LX_OR, {0, 5}, {0, 9}, {0, 15}}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        Interval r = interval_of(ROWS[i].op, ROWS[i].x, ROWS[i].y);
        if (r.lo != ROWS[i].r.lo || r.hi != ROWS[i].r.hi) fail_msg("row %d: %lld .. %lld", (int)i, (long long)r.lo, (long long)r.hi);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(division_is_floor_division),
        in_room(overflow_is_found),
        in_room(shifts_count_from_0_to_63),
        in_room(comparisons_and_logic_give_0_or_1),
        in_room(the_left_side_can_decide_alone),
        in_room(constants_fold_where_they_are_defined),
        in_room(equal_expressions_are_one_node),
        in_room(printing_uses_the_least_parentheses),
        in_room(huge_shared_expressions_are_cut_when_printed),
        cmocka_unit_test(intervals_have_what_their_numbers_give),
        cmocka_unit_test(intervals_are_as_narrow_as_is_known),
    };
    return cmocka_run_group_tests_name("lang/lx", tests, NULL, NULL);
}
