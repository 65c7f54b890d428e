/* What values are: polynomials over numbers of the launch, indices, conditions, which are 1 where they hold, and what is not known.
 *
 * Of a value either holds in every CTA, or in that of a rank, where the index of a loop whose turns are looked at one by one is a
 * number, too (tree_turns). */
#include "lower/verify/tree/facts.h"

enum { DEPTH = 64 };
static const Interval BIT = {0, 1};

const IrOp *tree_definition(const TreeFacts *f, IrVal v)
{
    if (f->defined[v - 1]) return tree_op(f, f->defined[v - 1] - 1);
    return f->in_init[v - 1] ? &f->k->init.ops.v[f->in_init[v - 1] - 1] : NULL;
}

IrVal tree_uncast(const TreeFacts *f, IrVal v)
{
    const IrOp *op = tree_definition(f, v);
    while (op && op->op == IR_CVT) {
        v = ir_find(op, IRK_A)->id;
        op = tree_definition(f, v);
    }
    return v;
}

static TreeSeen operand(const TreeFacts *f, TreeView w, const IrArg *arg, int depth);

static Interval range(const TreeFacts *f, const IrArg *arg, uint32_t rank, int depth)
{
    return operand(f, (TreeView){rank, UINT32_MAX, LOOK_RANGE}, arg, depth).range;
}

/* ---- what is not taken apart ---- */

static Interval of_launch(const TreeFacts *f, Lx x)
{
    if (f->asked->launch == NULL) f->asked->launch = ir_launch_ranges(f->a, &f->k->mf);
    return f->asked->launch[x - 1];
}

/* The grid is made of whole clusters, and what is dealt has no more CTAs than `grid` says. */
static Interval of_register(const TreeFacts *f, uint32_t reg, uint32_t rank)
{
    const uint32_t *n = f->k->mf.cluster;
    uint32_t d = reg % 3, part = d == 0 ? rank % n[0] : d == 1 ? rank / n[0] % n[1] : rank / n[0] / n[1]; /* x, y, z follow one another */
    bool all = rank == f->ctas;
    if (reg == IRR_CLUSTER_NCTARANK) return interval_at(f->ctas);
    if (reg == IRR_CLUSTER_CTARANK) return all ? (Interval){0, f->ctas - 1} : interval_at(rank);
    if (reg >= IRR_CLUSTER_NCTAID_X) return interval_at(n[d]);
    if (reg >= IRR_CLUSTER_CTAID_X) return all ? (Interval){0, n[d] - 1} : interval_at(part);
    int64_t ctas = of_launch(f, f->k->mf.grid[d]).hi, most = ctas < n[d] ? n[d] : ctas < INT32_MAX ? ctas : INT32_MAX;
    return reg >= IRR_NCTAID_X ? (Interval){n[d], most} : (Interval){0, most - 1};
}

/* What x gives to the variable: what it has is nothing new. */
static void give(const TreeFacts *f, uint32_t var, const IrArg *x, Interval *r, int depth)
{
    const IrOp *op = x->kind == IRA_VAL ? tree_definition(f, x->id) : NULL;
    if (op && op->op == IR_GET && ir_find(op, IRK_VAR)->id == var) return;
    if (op && depth && op->op == IR_SEL) {
        give(f, var, ir_find(op, IRK_A), r, depth - 1);
        give(f, var, ir_find(op, IRK_B), r, depth - 1);
    } else {
        *r = interval_hull(*r, range(f, x, f->ctas, depth));
    }
}

/* Anywhere, in any turn. */
static Interval of_variable(const TreeFacts *f, uint32_t var, int depth)
{
    Interval r = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < f->sets[var].n; i++) give(f, var, f->sets[var].v[i], &r, depth);
    return r.lo <= r.hi ? r : UNBOUNDED;
}

/* Of an i32 that may have wrapped round nothing is known; sums and products of such are what they would be without, but for multiples of
 * 2^32: so they are where they are shown to lie within a slot. */
static bool may_wrap(const IrOp *op, Interval r)
{
    bool wraps = op->op == IR_ADD || op->op == IR_SUB || op->op == IR_MUL || op->op == IR_SHL || op->op == IR_CVT || op->op == IR_PARAM;
    return wraps && op->type == IR_I32 && (r.lo < INT32_MIN || r.hi > INT32_MAX);
}

