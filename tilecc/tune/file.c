/* The tune file: lines of text, which the compiler reads (frontend/tune.c). What it says of other kernels and GPUs stays, comments too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/tune/tune.h"

static const char HEAD[] = "# Which schedule a kernel has on which GPU, by the bytes that a launch moves. Written by tilecc tune, read when the program is compiled.\n";

char *tune_file(const char *old, const char *kernel, const char *gpu, const Candidate *v, const Choices *c)
{
    size_t head = strlen(kernel) + strlen(gpu) + 64, room = (old ? strlen(old) : sizeof HEAD) + 2, n = 0;
    for (size_t i = 0; i < c->n; i++) room += head + strlen(v[c->v[i].candidate].schedule);
    char *own = must_alloc(head), *out = must_alloc(room);
    snprintf(own, head, "%s on \"%s\" from ", kernel, gpu);
    out[0] = 0;
    if (!old) n = (size_t)snprintf(out, room, "%s", HEAD);
    for (const char *line = old; line && *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, own, strlen(own)) != 0) n += (size_t)snprintf(out + n, room - n, "%.*s\n", (int)length, line);
        line += length + (line[length] != 0);
    }
    for (size_t i = 0; i < c->n; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%" PRId64 ": %s\n", own, c->v[i].from, v[c->v[i].candidate].schedule);
    free(own);
    return out;
}
