#include "lower/verify/tree/check.h"

#include "lower/verify/tree/walk.h"

enum { NO_RING = -1 };

COLD static void fail(Check *c, TreeCondition condition, int64_t ring, const TreeAccess *other, const char *text)
{
    if (c->failed || c->without >> condition & 1) return;
    c->failed = true;
    if (ring != NO_RING) text = arena_printf(c->f.a, "%s: %s", c->f.ring[ring].name, text);
    *c->fault = (TreeFault){condition, c->at < c->f.tree->ops.n ? tree_op(&c->f, c->at) : NULL, other ? tree_op(&c->f, other->op) : NULL, text, false};
}

/* ---- who knows ---- */

static Set unknown(Generation g, const TreeAccess *x)
{
    return unknown_of(g, x->agent, x->rank, x->one ? THE_ONE : ALL_THREADS);
}

static void unite(Generation g, Set s, const uint64_t *t)
{
    for (uint32_t w = 0; w < g.r->words; w++) s[w] |= t[w];
}

static void meet(Generation g, Set s, const uint64_t *t)
{
    for (uint32_t w = 0; w < g.r->words; w++) s[w] &= t[w];
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

/* The CTAs at which the op at hand of that of rank s counts. */
static uint32_t counts_at(Check *c, uint32_t ring, const IrOp *op, uint32_t s)
{
    const TreeOp *at = &c->f.at[c->at];
    uint32_t set = 0;
    if (!(at->may >> s & 1)) return 0;
    if (!(at->always >> s & 1) || !tree_targets(&c->f, op, s, &set)) fail(c, TREE_COUNT, ring, NULL, "whether it arrives, or where, is not known");
    return set;
}

/* ---- accesses ---- */

/* Of what is not known, and of what the op at hand has done itself, nothing may meet x. */
static void beside(Check *c, Generation g, TreeAccess *x, const uint64_t *unknown)
{
    const TreeRing *r = g.r;
    const uint64_t *needs = needs_of(r, free_bit(x->at));
    bool fences = r->tensor || (is_copy(x) && !x->generic);
    if (set_has(unknown, free_bit(x->at))) fail(c, TREE_BEGUN, x->ring, NULL, "touched by who has not heard that the generation has begun");
    for (uint32_t w = 0; w < r->words; w++) {
        uint64_t may = needs[w] & (x->write ? ~UINT64_C(0) : r->writes[w]) & (fences ? ~UINT64_C(0) : ~r->fences[w]);
        uint64_t bits = (unknown[w] | c->fresh[w]) & may & ~(x->apart ? x->apart[w] : 0), apart = 0;
        while (bits && !c->failed) {
            uint32_t at = w * WORD + (uint32_t)__builtin_ctzll(bits);
            const TreeAccess *y = tree_access_of(&c->f, r, at);
            bits &= bits - 1;
            if (!tree_conflict(&c->f, x, y)) apart |= UINT64_C(1) << at % WORD;
            else if (is_fence(r, at)) fail(c, TREE_FENCE, x->ring, y, r->tensor ? "touched with no tc.fence behind what was done there" : "copied, with no fence behind what threads wrote");
            else fail(c, TREE_BESIDE, x->ring, y, "touched beside an access that may be under way");
        }
        if (apart && !x->apart) x->apart = arena_array(c->f.a, uint64_t, r->words);
        if (apart) x->apart[w] |= apart;
    }
}

/* Nobody knows of what is new, or of what is not but the one thread that has done it. */
static void note(Check *c, State *s, Generation g, TreeAccess *x, const TreeAccess *end)
{
    const TreeRing *r = g.r;
    for (uint32_t w = 0; w < r->words; w++)
        for (uint32_t i = MARKS + w; i < r->at_part && c->fresh[w]; i += r->words) g.w[i] |= c->fresh[w];
    for (uint32_t i = 0; i < r->senders.n; i++)
        if (set_has(part_of(g, i), SPOKEN)) unite(g, part_of(g, i), c->fresh);
    for (; x < end; x++) {
        if (set_has(c->own, x->over)) set_drop(unknown_of(g, x->agent, x->rank, THE_ONE), x->over);
        for (uint32_t a = 0; a < c->f.k->roles.n && x->generic; a++)
            if (r->used & bit(a)) set_add(rings_of(&c->p, s, a, UNFENCED), x->ring);
        touch(c, s, x->agent, x->ring);
        if (x->out && x->how != TO_PEER) set_add(rings_of(&c->p, s, x->agent, OUT), x->ring);
        if (x->out) outs_of(g)[x->out - 1] = x->how == TO_PEER ? OUT_NEW : OUT_OPEN;
        if (x->event == 0 || !is_copy(x)) continue;
        Set part = part_of(g, x->sender);
        set_drop(part, SILENT);
        set_add(part, SPOKEN);
        unite(g, part, unknown(g, x));
    }
}

/* What the CTAs do by an op in one ring, to the first access of another one. */
static TreeAccess *accesses(Check *c, State *s, TreeAccess *x, const TreeAccess *end)
{
    const TreeRing *r = &c->f.ring[x->ring];
    TreeAccess *first = x;
    Generation g = now(c, s, x->ring, x->agent);
    if (x->event > r->nevents) g = generation(&c->p, s, x->ring, c->f.k->rings.v[x->ring].lag); /* of what is released */
    memset(c->fresh, 0, 2 * c->f.words * sizeof *c->fresh);
    for (; x < end && x->ring == first->ring; x++) {
        if (x->agent != first->agent) now(c, s, x->ring, x->agent);
        if (has_bytes(x)) beside(c, g, x, unknown(g, x));
        for (uint32_t a = 0; a < c->f.k->roles.n && x->event && is_copy(x); a++)
            if (r->waits[a] & ~marks(g)->missed[a] & (1u << (x->event - 1))) fail(c, TREE_BYTES, x->ring, NULL, "bytes for an event that has been awaited");
        set_add(c->fresh, x->over);
        if (x->generic) set_add(c->fresh, x->over + 1);
        if (!is_copy(x) && x->one && !set_has(unknown_of(g, x->agent, x->rank, THE_ONE), x->over)) set_add(c->own, x->over);
    }
    if (!c->failed) note(c, s, g, first, x);
    return x;
}

/* ---- rings ---- */

static bool across_ctas(const IrOp *op)
{
    const IrArg *scope = ir_find(op, IRK_SCOPE);
    return scope && scope->id != IRC_CTA;
}

/* Has the event all its arrivals there, on every path? No more: arrive(). */
static bool has_come(const Check *c, Generation g, uint32_t e, uint32_t t)
{
    return (uint32_t)(FEW_MAX - few_of(g, e)[t]) == c->f.k->bars.v[g.r->event[e]].count;
}

/* Does the set lack all of that other one? */
static bool lacks(Generation g, const uint64_t *s, const uint64_t *t)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < g.r->words; w++) any |= s[w] & t[w];
    return any == 0;
}

