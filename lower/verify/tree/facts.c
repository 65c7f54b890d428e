#include "lower/verify/tree/facts.h"

enum { FOREVER = 1 << 30 }; /* trips of a loop that nobody knows */

static const IrOp *op_at(const TreeFacts *f, uint32_t i)
{
    return &f->tree->ops.v[i];
}

static void wrong(TreeFacts *f, uint32_t op, const char *what)
{
    if (f->wrong) return;
    f->wrong = what;
    f->wrong_op = op;
}

uint32_t tree_ring(const IrOp *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_RING || op->args[i].kind == IRA_TURN) return op->args[i].id + 1;
    return 0;
}

bool tree_by_one(const TreeFacts *f, const IrOp *op)
{
    return op->elect || (op->agent && f->k->roles.v[op->agent - 1].elect);
}

/* ---- blocks, values ---- */

static void index_ops(TreeFacts *f)
{
    uint32_t n = f->tree->ops.n, open = 0;
    f->around = arena_array(f->a, uint32_t, n);
    f->end = arena_array(f->a, uint32_t, n);
    f->first = arena_array(f->a, uint32_t, n + 1);
    f->defined = arena_array(f->a, uint32_t, f->k->value_types.n);
    for (uint32_t i = 0; i < n; i++) {
        const IrOp *op = op_at(f, i);
        f->around[i] = open;
        if (op->dst) f->defined[op->dst - 1] = i + 1;
        if (op->op == IR_END || op->op == IR_ELSE) {
            if (open == 0) {
                wrong(f, i, "no block is open");
                return;
            }
            f->end[open - 1] = i;
            f->around[i] = f->around[open - 1];
            open = f->around[i];
        }
        if (ir_opens_block(op->op)) open = i + 1;
    }
    if (open) wrong(f, open - 1, "a block is not closed");
}

/* ---- places ---- */

static int64_t trips_of(const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *n = ir_find(op, IRK_N);
    if (op->op == IR_LANES) return n->imm;
    if (a->kind != IRA_IMM || b->kind != IRA_IMM) return FOREVER;
    return b->imm - a->imm > 0 ? b->imm - a->imm : 0;
}

/* Adds k times the operand to the place; false where that is no sum of indices. */
static bool add_place(const TreeFacts *f, TreeAccess *x, const IrArg *arg, int64_t k, int depth)
{
    if (arg->kind == IRA_IMM) return !__builtin_mul_overflow(arg->imm, k, &k) && !__builtin_add_overflow(x->at, k, &x->at);
    if (arg->kind != IRA_VAL || f->defined[arg->id - 1] == 0 || depth == 0) return false;
    const IrOp *op = op_at(f, f->defined[arg->id - 1] - 1);
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    switch ((IrOpcode)op->op) {
    case IR_LOOP:
    case IR_LANES:
        if (op->op == IR_LOOP && (a->kind != IRA_IMM || a->imm != 0)) return false;
        for (unsigned i = 0; i < x->n; i++) {
            if (x->by[i].index != arg->id) continue;
            x->by[i].stride += k;
            return x->by[i].stride > 0;
        }
        if (x->n == sizeof x->by / sizeof *x->by || k <= 0) return false;
        x->by[x->n].index = arg->id;
        x->by[x->n].stride = k;
        x->by[x->n++].trips = trips_of(op);
        return true;
    case IR_CVT: return add_place(f, x, a, k, depth - 1);
    case IR_ADD: return add_place(f, x, a, k, depth - 1) && add_place(f, x, b, k, depth - 1);
    case IR_MUL:
        if (b->kind != IRA_IMM || __builtin_mul_overflow(b->imm, k, &k)) return false;
        return add_place(f, x, a, k, depth - 1);
    default: return false;
    }
}

static int64_t room(const TreeFacts *f, uint32_t buf)
{
    return f->k->bufs.v[buf].bytes;
}

static void place(const TreeFacts *f, TreeAccess *x, const IrOp *op, const IrArg *object, int64_t size)
{
    enum { DEPTH = 16 };
    const IrArg *byte = ir_part(op, object, IRK_OFFSET);
    x->size = size;
    x->whole = size <= 0 || (byte && !add_place(f, x, byte, 1, DEPTH));
    if (!x->whole) return;
    x->at = x->n = 0;
    x->size = room(f, x->buf);
}

