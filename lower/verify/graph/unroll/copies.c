/* The step of a copy: what it moves, and whether that is what its operands say. */
#include "lang/checked.h"
#include "lang/lang.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

bool bytes_within(Verifier *v, Form guard, Form lo, Form hi, int64_t room)
{
    Forms *f = &v->f;
    uint32_t known = f->known.n, facts = f->facts.n;
    form_assume(f, guard);
    bool inside = form_le(f, form_const(f, 0), lo) && form_le(f, lo, hi) && form_le(f, hi, form_const(f, room));
    f->known.n = known;
    f->facts.n = facts;
    return inside;
}

bool copy_bytes(Verifier *v, uint32_t op, IrKey key, uint32_t rank, Form bytes, Form guard, Bytes *out)
{
    Forms *f = &v->f;
    const IrArg *obj = verify_arg(v, op, key), *slot = ir_part(v->ops[op], obj, IRK_SLOT),
                *byte = ir_part(v->ops[op], obj, IRK_OFFSET);
    const IrBuf *b = &v->k->bufs.v[obj->id];
    *out = (Bytes){.rank = rank, .buf = obj->id, .lo = byte ? run_value(v, byte) : form_const(f, 0)};
    if (b->lanes && !tensor_along(v, op, b, guard, out)) return false;
    if (slot && !run_decided(v, op, slot, &out->slot)) {
        verify_refuse(v, E0660, op, "which slot of %s this is, is known only at run time", b->name);
        return false;
    }
    if (v->again) return false;
    out->hi = form_add(f, out->lo, 1, bytes);
    if (out->slot >= 0 && out->slot < b->slots && bytes_within(v, guard, out->lo, out->hi, b->bytes)) return true;
    verify_refuse(v, E0658, op,
                  "bytes %s .. %s of slot %lld of %s, which has %u slots of %u bytes, are not certain to lie within",
                  verify_form_text(v, out->lo), verify_form_text(v, out->hi), (long long)out->slot, b->name, b->slots,
                  b->bytes);
    return false;
}

/* ---- tensors ---- */

static uint64_t tensor_bit(uint32_t tensor)
{
    return UINT64_C(1) << (tensor < 63 ? tensor : 63);
}

/* The tensors into which an address may point. */
static uint64_t pointed_to(const Verifier *v, const IrArg *arg, int depth)
{
    if (arg->kind == IRA_IMM) return 0;
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_ZADDR || op->op == IR_CONST || op->op == IR_PARAM || op->op == IR_LOOP || op->op == IR_LANES)
        return 0; /* addresses come from gaddr alone */
    if (op->op == IR_GADDR) return tensor_bit(ir_find(op, IRK_TENSOR)->id);
    if (depth == 0 || op->op == IR_GET || op->op == IR_LOADS) return UINT64_MAX;
    uint64_t all = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_VAL && op->args[i].key != IRK_COND) all |= pointed_to(v, &op->args[i], depth - 1);
    return all;
}

uint64_t copy_tensors(const Verifier *v, uint32_t op, bool write)
{
    IrOpcode code = (IrOpcode)v->ops[op]->op;
    const IrArg *map = verify_arg(v, op, IRK_MAP), *address = verify_arg(v, op, write ? IRK_TO : IRK_FROM);
    bool moves = v->group[op] == IRG_COPY || code == IR_THR_LOAD || code == IR_THR_STORE, prefetch = code == IR_TMA_PREFETCH || code == IR_BLK_PREFETCH;
    if (!moves || prefetch) return 0;
    if (map == NULL) return address ? pointed_to(v, address, 8) : 0;
    return (code != IR_TMA_LOAD) == write ? tensor_bit(v->k->mf.maps.v[map->id].tensor) : 0;
}

/* Of a box with so many pixels of a halo. */
static Form with_halo(Verifier *v, const MapDesc *d, int64_t (*bytes)(const MapDesc *, int64_t halo), Form halo)
{
    Form box = form_const(&v->f, bytes(d, 0));
    return halo ? form_add(&v->f, box, bytes(d, 1) - bytes(d, 0), halo) : box;
}

