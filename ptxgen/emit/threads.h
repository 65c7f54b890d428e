/* Work by threads as PTX.
 *
 * threads.c        loops over units, addresses, loads and stores
 * global.c         the side of a plan that lies in global memory
 * registers.c moves from tensor to tensor whose tile stays in registers
 * convert.c        what happens in registers: transposing words, converting elements, adding
 *
 * Data is held in 32-bit words as it lies in shared memory; elements of less than 4 bytes that are moved alone stand in
 * the low bits of a word whose other bits mean nothing.
 */
#ifndef PTXGEN_EMIT_THREADS_H
#define PTXGEN_EMIT_THREADS_H

#include "lower/ir/thread_work.h"
#include "ptxgen/emit/emit.h"

typedef struct ThrData {  /* rows of words */
    uint32_t rows, words; /* words per row */
    Opnd v[THR_WORDS];
} ThrData;

/* From the tensor of a thr.load to that of a thr.store, by a plan of both sides. */
void ptx_thr_through(PtxWriter *w, const IrPlan *p, const IrOp *load, const IrOp *store);

/* The unit's elements as the destination has them: transposed, converted. */
void ptx_thr_convert(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrData *in, ThrData *out);
/* The elements of units that are added: each in a register, as wide as sums are. */
typedef struct ThrSum {
    Opnd v[2 * THR_WORDS];
} ThrSum;
/* One more part; the first one begins the sum. */
void ptx_thr_sum(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrData *in, bool first, ThrSum *sum);
/* .. as the destination has it, rounded once. */
void ptx_thr_summed(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrSum *sum, ThrData *out);
/* value += what was there before. */
void ptx_thr_add(PtxWriter *w, ElemType type, ThrData *value, const ThrData *before);

typedef struct ThrBox { /* what of a tensor is moved */
    const IrPlan *p;
    const IrSide *s;
    Opnd from, pitch[MAP_RANK];         /* b64; pitches may be numbers */
    Opnd low[MAP_RANK], high[MAP_RANK]; /* empty: nothing lies outside there */
    uint32_t bits;                      /* that registers with places may have */
    Opnd at, x[MAP_RANK];               /* such a register and its coordinates; empty: none were computed yet */
    uint32_t run;                       /* rotated rows, in bytes; where the tensor's begin and end there, and the words that are its as a whole */
    Opnd first, end, whole;
} ThrBox;
void ptx_thr_box(PtxWriter *w, const IrOp *op, const IrPlan *p, ThrBox *out);
/* The address that a place in the box stands for; inside: a predicate, empty: it surely is. */
Opnd ptx_thr_place(PtxWriter *w, ThrBox *b, Opnd lin, int64_t off, Opnd *inside);
typedef struct ThrSpot { /* where a unit of a rotated row lies */
    Opnd at, inside;     /* as of a place */
    Opnd by;             /* bytes from its place, on both sides */
    Opnd mine;           /* it gives elements of the tile their values; empty: it surely does */
} ThrSpot;
void ptx_thr_rotated(PtxWriter *w, ThrBox *b, bool words, Opnd lin, int64_t off, ThrSpot *out);
/* One access; what a load does not find are zeros. */
void ptx_thr_global(PtxWriter *w, Opnd inside, const char *mnemonic, bool store, Opnd at, Opnd data, const Opnd *words, uint32_t n);

#endif
