#include <string.h>

#include "lower/verify_parts.h"

State state_copy(Arena *a, const State *s, const Verifier *v)
{
    State n = *s;
    n.vars = arena_array(a, Form, v->k->vars.n);
    n.bars = arena_array(a, BarState, v->nslots);
    n.writes.v = arena_array(a, Write, s->writes.n);
    n.reads.v = arena_array(a, Read, s->reads.n);
    n.writes.cap = s->writes.n;
    n.reads.cap = s->reads.n;
    if (v->k->vars.n) memcpy(n.vars, s->vars, v->k->vars.n * sizeof *n.vars);
    if (v->nslots) memcpy(n.bars, s->bars, v->nslots * sizeof *n.bars);
    if (s->writes.n) memcpy(n.writes.v, s->writes.v, s->writes.n * sizeof *n.writes.v);
    if (s->reads.n) memcpy(n.reads.v, s->reads.v, s->reads.n * sizeof *n.reads.v);
    return n;
}

bool state_same_bytes(const Bytes *a, const Bytes *b)
{
    return a->buf == b->buf && a->slot == b->slot && a->lo == b->lo && a->hi == b->hi;
}

bool state_bar_complete(Verifier *v, const BarState *b)
{
    Forms *f = &v->f;
    if (b->arrivals != b->count) return false;
    if (b->expected == b->delivered && b->expected) return true;
    Form rest = form_add(f, b->expected, -1, b->delivered);
    return form_is(f, form_simplify(f, rest), 0);
}

/* One op's reads of the same bytes count as one that is as young as the youngest. */
static bool merge_read(Read *x, const Read *r, bool *changed)
{
    Read old = *x;
    if (x->op != r->op || !state_same_bytes(&x->at, &r->at)) return false;
    if (r->age < x->age) x->age = r->age;
    x->reading |= r->reading;
    x->tensors |= r->tensors;
    if (x->region != r->region) x->region = NULL;
    *changed = old.age != x->age || old.reading != x->reading || old.tensors != x->tensors || old.region != x->region;
    return true;
}

bool state_add_read(Arena *a, State *s, Read r)
{
    bool changed;
    for (uint32_t i = 0; i < s->reads.n; i++)
        if (merge_read(&s->reads.v[i], &r, &changed)) return changed;
    vec_push(a, &s->reads, r);
    return true;
}

/* Both sides began with the same entries: most stand at the same place still. */
static void join_reads(Verifier *v, State *then, const State *other)
{
    bool changed;
    for (uint32_t i = 0; i < other->reads.n; i++) {
        const Read *r = &other->reads.v[i];
        if (i < then->reads.n && merge_read(&then->reads.v[i], r, &changed)) continue;
        state_add_read(v->arena, then, *r);
    }
}

static bool same_write(const Write *x, const Write *w)
{
    return state_same_bytes(&x->at, &w->at) && x->bar == w->bar;
}

/* The entry of s for the same bytes, which stands at `at` most often. */
static Write *find_write(const State *s, const Write *w, uint32_t at)
{
    if (at < s->writes.n && same_write(&s->writes.v[at], w)) return &s->writes.v[at];
    for (uint32_t i = 0; i < s->writes.n; i++)
        if (same_write(&s->writes.v[i], w)) return &s->writes.v[i];
    return NULL;
}

/* What only one side wrote is there under the condition of that side; what both wrote, under the one or the other. */
static void join_writes(Verifier *v, Form pred, State *then, const State *other)
{
    Forms *f = &v->f;
    Form not_pred = form_not(f, pred);
    for (uint32_t i = 0; i < then->writes.n; i++) {
        Write *w = &then->writes.v[i];
        const Write *x = find_write(other, w, i);
        if (x && x->cond == w->cond) {
            w->tensors |= x->tensors;
            if (w->region != x->region) w->region = NULL;
        } else if (x) {
            w->cond = form_add(f, form_guard(f, pred, w->cond), 1, form_guard(f, not_pred, x->cond));
            w->tensors |= x->tensors;
            if (w->region != x->region) w->region = NULL;
        } else {
            w->cond = form_guard(f, pred, w->cond);
        }
    }
    for (uint32_t i = 0; i < other->writes.n; i++) {
        Write w = other->writes.v[i];
        if (find_write(then, &w, i)) continue;
        w.cond = form_guard(f, not_pred, w.cond);
        vec_push(v->arena, &then->writes, w);
    }
}

/* The same amounts on both sides, or one that depends on the condition. */
static Form join_amount(Forms *f, Form pred, Form then, Form other)
{
    if (then == other) return then;
    return form_add(f, other, 1, form_guard(f, pred, form_add(f, then, -1, other)));
}

static void join_bars(Verifier *v, uint32_t op, Form pred, State *then, const State *other)
{
    for (uint32_t i = 0; i < v->nslots; i++) {
        BarState *t = &then->bars[i];
        const BarState *o = &other->bars[i];
        if (memcmp(t, o, sizeof *t) == 0) continue;
        if (t->arrivals != o->arrivals) {
            Diag *g = verify_refuse(v, E0651, op,
                                    "after this `if`, barrier %s has %u of %u arrivals in its phase where the "
                                    "condition holds, and %u where not",
                                    verify_bar_name(v, i), t->arrivals, t->count, o->arrivals);
            verify_also(v, g, t->op, "the last that happens to it where the condition holds");
            verify_also(v, g, o->op, "the last that happens to it otherwise");
            return;
        }
        t->unfenced |= o->unfenced;
        t->initialised &= o->initialised;
        t->parity = form_pick(&v->f, pred, t->parity, o->parity);
        t->expected = join_amount(&v->f, pred, t->expected, o->expected);
        t->delivered = join_amount(&v->f, pred, t->delivered, o->delivered);
    }
}

void state_join(Verifier *v, uint32_t op, Form pred, State *then, const State *other)
{
    for (uint32_t i = 0; i < v->k->vars.n; i++) then->vars[i] = form_pick(&v->f, pred, then->vars[i], other->vars[i]);
    join_bars(v, op, pred, then, other);
    join_writes(v, pred, then, other);
    join_reads(v, then, other);
    then->unfenced |= other->unfenced;
}
