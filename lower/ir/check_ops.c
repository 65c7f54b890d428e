/* What ops ask for beyond operands of the right kind: who may do them and where, ranges, clusters, reductions. */
#include "lower/ir/checker.h"

#include "lang/lang.h"
#include "lang/limits.h"
#include "lower/ir/tensor_memory.h"

/* ---- who does it ---- */

static bool by_one(const Checker *c, const IrOp *op)
{
    return c->who->elect || op->elect;
}

static void check_who(Checker *c, const IrOp *op)
{
    IrWho who = (IrWho)ir_op_info(op->op)->who;
    if (op->elect && c->who->elect) check_fail(c, "one thread runs the whole role, so there is none to elect");
    else if (op->elect && (who == IRB_EACH || who == IRB_ALL)) check_fail(c, "an op that no single thread can do for the others");
    else if (who == IRB_ALL && c->who->elect) check_fail(c, "is done by all threads of the role, which has one");
    else if (who == IRB_ONE && !by_one(c, op)) check_fail(c, "is done by one thread");
}

/* Where threads are not all there. */
static void check_place(Checker *c, const IrOp *op)
{
    if (ir_op_info(op->op)->group == IRG_SYNC && (c->open[IR_IF] || c->open[IR_ELSE]))
        check_fail(c, "synchronisation of threads under a condition");
    switch ((IrOpcode)op->op) {
    case IR_LANES:
        if (c->who->elect || c->who->warps != 1) check_fail(c, "lanes are of a role of one warp that is not elect");
        break;
    case IR_TC_ALLOC:
    case IR_TC_KEEP:
    case IR_TC_FREE:
        if (!op->elect || c->depth || op->guard.pred) check_fail(c, "is done by one warp, once and unconditionally");
        break;
    case IR_CLUSTER_ARRIVE: /* relaxed, an arrival at a peer may still be under way when that one has left */
        if (c->body != 0 && ir_find(op, IRK_SEM)->id == IRS_RELAXED) check_fail(c, "has to be release behind what roles do to peers");
        break;
    case IR_TC_BASE:
        if (c->body != 0) check_fail(c, "stands in init");
        break;
    case IR_TC_DESC:
        if (c->body != 0 || c->depth || op->elect) check_fail(c, "stands in init, for all threads");
        break;
    case IR_BREAK:
        if (c->depth == 0 || c->blocks[c->depth - 1].op != IR_REPEAT) check_fail(c, "a break is a direct statement of a repeat");
        break;
    default: break;
    }
}

/* .. each with values of its own. */
static void check_lanes(Checker *c, const IrOp *op)
{
    uint8_t group = ir_op_info(op->op)->group;
    bool copies = group == IRG_COPY && op->op != IR_CLC_NEXT;
    bool scalars = (group == IRG_SCALAR && op->op != IR_TICKET) || op->op == IR_LOOP || op->op == IR_IF ||
                   op->op == IR_ELSE || op->op == IR_END;
    if (op->elect || !(copies || scalars)) check_fail(c, "within lanes there are copies and scalars only");
    if (op->op != IR_SET) return;
    for (uint32_t i = c->depth_of[ir_find(op, IRK_VAR)->id]; i < c->depth; i++)
        if (c->blocks[i].op == IR_LANES) check_fail(c, "within lanes a variable of all of them is set");
}

/* The elected threads of init, the first role and exit are one. */
static bool same_elected(const Checker *c, uint32_t a, uint32_t b)
{
    bool first_a = a <= 1 || a > c->k->roles.n, first_b = b <= 1 || b > c->k->roles.n;
    return a == b || (first_a && first_b);
}

/* 1 + the body whose elected thread alone has what the op works on or makes; 0: all have it. */
static uint32_t owner_of(const Checker *c, const IrOp *op)
{
    const IrArg *var = op->op == IR_GET ? ir_find(op, IRK_VAR) : NULL;
    uint32_t owner = var ? c->var_of_one[var->id] : 0;
    if (op->elect && op->dst) return c->body + 1;
    for (uint32_t i = 0; i < op->nargs && owner == 0; i++)
        if (op->args[i].kind == IRA_VAL) owner = c->of_one[op->args[i].id - 1];
    return owner == 0 && op->guard.pred ? c->of_one[op->guard.pred - 1] : owner;
}

