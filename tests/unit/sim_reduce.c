/* Reductions against plain references: 16-bit floats against a search for the nearest value of the format (exact sum by
 * two-sum), integers against 128-bit-free C, the tables against the PTX ISA (atom; cp.reduce.async.bulk.tensor). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/copies/maps.h"

static uint64_t seed = 7;

static uint32_t next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}

/* ---- 16-bit floats ---- */

static double value(uint16_t bits, int mantissa, int bias)
{
    int e = (bits & 0x7FFF) >> mantissa, m = bits & ((1 << mantissa) - 1);
    double v = e == 0 ? ldexp(m, 1 - bias - mantissa) : ldexp((1 << mantissa) + m, e - bias - mantissa);
    return bits & 0x8000 ? -v : v;
}

/* Nearest to hi + lo (|lo| far below hi), ties to the even number; hi >= 0. */
static uint16_t nearest(double hi, double lo, int mantissa, int bias)
{
    uint16_t inf = (uint16_t)((0x7FFF >> mantissa) << mantissa), low = 0, high = inf;
    while (low < high) { /* the last finite value that is not above the sum */
        uint16_t mid = (uint16_t)((low + high + 1) / 2);
        double v = value(mid, mantissa, bias); /* of infinity: the next power of two */
        if (v < hi || (v == hi && lo >= 0)) low = mid;
        else high = (uint16_t)(mid - 1);
    }
    if (low == inf) return inf;
    double middle = (value(low, mantissa, bias) + value((uint16_t)(low + 1), mantissa, bias)) / 2;
    bool above = hi > middle || (hi == middle && lo > 0), tie = hi == middle && lo == 0;
    return above || (tie && low % 2) ? (uint16_t)(low + 1) : low;
}

static uint16_t add_16(uint16_t a, uint16_t b, int mantissa, int bias)
{
    uint16_t inf = (uint16_t)((0x7FFF >> mantissa) << mantissa), x = a & 0x7FFF, y = b & 0x7FFF;
    if (x > inf || y > inf || (x == inf && y == inf && a != b)) return 0x7FFF;
    if (x == inf) return a;
    if (y == inf) return b;
    double p = value(a, mantissa, bias), q = value(b, mantissa, bias), s = p + q, t = s - p;
    double rest = (p - (s - t)) + (q - t);
    if (s == 0) return signbit(p) && signbit(q) ? 0x8000 : 0;
    return s < 0 ? 0x8000 | nearest(-s, -rest, mantissa, bias) : nearest(s, rest, mantissa, bias);
}

static void floats_of_16_bits_add_with_one_rounding(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint16_t a = (uint16_t)next(), b = (uint16_t)next(), r;
        if (i % 3 == 0) b = (uint16_t)(a + (next() % 64) - 32) ^ (next() & 0x8000);
        if (i % 5 == 0) b &= 0x81FF; /* small ones */
        r = a;
        sim_reduce((uint8_t *)&r, (uint8_t *)&b, 2, RED_ADD, PTX_F16, false);
        assert_int_equal(r, add_16(a, b, 10, 15));
        r = a;
        sim_reduce((uint8_t *)&r, (uint8_t *)&b, 2, RED_ADD, PTX_BF16, false);
        assert_int_equal(r, add_16(a, b, 7, 127));
    }
}

static uint16_t f16(RedOp op, PtxType type, uint16_t a, uint16_t b)
{
    sim_reduce((uint8_t *)&a, (uint8_t *)&b, 2, op, type, false);
    return a;
}

static void known_sums(void **state)
{
    (void)state;
    assert_int_equal(f16(RED_ADD, PTX_F16, 0x3C00, 0x3C00), 0x4000);  /* 1 + 1 */
    assert_int_equal(f16(RED_ADD, PTX_F16, 0x7BFF, 0x7BFF), 0x7C00);  /* overflow */
    assert_int_equal(f16(RED_ADD, PTX_F16, 0x0001, 0x0001), 0x0002);  /* subnormal, not flushed */
    assert_int_equal(f16(RED_ADD, PTX_F16, 0x03FF, 0x0001), 0x0400);  /* to the least normal */
    assert_int_equal(f16(RED_ADD, PTX_F16, 0x7C00, 0xFC00), 0x7FFF);  /* inf - inf */
    assert_int_equal(f16(RED_ADD, PTX_BF16, 0x0001, 0x8001), 0x0000); /* +0 */
    assert_int_equal(f16(RED_ADD, PTX_BF16, 0x7F7F, 0x7B00), 0x7F80); /* half a unit beyond the largest: to infinity */
    assert_int_equal(f16(RED_ADD, PTX_BF16, 0x7F7F, 0x7AFF), 0x7F7F);
}

