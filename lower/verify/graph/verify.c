/* The verifier: proves from the final IR alone that a kernel never hangs, races or reads what has not arrived. How, says
 * verifier.h.
 */
#include <stdarg.h>
#include <string.h>

#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"
#include "lower/verify/verify.h"

enum { BUDGET = 32000000, BUDGET_OP = 60000, RUNS_MAX = 6000, RUNS_FEW = 60, RANKS_MAX = 16 };

/* ---- reports ---- */

const Body *verify_body(const Verifier *v, uint32_t op)
{
    uint32_t i = 0;
    while (i + 1 < v->bodies.n && v->bodies.v[i + 1].first <= op) i++;
    return &v->bodies.v[i];
}

uint32_t verify_around(const Verifier *v, uint32_t op)
{
    uint32_t at = v->around[op];
    while (at && !loop_own_count(v, at - 1)) at = v->around[at - 1];
    return at ? at - 1 : v->nops;
}

/* The op, or where the compiler has added it the next one that has a statement, or one before it; NULL: there is none. */
static const IrOp *placed(const Verifier *v, uint32_t op)
{
    if (op >= v->nops) return NULL;
    const Body *b = verify_body(v, op);
    for (uint32_t i = op; i < b->end; i++)
        if (v->ops[i]->span.hi) return v->ops[i];
    for (uint32_t i = op; i-- > b->first;)
        if (v->ops[i]->span.hi) return v->ops[i];
    return NULL;
}

Span verify_place(const Verifier *v, uint32_t op)
{
    const IrOp *at = placed(v, op);
    return at ? at->span : v->k->span;
}

/* What the run met may be no fault of the program. */
static void note_open(Verifier *v, Diag *g)
{
    if (v->met_open == 0) return;
    uint32_t op = v->met_open - 1, by = v->steers[op];
    diag_label(v->diags, g, verify_place(v, by ? by - 1 : op),
               "a condition or trip count here is taken to come out either way in each turn");
    diag_note(v->diags, g, (Span){0, 0},
              "what a few turns tell of longer loops are comparisons like `k < c`, `k + c < n` (n the loop's end) and "
              "`k %% c`, c "
              "a small number; others are taken to come out either way");
}

Diag *verify_refuse(Verifier *v, ErrorCode code, uint32_t op, const char *fmt, ...)
{
    if (v->failed) return NULL;
    v->failed = true;
    if (v->silent || v->held.text) return NULL;
    v->aside = v->judging && launches_doubt(v);
    if (v->aside) return NULL;
    va_list ap;
    va_start(ap, fmt);
    Diag *g = diag_vat(v->diags, code, verify_place(v, op), fmt, ap);
    va_end(ap);
    if (op < v->nops && v->ops[op]->span.hi == 0)
        diag_note(v->diags, g, (Span){0, 0}, "at an op that the compiler added near here: %s", verify_op_text(v, op));
    const IrOp *at = placed(v, op);
    if (at) ir_call_notes(v->diags, g, v->k, at->call);
    if (code != E0660) note_open(v, g);
    if (code != E0660 && v->judging && !v->few) tell_conditions(v, g);
    bool known = v->choices.n < 2 || !v->judging || v->few; /* some launch comes to this run's choices */
    const char *example = v->judging && !v->trusting && !v->few && code != E0660 ? launches_example(v, &known) : NULL;
    if (!known && (code == E0603 || code == E0604 || code == E0607 || code == E0656 || code == E0671))
        g->text = arena_printf(v->diags->arena, "%s, if loops and conditions come out so", g->text);
    if (example) diag_note(v->diags, g, (Span){0, 0}, "%s", example);
    return g;
}

void verify_hold(Verifier *v, ErrorCode code, uint32_t op, uint32_t also, const char *label, const char *fmt, ...)
{
    if (v->failed || v->held.text) return;
    va_list ap;
    va_start(ap, fmt);
    v->held = (Held){.code = code, .op = op, .also = also, .text = arena_vprintf(v->arena, fmt, ap), .label = label};
    va_end(ap);
}

