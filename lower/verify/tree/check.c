#include "lower/verify/tree/check.h"

#include "lower/verify/tree/walk.h"

enum { NO_RING = -1 };

static void fail(Check *c, TreeCondition condition, int64_t ring, const TreeAccess *other, const char *text)
{
    if (c->failed || c->without >> condition & 1) return;
    c->failed = true;
    if (ring != NO_RING) text = arena_printf(c->a, "%s: %s", c->f.k->rings.v[ring].name, text);
    *c->fault = (TreeFault){condition, c->at < c->f.tree->ops.n ? tree_op(&c->f, c->at) : NULL, other ? tree_op(&c->f, other->op) : NULL, text};
}

static void fail_at(Check *c, const IrOp *op, TreeCondition condition, const char *text)
{
    c->at = (uint32_t)(op - c->f.tree->ops.v);
    fail(c, condition, NO_RING, NULL, text);
}

/* ---- who knows ---- */

/* Of agents of one thread that knows what all of them know. */
static Keys *unknown(const Check *c, Generation *g, uint32_t agent, bool one)
{
    return &g->unknown[agent][one || alone(c, agent) ? THE_ONE : ALL_THREADS];
}

/* The generation at hand, which the agent is not done with. */
static Generation *now(Check *c, State *s, uint32_t ring, uint32_t agent)
{
    RingState *r = state_ring(&c->f, s, ring);
    Generation *g = generation(&c->f, r, ring, 0);
    if (!r->begun) fail(c, TREE_BEGUN, ring, NULL, "no generation has begun");
    if (g->done & bit(agent)) fail(c, TREE_DONE, ring, NULL, "used by who is done with the generation");
    return g;
}

/* ---- accesses ---- */

static bool elsewhere(const Check *c, const TreeAccess *x)
{
    const IrOp *op = tree_op(&c->f, x->op);
    return tree_ctas(c->f.k) > 1 && x->how == TO_EVENT && x->write && (ir_find(op, IRK_RANK) || ir_find(op, IRK_MASK) || op->op == IR_CLC_NEXT);
}

/* What other CTAs have told its elected thread all its threads know when they have come together. */
static void told(Check *c, const Generation *g, uint32_t x)
{
    const TreeAccess *self = &c->f.access.v[x];
    const Keys *one = &g->unknown[self->agent][THE_ONE], *all = &g->unknown[self->agent][ALL_THREADS];
    for (uint32_t i = 0; i < all->n && !alone(c, self->agent); i++) {
        if (keys_have(one, all->v[i]) || key_is_fence(all->v[i])) continue;
        const TreeAccess *y = key_of(&c->f, all->v[i]);
        if (y == NULL) fail(c, TREE_BEGUN, self->ring, NULL, "touched by threads that have not heard that the generation has begun");
        else if (tree_conflict(&c->f, x, key_number(all->v[i]))) fail(c, TREE_BESIDE, self->ring, y, "touched by threads that have not heard that an access is over");
    }
}

/* Of what it writes at another CTA it knows what that has told it. */
static void beside(Check *c, const Generation *g, uint32_t x)
{
    const TreeAccess *self = &c->f.access.v[x];
    const Keys *known = elsewhere(c, self) ? &g->unknown[self->agent][THERE] : unknown(c, (Generation *)g, self->agent, self->one);
    if (elsewhere(c, self) && !self->one) told(c, g, x);
    for (uint32_t i = 0; i < known->n && !c->failed; i++) {
        Key k = known->v[i];
        if (k == KEY_BEGIN) {
            fail(c, TREE_BEGUN, self->ring, NULL, "touched by who has not heard that the generation has begun");
            return;
        }
        if (k & KEY_READS && !self->write) return;
        uint32_t y = key_number(k);
        bool fence = key_is_fence(k);
        if ((fence && (!is_copy(self) || self->generic)) || !tree_conflict(&c->f, x, y)) continue;
        if (fence) fail(c, TREE_FENCE, self->ring, &c->f.access.v[y], "copied, with no fence behind what threads wrote");
        else fail(c, TREE_BESIDE, self->ring, &c->f.access.v[y], "touched beside an access that may be under way");
    }
}

