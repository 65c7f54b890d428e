/* Which of a kernel's schedules a launch takes: MfKernel.picks. Chosen when a shape or a scalar has changed. */
#include "runtime/module.h"

#include <string.h>

/* What it takes to work out expression e, and no more: all of a kernel's take longer than to choose may. */
static void copy_expression(Arena *a, const LxPool *p, Lx e, Picked *out)
{
    const LxNode *nodes = p->nodes.v;
    Lx *place = arena_array(a, Lx, (size_t)e + 1);
    if (e == 0) return;
    place[e] = 1;
    for (Lx i = e; i > 0; i--) { /* operands stand before their users */
        if (!place[i]) continue;
        if (nodes[i - 1].a) place[nodes[i - 1].a] = 1;
        if (nodes[i - 1].b) place[nodes[i - 1].b] = 1;
    }
    LxNode *kept = arena_array(a, LxNode, e);
    for (Lx i = 1; i <= e; i++) {
        if (!place[i]) continue;
        kept[out->n] = nodes[i - 1];
        kept[out->n].a = place[nodes[i - 1].a];
        kept[out->n].b = place[nodes[i - 1].b];
        place[i] = ++out->n;
    }
    out->nodes = kept;
}

void picks_of_device(Arena *a, const MfKernel *mf, const char *gpu, tile_kernel *k)
{
    bool named = false;
    Picked *out = arena_array(a, Picked, mf->picks.n);
    for (uint32_t i = 0; i < mf->picks.n; i++) named |= strcmp(mf->picks.v[i].gpu, gpu) == 0;
    for (uint32_t i = 0; i < mf->picks.n; i++) {
        if (strcmp(mf->picks.v[i].gpu, named ? gpu : "") != 0) continue;
        const MfKernel *s = mf + mf->picks.v[i].schedule; /* they stand one behind the other */
        Picked *p = &out[k->npicks++];
        *p = (Picked){.pick = &mf->picks.v[i]};
        if (p->pick->measure != MF_CTAS) copy_expression(a, &s->lx, s->traffic, p);
    }
    k->picks = out;
}

/* What can't be counted in 64 bits is more than any limit. */
static int64_t value_of(const tile_args *a, const tile_args *x, const LxNode *nodes, Lx e)
{
    lx_eval(nodes, e, a->syms, x->values, x->status);
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
        if (!size_mul(all, value_of(a, x, x->kernel->mf->lx.nodes.v, x->kernel->mf->grid[i]), &all)) return INT64_MAX;
    return all;
}

/* With all symbols known: does the launch have the size that the pick asks for? */
static bool holds(const tile_args *a, const Picked *k)
{
    const DeviceLimits *l = &a->kernel->module->device->limits;
    const MfPick *p = k->pick;
    const tile_args *x = a;
    int64_t unit = 1, least, has = 0;
    for (uint32_t i = 0; i < p->schedule; i++) x = x->next;
    if (p->measure == MF_CTAS) has = ctas_of(a, x), unit = l->sms;
    else if (k->n) has = value_of(a, x, k->nodes, k->n);
    else if (p->measure == MF_BYTES) has = bytes_of_tensors(a);
    if (p->measure == MF_L2) unit = l->l2;
    if (p->measure == MF_SM_BYTES) unit = l->sms;
    if (!size_mul(unit, p->least, &least)) return false;
    return p->measure == MF_L2 ? has > least : has >= least;
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
    a->pick = NULL;
    for (uint32_t i = 0; i < k->npicks && !a->pick; i++)
        if (holds(a, &k->picks[i])) a->pick = k->picks[i].pick;
    if (a->pick) schedule = a->pick->schedule;
    tile_args *x = a;
    for (uint32_t i = 0; i < schedule; i++) x = x->next;
    x->resolved = true;
    *taken = a->taken = x;
    return TILE_OK;
}
