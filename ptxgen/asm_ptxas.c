/* ptxas as a process, without a shell. Its files are in memory and have no names of their own: whatever ends this
 * process, nothing of them stays. */
#define _GNU_SOURCE /* memfd_create() */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptxgen/assemble.h"

extern char **environ;

/* ptxas has the log as 1 and 2, and opens the others by their names in /proc. */
enum { FILE_PTX, FILE_CUBIN, FILE_LOG, FILES, CHILD_PTX = 3, CHILD_CUBIN, CHILD_FILES };
#define CHILD_PTX_PATH "/proc/self/fd/3"
#define CHILD_CUBIN_PATH "/proc/self/fd/4"

typedef struct Job {
    int fd[FILES];        /* -1: not made yet */
    jmp_buf *outer, fail; /* a failing allocation passes by here */
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
    for (int i = 0; i < FILES; i++)
        if (j->fd[i] >= 0) close(j->fd[i]);
}

/* Above the child's numbers, which are made from these one after the other. */
static bool make_files(Job *j)
{
    for (int i = 0; i < FILES; i++) {
        int fd = memfd_create("ptxas", MFD_CLOEXEC);
        if (fd < 0) return false;
        j->fd[i] = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FILES);
        int e = errno;
        close(fd);
        errno = e;
        if (j->fd[i] < 0) return false;
    }
    return true;
}

static bool write_file(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

/* The whole file, with a 0 behind it. */
static char *read_file(AsmRun *r, int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size < 0) st.st_size = 0;
    size_t n = (size_t)st.st_size, at = 0;
    char *s = arena_alloc(r->arena, n + 1);
    while (at < n) {
        ssize_t k = pread(fd, s + at, n - at, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        at += (size_t)k;
    }
    *size = at;
    return s;
}

/* ---- running ---- */

/* 0 and the exit status, or an errno. Status -1: a host that ignores SIGCHLD has collected the child already. */
static int run(const char *const *argv, const Job *j, int *status)
{
    posix_spawn_file_actions_t actions;
    int e = posix_spawn_file_actions_init(&actions);
    if (e) return e;
    e = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, j->fd[FILE_LOG], 1);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, j->fd[FILE_LOG], 2);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, j->fd[FILE_PTX], CHILD_PTX);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, j->fd[FILE_CUBIN], CHILD_CUBIN);
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
    r->message = arena_printf(r->arena, "%s: %s", what, strerror(e));
    return ASM_BROKEN;
}

static AsmOutcome run_job(AsmRun *r, Job *j, const char *ptxas)
{
    if (!make_files(j) || !write_file(j->fd[FILE_PTX], r->ptx, r->size))
        return broken(r, "no file in memory for ptxas", errno);
    const char *argv[8];
    size_t n = 0;
    argv[n++] = ptxas;
    argv[n++] = arena_printf(r->arena, "-arch=%s", r->opt->arch);
    if (r->opt->lineinfo) argv[n++] = "-lineinfo";
    argv[n++] = CHILD_PTX_PATH;
    argv[n++] = "-o";
    argv[n++] = CHILD_CUBIN_PATH;
    argv[n] = NULL;
    int status = 0, e = run(argv, j, &status);
    if (e) return broken(r, arena_printf(r->arena, "%s can't be started", ptxas), e);
    size_t size = 0;
    r->log = read_file(r, j->fd[FILE_LOG], &size);
    char *cubin = read_file(r, j->fd[FILE_CUBIN], &size);
    if (status <= 0 && size) {
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
    for (int i = 0; i < FILES; i++) j->fd[i] = -1;
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