/* Bytes from the first to the last that threads touch on one side of their plan. */
static int64_t extent_of(const IrPlan *q, const IrSide *s, bool dst)
{
    int64_t n = 0;
    if (s->span) return 0; /* panels: all of it */
    for (unsigned i = 0; i < q->rank; i++) {
        bool turned = q->xform == IRX_TRANSPOSE && dst && i + 2 >= q->rank;
        uint32_t extent = q->extent[turned ? (q->rank - 1) - (i + 2 - q->rank) : i];
        n += (int64_t)(extent - 1) * s->pitch[i];
        if (i + 1 == q->rank) n += s->pitch[i];
    }
    return s->swizzle ? 0 : n;
}

/* ---- accesses ---- */

/* Of what all agents read, or all but one. */
static void add_readers(TreeFacts *f, uint32_t at)
{
    TreeAccess first = f->access.v[at];
    const IrOp *op = op_at(f, first.op);
    f->access.n = at;
    for (uint32_t a = 0; a < f->k->roles.n; a++) {
        if (!f->ring[first.ring].used[a] || a + 1 == op->agent) continue;
        first.agent = (uint8_t)a;
        first.one = op->elect || f->k->roles.v[a].elect;
        vec_push(f->a, &f->access, first);
    }
}

static void add(TreeFacts *f, uint32_t i, IrKey key, AccessHow how, bool write, int64_t size)
{
    const IrOp *op = op_at(f, i);
    const IrArg *object = ir_find(op, key), *bar = ir_find(op, IRK_BAR);
    const IrArg *turn = object ? ir_part(op, object, IRK_SLOT) : NULL;
    if (turn == NULL || turn->kind != IRA_TURN) return; /* of no ring */
    TreeAccess *x = vec_add(f->a, &f->access);
    *x = (TreeAccess){.op = i, .ring = turn->id, .buf = object->id, .agent = (uint8_t)(op->agent - 1), .how = (uint8_t)how, .write = write};
    x->one = tree_by_one(f, op);
    x->event = bar ? bar->id : 0;
    place(f, x, op, object, size);
    if (how != BY_THREADS && how != OF_MAP) f->ring[x->ring].copies = true;
    if (op->op == IR_HAND || op->op == IR_LDS || op->op == IR_CLC_ID) add_readers(f, f->access.n - 1);
    else if (op->agent == 0) wrong(f, i, "an access of no agent");
}

static int64_t bytes_of(const IrOp *op)
{
    const IrArg *n = ir_find(op, IRK_BYTES);
    return n && n->kind == IRA_IMM ? n->imm : 0;
}

static void accesses(TreeFacts *f, uint32_t i)
{
    const IrOp *op = op_at(f, i);
    const IrArg *plan = ir_find(op, IRK_PLAN);
    const IrPlan *q = plan ? &f->k->plans.v[plan->id] : NULL;
    bool load = op->op == IR_TMA_LOAD;
    if (ir_find(op, IRK_DESC)) add(f, i, IRK_DESC, load ? TO_EVENT : BY_GROUP, false, IR_MAP_BYTES);
    switch ((IrOpcode)op->op) {
    case IR_TMA_LOAD:
    case IR_BLK_LOAD:
    case IR_ST_FILL:
    case IR_RED_ASYNC: add(f, i, IRK_DST, TO_EVENT, true, bytes_of(op)); break;
    case IR_ST_ASYNC: add(f, i, IRK_DST, TO_EVENT, true, IR_CELL_BYTES); break;
    case IR_CLC_NEXT: add(f, i, IRK_DST, TO_EVENT, true, IR_ANSWER_BYTES); break;
    case IR_TMA_STORE:
    case IR_TMA_REDUCE:
    case IR_BLK_STORE:
    case IR_BLK_REDUCE: add(f, i, IRK_SRC, BY_GROUP, false, bytes_of(op)); break;
    case IR_BLK_PEER:
    case IR_BLK_REDUCE_PEER:
        add(f, i, IRK_SRC, TO_PEER, false, bytes_of(op));
        add(f, i, IRK_DST, TO_EVENT, true, bytes_of(op));
        break;
    case IR_HAND:
    case IR_LDS: add(f, i, IRK_SRC, BY_THREADS, false, IR_CELL_BYTES); break;
    case IR_CLC_ID: add(f, i, IRK_SRC, BY_THREADS, false, IR_ANSWER_BYTES); break;
    case IR_STS: add(f, i, IRK_DST, BY_THREADS, true, IR_CELL_BYTES); break;
    case IR_ST_BULK: add(f, i, IRK_DST, BY_THREADS, true, bytes_of(op)); break;
    case IR_THR_COPY:
        add(f, i, IRK_SRC, BY_THREADS, false, extent_of(q, &q->src, false));
        add(f, i, IRK_DST, BY_THREADS, true, extent_of(q, &q->dst, true));
        break;
    case IR_THR_FILL: add(f, i, IRK_DST, BY_THREADS, true, extent_of(q, &q->dst, false)); break;
    case IR_TC_CP: add(f, i, IRK_SRC, BY_COMMIT, false, 0); break;
    case IR_TC_LD: add(f, i, IRK_DST, BY_THREADS, true, 0); break;
    case IR_TC_ST: add(f, i, IRK_SRC, BY_THREADS, false, 0); break;
    case IR_MAP_SET: add(f, i, IRK_DST, OF_MAP, true, IR_MAP_BYTES); break;
    default: break;
    }
}

