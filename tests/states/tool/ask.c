#include "tests/states/tool/ask.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tests/states/states.h"

const char *const OPINION_WORD[] = {"not asked", "proved", "refused", "open"};

/* ---- memory: all of it goes with the question; there is none left when that takes too long ---- */

enum { MEGABYTES_MOST = 2000 };
double states_seconds = 10;
bool states_trace;

typedef struct Block {
    struct Block *before, *behind;
    size_t n, pad; /* n: of all the sum */
} Block;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double end;

static void *resize(void *user, void *p, size_t n)
{
    Block *all = user, *b = p ? (Block *)p - 1 : NULL;
    size_t was = b ? b->n : 0;
    if (n > was && (n - was > ((size_t)MEGABYTES_MOST << 20) - all->n || now() > end)) return NULL;
    if (b) b->before->behind = b->behind, b->behind->before = b->before;
    all->n += n - was;
    if (n == 0) {
        free(b);
        return NULL;
    }
    b = realloc(b, n + sizeof *b);
    if (!b) abort();
    *b = (Block){all, all->behind, n, 0};
    all->behind->before = b, all->behind = b;
    return b + 1;
}

static void *resize_plain(void *user, void *p, size_t n)
{
    (void)user;
    if (n) return realloc(p, n);
    free(p);
    return NULL;
}

static void free_all(Block *all)
{
    while (all->behind != all) resize(all, all->behind + 1, 0);
}

/* ---- the question ---- */

bool states_concern(const IrKernel *k)
{
    for (uint32_t i = 0; i < k->bars.n; i++)
        if (!k->bars.v[i].derived) return true;
    return false;
}

static void say(const IrKernel *k, const Verdict *v, Mem *mem, StatesSaid *to)
{
    const IrOp *op = NULL;
    const char *body = "";
    uint32_t at = v->op;
    Text t;
    for (uint32_t i = 0; i < ir_bodies(k) && !op; i++) {
        const IrRole *r = ir_body(k, i);
        if (at < r->ops.n) op = &r->ops.v[at], body = r->name ? r->name : i ? "exit" : "init";
        at -= op ? 0 : r->ops.n;
    }
    text_init(&t, mem);
    if (op) ir_print_op(&t, k, op);
    snprintf(to->why, sizeof to->why, "%s%s%.180s%s%s%s%.*s%s", v->refused ? error_code(v->code) : "", v->refused ? ": " : "", v->text ? v->text : "", op ? " (" : "", body,
             op ? ": " : "", t.s ? (int)strcspn(t.s, "\n") : 0, t.s ? t.s : "", op ? ")" : "");
    text_free(&t);
}

void states_ask(const IrKernel *k, StatesSaid *to)
{
    Block all = {&all, &all, 0, 0};
    jmp_buf fail;
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30), mallopt(M_TRIM_THRESHOLD, INT_MAX); /* what is given back serves the next question: pages are dear */
#endif
    Mem mem = {.realloc = resize, .user = &all, .fail = &fail}, plain = {.realloc = resize_plain, .fail = &fail};
    const double start = now();
    Arena a;
    end = start + states_seconds;
    *to = (StatesSaid){.is = STATES_LOST, .why = "out of memory or time"};
    snprintf(to->kernel, sizeof to->kernel, "%s", k->mf.name);
    Text trace; /* also of what is not finished */
    text_init(&trace, &plain);
    if (setjmp(fail) == 0) {
        arena_init(&a, &mem);
        Verdict v = states_check(&a, k, states_trace ? &trace : NULL);
        to->is = v.proved ? STATES_PROVED : v.refused ? STATES_REFUSED : STATES_LOST;
        to->states = v.states;
        to->why[0] = 0;
        if (!v.proved) say(k, &v, &mem, to);
    }
    if (trace.n) fwrite(trace.s, 1, trace.n, stdout);
    text_free(&trace);
    free_all(&all);
    to->seconds = now() - start;
}

/* ---- beside others ---- */

static bool is_one_of(const char *const *codes, size_t n, const char *code)
{
    for (size_t i = 0; i < n; i++)
        if (code && !strncmp(code, codes[i], 5)) return true;
    return false;
}

/* A rule that is not in the states. */
static bool is_left_out(const char *code)
{
    static const char *const codes[] = {"E0654", "E0661"};
    return is_one_of(codes, sizeof codes / sizeof *codes, code);
}

Ran states_ran(const char *found)
{
    static const char *const codes[] = {"E1308", "E1326", "E1331"};
    return is_one_of(codes, sizeof codes / sizeof *codes, found) || strstr(found, " of the allocation of ") ? RAN_NOT : RAN_WRONG;
}

const char *states_compare(StatesTable *t, const StatesSaid *s, bool accepted, const char *code, Ran ran)
{
    bool left_out = !accepted && is_left_out(code);
    if (s->is == STATES_SILENT) return NULL;
    t->asked++;
    t->proved += s->is == STATES_PROVED, t->refused += s->is == STATES_REFUSED, t->lost += s->is == STATES_LOST;
    if (s->is == STATES_PROVED && ran == RAN_WRONG) {
        t->beyond += left_out, t->wrong += !left_out;
        return left_out ? NULL : "the checker of states proves it, and it goes wrong";
    }
    if (s->is == STATES_PROVED && !accepted) t->beyond += left_out, t->proved_refused += !left_out;
    if (s->is != STATES_REFUSED || !accepted) return NULL;
    if (ran == RAN_RIGHT) {
        t->refused_right++;
        return NULL;
    }
    t->wrong++;
    return "the checker of states refuses it, the compiler accepts it";
}

void states_print(const StatesTable *t, FILE *to)
{
    fprintf(to, "states: %ld asked, %ld proved, %ld refused, %ld not followed; %ld of those refused are accepted and ran right; %ld proved that the compiler refuses, %ld "
                "for what is not in the states; %ld disagree\n",
            t->asked, t->proved, t->refused, t->lost, t->refused_right, t->proved_refused, t->beyond, t->wrong);
}
