/* Constructors of statements and items. */
#include "frontend/parse/build.h"

/* ---- statements ---- */

Block block_add(Block b, Stmt *s)
{
    LIST_ADD(&b, s);
    return b;
}

Block block_close(Block b, Span s)
{
    b.span = s;
    return b;
}

static Stmt *stmt_init(Stmt *st, StmtKind kind, Span s, Ident id)
{
    st->kind = kind;
    st->span = s;
    st->id = id;
    return st;
}

#define NO_ID ((Ident){0})

Stmt *stmt_scalar(Tree *t, StmtKind kind, Span s, Ident id, Expr *value)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, expr), kind, s, id);
    st->expr = value;
    return st;
}

Stmt *stmt_operand(Tree *t, StmtKind kind, Span s, Expr *operand)
{
    return stmt_scalar(t, kind, s, NO_ID, operand);
}

Stmt *stmt_tile(Tree *t, StmtKind kind, Span s, Ident id, TypeExpr *type)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, type), kind, s, id);
    st->type = type;
    return st;
}

Stmt *stmt_barrier(Tree *t, Span s, Ident id, Expr *count, Span free_span)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, barrier), ST_BARRIER, s, id);
    st->barrier.count = count;
    st->barrier.is_free = free_span.hi != 0;
    st->barrier.free_span = free_span;
    return st;
}

Stmt *stmt_view(Tree *t, Span s, Ident id, Expr *src, TypeExpr *type)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, view), ST_VIEW, s, id);
    st->view.src = src;
    st->view.type = type;
    return st;
}

Stmt *stmt_map(Tree *t, Span s, Ident id, Expr *src, MapOptList opts)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, map), ST_MAP, s, id);
    st->map.src = src;
    st->map.opts = opts;
    return st;
}

Stmt *stmt_policy(Tree *t, Span s, Ident id, Ident word, PolicyOptList opts)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, policy), ST_POLICY, s, id);
    st->policy.word = word;
    st->policy.opts = opts;
    return st;
}

Stmt *stmt_move(Tree *t, StmtKind kind, Span s, Expr *src, Expr *dst, ClauseList clauses)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, move), kind, s, NO_ID);
    st->move.src = src;
    st->move.dst = dst;
    st->move.clauses = clauses;
    return st;
}

Stmt *stmt_fill(Tree *t, Span s, Expr *dst, Expr *value, ClauseList clauses)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, fill), ST_FILL, s, NO_ID);
    st->fill.dst = dst;
    st->fill.value = value;
    st->fill.clauses = clauses;
    return st;
}

Stmt *stmt_wait_group(Tree *t, Span s, WaitGroup w)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, wait_group), ST_WAIT_GROUP, s, NO_ID);
    st->wait_group.count = w.count;
    st->wait_group.read = w.read;
    return st;
}

Stmt *stmt_expect(Tree *t, Span s, Expr *barrier, Expr *bytes)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, expect), ST_EXPECT, s, NO_ID);
    st->expect.barrier = barrier;
    st->expect.bytes = bytes;
    return st;
}

Stmt *stmt_call(Tree *t, Span s, Span path_span, IdentList path, ExprList targs, ExprList args)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, call), ST_CALL, s, NO_ID);
    st->call.path = path.first;
    st->call.targs = targs;
    st->call.args = args;
    st->call.path_span = path_span;
    return st;
}

static LoopHead loop_head(IdentList index, Span index_span, RangeList range, Span range_span)
{
    return (LoopHead){index.first, index.n, range.first, range.n, index_span, range_span};
}

Stmt *stmt_for(Tree *t, Span s, IdentList index, Span index_span, RangeList range, Span range_span, Block body)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, loop), ST_FOR, s, NO_ID);
    st->loop.head = loop_head(index, index_span, range, range_span);
    st->loop.body = body;
    return st;
}

Stmt *stmt_pipeline(Stmt *st, Span s, IdentList index, Span index_span, RangeList range, Span range_span, Block body)
{
    stmt_init(st, ST_PIPELINE, s, NO_ID);
    st->loop.head = loop_head(index, index_span, range, range_span);
    st->loop.body = body;
    return st;
}

