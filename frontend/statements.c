/* Bodies: statement by statement into the checked program; functions are inlined where they are called. */
#include <string.h>

#include "frontend/check.h"

PStmt *emit_stmt(Env *e, PStmtKind kind, Span span)
{
    PStmt *s = arena_new(e->c->scratch, PStmt);
    s->kind = kind;
    s->span = span;
    s->frame = e->frame;
    if (e->block->last) e->block->last->next = s;
    else e->block->first = s;
    e->block->last = s;
    return s;
}

static void declare_bad(Env *e, Ident id)
{
    if (id.name) env_add(e, (Entity){.kind = ENT_BAD, .name = id.name, .span = id.span});
}

/* ---- declarations ---- */

static void let_stmt(Env *e, const Stmt *s)
{
    const Sx *v = scalar(e, s->expr);
    if (!v) {
        declare_bad(e, s->id);
        return;
    }
    if (v->op != SX_CONST && v->op != SX_SYM && v->op != SX_LET) {
        PStmt *p = emit_stmt(e, P_LET, s->span);
        p->id = e->kernel->nlets++;
        p->name = s->id.name;
        p->value = v;
        Sx *x = sx_new(e, SX_LET, s->id.span);
        x->k = p->id;
        x->a = v;
        v = x;
    }
    env_add(e, (Entity){.kind = ENT_SCALAR, .name = s->id.name, .span = s->id.span, .sx = v});
}

static void var_stmt(Env *e, const Stmt *s)
{
    const Sx *v = scalar(e, s->expr);
    if (!v) {
        declare_bad(e, s->id);
        return;
    }
    PStmt *p = emit_stmt(e, P_VAR, s->span);
    p->id = e->kernel->nvars++;
    p->name = s->id.name;
    p->value = v;
    env_add(e, (Entity){.kind = ENT_VAR, .name = s->id.name, .span = s->id.span, .var = p->id});
}

static void assign_stmt(Env *e, const Stmt *s)
{
    const Sx *v = scalar(e, s->expr);
    const Entity *ent = env_find(e, s->id.name);
    if (!ent) {
        unknown_name(e, s->id, "variable");
        return;
    }
    if (ent->kind == ENT_BAD) return;
    if (ent->kind != ENT_VAR) {
        Diag *g = diag_at(e->c->diags, E0211, s->id.span, "`%s` can't be assigned to", name_of(e, s->id.name));
        if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
        if (ent->kind == ENT_SCALAR) diag_fix(e->c->diags, g, "declare it with `var` instead of `let`");
        return;
    }
    if (!v) return;
    PStmt *p = emit_stmt(e, P_SET, s->span);
    p->id = ent->var;
    p->name = s->id.name;
    p->value = v;
}

static void shared_stmt(Env *e, const Stmt *s)
{
    PTile *t = tile_type(e, s->id, s->type);
    if (!t) {
        declare_bad(e, s->id);
        return;
    }
    t->index = e->kernel->tiles.n;
    vec_push(e->c->scratch, &e->kernel->tiles, t);
    env_add(e, (Entity){.kind = ENT_TILE, .name = s->id.name, .span = s->id.span, .tile = t});
}

static void barrier_stmt(Env *e, const Stmt *s)
{
    PBarrier *b = arena_new(e->c->scratch, PBarrier);
    b->name = s->id.name;
    b->span = s->id.span;
    b->slots = 1;
    b->is_array = s->barrier.count != NULL;
    bool ok = !s->barrier.count || constant(e, s->barrier.count, 1, 1024, "the number of barriers in the array", &b->slots);
    if (s->barrier.is_free) {
        not_yet(e, s->barrier.free_span, "barriers whose first waits pass (`free`) are");
        ok = false;
    }
    if (!ok) {
        declare_bad(e, s->id);
        return;
    }
    b->index = e->kernel->barriers.n;
    vec_push(e->c->scratch, &e->kernel->barriers, b);
    env_add(e, (Entity){.kind = ENT_BARRIER, .name = s->id.name, .span = s->id.span, .barrier = b});
}

static void view_stmt(Env *e, const Stmt *s)
{
    PTensor *v = view_of(e, s);
    if (v) env_add(e, (Entity){.kind = ENT_TENSOR, .name = s->id.name, .span = s->id.span, .tensor = v});
    else declare_bad(e, s->id);
}

static void map_stmt(Env *e, const Stmt *s)
{
    PMap *m = map_decl(e, s);
    if (m) env_add(e, (Entity){.kind = ENT_MAP, .name = s->id.name, .span = s->id.span, .map = m});
    else declare_bad(e, s->id);
}

