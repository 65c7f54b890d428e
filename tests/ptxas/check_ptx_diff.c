/* tile_check_ptx against ptxas: one kernel per instruction, verdicts compared line by line.
 *
 *   check_ptx_diff PTXAS [ROWS NEAR [all | TARGET:VERSION ..]]
 *
 * Variants are every row of lang/instructions.def with every choice of words, and near misses of them. They are judged
 * for the pairs of target and version that are named, for one of each class of targets without any, for every pair
 * that this ptxas knows with `all`. A pair judges every ROWS-th variant of a row (default 1) and every NEAR-th near miss
 * (default 20), another share each; `1 1 all` is everything. ptxas reports all errors of a run, except that a syntax
 * error ends it (then it is run again on what follows), and that it crashes on some (which refuses them). A last kernel
 * is always wrong, so that no code is generated. What may differ, and why, is the table STRICTER. Exit status: 0 agreed,
 * 1 not, 3 ptxas does not run.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lang/lang.h"
#include "lang/text.h"
#include "tests/ptxas/variants.h"
#include "tile.h"

enum { CHUNK = 200 };

typedef struct Case {
    const char *text;
    bool refused; /* by ptxas */
    bool error;   /* here */
    char code[8], why[200], said[160];
} Case;

typedef struct Class {
    char target[16], version[8];
} Class;

static Mem mem;

/* ---- what may differ ---- */

/* ptxas accepts, check-ptx refuses: the code, a part of its text, and why that is right. */
static const struct Stricter {
    const char *code, *text, *reason;
} STRICTER[] = {
    {"E1411", "", "ptxas cuts constants that are too large"},
    {"E1414", "", "a constant tensor memory address ends ptxas with a crash"},
    {"E1408", "a generic address has 64 bits", "ptxas minds the width of an address on sm_120 only"},
    {"E1408", "a global address has 64 bits", "the same"},
    {"E1408", "a shared address has 32", "the same"},
    {"E1408", "is an address, but the global address", "ptxas minds constants in state spaces only"},
    {"E1408", "the global address is", "ptxas does not mind the space of a generic address"},
    {"E1408", "the tensor map is", "the same"},
    {"E1408", "the tensor memory address", "ptxas notices when it generates code"},
    {"E1408", "the size is", "the same, of st.bulk"},
    {"E1408", "the destination must be a register here", "the same"},
    {"E1408", "is a register, but the barrier must be an address", "a forgotten barrier"},
    {"E1407", "the form has 3: [dst], value, [mbar]", "the same, of st.async and red.async"},
    {"E1408", "the mask is", "ptxas matches masks and policies against all forms of the opcode"},
    {"E1408", "is a negated register, but", "ptxas takes a negated predicate for an address"},
    {"E1408", "is a constant, but", "to ptxas a constant has any width, also where only a register has a meaning"},
    {"E1408", "is a floating-point constant, but", "the same"},
    {"E1408", "is a vector, but", "ptxas takes some vectors for their first element"},
    {"E1408", "values in braces", "and a register for a vector"},
    {"E1403", "`.tile::scatter4`", "not documented for reductions"},
    {"E1403", "`.b8x16`", "ptxas ignores it where it has no meaning"},
    {"E1403", "`.cta` is no modifier", "the same"},
    {"E1403", "`.cluster` is no modifier", "the same"},
    {"E1403", "`.gpu` is no modifier", "the same"},
    {"E1403", "form: fence.proxy.", "the same for state spaces there"},
    {"E1403", "nearest form: mapa", "signed types are not documented"},
    {"E1403", "nearest form: getctarank", "the same"},
    {"E1404", "lacks `.aligned`", "the PTX ISA has tcgen05.ld and .st only with it"},
    {"E1405", "stands twice", "ptxas drops some of the words that change nothing"},
};

static const char *stricter(const Case *c)
{
    for (size_t k = 0; k < sizeof STRICTER / sizeof STRICTER[0]; k++)
        if (strcmp(c->code, STRICTER[k].code) == 0 && strstr(c->why, STRICTER[k].text)) return STRICTER[k].reason;
    return NULL;
}

/* ---- the module ---- */

static unsigned lines(const char *s)
{
    unsigned n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

/* Instruction k stands in line *first + 3 * k. */
static void head(Text *t, const Class *class)
{
    text_clear(t);
    text_printf(t, ".version %s\n.target %s\n.address_size 64\n", class->version, class->target);
}

static void make_module(Text *t, const Class *class, const Case *cases, size_t n, bool wrong_end, unsigned *first)
{
    head(t, class);
    text_printf(t, "%s", VARIANT_VARIABLES);
    *first = lines(t->s) + 2;
    const char *wide = strcmp(class->version, "8.3") >= 0 ? ".reg .b128 %q<3>; " : "";
    for (size_t k = 0; k <= n; k++) {
        if (k == n && !wrong_end) break;
        text_printf(t, ".visible .entry k%zu() { %s%s\n%s\nret; }\n", k, wide, VARIANT_REGISTERS,
                    k < n ? cases[k].text : "mbarrier.init.b32 [mb];");
    }
}

/* ---- ptxas ---- */

static FILE *start_ptxas(const char *ptxas, const char *path, const Class *class, const Text *t)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->s, 1, t->n, f) != t->n || fclose(f) != 0) exit(3);
    char command[600];
    const char *arch = strncmp(class->target, "sm_101", 6) == 0 ? "sm_110" : class->target;
    snprintf(command, sizeof command, "'%s' -arch=%s%s '%s' -o /dev/null 2>&1", ptxas, arch,
             arch == class->target ? "" : class->target + 6, path);
    FILE *p = popen(command, "r");
    if (!p) exit(3);
    return p;
}

