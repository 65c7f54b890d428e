/* What the two halves of the well-formedness check share: private to them. check.c has operands, types, scopes and
 * the layout of shared memory; check_ops.c what each op asks for beyond that. */
#ifndef LOWER_IR_CHECKER_H
#define LOWER_IR_CHECKER_H

#include "lower/ir/ops.h"

enum { IR_DEPTH_MAX = 64 };

typedef struct Checker {
    Arena *arena;
    const IrKernel *k;
    const IrRole *role; /* the body at hand */
    bool tree;          /* it is the tree */
    const IrRole *who;  /* whose threads do the op at hand; the tree where all do that need it */
    uint32_t body;      /* number of that: ir_body */
    uint32_t count[IRA_TURN]; /* by IrArgKind, of what the kernel has a list of: how many; UINT32_MAX elsewhere */
    uint32_t at;        /* op in the body */
    uint32_t *defined;  /* by value: the block that it is defined in, which is its scope, from 1; 0: not yet */
    uint32_t *declared; /* by variable: the same */
    VEC(bool) closed;   /* by block, the bodies themselves among them; [0] is */
    uint32_t inner;     /* the innermost block at hand */
    uint32_t *depth_of; /* by variable: blocks that were open at its declaration */
    bool **inits;       /* by barrier and slot: has its bar.init */
    bool *created;      /* by policy: by init, or so far in this body */
    uint32_t *of_one;   /* by value: 1 + the body whose elected thread alone has it; 0: all have it */
    uint32_t *var_of_one; /* by variable: the same, in this body */
    bool any_of_one; /* an elected thread alone has some value or variable of this body, or of init */
    bool own;        /* .. and what that means for the tree's ops the roles show; so it is with maps that are made */
    bool *fresh;        /* by variable: of map.set */
    bool next_launched, waited; /* dep.launch, dep.wait: so far */
    bool any_maps;      /* there are such variables, or buffers of maps */
    bool any_tensor;    /* there are buffers in tensor memory */
    struct {
        uint8_t op;
        uint32_t outer; /* the block around it */
    } blocks[IR_DEPTH_MAX];
    uint32_t depth;
    uint8_t open[IR_OP_COUNT]; /* by op: blocks that it has opened */
    const char *error;
} Checker;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
COLD void check_fail_kernel(Checker *c, const char *fmt, ...);
COLD void check_fail(Checker *c, const char *what); /* at the op at hand */
COLD void check_fail_operand(Checker *c, IrKey key, const char *what);

/* At that op: in the tree its agent's threads do it. */
static inline void check_at(Checker *c, const IrOp *op)
{
    if (!c->tree) return;
    c->body = op->agent ? op->agent : 1;
    c->who = op->agent ? &c->k->roles.v[op->agent - 1] : c->role;
}
static inline bool check_is_plain(const IrOp *op) /* a scalar that any thread makes of others */
{
    return ir_op_info(op->op)->group == IRG_SCALAR && op->op != IR_TICKET && op->op != IR_TC_DESC;
}
static inline bool check_has_rules(const Checker *c, const IrOp *op) /* check_rules() has something to ask */
{
    return !check_is_plain(op) || op->elect || op->op == IR_LOADS || c->open[IR_LANES] || c->any_maps;
}
/* The operands are there and of their kinds. */
void check_rules(Checker *c, const IrOp *op, uint64_t has); /* has: bits of the operands' keys */
/* Behind the ops of a body. */
void check_owners(Checker *c);
/* ---- check_maps.c: maps that the device makes ---- */
void check_map_buffers(Checker *c); /* the kernel's */
void check_map_set(Checker *c, const IrOp *op);
void check_map_use(Checker *c, const IrOp *op); /* of any op: what is a buffer of maps, or a set of fresh slots, is used as that */
/* The roles against the kernel's threads, policies against its parameters. */
void check_kernel_rules(Checker *c);

#endif
