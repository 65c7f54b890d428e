/* The rules that hardware hides, checked on one interleaving by what is ordered, not by what happened to come first.
 *
 * Every agent has a time. A thread's knowledge is a set of vector clocks; releasing operations (arrivals, barriers,
 * st.release, issuing a copy) carry them to the object, acquiring ones take them from it. An access is checked against
 * the shadow record of the bytes: an earlier access that conflicts and is not ordered before it is a finding, whatever
 * the schedule was.
 *
 *   clock      knows                                                    carried by
 *   C          what happened before, in memory order                    release / acquire pairs, barriers
 *   E          what was executed before, also by .relaxed operations    every synchronising operation, and relaxed
 *                                                                       atomics between the CTAs of a cluster
 *   P[3]       generic accesses that a proxy fence has passed on to     fence.proxy.async[.space], then like C
 *              the async proxy: of shared::cta, of shared::cluster, of global
 *   M          mbarrier inits made visible                              fence.mbarrier_init, fence.proxy.async (not
 *                                                                       .global), then like E
 *
 * Agents: threads; each mbarrier (its time is the number of completed phases: a copy's end is "phase p of barrier b");
 * each thread's bulk groups, twice (reads done, all done). Knowing (agent, time) means that everything of that agent
 * up to that time is ordered before.
 *
 * Order asked of an access A of bytes last touched by W (write) or R (read), one of them a write:
 *   generic W -> generic A      C          async W -> generic A       C (its completion was waited for)
 *   generic W -> async A        P          async W -> async A         C; global memory, A a read: P[global]
 *   generic R -> async A        C          async R -> any A           C
 * Two operations that are both .relaxed or stronger (or volatile, which is .relaxed.sys), and two reductions, do not
 * conflict if the scope of each includes the thread of the other (PTX ISA, Morally strong operations); st.async is weak.
 * A write to bytes that a live mbarrier holds, and a read of shared memory that was never written, are findings of
 * their own.
 *
 * Release and acquire through atomics and fences carry C between two threads that the scopes of both include. So does
 * fence.sc (and membar) to a later one, where relaxed operations in between, also of other threads of the two CTAs, show
 * that it is the later one.
 *
 * Tensor maps are read through a proxy of their own: map.c.
 *
 * When a CTA exits, accesses of others to its shared memory must be over: weak writes and atomics in the order C,
 * reads, strong stores (flags), operations on its mbarriers and copies in the order E.
 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "runtime/sim/machine.h"

void watch_init(SimMachine *m);
void watch_free(SimMachine *m);
void watch_cluster_start(SimMachine *m, SimCluster *c);
void watch_cluster_end(SimMachine *m, SimCluster *c);
/* Frees what hangs on a block of global memory (it outlives the launch; a new launch starts with clean records). */
void watch_forget(SimMemory *memory);

/* ---- accesses; all return false after filing a finding ---- */
/* Plain accesses of a thread. reduce: red / atom (with kind RELAXED or stronger). scope, where the kind is not WEAK: 0
 * cta, 1 cluster, 2 gpu, 3 sys, here and below. */
bool watch_read(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t bytes, AccessKind kind, uint32_t scope);
/* ld.global.nc: memory that is read-only as long as the kernel runs. */
bool watch_read_const(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t bytes);
bool watch_write(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t bytes, AccessKind kind, uint32_t scope,
                 bool reduce);
/* A copy is about to be issued by t: starts its record, whose order is what t knows now. The completion is given once
 * it is known: the barrier of each destination, or t's open bulk group. */
typedef struct WatchCopy WatchCopy;
bool watch_any_order(const SimMachine *m, uint32_t pc); /* the store there comes before or after others of the same bytes */
WatchCopy *watch_copy(SimMachine *m, SimThread *t, bool bulk_group, bool reduce);
/* The mbarrier that ends (part of) it: checked for visible init; its current phase counts. */
bool watch_copy_barrier(SimMachine *m, SimThread *t, WatchCopy *c, SimCta *cta, SimBarrier *b);
/* Bytes that it will read or write. For a write with a barrier, `b` is the barrier of that destination. A remote CTA
 * must be known to have started (E1310). */
