/* Names: environments, unknown names, and the check of every function's names, called or not. */
#include <string.h>

#include "frontend/check/check.h"
#include "frontend/parse/foreign.h"

void env_begin(Env *e)
{
    e->scope = NULL;
    e->id = ++e->ch->nenvs;
}

static void push(Env *e, Entity ent)
{
    Entity *x = arena_new(e->c->scratch, Entity);
    *x = ent;
    x->owner = e->id;
    x->next = e->scope;
    x->hidden = e->ch->newest[ent.name];
    e->ch->newest[ent.name] = e->scope = x;
}

/* One name has at most as many entities as calls are open. */
void env_leave(Env *e, const Entity *outer)
{
    for (; e->scope != outer; e->scope = e->scope->next) {
        Entity **at = &e->ch->newest[e->scope->name];
        while (*at != e->scope) at = &(*at)->hidden;
        *at = e->scope->hidden;
        if (e->scope->local && !e->scope->used && !e->frame)
            vec_push(e->c->scratch, &e->kernel->unused, ((PName){e->scope->name, e->scope->span}));
    }
}

/* What a branch that constants exclude names is not unused, but for that alone it is no part of the kernel. */
static void use_excluded(const Entity *x)
{
    PUsed *u = x->kind == ENT_TILE      ? &x->tile->used
               : x->kind == ENT_BARRIER ? &x->barrier->used
               : x->kind == ENT_MAP     ? &x->map->used
               : x->kind == ENT_POLICY  ? &x->policy->used
                                        : NULL;
    if (u) u->read = u->out = true;
}

const Entity *env_find(const Env *e, Name n)
{
    for (Entity *x = e->ch->newest[n]; x; x = x->hidden) {
        if (x->owner != e->id) continue;
        x->used = true;
        if (e->c->diags->excluded) use_excluded(x);
        return x;
    }
    return NULL;
}

void env_add(Env *e, Entity ent)
{
    const Entity *old = ent.name ? env_find(e, ent.name) : NULL;
    const Item *it = ent.name ? module_item(e->module, ent.name) : NULL;
    if (old && old->kind == ENT_BAD && !old->span.hi) old = NULL, it = NULL; /* was unknown, which has been reported */
    if (old) {
        Diag *g = diag_at(e->c->diags, E0202, ent.span, "`%s` is already declared", name_of(e, ent.name));
        if (old->span.hi) diag_label(e->c->diags, g, old->span, "first declared here");
    } else if (it && it->kind != IT_KERNEL) {
        Diag *g = diag_at(e->c->diags, E0202, ent.span, "`%s` is already the name of a %s of this file", name_of(e, ent.name),
                          item_kind(it));
        diag_label(e->c->diags, g, it->name.span, "declared here");
    }
    push(e, ent);
}

static const char *nearest_name(Env *e, const char *text)
{
    static const char *const builtin[] = {"cta", "grid", "cluster", "ceil", "min", "max", "sizeof"};
    enum { BUILTIN = sizeof builtin / sizeof *builtin, MOST = 250 };
    const char *names[MOST + BUILTIN];
    size_t n = 0;
    if (e->c->diags->errors >= e->c->diags->max_errors) return NULL; /* not shown any more */
    for (const Entity *x = e->scope; x && n < MOST; x = x->next)
        if (x->name) names[n++] = name_of(e, x->name);
    for (const Item *it = e->module->unit->first; it && n < MOST; it = it->next)
        if ((it->kind == IT_CONST || it->kind == IT_FN) && it->name.name) names[n++] = name_of(e, it->name.name);
    for (const Import *i = e->module->imports; i && n < MOST; i = i->next) names[n++] = name_of(e, i->path->id.name);
    for (size_t i = 0; i < BUILTIN; i++) names[n++] = builtin[i];
    return spelling_nearest(text, names, n);
}

