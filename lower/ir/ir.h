/* The async IR: what a kernel does, every synchronisation explicit.
 *
 * In: built by lower/ from the checked program. Out: read by the verifier (which trusts nothing else), the
 * emitter and the printer. A kernel has its launch manifest (parameters, maps, checks, grid), its shared-memory
 * objects (buffers, barriers), policies, an init body, one body of ops per role that run side by side, and an exit body.
 * Bodies are flat: loop, repeat, lanes, if and else open a block, `end` closes it. Values are defined once and used in the block (or a nested one) that defines them;
 * variables are mutable registers. Text form: printed by ir_print, read back by ir_read.
 *
 * Glossary: role - the warps that run one body; elect - one thread of the role does it; slot - one of the equal
 * parts of a ring buffer or array of barriers; phase - parity of a barrier's current phase; group - bulk async-group.
 */
#ifndef LOWER_IR_IR_H
#define LOWER_IR_IR_H

#include "lang/diag/diag.h"
#include "lang/interval.h"
#include "lang/manifest/manifest.h"
#include "lang/names.h"

typedef enum IrOpcode {
#define OP(id, ...) IR_##id,
#include "lower/ir/ops.def"
    IR_OP_COUNT
} IrOpcode;

typedef enum IrType { IR_NONE, IR_I32, IR_I64, IR_PRED } IrType;
typedef enum IrGroup { IRG_CONTROL, IRG_SCALAR, IRG_RING, IRG_BARRIER, IRG_SYNC, IRG_GROUP, IRG_FENCE, IRG_COPY, IRG_THREAD, IRG_KERNEL } IrGroup;
typedef enum IrWho { IRB_ONE, IRB_ANY, IRB_EACH, IRB_ALL } IrWho;

/* Operand keys; SLOT and OFFSET, the parts of buffer and barrier operands, are the last. */
typedef enum IrKey {
#define KEY(id, ...) IRK_##id,
#include "lower/ir/keys.def"
#undef KEY
    IRK_KEYS
} IrKey;
typedef enum IrArgKind { IRA_IMM, IRA_VAL, IRA_MAP, IRA_BUF, IRA_BAR, IRA_TENSOR, IRA_POL, IRA_VAR, IRA_LX, IRA_WORD, IRA_PLAN, IRA_RING, IRA_TURN, IRA_KINDS } IrArgKind;

typedef uint32_t IrVal; /* 1-based; 0: none */

/* When an op happens: zeroed, always. A kernel that is finished has none that never happens; while it is made, a condition
 * that is known to be false must not look like none. */
typedef enum IrWhen { IRW_ALWAYS, IRW_IF, IRW_NEVER } IrWhen;
typedef struct IrGuard {
    IrWhen when;
    IrVal pred; /* of IRW_IF; 0 otherwise */
} IrGuard;
static inline IrGuard ir_if(IrVal pred) /* 0: always */
{
    return (IrGuard){pred ? IRW_IF : IRW_ALWAYS, pred};
}

enum { IR_MAP_BYTES = 128 };                           /* of a tensor map: map.set */
enum { IR_CELL_BYTES = 8, IR_ANSWER_BYTES = 16 }; /* of ld.shared, st.shared and st.async; of clc.next */

typedef struct IrArg {
    uint8_t key, kind;
    uint32_t id; /* value, map, buffer, barrier, tensor, policy, variable, launch expression, word or ring; IRA_TURN, of a slot: the ring whose generation is meant */
    int64_t imm;
} IrArg;

/* Words of `w` operands, in the order of keys.def. */
typedef enum IrReg {
    IRR_CTAID_X, IRR_CTAID_Y, IRR_CTAID_Z, IRR_NCTAID_X, IRR_NCTAID_Y, IRR_NCTAID_Z,
    IRR_CLUSTER_CTAID_X, IRR_CLUSTER_CTAID_Y, IRR_CLUSTER_CTAID_Z,
    IRR_CLUSTER_NCTAID_X, IRR_CLUSTER_NCTAID_Y, IRR_CLUSTER_NCTAID_Z,
    IRR_CLUSTER_CTARANK, IRR_CLUSTER_NCTARANK, IRR_COUNT
} IrReg;
typedef enum IrRel { IRL_EQ, IRL_NE, IRL_LT, IRL_LE, IRL_GT, IRL_GE } IrRel;
typedef enum IrHow { IRH_READ, IRH_FULL } IrHow;
typedef enum IrScope { IRC_CTA, IRC_CLUSTER, IRC_GPU } IrScope;
typedef enum IrSem { IRS_RELAXED, IRS_RELEASE } IrSem;
typedef enum IrSpace { IRS_SHARED, IRS_CLUSTER, IRS_GLOBAL } IrSpace;

