/* From the trip counts that were tried to all of them.
 *
 * Tried are 0, 1, 2, S - 1, S, S + 1 and 2 S + 1 turns, or all up to that where slots are fixed, S the most slots of a
 * ring, and at least the turns after which all that steers comes round together (tries/moduli.c). What makes longer loops
 * nothing new:
 * - Slots and parities are periodic. They are made from variables that the turns set and from the loop's index. A
 *   variable's next value depends on such variables alone (or on the index modulo a constant that comes round within
 *   2 S turns, or on comparisons of it that the runs decide). Those that are made from each other are a circle; in a run each
 *   circle comes back to values that it had, so it goes round for ever: from the first turn on that no condition tells apart or,
 *   as `last = s`, from one of the next few, and those in front are turns that a condition tells apart (tries/compare.c). Those of the program come back
 *   all at once, where the moduli of indices do: the runs are made again with as many turns. Where a loop steps them by an index, the
 *   turns of those around are steps of their own and come back, too, with each number of its turns; so they are where its turns are not all alike. Index and parity meet only under %
 *   or & by a constant; an index that is a slot as it is would leave the ring in the longer runs and was refused there.
 * - A condition that steers synchronisation or copies compares a turn with an end of the loop (`k + c < n`), with a
 *   constant that the runs reach, or a remainder: the turns of the longest run meet it in every way that there is, also
 *   together with others (tries/compare.c). Or the runs leave open whether it holds.
 * - Where a loop begins by what the launch or data say, each remainder of its first turn is tried (tries/remainders.c): nothing else of
 *   that number enters slots and parities.
 * - A variable whose bit s is the parity of the waits so far on slot s of a barrier, also of waits under conditions, says
 *   the right parity however often the loop runs; what it was made from need not come round.
 * - Where barriers are used under conditions, S is twice as large, and large enough that 2 S + 1 turns hold a window without
 *   the first and the last turns in which any conditions differ, with turns of each remainder (tries/compare.c). Conditions that CTA and launch alone decide are the same in all turns.
 * - So the graph of n turns, n > 2 S + 1, is that of 2 S + 1 turns with turns like the middle ones put in. Waits, groups
 *   and slots reach at most S turns back or ahead (a phase of a slot is waited for before the next one of that slot
 *   begins: unroll/barriers.c). Each pair of accesses that could be a race, and each phase, has all that orders it
 *   within a window of 2 S + 1 turns, and every window is one of those seen. More turns only add order.
 *   Roles may turn at different rates: what is put in is of each loop as many whole periods as go together.
 * - No longer loop gets stuck: a cycle that needs more than the tried turns would have edges between turns whose
 *   distances, each loop's at its rate, sum up to 0; judge/cycles.c looks for those.
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { FIRST_MAX = 4, STRAY }; /* turns of a loop in front of those in which its variables go round */

typedef struct Start { /* of a loop, by a thread: what variables held */
    Form *early[FIRST_MAX + 1]; /* at one of the first turns of those that no condition tells apart, .. */
    uint8_t again; /* .. to which it came back, a bit each */
    bool joint;    /* it came back to the first, with the moduli of indices */
} Start;
struct Period {
    uint8_t *relevant; /* by variable: slots, parities or conditions of synchronisation depend on it */
    uint64_t *circle; /* by relevant variable: those that are made from each other go round together: a bit of each */
    uint64_t *sets;  /* by op that opens a loop: circles with a variable that it sets */
    int64_t needed;   /* turns after which all came back that the program turns */
    uint32_t *first, *later; /* by op: the turn of a loop, of those, from which on they do; one that it is instead, STRAY: none within 2 S turns */
    bool *mixed;     /* by op: within it a loop steps them by an index */
    bool *within;    /* by op: a loop of few turns in every launch, whose steps are those of the loops around */
    uint32_t *loop;  /* by op: loops that set relevant variables are numbered from 1 */
    uint32_t loops;
    Start *starts; /* by thread and loop */
    uint32_t raw;  /* op that uses an index as it is where that is not periodic, + 1 */
};

/* ---- indices as they are ---- */

/* With what it meets in the operand an index has to come round: then it does within the turns that the runs have. As a slot it may be
 * as it is: it leaves the ring, and the runs see that. Where turns are left out in a place or number of bytes, which minima and maxima
 * clip: those are held open. */
