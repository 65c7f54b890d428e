/* Numbers of the PTX ISA and of the CUDA guide that stand in no row of a table. The simulator has its own (runtime/sim). */
#ifndef LANG_LIMITS_H
#define LANG_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WARP_THREADS = 32,
    CTA_THREADS_MOST = 1024,      /* CUDA guide, Technical Specifications */
    CLUSTER_CTAS_MOST = 16,       /* beyond the portable 8 the device says whether it fits */
    NAMED_BARRIERS = 16,          /* PTX ISA, bar, barrier */
    PARAM_BYTES_MOST = 32764,     /* PTX ISA, Kernel Function Parameters: from 8.1 on, */
    PARAM_BYTES_OLD = 4096,       /* before that fewer */
    MBARRIER_MOST = (1 << 20) - 1 /* PTX ISA, mbarrier: arrivals of a phase; bytes of its tx-count, to both sides of 0 */
};

static inline int64_t grid_most(int d) { return d == 0 ? INT32_MAX : 65535; } /* CUDA guide, Technical Specifications */

/* Threads that are whole warps of one CTA. */
static inline bool whole_warps(int64_t threads)
{
    return threads >= WARP_THREADS && threads <= CTA_THREADS_MOST && threads % WARP_THREADS == 0;
}

#endif
