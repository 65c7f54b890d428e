#include "tilecc/test/test.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tilecc/cli.h"

typedef struct Check { /* a line of results */
    TestStatus status;
    double seconds;
    char *name, *why;
} Check;

typedef struct Case { /* a file */
    char *path, *text;
    unsigned line; /* the one that is asked for; 0: all */
    pid_t pid;   /* of its process and of the group of what that starts; 0: not begun */
    char *work;  /* its folder */
    bool over;
    int ended;   /* how its process ended, as of waitpid() */
    Check *checks;
    size_t n;
} Case;

typedef struct Cases {
    Case *v;
    size_t n, room;
    int code; /* why not all could be added */
} Cases;

/* ---- the files ---- */

static char *joined(const char *folder, const char *name)
{
    bool here = strcmp(folder, ".") == 0, slash = folder[0] && folder[strlen(folder) - 1] == '/';
    return printed("%s%s%s", here ? "" : folder, here || slash ? "" : "/", name);
}

static bool is_tile(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".tile") == 0;
}

static bool add_file(Cases *c, char *path, bool asked)
{
    size_t size;
    char *text = read_file(path, &size);
    if (!text) {
        free(path);
        return false;
    }
    if (!test_wanted(path, text)) {
        if (asked) complain("'%s' expects nothing: no .ptx, .ir or .err is beside it, and no line says `// run:` or `// expect`", path);
        free(text);
        free(path);
        if (asked) c->code = EXIT_USAGE;
        return !asked;
    }
    if (c->n == c->room) {
        c->room = 2 * c->room + 16;
        Case *more = realloc(c->v, c->room * sizeof *more);
        if (!more) exit(EXIT_ENVIRONMENT);
        c->v = more;
    }
    c->v[c->n++] = (Case){.path = path, .text = text};
    return true;
}

/* Files, and folders within, but for hidden ones and folders that links lead to. */
static bool add_folder(Cases *c, const char *folder)
{
    struct dirent **all;
    int n = scandir(folder, &all, NULL, alphasort);
    if (n < 0) {
        complain("can't read '%s': %s", folder, strerror(errno));
        return false;
    }
    bool ok = true;
    for (int i = 0; i < n; i++) {
        const char *name = all[i]->d_name;
        struct stat st;
        char *path = joined(folder, name);
        bool known = name[0] != '.' && lstat(path, &st) == 0;
        if (known && S_ISDIR(st.st_mode)) {
            ok &= add_folder(c, path);
            free(path);
        } else if (known && is_tile(name) && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) {
            ok &= add_file(c, path, false);
        } else {
            free(path);
        }
        free(all[i]);
    }
    free(all);
    return ok;
}

/* "k.tile:3", as it is shown: bytes in front of the colon, and the line. 0: it is something else. */
static size_t names_line(const char *path, unsigned *line)
{
    const char *colon = strrchr(path, ':');
    size_t n = colon ? (size_t)(colon - path) : 0, digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (n < 6 || memcmp(colon - 5, ".tile", 5) != 0 || digits == 0 || digits > 8 || colon[1 + digits]) return 0;
    *line = (unsigned)strtoul(colon + 1, NULL, 10);
    return *line ? n : 0;
}

static bool add_path(Cases *c, const char *path)
{
    struct stat st;
    unsigned line;
    size_t n = names_line(path, &line), before = c->n;
    if (n && stat(path, &st) != 0) {
        bool ok = add_file(c, copy_text(path, n), true);
        if (c->n > before) c->v[before].line = line;
        return ok;
    }
    if (stat(path, &st) != 0) {
        complain("can't read '%s': %s", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode)) return add_folder(c, path);
    if (is_tile(path)) return add_file(c, copy_text(path, strlen(path)), true);
    complain("'%s' is no folder and no .tile file", path);
    return false;
}

/* ---- side by side ---- */

/* The signal that ends it all, once the folders are gone. */
static volatile sig_atomic_t stopped;

static void stop(int which)
{
    stopped = which;
}

/* Of a process that goes on to another folder: what was typed is meant from here. */
static void import_from_here(TestOptions *o)
{
    const char *here = realpath(".", NULL), **dirs = must_alloc(o->lib.nimport_dirs * sizeof *dirs);
    for (size_t i = 0; i < o->lib.nimport_dirs; i++) {
        const char *dir = o->lib.import_dirs[i];
        dirs[i] = dir[0] == '/' || !here ? dir : printed("%s/%s", here, dir);
    }
    o->lib.import_dirs = dirs;
}

static _Noreturn void child(const TestOptions *opt, const Case *c, const struct sigaction before[ENDINGS])
{
    leave_signals(before);
    setpgid(0, 0);
    const char *slash = strrchr(c->path, '/');
    char *folder = slash ? copy_text(c->path, (size_t)(slash - c->path) + 1) : copy_text(".", 1);
    char *results = joined(c->work, "results"), *why = joined(c->work, "why");
    TestOptions own = *opt;
    import_from_here(&own);
    TestFile t = {.opt = &own, .name = slash ? slash + 1 : c->path, .text = c->text, .line = c->line, .work = c->work};
    t.stem = copy_text(t.name, strlen(t.name) - strlen(".tile"));
    t.results = fopen(results, "wb");
    t.why = fopen(why, "w+b");
    if (!t.results || !t.why || chdir(folder) != 0) _exit(EXIT_ENVIRONMENT);
    test_file(&t);
    bool written = !ferror(t.results) && !ferror(t.why); /* what was found out is known */
    _exit(fclose(t.results) == 0 && written ? EXIT_OK : EXIT_ENVIRONMENT);
}

