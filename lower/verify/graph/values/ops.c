/* The forms of the results of scalar ops. */
#include "lang/checked.h"
#include "lower/verify/graph/values/forms.h"

static Interval type_range(IrType t)
{
    if (t == IR_PRED) return (Interval){0, 1};
    return t == IR_I32 ? (Interval){INT32_MIN, INT32_MAX} : (Interval){INT64_MIN, INT64_MAX};
}

static Interval range_of(const Forms *f, Form x)
{
    return x ? (Interval){form_data(f, x)->lo, form_data(f, x)->hi} : UNBOUNDED;
}

/* A result that is certain not to have wrapped. */
static bool fits(Interval r, IrType t)
{
    Interval limit = type_range(t);
    if (t == IR_I64) return r.lo > limit.lo && r.hi < limit.hi;
    return r.lo >= limit.lo && r.hi <= limit.hi;
}

Form form_leaf(Forms *f, IrType type)
{
    Interval r = type_range(type);
    f->leaves++;
    return form_atom(f, (FormAtom){.kind = ATOM_LEAF,
                                   .type = (uint8_t)type,
                                   .boolean = type == IR_PRED,
                                   .wild = f->wild,
                                   .a = f->here[0],
                                   .b = f->here[1],
                                   .c = f->here[2],
                                   .depth = f->depth,
                                   .lo = r.lo,
                                   .hi = r.hi});
}

/* The one atom that a form is. */
static const FormAtom *only_atom(const Forms *f, Form x)
{
    const FormData *d = form_data(f, x);
    return d->n == 1 && d->k == 0 && d->t[0].c == 1 ? atom_data(f, d->t[0].atom) : NULL;
}

/* The op's result as a value of its own, equal where the operands are. */
static Form op_atom(Forms *f, const IrOp *op, Form a, Form b, Interval r, bool wild)
{
    return form_atom(f, (FormAtom){.kind = ATOM_OP, .sub = op->op, .type = op->type, .boolean = op->type == IR_PRED, .wild = wild, .a = a, .b = b, .lo = r.lo, .hi = r.hi});
}

static Form opaque(Forms *f, const IrOp *op, Form a, Form b, Interval r)
{
    if (a == 0) return form_leaf(f, op->type);
    return op_atom(f, op, a, b, fits(r, op->type) ? r : type_range(op->type), false);
}

/* Of 32 bits the last ones of a sum are those of the sum of what its parts were before they lost theirs. */
static Form before_wrapping(Forms *f, Form x)
{
    const FormData *d = form_data(f, x);
    Form sum = x;
    for (uint32_t i = 0; i < d->n && sum; i++) {
        FormAtom a = *atom_data(f, d->t[i].atom);
        if (a.kind != ATOM_OP || a.sub != IR_CVT || a.type != IR_I32) continue;
        sum = form_add(f, form_add(f, sum, -d->t[i].c, form_of_atom(f, d->t[i].atom)), d->t[i].c, a.a);
    }
    return sum;
}

/* x 0: none. */
static Form or_opaque(Forms *f, Form x, const IrOp *op, Form a, Form b)
{
    if (x && op->type == IR_I32 && !fits(range_of(f, x), IR_I32)) x = before_wrapping(f, x);
    if (x && fits(range_of(f, x), op->type)) return x;
    if (x && op->type == IR_I32) return opaque(f, &(IrOp){.op = IR_CVT, .type = IR_I32}, x, x, type_range(IR_I32));
    return opaque(f, op, a, b, type_range(op->type));
}

static Form multiply(Forms *f, const IrOp *op, Form a, Form b)
{
    int64_t k;
    Form zero = form_const(f, 0), product = 0;
    if (form_is_const(f, a, &k)) product = form_add(f, zero, k, b);
    else if (form_is_const(f, b, &k)) product = form_add(f, zero, k, a);
    else if (range_of(f, a).lo >= 0 && range_of(f, a).hi <= 1) product = form_guard(f, a, b);
    else if (range_of(f, b).lo >= 0 && range_of(f, b).hi <= 1) product = form_guard(f, b, a);
    if (product) return or_opaque(f, product, op, a, b);
    return opaque(f, op, a, b, interval_mul(range_of(f, a), range_of(f, b)));
}

