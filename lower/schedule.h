/* Pipelines, clusters and work by threads: the sequential program projected onto roles that run side by side.
 *
 * Every move has one agent: loads belong to the role `load`, copies between CTAs to `send`, stores and work by threads
 * to `work`. Each role walks the whole program and keeps its own moves, in source order; what binds the roles
 * are the tiles. A tile is a ring of slots: one turn of the ring is one run of the block in which the tile is used.
 * Per turn the first agent (the one that fills it) waits until the slot is free, the others until it is full.
 *
 *   planning walk   regions, copies and checks of every move, once            plan_moves.c
 *   rings           turn block, agents, slots, barriers of every tile         rings.c
 *   role walks      the ops of one role                                       roles.c
 *   dealing         which iterations a team runs                          deal.c
 *   ways of dealing static, ticket, launch, clc                           deal_ways.c
 *   batches         several iterations in one turn                        batch.c
 *   teams           CTAs of a cluster: multicast, peers, per rank             cluster.c, remote.c
 *   tensor memory   copies into it and waits for them, all by `work`          tmem_sched.c
 *   device maps     tensor maps for views that are made at run time           device_maps.c (device_roles.c: by hand)
 *
 * Glossary
 *   turn      one run of the block whose tiles are taken from the ring's next slot
 *   lead      loads ahead: turns that the filling role may be in front of the last release
 *   lag       turns by which a release comes late, because stores still read the slot; slots = lead + lag
 *   release m the m-th arrival on the ring's empty barrier frees turn m - lag; turn k is filled after release k - lead
 *   batch     iterations of an across-grid pipeline that make one turn, because one alone moves too few bytes
 */
#ifndef LOWER_SCHEDULE_H
#define LOWER_SCHEDULE_H

#include "lower/parts.h"
#include "lower/tmem_parts.h"

typedef enum Agent { AG_LOAD, AG_SEND, AG_WORK, AG_COUNT } Agent;
#define AG_NONE AG_COUNT

#define RING_NONE UINT32_MAX
enum { SCHED_RANKS = 16, SCHED_CHAIN = 64, BATCH_MAX = 256 };

typedef enum Shape { SHAPE_ELECT, SHAPE_LANES, SHAPE_THREADS } Shape; /* who runs a role's body */

typedef struct Counter { /* slot and phase of a ring's next turn in one role, in variables; 0, 0 where there is one turn only */
    bool set;
    uint32_t slots, pos, phase; /* IrVar; pos only where slots > 1 */
} Counter;

typedef struct Ring {
    PTile *tile;
    const PBlock *turn;           /* NULL: the tile is not used */
    const struct Pipe *pipe;      /* whose body that is, or NULL */
    bool looped;                  /* more than one turn in a kernel */
    uint8_t agents, writers;      /* bits of Agent */
    bool reading;                 /* while a role is walked: stores of this turn may still read it */
    bool thread_writes, thread_reads, stored, stored_always, peered; /* peered: filled by other CTAs */
    Agent filler;
    const PStmt *first[AG_COUNT], *last[AG_COUNT]; /* statements of the turn block */
    uint32_t nfills, filled;      /* fills of a turn: statements, and those emitted so far */
    int64_t bytes;                /* that complete on its full barrier in a turn */
    uint32_t pitch;               /* bytes from tile to tile within a slot */
    uint32_t slots, lead, lag, inner; /* inner: tiles per slot: those of an array, or of a batch */
    uint32_t full, empty;         /* IrBar, RING_NONE: none */
    uint32_t buf;                 /* IrBuf */
    uint32_t waits;               /* arrivals on empty: by how many CTAs and roles */
    int target[SCHED_RANKS];      /* peered: whose tile each CTA fills */
    const struct Planned *fill;   /* the (first) move that fills it */
    PCast cast;                   /* multicast: the CTAs that fill it are those it is sent to */
    bool by_rank;                 /* filled by other CTAs, each by as many as the rank says */
    bool summed;                  /* loaded, then other CTAs reduce into it: */
    uint16_t adds_to[SCHED_RANKS]; /* those into whose tiles each one reduces */
    uint32_t ready, sum;          /* IrBar: their tiles are loaded; all sums have arrived here */
    uint16_t reach[SCHED_RANKS];  /* by_rank: the CTAs whose slots each one fills, and itself */
    bool certain;                 /* some fill of a turn is under no condition */
    bool joined;                  /* a multicast that may not come: each of these CTAs arrives on the full barriers of all */
    bool generic;                 /* other CTAs fill it, or add to it, by st.async, red.async: who waited for that fences */
    bool handed;                  /* ids that arrive as bytes: from the team's first CTA, or from the grid's launch */
    Counter at[AG_COUNT], free_at[AG_COUNT]; /* of full (slots), of empty (lead) */
} Ring;

