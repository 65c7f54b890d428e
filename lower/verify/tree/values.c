/* What values are: ranges, of one number where a CTA has one number; and polynomials, sums of products of values and conditions.
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
    while (op && op->op == IR_CVT && f->k->value_types.v[ir_find(op, IRK_A)->id - 1] != IR_PRED) {
        v = ir_find(op, IRK_A)->id;
        op = tree_definition(f, v);
    }
    return v;
}

/* ---- ranges ---- */

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

static Interval range_of(const TreeFacts *f, IrVal v, uint32_t rank, int depth);

static Interval operand(const TreeFacts *f, const IrArg *arg, uint32_t rank, int depth)
{
    if (arg && arg->kind == IRA_IMM) return interval_at(arg->imm);
    return arg && arg->kind == IRA_VAL ? range_of(f, arg->id, rank, depth) : UNBOUNDED;
}

static Interval compared(uint32_t rel, Interval x, Interval y)
{
    bool holds[] = {x.lo == y.lo, x.lo != y.lo, x.lo < y.lo, x.lo <= y.lo, x.lo > y.lo, x.lo >= y.lo};
    return interval_is(x) && interval_is(y) ? interval_at(holds[rel]) : BIT;
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
        *r = interval_hull(*r, operand(f, x, f->ctas, depth));
    }
}

/* Anywhere, in any turn. */
static Interval of_variable(const TreeFacts *f, uint32_t var, int depth)
{
    Interval r = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < f->sets[var].n; i++) give(f, var, f->sets[var].v[i], &r, depth);
    return r.lo <= r.hi ? r : UNBOUNDED;
}

static Interval of_op(const TreeFacts *f, const IrOp *op, uint32_t rank, int depth)
{
    if (op->op == IR_SREG) return of_register(f, ir_find(op, IRK_REG)->id, rank);
    if (op->op == IR_PARAM) return of_launch(f, ir_find(op, IRK_EXPR)->id);
    if (op->op == IR_GET) return of_variable(f, ir_find(op, IRK_VAR)->id, depth);
    if (op->op == IR_LANES) return (Interval){0, ir_find(op, IRK_N)->imm - 1};
    if (op->op != IR_LOOP && op->op != IR_CONST && (op->op < IR_ADD || op->op > IR_CVT)) return UNBOUNDED;
    Interval x = operand(f, ir_find(op, IRK_A), rank, depth), y = operand(f, ir_find(op, IRK_B), rank, depth), when;
    switch ((IrOpcode)op->op) {
    case IR_LOOP: /* of one without turns any number is right */
        y = interval_add(y, interval_at(-1));
        return (Interval){x.lo, y.hi > x.lo ? y.hi : x.lo};
    case IR_CONST:
    case IR_CVT: return x;
    case IR_CMP: return compared(ir_find(op, IRK_REL)->id, x, y);
    case IR_NOT: return op->type == IR_PRED ? interval_add(interval_at(1), interval_neg(x)) : interval_is(x) ? interval_at(~x.lo) : UNBOUNDED;
    case IR_SEL:
        when = operand(f, ir_find(op, IRK_COND), rank, depth);
        return interval_is(when) ? (when.lo ? x : y) : interval_hull(x, y);
    default: break;
    }
    if ((op->op == IR_SHL || op->op == IR_SHR) && (y.lo < 0 || y.hi > 31)) return UNBOUNDED;
    if (op->type == IR_PRED) return op->op == IR_AND ? interval_of(LX_MIN, x, y) : op->op == IR_OR ? interval_of(LX_MAX, x, y) : BIT;
    return interval_of((LxOp)IR_LX_OPS[op->op], x, y);
}

/* Of an i32 that may have wrapped round nothing is known. */
static Interval in_its_type(const IrOp *op, Interval r)
{
    bool wraps = op->op == IR_ADD || op->op == IR_SUB || op->op == IR_MUL || op->op == IR_SHL || op->op == IR_CVT || op->op == IR_PARAM;
    if (op->type == IR_PRED) return (Interval){r.lo > 0, r.hi > 0};
    return wraps && op->type == IR_I32 && (r.lo < INT32_MIN || r.hi > INT32_MAX) ? UNBOUNDED : r;
}