static Form launch_form(Forms *f, const IrKernel *k, const IrOp *op, uint32_t x, int fuel);
enum { PARAM_DEPTH = 8 };

/* In every launch. */
bool form_not_zero(Forms *f, const IrKernel *k, Form x)
{
    const FormAtom *a = only_atom(f, x);
    Interval r = range_of(f, x);
    if (r.lo > 0 || r.hi < 0) return true;
    if (a && a->kind == ATOM_PARAM && f->divisors[a->a]) return true;
    for (uint32_t i = 1; i <= k->mf.lx.nodes.n; i++)
        if (f->divisors[i] && launch_form(f, k, &(IrOp){.op = IR_PARAM, .type = IR_I64}, i, PARAM_DEPTH) == x) return true;
    return false;
}

bool form_split(Forms *f, Form x, int64_t d, Form *quotient, Form *rest)
{
    const FormData *a = form_data(f, x);
    *rest = form_const(f, floor_mod_s64(a->k, d));
    *quotient = form_const(f, floor_div_by(a->k, d));
    for (uint32_t i = 0; i < a->n && *rest && *quotient; i++) {
        FormTerm t = a->t[i];
        Form atom = form_of_atom(f, t.atom);
        if (t.c % d == 0) *quotient = form_add(f, *quotient, t.c / d, atom);
        else *rest = form_add(f, *rest, t.c, atom);
    }
    return *rest && *quotient;
}

/* a = q * b + r: terms that b divides go to q. PTX ISA, div, rem: what a division by 0 gives is not said, nor that it is the same
 * everywhere. */
static Form divide(Forms *f, const IrKernel *k, const IrOp *op, Form a, Form b)
{
    int64_t d, q;
    if (a && !form_not_zero(f, k, b)) return op_atom(f, op, a, b, type_range(op->type), true);
    if (!form_is_const(f, b, &d) || d <= 0 || a == 0) return opaque(f, op, a, b, type_range(op->type));
    const FormData *x = form_data(f, a);
    Form rest, quotient;
    if (!form_split(f, a, d, &quotient, &rest)) return opaque(f, op, a, b, type_range(op->type));
    Interval r = range_of(f, rest);
    if (r.lo >= 0 && r.hi < d) return or_opaque(f, op->op == IR_MOD ? rest : quotient, op, a, b);
    if (op->op == IR_MOD) return opaque(f, op, rest, b, (Interval){0, d - 1});
    r = type_range(op->type);
    if (x->lo > INT64_MIN && floor_div_s64(x->lo, d, &q)) r.lo = q;
    if (floor_div_s64(x->hi, d, &q)) r.hi = q;
    return opaque(f, op, a, b, r);
}

static Form extreme(Forms *f, const IrOp *op, Form a, Form b)
{
    Interval x = range_of(f, a), y = range_of(f, b);
    bool is_min = op->op == IR_MIN;
    if (x.hi <= y.lo) return is_min ? a : b;
    if (y.hi <= x.lo) return is_min ? b : a;
    Interval r = interval_of(is_min ? LX_MIN : LX_MAX, x, y);
    /* A missing bound is the type's own, so the result is within the type in any case. */
    return op_atom(f, op, a < b ? a : b, a < b ? b : a, r, false);
}

/* x has one term, and that is a choice by which alone x > 0 is decided: `(p ? t : -1) < 0`. 0: it is not so. */
static Form gt0_of_choice(Forms *f, Form x)
{
    const FormData *d = form_data(f, x);
    if (d->n != 1 || atom_data(f, d->t[0].atom)->kind != ATOM_SEL) return 0;
    FormAtom sel = *atom_data(f, d->t[0].atom);
    int64_t c = d->t[0].c, k = d->k;
    Form one = form_add(f, form_const(f, k), c, sel.b), other = form_add(f, form_const(f, k), c, sel.c);
    if (one == 0 || other == 0) return 0;
    Interval r = range_of(f, one), s = range_of(f, other);
    if (r.lo > 0 && s.hi <= 0) return sel.a;
    return r.hi <= 0 && s.lo > 0 ? form_not(f, sel.a) : 0;
}

