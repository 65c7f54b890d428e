/* map_rules against the driver: descriptors near every limit, encoded by cuTensorMapEncode* where there is a GPU.
 *
 * What the driver refuses, a rule must name; what a rule of the driver refuses, the driver must refuse. The rules that
 * are stricter than the driver on purpose are listed below.
 */
#include "tests/unit/lang_fixture.h"

#include <dlfcn.h>

#include "lang/maps/rules.h"

typedef int (*EncodeTiled)(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *pitches, const uint32_t *box, const uint32_t *steps, int interleave,
                           int swizzle, int l2, int fill);
typedef int (*EncodeIm2col)(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                            const uint64_t *pitches, const int *lower, const int *upper, uint32_t channels,
                            uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int l2, int fill);

typedef struct Driver {
    EncodeTiled tiled;
    EncodeIm2col im2col;
    int sm;
} Driver;

/* POSIX lets a function pointer travel through void *; ISO C wants the detour over its bytes. */
#define SYMBOL(lib, name, to)                                                                                          \
    do {                                                                                                               \
        void *p_ = dlsym((lib), (name));                                                                               \
        memcpy(&(to), &p_, sizeof p_);                                                                                 \
    } while (0)

static bool open_driver(Driver *d)
{
    int (*init)(unsigned) = NULL, (*retain)(void **, int) = NULL, (*set)(void *) = NULL,
        (*attribute)(int *, int, int) = NULL;
    int major, minor;
    void *context, *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) return false;
    SYMBOL(lib, "cuInit", init);
    SYMBOL(lib, "cuDevicePrimaryCtxRetain", retain);
    SYMBOL(lib, "cuCtxSetCurrent", set);
    SYMBOL(lib, "cuDeviceGetAttribute", attribute);
    SYMBOL(lib, "cuTensorMapEncodeTiled", d->tiled);
    SYMBOL(lib, "cuTensorMapEncodeIm2col", d->im2col);
    if (!init || !retain || !set || !attribute || !d->tiled || !d->im2col) return false;
    if (init(0) || retain(&context, 0) || set(context)) return false;
    if (attribute(&major, 75, 0) || attribute(&minor, 76, 0)) return false; /* compute capability */
    d->sm = major * 10 + minor;
    return d->sm >= 90;
}

static bool driver_accepts(const Driver *drv, const MapDesc *m)
{
    _Alignas(128) unsigned char map[128];
    uint64_t dims[5] = {0}, pitches[5] = {0};
    uint32_t box[5] = {0}, steps[5] = {0};
    int lower[3] = {0}, upper[3] = {0};
    for (int i = 0; i < m->rank; i++) {
        int from = m->rank - 1 - i;
        dims[i] = (uint64_t)m->dim[from];
        box[i] = (uint32_t)m->box[from];
        steps[i] = (uint32_t)m->elem_stride[from];
        if (i) pitches[i - 1] = (uint64_t)m->pitch[from];
    }
    for (int i = 0; i < m->rank - 2; i++) {
        lower[i] = (int)m->lower[m->rank - 3 - i];
        upper[i] = (int)m->upper[m->rank - 3 - i];
    }
    void *address = (void *)(uintptr_t)m->address;
    uint32_t rank = (uint32_t)m->rank;
    int r = m->mode == MAP_IM2COL
                ? drv->im2col(map, m->type, rank, address, dims, pitches, lower, upper, (uint32_t)m->channels,
                              (uint32_t)m->pixels, steps, m->interleave, m->swizzle, m->l2, m->fill)
                : drv->tiled(map, m->type, rank, address, dims, pitches, box, steps, m->interleave, m->swizzle, m->l2,
                             m->fill);
    return r == 0;
}

static uint64_t seed = 88172645463325252u;

static int64_t below(unsigned n)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (int64_t)(seed % n);
}

static bool rarely(void)
{
    return below(20) == 0;
}

#define ONE_OF(...) (((const int64_t[]){__VA_ARGS__})[below(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))])

