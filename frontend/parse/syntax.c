/* What a syntax error says. The parser knows what could stand at the place (and, with LAC, knows it exactly); here
 * that becomes a sentence in the language's own words. First come the slips that people really make: each has an
 * error of its own with the rule and what to write instead.
 */
#include "frontend/parse/parse.h"

#include <string.h>

#include "frontend/check/arithmetic.h"
#include "frontend/parse/foreign.h"
#include "lang/lang.h"

typedef struct Slip {
    Parse *ps;
    const bool *expected; /* by token kind */
    Token at, prev, first;
    bool new_line; /* `at` is the first token of its line */
} Slip;

static const char *text_of(const Parse *ps, Span s)
{
    return ps->lexer.src->text + (s.lo - ps->lexer.src->base);
}

/* The word or punctuation itself, as a string. */
static const char *copy_of(Slip *s, Span span)
{
    return arena_strdup(s->ps->tree.arena, text_of(s->ps, span), span.hi - span.lo);
}

static const char *quoted(Slip *s, Token t)
{
    return t.kind == TK_END ? "the end of the file" : lexer_quote(&s->ps->lexer, t.span);
}

static bool is_reserved(int kind)
{
    return kind >= TK_TARGET && kind <= TK_ROLE;
}

static bool same_place(Token a, Token b)
{
    return a.span.lo == b.span.lo;
}

static bool is_text(const Slip *s, Token t, const char *text)
{
    return t.span.hi - t.span.lo == strlen(text) && memcmp(text_of(s->ps, t.span), text, strlen(text)) == 0;
}

