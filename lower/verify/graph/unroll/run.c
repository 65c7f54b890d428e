/* One unrolling: the bodies of all threads of all CTAs run side by side, each until it has to wait, until all are done or
 * nobody can go on. Values are forms; what steers the run (slots, parities, trip counts, conditions of
 * synchronisation) has to be a number. Which of the schedules is run does not matter: see unroll/barriers.c.
 */
#include "lang/lang.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

enum { VALUE_DEPTH = 200, REPS = 3 /* threads that stand for a role of several */ };

uint32_t run_act(const Verifier *v)
{
    const Thread *t = v->now;
    return ((t->rank * v->k->roles.n + t->role) << 22 | (t->acts & 0x3fffff)) + 1;
}

static Shared *shared_act(Verifier *v)
{
    const Thread *t = v->now;
    Acts *acts = &v->acts[t->rank * v->k->roles.n + t->role];
    while (acts->n <= t->acts) vec_push(&v->run, acts, (Shared){0});
    return &acts->v[t->acts];
}

bool run_shared(Verifier *v, uint32_t **clock)
{
    const Thread *t = v->now;
    Shared *s = shared_act(v);
    if (s->clock == NULL) s->clock = verify_clock_copy(v, t->clock);
    for (uint32_t i = 0; i < v->threads.n; i++)
        if (t->clock[i] < s->clock[i]) s->clock[i] = t->clock[i];
    *clock = s->clock;
    return ++s->n == REPS;
}

bool run_agreed(Verifier *v, Form x)
{
    Shared *s = shared_act(v);
    if (s->n++ == 0) s->agreed = x;
    return s->agreed == x;
}

/* ---- values ---- */

static Value worked_out(Verifier *v, uint32_t value, int depth);

static inline Value value_at(Verifier *v, const IrArg *arg, int depth)
{
    if (arg == NULL) return (Value){0};
    if (arg->kind != IRA_VAL) return value_of(form_const(&v->f, arg->imm));
    Value x = v->now->value[arg->id - 1];
    return x.x ? x : worked_out(v, arg->id, depth);
}

bool run_by_trip(const Verifier *v, const IrArg *arg)
{
    return arg && arg->kind == IRA_VAL && value_by_trip(v->now->value[arg->id - 1]);
}

/* The n-th value that the op (or, from nops on, a loop that forgets a variable) makes. In runs that differ in the turns of
 * loops within one, the turns of that one find the same values, and what was chosen for them. */
static void place_leaf(Verifier *v, uint32_t op)
{
    v->f.here[0] = op;
    v->f.here[1] = v->now->id;
    v->f.here[2] = v->now->made[op]++;
}

bool run_happens(Verifier *v, uint32_t op)
{
    Form guard = run_guard(v, op);
    if (form_is(&v->f, guard, 1)) return true;
    if (form_is(&v->f, guard, 0) || (v->group[op] == IRG_BARRIER && choice_guard(v, op, guard))) return false;
    verify_refuse(v, E0608, op, "%s happens under a condition: what follows would depend on it", verify_op_text(v, op));
    return false;
}

bool run_pure(const IrOp *op)
{
    return ir_op_info(op->op)->group == IRG_SCALAR && op->op != IR_GET && op->op != IR_LOADS && op->op != IR_GADDR &&
           op->op != IR_ZADDR && op->op != IR_TC_DESC && op->op != IR_TICKET && op->op != IR_VAR && op->op != IR_SET;
}

static Value resolved(Verifier *v, Value a)
{
    if (v->choices.n == 0 || form_data(&v->f, a.x)->n == 0) return a;
    Resolved *r = &v->resolved[a.x % RESOLVED];
    if (r->x != a.x || r->unrolling != v->unrollings) {
        *r = (Resolved){.x = a.x, .unrolling = v->unrollings};
        r->y = choice_resolve(v, a.x, &r->by_trip);
    }
    return value_by_trip(a) || r->by_trip ? (Value){r->y, a.plain} : value_of(r->y);
}

