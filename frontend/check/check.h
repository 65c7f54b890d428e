/* Private to the checks: names, environments and the passes over them. Their order is ../frontend.c's; ../modules.c has imports, items of each
 * module and -D, ../alternatives.c which schedules each kernel has.
 *
 *   targets.c    which target the program is for
 *   names.c      every name of every function is declared, also in functions that nobody calls
 *   scalars.c    expressions -> scalars (Sx), constants folded
 *   arithmetic.c  arithmetic on tiles and tensors, which there is not
 *   types.c      types, tiles, layouts
 *   regions.c    operands of moves: tensors, views, tiles, subscripts
 *   device_views.c  views that are made at run time
 *   maps.c       `map` and `policy` declarations
 *   modes.c      load modes of maps
 *   rows.c       rows of a region by index
 *   clauses.c    clauses of moves, and what each kind of move takes
 *   moves.c      `move` and `prefetch`: directions, shapes, types
 *   fill.c       `fill`, values as bits
 *   tmem.c       tiles in tensor memory, moves into and out of them, `shift`
 *   kernels.c    heads of kernels: parameters, attributes
 *   statements.c bodies
 *   loops.c      `for`, `pipeline`, `roles`
 *   calls.c      functions inlined
 *   protocols.c  barriers and bulk groups of the whole kernel
 *   collective.c statements of several CTAs: ranks, masks, what they depend on
 *   unused.c     warnings for what is declared and not used
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
    bool local, used;     /* by `let` or `var`; found by its name */
    uint32_t owner;       /* Env.id */
    uint32_t role, across; /* of a variable: the role and the across-grid pipeline that declare it, as in Env */
    struct Entity *next;   /* declared before in the same environment; the scope is the chain */
    struct Entity *hidden; /* of the same name in the environments around this one */
} Entity;

typedef struct Module Module;
typedef struct Import {
    IdentItem *path;
    const char *name; /* the path as text */
    Span span;
    Module *module;   /* NULL: not found */
    struct Import *next;
} Import;
struct Module {
    const char *name; /* "std.tiles"; "" for the main one */
    Unit *unit;
    Span imported;    /* where it was first imported */
    bool loading;     /* its imports are being read */
    bool broken;      /* has syntax errors: what it lacks is no news */
    Import *imports;
    Item **item_of;   /* by Name; NULL: none */
    uint32_t nnames;
    const Sx **const_of; /* by Name: value of a const once evaluated */
    Module *next;
};

typedef struct Schedule { /* of a kernel of the source */
    const Item *kernel;
    uint32_t alternative; /* of its compile-time parameters */
    const Wish *wish;     /* NULL: none */
    VEC(MfPick) picks;    /* of the kernel's first one */
    bool last;            /* of the kernel */
} Schedule;

struct Checked {
    Compilation *c;
    Define *defines;
    size_t ndefines;
    const ImportReader *reader;
    Module *modules; /* main first */
    Module *main;
    VEC(Item *) kernels;
    VEC(Schedule) schedules;
    Entity **newest;  /* by Name: what was declared last, in any environment */
    uint32_t nenvs;
    uint32_t errors;  /* in what all kernels use, modules and constants: uses of it are silent, so no kernel is lowered then */
    uint32_t inlined; /* statements and operations that the calls of this kernel have made */
    /* Words looked up often. */
    Name n_cta, n_grid, n_cluster, n_bulk, n_ceil, n_min, n_max, n_sizeof;
};

