/* Numbers from a seed, for generators whose programs are named by theirs: the same on every machine. */
#ifndef TESTS_IR_DRAWN_H
#define TESTS_IR_DRAWN_H

#include <stdint.h>

static inline uint64_t drawn_begin(uint64_t seed)
{
    return seed * UINT64_C(0x2545F4914F6CDD1D) + 1;
}

/* Below n, at most 2^31. */
static inline int64_t drawn_below(uint64_t *state, int64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *state ^ *state >> 33;
    return (int64_t)(x * UINT64_C(0x9E3779B97F4A7C15) >> 33) % n;
}

#endif
