/* What variables are between, at points of the program: where a turn of a loop begins, and behind loops and conditions that assign them. The
 * program is walked forwards. A condition that compares a variable narrows it in its branches, joins are hulls; a loop is walked until its
 * turns add nothing to what they began with. What grows there and does not settle soon goes to the next number that it is compared with, then
 * to what variables.c knows. `s = s + 1; if s == S { s = 0; }` so stays below S. */
#include "lower/algebra/scalars/scalars.h"

enum { EXACTLY = 3, GROWS = 16, LIMITS = 64, FAR = INT32_MAX }; /* turns that are taken as they are; steps before anything goes; numbers compared with */

typedef struct Was { /* before a change, of a variable or of what reads it */
    Interval *of, x;
} Was;

typedef struct Flow {
    Lower *L;
    VarState *vars;
    Interval *whole, *met; /* by variable: all that it ever holds, by variables.c and by what was met here */
    VEC(Was) was;
    VEC(int64_t) limits;
} Flow;

static void add_points(Lower *L, Points *all, const PBlock *b, bool first)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        uint32_t i = s->kind == P_SET ? 0 : all->n;
        while (i < all->n && all->v[i].var != s->id) i++;
        if (s->kind == P_SET && i == all->n) vec_push(L->a, all, ((Point){.var = s->id, .first = first}));
        add_points(L, all, &s->body, first);
        add_points(L, all, &s->other, first);
    }
}

/* Of the variables that it assigns. */
static Points *points_of(Lower *L, const PStmt *st)
{
    struct Scalars *s = L->scalars;
    Name n = names_intern(s->statements, (const char *)&st, sizeof st);
    while (s->points.n < n) vec_push(L->a, &s->points, NULL);
    Points **p = &s->points.v[n - 1];
    if (*p) return *p;
    *p = arena_new(L->a, Points);
    add_points(L, *p, &st->body, true);
    add_points(L, *p, &st->other, false);
    return *p;
}
#define FOR_POINTS(L, st, p) for (Point *p = points_of(L, st)->v, *p##_end = p ? p + points_of(L, st)->n : p; p < p##_end; p++)

static void put(Flow *f, Interval *of, Interval x)
{
    vec_push(f->L->a, &f->was, ((Was){of, *of}));
    *of = x;
    f->L->scalars->ranged++;
}

static void put_back(Flow *f, uint32_t to)
{
    for (; f->was.n > to; f->was.n--) *f->was.v[f->was.n - 1].of = f->was.v[f->was.n - 1].x;
    f->L->scalars->ranged++;
}

/* ---- conditions ---- */

static void limit(Flow *f, int64_t k)
{
    for (uint32_t i = 0; i < f->limits.n; i++)
        if (f->limits.v[i] == k) return;
    if (f->limits.n < LIMITS && interval_within(interval_at(k), -FAR, FAR)) vec_push(f->L->a, &f->limits, k);
}

/* x, a variable or what is read from one, and perhaps a number: it is between these, or is not that number. False: never. */
static bool narrow(Flow *f, const Sx *x, Interval to, bool unequal)
{
    int64_t plus = 0;
    if ((x->op == SX_ADD || x->op == SX_SUB) && x->b->op == SX_CONST && scalar_exact(f->L, x)) {
        plus = x->op == SX_ADD ? x->b->k : -x->b->k;
        x = x->a;
    }
    LetState *let = x->op == SX_LET && f->L->scalars->lets[x->k].bounded ? &f->L->scalars->lets[x->k] : NULL;
    if ((x->op != SX_VAR && !let) || !interval_within(interval_at(plus), -FAR, FAR)) return true;
    Interval *of = let ? &let->range : &f->vars[x->k].range, is = *of, by = interval_add(to, interval_at(-plus));
    limit(f, by.lo);
    limit(f, by.hi);
    if (!unequal) is = interval_meet(is, by);
    else if (interval_is(to) && is.lo == by.lo) is.lo++;
    else if (interval_is(to) && is.hi == by.lo) is.hi--;
    if (is.lo > is.hi) return false;
    put(f, of, is);
    return true;
}

static bool assume(Flow *f, const Sx *cond, bool holds)
{
    Lower *L = f->L;
    bool may = true;
    uint32_t around = conditions_open(L, cond, holds);
    for (uint32_t i = around; i < L->scalars->conditions.n && may; i++) {
        const Condition c = L->scalars->conditions.v[i];
        if (c.b == NULL) continue;
        Interval a = scalar_range(L, c.a), b = scalar_range(L, c.b);
        if (c.kind == COND_ORDER) {
            a = interval_add((Interval){a.lo, NO_HI}, interval_at(c.less));
            b = interval_add((Interval){NO_LO, b.hi}, interval_at(-c.less));
        }
        may = narrow(f, c.a, b, c.kind == COND_UNEQUAL) && narrow(f, c.b, a, c.kind == COND_UNEQUAL);
    }
    L->scalars->conditions.n = around;
    return may;
}

/* ---- statements ---- */

static void walk(Flow *f, const PBlock *b);