static void order_prefers_numbers(void **state)
{
    (void)state;
    const PtxType types[] = {PTX_F16, PTX_BF16};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f16(RED_MIN, types[i], 0x7FFF, 0x3C00), 0x3C00);
        assert_int_equal(f16(RED_MAX, types[i], 0x3C00, 0xFFFF), 0x3C00);
        assert_int_equal(f16(RED_MAX, types[i], 0xFFFF, 0xFFFF), 0x7FFF);
        assert_int_equal(f16(RED_MIN, types[i], 0x0000, 0x8000), 0x8000);
        assert_int_equal(f16(RED_MAX, types[i], 0x8000, 0x0000), 0x0000);
        assert_int_equal(f16(RED_MAX, types[i], 0xC000, 0x3C00), 0x3C00);
        assert_int_equal(f16(RED_MIN, types[i], 0xC000, 0x3C00), 0xC000);
    }
}

/* ---- f32, f64 ---- */

static uint32_t f32(RedOp op, uint32_t a, uint32_t b, bool ftz)
{
    sim_reduce((uint8_t *)&a, (uint8_t *)&b, 4, op, PTX_F32, ftz);
    return a;
}

static void f32_flushes_only_where_asked(void **state)
{
    (void)state;
    assert_int_equal(f32(RED_ADD, 0x3F800000, 0x40000000, false), 0x40400000);
    assert_int_equal(f32(RED_ADD, 0x00000001, 0x00000001, false), 0x00000002);
    assert_int_equal(f32(RED_ADD, 0x00000001, 0x00000001, true), 0);
    assert_int_equal(f32(RED_ADD, 0x80000001, 0x80000001, true), 0x80000000);
    assert_int_equal(f32(RED_ADD, 0x00800001, 0x80800000, true), 0); /* the result */
    assert_int_equal(f32(RED_ADD, 0x00800001, 0x80800000, false), 1);
    assert_int_equal(f32(RED_ADD, 0x7F800000, 0xFF800000, false), 0x7FFFFFFF);
    assert_int_equal(f32(RED_MIN, 0x7FC00000, 0x3F800000, false), 0x3F800000);
    assert_int_equal(f32(RED_MAX, 0xBF800000, 0x3F800000, false), 0x3F800000);
    assert_int_equal(f32(RED_MIN, 0x00000000, 0x80000000, false), 0x80000000);
    double a = 1e300, b = 2e300, inf = 1.5e308;
    sim_reduce((uint8_t *)&a, (uint8_t *)&b, 8, RED_ADD, PTX_F64, false);
    assert_true(a == 1e300 + 2e300);
    sim_reduce((uint8_t *)&inf, (const uint8_t *)&(double){1.5e308}, 8, RED_ADD, PTX_F64, false);
    assert_true(isinf(inf));
}

/* ---- integers ---- */

static void integers_as_in_c(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t a = (uint64_t)next() << 32 | next(), b = (uint64_t)next() << 32 | next();
        if (i % 2) b = a + next() % 5 - 2;
        uint32_t x = (uint32_t)a, y = (uint32_t)b;
        const struct {
            RedOp op;
            PtxType type;
            uint64_t result;
        } rows[] = {
            {RED_ADD, PTX_U32, (uint32_t)(x + y)},
            {RED_ADD, PTX_S32, (uint32_t)(x + y)},
            {RED_ADD, PTX_U64, a + b},
            {RED_MIN, PTX_U32, x < y ? x : y},
            {RED_MAX, PTX_U32, x > y ? x : y},
            {RED_MIN, PTX_S32, (int32_t)x < (int32_t)y ? x : y},
            {RED_MAX, PTX_S32, (int32_t)x > (int32_t)y ? x : y},
            {RED_MIN, PTX_U64, a < b ? a : b},
            {RED_MAX, PTX_U64, a > b ? a : b},
            {RED_MIN, PTX_S64, (int64_t)a < (int64_t)b ? a : b},
            {RED_MAX, PTX_S64, (int64_t)a > (int64_t)b ? a : b},
            {RED_INC, PTX_U32, x >= y ? 0 : x + 1},
            {RED_DEC, PTX_U32, x == 0 || x > y ? y : x - 1},
            {RED_AND, PTX_B32, x & y},
            {RED_OR, PTX_B32, x | y},
            {RED_XOR, PTX_B32, x ^ y},
            {RED_AND, PTX_B64, a & b},
            {RED_OR, PTX_B64, a | b},
            {RED_XOR, PTX_B64, a ^ b},
            {RED_EXCH, PTX_B64, b},
        };
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            uint64_t memory[2] = {a, a};
            uint64_t mask = ptx_type_bytes(rows[k].type) == 4 ? UINT32_MAX : UINT64_MAX;
            assert_true(sim_atomic((uint8_t *)memory, rows[k].op, rows[k].type, b, 0, false) == (a & mask));
            assert_true((memory[0] & mask) == rows[k].result);
            assert_true((memory[0] & ~mask) == (a & ~mask));
        }
    }
}

