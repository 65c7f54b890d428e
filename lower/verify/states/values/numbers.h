/* Numbers that are not known: linear forms k + sum of c * atom, of which equal ones are one, and what is known of them: forms that are >= 0.
 * Number 0: none, as what would not fit 64 bits. */
#ifndef LOWER_VERIFY_STATES_NUMBERS_H
#define LOWER_VERIFY_STATES_NUMBERS_H

#include <stdbool.h>

#include "lang/names.h"

typedef uint32_t Num;
typedef struct NumTerm {
    int64_t c;
    uint32_t atom;
} NumTerm;
typedef struct NumData {
    int64_t k;
    uint32_t n;
    NumTerm t[]; /* by atom */
} NumData;
typedef struct Facts { /* each form's linear part once; what follows from none of them by a divisor is tight */
    Num *v;
    uint32_t n, cap;
} Facts;
typedef struct Numbers {
    Arena *arena;
    Names *names, *asked; /* forms and questions by what they are made of */
    VEC(NumData *) all;
    VEC(uint8_t) answers;
    struct Table *table, *spare;
    uint64_t work; /* rows that were combined */
} Numbers;

void numbers_init(Numbers *n, Arena *a);
static inline const NumData *num_data(const Numbers *n, Num x)
{
    return n->all.v[x - 1];
}
Num num_const(Numbers *n, int64_t k);
Num num_atom(Numbers *n, uint32_t atom);
Num num_add(Numbers *n, Num x, int64_t m, Num y); /* x + m * y */
Num num_plus(Numbers *n, Num x, int64_t k);
Num num_times(Numbers *n, int64_t k, Num x);
Num num_contrary(Numbers *n, Num x); /* >= 0 where x is not: -1 - x */
Num num_div(Numbers *n, Num x, int64_t d);            /* rounded down, where the coefficients are multiples of d > 0; else 0 */
Num num_put(Numbers *n, Num x, uint32_t atom, Num y); /* y in its place */
static inline bool num_is(const Numbers *n, Num x, int64_t *k)
{
    if (x == 0 || num_data(n, x)->n) return false;
    *k = num_data(n, x)->k;
    return true;
}
bool num_same_terms(const NumData *a, const NumData *b); /* but for k they are equal */
int num_compare(const Numbers *n, Num x, Num y);         /* by what they are made of: their numbers tell which of them was made first */
int64_t num_coefficient(const Numbers *n, Num x, uint32_t atom);
const char *num_text(const Numbers *n, Arena *a, Num x, const char *(*name)(void *of, uint32_t atom), void *of);

Facts facts_copy(Arena *a, const Facts *f);
bool facts_add(Numbers *n, Arena *a, Facts *f, Num x);          /* false: no number is so */
bool facts_imply(Numbers *n, const Facts *f, Num x);            /* x >= 0 surely */
bool facts_fail(Numbers *n, const Facts *f);                    /* no numbers are so; false may be wrong */
bool facts_drop(Numbers *n, Arena *a, Facts *f, uint32_t atom); /* what they say of the others */

#endif
