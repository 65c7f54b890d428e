/* What the paths of sources are called in what is made. */
#ifndef PTXGEN_PATHS_H
#define PTXGEN_PATHS_H

#include "lang/arena.h"

typedef struct PathMaps { /* of tilecc_options */
    const char *const *maps; /* "OLD=NEW" */
    size_t n;
} PathMaps;

/* The path of a source as PTX and manifests say it: with NEW for OLD where it begins with a mapped folder, or is one (of several
 * maps the last); else relative to the folder of the main source, so that it doesn't depend on where the compiler is
 * called. What is no path, such as the name of a file of the library, or of a text in memory, stays. */
const char *path_recorded(Arena *a, PathMaps by, const char *main, const char *path);

#endif
