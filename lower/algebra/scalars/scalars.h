/* Scalars of the program: normal forms, ranges, extremes, what holds at each rank, and what must hold of them.
 *
 *   scalars.c    environment, facts, normal forms          ranges.c     bounds of values and indices
 *   exact.c      whether a value may leave 64 bits         variables.c  what every value of a variable has in common
 *   ranks.c      what differs from CTA to CTA              needs.c      proved, checked at launch, or neither
 *   points.c     what a variable is between, at points of the program
 */
#ifndef LOWER_ALGEBRA_SCALARS_SCALARS_H
#define LOWER_ALGEBRA_SCALARS_SCALARS_H

#include "lower/algebra/domain/domain.h"
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/kernel.h"

enum { SIDE_LO = 1, SIDE_HI = 2 };
/* What an expression is made of; from the graph alone. */
enum { USE_LAUNCH = 1, USE_CTA = 2, USE_RANK = 4, USE_TEAM = USE_CTA | USE_RANK, USE_INDEX = 8, USE_VAR = 16, USE_LOAD = 32 };

typedef struct Extremes { /* over all indices, at launch; 0: unknown */
    Lx lo, hi;
} Extremes;
typedef struct Cached { /* a value of a node, reusable while its scope is open and no variable changed */
    Opnd o;
    uint32_t scope, epoch;
    bool set;
} Cached;
typedef struct Made { /* a normal form */
    Poly poly;
    bool set;
    uint32_t epoch, ranks, facts; /* when it was made */
} Made;
typedef struct Scalar { /* what is known of one node of an expression graph */
    const Sx *x; /* the first of those that are equal */
    uint8_t uses;
    uint64_t loops; /* whose indices it uses; bit 63: some with a higher number */
    bool has_range, has_extremes;
    uint32_t ranged;   /* when: of what reads variables and indices */
    bool wraps;        /* exact.c: may leave 64 bits, and the launch can't tell */
    bool in_parts;     /* a ceil: made of quotient and remainder, since (a + b - 1) / b might leave 64 bits or b be below 1 */
    uint8_t unbounded; /* sides of the range that the launch must check: SIDE_LO, SIDE_HI */
    bool noted, covered; /* for that check; a greater expression's check implies it */
    Interval range;
    Extremes extremes;
    Made made[2]; /* of any rank; of one, where it differs by rank: an element is one number, whatever is asked of ranks in between */
    Lx lx;
    Cached low, wide, pred;
} Scalar;
typedef struct LetState { /* defined: a value of its own, because it reads a variable or memory */
    const char *name;
    Poly poly;
    bool has_poly;
    const Poly *by_rank; /* of what reads variables, where CTAs of the cluster may differ; NULL elsewhere */
    Opnd value;
    bool has_value;
    bool bounded;        /* points.c has been there: what reads variables is between these */
    Interval range;
    Extremes extremes;
} LetState;
typedef struct VarState {
    Poly poly;            /* what it holds now */
    const Poly *by_rank;  /* of one in which CTAs of the cluster may differ, if poly is still that of .. */
    Poly ranked;          /* .. then */
    uint32_t ir;          /* IrVar */
    int64_t mod, rem; /* hold for every value that it ever has; */
    Interval range;   /* .. this, too, but in points.c */
    Extremes extremes;
    Interval now;     /* that it is between here, where no more is known of it */
    Name name;
} VarState;
typedef enum VarPoint { /* where no normal form says what a variable holds */
    POINT_IN,     /* a turn of a loop begins, or the first branch of an `if` */
    POINT_OTHER,  /* the other branch */
    POINT_BEHIND, /* behind the statement */
    POINTS
} VarPoint;
typedef struct OpenLoop {
    Atom index;
    Atom turn; /* the same, where turns of the loop are told apart as if they were teams */
} OpenLoop;
typedef struct Condition { /* a comparison that holds */
    enum { COND_ORDER, COND_EQUAL, COND_UNEQUAL, COND_HOLDS, COND_FAILS } kind; /* the last two: a, which is no comparison, does, or does not */
    const Sx *a, *b;
    int less; /* COND_ORDER: a + less <= b */
} Condition;
typedef struct LoopState {
    const PStmt *stmt;
    OpenLoop atoms; /* made once: what is known of a store is compared with it when the loop is open */
    Poly index;
    Opnd value;
    bool wide;
    Interval range; /* of the index */
} LoopState;

