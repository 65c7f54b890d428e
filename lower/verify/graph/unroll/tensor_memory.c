/* Tensor memory: copies into it and shifts, which go on until a commit of their thread arrives; and what lies between two
 * accesses.
 *
 * PTX ISA, Memory Consistency Model for 5th generation of TensorCore operations: of the operations that go on by themselves only
 * tcgen05.cp.4x256b behind tcgen05.shift is in order with the one before. All others come after a wait for the commit and a
 * tcgen05.fence::after_thread_sync. Accesses by threads are over when their op is (the plan waits); between those of two threads
 * lie ::before_thread_sync by the first, their synchronisation, and ::after_thread_sync by the second. Shared memory is read by
 * the async proxy.
 */
#include "lower/ir/tensor_memory.h"
#include "lower/verify/graph/unroll/unroll.h"

bool by_tensor_core(const Verifier *v, const Access *a)
{
    return a->op < v->nops && (v->ops[a->op]->op == IR_TC_CP || v->ops[a->op]->op == IR_TC_SHIFT);
}

static bool in_tensor_memory(const Verifier *v, const Access *a)
{
    return v->k->bufs.v[a->at.buf].lanes != 0;
}

/* ---- order ---- */

bool tensor_in_order(const Verifier *v, const Access *a, const Access *b)
{
    if (!by_tensor_core(v, a) || !by_tensor_core(v, b) || !in_tensor_memory(v, a) || !in_tensor_memory(v, b)) return false;
    const Event *x = &v->events.v[a->start - 1], *y = &v->events.v[b->start - 1];
    return x->thread == y->thread && x->pos < y->pos && v->ops[a->op]->op == IR_TC_SHIFT && v->ops[b->op]->op == IR_TC_CP &&
           verify_arg(v, b->op, IRK_SHAPE)->id == IRP_4X256B;
}

/* a is over when b begins. */
static bool fenced_at(const Verifier *v, const Access *a, EventId b)
{
    EventId after = fence_before(v, b, FENCE_AFTER);
    if (by_tensor_core(v, a)) return after && a->phase && access_before(v, a, after);
    if (v->events.v[a->start - 1].thread == v->events.v[b - 1].thread) return true;
    EventId before = fence_behind(v, a->start, FENCE_BEFORE);
    return before && after && event_before(v, before, after);
}

bool tensor_fenced(const Verifier *v, const Access *a, const Access *b)
{
    return !in_tensor_memory(v, a) || tensor_in_order(v, a, b) || fenced_at(v, a, b->start);
}

void check_tensor_fence(Verifier *v, const Access *a, const Access *b)
{
    if (tensor_fenced(v, a, b)) return;
    Diag *g = verify_refuse(v, E0675, b->op, "this comes after another thread's access to %s with no tc.fence before and after between them",
                            v->k->bufs.v[a->at.buf].name);
    verify_also(v, g, a->op, by_tensor_core(v, a) ? "begun here, and waited for" : "the other access");
}

/* ---- copies and shifts ---- */

/* What decompression does not look at. */
static uint8_t skipped(uint32_t format)
{
    return format == IRF_B4 ? 8 : format == IRF_B6 ? 4 : 0;
}

static void access(Verifier *v, uint32_t op, Bytes at, bool write, EventId e, Form guard)
{
    Access a = access_new(op, at, write, guard, e);
    a.async = true;
    if (verify_arg(v, op, IRK_FORMAT) && !write) a.gap = skipped(verify_arg(v, op, IRK_FORMAT)->id);
    access_add(v, a);
}

static bool multiple(const Verifier *v, Form x, int64_t m)
{
    const FormData *d = form_data(&v->f, x);
    if (d->k % m) return false;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->t[i].c % m) return false;
    return true;
}

