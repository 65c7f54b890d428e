#include "lower/verify/tree/check.h"

#include "lower/verify/tree/walk.h"

enum { NO_RING = -1 };

COLD static void fail(Check *c, TreeCondition condition, int64_t ring, const TreeAccess *other, const char *text)
{
    if (c->failed || c->without >> condition & 1) return;
    c->failed = true;
    if (ring != NO_RING) text = arena_printf(c->f.a, "%s: %s", c->f.k->rings.v[ring].name, text);
    *c->fault = (TreeFault){condition, c->at < c->f.tree->ops.n ? tree_op(&c->f, c->at) : NULL, other ? tree_op(&c->f, other->op) : NULL, text};
}

COLD static void fail_at(Check *c, const IrOp *op, TreeCondition condition, const char *text)
{
    c->at = (uint32_t)(op - c->f.tree->ops.v);
    fail(c, condition, NO_RING, NULL, text);
}

/* ---- who knows ---- */

/* Of agents of one thread that knows what all of them know. */
static Set unknown(const Check *c, Generation g, uint32_t agent, bool one)
{
    return unknown_of(g, agent, one || alone(c, agent) ? THE_ONE : ALL_THREADS);
}

static void unite(Generation g, Set s, const uint64_t *t)
{
    for (uint32_t w = 0; w < g.r->words; w++) s[w] |= t[w];
}

static void meet(Generation g, Set s, const uint64_t *t)
{
    for (uint32_t w = 0; w < g.r->words; w++) s[w] &= t[w];
}

static bool none(Generation g, const uint64_t *s)
{
    return set_next(s, g.r->words, 0) == UINT32_MAX;
}

/* The generation at hand, which the agent is not done with. */
static Generation now(Check *c, State *s, uint32_t ring, uint32_t agent)
{
    state_own(&c->p, s, ring);
    Generation g = generation(&c->p, s, ring, 0);
    if (marks(g)->never) fail(c, TREE_BEGUN, ring, NULL, "no generation has begun");
    if (marks(g)->done & bit(agent)) fail(c, TREE_DONE, ring, NULL, "used by who is done with the generation");
    return g;
}

/* Who awaits the event hears what is said; what covers some CTAs alone counts when all are that need it. */
static void say(Generation g, uint32_t e, int slots, const uint64_t *said, const Pairs *covers, const Pairs *need)
{
    Set unheard = unheard_of(g, e, slots), part = part_of(g, e, slots);
    Pairs *untold = untold_of(g, e, slots);
    if (pairs_within(need, covers)) meet(g, unheard, said);
    if (pairs_within(need, covers) || pairs_apart(need, covers)) return;
    if (pairs_full(untold)) memset(part, 0, g.r->words * sizeof *part);
    unite(g, part, said);
    pairs_drop(untold, covers);
    if (pairs_apart(need, untold)) meet(g, unheard, part);
}

/* Of its own slot a CTA hears from itself, and from who copies there what that knows of it; of those to which it copies, from them. */
static void hear(Check *c, Generation g, uint32_t e, uint32_t agent, const uint64_t *said, const TreeTells *tells)
{
    say(g, e, OWN, said, &tells->itself, &c->f.all);
    if (g.r->ctas == 1) return;
    say(g, e, OWN, unknown_of(g, agent, THERE), &tells->back, &c->f.all);
    say(g, e, OTHERS, said, &tells->from, &g.r->fills);
}

/* ---- accesses ---- */

