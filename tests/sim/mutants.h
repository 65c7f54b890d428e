/* Small wrong changes of a PTX program, made line by line.
 *
 * In: the text of a PTX file and the names of its kernels that run. Out: one text per mutant, with an id `KIND:N` - the
 * N-th place of the program where the kind applies, so that an id survives changes elsewhere in the text.
 *
 * Only lines inside the bodies of those kernels change; one instruction per line is assumed, as the compiler and the
 * programs of this folder write them. What the kinds do is said at the tables of mutants.c.
 */
#ifndef TESTS_SIM_MUTANTS_H
#define TESTS_SIM_MUTANTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Mutant {
    char id[40];
    int line;        /* from 1, of the original */
    const char *was; /* that line */
    const char *text;
    size_t size;
} Mutant;

/* Calls `each` for every mutant; what it is given lives as long as the call. */
void mutants_make(const char *text, const char *const *kernels, int nkernels, void (*each)(void *user, const Mutant *m),
                  void *user);

#endif