static Set left_of(const Check *c, Generation g, uint32_t cta, int kind)
{
    return c->left + (cta * KNOWERS + (uint32_t)kind) * g.r->words;
}

/* What the agent of CTA t, and all that have released generation n - S towards it, did not know of that. */
static void left_over(Check *c, Generation old, uint32_t a, uint32_t t, bool waits)
{
    const TreeRing *r = old.r;
    for (int k = 0; k < KNOWERS; k++) {
        Set left = left_of(c, old, t, k);
        memcpy(left, unknown_of(old, a, t, k), r->words * sizeof *left);
        for (uint32_t w = 0; w < r->words && !r->has_copies; w++) left[w] &= ~r->fences[w];
        if (waits) meet(old, left, unheard_of(old, r->nevents, t));
    }
}

/* Of its own slot a CTA must know enough, where it is its own agents that release it; else who touches it finds that it does not. True:
 * it knows, or where its threads have come together they do, since they have done themselves what is left. */
static bool knows_later(Check *c, uint32_t ring, Generation old, uint32_t a, uint32_t t, bool here)
{
    const TreeRing *r = old.r;
    const uint64_t *slot = needs_of(r, free_bit(t)), *own = r->own + (a * r->ctas + t) * r->words;
    Set one = left_of(c, old, t, THE_ONE), all = left_of(c, old, t, ALL_THREADS);
    uint64_t others = 0;
    uint32_t at = UINT32_MAX;
    if (lacks(old, one, slot)) return true;
    for (uint32_t w = 0; w < r->words; w++) others |= one[w] & all[w] & slot[w] & ~own[w];
    if (others == 0) return true;
    for (uint32_t w = 0; w < r->words && here; w++) {
        if (at == UINT32_MAX && all[w] & slot[w]) at = w * WORD + (uint32_t)__builtin_ctzll(all[w] & slot[w]);
        one[w] &= ~slot[w];
    }
    if (here && is_fence(r, at)) fail(c, TREE_FENCE, ring, tree_access_of(&c->f, r, at), "begun over what threads wrote, with no fence");
    else if (here) fail(c, TREE_OVER, ring, tree_access_of(&c->f, r, at), "begun over an access that may be under way");
    return false;
}

