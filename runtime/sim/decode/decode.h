/* From PTX text as data to operations: the decoder's own parts.
 *
 *   decode.c         modules, functions, layout of variables, slots, constants, branch targets
 *   operand.c        what stands in an operand
 *   table.c          what plain instructions there are: a row per opcode and kind of type; words of modifiers
 *   plain.c          which of them are legal: rows of plain.def (plain.h)
 *   arithmetic.c     arithmetic, conversion, moves, control
 *   memory_ops.c     loads, stores, atomics, warp and CTA operations
 *   unwritten.c      registers that are read before they are written
 *   roles.c          whose code an operation is
 *   form.c           instructions of lang/instructions.def
 *
 * Problems: the first one of an instruction is reported; decoding goes on with the next instruction, and the module is
 * dropped at the end. So a function that has reported one may return anything that is valid to go on with.
 *
 * Glossary: row - PlainRow; signature - types of a row's operands; group - modifiers of which one may stand.
 */
#ifndef SIM_DECODE_H
#define SIM_DECODE_H

#include "runtime/sim/exec/alu.h"
#include "runtime/sim/decode/program.h"

typedef struct Decoder {
    Arena *arena;
    const PtxModule *ptx;
    SimModule *module;
    PtxProblem problem;
    void *user;
    uint32_t problems;
    /* of the function */
    const PtxFunc *func;
    SimProgram *program;
    VEC(SimOp) ops;
    VEC(SimPlace) places;
    VEC(FormOp) forms;
    VEC(SimConst) consts;
    uint32_t *const_table, const_cap; /* by hash: index into consts + 1; 0: free */
    Slot *reg_slot;                   /* by PtxVar.index */
    Slot nslots, carry, sink;         /* carry, sink: NO_SLOT until needed */
    uint32_t extern_align;            /* of the extern shared arrays; 0: none is used */
    /* of the instruction */
    const PtxInstr *instr;
    const char *text;            /* as SimPlace.instr */
    bool any_order;              /* the instruction stands behind a label $any_order.. */
    bool bad;                    /* it has a problem */
    Slot value[FORM_VALUES_MAX]; /* what becomes FormOp.value */
} Decoder;

/* ---- decode.c ---- */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void decode_problem(Decoder *d, const char *fmt, ...);
SimOp *decode_emit(Decoder *d, SimOpcode code); /* with the guard; no slots. Valid until the next one */
Slot decode_temp(Decoder *d);
Slot decode_sink(Decoder *d);                            /* two slots that nobody reads */
Slot decode_const(Decoder *d, int kind, uint64_t value); /* the slot of a SimConst */
Slot decode_value(Decoder *d, uint64_t value);           /* .. of kind CONST_VALUE */
Slot decode_reg(Decoder *d, const PtxVar *v);
Slot decode_carry(Decoder *d);
uint32_t decode_bytes(int type); /* of a PtxType or AluType */
const char *decode_type_name(int type);

/* ---- roles.c ---- */
/* Fills the roles of the places. mark: by op, the role whose label stands there, or NULL. */
void decode_roles(Arena *a, const SimOp *ops, uint32_t n, const char *const *mark, SimPlace *places);

/* ---- unwritten.c ---- */
void decode_unwritten(Decoder *d, const uint32_t *op); /* op: the first one of each instruction, and their number */

/* ---- operand.c ---- */
/* A source operand as read by an operation of the type (PtxType): register of that size, immediate, special register,
 * address of a variable. wider: the register may be wider. */
Slot decode_source(Decoder *d, const PtxOperand *o, int type, bool wider);
/* A result; `_` is a slot that nobody reads. */
Slot decode_result(Decoder *d, const PtxOperand *o, int type, bool wider);
/* An address [..], or the same without brackets: slot and offset. space: what a symbol in it must be in (SPACE_REG:
 * generic, .global and .const); bits of a register: 64, also 32 if narrow. */
Slot decode_address(Decoder *d, const PtxOperand *o, PtxSpace space, bool narrow, int64_t *offset);
/* Emits what gives a special register's value, as read by an operation of the type. wider: the register may be wider. */
bool decode_special(Decoder *d, const char *name, int type, bool wider, Slot to);

/* ---- table.c ---- */
typedef enum Group {
    G_ROUND,  /* FLAG_RN .. */
    G_IROUND, /* the same, to an integral value */
    G_FTZ,
    G_SAT,
    G_SATFINITE,
    G_RELU,
    G_APPROX, /* 0 approx, 1 full */
    G_CC,
    G_NAN,
    G_XORSIGN,
    G_ABS,
    G_NOFTZ,
    G_PART, /* 0 lo, 1 hi, 2 wide */
    G_CMP,  /* CompareWord */
    G_BOOL, /* 0 and, 1 or, 2 xor */
    G_SIDE, /* 0 l, 1 r */
    G_WRAP, /* 0 clamp, 1 wrap */
    G_PRMT,
    G_AMOUNT,
    G_SPACE, /* SpaceWord */
    G_NC,
    G_SEM,   /* AccessKind of machine.h */
    G_SCOPE, /* 0 cta, 1 cluster, 2 gpu, 3 sys */
    G_CACHE, /* ignored */
    G_EVICT, /* ignored, may stand more than once: .L1::.., .L2::.. */
    G_HINT,  /* .L2::cache_hint: one more operand, ignored */
    G_VEC,   /* 2, 4, 8 */
    G_SYNC,
    G_ALIGNED,
    G_SHFL,
    G_VOTE,  /* 0 all, 1 any, 2 uni, 3 ballot */
    G_REDOP, /* RedOp */
    G_TO,
    G_UNI,
    G_IDX,
    G_TESTP,
    G_MMIO,
    G_CTA,
    G_BAR, /* 0 sync, 1 arrive, 2 red */
    G_POPC,
    G_UNIFIED,
    G_PACK,
    G_LEVEL,
    G_WARP,
    G_MEMSCOPE, /* membar's: 0 cta, 2 gl, 3 sys */
    G_COUNT
} Group;
typedef enum SpaceWord {
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_SHARED_CLUSTER,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM
} SpaceWord;
/* Values of G_CMP: AluCompare, then the unsigned words. */
enum { CMP_LO = CMP_NAN + 1, CMP_LS, CMP_HI, CMP_HS };