static void use(Verifier *v, uint32_t at, const IrArg *arg, IrKey key)
{
    if (arg == NULL || arg->kind != IRA_VAL) return;
    const Round *r = &v->rounds[arg->id - 1];
    const Operands *o = &v->operands[v->def[arg->id - 1]];
    const IrOp *op = verify_def(v, arg);
    if (round_returns(r) || !(r->loops & v->turning) || (key == IRK_SLOT && r->turns == 1)) return;
    if (key == IRK_A && (op->op == IR_SEL || (op->type == IR_PRED && op->op != IR_CMP)) && o->pure) { /* steps of a variable that some turns leave out */
        use(v, at, o->a, key);
        use(v, at, o->b, key);
        use(v, at, o->cond, key);
        return;
    }
    if (key == IRK_A && op->op == IR_CMP && compare_known(v, v->def[arg->id - 1])) return;
    bool amount = key == IRK_OFFSET || key == IRK_ALONG || key == IRK_BYTES;
    if (amount && (op->op == IR_MIN || op->op == IR_MAX || op->type == IR_PRED)) return;
    if (amount && o->pure) {
        use(v, at, o->a, key);
        use(v, at, o->b, key);
    } else {
        v->period->raw = at + 1;
    }
}

/* What a variable that counts waits says, whatever the slot is made from. */
static bool says_parity(const Verifier *v, const IrArg *arg)
{
    const IrOp *op = verify_def(v, arg);
    for (int i = 0; i < 2 && op && (op->op == IR_AND || op->op == IR_SHR); i++) op = verify_def(v, ir_find(op, IRK_A));
    return op && op->op == IR_GET && v->parity[ir_find(op, IRK_VAR)->id];
}

static void use_operands(Verifier *v, uint32_t at)
{
    const IrOp *op = v->ops[at];
    bool set = op->op == IR_SET || op->op == IR_VAR;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (cones_number(v, at, (IrKey)op->args[i].key) && !says_parity(v, &op->args[i])) use(v, at, &op->args[i], (IrKey)op->args[i].key);
    if (!set || !v->period->relevant[v->operands[at].var] || v->parity[v->operands[at].var]) return;
    use(v, at, v->operands[at].a, IRK_A);
    if (op->guard.pred) use(v, at, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred}, IRK_A);
}

/* ---- circles: variables that are made from each other ---- */

static void find_circles(Verifier *v)
{
    struct Period *p = v->period;
    uint32_t n = v->k->vars.n;
    for (uint32_t i = 0; i < n; i++)
        if (p->relevant[i] && !v->parity[i]) p->circle[i] = v->variable_bit[i];
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        uint64_t all = op->op == IR_SET ? p->circle[v->operands[i].var] : 0;
        if (all == 0) continue;
        all |= round_of_arg(v, v->operands[i].a).vars;
        if (op->guard.pred) all |= v->rounds[op->guard.pred - 1].vars;
        for (uint32_t j = 0; j < n; j++)
            if (p->circle[j] & all) all |= p->circle[j];
        for (uint32_t j = 0; j < n; j++)
            if (p->circle[j] & all) p->circle[j] = all;
    }
}

/* ---- variables that count waits ---- */

static bool number_is(const Verifier *v, const IrArg *arg, int64_t k)
{
    int64_t x = 0;
    return verify_number(v, arg, &x) && x == k;
}

static bool same_slot(const IrArg *a, const IrArg *b)
{
    bool zero_a = a == NULL || (a->kind == IRA_IMM && a->imm == 0), zero_b = b == NULL || (b->kind == IRA_IMM && b->imm == 0);
    if (zero_a || zero_b) return zero_a && zero_b;
    return a->kind == b->kind && (a->kind == IRA_IMM ? a->imm == b->imm : a->id == b->id);
}

/* 1 << slot */
static bool bit_of(const Verifier *v, const IrArg *arg, const IrArg *slot)
{
    const IrOp *op = verify_def(v, arg);
    if (op && op->op == IR_SHL) return number_is(v, ir_find(op, IRK_A), 1) && same_slot(ir_find(op, IRK_B), slot);
    bool constant = slot == NULL || (slot->kind == IRA_IMM && slot->imm >= 0 && slot->imm < 32);
    return constant && number_is(v, arg, slot ? (int64_t)((uint32_t)1 << slot->imm) : 1);
}

