/* The verifier: walks the ops of a kernel's role once, loops until their invariant is found, and proves at each op
 * that what it needs holds. What is proved and how values are compared: verify_parts.h.
 *
 * What it leaves to others: that two stores in flight to places of global memory that are neither certainly equal nor
 * certainly different do not collide is rule G's business, which sees the program.
 */
#include <string.h>

#include <stdarg.h>

#include "lower/verify_parts.h"

enum { BUDGET = 400000, VALUE_DEPTH = 200 };

/* ---- reports ---- */

/* The statement of the op; ops that the compiler adds have none and take that of the next op that has one. */
Span verify_place(const Verifier *v, uint32_t op)
{
    for (uint32_t i = op; i < v->nops; i++)
        if (v->ops[i].span.hi) return v->ops[i].span;
    for (uint32_t i = op < v->nops ? op : v->nops; i-- > 0;)
        if (v->ops[i].span.hi) return v->ops[i].span;
    return v->k->span;
}

Diag *verify_refuse(Verifier *v, ErrorCode code, uint32_t op, const char *fmt, ...)
{
    if (v->failed) return NULL;
    v->failed = true;
    va_list ap;
    va_start(ap, fmt);
    Text t;
    text_init(&t, v->arena->mem);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    const char *kept = arena_strdup(v->arena, t.s, t.n);
    text_free(&t);
    Diag *g = diag_at(v->diags, code, verify_place(v, op), "%s", kept);
    if (op < v->nops && v->ops[op].span.hi == 0)
        diag_note(v->diags, g, (Span){0, 0}, "at an op that the compiler added near here: %s", verify_op_text(v, op));
    return g;
}

void verify_also(Verifier *v, Diag *g, uint32_t op, const char *text)
{
    if (g) diag_label(v->diags, g, verify_place(v, op), "%s (%s)", text, verify_op_text(v, op));
}

const char *verify_op_text(const Verifier *v, uint32_t op)
{
    return op < v->nops ? ir_op_info(v->ops[op].op)->text : "the end";
}

const char *verify_line(Verifier *v, uint32_t op)
{
    Span s = v->ops[op].span;
    const char *path;
    uint32_t line, col;
    if (s.hi == 0 || v->diags->sources == NULL) return arena_printf(v->arena, "op %u", op);
    source_place(v->diags->sources, s.lo, &path, &line, &col);
    return arena_printf(v->arena, "line %u", line);
}

const char *verify_bar_name(Verifier *v, uint32_t slot)
{
    uint32_t b = 0;
    while (b + 1 < v->k->bars.n && v->bar_base[b + 1] <= slot) b++;
    const IrBar *bar = &v->k->bars.v[b];
    return bar->slots == 1 ? bar->name : arena_printf(v->arena, "%s[%u]", bar->name, slot - v->bar_base[b]);
}

const char *verify_form_text(Verifier *v, Form x)
{
    int64_t k;
    if (x == 0) return "(not known)";
    if (form_is_const(&v->f, x, &k)) return arena_printf(v->arena, "%lld", (long long)k);
    const FormData *d = form_data(&v->f, x);
    bool bounded = d->lo != INT64_MIN && d->hi != INT64_MAX;
    return bounded ? arena_printf(v->arena, "(%lld to %lld at run time)", (long long)d->lo, (long long)d->hi)
                   : "(known at run time)";
}

void verify_proved(Verifier *v, const char *fmt, ...)
{
    if (v->certificate == NULL || v->failed) return;
    va_list ap;
    va_start(ap, fmt);
    text_lit(v->certificate, "; proved: ");
    text_vprintf(v->certificate, fmt, ap);
    text_char(v->certificate, '\n');
    va_end(ap);
}

/* ---- values ---- */

static Form value_at(Verifier *v, const IrArg *arg, int depth);

static Form value_of_op(Verifier *v, uint32_t index, int depth)
{
    const IrOp *op = &v->ops[index];
    bool pure = ir_op_info(op->op)->group == IRG_SCALAR && op->op != IR_GET && op->op != IR_LOADS &&
                op->op != IR_GADDR && op->op != IR_ZADDR;
    if (!pure || depth == 0) return form_type_range(&v->f, ATOM_LEAF, (IrType)op->type, index, 0, index + 1);
    const IrArg *cond = ir_find(op, IRK_COND), *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    return form_of_op(&v->f, v->k, op, index, cond ? value_at(v, cond, depth - 1) : 0,
                      a ? value_at(v, a, depth - 1) : 0, b ? value_at(v, b, depth - 1) : 0);
}

