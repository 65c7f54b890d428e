/* The device behind the CUDA driver API. */
#include <stdio.h>
#include <string.h>

#include "runtime/workspace.h"
#include "runtime/cuda_api.h"
#include "runtime/device.h"
#include "runtime/report.h"

typedef struct CudaDevice {
    tile_device base;
    CudaApi api;
    void *library;
    CuContext ctx;
    CuDevice device;
    bool retained; /* ctx is the primary context, to be released */
    int driver;    /* 13000 = 13.0 */
    Counters counters;
    Workspace workspace;
} CudaDevice;

/* A call that fails leaves the function it stands in with the error filled. */
#define CALL(c, err, text, ...)                                                                                        \
    do {                                                                                                               \
        CuResult r_ = (c)->api.__VA_ARGS__;                                                                            \
        if (r_ != CU_OK) return cuda_failed(&(c)->api, (err), r_, (text));                                             \
    } while (0)

/* The device's context is made current for one operation unless it is already. */
static tile_status enter(CudaDevice *c, bool *pushed, tile_error *err)
{
    CuContext now = NULL;
    *pushed = false;
    if (c->api.CtxGetCurrent(&now) == CU_OK && now == c->ctx) return TILE_OK;
    CALL(c, err, "cuCtxPushCurrent", CtxPushCurrent(c->ctx));
    *pushed = true;
    return TILE_OK;
}

static void leave(CudaDevice *c, bool pushed)
{
    CuContext popped;
    if (pushed) c->api.CtxPopCurrent(&popped);
}

/* Runs one driver call in the device's context. */
#define IN_CONTEXT(d, err, text, ...)                                                                                  \
    CudaDevice *c = (CudaDevice *)(d);                                                                                 \
    bool pushed;                                                                                                       \
    tile_status s = enter(c, &pushed, (err));                                                                          \
    if (s != TILE_OK) return s;                                                                                        \
    CuResult r = c->api.__VA_ARGS__;                                                                                   \
    leave(c, pushed);                                                                                                  \
    return r == CU_OK ? succeed(err) : cuda_failed(&c->api, (err), r, (text))

static tile_status cuda_alloc(tile_device *d, size_t bytes, uint64_t *address, tile_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "cuMemAlloc(%zu bytes)", bytes);
    IN_CONTEXT(d, err, text, MemAlloc(address, bytes));
}

static tile_status cuda_release(tile_device *d, uint64_t address, tile_error *err)
{
    IN_CONTEXT(d, err, "cuMemFree", MemFree(address));
}

static tile_status cuda_write(tile_device *d, uint64_t to, const void *from, size_t bytes, tile_error *err)
{
    IN_CONTEXT(d, err, "cuMemcpyHtoD", MemcpyHtoD(to, from, bytes));
}

static tile_status cuda_read(tile_device *d, void *to, uint64_t from, size_t bytes, tile_error *err)
{
    IN_CONTEXT(d, err, "cuMemcpyDtoH", MemcpyDtoH(to, from, bytes));
}

static tile_status cuda_copy(tile_device *d, uint64_t to, uint64_t from, size_t bytes, void *stream, tile_error *err)
{
    IN_CONTEXT(d, err, "cuMemcpyDtoDAsync", MemcpyDtoDAsync(to, from, bytes, (CuStream)stream));
}

static tile_status cuda_synchronize(tile_device *d, void *stream, tile_error *err)
{
    IN_CONTEXT(d, err, "cuStreamSynchronize", StreamSynchronize((CuStream)stream));
}

static void *pointer_of(size_t n) /* cuModuleLoadDataEx takes numbers as pointers */
{
    return (void *)(uintptr_t)n;
}

