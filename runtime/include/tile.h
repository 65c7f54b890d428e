/* tile.h - load, bind and launch .tile kernels (libtile).
 *
 * A module is loaded from a cubin or PTX made by tilecc (the launch manifest travels inside), or, when the program is
 * also linked with libtilecc, from .tile source. Tensors and scalars are bound by name; symbolic sizes are resolved
 * from the tensors; every launch check is made before anything is launched; tensor maps are encoded and cached; the
 * kernel is launched on the caller's stream in the device's context (see tile_device_open), and the thread's current
 * context is afterwards what it was. The CUDA driver (libcuda.so.1) is loaded at run time, never linked.
 *
 * Every function that can fail returns a tile_status; the sentence is in the tile_error passed in (may be NULL), which
 * says TILE_OK and "" after success. Nothing is half done after an error, and an `out` is NULL then.
 *
 * NULL: the NULL device, module, kernel or arguments of a call that failed may be passed on. A function that returns a
 * tile_status then answers TILE_ERROR_ARGUMENT, as it does for every other pointer that it needs, an `out` among them;
 * one that returns a text says "", one that returns a pointer NULL, one that counts or asks 0; one that returns nothing
 * does nothing. Where NULL means something else the function says so.
 *
 * Lifetimes: free arguments before their module, modules before the device is closed. Freeing or closing NULL does
 * nothing. Texts belong to the object that they come from and live as long; those of no object are static.
 * Threads: a tile_args is used by one thread at a time. Devices, modules and kernels may be shared by several, once
 * tile_device_use_compiler is done and until they are freed. No function prints or exits.
 * Versions: those of tilecc.h, which says what goes together.
 */
#ifndef TILE_H
#define TILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

#ifndef TILE_STATUS /* what --emit=c-driver makes has these two types, too */
#define TILE_STATUS
typedef enum tile_status {
    TILE_OK = 0,
    TILE_ERROR_ARGUMENT,  /* a wrong call: unknown name, missing argument, wrong type or rank; an unreadable file */
    TILE_ERROR_CHECK,     /* a launch check failed: the error's text lists every one */
    TILE_ERROR_MODULE,    /* not a module of tilecc, damaged, or for another GPU */
    TILE_ERROR_SOURCE,    /* .tile source with errors: the text holds the diagnostics */
    TILE_ERROR_NO_DEVICE, /* no driver or no GPU */
    TILE_ERROR_DRIVER,    /* a driver call failed: call name and driver text are in the text */
    TILE_ERROR_MEMORY,
    TILE_ERROR_UNSUPPORTED, /* e.g. .tile source without libtilecc */
    TILE_ERROR_KERNEL /* the simulator found a fault while the kernel ran: which, where and the rule are in the text */
} tile_status;

typedef struct tile_error {
    tile_status status;
    char text[4096]; /* one sentence, one line per failed check ("... and N more"), or diagnostics, cut off to fit */
} tile_error;
#endif
TILE_API const char *tile_status_text(tile_status s);

typedef enum tile_type { /* element types; the names are those of the language */
    TILE_U8, TILE_U16, TILE_U32, TILE_U64, TILE_S8, TILE_S16, TILE_S32, TILE_S64, TILE_F16, TILE_BF16, TILE_F32,
    TILE_TF32, TILE_F64, TILE_E4M3, TILE_E5M2, TILE_B4A8, TILE_B4A16, TILE_B6A16
} tile_type;
TILE_API const char *tile_type_name(tile_type t);
TILE_API int tile_type_find(const char *name, tile_type *out); /* 0: there is none of that name; out may be NULL */
TILE_API int tile_type_bits(tile_type t);                      /* of an element in global memory */
TILE_API const char *tile_type_npy(tile_type t); /* dtype in .npy files: "<u2" for bf16, which NumPy lacks */

typedef struct tile_device tile_device;
typedef struct tile_module tile_module;
typedef struct tile_kernel tile_kernel; /* belongs to its module */
typedef struct tile_args tile_args;

