/* Loaded modules and bound arguments: the state behind tile.h's opaque types.
 *
 * In: an image with its launch manifest (lang/manifest/manifest.h), arguments by name. Out: a Launch that the device takes.
 *
 * A launch is prepared in steps, each only as often as what it depends on changes:
 *   resolve   symbols from shapes, strides and scalars; extents compared        (bind.c)     a shape or scalar changed
 *   evaluate  every launch expression in one pass; launch checks                (checks.c)   "
 *   place     alignment and overlap of the tensors in memory                    (overlap.c)  an address changed
 *   maps      logical descriptors, checked by map_rules, encoded, cached        (tensormap.c) "
 *   fill      kernel parameters                                                 (launch.c)   "
 * Unchanged arguments go straight from tile_launch to the device.
 *
 * Glossary: symbol - a size, stride or scalar known at launch only; empty - a tensor with an extent of 0; span - bytes
 * from a tensor's first to its last element, gaps included.
 */
#ifndef RUNTIME_MODULE_H
#define RUNTIME_MODULE_H

#include "lang/manifest/manifest.h"
#include "runtime/device.h"
#include "runtime/report.h"

typedef struct Heap { /* an arena, and where to go when its memory runs out: mem.fail is &fail only while it is used */
    const Host *host;
    Mem mem;
    jmp_buf fail;
    Arena arena;
} Heap;
Heap *heap_new(const Host *host); /* which lives longer */
void heap_free(Heap *h);

typedef struct Pick { /* a condition for this device */
    const MfPick *pick;
    Lx value; /* of tile_kernel.choice */
    int64_t least;
} Pick;

struct tile_kernel {
    tile_module *module;
    const MfKernel *mf;
    void *function;
    Pick *picks; /* of the kernel's first schedule, those that count on the device */
    uint32_t npicks;
    LxPool choice;   /* what they compare, in the order in which they do .. */
    uint32_t leaves; /* .. behind all symbols and constants, so many */
    uint32_t smem;     /* what a CTA asks for, so that no more of them are on an SM than its schedule wants */
    uint32_t resident; /* teams that run at once; known only with `deal` or a cluster. 0: none fits */
    const char **param_names;  /* of mf->args, for did-you-mean */
    const char **extent_texts; /* of mf->tensors: "[M, N]" */
    tile_trust *trusts;        /* of mf->trusts */
    const char **value_texts;  /* of mf->params that are values: "ceil(N, 64)"; else NULL */
};

/* Compute capability * 10 that the module's kernels run on. */
int module_sm(const tile_module *m);

struct tile_module {
    tile_device *device;
    Heap *heap;
    Manifest manifest;
    void *handle; /* the device's */
    tile_kernel *kernels;
};

typedef struct TensorArg {
    bool bound, empty;
    uint64_t address, bytes, span;
    int64_t shape[MAP_RANK], stride[MAP_RANK]; /* elements, outermost first */
} TensorArg;
typedef struct ScalarArg {
    bool bound;
    int64_t value;
} ScalarArg;

typedef struct SymValue { /* which argument gave a symbol its value */
    bool known;
    const char *param; /* tensor or scalar */
} SymValue;

enum { MAP_WAYS = 4, MAP_KEY = 40 }; /* encoded maps kept per map of the kernel: arguments that alternate stay cached */
typedef struct MapSlot {
    int64_t key[MAP_KEY];
    uint64_t hash, used; /* used: turn of the last use, 0: never */
    uint64_t sizes;          /* tile_args.sizes when it was used; 0: none, or a map over nothing */
    uint64_t address, bytes; /* of the map, of the tensor's memory */
    unsigned char *map;  /* MAP_BYTES at MAP_ALIGN */
} MapSlot;

enum { DUMMY_ZEROS = 256, DUMMY_BYTES = 512 };

