/* What a schedule is to be, as text: `BM=64 by ticket stages 3 hints on`, or `alternative 2 hints off l2 128`; `default` where nothing is said. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "frontend/check/check.h"
#include "frontend/wish.h"

enum { STAGES_MAX = 64 };

static const PDeal DEALS[] = {DEAL_STATIC, DEAL_TICKET, DEAL_LAUNCH, DEAL_CLC}; /* in the order of WORDS_DEAL */

/* ---- reading ---- */

void wish_wrong(WishText *t, Span at, const char *fmt, ...)
{
    va_list ap;
    char text[512];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!t->wrong) diag_at(t->c->diags, E0221, at, "%s", text);
    t->wrong = true;
}

void wish_skip(WishText *t)
{
    while (t->p < t->end && (*t->p == ' ' || *t->p == '\t' || *t->p == '\r')) t->p++, t->at++;
}

const char *wish_word(WishText *t, Span *at)
{
    wish_skip(t);
    const char *from = t->p;
    while (t->p < t->end && !strchr(" \t\r:", *t->p)) t->p++;
    size_t n = (size_t)(t->p - from);
    *at = (Span){t->at, t->at + (n ? (uint32_t)n : 1)};
    t->at += (uint32_t)n;
    return arena_strdup(t->c->arena, from, n);
}

bool wish_number(WishText *t, int64_t lo, int64_t *out)
{
    Span at;
    const char *word = wish_word(t, &at);
    if (strspn(word, "0123456789") == strlen(word) && define_number(word, out) && *out >= lo) return true;
    wish_wrong(t, at, "`%s` where a number of at least %lld is due", word, (long long)lo);
    return false;
}

static void read_deal(WishText *t, Wish *w)
{
    Span at;
    const char *word = wish_word(t, &at);
    int i = word_find(WORDS_DEAL, word);
    if (i < 0) wish_wrong(t, at, "`by %s` does not exist: static, ticket, launch or clc", word);
    else w->deal = DEALS[i];
}

static void read_hints(WishText *t, Wish *w)
{
    Span at;
    const char *word = wish_word(t, &at);
    if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0) wish_wrong(t, at, "`hints %s` does not exist: on or off", word);
    w->hints = strcmp(word, "on") == 0 ? 1 : -1;
}

static void read_l2(WishText *t, Wish *w)
{
    Span at;
    const char *word = wish_word(t, &at);
    int64_t bytes;
    w->l2 = define_number(word, &bytes) ? map_l2(bytes) : MAP_L2_NONE;
    if (w->l2 == MAP_L2_NONE) wish_wrong(t, at, "`l2 %s` does not exist: 64, 128 or 256", word);
}

static void read_value(WishText *t, Wish *w, const char *word, Span at)
{
    const char *equals = strchr(word, '=');
    if (word[0] == '#') {
        wish_wrong(t, at, "a comment has a line of its own");
        return;
    }
    if (!equals || equals == word || !equals[1]) {
        wish_wrong(t, at, "`%s` says nothing of a schedule: NAME=VALUE, alternative N, by WAY, stages N, hints on or off, l2 N, or default", word);
        return;
    }
    int64_t number;
    ElemType type;
    if (!define_number(equals + 1, &number) && !elem_find(equals + 1, &type)) {
        wish_wrong(t, at, "`%s` is neither a 64-bit number nor an element type", equals + 1);
        return;
    }
    WishValue v = {arena_strdup(t->c->arena, word, (size_t)(equals - word)), equals + 1};
    for (uint32_t i = 0; i < w->values.n; i++)
        if (strcmp(w->values.v[i].name, v.name) == 0) wish_wrong(t, at, "`%s` stands there twice", v.name);
    vec_push(t->c->arena, &w->values, v);
}

/* What the word, which another one follows, has said already. */
static bool said(const Wish *w, const char *word)
{
    return (strcmp(word, "by") == 0 && w->deal != DEAL_ANY) || (strcmp(word, "hints") == 0 && w->hints != HINTS_OPEN) || (strcmp(word, "l2") == 0 && w->l2) ||
           (strcmp(word, "stages") == 0 && w->stages) || (strcmp(word, "alternative") == 0 && w->alternative);
}

