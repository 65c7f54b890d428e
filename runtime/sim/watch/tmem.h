/* The order that tcgen05 asks for: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations".
 *
 * An access of tensor memory is over for another one that conflicts with it when
 *   ld, st      the issuing warp has waited (tcgen05.wait) and, if the other access is another warp's,
 *               fence::before_thread_sync, a synchronisation of the threads and fence::after_thread_sync stand between
 *   cp, shift   a tcgen05.commit behind it has arrived on an mbarrier, that was waited for, and
 *               fence::after_thread_sync stands behind the wait (commit does fence::before_thread_sync by itself)
 * The one pipeline of the ISA's list without an mma, shift -> cp.4x256b of one .cta_group, needs the order of issue
 * alone: the same thread, or the two fences around a synchronisation. Everything else is in no order, cp -> cp and
 * shift -> shift of one thread too. alloc and dealloc are synchronous: what is known to be over is enough for dealloc,
 * and the order of execution behind alloc.
 *
 *   clock      knows                                     carried by
 *   B          what fence::before_thread_sync covers     fence::before_thread_sync, then like E
 *   tensor     what is ordered before tcgen05 from here  wait, fence::after_thread_sync; by nobody
 *
 * Agents: a warp's waits for loads, its waits for stores (both of its first thread), a thread's commits.
 */
#ifndef SIM_WATCH_TMEM_H
#define SIM_WATCH_TMEM_H

#include "runtime/sim/watch/shadow.h"
#include "runtime/sim/watch/watch.h"

typedef enum TensorOp {
    TENSOR_ALLOC,
    TENSOR_DEALLOC,
    TENSOR_LD,
    TENSOR_ST,
    TENSOR_CP,
    TENSOR_CP_4X256B,
    TENSOR_SHIFT
} TensorOp;

typedef struct WatchTensor { /* one operation of one thread; t NULL: nothing is watched */
    SimThread *t;
    TensorOp op;
    bool half;          /* 16 of the 32 bits of a cell */
    uint32_t record[2]; /* of its reads, its writes; 0: none yet */
    ShadowMemo memo[2];
} WatchTensor;
void watch_tensor_begin(SimMachine *m, SimThread *t, TensorOp op, bool half, WatchTensor *w);
/* [column, column + n) of a lane. False: a finding was filed. */
bool watch_tensor_touch(SimMachine *m, WatchTensor *w, SimCta *cta, uint32_t lane, uint32_t column, uint32_t n,
                        bool write);
void watch_tensor_end(SimMachine *m, WatchTensor *w);

/* All lanes of a warp have waited for its loads or stores. */
void watch_tensor_wait(SimMachine *m, SimThread *const *lane, uint32_t n, bool store);
void watch_tensor_fence(SimMachine *m, SimThread *t, bool after);
/* t commits: which agent at which time says that what it tracks is over; agent NO_AGENT: nothing is watched. */
void watch_tensor_commit(SimMachine *m, SimThread *t, uint32_t *agent, uint32_t *number);
/* The mbarrier on which the commit will arrive; its init must be visible. */
bool watch_tensor_barrier(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, uint32_t agent, uint32_t number);
/* The shared memory that a tcgen05.cp of t reads, until its next commit. */
WatchCopy *watch_tensor_source(SimMachine *m, SimThread *t);

#endif