/* Nobody knows it to be over but the one thread that did it. */
static void note(Check *c, State *s, Generation *g, uint32_t x)
{
    const TreeAccess *self = &c->f.access.v[x];
    const TreeRing *r = &c->f.ring[self->ring];
    bool sync = !is_copy(self), writes = self->generic;
    for (uint32_t a = 0; a < c->f.k->roles.n; a++) {
        if (!r->used[a]) continue;
        for (int k = 0; k < KNOWERS; k++) {
            bool knows = sync && a == self->agent && self->one && (k == THE_ONE || alone(c, a));
            if (!knows) keys_add(c->a, &g->unknown[a][k], key_access(&c->f, x));
            if (writes) keys_add(c->a, &g->unknown[a][k], key_fence(x));
        }
        keys_add(c->a, &g->unknown[a][THERE], key_access(&c->f, x));
        if (writes) keys_add(c->a, &g->unknown[a][THERE], key_fence(x));
        if (g->released & bit(a)) keys_add(c->a, &g->said[a], key_access(&c->f, x));
        if (g->released & bit(a) && writes) keys_add(c->a, &g->said[a], key_fence(x));
        if (writes) keys_add(c->a, &s->agent[a].unfenced, self->ring);
    }
    for (uint32_t e = 0; e < r->nevents; e++) {
        bool bound = self->how == TO_EVENT && self->event == r->event[e];
        if (!bound) keys_add(c->a, &g->event[e].unheard, key_access(&c->f, x));
        if (!bound && g->event[e].told) keys_add(c->a, &g->event[e].part, key_access(&c->f, x));
        if (writes) keys_add(c->a, &g->event[e].unheard, key_fence(x));
        if (writes && g->event[e].told) keys_add(c->a, &g->event[e].part, key_fence(x));
    }
    touch(c, s, self->agent, self->ring);
    if (self->how != BY_GROUP && self->how != BY_COMMIT && self->how != TO_PEER) return;
    if (self->how != TO_PEER) keys_add(c->a, &s->agent[self->agent].out, self->ring);
    int32_t young = self->how == TO_PEER ? 0 : -1;
    bool is_new;
    *outs_at(&c->f, g, key_access(&c->f, x), &is_new) = (Out){key_access(&c->f, x), self->agent, self->one, young};
}

/* Bytes that have come show that their copy was issued, and what who issued it knew. */
static void shows(Check *c, Generation *g, const TreeAccess *x)
{
    TreeEvent *event = &g->event[c->f.event[x->event]];
    const Keys *known = unknown(c, g, x->agent, x->one);
    if (c->f.k->bars.v[x->event].ring != x->ring + 1) return;
    Keys said = {0};
    for (uint32_t i = 0; i < known->n; i++) {
        const TreeAccess *y = key_of(&c->f, known->v[i]);
        if (!(y && y->how == TO_EVENT && y->event == x->event) || key_is_fence(known->v[i])) keys_add(c->a, &said, known->v[i]);
    }
    if (event->silent) event->unheard = said;
    else keys_meet(&event->unheard, &said);
    event->silent = false;
}

static void access(Check *c, State *s, uint32_t x)
{
    const TreeAccess *self = &c->f.access.v[x];
    const TreeRing *r = &c->f.ring[self->ring];
    Generation *g = now(c, s, self->ring, self->agent);
    beside(c, g, x);
    for (uint32_t a = 0; a < c->f.k->roles.n && self->how == TO_EVENT; a++)
        for (uint32_t e = 0; e < r->nevents; e++)
            if (r->event[e] == self->event && g->awaited[a] >> e & 1) fail(c, TREE_BYTES, self->ring, NULL, "bytes for an event that has been awaited");
    note(c, s, g, x);
    if (self->how == TO_EVENT && tree_op(&c->f, self->op)->guard.pred == 0) shows(c, g, self);
}

/* ---- rings ---- */

static bool across_ctas(const IrOp *op)
{
    const IrArg *scope = ir_find(op, IRK_SCOPE);
    return scope && scope->id != IRC_CTA;
}

