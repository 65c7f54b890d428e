/* What a move needs of its scalars: proved, or a condition that the launch checks, or neither. */
#include <string.h>

#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"

static void also(Lower *L, Lx *cond, Lx more)
{
    *cond = *cond ? lx_op(L->a, &L->ir->mf.lx, LX_LAND, *cond, more) : more;
}

static Poly monomial(Lower *L, const Atom *atoms, unsigned n)
{
    Poly p = poly_const(L->d, 1);
    for (unsigned i = 0; i < n; i++) p = poly_mul(L->d, p, poly_atom(L->d, atoms[i]));
    return p;
}

typedef struct Group { /* terms with the same indices: coef is what stands before them */
    Poly index, coef;
} Group;
enum { GROUPS_MAX = 16 };

/* Splits x by what is not known at launch; -1: too many. */
static int split(Lower *L, Poly x, Group out[GROUPS_MAX])
{
    int n = 0;
    for (uint32_t t = 0; t < x.n; t++) {
        Atom launch[256], index[256];
        unsigned nl = 0, ni = 0;
        for (unsigned i = 0; i < x.terms[t].natoms; i++) {
            Atom at = x.terms[t].atoms[i];
            if (domain_depends(L->d, poly_atom(L->d, at)) & ~(unsigned)DEP_LAUNCH) index[ni++] = at;
            else launch[nl++] = at;
        }
        Poly in = monomial(L, index, ni);
        Poly coef = poly_mul(L->d, poly_const(L->d, x.terms[t].coef), monomial(L, launch, nl));
        int g = 0;
        while (g < n && !poly_same(out[g].index, in)) g++;
        if (g == GROUPS_MAX) return -1;
        if (g == n) out[n++] = (Group){in, coef};
        else out[g].coef = poly_add(L->d, out[g].coef, coef);
    }
    return n;
}

Need need_multiple(Lower *L, Poly x, int64_t m, Lx *cond)
{
    int64_t k;
    if (m == 1 || domain_divides(L->d, m, x)) return NEED_PROVED;
    if (x.bad) return NEED_UNKNOWN;
    if (poly_is_const(x, &k)) return NEED_NEVER;
    Group g[GROUPS_MAX];
    int n = split(L, x, g);
    if (n < 0) return NEED_UNKNOWN;
    LxPool *pool = &L->ir->mf.lx;
    Lx all = 0;
    for (int i = 0; i < n; i++) {
        if (domain_divides(L->d, m, poly_mul(L->d, g[i].index, g[i].coef))) continue;
        Lx c;
        if (poly_is_const(g[i].coef, &k)) return poly_is_const(g[i].index, &k) ? NEED_NEVER : NEED_UNKNOWN;
        if (!domain_lx(L->d, L->a, pool, g[i].coef, &c)) return NEED_UNKNOWN;
        Lx rest = lx_op(L->a, pool, LX_MOD, c, lx_const(L->a, pool, m));
        also(L, &all, lx_op(L->a, pool, LX_EQ, rest, lx_const(L->a, pool, 0)));
    }
    if (all) also(L, cond, all);
    return NEED_CHECK;
}

static Need bound_of(Lower *L, Poly x, int64_t limit, bool least, Lx *cond)
{
    Domain *d = L->d;
    Poly edge = poly_const(d, limit), end;
    int64_t k;
    if (x.bad) return NEED_UNKNOWN;
    if (least ? domain_le(d, edge, x) : domain_le(d, x, edge)) return NEED_PROVED;
    if (domain_depends(d, x) & DEP_DATA) return NEED_UNKNOWN;
    if (least ? !domain_min(d, x, &end) : !domain_max(d, x, &end)) return NEED_UNKNOWN;
    if (poly_is_const(end, &k)) return (least ? k >= limit : k <= limit) ? NEED_PROVED : NEED_NEVER;
    LxPool *pool = &L->ir->mf.lx;
    Lx e, l = lx_const(L->a, pool, limit);
    if (!domain_lx(d, L->a, pool, end, &e)) return NEED_UNKNOWN;
    also(L, cond, least ? lx_op(L->a, pool, LX_LE, l, e) : lx_op(L->a, pool, LX_LE, e, l));
    return NEED_CHECK;
}

enum { BOUNDS_MAX = 32 };

static Need bounded(Lower *L, Poly x, int64_t limit, bool least, Lx *cond)
{
    for (uint32_t i = 0; i < L->scalars->answers.n; i++) {
        const NeedAnswer *b = &L->scalars->answers.v[i];
        if (b->terms != x.terms || b->n != x.n || b->limit != limit || b->least != least || x.bad) continue;
        if (b->cond) also(L, cond, b->cond);
        return (Need)b->need;
    }
    Lx own = 0;
    Need need = bound_of(L, x, limit, least, &own);
    if (own) also(L, cond, own);
    if (L->scalars->answers.n == BOUNDS_MAX) L->scalars->answers.n = 0;
    vec_push(L->a, &L->scalars->answers, ((NeedAnswer){x.terms, x.n, least, (uint8_t)need, limit, own}));
    return need;
}

