/* Which schedule a launch takes: random conditions over random expressions, beside what the launch's own evaluation (lang/lx.h) says of them. */
#include "runtime/module.h"
#include "tests/unit/lang_fixture.h"

static const long double MOST = 9e18L;
enum { SYMS = 4, SCHEDULES = 3, PICKS = 5, CASES = 3000, SHAPES = 40 };

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 33) % n;
}

/* Small, powers of two, and what leaves 64 bits when multiplied. */
static int64_t number(void)
{
    switch (below(5)) {
    case 0: return below(4);
    case 1: return INT64_C(1) << below(41);
    case 2: return below(1000);
    case 3: return (INT64_C(1) << below(40)) + below(7);
    default: return below(UINT32_MAX);
    }
}

static Lx expression(Arena *a, LxPool *p, int depth)
{
    static const LxOp OPS[] = {LX_ADD, LX_SUB, LX_MUL, LX_MUL, LX_MUL, LX_MIN, LX_MAX, LX_DIV, LX_MOD};
    if (depth == 0 || below(5) == 0) return below(4) ? lx_sym(a, p, below(SYMS)) : lx_const(a, p, number());
    Lx x = expression(a, p, depth - 1);
    if (below(3) == 0) return lx_op(a, p, LX_CEIL, x, lx_const(a, p, number() + 1));
    if (below(4) == 0) return lx_op(a, p, LX_MAX, x, lx_const(a, p, 0));
    return lx_op(a, p, OPS[below(sizeof OPS / sizeof *OPS)], x, expression(a, p, depth - 1));
}

static void make_kernel(Arena *a, MfKernel *mf)
{
    for (uint32_t s = 0; s < SCHEDULES; s++) {
        MfKernel *k = &mf[s];
        *k = (MfKernel){.schedule = (uint8_t)s, .schedules = SCHEDULES};
        for (int i = 0; i < SYMS; i++) vec_push(a, &k->syms, ((MfSym){"s", i == SYMS - 1 ? MF_SCALAR : i == SYMS - 2 ? MF_STRIDE : MF_SIZE}));
        for (int i = 0; i < 3; i++) k->grid[i] = expression(a, &k->lx, i ? 1 : 3);
        if (below(4)) k->traffic = expression(a, &k->lx, 4);
        MfTensor t = {.type = (uint8_t)(below(2) ? TYPE_BF16 : TYPE_U8), .rank = (uint8_t)(1 + below(2)), .read = below(2) != 0, .written = true};
        for (int d = 0; d < t.rank; d++) t.extent[d] = lx_sym(a, &k->lx, below(SYMS - 2));
        vec_push(a, &k->tensors, t);
    }
    for (int i = 0; i < PICKS; i++)
        vec_push(a, &mf->picks, ((MfPick){below(3) ? "" : "this", (uint8_t)below(SCHEDULES), (uint8_t)below(MF_MEASURES), below(4) ? number() : 0}));
}

/* As the manifest says it, every expression by itself; *open: one of them has no value that is more or less than anything. */
static const MfPick *expected(const MfKernel *mf, const DeviceLimits *l, const int64_t *syms, bool *open)
{
    int64_t values[512];
    uint8_t status[512];
    for (uint32_t i = 0; i < 2 * mf->picks.n; i++) { /* this device's, then those of none */
        const MfPick *p = &mf->picks.v[i % mf->picks.n];
        const MfKernel *k = mf + p->schedule;
        if ((p->gpu[0] != 0) != (i < mf->picks.n)) continue;
        assert_in_range(k->lx.nodes.n, 1, 512);
        lx_eval(k->lx.nodes.v, k->lx.nodes.n, syms, values, status);
        long double has = 0, least = p->least;
        if (p->measure == MF_CTAS) {
            has = 1;
            for (int d = 0; d < 3; d++) has *= values[k->grid[d] - 1], *open |= status[k->grid[d] - 1] != LX_OK || has < 0 || has > MOST;
        } else if (k->traffic) {
            has = values[k->traffic - 1], *open |= status[k->traffic - 1] != LX_OK && (p->measure != MF_BYTES || p->least != 0);
        } else if (p->measure == MF_BYTES) {
            for (uint32_t t = 0; t < k->tensors.n; t++) {
                long double n = elem_info((ElemType)k->tensors.v[t].type)->global_bits;
                for (int d = 0; d < k->tensors.v[t].rank; d++) n *= values[k->tensors.v[t].extent[d] - 1], *open |= n > MOST;
                n /= 8;
                has += n * (k->tensors.v[t].read + k->tensors.v[t].written);
            }
        }
        if (p->measure == MF_L2) least *= l->l2;
        if (p->measure == MF_CTAS || p->measure == MF_SM_BYTES) least *= l->sms;
        if (has > MOST) *open = true;
        if (p->measure == MF_BYTES && p->least == 0) return p;
        if (least < MOST && (p->measure == MF_L2 ? has > least : has >= least)) return p;
    }
    return NULL;
}

static void conditions_mean_what_they_say(void **room)
{
    uint32_t compared = 0, taken = 0;
    for (int c = 0; c < CASES; c++) {
        Room *r = *room;
        ArenaMark mark = arena_mark(&r->arena);
        MfKernel *mf = arena_array(&r->arena, MfKernel, SCHEDULES);
        make_kernel(&r->arena, mf);
        tile_device d = {.limits = {.sms = 1 + (int)below(132), .l2 = number() + 1}, .gpu = "this"};
        tile_kernel k = {.mf = mf};
        picks_of_device(&r->arena, &d, &k);
        tile_args a = {.kernel = &k, .choice = arena_array(&r->arena, int64_t, k.choice.nodes.n + (size_t)1)};
        int64_t *syms = a.syms = a.choice + 1;
        for (uint32_t i = SYMS; i < k.leaves; i++) a.choice[i + 1] = k.choice.nodes.v[i].k;
        for (int shape = 0; shape < SHAPES; shape++) {
            bool open = false;
            for (int i = 0; i < SYMS; i++) syms[i] = i == SYMS - 1 ? (int64_t)below(2001) - 1000 : number();
            const MfPick *want = expected(mf, &d.limits, syms, &open), *got = args_pick(&a);
            if (!open && got != want) fail_msg("case %d, shape %d: condition %d, not %d", c, shape, got ? (int)(got - mf->picks.v) : -1, want ? (int)(want - mf->picks.v) : -1);
            compared += !open, taken += !open && want;
        }
        arena_release(&r->arena, mark);
    }
    assert_in_range(compared, CASES * SHAPES / 4, CASES * SHAPES);
    assert_in_range(taken, CASES * SHAPES / 8, CASES * SHAPES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {in_room(conditions_mean_what_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
