/* Shuffles in check mode: "the value is unpredictable" that a lane reads from one that has exited (PTX ISA, shfl.sync),
 * and the program asked for it by naming the lane. */
#include "tests/unit/sim_hand.h"

enum { D = 2, A, B, C, MASK };

/* bfly by `distance` in lanes 0 .. 15 of a warp of `threads`, of which the others have exited. */
static void shuffle(Hand *h, uint32_t threads, uint32_t distance, uint32_t mask, bool checking)
{
    hand_make(h, 1, threads);
    h->m.checking = checking;
    SimThread *t = h->cta[0].threads;
    h->ops[4] = (SimOp){.code = SIM_SHFL, .n = 2, .p = NO_SLOT, .d = D, .a = A, .b = B, .c = NO_SLOT};
    h->ops[5] = (SimOp){.code = SIM_OPERAND, .p = NO_SLOT, .d = NO_SLOT, .a = C, .b = MASK, .c = NO_SLOT};
    for (uint32_t i = 16; i < threads; i++) hand_exit(h, &t[i]);
    for (uint32_t i = 0; i < 16; i++) {
        t[i].slot[A] = 100 + i;
        t[i].slot[B] = distance;
        t[i].slot[C] = 31;
        t[i].slot[MASK] = mask;
        hand_exec(h, &t[i], 4);
    }
}

static void lanes_that_have_exited(void **state)
{
    Hand *h = *state;
    shuffle(h, 32, 16, UINT32_MAX, true);
    expect_finding(h, E1323, "lane 0 reads the value of lane 16");
}

static void lanes_that_are_left(void **state)
{
    Hand *h = *state;
    shuffle(h, 32, 8, UINT32_MAX, true);
    assert_false(h->m.failed);
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(h->cta[0].threads[i].slot[D], 100 + (i ^ 8));
}

/* Values that a reduction reads and throws away: lanes outside of the mask, lanes that the warp never had. */
static void lanes_that_take_no_part(void **state)
{
    Hand *h = *state;
    shuffle(h, 32, 16, 0xffff, true);
    assert_false(h->m.failed);
    shuffle(h, 16, 16, UINT32_MAX, true);
    assert_false(h->m.failed);
}

static void fast_mode_looks_away(void **state)
{
    Hand *h = *state;
    shuffle(h, 32, 16, UINT32_MAX, false);
    assert_false(h->m.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        by_hand(lanes_that_have_exited),
        by_hand(lanes_that_are_left),
        by_hand(lanes_that_take_no_part),
        by_hand(fast_mode_looks_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
