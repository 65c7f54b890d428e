/* Inside the emitter: the writer's state and the helpers that the files of this folder share.
 *
 * emit.c           begin, kernel, end: header, signatures, statements
 * roles.c          who runs what: init, the roles by their warps, exit; what all of them use
 * text.c           registers, operands, instructions written from templates or mnemonics
 * scalar.c         arithmetic, comparisons, variables, loads of scalars, tickets
 * ops.c            control, barriers, groups, fences; the table of ops
 * copies.c         shared addresses, copies, policies
 * maps.c           tensor maps that the device makes
 * threads.c        work by threads: threads.h
 * tmem.c           tensor memory
 * names.c          entry names that PTX accepts
 * manifest.c       the launch manifest as PTX
 *
 * The body of a kernel is written to a text of its own, because registers are declared above it by their number.
 * The header stands in room kept free in front of the text, because it depends on all that follows.
 */
#ifndef PTXGEN_EMIT_H
#define PTXGEN_EMIT_H

#include "lang/lang.h"
#include "ptxgen/ptxgen.h"

#define PTX_SMEM "smem"      /* dynamic shared memory of every kernel */
#define PTX_ZERO "tile_zero" /* the block of zeros */

typedef enum RegClass { RC_NONE, RC_B32, RC_B64, RC_PRED, RC_B16, RC_B128, RC_COUNT } RegClass;

typedef enum OpndKind {
    OPND_EMPTY,
    OPND_TEXT,        /* s, n bytes */
    OPND_REG,         /* register `reg` of class `cls` */
    OPND_INT,         /* k */
    OPND_ADDR,        /* 32-bit register plus k bytes */
    OPND_MEM,         /* register plus k bytes in brackets */
    OPND_AFTER_COMMA, /* ", " and the register */
    OPND_COORDS,      /* the writer's list of coordinates */
    OPND_INFO         /* ", " and its list of im2col offsets */
} OpndKind;
typedef struct Opnd {
    uint8_t kind, cls;
    uint16_t n;
    uint32_t reg;
    union {
        int64_t k;
        const char *s;
    } u;
} Opnd;

/* Placeholders of the templates (the head of instructions.def lists them). */
typedef enum PtxSlot {
#define PTX_SLOTS(X)                                                                                                   \
    X(dim)                                                                                                             \
    X(coords) X(map) X(dst) X(src) X(mbar) X(gaddr) X(size) X(bytes) X(count) X(n) X(parity) X(value) X(field) X(rank) \
        X(type) X(op) X(scope) X(sem) X(id) X(threads) X(pred) X(reg) X(regs) X(taddr) X(desc) X(info) X(mask)         \
            X(group1) X(hint) X(policy) X(group) X(fmt) X(vec) X(else) X(ordinal)
#define X(name) SLOT_##name,
    PTX_SLOTS(X)
#undef X
        SLOT_COUNT
} PtxSlot;
#define SLOT_NONE 255

enum { PTX_LIST = 32 }; /* operands in braces */

/* A template taken apart: each piece is literal text, then an operand (or none). */
typedef struct PtxPiece {
    uint16_t at, len;
    uint8_t slot; /* PtxSlot or SLOT_NONE */
} PtxPiece;
typedef struct PtxForm {
    const char *text;
    uint32_t n;
    PtxPiece v[];
} PtxForm;

typedef struct PtxVal { /* where an IR value lives */
    uint8_t kind, cls;  /* OPND_EMPTY (not defined yet), OPND_REG or OPND_INT */
    uint32_t reg;
    int64_t k;          /* OPND_INT; or, of a register: it is `of`, a register of 32 bits with 0 to 2^31 - 1, times this, 0: that is not known */
    uint32_t of;
} PtxVal;

typedef struct PtxBlock {
    uint8_t op; /* IrOpcode that opened it */
    bool is_else;
    uint32_t label;
    const char *name;  /* of the index of a loop or lanes, or "" */
    Opnd index, bound; /* of a loop or lanes */
} PtxBlock;

/* A growing array from the allocator, reused kernel after kernel. */
#define SCRATCH(T)                                                                                                     \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        uint32_t n, cap;                                                                                               \
    }

enum { PTX_QUOTIENTS = 8 };
typedef struct PtxQuotient { /* of a division: a = q * b + r, towards zero */
    Opnd a, b, q, r;
    uint32_t q32, r32; /* the registers of a quotient and remainder of 31 bits */
    Opnd fix; /* -1 where the floor is one lower, else 0; empty: it is the floor */
} PtxQuotient;

