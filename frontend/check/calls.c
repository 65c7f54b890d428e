/* Calls: functions are inlined where they are called, with their parameters bound in an environment of their own. */
#include <string.h>

#include "frontend/check/check.h"

/* ---- compile-time parameters ---- */

static bool argument_count(Env *e, Item *fn, uint32_t given, uint32_t wanted, Span span, const char *what)
{
    if (given == wanted) return true;
    Diag *g = diag_at(e->c->diags, E0207, span, "`%s` takes %u %s%s, %u given", name_of(e, fn->name.name), wanted, what,
                      wanted == 1 ? "" : "s", given);
    diag_label(e->c->diags, g, fn->name.span, "declared here");
    return false;
}

bool takes_arguments(Env *e, Item *fn, const ExprList *args, Span span)
{
    uint32_t n = 0;
    for (const Param *p = fn->params; p; p = p->next) n++;
    return argument_count(e, fn, args->n, n, span, "argument");
}

/* An element type: a word, or a compile-time parameter that is one. */
static bool type_argument(Env *from, const Expr *x, ElemType *type)
{
    if (x->kind != EX_NAME || module_item(from->module, x->id.name)) return false;
    const Entity *known = env_find(from, x->id.name);
    if (!known) return elem_find(name_of(from, x->id.name), type);
    if (known->kind == ENT_TYPE) *type = known->type;
    return known->kind == ENT_TYPE;
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
        int64_t k;
        if (!x) {
            Diag *g = diag_at(caller->c->diags, E0212, span, "the compile-time parameter `%s` of `%s` has no value",
                              name_of(caller, t->name.name), name_of(caller, fn->name.name));
            diag_label(caller->c->diags, g, t->name.span, "declared here, without a default");
            ok = false;
        } else if (type_argument(from, x, &ent.type)) {
            ent.kind = ENT_TYPE;
        } else if (constant(from, x, INT64_MIN, INT64_MAX, "a compile-time parameter", &k)) {
            ent.kind = ENT_SCALAR;
            ent.sx = sx_const(inner, k, x->span);
        } else {
            ok = false;
        }
        env_add(inner, ent);
    }
    return ok;
}

/* ---- parameters ---- */

static bool wrong_argument(Env *e, ErrorCode code, const Expr *x, const Param *p, const char *want)
{
    const Entity *is = x->kind == EX_NAME ? env_find(e, x->id.name) : NULL;
    const Expr *base = x->kind == EX_INDEX ? x->base : NULL;
    const Entity *part = base && base->kind == EX_NAME ? env_find(e, base->id.name) : NULL;
    if (part && part->kind == ENT_BAD) return false;
    Diag *g = diag_at(e->c->diags, code, x->span, "%s%s is needed for the parameter `%s`", part ? "the name of " : "", want,
                      name_of(e, p->name.name));
    diag_label(e->c->diags, g, p->span, "declared here");
    if (is && is->span.hi) diag_label(e->c->diags, g, is->span, "the argument is declared here");
    if (part && part->kind == ENT_TENSOR) diag_fix(e->c->diags, g, "declare a `view` of this part and pass the view");
    else if (part && (part->kind == ENT_TILE || part->kind == ENT_BARRIER))
        diag_fix(e->c->diags, g, "pass the whole `%s` and pick the part in the function", name_of(e, part->name));
    return false;
}

/* A name of the caller; NULL if it has none, reported or to be said by wrong_argument. */
static const Entity *named_argument(Env *caller, const Expr *x, bool *reported)
{
    const Entity *a = x->kind == EX_NAME ? env_find(caller, x->id.name) : NULL;
    *reported = (a && a->kind == ENT_BAD) || x->kind == EX_ERROR;
    if (!a && x->kind == EX_NAME && !module_item(caller->module, x->id.name)) {
        unknown_name(caller, x->id, "name");
        *reported = true;
    }
    if (x->kind == EX_PEER) {
        Diag *g = diag_at(caller->c->diags, E0306, x->span, "`peer(..)` is no argument");
        diag_fix(caller->c->diags, g, "pass the tile or barrier and the rank, and write `peer` in the function");
        *reported = true;
    }
    return a;
}