/* name: "cuda" (the device of the thread's current context, else device 0), or "cuda:1". Where the thread's current
 * context is of that device it is used, and must live until tile_device_close; else the primary context is retained.
 *
 * "sim": the simulator, which needs no GPU. It executes the PTX itself and finds what hardware hides: races, missing
 * waits and fences, byte counts that do not balance, deadlocks. Options follow a colon: "sim:fast" (no such checks),
 * "sim:check" (default), "sim:fuzz,seed=7,schedules=50" (many interleavings, each from the same memory), trust (stores
 * under `overlap any` that meet are findings, too), and limits:
 * steps=N, bytes=N, seconds=N; arch=sm_100a (what tile_device_arch answers); trace=FILE (last; a timeline in Chrome's
 * trace format, of the last launch or schedule); sms=N, l2=N: a machine of N SMs (3) and N bytes of L2 (65536), which
 * is how many CTAs take work that is dealt, and whether cache hints are on. A launch is over when tile_launch returns,
 * with TILE_ERROR_KERNEL for a finding.
 *
 * NULL: "cuda" if there is a GPU, else "sim". */
TILE_API tile_status tile_device_open(const char *name, tile_device **out, tile_error *err);
/* Zero the struct, set struct_size = sizeof(tile_options); every other zero is the default. Fields beyond struct_size count as zero. */
typedef struct tile_options {
    size_t struct_size;
    /* The memory of the device and of all that is made on it; NULL: the C library's. n == 0 frees p; NULL says that there is none, and p
     * stays. From several threads at once where the device is used so. Not that of the driver, nor of a compiler. */
    void *(*realloc)(void *user, void *p, size_t n);
    /* What happens, for people: a device is opened, a module loaded, what the driver's compiler remarks, the launch that follows from new
     * shapes. One line without its end. Unchanged launches say nothing. */
    void (*log)(void *user, const char *text);
    void *user; /* of both */
} tile_options;
/* opt, which is copied, may be NULL. */
TILE_API tile_status tile_device_open_with(const char *name, const tile_options *opt, tile_device **out, tile_error *err);
TILE_API void tile_device_close(tile_device *d);
TILE_API const char *tile_device_name(const tile_device *d); /* "NVIDIA H200 (sm_90)", "simulator (check, seed 1)" */
TILE_API const char *tile_device_gpu(const tile_device *d);  /* "NVIDIA H200", "simulator": what files of tilecc tune call it */
TILE_API int tile_device_simulates(const tile_device *d);    /* takes PTX, for any target, and no cubins */
TILE_API const char *tile_device_arch(const tile_device *d); /* the best target for it: "sm_90a"; NULL: none */
/* Memory and copies, so that a small program needs no other API. Addresses are those of the device; 0 bytes are at
 * address 0, and copying them needs no memory. tile_read waits for the data; tile_write may return as soon as `from` has
 * been taken. Both are ordered with the default stream (NULL), with others only by tile_synchronize. */
TILE_API tile_status tile_alloc(tile_device *d, size_t bytes, uint64_t *address, tile_error *err);
TILE_API tile_status tile_release(tile_device *d, uint64_t address, tile_error *err);
TILE_API tile_status tile_write(tile_device *d, uint64_t to, const void *from, size_t bytes, tile_error *err);
TILE_API tile_status tile_read(tile_device *d, void *to, uint64_t from, size_t bytes, tile_error *err);
/* The driver's own copy from device memory to device memory, asynchronous: what a movement is measured against. */
TILE_API tile_status tile_copy(tile_device *d, uint64_t to, uint64_t from, size_t bytes, void *stream, tile_error *err);
TILE_API tile_status tile_synchronize(tile_device *d, void *stream, tile_error *err);
/* Device time of all `repeats` launches in a row in milliseconds, measured with events on `stream` (NULL: the default
 * stream); waits for them. 0 where nothing is launched. On the simulator a step of a thread counts as a nanosecond. */
TILE_API tile_status tile_time(tile_args *args, void *stream, int repeats, double *milliseconds, tile_error *err);

/* The image is copied. Cubin or PTX is told by its first bytes. An image of 0 bytes, which may be NULL, is no module. */
TILE_API tile_status tile_module_load(tile_device *d, const void *image, size_t size, tile_module **out,
                                      tile_error *err);
/* The same from a file, or a pipe, of at most 1 GiB; devices are refused. */
TILE_API tile_status tile_module_load_file(tile_device *d, const char *path, tile_module **out, tile_error *err);
/* A compiler of .tile source: what tile_module_load_source calls. tile_source.h has the one of libtilecc. `compile`
 * fills *image and *size with a cubin or PTX for `arch`, which `release` frees; defines are "name=value". ptx: it must be
 * PTX, best with line information (the simulator's findings name source lines). */
