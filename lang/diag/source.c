#include "lang/diag/source.h"

#include <string.h>

enum { SOURCES_MAX = 1 << 30 };

void sources_init(Sources *s, Arena *a)
{
    *s = (Sources){.arena = a, .end = 1};
}

Source *sources_add(Sources *s, const char *path, const char *text, size_t len)
{
    /* One position more than bytes: the end of the text is a place too. */
    if (len >= SOURCES_MAX || s->end + len + 1 > SOURCES_MAX) return NULL;
    Source *f = arena_new(s->arena, Source);
    *f = (Source){.path = path, .text = text, .len = (uint32_t)len, .base = s->end};
    s->end += (uint32_t)len + 1;
    vec_push(s->arena, &s->files, f);
    return f;
}

Source *sources_file(const Sources *s, uint32_t pos)
{
    uint32_t lo = 0, hi = s->files.n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        Source *f = s->files.v[mid];
        if (pos < f->base) hi = mid;
        else if (pos > f->base + f->len) lo = mid + 1;
        else return f;
    }
    return NULL;
}

static void find_lines(Sources *s, Source *f)
{
    if (f->lines) return;
    const char *end = f->text + f->len;
    uint32_t n = 1;
    for (const char *p = f->text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) n++;
    f->lines = arena_array(s->arena, uint32_t, n);
    f->nlines = n;
    n = 1;
    for (const char *p = f->text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        f->lines[n++] = (uint32_t)(p - f->text) + 1;
}

void source_place(Sources *s, uint32_t pos, const char **path, uint32_t *line, uint32_t *col)
{
    Source *f = pos ? sources_file(s, pos) : NULL;
    *path = f ? f->path : "";
    *line = *col = 0;
    if (f == NULL) return;
    find_lines(s, f);
    uint32_t at = pos - f->base, lo = 0, hi = f->nlines;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->lines[mid] <= at) lo = mid;
        else hi = mid;
    }
    *line = lo + 1;
    *col = at - f->lines[lo] + 1;
}

const char *source_place_text(Sources *s, Arena *a, Span at, bool recorded)
{
    const Source *f = s && at.hi ? sources_file(s, at.lo) : NULL;
    const char *path;
    uint32_t line, col;
    if (f == NULL) return "";
    source_place(s, at.lo, &path, &line, &col);
    return arena_printf(a, "%s:%u:%u", recorded ? source_recorded(f) : path, line, col);
}

const char *source_line(Sources *s, Source *f, uint32_t line, uint32_t *len)
{
    find_lines(s, f);
    *len = 0;
    if (line == 0 || line > f->nlines) return "";
    uint32_t from = f->lines[line - 1];
    uint32_t to = line < f->nlines ? f->lines[line] - 1 : f->len;
    if (line < f->nlines && to > from && f->text[to - 1] == '\r') to--;
    *len = to - from;
    return f->text + from;
}
