/* Places in a slot: what two accesses of one generation surely have not in common.
 *
 * Loops within a generation give an access many instances. Two of them lie apart if they do so whatever the indices are; or if, index
 * by index, each keeps to a window of its own, as wide as the step from iteration to iteration, and within one window, where all
 * indices are equal, the one ends before the other begins, or only one of them happens. */
#include "lower/verify/tree/state.h"

typedef struct TreeRange Range;
enum { FAR = 1 << 30 }; /* beyond every slot */

static bool is_loop(const IrOp *op)
{
    return op->op == IR_LOOP || op->op == IR_LANES || op->op == IR_REPEAT;
}

int64_t tree_trips(const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *n = ir_find(op, IRK_N);
    if (op->op == IR_LANES) return n->imm;
    if (op->op == IR_REPEAT || a->kind != IRA_IMM || b->kind != IRA_IMM || b->imm - a->imm > FAR) return TREE_TRIPS_OPEN;
    return b->imm > a->imm ? b->imm - a->imm : 0;
}

/* ---- how great values are ---- */

static int64_t clip(int64_t k)
{
    return k < -FAR ? -FAR : k > FAR ? FAR : k;
}

/* -FAR and FAR are no bounds, whatever is done with them. */
static Range plus(Range x, Range y)
{
    bool lo = x.lo > -FAR && y.lo > -FAR, hi = x.hi < FAR && y.hi < FAR;
    return (Range){lo ? clip(x.lo + y.lo) : -FAR, hi ? clip(x.hi + y.hi) : FAR};
}

static Range negative(Range x)
{
    return (Range){-x.hi, -x.lo};
}

static Range over(Range x, int64_t k)
{
    return (Range){x.lo > -FAR ? tree_floor_div(x.lo, k) : -FAR, x.hi < FAR ? tree_floor_div(x.hi, k) : FAR};
}

static Range times(Range r, int64_t k)
{
    int64_t a = clip(clip(r.lo) * clip(k)), b = clip(clip(r.hi) * clip(k));
    return a < b ? (Range){a, b} : (Range){b, a};
}

static Range modulo(Range x, int64_t k)
{
    return x.lo >= 0 && x.hi < k ? x : (Range){0, clip(k - 1)};
}