/* Its free barrier counts as many as have released generation n - S. */
static void hears_all(Check *c, const IrOp *op, uint32_t ring, const Generation *old)
{
    uint32_t want = c->f.k->bars.v[c->f.k->rings.v[ring].free].count;
    for (uint32_t s = 0; s < tree_ctas(c->f.k); s++) {
        TreeWhen when = tree_when(&c->f, op, s);
        if (when == WHEN_OPEN) fail(c, TREE_COUNT, ring, NULL, "whether it waits is not known");
        if (when == WHEN_ALWAYS && old->freed[s] != UINT16_MAX && old->freed[s] != want) fail(c, TREE_COUNT, ring, NULL, "its free barrier counts others than release it");
    }
}

/* What its threads have done themselves, and know to be over when they come together. */
static bool only_own(const Check *c, const Keys *left, uint32_t agent)
{
    for (uint32_t i = 0; i < left->n; i++) {
        const TreeAccess *y = key_is_fence(left->v[i]) ? NULL : key_of(&c->f, left->v[i]);
        if (y == NULL || y->agent != agent || is_copy(y)) return false;
    }
    return true;
}

static void acquire(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id, a = op->agent - 1u;
    const TreeRing *info = &c->f.ring[ring];
    RingState *r = state_ring(&c->f, s, ring);
    Generation *old = generation(&c->f, r, ring, slots(c, ring) - 1);
    uint8_t releases = mask(info->releases);
    bool one = tree_by_one(&c->f, op);
    if (generation(&c->f, r, ring, 0)->busy) fail(c, TREE_DONE, ring, NULL, "begun again before all are done with it");
    if (c->f.k->rings.v[ring].free != IR_NO_BAR) hears_all(c, op, ring, old);
    if (info->remote & BACK_FREE && !across_ctas(op)) fail(c, TREE_FREE, ring, NULL, "begun in the scope of a CTA, where others release");
    if (old->held & releases) fail(c, TREE_FREE, ring, NULL, "begun where generation n - S is not released");
    Keys left[KNOWERS] = {{0}};
    for (int k = 0; k < KNOWERS; k++) {
        keys_unite(c->a, &left[k], &old->unknown[a][k]);
        for (uint32_t b = 0; b < c->f.k->roles.n; b++)
            if (releases & bit(b)) keys_meet(&left[k], &old->said[b]);
        for (uint32_t i = left[k].n; i-- > 0 && !info->copies;)
            if (key_is_fence(left[k].v[i])) keys_drop(&left[k], left[k].v[i]);
    }
    /* Threads that don't know it yet hear of it when they come together. */
    Keys both = {0};
    keys_unite(c->a, &both, &left[THE_ONE]);
    keys_meet(&both, &left[ALL_THREADS]);
    bool apart = !one && left[THE_ONE].n && left[ALL_THREADS].n && only_own(c, &both, a);
    if (apart) left[THE_ONE].n = left[ALL_THREADS].n = 0;
    int knows = left[THE_ONE].n ? ALL_THREADS : THE_ONE;
    bool others = !one && left[!knows].n;
    for (uint32_t i = 0; i < left[knows].n; i++) {
        const TreeAccess *y = key_of(&c->f, left[knows].v[i]);
        bool fence = key_is_fence(left[knows].v[i]);
        fail(c, fence ? TREE_FENCE : TREE_OVER, ring, y,
             fence ? "begun over what threads wrote, with no fence" : "begun over an access that may be under way");
    }
    if (!(releases & bit(a)) && info->waits[a] & (uint8_t)~old->awaited[a])
        fail(c, TREE_PHASES, ring, NULL, "begun by who has left out an event of generation n - S");
    if (!(releases & bit(a)) && info->waits[a] && generation(&c->f, r, ring, 0)->late & bit(a)) fail(c, TREE_THREADS, ring, NULL, "begun where threads may not have passed a wait");
    r->now = (r->now + slots(c, ring) - 1) % slots(c, ring);
    r->begun = true;
    Generation *g = generation(&c->f, r, ring, 0);
    TreeEvent *event = g->event;
    *g = (Generation){.event = event, .apart = apart ? bit(a) : 0, .held = releases, .busy = mask(info->used)};
    for (uint32_t e = 0; e < info->nevents; e++) event[e] = (TreeEvent){.silent = true};
    for (uint32_t b = 0; b < c->f.k->roles.n; b++)
        for (int k = 0; k < KNOWERS; k++)
            if (b != a || (one && !alone(c, a) && k == ALL_THREADS) || (others && k != knows) || (b == a && apart)) keys_add(c->a, &g->unknown[b][k], KEY_BEGIN);
    for (uint32_t b = 0; b < c->f.k->roles.n; b++)
        if (b != a || !(info->back[a] & BACK_FREE)) keys_add(c->a, &g->unknown[b][THERE], KEY_BEGIN);
    touch(c, s, a, ring);
    walk_sources_older(c, s, ring);
    if (info->back[a] & BACK_FREE && (op->guard.pred == 0)) walk_sources_over(c, s, ring, a, one, NULL);
}

