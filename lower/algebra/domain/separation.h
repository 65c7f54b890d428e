/* Inside of boxes that never overlap: boxes.c says how. Private to its files. */
#ifndef LOWER_ALGEBRA_DOMAIN_SEPARATION_H
#define LOWER_ALGEBRA_DOMAIN_SEPARATION_H

#include "lower/algebra/domain/inside.h"

enum { ROWS_MAX = 2 * DOM_AXES_MAX + DOM_AXES_MAX, NUMBERS_MAX = 64 };

typedef struct Row { /* both boxes have a place on it in common */
    const DomAxis *axis; /* NULL: what stands for an index */
    Poly start[2], extent[2]; /* extents at their greatest: numbers of the launch */
    Poly size;                /* nothing is touched but what lies in 0 .. size - 1; 0: it is not known */
    Poly at[2];               /* starts at the values that numbers have */
} Row;
typedef struct Number { /* from 0 to last, of its own for each side */
    Atom atom;
    Poly last;
    bool same;        /* of one value on both sides */
    bool has[2];      /* the values that it has there, where there is but one */
    Poly value[2];
} Number;
typedef struct Separation {
    Domain *d;
    Arena *a;
    const DomPair *pair;
    Row row[ROWS_MAX];
    int nrows, naxes; /* naxes: from there on by numbers that stand for indices */
    Number number[NUMBERS_MAX];
    int nnumbers;
    Runs runs;  /* the loops around both */
    bool never; /* they don't meet at all */
} Separation;

typedef struct Part { /* what a number that differs adds to A's start less B's */
    int number;
    bool alike;  /* it moves both in the same way */
    Poly step;   /* >= 0: times how far its values are apart; bad: the two are no multiples of one step */
    Poly lo, hi; /* bad: not known */
    int64_t content; /* it is a multiple of that */
} Part;
typedef struct Sum { /* A's start less B's */
    Part part[NUMBERS_MAX];
    int n;
    Poly lo, hi; /* of what is no part */
    Poly rest[2]; /* of each side, what is no sum of steps */
    Poly fixed;  /* .. if it is a number of the launch; bad: it is not */
    Poly moving[2], same; /* each side's start: what is not equal; of what is, A's less B's */
} Sum;

bool at_most(const Separation *s, Poly a, Poly b); /* a <= b, while the loops run */
void basis_find(Separation *s);
bool moved_by(Domain *d, Poly p, Atom x); /* not by ranges of others alone */
bool equal_in_order(Separation *s, const Row *r, int number); /* is it equal, as else one box lies before the other? */
bool values_find(Separation *s); /* values that numbers have where the two meet: more of them */
Sum sum_of(Separation *s, const Row *r);
bool all_same(Separation *s, Poly p); /* all that varies in p is */
bool agreed(Separation *s, const Row *r);
Poly reach_of(Separation *s, const Row *r, const Sum *sum, int part, bool behind); /* of all but that part; bad: not known */
Atom first_together(Separation *s); /* of the numbers of the teams; 0: none */
const char *tell_together(Separation *s); /* why, in one sentence */

#endif
