/* The timeline as JSON (Trace Event Format). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/sim/trace/events.h"

typedef struct Writer {
    SimMachine *m;
    const SimTrace *t;
    Text out, word;
    FILE *file;
    bool first, failed;
    uint32_t *phases; /* hashed events of phases + 1 */
    uint32_t phase_mask;
    uint32_t *issues; /* events of issues, by task */
    uint32_t nissues;
    uint32_t *groups, *next; /* hashed ends of copies by their groups, and chains of them: events + 1 */
    uint32_t group_mask;
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

static uint32_t *group_slot(const Writer *w, uint64_t cta, uint32_t thread, uint64_t group)
{
    return &w->groups[(uint32_t)mix(cta, thread, group) & w->group_mask];
}

static const TraceCopy *copy_of(const Writer *w, const Event *issue)
{
    return &w->t->copies[issue->more];
}

static void index_groups(Writer *w)
{
    const SimTrace *t = w->t;
    uint32_t n = 16, ends = 0;
    for (uint32_t i = 0; i < t->n; i++) ends += t->events[i].kind == EV_READS || t->events[i].kind == EV_OVER;
    while (n < ends) n *= 2;
    w->group_mask = n - 1;
    w->groups = mem_resize(t->mem, NULL, n * sizeof *w->groups);
    memset(w->groups, 0, n * sizeof *w->groups);
    w->next = mem_resize(t->mem, NULL, (t->n + (size_t)1) * sizeof *w->next);
    for (uint32_t i = 0; i < t->n; i++) {
        const Event *e = &t->events[i];
        const Event *issue = e->kind == EV_READS || e->kind == EV_OVER ? issue_of(w, e->number) : NULL;
        if (issue == NULL) continue;
        uint32_t *slot = group_slot(w, issue->cta, issue->thread, copy_of(w, issue)->group);
        w->next[i] = *slot;
        *slot = i + 1;
    }
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
    index_groups(w);
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

/* ---- events ---- */

static void args(Writer *w)
{
    text_lit(&w->out, ",\"args\":{");
}

static void next_arg(Writer *w, const char *key)
{
    if (w->out.s[w->out.n - 1] != '{') text_char(&w->out, ',');
    text_printf(&w->out, "\"%s\":", key);
}

static void arg_uint(Writer *w, const char *key, uint64_t v)
{
    next_arg(w, key);
    text_uint(&w->out, v);
}

static void arg_str(Writer *w, const char *key, const char *s)
{
    next_arg(w, key);
    text_json(&w->out, s, strlen(s));
}

static void arg_barrier(Writer *w, uint32_t barrier, uint64_t phase)
{
    char text[24];
    snprintf(text, sizeof text, "smem+%" PRIu32, barrier);
    arg_str(w, "mbarrier", text);
    arg_uint(w, "phase", phase);
    arg_uint(w, "parity", phase & 1);
}

static void arg_place(Writer *w, uint32_t pc)
{
    SimMachine *m = w->m;
    const SimProgram *p = m->launch.program;
    const SimModule *mod = m->launch.module;
    if (pc >= p->nops) return;
    text_clear(&w->word);
    sim_describe_op(m, pc, &w->word);
    if (w->word.s) arg_str(w, "instruction", w->word.s);
    if (p->places == NULL) return;
    const SimPlace *at = &p->places[pc];
    const char *file = mod && at->file < mod->nfiles ? mod->files[at->file] : NULL;
    arg_uint(w, "PTX line", at->ptx_line);
    if (at->line == 0 || file == NULL) return;
    text_clear(&w->word);
    text_printf(&w->word, "%s:%" PRIu32 ":%" PRIu32, file, at->line, at->column);
    arg_str(w, "source", w->word.s);
}

static void put_hex(Writer *w, const char *key, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, v);
    arg_str(w, key, text);
}

/* Lanes that meet at an elect.sync are not worth a slice: a warp comes there as one. */
static bool is_elect(const Writer *w, uint32_t pc)
{
    const SimProgram *p = w->m->launch.program;
    if (pc >= p->nops || p->ops[pc].code != SIM_FORM) return false;
    InstrForm f = p->forms[p->ops[pc].imm].form;
    return f == FORM_ELECT || f == FORM_ELECT_ANY;
}

