/* Where tcgen05.cp finds its rows and where it puts them. */
#include "lower/ir/tensor_memory.h"

#include "lang/checked.h"
#include "lang/lang.h"
#include "lang/maps/rules.h"
#include "lower/ir/thread_work.h"

enum { GROUP = 8 /* rows that the descriptor has in a row */, QUARTER = 32, ADDRESS_BITS = 14, ADDRESS_SHIFT = 4,
       SYSTEM_BYTES = 1024 /* of shared memory, in front of a kernel's (CUDA guide, shared memory) */ };

static const TmemShape SHAPES[IRP_SHAPES] = {
    [IRP_128X256B] = {"128x256b", 128, 1, 8},
    [IRP_4X256B] = {"4x256b", 4, 1, 8},
    [IRP_128X128B] = {"128x128b", 128, 1, 4},
    [IRP_64X128B_02_13] = {"64x128b.warpx2::02_13", 64, 2, 4},
    [IRP_64X128B_01_23] = {"64x128b.warpx2::01_23", 64, 2, 4},
    [IRP_32X128B_X4] = {"32x128b.warpx4", 32, 4, 4},
};

const TmemShape *tmem_shape(unsigned shape)
{
    return &SHAPES[shape < IRP_SHAPES ? shape : 0];
}

static uint32_t number(const IrOp *op, IrKey key)
{
    const IrArg *arg = ir_find(op, key);
    return arg && arg->imm > 0 && arg->imm <= UINT32_MAX ? (uint32_t)arg->imm : 0;
}

static uint8_t word(const IrOp *op, IrKey key)
{
    const IrArg *arg = ir_find(op, key);
    return arg ? (uint8_t)arg->id : 0;
}

/* Descriptors are made in init, whose values all bodies see. */
static const IrOp *descriptor_of(const IrKernel *k, const IrOp *op)
{
    const IrArg *arg = ir_find(op, IRK_DESC);
    for (uint32_t i = 0; arg && arg->kind == IRA_VAL && i < k->init.ops.n; i++)
        if (k->init.ops.v[i].dst == arg->id && k->init.ops.v[i].op == IR_TC_DESC) return &k->init.ops.v[i];
    return NULL;
}

TmemCp tmem_cp(const IrKernel *k, const IrOp *op)
{
    const IrOp *desc = op->op == IR_TC_DESC ? op : descriptor_of(k, op);
    TmemCp c = {.shape = word(op, IRK_SHAPE), .format = word(op, IRK_FORMAT), .step = number(op, IRK_STEP), .n = number(op, IRK_N)};
    if (desc == NULL) return c;
    c.swizzle = word(desc, IRK_LAYOUT);
    c.lead = number(desc, IRK_LEAD);
    c.stride = number(desc, IRK_STRIDE);
    return c;
}

int64_t tmem_linear(const TmemCp *c, unsigned i, unsigned row, unsigned chunk)
{
    int64_t span = swizzle_span(c->swizzle), x = (int64_t)i * c->step + (int64_t)(row / GROUP) * c->stride;
    if (span == 0) return x + row % GROUP * TMEM_CHUNK + (int64_t)chunk * c->lead;
    return x + row % GROUP * span + chunk * TMEM_CHUNK;
}

int64_t tmem_source(const TmemCp *c, int64_t at, unsigned i, unsigned row, unsigned chunk)
{
    return thr_swizzled(at + tmem_linear(c, i, row, chunk), thr_swizzle_mask(c->swizzle)) - at;
}

void tmem_reach(const TmemCp *c, int64_t at, int64_t *lo, int64_t *hi)
{
    const TmemShape *s = tmem_shape(c->shape);
    *lo = INT64_MAX;
    *hi = 0;
    for (unsigned i = 0; i < c->n; i++) {
        for (unsigned row = 0; row < s->rows; row++) {
            for (unsigned chunk = 0; chunk < s->columns / 4u; chunk++) {
                int64_t x = tmem_source(c, at, i, row, chunk);
                if (x < *lo) *lo = x;
                if (x + TMEM_CHUNK > *hi) *hi = x + TMEM_CHUNK;
            }
        }
    }
}

bool tmem_swizzle(uint8_t swizzle, unsigned *mode)
{
    switch (swizzle) {
    case MAP_SWIZZLE_NONE: *mode = 0; return true;
    case MAP_SWIZZLE_128B: *mode = 2; return true;
    case MAP_SWIZZLE_64B: *mode = 4; return true;
    case MAP_SWIZZLE_32B: *mode = 6; return true;
    default: *mode = 0; return false; /* atoms of other sizes: the canonical K-major layouts have none */
    }
}

static uint64_t encode(uint32_t bytes)
{
    return (bytes >> ADDRESS_SHIFT) & ((UINT32_C(1) << ADDRESS_BITS) - 1);
}

