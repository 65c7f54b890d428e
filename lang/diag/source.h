/* Source texts and places in them.
 *
 * All files of a compilation share one space of byte positions (file after file), so a place is two
 * 32-bit numbers and also says which file it is in. Line and column are worked out only when printing.
 */
#ifndef LANG_SOURCE_H
#define LANG_SOURCE_H

#include <stdbool.h>

#include "lang/arena.h"

typedef struct Span {
    uint32_t lo, hi; /* bytes [lo, hi); {0, 0}: no place */
} Span;

typedef struct Source {
    const char *path;     /* as shown to the user */
    const char *recorded; /* as it stands in what is made from it; NULL: as path */
    const char *text; /* 0-terminated; may contain 0 bytes and any others */
    uint32_t len;
    uint32_t base;   /* position of text[0]; >= 1 */
    uint32_t *lines; /* offsets of line starts, made on demand */
    uint32_t nlines;
} Source;

typedef struct Sources {
    Arena *arena;
    VEC(Source *) files;
    uint32_t end; /* next free position */
} Sources;

void sources_init(Sources *s, Arena *a);
/* The text is borrowed and must outlive the Sources and be followed by a 0 byte.
 * NULL if all sources together would exceed 1 GiB. */
Source *sources_add(Sources *s, const char *path, const char *text, size_t len);
Source *sources_file(const Sources *s, uint32_t pos); /* NULL if pos is in no file */
/* 1-based line; column in bytes, 1-based. */
void source_place(Sources *s, uint32_t pos, const char **path, uint32_t *line, uint32_t *col);
static inline const char *source_recorded(const Source *f)
{
    return f->recorded ? f->recorded : f->path;
}
/* "copy.tile:12:5" of a span, in the arena; "" of none. recorded: as launches say it, wherever the compiler was called. */
const char *source_place_text(Sources *s, Arena *a, Span at, bool recorded);
/* The line's text without its end (CR LF and LF both end a line). */
const char *source_line(Sources *s, Source *f, uint32_t line, uint32_t *len);

static inline Span span_join(Span a, Span b)
{
    if (a.hi == 0) return b;
    if (b.hi == 0) return a;
    return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

#endif
