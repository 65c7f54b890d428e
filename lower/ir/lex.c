#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "lower/ir/reader.h"

enum { LX_DEPTH_MAX = 200 };

void reader_init(Reader *r, Arena *a, Names *names, Diags *d, Source *src)
{
    *r = (Reader){.arena = a, .names = names, .diags = d, .src = src};
    reader_next(r);
}

void reader_error(Reader *r, ErrorCode code, const char *fmt, ...)
{
    if (r->failed) return;
    r->failed = true;
    char *text;
    va_list ap;
    va_start(ap, fmt);
    Text t;
    text_init(&t, r->arena->mem);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    text = arena_strdup(r->arena, t.s, t.n);
    text_free(&t);
    diag_at(r->diags, code, r->tok.span, "%s", text);
    r->tok = (Token){.kind = TOK_END, .text = "", .span = r->tok.span};
}

/* ---- tokens ---- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static void skip_space(Reader *r)
{
    const char *s = r->src->text;
    while (r->at < r->src->len) {
        if (s[r->at] == ';') {
            while (r->at < r->src->len && s[r->at] != '\n') r->at++;
        } else if (s[r->at] == ' ' || s[r->at] == '\t' || s[r->at] == '\n' || s[r->at] == '\r') {
            r->at++;
        } else {
            return;
        }
    }
}

static void set_token(Reader *r, TokenKind kind, uint32_t from, uint32_t text_from, uint32_t text_to)
{
    r->tok = (Token){kind,
                     arena_strdup(r->arena, r->src->text + text_from, text_to - text_from),
                     {r->src->base + from, r->src->base + r->at}};
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "..." from r->at on; false if it has no end or holds what no name has. */
static bool lex_string(Reader *r, char **out)
{
    const char *s = r->src->text;
    uint32_t from = ++r->at, n = 0;
    while (r->at < r->src->len && s[r->at] != '"' && s[r->at] != '\n') r->at += s[r->at] == '\\' ? 2 : 1;
    if (r->at >= r->src->len || s[r->at] != '"') {
        if (r->at > r->src->len) r->at = r->src->len;
        return false;
    }
    char *text = arena_alloc(r->arena, r->at - from + 1);
    for (uint32_t i = from; i < r->at; i++) {
        char c = s[i];
        if (c == '\\' && s[i + 1] == 'x') {
            int hi = i + 3 < r->at ? hex_digit(s[i + 2]) : -1, lo = i + 3 < r->at ? hex_digit(s[i + 3]) : -1;
            if (hi < 0 || lo < 0) return false;
            c = (char)(hi * 16 + lo);
            i += 3;
        } else if (c == '\\') {
            c = s[++i];
        }
        if (c == 0) return false;
        text[n++] = c;
    }
    r->at++;
    *out = text;
    return true;
}

static uint32_t name_end(const Reader *r, uint32_t i)
{
    const char *s = r->src->text;
    while (i < r->src->len && in_name(s[i])) i++;
    return i;
}

static void lex_number(Reader *r)
{
    const char *s = r->src->text;
    uint32_t from = r->at, i = from;
    while (i < r->src->len && in_name(s[i]) && !(s[i] == '.' && s[i + 1] == '.')) i++;
    /* An exponent's sign, as in 1e-05. */
    if (i < r->src->len && (s[i] == '-' || s[i] == '+') && s[i - 1] == 'e' && isdigit((unsigned char)s[i + 1]))
        i = name_end(r, i + 1);
    r->at = i;
    set_token(r, TOK_NUMBER, from, from, i);
}

