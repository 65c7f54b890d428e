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

void complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("tilecc: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void *must_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p) {
        complain("out of memory");
        exit(EXIT_ENVIRONMENT);
    }
    return p;
}

char *read_file(const char *path, size_t *size)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (!f) {
        complain("can't read '%s': %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    size_t n = 0, room = 0;
    for (;;) {
        if (room - n < 2) {
            size_t more = room ? room * 2 : 65536;
            char *grown = more > room ? realloc(text, more) : NULL;
            if (!grown) {
                errno = ENOMEM;
                break;
            }
            text = grown;
            room = more;
        }
        size_t got = fread(text + n, 1, room - n - 1, f);
        n += got;
        if (got > 0) continue;
        if (ferror(f)) break;
        text[n] = 0;
        *size = n;
        if (!standard) fclose(f);
        return text;
    }
    complain("can't read '%s': %s", standard ? "standard input" : path, strerror(errno));
    free(text);
    if (!standard) fclose(f);
    return NULL;
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
    char *path, *temp;
} Pending;

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
    size_t n = strlen(p->path) + sizeof ".XXXXXX";
    p->temp = must_alloc(n);
    snprintf(p->temp, n, "%s.XXXXXX", p->path);
    int fd = mkstemp(p->temp);
    if (fd < 0) {
        int error = errno;
        free(p->temp);
        p->temp = NULL;
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
    Pending *pending = must_alloc(n * sizeof *pending);
    memset(pending, 0, n * sizeof *pending);
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
        free(pending[i].temp);
        pending[i].temp = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (pending[i].temp) unlink(pending[i].temp);
        free(pending[i].temp);
        free(pending[i].path);
    }
    free(pending);
    return ok;
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
