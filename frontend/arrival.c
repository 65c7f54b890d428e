/* Arrival: every read comes after the data has arrived, every overwrite after its readers are done.
 *
 * For copies that the program commits and waits for itself, by straight-line reasoning: where all of a barrier's
 * commits and waits stand at the top level of the kernel, each copy in flight is known by name. Protocols in loops,
 * conditions and roles are the verifier's. Copies without commit need no check here (lower/schedule/written places their
 * arrival and reuse); the verifier proves all of it again on the final IR. Also: definite assignment of tiles, but for kernels
 * whose schedule is derived (lower/schedule/versions).
 */
#include "frontend/check.h"

typedef struct Flight { /* a copy between its commit and the wait that covers it */
    const PMove *move;
    Span span;
    int64_t slot;   /* of the barrier */
    uint32_t group; /* number of the bulk group (stores) */
    bool read;      /* a store whose tile has been read (`wait group read`) */
} Flight;
typedef struct Arrival {
    Env env;
    VEC(Flight) flights;
    Regions *written;          /* per tile: what surely has a value */
    Regions log;               /* the same of all tiles in order, so that a branch can take back what it wrote */
    const PRegion **sometimes; /* per tile: written in a loop or under a condition */
    uint32_t groups;           /* committed so far */
    Protocols p;
    bool derived; /* the schedule */
} Arrival;

/* ---- messages ---- */

static const char *barrier_text(Arrival *a, const PBarrier *b, int64_t slot)
{
    if (!b->is_array) return name_of(&a->env, b->name);
    return arena_printf(a->env.c->arena, "%s[%lld]", name_of(&a->env, b->name), (long long)slot);
}

static void frames(Arrival *a, Diag *g, const PStmt *s)
{
    call_notes(a->env.c, g, s);
}

static void in_flight(Arrival *a, const PStmt *s, ErrorCode code, Span at, const Flight *f, const char *what,
                      const PRegion *r)
{
    Name n = r->tile ? r->tile->name : r->tensor->name;
    bool load = f->move->is_load;
    Diag *g = diag_at(a->env.c->diags, code, at, "`%s` is %s while a copy %s it is in flight", name_of(&a->env, n),
                      what, load == (r->tile != NULL) ? "into" : "out of");
    diag_label(a->env.c->diags, g, f->span, "the copy starts here");
    if (load) diag_fix(a->env.c->diags, g, "`wait %s;` before this", barrier_text(a, f->move->barrier, f->slot));
    else diag_fix(a->env.c->diags, g, "`wait group%s;` before this", r->tile ? " read" : "");
    frames(a, g, s);
}

/* ---- moves ---- */

static void write_region(Arrival *a, const PRegion *r)
{
    vec_push(a->env.c->scratch, &a->written[r->tile->index], r);
    vec_push(a->env.c->scratch, &a->log, r);
}

/* Of a pipeline in a role: written in an iteration, read in another one. */
static Diag *carried(Arrival *a, const PRegion *r)
{
    const Regions *writes = &a->p.writes[r->tile->index];
    if (!r->tile->pipe || a->written[r->tile->index].n || a->sometimes[r->tile->index] || writes->n == 0) return NULL;
    Diag *g = diag_at(a->env.c->diags, E0609, r->span, "`%s` has no value of this iteration here", name_of(&a->env, r->tile->name));
    diag_fix(a->env.c->diags, g, "use `for`, and declare and write it in front of that");
    diag_label(a->env.c->diags, g, writes->v[0]->span, "written here, for this iteration only");
    return g;
}

static Diag *no_value(Arrival *a, const PRegion *r)
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

static void check_value(Arrival *a, const PStmt *s, const PRegion *r)
{
    uint32_t tile = r->tile->index;
    if (a->derived || (a->p.shared[tile] && a->p.writes[tile].n)) return;
    if (covers(&a->written[tile], r)) return;
    Diag *g = carried(a, r);
    if (g == NULL) g = no_value(a, r);
    diag_label(a->env.c->diags, g, r->tile->span, "declared here");
    frames(a, g, s);
}

static void check_read(Arrival *a, const PStmt *s, const PRegion *r)
{
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const Flight *f = &a->flights.v[i];
        if (r->tile && f->move->is_load && !tiles_apart(&f->move->dst, r))
            in_flight(a, s, E0601, r->span, f, "read", r);
        if (r->tensor && !f->move->is_load && !tensors_apart(&f->move->dst, r))
            in_flight(a, s, E0601, r->span, f, "read", r);
    }
    if (r->tile) check_value(a, s, r);
}

static void check_write(Arrival *a, const PStmt *s, const PRegion *r)
{
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const Flight *f = &a->flights.v[i];
        if (r->tile) {
            if (f->move->is_load && !tiles_apart(&f->move->dst, r)) in_flight(a, s, E0602, r->span, f, "written", r);
            if (!f->move->is_load && !f->read && !tiles_apart(&f->move->src, r))
                in_flight(a, s, E0602, r->span, f, "written", r);
        } else {
            const PRegion *g = f->move->is_load ? &f->move->src : &f->move->dst;
            if (!tensors_apart(g, r)) in_flight(a, s, E0602, r->span, f, "written", r);
        }
    }
}

