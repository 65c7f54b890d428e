/* roles [options] [FILE ..]
 *
 * Draws N programs, half of them from schedules (draw.c), half from the kernels with barriers of the corpus; one in six is right by construction, the
 * others are changed in one or two places. What is accepted must run right: in
 * all launches that are made, in one schedule and in several, and, where data move as they did, as the sequential program says. What is not
 * is shrunk and printed, and the exit code is 1. Tables say what was drawn, which refusals are of programs that never went wrong, and which
 * productions, ops and their operands, clauses and instructions were reached by accepted and by refused programs, and which never.
 *
 *   --corpus FILES each kernel of these .tile files that has barriers (behind it a list up to the next option)
 *   --each         each kernel of the corpus once, unchanged, too
 *   --jobs N       processes; --keep DIR: what is wrong goes there, too
 *   --coverage F   all rows with both counts, to a file
 *   --compile      nothing runs: for what is reached
 *   --right        no changes
 *   --print        the program of the seed
 *   --accepted     what is refused does not run: for long runs
 *   --ill          with --refused: those that never become PTX
 *   --refused N    prints the first N, shrunk, that are refused and right; by one code: --code E0611
 *   FILE ..        programs by hand instead; each begins with `// wrong`: it is refused, or no launch that goes wrong is made;
 *                  `// right`: accepted and right; or `// refused`: not seen to go wrong, and refused all the same
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lang/lang.h"
#include "tests/random/cover.h"
#include "tests/roles/roles.h"

#define WORD(form, word) word,
static const char *const FORM_WORD[FORMS] = {ROLES_FORMS(WORD)};
#undef WORD
enum { CAUSES = 256, SIZE = 1 << 16, JOBS = 64, ROWS = 4096, CORPUS = 2048, SECONDS = 60 };

typedef struct Cause { /* a message without numbers and names */
    char text[140];
    long all, right, unchanged;
    uint64_t seed; /* of the first that is right */
} Cause;
typedef struct Totals {
    long drawn, accepted, wrong, other, beyond, refused, refused_right, ill, launches, launches_refused, launches_refused_right, printed;
} Totals;

/* Of all processes. */
typedef struct Shared {
    int lock;
    Cause causes[CAUSES];
    long forms[FORMS], accepted_forms[FORMS], reached[2][ROWS]; /* programs, by rows: accepted ones, refused ones */
    Totals totals;
    uint64_t at[JOBS]; /* the program that each is at */
} Shared;
static Shared *all;

typedef struct Options {
    uint64_t seed;
    long count, refused;
    int jobs;
    bool right, print, ill, accepted, each;
    const char *code, *keep, *coverage;
} Options;

static char kernel[SIZE], plain[SIZE];
static const Tree *corpus[CORPUS];
static const char *corpus_name[CORPUS];
static int ncorpus, explicit_ones;

/* ---- what was reached ---- */

void cover_begin(void)
{
    memset(row_hits, 0, (size_t)row_count() * sizeof *row_hits);
    cover_count(true);
}

void cover_end(bool accepted)
{
    cover_count(false);
    for (int i = 0; i < row_count(); i++)
        if (row_hits[i]) __atomic_fetch_add(&all->reached[!accepted][i], 1, __ATOMIC_RELAXED);
}

/* Types, maps and words are the business of tests/random. */
static bool is_of_roles(const char *row)
{
    static const char *const kinds[] = {"production ", "clause ", "op ", "form ", "instruction "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(row, kinds[i], strlen(kinds[i]))) return true;
    return false;
}

static void print_coverage(const char *path)
{
    FILE *f = path ? fopen(path, "w") : NULL;
    long rows = 0, accepted = 0, refused = 0;
    for (int i = 0; i < row_count(); i++) {
        if (!is_of_roles(row_text(i))) continue;
        rows++, accepted += all->reached[0][i] > 0, refused += all->reached[0][i] == 0 && all->reached[1][i] > 0;
        if (f) fprintf(f, "%8ld %8ld %s\n", all->reached[0][i], all->reached[1][i], row_text(i));
    }
    if (f) fclose(f);
    printf("of %ld productions, clauses, ops, forms of ops and instructions %ld were reached by accepted programs, %ld by refused ones alone; never:\n",
           rows, accepted, refused);
    for (int refused_too = 1; refused_too >= 0; refused_too--) {
        if (!refused_too) printf("by refused programs alone:\n");
        for (int i = 0; i < row_count(); i++)
            if (is_of_roles(row_text(i)) && !all->reached[0][i] && (all->reached[1][i] == 0) == refused_too) printf("  %s\n", row_text(i));
    }
}