/* By op twice what a loop of the longest period takes: where loops in loops take more, many are not tried for long. A second opinion has few runs. */
static uint64_t budget_of(const Verifier *v)
{
    if (v->certificate) return UINT64_MAX; /* it was proved without one */
    return !v->few && v->nops < BUDGET / BUDGET_OP ? (uint64_t)BUDGET_OP * v->nops : BUDGET;
}

/* The run is over: what was held is reported, or the race that it comes to. */
static void report_held(Verifier *v)
{
    Held h = v->held;
    v->held.text = NULL;
    v->silent = true;
    v->failed = v->again = false;
    v->budget = budget_of(v);
    bool race = find_race(v);
    v->silent = v->failed = false;
    if (race) {
        tell_race(v, &v->race);
        return;
    }
    Diag *g = verify_refuse(v, h.code, h.op, "%s", h.text);
    verify_also(v, g, h.also, h.label);
    if (g) tell_unwaited(v, g);
}

void verify_spent(Verifier *v)
{
    verify_refuse(v, E0660, v->now ? v->now->pc : v->nops,
                  "the kernel has too many loops in loops, or too long ones, to be proved");
}

void verify_also(Verifier *v, Diag *g, uint32_t op, const char *text)
{
    if (g) diag_label(v->diags, g, verify_place(v, op), "%s (%s)", text, verify_op_text(v, op));
}

const char *verify_op_text(const Verifier *v, uint32_t op)
{
    if (op >= v->nops) return "the end";
    const char *text = ir_op_info(v->ops[op]->op)->text;
    const char *role = verify_body(v, op)->role->name; /* init and exit have none */
    if (v->k->roles.n < 2 || role == NULL) return text;
    return arena_printf(v->arena, "%s of %s", text, role);
}

const char *verify_line(Verifier *v, uint32_t op)
{
    if (op >= v->nops) return "the end";
    Span s = v->ops[op]->span;
    const char *path;
    uint32_t line, col;
    if (s.hi == 0 || v->diags->sources == NULL) return arena_printf(v->arena, "op %u", op - verify_body(v, op)->first);
    source_place(v->diags->sources, s.lo, &path, &line, &col);
    return arena_printf(v->arena, "line %u", line);
}

uint32_t verify_bar(const Verifier *v, uint32_t slot)
{
    uint32_t b = 0;
    while (b + 1 < v->k->bars.n && v->bar_base[b + 1] <= slot % v->nslots) b++;
    return b;
}

