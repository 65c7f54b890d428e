/* What the commands of tilecc take. options.c fills it from the command line. */
#ifndef TILECC_COMMANDS_H
#define TILECC_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "tilecc.h"

/* tilecc run x.tile[:kernel] name=argument .. */
typedef struct RunOptions {
    const char *program;     /* path of a .tile, .ptx or .cubin file; ":kernel" behind it if it has several */
    const char *const *args; /* as typed: a=in.npy, out=bf16[M,64]:out.npy, acc=in.npy:out.npy, n=5 */
    size_t nargs;
    const char *device; /* NULL: cuda if there is a GPU, else sim; "sim:.." with the options of tile.h */
    bool check_trust;   /* also what takes a while to look at: distinct(..), and stores under `overlap any` */
    const char *save;   /* NULL, or a folder for all that is written and has no file of its own */
    bool time;          /* print the median time of `repeats` launches */
    int repeats;        /* 0: 20 */
    bool verbose;
    tilecc_options lib; /* how to compile a .tile; arch NULL: for the device; emit is set here */
} RunOptions;

/* Returns an exit code. Output files appear all or none, after a launch that succeeded. */
int command_run(const RunOptions *opt);
/* The simulator's trace=FILE in a device's name, which takes the rest of it; NULL: none. */
const char *trace_in_name(const char *device);

/* tilecc tune x.tile[:kernel] name=argument .. SIZE=number SIZE=least..most */
typedef struct TuneOptions {
    const char *program;
    const char *const *args; /* as those of run, but that nothing is written; sizes of the kernel, fixed or a range; nothing need be said */
    size_t nargs;
    const char *device; /* as run's */
    const char *output; /* the tune file; NULL: beside the source */
    const char *plot;   /* SVG; NULL: beside the tune file; "off": none */
    double most;        /* bytes of all tensors; 0: by default */
    bool verbose;
    tilecc_options lib; /* how to compile */
} TuneOptions;

/* Returns an exit code. The file and the plot appear both or neither. */
int command_tune(const TuneOptions *opt);

/* tilecc test [PATH..] */
typedef struct TestOptions {
    const char *const *paths; /* folders and .tile files; none: the folder at hand */
    size_t npaths;
    bool update;        /* write expected texts anew, and arrays that are not there yet */
    int jobs;           /* files at a time; 0: as many as there are cores */
    const char *junit;  /* NULL, or a file for a report in JUnit's format */
    const char *device; /* of `// run:` lines; NULL: as tilecc run */
    tilecc_options lib; /* import folders and no_variants alone */
} TestOptions;

/* Returns an exit code: 1 if a check failed. */
int command_test(const TestOptions *opt);

/* tilecc check-ptx x.ptx */
typedef struct CheckPtxOptions {
    const char *input;    /* "-": standard input */
    const char *target;   /* NULL: the module's */
    unsigned ptx_version; /* 86 = 8.6; 0: the module's */
    bool json;
} CheckPtxOptions;

/* Returns an exit code: 1 if there are errors. */
int command_check_ptx(const CheckPtxOptions *opt);

/* tilecc new NAME: makes the folder NAME, which must not be there, with a program and its callers. Returns an exit code. */
int command_new(const char *where);

/* tilecc cache --stats | --verify | --clear. Returns an exit code. */
int command_cache(tilecc_cache_work work);

#endif
