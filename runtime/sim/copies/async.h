/* The copy engine: asynchronous copies, reductions and prefetches as tasks that really are late.
 *
 * Issuing checks operands (alignment, windows, traps of the form's row), tells the watch, poisons the destination in
 * shared memory and queues a task. The scheduler advances tasks at times of its own: read the map, move pieces of 16
 * bytes in shuffled order, a few at a time, complete_tx on each destination's barrier or count down the bulk group.
 * A store's source bytes are read by the pieces too, so an overwrite that comes too early is stored. In fast mode a
 * task is done when it is issued.
 */
#ifndef SIM_ASYNC_H
#define SIM_ASYNC_H

#include "runtime/sim/machine.h"

void async_init(SimMachine *m);
void async_free(SimMachine *m);
/* Issues the copy, reduction or prefetch of f (every form whose row has a completion, and the prefetches). */
bool async_issue(SimMachine *m, SimThread *t, const FormOp *f);
/* st.async and red.async: tasks of one small piece. */
bool async_store(SimMachine *m, SimThread *t, const FormOp *f);
/* A request for a cluster that has not started: its answer is a task, too. */
bool async_cancel(SimMachine *m, SimThread *t, const FormOp *f);
uint32_t async_pending(const SimMachine *m);
/* Advances one task by one step. False: a finding was filed. */
bool async_step(SimMachine *m);
/* Bulk groups of a thread: how many of the committed groups are not done (reads: whose reads are not). */
uint64_t async_groups_left(const SimThread *t, SimMachine *m, bool read);
/* Lines about tasks in flight, for a deadlock report. */
void async_describe(SimMachine *m, Text *out);

#endif