struct tile_args {
    tile_kernel *kernel;
    tile_args *next;      /* the same arguments for the kernel's next schedule */
    tile_args *taken;     /* of the first one: whose schedule the launch takes. NULL: not chosen since a shape or scalar changed */
    const MfPick *pick;   /* .. and why; NULL: no other would */
    Heap *heap;
    TensorArg *tensors;   /* this and the next four are the same for all schedules */
    ScalarArg *scalars;
    int64_t *choice;      /* values of tile_kernel.choice, from 1 on: symbols first .. */
    int64_t *syms;        /* .. which are these */
    SymValue *sym_values;
    int64_t *values;      /* of all launch expressions */
    uint8_t *status;      /* LxStatus of each */
    uint8_t *marks;       /* scratch, one per launch expression */
    MapSlot *slots;       /* MAP_WAYS per map */
    unsigned char **maps; /* the encoded map in use, per map */
    uint64_t *words;      /* addresses and values, per parameter */
    uint64_t turn;        /* of MapSlot.used */
    uint64_t sizes;       /* how often expressions were evaluated: for MapSlot.sizes */
    /* Stands in for the memory of empty tensors: DUMMY_ZEROS bytes of zeros that are only read, then room that is
     * only written. 0: not made yet. */
    uint64_t dummy;
    Launch launch;
    bool resolved; /* the symbols stand for what is bound */
    bool sized;   /* symbols, expressions and checks stand for the shapes and scalars bound */
    bool ready;   /* `launch` stands for all that is bound */
    bool nothing; /* nothing to launch */
};

/* ---- schedules.c ---- */
/* The arguments of the schedule that the launch takes. */
tile_status args_take(tile_args *a, tile_args **taken, tile_error *err);
/* Which that is, where the symbols stand for what is bound; NULL: the last one. */
const MfPick *args_pick(const tile_args *a);
/* Those of the kernel's picks that count on the device. */
void picks_of_device(Arena *a, const tile_device *d, tile_kernel *k);

/* ---- bind.c ---- */
/* The parameters, which are bound, to other addresses and values. */
tile_status args_place(tile_args *a, const int64_t *where, size_t n, tile_error *err);
/* Everything bound, symbols without conflict: else TILE_ERROR_ARGUMENT with one line each. */
tile_status args_resolve(tile_args *a, tile_error *err);
/* After evaluation: extents and strides that are expressions. */
void args_compare_shapes(tile_args *a, Report *r);

/* ---- checks.c ---- */
/* Evaluates all expressions; reports unresolved symbols, failed checks, grid, cluster, threads, shared memory. */
void args_check_sizes(tile_args *a, Report *r);
/* Value of an expression; false after reporting why it has none. `what` and its arguments name it; they are only
 * formatted then. */
REPORT_PRINTF(5, 6) bool args_value(tile_args *a, Lx x, Report *r, int64_t *value, const char *what, ...);
/* "N = 7, M = 64": the symbols that x depends on. */
const char *args_symbols_of(tile_args *a, Lx x, char *buf, size_t size);

/* ---- overlap.c ---- */
/* Alignment; written tensors against themselves and all others. */
void args_check_places(const tile_args *a, Report *r);

/* ---- trusts.c ---- */
/* E1162 for what is trusted to be sorted and is not; distinct: to be distinct, too. */
tile_status args_check_trusts(const tile_args *a, bool distinct, tile_error *err);

/* ---- tensormap.c ---- */
/* Encodes the maps of the kernel that are not cached; all broken rules of all maps are reported in r. A failure of the
 * driver is returned, with err filled. */
tile_status args_encode_maps(tile_args *a, Report *r, tile_error *err);

/* Nonnegative arithmetic for sizes: false on overflow of int64_t. */
static inline bool size_mul(int64_t a, int64_t b, int64_t *out)
{
    if (a != 0 && b > INT64_MAX / a) return false;
    *out = a * b;
    return true;
}
static inline bool size_add(int64_t a, int64_t b, int64_t *out)
{
    if (b > INT64_MAX - a) return false;
    *out = a + b;
    return true;
}
/* Bytes of n elements, rounded up. */
static inline bool elem_bytes(unsigned type, int64_t n, int64_t *out)
{
    int64_t bits;
    if (!size_mul(n, elem_info((ElemType)type)->global_bits, &bits) || !size_add(bits, 7, &bits)) return false;
    *out = bits / 8;
    return true;
}

#endif
