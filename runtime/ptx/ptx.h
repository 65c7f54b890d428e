/* PTX text as data: what the simulator and `tilecc check-ptx` read.
 *
 * In: a PTX module (the compiler's, another compiler's, or written by hand), any bytes. Out: directives, variables,
 * functions and instructions in order, each with its line; names are resolved to variables of the innermost scope that
 * declares them. Nothing is known here of what an instruction means: opcode and modifiers are words, operands are
 * shapes. forms.h finds the row of lang/instructions.def, decode.h makes operations.
 *
 * Errors: a syntax error is reported once with its line, and reading goes on behind its `;` or at the next line that
 * can begin a statement; such an instruction is not in the result. Everything lives in the caller's arena; names are
 * 0-terminated, and equal ones of a module are the same pointer.
 *
 * Instructions outside any function (a bare list, with or without a module header) and registers declared there belong
 * to a function named "" that is no entry and has a body.
 *
 * Glossary: modifier - a word of an opcode behind its first ('.shared::cta', with the dot); guard - '@%p' or '@!%p';
 * scope - a body or a `{ }` inside it, with registers and labels of its own.
 */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/arena.h"
#include "lang/lang.h"

typedef enum PtxType {
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_F32,
    PTX_F64,
    PTX_NO_TYPE
} PtxType;
typedef enum PtxSpace {
    PTX_SPACE_REG,
    PTX_SPACE_PARAM,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL
} PtxSpace;
int ptx_type_bytes(PtxType t);                      /* 0 for PTX_PRED */
bool ptx_type_find(const char *word, PtxType *out); /* ".u32" */

enum { WHOLE_ADDRESS = 8 };
/* An address in initial values: 8 bytes at `offset` (fewer where the elements are smaller). */
typedef struct PtxReloc {
    uint64_t offset;
    const char *name;         /* of a variable or a function */
    const struct PtxVar *var; /* NULL: a function */
    int64_t addend;
    bool generic; /* generic(name): the generic address, else the one in the variable's space */
    uint8_t byte; /* mask operator, 0xFF00(name): this byte alone (here 1) is the value; WHOLE_ADDRESS: none */
    uint32_t line, column;
} PtxReloc;

/* Registers of a vector type (.reg .v4 .f32 v) are as many scalar ones, v.x to v.w. */
typedef struct PtxVar { /* a register, parameter, array or scalar variable */
    const char *name;   /* "%r3", "smem" */
    PtxSpace space;
    PtxType type;
    uint8_t vec; /* 1, 2 or 4 */
    bool is_array, is_extern, is_visible;
    uint32_t align; /* bytes: as declared, else the type's size */
    uint64_t bytes; /* 0: an extern array without size */
    const uint8_t
        *init; /* `bytes` initial bytes, or NULL: zeros. Where an address belongs, relocs say which; 0 stands there */
    const PtxReloc *relocs;
    uint32_t nrelocs;
    uint32_t line;
    uint32_t index; /* registers: number in the function; others: free for the decoder */
    uint64_t user;  /* free for the decoder */
} PtxVar;

typedef enum PtxOperandKind {
    PTX_REG,      /* var */
    PTX_SPECIAL,  /* name: "%tid.x", "%clock64" (WARP_SZ is an INT) */
    PTX_SYMBOL,   /* name; var where it is a variable, else a label or a function. Of a label that stands before
                     .branchtargets or .calltargets: items are the SYMBOLs of that list */
    PTX_INT,      /* value */
    PTX_F32_BITS, /* value: 0f3F800000 */
    PTX_F64_BITS, /* value: 0d.., or a decimal float */
    PTX_SINK,     /* _ */
    PTX_ADDRESS,  /* [item 0 + value]; item 0 is REG, SYMBOL or INT */
    PTX_MAP,      /* [item 0, item 1 ..]: an address (REG, SYMBOL + its value, INT) and a vector; textures have more */
    PTX_VECTOR,   /* {items}; name: of the register where one of a vector type stands for it */
    PTX_PAIR,     /* item 0 | item 1 */
    PTX_ARGS      /* (items): of call */
} PtxOperandKind;
typedef struct PtxOperand {
    PtxOperandKind kind;
    bool negated; /* !%p, or -%r */
    bool offset;  /* an offset is written, be it +0 */
    const char *name;
    PtxVar *var;
    int64_t value; /* INT (bits of unsigned ones), floats: the bits; ADDRESS, SYMBOL, REG (name + 8): the offset */
    struct PtxOperand *items;
    uint32_t nitems;
} PtxOperand;