static Range combined(IrOpcode op, Range x, Range y)
{
    const Range any = {-FAR, FAR};
    bool number = y.lo == y.hi && y.lo > -FAR && y.lo < FAR;
    switch (op) {
    case IR_ADD: return plus(x, y);
    case IR_SUB: return plus(x, negative(y));
    case IR_MUL: return number ? times(x, y.lo) : any;
    case IR_DIV: return number && y.lo > 0 ? over(x, y.lo) : any;
    case IR_MOD: return number && y.lo > 0 ? modulo(x, y.lo) : any;
    case IR_MIN: return (Range){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
    case IR_MAX: return (Range){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
    case IR_SEL: return (Range){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
    default: return any;
    }
}

/* What a check of the launch says of the numbers that it compares, by expression. */
static void by_check(const LxPool *p, Lx cond, Range *r)
{
    const LxNode *n = &p->nodes.v[cond - 1];
    int64_t k, less = n->op == LX_LT;
    if (n->op == LX_LAND) {
        by_check(p, n->a, r);
        by_check(p, n->b, r);
    } else if (n->op == LX_LE || n->op == LX_LT) {
        Range *a = &r[n->a - 1], *b = &r[n->b - 1];
        if (lx_is_const(p, n->a, &k) && clip(k) + less > b->lo) b->lo = clip(k) + less;
        if (lx_is_const(p, n->b, &k) && clip(k) - less < a->hi) a->hi = clip(k) - less;
    }
}

/* Numbers of the launch, which are exact: a launch whose numbers leave 64 bits is refused. */
static Range *of_launch(const TreeFacts *f)
{
    static const uint8_t OPS[LX_OP_COUNT] = {[LX_ADD] = IR_ADD, [LX_SUB] = IR_SUB, [LX_MUL] = IR_MUL, [LX_DIV] = IR_DIV,
                                             [LX_MOD] = IR_MOD, [LX_MIN] = IR_MIN, [LX_MAX] = IR_MAX};
    const MfKernel *mf = &f->k->mf;
    uint32_t n = mf->lx.nodes.n;
    Range *r = arena_array(f->a, Range, n);
    for (uint32_t i = 0; i < n; i++) r[i] = (Range){-FAR, FAR};
    for (uint32_t i = 0; i < mf->checks.n; i++) by_check(&mf->lx, mf->checks.v[i].cond, r);
    for (uint32_t i = 0; i < n; i++) {
        const LxNode *x = &mf->lx.nodes.v[i];
        Range is = {-FAR, FAR};
        if (x->op == LX_CONST) is = (Range){clip(x->k), clip(x->k)};
        if (x->op == LX_SYM && mf->syms.v[x->k].kind == MF_SIZE) is.lo = 0;
        if (OPS[x->op]) is = combined((IrOpcode)OPS[x->op], r[x->a - 1], r[x->b - 1]);
        if (is.lo > r[i].lo) r[i].lo = is.lo;
        if (is.hi < r[i].hi) r[i].hi = is.hi;
    }
    return r;
}

/* The grid is made of whole clusters. */
static Range of_register(const TreeFacts *f, uint32_t reg)
{
    bool ctas = reg >= IRR_NCTAID_X && reg <= IRR_NCTAID_Z;
    return (Range){ctas ? f->k->mf.cluster[reg - IRR_NCTAID_X] : 0, FAR};
}

static Range range_of(const TreeFacts *f, const IrArg *arg)
{
    if (arg && arg->kind == IRA_IMM) return (Range){clip(arg->imm), clip(arg->imm)};
    return arg && arg->kind == IRA_VAL ? f->range[arg->id - 1] : (Range){-FAR, FAR};
}

/* Of an i32 of which one side alone is known nothing is: it may have wrapped round. */
static Range in_its_type(const IrOp *op, Range r)
{
    bool wraps = op->type == IR_I32 && (op->op == IR_ADD || op->op == IR_SUB || op->op == IR_MUL || op->op == IR_CVT || op->op == IR_PARAM);
    return wraps && (r.lo <= -FAR || r.hi >= FAR) ? (Range){-FAR, FAR} : r;
}

static Range of_op(const TreeFacts *f, const IrOp *op, const Range *launch)
{
    Range x = range_of(f, ir_find(op, IRK_A)), y = range_of(f, ir_find(op, IRK_B));
    switch ((IrOpcode)op->op) {
    case IR_SREG: return of_register(f, ir_find(op, IRK_REG)->id);
    case IR_LANES: return (Range){0, ir_find(op, IRK_N)->imm - 1};
    case IR_PARAM: return launch[ir_find(op, IRK_EXPR)->id - 1];
    case IR_LOOP: /* of one without turns any number is right */
        if (y.hi > -FAR && y.hi < FAR) y.hi--;
        return (Range){x.lo, y.hi > x.lo ? y.hi : x.lo};
    case IR_CVT: return x;
    default: return combined((IrOpcode)op->op, x, y);
    }
}

/* Values are defined before they are used. */
void tree_ranges(TreeFacts *f)
{
    const Range *launch = of_launch(f);
    const IrRole *bodies[] = {&f->k->init, f->tree};
    f->range = arena_array(f->a, Range, f->k->value_types.n);
    for (uint32_t v = 0; v < f->k->value_types.n; v++) f->range[v] = (Range){-FAR, FAR};
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < bodies[b]->ops.n; i++) {
            const IrOp *op = &bodies[b]->ops.v[i];
            if (op->dst) f->range[op->dst - 1] = in_its_type(op, of_op(f, op, launch));
        }
    }
}

static Range of_place(const TreeFacts *f, const TreePlace *p)
{
    Range r = {clip(p->at), clip(p->at)};
    for (unsigned i = 0; i < p->n; i++) r = plus(r, times(f->range[p->by[i].v - 1], p->by[i].k));
    return r;
}

int64_t tree_least(const TreeFacts *f, const TreePlace *p)
{
    return of_place(f, p).lo;
}

bool tree_not_zero(const TreeFacts *f, const IrArg *x)
{
    Range r = range_of(f, x);
    return r.lo > 0 || r.hi < 0;
}

/* ---- loops within the generation ---- */

/* The loop around the op, from 1; 0: none more. */
static uint32_t loop_around(const TreeFacts *f, uint32_t op)
{
    uint32_t b = f->around[op];
    while (b && !is_loop(tree_op(f, b - 1))) b = f->around[b - 1];
    return b;
}

/* Can op `to` meet the generation that op `from` has met in an earlier iteration of that loop, which is around both? Not if one surely
 * begins on the way: behind `from` in a block that is left at its end, or in front of `to` in one around it. A repeat is left before. */
static bool turns_within(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to, uint32_t loop)
{
    const TreeRing *r = &f->ring[ring];
    uint32_t end = f->end[loop - 1];
    for (uint32_t i = tree_not_before(r->begun.v, r->begun.n, loop); i < r->begun.n && r->begun.v[i] < end; i++) {
        uint32_t at = r->begun.v[i], in = f->around[at] - 1;
        bool left = in == loop - 1 || tree_op(f, in)->op != IR_REPEAT;
        if (at > from && in < from && left && from < f->end[in]) return false;
        if (at < to && to < f->end[in]) return false;
    }
    return true;
}

/* The innermost loop around both, from 1, outside of `inner`, that turns within a generation from the one to the other; 0: none more. */
static uint32_t turning(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to, uint32_t inner)
{
    uint32_t b = loop_around(f, inner ? inner - 1 : from);
    while (b && (b > to || f->end[b - 1] < to || !turns_within(f, ring, from, to, b))) b = loop_around(f, b - 1);
    return b;
}

static int term_of(const TreePlace *p, IrVal v)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->by[i].v == v) return (int)i;
    return -1;
}

