/* Steps of threads in shared memory: plans, and the small values that they leave for each other. */
#include "lang/lang.h"
#include "lower/verify_parts.h"

void thread_store(Verifier *v, const Bytes *at, Form value)
{
    for (uint32_t i = 0; i < v->cells.n; i++) {
        Cell *c = &v->cells.v[i];
        if (c->rank != at->rank || c->buf != at->buf || c->slot != at->slot || c->offset != at->lo) continue;
        c->value = value;
        return;
    }
    vec_push(&v->run, &v->cells, ((Cell){at->rank, at->buf, at->slot, at->lo, value}));
}

/* The value that was stored there last: the run's order is that of all schedules, or check_races refuses the kernel. */
static void load(Verifier *v, const IrOp *o, const Bytes *at)
{
    Thread *t = v->now;
    for (uint32_t i = 0; i < v->cells.n; i++) {
        const Cell *c = &v->cells.v[i];
        if (c->rank != at->rank || c->buf != at->buf || c->slot != at->slot || c->offset != at->lo) continue;
        t->value[o->dst - 1] = c->value;
        t->by_trip[o->dst - 1] = false;
        return;
    }
    t->value[o->dst - 1] = 0;
}

static void access(Verifier *v, uint32_t op, Bytes at, bool write, EventId e, uint32_t shape)
{
    access_add(v, (Access){.at = at,
                           .cond = form_const(&v->f, 1),
                           .write = write,
                           .shape = shape,
                           .op = op,
                           .start = e,
                           .end = e,
                           .act = v->ops[op]->elect || v->k->roles.v[v->now->role].elect ? 0 : run_act(v)});
}

static uint32_t elem_bytes(uint32_t type)
{
    return (elem_info((ElemType)type)->shared_bits + 7u) / 8u;
}

/* The bytes from the first element of a side to behind its last one, as far as the pitches tell. */
static int64_t side_bytes(const IrPlan *p, const IrSide *s, bool source)
{
    int64_t end = 0, size = elem_bytes(s->type);
    for (uint32_t d = 0; d < p->rank; d++) {
        uint32_t from = d;
        if (p->xform == IRX_TRANSPOSE && !source && p->rank >= 2 && d + 2 >= p->rank)
            from = d + 1 == p->rank ? d - 1 : d + 1;
        int64_t last = (int64_t)p->extent[from] - 1;
        if (d + 1 == p->rank && s->span) {
            int64_t per = s->span / (s->pitch[d] ? s->pitch[d] : 1);
            if (per < 1) per = 1;
            end += last / per * s->panel + (last < per ? last : per - 1) * s->pitch[d];
        } else {
            end += last * s->pitch[d];
        }
    }
    return end + size;
}

/* 0 if the elements fill their range. */
static uint32_t side_shape(const IrPlan *p, const IrSide *s, bool source)
{
    int64_t bytes = elem_bytes(s->type);
    uint32_t h = s->type + 1u;
    for (uint32_t d = 0; d < p->rank; d++) {
        bytes *= p->extent[d];
        h = (h ^ s->pitch[d]) * UINT32_C(0x9E3779B1) + p->extent[d];
    }
    return bytes == side_bytes(p, s, source) ? 0 : h | 1;
}

enum { SWIZZLE_BLOCK = 1024 };

/* A swizzle moves elements within a block of rows. */
static void round_out(Verifier *v, const IrSide *s, Bytes *at)
{
    int64_t lo, hi, end = v->k->bufs.v[at->buf].bytes;
    if (s->swizzle == MAP_SWIZZLE_NONE) return;
    if (!form_is_const(&v->f, at->lo, &lo) || !form_is_const(&v->f, at->hi, &hi)) {
        lo = 0;
        hi = end;
    }
    hi = (hi + SWIZZLE_BLOCK - 1) / SWIZZLE_BLOCK * SWIZZLE_BLOCK;
    at->lo = form_const(&v->f, lo / SWIZZLE_BLOCK * SWIZZLE_BLOCK);
    at->hi = form_const(&v->f, hi < end ? hi : end);
}

enum { ROWS_APART = 512 };

