/* random --seed N --count N [--jobs N] [--device NAME] [--arch TARGET] [--keep FOLDER] [--refusals PERCENT] [--print] [--all]
 *        [--coverage FILE] [--assemble] [--acceptance]
 *
 * Draws programs, runs each on the simulator and compares with its meaning. What fails is shrunk and printed; with --keep it
 * is kept in FOLDER with what was said about it, and so is what the compiler could not prove, which is counted by code. Exit
 * code 1 if a program fails, or if more than PERCENT (10) are refused. --all: also programs with what is not supported yet; other programs per seed. --coverage: what the
 * programs reached (cover.h), as a table. --assemble: their PTX goes through an assembler, if there is one. --acceptance: programs that may be
 * wrong, and what is made of those that are not. README.md */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "acceptance.h"
#include "cover.h"
#include "program.h"

enum { CODES = 64, TRIALS = 400 };

typedef struct Count {
    char code[8];
    int n;
} Count;

static bool same_failure(Program *p, const char *device, const Outcome *as, int *trials)
{
    Outcome o;
    if (++*trials > TRIALS) return false;
    trial(p, device, &o);
    return o.verdict == as->verdict && o.standing == as->standing && !strcmp(o.code, as->code);
}

static void shrink_block(Program *p, Stmt *s, const char *device, const Outcome *as, int *trials)
{
    for (; s; s = s->next) {
        if (!s->dead && !s->fixed) {
            s->dead = true;
            if (same_failure(p, device, as, trials)) continue;
            s->dead = false;
        }
        if (s->kind == S_TWIN || s->dead) continue;
        if (s->kind == S_IF && !s->other) {
            StmtKind was = s->kind;
            s->kind = S_BLOCK;
            if (!same_failure(p, device, as, trials)) s->kind = was;
        }
        const char *text = s->text;
        if (text && *text && s->kind != S_TEXT) {
            s->text = strstr(text, "across") ? " across grid" : "";
            if (strcmp(s->text, text) && !same_failure(p, device, as, trials)) s->text = text;
        }
        shrink_block(p, s->body, device, as, trials);
        shrink_block(p, s->other, device, as, trials);
    }
}

static void shrink(Program *p, const char *device, const Outcome *as)
{
    int trials = 0;
    for (int round = 0; round < 2; round++) shrink_block(p, p->body, device, as, &trials);
    for (int i = 0; i < p->ntensors; i++) {
        p->tensor[i].dead = true;
        if (!same_failure(p, device, as, &trials)) p->tensor[i].dead = false;
    }
}

static void keep_program(const char *folder, const char *name, uint64_t seed, Program *p, const Outcome *o)
{
    if (folder == NULL) return;
    char path[512], head[256];
    snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".tile", folder, name, seed);
    snprintf(head, sizeof head, "// seed %" PRIu64 ": %s %s\n", seed, VERDICT_NAMES[o->verdict], o->code);
    char *text = program_text(p, head);
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(3);
    }
    fprintf(f, "%s/*\n%s\n", text, o->text);
    for (int i = 0; i < p->nsizes; i++) fprintf(f, "%s = %" PRId64 "\n", p->size[i].name, p->size[i].value);
    for (int i = 0; i < p->ndefines; i++) fprintf(f, "-D %s=%s\n", p->define[i][0], p->define[i][1]);
    fprintf(f, "*/\n");
    fclose(f);
    free(text);
}

static void failed(const char *folder, uint64_t seed, Program *p, const char *device, const Outcome *o)
{
    printf("seed %" PRIu64 " on %s: %s %s\n%.700s\n", seed, device, VERDICT_NAMES[o->verdict], o->code, o->text);
    keep_program(folder, "full", seed, p, o);
    if (o->verdict != V_INVALID && o->verdict != V_TIME) shrink(p, device, o);
    keep_program(folder, "shrunk", seed, p, o);
    char *text = program_text(p, "");
    printf("%s\n", text);
    free(text);
}