Form form_positive(Forms *f, Form x)
{
    Interval r = range_of(f, x);
    if (r.lo > 0) return form_const(f, 1);
    if (r.hi <= 0) return form_const(f, 0);
    Form choice = gt0_of_choice(f, x);
    if (choice) return choice;
    return form_pred(f, ATOM_GT0, 0, x, 0);
}

/* x == 0 where x is made of one pred: that, or its contrary. 0: it is not so. */
static Form eq0_of_pred(Forms *f, Form x)
{
    const FormData *d = form_data(f, x);
    if (d->n != 1 || !atom_data(f, d->t[0].atom)->boolean) return 0;
    bool without = d->k == 0, with = d->k == -d->t[0].c;
    Form pred = form_of_atom(f, d->t[0].atom);
    return with ? pred : without ? form_not(f, pred) : form_const(f, 0);
}

Form form_zero(Forms *f, Form x)
{
    Interval r = range_of(f, x);
    const FormData *d = form_data(f, x);
    if (r.lo > 0 || r.hi < 0) return form_const(f, 0);
    if (d->n == 0) return form_const(f, 1);
    Form of_pred = eq0_of_pred(f, x);
    if (of_pred) return of_pred;
    if (d->t[0].c < 0) { /* x and -x are 0 together: one of them stands for both */
        Form minus = form_add(f, form_const(f, 0), -1, x);
        if (minus) x = minus;
    }
    return form_pred(f, ATOM_EQ0, 0, x, 0);
}

static Form compare(Forms *f, const IrOp *op, Form a, Form b)
{
    IrRel rel = (IrRel)ir_find(op, IRK_REL)->id;
    Form diff = form_add(f, a, -1, b), back = form_add(f, b, -1, a), r;
    if (diff == 0 || back == 0) return form_leaf(f, IR_PRED);
    switch (rel) {
    case IRL_GT: return form_positive(f, diff);
    case IRL_LT: return form_positive(f, back);
    case IRL_LE: r = form_positive(f, diff); return form_not(f, r);
    case IRL_GE: r = form_positive(f, back); return form_not(f, r);
    case IRL_EQ: return form_zero(f, diff);
    default: r = form_zero(f, diff); return form_not(f, r);
    }
}

static Form join_preds(Forms *f, const IrOp *op, Form a, Form b)
{
    Form both = form_guard(f, a, b);
    return both && op->op == IR_OR ? form_add(f, form_add(f, a, 1, b), -1, both) : both;
}

/* ---- bits ---- */

enum { BITS_FUEL = 16 };

/* One bit of what the launch or data gives: the same pred however it was shifted and masked by numbers. 0: it is of something
 * else. */
Form form_bit(Forms *f, Form x, int64_t bit)
{
    const FormAtom *a;
    int64_t k;
    if (form_is_const(f, x, &k)) return form_const(f, k >> bit & 1);
    for (int fuel = BITS_FUEL; (a = only_atom(f, x)) != NULL && a->kind == ATOM_OP && fuel > 0; fuel--, x = a->a) {
        bool number = form_is_const(f, a->b, &k), mask = number && bit < 63 && (a->sub == IR_AND || a->sub == IR_OR);
        bool shift = number && a->sub == IR_DIV && power_of_two(k);
        if (mask && (k >> bit & 1) == (a->sub == IR_OR)) return form_const(f, a->sub == IR_OR);
        if (!mask && !shift && !(a->sub == IR_CVT && bit < 31)) break;
        while (shift && (k >>= 1)) bit++;
    }
    if (a == NULL || bit > 31 || (a->kind != ATOM_PARAM && a->kind != ATOM_LOAD)) return 0;
    if (a->kind == ATOM_PARAM && a->type == IR_I32) {
        Interval r = f->launch[a->a - 1];
        x = form_atom(f, (FormAtom){.kind = ATOM_PARAM, .type = IR_I64, .a = a->a, .lo = r.lo, .hi = r.hi});
    }
    return form_pred(f, ATOM_OP, IR_AND, x, form_const(f, INT64_C(1) << bit));
}

