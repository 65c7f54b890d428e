/* Steps of threads in shared memory: plans, and the small values that they leave for each other. */
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/tensor_memory.h"
#include "lower/ir/thread_work.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

Cell *cell_at(Verifier *v, const Bytes *at, bool make)
{
    for (uint32_t i = 0; i < v->cells.n; i++)
        if (bytes_same_place(&v->cells.v[i].at, at) && v->cells.v[i].at.lo == at->lo) return &v->cells.v[i];
    if (!make) return NULL;
    Cell *c = vec_add(&v->run, &v->cells);
    *c = (Cell){.at = *at};
    return c;
}

static void access(Verifier *v, uint32_t op, Bytes at, bool write, Form guard, EventId e, uint32_t shape)
{
    Access a = access_new(op, at, write, guard, e);
    a.end = e;
    a.shape = shape;
    if (!v->ops[op]->elect && !v->k->roles.v[v->now->role].elect) a.act = run_act(v);
    access_add(v, a);
}

static bool same_bytes(const ThrSide *x, const ThrSide *y)
{
    const IrSide *s = x->s, *t = y->s;
    return x->rank == y->rank && s->type == t->type && s->swizzle == t->swizzle && s->span == t->span &&
           s->panel == t->panel && memcmp(x->extent, y->extent, x->rank * sizeof *x->extent) == 0 &&
           memcmp(x->pitch, y->pitch, x->rank * sizeof *x->pitch) == 0;
}

/* One number for all that leave the same bytes out; 0 if the elements fill their range. */
static uint32_t side_shape(Verifier *v, const ThrSide *x, Form part)
{
    int64_t bytes = thr_element_bytes(x->s);
    uint32_t i = 0;
    for (uint32_t d = 0; d < x->rank; d++) bytes *= x->extent[d];
    if (bytes == thr_side_bytes(x) && part == 0) return 0;
    while (i < v->shapes.n && !(v->shapes.v[i].part == part && same_bytes(&v->shapes.v[i].is, x))) i++;
    if (i == v->shapes.n) vec_push(v->arena, &v->shapes, ((Side){*x, part}));
    return i + 1;
}

/* A swizzle moves elements within the bytes of its span: which of them, is where the part begins (0: all). */
static Form round_out(Verifier *v, const IrSide *s, Bytes *at)
{
    const IrBuf *b = &v->k->bufs.v[at->buf];
    Bytes part = *at;
    int64_t lo, hi, end = b->bytes, span = swizzle_span(s->swizzle);
    if (span == 0) return 0;
    if (b->align % span || !form_is_const(&v->f, at->lo, &lo) || !form_is_const(&v->f, at->hi, &hi)) {
        lo = 0;
        hi = end;
    }
    hi = (hi + span - 1) / span * span;
    at->lo = form_const(&v->f, lo / span * span);
    at->hi = form_const(&v->f, hi < end ? hi : end);
    return at->lo == part.lo && at->hi == part.hi ? 0 : part.lo;
}

/* A part of rows: pieces of bytes, so many of them one step apart, as many such rows as the dimensions in front have. */
typedef struct Rows {
    int64_t piece, step, n;
    uint32_t outer; /* how many dimensions */
} Rows;

static Rows rows_of(const ThrSide *x)
{
    Rows r = {.piece = (int64_t)thr_element_bytes(x->s) * x->extent[x->rank - 1], .n = 1, .outer = x->rank - 1};
    for (; r.outer > 0; r.outer--) {
        int64_t n = x->extent[r.outer - 1], pitch = x->pitch[r.outer - 1];
        if (n == 1 || pitch == 0) continue; /* the same bytes each time */
        if (r.n == 1 && pitch == r.piece) {
            r.piece *= n;
        } else if (r.n == 1 && pitch > r.piece) {
            r.step = pitch;
            r.n = n;
        } else if (r.n > 1 && pitch == r.n * r.step) {
            r.n *= n;
        } else {
            break;
        }
    }
    return r;
}

enum { ROWS_APART = 512 };

/* Elements that do not fill their range: piece by piece, so that parts side by side cover a tile. */
static void side_access(Verifier *v, uint32_t op, const ThrSide *x, Bytes at, bool write, Form guard, EventId e)
{
    const IrSide *s = x->s;
    int64_t outer = 1;
    Form part = round_out(v, s, &at);
    uint32_t shape = side_shape(v, x, part);
    bool dense = x->pitch[x->rank - 1] == thr_element_bytes(s) && s->swizzle == MAP_SWIZZLE_NONE && s->span == 0;
    Rows r = dense ? rows_of(x) : (Rows){0};
    for (uint32_t d = 0; d < r.outer; d++) outer *= x->extent[d];
    if (shape == 0 || !dense || outer > ROWS_APART) {
        access(v, op, at, write, guard, e, shape);
        return;
    }
    for (int64_t i = 0; i < outer; i++) {
        int64_t far = 0, rest = i;
        for (uint32_t d = r.outer; d-- > 0; rest /= x->extent[d]) far += rest % x->extent[d] * x->pitch[d];
        Bytes one = at;
        one.lo = form_add(&v->f, at.lo, 1, form_const(&v->f, far));
        one.hi = form_add(&v->f, one.lo, 1, form_const(&v->f, (r.n - 1) * r.step + r.piece));
        if (one.lo == 0 || one.hi == 0) {
            access(v, op, at, write, guard, e, shape);
            return;
        }
        one.step = r.n > 1 ? r.step : 0;
        one.width = r.n > 1 ? r.piece : 0;
        access(v, op, one, write, guard, e, 0);
    }
}