/* PTX ISA, "Shared memory descriptor layout": bits 46 .. 48 are 0b001; base offset 0, for patterns begin where they repeat. */
uint64_t tmem_descriptor(const TmemCp *c)
{
    unsigned mode;
    tmem_swizzle(c->swizzle, &mode);
    return encode(c->lead) << 16 | encode(c->stride) << 32 | UINT64_C(1) << 46 | (uint64_t)mode << 61;
}

/* ---- tensor memory ---- */

static TmemPart part_of(const IrBuf *b, int64_t at, unsigned lanes, unsigned apart, unsigned columns)
{
    int64_t pitch = 4 * (int64_t)b->columns, width = 4 * (int64_t)columns;
    TmemPart p = {.lo = at, .hi = at + (int64_t)(lanes - 1) * apart * pitch + width};
    if (lanes > 1 && (apart > 1 || width != pitch)) {
        p.step = apart * pitch;
        p.width = width;
    }
    return p;
}

TmemPart tmem_written(const TmemCp *c, const IrBuf *b, int64_t at)
{
    const TmemShape *s = tmem_shape(c->shape);
    bool strided = c->shape == IRP_4X256B;
    return part_of(b, at, strided ? s->rows : b->lanes, strided ? QUARTER : 1, c->n * s->columns); /* other lanes are no tile's */
}

TmemUse tmem_use(const IrKernel *k, const IrOp *op)
{
    TmemCp c = tmem_cp(k, op);
    if (op->op == IR_TC_CP) return (TmemUse){c.n * tmem_shape(c.shape)->columns, TMEM_CHUNK / 4};
    if (op->op == IR_TC_SHIFT) return (TmemUse){c.n * TMEM_SHIFT_COLUMNS, TMEM_SHIFT_COLUMNS};
    const IrPlan *p = &k->plans.v[ir_find(op, IRK_PLAN)->id];
    return (TmemUse){p->extent[1] * elem_info((ElemType)p->src.type)->shared_bits / 32u, 1};
}

TmemPart tmem_shifted(uint32_t n, const IrBuf *b, int64_t at)
{
    return part_of(b, at, QUARTER, 1, n * TMEM_SHIFT_COLUMNS);
}

/* ---- well-formedness ---- */

const char *tmem_check_objects(Arena *a, const IrKernel *k)
{
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        const IrBuf *b = &k->bufs.v[i];
        if (b->lanes == 0) continue;
        if (b->lanes > TMEM_LANES || b->columns == 0 || b->bytes != 4u * b->lanes * b->columns || b->slots == 0 ||
            b->slots > TMEM_COLUMNS || b->column_pitch < b->columns)
            return arena_printf(a, "tile %s is none of tensor memory", b->name);
        if (b->column + tmem_width(b) > k->tmem)
            return arena_printf(a, "tile %s lies outside the %u columns of tensor memory", b->name, k->tmem);
        for (uint32_t j = 0; j < i; j++) {
            const IrBuf *o = &k->bufs.v[j];
            if (o->lanes && b->column < o->column + tmem_width(o) && o->column < b->column + tmem_width(b))
                return arena_printf(a, "%s and %s overlap in tensor memory", b->name, o->name);
        }
    }
    return NULL;
}

/* Once, in that body, under no condition. */
static const IrOp *only(const IrKernel *k, const IrRole *body, IrOpcode code, uint32_t *at)
{
    uint32_t depth = 0, n = 0;
    const IrOp *found = NULL;
    for (uint32_t i = 0; i < ir_bodies(k); i++)
        for (uint32_t j = 0; j < ir_body(k, i)->ops.n; j++) n += ir_body(k, i)->ops.v[j].op == code;
    for (uint32_t j = 0; j < body->ops.n; j++) {
        const IrOp *op = &body->ops.v[j];
        depth += ir_opens_block((IrOpcode)op->op) && op->op != IR_ELSE;
        depth -= op->op == IR_END && depth;
        if (op->op != code || depth || op->guard.pred) continue;
        found = op;
        *at = j;
    }
    return n == 1 ? found : NULL;
}

