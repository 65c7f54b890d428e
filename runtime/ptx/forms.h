/* Which row of lang/instructions.def an instruction is, and what stands in each of its placeholders.
 *
 * In: one instruction as read. Out: its form with operands bound, or why it is none. Modifiers may stand in any order,
 * except that the destination's state space comes before the source's and a destination format before a source format
 * (measured: ../lang/instructions.def); defaults of the PTX ISA are filled in (.tile, .shared for .shared::cta of
 * mbarrier, .release / .acquire, .cta). Used by the decoder of the simulator and by check-ptx: one matcher.
 *
 * Invariant: the rows are the only list of forms. A hand-written form that the compiler never emits has a row too.
 *
 * Modules: forms.c (matching), forms_table.c (templates taken apart), forms_near.c (why nothing matched, and what would
 * do), forms_check.c (targets, versions, combinations), forms_operands.c (kinds, widths, ranges).
 */
#ifndef FORMS_H
#define FORMS_H

#include "lang/diag/diag.h"
#include "lang/lang.h"
#include "runtime/ptx/ptx.h"

typedef enum Placeholder { /* operands and modifiers of the templates, by name */
                           PH_DST,
                           PH_SRC,
                           PH_MAP,
                           PH_COORDS,
                           PH_MBAR,
                           PH_GADDR,
                           PH_SIZE,
                           PH_BYTES,
                           PH_COUNT,
                           PH_N,
                           PH_PARITY,
                           PH_STATE,
                           PH_VALUE,
                           PH_RANK,
                           PH_ID,
                           PH_THREADS,
                           PH_PRED,
                           PH_REG,
                           PH_REGS,
                           PH_TADDR,
                           PH_DESC,
                           PH_INFO,
                           PH_MASK,
                           PH_POLICY,
                           PH_ORDINAL,
                           PH_OPERANDS,
                           /* modifiers: their words */
                           PH_DIM = PH_OPERANDS,
                           PH_FIELD,
                           PH_TYPE,
                           PH_OP,
                           PH_SCOPE,
                           PH_SEM,
                           PH_GROUP1,
                           PH_HINT,
                           PH_GROUP,
                           PH_FMT,
                           PH_VEC,
                           PH_ELSE,
                           PH_ALL
} Placeholder;

typedef struct FormMatch {
    InstrForm form;
    const PtxOperand *opd[PH_OPERANDS]; /* NULL: not there. {coords}: the VECTOR; {map} of a copy: the REG or SYMBOL;
                                           {dst} etc.: the ADDRESS */
    const char *word[PH_ALL];           /* what stands for the placeholder, without the leading dot: "add.noftz", "u32",
                                           "L2::cache_hint", "evict_last"; also [PH_N] of ".x4": "4"; NULL: not there.
                                           PH_SEM and PH_SCOPE of mbarrier forms are always there */
    int dim;                            /* 1 .. 5 where the form has {dim} */
    bool generic;                       /* the state space that the row names was left out: generic addresses */
    PtxOperand bare[4];                 /* ADDRESSes of operands without brackets: opd points here, don't copy */
    uint32_t nbare;
} FormMatch;

/* Is it of the families of instructions.def at all (cp.async.bulk.., mbarrier.., tcgen05.., fence.., ..)? Everything
 * else is plain: arithmetic, loads, stores, control. */
bool form_family(const PtxInstr *i);
/* The matrix instructions of tensor memory and of warp groups: no rows, their words and targets are known. */
bool form_is_matrix(const PtxInstr *i);
/* True: *out is filled. False: *code and why (what is wrong, what would do). Targets are not looked at. */
bool form_match(const PtxInstr *i, FormMatch *out, ErrorCode *code, char *why, size_t size);

/* Beyond the form: what the PTX ISA allows for operands, types and combinations of this form on this target and
 * version, stricter than ptxas where that has holes. Calls `report` for each finding; returns the number of errors. */
typedef struct FormFinding {
    ErrorCode code;
    bool is_error; /* else a warning */
    const char *text;
} FormFinding;
int form_check(const PtxInstr *i, const FormMatch *m, const TargetInfo *target, unsigned version,
               void (*report)(void *user, const FormFinding *f), void *user);

int form_check_matrix(const PtxInstr *i, const TargetInfo *target, unsigned version,
                      void (*report)(void *user, const FormFinding *f), void *user);

#endif
