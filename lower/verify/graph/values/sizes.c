/* Bounds of sizes and scalars where a CTA runs. Scalars are what their type can be, sizes 0 to MF_EXTENT_MAX, which the runtime checks, and at least 1 where
 * else nothing is launched: a grid has an extent of 0, or all written tensors are empty (SPEC.md, Launch checks). A launch
 * check that compares one with a number refuses all others.
 */
#include "lower/verify/graph/values/values.h"

/* x is at most 0 where y is 0. */
static bool none_with(const LxPool *p, Lx x, Lx y)
{
    const LxNode *n = &p->nodes.v[x - 1];
    if (n->op == LX_MIN) return none_with(p, n->a, y) || none_with(p, n->b, y);
    bool part = (n->op == LX_CEIL || n->op == LX_DIV) && p->nodes.v[n->b - 1].op == LX_CONST && p->nodes.v[n->b - 1].k > 0;
    return part ? none_with(p, n->a, y) : ir_launch_zero_with(p, x, y);
}

/* Nothing is launched where y is 0: it makes the grid empty, or all that is written. */
static bool of_none(const MfKernel *mf, Lx y)
{
    uint32_t written = 0, empty = 0;
    if (mf->deal != MF_DEAL_NONE && none_with(&mf->lx, mf->teams, y)) return true;
    for (unsigned i = 0; i < 3 && mf->deal == MF_DEAL_NONE; i++)
        if (none_with(&mf->lx, mf->grid[i], y)) return true;
    for (uint32_t t = 0; t < mf->tensors.n; t++) {
        const MfTensor *x = &mf->tensors.v[t];
        bool none = false;
        for (unsigned d = 0; d < x->rank; d++) none |= none_with(&mf->lx, x->extent[d], y);
        written += x->written;
        empty += x->written && none;
    }
    return written && empty == written;
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
    int64_t(*sizes)[2] = arena_alloc(v->arena, (mf->syms.n + 1) * sizeof *sizes);
    for (uint32_t i = 0; i < mf->syms.n; i++) {
        bool scalar = mf->syms.v[i].kind == MF_SCALAR;
        sizes[i][0] = scalar ? INT64_MIN : 0;
        sizes[i][1] = scalar ? INT64_MAX : MF_EXTENT_MAX;
    }
    for (uint32_t i = 0; i < mf->scalars.n; i++) {
        const MfScalar *s = &mf->scalars.v[i];
        if (s->type == TYPE_S32) sizes[s->sym][0] = INT32_MIN, sizes[s->sym][1] = INT32_MAX;
        if (s->type == TYPE_U32) sizes[s->sym][0] = 0, sizes[s->sym][1] = UINT32_MAX;
    }
    for (uint32_t x = 1; x <= mf->lx.nodes.n; x++) {
        const LxNode *n = &mf->lx.nodes.v[x - 1];
        if (n->op == LX_SYM && mf->syms.v[n->k].kind == MF_SIZE && of_none(mf, x)) sizes[n->k][0] = 1;
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) checked(mf, mf->checks.v[i].cond, sizes);
    v->f.sizes = (const int64_t(*)[2])sizes;
}
