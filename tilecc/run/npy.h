/* .npy files (NumPy's NEP 1, format versions 1 and 2): one array, little-endian, C order. Pure functions of bytes;
 * any bytes may come in. */
#ifndef TILECC_NPY_H
#define TILECC_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_RANK = 8, NPY_DESCR = 16, NPY_HEADER_MAX = 512, NPY_WHY = 256 };

typedef struct NpyArray {
    char descr[NPY_DESCR]; /* "<f4" */
    int rank;
    int64_t shape[NPY_RANK];
    size_t offset, bytes; /* of the data in the file */
} NpyArray;

/* False: why holds a clause that goes behind the file's name, e.g. "is in Fortran order; ...". */
bool npy_read(const void *file, size_t size, NpyArray *out, char why[NPY_WHY]);
/* How many bytes of a file must be read, as far as the first ones tell: the magic, the header, the data and one more byte
 * if there is one. Not more than `size`: that is all. */
size_t npy_needs(const char *file, size_t size);
/* Writes the header of an array into buf and returns its length. */
size_t npy_header(const char *descr, int rank, const int64_t *shape, char buf[NPY_HEADER_MAX]);
/* Does an array of type `descr` hold elements of the type whose dtype is `want`? stored_raw: NumPy lacks the type, so
 * packages that add it (ml_dtypes) store raw bytes ("<V2") where others store unsigned integers. */
bool npy_dtype_fits(const char *descr, const char *want, bool stored_raw);

#endif
