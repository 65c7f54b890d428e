/* One kernel: this file is the table of contents of the rooms. */
#include "lang/limits.h"
#include "lower/apart/apart.h"
#include "lower/explain/explain.h"
#include "lower/lower.h"
#include "lower/plan/device_maps.h"
#include "lower/plan/maps.h"
#include "lower/plan/work.h"
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

/* ---- the manifest's head ---- */

static void tensors(Lower *L)
{
    MfKernel *mf = &L->ir->mf;
    for (uint32_t i = 0; i < L->k->tensors.n; i++) {
        const PTensor *t = L->k->tensors.v[i];
        MfTensor *m = vec_add(L->a, &mf->tensors);
        m->name = name_text(L, t->name);
        m->type = (uint8_t)t->type;
        m->rank = (uint8_t)t->rank;
        m->strided = t->strided;
        for (int d = 0; d < t->rank; d++) {
            m->extent[d] = scalar_lx(L, t->extent[d]);
            m->stride[d] = scalar_lx(L, t->stride[d]);
        }
        uint32_t size = elem_info(t->type)->global_bits / 8u;
        m->align = size ? size : 1;
    }
}

static void arguments(Lower *L)
{
    MfKernel *mf = &L->ir->mf;
    for (uint32_t i = 0; i < L->k->params.n; i++) {
        const PParam *p = &L->k->params.v[i];
        struct MfArg *arg = (struct MfArg *)vec_add(L->a, &mf->args);
        arg->is_scalar = p->is_scalar;
        arg->index = p->is_scalar ? mf->scalars.n : p->tensor->index;
        if (!p->is_scalar) continue;
        MfScalar *s = vec_add(L->a, &mf->scalars);
        *s = (MfScalar){name_text(L, p->name), (uint8_t)p->type, p->sym};
    }
}

static void launch_shape(Lower *L)
{
    if (has_across(L->k)) { /* schedule/deal.c */
        L->ir->mf.threads = (uint32_t)L->k->threads;
        return;
    }
    static const char DIM[] = "xyz";
    MfKernel *mf = &L->ir->mf;
    LxPool *p = &mf->lx;
    for (int i = 0; i < 3; i++) {
        int64_t cluster = L->k->cluster[i], limit = grid_most(i), k;
        Poly g = scalar_poly(L, L->k->grid[i]);
        mf->grid[i] = scalar_lx(L, L->k->grid[i]);
        mf->cluster[i] = (uint32_t)cluster;
        Span at = L->k->grid_span.hi ? L->k->grid_span : L->k->span;
        Lx fits = lx_op(L->a, p, LX_LE, mf->grid[i], lx_const(L->a, p, limit));
        bool ok;
        if (poly_is_const(g, &k)) {
            ok = k <= limit;
        } else {
            const char *text = arena_printf(L->a, "grid.%c = %s <= %lld", DIM[i], lx_text(L, mf->grid[i]), (long long)limit);
            ok = launch_check(L, E1130, fits, at, text, "limits of the grid, CUDA guide");
        }
        if (!ok)
            lower_error(L, E0903, at, "grid.%c is %s, the limit is %lld", DIM[i], poly_text(L, g), (long long)limit);
        if (cluster == 1 || need_met(L, need_multiple(L, g, cluster), E1129, at, "the grid is made of whole clusters",
                                     "grid.%c = %s is a multiple of %lld", DIM[i], lx_text(L, mf->grid[i]), (long long)cluster))
            continue;
        Diag *d = lower_error(L, E0905, at, "grid.%c = %s is no multiple of the cluster's %lld", DIM[i],
                              poly_text(L, g), (long long)cluster);
        diag_label(L->c->diags, d, L->k->cluster_span, "the cluster");
    }
    mf->threads = (uint32_t)L->k->threads;
}

