/* One unrolling: the bodies of all threads run side by side and make events, accesses and transfers. */
#ifndef LOWER_VERIFY_GRAPH_UNROLL_H
#define LOWER_VERIFY_GRAPH_UNROLL_H

#include "lower/ir/ir.h"
#include "lower/verify/graph/unroll/events.h"
#include "lower/verify/graph/values/forms.h"
#include "lower/verify/graph/verifier.h"

/* ---- inside.c ---- */
void blocks_match(Verifier *v);
void inside_find(Verifier *v, uint32_t open);

/* ---- run.c ---- */
void run_prepare(Verifier *v);
void run_kernel(Verifier *v); /* one unrolling */
void run_step(Verifier *v);   /* the op where v->now is */
bool run_pure(const IrOp *op); /* its value is worked out when needed */
Form run_value(Verifier *v, const IrArg *arg);
Value run_value_at(Verifier *v, const IrArg *arg);
Form run_result(Verifier *v, uint32_t index, Form cond, Form a, Form b); /* of a pure op */
Value run_whole(Verifier *v, const IrArg *arg); /* without what is known where v->now is */
bool run_by_trip(const Verifier *v, const IrArg *arg);
/* Whether it is the number *k, or again is set, for runs in which it is one. */
bool run_decided(Verifier *v, uint32_t op, const IrArg *arg, int64_t *k);
/* The value if it is a number, in this run; otherwise refused, or again is set. */
bool run_number(Verifier *v, uint32_t op, const IrArg *arg, const char *what, int64_t *k);
bool run_rank(Verifier *v, uint32_t op, uint32_t *rank); /* the CTA that the op names, or its own; so, too */
/* A new value, lo .. hi, that op `index` of v->now gets from elsewhere. */
Form run_answer(Verifier *v, IrType type, uint32_t index, int64_t lo, int64_t hi);
/* Whether the op happens, which no condition may leave open: what follows would depend on it. */
bool run_happens(Verifier *v, uint32_t op);
/* Guard of the op and of the blocks around: 1 if it has none. */
Form run_guarded(Verifier *v, uint32_t op); /* of an op that has one */
static inline Form run_guard(Verifier *v, uint32_t op)
{
    return v->ops[op]->guard.pred ? run_guarded(v, op) : v->now->guard;
}
void run_forget(Verifier *v, uint32_t var); /* v->now's variable may hold anything */
/* Names what v->now does as one, the same for all threads that share it. */
uint32_t run_act(const Verifier *v);
/* Counts v->now's part in its act; whether all threads of the role that share it have now done it. */
bool run_shared(Verifier *v, uint32_t **clock); /* clock: what each of those threads comes after */
bool run_agreed(Verifier *v, Form x);           /* whether x is the same for all of them */

/* ---- blocks.c ---- */
void block_step(Verifier *v, uint32_t op);
Frame *block_push(Verifier *v, uint32_t op); /* v->now enters a block */

/* ---- events.c ---- */
EventId event_new(Verifier *v, uint32_t op);          /* of v->now */
EventId event_burst(Verifier *v, uint32_t op);        /* the same as the last one if that was a copy, too */
uint32_t *verify_clock_copy(Verifier *v, const uint32_t *clock);
void verify_clock_join(const Verifier *v, uint32_t *clock, const uint32_t *other);
static inline const Thread *event_thread(const Verifier *v, EventId e)
{
    return &v->threads.v[v->events.v[e - 1].thread];
}
/* a, or the wait for p, is not after clock */
static inline bool event_in(const Verifier *v, EventId a, const uint32_t *clock)
{
    const Event *e = &v->events.v[a - 1];
    return clock[e->thread] >= e->pos;
}
bool phase_in(const Verifier *v, const Phase *p, const uint32_t *clock);
static inline bool event_before(const Verifier *v, EventId a, EventId b)
{
    return event_in(v, a, v->events.v[b - 1].clock);
}
bool phase_before(const Verifier *v, const Phase *p, EventId b);
bool access_before(const Verifier *v, const Access *a, EventId b); /* a's end */
EventId fence_before(const Verifier *v, EventId e, Fence fence); /* the last of e's thread before e; 0: none */
EventId fence_behind(const Verifier *v, EventId e, Fence fence); /* the first behind it */
void find_ends(Verifier *v); /* of a run: when copies end of which no barrier tells */