static void await(Check *c, State *s, const IrOp *op)
{
    uint32_t bar = ir_find(op, IRK_BAR)->id, ring = c->f.k->bars.v[bar].ring - 1u, e = c->f.event[bar], a = op->agent - 1u;
    Generation *g = now(c, s, ring, a);
    TreeEvent *event = &g->event[e];
    uint32_t want = c->f.k->bars.v[bar].count;
    bool all = true;
    for (uint32_t t = 0; t < tree_ctas(c->f.k); t++) all = all && event->few[t] == want && event->most[t] == want;
    if (!all) fail(c, TREE_PUBLISHED, ring, NULL, "awaited where it is not published on every path");
    if (c->f.ring[ring].remote >> e & 1 && !across_ctas(op)) fail(c, TREE_BEGUN, ring, NULL, "awaited in the scope of a CTA, where others arrive");
    if (event->expects) fail(c, TREE_BYTES, ring, NULL, "awaited where bytes are announced by who has not arrived since");
    if (g->released & bit(a)) fail(c, TREE_PHASES, ring, NULL, "awaited behind the own release");
    bool one = tree_by_one(&c->f, op);
    for (int k = 0; k < KNOWERS; k++)
        if (k == THE_ONE || !one || alone(c, a)) keys_meet(&g->unknown[a][k], &event->unheard);
    if (c->f.ring[ring].back[a] >> e & 1) keys_meet(&g->unknown[a][THERE], &event->unheard);
    g->awaited[a] |= (uint8_t)(1u << e);
    if (!one) g->late |= bit(a);
    touch(c, s, a, ring);
    if (c->f.ring[ring].back[a] >> e & 1) walk_sources_over(c, s, ring, a, one, &event->unheard);
}

/* At each CTA those that come there, from all. */
static void arrivals(Check *c, const IrOp *op, uint32_t ring, uint32_t want, uint16_t *few, uint16_t *most)
{
    for (uint32_t s = 0; s < tree_ctas(c->f.k); s++) {
        uint32_t set;
        TreeWhen when = tree_when(&c->f, op, s);
        if (when == WHEN_OPEN || !tree_targets(&c->f, op, s, &set)) {
            fail(c, TREE_COUNT, ring, NULL, "whether it arrives, or where, is not known");
            return;
        }
        for (uint32_t t = 0; t < tree_ctas(c->f.k) && when == WHEN_ALWAYS; t++) {
            if (!(set >> t & 1)) continue;
            if (most && most[t] >= want) fail(c, TREE_ONCE, ring, NULL, "published again");
            if (most && most[t] < want) most[t]++;
            if (few[t] < want) few[t]++;
        }
    }
}

/* Of what is said to some CTAs alone, each of the others hears what it is told itself: when all have been, what none of that leaves
 * open is known. */
static void hear(Check *c, TreeEvent *event, Keys *said, uint32_t to, uint32_t all)
{
    if ((to & all) != all) {
        keys_unite(c->a, &event->part, said);
        event->told |= to;
        if ((event->told & all) != all) return;
        *said = event->part;
    }
    if (event->silent) event->unheard.n = 0;
    if (event->silent) keys_unite(c->a, &event->unheard, said);
    else keys_meet(&event->unheard, said);
    event->silent = false;
}