/* Of tc.cp, in the order of the tables of tensor_memory.c. */
typedef enum IrCpShape {
    IRP_128X256B, IRP_4X256B, IRP_128X128B, IRP_64X128B_02_13, IRP_64X128B_01_23, IRP_32X128B_X4, IRP_SHAPES
} IrCpShape;
typedef enum IrCpFormat { IRF_PLAIN, IRF_B6, IRF_B4 } IrCpFormat; /* decompression: none, b6x16_p32, b4x16_p64 */
typedef enum IrOrder { IRD_BEFORE, IRD_AFTER } IrOrder;           /* tc.fence */

typedef struct IrOp {
    uint8_t op;   /* IrOpcode */
    uint8_t type; /* IrType of the result */
    uint16_t nargs;
    IrVal dst;   /* value defined, or 0 */
    IrGuard guard;
    bool elect;     /* one thread does it: the first of the role (in init and exit: of the first role); a value that it
                     * defines no other thread has. Roles that are `elect` as a whole don't say so per op */
    uint8_t agent;  /* in the tree: number of the role that does it, from 1; 0: all that need it */
    bool any_order; /* a store by `overlap any`: it may come before or after other writes of the same bytes */
    Span span;          /* the source statement, {0,0} for what the compiler adds */
    uint32_t call;      /* of a function, that it stands in: IrKernel.calls, from 1; 0: none */
    IrArg *args;
} IrOp;

typedef struct IrBuf { /* a tile, or array of tiles, in shared memory; or in tensor memory: */
    const char *name;
    uint32_t bytes;  /* of one slot */
    uint32_t align;  /* 128 .. 1024: where the swizzle pattern starts */
    uint32_t slots;
    uint32_t pitch;  /* from slot to slot, a multiple of align */
    uint32_t offset; /* in the CTA's dynamic shared memory, set by plan/memory.c */
    Span span;
    uint16_t ring; /* a slot of it for each of that ring's, from 1; 0: none */
    bool maps; /* tensor maps made by the device, a slot each: in the CTA's part of MF_PARAM_MAPS, not in shared memory */
    /* bytes are those of `lanes` rows, one after the other, of `columns` 32-bit columns: so places in it are byte offsets.
     * A slot lies `column_pitch` columns further than the one before. */
    uint16_t lanes;  /* 0: it is in shared memory, which the fields above are about */
    uint16_t columns, column_pitch, column; /* column: the first, of those that the kernel allocates */
} IrBuf;
typedef struct IrBar {
    const char *name;
    uint32_t slots;
    uint32_t count;  /* arrivals per phase */
    uint32_t offset; /* in the CTA's dynamic shared memory, 8 bytes a slot, set by plan/memory.c */
    bool derived;    /* made by the compiler */
    bool free;       /* the source says that its first phases are over from the start */
    uint16_t ring;   /* tells of generations of that ring, from 1; 0: none */
    Span span;
} IrBar;
/* Tiles, and what tells of them, over and over: generation n lies in slot n mod `slots`, the barriers of its events count there.
 * Generations are counted where they are acquired, by all agents alike. */
typedef struct IrRing {
    const char *name;
    uint32_t slots;
    uint32_t lag;  /* a release comes `lag` generations late: it is of n - lag */
    uint32_t free; /* IrBar, of slots - lag slots: its k-th phase frees generation k - lag; IR_NO_BAR: one agent has the ring */
} IrRing;
enum { IR_NO_BAR = UINT16_MAX };
typedef struct IrPolicy {
    const char *name;
    uint8_t primary, secondary; /* index in WORDS_CACHE; secondary 255: none */
    double fraction;
    Span span;
    bool by_traffic; /* counts only where the launch says that the kernel moves much more than L2 holds (MF_PARAM_HINTS) */
} IrPolicy;
typedef struct IrVar {
    const char *name;
    uint8_t type;
} IrVar;