/* The name of a module stands only in front of what the module declares. */
static bool module_alone(Env *e, Ident id)
{
    const Import *i = e->module->imports;
    while (i && i->path->id.name != id.name) i = i->next;
    if (!i) return false;
    if (!i->module) return true; /* the import has been reported */
    Diag *g = diag_at(e->c->diags, E0306, id.span, i->path->next ? "`%s` begins the name of a module" : "`%s` is a module", name_of(e, id.name));
    diag_label(e->c->diags, g, i->span, "imported here");
    diag_fix(e->c->diags, g, "write what it declares behind it: `%s.name`", i->name);
    return true;
}

void unknown_name(Env *e, Ident id, const char *what)
{
    if (!id.name) return;
    if (!module_alone(e, id) && !(strcmp(what, "function") == 0 && unknown_arithmetic(e, id))) {
        Diag *g = diag_at(e->c->diags, E0201, id.span, "unknown %s `%s`", what, name_of(e, id.name));
        const char *near = nearest_name(e, name_of(e, id.name)), *foreign = foreign_fix(name_of(e, id.name));
        if (foreign) diag_fix(e->c->diags, g, "%s", foreign);
        else if (near) diag_fix(e->c->diags, g, "did you mean `%s`?", near);
        else if (e->kernel && e->kernel->tensors.n && !e->block && strcmp(what, "name") == 0) /* in the head */
            diag_fix(e->c->diags, g, "a size is an extent of a parameter: `x: global f32[%s]`; a number is one itself: `%s: s64`", name_of(e, id.name), name_of(e, id.name));
    }
    /* Known from here on: one error for a name, not one for each use. */
    push(e, (Entity){.kind = ENT_BAD, .name = id.name});
}

void unknown_in_module(Env *e, const Module *m, Ident id, ItemKind kind)
{
    const char *names[256];
    size_t n = 0;
    for (const Item *it = m->unit->first; it && n < 256; it = it->next)
        if (it->kind == kind && it->name.name) names[n++] = name_of(e, it->name.name);
    Diag *g = diag_at(e->c->diags, E0201, id.span, "the module `%s` has no %s `%s`", m->name,
                      kind == IT_FN ? "function" : "constant", name_of(e, id.name));
    const char *near = spelling_nearest(name_of(e, id.name), names, n);
    if (near) diag_fix(e->c->diags, g, "did you mean `%s`?", near);
}

void unknown_map(Env *e, Ident id)
{
    static const char *const words[] = {"bulk", "threads"};
    const char *near = spelling_nearest(name_of(e, id.name), words, 2);
    if (!near) {
        unknown_name(e, id, "map");
        return;
    }
    Diag *g = diag_at(e->c->diags, E0201, id.span, "unknown map `%s`", name_of(e, id.name));
    diag_fix(e->c->diags, g, "did you mean `%s`?", near);
}

void unknown_policy(Env *e, Ident id)
{
    if (word_find(WORDS_CACHE, name_of(e, id.name)) < 0) {
        unknown_name(e, id, "policy");
        return;
    }
    Diag *g = diag_at(e->c->diags, E0201, id.span, "`%s` is a cache priority, not a policy", name_of(e, id.name));
    diag_fix(e->c->diags, g, "declare one, `policy p = %s;`, and write `cache p`", name_of(e, id.name));
}

/* ---- functions that nobody calls: their names are checked, and how many arguments calls have ---- */

typedef struct Walk {
    Env env;
} Walk;

static void declare(Walk *w, Ident id)
{
    if (id.name) env_add(&w->env, (Entity){.kind = ENT_BAD, .name = id.name, .span = id.span});
}

static void walk_list(Walk *w, const ExprList *l);

static bool is_known(const Walk *w, Ident id)
{
    const Env *e = &w->env;
    const Checked *ch = e->ch;
    ElemType t;
    if (!id.name || env_find(e, id.name) || module_item(e->module, id.name) || elem_find(name_of(e, id.name), &t)) return true;
    if (is_builtin_base(ch, id.name) || is_builtin_function(ch, id.name)) return true;
    for (const Import *i = e->module->imports; i; i = i->next)
        if (i->path->id.name == id.name) return true;
    return false;
}

static void walk_name(Walk *w, Ident id, const char *what)
{
    if (!is_known(w, id)) unknown_name(&w->env, id, what);
}

