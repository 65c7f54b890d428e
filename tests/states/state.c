/* States: made, copied, told apart by what a number is. */
#include "lang/checked.h"
#include "tests/states/checker.h"

enum { WORDS_FIRST = 2 };

static void *copied(Arena *a, const void *v, size_t n)
{
    void *to = arena_alloc(a, n);
    if (n) memcpy(to, v, n);
    return to;
}

State *states_new(Checker *c)
{
    State *s = arena_new(c->arena, State);
    arena_borrow(&s->arena, c->arena);
    Arena *a = &s->arena;
    s->facts = facts_copy(a, &c->launch_facts);
    s->agents = copied(a, c->place, c->nagents * sizeof *s->agents);
    s->env = arena_array(a, Val, c->nenv);
    s->vars = arena_array(a, Val, c->nvars);
    s->frames = arena_array(a, Frame, c->nframes);
    s->words = WORDS_FIRST;
    s->sets = arena_array(a, uint64_t, (size_t)c->nsets * s->words);
    s->bars = arena_array(a, Bar, c->nbars);
    s->awaited = arena_array(a, Awaited, c->nbars * c->nroles);
    for (uint32_t i = 0; i < c->nbars * c->nroles; i++) s->awaited[i].phase = AWAITED_NONE;
    s->asked = arena_array(a, uint32_t, c->nagents * CLASSES);
    return s;
}

#define COPY_VEC(to, from, a) ((to)->v = copied(a, (from)->v, (from)->n * sizeof *(from)->v), (to)->n = (to)->cap = (from)->n)

State *states_copy(Checker *c, const State *s)
{
    State *to = arena_new(c->arena, State);
    *to = *s;
    arena_borrow(&to->arena, c->arena);
    Arena *a = &to->arena;
    to->facts = facts_copy(a, &s->facts);
    to->agents = copied(a, s->agents, c->nagents * sizeof *s->agents);
    to->env = copied(a, s->env, c->nenv * sizeof *s->env);
    to->vars = copied(a, s->vars, c->nvars * sizeof *s->vars);
    to->frames = copied(a, s->frames, c->nframes * sizeof *s->frames);
    to->sets = copied(a, s->sets, (size_t)c->nsets * s->words * sizeof *s->sets);
    to->bars = copied(a, s->bars, c->nbars * sizeof *s->bars);
    to->awaited = copied(a, s->awaited, c->nbars * c->nroles * sizeof *s->awaited);
    to->asked = copied(a, s->asked, c->nagents * CLASSES * sizeof *s->asked);
    COPY_VEC(&to->items, &s->items, a);
    COPY_VEC(&to->named, &s->named, a);
    COPY_VEC(&to->written, &s->written, a);
    COPY_VEC(&to->cells, &s->cells, a);
    COPY_VEC(&to->asserted, &s->asserted, a);
    return to;
}

void states_free(State *s)
{
    arena_free(&s->arena);
}

/* ---- items ---- */

static void more_words(Checker *c, State *s)
{
    uint32_t words = 2 * s->words;
    uint64_t *sets = arena_array(&s->arena, uint64_t, (size_t)c->nsets * words);
    for (uint32_t i = 0; i < c->nsets; i++) memcpy(sets + (size_t)i * words, s->sets + (size_t)i * s->words, s->words * sizeof *sets);
    s->sets = sets;
    s->words = words;
}

uint32_t item_new(Checker *c, Item x)
{
    State *s = c->st;
    uint32_t i = 0;
    while (i < s->items.n && s->items.v[i].kind != ITEM_NONE) i++;
    if (i == s->items.n) vec_add(&s->arena, &s->items);
    s->items.v[i] = x;
    if (2 * i + 2 > 64 * s->words) more_words(c, s);
    for (uint32_t j = 0; j < c->nsets; j++) s->sets[(size_t)j * s->words + i / 32] &= ~(UINT64_C(3) << i % 32 * 2);
    return i;
}

void item_over(const Checker *c, State *s, uint32_t i)
{
    bool counts = false;
    for (uint32_t b = 0; b < c->nbars && !counts; b++) counts = set_has(bar_set(c, s, b, ARRIVED), 2 * i) || set_has(bar_set(c, s, b, BEFORE), 2 * i);
    s->items.v[i] = (Item){.kind = counts ? ITEM_ARRIVAL : ITEM_NONE, .agent = s->items.v[i].agent, .op = s->items.v[i].op};
}

/* ---- numbers ---- */

static Num only_map(Checker *c, Num only, const NumMap *m)
{
    Num x = num_map(c, only, m);
    return x == num_k(c, 1) ? 0 : x;
}

