#include "ptxgen/emit/emit.h"

static const Opnd NONE = {.kind = OPND_EMPTY};
enum { LANES = 32 };

/* ---- control ---- */

static PtxBlock *open_block(PtxWriter *w, const IrOp *op)
{
    w->blocks.v = mem_grow(w->mem, w->blocks.v, &w->blocks.cap, w->blocks.n + 1, sizeof *w->blocks.v);
    PtxBlock *b = &w->blocks.v[w->blocks.n++];
    *b = (PtxBlock){.op = op->op, .label = w->labels++, .name = ""};
    return b;
}

static const char *index_name(const PtxWriter *w, const IrOp *op)
{
    const char *name = w->k->value_names.v[op->dst - 1];
    return name ? name : "";
}

/* The test stands at the end of the body too, so that a turn costs one branch. `index + 1 <= bound` never wraps. */
static void op_loop(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    bool wide = op->type != IR_I32;
    const IrArg *from = ir_find(op, IRK_A), *to = ir_find(op, IRK_B);
    Opnd a = wide ? ptx_value64(w, from) : ptx_value32(w, from);
    Opnd b = wide ? ptx_value64(w, to) : ptx_value32(w, to);
    PtxBlock *block = open_block(w, op);
    block->name = index_name(w, op);
    block->bound = b;
    block->index = ptx_define(w, op);
    PTX_INS(w, wide ? "mov.b64" : "mov.b32", block->index, a);
    Opnd p = ptx_reg(w, RC_PRED);
    PTX_INS(w, wide ? "setp.ge.s64" : "setp.ge.s32", p, block->index, b);
    ptx_branch(w, p, true, "done", block->name, block->label);
    ptx_label(w, "loop", block->name, block->label);
}

static void op_if(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    Opnd p = ptx_valuep(w, ir_find(op, IRK_COND));
    PtxBlock *block = open_block(w, op);
    ptx_branch(w, p, false, "else", "", block->label);
}

static void op_else(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard, (void)op;
    PtxBlock *block = &w->blocks.v[w->blocks.n - 1];
    w->nquotients = 0;
    block->is_else = true;
    ptx_branch(w, NONE, true, "endif", "", block->label);
    ptx_label(w, "else", "", block->label);
}

/* The next turn of a loop or of lanes. */
static void next_turn(PtxWriter *w, const PtxBlock *b, const char *what, int64_t step)
{
    bool wide = b->index.cls == RC_B64;
    PTX_INS(w, wide ? "add.s64" : "add.s32", b->index, b->index, opnd_int(step));
    Opnd p = ptx_reg(w, RC_PRED);
    PTX_INS(w, wide ? "setp.lt.s64" : "setp.lt.s32", p, b->index, b->bound);
    ptx_branch(w, p, true, what, b->name, b->label);
}

static void op_repeat(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    PtxBlock *block = open_block(w, op);
    ptx_label(w, "repeat", "", block->label);
}

static void op_break(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    uint32_t i = w->blocks.n;
    while (w->blocks.v[i - 1].op != IR_REPEAT) i--;
    ptx_branch(w, ptx_valuep(w, ir_find(op, IRK_COND)), true, "done", "", w->blocks.v[i - 1].label);
}

/* Lane l takes l, l + 32, ..: more than one turn only where there are more than 32. */
static void op_lanes(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    PtxBlock *block = open_block(w, op);
    block->name = index_name(w, op);
    block->bound = opnd_int(ir_find(op, IRK_N)->imm);
    block->index = ptx_define(w, op);
    PTX_INS(w, "mov.b32", block->index, w->lane);
    if (block->bound.u.k < LANES) {
        Opnd p = ptx_reg(w, RC_PRED);
        PTX_INS(w, "setp.ge.s32", p, block->index, block->bound);
        ptx_branch(w, p, true, "done", block->name, block->label);
    }
    if (block->bound.u.k > LANES) ptx_label(w, "lanes", block->name, block->label);
}

