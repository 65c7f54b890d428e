/* The standard library's sources, built into the compiler (.cmake/EmbedStdlib.cmake writes the table). */
#ifndef FRONTEND_STDLIB_EMBED_H
#define FRONTEND_STDLIB_EMBED_H

#include <stddef.h>

typedef struct StdlibFile {
    const char *module; /* "std.tiles" */
    const char *path;   /* "std/tiles.tile" */
    const char *text;   /* 0-terminated; the 0 is not counted in size */
    size_t size;
} StdlibFile;

/* In the order of their paths. */
const StdlibFile *stdlib_files(size_t *n);

#endif