static Form value_at(Verifier *v, const IrArg *arg, int depth)
{
    if (arg->kind != IRA_VAL) return form_const(&v->f, arg->imm);
    Form *known = &v->value[arg->id - 1];
    if (*known == 0) {
        Form x = value_of_op(v, v->def[arg->id - 1], depth);
        v->value[arg->id - 1] = x;
        return x;
    }
    return *known;
}

Form verify_value(Verifier *v, const IrArg *arg)
{
    return value_at(v, arg, VALUE_DEPTH);
}

/* ---- barriers ---- */

/* Whether an op that can't depend on data happens; a guard that is not certain is reported. */
static bool happens(Verifier *v, uint32_t op)
{
    if (v->ops[op].guard == 0) return true;
    Form g = verify_guard(v, op);
    if (form_is(&v->f, g, 0)) return false;
    if (!form_is(&v->f, g, 1))
        verify_refuse(v, E0608, op, "%s happens under a condition: what follows would depend on it",
                      verify_op_text(v, op));
    return !v->failed;
}

static bool usable(Verifier *v, uint32_t op, uint32_t slot)
{
    if (v->s.bars[slot].initialised) return true;
    verify_refuse(v, E0653, op, "barrier %s is used before its bar.init", verify_bar_name(v, slot));
    return false;
}

static void step_init(Verifier *v, uint32_t op, uint32_t slot)
{
    BarState *b = &v->s.bars[slot];
    int64_t count = ir_find(&v->ops[op], IRK_COUNT_)->imm;
    if (count < 1 || count > (1 << 20) - 1) {
        verify_refuse(v, E0604, op, "barrier %s is initialised for %lld arrivals; a phase has 1 to 1048575",
                      verify_bar_name(v, slot), (long long)count);
        return;
    }
    *b = (BarState){.parity = form_const(&v->f, 0),
                    .expected = form_const(&v->f, 0),
                    .delivered = form_const(&v->f, 0),
                    .count = (uint32_t)count,
                    .initialised = true,
                    .unfenced = true,
                    .op = op};
}

static void step_arrive(Verifier *v, uint32_t op, uint32_t slot)
{
    BarState *b = &v->s.bars[slot];
    if (b->arrivals < b->count) {
        b->arrivals++;
        b->op = op;
        return;
    }
    Diag *g = state_bar_complete(v, b)
                  ? verify_refuse(
                        v, E0611, op,
                        "this arrival counts on a new phase of barrier %s, but nothing has waited for the last one",
                        verify_bar_name(v, slot))
                  : verify_refuse(v, E0604, op, "one arrival too many: barrier %s has all %u of its phase",
                                  verify_bar_name(v, slot), b->count);
    verify_also(v, g, b->op, "the last before");
}

static void step_expect(Verifier *v, uint32_t op, uint32_t slot, Form guard)
{
    BarState *b = &v->s.bars[slot];
    Form bytes = form_simplify(&v->f, verify_value(v, ir_find(&v->ops[op], IRK_BYTES)));
    if (b->arrivals == b->count) {
        Diag *g = verify_refuse(v, E0655, op,
                                "barrier %s is told to expect bytes when all arrivals are made: its phase may be over",
                                verify_bar_name(v, slot));
        verify_also(v, g, b->op, "the last arrival");
        return;
    }
    if (!form_nonneg(&v->f, bytes)) {
        verify_refuse(v, E0605, op, "the bytes that barrier %s expects are not certain to be at least 0",
                      verify_bar_name(v, slot));
        return;
    }
    b->expected = form_add(&v->f, b->expected, 1, form_guard(&v->f, guard, bytes));
    b->op = op;
    verify_tx(v, op, slot);
}

