/* Collectives of a warp and barriers of threads in the simulator, against the pseudo code and the sentences of the
 * PTX ISA (shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, barrier, barrier.cluster, mapa, ldmatrix).
 */
#include "tests/unit/sim_hand.h"

enum { D = 2, P, A, B, C, MASK, ID, COUNT, REG = 16 }; /* slots */

static Hand *made(void **state, uint32_t nctas, uint32_t threads)
{
    Hand *h = *state;
    hand_make(h, nctas, threads);
    return h;
}

static SimOp *op_at(Hand *h, uint32_t pc, SimOpcode code)
{
    SimOp *op = &h->ops[pc];
    *op = (SimOp){.code = (uint16_t)code, .p = NO_SLOT, .d = D, .a = A, .b = MASK, .c = NO_SLOT};
    return op;
}

/* The lanes of `who` execute the op at pc, in an order of the generator's; the last one ends it for all. */
static void together(Hand *h, uint32_t who, uint32_t pc, uint32_t behind, Rng *r)
{
    SimThread *t = h->cta[0].threads;
    uint32_t left = who, from = rng_below(r, 32);
    for (uint32_t k = 0; k < 32; k++) {
        uint32_t i = (from + 5 * k) % 32;
        if (!(who >> i & 1)) continue;
        left &= ~(1u << i);
        t[i].slot[MASK] = who;
        assert_int_equal(hand_exec(h, &t[i], pc), left ? EXEC_BLOCKED : EXEC_BUDGET);
        if (left) assert_int_equal(t[i].pc, pc);
    }
    for (uint32_t i = 0; i < 32; i++) {
        if (!(who >> i & 1)) continue;
        assert_int_equal(t[i].pc, pc + behind);
        assert_int_equal(t[i].wait, WAIT_NONE);
    }
    assert_false(h->m.failed);
}

static uint32_t some_lanes(Rng *r)
{
    uint32_t mask = (uint32_t)rng_next(r);
    return rng_one_in(r, 2) || mask == 0 ? UINT32_MAX : mask;
}

static void shuffles(void **state)
{
    Hand *h = made(state, 1, 32);
    SimThread *t = h->cta[0].threads;
    Rng r = {.s = 3};
    SimOp *op = op_at(h, 4, SIM_SHFL);
    op->b = B;
    h->ops[5] = (SimOp){.code = SIM_OPERAND, .d = P, .a = C, .b = MASK, .c = NO_SLOT};
    for (int round = 0; round < 400; round++) {
        op->n = (uint8_t)rng_below(&r, 4);
        uint32_t mask = some_lanes(&r);
        uint32_t segment = 32 - (1u << rng_below(&r, 6)), clamp = op->n == 0 ? 0 : 31;
        for (uint32_t i = 0; i < 32; i++) {
            t[i].slot[A] = 1000 + i + 100 * (uint32_t)round;
            t[i].slot[B] = rng_below(&r, 64);
            t[i].slot[C] = segment << 8 | clamp;
        }
        together(h, mask, 4, 2, &r);
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (!(mask >> lane & 1)) continue;
            int bval = (int)(t[lane].slot[B] & 31), j, l = (int)lane, seg = (int)segment;
            int maxlane = (l & seg) | ((int)clamp & ~seg), minlane = l & seg;
            bool pval;
            if (op->n == 0) j = l - bval, pval = j >= maxlane;
            else if (op->n == 1) j = l + bval, pval = j <= maxlane;
            else if (op->n == 2) j = l ^ bval, pval = j <= maxlane;
            else j = minlane | (bval & ~seg), pval = j <= maxlane;
            if (!pval) j = l;
            assert_int_equal(t[lane].slot[P], pval);
            if (mask >> j & 1) assert_int_equal(t[lane].slot[D], t[j].slot[A]);
        }
    }
}

