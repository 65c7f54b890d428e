/* Moves by bulk copies: contiguous runs, one per row. Nothing clips a bulk copy, so a run that may reach past the
 * tensor is cut to it: a load fills the rest from the block of zeros, so that the bytes that arrive are always those
 * of the run, a store leaves the rest out. */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"
#include "lower/plan/device_maps.h"
#include "lower/plan/maps.h"

static int64_t tile_pitch(const MoveInfo *mi, int dim)
{
    const Pair *p = move_pair(mi, dim);
    return p ? tile_pitch_bits(mi->tile, p->tile_dim) / 8 : 0;
}

/* Is dimension d moved in full, and does the next one out continue where it ends? */
static bool folds(Lower *L, const MoveInfo *mi, int d, int64_t bytes)
{
    Domain *m = L->d;
    int64_t k;
    Poly extent = scalar_poly(L, mi->tensor->extent[d]);
    if (mi->g->dim[d].rows || mi->g->dim[d - 1].rows) return false;
    if (mi->g->dim[d - 1].extent == 1 || move_step(mi, d - 1) != 1 || move_step(mi, d) != 1) return false;
    if (!poly_is_const(mi->start[d], &k) || k != 0) return false;
    if (!mi->g->dim[d].whole && !domain_eq(m, extent, poly_const(m, mi->g->dim[d].extent))) return false;
    if (tile_pitch(mi, d - 1) != bytes) return false;
    if (!mi->tensor->strided) return true;
    Poly inner = poly_mul(m, extent, scalar_poly(L, mi->tensor->stride[d]));
    return domain_eq(m, scalar_poly(L, mi->tensor->stride[d - 1]), inner);
}

static bool multiple_of_16(Lower *L, const MoveInfo *mi, Poly bytes, Span at, const char *what, Refusal *why)
{
    Need n = need_multiple(L, bytes, SMEM_BULK_ALIGN);
    if (n.is == NEED_PROVED) return true;
    const char *rule = "addresses and sizes of bulk copies are multiples of 16 bytes", *is = poly_text(L, bytes);
    if (need_met(L, n, E1128, at, rule, "%s, %s bytes, is a multiple of 16", what, is)) return true;
    return cannot(L, why, E0502, at, mi->tensor->span, "the tensor", NULL, "%s, %s bytes, %s a multiple of 16", what, is,
                  unproved_multiple(bytes, SMEM_BULK_ALIGN));
}

static bool aligned(Lower *L, const MoveInfo *mi, const BulkPlan *p, Refusal *why)
{
    Domain *d = L->d;
    int64_t size = mi->bits / 8;
    const PTensor *t = mi->tensor;
    Poly unit = poly_const(d, p->unit);
    Span at = mi->g->dim[p->fold].span;
    if (p->run % SMEM_BULK_ALIGN != 0)
        return cannot(L, why, E0502, mi->s->span, mi->tile->span, "the tile", NULL, "a run of %lld bytes is no multiple of 16", (long long)p->run);
    if (!multiple_of_16(L, mi, poly_mul(d, mi->start[p->fold], unit), at, "the run's start", why)) return false;
    if (p->unit % SMEM_BULK_ALIGN != 0 && p->high &&
        !multiple_of_16(L, mi, poly_mul(d, scalar_poly(L, t->extent[p->fold]), unit), at, t->run_time ? "the view's width" : "the tensor's end", why))
        return false;
    if (t->run_time ? !device_aligned(L, mi, E1128, why) || !device_same_team(L, mi, why)
                    : t->base && !multiple_of_16(L, mi, poly_mul(d, scalar_poly(L, t->offset), poly_const(d, size)), t->span,
                                                 "the view's start", why))
        return false;
    for (int i = 0; i < p->nrows; i++) {
        const BulkRow *r = &p->row[i];
        Poly pitch = poly_mul(d, scalar_poly(L, t->stride[r->dim]), poly_const(d, size));
        Poly start = poly_mul(d, mi->start[r->dim], pitch);
        if (!multiple_of_16(L, mi, start, mi->g->dim[r->dim].span, "the row's start", why)) return false;
        if (r->extent == 1 && !r->rows) continue;
        if (!multiple_of_16(L, mi, poly_mul(d, pitch, poly_const(d, move_step(mi, r->dim))), mi->g->dim[r->dim].span,
                            "the row pitch", why))
            return false;
        if (r->pitch % SMEM_BULK_ALIGN != 0)
            return cannot(L, why, E0507, mi->s->span, mi->tile->span, "the tile", NULL,
                          "rows of the tile lie %lld bytes apart, no multiple of 16", (long long)r->pitch);
    }
    return tile_aligned(L, mi, SMEM_BULK_ALIGN, why);
}

