/* Programs as trees of text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ir/drawn.h"
#include "tests/roles/roles.h"

enum { NODES = 1 << 14, CHARS = 1 << 20 };
static Node node[NODES];
static char chars[CHARS];
static int nodes;
static size_t used;
static uint64_t state;

void text_begin(uint64_t seed)
{
    state = drawn_begin(seed);
    nodes = 0, used = 0;
}

int some(int n)
{
    return (int)drawn_below(&state, n);
}

bool odds(int percent)
{
    return some(100) < percent;
}

static const char *keep(const char *format, va_list args)
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
    const char *s = keep(format, args);
    va_end(args);
    return s;
}

static Node *make(const char *s, bool is_block, Node *body)
{
    if (nodes == NODES) abort();
    node[nodes] = (Node){.text = s, .block = is_block, .body = body};
    return &node[nodes++];
}

Node *line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *s = keep(format, args);
    va_end(args);
    return make(s, false, NULL);
}

Node *braces(Node *body, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *s = keep(format, args);
    va_end(args);
    return make(s, true, body);
}

Node *seq(Node *a, Node *b)
{
    Node *last = a;
    if (!a) return b;
    while (last->next) last = last->next;
    last->next = b;
    return a;
}

Node *copy_node(const Node *n)
{
    Node *c = make(n->text, n->block, NULL), **tail = &c->body;
    for (const Node *b = n->body; b; b = b->next, tail = &(*tail)->next) *tail = copy_node(b);
    return c;
}

bool in_text(const Node *n, const char *word)
{
    for (; n; n = n->next)
        if (strstr(n->text, word) || (n->block && in_text(n->body, word))) return true;
    return false;
}

static void add_links(Node **at, Node **parent, Links *l)
{
    for (; *at && l->n < (int)(sizeof l->at / sizeof *l->at); at = &(*at)->next) {
        l->at[l->n] = at, l->parent[l->n++] = parent;
        if ((*at)->block) add_links(&(*at)->body, at, l);
    }
}

void links_of(Node **root, Links *l)
{
    l->n = 0;
    add_links(root, NULL, l);
}

static size_t print(const Node *n, int depth, char *out, size_t size, size_t at)
{
    for (; n; n = n->next) {
        if (at + strlen(n->text) + 80 > size) abort();
        at += (size_t)sprintf(out + at, "%*s%s%s\n", 4 * depth, "", n->text, n->block ? " {" : "");
        if (!n->block) continue;
        at = print(n->body, depth + 1, out, size, at);
        at += (size_t)sprintf(out + at, "%*s}\n", 4 * depth, "");
    }
    return at;
}

size_t print_node(const Node *n, char *out, size_t size)
{
    return print(n, 0, out, size, 0);
}
