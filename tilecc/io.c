#include "tilecc/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *must_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p) {
        complain("out of memory");
        exit(EXIT_ENVIRONMENT);
    }
    return p;
}

char *copy_text(const char *s, size_t n)
{
    char *out = must_alloc(n + 1);
    memcpy(out, s, n);
    out[n] = 0;
    return out;
}

static char *vprinted(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    size_t room = (size_t)(n > 0 ? n : 0) + 1;
    char *text = must_alloc(room);
    text[0] = 0;
    vsnprintf(text, room, fmt, again);
    va_end(again);
    return text;
}

char *printed(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = vprinted(fmt, ap);
    va_end(ap);
    return text;
}

void put_name(FILE *to, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c == 0x7f) fprintf(to, "\\x%02x", c);
        else fputc(c, to);
    }
}

/* Line by line: what was typed may hold what would move the cursor. */
static void say(const char *fmt, va_list ap)
{
    char *text = vprinted(fmt, ap);
    for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
        if ((end = strchr(line, '\n')) != NULL) *end = 0;
        put_name(stderr, line);
        if (end) fputc('\n', stderr);
    }
    free(text);
}

void complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("tilecc: ", stderr);
    say(fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void complain_word(const char *word, const char *const *words, size_t n, const char *which, const char *fmt, ...)
{
    va_list ap;
    const char *near = word ? nearest_word(word, words, n) : NULL;
    va_start(ap, fmt);
    fputs("tilecc: ", stderr);
    say(fmt, ap);
    va_end(ap);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    for (size_t i = 0; !near && i < n; i++) fprintf(stderr, "%s%s%s", i ? ", " : "; ", i ? "" : which, words[i]);
    fputc('\n', stderr);
}

/* A file as far as it was read. */
typedef struct Input {
    FILE *f;
    char *text;
    size_t n, room;
} Input;

/* Reads on until there are `want` bytes or the file ends, which no size tells beforehand: it may be a pipe. */
static bool read_up_to(Input *in, size_t want)
{
    while (in->n < want) {
        if (in->room - in->n < 2) {
            size_t more = in->room ? in->room * 2 : 65536;
            char *grown = more > in->room ? realloc(in->text, more) : NULL;
            if (!grown) {
                errno = ENOMEM;
                return false;
            }
            in->text = grown;
            in->room = more;
        }
        size_t room = in->room - in->n - 1, rest = want - in->n;
        size_t got = fread(in->text + in->n, 1, rest < room ? rest : room, in->f);
        in->n += got;
        if (got == 0 && ferror(in->f)) return false;
        if (got == 0) break;
    }
    if (in->text) in->text[in->n] = 0;
    return true;
}

char *read_file_as(const char *path, size_t *size, size_t (*needs)(const char *text, size_t size))
{
    bool standard = strcmp(path, "-") == 0;
    Input in = {.f = standard ? stdin : fopen(path, "rb")};
    if (!in.f) {
        complain("can't read '%s': %s", path, strerror(errno));
        return NULL;
    }
    size_t want = needs(NULL, 0);
    bool ok = read_up_to(&in, want);
    while (ok && in.n == want && (want = needs(in.text, in.n)) > in.n) ok = read_up_to(&in, want);
    if (!ok) {
        complain("can't read '%s': %s", standard ? "standard input" : path, strerror(errno));
        free(in.text);
        in.text = NULL;
    }
    if (!standard) fclose(in.f);
    *size = in.n;
    return in.text;
}

enum { TEXT_MOST = 1 << 30 }; /* bytes of a program */

static size_t needs_text(const char *text, size_t size)
{
    (void)text, (void)size;
    return (size_t)TEXT_MOST + 1;
}

/* Why not even to begin: a device has no end (terminals have), and a regular file says how large it is. */
static const char *no_text(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0) return NULL;
    if (S_ISREG(st.st_mode) && st.st_size > TEXT_MOST) return "it is larger than 1 GiB";
    if (S_ISBLK(st.st_mode)) return "it is a device, not a file";
    if (!S_ISCHR(st.st_mode)) return NULL;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    bool terminal = fd >= 0 && isatty(fd);
    if (fd >= 0) close(fd);
    return terminal ? NULL : "it is a device, not a file";
}

