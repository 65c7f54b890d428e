/* The bytes of a phase: what is announced for an event is what the copies bring that complete on it, in each CTA, whatever the
 * conditions are.
 *
 * Sums of bytes are linear in values; those under a condition are summed apart. The two branches of an `if` bring the same, and so does
 * what only leaves out copies without bytes. Where several CTAs take part, each condition is decided by the rank, or is the same in
 * all of them. */
#include "lower/verify/tree/facts.h"

enum { PARTS = 12, DEPTH = 16, CONJUNCTS = 6 };

typedef struct When { /* preds that all hold, in order; none: always */
    uint8_t n;
    IrVal v[CONJUNCTS];
} When;
typedef struct BytePart {
    When when;
    TreePlace bytes;
} BytePart;
typedef struct ByteSum {
    uint32_t n;
    bool failed;
    BytePart part[PARTS];
} ByteSum;

typedef struct Bytes {
    const TreeFacts *f;
    uint32_t bar, to; /* bytes that come to the CTA `to` */
    uint32_t ring;
    bool one;         /* .. from that of rank `from` alone, and nothing that is announced */
    uint32_t from;
} Bytes;

/* ---- values ---- */

/* The value as that CTA has it: those that are not the same in all are numbered anew. */
static IrVal of_rank(const Bytes *b, IrVal v, uint32_t rank)
{
    return tree_ctas(b->f->k) == 1 || tree_same(b->f, v) ? v : v + (rank + 1) * b->f->k->value_types.n;
}

static IrVal plain(const Bytes *b, IrVal v)
{
    return v ? (v - 1) % b->f->k->value_types.n + 1 : 0;
}

/* ---- sums ---- */

static bool is_zero(const TreePlace *p)
{
    return p->n == 0 && p->at == 0;
}

static bool same_when(const When *x, const When *y)
{
    bool same = x->n == y->n;
    for (unsigned i = 0; i < x->n && same; i++) same = x->v[i] == y->v[i];
    return same;
}

static TreePlace *part_of(ByteSum *s, When when)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (same_when(&s->part[i].when, &when)) return &s->part[i].bytes;
    uint32_t at = 0;
    while (at < s->n && !is_zero(&s->part[at].bytes)) at++; /* what has come as announced is done with */
    s->failed |= at == PARTS;
    if (at == PARTS) return &s->part[0].bytes;
    if (at == s->n) s->n++;
    s->part[at] = (BytePart){.when = when};
    return &s->part[at].bytes;
}

static void add_place(ByteSum *s, TreePlace *to, const TreePlace *p, int64_t k)
{
    to->at += p->at * k;
    for (unsigned i = 0; i < p->n; i++) s->failed |= !tree_add_term(to, p->by[i].v, p->by[i].k * k);
}

/* Both; false where those are too many. */
static bool also(When *w, IrVal v)
{
    unsigned at = 0;
    while (at < w->n && w->v[at] < v) at++;
    if (at < w->n && w->v[at] == v) return true;
    if (w->n == CONJUNCTS) return false;
    for (unsigned i = w->n++; i > at; i--) w->v[i] = w->v[i - 1];
    w->v[at] = v;
    return true;
}

/* So many bytes where w holds, and all of `open`, which may be made of others. Of an opposite: those without it, less those where it
 * does not hold. */
static void add_split(const Bytes *b, ByteSum *s, When w, When open, uint32_t rank, const TreePlace *p, int64_t k)
{
    while (open.n && !s->failed) {
        IrVal v = open.v[--open.n];
        const IrOp *op = tree_definition(b->f, v);
        const IrArg *x = op ? ir_find(op, IRK_A) : NULL, *y = op ? ir_find(op, IRK_B) : NULL;
        bool and = op && op->op == IR_AND && x->kind == IRA_VAL && y->kind == IRA_VAL && open.n + 2 <= CONJUNCTS;
        if (and) {
            open.v[open.n++] = x->id;
            open.v[open.n++] = y->id;
        } else if (op && op->op == IR_NOT && x->kind == IRA_VAL) {
            add_split(b, s, w, open, rank, p, k);
            open.v[open.n++] = x->id;
            k = -k;
        } else if (!also(&w, of_rank(b, v, rank))) {
            s->failed = true;
        }
    }
    add_place(s, part_of(s, w), p, k);
}

