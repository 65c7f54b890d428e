/* A module with one kernel, copy(src: bf16[M, N], dst: bf16[M, N], n: s32), as the compiler would make it, on the
 * recording driver. For runtime_test.c, after cmocka.h. */
#ifndef TESTS_UNIT_RUNTIME_WORLD_H
#define TESTS_UNIT_RUNTIME_WORLD_H

#include "lang/manifest/manifest.h"
#include "runtime/device.h"
#include "tests/unit/fake_driver.h"

typedef struct Variant { /* what differs from the plain kernel */
    bool strided, accumulate, load_nan, by_address;
    uint32_t cluster, smem;
    int overflow; /* 1 check, 2 value, 3 grid.z, 4 map extent is n * 2^62 */
    const char *target, *entry;
    uint8_t
        deal; /* n * factor iterations (factor 0: n), in a kernel with `counters` counters and a parameter for hints */
    uint32_t per_sm, loads, counters, maps; /* maps: bytes of each CTA for those that it makes */
    bool dependent;
    int schedules; /* of 128, 64, 32 .. threads */
    const MfPick *tuned; /* more picks, and one without a GPU */
    int64_t factor;
    bool hints; /* traffic is that of M x N elements copied */
} Variant;

typedef struct World {
    Mem mem;
    jmp_buf fail;
    Arena arena;
    Text ptx;
    tile_device *device;
    tile_module *module;
    tile_kernel *kernel;
    tile_args *args;
    tile_error err;
} World;

static Lx op(Arena *a, MfKernel *k, LxOp o, Lx x, Lx y)
{
    return lx_op(a, &k->lx, o, x, y);
}

static void add_tensor(Arena *a, MfKernel *k, const Variant *v, const char *name, bool read, bool written, Lx m, Lx n)
{
    MfTensor t = {.name = name,
                  .type = TYPE_BF16,
                  .rank = 2,
                  .read = read,
                  .written = written,
                  .strided = v->strided,
                  .extent = {m, n},
                  .align = 16};
    Lx one = lx_const(a, &k->lx, 1), two = lx_const(a, &k->lx, 2);
    Lx pitch = n;
    if (v->strided) {
        char *sym = arena_printf(a, "%s_pitch", name);
        vec_push(a, &k->syms, ((MfSym){sym, MF_STRIDE}));
        pitch = lx_sym(a, &k->lx, k->syms.n - 1);
    }
    t.stride[0] = pitch;
    t.stride[1] = one;
    vec_push(a, &k->tensors, t);
    vec_push(a, &k->args, ((struct MfArg){false, k->tensors.n - 1}));
    MfMap map = {.name = name[0] == 's' ? "in" : "out",
                 .tensor = k->tensors.n - 1,
                 .swizzle = MAP_SWIZZLE_128B,
                 .rank = 2,
                 .type = MAP_BF16,
                 .is_load = read && !written,
                 .is_store = written,
                 .dim = {m, n},
                 .pitch = {op(a, k, LX_MUL, pitch, two), two},
                 .box = {32, 64},
                 .elem_stride = {1, 1},
                 .offset = lx_const(a, &k->lx, 0)};
    if (v->load_nan && map.is_load) map.fill = MAP_FILL_NAN;
    vec_push(a, &k->maps, map);
    vec_push(a, &k->params,
             ((MfParam){v->by_address && read && !written ? MF_PARAM_ADDRESS : MF_PARAM_MAP, k->maps.n - 1}));
}

static void build_deal(Arena *a, MfKernel *k, const Variant *v)
{
    Lx m = lx_sym(a, &k->lx, 0), n = lx_sym(a, &k->lx, 1), s = lx_sym(a, &k->lx, 2);
    if (v->deal) {
        k->deal = v->deal;
        k->per_sm = v->per_sm;
        k->teams = v->factor ? op(a, k, LX_MUL, s, lx_const(a, &k->lx, v->factor)) : s;
    }
    if (v->loads) k->loads = v->loads;
    for (uint32_t i = 0; i < v->counters; i++) vec_push(a, &k->params, ((MfParam){MF_PARAM_COUNTER, 0}));
    if (v->maps) vec_push(a, &k->params, ((MfParam){MF_PARAM_MAPS, v->maps}));
    if (!v->hints) return;
    k->traffic = op(a, k, LX_MUL, op(a, k, LX_MUL, m, n), lx_const(a, &k->lx, 4));
    vec_push(a, &k->params, ((MfParam){MF_PARAM_HINTS, 0}));
}

