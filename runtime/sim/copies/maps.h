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
 *
 * A row of the box is what is contiguous in global memory: the innermost dimension of a tile, one of the four rows of
 * gather4 and scatter4, a pixel of the im2col modes. Its bytes are numbered as they lie in global memory; types with
 * gaps have 8 or 12 of them in 16 bytes of shared memory.
 *
 *   box_begin.c   the rules of the operands, the shape of the box
 *   box.c         rows, pieces, ranges, conversions
 *   box_im2col.c  which pixel a row is
 */
#ifndef SIM_MAPS_H
#define SIM_MAPS_H

#include "lang/maps/rules.h"

#define SIM_MAP_BYTES 128
/* d must have passed map_check. Writes all 128 bytes. */
void sim_map_encode(const MapDesc *d, uint8_t map[SIM_MAP_BYTES]);
/* False: not a map of this simulator, or one that breaks a rule (why into text). */
bool sim_map_decode(const uint8_t map[SIM_MAP_BYTES], MapDesc *out, char *text, size_t size);

typedef enum ReplaceField { /* the fields of tensormap.replace */
    REPLACE_ADDRESS, REPLACE_RANK, REPLACE_BOX, REPLACE_DIM, REPLACE_STRIDE, REPLACE_STEP, REPLACE_TYPE, REPLACE_INTERLEAVE, REPLACE_SWIZZLE,
    REPLACE_ATOM, REPLACE_FILL, REPLACE_COUNT
} ReplaceField;
/* tensormap.replace: ordinal 0 is the innermost dimension; value as the instruction has it (PTX ISA, tensormap.replace,
 * table of new_val). 128 zero bytes are a map of which nothing is set yet. Whether the map keeps the rules is asked when
 * it is used. False: rule, text. */
bool sim_map_replace(uint8_t map[SIM_MAP_BYTES], ReplaceField part, uint32_t ordinal, uint64_t value, int *rule, char *text,
                     size_t size);

typedef struct BoxPiece {
    uint64_t global; /* address; valid if inside */
    uint32_t shared; /* byte from the start of the box's memory (swizzle applied) */
    uint8_t bytes;   /* 1 .. 16, of global memory */
    bool inside;     /* false: fill (loads), nothing (stores) */
} BoxPiece;

typedef struct BoxWalk {
    MapDesc map;         /* its mode is the instruction's: gather4 and scatter4 also work through tiled maps */
    bool load;           /* loads visit pieces outside the tensor, stores do not */
    uint32_t shared;     /* absolute shared address of the box: only its low bits matter */
    int64_t start[5];    /* innermost first, as the instruction gives them; gather4, scatter4: column, four rows */
    int64_t offset[3];   /* im2col: offsets in the instruction's order (W first); w, w128: wHalo, wOffset */
    uint32_t box_bytes;  /* what complete_tx adds, per destination */
    uint32_t span_bytes; /* bytes of shared memory from the box's start to its last byte + 1 */
    uint64_t npieces;    /* pieces are numbered 0 .. npieces - 1; piece k can be asked for in any order */
    uint32_t row_pieces; /* pieces per row of the box */
    uint64_t fill;       /* fill pattern repeated over 8 bytes */
    /* Derived. Axis 0 runs along a row; interleaved: within a slice, so that there is one more axis than dimensions. */
    int axes;
    int64_t origin[6], extent[6]; /* of the box, of the tensor: elements */
    uint64_t distance[6];         /* bytes between neighbours; not of axis 0 */
    uint32_t count[6];            /* tiles: elements that the box takes: ceil(box / stride) */
    uint8_t step[6];              /* element strides */
    int64_t begin;                /* byte of a row in global memory at which the box begins */
    uint32_t rows, row_bytes;     /* rows of the box in shared memory, their bytes without holes .. */
    uint32_t pitch;               /* .. and with them */
    uint32_t from, to;            /* bytes of a row that lie inside if its outer coordinates do */
    uint32_t cut;                 /* the unit that the tensor's end cuts in two; UINT32_MAX: none */
    uint32_t unit;                /* bytes of a row that 16 bytes of shared memory hold: 16; 8 or 12: a gap is behind */
    uint32_t swizzle_mask;        /* bits 7 .. of the address that are exchanged .. ; 0: no swizzle */
    uint32_t swizzle_shift;       /* .. into bits swizzle_shift .. */
    bool packs;                   /* stores of b6a16: 16 bytes of shared memory become 12 */
    /* im2col modes: axes 1 .. walked are walked one after the other (W, H, D; w modes: W), then the last one, N. */
    int walked;
    int64_t low[3], high[3]; /* of the pixel box */
    int64_t shift[3];        /* added to the position in it */
    uint32_t group, halo;    /* so many pixels, then so many more that are the halo */
} BoxWalk;

