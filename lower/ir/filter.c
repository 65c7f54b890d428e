/* The pieces of a line. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lower/ir/filter.h"

enum { LX_DEPTH_MAX = 200 };
static const char DIGITS[] = "0123456789";

void filter_error(Filter *f, ErrorCode code, const char *fmt, ...)
{
    if (f->failed || !f->reading) return;
    f->failed = true;
    va_list ap;
    va_start(ap, fmt);
    diag_vat(f->diags, code, f->tok.span, fmt, ap);
    va_end(ap);
    f->tok = (Token){.kind = TOK_END, .text = "", .span = f->tok.span};
}

const char *filter_token(const Filter *f)
{
    if (f->tok.kind == TOK_END) return "the end of the text";
    return arena_printf(f->arena, "`%s%.40s`", f->tok.kind == TOK_VALUE ? "%" : "", f->tok.text);
}

/* ---- words ---- */

void filter_put(Filter *f, const char *s)
{
    if (!f->tight) text_char(f->out, ' ');
    f->tight = false;
    text_str(f->out, s);
}

bool filter_is(const Filter *f, const char *text)
{
    return (f->tok.kind == TOK_WORD || f->tok.kind == TOK_PUNCT) && strcmp(f->tok.text, text) == 0;
}

bool filter_accept(Filter *f, const char *text)
{
    if (!filter_is(f, text)) return false;
    filter_next(f);
    return true;
}

void filter_word(Filter *f, const char *word)
{
    if (!f->reading) filter_put(f, word);
    else if (!filter_accept(f, word)) filter_error(f, E0690, "%s where `%s` is due", filter_token(f), word);
}

bool filter_maybe(Filter *f, const char *word, bool there)
{
    if (f->reading) return filter_accept(f, word);
    if (there) filter_put(f, word);
    return there;
}

bool filter_glued(Filter *f, const char *punct, bool there)
{
    f->tight = true;
    there = filter_maybe(f, punct, there);
    f->tight = there;
    return there;
}

void filter_close(Filter *f, const char *punct)
{
    f->tight = true;
    filter_word(f, punct);
}

void filter_comma(Filter *f)
{
    filter_close(f, ",");
}

uint8_t filter_word_of(Filter *f, const char *const *words, uint32_t n, uint8_t value, const char *what)
{
    if (!f->reading) {
        filter_put(f, value < n ? words[value] : "?");
        return value;
    }
    for (uint32_t i = 0; i < n && (f->tok.kind == TOK_WORD || f->tok.kind == TOK_NUMBER); i++) {
        if (strcmp(words[i], f->tok.text) != 0) continue;
        filter_next(f);
        return (uint8_t)i;
    }
    const char *near = spelling_nearest(f->tok.text, words, n);
    if (near) filter_error(f, E0690, "%s is no %s; did you mean `%s`?", filter_token(f), what, near);
    else filter_error(f, E0690, "%s is no %s", filter_token(f), what);
    return 0;
}

const char *filter_string(Filter *f, const char *s)
{
    if (!f->reading) {
        filter_put(f, filter_quoted(f, s ? s : ""));
        return s;
    }
    if (f->tok.kind == TOK_STRING) return filter_name(f, NULL);
    filter_error(f, E0690, "%s where a text in quotes is due", filter_token(f));
    return "";
}

/* ---- numbers ---- */

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

int64_t filter_int(Filter *f, int64_t k, int64_t lo, int64_t hi)
{
    uint64_t u;
    if (!f->reading) {
        filter_put(f, "");
        text_int(f->out, k);
        return k;
    }
    bool minus = filter_accept(f, "-");
    if (f->tok.kind != TOK_NUMBER) {
        filter_error(f, E0690, "%s where a number is due", filter_token(f));
        return lo;
    }
    bool ok = digits(f->tok.text, &u) && (minus || u <= INT64_MAX);
    k = !ok ? 0 : minus ? (u == 0 ? 0 : -(int64_t)(u - 1) - 1) : (int64_t)u;
    if (!ok || k < lo || k > hi) {
        filter_error(f, E0692, "%s%s is not from %lld to %lld", minus ? "-" : "", f->tok.text, (long long)lo, (long long)hi);
        return lo;
    }
    filter_next(f);
    return k;
}

