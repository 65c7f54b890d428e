/* What stands around the roles: barriers are initialised before anybody uses one, tensor memory is allocated before and freed behind all that is
 * done there, and threads meet that are meant to. Init and exit have no loops; what roles do lies between. */
#include "tests/states/checker.h"

typedef struct Ends {
    bool fenced, met, far;       /* inits are; all threads have come together behind that, those of other CTAs, too */
    bool arrived, cluster;       /* at the barrier of the cluster, no wait since; that is over */
    bool alloc, shared, based;   /* tensor memory: its address is in shared memory, seen by all, theirs */
    bool before, between, after; /* fences around the threads' coming together in exit */
    bool freed;
    int64_t columns;
    uint32_t *inits; /* by slot of a barrier */
} Ends;

static bool by_all(const Checker *c, const IrOp *op)
{
    return ir_find(op, IRK_THREADS)->imm == c->k->mf.threads;
}

/* Ids: each set of threads has its own. */
static void check_ids(Checker *c)
{
    uint32_t user[16] = {0};
    for (uint32_t b = 0; b < c->code.n; b++)
        for (uint32_t i = 0; i < c->code.v[b].role->ops.n; i++) {
            const IrOp *op = &c->code.v[b].role->ops.v[i];
            if (b && op->op == IR_BAR_INIT) lost(c, "a role that initialises barriers");
            if (op->op != IR_CTA_SYNC) continue;
            uint32_t *is = &user[ir_find(op, IRK_ID)->imm & 15], now = by_all(c, op) ? UINT32_MAX : b + 1;
            if (*is && *is != now) refuse(c, E0671, "a barrier of threads that two sets of them use");
            if ((b == 0 || b + 1 == c->code.n) && !by_all(c, op)) refuse(c, E0671, "a barrier of some threads, to which all come");
            *is = now;
        }
}

static void init_bar(Checker *c, Ends *e, const IrOp *op)
{
    const IrArg *bar = ir_find(op, IRK_BAR), *slot = ir_part(op, bar, IRK_SLOT);
    const IrBar *b = &c->k->bars.v[bar->id];
    if (!op->elect || (slot && slot->kind != IRA_IMM)) lost(c, "how barrier %s is initialised", b->name);
    if (ir_find(op, IRK_COUNT_)->imm != b->count) refuse(c, E0653, "barrier %s is initialised for other arrivals than it says", b->name);
    e->inits[c->bar_base[bar->id] + (slot ? (uint32_t)slot->imm : 0)]++;
    e->fenced = e->met = e->far = false;
}

/* All threads have come together that were at `then`; cluster: those of all its CTAs. */
static void meet(Ends *e, const Ends *then, bool cluster)
{
    e->met |= then->fenced;
    e->far |= then->fenced && cluster;
    e->shared |= then->alloc;
    e->between |= then->before;
    e->after = false;
}

static void ends_step(Checker *c, Ends *e, Ends *then, const IrOp *op)
{
    switch ((IrOpcode)op->op) {
    case IR_BAR_INIT: init_bar(c, e, op); break;
    case IR_FENCE_MBAR_INIT: e->fenced = true; break;
    case IR_CTA_SYNC: meet(e, e, false); break;
    case IR_WARP_SYNC:
        if (c->k->mf.threads == 32) meet(e, e, false);
        break;
    case IR_CLUSTER_ARRIVE:
        if (e->arrived) refuse(c, E0671, "cluster.arrive twice with no cluster.wait in between");
        e->arrived = true;
        *then = *e;
        break;
    case IR_CLUSTER_WAIT:
        if (!e->arrived) refuse(c, E0671, "cluster.wait without a cluster.arrive before it");
        e->arrived = false;
        e->cluster = true;
        meet(e, then, true);
        break;
    case IR_TC_FENCE:
        if (op->elect) break;
        e->before |= ir_find(op, IRK_ORDER)->id == IRD_BEFORE;
        e->after |= ir_find(op, IRK_ORDER)->id == IRD_AFTER && e->between;
        break;
    case IR_TC_ALLOC:
        e->alloc = true;
        e->columns = ir_find(op, IRK_N)->imm;
        break;
    case IR_TC_BASE: e->based |= e->shared; break;
    case IR_TC_FREE:
        if (!e->after || e->freed || ir_find(op, IRK_N)->imm != e->columns) refuse(c, E0674, "tensor memory may be freed while somebody works on it");
        e->freed = true;
        c->frees_alone = !e->cluster;
        break;
    default: break;
    }
}

static void run(Checker *c, Ends *e, const Code *b)
{
    Ends then = {0};
    for (uint32_t i = 0; i < b->role->ops.n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        IrGroup g = (IrGroup)ir_op_info(op->op)->group;
        if (g == IRG_SCALAR || g == IRG_THREAD || g == IRG_CONTROL) {
            if (op->op == IR_TC_BASE) ends_step(c, e, &then, op);
            continue;
        }
        if (b->around[i] || op->guard.pred) lost(c, "conditions around the roles");
        ends_step(c, e, &then, op);
    }
    if (e->arrived) refuse(c, E0671, "a cluster.arrive without its cluster.wait");
}

void ends_check(Checker *c)
{
    Ends e = {.inits = arena_array(c->arena, uint32_t, c->nslots + 1)};
    bool alone = c->nroles == 1 && c->k->roles.v[0].elect, tensor = false;
    check_ids(c);
    run(c, &e, &c->code.v[0]);
    for (uint32_t i = 0; i < c->nslots; i++)
        if (e.inits[i] != 1 || !e.fenced || !(e.met || alone)) refuse(c, E0653, "a barrier is used that may not be initialised");
    c->begins = e.far;
    for (uint32_t i = 0; i < c->k->bufs.n; i++) tensor |= c->k->bufs.v[i].lanes != 0;
    if (tensor && !e.based) refuse(c, E0674, "tensor memory may be used before it is allocated");
    e.before = e.between = e.after = e.cluster = false;
    run(c, &e, &c->code.v[c->code.n - 1]);
    if (tensor && !e.freed) refuse(c, E0674, "tensor memory is not freed");
    c->meets = e.cluster;
}
