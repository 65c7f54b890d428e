/* After how many turns all that steers comes round together, and so how many turns the runs must have.
 *
 * The compiler's own rings are turned by counters that nothing else looks at: a kernel that begins at another slot is the
 * same kernel, so what one window of turns does, all do. Where a slot or a parity comes from an index, or a variable of the
 * program steers, the turn itself counts, and what a loop leaves behind (v->fixed). Every residue of all moduli of indices
 * together is another state, each meets each: v->joint is the least common multiple of them and of the slots of rings that
 * no counter turns, and the runs' S is at least that. Circles of variables have their part in it, too: a modulus in them is
 * an estimate here, and the runs show after how many turns they come back (tries/period.c).
 *
 * What slots, parities, ranks, masks and places in a buffer are made from has to fit into PERIOD_MAX turns. Moduli of
 * conditions and amounts that don't fit beside those are left out: such conditions are held open (tries/compare.c).
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { PERIOD_MAX = 128 };

typedef struct Walked { /* a value, on the way from an operand */
    bool plain;
    int64_t turns; /* 0: not yet */
} Walked;
typedef struct Modulus {
    int64_t turns;
    uint32_t op;
    bool slots; /* how many slots a ring has */
} Modulus;
typedef struct Moduli {
    Verifier *v;
    Walked *walked;
    bool *counter, *var; /* by variable: turns a ring of the compiler's; a slot, parity or condition is made from it */
    VEC(Modulus) all;
    bool follow; /* variables on the way */
} Moduli;

int64_t modulus_joint(int64_t a, int64_t b)
{
    int64_t r;
    return mul_s64(a / gcd_s64(a, b), b, &r) ? r : INT64_MAX;
}

/* Of a, and of b, a constant: the bits above the constant's come through as they are, or are all alike. */
static int64_t masked(const IrOp *op, int64_t mask, int64_t turns)
{
    int64_t below = mask < 0 ? ~mask : mask, low = 1;
    if (below >= INT32_MAX) return 0;
    while (low <= below) low *= 2;
    bool alike = op->op == IR_AND ? mask >= 0 : op->op == IR_OR && mask < 0;
    return alike ? low : turns ? modulus_joint(turns, low) : 0;
}

int64_t modulus_within(const Verifier *v, const IrOp *op, int64_t turns)
{
    int64_t k = 0, r = 0;
    bool known = verify_number(v, ir_find(op, IRK_B), &k);
    if (op->type == IR_PRED) return 0;
    switch ((IrOpcode)op->op) {
    case IR_MOD: return known && k > 0 ? k : 0;
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        if (known || verify_number(v, ir_find(op, IRK_A), &k)) return masked(op, k, turns);
        return (turns & (turns - 1)) == 0 ? turns : 0; /* each bit is made from those at its place */
    case IR_DIV: return known && k > 0 && mul_s64(turns, k, &r) ? r : 0;
    case IR_SHR: return known && k >= 0 && k < 31 && mul_s64(turns, INT64_C(1) << k, &r) ? r : 0;
    case IR_SHL: return known ? turns : 0;
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_NOT:
    case IR_SEL:
    case IR_CVT: return turns;
    default: return 0;
    }
}

/* ---- which moduli there are ---- */

static void add(Moduli *m, int64_t turns, uint32_t op, bool slots)
{
    for (uint32_t i = 0; i < m->all.n; i++)
        if (m->all.v[i].turns == turns) return;
    if (turns > 1) vec_push(m->v->arena, &m->all, ((Modulus){turns, op, slots}));
}

static void walk(Moduli *m, uint32_t at, const IrArg *arg, int64_t turns);

static void walk_variable(Moduli *m, uint32_t at, uint32_t var)
{
    Verifier *v = m->v;
    if (!m->follow || m->var[var] || m->counter[var] || v->parity[var]) return;
    m->var[var] = true;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        if ((op->op != IR_SET && op->op != IR_VAR) || ir_find(op, IRK_VAR)->id != var) continue;
        walk(m, at, ir_find(op, IRK_A), 0);
        if (op->guard.pred) walk(m, at, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred}, 0);
    }
}

static void walk_leaf(Moduli *m, uint32_t at, const IrOp *op, uint32_t index, int64_t turns)
{
    Verifier *v = m->v;
    if (op->op == IR_LOOP) {
        const Body *b = verify_body(v, index);
        if (loop_fixed(op) || !(b->block[index - b->base] & BLOCK_EVENTS)) return;
        add(m, turns, at, false);
        v->unlike[index].rounds |= turns > 1;
    } else if (op->op == IR_GET) {
        uint32_t var = ir_find(op, IRK_VAR)->id;
        walk_variable(m, at, var);
        if (m->var[var]) add(m, turns, at, false);
    }
}