static void op_end(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard, (void)op;
    PtxBlock b = w->blocks.v[--w->blocks.n];
    w->nquotients = 0;
    if (b.op == IR_IF) {
        ptx_label(w, b.is_else ? "endif" : "else", "", b.label);
        return;
    }
    if (b.op == IR_LOOP) next_turn(w, &b, "loop", 1);
    else if (b.op == IR_REPEAT) ptx_branch(w, NONE, true, "repeat", "", b.label);
    else if (b.bound.u.k > LANES) next_turn(w, &b, "lanes", LANES);
    if (b.op != IR_LANES || b.bound.u.k != LANES) ptx_label(w, "done", b.name, b.label);
}

/* ---- barriers ---- */

static void op_bar(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const struct {
        InstrForm own, peer;
    } forms[IR_OP_COUNT] = {
        [IR_BAR_INIT] = {FORM_MBAR_INIT, FORM_MBAR_INIT},
        [IR_BAR_EXPECT] = {FORM_MBAR_EXPECT, FORM_MBAR_EXPECT_PEER_ANY},
        [IR_BAR_ARRIVE_EXPECT] = {FORM_MBAR_ARRIVE_EXPECT, FORM_MBAR_ARRIVE_EXPECT_PEER_ANY},
        [IR_BAR_ARRIVE] = {FORM_MBAR_ARRIVE, FORM_MBAR_ARRIVE_PEER_ANY},
    };
    const IrArg *count = ir_find(op, IRK_COUNT_), *bytes = ir_find(op, IRK_BYTES);
    if (bytes) w->slots[SLOT_bytes] = ptx_value32(w, bytes);
    if (count) w->slots[SLOT_count] = opnd_int(count->imm);
    const IrArg *rank = ir_find(op, IRK_RANK);
    Opnd mbar = ptx_shared_address(w, op, IRK_BAR);
    /* Arrivals there without {sem} and {scope}: .release.cluster is a membar.gl of half a microsecond on sm_90 (measured). */
    if (rank && op->op == IR_BAR_EXPECT) w->slots[SLOT_scope] = opnd_lit("cluster");
    w->slots[SLOT_mbar] = rank ? ptx_mapa(w, guard, mbar, ptx_value32(w, rank)) : mbar;
    ptx_form(w, guard, rank ? forms[op->op].peer : forms[op->op].own);
}

static Opnd scope_word(const IrOp *op, IrScope otherwise)
{
    const IrArg *scope = ir_find(op, IRK_SCOPE);
    switch (scope ? scope->id : otherwise) {
    case IRC_CLUSTER: return opnd_lit("cluster");
    case IRC_GPU: return opnd_lit("gpu");
    default: return opnd_lit("cta");
    }
}

/* try_wait suspends the thread for a while and may come back early: only its answer counts. The acquire makes what
 * the phase's copies wrote visible to this thread (PTX ISA, mbarrier.try_wait). */
static void op_wait(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const char *name = w->k->bars.v[ir_find(op, IRK_BAR)->id].name;
    uint32_t label = w->labels++;
    Opnd parity = ptx_value32(w, ir_find(op, IRK_PHASE));
    Opnd mbar = ptx_shared_address(w, op, IRK_BAR);
    Opnd p = ptx_reg(w, RC_PRED);
    if (guard.kind != OPND_EMPTY) ptx_branch(w, guard, false, "skip", name, label);
    ptx_label(w, "wait", name, label);
    w->slots[SLOT_sem] = opnd_lit("acquire");
    w->slots[SLOT_scope] = scope_word(op, IRC_CTA);
    w->slots[SLOT_pred] = p;
    w->slots[SLOT_mbar] = mbar;
    w->slots[SLOT_parity] = parity;
    ptx_form(w, NONE, FORM_MBAR_TRY_WAIT);
    ptx_branch(w, p, false, "wait", name, label);
    if (guard.kind != OPND_EMPTY) ptx_label(w, "skip", name, label);
}

/* ---- threads together ---- */

