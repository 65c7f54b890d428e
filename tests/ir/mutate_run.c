#include "tests/ir/mutate_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3000000, SCHEDULES = 5 };

static void fatal(const char *what)
{
    fprintf(stderr, "ir_mutate: %s\n", what);
    exit(2);
}

/* Two SMs for the check, one in fuzzed schedules: teams of several CTAs, and long turns of one. */
static tile_device *open_device(const Bench *b, bool fuzz)
{
    char name[120];
    tile_device *d;
    tile_error err;
    snprintf(name, sizeof name, "sim:%s,seed=%llu,steps=%d,sms=%d", fuzz ? "fuzz,schedules=5" : "check",
             (unsigned long long)b->seed, (int)STEPS * (fuzz ? (int)SCHEDULES : 1), fuzz ? 1 : 2);
    if (tile_device_open(name, &d, &err) != TILE_OK) fatal(err.text);
    return d;
}

void bench_open(Bench *b, Arena *a, uint64_t seed)
{
    *b = (Bench){.arena = a, .target = "sm_90a", .seed = seed};
    b->check = open_device(b, false);
    b->fuzz = open_device(b, true);
}

void bench_close(Bench *b)
{
    tile_device_close(b->check);
    tile_device_close(b->fuzz);
}

/* A kernel that was stopped leaves its counter where it was: the next one gets another device. */
static void renew(Bench *b, bool fuzz)
{
    tile_device **d = fuzz ? &b->fuzz : &b->check;
    tile_device_close(*d);
    *d = open_device(b, fuzz);
}

static Outcome say(Bench *b, Outcome o, const char *text)
{
    snprintf(b->said, sizeof b->said, "%.*s", (int)strcspn(text, "\n"), text);
    return o;
}

/* The report names CTAs of two clusters. */
static bool between_clusters(const Bench *b, const char *text)
{
    unsigned first[3], at[3];
    bool known = false;
    for (const char *p = text; (p = strstr(p, "CTA (")) != NULL; p++) {
        if (sscanf(p, "CTA (%u,%u,%u)", &at[0], &at[1], &at[2]) != 3) continue;
        for (int i = 0; i < 3; i++) at[i] /= b->cluster[i];
        if (known && memcmp(first, at, sizeof at) != 0) return true;
        memcpy(first, at, sizeof at);
        known = true;
    }
    return false;
}

/* Not the verifier's: addresses and operands; accesses to the same global bytes that are both writes (of one scatter4, too: its
 * rows may be data), or of two clusters, which rule G keeps apart before there is any IR; the counter of tickets. And where the
 * simulator gives up. */
static Outcome judge(const Bench *b, const char *text)
{
    static const char *const beyond[] = {"E1138", "E1313", "E1314", "E1318", "E1324", "E1327", "E1328"};
    bool writes = strncmp(text, "E1315", 5) == 0;
    if (strstr(text, "of the allocation of") && (writes || between_clusters(b, text))) return OUT_BEYOND;
    if (writes && strstr(text, "stands in a scatter4 twice")) return OUT_BEYOND;
    if (strstr(text, "has seen a request fail")) return OUT_BROKEN;
    if (strncmp(text, "E1326", 5) == 0) return OUT_DATA; /* and no access out of order in any schedule */
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (strncmp(text, beyond[i], 5) == 0) return OUT_BEYOND;
    if (strncmp(text, "E1320", 5) == 0 || strncmp(text, "E1321", 5) == 0 || strncmp(text, "E1351", 5) == 0 ||
        strncmp(text, "E1352", 5) == 0)
        return OUT_UNDECIDED;
    return strncmp(text, "E13", 3) == 0 ? OUT_BROKEN : OUT_UNDECIDED;
}

static void demand(tile_status s, const tile_error *err)
{
    if (s != TILE_OK) fatal(err->text);
}

