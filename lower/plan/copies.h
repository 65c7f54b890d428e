/* The three kinds of copies: planned first (a plan may be refused, nothing is emitted before it stands), then made.
 *
 *   choose.c     which kind a move becomes          multicast.c  the part that each CTA of a set brings
 *   tensor.c     boxes; im2col.c, gather.c          modes.c      what only some targets have
 *   bulk.c       runs of bytes                      global.c     what threads do instead
 */
#ifndef LOWER_PLAN_COPIES_H
#define LOWER_PLAN_COPIES_H

#include "lower/algebra/domain/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/kernel/report.h"
#include "lower/plan/move.h"

enum { BOX_MAX = 256 }; /* elements of a dimension; cuda.h: boxDim */

typedef struct Piece {  /* one tensor copy of a move */
    int64_t at[P_RANK]; /* elements from the move's start, per dimension of the tensor */
    int64_t offset;     /* bytes from the sub-tile's start */
} Piece;
typedef struct TensorPlan {
    uint32_t map;
    Piece *pieces;
    uint32_t npieces;
    int64_t piece_bytes; /* what one copy adds to its barrier; at most, where halo_bytes is not 0: */
    int64_t halo_bytes;  /* by each pixel of a wHalo that is known only at run time */
    uint8_t mode;  /* MapMode: im2col copies are one piece, gather4 and scatter4 have one per four rows */
    bool clamp[P_RANK];                   /* load coordinates that data decides */
    bool negative[P_RANK];                /* store starts that may be below 0: left out then */
    bool huge[P_RANK];                    /* .. or above 32 bits, beyond every tensor */
    uint32_t device;                      /* through a view that is made at run time: its DeviceMap + 1 once that is known */
} TensorPlan;
typedef struct BulkRow { /* a dimension whose elements are runs of their own */
    int dim;
    int64_t extent;
    int64_t pitch;  /* bytes in the tile from one to the next */
    bool low, high; /* may lie below, beyond the tensor: guarded */
    const PRows *rows; /* by index */
} BulkRow;
typedef struct BulkPlan {
    int fold;          /* outermost dimension of a run; those further in are taken whole */
    int64_t unit, run; /* bytes of one element of `fold` with all inside it, and of the run */
    int64_t nruns;
    bool loop;           /* over the rows */
    BulkRow *row; /* outermost first */
    int nrows;
    bool low, high;    /* the run may begin before, end after the tensor: clipped */
} BulkPlan;
typedef struct GlobalPart { /* what threads move between a tensor and a tile */
    int row;                          /* dimension of the tensor whose neighbours a vector takes */
    bool rows;                        /* whose elements lie side by side */
    uint32_t align;                   /* bytes of the widest access */
    bool low[P_RANK], high[P_RANK];   /* by dimension: some may lie below, beyond the tensor */
} GlobalPart;
typedef struct Copies { /* what a move becomes: one of the three */
    TensorPlan *t;
    BulkPlan *b;
    GlobalPart *g;     /* threads do it */
    const Refusal *no_tensor; /* why it is not the first; NULL: nobody looked */
    int64_t bytes;     /* of all copies; of threads none */
} Copies;
typedef struct CopyValues { /* of a move that becomes copies: made in front of the arrival, so that the copies follow it */
    Opnd mask;                 /* multicast: of the CTAs that get it; 0: none */
    Opnd peer;                 /* the rank whose tile a load fills, where the move says it */
    Opnd bar_rank;             /* in_pair: of the CTA that has the barrier */
    Opnd share_at, share_byte; /* this CTA's share of a multicast: elements further in the tensor, and bytes in the tile */
    Opnd slot, offset;         /* in the tile */
    Opnd start[P_RANK];        /* i32 of tensor copies, i64 of bulk copies */
    Opnd ok, bytes;            /* tensor copies: a pred; of one of them */
    Opnd info[3];              /* im2col: offsets, outermost first; w modes: wHalo, wOffset */
    int ninfo;
    Opnd pitch[P_RANK], byte;  /* bulk copies, i64: bytes from row to row, and from the tensor's address */
    Opnd lo, hi;               /* i32: bytes of the run that lie in the tensor */
    Opnd bytes_of;             /* by a byte mask: which of each 16 bytes are stored */
} CopyValues;

