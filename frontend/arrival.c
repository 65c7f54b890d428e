/* Arrival: every read comes after the data has arrived, every overwrite after its readers are done.
 *
 * For copies that the program commits and waits for itself, by straight-line reasoning: at the top level of the
 * kernel each copy in flight is known by name. Copies without commit need no check here (lower/sync places their
 * arrival and reuse); the verifier proves all of it again on the final IR. Also: definite assignment of tiles.
 */
#include <string.h>

#include "frontend/check.h"

typedef struct Flight { /* a copy between its commit and the wait that covers it */
    const PMove *move;
    Span span;
    int64_t slot;   /* of the barrier */
    uint32_t group; /* number of the bulk group (stores) */
    bool read;      /* a store whose tile has been read (`wait group read`) */
} Flight;
typedef VEC(const PRegion *) Regions; /* of one tile, or of several */
typedef struct Arrival {
    Env env;
    VEC(Flight) flights;
    Regions *written; /* per tile: what surely has a value */
    Regions log;      /* the same of all tiles in order, so that a branch can take back what it wrote */
    const PRegion **sometimes; /* per tile: written in a loop or under a condition */
    uint32_t groups;  /* committed so far */
    int nested;       /* depth of loops and conditions */
    bool lost;        /* something could not be followed: what comes after it is not reported */
} Arrival;

/* ---- differences of scalars ---- */

typedef struct Linear {
    const Sx *atom[16];
    int64_t coef[16];
    int n;
    int64_t k;
    int steps; /* graphs share nodes: as a tree one may be too large */
    bool bad;
} Linear;

static void linear_add(Linear *l, const Sx *x, int64_t c)
{
    int64_t k;
    if (l->bad || ++l->steps > 256) l->bad = true;
    if (l->bad) return;
    if (x->op == SX_LET) {
        linear_add(l, x->a, c);
    } else if (x->op == SX_CONST) {
        l->bad = __builtin_mul_overflow(x->k, c, &k) || __builtin_add_overflow(l->k, k, &l->k);
    } else if (c == INT64_MIN) {
        l->bad = true;
    } else if (x->op == SX_ADD || x->op == SX_SUB) {
        linear_add(l, x->a, c);
        linear_add(l, x->b, x->op == SX_ADD ? c : -c);
    } else if (x->op == SX_MUL && (sx_is_const(x->a, &k) || sx_is_const(x->b, &k))) {
        const Sx *other = sx_is_const(x->a, NULL) ? x->b : x->a;
        if (__builtin_mul_overflow(k, c, &k)) l->bad = true;
        else linear_add(l, other, k);
    } else {
        for (int i = 0; i < l->n; i++)
            if (sx_same(l->atom[i], x)) {
                l->bad = __builtin_add_overflow(l->coef[i], c, &l->coef[i]);
                return;
            }
        if (l->n == 16) {
            l->bad = true;
            return;
        }
        l->atom[l->n] = x;
        l->coef[l->n++] = c;
    }
}

/* b - a, where that is a constant. */
static bool difference(const Sx *a, const Sx *b, int64_t *k)
{
    Linear l = {.n = 0};
    linear_add(&l, b, 1);
    linear_add(&l, a, -1);
    for (int i = 0; i < l.n; i++)
        if (l.coef[i] != 0) return false;
    *k = l.k;
    return !l.bad;
}

/* ---- regions ---- */

/* Of one tensor or tile: some dimension keeps them apart. */
static bool starts_apart(const PRegion *a, const PRegion *b)
{
    int64_t k;
    for (int d = 0; d < a->rank; d++) /* extents and steps are below 2^24 */
        if (difference(a->dim[d].start, b->dim[d].start, &k) &&
            (k >= a->dim[d].extent * a->dim[d].step || k <= -(b->dim[d].extent * b->dim[d].step)))
            return true;
    return false;
}

static bool apart(const PRegion *a, const PRegion *b)
{
    int64_t k;
    if (a->tile != b->tile) return true;
    if (a->slot && b->slot && difference(a->slot, b->slot, &k) && k != 0) return true;
    return starts_apart(a, b);
}