static Form bits(Forms *f, const IrKernel *kernel, const IrOp *op, Form a, Form b)
{
    Interval x = range_of(f, a), y = range_of(f, b);
    bool truth = op->type == IR_PRED || (x.lo >= 0 && x.hi <= 1 && y.lo >= 0 && y.hi <= 1);
    int64_t k = 0, j = 0;
    bool ka = form_is_const(f, a, &k), kb = form_is_const(f, b, &j);
    if (ka && kb) return form_const(f, op->op == IR_AND ? k & j : op->op == IR_OR ? k | j : k ^ j);
    if (op->op == IR_XOR && truth && (ka || kb)) {
        Form other = ka ? b : a;
        return (ka ? k : j) ? form_not(f, other) : other;
    }
    Form bit = op->op == IR_AND && kb && j == 1 && op->type != IR_PRED ? form_bit(f, a, 0) : 0;
    if (bit) return bit;
    if (op->op == IR_AND && kb && j == 1 && !truth) { /* the lowest bit */
        IrOp mod = *op;
        mod.op = IR_MOD;
        return divide(f, kernel, &mod, a, form_const(f, 2));
    }
    Form both = truth && op->op != IR_XOR ? join_preds(f, op, a, b) : 0;
    if (both) return both;
    if (op->op == IR_AND && (x.lo >= 0 || y.lo >= 0)) {
        Interval r = interval_of(LX_AND, x, y);
        return ka ? opaque(f, op, b, a, r) : opaque(f, op, a, b, r);
    }
    return opaque(f, op, a, b, truth ? (Interval){0, 1} : type_range(op->type));
}

static Form select(Forms *f, const IrOp *op, Form cond, Form a, Form b)
{
    int64_t k;
    if (form_is(f, b, 0) || form_is(f, a, 0)) { /* amounts of bytes that depend on a condition: kept as sums */
        Form x = form_is(f, b, 0) ? form_guard(f, cond, a) : form_guard(f, form_not(f, cond), b);
        if (x) return x;
    }
    if (op->type == IR_PRED) {
        Form x = form_guard(f, cond, a), y = form_guard(f, form_not(f, cond), b), sum = form_add(f, x, 1, y);
        return sum ? sum : form_leaf(f, op->type);
    }
    if (form_is_const(f, cond, &k)) return k ? a : b;
    Form picked = form_pick(f, cond, a, b);
    return picked ? picked : form_leaf(f, op->type);
}

static Form constant(Forms *f, const IrOp *op)
{
    int64_t k = ir_find(op, IRK_A)->imm;
    if (op->type == IR_I32) { /* the low half, as a signed number */
        k &= UINT32_MAX;
        if (k > INT32_MAX) k -= INT64_C(1) << 32;
    }
    return form_const(f, k);
}

/* What a product by a number multiplies, and by how much; 0: it is none. */
static uint32_t multiplied(const LxPool *lx, const LxNode *n, int64_t *by)
{
    const LxNode *a = &lx->nodes.v[n->a - 1], *b = &lx->nodes.v[n->b - 1];
    *by = b->op == LX_CONST ? b->k : a->op == LX_CONST ? a->k : 0;
    return *by <= 0 ? 0 : b->op == LX_CONST ? n->a : n->b;
}

/* The form of a launch expression is made from those of its parts. */
static bool taken_apart(const LxPool *lx, uint32_t x)
{
    const LxNode *n = &lx->nodes.v[x - 1];
    int64_t by;
    if (n->op == LX_MUL) return multiplied(lx, n, &by) != 0;
    if (n->op == LX_DIV || n->op == LX_MOD || n->op == LX_CEIL) {
        const LxNode *b = &lx->nodes.v[n->b - 1];
        return b->op == LX_CONST && b->k > 0 && (n->op != LX_CEIL || b->k <= FORM_PARTS);
    }
    return n->op == LX_MIN || n->op == LX_MAX || n->op == LX_ADD || n->op == LX_SUB;
}

