/* Moves into and out of tensor memory, and within it.
 *
 *   tensor_memory.c      instructions of a move, and the proof that they are the move
 *   tensor_memory_ops.c  columns, allocation and release; the ops
 */
#ifndef LOWER_PLAN_TENSOR_MEMORY_H
#define LOWER_PLAN_TENSOR_MEMORY_H

#include "lower/ir/ir.h"
#include "lower/ir/tensor_memory.h"
#include "lower/kernel/kernel.h"
#include "lower/plan/move.h"

typedef struct CpPiece { /* one tc.cp */
    TmemCp cp;
    int64_t from, at;  /* bytes from the source's first byte, from the destination's */
    int64_t row, byte; /* the first row of the source, the first byte of a lane */
} CpPiece;
typedef struct TmemPlan {
    MoveInfo tensor, shared; /* the two sides; a shift has the first alone */
    int64_t at;              /* bytes from the tile's first to the part, but for .. */
    const Sx *start;         /* .. the element where it begins, if only the run knows that; NULL: it is in `at` */
    int64_t unit;            /* bytes: it begins at a multiple of them in the lane */
    CpPiece *piece;
    uint32_t n; /* pieces; instructions of a shift */
} TmemPlan;

/* ---- tensor_memory.c ---- */
bool tmem_plan(Lower *L, const PStmt *st, TmemPlan *p); /* false after an error */
bool tmem_threads(Lower *L, const TmemPlan *p, uint32_t threads, uint32_t *plan);
const char *tmem_text(Lower *L, const TmemPlan *p); /* for --explain-plan */
const char *tmem_threads_text(Arena *a, const IrKernel *k, uint32_t plan, bool out);
void tmem_banks(IrPlan *q, const IrSide *s, bool writes);
/* Bytes per access of shared memory. */
static inline uint32_t tmem_vector(const IrPlan *q, const IrSide *s)
{
    uint32_t size = s->pitch[q->rank - 1], row = q->extent[1] * size, at = s->pitch[0] | row | (s->align ? s->align : 16u);
    return at % 16 == 0 ? 16 : at % 8 == 0 ? 8 : 4;
}

/* ---- tensor_memory_ops.c ---- */
bool tmem_used(const Lower *L);
void tmem_buffer(Lower *L, const PTile *t);
void tmem_columns(Lower *L);             /* of each tile, and of the kernel; false after an error */
void tmem_begin(Lower *L);               /* init: allocation, in front of the barrier of threads */
void tmem_address(Lower *L);             /* .. and behind it */
void tmem_end(Lower *L, uint32_t threads); /* exit */
void tmem_fence(Lower *L, IrOrder o);    /* where the kernel has tensor memory */
void tmem_emit(Lower *L, const TmemPlan *p, Opnd from_slot, Opnd from, Opnd guard); /* tc.cp or tc.shift */
void tmem_emit_threads(Lower *L, const TmemPlan *p, uint32_t plan, Opnd slot, Opnd at, Opnd guard);

#endif
