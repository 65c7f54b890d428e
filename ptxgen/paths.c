#include "ptxgen/paths.h"

#include <string.h>
#include <unistd.h>

/* ---- maps ---- */

/* What follows the folder in the path; NULL: it does not lie there. */
static const char *behind(const char *path, const char *folder, size_t n)
{
    while (n > 1 && folder[n - 1] == '/') n--;
    if (n == 0 || strncmp(path, folder, n) != 0) return NULL;
    return path[n] == 0 || path[n] == '/' || folder[n - 1] == '/' ? path + n : NULL;
}

static const char *mapped(Arena *a, PathMaps by, const char *path)
{
    for (size_t i = by.n; i-- > 0;) {
        const char *map = by.maps[i], *equals = strchr(map, '='), *rest;
        if (equals == NULL || (rest = behind(path, map, (size_t)(equals - map))) == NULL) continue;
        const char *to = equals + 1;
        int whole = *to && to[strlen(to) - 1] != '/' && *rest;
        while (*rest == '/') rest++;
        return arena_printf(a, "%s%s%s", to, whole ? "/" : "", rest); /* where NEW is empty, relative to that folder */
    }
    return NULL;
}

/* ---- relative to a folder ---- */

typedef struct Parts {
    VEC(const char *) part;
} Parts;

/* The names between slashes, without `.` and with what `..` leaves away. */
static void split(Arena *a, Parts *p, const char *path)
{
    for (const char *end; *path; path = *end ? end + 1 : end) {
        end = path + strcspn(path, "/");
        size_t n = (size_t)(end - path);
        if (n == 0 || (n == 1 && path[0] == '.')) continue;
        if (n == 2 && path[0] == '.' && path[1] == '.') p->part.n -= p->part.n > 0;
        else vec_push(a, &p->part, arena_strdup(a, path, n));
    }
}

static Parts whole(Arena *a, const char *here, const char *path)
{
    Parts p = {0};
    if (path[0] != '/') split(a, &p, here);
    split(a, &p, path);
    return p;
}

static const char *relative(Arena *a, const char *main, const char *path)
{
    char here[4096];
    if (getcwd(here, sizeof here) == NULL) return path;
    Parts from = whole(a, here, main), to = whole(a, here, path);
    if (from.part.n == 0 || to.part.n == 0) return path;
    uint32_t same = 0;
    while (same + 1 < from.part.n && same + 1 < to.part.n && strcmp(from.part.v[same], to.part.v[same]) == 0) same++;
    const char *out = "";
    for (uint32_t i = same; i + 1 < from.part.n; i++) out = arena_printf(a, "../%s", out);
    for (uint32_t i = same; i < to.part.n; i++) out = arena_printf(a, "%s%s%s", out, to.part.v[i], i + 1 < to.part.n ? "/" : "");
    return out;
}

const char *path_recorded(Arena *a, PathMaps by, const char *main, const char *path)
{
    const char *by_map = mapped(a, by, path);
    return by_map ? by_map : relative(a, main, path);
}
