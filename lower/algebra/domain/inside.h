/* Inside of the domain (domain.h): atoms, monomials, and what its files share.
 *
 *   poly.c         arithmetic of normal forms, atoms replaced: by what facts say, by values
 *   quotients.c    quotients, remainders, minima, maxima: folding, and the atoms where nothing folds
 *   domain.c       atoms and facts
 *   prove.c        x >= 0, x % m == 0, extremes
 *   boxes.c        boxes that never overlap
 *   order.c        boxes one behind the other
 *   basis.c        the numbers that their starts are sums of
 *   values.c       what values these have where two boxes meet
 *   ties.c         what starts that are equal say then
 *   tell.c         why boxes may overlap
 *   loops.c        forms of an index
 *   show.c         text and launch expressions
 *
 * Glossary
 *   basic atom     size, parameter, opaque value: bounded by constants
 *   derived atom   quotient, minimum, maximum of two normal forms
 *   level          0 for basic atoms, otherwise 1 + that of what the atom is made of. Proofs and extremes remove the
 *                  atom of the highest level first, so that they end.
 *   replaced       a basic atom that a fact has made a polynomial over others (K -> 9 * C)
 *   child          the new atom c of `x = scale * c + offset`, which replaces x where x % scale is known
 *   epoch          counts replacements. Forms made before one are brought up to date where they are next used.
 *
 * Names: poly_xxx is public and takes forms of any epoch; raw_xxx takes current ones only.
 */
#ifndef LOWER_ALGEBRA_DOMAIN_INSIDE_H
#define LOWER_ALGEBRA_DOMAIN_INSIDE_H

#include "lower/algebra/domain/domain.h"

/* Limits: beyond them a form is bad, or a fact is not used. They keep every operation's cost bounded. */
enum {
    TERMS_MAX = 40,
    DEGREE_MAX = 8,
    LEVEL_MAX = 20,
    DERIVED_MAX = 4096,
    REPLACED_MAX = 64,
    FACTS_MAX = 16,
    LOCAL_FACTS_MAX = 12,
    RUNS_MAX = 4, /* facts that separation() looks for */
    PROOF_STEPS = 96, /* atoms removed in one proof, all branches together */
    FOLD_STEPS = 24,  /* in the proofs by which quotients and minima fold */
    EXTREME_STEPS = 48,
    LOOK_MAX = 256, /* atoms looked into in one form */
    ATOM_BLOCK = 8,
    ATOM_BUCKETS = 64,
    VARIES = DEP_TEAM | DEP_RANK | DEP_LOOP /* what isn't one value for all */
};
#define COEF_MAX ((int64_t)1 << 61) /* sums of two coefficients never overflow */

typedef enum AtomKind { ATOM_PARAM, ATOM_OPAQUE, ATOM_INDEX, ATOM_DIV, ATOM_MIN, ATOM_MAX } AtomKind;

typedef struct AtomInfo {
    uint8_t kind, level;
    bool replaced; /* basic: `now` stands for it */
    bool positive; /* ATOM_DIV: the divisor is >= 1; otherwise nothing is known about the value */
    bool exact;    /* ATOM_DIV: the remainder is 0 */
    bool changed;  /* as of `epoch`: `now` differs from the atom itself */
    unsigned depends;
    uint32_t epoch; /* when changed and now were last brought up to date */
    uint32_t sym;   /* sizes and parameters */
    Atom self;      /* the monomial of `unit` */
    Atom parent;    /* a child's; 0: none */
    Atom next;      /* in its bucket (derived) */
    uint32_t hash;
    int64_t lo, hi; /* bounds that hold for every valuation; NO_LO, NO_HI: none */
    Term unit;      /* 1 * the atom */
    Poly a, b;      /* derived: operands; index: where it counts from, greatest value; child: scale and offset */
    Poly now;
    const char *name;
} AtomInfo;

typedef struct Multiple { /* x % divisor == 0 */
    Poly divisor, x;
} Multiple;

typedef struct Made { /* an index that stands for num, counted from its least value; for num / den, too; for num modulo den */
    Poly num, den;
    enum { MADE_NUMBER, MADE_QUOTIENT, MADE_REMAINDER } kind;
    Atom index;
} Made;

struct Domain {
    Arena *arena;
    uint32_t natoms, nderived, nreplaced;
    uint32_t epoch;
    uint32_t kept; /* counts what must outlive a proof (atoms, updates): then its scratch memory is not given back */
    uint32_t nge, nmultiples;
    VEC(AtomInfo *) blocks;
    Poly ge[FACTS_MAX]; /* each >= 0 */
    Multiple multiples[FACTS_MAX];
    Atom bucket[ATOM_BUCKETS];
    Atom more; /* order.c's; 0: not yet made */
    VEC(Made) made;
};

