/* A module for each schedule, and what a launch of it takes at each point. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tilecc/cli.h"
#include "tilecc/tune/tune.h"

enum { ROUNDS = 4, WARM_UP = 2, TRIALS = 2, MANY = 20, FEW = 3 };
static const double LONG_MS = 0.2;               /* a launch that is measured few times */
enum { LEAST_BYTES = 64 << 20, COPY_BYTES = 256 << 20, COPIES = 10, IN_FRONT = 4 };

static int failed(tile_status s, const tile_error *e)
{
    complain("%s", e->text);
    return exit_code_of(s);
}

static void progress(const Tune *t, const char *what, size_t i, size_t n, const char *more)
{
    if (t->terminal) fprintf(stderr, "\r\033[K%s %zu of %zu%s%s", what, i + 1, n, more[0] ? ": " : "", more);
}

static void progress_end(const Tune *t)
{
    if (t->terminal) fputs("\r\033[K", stderr);
}

/* ---- candidates ---- */

static int complain_result(const Tune *t, const tilecc_result *r)
{
    progress_end(t);
    return say_result(r, t->opt->lib.error_format == TILECC_JSON);
}

/* pin NULL: as it is without a tune file. */
static int compile(Tune *t, const char *pin, tile_module **out)
{
    tilecc_options o = t->opt->lib;
    tile_error e;
    o.pin = pin;
    o.tune = "off";
    if (pin) o.no_performance_warnings = 1;
    tilecc_result *r = program_compile(&t->program, &o, t->device, t->opt->verbose && !pin);
    int code = !r || r->status != TILECC_OK || !pin ? complain_result(t, r) : EXIT_OK;
    if (code == EXIT_OK) {
        tile_status s = tile_module_load(t->device, r->output, r->output_size, out, &e);
        if (s != TILE_OK) code = failed(s, &e);
    }
    tilecc_free(r);
    return code;
}

/* NAME=VALUE alone: the compile-time parameters' alternatives, which the program has anyway. */
static bool is_plain(const char *schedule)
{
    for (const char *p = schedule; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (!memchr(p, '=', n) && !(n == 7 && memcmp(p, "default", 7) == 0)) return false;
    }
    return true;
}

static void add(Tune *t, const char *schedule, size_t n)
{
    Candidate *c = &t->v[t->n];
    if (t->n == TUNE_CANDIDATES) return; /* the rest is left out */
    *c = (Candidate){.schedule = copy_text(schedule, n)};
    c->plain = is_plain(c->schedule);
    t->n++;
}

/* Lines `KERNEL: SCHEDULE`, those of the kernel at hand. */
static int list(Tune *t)
{
    tilecc_options o = t->opt->lib;
    o.emit = TILECC_EMIT_SCHEDULES;
    o.tune = "off";
    o.default_arch = tile_device_arch(t->device);
    o.no_performance_warnings = 1;
    tilecc_result *r = program_make(&t->program, &o);
    int code = r && r->status == TILECC_OK ? EXIT_OK : complain_result(t, r);
    size_t n = strlen(t->program.kernel);
    for (const char *line = code == EXIT_OK ? r->output : ""; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > n + 2 && memcmp(line, t->program.kernel, n) == 0 && line[n] == ':') add(t, line + n + 2, length - n - 2);
        line += length + (line[length] != 0);
    }
    tilecc_free(r);
    return code;
}

static int compile_from(Tune *t, size_t from)
{
    int code = EXIT_OK;
    for (size_t i = from; i < t->n && code == EXIT_OK; i++) {
        Candidate *c = &t->v[i];
        char *pin = printed("%s: %s", t->program.kernel, c->schedule);
        progress(t, "compiling", i - from, t->n - from, c->schedule);
        code = compile(t, pin, &c->module);
        if (code == EXIT_OK) c->kernel = tile_kernel_find(c->module, t->program.kernel);
        free(pin);
    }
    progress_end(t);
    return code;
}

int tune_candidates(Tune *t)
{
    add(t, "", 0);
    int code = compile(t, NULL, &t->v[0].module);
    if (code == EXIT_OK) code = program_kernel(&t->program, t->v[0].module, &t->v[0].kernel);
    if (code != EXIT_OK) return code;
    code = list(t);
    return code == EXIT_OK ? compile_from(t, 1) : code;
}

/* ---- times ---- */

typedef struct Scratch { /* what the driver copies, to measure it, and to keep the device busy */
    uint64_t from, to;
    size_t bytes;
} Scratch;

static bool scratch_open(const Tune *t, Scratch *s)
{
    *s = (Scratch){.bytes = COPY_BYTES};
    for (; s->bytes >= LEAST_BYTES; s->bytes /= 2) {
        if (tile_alloc(t->device, s->bytes, &s->from, NULL) == TILE_OK) {
            if (tile_alloc(t->device, s->bytes, &s->to, NULL) == TILE_OK) return true;
            tile_release(t->device, s->from, NULL);
        }
    }
    *s = (Scratch){0};
    return false;
}