static void publish(Check *c, State *s, const IrOp *op)
{
    uint32_t bar = ir_find(op, IRK_BAR)->id, ring = c->f.k->bars.v[bar].ring - 1u, e = c->f.event[bar], a = op->agent - 1u;
    Generation *g = now(c, s, ring, a);
    TreeEvent *event = &g->event[e];
    uint32_t want = c->f.k->bars.v[bar].count;
    const Keys *known = &g->unknown[a][THE_ONE];
    if (op->op == IR_BAR_EXPECT) {
        if (event->arrived & bit(a)) fail(c, TREE_BYTES, ring, NULL, "bytes are announced behind the arrival");
        event->expects |= bit(a);
        return;
    }
    arrivals(c, op, ring, want, event->few, event->most);
    /* Who awaits the event itself has seen it come in generation n - S. */
    if (keys_have(known, KEY_BEGIN) && !(c->f.ring[ring].waits[a] >> e & 1)) fail(c, TREE_BEGUN, ring, NULL, "published by who has not heard that the generation has begun");
    if (!tree_by_one(&c->f, op)) fail(c, TREE_THREADS, ring, NULL, "published by every thread");
    Keys said = {0};
    for (uint32_t i = 0; i < known->n; i++) {
        const TreeAccess *y = key_of(&c->f, known->v[i]);
        bool bound = y && y->how == TO_EVENT && y->event == bar && !key_is_fence(known->v[i]);
        if (!bound) keys_add(c->a, &said, known->v[i]);
    }
    hear(c, event, &said, tree_ctas(c->f.k) > 1 ? tree_reach(&c->f, op) : 1, c->f.ring[ring].reach[e]);
    event->arrived |= bit(a);
    event->expects &= (uint8_t)~bit(a);
}

static void release(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id, a = op->agent - 1u;
    RingState *r = state_ring(&c->f, s, ring);
    if (generation(&c->f, r, ring, 0)->done & bit(a)) fail(c, TREE_DONE, ring, NULL, "released by who is done with the generation");
    if (generation(&c->f, r, ring, 0)->late & bit(a)) fail(c, TREE_THREADS, ring, NULL, "released where threads may not have passed a wait");
    if (!tree_by_one(&c->f, op)) fail(c, TREE_THREADS, ring, NULL, "released by every thread");
    for (uint32_t back = c->f.k->rings.v[ring].lag; back < slots(c, ring); back++) {
        Generation *g = generation(&c->f, r, ring, back);
        if (!(g->held & bit(a))) continue;
        if (keys_have(&g->unknown[a][THE_ONE], KEY_BEGIN)) fail(c, TREE_BEGUN, ring, NULL, "released by who has not heard that the generation has begun");
        if (c->f.ring[ring].waits[a] & (uint8_t)~g->awaited[a]) fail(c, TREE_PHASES, ring, NULL, "released by who has not awaited all its events");
        keys_unite(c->a, &g->said[a], &g->unknown[a][THE_ONE]);
        g->released |= bit(a);
        g->held &= (uint8_t)~bit(a);
    }
    Generation *freed = generation(&c->f, r, ring, c->f.k->rings.v[ring].lag);
    if (freed->freed[0] != UINT16_MAX) arrivals(c, op, ring, UINT16_MAX - 1, freed->freed, NULL);
}

static void done(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id, a = op->agent - 1u;
    Generation *g = now(c, s, ring, a);
    g->done |= bit(a);
    g->busy &= (uint8_t)~bit(a);
}

/* ---- the walk ---- */

