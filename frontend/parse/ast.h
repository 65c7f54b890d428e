/* The syntax tree: what was written, with the place of every part. The grammar's actions build it and nothing
 * else; meaning starts in the checks. All nodes live in the compilation's arena.
 */
#ifndef FRONTEND_AST_H
#define FRONTEND_AST_H

#include <stdbool.h>

#include "lang/diag/diag.h"
#include "lang/names.h"

typedef struct Ident {
    Name name; /* 0: absent, or lost in a syntax error */
    Span span;
} Ident;

/* ---- expressions ---- */
typedef enum ExprKind {
    EX_INT,    /* i */
    EX_FLOAT,  /* f */
    EX_STRING, /* str, len */
    EX_NAME,   /* id */
    EX_CALL,   /* id(args): ceil, min, max, an expression fn */
    EX_PEER,   /* peer(a, b) */
    EX_INDEX,  /* a[subs] */
    EX_MEMBER, /* a.id; also cluster.id and grid.id, where a is an EX_NAME */
    EX_METHOD, /* a.id(args): std.tiles.f(..) in an expression */
    EX_UNARY,  /* op a */
    EX_BINARY, /* a op b */
    EX_ERROR   /* stands for what could not be parsed */
} ExprKind;

typedef enum ExprOp {
    OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_SHL, OP_SHR, OP_AND, OP_OR, OP_XOR,
    OP_EQ, OP_NE, OP_LT, OP_GT, OP_LE, OP_GE, OP_LAND, OP_LOR, /* binary */
    OP_NEG, OP_NOT, OP_INV                                     /* unary: - ! ~ */
} ExprOp;
const char *expr_op_text(ExprOp op);

typedef enum SubKind {
    SUB_AT,    /* a         : a start, or a plain index */
    SUB_ALL,   /* :         : the whole dimension */
    SUB_SPAN,  /* a +: b [by c] */
    SUB_ROWS   /* {rows}    : rows by number */
} SubKind;
typedef struct Expr Expr;
typedef struct ExprList {
    Expr *first, *last; /* linked by Expr.next */
    uint32_t n;
} ExprList;
typedef struct Sub {
    SubKind kind;
    Span span;
    struct Sub *next;
    Expr *a, *b, *c;
    ExprList rows;
} Sub;
typedef struct SubList {
    Sub *first, *last;
    uint32_t n;
} SubList;

/* A node has room for the members of its own kind only (and for one literal): make another node instead of
 * changing the kind in place. Reading a whole Expr, Sub or Stmt to copy it is fine. */
struct Expr {
    uint8_t kind, op;
    uint16_t depth; /* of the tree below, 1 for a leaf; at most EXPR_DEPTH_MAX */
    Span span;      /* with the parentheses around it */
    Expr *next;
    union {
        uint64_t i; /* literals up to 2^63 - 1, except the operand of unary minus: 2^63 */
        double f;
        struct { const char *str; uint32_t len; };
        struct { Ident id; Expr *a; ExprList args; };                   /* NAME CALL MEMBER METHOD */
        struct { Expr *base; SubList subs; };                           /* INDEX */
        struct { Expr *lhs, *rhs; Span op_span; };                      /* UNARY (lhs) BINARY PEER */
    };
};

/* ---- types ---- */
typedef struct DimsList { /* bf16[4][64, 64]: two brackets */
    ExprList dims;
    Span span;
    struct DimsList *next;
} DimsList;
typedef struct TypeExpr {
    Span span;
    Ident elem;
    DimsList *brackets; /* in source order */
    ExprList stride;    /* n == 0: no clause */
    Span stride_span;
    Expr *swizzle, *atom, *interleave;
    bool flip;
    Span swizzle_span;
} TypeExpr;

typedef enum Space { SPACE_GLOBAL, SPACE_SHARED, SPACE_TMEM } Space;

/* ---- statements ---- */
typedef struct Stmt Stmt;
typedef struct Block {
    Span span;
    Stmt *first, *last; /* linked by Stmt.next */
} Block;

