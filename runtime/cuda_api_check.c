/* Proves at build time, where cuda.h is found, that cuda_api.h declares the driver's layouts, values and versions. */
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>

#include "runtime/cuda_api.h"
#define HAVE_CUDA_H 1
#endif
#endif

#ifdef HAVE_CUDA_H
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_FIELD(ours, f, theirs, g)                                                                                 \
    _Static_assert(offsetof(ours, f) == offsetof(theirs, g) && sizeof(((ours *)0)->f) == sizeof(((theirs *)0)->g), #g)
#define SAME_VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME_SIZE(CuResult, CUresult);
SAME_SIZE(CuDevice, CUdevice);
SAME_SIZE(CuAddress, CUdeviceptr);
SAME_SIZE(CuTensorMap, CUtensorMap);
_Static_assert(_Alignof(CuTensorMap) >= _Alignof(CUtensorMap), "CUtensorMap");
SAME_SIZE(CuLaunchAttribute, CUlaunchAttribute);
SAME_FIELD(CuLaunchAttribute, id, CUlaunchAttribute, id);
SAME_FIELD(CuLaunchAttribute, value, CUlaunchAttribute, value);
SAME_FIELD(CuLaunchAttribute, value.cluster, CUlaunchAttribute, value.clusterDim);
SAME_SIZE(CuLaunchConfig, CUlaunchConfig);
SAME_FIELD(CuLaunchConfig, grid_x, CUlaunchConfig, gridDimX);
SAME_FIELD(CuLaunchConfig, grid_y, CUlaunchConfig, gridDimY);
SAME_FIELD(CuLaunchConfig, grid_z, CUlaunchConfig, gridDimZ);
SAME_FIELD(CuLaunchConfig, block_x, CUlaunchConfig, blockDimX);
SAME_FIELD(CuLaunchConfig, block_y, CUlaunchConfig, blockDimY);
SAME_FIELD(CuLaunchConfig, block_z, CUlaunchConfig, blockDimZ);
SAME_FIELD(CuLaunchConfig, smem, CUlaunchConfig, sharedMemBytes);
SAME_FIELD(CuLaunchConfig, stream, CUlaunchConfig, hStream);
SAME_FIELD(CuLaunchConfig, attrs, CUlaunchConfig, attrs);
SAME_FIELD(CuLaunchConfig, nattrs, CUlaunchConfig, numAttrs);

SAME_VALUE(CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME_VALUE(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(CU_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
SAME_VALUE(CU_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_VALUE(CU_INVALID_CLUSTER_SIZE, CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME_VALUE(CU_ATTR_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(CU_ATTR_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(CU_ATTR_MEMORY_CLOCK, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_VALUE(CU_ATTR_MEMORY_BUS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_VALUE(CU_ATTR_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(CU_ATTR_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(CU_ATTR_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(CU_ATTR_MAX_SMEM_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(CU_FUNC_MAX_DYNAMIC_SMEM, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(CU_FUNC_NON_PORTABLE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME_VALUE(CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_BUFFER);
SAME_VALUE(CU_JIT_INFO_LOG_SIZE, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(CU_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(CU_LAUNCH_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_VALUE(CU_NON_BLOCKING_STREAM, CU_STREAM_NON_BLOCKING);
SAME_VALUE(CU_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME_VALUE(CU_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
_Static_assert(sizeof(CUstreamCaptureStatus) == sizeof(int) && sizeof(CUstreamCaptureMode) == sizeof(int), "int *");

/* cuda.h renames a function when its interface changes: a longer name here means a newer version there. */
#define NAME_TEXT_(name) #name
#define NAME_TEXT(name) NAME_TEXT_(name)
#define SAME_NAME(name, symbol) _Static_assert(sizeof(NAME_TEXT(name)) == sizeof(symbol), symbol)
SAME_NAME(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
SAME_NAME(cuCtxPushCurrent, "cuCtxPushCurrent_v2");
SAME_NAME(cuCtxPopCurrent, "cuCtxPopCurrent_v2");
SAME_NAME(cuMemAlloc, "cuMemAlloc_v2");
SAME_NAME(cuMemFree, "cuMemFree_v2");
SAME_NAME(cuMemcpyHtoD, "cuMemcpyHtoD_v2");
SAME_NAME(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
SAME_NAME(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
SAME_NAME(cuMemsetD32Async, "cuMemsetD32Async");
SAME_NAME(cuStreamCreate, "cuStreamCreate");
SAME_NAME(cuStreamDestroy, "cuStreamDestroy_v2");
SAME_NAME(cuStreamGetId, "cuStreamGetId");
SAME_NAME(cuStreamIsCapturing, "cuStreamIsCapturing");
SAME_NAME(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode");
SAME_NAME(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
SAME_NAME(cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters");
SAME_NAME(cuEventDestroy, "cuEventDestroy_v2");
SAME_NAME(cuModuleLoadDataEx, "cuModuleLoadDataEx");
SAME_NAME(cuLaunchKernelEx, "cuLaunchKernelEx");
SAME_NAME(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
SAME_NAME(cuTensorMapEncodeIm2col, "cuTensorMapEncodeIm2col");
#if CUDA_VERSION >= 12080
SAME_NAME(cuTensorMapEncodeIm2colWide, "cuTensorMapEncodeIm2colWide");
SAME_VALUE(CU_IM2COL_WIDE_W, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W);
SAME_VALUE(CU_IM2COL_WIDE_W128, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
#endif
#else
typedef int CudaApiUnchecked; /* ISO C wants a declaration in every file */
#endif