/* Of what is left out of `known` nothing may meet x. */
static void beside(Check *c, Generation g, const TreeAccess *x, const uint64_t *left)
{
    const TreeRing *r = g.r;
    bool fences = is_copy(x) && !x->generic;
    if (set_has(left, BEGUN)) fail(c, TREE_BEGUN, x->ring, NULL, "touched by who has not heard that the generation has begun");
    for (uint32_t w = 0; w < r->words && !c->failed; w++) {
        uint64_t bits = left[w] & (x->write ? ~UINT64_C(0) : r->writes[w]) & (fences ? ~UINT64_C(0) : ~r->fences[w]);
        for (; bits && !c->failed; bits &= bits - 1) {
            uint32_t at = w * WORD + (uint32_t)__builtin_ctzll(bits);
            const TreeAccess *y = tree_access_of(&c->f, r, at);
            if (at == BEGUN || !tree_conflict(&c->f, x, y)) continue;
            if (at & 1) fail(c, TREE_FENCE, x->ring, y, "copied, with no fence behind what threads wrote");
            else fail(c, TREE_BESIDE, x->ring, y, "touched beside an access that may be under way");
        }
    }
}

/* Nobody knows it to be over but the one thread that did it. */
static void note(Check *c, State *s, Generation g, const TreeAccess *x)
{
    uint32_t over = over_bit(x), fence = over + 1;
    for (uint32_t a = 0; a < c->f.k->roles.n; a++) {
        if (!g.r->used[a]) continue;
        for (int k = 0; k < (int)g.r->kinds; k++) {
            bool knows = !is_copy(x) && a == x->agent && x->one && (k == THE_ONE || (k == ALL_THREADS && alone(c, a)));
            if (!knows) set_add(unknown_of(g, a, k), over);
            if (x->generic) set_add(unknown_of(g, a, k), fence);
        }
        if (marks(g)->released & bit(a)) set_add(said_of(g, a), over);
        if (marks(g)->released & bit(a) && x->generic) set_add(said_of(g, a), fence);
        if (x->generic) set_add(rings_of(&c->p, s, a, UNFENCED), x->ring);
    }
    for (uint32_t e = 0; e < g.r->nevents; e++) {
        for (int i = 0; i < (int)g.r->hears; i++) {
            Set sets[] = {unheard_of(g, e, i), part_of(g, e, i)};
            for (int j = 0; j < 2; j++) {
                set_add(sets[j], over);
                if (x->generic) set_add(sets[j], fence);
            }
        }
    }
    touch(c, s, x->agent, x->ring);
    if (x->out == 0) return;
    if (x->how != TO_PEER) set_add(rings_of(&c->p, s, x->agent, OUT), x->ring);
    outs_of(g)[x->out - 1] = x->how == TO_PEER ? OUT_NEW : OUT_OPEN;
}

static void access(Check *c, State *s, const TreeAccess *x)
{
    const TreeRing *r = &c->f.ring[x->ring];
    Generation g = now(c, s, x->ring, x->agent);
    if (x->far) { /* of other CTAs it knows what they have told it; its threads, when they have come together with the one that heard it */
        beside(c, g, x, unknown_of(g, x->agent, THERE));
        const uint64_t *all = unknown_of(g, x->agent, ALL_THREADS), *one = unknown_of(g, x->agent, THE_ONE);
        for (uint32_t w = 0; w < r->words; w++) c->left[0][w] = all[w] & ~one[w] & ~r->fences[w];
        if (!x->one && !alone(c, x->agent)) beside(c, g, x, c->left[0]);
    } else {
        beside(c, g, x, unknown(c, g, x->agent, x->one));
    }
    bool comes = x->how == TO_EVENT && c->f.k->bars.v[x->event].ring == x->ring + 1;
    uint32_t e = comes ? c->f.event[x->event] : 0;
    for (uint32_t a = 0; a < c->f.k->roles.n && comes; a++)
        if (r->waits[a] & ~marks(g)->missed[a] & (1u << e)) fail(c, TREE_BYTES, x->ring, NULL, "bytes for an event that has been awaited");
    note(c, s, g, x);
    /* Bytes that have come show that their copy was issued, and what who issued it knew. */
    const TreeTells *tells = comes ? tree_tells(&c->f, x->op) : NULL;
    if (comes && tells->known) hear(c, g, e, x->agent, unknown(c, g, x->agent, x->one), tells);
}