/* What was found holds until the next turn. While it is looked for it may be anything: a variable may be given what is made of it. */
static Interval range_of(const TreeFacts *f, IrVal v, uint32_t rank, int depth)
{
    if (f->ctas == 1) rank = f->asked->turning ? 0 : f->ctas; /* a CTA that is alone is any */
    TreeNumber **numbers = &f->asked->number[rank];
    if (*numbers == NULL) *numbers = arena_array(f->a, TreeNumber, f->values);
    TreeNumber *n = &(*numbers)[v - 1];
    uint32_t turn = rank == f->ctas ? 1 : f->asked->turns + 1, at = f->defined[v - 1];
    if (n->turn == turn) return n->is;
    const IrOp *op = tree_definition(f, v);
    const TreeLoop *l = at && f->at[at - 1].loop ? &f->loops.v[f->at[at - 1].loop - 1] : NULL;
    *n = (TreeNumber){turn, UNBOUNDED};
    Interval r = UNBOUNDED;
    if (l && l->turning && rank < f->ctas) r = interval_at(l->turn);
    else if (op && depth) r = in_its_type(op, of_op(f, op, rank, depth - 1));
    *n = (TreeNumber){turn, r}; /* of a CTA that is alone it may have been asked as that of any */
    return r;
}

Interval tree_range(const TreeFacts *f, const IrArg *x, uint32_t rank)
{
    return operand(f, x, rank, DEPTH);
}

bool tree_number(const TreeFacts *f, const IrArg *arg, uint32_t rank, int64_t *out)
{
    Interval r = operand(f, arg, rank, DEPTH);
    *out = r.lo;
    return interval_is(r);
}

TreeWhen tree_when(const TreeFacts *f, const IrOp *op, uint32_t rank)
{
    if (op->guard.pred == 0) return WHEN_ALWAYS;
    Interval r = range_of(f, op->guard.pred, rank, DEPTH);
    return r.hi <= 0 ? WHEN_NEVER : r.lo > 0 ? WHEN_ALWAYS : WHEN_OPEN;
}

/* ---- polynomials ---- */

/* The value as that CTA has it: those that are not the same in all are numbered anew. */
static IrVal named(const TreeFacts *f, IrVal v, uint32_t rank)
{
    return rank == f->ctas || f->ctas == 1 || tree_same(f, v) ? v : v + (rank + 1) * f->values;
}

IrVal tree_plain(const TreeFacts *f, IrVal v)
{
    return (v - 1) % f->values + 1;
}

static void add_term(TreePoly *p, const TreeTerm *t, int64_t k)
{
    uint32_t i = 0;
    while (i < p->n && (p->t[i].n != t->n || memcmp(p->t[i].v, t->v, t->n * sizeof *t->v) != 0)) i++;
    if (i == TREE_TERMS || __builtin_mul_overflow(t->k, k, &k)) {
        p->lost = true;
        return;
    }
    if (i == p->n) p->t[p->n++] = *t, p->t[i].k = 0;
    p->lost |= __builtin_add_overflow(p->t[i].k, k, &p->t[i].k);
    if (p->t[i].k == 0) p->t[i] = p->t[--p->n];
}

void tree_poly_add(TreePoly *p, const TreePoly *q, int64_t k)
{
    p->lost |= q->lost;
    for (uint32_t i = 0; i < q->n; i++) add_term(p, &q->t[i], k);
}

bool tree_multiple(const TreePoly *p, int64_t k)
{
    bool all = !p->lost;
    for (uint32_t i = 0; i < p->n; i++) all = all && p->t[i].k % k == 0;
    return all;
}

const TreePoly TREE_ONE = {.n = 1, .t = {{.k = 1}}};

/* p times a value; a condition counts once in a product. */
static void times_value(const TreeFacts *f, TreePoly *r, const TreePoly *p, IrVal v)
{
    tree_poly(r, 0);
    r->lost = p->lost;
    for (uint32_t i = 0; i < p->n; i++) {
        TreeTerm t = p->t[i];
        uint32_t at = 0;
        while (at < t.n && t.v[at] < v) at++;
        if (at < t.n && t.v[at] == v) {
            r->lost |= f->k->value_types.v[tree_plain(f, v) - 1] != IR_PRED;
        } else if (t.n == TREE_FACTORS) {
            r->lost = true;
        } else {
            memmove(&t.v[at + 1], &t.v[at], (t.n++ - at) * sizeof *t.v);
            t.v[at] = v;
        }
        add_term(r, &t, 1);
    }
}