/* Facts of the new generation follow from what is left over of n - S, and from a wait. */
static void know(Check *c, Generation g, const IrOp *op, uint32_t t)
{
    const TreeRing *r = g.r;
    uint32_t a = op->agent - 1u;
    bool one = tree_by_one(&c->f, op), all = r->across || r->remote || r->paired; /* else nobody asks for those of another CTA */
    for (int k = 0; k < (one ? ALL_THREADS : knowers_of(r, a)); k++) {
        Set u = unknown_of(g, a, t, k);
        for (uint32_t fact = FACTS + (all ? 0 : t); fact < passed_bit(r, 0); fact += all ? 1 : r->ctas)
            if (lacks(g, left_of(c, g, t, k), needs_of(r, fact))) set_drop(u, fact);
        if (c->f.at[c->at].always >> t & 1) set_drop(u, begun_bit(r, t));
        if (one || k == ALL_THREADS) set_drop(u, passed_bit(r, t));
    }
}

static void acquire(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = c->f.at[c->at].ring - 1, a = op->agent - 1u, later = 0;
    const TreeRing *r = &c->f.ring[ring];
    state_own(&c->p, s, ring);
    Generation old = generation(&c->p, s, ring, r->slots - 1), last = generation(&c->p, s, ring, 0), g = last;
    if (marks(last)->busy) fail(c, TREE_DONE, ring, NULL, "begun again before all are done with it");
    for (uint32_t t = 0; t < r->ctas && c->f.k->rings.v[ring].free != IR_NO_BAR; t++) {
        bool waits = c->f.at[c->at].always >> t & 1;
        Generation phase = generation(&c->p, s, ring, r->slots - 1 - c->f.k->rings.v[ring].lag); /* as many have released n - S as its free barrier counts */
        if (!waits && c->f.at[c->at].may >> t & 1) fail(c, TREE_COUNT, ring, NULL, "whether it waits is not known");
        if (waits && few_of(phase, r->nevents)[t] && !has_come(c, phase, r->nevents, t)) fail(c, TREE_COUNT, ring, NULL, "begun where generation n - S is not released as often as its free barrier counts");
    }
    if (r->remote >> r->nevents & 1 && !across_ctas(op)) fail(c, TREE_FREE, ring, NULL, "begun in the scope of a CTA, where others release");
    for (uint32_t t = 0; t < r->ctas; t++) {
        bool waits = c->f.at[c->at].always >> t & 1;
        if (waits && r->releases && set_has(unheard_of(old, r->nevents, t), passed_bit(r, t))) fail(c, TREE_THREADS, ring, NULL, "begun where nobody who releases generation n - S has heard that each thread has begun that");
        left_over(c, old, a, t, waits);
        later += knows_later(c, ring, old, a, t, !r->releases || (waits && !(r->remote >> r->nevents & 1)));
    }
    for (uint32_t b = 0; b < c->f.k->roles.n; b++)
        if (marks(old)->missed[b]) fail(c, TREE_PHASES, ring, NULL, "begun where an event of generation n - S has been left out by who awaits it");
    state_begin(&c->p, s, ring);
    if (r->tells) walk_untold(c, s, ring);
    if (later == r->ctas) marks(g)->apart = bit(a);
    for (uint32_t t = 0; t < r->ctas; t++) know(c, g, op, t);
    touch(c, s, a, ring);
    walk_sources(c, s, ring, a, true);
}

