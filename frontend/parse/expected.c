/* What could stand at a place, said in the language's own words: thirty tokens that may begin an expression are "an
 * expression", and all of a move's clauses are "a clause such as `via` or `commit`".
 */
#include "frontend/parse/parse.h"

#include <string.h>

typedef struct Choice {
    const char *what[12];
    unsigned n;
    bool open[TOKEN_KINDS]; /* not yet said */
} Choice;

static void offer(Choice *c, const char *what)
{
    if (c->n < sizeof c->what / sizeof *c->what) c->what[c->n++] = what;
}

/* Takes a class of tokens out of the choice. */
static void take(Choice *c, const int *kinds, size_t n)
{
    for (size_t i = 0; i < n; i++) c->open[kinds[i]] = false;
}
#define TAKE(c, ...) take((c), (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void take_range(Choice *c, int from, int to)
{
    for (int k = from; k <= to; k++) c->open[k] = false;
}

static void take_name(Choice *c)
{
    TAKE(c, TK_IDENT);
    take_range(c, TK_IN, TK_TRUST);
}

/* Sorted from what is most probably meant. */
static void choose(Choice *c)
{
    static const int first[] = {TK_SEMI, TK_RPAREN, TK_RBRACKET, TK_COMMA, TK_ARROW, TK_ASSIGN, TK_COLON, TK_IN};
    bool *open = c->open;
    bool has_name = open[TK_IDENT];
    if (has_name && open[TK_MOVE] && open[TK_LET]) {
        offer(c, "a statement");
        take_name(c);
        take_range(c, TK_TARGET, TK_ROLE);
    } else if (open[TK_KERNEL] && open[TK_FN]) {
        offer(c, "`kernel`, `fn`, `const`, `import` or `target`");
        TAKE(c, TK_KERNEL, TK_FN, TK_CONST, TK_IMPORT, TK_TARGET, TK_END);
    } else if (has_name && open[TK_INT]) {
        offer(c, open[TK_COLON] && open[TK_LBRACE] ? "a subscript" : "an expression");
        if (open[TK_LBRACE] && open[TK_COLON]) TAKE(c, TK_LBRACE, TK_COLON);
        take_name(c);
        TAKE(c, TK_INT, TK_FLOAT, TK_STRING, TK_LPAREN, TK_MINUS, TK_NOT, TK_INV, TK_PEER, TK_CLUSTER, TK_GRID);
    } else if (open[TK_FLIP] && open[TK_IN] && has_name) {
        offer(c, "a name");
        take_name(c);
    }
    bool operators = open[TK_STAR];
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (!open[first[i]]) continue;
        offer(c, token_text(first[i]));
        open[first[i]] = false;
    }
    if (open[TK_VIA] && open[TK_COMMIT]) {
        offer(c, "a clause such as `via` or `commit`");
        TAKE(c, TK_VIA, TK_MULTICAST, TK_REDUCE, TK_CACHE, TK_BYTES, TK_OFFSET, TK_HALO, TK_AHEAD, TK_OVERLAP,
             TK_CONVERT, TK_TRANSPOSE, TK_REVERSE, TK_SUM, TK_COMMIT);
    }
    if (open[TK_BOX] && open[TK_LOWER]) {
        offer(c, "a map option such as `box` or `swizzle`");
        TAKE(c, TK_IDENT, TK_BOX, TK_STRIDE, TK_SWIZZLE, TK_FILL, TK_L2, TK_INTERLEAVE, TK_LOWER, TK_UPPER, TK_CHANNELS,
             TK_PIXELS);
    }
    if (open[TK_WHERE]) {
        offer(c, "an attribute such as `grid` or `where`");
        TAKE(c, TK_GRID, TK_CLUSTER, TK_THREADS, TK_WHERE, TK_TRUST, TK_PAIR);
    }
    if (open[TK_STRIDE] && open[TK_SWIZZLE] && open[TK_INTERLEAVE]) {
        offer(c, "a layout such as `swizzle`");
        TAKE(c, TK_STRIDE, TK_SWIZZLE, TK_INTERLEAVE);
    }
    if (operators) {
        offer(c, "an operator");
        take_range(c, TK_OROR, TK_PERCENT);
    }
    /* What could go on a value is worth saying only if nothing else could stand here. */
    if (c->n > 0) TAKE(c, TK_LBRACKET, TK_DOT, TK_LPAREN, TK_LT, TK_END);
    for (int k = 0; k < TOKEN_KINDS; k++)
        if (open[k] && k >= TK_IDENT) offer(c, k == TK_IDENT ? "a name" : token_text(k));
}

static void put_choice(Text *out, const char *what)
{
    bool phrase = strchr(what, ' ') || what[0] == '`';
    text_printf(out, phrase ? "%s" : "`%s`", what);
}

void syntax_expected(const bool *expected, Text *out)
{
    Choice c = {.n = 0};
    memcpy(c.open, expected, sizeof c.open);
    choose(&c);
    for (unsigned i = 0; i < c.n; i++) {
        if (i > 0) text_str(out, i + 1 < c.n ? ", " : " or ");
        put_choice(out, c.what[i]);
    }
}
