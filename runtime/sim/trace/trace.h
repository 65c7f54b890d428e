/* A timeline of a launch for Chrome's tracing page or Perfetto: issue -> completion -> wait, per CTA and role.
 *
 * Written as JSON (Trace Event Format). Times are the simulator's steps, one microsecond each: order, not speed. Of
 * several launches, and of the schedules of fuzz mode, the file holds the last one.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "runtime/sim/machine.h"

struct SimTrace;
void *trace_open(Mem *mem);
void trace_close(void *trace);
/* The wait that the thread is in: a slice from..to on its line. open: it has not ended. */
void trace_wait(SimMachine *m, const SimThread *t, uint64_t from, uint64_t to, bool open);
/* The waits that are open at the end. */
void trace_waits(SimMachine *m);
typedef struct TraceCopy { /* what the thread's instruction starts */
    uint64_t task, bytes;
    const char *verb;  /* "load", "store", .. */
    int64_t coords[5]; /* of a tensor copy, innermost first */
    uint32_t ncoords;  /* 0: linear */
    uint64_t global;   /* address of a linear copy; 0: none */
    uint32_t shared, barrier;
    uint64_t group; /* 0: it completes on the barrier */
} TraceCopy;
void trace_issue(SimMachine *m, const SimThread *t, const TraceCopy *c);
void trace_done(SimMachine *m, uint64_t task, const SimCta *where);
/* A copy of a bulk group: its reads are done, all of it is. */
void trace_reads(SimMachine *m, uint64_t task, const SimWho *who);
void trace_over(SimMachine *m, uint64_t task, const SimWho *who);
/* A wait_group (read: .read) is over that covers the thread's groups from + 1 .. upto. */
void trace_groups(SimMachine *m, const SimThread *t, uint64_t from, uint64_t upto, bool read);
/* An arrow from the completion of a barrier's phase to the wait that saw it. phase: complete phases, here and below;
 * they are shown counted from 0. */
void trace_seen(SimMachine *m, const SimThread *t, const SimCta *cta, uint32_t barrier, uint64_t phase);
void trace_phase(SimMachine *m, const SimCta *cta, uint32_t barrier, uint64_t phase);
void trace_task_phase(SimMachine *m, uint64_t task, const SimCta *cta, uint32_t barrier, uint64_t phase);
/* The whole timeline as JSON, with the finding if there is one; false: could not be written (why into text). All or nothing. */
bool trace_write(SimMachine *m, const char *path, char *text, size_t size);

#endif
