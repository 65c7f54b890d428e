/* A timeline of a launch for Chrome's tracing page or Perfetto: issue -> completion -> wait, per CTA and role.
 *
 * Written as JSON (Trace Event Format). Times are the simulator's steps, one microsecond each: order, not speed.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "runtime/sim/machine.h"

struct SimTrace;
void *trace_open(Mem *mem);
void trace_close(void *trace);
/* A slice from..to on the thread's line. */
void trace_wait(SimMachine *m, const SimThread *t, uint64_t from, uint64_t to, const char *what);
void trace_issue(SimMachine *m, const SimThread *t, uint64_t task, const char *what, uint64_t bytes);
void trace_done(SimMachine *m, uint64_t task, const SimCta *where);
/* An arrow from the completion of the tasks of a barrier's phase to the wait that saw it. */
void trace_seen(SimMachine *m, const SimThread *t, const SimCta *cta, uint32_t barrier, uint64_t phase);
void trace_phase(SimMachine *m, const SimCta *cta, uint32_t barrier, uint64_t phase);
void trace_task_phase(SimMachine *m, uint64_t task, const SimCta *cta, uint32_t barrier, uint64_t phase);
/* The whole timeline as JSON; false: could not be written (why into text). All or nothing. */
bool trace_write(const SimMachine *m, const char *path, char *text, size_t size);

#endif
