/* Clusters: at which CTAs an op of a CTA has its effect, and that all are there as long as others reach into them. */
#include "lower/verify/tree/facts.h"

static bool in_both(const TreeFacts *f, const IrOp *op) /* CTAs of a pair */
{
    return f->k->pair && (op->op == IR_TC_CP || op->op == IR_TC_SHIFT);
}

bool tree_reaches_others(const TreeFacts *f, const IrOp *op)
{
    return ir_find(op, IRK_RANK) || ir_find(op, IRK_MASK) || in_both(f, op);
}

int64_t tree_few_turns(const TreeFacts *f, uint32_t loop)
{
    enum { FEW = 64 };
    int64_t trips = tree_op(f, loop)->op == IR_LOOP ? tree_trips(tree_op(f, loop)) : 0;
    return trips > 0 && trips <= FEW ? trips : 0;
}

void tree_turn(const TreeFacts *f, uint32_t loop, int64_t index)
{
    f->asked->turns++;
    f->loops.v[f->at[loop].loop - 1] = index;
}

bool tree_turns(const TreeFacts *f, uint32_t at, bool first)
{
    f->asked->turning = true;
    for (uint32_t b = f->at[at].around; b; b = f->at[b - 1].around) {
        int64_t trips = tree_few_turns(f, b - 1);
        if (trips == 0) continue;
        int64_t is = f->loops.v[f->at[b - 1].loop - 1], from = ir_find(tree_op(f, b - 1), IRK_A)->imm;
        bool goes_on = !first && is + 1 < from + trips;
        tree_turn(f, b - 1, goes_on ? is + 1 : from);
        if (goes_on) return true;
    }
    for (uint32_t b = f->at[at].around; b && !first; b = f->at[b - 1].around)
        if (f->at[b - 1].loop) tree_turn(f, b - 1, INT64_MIN);
    f->asked->turning = first;
    return first;
}

static bool find_targets(const TreeFacts *f, const IrOp *op, uint32_t rank, uint32_t *set)
{
    const IrArg *to = ir_find(op, IRK_RANK), *mask = ir_find(op, IRK_MASK);
    int64_t n = 0;
    uint32_t all = f->ctas;
    *set = op->op == IR_CLC_NEXT ? (1u << all) - 1 /* an answer for all */ : in_both(f, op) ? 3u << (rank & ~1u) : 1u << rank;
    if (to == NULL && mask == NULL) return true;
    *set = 0;
    if (!tree_number(f, to ? to : mask, rank, &n) || n < 0 || (to ? n >= all : n >> all != 0)) return false;
    *set = to ? 1u << n : (uint32_t)n;
    return true;
}

bool tree_targets(const TreeFacts *f, const IrOp *op, uint32_t rank, uint32_t *set)
{
    TreeOp *at = &f->at[op - f->tree->ops.v];
    *set = 1;
    if (f->ctas == 1) return true;
    if (f->asked->turning) return find_targets(f, op, rank, set);
    if (at->targets == NULL) at->targets = arena_array(f->a, uint32_t, f->ctas);
    if (at->targets[rank] == 0 && find_targets(f, op, rank, set)) at->targets[rank] = *set | 1u << f->ctas;
    *set = at->targets[rank] & ~(1u << f->ctas);
    return at->targets[rank] != 0;
}

uint32_t tree_reach(const TreeFacts *f, const IrOp *op, uint32_t rank)
{
    uint32_t at = (uint32_t)(op - f->tree->ops.v), all, one;
    if (tree_targets(f, op, rank, &all)) return all;
    for (bool more = tree_turns(f, at, true); more; more = tree_turns(f, at, false))
        all |= tree_targets(f, op, rank, &one) ? one : UINT32_MAX;
    return all;
}

/* All threads come together behind the last barrier that is initialised, and behind its fence, if there are others than the one that did
 * it; of the cluster, or of the CTA. */
static bool come_together(const TreeFacts *f, const IrRole *body, bool cluster)
{
    const IrKernel *k = f->k;
    uint32_t warps = 0;
    bool one = k->roles.n == 1 && k->roles.v[0].elect, fenced = true, arrived = false, together = !cluster;
    for (uint32_t a = 0; a < k->roles.n; a++) warps += k->roles.v[a].warps;
    for (uint32_t i = 0; i < body->ops.n; i++) {
        uint8_t op = body->ops.v[i].op;
        if (op == IR_BAR_INIT) fenced = arrived = together = false;
        fenced |= op == IR_FENCE_MBAR_INIT;
        arrived |= op == IR_CLUSTER_ARRIVE && fenced;
        together |= op == IR_CLUSTER_WAIT && arrived;
        together |= !cluster && fenced && (one || op == IR_CTA_SYNC || (op == IR_WARP_SYNC && warps == 1));
    }
    return together;
}

bool tree_starts(const TreeFacts *f)
{
    return come_together(f, &f->k->init, false);
}

bool tree_leaves(const TreeFacts *f)
{
    bool others = false;
    for (uint32_t i = 0; i < f->tree->ops.n && f->ctas > 1; i++) {
        const IrOp *op = tree_op(f, i);
        others |= tree_reaches_others(f, op);
    }
    return !others || (come_together(f, &f->k->init, true) && come_together(f, &f->k->exit, true));
}