/* ---- the corpus ---- */

static bool is_explicit(const char *program)
{
    return strstr(program, "roles {") || strstr(program, "commit ");
}

static const Tree *without_others(const Tree *unit, int keep, int *kernels)
{
    if (!rules[unit->rule].n) return unit;
    Tree *own = tree_make(unit->rule, unit->kind, NULL);
    *own = *unit;
    own->kid[0] = (Tree *)without_others(unit->kid[0], keep, kernels);
    const Tree *item = unit->kid[1];
    bool is_kernel = rules[item->rule].n == 1 && !strcmp(symbol_text(item->kid[0]->kind), "kernel");
    return is_kernel && (*kernels)++ != keep ? own->kid[0] : own;
}

static void add_program(const Tree *t, const char *name, bool explicit_one)
{
    if (ncorpus == CORPUS) return;
    corpus_name[ncorpus] = name;
    corpus[ncorpus++] = t;
    if (!explicit_one) return;
    corpus[ncorpus - 1] = corpus[explicit_ones], corpus_name[ncorpus - 1] = corpus_name[explicit_ones]; /* they stand first */
    corpus[explicit_ones] = t, corpus_name[explicit_ones++] = name;
}

static void other_reduction(Tree *t, const char *word)
{
    bool reduces = t->rule >= 0 && rules[t->rule].n == 2 && t->kid[0]->text && !strcmp(t->kid[0]->text, "reduce");
    if (reduces) t->kid[1]->text = word;
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) other_reduction(t->kid[i], word);
}

/* Each kernel of a file, by itself. */
static void add_kernels(const Tree *unit, const char *path)
{
    for (int k = 0, many = 1; k < many && ncorpus < CORPUS; k++) {
        many = 0;
        const Tree *t = without_others(unit, k, &many);
        tree_print(t, kernel, SIZE);
        bool explicit_one = is_explicit(kernel);
        if (!explicit_one && strstr(kernel, "across grid") && strstr(kernel, "cluster")) continue;
        if (strstr(kernel, "trust sorted") || strstr(kernel, "trust distinct") || strstr(kernel, "overlap any")) continue; /* what no check finds */
        add_program(t, text("%s, kernel %d", path, k + 1), explicit_one);
        size_t words;
        const char *const *word = word_list(WORDS_REDUCE, &words), *at = strstr(kernel, "reduce ");
        for (size_t w = 0; at && w < words; w++) { /* with the other reductions that fit */
            Tree *other = tree_copy(t);
            other_reduction(other, word[w]);
            tree_print(other, plain, SIZE);
            if (strcmp(plain, kernel) != 0 && is_program(plain)) add_program(other, text("%s, kernel %d, %s", path, k + 1, word[w]), explicit_one);
        }
    }
}

static void read_corpus(const char *path)
{
    static char source[SIZE];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(source, 1, SIZE - 1, f) : 0;
    source[n] = 0;
    if (f) fclose(f);
    if (!n || n == SIZE - 1 || strstr(source, "import ")) return;
    const Tree *unit = tree_parse(source);
    if (!unit) return;
    add_kernels(unit, path);
    change_learn(unit);
}

static Cause *cause_of(const char *said)
{
    char text[sizeof all->causes->text];
    size_t n = 0;
    bool quoted = false;
    for (const char *at = said; *at && *at != '\n' && n + 1 < sizeof text; at++) {
        bool digit = *at >= '0' && *at <= '9' && at > said + 11; /* behind the code */
        if (*at == '`') quoted = !quoted;
        else if (!quoted && !(digit && n && text[n - 1] == '#')) text[n++] = digit ? '#' : *at;
    }
    text[n] = 0;
    int i = 0;
    while (i < CAUSES - 1 && all->causes[i].all && strcmp(all->causes[i].text, text) != 0) i++;
    memcpy(all->causes[i].text, text, sizeof text);
    return &all->causes[i];
}

/* ---- the shrinker ---- */

enum { TRIALS = 250, SHRINKS = 25 }; /* programs, seconds */

static bool same_kind(const Verdict *a, const Verdict *b)
{
    if (a->accepted != b->accepted || a->truth != b->truth) return false;
    return a->accepted ? !strncmp(a->said, b->said, 5) : !strcmp(a->code, b->code);
}

