#include "runtime/host.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *host_zeros(const Host *h, size_t n, size_t size)
{
    if (!h || !h->realloc) return calloc(n, size); /* pages that nobody touches cost nothing */
    if (size && n > SIZE_MAX / size) return NULL;
    void *p = host_resize(h, NULL, n * size);
    return p ? memset(p, 0, n * size) : NULL;
}

void *host_resize(const Host *h, void *p, size_t n)
{
    if (n == 0) n = 1;
    return h && h->realloc ? h->realloc(h->user, p, n) : realloc(p, n);
}

void host_free(const Host *h, void *p)
{
    if (!h || !h->realloc) free(p);
    else if (p) h->realloc(h->user, p, 0);
}

void host_log(const Host *h, const char *fmt, ...)
{
    char text[1024];
    if (!h || !h->log) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n') text[--n] = 0;
    h->log(h->user, text);
}
