/* Moves as the planning walk finds them: regions, copies, agents. */
#ifndef LOWER_SCHEDULE_MOVES_H
#define LOWER_SCHEDULE_MOVES_H

#include "lower/kernel/kernel.h"
#include "lower/kernel/report.h"
#include "lower/plan/copies.h"
#include "lower/plan/move.h"
#include "lower/plan/tensor_memory.h"
#include "lower/schedule/between.h"
#include "lower/schedule/deal.h"
#include "lower/schedule/peers.h"
#include "lower/schedule/rings.h"

typedef struct Link { /* a block around a move whose iteration is a turn */
    const PBlock *block;
    const PStmt *loop; /* whose body it is, or NULL */
    const Pipe *pipe;  /* that that is, or NULL */
    Pipe *across;      /* the dealt one, that or around it; NULL: none */
    bool looped;
} Link;
typedef struct Planned { /* a move, in the order in which the walks meet it */
    const PStmt *st;
    const Link *chain; /* outermost first, depth + 1 of them: the same for all moves of a block */
    uint32_t depth;
    const Around *around; /* the branches around it, outermost first */
    uint32_t naround;
    uint32_t access;    /* number in Accesses.all */
    bool ordered;       /* it may meet a store that is still on its way, and waits for all of them */
    MoveInfo mi, *other; /* between tiles: the source, the destination; or NULL */
    Copies copies;
    Agent agent;
    const char *role;   /* of the source; NULL: its schedule is derived */
    Ring *src, *dst;
    bool by_rank;       /* into tiles of other CTAs, with bytes that are worked out for each rank: remote.c */
    uint32_t plan;      /* IrPlan of work by threads */
    int64_t zeros;      /* or: bytes that one of them clears by st.bulk */
    TmemPlan *tm;       /* one side is in tensor memory: src and dst are the other one's ring */
    int64_t bytes;      /* that one copy of the move adds to a barrier at each destination */
} Planned;

/* Does it stand in this block, which has so many loops around it? */
static inline bool planned_within(const Planned *p, const PBlock *b, uint32_t depth)
{
    return p->depth >= depth && p->chain[depth].block == b;
}

/* The innermost one around it. */
static inline const PBlock *planned_block(const Planned *p)
{
    return p->chain[p->depth].block;
}

static inline Pipe *planned_across(const Planned *p)
{
    return p->chain[p->depth].across;
}

/* Bytes that arrive of it, of all CTAs that bring a share. */
static inline int64_t planned_brings(const Planned *p)
{
    return p->bytes * move_peers(&p->mi)->shares.n;
}

/* Threads do it, not an engine. */
static inline bool planned_by_threads(const Planned *p)
{
    return p->copies.g || move_by_threads(p->st->move);
}

/* The `if` around both in whose different branches the two stand, by a's; NULL: there is none. */
static inline const Around *planned_parted(const Planned *a, const Planned *b)
{
    uint32_t i = 0;
    while (i < a->naround && i < b->naround && a->around[i].branch == b->around[i].branch && a->around[i].other == b->around[i].other) i++;
    return i < a->naround && i < b->naround && a->around[i].branch == b->around[i].branch ? &a->around[i] : NULL;
}

/* ---- moves.c ---- */
void plan_move(Lower *L, const PStmt *st); /* adds it to moves */
void plan_crossing(Lower *L);              /* loads that stores may meet: those that wait for them, those whose tiles are kept */
void plan_order(Lower *L);                 /* stores that wait for stores */
void plan_overtaking(Lower *L);            /* .. and for loads of what they overwrite */
void plan_threads_all(Lower *L);           /* when the number of threads is known */

/* ---- uses.c ---- */
void rings_take(Ring *r, const Planned *p); /* the working role waits for the ring's loads in front of p */
bool rings_takes(const Ring *r, const Planned *p); /* may it? */
void rings_keep_load(Lower *L, const Planned *load, const Planned *store); /* of what the store writes */

/* ---- ring_ops.c ---- */
Opnd planned_bytes(Lower *L, const Planned *p); /* planned_brings() as the run knows them */

/* ---- remote.c ---- */
bool remote_plan(Lower *L, Planned *p);       /* a load by mask, or into a peer's tile; false after an error */
Opnd remote_values(Lower *L, const Planned *p, CopyValues *v); /* where a load goes; a pred: does this CTA bring anything? */
bool remote_returns(const Lower *L, const Planned *load); /* each CTA that loads gets it, too, and sees by that when it has been read */
bool remote_always(Lower *L, const Planned *p, uint32_t depth); /* the loops within that depth have a turn, whatever the launch */
bool remote_apart(Lower *L, const Planned *a, const Planned *b); /* what they write, in each CTA that both fill */
int64_t remote_most(const Lower *L, const Planned *p); /* bytes that it brings to one CTA */
Opnd remote_bytes(Lower *L, const Planned *p); /* that it brings to this CTA */

/* ---- tensor_memory.c ---- */
bool tmem_paired(Lower *L, const Planned *p); /* both CTAs of a pair do it; false after an error */
void tmem_barriers(Lower *L);
void tmem_start(Lower *L, Planned *p);        /* a copy by the tensor core, or a shift */
void tmem_work(Lower *L, Planned *p);         /* by threads; all before it is settled and synchronised */
void tmem_settle(Lower *L);                   /* what is pending is committed and waited for */
bool tmem_reads(const Lower *L, const Ring *r); /* something pending still reads its tile */

#endif
