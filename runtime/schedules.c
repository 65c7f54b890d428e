/* Which of a kernel's schedules a launch takes: MfKernel.picks. Chosen when a shape or a scalar has changed. */
#include "runtime/module.h"

#include <string.h>

uint32_t picks_of_device(const MfKernel *mf, const char *gpu, MfPick *out)
{
    bool named = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < mf->picks.n; i++) named |= strcmp(mf->picks.v[i].gpu, gpu) == 0;
    for (uint32_t i = 0; i < mf->picks.n; i++)
        if (strcmp(mf->picks.v[i].gpu, named ? gpu : "") == 0) out[n++] = mf->picks.v[i];
    return n;
}

/* Of schedule x by the symbols of the first one, which are those of all. What can't be counted in 64 bits is more than any limit. */
static int64_t value_of(const tile_args *a, const tile_args *x, Lx e)
{
    lx_eval(x->kernel->mf->lx.nodes.v, e, a->syms, x->values, x->status); /* operands stand before their users */
    return x->status[e - 1] == LX_OK ? x->values[e - 1] : x->status[e - 1] == LX_OVERFLOW ? INT64_MAX : 0;
}

static int64_t bytes_of_tensors(const tile_args *a)
{
    const MfKernel *mf = a->kernel->mf;
    int64_t all = 0;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *p = &mf->tensors.v[i];
        int64_t n = a->tensors[i].empty ? 0 : 1;
        for (int d = 0; d < p->rank; d++)
            if (!size_mul(n, a->tensors[i].shape[d], &n)) return INT64_MAX;
        if (!elem_bytes(p->type, n, &n) || !size_mul(n, p->read + p->written, &n) || !size_add(all, n, &all)) return INT64_MAX;
    }
    return all;
}

static int64_t ctas_of(const tile_args *a, const tile_args *x)
{
    int64_t all = 1;
    for (int i = 0; i < 3; i++)
        if (!size_mul(all, value_of(a, x, x->kernel->mf->grid[i]), &all)) return INT64_MAX;
    return all;
}

bool args_pick_holds(const tile_args *a, const MfPick *p, int64_t *has)
{
    const DeviceLimits *l = &a->kernel->module->device->limits;
    const tile_args *x = a;
    int64_t unit = 1, least;
    for (uint32_t i = 0; i < p->schedule; i++) x = x->next;
    Lx traffic = x->kernel->mf->traffic;
    if (p->measure == MF_CTAS) *has = ctas_of(a, x), unit = l->sms;
    else *has = traffic ? value_of(a, x, traffic) : p->measure == MF_BYTES ? bytes_of_tensors(a) : 0;
    if (p->measure == MF_L2) unit = l->l2;
    if (p->measure == MF_SM_BYTES) unit = l->sms;
    if (!size_mul(unit, p->least, &least)) return false;
    return p->measure == MF_L2 ? *has > least : *has >= least;
}

tile_status args_take(tile_args *a, tile_args **taken, tile_error *err)
{
    *taken = a;
    if (a->next == NULL) return TILE_OK;
    if (a->taken && a->taken->sized) { /* it stands for what is bound */
        *taken = a->taken;
        return TILE_OK;
    }
    tile_status s = args_resolve(a, err);
    if (s != TILE_OK) return s;
    const tile_kernel *k = a->kernel;
    uint32_t schedule = k->mf->schedules - 1u;
    int64_t has;
    a->pick = NULL;
    for (uint32_t i = 0; i < k->npicks && !a->pick; i++)
        if (args_pick_holds(a, &k->picks[i], &has)) a->pick = &k->picks[i];
    if (a->pick) schedule = a->pick->schedule;
    tile_args *x = a;
    for (uint32_t i = 0; i < schedule; i++) x = x->next;
    *taken = a->taken = x;
    return TILE_OK;
}
