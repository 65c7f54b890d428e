/* mbarriers of the simulator: the 8 bytes, phases, byte counts, states, findings. */
#include "tests/unit/sim_hand.h"

#define MAX_COUNT 1048575u /* PTX ISA, "Contents of the mbarrier object": 2^20 - 1 */

static SimLoc place(SimCta *cta, uint32_t offset)
{
    return (SimLoc){.space = PTX_SPACE_SHARED, .cta = cta, .offset = offset, .data = cta->smem + offset};
}

static uint64_t bits_at(const SimLoc *at)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | at->data[i];
    return v;
}

/* machine.h: count, pending, bytes (22 bits, signed), parity, live */
static uint64_t bits(uint64_t count, uint64_t pending, int64_t tx, uint64_t parity)
{
    return count | pending << 20 | ((uint64_t)tx & 0x3FFFFF) << 40 | parity << 62 | UINT64_C(1) << 63;
}

static Hand *one(void **state)
{
    Hand *h = *state;
    hand_make(h, 1, 64);
    return h;
}

static bool arrive(Hand *h, const SimLoc *at, uint32_t n)
{
    return mbar_arrive(&h->m, &at->cta->threads[0], at, n, 0, false, false, false, false, NULL);
}

static bool arrive_expect(Hand *h, const SimLoc *at, uint64_t bytes)
{
    return mbar_arrive(&h->m, &at->cta->threads[0], at, 1, bytes, true, false, false, false, NULL);
}

static bool expect_tx(Hand *h, const SimLoc *at, uint64_t bytes)
{
    return mbar_arrive(&h->m, &at->cta->threads[0], at, 0, bytes, true, true, false, false, NULL);
}

static bool deliver(Hand *h, const SimLoc *at, uint64_t bytes)
{
    SimWho who = {.pc = 7, .async = true};
    return mbar_complete(&h->m, NULL, &who, at->cta, (uint32_t)at->offset, bytes);
}

static MbarTest test_parity(Hand *h, const SimLoc *at, uint32_t parity)
{
    SimBarrier *b;
    return mbar_test_parity(&h->m, &at->cta->threads[1], at, parity, false, false, &b);
}

static void encoding(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 64);
    uint64_t token = 0;
    assert_true(mbar_init(&h->m, t, &at, 5));
    assert_true(bits_at(&at) == bits(5, 5, 0, 0));
    assert_true(mbar_arrive(&h->m, t, &at, 2, 0, false, false, false, false, &token));
    assert_true(bits_at(&at) == bits(5, 3, 0, 0));
    assert_int_equal(mbar_state_pending(token), 5);
    assert_true(deliver(h, &at, 16));
    assert_true(bits_at(&at) == bits(5, 3, -16, 0));
    assert_true(mbar_arrive(&h->m, t, &at, 1, 4096, true, false, false, false, &token));
    assert_true(bits_at(&at) == bits(5, 2, 4080, 0));
    assert_int_equal(mbar_state_pending(token), 3);
    assert_true(arrive(h, &at, 2));
    assert_true(bits_at(&at) == bits(5, 0, 4080, 0));
    assert_true(deliver(h, &at, 4080));
    assert_true(bits_at(&at) == bits(5, 5, 0, 1));
    assert_true(mbar_inval(&h->m, t, &at));
    assert_true(bits_at(&at) == 0);
    assert_true(mbar_init(&h->m, t, &at, MAX_COUNT));
    assert_true(bits_at(&at) == bits(MAX_COUNT, MAX_COUNT, 0, 0));
    assert_false(h->m.failed);
}

