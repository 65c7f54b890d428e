#include "frontend/parse/build.h"

#include <string.h>

const char *expr_op_text(ExprOp op)
{
    static const char *const text[] = {
        [OP_ADD] = "+",  [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_MOD] = "%",   [OP_SHL] = "<<",
        [OP_SHR] = ">>", [OP_AND] = "&", [OP_OR] = "|",  [OP_XOR] = "^", [OP_EQ] = "==",   [OP_NE] = "!=",
        [OP_LT] = "<",   [OP_GT] = ">",  [OP_LE] = "<=", [OP_GE] = ">=", [OP_LAND] = "&&", [OP_LOR] = "||",
        [OP_NEG] = "-",  [OP_NOT] = "!", [OP_INV] = "~",
    };
    return text[op];
}

/* ---- nodes ---- */

enum { BLOCK_BYTES = 32 * 1024 };
union AnyNode { /* the largest node: what a copy of a short one may read beyond it */
    Expr expr;
    Sub sub;
    Stmt stmt;
};

/* Nodes need the alignment of a pointer only; arena_alloc's would cost a sixth of the tree. */
void *tree_node(Tree *t, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if ((size_t)(t->end - t->at) < size) {
        t->at = arena_alloc(t->arena, BLOCK_BYTES + sizeof(union AnyNode));
        t->end = t->at + BLOCK_BYTES;
    }
    void *p = t->at;
    t->at += size;
    return p;
}

/* ---- expressions ---- */

/* `e` was made with room for its kind; every kind has room for a literal. */
static Expr *expr_init(Expr *e, ExprKind kind, Span s, unsigned depth)
{
    e->kind = (uint8_t)kind;
    e->depth = (uint16_t)depth;
    e->span = s;
    return e;
}

/* Replaces an expression that is too deep, so that no later pass meets it. */
static Expr *too_deep(Tree *t, Span s, Span at)
{
    if (!t->too_deep) {
        Diag *g = diag_at(t->diags, E0117, at, "this expression is more than %d levels deep", EXPR_DEPTH_MAX);
        diag_fix(t->diags, g, "name a part of it: `let part = ..;`");
        t->too_deep = true;
    }
    return expr_init(NODE(t, Expr), EX_ERROR, s, 1);
}

static unsigned deepest(ExprList l, unsigned depth)
{
    for (const Expr *e = l.first; e; e = e->next)
        if (e->depth > depth) depth = e->depth;
    return depth;
}

Expr *expr_int(Tree *t, Span s, uint64_t value)
{
    Expr *e = expr_init(NODE_TO(t, Expr, i), EX_INT, s, 1);
    e->i = value;
    return e;
}

Expr *expr_float(Tree *t, Span s, double value)
{
    Expr *e = expr_init(NODE_TO(t, Expr, f), EX_FLOAT, s, 1);
    e->f = value;
    return e;
}

Expr *expr_string(Tree *t, Span s, String value)
{
    Expr *e = expr_init(NODE_TO(t, Expr, len), EX_STRING, s, 1);
    e->str = value.s;
    e->len = value.len;
    return e;
}

Expr *expr_name(Tree *t, Ident id)
{
    Expr *e = expr_init(NODE_TO(t, Expr, id), EX_NAME, id.span, 1);
    e->id = id;
    return e;
}

Expr *expr_word(Tree *t, Span s, const char *word)
{
    return expr_name(t, (Ident){names_intern(t->names, word, strlen(word)), s});
}

Expr *expr_paren(Expr *e, Span s)
{
    e->span = s;
    return e;
}

Expr *expr_call(Tree *t, Span s, Ident id, ExprList args)
{
    unsigned depth = deepest(args, 0) + 1;
    if (depth > EXPR_DEPTH_MAX) return too_deep(t, s, id.span);
    Expr *e = expr_init(NODE_TO(t, Expr, args), EX_CALL, s, depth);
    e->id = id;
    e->args = args;
    return e;
}

Expr *expr_peer(Tree *t, Span s, Span word, Expr *what, Expr *rank)
{
    unsigned depth = (what->depth > rank->depth ? what->depth : rank->depth) + 1u;
    if (depth > EXPR_DEPTH_MAX) return too_deep(t, s, word);
    Expr *e = expr_init(NODE_TO(t, Expr, op_span), EX_PEER, s, depth);
    e->lhs = what;
    e->rhs = rank;
    e->op_span = word;
    return e;
}

Expr *expr_index(Tree *t, Span s, Expr *base, SubList subs)
{
    unsigned depth = base->depth;
    for (const Sub *sub = subs.first; sub; sub = sub->next) {
        if (sub->a && sub->a->depth > depth) depth = sub->a->depth;
        if (sub->kind == SUB_SPAN && sub->b->depth > depth) depth = sub->b->depth;
        if (sub->kind == SUB_SPAN && sub->c && sub->c->depth > depth) depth = sub->c->depth;
        if (sub->kind == SUB_ROWS) depth = deepest(sub->rows, depth);
    }
    if (++depth > EXPR_DEPTH_MAX) return too_deep(t, s, (Span){s.hi - 1, s.hi});
    Expr *e = expr_init(NODE_TO(t, Expr, subs), EX_INDEX, s, depth);
    e->base = base;
    e->subs = subs;
    return e;
}