/* What an agent hears by the event there: from those that arrive, and from those whose bytes surely come. */
static const uint64_t *hears(Check *c, Generation g, uint32_t ring, uint32_t e, uint32_t a, uint32_t cta)
{
    const uint64_t *unknown = unknown_of(g, a, cta, ALL_THREADS);
    Set heard = c->left;
    memcpy(heard, unheard_of(g, e, cta), g.r->words * sizeof *heard);
    for (uint32_t i = 0; i < g.r->senders.n; i++) {
        const TreeSender *x = &g.r->senders.v[i];
        const uint64_t *part = part_of(g, i);
        bool more = false;
        if (x->event != e || !(x->to >> cta & 1) || set_has(part, SILENT)) continue;
        for (uint32_t w = 0; w < g.r->words; w++) more |= (unknown[w] & heard[w] & ~part[w]) != 0;
        if (more && tree_brings(&c->f, ring, i, cta)) meet(g, heard, part);
    }
    return heard;
}

static void await(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = c->f.at[c->at].ring - 1, e = c->f.at[c->at].event - 1, a = op->agent - 1u;
    Generation g = now(c, s, ring, a);
    bool all = true, one = tree_by_one(&c->f, op);
    for (uint32_t t = 0; t < c->f.ctas; t++) all = all && has_come(c, g, e, t);
    if (!all) fail(c, TREE_PUBLISHED, ring, NULL, "awaited where it is not published on every path");
    if (g.r->remote >> e & 1 && !across_ctas(op)) fail(c, TREE_BEGUN, ring, NULL, "awaited in the scope of a CTA, where others arrive");
    if (marks(g)->expects[e]) fail(c, TREE_BYTES, ring, NULL, "awaited where bytes are announced by who has not arrived since");
    for (uint32_t t = 0; t < c->f.ctas; t++) {
        const uint64_t *heard = hears(c, g, ring, e, a, t), *bound = g.r->bound + (e * g.r->ctas + t) * g.r->words;
        if (set_has(heard, open_bit(g.r, e, t))) fail(c, TREE_BEGUN, ring, NULL, "awaited where nobody who arrives has heard that all have awaited it before");
        for (int k = 0; k < (one ? ALL_THREADS : knowers_of(g.r, a)); k++) {
            Set u = unknown_of(g, a, t, k);
            for (uint32_t w = 0; w < g.r->words; w++) u[w] &= heard[w] & ~bound[w];
        }
    }
    marks(g)->missed[a] &= (uint8_t)~(1u << e);
    touch(c, s, a, ring);
    if (g.r->tells) walk_hear(c, s, ring, e, a, one);
    walk_sources(c, s, ring, a, false);
}

/* One more of so many at a CTA. */
static void arrive(Check *c, uint32_t ring, Generation g, uint32_t e, uint32_t cta)
{
    uint32_t count = c->f.k->bars.v[g.r->event[e]].count, want = count < FEW_MAX ? count : FEW_MAX - 1;
    uint8_t *few = few_of(g, e) + cta, *most = most_of(g, e) + cta;
    if (*few == 0) return; /* there was no generation */
    if (*most >= want) fail(c, TREE_ONCE, ring, NULL, e == g.r->nevents ? "released again" : "published again");
    else ++*most;
    if ((uint32_t)(FEW_MAX - *few) < want) --*few;
}

/* Has the agent of CTA `from` heard that the last phase of the event in CTA `to` is over? */
static bool heard_begin(Generation g, uint32_t e, uint32_t a, uint32_t from, uint32_t to)
{
    const TreeRing *r = g.r;
    const uint64_t *unknown = unknown_of(g, a, from, THE_ONE);
    if (e == r->nevents) return !set_has(unknown, begun_bit(r, to));
    if (!set_has(unknown, open_bit(r, e, to))) return true;
    /* Who awaits the event itself has seen it come in generation n - S, here; elsewhere it has come if all its arrivals have. await() asks
     * that one of those of n knows who has awaited it. */
    return (r->tells && !set_has(unknown, free_bit(to))) || (from == to && r->waits[a] >> e & 1 && !(r->remote >> e & 1));
}

