/* Tensor memory: each tile is a ring with one generation, which begins when tensor memory is allocated and is over when that is freed.
 *
 * PTX ISA, Memory Consistency Model for 5th generation of TensorCore operations: copies into it and shifts go on by themselves, in no
 * order, but for tcgen05.cp.4x256b behind tcgen05.shift; they are over for who has waited for the mbarrier at which a commit of their
 * thread arrived. What threads do there is over when their op is (it waits). Between two accesses of which one knows that the other
 * is over lies ::after_thread_sync, by its own thread, and, behind those of threads, ::before_thread_sync in front of their
 * synchronisation. In a pair one CTA begins it, and it happens in both. */
#include "lower/ir/tensor_memory.h"

#include "lower/verify/tree/facts.h"

enum { CELL = 4 /* bytes of a column in a lane */, PATTERN = 1024 /* of a swizzle */, LANES = 64 /* of a word */ };

bool tree_in_order(const TreeFacts *f, const TreeAccess *now, const TreeAccess *before)
{
    const IrArg *shape = ir_find(tree_op(f, now->op), IRK_SHAPE); /* by one thread: it alone commits, for both */
    return shape && shape->id == IRP_4X256B && tree_op(f, before->op)->op == IR_TC_SHIFT;
}

/* ---- commits ---- */

/* All of an agent's, at one event that has no other arrivals: so who awaits it knows that the last commit has arrived. */
void tree_commits(TreeFacts *f)
{
    uint32_t first = 0, n = f->tree->ops.n;
    while (first < n && tree_op(f, first)->op != IR_TC_COMMIT) first++;
    if (first == n) return;
    const TreeOp *event = &f->at[first];
    if (event->ring == 0) tree_wrong(f, first, "a commit to no event of a ring");
    for (uint32_t i = 0; i < n; i++) {
        const IrOp *op = tree_op(f, i);
        bool commits = op->op == IR_TC_COMMIT, here = f->at[i].ring == event->ring && f->at[i].event == event->event;
        if (commits && (!here || op->agent != tree_op(f, first)->agent)) tree_wrong(f, i, "commits of the tensor core at two events");
        if (here && f->at[i].event && !commits && op->op != IR_AWAIT) tree_wrong(f, i, "others arrive where the tensor core does");
        for (uint32_t s = 0, set; s < f->ctas && commits; s++) {
            if (tree_when(f, op, s) == WHEN_NEVER || !tree_targets(f, op, s, &set)) continue; /* not known: publish() */
            for (uint32_t t = 0; t < f->ctas; t++) {
                if (set >> t & 1 && f->committer[t] && f->committer[t] != s + 1) tree_wrong(f, i, "two CTAs commit to one");
                if (set >> t & 1) f->committer[t] = (uint8_t)(s + 1);
            }
        }
    }
}

/* ---- places ---- */

static void add_lanes(TreePlace *x, int64_t first, unsigned n, unsigned apart)
{
    for (unsigned i = 0; i < n; i++, first += apart) x->lanes[first / LANES] |= UINT64_C(1) << first % LANES;
}

static bool is_multiple(const TreeFacts *f, const IrArg *x, int64_t m)
{
    return x == NULL || domain_divides(f->domain, m, tree_value(f, (TreeView){f->ctas, UINT32_MAX, LOOK_WHOLE}, x));
}

/* Lane and column are numbers, but for the slot and what lies in front of it in the lane. */
static void add_tile(TreeFacts *f, uint32_t i, uint32_t rank, IrKey key, AccessHow how, bool write, uint32_t set)
{
    const IrOp *op = tree_op(f, i);
    const IrArg *object = ir_find(op, key), *slot = ir_part(op, object, IRK_SLOT), *byte = ir_part(op, object, IRK_OFFSET);
    const IrArg *along = ir_find(op, IRK_ALONG), *plan = ir_find(op, IRK_PLAN);
    const IrBuf *b = &f->k->bufs.v[object->id];
    TmemUse use = tmem_use(f->k, op);
    int64_t at = byte ? byte->imm : 0, pitch = CELL * (int64_t)b->columns;
    TreeAccess x = tree_access(f, i, rank, how, write);
    x.ring = f->tensor_ring[object->id];
    x.buf = object->id;
    x.generic = true;
    if (op->agent) f->ring[x.ring].used |= bit(x.agent);
    x.place = x.any = tree_place(f, rank, (TreePlace){.byte = along, .slot = slot, .pitch = CELL * (int64_t)b->column_pitch, .first = at % pitch, .size = CELL * (int64_t)use.columns});
    if (op->op == IR_TC_CP && ir_find(op, IRK_SHAPE)->id == IRP_4X256B) add_lanes(x.place, at / pitch, TMEM_LANES / 32, 32);
    else add_lanes(x.place, at / pitch, op->op == IR_TC_CP ? b->lanes : op->op == IR_TC_SHIFT ? 32 : f->k->plans.v[plan->id].extent[0], 1);
    x.place->lost = !is_multiple(f, along, CELL * (int64_t)use.unit);
    tree_access_add(f, &x, set);
}

