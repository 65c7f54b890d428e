/* Work by threads as PTX.
 *
 * emit_threads.c   loops over units, addresses, loads and stores
 * emit_convert.c   what happens in registers: transposing words, converting elements, adding
 *
 * Data is held in 32-bit words as it lies in shared memory; elements of less than 4 bytes that are moved alone stand in
 * the low bits of a word whose other bits mean nothing.
 */
#ifndef PTXGEN_EMIT_THREADS_H
#define PTXGEN_EMIT_THREADS_H

#include "lower/ir/thread_work.h"
#include "ptxgen/emit.h"

typedef struct ThrData {  /* rows of words */
    uint32_t rows, words; /* words per row */
    Opnd v[THR_WORDS];
} ThrData;

/* The unit's elements as the destination has them: transposed, converted. */
void ptx_thr_convert(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrData *in, ThrData *out);
/* value += what was there before. */
void ptx_thr_add(PtxWriter *w, ElemType type, ThrData *value, const ThrData *before);

#endif
