/* What becomes of a program: the compiler's verdict, and launches on the simulator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/verify/verify.h"
#include "tests/random/cover.h"
#include "tests/roles/roles.h"
#include "tile.h"
#include "tilecc.h"

enum { A = 6, B = 12, LAUNCHES = 14, OTHERS = 6, BYTES = 4 << 20 };

typedef struct Launch {
    int64_t n, m, a, b;
} Launch;
static const Launch LAUNCH[LAUNCHES] = {{5, 2, A, B}, {0, 0, A, B}, {1, 1, A, B},  {2, 3, A, B},   {3, 0, A, B},  {4, 1, 2, 3},  {7, 4, A, B},
                                        {0, 3, A, B}, {9, 5, A, B}, {-1, 2, A, B}, {-2, -3, A, B}, {25, 3, A, B}, {70, 1, A, B}, {2, 25, A, B}};

static tile_device *device[2]; /* one schedule, several */
static uint64_t seed_now;
static int seconds; /* of a launch, at most */
static uint8_t data[BYTES], got[BYTES], *want[LAUNCHES];
static size_t got_size;
static bool drawn;  /* by draw.c, or by hand: launches are those of the table; of others the first OTHERS, with sizes of their own */
bool bench_is_shut;
static bool any_order; /* sums of fractions */
static bool nested; /* long launches would be too long */

/* ---- the compiler, whose verifier can be off ---- */

static bool blind;
bool __real_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    cover_kernel(k);
    return blind || __real_ir_verify(a, d, k, to, certificate);
}

static tilecc_result *compile(const char *source, bool without_verifier)
{
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX, .no_performance_warnings = 1, .error_format = TILECC_SHORT,
                           .no_variants = 1, .tune = "off"};
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
    if (which) snprintf(name, sizeof name, "sim:fuzz,schedules=6,seed=%llu,steps=60000000,seconds=%d,sms=2", seed, 2 * seconds);
    else snprintf(name, sizeof name, "sim:check,seed=%llu,steps=10000000,seconds=%d,sms=2", seed, seconds);
    if (tile_device_open(name, &device[which], &err)) abort();
}

void bench_open(uint64_t seed, int most_seconds)
{
    seed_now = seed, seconds = most_seconds;
    open_device(0), open_device(1);
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

typedef enum Said { RAN, REFUSES, FINDS, GIVES_UP } Said;

/* A kernel that was stopped leaves a device in a state of its own. */
static void end_module(tile_module *module, int which, Said s)
{
    tile_module_free(module);
    if (s == RAN || s == REFUSES) return;
    tile_device_close(device[which]);
    open_device(which);
}

/* Of a size or a scalar; in programs that draw.c did not draw something that is often a whole number of tiles. */
static int64_t value_of(const char *name, size_t n, const Launch *l)
{
    static const struct {
        char name;
        int64_t is;
    } fixed[] = {{'G', 4}, {'P', 24}, {'T', 8}, {'N', 1300}};
    static const int64_t sizes[] = {64, 32, 128, 64, 2, 16, 48, 96, 8, 1, 4, 3, 0, 128};
    uint32_t h = (uint32_t)(l - LAUNCH) * 2246822519u;
    if (drawn && n == 1) {
        for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
            if (*name == fixed[i].name) return fixed[i].is;
        return *name == 'A' ? l->a : *name == 'B' ? l->b : *name == 'n' ? l->n : l->m;
    }
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)name[i]) * 2654435761u;
    h ^= h >> 15;
    if (*name >= 'a') return h & 1 ? l->n : l->m;
    return l - LAUNCH < 3 ? sizes[l - LAUNCH] : sizes[h % (sizeof sizes / sizeof *sizes)];
}

/* "[M, N * 2]": names and numbers, from left to right. */
static int extents_of(const char *s, const Launch *l, int64_t *to)
{
    int rank = 0;
    char op = '+';
    int64_t sum = 0;
    for (s++; *s; ) {
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
        if (n) {
            int64_t v = *s >= '0' && *s <= '9' ? strtoll(s, NULL, 10) : value_of(s, n, l);
            sum = op == '+' ? sum + v : op == '-' ? sum - v : op == '*' ? sum * v : v ? sum / v : 0;
            s += n;
        } else {
            if (*s == ',' || *s == ']') to[rank++] = sum < 0 ? 0 : sum, sum = 0, op = '+';
            else if (strchr("+-*/", *s)) op = *s;
            if (rank == 5 || *s++ == ']') break;
        }
    }
    return rank;
}

/* Numbers of rows, and what is taken for such, are small. */
static void draw_data(int which, const tile_param *p, size_t bytes)
{
    int bits = tile_type_bits(p->type);
    memset(data, 0, bytes);
    for (uint32_t i = 0; i < bytes / 4; i++) {
        uint32_t v = which == 1 ? UINT32_MAX - i : (i + (uint32_t)which * 77777u) * 2654435761u >> 8;
        if (p->rank == 1 && bits == 32) v = i * 7 % 4;
        if (p->rank == 1 && bits == 64) v = i % 2 ? 0 : i / 2 * 7 % 4;
        memcpy(data + (size_t)i * 4, &v, 4);
    }
}