char *read_file(const char *path, size_t *size)
{
    const char *why = no_text(path);
    char *text = why ? NULL : read_file_as(path, size, needs_text);
    if (text && *size > TEXT_MOST) {
        why = "it is larger than 1 GiB";
        free(text);
        text = NULL;
    }
    if (why) complain("can't read '%s': %s", strcmp(path, "-") == 0 ? "standard input" : path, why);
    return text;
}

static const char *library(const char *path, size_t *size, const char **name)
{
    return access(path, F_OK) == 0 ? NULL : tilecc_library(path, size, name);
}

bool no_module(const char *path)
{
    const char *names[64];
    size_t n = 0;
    if (strncmp(path, "std.", 4) != 0 || access(path, F_OK) == 0) return false;
    char *module = copy_text(path, strcspn(path, ":"));
    while (n < 64 && (names[n] = tilecc_library_at(n))) n++;
    const char *near = nearest_word(module, names, n);
    size_t length = strlen(module);
    bool suffix = length > 5 && strcmp(module + length - 5, ".tile") == 0;
    if (near && strcmp(near, module) == 0) complain("'%s': one kernel of it is `%s --kernel=%s`", path, module, path + length + 1);
    else if (!suffix && near) complain("the library has no module '%s'; did you mean '%s'?", module, near);
    else if (!suffix) complain("the library has no module '%s': `tilecc --list-library` says what it has", module);
    free(module);
    return !suffix;
}

char *read_program(const char *path, size_t *size)
{
    const char *module = library(path, size, NULL);
    if (module) return copy_text(module, *size);
    return no_module(path) ? NULL : read_file(path, size);
}

const char *program_name(const char *path)
{
    const char *name = path;
    return library(path, NULL, &name) ? name : path;
}

/* Behind white space and comments. */
static const char *first_word(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (p[0] != '/' || (p[1] != '/' && p[1] != '*')) return p;
        const char *end = strstr(p + 2, p[1] == '/' ? "\n" : "*/");
        if (!end) return p;
        p = end + (p[1] == '/' ? 1 : 2);
    }
}

const char *compiled_kind(const char *text, size_t size)
{
    if (size >= 4 && memcmp(text, "\177ELF", 4) == 0) return "a cubin";
    return strncmp(first_word(text), ".version", 8) == 0 ? "PTX" : NULL; /* no statement of .tile starts with a dot */
}

/* ---- output ---- */

static bool write_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* A file under construction: `temp` is beside `path` and takes its name when everything else has gone well. Both NULL:
 * a device or pipe, opened directly, because those can't be replaced. */
typedef struct Pending {
    char *path, *volatile temp;
} Pending;

static const int endings[ENDINGS] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGXFSZ};

