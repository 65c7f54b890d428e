/* Every rule of tensor maps, as a pure function of a logical descriptor.
 *
 * Used by the checker (fields that are constants), the runtime (before the driver is called, which answers every
 * violation with the same CUDA_ERROR_INVALID_VALUE) and the simulator. All rules that a map breaks are reported,
 * with the values. Sources: cuda.h (cuTensorMapEncodeTiled / Im2col / Im2colWide), PTX ISA "Tensors". Rules are named
 * T01 .. T18 (the descriptor, in the order of cuda.h's parameters) and D01 .. D04 (copies: shared address, swizzle
 * pattern, 16-byte units, where the map may live).
 */
#ifndef LANG_MAP_RULES_H
#define LANG_MAP_RULES_H

#include "lang/diag/diag.h"
#include "lang/lang.h"

/* Values are those of cuda.h's enums. */
typedef enum MapType {
    MAP_U8, MAP_U16, MAP_U32, MAP_S32, MAP_U64, MAP_S64, MAP_F16, MAP_F32, MAP_F64, MAP_BF16,
    MAP_F32_FTZ, MAP_TF32, MAP_TF32_FTZ, MAP_U4_ALIGN8, MAP_U4_ALIGN16, MAP_U6_ALIGN16, MAP_TYPE_COUNT
} MapType;
typedef enum MapInterleave { MAP_INTERLEAVE_NONE, MAP_INTERLEAVE_16B, MAP_INTERLEAVE_32B } MapInterleave;
typedef enum MapSwizzle {
    MAP_SWIZZLE_NONE, MAP_SWIZZLE_32B, MAP_SWIZZLE_64B, MAP_SWIZZLE_128B,
    MAP_SWIZZLE_128B_ATOM_32B, MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, MAP_SWIZZLE_128B_ATOM_64B
} MapSwizzle;
typedef enum MapL2 { MAP_L2_NONE, MAP_L2_64B, MAP_L2_128B, MAP_L2_256B } MapL2;
static inline MapL2 map_l2(int64_t bytes) /* MAP_L2_NONE: there is none of so many */
{
    return bytes == 64 ? MAP_L2_64B : bytes == 128 ? MAP_L2_128B : bytes == 256 ? MAP_L2_256B : MAP_L2_NONE;
}
typedef enum MapFill { MAP_FILL_ZERO, MAP_FILL_NAN } MapFill;
typedef enum MapMode {
#define MODE(id, ...) MAP_##id,
#include "lang/modes.def"
#undef MODE
    MAP_MODE_COUNT
} MapMode;

/* ---- modes: modes.def ---- */
typedef enum MapKind { MAP_BOX, MAP_PIXELS, MAP_FOUR_ROWS } MapKind;
typedef enum LoadTo { LOAD_CTA, LOAD_CLUSTER, LOAD_MULTICAST, LOAD_KINDS } LoadTo;
typedef struct MapModeInfo {
    const char *word, *ptx;
    MapKind kind;
    int16_t pixels, halo_rows, halo_most;
    InstrForm load[LOAD_KINDS], prefetch, store, reduce; /* FORM_COUNT: there is none */
} MapModeInfo;
const MapModeInfo *map_mode(unsigned mode); /* of a number that is no mode: that of boxes */
static inline bool map_is_im2col(unsigned mode) { return map_mode(mode)->kind == MAP_PIXELS; }
static inline bool map_is_wide(unsigned mode) { return map_mode(mode)->halo_rows > 0; } /* im2col with a halo, along W alone */
static inline bool map_is_rows4(unsigned mode) { return map_mode(mode)->kind == MAP_FOUR_ROWS; }
/* Pixels that a copy brings with that wHalo, where the map says `pixels`. */
int64_t map_pixels(unsigned mode, int64_t pixels, int64_t halo);
enum { MAP_W_OFFSET_MOST = 31 };   /* PTX ISA, Tensors, im2col::w: greatest wOffset */
int64_t map_offset_most(int rank); /* PTX ISA, Tensors, im2col mode: of an offset; its bits shrink with the spatial dimensions */

#define MAP_RANK 5
#define MAP_UNKNOWN INT64_MIN /* a field whose value is not known yet: rules that need it are skipped */

