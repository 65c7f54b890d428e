/* IR from values: scalars as ops, blocks, statements that are nothing but scalars, bodies.
 *
 *   values.c      ops, numbered by what they compute; scopes
 *   calls.c       the calls that they stand in
 *   ranks.c       who this CTA is in its cluster
 *   statements.c  let, var, set and what a loop's index is
 *   bodies.c      a role's ops become its body
 */
#ifndef LOWER_EMIT_VALUES_H
#define LOWER_EMIT_VALUES_H

#include "lower/algebra/scalars/scalars.h"
#include "lower/ir/ir.h"
#include "lower/kernel/kernel.h"

typedef struct Numbered { /* one op already emitted */
    IrVal value;
    uint32_t scope;
} Numbered;

struct Values {
    Names *numbers; /* ops, by their operands; what is known of each: */
    VEC(Numbered) numbered;
    VEC(uint8_t) live;    /* by scope: still open */
    VEC(uint8_t) hoisted; /* by value: defined in the prologue */
    VEC(uint32_t) scopes; /* open, innermost last; number 0 is the whole kernel */
    bool no_hoist;        /* nothing goes to the prologue */
    bool lanes;           /* the role at hand is a whole warp that may deal copies to its lanes */
    uint32_t in_lanes;    /* the scope of the `lanes` block at hand; 0: none */
    Span *scalar_reads;   /* by tensor index: where one was read as a scalar */
    Names *frames;        /* calls of functions, by their CallFrame: IrKernel.calls */
    const CallFrame *frame; /* the last one that was asked for, and its number */
    uint32_t call;
};

/* ---- values.c ---- */
void values_begin(Lower *L); /* the scope that is the whole kernel */
Opnd value_low(Lower *L, const Sx *x);  /* low 32 bits, i32 */
Opnd value_wide(Lower *L, const Sx *x); /* exact, i64 */
Opnd value_pred(Lower *L, const Sx *x); /* immediate 0 / 1, or a pred */
Opnd emit_op(Lower *L, IrOpcode op, IrType t, Opnd a, Opnd b);
Opnd emit_by_recip(Lower *L, IrOpcode op, Opnd a, Opnd b, Lx recip); /* IR_DIV or IR_MOD of i64, by 2^62 / b + 1: ops.def */
Opnd emit_cmp(Lower *L, IrRel rel, Opnd a, Opnd b);
Opnd emit_logic(Lower *L, IrOpcode op, Opnd a, Opnd b); /* and, or of preds */
Opnd emit_sel(Lower *L, IrType t, Opnd cond, Opnd a, Opnd b);
Opnd emit_get(Lower *L, uint32_t var); /* of a variable of the IR */
IrOp *emit_set(Lower *L, IrOpcode code, uint32_t var, Opnd x); /* IR_VAR begins it, IR_SET changes it */
void emit_grp_wait(Lower *L, int64_t groups, IrHow how);
Opnd emit_not(Lower *L, Opnd a);
Opnd emit_cvt(Lower *L, IrType t, Opnd a);
Opnd emit_sreg(Lower *L, IrReg r);
Opnd emit_param(Lower *L, Lx x);       /* i64 */
IrOp *emit_new(Lower *L, IrOpcode op); /* in body, at the current statement */
IrOp *emit_when(Lower *L, IrOpcode op, Opnd cond);                      /* .. that happens where cond holds */
IrOp *emit_value(Lower *L, IrOpcode op, IrType t, const char *name);    /* .. with a value, that may have a name */
IrOp *emit_at(Lower *L, IrOpcode op, uint32_t bar, Opnd slot);          /* .. at a barrier, which is its first operand */
void emit_fence(Lower *L, IrSpace space);
void emit_if(IrOp *op, Opnd cond);     /* the op happens where cond holds */
void put_opnd(Lower *L, IrOp *op, IrKey key, Opnd o);
/* A place in a buffer, a barrier: the first slot and byte 0 go without saying. */
void put_buf(Lower *L, IrOp *op, IrKey key, uint32_t buf, Opnd slot, Opnd at);
void put_bar(Lower *L, IrOp *op, uint32_t bar, Opnd slot);
Opnd emit_zeros(Lower *L); /* address of the block of zeros */
Opnd emit_gaddr(Lower *L, uint32_t tensor, Opnd byte);
Opnd emit_descriptor(Lower *L, uint32_t buf, uint32_t lead, uint32_t stride, uint8_t swizzle); /* tc.desc, once for all who ask for it */
Opnd emit_each(Lower *L, int64_t n); /* opens a block for each number below n: a loop, or where a role has lanes to which they may be dealt `lanes` */
/* Number of the row of the tensor that row `index` of a share is, of n in all: -1 where there is none. i64. A share has so many rows, from
 * `first` on, i32. */
Opnd row_index(Lower *L, const PRows *rows, int64_t n, Opnd first, int64_t share, Opnd index);
Opnd emit_loop(Lower *L, IrType t, Opnd a, Opnd b); /* opens the block and its scope; the index */
void emit_end(Lower *L);
void values_forget(Lower *L, uint8_t uses); /* values of what has such uses are made anew */
void scope_open(Lower *L);
void scope_close(Lower *L);
uint32_t param_add(Lower *L, MfParamKind kind, uint32_t index);

/* ---- ranks.c ---- */
Opnd cluster_member(Lower *L, PCast cast, uint32_t i);                 /* rank of the i-th CTA of the own set */
Opnd cluster_share(Lower *L, PCast cast);                              /* which of them this CTA is */
Opnd cluster_mask(Lower *L, PCast cast);

/* ---- statements.c ---- */
void lower_let(Lower *L, const PStmt *st);
void lower_assign(Lower *L, const PStmt *st);
Opnd lower_bound(Lower *L, const Sx *x, bool wide);
void loop_open(Lower *L, const PStmt *st); /* its index may be used from here on */
void loop_close(Lower *L, const PStmt *st);

/* ---- bodies.c ---- */
typedef enum Shape { SHAPE_ELECT, SHAPE_LANES, SHAPE_THREADS } Shape; /* who runs a role's body */
void body_elect(IrRole *r, uint8_t agent, Shape shape); /* which of the agent's ops one thread does; 0: the whole body is a role's */
void body_set(Lower *L, IrRole *to, IrRole *from); /* without what never happens; `from` is empty then */

/* ---- dependent.c ---- */
void body_depend(Lower *L); /* init is whole: the kernel waits there for launches before it */

/* ---- calls.c ---- */
uint32_t call_here(Lower *L); /* IrOp.call at the statement at hand */

#endif