/* From the first byte to behind the last that it reads in any turn of the loops around, where each turn says where it begins. */
static bool reach(const TreeFacts *f, uint32_t i, uint32_t rank, const TmemCp *c, const IrArg *byte, Interval *r)
{
    enum { STARTS = 256 };
    uint32_t n = 0;
    bool known = true;
    Interval all = {INT64_MAX, INT64_MIN};
    for (bool more = tree_turns(f, i, true); more; more = tree_turns(f, i, false)) {
        int64_t at = 0, lo, hi;
        known = known && n++ < STARTS && (byte == NULL || tree_number(f, byte, rank, &at)) && at % TMEM_CHUNK == 0;
        if (!known) continue;
        tmem_reach(c, at, &lo, &hi);
        all = interval_hull(all, (Interval){at + lo, at + hi});
    }
    if (known) *r = all;
    return known;
}

/* What the descriptor's walk reads: exact where the source's place in the swizzle's pattern is known. */
static void add_source(TreeFacts *f, uint32_t i, uint32_t rank, uint32_t set)
{
    const IrOp *op = tree_op(f, i);
    TreeAccess x = tree_access(f, i, rank, BY_COMMIT, false);
    if (!tree_slot(f, &x, IRK_SRC)) return;
    bool whole = false;
    const IrArg *byte = ir_part(op, ir_find(op, IRK_SRC), IRK_OFFSET);
    TmemCp c = tmem_cp(f->k, op);
    const TmemShape *s = tmem_shape(c.shape);
    Interval r = {0, tmem_linear(&c, c.n - 1, s->rows - 1u, s->columns / 4u - 1) + TMEM_CHUNK};
    if (is_multiple(f, byte, c.swizzle ? PATTERN : TMEM_CHUNK)) tmem_reach(&c, 0, &r.lo, &r.hi);
    else if (reach(f, i, rank, &c, byte, &r)) byte = NULL;
    else whole = true; /* somewhere from there on */
    x.place = x.any = tree_place(f, rank, (TreePlace){.byte = byte, .first = r.lo, .size = r.hi - r.lo, .whole = whole, .lost = whole && !is_multiple(f, byte, TMEM_CHUNK)});
    tree_access_add(f, &x, set);
}

void tree_tensor(TreeFacts *f, uint32_t i, uint32_t rank)
{
    const IrOp *op = tree_op(f, i);
    uint32_t set;
    if (!tree_targets(f, op, rank, &set)) return; /* it names none */
    if (f->k->pair && rank & 1 && (op->op == IR_TC_CP || op->op == IR_TC_SHIFT)) tree_wrong(f, i, "begun by the odd CTA of a pair");
    switch ((IrOpcode)op->op) {
    case IR_TC_CP:
        add_source(f, i, rank, set);
        add_tile(f, i, rank, IRK_DST, BY_COMMIT, true, set);
        break;
    case IR_TC_SHIFT: add_tile(f, i, rank, IRK_DST, BY_COMMIT, true, set); break;
    case IR_TC_LD: add_tile(f, i, rank, IRK_SRC, BY_LANES, false, set); break;
    case IR_TC_ST: add_tile(f, i, rank, IRK_DST, BY_LANES, true, set); break;
    default: break;
    }
}

/* ---- the end ---- */

static bool all_fence(const IrOp *op, IrOrder order)
{
    return op->op == IR_TC_FENCE && ir_find(op, IRK_ORDER)->id == order && !op->elect && !op->guard.pred;
}

/* Behind a fence of all threads, the CTA's or, in pairs, the cluster's barrier, and another fence. */
bool tree_frees(const TreeFacts *f)
{
    const IrRole *body = &f->k->exit;
    uint32_t i = 0, n = body->ops.n;
    if (f->k->tmem == 0) return true;
    while (i < n && !all_fence(&body->ops.v[i], IRD_BEFORE)) i++;
    while (i < n && f->k->pair && body->ops.v[i].op != IR_CLUSTER_ARRIVE) i++;
    while (i < n && body->ops.v[i].op != (f->k->pair ? IR_CLUSTER_WAIT : IR_CTA_SYNC)) i++;
    while (i < n && !all_fence(&body->ops.v[i], IRD_AFTER)) i++;
    while (i < n && body->ops.v[i].op != IR_TC_FREE) i++;
    return i < n; /* it is freed once: tmem_check_kernel() */
}
