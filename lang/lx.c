#include "lang/lx.h"

#include "lang/checked.h"

/* ---- one pool, equal nodes once ---- */

static uint32_t hash_node(const LxNode *n)
{
    uint64_t h = (uint64_t)n->k * UINT64_C(0x9E3779B97F4A7C15);
    h ^= ((uint64_t)n->op << 56 ^ (uint64_t)n->a << 28 ^ n->b) * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (uint32_t)(h ^ h >> 32);
}

static Lx *slot_of(const LxPool *p, const LxNode *n)
{
    for (uint32_t i = hash_node(n) & p->mask;; i = (i + 1) & p->mask) {
        Lx x = p->slots[i];
        if (x == 0) return &p->slots[i];
        const LxNode *m = &p->nodes.v[x - 1];
        if (m->op == n->op && m->a == n->a && m->b == n->b && m->k == n->k) return &p->slots[i];
    }
}

static void make_slots(Arena *ar, LxPool *p, uint32_t count)
{
    p->slots = arena_array(ar, Lx, count);
    p->mask = count - 1;
    for (uint32_t i = 0; i < p->nodes.n; i++) *slot_of(p, &p->nodes.v[i]) = i + 1;
}

static Lx node(Arena *ar, LxPool *p, LxNode n)
{
    if (p->slots == NULL || p->nodes.n > p->mask / 2) {
        uint32_t count = 64;
        while (count / 2 <= p->nodes.n) count *= 2;
        make_slots(ar, p, count);
    }
    Lx *slot = slot_of(p, &n);
    if (*slot == 0) {
        vec_push(ar, &p->nodes, n);
        *slot = p->nodes.n;
    }
    return *slot;
}

Lx lx_const(Arena *ar, LxPool *p, int64_t k)
{
    return node(ar, p, (LxNode){.op = LX_CONST, .k = k});
}

Lx lx_sym(Arena *ar, LxPool *p, uint32_t sym)
{
    return node(ar, p, (LxNode){.op = LX_SYM, .k = sym});
}

bool lx_is_const(const LxPool *p, Lx x, int64_t *k)
{
    if (x == 0 || p->nodes.v[x - 1].op != LX_CONST) return false;
    *k = p->nodes.v[x - 1].k;
    return true;
}

/* ---- evaluation ---- */

static LxStatus ok_if(bool fits)
{
    return fits ? LX_OK : LX_OVERFLOW;
}

static LxStatus divide(LxOp op, int64_t a, int64_t b, int64_t *r)
{
    if (b == 0) return LX_DIV_ZERO;
    if (op == LX_DIV) return ok_if(floor_div_s64(a, b, r));
    if (op == LX_CEIL) return ok_if(ceil_div_s64(a, b, r));
    *r = floor_mod_s64(a, b);
    return LX_OK;
}

static LxStatus shift(LxOp op, int64_t a, int64_t b, int64_t *r)
{
    if (b < 0 || b > 63) return LX_BAD_SHIFT;
    if (op == LX_SHR) { /* arithmetic, whatever the compiler does with >> of negative numbers */
        *r = a < 0 ? ~(int64_t)(~(uint64_t)a >> b) : (int64_t)((uint64_t)a >> b);
        return LX_OK;
    }
    if (b == 63) {
        *r = a == -1 ? INT64_MIN : 0;
        return ok_if(a == 0 || a == -1);
    }
    return ok_if(mul_s64(a, (int64_t)1 << b, r));
}

LxStatus lx_apply(LxOp op, int64_t a, int64_t b, int64_t *r)
{
    switch (op) {
    case LX_ADD: return ok_if(add_s64(a, b, r));
    case LX_SUB: return ok_if(sub_s64(a, b, r));
    case LX_MUL: return ok_if(mul_s64(a, b, r));
    case LX_DIV:
    case LX_MOD:
    case LX_CEIL: return divide(op, a, b, r);
    case LX_SHL:
    case LX_SHR: return shift(op, a, b, r);
    case LX_MIN: *r = a < b ? a : b; break;
    case LX_MAX: *r = a > b ? a : b; break;
    case LX_AND: *r = a & b; break;
    case LX_OR: *r = a | b; break;
    case LX_XOR: *r = a ^ b; break;
    case LX_EQ: *r = a == b; break;
    case LX_NE: *r = a != b; break;
    case LX_LT: *r = a < b; break;
    case LX_LE: *r = a <= b; break;
    case LX_LAND: *r = a && b; break;
    case LX_LOR: *r = a || b; break;
    case LX_NOT: *r = !a; break;
    default: *r = 0; break;
    }
    return LX_OK;
}