const char *verify_bar_name(Verifier *v, uint32_t slot)
{
    uint32_t b = verify_bar(v, slot), rank = slot / v->nslots;
    const IrBar *bar = &v->k->bars.v[b];
    const char *name = bar->slots == 1 ? bar->name : arena_printf(v->arena, "%s[%u]", bar->name, slot % v->nslots - v->bar_base[b]);
    return v->nranks == 1 ? name : arena_printf(v->arena, "%s of CTA %u", name, rank);
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

/* How many loops with synchronisation its role has before this one. */
static uint32_t loops_before(const Verifier *v, uint32_t loop)
{
    uint32_t n = 0;
    for (uint32_t i = verify_body(v, loop)->first; i < loop; i++)
        n += (v->ops[i]->op == IR_LOOP || v->ops[i]->op == IR_REPEAT) && v->block[i] & BLOCK_EVENTS;
    return n;
}

/* Loops of two roles run side by side, turn by turn, where none turns several times for one turn of the other, and they are one loop of the program, or the n-th of each. */
bool verify_side_by_side(const Verifier *v, uint32_t a, uint32_t b)
{
    Span x = v->ops[a]->span, y = v->ops[b]->span;
    if (a == b) return true;
    if (verify_body(v, a) == verify_body(v, b) || v->rate[a] != v->rate[b]) return false;
    return (x.hi && x.lo == y.lo && x.hi == y.hi) || loops_before(v, a) == loops_before(v, b);
}

void verify_depends(Verifier *v, const Access *from, const Access *to, bool reuse)
{
    const InLoop *x = &v->events.v[from->start - 1].in, *y = &v->events.v[to->start - 1].in;
    uint32_t pair[] = {from->op, to->op};
    if (v->depending == NULL) v->depending = names_new(v->arena);
    Name name = names_intern(v->depending, (const char *)pair, sizeof pair);
    if (name > v->dependences.n) vec_push(v->arena, &v->dependences, ((Dependence){.buf = to->at.buf, .from = from->op, .to = to->op, .reuse = reuse}));
    Dependence *d = &v->dependences.v[name - 1];
    int64_t turns = (int64_t)y->turn - x->turn;
    if (x->level == 0 || x->level != y->level) return;
    d->elsewhere |= !verify_side_by_side(v, x->loop, y->loop) || (x->pass == y->pass && turns < 0);
    if (d->elsewhere || x->pass != y->pass || (d->counted && d->turns <= turns)) return;
    d->counted = true;
    d->turns = turns;
}

static void certify_dependences(Verifier *v)
{
    for (uint32_t i = 0; i < v->dependences.n; i++) {
        const Dependence *d = &v->dependences.v[i];
        const char *after = d->elsewhere    ? ", in another loop"
                            : !d->counted   ? ""
                            : d->turns == 0 ? ", in the same turn"
                            : d->turns == 1 ? ", 1 turn later"
                                            : arena_printf(v->arena, ", %lld turns later", (long long)d->turns);
        verify_proved(v,
                      d->reuse ? "%s: read by %s (%s), over before %s (%s) writes it again%s"
                               : "%s: written by %s (%s), arrived before %s (%s) reads it%s",
                      v->k->bufs.v[d->buf].name, verify_op_text(v, d->from), verify_line(v, d->from),
                      verify_op_text(v, d->to), verify_line(v, d->to), after);
    }
}

/* ---- the kernel, prepared ---- */

static void number_ops(Verifier *v)
{
    for (uint32_t i = 0; i < ir_bodies(v->k); i++) {
        const IrRole *r = ir_body(v->k, i);
        vec_push(v->arena, &v->bodies, ((Body){r, v->nops, v->nops + r->ops.n}));
        v->nops += r->ops.n;
    }
    v->ops = arena_array(v->arena, const IrOp *, v->nops);
    v->nvalues = v->k->value_types.n;
    v->def = arena_array(v->arena, uint32_t, v->nvalues);
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        const Body *b = &v->bodies.v[i];
        for (uint32_t j = b->first; j < b->end; j++) {
            v->ops[j] = &b->role->ops.v[j - b->first];
            if (v->ops[j]->dst) v->def[v->ops[j]->dst - 1] = j;
        }
    }
}

static void find_args(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    for (uint32_t i = o->nargs; i-- > 0;) v->args[op][o->args[i].key] = (uint16_t)(i + 1);
    v->group[op] = ir_op_info(o->op)->group;
    v->operands[op] = (Operands){
        .a = ir_find(o, IRK_A), .b = ir_find(o, IRK_B), .cond = ir_find(o, IRK_COND), .pure = run_pure(o)};
    const IrArg *var = ir_find(o, IRK_VAR);
    if (var) v->operands[op].var = var->id;
    if (o->op != IR_SET && o->op != IR_VAR) return;
    v->operands[op].before = v->given_by[var->id];
    v->given_by[var->id] = op + 1;
}

static void find_operands(Verifier *v)
{
    v->operands = arena_array(v->arena, Operands, v->nops);
    v->given_by = arena_array(v->arena, uint32_t, v->k->vars.n);
    v->next = arena_array(v->arena, uint32_t, v->nops);
    v->group = arena_array(v->arena, uint8_t, v->nops);
    v->args = arena_alloc(v->arena, arena_bytes(v->nops, sizeof *v->args));
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        uint32_t next = v->bodies.v[i].end;
        for (uint32_t j = next; j-- > v->bodies.v[i].first;) {
            find_args(v, j);
            v->next[j] = next = v->operands[j].pure ? next : j;
            if (v->ops[j]->op == IR_LOOP) inside_find(v, j);
        }
    }
}

