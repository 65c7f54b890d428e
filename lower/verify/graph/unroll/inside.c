/* The blocks of a body: where each ends, what is in it, and which of its values a turn may make anew. */
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

/* A value that is made in the loop: a variable's only where the loop sets it. */
static bool made_in(const Verifier *v, const Body *b, uint32_t loop, uint32_t end, uint32_t value)
{
    uint32_t def = v->def[value - 1];
    if (def < b->base + loop || def > b->base + end) return false;
    const IrOp *op = v->ops[def];
    if (op->op != IR_GET) return true;
    for (uint32_t i = loop; i < end; i++) {
        const IrOp *set = &b->role->ops.v[i];
        if (set->op == IR_SET && ir_find(set, IRK_VAR)->id == ir_find(op, IRK_VAR)->id) return true;
    }
    return false;
}

/* Slots that the loop's index may pick: the copies of such a loop are gone through one by one. */
static bool picks_slot(const Verifier *v, const Body *b, uint32_t loop, uint32_t end)
{
    for (uint32_t at = loop + 1; at < end; at++) {
        const IrOp *op = &b->role->ops.v[at];
        if (ir_op_info(op->op)->group != IRG_COPY) continue;
        for (uint32_t i = 0; i < op->nargs; i++) {
            const IrArg *arg = &op->args[i];
            if (arg->key == IRK_SLOT && arg->kind == IRA_VAL && made_in(v, b, loop, end, arg->id)) return true;
        }
    }
    return false;
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
            const IrOp *o = &b->role->ops.v[begin];
            bool few = o->op == IR_LOOP && ir_find(o, IRK_B)->kind == IRA_IMM && ir_find(o, IRK_B)->imm <= 8;
            if (few && picks_slot(v, b, begin, i)) b->block[begin] |= BLOCK_EVENTS;
        }
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

/* From turn to turn the value may be another one: it is made from the index, or from what is not worked out from values. */
static bool varies(const IrOp *op, const uint32_t *in, uint32_t loop)
{
    bool other = !run_pure(op) || (op->guard.pred && in[op->guard.pred - 1] == loop);
    for (uint32_t i = 0; i < op->nargs && !other; i++)
        other = op->args[i].kind == IRA_VAL && in[op->args[i].id - 1] == loop;
    return other;
}

/* in: by value: the block, if it varies there. */
void inside_find(Verifier *v, const Body *b, uint32_t open, uint32_t *in)
{
    Inside *inside = &v->inside[b->base + open];
    uint32_t loop = b->base + open + 1;
    for (uint32_t x = open + 1; x < b->partner[open]; x++) inside->n += b->role->ops.v[x].dst != 0;
    inside->value = arena_array(v->arena, uint32_t, inside->n);
    inside->varying = arena_array(v->arena, uint32_t, inside->n);
    inside->n = 0;
    if (b->role->ops.v[open].dst) in[b->role->ops.v[open].dst - 1] = loop;
    for (uint32_t x = open + 1; x < b->partner[open]; x++) {
        const IrOp *op = &b->role->ops.v[x];
        if (op->dst == 0) continue;
        inside->value[inside->n++] = op->dst - 1;
        if (!varies(op, in, loop)) continue;
        in[op->dst - 1] = loop;
        inside->varying[inside->nvarying++] = op->dst - 1;
    }
}