static void inc_and_dec_wrap(void **state)
{
    (void)state;
    uint32_t v = 3;
    sim_reduce((uint8_t *)&v, (const uint8_t *)&(uint32_t){3}, 4, RED_INC, PTX_U32, false);
    assert_int_equal(v, 0);
    sim_reduce((uint8_t *)&v, (const uint8_t *)&(uint32_t){3}, 4, RED_DEC, PTX_U32, false);
    assert_int_equal(v, 3);
    v = 9;
    sim_reduce((uint8_t *)&v, (const uint8_t *)&(uint32_t){3}, 4, RED_DEC, PTX_U32, false);
    assert_int_equal(v, 3);
}

static void cas_compares(void **state)
{
    (void)state;
    uint32_t v = 5;
    assert_int_equal(sim_atomic((uint8_t *)&v, RED_CAS, PTX_B32, 4, 9, false), 5);
    assert_int_equal(v, 5);
    assert_int_equal(sim_atomic((uint8_t *)&v, RED_CAS, PTX_B32, UINT64_C(0xFFFFFFFF00000005), 9, false), 5);
    assert_int_equal(v, 9);
    uint16_t h[2] = {5, 6};
    assert_int_equal(sim_atomic((uint8_t *)h, RED_CAS, PTX_B16, 5, 0x12345, false), 5);
    assert_int_equal(h[0], 0x2345);
    assert_int_equal(h[1], 6);
}

static void many_elements(void **state)
{
    (void)state;
    uint32_t a[100], b[100];
    for (uint32_t i = 0; i < 100; i++) {
        a[i] = i;
        b[i] = 1000 * i;
    }
    sim_reduce((uint8_t *)a, (uint8_t *)b, sizeof a, RED_ADD, PTX_U32, false);
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(a[i], 1001 * i);
    uint16_t h[4] = {0x3C00, 0x3C00, 0x4000, 0}, k[4] = {0x3C00, 0, 0x3C00, 0x3C00};
    sim_reduce((uint8_t *)h, (uint8_t *)k, sizeof h, RED_ADD, PTX_F16X2, false);
    assert_int_equal(h[0], 0x4000);
    assert_int_equal(h[1], 0x3C00);
    assert_int_equal(h[2], 0x4200);
    assert_int_equal(h[3], 0x3C00);
}

static void pairs_that_ptx_lacks_change_nothing(void **state)
{
    (void)state;
    uint64_t v = 0x1122334455667788, s = 1;
    sim_reduce((uint8_t *)&v, (uint8_t *)&s, 8, RED_INC, PTX_U64, false);
    sim_reduce((uint8_t *)&v, (uint8_t *)&s, 8, RED_XOR, PTX_F32, false);
    sim_reduce((uint8_t *)&v, (uint8_t *)&s, 8, RED_INC, PTX_BF16, false);
    sim_reduce((uint8_t *)&v, (uint8_t *)&s, 8, RED_ADD, PTX_PRED, false);
    assert_true(v == 0x1122334455667788);
}

/* PTX ISA, cp.reduce.async.bulk.tensor: the table of .redOp and element type. */
static void tensor_reductions(void **state)
{
    (void)state;
    static const struct {
        int map_type;
        const char *ops; /* of "amix": add, min and max, inc and dec, and / or / xor */
    } rows[] = {
        {MAP_U32, "amix"}, {MAP_S32, "amx"}, {MAP_U64, "amx"}, {MAP_S64, "m"}, {MAP_F16, "am"}, {MAP_BF16, "am"},
        {MAP_F32, "a"},    {MAP_F64, "a"},   {MAP_U8, ""},     {MAP_U16, ""},   {MAP_TF32, ""},  {MAP_U4_ALIGN8, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int op = 0; op < RED_OP_COUNT; op++) {
            static const char letter[] = "ammiixxx--";
            bool is = sim_reduce_type(rows[i].map_type, (RedOp)op) != PTX_NO_TYPE;
            assert_int_equal(is, strchr(rows[i].ops, letter[op]) != NULL);
        }
    assert_int_equal(sim_reduce_type(99, RED_ADD), PTX_NO_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_of_16_bits_add_with_one_rounding),
        cmocka_unit_test(known_sums),
        cmocka_unit_test(order_prefers_numbers),
        cmocka_unit_test(f32_flushes_only_where_asked),
        cmocka_unit_test(integers_as_in_c),
        cmocka_unit_test(inc_and_dec_wrap),
        cmocka_unit_test(cas_compares),
        cmocka_unit_test(many_elements),
        cmocka_unit_test(pairs_that_ptx_lacks_change_nothing),
        cmocka_unit_test(tensor_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
