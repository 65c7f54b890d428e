/* random --acceptance */
#ifndef ACCEPTANCE_H
#define ACCEPTANCE_H

#include "program.h"

void acceptance_count(uint64_t seed, const Outcome *o, size_t length); /* length: of the program's text */
void acceptance_print(void);
void acceptance_causes(void (*visit)(uint64_t seed, const Outcome *o)); /* the shortest program of each cause */

#endif
