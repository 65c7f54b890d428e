/* What the scanner (lex.re), the grammar (parse.y), the builder (build.c) and the driver (ptx.c) of the PTX
 * reader share; internal to reading.
 *
 * The grammar is that of one statement: an instruction with its `;`, a label, a directive, the head of a function, one
 * brace of a scope. The driver calls the parser for one after the other, keeps the scopes, and after a syntax error
 * looks for the place where the next statement begins. So nothing nests in the parser but brackets.
 *
 * Invariants: every statement ends with a token of its own (`;`, `:`, a brace, or the END_OF_LINE that the feed puts in
 * behind directives without `;`), so the parser never reads beyond its statement.
 */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "lang/text.h"
#include "runtime/ptx/parse.tab.h"

enum {
    SCOPES_MAX = 100,    /* scopes inside each other */
    BRACKETS_MAX = 100,  /* brackets inside each other in a statement */
    DIMS_MAX = 8,        /* of an array */
    FILES_MAX = 65535,   /* highest number of a .file */
    REGS_MAX = 1 << 20,  /* registers of a function */
    INIT_MAX = 64 << 20, /* bytes of all initialised variables together: `.b8 a[9999999999] = {1}` is short */
    TEXT_MAX = 1 << 30   /* bytes of a text */
};

typedef struct PtxToken {
    int kind;
    const char *start, *end;
    uint32_t line, column;
    bool first; /* on its line */
    PTX_STYPE value;
} PtxToken;

typedef struct PtxRange { /* %r<5> */
    uint32_t base, count, vec, depth, line;
    PtxType type;
    PtxFunc *owner;
    const struct PtxRange *outer; /* of a scope around: %r7 is there where this one is shorter */
} PtxRange;

/* What a name stands for now. Owners tell registers of bare instructions from those of a function; NULL: the module. */
typedef struct PtxBinding {
    PtxVar *var;
    PtxFunc *var_owner;
    const PtxRange *range;         /* innermost one of registers that start with the name */
    uint32_t var_depth;            /* 0: module */
    uint32_t single, single_depth; /* least number + 1 of registers that start with the name, declared one by one */
} PtxBinding;
typedef struct PtxName {
    PtxBinding now;
    uint32_t func;           /* index in the module's functions + 1 */
    uint32_t prefix, number; /* "%r12": of "%r", and 12; prefix 0: not looked at yet, NO_PREFIX: does not end so */
    PtxVar *made;            /* the register of a range, or of a vector, that was made for this name .. */
    const void *made_of;     /* .. and its range or vector */
    uint32_t reported;       /* line of the last report that it is not declared */
    bool broken;             /* its declaration is wrong, which was reported */
} PtxName;
#define NO_PREFIX UINT32_MAX

typedef struct PtxUndo {
    Name name;
    PtxBinding was;
} PtxUndo;
typedef struct PtxScope {
    uint32_t id, undo, line; /* undo: length of the undo list when it was opened */
} PtxScope;
typedef struct PtxPending { /* a name that is a label, a function, or not declared */
    Name name;
    uint32_t line, column, scope;
    uint32_t instr; /* the one that has it, if it is an instruction that does */
} PtxPending;
typedef struct PtxTargets { /* .branchtargets, .calltargets */
    uint32_t label;
    PtxOperand *items;
    uint32_t nitems;
} PtxTargets;
typedef struct PtxDecl { /* the declaration that is being read */
    PtxSpace space;
    PtxType type;
    bool named;             /* the declarator has its name and is not yet declared */
    bool has_type, pointee; /* pointee: what follows .ptr is about the memory it points to */
    bool is_extern, is_visible;
    uint32_t vec, align, line;
    /* of the declarator */
    PtxWord name;
    uint64_t dims[DIMS_MAX];
    uint32_t ndims;
    bool open_dim; /* [] */
    /* initial values */
    PtxVar *var;
    uint32_t level;
    uint64_t at, starts[BRACKETS_MAX];
    bool full; /* said that there are more values than elements */
    VEC(uint8_t) bytes;
    VEC(PtxReloc) relocs;
} PtxDecl;

