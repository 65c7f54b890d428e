/* What nobody asks any more is forgotten, and the rest numbered in one way, so that states in which the same happens look the same. */
#include <stdlib.h>

#include "lang/checked.h"
#include "lower/verify/states/steps/steps.h"

/* ---- items ---- */

/* To all who may still have to do with what lies there, and somebody. */
static bool known_to(const Checker *c, const State *s, uint32_t a, uint32_t i)
{
    bool over, fenced;
    item_known(c, s, a, i, &over, &fenced);
    return over && (fenced || !(s->items.v[i].generic || s->items.v[i].core));
}

static bool known_to_all(const Checker *c, const State *s, uint32_t i)
{
    const Item *x = &s->items.v[i];
    bool all = x->core != CORE_OPEN, some = false;
    for (uint32_t a = 0; a < c->nagents && all; a++) {
        some |= s->agents[a].cta == x->space % c->nctas && set_has(set_of(c, s, a, KNOWN_ONE), 2 * i);
        all &= s->agents[a].done || c->touches[touch_of(c, a, x->space, x->buf)] <= first_ahead(s, a) || known_to(c, s, a, i);
    }
    for (uint32_t a = 0; a < c->nagents && all && some; a++)
        if (!s->agents[a].done && !known_to(c, s, a, i)) c->no_touches[touch_of(c, a, x->space, x->buf)] = true;
    return all && some;
}

/* What counts on a phase, or did on the one before. */
static uint64_t *counting(const Checker *c, const State *s)
{
    uint64_t *all = arena_array(&c->st->arena, uint64_t, s->words);
    for (uint32_t b = 0; b < s->bars.n; b++) {
        set_join(all, bar_row(c, s, b, ARRIVED), s->words);
        set_join(all, bar_row(c, s, b, BEFORE), s->words);
    }
    return all;
}

static bool is_asked(Checker *c, State *s, uint32_t i, const uint64_t *counting)
{
    const Item *x = &s->items.v[i];
    if (x->kind == ITEM_ACCESS && !(x->space == global_space(c) ? global_over(c, i) : known_to_all(c, s, i))) return true;
    if (x->kind != ITEM_WAIT) {
        item_over(s, i, set_has(counting, 2 * i));
        return x->kind != ITEM_NONE;
    }
    for (uint32_t r = 0; r < c->nroles && s->bar_at[x->op]; r++) {
        const Awaited *w = awaited_in(c, s, x->op, r);
        if (w->item == i + 1) return w->phase - bar_in(s, x->op)->phase > -3;
    }
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
    for (uint32_t i = 0; i < LEVELS && o == 0; i++) o = num_order(n, x->turn[i][0], y->turn[i][0]);
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
    for (uint32_t k = c->bar_sets; k < all_sets(c, s); k++)
        if (bits_of(s, k, is_knowledge(c, k) ? y : x) & ~bits_of(s, k, is_knowledge(c, k) ? x : y)) return false;
    return true;
}

/* Of items that look alike: by which sets have them, first those of which states must have the same ones. */
static int member_order(const Checker *c, const State *s, uint32_t i, uint32_t j, bool knows)
{
    for (uint32_t k = 0; k < all_sets(c, s); k++) {
        if (is_knowledge(c, k) != knows) continue;
        uint32_t x = bits_of(s, k, i), y = bits_of(s, k, j);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static bool alike(const Checker *c, const State *s, uint32_t i, uint32_t j)
{
    return member_order(c, s, i, j, false) == 0 && member_order(c, s, i, j, true) == 0;
}

/* Of what an op did at one place again and again the last time is enough, whether it did it then or not. */
static uint32_t join_items(Checker *c, State *s, uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const Item *x = &s->items.v[list[i]];
        for (uint32_t j = 0; j < n && x->kind == ITEM_ACCESS; j++) {
            Item *y = &s->items.v[list[j]];
            bool same = i != j && y->kind == ITEM_ACCESS && x->agent == y->agent && x->op == y->op && x->write == y->write && x->space == y->space &&
                        x->step == y->step && x->width == y->width && x->core == y->core;
            bool one = same && x->lo == y->lo && x->hi == y->hi && memcmp(x->turn, y->turn, sizeof x->turn) == 0 && tells_of(c, s, list[j], list[i]);
            if (!one && !(same && x->space == global_space(c) && alike(c, s, list[i], list[j]) && turns_join(c, &s->items.v[list[i]], y))) continue;
            if (y->only != x->only) y->only = 0;
            list[i--] = list[--n];
            break;
        }
    }
    return n;
}

static int order_of(const Checker *c, const State *s, uint32_t i, uint32_t j)
{
    int o = item_order(&c->n, &s->items.v[i], &s->items.v[j]);
    if (o == 0) o = member_order(c, s, i, j, false);
    return o ? o : member_order(c, s, i, j, true);
}

static void sort_items(const Checker *c, const State *s, uint32_t *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = list[i], from = 0, to = i; /* behind all that are not behind it */
        while (from < to) {
            uint32_t mid = from + (to - from) / 2;
            if (order_of(c, s, x, list[mid]) < 0) to = mid;
            else from = mid + 1;
        }
        memmove(list + from + 1, list + from, (i - from) * sizeof *list);
        list[from] = x;
    }
}

