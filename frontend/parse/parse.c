/* Feeds tokens to the generated parser, and keeps the brackets on the way. */
#include "frontend/parse/parse.h"

#include <string.h>

enum { NO_TOKEN = -1 };

/* ---- what the parser needs ---- */

void *parse_regrow(Parse *ps, const void *old, size_t used, size_t size)
{
    void *p = arena_alloc(ps->tree.arena, size);
    memcpy(p, old, used);
    return p;
}

Ident parse_soft_name(Parse *ps, Span s)
{
    const Source *src = ps->lexer.src;
    return (Ident){names_intern(ps->tree.names, src->text + (s.lo - src->base), s.hi - s.lo), s};
}

void parse_resumed(Parse *ps)
{
    ps->recovering = ps->c_loop = false;
    ps->skip_to = 0;
}

bool token_starts_item(int kind)
{
    return kind == TK_TARGET || kind == TK_IMPORT || kind == TK_CONST || kind == TK_FN || kind == TK_KERNEL;
}

bool token_starts_stmt(int kind)
{
    switch (kind) {
    case TK_LET:
    case TK_VAR:
    case TK_VIEW:
    case TK_MOVE:
    case TK_PREFETCH:
    case TK_WAIT:
    case TK_ARRIVE:
    case TK_EXPECT:
    case TK_FOR:
    case TK_PIPELINE:
    case TK_IF:
    case TK_ROLES:
    case TK_SHARED:
    case TK_TMEM:
    case TK_BARRIER:
    case TK_MAP:
    case TK_POLICY:
    case TK_FILL:
    case TK_SHIFT:
    case TK_GROUP: return true;
    default: return false;
    }
}

static bool ends_operand(int kind)
{
    return kind == TK_IDENT || kind == TK_INT || kind == TK_FLOAT || kind == TK_STRING || kind == TK_RPAREN ||
           kind == TK_RBRACKET || (kind >= TK_IN && kind <= TK_TRUST);
}

bool parse_on_new_line(const Parse *ps, Span from, Span to)
{
    const Source *src = ps->lexer.src;
    if (to.lo <= from.hi) return false; /* one of them was put in */
    return memchr(src->text + (from.hi - src->base), '\n', to.lo - from.hi) != NULL;
}

/* ---- brackets ---- */

static Bracket *innermost(Parse *ps)
{
    return &ps->open[ps->depth];
}

static void too_deep(Parse *ps, Span at)
{
    if (ps->stopped) return;
    ps->stopped = true;
    bool chain = innermost(ps)->else_ifs > NESTING_MAX / 2;
    Diag *g = diag_at(ps->tree.diags, E0106, at, "%s nested more than %d deep",
                      chain ? "this else-if chain is" : "blocks and brackets are", NESTING_MAX);
    diag_note(ps->tree.diags, g, (Span){0, 0}, "the rest of this file is not read");
}

/* Brackets are bounded, so that only a chain of unary operators fills the parser's stack. */
void parse_stack_full(Parse *ps)
{
    if (ps->stopped) return;
    ps->stopped = true;
    Diag *g = diag_at(ps->tree.diags, E0117, ps->cur.span, "this expression is more than %d levels deep",
                      EXPR_DEPTH_MAX);
    diag_note(ps->tree.diags, g, (Span){0, 0}, "the rest of this file is not read");
}

static void open_bracket(Parse *ps, Token t, bool block)
{
    if (ps->nesting == NESTING_MAX) {
        too_deep(ps, t.span);
        return;
    }
    ps->nesting++;
    ps->open[++ps->depth] = (Bracket){.kind = (uint8_t)t.kind, .block = block, .span = t.span};
}

static void end_chain(Parse *ps)
{
    ps->nesting -= innermost(ps)->else_ifs;
    innermost(ps)->else_ifs = 0;
}

static void close_bracket(Parse *ps)
{
    end_chain(ps);
    ps->nesting--;
    ps->depth--;
}

