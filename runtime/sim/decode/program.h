/* A PTX module decoded for execution: compact operations over numbered slots.
 *
 * In: PtxModule. Out: per entry an array of SimOp; names, types and modifiers are gone. Every operand is a slot of the
 * thread's register file: registers and constants (immediates, addresses of variables, kernel-wide values) in the order
 * in which they are first named; constants are copied in when a thread starts. Every slot is 64 bits: integers zero- or
 * sign-extended as their type says when read by the operation that knows it, f32 in the low 32 bits, predicates 0 or 1.
 *
 * Plain operations (arithmetic, loads, stores, control) have an opcode of ops.def; an instruction of the families of
 * lang/instructions.def has opcode SIM_FORM and points to its FormOp.
 *
 * Invariants: slot numbers are below nslots; branch targets below nops; the last op never falls through (decode adds
 * `exit`). A program is immutable and shared by all threads.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include "runtime/ptx/forms.h"
#include "runtime/ptx/ptx.h"

typedef enum SimOpcode {
#define OP(id) SIM_##id,
#include "runtime/sim/decode/ops.def"
#undef OP
    SIM_OPCODE_COUNT
} SimOpcode;

typedef enum SpecialReg { /* what SIM_SPECIAL reads */
                          SPECIAL_CLOCK,
                          SPECIAL_CLOCK64,
                          SPECIAL_GLOBALTIMER,
                          SPECIAL_LANEMASK_EQ,
                          SPECIAL_LANEMASK_LT,
                          SPECIAL_LANEMASK_LE,
                          SPECIAL_LANEMASK_GT,
                          SPECIAL_LANEMASK_GE,
                          SPECIAL_TID_X,
                          SPECIAL_TID_Y,
                          SPECIAL_TID_Z,
                          SPECIAL_NTID_X,
                          SPECIAL_NTID_Y,
                          SPECIAL_NTID_Z,
                          SPECIAL_CTAID_X,
                          SPECIAL_CTAID_Y,
                          SPECIAL_CTAID_Z,
                          SPECIAL_NCTAID_X,
                          SPECIAL_NCTAID_Y,
                          SPECIAL_NCTAID_Z,
                          SPECIAL_CLUSTERID_X,
                          SPECIAL_CLUSTERID_Y,
                          SPECIAL_CLUSTERID_Z,
                          SPECIAL_NCLUSTERID_X,
                          SPECIAL_NCLUSTERID_Y,
                          SPECIAL_NCLUSTERID_Z,
                          SPECIAL_CLUSTER_CTAID_X,
                          SPECIAL_CLUSTER_CTAID_Y,
                          SPECIAL_CLUSTER_CTAID_Z,
                          SPECIAL_CLUSTER_NCTAID_X,
                          SPECIAL_CLUSTER_NCTAID_Y,
                          SPECIAL_CLUSTER_NCTAID_Z,
                          SPECIAL_CLUSTER_CTARANK,
                          SPECIAL_CLUSTER_NCTARANK,
                          SPECIAL_IS_EXPLICIT_CLUSTER,
                          SPECIAL_LANEID,
                          SPECIAL_WARPID,
                          SPECIAL_NWARPID,
                          SPECIAL_SMID,
                          SPECIAL_NSMID,
                          SPECIAL_GRIDID,
                          SPECIAL_DYNAMIC_SMEM_SIZE,
                          SPECIAL_TOTAL_SMEM_SIZE,
                          SPECIAL_COUNT
} SpecialReg;

typedef uint32_t Slot;
#define NO_SLOT UINT32_MAX

typedef struct SimOp {
    uint16_t code;  /* SimOpcode */
    uint8_t guard;  /* 0: none, 1: if slot `p`, 2: unless */
    uint8_t type;   /* PtxType, where the opcode works on several */
    uint8_t n;      /* vector length, or what the opcode's row says */
    uint8_t flags;  /* what the opcode's row says: rounding, saturation, comparison, semantics .. */
    uint16_t extra; /* what the opcode's row says */
    Slot p, d, a, b, c;
    int64_t imm; /* address offset, branch target, index of a FormOp .. */
} SimOp;