static bool begin(const TestOptions *opt, Case *c, const char *work, size_t number, const struct sigaction before[ENDINGS])
{
    char name[32];
    snprintf(name, sizeof name, "%zu", number);
    c->work = joined(work, name);
    if (mkdir(c->work, 0777) != 0) {
        complain("can't make '%s': %s", c->work, strerror(errno));
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) child(opt, c, before);
    if (c->pid > 0) setpgid(c->pid, c->pid); /* whichever of the two comes first: what it starts ends with it */
    if (c->pid < 0) complain("can't start a process: %s", strerror(errno));
    return c->pid > 0;
}

static void take_results(Case *c)
{
    char *path = joined(c->work, "results");
    FILE *f = fopen(path, "rb");
    free(path);
    int status;
    double seconds;
    long n;
    while (f && fscanf(f, "%d %lf %ld ", &status, &seconds, &n) == 3) {
        Check *all = realloc(c->checks, (c->n + 1) * sizeof *all), *x;
        if (!all) exit(EXIT_ENVIRONMENT);
        c->checks = all;
        x = &all[c->n++];
        *x = (Check){.status = (TestStatus)status, .seconds = seconds};
        size_t room = 0;
        ssize_t length = getline(&x->name, &room, f);
        if (length > 0) x->name[length - 1] = 0;
        x->why = must_alloc((size_t)n + 1);
        x->why[fread(x->why, 1, (size_t)n, f)] = 0;
    }
    if (f) fclose(f);
}

/* ---- what came out ---- */

typedef struct Sums {
    size_t checks, failed, updated;
    double seconds;
} Sums;

enum { LINES_SHOWN = 60 }; /* the report has all */

static void put_indented(const char *text)
{
    size_t line = 0;
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (line++ < LINES_SHOWN) printf("    %.*s\n", (int)n, text);
        text += n + (text[n] != 0);
    }
    if (line > LINES_SHOWN) printf("    .. %zu more lines (--junit=FILE has them)\n", line - LINES_SHOWN);
}

/* Its checks are all there. */
static bool ended_well(const Case *c)
{
    return WIFEXITED(c->ended) && WEXITSTATUS(c->ended) == EXIT_OK && c->n > 0;
}

static void show(const Case *c, Sums *s)
{
    bool bad = !ended_well(c);
    for (size_t i = 0; i < c->n; i++) bad |= c->checks[i].status == TEST_FAILED;
    printf("%-6s %s:", bad ? "FAILED" : "ok", c->path);
    for (size_t i = 0; i < c->n; i++)
        printf("%s %s%s", i ? "," : "", c->checks[i].name,
               c->checks[i].status == TEST_UPDATED ? " (written)" : c->checks[i].status == TEST_FAILED ? " (failed)" : "");
    putchar('\n');
    for (size_t i = 0; i < c->n; i++) {
        const Check *x = &c->checks[i];
        s->checks++;
        s->seconds += x->seconds;
        s->updated += x->status == TEST_UPDATED;
        if (x->status != TEST_FAILED) continue;
        s->failed++;
        printf("  %s\n", x->name);
        put_indented(x->why);
    }
    if (!ended_well(c)) {
        s->checks++;
        s->failed++;
        printf("  the test itself could not be done: %s %d\n", WIFSIGNALED(c->ended) ? "signal" : "exit code",
               WIFSIGNALED(c->ended) ? WTERMSIG(c->ended) : WEXITSTATUS(c->ended));
    }
    fflush(stdout);
}

/* Bytes of the character of UTF-8 at s; 0: it is none, or one that XML has not. */
static size_t character(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool longer = n > 2 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90)); /* than it need be */
    bool none = n > 2 && ((s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90) || (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe));
    return longer || none || (s[0] < ' ' && s[0] != '\n' && s[0] != '\t') ? 0 : n;
}

static void put_xml(FILE *f, const char *s)
{
    for (size_t n; *s; s += n ? n : 1) {
        char c = *s;
        n = character((const unsigned char *)s);
        if (c == '&') fputs("&amp;", f);
        else if (c == '<') fputs("&lt;", f);
        else if (c == '>') fputs("&gt;", f);
        else if (c == '"') fputs("&quot;", f);
        else if (n) fwrite(s, 1, n, f);
        else fputc('?', f);
    }
}

