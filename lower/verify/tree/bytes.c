/* The bytes of a phase: what is announced for an event is what the copies bring that complete on it, in each CTA, whatever the
 * conditions are.
 *
 * Sums of bytes are linear in values; those under a condition are summed apart. The two branches of an `if` bring the same, and so does
 * what only leaves out copies without bytes. Where several CTAs take part, each condition is decided by the rank, or is the same in
 * all of them. */
#include "lang/map_rules.h"
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
    return tree_ctas(b->f->k) == 1 || !b->f->unlike[v - 1] ? v : v + (rank + 1) * b->f->k->value_types.n;
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
    uint32_t at = s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        if (same_when(&s->part[i].when, &when)) return &s->part[i].bytes;
        if (is_zero(&s->part[i].bytes)) at = i; /* nothing is left of it */
    }
    if (at == PARTS) {
        s->failed = true;
        return &s->part[0].bytes;
    }
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

/* Of a tensor copy the hardware counts the map's box, whatever the op says. */
static bool counts_box(const TreeFacts *f, const IrOp *op)
{
    if (op->op != IR_TMA_LOAD) return true;
    const MfMap *m = &f->k->mf.maps.v[ir_find(op, IRK_MAP)->id];
    const IrArg *bytes = ir_find(op, IRK_BYTES), *info = ir_find(op, IRK_INFO);
    MapDesc d = {.mode = (MapMode)m->mode, .type = m->type, .rank = m->rank, .swizzle = m->swizzle, .interleave = m->interleave, .channels = m->channels, .pixels = m->pixels};
    bool wide = m->mode == MAP_IM2COL_W || m->mode == MAP_IM2COL_W128;
    for (unsigned i = 0; i < MAP_RANK; i++) {
        d.box[i] = m->box[i];
        d.elem_stride[i] = m->elem_stride[i];
    }
    int64_t none = map_copy_bytes(&d, 0);
    TreePlace left = {.at = -none};
    if (!tree_add(f, &left, bytes, 1) || (wide && !tree_add(f, &left, info, none - map_copy_bytes(&d, 1)))) return false;
    return is_zero(&left);
}