/* A tensor's or tile's element type: said as the checks of a called function say it. */
static void walk_elem(Walk *w, Ident id)
{
    ElemType t;
    if (id.name && !env_find(&w->env, id.name)) elem_type(&w->env, id, &t);
}

static void walk_expr(Walk *w, const Expr *x);

static void walk_count(Walk *w, Item *fn, const ExprList *args, Span span)
{
    if (fn && fn->kind == IT_FN) takes_arguments(&w->env, fn, args, span);
}

/* What stands before a dot: cta, or a module. */
static void walk_path(Walk *w, const Expr *x)
{
    while (x->kind == EX_MEMBER) x = x->a;
    if (x->kind == EX_NAME) walk_name(w, x->id, "name or module");
    else walk_expr(w, x);
}

static void walk_expr(Walk *w, const Expr *x)
{
    if (!x) return;
    switch ((ExprKind)x->kind) {
    case EX_NAME: walk_name(w, x->id, "name"); break;
    case EX_CALL:
        walk_name(w, x->id, "function");
        walk_count(w, module_item(w->env.module, x->id.name), &x->args, x->span);
        walk_list(w, &x->args);
        break;
    case EX_METHOD:
        walk_path(w, x->a);
        walk_list(w, &x->args);
        break;
    case EX_MEMBER: walk_path(w, x->a); break;
    case EX_PEER: case EX_BINARY:
        walk_expr(w, x->lhs);
        walk_expr(w, x->rhs);
        break;
    case EX_UNARY: walk_expr(w, x->lhs); break;
    case EX_INDEX:
        walk_expr(w, x->base);
        for (const Sub *s = x->subs.first; s; s = s->next) {
            if (s->kind == SUB_AT || s->kind == SUB_SPAN) walk_expr(w, s->a);
            if (s->kind == SUB_SPAN) {
                walk_expr(w, s->b);
                walk_expr(w, s->c);
            }
            if (s->kind == SUB_ROWS) walk_list(w, &s->rows);
        }
        break;
    case EX_INT: case EX_FLOAT: case EX_STRING: case EX_ERROR: break;
    }
}

static void walk_list(Walk *w, const ExprList *l)
{
    for (const Expr *x = l->first; x; x = x->next) walk_expr(w, x);
}

static void walk_type(Walk *w, const TypeExpr *t, bool declares)
{
    if (!t) return;
    walk_elem(w, t->elem);
    for (const DimsList *d = t->brackets; d; d = d->next)
        for (const Expr *x = d->dims.first; x; x = x->next) {
            if (declares && x->kind == EX_NAME && !env_find(&w->env, x->id.name) &&
                !module_item(w->env.module, x->id.name))
                declare(w, x->id);
            else
                walk_expr(w, x);
        }
    if (!declares) walk_list(w, &t->stride);
    walk_expr(w, t->swizzle);
    walk_expr(w, t->atom);
    walk_expr(w, t->interleave);
}

static void walk_clauses(Walk *w, const ClauseList *l)
{
    for (const Clause *c = l->first; c; c = c->next) {
        bool known = is_known(w, c->id);
        if (c->kind == CL_VIA && !known && c->id.name != w->env.ch->n_bulk) unknown_map(&w->env, c->id);
        if (c->kind == CL_CACHE && !known) unknown_policy(&w->env, c->id);
        walk_expr(w, c->expr);
        walk_list(w, &c->exprs);
    }
}

static void walk_block(Walk *w, const Block *b);

static void walk_loop(Walk *w, const Stmt *s)
{
    for (const RangeItem *r = s->loop.head.ranges; r; r = r->next) {
        walk_expr(w, r->lo);
        walk_expr(w, r->hi);
    }
    walk_expr(w, s->loop.stages);
    walk_expr(w, s->loop.threads);
    const Entity *outer = w->env.scope;
    for (const IdentItem *i = s->loop.head.indices; i; i = i->next) declare(w, i->id);
    walk_block(w, &s->loop.body);
    env_leave(&w->env, outer);
}

