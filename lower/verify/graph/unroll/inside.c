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
    return op->op == IR_TICKET || op->op == IR_REPEAT || op->op == IR_BREAK ? BLOCK_EVENTS : 0;
}

static void match_blocks(Verifier *v, const Body *b)
{
    uint32_t depth = 0, *open = arena_array(v->arena, uint32_t, b->role->ops.n + 1);
    for (uint32_t i = 0; i < b->role->ops.n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        uint8_t kind = kind_of(op);
        for (uint32_t j = 0; j < depth; j++) b->block[open[j]] |= kind;
        if (op->op == IR_ELSE || op->op == IR_END) {
            uint32_t begin = open[--depth];
            b->partner[begin] = i;
            b->partner[i] = begin;
            if (op->op == IR_ELSE) b->block[i] = b->block[begin];
        }
        b->around[i] = depth ? open[depth - 1] + 1 : 0;
        if (ir_opens_block((IrOpcode)op->op) || op->op == IR_ELSE) open[depth++] = i;
        if (depth > v->deepest) v->deepest = depth;
    }
    for (uint32_t i = b->role->ops.n; i-- > 0;) { /* an else leads on to its end; synchronisation in it is the if's, too */
        const IrOp *op = &b->role->ops.v[i];
        if (op->op != IR_IF || b->role->ops.v[b->partner[i]].op != IR_ELSE) continue;
        b->block[i] |= b->block[b->partner[i]];
    }
}

/* An `else` both closes and opens: its partner is the end that it leads to. */
static void lead_on(const Body *b)
{
    for (uint32_t i = 0; i < b->role->ops.n; i++)
        if (b->role->ops.v[i].op == IR_END && b->role->ops.v[b->partner[i]].op == IR_ELSE)
            b->partner[b->partner[i]] = i;
}

void blocks_match(Verifier *v, const Body *b)
{
    match_blocks(v, b);
    lead_on(b);
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

/* in: by value, then by variable: the block, if it varies there. The copies of a loop that picks slots are gone through one by one. */
void inside_find(Verifier *v, const Body *b, uint32_t open, uint32_t *in)
{
    Inside *inside = &v->inside[b->base + open];
    const IrOp *ops = b->role->ops.v, *head = &ops[open];
    uint32_t loop = b->base + open + 1, end = b->partner[open];
    bool few = head->op == IR_LOOP && ir_find(head, IRK_B)->kind == IRA_IMM && ir_find(head, IRK_B)->imm <= FEW;
    for (uint32_t x = open + 1; x < end; x++) {
        if (ops[x].dst) vec_push(v->arena, &inside->values, ops[x].dst - 1);
        if (ops[x].op != IR_SET) continue;
        vec_push(v->arena, &inside->sets, ir_find(&ops[x], IRK_VAR)->id);
        in[v->nvalues + ir_find(&ops[x], IRK_VAR)->id] = loop;
    }
    if (few && head->dst) in[head->dst - 1] = loop;
    for (uint32_t x = open + 1; few && x < end; x++) {
        if (picks_slot(&ops[x], in, loop)) b->block[open] |= BLOCK_EVENTS;
        if (ops[x].dst && varies(v, &ops[x], in, loop)) in[ops[x].dst - 1] = loop;
    }
}
