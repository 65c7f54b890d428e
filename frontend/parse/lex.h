/* Text -> tokens. Any bytes may come in: what is no token is reported once and skipped. */
#ifndef FRONTEND_LEX_H
#define FRONTEND_LEX_H

#include "frontend/parse.tab.h"

typedef struct Lexer {
    const char *cursor, *limit, *marker; /* limit: the 0 byte behind the text */
    const Source *src;
    Arena *arena;
    Names *names;
    Diags *diags;
    /* Place of the newest token. Two stores that one load picks up again stall it (measured: a tenth of the
     * parser's time), so the two do not stand side by side. */
    uint32_t lo;
    uint32_t errors;
    uint32_t hi;
} Lexer;

void lexer_init(Lexer *lx, ParseContext *cx, const Source *src);
/* The kind (TK_END at the end, again and again), with its value; its place is in lo and hi. */
int lexer_next(Lexer *lx, TILE_STYPE *value);
/* "`" text "`" for the user, shortened, made printable. */
const char *lexer_quote(Lexer *lx, Span s);

/* Digits of any base with `_` between them; false if the value passes 2^64 - 1. */
bool literal_int(const char *s, size_t n, unsigned base, uint64_t *value);
/* Digits, a point, an exponent; the result does not depend on the locale. */

#endif