/* ---- conflicts ---- */

static int64_t reach(const TreeAccess *x) /* bytes from the first to the last that any iteration touches */
{
    int64_t n = x->size;
    for (unsigned i = 0; i < x->n; i++) n += (x->by[i].trips > 0 ? x->by[i].trips - 1 : 0) * x->by[i].stride;
    return n;
}

/* Is the loop's generation of the ring the same in all its iterations? */
static bool same_generation(const TreeFacts *f, uint32_t loop, uint32_t ring)
{
    for (uint32_t i = loop; i < f->end[loop]; i++)
        if (op_at(f, i)->op == IR_ACQUIRE && ir_find(op_at(f, i), IRK_RING)->id == ring) return false;
    return true;
}

/* Every iteration elsewhere: each stride is beyond what those below it reach, and each loop has one. */
static bool elsewhere(const TreeFacts *f, const TreeAccess *x)
{
    int64_t below = x->size;
    bool taken[4] = {false};
    for (unsigned n = 0; n < x->n; n++) {
        unsigned least = 4;
        for (unsigned i = 0; i < x->n; i++)
            if (!taken[i] && (least == 4 || x->by[i].stride < x->by[least].stride)) least = i;
        if (x->by[least].stride < below) return false;
        below += (x->by[least].trips - 1) * x->by[least].stride;
        taken[least] = true;
    }
    for (uint32_t b = f->around[x->op]; b; b = f->around[b - 1]) {
        const IrOp *loop = op_at(f, b - 1);
        bool turns = loop->op == IR_LOOP || loop->op == IR_LANES || loop->op == IR_REPEAT, has = false;
        for (unsigned i = 0; i < x->n; i++) has |= x->by[i].index == loop->dst;
        if (turns && !same_generation(f, b - 1, x->ring)) return true;
        if (turns && !has && (loop->op == IR_REPEAT || trips_of(loop) > 1)) return false;
    }
    return true;
}

static bool has_stride(const TreeAccess *x, int64_t stride)
{
    for (unsigned i = 0; i < x->n; i++)
        if (x->by[i].stride == stride) return true;
    return false;
}

/* x and y without multiples of the stride: apart if both stay within one of its windows, and are apart there. */
static bool apart(const TreeAccess *x, const TreeAccess *y)
{
    int64_t widest = 0;
    if (x->at + reach(x) <= y->at || y->at + reach(y) <= x->at) return true;
    for (unsigned i = 0; i < x->n; i++)
        if (x->by[i].stride > widest && has_stride(y, x->by[i].stride)) widest = x->by[i].stride;
    if (widest == 0) return false;
    TreeAccess u = *x, v = *y;
    for (unsigned i = 0; i < u.n; i++)
        if (u.by[i].stride % widest == 0) u.by[i].trips = 1;
    for (unsigned i = 0; i < v.n; i++)
        if (v.by[i].stride % widest == 0) v.by[i].trips = 1;
    u.at %= widest;
    v.at %= widest;
    if (u.at < 0 || v.at < 0 || u.at + reach(&u) > widest || v.at + reach(&v) > widest) return false;
    return u.at + reach(&u) <= v.at || v.at + reach(&v) <= u.at;
}