/* value[] of each form, in this order; nvalues counts them. `?`: NO_SLOT where the instruction has none (a result
 * written `_` is NO_SLOT too). Immediates are slots like all operands.
 *
 *   GROUP_WAIT, GROUP_WAIT_READ        n
 *   ST_ASYNC                           1, 2 or 4 values (their number is nvalues)
 *   RED_ASYNC                          value
 *   MBAR_INIT                          count
 *   MBAR_ARRIVE.., MBAR_DROP..         state result?, count? (1)
 *   MBAR_ARRIVE_EXPECT.., MBAR_DROP_EXPECT..  state result?, bytes
 *   MBAR_EXPECT.., MBAR_COMPLETE..     bytes
 *   MBAR_TRY_WAIT.., MBAR_TEST_WAIT..  predicate result, parity?, state? (one of the two; the time hint is dropped)
 *   MBAR_PENDING_COUNT                 result, state
 *   MAP_REPLACE..                      value, ordinal?
 *   ELECT, ELECT_ANY                   predicate result?, member mask (also in `mask`), leader's lane result?
 *   MAPA..                             result, address (also src + src_off); rank in `rank`
 *   GETCTARANK..                       result, address (also src + src_off)
 *   SETMAXNREG_INC, SETMAXNREG_DEC     n
 *   POLICY_CREATE.., POLICY_CONVERT    result, fraction or policy?
 *   POLICY_RANGE                       result, bytes of the whole range
 *   CLC_IS_CANCELED                    predicate result, response
 *   CLC_FIRST_CTA, CLC_FIRST_CTA_DIM   4 results or 1, response
 *   TC_ALLOC, TC_DEALLOC               n
 *   TC_LD.., TC_ST..                   registers, at most 128 (a result written `_` is NO_SLOT); the immediate of
 *                                      TC_LD_SPLIT.., TC_ST_SPLIT.. is in `half`
 *   LDMATRIX.., STMATRIX..             1, 2 or 4 registers (their number is nvalues)
 *   all others                         none
 *
 * CTA_SYNC and WARP_SYNC never become a FormOp: they are SIM_BAR and SIM_WARPSYNC. The size of bulk copies and of
 * ST_BULK is in `size`, the map of MAP_PREFETCH in `map`. MAPA and GETCTARANK: `cluster` says that the address (and
 * mapa's result) is one of .shared::cluster, else generic; type is U32 or U64. A 128-bit register is two slots, low
 * half first; the first one is named.
 */
typedef enum TmemShape { TMEM_32X32B, TMEM_16X64B, TMEM_16X128B, TMEM_16X256B, TMEM_16X32BX2 } TmemShape;
enum { FORM_VALUES_MAX = 128 };
typedef struct FormOp { /* an instruction of lang/instructions.def */
    InstrForm form;
    uint8_t dim; /* tensor rank of the map's coordinates; 2 for gather4 / scatter4 */
    uint8_t ncoords, ninfo, nvalues;
    Slot dst, src, map, mbar, gaddr, size; /* NO_SLOT: not there */
    int64_t dst_off, src_off, map_off, mbar_off, gaddr_off;
    Slot coords[5], info[3];
    Slot *value; /* the other operands, results first: see the list above */
    Slot mask, policy, rank, taddr, desc, half;
    int64_t taddr_off;
    PtxType type; /* {type} */
    uint8_t op;   /* RedOp of {op} for reductions */
    bool noftz;
    bool cluster; /* scope or space is .cluster, where the form leaves the choice */
    bool aligned; /* .aligned */
    bool relaxed; /* .relaxed where acquire or release is the default */
    bool group2;  /* .cta_group::2 */
    bool hint;
    int8_t fmt;    /* 0: none, 1: b6x16_p32, 2: b4x16_p64 */
    uint8_t shape; /* TmemShape of TC_LD.., TC_ST.. */
    uint8_t axis;  /* of CLC_FIRST_CTA_DIM: 0 x, 1 y, 2 z */
    uint8_t fence; /* of fences, MAP_PUBLISH_SCOPE: scope 0 cta, 1 cluster, 2 gpu, 3 sys */
    uint8_t field; /* of MAP_REPLACE..: ReplaceField of maps.h */
} FormOp;
typedef enum RedOp {
    RED_ADD,
    RED_MIN,
    RED_MAX,
    RED_INC,
    RED_DEC,
    RED_AND,
    RED_OR,
    RED_XOR,
    RED_CAS,
    RED_EXCH,
    RED_OP_COUNT
} RedOp;

