/* What schedules cost: bytes of PTX and of the cubin, time to compile, and host time to choose one.
 *
 *     schedule_bench FILE.tile[:KERNEL] ..
 *
 * Needs no GPU; the cubin's columns are empty where nothing assembles. Code: the program with one schedule alone (--pin), for each that
 * --explain-plan would show, and with all; compile times are the least of TIMES, in process. Choosing: host time of args_pick(), which a launch calls
 * where a shape has changed, and beside it what all takes that such a launch does on the host before it calls the driver: to bind the shapes of all
 * tensors anew, each time others, and to make the launch ready, as tile_launch_info does.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/module.h"
#include "tilecc.h"

enum { TIMES = 9, ROUNDS = 101, PER_ROUND = 500, LINES = 16, RANK = 5 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "schedule_bench: %s: %s\n", what, why);
    exit(1);
}

typedef struct Program {
    char path[512], kernel[128], *text;
    size_t size;
} Program;

static Program read_source(const char *typed)
{
    Program s = {.text = NULL};
    const char *colon = strrchr(typed, ':');
    size_t n = colon ? (size_t)(colon - typed) : strlen(typed);
    snprintf(s.path, sizeof s.path, "%.*s", (int)n, typed);
    if (colon) snprintf(s.kernel, sizeof s.kernel, "%s", colon + 1);
    FILE *f = fopen(s.path, "rb");
    if (!f || !(s.text = malloc(1 << 20))) die(s.path, "can't be read");
    s.size = fread(s.text, 1, 1 << 20, f);
    fclose(f);
    return s;
}

static tilecc_result *compile(const Program *s, const char *pin, tilecc_emit emit)
{
    tilecc_define one = {"kernel", s->kernel};
    tilecc_options o = {.struct_size = sizeof o, .emit = emit, .pin = pin, .tune = "off", .no_performance_warnings = 1};
    if (s->kernel[0]) o.defines = &one, o.ndefines = 1;
    return tilecc_compile(&o, s->path, s->text, s->size);
}

static double least_ms(const Program *s, const char *pin, tilecc_emit emit)
{
    double least = 1e30;
    for (int i = 0; i < TIMES; i++) {
        double began = now_ns();
        tilecc_free(compile(s, pin, emit));
        double ms = (now_ns() - began) * 1e-6;
        if (ms < least) least = ms;
    }
    return least;
}

static void code_row(const Program *s, const char *name, const char *pin)
{
    tilecc_result *ptx = compile(s, pin, TILECC_EMIT_PTX), *cubin = compile(s, pin, TILECC_EMIT_CUBIN);
    if (!ptx || ptx->status != TILECC_OK) die(s->path, ptx ? ptx->message : "memory");
    printf("| %s | %s | %zu | %.2f |", s->path, name, ptx->output_size, least_ms(s, pin, TILECC_EMIT_PTX));
    if (cubin && cubin->status == TILECC_OK) printf(" %zu | %.1f |\n", cubin->output_size, least_ms(s, pin, TILECC_EMIT_CUBIN));
    else printf(" - | - |\n");
    tilecc_free(ptx);
    tilecc_free(cubin);
}

/* ---- choosing ---- */

typedef struct Launched {
    tile_module *module;
    tile_kernel *kernel;
    tile_args *args;
    tile_launch_facts facts;
} Launched;

/* Sizes are 64, but for the very first one, which is asked for. */
static void bind(Launched *l, int64_t first)
{
    tile_error e;
    tile_param p;
    const char *name = NULL;
    for (size_t i = 0; tile_param_info(l->kernel, i, &p) == TILE_OK; i++) {
        int64_t shape[RANK] = {64, 64, 64, 64, 64};
        const char *at = p.extents + 1;
        for (int d = 0; d < p.rank; d++, at += strcspn(at, ",") + 2) {
            bool number = *at >= '0' && *at <= '9';
            size_t n = strcspn(at, ",]");
            if (!name && !number) name = at;
            if (number) shape[d] = strtoll(at, NULL, 10);
            else if (strncmp(at, name, n) == 0 && strcspn(name, ",]") == n) shape[d] = first;
        }
        tile_status s = p.is_scalar ? tile_bind_scalar(l->args, p.name, 1, &e)
                                    : tile_bind(l->args, p.name, (uint64_t)(i + 1) << 40, 0, p.type, p.rank, shape, NULL, &e);
        if (s != TILE_OK) die(p.name, e.text);
    }
}