static tile_status cuda_load(tile_device *d, const void *image, bool is_ptx, void **module, tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed;
    tile_status s = enter(c, &pushed, err);
    if (s != TILE_OK) return s;
    char log[2048] = "", info[512] = "";
    int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE, CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_SIZE};
    void *values[] = {log, pointer_of(sizeof log), info, pointer_of(sizeof info)};
    CuModule m = NULL;
    CuResult r = c->api.ModuleLoadDataEx(&m, image, 4, options, values);
    leave(c, pushed);
    if (r == CU_OK) {
        info[sizeof info - 1] = 0;
        if (info[0]) host_log(&d->host, "the driver's compiler: %s", info);
        *module = m;
        return TILE_OK;
    }
    s = cuda_failed(&c->api, err, r, "cuModuleLoadDataEx");
    log[sizeof log - 1] = 0;
    if (err) {
        size_t n = strlen(err->text);
        const char *hint = is_ptx && r == CU_UNSUPPORTED_PTX_VERSION
                               ? "; the driver is older than the PTX: compile to a cubin, or update the driver"
                               : "";
        snprintf(err->text + n, sizeof err->text - n, "%s%s%s", hint, log[0] ? "\n" : "", log[0] ? log : "");
    }
    if (s == TILE_ERROR_DRIVER && !cuda_context_lost(r)) s = TILE_ERROR_MODULE; /* it is the image that was refused */
    if (err) err->status = s;
    return s;
}

static void cuda_unload(tile_device *d, void *module)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed;
    if (enter(c, &pushed, NULL) != TILE_OK) return; /* a dead context has taken its modules along */
    c->api.ModuleUnload((CuModule)module);
    leave(c, pushed);
}

static tile_status find_variable(CudaDevice *c, void *module, const char *name, size_t bytes, uint64_t *address,
                                 tile_error *err)
{
    CuAddress at = 0;
    size_t has = 0;
    if (!c->api.ModuleGetGlobal) return fail(err, TILE_ERROR_DRIVER, "the driver has no cuModuleGetGlobal_v2");
    CALL(c, err, "cuModuleGetGlobal", ModuleGetGlobal(&at, &has, (CuModule)module, name));
    if (has != bytes) return fail(err, TILE_ERROR_ARGUMENT, "`%s` has %zu bytes, not %zu", name, has, bytes);
    *address = at;
    return TILE_OK;
}

static tile_status cuda_variable(tile_device *d, void *module, const char *name, size_t bytes, uint64_t *address,
                                 tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed;
    tile_status s = enter(c, &pushed, err);
    if (s != TILE_OK) return s;
    s = find_variable(c, module, name, bytes, address, err);
    leave(c, pushed);
    return s;
}

enum { PORTABLE_CLUSTER = 8 }; /* CUDA C++ Programming Guide, Thread Block Clusters */

static tile_status prepare_function(CudaDevice *c, void *module, const char *entry, uint32_t smem,
                                    uint32_t cluster_size, void **function, tile_error *err)
{
    CuFunction f = NULL;
    CALL(c, err, "cuModuleGetFunction", ModuleGetFunction(&f, (CuModule)module, entry));
    /* More than the GPU has is left to the launch's own checks, which name the limit; up to 48 KB nobody has to ask. */
    if (smem > UNASKED_SMEM && smem <= (uint32_t)c->base.limits.max_smem)
        CALL(c, err, "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)",
             FuncSetAttribute(f, CU_FUNC_MAX_DYNAMIC_SMEM, (int)smem));
    if (cluster_size > PORTABLE_CLUSTER)
        CALL(c, err, "cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)",
             FuncSetAttribute(f, CU_FUNC_NON_PORTABLE_CLUSTER, 1));
    *function = f;
    return TILE_OK;
}

static tile_status cuda_function(tile_device *d, void *module, const char *entry, uint32_t smem, uint32_t cluster_size,
                                 void **function, tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed;
    tile_status s = enter(c, &pushed, err);
    if (s != TILE_OK) return s;
    s = prepare_function(c, module, entry, smem, cluster_size, function, err);
    leave(c, pushed);
    return s;
}

/* Drivers that mark the descriptor of a small tensor wrongly on Blackwell. The release notes of 595.71.05 (CUDA 13.2,
 * known issues) say: sporadic illegal accesses through maps of tensors whose memory is smaller than 128 KiB and which
 * are not dense; after encoding, clear bit 85 of such maps; only for Blackwell's layout of the descriptor. CUTLASS
 * and Triton (triton-lang/triton#9235) do so up to 13.1, CCCL below 13.2 (NVIDIA/cccl#6985); 13.2 and 13.3 are still
 * affected (triton-lang/triton#11011). Hopper's maps are left alone. */