static void add_when(const Bytes *b, ByteSum *s, IrVal pred, uint32_t rank, const TreePlace *p, int64_t k)
{
    add_split(b, s, (When){0}, (When){.n = pred != 0, .v = {pred}}, rank, p, k);
}

static void add_sum(ByteSum *s, const ByteSum *t, int64_t k)
{
    s->failed |= t->failed;
    for (uint32_t i = 0; i < t->n; i++) add_place(s, part_of(s, t->part[i].when), &t->part[i].bytes, k);
}

static bool sum_is_zero(const ByteSum *s)
{
    bool zero = !s->failed;
    for (uint32_t i = 0; i < s->n; i++) zero = zero && is_zero(&s->part[i].bytes);
    return zero;
}

static bool same_sum(const ByteSum *s, const ByteSum *t)
{
    ByteSum d = *s;
    add_sum(&d, t, -1);
    return sum_is_zero(&d);
}

/* The condition as the CTA of that rank has it: what is left to decide, 0 if it holds; false where it does not. */
static bool condition(const Bytes *b, IrVal pred, uint32_t rank, IrVal *left)
{
    int64_t holds;
    const IrOp *op = tree_definition(b->f, pred);
    *left = 0;
    if (tree_value(b->f, pred, rank, &holds)) return holds != 0;
    if (op && op->op == IR_AND) {
        const IrArg *p[] = {ir_find(op, IRK_A), ir_find(op, IRK_B)};
        for (int i = 0; i < 2; i++) {
            if (p[i]->kind != IRA_VAL || !tree_value(b->f, p[i]->id, rank, &holds)) continue;
            if (!holds) return false;
            const IrArg *other = p[!i];
            return other->kind == IRA_VAL ? condition(b, other->id, rank, left) : other->imm != 0;
        }
    }
    *left = pred;
    return true;
}

static void add_bytes(const Bytes *b, ByteSum *s, IrVal when, const IrArg *arg, uint32_t rank, int64_t k, int depth)
{
    TreePlace p = {0};
    int64_t n;
    const IrOp *op = arg->kind == IRA_VAL ? tree_definition(b->f, arg->id) : NULL;
    if (arg->kind == IRA_IMM || tree_value(b->f, arg->id, rank, &n)) {
        p.at = arg->kind == IRA_IMM ? arg->imm : n;
        add_when(b, s, when, rank, &p, k);
    } else if (op && depth && (op->op == IR_ADD || op->op == IR_SUB)) {
        add_bytes(b, s, when, ir_find(op, IRK_A), rank, k, depth - 1);
        add_bytes(b, s, when, ir_find(op, IRK_B), rank, op->op == IR_ADD ? k : -k, depth - 1);
    } else if (op && depth && op->op == IR_MUL && ir_find(op, IRK_B)->kind == IRA_IMM) {
        add_bytes(b, s, when, ir_find(op, IRK_A), rank, k * ir_find(op, IRK_B)->imm, depth - 1);
    } else if (op && depth && op->op == IR_SEL && when == 0) {
        IrVal left;
        bool may = condition(b, ir_find(op, IRK_COND)->id, rank, &left);
        if (!may || left) add_bytes(b, s, 0, ir_find(op, IRK_B), rank, k, depth - 1);
        if (may && left) add_bytes(b, s, left, ir_find(op, IRK_B), rank, -k, depth - 1);
        if (may) add_bytes(b, s, left, ir_find(op, IRK_A), rank, k, depth - 1);
    } else {
        IrVal v = tree_uncast(b->f, arg->id);
        op = tree_definition(b->f, v);
        if (op && op->op == IR_CVT) { /* of a pred: 1 where it holds */
            p.at = 1;
            s->failed |= when != 0;
            add_when(b, s, ir_find(op, IRK_A)->id, rank, &p, k);
            return;
        }
        s->failed |= !tree_add_term(&p, of_rank(b, v, rank), 1);
        add_when(b, s, when, rank, &p, k);
    }
}