static void lex_punct(Reader *r)
{
    static const char *const PAIRS[] = {"->", "..", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
    const char *s = r->src->text;
    uint32_t from = r->at++;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        if (s[from] == PAIRS[i][0] && r->at < r->src->len && s[r->at] == PAIRS[i][1]) {
            r->at++;
            break;
        }
    set_token(r, TOK_PUNCT, from, from, r->at);
    if (s[from] && strchr("->.=!<&|,[](){}+*/%^@~:", s[from]) == NULL)
        reader_error(r, E0690, "a character that means nothing here");
}

void reader_next(Reader *r)
{
    if (r->failed) return;
    r->last = r->tok.span.hi;
    skip_space(r);
    const char *s = r->src->text;
    uint32_t from = r->at;
    if (from >= r->src->len) {
        r->tok = (Token){TOK_END, "", {r->src->base + from, r->src->base + from}};
        return;
    }
    char c = s[from];
    bool value = c == '%' && from + 1 < r->src->len && (in_name(s[from + 1]) || s[from + 1] == '"');
    if (value) r->at++;
    if (s[r->at] == '"') {
        char *text = NULL;
        bool ok = lex_string(r, &text);
        r->tok = (Token){value ? TOK_VALUE : TOK_STRING, text, {r->src->base + from, r->src->base + r->at}};
        if (!ok) reader_error(r, E0690, "a string without end, or with an escape that does not exist");
    } else if (value || isalpha((unsigned char)c) || c == '_') {
        uint32_t text = r->at;
        r->at = name_end(r, r->at);
        set_token(r, value ? TOK_VALUE : TOK_WORD, from, text, r->at);
    } else if (isdigit((unsigned char)c)) {
        lex_number(r);
    } else {
        lex_punct(r);
    }
}

/* ---- what the grammar asks for ---- */

const char *ir_token_text(const Reader *r)
{
    return r->tok.kind == TOK_END
               ? "the end of the text"
               : arena_printf(r->arena, "`%s%.40s`", r->tok.kind == TOK_VALUE ? "%" : "", r->tok.text);
}

bool reader_is(const Reader *r, const char *text)
{
    return (r->tok.kind == TOK_WORD || r->tok.kind == TOK_PUNCT) && strcmp(r->tok.text, text) == 0;
}

/* Does that character stand right behind the next token? */
bool reader_followed(const Reader *r, char c)
{
    return r->at < r->src->len && r->src->text[r->at] == c;
}

bool reader_accept(Reader *r, const char *text)
{
    if (!reader_is(r, text)) return false;
    reader_next(r);
    return true;
}

void reader_expect(Reader *r, const char *text)
{
    if (!reader_accept(r, text)) reader_error(r, E0690, "%s where `%s` is due", ir_token_text(r), text);
}

const char *reader_name(Reader *r)
{
    const char *text = r->tok.text;
    if (r->tok.kind != TOK_WORD && r->tok.kind != TOK_STRING) {
        reader_error(r, E0690, "%s where a name is due", ir_token_text(r));
        return "";
    }
    reader_next(r);
    return text;
}

const char *reader_string(Reader *r)
{
    if (r->tok.kind == TOK_STRING) return reader_name(r);
    reader_error(r, E0690, "%s where a text in quotes is due", ir_token_text(r));
    return "";
}

/* Digits alone; false for what is larger than 2^63. */
static bool digits(const char *s, uint64_t *out)
{
    const uint64_t limit = UINT64_C(1) << 63;
    for (*out = 0; *s; s++) {
        if (!isdigit((unsigned char)*s) || *out > (limit - (uint64_t)(*s - '0')) / 10) return false;
        *out = *out * 10 + (uint64_t)(*s - '0');
    }
    return true;
}

int64_t reader_int(Reader *r, int64_t lo, int64_t hi)
{
    uint64_t u;
    bool minus = reader_accept(r, "-");
    if (r->tok.kind != TOK_NUMBER) {
        reader_error(r, E0690, "%s where a number is due", ir_token_text(r));
        return lo;
    }
    bool ok = digits(r->tok.text, &u) && (minus || u <= INT64_MAX);
    int64_t k = !ok ? 0 : minus ? (u == 0 ? 0 : -(int64_t)(u - 1) - 1) : (int64_t)u;
    if (!ok || k < lo || k > hi) {
        reader_error(r, E0692, "%s%s is not from %lld to %lld", minus ? "-" : "", r->tok.text, (long long)lo,
                     (long long)hi);
        return lo;
    }
    reader_next(r);
    return k;
}

/* Decimal, at most nine digits counting, as they are printed: then one division or multiplication is exact enough. */
double reader_fraction(Reader *r)
{
    const char *s = r->tok.text;
    double mantissa = 0;
    int scale = 0, sign = 1, exponent = 0;
    if (r->tok.kind != TOK_NUMBER) {
        reader_error(r, E0690, "%s where a fraction is due", ir_token_text(r));
        return 0;
    }
    for (bool point = false; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
        if (*s == '.') point = true;
        else if (mantissa < 1e15) mantissa = mantissa * 10 + (*s - '0'), scale -= point;
        else scale += !point;
    }
    if (*s == 'e') {
        s++;
        if (*s == '-' || *s == '+') sign = *s++ == '-' ? -1 : 1;
        for (; isdigit((unsigned char)*s) && exponent < 1000; s++) exponent = exponent * 10 + (*s - '0');
    }
    if (*s) reader_error(r, E0690, "`%s` where a fraction is due", r->tok.text);
    double power = 1;
    int shift = scale + sign * exponent;
    for (int i = shift < 0 ? -shift : shift; i > 0 && power < 1e300; i--) power *= 10;
    reader_next(r);
    return shift < 0 ? mantissa / power : mantissa * power;
}

/* ---- names ---- */

void reader_clear(Reader *r)
{
    r->words = names_new(r->arena);
    memset(r->scopes, 0, sizeof r->scopes);
    r->defined = 0;
}

void reader_declare(Reader *r, ScopeKind kind, const char *name, uint32_t index)
{
    if (r->failed) return;
    Scope *s = &r->scopes[kind];
    Name id = names_intern(r->words, name, strlen(name));
    while (s->index.n < id) vec_push(r->arena, &s->index, 0);
    if (s->index.v[id - 1]) reader_error(r, E0691, "`%s` is declared twice", name);
    else s->index.v[id - 1] = index + 1;
}

uint32_t reader_look_up(Reader *r, ScopeKind kind, const char *name)
{
    static const char *const WHAT[SC_COUNT] = {
        [SC_SYM] = "symbol",  [SC_TENSOR] = "tensor", [SC_SCALAR] = "scalar", [SC_MAP] = "map",     [SC_BUF] = "buffer", [SC_BAR] = "barrier",
        [SC_POL] = "policy",  [SC_VAR] = "variable",  [SC_PLAN] = "plan",     [SC_VALUE] = "value", [SC_RING] = "ring",  [SC_AGENT] = "agent"};
    Name id = r->failed ? 0 : names_find(r->words, name, strlen(name));
    const Scope *s = &r->scopes[kind];
    if (id && id <= s->index.n && s->index.v[id - 1]) return s->index.v[id - 1] - 1;
    reader_error(r, E0691, "no %s has the name `%s` here", WHAT[kind], name);
    return 0;
}

/* ---- launch expressions ---- */

typedef struct Infix {
    const char *text;
    int level;
    LxOp op;
    bool swapped; /* a > b is b < a */
} Infix;
static const Infix INFIX[] = {{"||", 0, LX_LOR, false}, {"&&", 1, LX_LAND, false}, {"==", 2, LX_EQ, false},
                              {"!=", 2, LX_NE, false},  {"<", 2, LX_LT, false},    {"<=", 2, LX_LE, false},
                              {">", 2, LX_LT, true},    {">=", 2, LX_LE, true},    {"&", 3, LX_AND, false},
                              {"|", 3, LX_OR, false},   {"^", 3, LX_XOR, false},   {"<<", 4, LX_SHL, false},
                              {">>", 4, LX_SHR, false}, {"+", 5, LX_ADD, false},   {"-", 5, LX_SUB, false},
                              {"*", 6, LX_MUL, false},  {"/", 6, LX_DIV, false},   {"%", 6, LX_MOD, false}};
enum { LEVEL_COMPARE = 2, LEVEL_UNARY = 7 };

static Lx lx_level(Reader *r, int level, int depth);

static Lx lx_call(Reader *r, LxOp op, int depth)
{
    reader_expect(r, "(");
    Lx a = lx_level(r, 0, depth);
    reader_expect(r, ",");
    Lx b = lx_level(r, 0, depth);
    reader_expect(r, ")");
    return a && b ? lx_op(r->arena, &r->k->mf.lx, op, a, b) : 0;
}

static Lx lx_name(Reader *r, int depth)
{
    static const struct {
        const char *text;
        LxOp op;
    } CALLS[] = {{"ceil", LX_CEIL}, {"min", LX_MIN}, {"max", LX_MAX}};
    bool word = r->tok.kind == TOK_WORD;
    const char *name = reader_name(r);
    for (size_t i = 0; word && i < sizeof CALLS / sizeof *CALLS; i++)
        if (strcmp(name, CALLS[i].text) == 0 && reader_is(r, "(")) return lx_call(r, CALLS[i].op, depth);
    uint32_t sym = reader_look_up(r, SC_SYM, name);
    return r->failed ? 0 : lx_sym(r->arena, &r->k->mf.lx, sym);
}

static Lx lx_unary(Reader *r, int depth)
{
    LxPool *p = &r->k->mf.lx;
    if (depth > LX_DEPTH_MAX) {
        reader_error(r, E0690, "an expression nested too deeply");
        return 0;
    }
    if (reader_accept(r, "(")) {
        Lx x = lx_level(r, 0, depth + 1);
        reader_expect(r, ")");
        return x;
    }
    if (reader_accept(r, "!")) {
        Lx x = lx_unary(r, depth + 1);
        return x ? lx_op(r->arena, p, LX_NOT, x, 0) : 0;
    }
    if (reader_is(r, "-") || r->tok.kind == TOK_NUMBER) {
        int64_t k = reader_int(r, INT64_MIN, INT64_MAX);
        return r->failed ? 0 : lx_const(r->arena, p, k);
    }
    return lx_name(r, depth + 1);
}

static const Infix *infix_at(const Reader *r, int level)
{
    for (size_t i = 0; i < sizeof INFIX / sizeof *INFIX && r->tok.kind == TOK_PUNCT; i++)
        if (INFIX[i].level == level && strcmp(INFIX[i].text, r->tok.text) == 0) return &INFIX[i];
    return NULL;
}

static Lx lx_level(Reader *r, int level, int depth)
{
    if (level == LEVEL_UNARY) return lx_unary(r, depth);
    Lx a = lx_level(r, level + 1, depth);
    const Infix *op;
    while ((op = infix_at(r, level)) != NULL) {
        reader_next(r);
        Lx b = lx_level(r, level + 1, depth);
        if (a == 0 || b == 0) return 0;
        a = lx_op(r->arena, &r->k->mf.lx, op->op, op->swapped ? b : a, op->swapped ? a : b);
        if (level == LEVEL_COMPARE) break;
    }
    return a;
}

Lx reader_lx(Reader *r)
{
    if (r->tok.kind == TOK_WORD && strcmp(r->tok.text, "_") == 0) {
        reader_next(r);
        return 0;
    }
    return lx_level(r, 0, 0);
}