typedef struct tile_compiler {
    tile_status (*compile)(void *user, const char *arch, int ptx, const char *path, const char *text, size_t size,
                           const char *const *defines, size_t ndefines, void **image, size_t *image_size,
                           tile_error *err);
    void (*release)(void *user, void *image);
    void *user;
} tile_compiler;
/* The struct is copied. NULL, or a NULL `compile`: none. A NULL `release` frees nothing. */
TILE_API void tile_device_use_compiler(tile_device *d, const tile_compiler *compiler);
/* Compiles for the device's GPU, unless the source's `target` line names others. text (size bytes) NULL: the file `path`
 * is read; else path, which may be NULL, names the text in messages and is where imports are looked for. defines are
 * "name=value", "kernel=name" for one kernel of several; NULL where ndefines is 0. Needs libtilecc in the program (tile_source.h's tile_use_compiler). */
TILE_API tile_status tile_module_load_source(tile_device *d, const char *path, const char *text, size_t size,
                                             const char *const *defines, size_t ndefines, tile_module **out,
                                             tile_error *err);
TILE_API void tile_module_free(tile_module *m);

TILE_API size_t tile_kernel_count(const tile_module *m);
TILE_API tile_kernel *tile_kernel_at(tile_module *m, size_t i); /* in source order; NULL past the end */
TILE_API tile_kernel *tile_kernel_find(tile_module *m, const char *name); /* NULL if there is none */
TILE_API const char *tile_kernel_name(const tile_kernel *k);
typedef enum tile_trust_fact { /* of the elements of an index tensor */
    TILE_TRUST_DISTINCT,       /* no two are equal */
    TILE_TRUST_SORTED          /* none is less than the one before */
} tile_trust_fact;
typedef struct tile_trust {
    tile_trust_fact fact;
    size_t param; /* of which: tile_param_info */
} tile_trust;
typedef struct tile_kernel_facts { /* pointers live as long as the module */
    const char *compiler, *target, *source; /* "tilecc 1.2.3", "sm_90a", path of the main source */
    uint32_t threads, cluster[3], smem;     /* threads and bytes of shared memory of a CTA */
    const tile_trust *trusts;               /* facts that are not checked by every launch: tile_check_trusts */
    size_t ntrusts;
} tile_kernel_facts;
TILE_API void tile_kernel_info(const tile_kernel *k, tile_kernel_facts *out); /* k NULL: zeros and "" */

typedef struct tile_param { /* pointers live as long as the module */
    const char *name;
    int is_scalar;
    tile_type type;
    int rank;            /* 0 for scalars */
    const char *extents; /* as written: "[M, N]" */
    int written;         /* the kernel writes it */
    int read;            /* the kernel reads it, or adds to what lies there (scalars: always) */
} tile_param;
TILE_API size_t tile_param_count(const tile_kernel *k);
/* Parameters in the order of the source; TILE_ERROR_ARGUMENT past the end, with zeros and "" in *out. */
TILE_API tile_status tile_param_info(const tile_kernel *k, size_t i, tile_param *out);

/* Arguments are bound once and may be launched many times; rebinding a tensor to another address is cheap. */
TILE_API tile_status tile_args_new(tile_kernel *k, tile_args **out, tile_error *err);
TILE_API void tile_args_free(tile_args *a);
/* shape: rank extents, outermost first. strides: in elements, NULL for contiguous row-major. Both are copied. The memory
 * stays the caller's and must live until the launch has finished. bytes: size of the allocation from `address` on (0:
 * unknown). A tensor with an extent 0 needs no memory: its address may be 0. */
TILE_API tile_status tile_bind(tile_args *a, const char *param, uint64_t address, size_t bytes, tile_type type,
                               int rank, const int64_t *shape, const int64_t *strides, tile_error *err);
TILE_API tile_status tile_bind_scalar(tile_args *a, const char *param, int64_t value, tile_error *err);
/* Value of a symbolic size, stride or scalar that the arguments bound so far determine. */
TILE_API tile_status tile_symbol(tile_args *a, const char *name, int64_t *value, tile_error *err);

