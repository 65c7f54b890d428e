/* The scanner of PTX (PTX ISA, "Identifiers", "Constants", "Source Format"). A 0 byte behind the text is the sentinel;
 * elsewhere it is an error like any byte that begins no token. Comments and strings may hold any bytes.
 */
#include "runtime/ptx/parse.h"

#include <string.h>

static bool word_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static void bad(PtxReader *r, const char *why, const unsigned char *from, const unsigned char *to)
{
    int n = ptx_shown((const char *)from, (size_t)(to - from));
    uint32_t column = (uint32_t)(from - r->line_start) + 1;
    if (!r->said) ptx_defect(r, PTX_SYNTAX, r->line, column, "`%.*s`: %s", n, (const char *)from, why);
    r->said = true;
}

/* Behind a run of bytes that are nothing; they are on one line. */
static const unsigned char *bad_bytes(PtxReader *r, const unsigned char *at)
{
    const unsigned char *p = at + 1;
    if (*at >= 0x80 || *at == 0) {
        while (p < r->limit && (*p >= 0x80 || *p == 0)) p++;
    }
    size_t n = (size_t)(p - at);
    bool text = true;
    for (size_t i = 0; text && i < n;) {
        size_t length = at[i] == 0 ? 0 : utf8_length((const char *)at + i, n - i);
        text = length > 0;
        i += length;
    }
    if (r->said) return p;
    uint32_t column = (uint32_t)(at - r->line_start) + 1;
    if (*at == 0) ptx_defect(r, PTX_SYNTAX, r->line, column, "a byte of value 0 has no meaning here");
    else if (*at == '"') ptx_defect(r, PTX_SYNTAX, r->line, column, "this string is not closed on its line");
    else if (*at < 0x20 || *at == 0x7f)
        ptx_defect(r, PTX_SYNTAX, r->line, column, "the control character 0x%02x has no meaning here", *at);
    else if (!text) ptx_defect(r, PTX_SYNTAX, r->line, column, "the byte 0x%02x is not UTF-8 and has no meaning here", *at);
    else ptx_defect(r, PTX_SYNTAX, r->line, column, "`%.*s` has no meaning in PTX", ptx_shown((const char *)at, n), (const char *)at);
    r->said = true;
    return p;
}

/* Behind the comment; one that is never closed ends with its line. */
static const unsigned char *block_comment(PtxReader *r, const unsigned char *from)
{
    const unsigned char *p = from + 2;
    while (!r->open_comment && (p = memchr(p, '*', (size_t)(r->limit - p))) != NULL) {
        if (*++p != '/') continue;
        for (const unsigned char *q = from; (q = memchr(q, '\n', (size_t)(p - q))) != NULL;) {
            r->line++;
            r->line_start = ++q;
            r->fresh_line = true;
        }
        return p + 1;
    }
    r->open_comment = true;
    ptx_problem(r, r->line, "this comment is never closed");
    const unsigned char *end = memchr(from, '\n', (size_t)(r->limit - from));
    return end ? end : r->limit;
}

static const unsigned char *line_end(const PtxReader *r, const unsigned char *from)
{
    const unsigned char *end = memchr(from, '\n', (size_t)(r->limit - from));
    return end ? end : r->limit;
}