typedef struct Pipe { /* a pipeline statement */
    const PStmt *st;
    PStmt index[PIPE_INDICES];   /* as loops, for ranges and atoms */
    uint8_t order[PIPE_INDICES]; /* in which iterations are dealt: slowest index first */
    int64_t batch;
    bool across;
    bool whole;                /* a batch of it goes statement by statement: batch.c */
    PDeal deal;
    Lx total;                  /* iterations, where across */
    uint32_t ids;              /* ring of ids (a Ring without tile), RING_NONE: nobody passes them on */
} Pipe;

typedef struct Part { /* statements of a body for a batch: from first up to end; NULL: the last one */
    const PStmt *first, *end;
    bool together; /* each for all iterations at once */
} Part;

typedef struct Link { /* a block around a move whose iteration is a turn, and the statement of it that holds the move */
    const PBlock *block;
    const PStmt *top;
    const Pipe *pipe; /* whose body the block is, or NULL */
    bool looped;
} Link;

typedef struct Planned { /* a move, in the order in which the walks meet it */
    const PStmt *st;
    Link *chain; /* outermost first, depth + 1 of them */
    uint32_t depth;
    bool conditional;
    uint32_t access;    /* number in Lower.accesses */
    bool ordered;       /* a store that may meet one that is still on its way: it waits for all of them */
    const Pipe *across;
    MoveInfo mi, other; /* between tiles: the source, the destination */
    bool tensor;
    TensorPlan t;
    BulkPlan b;
    Refusal no_tensor;
    Agent agent;
    uint32_t src, dst;  /* rings */
    Shares shares;
    bool by_rank;       /* into tiles of other CTAs, with bytes that are worked out for each rank: remote.c */
    uint16_t to[SCHED_RANKS]; /* between CTAs: those that each one sends to */
    uint32_t plan;      /* IrPlan of work by threads */
    int64_t zeros;      /* or: bytes that one of them clears by st.bulk */
    TmemPlan *tm;       /* one side is in tensor memory: src and dst are the other one's ring */
    int64_t bytes;      /* that one copy of the move adds to a barrier at each destination */
} Planned;

typedef struct TmemSched { /* kernels with tensor memory */
    uint32_t bar, ready;   /* IrBar: commits arrive at bar; both CTAs of a pair at ready. RING_NONE: none */
    uint32_t phase, ready_phase; /* IrVar of the work role */
    VEC(const Planned *) pending; /* begun by the role, not yet waited for */
} TmemSched;