typedef enum HeadPhase { HEAD_START, HEAD_VERSION, HEAD_TARGET, HEAD_DONE, HEAD_OVER } HeadPhase;

struct PtxReader {
    Arena *arena;
    Names *names;
    PtxModule *module;
    VEC(PtxName) table; /* by Name */
    VEC(PtxDefect) found;

    /* scanner */
    const unsigned char *cursor, *limit, *line_start;
    uint32_t line;
    bool fresh_line;   /* no token yet */
    bool open_comment; /* it is known that no further comment is closed */
    bool directives;   /* the statement is a directive: .u32 is a type, .reg a space */

    /* feed */
    PtxToken cur, prev;
    uint32_t line_before, column_before; /* of the token before prev */
    bool again;                          /* cur comes again */
    uint32_t read;                       /* tokens of the statement that the parser has */
    int first;                           /* kind of its first token */
    uint32_t first_line, first_column;
    uint32_t brackets, braces;               /* open in the statement .. */
    uint32_t brackets_before, braces_before; /* .. and before cur */
    uint32_t words;
    uint32_t dots, glued; /* modifiers, and how many of them follow directly */
    bool end_of_line;     /* the parser got END_OF_LINE, cur comes again */
    bool is_call, said;   /* said: the reason why the statement is wrong was reported */
    bool stopped;

    /* where we are */
    PtxFunc *func; /* whose body is read; NULL: outside */
    PtxFunc *bare; /* of instructions outside; NULL: there were none */
    PtxFunc *head; /* whose head is read */
    Name head_name;
    bool head_results, prototype;
    VEC(PtxScope) scopes;
    VEC(PtxUndo) undo;
    VEC(PtxPending) pending, bare_pending;
    VEC(PtxTargets) targets, bare_targets;
    PtxPlace place;
    bool any_reg;
    HeadPhase phase;      /* what was read before the statement */
    bool recovered;       /* the last statement was wrong */
    PtxWord early_target; /* stood before any .version */
    uint64_t init_bytes;
    bool section; /* the body of a .section is next */

    /* the statement */
    PtxDecl decl;
    VEC(PtxOperand) stack;
    VEC(const char *) mods;
    PtxWord guard;
    bool guard_not;
    uint32_t numbers[3], nnumbers;
};

/* ---- scanner ---- */
void ptx_scan(PtxReader *r); /* the next token to r->cur */

/* ---- feed and errors: ptx.c ---- */
int ptx_lex(PTX_STYPE *value, PtxReader *r);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void ptx_problem(PtxReader *r, uint32_t line, const char *fmt, ...); /* of the statement, or of cur if on its line */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void ptx_defect(PtxReader *r, PtxDefectKind kind, uint32_t line, uint32_t column, const char *fmt, ...);
void ptx_syntax_error(PtxReader *r, const bool *expected);
const char *ptx_token_name(int kind);      /* as in the grammar */
const char *ptx_type_word(PtxType t);      /* ".u32" */
int ptx_shown(const char *text, size_t n); /* bytes of a name or token to show in a message */

/* ---- names: names.c ---- */
PtxName *ptx_name(PtxReader *r, Name id);
const char *ptx_text(const PtxReader *r, PtxWord w);
PtxFunc *ptx_here(PtxReader *r); /* the function that gets instructions and registers now */
uint32_t ptx_depth(const PtxReader *r);
uint32_t ptx_scope(const PtxReader *r);
void ptx_scope_open(PtxReader *r, uint32_t line);
void ptx_scope_close(PtxReader *r);
void ptx_bind_var(PtxReader *r, PtxVar *v, Name name, PtxFunc *owner);
void ptx_bind_range(PtxReader *r, PtxWord prefix, uint32_t count, PtxType type, uint32_t vec);
bool ptx_may_bind(PtxReader *r, PtxWord w); /* else the duplicate was reported */
PtxVar *ptx_find_var(PtxReader *r, Name id);
bool ptx_new_regs(PtxReader *r, PtxFunc *f, uint64_t n, uint32_t line, uint32_t *first); /* else reported */
PtxOperand ptx_use(PtxReader *r, PtxWord w);
/* Labels are known: says which of the pending names are nothing, gives lists of targets to their users. */
void ptx_func_end(PtxReader *r, PtxFunc *f, bool report);