typedef struct PtxPlace { /* of the last .loc; line 0: none */
    uint32_t file, line, column;
} PtxPlace;

typedef struct PtxInstr {
    const PtxVar *guard; /* NULL: none */
    bool guard_not;
    const char *opcode; /* "cp", "mbarrier", "add" */
    const char **mods;  /* ".async", ".bulk", ".shared::cta", .. in the order of the text */
    uint32_t nmods;
    uint32_t glued;  /* so many modifiers follow the opcode without white space or comments between */
    bool unresolved; /* it has a name that stands for nothing, which was reported (or need not be declared) */
    PtxOperand *opd;
    uint32_t nopd;
    uint32_t line, column; /* in the PTX text, from 1, in bytes; of its first word or guard */
    uint32_t scope;        /* of PtxFunc: where its labels are looked up */
    PtxPlace place;
} PtxInstr;

typedef struct PtxLabel {
    const char *name;
    uint32_t instr; /* index of the next instruction, may be ninstr */
    uint32_t scope, line;
} PtxLabel;

typedef struct PtxFunc {
    const char *name;
    bool is_entry, has_body;
    VEC(PtxVar *) params;
    VEC(PtxVar *) results; /* of a .func: what it returns */
    VEC(PtxVar *) vars;    /* shared, local, .. of all scopes, registers that are used or declared one by one */
    VEC(PtxInstr) instrs;
    VEC(PtxLabel) labels;
    VEC(uint32_t) scope_parent;      /* scope 0 is the body, its own parent */
    uint32_t nregs;                  /* all that are declared */
    uint32_t reqntid[3], maxntid[3]; /* 0: not given */
    uint32_t reqnctapercluster[3];
    uint32_t line;
    uint32_t *label_table; /* of ptx_find_label */
    uint32_t label_mask;
} PtxFunc;

typedef struct PtxModule {
    unsigned version;   /* 86 = 8.6; 0: none given */
    const char *target; /* "sm_90a", the first that is named; NULL: none given */
    int address_size;
    uint32_t version_line, target_line;
    VEC(PtxVar *) vars; /* of the module */
    VEC(PtxFunc *) funcs;
    VEC(const char *) files; /* by number; NULL where there is none */
} PtxModule;

/* One problem. text lives as long as the call. */
typedef void (*PtxProblem)(void *user, uint32_t line, const char *text);
typedef enum PtxDefectKind {
    PTX_SYNTAX,
    PTX_HEAD,       /* .version, .target and .address_size: what they say, where they stand */
    PTX_UNDECLARED, /* a name */
    PTX_GUARD       /* a register that is no predicate */
} PtxDefectKind;
typedef struct PtxDefect { /* a problem with all that is known of it */
    uint32_t line, column, order;
    PtxDefectKind kind;
    const char *text;
} PtxDefect;

/* Reads all of it; the problems come sorted by line, when it is read. A name that is neither declared nor a label nor a
 * function is one, once a line; its operand is REG (with %) or SYMBOL, without a var. But in a text that declares no
 * register at all, names in bare instructions need no declaration: such a list is read for the instructions' sake.
 * Returns NULL only where nothing can be made of it (scopes nested beyond 100, more than 1 GiB: reported too).
 * *problems: how many. Linear in size. Memory: jumps to arena->mem->fail. */
PtxModule *ptx_read(Arena *a, const char *text, size_t size, PtxProblem problem, void *user, uint32_t *problems);
/* The same with more to know of each problem. */
PtxModule *ptx_examine(Arena *a, const char *text, size_t size, void (*defect)(void *user, const PtxDefect *d),
                       void *user, uint32_t *problems);

/* Index of the instruction behind the label as seen from `scope`, or -1. */
int64_t ptx_find_label(const PtxFunc *f, uint32_t scope, const char *name);
bool ptx_has_mod(const PtxInstr *i, const char *mod); /* ".shared::cta" */

#endif