/* Elements that do not fill their range: row by row where the rows are few, so that parts side by side cover a tile. */
static void side_access(Verifier *v, uint32_t op, const IrPlan *p, const IrSide *s, bool source, Bytes at, bool write,
                        EventId e)
{
    uint32_t shape = side_shape(p, s, source), extent[MAP_RANK];
    int64_t rows = 1, row = elem_bytes(s->type);
    for (uint32_t d = 0; d < p->rank; d++) extent[d] = p->extent[d];
    if (p->xform == IRX_TRANSPOSE && !source && p->rank >= 2) {
        extent[p->rank - 2] = p->extent[p->rank - 1];
        extent[p->rank - 1] = p->extent[p->rank - 2];
    }
    for (uint32_t d = 0; d + 1 < p->rank; d++) rows *= extent[d];
    bool dense = p->rank && s->pitch[p->rank - 1] == row && s->swizzle == MAP_SWIZZLE_NONE && s->span == 0;
    if (shape == 0 || !dense || rows > ROWS_APART) {
        access(v, op, at, write, e, shape);
        return;
    }
    row *= extent[p->rank - 1];
    for (int64_t r = 0; r < rows; r++) {
        int64_t far = 0, rest = r;
        for (uint32_t d = p->rank - 1; d-- > 0; rest /= extent[d]) far += rest % extent[d] * s->pitch[d];
        Bytes one = at;
        one.lo = form_add(&v->f, at.lo, 1, form_const(&v->f, far));
        one.hi = one.lo ? form_add(&v->f, one.lo, 1, form_const(&v->f, row)) : 0;
        if (one.lo == 0 || one.hi == 0) {
            access(v, op, at, write, e, shape);
            return;
        }
        access(v, op, one, write, e, 0);
    }
}

static void plan(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    const IrPlan *p = &v->k->plans.v[ir_find(o, IRK_PLAN)->id];
    const IrArg *src = ir_find(o, IRK_SRC);
    Form one = form_const(&v->f, 1);
    Bytes from = {0}, to;
    uint32_t threads = v->k->roles.v[v->now->role].warps * 32;
    if (p->threads != threads) {
        verify_refuse(v, E0673, op, "plan %s is for %u threads, the role has %u", p->name, p->threads, threads);
        return;
    }
    if (!copy_bytes(v, op, IRK_DST, v->now->rank, form_const(&v->f, side_bytes(p, &p->dst, false)), one, &to)) return;
    if (src && !copy_bytes(v, op, IRK_SRC, v->now->rank, form_const(&v->f, side_bytes(p, &p->src, true)), one, &from))
        return;
    round_out(v, &p->dst, &to);
    if (src) round_out(v, &p->src, &from);
    if (src && bytes_overlap(v, &from, &to)) {
        verify_refuse(v, E0612, op, "threads read and write overlapping bytes of %s in one move",
                      v->k->bufs.v[to.buf].name);
        return;
    }
    v->now->acts++;
    EventId e = event_new(v, op);
    if (src) side_access(v, op, p, &p->src, true, from, false, e);
    if (p->add) side_access(v, op, p, &p->dst, false, to, false, e);
    side_access(v, op, p, &p->dst, false, to, true, e);
}

void thread_step(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    Form guard = run_guard(v, op);
    Bytes at;
    if (form_is(&v->f, guard, 0)) return;
    if (!form_is(&v->f, guard, 1)) {
        verify_refuse(v, E0608, op, "%s happens under a condition: what follows would depend on it",
                      verify_op_text(v, op));
        return;
    }
    if (o->op == IR_THR_COPY || o->op == IR_THR_FILL) {
        plan(v, op);
        return;
    }
    bool write = o->op == IR_STS;
    int64_t size = o->op == IR_CLC_ID ? IR_ANSWER_BYTES : IR_CELL_BYTES;
    if (!copy_bytes(v, op, write ? IRK_DST : IRK_SRC, v->now->rank, form_const(&v->f, size), guard, &at)) return;
    if (!o->elect) v->now->acts++;
    EventId e = event_new(v, op);
    access(v, op, at, write, e, 0);
    if (write) thread_store(v, &at, run_value(v, ir_find(o, IRK_A)));
    else load(v, o, &at);
}