static void policy_stmt(Env *e, const Stmt *s)
{
    PPolicy *p = policy_decl(e, s);
    if (p) env_add(e, (Entity){.kind = ENT_POLICY, .name = s->id.name, .span = s->id.span, .policy = p});
    else declare_bad(e, s->id);
}

/* ---- control ---- */

static void block(Env *e, const Block *b, PBlock *into)
{
    PBlock *outer_block = e->block;
    const Entity *outer = e->scope;
    statements(e, b, into);
    e->scope = outer;
    e->block = outer_block;
}

static void for_stmt(Env *e, const Stmt *s)
{
    const LoopHead *h = &s->loop.head;
    const Entity *outer = e->scope;
    PBlock *outer_block = e->block;
    if (h->nindices != h->nranges) {
        Diag *g = diag_at(e->c->diags, E0311, h->range_span, "%u range%s for %u ind%s", h->nranges, h->nranges == 1 ? "" : "s",
                          h->nindices, h->nindices == 1 ? "ex" : "ices");
        diag_label(e->c->diags, g, h->index_span, "the indices");
    }
    /* Bounds stand outside: no index is visible in a range. */
    const Sx *lo[8] = {0}, *hi[8] = {0};
    uint32_t n = 0;
    bool ok = h->nindices == h->nranges && h->nranges <= 8;
    for (const RangeItem *r = h->ranges; r && n < 8; r = r->next, n++) {
        lo[n] = r->lo ? scalar(e, r->lo) : sx_const(e, 0, r->span);
        hi[n] = scalar(e, r->hi);
        ok = ok && lo[n] && hi[n];
    }
    PStmt *p = NULL;
    uint32_t i = 0;
    for (const IdentItem *id = h->indices; id; id = id->next, i++) {
        if (!ok) {
            declare_bad(e, id->id);
            continue;
        }
        p = emit_stmt(e, P_FOR, s->span);
        p->id = e->kernel->nloops++;
        p->name = id->id.name;
        p->lo = lo[i];
        p->value = hi[i];
        e->block = &p->body;
        Sx *x = sx_new(e, SX_INDEX, id->id.span);
        x->k = p->id;
        env_add(e, (Entity){.kind = ENT_SCALAR, .name = id->id.name, .span = id->id.span, .sx = x});
    }
    PBlock ignored = {NULL, NULL};
    statements(e, &s->loop.body, p ? &p->body : &ignored);
    e->scope = outer;
    e->block = outer_block;
}

static void if_stmt(Env *e, const Stmt *s)
{
    const Sx *c = condition(e, s->cond.cond);
    PStmt *p = emit_stmt(e, P_IF, s->span);
    p->value = c;
    p->has_else = s->cond.has_else;
    block(e, &s->cond.then, &p->body);
    if (s->cond.has_else) block(e, &s->cond.other, &p->other);
}

static void group_stmt(Env *e, const Stmt *s)
{
    if (e->in_group) {
        diag_at(e->c->diags, E0111, s->span, "`group { }` inside another");
        return;
    }
    PStmt *p = emit_stmt(e, P_GROUP, s->span);
    e->in_group = true;
    block(e, &s->block, &p->body);
    e->in_group = false;
}

static void wait_stmt(Env *e, const Stmt *s)
{
    const Sx *slot;
    PBarrier *b = barrier_ref(e, s->expr, &slot);
    if (!b) return;
    PStmt *p = emit_stmt(e, P_WAIT, s->span);
    p->barrier = b;
    p->value = slot;
}

static void wait_group_stmt(Env *e, const Stmt *s)
{
    int64_t n = 0;
    /* PTX ISA, cp.async.bulk.wait_group: N is a constant; larger than any number of groups waits for none. */
    if (s->wait_group.count && !constant(e, s->wait_group.count, 0, 1024, "the number of groups that may be pending", &n))
        return;
    PStmt *p = emit_stmt(e, P_WAIT_GROUP, s->span);
    p->n = n;
    p->read = s->wait_group.read;
}

/* ---- calls ---- */

static bool argument_count(Env *e, Item *fn, uint32_t given, uint32_t wanted, Span span, const char *what)
{
    if (given == wanted) return true;
    Diag *g = diag_at(e->c->diags, E0207, span, "`%s` takes %u %s%s, %u given", name_of(e, fn->name.name), wanted, what,
                      wanted == 1 ? "" : "s", given);
    diag_label(e->c->diags, g, fn->name.span, "declared here");
    return false;
}

