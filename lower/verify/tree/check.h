/* The checker of trees: local conditions by which no execution of the roles that are projected from it hangs, or touches bytes
 * beside somebody else (PROOF.md). It walks the tree once, all agents together, loops until the record at their head is stable,
 * and knows nothing of trip counts, slots or parities. */
#ifndef LOWER_VERIFY_TREE_CHECK_H
#define LOWER_VERIFY_TREE_CHECK_H

#include "lower/ir/ir.h"

typedef enum TreeCondition {
    TREE_FORM,      /* blocks, agents, rings: what a tree is */
    TREE_BEGUN,     /* a generation is used after it has begun, by those who have heard of it */
    TREE_FREE,      /* it begins in the scope of those that release n - S .. */
    TREE_OVER,      /* .. when each access of that is known to be over */
    TREE_PUBLISHED, /* an event is awaited behind all its arrivals, on every path */
    TREE_ONCE,      /* it comes once in a generation */
    TREE_BYTES,     /* bytes are announced by who arrives, before it does */
    TREE_PHASES,    /* who awaits an event awaits it in every generation */
    TREE_BESIDE,    /* an access knows that all it conflicts with are over */
    TREE_FENCE,     /* what threads wrote is visible to the proxy of copies */
    TREE_THREADS,   /* the threads of an agent have come together */
    TREE_INSIDE,    /* an access lies within its slot */
    TREE_EXIT,      /* at the end no copy is on its way */
    TREE_DONE,      /* each agent counts each generation once */
    TREE_ENDS,      /* how often a loop runs is a number, or what is drawn says it */
    TREE_COUNT,     /* barriers count those that arrive */
    TREE_CONDITIONS
} TreeCondition;
typedef struct TreeFault {
    TreeCondition condition;
    const IrOp *op;    /* NULL: at the end */
    const IrOp *other; /* the access that it meets, or NULL */
    const char *text;
    bool most;         /* more bytes in a phase than a barrier counts */
} TreeFault;

/* Whether all was proved; else why not. without: bits of conditions that are not asked for (tests: what they are good for). */
bool tree_check(Arena *a, const IrKernel *k, uint32_t without, TreeFault *fault);

#endif