typedef struct Mods {     /* modifiers of one instruction */
    uint8_t got[G_COUNT]; /* value + 1; 0: not there */
    uint8_t type[4];      /* PtxType or AluType, in order */
    uint32_t ntypes;
} Mods;
static inline bool mods_has(const Mods *m, Group g)
{
    return m->got[g] != 0;
}
static inline int mods_get(const Mods *m, Group g, int otherwise)
{
    return m->got[g] ? m->got[g] - 1 : otherwise;
}

typedef enum Family { /* how a row's opcode depends on the type: code + .. */
                      FAM_ONE,
                      FAM_INT6,  /* u16 s16 u32 s32 u64 s64 (b types: as u) */
                      FAM_INT4,  /* u32 s32 u64 s64 */
                      FAM_S3,    /* s16 s32 s64 */
                      FAM_BITS4, /* pred b16 b32 b64 */
                      FAM_BITS3, /* b16 b32 b64 */
                      FAM_BITS2  /* b32 b64 */
} Family;
typedef struct PlainRow {
    const char *opcode;
    uint32_t types;  /* 1u << type: allowed as the first type; 0: no type is written */
    uint64_t groups; /* 1 << Group: allowed */
    uint64_t needs;  /* groups one of which has to stand each */
    void (*decode)(Decoder *d, const Mods *m, const struct PlainRow *row);
    SimOpcode code;
    Family family;
    const char *signature; /* of decode_alu: 't' the type, 'w' twice as wide, 'u' u32, 'p' predicate; results first */
    uint8_t ntypes;        /* how many may be written (at least one if types != 0) */
} PlainRow;

/* The row and the modifiers of the instruction; NULL: a problem was reported. */
const PlainRow *decode_row(Decoder *d, Mods *m);
int decode_family(Family f, int type); /* what is added to the row's code */

/* ---- handlers ---- */
void decode_alu(Decoder *d, const Mods *m, const PlainRow *row);
void decode_add(Decoder *d, const Mods *m, const PlainRow *row); /* add, sub: also .sat, .cc; addc, subc */
void decode_mul(Decoder *d, const Mods *m, const PlainRow *row); /* mul, mad, madc, mul24, mad24 */
void decode_minmax(Decoder *d, const Mods *m, const PlainRow *row);
void decode_float(Decoder *d, const Mods *m, const PlainRow *row);
void decode_setp(Decoder *d, const Mods *m, const PlainRow *row);
void decode_set(Decoder *d, const Mods *m, const PlainRow *row);
void decode_slct(Decoder *d, const Mods *m, const PlainRow *row);
void decode_bits(Decoder *d, const Mods *m, const PlainRow *row); /* those whose modifiers go to SimOp.n */
void decode_lop3(Decoder *d, const Mods *m, const PlainRow *row);
void decode_dot(Decoder *d, const Mods *m, const PlainRow *row);
void decode_cvt(Decoder *d, const Mods *m, const PlainRow *row);
void decode_mov(Decoder *d, const Mods *m, const PlainRow *row);
void decode_exit(Decoder *d, const Mods *m, const PlainRow *row); /* operations without operands */
void decode_bra(Decoder *d, const Mods *m, const PlainRow *row);
void decode_brx(Decoder *d, const Mods *m, const PlainRow *row);
void decode_nop(Decoder *d, const Mods *m, const PlainRow *row);
void decode_sleep(Decoder *d, const Mods *m, const PlainRow *row);
void decode_cvta(Decoder *d, const Mods *m, const PlainRow *row);
void decode_isspacep(Decoder *d, const Mods *m, const PlainRow *row);
void decode_ld(Decoder *d, const Mods *m, const PlainRow *row);
void decode_st(Decoder *d, const Mods *m, const PlainRow *row);
void decode_atom(Decoder *d, const Mods *m, const PlainRow *row);
void decode_membar(Decoder *d, const Mods *m, const PlainRow *row);
void decode_shfl(Decoder *d, const Mods *m, const PlainRow *row);
void decode_vote(Decoder *d, const Mods *m, const PlainRow *row);
void decode_match(Decoder *d, const Mods *m, const PlainRow *row);
void decode_redux(Decoder *d, const Mods *m, const PlainRow *row);
void decode_activemask(Decoder *d, const Mods *m, const PlainRow *row);
void decode_bar(Decoder *d, const Mods *m, const PlainRow *row);

/* ---- form.c ---- */
void decode_form(Decoder *d);

#endif