void states_map(Checker *c, State *s, const NumMap *m)
{
    for (uint32_t i = 0; i < c->nenv; i++) s->env[i] = val_map(c, s->env[i], m);
    for (uint32_t i = 0; i < c->nvars; i++) s->vars[i] = val_map(c, s->vars[i], m);
    for (uint32_t i = 0; i < c->nagents; i++)
        for (uint32_t j = 0; j < s->agents[i].depth; j++) {
            Frame *f = &s->frames[s->agents[i].frames + j];
            f->at = num_map(c, f->at, m);
            f->end = num_map(c, f->end, m);
        }
    for (uint32_t i = 0; i < c->nbars; i++) s->bars[i].tx = num_map(c, s->bars[i].tx, m);
    for (uint32_t i = 0; i < s->items.n; i++) {
        Item *x = &s->items.v[i];
        x->lo = num_map(c, x->lo, m);
        x->hi = num_map(c, x->hi, m);
        x->only = only_map(c, x->only, m);
        if (x->only == num_k(c, 0)) item_over(c, s, i);
    }
    for (uint32_t i = 0; i < s->named.n; i++) {
        Named *x = &s->named.v[i];
        for (uint32_t j = 0; j < x->nkey; j++) x->key[j] = num_map(c, x->key[j], m);
        x->num = num_map(c, x->num, m);
    }
    for (uint32_t i = 0; i < s->written.n; i++) {
        Piece *x = &s->written.v[i];
        x->lo = num_map(c, x->lo, m);
        x->hi = num_map(c, x->hi, m);
        x->only = only_map(c, x->only, m);
    }
    for (uint32_t i = 0; i < s->cells.n; i++) s->cells.v[i].val = val_map(c, s->cells.v[i].val, m);
    for (uint32_t i = 0; i < s->asserted.n; i++) s->asserted.v[i] = val_map(c, s->asserted.v[i], m);
}

/* False: there is no such state. */
static bool put(Checker *c, State *s, uint32_t atom, Num y)
{
    Facts was = s->facts;
    s->facts = (Facts){0};
    for (uint32_t i = 0; i < was.n; i++)
        if (!facts_add(&c->n, &s->arena, &s->facts, num_put(&c->n, was.v[i], atom, y))) return false;
    states_map(c, s, &(NumMap){.atom = atom, .y = y});
    return true;
}

/* A fact whose contrary is one, too, says what one of its atoms is. */
static bool equality(Numbers *n, const Facts *f, uint32_t *atom, Num *is)
{
    for (uint32_t i = 0; i < f->n; i++) {
        Num x = f->v[i], not = num_times(n, -1, x);
        bool both = false;
        for (uint32_t j = 0; j < f->n && !both; j++) both = f->v[j] == not;
        const NumData *d = num_data(n, x);
        for (uint32_t j = d->n; both && j-- > 0;) {
            int64_t c = d->t[j].c;
            if (c != 1 && c != -1) continue;
            *atom = d->t[j].atom;
            *is = num_times(n, -c, num_add(n, x, -c, num_atom(n, *atom)));
            return *is != 0;
        }
    }
    return false;
}

/* A named number of which it is known by now what it is. */
static bool decided(Checker *c, const State *s, const Named *x, Num *is)
{
    Numbers *n = &c->n;
    Num q = x->by ? num_div(n, x->key[0], x->by) : 0;
    if (q) {
        *is = x->op == IR_MOD || x->op == IR_AND ? num_add(n, x->key[0], -x->by, q) : q;
        return true;
    }
    if (x->op != IR_CMP) return false;
    Num far = num_add(n, x->key[1], -1, x->key[0]);
    if (x->rel == IRL_EQ || x->rel == IRL_NE) {
        bool most = facts_imply(n, &s->facts, far), least = facts_imply(n, &s->facts, num_times(n, -1, far));
        bool other = facts_imply(n, &s->facts, num_plus(n, far, -1)) || facts_imply(n, &s->facts, num_contrary(n, far));
        *is = num_const(n, other == (x->rel == IRL_NE));
        return other || (most && least);
    }
    Num at = x->rel == IRL_LT || x->rel == IRL_GE ? num_plus(n, far, -1) : far; /* >= 0 where it is less */
    bool less = x->rel == IRL_LT || x->rel == IRL_LE, yes = facts_imply(n, &s->facts, at), no = !yes && facts_imply(n, &s->facts, num_contrary(n, at));
    *is = num_const(n, yes == less);
    return yes || no;
}

static bool settle(Checker *c, State *s)
{
    uint32_t atom;
    Num is;
    if (facts_fail(&c->n, &s->facts)) return false;
    while (equality(&c->n, &s->facts, &atom, &is))
        if (!put(c, s, atom, is)) return false;
    for (uint32_t i = 0; i < s->named.n; i++) {
        const Named *x = &s->named.v[i];
        const NumData *d = num_data(&c->n, x->num);
        if (d->n != 1 || d->k || d->t[0].c != 1 || !decided(c, s, x, &is) || x->num == is) continue;
        if (!put(c, s, d->t[0].atom, is)) return false;
        i = UINT32_MAX;
    }
    return true;
}

bool states_assume(Checker *c, State *s, Num x)
{
    return facts_add(&c->n, &s->arena, &s->facts, x) && settle(c, s);
}

bool states_split(Checker *c, State *s, uint32_t atom, int64_t by, int64_t rest)
{
    Num part = num_atom(&c->n, c->natoms + ++s->fresh);
    return put(c, s, atom, num_add(&c->n, num_const(&c->n, rest), by, part)) && settle(c, s);
}
