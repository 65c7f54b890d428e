/* Clusters: what an op says to which CTA, worked out for each rank.
 *
 * CTAs of a cluster go through the tree in lock step, so an arrival of the own barrier counts once there, and one that names a CTA
 * counts at that, from each CTA whose guard holds. */
#include "lower/verify/tree/facts.h"

uint32_t tree_ctas(const IrKernel *k)
{
    return k->mf.cluster[0] * k->mf.cluster[1] * k->mf.cluster[2];
}

bool tree_reaches_others(const IrOp *op)
{
    return ir_find(op, IRK_RANK) || ir_find(op, IRK_MASK) || op->op == IR_CLC_NEXT;
}

enum { TURNS = 64 }; /* of a loop whose index names CTAs */

static bool may_turn(const TreeFacts *f, uint32_t at)
{
    const IrOp *op = tree_op(f, at);
    int64_t trips = op->op == IR_LOOP ? tree_trips(op) : 0;
    return trips > 0 && trips <= TURNS;
}

bool tree_turns(const TreeFacts *f, uint32_t at, bool first)
{
    ++*f->turns;
    for (uint32_t b = f->around[at]; b; b = f->around[b - 1]) {
        if (!may_turn(f, b - 1)) continue;
        int64_t from = ir_find(tree_op(f, b - 1), IRK_A)->imm;
        bool goes_on = !first && f->turn[b - 1] + 1 < from + tree_trips(tree_op(f, b - 1));
        f->turn[b - 1] = goes_on ? f->turn[b - 1] + 1 : from;
        f->turning[b - 1] = true;
        if (goes_on) return true;
    }
    for (uint32_t b = f->around[at]; b && !first; b = f->around[b - 1]) f->turning[b - 1] = false;
    return first;
}

static bool targets(const TreeFacts *f, const IrArg *to, const IrArg *mask, uint32_t rank, uint32_t *set)
{
    int64_t n = 0;
    uint32_t all = tree_ctas(f->k);
    if (!tree_number(f, to ? to : mask, rank, &n)) return false;
    if (to && (n < 0 || n >= all)) return false;
    if (mask && (n < 0 || n >> all)) return false;
    *set |= to ? 1u << n : (uint32_t)n;
    return true;
}

bool tree_targets(const TreeFacts *f, const IrOp *op, uint32_t rank, uint32_t *set)
{
    const IrArg *to = ir_find(op, IRK_RANK), *mask = ir_find(op, IRK_MASK);
    uint32_t at = (uint32_t)(op - f->tree->ops.v);
    *set = 1u << rank;
    if (op->op == IR_CLC_NEXT) *set = (1u << tree_ctas(f->k)) - 1; /* an answer for all */
    if (to == NULL && mask == NULL) return true;
    *set = 0;
    if (targets(f, to, mask, rank, set)) return true;
    for (uint32_t b = f->around[at]; b; b = f->around[b - 1])
        if (f->turning[b - 1]) return false;
    bool known = true;
    for (bool more = tree_turns(f, at, true); more; more = tree_turns(f, at, false)) known = known && targets(f, to, mask, rank, set);
    return known;
}

/* ---- rings that are filled across CTAs ---- */

/* By CTA: those that the agent writes to. */
static bool fills_of(const TreeFacts *f, uint32_t ring, uint32_t agent, uint32_t *fills)
{
    for (uint32_t i = 0; i < f->ring[ring].access.n; i++) {
        const TreeAccess *x = &f->access.v[f->ring[ring].access.v[i]];
        if (!x->far || x->agent != agent) continue;
        for (uint32_t s = 0; s < tree_ctas(f->k); s++) {
            uint32_t set;
            if (tree_when(f, tree_op(f, x->op), s) == WHEN_NEVER) continue;
            if (!tree_targets(f, tree_op(f, x->op), s, &set)) return false;
            fills[s] |= set;
        }
    }
    return true;
}

/* at[s][t]: the op by which s tells t, from 1. */
static bool says_of(const TreeFacts *f, uint32_t ring, uint8_t agent, uint32_t *to, uint32_t *hears, uint32_t at[][TREE_RANKS])
{
    for (uint32_t k = 0; k < f->ring[ring].ops.n; k++) {
        uint32_t i = f->ring[ring].ops.v[k];
        const IrOp *op = tree_op(f, i);
        const IrArg *bar = ir_find(op, IRK_BAR);
        bool release = op->op == IR_RELEASE && ir_find(op, IRK_RING)->id == ring && op->agent == agent + 1u;
        bool arrive = (op->op == IR_BAR_ARRIVE || op->op == IR_BAR_ARRIVE_EXPECT) && bar && f->k->bars.v[bar->id].ring == ring + 1;
        if (!release && !arrive) continue;
        for (uint32_t s = 0; s < tree_ctas(f->k); s++) {
            uint32_t set;
            if (tree_when(f, op, s) != WHEN_ALWAYS) continue;
            if (!tree_targets(f, op, s, &set)) return false;
            if (release) to[s] |= set;
            for (uint32_t t = 0; t < tree_ctas(f->k) && release; t++)
                if (set >> t & 1) at[s][t] = i + 1;
            for (uint32_t t = 0; t < tree_ctas(f->k) && arrive; t++) hears[t] |= (set >> t & 1) << s;
        }
    }
    return true;
}

