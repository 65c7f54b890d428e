/* The ops that open and close blocks, in a run: loops, turn by turn or as one burst; repeats that run time ends; conditions
 * around copies, both ways.
 */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

Frame *block_push(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    Frame *fr = &t->frames[t->depth++];
    *fr = (Frame){.op = op, .guard = t->guard, .known = v->f.known.n, .facts = v->f.facts.n};
    return fr;
}

/* An index without what was chosen, in what is held open (tries/compare.c): longer loops may have that otherwise, in any of their turns, so
 * nothing is known of it but its bounds. That of two turns is one value where both are the same turns of like loops: then it is equal in
 * every launch, and so is what equal expressions make of it. Numbers of a run don't count: in few turns they may be equal where those
 * of longer loops are not. 0: not known. */
static Form open_index(Verifier *v, uint32_t loop, Form turn)
{
    Form lo = run_whole(v, v->operands[loop].a).plain, hi = run_whole(v, v->operands[loop].b).plain;
    if (lo == 0 || hi == 0) return 0;
    int64_t first = form_data(&v->f, lo)->lo, last = form_data(&v->f, hi)->hi;
    if (last == first + 1) return form_const(&v->f, first);
    return form_atom(&v->f, (FormAtom){.kind = ATOM_OPEN,
                                       .type = v->ops[loop]->type,
                                       .a = turn,
                                       .b = lo,
                                       .c = hi,
                                       .lo = first,
                                       .hi = last == INT64_MAX || last == INT64_MIN ? INT64_MAX : last - 1});
}

static void set_index(Verifier *v, const Frame *fr)
{
    const IrOp *op = v->ops[fr->op];
    if (op->dst == 0) return;
    int64_t middle = v->front + (fr->past - v->front - v->end) / 2;
    Form at = form_add(&v->f, fr->first, 1, form_const(&v->f, fr->at < middle ? fr->at : fr->at + fr->left_out));
    Form plain = v->chosen[fr->op] ? open_index(v, fr->op, at) : at; /* if it is not chosen each run has all turns */
    v->now->value[op->dst - 1] = (Value){at, plain};
}

/* Nothing of the time before is kept when the block is entered again, nor of the turn before. */
static void forget_values(Verifier *v, uint32_t op)
{
    for (uint32_t i = op + 1; i < v->partner[op]; i++)
        if (v->ops[i]->dst) v->now->value[v->ops[i]->dst - 1].x = 0;
}

/* How many turns: the index is lo + turn, also where lo is no number. */
static bool turns_of(Verifier *v, uint32_t op, Form lo, Form hi, int64_t *turns)
{
    Form count = form_add(&v->f, v->is_long[op] ? constants_end(v, op) : hi, -1, lo);
    bool trip = false;
    int64_t n;
    count = choice_resolve(v, form_simplify(&v->f, count), &trip);
    if (count == 0) {
        verify_refuse(v, E0660, op, "how often this loop runs can't be followed");
        return false;
    }
    if (!form_is_const(&v->f, count, &n)) {
        choice_add(v, op, count);
        return false;
    }
    if (trip) v->chosen[op] = 1;
    *turns = n > 0 ? n : 0;
    return true;
}

static void enter_loop(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    bool lanes = o->op == IR_LANES;
    Form lo = lanes ? form_const(&v->f, 0) : run_value(v, v->operands[op].a),
         hi = lanes ? form_const(&v->f, ir_find(o, IRK_N)->imm) : run_value(v, v->operands[op].b);
    int64_t turns = 0;
    if (form_data(&v->f, lo)->wild || form_data(&v->f, hi)->wild) {
        Diag *g = verify_refuse(v, E0660, op, "how often this loop runs, and whether under a condition, depends on a division by what may be 0: nothing shows that it ends");
        if (g) diag_fix(v->diags, g, "divide by the maximum of that and 1, or let `where` say of a size that it is at least 1");
        return;
    }
    forget_values(v, op);
    if (!(v->block[op] & (BLOCK_EVENTS | BLOCK_PICKS))) {
        burst_enter(v, op, lo, hi);
        return;
    }
    if (!turns_of(v, op, lo, hi, &turns)) return;
    if (!lanes && (run_by_trip(v, v->operands[op].a) || run_by_trip(v, v->operands[op].b))) v->chosen[op] = 1;
    if (!lanes) turns_loop(v, op, turns);
    if (v->again) return;
    uint32_t pass = v->now->times[op]++;
    if (turns == 0) {
        v->now->pc = v->partner[op];
        return;
    }
    Frame *fr = block_push(v, op);
    fr->first = lo;
    fr->past = turns;
    fr->pass = pass;
    if (v->is_long[op]) fr->left_out = v->operands[op].b->imm - v->operands[op].a->imm - turns;
    set_index(v, fr);
    period_turn(v, fr);
}

