/* 64-bit signed arithmetic that says when the exact result does not fit. */
#ifndef LANG_CHECKED_H
#define LANG_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* Each stores the result and returns true, or returns false if it does not fit. */
static inline bool add_s64(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
    *out = a + b;
    return true;
}

static inline bool sub_s64(int64_t a, int64_t b, int64_t *out)
{
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) return false;
    *out = a - b;
    return true;
}

static inline bool mul_s64(int64_t a, int64_t b, int64_t *out)
{
    const int64_t half = INT64_C(1) << 31; /* no division where none is needed */
    bool small = a > -half && a < half && b > -half && b < half;
    if (!small && (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
              : (b > 0 ? a < INT64_MIN / b : a != 0 && b < INT64_MAX / a)))
        return false;
    *out = a * b;
    return true;
}

static inline bool power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* Floor division and its remainder, which has the sign of b; b != 0. Only the quotient can fail to fit. */
static inline bool floor_div_s64(int64_t a, int64_t b, int64_t *out)
{
    if (a == INT64_MIN && b == -1) return false;
    *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

/* The same where b >= 1: it fits. */
static inline int64_t floor_div_by(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t floor_mod_s64(int64_t a, int64_t b)
{
    if (b == -1) return 0; /* INT64_MIN % -1 is undefined in C */
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline bool ceil_div_s64(int64_t a, int64_t b, int64_t *out)
{
    if (a == INT64_MIN && b == -1) return false;
    *out = a / b + (a % b != 0 && (a < 0) == (b < 0));
    return true;
}

/* The greatest common divisor, 0 or more; of 0 and INT64_MIN alone, where it does not fit, 1. */
static inline int64_t gcd_s64(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x > INT64_MAX ? 1 : (int64_t)x;
}

#endif