static bool bind_targs(Env *caller, Env *inner, Item *fn, const ExprList *targs, Span span)
{
    const Expr *a = targs ? targs->first : NULL;
    bool ok = true;
    uint32_t n = 0;
    for (const TParam *t = fn->tparams; t; t = t->next) n++;
    if (targs && targs->n > n) return argument_count(caller, fn, targs->n, n, span, "compile-time parameter");
    for (const TParam *t = fn->tparams; t; t = t->next) {
        Env *from = a ? caller : inner;
        const Expr *x = a ? a : t->value;
        if (a) a = a->next;
        Entity ent = {.kind = ENT_BAD, .name = t->name.name, .span = t->name.span};
        ElemType type;
        if (!x) {
            Diag *g = diag_at(caller->c->diags, E0212, span, "the compile-time parameter `%s` of `%s` has no value",
                              name_of(caller, t->name.name), name_of(caller, fn->name.name));
            diag_label(caller->c->diags, g, t->name.span, "declared here, without a default");
            ok = false;
        } else if (x->kind == EX_NAME && !module_item(from->module, x->id.name) &&
                   (env_find(from, x->id.name) ? env_find(from, x->id.name)->kind == ENT_TYPE
                                               : elem_find(name_of(from, x->id.name), &type))) {
            const Entity *te = env_find(from, x->id.name);
            ent.kind = ENT_TYPE;
            ent.type = te ? te->type : type;
        } else {
            int64_t k;
            if (constant(from, x, INT64_MIN, INT64_MAX, "a compile-time parameter", &k)) {
                ent.kind = ENT_SCALAR;
                ent.sx = sx_const(inner, k, x->span);
            } else {
                ok = false;
            }
        }
        env_add(inner, ent);
    }
    return ok;
}

static bool wrong_argument(Env *e, const Expr *x, const Param *p, const char *want)
{
    Diag *g = diag_at(e->c->diags, E0209, x->span, "%s is needed for the parameter `%s`", want, name_of(e, p->name.name));
    diag_label(e->c->diags, g, p->span, "declared here");
    return false;
}

static bool bind_tensor(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    const Entity *a = x->kind == EX_NAME ? env_find(caller, x->id.name) : NULL;
    if (x->kind == EX_NAME && !a) {
        unknown_name(caller, x->id, "name");
        return false;
    }
    if (a && a->kind == ENT_BAD) return false;
    if (p->space == SPACE_TMEM) {
        not_yet(caller, p->span, "tensor memory is");
        return false;
    }
    if (p->space == SPACE_SHARED) {
        if (!a || a->kind != ENT_TILE) return wrong_argument(caller, x, p, "a shared tile");
        PTile *want = tile_type(inner, p->name, p->type);
        PTile *t = a->tile;
        if (!want) return false;
        bool same = want->type == t->type && want->rank == t->rank && want->slots == t->slots &&
                    want->is_array == t->is_array && want->swizzle == t->swizzle && want->interleave == t->interleave;
        for (int d = 0; same && d < t->rank; d++) same = want->extent[d] == t->extent[d];
        if (!same) return wrong_argument(caller, x, p, "a tile of exactly this type");
        env_add(inner, (Entity){.kind = ENT_TILE, .name = p->name.name, .span = p->name.span, .tile = t});
        return true;
    }
    if (!a || a->kind != ENT_TENSOR) return wrong_argument(caller, x, p, "a global tensor");
    PTensor *t = a->tensor;
    ElemType type;
    if (!elem_type(inner, p->type->elem, &type)) return false;
    if (type != t->type) {
        Diag *g = diag_at(caller->c->diags, E0209, x->span, "`%s` holds %s, the parameter `%s` %s", name_of(caller, a->name),
                          elem_info(t->type)->name, name_of(caller, p->name.name), elem_info(type)->name);
        diag_label(caller->c->diags, g, p->span, "declared here");
        return false;
    }
    uint32_t rank = p->type->brackets ? p->type->brackets->dims.n : 0;
    if (rank != (uint32_t)t->rank) {
        Diag *g = diag_at(caller->c->diags, E0209, x->span, "`%s` has rank %d, the parameter `%s` %u", name_of(caller, a->name),
                          t->rank, name_of(caller, p->name.name), rank);
        diag_label(caller->c->diags, g, p->span, "declared here");
        return false;
    }
    if (t->strided && !p->type->stride.n && !t->base) { /* the parameter promises contiguous memory, nothing relies on it */ }
    if (!tensor_param(inner, p->name, p->type, t, x->span)) return false;
    env_add(inner, (Entity){.kind = ENT_TENSOR, .name = p->name.name, .span = p->name.span, .tensor = t});
    return true;
}