static bool is_elem_type(Slip *s, Token t)
{
    ElemType found;
    return t.kind == TK_IDENT && elem_find(copy_of(s, t.span), &found);
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static Diag *
say(Slip *s, ErrorCode code, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    Diag *g = diag_vat(s->ps->tree.diags, code, at, fmt, ap);
    va_end(ap);
    return g;
}

/* Arithmetic on tiles and tensors. */
static Diag *no_arithmetic(Slip *s, Span at, const char *what)
{
    Diag *g = say(s, E0321, at, "%s", what);
    arithmetic_notes(s->ps->tree.diags, g);
    return g;
}

static bool names_data(const Slip *s, const char *name)
{
    const Source *src = s->ps->lexer.src;
    return declares_data(src->text, text_of(s->ps, s->first.span), name);
}

#define FIX(s, g, ...) diag_fix((s)->ps->tree.diags, (g), __VA_ARGS__)
#define LABEL(s, g, span, ...) diag_label((s)->ps->tree.diags, (g), (span), __VA_ARGS__)
#define NOTE(s, g, ...) diag_note((s)->ps->tree.diags, (g), (Span){0, 0}, __VA_ARGS__)

/* ---- words in place of others ---- */

static bool foreign_word(Slip *s)
{
    Token t = same_place(s->at, s->first) ? s->at : s->first;
    if (t.kind != TK_IDENT) return false;
    const char *word = copy_of(s, t.span);
    const char *fix = foreign_fix(word);
    if (fix) {
        FIX(s, say(s, E0126, t.span, "there is no `%s`", word), "%s", fix);
        return true;
    }
    if (s->ps->depth == 0 || s->at.kind != TK_IDENT || !same_place(s->prev, s->first)) return false;
    if (foreign_copy(word)) {
        FIX(s, say(s, E0126, t.span, "there is no `%s`", word), "write `move x[..] -> t;`, or `move t -> x[..];`");
        return true;
    }
    if (!arithmetic_word(word)) return false;
    no_arithmetic(s, t.span, arena_printf(s->ps->tree.arena, "there is no `%s`", word));
    return true;
}

/* `int x = 1;`, `bf16 t[64];` */
static bool type_first(Slip *s)
{
    Token t = s->first;
    if (t.kind != TK_IDENT || s->at.kind != TK_IDENT || !same_place(t, s->prev)) return false;
    const char *word = copy_of(s, t.span), *name = copy_of(s, s->at.span);
    bool elem = is_elem_type(s, t);
    if (!elem && !foreign_type(word)) return false;
    Diag *g = say(s, E0122, t.span, "a declaration does not start with a type");
    if (s->ps->depth == 0) FIX(s, g, "`const %s = ..;` for a number, or `fn %s(..) = ..;`", name, name);
    else if (elem) FIX(s, g, "`shared %s: %s[..];` for a tile, `let %s = ..;` for a scalar", name, word, name);
    else FIX(s, g, "`let %s = ..;` (its type is worked out), or `var` if it changes", name);
    return true;
}

/* The nearest of the words that could stand at the place. Where a name could, every soft word could, as a name: they
 * are no hint then. */
static const char *nearest_expected(Slip *s, const char *word, bool soft)
{
    const char *words[TK_TRUST + 1];
    size_t n = 0;
    for (int k = TK_TARGET; k <= TK_TRUST; k++)
        if (s->expected[k] && (soft || is_reserved(k))) words[n++] = token_text(k);
    return spelling_nearest(word, words, n);
}

static const char *nearest_start(Slip *s, const char *word)
{
    const char *words[TK_TRUST + 1];
    size_t n = 0;
    bool file = s->ps->depth == 0;
    for (int k = TK_TARGET; k <= TK_TRUST; k++)
        if (file ? token_starts_item(k) : token_starts_stmt(k) || k == TK_ELSE) words[n++] = token_text(k);
    return spelling_nearest(word, words, n);
}

static bool misspelled(Slip *s)
{
    const char *word = "", *near = NULL;
    Token t = s->at;
    if (t.kind == TK_IDENT) {
        word = copy_of(s, t.span);
        near = nearest_expected(s, word, !s->expected[TK_IDENT]);
    }
    /* Any name passes as a map's mode; what follows a misspelled option does not. */
    if (near == NULL && s->expected[TK_BOX] && s->expected[TK_LOWER] && s->prev.kind == TK_IDENT) {
        t = s->prev;
        word = copy_of(s, t.span);
        near = nearest_expected(s, word, true);
    }
    /* A misspelled first word passes as a name; what follows it does not. */
    if (near == NULL && s->first.kind == TK_IDENT && !same_place(s->at, s->first)) {
        t = s->first;
        word = copy_of(s, t.span);
        near = nearest_start(s, word);
    }
    if (near == NULL) return false;
    FIX(s, say(s, E0119, t.span, "there is no `%s` here", word), "did you mean `%s`?", near);
    return true;
}

/* ---- names ---- */

static bool reserved_name(Slip *s)
{
    if (!is_reserved(s->at.kind) || !s->expected[TK_IDENT] || s->new_line) return false;
    if (same_place(s->at, s->first)) return false;
    bool value = s->expected[TK_INT];
    Diag *g = say(s, E0108, s->at.span, "%s is reserved and cannot %s", quoted(s, s->at),
                  value ? "be a value" : "be a name");
    if (value && (s->at.kind == TK_SHARED || s->at.kind == TK_TMEM))
        FIX(s, g, "a tile is declared, with no value: `%s t: bf16[64, 64];`", token_text(s->at.kind));
    else FIX(s, g, "choose another name, such as `%s_1`", copy_of(s, s->at.span));
    return true;
}

/* ---- brackets ---- */

static int bracket_closer(int kind)
{
    return kind == TK_LPAREN ? TK_RPAREN : kind == TK_LBRACKET ? TK_RBRACKET : TK_RBRACE;
}

static bool end_of_file(Slip *s)
{
    Parse *ps = s->ps;
    if (s->at.kind != TK_END) return false;
    Span end = {s->prev.span.hi, s->prev.span.hi};
    if (ps->depth == 0) return false;
    const Bracket *b = &ps->open[ps->depth];
    Diag *g = say(s, E0115, end, "the file ends before the `%s` that closes %s", token_text(bracket_closer(b->kind)),
                  b->block ? "this block" : "this");
    LABEL(s, g, b->span, "opened here");
    return true;
}

/* A kernel in a kernel: the `}` before it is missing. */
static bool item_in_block(Slip *s)
{
    Parse *ps = s->ps;
    if (!token_starts_item(s->at.kind) || ps->depth == 0) return false;
    if (!ps->open[ps->depth].block || !same_place(s->at, s->first)) return false;
    if (s->at.kind == TK_CONST) {
        FIX(s, say(s, E0135, s->at.span, "`const` stands outside of kernels and functions"), "write `let` here");
        return true;
    }
    if (s->at.kind == TK_TARGET) { /* the first line of a file: there is nothing to close in front of it */
        FIX(s, say(s, E0135, s->at.span, "`target` stands outside of kernels and functions"), "put it at the beginning of the file");
        return true;
    }
    Diag *g = say(s, E0115, s->at.span, "%s starts inside a block", quoted(s, s->at));
    LABEL(s, g, ps->open[ps->depth].span, "this is still open");
    FIX(s, g, "close the block with `}` before %s", quoted(s, s->at));
    parse_put_in(ps, TK_RBRACE, ps->depth);
    return true;
}

static bool lost_closer(Slip *s)
{
    Parse *ps = s->ps;
    /* `;` and braces have closed what was open: the feed saw them before the parser did. */
    const Bracket *b = &ps->lost;
    bool ends = s->at.kind == TK_SEMI || s->at.kind == TK_LBRACE || s->at.kind == TK_RBRACE;
    if (!ends || b->kind == 0) {
        b = &ps->open[ps->depth];
        bool outside = s->at.kind == TK_ARROW || token_starts_stmt(s->at.kind) || token_starts_item(s->at.kind);
        if (ps->depth == 0 || b->block || !outside) return false;
    }
    int closer = bracket_closer(b->kind);
    bool in_range = s->first.kind == TK_FOR || s->first.kind == TK_PIPELINE; /* `(0 .. n` wants a `,` before its `)` */
    if (!s->expected[closer] && !(in_range && s->expected[TK_COMMA])) return false;
    Diag *g = say(s, E0115, s->at.span, "expected `%s` before %s", token_text(closer), quoted(s, s->at));
    LABEL(s, g, b->span, "this is not closed");
    return true;
}

/* ---- statements ---- */

static bool missing_semicolon(Slip *s)
{
    Parse *ps = s->ps;
    if (!s->expected[TK_SEMI] || same_place(s->at, s->first)) return false;
    bool starts = ps->depth == 0 ? token_starts_item(s->at.kind)
                                 : token_starts_stmt(s->at.kind) || s->at.kind == TK_IDENT;
    bool next = starts && (s->new_line || s->at.kind != TK_IDENT);
    if (!next && s->at.kind != TK_RBRACE && s->at.kind != TK_END) return false;
    uint32_t end = s->prev.span.hi;
    say(s, E0118, (Span){end, end}, "expected `;` after %s", quoted(s, s->prev));
    if (next) parse_put_in(ps, TK_SEMI, 1);
    return true;
}

static bool needs_braces(Slip *s)
{
    int k = s->first.kind;
    bool body = k == TK_IF || k == TK_FOR || k == TK_PIPELINE || k == TK_ELSE || s->prev.kind == TK_ELSE;
    if (!body || !s->expected[TK_LBRACE]) return false;
    if (!token_starts_stmt(s->at.kind) && s->at.kind != TK_IDENT) return false;
    if (s->at.kind == TK_IDENT && !s->new_line) return false;
    FIX(s, say(s, E0130, s->at.span, "expected `{` before %s", quoted(s, s->at)), "`{ %s .. }`",
        copy_of(s, s->at.span));
    return true;
}

static bool empty_statement(Slip *s)
{
    if (s->at.kind != TK_SEMI || !same_place(s->at, s->first)) return false;
    if (s->prev.kind == TK_RBRACE) say(s, E0131, s->at.span, "no `;` follows a block");
    else say(s, E0131, s->at.span, "there is no statement before this `;`");
    return true;
}

static bool lost_else(Slip *s)
{
    if (s->at.kind != TK_ELSE || !same_place(s->at, s->first)) return false;
    FIX(s, say(s, E0105, s->at.span, "this `else` has no `if`"), "`if cond { .. } else { .. }`");
    return true;
}

static bool outside_kernels(Slip *s)
{
    if (s->ps->depth > 0 || !same_place(s->at, s->first) || !token_starts_stmt(s->at.kind)) return false;
    Diag *g = say(s, E0105, s->at.span, "%s stands outside of kernels and functions", quoted(s, s->at));
    if (s->at.kind == TK_LET || s->at.kind == TK_VAR) FIX(s, g, "`const name = value;` for a number that all may use");
    else FIX(s, g, "put it into `kernel name(..) { .. }`");
    return true;
}

/* `trust distinct(idx);`, `where n >= 1;` in a body. */
static bool clause_of_head(Slip *s)
{
    static const int WORDS[] = {TK_WHERE, TK_TRUST, TK_GRID, TK_CLUSTER, TK_THREADS};
    if (s->ps->depth == 0 || !s->ps->open[s->ps->depth].block) return false;
    bool is = false, soft = s->first.kind == TK_TRUST; /* a name could stand there */
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) is = is || s->first.kind == WORDS[i];
    const char *text = text_of(s->ps, s->first.span), *end = text;
    while (*end && *end != ';' && *end != '{' && *end != '}' && *end != '\n') end++;
    const char *next = text + (s->first.span.hi - s->first.span.lo);
    next += strspn(next, " ");
    if (!is || *next == '.' || *next == '=' || *end != ';' || !same_place(soft ? s->prev : s->at, s->first)) return false;
    Span at = {s->first.span.lo, s->first.span.lo + (uint32_t)(end - text)};
    Diag *g = say(s, E0105, at, "%s stands in the head of a kernel, not in a body", quoted(s, s->first));
    FIX(s, g, "`kernel name(..) %s { .. }`", copy_of(s, at));
    return true;
}

