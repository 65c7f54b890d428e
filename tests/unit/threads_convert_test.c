/* Conversions and sums by threads: every pair of types with every value that could go wrong, on the simulator, against
 * the definitions in threads_values.h. */
#include "threads_world.h"

#include "threads_values.h"

enum { TYPES = TYPE_E5M2 + 1, VALUES = 1024 };

/* Values where rounding, saturation or special cases lie: near every power of two, near the middle between neighbours of
 * the target, near the ends of both ranges. */
static uint64_t near_number(World *w, int from, int to)
{
    if (!is_real(to)) {
        int n = elem_info((ElemType)to)->shared_bits;
        long double edge = ldexpl(1, (int)(roll(w) % (uint64_t)(n + 2)));
        long double v = edge + (long double)(roll(w) % 9) / 4 - 1;
        return rounded(from, roll(w) % 2 ? v : -v, true);
    }
    uint64_t bits = roll(w) & low_bits(format_of(to).bits - 1 - (roll(w) % 2 ? 1 : 0));
    long double a = value_of(to, bits), b = value_of(to, bits + (UINT64_C(1) << format_of(to).shift));
    if (!isfinite(a)) a = format_of(to).largest;
    if (!isfinite(b)) b = a * 1.0625L;
    long double middle = roll(w) % 4 ? (a + b) / 2 : a;
    return rounded(from, roll(w) % 2 ? middle : -middle, true);
}

static uint64_t special(World *w, int type)
{
    int n = elem_info((ElemType)type)->shared_bits;
    uint64_t sign = UINT64_C(1) << (n - 1);
    if (!is_real(type)) {
        static const uint64_t off[] = {0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536};
        uint64_t v = off[roll(w) % 11];
        return (roll(w) % 2 ? v : roll(w) % 2 ? 0 - v : sign - v) & low_bits(n);
    }
    Format f = format_of(type);
    static const long double numbers[] = {0, 1, 0.5L, 1.5L, 2.5L, 127.5L, 128, 255.5L, 448, 464, 65504, 65519, 65520};
    uint64_t v;
    switch (roll(w) % 6) {
    case 0: v = exact_bits(f, ldexpl(1, f.emin - f.mantissa)); break; /* the smallest */
    case 1: v = exact_bits(f, ldexpl(1, f.emin)); break;
    case 2: v = exact_bits(f, f.largest); break;
    case 3: v = f.ieee ? exact_bits(f, (long double)INFINITY) : 0x7f; break;
    case 4:
        v = (low_bits(f.bits - 1 - f.mantissa) << f.mantissa | UINT64_C(1) << (f.mantissa - 1)) & low_bits(f.bits);
        break;
    default: v = rounded(type, numbers[roll(w) % 13], true); break;
    }
    if (type == TYPE_E4M3 && v == 0x7c) v = 0x7f;
    return v | (roll(w) % 2 ? sign : 0);
}

static uint64_t some_value(World *w, int from, int to, uint32_t i)
{
    int n = elem_info((ElemType)from)->shared_bits;
    if (n == 8) return i & 0xff;
    if (n == 16 && is_real(from) && i < VALUES / 2) return (uint64_t)i * 127 & 0xffff;
    if (i % 3 == 0) return special(w, from);
    if (i % 3 == 1 && is_real(from)) {
        uint64_t v = near_number(w, from, to), off = roll(w) % 3;
        return (v + off - 1) & low_bits(n);
    }
    uint64_t v = roll(w) >> roll(w) % 64;
    if (!is_real(from) && roll(w) % 2) v = (UINT64_C(1) << roll(w) % 64) + roll(w) % 5 - 2; /* near powers of two */
    return v & low_bits(n);
}

static void fill_source(World *w, const Job *j, uint32_t src, uint32_t dst)
{
    static uint32_t i;
    put_bits(w->before, src, bytes_of(j->p.src.type), some_value(w, j->p.src.type, j->p.dst.type, i++ % VALUES));
    if (j->p.add) put_bits(w->before, dst, bytes_of(j->p.dst.type), special(w, j->p.dst.type));
}