/* PTX ISA, mbarrier.try_wait: the current phase gives false, the one before gives true. */
static void parity(void **state)
{
    Hand *h = one(state);
    SimLoc at = place(&h->cta[0], 0);
    assert_true(mbar_init(&h->m, &h->cta[0].threads[0], &at, 1));
    for (uint32_t phase = 0; phase < 5; phase++) {
        assert_int_equal(test_parity(h, &at, phase), MBAR_NO);
        assert_int_equal(test_parity(h, &at, phase + 1), MBAR_YES);
        assert_true(arrive(h, &at, 1));
        assert_int_equal(test_parity(h, &at, phase), MBAR_YES);
        assert_int_equal(mbar_find(&h->cta[0], 0)->phase, phase + 1);
        assert_int_equal(mbar_find(&h->cta[0], 0)->observed, phase + 1);
    }
}

static void byte_counts(void **state)
{
    Hand *h = one(state);
    SimLoc at = place(&h->cta[0], 8);
    assert_true(mbar_init(&h->m, &h->cta[0].threads[0], &at, 1));
    /* expected first, delivered in parts */
    assert_true(arrive_expect(h, &at, 100));
    assert_true(deliver(h, &at, 60));
    assert_int_equal(test_parity(h, &at, 0), MBAR_NO);
    assert_true(deliver(h, &at, 40));
    assert_int_equal(test_parity(h, &at, 0), MBAR_YES);
    /* delivered before it was expected */
    assert_true(deliver(h, &at, 100));
    assert_int_equal(test_parity(h, &at, 1), MBAR_NO);
    assert_true(arrive_expect(h, &at, 100));
    assert_int_equal(test_parity(h, &at, 1), MBAR_YES);
    /* expected apart from the arrival; an arrival of no bytes */
    assert_true(expect_tx(h, &at, MAX_COUNT));
    assert_true(arrive(h, &at, 1));
    assert_int_equal(test_parity(h, &at, 0), MBAR_NO);
    assert_true(deliver(h, &at, MAX_COUNT));
    assert_int_equal(test_parity(h, &at, 0), MBAR_YES);
    assert_false(h->m.failed);
}

static void too_many_bytes(void **state)
{
    Hand *h = one(state);
    SimLoc at = place(&h->cta[0], 8);
    SimThread *t = &h->cta[0].threads[0];
    assert_true(mbar_init(&h->m, t, &at, 1));
    assert_true(arrive_expect(h, &at, 64));
    assert_false(deliver(h, &at, 80));
    expect_finding(h, E1302, "phase 0, 0 of 1 arrivals pending, 80 bytes delivered where 64 are expected");
    SimLoc b = place(&h->cta[0], 16);
    assert_true(mbar_init(&h->m, t, &b, 1));
    assert_true(deliver(h, &b, 80));
    assert_false(arrive_expect(h, &b, 64));
    expect_finding(h, E1302, "80 bytes delivered where 64 are expected");
}

static void ranges(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 24), odd = place(&h->cta[0], 36);
    assert_false(mbar_init(&h->m, t, &at, 0));
    expect_finding(h, E1325, "count of 0");
    assert_false(mbar_init(&h->m, t, &at, MAX_COUNT + 1));
    expect_finding(h, E1325, "1048576");
    assert_false(mbar_init(&h->m, t, &odd, 1));
    expect_finding(h, E1314, "smem+36");
    assert_true(mbar_init(&h->m, t, &at, 3));
    assert_false(expect_tx(h, &at, MAX_COUNT + 1));
    expect_finding(h, E1302, "range");
    assert_true(expect_tx(h, &at, MAX_COUNT));
    assert_false(expect_tx(h, &at, 1));
    expect_finding(h, E1302, "range");
    assert_true(deliver(h, &at, MAX_COUNT));
    assert_true(deliver(h, &at, MAX_COUNT));
    assert_false(deliver(h, &at, 1));
    expect_finding(h, E1302, "range");
    assert_true(bits_at(&at) == bits(3, 3, -(int64_t)MAX_COUNT, 0));
}

static void over_arrival(void **state)
{
    Hand *h = one(state);
    SimLoc at = place(&h->cta[0], 0);
    assert_true(mbar_init(&h->m, &h->cta[0].threads[0], &at, 2));
    assert_false(arrive(h, &at, 3));
    expect_finding(h, E1325, "3 arrivals where 2 are pending");
    assert_true(arrive_expect(h, &at, 16));
    assert_true(arrive(h, &at, 1));
    assert_false(arrive(h, &at, 1)); /* all have arrived, the bytes have not */
    expect_finding(h, E1325, "16 of 16 bytes missing");
}

