/* Where an agent keeps what the ops of its body make: from the op that makes it to the last one that asks for it, in a place that others have before
 * and after. What is the same in all of a launch is no part of a state: an agent has it from the first op, or block, that asks for it. */
#include "lower/verify/states/steps/steps.h"

typedef struct Life { /* of a value or, behind those, a variable; ops are numbered by body */
    uint32_t def;            /* + 1; 0: it is there from the start, */
    uint32_t first;          /* .. from here on, + 1, if that is the same in all turns */
    uint32_t asked, kept;    /* the last op that asks for it, + 1; that has to do with it, + 1 */
    bool same;               /* there from the start, and the launch says what it is */
    int64_t number;          /* .. of a variable, what */
    uint32_t slot;           /* + 1 */
    uint32_t next, next_end; /* of those that begin, or end, with the same op, + 1 */
} Life;
typedef struct Lives {
    Checker *c;
    Code *b;
    Life *all;
    uint32_t n, nvalues;
} Lives;

static bool is_loop(const IrOp *op)
{
    return op->op == IR_LOOP || op->op == IR_REPEAT || op->op == IR_LANES;
}

/* The last op at which what is asked for at i is kept: where it is made outside of loops around that, the end of the outermost of those. */
static uint32_t until(const Code *b, uint32_t i, uint32_t def)
{
    uint32_t top = i;
    for (uint32_t at = b->around[i]; at; at = b->around[at - 1]) {
        bool holds = def && def - 1 >= at - 1 && def - 1 < i;
        if (is_loop(&b->role->ops.v[at - 1]) && !holds) top = b->partner[at - 1];
    }
    return top;
}

static uint32_t outermost(const Code *b, uint32_t i)
{
    while (b->around[i]) i = b->around[i] - 1;
    return b->role->ops.v[i].op == IR_ELSE ? b->begin[i] : i;
}

static void used(const Lives *l, uint32_t thing, uint32_t i, bool asks)
{
    Life *x = &l->all[thing];
    uint32_t last = until(l->b, i, x->def) + 1, first = outermost(l->b, i) + 1;
    if (x->first == 0 || first < x->first) x->first = first;
    if (last > x->kept) x->kept = last;
    if (asks && last > x->asked) x->asked = last;
}

/* ---- where they are made ---- */

static void find_defs(const Lives *l)
{
    const Checker *c = l->c;
    const Code *b = l->b;
    for (uint32_t i = 0; i < l->nvalues; i++) l->all[i].same = c->same[i];
    for (uint32_t i = 0; i < b->role->ops.n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        if (op->dst && c->needed[op->dst - 1] && !of_launch(op)) {
            l->all[op->dst - 1].def = i + 1;
            l->all[op->dst - 1].kept = i + 1;
        }
        if (op->op != IR_VAR || !c->needed_var[ir_find(op, IRK_VAR)->id]) continue;
        Life *var = &l->all[l->nvalues + ir_find(op, IRK_VAR)->id];
        var->same = b->around[i] == 0 && ir_find(op, IRK_A)->kind == IRA_IMM && var->def == 0;
        var->def = var->same ? 0 : i + 1;
        if (var->same) var->number = ir_find(op, IRK_A)->imm;
    }
}

/* Who asks whether an op happens asks for what that is made of, too. */
static void used_pred(const Lives *l, uint32_t pred, uint32_t i)
{
    const Checker *c = l->c;
    const IrOp *op = c->op[c->def[pred - 1]];
    if (!c->needed[pred - 1]) return;
    used(l, pred - 1, i, true);
    for (uint32_t j = 0; j < op->nargs && op->op == IR_AND; j++)
        if (op->args[j].kind == IRA_VAL) used_pred(l, op->args[j].id, i);
}

