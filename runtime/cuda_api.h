/* The part of the CUDA driver API that libtile uses, declared by the project itself.
 *
 * libcuda.so.1 is opened at run time, so everything builds and runs where there is neither a driver nor cuda.h. Names
 * of types are our own; layouts and values are those of cuda.h (cuda_api_check.c proves it where cuda.h is found).
 * One row per function: required ones must be there for the driver to be of any use; optional ones are NULL in older
 * drivers. Symbols carry the version of the interface that is meant (cuMemAlloc_v2), as cuda.h's macros do.
 */
#ifndef RUNTIME_CUDA_API_H
#define RUNTIME_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"

typedef int CuResult;
typedef int CuDevice;
typedef uint64_t CuAddress; /* CUdeviceptr */
typedef struct CuContextSt *CuContext;
typedef struct CuModuleSt *CuModule;
typedef struct CuFunctionSt *CuFunction;
typedef struct CuStreamSt *CuStream;
typedef struct CuEventSt *CuEvent;

enum { /* CUresult */
       CU_OK = 0,
       CU_INVALID_VALUE = 1,
       CU_OUT_OF_MEMORY = 2,
       CU_STUB_LIBRARY = 34,
       CU_NO_DEVICE = 100,
       CU_INVALID_DEVICE = 101,
       CU_UNSUPPORTED_PTX_VERSION = 222,
       CU_INVALID_CLUSTER_SIZE = 912
};
enum { /* CUdevice_attribute */
       CU_ATTR_MAX_THREADS_PER_BLOCK = 1,
       CU_ATTR_MULTIPROCESSOR_COUNT = 16,
       CU_ATTR_MEMORY_CLOCK = 36, /* kHz */
       CU_ATTR_MEMORY_BUS = 37,   /* bits */
       CU_ATTR_L2_BYTES = 38,
       CU_ATTR_CC_MAJOR = 75,
       CU_ATTR_CC_MINOR = 76,
       CU_ATTR_MAX_SMEM_OPTIN = 97
};
enum { /* CUfunction_attribute */
       CU_FUNC_MAX_DYNAMIC_SMEM = 8,
       CU_FUNC_NON_PORTABLE_CLUSTER = 14
};
enum { /* CUjit_option */
       CU_JIT_INFO_LOG = 3,
       CU_JIT_INFO_LOG_SIZE = 4,
       CU_JIT_ERROR_LOG = 5,
       CU_JIT_ERROR_LOG_SIZE = 6
};
enum { CU_LAUNCH_CLUSTER_DIMENSION = 4, CU_LAUNCH_DEPENDENT = 6 }; /* CUlaunchAttributeID; ..PROGRAMMATIC_STREAM_SERIALIZATION */
enum { CU_STREAM_OF_DEVICE = 1, CU_STREAM_OF_THREAD = 2 }; /* handles of the default streams: legacy, per thread */
enum { CU_NON_BLOCKING_STREAM = 1 };                       /* CUstream_flags */
enum { CU_CAPTURE_ACTIVE = 1 };                            /* CUstreamCaptureStatus */
enum { CU_CAPTURE_RELAXED = 2 };                           /* CUstreamCaptureMode */
enum { CU_IM2COL_WIDE_W = 0, CU_IM2COL_WIDE_W128 = 1 };    /* CUtensorMapIm2ColWideMode */

typedef struct CuTensorMap {
    _Alignas(128) uint64_t opaque[16];
} CuTensorMap;
typedef struct CuLaunchAttribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        struct {
            unsigned x, y, z;
        } cluster;
        int dependent;
        void *align; /* cuda.h's union holds pointers */
    } value;
} CuLaunchAttribute;
typedef struct CuLaunchConfig {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, smem;
    CuStream stream;
    CuLaunchAttribute *attrs;
    unsigned nattrs;
} CuLaunchConfig;

