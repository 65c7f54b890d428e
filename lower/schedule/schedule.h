/* The sequential program becomes one tree of what several agents do, each in its order; of one agent where nothing wants more.
 *
 * Every move has one agent: loads belong to the role `load`, copies between CTAs to `send`, stores and work by threads
 * to `work`. The program is walked once; each op says whose it is, and what binds the agents are the tiles. A tile is a ring
 * of slots: one turn of the ring, a generation of the tile, is one run of the block in which it is used. Per turn the first
 * agent (the one that fills it) waits until the slot is free, the others until it is full. Roles, slots and parities come last:
 * emit/roles.h.
 *
 *   planning walk   regions, copies and checks of every move, once            moves.c
 *   versions        what is read surely has a value                           versions/
 *   uses            turn block and agents of every tile; which are kept       uses.c
 *   rings           slots, barriers                                           rings.c, ring_ops.c
 *   sharing         rings of loops that follow one another                    share.c
 *   flight          what is said where they keep too little on its way        flight.c
 *   kept tiles      that overlap with nothing                                 kept.c
 *   the walk        the tree: ops of all agents                               agent_walk.c, agent_moves.c, agent_sync.c
 *   dealing         which iterations a team runs                              deal.c
 *   ways of dealing static, ticket, launch, clc                           deal_ways.c
 *   batches         several iterations in one turn                        batch.c
 *   teams           CTAs of a cluster: multicast, peers, per rank             peers.c, remote.c
 *   tensor memory   copies into it and waits for them, all by `work`          tensor_memory.c
 *   device maps     tensor maps for views that are made at run time           device_maps.c
 *
 * Where the program synchronises by itself, or writes its roles out, the walk goes through each of them as the working agent:
 * written/sync.h.
 *
 * Glossary
 *   turn      one run of the block whose tiles are taken from the ring's next slot
 *   lead      loads ahead: turns that the filling role may be in front of the last release
 *   lag       turns by which a release comes late, because stores still read the slot; slots = lead + lag
 *   release m the m-th arrival on the ring's empty barrier frees turn m - lag; turn k is filled after release k - lead
 *   batch     iterations of an across-grid pipeline that make one turn, because one alone moves too few bytes
 */
#ifndef LOWER_SCHEDULE_SCHEDULE_H
#define LOWER_SCHEDULE_SCHEDULE_H

#include "lower/algebra/scalars/scalars.h"
#include "lower/emit/values.h"
#include "lower/kernel/kernel.h"
#include "lower/schedule/deal.h"
#include "lower/schedule/moves.h"
#include "lower/schedule/peers.h"
#include "lower/schedule/rings.h"

typedef struct TmemSched { /* kernels with tensor memory */
    Ring *done, *ready; /* without tile: commits arrive at the one's barrier, both CTAs of a pair at the other's. NULL: none */
    VEC(const Planned *) pending; /* begun by the role, not yet waited for */
} TmemSched;
typedef struct AgentState { /* while the program is walked: what an agent's threads did since they last came together, or fenced, or committed */
    bool dirty;    /* work: threads may have touched tiles since the last cta.sync */
    bool id_read;  /* the number of the iteration, by all threads, since the last synchronisation of the agent's */
    bool unfenced; /* work: written since the last fence */
    bool stored;   /* work: the same, to global memory */
    bool pending;  /* stores issued since the last commit */
    bool waited;   /* roles of the source: passed a wait since the last cta.sync */
    bool unread, unwritten, unseen; /* the same: groups may still read tiles, or write; no fence since for loads of what they wrote */
    uint32_t groups; /* committed so far; of loops that may not have run, as in one turn */
} AgentState;
typedef struct Sched {
    bool planning;
    bool alone;          /* one thread does all: every tile is kept */
    bool tensor;         /* the working role may be at tensor memory */
    Agent role;          /* whose ops are emitted, AG_NONE: of all */
    const char *source;  /* the role of the source; NULL: the schedule is derived */
    uint8_t active;      /* bits of Agent: those that go through the block at hand */
    AgentState state[AG_COUNT + 1], *now; /* now: of role */
    Shape shape[AG_COUNT + 1]; /* the last: of the planning walk */
    uint32_t warps[AG_COUNT + 1];
    bool used[AG_COUNT + 1];
    VEC(Planned *) moves; /* by PStmt.id */
    Ring *rings;         /* by tile, then those without one */
    uint32_t nrings;
    Names *places;       /* blocks, and statements with agents; .. */
    VEC(Ring *) ring_at; /* .. by that name: the first ring there */
    const Link *chain;   /* of the block that is walked; depth + 1 */
    uint32_t depth;
    VEC(Pipe *) pipes;
    uint32_t nacross;
    uint32_t nvars, set; /* planning: variables declared so far; the first of them that the loop at hand sets */
    LoopUse *loops;      /* loop_use() */
    Opnd team_step;      /* static dealing: from iteration to iteration of this team */
    Opnd id;             /* the iteration's number in an across-grid pipeline */
    VEC(const PStmt *) apart;   /* branches through which each agent goes on its own, in the order of agents */
    VEC(Ring *) readers;   /* Ring.reading */
    VEC(Ring *) arriving;  /* Ring.arriving */
    Opnd open;           /* whether the others of them, within the innermost loop, hold */
    int64_t threads;     /* asked for by `threads` */
    uint32_t per_sm;
    TmemSched tmem;
} Sched;