struct PtxWriter {
    Arena *arena;
    Mem *mem;
    const IrModule *m;
    PtxOptions opt;
    const TargetInfo *target;
    const char *target_name;
    Text out;       /* room for the header, then the kernels */
    size_t room;    /* bytes kept free in front */
    uint32_t line;  /* lines of `out` behind the room */
    PtxLines lines; /* relative to the end of the header until ptx_end */
    unsigned version;
    uint32_t zero_bytes;
    PtxForm *forms[FORM_COUNT]; /* taken apart at first use */
    Names *entries;
    const char *source; /* path */
    MfWriter manifest;
    bool shared; /* a kernel has shared memory */
    VEC(const Source *) files; /* .file numbers are indices + 1 */
    bool ended;

    /* the kernel at hand */
    const IrKernel *k;
    Text body;
    uint32_t body_line;
    uint32_t first_line_entry; /* of `lines`: those of this body are relative to it */
    uint32_t regs[RC_COUNT];
    uint32_t labels;
    Opnd smem; /* register with the address of the shared memory */
    Opnd warp, lane;  /* of the thread in its CTA and warp; empty where nothing asks */
    Opnd tmem;        /* address of the CTA's tensor memory */
    Opnd counter;     /* address of the tickets' counter */
    Opnd much;        /* predicate: the launch moves much more than L2 holds */
    Opnd elected;     /* predicate of the body's elected thread; empty where that is all who run it */
    Opnd maps_room;   /* address of the CTA's room for maps that it makes */
    uint32_t first_warp, role_warps; /* of the role at hand */
    struct PtxThreads *threads; /* threads.c: room for one op */
    bool chains;      /* its tiles stay in registers: registers.c */
    bool divided;     /* threads of one warp come to the body at different times */
    SCRATCH(PtxVal) vals;
    SCRATCH(Opnd) vars; /* then the registers of maps, tensors and policies */
    Opnd *maps, *tensors, *pols;
    SCRATCH(PtxBlock) blocks;
    PtxQuotient quotients[PTX_QUOTIENTS]; /* the last ones, of the blocks that are open */
    uint32_t nquotients;
    Opnd slots[SLOT_COUNT]; /* operands of the instruction at hand; empty again once written */
    Opnd coords[PTX_LIST];
    Opnd info[3];
    unsigned ninfo;
    unsigned ncoords;
    Span span;           /* of the statement at hand */
    bool illegal;        /* an instruction that the target does not have: */
    InstrForm illegal_form;
    Span illegal_span;
    const Source *shown; /* line shown in the last comment */
    uint32_t shown_line;
    uint32_t loc[3]; /* file, line, column of the last .loc */
};

/* ---- text.c ---- */
Opnd ptx_reg(PtxWriter *w, RegClass c); /* a new register */
RegClass ptx_class(IrType t);
static inline Opnd opnd_int(int64_t k)
{
    return (Opnd){.kind = OPND_INT, .u.k = k};
}
static inline Opnd opnd_textn(const char *s, size_t n)
{
    return (Opnd){.kind = OPND_TEXT, .n = (uint16_t)n, .u.s = s};
}
#define opnd_lit(s) opnd_textn((s), sizeof(s) - 1)
static inline Opnd opnd_addr(Opnd reg, int64_t k)
{
    return (Opnd){.kind = OPND_ADDR, .cls = RC_B32, .reg = reg.reg, .u.k = k};
}
/* A value or immediate as it is, or brought to 32 bits (low half), 64 bits (sign-extended) or a predicate. */
Opnd ptx_value(PtxWriter *w, const IrArg *arg);
Opnd ptx_value32(PtxWriter *w, const IrArg *arg);
Opnd ptx_value64(PtxWriter *w, const IrArg *arg);
Opnd ptx_valuep(PtxWriter *w, const IrArg *arg);
RegClass ptx_arg_class(const PtxWriter *w, const IrArg *arg); /* RC_NONE for an immediate */
Opnd ptx_in_reg(PtxWriter *w, Opnd o, RegClass c); /* an immediate moved to a register, a register as it is */
/* Defines the value of op. */
Opnd ptx_define(PtxWriter *w, const IrOp *op);
void ptx_define_int(PtxWriter *w, const IrOp *op, int64_t k);
void ptx_is_times(PtxWriter *w, const IrOp *op, uint32_t of, int64_t k); /* what was defined is a natural number times k */

