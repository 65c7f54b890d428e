/* The blocks of a body: where each ends, and what is in it. */
#include "lower/verify/graph/unroll/unroll.h"

static uint8_t kind_of(const IrOp *op)
{
    switch ((IrGroup)ir_op_info(op->op)->group) {
    case IRG_BARRIER:
    case IRG_SYNC:
    case IRG_GROUP:
    case IRG_FENCE:
    case IRG_THREAD: return BLOCK_EVENTS;
    case IRG_COPY: return BLOCK_COPIES;
    default: break;
    }
    if (op->op == IR_SET) return BLOCK_SETS;
    return op->op == IR_TICKET || op->op == IR_REPEAT || op->op == IR_BREAK ? BLOCK_EVENTS : 0;
}

/* An `else` both closes and opens: its partner is the end that it leads to, and synchronisation in it is the if's, too. */
void blocks_match(Verifier *v)
{
    uint32_t depth = 0, *open = arena_array(v->arena, uint32_t, v->nops + 1);
    v->partner = arena_array(v->arena, uint32_t, v->nops);
    v->around = arena_array(v->arena, uint32_t, v->nops);
    v->block = arena_array(v->arena, uint8_t, v->nops);
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        uint8_t kind = kind_of(op);
        for (uint32_t j = 0; j < depth; j++) v->block[open[j]] |= kind;
        if (op->op == IR_ELSE || op->op == IR_END) {
            uint32_t begin = open[--depth];
            if (v->ops[begin]->op == IR_ELSE) v->block[v->partner[begin]] |= v->block[begin];
            if (op->op == IR_ELSE) v->block[i] = v->block[begin];
            v->partner[begin] = i;
            v->partner[i] = begin;
        }
        v->around[i] = depth ? open[depth - 1] + 1 : 0;
        if (ir_opens_block((IrOpcode)op->op) || op->op == IR_ELSE) open[depth++] = i;
        if (depth > v->deepest) v->deepest = depth;
    }
}

enum { FEW = 8 };

/* A loop of few turns whose copies pick slots is gone through turn by turn: what is passed once has one slot. */
void inside_find(Verifier *v, uint32_t open)
{
    const IrArg *first = v->operands[open].a, *past = v->operands[open].b;
    if (first->kind != IRA_IMM || past->kind != IRA_IMM || past->imm > FEW) return;
    for (uint32_t i = open + 1; i < v->partner[open]; i++)
        for (uint32_t j = 0; j < v->ops[i]->nargs && v->group[i] == IRG_COPY; j++)
            if (v->ops[i]->args[j].key == IRK_SLOT && v->ops[i]->args[j].kind == IRA_VAL) v->block[open] |= BLOCK_PICKS;
}
