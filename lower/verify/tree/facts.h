/* What the checker of trees knows of a tree before it walks it: accesses, where they lie in their slots, who uses a ring and how.
 * Read from the ops alone; PROOF.md says what for. */
#ifndef LOWER_VERIFY_TREE_FACTS_H
#define LOWER_VERIFY_TREE_FACTS_H

#include "lower/ir/ir.h"

enum { TREE_AGENTS = 4, TREE_EVENTS = 8 };

typedef enum AccessHow {
    BY_THREADS, /* generic proxy, over when the op is */
    TO_EVENT,   /* an asynchronous write; its bytes complete a phase */
    BY_GROUP,   /* an asynchronous read, in a bulk group */
    BY_COMMIT,  /* .. of the tensor core, or of a shift */
    TO_PEER,    /* an asynchronous read, over when the write at the peer is */
    OF_MAP      /* map.set, which fences what it writes */
} AccessHow;
typedef struct TreeAccess {
    uint32_t op, ring, buf;
    uint8_t agent; /* number of the role, from 0 */
    uint8_t how;
    bool write, one; /* one: by the elected thread */
    uint32_t event;  /* TO_EVENT, TO_PEER: IrBar */
    /* bytes of the slot: at + sum of index k * stride k, for indices below trips, and size of them; whole: anywhere */
    bool whole;
    int64_t at, size;
    uint8_t n;
    struct { IrVal index; int64_t stride, trips; } by[4];
} TreeAccess;

typedef struct TreeRing {
    bool used[TREE_AGENTS];     /* by agent */
    bool begins[TREE_AGENTS], releases[TREE_AGENTS];
    uint8_t waits[TREE_AGENTS]; /* bits of events */
    uint32_t event[TREE_EVENTS]; /* IrBar */
    uint32_t arrivals[TREE_EVENTS]; /* in a generation: as many ops */
    bool commits[TREE_EVENTS];   /* of the tensor core arrive there */
    uint32_t nevents;
    bool copies; /* something of it is asynchronous */
} TreeRing;

typedef struct TreeFacts {
    Arena *a;
    const IrKernel *k;
    const IrRole *tree;
    VEC(TreeAccess) access;
    uint32_t *first;  /* by op: its first access; those of the next op begin at first[op + 1] */
    TreeRing *ring;
    uint8_t *event;   /* by IrBar: number among the events of its ring */
    uint32_t *around, *end; /* by op: the op that opens the block around it, from 1; of what opens a block, its `end` or `else` */
    uint32_t *defined;      /* by value: its op, from 1; 0: outside */
    const char *wrong; /* a tree of no use; wrong_op */
    uint32_t wrong_op;
} TreeFacts;

bool tree_facts(Arena *a, const IrKernel *k, TreeFacts *f); /* false: f->wrong */
/* Can the two touch the same bytes of one slot, at least one of them writing? Of one op: in different iterations. */
bool tree_conflict(const TreeFacts *f, uint32_t x, uint32_t y);
/* The ring of a generation that the op speaks of, from 1; 0: none. */
uint32_t tree_ring(const IrOp *op);
bool tree_by_one(const TreeFacts *f, const IrOp *op); /* the elected thread of its agent */

#endif