static void registers(Verifier *v)
{
    Forms *f = &v->f;
    const uint32_t *c = v->k->mf.cluster;
    v->sreg = arena_alloc(v->arena, v->nranks * sizeof *v->sreg);
    for (uint32_t r = 0; r < v->nranks; r++) {
        uint32_t at[3] = {r % c[0], r / c[0] % c[1], r / c[0] / c[1]};
        for (uint32_t i = 0; i < 3; i++) {
            Form cluster = form_atom(
                f, (FormAtom){.kind = ATOM_SREG, .a = IRR_CTAID_X + i, .lo = 0, .hi = INT32_MAX / 16});
            Form whole = form_atom(
                f, (FormAtom){.kind = ATOM_SREG, .sub = 1, .a = i, .lo = 0, .hi = INT32_MAX / c[i] - 1});
            v->sreg[r][IRR_CTAID_X + i] = c[i] > 1 ? form_add(f, form_const(f, at[i]), c[i], cluster) : whole;
            Form clusters = form_atom(
                f, (FormAtom){.kind = ATOM_SREG, .a = IRR_NCTAID_X + i, .lo = 1, .hi = INT32_MAX / c[i]});
            v->sreg[r][IRR_NCTAID_X + i] = form_add(f, form_const(f, 0), c[i], clusters);
            v->sreg[r][IRR_CLUSTER_CTAID_X + i] = form_const(f, at[i]);
            v->sreg[r][IRR_CLUSTER_NCTAID_X + i] = form_const(f, c[i]);
        }
        v->sreg[r][IRR_CLUSTER_CTARANK] = form_const(f, r);
        v->sreg[r][IRR_CLUSTER_NCTARANK] = form_const(f, v->nranks);
    }
}

static bool changes(const Verifier *v, const IrArg *arg)
{
    return arg->kind == IRA_VAL && v->rounds[arg->id - 1].changes;
}

/* What an op orders depends on the turn: its guard, or how many turns it has. */
static void find_uneven(Verifier *v)
{
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        IrGroup group = (IrGroup)v->group[i];
        bool orders = group == IRG_BARRIER || group == IRG_SYNC || group == IRG_GROUP || group == IRG_FENCE;
        bool guarded = orders && op->guard.pred && v->rounds[op->guard.pred - 1].changes;
        v->uneven |= guarded || (op->op == IR_LOOP && (changes(v, v->operands[i].a) || changes(v, v->operands[i].b)));
        v->conditional |= guarded && group == IRG_BARRIER && op->op != IR_BAR_EXPECT;
    }
}

/* Numbers that come round do so in the runs, too, and so do variables that are not counting. */
static void find_moving(Verifier *v)
{
    v->moving = arena_array(v->arena, bool, v->k->bufs.n);
    for (uint32_t i = 0; i < v->nops && !v->few; i++) {
        const IrOp *op = v->ops[i];
        for (uint32_t j = 0; j < op->nargs; j++) {
            const IrArg *arg = &op->args[j], *byte = arg->kind == IRA_BUF ? ir_part(op, arg, IRK_OFFSET) : NULL;
            if (byte == NULL || byte->kind != IRA_VAL) continue;
            const Round *r = &v->rounds[byte->id - 1];
            v->moving[arg->id] |= (r->loops || r->vars) && !round_returns(r);
        }
    }
}

