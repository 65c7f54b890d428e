/* Barriers and bulk groups of a whole kernel: what is wrong wherever they stand. The rest is the verifier's, on the final IR. */
#include "frontend/check/check.h"

enum { PAIRS_MAX = 1 << 16 }; /* of arrivals and waits, beyond which conditions are left to the verifier alone */
typedef struct Under {        /* an `if` around a statement */
    const PStmt *branch;
    bool other; /* its else */
    const struct Under *outer;
} Under;
typedef struct Use {
    const PStmt *stmt;
    const Under *under;
} Use;
typedef VEC(Use) Uses;
typedef struct GroupWait {
    const PStmt *stmt;
    uint32_t role;
} GroupWait;
typedef struct Walk {
    Compilation *c;
    const PKernel *k;
    Uses *arrivals, *waits; /* per barrier: what completes a phase, and who waits for it */
    VEC(GroupWait) group_waits;
    uint32_t groups; /* the roles that commit bulk groups */
    const Under *under;
    uint32_t role;
} Walk;

/* ---- what there is ---- */

static void use(Walk *w, const PBarrier *b, const PStmt *s, bool waits)
{
    Use u = {s, w->under};
    if (waits) vec_push(w->c->scratch, &w->waits[b->index], u);
    else vec_push(w->c->scratch, &w->arrivals[b->index], u);
}

static void move(Walk *w, const PStmt *s)
{
    const PMove *m = s->move;
    if (move_by_tensor_core(m) && m->commit == COMMIT_DERIVED && w->k->roles_span.hi) {
        Diag *g = diag_at(w->c->diags, E0557, s->span, "in `roles` nothing says when this is done");
        diag_fix(w->c->diags, g, "`commit` a barrier, and `wait` for it");
        call_notes(w->c, g, s);
    }
    if (m->barrier) use(w, m->barrier, s, false);
    if (m->commit == COMMIT_GROUP || m->in_group) w->groups |= 1u << w->role;
}

static void walk(Walk *w, const PBlock *b);

static void branch(Walk *w, const PStmt *s)
{
    Under *u = arena_new(w->c->scratch, Under), *v = arena_new(w->c->scratch, Under);
    const Under *outer = w->under;
    *u = (Under){s, false, outer};
    *v = (Under){s, true, outer};
    w->under = u;
    walk(w, &s->body);
    w->under = v;
    walk(w, &s->other);
    w->under = outer;
}

static void statement(Walk *w, const PStmt *s)
{
    uint32_t role = w->role;
    switch (s->kind) {
    case P_MOVE: move(w, s); return;
    case P_WAIT: use(w, s->barrier, s, true); return;
    case P_ARRIVE: use(w, s->barrier, s, false); return;
    case P_WAIT_GROUP:
        vec_push(w->c->scratch, &w->group_waits, ((GroupWait){s, w->role}));
        return;
    case P_GROUP: walk(w, &s->body); return;
    case P_LET:
    case P_VIEW:
    case P_VAR:
    case P_SET:
    case P_EXPECT: return;
    case P_IF:
    case P_FOR:
    case P_PIPELINE:
    case P_ROLES: break;
    }
    if (s->kind == P_IF) branch(w, s);
    else walk(w, &s->body);
    for (uint32_t i = 0; i < s->roles.n; i++) {
        w->role = i + 1;
        walk(w, &s->roles.v[i].body);
    }
    w->role = role;
}

static void walk(Walk *w, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) statement(w, s);
}

/* ---- messages ---- */

static const char *barrier_name(Walk *w, const PBarrier *b)
{
    return names_text(w->c->names, b->name);
}

static void nobody_arrives(Walk *w, const PBarrier *b)
{
    const PStmt *s = w->waits[b->index].v[0].stmt;
    Diag *g = diag_at(w->c->diags, E0607, s->span,
                      "nothing commits to `%s` or arrives at it: this wait would never end", barrier_name(w, b));
    diag_label(w->c->diags, g, b->span, "declared here");
    const char *name = barrier_name(w, b);
    if (b->is_array) name = arena_printf(w->c->arena, "%s[..]", name);
    diag_fix(w->c->diags, g, "`commit %s` on the moves that this is to wait for, or `arrive %s;` where that is done", name, name);
    call_notes(w->c, g, s);
}

/* ---- conditions ---- */

/* Of indices, variables and the rank: in which turns and CTAs it holds is the verifier's to see. */
static bool varies(const Sx *x, int *fuel)
{
    if (!x) return false;
    if (--*fuel < 0) return true;
    if (x->op == SX_INDEX || x->op == SX_VAR || x->op == SX_LOAD || x->op == SX_RANK || x->op == SX_CLUSTER)
        return true;
    return varies(x->a, fuel) || varies(x->b, fuel);
}

static bool same_condition(const Under *a, const Under *b)
{
    return a->other == b->other && (a->branch == b->branch || sx_same(a->branch->value, b->branch->value));
}

static bool stands_under(const Under *around, const Under *condition)
{
    for (; around; around = around->outer)
        if (same_condition(around, condition)) return true;
    return false;
}

static bool known(const Under *u)
{
    int fuel = 256;
    return !varies(u->branch->value, &fuel);
}

static bool both_ways(const Uses *l, const Under *u)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (const Under *v = l->v[i].under; v; v = v->outer)
            if (v->branch == u->branch && v->other != u->other) return true;
    return false;
}