/* Without .aligned where the lanes of a warp may come one by one: an aligned barrier counts whole warps (PTX ISA, barrier). */
static void op_sync(PtxWriter *w, const IrOp *op, Opnd guard)
{
    if (w->chains && op->op == IR_CTA_SYNC) return;
    const IrArg *id = ir_find(op, IRK_ID), *threads = ir_find(op, IRK_THREADS), *sem = ir_find(op, IRK_SEM);
    Opnd n[] = {opnd_int(id ? id->imm : 0), opnd_int(threads ? threads->imm : 0)};
    switch ((IrOpcode)op->op) {
    case IR_CTA_SYNC:
        w->slots[SLOT_id] = n[0];
        w->slots[SLOT_threads] = n[1];
        if (w->divided) ptx_form_unaligned(w, guard, FORM_CTA_SYNC);
        else ptx_form(w, guard, FORM_CTA_SYNC);
        break;
    case IR_WARP_SYNC: ptx_form(w, guard, FORM_WARP_SYNC); break;
    case IR_CLUSTER_ARRIVE:
        w->slots[SLOT_sem] = opnd_lit(sem && sem->id == IRS_RELAXED ? "relaxed" : "release");
        ptx_form_unaligned(w, guard, FORM_CLUSTER_ARRIVE);
        break;
    default: ptx_form_unaligned(w, guard, FORM_CLUSTER_WAIT); break;
    }
}

/* ---- groups and fences ---- */

static void op_commit(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)op;
    ptx_form(w, guard, FORM_GROUP_COMMIT);
}

static void op_group_wait(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_n] = opnd_int(ir_find(op, IRK_N)->imm);
    ptx_form(w, guard, ir_find(op, IRK_HOW)->id == IRH_READ ? FORM_GROUP_WAIT_READ : FORM_GROUP_WAIT);
}

static void op_fence(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const InstrForm spaces[] = {[IRS_SHARED] = FORM_FENCE_ASYNC_SHARED,
                                       [IRS_CLUSTER] = FORM_FENCE_ASYNC_CLUSTER,
                                       [IRS_GLOBAL] = FORM_FENCE_ASYNC_GLOBAL};
    const IrArg *space = ir_find(op, IRK_SPACE);
    if (op->op == IR_FENCE_ACQREL) w->slots[SLOT_scope] = scope_word(op, IRC_GPU);
    if (op->op == IR_FENCE_MBAR_INIT) ptx_form(w, guard, FORM_FENCE_MBAR_INIT);
    else if (op->op == IR_FENCE_ACQREL) ptx_form(w, guard, FORM_FENCE_ACQ_REL);
    else ptx_form(w, guard, space->id <= IRS_GLOBAL ? spaces[space->id] : FORM_FENCE_ASYNC);
}

