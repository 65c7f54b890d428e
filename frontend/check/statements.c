/* Bodies: statement by statement into the checked program. */
#include "frontend/check/check.h"
#include "lang/limits.h"

PStmt *emit_stmt(Env *e, PStmtKind kind, Span span)
{
    PStmt *s = arena_new(e->c->scratch, PStmt);
    s->kind = kind;
    s->span = span;
    s->frame = e->frame;
    if (kind == P_MOVE) s->id = e->kernel->nmoves++;
    if (e->frame) e->ch->inlined++;
    if (e->block->last) e->block->last->next = s;
    else e->block->first = s;
    e->block->last = s;
    return s;
}

void declare_bad(Env *e, Ident id)
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
    env_add(e, (Entity){.kind = ENT_SCALAR, .name = s->id.name, .span = s->id.span, .sx = v, .local = true});
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
    env_add(e, (Entity){.kind = ENT_VAR, .name = s->id.name, .span = s->id.span, .var = p->id, .role = e->role, .across = e->across, .local = true});
}

/* Roles run side by side, iterations across the grid in different teams. */
static bool own_variable(Env *e, const Stmt *s, const Entity *var)
{
    Diag *g;
    if (var->role != e->role) g = diag_at(e->c->diags, E0724, s->span, "a role changes `%s`, which all roles share", name_of(e, var->name));
    else if (var->across != e->across)
        g = diag_at(e->c->diags, E0704, s->span, "`%s` would have to go from one iteration to the next", name_of(e, var->name));
    else return true;
    diag_label(e->c->diags, g, var->span, "declared here");
    diag_fix(e->c->diags, g, "declare it inside");
    return false;
}

static void assign_stmt(Env *e, const Stmt *s)
{
    if (assigns_data(e, s->id, s->expr)) return;
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
        else diag_fix(e->c->diags, g, "declare a variable with a name of its own: `var name = ..;`");
        return;
    }
    if (!v || !own_variable(e, s, ent)) return;
    PStmt *p = emit_stmt(e, P_SET, s->span);
    p->id = ent->var;
    p->name = s->id.name;
    p->value = v;
}