static void ring_op(Check *c, State *s, const IrOp *op)
{
    const IrArg *bar = ir_find(op, IRK_BAR);
    bool event = bar && c->f.k->bars.v[bar->id].ring;
    switch ((IrOpcode)op->op) {
    case IR_ACQUIRE: acquire(c, s, op); break;
    case IR_RELEASE: release(c, s, op); break;
    case IR_DONE: done(c, s, op); break;
    case IR_AWAIT: await(c, s, op); break;
    case IR_BAR_EXPECT:
    case IR_BAR_ARRIVE:
    case IR_BAR_ARRIVE_EXPECT:
    case IR_TC_COMMIT:
        if (event) publish(c, s, op);
        break;
    default: break;
    }
    if (op->op == IR_TC_COMMIT) walk_older(c, s, op->agent - 1u, BY_COMMIT, true);
    if (op->op == IR_AWAIT && event && c->f.ring[c->f.k->bars.v[bar->id].ring - 1].commits[c->f.event[bar->id]])
        walk_over(c, s, op->agent - 1u, BY_COMMIT, 0, true);
}

static void step(Check *c, State *s, uint32_t i)
{
    const IrOp *op = tree_op(&c->f, i);
    c->at = i;
    for (uint32_t x = c->f.first[i]; x < c->f.first[i + 1] && !c->failed; x++) access(c, s, x);
    if (op->agent == 0 || c->failed) return;
    uint32_t a = op->agent - 1u;
    switch ((IrOpcode)op->op) {
    case IR_GRP_COMMIT: walk_older(c, s, a, BY_GROUP, tree_by_one(&c->f, op)); break;
    case IR_GRP_WAIT: walk_over(c, s, a, BY_GROUP, (int32_t)ir_find(op, IRK_N)->imm, tree_by_one(&c->f, op)); break;
    case IR_CTA_SYNC:
    case IR_WARP_SYNC: walk_together(c, s, a); break;
    case IR_FENCE_ASYNC: walk_fence(c, s, a, op->elect, ir_find(op, IRK_SPACE)->id); break;
    default: ring_op(c, s, op); break;
    }
}

static State *block(Check *c, State *s, uint32_t from, uint32_t to);

static State *loop(Check *c, State *s, uint32_t i)
{
    uint32_t end = c->f.end[i];
    bool repeat = tree_op(&c->f, i)->op == IR_REPEAT;
    State *outer = c->out, *last = NULL;
    bool once = tree_trips(tree_op(&c->f, i)) > 0 && !repeat; /* it surely runs */
    if (c->heads[i]) state_meet(&c->f, s, state_copy(&c->f, c->heads[i]));
    c->loops++;
    while (!c->failed) {
        c->out = NULL;
        State *back = block(c, state_copy(&c->f, s), i + 1, end);
        if (last) state_drop(&c->f, last);
        last = state_copy(&c->f, back);
        state_meet(&c->f, back, state_copy(&c->f, s));
        bool same = state_same(&c->f, back, s);
        state_drop(&c->f, s);
        s = back;
        if (same) break;
    }
    c->loops--;
    State *leaves = repeat ? c->out : once ? last : NULL;
    c->out = outer;
    if (c->failed) return s;
    if (c->loops) c->heads[i] = state_copy(&c->f, s); /* those around it come here again */
    if (last && leaves != last) state_drop(&c->f, last);
    if (leaves == NULL) return s;
    state_drop(&c->f, s);
    return leaves;
}

static State *branch(Check *c, State *s, uint32_t i)
{
    uint32_t end = c->f.end[i];
    State *other = state_copy(&c->f, s);
    s = block(c, s, i + 1, end);
    if (tree_op(&c->f, end)->op == IR_ELSE) other = block(c, other, end + 1, c->f.end[end]);
    if (!c->failed) state_meet(&c->f, s, other);
    return s;
}

static State *block(Check *c, State *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && !c->failed; i++) {
        const IrOp *op = tree_op(&c->f, i);
        switch ((IrOpcode)op->op) {
        case IR_LOOP:
        case IR_REPEAT:
            s = loop(c, s, i);
            i = c->f.end[i];
            break;
        case IR_LANES: /* what one does is beside what the others do */
            s = block(c, s, i + 1, c->f.end[i]);
            s = block(c, s, i + 1, c->f.end[i]);
            i = c->f.end[i];
            break;
        case IR_IF:
            s = branch(c, s, i);
            i = c->f.end[i];
            if (tree_op(&c->f, i)->op == IR_ELSE) i = c->f.end[i];
            break;
        case IR_BREAK:
            if (c->out == NULL) c->out = state_copy(&c->f, s);
            else state_meet(&c->f, c->out, state_copy(&c->f, s));
            break;
        default: step(c, s, i); break;
        }
    }
    return s;
}

