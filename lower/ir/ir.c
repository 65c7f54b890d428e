#include "lower/ir/ir.h"

#include <string.h>

#include "lower/ir/ops.h"

/* The result column of ops.def: these names, or a minus sign, which `-+0` makes IR_NONE. */
enum { i32 = IR_I32, i64 = IR_I64, pred = IR_PRED, num = IR_RESULT_NUM, any = IR_RESULT_ANY };

const IrOpInfo IR_OPS[IR_OP_COUNT] = {
#define OP(id, text, result, group, who, operands) [IR_##id] = {text, (uint8_t)(result + 0), IRG_##group, IRB_##who},
#include "lower/ir/ops.def"
};

const uint8_t IR_LX_OPS[IR_OP_COUNT] = {
    [IR_ADD] = LX_ADD, [IR_SUB] = LX_SUB, [IR_MUL] = LX_MUL, [IR_DIV] = LX_DIV, [IR_MOD] = LX_MOD, [IR_MIN] = LX_MIN,
    [IR_MAX] = LX_MAX, [IR_SHL] = LX_SHL, [IR_SHR] = LX_SHR, [IR_AND] = LX_AND, [IR_OR] = LX_OR,   [IR_XOR] = LX_XOR,
};

const uint64_t IR_OP_KEYS[UINT8_MAX + 1] = {
#define ARG(key, kind) | UINT64_C(1) << IRK_##key
#define OP(id, text, result, group, who, operands) [IR_##id] = 0 operands,
#include "lower/ir/ops.def"
};
_Static_assert(IRK_KEYS <= 64, "a bit for each key");