/* ---- apart ---- */

static bool holds_not(const TreeFacts *f, IrVal a, IrVal b)
{
    const IrOp *x = a ? tree_definition(f, a) : NULL;
    return x && x->op == IR_NOT && ir_find(x, IRK_A)->kind == IRA_VAL && ir_find(x, IRK_A)->id == b;
}

/* Of the two conditions, and those that they are made of, two never hold together. */
static bool exclusive(const TreeFacts *f, IrVal a, IrVal b, int depth)
{
    if (a == 0 || b == 0 || depth == 0) return false;
    if (holds_not(f, a, b) || holds_not(f, b, a)) return true;
    for (int side = 0; side < 2; side++) {
        const IrOp *x = tree_definition(f, side ? b : a);
        if (x == NULL || x->op != IR_AND) continue;
        const IrArg *p[] = {ir_find(x, IRK_A), ir_find(x, IRK_B)};
        for (int i = 0; i < 2; i++)
            if (p[i]->kind == IRA_VAL && (side ? exclusive(f, a, p[i]->id, depth - 1) : exclusive(f, p[i]->id, b, depth - 1))) return true;
    }
    return false;
}

/* In the two branches of one `if`. */
static bool other_branch(const TreeFacts *f, uint32_t a, uint32_t b)
{
    for (uint32_t x = f->around[a]; x; x = f->around[x - 1])
        for (uint32_t y = f->around[b]; y; y = f->around[y - 1])
            if ((tree_op(f, x - 1)->op == IR_IF && f->end[x - 1] == y - 1) || (tree_op(f, y - 1)->op == IR_IF && f->end[y - 1] == x - 1)) return true;
    return false;
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
        holds[i] = p[i]->kind == IRA_IMM ? f->range[b - 1].hi <= p[i]->imm : value_not_below(f, p[i]->id, b, depth - 1);
    return op->op == IR_MIN ? holds[0] && holds[1] : holds[0] || holds[1];
}