static void votes(void **state)
{
    Hand *h = made(state, 1, 32);
    SimThread *t = h->cta[0].threads;
    Rng r = {.s = 4};
    SimOp *op = op_at(h, 4, SIM_VOTE);
    for (int round = 0; round < 200; round++) {
        uint32_t mask = some_lanes(&r), set = rng_one_in(&r, 3) ? 0 : rng_one_in(&r, 3) ? ~0u : (uint32_t)rng_next(&r);
        bool negated = rng_one_in(&r, 2);
        op->flags = negated;
        for (uint32_t i = 0; i < 32; i++) t[i].slot[A] = (set >> i & 1) != negated;
        for (uint8_t mode = 0; mode < 4; mode++) {
            op->n = mode;
            together(h, mask, 4, 1, &r);
            uint32_t yes = set & mask;
            uint32_t want[] = {yes == mask, yes != 0, yes == 0 || yes == mask, yes};
            for (uint32_t i = 0; i < 32; i++)
                if (mask >> i & 1) assert_int_equal(t[i].slot[D], want[mode]);
        }
    }
}

static void matches(void **state)
{
    Hand *h = made(state, 1, 32);
    SimThread *t = h->cta[0].threads;
    Rng r = {.s = 5};
    SimOp *op = op_at(h, 4, SIM_MATCH);
    op->c = P;
    for (int round = 0; round < 200; round++) {
        uint32_t mask = some_lanes(&r), kinds = 1 + rng_below(&r, 3);
        bool wide = rng_one_in(&r, 2);
        op->type = wide ? PTX_B64 : PTX_B32;
        op->n = (uint8_t)rng_below(&r, 2);
        for (uint32_t i = 0; i < 32; i++)
            t[i].slot[A] = 7 + ((uint64_t)rng_below(&r, kinds) << 32) + rng_below(&r, kinds);
        together(h, mask, 4, 1, &r);
        for (uint32_t i = 0; i < 32; i++) {
            if (!(mask >> i & 1)) continue;
            uint32_t same = 0;
            for (uint32_t k = 0; k < 32; k++) {
                bool equal = wide ? t[k].slot[A] == t[i].slot[A] : (uint32_t)t[k].slot[A] == (uint32_t)t[i].slot[A];
                if (equal && (mask >> k & 1)) same |= 1u << k;
            }
            if (op->n == 0) assert_int_equal(t[i].slot[D], same);
            else {
                assert_int_equal(t[i].slot[D], same == mask ? mask : 0);
                assert_int_equal(t[i].slot[P], same == mask);
            }
        }
    }
}

static void reductions(void **state)
{
    Hand *h = made(state, 1, 32);
    SimThread *t = h->cta[0].threads;
    Rng r = {.s = 6};
    SimOp *op = op_at(h, 4, SIM_REDUX);
    static const RedOp ops[] = {RED_ADD, RED_MIN, RED_MAX, RED_AND, RED_OR, RED_XOR};
    for (int round = 0; round < 300; round++) {
        uint32_t mask = some_lanes(&r);
        bool is_signed = rng_one_in(&r, 2);
        op->n = (uint8_t)ops[rng_below(&r, 6)];
        op->type = is_signed ? PTX_S32 : PTX_U32;
        int64_t min = INT64_MAX, max = INT64_MIN;
        uint32_t sum = 0, all = ~0u, any = 0, odd = 0;
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t v = (uint32_t)rng_next(&r);
            int64_t n = is_signed ? (int64_t)(int32_t)v : (int64_t)v;
            t[i].slot[A] = is_signed ? (uint64_t)n : v;
            if (!(mask >> i & 1)) continue;
            min = n < min ? n : min;
            max = n > max ? n : max;
            sum += v, all &= v, any |= v, odd ^= v;
        }
        together(h, mask, 4, 1, &r);
        uint32_t want[RED_OP_COUNT] = {
            [RED_ADD] = sum, [RED_MIN] = (uint32_t)min, [RED_MAX] = (uint32_t)max, [RED_AND] = all, [RED_OR] = any,
            [RED_XOR] = odd};
        for (uint32_t i = 0; i < 32; i++)
            if (mask >> i & 1) assert_int_equal((uint32_t)t[i].slot[D], want[op->n]);
    }
}

