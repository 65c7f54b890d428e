/* Vector clocks: what is known of the agents of a cluster, and of other clusters.
 *
 * A clock maps agents (numbered densely within their cluster) to times; what it does not hold is at time 0. Clocks are
 * shared by reference count and change only while one holder has them (copy on write), so that passing knowledge on
 * is mostly passing a pointer on. Joins remember their last results: 256 threads that leave one barrier with equal
 * knowledge get one clock.
 *
 * Foreign knowledge is a set of clusters, each with one clock of every kind: what came through global memory.
 *
 * Memory is the pool's; a failed allocation jumps to mem->fail and leaves all holders as they were.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/arena.h"

typedef enum KnowKind { /* the table of watch.h */
                        KNOW_C,
                        KNOW_E,
                        KNOW_CTA,
                        KNOW_CLUSTER,
                        KNOW_GLOBAL,
                        KNOW_M,
                        KNOW_B, /* of tmem.h */
                        KNOW_COUNT
} KnowKind;

typedef struct Clock {
    uint32_t refs, n, cap;
    uint32_t time[];
} Clock;
typedef struct ForeignEntry {
    uint32_t cluster;
    Clock *k[KNOW_COUNT];
} ForeignEntry;
typedef struct Foreign { /* immutable, by cluster */
    uint32_t refs, n;
    ForeignEntry e[];
} Foreign;

enum { CLOCK_MEMO = 64, POOL_CLASSES = 40 };
typedef struct ClockPool {
    Arena arena;
    void *free[POOL_CLASSES]; /* by size: 2^i bytes */
    size_t live;              /* bytes that are taken and not given back */
    struct {
        Clock *a, *b, *join;
    } memo[CLOCK_MEMO];
} ClockPool;

void clocks_init(ClockPool *p, Mem *mem);
void clocks_free(ClockPool *p);
/* Small objects that come and go; not zeroed. */
void *pool_take(ClockPool *p, size_t bytes);
void pool_give(ClockPool *p, void *object, size_t bytes);

/* NULL is the clock that knows nothing. */
static inline uint32_t clock_get(const Clock *c, uint32_t agent)
{
    return c && agent < c->n ? c->time[agent] : 0;
}
static inline Clock *clock_ref(Clock *c)
{
    if (c) c->refs++;
    return c;
}
void clock_drop(ClockPool *p, Clock *c);
bool clock_covers(const Clock *a, const Clock *b); /* a knows all that b knows */
/* A new reference to the join. */
Clock *clock_join(ClockPool *p, Clock *a, Clock *b);
/* *into takes in b; remembered, for knowledge that many acquire alike. */
void clock_acquire(ClockPool *p, Clock **into, Clock *b);
/* The same in place where *into has no other holder: for objects that gather the knowledge of many. */
void clock_gather(ClockPool *p, Clock **into, Clock *b);
/* Raises one agent's time. */
void clock_set(ClockPool *p, Clock **c, uint32_t agent, uint32_t time);

static inline Foreign *foreign_ref(Foreign *f)
{
    if (f) f->refs++;
    return f;
}
void foreign_drop(ClockPool *p, Foreign *f);
const ForeignEntry *foreign_find(const Foreign *f, uint32_t cluster); /* NULL: nothing is known of it */
/* One cluster's clocks as a set; takes new references. */
Foreign *foreign_one(ClockPool *p, uint32_t cluster, Clock *const k[KNOW_COUNT]);
/* A new reference to the join of both, without cluster `except` (UINT32_MAX: none). */
Foreign *foreign_join(ClockPool *p, Foreign *a, Foreign *b, uint32_t except);
/* A new set whose clocks `to` are the clocks `from`. */
Foreign *foreign_raise(ClockPool *p, const Foreign *f, KnowKind from, KnowKind to);

#endif
