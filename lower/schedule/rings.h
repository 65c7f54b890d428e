/* Rings: a tile's slots, who uses them, and the barriers by which agents hand them to each other. */
#ifndef LOWER_SCHEDULE_RINGS_H
#define LOWER_SCHEDULE_RINGS_H

#include "lower/kernel/kernel.h"
#include "lower/plan/move.h"

/* ---- agents ---- */
typedef enum Agent { AG_LOAD, AG_SEND, AG_WORK, AG_COUNT } Agent;
#define AG_NONE AG_COUNT
extern const char *const AGENT_NAMES[AG_COUNT + 1]; /* schedule.c; that of AG_NONE is empty */
#define BAR_NONE UINT32_MAX
enum { BATCH_MAX = 256 };
enum { SM_RESERVED = 1 << 10 };   /* bytes of an SM's shared memory that each CTA takes beyond its own */
enum { FLIGHT_BYTES = MF_FLIGHT }; /* loads ahead per SM that DRAM wants */

typedef struct Ring {
    PTile *tile;
    VEC(struct Planned *) moves;  /* that read or fill it, in order */
    const PBlock *turn;           /* NULL: the tile is not used */
    uint32_t depth;               /* loops around that */
    const PStmt *loop;            /* whose body that is, or NULL */
    const struct Pipe *pipe;      /* that that is, or NULL */
    bool looped;                  /* more than one turn in a kernel */
    const PStmt *carried;         /* the outermost loop of which a turn reads what an earlier one left; NULL: none */
    uint8_t agents;               /* bits of Agent */
    bool reading;                 /* while the program is walked: stores of this turn may still read it */
    bool thread_writes, thread_reads, stored, stored_always, peered; /* peered: filled by other CTAs */
    Agent filler;
    const PStmt *first[AG_COUNT]; /* statements of the turn block */
    uint32_t nfills, filled;      /* fills of a turn: statements, and those emitted so far */
    int64_t bytes;                /* that complete on its full barrier in a turn */
    uint32_t pitch;               /* bytes from tile to tile within a slot */
    uint32_t slots, lead, lag, inner; /* inner: tiles per slot: those of an array, or of a batch */
    uint32_t full, empty;         /* IrBar, BAR_NONE: none */
    uint32_t buf;                 /* IrBuf */
    struct Ring *home;            /* the ring of whose turns its turns are: itself, or one of a loop before (share.c) */
    int64_t room;                 /* bytes from slot to slot, for all whose home it is */
    int64_t used;                 /* of these, what their tiles have */
    const struct Planned *fill, *last_fill; /* the first move that fills it; the filler's last one in a turn, or the last one that adds to it */
    const struct Planned *first_work; /* the first move of the working role's */
    PCast cast;                   /* multicast: the CTAs that fill it are those it is sent to */
    bool by_rank;                 /* filled by other CTAs, each by as many as the rank says */
    bool summed;                  /* loaded, then other CTAs reduce into it: */
    int sum_op;                   /* WORDS_REDUCE */
    uint16_t adds_to[RANKS_MAX]; /* those into whose tiles each one reduces */
    uint32_t ready, sum;          /* IrBar: their tiles are loaded; all sums have arrived here */
    uint16_t reach[RANKS_MAX];  /* by_rank: the CTAs whose slots each one fills, and itself */
    bool unread;                  /* nobody but the filler touches it: the working role awaits that it is there */
    bool certain;                 /* some fill of a turn is under no condition */
    bool joined;                  /* a multicast that may not come: each of these CTAs arrives on the full barriers of all */
    bool generic;                 /* other CTAs fill it, or add to it, by st.async, red.async: who waited for that fences */
    bool handed;                  /* ids that arrive as bytes: from the team's first CTA, or from the grid's launch */
    uint32_t ir;                  /* IrRing */
    bool kept;                    /* by the working role for itself, in one slot: kept.c */
    const char *why, *fix;        /* kept: what holds it back; what would let it overlap, or NULL */
    const PStmt *held_by, *held_for; /* where that is found; what it is beside, or NULL */
    bool filled_by_copies, across; /* kept: it has a full barrier; other CTAs fill it: */
    uint32_t done;                /* IrBar: what this CTA sent has arrived, and those there have begun the generation */
    bool opened;                  /* while the program is walked: the generation at hand is for the copy that comes now */
    VEC(const struct Planned *) arriving; /* the same: copies of it that nobody awaits yet */
    uint32_t announced;           /* the op that arrives for them, in the body; from 1 */
    uint32_t group;               /* stores that read it: the number of their group */
    struct Ring *beside[AG_COUNT + 1]; /* the next one that has its first use by the agent in the same statement; AG_NONE: its turn in the same block */
} Ring;