/* turns: after which the value needs to come round; 0: it is used as it is. */
static void walk(Moduli *m, uint32_t at, const IrArg *arg, int64_t turns)
{
    Verifier *v = m->v;
    if (arg == NULL || arg->kind != IRA_VAL) return;
    Walked *w = &m->walked[arg->id - 1];
    uint32_t index = v->def[arg->id - 1];
    const IrOp *op = v->ops[index];
    if (!run_pure(op)) {
        walk_leaf(m, at, op, index, turns);
        return;
    }
    if (turns == 0 ? w->plain : w->turns && w->turns % turns == 0) return;
    if (turns == 0) w->plain = true;
    else w->turns = turns = w->turns ? modulus_joint(w->turns, turns) : turns;
    int64_t in = modulus_within(v, op, turns);
    walk(m, at, ir_find(op, IRK_A), in);
    walk(m, at, ir_find(op, IRK_B), in);
    walk(m, at, ir_find(op, IRK_COND), 0);
}

/* ---- rings ---- */

static uint32_t slots_of(const Verifier *v, const IrArg *of)
{
    return of->kind == IRA_BAR ? v->k->bars.v[of->id].slots : v->k->bufs.v[of->id].slots;
}

/* The variable that the operand is, or its other parity; UINT32_MAX: none. */
static uint32_t variable_of(const Verifier *v, const IrArg *arg)
{
    const IrOp *op = arg && arg->kind == IRA_VAL ? v->ops[v->def[arg->id - 1]] : NULL;
    if (op && op->op == IR_XOR) return variable_of(v, ir_find(op, IRK_A));
    return op && op->op == IR_GET ? ir_find(op, IRK_VAR)->id : UINT32_MAX;
}

/* x + 1 == n ? 0 : x + 1 of variable x; stepped: its x + 1 */
static bool steps_round(const Verifier *v, const IrOp *set, const IrOp **stepped, int64_t *n)
{
    const IrOp *pick = verify_def(v, ir_find(set, IRK_A)), *by = pick ? verify_def(v, ir_find(pick, IRK_COND)) : NULL;
    int64_t k;
    if (set->guard.pred || by == NULL || pick->op != IR_SEL || by->op != IR_CMP || ir_find(by, IRK_REL)->id != IRL_EQ)
        return false;
    const IrOp *next = *stepped = verify_def(v, ir_find(pick, IRK_B));
    return next && next->op == IR_ADD && verify_def(v, ir_find(by, IRK_A)) == next && verify_number(v, ir_find(by, IRK_B), n) &&
           verify_number(v, ir_find(pick, IRK_A), &k) && k == 0 && verify_number(v, ir_find(next, IRK_B), &k) && k == 1 &&
           variable_of(v, ir_find(next, IRK_A)) == ir_find(set, IRK_VAR)->id;
}

/* Wherever it is a slot, it is one of so many. */
static bool only_slots(const Verifier *v, const IrOp *op, uint32_t var, int64_t n)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        const IrArg *a = &op->args[i];
        if (a->kind != IRA_BAR && a->kind != IRA_BUF) continue;
        if (variable_of(v, ir_part(op, a, IRK_SLOT)) == var && slots_of(v, a) != n) return false;
    }
    return true;
}

/* Each time that the variable is set it goes on by one of so many slots, and it is a slot of so many wherever it is one. Two
 * that turn one ring and come round at different places would drift apart slowly, in more turns than the runs have. */
static bool steps_slots(const Verifier *v, uint32_t var, uint32_t slots)
{
    const IrOp *stepped;
    int64_t n;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        bool set = op->op == IR_SET && v->operands[i].var == var;
        if (set && !(steps_round(v, op, &stepped, &n) && n == slots)) return false;
        if (!only_slots(v, op, var, slots)) return false;
    }
    return true;
}

/* Only the compiler uses its barriers: by counters. */
static void find_counters(Moduli *m, const IrOp *op)
{
    const Verifier *v = m->v;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const IrArg *a = &op->args[i];
        if (a->kind != IRA_BAR || !v->k->bars.v[a->id].derived) continue;
        uint32_t slot = variable_of(v, ir_part(op, a, IRK_SLOT)), phase = variable_of(v, ir_find(op, IRK_PHASE));
        if (slot != UINT32_MAX && steps_slots(v, slot, slots_of(v, a))) m->counter[slot] = true;
        if (phase != UINT32_MAX) m->counter[phase] = true;
    }
}

static void find_rings(Moduli *m, uint32_t at)
{
    Verifier *v = m->v;
    const IrOp *op = v->ops[at];
    for (uint32_t i = 0; op->op != IR_BAR_INIT && i < op->nargs; i++) {
        const IrArg *a = &op->args[i];
        bool bar = a->kind == IRA_BAR;
        if (!bar && a->kind != IRA_BUF) continue;
        uint32_t slots = slots_of(v, a), var = variable_of(v, ir_part(op, a, IRK_SLOT));
        bool made = bar && !v->k->bars.v[a->id].derived, turned = var != UINT32_MAX && m->counter[var];
        v->fixed |= made;
        if (slots == 1 || (turned && !made)) continue;
        v->fixed = true;
        add(m, slots, at, true);
    }
}