static void scratch_close(const Tune *t, const Scratch *s)
{
    tile_release(t->device, s->from, NULL);
    tile_release(t->device, s->to, NULL);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void measure_copy(Tune *t, const Scratch *s)
{
    double best = 0;
    for (int trial = 0; trial < 3; trial++) {
        if (tile_synchronize(t->device, NULL, NULL) != TILE_OK) return;
        double began = now_ms();
        for (int i = 0; i < COPIES; i++)
            if (tile_copy(t->device, s->to, s->from, s->bytes, NULL, NULL) != TILE_OK) return;
        if (tile_synchronize(t->device, NULL, NULL) != TILE_OK) return;
        double rate = 2.0 * (double)s->bytes * COPIES / (now_ms() - began);
        if (rate > best) best = rate;
    }
    t->copy = best;
}

/* The least of some trials: what disturbs them only adds. Small launches in a row, behind copies that last while the host hands them over: what counts
 * then is the device. */
static tile_status time_launches(const Tune *t, const Scratch *s, tile_args *args, double *ms, tile_error *e)
{
    double least = 0, v = 0;
    tile_status status = TILE_OK;
    if (t->simulated) return tile_time(args, NULL, 1, ms, e);
    for (int i = 0; i < WARM_UP && status == TILE_OK; i++) status = tile_time(args, NULL, 1, ms, e);
    int n = *ms < LONG_MS ? MANY : FEW;
    for (int i = 0; i < TRIALS && status == TILE_OK; i++) {
        for (int k = 0; k < IN_FRONT && n == MANY && s->bytes && status == TILE_OK; k++) status = tile_copy(t->device, s->to, s->from, s->bytes, NULL, e);
        if (status == TILE_OK) status = tile_time(args, NULL, n, &v, e);
        if (i == 0 || v < least) least = v;
    }
    *ms = least / n;
    return status;
}

/* With hints a launch keeps what it has read for the next one, which here reads the same again: no gain but in launches that read far more than the L2 holds. */
static bool flatters(const Candidate *c, const tile_launch_facts *f)
{
    return strstr(c->schedule, "hints on") != NULL && f->traffic / 4 <= f->l2;
}

/* Of all rounds the least counts; how far the next one is from it says how times scatter. */
static void keep(Candidate *c, size_t point, double ms)
{
    double *least = &c->ms[point], *next = &c->next[point];
    if (*least == 0 || ms < *least) *next = *least, *least = ms;
    else if (*next == 0 || ms < *next) *next = ms;
}

/* A launch that is refused leaves no time: the schedule is not for that size. */
static int measure_one(Tune *t, const Scratch *s, Candidate *c, const RunArgs *typed, size_t point)
{
    tile_args *args = NULL;
    tile_error e;
    tile_launch_facts f;
    tile_status status = tile_args_new(c->kernel, &args, &e);
    int code = status == TILE_OK ? run_args_bind_again(typed, args) : failed(status, &e);
    if (code == EXIT_OK) {
        status = tile_launch_info(args, &f, &e);
        double ms = 0;
        if (status == TILE_OK && !flatters(c, &f)) status = time_launches(t, s, args, &ms, &e);
        c->bytes[point] = status == TILE_OK && f.traffic ? (double)f.traffic : run_args_traffic(typed);
        if (status == TILE_OK && ms > 0) keep(c, point, ms);
        if (status != TILE_OK && (status != TILE_ERROR_CHECK || c == t->v)) { /* the program itself must be able to */
            progress_end(t);
            code = failed(status, &e);
        }
    }
    tile_args_free(args);
    return code;
}

/* The candidates from `from` on, and with them the program as it is, in rounds, so that all see the device as it is at the time. */
static int measure_point(Tune *t, const Scratch *s, size_t point, size_t from)
{
    RunArgs typed = {0};
    tile_args *args = NULL;
    tile_error e;
    size_t n;
    char **texts = tune_arguments(&t->sizes, t->v[0].kernel, point, &n);
    if (!texts) return EXIT_USAGE;
    int code = run_args_parse(&typed, &t->program, (const char *const *)texts, n);
    if (code == EXIT_OK) code = run_args_match(&typed, t->v[0].kernel, true);
    if (code == EXIT_OK) {
        tile_status status = tile_args_new(t->v[0].kernel, &args, &e);
        code = status == TILE_OK ? run_args_bind(&typed, t->device, args) : failed(status, &e);
    }
    size_t round = t->n - from + 1, all = t->simulated ? round : ROUNDS * round;
    for (size_t i = 0; i < all && code == EXIT_OK; i++) {
        char what[128];
        size_t c = i % round ? from + i % round - 1 : 0;
        snprintf(what, sizeof what, "schedule %zu of %zu, %s", c + 1, t->n, c ? t->v[c].schedule : "as it is");
        progress(t, "measuring size", point, t->sizes.npoints, what);
        code = measure_one(t, s, &t->v[c], &typed, point);
    }
    const Candidate *own = &t->v[0];
    t->scatter[point] = own->next[point] > 0 ? own->next[point] / own->ms[point] - 1 : 0;
    tile_args_free(args);
    run_args_free(&typed, t->device);
    tune_arguments_free(texts, n);
    return code;
}

static int measure_from(Tune *t, const Scratch *s, size_t from)
{
    int code = EXIT_OK;
    for (size_t p = 0; p < t->sizes.npoints && code == EXIT_OK; p++) code = measure_point(t, s, p, from);
    progress_end(t);
    return code;
}

static void add_combinations(Tune *t)
{
    char *found[TUNE_COMBINATIONS];
    size_t n = tune_combine(t->v, t->n, t->sizes.npoints, found), before = t->n;
    for (size_t i = 0; i < n; i++) {
        add(t, found[i], strlen(found[i]));
        free(found[i]);
    }
    t->combined = t->n - before;
}

int tune_measure(Tune *t)
{
    Scratch s = {0};
    if (!t->simulated && scratch_open(t, &s)) measure_copy(t, &s);
    int code = measure_from(t, &s, 1);
    if (code == EXIT_OK) add_combinations(t);
    if (code == EXIT_OK && t->combined) code = compile_from(t, t->n - t->combined);
    if (code == EXIT_OK && t->combined) code = measure_from(t, &s, t->n - t->combined);
    scratch_close(t, &s);
    return code;
}
