/* Places in a slot: what two accesses of one generation surely have not in common.
 *
 * Loops within a generation give an access many instances. Two of them lie apart if they do so whatever the indices are; or if, index
 * by index, each keeps to a window of its own, as wide as the step from iteration to iteration, and within one window, where all
 * indices are equal, the one ends before the other begins, or only one of them happens. */
#include "lower/ir/tensor_memory.h"
#include "lower/verify/tree/state.h"

typedef struct Spot { /* of an access, as far as it matters where the other one is */
    const TreeAccess *of;
    TreePoly from, to;
} Spot;

int64_t tree_trips(const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *n = ir_find(op, IRK_N);
    if (op->op == IR_LANES) return n->imm;
    if (op->op == IR_REPEAT || a->kind != IRA_IMM || b->kind != IRA_IMM || b->imm - a->imm > INT32_MAX) return TREE_TRIPS_OPEN;
    return b->imm > a->imm ? b->imm - a->imm : 0;
}

/* ---- loops within the generation ---- */

/* The loop around the op, from 1; 0: none more. */
static uint32_t loop_around(const TreeFacts *f, uint32_t op)
{
    uint32_t b = f->at[op].around;
    while (b && (tree_op(f, b - 1)->op == IR_IF || tree_op(f, b - 1)->op == IR_ELSE)) b = f->at[b - 1].around;
    return b;
}

/* Can op `to` meet the generation that op `from` has met in an earlier iteration of that loop, which is around both? Not if one surely
 * begins on the way: behind `from` in a block that is left at its end, or in front of `to` in one around it. A repeat is left before. */
static bool turns_within(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to, uint32_t loop)
{
    const TreeRing *r = &f->ring[ring];
    uint32_t end = f->at[loop - 1].end;
    for (uint32_t i = tree_not_before(r->begun.v, r->begun.n, loop); i < r->begun.n && r->begun.v[i] < end; i++) {
        uint32_t at = r->begun.v[i], in = f->at[at].around - 1;
        bool left = in == loop - 1 || tree_op(f, in)->op != IR_REPEAT;
        if (at > from && in < from && left && from < f->at[in].end) return false;
        if (at < to && to < f->at[in].end) return false;
    }
    return true;
}

/* The innermost loop around both, from 1, outside of `inner`, that turns within a generation from the one to the other; 0: none more. */
static uint32_t turning(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to, uint32_t inner)
{
    uint32_t b = loop_around(f, inner ? inner - 1 : from);
    while (b && (b > to || f->at[b - 1].end < to || !turns_within(f, ring, from, to, b))) b = loop_around(f, b - 1);
    return b;
}

/* ---- polynomials ---- */

static Interval range(const TreeFacts *f, const TreePoly *p)
{
    return tree_poly_range(f, p, f->ctas);
}

static bool is_before(Interval x, Interval y)
{
    return x.hi <= y.lo && x.hi < INT64_MAX && y.lo > INT64_MIN;
}

static const TreeTerm *term_of(const TreePoly *p, IrVal v) /* so often that value, or NULL */
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->t[i].n == 1 && p->t[i].v[0] == v) return &p->t[i];
    return NULL;
}

static int64_t times_of(const TreePoly *p, IrVal v)
{
    const TreeTerm *t = term_of(p, v);
    return t ? t->k : 0;
}

static void drop(TreePoly *p, IrVal v)
{
    const TreeTerm *t = term_of(p, v);
    if (t) p->t[t - p->t] = p->t[--p->n];
}

/* min(max(.., b), c) is, where b is at most c. */
static bool value_not_below(const TreeFacts *f, IrVal a, IrVal b, int depth)
{
    a = tree_uncast(f, a);
    b = tree_uncast(f, b);
    const IrOp *op = tree_definition(f, a);
    if (a == b) return true;
    if (op == NULL || depth == 0 || (op->op != IR_MIN && op->op != IR_MAX)) return false;
    const IrArg *p[] = {ir_find(op, IRK_A), ir_find(op, IRK_B)};
    bool holds[2];
    for (int i = 0; i < 2; i++)
        holds[i] = p[i]->kind == IRA_IMM ? tree_range(f, &(IrArg){.kind = IRA_VAL, .id = b}, f->ctas).hi <= p[i]->imm : value_not_below(f, p[i]->id, b, depth - 1);
    return op->op == IR_MIN ? holds[0] && holds[1] : holds[0] || holds[1];
}

