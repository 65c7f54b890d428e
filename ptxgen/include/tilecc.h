/* tilecc.h - the .tile compiler as a library (libtilecc).
 *
 * One call compiles one source text, with what it imports, to IR, PTX or a cubin. The library has no globals, never
 * prints, never exits, and is safe to use from several threads at once (one call per thread). It needs neither a GPU
 * nor a driver; cubins need NVIDIA's assembler: libnvJitLink (loaded at run time) or the ptxas program.
 */
#ifndef TILECC_H
#define TILECC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILECC_API __attribute__((visibility("default")))
#else
#define TILECC_API
#endif

/* Of programs and libraries that go together the first two numbers are the same: within them functions and enumerators are only added, and structs
 * only grow at their end, those that a caller makes where they have a struct_size. `tilecc --man` says what is new. */
#define TILECC_VERSION "0.2.0"

typedef enum tilecc_status {
    TILECC_OK = 0,
    TILECC_ERROR_SOURCE = 1,      /* the program is wrong: see `diagnostics` */
    TILECC_ERROR_USAGE = 2,       /* an option is wrong: see `message` */
    TILECC_ERROR_ENVIRONMENT = 3, /* a file can't be read, memory ran out: see `message` */
    TILECC_ERROR_TOOL = 4,        /* no assembler, or it refused: see `message` */
    TILECC_ERROR_INTERNAL = 70    /* a fault of the compiler: see `message` */
} tilecc_status;

typedef enum tilecc_emit {
    TILECC_EMIT_TOKENS,
    TILECC_EMIT_AST,
    TILECC_EMIT_IR,    /* explicit program after all passes, ends with the verifier's certificate */
    TILECC_EMIT_PTX,
    TILECC_EMIT_CUBIN,
    TILECC_EMIT_PLAN,  /* --explain-plan */
    TILECC_EMIT_TREE,  /* of kernels with a derived schedule: one tree, every op with its agent, before it becomes roles */
    TILECC_EMIT_SCHEDULES, /* `KERNEL: SCHEDULE`, a line for each that a kernel could have: what `pin` takes */
    TILECC_EMIT_DEFINES /* `NAME=VALUE`, a line for each that `defines` may have: constants of the file, kernels (`kernel=copy`), and behind each kernel its
                           compile-time parameters (`copy.BM=64|8`; without a value: `copy.BM=`) */
} tilecc_emit;

typedef enum tilecc_error_format { TILECC_HUMAN, TILECC_SHORT, TILECC_JSON } tilecc_error_format;
typedef enum tilecc_assembler { TILECC_ASM_AUTO, TILECC_ASM_NVJITLINK, TILECC_ASM_PTXAS } tilecc_assembler;

/* -D kernel.name=value or name=value; the name "kernel", a keyword of the language, stands for the one kernel to compile. */
typedef struct tilecc_define {
    const char *name;
    const char *value;
} tilecc_define;

/* Zero the struct, set struct_size = sizeof(tilecc_options), and say in `emit` what is wanted (0 is tokens); every other
 * zero is the default. Fields beyond struct_size count as zero, a struct_size of 0 is TILECC_ERROR_USAGE. All is the caller's and read during the call only, but
 * for realloc and user, which live as long as the result. */
typedef struct tilecc_options {
    size_t struct_size;
    tilecc_emit emit;
    const char *arch;                   /* "sm_90a"; NULL: the file's first target, else sm_90a */
    const char *default_arch;           /* used without `arch`: where the file lists it or has no target line (the GPU at hand) */
    unsigned ptx_version;               /* 80 = 8.0: use nothing newer; 0: the least .version that is needed */
    int lineinfo;                       /* .loc for each op */
    const tilecc_define *defines;
    size_t ndefines;
    const char *const *import_dirs;     /* searched before the importing file's folder and the built-in library */
    size_t nimport_dirs;
    tilecc_error_format error_format;
    int colour;                         /* ANSI colours in human diagnostics */
    int warnings_are_errors;
    int no_performance_warnings;
    tilecc_assembler assembler;
    const char *ptxas;                  /* path of ptxas; NULL: CUDA_HOME / CUDA_PATH, /usr/local/cuda, PATH */
    const char *nvjitlink;              /* path of libnvJitLink.so; NULL: the usual names and the CUDA toolkit */
    void *(*realloc)(void *user, void *p, size_t n); /* NULL: the C library's; n == 0 frees */
    void *user;
    int hints;                          /* cache hints where no clause says: 1 always, -1 never, 0: where the launch moves
                                           more than 8 times what the device's L2 holds */
    const char *const *path_maps; /* "OLD=NEW": in PTX and cubins NEW for the folder OLD, of several maps the last; other paths there
                                     are relative to the folder of the main source. Messages show paths as they were given */
    size_t npath_maps;
    int no_dependent_launch; /* 0: a kernel may be launched while those before it in its stream still run, and waits for them before it
                                touches global memory (programmatic dependent launch: PTX ISA, griddepcontrol) */
    int cache; /* 1: PTX and cubins that were made before are taken from the disk, and others kept there: see tilecc_cache() */
    const char *tune; /* NULL: the tune file beside the source, x.tune for x.tile, where there is one, and for a module of the library what is built in
                         with it; "off": none; else its path */
    const char *pin;  /* NULL, or lines `KERNEL: SCHEDULE`: the only schedules of these kernels. Without `tune` no file is read then */
    int no_variants; /* 0: a kernel that is one pipeline across the grid gets a second schedule for few iterations, where that is likely to be faster */
    const char *gpu; /* NULL: the output is for any GPU; else for that one, by the name that tune files have (tile_device_gpu()): what they say of others
                        is left out */
} tilecc_options;

