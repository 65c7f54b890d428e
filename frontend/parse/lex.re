/* The scanner. A 0 byte at the end of the text is the sentinel; what has one elsewhere is no text. */
#include "frontend/parse/lex.h"
#include "frontend/check/arithmetic.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

static Span place(const Lexer *lx, const char *from, const char *to)
{
    return (Span){lx->src->base + (uint32_t)(from - lx->src->text), lx->src->base + (uint32_t)(to - lx->src->text)};
}

const char *lexer_quote(Lexer *lx, Span s)
{
    enum { SHOWN = 32 };
    const char *p = lx->src->text + (s.lo - lx->src->base);
    uint32_t n = s.hi - s.lo;
    bool cut = n > SHOWN;
    if (cut) n = SHOWN;
    while (cut && n > 1 && ((unsigned char)p[n] & 0xc0) == 0x80) n--; /* whole characters */
    return arena_printf(lx->arena, "`%.*s%s`", (int)n, p, cut ? ".." : "");
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static Diag *report(Lexer *lx, ErrorCode code, Span s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    Diag *g = diag_vat(lx->diags, code, s, fmt, ap);
    va_end(ap);
    lx->errors++;
    return g;
}

/* Said once, and nothing is read: what else would be said of it helps nobody. */
static void no_text(Lexer *lx, const char *zero)
{
    const char *text = lx->src->text, *end = zero;
    while (end < lx->limit && *end == 0) end++;
    size_t n = 0;
    for (const char *p = zero; p; p = memchr(p + 1, 0, (size_t)(lx->limit - p - 1))) n++;
    bool utf16 = lx->src->len > 1 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    report(lx, E0112, place(lx, zero, end), "the text contains %zu byte%s of value 0%s", n, n == 1 ? "" : "s", utf16 ? ": it is UTF-16, and not UTF-8" : "");
    lx->cursor = lx->limit;
}

void lexer_init(Lexer *lx, ParseContext *cx, const Source *src)
{
    *lx = (Lexer){
        .cursor = src->text,
        .limit = src->text + src->len,
        .src = src,
        .arena = cx->arena,
        .names = cx->names,
        .diags = cx->diags,
    };
    if (src->len >= 3 && memcmp(src->text, "\xef\xbb\xbf", 3) == 0) lx->cursor += 3; /* byte order mark */
    const char *zero = memchr(src->text, 0, src->len);
    if (zero) no_text(lx, zero);
}

/* ---- bytes that begin no token ---- */

/* Bytes of the character at p, or 0 if it is not valid UTF-8. */
static size_t char_length(const Lexer *lx, const char *p)
{
    return utf8_length(p, (size_t)(lx->limit - p));
}

typedef struct Lookalike {
    const char *text, *fix;
} Lookalike;

static const Lookalike lookalikes[] = {
    {"\xe2\x86\x92", "write `->`"},
    {"\xe2\x9f\xb6", "write `->`"},
    {"\xc3\x97", "write `*`"},
    {"\xc2\xb7", "write `*`"},
    {"\xe2\x88\x92", "write `-`"},
    {"\xe2\x80\x93", "write `-`"},
    {"\xe2\x80\x94", "write `-`"},
    {"\xe2\x89\xa4", "write `<=`"},
    {"\xe2\x89\xa5", "write `>=`"},
    {"\xe2\x89\xa0", "write `!=`"},
    {"\xe2\x80\xa6", "write `..`"},
    {"\xc2\xa0", "this is a no-break space: write a plain space"},
    {"\xe2\x80\x8b", "this is a zero-width space: remove it"},
    {"\xef\xbb\xbf", "a byte order mark may stand at the start of a file only: remove it"},
    {"\xe2\x80\x9c", "write `\"`"},
    {"\xe2\x80\x9d", "write `\"`"},
    {"\xe2\x80\x98", "write `\"` around text"},
    {"\xe2\x80\x99", "write `\"` around text"},
    {"'", "write `\"` around text"},
    {"?", "there is no `?:`; `min`, `max` or an `if` statement may do"},
    {"#", "a comment begins with `//`; there is no preprocessor: use `const name = value;` and `import path;`"},
    {"@", "kernels and functions take attributes after their parameters, without `@`"},
    {"$", "symbolic sizes are plain names: `global bf16[M, N]`"},
    {"\\", "a statement goes on until its `;`, so that lines need no joining"},
};

/* a @ b, not an attribute behind `)` */
static bool stands_between(const Lexer *lx, const char *at)
{
    const char *p = at;
    while (p > lx->src->text && (p[-1] == ' ' || p[-1] == '\t')) p--;
    char c = p > lx->src->text ? p[-1] : 0;
    return c == ']' || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void bad_character(Lexer *lx, const char *at, size_t n)
{
    Span s = place(lx, at, at + n);
    bool printable = (unsigned char)*at >= 0x20 && *at != 0x7f;
    bool unseen = n > 1 && (memcmp(at, "\xc2\xa0", 2) == 0 || memcmp(at, "\xe2\x80\x8b", n) == 0 ||
                            memcmp(at, "\xef\xbb\xbf", n) == 0);
    bool matrix = *at == '@' && stands_between(lx, at);
    Diag *g = matrix      ? report(lx, E0321, s, "there is no `@`")
              : unseen    ? report(lx, E0101, s, "an invisible character has no meaning here")
              : printable ? report(lx, E0101, s, "the character `%.*s` has no meaning here", (int)n, at)
                          : report(lx, E0101, s, "the control character 0x%02x has no meaning here", (unsigned)*at);
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
        if (!matrix && strlen(lookalikes[i].text) == n && memcmp(lookalikes[i].text, at, n) == 0)
            diag_fix(lx->diags, g, "%s", lookalikes[i].fix);
    if (matrix) arithmetic_notes(lx->diags, g);
}

/* 'text' on one line, or 0. */
static size_t quoted_length(const char *at)
{
    size_t n = strcspn(at + 1, "'\n");
    return at[n + 1] == '\'' ? n + 2 : 0;
}

/* One diagnostic for a run of bytes that are nothing, or for one character. */
static void bad_bytes(Lexer *lx, const char *at)
{
    const char *p = at;
    size_t n;
    if (*p == '\'' && (n = quoted_length(p)) > 0) {
        p += n;
        Diag *g = report(lx, E0101, place(lx, at, p), "text does not stand between single quotes");
        diag_fix(lx->diags, g, "write `\"` around text");
    } else if ((n = char_length(lx, p)) > 0) {
        p += n;
        bad_character(lx, at, n);
    } else {
        while (p < lx->limit && char_length(lx, p) == 0) p++;
        report(lx, E0107, place(lx, at, p), "%s 0x%02x %s not UTF-8", p - at == 1 ? "the byte" : "the bytes from",
               (unsigned)(unsigned char)*at, p - at == 1 ? "is" : "on are");
    }
    lx->cursor = p;
}

/* ---- comments, strings, numbers ---- */

/* Behind the comment that starts at `from`; comments do not nest. */
static const char *block_comment(Lexer *lx, const char *from)
{
    for (const char *p = from + 2; (p = memchr(p, '*', (size_t)(lx->limit - p))) != NULL; p++)
        if (p[1] == '/') return p + 2;
    Diag *g = report(lx, E0102, place(lx, from, from + 2), "this comment is never closed");
    diag_fix(lx->diags, g, "close it with `*/`; a comment up to the end of the line starts with `//`");
    return lx->limit;
}

static const char *line_comment(const Lexer *lx, const char *from)
{
    const char *end = memchr(from, '\n', (size_t)(lx->limit - from));
    return end ? end : lx->limit;
}

/* Reads from behind the opening quote to behind the closing one. */
static String string(Lexer *lx, const char *open)
{
    const char *p = open + 1, *end = p;
    while (end < lx->limit && *end != '"' && *end != '\n') end += *end == '\\' && end[1] != '\n' && end + 1 < lx->limit ? 2 : 1;
    char *out = arena_alloc(lx->arena, (size_t)(end - p) + 1), *o = out;
    for (size_t n = 0; p < end; p += n) {
        n = char_length(lx, p);
        if (n == 0) {
            report(lx, E0107, place(lx, p, p + 1), "the byte 0x%02x in this string is not UTF-8", (unsigned)(unsigned char)*p);
            n = 1;
        } else if (*p == '\\') {
            static const char letters[] = "nt\\\"", values[] = "\n\t\\\"";
            const char *found = p[1] ? strchr(letters, p[1]) : NULL;
            n = p + 1 < end ? 1 + (char_length(lx, p + 1) ? char_length(lx, p + 1) : 1) : 1;
            if (found) {
                *o++ = values[found - letters];
            } else {
                Diag *g = report(lx, E0113, place(lx, p, p + n), "`%.*s` is no escape", (int)n, p);
                diag_fix(lx->diags, g, "use `\\n`, `\\t`, `\\\"` or `\\\\`");
            }
        } else {
            memcpy(o, p, n);
            o += n;
        }
    }
    if (*end == '"' && end < lx->limit) {
        lx->cursor = end + 1;
    } else {
        report(lx, E0103, place(lx, open, end), "this string is not closed on its line");
        lx->cursor = end;
    }
    return (String){out, (uint32_t)(o - out)};
}

static uint64_t integer(Lexer *lx, const char *from, unsigned base)
{
    const char *digits = from + (base == 10 ? 0 : 2);
    uint64_t value;
    if (literal_int(digits, (size_t)(lx->cursor - digits), base, &value) && value <= (uint64_t)1 << 63) return value;
    Span s = place(lx, from, lx->cursor);
    report(lx, E0104, s, "%s is too large: the largest number is 9223372036854775807", lexer_quote(lx, s));
    return 0;
}

/* What to write instead of digits and letters that run into each other. */
static const char *number_advice(const char *s, size_t n)
{
    if (n > 1 && s[0] == '0' && (s[1] | 0x20) == 'x') return "hexadecimal digits are 0 to 9 and a to f, with single `_` between them";
    if (n > 1 && s[0] == '0' && (s[1] | 0x20) == 'b') return "binary digits are 0 and 1, with single `_` between them";
    if (memchr(s, '_', n)) return "`_` stands between two digits: `16_384`";
    return "a number has no suffix, and a name does not start with a digit";
}

/* ---- tokens ---- */

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:eof = 0;
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYLIMIT = limit;
    re2c:define:YYMARKER = marker;

    digits  = [0-9] ("_"? [0-9])*;
    hex     = "0" [xX] [0-9a-fA-F] ("_"? [0-9a-fA-F])*;
    binary  = "0" [bB] [01] ("_"? [01])*;
    exp     = [eE] [+-]? digits;
    float   = digits "." digits exp? | digits exp;
    word    = [A-Za-z_] [A-Za-z0-9_]*;
    glued   = [A-Za-z0-9_]+;
*/

int lexer_next(Lexer *lx, TILE_STYPE *value)
{
    const unsigned char *cursor = (const unsigned char *)lx->cursor, *limit = (const unsigned char *)lx->limit, *marker;
    const unsigned char *start;
    int kind;

#define TEXT ((const char *)start)
#define TOKEN(k)                                                                                                       \
    do {                                                                                                               \
        kind = (k);                                                                                                    \
        goto done;                                                                                                     \
    } while (0)

    for (;;) {
        start = cursor;
        /*!re2c
            [ \t\r\n\f\v]+  { continue; }
            "//"            { cursor = (const unsigned char *)line_comment(lx, TEXT); continue; }
            "/" "*"         { cursor = (const unsigned char *)block_comment(lx, TEXT); continue; }
            $               { TOKEN(TK_END); }

            "target"     { TOKEN(TK_TARGET); }     "import"   { TOKEN(TK_IMPORT); }   "const"      { TOKEN(TK_CONST); }
            "fn"         { TOKEN(TK_FN); }         "kernel"   { TOKEN(TK_KERNEL); }   "global"     { TOKEN(TK_GLOBAL); }
            "shared"     { TOKEN(TK_SHARED); }     "tmem"     { TOKEN(TK_TMEM); }     "barrier"    { TOKEN(TK_BARRIER); }
            "map"        { TOKEN(TK_MAP); }        "policy"   { TOKEN(TK_POLICY); }   "grid"       { TOKEN(TK_GRID); }
            "cluster"    { TOKEN(TK_CLUSTER); }    "threads"  { TOKEN(TK_THREADS); }  "where"      { TOKEN(TK_WHERE); }
            "let"        { TOKEN(TK_LET); }        "var"      { TOKEN(TK_VAR); }      "view"       { TOKEN(TK_VIEW); }
            "move"       { TOKEN(TK_MOVE); }       "prefetch" { TOKEN(TK_PREFETCH); } "fill"       { TOKEN(TK_FILL); }
            "shift"      { TOKEN(TK_SHIFT); }      "wait"     { TOKEN(TK_WAIT); }     "group"      { TOKEN(TK_GROUP); }
            "arrive"     { TOKEN(TK_ARRIVE); }     "expect"   { TOKEN(TK_EXPECT); }   "via"        { TOKEN(TK_VIA); }
            "commit"     { TOKEN(TK_COMMIT); }     "read"     { TOKEN(TK_READ); }     "peer"       { TOKEN(TK_PEER); }
            "for"        { TOKEN(TK_FOR); }        "pipeline" { TOKEN(TK_PIPELINE); } "by"         { TOKEN(TK_BY); }
            "if"         { TOKEN(TK_IF); }         "else"     { TOKEN(TK_ELSE); }     "roles"      { TOKEN(TK_ROLES); }
            "role"       { TOKEN(TK_ROLE); }

            "in"         { TOKEN(TK_IN); }         "box"      { TOKEN(TK_BOX); }      "swizzle"    { TOKEN(TK_SWIZZLE); }
            "stride"     { TOKEN(TK_STRIDE); }     "offset"   { TOKEN(TK_OFFSET); }   "halo"       { TOKEN(TK_HALO); }
            "ahead"      { TOKEN(TK_AHEAD); }      "transpose" { TOKEN(TK_TRANSPOSE); } "convert"  { TOKEN(TK_CONVERT); }
            "overlap"    { TOKEN(TK_OVERLAP); }    "reduce"   { TOKEN(TK_REDUCE); }   "cache"      { TOKEN(TK_CACHE); }
            "bytes"      { TOKEN(TK_BYTES); }      "multicast" { TOKEN(TK_MULTICAST); } "across"   { TOKEN(TK_ACROSS); }
            "stages"     { TOKEN(TK_STAGES); }     "lower"    { TOKEN(TK_LOWER); }    "upper"      { TOKEN(TK_UPPER); }
            "channels"   { TOKEN(TK_CHANNELS); }   "pixels"   { TOKEN(TK_PIXELS); }   "l2"         { TOKEN(TK_L2); }
            "interleave" { TOKEN(TK_INTERLEAVE); } "atom"     { TOKEN(TK_ATOM); }     "flip"       { TOKEN(TK_FLIP); }
            "reverse"    { TOKEN(TK_REVERSE); }    "sum"      { TOKEN(TK_SUM); }
            "pair"       { TOKEN(TK_PAIR); }       "free"     { TOKEN(TK_FREE); }     "trust"      { TOKEN(TK_TRUST); }

            word {
                value->name = names_intern(lx->names, TEXT, (size_t)(cursor - start));
                TOKEN(TK_IDENT);
            }

            digits { lx->cursor = (const char *)cursor; value->integer = integer(lx, TEXT, 10); TOKEN(TK_INT); }
            hex    { lx->cursor = (const char *)cursor; value->integer = integer(lx, TEXT, 16); TOKEN(TK_INT); }
            binary { lx->cursor = (const char *)cursor; value->integer = integer(lx, TEXT, 2); TOKEN(TK_INT); }
            float {
                value->real = decimal_value(lx->arena, TEXT, (size_t)(cursor - start));
                Span s = place(lx, TEXT, (const char *)cursor);
                if (value->real > DBL_MAX) report(lx, E0114, s, "%s is too large for f64", lexer_quote(lx, s));
                TOKEN(TK_FLOAT);
            }
            [0-9] glued | float glued {
                Span s = place(lx, TEXT, (const char *)cursor);
                Diag *g = report(lx, E0104, s, "%s is no number", lexer_quote(lx, s));
                diag_fix(lx->diags, g, "%s", number_advice(TEXT, (size_t)(cursor - start)));
                value->integer = 1;
                TOKEN(TK_INT);
            }
            ["] {
                value->string = string(lx, TEXT);
                cursor = (const unsigned char *)lx->cursor;
                TOKEN(TK_STRING);
            }

            "("  { TOKEN(TK_LPAREN); }   ")"  { TOKEN(TK_RPAREN); }  "["  { TOKEN(TK_LBRACKET); } "]"  { TOKEN(TK_RBRACKET); }
            "{"  { TOKEN(TK_LBRACE); }   "}"  { TOKEN(TK_RBRACE); }  ";"  { TOKEN(TK_SEMI); }     ","  { TOKEN(TK_COMMA); }
            ":"  { TOKEN(TK_COLON); }    "."  { TOKEN(TK_DOT); }     ".." { TOKEN(TK_DOTDOT); }   "->" { TOKEN(TK_ARROW); }
            "+:" { TOKEN(TK_SPAN); }     "="  { TOKEN(TK_ASSIGN); }  "||" { TOKEN(TK_OROR); }     "&&" { TOKEN(TK_ANDAND); }
            "==" { TOKEN(TK_EQ); }       "!=" { TOKEN(TK_NE); }      "<"  { TOKEN(TK_LT); }       ">"  { TOKEN(TK_GT); }
            "<=" { TOKEN(TK_LE); }       ">=" { TOKEN(TK_GE); }      "&"  { TOKEN(TK_AND); }      "|"  { TOKEN(TK_OR); }
            "^"  { TOKEN(TK_XOR); }      "<<" { TOKEN(TK_SHL); }     ">>" { TOKEN(TK_SHR); }      "+"  { TOKEN(TK_PLUS); }
            "-"  { TOKEN(TK_MINUS); }    "*"  { TOKEN(TK_STAR); }    "/"  { TOKEN(TK_SLASH); }    "%"  { TOKEN(TK_PERCENT); }
            "!"  { TOKEN(TK_NOT); }      "~"  { TOKEN(TK_INV); }

            * { bad_bytes(lx, TEXT); cursor = (const unsigned char *)lx->cursor; continue; }
        */
    }

done:
    lx->cursor = (const char *)cursor;
    lx->lo = lx->src->base + (uint32_t)(TEXT - lx->src->text);
    lx->hi = lx->lo + (uint32_t)(lx->cursor - TEXT);
    return kind;
}
