/* tilecc tune: each schedule that a kernel can have, timed at each size; which is best for which launches.
 *
 *   sizes.c    what the sizes of the kernel are at each point, and the arguments with them
 *   measure.c  a module for each schedule; times at a point
 *   combine.c  schedules to try besides, from the times of those that differ in one thing
 *   choose.c   few schedules for ranges of sizes, from all times
 *   file.c     the tune file, with what it said of other kernels and GPUs
 *   plot.c     time against bytes, as SVG
 *   tune.c     the command
 */
#ifndef TILECC_TUNE_H
#define TILECC_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"
#include "tilecc/commands.h"
#include "tilecc/program.h"
#include "tilecc/run/args.h"

enum { TUNE_POINTS = 16, TUNE_CANDIDATES = 96, TUNE_SIZES = 24, TUNE_SCHEDULES = 4, TUNE_COMBINATIONS = 8 };

/* ---- sizes.c ---- */
typedef struct TuneSize { /* a symbolic size, stride or scalar of the kernel */
    char name[64];
    int64_t lo, hi; /* the range; equal: fixed */
    const char *of; /* what it is of the sizes before it, "ceil(H, 32)"; NULL: the range */
    bool given, scalar;
} TuneSize;
typedef struct TuneFile { /* a tensor that comes from a file */
    const char *param;
    double bytes;
} TuneFile;
typedef struct TuneSizes {
    TuneSize v[TUNE_SIZES];
    size_t n;
    size_t npoints;
    TuneFile files[TUNE_SIZES];
    size_t nfiles;
    const Program *program;  /* whose compile-time names may stand in what was typed */
    const char *const *args; /* those of the command line that are tensors and scalars */
    size_t nargs;
} TuneSizes;
/* From what was typed; most: bytes of all tensors. The kernel says the rest. Exit code, after a complaint. */
int tune_sizes(TuneSizes *s, const TuneOptions *opt, const Program *program, const tile_kernel *k, double most);
int64_t tune_value(const TuneSizes *s, size_t size, size_t point);
/* Arguments for run_args_parse at a point, from malloc as are the texts; *n of them. NULL after a complaint. */
char **tune_arguments(const TuneSizes *s, const tile_kernel *k, size_t point, size_t *n);
void tune_arguments_free(char **texts, size_t n);

/* ---- measure.c ---- */
typedef struct Candidate {
    char *schedule; /* "BM=64 by ticket"; of the first one "": as it is without tuning */
    bool plain;     /* nothing but values of compile-time parameters: no schedule more in the program */
    tile_module *module;
    tile_kernel *kernel;
    double ms[TUNE_POINTS];    /* of a launch; 0: not possible there */
    double next[TUNE_POINTS];  /* the second least that was measured; 0: there is none */
    double bytes[TUNE_POINTS]; /* that it moves */
} Candidate;
typedef struct Tune {
    const TuneOptions *opt;
    Program program;
    tile_device *device;
    bool simulated;
    TuneSizes sizes;
    Candidate v[TUNE_CANDIDATES];
    size_t n, combined;          /* the last so many are combinations of those before */
    double scatter[TUNE_POINTS]; /* how far times of the same lie apart: 0.01 for 1 % */
    double copy; /* bytes read and written per ms by the driver's copy; 0: not known */
    bool terminal;
} Tune;
/* The program as it is, and one module for each schedule that it lists. */
int tune_candidates(Tune *t);
int tune_measure(Tune *t); /* all points; then combinations of what gains */

/* ---- combine.c ---- */
/* Schedules that would beat all of the n at some point; texts from malloc. */
size_t tune_combine(const Candidate *v, size_t n, size_t npoints, char *out[TUNE_COMBINATIONS]);

/* ---- choose.c ---- */
typedef struct Choice { /* from so many bytes on */
    size_t candidate, point; /* the first point of the range */
    int64_t from;
} Choice;
typedef struct Choices {
    Choice v[TUNE_POINTS];
    size_t n;
} Choices;
/* Of ms[candidate][point] and bytes: the fewest changes that lose little. false: at no point anything could be measured. */
bool tune_choose(const Candidate *v, size_t n, size_t npoints, Choices *out);
/* Is the first candidate, the program as it is, slower by more than times scatter, over all points? */
bool tune_wins(const Candidate *v, const double *scatter, size_t npoints, const Choices *c);

/* ---- file.c ---- */
/* The file's text, from malloc: `old` (NULL: none) without the lines of this kernel and GPU, and the new ones, if any. */
char *tune_file(const char *old, const char *kernel, const char *gpu, const Candidate *v, const Choices *c);

/* ---- plot.c ---- */
char *tune_plot(const Tune *t, const Choices *c); /* from malloc */

#endif
