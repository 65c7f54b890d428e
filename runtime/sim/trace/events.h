/* The events of a timeline, as trace.c records and write.c writes them. */
#ifndef SIM_TRACE_EVENTS_H
#define SIM_TRACE_EVENTS_H

#include "runtime/sim/trace/trace.h"

enum { EVENTS_MAX = 1000000, ENGINE_ROW = 1000, FLUSH_BYTES = 1 << 16 };

typedef enum EventKind { EV_WAIT, EV_ISSUE, EV_DONE, EV_PHASE, EV_SEEN, EV_READS, EV_OVER, EV_GROUPS } EventKind;

typedef struct Event {
    uint64_t at;     /* step */
    uint64_t number; /* WAIT: steps; ISSUE, DONE, READS, OVER: task; PHASE, SEEN: phase; GROUPS: the last group */
    uint64_t more;   /* WAIT: what for; ISSUE: its copy; DONE: phase of the barrier, 0: none; GROUPS: the first group */
    uint64_t cta;    /* linear in the grid: where it happened */
    uint64_t of;     /* SEEN: CTA of the barrier */
    uint32_t barrier; /* byte in the CTA's shared memory; WAIT_NAMED: which */
    uint32_t pc;      /* of a thread's events */
    uint16_t row, thread;
    uint8_t kind, wait;
    bool open; /* WAIT: it has not ended; GROUPS: .read */
} Event;

typedef struct Row { /* of a CTA that has events */
    uint64_t cta;
    uint32_t row;
    bool used;
    const char *role;
    uint32_t last_wait; /* event + 1 */
} Row;

typedef struct SimTrace {
    Mem *mem;
    Event *events;
    TraceCopy *copies; /* of the issues */
    uint32_t n, cap, ncopies, capcopies;
    uint64_t dropped;
    Row *rows; /* hashed, nrows of mask + 1 */
    uint32_t nrows, mask;
    /* the last task whose bytes went to a barrier */
    uint64_t task, task_phase;
    uint32_t task_barrier;
} SimTrace;

static inline uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = (a * UINT64_C(0x9E3779B97F4A7C15)) ^ (b + UINT64_C(0x7F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 31 ^ c) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 29;
}

#endif
