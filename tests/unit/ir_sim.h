/* An interpreter of IR for the verifier's tests: one thread, asynchronous copies that complete piece by piece at random
 * times, shared memory that knows what was written. It shares nothing with the verifier but ir.h. Include it after
 * cmocka.h, in one test.
 */
#ifndef TESTS_UNIT_IR_SIM_H
#define TESTS_UNIT_IR_SIM_H

#include "lower/ir/ir.h"

typedef struct SimInput {
    int64_t syms[8]; /* values of the kernel's symbols */
    int64_t ctaid[3];
} SimInput;

enum { GRAIN = 16, COPIES_MAX = 512, DEPTH = 16, STEPS_MAX = 20000, TX_MAX = 1 << 20 };

typedef struct Place { /* of global memory: a box of a tensor, or bytes of it */
    uint32_t tensor;
    bool bytes;
    int64_t lo[5], hi[5];
} Place;
typedef struct Copy {
    bool load, reading, writing;
    uint32_t buf;
    int64_t from, to, at; /* grains of the buffer; those before `at` are done */
    uint32_t bar;
    int64_t group; /* number of its group; -1: none yet */
    Place place;
} Copy;
typedef struct Bar {
    bool init, visible;
    uint32_t count, pending, phase;
    int64_t tx;
} Bar;
typedef struct Frame {
    uint32_t op;
    int64_t i, past;
} Frame;
typedef struct Sim {
    const IrKernel *k;
    const IrOp *ops;
    uint32_t n, pc;
    uint32_t seed;
    int64_t *values, *vars, *lx;
    uint8_t **written;   /* by buffer and grain: 1: data, 0: never written */
    uint16_t **inflight; /* copies that write the grain */
    uint16_t **readers;
    Bar *bars;
    uint32_t *bar_base;
    uint32_t nbars;
    Copy copies[COPIES_MAX];
    uint32_t ncopies;
    Place unfenced[COPIES_MAX];
    uint32_t nunfenced;
    int64_t group;
    Frame frames[DEPTH];
    uint32_t depth;
    const char *wrong;
    bool unjudged; /* the run came to what it does not model */
} Sim;

static uint32_t roll(Sim *s, uint32_t n)
{
    s->seed = s->seed * 1664525u + 1013904223u;
    return n ? (s->seed >> 8) % n : 0;
}

static int64_t operand(const Sim *s, const IrArg *a)
{
    return a == NULL ? 0 : a->kind == IRA_VAL ? s->values[a->id - 1] : a->imm;
}

static int64_t get(const Sim *s, const IrOp *op, IrKey key)
{
    return operand(s, ir_find(op, key));
}

static bool meets(const Place *a, const Place *b)
{
    if (a->tensor != b->tensor) return false;
    if (a->bytes != b->bytes) return true;
    for (int i = 0; i < (a->bytes ? 1 : 5); i++)
        if (a->hi[i] <= b->lo[i] || b->hi[i] <= a->lo[i]) return false;
    return true;
}

static void flip(Bar *b)
{
    if (b->pending || b->tx) return;
    b->pending = b->count;
    b->phase ^= 1;
}

/* One piece of one copy. */
static void progress(Sim *s, uint32_t i)
{
    Copy *c = &s->copies[i];
    if (!c->load && !c->reading) {
        c->writing = false;
        s->unfenced[s->nunfenced++ % COPIES_MAX] = c->place;
    } else {
        int64_t left = c->to - c->at, n = roll(s, 3) ? left : 1 + (int64_t)roll(s, (uint32_t)left);
        if (left < n) n = left;
        for (int64_t g = c->at; g < c->at + n; g++) {
            if (c->load) {
                s->written[c->buf][g] = 1;
                s->inflight[c->buf][g]--;
            } else {
                s->readers[c->buf][g]--;
            }
        }
        c->at += n;
        if (c->load) {
            Bar *b = &s->bars[c->bar];
            b->tx -= n * GRAIN;
            flip(b);
        }
        if (c->at == c->to) c->reading = false;
    }
    if (c->load ? c->at < c->to : c->reading || c->writing) return;
    s->copies[i] = s->copies[--s->ncopies];
}

static bool progress_any(Sim *s)
{
    uint32_t able[COPIES_MAX], n = 0;
    for (uint32_t i = 0; i < s->ncopies; i++) able[n++] = i;
    if (n) progress(s, able[roll(s, n)]);
    return n > 0;
}