/* `;` and the braces of blocks never stand inside other brackets: what is open there was lost. */
static void close_lost(Parse *ps)
{
    ps->lost.kind = 0;
    if (!innermost(ps)->block) ps->lost = *innermost(ps);
    while (!innermost(ps)->block) close_bracket(ps);
}

static bool rows_open(const Parse *ps)
{
    for (uint32_t d = ps->depth; d > 0 && !ps->open[d].block; d--)
        if (ps->open[d].kind == TK_LBRACE) return true;
    return false;
}

static int closer_of(int kind)
{
    return kind == TK_LPAREN ? TK_RPAREN : kind == TK_LBRACKET ? TK_RBRACKET : TK_RBRACE;
}

/* Handles `)` and `]`. Returns the token that the parser shall see: the one that fits, or none. */
static int close_round(Parse *ps, Token t)
{
    const Bracket *b = innermost(ps);
    if (ps->depth > 0 && closer_of(b->kind) == t.kind) {
        close_bracket(ps);
        return t.kind;
    }
    ps->lexer.errors++; /* what follows from it in this statement is not reported */
    if (ps->depth == 0 || b->block) {
        if (!ps->recovering) diag_at(ps->tree.diags, E0116, t.span, "this `%s` closes nothing", token_text(t.kind));
        return NO_TOKEN;
    }
    if (!ps->recovering) {
        Diag *g = diag_at(ps->tree.diags, E0115, t.span, "`%s` cannot close `%s`", token_text(t.kind),
                          token_text(b->kind));
        diag_label(ps->tree.diags, g, b->span, "this is open, and is closed by `%s`", token_text(closer_of(b->kind)));
    }
    int fits = closer_of(b->kind);
    close_bracket(ps);
    /* `(a[i)`: two were opened and one is closed. */
    if (ps->depth > 0 && closer_of(innermost(ps)->kind) == t.kind && !ps->recovering) {
        ps->again = true;
        ps->again_token = t;
    }
    return fits;
}

static int close_brace(Parse *ps, Token t)
{
    if (rows_open(ps)) {
        while (innermost(ps)->kind != TK_LBRACE) close_bracket(ps);
        close_bracket(ps);
        return t.kind;
    }
    close_lost(ps);
    if (ps->depth == 0) {
        diag_at(ps->tree.diags, E0116, t.span, "this `}` closes nothing");
        ps->lexer.errors++;
        return NO_TOKEN;
    }
    close_bracket(ps);
    ps->at_start = true;
    return t.kind;
}

static void open_brace(Parse *ps, Token t)
{
    bool rows = ps->cur.kind == TK_LBRACKET || (ps->cur.kind == TK_COMMA && innermost(ps)->kind == TK_LBRACKET);
    if (!rows) {
        close_lost(ps);
        ps->at_start = true;
    }
    open_bracket(ps, t, !rows);
    innermost(ps)->roles = ps->cur.kind == TK_ROLES;
}

/* An else-if chain is a list to the reader and a nest to every pass that walks it. */
static void count_chain(Parse *ps, Token t)
{
    if (ps->cur.kind != TK_ELSE) {
        end_chain(ps);
    } else if (ps->nesting == NESTING_MAX) {
        too_deep(ps, t.span);
    } else {
        innermost(ps)->else_ifs++;
        ps->nesting++;
    }
}

/* ---- tokens ---- */

void parse_put_in(Parse *ps, int kind, uint32_t n)
{
    ps->put_in = n;
    ps->put_in_kind = kind;
    ps->again = true;
    ps->again_token = ps->cur;
    ps->cur = ps->prev;
}

