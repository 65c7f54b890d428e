/* tile_check_ptx against ptxas: one kernel per instruction, verdicts compared line by line.
 *
 *   check_ptx_diff PTXAS [ROWS NEAR [all [PART/PARTS] | TARGET:VERSION ..]]
 *
 * Variants are every row of lang/instructions.def with every choice of words, and near misses of them. They are judged
 * for the pairs of target and version that are named, for one of each class of targets without any, for every pair
 * that this ptxas knows with `all`. A pair judges every ROWS-th variant of a row (default 1) and every NEAR-th near miss
 * (default 20), another share each; `1 1 all` is everything. ptxas reports all errors of a file, except that a syntax
 * error ends it (then it is run again on what follows; from the next pair on that text has a file of its own, many to a
 * run), and that it crashes on some (which refuses them, and they are run alone from then on). A last kernel
 * is always wrong, so that no code is generated. What may differ, and why, are the rows of stricter.def. Exit status:
 * 0 agreed, 1 not, 3 ptxas does not run, 77 it is newer than the tables and differs.
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

enum {
    CHUNK = 200, /* kernels in a file */
    FILES = 100, /* files in a run */
    COMPARED = 135 /* the newest ptxas that every verdict was compared with: 13.5 */
};

typedef struct Case {
    const char *text;
    Variant *variant;
    bool refused; /* by ptxas */
    bool error;   /* here */
    char code[8], why[200], said[160];
} Case;

typedef struct Class {
    char target[16], version[8];
} Class;

static Mem mem;

/* ---- what may differ ---- */

/* ptxas accepts, check-ptx refuses. */
static const struct Stricter {
    const char *code, *text;
    unsigned from, until; /* the first ptxas that accepts it, and the first that refuses it too; 0: always, none */
    const char *reason;
} STRICTER[] = {
#define STRICTER(code, text, from, until, reason) {code, text, from, until, reason},
#include "tests/ptxas/stricter.def"
#undef STRICTER
};

/* Do the parts of the pattern between stars stand in the text, one behind the other? */
static bool has_parts(const char *text, const char *pattern)
{
    char part[80];
    for (size_t n; *pattern; pattern += n + (pattern[n] == '*')) {
        n = strcspn(pattern, "*");
        snprintf(part, sizeof part, "%.*s", (int)n, pattern);
        text = strstr(text, part);
        if (!text) return false;
        text += n;
    }
    return true;
}

static const char *stricter(const Case *c, unsigned assembler)
{
    for (size_t k = 0; k < sizeof STRICTER / sizeof STRICTER[0]; k++) {
        const struct Stricter *s = &STRICTER[k];
        bool holds = assembler >= s->from && (!s->until || assembler < s->until);
        if (holds && strcmp(c->code, s->code) == 0 && has_parts(c->why, s->text)) return s->reason;
    }
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

static void write_file(const char *path, const Text *t)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->s, 1, t->n, f) != t->n || fclose(f) != 0) exit(3);
}

/* paths: with a blank between two. */
static FILE *start_ptxas(const char *ptxas, const char *paths, const Class *class)
{
    static char command[FILES * 40 + 600];
    const TargetInfo *today = target_today(target_find(class->target));
    snprintf(command, sizeof command, "'%s' -arch=%s %s -o /dev/null 2>&1", ptxas, today ? today->name : class->target, paths);
    FILE *p = popen(command, "r");
    if (!p) exit(3);
    return p;
}

/* "release 13.5, V13.5.37": 135; 0: it does not run. */
static unsigned version_of(const char *ptxas)
{
    char line[600];
    unsigned major = 0, minor = 0;
    snprintf(line, sizeof line, "'%s' --version", ptxas);
    FILE *p = popen(line, "r");
    while (p && fgets(line, sizeof line, p)) {
        const char *at = strstr(line, "release ");
        if (at) sscanf(at, "release %u.%u", &major, &minor);
    }
    if (p) pclose(p);
    return major * 10 + (minor < 10 ? minor : 9);
}

/* Does it take an empty kernel? */
static bool knows(const char *ptxas, const char *path, const Class *class, Text *t)
{
    char line[1000];
    head(t, class);
    text_lit(t, ".visible .entry k() { ret; }\n");
    write_file(path, t);
    FILE *p = start_ptxas(ptxas, path, class);
    while (fgets(line, sizeof line, p)) continue;
    return pclose(p) == 0;
}

/* "ptxas FILE, line N; error   : TEXT": its line and class, and what it says; 0: not a message about a line of it. */
static unsigned read_message(char *line, const char *path, bool *is_fatal, const char **said)
{
    char *at = strstr(line, ", line ");
    if (!at || !strstr(line, path)) return 0; /* ptxas has texts of its own with lines */
    unsigned number = (unsigned)strtoul(at + 7, &at, 10);
    *is_fatal = strstr(at, "; fatal") != NULL;
    if (!*is_fatal && !strstr(at, "; error")) return 0;
    at[strcspn(at, "\n")] = 0;
    *said = strchr(at, ':') ? strchr(at, ':') + 2 : at;
    return number;
}

