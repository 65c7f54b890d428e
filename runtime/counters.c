#include "runtime/counters.h"

#include "runtime/report.h"

static tile_status no_memory(tile_error *err)
{
    return fail(err, TILE_ERROR_MEMORY, "out of memory");
}

bool counters_open(Counters *c, const Host *host)
{
    *c = (Counters){.host = host};
    if (pthread_mutex_init(&c->lock, NULL) != 0) return false;
    if (pthread_key_create(&c->thread_key, NULL) == 0) return true;
    pthread_mutex_destroy(&c->lock);
    return false;
}

void counters_close(Counters *c, const CudaApi *api)
{
    for (uint32_t i = 0; api && i < c->npages; i++) api->MemFree(c->pages[i]);
    pthread_key_delete(c->thread_key);
    pthread_mutex_destroy(&c->lock);
    host_free(c->host, c->pages);
    host_free(c->host, c->streams);
}

/* ---- places ---- */

/* On a stream of its own, which no capture can know of. */
static CuResult clear_memory(const CudaApi *api, CuAddress at, size_t bytes, const char **call)
{
    CuStream s;
    *call = "cuStreamCreate";
    CuResult r = api->StreamCreate(&s, CU_NON_BLOCKING_STREAM);
    if (r != CU_OK) return r;
    *call = "cuMemsetD32Async";
    r = api->MemsetD32Async(at, 0, bytes / 4, s);
    if (r == CU_OK) {
        *call = "cuStreamSynchronize";
        r = api->StreamSynchronize(s);
    }
    api->StreamDestroy(s);
    return r;
}

CuResult memory_of_no_graph(const CudaApi *api, size_t bytes, bool clear, CuAddress *at, const char **call)
{
    int mode = CU_CAPTURE_RELAXED;
    *call = "cuThreadExchangeStreamCaptureMode";
    CuResult r = api->ThreadExchangeStreamCaptureMode(&mode);
    if (r != CU_OK) return r;
    *call = "cuMemAlloc";
    r = api->MemAlloc(at, bytes);
    if (r == CU_OK && clear) {
        r = clear_memory(api, *at, bytes, call);
        if (r != CU_OK) api->MemFree(*at);
    }
    api->ThreadExchangeStreamCaptureMode(&mode);
    return r;
}

static tile_status new_place(Counters *c, const CudaApi *api, CuAddress *place, tile_error *err)
{
    if (c->npages == 0 || c->used == PAGE_PLACES) {
        CuAddress *pages = host_resize(c->host, c->pages, (c->npages + (size_t)1) * sizeof *pages);
        if (!pages) return no_memory(err);
        c->pages = pages;
        const char *call;
        CuResult r = memory_of_no_graph(api, (size_t)PAGE_PLACES * PLACE_BYTES, true, &pages[c->npages], &call);
        if (r != CU_OK) return cuda_failed(api, err, r, call);
        c->npages++;
        c->used = 0;
    }
    *place = c->pages[c->npages - 1] + (CuAddress)c->used++ * PLACE_BYTES;
    return TILE_OK;
}

/* ---- streams ---- */

/* The row of a stream, or the free one where it belongs. There is a free one. */
static StreamPlace *find_row(StreamPlace *rows, uint32_t nrows, uint64_t stream, uint64_t thread)
{
    uint64_t hash = (stream ^ thread << 32) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        StreamPlace *row = &rows[i & (nrows - 1)];
        if (!row->place || (row->stream == stream && row->thread == thread)) return row;
    }
}

static bool grow_table(Counters *c)
{
    uint32_t n = c->nrows ? c->nrows * 2 : 16;
    StreamPlace *rows = host_zeros(c->host, n, sizeof *rows);
    if (!rows) return false;
    for (uint32_t i = 0; i < c->nrows; i++)
        if (c->streams[i].place) *find_row(rows, n, c->streams[i].stream, c->streams[i].thread) = c->streams[i];
    host_free(c->host, c->streams);
    c->streams = rows;
    c->nrows = n;
    return true;
}

/* From 1 on. 0: out of memory. */
static uint64_t thread_number(Counters *c)
{
    uintptr_t n = (uintptr_t)pthread_getspecific(c->thread_key);
    if (n) return n;
    n = c->nthreads + 1;
    if (pthread_setspecific(c->thread_key, (void *)n) != 0) return 0;
    c->nthreads = n;
    return n;
}

static tile_status stream_place(Counters *c, const CudaApi *api, uint64_t stream, bool of_thread, CuAddress *place,
                                tile_error *err)
{
    uint64_t thread = of_thread ? thread_number(c) : 0;
    if (of_thread && thread == 0) return no_memory(err);
    if (c->nstreams >= c->nrows / 2 && !grow_table(c)) return no_memory(err);
    StreamPlace *row = find_row(c->streams, c->nrows, stream, thread);
    if (!row->place) {
        CuAddress fresh;
        tile_status s = new_place(c, api, &fresh, err);
        if (s != TILE_OK) return s;
        *row = (StreamPlace){stream, thread, fresh};
        c->nstreams++;
    }
    *place = row->place;
    return TILE_OK;
}

/* Nobody captures the device's default stream (driver API, cuStreamBeginCapture), and it is one for good: the driver need not be asked. */
static tile_status device_place(Counters *c, const CudaApi *api, CuAddress *place, tile_error *err)
{
    tile_status s = c->of_device ? TILE_OK : new_place(c, api, &c->of_device, err);
    *place = c->of_device;
    return s;
}

tile_status counters_take(Counters *c, const CudaApi *api, CuStream stream, uint64_t *const *words, uint32_t n,
                          tile_error *err)
{
    bool of_thread = (uintptr_t)stream == CU_STREAM_OF_THREAD, of_device = !stream || (uintptr_t)stream == CU_STREAM_OF_DEVICE;
    if (!api->StreamGetId)
        return fail_rule(err, TILE_ERROR_NO_DEVICE, E1116,
                         "the driver has no cuStreamGetId: CUDA 12.0 is needed for kernels that deal work by tickets");
    int capture = 0;
    unsigned long long id = 0;
    CuResult r = of_device ? CU_OK : api->StreamIsCapturing(stream, &capture);
    if (r != CU_OK) return cuda_failed(api, err, r, "cuStreamIsCapturing");
    bool captured = capture == CU_CAPTURE_ACTIVE; /* then the driver does not say which stream it is */
    if (!captured && !of_device && (r = api->StreamGetId(stream, &id)) != CU_OK) return cuda_failed(api, err, r, "cuStreamGetId");
    CuAddress place = 0;
    pthread_mutex_lock(&c->lock);
    tile_status s = captured  ? new_place(c, api, &place, err)
                  : of_device ? device_place(c, api, &place, err)
                              : stream_place(c, api, id, of_thread, &place, err);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; s == TILE_OK && i < n; i++) *words[i] = place + i * 4;
    return s;
}