static void shrink(Tree *root, Verdict *v)
{
    bool smaller = true;
    const time_t end = time(NULL) + SHRINKS;
    for (int trials = 0; smaller;) {
        smaller = false;
        for (int step = 0; shrink_step(root, step, false); step++) {
            static char now[SIZE];
            Verdict u = {0};
            tree_print(root, now, SIZE);
            bool changed = strcmp(now, kernel) != 0 && trials++ < TRIALS && time(NULL) < end;
            if (changed) judge(now, NULL, !v->accepted, &u);
            if (changed && same_kind(v, &u)) {
                memcpy(kernel, now, SIZE), *v = u, smaller = true;
                step -= step % 3 == 0 ? 1 : 0;
            } else shrink_step(root, step, true);
        }
    }
}

/* ---- one program ---- */

static void print(const Options *o, const char *what, uint64_t seed, const char *changes, const Verdict *v)
{
    const char *said = text("// seed %llu %s: %s\n// %s with %s\n%s\n", (unsigned long long)seed, what, changes, v->said, v->at, kernel);
    fputs(said, stdout);
    fflush(stdout);
    if (!o->keep) return;
    FILE *f = fopen(text("%s/%llu.tile", o->keep, (unsigned long long)seed), "w");
    if (f) fputs(said, f), fclose(f);
}

static void lock(bool on)
{
    if (!on) __atomic_store_n(&all->lock, 0, __ATOMIC_RELEASE);
    while (on && __atomic_exchange_n(&all->lock, 1, __ATOMIC_ACQUIRE)) usleep(50);
}

static void count(const Case *c, const Verdict *v, bool changed, uint64_t seed)
{
    Totals *t = &all->totals;
    t->drawn++;
    for (int f = 0; f < FORMS; f++) all->forms[f] += c->form[f], all->accepted_forms[f] += c->form[f] && v->accepted;
    t->accepted += v->accepted, t->refused += !v->accepted;
    t->launches += v->accepted ? v->launches : 0, t->launches_refused += v->accepted ? v->refused : 0, t->launches_refused_right += v->refused_right;
    t->beyond += v->truth == BEYOND;
    t->ill += v->truth == NOT_RUN;
    if (v->accepted) {
        t->other += v->truth == OTHER_BYTES;
        return;
    }
    Cause *cause = cause_of(v->said);
    if (v->truth == RIGHT && (!cause->right || seed < cause->seed)) cause->seed = seed;
    cause->all++, cause->right += v->truth == RIGHT, cause->unchanged += v->truth == RIGHT && !changed;
    t->refused_right += v->truth == RIGHT;
}

static bool is_constant(const Tree *stmt)
{
    const Tree *decl = stmt->kid[0], *first = rules[decl->rule].n ? decl->kid[0] : decl;
    return !strcmp(symbol_text(decl->kind), "decl") && first->rule < 0 && strcmp(first->text, "var") != 0;
}

/* Pipelines in roles are loops: nothing is dealt, no stages, no threads. */
static void no_options(Tree *t)
{
    while (!strcmp(symbol_text(t->kind), "popt") && rules[t->rule].n) *t = *t->kid[0];
    for (int i = 0; t->rule >= 0 && i < rules[t->rule].n; i++) no_options(t->kid[i]);
}

/* In roles what the tensor core does commits to a barrier: here to one that is waited for at once. */
static const char *commits(const char *program)
{
    const char *to = "";
    for (const char *s = program, *end; *s; s = end) {
        char name[64];
        end = s + strcspn(s, "\n"), end += *end != 0;
        const char *line = text_n(s, (size_t)(end - s)), *arrow = strstr(line, "-> ");
        const char *dst = arrow && strstr(line, "move ") ? arrow + 3 : strstr(line, "shift ") ? strstr(line, "shift ") + 6 : "";
        snprintf(name, sizeof name, "tmem %.*s:", (int)strspn(dst, "abcdefghijklmnopqrstuvwxyz_0123456789"), dst);
        bool core = *dst && strstr(program, name) && !strstr(line, "via threads") && strchr(line, ';');
        to = core ? text("%s%.*s commit core_done; wait core_done;\n", to, (int)strcspn(line, ";"), line) : text("%s%s", to, line);
    }
    return strstr(to, "core_done") ? text("barrier core_done; %s", to) : to;
}