/* What the op makes of it is that thread's, too. True: so is a variable, of which what stands before it may not have known that. */
static bool passes_on(Checker *c, const IrOp *op, uint32_t owner)
{
    const IrArg *var = op->op == IR_VAR || op->op == IR_SET ? ir_find(op, IRK_VAR) : NULL;
    if (op->op == IR_HAND && by_one(c, op)) return false; /* the others read it from the ring */
    if (owner && op->dst && c->of_one[op->dst - 1] == 0) c->of_one[op->dst - 1] = owner;
    if (var == NULL || c->var_of_one[var->id] || !(owner || op->elect || (c->tree && op->agent))) return false;
    c->var_of_one[var->id] = c->body + 1;
    return op->op == IR_SET;
}

/* Scalars are made of it by all, which is harmless where it is none; all else is the elected thread's. A map is made by its whole warp.
 * In the tree, where a variable may be one agent's, that is so where it is the same agent's; else the roles show it. */
static void check_owner(Checker *c, const IrOp *op, uint32_t owner)
{
    if (owner == 0 || ir_op_info(op->op)->group == IRG_SCALAR) return;
    if (c->tree) c->own |= owner != op->agent + 1u || !by_one(c, op);
    else if (!by_one(c, op) || !same_elected(c, owner - 1, c->body) || op->op == IR_MAP_SET) check_fail(c, "uses a value that only an elected thread has");
}

/* Follows what elected threads draw, load or make through values and variables. Both are defined in front of their uses, so only
 * what a variable is found to be behind them is told again, to those before it in a loop. */
void check_owners(Checker *c)
{
    if (c->of_one == NULL) c->of_one = arena_array(c->arena, uint32_t, c->k->value_types.n);
    c->var_of_one = arena_array(c->arena, uint32_t, c->k->vars.n);
    for (bool again = true; again;) {
        again = false;
        for (c->at = 0; c->at < c->role->ops.n && c->error == NULL; c->at++) {
            const IrOp *op = &c->role->ops.v[c->at];
            check_at(c, op);
            uint32_t owner = owner_of(c, op);
            again |= passes_on(c, op, owner);
            check_owner(c, op, owner);
        }
    }
}

static void check_init(Checker *c, const IrOp *op)
{
    const IrArg *bar = ir_find(op, IRK_BAR), *slot = ir_part(op, bar, IRK_SLOT);
    int64_t n = slot == NULL ? 0 : slot->kind == IRA_IMM ? slot->imm : -1, count = ir_find(op, IRK_COUNT_)->imm;
    if (c->depth || op->guard.pred || n < 0 || c->inits[bar->id][n])
        check_fail(c, "is for one slot, once and unconditionally");
    else c->inits[bar->id][n] = true;
    if (c->body > 1) check_fail(c, "stands in init or in the first role");
    if (count < 1 || count > MBARRIER_MOST) check_fail_operand(c, IRK_COUNT_, "is not from 1 to 2^20 - 1");
}

/* ---- numbers ---- */

static uint64_t warps_of_roles(const IrKernel *k)
{
    uint64_t warps = 0;
    for (uint32_t i = 0; i < k->roles.n; i++) warps += k->roles.v[i].warps;
    return warps;
}

static void check_cta_sync(Checker *c, const IrOp *op)
{
    int64_t id = ir_find(op, IRK_ID)->imm, threads = ir_find(op, IRK_THREADS)->imm;
    bool inside = c->body > 0 && c->body <= c->k->roles.n, role = inside && threads == (int64_t)c->who->warps * WARP_THREADS;
    if (id < 0 || id >= NAMED_BARRIERS) check_fail_operand(c, IRK_ID, "is not from 0 to 15");
    if (threads <= 0 || threads % WARP_THREADS) check_fail_operand(c, IRK_THREADS, "is no multiple of 32");
    else if (!role && threads != c->k->mf.threads)
        check_fail_operand(c, IRK_THREADS, "is neither the role's nor the CTA's");
    else if (!role && inside && warps_of_roles(c->k) * WARP_THREADS < (uint64_t)threads)
        check_fail_operand(c, IRK_THREADS, "counts threads that have no role, and never come");
}