/* A launch expression: its minima, maxima and sums are taken apart, so that loops by a part of a bound end with it; and what its
 * quotients by numbers leave, for slots that are counted from there. They are exact: a launch in which one leaves 64 bits is refused. */
static Form launch_form(Forms *f, const IrKernel *k, const IrOp *op, uint32_t x, int fuel)
{
    const LxNode *n = &k->mf.lx.nodes.v[x - 1];
    if (n->op == LX_CONST && op->type == IR_I64) return form_const(f, n->k);
    Form whole = 0;
    if (fuel > 0 && op->type == IR_I64 && taken_apart(&k->mf.lx, x)) {
        int64_t by = 0;
        uint32_t of = n->op == LX_MUL ? multiplied(&k->mf.lx, n, &by) : n->a;
        Form a = launch_form(f, k, op, of, fuel - 1), b = by ? 0 : launch_form(f, k, op, n->b, fuel - 1);
        IrOpcode like = n->op == LX_MIN ? IR_MIN : n->op == LX_MAX ? IR_MAX : n->op == LX_MOD ? IR_MOD : IR_DIV;
        if (n->op == LX_CEIL) a = form_add(f, form_add(f, a, 1, b), -1, form_const(f, 1));
        if (n->op == LX_ADD || n->op == LX_SUB) whole = form_add(f, a, n->op == LX_ADD ? 1 : -1, b);
        else if (n->op == LX_MUL) whole = form_add(f, form_const(f, 0), by, a);
        else whole = form_of_op(f, k, &(IrOp){.op = (uint8_t)like, .type = IR_I64}, 0, a, b);
    }
    Interval r = op->type == IR_I64 ? f->launch[x - 1] : type_range(op->type), is = range_of(f, whole);
    bool number = n->op == LX_MUL || n->op == LX_DIV || n->op == LX_MOD || n->op == LX_CEIL;
    if (whole && !(number && (is.lo < r.lo || is.hi > r.hi))) return whole; /* a check may say more of a quotient than its parts do */
    return form_atom(f, (FormAtom){.kind = ATOM_PARAM, .type = op->type, .a = x, .lo = r.lo, .hi = r.hi});
}

Form form_of_op(Forms *f, const IrKernel *k, const IrOp *op, Form cond, Form a, Form b)
{
    int64_t n;
    switch ((IrOpcode)op->op) {
    case IR_CONST: return constant(f, op);
    case IR_PARAM: return launch_form(f, k, op, ir_find(op, IRK_EXPR)->id, PARAM_DEPTH);
    case IR_SREG: return f->sreg[ir_find(op, IRK_REG)->id];
    case IR_ADD: return or_opaque(f, form_add(f, a, 1, b), op, a, b);
    case IR_SUB: return or_opaque(f, form_add(f, a, -1, b), op, a, b);
    case IR_MUL: return multiply(f, op, a, b);
    case IR_DIV:
    case IR_MOD: return divide(f, k, op, a, b);
    case IR_MIN:
    case IR_MAX: return extreme(f, op, a, b);
    case IR_SHL:
        if (form_is_const(f, b, &n) && n >= 0 && n < 31)
            return or_opaque(f, form_add(f, form_const(f, 0), INT64_C(1) << n, a), op, a, b);
        break;
    case IR_SHR:
        if (form_is_const(f, b, &n) && n >= 0 && n < 31) {
            IrOp div = *op;
            div.op = IR_DIV;
            return divide(f, k, &div, a, form_const(f, INT64_C(1) << n));
        }
        break;
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        return bits(f, k, op, a, b);
    case IR_NOT: return op->type == IR_PRED ? form_not(f, a) : or_opaque(f, form_add(f, form_const(f, -1), -1, a), op, a, a);
    case IR_CMP: return compare(f, op, a, b);
    case IR_SEL: return select(f, op, cond, a, b);
    case IR_CVT: return op->type == IR_I64 ? a : or_opaque(f, a, op, a, a);
    default: break;
    }
    return opaque(f, op, a, b, type_range(op->type));
}