/* The left operand alone decides `0 && x` and `1 || x`. */
static bool left_decides(LxOp op, int64_t a)
{
    return (op == LX_LAND && a == 0) || (op == LX_LOR && a != 0);
}

static void eval_node(const LxNode *n, const int64_t *syms, const int64_t *values, const uint8_t *status,
                      int64_t *value, uint8_t *stat)
{
    LxOp op = (LxOp)n->op;
    *stat = LX_OK;
    *value = 0;
    if (op == LX_CONST) *value = n->k;
    else if (op == LX_SYM) *value = syms[n->k];
    else if (status[n->a - 1] != LX_OK) *stat = status[n->a - 1];
    else if (left_decides(op, values[n->a - 1])) *value = op == LX_LOR;
    else if (n->b && status[n->b - 1] != LX_OK) *stat = status[n->b - 1];
    else *stat = (uint8_t)lx_apply(op, values[n->a - 1], n->b ? values[n->b - 1] : 0, value);
}

void lx_eval(const LxNode *nodes, uint32_t n, const int64_t *syms, int64_t *values, uint8_t *status)
{
    for (uint32_t i = 0; i < n; i++) eval_node(&nodes[i], syms, values, status, &values[i], &status[i]);
}

/* ---- building with folding ---- */

/* x op k and k op x that are x for every x; 0: none. Nothing is folded that could hide a failing operand. */
static Lx neutral(LxOp op, Lx a, bool ka, int64_t va, Lx b, bool kb, int64_t vb)
{
    bool right0 = op == LX_ADD || op == LX_SUB || op == LX_SHL || op == LX_SHR || op == LX_OR || op == LX_XOR;
    bool left0 = op == LX_ADD || op == LX_OR || op == LX_XOR;
    bool right1 = op == LX_MUL || op == LX_DIV || op == LX_CEIL;
    if (kb && ((right0 && vb == 0) || (right1 && vb == 1))) return a;
    if (ka && ((left0 && va == 0) || (op == LX_MUL && va == 1))) return b;
    if (a == b && (op == LX_MIN || op == LX_MAX || op == LX_AND || op == LX_OR)) return a;
    return 0;
}

Lx lx_op(Arena *ar, LxPool *p, LxOp op, Lx a, Lx b)
{
    int64_t va = 0, vb = 0, r;
    bool ka = lx_is_const(p, a, &va), kb = b && lx_is_const(p, b, &vb);
    if (ka && left_decides(op, va)) return lx_const(ar, p, op == LX_LOR);
    if (ka && (kb || b == 0) && lx_apply(op, va, vb, &r) == LX_OK) return lx_const(ar, p, r);
    Lx same = neutral(op, a, ka, va, b, kb, vb);
    return same ? same : node(ar, p, (LxNode){.op = (uint8_t)op, .a = a, .b = b});
}

/* ---- printing ---- */

enum { DEPTH_MAX = 64, LENGTH_MAX = 4096 };

