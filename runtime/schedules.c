/* Which of a kernel's schedules a launch takes: MfKernel.picks. When a kernel is loaded the conditions become comparisons with a number, of values of one
 * pool, which has what several ask for once, symbols and constants in front. When a shape or a scalar has changed the rest is evaluated as far as
 * choosing goes. */
#include "runtime/module.h"

#include <string.h>

#include "lang/checked.h"

/* ---- conditions ---- */

/* Expression e of the kernel, with what it takes to work it out. */
static Lx copy_expression(Arena *a, LxPool *to, const MfKernel *mf, Lx e)
{
    const LxNode *nodes = mf->lx.nodes.v;
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
        for (int d = 0; d < t->rank; d++) n = lx_op(a, to, LX_MUL, copy_expression(a, to, mf, t->extent[d]), n);
        n = lx_op(a, to, LX_CEIL, n, lx_const(a, to, 8));
        all = lx_op(a, to, LX_ADD, all, lx_op(a, to, LX_MUL, n, lx_const(a, to, t->read + t->written)));
    }
    return all;
}

static Lx ctas_of(Arena *a, LxPool *to, const MfKernel *mf)
{
    Lx all = lx_const(a, to, 1);
    for (int i = 0; i < 3; i++) all = lx_op(a, to, LX_MUL, all, copy_expression(a, to, mf, mf->grid[i]));
    return all;
}

/* What the pick's schedule would have of it. */
static Lx measure(Arena *a, LxPool *to, const MfKernel *mf, const MfPick *p)
{
    if (p->measure == MF_BYTES && p->least == 0) return lx_const(a, to, 0);
    if (p->measure == MF_CTAS) return ctas_of(a, to, mf);
    if (mf->traffic) return copy_expression(a, to, mf, mf->traffic);
    return p->measure == MF_BYTES ? bytes_of_tensors(a, to, mf) : lx_const(a, to, 0);
}

/* false: what is counted in 64 bits never has that size. */
static bool least_of(const MfPick *p, const DeviceLimits *l, int64_t *least)
{
    int64_t unit = p->measure == MF_L2 ? l->l2 : p->measure == MF_BYTES ? 1 : l->sms;
    return size_mul(unit, p->least, least) && size_add(*least, p->measure == MF_L2, least);
}

/* Of a division by 2^s, s + 1 in a field that operations don't use. */
static void note_powers(LxPool *p)
{
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        LxNode *n = &p->nodes.v[i];
        int64_t by;
        if (n->op != LX_CEIL || !lx_is_const(p, n->b, &by) || by <= 0 || (by & (by - 1)) != 0) continue;
        while (by >> n->k) n->k++;
    }
}

static void add_picks(Arena *a, const tile_device *d, const char *gpu, tile_kernel *k)
{
    const MfKernel *mf = k->mf;
    for (uint32_t i = 0; i < mf->picks.n; i++) {
        const MfPick *p = &mf->picks.v[i];
        int64_t least;
        if (strcmp(p->gpu, gpu) != 0 || !least_of(p, &d->limits, &least)) continue;
        k->picks[k->npicks++] = (Pick){p, measure(a, &k->choice, mf + p->schedule, p), least}; /* schedules stand one behind the other */
    }
}

void picks_of_device(Arena *a, const tile_device *d, tile_kernel *k)
{
    const MfKernel *mf = k->mf;
    for (uint32_t i = 0; mf->picks.n && i < mf->syms.n; i++) lx_sym(a, &k->choice, i);
    for (uint32_t s = 0; mf->picks.n && s < mf->schedules; s++)
        for (uint32_t i = 0; i < mf[s].lx.nodes.n; i++)
            if (mf[s].lx.nodes.v[i].op == LX_CONST) lx_const(a, &k->choice, mf[s].lx.nodes.v[i].k);
    k->leaves = k->choice.nodes.n;
    k->picks = arena_array(a, Pick, mf->picks.n);
    add_picks(a, d, d->gpu, k);
    if (d->gpu[0]) add_picks(a, d, "", k); /* what no line of a tune file is for, the compiler's conditions are */
    note_powers(&k->choice);
}

/* ---- choosing ---- */

static bool apply(const LxNode *n, int64_t a, int64_t b, int64_t *out)
{
    switch ((LxOp)n->op) {
    case LX_MUL: return mul_s64(a, b, out);
    case LX_ADD: return add_s64(a, b, out);
    case LX_SUB: return sub_s64(a, b, out);
    case LX_MAX: *out = a > b ? a : b; return true;
    case LX_CEIL:
        if (n->k == 0 || a < 0 || a > INT64_MAX - b) return lx_apply(LX_CEIL, a, b, out) == LX_OK;
        *out = (a + b - 1) >> (n->k - 1);
        return true;
    default: return lx_apply((LxOp)n->op, a, b, out) == LX_OK;
    }
}

/* Values up to expression x, of which so many are known; what can't be counted in 64 bits is more than any limit. */
static int64_t evaluate(const tile_args *a, Lx *known, Lx x)
{
    const LxNode *nodes = a->kernel->choice.nodes.v;
    int64_t *v = a->choice; /* v[i]: of expression i */
    for (Lx i = *known + 1; i <= x; *known = i++) {
        const LxNode *n = &nodes[i - 1];
        if (n->op == LX_CONST) v[i] = n->k; /* of folding */
        else if (!apply(n, v[n->a], v[n->b], &v[i])) return INT64_MAX;
    }
    return v[x];
}

const MfPick *args_pick(const tile_args *a)
{
    const tile_kernel *k = a->kernel;
    Lx known = k->leaves;
    for (uint32_t i = 0; i < k->npicks; i++)
        if (evaluate(a, &known, k->picks[i].value) >= k->picks[i].least) return k->picks[i].pick;
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