/* The operand, from its op alone, is not 0. */
static bool known_not_zero(Verifier *v, const IrArg *x)
{
    if (x->kind != IRA_VAL) return x->imm != 0;
    uint32_t def = v->def[x->id - 1];
    const IrOp *op = v->ops[def];
    if (op->op == IR_CONST) return ir_find(op, IRK_A)->imm != 0;
    if (op->op == IR_CVT) return known_not_zero(v, v->operands[def].a);
    return op->op == IR_PARAM && form_not_zero(&v->f, v->k, run_result(v, def, 0, 0, 0));
}

void run_prepare(Verifier *v)
{
    v->f.divisors = ir_launch_divisors(v->arena, &v->k->mf);
    for (uint32_t i = 0; i < v->nops && !v->f.wild; i++)
        v->f.wild = (v->ops[i]->op == IR_DIV || v->ops[i]->op == IR_MOD) && !known_not_zero(v, v->operands[i].b);
}

/* Equal forms give equal results, but for new values and what differs from CTA to CTA. */
Form run_result(Verifier *v, uint32_t index, Form cond, Form a, Form b)
{
    const IrOp *op = v->ops[index];
    if (op->op == IR_SREG) return form_of_op(&v->f, v->k, op, cond, a, b);
    Memo m = {WORK_OP + index, a, b, cond, 0};
    if (form_recall(&v->f, &m)) return m.z;
    uint32_t leaves = v->f.leaves;
    Form x = form_of_op(&v->f, v->k, op, cond, a, b);
    return leaves == v->f.leaves ? form_keep(&v->f, m, x) : x;
}

static bool never(const Verifier *v, Value x) /* whatever is chosen */
{
    return form_is(&v->f, x.x, 0) && !value_by_trip(x);
}

/* Where all is known of which it is made, and that makes no new value. Only what steers is asked for. */
static Form plain_result(Verifier *v, uint32_t index, Value c, Value a, Value b)
{
    const Operands *o = &v->operands[index];
    if (!(v->cone[index] & CONE_STEERS)) return 0;
    if ((o->cond && c.plain == 0) || (o->a && a.plain == 0) || (o->b && b.plain == 0)) return 0;
    uint32_t leaves = v->f.leaves;
    Form x = run_result(v, index, c.plain, a.plain, b.plain);
    return leaves == v->f.leaves ? x : 0;
}

/* What longer loops may have otherwise, in any of their turns: as it is without what was chosen. */
static Value held_open(Verifier *v, uint32_t index, Form plain)
{
    Form x = plain ? plain : form_leaf(&v->f, (IrType)v->ops[index]->type);
    if (form_data(&v->f, x)->n) v->met_open = index + 1;
    return value_of(x);
}

/* The operand of 32 bits is a loop's index, which lies within the bounds of the loop whatever its first turn and a number of turns add
 * up to. */
static bool index_fits(Verifier *v, const IrArg *arg)
{
    const IrOp *loop = verify_def(v, arg);
    if (loop == NULL || loop->op != IR_LOOP) return false;
    const Operands *o = &v->operands[v->def[arg->id - 1]];
    Form lo = run_whole(v, o->a).x, hi = run_whole(v, o->b).x;
    return lo && hi && form_data(&v->f, lo)->lo >= INT32_MIN && form_data(&v->f, hi)->hi <= INT64_C(1) + INT32_MAX;
}

static Value result_of(Verifier *v, uint32_t index, int depth)
{
    const IrOp *op = v->ops[index];
    const Operands *o = &v->operands[index];
    Value c = value_at(v, o->cond, depth - 1), a = value_at(v, o->a, depth - 1), b = value_at(v, o->b, depth - 1);
    int64_t k;
    place_leaf(v, index);
    bool trip = value_by_trip(c) || value_by_trip(a) || value_by_trip(b);
    if (op->op == IR_AND && (never(v, a) || never(v, b))) trip = false;
    Form x = op->op == IR_CVT && a.x && index_fits(v, o->a) ? a.x : run_result(v, index, c.x, a.x, b.x);
    if (!trip) return value_of(x);
    Form plain = plain_result(v, index, c, a, b);
    bool open = v->open[index] && form_is_const(&v->f, a.x, &k) && form_is_const(&v->f, b.x, &k);
    return open ? held_open(v, index, plain) : (Value){x, plain};
}

