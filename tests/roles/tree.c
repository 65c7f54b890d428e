/* Programs as trees of the grammar: its rules are those of the parser's own table (row_text), and so is what a text is parsed into. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ir/drawn.h"
#include "tests/random/cover.h"
#include "tests/roles/roles.h"
#include "tilecc.h"

enum { TREES = 1 << 21, CHARS = 1 << 25, STACK = 8192, SYMBOLS = 512 };
static Tree tree[TREES];
static char chars[CHARS];
static int trees, kept_trees;
static size_t used, kept_chars;
static uint64_t state;

Rule rules[RULES];
int nrules;

/* ---- numbers and texts ---- */

void text_begin(uint64_t seed)
{
    state = drawn_begin(seed);
    trees = kept_trees, used = kept_chars;
}

void text_keep(void)
{
    kept_trees = trees, kept_chars = used;
}

int some(int n)
{
    return (int)drawn_below(&state, n);
}

bool odds(int percent)
{
    return some(100) < percent;
}

const char *text_n(const char *s, size_t n)
{
    if (used + n + 1 >= CHARS) abort();
    char *to = memcpy(chars + used, s, n);
    to[n] = 0;
    used += n + 1;
    return to;
}

const char *text_of(const char *format, va_list args)
{
    int n = vsnprintf(chars + used, CHARS - used, format, args);
    if (n < 0 || used + (size_t)n + 1 >= CHARS) abort();
    const char *s = chars + used;
    used += (size_t)n + 1;
    return s;
}

const char *text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *s = text_of(format, args);
    va_end(args);
    return s;
}

/* ---- the grammar ---- */

static const char *symbols[SYMBOLS];
static int nsymbols;

/* Terminals stand between quotes. */
int symbol(const char *name, size_t n)
{
    for (int i = 0; i < nsymbols; i++)
        if (strlen(symbols[i]) == n && !memcmp(symbols[i], name, n)) return i;
    if (nsymbols == SYMBOLS) abort();
    symbols[nsymbols] = text_n(name, n);
    return nsymbols++;
}

const char *symbol_text(int s)
{
    return symbols[s];
}

bool is_terminal(int s)
{
    return symbols[s][0] == '"' || !strcmp(symbols[s], "error");
}

void grammar_read(void)
{
    static const char head[] = "production ";
    for (nrules = 0; !strncmp(row_text(nrules), head, sizeof head - 1); nrules++) {
        const char *s = row_text(nrules) + sizeof head - 1, *colon = strstr(s, ": ");
        if (nrules == RULES) abort();
        Rule *r = &rules[nrules];
        r->from = symbol(s, (size_t)(colon - s));
        for (s = colon + 2; *s && strcmp(s, "%empty"); s += *s == ' ') {
            size_t n = *s == '"' ? strcspn(s + 1, "\"") + 2 : strcspn(s, " ");
            if (r->n == WIDE) abort();
            r->to[r->n++] = symbol(s, n);
            r->broken |= !strncmp(s, "error", n) || !strncmp(s, "lost_head", n);
            s += n;
        }
    }
    text_keep();
}

/* ---- trees ---- */

Tree *tree_make(int rule, int kind, const char *s)
{
    if (trees == TREES) abort();
    tree[trees] = (Tree){.rule = rule, .kind = kind, .text = s};
    return &tree[trees++];
}

Tree *tree_copy(const Tree *t)
{
    Tree *c = tree_make(t->rule, t->kind, t->text);
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) c->kid[i] = tree_copy(t->kid[i]);
    return c;
}

static Tree *stack[STACK];
static int depth;
static bool broken;

static void push(Tree *t)
{
    if (depth == STACK) abort();
    stack[depth++] = t;
}

static void see_token(const char *kind, const char *s, size_t n)
{
    char quoted[64];
    broken |= !strcmp(kind, "error");
    if (strcmp(kind, "end of file") != 0) push(tree_make(-1, symbol(quoted, (size_t)snprintf(quoted, sizeof quoted, "\"%s\"", kind)), text_n(s, n)));
}

static void see_production(int rule)
{
    Tree *t = tree_make(rule, rules[rule].from, NULL);
    broken |= depth < rules[rule].n || rules[rule].broken;
    if (broken) return;
    depth -= rules[rule].n;
    for (int i = 0; i < rules[rule].n; i++) t->kid[i] = stack[depth + i];
    push(t);
}

Tree *tree_parse(const char *source)
{
    static const Reading mine = {see_token, see_production};
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_AST, .no_performance_warnings = 1, .tune = "off"};
    depth = 0, broken = false;
    reading = &mine;
    tilecc_result *r = tilecc_compile(&opt, "roles.tile", source, strlen(source));
    reading = NULL;
    if (!r) abort();
    tilecc_free(r);
    return broken || depth != 1 ? NULL : stack[0];
}

Tree *tree_find(Tree *t, const char *kind)
{
    if (!strcmp(symbols[t->kind], kind)) return t;
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) {
        Tree *found = tree_find(t->kid[i], kind);
        if (found) return found;
    }
    return NULL;
}

/* ---- text ---- */

typedef struct Printer {
    char *out;
    size_t size, n;
    int depth;
    bool begins; /* of a line */
    char last;   /* of the token before */
} Printer;

static void put_token(Printer *p, const char *s)
{
    bool close = *s == '}', dot = !strcmp(s, ".") || p->last == '.', glued = strchr(";,])", *s) || strchr("[(", p->last) || (!strcmp(s, ":") && p->last != ',');
    if (p->n + strlen(s) + 120 > p->size) abort();
    if (close && p->depth) p->depth--;
    if (close && !p->begins) p->out[p->n++] = '\n', p->begins = true;
    if (p->begins) p->n += (size_t)sprintf(p->out + p->n, "%*s", 4 * p->depth, "");
    else if (!dot && !glued && *s != '[') p->out[p->n++] = ' ';
    p->n += (size_t)sprintf(p->out + p->n, "%s", s);
    p->begins = (*s == '{' || *s == '}' || *s == ';') && !s[1];
    if (p->begins) p->out[p->n++] = '\n';
    p->depth += *s == '{';
    p->last = !strcmp(s, "..") ? ' ' : s[strlen(s) - 1];
}

static void put_tree(Printer *p, const Tree *t)
{
    if (t->rule < 0) put_token(p, t->text);
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) put_tree(p, t->kid[i]);
}

size_t tree_print(const Tree *t, char *out, size_t size)
{
    Printer p = {.out = out, .size = size, .begins = true, .last = ' '};
    put_tree(&p, t);
    out[p.n] = 0;
    return p.n;
}