static void drop(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 0);
    assert_true(mbar_init(&h->m, t, &at, 3));
    assert_true(mbar_arrive(&h->m, t, &at, 1, 0, false, false, false, true, NULL));
    assert_true(bits_at(&at) == bits(2, 2, 0, 0));
    assert_true(arrive(h, &at, 2));
    assert_true(bits_at(&at) == bits(2, 2, 0, 1));
    assert_true(arrive(h, &at, 1));
    assert_true(mbar_arrive(&h->m, t, &at, 1, 0, false, false, false, true, NULL));
    assert_true(bits_at(&at) == bits(1, 1, 0, 0));
    assert_false(mbar_arrive(&h->m, t, &at, 1, 0, false, false, false, true, NULL));
    expect_finding(h, E1325, "no arrival");
}

static void states(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 0);
    SimBarrier *b;
    uint64_t first = 0, second = 0;
    assert_true(mbar_init(&h->m, t, &at, 2));
    assert_true(mbar_arrive(&h->m, t, &at, 1, 0, false, false, false, false, &first));
    assert_int_equal(mbar_test_state(&h->m, t, &at, first, false, false, &b), MBAR_NO);
    assert_true(mbar_arrive(&h->m, t, &at, 1, 0, false, false, false, false, &second));
    assert_int_equal(mbar_state_pending(first), 2);
    assert_int_equal(mbar_state_pending(second), 1);
    assert_int_equal(mbar_test_state(&h->m, t, &at, first, false, false, &b), MBAR_YES);
    assert_int_equal(mbar_test_state(&h->m, t, &at, second, false, false, &b), MBAR_YES);
    assert_true(mbar_arrive(&h->m, t, &at, 1, 0, false, false, false, false, &second));
    assert_int_equal(mbar_test_state(&h->m, t, &at, second, false, false, &b), MBAR_NO);
    assert_int_equal(mbar_test_state(&h->m, t, &at, UINT64_MAX, false, false, &b), MBAR_NO);
}

static void lives(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 128), other = place(&h->cta[0], 256);
    assert_false(arrive(h, &at, 1));
    expect_finding(h, E1307, "no mbarrier is initialised at smem+128, nor anywhere else");
    t->at = 3;
    assert_true(mbar_init(&h->m, t, &at, 1));
    assert_int_equal(test_parity(h, &other, 1), MBAR_FAILED);
    expect_finding(h, E1307, "no mbarrier is initialised at smem+256; the nearest is the barrier at smem+128 (init PTX line 103)");
    assert_true(arrive(h, &at, 1));
    assert_false(mbar_init(&h->m, t, &at, 1));
    expect_finding(h, E1308, "smem+128");
    assert_true(mbar_inval(&h->m, t, &at));
    assert_false(arrive(h, &at, 1));
    expect_finding(h, E1307, "invalidated");
    assert_false(mbar_inval(&h->m, t, &at));
    expect_finding(h, E1307, "invalidated");
    assert_true(mbar_init(&h->m, t, &at, 1));
    assert_int_equal(test_parity(h, &at, 0), MBAR_NO); /* phases begin at 0 again */
    at.data[2] ^= 1;
    assert_false(arrive(h, &at, 1));
    expect_finding(h, E1316, "overwritten");
    assert_false(deliver(h, &(SimLoc){.cta = &h->cta[0], .offset = HAND_SMEM - 4}, 4));
    expect_finding(h, E1313, NULL);
}