static void find_uses(const Lives *l)
{
    const Checker *c = l->c;
    const Code *b = l->b;
    for (uint32_t i = 0; i < b->role->ops.n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        if (op->guard.pred) used_pred(l, op->guard.pred, i);
        if (op->op == IR_IF) { /* in its block it is asked again */
            uint32_t end = b->partner[i];
            if (b->role->ops.v[end].op == IR_ELSE) end = b->partner[end];
            const IrArg *cond = ir_find(op, IRK_COND);
            if (cond->kind == IRA_VAL) used_pred(l, cond->id, end);
        }
        for (uint32_t j = 0; j < op->nargs; j++) {
            const IrArg *arg = &op->args[j];
            if (arg->kind == IRA_VAL && c->needed[arg->id - 1]) used(l, arg->id - 1, i, true);
            bool sunk = arg->kind == IRA_VAR && op->op == IR_VAR && l->all[l->nvalues + arg->id].same;
            if (arg->kind == IRA_VAR && c->needed_var[arg->id] && !sunk) used(l, l->nvalues + arg->id, i, op->op == IR_GET);
        }
    }
}

/* ---- a place for each ---- */

typedef struct Slots {
    uint32_t *begins, *made, *ends; /* by op: the first thing that is there from it on; that it makes; that ends with it, + 1 */
    VEC(uint32_t) free;
    uint32_t slots;
} Slots;

static void add_to(uint32_t *list, uint32_t *next, uint32_t thing)
{
    *next = *list;
    *list = thing + 1;
}

static void sort_by_op(const Lives *l, Slots *s)
{
    Arena *a = l->c->arena;
    uint32_t n = l->b->role->ops.n;
    s->begins = arena_array(a, uint32_t, n + 1);
    s->made = arena_array(a, uint32_t, n + 1);
    s->ends = arena_array(a, uint32_t, n + 1);
    for (uint32_t i = l->n; i-- > 0;) {
        Life *x = &l->all[i];
        bool counts = x->asked || (i < l->nvalues && x->def);
        if (!counts) continue;
        if (x->def) add_to(&s->made[x->def - 1], &x->next, i);
        else add_to(&s->begins[x->same ? x->first - 1 : 0], &x->next, i);
        add_to(&s->ends[x->kept - 1], &x->next_end, i);
    }
}

static void take_slot(const Lives *l, Slots *s, uint32_t thing)
{
    l->all[thing].slot = s->free.n ? s->free.v[--s->free.n] : ++s->slots;
}

static void begin_at(const Lives *l, Slots *s, uint32_t op)
{
    for (uint32_t i = s->begins[op]; i; i = l->all[i - 1].next) {
        const Life *x = &l->all[i - 1];
        take_slot(l, s, i - 1);
        if (x->same) vec_push(l->c->arena, &l->b->begun, ((Begun){.at = op, .what = i - 1, .slot = x->slot, .var = x->number}));
    }
}

/* What an op asks for may lie where it puts what it makes. */
static void find_slots(const Lives *l, Slots *s)
{
    Arena *a = l->c->arena;
    sort_by_op(l, s);
    for (uint32_t op = 0; op < l->b->role->ops.n; op++) {
        begin_at(l, s, op);
        for (uint32_t i = s->ends[op]; i; i = l->all[i - 1].next_end)
            if (l->all[i - 1].slot) vec_push(a, &s->free, l->all[i - 1].slot);
        for (uint32_t i = s->made[op]; i; i = l->all[i - 1].next) {
            take_slot(l, s, i - 1);
            if (l->all[i - 1].kept == op + 1) vec_push(a, &s->free, l->all[i - 1].slot);
        }
    }
}

static void mark_live(const Lives *l)
{
    Code *b = l->b;
    b->words = (b->slots + 31) / 32;
    b->live = arena_array(l->c->arena, uint32_t, (size_t)(b->role->ops.n + 1) * b->words);
    for (uint32_t i = 0; i < l->n; i++) {
        const Life *x = &l->all[i];
        if (x->slot == 0) continue;
        for (uint32_t op = x->def ? x->def : x->same ? x->first : 0; op < x->asked; op++) b->live[(size_t)op * b->words + (x->slot - 1) / 32] |= 1u << (x->slot - 1) % 32;
    }
}