static void prepare(Verifier *v)
{
    const IrKernel *k = v->k;
    number_ops(v);
    v->budget = budget_of(v);
    v->deepest = 1;
    blocks_match(v);
    find_operands(v);
    constants_find(v);
    run_prepare(v);
    v->bar_base = arena_array(v->arena, uint32_t, k->bars.n);
    v->slots = 1;
    for (uint32_t i = 0; i < k->bars.n; i++) {
        v->bar_base[i] = v->nslots;
        v->nslots += k->bars.v[i].slots;
        if (k->bars.v[i].slots > v->slots) v->slots = k->bars.v[i].slots;
    }
    v->place_base = arena_array(v->arena, uint32_t, k->bufs.n);
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        v->place_base[i] = v->nplaces;
        v->nplaces += k->bufs.v[i].slots;
        if (k->bufs.v[i].slots > v->slots) v->slots = k->bufs.v[i].slots;
    }
    for (uint32_t i = 0; i < v->nops; i++) {
        v->loaded |= verify_arg(v, i, IRK_FROM) && copy_tensors(v, i, false) ? UINT64_MAX : copy_tensors(v, i, false);
        v->stored |= copy_tensors(v, i, true);
    }
    period_parities(v);
    rounds_prepare(v);
    find_uneven(v);
    moduli_prepare(v);
    find_moving(v);
    if (v->failed) return;
    if (v->nslots == 0) v->nslots = 1;
    constants_check(v);
    v->chosen = arena_array(v->arena, uint8_t, v->nops + 1);
    v->turns = arena_array(v->arena, Turns, v->nops + 1);
    v->rate = arena_array(v->arena, int64_t, v->nops + 1);
    registers(v);
    period_prepare(v);
    compare_prepare(v);
    v->told = arena_array(v->arena, uint8_t, (size_t)v->nslots * v->nranks);
}

/* ---- the proof ---- */

#define CLEAR(vec) memset(&(vec), 0, sizeof(vec))

void verify_clear(Verifier *v)
{
    arena_clear(&v->run);
    CLEAR(v->threads);
    v->clocks_left = 0;
    v->events.n = v->phases.n = v->accesses.n = v->transfers.n = 0; /* these keep their memory */
    CLEAR(v->places);
    CLEAR(v->cells);
    v->met_open = 0;
    CLEAR(v->syncs);
}

static void certify_phases(Verifier *v)
{
    for (uint32_t i = 0; i < v->phases.n; i++) {
        const Phase *p = v->phases.v[i];
        if (!p->complete || v->told[p->slot]) continue;
        v->told[p->slot] = 1;
        verify_proved(v, "%s: each phase has %u of %u arrivals and the bytes that it expects, %s in the first",
                      verify_bar_name(v, p->slot), p->arrivals, v->bars[p->slot].count,
                      verify_form_text(v, p->expected));
    }
}

static void check_graph(Verifier *v)
{
    bool longest = v->events.n > v->events_max;
    if (longest) v->events_max = v->events.n;
    places_find(v);
    find_rates(v);
    check_races(v);
    if (!v->failed) check_coverage(v);
    if (!v->failed) check_global(v);
    if (!v->failed) check_tensor(v);
    if (!v->failed) check_end(v);
    if (!v->failed && longest) check_cycles(v);
    if (!v->failed && v->certificate) certify_phases(v);
}

void verify_run(Verifier *v)
{
    v->again = v->afresh = false;
    v->judging = true;
    run_kernel(v);
    if (v->held.text) report_held(v);
    if (!verify_stopped(v)) check_graph(v);
    v->judging = false;
}

static void try_choices(Verifier *v)
{
    v->choices.n = 0;
    do {
        if (v->afresh) v->choices.n = 0;
        verify_run(v);
        if (v->aside) {
            v->aside = v->failed = false;
        } else if (!verify_stopped(v)) {
            turns_keep(v);
            launches_keep(v);
        }
        if (!verify_stopped(v) && ++v->runs > RUNS_MAX) verify_refuse(v, E0660, v->nops, "the kernel has too many trip counts to be proved");
    } while (!v->failed && (v->again || ((!v->few || v->runs < RUNS_FEW) && choice_next(v))));
}

