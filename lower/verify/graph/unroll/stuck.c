/* The run got stuck: who waits for whom. */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"

/* Whether a body that the thread still runs has an op that counts on the barrier. */
static bool supplies(const Verifier *v, const Thread *t, uint32_t slot)
{
    uint32_t bar = verify_bar(v, slot);
    const Body *b = &v->bodies.v[t->body];
    for (uint32_t i = b->first; i < b->end; i++)
        if (verify_counts(v, i, bar) && (t->rep == 0 || !v->ops[i]->elect)) return true;
    return false;
}

static const Thread *waits_for(const Verifier *v, const Thread *t)
{
    for (uint32_t i = 0; i < v->threads.n; i++) {
        const Thread *o = &v->threads.v[i];
        if (o == t || o->block == ENDED) continue;
        if (o->role == t->role && o->rank == t->rank && o->block == t->block && o->pc == t->pc) continue;
        if (t->block == WAITS_PHASE ? supplies(v, o, t->slot) : sync_lacks(v, t, o)) return o;
    }
    return NULL;
}

static const char *lacks(Verifier *v, uint32_t slot)
{
    const Phase *p = barrier_open(v, slot);
    const char *name = verify_bar_name(v, slot);
    uint32_t count = v->bars[slot].count;
    if (p->arrivals < count) return arena_printf(&v->run, "%s (%u of %u arrivals)", name, p->arrivals, count);
    return arena_printf(&v->run, "%s (all arrivals; it expects %s bytes and gets %s)", name,
                        verify_form_text(v, p->expected), verify_form_text(v, p->delivered));
}

static bool used(const Verifier *v, uint32_t slot)
{
    const BarSlot *b = &v->bars[slot];
    return b->phases.n && b->phases.v[0]->parts.n;
}

/* Nothing has ever come to this barrier, but to that of another CTA. */
static void tell_other_cta(Verifier *v, Diag *g, uint32_t slot)
{
    if (g == NULL || used(v, slot)) return;
    for (uint32_t x = slot % v->nslots; x < v->nslots * v->nranks; x += v->nslots) {
        if (!used(v, x)) continue;
        diag_note(v->diags, g, (Span){0, 0}, "so far nothing has arrived at %s, though something has at %s", verify_bar_name(v, slot), verify_bar_name(v, x));
        return;
    }
}

/* All that counts on the barrier does so in this way. */
static bool counted_by(const Verifier *v, uint32_t bar, IrOpcode how)
{
    bool all = true;
    for (uint32_t i = 0; i < v->nops && all; i++) all = v->group[i] != IRG_BARRIER || !verify_counts(v, i, bar) || v->ops[i]->op == how;
    return all;
}

/* Who copies into slots waits for a first one, which nobody can have given back: who is to do so waits for the copy. */
static void tell_free(Verifier *v, Diag *g, const Thread *t)
{
    const Thread *user = waits_for(v, t);
    if (g == NULL || g->fix || t->block != WAITS_PHASE || user->block != WAITS_PHASE) return;
    uint32_t bar = verify_bar(v, t->slot);
    const IrBar *b = &v->k->bars.v[bar];
    const Phase *p = barrier_open(v, t->slot), *its = barrier_open(v, user->slot);
    bool first = !b->derived && !b->free && p->number == 0 && p->parts.n == 0 && its->number == 0;
    first = first && counted_by(v, bar, IR_BAR_ARRIVE) && counted_by(v, verify_bar(v, user->slot), IR_BAR_ARRIVE_EXPECT);
    if (first && b->slots > 1) diag_fix(v->diags, g, "`barrier %s[%u] free;` if its slots are free at the start", b->name, b->slots);
    else if (first) diag_fix(v->diags, g, "`barrier %s free;` if what it guards is free at the start", b->name);
}

