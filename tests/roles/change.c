/* One thing in a program that is another one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/roles/roles.h"

static Links links;

static bool starts(const Node *n, const char *word)
{
    return !strncmp(n->text, word, strlen(word));
}

static bool moves_data(const Node *n)
{
    for (const Node *b = n->block ? n->body : NULL; b; b = b->next)
        if (moves_data(b)) return true;
    return starts(n, "move") || starts(n, "fill");
}

/* ---- words in a line ---- */

typedef struct Word {
    size_t at, n;
} Word;

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int words_of(const char *s, bool numbers, Word *list, int most)
{
    int n = 0;
    for (size_t i = 0; s[i];) {
        size_t from = i;
        while (is_word(s[i])) i++;
        if (i == from) i++;
        else if (!isdigit((unsigned char)s[from]) == !numbers && n < most) list[n++] = (Word){from, i - from};
    }
    return n;
}

static const char *replaced(const char *s, Word w, const char *by)
{
    return text("%.*s%s%s", (int)w.at, s, by, s + w.at + w.n);
}

static const char *other_number(const char *s)
{
    Word list[40];
    int n = words_of(s, true, list, 40);
    if (!n) return NULL;
    Word w = list[some(n)];
    int was = (int)strtol(s + w.at, NULL, 10), now = was + PICK(1, 1, -1, -1, 2, 20, -was);
    return now < 0 || now == was ? NULL : replaced(s, w, text("%d", now));
}

static const Node *role_of(int i)
{
    while (i > 0 && !starts(*links.at[i], "role")) i--;
    return *links.at[i];
}

/* Names of one kind that the program has: barriers, tiles, indices and sizes, tensors. Indices and variables are those of the role. */
static const char *other_name(const char *s, const Node *role)
{
    static const char *const kinds[] = {"f0", "e0", "f1", "e1", "f2", "e2", "",   "t0", "t1", "u0", "t2", "", "i",
                                        "j",  "k",  "n",  "m",  "s0", "s1", "", "x",  "y",  "v",  "",   NULL};
    Word list[40];
    int n = words_of(s, false, list, 40), from = 0, at = -1;
    if (!n) return NULL;
    Word w = list[some(n)];
    for (int i = 0; kinds[i]; i++) {
        if (at < 0 && !*kinds[i]) from = i + 1;
        if (at < 0 && strlen(kinds[i]) == w.n && !strncmp(kinds[i], s + w.at, w.n)) at = i;
    }
    if (at < 0) return NULL;
    int many = 0;
    while (*kinds[from + many]) many++;
    int to = from + some(many);
    const Node *where = strchr("ijks", *kinds[to]) ? role->body : *links.at[0];
    if (to == at || !in_text(where, text(strchr("ijk", *kinds[to]) ? "for %s in" : "%s", kinds[to]))) return NULL;
    return replaced(s, w, kinds[to]);
}

/* An index or a size that is what it was for a while, or now and then. */
static const char *other_count(const char *s)
{
    static const char *const forms[] = {"($ + $ / 20)", "max($, 20)", "min($, 20)", "($ ^ $ >> 4)", "($ - $ / 20)", "$ * $", "($ & 15)", "($ % 20)",
                                        "($ + m)", "($ - tab[1] + 3)", "max($, 1)", "($ / 2)"};
    Word list[40];
    int n = words_of(s, false, list, 40);
    if (!n) return NULL;
    Word w = list[some(n)];
    if (w.n != 1 || !strchr("ijknm", s[w.at]) || starts(&(Node){.text = s + w.at + 1}, " in ")) return NULL;
    char out[64];
    snprintf(out, sizeof out, "%s", forms[some((int)(sizeof forms / sizeof *forms))]);
    for (char *at = out; (at = strchr(at, '$')) != NULL;) *at = s[w.at];
    return replaced(s, w, out);
}

static const char *other_word(const char *s)
{
    static const char *const pairs[][2] = {{" read", ""}, {" free", ""}, {"wait group", "wait group 1"}, {" commit group", ""}, {" == ", " != "},
                                           {" < ", " >= "}, {"% 2", "% 3"}, {" +", " -"}, {"wait f", "wait e"}, {"arrive e", "arrive f"},
                                           {" multicast all", ""}, {"cluster.rank", "cta.x"}, {"barrier e0", "barrier e0 free"}};
    int i = some((int)(sizeof pairs / sizeof *pairs));
    const char *at = strstr(s, pairs[i][0]);
    return at ? replaced(s, (Word){(size_t)(at - s), strlen(pairs[i][0])}, pairs[i][1]) : NULL;
}

