/* Generations become slots and parities: the ring's generation n lies in slot n mod S, and is phase n div S of its barriers
 * there. Each role counts for itself, in variables that go on where it is done with a generation, and are never set back; in front
 * of loops the numbers are known, and where no loop uses the ring no variable is wanted.
 *
 * The free barrier has S - lag slots: its k-th phase is the release of generation k - lag, so who begins generation n awaits
 * phase n - (S - lag). The first ones pass: the phase before the first counts as complete (PTX ISA, mbarrier.test_wait). */
#include "lower/emit/roles.h"

typedef struct Number { /* a value, or an immediate where v == 0 */
    IrVal v;
    int64_t k;
} Number;
typedef struct Counter { /* slot and phase of what comes next; 0, 0 for ever where a role is never done with a generation */
    bool held;                  /* by the variables; else it is the n-th */
    uint32_t n;
    uint32_t slots, pos, phase; /* IrVar; pos only where slots > 1 */
    Number pos_now, phase_now;  /* read in this block, and the same since */
} Counter;
typedef struct Turns {
    Counter at, free; /* of its events; of its free barrier, where that has another number of slots */
    bool own_free, looped; /* looped: loops use the ring, and go on in it */
} Turns;
typedef struct Count {
    Arena *a;
    IrKernel *k;
    IrRole *r; /* the new body */
    Span span;
    Turns *turns; /* by ring */
} Count;

/* ---- ops ---- */

static IrArg arg(IrKey key, Number n)
{
    return n.v ? (IrArg){.key = (uint8_t)key, .kind = IRA_VAL, .id = n.v} : (IrArg){.key = (uint8_t)key, .kind = IRA_IMM, .imm = n.k};
}

static Number make(Count *c, IrOpcode code, IrType type, const IrArg *args, size_t n)
{
    IrOp *op = ir_op(c->a, c->r, code, c->span);
    op->type = (uint8_t)type;
    op->dst = ir_value(c->a, c->k, type, NULL);
    for (size_t i = 0; i < n; i++) ir_put(c->a, op, args[i]);
    return (Number){.v = op->dst};
}
#define MAKE(c, code, type, ...) make(c, code, type, (const IrArg[]){__VA_ARGS__}, sizeof((const IrArg[]){__VA_ARGS__}) / sizeof(IrArg))

static Number binary(Count *c, IrOpcode code, Number a, int64_t b)
{
    return MAKE(c, code, IR_I32, arg(IRK_A, a), arg(IRK_B, (Number){.k = b}));
}

static Number get(Count *c, uint32_t var)
{
    return MAKE(c, IR_GET, IR_I32, {.key = IRK_VAR, .kind = IRA_VAR, .id = var});
}

static void set(Count *c, IrOpcode code, uint32_t var, Number n)
{
    IrOp *op = ir_op(c->a, c->r, code, c->span);
    ir_ref(c->a, op, IRK_VAR, IRA_VAR, var);
    ir_put(c->a, op, arg(IRK_A, n));
}

/* ---- counters ---- */

static uint32_t variable(Count *c, const char *name, const char *what)
{
    uint32_t var = ir_var(c->a, c->k, IR_I32, arena_printf(c->a, "%s.%s", name, what));
    set(c, IR_VAR, var, (Number){0});
    return var;
}

static void begin(Count *c, Counter *x, const char *name, uint32_t slots, bool looped)
{
    *x = (Counter){.slots = slots};
    if (!looped) return;
    if (slots > 1) x->pos = variable(c, name, "slot");
    x->phase = variable(c, name, "phase");
}

static Number position(Count *c, Counter *x)
{
    if (x->slots == 1) return (Number){0};
    if (!x->held) return (Number){.k = x->n % x->slots};
    if (x->pos_now.v == 0) x->pos_now = get(c, x->pos);
    return x->pos_now;
}

static Number phase(Count *c, Counter *x)
{
    if (!x->held) return (Number){.k = x->n / x->slots & 1};
    if (x->phase_now.v == 0) x->phase_now = get(c, x->phase);
    return x->phase_now;
}

/* The variables go on from here. */
static void hold(Count *c, Counter *x)
{
    if (x->held) return;
    Number pos = position(c, x), now = phase(c, x);
    if (pos.k) set(c, IR_SET, x->pos, pos);
    if (now.k) set(c, IR_SET, x->phase, now);
    x->held = true;
}

static void next(Count *c, Counter *x)
{
    if (!x->held) {
        x->n++;
        return;
    }
    Number now = phase(c, x), wraps = {.k = 1};
    if (x->slots > 1) {
        Number after = binary(c, IR_ADD, position(c, x), 1);
        Number ends = MAKE(c, IR_CMP, IR_PRED, {.key = IRK_REL, .kind = IRA_WORD, .id = IRL_EQ}, arg(IRK_A, after), arg(IRK_B, (Number){.k = x->slots}));
        wraps = MAKE(c, IR_CVT, IR_I32, arg(IRK_A, ends));
        set(c, IR_SET, x->pos, MAKE(c, IR_SEL, IR_I32, arg(IRK_COND, ends), arg(IRK_A, (Number){0}), arg(IRK_B, after)));
    }
    set(c, IR_SET, x->phase, MAKE(c, IR_XOR, IR_I32, arg(IRK_A, now), arg(IRK_B, wraps)));
    x->pos_now = x->phase_now = (Number){0};
}