/* ---- all of a kernel ---- */

static void walk_guard(Moduli *m, uint32_t at)
{
    const IrOp *op = m->v->ops[at];
    if (op->guard.pred) walk(m, at, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred}, 0);
}

/* What has to be a number in the runs, as tries/period.c says. */
static void walk_numbers(Moduli *m, uint32_t at)
{
    const IrOp *op = m->v->ops[at];
    IrGroup group = (IrGroup)m->v->group[at];
    bool copies = group == IRG_COPY || group == IRG_THREAD;
    for (uint32_t i = 0; (copies || group == IRG_BARRIER) && i < op->nargs; i++) {
        IrKey key = (IrKey)op->args[i].key;
        if (key == IRK_SLOT || key == IRK_PHASE || key == IRK_RANK || key == IRK_MASK || key == IRK_BAR_RANK || key == IRK_OFFSET)
            walk(m, at, &op->args[i], 0);
    }
}

static void walk_sync(Moduli *m, uint32_t at)
{
    IrGroup group = (IrGroup)m->v->group[at];
    if (group == IRG_BARRIER || group == IRG_SYNC || group == IRG_GROUP || group == IRG_FENCE) walk_guard(m, at);
}

static void walk_conditions(Moduli *m, uint32_t at)
{
    const IrOp *op = m->v->ops[at];
    IrGroup group = (IrGroup)m->v->group[at];
    if (group == IRG_COPY || group == IRG_THREAD) walk_guard(m, at);
    if (op->op == IR_IF || op->op == IR_BREAK) walk(m, at, ir_find(op, IRK_COND), 0);
    if (op->op == IR_LOOP) {
        walk(m, at, ir_find(op, IRK_A), 0);
        walk(m, at, ir_find(op, IRK_B), 0);
    }
    for (uint32_t i = 0; (group == IRG_COPY || group == IRG_BARRIER) && i < op->nargs; i++)
        if (op->args[i].key == IRK_BYTES) walk(m, at, &op->args[i], 0);
}

/* "4 (slots), 5 and 7" */
static const char *parts_text(const Moduli *m, uint32_t n)
{
    const char *text = "";
    for (uint32_t i = 0; i < n; i++) {
        const char *sep = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        text = arena_printf(m->v->arena, "%s%s%lld%s", text, sep, (long long)m->all.v[i].turns,
                            m->all.v[i].slots ? " (slots)" : "");
    }
    return text;
}

/* The first `musts` have to fit. */
static void join_all(Moduli *m, uint32_t musts)
{
    Verifier *v = m->v;
    for (uint32_t i = 0; i < m->all.n; i++) {
        int64_t joint = modulus_joint(v->joint, m->all.v[i].turns);
        if (joint <= PERIOD_MAX) v->joint = (uint32_t)joint;
        if (joint <= PERIOD_MAX || i >= musts || v->few) continue;
        verify_refuse(v, E0660, m->all.v[i].op,
                      "slots, parities and conditions come round after %s turns, all together after %lld: more than %d "
                      "are not tried",
                      parts_text(m, i + 1), (long long)joint, PERIOD_MAX);
        return;
    }
}

/* S is at least the period. */
static void fit_ring(Verifier *v)
{
    uint32_t least = v->slots > v->joint ? v->slots : v->joint;
    v->ring = v->base = v->few ? v->slots : v->conditional ? 2 * least : least;
}

bool moduli_longer(Verifier *v, int64_t turns)
{
    int64_t joint = modulus_joint(v->joint, turns);
    if (joint == v->joint) return false;
    if (joint > PERIOD_MAX) {
        verify_refuse(v, E0660, v->nops,
                      "variables that slots and conditions are made from come back to values that they had after %lld "
                      "turns: more than %d are not tried",
                      (long long)joint, PERIOD_MAX);
        return false;
    }
    v->joint = (uint32_t)joint;
    fit_ring(v);
    return true;
}

void moduli_prepare(Verifier *v)
{
    Moduli m = {.v = v, .follow = true};
    m.walked = arena_array(v->arena, Walked, v->nvalues);
    m.counter = v->counter = arena_array(v->arena, bool, v->k->vars.n);
    m.var = arena_array(v->arena, bool, v->k->vars.n);
    v->unlike = arena_array(v->arena, Unlike, v->nops + 1);
    v->joint = 1;
    for (uint32_t i = 0; i < v->nops; i++) find_counters(&m, v->ops[i]);
    for (uint32_t i = 0; i < v->nops; i++) find_rings(&m, i);
    for (uint32_t i = 0; i < v->nops; i++) walk_numbers(&m, i);
    for (uint32_t i = 0; i < v->nops; i++) walk_sync(&m, i);
    uint32_t musts = m.all.n;
    m.follow = false;
    for (uint32_t i = 0; i < v->nops; i++) walk_conditions(&m, i);
    for (uint32_t i = 0; i < v->k->vars.n; i++) v->fixed |= m.var[i];
    join_all(&m, musts);
    fit_ring(v);
}