/* Which CTA surely brings bytes to which in each generation, as far as that has been asked for. */
typedef struct Sure {
    const TreeFacts *f;
    uint32_t ring, asked[TREE_RANKS], brings[TREE_RANKS];
} Sure;

static bool surely(Sure *u, uint32_t from, uint32_t to)
{
    if (!(u->asked[from] >> to & 1)) u->brings[from] |= (uint32_t)tree_brings(u->f, u->ring, from, to) << to;
    u->asked[from] |= 1u << to;
    return u->brings[from] >> to & 1;
}

/* Somebody else surely fills t, and does so only when all have told him that his own slot is free, which they tell s before. */
static bool by_another(uint32_t n, uint32_t at[][TREE_RANKS], Sure *sure, uint32_t s, uint32_t t)
{
    for (uint32_t q = 0; q < n; q++) {
        bool first = surely(sure, q, t);
        for (uint32_t u = 0; u < n && first; u++) first = at[u][s] == 0 || at[u][s] < at[u][q];
        if (first) return true;
    }
    return false;
}

/* All that is written to other CTAs is so by that agent, behind its await of the event. */
static bool fills_behind(const TreeFacts *f, uint32_t ring, uint32_t bar, uint32_t agent)
{
    const TreeRing *r = &f->ring[ring];
    bool all = true;
    for (uint32_t i = 0; i < r->access.n && all; i++) {
        const TreeAccess *x = &f->access.v[r->access.v[i]];
        if (!x->far) continue;
        bool behind = false;
        for (uint32_t k = 0; k < r->ops.n && r->ops.v[k] < x->op; k++) {
            const IrOp *op = tree_op(f, r->ops.v[k]);
            behind |= op->op == IR_AWAIT && op->agent == agent + 1u && ir_find(op, IRK_BAR)->id == bar && !tree_begins(f, ring, r->ops.v[k], x->op);
        }
        all = x->agent == agent && behind;
    }
    return all;
}

/* Who arrives at another CTA's event has heard, since its own last turn, from all that await it there: by their release, or by their bytes. */
static bool heard_of(const TreeFacts *f, uint32_t ring, uint32_t e, Sure *sure)
{
    const TreeRing *r = &f->ring[ring];
    Pairs from = {{0}};
    for (uint32_t k = 0; k < r->ops.n; k++) {
        const IrArg *bar = ir_find(tree_op(f, r->ops.v[k]), IRK_BAR);
        if (bar && bar->id == r->event[e] && ir_op_info((IrOpcode)tree_op(f, r->ops.v[k])->op)->group == IRG_BARRIER) pairs_unite(&from, &tree_tells(f, r->ops.v[k])->from);
    }
    for (uint8_t a = 0; a < f->k->roles.n; a++) {
        uint32_t to[TREE_RANKS] = {0}, hears[TREE_RANKS] = {0}, at[TREE_RANKS][TREE_RANKS] = {{0}};
        if (!(r->waits[a] >> e & 1)) continue;
        bool known = says_of(f, ring, a, to, hears, at), behind = fills_behind(f, ring, r->event[e], a);
        for (uint32_t s = 0; s < tree_ctas(f->k); s++)
            for (uint32_t t = 0; t < tree_ctas(f->k); t++)
                if (s != t && pairs_row(&from, t) >> s & 1 && !(known && to[t] >> s & 1) && !(behind && surely(sure, t, s))) return false;
    }
    return true;
}

/* No slot is used twice. */
static bool once(const TreeFacts *f, uint32_t ring)
{
    const TreeRing *r = &f->ring[ring];
    bool inside = r->begun.n > r->slots;
    for (uint32_t i = 0; i < r->begun.n; i++)
        for (uint32_t b = f->around[r->begun.v[i]]; b; b = f->around[b - 1]) inside |= tree_op(f, b - 1)->op != IR_IF && tree_op(f, b - 1)->op != IR_ELSE;
    return !inside;
}