/* stream: a CUstream / cudaStream_t, NULL for the default stream. Asynchronous. Nothing is allocated when the
 * arguments have not changed since the last launch. Writing nothing (an empty output) launches nothing: TILE_OK.
 *
 * Kernels that deal their work by tickets (tile_launch_info) count them in 32 bytes of device memory that belong to the
 * device: one place per stream, made at the first such launch on it, and one per launch into a stream that is being
 * captured. They are freed by tile_device_close, also those of streams that are gone. So graphs must not run after it,
 * and two instances of one graph not at the same time: capture twice instead. */
TILE_API tile_status tile_launch(tile_args *a, void *stream, tile_error *err);
/* The same behind binding each of the kernel's n parameters, all of which are bound, anew: a tensor of the same shape, strides and size of its memory at
 * the address where[i], a scalar to where[i]. */
TILE_API tile_status tile_launch_at(tile_args *a, const int64_t *where, size_t n, void *stream, tile_error *err);

/* Whether what the kernel trusts (tile_kernel_info) is true of what lies in memory now; TILE_ERROR_CHECK, E1162: it is not. Makes the checks of a launch
 * first. Looks at what is to be sorted, and where `distinct` is not 0 at what is to be distinct, too, which takes longer. A launch on the simulator asks
 * for the first by itself; one on a GPU asks for nothing, as it would have to wait for the memory. */
TILE_API tile_status tile_check_trusts(tile_args *a, int distinct, tile_error *err);

typedef struct tile_launch_facts { /* texts are static */
    uint32_t grid[3];   /* CTAs; 0, 0, 0: nothing is launched */
    const char *deal;   /* how iterations `across grid` are dealt to teams: "static", "ticket"; NULL: `grid` has them all */
    int64_t iterations; /* that are dealt; those that go together (--explain-plan says so) count as one */
    uint32_t teams;     /* they are dealt to: as many as the device runs at once, and no more than iterations */
    uint32_t per_sm;    /* CTAs per SM that the schedule wants at most */
    int counters;       /* of tickets, that the kernel draws from */
    int hints;          /* cache hints of a kernel that leaves them to the launch: 1 on, 0 off; -1: it does not */
    int64_t traffic;    /* bytes of global memory that the launch reads and writes; 0: not known */
    int64_t l2;         /* bytes of the device's L2; hints are on where traffic is more than 8 times that */
    int schedule;       /* which of the kernel's schedules the launch takes, from 0, and how many it has. Chosen anew when a shape or a */
    int schedules;      /* scalar has changed */
    const char *pick;   /* why that one: with it the launch has at least pick_least "bytes" that are moved, or more than pick_least */
    int64_t pick_least; /* times the "L2", or at least pick_least "CTAs" or "bytes per SM"; NULL: no condition of another schedule holds */
    int picked_for_gpu; /* the condition is one for this very GPU: tilecc tune has measured it */
    uint32_t threads, smem; /* threads and bytes of shared memory of a CTA in that launch */
} tile_launch_facts;
/* What tile_launch would launch. Makes the same checks and launches nothing. */
TILE_API tile_status tile_launch_info(tile_args *a, tile_launch_facts *out, tile_error *err);

/* PTX text, anyone's, judged without a GPU: are its asynchronous copies, barriers, fences and tensor memory instructions
 * legal for a target and PTX ISA version? Instructions of other kinds are read but not judged. */
typedef struct tile_ptx_finding {
    unsigned line, column; /* from 1 */
    int is_error;          /* 0: a warning */
    const char *code;      /* "E1409": tilecc --explain has more */
    const char *text;      /* lives as long as the call of report */
} tile_ptx_finding;
typedef struct tile_ptx_summary {
    size_t instructions; /* that were judged */
    size_t errors, warnings;
} tile_ptx_summary;
/* target: "sm_100a", version: "8.6"; NULL: the module's own. `report` (may be NULL) is called for each finding in the
 * order of the text, with `user`. out may be NULL, and text where size is 0. TILE_OK says that the text was judged;
 * whether it is legal stands in out->errors. */
TILE_API tile_status tile_check_ptx(const char *text, size_t size, const char *target, const char *version,
                                    void (*report)(void *user, const tile_ptx_finding *f), void *user,
                                    tile_ptx_summary *out, tile_error *err);

#ifdef __cplusplus
}
#endif
#endif
