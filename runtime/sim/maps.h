/* Tensor maps of the simulated device, and the bytes that a copy through one touches.
 *
 * The 128 bytes are the simulator's own encoding: a magic number, a version, the fields of the logical MapDesc and a
 * check sum; NVIDIA's bits are never read. Both devices encode from the same MapDesc.
 *
 * A copy is walked in pieces of at most 16 bytes of shared memory: a piece lies in one row of the box, is contiguous
 * in global memory and in shared memory, and is wholly inside or wholly outside the tensor. Swizzles exchange 16-byte
 * chunks by the absolute shared address (D02), so no piece crosses one.
 *
 * Measured rules that this implements (SIMULATOR.md, with date and GPU): fully or partly outside loads fill and
 * complete with the full box; stores clip; negative starts of stores trap; box bytes count also for holes; element
 * strides give ceil(box / stride) rows; rows narrower than the swizzle span keep its pitch.
 */
#ifndef SIM_MAPS_H
#define SIM_MAPS_H

#include "lang/map_rules.h"

#define SIM_MAP_BYTES 128
/* d must have passed map_check. Writes all 128 bytes. */
void sim_map_encode(const MapDesc *d, uint8_t map[SIM_MAP_BYTES]);
/* False: not a map of this simulator (why into text). */
bool sim_map_decode(const uint8_t map[SIM_MAP_BYTES], MapDesc *out, char *text, size_t size);

typedef struct BoxPiece {
    uint64_t global; /* address; valid if inside */
    uint32_t shared; /* byte from the start of the box's memory (swizzle applied) */
    uint8_t bytes;   /* 1 .. 16 */
    bool inside;     /* false: fill (loads), nothing (stores) */
} BoxPiece;

typedef struct BoxWalk {
    MapDesc map;
    bool load;           /* loads visit pieces outside the tensor, stores do not */
    uint32_t shared;     /* absolute shared address of the box: only its low bits matter */
    int64_t start[5];    /* innermost first, as the instruction gives them */
    int64_t offset[3];   /* im2col offsets, in the instruction's order */
    uint32_t box_bytes;  /* what complete_tx adds, per destination */
    uint32_t span_bytes; /* bytes of shared memory from the box's start to its last byte + 1 */
    uint64_t npieces;    /* pieces are numbered 0 .. npieces - 1; piece k can be asked for in any order */
    uint32_t row_pieces; /* pieces per row of the box */
    uint64_t fill;       /* fill pattern repeated over 8 bytes */
    /* Derived. Axis 0 runs along a row; interleaved: within a slice, so that there is one more axis than dimensions. */
    int axes;
    int64_t origin[6], extent[6]; /* of the box, of the tensor: elements */
    uint64_t distance[6];         /* bytes between neighbours */
    uint32_t count[6];            /* elements that the box takes: ceil(box / stride) */
    uint8_t step[6];              /* element strides */
    uint32_t rows, row_bytes;     /* rows of the box in shared memory, their bytes without holes .. */
    uint32_t pitch;               /* .. and with them */
    uint32_t from, to;            /* bytes of a row that lie inside if its outer coordinates do */
    uint32_t swizzle_mask;        /* bits 7 .. of the address that are exchanged into bits 4 ..; 0: no swizzle */
} BoxWalk;

/* Prepares a walk. False: the copy traps or is not allowed: rule (error code), text. start: innermost first, dim of
 * them. Covers MAP_TILED; the other modes answer E1351 (not in the simulator yet). */
bool box_begin(BoxWalk *w, const MapDesc *map, bool load, bool reduce, uint32_t shared, const int64_t *start,
               int nstart, const int64_t *offset, int noffset, int *rule, char *text, size_t size);
/* Piece k: always a valid piece; for stores outside pieces have inside == false and are skipped by the caller. */
void box_piece(const BoxWalk *w, uint64_t k, BoxPiece *out);
void box_pieces(const BoxWalk *w, BoxPiece *out); /* all npieces of them, in order: less dear than one by one */
typedef struct BoxRow {
    uint32_t shared;   /* byte from the start of the box's memory, before the swizzle */
    uint32_t from, to; /* bytes of the row that lie inside; from == to: none */
    uint64_t global;   /* address of byte 0 of the row; means something for from .. to only */
} BoxRow;
/* Row r of w->rows. Its byte b stands at box_swizzle(w, row.shared + b). */
void box_row(const BoxWalk *w, uint32_t r, BoxRow *out);
static inline uint32_t box_swizzle(const BoxWalk *w, uint32_t offset)
{
    return offset ^ (((w->shared + offset) >> 7 & w->swizzle_mask) << 4);
}
/* Loads of tf32 change values; those of f32_ftz do not (measured). n bytes at data, whole elements. */
static inline bool box_converts(const BoxWalk *w)
{
    return (w->map.type == MAP_TF32 || w->map.type == MAP_TF32_FTZ) && w->load;
}
void box_convert(uint8_t *data, size_t n);
/* The contiguous ranges that the copy touches, merged where neighbours follow each other; false as soon as one call of
 * `tell` is. Shared memory: inside_only for the source of a store. Global memory: what lies inside the tensor. */
bool box_shared_ranges(const BoxWalk *w, bool inside_only, bool (*tell)(void *user, uint32_t offset, uint32_t bytes),
                       void *user);
bool box_global_ranges(const BoxWalk *w, bool (*tell)(void *user, uint64_t address, uint64_t bytes), void *user);
/* The range of global memory that holds all that lies inside; false: nothing does, or it can't be said in 64 bits. */
bool box_hull(const BoxWalk *w, uint64_t *address, uint64_t *bytes);
/* One row of pieces at once where swizzle and bounds allow: the longest run from piece k on that is contiguous on both
 * sides and alike inside or outside; *npieces of them. For fast mode. */
void box_run(const BoxWalk *w, uint64_t k, BoxPiece *first, uint32_t *bytes, uint64_t *npieces);

/* ---- reductions (reduce.c) ---- */
#include "runtime/sim/program.h"
/* dst[i] = dst[i] op src[i] over n bytes of `type` (PtxType), as the copy engine and red / atom do it: floats add with
 * one rounding to nearest even, f16 / bf16 without flushing subnormals; min / max of floats prefer numbers to NaN, and
 * -0 is below +0; inc and dec wrap at the operand. n is a multiple of the type's size. ftz: add of f32 flushes
 * subnormals. sim_reduce: as the copy engine does it. */
void sim_reduce_ftz(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, PtxType type, bool ftz);
void sim_reduce(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, PtxType type);
/* atom and red of one element (2, 4 or 8 bytes; packed types: both halves): gives the old bits. RED_CAS: a is compared,
 * b stored; else a is the operand. Pairs of op and type that PTX lacks leave memory as it is. */
uint64_t sim_atomic(uint8_t *at, RedOp op, PtxType type, uint64_t a, uint64_t b, bool ftz);
/* The PtxType in which a tensor reduction works on a map's element type; PTX_NO_TYPE: not allowed for this op. */
PtxType sim_reduce_type(int map_type, RedOp op);

#endif