/* Pairs of values of which the one is never below the other add nothing that is negative. */
static void drop_pairs(const TreeFacts *f, TreePlace *d)
{
    enum { DEPTH = 6 };
    for (unsigned i = 0; i < d->n; i++) {
        for (unsigned j = 0; j < d->n; j++) {
            if (d->by[i].k <= 0 || d->by[j].k != -d->by[i].k || !value_not_below(f, d->by[i].v, d->by[j].v, DEPTH)) continue;
            unsigned last = i > j ? i : j, first = i > j ? j : i;
            d->by[last] = d->by[--d->n];
            d->by[first] = d->by[--d->n];
            drop_pairs(f, d);
            return;
        }
    }
}

/* a - b, where all values are the same in both; false where that has too many parts. */
static bool minus(const TreePlace *a, const TreePlace *b, TreePlace *d)
{
    bool fits = true;
    *d = *a;
    d->at -= b->at;
    for (unsigned i = 0; i < b->n && fits; i++) fits = tree_add_term(d, b->by[i].v, -b->by[i].k);
    return fits;
}

static bool not_before(const TreeFacts *f, const TreePlace *a, const TreePlace *b)
{
    TreePlace d;
    if (!minus(a, b, &d)) return false;
    drop_pairs(f, &d);
    return of_place(f, &d).lo >= 0;
}

static bool is_empty(const TreeFacts *f, const TreeAccess *x)
{
    TreePlace d;
    return minus(&x->to, &x->from, &d) && of_place(f, &d).hi <= 0;
}

static void drop(TreePlace *p, IrVal v)
{
    int at = term_of(p, v);
    if (at >= 0) p->by[at] = p->by[--p->n];
}

static int64_t step_of(const TreeAccess *x, IrVal index)
{
    int from = term_of(&x->from, index), to = term_of(&x->to, index);
    return from >= 0 && to >= 0 && x->from.by[from].k == x->to.by[to].k ? x->from.by[from].k : 0;
}

/* Does it keep to the window of that many bytes that the index picks? */
static bool keeps_to(const TreeFacts *f, const TreeAccess *x, IrVal index, int64_t step, int64_t *window)
{
    TreePlace from = x->from, to = x->to;
    drop(&from, index);
    drop(&to, index);
    Range a = of_place(f, &from), b = of_place(f, &to);
    if (step <= 0 || a.lo <= -FAR || b.hi >= FAR || a.lo < 0) return false;
    *window = a.lo / step;
    return b.hi <= (*window + 1) * step;
}

/* Both in the same iteration of all loops that turn within the generation, and one of them in no others than the other. */
static bool apart_at_once(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    enum { DEPTH = 8 };
    if (other_branch(f, x->op, y->op) || exclusive(f, tree_op(f, x->op)->guard.pred, tree_op(f, y->op)->guard.pred, DEPTH)) return true;
    return not_before(f, &y->from, &x->to) || not_before(f, &x->from, &y->to);
}

/* A value that is the same in all iterations, so often in all four places: it shifts both alike. Where they are of different CTAs,
 * it is the same in those, too: they count the generation in step. */
static void drop_shared(const TreeFacts *f, TreeAccess *x, TreeAccess *y, bool ctas)
{
    for (unsigned i = x->from.n; i-- > 0;) {
        IrVal v = x->from.by[i].v;
        int64_t k = x->from.by[i].k;
        TreePlace *p[] = {&x->from, &x->to, &y->from, &y->to};
        bool shared = !ctas || tree_same(f, v);
        for (int j = 0; j < 4; j++) {
            int at = term_of(p[j], v);
            shared = shared && at >= 0 && p[j]->by[at].k == k;
        }
        for (int way = 0; way < 2; way++) {
            uint32_t from = way ? x->op : y->op, to = way ? y->op : x->op;
            for (uint32_t b = turning(f, x->ring, from, to, 0); b && shared; b = turning(f, x->ring, from, to, b))
                shared = f->defined[v - 1] < b || f->defined[v - 1] > f->end[b - 1];
        }
        for (int j = 0; j < 4 && shared; j++) drop(p[j], v);
    }
}