static bool several_names(Slip *s)
{
    int k = s->first.kind;
    if (s->at.kind != TK_COMMA || s->ps->depth == 0 || !s->ps->open[s->ps->depth].block) return false;
    if (k != TK_LET && k != TK_VAR && k != TK_BARRIER && k != TK_SHARED && k != TK_TMEM) return false;
    Diag *g = say(s, E0128, s->at.span, "one `%s` declares one name", token_text(k));
    FIX(s, g, "end it with `;` and write `%s` again", token_text(k));
    return true;
}

static bool typed_scalar(Slip *s)
{
    if ((s->first.kind != TK_LET && s->first.kind != TK_VAR) || s->at.kind != TK_COLON) return false;
    if (!same_place(s->ps->before, s->first)) return false;
    FIX(s, say(s, E0133, s->at.span, "a scalar's type is not written"), "`%s %s = ..;`", token_text(s->first.kind),
        copy_of(s, s->prev.span));
    return true;
}

/* `shared t: bf16[64] = 0;`, `shared bf16 t[64];` */
static bool tile_declaration(Slip *s)
{
    int k = s->first.kind;
    if (k != TK_SHARED && k != TK_TMEM) return false;
    if (s->at.kind == TK_ASSIGN) {
        const char *name = copy_of(s, s->ps->second.span);
        if (computes(text_of(s->ps, s->at.span) + 1)) no_arithmetic(s, s->at.span, "a tile has no initial value, and none is worked out");
        else FIX(s, say(s, E0124, s->at.span, "a tile has no initial value"), "`fill %s = value;` after the declaration",
            name);
        return true;
    }
    if (s->at.kind == TK_IDENT && s->expected[TK_COLON] && same_place(s->ps->before, s->first) &&
        (is_elem_type(s, s->prev) || foreign_type(copy_of(s, s->prev.span)))) {
        const char *name = copy_of(s, s->at.span), *type = is_elem_type(s, s->prev) ? copy_of(s, s->prev.span) : "f32";
        FIX(s, say(s, E0122, s->prev.span, "the name stands before the type"), "`%s %s: %s[..];`", token_text(k), name,
            type);
        return true;
    }
    return false;
}

