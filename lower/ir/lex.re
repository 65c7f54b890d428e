/* Tokens of the text form. The 0 byte behind the text is the sentinel; elsewhere it is an error like any other byte. */
#include "lower/ir/filter.h"

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* What the scanner has found to be a string, without its escapes. */
static const char *unquoted(Arena *a, const char *s, const char *end)
{
    char *text = arena_alloc(a, (size_t)(end - s) + 1);
    for (char *t = text; s < end; t++) {
        if (*s != '\\') {
            *t = *s++;
        } else if (s[1] == 'x') {
            *t = (char)(hex_digit(s[2]) * 16 + hex_digit(s[3]));
            s += 4;
        } else {
            *t = s[1];
            s += 2;
        }
    }
    return text;
}

static void take(Filter *f, TokenKind kind, const char *from, const char *text)
{
    const Source *src = f->src;
    f->tok = (Token){kind, text, {src->base + (uint32_t)(from - src->text), src->base + (uint32_t)(f->cursor - src->text)}};
}

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:eof = 0;
    re2c:encoding:utf8 = 0;
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYLIMIT = limit;
    re2c:define:YYMARKER = marker;

    in_name = [A-Za-z0-9_.];
    word    = [A-Za-z_] in_name*;
    digits  = [0-9] ([A-Za-z0-9_] | "." [A-Za-z0-9_])*;
    escape  = "\\" ([^x\x00\n] | "x" ("0" [1-9a-f] | [1-9a-f] [0-9a-f]));
    string  = ["] ([^"\\\x00\n] | escape)* ["];
*/

void filter_next(Filter *f)
{
    const unsigned char *cursor = (const unsigned char *)f->cursor, *limit = (const unsigned char *)f->src->text + f->src->len;
    const unsigned char *start, *marker;

#define TEXT ((const char *)start)
#define TOKEN(kind, text)                                                                                              \
    do {                                                                                                               \
        f->cursor = (const char *)cursor;                                                                              \
        take(f, kind, TEXT, text);                                                                                     \
        return;                                                                                                        \
    } while (0)
#define PART(from, to) arena_strdup(f->arena, (from), (size_t)((const char *)cursor - (from)) - (to))

    if (f->failed) return;
    f->last = f->tok.span.hi;
    for (;;) {
        start = cursor;
        /*!re2c
            [ \t\r\n]+ | ";" [^\n]*  { continue; }
            $                        { TOKEN(TOK_END, ""); }
            word                     { TOKEN(TOK_WORD, PART(TEXT, 0)); }
            digits | digits "e" [+-] [0-9] in_name* { TOKEN(TOK_NUMBER, PART(TEXT, 0)); }
            string                   { TOKEN(TOK_STRING, unquoted(f->arena, TEXT + 1, (const char *)cursor - 1)); }
            "%" in_name+             { TOKEN(TOK_VALUE, PART(TEXT + 1, 0)); }
            "%" string               { TOKEN(TOK_VALUE, unquoted(f->arena, TEXT + 2, (const char *)cursor - 1)); }
            "->" | ".." | "==" | "!=" | "<=" | ">=" | "<<" | ">>" | "&&" | "||" | [-.>=!<&|,[\](){}+*/%^@~:] {
                TOKEN(TOK_PUNCT, PART(TEXT, 0));
            }
            "%"? ["] {
                f->cursor = (const char *)cursor;
                take(f, TOK_STRING, TEXT, "");
                filter_error(f, E0690, "a string without end, or with an escape that does not exist");
                return;
            }
            * {
                f->cursor = (const char *)cursor;
                take(f, TOK_PUNCT, TEXT, "");
                filter_error(f, E0690, "a character that means nothing here");
                return;
            }
        */
    }
}
