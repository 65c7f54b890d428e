/* A CUDA driver for tests: device memory is host memory, nothing runs, every call is recorded.
 * For one test program: everything is static. */
#ifndef TESTS_UNIT_FAKE_DRIVER_H
#define TESTS_UNIT_FAKE_DRIVER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda_api.h"

typedef struct FakeEncode {
    int type, interleave, swizzle, l2, fill;
    uint32_t rank, box[5], elem_strides[5];
    uint64_t address, dims[5], pitches[4];
} FakeEncode;

typedef struct FakeDriver {
    /* how it answers */
    int cc, version, max_smem, sms, l2, memory_clock;
    int blocks, clusters; /* occupancy: CTAs per SM, clusters of the device */
    CuResult occupancy_result;
    int capturing, capture_status; /* every stream is being captured; what is said of it */
    unsigned long long generation; /* added to the numbers of streams: a handle in another life */
    CuResult load_result, encode_result, launch_result, alloc_result;
    const char *jit_log;
    int mark_maps; /* sets all bits of encoded maps */
    long fail_at;  /* the call of this number, from 1 on, fails; 0: none. Those that give something back do it all the same */
    /* what was asked */
    const char *failed; /* in which function */
    unsigned loads, unloads, encodes, launches, allocs, frees, pushes, pops, retains, releases, smem_set;
    unsigned occupancies, streams, streams_freed, non_portable;
    int mode;             /* of capturing, of all threads */
    FakeEncode encode[8]; /* the latest eight, [encodes % 8] is next */
    CuLaunchConfig config;
    CuLaunchAttribute attr;
    void **params;
} FakeDriver;
static FakeDriver fake;
static _Thread_local CuContext fake_current;
static _Atomic long fake_calls; /* since fake_reset() */

static int primary; /* its address stands for the primary context */

static CuContext primary_context(void)
{
    return (CuContext)(void *)&primary;
}

/* To an H200 with driver 13.0. */
static void fake_reset(void)
{
    fake_current = NULL;
    fake_calls = 0;
    fake = (FakeDriver){.cc = 90,
                        .version = 13000,
                        .max_smem = 232448,
                        .sms = 132,
                        .l2 = 50 << 20,
                        .memory_clock = 2619000,
                        .blocks = 2,
                        .clusters = 40,
                        .jit_log = ""};
}

/* back 0: the latest one. */
static inline const FakeEncode *fake_encode(unsigned back)
{
    return &fake.encode[(fake.encodes - 1 - back) % 8];
}

enum { FAKE_FAILURE = 999 };
static bool fake_fails(const char *function)
{
    if (++fake_calls != fake.fail_at) return false;
    fake.failed = function;
    return true;
}