/* Where something is being elaborated. */
typedef struct Env {
    Checked *ch;
    Compilation *c;
    Module *module;          /* for names that no scope declares */
    Entity *scope;
    uint32_t id;             /* of a kernel's, function's or constant's names */
    PKernel *kernel;         /* NULL while evaluating a module's constants */
    PBlock *block;           /* statements go here */
    const CallFrame *frame;
    Item *const *stack;      /* functions being inlined, outermost first */
    uint32_t depth;
    uint32_t levels;         /* of the expressions around this one: functions' and constants' */
    uint32_t nesting;        /* blocks and calls around this one */
    bool in_group;
    bool in_view; /* the extents of a region, or of a view's type, are scalars */
    bool in_tmem; /* the region is of a tile in tensor memory */
    uint32_t role;     /* 1 and up: the role around this; 0: none */
    uint32_t across;   /* 1 and up: the across-grid pipeline around this; 0: none */
    const PPipe *pipe; /* the innermost pipeline around this */
    uint32_t loops;    /* .. P_FOR and P_PIPELINE */
    Span around;       /* the innermost head of for, if, pipeline or roles around this; hi == 0: none */
} Env;

/* modules.c */
void modules_read(Checked *ch); /* all that are imported, and what items each has */
Item *module_item(const Module *m, Name n);
Module *module_by_path(Env *e, const IdentItem *path, uint32_t n); /* first n names of the path; NULL if not imported */
const char *path_text(Env *e, const IdentItem *path);
const char *item_kind(const Item *it); /* "constant", "function", "kernel" */
/* The value of -D as a number of the language. */
bool define_number(const char *s, int64_t *out);

/* targets.c */
void target_pick(Checked *ch, const char *arch); /* arch: asked for, or NULL */

/* names.c */
void check_names(Checked *ch, Module *m);
const Entity *env_find(const Env *e, Name n);
void env_add(Env *e, Entity ent); /* reports a redeclaration in the same kernel or fn body */
void env_begin(Env *e);
void env_leave(Env *e, const Entity *outer); /* forgets what was declared after `outer`; NULL: everything */
/* Reports an unknown name with the nearest known one. */
void unknown_name(Env *e, Ident id, const char *what);
/* arithmetic.c: each reports E0321 where it is so */
bool computes_with_data(Env *e, const Expr *x);           /* an operator or call has a tile or tensor */
bool unknown_arithmetic(Env *e, Ident id);                /* a function that others have */
bool assigns_data(Env *e, Ident id, const Expr *x);       /* name = expr, of a tile or tensor (or E0211) */
void unknown_in_module(Env *e, const Module *m, Ident id, ItemKind kind); /* a constant or function */
void unknown_map(Env *e, Ident id);    /* of `via` */
void unknown_policy(Env *e, Ident id); /* of `cache` */
const char *name_of(const Env *e, Name n);

/* scalars.c */
Sx *sx_new(Env *e, SxOp op, Span span, int64_t k, const Sx *a, const Sx *b);
const Sx *sx_const(Env *e, int64_t k, Span span);
const Sx *sx_op(Env *e, SxOp op, const Sx *a, const Sx *b, Span span); /* folds; NULL after an error */
bool sx_is_const(const Sx *x, int64_t *k);
bool sx_fold(SxOp op, int64_t a, int64_t b, int64_t *r); /* false where there is no value in 64 bits */
bool sx_same(const Sx *a, const Sx *b); /* surely equal */
/* A number; NULL after an error. */
const Sx *scalar(Env *e, const Expr *x);
const Sx *condition(Env *e, const Expr *x);
/* The tensor in whose element x numbers lie; NULL after an error, which says `otherwise` where no tensor stands. */
PTensor *element_tensor(Env *e, const Expr *x, const char *otherwise);
/* A number known at compile time, in [lo, hi]; `what` names it in the message. */
bool constant(Env *e, const Expr *x, int64_t lo, int64_t hi, const char *what, int64_t *out);
bool is_builtin_base(const Checked *ch, Name n); /* cta, grid, cluster */
bool is_builtin_function(const Checked *ch, Name n); /* ceil, min, max, sizeof */
/* Adds the levels of an expression that is worked out inside others; false after an error. */
bool deeper(Env *e, const Expr *x, Span at);
/* A comparison of constants: its value. */
bool sx_decided(const Sx *x, bool *value);
/* The value of a constant of a module; NULL after an error. */
const Sx *module_const(Env *e, Module *m, Item *it, Span at);