static bool c_for(Slip *s)
{
    if (s->first.kind != TK_FOR && s->first.kind != TK_PIPELINE) return false;
    const char *word = token_text(s->first.kind);
    if (s->at.kind == TK_ASSIGN || s->at.kind == TK_COLON) {
        if ((!s->expected[TK_IN] || s->expected[TK_INT]) && s->ps->open[s->ps->depth].kind != TK_LPAREN) return false;
    } else if (!(s->ps->open[s->ps->depth].kind == TK_LPAREN && s->expected[TK_COMMA] && s->at.kind == TK_IDENT) ||
               s->expected[TK_STAR]) {
        return false;
    }
    s->ps->c_loop = s->ps->open[s->ps->depth].kind == TK_LPAREN;
    Diag *g = say(s, E0125, s->at.span, "expected `in` and a range, found %s", quoted(s, s->at));
    FIX(s, g, "`%s i in 0 .. n { .. }`, or `%s (i, j) in (m, n) { .. }`", word, word);
    return true;
}

/* `for i in a .. b step n`, `for i in n across grid`, `for (i, j) in m, n` */
static bool loop_head(Slip *s)
{
    bool indices = s->expected[TK_IN] && !s->expected[TK_INT];
    int k = s->at.kind;
    if ((s->first.kind != TK_FOR && s->first.kind != TK_PIPELINE) || !(s->expected[TK_LBRACE] || indices)) return false;
    if (is_text(s, s->at, "step") || is_text(s, s->at, "by"))
        FIX(s, say(s, E0105, s->at.span, "loops count by 1"), "`for k in ceil(b - a, n) { let i = a + k * n; .. }` is each n-th i of a .. b");
    else if (s->first.kind == TK_FOR && (k == TK_ACROSS || k == TK_STAGES || k == TK_THREADS))
        FIX(s, say(s, E0105, s->at.span, "the iterations of a `for` come one after the other"), "`pipeline` has %s, in place of `for`", quoted(s, s->at));
    else if (k == TK_COMMA)
        FIX(s, say(s, E0105, s->at.span, "several %s stand in parentheses", indices ? "indices" : "ranges"), "`%s (i, j) in (m, n) { .. }`", token_text(s->first.kind));
    else return false;
    return true;
}

