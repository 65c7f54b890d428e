/* An interpreter of IR for the verifier's tests: one thread, asynchronous copies that complete piece by piece at random
 * times, shared memory that knows what was written. It shares nothing with the verifier but ir.h.
 */
#ifndef TESTS_UNIT_IR_SIM_H
#define TESTS_UNIT_IR_SIM_H

#include "lower/ir.h"

typedef struct SimInput {
    int64_t syms[8]; /* values of the kernel's symbols */
    int64_t ctaid[3];
} SimInput;

/* NULL if nothing went wrong in this schedule, else what did. `eager`: 0: copies complete only while the thread waits ..
 * 100: as soon as they can. */
const char *sim_run(const IrKernel *k, const SimInput *in, uint32_t seed, unsigned eager);

#endif
