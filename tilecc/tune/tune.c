/* tilecc tune: measure, show, and write what was found. */
#include "tilecc/tune/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilecc/cli.h"

static const double MOST = 1024.0 * 1024 * 1024, MOST_SIMULATED = 1024.0 * 1024;

static int open_device(Tune *t)
{
    tile_error e;
    const char *name = t->opt->device;
    tile_status s = tile_device_open(name ? name : "cuda", &t->device, &e);
    if (s == TILE_ERROR_NO_DEVICE && !name) s = tile_device_open("sim:fast", &t->device, &e);
    if (s != TILE_OK) {
        complain("%s", e.text);
        return exit_code_of(s);
    }
    t->simulated = tile_device_simulates(t->device);
    if (t->simulated) complain("%s: " STEPS_ARE_NO_TIMES, name ? "the simulator" : "no GPU is found; on the simulator");
    return EXIT_OK;
}

static int read_source(Tune *t)
{
    if (t->program.from_source) return program_read(&t->program, &t->opt->lib, "tune");
    complain("'%s' is compiled already: schedules are made of a .tile file", t->program.path);
    return EXIT_USAGE;
}

/* ---- the table ---- */

static void print_point(const Tune *t, size_t point)
{
    for (size_t i = 0; i < t->sizes.n; i++)
        if (t->sizes.v[i].lo < t->sizes.v[i].hi) printf("%s=%" PRId64 " ", t->sizes.v[i].name, tune_value(&t->sizes, i, point));
    if (t->sizes.npoints == 1) printf("- ");
}

static size_t choice_at(const Choices *c, size_t point)
{
    size_t i = 0;
    while (i + 1 < c->n && c->v[i + 1].point <= point) i++;
    return c->v[i].candidate;
}

static void print_table(const Tune *t, const Choices *c)
{
    const char *unit = t->simulated ? "ksteps" : "us";
    printf("%s on %s, %zu schedules", t->program.kernel, tile_device_gpu(t->device), t->n - 1 - t->combined);
    if (t->combined) printf(" and %zu combination%s of what gains", t->combined, t->combined == 1 ? "" : "s");
    printf("\n\n");
    printf("| size | bytes | untuned, %s | tuned, %s | untuned by tuned | scatter, %% | GB/s | of the driver's copy | schedule |\n", unit, unit);
    printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t p = 0; p < t->sizes.npoints; p++) {
        const Candidate *a = &t->v[0], *b = &t->v[choice_at(c, p)];
        printf("| ");
        print_point(t, p);
        printf("| %.0f | %.2f | %.2f | %.2f | %.1f | ", a->bytes[p], a->ms[p] * 1e3, b->ms[p] * 1e3, b->ms[p] > 0 ? a->ms[p] / b->ms[p] : 0, t->scatter[p] * 100);
        if (t->copy > 0 && b->ms[p] > 0) printf("%.0f | %.3f", a->bytes[p] / b->ms[p] * 1e-6, a->bytes[p] / b->ms[p] / t->copy);
        else printf("- | -");
        printf(" | %s |\n", b->schedule);
    }
    if (t->copy > 0) printf("\nthe driver's copy: %.0f GB/s read and written\n", t->copy * 1e-6);
}

/* -v: what each takes. */
static void print_all(const Tune *t)
{
    printf("\n| schedule |");
    for (size_t p = 0; p < t->sizes.npoints; p++) {
        putchar(' ');
        print_point(t, p);
        putchar('|');
    }
    printf("\n| --- |");
    for (size_t p = 0; p < t->sizes.npoints; p++) printf(" --- |");
    for (size_t i = 0; i < t->n; i++) {
        printf("\n| %s |", i ? t->v[i].schedule : "as it is");
        for (size_t p = 0; p < t->sizes.npoints; p++)
            if (t->v[i].ms[p] > 0) printf(" %.2f |", t->v[i].ms[p] * 1e3);
            else printf(" - |");
    }
    putchar('\n');
}

/* ---- what is written ---- */

/* x.tune beside x.tile; of a module that is built in std.rows.tune in the folder at hand. */
static char *beside(const char *path, bool library, const char *suffix)
{
    return printed("%.*s%s", (int)(strlen(path) - (library ? 0 : strlen(".tile"))), path, suffix);
}

static char *plot_beside(const char *tune)
{
    size_t n = strlen(tune);
    if (n > 5 && strcmp(tune + n - 5, ".tune") == 0) n -= 5;
    return printed("%.*s.svg", (int)n, tune);
}

/* The program with what was found: whether it can be read, and be made. */
static int try_file(const Tune *t, const char *path, bool silent_if_good)
{
    tilecc_options o = t->opt->lib;
    o.emit = TILECC_EMIT_PTX;
    o.default_arch = tile_device_arch(t->device);
    o.no_performance_warnings = 1;
    o.tune = path;
    tilecc_result *r = program_make(&t->program, &o);
    int code = silent_if_good && r && r->status == TILECC_OK ? EXIT_OK : say_result(r, o.error_format == TILECC_JSON);
    tilecc_free(r);
    return code;
}