/* p where the condition holds, 0 elsewhere. Of what is nothing where it has no bytes "it has bytes" always holds. */
static void where(const TreeFacts *f, TreePoly *r, const TreePoly *p, const IrArg *pred, IrVal bytes, uint32_t rank, int depth)
{
    int64_t k;
    TreePoly q;
    const IrOp *op = pred->kind == IRA_VAL ? tree_definition(f, pred->id) : NULL;
    const IrArg *a = op ? ir_find(op, IRK_A) : NULL, *b = op ? ir_find(op, IRK_B) : NULL;
    bool has_bytes = op && bytes && op->op == IR_CMP && ir_find(op, IRK_REL)->id == IRL_GT && a->kind == IRA_VAL && a->id == bytes && b->kind == IRA_IMM && b->imm == 0;
    if (tree_number(f, pred, rank, &k)) {
        tree_copy(r, p);
        if (k == 0) r->n = 0;
    } else if (has_bytes) {
        tree_copy(r, p);
    } else if (op && depth && op->op == IR_AND) {
        where(f, &q, p, a, bytes, rank, depth - 1);
        where(f, r, &q, b, bytes, rank, depth - 1);
    } else if (op && depth && op->op == IR_NOT) {
        where(f, &q, p, a, 0, rank, depth - 1);
        tree_copy(r, p);
        tree_poly_add(r, &q, -1);
    } else {
        times_value(f, r, p, named(f, pred->id, rank));
    }
}

void tree_where(const TreeFacts *f, TreePoly *r, const TreePoly *p, IrVal pred, const IrArg *bytes, uint32_t rank)
{
    if (pred == 0) tree_copy(r, p);
    else where(f, r, p, &(IrArg){.kind = IRA_VAL, .id = pred}, bytes && bytes->kind == IRA_VAL ? bytes->id : 0, rank, DEPTH);
}

static void add(const TreeFacts *f, TreePoly *sum, const TreePoly *p, const IrArg *arg, uint32_t rank, int depth)
{
    int64_t k;
    if (tree_number(f, arg, rank, &k) || arg->kind != IRA_VAL) {
        if (arg->kind != IRA_VAL) k = arg->imm, sum->lost |= arg->kind != IRA_IMM;
        tree_poly_add(sum, p, k);
        return;
    }
    const IrOp *op = tree_definition(f, arg->id);
    const IrArg *a = op ? ir_find(op, IRK_A) : NULL, *b = op ? ir_find(op, IRK_B) : NULL;
    TreePoly q;
    tree_poly(&q, 0);
    if (op && depth && op->op == IR_CVT && f->k->value_types.v[a->id - 1] != IR_PRED) {
        add(f, sum, p, a, rank, depth - 1);
    } else if (op && depth && (op->op == IR_ADD || op->op == IR_SUB)) {
        add(f, sum, p, a, rank, depth - 1);
        tree_poly_add(&q, p, op->op == IR_ADD ? 1 : -1);
        add(f, sum, &q, b, rank, depth - 1);
    } else if (op && depth && op->op == IR_MUL && b->kind == IRA_IMM) {
        tree_poly_add(&q, p, b->imm);
        add(f, sum, &q, a, rank, depth - 1);
    } else if (op && depth && rank < f->ctas && op->op == IR_SEL) { /* b, and where the condition holds a instead of it */
        tree_where(f, &q, p, ir_find(op, IRK_COND)->id, NULL, rank);
        add(f, sum, p, b, rank, depth - 1);
        add(f, sum, &q, a, rank, depth - 1);
        TreePoly r;
        tree_poly(&r, 0);
        tree_poly_add(&r, &q, -1);
        add(f, sum, &r, b, rank, depth - 1);
    } else if (op && depth && rank < f->ctas && op->op == IR_CVT) {
        tree_where(f, &q, p, a->id, NULL, rank);
        tree_poly_add(sum, &q, 1);
    } else {
        times_value(f, &q, p, named(f, tree_uncast(f, arg->id), rank));
        tree_poly_add(sum, &q, 1);
    }
}

void tree_add(const TreeFacts *f, TreePoly *sum, const TreePoly *p, const IrArg *arg, uint32_t rank)
{
    add(f, sum, p, arg, rank, DEPTH);
}

Interval tree_poly_range(const TreeFacts *f, const TreePoly *p, uint32_t rank)
{
    Interval r = interval_at(0);
    for (uint32_t i = 0; i < p->n; i++)
        r = p->t[i].n > 1 ? UNBOUNDED : interval_add(r, interval_mul(p->t[i].n ? range_of(f, tree_plain(f, p->t[i].v[0]), rank, DEPTH) : interval_at(1), interval_at(p->t[i].k)));
    return p->lost ? UNBOUNDED : r;
}
