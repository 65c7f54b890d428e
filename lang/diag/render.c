#include "lang/diag/render.h"

#include <string.h>

enum {
    TAB = 4,
    CROP = 120,  /* longer lines are cut to a window around the first mark */
    BEFORE = 40, /* columns shown before that mark */
    MARKS = 64   /* labels drawn at one diagnostic; more are dropped */
};

static const char *const CLASS_WORD[] = {
    [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_PERFORMANCE] = "performance"};

/* ---- places ---- */

typedef struct Place {
    Source *file; /* NULL: no place */
    const char *path;
    uint32_t line, byte; /* byte: offset in the line from 0 */
    const char *text;    /* the line */
    uint32_t len;
} Place;

static Place place_of(Diags *d, uint32_t pos)
{
    Place p = {.path = "", .text = ""};
    p.file = pos ? sources_file(d->sources, pos) : NULL;
    if (p.file == NULL) return p;
    uint32_t col;
    source_place(d->sources, pos, &p.path, &p.line, &col);
    p.byte = col - 1;
    p.text = source_line(d->sources, p.file, p.line, &p.len);
    if (p.byte > p.len) p.byte = p.len;
    return p;
}

/* The end of a span that starts at `at`: one that ends at a line's start ends at the end of the line before. */
static Place end_of(Diags *d, const Place *at, Span s)
{
    if (s.hi <= s.lo) return *at;
    Place p = place_of(d, s.hi - 1);
    if (p.file != at->file) p = *at;
    else if (p.byte < p.len) p.byte++;
    return p;
}

static uint32_t column(const Place *p)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < p->byte; n++) {
        size_t len = utf8_length(p->text + i, p->len - i);
        i += len ? (uint32_t)len : 1;
    }
    return n;
}

/* ---- lines as they are shown ---- */

/* Directional formatting characters could show a line as something that it is not. */
static bool is_bidi_control(const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    if (len != 3 || u[0] != 0xE2) return false;
    return (u[1] == 0x80 && (u[2] >= 0xAA && u[2] <= 0xAE)) || (u[1] == 0x81 && u[2] >= 0xA6 && u[2] <= 0xA9);
}

/* Width in columns of what stands at s[*i]; moves *i behind it. Puts it if out is given. */
static uint32_t cell(const char *s, size_t n, size_t *i, uint32_t col, Text *out)
{
    const char *at = s + *i;
    unsigned char c = (unsigned char)*at;
    size_t len = utf8_length(at, n - *i);
    bool shown = len && c >= 0x20 && c != 0x7F && !is_bidi_control(at, len);
    *i += len ? len : 1;
    uint32_t width = c == '\t' ? TAB - col % TAB : 1;
    if (out == NULL) return width;
    if (c == '\t') text_put(out, "    ", width);
    else if (shown) text_put(out, at, len);
    else text_lit(out, "\xEF\xBF\xBD");
    return width;
}

/* Column from 0 at which byte `byte` of the line is shown. */
static uint32_t shown_column(const Place *p, uint32_t byte)
{
    uint32_t col = 0;
    for (size_t i = 0; i < byte && i < p->len;) col += cell(p->text, p->len, &i, col, NULL);
    return col;
}

/* Text of a message: control characters are made visible, further lines are indented. */
static void put_clean(Text *out, const char *s, unsigned indent)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        if (s[i] == '\n') {
            text_char(out, '\n');
            for (unsigned k = 0; k < indent && s[i + 1]; k++) text_char(out, ' ');
            i++;
        } else {
            cell(s, n, &i, 0, out);
        }
    }
}

/* ---- human ---- */

typedef struct Pen {
    Diags *d;
    Text *out;
    bool colour;
    DiagClass cls;
    unsigned digits; /* of the largest line number */
} Pen;

typedef struct Mark {
    Place at, end;
    const char *text; /* "" for the main one */
    bool main;
} Mark;

static void ink(const Pen *p, const char *sgr)
{
    if (p->colour) text_printf(p->out, "\033[%sm", sgr);
}

static const char *class_ink(DiagClass c)
{
    return c == DIAG_ERROR ? "1;31" : c == DIAG_WARNING ? "1;33" : "1;36";
}

#define INK_GUTTER "1;34"
#define INK_OFF "0"

/* "12 | " or "   | " */
static void gutter(const Pen *p, uint32_t line, const char *bar)
{
    ink(p, INK_GUTTER);
    if (line) text_printf(p->out, "%*u %s", (int)p->digits, (unsigned)line, bar);
    else text_printf(p->out, "%*s %s", (int)p->digits, "", bar);
    ink(p, INK_OFF);
}

