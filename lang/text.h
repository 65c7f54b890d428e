/* A growing text buffer: the one writer behind diagnostics, IR, PTX and JSON. */
#ifndef LANG_TEXT_H
#define LANG_TEXT_H

#include <stdarg.h>

#include "lang/arena.h"

typedef struct Text {
    Mem *mem;
    Arena *arena; /* text_in */
    char *s; /* 0-terminated once anything was written */
    size_t n, cap;
} Text;

void text_init(Text *t, Mem *mem);
void text_free(Text *t);
/* In an arena: nothing is to be freed, whatever fails. What is taken from the arena meanwhile makes it move when it grows. */
void text_in(Text *t, Arena *a);
const char *text_end(Text *t); /* of text_in: what was written, "" too; it is complete then */
void text_clear(Text *t);
void text_put(Text *t, const char *s, size_t n);
void text_put_front(Text *t, const char *s, size_t n); /* in front of all that is there; s is none of it */
void text_str(Text *t, const char *s);
void text_char(Text *t, char c);
void text_int(Text *t, int64_t v); /* decimal, fast */
void text_uint(Text *t, uint64_t v);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void text_printf(Text *t, const char *fmt, ...);
void text_vprintf(Text *t, const char *fmt, va_list ap);
void text_json(Text *t, const char *s, size_t n); /* a quoted JSON string; invalid UTF-8 becomes U+FFFD */
/* Length of the well-formed UTF-8 sequence at s (Unicode, table 3-7), 0 if there is none; n >= 1. */
size_t utf8_length(const char *s, size_t n);
/* A literal piece, the length known at compile time. */
#define text_lit(t, s) text_put((t), (s), sizeof(s) - 1)

/* The value of digits with a point, an exponent or neither, whatever the host's locale; '_' between digits is none. */
double decimal_value(Arena *a, const char *s, size_t n);

#endif
