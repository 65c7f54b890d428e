/* Counters of tickets on a CUDA device: 32-bit cells of device memory that are 0 between launches.
 *
 * A kernel that deals its work by tickets counts them in a cell that no other running launch uses, and leaves it 0 (its
 * last draw wraps). Launches of one stream run one after the other, so a stream has one place for good. Of a stream that
 * is being captured nothing is known about when the launch will run: it gets a place that no one else ever gets. The
 * memory is freed with the device, not before: when a stream is gone the driver does not say.
 *
 * Limits: two instances of one captured graph that run at the same time share its places, which nobody notices here; a
 * place is PLACE_BYTES for each stream that was ever used so and for each launch that was captured. After a kernel that
 * failed the context is lost, and so is what is in the cells.
 *
 * Glossary: place - the MF_COUNTERS cells of a launch; page - what is allocated at once, PAGE_PLACES of them.
 */
#ifndef RUNTIME_COUNTERS_H
#define RUNTIME_COUNTERS_H

#include <pthread.h>

#include "lang/manifest/manifest.h"
#include "runtime/cuda_api.h"
#include "runtime/host.h"

enum { PLACE_BYTES = 4 * MF_COUNTERS, PAGE_PLACES = 2048 };

typedef struct StreamPlace {
    uint64_t stream; /* the driver's number of the stream: handles are used again, numbers are not */
    uint64_t thread; /* our number of the thread where it is the thread's default stream, else 0 */
    CuAddress place; /* 0: a free row */
} StreamPlace;

typedef struct Counters {
    const Host *host;
    pthread_mutex_t lock;
    pthread_key_t thread_key; /* the thread's number; threads that end don't give theirs back */
    uintptr_t nthreads;
    CuAddress *pages;
    uint32_t npages, used; /* used: places of the last page */
    CuAddress of_device;   /* place of the device's default stream; 0: not needed yet */
    StreamPlace *streams;  /* of all others: hash table with open addressing; `nrows` is a power of two or 0 */
    uint32_t nrows, nstreams;
} Counters;

bool counters_open(Counters *c, const Host *host); /* false: out of memory */
/* Several threads may call it at once, each in the device's context. Fills n words with the addresses of cells. */
tile_status counters_take(Counters *c, const CudaApi *api, CuStream stream, uint64_t *const *words, uint32_t n,
                          tile_error *err);
/* Also while streams are captured, in whatever mode: none of its calls belongs to a graph. clear: zeros. *call: the one that failed. */
CuResult memory_of_no_graph(const CudaApi *api, size_t bytes, bool clear, CuAddress *at, const char **call);
void counters_close(Counters *c, const CudaApi *api); /* api NULL: the context is gone, and the memory with it */

#endif
