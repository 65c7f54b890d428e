/* One copy in flight, between its issue (issue.c), what it tells and touches (touch.c) and the steps that
 * move it (async.c, or all at once: now.c).
 *
 * Invariants: `src`, and cta and home of each unfinished destination, count the task in SimCta.copies and so stay in memory;
 * the thread that issued it may be gone, so it is known by SimWho only. 0 < total for every queued task.
 */
#ifndef SIM_ASYNC_TASK_H
#define SIM_ASYNC_TASK_H

#include "runtime/sim/copies/async.h"
#include "runtime/sim/watch/watch.h"

enum { DESTINATIONS = 16, PIECE = 16 }; /* CTAs of a cluster; bytes */

typedef enum TaskKind {
    TASK_LOAD,  /* global memory to shared memory of one or several CTAs */
    TASK_STORE, /* shared to global memory */
    TASK_PEER,  /* shared to shared memory */
    TASK_VALUE  /* registers to shared memory */
} TaskKind;

typedef struct TaskDest {
    SimCta *cta;
    SimCta *home;              /* of the mbarrier: the same CTA, or with .cta_group::2 its peer */
    uint32_t offset;           /* of the box or range, from the first byte of the CTA's shared memory */
    uint32_t barrier;          /* likewise, of the mbarrier */
    uint32_t moved, completed; /* bytes that have landed, and those of them that the barrier knows of */
} TaskDest;

typedef struct Task {
    TaskKind kind;
    bool tensor, reduce, ftz;
    RedOp op;
    PtxType type;
    SimWho who;
    uint64_t number; /* from 1 */
    uint32_t total;  /* bytes that each destination gets, or that a store reads */
    /* tensor */
    BoxWalk walk;
    uint8_t map[SIM_MAP_BYTES];
    const uint8_t *map_at;
    int mode; /* MapMode of the form */
    int ncoords, ninfo;
    SimLoc map_loc; /* watched: maps in global memory can change */
    bool prefetch;
    /* linear: global address; registers: value */
    uint64_t global;
    uint8_t value[2 * PIECE];
    uint16_t mask;   /* linear stores: which bytes of each 16 are written */
    SimBlock *block; /* of the last piece */
    SimCta *src;
    uint32_t src_offset;
    TaskDest dest[DESTINATIONS];
    uint32_t ndest;
    uint64_t group; /* bulk group of its thread; 0: completes on barriers */
    bool reads_done;
    /* order of the pieces: each is `stride` behind the one before, modulo their number; destinations go on independently */
    uint32_t pieces, per_dest;
    uint32_t stride, at, at_write; /* pieces of the next move, and of the next write of a store */
    uint32_t next, next_write;     /* indices; next_write for stores, whose data waits in `buffer` */
    uint8_t *buffer;
    BoxPiece *table; /* of a tensor copy: its pieces */
    uint32_t cap_buffer, cap_table;
    uint32_t delay, burst;      /* steps until it starts; most pieces of one step, 0: all of them and any fraction */
    bool started, eager;        /* eager: a store's reads are over before its writes begin */
    uint32_t slot;              /* index in Async.tasks */
    struct Task *newer, *older; /* of the bucket of its thread; older: of Async.spare */
} Task;

enum { BUCKETS = 1024, MAPS = 64 };

typedef struct MapMemo { /* a map that was decoded */
    const uint8_t *at;
    uint8_t bytes[SIM_MAP_BYTES];
    MapDesc desc;
} MapMemo;

typedef struct Async {
    Task **tasks;
    uint32_t n, cap;
    uint64_t issued;
    Task *bucket[BUCKETS]; /* tasks with a bulk group, by thread */
    Task *spare;           /* over, with the room that they have */
    MapMemo maps[MAPS];
} Async;

/* issue.c: decodes the map and prepares the walk from the start, shared address and form that are in *k; checked
 * against memory. False: the finding's code and text. */
bool task_bind_map(SimMachine *m, Task *k, const uint8_t *map, int *rule, char *text, size_t size);

/* touch.c */
bool task_tell(SimMachine *m, SimThread *t, Task *k); /* the watch */
void task_poison(SimMachine *m, Task *k);
bool task_in_memory(SimMachine *m, Task *k, int *rule, char *text, size_t size); /* global side of a tensor copy */

/* async.c */
bool task_queue(SimMachine *m, Task *k); /* takes a copy of *k */
uint8_t *task_find_global(SimMachine *m, Task *k, uint64_t address, uint32_t n);
static inline uint8_t *task_global(SimMachine *m, Task *k, uint64_t address, uint32_t n)
{
    const SimBlock *b = k->block;
    if (b && n <= b->bytes && address - b->address <= b->bytes - n) return b->data + (address - b->address);
    return task_find_global(m, k, address, n);
}
void task_put(const Task *k, uint8_t *to, const uint8_t *from, uint32_t n); /* by the mask, reduced */

/* now.c */
bool task_run(SimMachine *m, Task *k); /* all of it, now */

static inline bool task_clusterless(const SimMachine *m)
{
    const uint32_t *c = m->launch.cluster;
    return (uint64_t)c[0] * c[1] * c[2] <= 1 && m->launch.program->reqcluster[0] == 0;
}

#endif