static void never_completes(Verifier *v, uint32_t op, uint32_t slot)
{
    BarState *b = &v->s.bars[slot];
    Diag *g;
    if (b->arrivals == 0 && form_is(&v->f, b->expected, 0) && form_is(&v->f, b->delivered, 0)) {
        g = verify_refuse(v, E0607, op,
                          "nothing completes the phase of barrier %s that is waited for: the kernel would hang",
                          verify_bar_name(v, slot));
        verify_also(v, g, b->op, "the last that happened to it");
    } else if (b->arrivals < b->count) {
        g = verify_refuse(v, E0604, op, "barrier %s has %u of the %u arrivals of its phase: the kernel would hang",
                          verify_bar_name(v, slot), b->arrivals, b->count);
        verify_also(v, g, b->op, "the last that happened to it");
    } else {
        Form open = form_simplify(&v->f, form_add(&v->f, b->expected, -1, b->delivered));
        g = verify_refuse(v, E0605, op, "barrier %s expects %s bytes and the copies on it bring %s; %s are missing",
                          verify_bar_name(v, slot), verify_form_text(v, b->expected), verify_form_text(v, b->delivered),
                          verify_form_text(v, open));
        verify_also(v, g, b->op, "the last that counts on it");
    }
}

static void step_wait(Verifier *v, uint32_t op, uint32_t slot)
{
    Forms *f = &v->f;
    BarState *b = &v->s.bars[slot];
    Form phase = verify_value(v, ir_find(&v->ops[op], IRK_PHASE));
    bool now = phase == b->parity || form_simplify(f, phase) == form_simplify(f, b->parity);
    if (!now || b->parity == 0) {
        bool last = b->parity && form_simplify(f, phase) == form_simplify(f, form_not(f, b->parity));
        bool idle = b->arrivals == 0 && form_is(f, b->expected, 0) && form_is(f, b->delivered, 0);
        if (last && idle) return; /* the phase before is over: passes at once */
        Diag *g = verify_refuse(v, E0656, op, "barrier %s is waited for with parity %s; its phase has %s",
                                verify_bar_name(v, slot), verify_form_text(v, phase), verify_form_text(v, b->parity));
        verify_also(v, g, b->op, "the last that happened to it");
        return;
    }
    if (!state_bar_complete(v, b)) {
        never_completes(v, op, slot);
        return;
    }
    if (v->certificate)
        verify_proved(v,
                      "%s: phase %s is complete at bar.wait (%s): arrivals %u of %u, %s bytes expected and delivered",
                      verify_bar_name(v, slot), verify_form_text(v, phase), verify_line(v, op), b->arrivals, b->count,
                      verify_form_text(v, b->expected));
    b->parity = form_not(f, b->parity);
    b->arrivals = 0;
    b->expected = b->delivered = form_const(f, 0);
    b->op = op;
    for (uint32_t i = 0; i < v->s.writes.n; i++)
        if (v->s.writes.v[i].bar == (int32_t)slot) v->s.writes.v[i].bar = ARRIVED;
}

static void step_barrier(Verifier *v, uint32_t op)
{
    uint32_t slot;
    IrOpcode code = (IrOpcode)v->ops[op].op;
    if (!verify_bar_slot(v, op, &slot)) return;
    if (code == IR_BAR_INIT) {
        step_init(v, op, slot);
        return;
    }
    if (!usable(v, op, slot) || (code != IR_BAR_EXPECT && !happens(v, op))) return;
    if (code == IR_BAR_WAIT) step_wait(v, op, slot);
    if (code == IR_BAR_EXPECT) step_expect(v, op, slot, verify_guard(v, op));
    /* PTX ISA, mbarrier.arrive.expect_tx: the expect comes first, then the arrival. */
    if (code == IR_BAR_ARRIVE_EXPECT && v->s.bars[slot].arrivals < v->s.bars[slot].count)
        step_expect(v, op, slot, form_const(&v->f, 1));
    if ((code == IR_BAR_ARRIVE_EXPECT || code == IR_BAR_ARRIVE) && !v->failed) step_arrive(v, op, slot);
}

/* ---- groups and fences ---- */

static void step_group(Verifier *v, uint32_t op)
{
    State *s = &v->s;
    if (!happens(v, op)) return;
    if (v->ops[op].op == IR_GRP_COMMIT) {
        for (uint32_t i = 0; i < s->reads.n; i++)
            if (s->reads.v[i].age < AGE_MAX) s->reads.v[i].age++;
        return;
    }
    int64_t newest = ir_find(&v->ops[op], IRK_N)->imm;
    bool full = ir_find(&v->ops[op], IRK_HOW)->id == IRH_FULL;
    if (newest < 0) verify_refuse(v, E0614, op, "a wait for all but %lld groups", (long long)newest);
    for (uint32_t i = s->reads.n; i-- > 0;) {
        Read *r = &s->reads.v[i];
        if (r->age <= newest) continue;
        if (r->reading && v->certificate) vec_push(v->arena, &v->retired, *r);
        r->reading = false;
        if (full) {
            s->unfenced |= r->tensors;
            r->tensors = 0;
        }
        if (r->tensors == 0) s->reads.v[i] = s->reads.v[--s->reads.n];
    }
}