static void build_kernel(Arena *a, MfKernel *k, const Variant *v)
{
    k->name = "copy";
    k->entry = v->entry ? v->entry : "copy";
    k->dependent = v->dependent;
    vec_push(a, &k->syms, ((MfSym){"M", MF_SIZE}));
    vec_push(a, &k->syms, ((MfSym){"N", MF_SIZE}));
    vec_push(a, &k->syms, ((MfSym){"n", MF_SCALAR}));
    Lx m = lx_sym(a, &k->lx, 0), n = lx_sym(a, &k->lx, 1), s = lx_sym(a, &k->lx, 2);
    Lx zero = lx_const(a, &k->lx, 0), one = lx_const(a, &k->lx, 1);
    add_tensor(a, k, v, "src", true, false, m, n);
    add_tensor(a, k, v, "dst", v->accumulate, true, m, n);
    vec_push(a, &k->scalars, ((MfScalar){"n", TYPE_S32, 2}));
    vec_push(a, &k->args, ((struct MfArg){true, 0}));
    vec_push(a, &k->params, ((MfParam){MF_PARAM_VALUE, op(a, k, LX_ADD, s, one)}));
    Lx even = op(a, k, LX_EQ, op(a, k, LX_MOD, n, lx_const(a, &k->lx, 8)), zero);
    vec_push(a, &k->checks, ((MfCheck){E1101, even, "N % 8 == 0", "stores move whole 16 bytes", "copy.tile:3:5"}));
    vec_push(a, &k->checks,
             ((MfCheck){E1101, op(a, k, LX_LE, m, lx_const(a, &k->lx, 1000)), "M <= 1000", "where", "copy.tile:1:9"}));
    k->grid[0] = op(a, k, LX_CEIL, n, lx_const(a, &k->lx, 64));
    k->grid[1] = op(a, k, LX_CEIL, m, lx_const(a, &k->lx, 32));
    k->grid[2] = one;
    Lx far = op(a, k, LX_MUL, s, lx_const(a, &k->lx, INT64_C(1) << 62));
    if (v->overflow == 1)
        vec_push(a, &k->checks,
                 ((MfCheck){E1121, op(a, k, LX_LE, far, lx_const(a, &k->lx, INT64_MAX)), "n * 2^62 fits", "", ""}));
    if (v->overflow == 2) k->params.v[2].index = far;
    if (v->overflow == 3) k->grid[2] = far;
    if (v->overflow == 4) k->maps.v[0].dim[0] = far;
    k->cluster[0] = v->cluster ? v->cluster : 1;
    k->cluster[1] = k->cluster[2] = 1;
    k->threads = 128;
    k->smem = v->smem ? v->smem : 65536;
    build_deal(a, k, v);
}

static void build_ptx(World *w, const Variant *v)
{
    Manifest m = {.compiler = "tilecc test", .target = v->target ? v->target : "sm_90a", .source = "copy.tile"};
    for (int i = 0; i == 0 || i < v->schedules; i++) {
        MfKernel *k = vec_add(&w->arena, &m.kernels);
        build_kernel(&w->arena, k, v);
        if (v->schedules) {
            k->schedule = (uint8_t)i;
            k->schedules = (uint8_t)v->schedules;
            k->threads = 128u >> i; /* to see which it is */
        }
        for (uint8_t s = 0; i == 0 && s + 1 < v->schedules; s++) {
            MfPick p = {"", s, v->hints ? MF_L2 : MF_CTAS, v->hints ? 2 : 4 >> s};
            vec_push(&w->arena, &k->picks, p);
        }
        for (int t = 0; i == 0 && v->tuned && v->tuned[t].gpu; t++) vec_push(&w->arena, &k->picks, v->tuned[t]);
    }
    MfWords words = manifest_encode(&m, &w->arena);
    text_printf(&w->ptx, ".version 8.6\n.target %s\n.global .align 8 .b64 %s[%zu] = {", m.target, MANIFEST_SYMBOL,
                words.n);
    for (size_t i = 0; i < words.n; i++) text_printf(&w->ptx, "%s%llu", i ? ", " : "", (unsigned long long)words.w[i]);
    text_str(&w->ptx, "};\n");
}

static World *world_new(void)
{
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->mem.fail = &w->fail;
    if (setjmp(w->fail)) fail_msg("out of memory");
    arena_init(&w->arena, &w->mem);
    text_init(&w->ptx, &w->mem);
    CudaApi api = fake_api();
    assert_int_equal(cuda_device_open(&api, NULL, -1, NULL, &w->device, &w->err), TILE_OK);
    return w;
}

static tile_status world_load(World *w, const Variant *v)
{
    build_ptx(w, v);
    tile_status s = tile_module_load(w->device, w->ptx.s, w->ptx.n, &w->module, &w->err);
    if (s != TILE_OK) return s;
    w->kernel = tile_kernel_find(w->module, "copy");
    assert_non_null(w->kernel);
    return tile_args_new(w->kernel, &w->args, &w->err);
}

static inline World *open_world(const Variant *v)
{
    World *w = world_new();
    if (world_load(w, v) != TILE_OK) fail_msg("%s", w->err.text);
    return w;
}

static inline void close_world(World *w)
{
    tile_args_free(w->args);
    tile_module_free(w->module);
    tile_device_close(w->device);
    text_free(&w->ptx);
    arena_free(&w->arena);
    free(w);
    assert_int_equal(fake.pushes, fake.pops);
    assert_int_equal(fake.retains, fake.releases);
    assert_int_equal(fake.allocs, fake.frees);
}

static tile_status bind(World *w, const char *name, uint64_t address, int64_t m, int64_t n)
{
    int64_t shape[] = {m, n};
    return tile_bind(w->args, name, address, 0, TILE_BF16, 2, shape, NULL, &w->err);
}

static inline tile_status bind_pitch(World *w, const char *name, uint64_t address, int64_t m, int64_t n, int64_t pitch)
{
    int64_t shape[] = {m, n}, strides[] = {pitch, 1};
    return tile_bind(w->args, name, address, 0, TILE_BF16, 2, shape, strides, &w->err);
}

static inline void bind_all(World *w, int64_t rows, int64_t columns, int64_t n)
{
    assert_int_equal(bind(w, "src", 0x10000000, rows, columns), TILE_OK);
    assert_int_equal(bind(w, "dst", 0x20000000, rows, columns), TILE_OK);
    assert_int_equal(tile_bind_scalar(w->args, "n", n, &w->err), TILE_OK);
}

static inline tile_status launch(World *w, int64_t m, int64_t n)
{
    bind_all(w, m, n, 41);
    return tile_launch(w->args, NULL, &w->err);
}

#define assert_says(w, what)                                                                                           \
    do {                                                                                                               \
        if (!strstr((w)->err.text, what)) fail_msg("\"%s\" does not say \"%s\"", (w)->err.text, what);                 \
    } while (0)

static inline int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

#endif