/* Pairs of values of which the one is never below the other add nothing that is negative. */
static bool drop_pair(const TreeFacts *f, TreePoly *d)
{
    enum { DEPTH = 6 };
    for (uint32_t i = 0; i < d->n; i++) {
        for (uint32_t j = 0; j < d->n; j++) {
            const TreeTerm x = d->t[i], y = d->t[j];
            if (x.n != 1 || y.n != 1 || x.k <= 0 || y.k != -x.k || !value_not_below(f, x.v[0], y.v[0], DEPTH)) continue;
            drop(d, x.v[0]);
            drop(d, y.v[0]);
            return true;
        }
    }
    return false;
}

static bool not_before(const TreeFacts *f, const TreePoly *a, const TreePoly *b)
{
    TreePoly d;
    tree_copy(&d, a);
    tree_poly_add(&d, b, -1);
    while (drop_pair(f, &d)) continue;
    return range(f, &d).lo >= 0;
}

/* ---- apart ---- */

enum { PARTS = 16 };
typedef struct Parts { /* what holds where a pred does: it, and both of what is one by `and` */
    IrVal v[PARTS];
    unsigned n;
} Parts;

static void add_parts(const TreeFacts *f, Parts *p, IrVal v)
{
    const IrOp *op = v && p->n < PARTS ? tree_definition(f, v) : NULL;
    if (op == NULL) return;
    p->v[p->n++] = v;
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    if (op->op != IR_AND || op->type != IR_PRED) return;
    if (a->kind == IRA_VAL) add_parts(f, p, a->id);
    if (b->kind == IRA_VAL) add_parts(f, p, b->id);
}

/* A part of the one is `not` a part of the other. */
static bool denies(const TreeFacts *f, const Parts *p, const Parts *q)
{
    for (unsigned i = 0; i < p->n; i++) {
        const IrOp *op = tree_definition(f, p->v[i]);
        const IrArg *of = op->op == IR_NOT ? ir_find(op, IRK_A) : NULL;
        for (unsigned j = 0; j < q->n && of; j++)
            if (of->kind == IRA_VAL && of->id == q->v[j]) return true;
    }
    return false;
}

/* Never both: the one says that what the other says does not hold, or their product is nothing. */
static bool exclusive(const TreeFacts *f, IrVal a, IrVal b)
{
    Parts p = {.n = 0}, q = {.n = 0};
    add_parts(f, &p, a);
    add_parts(f, &q, b);
    if (denies(f, &p, &q) || denies(f, &q, &p)) return true;
    TreePoly one, both;
    tree_where(f, &one, &TREE_ONE, a, NULL, f->ctas);
    tree_where(f, &both, &one, b, NULL, f->ctas);
    return both.n == 0 && !both.lost;
}

/* In the two branches of one `if`. */
static bool other_branch(const TreeFacts *f, uint32_t a, uint32_t b)
{
    for (uint32_t x = f->at[a].around; x; x = f->at[x - 1].around)
        for (uint32_t y = f->at[b].around; y; y = f->at[y - 1].around)
            if ((tree_op(f, x - 1)->op == IR_IF && f->at[x - 1].end == y - 1) || (tree_op(f, y - 1)->op == IR_IF && f->at[y - 1].end == x - 1)) return true;
    return false;
}

static int64_t step_of(const Spot *x, IrVal index)
{
    int64_t k = times_of(&x->from, index);
    return k == times_of(&x->to, index) ? k : 0;
}

/* Does it keep to the window of that many bytes that the index picks? */
static bool keeps_to(const TreeFacts *f, Spot *x, IrVal index, int64_t step, int64_t *window)
{
    drop(&x->from, index);
    drop(&x->to, index);
    Interval a = range(f, &x->from), b = range(f, &x->to);
    if (step <= 0 || a.lo < 0 || a.lo > b.hi || b.hi > INT32_MAX) return false;
    *window = a.lo / step;
    return b.hi <= (*window + 1) * step;
}

