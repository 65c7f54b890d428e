/* Loops and roles: what stands around statements, and where it may stand. */
#include "frontend/check/check.h"
#include "lang/limits.h"

/* ---- ranges ---- */

/* A bound that is worked out once, though a `var` in it may change in the body. */
static const Sx *bound(Env *e, const Sx *x, bool once)
{
    if (!x || !once || x->launch || x->op == SX_LET || x->op == SX_INDEX || x->op == SX_CTA) return x;
    PStmt *p = emit_stmt(e, P_LET, x->span);
    p->id = e->kernel->nlets++;
    p->value = x;
    return sx_new(e, SX_LET, x->span, p->id, x, NULL);
}

/* Bounds stand outside: no index is visible in a range. `first`: from which range on bounds are worked out in front. */
static bool ranges(Env *e, const LoopHead *h, uint32_t first, const Sx **lo, const Sx **hi)
{
    bool ok = h->nindices == h->nranges;
    if (!ok) {
        Diag *g = diag_at(e->c->diags, E0125, h->range_span, "%u range%s for %u ind%s", h->nranges,
                          h->nranges == 1 ? "" : "s", h->nindices, h->nindices == 1 ? "ex" : "ices");
        diag_label(e->c->diags, g, h->index_span, "the indices");
    }
    uint32_t n = 0;
    for (const RangeItem *r = h->ranges; r; r = r->next, n++) {
        lo[n] = r->lo ? bound(e, scalar(e, r->lo), n >= first) : sx_const(e, 0, r->span);
        hi[n] = bound(e, scalar(e, r->hi), n >= first);
        ok = ok && lo[n] && hi[n];
    }
    return ok;
}

static void declare_index(Env *e, Ident id, uint32_t loop)
{
    const Sx *x = sx_new(e, SX_INDEX, id.span, loop, NULL, NULL);
    env_add(e, (Entity){.kind = ENT_SCALAR, .name = id.name, .span = id.span, .sx = x});
}

/* ---- for ---- */

void for_stmt(Env *e, const Stmt *s)
{
    const LoopHead *h = &s->loop.head;
    const Entity *outer = e->scope;
    PBlock *outer_block = e->block;
    Span around = e->around;
    const Sx **lo = arena_array(e->c->scratch, const Sx *, h->nranges),
             **hi = arena_array(e->c->scratch, const Sx *, h->nranges);
    bool ok = ranges(e, h, 1, lo, hi);
    PStmt *p = NULL;
    uint32_t i = 0, nesting = e->nesting;
    e->nesting += h->nindices;
    e->loops += h->nindices;
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
        declare_index(e, id->id, p->id);
    }
    PBlock ignored = {NULL, NULL};
    e->around = s->span;
    if (body) statements(e, &s->loop.body, p ? &p->body : &ignored);
    e->around = around;
    e->nesting = nesting;
    e->loops -= h->nindices;
    env_leave(e, outer);
    e->block = outer_block;
}

/* ---- across grid ---- */

static void no_grid(Env *e, Span at, Span across)
{
    Diag *g = diag_at(e->c->diags, E0703, at,
                      "in a kernel with `across grid` the CTAs have no numbers to compute with");
    diag_label(e->c->diags, g, across, "the iterations are dealt here");
    diag_fix(e->c->diags, g, "use the indices of the pipeline");
}

void grid_use(Env *e, Span at)
{
    if (e->kernel->across_span.hi) no_grid(e, at, e->kernel->across_span);
    else vec_push(e->c->scratch, &e->kernel->grid_uses, at);
}

static void deal_word(Env *e, Ident by, PPipe *p)
{
    static const PDeal deals[] = {DEAL_STATIC, DEAL_TICKET, DEAL_LAUNCH, DEAL_CLC};
    p->deal = DEAL_ANY;
    if (!by.name) return;
    int i = word_find(WORDS_DEAL, name_of(e, by.name));
    if (i < 0) {
        size_t n;
        const char *const *words = word_list(WORDS_DEAL, &n);
        const char *near = spelling_nearest(name_of(e, by.name), words, n);
        Diag *g = diag_at(e->c->diags, E0205, by.span, "`by %s` does not exist", name_of(e, by.name));
        if (near) diag_fix(e->c->diags, g, "by %s", near);
        else diag_fix(e->c->diags, g, "by static, ticket, launch or clc; leave `by` out and the compiler chooses");
        return;
    }
    p->deal = deals[i];
    if (p->deal != DEAL_CLC || target_has(e->c->target, form_info(FORM_CLC_TRY_CANCEL)->feature)) return;
    Diag *g = diag_at(e->c->diags, E0801, by.span, "%s has no clusterlaunchcontrol", e->c->target->name);
    diag_fix(e->c->diags, g, "leave `by` out: the compiler takes the best that the target has");
}