/* Does it take an empty kernel? */
static bool knows(const char *ptxas, const char *path, const Class *class, Text *t)
{
    char line[1000];
    head(t, class);
    text_lit(t, ".visible .entry k() { ret; }\n");
    FILE *p = start_ptxas(ptxas, path, class, t);
    while (fgets(line, sizeof line, p)) continue;
    return pclose(p) == 0;
}

/* Runs it once; marks what is refused. Returns the index behind the last that was judged. */
static size_t run_ptxas(const char *ptxas, const char *path, const Class *class, Case *cases, size_t n, Text *t)
{
    unsigned first;
    char line[1000];
    make_module(t, class, cases, n, true, &first);
    FILE *p = start_ptxas(ptxas, path, class, t);
    size_t fatal = n;
    bool saw_end = false;
    while (fgets(line, sizeof line, p)) {
        char *at = strstr(line, ", line ");
        if (!at || !strstr(line, path)) continue; /* ptxas has texts of its own with lines */
        unsigned number = (unsigned)strtoul(at + 7, &at, 10);
        bool is_fatal = strstr(at, "; fatal") != NULL;
        if (!is_fatal && !strstr(at, "; error")) continue;
        if (number < first) continue;
        size_t k = (number - first) / 3;
        if (k == n) saw_end = true;
        if (k >= n) continue;
        cases[k].refused = true;
        snprintf(cases[k].said, sizeof cases[k].said, "%.150s", strchr(at + 2, ':') ? strchr(at + 2, ':') + 2 : at);
        cases[k].said[strcspn(cases[k].said, "\n")] = 0;
        if (is_fatal) fatal = k;
    }
    int status = pclose(p);
    bool crashed = !WIFEXITED(status) || (WEXITSTATUS(status) > 127 && WEXITSTATUS(status) != 255);
    if (saw_end && !crashed) return n;
    if (fatal < n) return fatal + 1;
    if (n > 1) return run_ptxas(ptxas, path, class, cases, n / 2, t);
    cases[0].refused = true;
    snprintf(cases[0].said, sizeof cases[0].said, "crashes");
    return 1;
}

static void judge_by_ptxas(const char *ptxas, const char *path, const Class *class, Case *cases, size_t n, Text *t)
{
    for (size_t at = 0; at < n;) {
        size_t m = n - at < CHUNK ? n - at : CHUNK;
        at += run_ptxas(ptxas, path, class, cases + at, m, t);
    }
}

/* ---- check-ptx ---- */

typedef struct Judging {
    Case *cases;
    size_t n;
    unsigned first;
} Judging;

static void note(void *user, const tile_ptx_finding *f)
{
    Judging *j = user;
    if (!f->is_error || f->line < j->first) return;
    size_t k = (f->line - j->first) / 3;
    if (k >= j->n || j->cases[k].error) return;
    j->cases[k].error = true;
    snprintf(j->cases[k].code, sizeof j->cases[k].code, "%s", f->code);
    snprintf(j->cases[k].why, sizeof j->cases[k].why, "%.190s", f->text);
}

static void judge_here(const Class *class, Case *cases, size_t n, Text *t)
{
    Judging j = {cases, n, 0};
    make_module(t, class, cases, n, false, &j.first);
    tile_error e;
    if (tile_check_ptx(t->s, t->n, NULL, NULL, note, &j, NULL, &e) == TILE_OK) return;
    fprintf(stderr, "%s\n", e.text);
    exit(3);
}

/* ---- comparing ---- */

/* A near miss that is no instruction of the families any more is not judged. */
static bool is_plain(const char *text)
{
    static const struct {
        const char *opcode, *word, *other;
    } families[] = {{"st.", ".async", ".bulk"},
                    {"red.", ".async", ".async"},
                    {"prefetch", ".tensormap", ".tensormap"},
                    {"barrier", ".cluster", ".cluster"},
                    {"cp.async", ".bulk", ".bulk"}};
    char mods[400];
    snprintf(mods, sizeof mods, "%.*s.", (int)strcspn(text, " ;"), text);
    for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) {
        if (strncmp(mods, families[k].opcode, strlen(families[k].opcode)) != 0) continue;
        char word[32], other[32];
        snprintf(word, sizeof word, "%s.", families[k].word);
        snprintf(other, sizeof other, "%s.", families[k].other);
        return !strstr(mods, word) && !strstr(mods, other);
    }
    return false;
}

