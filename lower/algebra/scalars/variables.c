/* Variables. What a variable holds is known exactly after an assignment in straight line; at the head of a loop, and
 * after a loop or if that assigns it, it is an unknown value of which only what all assignments keep is known: its
 * residue (`off = 0; off = off + 64` stays a multiple of 64), and bounds: those of the values assigned, and of the steps
 * as often as the loops around them turn. All are found from the graphs. */
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"

typedef struct Residue { /* value == rem mod mod; mod 0: exactly rem */
    int64_t mod, rem;
} Residue;

static const Residue ANY = {1, 0};
enum { RESIDUE_LIMIT = 1 << 30 }; /* products of two stay in 64 bits */

static Residue normal(int64_t mod, int64_t rem)
{
    if (mod < 0) mod = -mod;
    if (mod >= RESIDUE_LIMIT || rem >= RESIDUE_LIMIT || rem <= -RESIDUE_LIMIT) return ANY;
    if (mod > 0) rem = (rem % mod + mod) % mod;
    return (Residue){mod, rem};
}

static Residue exact_residue(Lower *L, const Sx *x);

/* What wraps around keeps its residue modulo powers of two. */
static Residue wrapped(Residue r)
{
    int64_t mod = r.mod == 0 ? RESIDUE_LIMIT / 2 : r.mod & -r.mod;
    return normal(mod, r.rem);
}

static Residue residue(Lower *L, const Sx *x)
{
    Residue r = exact_residue(L, x);
    return scalar_exact(L, x) ? r : wrapped(r);
}

static Residue exact_residue(Lower *L, const Sx *x)
{
    Residue a, b;
    switch ((SxOp)x->op) {
    case SX_CONST: return normal(0, x->k);
    case SX_LET: return residue(L, x->a);
    case SX_NEG: a = residue(L, x->a); return normal(a.mod, -a.rem);
    case SX_ADD:
        a = residue(L, x->a);
        b = residue(L, x->b);
        return normal(gcd_s64(a.mod, b.mod), a.rem + b.rem);
    case SX_SUB:
        a = residue(L, x->a);
        b = residue(L, x->b);
        return normal(gcd_s64(a.mod, b.mod), a.rem - b.rem);
    case SX_MUL:
        a = residue(L, x->a);
        b = residue(L, x->b);
        return normal(gcd_s64(gcd_s64(a.mod * b.mod, a.mod * b.rem), b.mod * a.rem), a.rem * b.rem);
    case SX_SHL:
        a = residue(L, x->a);
        if (x->b->op != SX_CONST || x->b->k < 0 || x->b->k > 20) return ANY;
        return normal(a.mod << x->b->k, a.rem * (INT64_C(1) << x->b->k));
    default: return ANY;
    }
}

void scalar_residue(Lower *L, const Sx *x, int64_t *mod, int64_t *rem)
{
    Residue r = residue(L, x);
    *mod = r.mod > 1 ? r.mod : 1;
    *rem = r.mod > 1 ? r.rem : 0;
}

static Residue join(Residue a, Residue b)
{
    return normal(gcd_s64(gcd_s64(a.mod, b.mod), a.rem - b.rem), a.rem);
}

typedef struct Bounds { /* by constants, and at launch (0: unknown) */
    Interval range;
    Extremes at_launch;
} Bounds;

typedef struct Seen { /* the assignments of a variable */
    bool any;
    Residue r;
    Bounds value;   /* of those that are no steps */
    Bounds steps;   /* sum of all steps that it ever takes */
    uint32_t loops; /* that are open there */
} Seen;

typedef struct Walk {
    Lower *L;
    Seen *seen;
    VEC(const PStmt *) loops; /* open, outermost first */
} Walk;

/* v + step or v - step */
static bool own_step(const Sx *x, uint32_t v, const Sx **step, bool *minus)
{
    if (x->op == SX_LET) return own_step(x->a, v, step, minus);
    if (x->op != SX_ADD && x->op != SX_SUB) return false;
    *minus = x->op == SX_SUB;
    if (x->a->op == SX_VAR && x->a->k == v) {
        *step = x->b;
        return true;
    }
    if (x->op == SX_ADD && x->b->op == SX_VAR && x->b->k == v) {
        *step = x->a;
        return true;
    }
    return false;
}

static Bounds bounds_of(const Walk *w, const Sx *x)
{
    return (Bounds){scalar_range(w->L, x), scalar_extremes(w->L, x)};
}

static Bounds sum(Lower *L, Bounds a, Bounds b)
{
    return (Bounds){interval_add(a.range, b.range),
                    {lx_known(L, LX_ADD, a.at_launch.lo, b.at_launch.lo), lx_known(L, LX_ADD, a.at_launch.hi, b.at_launch.hi)}};
}

/* How often an assignment runs for one declaration: `n` is the greatest number of turns, `at_launch` the same. */
static void repeat(Walk *w, uint32_t outer, int64_t *n, Lx *at_launch)
{
    Lower *L = w->L;
    Lx zero = lx_const(L->a, &L->ir->mf.lx, 0);
    *n = 1;
    *at_launch = lx_const(L->a, &L->ir->mf.lx, 1);
    for (uint32_t i = outer; i < w->loops.n; i++) {
        Bounds lo = bounds_of(w, w->loops.v[i]->lo), end = bounds_of(w, w->loops.v[i]->value);
        int64_t turns;
        bool known = lo.range.lo != NO_LO && end.range.hi != NO_HI && sub_s64(end.range.hi, lo.range.lo, &turns);
        if (known && turns < 0) turns = 0;
        if (!known || *n == INT64_MAX || !mul_s64(*n, turns, n)) *n = INT64_MAX;
        Lx count = lx_known(L, LX_MAX, zero, lx_known(L, LX_SUB, end.at_launch.hi, lo.at_launch.lo));
        *at_launch = lx_known(L, LX_MUL, *at_launch, count);
    }
}

