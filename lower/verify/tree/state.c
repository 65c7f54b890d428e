#include "lower/verify/tree/state.h"

uint32_t set_next(const uint64_t *s, uint32_t words, uint32_t bit)
{
    for (uint32_t i = bit / WORD; i < words; i++, bit = i * WORD) {
        uint64_t left = s[i] & ~UINT64_C(0) << bit % WORD;
        if (left) return i * WORD + (uint32_t)__builtin_ctzll(left);
    }
    return UINT32_MAX;
}

void state_lay_out(Arena *a, TreeRing *r, uint32_t agents)
{
    r->at_unheard = MARKS;
    for (uint32_t i = 0; i < agents; i++) {
        r->at_unknown[i] = r->at_unheard;
        if (r->used & bit(i)) r->at_unheard += r->ctas * (uint32_t)knowers_of(r, i) * r->words;
    }
    r->at_part = r->at_unheard + r->hears * r->ctas * r->words;
    r->at_announced = r->at_part + r->senders.n * r->words;
    r->at_bytes = r->at_announced + (r->announced.n + WORD - 1) / WORD;
    r->size = r->at_bytes + (2 * (r->nevents + 1) * r->ctas + r->outs.n + 7) / 8;
    Generation g = {r, r->begun_as = arena_array(a, uint64_t, r->size)};
    *marks(g) = (Marks){.busy = r->used};
    memcpy(marks(g)->missed, r->waits, sizeof r->waits);
    for (uint32_t b = FACTS; b < passed_bit(r, r->ctas); b++) set_add(g.w + MARKS, b);
    for (Set u = g.w + MARKS + r->words; u < unheard_of(g, 0, 0); u += r->words) memcpy(u, g.w + MARKS, r->words * sizeof *u);
    for (uint32_t i = 0; i < agents * r->ctas * KNOWERS && r->tensor; i++) /* all threads of a CTA know of its tensor memory: they have its address */
        if (r->used & bit(i / KNOWERS / r->ctas)) set_drop(unknown_of(g, i / KNOWERS / r->ctas, i / KNOWERS % r->ctas, (int)(i % KNOWERS)), free_bit(i / KNOWERS % r->ctas));
    memset(unheard_of(g, 0, 0), UINT8_MAX, (r->at_part - r->at_unheard) * sizeof *g.w);
    for (uint32_t i = 0; i < r->senders.n; i++) set_add(part_of(g, i), SILENT);
    for (uint32_t e = 0; e <= r->nevents; e++) memset(few_of(g, e), FEW_MAX, r->ctas);
}

static size_t ring_words(const TreeRing *r)
{
    return (size_t)r->slots * r->size;
}

static size_t agent_words(const States *p)
{
    return (size_t)p->f->k->roles.n * AGENT_SETS * p->words;
}

static RingState *ring_alloc(States *p, uint32_t ring)
{
    RingState *r = p->spare[ring];
    if (r) p->spare[ring] = r->next;
    else r = arena_grow(p->f->a, NULL, 0, sizeof *r + ring_words(&p->f->ring[ring]) * sizeof *r->v);
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
    *p = (States){.f = f, .words = (f->nrings + WORD - 1) / WORD, .spare = arena_array(f->a, RingState *, f->nrings)};
}

static State *state_alloc(States *p)
{
    State *s = p->spares;
    if (s) {
        p->spares = s->next;
        return s;
    }
    size_t rings = p->f->nrings * sizeof *s->ring;
    s = arena_alloc(p->f->a, sizeof *s + rings + agent_words(p) * sizeof *s->agents);
    s->agents = (uint64_t *)(void *)((char *)s->ring + rings);
    return s;
}

State *state_new(States *p)
{
    State *s = state_alloc(p);
    for (uint32_t i = 0; i < p->f->nrings; i++) {
        s->ring[i] = ring_alloc(p, i);
        memset(s->ring[i]->v, 0, ring_words(&p->f->ring[i]) * sizeof *s->ring[i]->v);
        marks(generation(p, s, i, 0))->never = true;
        if (p->f->ring[i].tensor) state_begin(p, s, i);
    }
    return s;
}

