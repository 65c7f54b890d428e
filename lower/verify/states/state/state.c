/* States: made, copied, told apart by what a number is. */
#include "lang/checked.h"
#include "lower/verify/states/steps/steps.h"

enum { WORDS_FIRST = 2 };

static void *copied(Arena *a, const void *v, size_t n)
{
    void *to = arena_alloc(a, n);
    if (n) memcpy(to, v, n);
    return to;
}

/* Its memory is its own. */
static State *made(Checker *c, const State *as)
{
    Arena own;
    arena_borrow(&own, c->arena);
    State *s = arena_new(&own, State);
    *s = *as;
    s->arena = own;
    s->older = c->all;
    s->link = &c->all;
    if (c->all) c->all->link = &s->older;
    c->nstates++;
    return c->all = s;
}

State *states_new(Checker *c)
{
    State *s = made(c, &(State){0});
    Arena *a = &s->arena;
    s->facts = facts_copy(a, &c->launch_facts);
    s->agents = copied(a, c->place, c->nagents * sizeof *s->agents);
    s->env = arena_array(a, Val, c->nenv);
    s->frames = arena_array(a, Frame, c->nframes);
    s->words = WORDS_FIRST;
    s->rows = c->bar_sets;
    s->sets = arena_array(a, uint64_t, (size_t)s->rows * s->words);
    s->bar_at = arena_array(a, uint32_t, c->nbars + 1);
    s->asked = arena_array(a, uint32_t, c->nagents * CLASSES);
    s->launch = arena_array(a, Num, c->natoms + 1);
    for (uint32_t i = 0; i < c->natoms; i++) s->launch[i] = num_atom(&c->n, i + 1);
    return s;
}

#define COPY_VEC(to, from, a) ((to)->v = copied(a, (from)->v, (from)->n * sizeof *(from)->v), (to)->n = (to)->cap = (from)->n)

State *states_copy(Checker *c, const State *s)
{
    State *to = made(c, s);
    Arena *a = &to->arena;
    to->facts = facts_copy(a, &s->facts);
    to->agents = copied(a, s->agents, c->nagents * sizeof *s->agents);
    to->env = copied(a, s->env, c->nenv * sizeof *s->env);
    to->frames = copied(a, s->frames, c->nframes * sizeof *s->frames);
    to->rows = all_sets(c, s);
    to->sets = copied(a, s->sets, (size_t)to->rows * s->words * sizeof *s->sets);
    to->bar_at = copied(a, s->bar_at, c->nbars * sizeof *s->bar_at);
    to->awaited = copied(a, s->awaited, s->bars.n * c->nroles * sizeof *s->awaited);
    COPY_VEC(&to->bars, &s->bars, a);
    to->asked = copied(a, s->asked, c->nagents * CLASSES * sizeof *s->asked);
    to->launch = copied(a, s->launch, c->natoms * sizeof *s->launch);
    COPY_VEC(&to->items, &s->items, a);
    COPY_VEC(&to->named, &s->named, a);
    COPY_VEC(&to->written, &s->written, a);
    COPY_VEC(&to->cells, &s->cells, a);
    COPY_VEC(&to->asserted, &s->asserted, a);
    return to;
}

void states_free(Checker *c, State *s)
{
    c->nstates--;
    Arena own = s->arena; /* it lies in there itself */
    *s->link = s->older;
    if (s->older) s->older->link = s->link;
    arena_free(&own);
}

void states_free_all(Checker *c)
{
    while (c->all) states_free(c, c->all);
}

/* ---- barriers ---- */

void bar_begin(Checker *c, uint32_t slot)
{
    State *s = c->st;
    if (s->bar_at[slot]) return;
    uint32_t n = s->bars.n, cap = s->bars.cap;
    vec_push(&s->arena, &s->bars, ((Bar){.slot = slot, .pending = (int32_t)c->count[slot % c->nslots], .tx = num_k(c, 0), .known = true}));
    s->bar_at[slot] = n + 1;
    if (s->bars.cap > cap) s->awaited = arena_grow(&s->arena, s->awaited, cap * c->nroles * sizeof *s->awaited, s->bars.cap * c->nroles * sizeof *s->awaited);
    for (uint32_t r = 0; r < c->nroles; r++) s->awaited[n * c->nroles + r] = (Awaited){.phase = AWAITED_NONE};
    if (s->rows < all_sets(c, s)) {
        uint32_t rows = 2 * all_sets(c, s);
        s->sets = arena_grow(&s->arena, s->sets, (size_t)s->rows * s->words * sizeof *s->sets, (size_t)rows * s->words * sizeof *s->sets);
        s->rows = rows;
    }
    memset(bar_row(c, s, n, 0), 0, (size_t)BAR_SETS * s->words * sizeof *s->sets);
}

/* ---- items ---- */

static void more_words(Checker *c, State *s)
{
    uint32_t words = 2 * s->words, n = all_sets(c, s);
    uint64_t *sets = arena_array(&s->arena, uint64_t, (size_t)n * words);
    for (uint32_t i = 0; i < n; i++) memcpy(sets + (size_t)i * words, s->sets + (size_t)i * s->words, s->words * sizeof *sets);
    s->sets = sets;
    s->words = words;
    s->rows = n;
}

uint32_t item_new(Checker *c, Item x)
{
    State *s = c->st;
    uint32_t i = s->items.n;
    vec_push(&s->arena, &s->items, x);
    place_in_run(c, &s->items.v[i]);
    s->items.v[i].each = (uint8_t)s->neach;
    if (2 * i + 2 > 64 * s->words) more_words(c, s); /* no set has it */
    return i;
}

