/* Statements of several CTAs: what is known by trying every rank of the cluster.
 *
 * A scalar made of constants and of the rank has a value at each rank. Others (sizes, indices, data) are left to
 * lower/, except that conditions and bounds around such statements may not depend on the rank in ways unknown here.
 */
#include "frontend/check/check.h"
#include "lang/limits.h"

enum { RANKS = CLUSTER_CTAS_MOST, FUEL = 512, PASSES_MAX = 64 };
typedef struct Around { /* a condition or a loop around a statement */
    const Sx *cond;     /* of an if; */
    bool other;         /* in its else */
    const Sx *lo, *hi;  /* bounds of a loop */
    Span span;
    const struct Around *outer;
} Around;
typedef struct Collective {
    Compilation *c;
    const PKernel *k;
    int size;          /* CTAs of the cluster */
    uint8_t *vars;     /* per variable: dimensions of the cluster that it depends on, a bit each */
    bool changed;      /* one of them, in this pass */
    bool report;       /* the last pass */
    const Around *around;
} Collective;

/* ---- what a scalar depends on ---- */

static unsigned all_dims(const Collective *a)
{
    unsigned m = 0;
    for (unsigned d = 0; d < 3; d++) m |= a->k->cluster[d] > 1 ? 1u << d : 0u;
    return m;
}

/* cta.x / 2 in clusters of 2: the cluster's number. */
static bool of_cluster(const Collective *a, const Sx *x)
{
    return x->op == SX_DIV && x->a->op == SX_CTA && x->b->op == SX_CONST && x->b->k > 0 &&
           x->b->k % a->k->cluster[x->a->k] == 0;
}

static unsigned depends(const Collective *a, const Sx *x, int *fuel)
{
    unsigned m = 0;
    if (!x) return 0;
    if (--*fuel < 0) return all_dims(a);
    switch ((SxOp)x->op) {
    case SX_CLUSTER:
    case SX_CTA: return all_dims(a) & 1u << x->k;
    case SX_RANK: return all_dims(a);
    case SX_VAR: return a->vars[x->k];
    case SX_LOAD:
        for (int d = 0; x->idx && d < x->tensor->rank; d++) m |= depends(a, x->idx[d], fuel);
        return m;
    default: return of_cluster(a, x) ? 0 : depends(a, x->a, fuel) | depends(a, x->b, fuel);
    }
}

static unsigned dims_of(const Collective *a, const Sx *x)
{
    int fuel = FUEL;
    return depends(a, x, &fuel);
}

static unsigned around_dims(const Collective *a)
{
    unsigned m = 0;
    for (const Around *s = a->around; s; s = s->outer) m |= dims_of(a, s->cond) | dims_of(a, s->lo) | dims_of(a, s->hi);
    return m;
}

static void assign(Collective *a, const PStmt *s)
{
    unsigned m = dims_of(a, s->value) | around_dims(a);
    a->changed = a->changed || (m & ~a->vars[s->id]);
    a->vars[s->id] |= (uint8_t)m;
}

/* ---- values at a rank ---- */

static int64_t coordinate(const Collective *a, int rank, int64_t dim)
{
    int64_t x = a->k->cluster[0], y = a->k->cluster[1];
    return dim == 0 ? rank % x : dim == 1 ? rank / x % y : rank / (x * y);
}

static bool eval(const Collective *a, const Sx *x, int rank, int64_t *out, int *fuel)
{
    int64_t l = 0, r = 0;
    if (--*fuel < 0) return false;
    switch ((SxOp)x->op) {
    case SX_CONST: *out = x->k; return true;
    case SX_RANK: *out = rank; return true;
    case SX_CLUSTER: *out = coordinate(a, rank, x->k); return true;
    case SX_LET: return eval(a, x->a, rank, out, fuel);
    case SX_SYM:
    case SX_CTA:
    case SX_INDEX:
    case SX_VAR:
    case SX_LOAD: return false;
    default:
        if (!eval(a, x->a, rank, &l, fuel) || (x->b && !eval(a, x->b, rank, &r, fuel))) return false;
        return sx_fold((SxOp)x->op, l, r, out);
    }
}

static bool value_at(const Collective *a, const Sx *x, int rank, int64_t *out)
{
    int fuel = FUEL;
    return eval(a, x, rank, out, &fuel);
}

/* ---- messages ---- */

static Diag *report(Collective *a, ErrorCode code, const PStmt *s, Span at, const char *text)
{
    Diag *g = diag_at(a->c->diags, code, at, "%s", text);
    call_notes(a->c, g, s);
    return g;
}

/* ---- conditions that agree ---- */

static unsigned cast_dims(const Collective *a, const PMove *m)
{
    switch (m->cast) {
    case CAST_NONE: return 0;
    case CAST_X: return all_dims(a) & 1u;
    case CAST_Y: return all_dims(a) & 2u;
    case CAST_Z: return all_dims(a) & 4u;
    default: return all_dims(a);
    }
}

