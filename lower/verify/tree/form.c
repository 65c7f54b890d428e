/* What a tree is, op by op: slots of the ring's own buffer, lanes that go round on their own, threads that come together. */
#include "lang/limits.h"
#include "lower/ir/ops.h"
#include "lower/verify/tree/facts.h"

/* A slot is one of the ring's own buffer; a buffer of no ring is a cell. */
static void check_buffers(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    for (uint32_t n = 0; n < op->nargs; n++) {
        const IrArg *arg = &op->args[n], *slot = arg->kind == IRA_BUF ? ir_part(op, arg, IRK_SLOT) : NULL;
        if (arg->kind != IRA_BUF || f->k->bufs.v[arg->id].lanes) continue;
        uint32_t ring = slot && slot->kind == IRA_TURN ? slot->id + 1 : 0;
        bool cell = op->op == IR_MAP_SET && arg->key == IRK_SRC;
        if (f->k->bufs.v[arg->id].ring != ring || (ring == 0 && !cell)) tree_wrong(f, i, "a slot of another ring, or a ring's with no generation");
    }
}

static bool is_first(const IrArg *part)
{
    return part == NULL || (part->kind == IRA_IMM && part->imm == 0);
}

/* Where the numbers of a tensor map lie until they are in it: an agent's own. */
static void check_cell(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    const IrArg *cell = op->op == IR_MAP_SET ? ir_find(op, IRK_SRC) : NULL;
    if (cell == NULL) return;
    bool plain = is_first(ir_part(op, cell, IRK_SLOT)) && is_first(ir_part(op, cell, IRK_OFFSET));
    if (!plain || (f->cell[cell->id] && f->cell[cell->id] != op->agent)) tree_wrong(f, i, "a cell that is not the agent's own");
    f->cell[cell->id] = op->agent;
}

/* What a variable is all agents know that have it; a block that is one agent's has nothing of others. */
static void check_owner(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    TreeOp *at = &f->at[i], *around = at->around ? &f->at[at->around - 1] : NULL;
    if (op->op == IR_VAR) f->owner[ir_find(op, IRK_VAR)->id] = op->agent;
    if (op->op == IR_SET && f->owner[ir_find(op, IRK_VAR)->id] != op->agent) tree_wrong(f, i, "a variable that is set by others than have it");
    at->agent = op->agent;
    at->in_lanes = op->op == IR_LANES;
    if (around == NULL) return;
    if (op->agent && around->agent && op->agent != around->agent) tree_wrong(f, i, "in a block of another agent");
    if (op->agent == 0) at->agent = around->agent;
    at->in_lanes |= around->in_lanes;
}

/* All threads of the agent come there, and nobody else. */
static void check_sync(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    const IrRole *r = op->agent ? &f->k->roles.v[op->agent - 1] : NULL;
    if (op->op != IR_CTA_SYNC && op->op != IR_WARP_SYNC) return;
    if (r == NULL) tree_wrong(f, i, "threads that come together are all of an agent's");
    else if (op->op == IR_WARP_SYNC ? r->warps != 1 : ir_find(op, IRK_THREADS)->imm != 32 * (int64_t)r->warps) tree_wrong(f, i, "others come together than the agent's threads");
    int64_t id = op->op == IR_CTA_SYNC ? ir_find(op, IRK_ID)->imm : -1;
    if (id >= 0 && f->sync[id] && f->sync[id] != op->agent) tree_wrong(f, i, "two agents come together at one barrier");
    else if (id >= 0) f->sync[id] = op->agent;
}

/* No guard keeps an agent from what it counts on. What counts for all threads one does; but in lanes, which go round on their own. */
void tree_form(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    uint8_t group = ir_op_info(op->op)->group;
    bool always = op->op == IR_AWAIT || op->op == IR_DONE || group == IRG_SYNC || group == IRG_GROUP || op->op == IR_FENCE_ASYNC || op->op == IR_TC_FENCE;
    check_owner(f, i);
    if (f->at[i].next != i) return;
    if (!f->at[i].in_lanes && group == IRG_COPY && ir_find(op, IRK_BAR) && !tree_by_one(f, op)) tree_wrong(f, i, "copied by every thread");
    check_buffers(f, i);
    check_cell(f, i);
    check_sync(f, i);
    if (always && op->guard.pred) tree_wrong(f, i, "a guard on what is done on every path");
}