State *state_copy(States *p, State *s)
{
    State *t = state_alloc(p);
    for (uint32_t i = 0; i < p->f->nrings; i++) {
        t->ring[i] = s->ring[i];
        t->ring[i]->users++;
    }
    memcpy(t->agents, s->agents, agent_words(p) * sizeof *t->agents);
    return t;
}

void state_drop(States *p, State *s)
{
    for (uint32_t i = 0; i < p->f->nrings; i++) ring_drop(p, i, s->ring[i]);
    s->next = p->spares;
    p->spares = s;
}

void state_split(States *p, State *s, uint32_t ring)
{
    RingState *old = s->ring[ring];
    s->ring[ring] = ring_alloc(p, ring);
    memcpy(s->ring[ring]->v, old->v, ring_words(&p->f->ring[ring]) * sizeof *old->v);
    old->users--;
}

void state_begin(States *p, State *s, uint32_t ring)
{
    const TreeRing *r = &p->f->ring[ring];
    uint64_t *v = s->ring[ring]->v;
    for (uint64_t *set = v + MARKS; r->slots > 1 && set < v + r->at_announced; set += r->words)
        for (uint32_t w = 0; w < r->words; w++) set[w] &= r->lasting[w];
    memmove(v + r->size, v, (size_t)(r->slots - 1) * r->size * sizeof *v);
    memcpy(v, r->begun_as, r->size * sizeof *v);
}

static uint64_t generation_meet(Generation g, Generation o)
{
    uint64_t more = 0;
    for (uint32_t i = 0; i < g.r->at_bytes; i++) {
        more |= o.w[i] & ~g.w[i];
        g.w[i] |= o.w[i];
    }
    for (uint32_t i = g.r->at_bytes; i < g.r->size; i++) {
        uint8_t *x = (uint8_t *)&g.w[i];
        const uint8_t *y = (const uint8_t *)&o.w[i];
        for (size_t k = 0; k < sizeof *g.w && g.w[i] != o.w[i]; k++) {
            more |= y[k] > x[k];
            if (y[k] > x[k]) x[k] = y[k];
        }
    }
    return more;
}

void state_guess(States *p, State *s, uint32_t loop)
{
    for (uint32_t i = 0; i < p->f->k->rings.n; i++) {
        const TreeRing *r = &p->f->ring[i];
        uint32_t lag = p->f->k->rings.v[i].lag, at = tree_not_before(r->begun.v, r->begun.n, loop), end = p->f->at[loop].end;
        if (lag < 3 || at == r->begun.n || !tree_surely(p->f, r->begun.v[at], loop + 1) || tree_begins(p->f, i, r->begun.v[at] + 1, end)) continue;
        state_own(p, s, i);
        Generation last = generation(p, s, i, 0), before = generation(p, s, i, 1);
        for (uint32_t b = 2; b < lag; b++) {
            Generation g = generation(p, s, i, b);
            generation_meet(g, before);
            for (uint32_t j = 0; j < r->outs.n; j++) {
                uint8_t out = outs_of(before)[j];
                int older = out - (int)(b - 1) * (outs_of(last)[j] - out);
                if (outs_of(g)[j] == out && older < out && out) outs_of(g)[j] = (uint8_t)(older < OUT_OLD ? OUT_OLD : older);
            }
        }
    }
}

bool state_meet(States *p, State *s, State *t)
{
    uint64_t more = 0;
    for (uint32_t i = 0; i < p->f->nrings; i++) {
        const TreeRing *r = &p->f->ring[i];
        for (uint32_t b = 0; b < r->slots && s->ring[i] != t->ring[i]; b++) {
            if (memcmp(generation(p, s, i, b).w, generation(p, t, i, b).w, r->size * sizeof(uint64_t)) == 0) continue;
            state_own(p, s, i);
            more |= generation_meet(generation(p, s, i, b), generation(p, t, i, b));
        }
    }
    for (size_t i = 0; i < agent_words(p); i++) {
        more |= t->agents[i] & ~s->agents[i];
        s->agents[i] |= t->agents[i];
    }
    state_drop(p, t);
    return more != 0;
}