static void elections(void **state)
{
    Hand *h = made(state, 1, 32);
    SimThread *t = h->cta[0].threads;
    Rng r = {.s = 7};
    FormOp *f = hand_form(h, 4, FORM_ELECT_ANY, 3);
    f->value[0] = P;
    f->value[1] = MASK;
    f->value[2] = D;
    for (int round = 0; round < 64; round++) {
        uint32_t mask = some_lanes(&r), leader = (uint32_t)round / 2;
        h->cta[0].warps[0].leader = leader;
        together(h, mask, 4, 1, &r);
        uint32_t lowest = 0;
        while (!(mask >> lowest & 1)) lowest++;
        uint32_t want = mask >> leader & 1 ? leader : lowest;
        for (uint32_t i = 0; i < 32; i++) {
            if (!(mask >> i & 1)) continue;
            assert_int_equal(t[i].slot[P], i == want);
            assert_int_equal(t[i].slot[D], want);
        }
    }
}

/* Who is waited for: not the lanes that have exited or never were; who may not come: those outside their mask. */
static void meetings(void **state)
{
    Hand *h = made(state, 1, 40);
    SimThread *t = h->cta[0].threads;
    op_at(h, 4, SIM_WARPSYNC)->a = MASK;
    op_at(h, 9, SIM_WARPSYNC)->a = MASK;
    op_at(h, 6, SIM_VOTE);
    for (int i = 0; i < 40; i++) t[i].slot[MASK] = UINT32_MAX;
    for (int i = 32; i < 39; i++) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
    assert_int_equal(hand_exec(h, &t[39], 4), EXEC_BUDGET); /* a warp of eight */
    for (int i = 0; i < 31; i++) assert_int_equal(hand_exec(h, &t[i], i % 2 ? 4 : 9), EXEC_BLOCKED);
    hand_exit(h, &t[31]);
    for (int i = 0; i < 31; i++) {
        assert_int_equal(t[i].wait, WAIT_NONE);
        assert_int_equal(t[i].pc, i % 2 ? 5 : 10);
    }
    h->m.checking = true;
    t[0].slot[MASK] = 0xE;
    assert_int_equal(hand_exec(h, &t[0], 4), EXEC_FAILED);
    expect_finding(h, E1323, "does not have it");
    t[0].slot[MASK] = 7;
    t[1].slot[MASK] = 3;
    assert_int_equal(hand_exec(h, &t[0], 4), EXEC_BLOCKED);
    assert_int_equal(hand_exec(h, &t[1], 6), EXEC_BLOCKED); /* another collective: they never meet */
    assert_int_equal(hand_exec(h, &t[2], 9), EXEC_BLOCKED);
    t[3].slot[MASK] = 9;
    assert_int_equal(hand_exec(h, &t[3], 4), EXEC_BLOCKED);
    t[2].slot[MASK] = 0xD;
    assert_int_equal(hand_exec(h, &t[2], 4), EXEC_FAILED);
    expect_finding(h, E1323, "mask");
}

/* ldmatrix: lane 8 i + r gives row r of matrix i; lane l receives elements 2 l and 2 l + 1 of each, .trans of its
 * transpose. */
