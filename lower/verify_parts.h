/* What the rooms of the verifier share: private to them.
 *
 * A kernel is unrolled, for one choice of trip counts after the other, into a graph of events: verify_run.c runs the
 * bodies of all roles of all CTAs of a cluster by values that are linear forms (verify_forms.c, verify_ops.c), in one
 * schedule; verify_event.c gives each event its clock: what has certainly happened before it, in every schedule.
 * verify_inside.c finds the blocks of a body, verify_counters.c what turns counters alone; verify_block.c,
 * verify_barrier.c, verify_copy.c and verify_thread.c are the steps of ops, verify_burst.c that of loops over copies;
 * verify_bytes.c knows which bytes of a buffer are the same, verify_tmem.c what the tensor core does and what of tensor memory
 * is in order.
 * verify_race.c, verify_cover.c, verify_global.c and verify_end.c prove properties of a finished graph, whose accesses
 * verify_place.c sorts; verify_regions.c, verify_views.c and verify_unequal.c tell parts of tensors apart. verify_choice.c enumerates the
 * trip counts, for nests that verify_nests.c tells apart one by one; verify_period.c, verify_moduli.c, verify_steer.c,
 * verify_open.c, verify_turns.c and verify_cycle.c extend the result to all of them; verify_repeat.c
 * shows that loops which tickets end do end, verify_divided.c that no loop's bound comes from a division by 0.
 * verify_stuck.c reports a run that can't go on, verify_tell.c what would order two accesses. verify.c drives.
 */
#ifndef LOWER_VERIFY_PARTS_H
#define LOWER_VERIFY_PARTS_H

#include "lower/verify_types.h"

/* verify.c */
void verify_clear(Verifier *v); /* for another run */
Span verify_place(const Verifier *v, uint32_t op);
/* Reports at op, once per kernel: what follows an error can't be judged. NULL where one was reported before. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
Diag *
verify_refuse(Verifier *v, ErrorCode code, uint32_t op, const char *fmt, ...);
/* Refuses when the run is over, or can't go on, unless a race was found then: it is what the protocol's failing comes to.
 * The label stands at `also`. */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
void
verify_hold(Verifier *v, ErrorCode code, uint32_t op, uint32_t also, const char *label, const char *fmt, ...);
/* Counts work, and that of forms since it was counted last; refused where it gets too much. */
void verify_spent(Verifier *v);
static inline void verify_spend(Verifier *v, uint64_t work)
{
    work += v->f.work;
    v->f.work = 0;
    if (v->budget >= work) v->budget -= work;
    else verify_spent(v);
}
/* ir_find of an op by its number. */
static inline const IrArg *verify_arg(const Verifier *v, uint32_t op, IrKey key)
{
    uint16_t at = v->args[op][key];
    return at ? &v->ops[op]->args[at - 1] : NULL;
}
void verify_also(Verifier *v, Diag *g, uint32_t op, const char *text);
const char *verify_op_text(const Verifier *v, uint32_t op); /* "bar.wait", with its role where there are several */
const char *verify_bar_name(Verifier *v, uint32_t slot);    /* slot: through all CTAs */
const char *verify_form_text(Verifier *v, Form x);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void verify_proved(Verifier *v, const char *fmt, ...);
const char *verify_line(Verifier *v, uint32_t op);
void verify_depends(Verifier *v, const Access *from, const Access *to, bool reuse); /* for the certificate */
static inline bool verify_stopped(const Verifier *v)
{
    return v->failed || v->again;
}
/* Counters alone turn the rings, and no loop's turns differ but by moduli of its own. */
static inline bool verify_plain(const Verifier *v)
{
    return !v->fixed && !v->any_together && v->front + v->end == 0;
}
int64_t verify_ring(const Verifier *v, uint32_t op); /* S of the loop: verify_period.c */
/* The body of an op. */
const Body *verify_body(const Verifier *v, uint32_t op);

/* verify_inside.c */
void blocks_match(Verifier *v, const Body *b);
void inside_find(Verifier *v, const Body *b, uint32_t open, uint32_t *in);