/* Its own atom: of the CTA, where it is not the same in all; of either access, where it is not the same for both. */
static Atom *atom_of(const TreeFacts *f, TreeView w, IrVal v, bool *moves)
{
    *moves = f->defined[v - 1] > w.since;
    Atom **all = &f->asked->atom[f->ctas == 1 || tree_same(f, v) ? f->ctas : w.rank][*moves];
    if (*all == NULL) *all = arena_array(f->a, Atom, f->values);
    return &(*all)[v - 1];
}

/* Between what it is in every CTA, in any turn. */
static Poly unknown(const TreeFacts *f, TreeView w, const IrArg *arg, int depth)
{
    bool moves, turning = f->asked->turning;
    Atom *x = atom_of(f, w, arg->id, &moves);
    if (*x) return poly_atom(f->domain, *x);
    f->asked->turning = false;
    Interval r = range(f, arg, f->ctas, depth);
    f->asked->turning = turning;
    *x = domain_opaque(f->domain, "a value", r.lo, r.hi, 1, 0, moves ? DEP_LOOP : DEP_LAUNCH);
    return poly_atom(f->domain, *x);
}

/* ---- conditions ---- */

/* p where the condition q holds, 0 elsewhere: a condition counts once in a product. */
static Poly guarded(Domain *d, Poly q, Poly p)
{
    Poly sum = poly_const(d, 0);
    if (q.bad) return q;
    for (uint32_t i = 0; i < q.n; i++) {
        Poly x = p;
        for (uint8_t k = 0; k < q.terms[i].natoms; k++)
            x = poly_mul(d, poly_atom(d, q.terms[i].atoms[k]), domain_with(d, x, q.terms[i].atoms[k], poly_const(d, 1)));
        sum = poly_add(d, sum, poly_mul(d, poly_const(d, q.terms[i].coef), x));
    }
    return sum;
}

static TreeSeen compared(uint32_t rel, Interval far)
{
    bool never[] = {far.lo > 0 || far.hi < 0, interval_is(far) && far.lo == 0, far.lo >= 0, far.lo > 0, far.hi <= 0, far.hi < 0};
    bool always[] = {never[1], never[0], far.hi < 0, far.hi <= 0, far.lo > 0, far.lo >= 0};
    return (TreeSeen){.is = POLY_UNKNOWN, .range = {always[rel], !never[rel]}};
}

static TreeSeen picked(Domain *d, TreeSeen when, TreeSeen x, TreeSeen y, TreeLook look)
{
    if (interval_is(when.range)) return when.range.lo ? x : y;
    Poly p = look != LOOK_SUMS ? POLY_UNKNOWN : poly_add(d, guarded(d, when.is, x.is), poly_sub(d, y.is, guarded(d, when.is, y.is)));
    return (TreeSeen){.is = p, .range = interval_hull(x.range, y.range)};
}

/* ---- ops ---- */

static TreeSeen of_index(const TreeFacts *f, TreeView w, const IrOp *op, int depth)
{
    Domain *d = f->domain;
    const int64_t *l = op->op == IR_LOOP ? &f->loops.v[f->at[f->defined[op->dst - 1] - 1].loop - 1] : NULL;
    if (l && *l != INT64_MIN && f->asked->turning) return (TreeSeen){.is = poly_const(d, *l), .range = interval_at(*l)};
    const IrArg none = {.kind = IRA_IMM}, n = {.kind = IRA_IMM, .imm = l ? 0 : ir_find(op, IRK_N)->imm};
    const TreeSeen from = operand(f, w, l ? ir_find(op, IRK_A) : &none, depth), to = operand(f, w, l ? ir_find(op, IRK_B) : &n, depth);
    Interval last = interval_add(to.range, interval_at(-1)); /* of one without turns any number is right */
    TreeSeen r = {.is = POLY_UNKNOWN, .range = {from.range.lo, last.hi > from.range.lo ? last.hi : from.range.lo}};
    bool moves;
    int64_t k;
    if (w.look == LOOK_RANGE) return r;
    Atom *x = atom_of(f, w, op->dst, &moves);
    if (*x == 0) {
        Poly turns = poly_sub(d, to.is, from.is);
        if (poly_is_const(turns, &k) && k < 1) turns = poly_const(d, 1);
        *x = domain_index(d, "an index", from.is, turns, moves ? DEP_LOOP : DEP_LAUNCH);
    }
    r.is = poly_add(d, from.is, poly_atom(d, *x));
    return r;
}

