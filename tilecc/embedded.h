/* Texts that the program carries along: the files of `new/`. */
#ifndef TILECC_EMBEDDED_H
#define TILECC_EMBEDDED_H

#include <stddef.h>

typedef struct Embedded {
    const char *name; /* "use.c" */
    const char *text; /* and a 0 behind it */
    size_t size;
} Embedded;
extern const Embedded embedded_files[]; /* ends with a NULL name */

#endif