/* verify_choice.c */
/* x, or the number that was chosen for it. */
Form choice_resolve(Verifier *v, Form x, bool *by_trip);
/* The same, but a number made from a draw stays what it is: it also says when the draws are over, and trip counts that are made
 * from it are chosen without regard to that. */
Form choice_value(Verifier *v, Form x, bool *by_trip);
bool choice_drawn(const Verifier *v, Form x); /* made from a draw */
void choice_picked(Verifier *v, int64_t k); /* a minimum or maximum has this number because of what was chosen in this run */
/* Adds a choice of values for what x depends on, x counting the turns of loop `op` (or a pred), and sets again. */
void choice_add(Verifier *v, uint32_t op, Form x);
/* Whether the run can go on with the choice that was added: clears again. Otherwise it starts again. */
bool choice_go_on(Verifier *v);
/* A condition that only the launch decides: tried both ways. False for others, and nothing is chosen. */
bool choice_guard(Verifier *v, uint32_t op, Form guard);
bool choice_next(Verifier *v); /* false: all have been tried */
/* Whether the run that has ended did not meet what was taken over from the one before: it is done again without. */
bool choices_stale(Verifier *v);

/* Where a choice is that follows another one, which is there. */
uint32_t choice_following(const Verifier *v, const Choice *c, const Choice *owner, uint32_t at);
/* A trip count without what was chosen: what its choice needs so that it, too, has the turns that matter; false: nothing. */
bool choice_shift_for(Verifier *v, Form count, Shift *out);
/* The same where it is not known which values the count is made from: those that were chosen for that loop. */
bool choice_shift_at(Verifier *v, uint32_t loop, Form count, Shift *out);
bool choice_shift(Verifier *v, const Shift *by); /* choices from now on have it; false: they had */

/* verify_turns.c */
void turns_prepare(Verifier *v);
void turns_begin(Verifier *v); /* a run */
void turns_loop(Verifier *v, uint32_t op, int64_t turns); /* v->now enters a loop, which has so many */
/* v->now leaves a repeat after so many turns. certain: whatever is chosen. */
void turns_repeat(Verifier *v, uint32_t op, int64_t turns, bool certain);
void turns_keep(Verifier *v);  /* the run is proved */
/* After all runs: refuses what they left out; true if they are to be done again, with more trip counts. */
bool turns_check(Verifier *v);

/* verify_tried.c */
void tried_remember(Verifier *v); /* the choices of a run that has ended */
void tried_forget(Verifier *v);
bool tried_before(Verifier *v); /* the choices as they are now, and what follows from them */

/* verify_nests.c */
void nests_find(Verifier *v);
/* Whether the loops of the two choices have nothing in common: in all of the kernel, or in the turns of loops around both. */
typedef enum Apart { APART_NO, APART_ALWAYS, APART_IN_TURNS } Apart;
Apart nests_apart(const Verifier *v, const Choice *a, const Choice *b);
void nests_together(Verifier *v); /* together */
bool nests_own(const Verifier *v, Form of); /* a trip count that is made from values of its nest */

/* verify_run.c */
void run_prepare(Verifier *v);
void run_kernel(Verifier *v); /* one unrolling */
void run_step(Verifier *v);   /* the op where v->now is */
bool run_pure(const IrOp *op); /* its value is worked out when needed */
Form run_value(Verifier *v, const IrArg *arg);
Form run_result(Verifier *v, uint32_t index, Form cond, Form a, Form b); /* of a pure op */
Form run_whole(Verifier *v, const IrArg *arg); /* without what is known where v->now is */
bool run_by_trip(const Verifier *v, const IrArg *arg);
/* The value if it is a number; otherwise refused. */
bool run_number(Verifier *v, uint32_t op, const IrArg *arg, const char *what, int64_t *k);
/* A new value, lo .. hi, that op `index` of v->now gets from elsewhere. */
Form run_answer(Verifier *v, IrType type, uint32_t index, int64_t lo, int64_t hi);
/* Guard of the op and of the blocks around: 1 if it has none. */
Form run_guarded(Verifier *v, uint32_t op); /* of an op that has one */
static inline Form run_guard(Verifier *v, uint32_t op)
{
    return v->ops[op]->guard.pred ? run_guarded(v, op) : v->now->guard;
}
void run_forget(Verifier *v, uint32_t var); /* v->now's variable may hold anything */
uint32_t run_op(const Verifier *v);         /* number of the op where v->now is */
/* Names what v->now does as one, the same for all threads that share it. */
uint32_t run_act(const Verifier *v);
/* Counts v->now's part in its act; whether all threads of the role that share it have now done it. */
bool run_shared(Verifier *v, uint32_t **clock); /* clock: what each of those threads comes after */
bool run_agreed(Verifier *v, Form x);           /* whether x is the same for all of them */

