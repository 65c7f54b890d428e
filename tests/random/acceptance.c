/* What the compiler makes of programs that mean something: how many it accepts, and why it refuses the others. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acceptance.h"

enum { CAUSES = 512, CAUSE_TEXT = 140 };

typedef struct Cause {
    char text[CAUSE_TEXT];
    int n;
    uint64_t seed; /* of the shortest program, as are the others */
    size_t length;
    Outcome outcome;
} Cause;

static Cause causes[CAUSES];
static int ncauses, standings[ST_WRONG + 1], accepted, elsewhere, rule_g, real, missing;
static uint64_t elsewhere_seed;

/* Memory, targets, declared limits: errors of programs that are free of conflicts, too. */
static bool real_error(const char *code)
{
    return !strncmp(code, "E08", 3) || !strncmp(code, "E09", 3);
}

/* A form that the language does not have yet (README.md, lang/notyet.def): no proof would make it accepted. */
static bool not_yet(const char *code)
{
    return !strcmp(code, "E1001");
}

/* E0749 is about the order inside a team, E0720 and up about the forms of kernels. */
static bool of_rule_g(const char *code)
{
    static const char *const list[] = {"E0701", "E0702", "E0704", "E0706", "E0707"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(code, list[i])) return true;
    return false;
}

/* The message without names and numbers, so that those of one kind are alike. */
static void message_of(const char *text, char *out)
{
    const char *s = strstr(text, "error");
    size_t n = 0;
    s = s && strchr(s, ':') ? strchr(s, ':') + 1 : text;
    while (*s == ' ') s++;
    while (*s && *s != '\n' && n < CAUSE_TEXT - 2) {
        if (*s == '`') {
            const char *end = strchr(s + 1, '`');
            out[n++] = '`';
            s = end ? end : s;
        } else if (isdigit((unsigned char)*s)) {
            while (isdigit((unsigned char)s[1])) s++;
            out[n++] = 'n';
            s++;
            continue;
        }
        out[n++] = *s++;
    }
    out[n] = 0;
}

static void count_cause(uint64_t seed, const Outcome *o, size_t length)
{
    char text[CAUSE_TEXT];
    int i = 0;
    message_of(o->text, text);
    while (i < ncauses && (strcmp(causes[i].outcome.code, o->code) || strcmp(causes[i].text, text))) i++;
    if (i == CAUSES) return;
    if (i == ncauses) ncauses++;
    Cause *c = &causes[i];
    if (!c->n++ || length < c->length) {
        c->seed = seed;
        c->length = length;
        c->outcome = *o;
        memcpy(c->text, text, sizeof text);
    }
}

void acceptance_count(uint64_t seed, const Outcome *o, size_t length)
{
    standings[o->standing]++;
    if (o->verdict == V_RIGHT && *o->code) printf("seed %" PRIu64 ": a launch that means something is refused: %.400s\n", seed, o->text);
    if (o->standing == ST_ELSEWHERE && o->verdict == V_RIGHT && !elsewhere++) elsewhere_seed = seed;
    if (o->standing != ST_FREE) return;
    accepted += o->verdict == V_RIGHT;
    if (o->verdict != V_REFUSED) return;
    if (real_error(o->code)) real++;
    else if (of_rule_g(o->code)) rule_g++;
    else if (not_yet(o->code)) missing++;
    count_cause(seed, o, length);
}

static int by_count(const void *a, const void *b)
{
    const Cause *x = a, *y = b;
    int by = strcmp(x->outcome.code, y->outcome.code);
    return x->n != y->n ? y->n - x->n : by ? by : strcmp(x->text, y->text);
}

static void print_percent(const char *what, int n, int of)
{
    printf("%s: %d (%.1f %%)\n", what, n, of ? 100.0 * n / of : 0.0);
}

void acceptance_print(void)
{
    int free = standings[ST_FREE] - real;
    printf("conflicts: %d; at another launch: %d; perhaps: %d; not correct otherwise: %d; memory, targets, limits: %d\n",
           standings[ST_CONFLICT], standings[ST_ELSEWHERE], standings[ST_DOUBTFUL], standings[ST_WRONG], real);
    if (elsewhere) printf("%d accepted ones conflict at another launch, which its checks must refuse: seed %" PRIu64 "\n", elsewhere, elsewhere_seed);
    printf("free of conflicts: %d\n", free);
    print_percent("of these accepted", accepted, free);
    print_percent("refused by rule G", rule_g, free);
    print_percent("not in the language yet", missing, free);
    print_percent("refused for other reasons", free - accepted - rule_g - missing, free);
    qsort(causes, (size_t)ncauses, sizeof *causes, by_count);
    for (int i = 0; i < ncauses; i++) {
        const char *code = causes[i].outcome.code, *kind = real_error(code) ? " (not counted)" : of_rule_g(code) ? " (rule G)" : "";
        printf("%5d %s%s seed %" PRIu64 ": %s\n", causes[i].n, code, kind, causes[i].seed, causes[i].text);
    }
}

void acceptance_causes(void (*visit)(uint64_t seed, const Outcome *o))
{
    for (int i = 0; i < ncauses; i++) visit(causes[i].seed, &causes[i].outcome);
}
