/* tilecc run: compile or load, read the inputs, launch, write the outputs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilecc/cli.h"
#include "tilecc/commands.h"
#include "tilecc/program.h"
#include "tilecc/run/args.h"

typedef struct Run {
    const RunOptions *opt;
    Program program;
    tile_device *device;
    tile_module *module;
    tile_kernel *kernel;
    tile_args *args;
    RunArgs typed;
} Run;

static int failed(tile_status s, const tile_error *e)
{
    complain("%s", e->text);
    return exit_code_of(s);
}

const char *trace_in_name(const char *device)
{
    if (!device || strncmp(device, "sim:", 4) != 0) return NULL;
    for (const char *p = device + 4; p; p = strchr(p, ',')) {
        if (*p == ',') p++;
        if (strncmp(p, "trace=", 6) == 0) return p;
    }
    return NULL;
}

/* Nothing that is written may be a file that is read, but for a tensor's own file in name=x.npy:x.npy. */
static int check_outputs(const Run *r, const char *const *inputs, size_t n)
{
    const char *trace = trace_in_name(r->opt->device);
    if (trace) trace += strlen("trace=");
    const char **outputs = must_alloc((r->typed.n + 1) * sizeof *outputs);
    size_t k = 0;
    if (trace) outputs[k++] = trace;
    for (size_t i = 0; i < r->typed.n; i++)
        if (r->typed.v[i].out) outputs[k++] = r->typed.v[i].out;
    bool ok = outputs_are_apart(outputs, k, inputs, n), written = !ok || outputs_can_be_written(outputs, k);
    for (size_t i = 0; ok && i < r->typed.n; i++) {
        const RunArg *in = &r->typed.v[i];
        k = 0;
        if (trace) outputs[k++] = trace;
        for (size_t j = 0; j < r->typed.n; j++)
            if (j != i && r->typed.v[j].out) outputs[k++] = r->typed.v[j].out;
        ok = !in->in || outputs_are_apart(outputs, k, (const char *const[]){in->in}, 1);
    }
    free(outputs);
    return !ok ? EXIT_USAGE : written ? EXIT_OK : EXIT_ENVIRONMENT;
}

static int load_source(Run *r)
{
    tilecc_result *c = program_compile(&r->program, &r->opt->lib, r->device, r->opt->verbose);
    int code = say_result(c, r->opt->lib.error_format == TILECC_JSON);
    if (code == EXIT_OK) code = check_outputs(r, c->dependencies, c->ndependencies);
    if (code == EXIT_OK) {
        tile_error e;
        tile_status s = tile_module_load(r->device, c->output, c->output_size, &r->module, &e);
        if (s != TILE_OK) code = failed(s, &e);
        else if (r->opt->verbose && c->assembler) complain("assembled by %s", c->assembler);
        if (s == TILE_OK && r->opt->verbose && c->cache) complain("cache: %s", c->cache);
    }
    tilecc_free(c);
    return code;
}

static int load(Run *r)
{
    if (r->program.from_source) return load_source(r);
    tile_error e;
    tile_status s = tile_module_load_file(r->device, r->program.path, &r->module, &e);
    if (s == TILE_OK) return EXIT_OK;
    complain("%s", e.text);
    return EXIT_ENVIRONMENT; /* whatever is wrong, it is the file */
}

static void say_what_runs(const Run *r)
{
    tile_kernel_facts f;
    tile_kernel_info(r->kernel, &f);
    fprintf(stderr, "%s: for %s by %s, on %s\n", tile_kernel_name(r->kernel), f.target, f.compiler,
            tile_device_name(r->device));
    static const char *const FACTS[] = {[TILE_TRUST_DISTINCT] = "distinct", [TILE_TRUST_SORTED] = "sorted"};
    for (size_t i = 0; i < f.ntrusts; i++) {
        tile_param p;
        bool checked = r->opt->check_trust || f.trusts[i].fact == TILE_TRUST_SORTED;
        tile_param_info(r->kernel, f.trusts[i].param, &p);
        fprintf(stderr, "trusted, %s: %s(%s)\n", checked ? "checked here" : "not checked", FACTS[f.trusts[i].fact], p.name);
    }
}

