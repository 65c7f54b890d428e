/* Any bytes as PTX: check-ptx gives its verdicts, and the simulator reads, decodes and runs every entry on a small
 * memory under small limits, without a crash or a hang. Bytes that hold a launch manifest are also loaded as a module,
 * bound and launched. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { BUFFER = 1 << 14, PARAMS = 64, PARAM_BYTES = 1 << 14, NAME = 64, KERNELS = 4 };

static void look(void *user, const tile_ptx_finding *f)
{
    (void)user;
    if (!f->code || !f->text) abort();
}

/* Every parameter starts with a map over the buffer, or with its address. */
static void run_entry(tile_device *d, void *module, const char *name, uint64_t buffer, uint32_t cluster)
{
    static _Alignas(128) unsigned char param[PARAM_BYTES];
    void *params[PARAMS], *function = NULL;
    tile_error e;
    if (d->ops->function(d, module, name, 49152, cluster, &function, &e) != TILE_OK) return;
    MapDesc m = {.mode = MAP_TILED,
                 .type = MAP_U16,
                 .rank = 2,
                 .address = (int64_t)buffer,
                 .dim = {32, 64},
                 .pitch = {128, 2},
                 .box = {8, 64},
                 .elem_stride = {1, 1},
                 .swizzle = MAP_SWIZZLE_128B,
                 .sm = 90};
    MapMemory memory = {BUFFER, true};
    d->ops->encode_map(d, &m, &memory, param, &e);
    if (name[0] % 2) memcpy(param, &buffer, sizeof buffer);
    for (int i = 0; i < PARAMS; i++) params[i] = param;
    Launch l = {.function = function,
                .grid = {2 * cluster, 1, 1},
                .cluster = {cluster, 1, 1},
                .threads = 32,
                .smem = 49152,
                .params = params};
    d->ops->launch(d, &l, NULL, &e);
}

static void run_entries(tile_device *d, const char *text, uint64_t buffer)
{
    tile_error e;
    void *module = NULL;
    if (d->ops->load(d, text, true, &module, &e) != TILE_OK) return;
    int kernels = 0;
    for (const char *p = text; (p = strstr(p, ".entry")) != NULL && kernels++ < KERNELS;) {
        char name[NAME];
        size_t n = 0;
        p += strlen(".entry");
        while (isspace((unsigned char)*p)) p++;
        while (n + 1 < NAME && (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '$')) n++;
        memcpy(name, p, n);
        name[n] = 0;
        run_entry(d, module, name, buffer, strstr(text, "cluster") ? 2 : 1);
    }
    d->ops->unload(d, module);
}

/* Tensors of one odd shape for all parameters, sizes by whatever fits. */
static void launch_kernel(tile_module *m, uint64_t buffer)
{
    tile_error e;
    tile_args *a = NULL;
    tile_kernel *k = tile_kernel_at(m, 0);
    if (!k || tile_args_new(k, &a, &e) != TILE_OK) return;
    for (size_t i = 0; i < tile_param_count(k); i++) {
        static const int64_t shape[] = {3, 16, 1, 1, 1};
        tile_param p;
        if (tile_param_info(k, i, &p) != TILE_OK) continue;
        if (p.is_scalar) tile_bind_scalar(a, p.name, 1, &e);
        else tile_bind(a, p.name, buffer + 1024 * (i % 8), 1024, p.type, p.rank, shape, NULL, &e);
    }
    tile_launch(a, NULL, &e);
    tile_args_free(a);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const DEVICES[] = {
        "sim:check,steps=20000,seconds=5,bytes=16777216", "sim:fast,steps=50000,seconds=5,bytes=16777216",
        "sim:fuzz,schedules=3,steps=10000,seconds=5,bytes=16777216"};
    tile_error e;
    tile_device *d;
    tile_ptx_summary sum;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    tile_check_ptx(text, size, size % 2 ? "sm_100a" : NULL, NULL, look, NULL, &sum, &e);
    if (tile_device_open(DEVICES[size % 3], &d, &e) != TILE_OK) abort();
    uint64_t buffer = 0;
    if (tile_alloc(d, BUFFER, &buffer, &e) == TILE_OK) {
        run_entries(d, text, buffer);
        tile_module *m = NULL;
        if (size && tile_module_load(d, data, size, &m, &e) == TILE_OK) launch_kernel(m, buffer);
        tile_module_free(m);
    }
    tile_device_close(d);
    free(text);
    return 0;
}