static void walk_stmt(Walk *w, const Stmt *s)
{
    Module *m;
    switch (s->kind) {
    case ST_LET: case ST_VAR: walk_expr(w, s->expr); declare(w, s->id); break;
    case ST_ASSIGN: walk_name(w, s->id, "variable"); walk_expr(w, s->expr); break;
    case ST_SHARED: case ST_TMEM: walk_type(w, s->type, false); declare(w, s->id); break;
    case ST_BARRIER: walk_expr(w, s->barrier.count); declare(w, s->id); break;
    case ST_VIEW: walk_expr(w, s->view.src); walk_type(w, s->view.type, false); declare(w, s->id); break;
    case ST_MAP:
        walk_expr(w, s->map.src);
        for (const MapOpt *o = s->map.opts.first; o; o = o->next) {
            walk_expr(w, o->expr);
            walk_expr(w, o->atom);
            walk_list(w, &o->exprs);
        }
        declare(w, s->id);
        break;
    case ST_POLICY: declare(w, s->id); break;
    case ST_MOVE:
        walk_expr(w, s->move.src);
        walk_expr(w, s->move.dst);
        walk_clauses(w, &s->move.clauses);
        break;
    case ST_PREFETCH: case ST_SHIFT: walk_expr(w, s->move.src); walk_clauses(w, &s->move.clauses); break;
    case ST_FILL: walk_expr(w, s->fill.dst); walk_expr(w, s->fill.value); walk_clauses(w, &s->fill.clauses); break;
    case ST_WAIT: case ST_ARRIVE: walk_expr(w, s->expr); break;
    case ST_WAIT_GROUP: walk_expr(w, s->wait_group.count); break;
    case ST_EXPECT: walk_expr(w, s->expect.barrier); walk_expr(w, s->expect.bytes); break;
    case ST_CALL:
        walk_count(w, called_fn(&w->env, s, &m), &s->call.args, s->span);
        walk_list(w, &s->call.targs);
        walk_list(w, &s->call.args);
        break;
    case ST_FOR: case ST_PIPELINE: walk_loop(w, s); break;
    case ST_IF:
        walk_expr(w, s->cond.cond);
        walk_block(w, &s->cond.then);
        if (s->cond.has_else) walk_block(w, &s->cond.other);
        break;
    case ST_GROUP: walk_block(w, &s->block); break;
    case ST_ROLES:
        for (const Role *r = s->roles; r; r = r->next) walk_block(w, &r->body);
        break;
    case ST_ERROR: break;
    }
}

static void walk_block(Walk *w, const Block *b)
{
    const Entity *outer = w->env.scope;
    for (const Stmt *s = b->first; s; s = s->next) walk_stmt(w, s);
    env_leave(&w->env, outer);
}

void check_names(Checked *ch, Module *m)
{
    for (const Item *it = m->unit->first; it; it = it->next) {
        if (it->kind == IT_CONST && it->expr) {
            Walk w = {.env = {.ch = ch, .c = ch->c, .module = m}};
            env_begin(&w.env);
            walk_expr(&w, it->expr);
            env_leave(&w.env, NULL);
        }
        if (it->kind != IT_FN) continue;
        Walk w = {.env = {.ch = ch, .c = ch->c, .module = m}};
        env_begin(&w.env);
        for (const TParam *t = it->tparams; t; t = t->next) {
            for (const Expr *x = t->value; x; x = x->next) walk_expr(&w, x);
            declare(&w, t->name);
        }
        for (const Param *p = it->params; p; p = p->next) {
            ElemType type;
            if (p->kind == PK_SCALAR) scalar_type(&w.env, p, &type);
            if (p->kind == PK_SCALAR || p->kind == PK_BARE) declare(&w, p->name);
        }
        for (const Param *p = it->params; p; p = p->next) {
            if (p->kind == PK_TENSOR) walk_type(&w, p->type, true);
            walk_expr(&w, p->count);
        }
        for (const Param *p = it->params; p; p = p->next)
            if (p->kind != PK_SCALAR && p->kind != PK_BARE) declare(&w, p->name);
        if (it->is_expr_fn) walk_expr(&w, it->expr);
        else walk_block(&w, &it->body);
        env_leave(&w.env, NULL);
    }
}