static void say_deal(const tile_launch_facts *f)
{
    bool tickets = strcmp(f->deal, "ticket") == 0;
    fprintf(stderr, ": %lld iterations dealt %s to %u teams, at most %u CTA%s per SM", (long long)f->iterations,
            tickets ? "by tickets" : "statically", f->teams, f->per_sm, f->per_sm == 1 ? "" : "s");
    if (f->counters) fprintf(stderr, ", %d counter%s", f->counters, f->counters == 1 ? "" : "s");
}

static void say_hints(const tile_launch_facts *f)
{
    fprintf(stderr, "cache hints are %s", f->hints ? "on" : "off");
    if (f->traffic)
        fprintf(stderr, ": %lld bytes are read and written, the L2 has %lld", (long long)f->traffic, (long long)f->l2);
    fputc('\n', stderr);
}

static void say_schedule(const tile_launch_facts *f)
{
    long long least = (long long)f->pick_least;
    fprintf(stderr, "schedule %d of %d: ", f->schedule + 1, f->schedules);
    if (!f->pick) fputs("for all other launches", stderr);
    else if (strcmp(f->pick, "L2") == 0) fprintf(stderr, "for launches that move more than %lld times what the L2 holds", least);
    else if (strcmp(f->pick, "CTAs") == 0) fprintf(stderr, "for launches of at least %lld CTAs per SM", least);
    else if (strcmp(f->pick, "bytes per SM") == 0) fprintf(stderr, "for launches that move at least %lld bytes per SM", least);
    else if (least) fprintf(stderr, "for launches that move at least %lld bytes", least);
    else fputs("for all other launches", stderr);
    fputs(f->picked_for_gpu ? ", as measured on this GPU\n" : "\n", stderr);
}

static void say_cta(const Run *r, const tile_launch_facts *f)
{
    tile_kernel_facts k;
    tile_kernel_info(r->kernel, &k);
    fprintf(stderr, "%u threads and %u bytes of shared memory per CTA", f->threads, f->smem);
    if ((uint64_t)k.cluster[0] * k.cluster[1] * k.cluster[2] > 1)
        fprintf(stderr, ", clusters of %u x %u x %u CTAs", k.cluster[0], k.cluster[1], k.cluster[2]);
    fputc('\n', stderr);
}

static int say_how(const Run *r)
{
    tile_launch_facts f;
    tile_error e;
    tile_status s = tile_launch_info(r->args, &f, &e);
    if (s != TILE_OK) return failed(s, &e);
    if (f.grid[0] == 0) {
        fputs("nothing to launch\n", stderr);
        return EXIT_OK;
    }
    if (f.schedules > 1) say_schedule(&f);
    say_cta(r, &f);
    fprintf(stderr, "grid of %u x %u x %u CTAs", f.grid[0], f.grid[1], f.grid[2]);
    if (f.deal) say_deal(&f);
    fputc('\n', stderr);
    if (f.hints >= 0) say_hints(&f);
    return EXIT_OK;
}

static int check_trusts(const Run *r)
{
    tile_error e;
    if (tile_device_simulates(r->device) && !r->opt->check_trust) return EXIT_OK; /* the launch looks at what is cheap to look at */
    tile_status s = tile_check_trusts(r->args, r->opt->check_trust, &e);
    return s == TILE_OK ? EXIT_OK : failed(s, &e);
}

