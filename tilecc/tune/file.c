/* The tune file: lines of text, which the compiler reads (frontend/tune.c). What it says of other kernels and GPUs stays, comments too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/tune/tune.h"

static const char HEAD[] = "# Which schedule a kernel has on which GPU, by the bytes that a launch moves. Written by tilecc tune, read when the program is compiled.\n";

/* Behind blanks and `word`; NULL, as of p that is NULL: something else stands there. */
static const char *behind(const char *p, const char *word)
{
    size_t n = strlen(word);
    if (p) p += strspn(p, " \t\r");
    return p && strncmp(p, word, n) == 0 ? p + n : NULL;
}

/* The line as the compiler reads it, however it is spaced. */
static bool is_of(const char *line, const char *kernel, const char *quoted)
{
    if (strncmp(line, "\xef\xbb\xbf", 3) == 0) line += 3;
    const char *p = behind(line, kernel);
    p = p && strchr(" \t\r", *p) ? behind(p, "on") : NULL;
    return behind(p && strchr(" \t\r", *p) ? p : NULL, quoted) != NULL;
}

char *tune_file(const char *old, const char *kernel, const char *gpu, const Candidate *v, const Choices *c)
{
    size_t head = strlen(kernel) + strlen(gpu) + 64, room = (old ? strlen(old) : sizeof HEAD) + 2, n = 0;
    for (size_t i = 0; i < c->n; i++) room += head + strlen(v[c->v[i].candidate].schedule);
    char *own = printed("%s on \"%s\" from ", kernel, gpu), *quoted = printed("\"%s\"", gpu), *out = must_alloc(room);
    out[0] = 0;
    if (!old) n = (size_t)snprintf(out, room, "%s", HEAD);
    for (const char *line = old; line && *line;) {
        size_t length = strcspn(line, "\n");
        if (!is_of(line, kernel, quoted)) n += (size_t)snprintf(out + n, room - n, "%.*s\n", (int)length, line);
        line += length + (line[length] != 0);
    }
    for (size_t i = 0; i < c->n; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%" PRId64 ": %s\n", own, c->v[i].from, v[c->v[i].candidate].schedule);
    free(own);
    free(quoted);
    return out;
}
