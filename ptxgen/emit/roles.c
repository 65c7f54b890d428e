/* Who runs what. A kernel is init by all threads, then each role by its warps, then exit by all threads:
 *
 *     warp = tid / 32                    a kernel of one role, run by one thread, whose init and exit have no
 *     addresses of maps, tensors, ..     synchronisation, is simpler: all others leave at once, one does it all
 *     init
 *     warp >= 1: goto after
 *   role_a:  elected thread only: others goto leave
 *     ..
 *     goto leave
 *   after:  the next role ..
 *   leave:
 *     exit
 */
#include "ptxgen/emit/emit.h"

enum { WARP = 32 };
static const Opnd NONE = {.kind = OPND_EMPTY};
static const char LEAVE[] = "leave"; /* label behind the roles */

/* ---- what a body has ---- */

/* Ops that all threads do together. */
static bool is_collective(const IrOp *op)
{
    return ir_op_info(op->op)->who == IRB_ALL;
}

static bool has_collective(const IrRole *r)
{
    for (uint32_t i = 0; i < r->ops.n; i++)
        if (is_collective(&r->ops.v[i])) return true;
    return false;
}

/* Ops behind which the lanes of a warp may come one by one: each leaves a wait when its own look at the barrier says so. */
static bool divides(const IrRole *r)
{
    for (uint32_t i = 0; i < r->ops.n; i++) {
        IrOpcode op = (IrOpcode)r->ops.v[i].op;
        if (op == IR_BAR_WAIT || op == IR_MAP_SET || op == IR_IF || op == IR_LANES || ir_by_plan(op) || op == IR_TC_ALLOC)
            return true;
    }
    return false;
}

static bool has_elect(const IrRole *r)
{
    for (uint32_t i = 0; i < r->ops.n; i++)
        if (r->ops.v[i].elect) return true;
    return false;
}

static bool uses_lanes(const IrKernel *k)
{
    for (uint32_t i = 0; i < k->roles.n; i++)
        for (uint32_t j = 0; j < k->roles.v[i].ops.n; j++)
            if (k->roles.v[i].ops.v[j].op == IR_LANES) return true;
    return false;
}

static uint32_t threads_of(const IrKernel *k)
{
    return k->mf.threads ? k->mf.threads : WARP;
}

/* ---- what all bodies use ---- */

static void prologue_param(PtxWriter *w, uint32_t number)
{
    const MfKernel *mf = &w->k->mf;
    const MfParam *p = &mf->params.v[number];
    char name[PTX_PARAM_ROOM];
    if (p->kind == MF_PARAM_MAP) { /* its generic address: it is a parameter */
        Opnd at = ptx_reg(w, RC_B64);
        PTX_INS(w, "mov.b64", at, ptx_param_name(name, number, false));
        PTX_INS(w, "cvta.param.u64", at, at);
        w->maps[p->index] = at;
    } else if (p->kind == MF_PARAM_ADDRESS || p->kind == MF_PARAM_COUNTER) {
        Opnd at = ptx_reg(w, RC_B64);
        PTX_INS(w, "ld.param.b64", at, ptx_param_name(name, number, true));
        PTX_INS(w, "cvta.to.global.u64", at, at);
        *(p->kind == MF_PARAM_COUNTER ? &w->counter : &w->tensors[p->index]) = at;
    } else if (p->kind == MF_PARAM_MAPS) {
        ptx_maps_room(w, p, ptx_param_name(name, number, true));
    } else if (p->kind == MF_PARAM_HINTS) {
        Opnd hints = ptx_reg(w, RC_B64);
        w->much = ptx_reg(w, RC_PRED);
        PTX_INS(w, "ld.param.b64", hints, ptx_param_name(name, number, true));
        PTX_INS(w, "setp.ne.s64", w->much, hints, opnd_int(0));
    }
}

static void prologue(PtxWriter *w)
{
    for (uint32_t i = 0; i < w->k->mf.params.n; i++) prologue_param(w, i);
    if (w->k->mf.smem) {
        w->smem = ptx_reg(w, RC_B32);
        PTX_INS(w, "mov.b32", w->smem, opnd_lit(PTX_SMEM));
    }
    for (uint32_t i = 0; i < w->k->pols.n; i++) w->pols[i] = ptx_reg(w, RC_B64);
}

static void body_ops(PtxWriter *w, const IrRole *r)
{
    w->blocks.n = 0;
    w->nquotients = 0;
    for (uint32_t i = 0; i < r->ops.n; i++) {
        ptx_statement(w, r->ops.v[i].span);
        uint32_t last = ptx_chain(w, r, i);
        if (last == i) ptx_op(w, &r->ops.v[i]);
        i = last;
    }
    ptx_statement(w, (Span){0, 0});
}