static void fly(Arrival *a, const PStmt *s)
{
    const PMove *m = s->move;
    Flight f = {.move = m, .span = s->span};
    if (m->commit == COMMIT_BARRIER) {
        if (a->p.loose[m->barrier->index]) return;
        /* Copies of one phase are apart, so that their bytes fit the shared memory: far below 2^20, what a phase can count. */
        if (m->barrier_slot) sx_is_const(m->barrier_slot, &f.slot);
    } else if (m->commit == COMMIT_GROUP || m->in_group) {
        if (a->p.groups_loose) return;
        f.group = m->in_group ? a->groups + 1 : ++a->groups;
    } else {
        return;
    }
    vec_push(a->env.c->scratch, &a->flights, f);
}

static void move(Arrival *a, const PStmt *s)
{
    const PMove *m = s->move;
    if (m->kind == MOVE_PREFETCH) return;
    if (m->kind != MOVE_FILL) check_read(a, s, &m->src);
    if (move_by_tensor_core(m) && m->commit == COMMIT_DERIVED && a->env.kernel->roles_span.hi) {
        Diag *g = diag_at(a->env.c->diags, E0557, s->span, "in `roles` nothing says when this is done");
        diag_fix(a->env.c->diags, g, "`commit` a barrier, and `wait` for it");
        frames(a, g, s);
    }
    if (m->reduce >= 0 && m->dst.tile) check_read(a, s, &m->dst);
    check_write(a, s, &m->dst);
    fly(a, s);
    if (m->dst.tile) write_region(a, &m->dst);
}

/* ---- waits ---- */

static void wait(Arrival *a, const PStmt *s)
{
    int64_t slot = 0;
    if (a->p.loose[s->barrier->index]) return;
    if (s->value) sx_is_const(s->value, &slot);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const Flight *f = &a->flights.v[i];
        if (f->move->barrier == s->barrier && f->slot == slot) continue;
        a->flights.v[n++] = *f;
    }
    if (n == a->flights.n) {
        Diag *g = diag_at(a->env.c->diags, E0607, s->span,
                          "nothing is committed to `%s` here: this wait would never end",
                          barrier_text(a, s->barrier, slot));
        diag_label(a->env.c->diags, g, s->barrier->span, "declared here");
        frames(a, g, s);
    }
    a->flights.n = n;
}

static void wait_group(Arrival *a, const PStmt *s)
{
    if (a->p.groups_loose) return;
    uint32_t n = 0;
    bool any = false;
    for (uint32_t i = 0; i < a->flights.n; i++) {
        Flight f = a->flights.v[i];
        bool done = !f.move->barrier && f.group + (uint32_t)s->n <= a->groups;
        any = any || !f.move->barrier;
        if (done && s->read) f.read = true;
        if (!done || s->read) a->flights.v[n++] = f;
    }
    a->flights.n = n;
    if (any) return;
    Diag *g = diag_at(a->env.c->diags, E0614, s->span, "no bulk group is pending here");
    diag_fix(a->env.c->diags, g, "remove it, or `commit group` the stores before it");
    frames(a, g, s);
}

/* ---- blocks ---- */

static void walk(Arrival *a, const PBlock *b);

/* Takes back what was written since `from`. */
static Regions take_back(Arrival *a, uint32_t from)
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
static void branches(Arrival *a, const PStmt *s)
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

static void roles(Arrival *a, const PStmt *s)
{
    for (uint32_t i = 0; i < s->roles.n; i++) {
        uint32_t before = a->log.n;
        walk(a, &s->roles.v[i].body);
        take_back(a, before);
    }
}

static void walk(Arrival *a, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        switch (s->kind) {
        case P_MOVE: move(a, s); break;
        case P_WAIT: wait(a, s); break;
        case P_WAIT_GROUP: wait_group(a, s); break;
        case P_GROUP:
            walk(a, &s->body);
            a->groups++;
            break;
        case P_PIPELINE:
        case P_FOR:
        case P_IF: branches(a, s); break;
        case P_ROLES: roles(a, s); break;
        case P_LET:
        case P_VIEW:
        case P_VAR:
        case P_SET:
        case P_ARRIVE:
        case P_EXPECT: break;
        }
    }
}

void check_arrival(Compilation *c, const PKernel *k)
{
    Arrival a = {.env = {.c = c, .kernel = (PKernel *)(uintptr_t)k}};
    a.written = arena_array(c->scratch, Regions, k->tiles.n);
    a.sometimes = arena_array(c->scratch, const PRegion *, k->tiles.n);
    a.derived = derived_wanted(k) != NULL;
    check_protocols(c, k, &a.p);
    walk(&a, &k->body);
    for (uint32_t i = 0; i < a.flights.n; i++) {
        const Flight *f = &a.flights.v[i];
        if (!f->move->barrier) continue; /* the end of the kernel waits for stores */
        Diag *g = diag_at(c->diags, E0626, f->span, "the kernel ends while this copy is in flight");
        diag_fix(c->diags, g, "`wait %s;` after it", barrier_text(&a, f->move->barrier, f->slot));
    }
}