typedef enum ClauseKind {
    CL_VIA,             /* id: a map, or `bulk` */
    CL_VIA_THREADS,
    CL_MULTICAST,       /* id: x y z all warpx4 ..; or expr: (mask) */
    CL_REDUCE,          /* id */
    CL_CACHE,           /* id */
    CL_BYTES, CL_OFFSET, CL_HALO, /* exprs */
    CL_AHEAD,           /* expr */
    CL_OVERLAP,         /* id */
    CL_CONVERT,         /* id: `sat`, or absent */
    CL_TRANSPOSE, CL_REVERSE, CL_SUM,
    CL_COMMIT,          /* expr: the barrier */
    CL_COMMIT_GROUP
} ClauseKind;
typedef struct Clause {
    ClauseKind kind;
    Span span;
    Ident id;
    Expr *expr;
    ExprList exprs;
    struct Clause *next;
} Clause;
typedef struct ClauseList {
    Clause *first, *last;
} ClauseList;

typedef enum MapOptKind {
    MO_WORD,   /* id: gather4, scatter4, im2col, im2col_w, im2col_w128 */
    MO_BOX, MO_STRIDE, MO_LOWER, MO_UPPER, /* exprs */
    MO_SWIZZLE,                            /* expr, atom, flip */
    MO_FILL,                               /* id */
    MO_L2, MO_INTERLEAVE, MO_CHANNELS, MO_PIXELS /* expr */
} MapOptKind;
typedef struct MapOpt {
    MapOptKind kind;
    Span span;
    Ident id;
    Expr *expr, *atom;
    bool flip;
    ExprList exprs;
    struct MapOpt *next;
} MapOpt;
typedef struct MapOptList {
    MapOpt *first, *last;
} MapOptList;

typedef struct PolicyOpt { /* `fraction 0.5`: id, expr; `else evict_first`: is_else, id */
    Span span;
    bool is_else;
    Ident id;
    Expr *expr;
    struct PolicyOpt *next;
} PolicyOpt;
typedef struct PolicyOptList {
    PolicyOpt *first, *last;
} PolicyOptList;

typedef struct RangeItem { /* hi only: 0 .. hi */
    Expr *lo, *hi;
    Span span;
    struct RangeItem *next;
} RangeItem;
typedef struct IdentItem {
    Ident id;
    struct IdentItem *next;
} IdentItem;
typedef struct LoopHead {
    IdentItem *indices; /* one, or the names of ( .. ) */
    uint32_t nindices;
    RangeItem *ranges;
    uint32_t nranges;
    Span index_span, range_span;
} LoopHead;

typedef struct Role {
    Ident name;
    Expr *threads; /* or NULL */
    Block body;
    Span span;
    struct Role *next;
} Role;

typedef enum StmtKind {
    ST_LET, ST_VAR, ST_ASSIGN,         /* id = expr */
    ST_SHARED, ST_TMEM,                /* id : type */
    ST_BARRIER,                        /* id [expr] free */
    ST_VIEW,                           /* id = expr [: type] */
    ST_MAP,                            /* id = expr opts */
    ST_POLICY,                         /* id = word opts */
    ST_MOVE,                           /* src -> dst clauses */
    ST_PREFETCH, ST_SHIFT,             /* src clauses */
    ST_FILL,                           /* dst = expr clauses */
    ST_WAIT, ST_ARRIVE,                /* expr */
    ST_WAIT_GROUP,                     /* [expr] [read] */
    ST_EXPECT,                         /* expr, expr2 */
    ST_CALL,                           /* path<targs>(args) */
    ST_FOR, ST_PIPELINE, ST_IF, ST_GROUP, ST_ROLES,
    ST_ERROR
} StmtKind;