static void manifest_head(Lower *L)
{
    MfKernel *mf = &L->ir->mf;
    mf->name = name_text(L, L->k->name);
    mf->entry = L->k->entry;
    for (uint32_t i = 0; i < L->k->syms.n; i++) {
        MfSym *s = vec_add(L->a, &mf->syms);
        *s = (MfSym){name_text(L, L->k->syms.v[i].name), L->k->syms.v[i].kind};
    }
    for (uint32_t i = 0; i < L->k->trusts.n; i++)
        vec_push(L->a, &mf->trusts, ((MfTrust){(uint8_t)L->k->trusts.v[i].fact, L->k->trusts.v[i].tensor->index}));
    tensors(L);
    arguments(L);
    launch_shape(L);
}

/* ---- the whole ---- */

static void prefetch(Lower *L, uint32_t map, Span at)
{
    IrOp *op = ir_op(L->a, &L->pre, IR_MAP_PREFETCH, at);
    op->elect = true;
    ir_ref(L->a, op, IRK_MAP, IRA_MAP, map);
}

static bool made_here(const Lower *L, uint32_t map)
{
    for (uint32_t i = 0; i < L->device->maps.n; i++)
        if (L->device->maps.v[i].map == map) return true;
    return false;
}

/* The descriptors that the program wants early: in front of the barriers, whose initialisation they overlap with. Where the schedule is derived
 * all of them, in front of everything. */
static void prefetch_maps(Lower *L)
{
    if (L->derived) {
        const IrRole others = L->pre;
        L->pre = (IrRole){0};
        for (uint32_t i = 0; i < L->ir->mf.maps.n; i++)
            if (!made_here(L, i)) prefetch(L, i, (Span){0, 0});
        for (uint32_t i = 0; i < others.ops.n; i++) vec_push(L->a, &L->pre.ops, others.ops.v[i]);
        return;
    }
    for (uint32_t i = 0; i < L->k->maps.n; i++) {
        const PMap *m = L->k->maps.v[i];
        uint32_t at = L->maps->map_of[i];
        if (m->prefetched && at && at != UINT32_MAX) prefetch(L, at - 1, m->span);
    }
}

/* Everything is initialised by one thread; the others, if any, see it behind a barrier of the CTA, and CTAs of a cluster
 * behind one of the cluster (PTX ISA, fence.mbarrier_init). */
static void init_ops(Lower *L, uint32_t threads)
{
    bool cluster = L->remote;
    for (uint32_t b = 0; b < L->ir->bars.n; b++) {
        for (uint32_t slot = 0; slot < L->ir->bars.v[b].slots; slot++) {
            IrOp *op = ir_op(L->a, &L->pre, IR_BAR_INIT, L->ir->bars.v[b].span);
            op->elect = true;
            ir_ref(L->a, op, IRK_BAR, IRA_BAR, b);
            if (slot) ir_imm(L->a, op, IRK_SLOT, slot);
            ir_imm(L->a, op, IRK_COUNT_, L->ir->bars.v[b].count);
        }
    }
    if (L->ir->bars.n) ir_op(L->a, &L->pre, IR_FENCE_MBAR_INIT, (Span){0, 0})->elect = true;
    bool tensor = tmem_used(L);
    tmem_begin(L);
    if (cluster) {
        ir_ref(L->a, ir_op(L->a, &L->pre, IR_CLUSTER_ARRIVE, (Span){0, 0}), IRK_SEM, IRA_WORD, IRS_RELAXED);
        ir_op(L->a, &L->pre, IR_CLUSTER_WAIT, (Span){0, 0});
        if (!L->ir->pair) { /* else tmem_end. Arrivals at peers are there before these leave: .relaxed would not order them */
            ir_ref(L->a, ir_op(L->a, &L->post, IR_CLUSTER_ARRIVE, (Span){0, 0}), IRK_SEM, IRA_WORD, IRS_RELEASE);
            ir_op(L->a, &L->post, IR_CLUSTER_WAIT, (Span){0, 0});
        }
    }
    bool lanes = L->ir->roles.n && !L->ir->roles.v[0].elect; /* of one warp: any lane may use them */
    if (tensor || (!cluster && L->ir->bars.n && threads > 32)) {
        IrOp *op = ir_op(L->a, &L->pre, IR_CTA_SYNC, (Span){0, 0});
        ir_imm(L->a, op, IRK_ID, 0);
        ir_imm(L->a, op, IRK_THREADS, tensor ? L->ir->mf.threads : threads);
    } else if (!cluster && L->ir->bars.n && lanes) {
        ir_op(L->a, &L->pre, IR_WARP_SYNC, (Span){0, 0});
    }
    tmem_address(L);
    tmem_end(L, L->ir->mf.threads);
}

