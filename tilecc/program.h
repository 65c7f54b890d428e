/* What `tilecc run` and `tilecc tune` launch: a program as typed, compiled for a device, and one of its kernels. */
#ifndef TILECC_PROGRAM_H
#define TILECC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "tile.h"
#include "tilecc.h"

#define STEPS_ARE_NO_TIMES "times are steps of simulated threads, and say nothing of a GPU"

typedef struct Program {
    char *path, *kernel; /* kernel: NULL where none was named; of a source that was read never */
    bool from_source, library; /* not compiled already; a module of the library that is built in */
    char *text;                /* of a source */
    size_t size;
    char *listed;           /* what -D can set: texts of .. */
    tilecc_define *defines; /* .. these, in the order of --emit=defines */
    size_t ndefines;
} Program;

/* Each returns an exit code, after a complaint if it is not EXIT_OK. */
int program_split(Program *p, const char *typed, const tilecc_options *o);
/* Reads a source and looks which kernels it has; each parameter of the one that was named must have a value. command: "run". */
int program_read(Program *p, const tilecc_options *o, const char *command);
int program_kernel(const Program *p, tile_module *m, tile_kernel **out);
/* The value of a compile-time parameter of the kernel, or of a constant; NULL: there is none of that name, or it has several. */
const char *program_value(const Program *p, const char *name);
/* What is made of the kernel alone; NULL: no memory. */
tilecc_result *program_make(const Program *p, const tilecc_options *lib);
/* The same, to be launched: a cubin for the device, or PTX where it simulates or nothing assembles; NULL: no memory. */
tilecc_result *program_compile(const Program *p, const tilecc_options *lib, tile_device *d, bool verbose);
void program_free(Program *p);

#endif
