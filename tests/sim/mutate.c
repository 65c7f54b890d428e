/* mutate [options] FILE.ptx..: is the simulator a detector? Every program runs clean, every mutant of it is reported.
 *
 *   --golden FILE      also the compiler's programs that FILE lists (golden.txt)
 *   --equivalent FILE  mutants that nothing can report, with the reason (equivalent.txt)
 *   --seed N           first of the seeds of data and schedules (default 1)
 *   --seeds N          seeds that a mutant gets before it counts as missed (default 5)
 *   --only WORD        only programs whose path contains WORD
 *   --list             print all mutants with their verdicts
 *   --clean N          no mutants: the programs themselves, in N fuzzed schedules
 *
 * A mutant is reported if any seed ends with a finding (E13xx). Exit code: 0, 1 something was missed, 2 wrong use.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/case.h"
#include "tests/sim/mutants.h"

enum { SEEDS = 64, LIMIT_STEPS = 400000 };

typedef struct Listed { /* a line of equivalent.txt */
    char program[200], kind[32], verdict[16];
    int first, last; /* KIND:FIRST-LAST */
    int line, used;
} Listed;

typedef struct Judge {
    const char *golden, *equivalent, *only;
    uint64_t seed;
    int nseeds, clean;
    bool list;
    Listed *listed;
    int nlisted;
    tile_device *device[SEEDS];
    const Case *c; /* the program at hand */
    const char *program;
    int programs, mutants, at_once, reported, same, data, open, missed, refused, unclean;
} Judge;

static tile_device *open_device(const char *name)
{
    tile_device *d = NULL;
    tile_error err;
    if (tile_device_open(name, &d, &err) != TILE_OK) give_up("%s: %s", name, err.text);
    return d;
}

static bool is_finding(const char *said)
{
    static const char *const not_found[] = {"E1320", "E1321", "E1351", "E1352"}; /* limits, and what is not simulated */
    if (strncmp(said, "E13", 3) != 0) return false;
    for (int i = 0; i < 3; i++)
        if (strncmp(said, not_found[i], 5) == 0) return false;
    return true;
}

static Listed *find_listed(Judge *j, const char *id)
{
    const char *colon = strchr(id, ':');
    int n = atoi(colon + 1);
    for (int i = 0; i < j->nlisted; i++) {
        Listed *l = &j->listed[i];
        if (strcmp(l->program, j->program) == 0 && strncmp(l->kind, id, (size_t)(colon - id)) == 0 &&
            l->kind[colon - id] == 0 && n >= l->first && n <= l->last)
            return l;
    }
    return NULL;
}

static void show(const char *verdict, const Judge *j, const Mutant *m, const char *said)
{
    const char *was = m->was;
    while (isspace((unsigned char)*was)) was++;
    printf("%-10s %s %s line %d: %s\n", verdict, j->program, m->id, m->line, was);
    if (said) printf("           %.*s\n", (int)strcspn(said, "\n"), said);
}

/* What came of it: reported, refused (no PTX that can be run), same (all results right), data (all wrong), mixed. */
static const char *try_mutant(Judge *j, const Mutant *m, Verdict *v)
{
    int right = 0, wrong = 0;
    for (int i = 0; i < j->nseeds; i++) {
        case_run(j->c, j->device[i], m->text, m->size, j->seed, v);
        if (!v->ran && i == 0 && is_finding(v->said)) j->at_once++;
        if (!v->ran) return is_finding(v->said) ? "reported" : "refused";
        if (v->right) right++;
        else wrong++;
    }
    return !wrong ? "equivalent" : !right ? "data" : "mixed";
}

static void judge(void *user, const Mutant *m)
{
    Judge *j = user;
    Verdict v;
    const char *got = try_mutant(j, m, &v);
    Listed *l = find_listed(j, m->id);
    if (l) l->used++;
    if (strcmp(got, "refused") == 0) {
        j->refused++;
        if (j->list) show(got, j, m, v.said);
        return;
    }
    j->mutants++;
    bool reported = strcmp(got, "reported") == 0;
    bool open = l && strcmp(l->verdict, "open") == 0;
    if (l && (open ? !reported : strcmp(l->verdict, got) == 0)) {
        if (open) j->open++;
        else if (strcmp(got, "data") == 0) j->data++;
        else j->same++;
        if (j->list) show(l->verdict, j, m, NULL);
    } else if (l) {
        j->missed++;
        printf("%s:%d: listed as %s, and the verdict is %s\n", j->equivalent, l->line, l->verdict, got);
        show(got, j, m, v.said);
    } else if (reported) {
        j->reported++;
        if (j->list) show(got, j, m, v.said);
    } else {
        j->missed++;
        show(strcmp(got, "equivalent") == 0 ? "MISSED"
             : strcmp(got, "data") == 0     ? "MISSED/data"
                                            : "MISSED/mixed",
             j, m, v.ran && v.right ? NULL : v.said);
    }
}

static void run_clean(Judge *j, const char *text, size_t size)
{
    Verdict v;
    for (int i = 0; i < (j->clean ? 1 : 2); i++) {
        case_run(j->c, j->device[i], text, size, j->seed, &v);
        if (v.ran && v.right) continue;
        j->unclean++;
        printf("NOT CLEAN  %s seed %llu: %s\n", j->program, (unsigned long long)j->seed, v.said);
        return;
    }
}

static void run_program(Judge *j, const Case *c, const char *program, const char *text, size_t size)
{
    if (c->nfails || (j->only && !strstr(program, j->only))) return;
    j->c = c;
    j->program = program;
    j->programs++;
    run_clean(j, text, size);
    if (j->clean) return;
    const char *kernels[CASE_LAUNCHES];
    for (int i = 0; i < c->nlaunches; i++) kernels[i] = c->launches[i].kernel;
    mutants_make(text, kernels, c->nlaunches, judge, j);
}

