/* Events and their clocks. Ordering a before b means: in every schedule a has happened when b does. It comes from the
 * order of a thread's ops, from waits for phases (after all that is certain to count on the phase), and from barriers of
 * threads. A vector clock per event holds the whole of it: b's clock has, for each thread, the position of its newest
 * event before b. The run makes events in an order that fits, so a clock is final when it is made, and the graph has no
 * cycle: a kernel whose events can't be put in such an order gets stuck in the run.
 */
#include <string.h>

#include "lower/verify/graph/unroll/unroll.h"

enum { CLOCKS = 64 }; /* made at a time */

uint32_t *verify_clock_copy(Verifier *v, const uint32_t *clock)
{
    uint32_t n = v->threads.n;
    if (v->clocks_left == 0) {
        v->clocks = arena_array(&v->run, uint32_t, (size_t)n * CLOCKS);
        v->clocks_left = CLOCKS;
    }
    uint32_t *c = v->clocks + (size_t)n * --v->clocks_left;
    if (clock) memcpy(c, clock, n * sizeof *c);
    return c;
}

void verify_clock_join(const Verifier *v, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < v->threads.n; i++)
        if (other[i] > clock[i]) clock[i] = other[i];
}

enum { EVENT_WORK = 4 }; /* as many steps of a run take as long */
enum { EVENTS_MAX = 200000, EVENTS_EACH = 32 }; /* of a run, and more for each op: bounds its memory */

EventId event_new(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    t->clock[t->id] = ++t->pos;
    uint32_t *clock = verify_clock_copy(v, t->clock);
    Event *e = vec_add(v->arena, &v->events);
    *e = (Event){.thread = t->id, .pos = t->pos, .op = op, .clock = clock};
    for (int i = 0; i < FENCES; i++) e->fences[i] = t->fences[i].n;
    for (int i = 0; i < COMMITS; i++) e->commits[i] = t->commits[i].n;
    for (uint32_t i = 0; i < t->depth; i++) {
        const Frame *fr = &t->frames[i];
        if (fr->burst || !(v->block[fr->op] & BLOCK_EVENTS)) continue; /* or an `if` */
        e->in = (InLoop){fr->op, e->in.level + 1, fr->pass, (uint32_t)fr->at};
        e->within = loop_fixed(v, fr->op) ? e->within * (uint32_t)fr->past + (uint32_t)fr->at : 0;
        if (!loop_fixed(v, fr->op)) e->open = (InLoop){fr->op, e->open.level + 1, fr->pass, (uint32_t)fr->at};
    }
    if (v->events.n > EVENTS_MAX + EVENTS_EACH * v->nops) verify_spent(v);
    else verify_spend(v, EVENT_WORK);
    t->last = v->events.n;
    t->burst = 0;
    return t->last;
}

EventId event_burst(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    if (t->burst == 0) t->burst = event_new(v, op);
    return t->burst;
}

/* Only who has waited for a phase knows that it is over. */
bool phase_in(const Verifier *v, const Phase *p, const uint32_t *clock)
{
    for (uint32_t i = 0; i < p->waits.n; i++)
        if (event_in(v, p->waits.v[i], clock)) return true;
    return false;
}

bool phase_before(const Verifier *v, const Phase *p, EventId b)
{
    return phase_in(v, p, v->events.v[b - 1].clock);
}

bool access_before(const Verifier *v, const Access *a, EventId b)
{
    if (a->phase) return phase_before(v, a->phase, b) || (a->also && phase_before(v, a->also, b));
    return a->end && event_before(v, a->end, b) && (a->async || a->end != b);
}

EventId fence_before(const Verifier *v, EventId e, Fence fence)
{
    const Event *at = &v->events.v[e - 1];
    uint32_t n = at->fences[fence];
    return n ? v->threads.v[at->thread].fences[fence].v[n - 1] : 0;
}

EventId fence_behind(const Verifier *v, EventId e, Fence fence)
{
    const Event *at = &v->events.v[e - 1];
    const Thread *t = &v->threads.v[at->thread];
    uint32_t n = at->fences[fence];
    return n < t->fences[fence].n ? t->fences[fence].v[n] : 0;
}

/* ---- ends ---- */

/* By which what began at `start` was committed. */
static const Commit *commit_behind(const Verifier *v, EventId start, bool tensor)
{
    const Event *e = &v->events.v[start - 1];
    CommitKind to = tensor ? TO_BARRIER : TO_GROUP;
    const Thread *t = &v->threads.v[e->thread];
    uint32_t n = e->commits[to];
    return n < t->commits[to].n ? &t->commits[to].v[n] : NULL;
}

/* Operations of the tensor core arrive with the commit in their CTA, others where its first one does. Of a pair either CTA's
 * barrier tells of both. */
static void find_ends_of(const Verifier *v, Access *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        Access *a = &all[i];
        bool tensor = by_tensor_core(v, a);
        const Commit *c = a->async && a->phase == NULL ? commit_behind(v, a->start, tensor) : NULL;
        if (c == NULL) continue;
        a->group = !tensor;
        if (!tensor && a->end == 0) a->end = a->tensors ? c->full : c->read;
        if (!tensor) continue;
        a->phase = c->phase[a->at.rank] ? c->phase[a->at.rank] : c->phase[v->nranks];
        if (v->k->pair && a->phase != c->phase[a->at.rank ^ 1]) a->also = c->phase[a->at.rank ^ 1];
    }
}

void find_ends(Verifier *v)
{
    find_ends_of(v, v->accesses.v, v->accesses.n);
    find_ends_of(v, v->transfers.v, v->transfers.n);
}