/* The address in the CTA `rank` of the cluster that corresponds to an own shared address. */
Opnd ptx_mapa(PtxWriter *w, Opnd guard, Opnd address, Opnd rank);

/* One instruction: guard (a predicate register or empty), mnemonic, operands. */
void ptx_ins(PtxWriter *w, Opnd guard, const char *mnemonic, const Opnd *v, unsigned n);
#define PTX_INS(w, mnemonic, ...)                                                                                      \
    ptx_ins((w), (Opnd){.kind = OPND_EMPTY}, (mnemonic), (const Opnd[]){__VA_ARGS__},                                  \
            sizeof((const Opnd[]){__VA_ARGS__}) / sizeof(Opnd))
/* One instruction of instructions.def with the operands in w->slots. */
void ptx_form(PtxWriter *w, Opnd guard, InstrForm f);
void ptx_form_unaligned(PtxWriter *w, Opnd guard, InstrForm f); /* without its .aligned */
void ptx_branch(PtxWriter *w, Opnd cond, bool when, const char *what, const char *name, uint32_t label);
void ptx_label(PtxWriter *w, const char *what, const char *name, uint32_t label);
void ptx_any_order(PtxWriter *w, bool any_order); /* copies.c: in front of a store */
void ptx_line_end(PtxWriter *w);
/* Text for a comment or string: PTX is ASCII, and strings have no escapes. */
void ptx_ascii(Text *t, const char *s, size_t n, bool in_string);

/* "[param_7]" into buf; without the brackets from its second character on. */
enum { PTX_PARAM_ROOM = 24 };
Opnd ptx_param_name(char *buf, uint32_t number, bool brackets);

/* ---- scalar.c, ops.c ---- */
/* guard: a predicate register, or empty. */
typedef void PtxOp(PtxWriter *w, const IrOp *op, Opnd guard);
PtxOp ptx_op_const, ptx_op_param, ptx_op_sreg, ptx_op_binary, ptx_op_div, ptx_op_not, ptx_op_cmp, ptx_op_sel,
    ptx_op_cvt, ptx_op_var, ptx_op_loads, ptx_op_gaddr, ptx_op_zaddr, ptx_op_ticket;
PtxOp ptx_op_threads; /* threads.c */
/* ---- depend.c ---- */
PtxOp ptx_op_dependent;

/* ---- registers.c ---- */
bool ptx_has_chains(const IrKernel *k);
uint32_t ptx_chain(PtxWriter *w, const IrRole *r, uint32_t i); /* writes the chain that op i begins: its last op; i: there is none */
void ptx_op(PtxWriter *w, const IrOp *op);
const MfParam *ptx_param(const PtxWriter *w, MfParamKind kind, uint32_t index, uint32_t *number);

/* ---- copies.c ---- */
/* Shared address of a buffer or barrier operand with its slot and byte offset. */
Opnd ptx_shared_address(PtxWriter *w, const IrOp *op, IrKey key);
PtxOp ptx_op_tma_load, ptx_op_tma_store, ptx_op_tma_prefetch, ptx_op_blk_load, ptx_op_blk_store, ptx_op_blk_prefetch,
    ptx_op_peer, ptx_op_st_async, ptx_op_fill_peer, ptx_op_st_bulk, ptx_op_map_prefetch, ptx_op_lds, ptx_op_sts, ptx_op_clc_next, ptx_op_clc_id, ptx_op_policy;

/* A 16-bit register, which is what PTX wants of a mask of CTAs. */
Opnd ptx_value16(PtxWriter *w, const IrArg *mask);

/* ---- tmem.c ---- */
PtxOp ptx_op_tc_alloc, ptx_op_tc_base, ptx_op_tc_desc, ptx_op_tc_cp, ptx_op_tc_shift, ptx_op_tc_commit, ptx_op_tc_fence, ptx_op_tc_threads;

/* ---- maps.c ---- */
PtxOp ptx_op_map_set;
void ptx_maps_room(PtxWriter *w, const MfParam *p, Opnd name);
Opnd ptx_map_address(PtxWriter *w, const IrOp *op, IrKey key); /* generic, of a slot of a buffer of maps */

/* ---- roles.c ---- */
void ptx_bodies(PtxWriter *w);
void ptx_statement(PtxWriter *w, Span span); /* emit.c */

/* ---- names.c ---- */
/* A name for the kernel's entry that PTX takes, that no other of the module has. `t` is room to spell it in. */
const char *ptx_entry(Text *t, Names *taken, const char *wanted);

/* ---- manifest.c ---- */
void ptx_manifest(PtxWriter *w);

#endif
