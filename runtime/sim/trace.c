/* Events of a launch, kept compactly while it runs and written as JSON at its end.
 *
 * A process is a CTA, a row one of its warps, named after the role that it runs in, or the CTA's copy engine. Arrows are
 * made when the file is written: from the issue of a copy to its arrival, from the end of an mbarrier's phase to the
 * waits that saw it. Events beyond a limit are dropped, which the last one says.
 */
#include "runtime/sim/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS_MAX = 1000000, ENGINE_ROW = 1000, FLUSH_BYTES = 1 << 16 };

typedef enum EventKind { EV_WAIT, EV_ISSUE, EV_DONE, EV_PHASE, EV_SEEN } EventKind;

typedef struct Event {
    const char *what; /* WAIT, ISSUE: a string that outlives the launch */
    uint64_t at;      /* step */
    uint64_t number;  /* WAIT: steps; ISSUE, DONE: task; PHASE, SEEN: phase */
    uint64_t bytes;   /* ISSUE; DONE: phase of the barrier, 0: none */
    uint64_t cta;     /* linear in the grid: where it happened */
    uint64_t of;      /* SEEN: CTA of the barrier */
    uint32_t barrier; /* DONE, PHASE, SEEN: byte in the CTA's shared memory */
    uint16_t row;
    uint8_t kind;
} Event;

typedef struct Row { /* of a CTA that has events */
    uint64_t cta;
    uint32_t row;
    bool used;
    const char *role;
    uint32_t last_wait; /* event + 1 */
} Row;

typedef struct SimTrace {
    Mem *mem;
    Event *events;
    uint32_t n, cap;
    uint64_t dropped;
    Row *rows; /* hashed, nrows of mask + 1 */
    uint32_t nrows, mask;
    /* the last task whose bytes went to a barrier */
    uint64_t task, task_phase;
    uint32_t task_barrier;
} SimTrace;

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
    if (t->rows) mem_free(t->mem, t->rows);
    mem_free(t->mem, t);
}

/* ---- recording ---- */

static uint64_t linear(const SimMachine *m, const SimCta *cta)
{
    const uint32_t *g = m->launch.grid;
    return cta->id[0] + (uint64_t)g[0] * (cta->id[1] + (uint64_t)g[1] * cta->id[2]);
}

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = (a * UINT64_C(0x9E3779B97F4A7C15)) ^ (b + UINT64_C(0x7F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 31 ^ c) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 29;
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
    Event e = {.kind = (uint8_t)kind, .at = at, .cta = linear(m, th->cta), .row = (uint16_t)(th->id / 32)};
    if (th->role && t->n < EVENTS_MAX) row_of(t, e.cta, e.row)->role = th->role;
    return e;
}

static Event at_engine(SimMachine *m, const SimCta *cta, EventKind kind)
{
    return (Event){.kind = (uint8_t)kind, .at = m->stats.steps, .cta = linear(m, cta), .row = ENGINE_ROW};
}

/* The lanes of a warp that wait for the same thing are one slice. */
void trace_wait(SimMachine *m, const SimThread *th, uint64_t from, uint64_t to, const char *what)
{
    SimTrace *t = m->trace;
    Event e = at_thread(m, th, EV_WAIT, from);
    e.what = what;
    e.number = to - from;
    Row *r = row_of(t, e.cta, e.row);
    if (r->last_wait) {
        Event *last = &t->events[r->last_wait - 1];
        if (strcmp(last->what, what) == 0 && from < last->at + last->number) {
            uint64_t end = last->at + last->number > to ? last->at + last->number : to;
            if (from < last->at) last->at = from;
            last->number = end - last->at;
            return;
        }
    }
    if (add(t, e)) row_of(t, e.cta, e.row)->last_wait = t->n;
}

void trace_issue(SimMachine *m, const SimThread *th, uint64_t task, const char *what, uint64_t bytes)
{
    Event e = at_thread(m, th, EV_ISSUE, m->stats.steps);
    e.what = what;
    e.number = task;
    e.bytes = bytes;
    add(m->trace, e);
}

