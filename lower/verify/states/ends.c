/* What stands around the roles: barriers are initialised before anybody uses one, tensor memory is allocated before and freed behind all that is
 * done there, and threads meet that are meant to. Init and exit have no loops; what roles do lies between. */
#include <stdarg.h>

#include "lower/verify/states/say/report.h"

typedef struct Ends {
    bool fenced, met, far;       /* inits are; all threads have come together behind that, those of other CTAs, too */
    bool arrived, cluster;       /* at the barrier of the cluster, no wait since; that is over */
    bool alloc, shared, based;   /* tensor memory: its address is in shared memory, seen by all, theirs */
    bool before, between, after; /* fences around the threads' coming together in exit, and that */
    bool freed, unfenced; /* unfenced: with no fence before they came together, of all threads */
    int64_t columns;
    uint32_t *inits; /* by slot of a barrier */
} Ends;

static bool by_all(const Checker *c, const IrOp *op)
{
    return ir_find(op, IRK_THREADS)->imm == c->k->mf.threads;
}

FORMAT(4)
NORETURN static void refuse_at(Checker *c, ErrorCode code, uint32_t op, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tell(c, code, op, "%s", arena_vprintf(c->arena, fmt, ap));
    va_end(ap);
    refuse_told(c);
}

NORETURN static void lost_at(Checker *c, uint32_t op, const char *why)
{
    tell(c, E0660, op, "%s", why);
    stop_at(c, STOP_LOST);
}

/* There is one thread, but for those that leave at once. */
static bool alone(const Checker *c)
{
    return c->nroles == 1 && c->k->roles.v[0].elect;
}

static uint32_t first_op(const Checker *c, IrOpcode is)
{
    for (uint32_t i = 0; i < c->nops; i++)
        if (c->op[i]->op == is) return i;
    return NOWHERE;
}

static bool comes_to(const Code *b, int64_t id)
{
    for (uint32_t i = 0; i < b->role->ops.n; i++)
        if (b->role->ops.v[i].op == IR_CTA_SYNC && ir_find(&b->role->ops.v[i], IRK_ID)->imm == id) return true;
    return false;
}

/* Ids: each set of threads has its own. */
static void check_ids(Checker *c)
{
    uint32_t user[16] = {0};
    for (uint32_t b = 0; b < c->code.n; b++)
        for (uint32_t i = 0; i < c->code.v[b].role->ops.n; i++) {
            const IrOp *op = &c->code.v[b].role->ops.v[i];
            uint32_t at = c->code.v[b].first + i;
            if (b && op->op == IR_BAR_INIT && !alone(c)) lost_at(c, at, "a role that initialises barriers");
            if (op->op == IR_REPEAT && c->k->tree.ops.n == 0) lost_at(c, c->code.v[b].first + i, "whether this loop ends, which drawn numbers do"); /* else its tree shows it */
            if (op->op != IR_CTA_SYNC) continue;
            uint32_t id = (uint32_t)ir_find(op, IRK_ID)->imm, *is = &user[id & 15], now = by_all(c, op) ? UINT32_MAX : b + 1;
            if (*is && *is != now) refuse_at(c, E0671, at, "cta.sync %u is used by two different sets of threads", id);
            bool some = b && b + 1 < c->code.n && !by_all(c, op) && ir_find(op, IRK_THREADS)->imm != 32 * (int64_t)c->code.v[b].role->warps;
            bool others = by_all(c, op) && b && b + 1 < c->code.n && c->nroles > 1; /* that come to it, too */
            for (uint32_t r = 1; r <= c->nroles && others; r++) some |= r != b && !comes_to(&c->code.v[r], ir_find(op, IRK_ID)->imm);
            if (some) refuse_at(c, E0671, at, "not all threads come to this %s: the kernel would hang", op_text(c, at));
            if ((b == 0 || b + 1 == c->code.n) && !by_all(c, op)) refuse_at(c, E0671, at, "not all threads come to this cta.sync: the kernel would hang");
            *is = now;
        }
}

static void init_bar(Checker *c, Ends *e, const IrOp *op, uint32_t at)
{
    const IrArg *bar = ir_find(op, IRK_BAR), *slot = ir_part(op, bar, IRK_SLOT);
    if ((!op->elect && !alone(c)) || (slot && slot->kind != IRA_IMM)) lost_at(c, at, "how this barrier is initialised");
    uint32_t i = c->bar_base[bar->id] + (slot ? (uint32_t)slot->imm : 0);
    c->count[i] = (uint32_t)ir_find(op, IRK_COUNT_)->imm;
    e->inits[i]++;
    e->fenced = e->met = e->far = false;
}

/* All threads have come together that were at `then`; cluster: those of all its CTAs. */
static void meet(Ends *e, const Ends *then, bool cluster)
{
    e->met |= then->fenced;
    e->far |= then->fenced && cluster;
    e->shared |= then->alloc;
    e->unfenced = !then->before;
    e->between = true;
    e->after = false;
}