static void across(Env *e, const Stmt *s, PPipe *p)
{
    PKernel *k = e->kernel;
    p->deal_span = s->loop.across_span;
    deal_word(e, s->loop.by, p);
    if (!k->across_span.hi) {
        k->across_span = p->deal_span;
        for (uint32_t i = 0; i < k->grid_uses.n; i++) no_grid(e, k->grid_uses.v[i], p->deal_span);
    }
    if (e->around.hi) {
        Diag *g = diag_at(e->c->diags, E0721, p->deal_span, "`across grid` stands inside another statement");
        diag_label(e->c->diags, g, e->around, "this one");
        diag_fix(e->c->diags, g, "put `across grid` on the outermost pipeline, with all the indices to deal; steps for which the whole GPU waits are launches of their own");
    }
    if (k->grid_span.hi) {
        Diag *g = diag_at(e->c->diags, E0720, p->deal_span, "the compiler chooses the grid of this kernel");
        diag_label(e->c->diags, g, k->grid_span, "but it is given here");
        diag_fix(e->c->diags, g, "leave `grid` out, or `across grid`");
    }
}

/* ---- pipeline ---- */

bool thread_count(Env *e, const Expr *x, int64_t *out)
{
    if (!constant(e, x, INT64_MIN, INT64_MAX, "the number of threads", out)) return false;
    if (whole_warps(*out)) return true;
    Diag *g = diag_at(e->c->diags, E0902, x->span, "%lld threads", (long long)*out);
    diag_fix(e->c->diags, g, "a multiple of %d from %d to %d", WARP_THREADS, WARP_THREADS, CTA_THREADS_MOST);
    *out = WARP_THREADS;
    return false;
}

static void stages(Env *e, const Expr *x, PPipe *p)
{
    enum { STAGES_MAX = 64 };
    p->stages_span = x->span;
    if (!constant(e, x, INT64_MIN, INT64_MAX, "the number of stages", &p->stages)) return;
    if (p->stages >= 1 && p->stages <= STAGES_MAX) return;
    Diag *g = diag_at(e->c->diags, E0908, x->span, "%lld stages; a pipeline has 1 to %d", (long long)p->stages,
                      STAGES_MAX);
    diag_fix(e->c->diags, g, "leave `stages` out: the depth follows from the bytes in flight");
}

/* What is wrong in them is no reason not to look at the body. */
static void options(Env *e, const Stmt *s, PPipe *p)
{
    if (s->loop.stages) stages(e, s->loop.stages, p);
    else if (e->kernel->wish) p->stages = e->kernel->wish->stages;
    if (s->loop.threads) {
        p->threads_span = s->loop.threads->span;
        thread_count(e, s->loop.threads, &p->threads);
    }
    if (e->role && s->loop.threads) {
        Diag *g = diag_at(e->c->diags, E0723, p->threads_span, "a pipeline inside a role has the threads of the role");
        diag_fix(e->c->diags, g, "leave it out here and write `role name threads n`");
    }
    if (s->loop.across) across(e, s, p);
}

static bool indices(Env *e, const LoopHead *h, const Sx **lo, const Sx **hi, PPipe *p)
{
    if (h->nindices <= PIPE_INDICES) {
        p->n = (int)h->nindices;
        int i = 0;
        for (const IdentItem *id = h->indices; id; id = id->next, i++) {
            p->v[i].loop = e->kernel->nloops++;
            p->v[i].name = id->id.name;
            p->v[i].span = id->id.span;
            p->v[i].lo = lo[i];
            p->v[i].hi = hi[i];
            declare_index(e, id->id, p->v[i].loop);
        }
        return true;
    }
    diag_at(e->c->diags, E0318, h->index_span, "%u indices; a pipeline has at most %d", h->nindices, PIPE_INDICES);
    return false;
}

/* One role does what stands in it, in order: there it is a loop of the role. */
static void in_role(Env *e, const Stmt *s)
{
    PPipe *p = arena_new(e->c->scratch, PPipe);
    p->span = s->span;
    options(e, s, p);
    for_stmt(e, s);
}