/* A new value at the place of the op. wild: it may come from a division by 0, where the kernel has any. */
static Form new_value(Verifier *v, uint32_t index, bool wild)
{
    bool any = v->f.wild;
    place_leaf(v, index);
    v->f.wild = any && wild;
    Form x = form_leaf(&v->f, (IrType)v->ops[index]->type);
    v->f.wild = any;
    return x;
}

static Value worked_out(Verifier *v, uint32_t value, int depth)
{
    uint32_t op = v->def[value - 1];
    bool pure = v->operands[op].pure;
    Value x = pure && depth ? result_of(v, op, depth) : value_of(new_value(v, op, pure));
    return v->now->value[value - 1] = resolved(v, x);
}

Value run_whole(Verifier *v, const IrArg *arg)
{
    return value_at(v, arg, VALUE_DEPTH);
}

Value run_value_at(Verifier *v, const IrArg *arg)
{
    Value x = value_at(v, arg, VALUE_DEPTH);
    Form here = form_simplify(&v->f, x.x);
    return value_by_trip(x) ? (Value){here, 0} : value_of(here);
}

Form run_value(Verifier *v, const IrArg *arg)
{
    return form_simplify(&v->f, value_at(v, arg, VALUE_DEPTH).x);
}

bool run_decided(Verifier *v, uint32_t op, const IrArg *arg, int64_t *k)
{
    Form x = run_value(v, arg);
    return form_is_const(&v->f, x, k) || remainders_try(v, op, x);
}

bool run_number(Verifier *v, uint32_t op, const IrArg *arg, const char *what, int64_t *k)
{
    if (run_decided(v, op, arg, k)) return !v->again;
    verify_refuse(v, E0660, op, "%s of this %s is known only at run time", what, verify_op_text(v, op));
    return false;
}

bool run_rank(Verifier *v, uint32_t op, uint32_t *rank)
{
    const IrArg *to = verify_arg(v, op, IRK_RANK);
    int64_t k = v->now->rank;
    if (to && !run_number(v, op, to, "the CTA", &k)) return false;
    if (k < 0 || k >= v->nranks) verify_refuse(v, E0658, op, "CTA %lld of a cluster of %u", (long long)k, v->nranks);
    *rank = (uint32_t)k;
    return !v->failed;
}

Form run_guarded(Verifier *v, uint32_t op)
{
    IrVal g = v->ops[op]->guard.pred;
    IrArg arg = {.kind = IRA_VAL, .id = g};
    return form_guard(&v->f, v->now->guard, run_value(v, &arg));
}

void run_forget(Verifier *v, uint32_t var)
{
    place_leaf(v, v->nops + var);
    v->now->vars[var] = value_of(form_leaf(&v->f, (IrType)v->k->vars.v[var].type));
}

static void define(Verifier *v, IrVal value, Value x)
{
    v->now->value[value - 1] = resolved(v, x);
}

static void load_scalar(Verifier *v, const IrOp *op, uint32_t index)
{
    uint32_t tensor = ir_find(op, IRK_TENSOR)->id;
    if ((v->stored >> (tensor < 63 ? tensor : 63)) & 1)
        verify_refuse(v, E0706, index, "tensor %s is read as a scalar and written by a store of this kernel",
                      v->k->mf.tensors.v[tensor].name);
    Form byte = run_value(v, ir_find(op, IRK_BYTE)), guard = run_guard(v, index);
    if (guard == 0) return;
    Interval r = ir_range_of_type((ElemType)v->k->mf.tensors.v[tensor].type);
    if (!form_is(&v->f, guard, 1) && r.lo > -1) r.lo = -1;
    FormAtom x = {.kind = ATOM_LOAD, .type = op->type, .a = tensor, .b = byte, .c = guard, .lo = r.lo, .hi = r.hi};
    define(v, op->dst, value_of(form_atom(&v->f, x)));
}

