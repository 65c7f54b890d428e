/* What happens in one unrolling.
 *
 * Glossary: thread - one that runs a body; a role of one thread has one, others are stood for by three: the elected one
 * and any two others. event - an op as done by a thread. clock - of each
 * thread, how many of its events come before. phase - of a barrier slot of a CTA. access - bytes of a buffer that a copy or
 * a thread reads or writes. turn - of a loop. burst - copies of a thread with no synchronisation between them: one event.
 */
#ifndef LOWER_VERIFY_GRAPH_EVENTS_H
#define LOWER_VERIFY_GRAPH_EVENTS_H

#include "lower/ir/thread_work.h"
#include "lower/verify/graph/values/forms.h"

typedef struct Value {
    Form x;     /* in this run; 0: not worked out */
    Form plain; /* without what was chosen for trip counts: x where that does not enter; 0: not known */
} Value;
static inline Value value_of(Form x) /* nothing chosen enters */
{
    return (Value){x, x};
}
static inline bool value_by_trip(Value a)
{
    return a.x != a.plain;
}
typedef struct InLoop { /* an unrolled loop: its op, how many are around, itself too, which time it runs, and which turn that is; level 0: none */
    uint32_t loop, level, pass, turn;
} InLoop;
/* Of what else a thread has a list. Fences; GLOBAL: async, of global memory; BEFORE, AFTER: tc.fence. Commits, to a bulk group or of the tensor core. */
typedef enum Fence { FENCE_INITS, FENCE_ASYNC, FENCE_GLOBAL, FENCE_BEFORE, FENCE_AFTER, FENCES } Fence;
typedef enum CommitKind { TO_GROUP, TO_BARRIER, COMMITS } CommitKind;
typedef struct Event {
    uint32_t thread, pos; /* pos: 1 for the thread's first */
    uint32_t op;
    uint32_t *clock; /* by thread: the newest event that is not after this one */
    InLoop in, open; /* the innermost one; the innermost that is not passed in full in each run */
    uint32_t within; /* .. which turn of those inside of that */
    uint32_t fences[FENCES], commits[COMMITS]; /* how many its thread had */
} Event;
typedef uint32_t EventId; /* 1-based; 0: none */

typedef struct Part { /* what counts on a phase */
    EventId event;
    uint32_t op;
    bool arrives, expects, copies, remote;
} Part;
typedef struct Bringer { /* a thread whose copies count on a phase */
    uint32_t thread;
    Form bytes;
    uint32_t *clock; /* of the first of them */
} Bringer;
typedef struct Phase {
    uint32_t slot;   /* number of the barrier slot, through all CTAs */
    uint32_t number; /* from 0 */
    uint32_t arrivals;
    Form expected, delivered;
    uint32_t *clock;   /* of all that is certain to count on it */
    uint32_t *arrived; /* of the arrivals alone */
    VEC(EventId) waits;
    VEC(Part) parts;
    VEC(Bringer) bringers;
    uint32_t op; /* last that counted on it */
    bool complete;
} Phase;
typedef struct BarSlot {
    VEC(Phase *) phases; /* the last one is open */
    VEC(EventId) early;  /* waits for the phase before the first */
    uint32_t count;
    EventId init;
} BarSlot;

