/* The device under moves.c: programs compiled for it, launches and the driver's copies timed alike. */
#ifndef BENCH_MOVES_DEVICE_H
#define BENCH_MOVES_DEVICE_H

#include "bench/moves.h"
#include "runtime/cuda_api.h"

enum { WARM_UP = 3, REPEATS_MOST = 999 };

typedef struct Machine {
    tile_device *device;
    bool is_cuda; /* else the simulator, whose times mean nothing */
    CudaApi api;
    void *library;
    CuResult (*copy)(CuAddress to, CuAddress from, size_t bytes, CuStream stream); /* cuMemcpyDtoDAsync */
    CuEvent events[REPEATS_MOST + 1];
} Machine;

_Noreturn void die(const char *what);              /* prints and exits with code 1 */
bool machine_open(Machine *m, const char *device); /* false: there is no GPU, which was said */
void machine_close(Machine *m);
/* Fills a tensor of FILL_ZERO or FILL_POISON on the GPU; false: not there. */
bool machine_clear(Machine *m, const Tensor *t);
/* false: `why` is the first line of what the compiler said. */
bool machine_compile(Machine *m, const Variant *v, tile_module **out, char *why, size_t room);
/* Median milliseconds of a launch, after WARM_UP others. */
double machine_time_tile(Machine *m, tile_args *args, int repeats);
/* Of a copy of so many bytes from device to device; 0 on the simulator. */
double machine_time_memcpy(Machine *m, size_t bytes, int repeats);

#endif
