/* Numbers of the launch: what they are while the kernel runs. */
#include "lower/ir/ir.h"

enum { NEEDED = 1, HOLDS = 2, DIVISOR = 4 };

/* Operands come before what uses them. */
bool *ir_launch_divisors(Arena *a, const MfKernel *mf)
{
    uint8_t *mark = arena_array(a, uint8_t, mf->lx.nodes.n + 1);
    bool *divisor = arena_array(a, bool, mf->lx.nodes.n + 1);
    for (uint32_t i = 0; i < mf->checks.n; i++) mark[mf->checks.v[i].cond] |= NEEDED | HOLDS;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == MF_PARAM_VALUE) mark[mf->params.v[i].index] |= NEEDED;
    for (uint32_t i = mf->lx.nodes.n; i > 0; i--) {
        const LxNode *n = &mf->lx.nodes.v[i - 1];
        divisor[i] = (mark[i] & DIVISOR) != 0;
        if (!(mark[i] & NEEDED) || n->op == LX_CONST || n->op == LX_SYM) continue;
        bool both = n->op == LX_LAND && mark[i] & HOLDS;
        mark[n->a] |= both ? NEEDED | HOLDS : NEEDED;
        if (n->b && (both || (n->op != LX_LAND && n->op != LX_LOR))) mark[n->b] |= both ? NEEDED | HOLDS : NEEDED;
        if (n->op == LX_DIV || n->op == LX_MOD || n->op == LX_CEIL) mark[n->b] |= DIVISOR;
    }
    return divisor;
}

/* ---- what is at least 1 while something runs ---- */

typedef struct Wanted {
    const MfKernel *mf;
    uint32_t *seen; /* by expression: the last one who asked, twice, and one more if it has to be at least 1 */
    uint32_t *by;   /* how many want it to be at least 1 */
    uint32_t who;
} Wanted;

/* x is not 0, or positive: at least 1. What has to be at least 1 for that? Equal expressions are one node. */
static void want(Wanted *w, Lx x, bool positive)
{
    const LxNode *n = &w->mf->lx.nodes.v[x - 1];
    const LxNode *b = n->b ? &w->mf->lx.nodes.v[n->b - 1] : NULL;
    bool number = b && b->op == LX_CONST, size = n->op == LX_SYM && w->mf->syms.v[n->k].kind == MF_SIZE;
    positive |= size || (n->op == LX_MAX && number && b->k == 0); /* not below 0 */
    if (w->seen[x - 1] >= 2 * w->who + positive) return;
    w->seen[x - 1] = 2 * w->who + positive;
    w->by[x - 1] += positive;
    if (n->op == LX_MUL) {
        want(w, n->a, false);
        want(w, n->b, false);
    } else if (n->op == LX_MIN && positive) {
        want(w, n->a, true);
        want(w, n->b, true);
    } else if (number && (n->op == LX_MAX ? b->k <= 0 : (n->op == LX_CEIL || n->op == LX_DIV) && b->k > 0)) {
        want(w, n->a, positive);
    }
}

/* Nothing is launched where the grid is empty, or all that is written (SPEC.md, Launch checks). By expression. */
static bool *wanted(Arena *a, const MfKernel *mf)
{
    uint32_t n = mf->lx.nodes.n, written = 0;
    Wanted w = {mf, arena_array(a, uint32_t, n + 1), arena_array(a, uint32_t, n + 1), 1};
    bool *one = arena_array(a, bool, n + 1);
    if (mf->deal != MF_DEAL_NONE) want(&w, mf->teams, true);
    for (unsigned i = 0; i < 3 && mf->deal == MF_DEAL_NONE; i++) want(&w, mf->grid[i], true);
    for (uint32_t x = 0; x < n; x++) one[x] = w.by[x] > 0, w.by[x] = 0;
    for (uint32_t t = 0; t < mf->tensors.n; t++) {
        const MfTensor *x = &mf->tensors.v[t];
        if (!x->written) continue;
        written++;
        w.who++;
        for (unsigned d = 0; d < x->rank; d++) want(&w, x->extent[d], true);
    }
    for (uint32_t x = 0; x < n; x++) one[x] |= written && w.by[x] == written;
    return one;
}

/* ---- ranges ---- */

