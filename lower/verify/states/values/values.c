/* Scalars: what ops make of others, worked out where it is asked for. What decides where an agent goes forks; of bytes and conditions of
 * copies it is enough that equal ones are equal, so those are named. */
#include "lang/checked.h"
#include "lang/lang.h"
#include "lower/verify/states/steps/steps.h"

/* ---- making them ---- */

enum { ATOM_BITS = 64 };

static uint64_t atom_bit(uint32_t atom)
{
    return UINT64_C(1) << (atom < ATOM_BITS ? atom - 1 : ATOM_BITS - 1);
}

static uint64_t atoms_of(const Checker *c, const ValData *d)
{
    uint64_t all = (d->a ? val_data(c, d->a)->atoms : 0) | (d->b ? val_data(c, d->b)->atoms : 0) | (d->c ? val_data(c, d->c)->atoms : 0);
    const NumData *x = d->op == IR_CONST ? num_data(&c->n, d->num) : NULL;
    for (uint32_t i = 0; x && i < x->n; i++) all |= atom_bit(x->t[i].atom);
    return all;
}

static Val interned(Checker *c, const ValData *d)
{
    int64_t key[] = {d->op, d->rel, d->wraps, d->a, d->b, d->c, d->imm, d->of, d->num};
    Val v = names_intern(c->val_names, (const char *)key, sizeof key);
    if (v <= c->vals.n) return v;
    vec_push(c->arena, &c->vals, *d);
    c->vals.v[v - 1].atoms = atoms_of(c, d);
    c->vals.v[v - 1].size = 1 + val_size(c, d->a) + val_size(c, d->b) + val_size(c, d->c);
    return v;
}

uint32_t val_size(const Checker *c, Val v)
{
    return v ? val_data(c, v)->size : 0;
}

bool val_has(const Checker *c, Val v, uint32_t atom)
{
    return v && (val_data(c, v)->atoms & atom_bit(atom));
}

Val val_num(Checker *c, Num x)
{
    if (x == 0) return 0;
    while (c->num_vals.n < x) vec_push(c->arena, &c->num_vals, 0);
    Val *v = &c->num_vals.v[x - 1];
    if (*v == 0) *v = interned(c, &(ValData){.op = IR_CONST, .imm = NO_LO, .num = x, .range = UNBOUNDED});
    return *v;
}

bool val_is_num(const Checker *c, Val v, int64_t *k)
{
    const ValData *d = val_data(c, v);
    return d->op == IR_CONST && num_is(&c->n, d->num, k);
}

int64_t divisor_of(uint8_t op, uint8_t rel, int64_t k)
{
    if (op == IR_AND) return !rel && k > 0 && k < INT64_MAX && power_of_two(k + 1) ? k + 1 : 0;
    if (op == IR_SHR) return k >= 0 && k < 62 ? INT64_C(1) << k : 0;
    return (op == IR_DIV || op == IR_MOD) && k > 0 ? k : 0;
}

/* Sums, multiples and quotients of numbers that are certain to be such. */
static Num worked_out(Checker *c, const ValData *d)
{
    const ValData *a = val_data(c, d->a), *b = d->b ? val_data(c, d->b) : NULL;
    int64_t x = 0, y = 0, r;
    if (d->wraps || a->op != IR_CONST || (b && b->op != IR_CONST) || d->op == IR_CMP || d->op == IR_SEL || d->op == IR_MIN || d->op == IR_MAX || d->rel) return 0;
    bool ka = num_is(&c->n, a->num, &x), kb = b && num_is(&c->n, b->num, &y);
    if (d->op == IR_CVT) return a->num;
    if (d->op == IR_ADD || d->op == IR_SUB) return num_add(&c->n, a->num, d->op == IR_ADD ? 1 : -1, b->num);
    if (d->op == IR_MUL && (ka || kb)) return num_times(&c->n, ka ? x : y, ka ? b->num : a->num);
    if (ka && kb) return lx_apply((LxOp)IR_LX_OPS[d->op], x, y, &r) == LX_OK ? num_k(c, r) : 0;
    if (!kb) return 0;
    if (d->op == IR_SHL && y >= 0 && y < 62) return num_times(&c->n, INT64_C(1) << y, a->num);
    int64_t by = divisor_of(d->op, d->rel, y);
    Num q = by ? num_div(&c->n, a->num, by) : 0;
    if (q == 0 || d->op == IR_DIV || d->op == IR_SHR) return q;
    return num_add(&c->n, a->num, -by, q);
}

