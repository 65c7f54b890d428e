/* Linear forms, and what follows from facts about them (lower/verify/states/values/). */
#include "tests/unit/lang_fixture.h"

#include "lower/verify/states/values/numbers.h"

enum { ATOMS = 60, TERMS_MOST = 24 };

/* x(from) + .. + x(from + n - 1) + k */
static Num sum(Numbers *n, uint32_t from, uint32_t terms, int64_t k)
{
    Num x = num_const(n, k);
    for (uint32_t i = 0; i < terms; i++) x = num_add(n, x, 1, num_atom(n, from + i));
    return x;
}

static void of_facts_with_too_many_atoms_the_nearest_count(void **state)
{
    Arena *a = &((Room *)*state)->arena;
    for (uint32_t terms = 2; terms <= TERMS_MOST; terms++) {
        Numbers n;
        Facts f = {0};
        numbers_init(&n, a);
        for (uint32_t from = 1; from + terms <= ATOMS; from += 3) assert_true(facts_add(&n, a, &f, sum(&n, from, terms, 0)));
        assert_false(facts_fail(&n, &f));
        assert_true(facts_imply(&n, &f, sum(&n, 1, terms, 7)));
        assert_false(facts_imply(&n, &f, sum(&n, 1, terms, -1)));
        assert_false(facts_imply(&n, &f, sum(&n, 2, TERMS_MOST, -1)));
    }
}

enum { FORMS = 5 };

static Num form(Numbers *n, uint32_t i) /* in the order that they have */
{
    switch (i) {
    case 0: return sum(n, 1, 2, 0);
    case 1: return sum(n, 1, 3, -5);
    case 2: return sum(n, 1, 3, 5);
    case 3: return num_times(n, 2, num_atom(n, 1));
    default: return sum(n, 2, 1, 0);
    }
}

static void forms_are_in_one_order_whichever_was_made_first(void **state)
{
    Room *r = *state;
    for (int way = 0; way < 2; way++) {
        Num x[FORMS];
        Numbers n;
        numbers_init(&n, &r->arena);
        for (uint32_t i = 0; i < FORMS; i++) {
            uint32_t k = way ? FORMS - 1 - i : i;
            x[k] = form(&n, k);
        }
        for (uint32_t i = 0; i < FORMS; i++)
            for (uint32_t j = 0; j < FORMS; j++) assert_int_equal(num_compare(&n, x[i], x[j]), i < j ? -1 : i > j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {in_room(of_facts_with_too_many_atoms_the_nearest_count), in_room(forms_are_in_one_order_whichever_was_made_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