/* All pointers belong to the result and live until tilecc_free. Text is 0-terminated. */
typedef struct tilecc_result {
    tilecc_status status;
    const char *message;      /* when status != OK one sentence, and behind it what an assembler said; "" otherwise */
    const char *diagnostics;  /* rendered errors and warnings, "" if none */
    size_t diagnostics_size;
    unsigned errors, warnings;
    const char *output;       /* tokens, tree, IR, PTX or plan as text; the cubin's bytes; NULL unless OK */
    size_t output_size;
    const char *ptx;          /* with TILECC_EMIT_CUBIN: the PTX that was assembled, also if the assembler refused it */
    size_t ptx_size;
    const char *assembler;    /* with TILECC_EMIT_CUBIN: what assembled it or refused, e.g. "nvJitLink 13.0 (libnvJitLink.so.13)";
                                 NULL or "" if there was none */
    const char *const *dependencies; /* files read, main source (`path`) first, for -MD */
    size_t ndependencies;
    const char *cache; /* with the option of that name: what was taken and kept, or why not, in a few words; NULL without it, and where it is off */
} tilecc_result;

/* Compiles `text` (size bytes, any bytes; may be NULL where size is 0). `path` names it in messages and is the base for
 * relative imports; may be NULL. opt NULL: all defaults. A NULL text, or a NULL in the lists of options, is
 * TILECC_ERROR_USAGE. Returns NULL only when no memory is left for the result itself. */
TILECC_API tilecc_result *tilecc_compile(const tilecc_options *opt, const char *path, const char *text, size_t size);
TILECC_API void tilecc_free(tilecc_result *r); /* NULL: nothing */

/* The disk cache of tilecc_options.cache. It changes nothing but the time that a compilation takes: keys are SHA-256 of all that an
 * output depends on (sources, options, this very compiler, the assembler), entries are checked before they are used, and where
 * something can't be read or written, or is damaged, it is compiled as without a cache. Any number of processes may share it. From
 * the environment:
 *   TILECC_CACHE       `off`: no cache
 *   TILECC_CACHE_DIR   the folder; else $XDG_CACHE_HOME/tilecc, else ~/.cache/tilecc. Made with mode 0700; one of another user's, or one
 *                      that others may write to, is not used
 *   TILECC_CACHE_SIZE  bytes, or 64M (K, M, G), by default 256M: what was not used for longest goes first */
typedef enum tilecc_cache_work {
    TILECC_CACHE_COUNT,
    TILECC_CACHE_VERIFY, /* every entry is checked, and what is damaged removed */
    TILECC_CACHE_CLEAR   /* all entries are removed; other files of the folder are never touched */
} tilecc_cache_work;
typedef struct tilecc_cache_facts {
    size_t struct_size;    /* to be set: sizeof(tilecc_cache_facts); nothing beyond it is written */
    uint64_t entries, bytes, limit; /* that are there, afterwards; bytes there may be */
    uint64_t removed, left; /* files that were removed, and that should have been and can't be */
    char folder[4096];
    char why[256];         /* where the status is not TILECC_OK: a clause; else "" */
    char off[256];         /* why nothing is kept, and nothing taken from there: a clause; "" where it is */
} tilecc_cache_facts;
/* TILECC_ERROR_ENVIRONMENT: the folder can't be used, or not all can be removed. A folder that is not there has no entries. */
TILECC_API tilecc_status tilecc_cache(tilecc_cache_work work, tilecc_cache_facts *out);

/* PTX or a cubin that tilecc made. */
typedef struct tilecc_image {
    const void *data;
    size_t size;
} tilecc_image;
typedef enum tilecc_c_part { TILECC_C_HEADER, TILECC_C_SOURCE } tilecc_c_part;
/* Kernels as functions of C: text of NAME.h or of NAME.c in `output`, C99 and C++17. The images are of one program, for one or
 * several targets, and are tried in this order (those for the device's own target first); they are read during the call only. name:
 * the two files' without suffix, and, where it is no identifier with _ for what can't stand in one, what all names begin with. driver:
 * the text takes no device of libtile's but opens one itself, and libtile's source is to stand in front of it (--emit=c-driver).
 * TILECC_ERROR_USAGE: an image of something else, images that differ in what they take, or a name that libtile or C
 * has. Without images the name alone is looked at, and there is no output. To be freed; NULL when no memory is left for the result itself. */
TILECC_API tilecc_result *tilecc_write_c(const char *name, const tilecc_image *images, size_t nimages, int driver, tilecc_c_part part);

/* The --explain text of an error code ("E0412"), or NULL, as for NULL; *rule and *source, which may be NULL, are set
 * with it. Static. */
TILECC_API const char *tilecc_explain(const char *code, const char **rule, const char **source);
/* Targets, from 0 on; NULL past the end. Static. */
TILECC_API const char *tilecc_target(size_t i);
/* A module of the library that is built in, by its name, "std.rows": *size bytes of text and a 0 behind them; *path is what
 * messages call it, to be given to tilecc_compile. NULL, as for NULL: there is none of that name. size and path may be NULL. Static. */
TILECC_API const char *tilecc_library(const char *module, size_t *size, const char **path);
TILECC_API const char *tilecc_library_at(size_t i); /* their names, from 0 on; NULL past the end. Static. */
TILECC_API const char *tilecc_version(void);

#ifdef __cplusplus
}
#endif
#endif