static const struct {
    int sm_min, sm_max, driver_max;
    uint64_t bytes_below;
    int word, bit;
} SMALL_TENSOR_FAULT = {100, 129, 13030, UINT64_C(128) << 10, 1, 21};

static void mend_map(const CudaDevice *c, const MapMemory *memory, CuTensorMap *map)
{
    if (c->base.limits.sm < SMALL_TENSOR_FAULT.sm_min || c->base.limits.sm > SMALL_TENSOR_FAULT.sm_max) return;
    if (c->driver > SMALL_TENSOR_FAULT.driver_max || memory->bytes >= SMALL_TENSOR_FAULT.bytes_below) return;
    if (!memory->dense) map->opaque[SMALL_TENSOR_FAULT.word] &= ~(UINT64_C(1) << SMALL_TENSOR_FAULT.bit);
}

typedef struct DriverMap { /* the driver's arrays: innermost dimension first */
    uint64_t dims[MAP_RANK], pitches[MAP_RANK];
    uint32_t box[MAP_RANK], elem_strides[MAP_RANK];
    int lower[3], upper[3];
} DriverMap;

static DriverMap to_driver(const MapDesc *m)
{
    DriverMap v = {0};
    for (int i = 0; i < m->rank; i++) {
        int from = m->rank - 1 - i;
        v.dims[i] = (uint64_t)m->dim[from];
        v.box[i] = (uint32_t)m->box[from];
        v.elem_strides[i] = (uint32_t)m->elem_stride[from];
        if (i > 0) v.pitches[i - 1] = (uint64_t)m->pitch[from];
    }
    /* The four rows come from the instruction's coordinates, the descriptor's box has one (PTX ISA, tiled::gather4). */
    if (map_is_rows4(m->mode)) v.box[m->rank - 1] = 1;
    if (map_is_wide(m->mode)) { /* W alone */
        v.lower[0] = (int)m->lower[0];
        v.upper[0] = (int)m->upper[0];
        return v;
    }
    for (int i = 0; i < m->rank - 2; i++) { /* cuda.h says D, H, W; measured on an H200: W comes first */
        v.lower[i] = (int)m->lower[m->rank - 3 - i];
        v.upper[i] = (int)m->upper[m->rank - 3 - i];
    }
    return v;
}

/* The driver's function for the map's mode, called; *name: which one. */
static CuResult encode(const CudaApi *api, const MapDesc *m, CuTensorMap *out, const char **name)
{
    DriverMap v = to_driver(m);
    void *address = (void *)(uintptr_t)m->address;
    uint32_t rank = (uint32_t)m->rank, channels = (uint32_t)m->channels, pixels = (uint32_t)map_pixels(m->mode, m->pixels, 0);
    switch (m->mode) {
    case MAP_IM2COL:
        *name = "cuTensorMapEncodeIm2col";
        return api->TensorMapEncodeIm2col(out, m->type, rank, address, v.dims, v.pitches, v.lower, v.upper, channels, pixels,
                                          v.elem_strides, m->interleave, m->swizzle, m->l2, m->fill);
    case MAP_IM2COL_W:
    case MAP_IM2COL_W128:
        *name = "cuTensorMapEncodeIm2colWide";
        return api->TensorMapEncodeIm2colWide(out, m->type, rank, address, v.dims, v.pitches, v.lower[0], v.upper[0], channels,
                                              pixels, v.elem_strides, m->interleave,
                                              m->mode == MAP_IM2COL_W ? CU_IM2COL_WIDE_W : CU_IM2COL_WIDE_W128, m->swizzle,
                                              m->l2, m->fill);
    default:
        *name = "cuTensorMapEncodeTiled";
        return api->TensorMapEncodeTiled(out, m->type, rank, address, v.dims, v.pitches, v.box, v.elem_strides, m->interleave,
                                         m->swizzle, m->l2, m->fill);
    }
}