/* ---- one thread does it all ---- */

static void one_thread(PtxWriter *w)
{
    uint32_t label = w->labels++;
    if (threads_of(w->k) > WARP) { /* elect.sync by all lanes of one warp */
        Opnd tid = ptx_reg(w, RC_B32), other = ptx_reg(w, RC_PRED);
        PTX_INS(w, "mov.u32", tid, opnd_lit("%tid.x"));
        PTX_INS(w, "setp.gt.u32", other, tid, opnd_int(WARP - 1));
        ptx_branch(w, other, true, LEAVE, "", label);
    }
    Opnd elected = ptx_reg(w, RC_PRED);
    w->slots[SLOT_pred] = elected;
    ptx_form(w, NONE, FORM_ELECT);
    ptx_branch(w, elected, false, LEAVE, "", label);
    prologue(w);
    body_ops(w, &w->k->init);
    body_ops(w, &w->k->roles.v[0]);
    body_ops(w, &w->k->exit);
    ptx_label(w, LEAVE, "", label);
}

/* ---- all threads, then each role's, then all ---- */

/* One thread of the first of the warps that come by here. elect.sync picks the same one each time, and is asked once:
 * here all lanes are still together. */
static Opnd elect(PtxWriter *w, uint32_t warps)
{
    Opnd p = ptx_reg(w, RC_PRED);
    w->slots[SLOT_pred] = p;
    ptx_form(w, NONE, FORM_ELECT);
    if (warps <= 1) return p;
    Opnd here = ptx_reg(w, RC_PRED);
    PTX_INS(w, "setp.eq.u32", here, w->warp, opnd_int(w->first_warp));
    PTX_INS(w, "and.pred", p, p, here);
    return p;
}

static void one_role(PtxWriter *w, uint32_t number, uint32_t leave, Opnd elected)
{
    const IrRole *r = &w->k->roles.v[number];
    const char *name = r->name && *r->name ? r->name : "main";
    uint32_t label = w->labels++, warps = r->warps ? r->warps : 1, past = w->first_warp + warps;
    bool last = number + 1 == w->k->roles.n;
    if (!last || past * WARP < threads_of(w->k)) {
        Opnd others = ptx_reg(w, RC_PRED);
        PTX_INS(w, "setp.ge.u32", others, w->warp, opnd_int(past));
        ptx_branch(w, others, true, last ? LEAVE : "after", last ? "" : name, last ? leave : label);
    }
    ptx_label(w, "role", name, label); /* the simulator calls the threads so: runtime/sim/SIMULATOR.md */
    if ((r->elect || has_elect(r)) && elected.kind == OPND_EMPTY) elected = elect(w, warps);
    w->elected = r->elect ? NONE : elected;
    w->role_warps = warps;
    if (r->elect) ptx_branch(w, elected, false, LEAVE, "", leave);
    w->divided = divides(&w->k->init) || divides(r);
    body_ops(w, r);
    if (!last) {
        ptx_branch(w, NONE, true, LEAVE, "", leave);
        ptx_label(w, "after", name, label);
    }
    w->first_warp = past;
}

static void all_threads(PtxWriter *w)
{
    const IrKernel *k = w->k;
    uint32_t leave = w->labels++, warps = (threads_of(k) + WARP - 1) / WARP;
    if (warps > 1 || k->roles.n > 1) {
        w->warp = ptx_reg(w, RC_B32);
        PTX_INS(w, "mov.u32", w->warp, opnd_lit("%tid.x"));
        PTX_INS(w, "shr.u32", w->warp, w->warp, opnd_int(5));
    }
    if (uses_lanes(k)) {
        w->lane = ptx_reg(w, RC_B32);
        PTX_INS(w, "mov.u32", w->lane, opnd_lit("%laneid"));
    }
    prologue(w);
    Opnd first = has_elect(&k->init) || has_elect(&k->exit) ? elect(w, warps) : NONE;
    w->elected = first;
    w->divided = divides(&k->init);
    body_ops(w, &k->init);
    for (uint32_t i = 0; i < k->roles.n; i++) one_role(w, i, leave, i == 0 ? first : NONE);
    ptx_label(w, LEAVE, "", leave);
    w->elected = first;
    w->first_warp = 0;
    w->divided = true;
    body_ops(w, &k->exit);
}

void ptx_bodies(PtxWriter *w)
{
    const IrKernel *k = w->k;
    if (k->roles.n == 0 && k->init.ops.n == 0 && k->exit.ops.n == 0) return;
    bool lone = k->roles.n == 1 && k->roles.v[0].elect && !has_collective(&k->init) && !has_collective(&k->exit);
    if (lone) one_thread(w);
    else all_threads(w);
}