/* `reduce sum` */
static bool reduce_sum(Slip *s)
{
    if (s->prev.kind != TK_REDUCE || s->at.kind != TK_SUM) return false;
    FIX(s, say(s, E0105, s->at.span, "`sum` adds up the parts of one tile"), "`add`");
    return true;
}

/* `0 ... n`, `0 to n` */
static bool range_dots(Slip *s)
{
    bool third = s->at.kind == TK_DOT && s->prev.kind == TK_DOTDOT && s->at.span.lo == s->prev.span.hi;
    bool word = s->expected[TK_DOTDOT] && s->at.kind == TK_IDENT &&
                (is_text(s, s->at, "to") || is_text(s, s->at, "until"));
    if (!third && !word) return false;
    Span span = third ? (Span){s->prev.span.lo, s->at.span.hi} : s->at.span;
    FIX(s, say(s, E0125, span, "%s makes no range", lexer_quote(&s->ps->lexer, span)),
        "`low .. high`, where `high` is not reached");
    return true;
}

/* `stages = 3` */
static bool word_with_equals(Slip *s)
{
    if (s->at.kind != TK_ASSIGN || !s->expected[TK_INT] || s->prev.kind < TK_TARGET || s->prev.kind > TK_TRUST) return false;
    FIX(s, say(s, E0105, s->at.span, "%s takes its value without `=`", quoted(s, s->prev)), "`%s 4`", token_text(s->prev.kind));
    return true;
}

