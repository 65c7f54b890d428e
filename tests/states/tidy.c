/* What nobody asks any more is forgotten, and the rest numbered in one way, so that states in which the same happens look the same. */
#include <stdlib.h>

#include "lang/checked.h"
#include "tests/states/checker.h"

/* ---- items ---- */

/* The first op that the agent may come to. */
static uint32_t first_ahead(const State *s, uint32_t a)
{
    const Agent *x = &s->agents[a];
    return x->depth ? s->frames[x->frames].op : x->pc;
}

/* To all who may still have to do with what lies there, and somebody. */
static bool known_to_all(const Checker *c, const State *s, uint32_t i)
{
    const Item *x = &s->items.v[i];
    bool all = true, some = false, fenced = x->generic || x->core;
    for (uint32_t a = 0; a < c->nagents && all; a++) {
        const Agent *y = &s->agents[a];
        bool own = y->cta == x->space % c->nctas;
        some |= own && set_has(set_of(c, s, a, KNOWN_ONE), 2 * i);
        if (y->done || *touches_of(c, a, x->space, x->buf) <= first_ahead(s, a)) continue;
        for (uint32_t k = KNOWN_ONE; k <= (y->many ? KNOWN_EACH : KNOWN_ONE); k++)
            all &= set_has(set_of(c, s, a, k), 2 * i) && (!fenced || set_has(set_of(c, s, a, k), 2 * i + 1));
    }
    return all && some;
}

static bool is_asked(const Checker *c, State *s, uint32_t i)
{
    const Item *x = &s->items.v[i];
    if (x->kind == ITEM_ACCESS && !known_to_all(c, s, i)) return true;
    if (x->kind != ITEM_WAIT) {
        item_over(c, s, i);
        return x->kind != ITEM_NONE;
    }
    for (uint32_t b = 0; b < c->nbars * c->nroles; b++)
        if (s->awaited[b].item == i + 1) return s->awaited[b].phase - s->bars[b / c->nroles].phase > -3;
    return false;
}

static int num_order(const Numbers *n, Num x, Num y)
{
    const NumData *a = x ? num_data(n, x) : NULL, *b = y ? num_data(n, y) : NULL;
    if (a == NULL || b == NULL) return a == b ? 0 : a ? 1 : -1;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    return a->k == b->k ? 0 : a->k < b->k ? -1 : 1;
}

static int item_order(const Numbers *n, const Item *x, const Item *y)
{
    const uint32_t p[] = {x->kind, x->space, x->buf, x->agent, x->op, x->write, x->core}, q[] = {y->kind, y->space, y->buf, y->agent, y->op, y->write, y->core};
    int o = memcmp(p, q, sizeof p);
    if (o == 0) o = num_order(n, x->lo, y->lo);
    if (o == 0) o = num_order(n, x->hi, y->hi);
    return o ? o : num_order(n, x->only, y->only);
}

static uint32_t bits_of(const State *s, uint32_t set, uint32_t item)
{
    return (uint32_t)(s->sets[(size_t)set * s->words + item / 32] >> item % 32 * 2) & 3;
}

/* Who knows y knows x, now and later: sets are copied and joined, and a group's with what its thread knows. Who counts behind x has to know y. */
static bool tells_of(const Checker *c, const State *s, uint32_t y, uint32_t x)
{
    for (uint32_t a = 0; a < c->nagents; a++) {
        uint32_t sets = c->place[a].sets;
        for (uint32_t k = KNOWN_ONE; k < GROUPS + s->agents[a].ngroups; k++) {
            uint32_t also = k == MINE ? bits_of(s, sets + KNOWN_EACH, x) : k > MINE ? bits_of(s, sets + KNOWN_ONE, x) : 0;
            if (bits_of(s, sets + k, y) & ~(bits_of(s, sets + k, x) | also)) return false;
        }
    }
    for (uint32_t k = c->bar_sets; k < c->nsets; k++)
        if (bits_of(s, k, c->knows[k] ? y : x) & ~bits_of(s, k, c->knows[k] ? x : y)) return false;
    return true;
}

