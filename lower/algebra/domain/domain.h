/* What can be known about a scalar without running the program.
 *
 * A scalar's normal form is a polynomial with integer coefficients over atoms: symbolic sizes (>= 1), scalar
 * parameters, indices with a range (cta.x, loop indices), ranks, quotients and remainders, minima and maxima, and
 * opaque values (loaded from memory, variables). Equal scalars have equal normal forms. Proofs put each index at its
 * extreme by the sign of its coefficient and then ask that every coefficient of the difference is >= 0. There is no
 * search: time is linear in the size of the forms, and the steps of one proof are limited. What is not proved may still be true.
 */
#ifndef LOWER_ALGEBRA_DOMAIN_DOMAIN_H
#define LOWER_ALGEBRA_DOMAIN_DOMAIN_H

#include "lang/checked.h"
#include "lang/interval.h"
#include "lang/lx.h"
#include "lang/names.h"

#define MAP_RANK_MAX 5

typedef uint32_t Atom; /* 1-based; 0: none */

/* What a value depends on. */
typedef enum Depends {
    DEP_LAUNCH = 1, /* sizes, strides, scalar parameters: known at launch */
    DEP_TEAM = 2,   /* cta.x/y/z, team of a cluster */
    DEP_RANK = 4,   /* rank in the cluster */
    DEP_LOOP = 8,   /* indices of loops, and variables */
    DEP_DATA = 16   /* loaded from memory, or a variable */
} Depends;

typedef struct Term {
    int64_t coef;
    uint8_t natoms;
    const Atom *atoms; /* sorted, repeated for powers */
} Term;
typedef struct Poly { /* terms sorted by monomial, no zero coefficients; immutable, shared freely */
    const Term *terms;
    uint32_t n;
    bool bad; /* overflowed or too large: nothing can be proved about it */
} Poly;

typedef struct Domain Domain;
Domain *domain_new(Arena *a);

Poly poly_const(Domain *d, int64_t k);
Poly poly_atom(Domain *d, Atom x);
Poly poly_add(Domain *d, Poly a, Poly b);
Poly poly_sub(Domain *d, Poly a, Poly b);
Poly poly_mul(Domain *d, Poly a, Poly b);
/* Floor division and modulo, ceil(a / b), min, max: exact where it can be (exact division folds, using the facts),
 * otherwise quotient and remainder atoms with 0 <= x - q*d < d for d >= 1 proved. Equal arguments give equal atoms. */
Poly poly_div(Domain *d, Poly a, Poly b);
Poly poly_mod(Domain *d, Poly a, Poly b);
Poly poly_ceil(Domain *d, Poly a, Poly b);
Poly poly_min(Domain *d, Poly a, Poly b);
Poly poly_max(Domain *d, Poly a, Poly b);
/* What an operation makes of two integers: shifts by a number, of bits the last ones. False where no form says it. */
bool poly_op(Domain *d, LxOp op, Poly a, Poly b, Poly *out);
bool poly_is_const(Poly p, int64_t *k);
int64_t poly_constant_term(Poly p);
bool poly_same(Poly a, Poly b); /* equal normal forms */
bool poly_apart(Domain *d, Poly a, Poly b, int64_t *k); /* a - b, where that is a number */
Atom poly_plain(Poly p);        /* the atom that it is; 0: none */

/* Atoms. `sym` is the launch symbol's number (for domain_lx). */
Atom domain_param(Domain *d, const char *name, uint32_t sym, int64_t lo, int64_t hi); /* size, stride, scalar parameter */
/* 0 <= index < count: what is called by the name is from + index. `count` may be 0 only where the body does not run (so count >= 1
 * is known inside). */
Atom domain_index(Domain *d, const char *name, Poly from, Poly count, unsigned depends);
void domain_at_most(Domain *d, Atom index, int64_t hi); /* by a constant, too */
/* Unknown value with bounds (INT64_MIN / INT64_MAX: none) and modulus (1: none): value % mod == rem. */
Atom domain_opaque(Domain *d, const char *name, int64_t lo, int64_t hi, int64_t mod, int64_t rem, unsigned depends);

/* Facts (`where`): later normal forms and proofs use them. Substitutes where that is possible (K == 9 * C; a size
 * that is a multiple of a constant or of another size becomes the product with a new size), else keeps bounds.
 * Returns false where the fact can't be used (it is still checked at launch). */
bool domain_assume_eq(Domain *d, Poly a, Poly b);
bool domain_assume_divides(Domain *d, Poly divisor, Poly x); /* x % divisor == 0 */
bool domain_assume_le(Domain *d, Poly a, Poly b);

