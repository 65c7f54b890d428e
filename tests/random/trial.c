/* One program, compiled and launched in a process of its own, and its memory compared with what the program means. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cover.h"
#include "program.h"
#include "tilecc.h"

enum { AGAIN_EVERY = 11, AGAIN_ELEMENTS = 1 << 17 };

const char *const VERDICT_NAMES[V_COUNT] = {"right",       "refused",  "compile error", "launch error", "finding",
                                            "wrong bytes", "time out", "crash",         "invalid",  "not assembled",
                                            "accepted in error"};

/* What the compiler may refuse, if seldom: what the verifier (E06..) or Rule G can't prove, and what is missing. E0662 is a
 * fault of the compiler. */
static bool may_refuse(const char *code)
{
    static const char *const list[] = {"E0471", "E0701", "E0702", "E1001"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(code, list[i])) return true;
    return !strncmp(code, "E06", 3) && strcmp(code, "E0662");
}

static void find_code(Outcome *o)
{
    for (const char *s = o->text; *s; s++)
        if (*s == 'E' && strspn(s + 1, "0123456789") == 4) {
            memcpy(o->code, s, 5);
            return;
        }
}

static void say(Outcome *o, Verdict v, const char *text)
{
    o->verdict = v;
    snprintf(o->text, sizeof o->text, "%s", text);
    find_code(o);
}

typedef struct Bench {
    Program *p;
    tile_device *device;
    tile_module *module;
    tile_args *args;
    uint64_t address[TENSORS_MAX];
    tile_error err;
} Bench;

static bool bind(Bench *b)
{
    Program *p = b->p;
    for (int i = 0; i < p->ntensors; i++) {
        const Tensor *t = &p->tensor[i];
        if (t->base >= 0 || t->dead) continue;
        int64_t shape[RANK_MAX];
        for (int d = 0; d < t->rank; d++) shape[d] = extent_value(p, t, d);
        if (t->bits_packed) shape[t->rank - 1] = shape[t->rank - 1] * 8 / t->bits_packed;
        size_t bytes = (size_t)(tensor_elements(p, t) * type_size(t->type));
        if (tile_alloc(b->device, bytes ? bytes : 16, &b->address[i], &b->err) ||
            tile_write(b->device, b->address[i], t->first, bytes, &b->err) ||
            tile_bind(b->args, t->name, b->address[i], bytes, t->bits_packed ? t->packed : t->type, t->rank, shape, NULL, &b->err))
            return false;
    }
    for (int i = 0; i < p->nsizes; i++)
        if (p->size[i].scalar && tile_bind_scalar(b->args, p->size[i].name, p->size[i].value, &b->err)) return false;
    return true;
}

static bool compare(Bench *b, Outcome *o)
{
    Program *p = b->p;
    for (int i = 0; i < p->ntensors; i++) {
        const Tensor *t = &p->tensor[i];
        if (t->base >= 0 || t->dead) continue;
        size_t n = (size_t)type_size(t->type), bytes = (size_t)tensor_elements(p, t) * n;
        uint8_t *got = malloc(bytes + 1);
        if (!got || tile_read(b->device, got, b->address[i], bytes, &b->err)) abort();
        for (size_t k = 0; k < bytes; k += n)
            if (memcmp(got + k, t->data + k, n) && !t->mark[k / n].open && !(t->any_nan && value_nan(t->type, got + k) && value_nan(t->type, t->data + k))) {
                unsigned long long is = 0, wanted = 0;
                memcpy(&is, got + k, n);
                memcpy(&wanted, t->data + k, n);
                char text[200];
                snprintf(text, sizeof text, "%s: element %zu is %llx, not %llx", t->name, k / n, is, wanted);
                say(o, V_WRONG, text);
                free(got);
                return false;
            }
        free(got);
    }
    return true;
}

static void launch(Bench *b, Outcome *o)
{
    if (tile_args_new(tile_kernel_at(b->module, 0), &b->args, &b->err) || !bind(b)) {
        say(o, V_LAUNCH, b->err.text);
    } else {
        tile_status s = tile_launch(b->args, NULL, &b->err);
        if (s) say(o, s == TILE_ERROR_KERNEL ? V_FINDING : V_LAUNCH, b->err.text);
        else if (o->standing == ST_WRONG || compare(b, o)) say(o, V_RIGHT, ""); /* it means nothing to compare with */
    }
    tile_args_free(b->args);
    for (int i = 0; i < b->p->ntensors; i++)
        if (b->address[i]) tile_release(b->device, b->address[i], NULL);
    memset(b->address, 0, sizeof b->address);
}

static bool ran(const Outcome *o)
{
    return o->verdict == V_RIGHT || o->verdict == V_WRONG || o->verdict == V_FINDING;
}

static bool moderate(const Program *p)
{
    int64_t n = 0;
    for (int i = 0; i < p->ntensors; i++) n += tensor_elements(p, &p->tensor[i]);
    return n <= AGAIN_ELEMENTS;
}