/* What lies between packed elements a load leaves without a value: of each 16 bytes so many, the last ones; all 16: no telling. */
static uint8_t gap_of(const MapDesc *d)
{
    int64_t box = map_tx_bytes(d), room = map_smem_bytes(d), unit = GAP_UNIT * map_global_bits(d->type) / 8;
    if (box <= 0 || room <= box) return 0;
    bool whole = room / GAP_UNIT == box / unit && d->swizzle != MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    return (uint8_t)(whole ? GAP_UNIT - unit : GAP_UNIT);
}

/* ---- targets ---- */

typedef struct Targets {
    uint32_t n, rank[32];
    Form mask, when[32]; /* of a mask: whether it names that CTA. mask 0: it does */
} Targets;

static void add_target(Targets *to, uint32_t rank, Form when)
{
    to->when[to->n] = when;
    to->rank[to->n++] = rank;
}

/* Each CTA whose bit may be set. */
static bool mask_targets(Verifier *v, uint32_t op, Form mask, Targets *out)
{
    Forms *f = &v->f;
    int64_t k;
    out->mask = form_is_const(f, mask, &k) ? 0 : mask;
    if (form_is(f, mask, 0) || form_data(f, mask)->lo < 0 || form_data(f, mask)->hi >= INT64_C(1) << v->nranks) {
        verify_refuse(v, E0658, op, "mask %s for a cluster of %u", verify_form_text(v, mask), v->nranks);
        return false;
    }
    for (uint32_t r = 0; r < v->nranks; r++) {
        Form when = form_bit(f, mask, r);
        if (when == 0) {
            verify_refuse(v, E0660, op, "whether the mask names CTA %u is not known", r);
            return false;
        }
        if (!form_is(f, when, 0)) add_target(out, r, when);
    }
    return true;
}

static bool targets_of(Verifier *v, uint32_t op, Targets *out)
{
    const IrOp *o = v->ops[op];
    const IrArg *mask = verify_arg(v, op, IRK_MASK);
    Form always = form_const(&v->f, 1), named = mask ? run_value(v, mask) : 0;
    uint32_t rank;
    *out = (Targets){0};
    if (named) return mask_targets(v, op, named, out);
    for (uint32_t r = 0; r < v->nranks && o->op == IR_CLC_NEXT; r++) add_target(out, r, always);
    if (out->n) return true;
    if (!run_rank(v, op, &rank)) return false;
    bool peer = o->op == IR_BLK_PEER || o->op == IR_BLK_REDUCE_PEER;
    if (peer && rank == v->now->rank) {
        verify_refuse(v, E0618, op, "CTA %u copies to itself through the cluster", rank);
        return false;
    }
    add_target(out, rank, always);
    return true;
}

/* ---- steps ---- */

typedef struct Copy {
    uint32_t op;
    Form bytes, guard, counted; /* counted: what it adds to a barrier */
    Form room;                  /* what its bytes take in shared memory */
    uint8_t gap;                /* of a load: what of each 16 bytes of those has no value */
    Value value;                /* for ld.shared and clc.id */
    Form cond;                  /* under which its bytes are written */
    EventId event;
    const MfMap *map;
} Copy;

/* The map in memory; NULL: none, or it is not known where it lies. */
static const View *map_view(Verifier *v, uint32_t op)
{
    Bytes at;
    Form all = form_const(&v->f, IR_MAP_BYTES), always = form_const(&v->f, 1);
    const Cell *c = copy_bytes(v, op, IRK_DESC, v->now->rank, all, always, &at) ? cell_at(v, &at, false) : NULL;
    return c ? c->view : NULL;
}