static inline AtomInfo *atom_info(const Domain *d, Atom x)
{
    return &d->blocks.v[(x - 1) / ATOM_BLOCK][(x - 1) % ATOM_BLOCK];
}

#define POLY_ZERO ((Poly){0})
#define POLY_BAD ((Poly){.bad = true})
/* Each atom of its terms. */
#define FOR_ATOMS(p, x)                                                                                                \
    for (uint32_t term_ = 0; term_ < (p).n; term_++)                                                                   \
        for (Atom x, at_ = 0; at_ < (p).terms[term_].natoms && (x = (p).terms[term_].atoms[at_], true); at_++)

/* < 0: x comes first. A lexicographic monomial order: kept by multiplication; the constant term is last. */
int mono_cmp(const Term *x, const Term *y);
bool mono_divides(const Term *m, const Term *by, Term *quotient, Atom *room); /* room[DEGREE_MAX] for quotient->atoms */
/* The monomial that all terms of both have in common, of atoms that are at least lo; m[DEGREE_MAX]. */
uint8_t mono_common(Domain *d, Poly a, Poly b, int64_t lo, Atom *m);
Poly raw_add(Domain *d, Poly a, Poly b);
Poly raw_sub(Domain *d, Poly a, Poly b);
Poly raw_neg(Domain *d, Poly a);
Poly raw_mul(Domain *d, Poly a, Poly b);
Poly raw_scale(Domain *d, Poly a, int64_t k);
Poly raw_plus(Domain *d, Poly a, int64_t k);
Poly raw_mul_term(Domain *d, Poly a, const Term *t);
Poly raw_atom(Domain *d, Atom x);
Poly term_poly(Domain *d, int64_t coef, const Atom *atoms, uint8_t n);
/* Also inside derived atoms and ranges; true as well where looking took too long. */
bool poly_mentions(Domain *d, Poly p, Atom x);
/* p = coef * x + rest; coef may contain x again. */
void poly_split(Domain *d, Poly p, Atom x, Poly *coef, Poly *rest);
/* The form as the facts known by now have it. */
Poly poly_brought(Domain *d, Poly p);
static inline Poly poly_now(Domain *d, Poly p)
{
    return d->epoch == 0 || p.bad ? p : poly_brought(d, p);
}
typedef Poly AtomValue(Domain *d, Atom x, void *context);
Poly with_values(Domain *d, Poly p, AtomValue *of, void *context); /* each atom of it, not of its parts, replaced */
/* Quotient if b divides a without remainder, as polynomials with integer coefficients. */
bool poly_exact(Domain *d, Poly a, Poly b, Poly *quotient);
/* A large f that divides both c and den: den, or integer * atoms >= 0. c = f * cq, den = f * dq. */
Poly poly_common(Domain *d, Poly c, Poly den, Poly *cq, Poly *dq);
int64_t poly_content(Poly p, bool with_constant); /* gcd of the coefficients */

Atom atom_add(Domain *d, AtomKind kind, const char *name, unsigned depends);
/* 0 where there are too many. `positive` as in AtomInfo. */
Atom atom_derived(Domain *d, AtomKind kind, Poly a, Poly b, bool positive);
unsigned poly_depends(Domain *d, Poly p);
unsigned poly_level(Domain *d, Poly p);

Interval poly_interval(Domain *d, Poly p);
/* p >= 0 in at most so many steps; p current. */
bool prove_ge0(Domain *d, Poly p, uint32_t steps);
typedef struct Runs { /* >= 0, since loops run, or conditions hold */
    Poly more[LOCAL_FACTS_MAX - 4];
    uint32_t n;
} Runs;
bool prove_ge0_where(Domain *d, const Runs *runs, Poly p, uint32_t steps);
int prove_sign(Domain *d, Poly p); /* 1: >= 0, -1: <= 0, 0: unknown */
bool prove_multiple(Domain *d, Poly divisor, Poly x);

/* What those that meet have in common of the indices, by equal starts and by what holds for both, as axes; *never: they don't meet. */
void ties(Domain *d, const DomPair *p, DomAxis *axis, int *naxes, bool *never);
void runs_add(Domain *d, Runs *runs, Poly p); /* p >= 0, if there is room */

#endif
