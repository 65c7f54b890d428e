/* Host time of tile_launch against a bare cuLaunchKernelEx with ready maps.
 *
 *     launch_bench
 *
 * Both launch the same kernel with the same two maps and one value; the bare call has its configuration, maps and
 * parameters made beforehand. A kernel that returns at once keeps the GPU ahead of the host; the stream is drained
 * between rounds, outside of the times. Then the same with a kernel whose work is dealt by tickets, in the device's default stream and in one made here:
 * tile_launch finds the counter of the stream, the bare call has one. At last tile_launch_at with tensors that lie elsewhere each time, at few places, whose maps are kept,
 * and at many, whose maps are encoded; the bare call encodes its two maps as well. Prints a line for each. Exit code 3: no GPU here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/manifest/manifest.h"
#include "runtime/cuda_api.h"
#include "tile.h"

enum { ROUNDS = 201, PER_ROUND = 200, SIDE = 4096, PLACES = 64, STEP = 256 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, by_value);
    return v[ROUNDS / 2];
}

static void die(const char *what)
{
    printf("launch_bench: %s\n", what);
    exit(1);
}

/* ---- a kernel with the parameters of a copy and an empty body ---- */

static void add_matrix(Arena *a, MfKernel *k, const char *name, bool written)
{
    Lx m = lx_sym(a, &k->lx, 0), n = lx_sym(a, &k->lx, 1), two = lx_const(a, &k->lx, 2);
    MfTensor t = {.name = name,
                  .type = TYPE_BF16,
                  .rank = 2,
                  .read = !written,
                  .written = written,
                  .extent = {m, n},
                  .align = 16};
    vec_push(a, &k->tensors, t);
    vec_push(a, &k->args, ((struct MfArg){false, k->tensors.n - 1}));
    MfMap map = {.name = name,
                 .tensor = k->tensors.n - 1,
                 .swizzle = MAP_SWIZZLE_128B,
                 .rank = 2,
                 .type = MAP_BF16,
                 .is_load = !written,
                 .is_store = written,
                 .offset = lx_const(a, &k->lx, 0),
                 .dim = {m, n},
                 .pitch = {lx_op(a, &k->lx, LX_MUL, n, two), two},
                 .box = {64, 64},
                 .elem_stride = {1, 1}};
    vec_push(a, &k->maps, map);
    vec_push(a, &k->params, ((MfParam){MF_PARAM_MAP, k->maps.n - 1}));
}

static void write_ptx(Arena *a, Text *out, bool tickets)
{
    Manifest m = {.compiler = "launch_bench", .target = "sm_90", .source = "launch_bench.c"};
    MfKernel *k = vec_add(a, &m.kernels);
    *k = (MfKernel){.name = "copy", .entry = "copy", .cluster = {1, 1, 1}, .threads = 32, .smem = 1024};
    vec_push(a, &k->syms, ((MfSym){"M", MF_SIZE}));
    vec_push(a, &k->syms, ((MfSym){"N", MF_SIZE}));
    add_matrix(a, k, "src", false);
    add_matrix(a, k, "dst", true);
    vec_push(a, &k->params, ((MfParam){MF_PARAM_VALUE, lx_sym(a, &k->lx, 1)}));
    for (int i = 0; i < 3; i++) k->grid[i] = lx_const(a, &k->lx, 1);
    if (tickets) {
        k->deal = MF_DEAL_TICKET;
        k->per_sm = 1;
        k->teams = k->grid[0];
        k->traffic = lx_sym(a, &k->lx, 0);
        vec_push(a, &k->params, ((MfParam){MF_PARAM_COUNTER, 0}));
        vec_push(a, &k->params, ((MfParam){MF_PARAM_HINTS, 0}));
    }
    MfWords w = manifest_encode(&m, a);
    text_printf(out, ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 8 .b64 %s[%zu] = {",
                MANIFEST_SYMBOL, w.n);
    for (size_t i = 0; i < w.n; i++) text_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)w.w[i]);
    text_printf(
        out,
        "};\n.visible .entry copy(.param .align 64 .b8 in[128], .param .align 64 .b8 out[128], .param .s64 n%s)\n"
        "{\n    ret;\n}\n",
        tickets ? ", .param .u64 counter, .param .s64 hints" : "");
}

/* ---- the bare launch ---- */

typedef struct Bare {
    CudaApi api; /* with the functions filled in first */
    CuFunction function;
    CuTensorMap maps[2];
    int64_t n, hints;
    uint64_t counter;
    void *params[5];
    CuLaunchConfig config;
} Bare;

static void encode_bare(Bare *b, const uint64_t address[2], int place)
{
    for (int i = 0; i < 2; i++) {
        const uint64_t dims[2] = {SIDE, SIDE}, pitch[1] = {SIDE * 2};
        const uint32_t box[2] = {64, 64}, steps[2] = {1, 1};
        if (b->api.TensorMapEncodeTiled(&b->maps[i], MAP_BF16, 2, (void *)(uintptr_t)(address[i] + (uint64_t)place * STEP), dims, pitch,
                                        box, steps, 0, MAP_SWIZZLE_128B, 0, 0) != CU_OK)
            die("cuTensorMapEncodeTiled failed");
        b->params[i] = &b->maps[i];
    }
}