static void add_copy(const Bytes *b, ByteSum *s, const IrOp *op)
{
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    if (!counts_box(b->f, op)) s->failed = true;
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

/* The op that stands in the block, by the op that opens it, from 1, and holds this one, or is it. */
static uint32_t in_block(const TreeFacts *f, uint32_t op, uint32_t block)
{
    while (f->around[op] != block) op = f->around[op] - 1;
    return op;
}

static void add_block(const Bytes *b, ByteSum *s, uint32_t block, uint32_t *at, uint32_t to);

/* The two branches of an `if` bring the same; `split`: the `else`, or its end where there is none. Of the second one, where that is all. */
static void add_branches(const Bytes *b, ByteSum *s, uint32_t at_if, uint32_t split, uint32_t *at, uint32_t end)
{
    ByteSum first = {0}, second = {0};
    if (at_if != split) add_block(b, &first, at_if + 1, at, split);
    if (split != end) add_block(b, &second, split + 1, at, end);
    if (!same_sum(&first, &second)) s->failed = true;
    add_sum(s, &first, 1);
}

static void add_loop(const Bytes *b, ByteSum *s, uint32_t loop, bool next, uint32_t *at)
{
    ByteSum inner = {0};
    int64_t trips = tree_trips(tree_op(b->f, loop));
    add_block(b, &inner, loop + 1, at, b->f->end[loop]);
    if (sum_is_zero(&inner)) return;
    if (next || trips < 0 || varies(b, &inner, loop)) s->failed = true;
    else add_sum(s, &inner, trips);
}

/* What the copies of a block bring, less what is announced there: nothing is left where a generation begins. Of the ring's ops from
 * number *at on, as far as they stand in front of op `to`. */
static void add_block(const Bytes *b, ByteSum *s, uint32_t block, uint32_t *at, uint32_t to)
{
    const TreeFacts *f = b->f;
    const TreeRing *r = &f->ring[b->ring];
    while (*at < r->ops.n && r->ops.v[*at] < to && !s->failed) {
        uint32_t i = in_block(f, r->ops.v[*at], block), split = i, end = i;
        const IrOp *op = tree_op(f, i);
        if (ir_opens_block(op->op)) end = f->end[i];
        if (op->op == IR_IF) split = end;
        if (op->op == IR_IF && tree_op(f, end)->op == IR_ELSE) end = f->end[end];
        bool next = !b->one && tree_begins(f, b->ring, i, end + 1);
        if (next && !sum_is_zero(s)) s->failed = true;
        if (op->op == IR_IF || op->op == IR_ELSE) {
            add_branches(b, s, i, split, at, end);
        } else if (end != i) {
            add_loop(b, s, i, next, at);
        } else {
            const IrArg *bar = ir_find(op, IRK_BAR);
            bool announces = op->op == IR_BAR_EXPECT || op->op == IR_BAR_ARRIVE_EXPECT, here = bar && bar->id == b->bar;
            if (here && announces && !b->one) add_announced(b, s, op);
            else if (here && ir_op_info((IrOpcode)op->op)->group == IRG_COPY) add_copy(b, s, op);
            ++*at;
        }
    }
}

static bool bytes_of_event(const TreeFacts *f, uint32_t ring, uint32_t bar)
{
    for (uint32_t to = 0; to < tree_ctas(f->k); to++) {
        Bytes b = {.f = f, .bar = bar, .to = to, .ring = ring};
        ByteSum s = {0};
        uint32_t at = 0;
        add_block(&b, &s, 0, &at, f->tree->ops.n);
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
        bool named = false;
        all = true;
        for (uint32_t k = 0; k < f->ring[ring].ops.n && all; k++) {
            uint32_t i = f->ring[ring].ops.v[k];
            const IrArg *at = ir_find(tree_op(f, i), IRK_BAR);
            bool names = ir_find(tree_op(f, i), IRK_RANK) && at && at->id == bar;
            named |= names;
            for (bool more = names && tree_turns(f, i, true); more; more = tree_turns(f, i, false)) all = all && bytes_of_event(f, ring, bar);
        }
        all = all && named;
    }
    return all;
}

/* In the generation that the op begins, up to the next one in its block, or the block's end. */
static bool brings_there(const TreeFacts *f, uint32_t ring, uint32_t bar, uint32_t from, uint32_t to, uint32_t begin,
                         uint32_t end)
{
    const TreeRing *r = &f->ring[ring];
    Bytes b = {.f = f, .bar = bar, .to = to, .ring = ring, .one = true, .from = from};
    ByteSum s = {0};
    TreePlace sum = {0};
    uint32_t at = tree_not_before(r->ops.v, r->ops.n, begin + 1);
    add_block(&b, &s, f->around[begin], &at, end);
    bool always = !s.failed;
    for (uint32_t i = 0; i < s.n && always; i++) {
        if (s.part[i].when.n) always = is_zero(&s.part[i].bytes);
        else sum = s.part[i].bytes;
    }
    for (unsigned i = 0; i < sum.n; i++) sum.by[i].v = plain(&b, sum.by[i].v);
    return always && tree_least(f, &sum) > 0;
}

bool tree_brings(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to)
{
    const TreeRing *r = &f->ring[ring];
    bool all = true;
    for (uint32_t i = 0; i < r->begun.n && all; i++) {
        uint32_t begin = r->begun.v[i], block = f->around[begin], end = block ? f->end[block - 1] : f->tree->ops.n;
        for (uint32_t k = i + 1; k < r->begun.n && r->begun.v[k] < end; k++)
            if (f->around[r->begun.v[k]] == block) end = r->begun.v[k];
        all = false;
        for (uint32_t e = 0; e < r->nevents; e++) all = all || brings_there(f, ring, r->event[e], from, to, begin, end);
    }
    return all;
}
