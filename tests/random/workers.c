/* Trials in several processes. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

enum { BATCH = 50, JOBS_MAX = 64, FUZZ_EVERY = 5 };

typedef struct Worker {
    pid_t pid;
    int fd;
    uint64_t next, end; /* the seed whose outcome comes next */
} Worker;

Program *program_of(const Plan *plan, uint64_t seed)
{
    return generate(seed, plan->all, plan->wild, plan->arch);
}

const char *device_of(const Plan *plan, uint64_t seed)
{
    return plan->device ? plan->device : seed % FUZZ_EVERY ? "sim:check" : "sim:fuzz,schedules=8";
}

/* Ends behind a launch that failed: it may have left a GPU's context broken. */
static void work(const Plan *plan, uint64_t from, uint64_t end, int fd)
{
    for (uint64_t at = from; at < end; at++) {
        Outcome o;
        Program *p = program_of(plan, at);
        trial_limit(device_of(plan, at));
        trial_here(p, device_of(plan, at), &o);
        program_free(p);
        if (write(fd, &o, sizeof o) != (ssize_t)sizeof o) _exit(1);
        if (o.verdict == V_FINDING || o.verdict == V_LAUNCH) break;
    }
    _exit(0);
}

static void start(const Plan *plan, Worker *w)
{
    int fd[2];
    fflush(NULL);
    if (pipe(fd)) abort();
    w->pid = fork();
    if (w->pid < 0) abort();
    if (!w->pid) {
        close(fd[0]);
        work(plan, w->next, w->end, fd[1]);
    }
    close(fd[1]);
    w->fd = fd[0];
}

/* The process ended: at its end, behind a launch that failed, or by the program whose outcome has not come. */
static void ended(const Plan *plan, Worker *w)
{
    int status;
    close(w->fd);
    if (waitpid(w->pid, &status, 0) < 0) abort();
    w->pid = 0;
    if (w->next == w->end) return;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        Outcome o = {.verdict = trial_late(status) ? V_TIME : V_CRASH};
        snprintf(o.text, sizeof o.text, "the process ended");
        plan->done(plan, w->next++, &o);
    }
    if (w->next < w->end) start(plan, w);
}

void workers(const Plan *plan)
{
    Worker w[JOBS_MAX] = {{0}};
    uint64_t next = plan->seed, end = plan->seed + (uint64_t)plan->count;
    int jobs = plan->jobs < JOBS_MAX ? plan->jobs : JOBS_MAX, running;
    do {
        struct pollfd fds[JOBS_MAX];
        running = 0;
        for (int i = 0; i < jobs; i++) {
            if (!w[i].pid && next < end) {
                w[i].next = next;
                w[i].end = next = end - next > BATCH ? next + BATCH : end;
                start(plan, &w[i]);
            }
            fds[i] = (struct pollfd){.fd = w[i].pid ? w[i].fd : -1, .events = POLLIN};
            running += w[i].pid != 0;
        }
        if (running && poll(fds, (nfds_t)jobs, -1) < 0) abort();
        for (int i = 0; i < jobs; i++) {
            Outcome o;
            if (!w[i].pid || !fds[i].revents) continue;
            if (read_all(w[i].fd, &o, sizeof o)) plan->done(plan, w[i].next++, &o);
            else ended(plan, &w[i]);
        }
    } while (running);
}