/* ---- rings ---- */

static bool across_ctas(const IrOp *op)
{
    const IrArg *scope = ir_find(op, IRK_SCOPE);
    return scope && scope->id != IRC_CTA;
}

/* Its free barrier counts as many as have released generation n - S. */
static void hears_all(Check *c, const IrOp *op, uint32_t ring, Generation old)
{
    uint32_t want = c->f.k->bars.v[c->f.k->rings.v[ring].free].count;
    const uint8_t *freed = freed_of(old);
    for (uint32_t s = 0; s < c->f.ctas; s++) {
        TreeWhen when = tree_when(&c->f, op, s);
        if (when == WHEN_OPEN) fail(c, TREE_COUNT, ring, NULL, "whether it waits is not known");
        if (when == WHEN_ALWAYS && freed[s] && (uint32_t)(FEW_MAX - freed[s]) != want) fail(c, TREE_COUNT, ring, NULL, "its free barrier counts others than release it");
    }
}

/* What the agent, and all that release the ring towards those CTAs, did not know to be over in generation n - S. */
static bool left_over(Check *c, Generation old, uint32_t a, int kind, const Pairs *from)
{
    Set left = c->left[kind];
    bool told = true;
    memcpy(left, unknown_of(old, a, kind), old.r->words * sizeof *left);
    for (uint32_t b = 0; b < c->f.k->roles.n; b++) {
        if (!old.r->releases[b]) continue;
        if (pairs_apart(from, unfreed_of(old, b))) meet(old, left, said_of(old, b));
        else told = false;
    }
    for (uint32_t w = 0; w < old.r->words && !old.r->has_copies; w++) left[w] &= ~old.r->fences[w];
    return told;
}

