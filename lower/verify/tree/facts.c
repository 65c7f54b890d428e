#include "lower/verify/tree/state.h"

#include "lang/lang.h"
#include "lang/maps/rules.h"
#include "lower/ir/ops.h"
#include "lower/ir/tensor_memory.h"
#include "lower/ir/thread_work.h"

void tree_wrong(TreeFacts *f, uint32_t op, const char *what)
{
    if (f->wrong) return;
    f->wrong = what;
    f->wrong_op = op;
}

/* ---- blocks, values ---- */

static void index_value(TreeFacts *f, const IrOp *op, uint32_t *defined, uint32_t i)
{
    if (op->dst) defined[op->dst - 1] = i + 1;
    if (op->op == IR_VAR || op->op == IR_SET) vec_push(f->a, &f->sets[ir_find(op, IRK_VAR)->id], ir_find(op, IRK_A));
}

static void index_ops(TreeFacts *f)
{
    uint32_t n = f->tree->ops.n, open = 0;
    f->at = arena_array(f->a, TreeOp, n + 1);
    f->owner = arena_array(f->a, uint8_t, f->k->vars.n);
    f->cell = arena_array(f->a, uint8_t, f->k->bufs.n);
    for (uint32_t i = 0; i < f->k->init.ops.n; i++) f->values = f->k->init.ops.v[i].dst > f->values ? f->k->init.ops.v[i].dst : f->values;
    for (uint32_t i = 0; i < n; i++) f->values = f->tree->ops.v[i].dst > f->values ? f->tree->ops.v[i].dst : f->values;
    f->defined = arena_array(f->a, uint32_t, f->values);
    f->in_init = arena_array(f->a, uint32_t, f->values);
    f->sets = arena_array(f->a, TreeSets, f->k->vars.n);
    for (uint32_t i = 0; i < f->k->init.ops.n; i++) index_value(f, &f->k->init.ops.v[i], f->in_init, i);
    for (uint32_t i = 0; i < n; i++) {
        const IrOp *op = tree_op(f, i);
        index_value(f, op, f->defined, i);
        f->at[i].around = open;
        if (op->op == IR_END || op->op == IR_ELSE) {
            f->at[open - 1].end = i;
            f->at[i].around = f->at[open - 1].around;
            open = f->at[i].around;
        }
        if (op->op == IR_LOOP || op->op == IR_REPEAT) {
            vec_push(f->a, &f->loops, INT64_MIN);
            f->at[i].loop = f->loops.n;
        }
        if (ir_opens_block(op->op)) open = i + 1;
    }
    f->at[n].next = n;
    for (uint32_t i = n; i-- > 0;) f->at[i].next = ir_op_info(tree_op(f, i)->op)->group == IRG_SCALAR ? f->at[i + 1].next : i;
}

/* ---- places ---- */

static void maps(TreeFacts *f)
{
    f->map = arena_array(f->a, TreeMap, f->k->mf.maps.n);
    for (uint32_t i = 0; i < f->k->mf.maps.n; i++) {
        MapDesc d = manifest_map(&f->k->mf.maps.v[i]);
        f->map[i].wide = map_is_wide(d.mode);
        for (int halo = 0; halo < 1 + f->map[i].wide; halo++) f->map[i].bytes[halo] = map_copy_bytes(&d, halo), f->map[i].room[halo] = map_copy_room(&d, halo);
    }
}

TreePlace *tree_place(const TreeFacts *f, uint32_t rank, TreePlace p)
{
    TreePlace *new = arena_new(f->a, TreePlace);
    *new = p;
    new->rank = rank;
    return new;
}

static TreePlace place(const TreeFacts *f, const IrOp *op, const IrArg *object, const IrArg *bytes, int64_t size)
{
    const IrArg *map = ir_op_info(op->op)->group == IRG_COPY ? ir_find(op, IRK_MAP) : NULL;
    const TreeMap *m = map && object->key != IRK_DESC ? &f->map[map->id] : NULL;
    TreePlace p = {.byte = ir_part(op, object, IRK_OFFSET), .size = size, .per = 1};
    if (m) p.size = m->room[0], p.per = m->room[1] - m->room[0], p.bytes = m->wide ? ir_find(op, IRK_INFO) : NULL;
    else if (size <= 0) p.size = 0, p.bytes = bytes, p.whole = bytes == NULL;
    return p;
}

/* Bytes from the first to the last that threads touch on one side of their plan; 0: not known. A swizzle exchanges bytes within a
 * row as wide as its span. */
