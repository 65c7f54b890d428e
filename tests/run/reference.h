/* Arrays of reference.c and reference_sums.c. */
#ifndef RUN_REFERENCE_H
#define RUN_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#define RANK 8
typedef struct Array {
    char type[8]; /* "<u2" */
    int size, rank;
    long shape[RANK];
    size_t count;
    unsigned char *data;
} Array;

_Noreturn void fail(const char *what, const char *path);
Array load(const char *path);
Array new_array(const char *type, const char *shape, const char *path); /* "f4", "3,5"; its data is not set */
void save(const Array *a, const char *path);
uint64_t random_bits(uint64_t *state);
int differ(const Array *out, size_t i, const unsigned char *want); /* 1 and a line where element i is not `want` */
int64_t integer(const Array *a, size_t i);

/* ---- reference_sums.c: commands, with their arguments ---- */
int small(char **v);
int sum(char **v);
int scatter_add(char **v);
int convert(char **v);
int reduction(char **v);
int floats(char **v);
int scattered(char **v);

/* ---- reference_fills.c ---- */
int some_bytes(char **v), six_bits(char **v), a_byte_each(char **v), masks(char **v), told(char **v), spread(char **v), added(char **v), turns(char **v);
int framed(char **v), first(char **v), striped(char **v), bordered(char **v), halves(char **v), biased(char **v), more(char **v), topped(char **v), exchanged(char **v);

/* ---- reference_columns.c ---- */
int columns(char **v), folded(char **v), tiled(char **v);

/* ---- reference_numbers.c ---- */
int edges(char **v);
int converted_all(char **v);
int quotients(char **v);

/* ---- reference_tmem.c ---- */
int lanes(char **v);
int pieces(char **v);
int slide(char **v);
int tcgen(char **v);

/* ---- reference_groups.c ---- */
int make_numbers(char **v);
int groups(char **v);
int firsts(char **v);
int matrices(char **v);
int turned(char **v);
int bumped(char **v);

/* ---- reference_im2col.c ---- */
int im2col(char **v);
int col2im(char **v);
int slices(char **v);
int unslice(char **v);
int by_mask(char **v);
int w_rows(char **v);
int w_steps(char **v);

#endif