/* How threads move a tile, or part of one, within shared memory: lower/plan/threads.c makes it, ptxgen writes it. */
typedef enum IrXform { IRX_COPY, IRX_TRANSPOSE, IRX_FILL, IRX_REVERSE /* the last dimension of the source backwards */, IRX_SUM /* of parts of the source */ } IrXform;
typedef struct IrSide {   /* where element (x0, .., xn-1) of the part lies, from the part's first byte */
    uint8_t type;         /* ElemType as it lies in shared memory */
    uint8_t swizzle;      /* MapSwizzle: XOR of the absolute address's bits, as the hardware does it */
    uint32_t pitch[MAP_RANK]; /* bytes from neighbour to neighbour; the innermost within a panel */
    uint32_t span, panel; /* panels: bytes of a panel's row, and from panel to panel; 0: none */
    bool global;          /* it lies in global memory: pitches are those of a box that stands for it, powers of two; of the
                           * places in that box the coordinates are taken, and only they count (thr.load, thr.store) */
    bool rows;            /* .. and its innermost elements lie side by side there, from any multiple of their size on */
    uint16_t align;       /* the part starts at multiples of it; 0: where the swizzle's pattern does (128 without) */
} IrSide;
typedef struct IrPlan {
    const char *name;
    uint8_t xform, rank;
    bool add, sat;             /* dst += src; conversions clamp to the range of the type */
    uint32_t extent[MAP_RANK]; /* of the source; IRX_TRANSPOSE: the destination has the last two exchanged */
    IrSide src, dst;
    uint64_t value;            /* IRX_FILL: bits of an element */
    uint32_t parts, apart;     /* IRX_SUM: how many, each of `extent`, and bytes from one to the next */
    uint32_t threads;
    uint8_t vector, method;    /* bytes per access; how (lower/plan/threads.h) */
    uint8_t wide, tall, deal;  /* what a thread takes at a time: elements along the source's rows and columns; the order */
    uint16_t read_ways, write_ways; /* bank conflicts: wavefronts per least number of them, times 16 */
} IrPlan;

typedef struct IrRole {
    const char *name;
    uint32_t warps;
    bool elect; /* one thread of the first warp runs the whole body, the others leave at once */
    VEC(IrOp) ops;
} IrRole;

typedef struct IrCall { /* that was inlined */
    Span span;
    const char *fn;
    uint32_t outer; /* the call that it stands in, from 1; 0: none */
} IrCall;

typedef struct IrKernel {
    MfKernel mf; /* parameters, maps, checks, grid, cluster, threads, smem */
    Name name;
    Span span;
    VEC(IrBuf) bufs;
    VEC(IrBar) bars;
    VEC(IrPolicy) pols;
    VEC(IrVar) vars;
    VEC(uint8_t) value_types; /* IrType of value i + 1 */
    VEC(const char *) value_names; /* hint for printing, may be NULL; same length */
    VEC(IrPlan) plans;
    VEC(IrRing) rings;
    VEC(IrCall) calls;
    IrRole tree; /* of derived schedules: the program in its order, all agents' ops; roles are made of it (project.c) */
    /* init: run by all threads before the roles, which see its values; exit: after them. Their elected thread is that of
     * the first role: where nobody else runs, no synchronisation lies between. */
    IrRole init, exit;
    VEC(IrRole) roles;
    uint32_t zero_bytes; /* size of the block of zeros that the kernel needs, 0: none */
    uint32_t tmem;       /* columns of tensor memory that it allocates, 0: none */
    bool pair;           /* in pairs of CTAs, by .cta_group::2 */
} IrKernel;

typedef struct IrModule {
    const char *target;  /* "sm_90a" */
    unsigned version;    /* 86: .version 8.6; 0: not decided yet */
    bool cluster_dst;    /* --ptx-version=8.0: loads name .shared::cluster */
    VEC(IrKernel *) kernels;
} IrModule;