/* The instruction has 16 bits for the mask. */
static bool mask_fits(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const Sx *x = mi->mv->bytes;
    if (x == NULL || need_within(L, scalar_poly(L, x), UINT16_MAX, E1150, x->span, "a byte mask has 16 bits")) return true;
    return cannot(L, why, E0580, mi->mv->bytes_span, (Span){0, 0}, NULL, arena_printf(L->a, "bytes ((%s) & 0xffff)", source_text(L, x->span)),
                  "the mask is not proved to be 0 to 65535");
}

bool bulk_plan(Lower *L, MoveInfo *mi, BulkPlan *out, Refusal *why)
{
    Domain *m = L->d;
    int d = mi->rank - 1;
    int64_t k;
    *out = (BulkPlan){0};
    if (tile_span(mi->tile) || mi->tile->interleave)
        return cannot(L, why, E0505, mi->mv->via_span.hi ? mi->mv->via_span : mi->stmt->span, mi->tile->span, "the tile's layout",
                      arena_printf(L->a, "leave `%s` out of the tile's type", tile_span(mi->tile) ? "swizzle" : "interleave"),
                      "`%s` is swizzled or interleaved, bulk copies leave bytes in their order", name_text(L, mi->tile->name));
    if (mi->bits != mi->sbits || mi->bits < 8)
        return cannot(L, why, E0505, mi->stmt->span, mi->tensor->span, "the tensor", NULL,
                      "bulk copies move whole bytes, packed elements need a tensor map");
    if (!mi->load && map_overlaps(L, mi, why)) return false;
    Poly inner = scalar_poly(L, mi->tensor->stride[d]);
    const Pair *p = move_pair(mi, d);
    if (mi->g->dim[d].rows || !poly_is_const(inner, &k) || k != 1 || move_step(mi, d) != 1 || p == NULL || tile_pitch(mi, d) != mi->bits / 8)
        return cannot(L, why, E0505, mi->g->dim[d].span, mi->tensor->span, "the tensor", NULL,
                      "the innermost dimension is not moved as contiguous bytes");
    out->unit = mi->bits / 8;
    int64_t bytes = out->unit * mi->g->dim[d].extent;
    while (d > 0 && folds(L, mi, d, bytes)) {
        out->unit = bytes;
        bytes *= mi->g->dim[--d].extent;
    }
    out->fold = d;
    out->run = bytes;
    out->nruns = 1;
    out->low = !domain_le(m, poly_const(m, 0), mi->start[d]);
    Poly end = poly_add(m, mi->start[d], poly_const(m, mi->g->dim[d].extent + move_past(mi, d)));
    out->high = !(mi->g->dim[d].whole) && !domain_le(m, end, scalar_poly(L, mi->tensor->extent[d]));
    out->row = arena_array(L->a, BulkRow, (size_t)d);
    for (int i = 0; i < d; i++) {
        BulkRow *r = &out->row[out->nrows++];
        *r = (BulkRow){.dim = i, .extent = mi->g->dim[i].extent, .pitch = tile_pitch(mi, i)};
        out->nruns *= r->extent;
        Poly last = poly_add(m, mi->start[i], poly_const(m, (r->extent - 1) * move_step(mi, i) + move_past(mi, i)));
        r->rows = mi->g->dim[i].rows;
        r->low = r->rows || !domain_le(m, poly_const(m, 0), mi->start[i]);
        r->high = r->rows || (!mi->g->dim[i].whole && !domain_lt(m, last, scalar_poly(L, mi->tensor->extent[i])));
    }
    bool guarded = false;
    for (int i = 0; i < out->nrows; i++) guarded |= out->row[i].low || out->row[i].high;
    int64_t each = mi->load ? 1 + out->low + out->high + guarded : 1;
    out->loop = out->nruns * each > COPIES_UNROLLED;
    for (int i = 0; i < out->nrows; i++) out->loop |= out->row[i].rows && out->row[i].extent > 1 && L->derived;
    return aligned(L, mi, out, why) && mask_fits(L, mi, why);
}

