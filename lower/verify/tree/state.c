#include "lower/verify/tree/state.h"

#include <string.h>

/* ---- sets of keys ---- */

static uint32_t place(const Keys *s, Key k)
{
    uint32_t lo = 0, hi = s->n;
    if (hi && s->v[hi - 1] < k) return hi;
    while (lo < hi) {
        uint32_t at = (lo + hi) / 2;
        if (s->v[at] < k) lo = at + 1;
        else hi = at;
    }
    return lo;
}

void keys_add(Arena *a, Keys *s, Key k)
{
    uint32_t at = place(s, k);
    if (at < s->n && s->v[at] == k) return;
    if (s->n == s->cap) s->v = vec_grow(a, s->v, &s->cap, sizeof *s->v);
    memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof *s->v);
    s->v[at] = k;
    s->n++;
}

void keys_drop(Keys *s, Key k)
{
    uint32_t at = place(s, k);
    if (at == s->n || s->v[at] != k) return;
    memmove(s->v + at, s->v + at + 1, (s->n - at - 1) * sizeof *s->v);
    s->n--;
}

bool keys_have(const Keys *s, Key k)
{
    uint32_t at = place(s, k);
    return at < s->n && s->v[at] == k;
}

void keys_unite(Arena *a, Keys *s, const Keys *t)
{
    uint32_t more = 0;
    for (uint32_t i = 0, at = 0; i < t->n; i++) {
        while (at < s->n && s->v[at] < t->v[i]) at++;
        more += at == s->n || s->v[at] != t->v[i];
    }
    if (more == 0) return;
    while (s->cap < s->n + more) s->v = vec_grow(a, s->v, &s->cap, sizeof *s->v);
    uint32_t to = s->n + more;
    for (uint32_t i = t->n, at = s->n; i-- > 0;) { /* from the end: each goes behind what is still to be looked at */
        while (at && s->v[at - 1] > t->v[i]) s->v[--to] = s->v[--at];
        if (at && s->v[at - 1] == t->v[i]) at--;
        s->v[--to] = t->v[i];
    }
    s->n += more;
}

void keys_meet(Keys *s, const Keys *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (keys_have(t, s->v[i])) s->v[n++] = s->v[i];
    s->n = n;
}

bool keys_same(const Keys *s, const Keys *t)
{
    return s->n == t->n && (s->n == 0 || memcmp(s->v, t->v, s->n * sizeof *s->v) == 0);
}

static Keys keys_copy(Arena *a, const Keys *s)
{
    Keys t = {.n = s->n, .cap = s->n};
    if (s->n) {
        t.v = arena_array(a, Key, s->n);
        memcpy(t.v, s->v, s->n * sizeof *s->v);
    }
    return t;
}

/* The same, in the room that s had. */
static Keys keys_copy_into(Arena *a, Keys s, const Keys *from)
{
    if (s.cap < from->n) return keys_copy(a, from);
    if (from->n) memcpy(s.v, from->v, from->n * sizeof *s.v);
    s.n = from->n;
    return s;
}

/* ---- rings ---- */

static uint32_t slots_of(const TreeFacts *f, uint32_t ring)
{
    return f->k->rings.v[ring].slots;
}

static RingState *ring_alloc(const TreeFacts *f, uint32_t ring)
{
    uint32_t n = slots_of(f, ring), events = f->ring[ring].nevents;
    TreeRing *info = &f->ring[ring];
    if (info->idle.n) {
        RingState *r = info->idle.v[--info->idle.n];
        r->users = 1;
        return r;
    }
    RingState *r = arena_alloc(f->a, sizeof *r + n * sizeof *r->gen);
    TreeEvent *event = arena_array(f->a, TreeEvent, (size_t)n * events);
    r->users = 1;
    for (uint32_t i = 0; i < n; i++) r->gen[i].event = event + (size_t)i * events;
    return r;
}