/* Both in the same iteration of all loops that turn within the generation, and one of them in no others than the other. */
static bool apart_at_once(const TreeFacts *f, const Spot *x, const Spot *y)
{
    if (other_branch(f, x->of->op, y->of->op) || exclusive(f, tree_op(f, x->of->op)->guard.pred, tree_op(f, y->of->op)->guard.pred)) return true;
    return not_before(f, &y->from, &x->to) || not_before(f, &x->from, &y->to);
}

/* A value that is the same in all iterations, so often in all four places: it shifts both alike. Where they are of different CTAs,
 * it is the same in those, too: they count the generation in step. */
static void drop_shared(const TreeFacts *f, Spot *x, Spot *y, bool ctas)
{
    for (uint32_t i = x->from.n; i-- > 0;) {
        TreeTerm t = x->from.t[i];
        TreePoly *p[] = {&x->from, &x->to, &y->from, &y->to};
        bool shared = t.n == 1 && (!ctas || tree_same(f, t.v[0]));
        for (int j = 0; j < 4 && shared; j++) shared = times_of(p[j], t.v[0]) == t.k;
        for (int way = 0; way < 2 && shared; way++) {
            uint32_t from = way ? x->of->op : y->of->op, to = way ? y->of->op : x->of->op, at = f->defined[t.v[0] - 1];
            for (uint32_t b = turning(f, x->of->ring, from, to, 0); b && shared; b = turning(f, x->of->ring, from, to, b)) shared = at < b || at > f->at[b - 1].end;
        }
        for (int j = 0; j < 4 && shared; j++) drop(p[j], t.v[0]);
    }
}

static void copy_spot(Spot *s, const Spot *x)
{
    s->of = x->of;
    tree_copy(&s->from, &x->from);
    tree_copy(&s->to, &x->to);
}

/* Different iterations of the loops around both lie in different windows: the widest first, and the others within one of its. */
static bool in_windows(const TreeFacts *f, const Spot *now, const Spot *before)
{
    enum { LOOPS = 8 };
    IrVal index[LOOPS];
    unsigned n = 0;
    uint32_t ring = now->of->ring, from = before->of->op, to = now->of->op;
    for (uint32_t a = turning(f, ring, from, to, 0); a; a = turning(f, ring, from, to, a)) {
        if (tree_trips(tree_op(f, a - 1)) == 0 || tree_trips(tree_op(f, a - 1)) == 1) continue;
        if (tree_op(f, a - 1)->dst == 0 || n == LOOPS) return false;
        index[n++] = tree_op(f, a - 1)->dst;
    }
    if (n == 0) return true;
    Spot x, y;
    copy_spot(&x, now);
    copy_spot(&y, before);
    while (n) {
        unsigned widest = 0;
        int64_t u, v;
        for (unsigned i = 1; i < n; i++)
            if (step_of(&x, index[i]) > step_of(&x, index[widest])) widest = i;
        int64_t step = step_of(&x, index[widest]);
        if (step != step_of(&y, index[widest]) || !keeps_to(f, &x, index[widest], step, &u) || !keeps_to(f, &y, index[widest], step, &v) || u != v) return false;
        index[widest] = index[--n];
    }
    return true;
}

/* ---- from several CTAs ---- */

static void spot_of(Spot *s, const TreeAccess *x)
{
    s->of = x;
    tree_copy(&s->from, x->from);
    tree_copy(&s->to, x->to);
}

static Interval ends_at(const TreeFacts *f, const TreeAccess *x, const TreePoly *p)
{
    return tree_poly_range(f, p, x->rank);
}

static bool ranges_apart(const TreeFacts *f, const Spot *x, const Spot *y)
{
    return is_before(ends_at(f, x->of, &x->to), ends_at(f, y->of, &y->from)) || is_before(ends_at(f, y->of, &y->to), ends_at(f, x->of, &x->from));
}

typedef struct Reach { /* in some turn */
    Interval from, to;
} Reach;
typedef VEC(Reach) Reaches;
enum { REACHES = 256 };