/* Comparisons and choices of numbers; 0: none of these. */
static Val chosen(Checker *c, const ValData *d)
{
    int64_t x = 0, y = 0, cond = 0;
    bool kx = val_is_num(c, d->a, &x), ky = d->b && val_is_num(c, d->b, &y), kc = d->c && val_is_num(c, d->c, &cond);
    if (d->op == IR_SEL) return kc ? (cond ? d->a : d->b) : 0;
    if (d->op == IR_CMP && kx && ky) return val_num(c, num_k(c, range_compared((IrRel)d->rel, interval_at(x), interval_at(y)).lo));
    if (d->op == IR_NOT && d->rel && kx) return val_num(c, num_k(c, !x));
    if ((d->op == IR_MIN || d->op == IR_MAX) && kx && ky) return (x < y) == (d->op == IR_MIN) ? d->a : d->b;
    if ((d->op != IR_AND && d->op != IR_OR) || !d->rel || !(kx || ky)) return 0;
    bool first = kx ? x != 0 : y != 0, decides = first == (d->op == IR_OR); /* else the other one does */
    return decides ? val_num(c, num_k(c, first)) : kx ? d->b : d->a;
}

Val val_make(Checker *c, ValData d)
{
    if (d.a == 0 || ((d.op != IR_CVT && d.op != IR_NOT) && d.b == 0) || (d.op == IR_SEL && d.c == 0)) return 0;
    if (interval_is(d.range) && !d.wraps && d.range.lo > NO_LO && d.range.lo < NO_HI) return val_num(c, num_k(c, d.range.lo));
    Num x = worked_out(c, &d);
    Val v = x ? val_num(c, x) : chosen(c, &d);
    return v ? v : interned(c, &d);
}

Val val_of_arg(Checker *c, const IrArg *arg)
{
    if (arg->kind == IRA_IMM) return val_num(c, num_k(c, arg->imm));
    if (c->init) return c->init[arg->id - 1];
    uint32_t slot = code_of(c)->slot[arg->id - 1];
    return slot ? c->st->env[c->place[c->agent].env + slot - 1] : 0;
}

static Val var_now(const Checker *c, uint32_t var)
{
    uint32_t slot = code_of(c)->var_slot[var];
    return slot ? c->st->env[c->place[c->agent].env + slot - 1] : 0;
}

static Val register_val(Checker *c, IrReg reg)
{
    const uint32_t *n = c->k->mf.cluster;
    uint32_t cta = c->st->agents[c->agent].cta, at[3] = {cta % n[0], cta / n[0] % n[1], cta / n[0] / n[1]};
    if (reg == IRR_CLUSTER_CTARANK) return val_num(c, num_k(c, cta));
    if (reg >= IRR_CLUSTER_CTAID_X && reg <= IRR_CLUSTER_CTAID_Z) return val_num(c, num_k(c, at[reg - IRR_CLUSTER_CTAID_X]));
    uint32_t i = reg % 3;
    Num x = num_times(&c->n, n[i], num_atom(&c->n, 1 + (uint32_t)reg)); /* of clusters, or how many of them */
    return val_num(c, reg <= IRR_CTAID_Z ? num_plus(&c->n, x, at[i]) : x);
}