/* verify_counters.c */
typedef struct Stretch Stretch;
void counters_prepare(Verifier *v);
bool counters_turn(Verifier *v, const Body *b, Stretch *s); /* v->now goes through the stretch where it is; false: op by op */

/* verify_block.c */
void block_step(Verifier *v, uint32_t op);

/* verify_repeat.c */
void repeat_draw(Verifier *v, uint32_t op, Form value, Form draws); /* v->now gets a new answer; draws 0: of a cluster */
/* A break leaves its repeat where this pred atom is `truth`: refused unless some draw has that answer. any: it is the
 * repeat's first turn, or the pred is known, so it may be one that no draw decides. */
bool repeat_test(Verifier *v, uint32_t op, uint32_t pred, bool truth, bool any);
bool repeat_in_row(const Verifier *v); /* the grid has clusters along x only */
void repeat_over(Verifier *v, uint32_t op); /* a break leaves its repeat whatever v->now has drawn */

/* verify_alike.c */
void alike_prepare(Verifier *v);
/* Of a run that has ended: whether the threads of each role did the same. Otherwise more of them have to stand for it: again. */
bool alike_check(Verifier *v);
static inline void alike_note(Verifier *v, uint32_t op, uint32_t x)
{
    if (v->now->traced && !(op < v->nops && v->ops[op]->elect)) vec_push(&v->run, &v->now->trace, x);
}
void alike_note_access(Verifier *v, const Access *a);

/* verify_event.c */
EventId event_new(Verifier *v, uint32_t op);          /* of v->now */
EventId event_burst(Verifier *v, uint32_t op);        /* the same as the last one if that was a copy, too */
void event_after(Verifier *v, const uint32_t *clock); /* what v->now does next comes after all this */
uint32_t *verify_clock_copy(Verifier *v, const uint32_t *clock);
void verify_clock_join(const Verifier *v, uint32_t *clock, const uint32_t *other);
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

/* verify_barrier.c */
void barrier_step(Verifier *v, uint32_t op);
bool barrier_slot(Verifier *v, uint32_t op, uint32_t rank,
                  uint32_t *slot); /* of the op's barrier operand in that CTA */
Phase *barrier_open(Verifier *v, uint32_t slot);
/* The op's event counts on the slot's open phase: refused if that may not have begun, or the barrier may not be ready. */
bool barrier_part(Verifier *v, uint32_t slot, Part p);
void barrier_deliver(Verifier *v, const Sum *s); /* what the part above brings */
void barrier_retry(Verifier *v); /* v->now waits for a phase: goes on if it is over */
/* A tc.commit, with event e, counts on the slot in that CTA: the phase. */
Phase *barrier_commit(Verifier *v, uint32_t op, uint32_t rank, EventId e);
/* verify_sync.c: barriers of threads and of the cluster */
void sync_step(Verifier *v, uint32_t op);
void sync_retry(Verifier *v);
bool sync_lacks(const Verifier *v, const Thread *waiting,
                const Thread *other); /* whether it is other that is missing */

/* verify_stuck.c */
void report_stuck(Verifier *v); /* nobody can go on */

/* verify_copy.c */
void copy_step(Verifier *v, uint32_t op);
uint64_t copy_address(const Verifier *v, const IrArg *address, int depth); /* tensors that it may point into */
/* The bytes of a buffer operand; false, and refused, if they are not certain to lie in it. */
bool copy_bytes(Verifier *v, uint32_t op, IrKey key, uint32_t rank, Form bytes, Form guard, Bytes *out);
void group_step(Verifier *v, uint32_t op);
/* verify_thread.c: by threads in shared memory */
void thread_step(Verifier *v, uint32_t op);
void thread_store(Verifier *v, const Bytes *at, Form value, bool by_trip); /* for ld.shared */

