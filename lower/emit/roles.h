/* The tree becomes roles: the last passes over the IR of derived schedules. */
#ifndef LOWER_EMIT_ROLES_H
#define LOWER_EMIT_ROLES_H

#include "lower/ir/ir.h"

/* project.c: the body of role number `agent`, from 1: of the tree's ops its own, and what they need. */
void project(Arena *a, IrKernel *k, uint32_t agent, IrRole *r);
/* count.c: of generations slots and parities. */
void count_turns(Arena *a, IrKernel *k, IrRole *r);

#endif