/* "it has bytes": no condition. */
static IrVal without_some(const Bytes *b, IrVal pred, const IrArg *bytes)
{
    const IrOp *op = pred ? tree_definition(b->f, pred) : NULL;
    if (op == NULL || bytes == NULL || bytes->kind != IRA_VAL) return pred;
    const IrArg *p[] = {ir_find(op, IRK_A), ir_find(op, IRK_B)};
    if (op->op == IR_CMP && ir_find(op, IRK_REL)->id == IRL_GT && p[0]->kind == IRA_VAL && p[0]->id == bytes->id && p[1]->kind == IRA_IMM && p[1]->imm == 0) return 0;
    for (int i = 0; op->op == IR_AND && i < 2; i++)
        if (p[i]->kind == IRA_VAL && p[!i]->kind == IRA_VAL && without_some(b, p[i]->id, bytes) == 0) return p[!i]->id;
    return pred;
}

/* ---- the tree ---- */

static void add_copy(const Bytes *b, ByteSum *s, const IrOp *op)
{
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    IrArg cell = {.kind = IRA_IMM, .imm = op->op == IR_CLC_NEXT ? IR_ANSWER_BYTES : IR_CELL_BYTES};
    for (uint32_t from = 0; from < tree_ctas(b->f->k); from++) {
        uint32_t set;
        IrVal left = 0;
        if (b->one && from != b->from) continue;
        IrVal guard = op->guard.pred ? without_some(b, op->guard.pred, bytes) : 0;
        if (guard && !condition(b, guard, from, &left)) continue;
        left = left && bytes ? without_some(b, left, bytes) : left;
        if (!tree_targets(b->f, op, from, &set)) s->failed = true;
        else if (set >> b->to & 1) add_bytes(b, s, left, bytes ? bytes : &cell, from, 1, DEPTH);
    }
}

static void add_announced(const Bytes *b, ByteSum *s, const IrOp *op)
{
    IrVal left = 0;
    if (ir_find(op, IRK_RANK)) s->failed = true;
    if (op->guard.pred && !condition(b, op->guard.pred, b->to, &left)) return;
    add_bytes(b, s, left, ir_find(op, IRK_BYTES), b->to, -1, DEPTH);
}

/* A value of the sum that the loop makes anew in each iteration. */
static bool varies(const Bytes *b, const ByteSum *s, uint32_t loop)
{
    bool any = false;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at;
        for (unsigned j = 0; j < s->part[i].when.n && !is_zero(&s->part[i].bytes); j++) {
            at = b->f->defined[plain(b, s->part[i].when.v[j]) - 1];
            any |= at > loop && at <= b->f->end[loop];
        }
        for (unsigned j = 0; j < s->part[i].bytes.n; j++) {
            at = b->f->defined[plain(b, s->part[i].bytes.by[j].v) - 1];
            any |= at > loop && at <= b->f->end[loop];
        }
    }
    return any;
}

static bool begins(const Bytes *b, uint32_t i)
{
    return tree_op(b->f, i)->op == IR_ACQUIRE && ir_find(tree_op(b->f, i), IRK_RING)->id == b->ring;
}

static bool begins_in(const Bytes *b, uint32_t from, uint32_t to)
{
    bool any = false;
    for (uint32_t i = from; i < to && !any; i++) any = begins(b, i);
    return any;
}