static const char *tile_text(Env *e, const PTile *t)
{
    const char *slots = t->is_array ? arena_printf(e->c->scratch, "[%lld]", (long long)t->slots) : "";
    int span = swizzle_span(t->swizzle);
    const char *layout = span ? arena_printf(e->c->scratch, " swizzle %d", span) : "";
    if (t->swizzle > MAP_SWIZZLE_128B)
        layout = t->swizzle == MAP_SWIZZLE_128B_ATOM_64B   ? " swizzle 128 atom 64"
                 : t->swizzle == MAP_SWIZZLE_128B_ATOM_32B ? " swizzle 128 atom 32"
                                                           : " swizzle 128 atom 32 flip";
    const char *inter = t->interleave == MAP_INTERLEAVE_16B ? " interleave 16" : t->interleave ? " interleave 32" : "";
    return arena_printf(e->c->scratch, "%s%s%s%s%s", elem_info(t->type)->name, slots, shape_text(e, t->rank, t->extent), layout,
                        inter);
}

static bool same_kind(const PTile *a, const PTile *b)
{
    return a->type == b->type && a->rank == b->rank && a->is_array == b->is_array;
}

static bool same_numbers(const PTile *a, const PTile *b)
{
    bool same = a->slots == b->slots && a->swizzle == b->swizzle && a->interleave == b->interleave;
    for (int d = 0; same && d < a->rank; d++) same = a->extent[d] == b->extent[d];
    return same;
}

/* Names in the extents of a parameter that nothing else declares are the argument's, as for global tensors. */
static void bind_extents(Env *inner, const TypeExpr *type, const PTile *t)
{
    const DimsList *dims = type->brackets;
    for (bool count = dims && dims->next; dims; dims = dims->next, count = false) {
        int d = 0;
        for (const Expr *x = dims->dims.first; x; x = x->next, d++) {
            if (x->kind != EX_NAME || d >= t->rank || env_find(inner, x->id.name) || module_item(inner->module, x->id.name))
                continue;
            const Sx *k = sx_const(inner, count ? t->slots : t->extent[d], x->span);
            env_add(inner, (Entity){.kind = ENT_SCALAR, .name = x->id.name, .span = x->span, .sx = k});
        }
    }
}

static bool bind_tile(Env *caller, Env *inner, const Param *p, const Expr *x, const Entity *a)
{
    if (!a || a->kind != ENT_TILE || a->tile->tensor != (p->space == SPACE_TMEM))
        return wrong_argument(caller, E0209, x, p, p->space == SPACE_TMEM ? "a tile in tensor memory" : "a shared tile");
    bind_extents(inner, p->type, a->tile);
    PTile *want = tile_type(inner, p->name, p->type, p->space == SPACE_TMEM);
    if (!want) return false;
    bool kind = same_kind(want, a->tile);
    if (!kind || !same_numbers(want, a->tile)) {
        Diag *g = diag_at(caller->c->diags, kind ? E0219 : E0209, x->span, "`%s` is %s, the parameter `%s` %s", name_of(caller, a->name),
                          tile_text(caller, a->tile), name_of(caller, p->name.name), tile_text(caller, want));
        diag_label(caller->c->diags, g, p->span, "declared here");
        return false;
    }
    env_add(inner, (Entity){.kind = ENT_TILE, .name = p->name.name, .span = p->name.span, .tile = a->tile});
    return true;
}

static bool bind_global(Env *caller, Env *inner, const Param *p, const Expr *x, const Entity *a)
{
    if (!a || a->kind != ENT_TENSOR) return wrong_argument(caller, E0209, x, p, "a global tensor");
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
    if (!tensor_param(inner, p->name, p->type, t, x->span)) return false;
    env_add(inner, (Entity){.kind = ENT_TENSOR, .name = p->name.name, .span = p->name.span, .tensor = t});
    return true;
}

static bool bind_tensor(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    bool reported;
    const Entity *a = named_argument(caller, x, &reported);
    if (reported) return false;
    return p->space == SPACE_GLOBAL ? bind_global(caller, inner, p, x, a) : bind_tile(caller, inner, p, x, a);
}

