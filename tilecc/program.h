/* What `tilecc run` and `tilecc tune` launch: a program as typed, compiled for a device, and one of its kernels. */
#ifndef TILECC_PROGRAM_H
#define TILECC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "tile.h"
#include "tilecc.h"

typedef struct Program {
    char *path, *kernel; /* kernel: NULL where none was named */
    bool from_source, library; /* not compiled already; a module of the library that is built in */
} Program;

/* Each returns an exit code, after a complaint if it is not EXIT_OK. */
int program_split(Program *p, const char *typed, const tilecc_options *o);
int program_kernel(const Program *p, tile_module *m, tile_kernel **out);
/* A cubin for the device, or PTX where it simulates or nothing assembles; NULL: no memory. */
tilecc_result *program_compile(const Program *p, const tilecc_options *lib, tile_device *d, bool verbose, const char *text, size_t size);
void program_free(Program *p);

#endif