void trace_done(SimMachine *m, uint64_t task, const SimCta *where)
{
    SimTrace *t = m->trace;
    if (where == NULL) return; /* a bulk group: nothing arrives in a CTA */
    Event e = at_engine(m, where, EV_DONE);
    e.number = task;
    if (t->task == task) {
        e.barrier = t->task_barrier;
        e.bytes = t->task_phase;
    }
    add(t, e);
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

/* ---- writing ---- */

typedef struct Writer {
    const SimMachine *m;
    const SimTrace *t;
    Text out;
    FILE *file;
    bool first, failed;
    uint32_t *phases; /* hashed events of phases + 1 */
    uint32_t phase_mask;
    uint32_t *issues; /* events of issues, by task */
    uint32_t nissues;
    uint64_t arrows;
} Writer;

static void flush(Writer *w)
{
    if (w->out.n && !w->failed && fwrite(w->out.s, 1, w->out.n, w->file) != w->out.n) w->failed = true;
    text_clear(&w->out);
}

static void begin(Writer *w, const char *kind, uint64_t cta, uint32_t row, uint64_t at)
{
    if (w->out.n > FLUSH_BYTES) flush(w);
    text_str(&w->out, w->first ? "\n" : ",\n");
    w->first = false;
    text_printf(&w->out, "{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64, kind, cta, row, at);
}

static void name(Writer *w, const char *s)
{
    text_lit(&w->out, ",\"name\":");
    text_json(&w->out, s, strlen(s));
}

static void end(Writer *w)
{
    text_char(&w->out, '}');
}

static void slice(Writer *w, const Event *e, const char *title, uint64_t steps)
{
    begin(w, "X", e->cta, e->row, e->at);
    text_printf(&w->out, ",\"dur\":%" PRIu64, steps ? steps : 1);
    name(w, title);
}

static void arrow(Writer *w, const Event *from, const Event *to, const char *title)
{
    uint64_t id = ++w->arrows;
    for (int last = 0; last < 2; last++) {
        const Event *e = last ? to : from;
        begin(w, last ? "f" : "s", e->cta, e->row, e->at);
        text_printf(&w->out, ",\"id\":%" PRIu64 ",\"cat\":\"async\"%s", id, last ? ",\"bp\":\"e\"" : "");
        name(w, title);
        end(w);
    }
}

static uint32_t *phase_slot(const Writer *w, uint64_t cta, uint32_t barrier, uint64_t phase)
{
    uint32_t i = (uint32_t)mix(cta, barrier, phase) & w->phase_mask;
    for (; w->phases[i]; i = (i + 1) & w->phase_mask) {
        const Event *e = &w->t->events[w->phases[i] - 1];
        if (e->cta == cta && e->barrier == barrier && e->number == phase) break;
    }
    return &w->phases[i];
}

static const Event *issue_of(const Writer *w, uint64_t task)
{
    uint32_t lo = 0, hi = w->nissues;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (w->t->events[w->issues[mid]].number < task) lo = mid + 1;
        else hi = mid;
    }
    if (lo == w->nissues || w->t->events[w->issues[lo]].number != task) return NULL;
    return &w->t->events[w->issues[lo]];
}

static void index_events(Writer *w)
{
    const SimTrace *t = w->t;
    uint32_t n = 16, phases = 0;
    for (uint32_t i = 0; i < t->n; i++) phases += t->events[i].kind == EV_PHASE;
    while (n < phases * 2) n *= 2;
    w->phase_mask = n - 1;
    w->phases = mem_resize(t->mem, NULL, n * sizeof *w->phases);
    memset(w->phases, 0, n * sizeof *w->phases);
    w->issues = mem_resize(t->mem, NULL, (t->n + (size_t)1) * sizeof *w->issues);
    for (uint32_t i = 0; i < t->n; i++) {
        const Event *e = &t->events[i];
        if (e->kind == EV_ISSUE) w->issues[w->nissues++] = i;
        if (e->kind == EV_PHASE) *phase_slot(w, e->cta, e->barrier, e->number) = i + 1;
    }
}

static void write_row_names(Writer *w)
{
    const uint32_t *g = w->m->launch.grid;
    for (uint32_t i = 0; w->t->rows && i <= w->t->mask; i++) {
        const Row *r = &w->t->rows[i];
        char title[200];
        if (!r->used) continue;
        begin(w, "M", r->cta, r->row, 0);
        name(w, "process_name");
        text_printf(&w->out, ",\"args\":{\"name\":\"CTA (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")\"}", r->cta % g[0],
                    r->cta / g[0] % g[1], r->cta / g[0] / g[1]);
        end(w);
        if (r->row == ENGINE_ROW) snprintf(title, sizeof title, "copy engine");
        else if (r->role) snprintf(title, sizeof title, "warp %" PRIu32 ", role %s", r->row, r->role);
        else snprintf(title, sizeof title, "warp %" PRIu32, r->row);
        begin(w, "M", r->cta, r->row, 0);
        name(w, "thread_name");
        text_lit(&w->out, ",\"args\":{\"name\":");
        text_json(&w->out, title, strlen(title));
        text_char(&w->out, '}');
        end(w);
    }
}