static void number_sets(const Checker *c, State *s, const uint32_t *order, uint32_t live)
{
    uint32_t words = live ? (live + 31) / 32 : 1, nsets = all_sets(c, s);
    uint64_t *sets = arena_array(&s->arena, uint64_t, (size_t)nsets * words);
    for (uint32_t j = 0; j < nsets; j++) {
        const uint64_t *row = s->sets + (size_t)j * s->words;
        uint64_t any = 0;
        for (uint32_t i = 0; i < s->words; i++) any |= row[i];
        for (uint32_t i = 0; i < live && any; i++) sets[(size_t)j * words + i / 32] |= (uint64_t)bits_of(s, j, order[i]) << i % 32 * 2;
    }
    s->sets = sets;
    s->words = words;
    s->rows = nsets;
}

static void number_items(Checker *c, State *s)
{
    uint32_t n = s->items.n, live = 0, *order = arena_array(&s->arena, uint32_t, n + 1), *now = arena_array(&s->arena, uint32_t, n + 1);
    const uint64_t *counts = counting(c, s);
    for (uint32_t i = 0; i < n; i++)
        if (s->items.v[i].kind != ITEM_NONE && is_asked(c, s, i, counts)) order[live++] = i;
    live = join_items(c, s, order, live);
    sort_items(c, s, order, live);
    number_sets(c, s, order, live);
    Item *items = arena_array(&s->arena, Item, live + 1);
    for (uint32_t i = 0; i < live; i++) {
        items[i] = s->items.v[order[i]];
        now[order[i]] = i + 1;
    }
    for (uint32_t b = 0; b < s->bars.n * c->nroles; b++)
        if (s->awaited[b].item) s->awaited[b].item = now[s->awaited[b].item - 1];
    s->items.v = items;
    s->items.n = live;
    s->items.cap = live + 1;
}

/* ---- what was written ---- */

/* Somebody may still come to what lies there. */
static bool may_read(const Checker *c, const State *s, const Piece *p)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        if (!s->agents[a].done && c->buf_last[s->agents[a].body * c->k->bufs.n + p->buf] > first_ahead(s, a)) return true;
    return false;
}

static void tidy_pieces(const Checker *c, State *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->written.n; i++)
        if (may_read(c, s, &s->written.v[i])) s->written.v[n++] = s->written.v[i];
    s->written.n = n;
}

/* ---- names and values ---- */

enum { NAMES_MOST = 96 };

static bool in_terms(const Checker *c, Num x, Num of)
{
    const NumData *d = num_data(&c->n, of);
    return x && d->n == 1 && num_coefficient(&c->n, x, d->t[0].atom);
}

/* Something was written under that condition: who reads it asks again. */
static bool of_written(const Checker *c, const State *s, Num x)
{
    for (uint32_t i = 0; i < s->written.n; i++)
        if (in_terms(c, s->written.v[i].only, x)) return true;
    return false;
}

