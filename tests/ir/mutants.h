/* Mechanical mutants of a kernel in IR.
 *
 * In: a well-formed kernel. Out: copies of it with one change each - an op dropped, doubled or moved, its barrier, slot,
 * rank, count, bytes, parity, offset, guard, scope or width changed, a counter or loop bound off by one, a ring too small.
 * What is made need not be well-formed: that is ir_check's to say. Mutants are numbered from 0 in an order that depends
 * on the kernel only, so that a number names a mutant. Of a tree the same, and another agent, a lag, a barrier's arrivals.
 */
#ifndef TESTS_IR_MUTANTS_H
#define TESTS_IR_MUTANTS_H

#include "lower/ir/ir.h"

typedef struct Mutant {
    const IrKernel *kernel; /* lives as long as the call */
    uint32_t number;
    const char *kind; /* "drop", "slot" .. */
    const char *op;   /* text of the op that it is about: "bar.wait" */
    const char *body; /* "init", a role's name, "exit" */
    uint32_t at;      /* index of the op in its body */
    bool value;       /* may also change which bytes a well-ordered kernel moves */
} Mutant;

typedef struct MutantUser {
    bool (*wants)(void *user, uint32_t number, bool value); /* made only if so */
    void (*takes)(void *user, const Mutant *m);
    void *user;
} MutantUser;
/* Returns how many there are. */
uint32_t mutants_make(Arena *a, const IrKernel *k, const MutantUser *u);
uint32_t mutants_of_tree(Arena *a, const IrKernel *k, const MutantUser *u); /* of what its roles are made of */

#endif
