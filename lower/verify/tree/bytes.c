/* The bytes of a phase: what is announced for an event is what the copies bring that complete on it, in each CTA, whatever the
 * conditions are.
 *
 * Sums of bytes are polynomials of values and conditions. The two branches of an `if` bring the same, and so does what only leaves out
 * copies without bytes. Where several CTAs take part, each condition is decided by the rank, or is the same in all of them. */
#include "lang/checked.h"
#include "lower/verify/tree/facts.h"

typedef struct Bytes {
    const TreeFacts *f;
    uint32_t ring, event, to; /* bytes that come to the CTA `to` for that event, from 1 */
    bool one;         /* .. from the agent of the CTA `from` alone, and nothing that is announced */
    bool turns;       /* loops by whose index CTAs are named are gone through turn by turn */
    uint32_t agent, from;
} Bytes;

static bool is_zero(Poly p)
{
    return p.n == 0 && !p.bad;
}

/* ---- the tree ---- */

/* Of a tensor copy the hardware counts the map's box, whatever the op says. */
static bool counts_box(const TreeFacts *f, const IrOp *op)
{
    if (op->op != IR_TMA_LOAD) return true;
    const IrArg *bytes = ir_find(op, IRK_BYTES), *info = ir_find(op, IRK_INFO);
    const TreeMap *m = &f->map[ir_find(op, IRK_MAP)->id];
    TreeView any = tree_at(f->ctas);
    if (bytes->kind == IRA_IMM && !m->wide) return bytes->imm == m->bytes[0];
    Poly box = poly_const(f->domain, m->bytes[0]);
    if (m->wide) box = poly_add(f->domain, box, poly_mul(f->domain, poly_const(f->domain, m->bytes[1] - m->bytes[0]), tree_value(f, any, info)));
    return poly_same(tree_value(f, any, bytes), box);
}

static void add_copy(const Bytes *b, Poly *s, const IrOp *op)
{
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    IrArg cell = {.kind = IRA_IMM, .imm = op->op == IR_CLC_NEXT ? IR_ANSWER_BYTES : IR_CELL_BYTES};
    if (!counts_box(b->f, op)) *s = POLY_UNKNOWN;
    for (uint32_t from = b->one ? b->from : 0; from < (b->one ? b->from + 1 : b->f->ctas); from++) {
        uint32_t set;
        if (tree_when(b->f, op, from) == WHEN_NEVER) continue;
        if (!tree_targets(b->f, op, from, &set)) *s = POLY_UNKNOWN;
        else if (set >> b->to & 1) *s = poly_add(b->f->domain, *s, tree_where(b->f, tree_value(b->f, tree_at(from), bytes ? bytes : &cell), op->guard.pred, bytes, from));
    }
}

static void add_announced(const Bytes *b, Poly *s, const IrOp *op)
{
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    if (ir_find(op, IRK_RANK) || tree_range(b->f, bytes, b->to).lo < 0) *s = POLY_UNKNOWN;
    *s = poly_sub(b->f->domain, *s, tree_where(b->f, tree_value(b->f, tree_at(b->to), bytes), op->guard.pred, NULL, b->to));
}

/* The op that stands in the block, by the op that opens it, from 1, and holds this one, or is it. */
static uint32_t in_block(const TreeFacts *f, uint32_t op, uint32_t block)
{
    while (f->at[op].around != block) op = f->at[op].around - 1;
    return op;
}

static void add_block(const Bytes *b, Poly *s, uint32_t block, uint32_t *at, uint32_t to);

/* The two branches of an `if` bring the same; `split`: the `else`, or its end where there is none. Of the second one, where that is all. */
static void add_branches(const Bytes *b, Poly *s, uint32_t at_if, uint32_t split, uint32_t *at, uint32_t end)
{
    Poly first = poly_const(b->f->domain, 0), second = first;
    if (at_if != split) add_block(b, &first, at_if + 1, at, split);
    if (split != end && !first.bad) add_block(b, &second, split + 1, at, end); /* *at stands there, then */
    *s = poly_same(second, first) ? poly_add(b->f->domain, *s, first) : POLY_UNKNOWN;
}

