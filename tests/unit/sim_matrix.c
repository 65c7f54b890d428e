/* Matrices of bytes, and of elements that become bytes, in the simulator: against the sentences of the PTX ISA (ldmatrix,
 * stmatrix), which are about matrices, not about addresses.
 */
#include "tests/unit/sim_hand.h"

enum { AT = 2, REG = 16, PITCH = 48, OFFSET = 32 };

static uint8_t *row_of(Hand *h, uint32_t i) /* the rows lie the other way round, with space between them */
{
    return h->cta[0].smem + OFFSET + PITCH * (31 - i);
}

static FormOp *form_at(Hand *h, InstrForm form, uint32_t registers, uint32_t rows)
{
    hand_make(h, 1, 32);
    FormOp *f = hand_form(h, 4, form, (uint8_t)registers);
    *(form == FORM_STMATRIX_B8 ? &f->dst : &f->src) = AT;
    f->src_off = f->dst_off = OFFSET;
    for (uint32_t i = 0; i < registers; i++) f->value[i] = REG + i;
    for (uint32_t i = 0; i < 32; i++)
        h->cta[0].threads[i].slot[AT] = i < rows ? 1024 + PITCH * (31 - i) : 1; /* other lanes' are not looked at */
    return f;
}

static void run(Hand *h)
{
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(hand_exec(h, &h->cta[0].threads[i], 4), i < 31 ? EXEC_BLOCKED : EXEC_BUDGET);
    assert_false(h->m.failed);
}

static uint32_t byte_of(const Hand *h, uint32_t lane, uint32_t i, uint32_t k)
{
    return h->cta[0].threads[lane].slot[REG + i] >> 8 * k & 255;
}

/* Row i of shared memory: sixteen elements of some bits, the first one lowest; behind them, what does not matter. */
static void pack(Hand *h, uint32_t i, const uint8_t *element, uint32_t bits, Rng *r)
{
    uint8_t *to = row_of(h, i);
    for (uint32_t k = 0; k < 16; k++) to[k] = (uint8_t)rng_next(r);
    for (uint32_t at = 0; at < 16 * bits; at++) {
        uint32_t bit = element[at / bits] >> at % bits & 1;
        to[at / 8] = (uint8_t)((to[at / 8] & ~(1u << at % 8)) | bit << at % 8);
    }
}

static const uint32_t BITS[] = {8, 6, 4};

/* "each thread loads 4 consecutive columns across 2 rows", "loaded in column-major format": an address is a column's. */
static void loads_of_columns(void **state)
{
    Hand *h = *state;
    Rng r = {.s = 4};
    for (uint32_t round = 0; round < 18; round++) {
        uint32_t n = 1 + round % 2, fmt = round % 3;
        uint8_t column[2][16][16];
        form_at(h, fmt ? FORM_LDMATRIX_B8_WIDEN : FORM_LDMATRIX_B8, 2 * n, 16 * n)->fmt = (int8_t)fmt;
        for (uint32_t i = 0; i < 16 * n; i++) {
            for (uint32_t k = 0; k < 16; k++)
                column[i / 16][i % 16][k] = (uint8_t)(rng_next(&r) & ((1u << BITS[fmt]) - 1));
            pack(h, i, column[i / 16][i % 16], BITS[fmt], &r);
        }
        run(h);
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t i = 0; i < 2 * n; i++)
                for (uint32_t k = 0; k < 4; k++)
                    assert_int_equal(byte_of(h, l, i, k), column[i / 2][l % 4 * 4 + k][l / 4 + i % 2 * 8]);
    }
}

/* "an entire row can be loaded by a group of four consecutive and aligned threads", 4 consecutive columns each */
static void loads_of_rows(void **state)
{
    Hand *h = *state;
    Rng r = {.s = 5};
    for (uint32_t round = 0; round < 12; round++) {
        uint32_t n = 1u << round % 3, fmt = 1 + round % 2;
        uint8_t row[4][8][16];
        form_at(h, FORM_LDMATRIX_ROWS_WIDEN, n, 8 * n)->fmt = (int8_t)fmt;
        for (uint32_t i = 0; i < 8 * n; i++) {
            for (uint32_t k = 0; k < 16; k++) row[i / 8][i % 8][k] = (uint8_t)(rng_next(&r) & ((1u << BITS[fmt]) - 1));
            pack(h, i, row[i / 8][i % 8], BITS[fmt], &r);
        }
        run(h);
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t k = 0; k < 4; k++) assert_int_equal(byte_of(h, l, i, k), row[i][l / 4][l % 4 * 4 + k]);
    }
}

/* 16 x 8: e0, e1 are neighbours in row l / 4, e2, e3 in row l / 4 + 8; an address is a column's. */
static void stores_of_columns(void **state)
{
    Hand *h = *state;
    Rng r = {.s = 6};
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t n = 1u << round % 3;
        uint8_t matrix[4][16][8];
        form_at(h, FORM_STMATRIX_B8, n, 8 * n);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < 128; k++) matrix[i][k / 8][k % 8] = (uint8_t)rng_next(&r);
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t i = 0; i < n; i++) {
                const uint8_t *upper = &matrix[i][l / 4][l % 4 * 2], *lower = &matrix[i][l / 4 + 8][l % 4 * 2];
                h->cta[0].threads[l].slot[REG + i] = upper[0] | (uint32_t)upper[1] << 8 | (uint32_t)lower[0] << 16 |
                                                     (uint32_t)lower[1] << 24;
            }
        run(h);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < 128; k++)
                assert_int_equal(row_of(h, 8 * i + k % 8)[k / 8], matrix[i][k / 8][k % 8]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {by_hand(loads_of_columns), by_hand(loads_of_rows), by_hand(stores_of_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