/* The part of the tensor; NULL: not known. */
static Region *region_of(Verifier *v, const Copy *c, const IrArg *address)
{
    const IrOp *from = verify_def(v, address);
    bool placed = verify_arg(v, c->op, IRK_DESC) != NULL; /* where its map begins is known at run time */
    const View *view = placed ? map_view(v, c->op) : NULL;
    Region r = {.map = UINT32_MAX, .n = 1, .cond = c->guard, .view = view};
    if (c->map ? c->map->mode != MAP_TILED || (placed && !view) : from == NULL || from->op != IR_GADDR) return NULL;
    if (c->map) {
        const IrArg *at;
        r.n = ir_list(v->ops[c->op], IRK_COORDS, &at);
        r.map = verify_arg(v, c->op, IRK_MAP)->id;
        r.tensor = c->map->tensor;
        for (unsigned i = 0; i < r.n; i++) {
            int64_t step = c->map->elem_stride[i]; /* every step-th element of the box */
            r.lo[i] = run_value(v, &at[i]);
            r.hi[i] = form_add(&v->f, r.lo[i], 1, form_const(&v->f, ((int64_t)c->map->box[i] - 1) / step * step + 1));
            if (r.hi[i] == 0) return NULL;
        }
    } else {
        r.tensor = ir_find(from, IRK_TENSOR)->id;
        r.lo[0] = run_value(v, ir_find(from, IRK_BYTE));
        r.hi[0] = form_add(&v->f, r.lo[0], 1, c->bytes);
        if (r.hi[0] == 0) return NULL;
    }
    Region *kept = arena_new(&v->run, Region);
    *kept = r;
    return kept;
}

static void transfer(Verifier *v, const Copy *c, bool write, Phase *phase)
{
    const IrOp *o = v->ops[c->op];
    const IrArg *address = verify_arg(v, c->op, write ? IRK_TO : IRK_FROM);
    uint64_t tensors = copy_tensors(v, c->op, write);
    if ((tensors & v->loaded & v->stored) == 0) return;
    Access a = access_new(c->op, (Bytes){0}, write, c->guard, c->event);
    a.tensors = tensors;
    a.site = site_here(v, c->op, write);
    a.any_order = o->any_order;
    a.async = !ir_by_plan((IrOpcode)o->op); /* by threads, of any part: over when it is done */
    a.phase = phase;
    if (o->op == IR_TMA_REDUCE || o->op == IR_BLK_REDUCE) a.reduce = (uint16_t)(1 + verify_arg(v, c->op, IRK_ROP)->id);
    if (a.async) a.region = region_of(v, c, address);
    else a.end = a.start;
    vec_push(v->arena, &v->transfers, a);
}

void copy_by_threads(Verifier *v, uint32_t op, Form guard, EventId e)
{
    bool write = v->ops[op]->op == IR_THR_STORE;
    transfer(v, &(Copy){.op = op, .guard = guard, .event = e}, write, NULL);
}

/* PTX ISA, st.async: a weak store; async proxy: it is none of the operations of that proxy. */
static bool generic_copy(const IrOp *op)
{
    return op->op == IR_ST_ASYNC || op->op == IR_ST_FILL || op->op == IR_RED_ASYNC;
}

/* Whose barrier tells of what is written at that CTA: its own, or (.cta_group::2) that of the one of its pair which bar_rank
 * says; of several destinations, in each pair the one with the parity of bar_rank. */
static bool barrier_at(Verifier *v, const Copy *c, uint32_t rank, uint32_t *bar)
{
    const IrArg *arg = verify_arg(v, c->op, IRK_BAR_RANK);
    int64_t k;
    *bar = rank;
    if (arg == NULL) return true;
    if (!run_number(v, c->op, arg, "the barrier's CTA", &k)) return false;
    uint32_t of = verify_arg(v, c->op, IRK_RANK) ? rank : v->now->rank;
    if (k < 0 || k >= v->nranks || (k ^ of) & ~INT64_C(1)) {
        verify_refuse(v, E0658, c->op, "the barrier of CTA %lld: CTA %u and the other one of its pair are meant",
                      (long long)k, of);
        return false;
    }
    *bar = (rank & ~1u) | (uint32_t)(k & 1);
    return true;
}