/* Is it about the bytes that are added up? */
static bool concerns(const Bytes *b, uint32_t op)
{
    return b->f->at[op].event == b->event && b->f->at[op].ring == b->ring + 1;
}

/* Does one of the ring's ops in the loop, from number `at` on, name CTAs? */
static bool names(const Bytes *b, uint32_t loop, uint32_t at)
{
    const TreeFacts *f = b->f;
    const TreeRing *r = &f->ring[b->ring];
    for (; at < r->ops.n && r->ops.v[at] < f->at[loop].end; at++)
        if (concerns(b, r->ops.v[at]) && tree_reaches_others(f, tree_op(f, r->ops.v[at]))) return true;
    return false;
}

/* In a turn the index is a number. What is not known has another value in each of them: turns are added up if they bring numbers, or
 * each the same. */
static void add_turns(const Bytes *b, Poly *s, uint32_t loop, bool next, uint32_t *at)
{
    const TreeFacts *f = b->f;
    int64_t k, from = ir_find(tree_op(f, loop), IRK_A)->imm, end = from + tree_few_turns(f, loop);
    uint32_t begin = *at;
    Poly first = POLY_UNKNOWN;
    bool numbers = true, alike = true;
    for (int64_t i = from; i < end && !s->bad; i++) {
        Poly inner = poly_const(f->domain, 0);
        tree_turn(f, loop, i);
        *at = begin;
        add_block(b, &inner, loop + 1, at, f->at[loop].end);
        if (i == from) first = inner;
        numbers = numbers && poly_is_const(inner, &k);
        alike = alike && poly_same(inner, first);
        *s = (next ? is_zero(inner) : numbers || alike) ? poly_add(f->domain, *s, inner) : POLY_UNKNOWN;
    }
    tree_turn(f, loop, INT64_MIN);
}

/* So many times what one iteration brings: what holds of that sum whatever the iteration is holds of the mean of all, too. */
static void add_loop(const Bytes *b, Poly *s, uint32_t loop, bool next, uint32_t *at)
{
    Poly inner = poly_const(b->f->domain, 0);
    int64_t trips = tree_trips(tree_op(b->f, loop));
    if (b->turns && tree_few_turns(b->f, loop) && names(b, loop, *at)) {
        add_turns(b, s, loop, next, at);
        return;
    }
    add_block(b, &inner, loop + 1, at, b->f->at[loop].end);
    if (is_zero(inner)) return;
    *s = next || trips < 0 ? POLY_UNKNOWN : poly_add(b->f->domain, *s, poly_mul(b->f->domain, inner, poly_const(b->f->domain, trips)));
}

/* What the copies of a block bring, less what is announced there: nothing is left where a generation begins. Of the ring's ops from
 * number *at on, as far as they stand in front of op `to`. */
static void add_block(const Bytes *b, Poly *s, uint32_t block, uint32_t *at, uint32_t to)
{
    const TreeFacts *f = b->f;
    const TreeRing *r = &f->ring[b->ring];
    while (*at < r->ops.n && r->ops.v[*at] < to && !s->bad) {
        uint32_t i = in_block(f, r->ops.v[*at], block), end = tree_last(f, i), split = i;
        const IrOp *op = tree_op(f, i);
        if (op->op == IR_IF) split = f->at[i].end;
        bool next = !b->one && tree_begins(f, b->ring, i, end + 1);
        if (next && !is_zero(*s)) *s = POLY_UNKNOWN;
        if (op->op == IR_IF || op->op == IR_ELSE) {
            add_branches(b, s, i, split, at, end);
        } else if (end != i) {
            add_loop(b, s, i, next, at);
        } else {
            if (concerns(b, i) && tree_announces(op) && !b->one) add_announced(b, s, op);
            else if (concerns(b, i) && ir_op_info((IrOpcode)op->op)->group == IRG_COPY && (!b->one || op->agent == b->agent + 1)) add_copy(b, s, op);
            ++*at;
        }
    }
}