/* types.c */
bool elem_type(Env *e, Ident id, ElemType *out);
bool scalar_type(Env *e, const Param *p, ElemType *out); /* of a scalar parameter: s64, s32, u32 */
PTile *tile_type(Env *e, Ident name, const TypeExpr *t, bool tensor);
PTensor *tensor_param(Env *e, Ident name, const TypeExpr *t, const PTensor *arg, Span arg_span);
bool swizzle_of(Env *e, const Expr *swizzle, const Expr *atom, bool flip, Span span, int *out);
bool interleave_of(Env *e, const Expr *x, int *out);
const char *shape_text(Env *e, int rank, const int64_t *extent);
uint32_t kernel_sym(Env *e, Name name, MfSymKind kind, Span span, ElemType type);

/* regions.c */
bool region(Env *e, const Expr *x, PRegion *out);
PTensor *view_of(Env *e, const Stmt *s);
/* A barrier or one of an array; with `peer` perhaps another CTA's, NULL: the own. */
PBarrier *barrier_ref(Env *e, const Expr *x, const Sx **slot, const Sx **peer);

/* device_views.c: views whose place or extents are made while the kernel runs */
bool view_dim_known(const PTensor *from, int d, const PDim *p); /* at launch */
/* Where dimension d of a view of `from` starts, and how long it is: cut to `from`. NULL after an error. */
bool view_dim_cut(Env *e, const Stmt *s, PTensor *from, int d, const PDim *p, PTensor *v, const Sx **start, const Sx **extent);
const Sx *view_keep(Env *e, const Stmt *s, const char *what, const Sx *x); /* as a let, where only the kernel knows it */
/* Another shape for the n elements of `from`: what does not fit is cut. False after an error. */
bool view_shape_cut(Env *e, const Stmt *s, PTensor *v, const Sx *n);
void view_made(Env *e, const Stmt *s, PTensor *v); /* its P_VIEW */

/* rows.c */
bool is_index_rows(const Sub *s);
bool index_rows(Env *e, const Sub *s, PDim *d);

/* maps.c, moves.c, fill.c */
enum { MAP_NUMBER_MAX = 1 << 24 }; /* what a map may have is far less, and its rules say it best; what comes next multiplies */
PMap *map_decl(Env *e, const Stmt *s);
PPolicy *policy_decl(Env *e, const Stmt *s);
void move_stmt(Env *e, const Stmt *s);
void prefetch_stmt(Env *e, const Stmt *s);
void fill_stmt(Env *e, const Stmt *s);

/* tmem.c */
void tmem_decl(Env *e, const Stmt *s);
bool tmem_type_fits(Env *e, const PTile *t, const TypeExpr *type);
int64_t tmem_reach_of(const PDim *lanes); /* of a tile in tensor memory: from the first to behind the last */
bool tmem_region(Env *e, const PRegion *r); /* beside what holds for all tiles */
bool tmem_move(Env *e, const Stmt *s, PMove *m); /* one side is in tensor memory */
void shift_stmt(Env *e, const Stmt *s);
bool tmem_kernel(Env *e); /* attributes against what the kernel has */

/* clauses.c */
typedef enum MoveShape { /* kinds of moves, as far as their clauses differ */
    SHAPE_LOAD, SHAPE_LOAD_PEER, SHAPE_STORE, SHAPE_SHARED, SHAPE_PEER, SHAPE_PREFETCH, SHAPE_FILL, SHAPE_FILL_PEER,
    SHAPE_TMEM_CP, SHAPE_TMEM_THREADS, SHAPE_THREADS, SHAPE_SHIFT
} MoveShape;
/* The clauses that it has a use for, a bit per ClauseKind, and the names of both. */
unsigned clauses_taken(MoveShape shape);
const char *clause_shape_text(MoveShape shape);
bool clauses(Env *e, const ClauseList *l, PMove *m);
/* Each clause has a use in a move of this kind. */
bool clauses_fit(Env *e, const ClauseList *l, const PMove *m, MoveShape shape);
/* Copies to another CTA complete on a barrier of that CTA. */
bool commit_fits(Env *e, const PMove *m);
/* The operation suits the type; what: "in global memory". */
bool reduce_fits(Env *e, const PMove *m, ElemType type, InstrForm form, const char *where);