/* What a check of the launch says of the numbers that it compares. */
static void by_check(const LxPool *p, Lx cond, Interval *r)
{
    const LxNode *n = &p->nodes.v[cond - 1];
    if (n->op == LX_LAND) {
        by_check(p, n->a, r);
        by_check(p, n->b, r);
    } else if (n->op == LX_LE || n->op == LX_LT || n->op == LX_EQ) {
        Interval *a = &r[n->a - 1], *b = &r[n->b - 1];
        int64_t less = n->op == LX_LT;
        Interval most = {NO_LO, b->hi}, least = {a->lo, NO_HI};
        if (n->op == LX_EQ) most.lo = b->lo, least.hi = a->hi;
        *a = interval_meet(*a, interval_add(most, interval_at(-less)));
        *b = interval_meet(*b, interval_add(least, interval_at(less)));
    }
}

/* What is known of a sum with a number is known of its other part: `2 + N <= 7` is checked. */
static void by_sum(const LxPool *p, const LxNode *n, Interval is, Interval *r)
{
    int64_t k;
    if (n->op != LX_ADD && n->op != LX_SUB) return;
    Interval *a = &r[n->a - 1], *b = &r[n->b - 1], behind = n->op == LX_ADD ? is : interval_neg(is);
    if (lx_is_const(p, n->b, &k)) *a = interval_meet(*a, interval_add(is, n->op == LX_ADD ? interval_neg(interval_at(k)) : interval_at(k)));
    if (lx_is_const(p, n->a, &k)) *b = interval_meet(*b, interval_add(behind, n->op == LX_ADD ? interval_neg(interval_at(k)) : interval_at(k)));
}

Interval ir_range_of_type(ElemType type)
{
    const ElemInfo *e = elem_info(type);
    if (e->global_bits >= 64 || (e->kind != ELEM_UINT && e->kind != ELEM_SINT)) return UNBOUNDED;
    int64_t half = INT64_C(1) << (e->global_bits - 1);
    return e->kind == ELEM_UINT ? (Interval){0, 2 * half - 1} : (Interval){-half, half - 1};
}

static Interval of_scalar(const MfKernel *mf, int64_t sym)
{
    for (uint32_t i = 0; i < mf->scalars.n; i++)
        if (mf->scalars.v[i].sym == sym) return ir_range_of_type((ElemType)mf->scalars.v[i].type);
    return UNBOUNDED;
}

/* A launch whose numbers leave 64 bits is refused. */
Interval *ir_launch_ranges(Arena *a, const MfKernel *mf)
{
    uint32_t n = mf->lx.nodes.n;
    Interval *r = arena_array(a, Interval, n);
    const bool *one = wanted(a, mf);
    for (uint32_t i = 0; i < n; i++) r[i] = mf->lx.nodes.v[i].op == LX_CONST ? interval_at(mf->lx.nodes.v[i].k) : UNBOUNDED;
    for (int round = 0; round < 2; round++) { /* what one check says goes into the next one: `N == 5`, `2 + M <= N` */
        for (uint32_t i = 0; i < mf->checks.n; i++) by_check(&mf->lx, mf->checks.v[i].cond, r);
        for (uint32_t i = n; i > 0; i--) by_sum(&mf->lx, &mf->lx.nodes.v[i - 1], r[i - 1], r);
    }
    for (uint32_t i = 0; i < n; i++) {
        const LxNode *x = &mf->lx.nodes.v[i];
        Interval is = UNBOUNDED;
        if (x->op == LX_SYM && mf->syms.v[x->k].kind == MF_SIZE) is = (Interval){0, MF_EXTENT_MAX};
        if (x->op == LX_SYM && mf->syms.v[x->k].kind == MF_SCALAR) is = of_scalar(mf, x->k);
        if (x->op >= LX_ADD && x->op <= LX_XOR) is = interval_of((LxOp)x->op, r[x->a - 1], r[x->b - 1]);
        if ((x->op == LX_DIV || x->op == LX_CEIL) && r[x->b - 1].lo < 1) is = interval_shrunk(r[x->a - 1]); /* 0 is refused */
        if (one[i] && is.lo < 1) is.lo = 1;
        r[i] = x->op == LX_CONST ? interval_at(x->k) : interval_meet(r[i], is);
    }
    return r;
}
