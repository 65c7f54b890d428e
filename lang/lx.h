/* Launch expressions: integer expressions over what is known when a kernel is launched.
 *
 * Symbolic sizes, strides, and scalar parameters are symbols; grid dimensions, map fields and launch checks are
 * expressions over them. The compiler builds them, the manifest carries them, the runtime evaluates them. Nodes
 * stand in one pool in dependence order (operands before users), equal nodes are one node, so that a launch
 * evaluates all of them in one pass.
 */
#ifndef LANG_LX_H
#define LANG_LX_H

#include <stdbool.h>

#include "lang/text.h"

typedef enum LxOp {
    LX_CONST, /* k */
    LX_SYM,   /* symbol number k */
    LX_ADD, LX_SUB, LX_MUL,
    LX_DIV, LX_MOD, /* floor; a divisor of 0 is an evaluation error */
    LX_CEIL,        /* ceil(a / b) */
    LX_MIN, LX_MAX,
    LX_SHL, LX_SHR, LX_AND, LX_OR, LX_XOR, /* shift counts outside 0..63: evaluation error */
    LX_EQ, LX_NE, LX_LT, LX_LE,            /* 0 or 1 */
    LX_LAND, LX_LOR, LX_NOT,
    LX_OP_COUNT
} LxOp;

typedef uint32_t Lx; /* 1-based node number; 0: none */

typedef struct LxNode {
    uint8_t op;
    uint32_t a, b; /* operands (Lx) */
    int64_t k;
} LxNode;

typedef struct LxPool {
    VEC(LxNode) nodes; /* nodes.v[i - 1] is node i */
    Lx *slots;         /* hash index over the nodes, made when the first one is added */
    uint32_t mask;
} LxPool;

/* Constants fold where the result is defined. */
Lx lx_const(Arena *ar, LxPool *p, int64_t k);
Lx lx_sym(Arena *ar, LxPool *p, uint32_t sym);
Lx lx_op(Arena *ar, LxPool *p, LxOp op, Lx a, Lx b); /* b == 0 for LX_NOT */
bool lx_is_const(const LxPool *p, Lx x, int64_t *k);

typedef enum LxStatus { LX_OK, LX_OVERFLOW, LX_DIV_ZERO, LX_BAD_SHIFT } LxStatus;
/* What an operation of the language gives for two numbers; b is unused by LX_NOT. */
LxStatus lx_apply(LxOp op, int64_t a, int64_t b, int64_t *r);
/* values[i] receives node i + 1. A failing node and all that use it get status != LX_OK in status[i] (uint8_t);
 * LX_LAND / LX_LOR / LX_MIN.. fail if an operand they need failed. syms[k] is the value of symbol k.
 * The shift, division and comparison meaning is that of .tile scalars (s64). */
void lx_eval(const LxNode *nodes, uint32_t n, const int64_t *syms, int64_t *values, uint8_t *status);

/* How operations are written: by level of the grammar, loosest first. All operators associate to the left, comparisons not at all. */
typedef enum LxLevel { LX_CALL, LX_LEVEL_LOR, LX_LEVEL_LAND, LX_COMPARE, LX_BITS, LX_SHIFT, LX_SUM, LX_TERM, LX_UNARY, LX_PRIMARY } LxLevel;
typedef struct LxText {
    const char *text;
    LxLevel level;
} LxText;
const LxText *lx_op_text(LxOp op);

/* Infix with the least parentheses; names[k] is symbol k. What is too long or too deep to read ends in "...". */
void lx_print(Text *out, const LxPool *p, Lx x, const char *const *names);

#endif
