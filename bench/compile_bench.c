/* How long compiling takes. Prints one table; every figure is a median on this machine, in this run.
 *
 *   compile_bench TILECC EXAMPLE.tile PEER.cu
 *
 * 1. whole processes: tilecc -S beside nvcc -ptx on an equal kernel (the output is thrown away, the page cache is warm)
 * 2. in process: .tile text -> PTX text with libtilecc, beside NVRTC (libnvrtc loaded at run time) on the same peer
 * 3. a generated program of 1,000, 3,000 and 10,000 kernels: time, source lines a second, peak memory a line
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tilecc.h"

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, by_value);
    return t[n / 2];
}

/* ---- whole processes ---- */

static double run_process(char *const argv[], int times)
{
    double *t = malloc((size_t)times * sizeof *t);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    for (int i = -2; i < times; i++) {
        pid_t pid;
        int status = 0;
        double start = now();
        if (posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ) != 0) return -1;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return -1;
        if (i >= 0) t[i] = now() - start;
    }
    posix_spawn_file_actions_destroy(&quiet);
    double m = median(t, times);
    free(t);
    return m;
}

/* ---- in process ---- */

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *s = malloc(1 << 20);
    *n = fread(s, 1, (1 << 20) - 1, f);
    s[*n] = 0;
    fclose(f);
    return s;
}

static double tile_to_ptx(const char *text, size_t n, int times)
{
    double *t = malloc((size_t)times * sizeof *t);
    for (int i = times > 1 ? -5 : 0; i < times; i++) {
        tilecc_options o = {.struct_size = sizeof o, .emit = TILECC_EMIT_PTX};
        double start = now();
        tilecc_result *r = tilecc_compile(&o, "bench.tile", text, n);
        if (i >= 0) t[i] = now() - start;
        if (!r || r->status != TILECC_OK) {
            fprintf(stderr, "%s\n", r ? r->diagnostics : "no memory");
            exit(1);
        }
        tilecc_free(r);
    }
    double m = median(t, times);
    free(t);
    return m;
}

static double nvrtc_to_ptx(const char *text, int times)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};
    void *lib = NULL;
    for (int i = 0; !lib && i < 3; i++) lib = dlopen(names[i], RTLD_NOW);
    if (!lib) return -1;
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*destroy)(void **);
    *(void **)&create = dlsym(lib, "nvrtcCreateProgram");
    *(void **)&compile = dlsym(lib, "nvrtcCompileProgram");
    *(void **)&destroy = dlsym(lib, "nvrtcDestroyProgram");
    if (!create || !compile || !destroy) return -1;
    static const char *const options[] = {"--gpu-architecture=compute_90a"};
    double *t = malloc((size_t)times * sizeof *t);
    for (int i = -2; i < times; i++) {
        void *program = NULL;
        double start = now();
        if (create(&program, text, "peer.cu", 0, NULL, NULL) || compile(program, 1, options)) return -1;
        destroy(&program);
        if (i >= 0) t[i] = now() - start;
    }
    double m = median(t, times);
    free(t);
    return m;
}

/* ---- a large program ---- */

static char *many_kernels(int n, size_t *size, size_t *lines)
{
    size_t cap = (size_t)n * 800 + 64;
    char *s = malloc(cap), *at = s;
    at += sprintf(at, "target sm_90a;\n");
    *lines = 1;
    for (int i = 0; i < n; i++) {
        at += sprintf(at,
                      "kernel copy_%d(src: global bf16[M, N], dst: global bf16[M, N])\n"
                      "    grid (ceil(N, %d), ceil(M, 64))\n"
                      "{\n"
                      "    map in  = src box [64, %d];\n"
                      "    map out = dst box [64, %d];\n"
                      "    shared tile: bf16[64, %d];\n"
                      "    barrier full;\n"
                      "    let row = cta.y * 64;\n"
                      "    let col = cta.x * %d;\n"
                      "    move src[row, col] -> tile via in commit full;\n"
                      "    wait full;\n"
                      "    move tile -> dst[row, col] via out commit group;\n"
                      "    wait group;\n"
                      "}\n",
                      i, 64 + 8 * (i % 24), 64 + 8 * (i % 24), 64 + 8 * (i % 24), 64 + 8 * (i % 24), 64 + 8 * (i % 24));
        *lines += 14;
    }
    *size = (size_t)(at - s);
    return s;
}

/* In a process of its own, so that peak memory is this program's alone. */
static void large(int n)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid > 0) {
        waitpid(pid, NULL, 0);
        return;
    }
    size_t size, lines;
    char *s = many_kernels(n, &size, &lines);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double t[5];
    for (int i = 0; i < 5; i++) t[i] = tile_to_ptx(s, size, 1);
    (void)t;
    double m = median(t, 5);
    getrusage(RUSAGE_SELF, &after);
    printf("| %d kernels, %zu lines, %.1f MB | %.0f ms | %.0f lines/s | %.0f bytes/line at the peak |\n", n, lines,
           (double)size / 1e6, m, (double)lines / m * 1e3,
           (double)(after.ru_maxrss - before.ru_maxrss) * 1024 / (double)lines);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: compile_bench TILECC EXAMPLE.tile PEER.cu\n");
        return 2;
    }
    for (int n = 1000; n <= 10000; n = n == 1000 ? 3000 : n == 3000 ? 10000 : 10001) large(n);
    size_t n, m;
    char *tile = read_all(argv[2], &n), *cu = read_all(argv[3], &m);
    if (!tile || !cu) {
        fprintf(stderr, "compile_bench: can't read %s\n", tile ? argv[3] : argv[2]);
        return 3;
    }
    char *tilecc[] = {argv[1], (char *)"-S", argv[2], (char *)"-o", (char *)"/dev/null", NULL};
    char *nvcc[] = {(char *)"nvcc", (char *)"-ptx", (char *)"-arch=sm_90a", argv[3], (char *)"-o", (char *)"/dev/null", NULL};
    double a = run_process(tilecc, 101), b = run_process(nvcc, 7);
    printf("| tilecc -S, whole process | %.2f ms |\n| nvcc -ptx, whole process | %.0f ms | %.0f x |\n", a, b, b / a);
    double c = tile_to_ptx(tile, n, 501), d = nvrtc_to_ptx(cu, 7);
    printf("| .tile text -> PTX text, in process | %.3f ms |\n| NVRTC, in process | %.1f ms | %.0f x |\n", c, d, d / c);
    free(tile);
    free(cu);
    return 0;
}