/* verify_tmem.c */
bool by_tensor_core(const Verifier *v, const Access *a); /* by the tensor core: it ends with a commit */
bool tensor_in_order(const Verifier *v, const Access *a, const Access *b); /* b behind a, without a wait */
bool tensor_fenced(const Verifier *v, const Access *a, const Access *b);   /* b begins when a is over */
void check_tensor_fence(Verifier *v, const Access *a, const Access *b);
void tensor_fence_step(Verifier *v, uint32_t op, EventId e);
void tensor_copy_step(Verifier *v, uint32_t op);
bool tensor_along(Verifier *v, uint32_t op, const IrBuf *b, Form guard, Bytes *out); /* what the run adds to out->lo */
void tensor_commit_step(Verifier *v, uint32_t op);
void tensor_kernel_step(Verifier *v, uint32_t op);
void check_tensor(Verifier *v); /* of a finished graph */

/* verify_burst.c */
void access_add(Verifier *v, Access a); /* appends, or joins to what it continues */
void burst_count(Verifier *v, Sum s);
void burst_flush(Verifier *v); /* counts all sums of v->now */
void burst_enter(Verifier *v, uint32_t op, Form first, Form end);
void burst_leave(Verifier *v, const Frame *fr);

/* verify_bytes.c */
bool bytes_same_place(const Bytes *a, const Bytes *b); /* the same slot */
bool bytes_equal(const Bytes *a, const Bytes *b);
bool bytes_overlap(Verifier *v, const Bytes *a, const Bytes *b);
/* All turns of a loop whose n-th one touches `at`, moved by c: true if `at` is now exactly that. */
bool bytes_repeat(Verifier *v, Bytes *at, Form lo, Form hi, int64_t c, Form turns);
bool bytes_apart_by(Verifier *v, const Bytes *at, int64_t c, Form turns); /* those of different turns do not meet */
bool bytes_join(Bytes *a, const Bytes *b); /* a becomes both, if they lie side by side */
bool conds_exclusive(Verifier *v, Form a, Form b);

/* verify_tell.c: what is wrong, in the words of who wrote the program */
void tell_race(Verifier *v, const Race *r);
int race_plain(const Verifier *v, const Access *a, const Access *b);
void tell_waiting(Verifier *v, Diag *g, uint32_t wait); /* nothing completes what op `wait` waits for: what might */
void tell_unwaited(Verifier *v, Diag *g); /* barriers that nobody waits for */
void tell_in_flight(Verifier *v, Diag *g, const Access *a); /* at the end of the kernel */

/* of a finished graph */
void places_find(Verifier *v); /* sorts the accesses: comes first */
void check_races(Verifier *v);
bool find_race(Verifier *v); /* of a graph that need not be finished: sets race, reports nothing */
void check_coverage(Verifier *v);
void check_global(Verifier *v);
bool verify_commutes(const Verifier *v, uint32_t op); /* a reduction, with others of its kind */
void regions_prepare(Verifier *v); /* of a finished graph */
bool regions_apart(Verifier *v, const Region *a, const Region *b); /* verify_regions.c: of one map, of equal ones, or bytes */
/* verify_divided.c */
bool divisor_not_zero(Verifier *v, Form n); /* in every launch */
bool bounds_divided_well(Verifier *v, uint32_t op, Form lo, Form hi); /* a loop's bounds are numbers in every launch */
Form exact_sum(Verifier *v, Form x, bool away); /* x by exact sums; away: coordinates from AWAY on name no place */
bool tensor_trusted(const Verifier *v, const char *fact, uint32_t tensor);
/* verify_views.c */
void views_clear(Verifier *v); /* for another run */
void view_set(Verifier *v, uint32_t op, const Bytes *at); /* map.set */
View *view_at(const Verifier *v, const Bytes *at);        /* the map there; NULL: none, or it is not known where it lies */
void view_note(Verifier *v, uint32_t op, const View *w);
void view_prepare(Verifier *v, Region *r); /* of a finished graph */
bool views_same(const Region *a, const Region *b); /* coordinates of the two mean the same, or touch nothing */
bool views_apart(Verifier *v, const Region *a, const Region *b); /* all of the two views */
/* verify_unequal.c */
enum { COORDINATE_MAX = 1 << 30 };
void unequal_prepare(Verifier *v);                 /* of a finished graph */
bool numbers_unequal(Verifier *v, Form x, Form y); /* in every launch */
void check_end(Verifier *v);
void check_cycles(Verifier *v);
void check_draws(Verifier *v);