static void refuse(Case *c, const char *said)
{
    c->refused = true;
    snprintf(c->said, sizeof c->said, "%.150s", said);
}

/* Runs it once; marks what is refused. Returns the index behind the last that was judged. */
static size_t run_ptxas(const char *ptxas, const char *path, const Class *class, Case *cases, size_t n, Text *t)
{
    unsigned first, number;
    char line[1000];
    const char *said;
    make_module(t, class, cases, n, true, &first);
    write_file(path, t);
    FILE *p = start_ptxas(ptxas, path, class);
    size_t fatal = n;
    bool saw_end = false, is_fatal;
    while (fgets(line, sizeof line, p)) {
        number = read_message(line, path, &is_fatal, &said);
        if (number < first) continue;
        size_t k = (number - first) / 3;
        if (k == n) saw_end = true;
        if (k >= n) continue;
        refuse(&cases[k], said);
        if (is_fatal) fatal = k;
    }
    int status = pclose(p);
    bool crashed = !WIFEXITED(status) || (WEXITSTATUS(status) > 127 && WEXITSTATUS(status) != 255);
    if (saw_end && !crashed) return n;
    if (fatal < n) {
        cases[fatal].variant->ends = ENDS_FILE;
        return fatal + 1;
    }
    if (n > 1) return run_ptxas(ptxas, path, class, cases, n / 2, t);
    refuse(&cases[0], "crashes");
    cases[0].variant->ends = ENDS_RUN;
    return 1;
}

/* The same for texts that end a file: one in each. */
static void run_files(const char *ptxas, const char *path, const Class *class, Case *cases, size_t n, Text *t)
{
    static char paths[FILES * 40];
    char one[40], line[1000];
    bool judged[FILES] = {false}, is_fatal;
    unsigned first = 0;
    size_t at = 0;
    const char *said;
    for (size_t k = 0; k < n; k++) {
        make_module(t, class, &cases[k], 1, true, &first);
        at += (size_t)snprintf(paths + at, sizeof paths - at, "%s.%zu. ", path, k);
        snprintf(one, sizeof one, "%s.%zu.", path, k);
        write_file(one, t);
    }
    FILE *p = start_ptxas(ptxas, paths, class);
    while (fgets(line, sizeof line, p)) {
        char *name = strstr(line, path);
        size_t k = name && name[strlen(path)] == '.' ? strtoul(name + strlen(path) + 1, NULL, 10) : n;
        if (k >= n || read_message(line, path, &is_fatal, &said) < first) continue;
        judged[k] = true; /* by what is wrong with it, or by the end that is always wrong */
        unsigned number = (unsigned)strtoul(strstr(line, ", line ") + 7, NULL, 10);
        if (number < first + 3) refuse(&cases[k], said);
    }
    pclose(p);
    for (size_t k = 0; k < n; k++) {
        snprintf(one, sizeof one, "%s.%zu.", path, k);
        remove(one);
        if (!judged[k]) run_ptxas(ptxas, path, class, &cases[k], 1, t);
    }
}

/* The cases lie in the order of what they end. */
static void judge_by_ptxas(const char *ptxas, const char *path, const Class *class, Case *cases, size_t n, Text *t)
{
    size_t number[ENDS_COUNT] = {0};
    for (size_t k = 0; k < n; k++) number[cases[k].variant->ends]++;
    Case *alone = cases + number[ENDS_NOTHING], *crashing = alone + number[ENDS_FILE];
    for (size_t at = 0, m; at < number[ENDS_NOTHING];) {
        m = number[ENDS_NOTHING] - at < CHUNK ? number[ENDS_NOTHING] - at : CHUNK;
        at += run_ptxas(ptxas, path, class, cases + at, m, t);
    }
    for (size_t at = 0, m; at < number[ENDS_FILE]; at += m) {
        m = number[ENDS_FILE] - at < FILES ? number[ENDS_FILE] - at : FILES;
        run_files(ptxas, path, class, alone + at, m, t);
    }
    for (size_t k = 0; k < number[ENDS_RUN]; k++) run_ptxas(ptxas, path, class, crashing + k, 1, t);
}

/* Where the two differ for no known reason, ptxas is asked once more, of that text alone: what it says of an instruction may
 * depend on an error before it. */
static void settle(const char *ptxas, const char *path, const Class *class, unsigned assembler, Case *cases, size_t n, Text *t)
{
    for (size_t k = 0; k < n; k++) {
        if (cases[k].refused == cases[k].error || (cases[k].error && stricter(&cases[k], assembler))) continue;
        cases[k].refused = false;
        run_ptxas(ptxas, path, class, &cases[k], 1, t);
    }
}