/* CUDA_FUNCTION(need, field, "symbol", (parameters)) */
#define CUDA_FUNCTIONS(CUDA_FUNCTION)                                                                                  \
    CUDA_FUNCTION(REQUIRED, Init, "cuInit", (unsigned flags))                                                          \
    CUDA_FUNCTION(REQUIRED, DriverGetVersion, "cuDriverGetVersion", (int *version))                                    \
    CUDA_FUNCTION(REQUIRED, GetErrorName, "cuGetErrorName", (CuResult r, const char **text))                           \
    CUDA_FUNCTION(REQUIRED, GetErrorString, "cuGetErrorString", (CuResult r, const char **text))                       \
    CUDA_FUNCTION(REQUIRED, DeviceGetCount, "cuDeviceGetCount", (int *n))                                              \
    CUDA_FUNCTION(REQUIRED, DeviceGet, "cuDeviceGet", (CuDevice * d, int ordinal))                                     \
    CUDA_FUNCTION(REQUIRED, DeviceGetName, "cuDeviceGetName", (char *name, int size, CuDevice d))                      \
    CUDA_FUNCTION(REQUIRED, DeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CuDevice d))       \
    CUDA_FUNCTION(REQUIRED, PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CuContext * ctx, CuDevice d))               \
    CUDA_FUNCTION(REQUIRED, PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CuDevice d))                           \
    CUDA_FUNCTION(REQUIRED, CtxGetCurrent, "cuCtxGetCurrent", (CuContext * ctx))                                       \
    CUDA_FUNCTION(REQUIRED, CtxGetDevice, "cuCtxGetDevice", (CuDevice * d))                                            \
    CUDA_FUNCTION(REQUIRED, CtxPushCurrent, "cuCtxPushCurrent_v2", (CuContext ctx))                                    \
    CUDA_FUNCTION(REQUIRED, CtxPopCurrent, "cuCtxPopCurrent_v2", (CuContext * ctx))                                    \
    CUDA_FUNCTION(REQUIRED, ModuleLoadDataEx, "cuModuleLoadDataEx",                                                    \
                  (CuModule * m, const void *image, unsigned n, int *options, void **values))                          \
    CUDA_FUNCTION(REQUIRED, ModuleUnload, "cuModuleUnload", (CuModule m))                                              \
    CUDA_FUNCTION(REQUIRED, ModuleGetFunction, "cuModuleGetFunction", (CuFunction * f, CuModule m, const char *name))  \
    CUDA_FUNCTION(OPTIONAL, ModuleGetGlobal, "cuModuleGetGlobal_v2",                                                   \
                  (CuAddress * p, size_t *bytes, CuModule m, const char *name))                                        \
    CUDA_FUNCTION(REQUIRED, FuncSetAttribute, "cuFuncSetAttribute", (CuFunction f, int attribute, int value))          \
    CUDA_FUNCTION(OPTIONAL, LaunchKernelEx, "cuLaunchKernelEx",                                                        \
                  (const CuLaunchConfig *config, CuFunction f, void **params, void **extra))                           \
    CUDA_FUNCTION(REQUIRED, OccupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                   \
                  (int *n, CuFunction f, int threads, size_t smem))                                                    \
    CUDA_FUNCTION(OPTIONAL, OccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters",                                \
                  (int *n, CuFunction f, const CuLaunchConfig *config))                                                \
    CUDA_FUNCTION(REQUIRED, MemAlloc, "cuMemAlloc_v2", (CuAddress * p, size_t bytes))                                  \
    CUDA_FUNCTION(REQUIRED, MemFree, "cuMemFree_v2", (CuAddress p))                                                    \
    CUDA_FUNCTION(REQUIRED, MemcpyHtoD, "cuMemcpyHtoD_v2", (CuAddress to, const void *from, size_t bytes))             \
    CUDA_FUNCTION(REQUIRED, MemcpyDtoH, "cuMemcpyDtoH_v2", (void *to, CuAddress from, size_t bytes))                   \
    CUDA_FUNCTION(REQUIRED, MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                   \
                  (CuAddress to, CuAddress from, size_t bytes, CuStream s))                                            \
    CUDA_FUNCTION(REQUIRED, MemsetD32Async, "cuMemsetD32Async", (CuAddress p, unsigned value, size_t n, CuStream s))   \
    CUDA_FUNCTION(REQUIRED, StreamSynchronize, "cuStreamSynchronize", (CuStream s))                                    \
    CUDA_FUNCTION(REQUIRED, StreamCreate, "cuStreamCreate", (CuStream * s, unsigned flags))                            \
    CUDA_FUNCTION(REQUIRED, StreamDestroy, "cuStreamDestroy_v2", (CuStream s))                                         \
    CUDA_FUNCTION(OPTIONAL, StreamGetId, "cuStreamGetId", (CuStream s, unsigned long long *id))                        \
    CUDA_FUNCTION(REQUIRED, StreamIsCapturing, "cuStreamIsCapturing", (CuStream s, int *status))                       \
    CUDA_FUNCTION(REQUIRED, ThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode))         \
    CUDA_FUNCTION(REQUIRED, EventCreate, "cuEventCreate", (CuEvent * e, unsigned flags))                               \
    CUDA_FUNCTION(REQUIRED, EventDestroy, "cuEventDestroy_v2", (CuEvent e))                                            \
    CUDA_FUNCTION(REQUIRED, EventRecord, "cuEventRecord", (CuEvent e, CuStream s))                                     \
    CUDA_FUNCTION(REQUIRED, EventSynchronize, "cuEventSynchronize", (CuEvent e))                                       \
    CUDA_FUNCTION(REQUIRED, EventElapsedTime, "cuEventElapsedTime", (float *ms, CuEvent a, CuEvent b))                 \
    CUDA_FUNCTION(OPTIONAL, TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                            \
                  (CuTensorMap * map, int type, uint32_t rank, void *address, const uint64_t *dims,                    \
                   const uint64_t *pitches, const uint32_t *box, const uint32_t *elem_strides, int interleave,         \
                   int swizzle, int l2, int fill))                                                                     \
    CUDA_FUNCTION(OPTIONAL, TensorMapEncodeIm2col, "cuTensorMapEncodeIm2col",                                          \
                  (CuTensorMap * map, int type, uint32_t rank, void *address, const uint64_t *dims,                    \
                   const uint64_t *pitches, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,    \
                   const uint32_t *elem_strides, int interleave, int swizzle, int l2, int fill))                       \
    CUDA_FUNCTION(OPTIONAL, TensorMapEncodeIm2colWide, "cuTensorMapEncodeIm2colWide",                                  \
                  (CuTensorMap * map, int type, uint32_t rank, void *address, const uint64_t *dims,                    \
                   const uint64_t *pitches, int lower, int upper, uint32_t channels, uint32_t pixels,                  \
                   const uint32_t *elem_strides, int interleave, int mode, int swizzle, int l2, int fill))

typedef struct CudaApi {
#define CUDA_FIELD(need, field, symbol, params) CuResult(*field) params;
    CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
} CudaApi;

/* Opens libcuda.so.1 and looks up every function. *library is for cuda_api_unload. */
tile_status cuda_api_load(CudaApi *api, void **library, tile_error *err);
void cuda_api_unload(void *library);
/* After this result the process can't use the context any more. */
bool cuda_context_lost(CuResult r);
/* Fills err from a failed call: call name, cuda.h's name and text of the result, and what follows from it. */
tile_status cuda_failed(const CudaApi *api, tile_error *err, CuResult r, const char *call);

#endif
