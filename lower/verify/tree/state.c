#include "lower/verify/tree/state.h"

uint32_t set_next(const uint64_t *s, uint32_t words, uint32_t bit)
{
    for (uint32_t i = bit / WORD; i < words; i++, bit = i * WORD) {
        uint64_t left = s[i] & ~UINT64_C(0) << bit % WORD;
        if (left) return i * WORD + (uint32_t)__builtin_ctzll(left);
    }
    return UINT32_MAX;
}

static size_t ring_words(const TreeRing *r)
{
    return (size_t)r->slots * r->size;
}

static size_t ring_bytes(const TreeRing *r)
{
    return ring_words(r) * sizeof(uint64_t) + (size_t)r->slots * r->bytes;
}

static size_t agent_words(const States *p)
{
    return (size_t)TREE_AGENTS * AGENT_SETS * p->words;
}

static RingState *ring_alloc(States *p, uint32_t ring)
{
    RingState *r = p->spare[ring];
    if (r) p->spare[ring] = r->next;
    else r = arena_alloc(p->f->a, sizeof *r + ring_bytes(&p->f->ring[ring]));
    r->users = 1;
    return r;
}

static void ring_drop(States *p, uint32_t ring, RingState *r)
{
    if (--r->users) return;
    r->next = p->spare[ring];
    p->spare[ring] = r;
}

void states_init(States *p, const TreeFacts *f)
{
    *p = (States){.f = f, .words = (f->k->rings.n + WORD - 1) / WORD, .spare = arena_array(f->a, RingState *, f->k->rings.n)};
}

static State *state_alloc(States *p)
{
    State *s = p->spares;
    if (s) {
        p->spares = s->next;
        return s;
    }
    size_t rings = p->f->k->rings.n * sizeof *s->ring;
    s = arena_alloc(p->f->a, sizeof *s + rings + agent_words(p) * sizeof *s->agents);
    s->agents = (uint64_t *)(void *)((char *)s->ring + rings);
    return s;
}

State *state_new(States *p)
{
    State *s = state_alloc(p);
    for (uint32_t i = 0; i < p->f->k->rings.n; i++) {
        s->ring[i] = ring_alloc(p, i);
        marks(generation(p, s, i, 0))->never = true;
    }
    return s;
}

State *state_copy(States *p, State *s)
{
    State *t = state_alloc(p);
    for (uint32_t i = 0; i < p->f->k->rings.n; i++) {
        t->ring[i] = s->ring[i];
        t->ring[i]->users++;
    }
    memcpy(t->agents, s->agents, agent_words(p) * sizeof *t->agents);
    return t;
}

void state_drop(States *p, State *s)
{
    for (uint32_t i = 0; i < p->f->k->rings.n; i++) ring_drop(p, i, s->ring[i]);
    s->next = p->spares;
    p->spares = s;
}

void state_own(States *p, State *s, uint32_t ring)
{
    RingState *old = s->ring[ring];
    if (old->users == 1) return;
    s->ring[ring] = ring_alloc(p, ring);
    memcpy(s->ring[ring]->v, old->v, ring_bytes(&p->f->ring[ring]));
    old->users--;
}

void state_begin(States *p, State *s, uint32_t ring)
{
    const TreeRing *r = &p->f->ring[ring];
    Generation g = generation(p, s, ring, 0);
    memmove(g.w + r->size, g.w, (size_t)(r->slots - 1) * r->size * sizeof *g.w);
    memmove(g.b + r->bytes, g.b, (size_t)(r->slots - 1) * r->bytes);
    memset(g.w, 0, r->size * sizeof *g.w);
    memset(g.b, 0, r->bytes);
}

bool state_meet(States *p, State *s, State *t)
{
    uint64_t more = 0;
    for (uint32_t i = 0; i < p->f->k->rings.n; i++) {
        const TreeRing *r = &p->f->ring[i];
        if (s->ring[i] == t->ring[i]) continue;
        state_own(p, s, i);
        Generation g = generation(p, s, i, 0), o = generation(p, t, i, 0);
        for (size_t j = 0; j < ring_words(r); j++) {
            more |= o.w[j] & ~g.w[j];
            g.w[j] |= o.w[j];
        }
        for (size_t j = 0; j < (size_t)r->slots * r->bytes; j++) {
            more |= o.b[j] > g.b[j];
            if (o.b[j] > g.b[j]) g.b[j] = o.b[j];
        }
    }
    for (size_t i = 0; i < agent_words(p); i++) {
        more |= t->agents[i] & ~s->agents[i];
        s->agents[i] |= t->agents[i];
    }
    state_drop(p, t);
    return more != 0;
}
