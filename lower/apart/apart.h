/* What never meets: accesses to global memory of different teams (rule G), of one team in different turns, or in one turn.
 *
 *   accesses.c  what a kernel's moves touch, and what the conditions around them say
 *   axes.c      an access as intervals: each kind of access adds its axes here
 *   compare.c   two accesses: are they apart?
 *   hulls.c     many accesses: which are not?
 *   rule_g.c    what must be
 *   refuse.c    and what is said where it is not proved
 *
 * Glossary
 *   axis      a number that each element of a tensor has, or none: its place in a dimension of the tensor, or of a view; the place of
 *             its row in an index that is trusted to be distinct, or sorted; the number of its pixel. An access touches elements whose
 *             number lies in start .. start + extent - 1. Who touches the same element agrees in every number, so two accesses are
 *             apart if on the axes that they have in common the digit method (domain.h) separates them.
 *   known     a number made of indices to which a condition around the access gives a value: an axis of the two that are compared
 *   agree     indices that move what an axis counts from: its numbers mean the same to those that agree in them
 */
#ifndef LOWER_APART_APART_H
#define LOWER_APART_APART_H

#include "lower/algebra/domain/domain.h"
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/kernel.h"
#include "lower/plan/move.h"

enum { TURNS_MAX = 32, TEAM_MAX = 8 + 3, AXES_MAX = 24, AGREE_MAX = 16, KNOWN_MAX = 8 };

typedef enum AxisKind {
    AXIS_ELEMENT,  /* place in a dimension */
    AXIS_RESIDUE,  /* that modulo `unit` */
    AXIS_QUOTIENT, /* that over `unit` */
    AXIS_COUNTED,  /* place in a dimension, less `from`, which elements say; modulo `unit`, if that is not 0 */
    AXIS_DISTINCT, /* r, where the place is from + idx[r]: no two elements of idx are equal */
    AXIS_SORTED,   /* the last r with idx[r] * unit <= place: no element of idx is less than the one before */
    AXIS_PIXEL     /* of what an im2col map walks through; dim 1: channels, or slices */
} AxisKind;
typedef struct Agree {
    Atom index[AGREE_MAX];
    int n;
    bool unknown; /* what a variable held: the same in one turn of one team only */
} Agree;
typedef struct Axis {
    AxisKind kind;
    const void *space; /* the tensor or view whose dimension it is; the map */
    const void *of;    /* the index tensor, or the extent of its dimension that is meant; NULL */
    int dim;
    Poly unit, from;
    Poly start, extent, size; /* size: that of the dimension; 0: nothing to know */
    const Agree *agree; /* NULL: means the same to all */
    bool bound;         /* of the view that it goes through, rather than its own */
    const char *name;   /* "dimension 0" */
} Axis;

typedef struct Known { /* what the conditions around it say: the number, of indices, has a value that a launch knows */
    Poly number, value;
} Known;

typedef struct TensorAccess {
    const MoveInfo *info;
    bool write, waived;
    bool never;          /* it touches nothing: its condition never holds, or it lies outside of the tensor */
    int reduce;          /* WORDS_REDUCE, -1: none */
    uint32_t role;       /* of the roles of the source: its number, from 1; 0: none */
    uint32_t number;     /* in Accesses.all */
    uint32_t kind;       /* equal for those that differ by constants alone: access_kind */
    const void *pipe;    /* the across-grid pipeline around it */
    uint32_t nth_pipe;   /* .. in the order of the source, with what stands beside them */
    bool pipes;          /* of a hull: they are several */
    Atom team[TEAM_MAX]; /* indices by which different CTAs or iterations differ */
    int nteam;
    VEC(OpenLoop) loops; /* around it */
    uint32_t common;     /* so many of them, the outermost; of a hull: around all in it */
    VEC(Axis) axes;
    VEC(Known) known;    /* at most KNOWN_MAX */
    VEC(Poly) holds;     /* so many, too: of indices, >= 0 by the conditions around it */
    uint32_t planned, taken; /* where moves are planned: its number, and that of the first move by which the working role has
                              * waited for what it loads; UINT32_MAX: none; of a hull the first number, the last move */
    bool behind; /* a load by the role that stores, behind all that it has stored */
} TensorAccess;

struct Accesses {
    VEC(TensorAccess *) all;
    const void *across; /* across-grid pipeline that is open */
    uint32_t role;      /* of the source, that is being lowered: its number, from 1; 0: none */
    VEC(const TensorAccess *) kinds; /* by number: the first of each */
};

/* ---- accesses.c ---- */
/* As it is where the walk stands. It keeps mi. */
TensorAccess *tensor_access(Lower *L, const MoveInfo *mi);
void access_note(Lower *L, const MoveInfo *mi);