static tile_status cuda_encode_map(tile_device *d, const MapDesc *m, const MapMemory *memory, void *map,
                                   tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    if (map_is_wide(m->mode) && !c->api.TensorMapEncodeIm2colWide)
        return fail_rule(err, TILE_ERROR_DRIVER, E1110, "the driver (CUDA %d.%d) has no im2col_w maps: 12.8 is needed",
                         c->driver / 1000, c->driver % 1000 / 10);
    if (m->mode == MAP_IM2COL ? !c->api.TensorMapEncodeIm2col : !c->api.TensorMapEncodeTiled)
        return fail_rule(err, TILE_ERROR_DRIVER, E1110, "the driver (CUDA %d.%d) has no tensor maps: 12.0 is needed",
                         c->driver / 1000, c->driver % 1000 / 10);
    bool pushed;
    tile_status s = enter(c, &pushed, err); /* without a current context encoding fails with 201 (measured) */
    if (s != TILE_OK) return s;
    CuTensorMap *out = map;
    const char *name;
    CuResult r = encode(&c->api, m, out, &name);
    leave(c, pushed);
    if (r != CU_OK) return cuda_failed(&c->api, err, r, name);
    mend_map(c, memory, out);
    return TILE_OK;
}

/* attr: room for what config points to. */
static CuLaunchConfig configure(const Launch *l, void *stream, CuLaunchAttribute *attr)
{
    CuLaunchConfig config = {l->grid[0], l->grid[1], l->grid[2], l->threads, 1, 1, l->smem, (CuStream)stream, attr, 0};
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
        *attr = (CuLaunchAttribute){.id = CU_LAUNCH_CLUSTER_DIMENSION};
        attr->value.cluster.x = l->cluster[0];
        attr->value.cluster.y = l->cluster[1];
        attr->value.cluster.z = l->cluster[2];
        config.nattrs = 1;
    }
    return config;
}

static CuResult ask_occupancy(CudaDevice *c, const Launch *l, bool clusters, int *n)
{
    if (!clusters) return c->api.OccupancyMaxActiveBlocks(n, (CuFunction)l->function, (int)l->threads, l->smem);
    CuLaunchAttribute attr;
    Launch one = *l;
    memcpy(one.grid, l->cluster, sizeof one.grid);
    CuLaunchConfig config = configure(&one, NULL, &attr);
    CuResult r = c->api.OccupancyMaxActiveClusters(n, (CuFunction)l->function, &config);
    if (r == CU_INVALID_CLUSTER_SIZE) *n = 0;
    return r == CU_INVALID_CLUSTER_SIZE ? CU_OK : r;
}

static tile_status cuda_resident(tile_device *d, const Launch *l, uint32_t per_sm, uint32_t *teams, tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    const DeviceLimits *limits = &d->limits;
    *teams = 0;
    if (l->threads > (uint32_t)limits->max_threads || l->smem > (uint32_t)limits->max_smem) return succeed(err);
    uint32_t size = l->cluster[0] * l->cluster[1] * l->cluster[2], sms = (uint32_t)limits->sms;
    bool pushed;
    tile_status s = enter(c, &pushed, err);
    if (s != TILE_OK) return s;
    int n = 0;
    CuResult r = ask_occupancy(c, l, size > 1, &n);
    leave(c, pushed);
    const char *call = size > 1 ? "cuOccupancyMaxActiveClusters" : "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    if (r != CU_OK) return cuda_failed(&c->api, err, r, call);
    if (n <= 0) return succeed(err);
    uint32_t fit = size > 1 ? (uint32_t)n : (uint32_t)n * sms; /* n: per device, per SM */
    uint32_t most = per_sm ? sms * per_sm / size : fit;
    *teams = fit < most ? fit : most > 0 ? most : 1;
    return succeed(err);
}