const IrSignature IR_SIGNATURES[IR_OP_COUNT] = {
#define IS(kind)                                                                                                       \
    (kind == 'm' ? IRA_MAP : kind == 'b' ? IRA_BUF : kind == 'r' ? IRA_BAR : kind == 't' ? IRA_TENSOR                    \
     : kind == 'l' ? IRA_POL : kind == 'x' ? IRA_VAR : kind == 'L' ? IRA_LX : kind == 'w' ? IRA_WORD                     \
     : kind == 'q' ? IRA_PLAN : kind == 'g' ? IRA_RING : kind == 'i' ? IRA_IMM : IRA_VAL)
#define OF(kind)                                                                                                       \
    (kind == 'h' ? IR_I32 : kind == 'd' ? IR_I64 : kind == 'p' ? IR_PRED : kind == 'o' ? IR_TYPE_OWN                     \
     : kind == 'e' ? IR_TYPE_STATED : IR_NONE)
#define ARG(key, kind) {IRK_##key, IS(kind), OF(kind), false, false},
#define MAY(key, kind) {IRK_##key, IS(kind), OF(kind), false, true},
#define LIST(key, kind) {IRK_##key, IS(kind), OF(kind), true, false},
#define SOME(key, kind) {IRK_##key, IS(kind), OF(kind), true, true},
#define OP(id, text, result, group, who, operands)                                                                     \
    [IR_##id] = {sizeof((IrOperand[]){operands{0}}) / sizeof(IrOperand) - 1, {operands{0}}},
#include "lower/ir/ops.def"
#undef OF
#undef IS
};

/* What stands before an operand; NULL: what keys.def says. Apart from the rows, each of which fits into a cache line without it: the checker reads them for every op. */
static const char *const BEFORE[IR_OP_COUNT][IR_OPERANDS_MAX] = {
#define ARG(key, kind) NULL,
#define AS(before, key, kind) before,
#define OP(id, text, result, group, who, operands) [IR_##id] = {operands NULL},
#include "lower/ir/ops.def"
};

#define W(word) word,
#define KEY(id, text, before, words) static const char *const WORDS_OF_##id[] = {words NULL};
#include "lower/ir/keys.def"
#undef KEY
_Static_assert(sizeof WORDS_OF_REG / sizeof *WORDS_OF_REG == IRR_COUNT + 1 && sizeof WORDS_OF_SHAPE / sizeof *WORDS_OF_SHAPE == IRP_SHAPES + 1,
               "a word for each");
static const struct {
    const char *text, *before;
    const char *const *words;
    uint32_t nwords;
} KEYS[] = {
#define KEY(id, text, before, words) {text, before, WORDS_OF_##id, sizeof WORDS_OF_##id / sizeof *WORDS_OF_##id - 1},
#include "lower/ir/keys.def"
#undef KEY
};
#undef W

static const char *const TYPES[] = {[IR_NONE] = "-", [IR_I32] = "i32", [IR_I64] = "i64", [IR_PRED] = "pred"};

const char *ir_key_text(IrKey k)
{
    return KEYS[k].text;
}

const char *ir_type_text(IrType t)
{
    return TYPES[t];
}

IrType ir_type_named(const char *s)
{
    IrType t = IR_PRED;
    while (t != IR_NONE && strcmp(TYPES[t], s) != 0) t--;
    return t;
}

static const char *const *words_of(WordList list, uint32_t *n)
{
    size_t count;
    const char *const *words = word_list(list, &count);
    *n = (uint32_t)count;
    return words;
}

const char *const *ir_words(IrKey key, uint32_t *n)
{
    switch (key) {
    case IRK_ROP: return words_of(WORDS_REDUCE, n);
    case IRK_ELEM: return words_of(WORDS_TYPE, n);
    case IRK_LAYOUT: return words_of(WORDS_SWIZZLE, n);
    default: *n = KEYS[key].nwords; return *n ? KEYS[key].words : NULL;
    }
}

bool ir_touches_global(const IrOp *op)
{
    switch ((IrOpcode)op->op) {
    case IR_LOADS:
    case IR_TICKET:
    case IR_THR_LOAD:
    case IR_THR_STORE:
    case IR_MAP_SET: return true;
    default: return ir_op_info((IrOpcode)op->op)->group == IRG_COPY;
    }
}

const char *ir_before(const IrSignature *sig, unsigned i)
{
    const char *own = BEFORE[sig - IR_SIGNATURES][i];
    return i == 0 ? " " : own ? own : KEYS[sig->v[i].key].before;
}

IrVal ir_value(Arena *a, IrKernel *k, IrType t, const char *name_hint)
{
    vec_push(a, &k->value_types, (uint8_t)t);
    vec_push(a, &k->value_names, name_hint);
    return k->value_types.n;
}

uint32_t ir_var(Arena *a, IrKernel *k, IrType t, const char *name)
{
    vec_push(a, &k->vars, ((IrVar){name, (uint8_t)t}));
    return k->vars.n - 1;
}

IrOp *ir_op(Arena *a, IrRole *r, IrOpcode op, Span span)
{
    IrOp *o = vec_add(a, &r->ops);
    *o = (IrOp){.op = (uint8_t)op, .span = span};
    return o;
}

void ir_call_notes(Diags *d, Diag *g, const IrKernel *k, uint32_t call)
{
    for (; call; call = k->calls.v[call - 1].outer) diag_note(d, g, k->calls.v[call - 1].span, "in `%s`, called here", k->calls.v[call - 1].fn);
}

void ir_put(Arena *a, IrOp *op, IrArg arg)
{
    uint32_t n = op->nargs;
    op->args = arena_grow(a, op->args, n * sizeof arg, (n + 1) * sizeof arg);
    op->args[n] = arg;
    op->nargs = (uint16_t)(n + 1);
}

void ir_imm(Arena *a, IrOp *op, IrKey key, int64_t imm)
{
    ir_put(a, op, (IrArg){.key = (uint8_t)key, .kind = IRA_IMM, .imm = imm});
}

void ir_ref(Arena *a, IrOp *op, IrKey key, IrArgKind kind, uint32_t id)
{
    ir_put(a, op, (IrArg){.key = (uint8_t)key, .kind = (uint8_t)kind, .id = id});
}

const IrArg *ir_part(const IrOp *op, const IrArg *object, IrKey key)
{
    for (const IrArg *p = object + 1; p < op->args + op->nargs && p->key >= IRK_SLOT; p++)
        if (p->key == key) return p;
    return NULL;
}

unsigned ir_list(const IrOp *op, IrKey key, const IrArg **first)
{
    const IrArg *p = ir_find(op, key), *end = op->args + op->nargs;
    unsigned n = 0;
    *first = p;
    while (p && p + n < end && p[n].key == key) n++;
    return n;
}

uint32_t ir_bodies(const IrKernel *k)
{
    return k->roles.n + 2;
}

const IrRole *ir_body(const IrKernel *k, uint32_t i)
{
    return i == 0 ? &k->init : i <= k->roles.n ? &k->roles.v[i - 1] : &k->exit;
}

bool ir_body_has(const IrRole *body, IrOpcode op)
{
    for (uint32_t i = 0; i < body->ops.n; i++)
        if (body->ops.v[i].op == op) return true;
    return false;
}

bool ir_has(const IrKernel *k, IrOpcode op)
{
    for (uint32_t b = 0; b < ir_bodies(k); b++)
        if (ir_body_has(ir_body(k, b), op)) return true;
    return false;
}