/* Bytes further in the lane, known at run time: within the tile's, and where the instruction can begin. */
bool tensor_along(Verifier *v, uint32_t op, const IrBuf *b, Form guard, Bytes *out)
{
    enum { CELL = 4 };
    Forms *f = &v->f;
    const IrArg *arg = verify_arg(v, op, IRK_ALONG);
    int64_t at = 0, pitch = CELL * (int64_t)b->columns;
    if (arg == NULL) return true;
    Form along = run_value(v, arg);
    TmemUse use = tmem_use(v->k, v->ops[op]);
    form_is_const(f, out->lo, &at);
    int64_t last = pitch - at % pitch - CELL * (int64_t)use.columns;
    if (bytes_within(v, guard, along, along, last) && multiple(v, along, CELL * (int64_t)use.unit)) {
        out->lo = form_add(f, out->lo, 1, along);
        return out->lo != 0;
    }
    verify_refuse(v, E0658, op, "%u bytes of each lane of %s, from %s on, are not certain to lie within its %lld, from a multiple of %u on", CELL * use.columns,
                  b->name, verify_form_text(v, along), (long long)pitch, CELL * use.unit);
    return false;
}

/* What the descriptor's walk reads: exact where the source's place in the pattern is known. */
static bool source(Verifier *v, uint32_t op, const TmemCp *c, uint32_t rank, Form guard, Bytes *out)
{
    Forms *f = &v->f;
    const IrArg *src = verify_arg(v, op, IRK_SRC), *byte = ir_part(v->ops[op], src, IRK_OFFSET);
    Form start = byte ? run_value(v, byte) : form_const(f, 0);
    const TmemShape *s = tmem_shape(c->shape);
    int64_t at, lo, hi, pattern = c->swizzle ? 1024 : TMEM_CHUNK;
    bool number = form_is_const(f, start, &at);
    if (!number && !multiple(v, start, TMEM_CHUNK)) {
        verify_refuse(v, E0658, op, "the source in %s is not certain to begin at a multiple of 16 bytes", v->k->bufs.v[src->id].name);
        return false;
    }
    if (!number && !multiple(v, start, pattern)) { /* somewhere within it: which bytes of the buffer it reads nobody knows */
        int64_t far = tmem_linear(c, c->n - 1, s->rows - 1u, s->columns / 4u - 1) + TMEM_CHUNK;
        if (!copy_bytes(v, op, IRK_SRC, rank, form_const(f, far), guard, out)) return false;
        out->lo = form_const(f, 0);
        out->hi = form_const(f, v->k->bufs.v[out->buf].bytes);
        return true;
    }
    tmem_reach(c, number ? at : 0, &lo, &hi);
    if (!copy_bytes(v, op, IRK_SRC, rank, form_const(f, hi), guard, out)) return false;
    Form first = form_add(f, out->lo, 1, form_const(f, lo < 0 ? 0 : lo));
    if (lo < 0) first = form_const(f, 0); /* the rest of the pattern in front */
    if (first) out->lo = first;
    return true;
}

static bool tensor_part(Verifier *v, uint32_t op, uint32_t rank, Form guard, TmemPart p, int64_t at, Bytes *out)
{
    if (!copy_bytes(v, op, IRK_DST, rank, form_const(&v->f, p.hi - at), guard, out)) return false;
    out->step = p.step;
    out->width = p.width;
    return true;
}

static void start_at(Verifier *v, uint32_t op, uint32_t rank, EventId e, Form guard)
{
    const IrOp *o = v->ops[op];
    const IrArg *dst = verify_arg(v, op, IRK_DST), *byte = ir_part(o, dst, IRK_OFFSET);
    const IrBuf *b = &v->k->bufs.v[dst->id];
    int64_t at = byte ? byte->imm : 0;
    Bytes from, to;
    if (o->op == IR_TC_SHIFT) {
        uint32_t n = (uint32_t)verify_arg(v, op, IRK_N)->imm;
        if (!tensor_part(v, op, rank, guard, tmem_shifted(n, b, at), at, &to)) return;
        access(v, op, to, false, e, guard);
        access(v, op, to, true, e, guard);
        return;
    }
    TmemCp c = tmem_cp(v->k, o);
    if (!source(v, op, &c, rank, guard, &from) || !tensor_part(v, op, rank, guard, tmem_written(&c, b, at), at, &to)) return;
    access(v, op, from, false, e, guard);
    access(v, op, to, true, e, guard);
}

