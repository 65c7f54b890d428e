/* The arguments of `tilecc run`: what was typed, matched with the kernel's parameters, in the device's memory. */
#ifndef TILECC_RUN_ARGS_H
#define TILECC_RUN_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"
#include "tilecc.h"
#include "tilecc/program.h"
#include "tilecc/run/contents.h"
#include "tilecc/run/npy.h"

enum { RUN_RANK = 5 };

typedef struct RunArg {
    /* as typed */
    const char *text, *value; /* the whole argument; behind its first `=` */
    char *name, *in, *out;    /* in, out: files or NULL */
    bool typed;               /* type[extents] stands for the input */
    tile_type type;
    bool made;        /* with contents by a word; else it starts with a pattern, or 0 */
    Contents contents;
    char *extents[RUN_RANK]; /* numbers, symbols or expressions, as typed; what compile-time names stand for */
    int nextents;
    /* with its parameter */
    tile_param param;
    int64_t scalar;
    int64_t shape[RUN_RANK];
    uint64_t address; /* of `bytes` bytes of device memory, 0 if there are none */
    size_t bytes;
    unsigned char *result; /* header and data of the output file */
    size_t result_size;
} RunArg;

typedef struct RunArgs {
    RunArg *v;
    size_t n;
    const Program *program; /* whose compile-time names may stand in extents */
    size_t sizes; /* behind them: M=64, of what the kernel calls its extents, which stand in those of the others */
} RunArgs;

/* Each returns an exit code, after a complaint if it is not EXIT_OK. */
int run_args_parse(RunArgs *a, const Program *program, const char *const *texts, size_t n);
/* Unknown, missing and duplicate arguments; forms that do not suit the parameter. */
int run_args_match(RunArgs *a, const tile_kernel *k, bool saved); /* saved: what is written is written to files */
/* The shape of parameter p by "name=in.npy". */
int run_arg_shape(const char *text, const Program *program, const tile_param *p, int64_t shape[RUN_RANK]);
/* Each tensor that is written and has no file to go to gets FOLDER/NAME.npy. */
void run_args_save(RunArgs *a, const char *folder);
/* Reads input files, makes device memory and binds everything. Memory without contents is filled with 0xA5,
 * with zeros where the kernel adds to it or reads what it wrote. */
int run_args_bind(RunArgs *a, tile_device *d, tile_args *args);
/* Binds the same memory and scalars to other arguments: of another build of the kernel. */
int run_args_bind_again(const RunArgs *a, tile_args *args);
/* Copies written tensors back and makes their files' bytes. */
int run_args_fetch(RunArgs *a, tile_device *d);
int run_args_write(const RunArgs *a);
/* Bytes of all tensors, each counted once per direction in which it is used. */
double run_args_traffic(const RunArgs *a);
void run_args_free(RunArgs *a, tile_device *d);

/* tile.h's status as an exit code. */
int exit_code_of(tile_status s);

#endif