static void random_dimension(MapDesc *m, int i, int64_t unit)
{
    bool inner = i == m->rank - 1;
    m->dim[i] = rarely() ? ONE_OF(0, 1, 4294967296, 4294967297, 2147483647, 2147483648, 1000000) : 128 * (1 + below(8));
    m->pitch[i] = rarely() ? ONE_OF(0, 16, 8, 1099511627760, 1099511627776, 48, -16) : 32 * below(4096);
    m->box[i] = inner && !rarely() ? unit * (1 + below(8))
                : below(3)         ? 1 + below(8)
                                   : ONE_OF(0, 1, 16, 64, 128, 255, 256, 257);
    m->elem_stride[i] = inner && !m->interleave ? 1 : rarely() ? ONE_OF(0, 8, 9, 3) : 1;
}

static MapDesc random_descriptor(int sm)
{
    MapDesc m = {.mode = below(3) ? MAP_TILED : MAP_IM2COL, .is_load = true, .sm = sm};
    m.type = rarely() ? (int)below(18) : (int)below(16);
    m.rank = m.mode == MAP_IM2COL && !rarely() ? 3 + (int)below(3) : 1 + (int)below(5);
    m.interleave = below(5) ? 0 : (int)below(3);
    m.swizzle = m.interleave == MAP_INTERLEAVE_32B && below(8) ? MAP_SWIZZLE_32B
                                                               : (int)(below(10) ? below(4) : below(8));
    m.l2 = rarely() ? 4 : (int)below(4);
    m.fill = rarely() ? (int)below(3) : 0;
    m.address = 0x7f0000000000 + (rarely() ? ONE_OF(16, 8, 4, 48, 1) : 32 * below(8));
    int64_t unit = map_shared_bits(m.type) == 8 && map_global_bits(m.type) < 8
                       ? 128
                       : 128 / (map_global_bits(m.type) ? map_global_bits(m.type) : 8);
    for (int i = 0; i < m.rank; i++) random_dimension(&m, i, unit);
    m.channels = rarely() ? ONE_OF(0, 1, 256, 257, 128, 255, 3) : unit * (1 + below(8));
    m.pixels = rarely() ? ONE_OF(0, 1024, 1025, 1023, 512) : 1 + below(200);
    int64_t limit = m.rank == 3 ? 32768 : m.rank == 4 ? 128 : 16;
    for (int i = 0; i < 3; i++) {
        m.lower[i] = rarely() ? ONE_OF(-limit, limit - 1, limit, -limit - 1) : below(5) - 2;
        m.upper[i] = rarely() ? ONE_OF(-limit, limit - 1, limit, -limit - 1) : below(5) - 2;
    }
    return m;
}

/* interleave 32 with another swizzle; a box emptied in several dimensions at once; box bytes with swizzle padding and
 * rounded-up strides; the innermost element stride that is ignored; a far corner that wraps around 2^32; extents above 2^31, whose
 * copies trap */
static bool stricter_than_the_driver(ErrorCode c)
{
    return c == E0412 || c == E0422 || c == E0440 || c == E0452 || c == E0420 || c == E0456;
}

typedef struct Verdict {
    int n, enforced;
    MapBreach first;
} Verdict;

static void count(void *user, const MapBreach *b)
{
    Verdict *v = user;
    if (v->n++ == 0) v->first = *b;
    v->enforced += !stricter_than_the_driver(b->code);
}

static void rules_and_driver_agree(void **state)
{
    (void)state;
    Driver drv = {0};
    if (!open_driver(&drv)) {
        print_message("no CUDA driver with tensor maps here\n");
        skip();
    }
    int differ = 0;
    for (int turn = 0; turn < 500000 && differ < 20; turn++) {
        MapDesc m = random_descriptor(drv.sm);
        Verdict v = {.n = 0};
        map_check(&m, count, &v);
        bool accepts = driver_accepts(&drv, &m);
        if (accepts ? v.enforced == 0 : v.n != 0) continue;
        differ++;
        print_error("turn %d: mode %d type %d rank %d interleave %d swizzle %d inner stride %d: driver %s, rules: %s\n",
                    turn, (int)m.mode, m.type, m.rank, m.interleave, m.swizzle, (int)m.elem_stride[m.rank - 1],
                    accepts ? "accepts" : "refuses", v.n ? v.first.text : "fine");
    }
    assert_int_equal(differ, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules_and_driver_agree)};
    return cmocka_run_group_tests_name("lang/map_driver", tests, NULL, NULL);
}
