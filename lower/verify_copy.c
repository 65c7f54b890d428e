/* The step of a copy: what it moves, and whether that is what its operands say. */
#include "lower/verify_parts.h"

enum { TX_LIMIT = (1 << 20) - 1 }; /* PTX ISA, mbarrier: range of the tx-count */

bool verify_bar_slot(Verifier *v, uint32_t op, uint32_t *slot)
{
    const IrArg *bar = ir_find(&v->ops[op], IRK_BAR), *part = ir_part(&v->ops[op], bar, IRK_SLOT);
    const IrBar *b = &v->k->bars.v[bar->id];
    int64_t n = 0;
    if (part && !form_is_const(&v->f, form_simplify(&v->f, verify_value(v, part)), &n)) {
        verify_refuse(v, E0660, op, "which slot of barrier %s this is, is known only at run time", b->name);
        return false;
    }
    if (n < 0 || n >= b->slots) {
        verify_refuse(v, E0658, op, "slot %lld of barrier %s, which has %u", (long long)n, b->name, b->slots);
        return false;
    }
    *slot = v->bar_base[bar->id] + (uint32_t)n;
    return true;
}

Form verify_guard(Verifier *v, uint32_t op)
{
    IrVal g = v->ops[op].guard;
    return g ? form_simplify(&v->f, verify_value(v, &(IrArg){.kind = IRA_VAL, .id = g})) : form_const(&v->f, 1);
}

void verify_tx(Verifier *v, uint32_t op, uint32_t slot)
{
    const BarState *b = &v->s.bars[slot];
    Form worst = b->expected && form_data(&v->f, b->expected)->hi > TX_LIMIT ? b->expected : b->delivered;
    if (b->expected == 0 || b->delivered == 0)
        verify_refuse(v, E0660, op, "the bytes of barrier %s add up to more than can be followed",
                      verify_bar_name(v, slot));
    else if (form_data(&v->f, worst)->hi > TX_LIMIT)
        verify_refuse(v, E0623, op, "the bytes of this phase of barrier %s reach %s; the limit is %d",
                      verify_bar_name(v, slot), verify_form_text(v, worst), TX_LIMIT);
}

/* ---- buffers ---- */

static bool copy_bytes(Verifier *v, uint32_t op, IrKey key, Form bytes, Form guard, Bytes *out)
{
    Forms *f = &v->f;
    const IrArg *obj = ir_find(&v->ops[op], key), *slot = ir_part(&v->ops[op], obj, IRK_SLOT),
                *byte = ir_part(&v->ops[op], obj, IRK_OFFSET);
    const IrBuf *b = &v->k->bufs.v[obj->id];
    Form zero = form_const(f, 0);
    out->buf = obj->id;
    out->slot = slot ? form_simplify(f, verify_value(v, slot)) : zero;
    out->lo = byte ? form_simplify(f, verify_value(v, byte)) : zero;
    out->hi = form_add(f, out->lo, 1, bytes);
    uint32_t known = f->known.n, facts = f->facts.n;
    form_assume(f, guard);
    bool inside = form_le(f, zero, out->slot) && form_le(f, out->slot, form_const(f, (int64_t)b->slots - 1)) &&
                  form_le(f, zero, out->lo) && form_le(f, out->lo, out->hi) &&
                  form_le(f, out->hi, form_const(f, b->bytes));
    f->known.n = known;
    f->facts.n = facts;
    if (!inside)
        verify_refuse(v, E0658, op,
                      "bytes %s .. %s of slot %s of %s, which has %u slots of %u bytes, are not certain to lie within",
                      verify_form_text(v, out->lo), verify_form_text(v, out->hi), verify_form_text(v, out->slot),
                      b->name, b->slots, b->bytes);
    return inside;
}

/* ---- tensors ---- */

static uint64_t tensor_bit(uint32_t tensor)
{
    return UINT64_C(1) << (tensor < 63 ? tensor : 63);
}

/* The tensors into which an address may point. */
uint64_t verify_address(const Verifier *v, const IrArg *arg, int depth)
{
    if (arg->kind == IRA_IMM) return 0;
    const IrOp *op = &v->ops[v->def[arg->id - 1]];
    if (op->op == IR_ZADDR || op->op == IR_CONST) return 0;
    if (op->op == IR_GADDR) return tensor_bit(ir_find(op, IRK_TENSOR)->id);
    if (depth == 0 || op->op == IR_LOOP || op->op == IR_GET || op->op == IR_LOADS || op->op == IR_PARAM)
        return UINT64_MAX;
    uint64_t all = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_VAL && op->args[i].key != IRK_COND)
            all |= verify_address(v, &op->args[i], depth - 1);
    return all;
}

static const Region *map_region(Verifier *v, uint32_t op, uint32_t map)
{
    const MfMap *m = &v->k->mf.maps.v[map];
    const IrArg *at;
    unsigned n = ir_list(&v->ops[op], IRK_COORDS, &at);
    if (m->mode != MAP_TILED || n != m->rank || n > MAP_RANK) return NULL;
    Region *r = arena_new(v->arena, Region);
    *r = (Region){.map = map, .tensor = m->tensor, .n = n};
    for (unsigned i = 0; i < n; i++) {
        r->lo[i] = form_simplify(&v->f, verify_value(v, &at[i]));
        r->hi[i] = form_add(&v->f, r->lo[i], 1, form_const(&v->f, (int64_t)m->box[i] * m->elem_stride[i]));
        if (r->hi[i] == 0) return NULL;
    }
    return r;
}