static void step_fence(Verifier *v, uint32_t op)
{
    if (!happens(v, op)) return;
    if (v->ops[op].op == IR_FENCE_MBAR_INIT)
        for (uint32_t i = 0; i < v->nslots; i++) v->s.bars[i].unfenced = false;
    else if (ir_find(&v->ops[op], IRK_SPACE)->id == IRS_GLOBAL) v->s.unfenced = 0;
}

/* ---- the walk ---- */

static void step_scalar(Verifier *v, uint32_t op)
{
    const IrOp *o = &v->ops[op];
    if (o->op == IR_GET) {
        v->value[o->dst - 1] = v->s.vars[ir_find(o, IRK_VAR)->id];
        if (v->value[o->dst - 1] == 0)
            v->value[o->dst - 1] = form_type_range(&v->f, ATOM_LEAF, (IrType)o->type, op, 0, op + 1);
    } else if (o->op == IR_VAR || o->op == IR_SET) {
        Form *var = &v->s.vars[ir_find(o, IRK_VAR)->id], now = verify_value(v, ir_find(o, IRK_A));
        *var = o->guard ? form_pick(&v->f, verify_guard(v, op), now, *var) : now;
    } else if (o->dst) {
        v->value[o->dst - 1] = 0; /* worked out when needed */
        if (o->op == IR_LOADS) {
            uint32_t tensor = ir_find(o, IRK_TENSOR)->id;
            if ((v->stored >> (tensor < 63 ? tensor : 63)) & 1)
                verify_refuse(v, E0706, op, "tensor %s is read as a scalar and written by a store of this kernel",
                              v->k->mf.tensors.v[tensor].name);
        }
    }
}

static void walk_if(Verifier *v, uint32_t op)
{
    Forms *f = &v->f;
    uint32_t middle = v->partner[op], end = v->ops[middle].op == IR_ELSE ? v->partner[middle] : middle;
    Form cond = form_simplify(f, verify_value(v, ir_find(&v->ops[op], IRK_COND)));
    int64_t k;
    if (form_is_const(f, cond, &k)) {
        if (k) verify_walk(v, op + 1, middle);
        else if (middle != end) verify_walk(v, middle + 1, end);
        return;
    }
    uint32_t known = f->known.n, facts = f->facts.n;
    State entry = state_copy(v->arena, &v->s, v);
    form_assume(f, cond);
    verify_walk(v, op + 1, middle);
    f->known.n = known;
    f->facts.n = facts;
    State then = v->s;
    v->s = entry;
    if (middle != end) {
        form_assume(f, form_not(f, cond));
        verify_walk(v, middle + 1, end);
        f->known.n = known;
        f->facts.n = facts;
    }
    if (v->failed) return;
    state_join(v, op, cond, &then, &v->s);
    v->s = then;
}

void verify_walk(Verifier *v, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && !v->failed; i++) {
        const IrOp *op = &v->ops[i];
        if (v->budget-- == 0) {
            verify_refuse(v, E0660, i, "the kernel has too many loops in loops, or too long ones, to be proved");
            return;
        }
        if (op->op == IR_LOOP || op->op == IR_IF) {
            if (op->op == IR_LOOP) verify_loop(v, i);
            else walk_if(v, i);
            i = v->partner[i];
            if (v->ops[i].op == IR_ELSE) i = v->partner[i];
            continue;
        }
        switch ((IrGroup)ir_op_info(op->op)->group) {
        case IRG_SCALAR: step_scalar(v, i); break;
        case IRG_BARRIER: step_barrier(v, i); break;
        case IRG_GROUP: step_group(v, i); break;
        case IRG_FENCE: step_fence(v, i); break;
        case IRG_COPY: verify_copy(v, i); break;
        case IRG_CONTROL:
        case IRG_SYNC:
        case IRG_THREAD:
        case IRG_KERNEL: break;
        }
    }
}

