/* Global memory of the simulated device: bounds, gaps, limits, and that addresses are found again; and the bounded
 * allocator of a launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/budget.h"
#include "runtime/sim/memory.h"

static void finds_what_was_allocated(void **state)
{
    (void)state;
    SimMemory m;
    sim_memory_init(&m, UINT64_C(1) << 20);
    SimBlock *a = sim_alloc(&m, 1000), *b = sim_alloc(&m, 24), *c = sim_alloc(&m, 4096);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    const SimBlock *const all[] = {a, b, c};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(all[i]->address % 256, 0);
        assert_true(all[i]->address >= SIM_GLOBAL_BASE);
        SimBlock *hint = NULL;
        assert_ptr_equal(sim_find(&m, all[i]->address, all[i]->bytes, &hint), all[i]);
        assert_ptr_equal(hint, all[i]);
        assert_ptr_equal(sim_find(&m, all[i]->address + all[i]->bytes - 1, 1, &hint), all[i]);
        assert_null(sim_find(&m, all[i]->address, all[i]->bytes + 1, &hint));
        assert_null(sim_find(&m, all[i]->address + all[i]->bytes, 1, NULL));
        assert_null(sim_find(&m, all[i]->address - 1, 1, NULL));
        assert_null(sim_find(&m, all[i]->address + 8, UINT64_MAX, NULL));
    }
    assert_null(sim_find(&m, 0, 1, NULL));
    assert_null(sim_find(&m, UINT64_MAX, 1, NULL));
    for (uint64_t i = 0; i < 1000; i++) assert_int_equal(a->data[i], 0);
    sim_memory_free(&m);
}

static void a_stale_hint_does_not_answer_for_another_block(void **state)
{
    (void)state;
    SimMemory m;
    sim_memory_init(&m, 4096);
    SimBlock *a = sim_alloc(&m, 64), *b = sim_alloc(&m, 64), *hint = a;
    assert_ptr_equal(sim_find(&m, b->address + 8, 8, &hint), b);
    assert_ptr_equal(hint, b);
    assert_ptr_equal(sim_find(&m, a->address, 64, &hint), a);
    sim_memory_free(&m);
}

static void blocks_do_not_touch(void **state)
{
    (void)state;
    SimMemory m;
    sim_memory_init(&m, 1 << 20);
    uint64_t end = 0;
    for (uint64_t n = 0; n < 2000; n += 37) {
        const SimBlock *b = sim_alloc(&m, n);
        assert_non_null(b);
        assert_true(b->address > end + 255);
        end = b->address + b->bytes;
    }
    sim_memory_free(&m);
}

static void keeps_its_limit(void **state)
{
    (void)state;
    SimMemory m;
    sim_memory_init(&m, 1000);
    SimBlock *a = sim_alloc(&m, 600);
    assert_non_null(a);
    assert_null(sim_alloc(&m, 401));
    assert_null(sim_alloc(&m, UINT64_MAX));
    assert_non_null(sim_alloc(&m, 400));
    assert_null(sim_alloc(&m, 1));
    assert_int_equal(m.used, 1000);
    assert_true(sim_release(&m, a->address));
    assert_int_equal(m.used, 400);
    assert_non_null(sim_alloc(&m, 600));
    sim_memory_free(&m);
}

static void what_is_released_is_gone_for_good(void **state)
{
    (void)state;
    SimMemory m;
    sim_memory_init(&m, 1 << 20);
    uint64_t address[10];
    for (int i = 0; i < 10; i++) address[i] = sim_alloc(&m, 100)->address;
    assert_false(sim_release(&m, address[3] + 1));
    assert_false(sim_release(&m, 0));
    assert_true(sim_release(&m, address[3]));
    assert_false(sim_release(&m, address[3]));
    assert_null(sim_find(&m, address[3], 1, NULL));
    for (int i = 0; i < 10; i++)
        if (i != 3) assert_non_null(sim_find(&m, address[i], 100, NULL));
    const SimBlock *b = sim_alloc(&m, 100);
    assert_true(b->address > address[9]); /* an old pointer must not lead to something new */
    sim_memory_free(&m);
}

static void the_nearest_block_is_named(void **state)
{
    (void)state;
    SimMemory m;
    sim_memory_init(&m, 1 << 20);
    assert_null(sim_nearest(&m, SIM_GLOBAL_BASE));
    const SimBlock *a = sim_alloc(&m, 100), *b = sim_alloc(&m, 100);
    assert_ptr_equal(sim_nearest(&m, 0), a);
    assert_ptr_equal(sim_nearest(&m, a->address + 104), a);
    assert_ptr_equal(sim_nearest(&m, a->address + 50), a);
    assert_ptr_equal(sim_nearest(&m, b->address - 8), b);
    assert_ptr_equal(sim_nearest(&m, UINT64_MAX), b);
    sim_memory_free(&m);
}

static void a_budget_is_kept_and_dropped(void **state)
{
    (void)state;
    Budget b = {.left = 1000};
    assert_null(budget_realloc(&b, NULL, 1001));
    char *p = budget_realloc(&b, NULL, 400), *q = budget_realloc(&b, NULL, 500), *r = budget_realloc(&b, NULL, 100);
    assert_non_null(p);
    assert_non_null(q);
    assert_non_null(r);
    memset(q, 7, 500);
    assert_null(budget_realloc(&b, q, 501)); /* and q stays */
    for (int i = 0; i < 500; i++) assert_int_equal(q[i], 7);
    assert_null(budget_realloc(&b, p, 0));
    assert_int_equal(b.left, 400);
    q = budget_realloc(&b, q, 900);
    assert_non_null(q);
    for (int i = 0; i < 500; i++) assert_int_equal(q[i], 7);
    q = budget_realloc(&b, q, 10);
    assert_non_null(q);
    assert_int_equal(b.left, 890);
    budget_drop(&b); /* the sanitizer's leak check is the rest of this test */
    assert_null(b.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_allocated),
        cmocka_unit_test(a_stale_hint_does_not_answer_for_another_block),
        cmocka_unit_test(blocks_do_not_touch),
        cmocka_unit_test(keeps_its_limit),
        cmocka_unit_test(what_is_released_is_gone_for_good),
        cmocka_unit_test(the_nearest_block_is_named),
        cmocka_unit_test(a_budget_is_kept_and_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