/* ---- choose.c ---- */
bool tile_aligned(Lower *L, const MoveInfo *mi, int align, Refusal *why); /* the part's start */
/* threads: they may do what no copy does. False after an error. */
bool choose_copy(Lower *L, MoveInfo *mi, bool threads, Copies *out);
void copies_values(Lower *L, const MoveInfo *mi, const Copies *c, CopyValues *v); /* all but what other CTAs have to do with it */
void copies_emit(Lower *L, const MoveInfo *mi, const Copies *c, const CopyValues *v, uint32_t bar, Opnd bar_slot);

/* ---- multicast.c ---- */
/* Each CTA of a multicast brings a part where the layout's pattern stays whole: mi becomes that part. False after an
 * error. */
bool plan_multicast(Lower *L, MoveInfo *mi);
Opnd multicast_values(Lower *L, const MoveInfo *mi, CopyValues *v); /* a pred: does this CTA bring anything? */

/* ---- tensor.c ---- */
bool tensor_plan(Lower *L, MoveInfo *mi, TensorPlan *out, Refusal *why);
Opnd tensor_bytes(Lower *L, const MoveInfo *mi, const TensorPlan *p); /* of all copies of the move */
void tensor_values(Lower *L, const MoveInfo *mi, const TensorPlan *p, CopyValues *v);
void tensor_emit(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, uint32_t bar, Opnd bar_slot);
/* What copies of all modes share. */
bool tensor_layout(Lower *L, const MoveInfo *mi, Refusal *why);       /* the map's is the tile's */
bool tensor_contiguous(Lower *L, const MoveInfo *mi, Refusal *why);   /* the innermost dimension; and whole bytes */
bool tensor_one_piece(Lower *L, const MoveInfo *mi, Refusal *why);    /* the part is contiguous, one panel wide */
bool tensor_inner_start(Lower *L, const MoveInfo *mi, Refusal *why);
bool tensor_stored_extent(Lower *L, const MoveInfo *mi, Refusal *why);
bool tensor_before_far(Lower *L, const MoveInfo *mi, int d, Refusal *why);
/* One that fits 32 bits; `last`: what is added to it at most. */
bool tensor_coordinate(Lower *L, const MoveInfo *mi, int d, int64_t last, TensorPlan *out, Refusal *why);
void tensor_op(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, const Opnd *at, int n, Opnd byte, uint32_t bar, Opnd bar_slot);

/* ---- im2col.c: copies from a base pixel on; gather.c: of four rows by index ---- */
bool im2col_plan(Lower *L, const MoveInfo *mi, TensorPlan *out, Refusal *why);
void im2col_values(Lower *L, const MoveInfo *mi, CopyValues *v);
Opnd im2col_bytes(Lower *L, const MoveInfo *mi, const TensorPlan *p); /* where halo_bytes is not 0 */
int64_t im2col_pixels(const PMove *mv); /* of the tile */
/* Through an im2col map without offsets: its pixels by number, and channels. */
bool im2col_numbers(Lower *L, const MoveInfo *mi, DomBox *out);
bool gather_plan(Lower *L, const MoveInfo *mi, TensorPlan *out, Refusal *why);
/* Number of the row that row `index` of dimension d is, where the move picks rows by index. */
Opnd move_row(Lower *L, const MoveInfo *mi, int d, const CopyValues *v, Opnd index);
void gather_emit(Lower *L, const MoveInfo *mi, const TensorPlan *p, const CopyValues *v, uint32_t bar, Opnd bar_slot);

/* ---- modes.c ---- */
bool mode_known_view(Lower *L, const MoveInfo *mi, Refusal *why);
bool target_copies(Lower *L, const MoveInfo *mi, Refusal *why); /* the target has the map's mode for this move */
/* Then why says so; instead: what would do on this target. */
bool mode_lacks(Lower *L, Feature f, Span at, const char *what, const char *instead, Refusal *why);

/* ---- global.c: by threads ---- */
bool global_plan(Lower *L, const MoveInfo *mi, GlobalPart *g, Refusal *why);
void global_side(const MoveInfo *mi, const GlobalPart *g, const IrPlan *q, IrSide *s); /* q: its shape is known */
void global_emit(Lower *L, const MoveInfo *mi, const GlobalPart *g, uint32_t plan);

/* ---- bulk.c ---- */
bool bulk_plan(Lower *L, MoveInfo *mi, BulkPlan *out, Refusal *why);
void bulk_values(Lower *L, const MoveInfo *mi, const BulkPlan *p, CopyValues *v);
void bulk_emit(Lower *L, const MoveInfo *mi, const BulkPlan *p, const CopyValues *v, uint32_t bar, Opnd bar_slot);

#endif
