/* The checker of states: whether a kernel, as its final IR has it, hangs, races or reads what has not arrived in any launch. It trusts nothing
 * else, and tries no trip counts: states that come again, with other numbers, stand for all that follow (README.md). */
#ifndef TESTS_STATES_STATES_H
#define TESTS_STATES_STATES_H

#include "lower/ir/ir.h"

typedef struct Verdict {
    bool proved, refused; /* neither: it can't be followed */
    ErrorCode code;       /* refused: the rule */
    const char *text;     /* why it is not proved */
    uint32_t op;          /* its number, through all bodies */
    uint32_t states;
} Verdict;
/* trace: gets the states as they come, and how they go on; NULL: not wanted. */
Verdict states_check(Arena *a, const IrKernel *k, Text *trace);

#endif
