/* Scalars: what ops make of others, worked out where it is asked for. What decides where an agent goes forks; of bytes and conditions of
 * copies it is enough that equal ones are equal, so those are named. */
#include "lang/checked.h"
#include "lang/lang.h"
#include "tests/states/checker.h"

enum { SPLIT_MOST = 16, REMAINDERS_MOST = 8 /* of the launch's numbers */, FEW = 1 << 16 };

/* ---- making them ---- */

static Val interned(Checker *c, const ValData *d)
{
    int64_t key[] = {d->op, d->rel, d->wraps, d->a, d->b, d->c, d->imm, d->of, d->num};
    Val v = names_intern(c->val_names, (const char *)key, sizeof key);
    if (v > c->vals.n) vec_push(c->arena, &c->vals, *d);
    return v;
}

Val val_num(Checker *c, Num x)
{
    return x ? interned(c, &(ValData){.op = IR_CONST, .imm = NO_LO, .num = x, .range = UNBOUNDED}) : 0;
}

static bool is_num(const Checker *c, Val v, int64_t *k)
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

Val val_make(Checker *c, ValData d)
{
    if (d.a == 0 || ((d.op != IR_CVT && d.op != IR_NOT) && d.b == 0) || (d.op == IR_SEL && d.c == 0)) return 0;
    if (interval_is(d.range) && !d.wraps && d.range.lo > NO_LO && d.range.lo < NO_HI) return val_num(c, num_k(c, d.range.lo));
    Num x = worked_out(c, &d);
    return x ? val_num(c, x) : interned(c, &d);
}

