/* The programs that ir_mutate makes mutants of, and what they are run with. */
#ifndef TESTS_IR_MUTATE_WORLD_H
#define TESTS_IR_MUTATE_WORLD_H

#include "lower/ir/ir.h"
#include "tests/ir/cases.h"

enum { DEFINES = 4, RUNS = 5 };

typedef struct Program {
    const char *path;             /* from tests/; .ir: a case of cases.c */
    const char *kernel;           /* of a .tile file */
    const char *defines[DEFINES]; /* "BM=16" */
    const char *runs[RUNS];       /* values of its symbols, one text per run: "M=40 N=72"; of a tensor: each element's */
    const char *refused;          /* why the verifier refuses this correct program; NULL: it must not */
} Program;
extern const Program PROGRAMS[];
extern const size_t NPROGRAMS;

/* Arguments of the kernel for these values: every tensor random, index tensors with some rows outside; `want` is what
 * was there before. False: a symbol has no value. */
bool world_make(World *x, Arena *a, const MfKernel *mf, const char *values);
void world_free(World *x);

#endif
