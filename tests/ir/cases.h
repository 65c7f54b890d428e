/* What the kernels of tests/ir work on and must give: data and plain C, no IR and no PTX. */
#ifndef TESTS_IR_CASES_H
#define TESTS_IR_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"

enum { TENSORS = 8, SCALARS = 4, VARIANTS = 8 };

typedef struct Tensor {
    const char *name;
    tile_type type;
    int rank;
    int64_t shape[5];
    size_t bytes;
    uint8_t *data, *want; /* before and after the kernel */
    uint64_t address;
} Tensor;

typedef struct World {
    Tensor tensors[TENSORS];
    int ntensors;
    struct {
        const char *name;
        int64_t value;
    } scalars[SCALARS];
    int nscalars;
    uint64_t seed;
} World;

typedef struct Case {
    const char *name;                        /* of the file, without .ir */
    void (*make)(World *x, int64_t variant); /* arguments, their data and what the kernel makes of it */
    int64_t variants[VARIANTS];
    int nvariants;
} Case;
const Case *case_find(const char *name);

uint64_t world_random(World *x);

#endif
