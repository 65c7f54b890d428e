#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tilecc/cli.h"
#include "tilecc/run/npy.h"
#include "tilecc/test/test.h"

/* ---- texts ---- */

static bool put_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(text, 1, n, f) == n;
    return fclose(f) == 0 && ok;
}

/* What diff(1) says of two files; 2 and more: it could not. */
static int run_diff(TestFile *t, const char *label, const char *a, const char *b)
{
    fflush(t->why);
    pid_t pid = fork();
    if (pid < 0) return 2;
    if (pid == 0) {
        char from[512], to[512];
        snprintf(from, sizeof from, "%s, expected", label);
        snprintf(to, sizeof to, "%s, now", label);
        dup2(fileno(t->why), 1);
        dup2(fileno(t->why), 2);
        execlp("diff", "diff", "-u", "--label", from, "--label", to, a, b, (char *)NULL);
        _exit(127);
    }
    int status;
    if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status)) return 2;
    fseek(t->why, 0, SEEK_END);
    return WEXITSTATUS(status);
}

/* Without diff(1): the first line that is another one. */
static void first_difference(TestFile *t, const char *label, const char *a, size_t n, const char *b, size_t m)
{
    size_t at = 0, line = 1, from = 0;
    for (; at < n && at < m && a[at] == b[at]; at++) {
        if (a[at] != '\n') continue;
        line++;
        from = at + 1;
    }
    int x = (int)strcspn(a + from, "\n"), y = (int)strcspn(b + from, "\n");
    fprintf(t->why, "%s differs from line %zu on\n-%.*s\n+%.*s\n", label, line, x, a + from, y, b + from);
}

/* Text without CR in front of LF; its length. */
static size_t unix_lines(char *s, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] != '\r' || s[i + 1] != '\n') s[k++] = s[i];
    return k;
}

/* A version control that changes line ends makes a diff in which all lines differ and look the same. */
static bool differ_in_ends_alone(const char *a, size_t n, const char *b, size_t m)
{
    char *x = copy_text(a, n), *y = copy_text(b, m);
    size_t i = unix_lines(x, n), k = unix_lines(y, m);
    bool same = i == k && memcmp(x, y, i) == 0;
    free(x);
    free(y);
    return same;
}

void test_texts(TestFile *t, const char *label, const char *expected, size_t n, const char *actual, size_t m)
{
    if (n == m && memcmp(expected, actual, n) == 0) return;
    if (differ_in_ends_alone(expected, n, actual, m)) {
        fprintf(t->why, "%s differs in its line ends alone: CR LF for LF\n", label);
        return;
    }
    char a[4096], b[4096];
    snprintf(a, sizeof a, "%s/expected", t->work);
    snprintf(b, sizeof b, "%s/now", t->work);
    if (!put_file(a, expected, n) || !put_file(b, actual, m) || run_diff(t, label, a, b) > 1)
        first_difference(t, label, expected, n, actual, m);
}

/* ---- arrays ---- */

typedef struct Array {
    char *file;
    NpyArray npy;
    size_t size, n; /* of an element, in bytes; how many there are */
} Array;

static bool open_array(TestFile *t, const char *path, Array *a)
{
    char why[NPY_WHY];
    size_t size;
    *a = (Array){.file = read_file_as(path, &size, npy_needs)};
    if (a->file == NULL) {
        fprintf(t->why, "can't read %s\n", path);
        return false;
    }
    if (!npy_read(a->file, size, &a->npy, why)) {
        fprintf(t->why, "%s %s\n", path, why);
        return false;
    }
    a->n = 1;
    for (int i = 0; i < a->npy.rank; i++) a->n *= (size_t)a->npy.shape[i];
    a->size = a->n ? a->npy.bytes / a->n : 0;
    return true;
}

static void put_shape(FILE *out, const NpyArray *a)
{
    fprintf(out, "%s[", a->descr);
    for (int i = 0; i < a->rank; i++) fprintf(out, "%s%" PRId64, i ? "," : "", a->shape[i]);
    fputc(']', out);
}

static bool same_shape(const NpyArray *a, const NpyArray *b)
{
    bool same = a->rank == b->rank && a->bytes == b->bytes;
    for (int i = 0; same && i < a->rank; i++) same = a->shape[i] == b->shape[i];
    return same && (npy_dtype_fits(a->descr, b->descr, true) || npy_dtype_fits(b->descr, a->descr, true));
}

static void put_place(FILE *out, const NpyArray *a, size_t i)
{
    int64_t at[NPY_RANK];
    for (int d = a->rank; d-- > 0; i /= (size_t)a->shape[d]) at[d] = (int64_t)(i % (size_t)a->shape[d]);
    fputc('[', out);
    for (int d = 0; d < a->rank; d++) fprintf(out, "%s%" PRId64, d ? ", " : "", at[d]);
    fputc(']', out);
}

/* Of numbers of NumPy the number, of all its bits. */
static void put_element(FILE *out, const Array *a, size_t i)
{
    const unsigned char *p = (const unsigned char *)a->file + a->npy.offset + i * a->size;
    const char *kind = a->npy.descr;
    float f;
    double d;
    if (strcmp(kind, "<f4") == 0) {
        memcpy(&f, p, sizeof f);
        fprintf(out, "%.9g, ", (double)f);
    } else if (strcmp(kind, "<f8") == 0) {
        memcpy(&d, p, sizeof d);
        fprintf(out, "%.17g, ", d);
    }
    fputs("0x", out);
    for (size_t b = a->size; b-- > 0;) fprintf(out, "%02x", p[b]);
}

enum { SHOWN = 8 };

void test_arrays(TestFile *t, const char *label, const char *expected, const char *actual)
{
    Array a = {0}, b = {0};
    if (open_array(t, expected, &a) && open_array(t, actual, &b)) {
        size_t different = 0;
        if (!same_shape(&a.npy, &b.npy)) {
            fprintf(t->why, "%s is ", label);
            put_shape(t->why, &b.npy);
            fputs(", expected ", t->why);
            put_shape(t->why, &a.npy);
            fputc('\n', t->why);
        } else {
            const char *x = a.file + a.npy.offset, *y = b.file + b.npy.offset;
            for (size_t i = 0; i < a.n; i++) {
                if (memcmp(x + i * a.size, y + i * a.size, a.size) == 0) continue;
                if (different++ >= SHOWN) continue;
                fprintf(t->why, "%s", label);
                put_place(t->why, &a.npy, i);
                fputs(" is ", t->why);
                put_element(t->why, &b, i);
                fputs(", expected ", t->why);
                put_element(t->why, &a, i);
                fputc('\n', t->why);
            }
            if (different) fprintf(t->why, "%zu of %zu elements of %s differ\n", different, a.n, label);
        }
    }
    free(a.file);
    free(b.file);
}