bool watch_copy_read(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes);
bool watch_copy_write(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes, SimBarrier *b);
/* The same for bytes that the copy leaves without a value. */
bool watch_copy_gap(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at, uint32_t bytes, SimBarrier *b);
/* The 128 bytes of its tensor map, where they are in global memory: as watch_map_use, and read until the copy is over. */
bool watch_copy_map(SimMachine *m, SimThread *t, WatchCopy *c, const SimLoc *at);
/* The mbarrier's CTA is not that of the data: it must not exit before the end is known either. */
void watch_copy_home(SimMachine *m, WatchCopy *c, SimCta *home, SimBarrier *b);
void watch_copy_issued(SimMachine *m, SimThread *t, WatchCopy *c); /* all of them are told */

/* ---- tensor maps that change: map.c ---- */
void watch_map_release(SimMachine *m, SimThread *t, uint32_t scope);
void watch_map_acquire(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t scope);
/* t uses the map at `at`: what was written there in this launch has passed a release and an acquire of its proxy. */
bool watch_map_use(SimMachine *m, SimThread *t, const SimLoc *at, bool async);

/* ---- synchronisation ---- */
void watch_launches_over(SimMachine *m, SimThread *t); /* griddepcontrol.wait */
void watch_group_commit(SimMachine *m, SimThread *t);
void watch_group_wait(SimMachine *m, SimThread *t, uint64_t group, bool read); /* all groups up to this one */
bool watch_mbar_init(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, const SimLoc *at);
bool watch_mbar_inval(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, const SimLoc *at);
/* t uses the barrier (arrive, expect, complete, test): its init must be visible to t; remote: the CTA known to run. */
bool watch_mbar_use(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b);
void watch_mbar_arrive(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, bool relaxed, bool cluster_scope);
void watch_mbar_phase(SimMachine *m, SimCta *cta, SimBarrier *b); /* b->phase has just gone up */
/* A wait asked for the phase of this parity (-1: by a state) and was told whether it is over; seen: the phases that are
 * complete then. */
void watch_mbar_asked(SimMachine *m, SimThread *t, const SimBarrier *b, int parity, uint64_t seen, bool over);
/* A wait has seen that `phase` phases are complete. An acquire that leaves out who arrived from another CTA is E1329. */
bool watch_mbar_seen(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, uint64_t phase, bool relaxed,
                     bool cluster_scope);
void watch_named_arrive(SimMachine *m, SimThread *t, SimNamed *n);
void watch_named_leave(SimMachine *m, SimThread *t, SimNamed *n); /* after all have arrived */
void watch_named_done(SimMachine *m, SimNamed *n);                /* the last one has left */
void watch_cluster_arrive(SimMachine *m, SimThread *t, bool relaxed);
void watch_cluster_leave(SimMachine *m, SimThread *t);
void watch_warp(SimMachine *m, SimThread *const *threads, uint32_t n,
                bool memory); /* a collective; memory: bar.warp.sync */
void watch_fence_proxy(SimMachine *m, SimThread *t, InstrForm form);
void watch_fence_init(SimMachine *m, SimThread *t);
void watch_fence(SimMachine *m, SimThread *t, uint32_t scope, bool sc); /* fence.acq_rel / .sc, membar */
/* ld / atom with acquire, st / red / atom with release, and fences with relaxed ones, through a location. Called after
 * the access was checked. */
typedef enum WatchAtomic {
    WATCH_LD,
    WATCH_ST,
    WATCH_ATOM,
    WATCH_RED
} WatchAtomic; /* red: the thread learns no value */
void watch_atomic(SimMachine *m, SimThread *t, const SimLoc *at, WatchAtomic what, AccessKind kind, uint32_t scope);

/* The tcgen05.commit of tmem.h arrives. */
void watch_tensor_committed(SimMachine *m, SimBarrier *b, uint32_t agent, uint32_t number);

/* For a deadlock: "; it has not seen the end of phase 0" of the mbarrier that t waits on, or nothing. */
void watch_describe_missed(const SimMachine *m, const SimThread *t, const SimBarrier *b, Text *out);

/* ---- ends ---- */
bool watch_thread_exit(SimMachine *m, SimThread *t); /* E1312: bulk reads not waited for */
bool watch_cta_exit(SimMachine *m, SimCta *cta);     /* E1311: remote accesses not known to be over; copies not seen */

#endif