/* What was said of another launch, and which one that is. */
static void tell_launch(const Program *p, Outcome *o)
{
    char text[sizeof o->text];
    size_t n = 0;
    for (int i = 0; i < p->nsizes; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s = %lld, ", p->size[i].name, (long long)p->size[i].value);
    snprintf(text + n, sizeof text - n, "%.1000s", o->text);
    memcpy(o->text, text, sizeof text);
}

/* An accepted program is right at every launch, or the launch is refused: surely where it conflicts. */
static void launch_again(Bench *b, int at, Outcome *o)
{
    Program *p = b->p;
    Outcome of = {0};
    bool conflict;
    const char *bad = program_run_as(p, RUN_PLACES, &conflict);
    if (bad && !conflict) return; /* it takes too long */
    fill_anew(p, at);
    if (!bad && program_run(p)) return; /* what `overlap any` leaves open is read */
    launch(b, &of);
    if (bad && ran(&of)) say(&of, V_UNSOUND, bad);
    else if (bad || of.verdict == V_RIGHT) return;
    tell_launch(p, &of);
    say(o, of.verdict == V_LAUNCH ? V_RIGHT : of.verdict, of.text);
}

static void launch_elsewhere(Bench *b, Outcome *o)
{
    Home home = home_of(b->p);
    int every = o->standing == ST_ELSEWHERE ? 1 : AGAIN_EVERY;
    for (int at = 0; at < launches(b->p) && o->verdict == V_RIGHT; at += every)
        if (take_launch(b->p, &home, at) && moderate(b->p)) launch_again(b, at, o);
    go_home(b->p, &home);
}

/* One device for all programs of a process: a GPU takes long to open. */
static bool open_device(const char *name, Bench *b)
{
    static tile_device *device;
    static char open[64];
    if (!device || strcmp(open, name)) {
        tile_device_close(device);
        device = NULL;
        if (tile_device_open(name, &device, &b->err)) return false;
        snprintf(open, sizeof open, "%s", name);
    }
    b->device = device;
    return true;
}

bool assembling, judging;

/* A program that is not correct is refused, by the compiler or by a launch check. That a tile would be read without a value may
 * stay where no launch shows it (E1305). */
static void judge(const char *why, Outcome *o)
{
    if ((o->standing == ST_CONFLICT && ran(o)) || (o->standing == ST_WRONG && !strcmp(o->code, "E1305"))) say(o, V_UNSOUND, why);
    else if (o->standing == ST_CONFLICT || o->standing == ST_WRONG) o->verdict = V_REFUSED;
    else if (o->verdict == V_COMPILE || o->verdict == V_LAUNCH) o->verdict = V_REFUSED;
}

void trial_here(Program *p, const char *device, Outcome *o)
{
    *o = (Outcome){0};
    const char *bad = NULL;
    if (judging) o->standing = program_standing(p, &bad);
    else bad = program_run(p);
    if (bad && !judging) {
        say(o, V_INVALID, bad);
        return;
    }
    char *text = program_text(p, "");
    tilecc_options opt = {
        .struct_size = sizeof opt, .arch = p->arch, .emit = TILECC_EMIT_PTX, .ptx_version = p->version, .error_format = TILECC_SHORT, .no_performance_warnings = 1};
    tilecc_define define[DEFINES_MAX];
    for (int i = 0; i < p->ndefines; i++) define[i] = (tilecc_define){p->define[i][0], p->define[i][1]};
    opt.no_variants = strlen(text) % 2; /* of two schedules the launch takes the one for few iterations: each gets its share */
    static const char *const folders[] = {IMPORTS};
    opt.import_dirs = folders;
    opt.nimport_dirs = 1;
    opt.defines = define;
    opt.ndefines = (size_t)p->ndefines;
    if (assembling) opt.emit = TILECC_EMIT_CUBIN;
    tilecc_result *r = tilecc_compile(&opt, "random.tile", text, strlen(text));
    if (!r) abort();
    bool none = r->status == TILECC_ERROR_TOOL && (!r->assembler || !*r->assembler); /* or none that knows the target */
    if (r->status == TILECC_ERROR_TOOL && !none) {
        say(o, V_ASSEMBLER, r->message);
    } else if (r->status != TILECC_OK && !none) {
        say(o, V_COMPILE, r->errors ? r->diagnostics : r->message);
        if (may_refuse(o->code)) o->verdict = V_REFUSED;
    } else {
        Bench b = {.p = p};
        if (!open_device(device, &b)) say(o, V_LAUNCH, b.err.text);
        else if (p->unrun) say(o, V_RIGHT, "");
        else if (tile_module_load(b.device, r->ptx, r->ptx_size, &b.module, &b.err)) say(o, V_LAUNCH, b.err.text);
        else launch(&b, o);
        if (judging && o->verdict == V_RIGHT) launch_elsewhere(&b, o);
        if (o->verdict == V_RIGHT) cover_program(p), cover_text(text, r->ptx, r->ptx_size);
        tile_module_free(b.module);
    }
    if (judging) judge(bad, o);
    tilecc_free(r);
    free(text);
}

/* A simulator may wait for a busy machine: what counts there is the processor's time. */
void trial_limit(const char *device)
{
    bool simulated = !strncmp(device, "sim", 3);
    struct itimerval cpu = {.it_value = {.tv_sec = simulated ? TRIAL_CPU_SECONDS : 0}};
    setitimer(ITIMER_PROF, &cpu, NULL);
    alarm(simulated ? 20 * TRIAL_CPU_SECONDS : TRIAL_SECONDS);
}

bool trial_late(int status)
{
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF);
}

bool read_all(int fd, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = read(fd, (char *)to + done, n - done);
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

void trial(Program *p, const char *device, Outcome *out)
{
    int fd[2], status;
    fflush(NULL);
    if (pipe(fd)) abort();
    pid_t child = fork();
    if (child < 0) abort();
    if (!child) {
        close(fd[0]);
        trial_limit(device);
        Outcome o;
        trial_here(p, device, &o);
        _exit(write(fd[1], &o, sizeof o) == (ssize_t)sizeof o ? 0 : 1);
    }
    close(fd[1]);
    *out = (Outcome){0};
    bool whole = read_all(fd[0], out, sizeof *out);
    close(fd[0]);
    if (waitpid(child, &status, 0) < 0) abort();
    if (whole) return;
    *out = (Outcome){0};
    say(out, trial_late(status) ? V_TIME : V_CRASH, "the process ended");
}