/* Writes at one CTA, told by a barrier. */
static Phase *load_at(Verifier *v, const Copy *c, uint32_t rank)
{
    uint32_t slot, bar;
    Bytes at;
    if (!barrier_at(v, c, rank, &bar)) return NULL;
    if (!copy_bytes(v, c->op, IRK_DST, rank, c->room, c->guard, &at) || !barrier_slot(v, c->op, bar, &slot))
        return NULL;
    Part part = {.event = c->event, .op = c->op, .copies = true};
    if (!barrier_part(v, slot, part)) return NULL;
    Phase *p = barrier_open(v, slot);
    Access a = access_new(c->op, at, true, c->cond, c->event);
    a.async = true;
    a.generic = generic_copy(v->ops[c->op]);
    a.gap = c->gap;
    a.phase = p;
    if (verify_arg(v, c->op, IRK_ROP)) {
        a.reduce = (uint16_t)(1 + verify_arg(v, c->op, IRK_ROP)->id * TYPE_COUNT + verify_arg(v, c->op, IRK_ELEM)->id);
        if (a.generic) a.reduce |= 0x8000; /* not one engine's: each is atomic to its own kind */
        Access read = a;
        read.write = false;
        access_add(v, read);
    }
    access_add(v, a);
    burst_count(v, (Sum){.slot = slot, .bytes = c->counted, .clock = v->events.v[c->event - 1].clock, .op = c->op});
    if (c->value.x) cell_at(v, &at, true)->value = c->value;
    return p;
}

/* Bytes that are read until the copy is over. Those of a map in memory, too: PTX ISA, cp.async.bulk.wait_group, counts that
 * among the reads. */
static void reads(Verifier *v, const Copy *c, IrKey key, Phase *phase)
{
    Bytes at;
    bool map = key == IRK_DESC;
    Form bytes = map ? form_const(&v->f, IR_MAP_BYTES) : c->room, guard = map ? form_const(&v->f, 1) : c->guard;
    if (verify_arg(v, c->op, key) == NULL || v->failed) return;
    if (!copy_bytes(v, c->op, key, v->now->rank, bytes, guard, &at)) return;
    Access a = access_new(c->op, at, false, c->guard, c->event);
    a.async = true;
    a.phase = phase;
    access_add(v, a);
}

/* One thread issues a copy, or each lane its own. */
static bool by_one(Verifier *v, uint32_t op)
{
    if (v->ops[op]->elect || v->k->roles.v[v->now->role].elect) return true;
    for (uint32_t i = 0; i < v->now->depth; i++)
        if (v->ops[v->now->frames[i].op]->op == IR_LANES) return true;
    verify_refuse(v, E0672, op, "%s by all threads of the role", verify_op_text(v, op));
    return false;
}

/* What the hardware counts is the map's box, whatever the op says. */
static bool in_box(Verifier *v, Copy *c)
{
    MapDesc d = manifest_map(c->map);
    const IrArg *info = map_is_wide(c->map->mode) ? verify_arg(v, c->op, IRK_INFO) : NULL; /* wHalo comes first */
    Form halo = info ? run_value(v, info) : 0, box = with_halo(v, &d, map_copy_bytes, halo);
    c->room = with_halo(v, &d, map_copy_room, halo);
    c->gap = gap_of(&d);
    if (box && (box == c->bytes || (form_le(&v->f, box, c->bytes) && form_le(&v->f, c->bytes, box)))) return true;
    verify_refuse(v, E0659, c->op, "the box of map %s has %s bytes; the copy counts %s", c->map->name,
                  verify_form_text(v, box), verify_form_text(v, c->bytes));
    return false;
}

/* A request for work: each answer is a new value. */
static bool ask(Verifier *v, Copy *c)
{
    if (!run_happens(v, c->op)) return false;
    c->value = value_of(run_answer(v, IR_I64, c->op, -1, INT32_MAX));
    return !v->failed;
}

/* What the copy brings where its guard and this hold. A copy of 0 bytes covers nothing: where the guard keeps those out, the
 * range is written all the same. */
static void under(Verifier *v, Copy *c, Form guard)
{
    Forms *f = &v->f;
    c->guard = guard;
    c->counted = form_guard(f, guard, c->bytes);
    c->cond = form_where_positive(f, guard, c->bytes);
}

/* What the guard comes to where the mask is not 0. */
static Form where_named(Verifier *v, Form guard, Form mask)
{
    Forms *f = &v->f;
    uint32_t known = f->known.n;
    form_assume(f, form_not(f, form_zero(f, mask)));
    guard = form_simplify(f, guard);
    f->known.n = known;
    return guard;
}

