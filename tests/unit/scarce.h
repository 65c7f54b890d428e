/* An allocator of the host one of whose allocations fails, or all from that one on; it counts them. */
#ifndef TESTS_UNIT_SCARCE_H
#define TESTS_UNIT_SCARCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct Scarce {
    long refused; /* the allocation of this number, from 1 on; 0: none */
    bool behind;  /* .. and all behind it */
    long made, live;
} Scarce;

static inline void *scarce_realloc(void *user, void *p, size_t n)
{
    Scarce *s = user;
    if (n == 0) {
        if (p) s->live--;
        free(p);
        return NULL;
    }
    s->made++;
    if (s->made == s->refused || (s->behind && s->made > s->refused)) return NULL;
    void *q = realloc(p, n);
    if (q && p == NULL) s->live++;
    return q;
}

#endif