static void write_wait(Writer *w, const Event *e)
{
    char title[120];
    if (e->wait == WAIT_COLLECTIVE && !e->open && (e->number == 0 || is_elect(w, e->pc))) return;
    const char *end_word = !e->open ? "" : w->m->failed && w->m->code == E1301 ? ", never ends" : ", not over";
    switch ((WaitKind)e->wait) {
    case WAIT_MBARRIER:
        snprintf(title, sizeof title, "wait: smem+%" PRIu32 " phase %" PRIu64 "%s", e->barrier, e->more, end_word);
        break;
    case WAIT_GROUP: snprintf(title, sizeof title, "wait: at most %" PRIu64 " groups%s", e->more, end_word); break;
    case WAIT_NAMED: snprintf(title, sizeof title, "wait: barrier %" PRIu32 "%s", e->barrier, end_word); break;
    case WAIT_CLUSTER: snprintf(title, sizeof title, "wait: cluster barrier%s", end_word); break;
    default: snprintf(title, sizeof title, "wait: warp%s", end_word); break;
    }
    slice(w, e, title, e->number);
    args(w);
    if (e->wait == WAIT_MBARRIER) arg_barrier(w, e->barrier, e->more);
    arg_place(w, e->pc);
    text_char(&w->out, '}');
    end(w);
}

static void write_issue(Writer *w, const Event *e)
{
    const TraceCopy *c = copy_of(w, e);
    char title[80], text[24];
    if (c->ncoords) snprintf(title, sizeof title, "%s %" PRIu32 "d tile", c->verb, c->ncoords);
    else snprintf(title, sizeof title, "%s %" PRIu64 " bytes", c->verb, c->bytes);
    slice(w, e, title, 1);
    args(w);
    arg_uint(w, "copy", c->task);
    arg_uint(w, "bytes", c->bytes);
    if (c->ncoords) next_arg(w, "coordinates");
    for (uint32_t i = c->ncoords; i-- > 0;) {
        text_char(&w->out, i + 1 == c->ncoords ? '[' : ',');
        text_int(&w->out, c->coords[i]);
    }
    if (c->ncoords) text_char(&w->out, ']');
    if (c->global) put_hex(w, "global", c->global);
    snprintf(text, sizeof text, "smem+%" PRIu32, c->shared);
    arg_str(w, "shared", text);
    snprintf(text, sizeof text, "smem+%" PRIu32, c->barrier);
    if (c->group) arg_uint(w, "group", c->group);
    else arg_str(w, "mbarrier", text);
    arg_place(w, e->pc);
    text_char(&w->out, '}');
    end(w);
}

/* The end of a copy, with its arrow. */
static void write_end(Writer *w, const Event *e)
{
    char title[80];
    const Event *from = issue_of(w, e->number);
    static const char *const words[] = {[EV_DONE] = "arrived", [EV_READS] = "has read", [EV_OVER] = "is done"};
    snprintf(title, sizeof title, "copy %" PRIu64 " %s", e->number, words[e->kind]);
    slice(w, e, title, 1);
    args(w);
    arg_uint(w, "copy", e->number);
    if (e->kind == EV_DONE && e->more) arg_barrier(w, e->barrier, e->more - 1);
    if (from && copy_of(w, from)->group) arg_uint(w, "group", copy_of(w, from)->group);
    text_char(&w->out, '}');
    end(w);
    if (from) arrow(w, from, e, "copy");
}

static void write_groups(Writer *w, const Event *e)
{
    char title[100];
    const char *what = e->open ? "reads of " : "";
    if (e->more == e->number) snprintf(title, sizeof title, "%sgroup %" PRIu64 " seen", what, e->number);
    else snprintf(title, sizeof title, "%sgroups %" PRIu64 " .. %" PRIu64 " seen", what, e->more, e->number);
    slice(w, e, title, 1);
    args(w);
    arg_place(w, e->pc);
    text_char(&w->out, '}');
    end(w);
    for (uint64_t g = e->more; g <= e->number; g++)
        for (uint32_t i = *group_slot(w, e->cta, e->thread, g); i; i = w->next[i - 1]) {
            const Event *from = &w->t->events[i - 1], *issue = issue_of(w, from->number);
            if (issue->cta != e->cta || issue->thread != e->thread || copy_of(w, issue)->group != g) continue;
            if (from->kind == (e->open ? EV_READS : EV_OVER)) arrow(w, from, e, "group");
        }
}