/* What the token does to the brackets; NO_TOKEN if the parser shall not see it. */
static int track(Parse *ps, Token t)
{
    if (ps->at_start) {
        ps->first = t;
        ps->second.kind = 0;
        ps->lexer_errors = ps->lexer_errors_before;
        ps->at_start = false;
    } else if (ps->second.kind == 0) {
        ps->second = t;
    }
    switch (t.kind) {
    case TK_LPAREN:
    case TK_LBRACKET: open_bracket(ps, t, false); break;
    case TK_RPAREN:
    case TK_RBRACKET: return close_round(ps, t);
    case TK_LBRACE: open_brace(ps, t); break;
    case TK_RBRACE: return close_brace(ps, t);
    case TK_SEMI:
        if (ps->c_loop && !innermost(ps)->block) break;
        close_lost(ps);
        ps->at_start = true;
        break;
    case TK_IF: count_chain(ps, t); break;
    default: break;
    }
    return t.kind;
}

/* While recovering: whether the parser shall not see this token, because it stands in brackets whose contents are
 * lost anyway. */
static bool skipped(const Parse *ps, int kind)
{
    if (ps->skip_to > 0) return kind != TK_END && ps->depth >= ps->skip_to;
    if (kind == TK_SEMI && !ps->c_loop) return false;
    return kind != TK_END && ps->depth > 0 && !ps->open[ps->depth].block;
}

/* While recovering: a statement or item that starts on a line of its own ends the lost one, as `;` would. */
static bool starts_anew(const Parse *ps, Token t)
{
    if (ps->at_start || !parse_on_new_line(ps, ps->cur.span, t.span)) return false;
    return ps->depth == 0 ? token_starts_item(t.kind) : ps->open[ps->depth].block && token_starts_stmt(t.kind);
}

static Token next_token(Parse *ps, TILE_STYPE *value)
{
    Token t;
    if (ps->put_in > 0) {
        ps->put_in--;
        return (Token){{ps->cur.span.hi, ps->cur.span.hi}, ps->put_in_kind};
    }
    if (ps->again) {
        ps->again = false;
        *value = ps->again_value;
        return ps->again_token;
    }
    ps->lexer_errors_before = ps->lexer.errors;
    t.kind = lexer_next(&ps->lexer, value);
    t.span = (Span){ps->lexer.lo, ps->lexer.hi};
    if (ps->recovering && starts_anew(ps, t)) {
        ps->again_value = *value;
        ps->again_token = t;
        ps->again = true;
        t = (Token){{t.span.lo, t.span.lo}, TK_SEMI};
    }
    return t;
}

/* 2^63 is no s64, but -2^63 is: the one literal that depends on the sign before it. */
static void check_int(Parse *ps, Span s, uint64_t value)
{
    if (value <= INT64_MAX) return;
    if (ps->cur.kind == TK_MINUS && !ends_operand(ps->prev.kind)) return;
    diag_at(ps->tree.diags, E0104, s, "%s is too large: the largest number is 9223372036854775807",
            lexer_quote(&ps->lexer, s));
    ps->lexer.errors++;
}

int tile_lex(TILE_STYPE *value, Span *span, Parse *ps)
{
    for (;;) {
        Token t = next_token(ps, value);
        int kind = track(ps, t);
        if (ps->stopped) kind = TK_END;
        if (kind == NO_TOKEN) continue;
        if (kind == TK_INT) check_int(ps, t.span, value->integer);
        ps->before = ps->prev;
        ps->prev = ps->cur;
        ps->cur = (Token){t.span, kind};
        if (ps->recovering && skipped(ps, kind)) continue;
        if (kind == TK_IDENT) ps->again_value = *value;
        *span = t.span;
        return kind;
    }
}

Unit *parse_unit(ParseContext *cx, Source *src)
{
    Unit *unit = arena_new(cx->arena, Unit);
    unit->source = src;
    Parse *ps = arena_new(cx->arena, Parse);
    ps->tree = (Tree){.arena = cx->arena, .names = cx->names, .diags = cx->diags};
    ps->unit = unit;
    ps->at_start = true;
    ps->open[0].block = true;
    ps->prev.span = ps->cur.span = (Span){src->base, src->base};
    lexer_init(&ps->lexer, cx, src);
    tile_parse(ps);
    return unit;
}
