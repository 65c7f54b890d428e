/* Work by threads: how the threads of a role move a part of a shared tile to another one.
 *
 * In: an IrPlan with its shape, types and layouts. Out: the plan with its method chosen, so that shared memory is busy
 * for the fewest wavefronts (lower/ir/thread_work.h says what it means then).
 */
#ifndef LOWER_PLAN_THREADS_H
#define LOWER_PLAN_THREADS_H

#include "lower/ir/ir.h"
#include "lower/ir/thread_work.h"

/* Chooses the method: fills vector, method, wide, tall, deal, read_ways, write_ways. False: threads can't do this, and
 * *why says so in a sentence of the form "... can't ...". */
bool threads_plan(Arena *a, IrPlan *p, const char **why);
/* For --explain-plan: "blocks of 4 x 4 in registers, 16-byte accesses, bank conflicts x1.00 reading, x1.25 writing". */
const char *threads_text(Arena *a, const IrPlan *p);
typedef struct ThrWaves {
    uint64_t waves[THR_SIDES]; /* reads, writes; an `add` reads the destination too */
    uint64_t least[THR_SIDES]; /* if no bank were needed twice */
    uint64_t instructions;
} ThrWaves;
/* Counts what every warp does, for parts that start `start` bytes behind the pattern's. Stops above `limit` waves. */
void thr_count(const IrPlan *p, const ThrWork *work, const uint32_t start[THR_SIDES], unsigned sides, uint64_t limit, ThrWaves *out); /* sides: bits of those that are counted */

#endif
