/* Private to the checks: names, environments and the passes over them.
 *
 *   modules.c    imports, targets, items of each module, -D
 *   names.c      every name of every function is declared, also in functions that nobody calls
 *   scalars.c    expressions -> scalars (Sx), constants folded
 *   types.c      types, tiles, layouts
 *   regions.c    operands of moves: tensors, views, tiles, subscripts
 *   maps.c       `map` and `policy` declarations
 *   moves.c      `move` and its clauses
 *   kernels.c    parameters, attributes
 *   statements.c bodies; functions inlined
 *   arrival.c    straight-line commit and wait, definite assignment
 */
#ifndef FRONTEND_CHECK_H
#define FRONTEND_CHECK_H

#include "frontend/prog.h"

typedef enum EntKind {
    ENT_SCALAR,  /* sx */
    ENT_VAR,     /* var: number */
    ENT_TYPE,    /* type */
    ENT_TENSOR, ENT_TILE, ENT_BARRIER, ENT_MAP, ENT_POLICY,
    ENT_BAD      /* declared, but its declaration was wrong: uses are silent */
} EntKind;
typedef struct Entity {
    EntKind kind;
    Name name;
    Span span;
    union {
        const Sx *sx;
        uint32_t var;
        ElemType type;
        PTensor *tensor;
        PTile *tile;
        PBarrier *barrier;
        PMap *map;
        PPolicy *policy;
    };
    const struct Entity *next; /* declared before; the scope is the chain */
} Entity;

typedef struct Module Module;
typedef struct Import {
    IdentItem *path;
    Span span;
    Module *module;
    struct Import *next;
} Import;
struct Module {
    const char *name; /* "std.tiles"; "" for the main one */
    Unit *unit;
    Import *imports;
    Item **item_of;   /* by Name; NULL: none */
    uint32_t nnames;
    const Sx **const_of; /* by Name: value of a const once evaluated */
    Module *next;
};

struct Checked {
    Compilation *c;
    Define *defines;
    size_t ndefines;
    const ImportReader *reader;
    Module *modules; /* main first */
    Module *main;
    VEC(Item *) kernels;
    /* Words looked up often. */
    Name n_cta, n_grid, n_cluster, n_bulk, n_ceil, n_min, n_max, n_group;
};

/* Where something is being elaborated. */
typedef struct Env {
    Checked *ch;
    Compilation *c;
    Module *module;          /* for names that no scope declares */
    const Entity *scope;
    PKernel *kernel;         /* NULL while evaluating a module's constants */
    PBlock *block;           /* statements go here */
    const CallFrame *frame;
    Item *const *stack;      /* functions being inlined, outermost first */
    uint32_t depth;
    bool in_group;
    bool in_view;
    bool extents;            /* unknown names in extents declare sizes (kernel parameters) */
    bool extents_local;      /* ... are bound by the argument (fn parameters) */
} Env;

/* modules.c */
Item *module_item(const Module *m, Name n);
Module *module_by_path(Env *e, const IdentItem *path, uint32_t n); /* first n names of the path; NULL if not imported */
const char *path_text(Env *e, const IdentItem *path);

/* names.c */
void check_names(Checked *ch, Module *m);
const Entity *env_find(const Env *e, Name n);
void env_add(Env *e, Entity ent); /* reports a redeclaration in the same kernel or fn body */
/* Reports an unknown name with the nearest known one. */
void unknown_name(Env *e, Ident id, const char *what);
const char *name_of(const Env *e, Name n);

/* scalars.c */
Sx *sx_new(Env *e, SxOp op, Span span);
const Sx *sx_const(Env *e, int64_t k, Span span);
const Sx *sx_op(Env *e, SxOp op, const Sx *a, const Sx *b, Span span); /* folds; NULL after an error */
bool sx_is_const(const Sx *x, int64_t *k);
bool sx_is_launch(const Sx *x); /* made of sizes, scalar parameters and constants only */
bool sx_same(const Sx *a, const Sx *b);
/* A number; NULL after an error. */
const Sx *scalar(Env *e, const Expr *x);
const Sx *condition(Env *e, const Expr *x);
/* A number known at compile time, in [lo, hi]; `what` names it in the message. */
bool constant(Env *e, const Expr *x, int64_t lo, int64_t hi, const char *what, int64_t *out);
const Sx *builtin_member(Env *e, const Expr *x); /* cta.x, grid.x, cluster.rank .. */
const char *scalar_text(Env *e, const Sx *x);

/* types.c */
bool elem_type(Env *e, Ident id, ElemType *out);
PTile *tile_type(Env *e, Ident name, const TypeExpr *t);
PTensor *tensor_param(Env *e, Ident name, const TypeExpr *t, const PTensor *arg, Span arg_span);
bool swizzle_of(Env *e, const Expr *swizzle, const Expr *atom, bool flip, Span span, int *out);
bool interleave_of(Env *e, const Expr *x, int *out);
const char *shape_text(Env *e, int rank, const int64_t *extent);
uint32_t kernel_sym(Env *e, Name name, MfSymKind kind, Span span, ElemType type);

/* regions.c */
bool region(Env *e, const Expr *x, PRegion *out);
PTensor *view_of(Env *e, const Stmt *s);
/* A barrier or one of an array. */
PBarrier *barrier_ref(Env *e, const Expr *x, const Sx **slot);

/* maps.c, moves.c */
PMap *map_decl(Env *e, const Stmt *s);
PPolicy *policy_decl(Env *e, const Stmt *s);
void move_stmt(Env *e, const Stmt *s);

/* statements.c */
void statements(Env *e, const Block *b, PBlock *into);
PStmt *emit_stmt(Env *e, PStmtKind kind, Span span);
/* Inlines an expression fn. */
const Sx *call_expr_fn(Env *e, Module *m, Item *fn, const ExprList *args, Span span);
/* Binds a fn's parameters in a new environment; false after an error. */
bool bind_call(Env *caller, Env *inner, Module *m, Item *fn, const ExprList *targs, const ExprList *args, Span span,
               Item **stack);
#define CALL_DEPTH 64

/* kernels.c */
PKernel *elaborate_kernel(Checked *ch, Item *item);

/* arrival.c */
void check_arrival(Compilation *c, const PKernel *k);

/* "<what> not supported yet": of the language, but not lowered by this version (SPEC.md, Status). */
void not_yet(Env *e, Span span, const char *what);

#endif