static void exits(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 0), dead = place(&h->cta[0], 8), idle = place(&h->cta[0], 16);
    assert_true(mbar_init(&h->m, t, &at, 2));
    assert_true(mbar_init(&h->m, t, &dead, 2));
    assert_true(mbar_init(&h->m, t, &idle, 2));
    assert_true(arrive(h, &dead, 1));
    assert_true(mbar_inval(&h->m, t, &dead));
    assert_true(arrive_expect(h, &at, 32));
    assert_false(mbar_cta_exit(&h->m, &h->cta[0]));
    expect_finding(h, E1309, "phase 0, 1 of 2 arrivals pending, 32 of 32 bytes missing");
    assert_true(deliver(h, &at, 32));
    assert_true(arrive(h, &at, 1));
    assert_true(mbar_cta_exit(&h->m, &h->cta[0]));
    /* records are used again by the next CTA, which knows none of them */
    hand_cta(h, 0, 64);
    at = place(&h->cta[0], 0);
    assert_false(arrive(h, &at, 1));
    expect_finding(h, E1307, NULL);
    assert_true(mbar_init(&h->m, &h->cta[0].threads[0], &at, 1));
    assert_int_equal(test_parity(h, &at, 0), MBAR_NO);
    assert_true(mbar_cta_exit(&h->m, &h->cta[0]));
}

static void many(void **state)
{
    Hand *h = one(state);
    SimThread *t = &h->cta[0].threads[0];
    for (int round = 0; round < 2; round++) {
        for (uint32_t o = 0; o < 8192; o += 8) {
            SimLoc at = place(&h->cta[0], o);
            assert_true(mbar_init(&h->m, t, &at, 1 + o));
        }
        for (uint32_t o = 0; o < 8192; o += 8) assert_int_equal(mbar_find(&h->cta[0], o)->offset, o);
        assert_null(mbar_find(&h->cta[0], 8192));
        assert_true(mbar_cta_exit(&h->m, &h->cta[0]));
        hand_cta(h, 0, 64);
        t = &h->cta[0].threads[0];
    }
}

/* Instructions as a thread executes them: a failed poll parks behind the instruction until the phase changes. */
static void waits(void **state)
{
    Hand *h = *state;
    hand_make(h, 2, 32);
    SimThread *t = &h->cta[1].threads[4], *peer = &h->cta[0].threads[2];
    uint64_t own = UINT64_C(1) << 24 | (1024 + 40);
    FormOp *init = hand_form(h, 0, FORM_MBAR_INIT, 1), *wait = hand_form(h, 1, FORM_MBAR_TRY_WAIT, 3);
    FormOp *far = hand_form(h, 2, FORM_MBAR_ARRIVE_PEER, 2), *near = hand_form(h, 3, FORM_MBAR_ARRIVE_COUNT, 2);
    init->mbar = wait->mbar = far->mbar = near->mbar = 1;
    init->value[0] = near->value[1] = 2;
    wait->value[0] = 3;
    wait->value[1] = 4;
    near->value[0] = 5;
    t->slot[1] = peer->slot[1] = own;
    t->slot[2] = 2;
    t->slot[3] = 9;
    assert_int_equal(hand_exec(h, t, 0), EXEC_BUDGET);
    SimLoc at = place(&h->cta[1], 40);
    assert_true(bits_at(&at) == bits(2, 2, 0, 0));
    assert_int_equal(hand_exec(h, t, 1), EXEC_BLOCKED);
    assert_int_equal(t->slot[3], 0);
    assert_int_equal(t->pc, 2);
    assert_int_equal(t->on_pc, 1);
    assert_int_equal(t->on_phase, 1);
    assert_int_equal(t->wait, WAIT_MBARRIER);
    assert_int_equal(hand_exec(h, peer, 2), EXEC_BUDGET);
    assert_int_equal(t->wait, WAIT_MBARRIER);
    assert_int_equal(hand_exec(h, peer, 2), EXEC_BUDGET);
    assert_int_equal(t->wait, WAIT_NONE);
    assert_int_equal(hand_exec(h, t, 1), EXEC_BUDGET);
    assert_int_equal(t->slot[3], 1);
    /* two of two at once, with the state before; a generic address */
    t->slot[1] += SIM_SHARED_BASE;
    assert_int_equal(hand_exec(h, t, 3), EXEC_BUDGET);
    assert_int_equal(mbar_state_pending(t->slot[5]), 2);
    assert_true(bits_at(&at) == bits(2, 2, 0, 0));
    t->slot[2] = 0;
    assert_int_equal(hand_exec(h, t, 3), EXEC_FAILED);
    expect_finding(h, E1325, "count of 0");
    h->forms[3].form = FORM_MBAR_ARRIVE_NOCOMPLETE;
    t->slot[2] = 2;
    assert_int_equal(hand_exec(h, t, 3), EXEC_FAILED);
    expect_finding(h, E1325, ".noComplete");
    /* waits are for the own CTA */
    assert_int_equal(hand_exec(h, peer, 1), EXEC_FAILED);
    expect_finding(h, E1313, NULL);
    t->slot[1] = own + 1;
    assert_int_equal(hand_exec(h, t, 1), EXEC_FAILED);
    expect_finding(h, E1314, NULL);
}

