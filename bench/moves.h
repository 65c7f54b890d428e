/* moves: the bandwidth of programs in bench/tile on the device at hand, beside a plain copy of the same bytes by the
 * driver and PyTorch's own operation (bench/peers.py).
 *
 * A case is a movement with its shapes and a reference of one line; its variants are programs that do it. Inputs are
 * values of a hash of their index, so that the reference needs no memory.
 */
#ifndef BENCH_MOVES_H
#define BENCH_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"

enum { RANK = 5, TENSORS = 4, DIMS = 4 };

typedef enum Fill {
    FILL_BITS,  /* any bits that are a finite number */
    FILL_SMALL, /* f32: eighths from -8 to 8, whose sums are exact */
    FILL_INDEX, /* s32: 0 .. limit - 1 */
    FILL_ZERO,
    FILL_POISON /* 0xA5 in every byte: an output that nothing is added to */
} Fill;

typedef struct Tensor {
    const char *param;
    tile_type type;
    int rank;
    int64_t shape[RANK];
    Fill fill;
    int64_t limit;
    bool is_output;
    uint64_t seed, n; /* n: elements */
    size_t size;      /* bytes of an element */
    uint64_t address;
} Tensor;

typedef struct Variant {
    char label[64], file[128], kernel[32], defines[128]; /* defines: "BM=64,BN=256" or "" */
    int hints;                                           /* tilecc_options.hints */
} Variant;

typedef struct Bench Bench;
typedef struct Case {
    const char *name, *peer;         /* peer: its name in bench/peers.py, or NULL */
    int64_t full[DIMS], small[DIMS]; /* what `set_up` makes shapes of */
    void (*set_up)(Bench *b);        /* tensors and bytes */
    /* Bits of element i of output tensor `t`. Called by several threads. */
    uint64_t (*want)(const Bench *b, const Tensor *t, uint64_t i);
    Variant variants[6];
} Case;

struct Bench { /* a case at work */
    const Case *c;
    int64_t dim[DIMS];
    Tensor tensors[TENSORS];
    int ntensors;
    double bytes;          /* of global memory that the movement reads and writes at least */
    int64_t launches;      /* since the outputs were filled */
    int32_t *first, *next; /* rows that are added to row v: first[v], next[that], .. -1 (scatter_add) */
};

extern const Case bench_cases[];
extern const size_t bench_ncases;

/* ---- moves_data.c ---- */
uint64_t bench_value(const Tensor *t, uint64_t i); /* bits of element i as it was filled */
Tensor *bench_tensor(Bench *b, const char *param, tile_type type, Fill fill, int rank, const int64_t *shape);
bool bench_fill(tile_device *d, const Tensor *t, tile_error *err);
/* Elements of all outputs that differ from the reference; samples: slices that are looked at (0: everything). *bad: the
 * first of them in words. */
typedef struct Differences {
    uint64_t compared, wrong;
    char first[160];
} Differences;
bool bench_compare(tile_device *d, const Bench *b, int samples, Differences *out, tile_error *err);

#endif