/* ---- ops ---- */

typedef struct Run { /* of the row that is being copied */
    Opnd byte;       /* from the tensor's address, i64 */
    Opnd offset;     /* from the slot's start, i32 */
    Opnd ok;         /* the row lies in the tensor */
} Run;
typedef struct BulkOut {
    Lower *L;
    const MoveInfo *mi;
    const BulkPlan *p;
    const CopyValues *v;
    uint32_t bar;
    Opnd bar_slot;
} BulkOut;

static void copy_op(BulkOut *o, Opnd from, Opnd offset, Opnd bytes, Opnd guard)
{
    Lower *L = o->L;
    guard = emit_logic(L, IR_AND, guard, L->guard);
    if ((bytes.v == 0 && bytes.k <= 0) || opnd_is(guard, 0)) return;
    const MoveInfo *mi = o->mi;
    int rop = mi->mv->reduce;
    IrOp *op = emit_when(L, mi->prefetch ? IR_BLK_PREFETCH : mi->load ? IR_BLK_LOAD : rop >= 0 ? IR_BLK_REDUCE : IR_BLK_STORE, guard);
    op->any_order = !mi->load && mi->mv->overlap_any;
    if (!mi->load && rop >= 0) {
        ir_ref(L->a, op, IRK_ROP, IRA_WORD, (uint32_t)rop);
        ir_ref(L->a, op, IRK_ELEM, IRA_WORD, mi->tensor->type);
    }
    if (mi->load) put_opnd(L, op, IRK_FROM, from);
    if (!mi->prefetch) put_buf(L, op, mi->load ? IRK_DST : IRK_SRC, mi->tile->index, o->v->slot, offset);
    if (!mi->load) put_opnd(L, op, IRK_TO, from);
    put_opnd(L, op, IRK_BYTES, bytes);
    if (mi->load && !mi->prefetch) put_bar(L, op, o->bar, o->bar_slot);
    if (mi->mv->dst.peer) put_opnd(L, op, IRK_RANK, o->v->peer);
    if (!opnd_is(o->v->mask, 0)) put_opnd(L, op, IRK_MASK, o->v->mask);
    if (mi->mv->bytes) put_opnd(L, op, IRK_BYTES_OF, o->v->bytes_of);
    policy_operand(L, op, mi);
}

static Opnd positive(Lower *L, Opnd bytes)
{
    return emit_cmp(L, IRL_GT, bytes, opnd_imm(0));
}

static Opnd widen(Lower *L, Opnd a)
{
    return emit_cvt(L, IR_I64, a);
}

static Opnd zero_block(BulkOut *o)
{
    if (o->L->ir->zero_bytes < o->p->run) o->L->ir->zero_bytes = (uint32_t)o->p->run;
    return emit_zeros(o->L);
}