Expr *expr_member(Tree *t, Span s, Expr *a, Ident id)
{
    if (a->depth + 1 > EXPR_DEPTH_MAX) return too_deep(t, s, id.span);
    Expr *e = expr_init(NODE_TO(t, Expr, a), EX_MEMBER, s, a->depth + 1u);
    e->id = id;
    e->a = a;
    return e;
}

Expr *expr_method(Tree *t, Span s, Expr *a, Ident id, ExprList args)
{
    unsigned depth = deepest(args, a->depth) + 1;
    if (depth > EXPR_DEPTH_MAX) return too_deep(t, s, id.span);
    Expr *e = expr_init(NODE_TO(t, Expr, args), EX_METHOD, s, depth);
    e->id = id;
    e->a = a;
    e->args = args;
    return e;
}

Expr *expr_unary(Tree *t, Span s, ExprOp op, Span op_span, Expr *a)
{
    if (a->depth + 1 > EXPR_DEPTH_MAX) return too_deep(t, s, op_span);
    Expr *e = expr_init(NODE_TO(t, Expr, op_span), EX_UNARY, s, a->depth + 1u);
    e->op = (uint8_t)op;
    e->lhs = a;
    e->op_span = op_span;
    return e;
}

Expr *expr_binary(Tree *t, Span s, ExprOp op, Span op_span, Expr *lhs, Expr *rhs)
{
    unsigned depth = (lhs->depth > rhs->depth ? lhs->depth : rhs->depth) + 1u;
    if (depth > EXPR_DEPTH_MAX) return too_deep(t, s, op_span);
    Expr *e = expr_init(NODE_TO(t, Expr, op_span), EX_BINARY, s, depth);
    e->op = (uint8_t)op;
    e->lhs = lhs;
    e->rhs = rhs;
    e->op_span = op_span;
    return e;
}

ExprList expr_list(ExprList l, Expr *e)
{
    LIST_ADD(&l, e);
    l.n++;
    return l;
}

Sub *sub_new(Tree *t, SubKind kind, Span s, Expr *a, Expr *b, Expr *c)
{
    Sub *sub = kind == SUB_SPAN ? NODE_TO(t, Sub, c) : NODE_TO(t, Sub, a);
    sub->kind = kind;
    sub->span = s;
    sub->a = a;
    if (kind == SUB_SPAN) {
        sub->b = b;
        sub->c = c;
    }
    return sub;
}

Sub *sub_rows(Tree *t, Span s, ExprList rows)
{
    Sub *sub = NODE(t, Sub);
    sub->kind = SUB_ROWS;
    sub->span = s;
    sub->rows = rows;
    return sub;
}

SubList sub_list(SubList l, Sub *sub)
{
    LIST_ADD(&l, sub);
    l.n++;
    return l;
}

IdentList ident_list(Tree *t, IdentList l, Ident id)
{
    IdentItem *item = NODE(t, IdentItem);
    item->id = id;
    LIST_ADD(&l, item);
    l.n++;
    return l;
}

/* ---- types ---- */

DimsChain dims_list(Tree *t, DimsChain l, Span s, ExprList dims)
{
    DimsList *d = NODE(t, DimsList);
    d->dims = dims;
    d->span = s;
    LIST_ADD(&l, d);
    return l;
}

void tree_once(Tree *t, bool again, Span s, const char *what)
{
    if (again) diag_at(t->diags, E0110, s, "`%s` is given twice", what);
}

TypeExpr *type_open(Tree *t)
{
    return NODE(t, TypeExpr);
}

TypeExpr *type_stride(Tree *t, TypeExpr *ty, Span s, ExprList stride)
{
    tree_once(t, ty->stride.n > 0, s, "stride");
    ty->stride = stride;
    ty->stride_span = s;
    return ty;
}

TypeExpr *type_swizzle(Tree *t, TypeExpr *ty, Span s, Swizzle swz)
{
    tree_once(t, ty->swizzle != NULL, s, "swizzle");
    ty->swizzle = swz.span;
    ty->atom = swz.atom;
    ty->flip = swz.flip;
    ty->swizzle_span = s;
    return ty;
}

TypeExpr *type_interleave(Tree *t, TypeExpr *ty, Span s, Expr *bytes)
{
    tree_once(t, ty->interleave != NULL, s, "interleave");
    ty->interleave = bytes;
    return ty;
}

TypeExpr *type_close(TypeExpr *ty, Span s, Ident elem, DimsChain brackets)
{
    ty->span = s;
    ty->elem = elem;
    ty->brackets = brackets.first;
    return ty;
}