/* 1 - x, x y, x + y - x y: conditions are 0 or 1. */
static Poly of_conditions(Domain *d, const IrOp *op, Poly x, Poly y)
{
    if (op->op == IR_NOT) return poly_sub(d, poly_const(d, 1), x);
    if (op->op == IR_XOR) return POLY_UNKNOWN;
    Poly both = guarded(d, x, y);
    return op->op == IR_AND ? both : poly_sub(d, poly_add(d, x, y), both);
}

static TreeSeen of_op(const TreeFacts *f, TreeView w, const IrOp *op, int depth)
{
    TreeSeen r = {.is = POLY_UNKNOWN, .range = op->type == IR_PRED ? BIT : UNBOUNDED};
    if (op->op == IR_LOOP || op->op == IR_LANES) return of_index(f, w, op, depth);
    if (op->op == IR_SREG) r.range = of_register(f, ir_find(op, IRK_REG)->id, w.rank);
    if (op->op == IR_PARAM) r.range = of_launch(f, ir_find(op, IRK_EXPR)->id);
    if (op->op == IR_LOADS) r.range = interval_hull(ir_range_of_type((ElemType)f->k->mf.tensors.v[ir_find(op, IRK_TENSOR)->id].type), interval_at(-1));
    if (op->op == IR_GET && w.look == LOOK_RANGE) r.range = of_variable(f, ir_find(op, IRK_VAR)->id, depth);
    if (op->op != IR_CONST && (op->op < IR_ADD || op->op > IR_CVT)) return r;
    const IrArg *b = ir_find(op, IRK_B);
    const IrArg *a = ir_find(op, IRK_A);
    TreeSeen x = operand(f, w, a, depth), y = b ? operand(f, w, b, depth) : x;
    if (op->op == IR_CONST || op->op == IR_CVT) return x;
    if (op->op == IR_CMP) return compared(ir_find(op, IRK_REL)->id, interval_add(x.range, interval_neg(y.range)));
    if (op->op == IR_SEL) return picked(f->domain, operand(f, w, ir_find(op, IRK_COND), depth), x, y, w.look);
    if (op->op != IR_NOT) r.range = interval_of((LxOp)IR_LX_OPS[op->op], x.range, y.range);
    else r.range = interval_add(interval_at(op->type == IR_PRED ? 1 : -1), interval_neg(x.range));
    if (w.look == LOOK_RANGE) return r;
    bool ring = op->op == IR_ADD || op->op == IR_SUB || op->op == IR_MUL || op->op == IR_SHL;
    r.wraps = ring && (x.wraps || y.wraps);
    if (!ring && x.wraps) x.is = unknown(f, w, a, depth); /* what it is after all */
    if (!ring && y.wraps) y.is = b ? unknown(f, w, b, depth) : x.is;
    if (op->type == IR_PRED) r.is = of_conditions(f->domain, op, x.is, y.is);
    else if (op->op == IR_NOT) r.is = poly_sub(f->domain, poly_const(f->domain, -1), x.is);
    else if (!poly_op(f->domain, (LxOp)IR_LX_OPS[op->op], x.is, y.is, &r.is)) r.is = POLY_UNKNOWN;
    return r;
}

/* What was found where it is looked at from there. */
static TreeSeen *seen(const TreeFacts *f, TreeView w)
{
    TreeAsked *q = f->asked;
    for (uint32_t i = 0; i < q->seen.n; i++)
        if (q->seen.v[i].at.rank == w.rank && q->seen.v[i].at.since == w.since && q->seen.v[i].at.look == w.look) return q->seen.v[i].value;
    vec_push(f->a, &q->seen, ((TreeValues){w, arena_array(f->a, TreeSeen, f->values)}));
    return q->seen.v[q->seen.n - 1].value;
}

