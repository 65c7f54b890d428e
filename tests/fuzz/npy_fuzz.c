/* Any bytes as a .npy file: it is read or refused with a reason. A file that is read no further than npy_needs() says, as tilecc reads
 * pipes, says the same as the whole one; and a header written for what was read reads as the same. */
#include <stdlib.h>
#include <string.h>

#include "tilecc/run/npy.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* In a block of its own size, so that a read beyond it is seen. */
static bool read(const unsigned char *data, size_t size, NpyArray *a, char why[NPY_WHY])
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    bool ok = npy_read(copy, size, a, why);
    free(copy);
    if (ok != (why[0] == 0)) abort();
    if (ok && (a->rank < 0 || a->rank > NPY_RANK || a->offset > size || a->bytes != size - a->offset)) abort();
    return ok;
}

static size_t needs(const unsigned char *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    size_t n = npy_needs((const char *)copy, size);
    free(copy);
    return n;
}

/* How much is read of the file; more than there is: it ends. */
static size_t read_as_needed(const unsigned char *data, size_t size)
{
    size_t have = 0, want;
    while ((want = needs(data, have)) > have) {
        if (want > size) return size;
        have = want;
    }
    return have;
}

static bool same(const NpyArray *a, const NpyArray *b)
{
    return strcmp(a->descr, b->descr) == 0 && a->rank == b->rank && memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank) == 0;
}

static void write_again(const NpyArray *a)
{
    char header[NPY_HEADER_MAX], why[NPY_WHY];
    NpyArray b;
    if (strchr(a->descr, '\'')) return; /* no dtype that is written */
    size_t n = npy_header(a->descr, a->rank, a->shape, header);
    if (n > NPY_HEADER_MAX || n % 64) abort();
    bool ok = npy_read(header, n, &b, why);
    if (ok != (a->bytes == 0) || !same(a, &b) || b.offset != n || b.bytes != a->bytes) abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    NpyArray a, b;
    char why[NPY_WHY], also[NPY_WHY];
    bool ok = read(data, size, &a, why);
    size_t n = read_as_needed(data, size);
    if (read(data, n, &b, also) != ok) abort();
    if (ok && (n != size || !same(&a, &b))) abort();
    if (ok) write_again(&a);
    return 0;
}
