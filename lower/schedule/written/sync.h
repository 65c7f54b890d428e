/* Synchronisation where the program writes it: barriers and groups of one thread, or roles that run side by side.
 *
 *   sync.c           moves, bulk groups, blocks: what must be over before a move
 *   begin.c          barriers there are, their phases in each role
 *   barriers.c       arrivals and waits
 *   conditions.c     conditions around them
 *   counts.c         arrivals per phase
 *   peers.c          copies to other CTAs; pairs.c: barriers of the other CTA of a pair
 *   threads.c        roles whose threads work together
 *   tensor_memory.c, device_maps.c  the same with tensor memory, and with maps that the role makes
 */
#ifndef LOWER_SCHEDULE_WRITTEN_SYNC_H
#define LOWER_SCHEDULE_WRITTEN_SYNC_H

#include "lower/algebra/domain/domain.h"
#include "lower/ir/ir.h"
#include "lower/kernel/kernel.h"
#include "lower/plan/copies.h"
#include "lower/plan/move.h"
#include "lower/schedule/peers.h"

typedef struct PendingLoad { /* a load that nobody waited for yet */
    const MoveInfo *info;
    const struct TensorAccess *access;
    const PBarrier *barrier; /* NULL: derived, of the tile */
    int64_t slot;
} PendingLoad;
typedef struct PendingStore {
    const PStmt *stmt;
    const PTile *tile;
    const MoveInfo *info; /* shared by the copies of the list that blocks keep */
    const struct TensorAccess *access;
    bool known;           /* info's boxes hold */
    uint32_t turn;        /* 0; else of an earlier turn of the loop that is the turn-th open one */
    bool is_explicit;
    bool read_done, full_done, fenced;
    bool committed;
    uint32_t seq; /* number of its group */
} PendingStore;
typedef struct SlotPhase {  /* of a barrier slot */
    uint32_t arrive_op; /* op number + 1 of the last arrival in this phase, 0: none */
    uint32_t waits;     /* phases that were waited for */
    int64_t bytes;
} SlotPhase;
typedef struct TileSync {   /* a tile with derived loads */
    bool derived, in_block; /* in_block: one of them stands in a loop or if, so the phase is a variable */
    uint32_t bar;           /* IrBar */
    uint32_t phase_var;     /* IrVar, where in_block */
    SlotPhase phase;
} TileSync;
typedef struct Explicit { /* a barrier of the source, in the role at hand */
    bool looped;   /* used in loops, or at slots picked at run time: then */
    uint32_t bits; /* this IrVar has the phase of each slot; otherwise */
    SlotPhase *slot; /* phases are counted here */
} Explicit;
typedef struct Commit { /* commits of one block to one phase of a looped barrier */
    const PBarrier *barrier;
    const Sx *peer; /* of another CTA */
    Poly slot;
    SlotPhase phase;
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
typedef struct Sync {
    VEC(Note) notes;
    uint32_t role, block, nblocks; /* at hand; nblocks: opened so far */
    TileSync *tiles; /* by PTile.index */
    Explicit *bars;  /* by PBarrier.index */
    bool *far;       /* by PBarrier.index: other CTAs arrive or write there */
    bool *generic;   /* by PBarrier.index: fills by other CTAs complete there */
    Opnd guard;      /* the conditions that synchronisation follows, inside the innermost loop */
    VEC(Around) around; /* of the statement at hand; in derived schedules the rank decides those that are followed */
    uint32_t threads, id; /* of a role whose threads work together: how many, their cta.sync; 0: one thread */
    bool worked, waited, unfenced; /* since the last cta.sync: threads wrote or read tiles, passed a wait; wrote since a fence */
    VEC(Commit) commits;
    bool tensor;     /* the role works on tensor memory */
    bool many;       /* roles side by side */
    VEC(PendingLoad) loads;
    VEC(PendingStore) stores;
    uint32_t groups; /* committed here: never more than were committed since an entry's seq */
    uint32_t depth;  /* of loops and ifs */
} Sync;
typedef struct SyncMark { /* state at the entry of a block */
    PendingStore *stores;
    uint32_t nstores, ncarried, groups, block;
} SyncMark;

/* ---- sync.c, begin.c, barriers.c ---- */
void sync_begin(Lower *L);
/* State and variables of one role's body; the same for the only one. */
void sync_role(Lower *L, const PBlock *body, bool many);
void sync_before(Lower *L, const MoveInfo *mi);
void sync_arrived(Lower *L, const MoveInfo *mi); /* what loads without a commit bring to the part is there */
/* The arrival on which a load's copies complete; says where they add their bytes. each: what it announces, at most
 * `bytes`. False after an error. */
bool sync_arrive(Lower *L, const MoveInfo *mi, Opnd each, int64_t bytes, uint32_t *bar, Opnd *slot);
void sync_after(Lower *L, const MoveInfo *mi); /* it keeps mi */
void sync_wait(Lower *L, const PStmt *st);
void sync_arrive_stmt(Lower *L, const PStmt *st);
void sync_expect(Lower *L, const PStmt *st);
/* Counts one arrival of a move's commit, by what the tensor core did: at this slot. False after an error. */
bool sync_commit_slot(Lower *L, const PStmt *st, Opnd *slot);
void sync_wait_group(Lower *L, const PStmt *st);
void sync_group_end(Lower *L);
void sync_flush_loads(Lower *L);
/* A loop's body; the caller flushes the loads at its borders. */
SyncMark sync_enter(Lower *L, const PBlock *body);
void sync_leave(Lower *L, const SyncMark *m);
void sync_end(Lower *L);
void sync_wait_derived(Lower *L, const PTile *tile);
void sync_wait_store(Lower *L, uint32_t i, IrHow how);
void sync_close_commits(Lower *L, const PBarrier *b); /* NULL: all */

/* ---- conditions.c ---- */
void sync_branch(Lower *L, const PStmt *st, bool other, Opnd holds); /* one way of an `if`: until around_leave() */

/* ---- peers.c ---- */
bool role_committed(Lower *L, const PStmt *st); /* to a barrier of the program; false after an error */
void role_send(Lower *L, const PStmt *st);
/* multicast (mask): to whom, at each rank; false after an error. What reaches the own tile, of copies of so many bytes. */
bool role_mask(Lower *L, MoveInfo *mi);
Opnd role_mask_bytes(Lower *L, const MoveInfo *mi, Opnd bytes);

/* ---- pairs.c ---- */
bool pair_plan(Lower *L, MoveInfo *mi); /* a barrier of another CTA than the tile: the other one of its pair; false after an error */

/* ---- threads.c ---- */
void role_begin(Lower *L, const PRole *r, uint32_t number);
IrRole *role_finish(Lower *L, const PRole *r);
/* Before the elected thread does something: all threads have done, and made visible, what they were at. also_waits: have
 * passed their waits, too. */
void role_sync(Lower *L, bool also_waits);
void role_loop(Lower *L);  /* at a loop's head, and behind its end */
void role_fence(Lower *L); /* what threads wrote so far the copies see, behind a cta.sync */
void role_work(Lower *L, const PStmt *st);
/* Loads without a commit into these tiles have arrived, stores without one have read the second. Either may be NULL. */
void role_before_work(Lower *L, const MoveInfo *from, const MoveInfo *to);

/* ---- tensor_memory.c ---- */
void role_tensor_fence(Lower *L, IrOrder o); /* the same, where the role at hand works on it */
void tmem_role_move(Lower *L, const PStmt *st); /* of a role of the source */

/* ---- device_maps.c ---- */
bool device_wanted(const Lower *L, const PBlock *b);
void device_declare(Lower *L, const PStmt *st);
void device_copy(Lower *L, const MoveInfo *mi, TensorPlan *t); /* before its arrival */

/* ---- counts.c ---- */
/* peer: the rank whose barrier it is; NULL: the own. */
void counts_note(Lower *L, uint32_t bar, Opnd slot, bool wait, const Sx *peer);
/* Commits of one block to one phase arrive together, where one of them happens: first or a further one. */
void counts_commit(Lower *L, uint32_t bar, Opnd slot, bool first, const Sx *peer);
void counts_pair(Lower *L); /* the last one is by the even CTA of a pair, and arrives in both */
void counts_set(Lower *L);

#endif