static bool any_under(const Uses *l, const Under *u)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (stands_under(l->v[i].under, u)) return true;
    return false;
}

static bool all_under(const Uses *l, const Under *u)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (!stands_under(l->v[i].under, u)) return false;
    return true;
}

static void one_sided(Walk *w, const PBarrier *b, const Under *u, const PStmt *wait, bool of_wait)
{
    const PStmt *arrival = w->arrivals[b->index].v[0].stmt;
    Diag *g = diag_at(w->c->diags, E0608, wait->span,
                      of_wait ? "this wait depends on a condition, what completes `%s` does not"
                              : "what completes `%s` depends on a condition, this wait does not",
                      barrier_name(w, b));
    diag_label(w->c->diags, g, u->branch->span, "the condition");
    diag_label(w->c->diags, g, arrival->span, arrival->kind == P_ARRIVE ? "the arrival" : "the commit");
    diag_fix(w->c->diags, g, "put both under the condition, or neither");
    call_notes(w->c, g, wait);
}

/* A condition that a wait has and no commit, or all commits and not the wait. */
static void lone_condition(Walk *w, const PBarrier *b, const Use *wait)
{
    const Uses *arrivals = &w->arrivals[b->index];
    for (const Under *u = wait->under; u; u = u->outer)
        if (known(u) && !both_ways(&w->waits[b->index], u) && !any_under(arrivals, u)) {
            one_sided(w, b, u, wait->stmt, true);
            return;
        }
    for (const Under *u = arrivals->v[0].under; u; u = u->outer)
        if (known(u) && all_under(arrivals, u) && !stands_under(wait->under, u)) {
            one_sided(w, b, u, wait->stmt, false);
            return;
        }
}

/* ---- slots ---- */

/* Of the numbers of a ring only constants, indices and the rank are known to the verifier. */
static bool countable(const Sx *x, int *fuel)
{
    if (!x) return true;
    if (--*fuel < 0) return false;
    switch ((SxOp)x->op) {
    case SX_CTA:
    case SX_LOAD:
    case SX_SYM: return false;
    default: return countable(x->a, fuel) && countable(x->b, fuel);
    }
}

/* Loops whose indices it is made of: 0, 1, or 2 for more. */
static int loops_in(const Sx *x, int64_t *loop, int *fuel)
{
    if (!x || --*fuel < 0) return 0;
    if (x->op == SX_INDEX && *loop < 0) *loop = x->k;
    if (x->op == SX_INDEX) return x->k == *loop ? 1 : 2;
    int a = loops_in(x->a, loop, fuel), b = loops_in(x->b, loop, fuel);
    return a > b ? a : b;
}

static bool slot_form(Walk *w, const PBarrier *b, const PStmt *s)
{
    int fuel = 256;
    int64_t loop = -1;
    const Sx *slot = s->kind == P_MOVE ? s->move->barrier_slot : s->value;
    if (countable(slot, &fuel)) return true;
    fuel = 256;
    Span at = s->kind == P_MOVE ? s->move->commit_span : s->span;
    Diag *g = diag_at(w->c->diags, E0616, at, "which barrier of `%s` this is depends on the launch, the CTA or data",
                      barrier_name(w, b));
    if (loops_in(slot, &loop, &fuel) == 2)
        diag_fix(w->c->diags, g, "one loop in the place of two, `for k in a * b { .. }` with k / b and k %% b in it, and %s[k %% %lld]",
                 barrier_name(w, b), (long long)b->slots);
    else
        diag_fix(w->c->diags, g, "%s[(k + c) %% %lld] with the index k of a loop, or a constant", barrier_name(w, b),
                 (long long)b->slots);
    call_notes(w->c, g, s);
    return false;
}

static void check_barrier(Walk *w, const PBarrier *b)
{
    const Uses *arrivals = &w->arrivals[b->index], *waits = &w->waits[b->index];
    bool ok = true;
    for (uint32_t j = 0; j < arrivals->n; j++) ok = slot_form(w, b, arrivals->v[j].stmt) && ok;
    for (uint32_t j = 0; j < waits->n; j++) ok = slot_form(w, b, waits->v[j].stmt) && ok;
    if (!ok || waits->n == 0 || b->is_free) return;
    if (arrivals->n == 0) nobody_arrives(w, b);
    if ((uint64_t)arrivals->n * waits->n > PAIRS_MAX) return;
    for (uint32_t j = 0; arrivals->n && j < waits->n; j++) lone_condition(w, b, &waits->v[j]);
}

static void no_group(Walk *w, const PStmt *s)
{
    Diag *g = diag_at(w->c->diags, E0614, s->span,
                      w->k->roles_span.hi ? "this role commits no bulk group" : "no bulk group is committed");
    diag_fix(w->c->diags, g, "remove it, or `commit group` the stores before it");
    call_notes(w->c, g, s);
}

void check_protocols(Compilation *c, const PKernel *k)
{
    Walk w = {.c = c, .k = k};
    w.arrivals = arena_array(c->scratch, Uses, k->barriers.n);
    w.waits = arena_array(c->scratch, Uses, k->barriers.n);
    walk(&w, &k->body);
    for (uint32_t i = 0; i < k->barriers.n; i++) check_barrier(&w, k->barriers.v[i]);
    for (uint32_t i = 0; i < w.group_waits.n; i++)
        if (!(w.groups & 1u << w.group_waits.v[i].role)) no_group(&w, w.group_waits.v[i].stmt);
}