static void acquire(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id, a = op->agent - 1u;
    const TreeRing *info = &c->f.ring[ring];
    state_own(&c->p, s, ring);
    Generation old = generation(&c->p, s, ring, info->slots - 1), last = generation(&c->p, s, ring, 0);
    uint8_t releases = mask(info->releases);
    bool one = tree_by_one(&c->f, op), releaser = releases & bit(a), far = c->f.ctas > 1;
    Set *left = c->left;
    if (marks(last)->busy) fail(c, TREE_DONE, ring, NULL, "begun again before all are done with it");
    if (c->f.k->rings.v[ring].free != IR_NO_BAR) hears_all(c, op, ring, old);
    if (info->remote & REMOTE_FREE && !across_ctas(op)) fail(c, TREE_FREE, ring, NULL, "begun in the scope of a CTA, where others release");
    if (marks(old)->held & releases) fail(c, TREE_FREE, ring, NULL, "begun where generation n - S is not released");
    const TreeTells *waits = tree_tells(&c->f, c->at);
    bool here = pairs_within(&c->f.itself, &waits->from), there = far;
    for (uint32_t t = 0; t < c->f.ctas; t++) there = there && (pairs_row(&waits->from, t) || !pairs_row(&info->fills, t));
    for (int k = 0; k < KNOWERS; k++) here &= left_over(c, old, a, k, &c->f.itself);
    there = there && left_over(c, old, a, THERE, &info->fills) && none(old, left[THERE]);
    /* Where no CTA says it to itself its agent hears by an event that it has begun. */
    if (none(old, left[THE_ONE]) && none(old, left[ALL_THREADS])) here = true;
    c->failed |= c->brief && !here;
    for (int k = 0; k < KNOWERS && !here; k++) memset(left[k], 0, info->words * sizeof *left[k]);
    /* Threads that don't know it yet, but have done all that is left themselves, hear of it when they come together. */
    bool apart = !one && !none(old, left[THE_ONE]) && !none(old, left[ALL_THREADS]);
    for (uint32_t w = 0; w < info->words; w++) apart = apart && (left[THE_ONE][w] & left[ALL_THREADS][w] & ~info->own[a][w]) == 0;
    int knows = none(old, left[THE_ONE]) ? THE_ONE : ALL_THREADS;
    bool others = !one && !none(old, left[!knows]);
    uint32_t at = apart ? UINT32_MAX : set_next(left[knows], info->words, 0);
    if (at != UINT32_MAX) {
        const TreeAccess *y = at == BEGUN ? NULL : tree_access_of(&c->f, info, at);
        if (at & 1) fail(c, TREE_FENCE, ring, y, "begun over what threads wrote, with no fence");
        else fail(c, TREE_OVER, ring, y, "begun over an access that may be under way");
    }
    if (!releaser && marks(old)->missed[a]) fail(c, TREE_PHASES, ring, NULL, "begun by who has left out an event of generation n - S");
    if (!releaser && info->waits[a] && marks(last)->late & bit(a)) fail(c, TREE_THREADS, ring, NULL, "begun where threads may not have passed a wait");
    state_begin(&c->p, s, ring);
    Generation g = generation(&c->p, s, ring, 0);
    *marks(g) = (Marks){.apart = apart ? bit(a) : 0, .held = releases, .busy = mask(info->used)};
    memcpy(marks(g)->missed, info->waits, sizeof info->waits);
    memset(unheard_of(g, 0, OWN), UINT8_MAX, info->nevents * info->hears * info->words * sizeof *g.w);
    memset(untold_of(g, 0, OWN), UINT8_MAX, (info->nevents * info->hears + c->f.k->roles.n) * sizeof(Pairs));
    for (uint32_t e = 0; e < info->nevents; e++) memset(few_of(g, e), FEW_MAX, info->ctas);
    memset(freed_of(g), FEW_MAX, info->ctas);
    for (uint32_t b = 0; b < c->f.k->roles.n; b++) {
        for (int k = 0; k < KNOWERS; k++)
            if (b != a || apart || !here || (one && !alone(c, a) && k == ALL_THREADS) || (others && k != knows)) set_add(unknown_of(g, b, k), BEGUN);
        if (far && (b != a || !there)) set_add(unknown_of(g, b, THERE), BEGUN);
    }
    touch(c, s, a, ring);
    walk_sources_older(c, s, ring);
    if (there) walk_sources_over(c, s, ring, a, one, NULL);
}

static void await(Check *c, State *s, const IrOp *op)
{
    uint32_t bar = ir_find(op, IRK_BAR)->id, ring = c->f.k->bars.v[bar].ring - 1u, e = c->f.event[bar], a = op->agent - 1u;
    Generation g = now(c, s, ring, a);
    uint32_t want = c->f.k->bars.v[bar].count;
    bool all = true, one = tree_by_one(&c->f, op);
    for (uint32_t t = 0; t < c->f.ctas; t++) all = all && (uint32_t)(FEW_MAX - few_of(g, e)[t]) == want && most_of(g, e)[t] == want;
    if (!all) fail(c, TREE_PUBLISHED, ring, NULL, "awaited where it is not published on every path");
    if (g.r->remote >> e & 1 && !across_ctas(op)) fail(c, TREE_BEGUN, ring, NULL, "awaited in the scope of a CTA, where others arrive");
    if (marks(g)->expects[e]) fail(c, TREE_BYTES, ring, NULL, "awaited where bytes are announced by who has not arrived since");
    if (marks(g)->released & bit(a)) fail(c, TREE_PHASES, ring, NULL, "awaited behind the own release");
    for (int k = 0; k < KNOWERS; k++) {
        Set u = unknown_of(g, a, k);
        for (uint32_t w = 0; w < g.r->words && (k == THE_ONE || !one || alone(c, a)); w++) u[w] &= unheard_of(g, e, OWN)[w] & ~g.r->bound[e][w];
    }
    if (g.r->ctas > 1) meet(g, unknown_of(g, a, THERE), unheard_of(g, e, OTHERS));
    marks(g)->missed[a] &= (uint8_t)~(1u << e);
    if (!one) marks(g)->late |= bit(a);
    touch(c, s, a, ring);
    if (g.r->ctas > 1) walk_sources_over(c, s, ring, a, one, unheard_of(g, e, OTHERS));
}