static bool bind_object(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    static const struct { EntKind kind; const char *text; } want[] = {
        [PK_BARRIER] = {ENT_BARRIER, "a barrier"}, [PK_MAP] = {ENT_MAP, "a map"}, [PK_POLICY] = {ENT_POLICY, "a policy"}};
    bool reported;
    const Entity *a = named_argument(caller, x, &reported);
    if (reported) return false;
    if (!a || a->kind != want[p->kind].kind) return wrong_argument(caller, E0209, x, p, want[p->kind].text);
    if (p->kind == PK_BARRIER) {
        int64_t n = 1;
        if (p->count && !constant(inner, p->count, 1, 1024, "the number of barriers in the array", &n)) return false;
        if ((p->count != NULL) != a->barrier->is_array || n != a->barrier->slots)
            return wrong_argument(
                caller, (p->count != NULL) == a->barrier->is_array ? E0219 : E0209, x, p,
                p->count ? arena_printf(caller->c->scratch, "an array of %lld barriers", (long long)n) : "one barrier");
    }
    Entity ent = *a;
    ent.name = p->name.name;
    ent.span = p->name.span;
    env_add(inner, ent);
    return true;
}

static bool bind_scalar(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    ElemType type;
    if (!scalar_type(caller, p, &type)) return false;
    const Sx *v = scalar(caller, x);
    if (v) env_add(inner, (Entity){.kind = ENT_SCALAR, .name = p->name.name, .span = p->name.span, .sx = v});
    return v != NULL;
}

static bool bind_argument(Env *caller, Env *inner, const Param *p, const Expr *x)
{
    switch (p->kind) {
    case PK_BARE: case PK_SCALAR: return bind_scalar(caller, inner, p, x);
    case PK_TENSOR: return bind_tensor(caller, inner, p, x);
    default: return bind_object(caller, inner, p, x);
    }
}

static bool bind_arguments(Env *caller, Env *inner, const Item *fn, const ExprList *args, bool scalars)
{
    const Expr *x = args->first;
    bool ok = true;
    for (const Param *p = fn->params; p; p = p->next, x = x->next) {
        if (scalars != (p->kind == PK_BARE || p->kind == PK_SCALAR) || bind_argument(caller, inner, p, x)) continue;
        ok = false;
        Ident id = p->name;
        if (id.name) env_add(inner, (Entity){.kind = ENT_BAD, .name = id.name, .span = id.span});
    }
    return ok;
}

/* ---- where it is ---- */

void call_notes(Compilation *c, Diag *g, const PStmt *s)
{
    for (const CallFrame *f = s->frame; f; f = f->outer)
        diag_note(c->diags, g, f->call, "in `%s`, called here", names_text(c->names, f->fn));
}

/* ---- the call ---- */

/* What is reported while a function is inlined says where it was called; long chains lose their middle. */
static void add_chain(Env *caller, Diag **since, Span call, const Item *fn)
{
    Diags *d = caller->c->diags;
    for (Diag *g = *since; g; g = g->next) {
        if ((g->span.lo >= call.lo && g->span.hi <= call.hi) || g->code == E0217) continue;
        int n = 0;
        for (const DiagLabel *l = g->notes; l; l = l->next) n++;
        if (n < 6 || !caller->frame) diag_note(d, g, call, "in `%s`, called here", name_of(caller, fn->name.name));
    }
}

/* Doubling calls have no end that anybody would wait for. */
static bool too_much(Env *caller, Span span)
{
    Checked *ch = caller->ch;
    if (ch->inlined < INLINED_MAX && caller->depth < CALL_DEPTH) return false;
    Span outer = span;
    for (const CallFrame *f = caller->frame; f; f = f->outer) outer = f->call;
    if (ch->inlined >= INLINED_MAX)
        diag_at(caller->c->diags, E0217, outer, "this call, with those in it, makes more than %u statements and operations",
                INLINED_MAX);
    else diag_at(caller->c->diags, E0217, outer, "the calls in this one nest more than %d deep", CALL_DEPTH);
    return true;
}

static bool calls_itself(Env *caller, Item *fn, Span span)
{
    for (uint32_t i = 0; i < caller->depth; i++) {
        if (!caller->stack || caller->stack[i] != fn) continue;
        Diag *g = diag_at(caller->c->diags, E0208, span, "`%s` calls itself%s", name_of(caller, fn->name.name),
                          i + 1 == caller->depth ? "" : " through others");
        diag_label(caller->c->diags, g, fn->name.span, "declared here");
        return true;
    }
    return false;
}

