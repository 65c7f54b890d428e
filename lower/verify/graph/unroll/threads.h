/* The threads of one unrolling, where each is, and what they share. */
#ifndef LOWER_VERIFY_GRAPH_THREADS_H
#define LOWER_VERIFY_GRAPH_THREADS_H

#include "lower/verify/graph/unroll/events.h"
#include "lower/verify/graph/values/forms.h"

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
