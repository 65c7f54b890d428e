#include "lang/interval.h"

#include "lang/checked.h"

/* ---- bounds ---- */

/* up: of upper bounds */
static int64_t bound_add(int64_t a, int64_t b, bool up)
{
    int64_t none = up ? NO_HI : NO_LO, r;
    return a == none || b == none || !add_s64(a, b, &r) ? none : r;
}

static int64_t bound_mul(int64_t a, int64_t b, bool up)
{
    int64_t r;
    if (a == 0 || b == 0) return 0;
    bool none = a == NO_LO || a == NO_HI || b == NO_LO || b == NO_HI;
    if (!none && mul_s64(a, b, &r)) return r;
    bool positive = (a > 0) == (b > 0);
    if (positive == up) return positive ? NO_HI : NO_LO;
    return positive ? INT64_MAX - 1 : INT64_MIN + 1;
}

/* ---- sums, products, quotients ---- */

Interval interval_neg(Interval x)
{
    return (Interval){x.hi == NO_HI ? NO_LO : x.hi == INT64_MIN ? INT64_MAX : -x.hi, x.lo == NO_LO ? NO_HI : -x.lo};
}

Interval interval_add(Interval x, Interval y)
{
    return (Interval){bound_add(x.lo, y.lo, false), bound_add(x.hi, y.hi, true)};
}

Interval interval_mul(Interval x, Interval y)
{
    if (x.lo == x.hi || (x.lo >= 0 && y.lo >= 0)) { /* a coefficient, or both >= 0: no corners to compare */
        bool swap = x.lo < 0;
        return (Interval){bound_mul(x.lo, swap ? y.hi : y.lo, false), bound_mul(x.hi, swap ? y.lo : y.hi, true)};
    }
    Interval r = {NO_HI, NO_LO};
    for (int i = 0; i < 4; i++) {
        int64_t a = i / 2 ? x.hi : x.lo, b = i % 2 ? y.hi : y.lo, lo = bound_mul(a, b, false), hi = bound_mul(a, b, true);
        if (lo < r.lo) r.lo = lo;
        if (hi > r.hi) r.hi = hi;
    }
    return r;
}

Interval interval_div(Interval x, Interval y)
{
    if (y.lo < 1) y.lo = 1;
    if (y.hi < y.lo) y.hi = y.lo; /* the range of an index that never runs */
    if (x.lo >= 0) x.lo = y.hi == NO_HI ? 0 : floor_div_by(x.lo, y.hi);
    else if (x.lo != NO_LO) x.lo = floor_div_by(x.lo, y.lo);
    if (x.hi >= 0 && x.hi != NO_HI) x.hi = floor_div_by(x.hi, y.lo);
    else if (x.hi < 0) x.hi = y.hi == NO_HI ? -1 : floor_div_by(x.hi, y.hi);
    return x;
}

Interval interval_shrunk(Interval x)
{
    return x.lo == NO_LO || x.hi == NO_HI ? UNBOUNDED : interval_hull(x, interval_neg(x));
}

/* By what is at least 1, as the two behind it. What has no bound is still a number of 64 bits. */
static Interval ceiling(Interval x, Interval y)
{
    bool open = y.hi == NO_HI;
    return (Interval){x.lo <= 0 ? x.lo / y.lo : open ? 1 : (x.lo - 1) / y.hi + 1,
                      x.hi > 0 ? (x.hi - 1) / y.lo + 1 : open ? 0 : x.hi / y.hi};
}

static Interval remainder_of(Interval x, Interval y)
{
    int64_t most = y.hi == NO_HI ? y.hi : y.hi - 1;
    if (x.lo >= 0 && x.hi < y.lo) return x;
    return (Interval){0, x.lo >= 0 && x.hi < most ? x.hi : most};
}

/* ---- bits ---- */

/* The least 2^k - 1 that is at least x >= 0. */
static int64_t ones_above(int64_t x)
{
    for (int shift = 1; shift < 64; shift *= 2) x |= x >> shift;
    return x;
}

static Interval shifted_left(Interval x, Interval y)
{
    if (!interval_is(y) || y.lo < 0 || y.lo >= 62) return UNBOUNDED;
    return interval_mul(x, interval_at(INT64_C(1) << y.lo));
}

static Interval shifted_right(Interval x, Interval y)
{
    if (y.lo < 0 || y.hi >= 64) return UNBOUNDED;
    return (Interval){x.lo < 0 ? x.lo : 0, x.hi == NO_HI ? x.hi : x.hi < 0 ? -1 : x.hi >> y.lo};
}

Interval interval_of(LxOp op, Interval x, Interval y)
{
    int64_t k;
    if (interval_is(x) && interval_is(y) && lx_apply(op, x.lo, y.lo, &k) == LX_OK) return interval_at(k);
    switch (op) {
    case LX_ADD: return interval_add(x, y);
    case LX_SUB: return interval_add(x, interval_neg(y));
    case LX_MUL: return interval_mul(x, y);
    case LX_DIV: return y.lo >= 1 ? interval_div(x, y) : y.hi < 0 ? interval_shrunk(x) : UNBOUNDED; /* by 0 it is anything */
    case LX_CEIL: return y.lo >= 1 ? ceiling(x, y) : y.hi < 0 ? interval_shrunk(x) : UNBOUNDED;
    case LX_MOD: return y.lo >= 1 ? remainder_of(x, y) : UNBOUNDED;
    case LX_MIN: return (Interval){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
    case LX_MAX: return (Interval){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
    case LX_SHL: return shifted_left(x, y);
    case LX_SHR: return shifted_right(x, y);
    case LX_AND: /* not above one of them that is not below 0 */
        if (x.lo >= 0 && y.lo >= 0) return (Interval){0, x.hi < y.hi ? x.hi : y.hi};
        return y.lo >= 0 ? (Interval){0, y.hi} : x.lo >= 0 ? (Interval){0, x.hi} : UNBOUNDED;
    case LX_OR:
    case LX_XOR: return x.lo >= 0 && y.lo >= 0 ? (Interval){0, ones_above(x.hi | y.hi)} : UNBOUNDED;
    default: return UNBOUNDED;
    }
}