/* All arrays outermost dimension first, as in .tile (the driver's are innermost first). */
typedef struct MapDesc {
    MapMode mode;
    int type; /* MapType */
    int rank;
    int64_t address;              /* bytes */
    int64_t dim[MAP_RANK];        /* elements */
    int64_t pitch[MAP_RANK];      /* bytes between neighbours; the innermost entry is ignored */
    int64_t box[MAP_RANK];        /* elements (tiled modes); gather4 and scatter4: [4, c] as in .tile, or [1, c] as encoded */
    int64_t elem_stride[MAP_RANK];/* traversal strides, 1..8 */
    int interleave, swizzle, l2, fill;
    int64_t lower[3], upper[3];   /* im2col: rank - 2 values, outermost (D) first; im2col_w, w128: one, for W */
    int64_t channels, pixels;     /* im2col */
    int sm;                       /* compute capability * 10 of the target or GPU; 0: unknown */
    bool is_store;                /* used by a store or reduction (T11, lower >= 0 and upper <= 0, triton#11583 rule) */
    bool is_load;
} MapDesc;

/* What a rule is about, for the caller to find the place in the source or the argument. */
typedef enum MapField {
    MAPF_TYPE, MAPF_RANK, MAPF_ADDRESS, MAPF_DIM, MAPF_PITCH, MAPF_BOX, MAPF_STRIDE, MAPF_INTERLEAVE, MAPF_SWIZZLE,
    MAPF_L2, MAPF_FILL, MAPF_LOWER, MAPF_UPPER, MAPF_CHANNELS, MAPF_PIXELS,
    MAPF_START, MAPF_SHARED, MAPF_OFFSET, MAPF_HALO /* of a copy */
} MapField;
typedef struct MapBreach {
    ErrorCode code; /* one per rule, E04xx */
    const char *rule_id; /* "T07" */
    MapField field;
    int index;           /* dimension, outermost first; -1 where it is not about one */
    char text[200];      /* which value, which limit */
} MapBreach;
/* Calls `report` for each rule broken; returns how many. Unknown fields break nothing. */
int map_check(const MapDesc *d, void (*report)(void *user, const MapBreach *b), void *user);

/* One copy through a map: the operands that have rules of their own. All MAP_UNKNOWN where not known or not there. */
typedef struct MapCopy {
    int64_t start[MAP_RANK]; /* coordinates, outermost first */
    int64_t shared;          /* address in shared memory, bytes */
    int64_t offset[3];       /* im2col: rank - 2 values, outermost (D) first */
    int64_t halo, halo_offset; /* im2col_w, im2col_w128: wHalo, wOffset */
} MapCopy;
/* As map_check, for what a copy through a sound map must keep: D01, D03, T17, and store starts. */
int map_check_copy(const MapDesc *d, const MapCopy *c, void (*report)(void *user, const MapBreach *b), void *user);

/* Of a map of a tensor: of an interleaved one the innermost dimension is what a slice holds, and no dimension of the map. */
static inline int map_rank(int tensor_rank, int interleave)
{
    return interleave == MAP_INTERLEAVE_NONE ? tensor_rank : tensor_rank - 1;
}
/* D, H and W of a tensor that an im2col map describes, those of them that there are. */
static inline int map_spatial(int tensor_rank, int interleave)
{
    return map_rank(tensor_rank, interleave) - 2;
}
/* Which dimension of the map lower[0] and upper[0] are of; the others follow. */
int map_first_corner(MapMode mode, int interleave, int rank);
/* Bytes of a slice; 0: not interleaved. */
int64_t map_slice_bytes(int interleave);

/* Bits of an element in global and in shared memory (packed types with gaps: 8); 0 for an unknown type. */
int map_global_bits(int map_type);
int map_shared_bits(int map_type);

/* Bytes that one copy of the box writes to shared memory and adds to the barrier (PTX: the full box, also where
 * parts lie outside; im2col_w without its halo), and bytes that it occupies there (pitch = swizzle span when the box
 * is narrower). MAP_UNKNOWN if a field that they need is. */
int64_t map_tx_bytes(const MapDesc *d);
/* The same of one copy with that wHalo: im2col_w brings as many pixels more, im2col_w128 four times as many, behind every 32. */
int64_t map_copy_bytes(const MapDesc *d, int64_t halo);
int64_t map_smem_bytes(const MapDesc *d);
int64_t map_copy_room(const MapDesc *d, int64_t halo); /* .. that one copy with that wHalo occupies */
/* Bytes of the swizzle span (0 without swizzle) and alignment at which its pattern starts (128 without: D01). */
int swizzle_span(int map_swizzle);
int swizzle_align(int map_swizzle);
/* Bytes of which the address and the pitches in global memory are multiples: 32 where the layout reads it in such units, else 16 (T05, T07). */
int map_global_align(int map_type, int interleave);

#endif