static int64_t extent_of(const IrPlan *q, bool source)
{
    ThrSide x = thr_side(q, source);
    int64_t row = x.s->span ? (int64_t)x.s->span : swizzle_span(x.s->swizzle), bytes = thr_side_bytes(&x);
    if (row == 0) return bytes;
    return x.s->align % row ? 0 : (bytes + row - 1) / row * row;
}

/* ---- accesses ---- */

enum { NOBODY = UINT8_MAX }; /* agent 0 - 1 */

TreeAccess tree_access(const TreeFacts *f, uint32_t i, uint32_t rank, AccessHow how, bool write)
{
    const IrOp *op = tree_op(f, i);
    return (TreeAccess){.op = i, .agent = (uint8_t)(op->agent - 1), .rank = (uint8_t)rank, .how = (uint8_t)how, .write = write, .one = tree_by_one(f, op)};
}

bool tree_slot(const TreeFacts *f, TreeAccess *x, IrKey key)
{
    const IrArg *object = ir_find(tree_op(f, x->op), key), *turn = object ? ir_part(tree_op(f, x->op), object, IRK_SLOT) : NULL;
    if (turn == NULL || turn->kind != IRA_TURN) return false;
    x->ring = turn->id;
    x->buf = object->id;
    return true;
}

void tree_access_add(TreeFacts *f, TreeAccess *x, uint32_t set)
{
    if (x->agent == NOBODY) tree_wrong(f, x->op, "an access of no agent");
    if (is_copy(x) && !x->generic) f->ring[x->ring].has_copies = true;
    for (uint32_t at = 0; at < f->ctas; at++) {
        x->at = (uint8_t)at;
        f->ring[x->ring].across |= set >> at & 1 && at != x->rank;
        if (set >> at & 1) vec_push(f->a, &f->access, *x);
    }
}

/* By all agents that use the ring, or all but the op's. */
static void add_readers(TreeFacts *f, TreeAccess *x, uint32_t set)
{
    const IrOp *op = tree_op(f, x->op);
    for (uint32_t a = 0; a < f->k->roles.n; a++) {
        if (!(f->ring[x->ring].used & bit(a)) || a + 1 == op->agent) continue;
        x->agent = (uint8_t)a;
        x->one = op->elect || f->k->roles.v[a].elect;
        tree_access_add(f, x, set);
    }
}

/* By each CTA, at each whose slot it may touch. */
static void add(TreeFacts *f, uint32_t i, IrKey key, AccessHow how, bool write, int64_t size)
{
    const IrOp *op = tree_op(f, i);
    const IrArg *rop = write ? ir_find(op, IRK_ROP) : NULL;
    uint32_t words;
    TreeAccess x = tree_access(f, i, 0, how, write);
    if (!tree_slot(f, &x, key)) return;
    if (how == TO_EVENT && f->at[i].ring == x.ring + 1) x.event = f->at[i].event;
    if (rop && reduction_commutes(ir_words(IRK_ROP, &words)[rop->id])) x.adds = 1 + (rop->id << 8 | ir_find(op, IRK_ELEM)->id);
    x.any = tree_place(f, f->ctas, place(f, op, ir_find(op, key), ir_find(op, IRK_BYTES), size));
    x.any->target = how == TO_EVENT ? ir_find(op, IRK_RANK) : NULL;
    x.generic = write && (how == BY_THREADS || op->op == IR_ST_ASYNC || op->op == IR_ST_FILL || op->op == IR_RED_ASYNC);
    for (uint32_t rank = 0; rank < f->ctas; rank++) {
        if (!(f->at[i].may >> rank & 1)) continue;
        uint32_t set = how == TO_EVENT && write ? tree_reach(f, op, rank) : 1u << rank;
        x.rank = (uint8_t)rank;
        x.place = f->ctas == 1 ? x.any : tree_place(f, rank, *x.any);
        if (op->op == IR_HAND || (op->agent == 0 && !write)) add_readers(f, &x, set);
        else tree_access_add(f, &x, set);
    }
}

/* Who awaits an event must have done so before it comes again; and, where other CTAs arrive, what arrives must have, if somebody is to know
 * that from it. A commit arrives later. */
static void add_event(TreeFacts *f, uint32_t i, AccessHow how)
{
    const IrOp *op = tree_op(f, i);
    const TreeOp *at = &f->at[i];
    if (at->event == 0) return;
    const TreeRing *r = &f->ring[at->ring - 1];
    if (how == OF_ARRIVAL && !(r->remote >> (at->event - 1) & 1 && (op->op == IR_RELEASE || r->tells))) return;
    TreeAccess x = tree_access(f, i, 0, how, false);
    x.ring = at->ring - 1;
    x.buf = UINT32_MAX;
    x.event = at->event;
    for (uint32_t rank = 0; rank < f->ctas; rank++) {
        uint32_t set = 1u << rank;
        if (!(at->may >> rank & 1) || (how != OF_EVENT && !tree_targets(f, op, rank, &set))) continue;
        x.rank = (uint8_t)rank;
        tree_access_add(f, &x, set);
    }
}

