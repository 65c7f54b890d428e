/* The verifier accepts correct kernels, and no mutant of them that the interpreter below can break. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ir_sim.h"
#include "tests/unit/ir_texts.h"

typedef struct Fixture {
    Mem mem;
    jmp_buf fail;
    Arena arena, scratch, mutants;
    Sources sources;
    Diags diags;
    Names *names;
    Text out;
} Fixture;

static void begin(Fixture *x)
{
    memset(x, 0, sizeof *x);
    x->mem.fail = &x->fail;
    if (setjmp(x->fail)) abort();
    arena_init(&x->arena, &x->mem);
    arena_init(&x->scratch, &x->mem);
    arena_init(&x->mutants, &x->mem);
    sources_init(&x->sources, &x->arena);
    diags_init(&x->diags, &x->arena, &x->sources);
    x->names = names_new(&x->arena);
    text_init(&x->out, &x->mem);
}

static void finish(Fixture *x)
{
    text_free(&x->out);
    arena_free(&x->mutants);
    arena_free(&x->scratch);
    arena_free(&x->arena);
}

static IrModule *read_text(Fixture *x, const char *text)
{
    Source *f = sources_add(&x->sources, "t.ir", text, strlen(text));
    IrModule *m = ir_read(&x->arena, x->names, &x->diags, f);
    if (m == NULL) {
        diags_render(&x->diags, DIAG_HUMAN, false, &x->out);
        fail_msg("%s", x->out.s);
    }
    return m;
}

static bool accepts(Fixture *x, const IrModule *m, const IrKernel *k)
{
    ArenaMark mark = arena_mark(&x->scratch);
    Diags quiet;
    diags_init(&quiet, &x->scratch, &x->sources);
    bool ok = ir_check(&x->scratch, k) == NULL && ir_verify(&x->scratch, &quiet, m, k, NULL);
    arena_release(&x->scratch, mark);
    return ok;
}

/* ---- the interpreter ---- */

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
    if (op->guard && !s->values[op->guard - 1] && op->op != IR_LOADS) {
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

const char *sim_run(const IrKernel *k, const SimInput *in, uint32_t seed, unsigned eager)
{
    const IrRole *r = &k->roles.v[0];
    Sim *s = zeros(1, sizeof *s);
    uint8_t *status = zeros(k->mf.lx.nodes.n, 1);
    s->k = k;
    s->ops = r->ops.v;
    s->n = r->ops.n;
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
    for (uint32_t steps = 0; s->pc < s->n && s->wrong == NULL && !s->unjudged; steps++) {
        if (steps == STEPS_MAX) s->unjudged = true;
        if (roll(s, 100) < eager) progress_any(s);
        if (!step(s, in) && s->wrong == NULL && !progress_any(s)) s->wrong = "hang";
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

static const SimInput INPUTS[] = {
    {{64, 128}, {0, 0, 0}}, {{200, 256}, {1, 1, 0}}, {{70, 4104}, {3, 2, 0}},
    {{1, 8}, {0, 0, 0}},    {{72, 72}, {1, 0, 0}},
};
static const unsigned EAGER[] = {0, 0, 10, 50, 100};

static const char *breaks(const IrKernel *k)
{
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        for (size_t e = 0; e < sizeof EAGER / sizeof *EAGER; e++) {
            const char *wrong = sim_run(k, &INPUTS[i], (uint32_t)(e * 7919 + i), EAGER[e]);
            if (wrong) return wrong;
        }
    }
    return NULL;
}

/* ---- mutants ---- */

typedef struct Mutants {
    Fixture *x;
    const IrModule *m;
    const IrKernel *k; /* the correct kernel */
    const char *name;
    uint32_t tried, accepted;
} Mutants;

static IrOp *copy_ops(Arena *a, const IrRole *r, uint32_t room)
{
    IrOp *ops = arena_array(a, IrOp, r->ops.n + room);
    memcpy(ops, r->ops.v, r->ops.n * sizeof *ops);
    for (uint32_t i = 0; i < r->ops.n; i++) {
        ops[i].args = arena_array(a, IrArg, ops[i].nargs);
        if (ops[i].nargs) memcpy(ops[i].args, r->ops.v[i].args, ops[i].nargs * sizeof *ops[i].args);
    }
    return ops;
}

static IrKernel with_ops(Arena *a, const IrKernel *k, IrOp *ops, uint32_t n)
{
    IrKernel q = *k;
    q.roles.v = arena_new(a, IrRole);
    q.roles.v[0] = k->roles.v[0];
    q.roles.v[0].ops.v = ops;
    q.roles.v[0].ops.n = n;
    return q;
}

static void judge(Mutants *u, const IrKernel *q, const char *what, uint32_t op)
{
    u->tried++;
    if (!accepts(u->x, u->m, q)) return;
    u->accepted++;
    const char *wrong = breaks(q);
    if (wrong == NULL) return;
    IrModule m = *u->m;
    IrKernel *list[] = {(IrKernel *)q};
    m.kernels.v = list;
    m.kernels.n = 1;
    text_clear(&u->x->out);
    ir_print(&u->x->out, &m, NULL);
    fputs(u->x->out.s, stderr); /* longer than what cmocka prints */
    fail_msg("%s, %s at op %u: accepted, and breaks: %s", u->name, what, op, wrong);
}

enum { KINDS = 13 };

/* Mutation `kind` of op i of ops; false if it does not apply. */
static bool mutate(IrOp *ops, uint32_t *n, uint32_t i, int kind, uint32_t pick, const char **what)
{
    static const int64_t STEPS[] = {1, -1, 16, -16, 8192, -8192, 16384, 64};
    static const char *const WHAT[KINDS] = {"dropped",      "moved down",    "moved up",
                                            "doubled",      "guard dropped", "number changed",
                                            "word changed", "bit flipped",   "value made a number",
                                            "slot changed", "guard added",   "moved down by two",
                                            "number zeroed"};
    IrOp *op = &ops[i];
    *what = WHAT[kind];
    IrArg *arg = op->nargs ? &op->args[pick % op->nargs] : NULL;
    uint8_t group = ir_op_info(op->op)->group;
    switch (kind) {
    case 0:
        if (op->dst || group == IRG_CONTROL) return false;
        memmove(op, op + 1, (*n - i - 1) * sizeof *op);
        --*n;
        return true;
    case 1:
    case 2:
    case 11: {
        uint32_t to = kind == 1 ? i + 1 : kind == 2 ? i - 1 : i + 2;
        if (group == IRG_CONTROL || op->dst || to >= *n) return false;
        IrOp moved = *op;
        if (to > i) memmove(op, op + 1, (to - i) * sizeof *op);
        else memmove(&ops[to + 1], &ops[to], (i - to) * sizeof *op);
        ops[to] = moved;
        return true;
    }
    case 3:
        if (op->dst || group == IRG_CONTROL) return false;
        memmove(op + 1, op, (*n - i) * sizeof *op);
        ++*n;
        return true;
    case 4:
        if (op->guard == 0) return false;
        op->guard = 0;
        return true;
    case 5:
        if (arg == NULL || arg->kind != IRA_IMM) return false;
        arg->imm += STEPS[pick / op->nargs % 8];
        return true;
    case 6:
        if (arg == NULL || arg->kind != IRA_WORD || arg->key == IRK_REG) return false;
        arg->id = (arg->id + 1) % (arg->key == IRK_HOW ? 2 : arg->key == IRK_SPACE ? 3 : 6);
        return true;
    case 7:
        if (arg == NULL || arg->kind != IRA_IMM) return false;
        arg->imm ^= 1;
        return true;
    case 8:
        if (arg == NULL || arg->kind != IRA_VAL || arg->key == IRK_COND) return false;
        *arg = (IrArg){.key = arg->key, .kind = IRA_IMM, .imm = STEPS[pick % 8] & 1};
        return true;
    case 9:
        if (arg == NULL || arg->key < IRK_SLOT || arg->kind != IRA_VAL) return false;
        *arg = (IrArg){.key = arg->key, .kind = IRA_IMM, .imm = 0};
        return true;
    case 10: {
        uint32_t d = pick % *n; /* any pred of the kernel */
        if (op->guard || op->dst || group == IRG_CONTROL || ops[d].type != IR_PRED || ops[d].dst == 0) return false;
        op->guard = ops[d].dst;
        return true;
    }
    default:
        if (arg == NULL || arg->kind != IRA_IMM) return false;
        arg->imm = 0;
        return true;
    }
}

static void single_mutants(Mutants *u)
{
    const IrRole *r = &u->k->roles.v[0];
    for (uint32_t i = 0; i < r->ops.n; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            bool one = kind < 5 || kind == 11;
            for (uint32_t pick = 0; pick < (one ? 1u : kind == 10 ? r->ops.n : r->ops.v[i].nargs * 8u); pick++) {
                if (kind >= 6 && kind != 10 && kind != 11 && pick >= r->ops.v[i].nargs)
                    continue; /* nothing else to pick */
                ArenaMark mark = arena_mark(&u->x->mutants);
                IrOp *ops = copy_ops(&u->x->mutants, r, 1);
                uint32_t n = r->ops.n;
                const char *what;
                if (mutate(ops, &n, i, kind, pick, &what)) {
                    IrKernel q = with_ops(&u->x->mutants, u->k, ops, n);
                    judge(u, &q, what, i);
                }
                arena_release(&u->x->mutants, mark);
            }
        }
    }
}

/* Several changes at once, which may hide each other. */
static void multiple_mutants(Mutants *u, uint32_t count)
{
    const IrRole *r = &u->k->roles.v[0];
    uint32_t seed = 12345;
    for (uint32_t c = 0; c < count; c++) {
        ArenaMark mark = arena_mark(&u->x->mutants);
        IrOp *ops = copy_ops(&u->x->mutants, r, 8);
        uint32_t n = r->ops.n, changes = 0;
        const char *what = "";
        for (int tries = 0; tries < 40 && changes < 2 + c % 3; tries++) {
            seed = seed * 1664525u + 1013904223u;
            uint32_t i = (seed >> 8) % n;
            seed = seed * 1664525u + 1013904223u;
            int kind = (int)((seed >> 8) % KINDS);
            seed = seed * 1664525u + 1013904223u;
            changes += mutate(ops, &n, i, kind, seed >> 8, &what);
        }
        IrKernel q = with_ops(&u->x->mutants, u->k, ops, n);
        judge(u, &q, "several changes", c);
        arena_release(&u->x->mutants, mark);
    }
}

static void test_correct_kernels(void **state)
{
    (void)state;
    for (int i = 0; i < IR_TEXT_COUNT; i++) {
        Fixture x;
        begin(&x);
        IrModule *m = read_text(&x, IR_TEXTS[i].text);
        Text certificate;
        text_init(&certificate, &x.mem);
        bool ok = ir_verify(&x.scratch, &x.diags, m, m->kernels.v[0], &certificate);
        if (!ok) diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
        if (!ok) fail_msg("%s\n%s", IR_TEXTS[i].name, x.out.s);
        assert_non_null(strstr(certificate.s, "; proved: no copy is in flight"));
        const char *wrong = breaks(m->kernels.v[0]);
        if (wrong) fail_msg("%s: %s", IR_TEXTS[i].name, wrong);
        text_free(&certificate);
        finish(&x);
    }
}

/* ---- what is reported ---- */

typedef struct Finding {
    const char *kernel, *from, *to, *code;
} Finding;

static const Finding FINDINGS[] = {
    {"copy", "    bar.wait full, 0\n", "", "E0601"},
    {"loop", "      grp.wait 0 read\n", "", "E0602"},
    {"two arrivals", "bar.init full, 2", "bar.init full, 3", "E0604"},
    {"two arrivals", "bar.init full, 2", "bar.init full, 1", "E0611"},
    {"copy", "bar.arrive_expect full, 16384", "bar.arrive_expect full, 16400", "E0605"},
    {"copy", "bar.arrive_expect full, 16384", "bar.expect full, 16384", "E0604"},
    {"copy", "    bar.arrive_expect full, 16384\n    tma.load in [%row, %col] -> tile, full, bytes 16384\n", "",
     "E0607"},
    {"copies under a condition", "@%big tma.load", "tma.load", "E0605"},
    {"condition", "    grp.wait 0 read\n    bar.arrive", "    bar.wait full, 0\n    grp.wait 0 read\n    bar.arrive",
     "E0656"},
    {"expect, then arrive", "    bar.expect", "    bar.arrive full\n    bar.expect", "E0655"},
    {"rows in a loop, some of them zeros", "@%out blk.load %zero -> tile+%off, bytes 256, full", "grp.commit", "E0652"},
    {"two loads, one phase, policy", "tile+8192", "tile", "E0657"},
    {"two arrivals", "-> other, full", "-> tile, full", "E0657"},
    {"copies under a condition", "    if %big\n      tma.store", "    if %other\n      tma.store", "E0610"},
    {"short loop over slots", "      bar.wait full[%j], 0\n", "      bar.wait full[0], 0\n", "E0656"},
    {"copy", "    bar.arrive_expect full, 16384\n", "    bar.arrive full\n    bar.arrive_expect full, 16384\n",
     "E0611"},
    {"copy", "bar.arrive_expect full, 16384", "bar.arrive_expect full, 2000000", "E0623"},
    {"copy", "    grp.wait 0 read\n", "", "E0624"},
    {"copy", "    grp.commit\n", "", "E0624"},
    {"condition", "    bar.wait full, %p\n", "", "E0650"},
    {"condition", "      bar.arrive full\n", "      bar.arrive full\n      bar.wait full, 0\n      bar.arrive full\n",
     NULL},
    {"copies under a condition", "    if %big\n", "    if %big\n      bar.arrive full\n", "E0651"},
    {"loop", "      set ph = %q\n", "", "E0652"},
    {"copy", "    fence.mbar_init\n", "", "E0653"},
    {"through global memory", "    fence.async global\n", "", "E0654"},
    {"through global memory", "grp.wait 0 full", "grp.wait 0 read", "E0654"},
    {"guarded bulk with zeros", "%hi = min.i64 %rest0, 16384", "%hi = min.i64 %rest0, 16400", "E0605"},
    {"rows in a loop, some of them zeros", "%s = loop.i64 0 .. 64", "%s = loop.i64 0 .. 65", "E0658"},
    {"copy", "box [64, 128] l2", "box [64, 64] l2", "E0659"},
    {"copies under a condition", "    bar.wait full, 0\n", "    @%big bar.wait full, 0\n", "E0608"},
    {"short loop over slots", "loop.i32 0 .. 2", "loop.i32 0 .. %x", "E0660"},
};

static void test_findings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FINDINGS / sizeof *FINDINGS; i++) {
        const Finding *g = &FINDINGS[i];
        const char *text = NULL;
        for (int t = 0; t < IR_TEXT_COUNT; t++)
            if (strcmp(IR_TEXTS[t].name, g->kernel) == 0) text = IR_TEXTS[t].text;
        assert_non_null(text);
        const char *at = strstr(text, g->from);
        if (at == NULL) fail_msg("%s: no `%s`", g->kernel, g->from);
        Fixture x;
        begin(&x);
        char *changed = arena_printf(&x.arena, "%.*s%s%s", (int)(at - text), text, g->to, at + strlen(g->from));
        char *other = strstr(changed, "if %other"); /* a condition of its own */
        if (other)
            changed = arena_printf(&x.arena, "%.*s%%other = cmp gt %%x, 3\n%s", (int)(other - changed), changed, other);
        IrModule *m = read_text(&x, changed);
        bool ok = ir_verify(&x.scratch, &x.diags, m, m->kernels.v[0], NULL);
        const char *code = ok ? NULL : error_info(x.diags.first->code)->code;
        if ((code == NULL) != (g->code == NULL) || (code && strcmp(code, g->code) != 0)) {
            diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
            fail_msg("%s, `%s` -> `%s`: %s instead of %s\n%s", g->kernel, g->from, g->to, code ? code : "accepted",
                     g->code ? g->code : "accepted", x.out.s ? x.out.s : "");
        }
        finish(&x);
    }
}

static void test_mutants(void **state)
{
    (void)state;
    uint32_t tried = 0, accepted = 0;
    for (int i = 0; i < IR_TEXT_COUNT; i++) {
        Fixture x;
        begin(&x);
        IrModule *m = read_text(&x, IR_TEXTS[i].text);
        Mutants u = {.x = &x, .m = m, .k = m->kernels.v[0], .name = IR_TEXTS[i].name};
        single_mutants(&u);
        multiple_mutants(&u, 300);
        tried += u.tried;
        accepted += u.accepted;
        finish(&x);
    }
    print_message("%u mutants, %u of them accepted (and harmless)\n", tried, accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_correct_kernels), cmocka_unit_test(test_findings),
                                       cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