/* ---- before and behind ---- */

static void across(Check *c)
{
    const IrOp *at;
    if (!tree_ends(&c->f, &at)) fail_at(c, at, TREE_ENDS, "how often this loop runs depends on a division by what may be 0: nothing shows that it ends");
    if (!tree_alike(&c->f, &at)) fail_at(c, at, TREE_COUNT, "CTAs of a cluster may not come here as often as those that they reach");
    if (!tree_starts(&c->f)) fail(c, TREE_FORM, NO_RING, NULL, "a thread may use a barrier before it is initialised");
    if (!tree_leaves(&c->f)) fail(c, TREE_EXIT, NO_RING, NULL, "a CTA may begin, or leave, while others reach into it");
    for (uint32_t i = 0; i < c->f.k->rings.n; i++) {
        const char *missing = tree_across(&c->f, i);
        if (missing) fail(c, TREE_COUNT, i, NULL, missing);
        if (!tree_bytes(&c->f, i)) fail(c, TREE_BYTES, i, NULL, "it is not certain that as many bytes come as are announced");
    }
    for (uint32_t x = 0; x < c->f.access.n; x++) {
        c->at = c->f.access.v[x].op;
        if (c->f.access.v[x].write && !tree_apart_of_ctas(&c->f, x)) fail(c, TREE_BESIDE, c->f.access.v[x].ring, NULL, "several CTAs may write there at once");
        if (!tree_inside(&c->f, x)) fail(c, TREE_INSIDE, c->f.access.v[x].ring, NULL, "it is not certain that this lies within a slot");
    }
}

/* Each thread for its own. */
static bool waited(const Generation *g, Key k)
{
    for (uint32_t i = 0; i < g->outs.n; i++)
        if (g->outs.v[i].key == k && g->outs.v[i].age == INT32_MAX) return true;
    return false;
}

static void at_end(Check *c, State *s)
{
    c->at = UINT32_MAX;
    for (uint32_t i = 0; i < c->f.k->rings.n && !c->failed; i++) {
        RingState *r = s->ring[i];
        for (uint32_t b = 0; b < slots(c, i); b++) {
            Generation *g = &r->gen[b];
            Keys left = {0};
            bool first = true;
            for (uint32_t a = 0; a < c->f.k->roles.n; a++) {
                if (!c->f.ring[i].used[a]) continue;
                if (first) keys_unite(c->a, &left, &g->unknown[a][THE_ONE]);
                else keys_meet(&left, &g->unknown[a][THE_ONE]);
                if (!alone(c, a)) keys_meet(&left, &g->unknown[a][ALL_THREADS]);
                first = false;
            }
            for (uint32_t j = 0; j < left.n; j++) {
                const TreeAccess *y = key_of(&c->f, left.v[j]);
                if (y && !key_is_fence(left.v[j]) && is_copy(y) && y->how != TO_PEER && !waited(g, left.v[j]))
                    fail(c, TREE_EXIT, i, y, "on its way at the end");
            }
        }
    }
}

bool tree_check(Arena *a, const IrKernel *k, uint32_t without, TreeFault *fault)
{
    Check *c = arena_new(a, Check);
    *c = (Check){.a = a, .fault = fault, .without = without, .at = UINT32_MAX};
    *fault = (TreeFault){0};
    if (!tree_facts(a, k, &c->f)) {
        *fault = (TreeFault){TREE_FORM, &k->tree.ops.v[c->f.wrong_op], NULL, c->f.wrong};
        return false;
    }
    c->heads = arena_array(a, State *, k->tree.ops.n);
    across(c);
    State *s = block(c, state_new(&c->f), 0, k->tree.ops.n);
    if (!c->failed) at_end(c, s);
    return !c->failed;
}