/* Prepares a walk. False: the copy traps or is not allowed: rule (error code), text. map: in the instruction's mode.
 * start, offset: as in BoxWalk. E1352: what the copy does is not said by the PTX ISA (SIMULATOR.md). */
bool box_begin(BoxWalk *w, const MapDesc *map, bool load, bool reduce, uint32_t shared, const int64_t *start,
               int nstart, const int64_t *offset, int noffset, int *rule, char *text, size_t size);
/* All npieces of them, in order; for stores those outside have inside == false and are skipped by the caller. */
void box_pieces(const BoxWalk *w, BoxPiece *out);
typedef struct BoxRow {
    uint32_t shared;   /* byte from the start of the box's memory, before the swizzle */
    uint32_t from, to; /* bytes of the row that lie inside; from == to: none */
    uint64_t global;   /* address of byte 0 of the row; means something for from .. to only */
} BoxRow;
/* Row r of w->rows. Its byte b stands at box_place(w, row.shared, b). */
void box_row(const BoxWalk *w, uint32_t r, BoxRow *out);
enum { BOX_CHUNK = 16 }; /* what swizzles exchange, and the step in which stores honour the inner end */
static inline uint32_t box_swizzle(const BoxWalk *w, uint32_t offset)
{
    return offset ^ (((w->shared + offset) >> 7 & w->swizzle_mask) << w->swizzle_shift);
}
static inline uint32_t box_place(const BoxWalk *w, uint32_t row, uint32_t b)
{
    if (w->unit != BOX_CHUNK) b = b / w->unit * BOX_CHUNK + b % w->unit;
    return box_swizzle(w, row + b);
}
/* Where a pixel of an im2col mode lies: coordinates by axis, from 1 on (box_im2col.c). */
void box_pixel(const BoxWalk *w, uint32_t r, int64_t at[6]);
/* Loads of tf32 change values; those of f32_ftz do not (measured). n bytes at data, whole elements. */
static inline bool box_converts(const BoxWalk *w)
{
    return (w->map.type == MAP_TF32 || w->map.type == MAP_TF32_FTZ) && w->load;
}
void box_convert(uint8_t *data, size_t n);
/* b6a16 on its way out: 16 bytes, each of 6 bits and 2 that are dropped, become 12. */
void box_pack(uint8_t out[12], const uint8_t in[BOX_CHUNK]);
/* The contiguous ranges that the copy touches, merged where neighbours follow each other; false as soon as one call of
 * `tell` is. Shared memory: inside_only for the source of a store. Global memory: what lies inside the tensor. */
bool box_shared_ranges(const BoxWalk *w, bool inside_only, bool (*tell)(void *user, uint32_t offset, uint32_t bytes),
                       void *user);
bool box_global_ranges(const BoxWalk *w, bool (*tell)(void *user, uint64_t address, uint64_t bytes), void *user);
/* The gaps behind the units of types that have them: shared memory that a load leaves without a defined value. */
bool box_gaps(const BoxWalk *w, bool (*tell)(void *user, uint32_t offset, uint32_t bytes), void *user);
/* Tiles: the range of global memory that holds all that lies inside; false: nothing does, or it can't be said in 64 bits,
 * or the box is no tile. */
bool box_hull(const BoxWalk *w, uint64_t *address, uint64_t *bytes);

/* ---- reductions (reduce.c) ---- */
#include "runtime/sim/decode/program.h"
/* dst[i] = dst[i] op src[i] over n bytes of `type` (PtxType), as the copy engine and red / atom do it: floats add with
 * one rounding to nearest even, f16 / bf16 without flushing subnormals; min / max of floats prefer numbers to NaN, and
 * -0 is below +0; inc and dec wrap at the operand. n is a multiple of the type's size. ftz: add of f32 flushes
 * subnormals. */
void sim_reduce(uint8_t *dst, const uint8_t *src, size_t n, RedOp op, PtxType type, bool ftz);
/* atom and red of one element (2, 4 or 8 bytes; packed types: both halves): gives the old bits. RED_CAS: a is compared,
 * b stored; else a is the operand. Pairs of op and type that PTX lacks leave memory as it is. */
uint64_t sim_atomic(uint8_t *at, RedOp op, PtxType type, uint64_t a, uint64_t b, bool ftz);
/* The PtxType in which a tensor reduction works on a map's element type; PTX_NO_TYPE: not allowed for this op. */
PtxType sim_reduce_type(int map_type, RedOp op);

#endif
