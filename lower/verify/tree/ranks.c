/* Clusters: what an op says to which CTA, worked out for each rank.
 *
 * CTAs of a cluster go through the tree in lock step, so an arrival of the own barrier counts once there, and one that names a CTA
 * counts at that, from each CTA whose guard holds. */
#include "lower/verify/tree/facts.h"

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
    for (uint32_t b = f->at[at].around; b; b = f->at[b - 1].around) {
        if (!may_turn(f, b - 1)) continue;
        int64_t from = ir_find(tree_op(f, b - 1), IRK_A)->imm;
        bool goes_on = !first && f->at[b - 1].turn + 1 < from + tree_trips(tree_op(f, b - 1));
        f->at[b - 1].turn = goes_on ? f->at[b - 1].turn + 1 : from;
        f->at[b - 1].turning = true;
        if (goes_on) return true;
    }
    for (uint32_t b = f->at[at].around; b && !first; b = f->at[b - 1].around) f->at[b - 1].turning = false;
    return first;
}

static bool targets(const TreeFacts *f, const IrArg *to, const IrArg *mask, uint32_t rank, uint32_t *set)
{
    int64_t n = 0;
    uint32_t all = f->ctas;
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
    if (op->op == IR_CLC_NEXT) *set = (1u << f->ctas) - 1; /* an answer for all */
    if (to == NULL && mask == NULL) return true;
    *set = 0;
    if (targets(f, to, mask, rank, set)) return true;
    if (f->ctas == 1) return false;
    for (uint32_t b = f->at[at].around; b; b = f->at[b - 1].around)
        if (f->at[b - 1].turning) return false;
    bool known = true;
    for (bool more = tree_turns(f, at, true); more; more = tree_turns(f, at, false)) known = known && targets(f, to, mask, rank, set);
    return known;
}

/* ---- rings that are filled across CTAs ---- */

/* The CTAs that each writes to by the agent's copies, all where that is not known. */
static bool fills_of(const TreeFacts *f, uint32_t ring, uint32_t agent, Pairs *fills)
{
    for (uint32_t i = 0; i < f->ring[ring].access.n; i++) {
        const TreeAccess *x = &f->access.v[f->ring[ring].access.v[i]];
        if (!x->far || x->agent != agent) continue;
        for (uint32_t s = 0; s < f->ctas; s++) {
            uint32_t set;
            if (tree_when(f, tree_op(f, x->op), s) == WHEN_NEVER) continue;
            if (!tree_targets(f, tree_op(f, x->op), s, &set)) return false;
            pairs_add(fills, s, set);
        }
    }
    return true;
}

void tree_fills(TreeFacts *f, uint32_t ring)
{
    TreeRing *r = &f->ring[ring];
    for (uint32_t a = 0; a < f->k->roles.n; a++) {
        r->lost[a] = !fills_of(f, ring, a, &r->by[a]);
        for (uint32_t s = 0; s < f->ctas && r->lost[a]; s++) pairs_add(&r->by[a], s, pairs_row(&f->all, 0));
        pairs_unite(&r->fills, &r->by[a]);
    }
}

typedef struct Releases { /* by an agent */
    Pairs to;
    uint32_t last[TREE_RANKS][TREE_RANKS]; /* the last op by which the one CTA tells the other, from 1 */
} Releases;

/* Whom the agent's releases of the ring tell. False: not known. */
static bool releases_of(const TreeFacts *f, uint32_t ring, uint32_t agent, Releases *rel)
{
    const TreeRing *r = &f->ring[ring];
    for (uint32_t k = 0; k < r->ops.n; k++) {
        const IrOp *op = tree_op(f, r->ops.v[k]);
        if (op->op != IR_RELEASE || ir_find(op, IRK_RING)->id != ring || op->agent != agent + 1) continue;
        const TreeTells *tells = tree_tells(f, r->ops.v[k]);
        if (!tells->known) return false;
        pairs_unite(&rel->to, &tells->from);
        for (uint32_t t = 0; t < f->ctas; t++)
            for (uint32_t s = 0; s < f->ctas; s++)
                if (pairs_row(&tells->from, t) >> s & 1) rel->last[s][t] = r->ops.v[k] + 1;
    }
    return true;
}