static PtxOp *const OPS[IR_OP_COUNT] = {
    [IR_LOOP] = op_loop,
    [IR_REPEAT] = op_repeat,
    [IR_BREAK] = op_break,
    [IR_LANES] = op_lanes,
    [IR_IF] = op_if,
    [IR_ELSE] = op_else,
    [IR_END] = op_end,
    [IR_CONST] = ptx_op_const,
    [IR_PARAM] = ptx_op_param,
    [IR_SREG] = ptx_op_sreg,
    [IR_ADD] = ptx_op_binary,
    [IR_SUB] = ptx_op_binary,
    [IR_MUL] = ptx_op_binary,
    [IR_DIV] = ptx_op_div,
    [IR_MOD] = ptx_op_div,
    [IR_MIN] = ptx_op_binary,
    [IR_MAX] = ptx_op_binary,
    [IR_SHL] = ptx_op_binary,
    [IR_SHR] = ptx_op_binary,
    [IR_AND] = ptx_op_binary,
    [IR_OR] = ptx_op_binary,
    [IR_XOR] = ptx_op_binary,
    [IR_NOT] = ptx_op_not,
    [IR_CMP] = ptx_op_cmp,
    [IR_SEL] = ptx_op_sel,
    [IR_CVT] = ptx_op_cvt,
    [IR_VAR] = ptx_op_var,
    [IR_GET] = ptx_op_var,
    [IR_SET] = ptx_op_var,
    [IR_LOADS] = ptx_op_loads,
    [IR_GADDR] = ptx_op_gaddr,
    [IR_ZADDR] = ptx_op_zaddr,
    [IR_TICKET] = ptx_op_ticket,
    [IR_BAR_INIT] = op_bar,
    [IR_BAR_EXPECT] = op_bar,
    [IR_BAR_ARRIVE_EXPECT] = op_bar,
    [IR_BAR_ARRIVE] = op_bar,
    [IR_BAR_WAIT] = op_wait,
    [IR_CTA_SYNC] = op_sync,
    [IR_WARP_SYNC] = op_sync,
    [IR_CLUSTER_ARRIVE] = op_sync,
    [IR_CLUSTER_WAIT] = op_sync,
    [IR_GRP_COMMIT] = op_commit,
    [IR_GRP_WAIT] = op_group_wait,
    [IR_FENCE_MBAR_INIT] = op_fence,
    [IR_FENCE_ASYNC] = op_fence,
    [IR_FENCE_ACQREL] = op_fence,
    [IR_TMA_LOAD] = ptx_op_tma_load,
    [IR_TMA_STORE] = ptx_op_tma_store,
    [IR_TMA_REDUCE] = ptx_op_tma_store,
    [IR_TMA_PREFETCH] = ptx_op_tma_prefetch,
    [IR_BLK_LOAD] = ptx_op_blk_load,
    [IR_BLK_STORE] = ptx_op_blk_store,
    [IR_BLK_REDUCE] = ptx_op_blk_store,
    [IR_BLK_PREFETCH] = ptx_op_blk_prefetch,
    [IR_BLK_PEER] = ptx_op_peer,
    [IR_BLK_REDUCE_PEER] = ptx_op_peer,
    [IR_ST_ASYNC] = ptx_op_st_async,
    [IR_ST_FILL] = ptx_op_fill_peer,
    [IR_RED_ASYNC] = ptx_op_fill_peer,
    [IR_ST_BULK] = ptx_op_st_bulk,
    [IR_CLC_NEXT] = ptx_op_clc_next,
    [IR_CLC_ID] = ptx_op_clc_id,
    [IR_LDS] = ptx_op_lds,
    [IR_STS] = ptx_op_sts,
    [IR_DEP_LAUNCH] = ptx_op_dependent,
    [IR_DEP_WAIT] = ptx_op_dependent,
    [IR_POL_CREATE] = ptx_op_policy,
    [IR_MAP_PREFETCH] = ptx_op_map_prefetch,
    [IR_THR_COPY] = ptx_op_threads,
    [IR_THR_LOAD] = ptx_op_threads,
    [IR_THR_STORE] = ptx_op_threads,
    [IR_THR_FILL] = ptx_op_threads,
    [IR_TC_ALLOC] = ptx_op_tc_alloc,
    [IR_TC_KEEP] = ptx_op_tc_alloc,
    [IR_TC_FREE] = ptx_op_tc_alloc,
    [IR_TC_BASE] = ptx_op_tc_base,
    [IR_TC_DESC] = ptx_op_tc_desc,
    [IR_TC_CP] = ptx_op_tc_cp,
    [IR_TC_SHIFT] = ptx_op_tc_shift,
    [IR_TC_COMMIT] = ptx_op_tc_commit,
    [IR_TC_FENCE] = ptx_op_tc_fence,
    [IR_TC_LD] = ptx_op_tc_threads,
    [IR_TC_ST] = ptx_op_tc_threads,
    [IR_MAP_SET] = ptx_op_map_set,
};

static Opnd both(PtxWriter *w, Opnd p, Opnd q)
{
    if (p.kind == OPND_EMPTY) return q;
    Opnd r = ptx_reg(w, RC_PRED);
    PTX_INS(w, "and.pred", r, p, q);
    return r;
}

void ptx_op(PtxWriter *w, const IrOp *op)
{
    Opnd guard = NONE;
    if (op->guard.pred) guard = ptx_valuep(w, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred});
    if (op->elect && w->elected.kind == OPND_REG) guard = both(w, guard, w->elected);
    OPS[op->op](w, op, guard);
}