static bool bind_object(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    static const struct { EntKind kind; const char *text; } want[] = {
        [PK_BARRIER] = {ENT_BARRIER, "a barrier"}, [PK_MAP] = {ENT_MAP, "a map"}, [PK_POLICY] = {ENT_POLICY, "a policy"}};
    const Entity *a = x->kind == EX_NAME ? env_find(caller, x->id.name) : NULL;
    if (x->kind == EX_NAME && !a) {
        unknown_name(caller, x->id, "name");
        return false;
    }
    if (a && a->kind == ENT_BAD) return false;
    if (!a || a->kind != want[p->kind].kind) return wrong_argument(caller, x, p, want[p->kind].text);
    if (p->kind == PK_BARRIER) {
        int64_t n = 1;
        if (p->count && !constant(inner, p->count, 1, 1024, "the number of barriers in the array", &n)) return false;
        if ((p->count != NULL) != a->barrier->is_array || n != a->barrier->slots)
            return wrong_argument(caller, x, p, p->count ? "an array of as many barriers" : "one barrier");
    }
    Entity ent = *a;
    ent.name = p->name.name;
    ent.span = p->name.span;
    env_add(inner, ent);
    return true;
}

static bool bind_argument(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    switch (p->kind) {
    case PK_BARE: case PK_SCALAR: {
        if (p->kind == PK_SCALAR) {
            const char *t = name_of(caller, p->type_name.name);
            if (strcmp(t, "s64") != 0 && strcmp(t, "s32") != 0 && strcmp(t, "u32") != 0) {
                Diag *g = diag_at(caller->c->diags, E0306, p->type_name.span, "a scalar parameter is s64, s32 or u32, not %s", t);
                diag_fix(caller->c->diags, g, "s64");
                return false;
            }
        }
        const Sx *v = scalar(caller, x);
        if (v) env_add(inner, (Entity){.kind = ENT_SCALAR, .name = p->name.name, .span = p->name.span, .sx = v});
        return v != NULL;
    }
    case PK_TENSOR: return bind_tensor(caller, inner, p, x);
    default: return bind_object(caller, inner, p, x);
    }
}

bool bind_call(Env *caller, Env *inner, Module *m, Item *fn, const ExprList *targs, const ExprList *args, Span span,
               Item **stack)
{
    for (uint32_t i = 0; i < caller->depth; i++)
        if (caller->stack && caller->stack[i] == fn) {
            Diag *g = diag_at(caller->c->diags, E0208, span, "`%s` calls itself", name_of(caller, fn->name.name));
            diag_label(caller->c->diags, g, fn->name.span, "declared here");
            return false;
        }
    if (caller->depth >= CALL_DEPTH) {
        diag_at(caller->c->diags, E0208, span, "calls nest more than %d deep", CALL_DEPTH);
        return false;
    }
    for (uint32_t i = 0; i < caller->depth; i++) stack[i] = caller->stack ? caller->stack[i] : NULL;
    stack[caller->depth] = fn;
    *inner = *caller;
    inner->module = m;
    inner->scope = NULL;
    inner->stack = stack;
    inner->depth = caller->depth + 1;
    CallFrame *f = arena_new(caller->c->scratch, CallFrame);
    *f = (CallFrame){.call = span, .fn = fn->name.name, .outer = caller->frame};
    inner->frame = f;
    uint32_t n = 0;
    for (const Param *p = fn->params; p; p = p->next) n++;
    if (!argument_count(caller, fn, args->n, n, span, "argument")) return false;
    bool ok = bind_targs(caller, inner, fn, targs, span);
    const Expr *x = args->first;
    for (const Param *p = fn->params; p; p = p->next, x = x->next)
        if (!bind_argument(caller, inner, p, x)) {
            ok = false;
            declare_bad(inner, p->name);
        }
    return ok;
}

const Sx *call_expr_fn(Env *e, Module *m, Item *fn, const ExprList *args, Span span)
{
    if (!fn->is_expr_fn) {
        Diag *g = diag_at(e->c->diags, E0215, span, "`%s` gives no value", name_of(e, fn->name.name));
        diag_label(e->c->diags, g, fn->name.span, "it has a block: it is called as a statement");
        return NULL;
    }
    Env inner;
    Item *stack[CALL_DEPTH + 1];
    if (!bind_call(e, &inner, m, fn, NULL, args, span, stack)) return NULL;
    return fn->expr ? scalar(&inner, fn->expr) : NULL;
}