static uint32_t launch_arg(const Checker *c, const IrArg *arg)
{
    const IrOp *op = arg && arg->kind == IRA_VAL ? c->op[c->def[arg->id - 1]] : NULL;
    if (op && op->op == IR_CVT) return launch_arg(c, ir_find(op, IRK_A));
    return op && op->op == IR_PARAM ? ir_find(op, IRK_EXPR)->id : 0;
}

uint32_t launch_of(const Checker *c, const IrOp *op)
{
    uint32_t b = launch_arg(c, ir_find(op, IRK_B));
    return b ? b : launch_arg(c, ir_find(op, IRK_A));
}

int64_t imm_of(const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    return b && b->kind == IRA_IMM ? b->imm : a && a->kind == IRA_IMM ? a->imm : NO_LO;
}

static Num named_load(Checker *c, const IrOp *op, Interval r)
{
    const IrArg *t = ir_find(op, IRK_TENSOR);
    int64_t what[] = {-1, t->id};
    Val at = val_of_arg(c, ir_find(op, IRK_BYTE));
    if (c->k->mf.tensors.v[t->id].written || at == 0) return fresh_number(c, r);
    Num key = val_soft(c, at);
    return name_number(c, class_of(c, what, sizeof what), &key, 1, r);
}

static Val made_by(Checker *c, uint32_t number)
{
    const IrOp *op = c->op[number];
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *cond = ir_find(op, IRK_COND), *rel = ir_find(op, IRK_REL);
    Interval r = c->range[op->dst - 1];
    switch ((IrOpcode)op->op) {
    case IR_PARAM: return c->launch_vals[ir_find(op, IRK_EXPR)->id - 1];
    case IR_SREG: return interval_is(r) ? val_num(c, num_k(c, r.lo)) : register_val(c, (IrReg)ir_find(op, IRK_REG)->id);
    case IR_LOADS: return val_num(c, named_load(c, op, r));
    case IR_GET: return var_now(c, ir_find(op, IRK_VAR)->id);
    case IR_TICKET:
    case IR_LDS:
    case IR_CLC_ID: return val_num(c, fresh_number(c, r));
    case IR_GADDR:
    case IR_ZADDR:
    case IR_TC_DESC: return val_num(c, num_k(c, 0));
    default: break;
    }
    Val x = a ? val_of_arg(c, a) : 0, y = b ? val_of_arg(c, b) : 0;
    bool pred = op->type == IR_PRED && op->op != IR_CMP && op->op != IR_SEL;
    if (op->op == IR_CONST) return x;
    if (op->op == IR_CVT && x && val_data(c, x)->range.lo >= 0 && val_data(c, x)->range.hi <= 1) return x; /* of a pred */
    if (op->op == IR_CVT && !c->wraps[op->dst - 1]) return x;
    return val_make(c, (ValData){.op = op->op,
                                 .rel = (uint8_t)(rel ? rel->id : pred),
                                 .wraps = c->wraps[op->dst - 1],
                                 .a = x,
                                 .b = y,
                                 .c = cond ? val_of_arg(c, cond) : 0,
                                 .imm = imm_of(op),
                                 .of = launch_of(c, op),
                                 .range = r});
}

Val val_of_op(Checker *c, uint32_t op)
{
    Val v = made_by(c, op);
    if (val_size(c, v) < VAL_MOST) return v;
    c->forgot = true;
    return val_num(c, val_soft(c, v));
}

/* By how much a dividend is divided; 0: by no number. */
static int64_t divisor(const Checker *c, const ValData *d)
{
    int64_t k;
    return d->b && val_is_num(c, d->b, &k) ? divisor_of(d->op, d->rel, k) : 0;
}

/* ---- named numbers ---- */

uint32_t class_of(Checker *c, const void *what, size_t n)
{
    uint32_t x = names_intern(c->class_names, what, n);
    if (x >= CLASSES) lost(c, "it makes numbers in too many ways");
    return x;
}