static void matrices(void **state)
{
    static const InstrForm forms[] = {FORM_LDMATRIX, FORM_LDMATRIX_TRANS, FORM_STMATRIX, FORM_STMATRIX_TRANS};
    Rng r = {.s = 8};
    for (int round = 0; round < 24; round++) {
        Hand *h = made(state, 1, 32);
        SimThread *t = h->cta[0].threads;
        uint32_t n = 1u << round % 3;
        InstrForm form = forms[round % 4];
        bool trans = round % 2, st = round % 4 >= 2;
        uint16_t element[4][64];
        FormOp *f = hand_form(h, 4, form, (uint8_t)n);
        *(st ? &f->dst : &f->src) = A;
        *(st ? &f->dst_off : &f->src_off) = 32;
        uint8_t *smem = h->cta[0].smem;
        for (uint32_t i = 0; i < 32; i++) {
            t[i].slot[A] = i < 8 * n ? 1024 + 48 * (31 - i) : 1; /* addresses of other lanes are not looked at */
            for (uint32_t k = 0; k < 8; k++) {
                uint16_t v = element[i / 8][i % 8 * 8 + k] = (uint16_t)rng_next(&r);
                if (!st) memcpy(smem + 48 * (31 - i) + 32 + 2 * k, &v, 2);
            }
        }
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t i = 0; i < n; i++) {
                f->value[i] = REG + i;
                uint32_t lo = trans ? (2 * l % 8) * 8 + 2 * l / 8 : 2 * l, hi = trans ? lo + 8 : lo + 1;
                if (st) t[l].slot[REG + i] = element[i][lo] | (uint32_t)element[i][hi] << 16;
            }
        together(h, UINT32_MAX, 4, 1, &r);
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t i = 0; i < n; i++) {
                uint32_t lo = trans ? (2 * l % 8) * 8 + 2 * l / 8 : 2 * l, hi = trans ? lo + 8 : lo + 1;
                assert_int_equal(t[l].slot[REG + i], element[i][lo] | (uint32_t)element[i][hi] << 16);
            }
        for (uint32_t i = 0; i < 8 * n; i++)
            for (uint32_t k = 0; k < 8; k++) {
                uint16_t v;
                memcpy(&v, smem + 48 * (31 - i) + 32 + 2 * k, 2);
                assert_int_equal(v, element[i / 8][i % 8 * 8 + k]);
            }
    }
}

/* ---- named barriers ---- */
static SimOp *bar_at(Hand *h, uint32_t pc, uint8_t kind, bool counted)
{
    SimOp *op = op_at(h, pc, SIM_BAR);
    op->n = kind;
    op->a = ID;
    op->b = counted ? COUNT : NO_SLOT;
    op->c = kind >= 2 ? A : NO_SLOT;
    return op;
}

static void set_all(Hand *h, Slot slot, uint64_t v)
{
    for (uint32_t i = 0; i < h->cta[0].nthreads; i++) h->cta[0].threads[i].slot[slot] = v;
}

static void named_all(void **state)
{
    Hand *h = made(state, 1, 80);
    SimThread *t = h->cta[0].threads;
    bar_at(h, 4, 0, false);
    set_all(h, ID, 15);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 79; i++) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
        assert_int_equal(hand_exec(h, &t[79], 4), EXEC_BUDGET);
        for (uint32_t i = 0; i < 80; i++) assert_true(t[i].pc == 5 && t[i].wait == WAIT_NONE);
    }
    /* PTX ISA, exit: "if the exiting threads are holding up the barrier, the barrier is released" */
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
    for (uint32_t i = 64; i < 80; i++) {
        assert_int_equal(t[0].wait, WAIT_NAMED);
        hand_exit(h, &t[i]);
    }
    for (uint32_t i = 0; i < 64; i++) assert_true(t[i].pc == 5 && t[i].wait == WAIT_NONE);
    /* an exited lane of a warp is not waited for */
    hand_exit(h, &t[3]);
    for (uint32_t i = 0; i < 63; i++)
        if (i != 3) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
    assert_int_equal(hand_exec(h, &t[63], 4), EXEC_BUDGET);
}

/* One warp produces, another one consumes (the example of PTX ISA, barrier). */
static void named_arrive(void **state)
{
    Hand *h = made(state, 1, 128);
    SimThread *t = h->cta[0].threads;
    bar_at(h, 4, 0, true);
    bar_at(h, 6, 1, true);
    set_all(h, ID, 2);
    set_all(h, COUNT, 64);
    for (uint32_t i = 32; i < 64; i++) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(t[40].wait, WAIT_NAMED);
        assert_int_equal(hand_exec(h, &t[i], 6), EXEC_BUDGET);
    }
    for (uint32_t i = 32; i < 64; i++) assert_true(t[i].pc == 5 && t[i].wait == WAIT_NONE);
    /* the arrivals first */
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(hand_exec(h, &t[i], 6), EXEC_BUDGET);
    for (uint32_t i = 32; i < 63; i++) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
    assert_int_equal(hand_exec(h, &t[63], 4), EXEC_BUDGET);
    /* with a count, a warp that exits is missed */
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(hand_exec(h, &t[i], 4), EXEC_BLOCKED);
    for (uint32_t i = 32; i < 128; i++) hand_exit(h, &t[i]);
    assert_int_equal(t[0].wait, WAIT_NAMED);
}

