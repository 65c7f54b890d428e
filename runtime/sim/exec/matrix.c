/* ldmatrix and stmatrix: matrices of rows of 16 bytes in shared memory, a row's address from a lane each.
 *
 * Where a byte of a lane's register lies in the rows is one function, place(), for all shapes (PTX ISA, ldmatrix,
 * stmatrix: the figures of fragments; those of 8-bit elements as the copy traits of CUTLASS 4 have them too,
 * copy_traits_sm100.hpp).
 */
#include <string.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/watch/watch.h"

enum { LANES = 32, ROW = 16 };

typedef struct Place {
    uint32_t row, byte; /* rows of all matrices, one after the other */
} Place;

static bool is_store(InstrForm f)
{
    return f == FORM_STMATRIX || f == FORM_STMATRIX_TRANS || f == FORM_STMATRIX_B8;
}

bool sim_is_matrix(InstrForm f)
{
    return is_store(f) || f == FORM_LDMATRIX || f == FORM_LDMATRIX_TRANS || f == FORM_LDMATRIX_B8 ||
           f == FORM_LDMATRIX_B8_WIDEN || f == FORM_LDMATRIX_ROWS_WIDEN;
}

/* Byte k of register j of a lane. q, g: the lane in its group of four, and the group. */
static Place place(InstrForm f, uint32_t lane, uint32_t j, uint32_t k)
{
    uint32_t q = lane % 4, g = lane / 4;
    switch (f) {
    case FORM_LDMATRIX_TRANS:
    case FORM_STMATRIX_TRANS: return (Place){8 * j + 2 * q + k / 2, 2 * g + k % 2};
    case FORM_LDMATRIX_B8: /* two registers for a matrix of 16 rows */
    case FORM_LDMATRIX_B8_WIDEN: return (Place){16 * (j / 2) + 4 * q + k, g + 8 * (j % 2)};
    case FORM_STMATRIX_B8: return (Place){8 * j + 2 * q + k % 2, g + 8 * (k / 2)};
    default: return (Place){8 * j + g, 4 * q + k};
    }
}

static uint32_t row_count(const FormOp *f)
{
    uint32_t n = f->nvalues < 4 ? f->nvalues : 4;
    return 8 * n; /* of 16 rows: half as many matrices as registers */
}

/* Sixteen elements of 6 or 4 bits, one after the other, to a byte each: zeros above (CUTLASS 4, mma_traits_sm120.hpp). */
static void widen(uint8_t row[ROW], uint32_t bits)
{
    uint8_t wide[ROW];
    for (uint32_t e = 0; e < ROW; e++) {
        uint32_t at = e * bits, pair = row[at / 8];
        if (at / 8 + 1 < ROW) pair |= (uint32_t)row[at / 8 + 1] << 8;
        wide[e] = (uint8_t)(pair >> at % 8 & ((1u << bits) - 1));
    }
    memcpy(row, wide, ROW);
}

/* Forms that are written without a state space have generic addresses. */
static uint64_t shared_address(uint64_t a)
{
    return a >= SIM_SHARED_BASE && a - SIM_SHARED_BASE < SIM_WINDOW ? a - SIM_SHARED_BASE : a;
}

static bool row_at(SimMachine *m, SimThread *t, const FormOp *f, uint32_t bytes, SimLoc *at)
{
    bool st = is_store(f->form);
    Slot s = st ? f->dst : f->src;
    uint64_t address = shared_address(t->slot[s] + (uint64_t)(st ? f->dst_off : f->src_off));
    if (!sim_locate_shared(m, t, address, ROW, ROW, true, st ? "stmatrix" : "ldmatrix", at)) return false;
    if (m->watch == NULL) return true;
    return st ? watch_write(m, t, at, bytes, ACCESS_WEAK, 0, false) : watch_read(m, t, at, bytes, ACCESS_WEAK, 0);
}

static void load(SimThread *const *lane, const FormOp *f, uint8_t row[LANES][ROW])
{
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t j = 0; j < f->nvalues && j < 4; j++) {
            if (f->value[j] == NO_SLOT) continue; /* a result that is thrown away */
            uint32_t v = 0;
            for (uint32_t k = 0; k < 4; k++) {
                Place p = place(f->form, l, j, k);
                v |= (uint32_t)row[p.row][p.byte] << 8 * k;
            }
            lane[l]->slot[f->value[j]] = v;
        }
}

static void store(SimThread *const *lane, const FormOp *f, uint8_t row[LANES][ROW])
{
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t j = 0; j < f->nvalues && j < 4; j++)
            for (uint32_t k = 0; k < 4; k++) {
                Place p = place(f->form, l, j, k);
                row[p.row][p.byte] = (uint8_t)(lane[l]->slot[f->value[j]] >> 8 * k);
            }
}

bool sim_matrices(SimMachine *m, SimThread *const *lane, const FormOp *f)
{
    static const uint32_t width[] = {8, 6, 4}; /* of FormOp.fmt */
    uint32_t rows = row_count(f), bits = width[f->fmt];
    uint8_t row[LANES][ROW] = {{0}};
    SimLoc at[LANES];
    for (uint32_t i = 0; i < rows; i++) {
        if (!row_at(m, lane[i], f, 2 * bits, &at[i])) return false;
        memcpy(row[i], at[i].data, ROW);
        if (bits < 8) widen(row[i], bits);
    }
    if (!is_store(f->form)) {
        load(lane, f, row);
        return true;
    }
    store(lane, f, row);
    for (uint32_t i = 0; i < rows; i++) memcpy(at[i].data, row[i], ROW);
    return true;
}
