/* Trip counts: which ones are tried, and what makes longer loops nothing new. */
#ifndef LOWER_VERIFY_GRAPH_TRIES_H
#define LOWER_VERIFY_GRAPH_TRIES_H

#include "lower/ir/ir.h"
#include "lower/verify/graph/tries/choices.h"
#include "lower/verify/graph/values/forms.h"
#include "lower/verify/graph/verifier.h"

/* ---- choices.c ---- */
Form choice_resolve(Verifier *v, Form x, bool *by_trip); /* x, or the number that was chosen for it */
bool choice_condition(const Verifier *v, uint32_t i, bool *holds); /* whether that one is of a condition */
/* Adds a choice of values for what x depends on, x counting the turns of loop `op` (or a pred), and sets again. */
void choice_add(Verifier *v, uint32_t op, Form x);
/* A condition that only the launch decides: tried both ways. False for others, and nothing is chosen. */
bool choice_guard(Verifier *v, uint32_t op, Form guard);
bool choice_of_kernel(const Verifier *v, Form x); /* one number in all turns and roles */
void choice_remainder(Verifier *v, uint32_t op, Form of); /* adds a choice of its values, from 0 to the greatest, and sets again */
bool choice_next(Verifier *v); /* false: all have been tried */

bool choice_beside(Verifier *v, int64_t k); /* choices from now on have the value k, too; false: they had, or it is too great */
bool choice_longer(Verifier *v, int64_t by); /* choices from now on have greater values, too; false: too great ones */

/* ---- remainders.c ---- */
Form remainders_put(Verifier *v, Form x); /* x with what was chosen for remainders */
/* op needs x to be a number, or known to hold. Where it takes a remainder that the launch decides it is chosen, and again set. */
bool remainders_try(Verifier *v, uint32_t op, Form x);

/* ---- constants.c ---- */
bool constants_long(const IrKernel *k); /* it has such loops */
void constants_find(Verifier *v); /* which they are */
void constants_check(Verifier *v); /* refuses kernels whose few turns don't tell of many */
Form constants_end(Verifier *v, uint32_t loop); /* the number to which it goes on, as one of which the runs have less */
int64_t constants_count(const Verifier *v, Form of); /* which number it is; 0: of is none of these */

/* ---- turns.c ---- */
void turns_begin(Verifier *v); /* a run */
void turns_loop(Verifier *v, uint32_t op, int64_t turns); /* v->now enters a loop, which has so many */
void turns_keep(Verifier *v);  /* the run is proved */
bool turns_more(Verifier *v);  /* after all runs: whether they are to be done again, as loops had too few turns */
void turns_check(Verifier *v); /* refuses what they left out */

/* ---- roles.c ---- */
void roles_begin(Verifier *v); /* a run */
void roles_loop(Verifier *v, uint32_t op, Form turns, int64_t number); /* v->now enters a loop; turns: without what was chosen */

/* ---- launches.c ---- */
void launches_begin(Verifier *v); /* a run */
void launches_keep(Verifier *v); /* the run is proved */
bool launches_doubt(Verifier *v); /* it has failed: whether no launch seems to come to it */
const char *launches_example(const Verifier *v, bool *known); /* where no doubt is: a launch, perhaps known, in which loops have other numbers of turns; NULL: they don't differ */
/* After all runs: whether they are to be done again, with the numbers of a launch in which roles compare as in no run. */
bool launches_more(Verifier *v);
void launches_check(Verifier *v); /* refuses what failed, and compares as what is proved */
void launches_demand(Verifier *v); /* .. of the launch: adds checks */

/* ---- nests.c ---- */
/* Loops in it, or elsewhere in its role, turn more or less often as it does: few of its turns don't stand for many, those of other loops being as they are. */
bool nests_coupled(const Verifier *v, uint32_t loop);
void nests_together(Verifier *v); /* together */
void nests_check(Verifier *v); /* after all runs: of loops whose trip counts differ from turn to turn those that the runs tell of */

/* ---- compare.c ---- */
void compare_prepare(Verifier *v); /* what is held open, and ring, so that the runs tell of the rest */

bool compare_known(Verifier *v, uint32_t at); /* the runs tell what it comes to in any turn */

/* ---- rounds.c ---- */
void rounds_prepare(Verifier *v); /* and what something is made from; variables count as if they were one more in each turn */
/* The op's operand has to be a number in the runs; where middle turns are left out places and amounts, too. */
bool cones_number(const Verifier *v, uint32_t op, IrKey key);
bool cones_steers(const IrOp *op, IrKey key); /* of one that is no value: how often something happens, and to how much */
void rounds_find(Verifier *v, int64_t step); /* step: by how much a variable is more in each turn */
Round round_of_arg(const Verifier *v, const IrArg *arg); /* NULL, or no value: comes round at once */
Round round_of_op(const Verifier *v, const IrOp *op); /* a pure one */
int64_t rounds_joint(int64_t a, int64_t b); /* the least common multiple; INT64_MAX: too large */

/* ---- moduli.c ---- */
void moduli_prepare(Verifier *v); /* joint and ring; from then on variables count as if they stayed */
/* What steers was seen to come round after so many turns: whether the period gets longer by that, and the ring with it. */
bool moduli_longer(Verifier *v, int64_t turns);

/* ---- period.c ---- */
void period_parities(Verifier *v); /* finds parity */
uint32_t period_first(const Verifier *v, uint32_t loop); /* so many turns of it come before those in which variables go round */
bool period_steps(const Verifier *v, uint32_t loop); /* its turns move variables of the program that steer */
/* .. as loops in it do by an index, in each turn by another number, as many turns as those have; or it is coupled. */
bool period_mixed(const Verifier *v, uint32_t loop);
bool period_longer(Verifier *v); /* after all runs: whether they are to be done again, with more turns */
/* Whether they are to be done again since a loop never has the turns after which variables come back to values that they had: the
 * loops around it are to show that. */
bool period_wider(Verifier *v);
void period_prepare(Verifier *v);
void period_turn(Verifier *v, const Frame *fr);        /* v->now begins a turn */
void period_begin(Verifier *v);                        /* a run */
void period_check(Verifier *v);                        /* after all runs */

#endif