void find_live(Checker *c, Code *b)
{
    Lives l = {.c = c, .b = b, .n = c->k->value_types.n + c->k->vars.n, .nvalues = c->k->value_types.n};
    Slots s = {0};
    l.all = arena_array(c->arena, Life, l.n + 1);
    find_defs(&l);
    find_uses(&l);
    find_slots(&l, &s);
    b->slots = s.slots;
    b->slot = arena_array(c->arena, uint32_t, l.nvalues + 1);
    b->var_slot = arena_array(c->arena, uint32_t, c->k->vars.n + 1);
    b->var_begun = arena_array(c->arena, bool, c->k->vars.n + 1);
    for (uint32_t i = 0; i < l.n; i++) {
        bool value = i < l.nvalues;
        if (value) b->slot[i] = l.all[i].slot;
        else b->var_slot[i - l.nvalues] = l.all[i].slot;
        if (!value) b->var_begun[i - l.nvalues] = l.all[i].same;
    }
    b->begun_at = arena_array(c->arena, uint32_t, b->role->ops.n + 2);
    for (uint32_t i = 0; i < b->begun.n; i++) b->begun_at[b->begun.v[i].at + 1] = i + 1;
    for (uint32_t i = 1; i <= b->role->ops.n; i++)
        if (b->begun_at[i] == 0) b->begun_at[i] = b->begun_at[i - 1];
    mark_live(&l);
}

/* ---- what the launch says ---- */

/* Made of the launch's numbers by sums and the like, wherever that stands. */
void find_same(Checker *c)
{
    uint32_t *size = arena_array(c->arena, uint32_t, c->k->value_types.n + 1);
    c->same = arena_array(c->arena, bool, c->k->value_types.n + 1);
    for (uint32_t i = 0; i < c->nops; i++) {
        const IrOp *op = c->op[i];
        bool init = i < c->code.v[0].role->ops.n;
        if (op->dst == 0 || !(init || of_launch(op)) || ir_op_info((IrOpcode)op->op)->group != IRG_SCALAR) continue;
        bool same = op->op != IR_LOADS && op->op != IR_GET && op->op != IR_TICKET && op->op != IR_LDS && op->op != IR_CLC_ID;
        uint32_t parts = op->op == IR_PARAM ? val_size(c, c->launch_vals[ir_find(op, IRK_EXPR)->id - 1]) : 1; /* as val_of_op() has it, or more */
        for (uint32_t j = 0; j < op->nargs; j++) {
            bool value = op->args[j].kind == IRA_VAL;
            same &= !value || c->same[op->args[j].id - 1];
            parts += value ? size[op->args[j].id - 1] : op->op != IR_PARAM;
        }
        size[op->dst - 1] = parts;
        c->same[op->dst - 1] = same && !op->guard.pred && parts < VAL_MOST;
    }
}

/* Of the agent's that begin there. */
void begin_values(Checker *c)
{
    const Code *b = code_of(c);
    const Agent *a = &c->st->agents[c->agent];
    const State *s = c->st;
    for (uint32_t i = b->begun_at[a->pc]; i < b->begun_at[a->pc + 1]; i++) {
        Val v = c->begun[c->place[c->agent].begun + i];
        for (uint32_t j = 0; j < c->natoms; j++)
            if (val_has(c, v, j + 1) && s->launch[j] != num_atom(&c->n, j + 1)) v = val_map(c, v, &(NumMap){.atom = j + 1, .y = s->launch[j]});
        s->env[a->env + b->begun.v[i].slot - 1] = val_settled(c, v);
    }
}

/* Somebody has yet to begin with what is made of it. */
bool launch_wanted(const Checker *c, const State *s, uint32_t atom)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        if (!s->agents[a].done && c->wanted[a * c->natoms + atom - 1] > s->agents[a].pc) return true;
    return false;
}