/* Of what an op did at one place again and again the last time is enough, whether it did it then or not. */
static uint32_t join_items(const Checker *c, State *s, uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const Item *x = &s->items.v[list[i]];
        for (uint32_t j = 0; j < n && x->kind == ITEM_ACCESS; j++) {
            Item *y = &s->items.v[list[j]];
            bool same = i != j && y->kind == ITEM_ACCESS && x->agent == y->agent && x->op == y->op && x->write == y->write && x->space == y->space && x->lo == y->lo &&
                        x->hi == y->hi && x->step == y->step && x->width == y->width && x->core == y->core;
            if (!same || !tells_of(c, s, list[j], list[i])) continue;
            if (y->only != x->only) y->only = 0;
            list[i--] = list[--n];
            break;
        }
    }
    return n;
}

/* Of items that look alike: by which sets have them, first those of which states must have the same ones. */
static int member_order(const Checker *c, const State *s, uint32_t i, uint32_t j, bool knows)
{
    for (uint32_t k = 0; k < c->nsets; k++) {
        if (c->knows[k] != knows) continue;
        uint32_t x = bits_of(s, k, i), y = bits_of(s, k, j);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static int order_of(const Checker *c, const State *s, uint32_t i, uint32_t j)
{
    int o = item_order(&c->n, &s->items.v[i], &s->items.v[j]);
    if (o == 0) o = member_order(c, s, i, j, false);
    return o ? o : member_order(c, s, i, j, true);
}

static void number_items(Checker *c, State *s)
{
    uint32_t n = s->items.n, live = 0, *order = arena_array(&s->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (s->items.v[i].kind != ITEM_NONE && is_asked(c, s, i)) order[live++] = i;
    live = join_items(c, s, order, live);
    for (uint32_t i = 1; i < live; i++)
        for (uint32_t j = i; j > 0 && order_of(c, s, order[j], order[j - 1]) < 0; j--) {
            uint32_t x = order[j];
            order[j] = order[j - 1];
            order[j - 1] = x;
        }
    uint32_t words = live ? (live + 31) / 32 : 1;
    uint64_t *sets = arena_array(&s->arena, uint64_t, (size_t)c->nsets * words);
    for (uint32_t i = 0; i < live; i++)
        for (uint32_t j = 0; j < c->nsets; j++)
            sets[(size_t)j * words + i / 32] |= (uint64_t)bits_of(s, j, order[i]) << i % 32 * 2;
    Item *items = arena_array(&s->arena, Item, live + 1);
    for (uint32_t b = 0; b < c->nbars * c->nroles; b++) {
        uint32_t i = 0;
        while (i < live && order[i] + 1 != s->awaited[b].item) i++;
        s->awaited[b].item = i < live ? i + 1 : 0;
    }
    for (uint32_t i = 0; i < live; i++) items[i] = s->items.v[order[i]];
    s->sets = sets;
    s->words = words;
    s->items.v = items;
    s->items.n = live;
    s->items.cap = live + 1;
}

/* ---- names and values ---- */

enum { NAMES_MOST = 96 };

static bool is_named(const Checker *c, const State *s, const Named *x)
{
    for (uint32_t a = 0; a < c->nagents; a++) {
        if (!s->agents[a].done && c->asks[a * CLASSES + x->class] > first_ahead(s, a) && s->asked[a * CLASSES + x->class] < x->serial) return true;
    }
    return false;
}

static void tidy_names(Checker *c, State *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->named.n; i++)
        if (s->named.n - i <= NAMES_MOST && is_named(c, s, &s->named.v[i])) s->named.v[n++] = s->named.v[i];
    s->named.n = n;
    for (uint32_t a = 0; a < c->nagents * CLASSES; a++) {
        uint32_t was = s->asked[a];
        s->asked[a] = 0;
        for (uint32_t i = 0; i < n && was; i++)
            if (s->named.v[i].class == a % CLASSES && s->named.v[i].serial <= was) s->asked[a] = i + 1;
    }
    for (uint32_t i = 0; i < n; i++) s->named.v[i].serial = i + 1;
    s->serial = n;
}

static void tidy_values(Checker *c, State *s)
{
    for (uint32_t a = 0; a < c->nagents; a++) {
        const Agent *x = &s->agents[a];
        c->agent = a;
        c->pc = x->pc;
        const Code *b = &c->code.v[x->body];
        const uint32_t *live = b->live + (size_t)x->pc * b->words;
        for (uint32_t i = 0; i < b->nvalues; i++)
            s->env[x->env + i] = x->done || !(live[i / 32] >> i % 32 & 1) ? 0 : val_settled(c, s->env[x->env + i]);
        for (uint32_t i = 0, j = b->nvalues; i < c->k->vars.n; i++, j++)
            s->vars[x->vars + i] = x->done || !(live[j / 32] >> j % 32 & 1) ? 0 : val_settled(c, s->vars[x->vars + i]);
    }
}

/* Conditions of what loops change nothing about: that they hold or not is all that is kept of them. */
static void name_conditions(Checker *c, State *s)
{
    for (uint32_t a = 0; a < c->nagents && c->forgets; a++) {
        const Agent *x = &s->agents[a];
        const Code *b = &c->code.v[x->body];
        c->agent = a;
        c->pc = x->pc;
        for (uint32_t i = 0; i < b->nvalues && x->depth; i++) {
            Val *v = &s->env[x->env + i];
            if (*v && val_data(c, *v)->op != IR_CONST && interval_within(val_data(c, *v)->range, 0, 1)) *v = val_num(c, val_soft(c, *v));
        }
    }
}

/* ---- what a state looks like ---- */

static Num cell(Sig *to, Num x)
{
    if (to->put) return to->put[to->at++];
    vec_push(to->arena, &to->cells, x);
    return x;
}

static Val write_val(Checker *c, Val v, Sig *to)
{
    if (v == 0) {
        vec_push(to->arena, &to->words, UINT32_MAX);
        return v;
    }
    ValData d = *val_data(c, v);
    vec_push(to->arena, &to->words, (uint32_t)d.op | (uint32_t)d.rel << 8 | (uint32_t)d.wraps << 16);
    if (d.op == IR_CONST) return val_num(c, cell(to, d.num));
    vec_push(to->arena, &to->words, d.of);
    vec_push(to->arena, &to->words, (uint32_t)d.imm);
    Val x = write_val(c, d.a, to), y = write_val(c, d.b, to), z = write_val(c, d.c, to);
    if (x == d.a && y == d.b && z == d.c) return v;
    d.a = x, d.b = y, d.c = z;
    return val_make(c, d);
}

static void write_num(Num *x, Sig *to)
{
    vec_push(to->arena, &to->words, *x != 0);
    if (*x) *x = cell(to, *x);
}

static void write_sets(const uint64_t *set, uint32_t words, Sig *to)
{
    for (uint32_t i = 0; i < words; i++) {
        vec_push(to->arena, &to->words, (uint32_t)set[i]);
        vec_push(to->arena, &to->words, (uint32_t)(set[i] >> 32));
    }
}

static void write_agent(Checker *c, State *s, uint32_t a, Sig *to)
{
    const Agent *x = &s->agents[a];
    const Code *b = &c->code.v[x->body];
    vec_push(to->arena, &to->words, x->pc);
    vec_push(to->arena, &to->words, x->depth << 8 | x->ngroups << 2 | (uint32_t)x->blocked << 1 | x->done);
    for (uint32_t i = 0; i < x->depth; i++) {
        Frame *f = &s->frames[x->frames + i];
        vec_push(to->arena, &to->words, f->op);
        vec_push(to->arena, &to->turns, ((Turn){to->cells.n, b->first + f->op, i > 0, f->end != 0}));
        write_num(&f->at, to);
        write_num(&f->end, to);
    }
    for (uint32_t i = 0; i < b->nvalues; i++) s->env[x->env + i] = write_val(c, s->env[x->env + i], to);
    for (uint32_t i = 0; i < c->k->vars.n; i++) s->vars[x->vars + i] = write_val(c, s->vars[x->vars + i], to);
}

void states_write(Checker *c, State *s, Sig *to)
{
    for (uint32_t a = 0; a < c->nagents; a++) write_agent(c, s, a, to);
    for (uint32_t b = 0; b < c->nbars; b++) {
        Bar *x = &s->bars[b];
        vec_push(to->arena, &to->words, (uint32_t)(x->phase & 1) | (uint32_t)(x->phase == 0) << 1 | (uint32_t)x->pending << 2);
        vec_push(to->arena, &to->words, (uint32_t)x->loose);
        write_num(&x->tx, to);
        for (uint32_t r = 0; r < c->nroles; r++) {
            const Awaited *w = &s->awaited[b * c->nroles + r];
            int32_t back = w->phase == AWAITED_NONE ? -3 : w->phase - x->phase;
            vec_push(to->arena, &to->words, (uint32_t)(back < -3 ? -3 : back));
            vec_push(to->arena, &to->words, w->item);
        }
    }
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!c->knows[i]) write_sets(s->sets + (size_t)i * s->words, s->words, to);
    for (uint32_t i = 0; i < s->items.n; i++) {
        Item *x = &s->items.v[i];
        vec_push(to->arena, &to->words,
                 (uint32_t)x->kind | (uint32_t)x->write << 4 | (uint32_t)x->generic << 5 | (uint32_t)x->async << 7 | (uint32_t)x->core << 8 | (uint32_t)x->red << 16);
        vec_push(to->arena, &to->words, (uint32_t)x->space << 16 | x->agent);
        vec_push(to->arena, &to->words, x->op);
        write_num(&x->lo, to);
        write_num(&x->hi, to);
        write_num(&x->only, to);
    }
    for (uint32_t i = 0; i < s->named.n; i++) {
        Named *x = &s->named.v[i];
        vec_push(to->arena, &to->words, x->class << 8 | x->nkey);
        for (uint32_t j = 0; j < x->nkey; j++) write_num(&x->key[j], to);
        write_num(&x->num, to);
        for (uint32_t a = 0; a < c->nagents; a++) vec_push(to->arena, &to->words, s->asked[a * CLASSES + x->class]);
    }
    for (uint32_t i = 0; i < s->written.n; i++) {
        vec_push(to->arena, &to->words, s->written.v[i].space);
        write_num(&s->written.v[i].lo, to);
        write_num(&s->written.v[i].hi, to);
        write_num(&s->written.v[i].only, to);
    }
    for (uint32_t i = 0; i < s->cells.n; i++) {
        vec_push(to->arena, &to->words, s->cells.v[i].space);
        vec_push(to->arena, &to->words, (uint32_t)s->cells.v[i].at);
        s->cells.v[i].val = write_val(c, s->cells.v[i].val, to);
    }
}

/* ---- atoms ---- */

/* Whether the two stand in x as p to q, or not at all; p 0: as they do here. */
static bool in_proportion(const Numbers *n, Num x, uint32_t a, uint32_t b, int64_t *p, int64_t *q)
{
    int64_t k = num_coefficient(n, x, a), l = num_coefficient(n, x, b), far = 0, near = 0;
    if ((k == 0) != (l == 0)) return false;
    if (k && *p == 0) *p = k, *q = l;
    return mul_s64(k, *q, &far) && mul_s64(l, *p, &near) && far == near;
}

/* Atoms of which one sum alone is asked for are one. */
static bool merge(Checker *c, State *s, const Sig *sig, uint32_t a, uint32_t b)
{
    int64_t p = 0, q = 0;
    for (uint32_t i = 0; i < sig->cells.n; i++)
        if (!in_proportion(&c->n, sig->cells.v[i], a, b, &p, &q)) return false;
    for (uint32_t i = 0; i < s->facts.n; i++)
        if (num_data(&c->n, s->facts.v[i])->n > 1 && !in_proportion(&c->n, s->facts.v[i], a, b, &p, &q)) return false;
    if (p == 0) return false;
    int64_t g = gcd_s64(p, q);
    Num sum = num_add(&c->n, num_times(&c->n, p / g, num_atom(&c->n, a)), q / g, num_atom(&c->n, b)), u = num_atom(&c->n, c->natoms + ++s->fresh);
    NumMap m = {.atom = a, .other = b, .times = p / g, .y = u};
    states_map(c, s, &m);
    for (uint32_t i = 0; i < s->facts.n; i++)
        if (num_data(&c->n, s->facts.v[i])->n > 1) s->facts.v[i] = num_map(c, s->facts.v[i], &m);
    Num far = num_add(&c->n, u, -1, sum);
    facts_add(&c->n, &s->arena, &s->facts, far);
    facts_add(&c->n, &s->arena, &s->facts, num_times(&c->n, -1, far));
    facts_drop(&c->n, &s->arena, &s->facts, a);
    facts_drop(&c->n, &s->arena, &s->facts, b);
    return true;
}

static bool merge_atoms(Checker *c, State *s)
{
    bool any = false;
    Sig sig = {.arena = &s->arena};
    states_write(c, s, &sig);
    for (uint32_t a = 2; a <= s->fresh; a++)
        for (uint32_t b = 1; b < a; b++)
            if (merge(c, s, &sig, c->natoms + a, c->natoms + b)) {
                sig = (Sig){.arena = &s->arena};
                states_write(c, s, &sig);
                any = true;
                break;
            }
    return any;
}

/* Atoms are numbered as they come up; what facts say of those that don't is said of the others. */
static void number_atoms(Checker *c, State *s)
{
    Sig sig = {.arena = &s->arena};
    uint32_t *to = arena_array(&s->arena, uint32_t, s->fresh + 1), n = 0;
    bool *used = arena_array(&s->arena, bool, c->natoms + 1);
    states_write(c, s, &sig);
    for (uint32_t i = 0; i < sig.cells.n; i++) {
        const NumData *d = num_data(&c->n, sig.cells.v[i]);
        for (uint32_t j = 0; j < d->n; j++) {
            uint32_t x = d->t[j].atom;
            if (x <= c->natoms) used[x] = true;
            else if (to[x - c->natoms] == 0) to[x - c->natoms] = c->natoms + ++n;
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < s->facts.n && !more; i++) {
            const NumData *d = num_data(&c->n, s->facts.v[i]);
            for (uint32_t j = 0; j < d->n && !more; j++) {
                uint32_t x = d->t[j].atom;
                if (x <= c->natoms ? used[x] : to[x - c->natoms] != 0) continue;
                facts_drop(&c->n, &s->arena, &s->facts, x);
                more = true;
            }
        }
    }
    NumMap m = {.by_number = to};
    states_map(c, s, &m);
    for (uint32_t i = 0; i < s->facts.n; i++) s->facts.v[i] = num_map(c, s->facts.v[i], &m);
    for (uint32_t i = s->facts.n; i-- > 0;) { /* what follows from the others says nothing of how far things have come */
        Num x = s->facts.v[i];
        s->facts.v[i] = s->facts.v[--s->facts.n];
        if (facts_imply(&c->n, &s->facts, x)) continue;
        s->facts.v[s->facts.n++] = s->facts.v[i];
        s->facts.v[i] = x;
    }
    s->fresh = n;
}

void states_tidy(Checker *c, State *s)
{
    tidy_values(c, s);
    name_conditions(c, s);
    tidy_names(c, s);
    number_items(c, s);
    number_atoms(c, s);
    if (merge_atoms(c, s)) number_atoms(c, s);
}