static int64_t wrap(int64_t v, IrType t)
{
    return t == IR_I32 ? (int64_t)(int32_t)(uint32_t)(uint64_t)v : t == IR_PRED ? v & 1 : v;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t scalar(const Sim *s, const IrOp *op, const SimInput *in)
{
    int64_t a = get(s, op, IRK_A), b = get(s, op, IRK_B);
    switch ((IrOpcode)op->op) {
    case IR_CONST:
    case IR_CVT: return a;
    case IR_PARAM: return s->lx[ir_find(op, IRK_EXPR)->id - 1];
    case IR_SREG: return ir_find(op, IRK_REG)->id < 3 ? in->ctaid[ir_find(op, IRK_REG)->id] : 1;
    case IR_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case IR_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case IR_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case IR_DIV: return floor_div(a, b);
    case IR_MOD: return (int64_t)((uint64_t)a - (uint64_t)floor_div(a, b) * (uint64_t)b);
    case IR_MIN: return a < b ? a : b;
    case IR_MAX: return a > b ? a : b;
    case IR_SHL: return (int64_t)((uint64_t)a << (b & 63));
    case IR_SHR: return a >> (b & 63);
    case IR_AND: return a & b;
    case IR_OR: return a | b;
    case IR_XOR: return a ^ b;
    case IR_NOT: return ~a;
    case IR_CMP: {
        bool r[] = {[IRL_EQ] = a == b,
                    [IRL_NE] = a != b,
                    [IRL_LT] = a<b, [IRL_LE] = a <= b, [IRL_GT] = a> b,
                    [IRL_GE] = a >= b};
        return r[ir_find(op, IRK_REL)->id];
    }
    case IR_SEL: return get(s, op, IRK_COND) ? a : b;
    case IR_GET: return s->vars[ir_find(op, IRK_VAR)->id];
    case IR_GADDR: return get(s, op, IRK_BYTE);
    default: return 0;
    }
}

static bool bar_of(Sim *s, const IrOp *op, uint32_t *out)
{
    const IrArg *bar = ir_find(op, IRK_BAR);
    int64_t slot = operand(s, ir_part(op, bar, IRK_SLOT));
    if (slot < 0 || slot >= s->k->bars.v[bar->id].slots) {
        s->wrong = "no such slot of a barrier";
        return false;
    }
    *out = s->bar_base[bar->id] + (uint32_t)slot;
    return true;
}

/* Tensors behind an address: the first gaddr found; UINT32_MAX for the block of zeros. */
static uint32_t tensor_of(const Sim *s, const IrArg *a, int depth)
{
    for (uint32_t i = 0; a->kind == IRA_VAL && depth && i < s->n; i++) {
        const IrOp *op = &s->ops[i];
        if (op->dst != a->id) continue;
        if (op->op == IR_GADDR) return ir_find(op, IRK_TENSOR)->id;
        for (uint32_t j = 0; j < op->nargs; j++) {
            uint32_t t = tensor_of(s, &op->args[j], depth - 1);
            if (t != UINT32_MAX) return t;
        }
    }
    return UINT32_MAX;
}

static void check_place(Sim *s, const Copy *c)
{
    for (uint32_t i = 0; i < s->ncopies; i++) {
        const Copy *o = &s->copies[i];
        if (c->load && !o->load && meets(&c->place, &o->place)) s->wrong = "a load reads what a store in flight writes";
        if (!c->load && o->load && meets(&c->place, &o->place)) s->wrong = "a store writes what a load in flight reads";
    }
    for (uint32_t i = 0; c->load && i < s->nunfenced && i < COPIES_MAX; i++)
        if (meets(&c->place, &s->unfenced[i])) s->wrong = "a load reads what a store wrote, without a fence";
}

static void issue(Sim *s, const IrOp *op)
{
    bool load = op->op == IR_TMA_LOAD || op->op == IR_BLK_LOAD,
         tensor = op->op == IR_TMA_LOAD || op->op == IR_TMA_STORE;
    const IrArg *obj = ir_find(op, load ? IRK_DST : IRK_SRC);
    const IrBuf *b = &s->k->bufs.v[obj->id];
    int64_t slot = operand(s, ir_part(op, obj, IRK_SLOT)), byte = operand(s, ir_part(op, obj, IRK_OFFSET)),
            bytes = get(s, op, IRK_BYTES);
    Copy c = {.load = load, .reading = !load, .writing = !load, .buf = obj->id, .group = -1};
    if (tensor) {
        const MfMap *m = &s->k->mf.maps.v[ir_find(op, IRK_MAP)->id];
        const IrArg *at;
        unsigned n = ir_list(op, IRK_COORDS, &at);
        bytes = 2; /* all maps of the tests have 16-bit elements */
        c.place.tensor = m->tensor;
        for (unsigned i = 0; i < 5; i++) {
            int64_t start = i < n ? operand(s, &at[i]) : 0, box = i < m->rank ? m->box[i] : 1;
            c.place.lo[i] = start;
            c.place.hi[i] = start + box;
            bytes *= box;
        }
    } else {
        const IrArg *a = ir_find(op, load ? IRK_FROM : IRK_TO);
        c.place = (Place){
            .tensor = tensor_of(s, a, 8), .bytes = true, .lo = {operand(s, a)}, .hi = {operand(s, a) + bytes}};
    }
    if (bytes == 0) return;
    if (slot < 0 || slot >= b->slots || byte < 0 || bytes < 0 || byte + bytes > b->bytes) {
        s->wrong = "a copy outside its slot";
        return;
    }
    if (byte % GRAIN || bytes % GRAIN) { /* alignment is proved elsewhere */
        s->unjudged = true;
        return;
    }
    c.from = c.at = (slot * b->bytes + byte) / GRAIN;
    c.to = c.from + bytes / GRAIN;
    if (load && !bar_of(s, op, &c.bar)) return;
    if (load && !s->bars[c.bar].visible) s->wrong = "a copy on a barrier that it can't see";
    check_place(s, &c);
    for (int64_t g = c.from; g < c.to; g++) {
        if (s->inflight[c.buf][g]) s->wrong = "bytes on their way are read or written";
        if (load && s->readers[c.buf][g]) s->wrong = "bytes that a store reads are written";
        if (!load && !s->written[c.buf][g]) s->wrong = "bytes that nothing wrote are read";
        if (load) s->inflight[c.buf][g]++, s->written[c.buf][g] = 0;
        else s->readers[c.buf][g]++;
    }
    if (s->ncopies == COPIES_MAX) s->unjudged = true;
    else s->copies[s->ncopies++] = c;
}

static void arrive(Sim *s, Bar *b, int64_t bytes, uint32_t arrivals)
{
    if (!b->init) s->wrong = "a barrier before its init";
    b->tx += bytes;
    if (b->tx >= TX_MAX || b->tx <= -TX_MAX) s->wrong = "tx-count out of range";
    if (arrivals > b->pending) s->wrong = "an arrival too many";
    else b->pending -= arrivals;
    if (arrivals) flip(b);
}

static bool group_busy(const Sim *s, int64_t newest, bool full)
{
    for (uint32_t i = 0; i < s->ncopies; i++) {
        const Copy *c = &s->copies[i];
        if (!c->load && c->group >= 0 && c->group < s->group - newest && (c->reading || (full && c->writing)))
            return true;
    }
    return false;
}

static uint32_t block_end(const Sim *s, uint32_t pc, bool at_else)
{
    uint32_t depth = 0;
    for (uint32_t i = pc + 1; i < s->n; i++) {
        if (s->ops[i].op == IR_LOOP || s->ops[i].op == IR_IF) depth++;
        if (depth == 0 && (s->ops[i].op == IR_END || (at_else && s->ops[i].op == IR_ELSE))) return i;
        if (s->ops[i].op == IR_END) depth--;
    }
    return s->n;
}

/* One op of the thread; false if it has to wait. */
static bool step(Sim *s, const SimInput *in)
{
    const IrOp *op = &s->ops[s->pc];
    uint32_t bar = 0;
    Frame *f = s->depth ? &s->frames[s->depth - 1] : NULL;
    if (op->guard.pred && !s->values[op->guard.pred - 1] && op->op != IR_LOADS) {
        s->pc++;
        return true;
    }
    if (ir_op_info(op->op)->group == IRG_BARRIER && !bar_of(s, op, &bar)) return true;
    Bar *b = s->nbars ? &s->bars[bar] : NULL;
    switch ((IrOpcode)op->op) {
    case IR_LOOP:
        s->frames[s->depth++] = (Frame){s->pc, get(s, op, IRK_A), get(s, op, IRK_B)};
        f = &s->frames[s->depth - 1];
        s->values[op->dst - 1] = f->i;
        if (f->i >= f->past) s->depth--, s->pc = block_end(s, s->pc, false);
        break;
    case IR_IF:
        if (get(s, op, IRK_COND)) {
            s->frames[s->depth++] = (Frame){s->pc, 0, 0};
        } else {
            uint32_t to = block_end(s, s->pc, true);
            if (s->ops[to].op == IR_ELSE) s->frames[s->depth++] = (Frame){s->pc, 0, 0};
            s->pc = to;
        }
        break;
    case IR_ELSE:
        s->pc = block_end(s, s->pc, false);
        s->depth--;
        break;
    case IR_END:
        if (s->ops[f->op].op == IR_LOOP && ++f->i < f->past) {
            s->values[s->ops[f->op].dst - 1] = f->i;
            s->pc = f->op;
        } else {
            s->depth--;
        }
        break;
    case IR_VAR:
    case IR_SET: s->vars[ir_find(op, IRK_VAR)->id] = get(s, op, IRK_A); break;
    case IR_BAR_INIT:
        *b = (Bar){
            .init = true, .count = (uint32_t)get(s, op, IRK_COUNT_), .pending = (uint32_t)get(s, op, IRK_COUNT_)};
        break;
    case IR_BAR_EXPECT: arrive(s, b, get(s, op, IRK_BYTES), 0); break;
    case IR_BAR_ARRIVE_EXPECT: arrive(s, b, get(s, op, IRK_BYTES), 1); break;
    case IR_BAR_ARRIVE: arrive(s, b, 0, 1); break;
    case IR_BAR_WAIT:
        if (!b->init) s->wrong = "a barrier before its init";
        if (b->phase == (uint32_t)(get(s, op, IRK_PHASE) & 1)) return false;
        break;
    case IR_GRP_COMMIT:
        for (uint32_t i = 0; i < s->ncopies; i++)
            if (!s->copies[i].load && s->copies[i].group < 0) s->copies[i].group = s->group;
        s->group++;
        break;
    case IR_GRP_WAIT:
        if (group_busy(s, get(s, op, IRK_N), ir_find(op, IRK_HOW)->id == IRH_FULL)) return false;
        break;
    case IR_FENCE_MBAR_INIT:
        for (uint32_t i = 0; i < s->nbars; i++) s->bars[i].visible = s->bars[i].init;
        break;
    case IR_FENCE_ASYNC:
        if (ir_find(op, IRK_SPACE)->id == IRS_GLOBAL) s->nunfenced = 0;
        break;
    case IR_TMA_LOAD:
    case IR_TMA_STORE:
    case IR_BLK_LOAD:
    case IR_BLK_STORE: issue(s, op); break;
    default:
        if (op->dst) s->values[op->dst - 1] = wrap(scalar(s, op, in), (IrType)op->type);
        break;
    }
    s->pc++;
    return true;
}

static void *zeros(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    assert_non_null(p);
    return p;
}

/* NULL if nothing went wrong in this schedule, else what did. `eager`: 0: copies complete only while the thread waits,
 * 100: as soon as they can. */
static const char *sim_run(const IrKernel *k, const SimInput *in, uint32_t seed, unsigned eager)
{
    const IrRole *body[] = {&k->init, &k->roles.v[0]};
    Sim *s = zeros(1, sizeof *s);
    uint8_t *status = zeros(k->mf.lx.nodes.n, 1);
    s->k = k;
    s->seed = seed;
    s->values = zeros(k->value_types.n, sizeof *s->values);
    s->vars = zeros(k->vars.n, sizeof *s->vars);
    s->lx = zeros(k->mf.lx.nodes.n, sizeof *s->lx);
    lx_eval(k->mf.lx.nodes.v, k->mf.lx.nodes.n, in->syms, s->lx, status);
    s->bar_base = zeros(k->bars.n, sizeof *s->bar_base);
    for (uint32_t i = 0; i < k->bars.n; i++) {
        s->bar_base[i] = s->nbars;
        s->nbars += k->bars.v[i].slots;
    }
    s->bars = zeros(s->nbars, sizeof *s->bars);
    s->written = zeros(k->bufs.n, sizeof *s->written);
    s->inflight = zeros(k->bufs.n, sizeof *s->inflight);
    s->readers = zeros(k->bufs.n, sizeof *s->readers);
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        size_t grains = (size_t)k->bufs.v[i].slots * k->bufs.v[i].bytes / GRAIN;
        s->written[i] = zeros(grains, 1);
        s->inflight[i] = zeros(grains, sizeof **s->inflight);
        s->readers[i] = zeros(grains, sizeof **s->readers);
    }
    for (size_t i = 0; i < sizeof body / sizeof *body; i++) {
        s->ops = body[i]->ops.v;
        s->n = body[i]->ops.n;
        s->pc = 0;
        for (uint32_t steps = 0; s->pc < s->n && s->wrong == NULL && !s->unjudged; steps++) {
            if (steps == STEPS_MAX) s->unjudged = true;
            if (roll(s, 100) < eager) progress_any(s);
            if (!step(s, in) && s->wrong == NULL && !progress_any(s)) s->wrong = "hang";
        }
    }
    for (uint32_t i = 0; i < s->ncopies && s->wrong == NULL && !s->unjudged; i++)
        if (s->copies[i].load || s->copies[i].reading) s->wrong = "the kernel ends with a copy in flight";
    const char *wrong = s->wrong;
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        free(s->written[i]);
        free(s->inflight[i]);
        free(s->readers[i]);
    }
    free(s->written);
    free(s->inflight);
    free(s->readers);
    free(s->bars);
    free(s->bar_base);
    free(s->lx);
    free(s->vars);
    free(s->values);
    free(status);
    free(s);
    return wrong;
}

#endif
