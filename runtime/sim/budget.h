/* The allocator of a launch: bounded, and able to give back what a jump out of the middle left behind. */
#ifndef SIM_BUDGET_H
#define SIM_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/host.h"

typedef union BudgetHead BudgetHead;
typedef struct Budget {
    uint64_t left; /* bytes */
    BudgetHead *first;
    const Host *host; /* NULL: the C library's memory */
} Budget;

/* A MemRealloc; user is the Budget. */
void *budget_realloc(void *user, void *p, size_t n);
/* Frees all that is still allocated. */
void budget_drop(Budget *b);

#endif