static void count_code(Count *counts, const char *code)
{
    int i = 0;
    while (i < CODES - 1 && counts[i].n && strcmp(counts[i].code, code)) i++;
    snprintf(counts[i].code, sizeof counts[i].code, "%s", code);
    counts[i].n++;
}

static int64_t number(const char *s)
{
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || *end || v < 0) {
        fprintf(stderr, "%s is no number\n", s);
        exit(2);
    }
    return v;
}

static int verdicts[V_COUNT], bad;
static Count refused[CODES];
static const char *folder;

static void count_acceptance(uint64_t seed, Program *p, const Outcome *o)
{
    char *text = program_text(p, "");
    acceptance_count(seed, o, strlen(text));
    free(text);
}

static const Plan *accepting;

static void keep_cause(uint64_t seed, const Outcome *o)
{
    Program *p = program_of(accepting, seed);
    shrink(p, device_of(accepting, seed), o);
    keep_program(folder, o->code, seed, p, o);
    program_free(p);
}

static void count_outcome(const Plan *plan, uint64_t seed, const Outcome *o)
{
    verdicts[o->verdict]++;
    if (o->verdict == V_RIGHT && !plan->wild) return;
    Program *p = program_of(plan, seed);
    if (plan->wild) count_acceptance(seed, p, o);
    if (o->verdict == V_REFUSED) {
        count_code(refused, o->code);
        if (!plan->wild) keep_program(folder, "refused", seed, p, o);
    } else if (o->verdict != V_RIGHT) {
        bad++;
        failed(folder, seed, p, device_of(plan, seed), o);
    }
    program_free(p);
}

static void print_program(const Plan *plan, uint64_t seed)
{
    Program *p = program_of(plan, seed);
    char *text = program_text(p, "");
    fputs(text, stdout);
    free(text);
    program_free(p);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"count", required_argument, NULL, 'c'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"arch", required_argument, NULL, 't'},
                                            {"keep", required_argument, NULL, 'k'},
                                            {"print", no_argument, NULL, 'p'},
                                            {"all", no_argument, NULL, 'a'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"coverage", required_argument, NULL, 'C'},
                                            {"assemble", no_argument, NULL, 'A'},
                                            {"refusals", required_argument, NULL, 'r'},
                                            {"acceptance", no_argument, NULL, 'f'},
                                            {0}};
    Plan plan = {.seed = 1, .count = 100, .jobs = 1, .done = count_outcome};
    int64_t refusals = 10;
    const char *coverage = NULL;
    bool print = false;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 's') plan.seed = (uint64_t)number(optarg);
        else if (o == 'c') plan.count = number(optarg);
        else if (o == 'j') plan.jobs = (int)number(optarg);
        else if (o == 'r') refusals = number(optarg);
        else if (o == 'd') plan.device = optarg;
        else if (o == 't') plan.arch = optarg;
        else if (o == 'k') folder = optarg;
        else if (o == 'C') coverage = optarg;
        else if (o == 'p') print = true;
        else if (o == 'A') assembling = true;
        else if (o == 'a') plan.all = true;
        else if (o == 'f') plan.wild = judging = true;
        else return 2;
    }
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
        return 3;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int64_t i = 0; print && i < plan.count; i++) print_program(&plan, plan.seed + (uint64_t)i);
    if (print) return 0;
    if (coverage) cover_start();
    workers(&plan);
    if (coverage) cover_print(coverage);
    for (int v = 0; v < V_COUNT; v++)
        if (verdicts[v]) printf("%s: %d\n", VERDICT_NAMES[v], verdicts[v]);
    for (int i = 0; i < CODES && refused[i].n && !plan.wild; i++) printf("refused %s: %d\n", refused[i].code, refused[i].n);
    if (plan.wild) {
        acceptance_print();
        accepting = &plan;
        if (folder) acceptance_causes(keep_cause);
    }
    if (!plan.wild && 100 * verdicts[V_REFUSED] > refusals * plan.count) {
        printf("more than %" PRId64 " percent are refused\n", refusals);
        bad++;
    }
    return bad ? 1 : 0;
}
