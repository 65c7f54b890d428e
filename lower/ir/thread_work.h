/* Work by threads: what an IrPlan whose method is chosen means. The threads of a role move a part of a shared tile to another
 * one; for the emitter and whoever counts, here is the work as boxes of units (ThrWork).
 *
 * Both layouts are taken apart until every piece is a box: addresses are sums of digit x step, where the digits are
 * those of the unit's number in a mixed base. Thread t of T takes units t, t + T, t + 2T, ... What does not divide
 * evenly (edges of panels, of vectors, of blocks) becomes a piece of its own, so that no unit is ragged.
 *
 * Glossary: unit - what a thread moves at a time; wide, tall - its elements along the source's rows and columns;
 * skew - the digit of the block's column is exchanged for its XOR with that of the block's row, so that neighbouring
 * lanes walk along diagonals; wavefront - shared memory serves up to 32 different banks of 4 bytes at a time; matrix -
 * 8 rows of 16 bytes, whose addresses 8 lanes give (ldmatrix, stmatrix).
 *
 * Sums: a unit has its place in each of the source's parts, which lie evenly apart.
 *
 * Rotated rows: word j of a row of `run` bytes that begins s bytes behind a line of memory is the one at byte 4 j - s, and what would lie in
 * front of the row lies at its end: so the words of a warp are those of whole lines. A word that the row's ends, or the borders of
 * the tensor, cut is left out, and its elements are moved one by one: a second piece has, for each row, those of THR_CUTS such words. Where
 * a unit lies is said by its place in the row that is not rotated, and on both sides by as many bytes from there.
 */
#ifndef LOWER_IR_THREAD_WORK_H
#define LOWER_IR_THREAD_WORK_H

#include "lower/ir/ir.h"

typedef enum ThrMethod {
    THR_VECTOR, /* rows as they lie, or reversed: `wide` elements at a time */
    THR_BLOCK,  /* transposes a block of wide x tall elements in registers */
    THR_MATRIX, /* transposes with ldmatrix and stmatrix: 8 x 8 elements of 2 bytes, 16 x 16 of 1 byte */
    THR_ROTATED /* rows that begin anywhere in global memory, by the words that lie there */
} ThrMethod;

enum { THR_SRC, THR_DST, THR_SIDES };
enum { THR_DIGITS = 16, THR_PIECES = 32, THR_WORDS = 32 /* of a unit, each side */, THR_PARTS = 64 /* that are added */ };
enum { THR_CUTS = 4 /* by the row's ends, the tensor's high border, its low one; one of none, as it is a power of two */, THR_LINE = 128 };

typedef struct ThrDigit {
    uint32_t n;              /* values */
    int64_t step[THR_SIDES]; /* bytes from one to the next */
} ThrDigit;
typedef struct ThrPiece {
    uint8_t method; /* ThrMethod */
    uint8_t wide, tall;
    uint8_t matrices; /* THR_MATRIX: per instruction; a unit is a row of one, 8 * matrices lanes give addresses */
    uint8_t bytes[THR_SIDES]; /* per access */
    uint8_t
        rows[THR_SIDES]; /* of a unit: the source's lie along `tall`, those of a transposed destination along `wide` */
    uint8_t access[THR_SIDES]; /* per row, one behind the other */
    int8_t skew_by, skewed;    /* digits; -1: none */
    uint32_t run; /* THR_ROTATED: bytes of a row; units of less than 4 bytes are those of words that are cut */
    uint32_t ndigits;
    ThrDigit digit[THR_DIGITS];  /* the fastest first */
    uint32_t units;              /* product of the digits */
    int64_t start[THR_SIDES];    /* bytes from the part's first byte */
    int64_t row_step[THR_SIDES]; /* bytes from row to row of a unit */
} ThrPiece;
typedef struct ThrWork {
    uint32_t n;
    ThrPiece piece[THR_PIECES];
} ThrWork;

typedef struct ThrSide { /* of a plan, with its own extents; a sum's source has the dimension that is added along, too */
    const IrSide *s;
    uint32_t rank, extent[MAP_RANK + 1], pitch[MAP_RANK + 1];
} ThrSide;
uint32_t thr_element_bytes(const IrSide *s);
ThrSide thr_side(const IrPlan *p, bool source);
int64_t thr_side_bytes(const ThrSide *x); /* from the first element to behind the last one, as far as the pitches tell */

/* The pieces of a plan by its method. False: the fields do not fit together. */
bool threads_work(const IrPlan *p, ThrWork *out);

/* Lanes of a warp that have a unit, and threads of the role that have. */
static inline uint32_t thr_lanes(const ThrPiece *q)
{
    return q->method == THR_MATRIX ? 8u * q->matrices : 32u;
}
/* Where a unit starts, in bytes from the part's first byte, without the swizzle. */
int64_t thr_offset(const ThrPiece *q, uint32_t unit, int side);

/* Elements that a word of a rotated row has, and bytes of such a word. */
static inline uint32_t thr_word_elements(uint32_t size) { return size < 4 ? 4 / size : 1; }
static inline uint32_t thr_word_bytes(uint32_t size) { return size < 4 ? 4 : size; }

/* XOR of an address with its own bits >> 3 under this mask: the swizzle. */
uint32_t thr_swizzle_mask(uint8_t swizzle);
static inline int64_t thr_swizzled(int64_t at, uint32_t mask) { return at ^ (at >> 3 & mask); }

#endif
