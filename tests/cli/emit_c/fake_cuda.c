/* A libcuda.so.1 for a machine without one: a GPU of compute capability 9.0 that prints its launches and runs nothing. Memory is the host's. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Config {
    unsigned grid[3], block[3], smem;
    void *stream;
    struct {
        int id;
        char pad[4];
        union {
            unsigned cluster[3];
            char pad[64];
        } value;
    } *attrs;
    unsigned nattrs;
} Config;

#define DOES_NOTHING(name) int name(void); int name(void) { return 0; }
DOES_NOTHING(cuInit) DOES_NOTHING(cuDevicePrimaryCtxRelease_v2) DOES_NOTHING(cuCtxPushCurrent_v2) DOES_NOTHING(cuCtxPopCurrent_v2)
DOES_NOTHING(cuModuleUnload) DOES_NOTHING(cuFuncSetAttribute) DOES_NOTHING(cuMemsetD32Async) DOES_NOTHING(cuStreamSynchronize)
DOES_NOTHING(cuStreamCreate) DOES_NOTHING(cuStreamDestroy_v2) DOES_NOTHING(cuThreadExchangeStreamCaptureMode) DOES_NOTHING(cuEventCreate)
DOES_NOTHING(cuEventDestroy_v2) DOES_NOTHING(cuEventRecord) DOES_NOTHING(cuEventSynchronize) DOES_NOTHING(cuEventElapsedTime)

static int give(int *out, int value) { *out = value; return 0; }
#define GIVES(name, value) int name(int *out); int name(int *out) { return give(out, value); }
GIVES(cuDriverGetVersion, 13000) GIVES(cuDeviceGetCount, 1) GIVES(cuDeviceGet, 0) GIVES(cuCtxGetDevice, 0)
GIVES(cuOccupancyMaxActiveBlocksPerMultiprocessor, 1) GIVES(cuOccupancyMaxActiveClusters, 60)
int cuStreamIsCapturing(void *s, int *out);
int cuStreamIsCapturing(void *s, int *out) { (void)s; return give(out, 0); }

int cuStreamGetId(void *s, unsigned long long *out);
int cuStreamGetId(void *s, unsigned long long *out) { *out = (unsigned long long)(uintptr_t)s + 1; return 0; }

static int point(void **out, void *value) { *out = value; return 0; }
static char context;
int cuDevicePrimaryCtxRetain(void **out, int d);
int cuDevicePrimaryCtxRetain(void **out, int d) { (void)d; return point(out, &context); }
int cuCtxGetCurrent(void **out);
int cuCtxGetCurrent(void **out) { return point(out, NULL); }
int cuGetErrorName(int r, const char **text);
int cuGetErrorName(int r, const char **text) { (void)r; *text = "FAKE"; return 0; }
int cuGetErrorString(int r, const char **text);
int cuGetErrorString(int r, const char **text) { return cuGetErrorName(r, text); }

int cuDeviceGetName(char *name, int size, int d);
int cuDeviceGetName(char *name, int size, int d) { (void)d; snprintf(name, (size_t)size, "fake"); return 0; }
int cuDeviceGetAttribute(int *out, int attribute, int d);
int cuDeviceGetAttribute(int *out, int attribute, int d) /* the numbers of cuda.h */
{
    (void)d;
    switch (attribute) {
    case 75: return give(out, 9);  /* compute capability */
    case 76: return give(out, 0);
    case 1: return give(out, 1024); /* threads */
    case 97: return give(out, 232448);
    case 16: return give(out, 132);
    default: return give(out, 50 << 20);
    }
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values)
{
    (void)n, (void)options, (void)values;
    const char *text = (const char *)image;
    const char *target = strstr(text, ".target ");
    printf("load %.14s\n", target ? target : "a cubin");
    return point(module, (void *)(uintptr_t)image);
}
int cuModuleGetFunction(void **f, void *module, const char *name);
int cuModuleGetFunction(void **f, void *module, const char *name) { (void)module; return point(f, (void *)(uintptr_t)name); }
int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemAlloc_v2(uint64_t *out, size_t bytes) { *out = (uint64_t)(uintptr_t)calloc(1, bytes); return *out ? 0 : 2; }
int cuMemFree_v2(uint64_t p);
int cuMemFree_v2(uint64_t p) { free((void *)(uintptr_t)p); return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { memcpy((void *)(uintptr_t)to, from, n); return 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { memcpy(to, (void *)(uintptr_t)from, n); return 0; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream) { (void)stream; memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n); return 0; }

int cuTensorMapEncodeTiled(uint64_t *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *pitches,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int l2, int fill);
int cuTensorMapEncodeTiled(uint64_t *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *pitches,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int l2, int fill)
{
    (void)steps, (void)interleave, (void)swizzle, (void)l2, (void)fill;
    printf("map type %d at +%u:", type, (unsigned)((uintptr_t)address % 4096));
    for (uint32_t i = 0; i < rank; i++) printf(" %llu/%u", (unsigned long long)dims[i], box[i]);
    printf(", pitch %llu%s\n", (unsigned long long)pitches[0], (uintptr_t)map % 64 == 0 ? "" : ": not aligned");
    return 0;
}

int cuLaunchKernelEx(const Config *c, void *f, void **params, void **extra);
int cuLaunchKernelEx(const Config *c, void *f, void **params, void **extra)
{
    (void)params, (void)extra;
    printf("launch %s grid %u %u %u threads %u", (const char *)f, c->grid[0], c->grid[1], c->grid[2], c->block[0]);
    for (unsigned i = 0; i < c->nattrs; i++) { /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .._PROGRAMMATIC_STREAM_SERIALIZATION */
        const unsigned *v = c->attrs[i].value.cluster;
        if (c->attrs[i].id == 4) printf(" cluster %u %u %u", v[0], v[1], v[2]);
        if (c->attrs[i].id == 6) printf(" dependent %u", v[0]);
    }
    printf("%s\n", c->stream ? " on a stream" : "");
    return 0;
}
