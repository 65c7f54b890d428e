/* The shared matrix of tcgen05.cp: its descriptor, its rows, its packed formats. PTX ISA, Shared Memory Descriptor;
 * Strides; Canonical Layouts; Optional Decompression. */
#include <stdio.h>
#include <string.h>

#include "runtime/sim/tmem/tmem.h"

static uint32_t field(uint64_t bits, unsigned from, unsigned n)
{
    return (uint32_t)(bits >> from & ((UINT64_C(1) << n) - 1));
}

bool tmem_desc_decode(uint64_t bits, TmemDesc *out, bool *open, char *why, size_t size)
{
    static const int16_t spans[8] = {0, -1, 128, -1, 64, -1, 32, -1};
    uint32_t mode = field(bits, 61, 3);
    *open = false;
    *out = (TmemDesc){
        .start = field(bits, 0, 14) << 4, .lbo = field(bits, 16, 14) << 4, .sbo = field(bits, 32, 14) << 4};
    if (field(bits, 46, 3) != 1) {
        snprintf(why, size, "bits 46 .. 48 are %u, not the constant 1", (unsigned)field(bits, 46, 3));
        return false;
    }
    if (field(bits, 14, 2) || field(bits, 30, 2) || field(bits, 53, 8)) {
        snprintf(why, size, "reserved bits (14, 15, 30, 31, 53 .. 60) are not 0");
        return false;
    }
    if (mode == 3 || mode == 5 || mode == 7) {
        snprintf(why, size, "swizzle mode %u (bits 61 .. 63) does not exist", (unsigned)mode);
        return false;
    }
    *open = true;
    if (mode == 1) {
        snprintf(why, size, "128-byte swizzle with 32-byte atoms, for which the PTX ISA has no K-major layout");
        return false;
    }
    if (field(bits, 49, 3)) {
        snprintf(why, size,
                 "a base offset of %u, whose part in the address the PTX ISA does not say: start the pattern at a "
                 "multiple of "
                 "1024, 512 or 256 bytes",
                 (unsigned)field(bits, 49, 3));
        return false;
    }
    if (field(bits, 52, 1)) {
        snprintf(why, size, "an absolute leading dimension address, which the PTX ISA describes for tcgen05.mma only");
        return false;
    }
    *open = false;
    out->swizzle = (uint32_t)spans[mode];
    return true;
}

/* Core matrices of 8 rows; SBO leads from 8 rows to the next 8. Without swizzle a row of a core matrix has 16 bytes and
 * LBO leads to the next chunk; else a row has the swizzle's bytes, and 1, 2 or 3 bits of the address from bit 4 on are
 * xored with those from bit 7 on. */
uint32_t tmem_desc_chunk(const TmemDesc *d, uint32_t row, uint32_t chunk)
{
    uint32_t at = d->start + row / 8 * d->sbo;
    if (d->swizzle == 0) return at + row % 8 * 16 + chunk * d->lbo;
    at += row % 8 * d->swizzle + chunk * 16;
    uint32_t mask = d->swizzle / 16 - 1;
    return at ^ (at >> 7 & mask) << 4; /* on purpose not the compiler's thr_swizzled */
}

uint32_t tmem_chunk_bytes(int fmt)
{
    return fmt == 1 ? 12 : fmt == 2 ? 8 : 16;
}

/* 16 elements of 6 or 4 bits, the first one lowest, and padding: each goes into a byte, 6 bits into its low ones, 4
 * bits into its middle ones (PTX ISA, Packing format of matrix A in Tensor Memory). */
void tmem_decompress(const uint8_t in[16], int fmt, uint8_t out[16])
{
    if (fmt == 0) {
        memcpy(out, in, 16);
        return;
    }
    unsigned width = fmt == 1 ? 6 : 4;
    for (unsigned i = 0; i < 16; i++) {
        unsigned bit = i * width, v = (unsigned)in[bit / 8] >> bit % 8;
        if (bit % 8 + width > 8) v |= (unsigned)in[bit / 8 + 1] << (8 - bit % 8);
        v &= (1u << width) - 1;
        out[i] = (uint8_t)(fmt == 1 ? v : v << 2);
    }
}