static Phase *load(Verifier *v, const Copy *c, const Targets *to)
{
    Phase *p = NULL;
    Form guard = to->mask ? where_named(v, c->guard, to->mask) : 0;
    for (uint32_t i = 0; i < to->n && !verify_stopped(v); i++) {
        Copy one = *c;
        if (to->mask) under(v, &one, form_guard(&v->f, to->when[i], guard));
        if (one.cond && one.counted) p = load_at(v, &one, to->rank[i]);
    }
    return p;
}

void copy_step(Verifier *v, uint32_t op)
{
    Forms *f = &v->f;
    const IrOp *o = v->ops[op];
    const IrArg *bytes = verify_arg(v, op, IRK_BYTES), *map = verify_arg(v, op, IRK_MAP);
    Targets to;
    if (o->op == IR_TC_CP || o->op == IR_TC_SHIFT) {
        tensor_copy_step(v, op);
        return;
    }
    if (o->op == IR_TMA_PREFETCH || o->op == IR_BLK_PREFETCH || !by_one(v, op)) return;
    int64_t cell = o->op == IR_CLC_NEXT ? IR_ANSWER_BYTES : IR_CELL_BYTES;
    Copy c = {.op = op, .bytes = bytes ? run_value(v, bytes) : form_const(f, cell), .guard = run_guard(v, op)};
    c.room = c.bytes;
    if (form_is(f, c.guard, 0) || (!map && form_is(f, c.bytes, 0))) return;
    if (o->op == IR_ST_ASYNC) c.value = run_value_at(v, verify_arg(v, op, IRK_A));
    if (o->op == IR_CLC_NEXT && !ask(v, &c)) return;
    if (map) {
        c.map = &v->k->mf.maps.v[map->id];
        if (!in_box(v, &c)) return;
    }
    under(v, &c, c.guard);
    c.event = event_burst(v, op);
    bool write = verify_arg(v, op, IRK_BAR) == NULL;
    if (!write && !targets_of(v, op, &to)) return;
    Phase *p = write ? NULL : load(v, &c, &to);
    if (verify_stopped(v)) return;
    reads(v, &c, IRK_DESC, p);
    reads(v, &c, IRK_SRC, p);
    if (!v->failed && c.value.x == 0 && (write || !verify_arg(v, op, IRK_SRC))) transfer(v, &c, write, p);
    if (!v->failed && !write) burst_flush(v);
}

/* ---- groups and fences ---- */

static void wait_groups(Verifier *v, uint32_t op)
{
    Thread *t = v->now;
    Commit *group = t->commits[TO_GROUP].v;
    int64_t past = (int64_t)t->commits[TO_GROUP].n - verify_arg(v, op, IRK_N)->imm;
    bool full = verify_arg(v, op, IRK_HOW)->id == IRH_FULL;
    EventId e = event_new(v, op);
    for (; t->read < past; t->read++) group[t->read].read = e;
    for (; full && t->full < past; t->full++) group[t->full].full = e;
}

static void fence(Verifier *v, uint32_t op)
{
    EventId e = event_new(v, op);
    IrOpcode code = (IrOpcode)v->ops[op]->op;
    const IrArg *order = verify_arg(v, op, IRK_ORDER);
    Fence fence = code == IR_FENCE_MBAR_INIT ? FENCE_INITS : FENCE_ASYNC;
    if (order) fence = order->id == IRD_BEFORE ? FENCE_BEFORE : FENCE_AFTER;
    if (code == IR_FENCE_ASYNC && verify_arg(v, op, IRK_SPACE)->id == IRS_GLOBAL) fence = FENCE_GLOBAL;
    if (code == IR_FENCE_ACQREL) return;
    vec_push(&v->run, &v->now->fences[fence], e);
}

void group_step(Verifier *v, uint32_t op)
{
    if (!run_happens(v, op)) return;
    if (v->ops[op]->op == IR_GRP_COMMIT) {
        v->now->burst = 0;
        vec_push(&v->run, &v->now->commits[TO_GROUP], (Commit){0});
    } else if (v->ops[op]->op == IR_GRP_WAIT) {
        wait_groups(v, op);
    } else {
        fence(v, op);
    }
}