static bool bytes_of_event(const TreeFacts *f, uint32_t ring, uint32_t event, bool turns)
{
    bool all = true;
    f->asked->turning = turns;
    for (uint32_t to = 0; to < f->ctas && all; to++) {
        Bytes b = {.f = f, .ring = ring, .event = event, .to = to, .turns = turns};
        Poly s = poly_const(f->domain, 0);
        uint32_t at = 0;
        add_block(&b, &s, 0, &at, f->tree->ops.n);
        all = is_zero(s);
    }
    f->asked->turning = false;
    return all;
}

/* Bytes complete where the generation has begun and not beyond: what is announced and what comes stand in one block, or deeper. */
bool tree_bytes(const TreeFacts *f, uint32_t ring)
{
    for (uint32_t e = 1; e <= f->ring[ring].nevents; e++)
        if (!bytes_of_event(f, ring, e, false) && (f->ctas == 1 || !bytes_of_event(f, ring, e, true))) return false;
    return true;
}

/* In the generation that the op begins, up to what holds the beginning of the next one, or the end of its block. */
static bool brings_there(const Bytes *b, uint32_t begin, uint32_t end)
{
    const TreeRing *r = &b->f->ring[b->ring];
    Poly s = poly_const(b->f->domain, 0);
    uint32_t at = tree_not_before(r->ops.v, r->ops.n, begin + 1);
    add_block(b, &s, b->f->at[begin].around, &at, end);
    return domain_interval(b->f->domain, s).lo > 0;
}

static bool brings(const Bytes *b)
{
    const TreeFacts *f = b->f;
    const TreeRing *r = &f->ring[b->ring];
    bool all = true;
    for (uint32_t i = 0; i < r->begun.n && all; i++) {
        uint32_t begin = r->begun.v[i], block = f->at[begin].around, end = block ? f->at[block - 1].end : f->tree->ops.n;
        if (i + 1 < r->begun.n && r->begun.v[i + 1] < end) end = in_block(f, r->begun.v[i + 1], block);
        all = brings_there(b, begin, end);
    }
    return all;
}

bool tree_brings(const TreeFacts *f, uint32_t ring, uint32_t i, uint32_t to)
{
    TreeSender *x = &f->ring[ring].senders.v[i];
    bool asked = x->asked >> to & 1;
    if (!asked && brings(&(Bytes){.f = f, .ring = ring, .event = x->event + 1u, .to = to, .one = true, .agent = x->agent, .from = x->rank})) x->brings |= (uint16_t)(1u << to);
    x->asked |= (uint16_t)(1u << to);
    return x->brings >> to & 1;
}

/* Does one of the ring's begin in each turn of the block? */
static bool surely_begins(const TreeFacts *f, uint32_t ring, uint32_t block)
{
    const TreeRing *r = &f->ring[ring];
    for (uint32_t i = tree_not_before(r->begun.v, r->begun.n, block); i < r->begun.n && r->begun.v[i] < f->at[block - 1].end; i++)
        if (tree_surely(f, r->begun.v[i], block)) return true;
    return false;
}

/* Loops in whose turns no generation surely begins repeat it. */
int64_t tree_announced(const TreeFacts *f, uint32_t op)
{
    int64_t most = tree_range(f, ir_find(tree_op(f, op), IRK_BYTES), f->ctas).hi;
    for (uint32_t at = f->at[op].around; at && !surely_begins(f, f->at[op].ring - 1, at); at = f->at[at - 1].around) {
        if (tree_op(f, at - 1)->op == IR_IF || tree_op(f, at - 1)->op == IR_ELSE) continue;
        int64_t trips = tree_trips(tree_op(f, at - 1));
        if (trips < 0 || !mul_s64(most, trips, &most)) most = INT64_MAX;
    }
    return most > INT32_MAX ? INT32_MAX : most;
}