/* ---- building: ir.c ---- */
IrVal ir_value(Arena *a, IrKernel *k, IrType t, const char *name_hint);
uint32_t ir_var(Arena *a, IrKernel *k, IrType t, const char *name);
/* Appends an op to ops; args are added with ir_arg*. The pointer is valid until the next append. */
IrOp *ir_op(Arena *a, IrRole *r, IrOpcode op, Span span);
void ir_imm(Arena *a, IrOp *op, IrKey key, int64_t imm);
void ir_ref(Arena *a, IrOp *op, IrKey key, IrArgKind kind, uint32_t id);
void ir_put(Arena *a, IrOp *op, IrArg arg);
void ir_call_notes(Diags *d, Diag *g, const IrKernel *k, uint32_t call); /* the calls that an op stands in */
#define IR_KEY(key) (UINT64_C(1) << (key)) /* a set of keys */
extern const uint8_t IR_LX_OPS[IR_OP_COUNT]; /* the LxOp that does the same to 64 bits; LX_CONST: none does */
extern const uint64_t IR_OP_KEYS[]; /* by op: bits of the keys in its row of ops.def; no other is looked for */
/* The first operand with that key, or NULL; lists (coords) stand one after the other. */
static inline const IrArg *ir_find(const IrOp *op, IrKey key)
{
    if (!(IR_OP_KEYS[op->op] & IR_KEY(key))) return NULL;
    for (const IrArg *arg = op->args; arg < op->args + op->nargs; arg++)
        if (arg->key == key) return arg;
    return NULL;
}
unsigned ir_list(const IrOp *op, IrKey key, const IrArg **first);
/* The slot or byte offset of a buffer or barrier operand; NULL stands for 0. */
const IrArg *ir_part(const IrOp *op, const IrArg *object, IrKey key);

typedef struct IrOpInfo {
    const char *text;
    uint8_t result; /* IrType; IR_NONE, or 255 for "any" */
    uint8_t group;
    uint8_t who; /* IrWho */
} IrOpInfo;
extern const IrOpInfo IR_OPS[];
static inline const IrOpInfo *ir_op_info(IrOpcode op)
{
    return &IR_OPS[op];
}
/* Of thread work: all threads of the role do it, by a plan. */
static inline bool ir_by_plan(IrOpcode op)
{
    return IR_OP_KEYS[op] >> IRK_PLAN & 1;
}
const char *ir_key_text(IrKey k);
const char *ir_type_text(IrType t);
IrType ir_type_named(const char *s); /* IR_NONE: none */

bool ir_touches_global(const IrOp *op); /* itself, or by a copy that it issues */
static inline bool ir_opens_block(IrOpcode op) /* closed by `end` (an if's first branch by `else`) */
{
    return op <= IR_ELSE && op != IR_BREAK;
}
/* The bodies in the order in which the text has them and values are defined: init, the roles, exit. */
uint32_t ir_bodies(const IrKernel *k);
const IrRole *ir_body(const IrKernel *k, uint32_t i);
bool ir_body_has(const IrRole *body, IrOpcode op);
bool ir_has(const IrKernel *k, IrOpcode op); /* one of the bodies has it; what the tree has does not count */

/* ---- text form: text.c ---- */
/* With sources, the source line stands as a comment above the ops of each statement. */
void ir_print(Text *out, const IrModule *m, Sources *sources);
/* The same with the trees of derived schedules in the place of the roles' bodies; other kernels are left out. */
void ir_print_tree(Text *out, const IrModule *m, Sources *sources);
/* By number: as the text has them, where two things of a kind have one name. */
const char **ir_distinct_names(Arena *a, const IrKernel *k, IrArgKind kind);
void ir_print_op(Text *out, const IrKernel *k, const IrOp *op);
/* Reads the text form. Errors go to d (E0662, E069x); returns NULL after an error. print(read(print(m))) == print(m). */
IrModule *ir_read(Arena *a, Names *names, Diags *d, Source *src);

/* ---- numbers of the launch: launch.c ---- */
/* By expression: does the launch divide by it? It is refused where a check fails, or what it needs can't be worked out. */
bool *ir_launch_divisors(Arena *a, const MfKernel *mf);
/* By expression, from 0: what it is where a CTA runs. */
Interval *ir_launch_ranges(Arena *a, const MfKernel *mf);
Interval ir_range_of_type(ElemType type); /* of whole numbers in memory, and of arguments */

/* ---- well-formedness: check.c ---- */
/* Every operand present and of its kind and type, values defined before use and in scope, blocks closed, slots and
 * offsets within their object, one BAR_INIT per barrier slot. NULL, or what is wrong (an internal error). */
const char *ir_check(Arena *a, const IrKernel *k);
/* Of a derived schedule: its roles are what project.c and count.c make of its tree, which is trusted; they are looked at where some ops
 * mean what only their role shows: what an elected thread alone has, maps that are made. */
const char *ir_check_tree(Arena *a, const IrKernel *k);

#endif