const char *tmem_check_kernel(Arena *a, const IrKernel *k)
{
    uint32_t at[4] = {0};
    if (k->tmem == 0) return NULL; /* nor is it used: tmem_check_op */
    if (!power_of_two(k->tmem) || k->tmem < TMEM_UNIT || k->tmem > TMEM_COLUMNS)
        return arena_printf(a, "%u columns of tensor memory: a power of two from %d to %d is allocated", k->tmem, TMEM_UNIT, TMEM_COLUMNS);
    if (k->pair && k->mf.cluster[0] * k->mf.cluster[1] * k->mf.cluster[2] % 2) return "pairs of CTAs in a cluster that has an odd number";
    const IrOp *alloc = only(k, &k->init, IR_TC_ALLOC, &at[0]), *keep = only(k, &k->init, IR_TC_KEEP, &at[1]),
               *base = only(k, &k->init, IR_TC_BASE, &at[2]), *end = only(k, &k->exit, IR_TC_FREE, &at[3]);
    if (!alloc || !keep || !base || !end) return "tensor memory is allocated in init, once, and freed in exit, once";
    if (at[0] > at[1] || at[0] > at[2]) return "tensor memory is allocated before all else of it";
    bool met = false;
    for (uint32_t i = at[0]; i < at[2]; i++) met |= k->init.ops.v[i].op == IR_CTA_SYNC && !k->init.ops.v[i].guard.pred;
    if (!met) return "nothing makes the address of tensor memory known to all threads: a cta.sync before tc.base";
    if (ir_find(alloc, IRK_N)->imm != k->tmem || ir_find(end, IRK_N)->imm != k->tmem)
        return "what is allocated and freed are not the columns of the kernel";
    if (ir_find(alloc, IRK_DST)->id != ir_find(base, IRK_SRC)->id) return "the address of tensor memory is read where it was not written";
    return NULL;
}

static const IrBuf *buf_of(const IrKernel *k, const IrOp *op, IrKey key, int64_t *at)
{
    const IrArg *obj = ir_find(op, key), *byte = obj ? ir_part(op, obj, IRK_OFFSET) : NULL;
    *at = byte ? byte->kind == IRA_IMM ? byte->imm : -1 : 0;
    return obj ? &k->bufs.v[obj->id] : NULL;
}

static const char *check_part(const IrBuf *b, int64_t at, TmemPart p, unsigned lanes, unsigned columns)
{
    if (at < 0 || at % 4) return "where in tensor memory it works is no column known at compile time";
    int64_t pitch = 4 * (int64_t)b->columns;
    if (at / pitch + lanes > b->lanes || at % pitch + 4 * (int64_t)columns > pitch || p.hi > b->bytes)
        return "reaches beyond the tile in tensor memory";
    return NULL;
}

/* As above, and from a multiple of so many columns on in every slot. */
static const char *check_unit(const IrBuf *b, int64_t at, TmemPart p, unsigned lanes, unsigned columns, unsigned unit)
{
    const char *wrong = check_part(b, at, p, lanes, columns);
    if (wrong) return wrong;
    bool fits = (b->column + at % (4 * (int64_t)b->columns) / 4) % unit == 0 && (b->slots == 1 || b->column_pitch % unit == 0);
    return fits ? NULL : unit == TMEM_SHIFT_COLUMNS ? "starts at a multiple of 8 columns" : "starts at a multiple of 4 columns";
}

/* All of the buffer has addresses that the descriptor's field holds, so nothing that is added to it within the buffer carries. */
static const char *check_desc(const IrKernel *k, const IrOp *op)
{
    TmemCp c = tmem_cp(k, op);
    int64_t from;
    unsigned mode;
    const IrBuf *b = buf_of(k, op, IRK_SRC, &from);
    const IrArg *src = ir_find(op, IRK_SRC), *slot = src ? ir_part(op, src, IRK_SLOT) : NULL;
    if (!b || b->lanes || from || (slot && (slot->kind != IRA_IMM || slot->imm))) return "describes a buffer in shared memory, from its first byte on";
    if (!tmem_swizzle(c.swizzle, &mode)) return "has a layout that descriptors don't know";
    if ((c.lead | c.stride) % TMEM_CHUNK || (c.lead | c.stride) >> (ADDRESS_BITS + ADDRESS_SHIFT)) return "has offsets that descriptors can't hold";
    int64_t align = c.swizzle ? swizzle_align(c.swizzle) : TMEM_CHUNK;
    if (b->align % align) return "describes a buffer that does not begin where the swizzle's pattern does";
    uint64_t end = SYSTEM_BYTES + b->offset + (uint64_t)b->pitch * (b->slots - 1) + b->bytes;
    return end >> (ADDRESS_BITS + ADDRESS_SHIFT) ? "describes a buffer whose addresses descriptors can't hold" : NULL;
}

