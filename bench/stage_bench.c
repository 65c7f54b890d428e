/* How much time the stages of a compilation take: a row for each program, the least of in-process runs on this machine; and what
 * `tilecc -S` takes, that beside this program, as a process: from the call that starts it until it has ended.
 *
 *   stage_bench FILE.tile ..
 *
 * A first line "// options: -arch=TARGET" names the target. Programs that need other options, or imports, have no row.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "frontend/prog.h"
#include "lower/lower.h"
#include "lower/verify/verify.h"
#include "ptxgen/ptxgen.h"

extern char **environ;

enum { FRONT, LOWER, VERIFY, PTX, STAGES, TIMES = 31, PROCESSES = 15 };

typedef struct Run {
    double t[STAGES];
    bool ok;
} Run;

/* To ask for CPU time takes 1 to 2 us, as long as a small kernel's verification; the least of many runs is of one that nobody interrupted. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double lap(double *last)
{
    double t = now(), d = t - *last;
    *last = t;
    return d;
}

/* The target that the first line asks for, or NULL. */
static const char *arch_of(const char *text, char *arch, size_t size)
{
    size_t line = strcspn(text, "\n");
    const char *at = strncmp(text, "// options:", 11) == 0 ? strstr(text, "-arch=") : NULL;
    if (at == NULL || at >= text + line) return NULL;
    snprintf(arch, size, "%.*s", (int)strcspn(at + 6, " \n"), at + 6);
    return arch;
}

static void stages(Run *r, Compilation *c, const char *path, const char *text, size_t n)
{
    char arch[32];
    double last = now();
    Source *src = sources_add(c->sources, path, text, n);
    ParseContext pc = {.arena = c->arena, .names = c->names, .diags = c->diags, .sources = c->sources};
    Checked *ch = check_unit(c, parse_unit(&pc, src), NULL, 0, NULL, arch_of(text, arch, sizeof arch));
    r->t[FRONT] = lap(&last);
    if (ch == NULL || c->diags->errors) return;
    IrModule m = {.target = c->target->name};
    PtxOptions po = {.sources = c->sources, .source_path = path};
    PtxWriter *w = ptx_begin(c->arena, c->arena->mem, &m, &po);
    for (size_t i = 0; i < check_kernel_count(ch); i++) {
        PKernel *p = check_kernel(ch, i);
        r->t[FRONT] += lap(&last);
        IrKernel *k = p ? lower_kernel(c, p, NULL) : NULL;
        r->t[LOWER] += lap(&last);
        if (k == NULL || !ir_verify(c->proof, c->diags, k, NULL, NULL)) break;
        arena_clear(c->proof); /* as the compiler does */
        r->t[VERIFY] += lap(&last);
        ptx_kernel(w, k);
        r->t[PTX] += lap(&last);
    }
    r->ok = c->diags->errors == 0;
    if (r->ok) {
        PtxLines lines = {NULL, 0, 0};
        size_t size;
        unsigned version;
        ptx_end(w, &size, &lines, &version);
        r->t[PTX] += lap(&last);
    }
    ptx_free(w);
}

static Run once(const char *path, const char *text, size_t n)
{
    jmp_buf fail;
    Mem mem = {.fail = &fail};
    Arena arena, scratch, proof;
    Sources sources;
    Diags diags;
    Run r;
    memset(&r, 0, sizeof r);
    if (setjmp(fail)) abort();
    arena_init(&arena, &mem);
    arena_init(&scratch, &mem);
    arena_init(&proof, &mem);
    sources_init(&sources, &arena);
    diags_init(&diags, &arena, &sources);
    Compilation c = {
        .arena = &arena, .scratch = &scratch, .proof = &proof, .names = names_new(&arena), .sources = &sources, .diags = &diags};
    stages(&r, &c, path, text, n);
    arena_free(&proof);
    arena_free(&scratch);
    arena_free(&arena);
    return r;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a program that compiles; 0: there is no tilecc, or it refuses it. */
static double process(const char *self, const char *path, const char *text)
{
    char tilecc[4096], arch[40] = "-arch=", *argv[] = {tilecc, "-S", "-o", "/dev/null", (char *)(uintptr_t)path, arch, NULL};
    const char *slash = strrchr(self, '/');
    posix_spawn_file_actions_t quiet;
    double least = 0;
    snprintf(tilecc, sizeof tilecc, "%.*stilecc", slash ? (int)(slash + 1 - self) : 0, self);
    if (arch_of(text, arch + 6, sizeof arch - 6) == NULL) argv[5] = NULL;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid;
        int status;
        double start = now();
        if (posix_spawn(&pid, tilecc, &quiet, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid || status != 0) return 0;
        double t = now() - start;
        if (i == 0 || t < least) least = t;
    }
    posix_spawn_file_actions_destroy(&quiet);
    return least;
}

static void row(const char *self, const char *path, const char *text, size_t n)
{
    double t[STAGES][TIMES];
    for (int i = -2; i < TIMES; i++) {
        Run r = once(path, text, n);
        if (!r.ok) return; /* a program that is refused on purpose */
        for (int s = 0; s < STAGES && i >= 0; s++) t[s][i] = r.t[s];
    }
    const char *slash = strrchr(path, '/');
    printf("| %s |", slash ? slash + 1 : path);
    for (int s = 0; s < STAGES; s++) {
        qsort(t[s], TIMES, sizeof **t, by_value);
        printf(" %.4f |", t[s][0]);
    }
    printf(" %.4f |\n", process(self, path, text));
}

int main(int argc, char **argv)
{
    printf("| program | front end, ms | lowering | verification | PTX | process |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++) {
        static char text[1 << 20];
        FILE *f = fopen(argv[i], "rb");
        if (f == NULL) {
            fprintf(stderr, "stage_bench: can't read %s\n", argv[i]);
            return 3;
        }
        size_t n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
        text[n] = 0;
        row(argv[0], argv[i], text, n);
    }
    return 0;
}