/* ---- axes.c ---- */
void axes_of(Lower *L, TensorAccess *a);
bool trusts(const Lower *L, const PTensor *idx, Trust fact);
/* Of the elements of tensors that p is made of the next one, from *i on, if no variable says which: the number that it is. NULL: none more. */
const Sx *next_element(Lower *L, Poly p, uint32_t *i, Atom *atom);
/* The tensor whose elements say which row: NULL where the source computes it. */
const PTensor *row_numbers(const Sx *start, const PRows *rows);

/* ---- compare.c ---- */
typedef struct Renaming { /* other indices in the place of some */
    Atom from[TURNS_MAX + TEAM_MAX], to[TURNS_MAX + TEAM_MAX];
    int n;
} Renaming;
static inline void rename_index(Renaming *r, Atom from, Atom to)
{
    r->from[r->n] = from;
    r->to[r->n++] = to;
}
static inline Poly renamed(Lower *L, const Renaming *r, Poly p)
{
    return domain_rename(L->d, p, r->from, r->to, r->n);
}
typedef enum Apart {
    APART_TEAMS,     /* of different teams, whatever their turns; of different CTAs of a cluster, too */
    APART_CTAS,      /* of different CTAs of a cluster, whatever their turns */
    APART_PIPELINES, /* of different pipelines, or beside one: they have no index in common */
    APART_HERE,      /* of one team, in one turn of the loops around both */
    APART_TURNS,     /* of one CTA, in different turns of the loops around both */
    APART_ANY_TURN   /* of different teams, or in different turns */
} Apart;
/* Of one tensor. why: in one sentence, where they are not; or NULL. */
bool accesses_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, Apart how, const char **why);
bool axes_same(const Axis *x, const Axis *y); /* they count the same */
uint32_t loops_around(const TensorAccess *a, const TensorAccess *b); /* how many are around both, outermost first */
bool subtiles_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b); /* of one tile */

/* ---- hulls.c ---- */
/* May the two meet, in the sense that is looked for? They may be hulls, of accesses that differ by constants and conditions alone: where
 * hulls do not, nothing in them does. */
typedef bool AccessMeet(Lower *L, const TensorAccess *a, const TensorAccess *b);
enum { PAIRS_MIXED = 1, PAIRS_STORES = 2 }; /* a load and a store; two stores */
typedef struct AccessSearch {
    unsigned pairs; /* which are looked for */
    AccessMeet *meet;
    bool (*found)(Lower *L, void *to, uint32_t a, uint32_t b); /* numbers, a <= b, in any order of pairs; false: enough */
    void *to;
    const bool *settled; /* by number: what two of these have in common is not looked for; NULL: none is */
} AccessSearch;
void access_kind(Lower *L, TensorAccess *a);
void accesses_meeting(Lower *L, const AccessSearch *search); /* of all that were noted, each with itself, too */

/* ---- rule_g.c ---- */
static inline bool one_pipe(const TensorAccess *a, const TensorAccess *b) /* perhaps, of hulls */
{
    return a->pipes || b->pipes || a->pipe == b->pipe;
}
void independence_check(Lower *L);
/* The order of two reductions changes nothing: one operation on numbers of one kind. */
bool accesses_commute(const TensorAccess *a, const TensorAccess *b);
/* May the two stores, of one turn or of different ones of a team, write the same place? */
bool stores_meet(Lower *L, const TensorAccess *a, const TensorAccess *b);
/* A load and a store of one team, in the program's order, may meet: in one turn, where the role that stores has not waited for
 * the load in front of it (`waited`), or in different ones. */
bool accesses_cross(Lower *L, const TensorAccess *first, const TensorAccess *second, bool waited);
bool accesses_refused(Lower *L, const TensorAccess *a, const TensorAccess *b); /* for what other teams do */
/* A load, and a store after it, in the same turn: has the working role waited for the load by then? */
bool load_waited_for(const TensorAccess *load, const TensorAccess *store);
/* A store behind a load in one turn, of which nothing says that they are apart. */
bool store_overtakes(Lower *L, const TensorAccess *load, const TensorAccess *store);

/* ---- refuse.c: at L->stmt ---- */
void refuse_permuted(Lower *L, const TensorAccess *w, const TensorAccess *o, const char *why);
void refuse_unproved(Lower *L, const TensorAccess *w, const TensorAccess *o, const char *why);
void refuse_repeated(Lower *L, const TensorAccess *a, const char *op);
void refuse_scalars(Lower *L, const TensorAccess *w);
void refuse_order(Lower *L, const TensorAccess *a, const TensorAccess *b);
void refuse_rows(Lower *L, const PDim *p);

#endif
