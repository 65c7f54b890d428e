/* Barriers: phases, and who counts on them.
 *
 * The run takes one schedule: an arrival and the bytes of a copy count at once, on the phase that is open then. That this
 * is the phase in every schedule is proved on the way:
 * - what counts on a phase comes after a wait for the phase before, or, where arrivals alone make that one, after all of
 *   them (no early arrival);
 * - a wait for a phase comes after one for the phase before, and before something that the next phase can't do
 *   without (no overrun), so that the parity means that phase and no other;
 * - bytes are announced before the last arrival, so the phase is not over while bytes are missing.
 * Then by induction over the events of this run no schedule can do them otherwise than in an order that their clocks
 * allow, and none gets stuck before its end.
 */
#include "lang/limits.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { SPLITS = 4 };

bool barrier_slot(Verifier *v, uint32_t op, uint32_t rank, uint32_t *slot)
{
    const IrArg *bar = verify_arg(v, op, IRK_BAR), *part = ir_part(v->ops[op], bar, IRK_SLOT);
    const IrBar *b = &v->k->bars.v[bar->id];
    int64_t n = 0;
    if (part && !run_decided(v, op, part, &n)) {
        verify_refuse(v, E0660, op, "which slot of barrier %s this is, is known only at run time", b->name);
        return false;
    }
    if (v->again) return false;
    if (n < 0 || n >= b->slots) {
        verify_refuse(v, E0658, op, "slot %lld of barrier %s, which has %u", (long long)n, b->name, b->slots);
        return false;
    }
    *slot = rank * v->nslots + v->bar_base[bar->id] + (uint32_t)n;
    return true;
}

Phase *barrier_open(Verifier *v, uint32_t slot)
{
    BarSlot *b = &v->bars[slot];
    if (b->phases.n && !b->phases.v[b->phases.n - 1]->complete) return b->phases.v[b->phases.n - 1];
    Phase *p = arena_new(&v->run, Phase);
    *p = (Phase){.slot = slot, .number = b->phases.n, .op = v->nops, .expected = form_const(&v->f, 0), .delivered = form_const(&v->f, 0)};
    p->clock = verify_clock_copy(v, NULL);
    p->arrived = verify_clock_copy(v, NULL);
    vec_push(&v->run, &b->phases, p);
    vec_push(v->arena, &v->phases, p);
    return p;
}

static Phase *completed(const Verifier *v, uint32_t slot)
{
    const BarSlot *b = &v->bars[slot];
    if (b->phases.n && b->phases.v[b->phases.n - 1]->complete) return b->phases.v[b->phases.n - 1];
    return b->phases.n > 1 ? b->phases.v[b->phases.n - 2] : NULL;
}

/* The initialisation has happened, and whoever uses the barrier sees it. */
static bool ready(Verifier *v, uint32_t slot, uint32_t op, bool copies)
{
    const BarSlot *b = &v->bars[slot];
    const uint32_t *clock = v->now->clock;
    if (b->init == 0 || !event_in(v, b->init, clock)) {
        Diag *g = verify_refuse(v, E0653, op, "barrier %s may be used before its bar.init", verify_bar_name(v, slot));
        if (b->init) verify_also(v, g, v->events.v[b->init - 1].op, "the bar.init: no barrier of threads lies between");
        return false;
    }
    const Event *init = &v->events.v[b->init - 1];
    EventId fence = fence_behind(v, b->init, FENCE_INITS);
    if ((!copies && init->thread == v->now->id) || (fence && event_in(v, fence, clock))) return true;
    Diag *g = verify_refuse(v, E0653, op, "barrier %s is used %s without fence.mbar_init after its bar.init",
                            verify_bar_name(v, slot), copies ? "by an asynchronous copy" : "by another thread");
    verify_also(v, g, init->op, "the bar.init");
    return false;
}