/* Who arrives where at events of the ring: bits of them. */
static bool arrivals_at(const TreeFacts *f, uint32_t ring, uint32_t events, Pairs *from)
{
    const TreeRing *r = &f->ring[ring];
    for (uint32_t k = 0; k < r->ops.n; k++) {
        const IrOp *op = tree_op(f, r->ops.v[k]);
        const IrArg *bar = op->op == IR_BAR_ARRIVE || op->op == IR_BAR_ARRIVE_EXPECT ? ir_find(op, IRK_BAR) : NULL;
        if (bar == NULL || f->k->bars.v[bar->id].ring != ring + 1 || !(events >> f->event[bar->id] & 1)) continue;
        if (!tree_tells(f, r->ops.v[k])->known) return false;
        pairs_unite(from, &tree_tells(f, r->ops.v[k])->from);
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
static bool by_another(const TreeFacts *f, const Releases *rel, Sure *sure, uint32_t s, uint32_t t)
{
    for (uint32_t q = 0; q < f->ctas; q++) {
        bool first = surely(sure, q, t);
        for (uint32_t u = 0; u < f->ctas && first; u++) first = rel->last[u][s] == 0 || rel->last[u][s] < rel->last[u][q];
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
    arrivals_at(f, ring, 1u << e, &from);
    for (uint8_t a = 0; a < f->k->roles.n; a++) {
        Releases rel = {.to = {{0}}};
        if (!(r->waits[a] >> e & 1)) continue;
        bool known = releases_of(f, ring, a, &rel), behind = fills_behind(f, ring, r->event[e], a);
        for (uint32_t s = 0; s < f->ctas; s++)
            for (uint32_t t = 0; t < f->ctas; t++)
                if (s != t && pairs_row(&from, t) >> s & 1 && !(known && pairs_row(&rel.to, s) >> t & 1) && !(behind && surely(sure, t, s))) return false;
    }
    return true;
}

/* No slot is used twice. */
static bool once(const TreeFacts *f, uint32_t ring)
{
    const TreeRing *r = &f->ring[ring];
    bool inside = r->begun.n > r->slots;
    for (uint32_t i = 0; i < r->begun.n; i++)
        for (uint32_t b = f->at[r->begun.v[i]].around; b; b = f->at[b - 1].around) inside |= tree_op(f, b - 1)->op != IR_IF && tree_op(f, b - 1)->op != IR_ELSE;
    return !inside;
}

const char *tree_across(const TreeFacts *f, uint32_t ring)
{
    const TreeRing *r = &f->ring[ring];
    Sure sure = {.f = f, .ring = ring};
    Pairs from = {{0}};
    if (f->ctas == 1) return NULL;
    if (!arrivals_at(f, ring, UINT32_MAX, &from)) return "whether a CTA arrives at another one, or where, is not known";
    for (uint32_t e = 0; e < r->nevents && !f->k->tmem; e++) /* a pair's order is the graph's to prove */
        if (r->remote >> e & 1 && !once(f, ring) && !heard_of(f, ring, e, &sure)) return "a CTA arrives at another one and may not hear of that one's last turn";
    for (uint8_t b = 0; b < f->k->roles.n; b++) { /* who fills */
        if (r->lost[b]) return "which CTA is filled is not known";
        for (uint8_t a = 0; a < f->k->roles.n; a++) { /* who releases */
            Releases rel = {.to = {{0}}};
            if (!r->releases[a]) continue;
            if (!releases_of(f, ring, a, &rel)) return "which CTA hears of a release is not known";
            for (uint32_t s = 0; s < f->ctas; s++) {
                for (uint32_t t = 0; t < f->ctas; t++) {
                    bool says = pairs_row(&rel.to, s) >> t & 1, free = says && r->begins[b], told = pairs_row(&from, s) >> t & 1 && r->waits[b]; /* that it has begun there */
                    if (s == t) continue;
                    if (pairs_row(&r->by[b], s) >> t & 1 && !free && !told) return "a CTA fills another one's slot and does not hear when that is free";
                    if (says && !(pairs_row(&from, t) >> s & 1) && !surely(&sure, s, t) && !by_another(f, &rel, &sure, s, t))
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
    const IrOp *op = tree_op(f, at);
    bool plain = f->ctas == 1 && !tree_reaches_others(op);
    TreeTells **kept = plain ? &f->plain[tree_when(f, op, 0)] : &f->at[at].tells, *t = *kept;
    if (t) return t;
    t = *kept = arena_new(f->a, TreeTells);
    t->known = true;
    for (uint32_t s = 0; s < f->ctas; s++) {
        uint32_t set;
        TreeWhen when = tree_when(f, op, s);
        if (when == WHEN_NEVER) continue;
        if (when == WHEN_OPEN || !tree_targets(f, op, s, &set)) {
            *t = (TreeTells){.known = false};
            return t;
        }
        for (uint32_t to = 0; to < f->ctas; to++) pairs_add(&t->from, to, (set >> to & 1) << s);
    }
    const IrArg *bar = ir_find(op, IRK_BAR);
    const TreeRing *r = bar && op->agent && f->k->bars.v[bar->id].ring ? &f->ring[f->k->bars.v[bar->id].ring - 1] : NULL;
    for (uint32_t to = 0; to < f->ctas; to++) {
        bool back = false;
        for (uint32_t s = 0; s < f->ctas && r; s++) back = back || (pairs_row(&t->from, to) >> s & pairs_row(&r->by[op->agent - 1], s) >> to & 1);
        pairs_add(&t->itself, 0, pairs_row(&t->from, to) & 1u << to);
        pairs_add(&t->back, 0, (uint32_t)back << to);
    }
    if (!pairs_within(&f->all, &t->itself)) pairs_drop(&t->itself, &t->back); /* once is enough */
    return t;
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
    for (uint32_t i = 0; i < f->tree->ops.n && f->ctas > 1; i++) {
        const IrOp *op = tree_op(f, i);
        others |= tree_reaches_others(op);
    }
    return !others || (has_barrier(&f->k->init) && has_barrier(&f->k->exit));
}