static CuResult Init(unsigned flags)
{
    if (fake_fails("Init")) return FAKE_FAILURE;
    return flags ? CU_INVALID_VALUE : CU_OK;
}
static CuResult DriverGetVersion(int *version)
{
    if (fake_fails("DriverGetVersion")) return FAKE_FAILURE;
    *version = fake.version;
    return CU_OK;
}
static CuResult GetErrorName(CuResult r, const char **text)
{
    *text = r == CU_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
    return CU_OK;
}
static CuResult GetErrorString(CuResult r, const char **text)
{
    *text = r == CU_INVALID_VALUE ? "invalid argument" : "something else";
    return CU_OK;
}
static CuResult DeviceGetCount(int *n)
{
    if (fake_fails("DeviceGetCount")) return FAKE_FAILURE;
    *n = 1;
    return CU_OK;
}
static CuResult DeviceGet(CuDevice *d, int ordinal)
{
    if (fake_fails("DeviceGet")) return FAKE_FAILURE;
    *d = ordinal;
    return CU_OK;
}
static CuResult DeviceGetName(char *name, int size, CuDevice d)
{
    if (fake_fails("DeviceGetName")) return FAKE_FAILURE;
    snprintf(name, (size_t)size, "Fake %d", d);
    return CU_OK;
}
static CuResult DeviceGetAttribute(int *value, int attribute, CuDevice d)
{
    if (fake_fails("DeviceGetAttribute")) return FAKE_FAILURE;
    (void)d;
    switch (attribute) {
    case CU_ATTR_CC_MAJOR: *value = fake.cc / 10; break;
    case CU_ATTR_CC_MINOR: *value = fake.cc % 10; break;
    case CU_ATTR_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_ATTR_MAX_SMEM_OPTIN: *value = fake.max_smem; break;
    case CU_ATTR_MULTIPROCESSOR_COUNT: *value = fake.sms; break;
    case CU_ATTR_L2_BYTES: *value = fake.l2; break;
    case CU_ATTR_MEMORY_CLOCK: *value = fake.memory_clock; break;
    case CU_ATTR_MEMORY_BUS: *value = 5120; break;
    default: return CU_INVALID_VALUE;
    }
    return CU_OK;
}
static CuResult PrimaryCtxRetain(CuContext *ctx, CuDevice d)
{
    if (fake_fails("PrimaryCtxRetain")) return FAKE_FAILURE;
    (void)d;
    fake.retains++;
    *ctx = primary_context();
    return CU_OK;
}
static CuResult PrimaryCtxRelease(CuDevice d)
{
    (void)d;
    fake.releases++;
    return fake_fails("PrimaryCtxRelease") ? FAKE_FAILURE : CU_OK;
}
static CuResult CtxGetCurrent(CuContext *ctx)
{
    if (fake_fails("CtxGetCurrent")) return FAKE_FAILURE;
    *ctx = fake_current;
    return CU_OK;
}
static CuResult CtxGetDevice(CuDevice *d)
{
    if (fake_fails("CtxGetDevice")) return FAKE_FAILURE;
    *d = 0;
    return fake_current ? CU_OK : 201;
}
static CuResult CtxPushCurrent(CuContext ctx)
{
    if (fake_fails("CtxPushCurrent")) return FAKE_FAILURE;
    fake.pushes++;
    fake_current = ctx;
    return CU_OK;
}
static CuResult CtxPopCurrent(CuContext *ctx)
{
    fake.pops++;
    *ctx = fake_current;
    fake_current = NULL;
    return fake_fails("CtxPopCurrent") ? FAKE_FAILURE : CU_OK;
}
static CuResult ModuleLoadDataEx(CuModule *m, const void *image, unsigned n, int *options, void **values)
{
    if (fake_fails("ModuleLoadDataEx")) return FAKE_FAILURE;
    fake.loads++;
    (void)image;
    for (unsigned i = 0; i + 1 < n; i++)
        if (options[i] == CU_JIT_ERROR_LOG) snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "%s", fake.jit_log);
    *m = (CuModule)(void *)&fake;
    return fake_current ? fake.load_result : 201;
}
static CuResult ModuleUnload(CuModule m)
{
    (void)m;
    fake.unloads++;
    return fake_fails("ModuleUnload") ? FAKE_FAILURE : CU_OK;
}
static CuResult ModuleGetFunction(CuFunction *f, CuModule m, const char *name)
{
    if (fake_fails("ModuleGetFunction")) return FAKE_FAILURE;
    (void)m;
    *f = (CuFunction)(void *)&fake.config;
    return strcmp(name, "missing") == 0 ? 500 : CU_OK;
}
static CuResult FuncSetAttribute(CuFunction f, int attribute, int value)
{
    if (fake_fails("FuncSetAttribute")) return FAKE_FAILURE;
    (void)f;
    if (attribute == CU_FUNC_MAX_DYNAMIC_SMEM) fake.smem_set = (unsigned)value;
    if (attribute == CU_FUNC_NON_PORTABLE_CLUSTER) fake.non_portable++;
    return CU_OK;
}
static CuResult LaunchKernelEx(const CuLaunchConfig *config, CuFunction f, void **params, void **extra)
{
    if (fake_fails("LaunchKernelEx")) return FAKE_FAILURE;
    (void)f;
    (void)extra;
    fake.launches++;
    fake.config = *config;
    if (config->nattrs) fake.attr = config->attrs[0];
    fake.params = params;
    return fake_current ? fake.launch_result : 201;
}
static CuResult OccupancyMaxActiveBlocks(int *n, CuFunction f, int threads, size_t smem)
{
    if (fake_fails("OccupancyMaxActiveBlocks")) return FAKE_FAILURE;
    (void)f;
    fake.occupancies++;
    *n = fake.blocks;
    if (threads <= 0 || smem > (size_t)fake.max_smem) return CU_INVALID_VALUE;
    return fake_current ? fake.occupancy_result : 201;
}
static CuResult OccupancyMaxActiveClusters(int *n, CuFunction f, const CuLaunchConfig *config)
{
    if (fake_fails("OccupancyMaxActiveClusters")) return FAKE_FAILURE;
    (void)f;
    fake.occupancies++;
    *n = fake.clusters;
    if (config->nattrs != 1 || config->attrs[0].id != CU_LAUNCH_CLUSTER_DIMENSION) return CU_INVALID_VALUE;
    if (config->grid_x % config->attrs[0].value.cluster.x != 0 || config->grid_x == 0) return CU_INVALID_VALUE;
    return fake_current ? fake.occupancy_result : 201;
}
/* As the driver: while a stream is captured, calls that are no part of a graph need the relaxed mode. */
static bool forbidden(void)
{
    return fake.capturing && fake.mode != CU_CAPTURE_RELAXED;
}
enum { FAKE_CAPTURE_UNSUPPORTED = 900, FAKE_STREAM = 0x5000 };
static CuResult StreamIsCapturing(CuStream s, int *status)
{
    if (fake_fails("StreamIsCapturing")) return FAKE_FAILURE;
    *status = fake.capture_status;
    return s && fake_current ? CU_OK : CU_INVALID_VALUE;
}
static CuResult StreamGetId(CuStream s, unsigned long long *id)
{
    if (fake_fails("StreamGetId")) return FAKE_FAILURE;
    if (!s || !fake_current) return CU_INVALID_VALUE;
    if (fake.capturing) return FAKE_CAPTURE_UNSUPPORTED;
    *id = (uintptr_t)s <= CU_STREAM_OF_THREAD ? (uintptr_t)s : (uintptr_t)s + fake.generation;
    return CU_OK;
}
static CuResult ThreadExchangeStreamCaptureMode(int *mode)
{
    if (fake_fails("ThreadExchangeStreamCaptureMode")) return FAKE_FAILURE;
    int was = fake.mode;
    fake.mode = *mode;
    *mode = was;
    return CU_OK;
}
static CuResult StreamCreate(CuStream *s, unsigned flags)
{
    if (fake_fails("StreamCreate")) return FAKE_FAILURE;
    if (forbidden() || flags != CU_NON_BLOCKING_STREAM) return FAKE_CAPTURE_UNSUPPORTED;
    *s = (CuStream)(uintptr_t)(FAKE_STREAM + fake.streams++);
    return CU_OK;
}
static CuResult StreamDestroy(CuStream s)
{
    (void)s;
    fake.streams_freed++;
    return fake_fails("StreamDestroy") ? FAKE_FAILURE : CU_OK;
}
static CuResult MemsetD32Async(CuAddress p, unsigned value, size_t n, CuStream s)
{
    if (fake_fails("MemsetD32Async")) return FAKE_FAILURE;
    if ((uintptr_t)s < FAKE_STREAM) return FAKE_CAPTURE_UNSUPPORTED;
    for (size_t i = 0; i < n; i++) ((uint32_t *)(uintptr_t)p)[i] = value;
    return CU_OK;
}
static CuResult MemAlloc(CuAddress *p, size_t bytes)
{
    if (fake_fails("MemAlloc")) return FAKE_FAILURE;
    if (forbidden()) return FAKE_CAPTURE_UNSUPPORTED;
    if (fake.alloc_result != CU_OK) return fake.alloc_result;
    fake.allocs++;
    void *m = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (m) memset(m, 0xA5, bytes);
    *p = (CuAddress)(uintptr_t)m;
    return m ? CU_OK : CU_OUT_OF_MEMORY;
}
static CuResult MemFree(CuAddress p)
{
    fake.frees++;
    free((void *)(uintptr_t)p);
    return fake_fails("MemFree") ? FAKE_FAILURE : CU_OK;
}
static CuResult MemcpyHtoD(CuAddress to, const void *from, size_t bytes)
{
    if (fake_fails("MemcpyHtoD")) return FAKE_FAILURE;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CU_OK;
}
static CuResult MemcpyDtoH(void *to, CuAddress from, size_t bytes)
{
    if (fake_fails("MemcpyDtoH")) return FAKE_FAILURE;
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return CU_OK;
}
static CuResult MemcpyDtoDAsync(CuAddress to, CuAddress from, size_t bytes, CuStream s)
{
    (void)s;
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return CU_OK;
}
static CuResult StreamSynchronize(CuStream s)
{
    if (fake_fails("StreamSynchronize")) return FAKE_FAILURE;
    (void)s;
    return CU_OK;
}
static CuResult EventCreate(CuEvent *e, unsigned flags)
{
    if (fake_fails("EventCreate")) return FAKE_FAILURE;
    (void)flags;
    *e = (CuEvent)(void *)&fake.attr;
    return CU_OK;
}
static CuResult EventDestroy(CuEvent e)
{
    (void)e;
    return fake_fails("EventDestroy") ? FAKE_FAILURE : CU_OK;
}
static CuResult EventRecord(CuEvent e, CuStream s)
{
    if (fake_fails("EventRecord")) return FAKE_FAILURE;
    (void)e;
    (void)s;
    return CU_OK;
}
static CuResult EventSynchronize(CuEvent e)
{
    if (fake_fails("EventSynchronize")) return FAKE_FAILURE;
    (void)e;
    return CU_OK;
}
static CuResult EventElapsedTime(float *ms, CuEvent a, CuEvent b)
{
    if (fake_fails("EventElapsedTime")) return FAKE_FAILURE;
    (void)a;
    (void)b;
    *ms = 2.0f;
    return CU_OK;
}
static CuResult TensorMapEncodeTiled(CuTensorMap *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                                     const uint64_t *pitches, const uint32_t *box, const uint32_t *elem_strides,
                                     int interleave, int swizzle, int l2, int fill)
{
    if (fake_fails("TensorMapEncodeTiled")) return FAKE_FAILURE;
    FakeEncode *e = &fake.encode[fake.encodes++ % 8];
    *e = (FakeEncode){.type = type,
                      .interleave = interleave,
                      .swizzle = swizzle,
                      .l2 = l2,
                      .fill = fill,
                      .rank = rank,
                      .address = (uint64_t)(uintptr_t)address};
    for (uint32_t i = 0; i < rank; i++) {
        e->dims[i] = dims[i];
        e->box[i] = box[i];
        e->elem_strides[i] = elem_strides[i];
        if (i + 1 < rank) e->pitches[i] = pitches[i];
    }
    memset(map, fake.mark_maps ? 0xFF : 0, sizeof *map);
    if (!fake.mark_maps) {
        map->opaque[0] = e->address;
        map->opaque[1] = dims[0];
    }
    if ((uintptr_t)map % 64 != 0) return CU_INVALID_VALUE;
    return fake_current ? fake.encode_result : 201;
}

