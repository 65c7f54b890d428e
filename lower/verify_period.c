/* From the trip counts that were tried to all of them.
 *
 * Tried are 0, 1, 2, S - 1, S, S + 1 and 2 S + 1 turns, S the most slots of a ring. What makes longer loops nothing new:
 * - Slots and parities are periodic. They are made from variables that the turns set and from the loop's index. A
 *   variable's next value depends on such variables alone (or on the index modulo a constant). Those that are made from
 *   each other are a circle; in a run each circle comes back to values that it had, so it goes round for ever. Index and parity meet only under % or & by a constant;
 *   an index that is a slot as it is would leave the ring in the longer runs and was refused there.
 * - A condition on an index that steers synchronisation or copies was seen to hold and to fail. It compares a turn with
 *   an end of the loop (`k + c < n`), or with a constant that the runs reach.
 * - So the graph of n turns, n > 2 S + 1, is that of 2 S + 1 turns with turns like the middle ones put in. Waits, groups
 *   and slots reach at most S turns back or ahead (a phase of a slot is waited for before the next one of that slot
 *   begins: verify_barrier.c). Each pair of accesses that could be a race, and each phase, has all that orders it
 *   within a window of 2 S + 1 turns, and every window is one of those seen. More turns only add order.
 * - No longer loop gets stuck: a cycle that needs more than the tried turns would have edges between turns whose
 *   distances sum up to 0; verify_cycle.c looks for those.
 */
#include <string.h>

#include "lower/verify_parts.h"

typedef struct Start { /* of a loop, by a thread: what variables held at its first turn */
    uint32_t thread, op;
    Form *vars;
} Start;
struct Period {
    uint8_t *relevant;       /* by variable: slots, parities or conditions of synchronisation depend on it */
    uint8_t *seen;           /* by value and way of use */
    uint8_t *circle;         /* by relevant variable: those that are made from each other go round together */
    uint64_t *sets;          /* by op that opens a loop: circles with a variable that it sets */
    uint64_t *returned;      /* by op: circles whose variables came back */
    uint8_t *far;            /* by op: the loop ran 2 S turns or more */
    VEC(Start) starts;
    uint32_t raw; /* op that uses an index as it is where that is not periodic, + 1 */
};

enum { CIRCLES = 64 };
enum Use { USE_PLAIN = 1, USE_BOUNDED = 2, USE_FREE = 4 }; /* free: only variables matter */

static void use(Verifier *v, uint32_t at, const IrArg *arg, enum Use how);

static void use_variable(Verifier *v, uint32_t var)
{
    struct Period *p = v->period;
    if (p->relevant[var]) return;
    p->relevant[var] = 1;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        if ((op->op != IR_SET && op->op != IR_VAR) || ir_find(op, IRK_VAR)->id != var) continue;
        use(v, i, ir_find(op, IRK_A), USE_PLAIN);
        if (op->guard) use(v, i, &(IrArg){.kind = IRA_VAL, .id = op->guard}, USE_PLAIN);
    }
}

static void use(Verifier *v, uint32_t at, const IrArg *arg, enum Use how)
{
    struct Period *p = v->period;
    if (arg == NULL || arg->kind != IRA_VAL || p->seen[arg->id - 1] & how) return;
    p->seen[arg->id - 1] |= (uint8_t)how;
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_GET) use_variable(v, ir_find(op, IRK_VAR)->id);
    if (op->op == IR_LOOP) {
        uint32_t loop = v->def[arg->id - 1];
        const Body *b = verify_body(v, loop);
        bool counted = ir_find(op, IRK_A)->kind == IRA_IMM && ir_find(op, IRK_B)->kind == IRA_IMM;
        if (how == USE_PLAIN && !counted && b->block[loop - b->base] & BLOCK_EVENTS) p->raw = at + 1;
        return;
    }
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *c = ir_find(op, IRK_COND);
    bool constant = b && (b->kind == IRA_IMM || v->ops[v->def[b->id - 1]]->op == IR_CONST);
    enum Use in = how;
    if ((op->op == IR_MOD || op->op == IR_AND) && constant && how == USE_PLAIN) in = USE_BOUNDED;
    if ((op->op == IR_CMP || op->op == IR_MIN || op->op == IR_MAX || op->op == IR_SEL) && how == USE_BOUNDED)
        in = USE_PLAIN;
    use(v, at, a, in);
    use(v, at, b, in);
    use(v, at, c, how == USE_FREE ? USE_FREE : USE_PLAIN);
}