static void whole(Lower *L)
{
    prefetch_maps(L);
    uint32_t warps = 0;
    for (uint32_t i = 0; i < L->ir->roles.n; i++) warps += L->ir->roles.v[i].warps;
    if (L->ir->mf.threads < warps * 32) L->ir->mf.threads = warps * 32;
    init_ops(L, warps > 1 ? L->ir->mf.threads : 32); /* `threads` may ask for more than the roles have */
    body_set(L, &L->ir->init, &L->pre);
    if (!L->c->no_dependent) body_depend(L);
    body_set(L, &L->ir->exit, &L->post);
}

static void parameters_fit(Lower *L)
{
    const MfKernel *mf = &L->ir->mf;
    uint64_t bytes = manifest_param_bytes(mf);
    uint32_t maps = 0;
    if (bytes <= PARAM_BYTES_MOST) return;
    for (uint32_t i = 0; i < mf->params.n; i++) maps += mf->params.v[i].kind == MF_PARAM_MAP;
    Diag *g = lower_error(L, E0909, L->k->span, "the parameters of kernel `%s` take %llu bytes; a kernel has at most %d", mf->name,
                          (unsigned long long)bytes, PARAM_BYTES_MOST);
    diag_note(L->c->diags, g, (Span){0, 0}, "%u tensor maps of 128 bytes each, %u others of 8", maps, mf->params.n - maps);
}

IrKernel *lower_kernel(Compilation *c, const PKernel *k, Text *plan)
{
    Lower *L = arena_new(c->scratch, Lower);
    *L = (Lower){.c = c,
                 .a = c->scratch,
                 .k = k,
                 .plan = plan,
                 .guard = opnd_imm(1),
                 .inside = opnd_imm(1),
                 .batch_index = opnd_imm(0)};
    L->explained = arena_new(L->a, struct Explained);
    L->checks = arena_new(L->a, struct Checks);
    L->scalars = arena_new(L->a, struct Scalars);
    L->values = arena_new(L->a, struct Values);
    L->maps = arena_new(L->a, struct Maps);
    L->device = arena_new(L->a, struct DeviceMaps);
    L->accesses = arena_new(L->a, struct Accesses);
    L->sync = arena_new(L->a, struct Sync);
    L->scalars->at_rank = -1;
    L->ir = arena_new(L->a, IrKernel);
    L->ir->name = k->name;
    L->ir->span = k->span;
    L->maps->map_of = arena_array(L->a, uint32_t, k->maps.n);
    L->maps->pol_of = arena_array(L->a, uint32_t, k->policies.n);
    L->values->scalar_reads = arena_array(L->a, Span, k->tensors.n);

    values_begin(L);
    scalars_begin(L); /* symbols, facts, grid, variables */
    manifest_head(L); /* parameters, launch shape */
    memory_buffers(L);
    L->derived = derived_wanted(k) != NULL;
    schedule_kernel(L);
    independence_check(L);
    exact_check(L);
    whole(L); /* init, roles, exit */
    parameters_fit(L);
    memory_place(L);
    if (L->failed) return NULL;
    if (plan) explain_kernel(L);
    return L->ir;
}

void lower_explain_checks(const MfKernel *mf, uint32_t from, Text *plan)
{
    if (from < mf->checks.n) text_lit(plan, "  checked at launch, since the proof is of such launches\n");
    explain_checks(mf, from, plan);
}