/* The run's part that lies in the tensor, for a load with zeros before and after it. */
static void clipped(BulkOut *o, const Run *r, Opnd ok)
{
    Lower *L = o->L;
    const PTensor *t = o->mi->tensor;
    Opnd lo = o->v->lo, hi = o->v->hi;
    Opnd data = emit_op(L, IR_SUB, IR_I32, hi, lo), tail = opnd_imm(0);
    if (o->mi->load) tail = emit_op(L, IR_SUB, IR_I32, opnd_imm(o->p->run), hi);
    Opnd guard = emit_logic(L, IR_AND, ok, positive(L, data));
    Opnd address = emit_gaddr(L, t->base ? t->base->index : t->index,
                              emit_op(L, IR_ADD, IR_I64, r->byte, widen(L, lo)));
    copy_op(o, address, emit_op(L, IR_ADD, IR_I32, r->offset, lo), data, guard);
    if (!o->mi->load || o->mi->prefetch || (opnd_is(lo, 0) && opnd_is(tail, 0))) return;
    Opnd zeros = zero_block(o);
    copy_op(o, zeros, r->offset, lo, positive(L, lo));
    Opnd some = positive(L, tail);
    copy_op(o, zeros, emit_op(L, IR_ADD, IR_I32, r->offset, hi), tail, some);
}

/* A row outside the tensor is left out by a store and zeros for a load. */
static void run_ops(BulkOut *o, const Run *r)
{
    Lower *L = o->L;
    bool zeros = o->mi->load && !o->mi->prefetch;
    if (opnd_is(r->ok, 0)) {
        if (zeros) copy_op(o, zero_block(o), r->offset, opnd_imm(o->p->run), opnd_imm(1));
        return;
    }
    bool branch = zeros && r->ok.v && (o->p->low || o->p->high);
    if (!branch) {
        clipped(o, r, r->ok);
        if (!zeros || r->ok.v == 0) return;
        Opnd outside = emit_not(L, r->ok);
        copy_op(o, zero_block(o), r->offset, opnd_imm(o->p->run), outside);
        return;
    }
    ir_ref(L->a, emit_new(L, IR_IF), IRK_COND, IRA_VAL, r->ok.v);
    scope_open(L);
    clipped(o, r, opnd_imm(1));
    scope_close(L);
    emit_new(L, IR_ELSE);
    copy_op(o, zero_block(o), r->offset, opnd_imm(o->p->run), opnd_imm(1));
    emit_new(L, IR_END);
}

/* Roles of a whole warp issue rows a lane each. */
static void rows(BulkOut *o, int i, Run r, bool unroll)
{
    Lower *L = o->L;
    if (i == o->p->nrows) {
        run_ops(o, &r);
        return;
    }
    const BulkRow *row = &o->p->row[i];
    bool loop = !unroll && row->extent > 1;
    int64_t step = move_step(o->mi, row->dim);
    for (int64_t k = 0; k < (loop ? 1 : row->extent); k++) {
        Run next = r;
        Opnd index = loop ? emit_each(L, row->extent) : opnd_imm(k);
        Opnd far = emit_op(L, IR_MUL, IR_I64, widen(L, index), opnd_imm(step));
        Opnd at = row->rows ? move_row(L, o->mi, row->dim, o->v, index)
                            : emit_op(L, IR_ADD, IR_I64, o->v->start[row->dim], far);
        if (row->low) next.ok = emit_logic(L, IR_AND, next.ok, emit_cmp(L, IRL_GE, at, opnd_imm(0)));
        if (row->high)
            next.ok = emit_logic(L, IR_AND, next.ok,
                                 emit_cmp(L, IRL_LT, at, value_wide(L, o->mi->tensor->extent[row->dim])));
        next.byte = emit_op(L, IR_ADD, IR_I64, next.byte, emit_op(L, IR_MUL, IR_I64, at, o->v->pitch[row->dim]));
        next.offset = emit_op(L, IR_ADD, IR_I32, next.offset, emit_op(L, IR_MUL, IR_I32, index, opnd_imm(row->pitch)));
        rows(o, i + 1, next, unroll);
        if (loop) emit_end(L);
    }
}

