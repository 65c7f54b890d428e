/* One thing in a program that is another one: what can be is what the grammar can have there. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/roles/roles.h"

enum { PLACES = 1 << 14, NAMES = 512, POOL = 1 << 20, SIZE = 1 << 16 };

typedef struct Place {
    Tree *t;
    int parent, at; /* it is that kid of that place; parent -1: none */
} Place;
static Place place[PLACES];
static int places;
static const char *names[NAMES];
static int nnames;

/* What stands where, in the programs of the corpus: by production and place in it. */
typedef struct Found {
    const Tree *t;
    int next;
} Found;
static Found pool[POOL];
static int pooled = 1, first_found[RULES * WIDE], many_found[RULES * WIDE];
static int height[RULES]; /* least depth of a tree of the rule */
static int seen[RULES];   /* how often the corpus has a production: what it has less is drawn more */

/* ---- where ---- */

static void add_places(Tree *t, int parent, int at)
{
    if (places == PLACES) return;
    int own = places++;
    place[own] = (Place){t, parent, at};
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) add_places(t->kid[i], own, i);
}

static bool is(const Tree *t, const char *kind)
{
    return !strcmp(symbol_text(t->kind), kind);
}

static void look(Tree *root)
{
    places = 0, nnames = 0;
    add_places(root, -1, 0);
    for (int i = 0; i < places; i++) {
        bool known = !is(place[i].t, "\"name\"") || nnames == NAMES;
        for (int k = 0; k < nnames && !known; k++) known = !strcmp(names[k], place[i].t->text);
        if (!known) names[nnames++] = place[i].t->text;
    }
}

static int context_of(int i)
{
    return place[i].parent < 0 ? -1 : place[place[i].parent].t->rule * WIDE + place[i].at;
}

/* Another place like it; names are alike where their primaries are. */
static int like(int context, int above)
{
    int list[64], n = 0;
    for (int i = 1; i < places; i++) {
        int up = place[i].parent;
        if (context_of(i) != context || (above >= 0 && context_of(up) != above)) continue;
        if (n < 64) list[n++] = i;
        else if (odds(30)) list[some(64)] = i;
    }
    return n ? list[some(n)] : -1;
}

static int around(int i, const char *kind)
{
    while (i >= 0 && !is(place[i].t, kind)) i = place[i].parent;
    return i;
}

/* ---- what ---- */

static void add_to_pool(const Tree *t, int context)
{
    if (t->rule >= 0) seen[t->rule]++;
    if (pooled == POOL) return;
    if (context >= 0) {
        pool[pooled] = (Found){t, first_found[context]};
        first_found[context] = pooled++, many_found[context]++;
    }
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) add_to_pool(t->kid[i], t->rule * WIDE + i);
}

void change_learn(const Tree *t)
{
    add_to_pool(t, -1);
}

void change_begin(void)
{
    for (int i = 0; i < nrules; i++) height[i] = RULES;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < nrules; i++) {
            int most = 0;
            for (int k = 0; k < rules[i].n; k++) {
                int least = is_terminal(rules[i].to[k]) ? 0 : RULES;
                for (int r = 0; r < nrules; r++)
                    if (rules[r].from == rules[i].to[k] && height[r] < least) least = height[r];
                if (least > most) most = least;
            }
            if (!rules[i].broken && most + 1 < height[i]) height[i] = most + 1, more = true;
        }
    }
}