static void ends_step(Checker *c, Ends *e, Ends *then, const IrOp *op, uint32_t at)
{
    switch ((IrOpcode)op->op) {
    case IR_BAR_INIT: init_bar(c, e, op, at); break;
    case IR_FENCE_MBAR_INIT: e->fenced = true; break;
    case IR_CTA_SYNC: meet(e, e, false); break;
    case IR_WARP_SYNC:
        if (c->k->mf.threads == 32) meet(e, e, false);
        break;
    case IR_CLUSTER_ARRIVE:
        if (e->arrived) refuse_at(c, E0671, at, "cluster.arrive twice with no cluster.wait in between");
        e->arrived = true;
        *then = *e;
        break;
    case IR_CLUSTER_WAIT:
        if (!e->arrived) refuse_at(c, E0671, at, "cluster.wait without a cluster.arrive before it");
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
        if (!e->after || e->freed || ir_find(op, IRK_N)->imm != e->columns) refuse_at(c, E0674, at, "tensor memory may be freed while somebody works on it");
        e->freed = true;
        c->frees_alone = !e->cluster;
        c->frees_unfenced = e->unfenced;
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
            if (op->op == IR_TC_BASE) ends_step(c, e, &then, op, b->first + i);
            continue;
        }
        if (op->op == IR_DEP_LAUNCH || op->op == IR_DEP_WAIT) continue;
        if (b->around[i] || op->guard.pred) lost_at(c, b->first + i, "conditions around the roles");
        ends_step(c, e, &then, op, b->first + i);
    }
    if (e->arrived) refuse_at(c, E0671, c->nops, "the kernel ends after a cluster.arrive without its cluster.wait");
}

/* One that is alone may do it itself, before it uses any. */
static void run_alone(Checker *c, Ends *e)
{
    const Code *b = &c->code.v[1];
    for (uint32_t i = 0; i < b->role->ops.n && alone(c); i++) {
        const IrOp *op = &b->role->ops.v[i];
        if (b->around[i] || (op->op != IR_BAR_INIT && ir_find(op, IRK_BAR))) return;
        if (op->op == IR_BAR_INIT || op->op == IR_FENCE_MBAR_INIT) ends_step(c, e, e, op, b->first + i);
    }
}

static uint32_t init_of(const Checker *c, uint32_t b)
{
    for (uint32_t i = 0; i < c->nops; i++)
        if (c->op[i]->op == IR_BAR_INIT && ir_find(c->op[i], IRK_BAR)->id == b) return i;
    return NOWHERE;
}

void refuse_uninitialised(Checker *c, uint32_t bar, uint32_t op, bool fenced)
{
    uint32_t init = init_of(c, bar_number(c, bar));
    bool copies = op < c->nops && ir_op_info((IrOpcode)c->op[op]->op)->group != IRG_BARRIER;
    if (fenced || init == NOWHERE) {
        tell(c, E0653, op, "barrier %s may be used before its bar.init", bar_name(c, bar));
        tell_also(c, init, "the bar.init: no barrier of threads lies between");
    } else {
        tell(c, E0653, op, "barrier %s is used %s without fence.mbar_init after its bar.init", bar_name(c, bar), copies ? "by an asynchronous copy" : "by another thread");
        tell_also(c, init, "the bar.init");
    }
    refuse_told(c);
}

static void check_inits(Checker *c, const Ends *e)
{
    for (uint32_t i = 0; i < c->nslots; i++) {
        if (e->inits[i] == 1 && e->fenced && (e->met || alone(c))) continue;
        uint32_t op = c->code.v[0].role->ops.n, b = bar_number(c, i);
        while (op < c->nops && !(ir_find(c->op[op], IRK_BAR) && ir_find(c->op[op], IRK_BAR)->id == b)) op++;
        refuse_uninitialised(c, i, op, e->fenced);
    }
    c->begins = e->far;
}

/* The last or first op that has to do with tensor memory. */
static uint32_t in_tensor_memory(const Checker *c, bool last)
{
    uint32_t at = NOWHERE;
    for (uint32_t i = 0; i < c->nops; i++)
        for (uint32_t j = 0; j < c->op[i]->nargs; j++) {
            const IrArg *x = &c->op[i]->args[j];
            if (x->kind == IRA_BUF && c->k->bufs.v[x->id].lanes && (last || at == NOWHERE)) at = i;
        }
    return at;
}

NORETURN static void refuse_tensor(Checker *c, bool last, const char *what, IrOpcode end, const char *label)
{
    uint32_t op = in_tensor_memory(c, last);
    tell(c, E0674, op == NOWHERE ? c->nops : op, "%s", what);
    tell_also(c, first_op(c, end), "%s", label);
    refuse_told(c);
}

void ends_check(Checker *c)
{
    Ends e = {.inits = arena_array(c->arena, uint32_t, c->nslots + 1)};
    bool tensor = false;
    check_ids(c);
    run(c, &e, &c->code.v[0]);
    run_alone(c, &e);
    check_inits(c, &e);
    for (uint32_t i = 0; i < c->k->bufs.n; i++) tensor |= c->k->bufs.v[i].lanes != 0;
    if (tensor && !e.based) refuse_tensor(c, false, "this may come before tensor memory is allocated", IR_TC_ALLOC, "the allocation");
    e.before = e.between = e.after = e.cluster = false;
    run(c, &e, &c->code.v[c->code.n - 1]);
    if (tensor && !e.freed) refuse_tensor(c, true, "nothing frees tensor memory behind this", IR_TC_ALLOC, "the allocation");
    c->meets = e.cluster;
}
