/* The launch manifest: all that a runtime must know to launch the kernels of a module.
 *
 * It travels inside the PTX and the cubin as one constant array, `tile_manifest`, of little-endian 64-bit words,
 * with a versioned layout, so that one file is enough to launch. The compiler fills the structs and encodes them;
 * the runtime decodes them from untrusted bytes (every count and index is checked).
 */
#ifndef LANG_MANIFEST_H
#define LANG_MANIFEST_H

#include "lang/lx.h"
#include "lang/maps/rules.h"

#define MANIFEST_SYMBOL "tile_manifest"
#define MANIFEST_MAGIC UINT64_C(0x314e414d454c4954) /* "TILEMAN1" */
#define MANIFEST_VERSION 3
/* Extents and strides (elements) of arguments are at most this: proofs that values stay in 64 bits rely on it. */
#define MF_EXTENT_MAX (INT64_C(1) << 40)
#define MF_COUNTERS 8
#define MF_MAPS_MAX (1u << 20) /* bytes per CTA for maps that the device makes */

typedef enum MfSymKind { MF_SIZE, MF_STRIDE, MF_SCALAR } MfSymKind;
typedef struct MfSym {
    const char *name;
    uint8_t kind;
} MfSym;

typedef struct MfTensor { /* a `global` parameter */
    const char *name;
    uint8_t type; /* ElemType */
    uint8_t rank; /* 1..5 */
    bool read, written;
    bool strided;    /* has a `stride` clause; otherwise it must be contiguous row-major */
    Lx extent[MAP_RANK], stride[MAP_RANK]; /* elements, outermost first. A bare symbol is bound by the argument */
    uint32_t align;  /* least alignment of the address in bytes that the kernel relies on */
} MfTensor;

typedef struct MfScalar { /* a scalar parameter: its value is symbol `sym` */
    const char *name;
    uint8_t type;     /* ElemType: s32, u32, s64: range-checked at binding */
    uint32_t sym;
} MfScalar;

typedef struct MfMap { /* one CUtensorMap kernel parameter */
    const char *name;   /* as in the source, or derived */
    uint32_t tensor;    /* index of the MfTensor whose memory it describes */
    uint8_t mode, interleave, swizzle, l2, fill;
    uint8_t rank, type; /* type: MapType */
    bool is_load, is_store;
    Lx offset;                             /* bytes from the tensor's address */
    Lx dim[MAP_RANK], pitch[MAP_RANK];     /* outermost first; pitch in bytes */
    uint16_t box[MAP_RANK];
    uint8_t elem_stride[MAP_RANK];
    int16_t lower[3], upper[3];
    uint16_t channels, pixels;
} MfMap;

MapDesc manifest_map(const MfMap *m); /* what is known without arguments: dim, pitch and address are not */

enum { MF_HINTS_L2 = 8, MF_SCHEDULES_MAX = 8, MF_PICKS_MAX = 256 };
enum { MF_FLIGHT = 48 << 10 }; /* bytes of loads on their way that keep the memory busy, for each SM of an H100 */

typedef enum MfParamKind {
    MF_PARAM_MAP,     /* 128 bytes, aligned 64: map `index` */
    MF_PARAM_ADDRESS, /* .u64: address of tensor `index` */
    MF_PARAM_VALUE,   /* .s64: launch expression `index` */
    MF_PARAM_COUNTER, /* .u64: address of a 32-bit counter in global memory that is 0 and no other running launch uses;
                       * the kernel leaves it 0. At most MF_COUNTERS, each with a counter of its own */
    MF_PARAM_HINTS,   /* .s64: 1 if the launch moves more bytes (`traffic`) than MF_HINTS_L2 times the device's L2, else 0 */
    MF_PARAM_MAPS     /* .u64: address of `index` bytes (a multiple of 128) per CTA in global memory, aligned 128, which no other
                       * running launch uses; CTAs by their number in the grid, x fastest. At most one */
} MfParamKind;
typedef struct MfParam {
    uint8_t kind;
    uint32_t index;
} MfParam;

typedef struct MfCheck { /* must be nonzero, else the launch is refused */
    ErrorCode code;
    Lx cond;
    const char *text;    /* what must hold, in the program's words: "N * 2 is a multiple of 16" */
    const char *why;     /* the rule that needs it */
    const char *place;   /* "copy.tile:12:5" */
} MfCheck;

/* How many CTAs a launch has. NONE: `grid`. STATIC, TICKET: as many teams (clusters, or single CTAs) as the device runs
 * at once with at most `per_sm` CTAs per SM, and no more than `teams`; grid is (teams * cluster.x, cluster.y, cluster.z). */
