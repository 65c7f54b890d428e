/* ptxas as a process: private files in a folder of their own, no shell, everything removed in all cases. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptxgen/assemble.h"

extern char **environ;

typedef struct Job {
    char *dir, *ptx, *cubin, *log; /* NULL until made */
    int fd;                        /* open file, -1: none */
    jmp_buf *outer, fail;          /* a failing allocation passes by here */
} Job;

/* ---- finding the program ---- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static const char *try_program(AsmRun *r, const char *path)
{
    if (path == NULL) return NULL;
    asm_tried(r, path);
    return is_program(path) ? path : NULL;
}

static const char *in_path(AsmRun *r)
{
    const char *path = getenv("PATH");
    asm_tried(r, "ptxas in PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        const char *p = arena_printf(r->arena, "%.*s/ptxas", n > INT_MAX ? 0 : (int)n, path);
        if (n && is_program(p)) return p; /* an empty entry means the working folder: not for a tool */
        path += n + (path[n] == ':');
    }
    return NULL;
}

static const char *find_ptxas(AsmRun *r)
{
    const char *chosen = r->opt->ptxas ? r->opt->ptxas : getenv("TILECC_PTXAS"), *p;
    if (chosen && *chosen) return try_program(r, chosen);
    if ((p = try_program(r, asm_env_path(r->arena, "CUDA_HOME", "bin/ptxas")))) return p;
    if ((p = try_program(r, asm_env_path(r->arena, "CUDA_PATH", "bin/ptxas")))) return p;
    if ((p = try_program(r, "/usr/local/cuda/bin/ptxas"))) return p;
    return in_path(r);
}

/* ---- files ---- */

static void clean(Job *j)
{
    if (j->fd >= 0) close(j->fd);
    j->fd = -1;
    if (j->dir == NULL) return;
    unlink(j->ptx);
    unlink(j->cubin);
    unlink(j->log);
    rmdir(j->dir);
    j->dir = NULL;
}

static bool make_folder(AsmRun *r, Job *j)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = arena_printf(r->arena, "%s/tilecc.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    j->ptx = arena_printf(r->arena, "%s/tile.ptx", dir); /* names before the folder: making them can fail */
    j->cubin = arena_printf(r->arena, "%s/tile.cubin", dir);
    j->log = arena_printf(r->arena, "%s/log", dir);
    if (mkdtemp(dir) == NULL) return false;
    size_t n = strlen(dir);
    memcpy(j->ptx, dir, n);
    memcpy(j->cubin, dir, n);
    memcpy(j->log, dir, n);
    j->dir = dir;
    return true;
}

static bool write_file(Job *j, const char *path, const char *s, size_t n)
{
    j->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (j->fd < 0) return false;
    while (n) {
        ssize_t k = write(j->fd, s, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        s += k;
        n -= (size_t)k;
    }
    int fd = j->fd;
    j->fd = -1;
    return close(fd) == 0;
}

/* The whole file, with a 0 behind it; NULL if it can't be read. */
static char *read_file(AsmRun *r, Job *j, const char *path, size_t *size)
{
    struct stat st;
    j->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (j->fd < 0) return NULL;
    if (fstat(j->fd, &st) != 0 || st.st_size < 0) st.st_size = 0;
    size_t n = (size_t)st.st_size, at = 0;
    char *s = arena_alloc(r->arena, n + 1);
    while (at < n) {
        ssize_t k = read(j->fd, s + at, n - at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        at += (size_t)k;
    }
    close(j->fd);
    j->fd = -1;
    *size = at;
    return s;
}

/* ---- running ---- */

/* 0 and the exit status, or an errno. Status -1: a host that ignores SIGCHLD has collected the child already. */
static int run(const char *const *argv, const char *log, int *status)
{
    posix_spawn_file_actions_t actions;
    int e = posix_spawn_file_actions_init(&actions);
    if (e) return e;
    e = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!e) e = posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid = 0;
    char *args[8];
    size_t n = 0;
    for (; argv[n] && n < 7; n++) memcpy(&args[n], &argv[n], sizeof args[n]); /* posix_spawn writes to none of them */
    args[n] = NULL;
    if (!e) e = posix_spawn(&pid, argv[0], &actions, NULL, args, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (e) return e;
    int st = 0;
    pid_t got;
    while ((got = waitpid(pid, &st, 0)) < 0 && errno == EINTR) {
    }
    *status = got < 0 ? -1 : WIFEXITED(st) ? WEXITSTATUS(st) : 128 + (WIFSIGNALED(st) ? WTERMSIG(st) : 0);
    return 0;
}

static AsmOutcome broken(AsmRun *r, const char *what, int e)
{
    char text[128] = "";
    if (strerror_r(e, text, sizeof text) != 0) text[0] = 0;
    r->message = arena_printf(r->arena, "%s: %s", what, text);
    return ASM_BROKEN;
}

static AsmOutcome run_job(AsmRun *r, Job *j, const char *ptxas)
{
    if (!make_folder(r, j)) return broken(r, "no temporary folder for ptxas", errno);
    if (!write_file(j, j->ptx, r->ptx, r->size))
        return broken(r, "the PTX can't be written to a temporary file", errno);
    const char *argv[8];
    size_t n = 0;
    argv[n++] = ptxas;
    argv[n++] = arena_printf(r->arena, "-arch=%s", r->opt->arch);
    if (r->opt->lineinfo) argv[n++] = "-lineinfo";
    argv[n++] = j->ptx;
    argv[n++] = "-o";
    argv[n++] = j->cubin;
    argv[n] = NULL;
    int status = 0, e = run(argv, j->log, &status);
    if (e) return broken(r, arena_printf(r->arena, "%s can't be started", ptxas), e);
    size_t size = 0;
    const char *log = read_file(r, j, j->log, &size);
    r->log = log ? log : "";
    size = 0;
    char *cubin = read_file(r, j, j->cubin, &size);
    if (status <= 0 && cubin && size) {
        r->cubin = cubin;
        r->cubin_size = size;
        return ASM_DONE;
    }
    if (asm_says_too_old(r->log)) return ASM_TOO_OLD;
    if (*r->log) return ASM_REFUSED;
    r->message = arena_printf(r->arena, "%s ended with status %d and no message", ptxas, status);
    return ASM_BROKEN;
}

static AsmOutcome run_and_clean(AsmRun *r, Job *j, const char *ptxas)
{
    Mem *mem = r->arena->mem;
    j->outer = mem->fail;
    if (setjmp(j->fail)) {
        clean(j);
        mem->fail = j->outer;
        longjmp(*j->outer, 1);
    }
    mem->fail = &j->fail;
    AsmOutcome o = run_job(r, j, ptxas);
    mem->fail = j->outer;
    clean(j);
    return o;
}

AsmOutcome asm_ptxas(AsmRun *r)
{
    const char *ptxas = find_ptxas(r);
    if (ptxas == NULL) return ASM_ABSENT;
    r->assembler = arena_printf(r->arena, "ptxas (%s)", ptxas);
    Job *j = arena_new(r->arena, Job);
    j->fd = -1;
    return run_and_clean(r, j, ptxas);
}

bool asm_ptxas_key(AsmRun *r, CacheKey *k)
{
    const char *ptxas = find_ptxas(r);
    if (ptxas == NULL) return false;
    key_text(k, ptxas);
    key_program(k, ptxas);
    return true;
}
