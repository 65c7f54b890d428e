/* What --emit=c-driver made of kernels.tile on a GPU, by the driver alone: what comes out is compared with loops. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { ROWS = 1000, COLUMNS = 520, BYTES = ROWS * COLUMNS * 4 };
static unsigned char in[BYTES], out[BYTES];
static int failures;
static tile_error err;

static void *library;
static void find(const char *name, void *function) /* as POSIX says of dlsym */
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
}
static int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*make_current)(void *), (*allocate)(uint64_t *, size_t);
static int (*to_device)(uint64_t, const void *, size_t), (*to_host)(void *, uint64_t, size_t), (*synchronize)(void *), (*new_stream)(void **, unsigned);

static void check(const char *what, tile_status s, int good)
{
    printf("%s: %s%s\n", what, s == TILE_OK && good ? "ok" : "FAILED ", s == TILE_OK ? "" : err.text);
    failures += s != TILE_OK || !good;
}

int main(void)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        puts("there is no driver");
        return 77;
    }
    find("cuInit", &init), find("cuDeviceGet", &get), find("cuDevicePrimaryCtxRetain", &retain), find("cuCtxSetCurrent", &make_current);
    find("cuMemAlloc_v2", &allocate), find("cuMemcpyHtoD_v2", &to_device), find("cuMemcpyDtoH_v2", &to_host);
    find("cuStreamSynchronize", &synchronize), find("cuStreamCreate", &new_stream);
    int device = 0;
    void *context = NULL, *stream = NULL;
    uint64_t a = 0, b = 0;
    if (init(0) || get(&device, 0) || retain(&context, device) || make_current(context) || allocate(&a, BYTES) || allocate(&b, BYTES) ||
        new_stream(&stream, 1)) {
        puts("there is no GPU");
        return 77;
    }
    kernels_module *k = NULL;
    check("open", kernels_open(-1, &k, &err), k != NULL);
    if (!k) return 1;
    for (int i = 0; i < BYTES; i++) in[i] = (unsigned char)(i * 7 + i / 251);
    void *const pa = (void *)(uintptr_t)a, *const pb = (void *)(uintptr_t)b;

    for (int turn = 0; turn < 3; turn++) { /* tickets are there again for the next launch */
        to_device(a, in, BYTES), to_device(b, out, BYTES);
        memset(out, 0, BYTES), to_device(b, out, BYTES);
        tile_status s = kernels_copy(k, turn ? stream : NULL, pa, ROWS, COLUMNS, pb, &err);
        synchronize(turn ? stream : NULL), to_host(out, b, BYTES);
        check("copy", s, memcmp(in, out, ROWS * COLUMNS * 2) == 0);
    }
    const int64_t wide[2] = {COLUMNS, 1};
    tile_status s = kernels_columns_strided(k, stream, (const float *)pa + 8, ROWS, 32, wide, (float *)pb, NULL, &err);
    synchronize(stream), to_host(out, b, BYTES);
    int good = 1;
    for (int i = 0; i < ROWS; i++) good = good && memcmp(out + i * 128, in + (i * COLUMNS + 8) * 4, 128) == 0;
    check("columns", s, good);
    s = kernels_open_(k, stream, (const int32_t *)pa, 100, 7, (int32_t *)pb, &err);
    synchronize(stream), to_host(out, b, BYTES);
    check("open_", s, memcmp(out, in + 7 * 128, 100 * 128) == 0);
    s = kernels_copy(k, stream, pa, ROWS, 519, pb, &err);
    check("refused", s == TILE_ERROR_CHECK ? TILE_OK : TILE_ERROR_ARGUMENT, 1);
    kernels_close(k);
    return failures ? 1 : 0;
}