void hold_signals(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < ENDINGS; i++) sigaddset(&held, endings[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

void watch_signals(void (*by)(int), struct sigaction before[ENDINGS])
{
    struct sigaction action = {.sa_handler = by, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDINGS; i++) sigaddset(&action.sa_mask, endings[i]);
    for (int i = 0; i < ENDINGS; i++)
        if (sigaction(endings[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN) sigaction(endings[i], &action, NULL);
}

void leave_signals(const struct sigaction before[ENDINGS])
{
    for (int i = 0; i < ENDINGS; i++) sigaction(endings[i], &before[i], NULL);
}

/* They remove what it has under construction. */
static struct {
    const Pending *volatile files;
    volatile size_t n;
} unfinished;

static void interrupted(int which)
{
    for (size_t i = 0; i < unfinished.n; i++)
        if (unfinished.files[i].temp) unlink(unfinished.files[i].temp);
    raise(which); /* its default action, when this returns: SA_RESETHAND */
}

/* Its file and its name come as one. */
static int make_temporary(Pending *p, char *name)
{
    sigset_t before;
    hold_signals(&before);
    int fd = mkstemp(name), error = errno;
    if (fd >= 0) p->temp = name;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

static bool begin_direct(const char *path, const OutFile *f)
{
    int fd = open(path, O_WRONLY | O_NOCTTY);
    if (fd < 0) return false;
    bool ok = write_all(fd, f->data, f->size);
    int error = errno;
    if (close(fd) != 0 && ok) return false;
    errno = error;
    return ok;
}

static bool begin_file(Pending *p, const OutFile *f)
{
    struct stat st;
    bool exists = stat(f->path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) return begin_direct(f->path, f);
    if (exists && access(f->path, W_OK) != 0) return false; /* a rename would replace even what is read-only */

    /* Through links, so that the link stays and what it points at is replaced. */
    p->path = exists ? realpath(f->path, NULL) : strdup(f->path);
    if (!p->path) return false;
    char *temp = printed("%s.XXXXXX", p->path);
    int fd = make_temporary(p, temp);
    if (fd < 0) {
        int error = errno;
        free(temp);
        errno = error;
        return false;
    }
    mode_t mask = umask(0);
    umask(mask);
    bool ok = fchmod(fd, exists ? st.st_mode & 07777 : 0666 & ~mask) == 0 && write_all(fd, f->data, f->size);
    int error = errno;
    if (close(fd) != 0 && ok) return false;
    errno = error;
    return ok;
}

bool finish_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    complain("can't write to standard output: %s", strerror(errno));
    return false;
}

bool write_files(const OutFile *files, size_t n)
{
    struct sigaction before[ENDINGS];
    Pending *pending = must_alloc(n * sizeof *pending);
    for (size_t i = 0; i < n; i++) pending[i] = (Pending){NULL, NULL};
    unfinished.files = pending;
    unfinished.n = n;
    watch_signals(interrupted, before);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        if (strcmp(files[i].path, "-") == 0) {
            fwrite(files[i].data, 1, files[i].size, stdout);
            ok = finish_stdout();
            continue;
        }
        ok = begin_file(&pending[i], &files[i]);
        if (!ok) complain("can't write '%s': %s", files[i].path, strerror(errno));
    }
    for (size_t i = 0; i < n && ok; i++) {
        if (!pending[i].temp) continue;
        ok = rename(pending[i].temp, pending[i].path) == 0;
        if (!ok) {
            complain("can't write '%s': %s", files[i].path, strerror(errno));
            break;
        }
        char *was = pending[i].temp;
        pending[i].temp = NULL;
        free(was);
    }
    for (size_t i = 0; i < n; i++)
        if (pending[i].temp) unlink(pending[i].temp);
    leave_signals(before);
    unfinished.n = 0;
    for (size_t i = 0; i < n; i++) {
        free(pending[i].temp);
        free(pending[i].path);
    }
    free(pending);
    return ok;
}

/* ---- numbers ---- */

bool read_integer(const char *s, size_t n, int64_t *out)
{
    const char *end = s + n;
    bool negative = n > 0 && *s == '-';
    uint64_t v = 0, base = 10, most = negative ? UINT64_C(1) << 63 : INT64_MAX;
    s += negative;
    if (end - s > 2 && s[0] == '0' && strchr("xXbB", s[1])) {
        base = (s[1] | 0x20) == 'x' ? 16 : 2;
        s += 2;
    }
    if (s == end) return false;
    for (const char *from = s; s < end; s++) {
        static const char digits[] = "0123456789abcdef";
        if (*s == '_' && s > from && s[-1] != '_' && s + 1 < end) continue;
        const char *d = memchr(digits, *s >= 'A' && *s <= 'F' ? *s + 0x20 : *s, base);
        if (!d || v > (most - (uint64_t)(d - digits)) / base) return false;
        v = v * base + (uint64_t)(d - digits);
    }
    *out = negative && v ? -(int64_t)(v - 1) - 1 : (int64_t)v;
    return true;
}

/* ---- did you mean ---- */

/* Edits from a to b: insert, delete, replace, swap of neighbours. Words of an option table, so at most 63 letters. */
static unsigned distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    size_t n = strlen(a), m = strlen(b);
    if (n >= MAX || m >= MAX) return MAX;
    unsigned before[MAX], last[MAX], row[MAX];
    for (size_t j = 0; j <= m; j++) last[j] = before[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned d = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < d) d = last[j] + 1;
            if (row[j - 1] + 1 < d) d = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < d)
                d = before[j - 2] + 1;
            row[j] = d;
        }
        memcpy(before, last, sizeof last);
        memcpy(last, row, sizeof row);
    }
    return last[m];
}

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    unsigned limit = (unsigned)(strlen(word) + 2) / 3; /* a third of the letters may be wrong */
    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(word, words[i]);
        if (d > limit || d >= strlen(words[i])) continue;
        if (d == limit && best) continue;
        best = words[i];
        limit = d;
    }
    return best;
}
