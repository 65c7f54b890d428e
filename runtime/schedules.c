/* Which of a kernel's schedules a launch takes: MfKernel.more_l2, more_ctas. Chosen when a shape or a scalar has changed. */
#include "runtime/module.h"

static bool value_of(const tile_args *a, Lx x, int64_t *value)
{
    if (x == 0 || a->status[x - 1] != LX_OK) return false;
    *value = a->values[x - 1];
    return true;
}

/* What can't be counted in 64 bits is more than any limit. */
static bool moves_more(const tile_args *a, int64_t limit)
{
    Lx x = a->kernel->mf->traffic;
    int64_t bytes;
    if (x && a->status[x - 1] == LX_OVERFLOW) return true;
    return value_of(a, x, &bytes) && bytes > limit;
}

static bool has_ctas(const tile_args *a, int64_t least)
{
    const MfKernel *mf = a->kernel->mf;
    int64_t all = 1, n;
    for (int i = 0; i < 3; i++)
        if (!value_of(a, mf->grid[i], &n) || n < 0 || !size_mul(all, n, &all)) return false;
    return all >= least;
}

static bool large_enough(const tile_args *a)
{
    const MfKernel *mf = a->kernel->mf;
    const DeviceLimits *l = &a->kernel->module->device->limits;
    int64_t l2;
    if (mf->more_l2 && (!size_mul(l->l2, mf->more_l2, &l2) || !moves_more(a, l2))) return false;
    return mf->more_ctas == 0 || has_ctas(a, (int64_t)l->sms * mf->more_ctas);
}

tile_status args_take(tile_args *a, tile_args **taken, tile_error *err)
{
    *taken = a;
    if (a->next == NULL) return TILE_OK;
    if (a->taken && a->taken->sized) { /* it stands for what is bound */
        *taken = a->taken;
        return TILE_OK;
    }
    for (tile_args *x = a; x; x = x->next) {
        tile_status s = args_resolve(x, err);
        if (s != TILE_OK) return s;
        lx_eval(x->kernel->mf->lx.nodes.v, x->kernel->mf->lx.nodes.n, x->syms, x->values, x->status);
        *taken = a->taken = x;
        if (large_enough(x)) break;
    }
    return TILE_OK;
}
