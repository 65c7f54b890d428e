/* states [--open FILE] [--short] [--all] [--trace] [--seconds N] FILE ..: what the checker of states says of each kernel with barriers that stand in the program, beside the compiler's verdict.
 *
 * FILE: .tile, or .txt with programs as in tests/roles/by_hand.txt, whose names stand behind `// right: `, `// wrong: `, `// refused: ` in the place of the
 * kernel's. What the compiler accepts must be proved here, and what its verifier refuses must not; but for the lines of --open, `FILE KERNEL OPINION: REASON`,
 * OPINION being `open` (not followed), `refused` or `proved`. Such a line that says what is not so is an error, too. Without --all only what is
 * wrong is printed, and a line of numbers. --short: of lines that say `open` nothing is asked, which takes longest. --trace: the states as they come, and how they go on. What takes
 * more than N seconds (default 10) is not followed. Exit code: 0, 1 something is wrong, 2 wrong use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/states/tool/ask.h"
#include "tilecc.h"

enum { ROWS = 1000, SIZE = 1 << 18, DEFINES = 8, WORDS = 32 };

static struct Row {
    char *file, *kernel, *opinion;
    bool met;
} row[ROWS];
static int rows;
static bool all, wrong, only_short;
static const char *file_now, *name_now; /* of a program by hand */
static long counts[2][4];
static char text[SIZE], program[SIZE];

static void give_up(const char *path, const char *what)
{
    fprintf(stderr, "states: %s: %s\n", path, what);
    exit(2);
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, SIZE - 1, f) : 0;
    if (!f || n == SIZE - 1) give_up(path, "cannot be read");
    text[n] = 0;
    fclose(f);
}

static void read_open(const char *path)
{
    read_file(path);
    char *copy = malloc(strlen(text) + 1), *next;
    if (!copy) abort();
    strcpy(copy, text);
    for (char *line = copy; *line; line = next) {
        char *word[3], *at = line;
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        if (*line == '#' || *line == 0) continue;
        for (int i = 0; i < 3; i++) {
            word[i] = at, at += strcspn(at, i < 2 ? " " : ":");
            if (!*at || rows == ROWS) give_up(path, line);
            *at++ = 0;
        }
        row[rows++] = (struct Row){.file = word[0], .kernel = word[1], .opinion = word[2]};
    }
}

static struct Row *row_of(const char *file, const char *kernel)
{
    for (int i = 0; i < rows; i++)
        if (!strcmp(row[i].file, file) && !strcmp(row[i].kernel, kernel)) return &row[i];
    return NULL;
}

static bool skips(const char *kernel)
{
    struct Row *r = only_short ? row_of(file_now, name_now ? name_now : kernel) : NULL;
    bool skip = r && !strcmp(r->opinion, OPINION_WORD[STATES_LOST]);
    if (skip) r->met = true;
    return skip;
}

static void judge(const char *file, const char *kernel, const StatesSaid *s, bool accepted, bool neither)
{
    struct Row *r = row_of(file, kernel);
    bool due = accepted ? s->is == STATES_PROVED : s->is != STATES_PROVED || neither;
    counts[accepted][s->is]++;
    if (r) r->met = true;
    bool bad = r ? due || strcmp(r->opinion, OPINION_WORD[s->is]) != 0 : !due;
    wrong |= bad;
    if (!bad && !all) return;
    printf("%s %s %s: %s by the compiler%s; %s (%u states, %.3f s)\n", file, kernel, OPINION_WORD[s->is], accepted ? "accepted" : "refused",
           !bad ? "" : r ? ", and listed otherwise" : ", and not listed", s->why, s->states, s->seconds);
}

/* name: of a program by hand; NULL: each kernel's own. */
static void ask(const char *file, const char *source, const char *name, bool neither)
{
    static char words[1024];
    tilecc_define define[DEFINES];
    const char *dirs[DEFINES];
    char dir[512];
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_IR, .no_performance_warnings = 1, .error_format = TILECC_SHORT, .no_variants = 1, .tune = "off",
                          .defines = define, .import_dirs = dirs};
    static const char begin[] = "// options:";
    *words = 0;
    if (!strncmp(source, begin, sizeof begin - 1)) snprintf(words, sizeof words, "%.*s", (int)strcspn(source, "\n"), source);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) {
        if (!strncmp(w, "-arch=", 6)) opt.arch = w + 6;
        else if (!strcmp(w, "-D") && opt.ndefines < DEFINES && (w = strtok(NULL, " ")) && strchr(w, '=')) {
            char *eq = strchr(w, '=');
            *eq = 0;
            define[opt.ndefines++] = (tilecc_define){w, eq + 1};
        } else if (w && !strcmp(w, "-I") && (w = strtok(NULL, " "))) {
            const char *slash = strrchr(file, '/');
            snprintf(dir, sizeof dir, "%.*s%.200s", slash ? (int)(slash - file + 1) : 0, file, w);
            dirs[0] = dir, opt.nimport_dirs = 1;
        }
        if (!w) break;
    }
    states_nsaid = 0, file_now = file, name_now = name;
    tilecc_result *r = tilecc_compile(&opt, file, source, strlen(source));
    if (!r) abort();
    for (int i = 0; i < states_nsaid; i++) judge(file, name ? name : states_said[i].kernel, &states_said[i], states_accepted[i], neither);
    tilecc_free(r);
}

/* Programs stand one behind the other, each with a blank line at its end. */
static void ask_by_hand(const char *file)
{
    char name[64];
    size_t n = 0;
    for (const char *at = text, *end; *at; at = end) {
        end = at + strcspn(at, "\n"), end += *end != 0;
        if (*at != '\n') memcpy(program + n, at, (size_t)(end - at)), n += (size_t)(end - at);
        program[n] = 0;
        if (strncmp(at, "}\n", 2) != 0) continue;
        const char *is = strchr(program, ':');
        if (!is) give_up(file, "a program without a name");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(is + 2, ":\n "), is + 2);
        ask(file, program, name, !strncmp(program, "// refused", 10));
        n = 0;
    }
}

int main(int argc, char **argv)
{
    states_skips = skips;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--all")) all = true;
        else if (!strcmp(argv[i], "--trace")) states_trace = true;
        else if (!strcmp(argv[i], "--short")) only_short = true;
        else if (!strcmp(argv[i], "--open") && i + 1 < argc) read_open(argv[++i]);
        else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) states_seconds = strtod(argv[++i], NULL);
        else if (*argv[i] == '-') give_up(argv[i], "there is no such option, or its value is missing");
        else {
            read_file(argv[i]);
            size_t n = strlen(argv[i]);
            if (n > 4 && !strcmp(argv[i] + n - 4, ".txt")) ask_by_hand(argv[i]);
            else ask(argv[i], text, NULL, false);
            for (int k = 0; k < rows; k++) {
                if (strcmp(row[k].file, argv[i]) != 0 || row[k].met) continue;
                printf("%s %s: listed, and not met\n", row[k].file, row[k].kernel);
                wrong = true;
            }
        }
    }
    for (int accepted = 1; accepted >= 0; accepted--)
        printf("%s by the compiler: %ld proved, %ld refused, %ld not followed\n", accepted ? "accepted" : "refused", counts[accepted][STATES_PROVED],
               counts[accepted][STATES_REFUSED], counts[accepted][STATES_LOST]);
    return wrong;
}