const Wish *wish_read(WishText *t)
{
    Wish *w = arena_new(t->c->arena, Wish);
    *w = (Wish){.deal = DEAL_ANY, .hints = HINTS_OPEN};
    wish_skip(t);
    w->span = (Span){t->at, t->at + (t->p < t->end ? (uint32_t)(t->end - t->p) : 1)};
    bool any = false;
    for (; !t->wrong && t->p < t->end; any = true, wish_skip(t)) {
        Span at;
        const char *word = wish_word(t, &at);
        if (said(w, word)) wish_wrong(t, at, "`%s` stands there twice", word);
        else if (strcmp(word, "by") == 0) read_deal(t, w);
        else if (strcmp(word, "hints") == 0) read_hints(t, w);
        else if (strcmp(word, "l2") == 0) read_l2(t, w);
        else if (strcmp(word, "stages") == 0) {
            if (wish_number(t, 1, &w->stages) && w->stages > STAGES_MAX) wish_wrong(t, at, "a pipeline has at most %d stages", STAGES_MAX);
        } else if (strcmp(word, "alternative") == 0) wish_number(t, 1, &w->alternative);
        else if (strcmp(word, "default") != 0) read_value(t, w, word, at);
        if (t->p < t->end && *t->p == ':') wish_wrong(t, (Span){t->at, t->at + 1}, "a `:` inside a schedule");
    }
    if (w->alternative && w->values.n) wish_wrong(t, w->span, "an alternative by its number has the values that it has");
    if (!any) wish_wrong(t, w->span, "the schedule is missing: `default` says nothing of it");
    return t->wrong ? NULL : w;
}

/* ---- printing ---- */

static void put(Text *out, size_t from, const char *text)
{
    if (out->n > from) text_char(out, ' ');
    text_str(out, text);
}

void wish_print(Text *out, const PKernel *k)
{
    size_t from = out->n, n;
    const char *const *words = word_list(WORDS_DEAL, &n);
    const Wish *w = k->wish;
    for (uint32_t i = 0; i < k->values.n; i++) {
        put(out, from, k->values.v[i].name);
        text_printf(out, "=%s", k->values.v[i].value);
    }
    for (size_t i = 0; w && i < n; i++) {
        if (DEALS[i] != w->deal) continue;
        put(out, from, "by ");
        text_str(out, words[i]);
    }
    if (w && w->stages) {
        put(out, from, "stages ");
        text_printf(out, "%lld", (long long)w->stages);
    }
    if (w && w->hints != HINTS_OPEN) put(out, from, w->hints > 0 ? "hints on" : "hints off");
    if (w && w->l2) {
        put(out, from, "l2 ");
        text_printf(out, "%u", 32u << w->l2);
    }
    if (out->n == from) text_lit(out, "default");
}

/* ---- what else there could be ---- */

typedef struct Open { /* what the source leaves open */
    uint32_t across;
    bool deal, stages;
} Open;

static void find_open(const PBlock *b, Open *o)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        find_open(&s->body, o);
        find_open(&s->other, o);
        if (s->kind != P_PIPELINE) continue;
        o->across += s->pipe->deal != DEAL_NONE;
        o->deal |= s->pipe->deal == DEAL_ANY;
        o->stages |= s->pipe->stages == 0;
    }
}

static Wish *add_wish(Compilation *c, const PKernel *k, Wishes *out)
{
    Wish *w = arena_new(c->arena, Wish);
    *w = (Wish){.deal = DEAL_ANY, .hints = HINTS_OPEN};
    for (uint32_t i = 0; i < k->values.n; i++) {
        const WishValue *v = &k->values.v[i];
        WishValue kept = {arena_strdup(c->arena, v->name, strlen(v->name)), arena_strdup(c->arena, v->value, strlen(v->value))};
        vec_push(c->arena, &w->values, kept);
    }
    vec_push(c->arena, out, w);
    return w;
}

/* One thing at a time besides the alternatives, and what variants are made of. Of the rest `tilecc tune` combines what has gained. */
void wishes_for(Compilation *c, const PKernel *k, Wishes *out)
{
    static const int64_t STAGES[] = {1, 2, 3, 4, 6, 8, 12, 16, 20};
    Open o = {0};
    find_open(&k->body, &o);
    add_wish(c, k, out);
    for (size_t i = 0; o.deal && o.across == 1 && i < sizeof DEALS / sizeof *DEALS; i++)
        if (DEALS[i] != DEAL_CLC || target_has(c->target, form_info(FORM_CLC_TRY_CANCEL)->feature)) add_wish(c, k, out)->deal = DEALS[i];
    for (size_t i = 0; o.stages && i < sizeof STAGES / sizeof *STAGES; i++) add_wish(c, k, out)->stages = STAGES[i];
    for (int h = 1; c->hints == 0 && h >= -1; h -= 2) add_wish(c, k, out)->hints = h;
    add_wish(c, k, out)->l2 = MAP_L2_128B;
    if (o.deal && o.across == 1 && c->hints == 0) {
        Wish *w = add_wish(c, k, out);
        w->deal = DEAL_LAUNCH;
        w->hints = -1;
    }
}