/* old >> slot & 1 */
static bool parity_of(const Verifier *v, const IrArg *arg, IrVal old, const IrArg *slot)
{
    const IrOp *op = verify_def(v, arg);
    if (op == NULL || op->op != IR_AND || !number_is(v, ir_find(op, IRK_B), 1)) return false;
    const IrArg *a = ir_find(op, IRK_A);
    const IrOp *shifted = verify_def(v, a);
    if (a->kind == IRA_VAL && a->id == old) return same_slot(NULL, slot);
    const IrArg *x = shifted && shifted->op == IR_SHR ? ir_find(shifted, IRK_A) : NULL;
    return x && x->kind == IRA_VAL && x->id == old && same_slot(ir_find(shifted, IRK_B), slot);
}

/* `old = get x; set x = old ^ 1 << slot; bar.wait b[slot], old >> slot & 1`, set and wait under one guard, with scalars in
 * between and nothing else. */
static bool counts_wait(const Verifier *v, uint32_t at, uint32_t var, int64_t *bar)
{
    const IrOp *set = v->ops[at], *next = verify_def(v, ir_find(set, IRK_A));
    if (next == NULL || next->op != IR_XOR) return false;
    const IrArg *old = ir_find(next, IRK_A);
    const IrOp *get = verify_def(v, old);
    if (get == NULL || get->op != IR_GET || ir_find(get, IRK_VAR)->id != var) return false;
    const Body *b = verify_body(v, at);
    uint32_t wait = at + 1;
    while (wait < b->end && v->group[wait] == IRG_SCALAR && v->ops[wait]->op != IR_SET) wait++;
    if (wait >= b->end || v->ops[wait]->op != IR_BAR_WAIT || v->ops[wait]->guard.pred != set->guard.pred) return false;
    for (uint32_t i = v->def[old->id - 1]; i < at; i++)
        if (v->group[i] != IRG_SCALAR || v->ops[i]->op == IR_SET) return false;
    const IrArg *of = ir_find(v->ops[wait], IRK_BAR), *slot = ir_part(v->ops[wait], of, IRK_SLOT);
    if (*bar >= 0 && *bar != of->id) return false;
    *bar = of->id;
    return bit_of(v, ir_find(next, IRK_B), slot) && parity_of(v, ir_find(v->ops[wait], IRK_PHASE), old->id, slot);
}

/* Of each variable whether all waits of a role for a barrier are counted in it. */
void period_parities(Verifier *v)
{
    typedef struct Counted {
        int64_t bar;
        uint32_t sets;
        const Body *body; /* of the last of them */
        bool otherwise;
    } Counted;
    uint32_t nvars = v->k->vars.n, nbars = v->k->bars.n;
    Counted *by = arena_array(v->arena, Counted, nvars);
    uint32_t *waits = arena_array(v->arena, uint32_t, arena_bytes(v->bodies.n, nbars)); /* by body and barrier */
    v->parity = arena_array(v->arena, bool, nvars);
    for (uint32_t i = 0; i < nvars; i++) by[i].bar = -1;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        const Body *body = verify_body(v, i);
        if (op->op == IR_BAR_WAIT) waits[(size_t)(body - v->bodies.v) * nbars + ir_find(op, IRK_BAR)->id]++;
        if (op->op != IR_SET) continue;
        uint32_t var = ir_find(op, IRK_VAR)->id;
        Counted *c = &by[var];
        if (!c->otherwise && !counts_wait(v, i, var, &c->bar)) c->otherwise = true;
        c->body = body;
        c->sets++;
    }
    for (uint32_t i = 0; i < nvars; i++)
        v->parity[i] = by[i].sets && !by[i].otherwise && by[i].sets == waits[(size_t)(by[i].body - v->bodies.v) * nbars + (size_t)by[i].bar];
}

bool period_steps(const Verifier *v, uint32_t loop)
{
    return v->period->sets[loop] != 0;
}

bool period_mixed(const Verifier *v, uint32_t loop)
{
    return v->period->mixed[loop];
}

/* ---- preparation ---- */