static void check_end(Verifier *v)
{
    for (uint32_t i = 0; i < v->s.writes.n; i++) {
        const Write *w = &v->s.writes.v[i];
        if (w->bar == ARRIVED) continue;
        verify_refuse(v, E0650, w->op,
                      "the kernel ends while this copy may still be writing %s: nothing waits for barrier %s",
                      v->k->bufs.v[w->at.buf].name, verify_bar_name(v, (uint32_t)w->bar));
    }
    for (uint32_t i = 0; i < v->s.reads.n; i++) {
        const Read *r = &v->s.reads.v[i];
        if (r->reading)
            verify_refuse(v, E0624, r->op, "the kernel ends while this store may still read %s: %s",
                          v->k->bufs.v[r->at.buf].name,
                          r->age ? "no grp.wait covers its group" : "it is not even committed to a group");
    }
    if (!v->failed) verify_proved(v, "no copy is in flight at the end of the kernel");
}

/* Where each value is defined, each block ends, and which tensors copies read and write. */
static void prepare(Verifier *v)
{
    uint32_t depth = 0, *open = arena_array(v->arena, uint32_t, v->nops + 1);
    v->def = arena_array(v->arena, uint32_t, v->k->value_types.n);
    v->value = arena_array(v->arena, Form, v->k->value_types.n);
    v->partner = arena_array(v->arena, uint32_t, v->nops);
    v->bar_base = arena_array(v->arena, uint32_t, v->k->bars.n);
    for (uint32_t i = 0; i < v->k->bars.n; i++) {
        v->bar_base[i] = v->nslots;
        v->nslots += v->k->bars.v[i].slots;
    }
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = &v->ops[i];
        if (op->dst) v->def[op->dst - 1] = i;
        if (op->op == IR_ELSE || op->op == IR_END) v->partner[open[--depth]] = i;
        if (op->op == IR_LOOP || op->op == IR_IF || op->op == IR_ELSE) open[depth++] = i;
        const IrArg *map = ir_find(op, IRK_MAP);
        uint32_t tensor = map ? v->k->mf.maps.v[map->id].tensor : 0;
        uint64_t bit = map ? UINT64_C(1) << (tensor < 63 ? tensor : 63) : UINT64_MAX;
        if (op->op == IR_TMA_LOAD || op->op == IR_BLK_LOAD) v->loaded |= bit;
        if (op->op == IR_TMA_STORE) v->stored |= bit;
        if (op->op == IR_BLK_STORE) v->stored |= verify_address(v, ir_find(op, IRK_TO), 8);
    }
    v->s.vars = arena_array(v->arena, Form, v->k->vars.n);
    v->s.bars = arena_array(v->arena, BarState, v->nslots);
    Form zero = form_const(&v->f, 0);
    for (uint32_t i = 0; i < v->nslots; i++)
        v->s.bars[i] = (BarState){.parity = zero, .expected = zero, .delivered = zero};
}

static void verify(Verifier *v)
{
    const char *malformed = ir_check(v->arena, v->k);
    if (malformed) {
        verify_refuse(v, E0662, UINT32_MAX, "%s", malformed);
        return;
    }
    if (v->k->roles.n == 0) return;
    v->role = &v->k->roles.v[0];
    v->ops = v->role->ops.v;
    v->nops = v->role->ops.n;
    if (v->k->roles.n > 1 || !v->role->elect) {
        verify_refuse(v, E0660, 0, "this version proves kernels of one role with one thread");
        return;
    }
    forms_init(&v->f, v->arena);
    prepare(v);
    verify_walk(v, 0, v->nops);
    if (!v->failed) check_end(v);
}

bool ir_verify(Arena *a, Diags *d, const IrModule *m, const IrKernel *k, Text *certificate)
{
    (void)m;
    ArenaMark mark = arena_mark(a);
    Verifier *v = arena_new(a, Verifier);
    *v = (Verifier){.arena = a, .diags = d, .k = k, .certificate = certificate, .budget = BUDGET};
    verify(v);
    bool ok = !v->failed;
    /* The line table, too, may have been made in `a` meanwhile. */
    if (d->arena != a && (d->sources == NULL || d->sources->arena != a)) arena_release(a, mark);
    return ok;
}
