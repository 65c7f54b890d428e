/* libtile's devices: a small table of functions between the launch path and what runs the kernels.
 *
 * In: images, map descriptors, launches that have been checked. Out: the same, done. cuda.c is the device behind the
 * CUDA driver, sim/device.c the simulator. Nothing above this table knows which one it talks to. Several threads may call it at once.
 *
 * Invariants: every function leaves the calling thread's context as it found it; a failing function has filled err
 * and changed nothing; `launch` allocates nothing but counters, for a stream that is new or captured.
 *
 * Glossary: image - cubin or PTX; map - the opaque 128 bytes that a kernel takes as a tensor map, made from a logical
 * MapDesc by `encode_map` and meaningful to that device only; smem - dynamic shared memory of a CTA in bytes.
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include <stdbool.h>

#include "lang/manifest/manifest.h"
#include "runtime/host.h"
#include "tile.h"

enum { UNASKED_SMEM = 48 << 10 }; /* so much dynamic shared memory a CTA may have unasked: CUDA C++ Programming Guide, Shared Memory */
enum { MAP_BYTES = 128, MAP_ALIGN = 128 }; /* CUtensorMap: T01 asks for 64; cuda.h 13 declares 128 */

typedef struct DeviceLimits {
    int sm;          /* compute capability * 10 */
    int max_threads; /* of a CTA */
    int max_smem;    /* opt-in maximum of dynamic shared memory of a CTA */
    int sms;
    int64_t l2; /* bytes */
    int64_t bandwidth; /* of the memory, in MB/s; 0: not known */
} DeviceLimits;

/* Dynamic shared memory of each of so many CTAs of an SM that not one more fits. */
static inline int64_t device_room(const DeviceLimits *l, int64_t ctas)
{
    enum { RESERVED = 1 << 10, ALIGNED = 128 }; /* bytes of each CTA that are the system's */
    int64_t room = (l->max_smem + RESERVED) / (ctas + 1) - RESERVED + ALIGNED;
    return room - room % ALIGNED;
}

typedef struct Launch {
    void *function;
    const MfKernel *kernel; /* for messages */
    uint32_t grid[3], cluster[3]; /* x, y, z */
    uint32_t threads, smem;
    bool dependent; /* it may begin while launches before it run, for which the kernel waits: MfKernel */
    void **params; /* addresses of the kernel's parameters, in order */
    /* Those of them that the device fills with the address of a 32-bit counter each (runtime/counters.h). */
    uint64_t *counters[MF_COUNTERS];
    uint32_t ncounters;
    uint64_t *maps;      /* the one that the device fills with the address of room for maps (runtime/workspace.h); NULL: none */
    uint64_t maps_bytes; /* of all CTAs */
} Launch;

typedef struct MapMemory { /* what lies under a map: cuda.c's SMALL_TENSOR_FAULT depends on it */
    uint64_t bytes;        /* of the allocation where it is known, else of the tensor */
    bool dense;            /* row-major without gaps or overlap */
} MapMemory;

typedef struct DeviceOps {
    void (*close)(tile_device *d);
    tile_status (*alloc)(tile_device *d, size_t bytes, uint64_t *address, tile_error *err);
    tile_status (*release)(tile_device *d, uint64_t address, tile_error *err);
    tile_status (*write)(tile_device *d, uint64_t to, const void *from, size_t bytes, tile_error *err);
    tile_status (*read)(tile_device *d, void *to, uint64_t from, size_t bytes, tile_error *err);
    tile_status (*copy)(tile_device *d, uint64_t to, uint64_t from, size_t bytes, void *stream, tile_error *err);
    /* From here to the end of its allocation nobody reads what is written, so writes need no order. NULL: nobody watches it. */
    void (*unread)(tile_device *d, uint64_t address);
    tile_status (*synchronize)(tile_device *d, void *stream, tile_error *err);
    /* image: followed by a 0 byte. */
    tile_status (*load)(tile_device *d, const void *image, bool is_ptx, void **module, tile_error *err);
    void (*unload)(tile_device *d, void *module);
    /* Also makes the function ready for its launches: smem and cluster size beyond the defaults. */
    tile_status (*function)(tile_device *d, void *module, const char *entry, uint32_t smem, uint32_t cluster_size,
                            void **function, tile_error *err);
    /* The address of a variable of the module that has so many bytes, for `write`. */
    tile_status (*variable)(tile_device *d, void *module, const char *name, size_t bytes, uint64_t *address,
                            tile_error *err);
    /* How many teams (clusters, or single CTAs) run at once with at most per_sm CTAs per SM; per_sm 0: whatever fits.
     * l: function, cluster, threads, smem. 0: none fits. */
    tile_status (*resident)(tile_device *d, const Launch *l, uint32_t per_sm, uint32_t *teams, tile_error *err);
    /* map: MAP_BYTES at MAP_ALIGN. */
    tile_status (*encode_map)(tile_device *d, const MapDesc *desc, const MapMemory *memory, void *map, tile_error *err);
    tile_status (*launch)(tile_device *d, const Launch *l, void *stream, tile_error *err);
    /* A timer that started is stopped once, which frees it, also when that fails. */
    tile_status (*timer_start)(tile_device *d, void *stream, void **timer, tile_error *err);
    tile_status (*timer_stop)(tile_device *d, void *stream, void *timer, double *milliseconds, tile_error *err);
} DeviceOps;

struct tile_device { /* first member of every device */
    const DeviceOps *ops;
    DeviceLimits limits;
    const char *arch; /* the best target of targets.def for it, or NULL */
    bool simulates;   /* takes PTX for any target, not cubins */
    char name[320];   /* "NVIDIA H200 (sm_90)" */
    char gpu[256];    /* "NVIDIA H200"; "simulator" */
    tile_compiler compiler;
    Host host;
};

struct CudaApi;
/* ordinal -1: the device of the current context, else device 0. The table is copied; `library` is closed with the
 * device (NULL: nothing to close). Takes the current context if it is of that device, else retains the primary one. */
tile_status cuda_device_open(const struct CudaApi *api, void *library, int ordinal, const Host *host, tile_device **out, tile_error *err);

/* words: what stands behind "sim:" in the name, or NULL (sim/device_options.h). */
tile_status sim_device_open(const char *words, const Host *host, tile_device **out, tile_error *err);

/* Best target for a compute capability: with suffix 'a' where it has one, else the newest base target not above it. */
const char *device_best_arch(int sm);
/* NULL if code for `target` runs there, else why not. Cubins of base targets run within their major version only. */
const char *device_refuses(const tile_device *d, const TargetInfo *target, bool is_ptx, char *buf, size_t size);

#endif
