#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tilecc/cli.h"
#include "tilecc/options.h"
#include "tilecc/test/test.h"

enum { WORDS_MAX = 256 };

typedef struct Words { /* of a line, or a command; texts of this process, which ends soon */
    char *v[WORDS_MAX];
    int n;
    bool open; /* a quote of the last one is not closed */
} Words;

static void push(Words *w, const char *s, size_t n)
{
    if (w->n + 1 >= WORDS_MAX) return;
    w->v[w->n++] = copy_text(s, n);
    w->v[w->n] = NULL;
}

static void add(Words *w, const char *s)
{
    push(w, s, strlen(s));
}

static void add_all(Words *w, const Words *more)
{
    for (int i = 0; i < more->n; i++) add(w, more->v[i]);
}

/* By spaces; "a b" and 'a b' are one word. */
static Words split(const char *p, const char *end)
{
    Words w = {.n = 0};
    while (p < end) {
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        char *word = must_alloc((size_t)(end - p) + 1);
        size_t n = 0;
        char quote = 0;
        for (; p < end && (quote || !isspace((unsigned char)*p)); p++) {
            if (quote ? *p == quote : *p == '"' || *p == '\'') quote = quote ? 0 : *p;
            else word[n++] = *p;
        }
        w.open = quote != 0;
        push(&w, word, n);
        free(word);
    }
    return w;
}

/* ---- lines that say something: `// options: ..`, `// run: ..`, `// expect CODE ..` ---- */

static const char *line_end(const char *p)
{
    return p + strcspn(p, "\n");
}

/* Behind the word that the line's comment begins with; NULL: another one, or none. A comment in a comment is none. */
static const char *comment_in(const char *line, const char *word)
{
    const char *end = line_end(line), *p = line;
    while (p < end && (p[0] != '/' || p[1] != '/')) p++;
    p += strspn(p, "/");
    p += strspn(p, " \t");
    size_t n = strlen(word);
    bool is = p < end && strncmp(p, word, n) == 0 && (!n || word[n - 1] == ':' || isspace((unsigned char)p[n]));
    return is ? p + n : NULL;
}

static const char *next_line(const char *p)
{
    return line_end(p) + (*line_end(p) != 0);
}

static bool says(const char *text, const char *word)
{
    const char *p = text;
    while (*p && !comment_in(p, word)) p = next_line(p);
    return *p != 0;
}

/* Behind the codes of a line stands what one likes, but for what is meant as a code. */
static bool meant_as_code(const char *word)
{
    return word[0] && strchr("EeWwPp", word[0]) && isdigit((unsigned char)word[1]);
}

/* The directive that the line's comment is meant as; NULL: it is one, or none. Prose may begin with such a word, but not go on so. */
static const char *meant_as(const char *line)
{
    static const char *const words[] = {"run", "options", "expect"}, *const directives[] = {"run:", "options:", "expect"};
    const char *p = comment_in(line, "");
    char first[16] = "";
    for (size_t n = 0; p && isalpha((unsigned char)*p) && n + 1 < sizeof first; p++) first[n++] = (char)tolower((unsigned char)*p);
    const char *near = first[0] ? nearest_word(first, words, 3) : NULL;
    if (!near) return NULL;
    int k = 0;
    while (words[k] != near) k++;
    if (comment_in(line, directives[k])) return NULL;
    p += strspn(p, " \t");
    p += *p == ':';
    Words w = split(p, line_end(p));
    bool is = k == 1 && w.n && w.v[0][0] == '-' && isalpha((unsigned char)w.v[0][1 + (w.v[0][1] == '-')]);
    is |= k == 2 && w.n && meant_as_code(w.v[0]);
    for (int i = 0; i < w.n && k == 0; i++) { /* x=f32[64], x=in.npy */
        const char *value = strchr(w.v[i], '=');
        is |= value && value > w.v[i] && (strchr(value, '[') || strstr(value, ".npy"));
    }
    for (int i = 0; i < w.n; i++) free(w.v[i]); /* files are looked at in the process that lasts */
    return is ? directives[k] : NULL;
}