static void generation_copy(const TreeFacts *f, uint32_t ring, Generation *to, const Generation *from)
{
    Generation had = *to;
    *to = *from;
    to->event = had.event;
    for (uint32_t a = 0; a < TREE_AGENTS; a++) {
        for (int k = 0; k < KINDS; k++) to->unknown[a][k] = keys_copy_into(f->a, had.unknown[a][k], &from->unknown[a][k]);
        to->said[a] = keys_copy_into(f->a, had.said[a], &from->said[a]);
    }
    for (uint32_t e = 0; e < f->ring[ring].nevents; e++) {
        TreeEvent event = to->event[e];
        to->event[e] = from->event[e];
        to->event[e].unheard = keys_copy_into(f->a, event.unheard, &from->event[e].unheard);
        to->event[e].part = keys_copy_into(f->a, event.part, &from->event[e].part);
    }
    bool room = had.outs.cap >= from->outs.n;
    to->outs.v = room ? had.outs.v : arena_array(f->a, Out, from->outs.n);
    to->outs.cap = room ? had.outs.cap : from->outs.n;
    if (from->outs.n) memcpy(to->outs.v, from->outs.v, from->outs.n * sizeof *from->outs.v);
}

RingState *state_ring(const TreeFacts *f, State *s, uint32_t ring)
{
    RingState *old = s->ring[ring];
    if (old->users == 1) return old;
    RingState *r = ring_alloc(f, ring);
    r->begun = old->begun;
    r->now = old->now;
    for (uint32_t i = 0; i < slots_of(f, ring); i++) generation_copy(f, ring, &r->gen[i], &old->gen[i]);
    old->users--;
    return s->ring[ring] = r;
}

Out *outs_at(const TreeFacts *f, Generation *g, Key k, bool *is_new)
{
    uint32_t lo = 0, hi = g->outs.n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (g->outs.v[mid].key < k) lo = mid + 1;
        else hi = mid;
    }
    *is_new = lo == g->outs.n || g->outs.v[lo].key != k;
    if (!*is_new) return &g->outs.v[lo];
    vec_add(f->a, &g->outs);
    memmove(g->outs.v + lo + 1, g->outs.v + lo, (g->outs.n - 1 - lo) * sizeof *g->outs.v);
    return &g->outs.v[lo];
}

static void outs_meet(const TreeFacts *f, Generation *g, const Generation *o)
{
    for (uint32_t i = 0; i < o->outs.n; i++) {
        const Out *y = &o->outs.v[i];
        bool is_new;
        Out *x = outs_at(f, g, y->key, &is_new);
        if (is_new || y->age < x->age) *x = *y;
    }
}

static void generation_meet(const TreeFacts *f, uint32_t ring, Generation *g, const Generation *o)
{
    for (uint32_t a = 0; a < f->k->roles.n; a++) {
        for (int k = 0; k < KINDS; k++) keys_unite(f->a, &g->unknown[a][k], &o->unknown[a][k]);
        keys_unite(f->a, &g->said[a], &o->said[a]);
        g->awaited[a] &= o->awaited[a];
    }
    g->released |= o->released;
    g->held |= o->held;
    g->late |= o->late;
    g->apart |= o->apart;
    for (uint32_t r = 0; r < TREE_RANKS; r++)
        if (o->freed[r] < g->freed[r]) g->freed[r] = o->freed[r];
    g->done |= o->done;
    g->busy |= o->busy;
    for (uint32_t e = 0; e < f->ring[ring].nevents; e++) {
        TreeEvent *x = &g->event[e];
        const TreeEvent *y = &o->event[e];
        x->silent |= y->silent;
        keys_unite(f->a, &x->unheard, &y->unheard);
        keys_unite(f->a, &x->part, &y->part);
        x->told &= y->told;
        for (uint32_t r = 0; r < TREE_RANKS; r++) {
            if (y->few[r] < x->few[r]) x->few[r] = y->few[r];
            if (y->most[r] > x->most[r]) x->most[r] = y->most[r];
        }
        x->arrived |= y->arrived;
        x->expects |= y->expects;
    }
    outs_meet(f, g, o);
}