/* verify_steer.c */
void steer_prepare(Verifier *v);
bool steer_not_negative(Verifier *v, const IrArg *arg); /* in every turn of every launch */
void steer_see(Verifier *v, uint32_t at, Form x, bool trip); /* trip: made from chosen trip counts */
/* After all runs: refuses what came out one way only; true if the runs are to be done again, with that held open. */
bool steer_check(Verifier *v);

/* A loop over copies' lanes, or one whose bounds are numbers. */
static inline bool loop_fixed(const IrOp *op)
{
    return op->op == IR_LANES ||
           (op->op == IR_LOOP && ir_find(op, IRK_A)->kind == IRA_IMM && ir_find(op, IRK_B)->kind == IRA_IMM);
}

/* A loop whose trip count is not a number: it is looked at for itself. */
static inline bool loop_own_count(const IrOp *op)
{
    return op->op == IR_REPEAT || (op->op == IR_LOOP && !loop_fixed(op));
}

/* The op that defines it; NULL: it is no value. */
static inline const IrOp *verify_def(const Verifier *v, const IrArg *arg)
{
    return arg && arg->kind == IRA_VAL ? v->ops[v->def[arg->id - 1]] : NULL;
}

/* Whether it is the number *k; else *k stays. */
static inline bool verify_number(const Verifier *v, const IrArg *arg, int64_t *k)
{
    const IrOp *op = verify_def(v, arg);
    if (arg && arg->kind == IRA_IMM) *k = arg->imm;
    else if (op && op->op == IR_CONST) *k = ir_find(op, IRK_A)->imm;
    else return false;
    return true;
}

/* verify_compare.c */
/* What few turns make of it tells of longer loops: of a comparison, minimum or maximum; of what comes round with the index. */
bool compare_followed(Verifier *v, uint32_t op); /* notes how far from the ends of loops it is */
void compare_begin(Verifier *v);
void compare_fit(Verifier *v); /* ring, to what was noted */
bool index_followed(const Verifier *v, uint32_t op);

/* verify_open.c */
/* Whether the op on a and b, held open, came out as x here: then another form stands for it. */
bool open_decided(const Verifier *v, uint32_t op, Form x, Form a, Form b);
Form open_form(Verifier *v, uint32_t op); /* the form that stands for it where v->now is */

/* verify_sizes.c */
void sizes_prepare(Verifier *v); /* f.sizes */

/* verify_moduli.c */
void moduli_prepare(Verifier *v); /* fixed, joint, and ring */
/* The value of a pure op comes round after `turns` turns (0: it is used as it is) if its operands do after as many as this. */
int64_t modulus_within(const Verifier *v, const IrOp *op, int64_t turns);
int64_t modulus_joint(int64_t a, int64_t b); /* the least common multiple; INT64_MAX: too large */
/* What steers was seen to come round after so many turns: whether the period gets longer by that, and the ring with it. */
bool moduli_longer(Verifier *v, int64_t turns);

/* verify_period.c */
bool period_parity(const Verifier *v, uint32_t var); /* its bits are the parities of waits */
bool period_steps(const Verifier *v, uint32_t loop); /* its turns move variables of the program that steer */
bool period_longer(Verifier *v); /* after all runs: whether they are to be done again, with more turns */
/* Whether they are to be done again since a loop never has the turns after which variables come back to values that they had: the
 * loops around it are to show that. */
bool period_wider(Verifier *v);
void period_prepare(Verifier *v);
void period_turn(Verifier *v, const Frame *fr);        /* v->now begins a turn */
void period_begin(Verifier *v);                        /* a run */
void period_check(Verifier *v);                        /* after all runs */

#endif