static void check_element(World *w, const Job *j, uint32_t src, uint32_t dst)
{
    int from = j->p.src.type, to = j->p.dst.type;
    uint64_t bits = get_bits(w->before, src, bytes_of(from)), got = get_bits(w->after, dst, bytes_of(to));
    uint64_t old = get_bits(w->before, dst, bytes_of(to)), want = bits;
    bool nan = false, converted_nan;
    if (from != to) want = converted(from, to, j->p.sat, bits, &nan);
    if (j->p.add) {
        converted_nan = nan;
        want = sum_of(to, old, want, &nan);
        nan |= converted_nan;
    }
    if (nan ? is_nan(to, got) : got == want) return;
    show_job(j);
    fail_msg("0x%llx (%Lg) gave 0x%llx, not 0x%llx%s; there was 0x%llx", (unsigned long long)bits, value_of(from, bits),
             (unsigned long long)got, (unsigned long long)want, nan ? " (NaN)" : "", (unsigned long long)old);
}

static void check_values(World *w, int swizzle, IrXform xform, uint32_t rows, uint32_t cols, int from, int to, bool sat,
                         bool add)
{
    Job j = job(xform, 0, rows, cols, from, swizzle, to, swizzle, 128);
    j.p.sat = sat;
    j.p.add = add;
    plan_job(w, &j);
    memset(w->before, 0, IMAGE);
    each_element(w, &j, fill_source);
    run_job(w, &j, false, NULL);
    each_element(w, &j, check_element);
}

static void convert_all(World *w, bool sat)
{
    for (int from = 0; from < TYPES; from++)
        for (int to = 0; to < TYPES; to++)
            if (from != to) check_values(w, MAP_SWIZZLE_NONE, IRX_COPY, 8, VALUES / 8, from, to, sat, false);
}

static void test_conversions(void **state)
{
    convert_all(*state, false);
}

static void test_saturation(void **state)
{
    convert_all(*state, true);
}

/* Rows of an odd length are moved element by element, blocks are packed in the other order. */
static void test_packing(void **state)
{
    World *w = *state;
    for (int from = 0; from < TYPES; from++) {
        for (int to = 0; to < TYPES; to++) {
            if (from == to) continue;
            uint32_t even = roll(w) % 2 ? 16 : 12;
            check_values(w, MAP_SWIZZLE_NONE, IRX_COPY, 2, 31, from, to, false, false);
            check_values(w, MAP_SWIZZLE_NONE, IRX_TRANSPOSE, 32, even, from, to, false, false);
            check_values(w, MAP_SWIZZLE_NONE, IRX_TRANSPOSE, 9, 7, from, to, true, false);
        }
    }
}

static void test_sums(void **state)
{
    World *w = *state;
    for (int to = 0; to < TYPES; to++) {
        if (to == TYPE_TF32 || to == TYPE_E4M3 || to == TYPE_E5M2) continue;
        for (int from = 0; from < TYPES; from++) {
            check_values(w, MAP_SWIZZLE_NONE, IRX_COPY, 8, 32, from, to, false, true);
            check_values(w, MAP_SWIZZLE_NONE, IRX_TRANSPOSE, 16, 32, from, to, false, true);
        }
        check_values(w, MAP_SWIZZLE_NONE, IRX_COPY, 3, 11, to, to, false, true);
    }
    /* with matrices, and through panels */
    check_values(w, MAP_SWIZZLE_128B, IRX_TRANSPOSE, 64, 72, TYPE_F16, TYPE_F16, false, true);
    check_values(w, MAP_SWIZZLE_128B, IRX_TRANSPOSE, 32, 64, TYPE_S16, TYPE_S16, false, true);
    check_values(w, MAP_SWIZZLE_64B, IRX_TRANSPOSE, 64, 48, TYPE_U8, TYPE_U8, false, true);
    check_values(w, MAP_SWIZZLE_128B, IRX_TRANSPOSE, 64, 40, TYPE_F32, TYPE_BF16, false, true);
    check_values(w, MAP_SWIZZLE_128B, IRX_COPY, 24, 100, TYPE_F32, TYPE_F16, false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(test_conversions),
        in_world(test_saturation),
        in_world(test_packing),
        in_world(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
