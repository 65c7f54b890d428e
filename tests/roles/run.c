/* What becomes of a program: the compiler's verdict, and launches on the simulator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/verify/verify.h"
#include "tests/roles/roles.h"
#include "tile.h"
#include "tilecc.h"

enum { G = 4, P = 24, A = 6, B = 12, T = 8, N = 1300, ELEMENTS = G * P * A * B * 16, LAUNCHES = 14 };

typedef struct Launch {
    int64_t n, m, a, b;
} Launch;
static const Launch LAUNCH[LAUNCHES] = {{5, 2, A, B}, {0, 0, A, B}, {1, 1, A, B},  {2, 3, A, B},   {3, 0, A, B},  {4, 1, 2, 3},  {7, 4, A, B},
                                        {0, 3, A, B}, {9, 5, A, B}, {-1, 2, A, B}, {-2, -3, A, B}, {25, 3, A, B}, {70, 1, A, B}, {2, 25, A, B}};

static tile_device *device[2]; /* one schedule, several */
static uint64_t seed_now;
static int32_t x[ELEMENTS], y[ELEMENTS], want[LAUNCHES][ELEMENTS], got[ELEMENTS], tab[T];

/* ---- the compiler, whose verifier can be off ---- */

static bool blind;
bool __real_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    return blind || __real_ir_verify(a, d, k, to, certificate);
}

static tilecc_result *compile(const char *source, bool without_verifier)
{
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX, .no_performance_warnings = 1, .error_format = TILECC_SHORT};
    blind = without_verifier;
    tilecc_result *r = tilecc_compile(&opt, "roles.tile", source, strlen(source));
    blind = false;
    if (!r) abort();
    return r;
}

/* ---- launches ---- */

static void open_device(int which)
{
    char name[120];
    tile_error err;
    unsigned long long seed = seed_now;
    if (which) snprintf(name, sizeof name, "sim:fuzz,schedules=6,seed=%llu,steps=60000000,sms=1", seed);
    else snprintf(name, sizeof name, "sim:check,seed=%llu,steps=10000000,sms=2", seed);
    if (tile_device_open(name, &device[which], &err)) abort();
}

void bench_open(uint64_t seed)
{
    seed_now = seed;
    open_device(0), open_device(1);
    for (int i = 0; i < ELEMENTS; i++) x[i] = (int32_t)((uint32_t)i * 2654435761u >> 8), y[i] = -1 - i;
    for (int i = 0; i < T; i++) tab[i] = i * 7 % 4;
}

void bench_close(void)
{
    tile_device_close(device[0]);
    tile_device_close(device[1]);
}