/* At each CTA those that come there, from all. */
static bool arrivals(Check *c, const TreeTells *tells, uint32_t ring, uint32_t want, uint8_t *few, uint8_t *most)
{
    if (!tells->known) fail(c, TREE_COUNT, ring, NULL, "whether it arrives, or where, is not known");
    for (uint32_t t = 0; t < c->f.ctas && tells->known; t++) {
        for (uint32_t n = (uint32_t)__builtin_popcount(pairs_row(&tells->from, t)); n && few[t]; n--) {
            if (most && most[t] >= want) fail(c, TREE_ONCE, ring, NULL, "published again");
            if (most && most[t] < want) most[t]++;
            if ((uint32_t)(FEW_MAX - few[t]) < want) few[t]--;
        }
    }
    return tells->known;
}

enum { ARRIVALS = FEW_MAX - 1 };

static void publish(Check *c, State *s, const IrOp *op)
{
    uint32_t bar = ir_find(op, IRK_BAR)->id, ring = c->f.k->bars.v[bar].ring - 1u, e = c->f.event[bar], a = op->agent - 1u;
    Generation g = now(c, s, ring, a);
    uint32_t want = c->f.k->bars.v[bar].count;
    const uint64_t *known = unknown_of(g, a, THE_ONE);
    if (op->op == IR_BAR_EXPECT) {
        if (marks(g)->arrived[e] & bit(a)) fail(c, TREE_BYTES, ring, NULL, "bytes are announced behind the arrival");
        marks(g)->expects[e] |= bit(a);
        return;
    }
    const TreeTells *tells = tree_tells(&c->f, c->at);
    if (!arrivals(c, tells, ring, want < ARRIVALS ? want : ARRIVALS, few_of(g, e), most_of(g, e))) return;
    /* Who awaits the event itself has seen it come in generation n - S, here. */
    if (set_has(known, BEGUN) && (!(g.r->waits[a] >> e & 1) || g.r->remote >> e & 1)) fail(c, TREE_BEGUN, ring, NULL, "published by who has not heard that the generation has begun");
    if (!tree_by_one(&c->f, op)) fail(c, TREE_THREADS, ring, NULL, "published by every thread");
    hear(c, g, e, a, known, tells);
    marks(g)->arrived[e] |= bit(a);
    marks(g)->expects[e] &= (uint8_t)~bit(a);
}

static void release(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id, a = op->agent - 1u, lag = c->f.k->rings.v[ring].lag;
    state_own(&c->p, s, ring);
    Generation first = generation(&c->p, s, ring, 0), freed = generation(&c->p, s, ring, lag);
    if (marks(first)->done & bit(a)) fail(c, TREE_DONE, ring, NULL, "released by who is done with the generation");
    if (marks(first)->late & bit(a)) fail(c, TREE_THREADS, ring, NULL, "released where threads may not have passed a wait");
    if (!tree_by_one(&c->f, op)) fail(c, TREE_THREADS, ring, NULL, "released by every thread");
    for (uint32_t back = lag; back < first.r->slots; back++) {
        Generation g = generation(&c->p, s, ring, back);
        if (!((marks(g)->held | (back == lag ? marks(g)->released : 0)) & bit(a))) continue;
        if (set_has(unknown_of(g, a, THE_ONE), BEGUN)) fail(c, TREE_BEGUN, ring, NULL, "released by who has not heard that the generation has begun");
        if (marks(g)->missed[a]) fail(c, TREE_PHASES, ring, NULL, "released by who has not awaited all its events");
        unite(g, said_of(g, a), unknown_of(g, a, THE_ONE));
        marks(g)->released |= bit(a);
        marks(g)->held &= (uint8_t)~bit(a);
    }
    const TreeTells *tells = tree_tells(&c->f, c->at);
    if (freed_of(freed)[0] == 0) return; /* there was none */
    if (arrivals(c, tells, ring, ARRIVALS, freed_of(freed), NULL)) pairs_drop(unfreed_of(freed, a), &tells->from);
}