static bool complete_now(Verifier *v, const Phase *p)
{
    const BarSlot *b = &v->bars[p->slot];
    if (p->arrivals != b->count || p->expected == 0 || p->delivered == 0) return false;
    if (p->expected == p->delivered) return true;
    Form missing = form_simplify(&v->f, form_add(&v->f, p->expected, -1, p->delivered));
    return missing && form_data(&v->f, missing)->lo == 0 && form_data(&v->f, missing)->hi == 0;
}

/* Every wait for the phase before comes before something without which this one is not over. */
static void check_overrun(Verifier *v, const Phase *p)
{
    const BarSlot *b = &v->bars[p->slot];
    const EventId *w = p->number ? b->phases.v[p->number - 1]->waits.v : b->early.v;
    uint32_t n = p->number ? b->phases.v[p->number - 1]->waits.n : b->early.n;
    for (uint32_t i = 0; i < n && !v->failed; i++) {
        const Event *e = &v->events.v[w[i] - 1];
        if (p->clock[e->thread] >= e->pos) continue;
        verify_hold(v, E0611, e->op, p->op, "completes the next phase",
                    "the phase after the one that is waited for here may be over before this looks at "
                    "barrier %s: the parity would be that of the wrong phase",
                    verify_bar_name(v, p->slot));
    }
}

/* What expects bytes without arriving comes before an arrival, its own thread's or another's. */
static void check_expects(Verifier *v, const Phase *p)
{
    for (uint32_t i = 0; i < p->parts.n && !v->failed; i++) {
        const Part *x = &p->parts.v[i];
        const Event *e = &v->events.v[x->event - 1];
        if (!x->expects || x->arrives || p->arrived[e->thread] >= e->pos) continue;
        Diag *g = verify_refuse(v, E0655, x->op,
                                "barrier %s may have all its arrivals before it is told to expect these bytes",
                                verify_bar_name(v, p->slot));
        verify_also(v, g, p->op, "the last arrival");
    }
}

static void try_complete(Verifier *v, Phase *p)
{
    if (p->complete || !complete_now(v, p)) return;
    p->complete = true;
    check_overrun(v, p);
    check_expects(v, p);
}

/* The phase is over when the part's event happens: something waited for it, or, for an arrival, it has no bytes and all its
 * arrivals come before. */
static bool over_before(const Verifier *v, const Phase *p, const Part *part)
{
    if (phase_before(v, p, part->event)) return true;
    if (part->expects || part->copies) return false;
    for (uint32_t i = 0; i < p->parts.n; i++) {
        const Part *x = &p->parts.v[i];
        if (!x->arrives || x->expects || x->copies || !event_before(v, x->event, part->event)) return false;
    }
    return true;
}

static void expects_late(Verifier *v, uint32_t op, uint32_t slot, const Phase *p)
{
    Diag *g = verify_refuse(v, E0655, op,
                            "barrier %s is told to expect bytes when all arrivals are made: its phase may be over",
                            verify_bar_name(v, slot));
    verify_also(v, g, p->op, "the last arrival");
    if (g) diag_fix(v->diags, g, "leave it out if `commit` makes that arrival, which announces its copies' bytes; else put it before");
}

bool barrier_part(Verifier *v, uint32_t slot, Part part)
{
    if (!ready(v, slot, part.op, part.copies)) return false;
    Phase *p = barrier_open(v, slot);
    const Phase *before = p->number ? v->bars[slot].phases.v[p->number - 1] : NULL;
    bool early = before && !over_before(v, before, &part);
    if (early && part.expects && !part.arrives) {
        expects_late(v, part.op, slot, before);
        return false;
    }
    if (early) {
        verify_hold(
            v, E0611, part.op, before->op, "completes the phase before, and no wait for it comes before this",
            part.copies ? "this copy may count on the phase of barrier %s before the one that it is for"
                        : "this arrival counts on a new phase of barrier %s, but nothing has waited for the last one",
            verify_bar_name(v, slot));
    }
    vec_push(&v->run, &p->parts, part);
    p->op = part.op;
    return true;
}