static Said run_launch(tile_module *module, int which, const Launch *l, tile_error *err)
{
    enum { PARAMS = 24 };
    tile_args *args;
    tile_kernel *k = tile_kernel_at(module, 0);
    tile_device *d = device[which];
    uint64_t at[PARAMS] = {0};
    size_t size[PARAMS] = {0}, all = 0;
    int params = (int)tile_param_count(k);
    tile_param p;
    bool ok = params <= PARAMS && !tile_args_new(k, &args, err);
    if (!ok) abort();
    for (int i = 0; i < params && ok; i++) {
        int64_t extents[5] = {0}, elements = 1;
        if (tile_param_info(k, (size_t)i, &p)) abort();
        if (p.is_scalar) {
            ok = !tile_bind_scalar(args, p.name, value_of(p.name, strlen(p.name), l), err);
            continue;
        }
        int rank = extents_of(p.extents, l, extents);
        for (int e = 0; e < rank; e++) elements = elements < BYTES ? elements * extents[e] : elements;
        size[i] = (size_t)(elements * tile_type_bits(p.type) + 7) / 8, all += size[i];
        ok = all < BYTES && rank == p.rank;
        if (!ok) break;
        draw_data(i, &p, size[i]);
        ok = !tile_alloc(d, size[i] + 16, &at[i], err) && !tile_write(d, at[i], data, size[i], err) &&
             !tile_bind(args, p.name, at[i], size[i], p.type, rank, extents, NULL, err);
    }
    tile_status s = ok ? tile_launch(args, NULL, err) : TILE_ERROR_ARGUMENT;
    got_size = 0;
    for (int i = 0; i < params; i++) {
        tile_param_info(k, (size_t)i, &p);
        if (!s && p.written && tile_read(d, got + got_size, at[i], size[i], err)) abort();
        got_size += p.written ? size[i] : 0;
        if (at[i]) tile_release(d, at[i], NULL);
    }
    tile_args_free(args);
    if (!s) return RAN;
    if (s != TILE_ERROR_KERNEL) return REFUSES;
    return is_beyond(err->text) ? GIVES_UP : FINDS;
}

static bool is_made(int i)
{
    return drawn ? !nested || LAUNCH[i].n <= 25 : i < OTHERS;
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
        if (!is_made(i)) continue;
        s = run_launch(module, 0, &LAUNCH[i], &err);
        if (s != RAN) continue;
        want[i] = realloc(want[i], got_size + 1);
        if (!want[i]) abort();
        memcpy(want[i], got, got_size);
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
    if (!drawn) snprintf(v->at, sizeof v->at, "launch %d", (int)(l - LAUNCH));
}

static const char *first_difference(const uint8_t *w)
{
    static char said[100];
    for (size_t i = 0; i < got_size && !any_order; i++)
        if (got[i] != w[i]) {
            snprintf(said, sizeof said, "byte %zu of what is written is %d, not %d", i, got[i], w[i]);
            return said;
        }
    return NULL;
}

/* All launches of a module, in one schedule and in several; which of them were refused, by bits. */
static unsigned run_all(const tilecc_result *r, unsigned known, unsigned these, Verdict *v)
{
    static tile_error err;
    static uint8_t first[BYTES];
    unsigned refused = 0;
    for (int i = 0; i < LAUNCHES && v->truth < WRONG; i++) {
        const Launch *l = &LAUNCH[i];
        if (!(these >> i & 1) || !is_made(i)) continue;
        int many = l->n > 9 || l->m > 9 ? 1 : 2; /* devices */
        for (int which = 0; which < many && v->truth < WRONG; which++) {
            tile_module *module;
            if (tile_module_load(device[which], r->output, r->output_size, &module, &err)) abort();
            Said s = run_launch(module, which, l, &err);
            if (s == RAN) {
                const uint8_t *w = which ? first : known >> i & 1 ? want[i] : got;
                const char *other = first_difference(w);
                if (other) tell(v, which ? WRONG : OTHER_BYTES, l, other);
                if (!which) memcpy(first, got, got_size), v->launches++;
            } else if (s == REFUSES) {
                refused |= 1u << i;
                if (v->truth <= RIGHT) snprintf(v->said, sizeof v->said, "%.600s", err.text);
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

bool is_program(const char *kernel)
{
    tilecc_result *r = compile(kernel, true);
    bool ok = r->status == TILECC_OK;
    tilecc_free(r);
    return ok;
}

void judge(const char *kernel, const char *plain, bool refused_too, Verdict *v)
{
    *v = (Verdict){.truth = NOT_RUN};
    drawn = strstr(kernel, "G, P, A, B") || strstr(kernel, "tab: global");
    any_order = strstr(kernel, "reduce add") && (strstr(kernel, "global f") || strstr(kernel, "global bf"));
    nested = strstr(kernel, " j in ") != NULL;
    cover_begin();
    tilecc_result *r = compile(kernel, false);
    v->accepted = r->status == TILECC_OK;
    if (v->accepted) cover_text(kernel, r->output, r->output_size);
    if (v->accepted || !refused_too) cover_end(v->accepted);
    if (!v->accepted) {
        const char *at = strstr(r->diagnostics, "error E");
        snprintf(v->code, sizeof v->code, "%.5s", at ? at + 6 : "?");
        snprintf(v->said, sizeof v->said, "%.600s", at ? at : r->diagnostics);
        tilecc_free(r);
        r = refused_too ? compile(kernel, true) : NULL;
        if (r && r->status == TILECC_OK) cover_text(kernel, r->output, r->output_size);
        if (r) cover_end(false);
    }
    if (r && r->status == TILECC_OK && !bench_is_shut) {
        Verdict u = {.truth = RIGHT};
        unsigned known = learn(plain);
        unsigned refused = run_all(r, known, (1u << LAUNCHES) - 1, v->accepted ? (v->truth = RIGHT, v) : &u);
        if (!v->accepted) v->truth = u.truth == RIGHT && !u.launches ? NOT_RUN : u.truth;
        v->refused = bits(refused);
        if (v->accepted && refused && v->truth == RIGHT) look_at_refused(kernel, known, refused, v);
    }
    if (r) tilecc_free(r);
}