/* Before it takes the place of an old one. Its warnings have been said of that. */
static int try_text(const Tune *t, const char *text, const char *path)
{
    FILE *f = tmpfile();
    if (!f || fputs(text, f) < 0 || fflush(f) != 0) {
        complain("can't write what was found to a temporary file: %s", strerror(errno));
        if (f) fclose(f);
        return EXIT_ENVIRONMENT;
    }
    char *name = printed("/dev/fd/%d", fileno(f));
    int code = try_file(t, name, true);
    if (code != EXIT_OK) complain("with what was found, the program can't be compiled: '%s' stays as it is, and would be\n%s", path, text);
    free(name);
    fclose(f);
    return code;
}

static const Choices NO_CHOICES = {.n = 0};

/* Where the program as it is does as well nothing is pinned. */
static int write_found(const Tune *t, const Choices *c, const char *tune, const char *plot)
{
    char *old = NULL, *drawing = NULL;
    size_t size = 0;
    if (access(tune, F_OK) == 0) {
        int code = try_file(t, tune, false); /* what can't be read is not written over */
        if (code != EXIT_OK) return code;
        old = read_file(tune, &size);
        if (!old) return EXIT_ENVIRONMENT;
    }
    bool wins = tune_wins(t->v, t->scatter, t->sizes.npoints, c), any = wins || old;
    char *text = tune_file(old, t->program.kernel, tile_device_gpu(t->device), t->v, wins ? c : &NO_CHOICES);
    int code = any ? try_text(t, text, tune) : EXIT_OK;
    OutFile files[2];
    size_t n = 0;
    if (any) files[n++] = (OutFile){tune, text, strlen(text)};
    if (plot) {
        drawing = tune_plot(t, c);
        files[n++] = (OutFile){plot, drawing, strlen(drawing)};
    }
    if (code == EXIT_OK && n && !write_files(files, n)) code = EXIT_ENVIRONMENT;
    free(old);
    free(text);
    free(drawing);
    if (code != EXIT_OK) return code;
    if (!wins) printf("\nnothing gains more than times scatter: no lines for %s on %s\n", t->program.kernel, tile_device_gpu(t->device));
    if (n) printf("\n%s%s%s\n", any ? tune : plot, n == 2 ? ", " : "", n == 2 ? plot : "");
    return finish_stdout() ? EXIT_OK : EXIT_ENVIRONMENT;
}

static int show_and_write(Tune *t, const char *tune, const char *plot)
{
    Choices c;
    if (!tune_choose(t->v, t->n, t->sizes.npoints, &c)) {
        complain("nothing is launched at any of these sizes");
        return EXIT_USAGE;
    }
    print_table(t, &c);
    if (t->opt->verbose) print_all(t);
    return write_found(t, &c, tune, plot);
}

static int tune(Tune *t)
{
    int code = program_split(&t->program, t->opt->program, &t->opt->lib);
    if (code == EXIT_OK) code = read_source(t);
    if (code != EXIT_OK) return code;
    if (t->opt->output && strcmp(t->opt->output, "-") == 0) {
        complain("tune reads again what it has written: say with -o FILE where");
        return EXIT_USAGE;
    }
    char *file = t->opt->output ? NULL : beside(t->program.path, t->program.library, ".tune");
    const char *path = file ? file : t->opt->output, *asked = t->opt->plot;
    char *drawn = asked ? NULL : plot_beside(path);
    const char *plot = !asked ? drawn : strcmp(asked, "off") == 0 ? NULL : asked;
    const char *const outputs[] = {path, plot};
    if (!outputs_are_apart(outputs, plot ? 2 : 1, (const char *const[]){t->program.path}, t->program.library ? 0 : 1)) code = EXIT_USAGE;
    else if (!outputs_can_be_written(outputs, plot ? 2 : 1)) code = EXIT_ENVIRONMENT;
    if (code == EXIT_OK) code = open_device(t);
    if (code == EXIT_OK) code = tune_candidates(t);
    if (code == EXIT_OK) code = tune_sizes(&t->sizes, t->opt, &t->program, t->v[0].kernel, t->opt->most > 0 ? t->opt->most : t->simulated ? MOST_SIMULATED : MOST);
    if (code == EXIT_OK) code = tune_measure(t);
    if (code == EXIT_OK) code = show_and_write(t, path, plot);
    free(file);
    free(drawn);
    return code;
}

int command_tune(const TuneOptions *opt)
{
    Tune *t = must_alloc(sizeof *t);
    *t = (Tune){.opt = opt, .terminal = isatty(STDERR_FILENO) != 0};
    int code = tune(t);
    for (size_t i = 0; i < t->n; i++) {
        tile_module_free(t->v[i].module);
        free(t->v[i].schedule);
    }
    tile_device_close(t->device);
    program_free(&t->program);
    free(t);
    return code;
}
