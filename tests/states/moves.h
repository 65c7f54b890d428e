/* By how much values of one state are others in a later one, and what follows from that. */
#ifndef TESTS_STATES_MOVES_H
#define TESTS_STATES_MOVES_H

#include "tests/states/checker.h"

typedef int64_t Delta;

/* What is reached by the code may not move where it counts; d: by cell (states_write). False: it does. */
bool moves_fit(Checker *c, Cover *cover, const Delta *d);

#endif