typedef struct SimParam {
    uint32_t offset, bytes; /* in the parameter buffer */
    const char *name;       /* NULL: not known */
} SimParam;
typedef struct SimConst { /* initial values of constant slots */
    Slot slot;
    enum { CONST_VALUE, CONST_SMEM, CONST_PARAM, CONST_GLOBAL, CONST_LOCAL } kind;
    uint64_t value; /* VALUE: as is; SMEM: byte in the CTA's shared window; PARAM: byte in the parameter buffer; GLOBAL:
                       index into SimModule.globals; LOCAL: byte in the thread's local memory */
} SimConst;

typedef struct SimPlace { /* parallel to ops */
    uint32_t ptx_line;
    uint32_t file, line, column; /* of .loc; line 0: none */
    const char *role;            /* of the label `$role_NAME..` that all ways to here pass last, or NULL */
    bool joined;                 /* ways with different roles lead here: a thread keeps the one that it has */
    const char *instr;           /* the instruction with its modifiers as it is written; NULL: none */
    bool any_order;              /* behind a label $any_order..: its order among writes of the same global bytes is open */
} SimPlace;

typedef struct SimUnwritten { /* an instruction that reads a register that nothing has written */
    uint32_t op;              /* its first one */
    const char *name;         /* of the register */
    bool guard;               /* which is its guard */
} SimUnwritten;

typedef struct SimProgram {
    const char *name;
    SimOp *ops;
    SimUnwritten *unwritten; /* in the order of ops */
    SimPlace *places;
    FormOp *forms;
    SimConst *consts;
    SimParam *params;
    uint32_t nops, nforms, nconsts, nparams, nslots, nunwritten;
    uint32_t static_smem, smem_align; /* bytes; rounded up so that extern arrays start right behind */
    uint32_t param_bytes, local_bytes;
    uint32_t reqntid[3], maxntid[3], reqcluster[3];
    bool uses_cluster; /* has an instruction that names the cluster */
} SimProgram;

typedef struct SimGlobal {
    const char *name;
    uint64_t bytes, align;
    const uint8_t *init; /* NULL: zeros */
    bool is_const;
} SimGlobal;

typedef struct SimModule {
    const TargetInfo *target;
    unsigned version;
    SimProgram **programs;
    SimGlobal *globals;
    const char **files; /* of .file, by number */
    uint32_t nprograms, nglobals, nfiles;
} SimModule;

/* Decodes every entry. NULL: `problem` was called for each instruction that is unknown, ill-formed or not in the
 * target (with its line); *problems counts. Memory from the arena, which must live as long as the module. */
SimModule *sim_decode(Arena *a, const PtxModule *ptx, PtxProblem problem, void *user, uint32_t *problems);
const SimProgram *sim_program(const SimModule *m, const char *name);

/* One plain operation on the thread's slots: arithmetic, conversion, comparison, selection. alu.c. Returns false for
 * an opcode that is not one of them (memory, control). Integer division by 0 gives all ones (measured behaviour is
 * machine specific; PTX ISA: "unpredictable"). */
bool sim_alu(const SimOp *op, uint64_t *slot);

#endif