static void tell_most(Verifier *v, uint32_t op, const Phase *p, Form bytes)
{
    Span at = v->k->bars.v[verify_bar(v, p->slot)].span;
    Diag *g = verify_refuse(v, E0623, op, "%s bytes complete on one phase of `%s`, a barrier counts %d", verify_form_text(v, bytes), verify_bar_name(v, p->slot), MBARRIER_MOST);
    if (g && at.hi) diag_label(v->diags, g, at, "the barrier");
}

static void check_tx(Verifier *v, uint32_t op, const Phase *p)
{
    Form worst = p->expected && form_data(&v->f, p->expected)->hi > MBARRIER_MOST ? p->expected : p->delivered;
    if (p->expected == 0 || p->delivered == 0)
        verify_refuse(v, E0660, op, "the bytes of barrier %s add up to more than can be followed",
                      verify_bar_name(v, p->slot));
    else if (form_data(&v->f, worst)->hi > MBARRIER_MOST)
        tell_most(v, op, p, worst);
}

/* Bytes that the phase can't be complete without: where it is certain that these are some, the phase is over after what comes before
 * them; where a thread is certain to bring some, after what comes before the first of its copies. */
static void bring(Verifier *v, Phase *p, const Sum *s)
{
    uint32_t i = 0;
    while (i < p->bringers.n && p->bringers.v[i].thread != v->now->id) i++;
    if (i == p->bringers.n) {
        Bringer *b = vec_add(&v->run, &p->bringers);
        *b = (Bringer){.thread = v->now->id, .bytes = form_const(&v->f, 0), .clock = s->clock};
    }
    Bringer *b = &p->bringers.v[i];
    b->bytes = form_add(&v->f, b->bytes, 1, s->bytes);
    if (s->bytes && form_data(&v->f, s->bytes)->lo > 0) verify_clock_join(v, p->clock, s->clock);
    if (b->bytes && form_data(&v->f, b->bytes)->lo > 0) verify_clock_join(v, p->clock, b->clock);
}

void barrier_deliver(Verifier *v, const Sum *s)
{
    Phase *p = barrier_open(v, s->slot);
    p->delivered = form_add(&v->f, p->delivered, 1, s->bytes);
    bring(v, p, s);
    check_tx(v, s->op, p);
    if (!v->failed) try_complete(v, p);
}

/* ---- steps ---- */

static void step_expect(Verifier *v, uint32_t op, uint32_t slot, Phase *p)
{
    Form bytes = run_value(v, verify_arg(v, op, IRK_BYTES));
    if (p->arrivals == v->bars[slot].count) {
        expects_late(v, op, slot, p);
        return;
    }
    if (!form_nonneg_in_cases(&v->f, bytes, SPLITS)) {
        verify_refuse(v, E0605, op, "the bytes that barrier %s expects are not certain to be at least 0",
                      verify_bar_name(v, slot));
        return;
    }
    p->expected = form_add(&v->f, p->expected, v->now->copies, form_guard(&v->f, run_guard(v, op), bytes));
    check_tx(v, op, p);
}

static void step_arrive(Verifier *v, uint32_t op, uint32_t slot, Phase *p)
{
    uint32_t count = v->bars[slot].count;
    if (p->arrivals + v->now->copies <= count) {
        p->arrivals += v->now->copies;
        verify_clock_join(v, p->arrived, v->now->clock);
        verify_clock_join(v, p->clock, v->now->clock);
        return;
    }
    verify_hold(v, E0604, op, p->op, "the last before", "one arrival too many: barrier %s has all %u of its phase",
                verify_bar_name(v, slot), count);
    v->failed = true;
}