static void check_numbers(Checker *c, const IrOp *op, uint64_t has)
{
    const IrArg *n = ir_find(op, IRK_N), *of = has & IR_KEY(IRK_BYTES_OF) ? ir_find(op, IRK_BYTES_OF) : NULL;
    if (op->op == IR_CTA_SYNC) check_cta_sync(c, op);
    if (op->op == IR_LANES && n->imm < 1) check_fail_operand(c, IRK_N, "is no number of turns");
    if (op->op == IR_GRP_WAIT && n->imm < 0) check_fail_operand(c, IRK_N, "is no number of groups");
    if (op->op != IR_FENCE_ACQREL && has & IR_KEY(IRK_SCOPE) && ir_find(op, IRK_SCOPE)->id == IRC_GPU)
        check_fail_operand(c, IRK_SCOPE, "is wider than a cluster, which has the barrier");
    if (of && of->kind == IRA_IMM && (of->imm < 0 || of->imm > UINT16_MAX)) check_fail_operand(c, IRK_BYTES_OF, "has more than 16 bits");
}

/* [byte, byte + size) of the buffer's slot, as far as both are constants. */
static void check_range(Checker *c, const IrOp *op, const IrArg *obj, int64_t size)
{
    if (obj == NULL) return;
    const IrArg *byte = ir_part(op, obj, IRK_OFFSET);
    int64_t start = byte && byte->kind == IRA_IMM ? byte->imm : 0, room = c->k->bufs.v[obj->id].bytes;
    if (size < 0 || size > room - start) check_fail(c, "copies more bytes than the buffer's slot has");
}

static void check_ranges(Checker *c, const IrOp *op)
{
    bool answer = op->op == IR_CLC_NEXT || op->op == IR_CLC_ID;
    bool cell = answer || op->op == IR_ST_ASYNC || op->op == IR_LDS || op->op == IR_STS;
    bool copy = ir_op_info(op->op)->group == IRG_COPY || op->op == IR_ST_BULK;
    if (!cell && !copy) return;
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    if (!cell && (bytes == NULL || bytes->kind != IRA_IMM)) return;
    int64_t size = answer ? IR_ANSWER_BYTES : cell ? IR_CELL_BYTES : bytes->imm;
    check_range(c, op, ir_find(op, IRK_DST), size);
    check_range(c, op, ir_find(op, IRK_SRC), size);
}

/* Values from registers: st.async has .v2 and .v4, of at most 16 bytes, and red.async one value. */
static void check_values(Checker *c, const IrOp *op)
{
    if (op->op == IR_ST_BULK && (ir_find(op, IRK_BYTES)->imm <= 0 || ir_find(op, IRK_BYTES)->imm % 8))
        check_fail_operand(c, IRK_BYTES, "is no positive multiple of 8");
    if (op->op != IR_ST_FILL && op->op != IR_RED_ASYNC) return;
    const IrArg *dst = ir_find(op, IRK_DST), *byte = ir_part(op, dst, IRK_OFFSET);
    const ElemInfo *t = elem_info((ElemType)ir_find(op, IRK_ELEM)->id);
    int64_t size = t->shared_bits / 8, bytes = ir_find(op, IRK_BYTES)->imm;
    bool vector = op->op == IR_ST_FILL && (bytes == 2 * size || bytes == 4 * size) && bytes <= 16;
    if (t->shared_bits < 32 || t->kind == ELEM_PACKED) check_fail_operand(c, IRK_ELEM, "has not 32 or 64 bits");
    else if (bytes != size && !vector) check_fail_operand(c, IRK_BYTES, "is not what one instruction writes");
    else if (byte && byte->kind == IRA_IMM && byte->imm % bytes) check_fail_operand(c, IRK_DST, "is not aligned to what is written");
}

/* A plan has a side in global memory where its op says what that is. */
static void check_plan(Checker *c, const IrOp *op)
{
    const IrPlan *q = &c->k->plans.v[ir_find(op, IRK_PLAN)->id];
    const IrArg *first;
    bool load = op->op == IR_THR_LOAD, store = op->op == IR_THR_STORE;
    if (q->src.global != load || q->dst.global != store) check_fail_operand(c, IRK_PLAN, "is not for the memory that the op names");
    if (!load && !store) return;
    unsigned low = ir_list(op, IRK_LOW, &first), high = ir_list(op, IRK_HIGH, &first);
    if (ir_list(op, IRK_PITCHES, &first) != q->rank) check_fail_operand(c, IRK_PITCHES, "are not as many as the plan has dimensions");
    if ((low || high) && (low != q->rank || high != q->rank)) check_fail_operand(c, IRK_LOW, "and what is below which are not as many as the plan has dimensions");
}

/* ---- clusters ---- */