/* A kernel's statements, behind the declarations that it begins with, as what one role does. Means what it meant. */
static void in_one_role(Tree *t)
{
    static const char *const heads[] = {"role one", "role one threads 64", "role other { } role one threads 128"};
    static char out[SIZE];
    Tree *block = tree_find(tree_find(t, "kernel"), "block"), *list[512];
    size_t n = 0, at = 0;
    no_options(t);
    for (Tree *a = tree_find(t, "attrs"); rules[a->rule].n; a = rules[a->rule].n ? a->kid[0] : a) /* the roles say how many threads it has */
        while (rules[a->rule].n && !strcmp(a->kid[1]->text ? a->kid[1]->text : "", "threads")) *a = *a->kid[0];
    for (Tree *s = block->kid[1]; rules[s->rule].n == 2 && n < sizeof list / sizeof *list; s = s->kid[0]) list[n++] = s->kid[1];
    while (n && is_constant(list[n - 1])) n--, at += tree_print(list[n], out + at, SIZE - at);
    at += (size_t)snprintf(out + at, SIZE - at, "roles { %s {\n", strstr(out, "tmem ") ? heads[2] : PICK_TEXT(heads));
    while (n) n--, at += tree_print(list[n], out + at, SIZE - at);
    Tree *whole = tree_parse(text("kernel k() { %s } } }", commits(out))), *body = whole ? tree_find(whole, "block") : NULL;
    if (body) *block = *body;
}

static Tree *of_corpus(int i)
{
    Tree *t = tree_copy(corpus[i]);
    tree_print(t, plain, SIZE);
    if (!is_explicit(plain)) in_one_role(t);
    return t;
}

/* Of a seed: drawn, or of the corpus; there are more kernels without barriers than with them. */
static Tree *draw(Case *c)
{
    *c = (Case){0};
    if (ncorpus && odds(50)) return of_corpus(odds(60) && explicit_ones ? some(explicit_ones) : some(ncorpus));
    lines_begin();
    draw_case(c);
    print_node(c->plain, plain, SIZE);
    print_node(c->kernel, kernel, SIZE);
    Tree *t = tree_parse(kernel);
    if (!t) fprintf(stderr, "roles: not of the grammar:\n%s", kernel), exit(2);
    return t;
}

static void settle(const Options *o, uint64_t seed, Tree *root, const Case *c, const char *changes, bool changed, bool moves)
{
    Verdict v;
    tree_print(root, kernel, SIZE);
    if (o->print) {
        printf("// %s\n%s\n// means\n%s", changes, kernel, plain);
        return;
    }
    judge(kernel, moves ? NULL : plain, !o->accepted, &v);
    bool bad = v.accepted && (v.truth == WRONG || (v.truth == OTHER_BYTES && !moves)), shown = false;
    lock(true);
    count(c, &v, changed, seed);
    if (bad) all->totals.wrong++;
    else shown = !v.accepted && v.truth == (o->ill ? NOT_RUN : RIGHT) && (!o->code || !strcmp(o->code, v.code)) && all->totals.printed < o->refused;
    all->totals.printed += shown;
    lock(false);
    if (bad) {
        if (v.truth == WRONG) shrink(root, &v);
        print(o, "is accepted and wrong", seed, changes, &v);
    } else if (shown) {
        if (!o->ill) shrink(root, &v);
        print(o, o->ill ? "is refused" : "is refused and right", seed, changes, &v);
    }
}

static void one(const Options *o, uint64_t seed)
{
    static Case c;
    const char *changes = "unchanged";
    bool moves = false, changed = false;
    text_begin(seed);
    Tree *root = draw(&c);
    int many = o->right ? 0 : PICK(0, 1, 1, 1, 2, 2);
    for (int i = 0, tries = 0; i < many; i++) {
        bool moved = moves;
        Tree was = *tree_copy(root);
        const char *what = change(root, &moves);
        tree_print(root, kernel, SIZE);
        if (what && tries++ < 12 && odds(85) && !is_program(kernel)) {
            *root = was, moves = moved, i--;
            continue;
        }
        if (what) changes = changed ? text("%s; %s", changes, what) : what, c.form[F_CHANGED] = changed = true;
    }
    settle(o, seed, root, &c, changes, changed, moves);
}

static void one_of_corpus(const Options *o, int i)
{
    static Case c;
    text_begin((uint64_t)i);
    settle(o, (uint64_t)i, of_corpus(i), &c, corpus_name[i], false, false);
}

/* ---- processes ---- */