/* modes.c: load modes of maps */
/* A map has the options of its mode, all of them and no others. */
bool mode_options(Env *e, const Stmt *s, const PMap *m);
bool mode_corner(Env *e, const MapOpt *o, const PMap *m, int64_t out[3]);
bool offset_clause(Env *e, const Clause *c, PMove *m);
bool halo_clause(Env *e, const Clause *c, PMove *m);
bool mode_clauses(Env *e, const PMove *m);
bool mode_direction(Env *e, const PMove *m);
/* The tensor's side of a move through a map of its mode; s: the tile's, NULL for prefetches. */
bool mode_part(Env *e, PMove *m, PRegion *g, const PRegion *s);

/* statements.c */
void statements(Env *e, const Block *b, PBlock *into);
void block(Env *e, const Block *b, PBlock *into);
bool nested(Env *e, Span at);
void declare_bad(Env *e, Ident id);
void declare_tile(Env *e, const Stmt *s, PTile *t); /* t == NULL: its type is wrong */
PStmt *emit_stmt(Env *e, PStmtKind kind, Span span);

/* loops.c */
void for_stmt(Env *e, const Stmt *s);
void pipeline_stmt(Env *e, const Stmt *s);
void roles_stmt(Env *e, const Stmt *s);
/* A number of threads: whole warps, at most 1024. */
bool thread_count(Env *e, const Expr *x, int64_t *out);
/* cta.* and grid.* have no value where the compiler deals the work. */
void grid_use(Env *e, Span at);
/* What stands beside `roles`. */
bool roles_alone(Env *e);

/* calls.c */
/* Inlines an expression fn. */
const Sx *call_expr_fn(Env *e, Module *m, Item *fn, const ExprList *args, Span span);
void call_stmt(Env *e, const Stmt *s);
Item *called_fn(Env *e, const Stmt *call, Module **m); /* NULL after an error */
bool takes_arguments(Env *e, Item *fn, const ExprList *args, Span span); /* as many (or E0207) */
#define CALL_DEPTH 64
#define INLINED_MAX (1u << 18) /* a fn that calls another twice, and so on, grows by powers of two */

/* alternatives.c */
const char *alternative_of(Arena *a, const char *given, uint32_t i); /* of what -D gives to a parameter: its i-th, or the last */
void alternatives(Checked *ch); /* all schedules of all kernels, in the order of the source */

/* kernels.c */
const char *define_value(Checked *ch, const Item *k, const TParam *t); /* NULL: no -D gives it one */
const char *schedule_value(Checked *ch, const Schedule *s, const TParam *t); /* of a schedule its parameter's value, as -D takes it; NULL: none */
bool alternative_is(Checked *ch, const Item *k, uint32_t i, const Wish *w); /* are the wish's values those of the kernel's i-th alternative? */
PKernel *kernel_new(Env *e, const Schedule *schedule, const Wish *wish);
bool kernel_head(Env *e, const Item *item); /* compile-time parameters, parameters, attributes */
bool kernel_whole(Env *e);                  /* rules that its statements decide */

/* protocols.c, collective.c: of a whole kernel, after its statements */
void check_protocols(Compilation *c, const PKernel *k);
void check_collective(Compilation *c, PKernel *k); /* sets var_dims */

/* Of the language, but refused for now: SPEC.md, Status. */
void not_yet(Env *e, Span span, NotYet what);
bool no_steps(Env *e, const PRegion *r); /* in a shared tile, which threads do not move; false after an error */

#endif