/* In check mode try_wait may fail for nothing, test_wait never does. */
static void spurious(void **state)
{
    Hand *h = *state;
    hand_make(h, 1, 32);
    h->m.checking = true;
    SimThread *t = &h->cta[0].threads[0];
    SimLoc at = place(&h->cta[0], 0);
    FormOp *wait = hand_form(h, 1, FORM_MBAR_TRY_WAIT, 2);
    wait->mbar = 1;
    wait->value[0] = 2;
    wait->value[1] = 3;
    t->slot[1] = 1024;
    t->slot[3] = 1; /* the phase before the first */
    assert_true(mbar_init(&h->m, t, &at, 1));
    int yes = 0;
    for (int i = 0; i < 800; i++) {
        assert_int_equal(hand_exec(h, t, 1), EXEC_BUDGET);
        yes += (int)t->slot[2];
    }
    assert_in_range(yes, 600, 790);
    wait->form = FORM_MBAR_TEST_WAIT;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hand_exec(h, t, 1), EXEC_BUDGET);
        assert_int_equal(t->slot[2], 1);
    }
}

/* Any order of sound operations against the sums of the ISA text. */
static void random_phases(void **state)
{
    Hand *h = one(state);
    SimLoc at = place(&h->cta[0], 0);
    Rng r = {.s = 12};
    uint32_t count = 1 + rng_below(&r, 6), pending = count, phase = 0;
    int64_t tx = 0;
    assert_true(mbar_init(&h->m, &h->cta[0].threads[0], &at, count));
    for (int i = 0; i < 5000; i++) {
        uint32_t n = 16 * (1 + rng_below(&r, 4)), what = rng_below(&r, 3);
        bool last = pending == 1;
        if (what == 0 && pending > 1) {
            assert_true(expect_tx(h, &at, n));
            tx += n;
        } else if (what == 1 && (pending > 1 || (pending == 0 && tx >= n))) {
            assert_true(deliver(h, &at, n));
            tx -= n;
        } else if (pending && (!last || tx >= -(int64_t)n)) {
            assert_true(arrive_expect(h, &at, n));
            tx += n;
            pending--;
        } else if (last) {
            assert_true(expect_tx(h, &at, (uint64_t)-tx));
            tx = 0;
        }
        if (pending == 0 && tx == 0) {
            pending = count;
            phase++;
        }
        assert_true(bits_at(&at) == bits(count, pending, tx, phase & 1));
        assert_int_equal(mbar_find(&h->cta[0], 0)->phase, phase);
    }
    assert_true(phase > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        by_hand(encoding), by_hand(parity),       by_hand(byte_counts), by_hand(too_many_bytes), by_hand(ranges),
        by_hand(drop),     by_hand(over_arrival), by_hand(states),      by_hand(lives),          by_hand(exits),
        by_hand(many),     by_hand(waits),        by_hand(spurious),    by_hand(random_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
