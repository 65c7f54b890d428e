/* Files of `tilecc tune`: `copy on "NVIDIA H200" from 4194304: BM=64 by ticket`, a line for each kernel, GPU and least number of bytes that a
 * launch moves; `#` begins a comment. They name what the program has: what it has no more is a warning, for a tuned program goes on changing. */
#include <string.h>

#include "frontend/check/check.h"
#include "frontend/wish.h"

static bool take(WishText *t, char ch)
{
    wish_skip(t);
    if (t->p == t->end || *t->p != ch) return false;
    t->p++, t->at++;
    return true;
}

static void expect(WishText *t, const char *word)
{
    Span at;
    if (t->wrong) return;
    const char *found = wish_word(t, &at);
    if (strcmp(found, word) != 0) wish_wrong(t, at, "`%s` where `%s` is due: KERNEL on \"GPU\" from BYTES: SCHEDULE", found, word);
}

static const char *quoted(WishText *t)
{
    wish_skip(t);
    Span here = {t->at, t->at + 1};
    const char *from = NULL, *close = take(t, '"') ? memchr(from = t->p, '"', (size_t)(t->end - t->p)) : NULL;
    if (!close || close == from) {
        wish_wrong(t, here, "the name of a GPU is due, in quotes");
        return "";
    }
    t->at += (uint32_t)(close + 1 - t->p);
    t->p = close + 1;
    return arena_strdup(t->c->arena, from, (size_t)(close - from));
}

static void read_line(TuneFile *f, WishText *t, bool pin)
{
    TuneLine line = {.gpu = ""};
    line.kernel = wish_word(t, &line.kernel_span);
    if (!pin) {
        expect(t, "on");
        if (!t->wrong) line.gpu = quoted(t);
        expect(t, "from");
        if (!t->wrong) wish_number(t, 0, &line.least);
    }
    wish_skip(t);
    Span here = {t->at, t->at + 1};
    if (!t->wrong && !take(t, ':')) wish_wrong(t, here, "a `:` and the schedule are due behind `%s`", pin ? line.kernel : "from BYTES");
    if (!t->wrong) line.wish = wish_read(t);
    for (uint32_t i = 0; !t->wrong && i < f->lines.n; i++) {
        const TuneLine *l = &f->lines.v[i];
        if (pin || strcmp(l->kernel, line.kernel) != 0 || strcmp(l->gpu, line.gpu) != 0 || l->least != line.least) continue;
        wish_wrong(t, line.kernel_span, "a second schedule of `%s` on \"%s\" from %lld bytes on", l->kernel, l->gpu, (long long)l->least);
    }
    if (!t->wrong) vec_push(t->c->arena, &f->lines, line);
}

/* The first fault ends it: of a file that is something else one is enough. */
TuneFile *tune_read(Compilation *c, const Source *text, bool pin)
{
    TuneFile *f = arena_new(c->arena, TuneFile);
    const char *end = text->text + text->len, *p = text->text;
    bool wrong = false;
    if (text->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3; /* byte order mark, as in programs */
    while (p < end && !wrong) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        WishText t = {.c = c, .p = p, .end = stop, .at = text->base + (uint32_t)(p - text->text)};
        wish_skip(&t);
        if (memchr(p, 0, (size_t)(stop - p))) wish_wrong(&t, (Span){t.at, t.at + 1}, "the line has bytes of value 0: no text");
        else if (t.p < t.end && *t.p != '#') read_line(f, &t, pin);
        wrong = t.wrong;
        p = stop + 1;
    }
    return f;
}
