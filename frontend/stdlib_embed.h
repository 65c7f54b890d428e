/* The standard library's sources, and what `tilecc tune` has found of some, built into the compiler (.cmake/EmbedStdlib.cmake writes the table). */
#ifndef FRONTEND_STDLIB_EMBED_H
#define FRONTEND_STDLIB_EMBED_H

#include <stddef.h>

typedef struct StdlibFile {
    const char *module; /* "std.tiles" */
    const char *path;   /* "std/tiles.tile" */
    const char *text;   /* 0-terminated; the 0 is not counted in size */
    size_t size;
    const char *tune_path; /* "std/tiles.tune", of tune_size bytes; 0: there is none */
    const char *tune;
    size_t tune_size;
} StdlibFile;

/* In the order of their paths. */
const StdlibFile *stdlib_files(size_t *n);

#endif