static bool one_set(const Collective *a, int r, int q, unsigned dims)
{
    for (int d = 0; d < 3; d++)
        if (!(dims & 1u << d) && coordinate(a, r, d) != coordinate(a, q, d)) return false;
    return true;
}

/* Does the condition have a known value at every rank, with `dims` the same for all CTAs that differ in these only? */
static bool agrees(const Collective *a, const Sx *cond, unsigned dims)
{
    int64_t v[RANKS];
    for (int r = 0; r < a->size; r++)
        if (!value_at(a, cond, r, &v[r])) return false;
    for (int r = 0; r < a->size; r++)
        for (int q = 0; q < r; q++)
            if (one_set(a, r, q, dims) && (v[r] != 0) != (v[q] != 0)) return false;
    return true;
}

/* dims: of the CTAs that take part together; 0 where each goes by itself, but at known ranks. */
static bool around_agrees(Collective *a, const PStmt *s, unsigned dims, Span at)
{
    unsigned matter = dims ? dims : all_dims(a);
    for (const Around *o = a->around; o; o = o->outer) {
        Diag *g;
        if (o->cond) {
            if (!(dims_of(a, o->cond) & matter) || agrees(a, o->cond, dims)) continue;
            g = report(a, E0619, s, at,
                       dims ? "this takes several CTAs, and a condition around it differs between them"
                            : "which CTAs come here is only known at run time");
            diag_label(a->c->diags, g, o->span, "the condition");
            if (!dims) diag_fix(a->c->diags, g, "let it be made of cluster.rank and constants alone; instead of a loop a statement for each turn");
        } else {
            if (!((dims_of(a, o->lo) | dims_of(a, o->hi)) & matter)) continue;
            g = report(a, E0619, s, at,
                       "this takes several CTAs, and the bounds of a loop around it differ between them");
            diag_label(a->c->diags, g, o->span, "the loop");
        }
        return false;
    }
    return true;
}

/* ---- statements ---- */

static void block_of(Collective *a, const PBlock *b);

static void inside(Collective *a, const PBlock *b, Around o)
{
    o.outer = a->around;
    a->around = &o;
    block_of(a, b);
    a->around = o.outer;
}

static void pipeline(Collective *a, const PStmt *s, int i)
{
    if (i == s->pipe->n) {
        block_of(a, &s->body);
        return;
    }
    Around o = {.lo = s->pipe->v[i].lo, .hi = s->pipe->v[i].hi, .span = s->span, .outer = a->around};
    a->around = &o;
    pipeline(a, s, i + 1);
    a->around = o.outer;
}

static void check(Collective *a, const PStmt *s)
{
    const PMove *m = s->move;
    if (s->kind == P_ARRIVE) {
        if (s->peer) around_agrees(a, s, 0, s->span);
        return;
    }
    if (m->cast != CAST_NONE) around_agrees(a, s, m->cast == CAST_MASK ? 0 : cast_dims(a, m), m->cast_span); /* by a mask each CTA sends by itself */
    if (m->dst.peer) around_agrees(a, s, 0, m->dst.span);
}

static void block_of(Collective *a, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        switch (s->kind) {
        case P_VAR:
        case P_SET: assign(a, s); break;
        case P_FOR: inside(a, &s->body, (Around){.lo = s->lo, .hi = s->value, .span = s->span}); break;
        case P_IF:
            inside(a, &s->body, (Around){.cond = s->value, .span = s->span});
            inside(a, &s->other, (Around){.cond = s->value, .other = true, .span = s->span});
            break;
        case P_GROUP: block_of(a, &s->body); break;
        case P_PIPELINE: pipeline(a, s, 0); break;
        case P_ROLES:
            for (uint32_t i = 0; i < s->roles.n; i++) block_of(a, &s->roles.v[i].body);
            break;
        case P_MOVE:
        case P_ARRIVE:
            if (a->report) check(a, s);
            break;
        case P_EXPECT:
        case P_LET:
        case P_VIEW:
        case P_WAIT:
        case P_WAIT_GROUP: break;
        }
    }
}

void check_collective(Compilation *c, PKernel *k)
{
    Collective a = {.c = c, .k = k, .size = (int)(k->cluster[0] * k->cluster[1] * k->cluster[2])};
    k->var_dims = a.vars = arena_array(c->scratch, uint8_t, k->nvars);
    int passes = 0;
    do {
        a.changed = false;
        block_of(&a, &k->body);
    } while (a.changed && ++passes < PASSES_MAX);
    for (uint32_t i = 0; a.changed && i < k->nvars; i++) a.vars[i] = (uint8_t)all_dims(&a);
    a.report = true;
    block_of(&a, &k->body);
}