static void done(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = ir_find(op, IRK_RING)->id, a = op->agent - 1u;
    Generation g = now(c, s, ring, a);
    marks(g)->done |= bit(a);
    marks(g)->busy &= (uint8_t)~bit(a);
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
    for (uint32_t x = c->f.at[i].first; x < c->f.at[i + 1].first && !c->failed; x++) access(c, s, &c->f.access.v[x]);
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
    uint32_t end = c->f.at[i].end;
    bool repeat = tree_op(&c->f, i)->op == IR_REPEAT;
    State *outer = c->out, *last = NULL;
    bool once = tree_trips(tree_op(&c->f, i)) > 0 && !repeat; /* it surely runs */
    if (c->heads[i]) state_meet(&c->p, s, state_copy(&c->p, c->heads[i]));
    c->loops++;
    while (!c->failed) {
        c->out = NULL;
        State *back = block(c, state_copy(&c->p, s), i + 1, end);
        if (last) state_drop(&c->p, last);
        last = once ? state_copy(&c->p, back) : NULL;
        state_meet(&c->p, back, state_copy(&c->p, s));
        bool same = state_same(&c->p, back, s);
        state_drop(&c->p, s);
        s = back;
        if (same) break;
    }
    c->loops--;
    State *leaves = repeat ? c->out : once ? last : NULL;
    c->out = outer;
    if (c->failed) return s;
    if (c->loops) c->heads[i] = state_copy(&c->p, s); /* those around it come here again */
    if (last && leaves != last) state_drop(&c->p, last);
    if (leaves == NULL) return s;
    state_drop(&c->p, s);
    return leaves;
}

static State *branch(Check *c, State *s, uint32_t i)
{
    uint32_t end = c->f.at[i].end;
    State *other = state_copy(&c->p, s);
    s = block(c, s, i + 1, end);
    if (tree_op(&c->f, end)->op == IR_ELSE) other = block(c, other, end + 1, c->f.at[end].end);
    if (!c->failed) state_meet(&c->p, s, other);
    return s;
}

static State *block(Check *c, State *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = c->f.at[from].next; i < to && !c->failed; i = c->f.at[i + 1].next) {
        const IrOp *op = tree_op(&c->f, i);
        if (c->f.at[i].around == 0) c->numbered = tree_now(&c->f, i, c->numbered);
        switch ((IrOpcode)op->op) {
        case IR_LOOP:
        case IR_REPEAT:
            s = loop(c, s, i);
            i = c->f.at[i].end;
            break;
        case IR_LANES: /* what one does is beside what the others do */
            s = block(c, s, i + 1, c->f.at[i].end);
            s = block(c, s, i + 1, c->f.at[i].end);
            i = c->f.at[i].end;
            break;
        case IR_IF:
            s = branch(c, s, i);
            i = tree_last(&c->f, i);
            break;
        case IR_BREAK:
            if (c->out == NULL) c->out = state_copy(&c->p, s);
            else state_meet(&c->p, c->out, state_copy(&c->p, s));
            break;
        default: step(c, s, i); break;
        }
    }
    return s;
}

/* ---- before and behind ---- */

/* Which end of a slot it may leave. */
static const char *outside(const Check *c, const TreeAccess *a)
{
    bool below = false, above = false;
    for (uint32_t r = 0; r < c->f.ctas && !a->lost; r++) {
        below |= tree_poly_range(&c->f, a->from, r).lo < 0;
        above |= tree_poly_range(&c->f, a->to, r).hi > c->f.k->bufs.v[a->buf].bytes;
    }
    return below && above ? "nothing shows that this part begins and ends within the tile"
         : below          ? "nothing shows that this part begins within the tile"
         : above          ? "nothing shows that this part ends within the tile"
                          : "it is not certain that this lies within a slot";
}