/* Different iterations of the loops around both lie in different windows: the widest first, and the others within one of its. */
static bool in_windows(const TreeFacts *f, TreeAccess x, TreeAccess y)
{
    enum { LOOPS = 8 };
    IrVal index[LOOPS];
    unsigned n = 0;
    for (uint32_t a = turning(f, x.ring, y.op, x.op, 0); a; a = turning(f, x.ring, y.op, x.op, a)) {
        if (tree_trips(tree_op(f, a - 1)) == 0 || tree_trips(tree_op(f, a - 1)) == 1) continue;
        if (tree_op(f, a - 1)->dst == 0 || n == LOOPS) return false;
        index[n++] = tree_op(f, a - 1)->dst;
    }
    while (n) {
        unsigned widest = 0;
        int64_t u, v;
        for (unsigned i = 1; i < n; i++)
            if (step_of(&x, index[i]) > step_of(&x, index[widest])) widest = i;
        int64_t step = step_of(&x, index[widest]);
        if (step == 0 || step != step_of(&y, index[widest])) return false;
        if (!keeps_to(f, &x, index[widest], step, &u) || !keeps_to(f, &y, index[widest], step, &v) || u != v) return false;
        TreePlace *p[] = {&x.from, &x.to, &y.from, &y.to};
        for (int i = 0; i < 4; i++) drop(p[i], index[widest]);
        index[widest] = index[--n];
    }
    return true;
}

/* ---- from several CTAs ---- */

static Range at_rank(const TreeFacts *f, const TreePlace *p, uint32_t rank)
{
    TreePlace rest = {.at = p->at};
    for (unsigned i = 0; i < p->n; i++) {
        int64_t v;
        if (tree_value(f, p->by[i].v, rank, &v)) rest.at += v * p->by[i].k;
        else tree_add_term(&rest, p->by[i].v, p->by[i].k);
    }
    return of_place(f, &rest);
}

/* What two CTAs write to one of them, or to a third, lies apart. */
static bool ctas_apart(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    uint32_t n = tree_ctas(f->k);
    const IrOp *p = tree_op(f, x->op), *q = tree_op(f, y->op);
    for (uint32_t s = 0; s < n; s++) {
        for (uint32_t t = 0; t < n; t++) {
            uint32_t to_x, to_y;
            if (s == t || tree_when(f, p, s) == WHEN_NEVER || tree_when(f, q, t) == WHEN_NEVER) continue;
            if (!tree_targets(f, p, s, &to_x) || !tree_targets(f, q, t, &to_y)) return false;
            if (!(to_x & to_y)) continue;
            if (x->whole || y->whole) return false;
            if (at_rank(f, &x->to, s).hi > at_rank(f, &y->from, t).lo && at_rank(f, &y->to, t).hi > at_rank(f, &x->from, s).lo) return false;
        }
    }
    return true;
}

typedef struct Instance { /* of an access: what the CTA of that rank writes in one turn, and where */
    uint32_t rank, to;
    Range at;
} Instance;

/* The same, turn by turn of the loops around whose trips are numbers. */
static bool instances_apart(const TreeFacts *f, const TreeAccess *x)
{
    enum { INSTANCES = 2048 };
    Instance *v = arena_array(f->a, Instance, INSTANCES);
    uint32_t n = 0;
    bool known = true;
    for (bool more = tree_turns(f, x->op, true); more; more = tree_turns(f, x->op, false)) {
        for (uint32_t s = 0; s < tree_ctas(f->k) && known; s++) {
            Instance i = {.rank = s, .at = {at_rank(f, &x->from, s).lo, at_rank(f, &x->to, s).hi}};
            if (tree_when(f, tree_op(f, x->op), s) == WHEN_NEVER) continue;
            known = n < INSTANCES && !x->whole && tree_targets(f, tree_op(f, x->op), s, &i.to);
            for (uint32_t k = 0; k < n && known; k++) known = v[k].rank == s || !(v[k].to & i.to) || v[k].at.hi <= i.at.lo || i.at.hi <= v[k].at.lo;
            if (known) v[n++] = i;
        }
    }
    return known;
}

