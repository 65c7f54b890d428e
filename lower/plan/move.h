/* A move taken apart: which part of the tensor, which part of the tile, how that lies in shared memory. */
#ifndef LOWER_PLAN_MOVE_H
#define LOWER_PLAN_MOVE_H

#include "lower/algebra/domain/domain.h"
#include "lower/kernel/kernel.h"

#define SMEM_TMA_ALIGN 128 /* CUDA guide: shared address of a tensor copy */
#define SMEM_BULK_ALIGN 16
#define PIECES_MAX 256                    /* copies that one move may become */
#define COPIES_UNROLLED 8                 /* bulk copies of one move above this number become a loop over its rows */
#define TX_LIMIT ((INT64_C(1) << 20) - 1) /* PTX ISA, mbarrier: range of the tx-count */

typedef struct RingPlace { /* where a ring has the tile in the turn at hand */
    bool set;
    Opnd slot;
    Opnd inner;       /* which of the slot's tiles; those of an array by the move's own slot */
    uint32_t pitch;   /* bytes from tile to tile within the slot */
} RingPlace;

typedef struct Pair { /* a dimension of the tile that is moved, innermost last */
    int tensor_dim, tile_dim;
    int64_t extent;
} Pair;
typedef enum Hint { HINT_NONE, HINT_LAST, HINT_FIRST } Hint; /* derived cache policies */
typedef struct MoveInfo {
    const PMove *mv;
    const PStmt *stmt;
    PTensor *tensor;
    PTile *tile;
    const PRegion *g, *s; /* the tensor's side, the tile's side */
    bool load;
    int bits;           /* of an element in global memory; packed types are the only ones below 8 */
    int sbits;          /* in shared memory */
    int rank;           /* of the tensor */
    Poly start[P_RANK]; /* elements */
    int64_t extent[P_RANK], step[P_RANK];
    Pair pair[P_RANK];
    int npairs;
    /* the tile's side */
    int64_t span;               /* of the swizzle in bytes, 0 without */
    int64_t rows;               /* of a panel */
    int64_t pitch_bits[P_RANK]; /* from neighbour to neighbour per dimension of the tile */
    Poly offset;                /* bytes from the slot's start */
    RingPlace ring;
    int64_t slot_const; /* -1: not a constant */
    bool sliced;        /* begins within a panel's row, at a multiple of 16 bytes: tcgen05.cp alone reads that */
    int64_t bytes;      /* that the move puts into, or takes out of, the tile */
    DomBox gbox, sbox;  /* elements touched; gbox in the base tensor's dimensions where has_gbox */
    bool has_gbox;
    bool prefetch;
    Hint hint;
    Opnd bytes_of;      /* by a byte mask: which of each 16 bytes are stored */
    Opnd mask;          /* multicast: of the CTAs that get it; 0: none */
    bool open_mask;     /* it is known only at run time */
    uint8_t from[16];   /* multicast by a mask: how many CTAs send to each rank */
    bool to_peer;       /* a load into the tile of the CTA of rank `peer` */
    Opnd peer;
    bool in_pair;       /* the barrier is that of the CTA `bar_rank` of the pair: .cta_group::2 */
    Opnd bar_rank;
    int share_dim;      /* multicast: this CTA brings a part that begins share_at elements further in this dimension */
    Opnd share_at, share_byte; /* of the tensor, and bytes of the tile */
    int64_t past[P_RANK]; /* the most that share_at can be in this dimension: extent is that of one part */
} MoveInfo;

typedef struct Shares { /* of a multicast */
    int64_t n;           /* CTAs that bring a part each; 1: one brings all */
    int64_t step, bytes; /* elements and bytes from share to share, in the outermost dimension */
    int dim;             /* of the tensor */
} Shares;

/* ---- regions.c ---- */
bool region_tile(Lower *L, const PStmt *st, const PRegion *s, MoveInfo *mi); /* the tile's side alone */
bool region_resolve(Lower *L, const PStmt *st, MoveInfo *mi); /* false after an error */
Opnd region_offset(Lower *L, MoveInfo *mi);
Opnd region_slot(Lower *L, MoveInfo *mi);
int64_t move_width(const MoveInfo *mi, int d); /* how far apart the first and the last element in a dimension are, and 1 */

static inline bool is_im2col(const PMove *mv)
{
    return mv->map && map_is_im2col(mv->map->mode);
}
static inline bool is_rows4(const PMove *mv)
{
    return mv->map && map_is_rows4(mv->map->mode);
}

#endif
