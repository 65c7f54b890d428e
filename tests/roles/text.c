/* Lines and blocks, as draw.c writes programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/roles/roles.h"

enum { NODES = 1 << 14 };
static Node node[NODES];
static int nodes;

void lines_begin(void)
{
    nodes = 0;
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
    const char *s = text_of(format, args);
    va_end(args);
    return make(s, false, NULL);
}

Node *braces(Node *body, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *s = text_of(format, args);
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

bool in_text(const Node *n, const char *word)
{
    for (; n; n = n->next)
        if (strstr(n->text, word) || (n->block && in_text(n->body, word))) return true;
    return false;
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