typedef struct Sched {
    bool planning;
    Agent role;
    Shape shape[AG_COUNT + 1]; /* the last: of the planning walk */
    uint32_t warps[AG_COUNT + 1];
    bool used[AG_COUNT + 1];
    VEC(Planned *) moves;
    uint32_t at;         /* next move of the walk */
    Ring *rings;         /* by tile, then the rings of ids */
    uint32_t nrings;
    Link *chain;         /* of the block that is walked; depth + 1 */
    uint32_t depth;
    VEC(Pipe *) pipes;
    const Pipe *across;  /* open one */
    uint32_t nacross;
    VEC(struct Inside { const PStmt *loop; uint8_t agents; bool sets; }) loops; /* what each loop of the program holds */
    Opnd batch_index;    /* inside a batch; 0 outside */
    Opnd team_step;      /* static dealing: from iteration to iteration of this team */
    Opnd id;             /* the iteration's number in an across-grid pipeline */
    struct Kept { LoopState *loop; Opnd value; } saved[PIPE_INDICES]; /* deal_ahead */
    int nsaved;
    Opnd saved_guard, saved_inside;
    bool dirty;          /* work: threads may have touched tiles since the last cta.sync */
    bool id_read;        /* by all threads since the last synchronisation of the role's */
    bool unfenced;       /* work: written since the last fence */
    bool pending;        /* stores issued since the last commit */
    uint32_t conditions; /* around the statement at hand */
    VEC(Around) around;  /* the same; followed: the rank decides */
    int64_t threads;     /* asked for by `threads` */
    uint32_t per_sm;
    TmemSched tmem;
} Sched;

/* ---- plan_moves.c ---- */
bool plan_move(Lower *L, const PStmt *st); /* adds it to moves */
bool plan_one_run(const MoveInfo *mi);     /* the part of the tile is one run of bytes */
/* Between CTAs: one run of bytes on each side. False after an error. */
bool plan_runs(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to);
typedef struct Workers { /* who does work by threads, and on how many tiles */
    uint32_t threads;
    int64_t batch;                /* tiles in a row, at these pitches in bytes; 1: one */
    uint32_t pitch_from, pitch_to;
} Workers;
/* Both sides are known. False after an error. */
bool plan_work(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to, Workers by, uint32_t *plan);
int64_t plan_zeros(Lower *L, const PStmt *st, const MoveInfo *to, Workers by); /* a fill by st.bulk: its bytes; 0: none */
void plan_order(Lower *L);                 /* stores that wait for others */
void plan_threads_all(Lower *L);           /* when the number of threads is known */

/* ---- rings.c ---- */
bool rings_find(Lower *L);     /* who uses which tile, where: after planning; false after an error */
bool rings_size(Lower *L);     /* slots, batches, per_sm; false after an error */
const PStmt *rings_top(const Planned *p, const PBlock *b); /* the statement of the block that holds the move; NULL: none does */
void rings_barriers(Lower *L); /* IrBuf slots and IrBar */

/* ---- ring_ops.c ---- */
void ring_role(Lower *L);      /* variables of the role at hand */
void ring_wait_full(Lower *L, uint32_t ring);
void ring_wait_free(Lower *L, uint32_t ring);
void ring_wait_also(Lower *L, uint32_t ring, uint32_t bar); /* another barrier that goes with its turns */
void ring_arrive_full(Lower *L, uint32_t ring);
void ring_join(Lower *L, const Ring *r, Opnd slot);
void ring_release(Lower *L, uint32_t ring);
void ring_advance(Lower *L, uint32_t ring);
Opnd ring_slot(Lower *L, uint32_t ring); /* of the turn at hand */
bool ring_uses(const Ring *r, Agent a);

/* The pred "this is the first CTA of the team"; 0 where the team has one only. */
Opnd ring_leader(Lower *L);

/* ---- deal.c ---- */
Pipe *pipe_of(Lower *L, const PStmt *st);
void deal_launch(Lower *L); /* the manifest's grid */
void deal_walk(Lower *L, Pipe *p);
void deal_turn(Lower *L, Pipe *p, Opnd id); /* a team's iteration, or batch of them */
void deal_indices(Lower *L, const Pipe *p, Opnd id); /* of the iteration with this number */
/* ---- batch.c ---- */
void batch_find(Lower *L);            /* which ones go statement by statement: when sizes are known */
uint32_t batch_pitch(const Lower *L, const Pipe *p, const PTile *tile); /* bytes from iteration to iteration */
void batch_turn(Lower *L, Pipe *p);
/* ---- deal_ways.c ---- */
void deal_by(Lower *L, Pipe *p, Opnd teams); /* all turns of this team; teams: turns of all teams */
/* Indices as this team will have them n turns later; false where that is not known. Closed by deal_now. */
bool deal_ahead(Lower *L, const Planned *p, int64_t n);
void deal_now(Lower *L);