/* Where it is in those turns of the loops around it in which it goes to its CTA. False: in too many. */
static bool reaches(const TreeFacts *f, const TreeAccess *x, Reaches *all)
{
    const IrOp *op = tree_op(f, x->op);
    for (bool more = tree_turns(f, x->op, true); more; more = tree_turns(f, x->op, false)) {
        uint32_t to;
        bool known = tree_targets(f, op, x->rank, &to);
        if (tree_when(f, op, x->rank) == WHEN_NEVER || (known && !(to >> x->at & 1))) continue;
        vec_push(f->a, all, ((Reach){ends_at(f, x, x->from), ends_at(f, x, x->to)}));
    }
    return all->n <= REACHES;
}

/* Whatever the turns are in which two CTAs write there. */
static bool turns_apart(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    Reaches by_x = {NULL, 0, 0}, by_y = {NULL, 0, 0};
    bool apart = reaches(f, x, &by_x) && reaches(f, y, &by_y);
    for (uint32_t i = 0; i < by_x.n && apart; i++)
        for (uint32_t j = 0; j < by_y.n && apart; j++) apart = is_before(by_x.v[i].to, by_y.v[j].from) || is_before(by_y.v[j].to, by_x.v[i].from);
    return apart;
}

static bool conflict(const TreeFacts *f, const TreeAccess *i, const TreeAccess *j)
{
    if (i->buf != j->buf || (!i->write && !j->write) || (i->adds && i->adds == j->adds)) return false;
    if (f->k->bufs.v[i->buf].lanes && !(i->lanes[0] & j->lanes[0]) && !(i->lanes[1] & j->lanes[1])) return false;
    if (tree_in_order(f, i, j)) return false;
    if (i->whole || j->whole) return true;
    if (i->none || j->none || is_before(i->ends, j->begins) || is_before(j->ends, i->begins)) return false;
    Spot x, y;
    spot_of(&x, i);
    spot_of(&y, j);
    drop_shared(f, &x, &y, i->rank != j->rank);
    if (ranges_apart(f, &x, &y)) return false;
    if (i->rank != j->rank) return !turns_apart(f, i, j);
    bool earlier = j->op >= i->op && turning(f, i->ring, j->op, i->op, 0); /* y was done before x: in another iteration, then */
    return !(in_windows(f, &x, &y) && (earlier || apart_at_once(f, &x, &y)));
}

/* The walk asks for the same pairs again and again. */
bool tree_conflict(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    uint64_t **meets = &f->meets[x - f->access.v];
    uint32_t at = y->over;
    if (*meets == NULL) *meets = arena_array(f->a, uint64_t, f->ring[x->ring].words);
    if (!set_has(*meets, at)) {
        set_add(*meets, at);
        if (conflict(f, x, y)) set_add(*meets, at + 1);
    }
    return set_has(*meets, at + 1);
}

static bool is_number(const TreePoly *p, int64_t *k)
{
    *k = p->n ? p->t[0].k : 0;
    return !p->lost && (p->n == 0 || (p->n == 1 && p->t[0].n == 0));
}

/* Often it is the number that it was there. */
static const TreePoly *keep(const TreeFacts *f, const TreePoly *p, const TreePoly *before)
{
    int64_t k, last;
    if (before && is_number(p, &k) && is_number(before, &last) && k == last) return before;
    return memcpy(arena_alloc(f->a, tree_size(p)), p, tree_size(p));
}

void tree_place(const TreeFacts *f, TreeAccess *x, const TreePoly *from, const TreePoly *to)
{
    const TreeAccess *before = f->access.n ? &f->access.v[f->access.n - 1] : NULL;
    x->from = keep(f, from, before ? before->from : NULL);
    x->to = keep(f, to, before ? before->to : NULL);
    x->begins = ends_at(f, x, from);
    x->ends = ends_at(f, x, to);
    x->none = x->begins.hi >= x->ends.lo && not_before(f, from, to);
}

/* It ends behind where it begins, under its conditions or not: what is announced counts on that, too (bytes.c). */
bool tree_inside(const TreeFacts *f, const TreeAccess *a)
{
    const IrBuf *b = &f->k->bufs.v[a->buf];
    bool inside = !a->lost && (!a->whole || a->how == BY_COMMIT); /* what a descriptor leads to lies somewhere from there on */
    inside = inside && (a->whole || is_before(a->begins, a->ends) || not_before(f, a->to, a->from));
    return inside && a->begins.lo >= 0 && a->ends.hi <= (b->lanes ? 4 * (int64_t)tmem_width(b) : b->bytes);
}