typedef struct Need { /* for all indices: proved, left to a launch check, impossible, or undecidable */
    enum { NEED_PROVED, NEED_CHECK, NEED_NEVER, NEED_UNKNOWN } is;
    Lx cond; /* of the check */
} Need;

typedef struct Point { /* what a variable is between, at points of a statement that assigns it */
    uint32_t var;
    bool first; /* not in the other branch alone */
    Interval at[POINTS];
    uint8_t reached; /* a bit of each */
    uint8_t grown;   /* how often, where a turn begins */
} Point;
typedef VEC(Point) Points;

struct Scalars {
    Names *nodes;     /* by where a node is, and by what it is made of: .. */
    VEC(Scalar *) of; /* .. by that name */
    VEC(Scalar *) all;
    uint32_t epoch;       /* counts changes of variables */
    uint32_t ranged;      /* .. of what is known of variables and indices */
    Names *statements;    /* by where they are, .. */
    VEC(Points *) points; /* .. by that name: points.c */
    uint32_t ranks;       /* counts changes of at_rank */
    uint32_t facts;       /* counts what has been assumed of sizes and parameters */
    int at_rank;          /* values are those of this rank; -1: of any */
    uint8_t by_rank;      /* uses of what differs from rank to rank */
    Atom *sym_atom;
    bool *positive; /* by symbol: a size that is at least 1 wherever a CTA runs */
    Poly *sym, cta[3], cluster[3], rank;
    Poly any_cta[3], any_cluster[3], any_rank; /* while the values are those of one rank */
    Atom team[8 + 3];
    int nteam;
    Atom any_team; /* of kernels with pipelines across the grid: teams_beside */
    bool team_atoms;      /* the indices of such a pipeline are being opened: by them teams differ */
    Atom cluster_atom[3]; /* in kernels with such pipelines: cluster.x, y, z where there are several */
    LetState *lets;
    VarState *vars;
    LoopState *loops;
    VEC(LoopState) more_loops; /* of numbers from k->nloops on: rows of a copy */
    uint32_t nloops;
    VEC(OpenLoop) open_loops; /* outermost first */
    uint64_t open_mask;
    VEC(Condition) conditions; /* that hold where the statement at hand does something */
    VEC(const Sx *) wide_scalars; /* exact.c: whose extremes the launch evaluates */
};

/* ---- scalars.c ---- */
bool has_across(const PKernel *k); /* pipelines dealt across the grid: such a kernel has no cta.x, y, z */
const PStmt *only_across(const PKernel *k); /* the one, where there is just one; else NULL */
void scalars_begin(Lower *L); /* symbols, facts, grid, variables */
void teams_beside(Lower *L);  /* rule G, beside pipelines across the grid */
Poly scalar_poly(Lower *L, const Sx *x);
/* Statements of the walk at hand: what names stand for from here on. */
void scalar_let(Lower *L, const PStmt *st);
void scalar_assign(Lower *L, const PStmt *st);
uint8_t scalar_uses(Lower *L, const Sx *x);
bool scalar_of_sizes(const Lower *L, const Sx *x); /* at least 0 for all of them, also where no CTA runs */
uint64_t loop_bit(int64_t k);
Lx scalar_lx(Lower *L, const Sx *x); /* launch expression; 0 where it depends on more */
Scalar *scalar_of(Lower *L, const Sx *x);

static inline LoopState *loop_state(Lower *L, int64_t k)
{
    return k < L->k->nloops ? &L->scalars->loops[k] : &L->scalars->more_loops.v[k - L->k->nloops];
}