/* The loop's turns are not all the same step on the circles: what they make together, a turn of the loop around, is one of its own. */
static bool by_index(const Verifier *v, uint32_t loop)
{
    uint64_t loops = 0;
    for (uint32_t i = loop + 1; i < v->partner[loop]; i++) {
        const IrOp *op = v->ops[i];
        if (op->op != IR_SET || !v->period->circle[v->operands[i].var]) continue;
        loops |= round_of_arg(v, v->operands[i].a).loops;
        if (op->guard.pred) loops |= v->rounds[op->guard.pred - 1].loops;
    }
    return loops != 0;
}

/* Each turn of the loop in `around` is the same step on the circle, and the same turn otherwise: it comes back by itself, and those around are
 * alike. Not so where something meets what it steps with its index or those of loops beside it. */
static bool alike(const Verifier *v, uint32_t around, uint32_t loop)
{
    uint64_t steps = 0, within = 0;
    bool all = !v->period->within[loop];
    for (uint32_t i = around + 1; i < v->partner[around]; i++) {
        within |= v->loop_bit[i];
        if (v->ops[i]->op == IR_SET && i > loop && i < v->partner[loop]) steps |= v->period->circle[v->operands[i].var];
    }
    for (uint32_t i = around + 1; i < v->partner[around] && steps && all; i++) {
        bool steers = v->ops[i]->dst && v->cone[i] & (CONE_SYNC | CONE_PLACE | CONE_STEERS);
        const Round *r = steers ? &v->rounds[v->ops[i]->dst - 1] : NULL;
        all = r == NULL || !(i > loop && i < v->partner[loop] ? r->loops & v->loop_bit[loop] : r->vars & steps && r->loops & within);
    }
    return all;
}

void period_prepare(Verifier *v)
{
    bool *within = v->period ? v->period->within : arena_array(v->arena, bool, v->nops);
    uint32_t *first = v->period ? v->period->first : arena_array(v->arena, uint32_t, v->nops + 1);
    struct Period *p = v->period = arena_new(v->arena, struct Period);
    p->within = within;
    p->first = first;
    p->later = arena_array(v->arena, uint32_t, v->nops + 1);
    p->needed = v->joint;
    p->relevant = arena_array(v->arena, uint8_t, v->k->vars.n);
    p->circle = arena_array(v->arena, uint64_t, v->k->vars.n);
    p->sets = arena_array(v->arena, uint64_t, v->nops);
    p->loop = arena_array(v->arena, uint32_t, v->nops);
    p->mixed = arena_array(v->arena, bool, v->nops);
    for (uint32_t i = 0; i < v->k->vars.n; i++) p->relevant[i] = v->cone_of_variable[i] & CONE_SYNC;
    find_circles(v);
    for (uint32_t i = 0; i < v->nops; i++) {
        if (v->ops[i]->op != IR_LOOP) continue;
        for (uint32_t j = i + 1; j < v->partner[i]; j++) {
            if (v->ops[j]->op == IR_SET) p->sets[i] |= p->circle[v->operands[j].var];
            if (!loop_own_count(v, j)) continue;
            if (by_index(v, j)) p->mixed[i] = v->uneven = true;
            else if (alike(v, i, j)) j = v->partner[j];
        }
        if (!v->few && nests_coupled(v, i)) p->mixed[i] = v->uneven = true;
        if (p->sets[i]) p->loop[i] = ++p->loops;
    }
}

/* Sums over the turns that neither slots nor parities are made from stand for any value: longer loops reach more. */
static void forget_sums(Verifier *v, uint32_t loop)
{
    if (!v->chosen[loop]) return;
    for (uint32_t i = loop + 1; i < v->partner[loop]; i++) {
        uint32_t var = v->operands[i].var;
        int64_t k;
        if (v->ops[i]->op != IR_SET || v->period->relevant[var]) continue;
        if (form_is_const(&v->f, v->now->vars[var].x, &k)) run_forget(v, var);
    }
}

/* Loops within this one take different numbers of turns, so its own need not come round. Runs in which they take the
 * same number are judged. */
static bool uneven(const Verifier *v, uint32_t loop)
{
    for (uint32_t i = 0; i < v->choices.n; i++) {
        const Choice *c = &v->choices.v[i], *owner = c->owner == UINT32_MAX ? NULL : &v->choices.v[c->owner];
        if (owner && owner->at >= owner->n && owner->op != loop) return true;
    }
    return false;
}