void pipeline_stmt(Env *e, const Stmt *s)
{
    if (e->role) {
        in_role(e, s);
        return;
    }
    const LoopHead *h = &s->loop.head;
    const Entity *outer = e->scope;
    Span around = e->around;
    const PPipe *outer_pipe = e->pipe;
    uint32_t outer_across = e->across;
    const Sx **lo = arena_array(e->c->scratch, const Sx *, h->nranges),
             **hi = arena_array(e->c->scratch, const Sx *, h->nranges);
    PPipe *p = arena_new(e->c->scratch, PPipe);
    p->span = s->span;
    bool ok = ranges(e, h, 0, lo, hi);
    options(e, s, p);
    if (!ok || !indices(e, h, lo, hi, p)) {
        for (const IdentItem *id = h->indices; id; id = id->next) declare_bad(e, id->id);
        ok = false;
    }
    PBlock ignored = {NULL, NULL};
    PStmt *st = NULL;
    if (ok) {
        st = emit_stmt(e, P_PIPELINE, s->span);
        st->pipe = p;
    }
    e->around = s->span;
    e->pipe = p;
    e->loops++;
    if (s->loop.across) e->across = e->kernel->nloops + 1;
    block(e, &s->loop.body, st ? &st->body : &ignored);
    e->around = around;
    e->pipe = outer_pipe;
    e->loops--;
    e->across = outer_across;
    env_leave(e, outer);
}

/* ---- roles ---- */

static bool roles_place(Env *e, const Stmt *s)
{
    PKernel *k = e->kernel;
    if (k->roles_span.hi) {
        Diag *g = diag_at(e->c->diags, E0722, s->span, "a kernel has `roles` once");
        diag_label(e->c->diags, g, k->roles_span, "first here");
        return false;
    }
    k->roles_span = s->span;
    if (e->around.hi) {
        Diag *g = diag_at(e->c->diags, E0722, s->span, "`roles` stands inside another statement");
        diag_label(e->c->diags, g, e->around, "this one");
        diag_fix(e->c->diags, g, "put the loop or condition into each role");
        return false;
    }
    if (k->threads_span.hi) {
        Diag *g = diag_at(e->c->diags, E0723, k->threads_span, "the roles say how many threads the kernel has");
        diag_label(e->c->diags, g, s->span, "the roles");
        diag_fix(e->c->diags, g, "leave it out here and write `role name threads n`");
        return false;
    }
    return true;
}

static bool role_names(Env *e, const Stmt *s)
{
    bool ok = true;
    uint32_t n = 0;
    for (const Role *r = s->roles; r; r = r->next, n++)
        for (const Role *p = s->roles; p != r; p = p->next) {
            if (!r->name.name || p->name.name != r->name.name) continue;
            Diag *g = diag_at(e->c->diags, E0202, r->name.span, "the role `%s` is already declared",
                              name_of(e, r->name.name));
            diag_label(e->c->diags, g, p->name.span, "first declared here");
            ok = false;
            break;
        }
    if (n <= 16) return ok;
    diag_at(e->c->diags, E0907, s->span, "%u roles; each has a barrier of threads of its own, and a CTA has 16 of them",
            (unsigned)n);
    return false;
}

static void role(Env *e, const Role *r, PStmt *st)
{
    PRole out = {.name = r->name.name, .span = r->span, .threads = 32};
    if (r->threads) thread_count(e, r->threads, &out.threads);
    e->role++;
    block(e, &r->body, &out.body);
    vec_push(e->c->scratch, &st->roles, out);
}

void roles_stmt(Env *e, const Stmt *s)
{
    bool ok = roles_place(e, s);
    ok = role_names(e, s) && ok;
    PStmt ignored = {0}, *st = ok ? emit_stmt(e, P_ROLES, s->span) : &ignored;
    Span around = e->around;
    e->around = s->span;
    for (const Role *r = s->roles; r; r = r->next) role(e, r, st);
    e->role = 0;
    e->around = around;
    int64_t sum = 0;
    for (uint32_t i = 0; i < st->roles.n; i++) sum += st->roles.v[i].threads;
    if (sum > CTA_THREADS_MOST)
        diag_at(e->c->diags, E0902, s->span, "the roles have %lld threads together; a CTA has at most %d",
                (long long)sum, CTA_THREADS_MOST);
    e->kernel->threads = sum;
}

bool roles_alone(Env *e)
{
    if (!e->kernel->roles_span.hi) return true;
    bool ok = true;
    for (const PStmt *s = e->kernel->body.first; s; s = s->next) {
        if (s->kind == P_LET || s->kind == P_VIEW || s->kind == P_VAR || s->kind == P_SET || s->kind == P_ROLES) continue;
        Diag *g = diag_at(e->c->diags, E0722, s->span, "a statement beside `roles` belongs to none of them");
        diag_label(e->c->diags, g, e->kernel->roles_span, "the roles");
        diag_fix(e->c->diags, g, "put it into the role that does it");
        call_notes(e->c, g, s);
        ok = false;
    }
    return ok;
}