typedef enum MfDeal { MF_DEAL_NONE, MF_DEAL_STATIC, MF_DEAL_TICKET } MfDeal;

typedef struct MfTrust {
    uint8_t fact; /* Trust */
    uint32_t tensor;
} MfTrust;

/* Which schedule a launch takes: that of the first pick, in order, whose device is the launch's and whose schedule would have that size. Where a
 * pick names the device those that name none do not count. */
typedef enum MfMeasure {
    MF_BYTES,    /* at least so many bytes: its `traffic`, or where that is not known all bytes of the tensors, once for each direction */
    MF_L2,       /* more than so many times the device's L2: its `traffic` */
    MF_CTAS,     /* at least so many CTAs per SM */
    MF_SM_BYTES, /* at least so many bytes per SM: its `traffic` */
    MF_MEASURES
} MfMeasure;
typedef struct MfPick {
    const char *gpu; /* "NVIDIA H200"; "": any */
    uint8_t schedule, measure;
    int64_t least;
} MfPick;
typedef struct MfKernel {
    const char *name;  /* as written in the source (with arguments' defaults applied) */
    const char *entry; /* PTX entry name */
    VEC(MfSym) syms;
    LxPool lx;
    VEC(MfTensor) tensors;
    VEC(MfScalar) scalars;
    /* The order of the source's parameters: tensor or scalar. */
    VEC(struct MfArg { bool is_scalar; uint32_t index; }) args;
    VEC(MfMap) maps;
    VEC(MfParam) params;
    VEC(MfCheck) checks;
    VEC(MfTrust) trusts;          /* what no launch checks */
    Lx grid[3];                   /* x, y, z in CTAs; all set. With `deal`: one team per iteration, for checks only */
    uint8_t deal;                 /* MfDeal */
    Lx teams;                     /* with `deal`: iterations there are to deal; 0 launches nothing */
    uint32_t per_sm;              /* with `deal`: CTAs per SM that the schedule wants */
    uint32_t loads;               /* else bytes that a CTA loads, of which an SM has MF_FLIGHT at a time, and no more; 0: as many CTAs as fit */
    Lx traffic;                   /* bytes of global memory read and written; 0: not known */
    uint32_t cluster[3];          /* 1, 1, 1 without clusters */
    /* The schedules of one kernel of the source stand one behind the other, with one name and one signature. */
    uint8_t schedule, schedules;  /* which of how many; 0 of 0 where there is one */
    VEC(MfPick) picks;            /* of the first one; a launch that is none of them takes the last schedule */
    bool dependent;               /* may begin while launches before it run: it waits for them before it touches global memory */
    uint32_t threads;             /* per CTA */
    uint32_t smem;                /* dynamic shared memory in bytes */
} MfKernel;

typedef struct Manifest {
    const char *compiler; /* "tilecc 1.2.3" */
    const char *target;   /* "sm_90a" */
    const char *source;   /* path of the main source as given */
    uint64_t source_hash; /* xxh64 of the main source's text */
    VEC(MfKernel) kernels;
} Manifest;

/* Bytes of the parameters, laid out one after the other, each at its alignment. */
uint64_t manifest_param_bytes(const MfKernel *k);

/* Called alike: the same parameters in the same order, of the same types, extents, strides and directions. */
bool manifest_same_signature(const MfKernel *a, const MfKernel *b);

/* Words for the array. Deterministic. */
typedef struct MfWords {
    uint64_t *w;
    size_t n;
} MfWords;
MfWords manifest_encode(const Manifest *m, Arena *a);

/* The same kernel by kernel: what was written is no longer needed. The words come in blocks. */
typedef struct MfBlock {
    struct MfBlock *next;
    uint64_t *w;
    uint32_t n;
} MfBlock;
typedef struct MfWriter {
    Arena *arena;
    MfBlock *first, *last;
    size_t n;                     /* words in all blocks */
    VEC(char) text;               /* every string once, each followed by a zero byte */
    struct MfString *strings;     /* hash index over them */
    uint32_t nstrings, mask;
} MfWriter;
void manifest_begin(MfWriter *w, Arena *a, const Manifest *head); /* all but its kernels */
void manifest_kernel(MfWriter *w, const MfKernel *k);
const MfBlock *manifest_end(MfWriter *w); /* w->n words */
/* NULL on success, else a sentence saying what is wrong. Strings and arrays are copied into `a`. */
const char *manifest_decode(const uint64_t *w, size_t n, Arena *a, Manifest *out);
/* Finds and decodes the manifest of an ELF cubin or of PTX text (which one is seen from the bytes). */
const char *manifest_find(const void *image, size_t size, Arena *a, Manifest *out);

#endif
