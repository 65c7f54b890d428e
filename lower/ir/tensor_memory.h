/* Tensor memory: what tcgen05.cp reads and writes, shared by planning, the checks of the IR, the verifier and the emitter.
 *
 * Tensor memory has 128 lanes of 512 columns of 32 bits. An instruction takes rows from shared memory, in chunks of 16 bytes,
 * and puts each row into one lane, or a lane of each of several groups of 32. Where it looks for a chunk says the 64-bit
 * descriptor (PTX ISA, Shared memory descriptor; Canonical layouts, K-major):
 *
 *   without swizzle   start + row % 8 * 16 + row / 8 * stride + chunk * lead
 *   swizzle of S      start + row % 8 * S + row / 8 * stride + chunk * 16, bits of that address exchanged as tensor maps do it
 *
 * Glossary: shape - rows and bits of an instruction; copies - lanes that get one row; lead, stride - the descriptor's leading
 * dimension and stride dimension byte offsets; format - how elements are decompressed: 16 bytes stay 16 bytes.
 */
#ifndef LOWER_IR_TENSOR_MEMORY_H
#define LOWER_IR_TENSOR_MEMORY_H

#include "lower/ir/ir.h"

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_UNIT = 32 /* columns of an allocation */, TMEM_CHUNK = 16 /* bytes */,
       TMEM_SHIFT_COLUMNS = 8, TMEM_CELL_BYTES = 4 /* the address that tc.alloc writes */ };

typedef struct TmemShape {
    const char *text;     /* "64x128b.warpx2::02_13" */
    uint8_t rows, copies;
    uint8_t columns;      /* 32-bit columns of an instruction: 4 or 8 */
} TmemShape;
const TmemShape *tmem_shape(unsigned shape);

typedef struct TmemCp { /* operands of tc.cp, and of the tc.desc by which it reads */
    uint8_t shape, format, swizzle;
    uint32_t lead, stride, step, n;
} TmemCp;
TmemCp tmem_cp(const IrKernel *k, const IrOp *op);
/* Where instruction i looks for a chunk: bytes from the source's start, before the swizzle exchanges bits of the address. */
int64_t tmem_linear(const TmemCp *c, unsigned i, unsigned row, unsigned chunk);
/* .. and behind it; `at`: the source's start, from where the swizzle's pattern begins. */
int64_t tmem_source(const TmemCp *c, int64_t at, unsigned i, unsigned row, unsigned chunk);
/* The first byte that it reads and the one behind the last. */
void tmem_reach(const TmemCp *c, int64_t at, int64_t *lo, int64_t *hi);
/* Does tcgen05 know the layout? */
bool tmem_swizzle(uint8_t swizzle, unsigned *mode);
/* The descriptor, but for the address. */
uint64_t tmem_descriptor(const TmemCp *c);

/* Columns from its first one to behind its last. */
static inline uint32_t tmem_width(const IrBuf *b)
{
    return (b->slots - 1) * b->column_pitch + b->columns;
}

typedef struct TmemUse { /* of an op: columns of a lane, and where they can begin */
    uint32_t columns, unit;
} TmemUse;
TmemUse tmem_use(const IrKernel *k, const IrOp *op);

typedef struct TmemPart { /* of a tile: pieces of so many bytes, one pitch apart; step 0: one piece */
    int64_t lo, hi, step, width;
} TmemPart;
/* What tc.cp writes, or tc.shift touches, behind the byte `at` of the tile. */
TmemPart tmem_written(const TmemCp *c, const IrBuf *b, int64_t at);
TmemPart tmem_shifted(uint32_t n, const IrBuf *b, int64_t at);

/* NULL, or what is wrong with the layout of the kernel's tensor memory, its allocation, or an op on it (ir_check). */
const char *tmem_check_objects(Arena *a, const IrKernel *k);
const char *tmem_check_kernel(Arena *a, const IrKernel *k);
const char *tmem_check_op(const IrKernel *k, const IrOp *op);
static inline bool tmem_op(IrOpcode op)
{
    return op >= IR_TC_ALLOC && op <= IR_TC_ST;
}

#endif