static void note(Flow *f, const PStmt *st, VarPoint at)
{
    FOR_POINTS(f->L, st, p) {
        Interval x = f->vars[p->var].range;
        p->at[at] = p->reached >> at & 1 ? interval_hull(p->at[at], x) : x;
        p->reached |= (uint8_t)(1 << at);
    }
}

/* What is between there from here on. */
static void go_on(Flow *f, const PStmt *st, VarPoint at)
{
    FOR_POINTS(f->L, st, p)
        if (p->reached >> at & 1) put(f, &f->vars[p->var].range, p->at[at]);
}

static void branches(Flow *f, const PStmt *st)
{
    uint32_t before = f->was.n;
    for (int other = 0; other < 2; other++, put_back(f, before)) {
        if (!assume(f, st->value, !other)) continue;
        note(f, st, other ? POINT_OTHER : POINT_IN);
        walk(f, other ? &st->other : &st->body);
        note(f, st, POINT_BEHIND);
    }
    go_on(f, st, POINT_BEHIND);
}

/* The next limit from k on, or what is beside one. */
static int64_t beyond(const Flow *f, int64_t k, int sign, int64_t best)
{
    for (uint32_t i = 0; i < f->limits.n; i++)
        for (int64_t x = f->limits.v[i] - 1; x <= f->limits.v[i] + 1; x++)
            if (sign > 0 ? x >= k && x < best : x <= k && x > best) best = x;
    return best;
}

/* What turns begin with takes in what they end with. True: that was more. */
static bool grow(Flow *f, const PStmt *st)
{
    bool more = false;
    FOR_POINTS(f->L, st, p) {
        Interval x = f->vars[p->var].range, *at = &p->at[POINT_IN], to = f->whole[p->var];
        if (interval_within(x, at->lo, at->hi)) continue;
        if (p->grown < GROWS) to = (Interval){beyond(f, x.lo, -1, to.lo), beyond(f, x.hi, 1, to.hi)};
        if (p->grown >= EXACTLY && x.lo < at->lo) x.lo = to.lo;
        if (p->grown >= EXACTLY && x.hi > at->hi) x.hi = to.hi;
        *at = interval_hull(*at, x);
        if (p->grown < GROWS) p->grown++;
        more = true;
    }
    return more;
}

static void turns(Flow *f, const PStmt *st)
{
    if (st->kind == P_FOR) loop_range(f->L, st);
    for (int i = 0; st->pipe && i < st->pipe->n; i++) loop_range(f->L, loop_state(f->L, st->pipe->v[i].loop)->stmt);
    note(f, st, POINT_IN);
    for (bool more = true; more;) {
        go_on(f, st, POINT_IN);
        uint32_t in = f->was.n;
        walk(f, &st->body);
        more = grow(f, st);
        put_back(f, in);
    }
    note(f, st, POINT_BEHIND);
}

static void assign(Flow *f, const PStmt *st)
{
    uint32_t v = st->id;
    Interval x = interval_meet(scalar_range(f->L, st->value), f->whole[v]);
    if (x.lo > x.hi) x = f->whole[v]; /* nothing comes here */
    f->met[v] = interval_hull(f->met[v], x);
    put(f, &f->vars[v].range, x);
}

static void name(Flow *f, const PStmt *st)
{
    LetState *s = &f->L->scalars->lets[st->id];
    if (!(scalar_uses(f->L, st->value) & USE_VAR)) return;
    s->bounded = true;
    s->range = scalar_range(f->L, st->value);
    s->extremes = scalar_extremes(f->L, st->value);
    f->L->scalars->ranged++;
}

static void walk(Flow *f, const PBlock *b)
{
    for (const PStmt *st = b->first; st; st = st->next) {
        uint32_t before = f->was.n;
        if (st->kind == P_LET) name(f, st);
        else if (st->kind == P_VAR || st->kind == P_SET) assign(f, st);
        else if (st->kind == P_IF) branches(f, st);
        else if (st->kind == P_FOR || st->kind == P_PIPELINE) turns(f, st);
        else walk(f, &st->body);
        for (uint32_t i = 0; i < st->roles.n; i++, put_back(f, before)) walk(f, &st->roles.v[i].body); /* each has variables of its own */
    }
}

void points_infer(Lower *L)
{
    uint32_t n = L->k->nvars;
    VarState *vars = L->scalars->vars;
    Flow f = {.L = L, .vars = vars, .whole = arena_array(L->a, Interval, n), .met = arena_array(L->a, Interval, n)};
    for (uint32_t i = 0; i < n; i++) {
        f.whole[i] = vars[i].range;
        f.met[i] = (Interval){INT64_MAX, INT64_MIN};
    }
    walk(&f, &L->k->body);
    for (uint32_t i = 0; i < n; i++) vars[i].now = vars[i].range = f.met[i].lo <= f.met[i].hi ? f.met[i] : f.whole[i];
    L->scalars->ranged++;
}

void vars_forget(Lower *L, const PStmt *st, VarPoint at)
{
    FOR_POINTS(L, st, p) {
        VarState *v = &L->scalars->vars[p->var];
        if (at == POINT_OTHER && !p->first) continue;
        v->now = p->reached >> at & 1 ? p->at[at] : v->range;
        v->poly = var_unknown(L, p->var);
        L->scalars->epoch++;
    }
}
