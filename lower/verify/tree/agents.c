/* What agents wait for, each for itself: groups, their threads, fences, and that those to whom they copy have told them. */
#include "lower/verify/tree/walk.h"

typedef struct Out { /* an asynchronous read of a ring that may not be over */
    Generation g;
    uint32_t back, i; /* generation n - back; the next of its outs */
    const TreeAccess *x;
    uint8_t *age;
} Out;

static bool next_out(const Check *c, const State *s, uint32_t ring, Out *o) /* zeroed: the first */
{
    const TreeRing *r = &c->f.ring[ring];
    for (; o->back < r->slots; o->back++, o->i = 0) {
        o->g = generation(&c->p, s, ring, o->back);
        while (o->i < r->outs.n) {
            uint64_t eight = 1;
            if (o->i + sizeof eight <= r->outs.n) memcpy(&eight, &outs_of(o->g)[o->i], sizeof eight);
            if (eight == 0) {
                o->i += sizeof eight;
                continue;
            }
            o->age = &outs_of(o->g)[o->i++];
            if (*o->age == 0) continue;
            o->x = tree_out(&c->f, r, o->i - 1);
            return true;
        }
    }
    return false;
}

/* ---- sources of copies to other CTAs ---- */

/* Is it known, by that set, that what a copy reads has come where it goes, or what came before? */
static bool has_come(const TreeFacts *f, const TreeAccess *source, const uint64_t *unknown, bool before)
{
    bool all = true;
    const TreeAccess *end = f->access.v + f->access.n;
    for (const TreeAccess *to = f->access.v + source->to; to < end && to->op == source->op && to->rank == source->rank; to++) all = all && !set_has(unknown, before ? free_bit(to->at) : to->over);
    return all;
}

/* The agent may have heard from those to whom it copies: that generation n has begun there, so that what came to n - S has arrived, or that
 * its copy to n has. Where one begins, copies to earlier ones are so much older. */
void walk_sources(Check *c, State *s, uint32_t ring, uint32_t a, bool begins)
{
    const TreeRing *info = &c->f.ring[ring];
    for (uint32_t i = 0; i < info->sources.n; i++) {
        uint32_t source = info->sources.v[i];
        Generation filled = generation(&c->p, s, ring, 0);
        state_own(&c->p, s, source);
        for (Out o = {.i = 0}; next_out(c, s, source, &o);) {
            const TreeAccess *x = o.x;
            if (x->how != TO_PEER || c->f.access.v[x->to].ring != ring) continue;
            if (begins && *o.age > OUT_OLD) --*o.age;
            bool known = true, older = (uint32_t)(OUT_NEW - *o.age) >= c->f.k->rings.v[ring].slots;
            if (x->agent != a || (*o.age != OUT_NEW && !older)) continue;
            for (int k = 0; k < KNOWERS; k++) {
                const uint64_t *u = unknown_of(filled, a, x->rank, k);
                if ((*o.age == OUT_NEW && has_come(&c->f, x, u, false)) || (older && has_come(&c->f, x, u, true))) set_drop(unknown_of(o.g, a, x->rank, k), x->over);
                known = known && !set_has(unknown_of(o.g, a, x->rank, k), x->over);
            }
            if (known) *o.age = 0;
        }
        touch(c, s, a, source);
    }
}

/* ---- agents ---- */

/* Groups are their thread's; what the tensor core does is the agent's. */
static bool is_its(const TreeAccess *x, uint32_t a, AccessHow how, bool one)
{
    return x->agent == a && x->how == how && (x->one || !one || how == BY_COMMIT);
}

void walk_over(Check *c, State *s, uint32_t a, AccessHow how, int64_t age, bool one)
{
    Set rings = rings_of(&c->p, s, a, OUT);
    for (uint32_t i = 0; (i = set_next(rings, c->p.words, i)) != UINT32_MAX; i++) {
        bool left = false;
        state_own(&c->p, s, i);
        for (Out o = {.i = 0}; next_out(c, s, i, &o);) {
            const TreeAccess *x = o.x;
            if (is_its(x, a, how, one) && OUT_NEW - *o.age >= age) {
                bool thread = x->one || alone(c, a);
                for (uint32_t t = 0; t < c->f.ctas && thread; t++) {
                    if (how == BY_COMMIT ? c->f.committer[t] != x->rank + 1 : t != x->rank) continue;
                    set_drop(unknown_of(o.g, a, t, THE_ONE), x->over);
                    if (how == BY_COMMIT && !one) set_drop(unknown_of(o.g, a, t, ALL_THREADS), x->over);
                }
                *o.age = thread ? 0 : OUT_WAITED; /* each thread knows it of its own: until they come together */
            }
            left |= *o.age && x->agent == a;
        }
        touch(c, s, a, i);
        if (!left) set_drop(rings, i);
    }
}

void walk_older(Check *c, State *s, uint32_t a, AccessHow how, bool one)
{
    Set rings = rings_of(&c->p, s, a, OUT);
    for (uint32_t i = 0; (i = set_next(rings, c->p.words, i)) != UINT32_MAX; i++) {
        state_own(&c->p, s, i);
        for (Out o = {.i = 0}; next_out(c, s, i, &o);)
            if (*o.age > OUT_OLD && is_its(o.x, a, how, one) && c->f.at[c->at].always >> o.x->rank & 1) --*o.age;
    }
}

