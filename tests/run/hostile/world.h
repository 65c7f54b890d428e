/* One launch with hostile arguments, on any device: programs of hostile.tile, memory with a pattern in it, what is
 * expected of the launch. */
#ifndef HOSTILE_WORLD_H
#define HOSTILE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"

enum { MOST_TENSORS = 4, MOST_MEMORIES = 8, RANKS = 5 };

typedef struct World {
    tile_device *device;
    tile_module *module;
    tile_kernel *kernel;
    tile_args *args;
    uint64_t memory[MOST_MEMORIES];
    int nmemory, failures;
} World;

/* A part of memory that a case looks at. */
typedef struct Part {
    uint64_t address;
    size_t bytes;
} Part;

void world_open(World *w, const char *device, const char *program);
void world_close(World *w);
void use(World *w, const char *kernel); /* its arguments, nothing bound */

/* Memory of the device: what is not filled has any contents. Exit code 77 where there is not so much. */
uint64_t memory(World *w, uint64_t bytes);
void fill(World *w, uint64_t address, size_t bytes, uint32_t seed); /* bytes of the pattern from 0 on */
unsigned char pattern(uint32_t seed, uint64_t i);

/* Binds; the call must succeed. strides NULL: contiguous. */
void bind_tensor(World *w, const char *param, uint64_t address, tile_type type, int rank, const int64_t *shape,
          const int64_t *strides);
void bind_scalar(World *w, const char *param, int64_t value);
/* Binds; the call must fail with the code. */
void tensor_refused(World *w, const char *code, const char *param, uint64_t address, size_t bytes, tile_type type, int rank,
                  const int64_t *shape, const int64_t *strides);
void scalar_refused(World *w, const char *code, const char *param, int64_t value);

void launch(World *w);                           /* must be right */
void launch_refused(World *w, const char *code);        /* must be refused with the code, before anything runs */
void found(World *w, const char *a, const char *b); /* where the simulator looks: a finding, a or b; else it runs */
void expect_pattern(World *w, uint64_t address, size_t bytes, uint32_t seed, uint64_t from); /* pattern(seed, from + i) */
void expect_zeros(World *w, uint64_t address, size_t bytes);
void expect(World *w, bool holds, const char *what);
void read_back(World *w, void *to, uint64_t address, size_t bytes);

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

#endif
