/* Clusters: CTAs that reach into each other's slots go through the blocks around that alike, as often and in step. So the loops and
 * conditions there come from numbers that are the same in all of them. */
#include "lower/verify/tree/facts.h"

enum { NOT_ASKED, ALIKE, UNLIKE };

static bool operands_alike(const TreeFacts *f, const IrOp *op)
{
    bool alike = op->guard.pred == 0 || tree_same(f, op->guard.pred);
    for (uint32_t i = 0; i < op->nargs && alike; i++)
        if (op->args[i].kind == IRA_VAL) alike = tree_same(f, op->args[i].id);
    return alike;
}

/* An `if` that synchronises nothing: bytes.c looks at both ways. */
static bool only_copies(const TreeFacts *f, uint32_t at)
{
    bool only = tree_op(f, at)->op == IR_IF;
    uint32_t end = f->end[at];
    if (only && tree_op(f, end)->op == IR_ELSE) end = f->end[end];
    for (uint32_t i = at + 1; only && i < end; i++) {
        IrGroup group = ir_op_info((IrOpcode)tree_op(f, i)->op)->group;
        only = group == IRG_SCALAR || group == IRG_COPY || tree_op(f, i)->op == IR_ELSE;
    }
    return only;
}

static bool block_alike(const TreeFacts *f, uint32_t at)
{
    const IrOp *op = tree_op(f, at);
    bool alike = only_copies(f, at) || operands_alike(f, op);
    for (uint32_t i = at + 1; op->op == IR_REPEAT && i < f->end[at] && alike; i++)
        if (tree_op(f, i)->op == IR_BREAK) alike = operands_alike(f, tree_op(f, i));
    return alike;
}

static bool blocks_alike(const TreeFacts *f, uint32_t at)
{
    bool alike = true;
    for (uint32_t b = f->around[at]; b && alike; b = f->around[b - 1]) alike = block_alike(f, b - 1);
    return alike;
}

/* Whatever it is set to, wherever that is. */
static bool var_alike(const TreeFacts *f, uint32_t var)
{
    if (f->alike_var[var] != NOT_ASKED) return f->alike_var[var] == ALIKE;
    f->alike_var[var] = ALIKE; /* for what it is set to that is made from itself */
    bool alike = true;
    for (uint32_t i = 0; i < f->tree->ops.n && alike; i++) {
        const IrOp *op = tree_op(f, i);
        if ((op->op == IR_VAR || op->op == IR_SET) && ir_find(op, IRK_VAR)->id == var) alike = operands_alike(f, op) && blocks_alike(f, i);
    }
    if (alike) return true;
    for (uint32_t i = 0; i < f->k->vars.n; i++) /* what was found on the assumption is asked again */
        if (f->alike_var[i] == ALIKE) f->alike_var[i] = NOT_ASKED;
    for (uint32_t i = 0; i < f->k->value_types.n; i++)
        if (f->alike[i] == ALIKE) f->alike[i] = NOT_ASKED;
    f->alike_var[var] = UNLIKE;
    return false;
}

/* Of the CTAs of a cluster the same: ctaid.x / 4 where its CTAs are 4 in x. */
static bool of_the_cluster(const TreeFacts *f, const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    if (op->op != IR_DIV || a->kind != IRA_VAL || b->kind != IRA_IMM || b->imm <= 0) return false;
    const IrOp *from = tree_definition(f, tree_uncast(f, a->id));
    if (from == NULL || from->op != IR_SREG) return false;
    uint32_t reg = ir_find(from, IRK_REG)->id, d = reg; /* x, y, z are first */
    return reg <= IRR_CTAID_Z && b->imm % f->k->mf.cluster[d] == 0;
}

/* What one CTA sends to all, or the hardware answers to all. */
static bool sent_to_all(const TreeFacts *f, uint32_t ring)
{
    uint32_t all = (1u << tree_ctas(f->k)) - 1, sent = 0;
    for (uint32_t i = 0; i < f->access.n; i++) {
        const TreeAccess *y = &f->access.v[i];
        uint32_t set;
        if (y->ring != ring || !y->write) continue;
        if (y->how != TO_EVENT) return false;
        for (uint32_t s = 0; s < tree_ctas(f->k); s++)
            if (tree_when(f, tree_op(f, y->op), s) != WHEN_NEVER && tree_targets(f, tree_op(f, y->op), s, &set)) sent |= set;
    }
    return sent == all;
}

static bool defined_alike(const TreeFacts *f, IrVal v, const IrOp *op)
{
    int64_t first = 0, other;
    bool same = tree_value(f, v, 0, &first);
    for (uint32_t s = 1; s < tree_ctas(f->k) && same; s++) same = tree_value(f, v, s, &other) && other == first;
    if (same || of_the_cluster(f, op)) return true;
    const IrArg *src = ir_find(op, IRK_SRC), *turn = src ? ir_part(op, src, IRK_SLOT) : NULL;
    switch ((IrOpcode)op->op) {
    case IR_SREG: {
        uint32_t reg = ir_find(op, IRK_REG)->id;
        if (reg <= IRR_CTAID_Z) return f->k->mf.cluster[reg] == 1;
        return (reg >= IRR_NCTAID_X && reg <= IRR_NCTAID_Z) || reg == IRR_CLUSTER_NCTARANK;
    }
    case IR_GET: return var_alike(f, ir_find(op, IRK_VAR)->id);
    case IR_HAND:
    case IR_LDS:
    case IR_CLC_ID: return turn && turn->kind == IRA_TURN && sent_to_all(f, turn->id);
    case IR_LOOP:
        return f->defined[v - 1] ? operands_alike(f, op) && blocks_alike(f, f->defined[v - 1] - 1) : false;
    case IR_LANES: return true; /* each lane is in all of them */
    case IR_TICKET: return false;
    default: return ir_op_info(op->op)->group == IRG_SCALAR && operands_alike(f, op);
    }
}

bool tree_same(const TreeFacts *f, IrVal v)
{
    uint8_t *known = &f->alike[v - 1];
    if (*known != NOT_ASKED) return *known == ALIKE;
    const IrOp *op = tree_definition(f, v);
    *known = UNLIKE;
    bool alike = op && defined_alike(f, v, op);
    *known = alike ? ALIKE : UNLIKE;
    return alike;
}

static uint32_t ring_of(const TreeFacts *f, const IrArg *arg) /* from 1; 0: none */
{
    if (arg->kind == IRA_RING || arg->kind == IRA_TURN) return arg->id + 1;
    return arg->kind == IRA_BAR ? f->k->bars.v[arg->id].ring : 0;
}

bool tree_alike(const TreeFacts *f, const IrOp **where)
{
    if (tree_ctas(f->k) == 1) return true;
    bool *across = arena_array(f->a, bool, f->k->rings.n + 1);
    uint32_t n = f->tree->ops.n, asked = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < tree_op(f, i)->nargs && tree_reaches_others(tree_op(f, i)); k++) across[ring_of(f, &tree_op(f, i)->args[k])] = true;
    for (uint32_t i = 0; i < n; i++) {
        bool of_ring = false;
        for (uint32_t k = 0; k < tree_op(f, i)->nargs; k++) {
            uint32_t ring = ring_of(f, &tree_op(f, i)->args[k]);
            of_ring |= ring && across[ring];
        }
        if (!of_ring || (f->around[i] && f->around[i] == asked)) continue; /* a block is asked once where its ops stand together */
        if (!blocks_alike(f, i)) {
            *where = tree_op(f, i);
            return false;
        }
        asked = f->around[i];
    }
    return true;
}