/* `x[0:64]`, `x[a..b]`: also `x[:, ..]` */
static bool slice(Slip *s)
{
    bool inside = s->ps->depth && s->ps->open[s->ps->depth].kind == TK_LBRACKET;
    if (!inside || (s->at.kind != TK_COLON && s->at.kind != TK_DOTDOT)) return false;
    bool from = s->expected[TK_SPAN], parameter = s->prev.kind == TK_IDENT && s->ps->before.kind == TK_COMMA;
    if (parameter && (s->first.kind == TK_KERNEL || s->first.kind == TK_FN)) { /* `x: global bf16[M, N, y: ..` */
        LABEL(s, say(s, E0115, s->prev.span, "expected `]` before %s", quoted(s, s->prev)), s->ps->open[s->ps->depth].span, "this is not closed");
        return true;
    }
    Diag *g = say(s, E0105, s->at.span, from ? "%s makes no part of a tensor" : "%s is no subscript", quoted(s, s->at));
    FIX(s, g, "`start +: extent` for a part, as in `0 +: 64`; `:` for a whole dimension");
    return true;
}

/* `i += 1`, `i++`, `t[i] = v`; `t[i] -> x[j]` */
static bool bare_name(Slip *s)
{
    if (s->first.kind != TK_IDENT || !same_place(s->prev, s->first)) return false;
    const char *name = copy_of(s, s->first.span), *at = text_of(s->ps, s->at.span), *behind = s->at.kind == TK_LBRACKET ? behind_subscript(at) : at;
    if (strncmp(behind, "->", 2) == 0) {
        FIX(s, say(s, E0126, s->first.span, "a move begins with `move`"), "`move %s%s -> ..;`", name, behind == at ? "" : "[..]");
        return true;
    }
    if (s->at.kind == TK_LBRACKET) {
        if ((behind[0] && behind[1] == '=') || (behind[0] == '=' && computes(behind + 1))) {
            no_arithmetic(s, s->at.span, arena_printf(s->ps->tree.arena, "elements of `%s` are moved, not computed", name));
            return true;
        }
        Diag *g = say(s, E0132, s->at.span, "an element of `%s` cannot be assigned", name);
        FIX(s, g, "of a tile `fill %s[..] = value;`; of a tensor fill a tile and move it: `fill tile = value; move tile -> %s[..];`", name, name);
        return true;
    }
    if (at[0] == 0 || !strchr("+-*/%&|^", at[0])) return false;
    if (names_data(s, name) && (at[1] == '=' || at[1] == at[0])) {
        Diag *g = no_arithmetic(s, (Span){s->at.span.lo, s->at.span.lo + 2}, arena_printf(s->ps->tree.arena, "there is no `%.2s` for elements of `%s`", at, name));
        const char *u = word_at(s->ps->tree.arena, at + 2), *from = names_data(s, u) ? u : "tile";
        if (at[0] == '+' && at[1] == '=')
            FIX(s, g, "`move %s -> %s reduce add via threads;` into a tile, `move %s -> %s[..] reduce add;` into memory", from, name, from, name);
        return true;
    }
    if (at[1] == '=') {
        FIX(s, say(s, E0123, (Span){s->at.span.lo, s->at.span.lo + 2}, "there is no `%c=`", at[0]), "`%s = %s %c ..;`",
            name, name, at[0]);
        return true;
    }
    if ((at[0] == '+' || at[0] == '-') && at[1] == at[0]) {
        FIX(s, say(s, E0123, (Span){s->at.span.lo, s->at.span.lo + 2}, "there is no `%c%c`", at[0], at[0]),
            "`%s = %s %c 1;`", name, name, at[0]);
        return true;
    }
    return false;
}

static bool is_clause(int kind)
{
    switch (kind) {
    case TK_VIA:
    case TK_MULTICAST:
    case TK_REDUCE:
    case TK_CACHE:
    case TK_BYTES:
    case TK_OFFSET:
    case TK_HALO:
    case TK_OVERLAP:
    case TK_CONVERT:
    case TK_TRANSPOSE:
    case TK_REVERSE:
    case TK_SUM:
    case TK_COMMIT: return true;
    default: return false;
    }
}