static const PTensor *base_of(const PTensor *t) { return t->base ? t->base : t; }

/* Global regions: apart only when of different parameters, or of one tensor and provably so. */
static bool global_apart(const PRegion *a, const PRegion *b)
{
    if (base_of(a->tensor) != base_of(b->tensor)) return true;
    return a->tensor == b->tensor && starts_apart(a, b);
}

typedef struct Cells {
    int rank;
    int64_t slot, lo[P_RANK], hi[P_RANK];
} Cells;

static bool cells_of(const PRegion *r, Cells *c)
{
    c->rank = r->rank;
    c->slot = 0;
    if (r->slot && !sx_is_const(r->slot, &c->slot)) return false;
    for (int d = 0; d < r->rank; d++) {
        if (!sx_is_const(r->dim[d].start, &c->lo[d])) return false;
        c->hi[d] = c->lo[d] + r->dim[d].extent;
    }
    return true;
}

/* Is every cell of c in one of written[from ..]? Cuts c around the first region that meets it. */
static bool covered(const Regions *written, const PTile *tile, uint32_t from, Cells c, int *fuel)
{
    if (--*fuel < 0) return false;
    for (uint32_t i = from; i < written->n; i++) {
        Cells w;
        if (written->v[i]->tile != tile || !cells_of(written->v[i], &w) || w.slot != c.slot) continue;
        bool meets = true;
        for (int d = 0; d < c.rank; d++) meets = meets && w.lo[d] < c.hi[d] && c.lo[d] < w.hi[d];
        if (!meets) continue;
        for (int d = 0; d < c.rank; d++) {
            Cells part = c;
            if (c.lo[d] < w.lo[d]) {
                part.hi[d] = w.lo[d];
                if (!covered(written, tile, i + 1, part, fuel)) return false;
                c.lo[d] = w.lo[d];
            }
            part = c;
            if (w.hi[d] < c.hi[d]) {
                part.lo[d] = w.hi[d];
                if (!covered(written, tile, i + 1, part, fuel)) return false;
                c.hi[d] = w.hi[d];
            }
        }
        return true;
    }
    return false;
}

static bool has_value(const Regions *written, const PRegion *r)
{
    int64_t k;
    for (uint32_t i = 0; i < written->n; i++) { /* the same run-time place */
        const PRegion *w = written->v[i];
        bool in = w->tile == r->tile && !r->slot == !w->slot && (!r->slot || (difference(r->slot, w->slot, &k) && k == 0));
        for (int d = 0; in && d < r->rank; d++)
            in = difference(w->dim[d].start, r->dim[d].start, &k) && k >= 0 && k + r->dim[d].extent <= w->dim[d].extent;
        if (in) return true;
    }
    Cells c = {.rank = r->rank};
    int64_t first = 0, last = r->slot ? r->tile->slots - 1 : 0;
    if (r->slot && sx_is_const(r->slot, &k)) first = last = k;
    for (int d = 0; d < r->rank; d++) { /* a start known only at run time may be anywhere in its dimension */
        bool known = sx_is_const(r->dim[d].start, &c.lo[d]);
        if (!known) c.lo[d] = 0;
        c.hi[d] = known ? c.lo[d] + r->dim[d].extent : r->tile->extent[d];
    }
    int fuel = 4096;
    for (c.slot = first; c.slot <= last; c.slot++)
        if (!covered(written, r->tile, 0, c, &fuel)) return false;
    return true;
}

/* ---- messages ---- */

static const char *barrier_text(Arrival *a, const PBarrier *b, int64_t slot)
{
    if (!b->is_array) return name_of(&a->env, b->name);
    return arena_printf(a->env.c->arena, "%s[%lld]", name_of(&a->env, b->name), (long long)slot);
}

static void frames(Arrival *a, Diag *g, const PStmt *s)
{
    for (const CallFrame *f = s->frame; f; f = f->outer)
        diag_note(a->env.c->diags, g, f->call, "in `%s`, called here", name_of(&a->env, f->fn));
}