static bool misspells(const char *text)
{
    const char *p = text;
    while (*p && !meant_as(p)) p = next_line(p);
    return *p != 0;
}

static bool beside(const char *path, const char *ending)
{
    char *name = printed("%.*s.%s", (int)(strlen(path) - strlen(".tile")), path, ending);
    struct stat st;
    bool is = lstat(name, &st) == 0; /* a link that leads nowhere is an expectation, too */
    free(name);
    return is;
}

bool test_wanted(const char *path, const char *text)
{
    return beside(path, "ptx") || beside(path, "ir") || beside(path, "err") || says(text, "run:") || says(text, "expect") || misspells(text);
}

/* Of lines that are nothing else, wherever they stand: a licence may come first. */
static Words options_of(const TestFile *t)
{
    Words all = {.n = 0};
    for (const char *p = t->text; *p; p = next_line(p)) {
        const char *say = p[strspn(p, " \t")] == '/' ? comment_in(p, "options:") : NULL;
        Words w = say ? split(say, line_end(p)) : (Words){.n = 0};
        add_all(&all, &w);
    }
    return all;
}

/* ---- commands ---- */

typedef struct Ran {
    int status; /* exit code; 128 + n: ended by signal n */
    char *out, *err;
    size_t nout, nerr;
} Ran;

static const char *in_work(const TestFile *t, const char *name)
{
    return printed("%s/%s", t->work, name);
}

static char *slurp(const char *path, size_t *n)
{
    char *text = read_file(path, n);
    return text ? text : copy_text("", *n = 0);
}

/* This program with these words, as if it were called anew: what it does to memory, and how it ends, stays there. */
static Ran tilecc(const TestFile *t, Words *w)
{
    const char *out = in_work(t, "stdout"), *err = in_work(t, "stderr");
    Ran r = {.status = EXIT_ENVIRONMENT};
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "r", stdin) || !freopen(out, "wb", stdout) || !freopen(err, "wb", stderr)) _exit(EXIT_ENVIRONMENT);
        int code = run_command_line(w->n, w->v);
        fflush(NULL);
        _exit(code);
    }
    int status;
    if (pid > 0 && waitpid(pid, &status, 0) == pid)
        r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    r.out = slurp(out, &r.nout);
    r.err = slurp(err, &r.nerr);
    return r;
}

static Words command(const TestFile *t)
{
    Words w = {.n = 0}, options = options_of(t);
    add(&w, "tilecc");
    if (t->opt->lib.no_variants) add(&w, "--variants=off"); /* the file's own options have the last word */
    add_all(&w, &options);
    for (size_t i = 0; i < t->opt->lib.nimport_dirs; i++) {
        add(&w, "-I");
        add(&w, t->opt->lib.import_dirs[i]);
    }
    return w;
}

static Ran compile(const TestFile *t, const char *kind)
{
    Words w = command(t);
    add(&w, kind);
    add(&w, "--"); /* the file may be called -x.tile */
    add(&w, t->name);
    return tilecc(t, &w);
}

/* ---- files beside it ---- */

/* A pipe or a device may have no end. */
static bool readable(TestFile *t, const char *path)
{
    struct stat st;
    bool there = stat(path, &st) == 0, regular = there && S_ISREG(st.st_mode);
    if (regular && access(path, R_OK) == 0) return true;
    fprintf(t->why, "can't read %s: %s\n", path, there && !regular ? "it is no regular file" : strerror(errno));
    return false;
}

/* PTX may lie there from a look at it, and not as a test. */
static void say_lines(TestFile *t, const char *path, const char *expected, const char *now)
{
    if (strstr(expected, ".loc ") && !strstr(now, ".loc "))
        fprintf(t->why, "%s has source lines, of -lineinfo, which what comes out has not: `// options: -lineinfo` asks for them, --update takes them out; "
                        "if it is no test it stands elsewhere\n", path);
}

