/* Texts that the program carries along: the files of `new/`, and libtile as one C file, `driver.c`. */
#ifndef TILECC_EMBEDDED_H
#define TILECC_EMBEDDED_H

#include <stddef.h>

typedef struct Embedded {
    const char *name; /* "use.c" */
    const char *text; /* and a 0 behind it */
    size_t size;
} Embedded;
extern const Embedded embedded_files[]; /* ends with a NULL name */
const Embedded *embedded_find(const char *name); /* of those that there are */

#endif
