/* Which of a kernel's schedules a launch takes: MfKernel.picks. When a kernel is loaded the conditions become comparisons with a number, of values of one
 * pool, which has what several ask for once. When a shape or a scalar has changed they are evaluated as far as choosing goes. */
#include "runtime/module.h"

#include <string.h>

/* ---- conditions ---- */

/* Expression e of another pool, with what it takes to work it out. */
static Lx copy_expression(Arena *a, LxPool *to, const LxPool *from, Lx e)
{
    const LxNode *nodes = from->nodes.v;
    Lx *place = arena_array(a, Lx, (size_t)e + 1);
    place[e] = e != 0;
    for (Lx i = e; i > 0; i--) { /* operands stand before their users */
        if (!place[i]) continue;
        if (nodes[i - 1].a) place[nodes[i - 1].a] = 1;
        if (nodes[i - 1].b) place[nodes[i - 1].b] = 1;
    }
    for (Lx i = 1; i <= e; i++) {
        const LxNode *n = &nodes[i - 1];
        if (!place[i]) continue;
        if (n->op == LX_CONST) place[i] = lx_const(a, to, n->k);
        else if (n->op == LX_SYM) place[i] = lx_sym(a, to, (uint32_t)n->k);
        else place[i] = lx_op(a, to, (LxOp)n->op, place[n->a], place[n->b]);
    }
    return place[e];
}

/* Bytes of all tensors, once for each direction. */
static Lx bytes_of_tensors(Arena *a, LxPool *to, const MfKernel *mf)
{
    Lx all = lx_const(a, to, 0);
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *t = &mf->tensors.v[i];
        Lx n = lx_const(a, to, elem_info((ElemType)t->type)->global_bits);
        for (int d = 0; d < t->rank; d++) n = lx_op(a, to, LX_MUL, copy_expression(a, to, &mf->lx, t->extent[d]), n);
        n = lx_op(a, to, LX_CEIL, n, lx_const(a, to, 8));
        all = lx_op(a, to, LX_ADD, all, lx_op(a, to, LX_MUL, n, lx_const(a, to, t->read + t->written)));
    }
    return all;
}

static Lx ctas_of(Arena *a, LxPool *to, const MfKernel *mf)
{
    Lx all = lx_const(a, to, 1);
    for (int i = 0; i < 3; i++) all = lx_op(a, to, LX_MUL, all, copy_expression(a, to, &mf->lx, mf->grid[i]));
    return all;
}

/* What the pick's schedule would have of it. */
static Lx measure(Arena *a, LxPool *to, const MfKernel *mf, const MfPick *p)
{
    if (p->measure == MF_BYTES && p->least == 0) return lx_const(a, to, 0);
    if (p->measure == MF_CTAS) return ctas_of(a, to, mf);
    if (mf->traffic) return copy_expression(a, to, &mf->lx, mf->traffic);
    return p->measure == MF_BYTES ? bytes_of_tensors(a, to, mf) : lx_const(a, to, 0);
}

/* false: what is counted in 64 bits never has that size. */
static bool least_of(const MfPick *p, const DeviceLimits *l, int64_t *least)
{
    int64_t unit = p->measure == MF_L2 ? l->l2 : p->measure == MF_BYTES ? 1 : l->sms;
    return size_mul(unit, p->least, least) && size_add(*least, p->measure == MF_L2, least);
}

void picks_of_device(Arena *a, const tile_device *d, tile_kernel *k)
{
    const MfKernel *mf = k->mf;
    bool named = false;
    k->picks = arena_array(a, Pick, mf->picks.n);
    for (uint32_t i = 0; i < mf->picks.n; i++) named |= strcmp(mf->picks.v[i].gpu, d->gpu) == 0;
    for (uint32_t i = 0; i < mf->picks.n; i++) {
        const MfPick *p = &mf->picks.v[i];
        int64_t least;
        if (strcmp(p->gpu, named ? d->gpu : "") != 0 || !least_of(p, &d->limits, &least)) continue;
        k->picks[k->npicks++] = (Pick){p, measure(a, &k->choice, mf + p->schedule, p), least}; /* schedules stand one behind the other */
    }
}

/* ---- choosing ---- */

/* What can't be counted in 64 bits is more than any limit. */
static int64_t size_of(const tile_args *a, Lx x)
{
    uint8_t s = a->status[x - 1];
    return s == LX_OK ? a->values[x - 1] : s == LX_OVERFLOW ? INT64_MAX : 0;
}

const MfPick *args_pick(const tile_args *a)
{
    const tile_kernel *k = a->kernel;
    Lx known = 0;
    for (uint32_t i = 0; i < k->npicks; i++) {
        const Pick *p = &k->picks[i];
        if (known < p->value) {
            lx_eval(k->choice.nodes.v, known, p->value, a->syms, a->values, a->status);
            known = p->value;
        }
        if (size_of(a, p->value) >= p->least) return p->pick;
    }
    return NULL;
}

tile_status args_take(tile_args *a, tile_args **taken, tile_error *err)
{
    *taken = a->taken; /* it stands for what is bound */
    if (*taken) return TILE_OK;
    tile_status s = args_resolve(a, err);
    if (s != TILE_OK) return s;
    tile_args *x = a;
    if (a->next) {
        a->pick = args_pick(a);
        uint32_t schedule = a->pick ? a->pick->schedule : a->kernel->mf->schedules - 1u;
        for (uint32_t i = 0; i < schedule; i++) x = x->next;
    }
    x->resolved = true;
    x->sized = x->ready = false;
    *taken = a->taken = x;
    return TILE_OK;
}