/* ---- check-ptx ---- */

typedef struct Judging {
    Case *cases;
    size_t n;
    unsigned first;
    Case *module; /* what is said of target and version */
} Judging;

static void note(void *user, const tile_ptx_finding *f)
{
    Judging *j = user;
    if (!f->is_error) return;
    size_t k = f->line < j->first ? 0 : (f->line - j->first) / 3;
    Case *c = f->line < j->first ? j->module : &j->cases[k];
    if (k >= j->n || c->error) return;
    c->error = true;
    snprintf(c->code, sizeof c->code, "%s", f->code);
    snprintf(c->why, sizeof c->why, "%.190s", f->text);
}

/* False: target or version are not in the tables. */
static bool judge_here(const Class *class, Case *cases, size_t n, Text *t, Case *module)
{
    Judging j = {cases, n, 0, module};
    make_module(t, class, cases, n, false, &j.first);
    tile_error e;
    if (tile_check_ptx(t->s, t->n, NULL, NULL, note, &j, NULL, &e) == TILE_OK) return !module->error;
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

static size_t choose(Variants *all, size_t number, const size_t every[2], Case *cases)
{
    size_t n = 0;
    for (int ends = 0; ends < ENDS_COUNT; ends++)
        for (size_t k = 0; k < all->n; k++) {
            Variant *v = &all->v[k];
            if (v->ends != (Ends)ends || (k + number) % every[v->near_miss] != 0 || is_plain(v->text)) continue;
            cases[n++] = (Case){.text = v->text, .variant = v};
        }
    return n;
}

static size_t compare(const Class *class, const Case *cases, size_t n, unsigned assembler, size_t *excused)
{
    size_t bad = 0;
    for (size_t k = 0; k < n; k++) {
        const Case *c = &cases[k];
        if (c->refused == c->error) continue;
        if (c->error && stricter(c, assembler)) {
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
                if (v < 90 && !ptx_version_exists(v)) continue; /* 8.9 */
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

/* "2/8": every eighth of them, from the second. */
static size_t part_of(Class *class, size_t n, const char *text)
{
    unsigned part = 0, parts = 0;
    size_t kept = 0;
    if (sscanf(text, "%u/%u", &part, &parts) != 2 || part < 1 || part > parts) return 0;
    for (size_t k = part - 1; k < n; k += parts) class[kept++] = class[k];
    return kept;
}

static size_t classes(int argc, char **argv, const char *path, Class *out, Text *t)
{
    static const Class standard[] = {{"sm_80", "8.6"},   {"sm_90", "8.0"},   {"sm_90a", "8.6"},  {"sm_100", "8.6"},
                                     {"sm_120a", "8.8"}, {"sm_100f", "8.8"}, {"sm_100a", "9.0"}, {"sm_101a", "8.6"}};
    if (argc > 4 && strcmp(argv[4], "all") == 0) {
        size_t n = all_classes(argv[1], path, out, t);
        return argc > 5 ? part_of(out, n, argv[5]) : n;
    }
    if (argc > 4) return named_classes(argv + 4, (size_t)argc - 4, out);
    memcpy(out, standard, sizeof standard);
    return sizeof standard / sizeof standard[0];
}

static int usage(void)
{
    fputs("usage: check_ptx_diff PTXAS [ROWS NEAR [all [PART/PARTS] | TARGET:VERSION ..]]\n", stderr);
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
    unsigned assembler = version_of(argv[1]);
    bool newer = assembler > COMPARED;
    for (size_t k = 0; k < nclasses; k++) {
        size_t n = choose(&all, k, every, cases);
        Case module = {.text = ""};
        if (!judge_here(&class[k], cases, n, &t, &module)) {
            if (stricter(&module, assembler)) {
                excused++;
                continue;
            }
            printf("%s %s: ptxas %u.%u has it; here: %s %s\n", class[k].target, class[k].version, assembler / 10,
                   assembler % 10, module.code, module.why);
            bad++;
            continue;
        }
        judge_by_ptxas(argv[1], path, &class[k], cases, n, &t);
        settle(argv[1], path, &class[k], assembler, cases, n, &t);
        bad += compare(&class[k], cases, n, assembler, &excused);
        judged += n;
        fflush(stdout);
    }
    printf("ptxas %u.%u, %zu variants, %zu pairs of target and version: %zu verdicts, %zu stricter for a reason, %zu disagree\n",
           assembler / 10, assembler % 10, all.n, nclasses, judged, excused, bad);
    if (bad && newer)
        printf("SKIPPED: ptxas %u.%u is newer than the tables, which were compared with 13.%d; see above what differs\n",
               assembler / 10, assembler % 10, COMPARED % 10);
    text_free(&t);
    free(cases);
    free(all.v);
    remove(path);
    return bad ? (newer ? 77 : 1) : nclasses ? 0 : 3;
}
