/* How roles compare: roles.c says it of a run, launches.c of launches. */
#ifndef LOWER_VERIFY_GRAPH_ROLES_H
#define LOWER_VERIFY_GRAPH_ROLES_H

#include "lower/verify/graph/verifier.h"

enum { LESS = 1, EQUAL = 2, MORE = 4, MET = 8 /* of two roles */ };
enum { NO_TURNS = 1 /* that count, + 1 */ };

enum { ONE_FOR_ONE, RATIO_A = 11 /* that and the last one: one of the counts alone */, RATIO_B, RATIOS }; /* launches.c */
typedef struct Between { /* of two counts that were compared; b comes before a */
    uint32_t a, b;
    uint8_t how; /* LESS .. where the first one was less, in runs that are proved */
    int16_t least[RATIOS], most[RATIOS]; /* in those, by ratio p : q: of p * a - q * b */
} Between;
typedef struct Count { /* how often a role's loops use a barrier, from the first one up to `op`, in one turn of the loops around */
    Form x;
    Lx lx;  /* 0: the launch does not decide it */
    Lx met; /* of the loop */
    uint32_t op; /* nops: it is the first one, no turns */
    bool several; /* uses in a turn */
} Count;
enum { WAITS, ARRIVALS, FAR /* arrivals, at one CTA each */, USES };
typedef struct Uses { /* of a barrier, in a turn of a loop */
    uint32_t bar;
    int64_t own[USES], all[USES]; /* in no loop inside; in loops inside that have the same turns in every launch, too */
} Uses;
typedef struct Loop {
    uint32_t first, end; /* its barriers, in uses */
    Lx turns;            /* 0: the launch does not decide them */
    Lx met;              /* of the loops around that which has the fewest: where it has none nothing is counted; 0: there is none, or it is not known */
} Loop;
typedef struct Mark { /* a loop was entered in this run */
    uint32_t bar, thread, nth;
    uint32_t depth;      /* so many loops of their own trip count are around it */
    int64_t turn, pass;  /* of the innermost of them; counted through all loops as deep as it */
    uint32_t op;
    int64_t uses, times; /* of the barrier, in each turn: 0 where they are those of the loop around; at least 1 */
    Form turns;          /* 0: not known */
    int64_t number;
} Mark;
typedef struct Passed { /* a role's counts in one turn of the loops around */
    uint32_t from, n; /* of Roles.counted */
} Passed;
typedef struct Counted {
    uint32_t count; /* + 1; 0: not known, like all behind it */
    int64_t turns;
} Counted;
typedef struct Compared { /* count `a` is LESS, EQUAL or MORE than `b`, which comes before it */
    uint32_t a, b;
    uint8_t how, met; /* MET, or 0: two loops of one role, one behind the other */
    uint8_t ratio;    /* LESS: p * a + by is less than q * b; MORE: p * a is more than q * b + by */
    int32_t by;
} Compared;
typedef VEC(Compared) Comparison;
typedef struct Had { /* turns in this run */
    int64_t a, b;
} Had;
typedef struct Roles {
    Comparison now;  /* of this run */
    VEC(Had) had;    /* .. by comparison */
    bool impossible; /* some loop has more turns than in any launch */
    VEC(Count) counts;
    VEC(uint32_t) count_of; /* by form: its count + 1 */
    VEC(Between) between;
    Names *pairs;           /* a and b of each of them, as its name */
    LxPool pool;            /* the launch's expressions, and, behind those, what counts are made from */
    const Lx *made;         /* by value; 0: not made from what the launch has alone */
    Loop *loops;            /* by op that opens one */
    VEC(Uses) uses;
    int64_t (*plain)[USES]; /* by body and barrier: in no loop */
    VEC(Mark) marks;        /* of this run */
    VEC(Passed) passed;
    VEC(Counted) counted;
    VEC(Counted) wholes;    /* of a barrier: what threads do with it */
} Roles;

void roles_compare(Verifier *v, bool whole); /* in now. whole: the run is over */

#endif
