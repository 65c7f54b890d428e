/* Events of a launch, kept compactly while it runs and written as JSON at its end.
 *
 * A process is a CTA, a row one of its warps, named after the role that it runs in, or the CTA's copy engine. Arrows are
 * made when the file is written: from the issue of a copy to its arrival, from the end of an mbarrier's phase to the
 * waits that saw it. Events beyond a limit are dropped, which the last one says.
 */
#include "runtime/sim/trace/events.h"

#include <string.h>

void *trace_open(Mem *mem)
{
    SimTrace *t = mem_resize(mem, NULL, sizeof *t);
    *t = (SimTrace){.mem = mem};
    return t;
}

void trace_close(void *trace)
{
    SimTrace *t = trace;
    if (t == NULL) return;
    if (t->events) mem_free(t->mem, t->events);
    if (t->copies) mem_free(t->mem, t->copies);
    if (t->rows) mem_free(t->mem, t->rows);
    mem_free(t->mem, t);
}

/* ---- recording ---- */

static uint64_t linear(const SimMachine *m, const SimCta *cta)
{
    const uint32_t *g = m->launch.grid;
    return cta->id[0] + (uint64_t)g[0] * (cta->id[1] + (uint64_t)g[1] * cta->id[2]);
}

static Row *slot_of(Row *rows, uint32_t mask, uint64_t cta, uint32_t row)
{
    uint32_t i = (uint32_t)mix(cta, row, 0) & mask;
    while (rows[i].used && (rows[i].cta != cta || rows[i].row != row)) i = (i + 1) & mask;
    return &rows[i];
}

static void more_rows(SimTrace *t)
{
    uint32_t size = t->rows ? (t->mask + 1) * 2 : 64;
    Row *rows = mem_resize(t->mem, NULL, size * sizeof *rows);
    memset(rows, 0, size * sizeof *rows);
    for (uint32_t i = 0; t->rows && i <= t->mask; i++)
        if (t->rows[i].used) *slot_of(rows, size - 1, t->rows[i].cta, t->rows[i].row) = t->rows[i];
    if (t->rows) mem_free(t->mem, t->rows);
    t->rows = rows;
    t->mask = size - 1;
}

static Row *row_of(SimTrace *t, uint64_t cta, uint32_t row)
{
    if (t->rows == NULL || t->nrows * 2 > t->mask) more_rows(t);
    Row *r = slot_of(t->rows, t->mask, cta, row);
    if (!r->used) {
        *r = (Row){.cta = cta, .row = row, .used = true};
        t->nrows++;
    }
    return r;
}

static bool add(SimTrace *t, Event e)
{
    if (t->n == EVENTS_MAX) {
        t->dropped++;
        return false;
    }
    row_of(t, e.cta, e.row);
    t->events = mem_grow(t->mem, t->events, &t->cap, t->n + 1, sizeof *t->events);
    t->events[t->n++] = e;
    return true;
}

static Event at_thread(SimMachine *m, const SimThread *th, EventKind kind, uint64_t at)
{
    SimTrace *t = m->trace;
    Event e = {.kind = (uint8_t)kind,
               .at = at,
               .cta = linear(m, th->cta),
               .row = (uint16_t)(th->id / 32),
               .thread = th->id,
               .pc = th->at};
    if (th->role && t->n < EVENTS_MAX) row_of(t, e.cta, e.row)->role = th->role;
    return e;
}

static Event at_engine(SimMachine *m, const SimCta *cta, EventKind kind)
{
    return (Event){.kind = (uint8_t)kind, .at = m->stats.steps, .cta = linear(m, cta), .row = ENGINE_ROW};
}

/* The same wait of another lane, or after a poll that failed. */
static bool extends(const Event *last, const Event *e)
{
    if (last->wait != e->wait || last->pc != e->pc || last->barrier != e->barrier || last->more != e->more)
        return false;
    return e->wait == WAIT_MBARRIER || e->at <= last->at + last->number;
}