/* The barrier of the other CTA of the destination's pair. */
static void check_pair(Checker *c, const IrOp *op, int64_t ctas)
{
    const IrArg *at = ir_find(op, IRK_BAR_RANK);
    if (at == NULL) return;
    if (ctas < 2 || ctas % 2) check_fail(c, "names a barrier of a pair, and the cluster has no pairs of CTAs");
    if (at->kind == IRA_IMM && (at->imm < 0 || at->imm >= ctas)) check_fail_operand(c, IRK_BAR_RANK, "is no CTA of the cluster");
}

static void check_cluster(Checker *c, const IrOp *op)
{
    const IrArg *rank = ir_find(op, IRK_RANK), *mask = ir_find(op, IRK_MASK);
    const uint32_t *size = c->k->mf.cluster;
    int64_t ctas = (int64_t)size[0] * size[1] * size[2];
    check_pair(c, op, ctas);
    if ((rank || mask) && ctas < 2) check_fail(c, "names another CTA, and the kernel has no cluster");
    if (rank && mask) check_fail(c, "goes to one CTA or to those of a mask");
    if (rank && rank->kind == IRA_IMM && (rank->imm < 0 || rank->imm >= ctas))
        check_fail_operand(c, IRK_RANK, "is no CTA of the cluster");
    if (mask && mask->kind == IRA_IMM && (mask->imm < 1 || ctas > 16 || mask->imm >> ctas))
        check_fail_operand(c, IRK_MASK, "names CTAs that the cluster does not have, or none");
}

/* ---- reductions, maps, policies ---- */

static void check_reduction(Checker *c, const IrOp *op)
{
    const IrArg *rop = ir_find(op, IRK_ROP), *elem = ir_find(op, IRK_ELEM);
    const char *word, *type;
    uint32_t n;
    const char *name = ir_words(IRK_ROP, &n)[rop->id];
    InstrForm form = op->op == IR_BLK_REDUCE ? FORM_BULK_REDUCE : op->op == IR_RED_ASYNC ? FORM_RED_ASYNC : FORM_BULK_REDUCE_PEER;
    bool ok = elem ? reduction_of(form, name, (ElemType)elem->id, &word, &type)
                   : reduction_of_map(name, c->k->mf.maps.v[ir_find(op, IRK_MAP)->id].type);
    if (!ok) check_fail_operand(c, IRK_ROP, "does not work on elements of this type there");
}

/* How many coordinates and further numbers a copy through the map has, and their ranges as far as they are constants (T17). */
static void check_coordinates(Checker *c, const IrOp *op, const MfMap *m)
{
    const IrArg *at, *info;
    bool wide = map_is_wide(m->mode), rows = map_is_rows4(m->mode);
    bool in = op->op == IR_TMA_LOAD || op->op == IR_TMA_PREFETCH;
    unsigned n = ir_list(op, IRK_COORDS, &at), k = ir_list(op, IRK_INFO, &info);
    unsigned want = !in ? 0 : wide ? 2 : m->mode == MAP_IM2COL && m->rank > 2 ? m->rank - 2u : 0;
    if (n != (rows ? 5u : m->rank)) check_fail_operand(c, IRK_COORDS, "are not those of the map's mode and rank");
    if (k != want) {
        check_fail_operand(c, IRK_INFO, "is not that of the map's mode and rank");
        return;
    }
    for (unsigned i = 0; i < k; i++) {
        int64_t most = !wide ? map_offset_most(m->rank) : i == 0 ? map_mode(m->mode)->halo_most : MAP_W_OFFSET_MOST;
        if (info[i].kind == IRA_IMM && (info[i].imm < 0 || info[i].imm > most)) check_fail_operand(c, IRK_INFO, "is out of range");
    }
}

static void check_map(Checker *c, const IrOp *op)
{
    const MfMap *m = &c->k->mf.maps.v[ir_find(op, IRK_MAP)->id];
    const MapModeInfo *i = map_mode(m->mode);
    bool in = op->op == IR_TMA_LOAD || op->op == IR_TMA_PREFETCH;
    if (op->op == IR_MAP_PREFETCH || op->op == IR_MAP_SET) return;
    if ((in ? i->load[LOAD_CTA] : op->op == IR_TMA_STORE ? i->store : i->reduce) == FORM_COUNT) check_fail_operand(c, IRK_MAP, "is of a mode that does not do this");
    else check_coordinates(c, op, m);
}

static bool has_param(const IrKernel *k, MfParamKind kind)
{
    for (uint32_t i = 0; i < k->mf.params.n; i++)
        if (k->mf.params.v[i].kind == kind) return true;
    return false;
}