static bool is_known(const char *name)
{
    for (int i = 0; i < nnames; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

/* Names that the program lacks are some that it has. */
static void rename_in(Tree *t, int context, int above)
{
    if (is(t, "\"name\"") && !is_known(t->text) && nnames && odds(90)) {
        int other = like(context, above);
        t->text = other >= 0 ? place[other].t->text : names[some(nnames)];
    }
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) rename_in(t->kid[i], t->rule * WIDE + i, context);
}

static const Tree *some_found(int context)
{
    int i = first_found[context];
    for (int n = some(many_found[context]); n; n--) i = pool[i].next;
    return pool[i].t;
}

static Tree *from_pool(int context)
{
    Tree *t = tree_copy(some_found(context));
    rename_in(t, context, -1);
    return t;
}

static Tree *fresh(int kind, int context, int depth);

static int some_rule(int kind, int but, int depth)
{
    int best = -1;
    for (int tries = 0; tries < 2; tries++) {
        int list[RULES], n = 0;
        for (int r = 0; r < nrules; r++)
            if (rules[r].from == kind && r != but && !rules[r].broken && (height[r] <= depth)) list[n++] = r;
        int r = n ? list[some(n)] : -1;
        if (best < 0 || (r >= 0 && seen[r] < seen[best])) best = r;
    }
    for (int r = 0; r < nrules && best < 0; r++) /* the lowest */
        if (rules[r].from == kind && r != but && !rules[r].broken) {
            best = r;
            for (int k = r; k < nrules; k++)
                if (rules[k].from == kind && k != but && height[k] < height[best]) best = k;
        }
    return best;
}

static Tree *token(int kind)
{
    const char *s = symbol_text(kind);
    if (is(&(Tree){.kind = kind}, "\"name\"")) s = nnames ? names[some(nnames)] : "n";
    else if (!strcmp(s, "\"number\"")) s = text("%d", PICK(0, 1, 1, 2, 2, 3, 4, 8, 16, 32, 64));
    else if (!strcmp(s, "\"fraction\"")) s = "0.5";
    else if (!strcmp(s, "\"string\"")) s = "\"a\"";
    else s = text_n(s + 1, strlen(s) - 2);
    return tree_make(-1, kind, s);
}

static Tree *fresh(int kind, int context, int depth)
{
    int own = context >= 0 && odds(50) ? like(context, -1) : -1;
    if (own >= 0 && place[own].t->kind == kind) return tree_copy(place[own].t);
    if (context >= 0 && many_found[context] && odds(60)) return from_pool(context);
    if (is_terminal(kind)) return token(kind);
    int r = some_rule(kind, -1, depth);
    Tree *t = tree_make(r, kind, NULL);
    for (int i = 0; i < rules[r].n; i++) t->kid[i] = fresh(rules[r].to[i], r * WIDE + i, depth - 1);
    return t;
}

/* ---- how ---- */

static bool is_list(const Tree *t)
{
    return t->rule >= 0 && rules[t->rule].n > 1 && rules[t->rule].to[0] == rules[t->rule].from;
}

/* Waits, arrivals and what is expected: the program means what it did. */
static bool only_waits(const Tree *t)
{
    if (t->rule >= 0 && rules[t->rule].n == 2 && is(t, "stmt")) t = t->kid[0];
    if (is(t, "stmts") && is_list(t)) return only_waits(t->kid[1]);
    if (!is(t, "act") && !is(t, "decl")) return false;
    const char *first = t->kid[0]->rule < 0 ? t->kid[0]->text : "";
    return !strcmp(first, "wait") || !strcmp(first, "arrive") || !strcmp(first, "expect") || !strcmp(first, "barrier");
}

static const char *other_number(const char *s)
{
    int was = (int)strtol(s, NULL, 0), now = was + PICK(1, 1, -1, -1, 2, 20, -was);
    return now < 0 || now == was ? NULL : text("%d", now);
}

/* An index or a size that is what it was for a while, or now and then. */
static const char *other_count(const char *s)
{
    static const char *const forms[] = {"($ + $ / 20)", "max($, 20)", "min($, 20)", "($ ^ $ >> 4)", "($ - $ / 20)", "$ * $", "($ & 15)", "($ % 20)",
                                        "($ + m)", "($ - tab[1] + 3)", "max($, 1)", "($ / 2)", "($ + 1)", "($ - 1)"};
    const char *form = PICK_TEXT(forms), *out = "";
    for (; *form; form++) out = *form == '$' ? text("%s%s", out, s) : text("%s%c", out, *form);
    return out;
}

static Tree *part_of(const char *source, const char *kind)
{
    Tree *t = tree_parse(text("kernel k() { %s }", source));
    return t ? tree_find(t, kind) : NULL;
}

static const char *printed(const Tree *t)
{
    static char out[SIZE];
    tree_print(t, out, SIZE);
    return text_n(out, strlen(out));
}

static bool wrap(Tree *stmt)
{
    static const char *const ifs[] = {"if i % 2 == 0", "if i < 2", "if i > 0", "if j < 1", "if n > 2", "if m < n", "if i < 20", "if i != 33",
                                      "if i % 7 != 6", "if i + 30 < n", "if cta.x == 0", "if cluster.rank == 0", "if tab[0] > 1", "if 1 == 1", "if 0 == 1"};
    static const char *const others[] = {"for q in 1", "for q in 2", "for q in 0 .. n", "group", "pipeline q in 2", "for q in 0"};
    const char *head = odds(60) ? PICK_TEXT(ifs) : PICK_TEXT(others);
    Tree *t = part_of(text("%s { %s }", head, printed(stmt)), "stmt");
    if (t) *stmt = *t;
    return t != NULL;
}

static bool put_list(Tree *at, Tree *from)
{
    Tree *rest = tree_make(at->rule, at->kind, NULL);
    *rest = *at;
    *at = *from;
    at->kid[0] = rest;
    return true;
}

static bool move_element(int from, Tree *f)
{
    int to = like(context_of(from), -1);
    if (to < 0 || !is_list(place[to].t) || place[to].t->rule != f->rule) return false;
    Tree *element = tree_copy(f);
    put_list(place[to].t, element);
    if (odds(70)) *f = *f->kid[0];
    return true;
}

/* Another production, of the same parts as far as there are such. */
static bool other_rule(Tree *t)
{
    int r = some_rule(t->kind, t->rule, 6);
    bool taken[WIDE] = {false};
    if (r < 0) return false;
    Tree *to = tree_make(r, t->kind, NULL);
    for (int i = 0; i < rules[r].n; i++) {
        for (int k = 0; k < rules[t->rule].n && !to->kid[i]; k++)
            if (!taken[k] && rules[t->rule].to[k] == rules[r].to[i] && !is_terminal(rules[r].to[i])) taken[k] = true, to->kid[i] = t->kid[k];
        if (!to->kid[i] && rules[r].to[i] == t->kind && odds(50)) to->kid[i] = tree_copy(t);
        if (!to->kid[i]) to->kid[i] = is_terminal(rules[r].to[i]) && strcmp(symbol_text(rules[r].to[i]), "\"name\"") != 0
                                          ? token(rules[r].to[i])
                                          : fresh(rules[r].to[i], r * WIDE + i, 5);
    }
    *t = *to;
    return true;
}

static bool replace(int i)
{
    Tree *t = place[i].t, *to = NULL;
    int context = context_of(i), other = odds(60) ? like(context, -1) : -1;
    if (other >= 0) to = tree_copy(place[other].t);
    else if (context >= 0 && many_found[context] && odds(60)) to = from_pool(context);
    else to = fresh(t->kind, context, 5);
    if (to->kind != t->kind || to == t) return false;
    *t = *to;
    return true;
}

static bool change_list(int i, Tree *t, bool *waits)
{
    Tree *second = t->kid[0];
    int last = rules[t->rule].n - 1;
    switch (some(8)) {
    case 0: return put_list(t, tree_copy(t));
    case 1:
        if (second->rule != t->rule) return false;
        Tree *e = t->kid[last];
        t->kid[last] = second->kid[last], second->kid[last] = e;
        return true;
    case 2: return move_element(i, t);
    case 3: return is(t, "stmts") && wrap(t->kid[1]);
    case 4: {
        Tree *more = tree_make(t->rule, t->kind, NULL);
        for (int k = 1; k <= last; k++) more->kid[k] = fresh(rules[t->rule].to[k], t->rule * WIDE + k, 6);
        *waits &= is(t, "stmts") && only_waits(more->kid[1]);
        return put_list(t, more);
    }
    default: *t = *second; return true;
    }
}

static bool change_token(int i, Tree *t)
{
    const char *to = NULL;
    if (is(t, "\"number\"")) to = other_number(t->text);
    if (is(t, "\"name\"")) {
        int up = place[i].parent, above = up >= 0 && place[up].parent >= 0 ? place[place[up].parent].parent : -1;
        Tree *prim = up >= 0 && place[up].parent >= 0 ? place[place[up].parent].t : NULL;
        if (prim && is(prim, "prim") && rules[prim->rule].n == 1 && above >= 0 && odds(30)) {
            Tree *e = part_of(text("let a = (%s);", other_count(t->text)), "prim");
            if (e) *prim = *e;
            return e != NULL;
        }
        int other = like(context_of(i), up >= 0 ? context_of(up) : -1), context = context_of(i);
        if (context >= 0 && many_found[context] && odds(30)) to = some_found(context)->text; /* words of the language, mostly */
        else to = other >= 0 && odds(80) ? place[other].t->text : names[some(nnames)];
    }
    if (!to || !strcmp(to, t->text)) return false;
    t->text = to;
    return true;
}

static const char *short_text(const Tree *t)
{
    const char *s = printed(t);
    return text("%.*s", (int)strcspn(s, "\n"), s);
}

const char *change(Tree *root, bool *moves)
{
    for (int tries = 0; tries < 60; tries++) {
        look(root);
        int i = 1 + some(places - 1), roles = 0;
        while (roles < places && !is(place[roles].t, "role")) roles++;
        if (roles < places && odds(85)) i = roles + some(places - roles); /* in a role */
        Tree *t = place[i].t;
        if (odds(50)) { /* a statement */
            int stmts = around(i, "stmts");
            for (int k = 0; k < 20 && stmts >= 0 && odds(90) && !only_waits(place[stmts].t); k++) stmts = around(1 + some(places - 1), "stmts");
            if (stmts >= 0) i = stmts, t = place[i].t;
        } else if (odds(50) && t->rule >= 0 && rules[t->rule].n == 1) continue;
        int whole = around(i, "stmt");
        if (is(t, "stmts") && is_list(t)) whole = i;
        bool waits = whole >= 0 && only_waits(place[whole].t);
        const char *was = short_text(whole >= 0 ? is(t, "stmts") && is_list(t) ? t->kid[1] : place[whole].t : t);
        bool list = is_list(t) && odds(75);
        waits &= list || !is(t, "stmts");
        bool done = t->rule < 0 ? change_token(i, t) : list ? change_list(i, t, &waits) : odds(50) ? other_rule(t) : replace(i);
        if (!done) continue;
        *moves |= !waits || (is(place[whole].t, "stmt") && !only_waits(place[whole].t));
        return text("`%s` of `%s` changed", symbol_text(place[i].t->kind), was);
    }
    return NULL;
}

/* ---- shrinking: steps 3 i drop an element of a list, 3 i + 1 leave only a part of the same kind, 3 i + 2 make a number smaller ---- */

static Tree *part_of_kind(Tree *t, int kind)
{
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) {
        if (t->kid[i]->kind == kind) return t->kid[i];
        Tree *found = part_of_kind(t->kid[i], kind);
        if (found) return found;
    }
    return NULL;
}

bool shrink_step(Tree *root, int step, bool undo)
{
    static Tree *at, was;
    if (undo) {
        if (at) *at = was;
        return true;
    }
    look(root);
    if (step / 3 >= places) return false;
    at = place[step / 3].t, was = *at;
    if (step % 3 == 0 && is_list(at)) *at = *at->kid[0];
    else if (step % 3 == 1 && at->rule >= 0 && !is_list(at)) {
        const Tree *to = part_of_kind(at, at->kind);
        if (to) *at = *to;
    } else if (step % 3 == 2 && is(at, "\"number\"")) {
        long n = strtol(at->text, NULL, 0);
        if (n > 2 && n != 16) at->text = text("%ld", n - 1);
    } else at = NULL;
    return true;
}