static const char *check_cp(const IrKernel *k, const IrOp *op)
{
    TmemCp c = tmem_cp(k, op);
    int64_t from, at, lo, hi;
    const TmemShape *s = tmem_shape(c.shape);
    const IrBuf *src = buf_of(k, op, IRK_SRC, &from), *dst = buf_of(k, op, IRK_DST, &at);
    const IrOp *desc = descriptor_of(k, op);
    if (!src || !dst || src->lanes || !dst->lanes) return "copies from shared memory to tensor memory";
    if (desc == NULL || ir_find(desc, IRK_SRC)->id != ir_find(op, IRK_SRC)->id) return "reads by no descriptor of its buffer";
    if (c.n == 0 || c.n > TMEM_COLUMNS) return "has no instructions, or too many";
    if (c.step % TMEM_CHUNK) return "has steps that descriptors can't hold";
    if (from >= 0) {
        tmem_reach(&c, from, &lo, &hi);
        if (from % TMEM_CHUNK || from + lo < 0 || from + hi > src->bytes) return "reads outside its buffer's slot";
    }
    unsigned lanes = c.shape == IRP_4X256B ? 3 * QUARTER + 1 : dst->lanes;
    if (c.shape != IRP_4X256B && dst->lanes != TMEM_LANES && (dst->lanes != s->rows || c.shape == IRP_64X128B_01_23)) return "fills other lanes than the tile has";
    if (c.shape != IRP_4X256B && at != at % (4 * (int64_t)dst->columns)) return "starts at lane 0";
    if (c.shape == IRP_4X256B && at / (4 * (int64_t)dst->columns) >= QUARTER) return "starts at a lane below 32";
    return check_unit(dst, at, tmem_written(&c, dst, at), lanes, c.n * s->columns, TMEM_CHUNK / 4);
}

static const char *check_shift(const IrKernel *k, const IrOp *op)
{
    int64_t at, n = ir_find(op, IRK_N)->imm;
    const IrBuf *b = buf_of(k, op, IRK_DST, &at);
    if (!b || !b->lanes) return "shifts rows in tensor memory";
    if (n < 1 || n > TMEM_COLUMNS / TMEM_SHIFT_COLUMNS) return "has no instructions, or too many";
    if (at >= 0 && at / (4 * (int64_t)b->columns) % QUARTER) return "starts at a multiple of 32 lanes";
    return check_unit(b, at, tmem_shifted((uint32_t)n, b, at), QUARTER, (unsigned)n * TMEM_SHIFT_COLUMNS, TMEM_SHIFT_COLUMNS);
}

static const char *check_threads(const IrKernel *k, const IrOp *op)
{
    const IrPlan *p = &k->plans.v[ir_find(op, IRK_PLAN)->id];
    int64_t at, other;
    bool out = op->op == IR_TC_LD;
    const IrBuf *t = buf_of(k, op, out ? IRK_SRC : IRK_DST, &at), *s = buf_of(k, op, out ? IRK_DST : IRK_SRC, &other);
    const IrSide *side = out ? &p->src : &p->dst;
    if (!t || !s || !t->lanes || s->lanes) return "moves between tensor and shared memory";
    uint32_t size = elem_info((ElemType)side->type)->shared_bits / 8u;
    if (p->rank != 2 || p->xform != IRX_COPY || p->add || p->src.type != p->dst.type || size == 0) return "has a plan that moves otherwise";
    if (side->swizzle || side->span || side->pitch[0] != 4u * t->columns || side->pitch[1] != size || p->extent[1] * size % 4)
        return "has a plan that is not of this tile in tensor memory";
    if (p->extent[0] % QUARTER || (at >= 0 && at / (4 * (int64_t)t->columns) % QUARTER)) return "takes lanes in multiples of 32";
    if (p->threads % TMEM_LANES || p->threads == 0) return "is for a multiple of 128 threads";
    uint32_t columns = p->extent[1] * size / 4;
    TmemPart part = part_of(t, at, p->extent[0], 1, columns);
    return check_part(t, at, part, p->extent[0], columns);
}

const char *tmem_check_op(const IrKernel *k, const IrOp *op)
{
    int64_t at;
    const IrBuf *b;
    if (k->tmem == 0 && tmem_op((IrOpcode)op->op)) return "tensor memory is used, and the kernel allocates none";
    switch ((IrOpcode)op->op) {
    case IR_TC_ALLOC:
    case IR_TC_BASE:
        b = buf_of(k, op, op->op == IR_TC_ALLOC ? IRK_DST : IRK_SRC, &at);
        return b == NULL || b->lanes || at < 0 || at + TMEM_CELL_BYTES > b->bytes ? "has no cell in shared memory" : NULL;
    case IR_TC_DESC: return check_desc(k, op);
    case IR_TC_CP: return check_cp(k, op);
    case IR_TC_SHIFT: return check_shift(k, op);
    case IR_TC_LD:
    case IR_TC_ST: return check_threads(k, op);
    default: break;
    }
    for (uint32_t i = 0; i < op->nargs && !tmem_op((IrOpcode)op->op); i++)
        if (op->args[i].kind == IRA_BUF && k->bufs.v[op->args[i].id].lanes) return "works on what is in tensor memory";
    return NULL;
}
