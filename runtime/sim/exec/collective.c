/* Collectives of a warp: shuffles, votes, match, redux, elect, bar.warp.sync; ldmatrix and stmatrix (matrix.c).
 *
 * A lane that comes blocks at its instruction; the last lane of the mask performs the operation for all, from the
 * operands that each lane's own instruction names, and lets them go on behind it. Lanes that have exited, or that the
 * warp never had, are not waited for (PTX ISA: "all non-exited threads corresponding to membermask").
 *
 * Two lanes meet if their instructions are of one kind with one mask: .sync forms need not stand at the same place
 * (PTX ISA, shfl.sync: "the same shfl.sync instruction with the same qualifiers and the same membermask value");
 * .aligned ones must.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/copies/map_change.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/watch.h"

#define LANES 32u

typedef struct Group { /* the lanes that perform together */
    SimThread *lane[LANES];
    const SimOp *op[LANES];
    uint32_t lanes; /* mask */
} Group;

static const SimOp *op_of(const SimMachine *m, const SimThread *t)
{
    return &m->launch.program->ops[t->at];
}

static const FormOp *form_of(const SimMachine *m, const SimOp *op)
{
    return op->code == SIM_FORM ? &m->launch.program->forms[op->imm] : NULL;
}

static SimWarp *warp_of(const SimThread *t)
{
    return &t->cta->warps[t->id / LANES];
}

static const char *name_of(const SimMachine *m, const SimOp *op)
{
    const FormOp *f = form_of(m, op);
    if (f) return form_info(f->form)->ident;
    switch (op->code) {
    case SIM_SHFL: return "shfl.sync";
    case SIM_VOTE: return "vote.sync";
    case SIM_MATCH: return "match.sync";
    case SIM_REDUX: return "redux.sync";
    case SIM_WARPSYNC: return "bar.warp.sync";
    default: return "a collective instruction";
    }
}

static bool is_elect(InstrForm f)
{
    return f == FORM_ELECT || f == FORM_ELECT_ANY;
}

static bool meet(const SimMachine *m, const SimThread *x, const SimThread *y)
{
    if (x->mask != y->mask) return false;
    if (x->at == y->at) return true;
    const SimOp *a = op_of(m, x), *b = op_of(m, y);
    const FormOp *f = form_of(m, a), *g = form_of(m, b);
    if (f || g) return f && g && is_elect(f->form) && is_elect(g->form);
    return a->code == b->code && a->n == b->n && a->type == b->type;
}

/* ---- the operations: PTX ISA, shfl.sync, vote.sync, match.sync, redux.sync, elect.sync ---- */
static const SimOp *operand(const Group *g, uint32_t lane)
{
    return g->op[lane] + 1; /* the OPERAND op that follows a shuffle */
}

/* Lane i reads lane `from` of its mask. Of lanes that have exited a program cannot know what it gets. */
static bool shuffle_source(SimMachine *m, const Group *g, uint32_t i, int32_t from, uint32_t *result)
{
    SimThread *t = g->lane[i];
    if (from >= 0 && from < (int32_t)LANES && g->lanes >> from & 1) {
        *result = (uint32_t)g->lane[from]->slot[g->op[from]->a];
        return true;
    }
    /* "The value is unpredictable" where the source takes no part; it is often read and thrown away. */
    *result = m->checking ? (uint32_t)rng_next(&m->rng) : 0;
    bool exited = from >= 0 && from < (int32_t)warp_of(t)->n && from < (int32_t)LANES && t->mask >> from & 1;
    if (!m->checking || !exited) return true;
    return sim_fail(m, E1323, t,
                    "lane %" PRIu32 " reads the value of lane %" PRId32 " by shfl.sync with mask 0x%08" PRIx32
                    ", but lane %" PRId32 " has exited",
                    i, from, t->mask, from);
}

static bool shuffle(SimMachine *m, const Group *g)
{
    uint32_t result[LANES];
    bool inside[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1)) continue;
        const SimOp *op = g->op[i];
        const uint64_t *slot = g->lane[i]->slot;
        int32_t b = (int32_t)(slot[op->b] & 31);
        uint32_t c = (uint32_t)slot[operand(g, i)->a];
        int32_t clamp = (int32_t)(c & 31), segment = (int32_t)(c >> 8 & 31), lane = (int32_t)i;
        int32_t max = (lane & segment) | (clamp & ~segment), min = lane & segment, from;
        switch (op->n) {
        case 0: from = lane - b, inside[i] = from >= max; break;
        case 1: from = lane + b, inside[i] = from <= max; break;
        case 2: from = lane ^ b, inside[i] = from <= max; break;
        default: from = min | (b & ~segment), inside[i] = from <= max; break;
        }
        if (!inside[i]) from = lane;
        if (!shuffle_source(m, g, i, from, &result[i])) return false;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1)) continue;
        uint64_t *slot = g->lane[i]->slot;
        if (g->op[i]->d != NO_SLOT) slot[g->op[i]->d] = result[i];
        if (operand(g, i)->d != NO_SLOT) slot[operand(g, i)->d] = inside[i];
    }
    return true;
}