/* A barrier counts so many bytes in a phase: all that may have been announced in the generation. */
static void announce(Check *c, Generation g, uint32_t ring, uint32_t e)
{
    const TreeRing *r = g.r;
    int64_t sum = 0;
    uint32_t words = r->at_bytes - r->at_announced;
    set_add(announced_of(g), tree_not_before(r->announced.v, r->announced.n, c->at));
    for (uint32_t i = 0; (i = set_next(announced_of(g), words, i)) != UINT32_MAX; i++)
        if (c->f.at[r->announced.v[i]].event == e + 1) sum += tree_announced(&c->f, r->announced.v[i]);
    if (sum <= MBARRIER_MOST || c->failed) return;
    fail(c, TREE_BYTES, ring, NULL, arena_printf(c->f.a, "%lld bytes may complete on one phase of its barrier, which counts %d", (long long)sum, MBARRIER_MOST));
    c->fault->most = c->failed;
}

/* At an event, or at `free`, where a phase of the generation at hand is the release of an earlier one: what it tells is of that. */
static void publish(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = c->f.at[c->at].ring - 1, e = c->f.at[c->at].event - 1, a = op->agent - 1u;
    Generation g = now(c, s, ring, a), of = g;
    bool frees = e == g.r->nevents;
    if (frees) of = generation(&c->p, s, ring, c->f.k->rings.v[ring].lag);
    if (tree_announces(op)) announce(c, g, ring, e);
    if (op->op == IR_BAR_EXPECT) {
        if (marks(g)->arrived[e] & bit(a)) fail(c, TREE_BYTES, ring, NULL, "bytes are announced behind the arrival");
        marks(g)->expects[e] |= bit(a);
        return;
    }
    if (!tree_by_one(&c->f, op)) fail(c, TREE_THREADS, ring, NULL, frees ? "released by every thread" : "published by every thread");
    for (uint32_t b = 0; b < c->f.ctas; b++) {
        const uint64_t *known = unknown_of(of, a, b, THE_ONE);
        uint32_t at = counts_at(c, ring, op, b);
        for (uint32_t t = 0; at >> t; t++) {
            if (!(at >> t & 1)) continue;
            arrive(c, ring, g, e, t);
            if (!heard_begin(g, e, a, b, t)) fail(c, TREE_BEGUN, ring, NULL, frees ? "released towards where the generation may not have begun" : "published by who has not heard that the generation has begun");
            meet(of, unheard_of(of, e, t), known);
            if (g.r->tells && !frees) walk_tell(c, s, ring, e, a, b, t);
        }
    }
    marks(of)->arrived[e] |= bit(a);
    if (!frees) marks(g)->expects[e] &= (uint8_t)~bit(a);
}

static void done(Check *c, State *s, const IrOp *op)
{
    uint32_t ring = c->f.at[c->at].ring - 1, a = op->agent - 1u;
    Generation g = now(c, s, ring, a);
    marks(g)->done |= bit(a);
    marks(g)->busy &= (uint8_t)~bit(a);
}

/* ---- the walk ---- */

