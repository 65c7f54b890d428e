/* What is demanded of a finished graph, and what is said where it does not hold. */
#ifndef LOWER_VERIFY_GRAPH_JUDGE_H
#define LOWER_VERIFY_GRAPH_JUDGE_H

#include "lower/verify/graph/unroll/events.h"
#include "lower/verify/graph/verifier.h"

void places_find(Verifier *v); /* sorts the accesses: comes first */
void accesses_sort(Access *all, uint32_t n); /* in the order of the run */
bool ranges_meet(Verifier *v, const Place *p, uint32_t i, uint32_t j); /* of accesses i and j */
void range_meetings(Verifier *v, const Place *p, ByteRange *at); /* at->meets: as long as nobody asks they are not looked for */
void check_races(Verifier *v);
bool find_race(Verifier *v); /* of a graph that need not be finished: sets race, reports nothing */
void check_coverage(Verifier *v);
void check_global(Verifier *v);
/* always.c: two that nothing orders touch different places in all turns of the loops around them: of one tensor, of one slot. */
bool places_apart(Verifier *v, const Access *a, const Access *b);
void check_end(Verifier *v);
void find_rates(Verifier *v); /* of this run: before what asks for them */
void check_cycles(Verifier *v);

/* ---- pairs.c: a comes first in the run ---- */
typedef bool PairMeets(Verifier *v, const Place *p, uint32_t i, uint32_t j);
/* The first access with which one before is not fine; p->n: none. */
uint32_t pairs_wrong(Verifier *v, const Place *p, PairMeets *meet);
bool pair_fine(Verifier *v, const Access *a, const Access *b);
bool pair_harmless(const Verifier *v, const Access *a, const Access *b); /* in any order */
bool pair_fenced(const Verifier *v, const Access *a, const Access *b);   /* or there need be no fence */

/* ---- tell.c: what is wrong, in the words of who wrote the program ---- */
void tell_race(Verifier *v, const Race *r);
void tell_waiting(Verifier *v, Diag *g, uint32_t wait); /* nothing completes what op `wait` waits for: what might */
void tell_conditions(Verifier *v, Diag *g); /* of sizes, in this run */
void tell_arrivals(Verifier *v, Diag *g, uint32_t bar); /* of a phase that lacks some */
void tell_unwaited(Verifier *v, Diag *g); /* barriers that nobody waits for */
void tell_in_flight(Verifier *v, Diag *g, const Access *a); /* at the end of the kernel */

#endif
