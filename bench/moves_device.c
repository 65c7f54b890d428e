#include "bench/moves_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc.h"

void die(const char *what)
{
    fprintf(stderr, "moves: %s\n", what);
    exit(1);
}

/* ---- device ---- */

/* The primary context becomes current: the driver's copies and events are then of the same one as libtile's launches. */
static bool open_cuda(Machine *m)
{
    tile_error err;
    CuContext ctx;
    CuDevice device;
    if (cuda_api_load(&m->api, &m->library, &err) != TILE_OK) {
        fprintf(stderr, "moves: %s\n", err.text);
        return false;
    }
    if (m->api.Init(0) != CU_OK || m->api.DeviceGet(&device, 0) != CU_OK) {
        fprintf(stderr, "moves: the driver has no device\n");
        return false;
    }
    if (m->api.PrimaryCtxRetain(&ctx, device) != CU_OK || m->api.CtxPushCurrent(ctx) != CU_OK) die("no context");
    void *copy = dlsym(m->library, "cuMemcpyDtoDAsync_v2");
    if (!copy) die("the driver has no cuMemcpyDtoDAsync");
    memcpy(&m->copy, &copy, sizeof copy);
    for (int i = 0; i <= REPEATS_MOST; i++)
        if (m->api.EventCreate(&m->events[i], 0) != CU_OK) die("cuEventCreate failed");
    return true;
}

bool machine_open(Machine *m, const char *device)
{
    memset(m, 0, sizeof *m);
    m->is_cuda = strncmp(device, "sim", 3) != 0;
    if (m->is_cuda && !open_cuda(m)) return false;
    tile_error err;
    tile_status s = tile_device_open(device, &m->device, &err);
    if (s == TILE_OK) return true;
    fprintf(stderr, "moves: %s\n", err.text);
    if (s != TILE_ERROR_NO_DEVICE) exit(1);
    return false;
}

void machine_close(Machine *m)
{
    tile_device_close(m->device);
    for (int i = 0; m->is_cuda && i <= REPEATS_MOST; i++) m->api.EventDestroy(m->events[i]);
}

bool machine_clear(Machine *m, const Tensor *t)
{
    size_t bytes = (size_t)t->n * t->size;
    if (!m->is_cuda || bytes % 4 != 0 || (t->fill != FILL_ZERO && t->fill != FILL_POISON)) return false;
    unsigned word = t->fill == FILL_ZERO ? 0 : 0xA5A5A5A5u;
    if (m->api.MemsetD32Async(t->address, word, bytes / 4, NULL) != CU_OK) die("cuMemsetD32Async failed");
    return true;
}

/* ---- programs ---- */

static char *read_text(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "moves: %s can't be read; run it from the repository's root\n", path);
        exit(1);
    }
    size_t room = 1 << 20;
    char *s = malloc(room);
    if (!s) die("out of memory");
    *size = fread(s, 1, room, f);
    fclose(f);
    return s;
}

/* "BM=64,BN=256" is cut up in place. */
static size_t read_defines(char *text, tilecc_define *out, size_t most)
{
    size_t n = 0;
    for (char *p = strtok(text, ","); p && n < most; p = strtok(NULL, ",")) {
        char *equals = strchr(p, '=');
        if (!equals) die("a define has no `=`");
        *equals = 0;
        out[n++] = (tilecc_define){p, equals + 1};
    }
    return n;
}

static void first_line(const tilecc_result *c, char *why, size_t room)
{
    const char *text = c->diagnostics_size ? c->diagnostics : c->message;
    snprintf(why, room, "%.*s", (int)strcspn(text, "\n"), text);
}

bool machine_compile(Machine *m, const Variant *v, tile_module **out, char *why, size_t room)
{
    size_t size;
    char *text = read_text(v->file, &size), defines[sizeof v->defines];
    memcpy(defines, v->defines, sizeof defines);
    tilecc_define list[8];
    tilecc_options o = {.struct_size = sizeof o, .emit = m->is_cuda ? TILECC_EMIT_CUBIN : TILECC_EMIT_PTX};
    o.default_arch = tile_device_arch(m->device);
    o.defines = list;
    o.ndefines = read_defines(defines, list, sizeof list / sizeof *list);
    o.hints = v->hints;
    o.error_format = TILECC_SHORT;
    tilecc_result *c = tilecc_compile(&o, v->file, text, size);
    if (c && c->status == TILECC_ERROR_TOOL) { /* no assembler here: the driver has one */
        tilecc_free(c);
        o.emit = TILECC_EMIT_PTX;
        c = tilecc_compile(&o, v->file, text, size);
    }
    free(text);
    if (!c) die("out of memory");
    bool ok = c->status == TILECC_OK;
    tile_error err;
    if (!ok) first_line(c, why, room);
    else if (tile_module_load(m->device, c->output, c->output_size, out, &err) != TILE_OK) die(err.text);
    tilecc_free(c);
    return ok;
}

/* ---- time ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

typedef void Step(Machine *m, void *user);

static void launch_step(Machine *m, void *user)
{
    (void)m;
    tile_error err;
    if (tile_launch(user, NULL, &err) != TILE_OK) die(err.text);
}

typedef struct Copy {
    CuAddress to, from;
    size_t bytes;
} Copy;

static void copy_step(Machine *m, void *user)
{
    const Copy *c = user;
    if (m->copy(c->to, c->from, c->bytes, NULL) != CU_OK) die("cuMemcpyDtoDAsync failed");
}

/* An event between any two steps, so that the GPU never waits for this program. */
static double time_steps(Machine *m, Step *step, void *user, int repeats)
{
    static double ms[REPEATS_MOST];
    tile_error err;
    for (int i = 0; i < WARM_UP; i++) step(m, user);
    bool ok = m->api.EventRecord(m->events[0], NULL) == CU_OK;
    for (int i = 0; i < repeats; i++) {
        step(m, user);
        ok = ok && m->api.EventRecord(m->events[i + 1], NULL) == CU_OK;
    }
    if (!ok) die("cuEventRecord failed");
    if (tile_synchronize(m->device, NULL, &err) != TILE_OK) die(err.text);
    for (int i = 0; i < repeats; i++) {
        float t = 0;
        if (m->api.EventElapsedTime(&t, m->events[i], m->events[i + 1]) != CU_OK) die("cuEventElapsedTime failed");
        ms[i] = (double)t;
    }
    return median(ms, repeats);
}

double machine_time_tile(Machine *m, tile_args *args, int repeats)
{
    if (m->is_cuda) return time_steps(m, launch_step, args, repeats);
    static double ms[REPEATS_MOST];
    tile_error err;
    for (int i = -WARM_UP; i < repeats; i++)
        if (tile_time(args, NULL, 1, &ms[i < 0 ? 0 : i], &err) != TILE_OK) die(err.text);
    return median(ms, repeats);
}

double machine_time_memcpy(Machine *m, size_t bytes, int repeats)
{
    if (!m->is_cuda) return 0;
    Copy c = {.bytes = bytes};
    tile_error err;
    if (tile_alloc(m->device, bytes, &c.to, &err) != TILE_OK || tile_alloc(m->device, bytes, &c.from, &err) != TILE_OK)
        die(err.text);
    double ms = time_steps(m, copy_step, &c, repeats);
    tile_release(m->device, c.to, NULL);
    tile_release(m->device, c.from, NULL);
    return ms;
}