void tensor_copy_step(Verifier *v, uint32_t op)
{
    Form guard = run_guard(v, op);
    if (form_is(&v->f, guard, 0)) return;
    if (burst_frame(v)) {
        verify_refuse(v, E0660, op, "turns of a loop begin this with nothing in between");
        return;
    }
    EventId e = event_new(v, op);
    start_at(v, op, v->now->rank, e, guard);
    if (v->k->pair && !v->failed) start_at(v, op, v->now->rank ^ 1, e, guard);
}

/* ---- commits ---- */

/* Of all that the thread began before. */
void tensor_commit_step(Verifier *v, uint32_t op)
{
    Phase **phase = arena_array(&v->run, Phase *, v->nranks + 1);
    const IrArg *mask = verify_arg(v, op, IRK_MASK);
    int64_t k = INT64_C(1) << v->now->rank;
    if (mask && !run_number(v, op, mask, "the mask", &k)) return;
    if (k < 1 || k >> v->nranks) {
        verify_refuse(v, E0658, op, "mask %lld for a cluster of %u", (long long)k, v->nranks);
        return;
    }
    EventId e = event_new(v, op);
    for (uint32_t r = 0; r < v->nranks && !verify_stopped(v); r++) {
        if (!(k >> r & 1)) continue;
        /* It arrives later, like a copy's bytes: that it was begun does not say that the phase is over. */
        phase[r] = barrier_count(v, r, (Part){.event = e, .op = op, .arrives = true, .copies = true});
        if (phase[v->nranks] == NULL) phase[v->nranks] = phase[r];
    }
    vec_push(&v->run, &v->now->commits[TO_BARRIER], (Commit){.phase = phase});
}

/* ---- allocation ---- */

void tensor_kernel_step(Verifier *v, uint32_t op)
{
    const IrOp *o = v->ops[op];
    Bytes at;
    if (!tmem_op((IrOpcode)o->op)) return;
    EventId e = event_new(v, op);
    if (o->op == IR_TC_FREE) v->tensor_free[v->now->rank] = e;
    if (o->op != IR_TC_ALLOC) return;
    v->tensor_alloc[v->now->rank] = e;
    if (!copy_bytes(v, op, IRK_DST, v->now->rank, form_const(&v->f, TMEM_CELL_BYTES), form_const(&v->f, 1), &at)) return;
    Access a = access_new(op, at, true, form_const(&v->f, 1), e);
    a.end = e;
    access_add(v, a);
}

static void check_life(Verifier *v, const Access *a)
{
    const char *name = v->k->bufs.v[a->at.buf].name;
    EventId begin = v->tensor_alloc[a->at.rank], end = v->tensor_free[a->at.rank];
    if (!event_before(v, begin, a->start)) {
        Diag *g = verify_refuse(v, E0674, a->op, "%s may be used before tensor memory is allocated", name);
        verify_also(v, g, v->events.v[begin - 1].op, "the allocation");
    } else if (!access_before(v, a, end) || !fenced_at(v, a, end)) {
        Diag *g = verify_refuse(v, E0674, a->op, "tensor memory may be freed while this still works on %s", name);
        verify_also(v, g, v->events.v[end - 1].op, "freed here");
    }
}

void check_tensor(Verifier *v)
{
    for (uint32_t i = 0; i < v->accesses.n && !v->failed; i++) {
        const Access *a = &v->accesses.v[i];
        if (by_tensor_core(v, a) && a->phase == NULL)
            verify_refuse(v, E0676, a->op, "no tc.commit behind this says when it is done");
        else if (in_tensor_memory(v, a)) check_life(v, a);
    }
}