/* What a step adds when taken n times or less. */
static Bounds repeated(Lower *L, Bounds step, bool minus, int64_t n, Lx at_launch)
{
    Lx zero = lx_const(L->a, &L->ir->mf.lx, 0);
    if (minus)
        step = (Bounds){interval_neg(step.range),
                        {lx_known(L, LX_SUB, zero, step.at_launch.hi), lx_known(L, LX_SUB, zero, step.at_launch.lo)}};
    return (Bounds){interval_mul(step.range, (Interval){0, n}),
                    {lx_known(L, LX_MUL, at_launch, lx_known(L, LX_MIN, zero, step.at_launch.lo)),
                     lx_known(L, LX_MUL, at_launch, lx_known(L, LX_MAX, zero, step.at_launch.hi))}};
}

static void see(Walk *w, uint32_t v, const Sx *x)
{
    Lower *L = w->L;
    Seen *s = &w->seen[v];
    const Sx *step;
    bool minus;
    if (own_step(x, v, &step, &minus)) {
        Residue r = residue(L, step);
        int64_t m = gcd_s64(r.mod, r.rem), n;
        Lx at_launch;
        s->r = normal(gcd_s64(s->r.mod, m), s->r.rem);
        repeat(w, s->loops, &n, &at_launch);
        s->steps = sum(L, s->steps, repeated(L, bounds_of(w, step), minus, n, at_launch));
        return;
    }
    Residue r = residue(L, x);
    Bounds b = bounds_of(w, x);
    s->r = s->any ? join(s->r, r) : r;
    if (s->any) {
        const Extremes *e = &s->value.at_launch;
        b.range = interval_hull(s->value.range, b.range);
        b.at_launch = (Extremes){lx_known(L, LX_MIN, e->lo, b.at_launch.lo), lx_known(L, LX_MAX, e->hi, b.at_launch.hi)};
    }
    s->value = b;
    s->any = true;
}

static void enter(Walk *w, const PStmt *loop)
{
    loop_range(w->L, loop);
    vec_push(w->L->a, &w->loops, loop);
}

/* A pipeline is a nest of loops. */
static void enter_pipeline(Walk *w, const PPipe *p)
{
    PStmt *index = arena_array(w->L->a, PStmt, PIPE_INDICES);
    for (int i = 0; i < p->n; i++) {
        index[i] = pipe_index(p, i);
        enter(w, &index[i]);
    }
}

static void walk(Walk *w, const PBlock *b)
{
    Lower *L = w->L;
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_VAR) {
            L->scalars->vars[s->id].name = s->name;
            w->seen[s->id].loops = w->loops.n;
        }
        if (s->kind == P_VAR || s->kind == P_SET) see(w, s->id, s->value);
        uint32_t open = w->loops.n;
        if (s->kind == P_FOR) enter(w, s);
        if (s->kind == P_PIPELINE) enter_pipeline(w, s->pipe);
        walk(w, &s->body);
        w->loops.n = open;
        walk(w, &s->other);
        for (uint32_t i = 0; i < s->roles.n; i++) walk(w, &s->roles.v[i].body); /* each role has a variable of its own */
    }
}

static void bound_var(Lower *L, VarState *v, const Seen *s)
{
    Bounds b = sum(L, s->value, s->steps);
    Residue r = s->any ? s->r : ANY;
    bool low = b.range.lo != NO_LO || b.at_launch.lo, high = b.range.hi != NO_HI || b.at_launch.hi;
    if (!s->any || !low || !high) { /* may wrap around */
        b = (Bounds){UNBOUNDED, {0, 0}};
        r = wrapped(r);
    }
    v->mod = r.mod > 0 ? r.mod : 1;
    v->rem = v->mod > 1 ? r.rem : 0;
    v->range = b.range;
    v->extremes = b.at_launch;
}

static Seen *look_at_all(Lower *L)
{
    Walk w = {.L = L, .seen = arena_array(L->a, Seen, L->k->nvars)};
    Lx zero = lx_const(L->a, &L->ir->mf.lx, 0);
    for (uint32_t i = 0; i < L->k->nvars; i++) w.seen[i].steps.at_launch = (Extremes){zero, zero};
    walk(&w, &L->k->body);
    return w.seen;
}

/* Each pass relies on what the one before has shown of the other variables. */
void vars_infer(Lower *L)
{
    enum { PASSES = 3 };
    uint32_t n = L->k->nvars;
    if (n == 0) return;
    for (uint32_t i = 0; i < n; i++) L->scalars->vars[i].range = UNBOUNDED;
    for (int pass = 0; pass < PASSES; pass++) {
        const Seen *seen = look_at_all(L);
        for (uint32_t i = 0; i < n; i++) bound_var(L, &L->scalars->vars[i], &seen[i]);
        L->scalars->ranged++;
    }
    points_infer(L);
    for (uint32_t i = 0; i < n; i++) L->scalars->vars[i].poly = var_unknown(L, i);
}

Poly var_unknown(Lower *L, uint32_t i)
{
    VarState *v = &L->scalars->vars[i];
    const char *name = name_text(L, v->name);
    if (interval_is(v->now)) return poly_const(L->d, v->now.lo);
    return poly_atom(L->d, domain_opaque(L->d, name, v->now.lo, v->now.hi, v->mod, v->rem, DEP_DATA | DEP_LOOP));
}
