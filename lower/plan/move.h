/* A move taken apart: which part of the tensor, which part of the tile, how that lies in shared memory. */
#ifndef LOWER_PLAN_MOVE_H
#define LOWER_PLAN_MOVE_H

#include "lang/limits.h"
#include "lower/algebra/domain/domain.h"
#include "lower/kernel/kernel.h"

#define SMEM_TMA_ALIGN 128 /* CUDA guide: shared address of a tensor copy */
#define SMEM_BULK_ALIGN 16
#define PIECES_MAX 256                    /* copies that one move may become */
#define COPIES_UNROLLED 8                 /* bulk copies of one move above this number become a loop over its rows */

typedef struct RingPlace { /* where a ring has its tile in the turn at hand */
    Opnd slot;
    bool batch;     /* the slot has one for each iteration of the batch; those of an array are found by the move's own slot */
    uint32_t pitch; /* bytes from tile to tile within the slot */
} RingPlace;

typedef struct Shares { /* of a multicast: this CTA brings a part, regions are those of one part */
    int64_t n;           /* CTAs that bring a part each; 1: one brings all */
    int64_t step, bytes; /* elements and bytes from share to share, in the outermost dimension */
    int dim;             /* of the tensor; -1: one brings all */
} Shares;
typedef struct Peers { /* what other CTAs have to do with a move */
    Shares shares;
    bool open_mask; /* multicast: the mask is known only at run time */
    bool in_pair;   /* the barrier may be that of the other CTA of the pair: .cta_group::2 */
    bool by_turn;   /* the index of a loop says whose tile it is */
    bool open;      /* under a condition that only the run knows: the same in all of them */
    uint16_t to[RANKS_MAX];  /* those that each one sends to */
    uint8_t from[RANKS_MAX]; /* how many send to each */
} Peers;

typedef struct Pair { /* a dimension of the tile that is moved, innermost last */
    uint8_t tensor_dim, tile_dim;
} Pair;
typedef enum Hint { HINT_NONE, HINT_LAST, HINT_FIRST } Hint; /* derived cache policies */
typedef struct MoveInfo { /* what can be asked of the tile, or of the regions, is not kept here */
    const PMove *mv;
    const PStmt *stmt;
    PTensor *tensor;
    PTile *tile;
    const PRegion *g, *s; /* the tensor's side, the tile's side */
    Poly *start;        /* elements, by dimension of the tensor */
    Poly *at;           /* .. of the tile */
    Poly offset;        /* bytes from the slot's start */
    int64_t slot_const; /* -1: not a constant */
    int64_t bytes;      /* that the move puts into, or takes out of, the tile */
    Peers *peers;       /* move_peers(); NULL: none */
    int bits;           /* of an element in global memory; packed types are the only ones below 8 */
    int sbits;          /* in shared memory */
    int rank;           /* of the tensor */
    int npairs;
    Pair pair[P_RANK];
    bool load, prefetch;
    bool sliced;        /* begins within a panel's row, at a multiple of 16 bytes: tcgen05.cp alone reads that */
    Hint hint;
} MoveInfo;

/* ---- regions.c ---- */
bool region_tile(Lower *L, const PStmt *st, const PRegion *s, MoveInfo *mi); /* the tile's side alone */
bool region_resolve(Lower *L, const PStmt *st, MoveInfo *mi); /* false after an error */
Opnd region_offset(Lower *L, const MoveInfo *mi);
Opnd region_slot(Lower *L, const MoveInfo *mi);
/* Elements touched by all CTAs that bring a share, as far as the walk has come: in the base tensor's dimensions; false where
 * the view has others. And those of the tile. */
bool region_box(Lower *L, const MoveInfo *mi, DomBox *box);
void region_part(Lower *L, const MoveInfo *mi, DomBox *box);
const Pair *move_pair(const MoveInfo *mi, int d); /* the dimension of the tensor, and its one of the tile; NULL: it is not moved along */
int64_t move_step(const MoveInfo *mi, int d);  /* from element to element in a dimension of the tensor: the map's, where that has one */
int64_t move_width(const MoveInfo *mi, int d); /* how far apart the first and the last element are, and 1 */
/* How a tile lies: row-major, or in panels as wide as the swizzle's span, one behind the other. */
int64_t tile_span(const PTile *t);       /* bytes; 0: there are no panels */
int64_t tile_panel_rows(const PTile *t); /* 0: the same */
int64_t tile_pitch_bits(const PTile *t, int d); /* from neighbour to neighbour; along a row, from panel to panel */

/* ---- multicast.c ---- */
extern const Peers NO_PEERS;
Peers *peers_new(Lower *L, MoveInfo *mi); /* to be changed */
static inline const Peers *move_peers(const MoveInfo *mi)
{
    return mi->peers ? mi->peers : &NO_PEERS;
}
static inline int64_t move_past(const MoveInfo *mi, int d) /* what the last share is further in than the first */
{
    const Shares *s = &move_peers(mi)->shares;
    return d == s->dim ? (s->n - 1) * s->step : 0;
}

static inline bool is_im2col(const PMove *mv)
{
    return mv->map && map_is_im2col(mv->map->mode);
}
static inline bool is_rows4(const PMove *mv)
{
    return mv->map && map_is_rows4(mv->map->mode);
}

#endif