/* Binds a fn's parameters in a new environment; false after an error. */
static bool bind_call(Env *caller, Env *inner, Module *m, Item *fn, const ExprList *targs, const ExprList *args, Span span,
                      Item **stack)
{
    *inner = *caller;
    env_begin(inner);
    if (calls_itself(caller, fn, span) || too_much(caller, span)) return false;
    for (uint32_t i = 0; i < caller->depth; i++) stack[i] = caller->stack[i];
    stack[caller->depth] = fn;
    inner->module = m;
    inner->stack = stack;
    inner->depth = caller->depth + 1;
    inner->nesting = caller->nesting + 1;
    CallFrame *f = arena_new(caller->c->scratch, CallFrame);
    *f = (CallFrame){.call = span, .fn = fn->name.name, .outer = caller->frame};
    inner->frame = f;
    if (!takes_arguments(caller, fn, args, span)) return false;
    caller->ch->inlined += args->n + 1;
    bool ok = bind_targs(caller, inner, fn, targs, span);
    ok = bind_arguments(caller, inner, fn, args, true) && ok; /* scalars first: extents may mention them */
    return bind_arguments(caller, inner, fn, args, false) && ok;
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
    Diag **since = e->c->diags->last;
    const Sx *x = NULL;
    if (bind_call(e, &inner, m, fn, NULL, args, span, stack) && deeper(&inner, fn->expr, span) && fn->expr)
        x = scalar(&inner, fn->expr);
    env_leave(&inner, NULL);
    add_chain(e, since, span, fn);
    return x;
}

static Module *called_module(Env *e, const Stmt *s)
{
    uint32_t n = 0;
    for (const IdentItem *p = s->call.path; p; p = p->next) n++;
    Module *m = n == 1 ? e->module : module_by_path(e, s->call.path, n - 1);
    if (m) return m;
    const char *full = path_text(e, s->call.path);
    int len = (int)(strrchr(full, '.') - full);
    for (const Import *i = e->module->imports; i; i = i->next)
        if (!i->module && strncmp(i->name, full, (size_t)len) == 0 && !i->name[len]) return NULL; /* has been reported */
    Diag *g = diag_at(e->c->diags, E0201, s->call.path_span, "there is no module `%.*s` here", len, full);
    const char *names[64];
    size_t k = 0;
    for (const Import *i = e->module->imports; i && k < 64; i = i->next) names[k++] = i->name;
    const char *near = spelling_nearest(arena_printf(e->c->arena, "%.*s", len, full), names, k);
    if (near) diag_fix(e->c->diags, g, "did you mean `%s%s`?", near, full + len);
    else diag_fix(e->c->diags, g, "import %.*s;", len, full);
    return NULL;
}

Item *called_fn(Env *e, const Stmt *s, Module **m)
{
    const IdentItem *last = s->call.path;
    while (last && last->next) last = last->next;
    if (!last || !last->id.name || !(*m = called_module(e, s))) return NULL;
    bool local = last == s->call.path;
    const Entity *known = local ? env_find(e, last->id.name) : NULL;
    Item *fn = module_item(*m, last->id.name);
    if (fn && fn->kind == IT_FN) return fn;
    if ((known && known->kind == ENT_BAD) || (!fn && (*m)->broken)) return NULL;
    if (fn || known) {
        Diag *g = diag_at(e->c->diags, E0206, last->id.span, "`%s` is not a function", name_of(e, last->id.name));
        if (fn || known->span.hi) diag_label(e->c->diags, g, fn ? fn->name.span : known->span, "declared here");
    } else if (local) {
        unknown_name(e, last->id, "function");
    } else {
        unknown_in_module(e, *m, last->id, IT_FN);
    }
    return NULL;
}

void call_stmt(Env *e, const Stmt *s)
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
    Diag **since = e->c->diags->last;
    if (bind_call(e, &inner, m, fn, &s->call.targs, &s->call.args, s->span, stack)) statements(&inner, &fn->body, e->block);
    env_leave(&inner, NULL);
    add_chain(e, since, s->span, fn);
}