static bool move_arrow(Slip *s)
{
    if (s->first.kind != TK_MOVE) return false;
    const char *at = text_of(s->ps, s->at.span);
    if (s->at.kind == TK_ARROW && s->expected[TK_SEMI]) {
        FIX(s, say(s, E0121, s->at.span, "a move has one destination"), "end it with `;` and write a second `move`");
        return true;
    }
    if (!s->expected[TK_ARROW]) return false;
    if (at[0] && strchr("+-*/%&|^", at[0]) && at[1] != '>') {
        no_arithmetic(s, s->at.span, "a move takes what lies in a tile or tensor, and works nothing out");
        return true;
    }
    if (is_clause(s->at.kind)) {
        FIX(s, say(s, E0121, s->at.span, "%s stands before the destination", quoted(s, s->at)),
            "`move source -> destination %s ..;`", token_text(s->at.kind));
        return true;
    }
    Span both = {s->at.span.lo, s->at.span.lo + 2};
    if (at[0] == '<' && at[1] == '-') {
        FIX(s, say(s, E0121, both, "a move is written from its source to its destination"),
            "`move source -> destination`");
        return true;
    }
    bool fat = at[0] == '=' && at[1] == '>';
    if (!fat && s->at.kind != TK_ASSIGN && s->at.kind != TK_COMMA && !is_text(s, s->at, "to") &&
        !is_text(s, s->at, "into"))
        return false;
    Span span = fat ? both : s->at.span;
    FIX(s, say(s, E0121, span, "expected `->` and the destination, found %s", lexer_quote(&s->ps->lexer, span)),
        "`move source -> destination`");
    return true;
}

static bool multicast_to_whom(Slip *s)
{
    if (s->prev.kind != TK_MULTICAST || s->at.kind == TK_IDENT || s->at.kind == TK_LPAREN) return false;
    FIX(s, say(s, E0105, s->prev.span, "which CTAs get it is missing behind `multicast`"),
        "`multicast x` for those that differ in `cluster.x` only (`y`, `z` likewise), `multicast all` for all of the cluster");
    return true;
}

/* ---- expressions ---- */

static bool is_comparison(int kind)
{
    return kind == TK_EQ || kind == TK_NE || kind == TK_LT || kind == TK_GT || kind == TK_LE || kind == TK_GE;
}

static bool comparison(Slip *s)
{
    if (s->at.kind == TK_ASSIGN && s->expected[TK_EQ]) {
        FIX(s, say(s, E0120, s->at.span, "`=` does not compare"), "write `==`");
        return true;
    }
    if (is_comparison(s->at.kind) && s->expected[TK_ANDAND]) {
        FIX(s, say(s, E0127, s->at.span, "comparisons do not chain"), "`a < b && b < c`");
        return true;
    }
    return false;
}

static bool logic_word(Slip *s)
{
    if (s->at.kind != TK_IDENT) return false;
    const char *op = NULL;
    if (s->expected[TK_ANDAND])
        op = is_text(s, s->at, "and") ? "&&" : is_text(s, s->at, "or") ? "||" : is_text(s, s->at, "mod") ? "%" : NULL;
    Token not = s->prev;
    if (!op && is_text(s, not, "not")) {
        FIX(s, say(s, E0134, not .span, "there is no operator `not`"), "write `!`");
        return true;
    }
    if (!op) return false;
    FIX(s, say(s, E0134, s->at.span, "there is no operator %s", quoted(s, s->at)), "write `%s`", op);
    return true;
}

/* `let n = M // 64;` */
static bool division(Slip *s)
{
    const char *text = text_of(s->ps, s->prev.span) + (s->prev.span.hi - s->prev.span.lo), *comment = text + strspn(text, " ");
    if (!s->expected[TK_SLASH] || comment[0] != '/' || comment[1] != '/' || !foreign_division(comment)) return false;
    uint32_t at = s->prev.span.hi + (uint32_t)(comment - text);
    s->ps->stopped = true; /* what it hides would be missing further on */
    FIX(s, say(s, E0105, (Span){at, at + 2}, "`//` begins a comment"), "write `/`, which rounds down");
    return true;
}