static tile_status cuda_launch(tile_device *d, const Launch *l, void *stream, tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed;
    tile_status s = enter(c, &pushed, err);
    if (s != TILE_OK) return s;
    if (l->ncounters) s = counters_take(&c->counters, &c->api, (CuStream)stream, l->counters, l->ncounters, err);
    if (s == TILE_OK && l->maps)
        s = workspace_take(&c->workspace, &c->counters, &c->api, (CuStream)stream, l->maps_bytes, l->maps, err);
    if (s != TILE_OK) {
        leave(c, pushed);
        return s;
    }
    CuLaunchAttribute attr[2];
    CuLaunchConfig config = configure(l, stream, attr);
    if (l->dependent) attr[config.nattrs++] = (CuLaunchAttribute){.id = CU_LAUNCH_DEPENDENT, .value.dependent = 1};
    CuResult r = c->api.LaunchKernelEx(&config, (CuFunction)l->function, l->params, NULL);
    leave(c, pushed);
    return r == CU_OK ? TILE_OK : cuda_failed(&c->api, err, r, "cuLaunchKernelEx");
}

typedef struct CudaTimer {
    CuEvent start, stop;
} CudaTimer;

static tile_status start_timer(CudaDevice *c, CudaTimer *t, void *stream, tile_error *err)
{
    CALL(c, err, "cuEventCreate", EventCreate(&t->start, 0));
    CALL(c, err, "cuEventCreate", EventCreate(&t->stop, 0));
    CALL(c, err, "cuEventRecord", EventRecord(t->start, (CuStream)stream));
    return TILE_OK;
}

static tile_status stop_timer(CudaDevice *c, CudaTimer *t, void *stream, double *milliseconds, tile_error *err)
{
    float ms = 0;
    CALL(c, err, "cuEventRecord", EventRecord(t->stop, (CuStream)stream));
    CALL(c, err, "cuEventSynchronize", EventSynchronize(t->stop));
    CALL(c, err, "cuEventElapsedTime", EventElapsedTime(&ms, t->start, t->stop));
    *milliseconds = (double)ms;
    return TILE_OK;
}

static void free_timer(CudaDevice *c, CudaTimer *t)
{
    if (t->start) c->api.EventDestroy(t->start);
    if (t->stop) c->api.EventDestroy(t->stop);
    host_free(&c->base.host, t);
}

static tile_status cuda_timer_start(tile_device *d, void *stream, void **timer, tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    CudaTimer *t = host_zeros(&d->host, 1, sizeof *t);
    if (!t) return fail(err, TILE_ERROR_MEMORY, "out of memory");
    bool pushed = false;
    tile_status s = enter(c, &pushed, err);
    if (s == TILE_OK) s = start_timer(c, t, stream, err);
    if (s == TILE_OK) *timer = t;
    else free_timer(c, t);
    leave(c, pushed);
    return s;
}

static tile_status cuda_timer_stop(tile_device *d, void *stream, void *timer, double *milliseconds, tile_error *err)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed = false;
    tile_status s = enter(c, &pushed, err);
    if (s == TILE_OK) s = stop_timer(c, timer, stream, milliseconds, err);
    free_timer(c, timer);
    leave(c, pushed);
    return s;
}

static void cuda_close(tile_device *d)
{
    CudaDevice *c = (CudaDevice *)d;
    bool pushed;
    bool alive = enter(c, &pushed, NULL) == TILE_OK;
    workspace_close(&c->workspace, alive ? &c->api : NULL);
    counters_close(&c->counters, alive ? &c->api : NULL);
    if (alive) leave(c, pushed);
    if (c->retained) c->api.PrimaryCtxRelease(c->device);
    cuda_api_unload(c->library);
    const Host host = d->host;
    host_free(&host, c);
}

static const DeviceOps CUDA_OPS = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .write = cuda_write,
    .read = cuda_read,
    .copy = cuda_copy,
    .synchronize = cuda_synchronize,
    .load = cuda_load,
    .unload = cuda_unload,
    .function = cuda_function,
    .variable = cuda_variable,
    .resident = cuda_resident,
    .encode_map = cuda_encode_map,
    .launch = cuda_launch,
    .timer_start = cuda_timer_start,
    .timer_stop = cuda_timer_stop,
};