uint32_t class_of_val(Checker *c, const ValData *d)
{
    int64_t what[] = {d->op, d->rel, d->imm, d->of, d->wraps};
    return class_of(c, what, sizeof what);
}

Num fresh_number(Checker *c, Interval r)
{
    State *s = c->st;
    Num x = num_atom(&c->n, c->natoms + ++s->fresh);
    if (r.lo > INT32_MIN) facts_add(&c->n, &s->arena, &s->facts, num_plus(&c->n, x, -r.lo));
    if (r.hi < NO_HI && r.hi < INT32_MAX) facts_add(&c->n, &s->arena, &s->facts, num_add(&c->n, num_k(c, r.hi), -1, x));
    return x;
}

Named *named_of(Checker *c, uint32_t class, const Num *key, uint32_t nkey, Interval r)
{
    State *s = c->st;
    uint32_t *asked = &s->asked[c->agent * CLASSES + class], *asks = &c->asks[c->agent * CLASSES + class];
    if (*asks < c->pc + 1) {
        *asks = c->pc + 1;
        if (c->no_asks[c->agent * CLASSES + class]) learn(c);
    }
    for (uint32_t i = s->named.n; i-- > 0;) {
        const Named *x = &s->named.v[i];
        if (x->class != class || x->nkey != nkey || memcmp(x->key, key, nkey * sizeof *key) != 0) continue;
        if (*asked < x->serial) *asked = x->serial;
        return &s->named.v[i];
    }
    Named *x = vec_add(&s->arena, &s->named);
    *x = (Named){.class = class, .nkey = nkey, .serial = ++s->serial, .op = IR_OP_COUNT, .num = fresh_number(c, r)};
    memcpy(x->key, key, nkey * sizeof *key);
    *asked = x->serial;
    return x;
}

Num name_number(Checker *c, uint32_t class, const Num *key, uint32_t nkey, Interval r)
{
    return named_of(c, class, key, nkey, r)->num;
}

/* ---- working them out ---- */

bool ask(Checker *c, Num x)
{
    int64_t k;
    if (x == 0) lost(c, "numbers that leave 64 bits");
    if (num_is(&c->n, x, &k)) return k >= 0;
    if (facts_imply(&c->n, &c->st->facts, x)) return true;
    Num not = num_contrary(&c->n, x);
    if (facts_imply(&c->n, &c->st->facts, not)) return false;
    c->fork = x;
    stop_at(c, STOP_FORK);
}

static Num difference(Checker *c, Num b, Num a)
{
    return num_add(&c->n, b, -1, a);
}

static bool compare(Checker *c, const ValData *d)
{
    Num a = val_force(c, d->a), b = val_force(c, d->b), far = difference(c, b, a), less = num_plus(&c->n, far, -1);
    bool r;
    switch ((IrRel)d->rel) {
    case IRL_LT:
    case IRL_GE:
        r = ask(c, less);
        return r == (d->rel == IRL_LT);
    case IRL_LE:
    case IRL_GT:
        r = ask(c, far);
        return r == (d->rel == IRL_LE);
    default: break;
    }
    bool most = ask(c, far), least = ask(c, num_times(&c->n, -1, far));
    return (most && least) == (d->rel == IRL_EQ);
}

bool val_truth(Checker *c, Val v)
{
    int64_t k;
    if (v == 0) lost(c, "a condition that is not known");
    ValData d = *val_data(c, v);
    switch ((IrOpcode)d.op) {
    case IR_CMP: return compare(c, &d);
    case IR_NOT: return !val_truth(c, d.a);
    case IR_AND: return val_truth(c, d.a) && val_truth(c, d.b);
    case IR_OR: return val_truth(c, d.a) || val_truth(c, d.b);
    case IR_XOR: {
        bool x = val_truth(c, d.a), y = val_truth(c, d.b);
        return x != y;
    }
    case IR_SEL: return val_truth(c, d.c) ? val_truth(c, d.a) : val_truth(c, d.b);
    default: break;
    }
    Num x = val_force(c, v);
    if (num_is(&c->n, x, &k)) return k != 0;
    return ask(c, num_plus(&c->n, x, -1));
}

