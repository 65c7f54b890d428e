/* Room in device memory for the tensor maps that the CTAs of a launch make (MF_PARAM_MAPS).
 *
 * Launches of one stream run one after the other, so a stream has one room, which grows; a captured launch has one of its own.
 * Which stream it is the place of its counters says (counters.h, with its limits). What was too small stays until the
 * device closes: launches that use it may be on their way. Nothing is in the room before: a kernel makes a map before it uses it.
 */
#ifndef RUNTIME_WORKSPACE_H
#define RUNTIME_WORKSPACE_H

#include "runtime/counters.h"

typedef struct Room {
    CuAddress place; /* of the stream's counters; 0: a free row */
    CuAddress at;
    uint64_t bytes;
} Room;

typedef struct Workspace {
    const Host *host;
    pthread_mutex_t lock;
    Room *rooms; /* hash table with open addressing; `nrows` is a power of two or 0 */
    uint32_t nrows, nrooms;
    CuAddress *all; /* allocations */
    uint32_t nall;
} Workspace;

bool workspace_open(Workspace *w, const Host *host); /* false: out of memory */
/* Several threads may call it at once, each in the device's context. */
tile_status workspace_take(Workspace *w, Counters *c, const CudaApi *api, CuStream stream, uint64_t bytes,
                           uint64_t *address, tile_error *err);
void workspace_close(Workspace *w, const CudaApi *api); /* api NULL: the context is gone, and the memory with it */

#endif