static void try_all(Verifier *v)
{
    do {
        try_choices(v);
        if (!v->failed && !v->few) period_check(v);
    } while (!v->failed && !v->few && (period_longer(v) || period_wider(v) || turns_more(v) || launches_more(v)));
    if (!v->failed && !v->few) turns_check(v);
    if (!v->failed && !v->few) launches_check(v);
    if (v->failed) return;
    certify_dependences(v);
    verify_proved(v, "no copy is in flight at the end of the kernel");
    verify_proved(v,
                  v->few ? "%u graphs of at most %u events: a few trip counts and conditions; of others the tree tells"
                         : "%u graphs of at most %u events: all choices of trip counts and conditions that were tried",
                  v->runs, v->events_max);
}

static void verify(void *to)
{
    Verifier *v = to;
    const char *malformed = ir_check(v->arena, v->k);
    if (malformed) {
        verify_refuse(v, E0662, UINT32_MAX, "%s", malformed);
        return;
    }
    if (v->k->roles.n == 0) return;
    v->nranks = v->k->mf.cluster[0] * v->k->mf.cluster[1] * v->k->mf.cluster[2];
    if (v->nranks == 0 || v->nranks > RANKS_MAX || v->k->roles.n > RANKS_MAX) {
        verify_refuse(v, E0660, UINT32_MAX, "a cluster of %u CTAs with %u roles each", v->nranks, v->k->roles.n);
        return;
    }
    forms_init(&v->f, v->arena);
    v->f.launch = ir_launch_ranges(v->arena, &v->k->mf);
    prepare(v);
    if (!v->failed) try_all(v);
    if (!v->failed && v->demands && !v->few) launches_demand(v);
}

static bool prove(Arena *a, Diags *d, const IrKernel *k, bool few, bool in_full, const Demands *to, Text *certificate)
{
    Verifier *v = arena_new(a, Verifier);
    *v = (Verifier){
        .arena = a, .diags = d, .k = k, .few = few, .in_full = in_full, .demands = to, .certificate = certificate};
    arena_borrow(&v->run, a);
    arena_within(&v->run, verify, v);
    return !v->failed;
}

/* What it reports is lost but for its code, and the certificate is written where it is proved. */
static bool prove_quietly(Arena *a, const Diags *d, const IrKernel *k, bool in_full, const Demands *to, Text *certificate, ErrorCode *code)
{
    Diags quiet;
    Text text;
    diags_init(&quiet, a, d->sources);
    text_init(&text, a->mem);
    bool ok = prove(a, &quiet, k, false, in_full, to, certificate ? &text : NULL);
    if (ok && certificate) text_put(certificate, text.s, text.n);
    if (!ok) *code = quiet.first->code;
    text_free(&text);
    return ok;
}

/* With middle turns left out, or as it stands: where both are refused, the one that names a fault. */
static bool prove_long(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    ErrorCode code, own;
    if (prove_quietly(a, d, k, false, to, certificate, &code)) return true;
    if (code == E0660) return prove(a, d, k, false, true, to, certificate);
    if (prove_quietly(a, d, k, true, to, certificate, &own)) return true;
    return prove(a, d, k, false, own != E0660, to, NULL);
}

static bool prove_somehow(Arena *a, Diags *d, const IrKernel *k, bool few, const Demands *to, Text *certificate)
{
    return !few && constants_long(k) ? prove_long(a, d, k, to, certificate) : prove(a, d, k, few, false, to, certificate);
}

bool ir_verify_graph(Arena *a, Diags *d, const IrKernel *k, bool few, const Demands *to, Text *certificate)
{
    ArenaMark mark = arena_mark(a);
    bool ok = prove_somehow(a, d, k, few, to, NULL) && (certificate == NULL || prove_somehow(a, d, k, few, to, certificate));
    /* The line table, too, may have been made in `a` meanwhile. */
    if (d->arena != a && (d->sources == NULL || d->sources->arena != a)) arena_release(a, mark);
    return ok;
}