static void use_operands(Verifier *v, uint32_t i)
{
    const IrOp *op = v->ops[i];
    uint8_t group = ir_op_info(op->op)->group;
    bool sync = group == IRG_BARRIER || group == IRG_COPY || group == IRG_THREAD;
    for (uint32_t j = 0; sync && j < op->nargs; j++) {
        const IrArg *a = &op->args[j];
        if (a->key == IRK_SLOT) use(v, i, a, USE_FREE);
        if (a->key == IRK_PHASE || a->key == IRK_RANK || a->key == IRK_MASK) use(v, i, a, USE_PLAIN);
    }
    if (op->guard && ((sync && group != IRG_COPY) || group == IRG_GROUP || group == IRG_FENCE || group == IRG_SYNC))
        use(v, i, &(IrArg){.kind = IRA_VAL, .id = op->guard}, USE_FREE);
    const Body *b = verify_body(v, i);
    if (op->op == IR_IF && b->block[i - b->base] & BLOCK_EVENTS) use(v, i, ir_find(op, IRK_COND), USE_FREE);
}

/* ---- circles: variables that are made from each other ---- */

static uint32_t root(uint32_t *parent, uint32_t x)
{
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
}

static void join_value(Verifier *v, uint32_t *parent, uint32_t *stamp, uint32_t var, const IrArg *arg)
{
    if (arg == NULL || arg->kind != IRA_VAL || stamp[arg->id - 1] == var + 1) return;
    stamp[arg->id - 1] = var + 1;
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_GET) {
        uint32_t other = ir_find(op, IRK_VAR)->id;
        if (v->period->relevant[other]) parent[root(parent, other)] = root(parent, var);
    }
    if (op->op == IR_LOOP) return;
    join_value(v, parent, stamp, var, ir_find(op, IRK_A));
    join_value(v, parent, stamp, var, ir_find(op, IRK_B));
    join_value(v, parent, stamp, var, ir_find(op, IRK_COND));
}

static void find_circles(Verifier *v)
{
    struct Period *p = v->period;
    uint32_t n = v->k->vars.n, count = 0;
    uint32_t *parent = arena_array(v->arena, uint32_t, n), *stamp = arena_array(v->arena, uint32_t, v->nvalues);
    uint32_t *number = arena_array(v->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) parent[i] = i;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        if (op->op != IR_SET || !p->relevant[ir_find(op, IRK_VAR)->id]) continue;
        uint32_t var = ir_find(op, IRK_VAR)->id;
        join_value(v, parent, stamp, var, ir_find(op, IRK_A));
        if (op->guard) join_value(v, parent, stamp, var, &(IrArg){.kind = IRA_VAL, .id = op->guard});
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = root(parent, i);
        if (!p->relevant[i]) continue;
        if (number[r] == 0) number[r] = count < CIRCLES ? ++count : CIRCLES; /* the last takes all that are left */
        p->circle[i] = (uint8_t)(number[r] - 1);
    }
}