/* A copy from ring to ring: its sources, from `first` on, and where they go. */
static void send(TreeFacts *f, uint32_t first, uint32_t to)
{
    if (to == f->access.n) return;
    uint32_t from = f->access.v[first].ring;
    TreeRing *dst = &f->ring[f->access.v[to].ring];
    for (uint32_t x = first, y = to; x < to; x++) {
        while (y + 1 < f->access.n && f->access.v[y].rank != f->access.v[x].rank) y++;
        f->access.v[x].to = y;
    }
    for (uint32_t k = 0; k < dst->sources.n; k++)
        if (dst->sources.v[k] == from) return;
    vec_push(f->a, &dst->sources, from);
}

static int64_t bytes_of(const IrOp *op)
{
    const IrArg *n = ir_find(op, IRK_BYTES);
    return n && n->kind == IRA_IMM ? n->imm : 0;
}

static void accesses(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    const IrArg *plan = ir_find(op, IRK_PLAN);
    const IrPlan *q = plan ? &f->k->plans.v[plan->id] : NULL;
    uint32_t first = f->access.n, to;
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
        to = f->access.n;
        add(f, i, IRK_DST, TO_EVENT, true, bytes_of(op));
        send(f, first, to);
        break;
    case IR_HAND:
    case IR_LDS: add(f, i, IRK_SRC, BY_THREADS, false, IR_CELL_BYTES); break;
    case IR_CLC_ID: add(f, i, IRK_SRC, BY_THREADS, false, IR_ANSWER_BYTES); break;
    case IR_STS: add(f, i, IRK_DST, BY_THREADS, true, IR_CELL_BYTES); break;
    case IR_ST_BULK: add(f, i, IRK_DST, BY_THREADS, true, bytes_of(op)); break;
    case IR_THR_COPY:
        add(f, i, IRK_SRC, BY_THREADS, false, extent_of(q, true));
        add(f, i, IRK_DST, BY_THREADS, true, extent_of(q, false));
        break;
    case IR_THR_LOAD: add(f, i, IRK_DST, BY_THREADS, true, extent_of(q, false)); break;
    case IR_THR_STORE: add(f, i, IRK_SRC, BY_THREADS, false, extent_of(q, true)); break;
    case IR_THR_FILL: add(f, i, IRK_DST, BY_THREADS, true, extent_of(q, false)); break;
    case IR_TC_LD: add(f, i, IRK_DST, BY_THREADS, true, extent_of(q, false)); break;
    case IR_TC_ST: add(f, i, IRK_SRC, BY_THREADS, false, extent_of(q, true)); break;
    case IR_AWAIT: add_event(f, i, OF_EVENT); break;
    case IR_BAR_ARRIVE:
    case IR_RELEASE: add_event(f, i, OF_ARRIVAL); break;
    case IR_TC_COMMIT: add_event(f, i, TO_EVENT); break;
    case IR_MAP_SET: add(f, i, IRK_DST, OF_MAP, true, IR_MAP_BYTES); break;
    default: break;
    }
    for (uint32_t s = 0; s < f->ctas && tmem_op((IrOpcode)op->op); s++)
        if (f->at[i].may >> s & 1) tree_tensor(f, i, s);
}

/* ---- rings ---- */

static void name_ring(TreeFacts *f, uint32_t i, uint32_t ring)
{
    TreeRing *r = &f->ring[ring];
    if (r->ops.n && r->ops.v[r->ops.n - 1] == i) return;
    vec_push(f->a, &r->ops, i);
    r->reached |= tree_reaches_others(f, tree_op(f, i));
    if (tree_op(f, i)->op == IR_ACQUIRE) vec_push(f->a, &r->begun, i);
}

static void use_ring(TreeFacts *f, uint32_t i, uint32_t ring)
{
    const IrOp *op = tree_op(f, i);
    TreeRing *r = &f->ring[ring];
    name_ring(f, i, ring);
    if (op->agent == 0) return; /* all that need it */
    uint32_t a = op->agent - 1u;
    r->used |= bit(a);
    if (op->op == IR_TC_CP) r->paired = f->k->pair;
    if (op->op == IR_RELEASE) r->releases |= bit(a);
    if (op->op == IR_RELEASE) f->at[i].event = (uint8_t)(r->nevents + 1);
    if (op->op == IR_RELEASE && ir_find(op, IRK_RANK)) r->remote |= 1u << r->nevents;
    if (op->op == IR_AWAIT) r->waits[a] |= (uint8_t)(1u << (f->at[i].event - 1));
}

