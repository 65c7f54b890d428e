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

/* ---- values ---- */

/* From turn to turn the value may be another one: it is made from the index, from a variable that the loop sets, or from
 * what is not worked out from values. */
static bool varies(const Verifier *v, const IrOp *op, const uint32_t *in, uint32_t loop)
{
    if (op->op == IR_GET) return in[v->nvalues + ir_find(op, IRK_VAR)->id] == loop;
    bool other = !run_pure(op) || (op->guard.pred && in[op->guard.pred - 1] == loop);
    for (uint32_t i = 0; i < op->nargs && !other; i++)
        other = op->args[i].kind == IRA_VAL && in[op->args[i].id - 1] == loop;
    return other;
}

static bool picks_slot(const IrOp *op, const uint32_t *in, uint32_t loop)
{
    bool picks = false;
    for (uint32_t i = 0; i < op->nargs && ir_op_info(op->op)->group == IRG_COPY; i++)
        picks |= op->args[i].key == IRK_SLOT && op->args[i].kind == IRA_VAL && in[op->args[i].id - 1] == loop;
    return picks;
}

enum { FEW = 8 };

/* in: by value, then by variable: the loop, if it varies there. The copies of one of few turns that picks slots are gone through one by one. */
void inside_find(Verifier *v, uint32_t open, uint32_t *in)
{
    const IrOp *const *ops = v->ops, *head = ops[open];
    const IrArg *past = ir_find(head, IRK_B);
    uint32_t loop = open + 1, end = v->partner[open];
    if (past->kind != IRA_IMM || past->imm > FEW) return;
    for (uint32_t x = open + 1; x < end; x++)
        if (ops[x]->op == IR_SET) in[v->nvalues + ir_find(ops[x], IRK_VAR)->id] = loop;
    if (head->dst) in[head->dst - 1] = loop;
    for (uint32_t x = open + 1; x < end; x++) {
        if (picks_slot(ops[x], in, loop)) v->block[open] |= BLOCK_EVENTS;
        if (ops[x]->dst && varies(v, ops[x], in, loop)) in[ops[x]->dst - 1] = loop;
    }
}