static void put_where(const Pen *p, const char *arrow, const Place *at)
{
    ink(p, INK_GUTTER);
    text_printf(p->out, "%*s%s ", (int)p->digits, "", arrow);
    ink(p, INK_OFF);
    put_clean(p->out, at->path, 0);
    text_printf(p->out, ":%u:%u\n", (unsigned)at->line, (unsigned)column(at));
}

typedef struct Window {
    uint32_t from, to; /* shown columns */
    bool cut_left, cut_right;
} Window;

static Window window_around(const Place *p, uint32_t col)
{
    uint32_t width = shown_column(p, p->len);
    if (width <= CROP) return (Window){0, width, false, false};
    uint32_t from = col > BEFORE ? col - BEFORE : 0;
    uint32_t to = width - from > CROP ? from + CROP : width;
    return (Window){from, to, from > 0, to < width};
}

static void put_source_line(const Pen *p, const Place *at, Window w)
{
    gutter(p, at->line, "|");
    if (at->len) text_char(p->out, ' ');
    if (w.cut_left) text_lit(p->out, "...");
    uint32_t col = 0;
    for (size_t i = 0; i < at->len && col < w.to;) {
        size_t next = i;
        uint32_t width = cell(at->text, at->len, &next, col, NULL);
        if (col >= w.from) cell(at->text, at->len, &i, col, p->out);
        i = next;
        col += width;
    }
    if (w.cut_right) text_lit(p->out, "...");
    text_char(p->out, '\n');
}

static uint32_t clamp(uint32_t v, uint32_t lo, uint32_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void put_mark(const Pen *p, const Mark *m, Window w)
{
    bool one_line = m->end.line == m->at.line;
    uint32_t from = clamp(shown_column(&m->at, m->at.byte), w.from, w.to);
    uint32_t to = clamp(one_line ? shown_column(&m->at, m->end.byte) : w.to, w.from, w.to);
    uint32_t indent = from - w.from + (w.cut_left ? 3 : 0);
    gutter(p, 0, "| ");
    for (uint32_t i = 0; i < indent; i++) text_char(p->out, ' ');
    ink(p, m->main ? class_ink(p->cls) : INK_GUTTER);
    for (uint32_t i = 0; i < (to > from ? to - from : 1); i++) text_char(p->out, m->main ? '^' : '-');
    if (!one_line) text_printf(p->out, " (to line %u)", (unsigned)m->end.line);
    if (m->text[0]) {
        text_char(p->out, ' ');
        put_clean(p->out, m->text, p->digits + 3);
    }
    ink(p, INK_OFF);
    text_char(p->out, '\n');
}

/* All marks of one file, line by line. */
static void put_file_marks(const Pen *p, const Mark *marks, unsigned n, const Source *file)
{
    uint32_t shown = 0;
    for (;;) {
        const Mark *first = NULL; /* the next line: its mark that comes first in the list gives the window */
        for (unsigned i = 0; i < n; i++) {
            const Mark *m = &marks[i];
            if (m->at.file == file && m->at.line > shown && (first == NULL || m->at.line < first->at.line)) first = m;
        }
        if (first == NULL) return;
        if (shown && first->at.line > shown + 1) {
            ink(p, INK_GUTTER);
            text_lit(p->out, "...\n");
            ink(p, INK_OFF);
        }
        shown = first->at.line;
        Window w = window_around(&first->at, shown_column(&first->at, first->at.byte));
        put_source_line(p, &first->at, w);
        for (unsigned i = 0; i < n; i++)
            if (marks[i].at.file == file && marks[i].at.line == shown) put_mark(p, &marks[i], w);
    }
}

static void put_marks(const Pen *p, const Mark *marks, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bool done = false;
        for (unsigned k = 0; k < i; k++) done = done || marks[k].at.file == marks[i].at.file;
        if (done) continue;
        put_where(p, i == 0 ? "-->" : ":::", &marks[i].at);
        gutter(p, 0, "|\n");
        put_file_marks(p, marks, n, marks[i].at.file);
    }
    gutter(p, 0, "|\n");
}

static void put_remark(const Pen *p, const char *head, const char *text)
{
    ink(p, INK_GUTTER);
    text_printf(p->out, "%*s =", (int)p->digits, "");
    ink(p, INK_OFF);
    text_char(p->out, ' ');
    ink(p, "1");
    text_str(p->out, head);
    ink(p, INK_OFF);
    text_lit(p->out, ": ");
    put_clean(p->out, text, p->digits + 5 + (unsigned)strlen(head));
}

static void put_title(const Pen *p, const Diag *g)
{
    ink(p, class_ink(p->cls));
    text_printf(p->out, "%s %s", CLASS_WORD[p->cls], error_info(g->code)->code);
    ink(p, p->colour ? "0;1" : "");
    text_lit(p->out, ": ");
    put_clean(p->out, g->text, 2);
    ink(p, INK_OFF);
    text_char(p->out, '\n');
}