static void use_event(TreeFacts *f, uint32_t i, uint32_t bar)
{
    const IrOp *op = tree_op(f, i);
    TreeOp *at = &f->at[i];
    at->ring = f->k->bars.v[bar].ring;
    if (at->ring == 0) return;
    TreeRing *r = &f->ring[at->ring - 1];
    while (at->event == 0 || r->event[at->event - 1] != bar) at->event++;
    name_ring(f, i, at->ring - 1);
    if (ir_op_info(op->op)->group == IRG_BARRIER && tree_reaches_others(f, op)) r->remote |= 1u << (at->event - 1);
    if (op->op == IR_TC_COMMIT) r->commits |= 1u << (at->event - 1);
    if (tree_announces(op)) vec_push(f->a, &r->announced, i);
}

static void use_rings(TreeFacts *f, uint32_t i)
{
    const IrOp *op = tree_op(f, i);
    for (uint32_t n = 0; n < op->nargs; n++) {
        const IrArg *arg = &op->args[n];
        bool ring = arg->kind == IRA_RING || arg->kind == IRA_TURN;
        if (arg->key == IRK_BAR) use_event(f, i, arg->id);
        if (arg->kind == IRA_RING) f->at[i].ring = arg->id + 1;
        if (ring) use_ring(f, i, arg->id);
    }
}

static void events(TreeFacts *f)
{
    for (uint32_t b = 0; b < f->k->bars.n; b++) {
        uint32_t ring = f->k->bars.v[b].ring;
        if (ring == 0 || ring > f->k->rings.n) continue;
        TreeRing *r = &f->ring[ring - 1];
        if (r->nevents == TREE_EVENTS) {
            tree_wrong(f, 0, "a ring with too many events");
            return;
        }
        r->event[r->nevents++] = b;
    }
    for (uint32_t i = 0; i < f->k->rings.n; i++) {
        const IrRing *r = &f->k->rings.v[i];
        f->ring[i].event[f->ring[i].nevents] = r->free;
        if (r->free != IR_NO_BAR && f->k->bars.v[r->free].slots != r->slots - r->lag) tree_wrong(f, 0, "a free barrier of other than S - lag slots");
    }
}

/* Rings of the kernel, and one for each tile of tensor memory. */
static void rings(TreeFacts *f)
{
    const IrKernel *k = f->k;
    uint32_t n = k->rings.n;
    f->ring = arena_array(f->a, TreeRing, n + k->bufs.n);
    f->tensor_ring = arena_array(f->a, uint32_t, k->bufs.n);
    for (uint32_t i = 0; i < n; i++) {
        f->ring[i].name = k->rings.v[i].name;
        f->ring[i].slots = k->rings.v[i].slots;
        f->ring[i].tells = k->pair;
    }
    for (uint32_t b = 0; b < k->bufs.n; b++) {
        if (k->bufs.v[b].lanes == 0) continue;
        f->tensor_ring[b] = f->nrings = n++;
        f->ring[f->nrings] = (TreeRing){.name = k->bufs.v[b].name, .slots = 1, .tensor = true};
    }
    f->nrings = n;
}

/* Of the CTAs of a pair: which rings one of them tells the other of. */
static void pairs(TreeFacts *f)
{
    for (uint32_t i = 0; i < f->nrings && f->k->pair; i++) {
        TreeRing *r = &f->ring[i];
        r->paired |= r->tensor || r->commits;
        r->messages = f->messages;
        if (r->tells) f->messages += r->nevents;
    }
}

static uint32_t sender_of(TreeFacts *f, TreeRing *r, const TreeAccess *a)
{
    const TreeSender *x = r->senders.v;
    uint32_t i = 0;
    while (i < r->senders.n && (x[i].event != a->event - 1 || x[i].agent != a->agent || x[i].rank != a->rank)) i++;
    if (i == r->senders.n) vec_push(f->a, &r->senders, ((TreeSender){.event = (uint8_t)(a->event - 1), .agent = a->agent, .rank = a->rank}));
    r->senders.v[i].to |= (uint16_t)(1u << a->at);
    return i;
}