Stmt *pipeline_open(Tree *t)
{
    return NODE_TO(t, Stmt, loop);
}

Stmt *pipeline_stages(Tree *t, Stmt *p, Span s, Expr *n)
{
    tree_once(t, p->loop.stages != NULL, s, "stages");
    p->loop.stages = n;
    return p;
}

Stmt *pipeline_threads(Tree *t, Stmt *p, Span s, Expr *n)
{
    tree_once(t, p->loop.threads != NULL, s, "threads");
    p->loop.threads = n;
    return p;
}

Stmt *pipeline_across(Tree *t, Stmt *p, Span s, Ident by)
{
    tree_once(t, p->loop.across, s, "across grid");
    p->loop.across = true;
    p->loop.across_span = s;
    p->loop.by = by;
    return p;
}

Stmt *stmt_if(Tree *t, Span s, Expr *cond, Block then, const Block *other)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, cond), ST_IF, s, NO_ID);
    st->cond.cond = cond;
    st->cond.then = then;
    if (other) st->cond.other = *other;
    st->cond.has_else = other != NULL;
    return st;
}

Stmt *stmt_group(Tree *t, Span s, Block body)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, block), ST_GROUP, s, NO_ID);
    st->block = body;
    return st;
}

Stmt *stmt_roles(Tree *t, Span s, RoleList roles)
{
    Stmt *st = stmt_init(NODE_TO(t, Stmt, roles), ST_ROLES, s, NO_ID);
    st->roles = roles.first;
    return st;
}

Stmt *stmt_error(Tree *t, Span s)
{
    return stmt_init(NODE_TO(t, Stmt, expr), ST_ERROR, s, NO_ID);
}

/* ---- parts of statements ---- */

Clause *clause_new(Tree *t, ClauseKind kind, Span s)
{
    Clause *c = NODE(t, Clause);
    c->kind = kind;
    c->span = s;
    return c;
}

Clause *clause_id(Tree *t, ClauseKind kind, Span s, Ident id)
{
    Clause *c = clause_new(t, kind, s);
    c->id = id;
    return c;
}

Clause *clause_expr(Tree *t, ClauseKind kind, Span s, Expr *e)
{
    Clause *c = clause_new(t, kind, s);
    c->expr = e;
    return c;
}

Clause *clause_exprs(Tree *t, ClauseKind kind, Span s, ExprList l)
{
    Clause *c = clause_new(t, kind, s);
    c->exprs = l;
    return c;
}

ClauseList clause_list(ClauseList l, Clause *c)
{
    LIST_ADD(&l, c);
    return l;
}

static MapOpt *mapopt_new(Tree *t, MapOptKind kind, Span s)
{
    MapOpt *o = NODE(t, MapOpt);
    o->kind = kind;
    o->span = s;
    return o;
}

MapOpt *mapopt_id(Tree *t, MapOptKind kind, Span s, Ident id)
{
    MapOpt *o = mapopt_new(t, kind, s);
    o->id = id;
    return o;
}

MapOpt *mapopt_expr(Tree *t, MapOptKind kind, Span s, Expr *e)
{
    MapOpt *o = mapopt_new(t, kind, s);
    o->expr = e;
    return o;
}

MapOpt *mapopt_exprs(Tree *t, MapOptKind kind, Span s, ExprList l)
{
    MapOpt *o = mapopt_new(t, kind, s);
    o->exprs = l;
    return o;
}

MapOpt *mapopt_swizzle(Tree *t, Span s, Swizzle swz)
{
    MapOpt *o = mapopt_expr(t, MO_SWIZZLE, s, swz.span);
    o->atom = swz.atom;
    o->flip = swz.flip;
    return o;
}

MapOptList mapopt_list(MapOptList l, MapOpt *o)
{
    LIST_ADD(&l, o);
    return l;
}