static unsigned collect_marks(Diags *d, const Diag *g, Mark *marks)
{
    unsigned n = 0;
    Place at = place_of(d, g->span.lo);
    if (g->span.hi && at.file) marks[n++] = (Mark){at, end_of(d, &at, g->span), "", true};
    for (const DiagLabel *l = g->labels; l && n < MARKS; l = l->next) {
        at = place_of(d, l->span.lo);
        if (l->span.hi && at.file) marks[n++] = (Mark){at, end_of(d, &at, l->span), l->text, false};
    }
    return n;
}

void diag_put_human(Diags *d, const Diag *g, bool colour, Text *out)
{
    const ErrorInfo *e = error_info(g->code);
    Mark marks[MARKS];
    unsigned n = collect_marks(d, g, marks);
    Pen p = {d, out, colour, e->cls, 1};
    for (unsigned i = 0; i < n; i++) {
        unsigned digits = 1;
        for (uint32_t line = marks[i].at.line; line >= 10; line /= 10) digits++;
        if (digits > p.digits) p.digits = digits;
    }
    put_title(&p, g);
    if (n) put_marks(&p, marks, n);
    put_remark(&p, "rule", e->rule);
    if (e->source[0]) text_printf(out, " [%s]", e->source);
    text_char(out, '\n');
    for (const DiagLabel *l = g->notes; l; l = l->next) {
        put_remark(&p, "note", l->text);
        Place at = place_of(d, l->span.hi ? l->span.lo : 0);
        if (at.file) {
            text_lit(out, " (");
            put_clean(out, at.path, 0);
            text_printf(out, ":%u:%u)", (unsigned)at.line, (unsigned)column(&at));
        }
        text_char(out, '\n');
    }
    if (g->fix) {
        put_remark(&p, "fix", g->fix);
        text_char(out, '\n');
    }
    text_char(out, '\n');
}

/* ---- one line ---- */

void diag_put_short(Diags *d, const Diag *g, Text *out)
{
    const ErrorInfo *e = error_info(g->code);
    Place at = place_of(d, g->span.hi ? g->span.lo : 0);
    if (at.file) {
        put_clean(out, at.path, 0);
        text_printf(out, ":%u:%u: ", (unsigned)at.line, (unsigned)column(&at));
    }
    text_printf(out, "%s %s: ", CLASS_WORD[e->cls], e->code);
    for (const char *s = g->text; *s;) { /* one line it stays */
        size_t n = strcspn(s, "\n");
        for (size_t i = 0; i < n;) cell(s, n, &i, 0, out);
        s += n;
        if (*s) text_char(out, ' '), s++;
    }
    text_char(out, '\n');
}

/* ---- JSON ---- */

static void json_field(Text *out, const char *name, const char *value)
{
    text_json(out, name, strlen(name));
    text_char(out, ':');
    if (value) text_json(out, value, strlen(value));
    else text_lit(out, "null");
}

static void json_span(Diags *d, Span s, Text *out)
{
    Place at = place_of(d, s.hi ? s.lo : 0);
    if (at.file == NULL) {
        text_lit(out, "\"path\":null,\"line\":0,\"col\":0,\"end_line\":0,\"end_col\":0");
        return;
    }
    Place end = end_of(d, &at, s);
    json_field(out, "path", at.path);
    text_printf(out, ",\"line\":%u,\"col\":%u,\"end_line\":%u,\"end_col\":%u", (unsigned)at.line, (unsigned)column(&at),
                (unsigned)end.line, (unsigned)column(&end));
}

static void json_list(Diags *d, const char *name, const DiagLabel *l, Text *out)
{
    text_printf(out, ",\"%s\":[", name);
    for (const DiagLabel *first = l; l; l = l->next) {
        text_str(out, l == first ? "{" : ",{");
        json_field(out, "text", l->text);
        text_char(out, ',');
        json_span(d, l->span, out);
        text_char(out, '}');
    }
    text_char(out, ']');
}

void diag_put_json(Diags *d, const Diag *g, Text *out)
{
    const ErrorInfo *e = error_info(g->code);
    text_char(out, '{');
    json_field(out, "code", e->code);
    text_char(out, ',');
    json_field(out, "class", CLASS_WORD[e->cls]);
    text_char(out, ',');
    json_field(out, "text", g->text);
    text_char(out, ',');
    json_field(out, "rule", e->rule);
    text_char(out, ',');
    json_field(out, "source", e->source);
    text_char(out, ',');
    json_span(d, g->span, out);
    json_list(d, "labels", g->labels, out);
    json_list(d, "notes", g->notes, out);
    text_char(out, ',');
    json_field(out, "fix", g->fix);
    text_lit(out, "}\n");
}