static bool is_pred(const ValData *d)
{
    return d->op == IR_CMP || ((d->op == IR_NOT || d->op == IR_AND || d->op == IR_OR || d->op == IR_XOR) && d->rel);
}

static Num worked(Checker *c, Val v, bool soft);

static Num opaque(Checker *c, const ValData *d, Num a, Num b)
{
    Num key[] = {a, b};
    Named *x = named_of(c, class_of_val(c, d), key, b ? 2 : 1, d->range);
    x->op = d->wraps ? IR_OP_COUNT : d->op; /* else what it is made of tells what it is */
    x->rel = d->rel;
    x->by = divisor(c, d);
    return x->num;
}

/* A sum, or a multiple; else a number of its own. */
static Num summed(Checker *c, const ValData *d, Num a, Num b)
{
    Num out = 0;
    int64_t k;
    if (d->op == IR_ADD || d->op == IR_SUB) out = num_add(&c->n, a, d->op == IR_ADD ? 1 : -1, b);
    else if (d->op == IR_MUL && num_is(&c->n, b, &k)) out = num_times(&c->n, k, a);
    else if (d->op == IR_MUL && num_is(&c->n, a, &k)) out = num_times(&c->n, k, b);
    else if (d->op == IR_SHL && num_is(&c->n, b, &k) && k >= 0 && k < 62) out = num_times(&c->n, INT64_C(1) << k, a);
    return out ? out : opaque(c, d, a, b);
}

/* Of which only the last bits count: these are those of the exact number. */
static Num exact(Checker *c, Val v, bool soft)
{
    ValData d = *val_data(c, v);
    if (!d.wraps) return worked(c, v, soft);
    if (d.op == IR_CVT) return exact(c, d.a, soft);
    Num a = exact(c, d.a, soft), b = exact(c, d.b, soft);
    return summed(c, &d, a, b);
}

/* Where it is certain to fit its type: 32 bits. */
static Num fits(Checker *c, Val v, bool soft)
{
    const Facts *f = &c->st->facts;
    Num x = exact(c, v, soft), low = num_plus(&c->n, x, -(int64_t)INT32_MIN), high = num_add(&c->n, num_k(c, INT32_MAX), -1, x);
    return facts_imply(&c->n, f, low) && facts_imply(&c->n, f, high) ? x : 0;
}

/* The quotient, of which it is told what it is a quotient of; the remainder by way of it. */
static Num divided(Checker *c, const ValData *d, Num x, int64_t by, bool soft)
{
    bool rest = d->op == IR_MOD || d->op == IR_AND;
    Num q = num_div(&c->n, x, by);
    if (q) return rest ? num_add(&c->n, x, -by, q) : q;
    if (soft) return opaque(c, d, x, num_k(c, by));
    const NumData *n = num_data(&c->n, x);
    for (uint32_t i = 0; i < n->n && by <= SPLIT_MOST; i++) {
        if (n->t[i].c % by == 0) continue;
        c->split_atom = n->t[i].atom;
        c->split_by = by / gcd_s64(n->t[i].c, by);
        stop_at(c, STOP_SPLIT);
    }
    int64_t what[] = {-2, by};
    q = name_number(c, class_of(c, what, sizeof what), &x, 1, UNBOUNDED);
    Num r = num_add(&c->n, x, -by, q);
    facts_add(&c->n, &c->st->arena, &c->st->facts, r);
    facts_add(&c->n, &c->st->arena, &c->st->facts, num_add(&c->n, num_k(c, by - 1), -1, r));
    return rest ? r : q;
}