static void in_flight(Arrival *a, const PStmt *s, ErrorCode code, Span at, const Flight *f, const char *what,
                      const PRegion *r)
{
    if (a->lost) return;
    Name n = r->tile ? r->tile->name : r->tensor->name;
    bool load = f->move->is_load;
    Diag *g = diag_at(a->env.c->diags, code, at, "`%s` is %s while a copy %s it is in flight", name_of(&a->env, n), what,
                      load == (r->tile != NULL) ? "into" : "out of");
    diag_label(a->env.c->diags, g, f->span, "the copy starts here");
    if (load) diag_fix(a->env.c->diags, g, "`wait %s;` before this", barrier_text(a, f->move->barrier, f->slot));
    else diag_fix(a->env.c->diags, g, "`wait group%s;` before this", r->tile ? " read" : "");
    frames(a, g, s);
}

static bool straight(Arrival *a, const PStmt *s, Span at, const char *what)
{
    if (!a->nested) return true;
    a->lost = true;
    Diag *g = diag_at(a->env.c->diags, E1002, at, "%s in a loop or under a condition: not supported yet", what);
    diag_fix(a->env.c->diags, g, "leave commit and wait out: the compiler derives them");
    frames(a, g, s);
    return false;
}

static void picked(Arrival *a, const PStmt *s, Span at)
{
    a->lost = true;
    frames(a, diag_at(a->env.c->diags, E1002, at, "a barrier picked at run time: not supported yet"), s);
}

/* ---- moves ---- */

static void write_region(Arrival *a, const PRegion *r)
{
    vec_push(a->env.c->scratch, &a->written[r->tile->index], r);
    vec_push(a->env.c->scratch, &a->log, r);
}

static void check_read(Arrival *a, const PStmt *s, const PRegion *r)
{
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const Flight *f = &a->flights.v[i];
        if (r->tile && f->move->is_load && !apart(&f->move->dst, r)) in_flight(a, s, E0601, r->span, f, "read", r);
        if (r->tensor && !f->move->is_load && !global_apart(&f->move->dst, r)) in_flight(a, s, E0601, r->span, f, "read", r);
    }
    if (!r->tile || a->lost || has_value(&a->written[r->tile->index], r)) return;
    bool any = a->written[r->tile->index].n != 0;
    Diag *g = diag_at(a->env.c->diags, E0610, r->span, any ? "a part of `%s` has no value here" : "`%s` has no value here",
                      name_of(&a->env, r->tile->name));
    if (any) diag_label(a->env.c->diags, g, a->written[r->tile->index].v[0]->span, "this part is written");
    const PRegion *sometimes = a->sometimes[r->tile->index];
    if (sometimes && !any)
        diag_label(a->env.c->diags, g, sometimes->span, "written here, but only in a loop or under a condition");
    diag_label(a->env.c->diags, g, r->tile->span, "declared here");
    frames(a, g, s);
}

static void check_write(Arrival *a, const PStmt *s, const PRegion *r)
{
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const Flight *f = &a->flights.v[i];
        if (r->tile) {
            if (f->move->is_load && !apart(&f->move->dst, r)) in_flight(a, s, E0602, r->span, f, "written", r);
            if (!f->move->is_load && !f->read && !apart(&f->move->src, r)) in_flight(a, s, E0602, r->span, f, "written", r);
        } else {
            const PRegion *g = f->move->is_load ? &f->move->src : &f->move->dst;
            if (!global_apart(g, r)) in_flight(a, s, E0602, r->span, f, "written", r);
        }
    }
}

static void commit_barrier(Arrival *a, const PStmt *s, const PMove *m)
{
    Flight f = {.move = m, .span = s->span};
    if (!straight(a, s, m->commit_span, "a commit")) return;
    if (m->barrier_slot && !sx_is_const(m->barrier_slot, &f.slot)) {
        picked(a, s, m->commit_span);
        return;
    }
    /* Copies of one phase are apart, so that their bytes fit the shared memory: far below 2^20, what a phase can count. */
    vec_push(a->env.c->scratch, &a->flights, f);
}

