/* Bodies: statement by statement into the checked program. */
#include "frontend/check.h"

PStmt *emit_stmt(Env *e, PStmtKind kind, Span span)
{
    PStmt *s = arena_new(e->c->scratch, PStmt);
    s->kind = kind;
    s->span = span;
    s->frame = e->frame;
    if (e->frame) e->ch->inlined++;
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
        v = sx_new(e, SX_LET, s->id.span, p->id, v, NULL);
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
    const Item *it = module_item(e->module, s->id.name);
    if (!ent && !it) {
        unknown_name(e, s->id, "variable");
        return;
    }
    if (ent && ent->kind == ENT_BAD) return;
    if (!ent || ent->kind != ENT_VAR) {
        Span declared = ent ? ent->span : it->name.span;
        Diag *g = diag_at(e->c->diags, E0211, s->id.span, "`%s` can't be assigned to", name_of(e, s->id.name));
        if (declared.hi) diag_label(e->c->diags, g, declared, "declared here");
        if (ent && ent->kind == ENT_SCALAR) diag_fix(e->c->diags, g, "use a variable: `var name = ..;`");
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

/* The limit of the syntax holds for what functions make of it, too: blocks are walked recursively. */
static bool nested(Env *e, Span at)
{
    if (e->nesting < NESTING_MAX) return true;
    diag_at(e->c->diags, E0106, at, "blocks nest more than %d deep here, those of inlined functions and loops of several indices counted",
            NESTING_MAX);
    return false;
}

static void block(Env *e, const Block *b, PBlock *into)
{
    const Entity *outer = e->scope;
    e->nesting++;
    if (nested(e, b->span)) statements(e, b, into);
    e->nesting--;
    env_leave(e, outer);
}

/* The bounds of an inner loop, too, are worked out once: a `var` in them may change in the body. */
static const Sx *bound(Env *e, const Sx *x, uint32_t loop)
{
    if (!x || !loop || x->launch || x->op == SX_LET || x->op == SX_INDEX || x->op == SX_CTA) return x;
    PStmt *p = emit_stmt(e, P_LET, x->span);
    p->id = e->kernel->nlets++;
    p->value = x;
    return sx_new(e, SX_LET, x->span, p->id, x, NULL);
}

static void for_stmt(Env *e, const Stmt *s)
{
    const LoopHead *h = &s->loop.head;
    const Entity *outer = e->scope;
    PBlock *outer_block = e->block;
    if (h->nindices != h->nranges) {
        Diag *g = diag_at(e->c->diags, E0125, h->range_span, "%u range%s for %u ind%s", h->nranges, h->nranges == 1 ? "" : "s",
                          h->nindices, h->nindices == 1 ? "ex" : "ices");
        diag_label(e->c->diags, g, h->index_span, "the indices");
    }
    /* Bounds stand outside: no index is visible in a range. */
    const Sx **lo = arena_array(e->c->scratch, const Sx *, h->nranges), **hi = arena_array(e->c->scratch, const Sx *, h->nranges);
    uint32_t n = 0;
    bool ok = h->nindices == h->nranges;
    for (const RangeItem *r = h->ranges; r; r = r->next, n++) {
        lo[n] = r->lo ? bound(e, scalar(e, r->lo), n) : sx_const(e, 0, r->span);
        hi[n] = bound(e, scalar(e, r->hi), n);
        ok = ok && lo[n] && hi[n];
    }
    PStmt *p = NULL;
    uint32_t i = 0, nesting = e->nesting;
    e->nesting += h->nindices;
    bool body = nested(e, h->index_span);
    ok = ok && body;
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
        const Sx *x = sx_new(e, SX_INDEX, id->id.span, p->id, NULL, NULL);
        env_add(e, (Entity){.kind = ENT_SCALAR, .name = id->id.name, .span = id->id.span, .sx = x});
    }
    PBlock ignored = {NULL, NULL};
    if (body) statements(e, &s->loop.body, p ? &p->body : &ignored);
    e->nesting = nesting;
    env_leave(e, outer);
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
