/* What is apart: regions of one team and turn, views, and by rule G what different teams touch.
 *
 *   accesses.c  what a kernel's moves touch in global memory
 *   regions.c   two parts of a tensor, or of a tile
 *   views.c     through views that are made at run time
 *   rule_g.c    what no order holds apart
 */
#ifndef LOWER_APART_APART_H
#define LOWER_APART_APART_H

#include "lower/algebra/domain/domain.h"
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/kernel.h"
#include "lower/plan/move.h"

enum { TURNS_MAX = 32 };

typedef struct TensorAccess {
    MoveInfo info;
    bool write, waived;
    int reduce;          /* WORDS_REDUCE, -1: none */
    uint32_t role;       /* of the roles of the source: its number, from 1; 0: none */
    const void *pipe;    /* the across-grid pipeline around it */
    Atom team[8 + 3];    /* indices by which different CTAs or iterations differ */
    int nteam;
    VEC(OpenLoop) loops; /* around it */
    uint32_t planned, taken; /* where moves are planned: its number, and that of the first move by which the working role has
                              * waited for what it loads; UINT32_MAX: none */
} TensorAccess;

struct Accesses {
    VEC(TensorAccess) all;
    const void *across; /* across-grid pipeline that is open */
    uint32_t role;      /* of the source, that is being lowered: its number, from 1; 0: none */
};

/* ---- accesses.c ---- */
void access_note(Lower *L, const MoveInfo *mi);

/* ---- regions.c ---- */
bool regions_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b); /* of one tensor, same team and iteration */
bool views_disjoint(Lower *L, const PTensor *a, const PTensor *b);
bool subtiles_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b); /* of one tile */
/* With the loops' indices as if their turns were teams. */
Poly poly_by_turn(Lower *L, Poly p, const OpenLoop *loops, uint32_t turns);

/* ---- views.c ---- */
/* Different teams, or turns: nothing in common, whatever the data. loops: also turns of the loops around both. */
bool view_places_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, bool loops, bool same_turn);
bool view_fixed(Lower *L, const PTensor *t); /* in every CTA and turn the same elements have the same indices */
bool place_fixed(Lower *L, const Sx *start);
bool view_trusts(const Lower *L, const PTensor *idx, int64_t fact);

/* ---- rule_g.c ---- */
void independence_check(Lower *L);
/* May the two stores, of one turn or of different ones of a team, write the same place? */
bool stores_meet(Lower *L, const TensorAccess *a, const TensorAccess *b);

#endif