static const LxText TEXTS[LX_OP_COUNT] = {
    [LX_CONST] = {"", LX_PRIMARY}, [LX_SYM] = {"", LX_PRIMARY}, [LX_ADD] = {"+", LX_SUM},           [LX_SUB] = {"-", LX_SUM},
    [LX_MUL] = {"*", LX_TERM},     [LX_DIV] = {"/", LX_TERM},   [LX_MOD] = {"%", LX_TERM},          [LX_CEIL] = {"ceil", LX_CALL},
    [LX_MIN] = {"min", LX_CALL},   [LX_MAX] = {"max", LX_CALL}, [LX_SHL] = {"<<", LX_SHIFT},        [LX_SHR] = {">>", LX_SHIFT},
    [LX_AND] = {"&", LX_BITS},     [LX_OR] = {"|", LX_BITS},    [LX_XOR] = {"^", LX_BITS},          [LX_EQ] = {"==", LX_COMPARE},
    [LX_NE] = {"!=", LX_COMPARE},  [LX_LT] = {"<", LX_COMPARE}, [LX_LE] = {"<=", LX_COMPARE},       [LX_LAND] = {"&&", LX_LEVEL_LAND},
    [LX_LOR] = {"||", LX_LEVEL_LOR}, [LX_NOT] = {"!", LX_UNARY},
};

const LxText *lx_op_text(LxOp op)
{
    return &TEXTS[op];
}

typedef struct Printer {
    Text *out;
    size_t end; /* length at which to stop: nodes are shared, so a small pool can be a huge text */
    const LxPool *p;
    const char *const *names;
} Printer;

static void print(const Printer *pr, Lx x, LxLevel level, int depth);

static void print_binary(const Printer *pr, const LxNode *n, int depth)
{
    LxText op = TEXTS[n->op];
    if (op.level == LX_CALL) {
        text_str(pr->out, op.text);
        text_char(pr->out, '(');
        print(pr, n->a, LX_LEVEL_LOR, depth);
        text_lit(pr->out, ", ");
        print(pr, n->b, LX_LEVEL_LOR, depth);
        text_char(pr->out, ')');
        return;
    }
    print(pr, n->a, op.level == LX_COMPARE ? LX_BITS : op.level, depth);
    text_char(pr->out, ' ');
    text_str(pr->out, op.text);
    text_char(pr->out, ' ');
    print(pr, n->b, op.level + 1, depth);
}

/* 0 - x, where x has no sign of its own and needs no parentheses: a product begins with what has none. */
static bool is_minus(const LxPool *p, const LxNode *n)
{
    int64_t k;
    if (n->op != LX_SUB || !lx_is_const(p, n->a, &k) || k != 0) return false;
    Lx x = n->b;
    while (p->nodes.v[x - 1].op == LX_MUL) x = p->nodes.v[x - 1].a;
    LxLevel level = TEXTS[p->nodes.v[x - 1].op].level;
    return level == LX_CALL || (level == LX_PRIMARY && (!lx_is_const(p, x, &k) || (x != n->b && k > 0)));
}

static void print(const Printer *pr, Lx x, LxLevel level, int depth)
{
    if (depth > DEPTH_MAX || pr->out->n > pr->end) {
        text_lit(pr->out, "...");
        return;
    }
    const LxNode *n = &pr->p->nodes.v[x - 1];
    LxLevel own = TEXTS[n->op].level;
    bool minus = is_minus(pr->p, n);
    if (minus || (n->op == LX_CONST && n->k < 0)) own = minus && pr->p->nodes.v[n->b - 1].op == LX_MUL ? LX_TERM : LX_UNARY;
    bool parens = own != LX_CALL && own < level;
    if (parens) text_char(pr->out, '(');
    if (n->op == LX_CONST) text_int(pr->out, n->k);
    else if (n->op == LX_SYM) text_str(pr->out, pr->names[n->k]);
    else if (n->op == LX_NOT) {
        text_char(pr->out, '!');
        print(pr, n->a, LX_UNARY, depth + 1);
    } else if (minus) {
        text_char(pr->out, '-');
        print(pr, n->b, pr->p->nodes.v[n->b - 1].op == LX_MUL ? LX_TERM : LX_PRIMARY, depth + 1);
    } else {
        print_binary(pr, n, depth + 1);
    }
    if (parens) text_char(pr->out, ')');
}

void lx_print(Text *out, const LxPool *p, Lx x, const char *const *names)
{
    Printer pr = {out, out->n + LENGTH_MAX, p, names};
    print(&pr, x, LX_LEVEL_LOR, 0);
}