static void check_policy(Checker *c, const IrOp *op)
{
    uint32_t pol = ir_find(op, IRK_POL)->id;
    if (op->op == IR_POL_CREATE) c->created[pol] = true;
    else if (!c->created[pol]) check_fail_operand(c, IRK_POL, "is not created in init, nor before this");
}

/* dependent.c says why. Init comes first, of all threads; so what stands there is said of all bodies. */
static void check_dependent(Checker *c, const IrOp *op)
{
    if (!c->k->mf.dependent) {
        if (op->op == IR_DEP_LAUNCH || op->op == IR_DEP_WAIT) check_fail(c, "the kernel is launched behind all before it");
        return;
    }
    if (!c->waited && !c->tree && ir_touches_global(op)) check_fail(c, "touches global memory in front of dep.wait");
    if (op->op == IR_TC_ALLOC && c->next_launched) check_fail(c, "allocates tensor memory behind dep.launch");
    if (op->op != IR_DEP_LAUNCH && op->op != IR_DEP_WAIT) return;
    if (op->op == IR_DEP_LAUNCH) {
        c->next_launched = true; /* said again, or on a branch that a CTA does not take, it means no less: an exit says it, too */
        return;
    }
    bool alone = c->body == 1 && c->k->roles.n == 1 && c->k->roles.v[0].elect; /* its one thread is all that goes on */
    if ((c->body != 0 && !alone) || c->depth || op->guard.pred || c->waited) check_fail(c, "stands in init, or in the role of a thread that is alone, once and unconditionally");
    c->waited = true;
}

void check_rules(Checker *c, const IrOp *op, uint64_t has)
{
    bool plain = check_is_plain(op), maps = c->any_maps || has & IR_KEY(IRK_DESC);
    if (!plain || op->op == IR_LOADS) check_dependent(c, op);
    check_who(c, op);
    if (!plain) check_place(c, op);
    if (c->open[IR_LANES]) check_lanes(c, op);
    if (maps && c->error == NULL) check_map_use(c, op);
    if (plain) return; /* it has nothing that is asked about below */
    if (op->op == IR_BAR_INIT) check_init(c, op);
    if (has & (IR_KEY(IRK_N) | IR_KEY(IRK_ID) | IR_KEY(IRK_SCOPE) | IR_KEY(IRK_BYTES_OF))) check_numbers(c, op, has);
    if (has & (IR_KEY(IRK_SRC) | IR_KEY(IRK_DST))) {
        check_ranges(c, op);
        check_values(c, op);
    }
    if (has & IR_KEY(IRK_PLAN)) check_plan(c, op);
    if (has & (IR_KEY(IRK_RANK) | IR_KEY(IRK_MASK) | IR_KEY(IRK_BAR_RANK))) check_cluster(c, op);
    if (has & IR_KEY(IRK_ROP)) check_reduction(c, op);
    if (has & IR_KEY(IRK_MAP)) check_map(c, op);
    if (has & IR_KEY(IRK_POL)) check_policy(c, op);
    const char *tensor = c->any_tensor || tmem_op((IrOpcode)op->op) ? tmem_check_op(c->k, op) : NULL;
    if (tensor) check_fail(c, tensor);
    if (op->op == IR_TICKET && !has_param(c->k, MF_PARAM_COUNTER)) check_fail(c, "the kernel has no counter");
    if (op->op != IR_MAP_SET || c->error) return;
    if (c->tree) c->own = true;
    else check_map_set(c, op);
}

void check_kernel_rules(Checker *c)
{
    const IrKernel *k = c->k;
    for (uint32_t i = 0; i < k->roles.n; i++)
        if (k->roles.v[i].warps == 0) check_fail_kernel(c, "a role without warps");
    uint64_t warps = warps_of_roles(k), threads = k->mf.threads ? k->mf.threads : WARP_THREADS;
    if (warps > (threads + WARP_THREADS - 1) / WARP_THREADS)
        check_fail_kernel(c, "its roles have %llu warps, its CTAs %u threads", (unsigned long long)warps, (unsigned)threads);
    for (uint32_t i = 0; i < k->pols.n; i++)
        if (k->pols.v[i].by_traffic && !has_param(k, MF_PARAM_HINTS))
            check_fail_kernel(c, "policy %s is by_traffic, and there is no parameter `hints`", k->pols.v[i].name);
}
