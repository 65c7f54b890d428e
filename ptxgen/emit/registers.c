/* What threads take from a tensor and give to a tensor needs no tile in between where nobody else sees it: a thread that loads an element stores it,
 * converted on the way, and the tile's elements stay in its registers. Shared memory, and that the threads wait for each other, fall away. What is
 * verified is the program with the tile; this one does the same element by element, and in any order, since a tensor that is read and not written
 * shares no bytes with one that is (runtime/overlap.c). */
#include "ptxgen/emit/threads.h"

#include "lang/checked.h"

typedef struct Chain { /* thr.load, thr.copy or none, thr.store; what orders them in between is skipped */
    const IrOp *load, *copy, *store;
    uint32_t last;
} Chain;

static const IrPlan *plan_of(const IrKernel *k, const IrOp *op)
{
    return &k->plans.v[ir_find(op, IRK_PLAN)->id];
}

static bool is_order(const IrOp *op)
{
    return op->op == IR_CTA_SYNC || op->op == IR_FENCE_ASYNC;
}

static const IrOp *next_work(const IrRole *r, uint32_t *i)
{
    do ++*i;
    while (*i < r->ops.n && is_order(&r->ops.v[*i]));
    return *i < r->ops.n ? &r->ops.v[*i] : NULL;
}

/* The one reads what the other has written, all of a tile of one slot, as it lies. */
static bool hands_on(const IrKernel *k, const IrOp *from, const IrOp *to)
{
    const IrPlan *p = plan_of(k, from), *q = plan_of(k, to);
    const IrArg *a = ir_find(from, IRK_DST), *b = ir_find(to, IRK_SRC);
    if (a->id != b->id || ir_part(from, a, IRK_SLOT) || ir_part(from, a, IRK_BYTE) || ir_part(to, b, IRK_SLOT) || ir_part(to, b, IRK_BYTE)) return false;
    if (from->guard.pred != to->guard.pred || p->rank != q->rank || p->threads != q->threads || p->dst.type != q->src.type || p->dst.span != q->src.span ||
        p->dst.panel != q->src.panel || p->dst.swizzle != q->src.swizzle)
        return false;
    for (uint32_t d = 0; d < p->rank; d++)
        if (p->extent[d] != q->extent[d] || p->dst.pitch[d] != q->src.pitch[d]) return false;
    return true;
}

static bool is_plain(const IrKernel *k, const IrOp *op)
{
    const IrPlan *p = plan_of(k, op);
    return p->xform == IRX_COPY && p->method == THR_VECTOR && !p->add;
}

static bool find_chain(const IrKernel *k, const IrRole *r, uint32_t i, Chain *c)
{
    *c = (Chain){.load = &r->ops.v[i], .last = i};
    if (c->load->op != IR_THR_LOAD || !is_plain(k, c->load)) return false;
    const IrOp *before = c->load, *next = next_work(r, &c->last);
    if (next && next->op == IR_THR_COPY && is_plain(k, next) && hands_on(k, before, next)) {
        c->copy = before = next;
        next = next_work(r, &c->last);
    }
    c->store = next;
    return next && next->op == IR_THR_STORE && is_plain(k, next) && hands_on(k, before, next);
}

/* The tensor that an address is one of; NULL: it is worked out otherwise. */
static const MfTensor *tensor_of(const IrKernel *k, const IrOp *op, IrKey key)
{
    const IrArg *at = ir_find(op, key);
    for (uint32_t b = 0; at->kind == IRA_VAL && b < ir_bodies(k); b++)
        for (uint32_t i = 0; i < ir_body(k, b)->ops.n; i++) {
            const IrOp *o = &ir_body(k, b)->ops.v[i];
            if (o->dst == at->id && o->op == IR_GADDR) return &k->mf.tensors.v[ir_find(o, IRK_TENSOR)->id];
        }
    return NULL;
}

/* One plan for all of it: neighbours side by side, accesses as wide as they are where rows lie side by side on both sides. */
static bool plan_through(const IrKernel *k, const Chain *c, IrPlan *out)
{
    enum { WIDEST = 16, TURNS = 8 /* of a thread: its elements are all in registers at once */ };
    ThrWork work;
    const MfTensor *from = tensor_of(k, c->load, IRK_FROM);
    *out = *plan_of(k, c->copy ? c->copy : c->load);
    out->src = plan_of(k, c->load)->src;
    out->dst = plan_of(k, c->store)->dst;
    uint32_t a = thr_element_bytes(&out->src), b = thr_element_bytes(&out->dst);
    out->method = THR_VECTOR;
    out->wide = (uint8_t)(out->src.rows && out->dst.rows ? WIDEST / (a > b ? a : b) : 1);
    out->tall = 1;
    out->deal = 0;
    return from && !from->written && threads_work(out, &work) && work.n == 1 && work.piece[0].units <= TURNS * out->threads;
}

static bool is_shared(const IrOp *op)
{
    if (is_order(op)) return true;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_BUF) return true;
    return false;
}

static bool is_not(const IrKernel *k, IrVal q, IrVal p)
{
    for (uint32_t i = 0; i < k->init.ops.n; i++) {
        const IrOp *op = &k->init.ops.v[i];
        if (op->dst == q && op->op == IR_NOT) return ir_find(op, IRK_A)->kind == IRA_VAL && ir_find(op, IRK_A)->id == p;
    }
    return false;
}

/* A chain, or two of which a CTA runs the one or the other; nothing else has to do with shared memory or with the launches before, so what they leave
 * out orders nothing else. */
static bool only_chains(const IrKernel *k, const IrRole *r)
{
    Chain c;
    IrPlan p;
    IrVal when[2];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->ops.n; i++) {
        const IrOp *op = &r->ops.v[i];
        if (ir_opens_block((IrOpcode)op->op) || op->op == IR_LOADS) return false;
        if (!is_shared(op) || (is_order(op) && n == 1)) continue;
        if (n == 2 || !find_chain(k, r, i, &c) || !plan_through(k, &c, &p)) return false;
        when[n++] = c.load->guard.pred;
        i = c.last;
    }
    return n == 2 ? when[0] && is_not(k, when[1], when[0]) : n == 1 && when[0] == 0;
}

static bool is_apart(const IrRole *r)
{
    for (uint32_t i = 0; i < r->ops.n; i++)
        if (is_shared(&r->ops.v[i]) || r->ops.v[i].op == IR_LOADS) return false;
    return true;
}

bool ptx_has_chains(const IrKernel *k)
{
    return k->bars.n == 0 && k->bufs.n > 0 && k->roles.n == 1 && is_apart(&k->init) && is_apart(&k->exit) && only_chains(k, &k->roles.v[0]);
}

uint32_t ptx_chain(PtxWriter *w, const IrRole *r, uint32_t i)
{
    Chain c;
    IrPlan p;
    if (!w->chains || !find_chain(w->k, r, i, &c)) return i;
    plan_through(w->k, &c, &p);
    ptx_thr_through(w, &p, c.load, c.store);
    return c.last;
}