static Item *called_fn(Env *e, const Stmt *s, Module **m)
{
    uint32_t n = 0;
    const IdentItem *last = s->call.path;
    for (const IdentItem *p = s->call.path; p; p = p->next, n++) last = p;
    *m = n == 1 ? e->module : module_by_path(e, s->call.path, n - 1);
    if (!*m) {
        const char *full = path_text(e, s->call.path);
        Diag *g = diag_at(e->c->diags, E0201, s->call.path_span, "`%s`: this module is not imported", full);
        const char *dot = strrchr(full, '.');
        diag_fix(e->c->diags, g, "import %.*s;", (int)(dot - full), full);
        return NULL;
    }
    Item *fn = module_item(*m, last->id.name);
    if (!fn && n == 1) {
        if (!last->id.name) return NULL;
        const Entity *known = env_find(e, last->id.name);
        if (known && known->kind == ENT_BAD) return NULL;
        unknown_name(e, last->id, "function");
    } else if (!fn || fn->kind != IT_FN) {
        Diag *g = diag_at(e->c->diags, fn ? E0206 : E0201, last->id.span, fn ? "`%s` is not a function" : "the module has no function `%s`",
                          name_of(e, last->id.name));
        if (fn) diag_label(e->c->diags, g, fn->name.span, "declared here");
        return NULL;
    }
    return fn;
}

static void call_stmt(Env *e, const Stmt *s)
{
    Module *m;
    Item *fn = called_fn(e, s, &m);
    if (!fn) return;
    if (fn->is_expr_fn) {
        Diag *g = diag_at(e->c->diags, E0215, s->span, "`%s` gives a value that is not used", name_of(e, fn->name.name));
        diag_label(e->c->diags, g, fn->name.span, "declared here");
        return;
    }
    Env inner;
    Item *stack[CALL_DEPTH + 1];
    if (bind_call(e, &inner, m, fn, &s->call.targs, &s->call.args, s->span, stack)) statements(&inner, &fn->body, e->block);
}

/* ---- all ---- */

static void later(Env *e, const Stmt *s)
{
    switch (s->kind) {
    case ST_TMEM: not_yet(e, s->span, "tensor memory (`tmem`) is"); declare_bad(e, s->id); break;
    case ST_PREFETCH: not_yet(e, s->span, "`prefetch` is"); break;
    case ST_SHIFT: not_yet(e, s->span, "`shift` is"); break;
    case ST_FILL: not_yet(e, s->span, "`fill` is"); break;
    case ST_ARRIVE: not_yet(e, s->span, "`arrive` is"); break;
    case ST_EXPECT: not_yet(e, s->span, "`expect` is"); break;
    case ST_PIPELINE: not_yet(e, s->span, "`pipeline` is"); break;
    case ST_ROLES: not_yet(e, s->span, "`roles` are"); break;
    default: break;
    }
}

static void statement(Env *e, const Stmt *s)
{
    if (e->in_group && s->kind != ST_MOVE && s->kind != ST_LET && s->kind != ST_CALL && s->kind != ST_ERROR) {
        diag_at(e->c->diags, E0111, s->span, "only moves (and `let`, and calls) stand in `group { }`");
        return;
    }
    switch (s->kind) {
    case ST_LET: let_stmt(e, s); break;
    case ST_VAR: var_stmt(e, s); break;
    case ST_ASSIGN: assign_stmt(e, s); break;
    case ST_SHARED: shared_stmt(e, s); break;
    case ST_BARRIER: barrier_stmt(e, s); break;
    case ST_VIEW: view_stmt(e, s); break;
    case ST_MAP: map_stmt(e, s); break;
    case ST_POLICY: policy_stmt(e, s); break;
    case ST_MOVE: move_stmt(e, s); break;
    case ST_WAIT: wait_stmt(e, s); break;
    case ST_WAIT_GROUP: wait_group_stmt(e, s); break;
    case ST_CALL: call_stmt(e, s); break;
    case ST_FOR: for_stmt(e, s); break;
    case ST_IF: if_stmt(e, s); break;
    case ST_GROUP: group_stmt(e, s); break;
    case ST_ERROR: break;
    default: later(e, s);
    }
}

void statements(Env *e, const Block *b, PBlock *into)
{
    PBlock *outer = e->block;
    e->block = into;
    for (const Stmt *s = b->first; s; s = s->next) statement(e, s);
    e->block = outer;
}