static void run_file(Judge *j, const char *path)
{
    size_t size;
    char *text = read_text(path, &size);
    const char *at = text;
    int line = 1;
    Case *c = must(malloc(sizeof *c));
    if (!case_read(c, path, &at, &line)) give_up("%s: no directives", path);
    run_program(j, c, path, text, size);
    free(c);
    free(text);
}

static void run_golden(Judge *j)
{
    size_t size, unused;
    char *list = read_text(j->golden, &unused);
    const char *at = list;
    int line = 1;
    Case *c = must(malloc(sizeof *c));
    while (case_read(c, j->golden, &at, &line)) {
        char *text = read_text(c->golden, &size);
        char name[200 + 130];
        snprintf(name, sizeof name, "%s:%s", c->golden, c->launches[0].kernel);
        run_program(j, c, name, text, size);
        free(text);
    }
    free(c);
    free(list);
}

static bool read_id(const char *id, Listed *l)
{
    int n = sscanf(id, "%31[a-z0-9_]:%d-%d", l->kind, &l->first, &l->last);
    if (n == 2) l->last = l->first;
    return n >= 2 && l->last >= l->first;
}

static bool is_verdict(const char *s)
{
    return strcmp(s, "equivalent") == 0 || strcmp(s, "data") == 0 || strcmp(s, "open") == 0;
}

static void read_listed(Judge *j)
{
    size_t size;
    char *text = read_text(j->equivalent, &size);
    j->listed = must(calloc(size / 8 + 1, sizeof *j->listed));
    int number = 1;
    for (char *s = text; *s; number++) {
        char *end = strchr(s, '\n');
        if (end) *end = 0;
        size_t length = strlen(s);
        Listed *l = &j->listed[j->nlisted];
        int used = 0;
        if (*s && *s != '#') {
            char id[40];
            if (sscanf(s, "%199s %39s %15s %n", l->program, id, l->verdict, &used) != 3 || !s[used] ||
                !read_id(id, l) || !is_verdict(l->verdict))
                give_up("%s:%d: expected PROGRAM KIND:N[-M] equivalent|data|open REASON", j->equivalent, number);
            l->line = number;
            j->nlisted++;
        }
        s += length + (end != NULL);
    }
    free(text);
}

static int unused_lines(const Judge *j)
{
    int n = 0;
    for (int i = 0; i < j->nlisted && !j->clean && !j->only; i++) {
        const Listed *l = &j->listed[i];
        if (l->used == l->last - l->first + 1) continue;
        printf("%s:%d: there are no such mutants: %s %s:%d-%d\n", j->equivalent, l->line, l->program, l->kind, l->first,
               l->last);
        n++;
    }
    return n;
}

static void open_devices(Judge *j)
{
    char name[120];
    if (j->clean) {
        snprintf(name, sizeof name, "sim:fuzz,seed=%llu,schedules=%d", (unsigned long long)j->seed, j->clean);
        j->nseeds = 1;
        j->device[0] = open_device(name);
        return;
    }
    for (int i = 0; i < j->nseeds; i++) {
        snprintf(name, sizeof name, "sim:check,seed=%llu,steps=%d", (unsigned long long)j->seed + (unsigned long long)i,
                 (int)LIMIT_STEPS);
        j->device[i] = open_device(name);
    }
}

static int number_option(const char *option, const char *value, int least, int most)
{
    char *end;
    long v = strtol(value, &end, 10);
    if (*end || v < least || v > most) give_up("%s: a number from %d to %d", option, least, most);
    return (int)v;
}

static int read_options(Judge *j, int argc, char **argv) /* options first; returns where the files start */
{
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            j->list = true;
            continue;
        }
        if (i + 1 == argc) give_up("%s needs a value", argv[i]);
        const char *o = argv[i], *value = argv[++i];
        if (strcmp(o, "--golden") == 0) j->golden = value;
        else if (strcmp(o, "--equivalent") == 0) j->equivalent = value;
        else if (strcmp(o, "--only") == 0) j->only = value;
        else if (strcmp(o, "--seed") == 0) j->seed = (uint64_t)number_option(o, value, 0, 1000000000);
        else if (strcmp(o, "--seeds") == 0) j->nseeds = number_option(o, value, 2, SEEDS);
        else if (strcmp(o, "--clean") == 0) j->clean = number_option(o, value, 1, 1000000);
        else give_up("there is no option %s", o);
    }
    return i;
}

int main(int argc, char **argv)
{
    Judge j = {.seed = 1, .nseeds = 5};
    int first = read_options(&j, argc, argv);
    if (j.equivalent) read_listed(&j);
    open_devices(&j);
    for (int i = first; i < argc; i++) run_file(&j, argv[i]);
    if (j.golden) run_golden(&j);
    int stale = unused_lines(&j);
    if (j.clean) printf("%d programs in %d schedules each: %d not clean\n", j.programs, j.clean, j.unclean);
    else
        printf("%d mutants of %d programs: %d reported (%d by the first seed), %d equivalent (listed), %d that only "
               "change data (listed), "
               "%d open (listed), %d missed; %d more are no PTX\n",
               j.mutants, j.programs, j.reported, j.at_once, j.same, j.data, j.open, j.missed, j.refused);
    for (int i = 0; i < j.nseeds; i++) tile_device_close(j.device[i]);
    free(j.listed);
    return j.missed || j.unclean || stale;
}