static void named_findings(void **state)
{
    Hand *h = made(state, 1, 64);
    SimThread *t = h->cta[0].threads;
    bar_at(h, 4, 0, true);
    bar_at(h, 6, 1, true);
    bar_at(h, 8, 3, true);
    set_all(h, COUNT, 64);
    t[0].slot[ID] = 16;
    assert_int_equal(hand_exec(h, &t[0], 4), EXEC_FAILED);
    expect_finding(h, E1318, "barrier 16");
    t[0].slot[ID] = 0;
    t[0].slot[COUNT] = 40;
    assert_int_equal(hand_exec(h, &t[0], 4), EXEC_FAILED);
    expect_finding(h, E1318, "multiple of 32");
    t[0].slot[COUNT] = 0;
    assert_int_equal(hand_exec(h, &t[0], 6), EXEC_FAILED);
    expect_finding(h, E1318, "number of threads");
    t[0].slot[COUNT] = 96;
    assert_int_equal(hand_exec(h, &t[0], 4), EXEC_FAILED);
    expect_finding(h, E1323, "in a CTA of 64");
    t[0].slot[COUNT] = 64;
    assert_int_equal(hand_exec(h, &t[0], 6), EXEC_BUDGET);
    assert_int_equal(hand_exec(h, &t[0], 6), EXEC_FAILED);
    expect_finding(h, E1323, "twice");
    t[1].slot[COUNT] = 32;
    assert_int_equal(hand_exec(h, &t[1], 4), EXEC_FAILED);
    expect_finding(h, E1323, "others have arrived on it for 64");
    assert_int_equal(hand_exec(h, &t[2], 8), EXEC_FAILED);
    expect_finding(h, E1323, ".red");
}

static void named_red(void **state)
{
    Hand *h = made(state, 1, 64);
    SimThread *t = h->cta[0].threads;
    Rng r = {.s = 9};
    for (int round = 0; round < 60; round++) {
        uint8_t kind = (uint8_t)(2 + round % 3);
        bool negated = rng_one_in(&r, 2);
        uint32_t yes = 0, pick = rng_below(&r, 3);
        bar_at(h, 4, kind, rng_one_in(&r, 2))->flags = negated;
        set_all(h, COUNT, 64);
        for (uint32_t i = 0; i < 64; i++) {
            bool p = pick == 0 ? false : pick == 1 ? true : rng_one_in(&r, 2);
            t[i].slot[A] = p != negated;
            yes += p;
        }
        for (uint32_t i = 0; i < 64; i++) assert_int_equal(hand_exec(h, &t[i], 4), i < 63 ? EXEC_BLOCKED : EXEC_BUDGET);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(t[i].slot[D], kind == 2 ? yes : kind == 3 ? yes == 64 : yes != 0);
    }
}

/* ---- clusters ---- */
static void clusters(void **state)
{
    Hand *h = made(state, 2, 32);
    hand_form(h, 4, FORM_CLUSTER_ARRIVE, 0);
    hand_form(h, 5, FORM_CLUSTER_WAIT, 0);
    SimThread *t[64];
    for (uint32_t i = 0; i < 64; i++) t[i] = &h->cta[i / 32].threads[i % 32];
    assert_int_equal(hand_exec(h, t[0], 5), EXEC_FAILED);
    expect_finding(h, E1323, "without having arrived");
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 63; i++) assert_int_equal(hand_exec(h, t[i], 4), EXEC_BUDGET);
        for (uint32_t i = 0; i < 20; i++) assert_int_equal(hand_exec(h, t[i], 5), EXEC_BLOCKED);
        assert_int_equal(hand_exec(h, t[30], 4), EXEC_FAILED);
        expect_finding(h, E1323, "again");
        assert_int_equal(hand_exec(h, t[63], 4), EXEC_BUDGET);
        for (uint32_t i = 0; i < 20; i++) assert_true(t[i]->wait == WAIT_NONE && t[i]->pc == 6);
        for (uint32_t i = 20; i < 64; i++) assert_int_equal(hand_exec(h, t[i], 5), EXEC_BUDGET);
    }
    /* "all non-exited threads of the cluster": who has arrived and exits counts once, who exits only is not missed */
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(hand_exec(h, t[i], 4), EXEC_BUDGET);
    assert_int_equal(hand_exec(h, t[0], 5), EXEC_BLOCKED);
    for (uint32_t i = 30; i < 63; i++) {
        hand_exit(h, t[i]);
        assert_int_equal(t[0]->wait, WAIT_CLUSTER);
    }
    hand_exit(h, t[63]);
    assert_int_equal(t[0]->wait, WAIT_NONE);
    for (uint32_t i = 1; i < 30; i++) assert_int_equal(hand_exec(h, t[i], 5), EXEC_BUDGET);
    /* a CTA that has not started holds all up */
    h = made(state, 2, 32);
    hand_form(h, 4, FORM_CLUSTER_ARRIVE, 0);
    hand_form(h, 5, FORM_CLUSTER_WAIT, 0);
    h->cta[1].started = false;
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(hand_exec(h, &h->cta[0].threads[i], 4), EXEC_BUDGET);
    assert_int_equal(hand_exec(h, &h->cta[0].threads[0], 5), EXEC_BLOCKED);
}