static void vote(const Group *g, uint32_t mode)
{
    uint32_t ballot = 0, result;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1)) continue;
        bool p = g->lane[i]->slot[g->op[i]->a] & 1;
        if (p != (g->op[i]->flags & 1)) ballot |= 1u << i;
    }
    switch (mode) {
    case 0: result = ballot == g->lanes; break;
    case 1: result = ballot != 0; break;
    case 2: result = ballot == 0 || ballot == g->lanes; break;
    default: result = ballot; break;
    }
    for (uint32_t i = 0; i < LANES; i++)
        if (g->lanes >> i & 1) g->lane[i]->slot[g->op[i]->d] = result;
}

static void match(const Group *g, bool all, uint8_t type)
{
    uint64_t value[LANES] = {0};
    uint64_t keep = type == PTX_B64 ? UINT64_MAX : UINT32_MAX;
    for (uint32_t i = 0; i < LANES; i++)
        if (g->lanes >> i & 1) value[i] = g->lane[i]->slot[g->op[i]->a] & keep;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1)) continue;
        uint32_t same = 0;
        for (uint32_t k = 0; k < LANES; k++)
            if (g->lanes >> k & 1 && value[k] == value[i]) same |= 1u << k;
        uint64_t *slot = g->lane[i]->slot;
        const SimOp *op = g->op[i];
        if (op->d != NO_SLOT) slot[op->d] = !all || same == g->lanes ? same : 0;
        if (all && op->c != NO_SLOT) slot[op->c] = same == g->lanes;
    }
}

static uint32_t combine(RedOp op, bool is_signed, uint32_t x, uint32_t y)
{
    bool less = is_signed ? (x ^ 0x80000000u) < (y ^ 0x80000000u) : x < y;
    switch (op) {
    case RED_ADD: return x + y;
    case RED_MIN: return less ? x : y;
    case RED_MAX: return less ? y : x;
    case RED_AND: return x & y;
    case RED_OR: return x | y;
    default: return x ^ y;
    }
}

static void redux(const Group *g, RedOp op, bool is_signed)
{
    uint32_t sum = 0;
    bool first = true;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1)) continue;
        uint32_t v = (uint32_t)g->lane[i]->slot[g->op[i]->a];
        sum = first ? v : combine(op, is_signed, sum, v);
        first = false;
    }
    for (uint32_t i = 0; i < LANES; i++)
        if (g->lanes >> i & 1) g->lane[i]->slot[g->op[i]->d] = sum;
}

static void elect(const SimMachine *m, const Group *g, const SimWarp *w)
{
    uint32_t leader = w->leader < LANES && (g->lanes >> w->leader & 1) ? w->leader : 0;
    while (!(g->lanes >> leader & 1)) leader++;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1)) continue;
        const FormOp *f = form_of(m, g->op[i]);
        uint64_t *slot = g->lane[i]->slot;
        if (f->value[0] != NO_SLOT) slot[f->value[0]] = i == leader;
        if (f->nvalues > 2 && f->value[2] != NO_SLOT) slot[f->value[2]] = leader;
    }
}

/* ---- rendezvous ---- */
static bool publish(SimMachine *m, SimThread *const *there, uint32_t n)
{
    const FormOp *form[LANES];
    for (uint32_t i = 0; i < n; i++) form[i] = form_of(m, op_of(m, there[i]));
    return sim_map_publish(m, there, form, n);
}