/* ---- actions of the grammar: build.c ---- */
void ptx_new_label(PtxReader *r, PtxWord w);
void ptx_brace_open(PtxReader *r);
void ptx_brace_close(PtxReader *r);
void ptx_version(PtxReader *r, PtxConst version);
void ptx_target(PtxReader *r, PtxWord w);
void ptx_target_option(PtxReader *r, PtxWord w);
void ptx_nothing(PtxReader *r); /* a `;` alone */
void ptx_address_size(PtxReader *r, PtxConst bits);
void ptx_file(PtxReader *r, PtxConst number, const char *path);
uint32_t ptx_clipped(PtxConst c); /* at most UINT32_MAX */
void ptx_loc(PtxReader *r, PtxConst file, PtxConst line, PtxConst column);
void ptx_alias(PtxReader *r, PtxWord name, PtxWord of);
void ptx_targets(PtxReader *r, uint32_t list);

void ptx_decl_begin(PtxReader *r, PtxSpace space);
void ptx_decl_space(PtxReader *r, PtxSpace space); /* behind .ptr */
void ptx_decl_type(PtxReader *r, PtxType t);
void ptx_decl_align(PtxReader *r, PtxConst c);
void ptx_decl_name(PtxReader *r, PtxWord w);
void ptx_decl_dim(PtxReader *r, const PtxConst *c); /* NULL: [] */
void ptx_decl_range(PtxReader *r, PtxConst count);
void ptx_decl_end(PtxReader *r, bool has_init);
void ptx_init_begin(PtxReader *r);
void ptx_init_open(PtxReader *r);
void ptx_init_close(PtxReader *r);
void ptx_init_value(PtxReader *r, PtxConst c);
void ptx_init_address(PtxReader *r, const PtxReloc *reloc);
void ptx_init_attribute(PtxReader *r); /* name = value of a .texref */
PtxReloc ptx_masked(PtxReader *r, PtxConst mask, PtxReloc reloc);
PtxReloc ptx_moved(PtxReader *r, PtxReloc reloc, PtxConst by, bool minus);
PtxReloc ptx_reloc(PtxWord w, const char *name, bool generic);
void ptx_no_difference(PtxReader *r); /* name - 8 */
void ptx_decl_param(PtxReader *r);

void ptx_func_begin(PtxReader *r, bool is_entry);
void ptx_func_name(PtxReader *r, PtxWord w);
void ptx_func_limit(PtxReader *r, PtxLimit which);
void ptx_func_head_end(PtxReader *r, bool body);
void ptx_func_close(PtxReader *r);

void ptx_push(PtxReader *r, PtxOperand o);
PtxOperand ptx_list(PtxReader *r, PtxOperandKind kind, uint32_t from); /* takes what was pushed since */
PtxOperand ptx_address(PtxReader *r, uint32_t from);
PtxOperand ptx_offset(PtxReader *r, PtxOperand o, PtxConst by, bool minus);
PtxOperand ptx_element(PtxReader *r, PtxOperand o, PtxConst index);
PtxOperand ptx_negated(PtxReader *r, PtxOperand o);
PtxOperand ptx_constant(PtxConst c);
void ptx_instr(PtxReader *r, PtxWord opcode);

/* ---- constant expressions: constants.c ---- */
PtxConst ptx_unary(PtxReader *r, int op, PtxConst a);
PtxConst ptx_binary(PtxReader *r, int op, PtxConst a, PtxConst b);
PtxConst ptx_choose(PtxReader *r, PtxConst c, PtxConst a, PtxConst b);
PtxConst ptx_cast(PtxReader *r, const char *type, PtxConst a);
bool ptx_integer(PtxReader *r, PtxConst c, int64_t *value); /* else reported */
double ptx_double(PtxConst c);                              /* of any kind */
/* Digits, a point, an exponent; does not depend on the locale. */
PtxConst ptx_decimal(Arena *a, const char *s, size_t n);

#endif