static const unsigned char *spaces(const unsigned char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* A line that starts with #; the marks that a preprocessor leaves (# 12 "file", #line 12 "file") are no news. */
static const unsigned char *preprocessed(PtxReader *r, const unsigned char *from)
{
    const unsigned char *p = spaces(from + 1);
    if (strncmp((const char *)p, "line", 4) == 0) p = spaces(p + 4);
    bool number = *p >= '0' && *p <= '9';
    while (*p >= '0' && *p <= '9') p++;
    if (!number || *spaces(p) != '"')
        ptx_defect(r, PTX_SYNTAX, r->line, (uint32_t)(from - r->line_start) + 1,
                   "preprocessor lines are not read: run the preprocessor first");
    return line_end(r, from);
}

/* Digits of an integer with its prefix and U (PTX ISA, "Integer Constants"). */
static PtxConst integer(PtxReader *r, const unsigned char *s, const unsigned char *end)
{
    const unsigned char *from = s;
    uint64_t v = 0, base = 10;
    bool is_unsigned = end[-1] == 'U';
    if (is_unsigned) end--;
    if (end - s > 1 && *s == '0') {
        base = (s[1] | 0x20) == 'x' ? 16 : (s[1] | 0x20) == 'b' ? 2 : 8;
        s += base == 8 ? 1 : 2;
    }
    for (; s < end; s++) {
        unsigned d = (unsigned)(*s <= '9' ? *s - '0' : (*s | 0x20) - 'a' + 10);
        if (v > (UINT64_MAX - d) / base) {
            ptx_problem(r, r->line, "%.*s is larger than 64 bits", ptx_shown((const char *)from, (size_t)(end - from)),
                        (const char *)from);
            v = 0;
            break;
        }
        v = v * base + d;
    }
    return (PtxConst){PTX_INT, is_unsigned || v > INT64_MAX, (int64_t)v};
}

/* 0f3F800000, 0d..: the bits. */
static PtxConst float_bits(const unsigned char *s, const unsigned char *end)
{
    uint64_t v = 0;
    PtxOperandKind kind = (s[1] | 0x20) == 'f' ? PTX_F32_BITS : PTX_F64_BITS;
    for (s += 2; s < end; s++) v = v << 4 | (unsigned)(*s <= '9' ? *s - '0' : (*s | 0x20) - 'a' + 10);
    return (PtxConst){kind, false, (int64_t)v};
}

/* An identifier; a component (%tid.x, v.y) or a part (a.b0, a.h1) belongs to it. */
static const unsigned char *word(PtxReader *r, const unsigned char *s, const unsigned char *end, PtxWord *w)
{
    *w = (PtxWord){0, 0, r->line, (uint32_t)(s - r->line_start) + 1};
    size_t n = 0;
    if (end[0] == '.' && end[1] != 0) {
        if (strchr("xyzwrgba", end[1])) n = 2;
        if (end[1] == 'b' && end[2] >= '0' && end[2] <= '3') n = 3;
        if (end[1] == 'h' && (end[2] == '0' || end[2] == '1')) n = 3;
        if (n && (word_char(end[n]) || end[n] == ':')) n = 0;
    }
    if (n) w->base = names_intern(r->names, (const char *)s, (size_t)(end - s));
    end += n;
    w->name = names_intern(r->names, (const char *)s, (size_t)(end - s));
    return end;
}

static const char *copy(PtxReader *r, const unsigned char *s, const unsigned char *end)
{
    return names_text(r->names, names_intern(r->names, (const char *)s, (size_t)(end - s)));
}

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:eof = 0;
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYLIMIT = limit;
    re2c:define:YYMARKER = marker;

    follow  = [a-zA-Z0-9_$];
    word    = [a-zA-Z] follow* | [_$%] follow+;
    dotted  = "." follow+ ("::" follow+)*;
    hexdig  = [0-9a-fA-F];
    int     = ("0" [xX] hexdig+ | "0" [bB] [01]+ | "0" [0-7]* | [1-9] [0-9]*) "U"?;
    exp     = [eE] [+-]? [0-9]+;
    decimal = [0-9]+ "." [0-9]* exp? | [0-9]+ exp;
    bits    = "0" [fF] hexdig{8} | "0" [dD] hexdig{16};
*/

void ptx_scan(PtxReader *r)
{
    const unsigned char *cursor = r->cursor, *limit = r->limit, *marker, *start;
    PtxToken *t = &r->cur;

/* A word that means something in directives only; elsewhere it is a modifier. */
#define DIRECTIVE(k, field, v)                                                                                         \
    do {                                                                                                               \
        if (r->directives) {                                                                                           \
            t->kind = (k);                                                                                             \
            t->value.field = (v);                                                                                      \
        } else {                                                                                                       \
            t->kind = PT_DOT;                                                                                          \
            t->value.text = copy(r, start, cursor);                                                                    \
        }                                                                                                              \
        goto done;                                                                                                     \
    } while (0)
#define KEYWORD(k) DIRECTIVE(k, n, 0)
#define TOKEN(k)                                                                                                       \
    do {                                                                                                               \
        t->kind = (k);                                                                                                 \
        goto done;                                                                                                     \
    } while (0)

    for (;;) {
        start = cursor;
        /*!re2c
            [ \t\r\f\x1a]+    { continue; }
            "\n"            { r->line++; r->line_start = cursor; r->fresh_line = true; continue; }
            "//"            { cursor = line_end(r, start); continue; }
            "/" "*"         { cursor = block_comment(r, start); continue; }
            "#"             {
                if (!r->fresh_line) {
                    cursor = bad_bytes(r, start);
                    TOKEN(PT_BAD);
                }
                cursor = preprocessed(r, start);
                continue;
            }
            $               { TOKEN(PT_END); }

            ".version"       { KEYWORD(PT_VERSION); }    ".target"        { KEYWORD(PT_TARGET); }
            ".address_size"  { KEYWORD(PT_ADDRESS_SIZE); } ".file"        { KEYWORD(PT_FILE_); }
            ".loc"           { KEYWORD(PT_LOC); }        ".pragma"        { KEYWORD(PT_PRAGMA); }
            ".section"       { KEYWORD(PT_SECTION); }    ".alias"         { KEYWORD(PT_ALIAS); }
            ".entry"         { KEYWORD(PT_ENTRY); }      ".func"          { KEYWORD(PT_FUNC); }
            ".extern"        { KEYWORD(PT_EXTERN); }     ".visible"       { KEYWORD(PT_VISIBLE); }
            ".weak"          { KEYWORD(PT_WEAK); }       ".common"        { KEYWORD(PT_COMMON); }
            ".align"         { KEYWORD(PT_ALIGN); }      ".attribute"     { KEYWORD(PT_ATTRIBUTE); }
            ".ptr"           { KEYWORD(PT_PTR); }        ".callprototype" { KEYWORD(PT_PROTOTYPE); }
            ".branchtargets" | ".calltargets"            { KEYWORD(PT_TARGETS); }

            ".reqntid"       { DIRECTIVE(PT_LIMIT, limit, LIMIT_REQNTID); }
            ".maxntid"       { DIRECTIVE(PT_LIMIT, limit, LIMIT_MAXNTID); }
            ".reqnctapercluster" { DIRECTIVE(PT_LIMIT, limit, LIMIT_CLUSTER); }
            ".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".maxclusterrank" | ".explicitcluster"
                | ".blocksareclusters" | ".noreturn" | ".abi_preserve" | ".abi_preserve_control" {
                DIRECTIVE(PT_LIMIT, limit, LIMIT_OTHER);
            }

            ".reg"    { DIRECTIVE(PT_SPACE, space, PTX_SPACE_REG); }
            ".param"  { DIRECTIVE(PT_SPACE, space, PTX_SPACE_PARAM); }
            ".global" { DIRECTIVE(PT_SPACE, space, PTX_SPACE_GLOBAL); }
            ".const"  { DIRECTIVE(PT_SPACE, space, PTX_SPACE_CONST); }
            ".shared" { DIRECTIVE(PT_SPACE, space, PTX_SPACE_SHARED); }
            ".local"  { DIRECTIVE(PT_SPACE, space, PTX_SPACE_LOCAL); }
            ".v2"     { DIRECTIVE(PT_VEC, n, 2); }
            ".v4"     { DIRECTIVE(PT_VEC, n, 4); }
            ".texref" | ".samplerref" | ".surfref" { DIRECTIVE(PT_TYPE, type, PTX_NO_TYPE); }
            ".pred" | "." [bus] ("8" | "16" | "32" | "64") | ".b128" | ".f" ("16" | "32" | "64") | ".f16x2" | ".bf16"
                | ".bf16x2" {
                const char *text = copy(r, start, cursor);
                PtxType type;
                if (r->directives && ptx_type_find(text, &type)) {
                    t->value.type = type;
                    TOKEN(PT_TYPE);
                }
                t->value.text = text;
                TOKEN(PT_DOT);
            }
            dotted    { t->value.text = copy(r, start, cursor); TOKEN(PT_DOT); }

            "WARP_SZ" { t->value.number = (PtxConst){PTX_INT, false, 32}; TOKEN(PT_INT); }
            word      { cursor = word(r, start, cursor, &t->value.word); TOKEN(PT_WORD); }
            "_"       { TOKEN(PT_SINK); }

            int       { t->value.number = integer(r, start, cursor); TOKEN(PT_INT); }
            bits      { t->value.number = float_bits(start, cursor); TOKEN(PT_FLOAT); }
            decimal   {
                t->value.number = ptx_decimal(r->arena, (const char *)start, (size_t)(cursor - start));
                TOKEN(PT_FLOAT);
            }
            "0" [fF] follow*         { bad(r, "0f takes 8 hexadecimal digits", start, cursor); TOKEN(PT_BAD); }
            "0" [dD] follow*         { bad(r, "0d takes 16 hexadecimal digits", start, cursor); TOKEN(PT_BAD); }
            (int | decimal) follow+  { bad(r, "this is no number", start, cursor); TOKEN(PT_BAD); }
            ["] ([\\] ["] | [^"\n\x00])* ["] {
                t->value.text = arena_strdup(r->arena, (const char *)start + 1, (size_t)(cursor - start) - 2);
                TOKEN(PT_STRING);
            }

            "("  { TOKEN(PT_LPAREN); }  ")"  { TOKEN(PT_RPAREN); }  "["  { TOKEN(PT_LBRACKET); }
            "]"  { TOKEN(PT_RBRACKET); }  "{"  { TOKEN(PT_LBRACE); }  "}"  { TOKEN(PT_RBRACE); }
            ";"  { TOKEN(PT_SEMI); }  ","  { TOKEN(PT_COMMA); }  ":"  { TOKEN(PT_COLON); }
            "@"  { TOKEN(PT_AT); }  "="  { TOKEN(PT_ASSIGN); }  "?"  { TOKEN(PT_QUESTION); }
            "||" { TOKEN(PT_OROR); }  "&&" { TOKEN(PT_ANDAND); }  "==" { TOKEN(PT_EQ); }
            "!=" { TOKEN(PT_NE); }  "<"  { TOKEN(PT_LT); }  ">"  { TOKEN(PT_GT); }
            "<=" { TOKEN(PT_LE); }  ">=" { TOKEN(PT_GE); }  "&"  { TOKEN(PT_AND); }
            "|"  { TOKEN(PT_OR); }  "^"  { TOKEN(PT_XOR); }  "<<" { TOKEN(PT_SHL); }
            ">>" { TOKEN(PT_SHR); }  "+"  { TOKEN(PT_PLUS); }  "-"  { TOKEN(PT_MINUS); }
            "*"  { TOKEN(PT_STAR); }  "/"  { TOKEN(PT_SLASH); }  "%"  { TOKEN(PT_PERCENT); }
            "!"  { TOKEN(PT_NOT); }  "~"  { TOKEN(PT_INV); }

            * { cursor = bad_bytes(r, start); TOKEN(PT_BAD); }
        */
    }

done:
    t->start = (const char *)start;
    t->end = (const char *)cursor;
    t->line = r->line;
    t->column = (uint32_t)(start - r->line_start) + 1;
    t->first = r->fresh_line;
    r->fresh_line = false;
    r->cursor = cursor;
}
