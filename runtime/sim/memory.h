/* Global memory of the simulated device: a bounded arena of allocations with addresses of its own.
 *
 * No host pointer ever is an address: a simulated address is looked up, and what is not inside one live allocation does
 * not exist. Allocations are 256-byte aligned with gaps between them, so that running over an end is seen.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/host.h"

#define SIM_GLOBAL_BASE UINT64_C(0x100000000000) /* generic addresses: below are no others of the spaces */
/* Generic windows of the other spaces (PTX ISA, "Generic Addressing"). */
#define SIM_SHARED_BASE UINT64_C(0x010000000000) /* + the 32-bit shared address */
#define SIM_PARAM_BASE UINT64_C(0x020000000000)
#define SIM_LOCAL_BASE UINT64_C(0x030000000000)
#define SIM_WINDOW UINT64_C(0x000100000000)
/* Shared addresses: rank << 24 | byte; a CTA's memory starts behind 1 KB that the system keeps (sm_90). Own
 * addresses carry the own rank too, so that one address means the same byte for all CTAs of a cluster. */
#define SIM_SMEM_BASE 1024u
#define SIM_SMEM_RANK 24

typedef struct SimBlock {
    uint64_t address, bytes;
    uint8_t *data;  /* zeroed when allocated, lazily by the system */
    void *shadow;   /* watch.c's, or NULL */
    bool read_only; /* .const variables */
    uint64_t unread; /* from this byte on: writes need no order; 0: everything is watched */
} SimBlock;
typedef struct SimMemory {
    const Host *host;  /* NULL: the C library's memory */
    SimBlock **blocks; /* by address */
    uint32_t n, cap;
    uint64_t used, limit; /* bytes */
    uint64_t next;
} SimMemory;

void sim_memory_init(SimMemory *m, uint64_t limit);
void sim_memory_free(SimMemory *m);
/* NULL: the limit or the host's memory is reached. */
SimBlock *sim_alloc(SimMemory *m, uint64_t bytes);
bool sim_release(SimMemory *m, uint64_t address); /* false: no allocation starts there */
/* The allocation that holds all of [address, address + bytes), or NULL. Fast for repeated hits of *hint (may be NULL). */
SimBlock *sim_find(const SimMemory *m, uint64_t address, uint64_t bytes, SimBlock **hint);
/* The allocation nearest to the address, for messages; NULL if there is none. */
const SimBlock *sim_nearest(const SimMemory *m, uint64_t address);

#endif