/* What was found holds until the next turn. While it is looked for it may be anything: a variable may be given what is made of it. */
static TreeSeen operand(const TreeFacts *f, TreeView w, const IrArg *arg, int depth)
{
    bool form = w.look != LOOK_RANGE;
    if (arg->kind == IRA_IMM) return (TreeSeen){.is = form ? poly_const(f->domain, arg->imm) : POLY_UNKNOWN, .range = interval_at(arg->imm)};
    if (arg->kind != IRA_VAL) return (TreeSeen){.is = POLY_UNKNOWN, .range = UNBOUNDED};
    bool same = form && tree_same(f, arg->id);
    uint32_t rank = same ? 0 : w.rank; /* what it is in one CTA, then, it is in all */
    if (f->ctas == 1 || same) w.rank = f->ctas; /* a CTA that is alone is any */
    if (f->defined[arg->id - 1] <= w.since) w.since = UINT32_MAX;
    TreeSeen *s = &seen(f, w)[arg->id - 1], r = {.is = POLY_UNKNOWN, .range = UNBOUNDED};
    const IrOp *op = tree_definition(f, arg->id);
    uint32_t turn = f->asked->turning ? f->asked->turns + 1 : 1;
    if (s->turn == turn) return *s;
    Interval is = form ? operand(f, (TreeView){rank, UINT32_MAX, LOOK_RANGE}, arg, depth).range : UNBOUNDED;
    *s = r, s->turn = turn;
    if (op && depth) r = of_op(f, w, op, depth - 1);
    r.range = interval_meet(r.range, is);
    r.wraps |= op && may_wrap(op, r.range);
    if (form && r.wraps && op->type == IR_I32) { /* of 32 bits, and equal but for multiples of 2^32: the same */
        Interval as = domain_interval(f->domain, r.is);
        r.wraps = r.is.bad || as.lo < INT32_MIN || as.hi > INT32_MAX;
        r.range = interval_meet(r.range, as);
    }
    if (r.wraps) r.range = UNBOUNDED;
    if (form && interval_is(r.range)) r.is = poly_const(f->domain, r.range.lo);
    if (form && r.is.bad) r.is = unknown(f, w, arg, depth), r.wraps = false;
    r.turn = turn;
    return *s = r;
}

Atom tree_index(const TreeFacts *f, IrVal v, TreeView w)
{
    bool moves;
    operand(f, w, &(IrArg){.kind = IRA_VAL, .id = v}, DEPTH);
    return *atom_of(f, w, v, &moves);
}

Poly tree_value(const TreeFacts *f, TreeView w, const IrArg *arg)
{
    return operand(f, w, arg, DEPTH).is;
}

/* Of what is nothing where it has no bytes "it has bytes" always holds. A condition is taken apart for that alone: it may have more parts
 * than a polynomial, and is as one, then, what it is wherever it stands. */
static Poly where(const TreeFacts *f, Poly p, const IrArg *pred, IrVal bytes, TreeView w, int depth)
{
    const IrOp *op = pred->kind == IRA_VAL ? tree_definition(f, pred->id) : NULL;
    const IrArg *a = op ? ir_find(op, IRK_A) : NULL, *b = op ? ir_find(op, IRK_B) : NULL;
    if (op && bytes && op->op == IR_CMP && ir_find(op, IRK_REL)->id == IRL_GT && a->kind == IRA_VAL && a->id == bytes && b->kind == IRA_IMM && b->imm == 0) return p;
    if (op && bytes && depth && op->op == IR_AND) return where(f, where(f, p, a, bytes, w, depth - 1), b, bytes, w, depth - 1);
    return guarded(f->domain, operand(f, w, pred, depth).is, p);
}

Poly tree_where(const TreeFacts *f, Poly p, IrVal pred, const IrArg *bytes, uint32_t rank)
{
    if (pred == 0) return p;
    return where(f, p, &(IrArg){.kind = IRA_VAL, .id = pred}, bytes && bytes->kind == IRA_VAL ? bytes->id : 0, tree_at(rank), DEPTH);
}

/* ---- numbers ---- */

Interval tree_range(const TreeFacts *f, const IrArg *x, uint32_t rank)
{
    return range(f, x, rank, DEPTH);
}

bool tree_number(const TreeFacts *f, const IrArg *arg, uint32_t rank, int64_t *out)
{
    Interval r = range(f, arg, rank, DEPTH);
    *out = r.lo;
    return interval_is(r);
}

TreeWhen tree_when(const TreeFacts *f, const IrOp *op, uint32_t rank)
{
    if (op->guard.pred == 0) return WHEN_ALWAYS;
    Interval r = range(f, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred}, rank, DEPTH);
    return r.hi <= 0 ? WHEN_NEVER : r.lo > 0 ? WHEN_ALWAYS : WHEN_OPEN;
}