static bool side_at(Verifier *v, uint32_t op, IrKey key, const ThrSide *x, Form guard, Bytes *at)
{
    Form bytes = form_const(&v->f, thr_side_bytes(x));
    return verify_arg(v, op, key) == NULL || copy_bytes(v, op, key, v->now->rank, bytes, guard, at);
}

static void plan(Verifier *v, uint32_t op, Form guard)
{
    const IrOp *o = v->ops[op];
    const IrPlan *p = &v->k->plans.v[ir_find(o, IRK_PLAN)->id];
    bool src = ir_find(o, IRK_SRC) != NULL, dst = ir_find(o, IRK_DST) != NULL;
    ThrSide in = thr_side(p, true), out = thr_side(p, false);
    Bytes from = {0}, to = {0};
    uint32_t threads = v->k->roles.v[v->now->role].warps * 32;
    if (p->threads != threads) {
        verify_refuse(v, E0673, op, "plan %s is for %u threads, the role has %u", p->name, p->threads, threads);
        return;
    }
    if (!side_at(v, op, IRK_DST, &out, guard, &to) || !side_at(v, op, IRK_SRC, &in, guard, &from)) return;
    Bytes whole = to, source = from;
    if (dst) round_out(v, &p->dst, &whole);
    if (src) round_out(v, &p->src, &source);
    if (src && dst && bytes_overlap(v, &source, &whole)) {
        verify_refuse(v, E0612, op, "threads read and write overlapping bytes of %s in one move",
                      v->k->bufs.v[to.buf].name);
        return;
    }
    EventId e = event_new(v, op);
    if (src) side_access(v, op, &in, from, false, guard, e);
    if (p->add) side_access(v, op, &out, to, false, guard, e);
    if (dst) side_access(v, op, &out, to, true, guard, e);
    if (o->op == IR_THR_LOAD || o->op == IR_THR_STORE) copy_by_threads(v, op, guard, e);
}

/* A condition holds for all threads of the role or for none: otherwise some would do their part alone. */
static bool by_all(Verifier *v, uint32_t op, Form guard)
{
    if (v->ops[op]->elect || v->k->roles.v[v->now->role].elect) return true;
    v->now->acts++;
    if (run_agreed(v, guard)) return true;
    verify_refuse(v, E0608, op, "the condition of this %s is not certain to be the same for all threads of the role",
                  verify_op_text(v, op));
    return false;
}

/* A map is made in the cell, which nobody else has, and published by fences of the op itself. Where the slot holds that map
 * already (lower/ir/check_maps.c) nothing is written; it is taken for a write all the same. */
static void map_set(Verifier *v, uint32_t op)
{
    Form all = form_const(&v->f, IR_MAP_BYTES), always = form_const(&v->f, 1);
    Bytes at, cell;
    if (!copy_bytes(v, op, IRK_DST, v->now->rank, all, always, &at) || !copy_bytes(v, op, IRK_SRC, v->now->rank, all, always, &cell))
        return;
    EventId e = event_new(v, op);
    Access a = access_new(op, at, true, always, e);
    a.async = true;
    a.end = e;
    cell_at(v, &at, true)->view = view_of_map(v, op);
    access(v, op, cell, true, always, e, 0);
    access_add(v, a);
}

void thread_step(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    Form guard = run_guard(v, op);
    Bytes at;
    bool plans = ir_by_plan((IrOpcode)o->op), zeros = o->op == IR_ST_BULK;
    if (!by_all(v, op, guard) || form_is(&v->f, guard, 0)) return;
    if ((guard == 0 || (!plans && !zeros)) && !run_happens(v, op)) return;
    if (plans) {
        plan(v, op, guard);
        return;
    }
    if (o->op == IR_MAP_SET) {
        map_set(v, op);
        return;
    }
    bool write = o->op == IR_STS || zeros;
    int64_t size = zeros                     ? ir_find(o, IRK_BYTES)->imm
                   : o->op == IR_CLC_ID  ? IR_ANSWER_BYTES
                   : o->op == IR_TC_BASE ? TMEM_CELL_BYTES
                                         : IR_CELL_BYTES;
    if (!copy_bytes(v, op, write ? IRK_DST : IRK_SRC, v->now->rank, form_const(&v->f, size), guard, &at)) return;
    access(v, op, at, write, guard, event_new(v, op), 0);
    const IrArg *a = ir_find(o, IRK_A);
    if (o->op == IR_STS) cell_at(v, &at, true)->value = run_value_at(v, a);
    if (o->dst == 0) return;
    /* What was stored there last: the run's order is that of all schedules, or check_races refuses the kernel. */
    const Cell *c = cell_at(v, &at, false);
    Value x = c ? c->value : (Value){0};
    if (value_by_trip(x)) x.plain = 0; /* it may be equal to others by chance */
    v->now->value[o->dst - 1] = x;
}