/* ---- barriers.c ---- */
void barrier_step(Verifier *v, uint32_t op);
bool barrier_slot(Verifier *v, uint32_t op, uint32_t rank,
                  uint32_t *slot); /* of the op's barrier operand in that CTA */
Phase *barrier_open(Verifier *v, uint32_t slot);
/* The op's event counts on the slot's open phase: refused if that may not have begun, or the barrier may not be ready. */
bool barrier_part(Verifier *v, uint32_t slot, Part p);
void barrier_deliver(Verifier *v, const Sum *s); /* what the part above brings */
Phase *barrier_count(Verifier *v, uint32_t rank, Part part); /* on the op's barrier in that CTA; NULL: it is refused */

/* ---- thread_barriers.c: barriers of threads and of the cluster ---- */
void sync_step(Verifier *v, uint32_t op);
bool sync_lacks(const Verifier *v, const Thread *waiting,
                const Thread *other); /* whether it is other that is missing */

/* ---- stuck.c ---- */
void report_stuck(Verifier *v); /* nobody can go on */

/* ---- copies.c ---- */
void copy_step(Verifier *v, uint32_t op);
uint64_t copy_tensors(const Verifier *v, uint32_t op, bool write); /* those that it may read, or write: a bit each */
/* 0 <= lo <= hi <= room where the guard holds. */
bool bytes_within(Verifier *v, Form guard, Form lo, Form hi, int64_t room);
/* The bytes of a buffer operand; false, and refused, if they are not certain to lie in it. */
bool copy_bytes(Verifier *v, uint32_t op, IrKey key, uint32_t rank, Form bytes, Form guard, Bytes *out);
void group_step(Verifier *v, uint32_t op);

/* ---- threads.c: by threads in shared memory ---- */
void thread_step(Verifier *v, uint32_t op);
void copy_by_threads(Verifier *v, uint32_t op, Form guard, EventId e); /* copies.c: the side in global memory */
Cell *cell_at(Verifier *v, const Bytes *at, bool make); /* what begins there; NULL: nothing */

/* ---- tensor_memory.c ---- */
bool by_tensor_core(const Verifier *v, const Access *a); /* by the tensor core: it ends with a commit */
bool tensor_in_order(const Verifier *v, const Access *a, const Access *b); /* b behind a, without a wait */
bool tensor_fenced(const Verifier *v, const Access *a, const Access *b);   /* b begins when a is over */
void check_tensor_fence(Verifier *v, const Access *a, const Access *b);
void tensor_copy_step(Verifier *v, uint32_t op);
bool tensor_along(Verifier *v, uint32_t op, const IrBuf *b, Form guard, Bytes *out); /* what the run adds to out->lo */
void tensor_commit_step(Verifier *v, uint32_t op);
void tensor_kernel_step(Verifier *v, uint32_t op);
void check_tensor(Verifier *v); /* of a finished graph */

/* ---- bursts.c ---- */
const Frame *burst_frame(const Verifier *v); /* the innermost loop over copies that v->now is in; NULL: none */
Site site_here(Verifier *v, uint32_t op, bool write);
/* Of those bytes, from that event on, where the guard holds. */
static inline Access access_new(uint32_t op, Bytes at, bool write, Form guard, EventId start)
{
    return (Access){.at = at, .cond = guard, .only = guard, .write = write, .op = op, .start = start};
}
void access_add(Verifier *v, Access a); /* appends, or joins to what it continues */
void burst_count(Verifier *v, Sum s);
void burst_flush(Verifier *v); /* counts all sums of v->now */
void burst_enter(Verifier *v, uint32_t op, Form first, Form end);
void burst_leave(Verifier *v, const Frame *fr);

#endif