/* Not the verifier's: addresses and operands; and where the simulator gives up. */
static bool is_beyond(const char *said)
{
    static const char *const codes[] = {"E1138", "E1313", "E1314", "E1318", "E1319", "E1320", "E1321", "E1324", "E1327", "E1328", "E1351", "E1352"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (!strncmp(said, codes[i], 5)) return true;
    return !strncmp(said, "E1315", 5) && strstr(said, "of the allocation of");
}

typedef struct Tensor {
    const char *name;
    const void *data;
    tile_type type;
    int rank;
    int64_t extents[5], bytes;
    uint64_t at;
} Tensor;
static bool takes_bytes; /* the kernel has z and w, of bytes, too */
static bool nested;      /* long launches would be too long */

typedef enum Said { RAN, REFUSES, FINDS, GIVES_UP } Said;

/* A kernel that was stopped leaves a device in a state of its own. */
static void end_module(tile_module *module, int which, Said s)
{
    tile_module_free(module);
    if (s == RAN || s == REFUSES) return;
    tile_device_close(device[which]);
    open_device(which);
}

static Said run_launch(tile_module *module, int which, const Launch *l, tile_error *err)
{
    tile_args *args;
    int64_t size = l->a * l->b * G * P * 16 * 4;
    Tensor tensors[] = {{"x", x, TILE_S32, 5, {G, P, l->a, l->b, 16}, size, 0}, {"y", y, TILE_S32, 5, {G, P, l->a, l->b, 16}, size, 0},
                        {"tab", tab, TILE_S32, 1, {T}, sizeof tab, 0},          {"z", x, TILE_U8, 2, {N, 16}, N * 16, 0},
                        {"w", y, TILE_U8, 2, {N, 16}, N * 16, 0}};
    int many = takes_bytes ? 5 : 3;
    tile_device *d = device[which];
    bool ok = !tile_args_new(tile_kernel_at(module, 0), &args, err) && !tile_bind_scalar(args, "n", l->n, err) &&
              !tile_bind_scalar(args, "m", l->m, err);
    for (int i = 0; i < many && ok; i++) {
        Tensor *t = &tensors[i];
        size_t bytes = (size_t)t->bytes;
        ok = !tile_alloc(d, bytes, &t->at, err) && !tile_write(d, t->at, t->data, bytes, err) &&
             !tile_bind(args, t->name, t->at, bytes, t->type, t->rank, t->extents, NULL, err);
    }
    if (!ok) fprintf(stderr, "roles: %s\n", err->text), exit(2);
    tile_status s = tile_launch(args, NULL, err);
    if (!s && tile_read(d, got, tensors[1].at, (size_t)size, err)) abort();
    tile_args_free(args);
    for (int i = 0; i < many; i++) tile_release(d, tensors[i].at, NULL);
    if (!s) return RAN;
    if (s != TILE_ERROR_KERNEL) return REFUSES;
    return is_beyond(err->text) ? GIVES_UP : FINDS;
}

static size_t bytes_of(const Launch *l)
{
    return (size_t)(G * P * l->a * l->b * 16) * 4;
}

/* What the sequential program makes of launches; by bits: of which. */
static unsigned learn(const char *plain)
{
    static tile_error err;
    tile_module *module = NULL;
    unsigned known = 0;
    Said s = RAN;
    if (!plain) return 0;
    tilecc_result *r = compile(plain, false);
    bool ok = r->status == TILECC_OK && !tile_module_load(device[0], r->output, r->output_size, &module, &err);
    for (int i = 0; i < LAUNCHES && ok && s <= REFUSES; i++) {
        if (nested && LAUNCH[i].n > 25) continue;
        s = run_launch(module, 0, &LAUNCH[i], &err);
        if (s != RAN) continue;
        memcpy(want[i], got, bytes_of(&LAUNCH[i]));
        known |= 1u << i;
    }
    if (ok) end_module(module, 0, s);
    tilecc_free(r);
    return known;
}

static void tell(Verdict *v, Truth truth, const Launch *l, const char *said)
{
    if (truth <= v->truth) return;
    v->truth = truth;
    snprintf(v->said, sizeof v->said, "%.600s", said);
    snprintf(v->at, sizeof v->at, "n=%lld m=%lld A=%lld B=%lld", (long long)l->n, (long long)l->m, (long long)l->a, (long long)l->b);
}

static const char *first_difference(const int32_t *w, size_t bytes)
{
    static char said[100];
    for (size_t i = 0; i < bytes / 4; i++)
        if (got[i] != w[i]) {
            snprintf(said, sizeof said, "element %zu of y is %d, not %d", i, got[i], w[i]);
            return said;
        }
    return NULL;
}

/* All launches of a module, in one schedule and in several; which of them were refused, by bits. */
static unsigned run_all(const tilecc_result *r, unsigned known, unsigned these, Verdict *v)
{
    static tile_error err;
    static int32_t first[ELEMENTS];
    unsigned refused = 0;
    for (int i = 0; i < LAUNCHES && v->truth < WRONG; i++) {
        const Launch *l = &LAUNCH[i];
        if (!(these >> i & 1) || (nested && l->n > 25)) continue;
        int many = l->n > 9 || l->m > 9 ? 1 : 2; /* devices */
        for (int which = 0; which < many && v->truth < WRONG; which++) {
            tile_module *module;
            if (tile_module_load(device[which], r->output, r->output_size, &module, &err)) abort();
            Said s = run_launch(module, which, l, &err);
            if (s == RAN) {
                const int32_t *w = which ? first : known >> i & 1 ? want[i] : got;
                const char *other = first_difference(w, bytes_of(l));
                if (other) tell(v, which ? WRONG : OTHER_BYTES, l, other);
                if (!which) memcpy(first, got, bytes_of(l)), v->launches++;
            } else if (s == REFUSES) {
                refused |= 1u << i;
                snprintf(v->said, sizeof v->said, "%.600s", err.text);
                many = 1;
            } else tell(v, s == FINDS ? WRONG : BEYOND, l, err.text);
            end_module(module, which, s);
        }
    }
    return refused;
}

static int bits(unsigned n)
{
    return n ? (int)(n & 1) + bits(n >> 1) : 0;
}

/* Of the launches that checks refuse: how many are right? */
static void look_at_refused(const char *kernel, unsigned known, unsigned refused, Verdict *v)
{
    tilecc_result *r = compile(kernel, true);
    if (r->status == TILECC_OK) {
        Verdict u = {0};
        run_all(r, known, refused, &u);
        if (u.truth == RIGHT) v->refused_right = u.launches;
    }
    tilecc_free(r);
}

void judge(const char *kernel, const char *plain, bool refused_too, Verdict *v)
{
    *v = (Verdict){.truth = NOT_RUN};
    takes_bytes = strstr(kernel, "z: global") != NULL;
    nested = strstr(kernel, " j in ") != NULL;
    tilecc_result *r = compile(kernel, false);
    v->accepted = r->status == TILECC_OK;
    if (!v->accepted) {
        const char *at = strstr(r->diagnostics, "error E");
        snprintf(v->code, sizeof v->code, "%.5s", at ? at + 6 : "?");
        snprintf(v->said, sizeof v->said, "%.600s", at ? at : r->diagnostics);
        tilecc_free(r);
        r = refused_too ? compile(kernel, true) : NULL;
    }
    if (r && r->status == TILECC_OK) {
        Verdict u = {.truth = RIGHT};
        unsigned known = learn(plain);
        unsigned refused = run_all(r, known, (1u << LAUNCHES) - 1, v->accepted ? (v->truth = RIGHT, v) : &u);
        if (!v->accepted) v->truth = u.truth;
        v->refused = bits(refused);
        if (v->accepted && refused && v->truth == RIGHT) look_at_refused(kernel, known, refused, v);
    }
    if (r) tilecc_free(r);
}
