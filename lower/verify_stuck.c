/* The run got stuck: who waits for whom. */
#include "lower/verify_parts.h"

/* Whether a body that the thread still runs has an op that counts on the barrier. */
static bool supplies(const Verifier *v, const Thread *t, uint32_t slot)
{
    uint32_t in = slot % v->nslots, bar = 0;
    while (bar + 1 < v->k->bars.n && v->bar_base[bar + 1] <= in) bar++;
    const IrRole *r = v->bodies.v[t->body].role;
    for (uint32_t i = 0; i < r->ops.n; i++) {
        const IrOp *op = &r->ops.v[i];
        const IrArg *b = ir_find(op, IRK_BAR);
        if (b && b->id == bar && op->op != IR_BAR_WAIT && op->op != IR_BAR_INIT && (t->rep == 0 || !op->elect))
            return true;
    }
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

static uint32_t op_of(const Verifier *v, const Thread *t)
{
    return v->bodies.v[t->body].base + t->pc;
}

static void report_cycle(Verifier *v, const Thread *t)
{
    const Thread *first = t;
    Diag *g = verify_refuse(v, E0603, op_of(v, t), "%s waits for what comes only after it: the kernel would hang",
                            verify_op_text(v, op_of(v, t)));
    do {
        const Thread *next = waits_for(v, t);
        const char *what = "all threads";
        if (t->block == WAITS_PHASE)
            what = arena_printf(&v->run, "%s (%u of %u arrivals)", verify_bar_name(v, t->slot),
                                barrier_open(v, t->slot)->arrivals, v->bars[t->slot].count);
        verify_also(v, g, op_of(v, next),
                    arena_printf(&v->run, "%s (%s) waits for %s, and who could come to that is held up here",
                                 verify_op_text(v, op_of(v, t)), verify_line(v, op_of(v, t)), what));
        t = next;
    } while (t != first);
}

static void report_phase(Verifier *v, const Thread *t)
{
    uint32_t op = op_of(v, t);
    const char *name = verify_bar_name(v, t->slot);
    const Phase *p = barrier_open(v, t->slot);
    const Phase *before = p->number ? v->bars[t->slot].phases.v[p->number - 1] : NULL;
    uint32_t count = v->bars[t->slot].count;
    Diag *g;
    if (p->parts.n == 0 && before) {
        g = verify_refuse(
            v, E0656, op,
            "barrier %s is waited for with parity %d when its phases so far are over: the kernel would hang", name,
            (int)(p->number & 1));
        verify_also(v, g, before->op, "completes its last phase");
    } else if (p->parts.n == 0) {
        verify_refuse(v, E0607, op,
                      "nothing completes the phase of barrier %s that is waited for: the kernel would hang", name);
    } else if (p->arrivals < count) {
        g = verify_refuse(v, E0604, op, "barrier %s has %u of the %u arrivals of its phase: the kernel would hang",
                          name, p->arrivals, count);
        verify_also(v, g, p->op, "the last that happened to it");
    } else {
        Form open = form_simplify(&v->f, form_add(&v->f, p->expected, -1, p->delivered));
        g = verify_refuse(v, E0605, op, "barrier %s expects %s bytes and the copies on it bring %s; %s are missing",
                          name, verify_form_text(v, p->expected), verify_form_text(v, p->delivered),
                          verify_form_text(v, open));
        verify_also(v, g, p->op, "the last that counts on it");
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
    verify_refuse(v, E0671, op_of(v, t), "not all threads come to this %s: the kernel would hang",
                  verify_op_text(v, op_of(v, t)));
}
