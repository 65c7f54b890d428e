/* Calibration: the same random cases on a GPU and on the simulator, compared byte for byte.
 *
 * A case is data: a kind, a tensor map, operands, contents of memory, all drawn from (seed, kind, number). It becomes
 * one launch of a small PTX kernel (templates.c), and what is left in shared memory, in the tensor's memory and in a
 * status word is its result; a launch that ends in a trap has the class of the trap as its result. cases.c draws the
 * cases, calibrate.c runs them in processes of their own (a trap ends a CUDA process) and compares.
 */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/maps/rules.h"
#include "runtime/sim/machine.h"

typedef enum Kind {
    KIND_LOAD,           /* tensor loads: every rank, type, swizzle, element stride, fill, coordinate */
    KIND_LOAD_PHASE,     /* swizzled loads to shared addresses at every phase of the pattern */
    KIND_LOAD_INTERLEAVE,
    KIND_STORE,          /* tensor stores */
    KIND_STORE_INTERLEAVE,
    KIND_REDUCE_TENSOR,  /* every operation and type */
    KIND_BULK,           /* bulk loads and stores */
    KIND_REDUCE_BULK,    /* to global memory */
    KIND_REDUCE_PEER,    /* to shared memory of a peer */
    KIND_MULTICAST,      /* tensor and bulk, every mask of a cluster of 4 */
    KIND_PEER,           /* shared memory to shared memory of a peer, and to the own */
    KIND_BARRIER,        /* sequences of mbarrier operations, what test_wait and pending_count say */
    KIND_TRAP,           /* what ends a kernel */
    KIND_IM2COL_LOAD,    /* three to five dimensions, corners, offsets, strides, fill; the base may lie outside its box */
    KIND_IM2COL_INTERLEAVE,
    KIND_IM2COL_STORE,
    KIND_IM2COL_REDUCE,
    KIND_IM2COL_MULTICAST,
    KIND_COUNT
} Kind;
extern const char *const KIND_NAMES[KIND_COUNT];

enum {
    RANKS = 4,              /* largest cluster */
    REGION_MAX = 49152,     /* bytes of shared memory that are looked at, per CTA */
    TENSOR_MAX = 1 << 20,
    ARGS = 256,             /* words */
    STATUS_WORDS = 1024     /* behind the regions in the output */
};

typedef struct Case {
    Kind kind;
    uint32_t number;
    char name[160];         /* for messages */
    char core[4096];        /* PTX executed by thread 0 of the issuing CTA */
    bool has_map;
    MapDesc map;            /* address: offset in the tensor buffer */
    uint32_t cluster;       /* CTAs of the launch, 1 (no cluster launch), 2 or 4 */
    uint32_t region;        /* bytes, a multiple of 1024 */
    uint32_t tensor_bytes;
    int32_t args[ARGS];
    uint8_t *fill;          /* cluster * region bytes: contents of shared memory before */
    uint8_t *tensor;        /* tensor_bytes: of global memory before */
} Case;

/* Places of args, in words; the kernel has them in registers %c0.. %off .. (templates.c). */
enum {
    ARG_COORD = 0, /* innermost first */
    ARG_OFF = 5,
    ARG_REGION = 7,
    ARG_SIZE = 8,
    ARG_MASK = 9,
    ARG_ISSUER = 10,
    ARG_PEER = 11,
    ARG_OFF2 = 12,
    ARG_GLOBAL = 13,
    ARG_TX = 16,  /* bytes that each rank expects */
    ARG_INFO = 20, /* im2col offsets, W first */
    ARG_LIST = 32 /* of KIND_BARRIER: pairs of operation and operand */
};

typedef Rng Draw;
uint32_t draw_below(Draw *d, uint32_t n);

/* fill and tensor are of RANKS * REGION_MAX and TENSOR_MAX bytes. */
void draw_case(Case *c, Kind kind, uint32_t number, uint64_t seed, uint8_t *fill, uint8_t *tensor);
/* The kernel `k` of the case: parameters map[128], tensor, fill, out, args. */
void write_ptx(const Case *c, char *text, unsigned long room);

#endif