double filter_fraction(Filter *f, double k)
{
    char text[40];
    if (!f->reading) {
        snprintf(text, sizeof text, "%.9g", k); /* createpolicy takes an f32: nine digits say all of it */
        for (char *s = text; *s; s++) *s = *s == ',' ? '.' : *s; /* whatever the locale */
        filter_put(f, text);
        return k;
    }
    const char *s = f->tok.text, *end = s + strspn(s, DIGITS);
    if (*end == '.') end += 1 + strspn(end + 1, DIGITS);
    if (*end == 'e') end += end[1] == '-' || end[1] == '+' ? 2 : 1;
    if (f->tok.kind != TOK_NUMBER || end[strspn(end, DIGITS)]) filter_error(f, E0690, "%s where a fraction is due", filter_token(f));
    k = f->failed ? 0 : decimal_value(f->arena, s, strlen(s));
    filter_next(f);
    return k;
}

bool filter_list(Filter *f, unsigned n, unsigned count, unsigned max)
{
    if (f->reading) {
        if (n == 0) filter_word(f, "[");
        if (f->failed || filter_accept(f, "]")) return false;
        if (n) filter_word(f, ",");
        if (n == max) filter_error(f, E0692, "more than %u in a list", max);
        return !f->failed;
    }
    bool more = n < count && n < max;
    if (n == 0) filter_put(f, "[");
    else if (more) filter_comma(f);
    if (!more) filter_close(f, "]");
    f->tight = more && n == 0;
    return more;
}

/* ---- launch expressions ---- */

static Lx level(Filter *f, LxLevel at, int depth);

static Lx operation(Filter *f, LxOp op, Lx a, Lx b)
{
    return a && (b || op == LX_NOT) ? lx_op(f->arena, &f->k->mf.lx, op, a, b) : 0;
}

static Lx call_or_name(Filter *f, int depth)
{
    bool word = f->tok.kind == TOK_WORD;
    const char *name = filter_name(f, NULL);
    for (LxOp op = 0; word && filter_is(f, "(") && op < LX_OP_COUNT; op++) {
        if (lx_op_text(op)->level != LX_CALL || strcmp(name, lx_op_text(op)->text) != 0) continue;
        filter_word(f, "(");
        Lx a = level(f, LX_LEVEL_LOR, depth);
        filter_word(f, ",");
        Lx b = level(f, LX_LEVEL_LOR, depth);
        filter_word(f, ")");
        return operation(f, op, a, b);
    }
    uint32_t sym = filter_look_up(f, NAME_SYM, name);
    return f->failed ? 0 : lx_sym(f->arena, &f->k->mf.lx, sym);
}

static Lx unary(Filter *f, int depth)
{
    if (depth > LX_DEPTH_MAX) {
        filter_error(f, E0690, "an expression nested too deeply");
        return 0;
    }
    if (filter_accept(f, "(")) {
        Lx x = level(f, LX_LEVEL_LOR, depth + 1);
        filter_word(f, ")");
        return x;
    }
    if (filter_accept(f, "!")) return operation(f, LX_NOT, unary(f, depth + 1), 0);
    if (filter_is(f, "-") && !isdigit((unsigned char)*f->cursor)) {
        filter_next(f);
        Lx x = unary(f, depth + 1);
        return operation(f, LX_SUB, lx_const(f->arena, &f->k->mf.lx, 0), x);
    }
    if (filter_is(f, "-") || f->tok.kind == TOK_NUMBER) {
        int64_t k = filter_int(f, 0, INT64_MIN, INT64_MAX);
        return f->failed ? 0 : lx_const(f->arena, &f->k->mf.lx, k);
    }
    return call_or_name(f, depth + 1);
}

static LxOp infix(const Filter *f, LxLevel at)
{
    LxOp op = 0;
    while (op < LX_OP_COUNT && !(lx_op_text(op)->level == at && filter_is(f, lx_op_text(op)->text))) op++;
    return op;
}

static Lx level(Filter *f, LxLevel at, int depth)
{
    if (at == LX_UNARY) return unary(f, depth);
    Lx a = level(f, at + 1, depth);
    for (LxOp op; !f->failed && (op = infix(f, at)) != LX_OP_COUNT;) {
        filter_next(f);
        a = operation(f, op, a, level(f, at + 1, depth));
        if (at == LX_COMPARE) break;
    }
    return a;
}

Lx filter_lx(Filter *f, Lx x)
{
    bool none = x == 0 || x > f->k->mf.lx.nodes.n;
    if (f->reading ? filter_is(f, "_") : none) {
        filter_word(f, "_");
        return 0;
    }
    if (f->reading) return level(f, LX_LEVEL_LOR, 0);
    const char **names = f->shown[NAME_SYM];
    if (names == NULL) { /* a single op is printed */
        names = arena_array(f->arena, const char *, f->k->mf.syms.n);
        for (uint32_t i = 0; i < f->k->mf.syms.n; i++) names[i] = filter_shown(f, NAME_SYM, i);
    }
    filter_put(f, "");
    lx_print(f->out, &f->k->mf.lx, x, names);
    return x;
}
