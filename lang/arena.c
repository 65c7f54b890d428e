#include "lang/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif

/* Under AddressSanitizer every allocation is followed by poisoned bytes and free room is poisoned, so that an
 * overrun of an arena object is found like one of a heap object. */
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define RED_ZONE 16u
#define poison(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define unpoison(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define RED_ZONE 0u
#define poison(p, n) ((void)(p), (void)(n))
#define unpoison(p, n) ((void)(p), (void)(n))
#endif

enum { CHUNK_FIRST = 16 * 1024, CHUNK_MAX = 1024 * 1024, CHUNK_KEPT = 256 * 1024, LARGE = 128 * 1024 };

/* Nothing in a compilation is as large: such a size comes from an overflow or a damaged file. */
#define MEM_MAX (UINT64_C(1) << 38)

#define ALIGN _Alignof(max_align_t)

struct ArenaChunk {
    ArenaChunk *older;
    size_t size; /* bytes behind the header */
    _Alignas(ALIGN) char data[];
};

static void *std_realloc(void *user, void *p, size_t n)
{
    (void)user;
    if (n == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, n);
}

void *mem_resize(Mem *m, void *p, size_t n)
{
    void *q = NULL;
    if (n <= PTRDIFF_MAX && n <= MEM_MAX) q = (m->realloc ? m->realloc : std_realloc)(m->user, p, n);
    if (q == NULL) {
        if (m->fail == NULL) abort(); /* contract of arena.h: the library's entry function sets it */
        longjmp(*m->fail, 1);
    }
    return q;
}

void *mem_grow(Mem *m, void *v, uint32_t *cap, uint32_t n, size_t size)
{
    if (n <= *cap) return v;
    uint32_t now = *cap ? *cap : 32;
    while (now < n) now = now > UINT32_MAX / 2 ? UINT32_MAX : now * 2;
    v = mem_resize(m, v, arena_bytes(now, size));
    *cap = now;
    return v;
}

void mem_free(Mem *m, void *p)
{
    if (p) (m->realloc ? m->realloc : std_realloc)(m->user, p, 0);
}

void arena_init(Arena *a, Mem *mem)
{
    *a = (Arena){.mem = mem};
}

static void drop_newest(Arena *a)
{
    ArenaChunk *c = a->chunk;
    a->chunk = c->older;
    unpoison(c->data, c->size);
    mem_free(a->mem, c);
}

void arena_borrow(Arena *a, Arena *from)
{
    *a = (Arena){.mem = from->mem, .lender = from};
}

static void drop_large(Arena *a, uint32_t down_to)
{
    for (; a->nlarge > down_to; a->nlarge--) {
        ArenaChunk *c = a->large;
        a->large = c->older;
        mem_free(a->mem, c);
    }
}

static void keep(Arena *a, ArenaChunk *c)
{
    poison(c->data, c->size);
    c->older = a->spare;
    a->spare = c;
}

static void keep_newest(Arena *a, Arena *by)
{
    ArenaChunk *c = a->chunk;
    a->chunk = c->older;
    keep(by, c);
}

void arena_free(Arena *a)
{
    drop_large(a, 0);
    for (int i = 0; i < 2; i++) {
        while (a->chunk && a->lender) keep_newest(a, a->lender);
        while (a->chunk) drop_newest(a);
        a->chunk = a->spare;
        a->spare = NULL;
    }
    a->at = a->end = NULL;
}

void arena_within(Arena *a, void (*what)(void *to), void *to)
{
    Mem *mem = a->mem;
    jmp_buf here, *outer = mem->fail;
    bool failed = setjmp(here) != 0;
    mem->fail = &here;
    if (!failed) what(to);
    arena_free(a);
    mem->fail = outer;
    if (failed && outer) longjmp(*outer, 1);
}

/* A chunk that was kept, or NULL. */
static ArenaChunk *take_spare(Arena *a, size_t need)
{
    ArenaChunk **at = &a->spare;
    while (*at && (*at)->size < need) at = &(*at)->older;
    ArenaChunk *c = *at;
    if (c) *at = c->older;
    return c || a->lender == NULL ? c : take_spare(a->lender, need);
}

static ArenaChunk *new_chunk(Arena *a, size_t need)
{
    size_t size = CHUNK_FIRST;
    if (a->chunk) size = a->chunk->size < CHUNK_MAX / 2 ? a->chunk->size * 2 : CHUNK_MAX;
    if (size < need) size = need;
    if (size > PTRDIFF_MAX - sizeof(ArenaChunk)) size = PTRDIFF_MAX; /* mem_resize refuses the sum below */
    ArenaChunk *c = mem_resize(a->mem, NULL, sizeof(ArenaChunk) + size);
    c->size = size;
    return c;
}