Form run_answer(Verifier *v, IrType type, uint32_t index, int64_t lo, int64_t hi)
{
    place_leaf(v, index);
    const uint32_t *here = v->f.here;
    return form_atom(
        &v->f,
        (FormAtom){.kind = ATOM_LEAF, .type = (uint8_t)type, .a = here[0], .b = here[1], .c = here[2], .lo = lo, .hi = hi});
}

/* Where the guard is false nothing is drawn, and the value is -1. */
static void step_ticket(Verifier *v, const IrOp *op, uint32_t index)
{
    const IrArg *count = ir_find(op, IRK_B);
    Form n = run_whole(v, count).plain, guard = run_guard(v, index);
    if (form_is(&v->f, guard, 0)) {
        define(v, op->dst, value_of(form_const(&v->f, -1)));
        return;
    }
    int64_t most = n ? form_data(&v->f, n)->hi : INT64_MAX;
    define(v, op->dst, value_of(run_answer(v, (IrType)op->type, index, 0, most < UINT32_MAX ? most : UINT32_MAX))); /* it has 32 bits */
}

static void step_scalar(Verifier *v, uint32_t index)
{
    const IrOp *op = v->ops[index];
    Thread *t = v->now;
    if (op->op == IR_GET) {
        uint32_t var = v->operands[index].var;
        place_leaf(v, index);
        Value x = t->vars[var].x ? t->vars[var] : value_of(form_leaf(&v->f, (IrType)op->type));
        define(v, op->dst, x);
    } else if (op->op == IR_VAR || op->op == IR_SET) {
        uint32_t var = v->operands[index].var;
        Value now = run_value_at(v, v->operands[index].a), old = t->vars[var];
        Form guard = run_guard(v, index);
        bool always = form_is(&v->f, guard, 1), trip = value_by_trip(now) || (!always && value_by_trip(old));
        if (op->guard.pred) trip |= run_by_trip(v, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred});
        if (!always) now.x = form_pick(&v->f, guard, now.x, old.x);
        t->vars[var] = (Value){now.x, trip ? 0 : now.x};
    } else if (op->op == IR_LOADS) {
        load_scalar(v, op, index);
    } else if (op->op == IR_TICKET) {
        step_ticket(v, op, index);
    } else if (op->dst) {
        t->value[op->dst - 1].x = 0; /* worked out when needed */
    }
}

/* ---- threads ---- */

static bool takes_part(const Verifier *v, const IrOp *op)
{
    const Thread *t = v->now;
    if (!op->elect) return true;
    bool role = t->body > 0 && t->body + 1 < v->bodies.n;
    return t->rep == 0 && (role || t->role == 0);
}

void run_step(Verifier *v)
{
    uint32_t op = v->now->pc;
    const IrOp *o = v->ops[op];
    if (!takes_part(v, o)) {
        if (o->dst) v->now->value[o->dst - 1].x = 0;
        return;
    }
    switch ((IrGroup)v->group[op]) {
    case IRG_CONTROL: block_step(v, op); break;
    case IRG_SCALAR: step_scalar(v, op); break;
    case IRG_BARRIER: barrier_step(v, op); break;
    case IRG_SYNC: sync_step(v, op); break;
    case IRG_GROUP:
    case IRG_FENCE: group_step(v, op); break;
    case IRG_COPY: copy_step(v, op); break;
    case IRG_RING: break; /* roles have none */
    case IRG_THREAD: thread_step(v, op); break;
    case IRG_KERNEL: tensor_kernel_step(v, op); break;
    }
}

