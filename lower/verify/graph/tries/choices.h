/* Values that are tried, and what was seen with them. */
#ifndef LOWER_VERIFY_GRAPH_CHOICES_H
#define LOWER_VERIFY_GRAPH_CHOICES_H

#include "lower/verify/graph/values/forms.h"

typedef struct ChoiceKey { /* choices that are made again and again in turns around have the same */
    uint32_t op, thread;
    uint32_t part;
    Form family; /* of a condition: what it asks but for the turn */
} ChoiceKey;
typedef struct Choice {
    Form of; /* normal form, without constant */
    const int64_t *value;
    uint32_t n, at;
    int64_t constant, scale; /* of the trip count that it was made for: scale * value + constant */
    uint32_t op;    /* the loop */
    ChoiceKey key;
    bool alone; /* nothing that is made again */
    uint32_t owner; /* choice that this one follows, UINT32_MAX: none */
    uint32_t turn;  /* how many of the owner's came before */
    bool remainder; /* of is modulo a number: each of its values is tried (tries/remainders.c) */
} Choice;
typedef struct Dividend { /* what some loop counts to, and how many times another one's turns it has: `n` beside `n / by` */
    Form of; /* without constant */
    int64_t by;
} Dividend;
typedef struct ValueList {
    const int64_t *v;
    uint32_t n;
} ValueList;
typedef struct Turns { /* of a loop whose trip count is chosen, or made from what is */
    int64_t most, now; /* in the runs that are over; in this one */
    int64_t upper;     /* no launch has more */
    int64_t least;     /* in the runs of this ring */
    uint32_t ring;
} Turns;
typedef struct Unlike { /* turns of a loop that conditions on its index tell apart: the first and last ones, by remainders */
    uint32_t front, end;
    bool rounds;
} Unlike;
typedef struct Round { /* of a value: tries/rounds.c */
    int64_t turns, step;  /* m times so many turns of any loop later it is a multiple of m * step more; turns 0: not known */
    bool bits;            /* for m that are powers of 2 */
    bool exact;           /* m * step more: it is made from one loop or variable */
    uint64_t loops, vars; /* whose index, or what they hold, it is made from: a bit each */
    bool changes;         /* it may be another one in another turn, or for another thread */
    uint64_t given;       /* made from launch values, or others that chosen trip counts may make a number: a bit each of symbols, one of the rest */
} Round;
#define ROUND_VARIABLE UINT64_MAX /* given: held by a variable */
static inline bool round_returns(const Round *r)
{
    return r->turns && r->step == 0;
}
/* What a value or variable takes part in. */
enum {
    CONE_SYNC = 1,   /* numbers of synchronisation, and conditions of it: through variables */
    CONE_PLACE = 2,  /* places in a buffer: so, too */
    CONE_LOADS = 4,  /* loads are followed here: all that is not of scalars alone */
    CONE_STEERS = 8  /* conditions, trip counts and amounts: as far as it is worked out from values */
};

#endif
