/* What the launch says: its numbers, and what is worked out of them before the kernel begins. */
#include "lang/checked.h"
#include "lang/lang.h"
#include "lower/verify/states/steps/steps.h"

enum { REMAINDERS_MOST = 8, FEW = 1 << 16 };

static Num launch_atom(Checker *c, const char *name, Lx x)
{
    vec_push(c->arena, &c->atom_names, name);
    vec_push(c->arena, &c->atom_lx, x);
    return num_atom(&c->n, ++c->natoms);
}

const char *expr_text(const Checker *c, Lx x)
{
    const MfKernel *mf = &c->k->mf;
    const char **names = arena_array(c->arena, const char *, mf->syms.n + 1);
    Text text;
    for (uint32_t i = 0; i < mf->syms.n; i++) names[i] = mf->syms.v[i].name;
    text_in(&text, c->arena);
    lx_print(&text, &mf->lx, x, names);
    return text_end(&text);
}

/* Rounded down, by what is too much to tell the remainders apart: of equal numbers one. */
static Val launch_quotient(Checker *c, Num x, int64_t by, Lx of)
{
    for (uint32_t i = 0; i < c->quotients.n; i++)
        if (c->quotients.v[i].x == x && c->quotients.v[i].by == by) return val_num(c, c->quotients.v[i].q);
    Num q = launch_atom(c, expr_text(c, of), of), rest = num_add(&c->n, x, -by, q);
    vec_push(c->arena, &c->quotients, ((Quotient){x, q, by}));
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
    if (c->given && c->status[x] == LX_OK) return val_num(c, num_k(c, c->given[x]));
    Val a = n->op == LX_SYM ? 0 : c->launch_vals[n->a - 1], b = n->op == LX_SYM || n->op == LX_NOT || n->b == 0 ? 0 : c->launch_vals[n->b - 1];
    int64_t k = 0;
    if (n->op == LX_CEIL && a && b && val_is_num(c, b, &k) && k > 0) {
        a = val_make(c, (ValData){.op = IR_ADD, .a = a, .b = val_num(c, num_k(c, k - 1)), .imm = NO_LO, .range = UNBOUNDED});
        op = LX_DIV;
    }
    bool exact = a && b && op <= LX_XOR && op != LX_CEIL && op >= LX_ADD;
    bool divides = exact && (op == LX_DIV || op == LX_MOD), number = divides && val_is_num(c, b, &k) && k > 0;
    if (number && k > (x < c->k_nodes ? REMAINDERS_MOST : SPLIT_MOST) && val_data(c, a)->op == IR_CONST && num_div(&c->n, val_data(c, a)->num, k) == 0) {
        Val q = launch_quotient(c, val_data(c, a)->num, k, x + 1);
        return op == LX_DIV ? q : val_num(c, num_add(&c->n, val_data(c, a)->num, -k, val_data(c, q)->num));
    }
    if (op >= LX_EQ && op <= LX_NOT && a && (b || op == LX_NOT) && 1 + val_size(c, a) + val_size(c, b) < VAL_MOST) {
        static const uint8_t OPS[] = {IR_CMP, IR_CMP, IR_CMP, IR_CMP, IR_AND, IR_OR, IR_NOT}, RELS[] = {IRL_EQ, IRL_NE, IRL_LT, IRL_LE, 1, 1, 1};
        return val_make(c, (ValData){.op = OPS[op - LX_EQ], .rel = RELS[op - LX_EQ], .a = a, .b = b, .imm = NO_LO, .range = {0, 1}});
    }
    if (number) r = interval_of(op, interval_add(c->launch[n->a - 1], interval_at(n->op == LX_CEIL ? k - 1 : 0)), interval_at(k)); /* what checks say of it is asserted by itself */
    Interval wide = interval_is(r) ? UNBOUNDED : r; /* that a fact makes it one number says something of what it is made of, too */
    bool product = exact && op == LX_MUL && !val_is_num(c, a, &k) && !val_is_num(c, b, &k); /* one number, as it is asked for in all turns */
    bool small = 1 + val_size(c, a) + val_size(c, b) < VAL_MOST;
    c->coarse |= a && !small;
    if (exact && small && !product && (!divides || number)) return val_make(c, (ValData){.op = op_of_lx(op), .a = a, .b = b, .imm = number ? k : NO_LO, .range = wide});
    Num atom = launch_atom(c, expr_text(c, x + 1), x + 1);
    if (r.lo > NO_LO) facts_add(&c->n, c->arena, &c->launch_facts, num_plus(&c->n, atom, -r.lo));
    if (r.hi < FEW) facts_add(&c->n, c->arena, &c->launch_facts, num_add(&c->n, num_k(c, r.hi), -1, atom));
    return val_num(c, atom);
}

void values_prepare(Checker *c)
{
    const MfKernel *mf = &c->k->mf;
    c->launch = ir_launch_ranges(c->arena, mf);
    c->val_names = names_new(c->arena);
    c->class_names = names_new(c->arena);
    c->shapes = names_new(c->arena);
    for (uint32_t i = 0; i < IRR_COUNT; i++) {
        Num x = launch_atom(c, "a number of the grid", 0);
        facts_add(&c->n, c->arena, &c->launch_facts, num_plus(&c->n, x, i >= IRR_NCTAID_X && i <= IRR_NCTAID_Z ? -1 : 0));
    }
    c->launch_vals = arena_array(c->arena, Val, mf->lx.nodes.n + 1);
    for (uint32_t i = 0; i < mf->lx.nodes.n; i++) c->launch_vals[i] = launch_val(c, i);
}
