/* ptxas as a process, without a shell. Its files are in memory and have no names of their own: whatever ends this
 * process, nothing of them stays. Where there is no such memory (a sandbox) or no /proc to name it by, they are in a
 * folder of their own, which a second process removes when this one says so or is gone. */
#define _GNU_SOURCE /* memfd_create() */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptxgen/assemble.h"

extern char **environ;

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3; where vm.memfd_noexec is 2 there are no others */
#define MFD_NOEXEC_SEAL 8u
#endif

/* ptxas has the log as 1 and 2, and opens the others by their names, which in /proc are these numbers. */
enum { FILE_PTX, FILE_CUBIN, FILE_LOG, FILES, CHILD_FD = 3, REMOVE = SIGUSR1 };

typedef struct Job {
    int fd[FILES];        /* -1: not made yet */
    pid_t remover;        /* 0: they are in memory */
    const char *path[FILES];
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

static void close_files(Job *j)
{
    for (int i = 0; i < FILES; i++) {
        if (j->fd[i] >= 0) close(j->fd[i]);
        j->fd[i] = -1;
    }
}

static void clean(Job *j)
{
    close_files(j);
    if (j->remover == 0) return;
    kill(j->remover, REMOVE);
    while (waitpid(j->remover, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Above the child's numbers, which are made from these one after the other. */
static bool take_file(Job *j, int i, int fd)
{
    if (fd < 0) return false;
    j->fd[i] = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FD + FILES);
    int e = errno;
    close(fd);
    errno = e;
    return j->fd[i] >= 0;
}

static bool opens(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool in_memory(AsmRun *r, Job *j)
{
    for (int i = 0; i < FILES; i++) {
        int fd = memfd_create("ptxas", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
        if (fd < 0 && errno == EINVAL) fd = memfd_create("ptxas", MFD_CLOEXEC);
        if (!take_file(j, i, fd) || !opens(arena_printf(r->arena, "/proc/self/fd/%d", j->fd[i]))) return false;
        j->path[i] = arena_printf(r->arena, "/proc/self/fd/%d", CHILD_FD + i);
    }
    return true;
}

static const char *const NAMES[FILES] = {"ptx", "cubin", "log"};

/* The remover: in a session of its own, so that what ends all processes of a terminal does not end it. The host may
 * have threads: it calls nothing that locks. */
static _Noreturn void wait_and_remove(const char *folder, pid_t host, const sigset_t *wanted)
{
    int got, dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    setsid();
    if (prctl(PR_SET_PDEATHSIG, REMOVE) == 0 && getppid() == host) sigwait(wanted, &got);
    for (int i = 0; i < FILES; i++) unlinkat(dir, NAMES[i], 0);
    rmdir(folder);
    _exit(0);
}

/* The folder and who removes it come as one: no signal is between them. */
static bool make_folder(Job *j, char *folder)
{
    sigset_t all, wanted, before;
    sigfillset(&all);
    sigemptyset(&wanted);
    sigaddset(&wanted, REMOVE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t host = getpid(), remover = -1;
    bool made = mkdtemp(folder) != NULL;
    if (made) remover = fork();
    int e = errno;
    if (remover == 0) wait_and_remove(folder, host, &wanted);
    if (remover > 0) j->remover = remover;
    else if (made) rmdir(folder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = e;
    return remover > 0;
}

static bool in_folder(AsmRun *r, Job *j, const char *temp)
{
    char *folder = arena_printf(r->arena, "%s/tilecc.XXXXXX", temp);
    if (!make_folder(j, folder)) return false;
    for (int i = 0; i < FILES; i++) {
        j->path[i] = arena_printf(r->arena, "%s/%s", folder, NAMES[i]);
        if (!take_file(j, i, open(j->path[i], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600))) return false;
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
    for (int i = 0; i < FILE_LOG && !e; i++) e = posix_spawn_file_actions_adddup2(&actions, j->fd[i], CHILD_FD + i);
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
    if (!in_memory(r, j)) {
        close_files(j);
        const char *temp = getenv("TMPDIR");
        if (temp == NULL || *temp == 0) temp = "/tmp";
        if (!in_folder(r, j, temp)) return broken(r, arena_printf(r->arena, "no folder for ptxas in %s", temp), errno);
    }
    if (!write_file(j->fd[FILE_PTX], r->ptx, r->size)) return broken(r, "the PTX can't be given to ptxas", errno);
    const char *argv[8];
    size_t n = 0;
    argv[n++] = ptxas;
    argv[n++] = arena_printf(r->arena, "-arch=%s", r->opt->arch);
    if (r->opt->lineinfo) argv[n++] = "-lineinfo";
    argv[n++] = j->path[FILE_PTX];
    argv[n++] = "-o";
    argv[n++] = j->path[FILE_CUBIN];
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