/* Whether somebody may ask for it; for the first time, or again: a loop in a loop begins anew. */
static bool is_named(const Checker *c, const State *s, const Named *x, bool again)
{
    for (uint32_t a = 0; a < c->nagents; a++) {
        uint32_t i = a * CLASSES + x->class;
        if (!s->agents[a].done && c->asks[i] > first_ahead(s, a) && (again || s->asked[i] < x->serial)) return true;
    }
    return false;
}

static void not_named(Checker *c, const State *s, const Named *x, bool again)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        if (!s->agents[a].done && (again || s->asked[a * CLASSES + x->class] < x->serial)) c->no_asks[a * CLASSES + x->class] = true;
}

static void tidy_names(Checker *c, State *s)
{
    uint32_t n = 0;
    bool *stays = arena_array(&s->arena, bool, s->named.n + 1), *again = arena_array(&s->arena, bool, s->named.n + 1);
    for (uint32_t i = s->named.n; i-- > 0 && s->named.n - i <= NAMES_MOST;) { /* what one is made of is older */
        const Named *x = &s->named.v[i];
        again[i] |= of_written(c, s, x->num);
        stays[i] = is_named(c, s, x, again[i]);
        for (uint32_t j = 0; j < i && stays[i] && again[i]; j++)
            for (uint32_t k = 0; k < x->nkey; k++) again[j] |= in_terms(c, x->key[k], s->named.v[j].num);
    }
    for (uint32_t i = 0; i < s->named.n; i++) {
        c->forgot |= !stays[i] && s->named.v[i].op == IR_OP_COUNT && is_named(c, s, &s->named.v[i], true);
        if (stays[i]) s->named.v[n++] = s->named.v[i];
        else not_named(c, s, &s->named.v[i], again[i]);
    }
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

/* It is made of several numbers, and some of them have no name any more. */
static bool is_mixed(const Checker *c, const State *s, Num x)
{
    const NumData *d = x ? num_data(&c->n, x) : NULL;
    for (uint32_t i = 0; d && d->n > 1 && i < d->n; i++) {
        bool named = d->t[i].atom <= c->natoms;
        for (uint32_t j = 0; j < s->named.n && !named; j++) named = num_coefficient(&c->n, s->named.v[j].num, d->t[i].atom);
        if (!named) return true;
    }
    return false;
}

/* Conditions that nobody can ask for again are one number each. */
static void tidy_conditions(Checker *c, State *s)
{
    for (uint32_t i = 0; i < s->items.n + s->written.n; i++) {
        Num was = i < s->items.n ? s->items.v[i].only : s->written.v[i - s->items.n].only;
        if (!is_mixed(c, s, was)) continue;
        Num one = num_atom(&c->n, c->natoms + ++s->fresh);
        facts_add(&c->n, &s->arena, &s->facts, one);
        facts_add(&c->n, &s->arena, &s->facts, num_add(&c->n, num_const(&c->n, 1), -1, one));
        for (uint32_t j = 0; j < s->items.n; j++)
            if (s->items.v[j].only == was) s->items.v[j].only = one;
        for (uint32_t j = 0; j < s->written.n; j++)
            if (s->written.v[j].only == was) s->written.v[j].only = one;
    }
}

static void tidy_values(Checker *c, State *s)
{
    c->nsteps++;
    for (uint32_t a = 0; a < c->nagents; a++) {
        const Agent *x = &s->agents[a];
        c->agent = a;
        c->pc = x->pc;
        const Code *b = &c->code.v[x->body];
        const uint32_t *live = b->live + (size_t)x->pc * b->words;
        for (uint32_t i = 0; i < b->slots; i++)
            s->env[x->env + i] = x->done || !(live[i / 32] >> i % 32 & 1) ? 0 : val_settled(c, s->env[x->env + i]);
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
    vec_push(to->arena, &to->words, (uint32_t)((uint64_t)d.imm >> 32));
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
    for (uint32_t i = 0; i < b->slots; i++) s->env[x->env + i] = write_val(c, s->env[x->env + i], to);
}

void states_write(Checker *c, State *s, Sig *to)
{
    for (uint32_t a = 0; a < c->nagents; a++) write_agent(c, s, a, to);
    for (uint32_t b = 0; b < s->bars.n; b++) {
        Bar *x = &s->bars.v[b];
        vec_push(to->arena, &to->words, x->slot);
        vec_push(to->arena, &to->words, (uint32_t)(x->phase & 1) | (uint32_t)(x->phase == 0) << 1 | (uint32_t)x->pending << 2);
        vec_push(to->arena, &to->words, (uint32_t)x->loose);
        vec_push(to->arena, &to->words, (uint32_t)(x->loose >> 32));
        vec_push(to->arena, &to->words, (uint32_t)x->due);
        write_num(&x->tx, to);
        for (uint32_t r = 0; r < c->nroles; r++) {
            const Awaited *w = &s->awaited[b * c->nroles + r];
            int32_t back = w->phase == AWAITED_NONE ? -3 : w->phase - x->phase;
            vec_push(to->arena, &to->words, (uint32_t)(back < -3 ? -3 : back));
            vec_push(to->arena, &to->words, w->item);
        }
    }
    for (uint32_t i = 0; i < all_sets(c, s); i++)
        if (!is_knowledge(c, i)) write_sets(s->sets + (size_t)i * s->words, s->words, to);
    for (uint32_t i = 0; i < s->items.n; i++) {
        Item *x = &s->items.v[i];
        vec_push(to->arena, &to->words,
                 (uint32_t)x->kind | (uint32_t)x->write << 4 | (uint32_t)x->generic << 5 | (uint32_t)x->async << 7 | (uint32_t)x->core << 8 | (uint32_t)x->red << 16);
        vec_push(to->arena, &to->words, (uint32_t)x->space << 16 | x->agent);
        vec_push(to->arena, &to->words, x->op);
        vec_push(to->arena, &to->words, x->step);
        vec_push(to->arena, &to->words, x->width);
        write_num(&x->lo, to);
        write_num(&x->hi, to);
        write_num(&x->only, to);
        for (uint32_t j = 0; j < 2 * LEVELS && x->space == global_space(c); j++) {
            if (x->turn[j / 2][j % 2]) vec_push(to->arena, &to->ranges, to->cells.n);
            write_num(&x->turn[j / 2][j % 2], to);
        }
    }
    for (uint32_t i = 0; i < s->named.n; i++) {
        Named *x = &s->named.v[i];
        vec_push(to->arena, &to->words, x->class << 8 | x->nkey);
        for (uint32_t j = 0; j < x->nkey; j++) write_num(&x->key[j], to);
        write_num(&x->num, to);
        for (uint32_t a = 0; a < c->nagents; a++) vec_push(to->arena, &to->words, s->asked[a * CLASSES + x->class]);
    }
    for (uint32_t i = 0; i < s->written.n; i++) {
        vec_push(to->arena, &to->words, (uint32_t)s->written.v[i].space << 16 | s->written.v[i].buf);
        vec_push(to->arena, &to->words, s->written.v[i].step);
        vec_push(to->arena, &to->words, s->written.v[i].width);
        vec_push(to->arena, &to->words, s->written.v[i].shape);
        write_num(&s->written.v[i].lo, to);
        write_num(&s->written.v[i].hi, to);
        write_num(&s->written.v[i].only, to);
    }
    for (uint32_t i = 0; i < s->cells.n; i++) {
        vec_push(to->arena, &to->words, s->cells.v[i].space);
        vec_push(to->arena, &to->words, (uint32_t)s->cells.v[i].at);
        vec_push(to->arena, &to->words, (uint32_t)s->cells.v[i].read);
        vec_push(to->arena, &to->words, (uint32_t)(s->cells.v[i].read >> 32));
        s->cells.v[i].val = write_val(c, s->cells.v[i].val, to);
    }
    for (uint32_t i = 0; i < c->natoms; i++) {
        bool wanted = launch_wanted(c, s, i + 1);
        vec_push(to->arena, &to->words, wanted);
        if (wanted) s->launch[i] = cell(to, s->launch[i]);
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

static void add_places(const Numbers *n, Num x, uint64_t place, const Checker *c, uint64_t *places)
{
    const NumData *d = num_data(n, x);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->t[i].atom > c->natoms) places[d->t[i].atom - c->natoms] += (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* By atom, a sum of the places where it stands: those that stand in proportion have the same. */
static uint64_t *places_of(Checker *c, State *s, Sig *sig)
{
    uint64_t *places = arena_array(&s->arena, uint64_t, s->fresh + 1);
    *sig = (Sig){.arena = &s->arena};
    states_write(c, s, sig);
    for (uint32_t i = 0; i < sig->cells.n; i++) add_places(&c->n, sig->cells.v[i], i, c, places);
    for (uint32_t i = 0; i < s->facts.n; i++)
        if (num_data(&c->n, s->facts.v[i])->n > 1) add_places(&c->n, s->facts.v[i], sig->cells.n + i, c, places);
    return places;
}

static bool merge_atoms(Checker *c, State *s)
{
    bool any = false;
    Sig sig;
    const uint64_t *places = places_of(c, s, &sig);
    for (uint32_t a = 2; a <= s->fresh; a++)
        for (uint32_t b = 1; b < a; b++)
            if (places[a] && places[a] == places[b] && merge(c, s, &sig, c->natoms + a, c->natoms + b)) {
                places = places_of(c, s, &sig);
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
    for (uint32_t i = 0; i < c->natoms && c->narrow; i++) /* which launches come here */
        if (s->launch[i]) vec_push(sig.arena, &sig.cells, s->launch[i]);
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

static bool is_open(const Checker *c, const State *s, const Bar *b)
{
    uint32_t bar = (uint32_t)(bar_info(c, b->slot) - c->k->bars.v);
    int64_t k;
    bool used = (c->nctas > 1 && !c->meets) || b->pending != (int32_t)c->count[b->slot % c->nslots] || !num_is(&c->n, b->tx, &k) || k;
    for (uint32_t a = 0; a < c->nagents && !used; a++) used = !s->agents[a].done && c->bar_last[s->agents[a].body * c->k->bars.n + bar] > first_ahead(s, a);
    return used;
}

/* Of a barrier that nobody comes to any more it is only asked whether its phases are whole; the others stand in order. */
static void tidy_bars(Checker *c, State *s)
{
    State was = *s;
    uint32_t n = 0, *order = arena_array(&s->arena, uint32_t, was.bars.n + 1);
    for (uint32_t i = 0; i < was.bars.n; i++) {
        uint32_t slot = was.bars.v[i].slot, j = n;
        s->bar_at[slot] = 0;
        if (!is_open(c, s, &was.bars.v[i])) continue;
        for (n++; j > 0 && was.bars.v[order[j - 1]].slot > slot; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    s->rows = c->bar_sets + n * BAR_SETS;
    s->bars.v = arena_array(&s->arena, Bar, n + 1);
    s->bars.n = s->bars.cap = n;
    s->awaited = arena_array(&s->arena, Awaited, n * c->nroles + 1);
    s->sets = arena_array(&s->arena, uint64_t, (size_t)s->rows * s->words + 1);
    memcpy(s->sets, was.sets, (size_t)c->bar_sets * s->words * sizeof *s->sets);
    for (uint32_t i = 0; i < n; i++) {
        s->bars.v[i] = was.bars.v[order[i]];
        s->bars.v[i].some = 0;
        s->bar_at[s->bars.v[i].slot] = i + 1;
        memcpy(s->awaited + i * c->nroles, was.awaited + order[i] * c->nroles, c->nroles * sizeof *s->awaited);
        memcpy(bar_row(c, s, i, 0), bar_row(c, &was, order[i], 0), (size_t)BAR_SETS * s->words * sizeof *s->sets);
    }
}

void states_tidy(Checker *c, State *s)
{
    tidy_bars(c, s);
    tidy_pieces(c, s);
    tidy_values(c, s);
    tidy_names(c, s);
    tidy_conditions(c, s);
    number_items(c, s);
    number_atoms(c, s);
    if (merge_atoms(c, s)) number_atoms(c, s);
    s->items_kept = s->items.n;
    s->facts_kept = s->facts.n;
}