/* With a number: the bits above those of that stay as they are, or go. 0: those below are not known. */
static Num by_bits(Checker *c, const ValData *d, int64_t with, bool soft)
{
    int64_t above = 1, rest, out;
    while (above <= with) above *= 2;
    Num x = d->op == IR_AND ? exact(c, d->a, soft) : worked(c, d->a, soft);
    Num high = num_div(&c->n, x, above);
    if (high == 0 && !soft && above <= SPLIT_MOST) divided(c, &(ValData){.op = IR_MOD}, x, above, false); /* tells them apart */
    if (high == 0 || !num_is(&c->n, num_add(&c->n, x, -above, high), &rest) || (d->wraps && d->op != IR_AND)) return 0;
    lx_apply((LxOp)IR_LX_OPS[d->op], rest, with, &out);
    return d->op == IR_AND ? num_k(c, out) : num_add(&c->n, num_k(c, out), above, high);
}

static void note(Checker *c, Num x)
{
    facts_add(&c->n, &c->st->arena, &c->st->facts, x);
}

/* Of a maximum of others it is known that it is no less than these, and no more than what none of these is more than; of a minimum the other way round. */
static Num soft_extreme(Checker *c, const ValData *d, Num a, Num b)
{
    const int64_t way = d->op == IR_MAX ? 1 : -1;
    const Facts *f = &c->st->facts;
    Num of[] = {a, b}, far = difference(c, b, a);
    if (facts_imply(&c->n, f, far)) return of[way > 0];
    if (far && facts_imply(&c->n, f, num_times(&c->n, -1, far))) return of[way < 0];
    Num x = opaque(c, d, a, b);
    for (uint32_t i = 0; i < 2; i++) note(c, num_times(&c->n, way, difference(c, x, of[i])));
    for (uint32_t i = 0; i < 2; i++) {
        const Named *of_others = NULL;
        for (uint32_t j = 0; j < c->st->named.n && !of_others; j++)
            if (c->st->named.v[j].num == of[i] && c->st->named.v[j].op == (way > 0 ? IR_MIN : IR_MAX)) of_others = &c->st->named.v[j];
        for (uint32_t j = 0; of_others && j < 2; j++) {
            Num y = of_others->key[j];
            if (facts_imply(&c->n, f, num_times(&c->n, way, difference(c, y, of[!i])))) note(c, num_times(&c->n, way, difference(c, y, x)));
        }
    }
    return x;
}

static Num extreme(Checker *c, const ValData *d, bool soft)
{
    Num a = worked(c, d->a, soft), b = worked(c, d->b, soft);
    if (a == b) return a;
    if (soft && !c->tells) return soft_extreme(c, d, a, b);
    Num far = difference(c, b, a);
    bool less = ask(c, num_plus(&c->n, far, -1));
    return less == (d->op == IR_MIN) ? a : b;
}

/* A comparison; of what is 0 or 1 with 0 it is that, or its contrary. */
static Num equal_or(Checker *c, const ValData *d, Num a, Num b)
{
    const Facts *f = &c->st->facts;
    Num not = difference(c, num_k(c, 1), a);
    bool of_pred = d->rel == IRL_EQ && b == num_k(c, 0) && facts_imply(&c->n, f, a) && facts_imply(&c->n, f, not);
    return of_pred ? not : opaque(c, d, a, b);
}