void item_known(const Checker *c, const State *s, uint32_t agent, uint32_t i, bool *over, bool *fenced)
{
    *over = *fenced = true;
    for (uint32_t k = KNOWN_ONE; k <= (s->agents[agent].many ? KNOWN_EACH : KNOWN_ONE); k++) {
        const uint64_t *set = set_of(c, s, agent, k);
        *over &= set_has(set, 2 * i);
        *fenced &= set_has(set, 2 * i + 1);
    }
}

bool item_counts(const Checker *c, const State *s, uint32_t i)
{
    bool counts = false;
    for (uint32_t b = 0; b < s->bars.n && !counts; b++) counts = set_has(bar_row(c, s, b, ARRIVED), 2 * i) || set_has(bar_row(c, s, b, BEFORE), 2 * i);
    return counts;
}

void item_over(State *s, uint32_t i, bool counts)
{
    s->items.v[i] = (Item){.kind = counts ? ITEM_ARRIVAL : ITEM_NONE, .agent = s->items.v[i].agent, .op = s->items.v[i].op, .when = s->items.v[i].when};
}

/* ---- numbers ---- */

static Num only_map(Checker *c, Num only, const NumMap *m)
{
    Num x = num_map(c, only, m);
    return x == num_k(c, 1) ? 0 : x;
}

/* 0: it is made of what nobody asks for any more. */
static Num launch_map(Checker *c, Num x, const NumMap *m, bool wanted)
{
    if (wanted) return num_map(c, x, m);
    bool gone = m->other && x && (num_coefficient(&c->n, x, m->atom) || num_coefficient(&c->n, x, m->other));
    for (uint32_t i = 0; m->by_number && x && i < num_data(&c->n, x)->n; i++) {
        uint32_t atom = num_data(&c->n, x)->t[i].atom;
        gone |= atom > c->natoms && m->by_number[atom - c->natoms] == 0;
    }
    return gone ? 0 : num_map(c, x, m);
}

void states_map(Checker *c, State *s, const NumMap *m)
{
    for (uint32_t i = 0; i < c->natoms; i++) s->launch[i] = launch_map(c, s->launch[i], m, launch_wanted(c, s, i + 1));
    for (uint32_t i = 0; i < c->nenv; i++) s->env[i] = val_map(c, s->env[i], m);
    for (uint32_t i = 0; i < c->nagents; i++)
        for (uint32_t j = 0; j < s->agents[i].depth; j++) {
            Frame *f = &s->frames[s->agents[i].frames + j];
            f->at = num_map(c, f->at, m);
            f->end = num_map(c, f->end, m);
        }
    for (uint32_t i = 0; i < s->bars.n; i++) {
        Bar *b = &s->bars.v[i];
        b->tx = num_map(c, b->tx, m);
        b->some = num_map(c, b->some, m);
        for (uint32_t j = 0; j < s->neach; j++) b->each[j] = num_map(c, b->each[j], m);
    }
    for (uint32_t i = 0; i < s->neach; i++) {
        Each *x = &s->each[i];
        x->at = num_map(c, x->at, m);
        x->from = num_map(c, x->from, m);
        x->end = num_map(c, x->end, m);
    }
    for (uint32_t i = 0; i < s->items.n; i++) {
        Item *x = &s->items.v[i];
        x->lo = num_map(c, x->lo, m);
        x->hi = num_map(c, x->hi, m);
        for (uint32_t j = 0; j < 2 * LEVELS; j++) x->turn[j / 2][j % 2] = num_map(c, x->turn[j / 2][j % 2], m);
        x->only = only_map(c, x->only, m);
        if (x->only == num_k(c, 0)) item_over(s, i, item_counts(c, s, i));
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
    int64_t by = x->by, k;
    if (x->op == IR_MUL && (num_is(n, x->key[0], &k) || num_is(n, x->key[1], &k))) {
        *is = num_times(n, k, num_data(n, x->key[0])->n ? x->key[0] : x->key[1]);
        return *is != 0;
    }
    if ((x->op == IR_DIV || x->op == IR_MOD) && by == 0 && num_is(n, x->key[1], &k) && k > 0) by = k;
    Num q = by ? num_div(n, x->key[0], by) : 0;
    if (q) {
        *is = x->op == IR_MOD || x->op == IR_AND ? num_add(n, x->key[0], -by, q) : q;
        return true;
    }
    if (x->op != IR_CMP && x->op != IR_MIN && x->op != IR_MAX) return false;
    Num far = num_add(n, x->key[1], -1, x->key[0]);
    if (x->op != IR_CMP) {
        bool up = facts_imply(n, &s->facts, far), down = !up && far && facts_imply(n, &s->facts, num_times(n, -1, far));
        *is = x->key[up == (x->op == IR_MAX)];
        return up || down;
    }
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
        if (!decided(c, s, x, &is) || x->num == is) continue;
        if (d->n == 1 && d->k == 0 && d->t[0].c == 1) {
            if (!put(c, s, d->t[0].atom, is)) return false;
            i = UINT32_MAX;
            continue;
        }
        Num far = num_add(&c->n, is, -1, x->num), near = num_times(&c->n, -1, far); /* it was found to be a sum of others */
        if (far == 0 || (facts_imply(&c->n, &s->facts, far) && facts_imply(&c->n, &s->facts, near))) continue;
        uint32_t facts = s->facts.n;
        if (!facts_add(&c->n, &s->arena, &s->facts, far) || !facts_add(&c->n, &s->arena, &s->facts, near)) return false;
        if (s->facts.n > facts) return settle(c, s);
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