static void add_chunk(Arena *a, size_t need)
{
    ArenaChunk *c = take_spare(a, need);
    if (c == NULL) c = new_chunk(a, need);
    c->older = a->chunk;
    a->chunk = c;
    a->at = c->data;
    a->end = c->data + c->size;
    poison(a->at, c->size);
}

/* What n bytes take: whole units, so that the next one is aligned. */
static size_t step_of(size_t n)
{
    if (n > PTRDIFF_MAX - 2 * ALIGN - RED_ZONE) n = PTRDIFF_MAX - 2 * ALIGN - RED_ZONE;
    size_t step = ((n + ALIGN - 1) & ~(size_t)(ALIGN - 1)) + RED_ZONE;
    return step ? step : ALIGN; /* distinct addresses also for empty objects */
}

/* Room for n bytes that are not zeroed. */
static char *take(Arena *a, size_t n)
{
    size_t step = step_of(n);
    if ((size_t)(a->end - a->at) < step) add_chunk(a, step);
    char *p = a->at;
    a->at += step;
    unpoison(p, n);
    return p;
}

void *arena_grow(Arena *a, void *p, size_t was, size_t n)
{
    char *from = p;
    size_t step = step_of(n);
    if (p && from + step_of(was) == a->at && (size_t)(a->end - from) >= step) {
        a->at = from + step;
        poison(from, was);
        unpoison(from, n);
        return p;
    }
    if (n < was) return p;
    char *q = take(a, n);
    return was ? memcpy(q, p, was) : q;
}

void *arena_alloc(Arena *a, size_t n)
{
    return memset(take(a, n), 0, n);
}

char *arena_strdup(Arena *a, const char *s, size_t n)
{
    char *p = take(a, n == SIZE_MAX ? n : n + 1);
    if (n) memcpy(p, s, n);
    p[n] = 0;
    return p;
}

char *arena_vprintf(Arena *a, const char *fmt, va_list ap)
{
    char shown[256]; /* most texts are written once */
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(shown, sizeof shown, fmt, ap);
    char *p;
    if (n < (int)sizeof shown) {
        p = arena_strdup(a, shown, n < 0 ? 0 : (size_t)n);
    } else {
        p = take(a, (size_t)n + 1);
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return p;
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

ArenaMark arena_mark(const Arena *a)
{
    return (ArenaMark){a->chunk, a->at, a->nlarge};
}

void arena_release(Arena *a, ArenaMark m)
{
    drop_large(a, m.nlarge);
    while (a->chunk != m.chunk) keep_newest(a, a);
    a->at = m.at;
    a->end = m.chunk ? m.chunk->data + m.chunk->size : NULL;
    if (a->chunk) poison(a->at, (size_t)(a->end - a->at));
}

void arena_clear(Arena *a)
{
    ArenaChunk *of[] = {a->chunk, a->spare};
    drop_large(a, 0);
    a->chunk = a->spare = NULL;
    a->at = a->end = NULL;
    for (int i = 0; i < 2; i++)
        for (ArenaChunk *c = of[i], *older; c; c = older) {
            older = c->older;
            keep(a, c);
            if (c->size <= CHUNK_KEPT) continue;
            a->spare = c->older;
            unpoison(c->data, c->size);
            mem_free(a->mem, c);
        }
}

/* In a chunk of its own: as it goes on growing it leaves nothing behind. */
static void *large_grow(Arena *a, void *v, size_t was, size_t n)
{
    ArenaChunk **at = &a->large;
    while (*at && (void *)(*at)->data != v) at = &(*at)->older;
    bool own = *at != NULL;
    if (n > MEM_MAX) n = MEM_MAX; /* mem_resize refuses the sum below */
    ArenaChunk *c = mem_resize(a->mem, *at, sizeof *c + n);
    c->size = n;
    if (own) {
        *at = c;
    } else {
        memcpy(c->data, v, was);
        c->older = a->large;
        a->large = c;
        a->nlarge++;
    }
    return c->data;
}

void *vec_grow(Arena *a, void *v, uint32_t *cap, size_t size)
{
    uint32_t old = *cap;
    if (old > UINT32_MAX / 2) take(a, SIZE_MAX); /* jumps */
    uint32_t now = old ? old * 2 : size <= 32 ? 8 : size <= 256 ? 4 : 1;
    size_t was = old * size, n = arena_bytes(now, size);
    v = was < LARGE ? arena_grow(a, v, was, n) : large_grow(a, v, was, n);
    *cap = now;
    return v;
}