static void open_launch(Launched *l, tile_device *d, const Program *s)
{
    tile_error e;
    tilecc_result *r = compile(s, NULL, TILECC_EMIT_PTX);
    if (!r || r->status != TILECC_OK || tile_module_load(d, r->output, r->output_size, &l->module, &e) != TILE_OK) die(s->path, "can't be loaded");
    tilecc_free(r);
    l->kernel = tile_kernel_at(l->module, 0);
    if (tile_args_new(l->kernel, &l->args, &e) != TILE_OK) die(s->path, e.text);
}

/* Nanoseconds to bind shapes that are others than before, and to make the launch ready. */
static double ready_ns(Launched *l)
{
    tile_error e;
    double began = now_ns();
    for (int i = 0; i < PER_ROUND; i++) {
        bind(l, 64 + 64 * (i % 2));
        if (tile_launch_info(l->args, &l->facts, &e) != TILE_OK) die(tile_kernel_name(l->kernel), e.text);
    }
    return (now_ns() - began) / PER_ROUND;
}

/* Nanoseconds to choose, of sizes that are others than before; calls of something as cheap through a pointer included. */
static double pick_ns(Launched *l)
{
    const MfPick *volatile taken;
    int64_t *size = l->args->syms, first = *size;
    double began = now_ns();
    for (int i = 0; i < PER_ROUND; i++) {
        *size = first + 64 * (i % 2);
        taken = args_pick(l->args);
    }
    double ns = (now_ns() - began) / PER_ROUND;
    (void)taken;
    *size = first;
    return ns;
}

static void choose_row(const Program *s)
{
    tile_device *d;
    tile_error e;
    Launched l = {0};
    double ready = 1e30, pick = 1e30;
    if (tile_device_open("sim:fast", &d, &e) != TILE_OK) die("sim", e.text);
    open_launch(&l, d, s);
    for (int round = 0; round < ROUNDS; round++) {
        double r = ready_ns(&l), p = pick_ns(&l);
        if (r < ready) ready = r;
        if (p < pick) pick = p;
    }
    printf("| %s | %d | %u | %u | %.0f | %.1f |\n", s->path, l.facts.schedules, l.kernel->npicks, l.kernel->choice.nodes.n, ready, pick);
    tile_args_free(l.args);
    tile_module_free(l.module);
    tile_device_close(d);
}

/* The schedules that the program has: behind `schedules of` in its plan. */
static int schedules_of(const Program *s, char pins[][256])
{
    tilecc_result *r = compile(s, NULL, TILECC_EMIT_PLAN);
    if (!r || r->status != TILECC_OK) die(s->path, r ? r->message : "memory");
    const char *at = strstr(r->output, "\nschedules of ");
    int n = 0;
    char kernel[128];
    if (at && sscanf(at, "\nschedules of %127s", kernel) == 1) {
        at = strchr(at + 1, '\n') + 1;
        for (unsigned number; n < LINES && sscanf(at, "  %u: ", &number) == 1; n++) {
            const char *from = strchr(at, ':') + 2, *to = strchr(from, '\n');
            snprintf(pins[n], sizeof pins[n], "%s: %.*s", kernel, (int)(to - from), from);
            at = to + 1;
        }
    }
    tilecc_free(r);
    return n;
}

int main(int argc, char **argv)
{
    printf("| program | schedule | PTX, bytes | to PTX, ms | cubin, bytes | to a cubin, ms |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++) {
        char pins[LINES][256];
        Program s = read_source(argv[i]);
        int n = schedules_of(&s, pins);
        for (int k = 0; k < n; k++) code_row(&s, strchr(pins[k], ':') + 2, pins[k]);
        code_row(&s, n ? "all" : "one", NULL);
        free(s.text);
    }
    printf("\n| program | schedules | conditions | expressions | ready, ns | of it choosing, ns |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++) {
        char pins[LINES][256];
        Program s = read_source(argv[i]);
        if (schedules_of(&s, pins) > 1) choose_row(&s);
        free(s.text);
    }
    return 0;
}