const char *tree_across(const TreeFacts *f, uint32_t ring)
{
    uint32_t n = tree_ctas(f->k);
    const TreeRing *r = &f->ring[ring];
    Sure sure = {.f = f, .ring = ring};
    for (uint32_t e = 0; e < r->nevents && n > 1 && !f->k->tmem; e++) /* a pair's order is the graph's to prove */
        if (r->remote >> e & 1 && !once(f, ring) && !heard_of(f, ring, e, &sure)) return "a CTA arrives at another one and may not hear of that one's last turn";
    for (uint8_t b = 0; b < f->k->roles.n && n > 1; b++) { /* who fills */
        uint32_t fills[TREE_RANKS] = {0};
        if (!fills_of(f, ring, b, fills)) return "which CTA is filled is not known";
        for (uint8_t a = 0; a < f->k->roles.n; a++) { /* who releases */
            uint32_t to[TREE_RANKS] = {0}, hears[TREE_RANKS] = {0}, at[TREE_RANKS][TREE_RANKS] = {{0}};
            if (!r->releases[a]) continue;
            if (!says_of(f, ring, a, to, hears, at)) return "which CTA hears of a release is not known";
            for (uint32_t s = 0; s < n; s++) {
                for (uint32_t t = 0; t < n; t++) {
                    bool free = to[t] >> s & 1 && r->begins[b], told = hears[s] >> t & 1 && r->waits[b]; /* that it has begun there */
                    if (fills[s] >> t & 1 && s != t && !free && !told) return "a CTA fills another one's slot and does not hear when that is free";
                    if (s != t && to[t] >> s & 1 && !(hears[t] >> s & 1) && !surely(&sure, s, t) && !by_another(n, at, &sure, s, t))
                        return "a CTA tells another one that its slot is free and may not hear of that one's last turn";
                }
            }
        }
    }
    return NULL;
}

/* ---- who tells whom ---- */

const TreeTells *tree_tells(const TreeFacts *f, uint32_t at)
{
    if (f->tells[at]) return f->tells[at];
    const IrOp *op = tree_op(f, at);
    TreeTells *t = f->tells[at] = arena_new(f->a, TreeTells);
    *t = (TreeTells){.known = true};
    for (uint32_t s = 0; s < tree_ctas(f->k); s++) {
        uint32_t set;
        TreeWhen when = tree_when(f, op, s);
        if (when == WHEN_NEVER) continue;
        if (when == WHEN_OPEN || !tree_targets(f, op, s, &set)) {
            *t = (TreeTells){.known = false};
            return t;
        }
        for (uint32_t to = 0; to < tree_ctas(f->k); to++) pairs_add(&t->from, to, (set >> to & 1) << s);
    }
    const IrArg *bar = ir_find(op, IRK_BAR);
    const TreeRing *r = bar && op->agent && f->k->bars.v[bar->id].ring ? &f->ring[f->k->bars.v[bar->id].ring - 1] : NULL;
    for (uint32_t to = 0; to < tree_ctas(f->k); to++) {
        bool back = false;
        for (uint32_t s = 0; s < tree_ctas(f->k) && r; s++) back = back || (pairs_row(&t->from, to) >> s & pairs_row(&r->by[op->agent - 1], s) >> to & 1);
        pairs_add(&t->itself, 0, pairs_row(&t->from, to) & 1u << to);
        pairs_add(&t->back, 0, (uint32_t)back << to);
    }
    if (!pairs_within(&f->all, &t->itself)) pairs_drop(&t->itself, &t->back); /* once is enough */
    return t;
}

void tree_fills(TreeFacts *f, uint32_t ring)
{
    TreeRing *r = &f->ring[ring];
    for (uint32_t a = 0; a < f->k->roles.n; a++) {
        uint32_t fills[TREE_RANKS] = {0}, all = (1u << tree_ctas(f->k)) - 1;
        bool known = fills_of(f, ring, a, fills);
        for (uint32_t s = 0; s < tree_ctas(f->k); s++) {
            pairs_add(&r->by[a], s, known ? fills[s] : all);
            pairs_add(&r->fills, s, known ? fills[s] : all);
        }
    }
}

static bool has_barrier(const IrRole *body)
{
    bool arrived = false, waited = false;
    for (uint32_t i = 0; i < body->ops.n; i++) {
        waited |= arrived && body->ops.v[i].op == IR_CLUSTER_WAIT;
        arrived |= body->ops.v[i].op == IR_CLUSTER_ARRIVE;
    }
    return waited;
}

/* All threads come together behind the last barrier that is initialised, if there are others than the one that did it. */
bool tree_starts(const TreeFacts *f)
{
    const IrKernel *k = f->k;
    uint32_t warps = 0;
    bool one = k->roles.n == 1 && k->roles.v[0].elect, inits = false, together = true;
    for (uint32_t a = 0; a < k->roles.n; a++) warps += k->roles.v[a].warps;
    for (uint32_t i = 0; i < k->init.ops.n; i++) {
        uint8_t op = k->init.ops.v[i].op;
        inits |= op == IR_BAR_INIT;
        if (op == IR_BAR_INIT) together = false;
        if (op == IR_CTA_SYNC || op == IR_CLUSTER_WAIT || (op == IR_WARP_SYNC && warps == 1)) together = true;
    }
    return !inits || one || together;
}

bool tree_leaves(const TreeFacts *f)
{
    bool others = false;
    for (uint32_t i = 0; i < f->tree->ops.n && tree_ctas(f->k) > 1; i++) {
        const IrOp *op = tree_op(f, i);
        others |= tree_reaches_others(op);
    }
    return !others || (has_barrier(&f->k->init) && has_barrier(&f->k->exit));
}
