/* Tensor memory as the PTX ISA describes it, in plain loops; used by expect.c. A matrix of tensor memory is an array of
 * 32-bit words, lane by lane, `pitch` columns each. Nothing of this is the simulator's. */
#ifndef TESTS_SIM_TENSOR_REFERENCE_H
#define TESTS_SIM_TENSOR_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TensorSource { /* shared memory from a multiple of 1024 bytes on, and a descriptor's fields */
    const unsigned char *bytes;
    int64_t n;
    int64_t start, lbo, sbo, swizzle; /* bytes */
} TensorSource;

/* tcgen05.cp: shape as it is written ("64x128b.warpx2::01_23"), format "none", "b4x16_p64", "b6x16_p32". False: no such
 * shape or format, or it reaches outside. */
bool tensor_cp(const char *shape, const char *format, const TensorSource *s, uint32_t *matrix, int64_t pitch,
               int64_t lane, int64_t column);
/* tcgen05.shift.down */
bool tensor_shift(uint32_t *matrix, int64_t pitch, int64_t lane, int64_t column);
/* tcgen05.ld (store false) or .st of one warp: regs[thread * n + register]. half: columns to the second access of
 * 16x32bx2. Of cells that are stored by .unpack::16b the low halves change. */
bool tensor_move(const char *shape, bool packed, int64_t half, bool store, uint32_t *regs, int64_t n, uint32_t *matrix,
                 int64_t pitch, int64_t lane, int64_t column);

#endif