/* With --update it is written anew, else compared. */
static void against_file(TestFile *t, const char *path, const char *now, size_t n)
{
    size_t have;
    char *expected = readable(t, path) ? read_file(path, &have) : NULL;
    if (!expected) {
        fprintf(t->why, "%s is not compared\n", path);
        return;
    }
    if (have == n && memcmp(expected, now, n) == 0) {
        free(expected);
        return;
    }
    if (t->opt->update) {
        t->updated = write_files(&(OutFile){path, now, n}, 1);
        if (!t->updated) fprintf(t->why, "can't write %s\n", path);
    } else {
        say_lines(t, path, expected, now);
        test_texts(t, path, expected, have, now, n);
    }
    free(expected);
}

static const char *expected_path(const TestFile *t, const char *ending)
{
    return printed("%s.%s", t->stem, ending);
}

static void check_made(TestFile *t, const char *ending)
{
    char kind[32];
    snprintf(kind, sizeof kind, "--emit=%s", ending);
    Ran r = compile(t, kind);
    if (r.status == EXIT_OK) against_file(t, expected_path(t, ending), r.out, r.nout);
    else fprintf(t->why, "tilecc %s %s: exit code %d\n%s", kind, t->name, r.status, r.err);
}

/* All that is said, warnings too. */
static void check_said(TestFile *t)
{
    Ran r = compile(t, "--emit=ptx");
    if (r.status > EXIT_SOURCE) fprintf(t->why, "exit code %d\n%s", r.status, r.err);
    else against_file(t, expected_path(t, "err"), r.err, r.nerr);
}

/* ---- // expect E0610 ---- */

typedef struct Expected {
    unsigned line;
    char code[8];
    bool met;
} Expected;
enum { EXPECTED_MAX = 512 };

static bool is_code(const char *word)
{
    return strlen(word) == 5 && strchr("EWP", word[0]) && strspn(word + 1, "0123456789") == 4;
}

static void no_code(TestFile *t, unsigned line, const char *word)
{
    fprintf(t->why, "%s:%u: `%s` is no code: // expect E0610\n", t->name, line, word);
}

/* Behind code: of its line. On a line of its own: of the next line that has code. */
static int find_expected(TestFile *t, Expected *all)
{
    int n = 0;
    unsigned line = 1, pending = 0;
    for (const char *p = t->text; *p; p = next_line(p), line++) {
        const char *start = p + strspn(p, " \t"), *say = comment_in(p, "expect");
        bool own = start[0] == '/' && start[1] == '/', blank = *start == '\n' || *start == 0;
        if (!own && !blank)
            for (int i = (int)pending; i < n; i++) all[i].line = line;
        if (!own && !blank) pending = (unsigned)n;
        if (!say) continue;
        Words w = split(say, line_end(p));
        int i = 0;
        for (; i < w.n && is_code(w.v[i]) && n < EXPECTED_MAX; i++) {
            all[n] = (Expected){.line = line};
            memcpy(all[n++].code, w.v[i], 6);
        }
        if (i == 0) no_code(t, line, w.n ? w.v[i++] : "");
        for (; i < w.n; i++)
            if (meant_as_code(w.v[i])) no_code(t, line, w.v[i]);
        if (!own) pending = (unsigned)n;
    }
    return n;
}

/* "k.tile:3:5: error E0610: text" */
static bool parse_said(const char *p, const char *name, unsigned *line, char code[8], bool *error)
{
    size_t n = strlen(name);
    char word[16];
    unsigned column;
    if (strncmp(p, name, n) != 0 || sscanf(p + n, ":%u:%u: %15s %5s", line, &column, word, code) != 4) return false;
    *error = strcmp(word, "error") == 0;
    return true;
}

