/* roles [options] [FILE ..]
 *
 * Draws N programs; one in six is right by construction, the others are changed in one or two places. What is accepted must run right: in
 * all launches that are made, in one schedule and in several, and, where data move as they did, as the sequential program says. What is not
 * is shrunk and printed, and the exit code is 1. A table says what was drawn, and which refusals are of programs that never went wrong.
 *
 *   --right        no changes
 *   --print        the program of the seed
 *   --accepted     what is refused does not run: for long runs
 *   --ill          with --refused: those that never become PTX
 *   --refused N    prints the first N, shrunk, that are refused and right; by one code: --code E0611
 *   FILE ..        programs by hand instead; each begins with `// wrong`: it is refused, or no launch that goes wrong is made;
 *                  `// right`: accepted and right; or `// refused`: not seen to go wrong, and refused all the same
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/roles/roles.h"

#define WORD(form, word) word,
static const char *const FORM_WORD[FORMS] = {ROLES_FORMS(WORD)};
#undef WORD
enum { CAUSES = 256, SIZE = 1 << 16 };

typedef struct Cause { /* a message without numbers and names */
    char text[140];
    long all, right, unchanged;
    uint64_t seed; /* of the first that is right */
} Cause;
static Cause causes[CAUSES];
static long forms[FORMS], accepted_forms[FORMS];

typedef struct Totals {
    long drawn, accepted, wrong, other, beyond, refused, refused_right, ill, launches, launches_refused, launches_refused_right, printed;
} Totals;

typedef struct Options {
    uint64_t seed;
    long count, refused;
    bool right, print, ill, accepted;
    const char *code;
} Options;

static char kernel[SIZE], plain[SIZE];

static Cause *cause_of(const char *said)
{
    char text[sizeof causes->text];
    size_t n = 0;
    bool quoted = false;
    for (const char *at = said; *at && *at != '\n' && n + 1 < sizeof text; at++) {
        bool digit = *at >= '0' && *at <= '9' && at > said + 11; /* behind the code */
        if (*at == '`') quoted = !quoted;
        else if (!quoted && !(digit && n && text[n - 1] == '#')) text[n++] = digit ? '#' : *at;
    }
    text[n] = 0;
    int i = 0;
    while (i < CAUSES - 1 && causes[i].all && strcmp(causes[i].text, text) != 0) i++;
    memcpy(causes[i].text, text, sizeof text);
    return &causes[i];
}

/* ---- the shrinker ---- */

enum { TRIALS = 250 };

static bool same_kind(const Verdict *a, const Verdict *b)
{
    if (a->accepted != b->accepted || a->truth != b->truth) return false;
    return a->accepted ? !strncmp(a->said, b->said, 5) : !strcmp(a->code, b->code);
}

static void shrink(Node **root, Verdict *v)
{
    bool smaller = true;
    for (int trials = 0; smaller;) {
        smaller = false;
        for (int step = 0; shrink_step(root, step, false); step++) {
            static char now[SIZE];
            Verdict u = {0};
            print_node(*root, now, SIZE);
            bool changed = strcmp(now, kernel) != 0 && trials++ < TRIALS;
            if (changed) judge(now, NULL, !v->accepted, &u);
            if (changed && same_kind(v, &u)) {
                memcpy(kernel, now, SIZE), *v = u, smaller = true;
                step -= step % 3 == 0 ? 1 : 0;
            } else shrink_step(root, step, true);
        }
    }
}

/* ---- one program ---- */

static void print(const char *what, uint64_t seed, const char *changes, const Verdict *v)
{
    printf("// seed %llu %s: %s\n// %s with %s\n%s\n", (unsigned long long)seed, what, changes, v->said, v->at, kernel);
    fflush(stdout);
}

static void count(const Case *c, const Verdict *v, bool changed, uint64_t seed, Totals *t)
{
    for (int f = 0; f < FORMS; f++) forms[f] += c->form[f], accepted_forms[f] += c->form[f] && v->accepted;
    t->accepted += v->accepted, t->refused += !v->accepted;
    t->launches += v->accepted ? v->launches : 0, t->launches_refused += v->accepted ? v->refused : 0, t->launches_refused_right += v->refused_right;
    t->beyond += v->truth == BEYOND;
    t->ill += v->truth == NOT_RUN;
    if (v->accepted) {
        t->other += v->truth == OTHER_BYTES;
        return;
    }
    Cause *cause = cause_of(v->said);
    if (v->truth == RIGHT && !cause->right) cause->seed = seed;
    cause->all++, cause->right += v->truth == RIGHT, cause->unchanged += v->truth == RIGHT && !changed;
    t->refused_right += v->truth == RIGHT;
}