static void clip(Lower *L, const MoveInfo *mi, const BulkPlan *p, CopyValues *v)
{
    Opnd start = v->start[p->fold], n = opnd_imm(mi->g->dim[p->fold].extent), lo = opnd_imm(0), hi = n;
    if (p->low) {
        lo = emit_op(L, IR_MAX, IR_I64, emit_op(L, IR_SUB, IR_I64, opnd_imm(0), start), opnd_imm(0));
        lo = emit_op(L, IR_MIN, IR_I64, lo, n);
    }
    if (p->high) {
        hi = emit_op(L, IR_SUB, IR_I64, value_wide(L, mi->tensor->extent[p->fold]), start);
        hi = emit_op(L, IR_MAX, IR_I64, hi, lo);
        hi = emit_op(L, IR_MIN, IR_I64, hi, n);
    }
    v->lo = emit_op(L, IR_MUL, IR_I32, emit_cvt(L, IR_I32, lo), opnd_imm(p->unit));
    v->hi = emit_op(L, IR_MUL, IR_I32, emit_cvt(L, IR_I32, hi), opnd_imm(p->unit));
}

/* A start so far beyond every tensor that later rows would leave 64 bits is cut: it stays beyond. */
static Opnd row_start(Lower *L, const MoveInfo *mi, const BulkPlan *p, int d)
{
    const Sx *x = mi->g->dim[d].start;
    Opnd v = value_wide(L, x);
    int64_t far = INT64_C(1) << 62;
    if (d == p->fold || scalar_range(L, x).hi <= far || !p->row[d].high || p->row[d].extent == 1) return v;
    return emit_op(L, IR_MIN, IR_I64, v, opnd_imm(far));
}

void bulk_values(Lower *L, const MoveInfo *mi, const BulkPlan *p, CopyValues *v)
{
    const PTensor *t = mi->tensor, *base = base_of(t);
    int64_t size = mi->bits / 8;
    int share = move_peers(mi)->shares.dim;
    for (int d = 0; d <= p->fold; d++) {
        v->start[d] = row_start(L, mi, p, d);
        v->pitch[d] = d == p->fold ? opnd_imm(p->unit)
                                   : emit_op(L, IR_MUL, IR_I64, value_wide(L, t->stride[d]), opnd_imm(size));
    }
    if (share >= 0 && mi->g->dim[share].rows == NULL) v->start[share] = emit_op(L, IR_ADD, IR_I64, v->start[share], widen(L, v->share_at));
    clip(L, mi, p, v);
    if (mi->mv->bytes) v->bytes_of = value_low(L, mi->mv->bytes);
    v->slot = region_slot(L, mi);
    v->offset = region_offset(L, mi);
    if (share >= 0) v->offset = emit_op(L, IR_ADD, IR_I32, v->offset, v->share_byte);
    v->byte = emit_op(L, IR_MUL, IR_I64, v->start[p->fold], opnd_imm(p->unit));
    if (t->base)
        v->byte = emit_op(L, IR_ADD, IR_I64, v->byte,
                          emit_op(L, IR_MUL, IR_I64, value_wide(L, t->offset), opnd_imm(size)));
    MfTensor *m = &L->ir->mf.tensors.v[base->index];
    if (m->align < SMEM_BULK_ALIGN) m->align = SMEM_BULK_ALIGN;
}

void bulk_emit(Lower *L, const MoveInfo *mi, const BulkPlan *p, const CopyValues *v, uint32_t bar, Opnd bar_slot)
{
    BulkOut o = {.L = L, .mi = mi, .p = p, .v = v, .bar = bar, .bar_slot = bar_slot};
    rows(&o, 0, (Run){.byte = v->byte, .offset = v->offset, .ok = L->inside}, !p->loop);
}
