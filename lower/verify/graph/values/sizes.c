/* Bounds of sizes and scalars where a CTA runs. Sizes are 0 to MF_EXTENT_MAX, which the runtime checks, and at least 1 where
 * else nothing is launched: a grid has an extent of 0, or all written tensors are empty (SPEC.md, Launch checks). A launch
 * check that compares one with a number refuses all others.
 */
#include <string.h>

#include "lower/verify/graph/values/values.h"

enum { DEPTH = 16 };

/* At least 0 in every launch. */
static bool nonneg(const MfKernel *mf, Lx x, int fuel)
{
    const LxNode *n = &mf->lx.nodes.v[x - 1];
    if (fuel == 0) return false;
    switch ((LxOp)n->op) {
    case LX_CONST: return n->k >= 0;
    case LX_SYM: return mf->syms.v[n->k].kind == MF_SIZE;
    case LX_ADD:
    case LX_MUL:
    case LX_MIN: return nonneg(mf, n->a, fuel - 1) && nonneg(mf, n->b, fuel - 1);
    case LX_MAX: return nonneg(mf, n->a, fuel - 1) || nonneg(mf, n->b, fuel - 1);
    case LX_DIV:
    case LX_CEIL: {
        const LxNode *d = &mf->lx.nodes.v[n->b - 1];
        return d->op == LX_CONST && d->k >= 1 && nonneg(mf, n->a, fuel - 1);
    }
    default: return false;
    }
}

/* Marks the sizes that are at least 1 where x is. */
static void factors(const MfKernel *mf, Lx x, uint8_t *mark, int fuel)
{
    const LxNode *n = &mf->lx.nodes.v[x - 1];
    if (fuel == 0) return;
    switch ((LxOp)n->op) {
    case LX_SYM: mark[n->k] |= mf->syms.v[n->k].kind == MF_SIZE; return;
    case LX_MUL:
        if (!nonneg(mf, n->a, DEPTH) || !nonneg(mf, n->b, DEPTH)) return;
        factors(mf, n->a, mark, fuel - 1);
        factors(mf, n->b, mark, fuel - 1);
        return;
    case LX_MIN:
        factors(mf, n->a, mark, fuel - 1);
        factors(mf, n->b, mark, fuel - 1);
        return;
    case LX_MAX: { /* of 0 and something: that something */
        const LxNode *b = &mf->lx.nodes.v[n->b - 1];
        if (b->op == LX_CONST && b->k <= 0) factors(mf, n->a, mark, fuel - 1);
        return;
    }
    case LX_DIV:
    case LX_CEIL: {
        const LxNode *d = &mf->lx.nodes.v[n->b - 1];
        if (d->op == LX_CONST && d->k >= 1) factors(mf, n->a, mark, fuel - 1);
        return;
    }
    default: return;
    }
}

static void at_least_one(const MfKernel *mf, Arena *a, uint8_t *positive)
{
    uint32_t n = mf->syms.n, written = 0;
    uint8_t *all = arena_array(a, uint8_t, n + 1), *mark = arena_array(a, uint8_t, n + 1);
    if (mf->deal != MF_DEAL_NONE) factors(mf, mf->teams, positive, DEPTH);
    for (unsigned i = 0; i < 3 && mf->deal == MF_DEAL_NONE; i++) factors(mf, mf->grid[i], positive, DEPTH);
    for (uint32_t t = 0; t < mf->tensors.n; t++) {
        const MfTensor *x = &mf->tensors.v[t];
        if (!x->written) continue;
        memset(mark, 0, n + 1);
        for (unsigned d = 0; d < x->rank; d++) factors(mf, x->extent[d], mark, DEPTH);
        for (uint32_t i = 0; i < n; i++) all[i] = mark[i] && (written == 0 || all[i]);
        written++;
    }
    for (uint32_t i = 0; i < n; i++) positive[i] |= all[i];
}

/* A check `symbol <= number`, or the other way round. */
static void checked(const MfKernel *mf, Lx cond, int64_t (*sizes)[2])
{
    const LxNode *n = &mf->lx.nodes.v[cond - 1];
    if (n->op != LX_LE && n->op != LX_LT) return;
    const LxNode *a = &mf->lx.nodes.v[n->a - 1], *b = &mf->lx.nodes.v[n->b - 1];
    int64_t less = n->op == LX_LT;
    if (a->op == LX_SYM && b->op == LX_CONST && b->k > INT64_MIN && b->k - less < sizes[a->k][1])
        sizes[a->k][1] = b->k - less;
    if (a->op == LX_CONST && b->op == LX_SYM && a->k < INT64_MAX && a->k + less > sizes[b->k][0])
        sizes[b->k][0] = a->k + less;
}

void sizes_prepare(Verifier *v)
{
    const MfKernel *mf = &v->k->mf;
    uint32_t n = mf->syms.n;
    uint8_t *positive = arena_array(v->arena, uint8_t, n + 1);
    int64_t(*sizes)[2] = arena_alloc(v->arena, (n + 1) * sizeof *sizes);
    at_least_one(mf, v->arena, positive);
    for (uint32_t i = 0; i < n; i++) {
        bool scalar = mf->syms.v[i].kind == MF_SCALAR;
        sizes[i][0] = scalar ? INT64_MIN : positive[i];
        sizes[i][1] = scalar ? INT64_MAX : MF_EXTENT_MAX;
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) checked(mf, mf->checks.v[i].cond, sizes);
    v->f.sizes = (const int64_t(*)[2])sizes;
}