static void write_event(Writer *w, const Event *e)
{
    char title[80];
    const Event *from = NULL;
    switch ((EventKind)e->kind) {
    case EV_WAIT:
        snprintf(title, sizeof title, "wait: %s", e->what);
        slice(w, e, title, e->number);
        break;
    case EV_ISSUE:
        slice(w, e, e->what, 1);
        text_printf(&w->out, ",\"args\":{\"copy\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", e->number, e->bytes);
        break;
    case EV_DONE:
        snprintf(title, sizeof title, "copy %" PRIu64 " arrived", e->number);
        slice(w, e, title, 1);
        if (e->bytes)
            text_printf(&w->out, ",\"args\":{\"mbarrier\":\"smem+%" PRIu32 "\",\"phase\":%" PRIu64 "}", e->barrier,
                        e->bytes);
        from = issue_of(w, e->number);
        break;
    case EV_PHASE:
        snprintf(title, sizeof title, "smem+%" PRIu32 ": phase %" PRIu64 " over", e->barrier, e->number);
        slice(w, e, title, 1);
        break;
    case EV_SEEN: {
        snprintf(title, sizeof title, "smem+%" PRIu32 ": phase %" PRIu64 " seen", e->barrier, e->number);
        slice(w, e, title, 1);
        uint32_t at = *phase_slot(w, e->of, e->barrier, e->number);
        if (at) from = &w->t->events[at - 1];
        break;
    }
    }
    end(w);
    if (from) arrow(w, from, e, e->kind == EV_DONE ? "copy" : "phase");
}

static void write_all(Writer *w)
{
    const SimTrace *t = w->t;
    text_lit(&w->out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    write_row_names(w);
    for (uint32_t i = 0; i < t->n && !w->failed; i++) write_event(w, &t->events[i]);
    if (t->dropped) {
        Event last = t->events[t->n - 1];
        char title[120];
        snprintf(title, sizeof title, "the trace ends here: %" PRIu64 " more events are not in it", t->dropped);
        slice(w, &last, title, 1);
        end(w);
    }
    text_lit(&w->out, "\n]}\n");
    flush(w);
}

bool trace_write(const SimMachine *m, const char *path, char *text, size_t size)
{
    SimTrace *t = m->trace;
    Writer w = {.m = m, .t = t, .first = true};
    char temporary[4096];
    int n = snprintf(temporary, sizeof temporary, "%s.part", path);
    if (n < 0 || (size_t)n >= sizeof temporary) {
        snprintf(text, size, "%s: the path is too long", path);
        return false;
    }
    text_init(&w.out, t->mem);
    index_events(&w);
    for (int i = 0; i < FLUSH_BYTES + 8192;
         i += 64) /* room for all that stands there at a time, before the file is open */
        text_lit(&w.out, "                                                                ");
    text_clear(&w.out);
    bool ok = false;
    w.file = fopen(temporary, "wb");
    if (w.file) {
        write_all(&w);
        ok = fclose(w.file) == 0 && !w.failed && rename(temporary, path) == 0;
    }
    if (!ok) {
        snprintf(text, size, "%s: %s", path, strerror(errno));
        if (w.file) remove(temporary);
    }
    text_free(&w.out);
    mem_free(t->mem, w.phases);
    mem_free(t->mem, w.issues);
    return ok;
}