/* `import "folder/lib.tile";` */
static bool quoted_import(Slip *s)
{
    if (s->prev.kind != TK_IMPORT || s->at.kind != TK_STRING) return false;
    char *path = arena_strdup(s->ps->tree.arena, text_of(s->ps, s->at.span) + 1, s->at.span.hi - s->at.span.lo - 2);
    char *suffix = strstr(path, ".tile");
    if (suffix) *suffix = '\0';
    for (char *c = path; *c; c++)
        if (*c == '/') *c = '.';
    FIX(s, say(s, E0105, s->at.span, "a module is named by its path with dots, not by its file"), "write `%s`", path);
    return true;
}

/* `src: bf16[M, N]` */
static bool tensor_without_space(Slip *s)
{
    if (s->first.kind != TK_KERNEL && s->first.kind != TK_FN) return false;
    if (s->at.kind != TK_LBRACKET || s->ps->before.kind != TK_COLON) return false;
    FIX(s, say(s, E0129, s->prev.span, "a tensor parameter says where the tensor is"), "`global %s[..]`",
        copy_of(s, s->prev.span));
    return true;
}

/* `kernel k<BM: 64>`, `kernel k<int BM>`, `f<a > b>(x)` */
static bool template_list(Slip *s)
{
    bool head = s->first.kind == TK_KERNEL || s->first.kind == TK_FN;
    if (head && s->expected[TK_GT] && (s->at.kind == TK_COLON || (s->at.kind == TK_IDENT && s->prev.kind == TK_IDENT))) {
        FIX(s, say(s, E0105, s->at.span, "a compile-time parameter has a default, not a type"), "`%s = 64`",
            copy_of(s, s->at.kind == TK_COLON ? s->prev.span : s->at.span));
        return true;
    }
    if (s->prev.kind != TK_GT || !s->expected[TK_LPAREN] || s->expected[TK_INT] || s->at.kind == TK_SEMI) return false;
    Diag *g = say(s, E0105, s->prev.span, "this `>` ends the list of compile-time arguments");
    FIX(s, g, "put a comparison in parentheses: `f<(a > b)>(..)`");
    return true;
}

/* ---- everything else ---- */

static void anything_else(Slip *s)
{
    Text out;
    text_init(&out, s->ps->tree.arena->mem);
    syntax_expected(s->expected, &out);
    Span at = s->at.span;
    if (s->at.kind == TK_END) at = (Span){s->prev.span.hi, s->prev.span.hi};
    say(s, E0105, at, "expected %s, found %s", out.s, quoted(s, s->at));
    text_free(&out);
}

/* Plain before clever: a slip that is certain from the tokens alone comes before one that is guessed from spelling. */
static bool (*const slips[])(Slip *) = {
    division, end_of_file, item_in_block, empty_statement, lost_else, outside_kernels, clause_of_head, c_for, loop_head, word_with_equals, slice, range_dots,
    type_first, foreign_word, tile_declaration, typed_scalar, several_names, bare_name, multicast_to_whom, move_arrow, tensor_without_space, comparison,
    logic_word, lost_closer, template_list, reduce_sum, quoted_import, reserved_name, needs_braces, misspelled, missing_semicolon,
};

void syntax_error(Parse *ps, const bool *expected)
{
    if (ps->stopped) return;
    bool garbled = ps->lexer.errors != ps->lexer_errors; /* it has its message already */
    ps->recovering = true;
    if (ps->open[ps->depth].roles) ps->skip_to = ps->depth;
    Slip s = {ps, expected, ps->cur, ps->prev, ps->first, parse_on_new_line(ps, ps->prev.span, ps->cur.span)};
    if (garbled) return;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        if (slips[i](&s)) return;
    anything_else(&s);
}