/* ---- ranges.c ---- */
Interval scalar_range(Lower *L, const Sx *x);
const Sx *scalar_over(Lower *L, const Sx *x); /* p of max(p, q) - q, which is no less than 0: extents of views are; else NULL */
void loop_range(Lower *L, const PStmt *st); /* of its index */
/* The i-th index of a pipeline as the loop that it is. */
static inline PStmt pipe_index(const PPipe *p, int i)
{
    return (PStmt){.kind = P_FOR, .span = p->v[i].span, .id = p->v[i].loop, .name = p->v[i].name, .lo = p->v[i].lo,
                   .value = p->v[i].hi};
}
bool scalar_positive(Lower *L, const Sx *x); /* at least 1: by its range, or by facts about sizes */

/* ---- exact.c ---- */
Extremes scalar_extremes(Lower *L, const Sx *x);
Lx lx_known(Lower *L, LxOp op, Lx a, Lx b); /* 0 where an operand is unknown or constants overflow */
bool scalar_fits_at_launch(Lower *L, const Sx *x);
bool scalar_exact(Lower *L, const Sx *x); /* its value is what integers give */
void exact_note(Lower *L, const Sx *x);   /* x is used */
void exact_check(Lower *L);               /* at the end: checks for what was used */

/* ---- variables.c ---- */
/* x % *mod == *rem, also where x wraps around. */
void scalar_residue(Lower *L, const Sx *x, int64_t *mod, int64_t *rem);
void vars_infer(Lower *L);
Poly var_unknown(Lower *L, uint32_t v);

/* ---- points.c ---- */
void points_infer(Lower *L); /* of variables of which something is known already */
/* Of variables that the statement assigns no more is known from here on than what they are between at that point of it. */
void vars_forget(Lower *L, const PStmt *st, VarPoint at);

/* ---- ranks.c ---- */
/* Values as the CTA of that rank has them; -1: of any rank again. */
void cluster_rank(Lower *L, int rank);
Poly scalar_at_rank(Lower *L, const Sx *x, int rank);
uint32_t cluster_set(const Lower *L, PCast cast, int rank); /* bit set of the CTAs that a multicast of it reaches */
bool cluster_along(PCast cast, int axis); /* do CTAs that differ along the axis get the same multicast? */
bool cluster_same(Lower *L, const Sx *x);                              /* equal in all CTAs */
bool cluster_equal(Lower *L, const PMove *mv, PCast cast);             /* coordinates equal in each set */
bool cluster_pairs(Lower *L, const Sx *x);                             /* the same in both CTAs of each pair; NULL is */
/* Before it gets x, whose normal form is `of`. */
void cluster_assign(Lower *L, uint32_t var, const Sx *x, Poly of);
void cluster_let(Lower *L, uint32_t let, const Sx *x);
Poly cluster_var(Lower *L, uint32_t var); /* at the rank that is set */
uint32_t cluster_size_of(const Lower *L, PCast cast);
int cond_now(Lower *L, const Sx *x); /* at the rank that is set: 0, 1, or -1: not known */

/* ---- needs.c ---- */
Need need_multiple(Lower *L, Poly x, int64_t m); /* x % m == 0 */
Need need_at_least(Lower *L, Poly x, int64_t limit);
Need need_at_most(Lower *L, Poly x, int64_t limit);
Need need_equal(Lower *L, Poly x, int64_t k);
Need need_both(Lower *L, Need a, Need b);
/* Proved, or left to a launch check, whose text is made where it is the first. */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
bool
need_met(Lower *L, Need need, ErrorCode code, Span at, const char *why, const char *fmt, ...);
/* 0 <= x <= most: proved, or left to a launch check, which has its code and says why. */
bool need_within(Lower *L, Poly x, int64_t most, ErrorCode code, Span at, const char *why);
/* The comparisons that together say that cond holds, or does not, are put behind those around; how many those are. */
uint32_t conditions_open(Lower *L, const Sx *cond, bool holds);
Poly condition_room(Lower *L, const Condition *c); /* of a comparison: b - a - less */
/* x >= limit wherever the conditions around the statement at hand hold: enough for what is done under them alone. */
bool conditions_at_least(Lower *L, Poly x, int64_t limit);

#endif
