/* --emit=tokens: one token per line with its place. */
#include "frontend/parse/parse.h"

static const char *class_of(int kind)
{
    if (kind >= TK_TARGET && kind <= TK_TRUST) return "word";
    switch (kind) {
    case TK_END: return "end";
    case TK_IDENT: return "name";
    case TK_INT: return "int";
    case TK_FLOAT: return "float";
    case TK_STRING: return "string";
    default: return "punctuation";
    }
}

void print_tokens(ParseContext *cx, Source *src, Text *out)
{
    Lexer lx;
    lexer_init(&lx, cx, src);
    for (;;) {
        TILE_STYPE value;
        int kind = lexer_next(&lx, &value);
        Span s = {lx.lo, lx.hi};
        const char *path;
        uint32_t line, col;
        source_place(cx->sources, s.lo, &path, &line, &col);
        text_printf(out, "%u:%u-%u %s", (unsigned)line, (unsigned)col, (unsigned)(col + (s.hi - s.lo)), class_of(kind));
        if (kind == TK_END) break;
        text_char(out, ' ');
        text_put(out, src->text + (s.lo - src->base), s.hi - s.lo);
        text_char(out, '\n');
    }
    text_char(out, '\n');
}