static bool generation_same(const TreeFacts *f, uint32_t ring, const Generation *g, const Generation *o)
{
    bool same = memcmp(g->freed, o->freed, sizeof g->freed) == 0 && g->released == o->released && g->held == o->held && g->late == o->late && g->apart == o->apart && g->done == o->done && g->busy == o->busy && g->outs.n == o->outs.n;
    for (uint32_t a = 0; a < f->k->roles.n && same; a++) {
        for (int k = 0; k < KINDS; k++) same = same && keys_same(&g->unknown[a][k], &o->unknown[a][k]);
        same = same && keys_same(&g->said[a], &o->said[a]) && g->awaited[a] == o->awaited[a];
    }
    for (uint32_t e = 0; e < f->ring[ring].nevents && same; e++) {
        const TreeEvent *x = &g->event[e], *y = &o->event[e];
        same = x->silent == y->silent && memcmp(x->few, y->few, sizeof x->few) == 0 && memcmp(x->most, y->most, sizeof x->most) == 0 && x->arrived == y->arrived && x->expects == y->expects &&
               keys_same(&x->unheard, &y->unheard) && keys_same(&x->part, &y->part) && x->told == y->told;
    }
    for (uint32_t i = 0; i < g->outs.n && same; i++)
        same = g->outs.v[i].key == o->outs.v[i].key && g->outs.v[i].age == o->outs.v[i].age;
    return same;
}

/* ---- records ---- */

State *state_new(const TreeFacts *f)
{
    State *s = arena_new(f->a, State);
    s->ring = arena_array(f->a, RingState *, f->k->rings.n);
    for (uint32_t i = 0; i < f->k->rings.n; i++) {
        s->ring[i] = ring_alloc(f, i);
        for (uint32_t b = 0; b < slots_of(f, i); b++) { /* of a generation that never was all is known */
            Generation *g = &s->ring[i]->gen[b];
            memset(g->awaited, UINT8_MAX, sizeof g->awaited);
            for (uint32_t r = 0; r < TREE_RANKS; r++) g->freed[r] = UINT16_MAX;
        }
    }
    return s;
}

State *state_copy(const TreeFacts *f, State *s)
{
    State *t = arena_new(f->a, State);
    *t = *s;
    t->ring = arena_array(f->a, RingState *, f->k->rings.n);
    for (uint32_t i = 0; i < f->k->rings.n; i++) {
        t->ring[i] = s->ring[i];
        t->ring[i]->users++;
    }
    for (uint32_t a = 0; a < TREE_AGENTS; a++) {
        t->agent[a].touched = keys_copy(f->a, &s->agent[a].touched);
        t->agent[a].unfenced = keys_copy(f->a, &s->agent[a].unfenced);
        t->agent[a].out = keys_copy(f->a, &s->agent[a].out);
    }
    return t;
}

void state_drop(const TreeFacts *f, State *s)
{
    for (uint32_t i = 0; i < f->k->rings.n; i++)
        if (--s->ring[i]->users == 0) vec_push(f->a, &f->ring[i].idle, s->ring[i]);
}

void state_meet(const TreeFacts *f, State *s, State *t)
{
    for (uint32_t i = 0; i < f->k->rings.n; i++) {
        if (s->ring[i] == t->ring[i]) continue;
        RingState *r = state_ring(f, s, i), *o = t->ring[i];
        for (uint32_t back = 0; back < slots_of(f, i); back++) generation_meet(f, i, generation(f, r, i, back), generation(f, o, i, back));
        r->begun = r->begun && o->begun;
    }
    for (uint32_t a = 0; a < TREE_AGENTS; a++) {
        keys_unite(f->a, &s->agent[a].touched, &t->agent[a].touched);
        keys_unite(f->a, &s->agent[a].unfenced, &t->agent[a].unfenced);
        keys_unite(f->a, &s->agent[a].out, &t->agent[a].out);
    }
    state_drop(f, t);
}

bool state_same(const TreeFacts *f, const State *s, const State *t)
{
    bool same = true;
    for (uint32_t i = 0; i < f->k->rings.n && same; i++) {
        if (s->ring[i] == t->ring[i]) continue;
        same = s->ring[i]->begun == t->ring[i]->begun;
        for (uint32_t back = 0; back < slots_of(f, i) && same; back++)
            same = generation_same(f, i, generation(f, s->ring[i], i, back), generation(f, t->ring[i], i, back));
    }
    for (uint32_t a = 0; a < TREE_AGENTS && same; a++)
        same = keys_same(&s->agent[a].touched, &t->agent[a].touched) && keys_same(&s->agent[a].unfenced, &t->agent[a].unfenced) &&
               keys_same(&s->agent[a].out, &t->agent[a].out);
    return same;
}