static void ranks(void **state)
{
    Hand *h = made(state, 4, 32);
    SimThread *t = &h->cta[2].threads[0];
    FormOp *to = hand_form(h, 4, FORM_MAPA, 2), *of = hand_form(h, 5, FORM_GETCTARANK, 2);
    to->value[0] = of->value[0] = D;
    to->value[1] = of->value[1] = to->src = of->src = A;
    to->rank = B;
    to->cluster = of->cluster = true;
    to->type = of->type = PTX_U32;
    t->slot[A] = 0x02000450;
    t->slot[B] = 3;
    assert_int_equal(hand_exec(h, t, 4), EXEC_BUDGET);
    assert_true(t->slot[D] == 0x03000450);
    assert_int_equal(hand_exec(h, t, 5), EXEC_BUDGET);
    assert_true(t->slot[D] == 2);
    to->form = FORM_MAPA_GENERIC;
    of->form = FORM_GETCTARANK_GENERIC;
    to->cluster = of->cluster = false;
    to->type = of->type = PTX_U64;
    t->slot[A] = SIM_SHARED_BASE + 0x01000450;
    assert_int_equal(hand_exec(h, t, 4), EXEC_BUDGET);
    assert_true(t->slot[D] == SIM_SHARED_BASE + 0x03000450);
    assert_int_equal(hand_exec(h, t, 5), EXEC_BUDGET);
    assert_true(t->slot[D] == 1);
    t->slot[A] = SIM_GLOBAL_BASE;
    assert_int_equal(hand_exec(h, t, 4), EXEC_FAILED);
    expect_finding(h, E1313, "generic");
    t->slot[A] = SIM_SHARED_BASE;
    t->slot[B] = 4;
    assert_int_equal(hand_exec(h, t, 4), EXEC_FAILED);
    expect_finding(h, E1327, "rank 4");
}

/* What only hints, or changes nothing that is simulated. */
static void hints(void **state)
{
    Hand *h = made(state, 1, 32);
    static const InstrForm nothing[] = {FORM_SETMAXNREG_INC, FORM_SETMAXNREG_DEC, FORM_GRIDDEP_WAIT,
                                        FORM_GRIDDEP_LAUNCH, FORM_POLICY_CREATE,  FORM_POLICY_RANGE,
                                        FORM_FENCE_ASYNC,    FORM_FENCE_SC};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        hand_form(h, 4, nothing[i], 1)->value[0] = D;
        assert_int_equal(hand_exec(h, &h->cta[0].threads[0], 4), EXEC_BUDGET);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        by_hand(shuffles), by_hand(votes),     by_hand(matches),   by_hand(reductions),   by_hand(elections),
        by_hand(meetings), by_hand(matrices),  by_hand(named_all), by_hand(named_arrive), by_hand(named_findings),
        by_hand(clusters), by_hand(named_red), by_hand(ranks),     by_hand(hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
