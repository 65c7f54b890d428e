/* Synchronisation where the program writes it: barriers and groups of one thread, or roles that run side by side.
 *
 * A role is walked as the working agent of a kernel of its own (../agent_walk.c): what it leaves to the compiler, loads and stores
 * without a commit, threads that come together, is done as for tiles that are kept (../kept.c, ../agent_sync.c). Here is what the
 * program says:
 *
 *   roles.c          who they are; moves that they name barriers for
 *   order.c          what comes behind stores
 *   barriers.c       which there are, their phases in each role, arrivals and waits
 *   conditions.c     conditions around them
 *   counts.c         arrivals per phase
 *   pairs.c          barriers of the other CTA of a pair
 */
#ifndef LOWER_SCHEDULE_WRITTEN_SYNC_H
#define LOWER_SCHEDULE_WRITTEN_SYNC_H

#include "lower/algebra/domain/domain.h"
#include "lower/ir/ir.h"
#include "lower/kernel/kernel.h"
#include "lower/plan/copies.h"
#include "lower/plan/move.h"
#include "lower/schedule/peers.h"

struct Planned; /* moves.h */

typedef struct Explicit { /* a barrier of the source */
    bool far;        /* other CTAs arrive or write there */
    bool generic;    /* fills by other CTAs complete there */
    bool again;      /* a role waits for it more than once in a turn: what it commits in front of a wait and behind it is of two phases */
    uint32_t waited; /* .. in this block last, from 1 */
    bool looped;     /* used in loops, or at slots picked at run time: then */
    uint32_t bits;   /* in the role at hand: this IrVar has the phase of each slot; otherwise */
    uint32_t *waits; /* phases that were waited for are counted, by slot */
} Explicit;
typedef struct Commit { /* commits of one block to one phase */
    const PBarrier *barrier;
    const Sx *peer; /* of another CTA */
    Poly slot;
    int64_t k;      /* that, if it is a number */
    uint32_t arrival; /* op number + 1 of the last one, 0: none */
    Opnd guard; /* of the arrival */
} Commit;
typedef struct Note { /* counts.c: arrivals, or a wait, of one statement */
    uint32_t bar, role, block;
    uint8_t weight[RANKS_MAX]; /* at the barrier of each rank */
    Span span;
    Opnd slot;
    bool wait;
    const Around *around; /* outermost first */
    uint32_t naround;
} Note;
typedef VEC(const Note *) Turn; /* counts.c: notes of one barrier, side and role; or of one block and slot of those */
typedef struct GroupWait { /* order.c: a `wait group` for all that is written */
    uint32_t at;     /* moves in front of it */
    uint32_t newer;  /* groups that it leaves, of ..  */
    uint32_t turn;   /* .. those that were committed in this turn of the loop around it */
    const PBlock *block; /* of that loop */
} GroupWait;
typedef struct Sync {
    VEC(Note) notes;
    Names *turns;    /* counts.c: what is alike of notes, .. */
    VEC(Turn) turn_of; /* .. by that name */
    uint32_t role, block, nblocks; /* at hand; nblocks: opened so far */
    Explicit *bars;  /* by PBarrier.index */
    Opnd guard;      /* the conditions that synchronisation follows, inside the innermost loop */
    const Around *around; /* of the statement at hand, never changed; in derived schedules the rank decides those that are followed */
    uint32_t naround;
    uint32_t id;     /* of roles whose threads work together: the last one's cta.sync */
    VEC(Commit) commits;
    VEC(GroupWait) waits;
    uint32_t turn;   /* groups committed in this turn of the loop at hand */
    bool many;       /* roles side by side */
} Sync;

/* ---- roles.c ---- */
void written_kernel(Lower *L);
void written_roles(Lower *L, const PStmt *st);
void written_turn(Lower *L, const PStmt *loop); /* its body begins */
void written_sync(Lower *L, const PStmt *st);   /* a wait, an arrival, the end of a group */
bool written_plan(Lower *L, struct Planned *p); /* a copy from or to a tensor that other CTAs have to do with; false after an error */
/* In front of a move: it arrives at a barrier of the program and announces its bytes. False after an error. */
bool written_arrive(Lower *L, const struct Planned *p, Opnd *slot);
bool written_tmem(Lower *L, const PStmt *st);   /* by the tensor core; false after an error */
bool role_committed(Lower *L, const PStmt *st); /* to a barrier of the program; false after an error */

/* ---- order.c ---- */
void written_order(Lower *L); /* when all moves are planned: which of them wait for stores */

/* ---- barriers.c ---- */
void sync_begin(Lower *L);
void sync_note(Lower *L, const PStmt *st); /* while moves are planned: how it uses its barrier, if it has one */
/* State and variables of one role's body; the same for the only one. */
void sync_role(Lower *L);
/* The arrival on which a load's copies complete; says where they add their bytes. each: what it announces. False after an
 * error. */
bool sync_arrive(Lower *L, const PMove *mv, Opnd each, Opnd *slot);
void sync_wait(Lower *L, const PStmt *st);
void sync_arrive_stmt(Lower *L, const PStmt *st);
void sync_expect(Lower *L, const PStmt *st);
/* Counts one arrival of a move's commit, by what the tensor core did: at this slot. False after an error. */
bool sync_commit_slot(Lower *L, const PStmt *st, Opnd *slot);
void sync_in(Lower *L, uint32_t block, uint32_t turn); /* a loop's body begins, or (as it was around it) is over */

/* ---- conditions.c ---- */
bool sync_follows(Lower *L, const Sx *cond); /* arrivals and waits under the condition happen where it holds */

/* ---- pairs.c ---- */
bool pair_plan(Lower *L, MoveInfo *mi); /* when it is known whom it fills. A barrier of another CTA than the tile: the other one of its pair; false after an error */

/* ---- counts.c ---- */
/* peer: the rank whose barrier it is; NULL: the own. */
void counts_note(Lower *L, uint32_t bar, Opnd slot, bool wait, const Sx *peer);
/* Commits of one block to one phase arrive together, where one of them happens: first or a further one. */
void counts_commit(Lower *L, uint32_t bar, Opnd slot, bool first, const Sx *peer);
void counts_pair(Lower *L); /* the last one is by the even CTA of a pair, and arrives in both */
void counts_set(Lower *L);

#endif