/* Proofs: true = proved. */
bool domain_le(Domain *d, Poly a, Poly b);
bool domain_le_where(Domain *d, const Poly *holds, int n, Poly a, Poly b); /* where these are >= 0 */
bool domain_lt(Domain *d, Poly a, Poly b);
bool domain_eq(Domain *d, Poly a, Poly b);
bool domain_divides(Domain *d, int64_t m, Poly x); /* x % m == 0, m >= 1 */
/* p with to[i] instead of from[i], inside quotients, minima and maxima as well; bad where that took too long. */
Poly domain_rename(Domain *d, Poly p, const Atom *from, const Atom *to, int n);

unsigned domain_depends(Domain *d, Poly p);
/* Its terms that depend on any of these, and the others. */
void domain_split(Domain *d, Poly p, unsigned depends, Poly *on, Poly *rest);
bool domain_mentions(Domain *d, Poly p, Atom x); /* also inside quotients; true as well where looking took too long */
/* Greatest and least value over all indices (not launch symbols): a polynomial over launch atoms only. False where
 * it has none (opaque values without bounds, a sign that depends on a symbol). */
bool domain_max(Domain *d, Poly p, Poly *out);
bool domain_min(Domain *d, Poly p, Poly *out);
Interval domain_interval(Domain *d, Poly p); /* numbers between which it is */
/* What was made in the domain's arena since then is given back, unless the domain has to keep some of it. */
typedef struct DomScratch {
    ArenaMark mark;
    uint32_t kept;
} DomScratch;
DomScratch domain_scratch(const Domain *d);
void domain_release(Domain *d, DomScratch s);
/* Loops. Where the index counts from, and its greatest value, where the body runs; false for other atoms. */
bool domain_range(Domain *d, Atom index, Poly *from, Poly *last);
Poly domain_with(Domain *d, Poly p, Atom x, Poly value); /* p with value in the place of x, inside quotients too */
/* p, where terms that one index with few values moves are the same for each of them as a multiple of it, with that instead. */
Poly domain_straight(Domain *d, Poly p);
bool domain_remainder(Domain *d, Poly p, Poly *of, Poly *by); /* p is what is left of `of` by `by` */
bool domain_linear(Domain *d, Poly p, Atom x, int64_t *coef, Poly *rest); /* p = coef * x + rest, without x in rest */
/* p as coef * x + rest of one atom x that moves, without x in rest; 0: none does. */
Atom domain_moving(Domain *d, Poly p, Poly *coef, Poly *rest);
/* Indices and unknown values are numbered as they are made. Does p mention one of after < number <= upto? True as well
 * where looking took too long. */
Atom domain_newest(const Domain *d);
bool domain_made(Domain *d, Poly p, Atom after, Atom upto);
/* As a launch expression; false if it depends on more than DEP_LAUNCH. */
bool domain_lx(Domain *d, Arena *a, LxPool *pool, Poly p, Lx *out);
/* "64 * cta.y + 16", for messages. */
const char *domain_text(Domain *d, Arena *a, Poly p);

/* Rule G. What two accesses touch, as intervals of numbers that every element has: its place in a dimension, or any other
 * number. Who touches the same element agrees in the number on every axis; a number that a condition gives a value is one more.
 * domain_apart_teams proves that for team indices
 * t != t' the accesses A(t) and B(t') touch nothing together, whatever the other (loop) indices are. team[]: the atoms of
 * cta.x/y/z with more than one value (already without those whose range is the constant 1).
 * Method: starts as sums of steps times numbers, the digits of indices among them; a number whose step is at least what the
 * boxes and all other numbers span is the same for both (boxes.c). On failure *why says, in one sentence, which index or axis
 * could not be separated. */
enum { DOM_AXES_MAX = 48 };
typedef struct DomAxis {
    const char *name;          /* "dimension 0"; NULL: a number */
    Poly start[2], extent[2];  /* of A, of B */
    Poly size;                 /* nothing is touched but what lies in 0 .. size - 1; 0: it is not known */
    const Atom *agree;         /* indices without which the number is another one for each side */
    int nagree;
    bool quiet;                /* that it doesn't fit is no reason to name */
} DomAxis;
DomAxis domain_number(Domain *d, Poly a, Poly b); /* one that each element that they have in common is at: a of A, b of B */
typedef struct DomPair {
    const DomAxis *axis;
    int naxes;
    const Atom *team;
    int nteam;
    const Poly *holds[2]; /* >= 0, of A, of B */
    int nholds[2];
} DomPair;
bool domain_apart_teams(Domain *d, Arena *a, const DomPair *p, const char **why);
/* Same team, same iteration, equal indices: do they never touch the same? Also slots k % S and (k + 1) % S. */
bool domain_apart(Domain *d, const DomPair *p);

typedef struct DomBox { /* start and extent (elements) per dimension */
    int rank;
    Poly start[MAP_RANK_MAX];
    Poly extent[MAP_RANK_MAX];
} DomBox;
bool domain_disjoint(Domain *d, const DomBox *A, const DomBox *B); /* as domain_apart */

#endif