static CudaApi fake_api(void)
{
    CudaApi api = {0};
#define SET(f) api.f = f
    SET(Init);
    SET(DriverGetVersion);
    SET(GetErrorName);
    SET(GetErrorString);
    SET(DeviceGetCount);
    SET(DeviceGet);
    SET(DeviceGetName);
    SET(DeviceGetAttribute);
    SET(PrimaryCtxRetain);
    SET(PrimaryCtxRelease);
    SET(CtxGetCurrent);
    SET(CtxGetDevice);
    SET(CtxPushCurrent);
    SET(CtxPopCurrent);
    SET(ModuleLoadDataEx);
    SET(ModuleUnload);
    SET(ModuleGetFunction);
    SET(FuncSetAttribute);
    SET(LaunchKernelEx);
    SET(OccupancyMaxActiveBlocks);
    SET(OccupancyMaxActiveClusters);
    SET(StreamCreate);
    SET(StreamDestroy);
    SET(StreamGetId);
    SET(StreamIsCapturing);
    SET(ThreadExchangeStreamCaptureMode);
    SET(MemsetD32Async);
    SET(MemAlloc);
    SET(MemFree);
    SET(MemcpyHtoD);
    SET(MemcpyDtoH);
    SET(MemcpyDtoDAsync);
    SET(StreamSynchronize);
    SET(EventCreate);
    SET(EventDestroy);
    SET(EventRecord);
    SET(EventSynchronize);
    SET(EventElapsedTime);
    SET(TensorMapEncodeTiled);
#undef SET
    return api;
}

#endif