/* ---- roles.c ---- */
void roles_body(Lower *L);                   /* the whole program */
void roles_begin(Lower *L, const PBlock *b); /* the role's part of a turn begins: slots are taken */
/* The body. part: of a batch, around which the slots are taken and given back; or NULL. */
void roles_turn(Lower *L, Pipe *p, const Part *part);
bool roles_enter(const Lower *L, const PStmt *st, int agent); /* a loop without moves of the role is nothing to it, unless it changes variables */
uint32_t roles_moves(const PBlock *b);       /* how many there are in it */
void roles_end(Lower *L, const PBlock *b);   /* stores are committed, slots given back, counters go on */
void roles_id_sync(Lower *L);
void roles_store_sync(Lower *L);             /* what threads did is visible to the elected thread's copies */

/* ---- fill_peer.c ---- */
typedef struct FillPeer { /* where a fill of another CTA's tile goes, and what tells that it has arrived */
    const MoveInfo *to;
    Opnd slot, at, rank, bar_slot, guard;
    uint32_t bar;
} FillPeer;
bool fill_peer_plan(Lower *L, const PStmt *st, const MoveInfo *to); /* false after an error */
void fill_peer_emit(Lower *L, const PStmt *st, const FillPeer *f);
const char *fill_peer_text(Lower *L, const PStmt *st, const MoveInfo *to); /* --explain-plan: without the line's end */

/* ---- roles.c ---- */
Opnd planned_bytes(Lower *L, const Planned *p); /* that a load brings, with those of all CTAs of its multicast */

/* ---- remote.c ---- */
void remote_enter(Lower *L, const PStmt *st, bool other); /* a branch */
void remote_leave(Lower *L);
bool remote_plan(Lower *L, Planned *p);       /* a load by mask, or into a peer's tile; false after an error */
void remote_values(Lower *L, Planned *p);     /* where it goes */
int64_t remote_most(const Lower *L, const Planned *p); /* bytes that it brings to one CTA */
Opnd remote_bytes(Lower *L, const Planned *p); /* that it brings to this CTA */

void remote_ring(Lower *L, Ring *r, uint32_t index); /* whether it is filled by rank: when all moves are planned */
uint32_t remote_releases(const Lower *L, const Ring *r); /* arrivals on its empty barrier by each role that uses it */
void remote_release(Lower *L, const Ring *r, Opnd slot);
uint32_t remote_readies(const Lower *L, const Ring *r); /* summed: arrivals on `ready` */
void remote_ready(Lower *L, uint32_t ring); /* summed: the own tile is loaded; waits for those that this CTA reduces into */

/* ---- tmem_sched.c ---- */
bool tmem_paired(Lower *L, const Planned *p); /* both CTAs of a pair do it; false after an error */
void tmem_barriers(Lower *L);
void tmem_role(Lower *L);                     /* variables of the role at hand */
void tmem_start(Lower *L, Planned *p);        /* a copy by the tensor core, or a shift */
void tmem_work(Lower *L, Planned *p);         /* by threads; all before it is settled and synchronised */
void tmem_settle(Lower *L);                   /* what is pending is committed and waited for */
bool tmem_reads(const Lower *L, uint32_t ring); /* something pending still reads its tile */

/* ---- schedule.c ---- */
void schedule_mark_elected(Lower *L, Shape shape); /* which of the body's ops one thread does */
const PStmt *schedule_wanted(const PKernel *k); /* the first statement that wants it, or NULL */
void schedule_kernel(Lower *L);

#endif
