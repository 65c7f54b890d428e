/* Constructors of the syntax tree, one per production: the grammar calls them and does nothing else.
 *
 * In: values and places of a production's parts. Out: nodes in the compilation's arena. Nodes are cut from
 * blocks in the size that their kind needs, since most of a tree is names and numbers.
 */
#ifndef FRONTEND_BUILD_H
#define FRONTEND_BUILD_H

#include <stddef.h>

#include "frontend/parse/ast.h"

typedef struct Tree {
    Arena *arena;
    Names *names;
    Diags *diags;
    char *at, *end; /* free room in the newest block */
    bool too_deep;  /* already reported: one expression tends to break the limit again and again */
} Tree;

/* Zeroed room for a node; blocks end with enough room that copying a short node as a whole one is safe. */
void *tree_node(Tree *t, size_t size);
#define NODE(t, T) ((T *)tree_node((t), sizeof(T)))
/* A node with room up to and including one member. */
#define NODE_TO(t, T, member) ((T *)tree_node((t), offsetof(T, member) + sizeof(((T *)0)->member)))
/* Reports what is kept once in the tree but said twice in the text. */
void tree_once(Tree *t, bool again, Span s, const char *what);

/* ---- lists while they grow ---- */
typedef struct IdentList {
    IdentItem *first, *last;
    uint32_t n;
} IdentList;
typedef struct DimsChain {
    DimsList *first, *last;
} DimsChain;
typedef struct RangeList {
    RangeItem *first, *last;
    uint32_t n;
} RangeList;
typedef struct RoleList {
    Role *first, *last;
} RoleList;
typedef struct TParamList {
    TParam *first, *last;
} TParamList;
typedef struct ParamList {
    Param *first, *last;
} ParamList;
typedef struct AttrList {
    Attr *first, *last;
} AttrList;

typedef struct String { /* without quotes, escapes resolved */
    const char *s;
    uint32_t len;
} String;
typedef struct Swizzle {
    Expr *span, *atom;
    bool flip;
} Swizzle;
typedef struct WaitGroup {
    Expr *count;
    bool read;
} WaitGroup;

/* Appends a node that has a `next` member to a list that has `first` and `last`. */
#define LIST_ADD(list, node)                                                                                           \
    ((list)->last ? ((list)->last->next = (node)) : ((list)->first = (node)), (list)->last = (node))

/* ---- expressions ---- */
Expr *expr_int(Tree *t, Span s, uint64_t value);
Expr *expr_float(Tree *t, Span s, double value);
Expr *expr_string(Tree *t, Span s, String value);
Expr *expr_name(Tree *t, Ident id);
Expr *expr_word(Tree *t, Span s, const char *word); /* the name that a keyword stands for: cluster, grid */
Expr *expr_paren(Expr *e, Span s);
Expr *expr_call(Tree *t, Span s, Ident id, ExprList args);
Expr *expr_peer(Tree *t, Span s, Span word, Expr *what, Expr *rank);
Expr *expr_index(Tree *t, Span s, Expr *base, SubList subs);
Expr *expr_member(Tree *t, Span s, Expr *a, Ident id);
Expr *expr_method(Tree *t, Span s, Expr *a, Ident id, ExprList args);
Expr *expr_unary(Tree *t, Span s, ExprOp op, Span op_span, Expr *e);
Expr *expr_binary(Tree *t, Span s, ExprOp op, Span op_span, Expr *lhs, Expr *rhs);
ExprList expr_list(ExprList l, Expr *e);
Sub *sub_new(Tree *t, SubKind kind, Span s, Expr *a, Expr *b, Expr *c);
Sub *sub_rows(Tree *t, Span s, ExprList rows);
SubList sub_list(SubList l, Sub *sub);
IdentList ident_list(Tree *t, IdentList l, Ident id);

/* ---- types ---- */
DimsChain dims_list(Tree *t, DimsChain l, Span s, ExprList dims);
TypeExpr *type_open(Tree *t);
TypeExpr *type_stride(Tree *t, TypeExpr *ty, Span s, ExprList stride);
TypeExpr *type_swizzle(Tree *t, TypeExpr *ty, Span s, Swizzle swz);
TypeExpr *type_interleave(Tree *t, TypeExpr *ty, Span s, Expr *bytes);
TypeExpr *type_close(TypeExpr *ty, Span s, Ident elem, DimsChain brackets);