bool tree_conflict(const TreeFacts *f, uint32_t i, uint32_t j)
{
    const TreeAccess *x = &f->access.v[i], *y = &f->access.v[j];
    if (x->buf != y->buf || (!x->write && !y->write)) return false;
    if (x->whole || y->whole) return true;
    return i == j ? !elsewhere(f, x) : !apart(x, y);
}

/* ---- rings ---- */

/* Where arrivals name CTAs, they are counted by ops: how many come to each CTA is another question. */
static void arrivals(TreeFacts *f)
{
    const IrKernel *k = f->k;
    for (uint32_t i = 0; i < f->tree->ops.n; i++) {
        const IrOp *op = op_at(f, i);
        const IrArg *bar = ir_find(op, IRK_BAR);
        if (bar == NULL || k->bars.v[bar->id].ring == 0) continue;
        TreeRing *r = &f->ring[k->bars.v[bar->id].ring - 1];
        uint32_t e = f->event[bar->id];
        bool arrives = op->op == IR_BAR_ARRIVE || op->op == IR_BAR_ARRIVE_EXPECT || op->op == IR_TC_COMMIT;
        r->commits[e] |= op->op == IR_TC_COMMIT;
        if (!arrives) continue;
        if (ir_find(op, IRK_RANK) || ir_find(op, IRK_MASK) || op->guard.pred) r->arrivals[e] += FOREVER;
        r->arrivals[e]++;
    }
    for (uint32_t i = 0; i < k->rings.n; i++)
        for (uint32_t e = 0; e < f->ring[i].nevents; e++) {
            uint32_t *n = &f->ring[i].arrivals[e];
            *n = *n >= FOREVER ? *n % FOREVER : k->bars.v[f->ring[i].event[e]].count;
        }
}


static void use_ring(TreeFacts *f, uint32_t i)
{
    const IrOp *op = op_at(f, i);
    for (uint32_t n = 0; n < op->nargs; n++) {
        const IrArg *arg = &op->args[n];
        if (arg->kind != IRA_RING && arg->kind != IRA_TURN) continue;
        if (arg->id >= f->k->rings.n || op->agent > TREE_AGENTS) {
            wrong(f, i, "a ring that is not there");
            return;
        }
        if (op->agent == 0) continue; /* all that need it */
        TreeRing *r = &f->ring[arg->id];
        r->used[op->agent - 1] = true;
        r->begins[op->agent - 1] |= op->op == IR_ACQUIRE;
        r->releases[op->agent - 1] |= op->op == IR_RELEASE;
        const IrArg *bar = op->op == IR_AWAIT ? ir_find(op, IRK_BAR) : NULL;
        if (bar) r->waits[op->agent - 1] |= (uint8_t)(1u << f->event[bar->id]);
    }
}

static void events(TreeFacts *f)
{
    f->event = arena_array(f->a, uint8_t, f->k->bars.n);
    for (uint32_t b = 0; b < f->k->bars.n; b++) {
        uint32_t ring = f->k->bars.v[b].ring;
        if (ring == 0 || ring > f->k->rings.n) continue;
        TreeRing *r = &f->ring[ring - 1];
        if (r->nevents == TREE_EVENTS) {
            wrong(f, 0, "a ring with too many events");
            return;
        }
        f->event[b] = (uint8_t)r->nevents;
        r->event[r->nevents++] = b;
    }
}

bool tree_facts(Arena *a, const IrKernel *k, TreeFacts *f)
{
    *f = (TreeFacts){.a = a, .k = k, .tree = &k->tree, .ring = arena_array(a, TreeRing, k->rings.n)};
    index_ops(f);
    if (f->wrong == NULL) events(f);
    if (f->wrong == NULL) arrivals(f);
    for (uint32_t i = 0; i < f->tree->ops.n && f->wrong == NULL; i++) use_ring(f, i);
    for (uint32_t i = 0; i < f->tree->ops.n && f->wrong == NULL; i++) {
        f->first[i] = f->access.n;
        accesses(f, i);
    }
    f->first[f->tree->ops.n] = f->access.n;
    return f->wrong == NULL;
}