static const Region *address_region(Verifier *v, const IrArg *arg, Form bytes)
{
    const IrOp *op = arg->kind == IRA_VAL ? &v->ops[v->def[arg->id - 1]] : NULL;
    if (op == NULL || op->op != IR_GADDR) return NULL;
    Region *r = arena_new(v->arena, Region);
    *r = (Region){.map = UINT32_MAX, .tensor = ir_find(op, IRK_TENSOR)->id, .n = 1};
    r->lo[0] = form_simplify(&v->f, verify_value(v, ir_find(op, IRK_BYTE)));
    r->hi[0] = form_add(&v->f, r->lo[0], 1, bytes);
    return r->hi[0] ? r : NULL;
}

/* What the hardware counts is the map's box, whatever the op says. */
static bool check_box(Verifier *v, uint32_t op, const MfMap *m, int64_t bytes)
{
    MapDesc d = {.mode = (MapMode)m->mode,
                 .type = m->type,
                 .rank = m->rank,
                 .swizzle = m->swizzle,
                 .interleave = m->interleave,
                 .channels = m->channels,
                 .pixels = m->pixels,
                 .is_load = m->is_load,
                 .is_store = m->is_store};
    for (unsigned i = 0; i < MAP_RANK; i++) {
        d.box[i] = m->box[i];
        d.elem_stride[i] = m->elem_stride[i];
        d.dim[i] = d.pitch[i] = MAP_UNKNOWN;
    }
    int64_t box = map_tx_bytes(&d);
    if (box != bytes)
        verify_refuse(v, E0659, op, "the box of map %s has %lld bytes; the copy counts %lld", m->name, (long long)box,
                      (long long)bytes);
    return box == bytes;
}

/* ---- steps ---- */

/* The copy adds its bytes to the barrier's phase. */
static bool deliver(Verifier *v, uint32_t op, uint32_t slot, Form bytes, Form guard)
{
    BarState *b = &v->s.bars[slot];
    if (!b->initialised || b->unfenced) {
        Diag *g = verify_refuse(
            v, E0653, op,
            b->initialised ? "barrier %s is used by an asynchronous copy without fence.mbar_init after its bar.init"
                           : "barrier %s is used before its bar.init",
            verify_bar_name(v, slot));
        if (b->initialised) verify_also(v, g, b->op, "the last that happened to it");
        return false;
    }
    if (state_bar_complete(v, b)) {
        Diag *g = verify_refuse(
            v, E0611, op,
            "this copy counts on a phase of barrier %s that may be over: it has all its arrivals and bytes",
            verify_bar_name(v, slot));
        verify_also(v, g, b->op, "completes the phase, and nothing has waited for it since");
        return false;
    }
    b->delivered = form_add(&v->f, b->delivered, 1, form_guard(&v->f, guard, bytes));
    b->op = op;
    verify_tx(v, op, slot);
    return !v->failed;
}

void verify_copy(Verifier *v, uint32_t op)
{
    Forms *f = &v->f;
    const IrOp *o = &v->ops[op];
    bool load = o->op == IR_TMA_LOAD || o->op == IR_BLK_LOAD, tensor = o->op == IR_TMA_LOAD || o->op == IR_TMA_STORE;
    Form bytes = form_simplify(f, verify_value(v, ir_find(o, IRK_BYTES))), guard = verify_guard(v, op);
    uint32_t slot = 0;
    uint64_t tensors;
    Bytes at;
    const Region *region = NULL;
    if (form_is(f, guard, 0) || (!tensor && form_is(f, bytes, 0))) return;
    if (!copy_bytes(v, op, load ? IRK_DST : IRK_SRC, bytes, guard, &at)) return;
    if (tensor) {
        uint32_t map = ir_find(o, IRK_MAP)->id;
        const MfMap *m = &v->k->mf.maps.v[map];
        if (!check_box(v, op, m, ir_find(o, IRK_BYTES)->imm)) return;
        tensors = tensor_bit(m->tensor);
        if (tensors & v->loaded & v->stored) region = map_region(v, op, map);
        if (m->type >= MAP_U4_ALIGN16)
            at.hi = form_const(f, v->k->bufs.v[at.buf].bytes); /* spread out in shared memory */
    } else {
        const IrArg *address = ir_find(o, load ? IRK_FROM : IRK_TO);
        tensors = verify_address(v, address, 8);
        if (tensors & v->loaded & v->stored) region = address_region(v, address, bytes);
    }
    if (!load) {
        access_read(v, op, at, guard, tensors, region);
        return;
    }
    if (!verify_bar_slot(v, op, &slot) || !deliver(v, op, slot, bytes, guard)) return;
    /* A copy of 0 bytes covers nothing: where the guard only keeps those out, the range is written in any case. */
    Form counted = form_guard(f, guard, bytes);
    access_write(v, op, at, counted == bytes ? form_const(f, 1) : guard, slot, tensors, region);
}