void declare_tile(Env *e, const Stmt *s, PTile *t)
{
    if (!t) {
        declare_bad(e, s->id);
        return;
    }
    t->index = e->kernel->tiles.n;
    t->pipe = e->pipe;
    t->loops = e->loops;
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
    b->is_free = s->barrier.is_free;
    if (s->barrier.count && !constant(e, s->barrier.count, 1, 1024, "the number of barriers in the array", &b->slots)) {
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
bool nested(Env *e, Span at)
{
    if (e->nesting < NESTING_MAX) return true;
    diag_at(e->c->diags, E0106, at, "blocks nest more than %d deep here, those of inlined functions and loops of several indices counted",
            NESTING_MAX);
    return false;
}

void block(Env *e, const Block *b, PBlock *into)
{
    const Entity *outer = e->scope;
    e->nesting++;
    if (nested(e, b->span)) statements(e, b, into);
    e->nesting--;
    env_leave(e, outer);
}

/* A branch that is never taken: checked for what does not depend on values, and no part of the program. The kernel forgets it,
 * but for the uses of what stands around the branch (env_find). */
static void left_out(Env *e, const Block *b)
{
    const PKernel was = *e->kernel;
    PBlock dead = {NULL, NULL};
    e->c->diags->excluded++;
    block(e, b, &dead);
    e->c->diags->excluded--;
    *e->kernel = was;
}

/* Constants decide: the branch that is taken stands in the place of the `if`. */
static void decided(Env *e, const Stmt *s, bool holds)
{
    if (holds) block(e, &s->cond.then, e->block);
    else left_out(e, &s->cond.then);
    if (!s->cond.has_else) return;
    if (holds) left_out(e, &s->cond.other);
    else block(e, &s->cond.other, e->block);
}

static void not_in_group(Env *e, const Stmt *s)
{
    diag_at(e->c->diags, E0111, s->span, "only moves (and `let`, calls, and an `if` that constants decide) stand in `group { }`");
}

static void if_stmt(Env *e, const Stmt *s)
{
    const Sx *c = condition(e, s->cond.cond);
    bool holds;
    if (c && sx_decided(c, &holds)) {
        decided(e, s, holds);
        return;
    }
    if (e->in_group) {
        not_in_group(e, s);
        return;
    }
    PStmt ignored = {0}, *p = c ? emit_stmt(e, P_IF, s->span) : &ignored;
    p->value = c;
    p->has_else = s->cond.has_else;
    Span around = e->around;
    e->around = s->span;
    block(e, &s->cond.then, &p->body);
    if (s->cond.has_else) block(e, &s->cond.other, &p->other);
    e->around = around;
}

static void group_stmt(Env *e, const Stmt *s)
{
    PStmt *p = emit_stmt(e, P_GROUP, s->span);
    e->in_group = true;
    block(e, &s->block, &p->body);
    e->in_group = false;
}

static bool own_barrier(Env *e, const Expr *x, const Sx *peer, const char *what)
{
    if (!peer) return true;
    Diag *g = diag_at(e->c->diags, E0627, x->span, "%s on a barrier of another CTA", what);
    diag_fix(e->c->diags, g, "use the own barrier here, and `arrive peer(b, rank)` or `commit peer(b, rank)` in the other CTA");
    return false;
}

static void arrive_stmt(Env *e, const Stmt *s)
{
    const Sx *slot, *peer;
    PBarrier *b = barrier_ref(e, s->expr, &slot, &peer);
    if (!b) return;
    PStmt *p = emit_stmt(e, P_ARRIVE, s->span);
    p->barrier = b;
    p->value = slot;
    p->peer = peer;
}

static void expect_stmt(Env *e, const Stmt *s)
{
    const Sx *slot, *peer, *bytes = scalar(e, s->expect.bytes);
    PBarrier *b = barrier_ref(e, s->expect.barrier, &slot, &peer);
    int64_t k;
    if (!b || !bytes || !own_barrier(e, s->expect.barrier, peer, "`expect`")) return;
    if (sx_is_const(bytes, &k) && (k < 1 || k > MBARRIER_MOST)) {
        diag_at(e->c->diags, k < 1 ? E0318 : E0623, s->expect.bytes->span, "%lld bytes are expected; it must be 1 to %d",
                (long long)k, MBARRIER_MOST);
        return;
    }
    PStmt *p = emit_stmt(e, P_EXPECT, s->span);
    p->barrier = b;
    p->value = slot;
    p->bytes = bytes;
}

static void wait_stmt(Env *e, const Stmt *s)
{
    const Sx *slot, *peer;
    PBarrier *b = barrier_ref(e, s->expr, &slot, &peer);
    if (!b || !own_barrier(e, s->expr, peer, "a wait")) return;
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

static void statement(Env *e, const Stmt *s)
{
    if (e->in_group && s->kind != ST_MOVE && s->kind != ST_LET && s->kind != ST_CALL && s->kind != ST_IF && s->kind != ST_ERROR) {
        not_in_group(e, s);
        return;
    }
    switch (s->kind) {
    case ST_LET: let_stmt(e, s); break;
    case ST_VAR: var_stmt(e, s); break;
    case ST_ASSIGN: assign_stmt(e, s); break;
    case ST_SHARED: declare_tile(e, s, tile_type(e, s->id, s->type, false)); break;
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
    case ST_PIPELINE: pipeline_stmt(e, s); break;
    case ST_ROLES: roles_stmt(e, s); break;
    case ST_ARRIVE: arrive_stmt(e, s); break;
    case ST_EXPECT: expect_stmt(e, s); break;
    case ST_FILL: fill_stmt(e, s); break;
    case ST_PREFETCH: prefetch_stmt(e, s); break;
    case ST_TMEM: tmem_decl(e, s); break;
    case ST_SHIFT: shift_stmt(e, s); break;
    case ST_ERROR: break;
    }
}

void statements(Env *e, const Block *b, PBlock *into)
{
    PBlock *outer = e->block;
    e->block = into;
    for (const Stmt *s = b->first; s; s = s->next) statement(e, s);
    e->block = outer;
}