static bool perform(SimMachine *m, const Group *g, SimThread *any)
{
    SimThread *there[LANES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < LANES; i++)
        if (g->lanes >> i & 1) there[n++] = g->lane[i];
    const SimOp *op = op_of(m, any);
    if (m->watch) watch_warp(m, there, n, op->code == SIM_WARPSYNC);
    switch (op->code) {
    case SIM_SHFL: return shuffle(m, g);
    case SIM_VOTE: vote(g, op->n); return true;
    case SIM_MATCH: match(g, op->n == 1, op->type); return true;
    case SIM_REDUX: redux(g, (RedOp)op->n, op->type == PTX_S32); return true;
    case SIM_FORM: break;
    default: return true;
    }
    const FormOp *f = form_of(m, op);
    if (is_elect(f->form)) {
        elect(m, g, warp_of(any));
        return true;
    }
    bool tensor = tmem_is_collective(f->form);
    if (f->form == FORM_MAP_PUBLISH || f->form == FORM_MAP_PUBLISH_SCOPE) return publish(m, there, n);
    if (!sim_is_matrix(f->form) && !tensor) return true;
    if (g->lanes != UINT32_MAX)
        return sim_fail(m, E1323, any, "%s needs all 32 lanes of the warp; those of 0x%08" PRIx32 " take part",
                        name_of(m, op), g->lanes);
    return tensor ? tmem_perform(m, g->lane, f) : sim_matrices(m, g->lane, f);
}

/* Are all live lanes of t's mask there? t itself stands at its instruction, `gone` is about to exit. */
static bool complete(const SimMachine *m, const SimThread *t, const SimThread *gone, Group *g)
{
    const SimWarp *w = warp_of(t);
    SimThread *lane = &t->cta->threads[w->first];
    uint32_t named = w->n < LANES ? t->mask & ((1u << w->n) - 1) : t->mask, live = 0;
    for (uint32_t i = 0, rest = named; rest; i++, rest >>= 1) {
        if (!(rest & 1) || &lane[i] == gone || lane[i].wait == WAIT_EXITED) continue;
        if (!(w->waiting >> i & 1) && &lane[i] != t) return false;
        live |= 1u << i;
    }
    *g = (Group){.lanes = live};
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(live >> i & 1)) continue;
        if (&lane[i] != t && !meet(m, t, &lane[i])) return false;
        g->lane[i] = &lane[i];
        g->op[i] = op_of(m, &lane[i]);
    }
    return true;
}

static void release(SimMachine *m, const Group *g, const SimThread *running)
{
    m->progress++;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(g->lanes >> i & 1) || g->lane[i] == running) continue;
        warp_of(g->lane[i])->waiting &= ~(1u << i);
        uint32_t behind = g->op[i]->code == SIM_SHFL ? 2 : 1; /* its OPERAND, too */
        g->lane[i]->pc = g->lane[i]->at + behind;
        sim_wake(m, g->lane[i]);
    }
}

/* A lane that names t, and is named by it, but waits with another mask can never meet it. In fast mode that shows as a
 * deadlock only. */
static bool masks_agree(SimMachine *m, SimThread *t)
{
    const SimWarp *w = warp_of(t);
    if (!m->checking) return true;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(w->waiting & t->mask & 1u << i)) continue;
        const SimThread *x = &t->cta->threads[w->first + i];
        if (x == t || x->at != t->at || x->mask == t->mask || !(x->mask >> t->lane & 1)) continue;
        return sim_fail(m, E1323, t,
                        "lane %u executes %s with mask 0x%08" PRIx32 ", lane %" PRIu32
                        " the same instruction with mask 0x%08" PRIx32,
                        (unsigned)t->lane, name_of(m, op_of(m, t)), t->mask, i, x->mask);
    }
    return true;
}

bool sim_collective_last(const SimMachine *m, SimThread *t)
{
    Group g;
    t->mask = UINT32_MAX;
    return complete(m, t, NULL, &g);
}

ExecResult sim_collective(SimMachine *m, SimThread *t, uint32_t mask)
{
    if (!(mask >> t->lane & 1)) {
        sim_fail(m, E1323, t, "lane %u executes %s with mask 0x%08" PRIx32 ", which does not have it",
                 (unsigned)t->lane, name_of(m, op_of(m, t)), mask);
        return EXEC_FAILED;
    }
    Group g;
    t->mask = mask;
    if (!masks_agree(m, t)) return EXEC_FAILED;
    if (!complete(m, t, NULL, &g)) {
        t->pc = t->at;
        warp_of(t)->waiting |= 1u << t->lane;
        sim_block(m, t, WAIT_COLLECTIVE);
        return EXEC_BLOCKED;
    }
    if (!perform(m, &g, t)) return EXEC_FAILED;
    release(m, &g, t);
    return EXEC_BUDGET;
}

void sim_collective_exit(SimMachine *m, SimThread *t)
{
    const SimWarp *w = warp_of(t);
    for (uint32_t i = 0; i < LANES && w->waiting; i++) {
        if (!(w->waiting >> i & 1)) continue;
        SimThread *x = &t->cta->threads[w->first + i];
        Group g;
        if (!(x->mask >> t->lane & 1) || !complete(m, x, t, &g)) continue;
        if (!perform(m, &g, x)) return;
        release(m, &g, NULL);
    }
}