static void step(Check *c, State *s, uint32_t i)
{
    const IrOp *op = tree_op(&c->f, i);
    const TreeOp *at = &c->f.at[i];
    c->at = i;
    TreeAccess *x = at->first < at[1].first ? &c->f.access.v[at->first] : NULL, *end = x ? &c->f.access.v[at[1].first] : NULL;
    while (x != end && !c->failed) x = accesses(c, s, x, end);
    if (op->agent == 0 || c->failed) return;
    uint32_t a = op->agent - 1u;
    switch ((IrOpcode)op->op) {
    case IR_ACQUIRE: acquire(c, s, op); break;
    case IR_DONE: done(c, s, op); break;
    case IR_AWAIT:
        await(c, s, op);
        if (c->f.ring[at->ring - 1].commits >> (at->event - 1) & 1) walk_over(c, s, a, BY_COMMIT, 0, tree_by_one(&c->f, op));
        break;
    case IR_RELEASE:
    case IR_BAR_EXPECT:
    case IR_BAR_ARRIVE:
    case IR_BAR_ARRIVE_EXPECT:
    case IR_TC_COMMIT:
        if (at->event) publish(c, s, op);
        if (op->op == IR_TC_COMMIT) walk_older(c, s, a, BY_COMMIT, true);
        break;
    case IR_GRP_COMMIT: walk_older(c, s, a, BY_GROUP, tree_by_one(&c->f, op)); break;
    case IR_GRP_WAIT: walk_over(c, s, a, BY_GROUP, (int32_t)ir_find(op, IRK_N)->imm, tree_by_one(&c->f, op)); break;
    case IR_CTA_SYNC:
    case IR_WARP_SYNC: walk_together(c, s, a); break;
    case IR_FENCE_ASYNC: walk_fence(c, s, a, op->elect, false, ir_find(op, IRK_SPACE)->id); break;
    case IR_TC_FENCE:
        if (ir_find(op, IRK_ORDER)->id == IRD_AFTER) walk_fence(c, s, a, op->elect, true, 0);
        else walk_over(c, s, a, BY_LANES, OUT_NEW - OUT_OPEN, tree_by_one(&c->f, op));
        break;
    default: break;
    }
}

static State *block(Check *c, State *s, uint32_t from, uint32_t to);

static State *loop(Check *c, State *s, uint32_t i)
{
    uint32_t turns = 0;
    uint32_t end = c->f.at[i].end;
    bool repeat = tree_op(&c->f, i)->op == IR_REPEAT;
    State *outer = c->out, *last = NULL;
    bool once = tree_trips(tree_op(&c->f, i)) > 0 && !repeat; /* it surely runs */
    State **head = &c->heads[c->f.at[i].loop - 1];
    if (*head) state_meet(&c->p, s, state_copy(&c->p, *head));
    while (!c->failed) {
        c->out = NULL;
        State *back = block(c, state_copy(&c->p, s), i + 1, end);
        if (last) state_drop(&c->p, last);
        last = once ? state_copy(&c->p, back) : NULL;
        if (!state_meet(&c->p, s, back)) break;
        if (++turns == 2 && c->brief && *head == NULL) state_guess(&c->p, s, i);
    }
    State *leaves = repeat ? c->out : once ? last : NULL;
    c->out = outer;
    if (c->failed) return s;
    if (c->f.at[i].around) *head = state_copy(&c->p, s); /* those around it come here again */
    if (last && leaves != last) state_drop(&c->p, last);
    if (leaves == NULL) return s;
    state_drop(&c->p, s);
    return leaves;
}

/* Where CTAs may go different ways, what the one does on the first is beside what another one does on the second. */
static State *branch(Check *c, State *s, uint32_t i)
{
    uint32_t end = c->f.at[i].end;
    const IrArg *when = ir_find(tree_op(&c->f, i), IRK_COND);
    State *other = state_copy(&c->p, s);
    s = block(c, s, i + 1, end);
    if (c->f.ctas > 1 && !tree_same(&c->f, when->id)) state_meet(&c->p, other, state_copy(&c->p, s));
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
    const TreePlace *p = a->place;
    bool below = !p->lost && p->begins.lo < 0, above = !p->lost && p->ends.hi > c->f.k->bufs.v[a->buf].bytes;
    return below && above ? "nothing shows that this part begins and ends within the tile"
         : below          ? "nothing shows that this part begins within the tile"
         : above          ? "nothing shows that this part ends within the tile"
                          : "it is not certain that this lies within a slot";
}