Need need_at_least(Lower *L, Poly x, int64_t limit, Lx *cond)
{
    return bounded(L, x, limit, true, cond);
}

Need need_at_most(Lower *L, Poly x, int64_t limit, Lx *cond)
{
    return bounded(L, x, limit, false, cond);
}

Need need_equal(Lower *L, Poly x, int64_t k, Lx *cond)
{
    Domain *d = L->d;
    int64_t c;
    Lx e;
    LxPool *pool = &L->ir->mf.lx;
    if (domain_eq(d, x, poly_const(d, k))) return NEED_PROVED;
    if (poly_is_const(x, &c)) return NEED_NEVER;
    if (!domain_lx(d, L->a, pool, x, &e)) return NEED_UNKNOWN;
    also(L, cond, lx_op(L->a, pool, LX_EQ, e, lx_const(L->a, pool, k)));
    return NEED_CHECK;
}

bool need_within(Lower *L, Poly x, int64_t most, ErrorCode code, Span at, const char *why)
{
    Lx cond = 0;
    Need low = need_at_least(L, x, 0, &cond), high = need_at_most(L, x, most, &cond);
    if (low > NEED_CHECK || high > NEED_CHECK) return false;
    return cond == 0 || launch_check(L, code, cond, at, arena_printf(L->a, "0 <= %s <= %lld", poly_text(L, x), (long long)most), why);
}

/* ---- what the conditions around say ---- */

typedef struct Opened { /* a condition that is taken apart */
    Lower *L;
    uint32_t most; /* graphs share nodes: no more is looked at */
    bool held;
} Opened;

static void say(const Opened *o, Condition c)
{
    c.held = o->held;
    vec_push(o->L->a, &o->L->scalars->conditions, c);
}

static void take_apart(Opened o, const Sx *x, bool holds)
{
    const Sx *a = x->a, *b = x->b;
    bool both = x->op == (holds ? SX_LAND : SX_LOR) && o.L->scalars->conditions.n < o.most;
    if (both) {
        take_apart(o, a, holds);
        take_apart(o, b, holds);
        return;
    }
    switch ((SxOp)x->op) {
    case SX_LET:
        o.held |= (scalar_uses(o.L, a) & USE_VAR) != 0;
        take_apart(o, a, holds);
        break;
    case SX_NOT: take_apart(o, a, !holds); break;
    case SX_EQ:
    case SX_NE: say(&o, (Condition){.kind = holds == (x->op == SX_EQ) ? COND_EQUAL : COND_UNEQUAL, .a = a, .b = b}); break;
    case SX_LT: say(&o, (Condition){.kind = COND_ORDER, .a = holds ? a : b, .b = holds ? b : a, .less = holds}); break;
    case SX_LE: say(&o, (Condition){.kind = COND_ORDER, .a = holds ? a : b, .b = holds ? b : a, .less = !holds}); break;
    case SX_GT: say(&o, (Condition){.kind = COND_ORDER, .a = holds ? b : a, .b = holds ? a : b, .less = holds}); break;
    case SX_GE: say(&o, (Condition){.kind = COND_ORDER, .a = holds ? b : a, .b = holds ? a : b, .less = !holds}); break;
    default: say(&o, (Condition){.kind = holds ? COND_HOLDS : COND_FAILS, .a = x}); break;
    }
}

uint32_t conditions_open(Lower *L, const Sx *x, bool holds)
{
    enum { MOST = 64 };
    uint32_t around = L->scalars->conditions.n;
    take_apart((Opened){.L = L, .most = around + MOST}, x, holds);
    return around;
}

/* Of a + less <= b: x >= limit is so for x - c * (b - a - less), of some c >= 0. What variables held where the condition
 * stands nobody knows here. */
static bool by_order(Lower *L, const Condition *c, Poly x, int64_t limit)
{
    Domain *d = L->d;
    if ((scalar_uses(L, c->a) | scalar_uses(L, c->b)) & (USE_VAR | USE_LOAD)) return false;
    Poly room = poly_sub(d, poly_sub(d, scalar_poly(L, c->b), scalar_poly(L, c->a)), poly_const(d, c->less)), edge = poly_const(d, limit);
    if (room.bad) return false;
    for (uint32_t i = 0; i < x.n; i++)
        if (x.terms[i].coef > 0 && domain_le(d, poly_add(d, edge, poly_mul(d, room, poly_const(d, x.terms[i].coef))), x)) return true;
    return false;
}

bool conditions_at_least(Lower *L, Poly x, int64_t limit)
{
    for (uint32_t i = 0; i < L->scalars->conditions.n && !x.bad; i++) {
        const Condition *c = &L->scalars->conditions.v[i];
        if (c->kind == COND_ORDER && by_order(L, c, x, limit)) return true;
    }
    return false;
}