/* Says so of a code that no message has. */
static bool unknown(TestFile *t, const char *code)
{
    if (tilecc_explain(code, NULL, NULL)) return false;
    fprintf(t->why, "%s is expected, and no message has this code\n", code);
    return true;
}

static void check_expected(TestFile *t)
{
    Expected *all = must_alloc(EXPECTED_MAX * sizeof *all);
    int n = find_expected(t, all);
    Ran r = compile(t, "--error-format=short");
    for (const char *p = r.err; *p; p = next_line(p)) {
        unsigned line;
        char code[8];
        bool error, met = false;
        if (!parse_said(p, t->name, &line, code, &error)) continue;
        for (int i = 0; i < n && !met; i++) {
            met = !all[i].met && all[i].line == line && strcmp(all[i].code, code) == 0;
            all[i].met |= met;
        }
        if (!met && error) fprintf(t->why, "not expected: %.*s\n", (int)strcspn(p, "\n"), p);
    }
    for (int i = 0; i < n; i++)
        if (!all[i].met && !unknown(t, all[i].code)) fprintf(t->why, "%s:%u: %s is expected, and not said\n", t->name, all[i].line, all[i].code);
    if (r.status > EXIT_SOURCE && r.status != EXIT_TOOL) fprintf(t->why, "exit code %d\n%s", r.status, r.err);
}

/* ---- // run: [KERNEL] NAME=ARGUMENT.. [OPTION..] [== KERNEL] [NAME==FILE.npy..] [expect CODE] ---- */

typedef struct RunLine {
    Words args, options, names, files; /* names, files: NAME==FILE */
    const char *kernel, *like, *code;
} RunLine;

static bool parse_run(TestFile *t, const Words *w, RunLine *r)
{
    *r = (RunLine){.kernel = NULL};
    if (w->open) {
        fprintf(t->why, "a quote is not closed: `%s`\n", w->v[w->n - 1]);
        return false;
    }
    for (int i = 0; i < w->n; i++) {
        const char *s = w->v[i], *two = strstr(s, "==");
        if (strcmp(s, "==") == 0 && i + 1 < w->n && !r->like) {
            r->like = w->v[++i];
        } else if (strcmp(s, "expect") == 0 && i + 1 < w->n && !r->code) {
            r->code = w->v[++i];
        } else if (s[0] == '-') {
            add(&r->options, s);
            if (option_wants_next(s) && i + 1 < w->n) add(&r->options, w->v[++i]);
        } else if (two && memchr(s, '=', (size_t)(two - s))) {
            fprintf(t->why, "`%s` says two things: `%.*s` is the argument, and behind it `%.*s%s` what it is compared with\n", s, (int)(two - s), s,
                    (int)strcspn(s, "="), s, two);
            return false;
        } else if (two && two > s && two[2]) {
            push(&r->names, s, (size_t)(two - s));
            add(&r->files, two + 2);
        } else if (strchr(s, '=') && s[0] != '=') {
            add(&r->args, s);
        } else if (!r->kernel && i == 0) {
            r->kernel = s;
        } else {
            fprintf(t->why, "`%s` can't stand here: // run: [KERNEL] NAME=ARGUMENT.. [OPTION..] [== KERNEL] [NAME==FILE.npy..] [expect CODE]\n", s);
            return false;
        }
    }
    if (r->like && r->kernel && strcmp(r->like, r->kernel) == 0)
        fprintf(t->why, "`== %s` compares a kernel with itself\n", r->like);
    return !r->like || !r->kernel || strcmp(r->like, r->kernel) != 0;
}

/* `--sim=fuzz` and what else is of the simulator alone: such a line is for that, wherever the others run. */
static bool for_simulator(const Words *options)
{
    static const char *const of_simulator[] = {"--sim", "--seed", "--schedules", "--trace"};
    for (int i = 0; i < options->n; i++)
        for (size_t k = 0; k < sizeof of_simulator / sizeof *of_simulator; k++)
            if (strncmp(options->v[i], of_simulator[k], strlen(of_simulator[k])) == 0) return true;
    return false;
}

