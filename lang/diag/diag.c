#include "lang/diag/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/diag/render.h"

#define CLASS_ERROR DIAG_ERROR, false
#define CLASS_LIVE DIAG_ERROR, true
#define CLASS_WARNING DIAG_WARNING, true
#define CLASS_PERFORMANCE DIAG_PERFORMANCE, true
static const ErrorInfo ERRORS[] = {
#define ERROR(code, cls, rule, source, explain) {#code, CLASS_##cls, rule, source, explain},
#include "lang/errors.def"
#undef ERROR
};

const NotYetInfo *not_yet_info(NotYet n)
{
    static const NotYetInfo rows[] = {
#define NOTYET(id, code, what, verb, instead) [NY_##id] = {code, what, verb, instead},
#include "lang/notyet.def"
#undef NOTYET
    };
    return &rows[n];
}

const ErrorInfo *error_info(ErrorCode c)
{
    return &ERRORS[c];
}

/* ---- the set of (code, span) already reported ---- */

typedef struct SeenKey {
    uint32_t code_plus_1, lo, hi; /* code_plus_1 == 0: free */
} SeenKey;
typedef struct Seen {
    SeenKey *slots;
    uint32_t mask, n;
} Seen;

static SeenKey *seen_slot(const Seen *s, SeenKey k)
{
    uint32_t h = (k.lo * 0x9E3779B1u) ^ (k.hi * 0x85EBCA77u) ^ (k.code_plus_1 * 0xC2B2AE3Du);
    for (uint32_t i = (h ^ h >> 15) & s->mask;; i = (i + 1) & s->mask) {
        SeenKey *at = &s->slots[i];
        if (at->code_plus_1 == 0 || (at->code_plus_1 == k.code_plus_1 && at->lo == k.lo && at->hi == k.hi)) return at;
    }
}

static void seen_grow(Arena *a, Seen *s)
{
    Seen bigger = {.mask = s->mask * 2 + 1, .n = s->n};
    bigger.slots = arena_array(a, SeenKey, (size_t)bigger.mask + 1);
    for (uint32_t i = 0; i <= s->mask; i++)
        if (s->slots[i].code_plus_1) *seen_slot(&bigger, s->slots[i]) = s->slots[i];
    *s = bigger;
}

/* Adds the key; false if it was there. */
static bool seen_add(Diags *d, ErrorCode c, Span span)
{
    Seen *s = d->seen;
    SeenKey k = {(uint32_t)c + 1, span.lo, span.hi};
    SeenKey *at = seen_slot(s, k);
    if (at->code_plus_1) return false;
    *at = k;
    if (++s->n > s->mask / 2) seen_grow(d->arena, s);
    return true;
}

/* ---- collecting ---- */

void diags_init(Diags *d, Arena *a, Sources *s)
{
    *d = (Diags){.arena = a, .sources = s, .max_errors = 100};
    d->last = &d->first;
    Seen *seen = arena_new(a, Seen);
    seen->mask = 63;
    seen->slots = arena_array(a, SeenKey, 64);
    d->seen = seen;
}

Diag *diag_vat(Diags *d, ErrorCode c, Span s, const char *fmt, va_list ap)
{
    Diag *g = arena_new(d->arena, Diag);
    g->code = c;
    g->span = s;
    g->text = "";
    /* A span without a place says nothing about sameness: every such report counts. */
    DiagClass cls = ERRORS[c].cls;
    bool dropped = d->quiet || (d->no_performance && cls == DIAG_PERFORMANCE) || (d->excluded && ERRORS[c].live);
    if (dropped) return g;
    if (cls == DIAG_ERROR) d->met++;
    if (s.hi && !seen_add(d, c, s)) return g;
    if (cls == DIAG_WARNING) d->warnings++;
    if (cls == DIAG_ERROR && d->errors++ >= d->max_errors) return g;
    g->text = arena_vprintf(d->arena, fmt, ap);
    *d->last = g;
    d->last = &g->next;
    return g;
}

Diag *diag_at(Diags *d, ErrorCode c, Span s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    Diag *g = diag_vat(d, c, s, fmt, ap);
    va_end(ap);
    return g;
}

static void add_label(Diags *d, DiagLabel **list, Span s, const char *fmt, va_list ap)
{
    while (*list) list = &(*list)->next;
    *list = arena_new(d->arena, DiagLabel);
    **list = (DiagLabel){.span = s, .text = arena_vprintf(d->arena, fmt, ap)};
}

void diag_label(Diags *d, Diag *g, Span s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_label(d, &g->labels, s, fmt, ap);
    va_end(ap);
}

void diag_note(Diags *d, Diag *g, Span s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_label(d, &g->notes, s, fmt, ap);
    va_end(ap);
}

void diag_fix(Diags *d, Diag *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    g->fix = arena_vprintf(d->arena, fmt, ap);
    va_end(ap);
}

/* ---- order ---- */

typedef struct Ordered {
    const Diag *g;
    uint32_t number;
} Ordered;

static int by_place(const void *pa, const void *pb)
{
    const Ordered *a = pa, *b = pb;
    if (a->g->span.lo != b->g->span.lo) return a->g->span.lo < b->g->span.lo ? -1 : 1;
    if (a->g->span.hi != b->g->span.hi) return a->g->span.hi < b->g->span.hi ? -1 : 1;
    return a->number < b->number ? -1 : 1; /* a pass that comes first speaks first */
}

void diags_render(Diags *d, DiagFormat f, bool colour, Text *out)
{
    uint32_t n = 0;
    for (const Diag *g = d->first; g; g = g->next) n++;
    Ordered *v = arena_array(d->arena, Ordered, n);
    n = 0;
    for (const Diag *g = d->first; g; g = g->next) {
        if (d->errors && ERRORS[g->code].cls == DIAG_PERFORMANCE) continue;
        v[n] = (Ordered){g, n};
        n++;
    }
    if (n) qsort(v, n, sizeof *v, by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (f == DIAG_HUMAN) diag_put_human(d, v[i].g, colour, out);
        else if (f == DIAG_SHORT) diag_put_short(d, v[i].g, out);
        else diag_put_json(d, v[i].g, out);
    }
}
