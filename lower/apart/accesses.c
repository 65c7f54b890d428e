/* What a kernel's moves touch in global memory. */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"

/* Does the condition say that a loop's index is a multiple of c? */
static bool multiple_index(const Sx *x, int64_t *loop, int64_t *c)
{
    while (x->op == SX_LET) x = x->a;
    if (x->op != SX_EQ || x->a->op != SX_MOD || x->b->op != SX_CONST || x->b->k != 0) return false;
    const Sx *of = x->a->a;
    while (of->op == SX_LET) of = of->a;
    if (of->op != SX_INDEX || x->a->b->op != SX_CONST || x->a->b->k < 2) return false;
    *loop = of->k;
    *c = x->a->b->k;
    return true;
}

/* Where `k % c == 0` holds, k is c times an index of its own: quotients of k then differ from turn to turn. */
static void by_condition(Lower *L, TensorAccess *a, const Sx *cond)
{
    int64_t k, c, zero;
    Domain *d = L->d;
    while (cond->op == SX_LET) cond = cond->a;
    if (cond->op == SX_LAND) {
        by_condition(L, a, cond->a);
        by_condition(L, a, cond->b);
        return;
    }
    if (!multiple_index(cond, &k, &c) || k >= L->k->nloops) return;
    LoopState *s = loop_state(L, k);
    const PStmt *st = s->stmt;
    if (st == NULL || !poly_is_const(scalar_poly(L, st->lo), &zero) || zero != 0) return;
    for (uint32_t i = 0; i < a->loops.n; i++) {
        if (a->loops.v[i].index != s->atoms.index) continue;
        Poly whole = s->index, count = poly_ceil(d, scalar_poly(L, st->value), poly_const(d, c));
        const char *name = name_text(L, st->name);
        OpenLoop own = {domain_index(d, name, poly_const(d, 0), count, DEP_LOOP),
                        domain_index(d, name, poly_const(d, 0), count, DEP_TEAM), s->atoms.index};
        s->index = poly_mul(d, poly_const(d, c), poly_atom(d, own.index));
        L->scalars->fresh_lets = true;
        scalars_forget(L, USE_INDEX);
        region_boxes(L, &a->info);
        s->index = whole;
        L->scalars->fresh_lets = false;
        scalars_forget(L, USE_INDEX);
        a->loops.v[i] = own;
        return;
    }
}

void access_note(Lower *L, const MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    MfTensor *t = &L->ir->mf.tensors.v[mi->tensor->base ? mi->tensor->base->index : mi->tensor->index];
    if (mi->load) t->read = true;
    else t->written = true;
    if (!mi->load && mi->mv->reduce >= 0) t->read = true; /* it is combined with what lies there */
    if (mi->prefetch) return;
    TensorAccess *a = vec_add(L->a, &L->accesses->all);
    *a = (TensorAccess){.info = *mi, .write = !mi->load, .waived = mv->overlap_any, .reduce = mi->load ? -1 : mv->reduce,
                        .planned = UINT32_MAX, .taken = UINT32_MAX};
    a->pipe = L->accesses->across;
    a->role = L->accesses->role;
    a->nteam = L->scalars->nteam;
    memcpy(a->team, L->scalars->team, sizeof a->team);
    for (uint32_t i = 0; i < L->scalars->open_loops.n; i++) vec_push(L->a, &a->loops, L->scalars->open_loops.v[i]);
    for (uint32_t i = 0; i < L->scalars->conditions.n; i++) by_condition(L, a, L->scalars->conditions.v[i]);
}