static size_t choose(const Variants *all, size_t number, const size_t every[2], Case *cases)
{
    size_t n = 0;
    for (size_t k = 0; k < all->n; k++) {
        const Variant *v = &all->v[k];
        if ((k + number) % every[v->near_miss] != 0 || is_plain(v->text)) continue;
        cases[n++] = (Case){.text = v->text};
    }
    return n;
}

static size_t compare(const Class *class, const Case *cases, size_t n, size_t *excused)
{
    size_t bad = 0;
    for (size_t k = 0; k < n; k++) {
        const Case *c = &cases[k];
        if (c->refused == c->error) continue;
        if (c->error && stricter(c)) {
            ++*excused;
            continue;
        }
        bad++;
        printf("%s %s: %s\n    ptxas: %s\n    here:  %s %s\n", class->target, class->version, c->text,
               c->refused ? c->said : "ok", c->error ? c->code : "ok", c->error ? c->why : "");
    }
    return bad;
}

/* ---- targets and versions ---- */

enum { CLASSES = 400 };

static void version_text(Class *c, unsigned v)
{
    c->version[0] = (char)('0' + v / 10);
    c->version[1] = '.';
    c->version[2] = (char)('0' + v % 10);
    c->version[3] = 0;
}

/* Every pair that ptxas takes: from .version 8.0 on, before which the families do not exist. */
static size_t all_classes(const char *ptxas, const char *path, Class *out, Text *t)
{
    static const char *const suffixes[] = {"", "a", "f"};
    Class c = {.target = "sm_90"};
    unsigned newest = 99;
    size_t n = 0;
    for (; newest > 80; newest--) {
        version_text(&c, newest);
        if (knows(ptxas, path, &c, t)) break;
    }
    for (unsigned sm = 50; sm < 150; sm++) {
        for (size_t s = 0; s < 3; s++) {
            snprintf(c.target, sizeof c.target, "sm_%u%s", sm, suffixes[s]);
            for (unsigned v = newest; v >= 80; v--) { /* what a version lacks, no older one has */
                version_text(&c, v);
                if (v == 89) continue; /* there is none */
                if (!knows(ptxas, path, &c, t)) break;
                if (n < CLASSES) out[n++] = c;
            }
        }
    }
    return n;
}

static size_t named_classes(char **argv, size_t n, Class *out)
{
    if (n > CLASSES) n = CLASSES;
    for (size_t k = 0; k < n; k++)
        if (sscanf(argv[k], "%15[^:]:%7s", out[k].target, out[k].version) != 2) return 0;
    return n;
}

static size_t classes(int argc, char **argv, const char *path, Class *out, Text *t)
{
    static const Class standard[] = {{"sm_80", "8.6"},   {"sm_90", "8.0"},   {"sm_90a", "8.6"},  {"sm_100", "8.6"},
                                     {"sm_120a", "8.8"}, {"sm_100f", "8.8"}, {"sm_100a", "9.0"}, {"sm_101a", "8.6"}};
    if (argc == 5 && strcmp(argv[4], "all") == 0) return all_classes(argv[1], path, out, t);
    if (argc > 4) return named_classes(argv + 4, (size_t)argc - 4, out);
    memcpy(out, standard, sizeof standard);
    return sizeof standard / sizeof standard[0];
}

static int usage(void)
{
    fputs("usage: check_ptx_diff PTXAS [ROWS NEAR [all | TARGET:VERSION ..]]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc == 3) return usage();
    size_t every[2] = {argc > 3 ? strtoul(argv[2], NULL, 10) : 1, argc > 3 ? strtoul(argv[3], NULL, 10) : 20};
    if (!every[0] || !every[1]) return usage();
    jmp_buf failed;
    mem.fail = &failed;
    if (setjmp(failed)) return 3;
    char path[] = "check_ptx_diff.XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return 3;
    Text t;
    text_init(&t, &mem);
    static Class class[CLASSES];
    size_t nclasses = classes(argc, argv, path, class, &t), bad = 0, judged = 0, excused = 0;
    Variants all = {0};
    make_variants(&all);
    Case *cases = malloc(all.n * sizeof *cases);
    if (!cases) return 3;
    for (size_t k = 0; k < nclasses; k++) {
        size_t n = choose(&all, k, every, cases);
        judge_by_ptxas(argv[1], path, &class[k], cases, n, &t);
        judge_here(&class[k], cases, n, &t);
        bad += compare(&class[k], cases, n, &excused);
        judged += n;
    }
    printf("%zu variants, %zu pairs of target and version: %zu verdicts, %zu stricter for a reason, %zu disagree\n", all.n,
           nclasses, judged, excused, bad);
    text_free(&t);
    free(cases);
    free(all.v);
    remove(path);
    return bad ? 1 : nclasses ? 0 : 3;
}