/* What the copies of a block bring, less what is announced there: nothing is left where a generation begins. */
static void add_block(const Bytes *b, ByteSum *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && !s->failed; i++) {
        const IrOp *op = tree_op(b->f, i);
        const IrArg *bar = ir_find(op, IRK_BAR);
        ByteSum inner = {0}, other = {0};
        bool opens = op->op == IR_LOOP || op->op == IR_REPEAT || op->op == IR_IF, next = opens ? begins_in(b, i + 1, b->f->end[i]) : begins(b, i);
        if (next && !b->one && !sum_is_zero(s)) s->failed = true;
        if (op->op == IR_LOOP || op->op == IR_REPEAT || op->op == IR_LANES) {
            add_block(b, &inner, i + 1, b->f->end[i]);
            int64_t trips = tree_trips(op);
            if (!sum_is_zero(&inner) && (trips < 0 || varies(b, &inner, i))) s->failed = true;
            else if (!sum_is_zero(&inner)) add_sum(s, &inner, trips);
            if (next && !b->one && !sum_is_zero(&inner)) s->failed = true;
            i = b->f->end[i];
        } else if (op->op == IR_IF) {
            uint32_t end = b->f->end[i];
            add_block(b, &inner, i + 1, end);
            if (tree_op(b->f, end)->op == IR_ELSE) add_block(b, &other, end + 1, b->f->end[end]);
            if (!same_sum(&inner, &other)) s->failed = true;
            add_sum(s, &inner, 1);
            i = tree_op(b->f, end)->op == IR_ELSE ? b->f->end[end] : end;
        } else if (bar && bar->id == b->bar) {
            bool announces = op->op == IR_BAR_EXPECT || op->op == IR_BAR_ARRIVE_EXPECT;
            if (announces && !b->one) add_announced(b, s, op);
            else if (ir_op_info((IrOpcode)op->op)->group == IRG_COPY) add_copy(b, s, op);
        }
    }
}

static bool bytes_of_event(const TreeFacts *f, uint32_t ring, uint32_t bar)
{
    for (uint32_t to = 0; to < tree_ctas(f->k); to++) {
        Bytes b = {.f = f, .bar = bar, .to = to, .ring = ring};
        ByteSum s = {0};
        add_block(&b, &s, 0, f->tree->ops.n);
        if (!sum_is_zero(&s)) return false;
    }
    return true;
}

/* Bytes complete where the generation has begun and not beyond: what is announced and what comes stand in one block, or deeper. Where
 * a loop around has the index by which CTAs are named, so in each of its turns. */
bool tree_bytes(const TreeFacts *f, uint32_t ring)
{
    bool all = true;
    for (uint32_t e = 0; e < f->ring[ring].nevents && all; e++) {
        uint32_t bar = f->ring[ring].event[e];
        all = bytes_of_event(f, ring, bar);
        if (all || tree_ctas(f->k) == 1) continue;
        all = true;
        for (uint32_t i = 0; i < f->tree->ops.n && all; i++) {
            const IrArg *at = ir_find(tree_op(f, i), IRK_BAR);
            bool names = ir_find(tree_op(f, i), IRK_RANK) && at && at->id == bar;
            for (bool more = names && tree_turns(f, i, true); more; more = tree_turns(f, i, false)) all = all && bytes_of_event(f, ring, bar);
        }
    }
    return all;
}

/* In the block from that op on, up to the other. */
static bool brings_there(const TreeFacts *f, uint32_t ring, uint32_t bar, uint32_t from, uint32_t to, uint32_t first, uint32_t end)
{
    Bytes b = {.f = f, .bar = bar, .to = to, .ring = ring, .one = true, .from = from};
    ByteSum s = {0};
    TreePlace sum = {0};
    add_block(&b, &s, first, end);
    bool always = !s.failed;
    for (uint32_t i = 0; i < s.n && always; i++) {
        if (s.part[i].when.n) always = is_zero(&s.part[i].bytes);
        else sum = s.part[i].bytes;
    }
    for (unsigned i = 0; i < sum.n; i++) sum.by[i].v = plain(&b, sum.by[i].v);
    return always && tree_least(f, &sum) > 0;
}

/* The op in the same block by which the next generation begins, or the block's end. */
static uint32_t next_begin(const TreeFacts *f, uint32_t at, uint32_t ring)
{
    uint32_t end = f->around[at] ? f->end[f->around[at] - 1] : f->tree->ops.n;
    Bytes b = {.f = f, .ring = ring};
    for (uint32_t i = at + 1; i < end; i++)
        if (begins(&b, i)) return i;
    return end;
}

bool tree_brings(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to)
{
    bool all = true;
    for (uint32_t i = 0; i < f->tree->ops.n && all; i++) {
        if (!begins(&(Bytes){.f = f, .ring = ring}, i)) continue;
        all = false;
        for (uint32_t e = 0; e < f->ring[ring].nevents; e++) all = all || brings_there(f, ring, f->ring[ring].event[e], from, to, i + 1, next_begin(f, i, ring));
    }
    return all;
}