void period_prepare(Verifier *v)
{
    struct Period *p = v->period = arena_new(v->arena, struct Period);
    p->relevant = arena_array(v->arena, uint8_t, v->k->vars.n);
    p->seen = arena_array(v->arena, uint8_t, v->nvalues);
    p->circle = arena_array(v->arena, uint8_t, v->k->vars.n);
    p->sets = arena_array(v->arena, uint64_t, v->nops);
    p->returned = arena_array(v->arena, uint64_t, v->nops);
    p->far = arena_array(v->arena, uint8_t, v->nops);
    for (uint32_t i = 0; i < v->nops; i++) use_operands(v, i);
    find_circles(v);
    for (uint32_t i = 0; i < v->nops; i++) {
        if (v->ops[i]->op != IR_LOOP && v->ops[i]->op != IR_REPEAT) continue;
        const Body *b = verify_body(v, i);
        for (uint32_t j = i - b->base + 1; j < b->partner[i - b->base]; j++) {
            const IrOp *op = &b->role->ops.v[j];
            uint32_t var = op->op == IR_SET ? ir_find(op, IRK_VAR)->id : 0;
            if (op->op == IR_SET && p->relevant[var]) p->sets[i] |= UINT64_C(1) << p->circle[var];
        }
    }
}

static Start *start_of(Verifier *v, uint32_t op)
{
    struct Period *p = v->period;
    for (uint32_t i = 0; i < p->starts.n; i++)
        if (p->starts.v[i].thread == v->now->id && p->starts.v[i].op == op) return &p->starts.v[i];
    Start *s = vec_add(&v->run, &p->starts);
    *s = (Start){v->now->id, op, arena_array(&v->run, Form, v->k->vars.n)};
    return s;
}

/* Sums over the turns that neither slots nor parities are made from stand for any value: longer loops reach more. */
static void forget_sums(Verifier *v, uint32_t loop)
{
    const Body *b = verify_body(v, loop);
    bool chosen = v->ops[loop]->op == IR_REPEAT;
    for (uint32_t i = 0; i < v->choices.n && !chosen; i++) chosen = v->choices.v[i].op == loop;
    for (uint32_t i = loop - b->base + 1; chosen && i < b->partner[loop - b->base]; i++) {
        const IrOp *op = &b->role->ops.v[i];
        uint32_t var = op->op == IR_SET ? ir_find(op, IRK_VAR)->id : 0;
        int64_t k;
        if (op->op == IR_SET && !v->period->relevant[var] && form_is_const(&v->f, v->now->vars[var], &k)) {
            run_forget(v, var);
        }
    }
}

void period_turn(Verifier *v, const Frame *fr)
{
    struct Period *p = v->period;
    if (fr->at > 0) forget_sums(v, fr->op);
    uint64_t open = p->sets[fr->op] & ~p->returned[fr->op], moved = 0;
    if (open == 0) return;
    Start *s = start_of(v, fr->op);
    for (uint32_t i = 0; i < v->k->vars.n; i++) {
        if (!p->relevant[i]) continue;
        if (fr->at == 0) s->vars[i] = v->now->vars[i];
        else if (s->vars[i] != v->now->vars[i]) moved |= UINT64_C(1) << p->circle[i];
    }
    if (fr->at > 0) p->returned[fr->op] |= open & ~moved;
    if (fr->at >= 2 * (int64_t)v->ring) p->far[fr->op] = 1;
}

void period_begin(Verifier *v)
{
    memset(&v->period->starts, 0, sizeof v->period->starts);
}

void period_check(Verifier *v, const uint8_t *chosen)
{
    const struct Period *p = v->period;
    if (p->raw) {
        verify_refuse(v, E0660, p->raw - 1, "a parity or CTA that depends on a loop's index otherwise than by %% or &");
        return;
    }
    for (uint32_t i = 0; i < v->nops && !v->failed; i++) {
        if (chosen[i] && p->sets[i] & ~p->returned[i] && p->far[i])
            verify_refuse(
                v, E0660, i,
                "the variables that slots and parities are made from don't come back to values that they had");
        uint8_t seen = v->seen[i];
        if (!(seen & SEEN_TRIP) || (seen & (SEEN_TRUE | SEEN_FALSE)) == (SEEN_TRUE | SEEN_FALSE)) continue;
        verify_refuse(v, E0660, i, "the condition of this %s was always %s in the trip counts that were tried",
                      verify_op_text(v, i), seen & SEEN_TRUE ? "true" : "false");
    }
}
