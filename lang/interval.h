/* Intervals of 64-bit numbers: what is known of a scalar by constants alone. */
#ifndef LANG_INTERVAL_H
#define LANG_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/lx.h"

#define NO_LO INT64_MIN /* no bound, which absorbs */
#define NO_HI INT64_MAX
#define UNBOUNDED ((Interval){NO_LO, NO_HI})
typedef struct Interval {
    int64_t lo, hi;
} Interval;
static inline Interval interval_at(int64_t k)
{
    return (Interval){k, k};
}
static inline bool interval_is(Interval x) /* one number */
{
    return x.lo == x.hi;
}
static inline bool interval_within(Interval x, int64_t lo, int64_t hi)
{
    return x.lo >= lo && x.hi <= hi;
}
static inline Interval interval_hull(Interval x, Interval y)
{
    return (Interval){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}
static inline Interval interval_meet(Interval x, Interval y) /* of what is in both */
{
    return (Interval){x.lo > y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
}

/* Of exact numbers: a bound that leaves 64 bits is none, or in the other direction the last number. */
Interval interval_neg(Interval x);
Interval interval_add(Interval x, Interval y);
Interval interval_mul(Interval x, Interval y);
Interval interval_div(Interval x, Interval y); /* by what is at least 1 */
Interval interval_shrunk(Interval x); /* divided by any number but 0: |x / y| <= |x| */
Interval interval_of(LxOp op, Interval x, Interval y); /* LX_ADD to LX_XOR */

#endif
