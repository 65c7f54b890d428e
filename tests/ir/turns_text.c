/* Programs as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

static const char *const NAME_WORD[NAMES] = {"n", "m", "M", "k", "i", "j", "q", "c", "d"};
#define CALL(kind, word, call) call,
static const bool IS_CALL[KINDS] = {TURNS_KINDS(CALL)};
#undef CALL

void put(Text *t, const char *word)
{
    size_t n = strlen(word);
    if (t->n + n + 1 > sizeof t->s) abort();
    memcpy(t->s + t->n, word, n + 1);
    t->n += n;
}

void put_sum(Text *t, const Sum *s)
{
    char word[32];
    if (s->kind == NUMBER) snprintf(word, sizeof word, s->n < 0 ? "(%lld)" : "%lld", (long long)s->n);
    else if (s->kind == NAME) snprintf(word, sizeof word, "%s", NAME_WORD[s->n]);
    else snprintf(word, sizeof word, "%s(", IS_CALL[s->kind] ? KIND_WORD[s->kind] : "");
    put(t, word);
    if (s->kind == NUMBER || s->kind == NAME) return;
    put_sum(t, s->a);
    snprintf(word, sizeof word, IS_CALL[s->kind] ? ", " : " %s ", KIND_WORD[s->kind]);
    put(t, word);
    put_sum(t, s->b);
    put(t, ")");
}

static void put_place(Text *t, const char *name, const Sum *at)
{
    put(t, name);
    if (!at) return;
    put(t, "["), put_sum(t, at), put(t, "]");
}

static void put_body(Text *t, const Program *p, const Stmt *s);

static void put_block(Text *t, const Program *p, const Stmt *s)
{
    put(t, " { "), put_body(t, p, s), put(t, "} ");
}

static void put_statement(Text *t, const Program *p, const Stmt *s)
{
    const char *bar = p->bar[s->bar].name;
    switch (s->act) {
    case WAIT: put(t, "wait "), put_place(t, bar, s->at), put(t, "; "); return;
    case ARRIVE: put(t, "arrive "), put_place(t, bar, s->at), put(t, "; "); return;
    case FILL:
        put(t, "move x["), put_sum(t, s->a), put(t, ", 0] -> "), put_place(t, "t", s->at);
        put(t, " commit "), put_place(t, bar, s->at), put(t, "; ");
        return;
    case STORE:
        put(t, "move "), put_place(t, "t", s->at), put(t, " -> y["), put_sum(t, s->a), put(t, ", 0] commit group; ");
        return;
    case GROUP: put(t, "wait group read; "); return;
    case SET: put(t, NAME_WORD[s->name]), put(t, " = "), put_sum(t, s->a), put(t, "; "); return;
    case IF:
        put(t, "if "), put_sum(t, s->a), put_block(t, p, s->body);
        if (s->other) put(t, "else"), put_block(t, p, s->other);
        return;
    default:
        put(t, "for "), put(t, NAME_WORD[s->name]), put(t, " in ");
        put_sum(t, s->a), put(t, " .. "), put_sum(t, s->b), put_block(t, p, s->body);
    }
}

static void put_body(Text *t, const Program *p, const Stmt *s)
{
    for (; s; s = s->next) put_statement(t, p, s);
}

static bool has_act(const Stmt *s, Act act)
{
    for (; s; s = s->next)
        if (s->act == act || has_act(s->body, act) || has_act(s->other, act)) return true;
    return false;
}

static bool any_role_has(const Program *p, Act act)
{
    bool has = false;
    for (int r = 0; r < p->roles; r++) has |= has_act(p->role[r].body, act);
    return has;
}

static void put_role(Text *t, const Program *p, const Role *role)
{
    put(t, "    role "), put(t, role->name), put(t, " { ");
    for (int v = 0; v < 2; v++)
        if (role->variable[v]) put(t, v ? "var d = 0; " : "var c = 0; ");
    put_body(t, p, role->body);
    put(t, "}\n");
}

void put_program(Text *t, const Program *p)
{
    char line[96];
    bool fills = any_role_has(p, FILL), stores = any_role_has(p, STORE);
    put(t, "kernel k(");
    if (fills) put(t, "x: global f32[M, 64], ");
    if (stores) put(t, "y: global f32[M, 64], ");
    put(t, "n: s64, m: s64)");
    for (int i = 0; i < FACTS && p->fact[i]; i++) put(t, i ? ", " : " where "), put(t, p->fact[i]->text);
    put(t, " {\n");
    if ((fills || stores) && p->slots > 1) snprintf(line, sizeof line, "  shared t: f32[%d][1, 64];\n", p->slots), put(t, line);
    else if (fills || stores) put(t, "  shared t: f32[1, 64];\n");
    for (int i = 0; i < p->bars; i++) {
        char many[16] = "";
        if (p->bar[i].slots > 1) snprintf(many, sizeof many, "[%d]", p->bar[i].slots);
        snprintf(line, sizeof line, "  barrier %s%s%s;\n", p->bar[i].name, many, p->bar[i].free ? " free" : "");
        put(t, line);
    }
    put(t, "  roles {\n");
    for (int r = 0; r < p->roles; r++) put_role(t, p, &p->role[r]);
    put(t, "  }\n}\n");
}
