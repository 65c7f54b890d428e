/* What a move needs of its scalars: proved, or a condition that the launch checks, or neither. */
#include <stdarg.h>

#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"

static Need check(Lx cond)
{
    return (Need){NEED_CHECK, cond};
}

Need need_both(Lower *L, Need a, Need b)
{
    Lx cond = a.cond && b.cond ? lx_op(L->a, &L->ir->mf.lx, LX_LAND, a.cond, b.cond) : a.cond ? a.cond : b.cond;
    return (Need){a.is > b.is ? a.is : b.is, cond};
}

/* What stands before each index is a multiple, and the rest is. */
static Need multiple(Lower *L, Poly x, int64_t m, bool moved)
{
    Need all = {NEED_PROVED, 0};
    int64_t k;
    Lx c;
    Poly coef, rest;
    LxPool *pool = &L->ir->mf.lx;
    for (; !domain_divides(L->d, m, x); x = rest) {
        Atom index = domain_moving(L->d, x, &coef, &rest);
        if (index == 0) {
            if (poly_is_const(x, &k)) return need_both(L, all, (Need){moved ? NEED_UNKNOWN : NEED_NEVER, 0});
            if (!domain_lx(L->d, L->a, pool, x, &c)) return (Need){NEED_UNKNOWN, 0};
            c = lx_op(L->a, pool, LX_MOD, c, lx_const(L->a, pool, m));
            return need_both(L, all, check(lx_op(L->a, pool, LX_EQ, c, lx_const(L->a, pool, 0))));
        }
        if (!domain_divides(L->d, m, poly_mul(L->d, coef, poly_atom(L->d, index)))) all = need_both(L, all, multiple(L, coef, m, true));
    }
    return all;
}

Need need_multiple(Lower *L, Poly x, int64_t m)
{
    return m == 1 ? (Need){NEED_PROVED, 0} : multiple(L, poly_add(L->d, x, poly_const(L->d, 0)), m, false);
}

static Need bound_of(Lower *L, Poly x, int64_t limit, bool least)
{
    Domain *d = L->d;
    Poly edge = poly_const(d, limit), end;
    int64_t k;
    if (x.bad) return (Need){NEED_UNKNOWN, 0};
    if (least ? domain_le(d, edge, x) : domain_le(d, x, edge)) return (Need){NEED_PROVED, 0};
    if (domain_depends(d, x) & DEP_DATA) return (Need){NEED_UNKNOWN, 0};
    if (least ? !domain_min(d, x, &end) : !domain_max(d, x, &end)) return (Need){NEED_UNKNOWN, 0};
    if (poly_is_const(end, &k)) return (Need){(least ? k >= limit : k <= limit) ? NEED_PROVED : NEED_NEVER, 0};
    LxPool *pool = &L->ir->mf.lx;
    Lx e, l = lx_const(L->a, pool, limit);
    if (!domain_lx(d, L->a, pool, end, &e)) return (Need){NEED_UNKNOWN, 0};
    return check(least ? lx_op(L->a, pool, LX_LE, l, e) : lx_op(L->a, pool, LX_LE, e, l));
}

Need need_at_least(Lower *L, Poly x, int64_t limit)
{
    return bound_of(L, x, limit, true);
}

Need need_at_most(Lower *L, Poly x, int64_t limit)
{
    return bound_of(L, x, limit, false);
}

Need need_equal(Lower *L, Poly x, int64_t k)
{
    Domain *d = L->d;
    int64_t c;
    Lx e;
    LxPool *pool = &L->ir->mf.lx;
    if (domain_eq(d, x, poly_const(d, k))) return (Need){NEED_PROVED, 0};
    if (poly_is_const(x, &c)) return (Need){NEED_NEVER, 0};
    if (!domain_lx(d, L->a, pool, x, &e)) return (Need){NEED_UNKNOWN, 0};
    return check(lx_op(L->a, pool, LX_EQ, e, lx_const(L->a, pool, k)));
}

bool need_met(Lower *L, Need need, ErrorCode code, Span at, const char *why, const char *fmt, ...)
{
    if (need.is == NEED_PROVED || (need.is == NEED_CHECK && launch_checked(L, code, need.cond))) return true;
    if (need.is != NEED_CHECK) return false;
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(L->a, fmt, ap);
    va_end(ap);
    return launch_check(L, code, need.cond, at, text, why);
}

bool need_within(Lower *L, Poly x, int64_t most, ErrorCode code, Span at, const char *why)
{
    Need low = need_at_least(L, x, 0);
    return need_met(L, need_both(L, low, need_at_most(L, x, most)), code, at, why, "0 <= %s <= %lld", poly_text(L, x), (long long)most);
}

/* ---- what the conditions around say ---- */

static void say(Lower *L, Condition c)
{
    vec_push(L->a, &L->scalars->conditions, c);
}

/* Graphs share nodes: only so many conditions are taken apart. */
static void take_apart(Lower *L, const Sx *x, bool holds, uint32_t most)
{
    const Sx *a = x->a, *b = x->b;
    if (x->op == (holds ? SX_LAND : SX_LOR) && L->scalars->conditions.n < most) {
        take_apart(L, a, holds, most);
        take_apart(L, b, holds, most);
        return;
    }
    switch ((SxOp)x->op) {
    case SX_NOT: take_apart(L, a, !holds, most); break;
    case SX_EQ:
    case SX_NE: say(L, (Condition){.kind = holds == (x->op == SX_EQ) ? COND_EQUAL : COND_UNEQUAL, .a = a, .b = b}); break;
    case SX_LT: say(L, (Condition){.kind = COND_ORDER, .a = holds ? a : b, .b = holds ? b : a, .less = holds}); break;
    case SX_LE: say(L, (Condition){.kind = COND_ORDER, .a = holds ? a : b, .b = holds ? b : a, .less = !holds}); break;
    case SX_GT: say(L, (Condition){.kind = COND_ORDER, .a = holds ? b : a, .b = holds ? a : b, .less = holds}); break;
    case SX_GE: say(L, (Condition){.kind = COND_ORDER, .a = holds ? b : a, .b = holds ? a : b, .less = !holds}); break;
    default: say(L, (Condition){.kind = holds ? COND_HOLDS : COND_FAILS, .a = x}); break;
    }
}

uint32_t conditions_open(Lower *L, const Sx *x, bool holds)
{
    enum { MOST = 64 };
    uint32_t around = L->scalars->conditions.n;
    take_apart(L, x, holds, around + MOST);
    return around;
}

Poly condition_room(Lower *L, const Condition *c)
{
    Poly a = scalar_poly(L, c->a);
    return poly_sub(L->d, poly_sub(L->d, scalar_poly(L, c->b), a), poly_const(L->d, c->less));
}

/* What variables held where the condition stands nobody knows here. */
bool conditions_at_least(Lower *L, Poly x, int64_t limit)
{
    for (uint32_t i = 0; i < L->scalars->conditions.n; i++) {
        const Condition *c = &L->scalars->conditions.v[i];
        if (c->kind != COND_ORDER || (scalar_uses(L, c->a) | scalar_uses(L, c->b)) & (USE_VAR | USE_LOAD)) continue;
        Poly room = condition_room(L, c);
        if (domain_le_where(L->d, &room, 1, poly_const(L->d, limit), x)) return true;
    }
    return false;
}