static void report_cycle(Verifier *v, const Thread *t)
{
    const Thread *first = t;
    Diag *g = verify_refuse(v, E0603, t->pc, "%s waits for what comes only after it: the kernel would hang",
                            verify_op_text(v, t->pc));
    do {
        const Thread *next = waits_for(v, t);
        const char *what = t->block == WAITS_PHASE ? lacks(v, t->slot) : "all threads";
        verify_also(v, g, next->pc,
                    arena_printf(&v->run, "%s (%s) waits for %s, and who could come to that is held up here",
                                 verify_op_text(v, t->pc), verify_line(v, t->pc), what));
        if (t->block == WAITS_PHASE) tell_other_cta(v, g, t->slot);
        t = next;
    } while (t != first);
    if (g) tell_unwaited(v, g);
    do {
        tell_free(v, g, t);
        t = waits_for(v, t);
    } while (t != first);
}

/* A phase with all its arrivals, whose bytes are not those that it expects. */
static void report_bytes(Verifier *v, uint32_t op, const char *name, const Phase *p)
{
    Form missing = form_simplify(&v->f, form_add(&v->f, p->expected, -1, p->delivered));
    int64_t k = 0;
    bool many = form_is_const(&v->f, missing, &k) && k < 0;
    if (many) missing = form_simplify(&v->f, form_add(&v->f, p->delivered, -1, p->expected));
    Diag *g = verify_refuse(v, E0605, op, "barrier %s expects %s bytes and the copies on it bring %s, %s %s", name,
                            verify_form_text(v, p->expected), verify_form_text(v, p->delivered),
                            verify_form_text(v, missing), many ? "too many" : "are missing");
    verify_also(v, g, p->op, "the last that counts on it");
    bool alone = false, committed = false;
    for (uint32_t i = 0; i < p->parts.n; i++) {
        alone |= p->parts.v[i].expects && !p->parts.v[i].arrives;
        committed |= p->parts.v[i].expects && p->parts.v[i].arrives;
    }
    if (g == NULL) return;
    if (alone && committed) diag_fix(v->diags, g, "`commit` announces the bytes of its own copies: `expect` only those that other CTAs send here");
    else if (alone || many) diag_fix(v->diags, g, "`expect` as many bytes as other CTAs send here");
}

static void report_phase(Verifier *v, const Thread *t)
{
    uint32_t op = t->pc;
    const char *name = verify_bar_name(v, t->slot);
    const Phase *p = barrier_open(v, t->slot);
    const Phase *before = p->number ? v->bars[t->slot].phases.v[p->number - 1] : NULL;
    uint32_t count = v->bars[t->slot].count;
    Diag *g;
    if (p->parts.n == 0 && before) {
        verify_hold(
            v, E0656, op, before->op, "completes its last phase",
            "barrier %s is waited for with parity %d when its phases so far are over: the kernel would hang", name,
            (int)(p->number & 1));
        v->failed = true;
    } else if (p->parts.n == 0) {
        g = verify_refuse(v, E0607, op,
                          "nothing completes the phase of barrier %s that is waited for: the kernel would hang", name);
        tell_waiting(v, g, op);
    } else if (p->arrivals < count) {
        g = verify_refuse(v, E0604, op, "barrier %s has %u of the %u arrivals of its phase: the kernel would hang",
                          name, p->arrivals, count);
        verify_also(v, g, p->op, "the last that happened to it");
        tell_arrivals(v, g, verify_bar(v, t->slot));
    } else {
        report_bytes(v, op, name, p);
    }
}

void report_stuck(Verifier *v)
{
    const Thread *t = NULL;
    for (uint32_t i = 0; i < v->threads.n; i++) {
        const Thread *x = &v->threads.v[i], *y = x;
        if (x->block == ENDED) continue;
        for (uint32_t n = 0; n <= v->threads.n && y; n++) y = waits_for(v, y);
        if (y) { /* in a cycle by now */
            report_cycle(v, y);
            return;
        }
        if (t == NULL || (t->block != WAITS_PHASE && x->block == WAITS_PHASE)) t = x;
    }
    while (waits_for(v, t)) t = waits_for(v, t);
    if (t->block == WAITS_PHASE) {
        report_phase(v, t);
        return;
    }
    verify_refuse(v, E0671, t->pc, "not all threads come to this %s: the kernel would hang",
                  verify_op_text(v, t->pc));
}