Val val_of_arg(Checker *c, const IrArg *arg)
{
    if (arg->kind == IRA_IMM) return val_num(c, num_k(c, arg->imm));
    if (c->init) return c->init[arg->id - 1];
    uint16_t slot = code_of(c)->slot[arg->id - 1];
    return slot ? c->st->env[c->place[c->agent].env + slot - 1u] : 0;
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

Val val_of_op(Checker *c, uint32_t number)
{
    const IrOp *op = c->op[number];
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *cond = ir_find(op, IRK_COND), *rel = ir_find(op, IRK_REL);
    Interval r = c->range[op->dst - 1];
    switch ((IrOpcode)op->op) {
    case IR_PARAM: return c->launch_vals[ir_find(op, IRK_EXPR)->id - 1];
    case IR_SREG: return interval_is(r) ? val_num(c, num_k(c, r.lo)) : register_val(c, (IrReg)ir_find(op, IRK_REG)->id);
    case IR_LOADS: return val_num(c, named_load(c, op, r));
    case IR_GET: return c->st->vars[c->place[c->agent].vars + ir_find(op, IRK_VAR)->id];
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

/* ---- the launch ---- */

static Num launch_atom(Checker *c, const char *name)
{
    vec_push(c->arena, &c->atom_names, name);
    return num_atom(&c->n, ++c->natoms);
}

static const char *launch_text(const Checker *c, Lx x)
{
    const MfKernel *mf = &c->k->mf;
    const char **names = arena_array(c->arena, const char *, mf->syms.n + 1);
    Text text;
    text_init(&text, c->arena->mem);
    for (uint32_t i = 0; i < mf->syms.n; i++) names[i] = mf->syms.v[i].name;
    lx_print(&text, &mf->lx, x, names);
    const char *out = arena_strdup(c->arena, text.s ? text.s : "", text.n);
    text_free(&text);
    return out;
}

/* Rounded down, by what is too much to tell the remainders apart. */
static Val launch_quotient(Checker *c, Num x, int64_t by, const char *name)
{
    Num q = launch_atom(c, name), rest = num_add(&c->n, x, -by, q);
    facts_add(&c->n, c->arena, &c->launch_facts, rest);
    facts_add(&c->n, c->arena, &c->launch_facts, num_add(&c->n, num_k(c, by - 1), -1, rest));
    return val_num(c, q);
}

static uint8_t op_of_lx(LxOp op)
{
    for (unsigned i = 0; i < IR_OP_COUNT; i++)
        if (IR_LX_OPS[i] == op && op != LX_CONST) return (uint8_t)i;
    return IR_OP_COUNT;
}

static Val launch_val(Checker *c, uint32_t x)
{
    const LxNode *n = &c->k->mf.lx.nodes.v[x];
    LxOp op = (LxOp)n->op;
    Interval r = c->launch[x];
    if (n->op == LX_CONST) return val_num(c, num_k(c, n->k));
    Val a = n->op == LX_SYM ? 0 : c->launch_vals[n->a - 1], b = n->op == LX_SYM || n->op == LX_NOT || n->b == 0 ? 0 : c->launch_vals[n->b - 1];
    int64_t k;
    if (n->op == LX_CEIL && a && b && is_num(c, b, &k) && k > 0) {
        a = val_make(c, (ValData){.op = IR_ADD, .a = a, .b = val_num(c, num_k(c, k - 1)), .imm = NO_LO, .range = UNBOUNDED});
        op = LX_DIV;
    }
    bool exact = a && b && op <= LX_XOR && op != LX_CEIL && op >= LX_ADD;
    bool divides = exact && (op == LX_DIV || op == LX_MOD), number = divides && is_num(c, b, &k) && k > 0;
    if (number && k > REMAINDERS_MOST && val_data(c, a)->op == IR_CONST && num_div(&c->n, val_data(c, a)->num, k) == 0) {
        Val q = launch_quotient(c, val_data(c, a)->num, k, launch_text(c, x + 1));
        return op == LX_DIV ? q : val_num(c, num_add(&c->n, val_data(c, a)->num, -k, val_data(c, q)->num));
    }
    if (op >= LX_EQ && op <= LX_NOT && a && (b || op == LX_NOT)) {
        static const uint8_t OPS[] = {IR_CMP, IR_CMP, IR_CMP, IR_CMP, IR_AND, IR_OR, IR_NOT}, RELS[] = {IRL_EQ, IRL_NE, IRL_LT, IRL_LE, 1, 1, 1};
        return val_make(c, (ValData){.op = OPS[op - LX_EQ], .rel = RELS[op - LX_EQ], .a = a, .b = b, .imm = NO_LO, .range = {0, 1}});
    }
    if (exact && (!divides || number)) return val_make(c, (ValData){.op = op_of_lx(op), .a = a, .b = b, .imm = number ? k : NO_LO, .range = r});
    Num atom = launch_atom(c, launch_text(c, x + 1));
    if (r.lo > NO_LO) facts_add(&c->n, c->arena, &c->launch_facts, num_plus(&c->n, atom, -r.lo));
    if (r.hi < FEW) facts_add(&c->n, c->arena, &c->launch_facts, num_add(&c->n, num_k(c, r.hi), -1, atom));
    return val_num(c, atom);
}

void values_prepare(Checker *c)
{
    const MfKernel *mf = &c->k->mf;
    c->val_names = names_new(c->arena);
    c->class_names = names_new(c->arena);
    for (uint32_t i = 0; i < IRR_COUNT; i++) {
        Num x = launch_atom(c, "a number of the grid");
        facts_add(&c->n, c->arena, &c->launch_facts, num_plus(&c->n, x, i >= IRR_NCTAID_X && i <= IRR_NCTAID_Z ? -1 : 0));
    }
    c->launch_vals = arena_array(c->arena, Val, mf->lx.nodes.n + 1);
    for (uint32_t i = 0; i < mf->lx.nodes.n; i++) c->launch_vals[i] = launch_val(c, i);
}

/* By how much a dividend is divided; 0: by no number. */
static int64_t divisor(const Checker *c, const ValData *d)
{
    int64_t k;
    return d->b && is_num(c, d->b, &k) ? divisor_of(d->op, d->rel, k) : 0;
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
    int64_t what[] = {d->op, d->rel, d->imm, d->of};
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
        learn(c);
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
    Num far = difference(c, val_force(c, d->b), val_force(c, d->a)), less = num_plus(&c->n, far, -1);
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
    case IR_XOR: return val_truth(c, d.a) != val_truth(c, d.b);
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
    x->op = d->op;
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

static Num extreme(Checker *c, const ValData *d, bool soft)
{
    Num a = worked(c, d->a, soft), b = worked(c, d->b, soft);
    if (soft) return opaque(c, d, a, b);
    if (a == b) return a;
    Num far = difference(c, b, a);
    bool less = ask(c, num_plus(&c->n, far, -1));
    return less == (d->op == IR_MIN) ? a : b;
}

static Num worked(Checker *c, Val v, bool soft)
{
    if (v == 0) lost(c, "a number that is not known");
    ValData d = *val_data(c, v);
    int64_t x, y, r;
    if (d.op == IR_CONST) return d.num;
    if (is_pred(&d) && !soft) return num_k(c, val_truth(c, v));
    if (d.op == IR_NOT) return difference(c, num_k(c, d.rel ? 1 : -1), worked(c, d.a, soft));
    if ((d.op == IR_AND || d.op == IR_OR) && d.rel) {
        Num one = num_k(c, 1), a = only_if(c, d.a), b = only_if(c, d.b);
        return d.op == IR_AND ? both_of(c, a, b) : difference(c, one, both_of(c, difference(c, one, a), difference(c, one, b)));
    }
    if (d.op == IR_SEL && !soft) return worked(c, val_truth(c, d.c) ? d.a : d.b, soft);
    if (d.op == IR_SEL) {
        int way = val_try(c, d.c);
        if (way >= 0) return worked(c, way ? d.a : d.b, soft);
        Num key[] = {worked(c, d.c, soft), worked(c, d.a, soft), worked(c, d.b, soft)}, far = difference(c, key[1], key[2]);
        if (num_is(&c->n, far, &x)) return num_add(&c->n, key[2], x, key[0]);
        return name_number(c, class_of_val(c, &d), key, 3, d.range);
    }
    if (d.op == IR_MIN || d.op == IR_MAX) return extreme(c, &d, soft);
    if (!d.wraps && (d.op == IR_ADD || d.op == IR_SUB || d.op == IR_MUL || d.op == IR_SHL)) {
        Num a = worked(c, d.a, soft), b = worked(c, d.b, soft);
        return summed(c, &d, a, b);
    }
    Num whole = d.wraps ? fits(c, v, soft) : 0;
    if (whole) return whole;
    bool bits = (d.op == IR_AND || d.op == IR_OR || d.op == IR_XOR) && !d.rel && d.b && is_num(c, d.b, &y) && y >= 0 && y < INT64_C(1) << 31;
    Num masked = bits ? by_bits(c, &d, y, soft) : 0;
    if (masked) return masked;
    int64_t by = divisor(c, &d);
    if (by) return divided(c, &d, power_of_two(by) && by <= INT64_C(1) << 31 ? exact(c, d.a, soft) : worked(c, d.a, soft), by, soft);
    Num a = worked(c, d.a, soft), b = d.b ? worked(c, d.b, soft) : 0;
    bool by_number = (d.op != IR_DIV && d.op != IR_MOD) || d.imm != NO_LO;
    bool numbers = !d.wraps && b && (!soft || by_number) && num_is(&c->n, a, &x) && num_is(&c->n, b, &y) && d.op != IR_CMP;
    if (numbers && lx_apply((LxOp)IR_LX_OPS[d.op], x, y, &r) == LX_OK) return num_k(c, r);
    return opaque(c, &d, a, b);
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

Num num_map(Checker *c, Num x, const NumMap *m)
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