static Outcome compare(Bench *b, tile_device *d, World *x, bool learn)
{
    Outcome out = OUT_CLEAN;
    tile_error err;
    for (int i = 0; i < x->ntensors; i++) {
        Tensor *t = &x->tensors[i];
        uint8_t *got = malloc(t->bytes + 1);
        if (got == NULL) abort();
        demand(tile_read(d, got, t->address, t->bytes, &err), &err);
        size_t at = 0;
        while (at < t->bytes && got[at] == t->want[at]) at++;
        if (learn) memcpy(t->want, got, t->bytes);
        else if (at < t->bytes && out == OUT_CLEAN) {
            snprintf(err.text, sizeof err.text, "byte %zu of %s is %u, not %u", at, t->name, got[at], t->want[at]);
            out = say(b, OUT_DATA, err.text);
        }
        free(got);
    }
    return out;
}

static Outcome run_world(Bench *b, tile_device *d, tile_module *module, World *x, bool learn)
{
    tile_error err;
    tile_args *args;
    Outcome out = OUT_CLEAN;
    demand(tile_args_new(tile_kernel_at(module, 0), &args, &err), &err);
    for (int i = 0; i < x->ntensors; i++) {
        Tensor *t = &x->tensors[i];
        demand(tile_alloc(d, t->bytes, &t->address, &err), &err);
        demand(tile_write(d, t->address, t->data, t->bytes, &err), &err);
        demand(tile_bind(args, t->name, t->address, t->bytes, t->type, t->rank, t->shape, NULL, &err), &err);
    }
    for (int i = 0; i < x->nscalars; i++)
        demand(tile_bind_scalar(args, x->scalars[i].name, x->scalars[i].value, &err), &err);
    if (tile_launch(args, NULL, &err) != TILE_OK) {
        out = judge(b, err.text);
        if (out == OUT_UNDECIDED && learn) fatal(err.text);
        say(b, out, err.text);
    } else {
        out = compare(b, d, x, learn);
    }
    for (int i = 0; i < x->ntensors; i++) tile_release(d, x->tensors[i].address, &err);
    tile_args_free(args);
    return out;
}

/* The worst of all worlds; wrong bytes are kept in mind while the others are tried. */
static Outcome run_worlds(Bench *b, const char *ptx, size_t size, bool fuzz, bool learn)
{
    tile_module *module;
    tile_error err;
    tile_device *d = fuzz ? b->fuzz : b->check;
    Outcome out = OUT_CLEAN;
    if (tile_module_load(d, ptx, size, &module, &err) != TILE_OK) return say(b, OUT_UNDECIDED, err.text);
    for (int i = 0; i < b->nworlds && out < OUT_BROKEN; i++) {
        Outcome one = run_world(b, d, module, &b->worlds[i], learn);
        if (one > out) out = one;
    }
    tile_module_free(module);
    if (out >= OUT_BROKEN) renew(b, fuzz);
    return out;
}

static Outcome run_kernel(Bench *b, const IrKernel *k, bool thorough, bool learn)
{
    memcpy(b->cluster, k->mf.cluster, sizeof b->cluster);
    IrModule m = {.target = b->target};
    PtxOptions opt = {.source_path = "mutant"};
    PtxLines lines = {NULL, 0, 0};
    size_t size;
    ArenaMark mark = arena_mark(b->arena);
    vec_push(b->arena, &m.kernels, (IrKernel *)(uintptr_t)k);
    PtxWriter *w = ptx_begin(b->arena, b->arena->mem, &m, &opt);
    ptx_kernel(w, k);
    const char *ptx = ptx_end(w, &size, &lines, NULL);
    b->said[0] = 0;
    Outcome out = run_worlds(b, ptx, size, false, learn);
    if (out <= OUT_DATA && thorough) {
        Outcome again = run_worlds(b, ptx, size, true, false);
        if (again > out) out = again;
    }
    ptx_free(w);
    arena_release(b->arena, mark);
    return out;
}

Outcome bench_run(Bench *b, const IrKernel *k, bool thorough)
{
    return run_kernel(b, k, thorough, false);
}

Outcome bench_learn(Bench *b, const IrKernel *k)
{
    return run_kernel(b, k, false, true);
}