static Num worked_anew(Checker *c, Val v, bool soft)
{
    ValData d = *val_data(c, v);
    int64_t x, y, r;
    if (is_pred(&d) && !soft) return num_k(c, val_truth(c, v));
    if (d.op == IR_NOT) return difference(c, num_k(c, d.rel ? 1 : -1), worked(c, d.a, soft));
    if ((d.op == IR_AND || d.op == IR_OR) && d.rel) {
        Num one = num_k(c, 1), a = only_if(c, d.a), b = only_if(c, d.b);
        return d.op == IR_AND ? both_of(c, a, b) : difference(c, one, both_of(c, difference(c, one, a), difference(c, one, b)));
    }
    if (d.op == IR_SEL && (!soft || c->tells)) return worked(c, val_truth(c, d.c) ? d.a : d.b, soft);
    if (d.op == IR_SEL) {
        int way = val_try(c, d.c);
        if (way >= 0) return worked(c, way ? d.a : d.b, soft);
        Num cond = worked(c, d.c, soft), yes = worked(c, d.a, soft), no = worked(c, d.b, soft), far = difference(c, yes, no), key[] = {cond, yes, no};
        if (num_is(&c->n, far, &x)) return num_add(&c->n, no, x, cond);
        return name_number(c, class_of_val(c, &d), key, 3, d.range);
    }
    if (d.op == IR_MIN || d.op == IR_MAX) return extreme(c, &d, soft);
    if (!d.wraps && (d.op == IR_ADD || d.op == IR_SUB || d.op == IR_MUL || d.op == IR_SHL)) {
        Num a = worked(c, d.a, soft), b = worked(c, d.b, soft);
        return summed(c, &d, a, b);
    }
    Num whole = d.wraps ? fits(c, v, soft) : 0;
    if (whole) return whole;
    bool bits = (d.op == IR_AND || d.op == IR_OR || d.op == IR_XOR) && !d.rel && d.b && val_is_num(c, d.b, &y) && y >= 0 && y < INT64_C(1) << 31;
    Num masked = bits ? by_bits(c, &d, y, soft) : 0;
    if (masked) return masked;
    int64_t by = divisor(c, &d);
    bool last = (d.op == IR_MOD || d.op == IR_AND) && power_of_two(by) && by <= INT64_C(1) << 31; /* only the last bits count */
    if (by) return divided(c, &d, last ? exact(c, d.a, soft) : worked(c, d.a, soft), by, soft);
    Num a = worked(c, d.a, soft), b = d.b ? worked(c, d.b, soft) : 0;
    if ((d.op == IR_DIV || d.op == IR_MOD) && !soft && !facts_imply(&c->n, &c->st->facts, num_plus(&c->n, b, -1))) lost(c, "it divides by what may be 0");
    bool by_number = (d.op != IR_DIV && d.op != IR_MOD) || d.imm != NO_LO;
    bool numbers = !d.wraps && b && (!soft || by_number) && num_is(&c->n, a, &x) && num_is(&c->n, b, &y) && d.op != IR_CMP;
    if (d.op == IR_CMP && b && (d.rel == IRL_NE || d.rel == IRL_GE || d.rel == IRL_GT)) {
        d.rel = d.rel == IRL_NE ? IRL_EQ : d.rel == IRL_GE ? IRL_LT : IRL_LE;
        return difference(c, num_k(c, 1), equal_or(c, &d, a, b));
    }
    if (d.op == IR_CMP && b) return equal_or(c, &d, a, b);
    if (numbers && lx_apply((LxOp)IR_LX_OPS[d.op], x, y, &r) == LX_OK) return num_k(c, r);
    return opaque(c, &d, a, b);
}

/* Once in a step: what it is made of may be asked for by way of several. */
static Num worked(Checker *c, Val v, bool soft)
{
    if (v == 0) lost(c, "a number that is not known");
    if (val_data(c, v)->op == IR_CONST) return val_data(c, v)->num;
    uint32_t at = 2 * (v - 1) + soft;
    while (c->worked.n <= at) vec_push(c->arena, &c->worked, (Worked){0});
    if (c->worked.v[at].step == c->nsteps) return c->worked.v[at].num;
    Num x = worked_anew(c, v, soft);
    c->worked.v[at] = (Worked){c->nsteps, x};
    return x;
}

Num val_force(Checker *c, Val v)
{
    return worked(c, v, false);
}

Num val_soft(Checker *c, Val v)
{
    return worked(c, v, true);
}