Phase *barrier_count(Verifier *v, uint32_t rank, Part part)
{
    uint32_t slot;
    part.remote = rank != v->now->rank;
    if (!barrier_slot(v, part.op, rank, &slot)) return NULL;
    const BarSlot *b = &v->bars[slot];
    const Phase *last = b->phases.n ? b->phases.v[b->phases.n - 1] : NULL;
    bool full = last && !last->complete && last->arrivals == b->count; /* all arrivals are there, bytes are not */
    if (!full && !barrier_part(v, slot, part)) return NULL;
    Phase *p = barrier_open(v, slot);
    /* PTX ISA, mbarrier.arrive.expect_tx: the expect comes first, then the arrival. */
    if (part.expects && !(full && part.arrives)) step_expect(v, part.op, slot, p);
    if (part.arrives && !v->failed) step_arrive(v, part.op, slot, p);
    if (!v->failed) try_complete(v, p);
    return p;
}

static void waited(Verifier *v, uint32_t op, uint32_t slot, Phase *p)
{
    const IrArg *scope = verify_arg(v, op, IRK_SCOPE);
    const Phase *before = p && p->number ? v->bars[slot].phases.v[p->number - 1] : NULL;
    uint32_t i = 0;
    /* What comes with the phase itself does not count: the wait looks before it knows. */
    if (!ready(v, slot, op, false)) return;
    if (before && !phase_in(v, before, v->now->clock)) {
        verify_hold(v, E0611, op, before->op, "completes that phase, and no wait for it comes before this one",
                    "this may look at barrier %s before the last phase but one is over, and pass too early",
                    verify_bar_name(v, slot));
    }
    if (p) verify_clock_join(v, v->now->clock, p->clock);
    EventId e = event_new(v, op);
    if (p == NULL) {
        vec_push(&v->run, &v->bars[slot].early, e);
        return;
    }
    vec_push(&v->run, &p->waits, e);
    while (i < p->parts.n && !p->parts.v[i].remote) i++;
    if (i == p->parts.n || (scope && scope->id != IRC_CTA)) return;
    Diag *g = verify_refuse(v, E0670, op, "other CTAs arrive at barrier %s, and this wait acquires only from its own",
                            verify_bar_name(v, slot));
    verify_also(v, g, p->parts.v[i].op, "an arrival from another CTA");
}

static void step_wait(Verifier *v, uint32_t op, uint32_t slot)
{
    int64_t parity;
    if (!run_number(v, op, verify_arg(v, op, IRK_PHASE), "the parity", &parity)) return;
    Phase *p = completed(v, slot);
    v->now->slot = slot;
    v->now->block = parity == (p ? p->number & 1 : 1) ? RUNS : WAITS_PHASE;
    if (v->now->block == RUNS) waited(v, op, slot, p);
}

/* Once, and unconditionally: ir_check. */
static void step_init(Verifier *v, uint32_t op, uint32_t slot)
{
    uint32_t count = (uint32_t)verify_arg(v, op, IRK_COUNT_)->imm;
    v->bars[slot] = (BarSlot){.count = count, .init = event_new(v, op)};
}

void barrier_step(Verifier *v, uint32_t op)
{
    uint32_t slot, rank;
    IrOpcode code = (IrOpcode)v->ops[op]->op;
    if (code == IR_BAR_EXPECT ? form_is(&v->f, run_guard(v, op), 0) : !run_happens(v, op)) return;
    if (code == IR_TC_COMMIT) {
        tensor_commit_step(v, op);
        return;
    }
    if (!run_rank(v, op, &rank)) return;
    if (code != IR_BAR_INIT && code != IR_BAR_WAIT) {
        bool arrives = code != IR_BAR_EXPECT, expects = code != IR_BAR_ARRIVE;
        EventId e = event_new(v, op);
        barrier_count(v, rank, (Part){.event = e, .op = op, .arrives = arrives, .expects = expects});
    } else if (barrier_slot(v, op, rank, &slot)) {
        if (code == IR_BAR_INIT) step_init(v, op, slot);
        else step_wait(v, op, slot);
    }
}