/* The next body of the thread, which is at the end of this one. */
static void next_body(Verifier *v)
{
    Thread *t = v->now;
    if (t->body + 1 == v->bodies.n) {
        event_new(v, v->nops);
        t->block = ENDED;
        return;
    }
    t->body = t->body == 0 ? 1 + t->role : v->bodies.n - 1;
    t->pc = v->bodies.v[t->body].first;
}

/* Until it has to wait: then its op is tried again the next time. Whether it has done anything. */
static bool run_thread(Verifier *v, Thread *t)
{
    bool on = t->block == RUNS;
    v->now = t;
    v->f.sreg = v->sreg[t->rank];
    while (t->block != ENDED && !verify_stopped(v)) {
        uint32_t end = v->bodies.v[t->body].end;
        if (t->pc < end) t->pc = v->next[t->pc];
        if (t->pc >= end) {
            next_body(v);
            continue;
        }
        if (t->block == RUNS) verify_spend(v, 1);
        if (v->failed) break;
        run_step(v);
        if (t->block != RUNS || verify_stopped(v)) break;
        t->pc++;
        on = true;
    }
    return on;
}

static uint32_t count_threads(const Verifier *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->k->roles.n; i++) n += v->k->roles.v[i].elect ? 1 : REPS;
    return n * v->nranks;
}

static void make_threads(Verifier *v)
{
    const IrKernel *k = v->k;
    uint32_t n = count_threads(v);
    v->threads.v = arena_array(&v->run, Thread, n);
    v->threads.cap = n;
    if (n > v->frames_room) {
        v->frames = arena_array(v->arena, Frame, (size_t)n * v->deepest);
        v->frames_room = n;
    }
    for (uint32_t rank = 0; rank < v->nranks; rank++) {
        for (uint32_t role = 0; role < k->roles.n; role++) {
            const IrRole *r = &k->roles.v[role];
            uint32_t reps = r->elect ? 1 : REPS, all = r->elect ? 1 : r->warps * 32;
            for (uint32_t rep = 0; rep < reps; rep++) {
                Thread *t = vec_add(&v->run, &v->threads);
                *t = (Thread){.id = v->threads.n - 1, .rank = rank, .role = role, .rep = rep};
                t->copies = rep && rep + 1 == reps ? all - rep : 1;
                t->guard = form_const(&v->f, 1);
            }
        }
    }
    for (uint32_t i = 0; i < v->threads.n; i++) {
        Thread *t = &v->threads.v[i];
        t->frames = v->frames + (size_t)i * v->deepest;
        t->value = arena_array(&v->run, Value, v->nvalues);
        t->vars = arena_array(&v->run, Value, k->vars.n);
        t->times = arena_array(&v->run, uint32_t, v->nops);
        t->made = arena_array(&v->run, uint32_t, v->nops + k->vars.n);
        t->clock = arena_array(&v->run, uint32_t, v->threads.n);
    }
}

void run_kernel(Verifier *v)
{
    verify_clear(v);
    v->unrollings++;
    v->f.known.n = v->f.facts.n = 0;
    v->bars = arena_array(&v->run, BarSlot, (size_t)v->nslots * v->nranks);
    v->acts = arena_array(&v->run, Acts, (size_t)v->k->roles.n * v->nranks);
    v->tensor_alloc = arena_array(&v->run, EventId, v->nranks);
    v->tensor_free = arena_array(&v->run, EventId, v->nranks);
    make_threads(v);
    period_begin(v);
    turns_begin(v);
    launches_begin(v);
    bool on = true, ended = false;
    while (on && !verify_stopped(v)) {
        on = false;
        ended = true;
        for (uint32_t i = 0; i < v->threads.n && !verify_stopped(v); i++) {
            on |= run_thread(v, &v->threads.v[i]);
            ended &= v->threads.v[i].block == ENDED;
        }
    }
    find_ends(v);
    if (!ended && !verify_stopped(v)) report_stuck(v);
}
