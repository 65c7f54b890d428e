/* What agents wait for, each for itself: groups, their threads, fences, and that those to whom they copy have told them. */
#include "lower/verify/tree/walk.h"

/* ---- sources of copies to other CTAs ---- */

static const TreeAccess *destination(const Check *c, const Out *o)
{
    return key_of(&c->f, o->key) + 1; /* behind its source: facts.c */
}

/* Of the ring's destinations a generation begins: copies to earlier ones are so much older. */
void walk_sources_older(Check *c, State *s, uint32_t ring)
{
    const TreeRing *info = &c->f.ring[ring];
    for (uint32_t i = 0; i < info->sources.n; i++) {
        RingState *r = state_ring(&c->f, s, info->sources.v[i]);
        for (uint32_t b = 0; b < slots(c, info->sources.v[i]); b++)
            for (uint32_t j = 0; j < r->gen[b].outs.n; j++) {
                Out *o = &r->gen[b].outs.v[j];
                if (key_of(&c->f, o->key)->how == TO_PEER && destination(c, o)->ring == ring &&
                    o->age < (int32_t)slots(c, ring))
                    o->age++;
            }
    }
}

/* The agent hears from those to whom it copies: that generation n has begun there, so that what came to n - S has arrived, or, by
 * an event of n, that its copy to n has: what they do not know then is in unheard. NULL: the former. */
void walk_sources_over(Check *c, State *s, uint32_t ring, uint32_t a, bool one, const Keys *unheard)
{
    const TreeRing *info = &c->f.ring[ring];
    for (uint32_t i = 0; i < info->sources.n; i++) {
        RingState *r = state_ring(&c->f, s, info->sources.v[i]);
        for (uint32_t b = 0; b < slots(c, info->sources.v[i]); b++) {
            Generation *g = &r->gen[b];
            for (uint32_t j = 0; j < g->outs.n; j++) {
                const Out *o = &g->outs.v[j];
                const TreeAccess *to = destination(c, o);
                if (o->agent != a || key_of(&c->f, o->key)->how != TO_PEER || to->ring != ring) continue;
                bool came = o->age == 0 && unheard && !keys_have(unheard, key_access(&c->f, key_number(o->key) + 1));
                if (!came && o->age < (int32_t)slots(c, ring)) continue;
                keys_drop(&g->unknown[a][THE_ONE], o->key);
                if (!one || alone(c, a)) keys_drop(&g->unknown[a][ALL_THREADS], o->key);
            }
        }
        touch(c, s, a, info->sources.v[i]);
    }
}

/* ---- agents ---- */

/* Its bulk groups, or what the tensor core does for it: what is at least so old is over. */
void walk_over(Check *c, State *s, uint32_t a, AccessHow how, int32_t age, bool one)
{
    Keys rings = {0};
    keys_unite(c->a, &rings, &s->agent[a].out);
    for (uint32_t i = 0; i < rings.n; i++) {
        RingState *r = state_ring(&c->f, s, rings.v[i]);
        bool left = false;
        for (uint32_t b = 0; b < slots(c, rings.v[i]); b++) {
            Generation *g = &r->gen[b];
            uint32_t kept = 0;
            for (uint32_t j = 0; j < g->outs.n; j++) {
                Out *o = &g->outs.v[j];
                bool mine = o->agent == a && key_of(&c->f, o->key)->how == how && (o->one || !one || how == BY_COMMIT); /* groups are their thread's */
                if (mine && o->age >= age && (o->one || alone(c, a))) {
                    keys_drop(&g->unknown[a][THE_ONE], o->key);
                    if (alone(c, a)) keys_drop(&g->unknown[a][ALL_THREADS], o->key);
                    continue;
                }
                if (mine && o->age >= age) o->age = INT32_MAX; /* each thread knows it of its own: until they come together */
                left |= o->agent == a;
                g->outs.v[kept++] = *o;
            }
            g->outs.n = kept;
        }
        touch(c, s, a, rings.v[i]);
        if (!left) keys_drop(&s->agent[a].out, rings.v[i]);
    }
}

enum { AGE_MAX = 64 };

void walk_older(Check *c, State *s, uint32_t a, AccessHow how, bool one)
{
    const Keys *rings = &s->agent[a].out;
    for (uint32_t i = 0; i < rings->n; i++) {
        RingState *r = state_ring(&c->f, s, rings->v[i]);
        for (uint32_t b = 0; b < slots(c, rings->v[i]); b++)
            for (uint32_t j = 0; j < r->gen[b].outs.n; j++) {
                Out *o = &r->gen[b].outs.v[j];
                if (o->agent == a && key_of(&c->f, o->key)->how == how && (o->one || !one || how == BY_COMMIT) && o->age < AGE_MAX) o->age++;
            }
    }
}

/* Its threads come together: what one knows all know, and what each has done. */
void walk_together(Check *c, State *s, uint32_t a)
{
    Keys *rings = &s->agent[a].touched;
    for (uint32_t i = 0; i < rings->n; i++) {
        RingState *r = state_ring(&c->f, s, rings->v[i]);
        for (uint32_t b = 0; b < slots(c, rings->v[i]); b++) {
            Generation *g = &r->gen[b];
            Keys *one = &g->unknown[a][THE_ONE], *all = &g->unknown[a][ALL_THREADS];
            uint32_t kept = 0;
            g->late &= (uint8_t)~bit(a);
            for (uint32_t j = 0; j < g->outs.n; j++) {
                if (g->outs.v[j].agent == a && g->outs.v[j].age == INT32_MAX) keys_drop(one, g->outs.v[j].key);
                else g->outs.v[kept++] = g->outs.v[j];
            }
            g->outs.n = kept;
            keys_meet(one, all);
            if (g->apart & bit(a)) keys_drop(one, KEY_BEGIN);
            g->apart &= (uint8_t)~bit(a);
            for (uint32_t j = one->n; j-- > 0;) {
                const TreeAccess *y = key_of(&c->f, one->v[j]);
                if (y && !key_is_fence(one->v[j]) && y->agent == a && !is_copy(y)) keys_drop(one, one->v[j]);
            }
            all->n = 0;
            keys_unite(c->a, all, one);
        }
    }
    rings->n = 0;
}

/* Behind what the agent knows to be written, or what the threads that fence have written themselves. */
void walk_fence(Check *c, State *s, uint32_t a, bool one, uint32_t space)
{
    if (space == IRS_GLOBAL) return;
    Keys rings = {0};
    keys_unite(c->a, &rings, &s->agent[a].unfenced);
    for (uint32_t i = 0; i < rings.n; i++) {
        RingState *r = state_ring(&c->f, s, rings.v[i]);
        bool left = false;
        for (uint32_t b = 0; b < slots(c, rings.v[i]); b++) {
            for (int k = 0; k < KNOWERS; k++) {
                Keys *u = &r->gen[b].unknown[a][k];
                for (uint32_t j = u->n; j-- > 0;) {
                    if (!key_is_fence(u->v[j])) continue;
                    const TreeAccess *w = key_of(&c->f, u->v[j]);
                    if (w->how == TO_EVENT && space != IRS_CLUSTER) { /* written by other CTAs */
                        left = true;
                        continue;
                    }
                    bool own = w->how != TO_EVENT && w->agent == a && (!one || w->one), known = !keys_have(u, u->v[j] - 1) && (k == THE_ONE || !one || alone(c, a));
                    if (own || known) keys_drop(u, u->v[j]);
                    else left = true;
                }
            }
        }
        touch(c, s, a, rings.v[i]);
        if (!left) keys_drop(&s->agent[a].unfenced, rings.v[i]);
    }
}
