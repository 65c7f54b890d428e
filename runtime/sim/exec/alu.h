/* What the arithmetic of the simulator and the decoder that makes its operations agree on.
 *
 * alu.c: integers, bits, integer comparison, and the common float operations; alu_float.c: floats in every format and
 * rounding; alu_cvt.c: conversion. alu.def says what each operation's fields hold.
 *
 * Floats: results are rounded once, exactly as the PTX ISA says. f32, f16 and bf16 give the canonical NaN (sign 0, all
 * other bits 1); f64 gives the operand that is NaN, made quiet (measured on an H200). Operations that the ISA calls
 * approximate (.approx, .full, sin, cos, lg2, ex2, tanh, rsqrt) are computed by the C library and rounded to nearest:
 * within the ISA's error bounds, not bit for bit a GPU's.
 */
#ifndef SIM_ALU_H
#define SIM_ALU_H

#include "runtime/sim/decode/program.h"

enum { /* SimOp.flags of float operations */
       FLAG_RN = 0,
       FLAG_RZ = 1,
       FLAG_RM = 2,
       FLAG_RP = 3,
       FLAG_RNA = 4, /* to nearest, ties away from zero */
       FLAG_ROUND = 7,
       FLAG_INTEGRAL = 8, /* .rni .rzi .rmi .rpi: to an integral value */
       FLAG_FTZ = 16,
       FLAG_SAT = 32,
       FLAG_RELU = 64,
       FLAG_NAN = 128,      /* min, max */
       FLAG_SATFINITE = 128 /* cvt */
};

typedef enum AluCompare { /* SimOp.flags of comparisons */
                          CMP_EQ,
                          CMP_NE,
                          CMP_LT,
                          CMP_LE,
                          CMP_GT,
                          CMP_GE,
                          CMP_EQU, /* the same, or one is NaN */
                          CMP_NEU,
                          CMP_LTU,
                          CMP_LEU,
                          CMP_GTU,
                          CMP_GEU,
                          CMP_NUM,
                          CMP_NAN
} AluCompare;

typedef enum AluType { /* PtxType goes on with the types that only arithmetic has */
                       ALU_U16X2 = PTX_NO_TYPE + 1,
                       ALU_S16X2,
                       ALU_TF32,
                       ALU_E4M3X2,
                       ALU_E5M2X2,
                       ALU_TYPE_COUNT
} AluType;

/* A float format: 1 sign bit, exponent, mantissa, as IEEE 754 arranges them. */
typedef struct FloatFormat {
    uint8_t mantissa, exponent;
} FloatFormat;
extern const FloatFormat FORMAT_F16, FORMAT_BF16, FORMAT_F32, FORMAT_F64;

/* (-1)^negative * (m * 2^e, and a little more if sticky) in the format, rounded by FLAG_RN .. FLAG_RNA. m may be 0. */
uint64_t float_pack(FloatFormat f, bool negative, uint64_t m, int e, bool sticky, int rounding);
/* x in the format; NaN: the canonical one. */
uint64_t float_from_double(FloatFormat f, double x, int rounding);
double float_f16(uint64_t bits);
double float_bf16(uint64_t bits);

bool alu_float(const SimOp *op, uint64_t *slot); /* alu_float.c's opcodes; false: none of them */
bool alu_cvt(const SimOp *op, uint64_t *slot);   /* alu_cvt.c's */
/* One element of a type (not packed) as a double; FTZ applied. F64: itself. */
double alu_load(int type, uint64_t bits, bool ftz);
uint64_t alu_store(int type, double x, int flags); /* rounded; FTZ, SAT, RELU applied */
bool alu_compare_float(AluCompare how, double a, double b);

uint64_t alu_nan(uint64_t a, uint64_t b, uint64_t c); /* f64: b, c or a, the first that is NaN; none: the default */

static inline float alu_f32(uint64_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = {.u = (uint32_t)bits};
    return v.f;
}
static inline uint64_t alu_f32_bits(float f)
{
    union {
        float f;
        uint32_t u;
    } v = {.f = f};
    return f != f ? 0x7fffffffu : v.u;
}
static inline double alu_f64(uint64_t bits)
{
    union {
        uint64_t u;
        double f;
    } v = {.u = bits};
    return v.f;
}
static inline uint64_t alu_f64_bits(double f)
{
    union {
        double f;
        uint64_t u;
    } v = {.f = f};
    return v.u;
}
/* x, the result of an operation on a, b, c. */
static inline uint64_t alu_f64_nan(double x, uint64_t a, uint64_t b, uint64_t c)
{
    return x != x ? alu_nan(a, b, c) : alu_f64_bits(x);
}

#endif
