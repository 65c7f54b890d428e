/* What a device works with on the host: the memory and the log that the caller gave it (tile_options), for it and all that is made on it.
 *
 * Invariant: `p` of host_resize and host_free is from the same Host, or NULL. A NULL Host: the C library's memory, and nobody is told.
 */
#ifndef RUNTIME_HOST_H
#define RUNTIME_HOST_H

#include <stdbool.h>

#include "lang/arena.h"

typedef struct Host {
    MemRealloc realloc; /* NULL: the C library's */
    void (*log)(void *user, const char *text); /* NULL: nobody is told */
    void *user;
} Host;

/* NULL: no memory. */
void *host_zeros(const Host *h, size_t n, size_t size);
void *host_resize(const Host *h, void *p, size_t n);
void host_free(const Host *h, void *p);
/* Of memory that jumps to a `fail` point. */
static inline Mem host_mem(const Host *h)
{
    return (Mem){.realloc = h ? h->realloc : NULL, .user = h ? h->user : NULL};
}

/* One line without its end. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void host_log(const Host *h, const char *fmt, ...);

#endif