static void work(const Options *o, int job, uint64_t from)
{
    uint64_t each = o->each ? (uint64_t)ncorpus : 0, end = (uint64_t)o->count + each;
    row_hits = calloc(ROWS, sizeof *row_hits);
    if (!row_hits) abort();
    bench_open(1, 2);
    for (uint64_t k = from; k < end; k += (uint64_t)o->jobs) {
        struct itimerval cpu = {.it_value = {.tv_sec = SECONDS}};
        setitimer(ITIMER_PROF, &cpu, NULL);
        all->at[job] = k;
        if (k < each) one_of_corpus(o, (int)k);
        else one(o, o->seed + k - each);
    }
    bench_close();
    fflush(NULL);
    _exit(0);
}

static void start(const Options *o, pid_t *pid, int job, uint64_t from)
{
    fflush(NULL);
    pid[job] = fork();
    if (pid[job] < 0) abort();
    if (!pid[job]) work(o, job, from);
}

/* A program that ends its process is a finding; the others go on. */
static void run(const Options *o)
{
    pid_t pid[JOBS] = {0};
    int status;
    for (int j = 0; j < o->jobs; j++) start(o, pid, j, (uint64_t)j);
    for (pid_t p; (p = wait(&status)) > 0;) {
        int j = 0;
        while (pid[j] != p) j++;
        if (WIFEXITED(status) && !WEXITSTATUS(status)) continue;
        uint64_t k = all->at[j];
        bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
        printf("// program %llu (seed %llu, with --each %d later) %s\n", (unsigned long long)k, (unsigned long long)(o->seed + k), ncorpus,
               late ? "takes more than a minute" : "ends the process");
        all->totals.wrong++;
        start(o, pid, j, k + (uint64_t)o->jobs);
    }
}

static void print_table(void)
{
    const Totals *t = &all->totals;
    printf("%ld programs: %ld accepted, %ld of them wrong, %ld make other bytes; ", t->drawn, t->accepted, t->wrong, t->other);
    printf("%ld refused, %ld of them right, %ld not run; %ld not the verifier's\n", t->refused, t->refused_right, t->ill, t->beyond);
    printf("launches of accepted ones: %ld made, %ld refused, %ld of those right\n", t->launches, t->launches_refused, t->launches_refused_right);
    printf("refused, of them right, of these unchanged, seed of the first that is right:\n");
    for (int i = 0; i < CAUSES && all->causes[i].all; i++)
        printf("  %6ld %6ld %6ld %8llu  %s\n", all->causes[i].all, all->causes[i].right, all->causes[i].unchanged,
               (unsigned long long)all->causes[i].seed, all->causes[i].text);
    printf("programs, of them accepted:\n");
    for (int f = 0; f < FORMS; f++) printf("  %6ld %6ld  %s\n", all->forms[f], all->accepted_forms[f], FORM_WORD[f]);
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
    Options o = {.seed = 1, .count = 100, .jobs = 1};
    bool ok = true, files = false;
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) abort();
    cover_start();
    cover_count(false);
    grammar_read();
    change_begin();
    if (row_count() > ROWS) abort();
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--right")) o.right = true;
        else if (!strcmp(argv[i], "--ill")) o.ill = true;
        else if (!strcmp(argv[i], "--accepted")) o.accepted = true;
        else if (!strcmp(argv[i], "--print")) o.print = true;
        else if (!strcmp(argv[i], "--each")) o.each = true;
        else if (!strcmp(argv[i], "--compile")) bench_is_shut = true;
        else if (!strcmp(argv[i], "--seed")) o.seed = strtoull(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--count")) o.count = strtol(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--jobs")) o.jobs = (int)strtol(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--refused")) o.refused = strtol(next, NULL, 10), i++;
        else if (!strcmp(argv[i], "--code")) o.code = next, i++;
        else if (!strcmp(argv[i], "--keep")) o.keep = next, i++;
        else if (!strcmp(argv[i], "--coverage")) o.coverage = next, i++;
        else if (!strcmp(argv[i], "--corpus"))
            while (i + 1 < argc && *argv[i + 1] != '-') read_corpus(argv[++i]);
        else if (*argv[i] == '-') return 2;
        else {
            if (!files) bench_open(1, 600);
            files = true, ok &= by_hand(argv[i]);
        }
    }
    if (o.jobs < 1 || o.jobs > JOBS) return 2;
    if (files) {
        bench_close();
        return !ok;
    }
    text_keep();
    if (o.keep && mkdir(o.keep, 0777) && errno != EEXIST) return 3;
    for (long k = 0; k < o.count && o.print; k++) one(&o, o.seed + (uint64_t)k);
    if (o.print) return 0;
    run(&o);
    print_table();
    print_coverage(o.coverage);
    return all->totals.wrong != 0;
}