#define FOR_RINGS(s, r) for (Ring *r = (s)->rings; r < (s)->rings + (s)->nrings; r++)
#define FOR_MOVES(s, p) for (Planned *p = planned_at(s, 0); p; p = planned_at(s, p->st->id + 1))
#define FOR_MOVES_OF(s, loop, p)                                                                                       \
    for (Planned *p = planned_at(s, (loop)->from); p && p->st->id < (loop)->end; p = planned_at(s, p->st->id + 1))
static inline Planned *planned_at(const Sched *s, uint32_t i)
{
    return i < s->moves.n ? s->moves.v[i] : NULL;
}
static inline LoopUse *loop_use(const Lower *L, const PStmt *st)
{
    return &L->sched->loops[st->kind == P_FOR ? st->id : st->pipe->v[0].loop];
}

/* ---- agent_walk.c ---- */
void sched_as(Lower *L, Agent a);            /* ops are a's from here on; AG_NONE: of all agents that need them */
/* a: each agent that goes through the block at hand; its ops are emitted in the body. */
#define FOR_AGENTS(L, a)                                                                                               \
    for (Agent a = AG_LOAD, before_ = (L)->sched->role; a < AG_COUNT || (sched_as(L, before_), false); a++)           \
        if ((L)->sched->active >> a & 1 && (sched_as(L, a), true))
/* The same, one after the other: each is the only one that goes through what stands here. */
#define FOR_AGENTS_APART(L, a)                                                                                         \
    for (unsigned a = AG_LOAD, all_ = (L)->sched->active; a < AG_COUNT || ((L)->sched->active = (uint8_t)all_, false); a++) \
        if (all_ >> a & 1 && ((L)->sched->active = (uint8_t)(1u << a), true))
void walk_block(Lower *L, const PBlock *b); /* the whole program, or a role of the source */
void walk_begin(Lower *L, const PBlock *b); /* the role's part of a turn begins: slots are taken */
void walk_loop(Lower *L, const PStmt *st, Pipe *p); /* a `for`, or (p) a pipeline that is not dealt */
/* The body of a loop; p: of a pipeline, or NULL. part: of a batch, around which the slots are taken and given back; or NULL. */
void walk_turn(Lower *L, const PStmt *st, Pipe *p, const BodyPart *part);
bool walk_enter(const Lower *L, const PStmt *st, int agent); /* a loop without moves of the role is nothing to it, unless it changes variables */
void walk_end(Lower *L, const PBlock *b);   /* stores are committed, slots given back, counters go on */

/* ---- agent_moves.c ---- */
void agent_move(Lower *L, Planned *p); /* by whom it is */

/* ---- agent_sync.c: of the agent whose ops are emitted ---- */
void agent_id_sync(Lower *L);
void agent_store_sync(Lower *L);                  /* what threads did is visible to the elected thread's copies */
void agent_fence(Lower *L);                      /* where they wrote since the last fence */
void agent_commit(Lower *L);                     /* the stores that are in no group */
void agent_wait_group(Lower *L, int64_t n, IrHow how); /* all but the last n have read, or written */
void agent_arrive_sync(Lower *L);                /* in front of an arrival by one thread for all: they passed their waits, too */
void agent_reads(Lower *L, Ring *r);             /* a store */
void agent_free(Lower *L, const Ring *r);         /* neither stores nor the tensor core read its tile any more */
void agent_wait_stores(Lower *L, bool reads);    /* .. and all that they write is written; reads: by a load that comes now */
void agent_readers_youngest(Lower *L);           /* of the groups that are counted at a loop's border, theirs are the last */
bool agent_readers_end(Lower *L, const PBlock *b); /* the turn ends: tiles of outer blocks are not read any more; true: some were */
void agent_before_work(Lower *L, const Ring *dst); /* threads read, and write that ring's tile, or (NULL) none */

/* ---- uses.c ---- */
bool uses_apart(const Sched *s, const PStmt *st);   /* each agent goes through both parts before the next one does */

/* ---- schedule.c ---- */
void schedule_kernel(Lower *L);
void schedule_plan(Lower *L); /* all moves of the kernel */

#endif
