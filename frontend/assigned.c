/* Definite assignment: every read of a tile comes after something has written it. Of derived schedules lower/schedule/versions tells.
 * That what was written has arrived, and may be written again, the verifier proves on the final IR. */
#include "frontend/check.h"

typedef struct Assigned {
    Env env;
    Regions *written;          /* per tile: what surely has a value */
    Regions log;               /* the same of all tiles in order, so that a branch can take back what it wrote */
    const PRegion **sometimes; /* per tile: written in a loop or under a condition */
    Protocols p;
    bool derived; /* the schedule */
} Assigned;

/* ---- moves ---- */

static void write_region(Assigned *a, const PRegion *r)
{
    vec_push(a->env.c->scratch, &a->written[r->tile->index], r);
    vec_push(a->env.c->scratch, &a->log, r);
}

/* Of a pipeline in a role: written in an iteration, read in another one. */
static Diag *carried(Assigned *a, const PRegion *r)
{
    const Regions *writes = &a->p.writes[r->tile->index];
    if (!r->tile->pipe || a->written[r->tile->index].n || a->sometimes[r->tile->index] || writes->n == 0) return NULL;
    Diag *g = diag_at(a->env.c->diags, E0609, r->span, "`%s` has no value of this iteration here", name_of(&a->env, r->tile->name));
    diag_fix(a->env.c->diags, g, "use `for`, and declare and write it in front of that");
    diag_label(a->env.c->diags, g, writes->v[0]->span, "written here, for this iteration only");
    return g;
}

static Diag *no_value(Assigned *a, const PRegion *r)
{
    uint32_t tile = r->tile->index;
    const Regions *written = &a->written[tile];
    const char *name = name_of(&a->env, r->tile->name);
    Diag *g = diag_at(a->env.c->diags, E0610, r->span,
                      written->n ? "a part of `%s` has no value here" : "`%s` has no value here", name);
    if (written->n) diag_label(a->env.c->diags, g, written->v[0]->span, "this part is written");
    if (a->sometimes[tile] && !written->n)
        diag_label(a->env.c->diags, g, a->sometimes[tile]->span,
                   "written here, but only in a loop or under a condition");
    if (r->tile->tensor && written->n) /* it has no `fill` */
        diag_fix(a->env.c->diags, g, "write the rest before, or read only what is written");
    else if (r->tile->tensor)
        diag_fix(a->env.c->diags, g, "move something into it before, on every way that leads here");
    else if (written->n)
        diag_fix(a->env.c->diags, g, "write the rest before, by a move or by `fill`, or read only what is written");
    else if (a->sometimes[tile])
        diag_fix(a->env.c->diags, g, "read it in there, too, or write it before as it is written there");
    else diag_fix(a->env.c->diags, g, "move something into it before, or `fill %s = 0;`", name);
    return g;
}

static void check_value(Assigned *a, const PStmt *s, const PRegion *r)
{
    uint32_t tile = r->tile->index;
    if (a->derived || (a->p.shared[tile] && a->p.writes[tile].n)) return;
    if (covers(&a->written[tile], r)) return;
    Diag *g = carried(a, r);
    if (g == NULL) g = no_value(a, r);
    diag_label(a->env.c->diags, g, r->tile->span, "declared here");
    call_notes(a->env.c, g, s);
}

static void move(Assigned *a, const PStmt *s)
{
    const PMove *m = s->move;
    if (m->kind == MOVE_PREFETCH) return;
    if (m->kind != MOVE_FILL && m->src.tile) check_value(a, s, &m->src);
    if (move_by_tensor_core(m) && m->commit == COMMIT_DERIVED && a->env.kernel->roles_span.hi) {
        Diag *g = diag_at(a->env.c->diags, E0557, s->span, "in `roles` nothing says when this is done");
        diag_fix(a->env.c->diags, g, "`commit` a barrier, and `wait` for it");
        call_notes(a->env.c, g, s);
    }
    if (m->reduce >= 0 && m->dst.tile) check_value(a, s, &m->dst);
    if (m->dst.tile) write_region(a, &m->dst);
}

/* ---- blocks ---- */

static void walk(Assigned *a, const PBlock *b);

/* Takes back what was written since `from`. */
static Regions take_back(Assigned *a, uint32_t from)
{
    Regions r = {NULL, 0, 0};
    for (uint32_t i = from; i < a->log.n; i++) {
        vec_push(a->env.c->scratch, &r, a->log.v[i]);
        a->written[a->log.v[i]->tile->index].n--;
        a->sometimes[a->log.v[i]->tile->index] = a->log.v[i];
    }
    a->log.n = from;
    return r;
}

/* What a branch or body wrote counts after it only where the other way wrote it too. */
static void branches(Assigned *a, const PStmt *s)
{
    uint32_t before = a->log.n;
    walk(a, &s->body);
    Regions then = take_back(a, before), other = {NULL, 0, 0};
    if (s->kind == P_IF && s->has_else) {
        walk(a, &s->other);
        other = take_back(a, before);
    }
    for (uint32_t i = 0; i < then.n; i++)
        if (covers(&other, then.v[i])) write_region(a, then.v[i]);
    for (uint32_t i = 0; i < other.n; i++)
        if (covers(&then, other.v[i])) write_region(a, other.v[i]);
}

static void roles(Assigned *a, const PStmt *s)
{
    for (uint32_t i = 0; i < s->roles.n; i++) {
        uint32_t before = a->log.n;
        walk(a, &s->roles.v[i].body);
        take_back(a, before);
    }
}

static void walk(Assigned *a, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        switch (s->kind) {
        case P_MOVE: move(a, s); break;
        case P_GROUP: walk(a, &s->body); break;
        case P_PIPELINE:
        case P_FOR:
        case P_IF: branches(a, s); break;
        case P_ROLES: roles(a, s); break;
        case P_LET:
        case P_VIEW:
        case P_VAR:
        case P_SET:
        case P_ARRIVE:
        case P_EXPECT:
        case P_WAIT:
        case P_WAIT_GROUP: break;
        }
    }
}

void check_assigned(Compilation *c, const PKernel *k)
{
    Assigned a = {.env = {.c = c, .kernel = (PKernel *)(uintptr_t)k}};
    a.written = arena_array(c->scratch, Regions, k->tiles.n);
    a.sometimes = arena_array(c->scratch, const PRegion *, k->tiles.n);
    a.derived = derived_wanted(k) != NULL;
    check_protocols(c, k, &a.p);
    walk(&a, &k->body);
}