bool tree_apart_of_ctas(const TreeFacts *f, const TreeAccess *a)
{
    return tree_ctas(f->k) == 1 || a->how != TO_EVENT || a->adds || ctas_apart(f, a, a) || instances_apart(f, a);
}

/* One CTA never writes both to one of them. */
static bool other_targets(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    for (uint32_t s = 0; s < tree_ctas(f->k); s++) {
        uint32_t to_x, to_y;
        if (tree_when(f, tree_op(f, x->op), s) == WHEN_NEVER || tree_when(f, tree_op(f, y->op), s) == WHEN_NEVER) continue;
        if (!tree_targets(f, tree_op(f, x->op), s, &to_x) || !tree_targets(f, tree_op(f, y->op), s, &to_y) || to_x & to_y) return false;
    }
    return x->op != y->op;
}

/* What a CTA writes by the one lies apart from what it writes by the other, in each of them. */
static bool apart_by_rank(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    bool apart = !x->whole && !y->whole;
    for (uint32_t s = 0; s < tree_ctas(f->k) && apart; s++)
        apart = at_rank(f, &x->to, s).hi <= at_rank(f, &y->from, s).lo || at_rank(f, &y->to, s).hi <= at_rank(f, &x->from, s).lo;
    return apart;
}

static bool conflict(const TreeFacts *f, const TreeAccess *i, const TreeAccess *j)
{
    TreeAccess x = *i, y = *j;
    if (x.buf != y.buf || (!x.write && !y.write) || (x.adds && x.adds == y.adds)) return false;
    if (tree_ctas(f->k) > 1 && x.how == TO_EVENT && y.how == TO_EVENT) {
        drop_shared(f, &x, &y, true);
        if (!ctas_apart(f, &x, &y)) return true;
        if (other_targets(f, &x, &y) || (i != j && apart_by_rank(f, &x, &y))) return false;
    }
    if (x.whole || y.whole) return true;
    if (is_empty(f, &x) || is_empty(f, &y)) return false;
    drop_shared(f, &x, &y, false);
    if (of_place(f, &x.to).hi <= of_place(f, &y.from).lo || of_place(f, &y.to).hi <= of_place(f, &x.from).lo) return false;
    bool earlier = y.op >= x.op && turning(f, x.ring, y.op, x.op, 0); /* y was done before x: in another iteration, then */
    return !(in_windows(f, x, y) && (earlier || apart_at_once(f, &x, &y)));
}

/* The walk asks for the same pairs again and again. */
bool tree_conflict(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    uint64_t **meets = &f->meets[x - f->access.v];
    uint32_t at = over_bit(y);
    if (*meets == NULL) *meets = arena_array(f->a, uint64_t, f->ring[x->ring].words);
    if (!set_has(*meets, at)) {
        set_add(*meets, at);
        if (conflict(f, x, y)) set_add(*meets, at + 1);
    }
    return set_has(*meets, at + 1);
}

bool tree_inside(const TreeFacts *f, const TreeAccess *a)
{
    bool inside = !a->lost && (!a->whole || a->how == BY_COMMIT); /* where the tensor core's descriptor leads is not asked here */
    for (uint32_t s = 0; s < tree_ctas(f->k) && inside; s++) {
        if (tree_when(f, tree_op(f, a->op), s) == WHEN_NEVER) continue;
        inside = at_rank(f, &a->from, s).lo >= 0 && at_rank(f, &a->to, s).hi <= f->k->bufs.v[a->buf].bytes;
    }
    return inside;
}
