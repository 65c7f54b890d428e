/* Runs a kernel in IR on the simulator: emitted as PTX, with arguments and what they must become. */
#ifndef TESTS_IR_MUTATE_RUN_H
#define TESTS_IR_MUTATE_RUN_H

#include "ptxgen/ptxgen.h"
#include "tests/ir/mutate_world.h"

typedef enum Outcome {
    OUT_CLEAN,  /* every byte as it must be, nothing reported */
    OUT_DATA,   /* nothing out of order, and other bytes; where work is dealt as teams come, not the same in all schedules */
    OUT_BROKEN, /* a hang, a race, a wrong order: what the verifier must prevent */
    OUT_BEYOND, /* what others than the verifier must prevent: addresses, operands, accesses of two clusters, or two writes,
                 * to the same global bytes */
    OUT_UNDECIDED /* no PTX that the simulator takes, or it gave up */
} Outcome;

typedef struct Bench {
    Arena *arena;
    const char *target; /* of the program at hand */
    uint32_t cluster[3];
    tile_device *check, *fuzz;
    World *worlds; /* one per run */
    int nworlds;
    uint64_t seed;
    char said[600]; /* of the last outcome that is not clean */
} Bench;

void bench_open(Bench *b, Arena *a, uint64_t seed);
void bench_close(Bench *b);
/* All worlds in check mode, until one is not clean; `thorough`: then in fuzzed schedules, too. */
Outcome bench_run(Bench *b, const IrKernel *k, bool thorough);
/* What this kernel makes of the worlds becomes what is wanted of others. */
Outcome bench_learn(Bench *b, const IrKernel *k);

#endif