static int launch(Run *r)
{
    tile_error e;
    tile_status s = tile_launch(r->args, NULL, &e);
    if (s == TILE_OK) s = tile_synchronize(r->device, NULL, &e);
    if (s != TILE_OK) {
        int code = failed(s, &e);
        return strncmp(e.text, "E1202:", 6) == 0 ? EXIT_ENVIRONMENT : code; /* the trace can't be written */
    }
    if (r->opt->verbose && tile_device_simulates(r->device))
        fprintf(stderr, "%s: nothing found\n", tile_device_name(r->device));
    return EXIT_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { WARM_UP = 3, LEAST_REPEATS = 20 };

static int measure(Run *r)
{
    int n = r->opt->repeats > LEAST_REPEATS ? r->opt->repeats : LEAST_REPEATS;
    double *ms = must_alloc((size_t)n * sizeof *ms);
    tile_error e;
    tile_status s = TILE_OK;
    if (tile_device_simulates(r->device)) complain("the simulator: " STEPS_ARE_NO_TIMES);
    for (int i = -WARM_UP; s == TILE_OK && i < n; i++) s = tile_time(r->args, NULL, 1, &ms[i < 0 ? 0 : i], &e);
    if (s == TILE_OK) {
        qsort(ms, (size_t)n, sizeof *ms, by_value);
        double median = n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2, bytes = run_args_traffic(&r->typed);
        printf("%s: %.3f us, median of %d launches", tile_kernel_name(r->kernel), median * 1e3, n);
        if (median > 0) printf("; %.1f GB/s over %.0f bytes read and written", bytes / median / 1e6, bytes);
        putchar('\n');
    }
    free(ms);
    if (s != TILE_OK) return failed(s, &e);
    return finish_stdout() ? EXIT_OK : EXIT_ENVIRONMENT;
}

static int open_device(Run *r)
{
    tile_error e;
    tile_status s = tile_device_open(r->opt->device, &r->device, &e);
    if (s != TILE_OK) return failed(s, &e);
    if (!r->opt->device && tile_device_simulates(r->device))
        complain("no GPU is found; running on the %s", tile_device_name(r->device));
    return EXIT_OK;
}

static int make_args(Run *r)
{
    tile_error e;
    tile_status s = tile_args_new(r->kernel, &r->args, &e);
    return s == TILE_OK ? EXIT_OK : failed(s, &e);
}

static int run(Run *r)
{
    int code = program_split(&r->program, r->opt->program, &r->opt->lib);
    if (code == EXIT_OK) code = program_read(&r->program, &r->opt->lib, "run");
    if (code == EXIT_OK) code = run_args_parse(&r->typed, &r->program, r->opt->args, r->opt->nargs);
    if (code == EXIT_OK) code = check_outputs(r, (const char *const[]){r->program.path}, 1);
    if (code == EXIT_OK) code = open_device(r);
    if (code == EXIT_OK) code = load(r);
    if (code == EXIT_OK) code = program_kernel(&r->program, r->module, &r->kernel);
    if (code == EXIT_OK) code = run_args_match(&r->typed, r->kernel, r->opt->save != NULL);
    if (code == EXIT_OK && r->opt->save) {
        run_args_save(&r->typed, r->opt->save);
        code = check_outputs(r, (const char *const[]){r->program.path}, 1);
    }
    if (code == EXIT_OK) code = make_args(r);
    if (code == EXIT_OK && r->opt->verbose) say_what_runs(r);
    if (code == EXIT_OK) code = run_args_bind(&r->typed, r->device, r->args);
    if (code == EXIT_OK && r->opt->verbose) code = say_how(r);
    if (code == EXIT_OK) code = check_trusts(r);
    if (code == EXIT_OK) code = launch(r);
    if (code == EXIT_OK) code = run_args_fetch(&r->typed, r->device);
    if (code == EXIT_OK) code = run_args_write(&r->typed);
    if (code == EXIT_OK && r->opt->time) code = measure(r); /* last: the launches change what is read and written */
    return code;
}

int command_run(const RunOptions *opt)
{
    Run r = {.opt = opt};
    int code = run(&r);
    tile_args_free(r.args);
    run_args_free(&r.typed, r.device);
    tile_module_free(r.module);
    tile_device_close(r.device);
    program_free(&r.program);
    return code;
}