static Ran run_kernel(const TestFile *t, const RunLine *r, const char *kernel, const char *folder)
{
    Words w = {.n = 0}, options = options_of(t);
    add(&w, "tilecc");
    add(&w, "run");
    if (t->opt->lib.no_variants) add(&w, "--variants=off");
    add_all(&w, &options);
    for (size_t i = 0; i < t->opt->lib.nimport_dirs; i++) {
        add(&w, "-I");
        add(&w, t->opt->lib.import_dirs[i]);
    }
    if (t->opt->device && (strncmp(t->opt->device, "sim", 3) == 0 || !for_simulator(&r->options))) add(&w, printed("--device=%s", t->opt->device));
    add(&w, printed("--save=%s", folder));
    add_all(&w, &r->options);
    add(&w, "--");
    add(&w, printed("%s%s%s", t->name, kernel ? ":" : "", kernel ? kernel : ""));
    add_all(&w, &r->args);
    mkdir(folder, 0777);
    return tilecc(t, &w);
}

/* What the run has written of argument `name`; NULL, with why: nothing. */
static const char *kept(TestFile *t, const RunLine *r, const char *folder, const char *name)
{
    const char *made = printed("%s/%s.npy", folder, name), *value = NULL;
    size_t n = strlen(name);
    if (access(made, F_OK) == 0) return made;
    for (int i = 0; i < r->args.n && !value; i++)
        if (strncmp(r->args.v[i], name, n) == 0 && r->args.v[i][n] == '=') value = r->args.v[i] + n + 1;
    const char *file = value ? strrchr(value, ':') : NULL;
    if (!value) fprintf(t->why, "no argument of the line is called %s\n", name);
    else if (file)
        fprintf(t->why, "%s goes to a file of its own: what is compared is written as %s=%.*s\n", name, name,
                (int)(file - value), value);
    else fprintf(t->why, "%s is not written by %s\n", name, r->kernel ? r->kernel : "the kernel");
    return NULL;
}

/* Each array that the one writes, as the other one writes it. */
static void compare_kernels(TestFile *t, const RunLine *r, const char *folder)
{
    const char *other = printed("%s-like", folder);
    Ran run = run_kernel(t, r, r->like, other);
    if (run.status != EXIT_OK) {
        fprintf(t->why, "%s: exit code %d\n%s", r->like, run.status, run.err);
        return;
    }
    int n = 0;
    for (int i = 0; i < r->args.n; i++) {
        const char *label = copy_text(r->args.v[i], strcspn(r->args.v[i], "="));
        const char *a = printed("%s/%s.npy", other, label), *b = printed("%s/%s.npy", folder, label);
        bool one = access(a, F_OK) == 0, two = access(b, F_OK) == 0;
        if (one != two)
            fprintf(t->why, "%s is written by %s alone\n", label, one ? r->like : r->kernel ? r->kernel : "the kernel");
        if (!one && !two && strchr(r->args.v[i], ':')) kept(t, r, folder, label), n++;
        if (!one || !two) continue;
        test_arrays(t, label, a, b);
        n++;
    }
    if (n == 0) fprintf(t->why, "no array is written by both\n");
}

/* A .npy that is there may come from elsewhere, and may be an input: it is compared with, and never written over. */
static void compare_file(TestFile *t, const RunLine *r, const char *name, const char *path, const char *folder)
{
    const char *made = kept(t, r, folder, name);
    size_t n;
    if (!made) return;
    bool there = access(path, F_OK) == 0;
    if (there && !readable(t, path)) return;
    if (there) {
        long at = ftell(t->why);
        test_arrays(t, name, path, made);
        if (t->opt->update && ftell(t->why) != at) fprintf(t->why, "--update leaves %s as it is: remove it, to have it written anew\n", path);
    } else if (!t->opt->update) {
        fprintf(t->why, "there is no %s yet: tilecc test --update writes it\n", path);
    } else {
        char *bytes = read_file(made, &n);
        t->updated = bytes && write_files(&(OutFile){path, bytes, n}, 1);
        if (!t->updated) fprintf(t->why, "can't write %s\n", path);
        free(bytes);
    }
}