static void prepare_bare(Bare *b, const char *ptx, const uint64_t address[2])
{
    CuModule module;
    if (b->api.ModuleLoadDataEx(&module, ptx, 0, NULL, NULL) != CU_OK) die("cuModuleLoadDataEx failed");
    if (b->api.ModuleGetFunction(&b->function, module, "copy") != CU_OK) die("cuModuleGetFunction failed");
    encode_bare(b, address, 0);
    b->n = SIDE;
    b->params[2] = &b->n;
    b->counter = address[0]; /* the kernel touches nothing */
    b->params[3] = &b->counter;
    b->params[4] = &b->hints;
    b->config = (CuLaunchConfig){1, 1, 1, 32, 1, 1, 1024, NULL, NULL, 0};
}

/* places > 0: its maps are encoded anew for each launch. */
static double time_bare(Bare *b, const uint64_t address[2], int places)
{
    double t = now_ns();
    for (int i = 0; i < PER_ROUND; i++) {
        if (places > 0) encode_bare(b, address, i % places);
        if (b->api.LaunchKernelEx(&b->config, b->function, b->params, NULL) != CU_OK) die("cuLaunchKernelEx failed");
    }
    return (now_ns() - t) / PER_ROUND;
}

static double time_tile(tile_args *args, const uint64_t address[2], int places, void *stream)
{
    tile_error err;
    double t = now_ns();
    for (int i = 0; i < PER_ROUND; i++) {
        int64_t shift = places > 0 ? (int64_t)(i % places) * STEP : 0, where[2] = {(int64_t)address[0] + shift, (int64_t)address[1] + shift};
        if ((places > 0 ? tile_launch_at(args, where, 2, stream, &err) : tile_launch(args, stream, &err)) != TILE_OK) die(err.text);
    }
    return (now_ns() - t) / PER_ROUND;
}

static tile_args *bind_all(tile_device *d, tile_module *m, const uint64_t address[2])
{
    static const char *const names[2] = {"src", "dst"};
    const int64_t shape[2] = {SIDE, SIDE};
    tile_error err;
    tile_args *args;
    if (tile_args_new(tile_kernel_at(m, 0), &args, &err) != TILE_OK) die(err.text);
    for (int i = 0; i < 2; i++)
        if (tile_bind(args, names[i], address[i], 0, TILE_BF16, 2, shape, NULL, &err) != TILE_OK) die(err.text);
    if (tile_launch(args, NULL, &err) != TILE_OK || tile_synchronize(d, NULL, &err) != TILE_OK) die(err.text);
    return args;
}

/* Makes the device's primary context current, as in a program that uses the CUDA runtime: both sides find it so. */
static int use_primary_context(CudaApi *api, tile_error *err)
{
    void *library;
    CuContext ctx;
    CuDevice device;
    if (cuda_api_load(api, &library, err) != TILE_OK) return 3;
    if (api->Init(0) != CU_OK || api->DeviceGet(&device, 0) != CU_OK) {
        snprintf(err->text, sizeof err->text, "the driver has no device");
        return 3;
    }
    if (api->PrimaryCtxRetain(&ctx, device) != CU_OK || api->CtxPushCurrent(ctx) != CU_OK) die("no context");
    return 0;
}

static void compare(Bare *bare, tile_device *d, const uint64_t address[2], bool tickets, CuStream stream, int places)
{
    jmp_buf no_memory;
    Mem mem = {.fail = &no_memory};
    if (setjmp(no_memory)) die("out of memory");
    Arena arena;
    Text ptx;
    arena_init(&arena, &mem);
    text_init(&ptx, &mem);
    write_ptx(&arena, &ptx, tickets);

    tile_error err;
    tile_module *module;
    if (tile_module_load(d, ptx.s, ptx.n, &module, &err) != TILE_OK) die(err.text);
    tile_args *args = bind_all(d, module, address);
    static double tile_ns[ROUNDS], bare_ns[ROUNDS];
    prepare_bare(bare, ptx.s, address);
    bare->config.stream = stream;
    for (int i = 0; i < ROUNDS; i++) { /* in turn, so that drift of the clock meets both */
        bare_ns[i] = time_bare(bare, address, places);
        tile_synchronize(d, stream, NULL);
        tile_ns[i] = time_tile(args, address, places, stream);
        tile_synchronize(d, stream, NULL);
    }
    double t = median(tile_ns), b = median(bare_ns);
    char at[32] = "";
    if (places > 0) snprintf(at, sizeof at, " at %d places", places);
    printf("launch%s%s%s: tile_launch %.0f ns, bare cuLaunchKernelEx %.0f ns, ratio %.3f (median of %d x %d, %s)\n",
           tickets ? " with tickets" : "", stream ? " in a stream" : "", at, t, b, t / b, ROUNDS, PER_ROUND, tile_device_name(d));
    tile_args_free(args);
    tile_module_free(module);
    text_free(&ptx);
    arena_free(&arena);
}

int main(void)
{
    static Bare bare;
    tile_error err;
    tile_device *d;
    if (use_primary_context(&bare.api, &err) != 0) {
        printf("launch_bench: %s\n", err.text);
        return 3;
    }
    if (tile_device_open("cuda", &d, &err) != TILE_OK) {
        printf("launch_bench: %s\n", err.text);
        return 3;
    }
    uint64_t address[2];
    for (int i = 0; i < 2; i++)
        if (tile_alloc(d, (size_t)SIDE * SIDE * 2 + PLACES * STEP, &address[i], &err) != TILE_OK) die(err.text);
    CuStream stream;
    if (bare.api.StreamCreate(&stream, CU_NON_BLOCKING_STREAM) != CU_OK) die("cuStreamCreate failed");
    compare(&bare, d, address, false, NULL, 0);
    compare(&bare, d, address, true, NULL, 0);
    compare(&bare, d, address, true, stream, 0);
    compare(&bare, d, address, false, NULL, 2);
    compare(&bare, d, address, false, NULL, PLACES);
    return 0;
}
