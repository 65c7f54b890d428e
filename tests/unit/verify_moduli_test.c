/* The turns after which a value comes round (tries/rounds.c), is a step more or a multiple of it, against brute force: random expressions of
 * an index are worked out for many turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/verify/graph/tries/tries.h"
#include "tests/unit/ir_fixture.h"

enum { VALUES = 10, TRIALS = 200000, LONGEST = 600, FIRST = -40 /* of the index's turns */ };

typedef struct Expression { /* value 1 is the index, each other one is made from those before it */
    IrOp op[VALUES];
    IrArg args[VALUES][3];
    const IrOp *ops[VALUES];
    uint32_t def[VALUES];
} Expression;

static uint64_t state;

static int64_t draw(int64_t lo, int64_t hi)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (int64_t)((state >> 33) % (uint64_t)(hi - lo + 1));
}

static IrArg draw_operand(IrKey key, uint32_t below, int64_t lo, int64_t hi)
{
    if (draw(0, 2) == 0) return (IrArg){.key = (uint8_t)key, .kind = IRA_IMM, .imm = draw(lo, hi)};
    return (IrArg){.key = (uint8_t)key, .kind = IRA_VAL, .id = (uint32_t)draw(1, below)};
}

static IrArg value(IrKey key, uint32_t id)
{
    return (IrArg){.key = (uint8_t)key, .kind = IRA_VAL, .id = id};
}

/* Divisors and amounts of shifts are constants that may stand there. A comparison is made a number at once. */
static uint32_t draw_op(Expression *x, uint32_t n)
{
    static const uint8_t OPS[] = {IR_ADD, IR_SUB, IR_MUL, IR_DIV, IR_MOD, IR_MOD, IR_MIN, IR_MAX, IR_AND, IR_OR, IR_XOR, IR_XOR, IR_SHL, IR_SHR, IR_NOT, IR_CMP};
    IrOp *op = &x->op[n];
    uint32_t below = n;
    *op = (IrOp){.op = OPS[draw(0, sizeof OPS - 1)], .type = IR_I64, .dst = n + 1, .args = x->args[n]};
    bool divides = op->op == IR_DIV || op->op == IR_MOD, shifts = op->op == IR_SHL || op->op == IR_SHR;
    op->args[op->nargs++] = divides || shifts || draw(0, 3) ? value(IRK_A, (uint32_t)draw(1, below)) : draw_operand(IRK_A, below, -9, 9);
    if (op->op == IR_NOT) return n + 1;
    if (divides || shifts) op->args[op->nargs++] = (IrArg){.key = IRK_B, .kind = IRA_IMM, .imm = divides ? draw(1, 7) : draw(0, 3)};
    else op->args[op->nargs++] = draw_operand(IRK_B, below, -9, 9);
    if (op->op != IR_CMP) return n + 1;
    op->type = IR_PRED;
    op->args[op->nargs++] = (IrArg){.key = IRK_REL, .kind = IRA_WORD, .id = (uint32_t)draw(IRL_EQ, IRL_GE)};
    x->op[n + 1] = (IrOp){.op = IR_SEL, .type = IR_I64, .dst = n + 2, .args = x->args[n + 1], .nargs = 3};
    x->args[n + 1][0] = value(IRK_COND, n + 1);
    x->args[n + 1][1] = draw_operand(IRK_A, below, -9, 9);
    x->args[n + 1][2] = draw_operand(IRK_B, below, -9, 9);
    return n + 2;
}

static void draw_expression(Expression *x)
{
    uint32_t n = 1;
    x->op[0] = (IrOp){.op = IR_LOOP, .type = IR_I64, .dst = 1};
    while (n + 2 <= VALUES) n = draw_op(x, n);
    if (n < VALUES) {
        x->op[n] = (IrOp){.op = IR_CVT, .type = IR_I64, .dst = VALUES, .args = x->args[n], .nargs = 1};
        x->args[n][0] = value(IRK_A, n);
        if (x->op[n - 1].type == IR_PRED) x->args[n][0].id = 1;
    }
    for (uint32_t i = 0; i < VALUES; i++) {
        x->ops[i] = &x->op[i];
        x->def[i] = i;
    }
}