static void across(Check *c)
{
    if ((c->at = tree_ends(&c->f)) != UINT32_MAX) fail(c, TREE_ENDS, NO_RING, NULL, "how often this loop runs, and whether under a condition, depends on a division by what may be 0: nothing shows that it ends");
    if ((c->at = tree_draws(&c->f)) != UINT32_MAX) fail(c, TREE_ENDS, NO_RING, NULL, "nothing shows that what is drawn ends this loop, or that it is drawn as often as it says");
    if ((c->at = tree_alike(&c->f)) != UINT32_MAX) fail(c, TREE_COUNT, NO_RING, NULL, "CTAs of a cluster may not come here as often as those that they reach");
    if (!tree_starts(&c->f)) fail(c, TREE_FORM, NO_RING, NULL, "a thread may use a barrier before it is initialised");
    if (!tree_frees(&c->f)) fail(c, TREE_EXIT, NO_RING, NULL, "tensor memory may be freed while it is in use");
    if (!tree_leaves(&c->f)) fail(c, TREE_EXIT, NO_RING, NULL, "a CTA may begin, or leave, while others reach into it");
    for (uint32_t i = 0; i < c->f.k->rings.n; i++)
        if (!tree_bytes(&c->f, i)) fail(c, TREE_BYTES, i, NULL, "it is not certain that as many bytes come as are announced");
    for (uint32_t x = 0; x < c->f.access.n; x++) {
        TreeAccess *a = &c->f.access.v[x];
        c->at = a->op;
        if (has_bytes(a) && !tree_inside(&c->f, a)) fail(c, TREE_INSIDE, a->ring, NULL, outside(c, a));
    }
}

static void at_end(Check *c, State *s)
{
    c->at = UINT32_MAX;
    for (uint32_t i = 0; i < c->f.nrings && !c->failed; i++) {
        const TreeRing *r = &c->f.ring[i];
        for (uint32_t b = 0; b < r->slots; b++) {
            Generation g = generation(&c->p, s, i, b);
            Set left = c->left;
            memcpy(left, r->copies, r->words * sizeof *left);
            for (uint32_t a = 0; a < c->f.k->roles.n; a++) {
                if (marks(g)->missed[a]) fail(c, TREE_PHASES, i, NULL, "an event is left out at the end by who awaits it");
                for (uint32_t t = 0; t < r->ctas && r->used & bit(a); t++)
                    for (int k = 0; k < knowers_of(r, a); k++) meet(g, left, unknown_of(g, a, t, k));
            }
            for (uint32_t j = 0; j < r->outs.n; j++) /* each thread for its own */
                if (outs_of(g)[j] == OUT_WAITED) set_drop(left, tree_out(&c->f, r, j)->over);
            uint32_t at = set_next(left, r->words, 0);
            if (at != UINT32_MAX) fail(c, TREE_EXIT, i, tree_access_of(&c->f, r, at), "on its way at the end");
        }
    }
}

/* Brief: with no more slots than the ring's lag needs, which takes so many fewer turns of each loop. Where generation n may begin
 * because n - s is free it may as n - S is, with more slots (PROOF.md); else all of them are asked about. */
static bool walk(Check *c, bool brief)
{
    for (uint32_t i = 0; i < c->f.k->rings.n; i++) {
        const IrRing *r = &c->f.k->rings.v[i];
        c->f.ring[i].slots = brief && r->free != IR_NO_BAR && r->lag < r->slots ? r->lag + 1 : r->slots;
    }
    c->numbered = 0;
    c->brief = brief;
    c->heads = arena_array(c->f.a, State *, c->f.loops.n);
    states_init(&c->p, &c->f);
    State *s = block(c, state_new(&c->p), 0, c->f.tree->ops.n);
    if (!c->failed) at_end(c, s);
    return !c->failed;
}

bool tree_check(Arena *a, const IrKernel *k, uint32_t without, TreeFault *fault)
{
    Check *c = arena_new(a, Check);
    c->fault = fault;
    c->without = without;
    c->at = UINT32_MAX;
    *fault = (TreeFault){0};
    if (!tree_facts(a, k, &c->f)) {
        *fault = (TreeFault){TREE_FORM, &k->tree.ops.v[c->f.wrong_op], NULL, c->f.wrong, false};
        return false;
    }
    across(c);
    if (c->failed) return false;
    c->left = arena_array(a, uint64_t, c->f.words * c->f.ctas * KNOWERS);
    c->fresh = arena_array(a, uint64_t, 2 * c->f.words);
    c->own = c->fresh + c->f.words;
    if (walk(c, true)) return true;
    *fault = (TreeFault){0};
    c->failed = false;
    return walk(c, false);
}