PolicyOptList policyopt_list(Tree *t, PolicyOptList l, Span s, bool is_else, Ident id, Expr *value)
{
    PolicyOpt *o = NODE(t, PolicyOpt);
    o->span = s;
    o->is_else = is_else;
    o->id = id;
    o->expr = value;
    LIST_ADD(&l, o);
    return l;
}

RangeItem *range_item(Tree *t, Span s, Expr *lo, Expr *hi)
{
    RangeItem *r = NODE(t, RangeItem);
    r->lo = lo;
    r->hi = hi;
    r->span = s;
    return r;
}

RangeList range_list(RangeList l, RangeItem *r)
{
    LIST_ADD(&l, r);
    l.n++;
    return l;
}

RangeList range_join(RangeItem *first, RangeList rest)
{
    first->next = rest.first;
    return (RangeList){first, rest.last, rest.n + 1};
}

Role *role_new(Tree *t, Span s, Ident name, Expr *threads, Block body)
{
    Role *r = NODE(t, Role);
    r->name = name;
    r->threads = threads;
    r->body = body;
    r->span = s;
    return r;
}

RoleList role_list(RoleList l, Role *r)
{
    LIST_ADD(&l, r);
    return l;
}

/* ---- items ---- */

TParamList tparam_list(Tree *t, TParamList l, Ident name, Expr *value)
{
    TParam *p = NODE(t, TParam);
    p->name = name;
    p->value = value;
    LIST_ADD(&l, p);
    return l;
}

Param *param_new(Tree *t, ParamKind kind, Span s, Ident name)
{
    Param *p = NODE(t, Param);
    p->kind = kind;
    p->name = name;
    p->span = s;
    return p;
}

Param *param_scalar(Tree *t, Span s, Ident name, Ident type)
{
    Param *p = param_new(t, PK_SCALAR, s, name);
    p->type_name = type;
    return p;
}

Param *param_tensor(Tree *t, Span s, Ident name, Space space, TypeExpr *type)
{
    Param *p = param_new(t, PK_TENSOR, s, name);
    p->space = space;
    p->type = type;
    return p;
}

Param *param_barrier(Tree *t, Span s, Ident name, Expr *count)
{
    Param *p = param_new(t, PK_BARRIER, s, name);
    p->count = count;
    return p;
}

ParamList param_list(ParamList l, Param *p)
{
    LIST_ADD(&l, p);
    return l;
}

AttrList attr_list(Tree *t, AttrList l, AttrKind kind, Span s, ExprList exprs)
{
    Attr *a = NODE(t, Attr);
    a->kind = kind;
    a->span = s;
    a->exprs = exprs;
    LIST_ADD(&l, a);
    return l;
}

static Item *item_new(Tree *t, ItemKind kind, Span s, Ident name)
{
    Item *it = NODE(t, Item);
    it->kind = kind;
    it->span = s;
    it->name = name;
    return it;
}

Item *item_path(Tree *t, ItemKind kind, Span s, IdentList path)
{
    Item *it = item_new(t, kind, s, NO_ID);
    it->path = path.first;
    return it;
}

Item *item_const(Tree *t, Span s, Ident name, Expr *value)
{
    Item *it = item_new(t, IT_CONST, s, name);
    it->expr = value;
    return it;
}

Item *item_fn(Tree *t, Span s, Ident name, TParamList tparams, ParamList params, const Block *body, Expr *value)
{
    Item *it = item_new(t, IT_FN, s, name);
    it->tparams = tparams.first;
    it->params = params.first;
    if (body) it->body = *body;
    it->expr = value;
    it->is_expr_fn = body == NULL;
    return it;
}

Item *item_kernel(Tree *t, Span s, Ident name, TParamList tparams, ParamList params, AttrList attrs, Block body)
{
    Item *it = item_new(t, IT_KERNEL, s, name);
    it->tparams = tparams.first;
    it->params = params.first;
    it->attrs = attrs.first;
    it->body = body;
    return it;
}

void unit_add(Unit *u, Item *it)
{
    if (it) LIST_ADD(u, it);
}