static Counter *free_of(Turns *t)
{
    return t->own_free ? &t->free : &t->at;
}

/* ---- the body ---- */

static void begin_all(Count *c, const IrOp *ops, uint32_t n)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        depth += ir_opens_block(ops[i].op);
        depth -= ops[i].op == IR_END;
        if (depth && ops[i].op == IR_DONE) c->turns[ir_find(&ops[i], IRK_RING)->id].looped = true;
    }
    for (uint32_t i = 0; i < c->k->rings.n; i++) {
        const IrRing *r = &c->k->rings.v[i];
        Turns *t = &c->turns[i];
        begin(c, &t->at, r->name, r->slots, t->looped);
        t->own_free = r->free != IR_NO_BAR && r->lag > 0;
        if (t->own_free) begin(c, &t->free, arena_printf(c->a, "%s.free", r->name), r->slots - r->lag, t->looped);
    }
}

static void hold_all(Count *c)
{
    for (uint32_t i = 0; i < c->k->rings.n; i++) {
        Turns *t = &c->turns[i];
        if (!t->looped) continue;
        hold(c, &t->at);
        if (t->own_free) hold(c, &t->free);
    }
}

/* In other blocks others are read. */
static void forget(Count *c)
{
    for (uint32_t i = 0; i < c->k->rings.n; i++) {
        Turns *t = &c->turns[i];
        t->at.pos_now = t->at.phase_now = t->free.pos_now = t->free.phase_now = (Number){0};
    }
}

static IrOp *at_free(Count *c, const IrOp *op, IrOpcode code, uint32_t ring)
{
    Number slot = position(c, free_of(&c->turns[ring]));
    IrOp *own = ir_op(c->a, c->r, code, op->span);
    own->call = op->call;
    own->guard = op->guard;
    own->elect = op->elect;
    ir_ref(c->a, own, IRK_BAR, IRA_BAR, c->k->rings.v[ring].free);
    if (slot.v || slot.k) ir_put(c->a, own, arg(IRK_SLOT, slot));
    return own;
}

static void ring_op(Count *c, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id;
    Turns *t = &c->turns[ring];
    const IrArg *scope = ir_find(op, IRK_SCOPE), *rank = ir_find(op, IRK_RANK);
    if (op->op == IR_DONE) {
        next(c, &t->at);
        if (t->own_free) next(c, &t->free);
        return;
    }
    if (c->k->rings.v[ring].free == IR_NO_BAR) return;
    if (op->op == IR_RELEASE) {
        IrOp *own = at_free(c, op, IR_BAR_ARRIVE, ring);
        if (rank) ir_put(c->a, own, *rank);
        return;
    }
    position(c, free_of(t));
    Number now = phase(c, free_of(t)), parity = now.v ? binary(c, IR_XOR, now, 1) : (Number){.k = now.k ^ 1};
    IrOp *own = at_free(c, op, IR_BAR_WAIT, ring);
    ir_put(c->a, own, arg(IRK_PHASE, parity));
    if (scope) ir_put(c->a, own, *scope);
}

/* Its slots of rings; of an await the parity, too. */
static void counted(Count *c, const IrOp *op)
{
    Number slot[4], parity = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind != IRA_TURN) continue;
        Counter *x = &c->turns[op->args[i].id].at;
        slot[n++] = position(c, x);
        if (op->op == IR_AWAIT) parity = phase(c, x);
    }
    IrOp *own = ir_op(c->a, c->r, (IrOpcode)op->op, op->span);
    *own = *op;
    own->args = NULL;
    own->nargs = 0;
    if (op->op == IR_AWAIT) own->op = IR_BAR_WAIT;
    n = 0;
    for (uint32_t i = 0; i < op->nargs; i++) {
        bool turn = op->args[i].kind == IRA_TURN, scope = op->op == IR_AWAIT && op->args[i].key == IRK_SCOPE;
        if (scope) ir_put(c->a, own, arg(IRK_PHASE, parity));
        if (!turn) ir_put(c->a, own, op->args[i]);
        else if (slot[n].v || slot[n].k) ir_put(c->a, own, arg(IRK_SLOT, slot[n]));
        n += turn;
    }
    if (op->op == IR_AWAIT && ir_find(own, IRK_PHASE) == NULL) ir_put(c->a, own, arg(IRK_PHASE, parity));
}

void count_turns(Arena *a, IrKernel *k, IrRole *r)
{
    IrRole from = *r;
    Count c = {.a = a, .k = k, .r = r, .turns = arena_array(a, Turns, k->rings.n)};
    r->ops.v = NULL;
    r->ops.n = r->ops.cap = 0;
    begin_all(&c, from.ops.v, from.ops.n);
    for (uint32_t i = 0; i < from.ops.n; i++) {
        const IrOp *op = &from.ops.v[i];
        c.span = op->span;
        if (ir_opens_block(op->op)) hold_all(&c);
        if (ir_find(op, IRK_RING)) ring_op(&c, op);
        else counted(&c, op);
        if (ir_opens_block(op->op) || op->op == IR_END) forget(&c);
    }
}