static void check_run(TestFile *t, const Words *w, unsigned line)
{
    RunLine r;
    if (!parse_run(t, w, &r) || (r.code && unknown(t, r.code))) return;
    const char *folder = in_work(t, printed("run%u", line)); /* what another line has written is not this one's */
    Ran run = run_kernel(t, &r, r.kernel, folder);
    if (r.code) {
        if (run.status == EXIT_OK) fprintf(t->why, "%s is expected, and nothing is wrong\n", r.code);
        else if (!strstr(run.err, printed("%s: ", r.code))) /* a fix may name others */
            fprintf(t->why, "%s is expected; what is said is\n%s", r.code, run.err);
        return;
    }
    if (run.status != EXIT_OK) {
        fprintf(t->why, "exit code %d\n%s", run.status, run.err);
        return;
    }
    if (r.like) compare_kernels(t, &r, folder);
    for (int i = 0; i < r.names.n; i++) compare_file(t, &r, r.names.v[i], r.files.v[i], folder);
}

/* ---- all of a file ---- */

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* A record: status, seconds, bytes of text, name; then the text. */
static void put_result(TestFile *t, const char *name, double seconds)
{
    fflush(t->why);
    long n = ftell(t->why);
    TestStatus status = n > 0 ? TEST_FAILED : t->updated ? TEST_UPDATED : TEST_PASSED;
    fprintf(t->results, "%d %.3f %ld %s\n", (int)status, seconds, n, name);
    rewind(t->why);
    for (int c; (c = fgetc(t->why)) != EOF;) fputc(c, t->results);
    rewind(t->why);
    if (ftruncate(fileno(t->why), 0) != 0) abort();
    t->updated = false;
    fflush(t->results);
}

#define CHECK(name, what)                                                                                              \
    do {                                                                                                               \
        double from_ = now();                                                                                          \
        what;                                                                                                          \
        put_result(t, name, now() - from_);                                                                            \
    } while (0)

/* What would be left out without a word. */
static void say_misspelt(TestFile *t)
{
    unsigned line = 1;
    for (const char *p = t->text; *p; p = next_line(p), line++) {
        const char *directive = meant_as(p), *said = directive ? comment_in(p, "") : NULL;
        if (said) fprintf(t->why, "%s:%u: nothing is done with `// %.*s`: `// %s` is meant\n", t->name, line, (int)strcspn(said, "\r\n"), said, directive);
    }
}

static void test_runs(TestFile *t)
{
    unsigned line = 1, n = 0;
    for (const char *p = t->text; *p; p = next_line(p), line++) {
        const char *say = comment_in(p, "run:");
        if (!say || (t->line && line != t->line)) continue;
        Words w = split(say, line_end(p));
        const char *name = printed("run, line %u", line);
        CHECK(name, check_run(t, &w, line));
        n++;
    }
    if (t->line && n == 0) CHECK("run", fprintf(t->why, "line %u has no `// run:`\n", t->line));
}

void test_file(TestFile *t)
{
    if (t->line) {
        test_runs(t);
        return;
    }
    if (misspells(t->text)) CHECK("comments", say_misspelt(t));
    if (beside(t->name, "ptx")) CHECK("ptx", check_made(t, "ptx"));
    if (beside(t->name, "ir")) CHECK("ir", check_made(t, "ir"));
    if (beside(t->name, "err")) CHECK("err", check_said(t));
    if (says(t->text, "expect")) CHECK("expect", check_expected(t));
    test_runs(t);
}