static void one(const Options *o, uint64_t seed, Totals *t)
{
    static Case c;
    const char *changes = "unchanged";
    bool moves = false;
    Verdict v;
    text_begin(seed);
    draw_case(&c);
    print_node(c.plain, plain, SIZE);
    int many = o->right ? 0 : PICK(0, 1, 1, 1, 2, 2);
    for (int i = 0; i < many; i++) {
        const char *what = change(&c.kernel, &moves);
        if (what) changes = i ? text("%s; %s", changes, what) : what, c.form[F_CHANGED] = true;
    }
    print_node(c.kernel, kernel, SIZE);
    if (o->print) {
        printf("// %s\n%s\n// means\n%s", changes, kernel, plain);
        return;
    }
    judge(kernel, moves ? NULL : plain, !o->accepted, &v);
    t->drawn++;
    count(&c, &v, many > 0, seed, t);
    bool bad = v.accepted && (v.truth == WRONG || (v.truth == OTHER_BYTES && !many));
    if (bad) {
        t->wrong++;
        if (v.truth == WRONG) shrink(&c.kernel, &v);
        print("is accepted and wrong", seed, changes, &v);
    } else if (!v.accepted && v.truth == (o->ill ? NOT_RUN : RIGHT) && t->printed < o->refused && (!o->code || !strcmp(o->code, v.code))) {
        t->printed++;
        if (!o->ill) shrink(&c.kernel, &v);
        print(o->ill ? "is refused" : "is refused and right", seed, changes, &v);
    }
}

static void print_table(const Totals *t)
{
    printf("%ld programs: %ld accepted, %ld of them wrong, %ld make other bytes; ", t->drawn, t->accepted, t->wrong, t->other);
    printf("%ld refused, %ld of them right, %ld not run; %ld not the verifier's\n", t->refused, t->refused_right, t->ill, t->beyond);
    printf("launches of accepted ones: %ld made, %ld refused, %ld of those right\n", t->launches, t->launches_refused, t->launches_refused_right);
    printf("refused, of them right, of these unchanged, seed of the first that is right:\n");
    for (int i = 0; i < CAUSES && causes[i].all; i++)
        printf("  %6ld %6ld %6ld %8llu  %s\n", causes[i].all, causes[i].right, causes[i].unchanged, (unsigned long long)causes[i].seed,
               causes[i].text);
    printf("programs, of them accepted:\n");
    for (int f = 0; f < FORMS; f++) printf("  %6ld %6ld  %s\n", forms[f], accepted_forms[f], FORM_WORD[f]);
}

/* ---- programs by hand ---- */

static bool one_by_hand(const char *path)
{
    static const char *const truths[] = {"right", "other bytes", "wrong", "beyond", "not run"};
    Verdict v;
    bool wrong = !strncmp(kernel, "// wrong", 8), right = !strncmp(kernel, "// right", 8), refused = !strncmp(kernel, "// refused", 10);
    judge(kernel, NULL, refused, &v);
    bool bad = wrong ? v.accepted && v.truth != RIGHT : right ? !v.accepted || v.truth != RIGHT : !refused || v.accepted || v.truth == WRONG;
    if (bad)
        printf("%s: %.*s: %s, %s with %s: %s\n", path, (int)strcspn(kernel, "\n"), kernel, v.accepted ? "accepted" : "refused", truths[v.truth],
               v.at, v.said);
    return !bad;
}

/* Programs stand one behind the other, each with a blank line at its end. */
static bool by_hand(const char *path)
{
    FILE *f = fopen(path, "r");
    char row[1024];
    bool ok = f != NULL;
    int n = 0;
    *kernel = 0;
    while (f && fgets(row, sizeof row, f)) {
        if (*row != '\n') strncat(kernel, row, SIZE - 1 - strlen(kernel));
        if (strcmp(row, "}\n") != 0) continue;
        ok &= one_by_hand(path), n++;
        *kernel = 0;
    }
    if (f) fclose(f);
    printf("%s: %d programs\n", path, n);
    return ok && n > 0;
}

int main(int argc, char **argv)
{
    Options o = {.seed = 1, .count = 100};
    Totals t = {0};
    bool ok = true, files = false;
    bench_open(1);
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--right")) o.right = true;
        else if (!strcmp(argv[i], "--ill")) o.ill = true;
        else if (!strcmp(argv[i], "--accepted")) o.accepted = true;
        else if (!strcmp(argv[i], "--print")) o.print = true;
        else if (!strcmp(argv[i], "--seed")) o.seed = strtoull(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--count")) o.count = strtol(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--refused")) o.refused = strtol(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--code")) o.code = next, i++;
        else if (*argv[i] == '-') return 2;
        else files = true, ok &= by_hand(argv[i]);
    }
    for (long k = 0; k < o.count && !files; k++) one(&o, o.seed + (uint64_t)k, &t);
    if (!files && !o.print) print_table(&t);
    bench_close();
    return !ok || t.wrong != 0;
}