static bool came_back(Verifier *v, uint32_t var, Form held)
{
    Form now = v->now->vars[var].x;
    int64_t more;
    if (now == held) return true;
    return v->counting[var] && form_is_const(&v->f, form_add(&v->f, now, -1, held), &more) && more % v->counting[var] == 0;
}

/* Do circles of the loop hold now what they held then? */
static bool holds(Verifier *v, uint64_t sets, const Form *then)
{
    bool same = true;
    for (uint32_t i = 0; i < v->k->vars.n && same; i++)
        same = !(v->period->circle[i] & sets) || came_back(v, i, then[i]);
    return same;
}

static void keep(Verifier *v, Form **held)
{
    if (*held == NULL) *held = arena_array(&v->run, Form, v->k->vars.n);
    for (uint32_t i = 0; i < v->k->vars.n; i++) (*held)[i] = v->now->vars[i].x;
}

/* Variables may come to where they go round in a few turns: `last = s` has what it began with never again. */
void period_turn(Verifier *v, const Frame *fr)
{
    struct Period *p = v->period;
    if (fr->at > 0) forget_sums(v, fr->op);
    uint32_t loop = p->loop[fr->op], first = p->first[fr->op], later = first + 1;
    if (loop == 0 || v->few) return;
    Start *s = &p->starts[v->now->id * p->loops + loop - 1];
    uint64_t sets = p->sets[fr->op];
    int64_t at = fr->at - v->unlike[fr->op].front + first, turns = at - first;
    if (fr->at == 0) s->again = 0, s->joint = false;
    if (at < 0 || s->joint) return;
    for (int64_t i = first + 1; i < at && i <= FIRST_MAX; i++)
        if (holds(v, sets, s->early[i])) s->again |= (uint8_t)(1 << i);
    if (at <= FIRST_MAX) keep(v, &s->early[at]);
    if (turns <= 0) return;
    if (turns % (int64_t)v->joint == 0 && holds(v, sets, s->early[first])) {
        s->joint = true;
        p->needed = rounds_joint(p->needed, turns);
    }
    if (s->joint || fr->at != 2 * (int64_t)v->ring || uneven(v, fr->op)) return;
    while (later < STRAY && !(s->again >> later & 1)) later++;
    if (later > p->later[fr->op]) p->later[fr->op] = later;
}

void period_begin(Verifier *v)
{
    v->period->starts = arena_array(&v->run, Start, (size_t)v->threads.n * v->period->loops);
}

void period_check(Verifier *v)
{
    const struct Period *p = v->period;
    for (uint32_t i = 0; i < v->nops; i++) use_operands(v, i);
    if (p->raw) {
        verify_refuse(v, E0660, p->raw - 1, "a slot, parity or CTA that depends on a loop's index otherwise than by %% or & of a small number");
        return;
    }
    nests_check(v);
    for (uint32_t i = 0; i < v->nops && !v->failed; i++) {
        if (!v->chosen[i] || p->later[i] != STRAY) continue;
        Diag *g = verify_refuse(
            v, E0660, i,
            "the variables that slots and parities are made from don't come back to values that they had within %u turns",
            2 * v->ring);
        if (g) diag_fix(v->diags, g, "let them go round as the ring does: `at = (at + 1) %% slots`");
    }
}

static void prepare_again(Verifier *v)
{
    period_prepare(v);
    compare_prepare(v);
}

bool period_longer(Verifier *v)
{
    const struct Period *p = v->period;
    bool later = false;
    for (uint32_t i = 0; i < v->nops && !v->failed; i++)
        if (v->chosen[i] && p->later[i]) p->first[i] = p->later[i], later = true;
    if (v->failed || (!moduli_longer(v, v->period->needed) && !later)) return false;
    prepare_again(v);
    return !v->failed;
}

uint32_t period_first(const Verifier *v, uint32_t loop)
{
    return v->period->first[loop];
}

bool period_wider(Verifier *v)
{
    struct Period *p = v->period;
    bool more = false;
    for (uint32_t i = 0; i < v->nops && !v->failed; i++) {
        bool judged = v->turns[i].most > 2 * (int64_t)v->ring;
        if (!p->sets[i] || judged || p->within[i] || !loop_own_count(v, i)) continue;
        more = p->within[i] = true;
    }
    if (more) prepare_again(v);
    return more;
}