static void move(Arrival *a, const PStmt *s)
{
    const PMove *m = s->move;
    check_read(a, s, &m->src);
    check_write(a, s, &m->dst);
    if (m->commit == COMMIT_BARRIER) {
        commit_barrier(a, s, m);
    } else if (m->commit == COMMIT_GROUP || m->in_group) {
        if (straight(a, s, m->in_group ? s->span : m->commit_span, m->in_group ? "`group { }`" : "a commit")) {
            if (!m->in_group) a->groups++;
            vec_push(a->env.c->scratch, &a->flights,
                     ((Flight){.move = m, .span = s->span, .group = m->in_group ? a->groups + 1 : a->groups}));
        }
    }
    if (m->is_load) write_region(a, &m->dst);
}

/* ---- waits ---- */

static void wait(Arrival *a, const PStmt *s)
{
    int64_t slot = 0;
    if (!straight(a, s, s->span, "a wait")) return;
    if (s->value && !sx_is_const(s->value, &slot)) {
        picked(a, s, s->span);
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const Flight *f = &a->flights.v[i];
        if (f->move->is_load && f->move->barrier == s->barrier && f->slot == slot) continue;
        a->flights.v[n++] = *f;
    }
    if (n == a->flights.n && !a->lost) {
        Diag *g = diag_at(a->env.c->diags, E0607, s->span, "nothing is committed to `%s` here: this wait would never end",
                          barrier_text(a, s->barrier, slot));
        diag_label(a->env.c->diags, g, s->barrier->span, "declared here");
        frames(a, g, s);
    }
    a->flights.n = n;
}

static void wait_group(Arrival *a, const PStmt *s)
{
    if (!straight(a, s, s->span, "`wait group`")) return;
    uint32_t n = 0;
    bool any = false;
    for (uint32_t i = 0; i < a->flights.n; i++) {
        Flight f = a->flights.v[i];
        bool done = !f.move->is_load && f.group + (uint32_t)s->n <= a->groups;
        any = any || !f.move->is_load;
        if (done && s->read) f.read = true;
        if (!done || s->read) a->flights.v[n++] = f;
    }
    a->flights.n = n;
    if (any || a->lost) return;
    Diag *g = diag_at(a->env.c->diags, E0614, s->span, "no bulk group is pending here");
    diag_fix(a->env.c->diags, g, "remove it, or `commit group` the stores before it");
    frames(a, g, s);
}

/* ---- blocks ---- */

static void block(Arrival *a, const PBlock *b);

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
    a->nested++;
    block(a, &s->body);
    Regions then = take_back(a, before), other = {NULL, 0, 0};
    if (s->kind == P_IF && s->has_else) {
        block(a, &s->other);
        other = take_back(a, before);
    }
    a->nested--;
    for (uint32_t i = 0; i < then.n; i++)
        if (has_value(&other, then.v[i])) write_region(a, then.v[i]);
    for (uint32_t i = 0; i < other.n; i++)
        if (has_value(&then, other.v[i])) write_region(a, other.v[i]);
}

static void block(Arrival *a, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        switch (s->kind) {
        case P_MOVE: move(a, s); break;
        case P_WAIT: wait(a, s); break;
        case P_WAIT_GROUP: wait_group(a, s); break;
        case P_GROUP:
            block(a, &s->body);
            a->groups++;
            break;
        case P_FOR: case P_IF: branches(a, s); break;
        case P_LET: case P_VAR: case P_SET: case P_PIPELINE: case P_ROLES: case P_ARRIVE: case P_EXPECT: break;
        }
    }
}

void check_arrival(Compilation *c, const PKernel *k)
{
    Arrival a = {.env = {.c = c, .kernel = (PKernel *)(uintptr_t)k}};
    a.written = arena_array(c->scratch, Regions, k->tiles.n);
    a.sometimes = arena_array(c->scratch, const PRegion *, k->tiles.n);
    block(&a, &k->body);
    for (uint32_t i = 0; i < a.flights.n; i++) {
        const Flight *f = &a.flights.v[i];
        if (!f->move->is_load || a.lost) continue; /* the end of the kernel waits for stores */
        Diag *g = diag_at(c->diags, E0626, f->span, "the kernel ends while this copy is in flight");
        diag_fix(c->diags, g, "`wait %s;` after it", barrier_text(&a, f->move->barrier, f->slot));
    }
}