/* ---- statements ---- */
Block block_add(Block b, Stmt *s);
Block block_close(Block b, Span s);
Stmt *stmt_scalar(Tree *t, StmtKind kind, Span s, Ident id, Expr *value);  /* LET VAR ASSIGN */
Stmt *stmt_operand(Tree *t, StmtKind kind, Span s, Expr *operand);         /* WAIT ARRIVE */
Stmt *stmt_tile(Tree *t, StmtKind kind, Span s, Ident id, TypeExpr *type); /* SHARED TMEM */
Stmt *stmt_barrier(Tree *t, Span s, Ident id, Expr *count, Span free_span);
Stmt *stmt_view(Tree *t, Span s, Ident id, Expr *src, TypeExpr *type);
Stmt *stmt_map(Tree *t, Span s, Ident id, Expr *src, MapOptList opts);
Stmt *stmt_policy(Tree *t, Span s, Ident id, Ident word, PolicyOptList opts);
Stmt *stmt_move(Tree *t, StmtKind kind, Span s, Expr *src, Expr *dst, ClauseList clauses); /* MOVE PREFETCH SHIFT */
Stmt *stmt_fill(Tree *t, Span s, Expr *dst, Expr *value, ClauseList clauses);
Stmt *stmt_wait_group(Tree *t, Span s, WaitGroup w);
Stmt *stmt_expect(Tree *t, Span s, Expr *barrier, Expr *bytes);
Stmt *stmt_call(Tree *t, Span s, Span path_span, IdentList path, ExprList targs, ExprList args);
Stmt *stmt_for(Tree *t, Span s, IdentList index, Span index_span, RangeList range, Span range_span, Block body);
Stmt *stmt_pipeline(Stmt *opts, Span s, IdentList index, Span index_span, RangeList range, Span range_span, Block body);
Stmt *stmt_if(Tree *t, Span s, Expr *cond, Block then, const Block *other);
Stmt *stmt_group(Tree *t, Span s, Block body);
Stmt *stmt_roles(Tree *t, Span s, RoleList roles);
Stmt *stmt_error(Tree *t, Span s);

/* The options of a pipeline are read before it is complete: the statement is made by the first of these. */
Stmt *pipeline_open(Tree *t);
Stmt *pipeline_stages(Tree *t, Stmt *p, Span s, Expr *n);
Stmt *pipeline_threads(Tree *t, Stmt *p, Span s, Expr *n);
Stmt *pipeline_across(Tree *t, Stmt *p, Span s, Ident by);

Clause *clause_new(Tree *t, ClauseKind kind, Span s);
Clause *clause_id(Tree *t, ClauseKind kind, Span s, Ident id);
Clause *clause_expr(Tree *t, ClauseKind kind, Span s, Expr *e);
Clause *clause_exprs(Tree *t, ClauseKind kind, Span s, ExprList l);
ClauseList clause_list(ClauseList l, Clause *c);
MapOpt *mapopt_id(Tree *t, MapOptKind kind, Span s, Ident id);
MapOpt *mapopt_expr(Tree *t, MapOptKind kind, Span s, Expr *e);
MapOpt *mapopt_exprs(Tree *t, MapOptKind kind, Span s, ExprList l);
MapOpt *mapopt_swizzle(Tree *t, Span s, Swizzle swz);
MapOptList mapopt_list(MapOptList l, MapOpt *o);
PolicyOptList policyopt_list(Tree *t, PolicyOptList l, Span s, bool is_else, Ident id, Expr *value);
RangeItem *range_item(Tree *t, Span s, Expr *lo, Expr *hi);
RangeList range_list(RangeList l, RangeItem *r);
RangeList range_join(RangeItem *first, RangeList rest);
Role *role_new(Tree *t, Span s, Ident name, Expr *threads, Block body);
RoleList role_list(RoleList l, Role *r);

/* ---- items ---- */
TParamList tparam_list(Tree *t, TParamList l, Ident name, Expr *value);
Param *param_new(Tree *t, ParamKind kind, Span s, Ident name);
Param *param_scalar(Tree *t, Span s, Ident name, Ident type);
Param *param_tensor(Tree *t, Span s, Ident name, Space space, TypeExpr *type);
Param *param_barrier(Tree *t, Span s, Ident name, Expr *count);
ParamList param_list(ParamList l, Param *p);
AttrList attr_list(Tree *t, AttrList l, AttrKind kind, Span s, ExprList exprs);
Item *item_path(Tree *t, ItemKind kind, Span s, IdentList path); /* TARGET IMPORT */
Item *item_const(Tree *t, Span s, Ident name, Expr *value);
Item *item_fn(Tree *t, Span s, Ident name, TParamList tparams, ParamList params, const Block *body, Expr *value);
Item *item_kernel(Tree *t, Span s, Ident name, TParamList tparams, ParamList params, AttrList attrs, Block body);
void unit_add(Unit *u, Item *it);

#endif
