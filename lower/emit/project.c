/* The tree projected onto one agent: its own ops in their order, the blocks that hold them, and the scalars that they need.
 *
 * Everything stays in its place. Values and variables are the agent's own: each has those that it needs. */
#include <string.h>

#include "lower/emit/roles.h"

typedef struct Projection {
    Arena *a;
    IrKernel *k;
    const IrRole *tree;
    IrRole *out;
    uint32_t agent;
    uint32_t *around;  /* by op: number of the op that opens the block around it, from 1; 0: none */
    uint32_t *defined; /* by value: number of the op, from 1; 0: outside of the tree */
    uint32_t *changes; /* by variable: the last op that begins or sets it, from 1 .. */
    uint32_t *before;  /* .. and by op: the one before */
    bool *live;        /* by op */
    VEC(uint32_t) todo;
    bool *var_live;
    uint32_t *var;     /* by variable: the agent's own */
    IrVal *value;      /* by value: the same */
} Projection;

/* ---- what the agent needs ---- */

static const IrOp *op_at(const Projection *p, uint32_t i)
{
    return &p->tree->ops.v[i];
}

/* Scalars are there for those who need them. */
static bool is_scalar(const IrOp *op)
{
    return (ir_op_info(op->op)->group == IRG_SCALAR && op->op != IR_TICKET) || op->op == IR_HAND;
}

static bool is_own(const Projection *p, const IrOp *op)
{
    return op->agent == p->agent && !is_scalar(op) && ir_op_info(op->op)->group != IRG_CONTROL;
}

static void need_op(Projection *p, uint32_t i)
{
    if (p->live[i]) return;
    p->live[i] = true;
    vec_push(p->a, &p->todo, i);
}

static void need_value(Projection *p, IrVal v)
{
    if (v && p->defined[v - 1]) need_op(p, p->defined[v - 1] - 1);
}

static void need_var(Projection *p, uint32_t var)
{
    if (p->var_live[var]) return;
    p->var_live[var] = true;
    for (uint32_t i = p->changes[var]; i; i = p->before[i - 1]) {
        uint8_t agent = op_at(p, i - 1)->agent;
        if (agent == 0 || agent == p->agent) need_op(p, i - 1);
    }
}

static void need_operands(Projection *p, uint32_t i)
{
    const IrOp *op = op_at(p, i);
    if (op->op == IR_HAND && op->agent != p->agent) return; /* it reads the ring */
    need_value(p, op->guard.pred);
    for (uint32_t k = 0; k < op->nargs; k++) {
        if (op->args[k].kind == IRA_VAL) need_value(p, op->args[k].id);
        if (op->args[k].kind == IRA_VAR) need_var(p, op->args[k].id);
    }
}

/* Breaks go with their repeat. */
static void need_breaks(Projection *p, uint32_t repeat)
{
    for (uint32_t i = repeat + 1; i < p->tree->ops.n; i++) {
        if (op_at(p, i)->op == IR_BREAK && p->around[i] == repeat + 1) need_op(p, i);
        if (op_at(p, i)->op == IR_END && p->around[i] == repeat + 1) return;
    }
}

static void find_live(Projection *p)
{
    for (uint32_t i = 0; i < p->tree->ops.n; i++)
        if (is_own(p, op_at(p, i))) need_op(p, i);
    while (p->todo.n) {
        uint32_t i = p->todo.v[--p->todo.n];
        need_operands(p, i);
        if (op_at(p, i)->op == IR_REPEAT) need_breaks(p, i);
        if (p->around[i]) need_op(p, p->around[i] - 1);
    }
}

/* ---- the tree's structure ---- */

static void index_tree(Projection *p)
{
    uint32_t n = p->tree->ops.n, open = 0;
    p->around = arena_array(p->a, uint32_t, n);
    p->before = arena_array(p->a, uint32_t, n);
    p->live = arena_array(p->a, bool, n);
    p->defined = arena_array(p->a, uint32_t, p->k->value_types.n);
    p->value = arena_array(p->a, IrVal, p->k->value_types.n);
    p->changes = arena_array(p->a, uint32_t, p->k->vars.n);
    p->var_live = arena_array(p->a, bool, p->k->vars.n);
    p->var = arena_array(p->a, uint32_t, p->k->vars.n);
    for (uint32_t i = 0; i < n; i++) {
        const IrOp *op = op_at(p, i);
        p->around[i] = open;
        if (op->dst) p->defined[op->dst - 1] = i + 1;
        if (op->op == IR_VAR || op->op == IR_SET) {
            uint32_t *last = &p->changes[ir_find(op, IRK_VAR)->id];
            p->before[i] = *last;
            *last = i + 1;
        }
        if (op->op == IR_END) open = p->around[open - 1];
        else if (ir_opens_block(op->op) && op->op != IR_ELSE) open = i + 1;
    }
}

/* ---- the body ---- */

static IrVal new_value(Projection *p, IrVal v)
{
    return p->value[v - 1] = ir_value(p->a, p->k, (IrType)p->k->value_types.v[v - 1], p->k->value_names.v[v - 1]);
}

static IrVal own_value(const Projection *p, IrVal v)
{
    return v && p->defined[v - 1] ? p->value[v - 1] : v;
}

static uint32_t own_var(Projection *p, const IrOp *op, uint32_t var)
{
    IrVar x = p->k->vars.v[var];
    if (op->op == IR_VAR) p->var[var] = ir_var(p->a, p->k, (IrType)x.type, x.name);
    return p->var[var];
}

static void put_op(Projection *p, const IrOp *op)
{
    IrOp *own = ir_op(p->a, p->out, (IrOpcode)op->op, op->span);
    IrArg *args = arena_array(p->a, IrArg, op->nargs);
    *own = *op;
    own->agent = 0;
    own->args = args;
    own->guard.pred = own_value(p, op->guard.pred);
    for (uint32_t i = 0; i < op->nargs; i++) {
        args[i] = op->args[i];
        if (args[i].kind == IRA_VAL) args[i].id = own_value(p, args[i].id);
        if (args[i].kind == IRA_VAR) args[i].id = own_var(p, op, args[i].id);
    }
    if (op->dst) own->dst = new_value(p, op->dst);
}

/* Whose number it is has it; the others read it. */
static void hand(Projection *p, const IrOp *op)
{
    const IrArg *src = ir_find(op, IRK_SRC), *slot = ir_part(op, src, IRK_SLOT);
    if (op->agent == p->agent) {
        p->value[op->dst - 1] = own_value(p, ir_find(op, IRK_A)->id);
        return;
    }
    IrOp *own = ir_op(p->a, p->out, IR_LDS, op->span);
    own->type = op->type;
    own->dst = new_value(p, op->dst);
    ir_put(p->a, own, *src);
    if (slot) ir_put(p->a, own, *slot);
}

void project(Arena *a, IrKernel *k, uint32_t agent, IrRole *r)
{
    Projection *p = arena_new(a, Projection);
    *p = (Projection){.a = a, .k = k, .tree = &k->tree, .out = r, .agent = agent};
    index_tree(p);
    find_live(p);
    for (uint32_t i = 0; i < p->tree->ops.n; i++) {
        const IrOp *op = op_at(p, i);
        bool closes = op->op == IR_END || op->op == IR_ELSE;
        if (!p->live[closes ? p->around[i] - 1 : i]) continue;
        if (op->op == IR_HAND) hand(p, op);
        else put_op(p, op);
    }
}