struct Stmt {
    StmtKind kind;
    Span span; /* the whole statement; of compound ones the head, without the block */
    Stmt *next;
    Ident id; /* what is declared or assigned */
    union {
        Expr *expr; /* LET VAR ASSIGN WAIT ARRIVE */
        TypeExpr *type; /* SHARED TMEM */
        struct { Expr *count; bool is_free; Span free_span; } barrier; /* count NULL: one */
        struct { Expr *src; TypeExpr *type; } view;
        struct { Expr *src; MapOptList opts; } map;
        struct { Ident word; PolicyOptList opts; } policy;
        struct { Expr *src, *dst; ClauseList clauses; } move; /* PREFETCH, SHIFT: src; FILL: dst and value */
        struct { Expr *dst, *value; ClauseList clauses; } fill;
        struct { Expr *count; bool read; } wait_group;
        struct { Expr *barrier, *bytes; } expect;
        struct { IdentItem *path; ExprList targs, args; Span path_span; } call;
        struct { LoopHead head; Block body; Expr *stages, *threads; bool across; Ident by; Span across_span; } loop; /* FOR PIPELINE */
        struct { Expr *cond; Block then, other; bool has_else; } cond; /* else if: `other` holds one ST_IF */
        Block block; /* GROUP */
        Role *roles;
    };
};

/* ---- items ---- */
typedef struct TParam {
    Ident name;
    Expr *value; /* default: a number, or an EX_NAME that is an element type, and behind it its alternatives; NULL: must be given */
    struct TParam *next;
} TParam;

typedef enum ParamKind {
    PK_BARE,   /* i            (fn only) */
    PK_SCALAR, /* n : s64      scalar type name in `type_name` */
    PK_TENSOR, /* x : global T[..] / shared / tmem */
    PK_BARRIER, PK_MAP, PK_POLICY
} ParamKind;
typedef struct Param {
    ParamKind kind;
    Ident name;
    Ident type_name;
    Space space;
    TypeExpr *type;
    Expr *count; /* barrier[count] */
    Span span;
    struct Param *next;
} Param;

typedef enum AttrKind { AT_GRID, AT_CLUSTER, AT_THREADS, AT_WHERE, AT_TRUST, AT_PAIR } AttrKind;
typedef struct Attr {
    AttrKind kind;
    Span span;
    ExprList exprs; /* THREADS: one */
    struct Attr *next;
} Attr;

typedef enum ItemKind { IT_TARGET, IT_IMPORT, IT_CONST, IT_FN, IT_KERNEL } ItemKind;
typedef struct Item {
    ItemKind kind;
    Span span; /* of fn and kernel: the head */
    Ident name;            /* CONST FN KERNEL */
    IdentItem *path;       /* TARGET: names; IMPORT: path */
    Expr *expr;            /* CONST; expression FN (`= expr`) */
    TParam *tparams;
    Param *params;
    Attr *attrs;
    Block body;
    bool is_expr_fn;
    struct Item *next;
} Item;

typedef struct Unit {
    Source *source;
    Item *first, *last;
} Unit;

/* ---- frontend/parse: text -> tree ---- */
/* Limits that keep every recursive walk of the tree within the C stack; passing one is a syntax error. */
enum {
    NESTING_MAX = 256,    /* open brackets and blocks, links of an else-if chain */
    EXPR_DEPTH_MAX = 1000 /* levels of one expression: a + a + .. makes one per operator */
};
typedef struct ParseContext {
    Arena *arena;
    Names *names;
    Diags *diags;
    Sources *sources;
} ParseContext;
/* Always returns a tree, with what could be read; syntax errors are in the diagnostics. */
Unit *parse_unit(ParseContext *cx, Source *src);
/* One token per line with its place: --emit=tokens. */
void print_tokens(ParseContext *cx, Source *src, Text *out);
const char *clause_text(ClauseKind k); /* "via threads" */
/* Indented tree with places: --emit=ast. */
void print_unit(const Unit *u, const Names *names, Sources *sources, Text *out);
/* Expression as source text, fully parenthesised only where needed. */
void print_expr(const Expr *e, const Names *names, Text *out);

#endif