/* The format of JUnit, as CI systems read it. */
static bool write_report(const char *path, const Cases *c, const Sums *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return false;
    fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"tilecc test\" tests=\"%zu\" failures=\"%zu\" "
               "errors=\"0\" skipped=\"0\" time=\"%.3f\">\n",
            s->checks, s->failed, s->seconds);
    for (size_t i = 0; i < c->n; i++) {
        const Case *file = &c->v[i];
        for (size_t k = 0; k < file->n + !ended_well(file); k++) {
            const Check lost = {.status = TEST_FAILED, .name = "all", .why = "the test itself could not be done"};
            const Check *x = k < file->n ? &file->checks[k] : &lost;
            fputs("<testcase classname=\"", f);
            put_xml(f, file->path);
            fputs("\" name=\"", f);
            put_xml(f, x->name);
            fprintf(f, "\" time=\"%.3f\"", x->seconds);
            if (x->status == TEST_FAILED) {
                fputs("><failure message=\"differs from what is expected\">", f);
                put_xml(f, x->why);
                fputs("</failure></testcase>\n", f);
            } else {
                fputs("/>\n", f);
            }
        }
    }
    fputs("</testsuite>\n</testsuites>\n", f);
    fclose(f);
    bool ok = write_files(&(OutFile){path, text, size}, 1);
    free(text);
    return ok;
}

/* ---- all ---- */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    remove(path);
    return 0;
}

static void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Files are shown in their order, each as soon as those in front of it are over. */
static int test_all(const TestOptions *opt, Cases *c, const char *work, Sums *s, const struct sigaction before[ENDINGS])
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = opt->jobs > 0 ? (size_t)opt->jobs : cores > 0 ? (size_t)cores : 1, running = 0, next = 0, shown = 0;
    while (shown < c->n && !stopped) {
        for (; next < c->n && running < most; next++, running++)
            if (!begin(opt, &c->v[next], work, next, before)) return EXIT_ENVIRONMENT;
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) return EXIT_ENVIRONMENT;
        for (size_t i = shown; i < next; i++) {
            if (c->v[i].pid != pid) continue;
            c->v[i].over = true;
            c->v[i].ended = status;
            take_results(&c->v[i]);
            remove_folder(c->v[i].work);
            running--;
        }
        for (; shown < c->n && c->v[shown].over; shown++) show(&c->v[shown], s);
    }
    return stopped ? EXIT_ENVIRONMENT : EXIT_OK;
}

/* Of those that still run, before their folders go. */
static void end_tests(const Cases *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].pid <= 0 || c->v[i].over) continue;
        kill(-c->v[i].pid, SIGTERM);
        while (waitpid(c->v[i].pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

static void free_cases(Cases *c)
{
    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->v[i].n; k++) {
            free(c->v[i].checks[k].name);
            free(c->v[i].checks[k].why);
        }
        free(c->v[i].checks);
        free(c->v[i].path);
        free(c->v[i].text);
        free(c->v[i].work);
    }
    free(c->v);
}

int command_test(const TestOptions *opt)
{
    Cases c = {0};
    Sums s = {0};
    bool ok = true;
    for (size_t i = 0; i < opt->npaths; i++) ok &= add_path(&c, opt->paths[i]);
    if (opt->npaths == 0) ok = add_folder(&c, ".");
    int code = ok ? EXIT_OK : c.code ? c.code : EXIT_ENVIRONMENT;
    if (ok && c.n == 0) {
        complain("there is nothing to test: a .tile file is a test if it has a line `// run: ..` or `// expect E0610`, or a .ptx, .ir or .err "
                 "of its name beside it (an empty one, and then --update, is a beginning)");
        code = EXIT_USAGE;
    }
    if (code == EXIT_OK && opt->junit && is_tile(opt->junit)) { /* what to test, most likely, behind an option without its file */
        complain("the report would replace '%s': --junit=FILE names the report", opt->junit);
        code = EXIT_USAGE;
    }
    if (code == EXIT_OK && opt->junit && !outputs_can_be_written(&opt->junit, 1)) code = EXIT_ENVIRONMENT;
    const char *tmp = getenv("TMPDIR");
    char *work = joined(tmp && *tmp ? tmp : "/tmp", "tilecc-test-XXXXXX");
    if (code == EXIT_OK && !mkdtemp(work)) {
        complain("can't make a folder in %s: %s", tmp && *tmp ? tmp : "/tmp", strerror(errno));
        code = EXIT_ENVIRONMENT;
    } else if (code == EXIT_OK) {
        struct sigaction before[ENDINGS];
        watch_signals(stop, before);
        code = test_all(opt, &c, work, &s, before);
        end_tests(&c);
        remove_folder(work);
        leave_signals(before);
        if (stopped) raise(stopped);
        if (code == EXIT_OK) {
            printf("%zu file%s, %zu check%s: %zu passed, %zu failed", c.n, c.n == 1 ? "" : "s", s.checks, s.checks == 1 ? "" : "s",
                   s.checks - s.failed, s.failed);
            if (s.updated) printf(", %zu written anew (look at them)", s.updated);
            putchar('\n');
        }
        if (code == EXIT_OK && opt->junit && !write_report(opt->junit, &c, &s)) code = EXIT_ENVIRONMENT;
        if (code == EXIT_OK && !finish_stdout()) code = EXIT_ENVIRONMENT;
    }
    free(work);
    free_cases(&c);
    return code == EXIT_OK && s.failed ? EXIT_SOURCE : code;
}