static void across(Check *c)
{
    const IrOp *at;
    if (!tree_ends(&c->f, &at)) fail_at(c, at, TREE_ENDS, "how often this loop runs depends on a division by what may be 0: nothing shows that it ends");
    if (!tree_draws(&c->f, &at)) fail_at(c, at, TREE_ENDS, "nothing shows that what is drawn ends this loop, or that it is drawn as often as it says");
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
        if (c->f.access.v[x].write && !tree_apart_of_ctas(&c->f, &c->f.access.v[x])) fail(c, TREE_BESIDE, c->f.access.v[x].ring, NULL, "several CTAs may write there at once");
        if (!tree_inside(&c->f, &c->f.access.v[x])) fail(c, TREE_INSIDE, c->f.access.v[x].ring, NULL, outside(c, &c->f.access.v[x]));
    }
}

static void at_end(Check *c, State *s)
{
    c->at = UINT32_MAX;
    for (uint32_t i = 0; i < c->f.k->rings.n && !c->failed; i++) {
        const TreeRing *r = &c->f.ring[i];
        for (uint32_t b = 0; b < r->slots; b++) {
            Generation g = generation(&c->p, s, i, b);
            Set left = c->left[0];
            memcpy(left, r->copies, r->words * sizeof *left);
            for (uint32_t a = 0; a < c->f.k->roles.n; a++) {
                for (int k = 0; k < (alone(c, a) ? ALL_THREADS : KNOWERS) && r->used[a]; k++) meet(g, left, unknown_of(g, a, k));
            }
            for (uint32_t j = 0; j < r->outs.n; j++) /* each thread for its own */
                if (outs_of(g)[j] == OUT_WAITED) set_drop(left, over_bit(tree_out(&c->f, r, j)));
            uint32_t at = set_next(left, r->words, 0);
            if (at != UINT32_MAX) fail(c, TREE_EXIT, i, tree_access_of(&c->f, r, at), "on its way at the end");
        }
    }
}

/* Brief: with no more slots than the ring's lag needs, which takes so many fewer turns of each loop. Where generation n may begin
 * because n - s is free it may as n - S is, with more slots (PROOF.md); else all of them are asked about. */
static bool walk(Check *c, bool brief)
{
    c->brief = brief;
    for (uint32_t i = 0; i < c->f.k->rings.n; i++) {
        const IrRing *r = &c->f.k->rings.v[i];
        c->f.ring[i].slots = brief && r->free != IR_NO_BAR && r->lag < r->slots ? r->lag + 1 : r->slots;
    }
    c->numbered = 0;
    c->heads = arena_array(c->f.a, State *, c->f.tree->ops.n);
    states_init(&c->p, &c->f);
    State *s = block(c, state_new(&c->p), 0, c->f.tree->ops.n);
    if (!c->failed) at_end(c, s);
    return !c->failed;
}

bool tree_check(Arena *a, const IrKernel *k, uint32_t without, TreeFault *fault)
{
    Check *c = arena_new(a, Check);
    *c = (Check){.fault = fault, .without = without, .at = UINT32_MAX};
    *fault = (TreeFault){0};
    if (!tree_facts(a, k, &c->f)) {
        *fault = (TreeFault){TREE_FORM, &k->tree.ops.v[c->f.wrong_op], NULL, c->f.wrong};
        return false;
    }
    across(c);
    if (c->failed) return false;
    for (int i = 0; i < KINDS; i++) c->left[i] = arena_array(a, uint64_t, c->f.words);
    if (without == 0 && c->f.ctas == 1 && walk(c, true)) return true;
    *fault = (TreeFault){0};
    c->failed = false;
    return walk(c, false);
}
