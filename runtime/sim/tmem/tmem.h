/* Tensor memory: 128 lanes of 512 columns of 32 bits per CTA (lang/targets.def has the columns), allocated by columns.
 *
 *   tmem.c         allocation, collectives of a warp, what is checked of every address
 *   access.c       tcgen05.ld, .st, .wait; registers that a load has not brought yet for sure
 *   desc.c         shared memory descriptors, rows of tcgen05.cp to bytes, decompression
 *   copy.c         tcgen05.cp, .shift, .commit: tasks that really are late
 *   watch/tmem.c   the order that the PTX ISA asks for
 *
 * An address is lane << 16 | column. A CTA of the simulator has all columns to itself: CTAs that share an SM and wait
 * for each other's columns are not acted out.
 */
#ifndef SIM_TMEM_H
#define SIM_TMEM_H

#include "runtime/sim/machine.h"

enum {
    TMEM_LANES = 128,
    TMEM_COLUMNS = 512, /* of the array; a target may have fewer */
    TMEM_UNIT = 32,     /* columns: least allocation */
    TMEM_UNITS = TMEM_COLUMNS / TMEM_UNIT,
    TMEM_WARP_LANES = 32
};

typedef struct TmemOffer { /* a warp waits for one of the peer CTA, to allocate or deallocate with it (.cta_group::2) */
    bool made, done;
    InstrForm form;
    uint32_t warp, columns, address;
    SimWho who;
} TmemOffer;

typedef struct SimTmem {
    uint32_t *cell;             /* lane * TMEM_COLUMNS + column */
    uint16_t start[TMEM_UNITS]; /* by unit: columns of the allocation that starts there, or 0 */
    uint32_t used;              /* bits: units that are allocated */
    uint32_t last;              /* columns of the allocation before; 0: none */
    SimWho who[TMEM_UNITS];     /* by unit: who allocated it */
    bool relinquished;
    SimWho relinquisher;
    uint8_t group; /* .cta_group of the kernel, 0: none was seen */
    SimWho group_who;
    TmemOffer offer;
    uint32_t ready;      /* the address that the alloc writes which is about to be performed */
    uint32_t *unwaited;  /* bits by thread and slot; NULL: no load so far */
    uint32_t slot_words; /* of a thread's bits */
} SimTmem;

/* ---- tmem.c ---- */
/* An instruction of tcgen05.*. */
ExecResult tmem_exec(SimMachine *m, SimThread *t, const FormOp *f);
bool tmem_is_collective(InstrForm f);
/* A collective whose 32 lanes are all there. */
bool tmem_perform(SimMachine *m, SimThread *const *lane, const FormOp *f);
bool tmem_cta_exit(SimMachine *m, SimCta *cta); /* E1363: columns that are still allocated */
void tmem_cta_free(SimMachine *m, SimCta *cta);
uint64_t tmem_bytes(const SimMachine *m); /* host memory that a CTA of this launch takes for it */
void tmem_describe_wait(const SimMachine *m, const SimThread *t, Text *out);
/* Its tensor memory; made when it is first asked for. */
SimTmem *tmem_of(SimMachine *m, SimCta *cta);
/* The other CTA of t's pair; NULL: a finding was filed. */
SimCta *tmem_peer(SimMachine *m, SimThread *t);
/* [column, column + n) of lanes [lane, lane + lanes) of the CTA are there and allocated; else E1360. */
bool tmem_check(SimMachine *m, SimThread *t, const SimCta *cta, uint32_t lane, uint32_t lanes, uint32_t column,
                uint32_t n, const char *what);
/* The address operand. */
static inline uint32_t tmem_address(const SimThread *t, const FormOp *f)
{
    return (uint32_t)(t->slot[f->taddr] + (uint64_t)f->taddr_off);
}

/* ---- access.c ---- */
bool tmem_load(SimMachine *m, SimThread *const *lane, const FormOp *f);
bool tmem_store(SimMachine *m, SimThread *const *lane, const FormOp *f);
void tmem_waited(SimMachine *m, SimThread *const *lane, bool store);
/* The op at pc, about to be executed by t, uses a register of t->unwaited: E1366 was filed. */
bool tmem_uses_unwaited(SimMachine *m, SimThread *t, uint32_t pc);
/* Where register r of thread i of a warp lies, from the first lane and column on; PTX ISA, Data Movement Shape. packed:
 * a register is two columns. */
typedef struct TmemPlace {
    uint32_t lane, column;
} TmemPlace;
TmemPlace tmem_place(TmemShape shape, uint32_t i, uint32_t r, bool packed, uint32_t half);

/* ---- desc.c ---- */
typedef struct TmemDesc {     /* PTX ISA, Shared Memory Descriptor */
    uint32_t start, lbo, sbo; /* bytes; start: address in the window of a CTA */
    uint32_t swizzle;         /* bytes: 0, 32, 64, 128 */
} TmemDesc;
/* Fills why if it is none, or (*open) one whose meaning the PTX ISA leaves open. */
bool tmem_desc_decode(uint64_t bits, TmemDesc *out, bool *open, char *why, size_t size);
/* Address of 16-byte chunk `chunk` of row `row`. */
uint32_t tmem_desc_chunk(const TmemDesc *d, uint32_t row, uint32_t chunk);
/* The 16 bytes that a chunk becomes; fmt as in FormOp. */
void tmem_decompress(const uint8_t in[16], int fmt, uint8_t out[16]);
/* How many of a chunk's bytes are data. */
uint32_t tmem_chunk_bytes(int fmt);

/* ---- copy.c ---- */
void tmem_init(SimMachine *m);
void tmem_free(SimMachine *m);
bool tmem_copy(SimMachine *m, SimThread *t, const FormOp *f);
bool tmem_shift(SimMachine *m, SimThread *t, const FormOp *f);
bool tmem_commit(SimMachine *m, SimThread *t, const FormOp *f);
uint32_t tmem_pending(const SimMachine *m); /* tasks */
bool tmem_step(SimMachine *m);              /* advances one of them */
void tmem_describe(SimMachine *m, Text *out);

#endif