void trace_wait(SimMachine *m, const SimThread *th, uint64_t from, uint64_t to, bool open)
{
    SimTrace *t = m->trace;
    Event e = at_thread(m, th, EV_WAIT, from);
    e.number = to - from;
    e.wait = (uint8_t)th->wait;
    e.open = open;
    if (th->wait == WAIT_MBARRIER && th->on) e.barrier = th->on->offset, e.more = th->on_phase - 1;
    if (th->wait == WAIT_NAMED) e.barrier = th->named;
    if (th->wait == WAIT_GROUP) e.more = th->group_target;
    Row *r = row_of(t, e.cta, e.row);
    Event *last = r->last_wait ? &t->events[r->last_wait - 1] : NULL;
    if (last && extends(last, &e)) {
        uint64_t end = last->at + last->number > to ? last->at + last->number : to;
        if (from < last->at) last->at = from;
        last->number = end - last->at;
        last->open |= open;
        return;
    }
    if (add(t, e)) row_of(t, e.cta, e.row)->last_wait = t->n;
}

void trace_waits(SimMachine *m)
{
    for (uint32_t i = 0; i < m->nresident; i++)
        for (uint32_t r = 0; r < m->resident[i]->nctas; r++) {
            const SimCta *cta = m->resident[i]->ctas[r];
            for (uint32_t k = 0; k < cta->nthreads; k++) {
                const SimThread *t = &cta->threads[k];
                if (t->wait != WAIT_NONE && t->wait != WAIT_EXITED) trace_wait(m, t, t->since, m->stats.steps, true);
            }
        }
}

void trace_issue(SimMachine *m, const SimThread *th, const TraceCopy *c)
{
    SimTrace *t = m->trace;
    Event e = at_thread(m, th, EV_ISSUE, m->stats.steps);
    e.number = c->task;
    e.more = t->ncopies;
    if (!add(t, e)) return;
    t->copies = mem_grow(t->mem, t->copies, &t->capcopies, t->ncopies + 1, sizeof *t->copies);
    t->copies[t->ncopies++] = *c;
}

void trace_done(SimMachine *m, uint64_t task, const SimCta *where)
{
    SimTrace *t = m->trace;
    Event e = at_engine(m, where, EV_DONE);
    e.number = task;
    if (t->task == task) {
        e.barrier = t->task_barrier;
        e.more = t->task_phase;
    }
    add(t, e);
}

static void group_event(SimMachine *m, uint64_t task, const SimWho *who, EventKind kind)
{
    const uint32_t *g = m->launch.grid;
    uint32_t id[3];
    sim_cta_id(&m->launch, who->cluster, who->rank, id);
    add(m->trace, (Event){.kind = (uint8_t)kind,
                          .at = m->stats.steps,
                          .cta = id[0] + (uint64_t)g[0] * (id[1] + (uint64_t)g[1] * id[2]),
                          .row = ENGINE_ROW,
                          .number = task});
}

void trace_reads(SimMachine *m, uint64_t task, const SimWho *who)
{
    group_event(m, task, who, EV_READS);
}

void trace_over(SimMachine *m, uint64_t task, const SimWho *who)
{
    group_event(m, task, who, EV_OVER);
}

void trace_groups(SimMachine *m, const SimThread *th, uint64_t from, uint64_t upto, bool read)
{
    if (upto <= from) return;
    Event e = at_thread(m, th, EV_GROUPS, m->stats.steps);
    e.number = upto;
    e.more = from + 1;
    e.open = read;
    add(m->trace, e);
}

void trace_seen(SimMachine *m, const SimThread *th, const SimCta *cta, uint32_t barrier, uint64_t phase)
{
    Event e = at_thread(m, th, EV_SEEN, m->stats.steps);
    e.number = phase;
    e.barrier = barrier;
    e.of = linear(m, cta);
    add(m->trace, e);
}

void trace_phase(SimMachine *m, const SimCta *cta, uint32_t barrier, uint64_t phase)
{
    Event e = at_engine(m, cta, EV_PHASE);
    e.number = phase;
    e.barrier = barrier;
    add(m->trace, e);
}

void trace_task_phase(SimMachine *m, uint64_t task, const SimCta *cta, uint32_t barrier, uint64_t phase)
{
    SimTrace *t = m->trace;
    (void)cta; /* trace_done follows, with the CTA */
    t->task = task;
    t->task_barrier = barrier;
    t->task_phase = phase;
}