static void add_to_sets(TreeRing *r, const TreeAccess *x)
{
    uint32_t over = x->over, fence = over + 1, by = (x->agent * r->ctas + x->rank) * r->words;
    uint64_t *needs = needs_of(r, x->event > r->nevents ? begun_bit(r, x->at) : x->how == OF_EVENT ? open_bit(r, x->event - 1, x->at) : free_bit(x->at));
    set_add(needs, over);
    if (x->write) set_add(r->writes, over);
    if (is_copy(x) && x->how != TO_PEER && x->how != BY_LANES) set_add(r->copies, over);
    if (!is_copy(x)) set_add(r->own + by, over);
    if (x->event && x->how != OF_EVENT) set_add(r->bound + ((x->event - 1) * r->ctas + x->at) * r->words, over);
    if (!x->generic) return;
    set_add(needs, fence), set_add(r->fences, fence);
    if (x->write) set_add(r->writes, fence);
    if (x->how == TO_EVENT) set_add(r->far_fences, fence);
    if (x->one) set_add(r->by_one, fence);
}

/* What of its accesses is asked for as sets. */
static void lay_out(TreeFacts *f, uint32_t ring)
{
    TreeRing *r = &f->ring[ring];
    r->ctas = f->ctas;
    for (uint32_t a = 0; a < f->k->roles.n; a++) r->alone |= f->k->roles.v[a].elect ? bit(a) : 0;
    r->hears = r->nevents + 1 + (r->paired ? f->messages : 0);
    r->bits = passed_bit(r, r->ctas);
    tree_numbers(f, r);
    r->words = (r->bits + WORD - 1) / WORD;
    if (r->words > f->words) f->words = r->words;
    uint32_t all = f->k->roles.n * f->ctas, facts = begun_bit(r, f->ctas), *out = arena_array(f->a, uint32_t, r->bits);
    uint64_t **each[] = {&r->writes, &r->fences, &r->far_fences, &r->by_one, &r->copies, &r->lasting, &r->needs, &r->own, &r->bound};
    uint32_t n[] = {1, 1, 1, 1, 1, 1, facts, all, (r->nevents + 1) * f->ctas};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) *each[i] = arena_array(f->a, uint64_t, n[i] * r->words);
    memset(r->lasting, UINT8_MAX, r->words * sizeof *r->lasting);
    for (uint32_t fact = FACTS; fact < facts; fact++) set_drop(r->lasting, fact);
    for (uint32_t i = 0; i < r->access.n; i++) {
        TreeAccess *x = &f->access.v[r->access.v[i]];
        add_to_sets(r, x);
        if (x->event && is_copy(x)) x->sender = sender_of(f, r, x);
        if (x->how != BY_GROUP && x->how != BY_COMMIT && x->how != BY_LANES && x->how != TO_PEER) continue;
        if (out[x->over] == 0) {
            vec_push(f->a, &r->outs, x->over);
            out[x->over] = r->outs.n;
        }
        x->out = out[x->over];
    }
    state_lay_out(f->a, r, f->k->roles.n);
}

bool tree_facts(Arena *a, const IrKernel *k, TreeFacts *f)
{
    f->a = a;
    f->domain = domain_new(a);
    f->k = k;
    f->tree = &k->tree;
    f->asked = arena_new(a, TreeAsked);
    f->ctas = k->mf.cluster[0] * k->mf.cluster[1] * k->mf.cluster[2];
    rings(f);
    if (k->roles.n > TREE_AGENTS || f->ctas > TREE_RANKS) tree_wrong(f, 0, "more agents, or CTAs in a cluster, than there are");
    index_ops(f);
    if (f->wrong == NULL) events(f);
    for (uint32_t i = f->at[0].next; i < f->tree->ops.n && f->wrong == NULL; i = f->at[i + 1].next) use_rings(f, i);
    if (f->wrong == NULL && k->tmem) tree_commits(f);
    pairs(f);
    maps(f);
    for (uint32_t i = 0; i < f->tree->ops.n && f->wrong == NULL; i++) {
        f->at[i].first = f->access.n;
        tree_form(f, i);
        if (f->at[i].next != i || f->wrong) continue;
        for (uint32_t s = 0; s < f->ctas; s++) {
            TreeWhen when = tree_when(f, tree_op(f, i), s);
            if (when == WHEN_ALWAYS) f->at[i].always |= (uint16_t)(1u << s);
            if (when != WHEN_NEVER) f->at[i].may |= (uint16_t)(1u << s);
        }
        accesses(f, i);
    }
    if (f->wrong) return false;
    f->at[f->tree->ops.n].first = f->access.n;
    for (uint32_t x = 0; x < f->access.n; x++) vec_push(a, &f->ring[f->access.v[x].ring].access, x);
    for (uint32_t r = 0; r < f->nrings; r++) lay_out(f, r);
    return true;
}