/* ---- what it is ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t wrap(uint64_t a)
{
    return (int64_t)a;
}

static int64_t apply(const IrOp *op, int64_t a, int64_t b)
{
    switch ((IrOpcode)op->op) {
    case IR_ADD: return wrap((uint64_t)a + (uint64_t)b);
    case IR_SUB: return wrap((uint64_t)a - (uint64_t)b);
    case IR_MUL: return wrap((uint64_t)a * (uint64_t)b);
    case IR_DIV: return floor_div(a, b);
    case IR_MOD: return a - floor_div(a, b) * b;
    case IR_MIN: return a < b ? a : b;
    case IR_MAX: return a > b ? a : b;
    case IR_AND: return a & b;
    case IR_OR: return a | b;
    case IR_XOR: return a ^ b;
    case IR_SHL: return wrap((uint64_t)a << b);
    case IR_SHR: return floor_div(a, INT64_C(1) << b);
    case IR_NOT: return ~a;
    case IR_CVT: return a;
    default: return (const bool[]){a == b, a != b, a < b, a <= b, a > b, a >= b}[ir_find(op, IRK_REL)->id];
    }
}

static int64_t operand(const IrArg *arg, const int64_t *of)
{
    return arg == NULL ? 0 : arg->kind == IRA_IMM ? arg->imm : of[arg->id - 1];
}

/* False: some number on the way is so large that it may wrap round, which a program's numbers never do. */
static bool work_out(const Expression *x, int64_t index, int64_t *result)
{
    enum { LARGE = 1 << 15 };
    int64_t of[VALUES] = {index};
    for (uint32_t i = 1; i < VALUES; i++) {
        const IrOp *op = &x->op[i];
        int64_t a = operand(ir_find(op, IRK_A), of), b = operand(ir_find(op, IRK_B), of);
        of[i] = op->op == IR_SEL ? operand(ir_find(op, IRK_COND), of) ? a : b : apply(op, a, b);
        if (of[i] > LARGE || of[i] < -LARGE) return false;
    }
    *result = of[VALUES - 1];
    return true;
}

/* ---- what is said of it ---- */

/* After how many turns the value is a multiple of step more, as one pass over the ops says. */
static Round said(Expression *x)
{
    Round rounds[VALUES] = {{.turns = 1, .step = 1, .exact = true, .loops = 1}};
    Verifier v = {.ops = x->ops, .def = x->def, .rounds = rounds};
    for (uint32_t i = 1; i < VALUES; i++) rounds[i] = round_of_op(&v, x->ops[i]);
    return rounds[VALUES - 1];
}

static void what_is_said_to_come_round_does(void **unused)
{
    uint32_t told = 0, exactly = 0;
    (void)unused;
    for (state = 1; state < TRIALS; state++) {
        Expression x = {0};
        uint64_t seed = state;
        draw_expression(&x);
        state = seed;
        Round r = said(&x);
        int64_t turns = r.turns, a, b;
        if (turns == 0 || turns > LONGEST) continue;
        for (int64_t k = FIRST; k < FIRST + 2 * turns + 40; k++) {
            int64_t m = k % 3 == 0 ? 2 : k % 3 == 1 && !r.bits ? 3 : 1;
            if (!work_out(&x, k, &a) || !work_out(&x, k + m * turns, &b)) continue;
            if (r.exact ? b - a != m * r.step : r.step ? (b - a) % (m * r.step) != 0 : b != a) fail_msg("expression %u: not after %d times %d turns: index %d", (unsigned)seed, (int)m, (int)turns, (int)k);
        }
        told += turns > 1 && r.step == 0;
        exactly += turns > 1 && r.exact && r.step != 0;
    }
    assert_true(told > TRIALS / 50 && exactly > TRIALS / 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said_to_come_round_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