/* Uses the current context where it is of the device that is meant, else the device's primary context. */
static tile_status choose_context(CudaDevice *c, int ordinal, tile_error *err)
{
    CuContext now = NULL;
    CuDevice now_device = 0;
    bool current = c->api.CtxGetCurrent(&now) == CU_OK && now && c->api.CtxGetDevice(&now_device) == CU_OK;
    if (current && ordinal < 0) {
        c->device = now_device;
    } else {
        int count = 0, wanted = ordinal < 0 ? 0 : ordinal;
        CALL(c, err, "cuDeviceGetCount", DeviceGetCount(&count));
        if (wanted >= count)
            return fail_rule(err, TILE_ERROR_NO_DEVICE, E1116, "there is no device cuda:%d: the driver has %d", wanted,
                             count);
        CALL(c, err, "cuDeviceGet", DeviceGet(&c->device, wanted));
        current = current && now_device == c->device;
    }
    if (current) {
        c->ctx = now;
        return TILE_OK;
    }
    CALL(c, err, "cuDevicePrimaryCtxRetain", PrimaryCtxRetain(&c->ctx, c->device));
    c->retained = true;
    return TILE_OK;
}

static tile_status describe(CudaDevice *c, tile_error *err)
{
    char name[256] = "";
    int major = 0, minor = 0, l2 = 0, clock = 0, bus = 0;
    DeviceLimits *l = &c->base.limits;
    CALL(c, err, "cuDeviceGetName", DeviceGetName(name, (int)sizeof name, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&major, CU_ATTR_CC_MAJOR, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&minor, CU_ATTR_CC_MINOR, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&l->max_threads, CU_ATTR_MAX_THREADS_PER_BLOCK, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&l->max_smem, CU_ATTR_MAX_SMEM_OPTIN, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&l->sms, CU_ATTR_MULTIPROCESSOR_COUNT, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&l2, CU_ATTR_L2_BYTES, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&clock, CU_ATTR_MEMORY_CLOCK, c->device));
    CALL(c, err, "cuDeviceGetAttribute", DeviceGetAttribute(&bus, CU_ATTR_MEMORY_BUS, c->device));
    l->l2 = l2;
    l->bandwidth = (int64_t)clock * bus / 4000; /* twice in a clock: kB/ms */
    l->sm = major * 10 + minor;
    c->base.arch = device_best_arch(l->sm);
    name[sizeof name - 1] = 0;
    snprintf(c->base.name, sizeof c->base.name, "%s (sm_%d)", name, l->sm);
    snprintf(c->base.gpu, sizeof c->base.gpu, "%s", name);
    if (!c->api.LaunchKernelEx || !c->api.OccupancyMaxActiveClusters)
        return fail_rule(err, TILE_ERROR_NO_DEVICE, E1116,
                         "the driver (CUDA %d.%d) has no cuLaunchKernelEx: 11.8 is needed", c->driver / 1000,
                         c->driver % 1000 / 10);
    return TILE_OK;
}

static tile_status open_device(CudaDevice *c, int ordinal, tile_error *err)
{
    CALL(c, err, "cuInit", Init(0));
    CALL(c, err, "cuDriverGetVersion", DriverGetVersion(&c->driver));
    tile_status s = choose_context(c, ordinal, err);
    if (s == TILE_OK) s = describe(c, err);
    if (s != TILE_OK && c->retained) c->api.PrimaryCtxRelease(c->device);
    return s;
}

tile_status cuda_device_open(const CudaApi *api, void *library, int ordinal, const Host *host, tile_device **out, tile_error *err)
{
    *out = NULL;
    CudaDevice *c = host_zeros(host, 1, sizeof *c);
    if (!c) return fail(err, TILE_ERROR_MEMORY, "out of memory");
    c->base.ops = &CUDA_OPS;
    if (host) c->base.host = *host;
    c->api = *api;
    bool counters = counters_open(&c->counters, &c->base.host);
    if (!counters || !workspace_open(&c->workspace, &c->base.host)) {
        if (counters) counters_close(&c->counters, NULL);
        host_free(host, c);
        return fail(err, TILE_ERROR_MEMORY, "out of memory");
    }
    tile_status s = open_device(c, ordinal, err);
    if (s != TILE_OK) {
        workspace_close(&c->workspace, NULL);
        counters_close(&c->counters, NULL);
        host_free(host, c);
        return s;
    }
    c->library = library;
    *out = &c->base;
    return succeed(err);
}