/* ---- uses.c ---- */
void rings_find(Lower *L);     /* who uses which tile, where: after planning */
void rings_index(Lower *L);    /* .. so that rings_at() finds it: again when that has changed */
Ring *rings_at(const Lower *L, const void *at, Agent a); /* the first one there: a's first use of it is the statement; AG_NONE: its turn is the block */
#define FOR_RINGS_AT(L, at, a, r) for (Ring *r = rings_at(L, at, a); r; r = r->beside[a])

/* ---- rings.c ---- */
void rings_size(Lower *L);     /* slots, batches, per_sm */
void ring_new(Lower *L, Ring *r, const char *name); /* its IrRing */
uint32_t ring_bar(Lower *L, const Ring *r, const char *name, const char *what, uint32_t slots, uint32_t count); /* `name.what` */
void rings_barriers(Lower *L); /* IrBuf slots and IrBar */
int64_t rings_smem(Lower *L);  /* bytes of a CTA */

/* ---- share.c ---- */
void rings_share(Lower *L);      /* rings of loops that follow one another become one, where they find no room beside each other */
void rings_share_barriers(Lower *L); /* .. they have the same barriers, */
void rings_share_buffers(Lower *L); /* .. and one buffer: in the tree */

/* ---- flight.c ---- */
void flight_tell(Lower *L); /* P0005: when slots, shapes and dealing are known */

/* ---- ring_ops.c ---- */
void ring_wait_full(Lower *L, const Ring *r);
void ring_acquire(Lower *L, const Ring *r);
void ring_await(Lower *L, const Ring *r, uint32_t bar, bool cluster); /* one of its events */
void ring_announce(Lower *L, IrOpcode code, uint32_t bar, Opnd slot, Opnd bytes); /* bytes that complete on a barrier, perhaps with an arrival */
void ring_expect(Lower *L, const struct Planned *p, Opnd slot); /* a fill's bytes; the last one's arrival, too */
void ring_arrive_full(Lower *L, const Ring *r);
void ring_release(Lower *L, const Ring *r);
void ring_advance(Lower *L, const Ring *r);
static inline Opnd ring_slot(const Ring *r) /* of the turn at hand */
{
    return opnd_turn(r->ir);
}
static inline bool ring_uses(const Ring *r, Agent a)
{
    return r->agents >> a & 1;
}
/* The pred "this is the first CTA of the team"; 0 where the team has one only. */
Opnd ring_leader(Lower *L);

/* ---- remote.c: between CTAs ---- */
void remote_ring(Lower *L, Ring *r); /* who fills whose, where several CTAs do: when all moves are planned */
uint32_t remote_arrivals(const Lower *L, const uint16_t *sets); /* that each CTA hears where all tell those of their set: remote_release, remote_ready */
void remote_release(Lower *L, const Ring *r);
void remote_done(Lower *L, const Ring *r); /* kept: what has arrived here is told to those who sent it; waits for what this CTA sent */
void remote_ready(Lower *L, const Ring *r); /* summed: the own tile is loaded; waits for those that this CTA reduces into */

/* ---- kept.c: tiles that the working role keeps for itself ---- */
void kept_begin(Lower *L, Ring *r); /* at the first statement of a turn that uses it */
void kept_open(Lower *L, const struct Planned *p); /* in front of a copy into it: nobody is at the tile, here and where it fills it */
void kept_issued(Lower *L, const struct Planned *p); /* .. and behind it */
void kept_arrive(Lower *L, const Ring *r); /* what is copied into it has arrived; NULL: into any tile */
void kept_overwritten(Lower *L, const struct Planned *store); /* what copies still read, and the store may write, has arrived */

/* ---- device_maps.c ---- */
bool device_find(Lower *L);    /* when rings are known; false after an error */
void device_buffers(Lower *L); /* when their slots are */
bool device_makes(const Lower *L, uint32_t agent, const char *source); /* does the agent, or role of the source, make maps? */
void device_role(Lower *L);
void device_view(Lower *L, const PStmt *st);
void device_ring(Lower *L, const Ring *r); /* its slot is free, or full */

#endif