/* ---- changes ---- */

static void take_out(Node **at)
{
    *at = (*at)->next;
}

static void put_in(Node **at, Node *n)
{
    n->next = *at;
    *at = n;
}

static const char *change_text(int i, bool *moves)
{
    Node *n = *links.at[i];
    int how = some(4);
    const char *s = how == 0   ? other_number(n->text)
                    : how == 1 ? other_name(n->text, role_of(i))
                    : how == 2 ? other_count(n->text)
                               : other_word(n->text);
    if (!s) return NULL;
    const char *said = text("`%s` becomes `%s`", n->text, s);
    *moves |= moves_data(n);
    n->text = s;
    return said;
}

static const char *change_place(int i, bool *moves)
{
    Node **at = links.at[i], *n = *at, **parent = links.parent[i];
    const char *first = n->text;
    *moves |= moves_data(n);
    switch (some(7)) {
    case 0: take_out(at); return text("`%s` is dropped", first);
    case 1: put_in(&n->next, copy_node(n)); return text("`%s` stands twice", first);
    case 2:
        if (!n->next) return NULL;
        *moves |= moves_data(n->next);
        take_out(at), put_in(&(*at)->next, n);
        return text("`%s` comes after what is next", first);
    case 3: /* out of its block: in front of it, or behind */
        if (!parent || starts(*parent, "role") || starts(*parent, "kernel")) return NULL;
        take_out(at), put_in(some(2) ? parent : &(*parent)->next, n);
        return text("`%s` stands outside of its block", first);
    case 4: {
        Node **to = links.at[some(links.n)];
        if (n->block || to == at || to == &n->next) return NULL;
        Node *c = copy_node(n);
        take_out(at), put_in(to, c);
        return text("`%s` stands elsewhere", first);
    }
    case 5: {
        static const char *const conditions[] = {"if i % 2 == 0", "if i < 2",  "if i > 0",   "if j < 1",      "if n > 2",
                                                 "if m < n",      "if i < 20", "if i != 33", "if i % 7 != 6", "if i + 30 < n",
                                                 "if cta.x == 0", "if i + 1 < n", "if tab[0] > 1", "if tab[i] > 1"};
        Node *c = copy_node(n);
        *at = braces(c, "%s", conditions[some((int)(sizeof conditions / sizeof *conditions))]), (*at)->next = n->next;
        return text("`%s` stands under `%s`", first, (*at)->text);
    }
    default:
        if (!n->block || starts(n, "role") || starts(n, "kernel") || !n->body) return NULL;
        seq(n->body, n->next), *at = n->body;
        return text("`%s` is gone, not its body", first);
    }
}

const char *change(Node **root, bool *moves)
{
    for (int tries = 0; tries < 50; tries++) {
        links_of(root, &links);
        int i = 1 + some(links.n - 1);
        Node *n = *links.at[i];
        if (starts(n, "role") || starts(n, "kernel") || starts(n, "view") || starts(n, "shared")) continue;
        const char *said = some(2) ? change_text(i, moves) : change_place(i, moves);
        if (said) return said;
    }
    return NULL;
}

/* ---- shrinking: steps 3 i drop line i, 3 i + 1 leave its block away, 3 i + 2 make its numbers smaller ---- */

static const char *smaller(const char *s)
{
    Word list[40];
    int n = words_of(s, true, list, 40);
    for (int i = n - 1; i >= 0; i--) {
        long was = strtol(s + list[i].at, NULL, 10);
        if (was > 2 && was != 16) return replaced(s, list[i], text("%ld", was - 1));
    }
    return NULL;
}

bool shrink_step(Node **root, int step, bool undo)
{
    static Node **at, *was, *last;
    static const char *words;
    if (undo) {
        if (last) last->next = NULL;
        if (words) was->text = words;
        *at = was;
        return true;
    }
    links_of(root, &links);
    if (step / 3 + 1 >= links.n) return false;
    at = links.at[step / 3 + 1], was = *at, last = NULL, words = NULL;
    if (step % 3 == 0) {
        *at = was->next;
    } else if (step % 3 == 1 && was->block && was->body) {
        for (last = was->body; last->next;) last = last->next;
        last->next = was->next, *at = was->body;
    } else if (step % 3 == 2 && smaller(was->text)) {
        words = was->text, was->text = smaller(was->text);
    }
    return true;
}