/* Its threads come together: what one knows all know, and what each has done. */
void walk_together(Check *c, State *s, uint32_t a)
{
    Set rings = rings_of(&c->p, s, a, TOUCHED);
    for (uint32_t i = 0; (i = set_next(rings, c->p.words, i)) != UINT32_MAX; i++) {
        const TreeRing *r = &c->f.ring[i];
        state_own(&c->p, s, i);
        for (Out o = {.i = 0}; next_out(c, s, i, &o);) {
            if (o.x->agent != a || *o.age != OUT_WAITED) continue;
            set_drop(unknown_of(o.g, a, o.x->rank, THE_ONE), o.x->over);
            *o.age = 0;
        }
        for (uint32_t b = 0; b < r->slots; b++) {
            Generation g = generation(&c->p, s, i, b);
            for (uint32_t t = 0; t < r->ctas; t++) {
                Set one = unknown_of(g, a, t, THE_ONE), all = unknown_of(g, a, t, ALL_THREADS);
                const uint64_t *own = r->own + (a * r->ctas + t) * r->words;
                if (marks(g)->apart & bit(a)) set_drop(one, free_bit(t));
                for (uint32_t w = 0; w < r->words; w++) {
                    uint64_t fences = r->tensor ? all[w] & r->fences[w] : 0; /* each thread has its own there */
                    one[w] &= all[w] & ~own[w];
                    all[w] = one[w] | fences;
                }
            }
            marks(g)->apart &= (uint8_t)~bit(a);
        }
        set_drop(rings, i);
    }
}

/* Behind what the agent knows to be written, or what the threads that fence have written themselves. */
void walk_fence(Check *c, State *s, uint32_t a, bool one, bool tensor, uint32_t space)
{
    Set rings = rings_of(&c->p, s, a, UNFENCED);
    for (uint32_t i = 0; space != IRS_GLOBAL && (i = set_next(rings, c->p.words, i)) != UINT32_MAX; i++) {
        const TreeRing *r = &c->f.ring[i];
        uint64_t left = 0;
        if (r->tensor != tensor) continue;
        state_own(&c->p, s, i);
        for (uint32_t b = 0; b < r->slots; b++) {
            for (uint32_t t = 0; t < r->ctas * KNOWERS; t++) {
                Set u = unknown_of(generation(&c->p, s, i, b), a, t / KNOWERS, t % KNOWERS);
                bool knows = t % KNOWERS == THE_ONE || !one || alone(c, a);
                const uint64_t *own = r->own + (a * r->ctas + t / KNOWERS) * r->words, *slot = tensor ? r->fences : needs_of(r, free_bit(t / KNOWERS));
                for (uint32_t w = 0; w < r->words; w++) {
                    uint64_t did = tensor ? 0 : own[w] << 1 & (one ? r->by_one[w] : ~UINT64_C(0)), behind = slot[w] & (did | (knows ? ~(u[w] << 1) : 0));
                    if (space != IRS_CLUSTER) behind &= ~r->far_fences[w]; /* written by other CTAs */
                    u[w] &= ~(behind & r->fences[w]);
                    left |= u[w] & r->fences[w];
                }
            }
        }
        touch(c, s, a, i);
        if (left == 0) set_drop(rings, i);
    }
}

/* ---- pairs ---- */

static Set told(Generation g, const TreeRing *by, uint32_t e, uint32_t cta)
{
    return unheard_of(g, g.r->nevents + 1 + by->messages + e, cta);
}

void walk_untold(Check *c, State *s, uint32_t ring)
{
    const TreeRing *by = &c->f.ring[ring];
    for (uint32_t i = 0; i < c->f.nrings; i++) {
        const TreeRing *r = &c->f.ring[i];
        if (!r->paired) continue;
        state_own(&c->p, s, i);
        for (uint32_t b = 0; b < r->slots; b++) memset(told(generation(&c->p, s, i, b), by, 0, 0), UINT8_MAX, (size_t)by->nevents * r->ctas * r->words * sizeof(uint64_t));
    }
}

void walk_tell(Check *c, State *s, uint32_t ring, uint32_t e, uint32_t a, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < c->f.nrings; i++) {
        const TreeRing *r = &c->f.ring[i];
        if (!r->paired || !(r->used & bit(a))) continue;
        state_own(&c->p, s, i);
        for (uint32_t b = 0; b < r->slots; b++) {
            Generation g = generation(&c->p, s, i, b);
            Set t = told(g, &c->f.ring[ring], e, to);
            const uint64_t *known = unknown_of(g, a, from, THE_ONE);
            for (uint32_t w = 0; w < r->words; w++) t[w] &= known[w];
        }
    }
}

/* But for fences in tensor memory, which are each thread's. */
void walk_hear(Check *c, State *s, uint32_t ring, uint32_t e, uint32_t a, bool one)
{
    for (uint32_t i = 0; i < c->f.nrings; i++) {
        const TreeRing *r = &c->f.ring[i];
        if (!r->paired || !(r->used & bit(a))) continue;
        state_own(&c->p, s, i);
        for (uint32_t b = 0; b < r->slots; b++) {
            for (uint32_t t = 0; t < r->ctas; t++) {
                Generation g = generation(&c->p, s, i, b);
                const uint64_t *heard = told(g, &c->f.ring[ring], e, t);
                for (int k = 0; k < (one ? ALL_THREADS : knowers_of(r, a)); k++)
                    for (uint32_t w = 0; w < r->words; w++) unknown_of(g, a, t, k)[w] &= heard[w] | (r->tensor ? r->fences[w] : 0);
            }
        }
        touch(c, s, a, i);
    }
}