typedef struct View { /* where a map that the kernel makes lies */
    uint32_t tensor, n; /* n dimensions */
    Form some;          /* pred: it is not empty */
    Form from, dim[MAP_RANK], pitch[MAP_RANK]; /* in bytes, but dim; pitch of the innermost, too */
} View;
typedef struct Region { /* the part of a tensor that a copy touches; NULL where it is not known */
    uint32_t map;       /* UINT32_MAX: bytes lo[0] .. hi[0] of the tensor */
    uint32_t tensor, n;
    Form lo[MAP_RANK], hi[MAP_RANK];
    Form cond;              /* pred under which the copy happens */
    const View *view;       /* whose map says where it lies; NULL: known at launch */
} Region;
typedef struct Bytes { /* bytes lo .. hi of a buffer's slot in a CTA */
    uint32_t rank, buf;
    int64_t slot;
    Form lo, hi;
    int64_t step, width; /* pieces of so many bytes begin at lo, lo + step, .. and the last one ends at hi; step 0: all bytes */
} Bytes;
enum { GAP_UNIT = 16 };
typedef struct TurnAt { /* of a loop; at: from 0 */
    uint32_t op;
    int64_t at;
} TurnAt;
typedef struct Site { /* of an access, in one run */
    uint32_t op, rank;
    const TurnAt *around; /* the unrolled loops around it, outermost first */
    uint32_t naround;
    bool write;
    bool vague; /* it stands for several ops, or for all turns of a loop that the launch bounds */
} Site;
typedef struct Side { /* of a plan: */
    ThrSide is;
    Form part; /* where it begins, if that tells which bytes of a swizzle's pattern are its own */
} Side;
typedef struct Access { /* to bytes of a buffer, or to global memory */
    Bytes at;
    uint64_t tensors;     /* in global memory: one bit each, and at is not used; 0: in a buffer */
    const Region *region; /* there; NULL: not known */
    Form cond; /* pred under which it happens to all of the bytes; 0: not known */
    Form only; /* pred without which it does not happen; 0: not known */
    bool write, async;
    bool generic; /* async, but through the generic proxy: st.async, red.async */
    bool any_order; /* in global memory: it may come before or after others there */
    uint16_t reduce; /* operation and type, where it combines with what lies there: two of one kind commute. 0: none */
    uint8_t gap;     /* of each 16 bytes the last ones that a write leaves without a value, or a read does not look at */
    uint32_t shape; /* of bytes with gaps: which of v->shapes, from 1; 0: all bytes */
    uint32_t op;
    Site site;       /* in global memory, and of a buffer whose parts loops move through; else empty */
    EventId start, end; /* end of a thread's access: start; of a store's: the grp.wait for it, in global memory the full one, 0: none */
    Phase *phase;       /* tells the end of a copy that counts on a barrier */
    Phase *also;        /* so does this one, in another CTA: of what a pair's commit completes; or NULL */
    uint32_t act;       /* equal where several threads share one op, or turns of a loop over copies */
    bool group;         /* of a store: it is committed to a bulk group */
} Access;
typedef struct Over { /* from event pos of a thread on: write `at` is over there, + 1 */
    uint32_t pos, at;
} Over;
typedef struct Writing { /* writes under equal conditions */
    VEC(const Access *) all;
    Over *over; /* by thread */
} Writing;
typedef struct ByteRange { /* equal bytes of a place */
    Bytes at;
    bool fixed, met; /* all of from .. to, which are numbers; meets has been filled */
    int64_t from, to; /* in every launch within these */
    VEC(uint32_t) meets; /* ranges that may have bytes in common */
    VEC(Writing) writings; /* those that perhaps write no byte left out */
    const Access *gaps;    /* the write that leaves the largest ones; NULL: none does */
} ByteRange;
typedef struct Place { /* a slot of a buffer in a CTA: its accesses in the order of the run */
    const Access *all;
    uint32_t n;
    uint32_t *range; /* by access */
    VEC(ByteRange) ranges;
    bool gaps;   /* some range has them */
    bool listed; /* the certificate names its dependences: those of places with many accesses are too many */
} Place;
/* judge/always.c: two sites, and how far apart they are in turns of a loop around both */
typedef enum Farther { OF_ONE_TURN, SO_MANY, OR_MORE, ANY } Farther;
typedef struct Asked {
    struct Asked *next;
    Site a, b;
    const IrArg *buf[2]; /* the operand that names the bytes of each; NULL: in global memory */
    int64_t room[2];     /* how many there are */
    uint32_t level;  /* the loop of both in which they are apart: those around it are in one turn */
    int64_t by;      /* turns that b is later */
    Farther how;
    bool apart;
} Asked;
typedef struct Cell { /* what was put there last: for ld.shared by st.shared and st.async, for copies by map.set */
    Bytes at;
    Value value;
    const View *view;
} Cell;

/* ---- the threads, where each is, and what they share ---- */

typedef struct Frame {
    uint32_t op;
    int64_t at, past; /* unrolled: this turn, and the first one that is none; repeat: this turn alone */
    int64_t left_out; /* so many turns are in the middle */
    bool burst;       /* a loop over copies: its body is passed once */
    Form first, end;  /* its bounds */
    Form turns;       /* as many as lie between */
    uint32_t index;   /* its atom */
    uint32_t accesses, sums, known, facts; /* counts where the block begins */
    Form guard;                                       /* of the block around */
    uint32_t pass;                                    /* how many times the thread came to it before */
} Frame;
enum { FRAMES = 64 };

typedef struct Sum { /* bytes of copies not yet counted on their barrier */
    uint32_t slot;
    Form bytes;
    uint32_t *clock; /* what has happened before any of them */
    uint32_t op;
} Sum;
typedef enum Meeting { OF_THREADS, OF_CLUSTER, MEETINGS } Meeting; /* barriers of threads */
typedef enum Block { RUNS, WAITS_PHASE, WAITS_SYNC, WAITS_CLUSTER, ENDED } Block;

typedef struct Commit { /* of what a thread began before: to a bulk group, or (phase) to barriers */
    EventId read, full; /* the first grp.wait, and the first full one, that waits for the group; 0: none */
    Phase **phase;      /* by rank: where the tc.commit counts, NULL: not there; then the first of them */
} Commit;

typedef struct Thread {
    uint32_t id, rank, role, rep; /* rep 0: the elected one */
    uint32_t copies;              /* how many threads it stands for */
    uint32_t body, pc; /* pc: the op, or the body's end */
    Block block;
    uint32_t slot; /* WAITS_PHASE */
    uint32_t at[MEETINGS]; /* number of the SyncPoint where it has arrived and for which it has not waited, + 1 */
    Value *value;  /* by value */
    Value *vars;
    Frame *frames;
    uint32_t depth;
    Form guard; /* of the block where it is */
    uint32_t pos, acts;
    uint32_t *clock;
    EventId last, burst; /* burst: the event of copies with nothing in between, 0: none */
    VEC(Sum) sums;
    VEC(Commit) commits[COMMITS];
    uint32_t read, full;      /* so many groups have been waited for */
    uint32_t *times;          /* by op: loops entered */
    uint32_t *made;           /* by op, then by variable: values that are not taken apart */
    VEC(EventId) fences[FENCES];
} Thread;

typedef struct SyncPoint {   /* one use of cta.sync, warp.sync or the cluster's barrier */
    uint32_t rank, id, role; /* UINT32_MAX: any */
    uint32_t members, arrived;
    uint32_t *clock;
    uint32_t op;
} SyncPoint;

typedef struct Shared { /* an act of a role's threads */
    uint32_t n; /* how many of them have done it */
    Form agreed;
    uint32_t *clock; /* what each of them comes after */
} Shared;
typedef VEC(Shared) Acts;

#endif
