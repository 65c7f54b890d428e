/* The checker of states: whether a kernel, as its final IR has it, hangs, races or reads what has not arrived in any launch. It trusts nothing
 * else, and tries no trip counts: states that come again, with other numbers, stand for all that follow (STATES.md). */
#ifndef LOWER_VERIFY_STATES_STATES_H
#define LOWER_VERIFY_STATES_STATES_H

#include "lower/ir/ir.h"

typedef struct Said {
    uint32_t op;
    const char *text;
} Said;
enum { SAID_ALSO = 12, SAID_NOTES = 4 };
typedef struct Refusal { /* why it is not proved; it becomes a Diag where it is the last word */
    ErrorCode code;
    uint32_t op; /* its number, through all bodies; or how many there are */
    const char *text, *fix;
    Said also[SAID_ALSO];
    const char *note[SAID_NOTES];
    uint32_t nalso, nnotes, bar; /* bar: a barrier that it is about, + 1 */
    const struct State *at;      /* with which the run ended or was left; NULL: it is about no run */
} Refusal;
typedef struct Verdict {
    bool proved, refused; /* neither: it can't be followed */
    Refusal why;
    const char *example;  /* refused: of a launch that goes wrong, its numbers; NULL: any */
    uint32_t states;
} Verdict;
/* trace: gets the states as they come, and how they go on; NULL: not wanted. */
Verdict states_check(Arena *a, const IrKernel *k, Text *trace);

#endif
