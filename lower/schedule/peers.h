/* Which CTAs a move between CTAs has to do with, and the conditions around it. */
#ifndef LOWER_SCHEDULE_PEERS_H
#define LOWER_SCHEDULE_PEERS_H

#include "lower/kernel/kernel.h"
#include "lower/plan/move.h"

typedef struct Around { /* an `if` around a statement */
    const PStmt *branch;
    bool other;     /* in its else */
    bool followed;  /* synchronisation in it happens where the condition holds; otherwise always */
    uint16_t out;   /* followed: the CTAs in which it surely is not done */
    uint32_t block; /* in which it stands; in derived schedules how many loops are around it */
} Around;

/* ---- peers.c ---- */
typedef struct PeerTurns { /* loops around whose trips are numbers; the turn at hand of each */
    int n;
    Atom index[8];
    int64_t at[8], turns[8];
} PeerTurns;
/* target: by rank; -1: left out. others: never the own one. t: in that turn; NULL: in any. */
bool cluster_named_in(Lower *L, const Sx *peer, Span at, bool others, const PeerTurns *t, int target[RANKS_MAX]);
static inline bool cluster_named(Lower *L, const Sx *peer, Span at, bool others, int target[RANKS_MAX])
{
    return cluster_named_in(L, peer, at, others, NULL, target);
}

uint32_t peers_filled(const Lower *L, const MoveInfo *mi, int rank); /* the CTAs whose tiles that of this rank fills, or may fill */

/* The CTAs in which it may hold, and those in which it may not. */
void cluster_may(Lower *L, const Sx *cond, uint16_t *may, uint16_t *may_not);
bool cluster_decides(Lower *L, const Sx *cond); /* the rank says of each which it is */

void around_enter(Lower *L, const PStmt *branch, bool other, bool followed);

/* multicast (mask): to whom, from each rank; false after an error. What reaches the own tile, of copies of so many bytes. */
bool mask_plan(Lower *L, MoveInfo *mi);
Opnd mask_value(Lower *L, const MoveInfo *mi);
Opnd mask_bytes(Lower *L, const MoveInfo *mi, Opnd bytes);

bool left_out_at(const Lower *L, int rank); /* by what is around the statement */

#endif