/* What is drawn ends a repeat, in all roles after as many turns: that it does shows the tree that the roles are made of (verify/tree/draws.c). */
static void enter_repeat(Verifier *v, uint32_t op)
{
    Form turns = form_atom(&v->f, (FormAtom){.kind = ATOM_TURNS, .type = IR_I64, .b = v->now->times[op], .lo = 0, .hi = INT64_MAX});
    int64_t k;
    bool trip = false;
    if (!v->few) {
        verify_refuse(v, E0660, op, "what is drawn ends this loop, which is proved of derived schedules alone");
        return;
    }
    if (!form_is_const(&v->f, choice_resolve(v, turns, &trip), &k)) {
        choice_add(v, op, turns);
        return;
    }
    Frame *fr = block_push(v, op);
    fr->pass = v->now->times[op]++;
    fr->past = k;
    v->chosen[op] = 1;
    forget_values(v, op);
}

static void enter_if(Verifier *v, uint32_t op)
{
    if (v->block[op] & BLOCK_EVENTS) {
        verify_refuse(v, E0660, op, "synchronisation inside an `if`: it takes a guard of its own");
        return;
    }
    Form x = run_value(v, ir_find(v->ops[op], IRK_COND));
    int64_t k;
    bool known = form_is_const(&v->f, x, &k), has_else = v->ops[v->partner[op]]->op == IR_ELSE;
    if (known && !k) v->now->pc = v->partner[op];
    if (known && !k && !has_else) return;
    Frame *fr = block_push(v, op);
    if (known) return;
    fr->burst = true; /* both ways */
    fr->first = x;
    form_assume(&v->f, x);
    v->now->guard = form_guard(&v->f, fr->guard, x);
}

/* What is known since the block began is not any more. */
static void forget_known(Verifier *v, const Frame *fr)
{
    v->f.known.n = fr->known;
    v->f.facts.n = fr->facts;
}

static void at_else(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    const Frame *fr = &t->frames[t->depth - 1];
    if (!fr->burst) { /* the condition held */
        t->depth--;
        t->pc = v->partner[op];
        return;
    }
    forget_known(v, fr);
    Form other = form_not(&v->f, fr->first);
    form_assume(&v->f, other);
    t->guard = form_guard(&v->f, fr->guard, other);
}

static void at_end(Verifier *v)
{
    Thread *t = v->now;
    Frame *fr = &t->frames[t->depth - 1];
    IrOpcode op = (IrOpcode)v->ops[fr->op]->op;
    if (op != IR_IF && !fr->burst && (++fr->at < fr->past || op == IR_REPEAT)) {
        forget_values(v, fr->op);
        set_index(v, fr);
        period_turn(v, fr);
        t->pc = fr->op;
        return;
    }
    if (fr->burst && op != IR_IF) burst_leave(v, fr);
    if (fr->burst) {
        forget_known(v, fr);
        t->guard = fr->guard;
    }
    t->depth--;
    if (t->sums.n) burst_flush(v);
}

/* A repeat is left where its condition holds; where that is not known, in the turn that was chosen to be the last one, and then it is, in
 * other roles, too. */
static void step_break(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    const Frame *fr = &t->frames[t->depth - 1];
    Form x = run_value(v, ir_find(v->ops[op], IRK_COND));
    int64_t k;
    Known is;
    bool known = form_is_const(&v->f, x, &k), last = known ? k != 0 : fr->at >= fr->past;
    if (!known && form_is_pred(&v->f, x, &is)) vec_push(v->arena, &v->f.known, ((Known){is.atom, is.value == last}));
    if (!last && fr->at > fr->past) verify_refuse(v, E0660, op, "this loop goes on for longer than elsewhere");
    if (!last) return;
    t->depth--;
    t->pc = v->partner[fr->op];
}

void block_step(Verifier *v, uint32_t op)
{
    switch ((IrOpcode)v->ops[op]->op) {
    case IR_LOOP:
    case IR_LANES: enter_loop(v, op); break;
    case IR_REPEAT: enter_repeat(v, op); break;
    case IR_BREAK: step_break(v, op); break;
    case IR_IF: enter_if(v, op); break;
    case IR_ELSE: at_else(v, op); break;
    default: at_end(v); break;
    }
}
