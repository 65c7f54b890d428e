/* Numbers of the launch that are not 0 while the kernel runs. */
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

bool ir_launch_zero_with(const LxPool *p, Lx x, Lx y)
{
    if (x == y) return true; /* equal expressions are one node */
    const LxNode *n = &p->nodes.v[x - 1];
    const LxNode *b = n->b ? &p->nodes.v[n->b - 1] : NULL;
    if (n->op == LX_MUL) return ir_launch_zero_with(p, n->a, y) || ir_launch_zero_with(p, n->b, y);
    if (b == NULL || b->op != LX_CONST) return false;
    if (n->op == LX_MAX) return b->k <= 0 && ir_launch_zero_with(p, n->a, y);
    return (n->op == LX_CEIL || n->op == LX_DIV) && b->k > 0 && ir_launch_zero_with(p, n->a, y);
}

bool ir_launch_of_none(const MfKernel *mf, Lx x)
{
    return ir_launch_zero_with(&mf->lx, mf->deal != MF_DEAL_NONE ? mf->teams : mf->grid[0], x);
}