static void write_phase(Writer *w, const Event *e)
{
    char title[80];
    bool seen = e->kind == EV_SEEN;
    snprintf(title, sizeof title, "smem+%" PRIu32 ": phase %" PRIu64 " %s", e->barrier, e->number - 1,
             seen ? "seen" : "over");
    slice(w, e, title, 1);
    args(w);
    arg_barrier(w, e->barrier, e->number - 1);
    if (seen) arg_place(w, e->pc);
    text_char(&w->out, '}');
    end(w);
    uint32_t at = seen ? *phase_slot(w, e->of, e->barrier, e->number) : 0;
    if (at) arrow(w, &w->t->events[at - 1], e, "phase");
}

static void write_event(Writer *w, const Event *e)
{
    switch ((EventKind)e->kind) {
    case EV_WAIT: write_wait(w, e); return;
    case EV_ISSUE: write_issue(w, e); return;
    case EV_DONE:
    case EV_READS:
    case EV_OVER: write_end(w, e); return;
    case EV_GROUPS: write_groups(w, e); return;
    case EV_PHASE:
    case EV_SEEN: write_phase(w, e); return;
    }
}

/* An instant, on the line of who did it. */
static void write_finding(Writer *w)
{
    const SimMachine *m = w->m;
    uint64_t cta = 0;
    if (!m->failed) return;
    if (m->found) {
        const uint32_t *g = m->launch.grid;
        uint32_t id[3];
        sim_cta_id(&m->launch, m->finder.cluster, m->finder.rank, id);
        cta = id[0] + (uint64_t)g[0] * (id[1] + (uint64_t)g[1] * id[2]);
    }
    begin(w, "i", cta, m->found ? m->finder.thread / 32u : 0, m->stats.steps);
    text_printf(&w->out, ",\"s\":\"%s\"", m->found ? "t" : "g");
    name(w, error_info(m->code)->code);
    args(w);
    arg_str(w, "finding", m->finding.s ? m->finding.s : "");
    text_char(&w->out, '}');
    end(w);
}

static void write_all(Writer *w)
{
    const SimTrace *t = w->t;
    text_lit(&w->out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    write_row_names(w);
    for (uint32_t i = 0; i < t->n && !w->failed; i++) write_event(w, &t->events[i]);
    write_finding(w);
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

bool trace_write(SimMachine *m, const char *path, char *text, size_t size)
{
    SimTrace *t = m->trace;
    Writer w = {.m = m, .t = t, .first = true};
    char temporary[4096];
    struct stat st; /* a pipe or a device is written to, not replaced */
    bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    int n = snprintf(temporary, sizeof temporary, "%s%s", path, direct ? "" : ".part");
    if (n < 0 || (size_t)n >= sizeof temporary) {
        snprintf(text, size, "%s: the path is too long", path);
        return false;
    }
    text_init(&w.out, t->mem);
    text_init(&w.word, t->mem);
    index_events(&w);
    for (int i = 0; i < FLUSH_BYTES + 8192;
         i += 64) /* room for all that stands there at a time, before the file is open */
        text_lit(&w.out, "                                                                ");
    text_clear(&w.out);
    bool ok = false;
    w.file = fopen(temporary, "wb");
    if (w.file) {
        write_all(&w);
        ok = fclose(w.file) == 0 && !w.failed && (direct || rename(temporary, path) == 0);
    }
    if (!ok) {
        snprintf(text, size, "%s: %s", path, strerror(errno));
        if (w.file && !direct) remove(temporary);
    }
    text_free(&w.out);
    text_free(&w.word);
    mem_free(t->mem, w.groups);
    mem_free(t->mem, w.next);
    mem_free(t->mem, w.phases);
    mem_free(t->mem, w.issues);
    return ok;
}