int val_try(Checker *c, Val v)
{
    jmp_buf out;
    volatile int r = -1;
    memcpy(&out, &c->out, sizeof out);
    if (setjmp(c->out) == 0) r = val_truth(c, v);
    memcpy(&c->out, &out, sizeof out);
    return r;
}

/* By what is known by now: it will not be asked again. */
Val val_settled(Checker *c, Val v)
{
    if (v == 0 || val_data(c, v)->op == IR_CONST) return v;
    ValData d = *val_data(c, v);
    Val x = val_settled(c, d.a), y = val_settled(c, d.b), z = val_settled(c, d.c);
    if (x != d.a || y != d.b || z != d.c) {
        d.a = x, d.b = y, d.c = z;
        v = val_make(c, d);
        d = *val_data(c, v);
    }
    int way = is_pred(&d) ? val_try(c, v) : d.op == IR_SEL ? val_try(c, d.c) : -1;
    if (way >= 0) return d.op == IR_SEL ? (way ? d.a : d.b) : val_num(c, num_k(c, way));
    if ((d.op != IR_MIN && d.op != IR_MAX) || val_data(c, d.a)->op != IR_CONST || val_data(c, d.b)->op != IR_CONST) return v;
    Num far = difference(c, val_data(c, d.b)->num, val_data(c, d.a)->num);
    if (facts_imply(&c->n, &c->st->facts, far)) return d.op == IR_MIN ? d.a : d.b;
    return far && facts_imply(&c->n, &c->st->facts, num_times(&c->n, -1, far)) ? (d.op == IR_MIN ? d.b : d.a) : v;
}

static bool has_atoms(const Checker *c, Val v)
{
    if (v == 0) return true;
    const ValData *d = val_data(c, v);
    if (d->op == IR_CONST) return num_data(&c->n, d->num)->n != 0;
    return has_atoms(c, d->a) || (d->b && has_atoms(c, d->b)) || (d->c && has_atoms(c, d->c));
}

bool val_is_false(Checker *c, Val v)
{
    return !has_atoms(c, v) && val_try(c, v) == 0;
}

/* ---- other numbers in the place of atoms ---- */

static Num mapped(Checker *c, Num x, const NumMap *m)
{
    if (x == 0) return 0;
    if (m->other) {
        int64_t k = num_coefficient(&c->n, x, m->atom), l = num_coefficient(&c->n, x, m->other);
        Num rest = num_add(&c->n, num_add(&c->n, x, -k, num_atom(&c->n, m->atom)), -l, num_atom(&c->n, m->other));
        return k ? num_add(&c->n, rest, k / m->times, m->y) : x;
    }
    if (m->by_number == NULL) return num_put(&c->n, x, m->atom, m->y);
    bool any = false;
    for (uint32_t i = 0; i < num_data(&c->n, x)->n; i++) any |= num_data(&c->n, x)->t[i].atom > c->natoms;
    if (!any) return x;
    Num out = num_k(c, num_data(&c->n, x)->k);
    for (uint32_t i = 0; i < num_data(&c->n, x)->n; i++) {
        NumTerm t = num_data(&c->n, x)->t[i];
        out = num_add(&c->n, out, t.c, num_atom(&c->n, t.atom > c->natoms ? m->by_number[t.atom - c->natoms] : t.atom));
    }
    return out;
}

Num num_map(Checker *c, Num x, const NumMap *m)
{
    Num out = mapped(c, x, m);
    if (x && out == 0) lost(c, "numbers that leave 64 bits");
    return out;
}

Val val_map(Checker *c, Val v, const NumMap *m)
{
    if (v == 0) return 0;
    ValData d = *val_data(c, v);
    if (d.op == IR_CONST) return val_num(c, num_map(c, d.num, m));
    Val x = val_map(c, d.a, m), y = val_map(c, d.b, m), z = val_map(c, d.c, m);
    if (x == d.a && y == d.b && z == d.c) return v;
    d.a = x;
    d.b = y;
    d.c = z;
    return val_make(c, d);
}
