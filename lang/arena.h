/* Memory for one compilation.
 *
 * Everything that a compilation makes lives in arenas: nothing is freed one by one. An arena takes its
 * chunks from the caller's allocator; when that fails it jumps to the `fail` point set by the library's
 * entry function, so no pass has to check for NULL. Marks give memory back in stack order (one kernel's
 * IR is dropped before the next kernel is lowered).
 */
#ifndef LANG_ARENA_H
#define LANG_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of functions that report what is wrong: what leads to them is kept out of the way of what is right. */
#if defined(__GNUC__)
#define COLD __attribute__((cold))
#else
#define COLD
#endif

/* realloc-like: n == 0 frees p; returns NULL on failure (p stays valid). */
typedef void *(*MemRealloc)(void *user, void *p, size_t n);

typedef struct Mem {
    MemRealloc realloc; /* NULL: the C library's */
    void *user;
    jmp_buf *fail; /* taken when memory runs out; must be set while an arena or Text is in use */
} Mem;

/* n > 0; never returns NULL: jumps to m->fail. */
void *mem_resize(Mem *m, void *p, size_t n);
/* Room for n items in an array that grows by doubling, contents kept; returns where it stands now. */
void *mem_grow(Mem *m, void *v, uint32_t *cap, uint32_t n, size_t size);
void mem_free(Mem *m, void *p);

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    Mem *mem;
    ArenaChunk *chunk; /* newest first */
    ArenaChunk *spare; /* kept by arena_clear and arena_release */
    struct Arena *lender; /* NULL: the Mem */
    char *at, *end;    /* free room in the newest chunk */
    ArenaChunk *large; /* large arrays, each in a chunk of its own (vec_grow): newest first */
    uint32_t nlarge;
} Arena;
typedef struct ArenaMark {
    ArenaChunk *chunk;
    char *at;
    uint32_t nlarge;
} ArenaMark;

void arena_init(Arena *a, Mem *mem);
/* One whose chunks come from what `from` has kept, where there are some, and go there when it is freed: before `from` is. */
void arena_borrow(Arena *a, Arena *from);
void arena_free(Arena *a);
/* Does what(to), and frees the arena, also where memory runs out in it. */
void arena_within(Arena *a, void (*what)(void *to), void *to);
/* Zeroed, aligned for any type. n == 0 is allowed. */
void *arena_alloc(Arena *a, size_t n);
/* p, of `was` bytes, with n: where it stands if it is the newest or is to have fewer, else elsewhere. What is added is not zeroed;
 * what is left out is given back if it is the newest. */
void *arena_grow(Arena *a, void *p, size_t was, size_t n);
char *arena_strdup(Arena *a, const char *s, size_t n); /* adds the terminating 0 */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
char *arena_printf(Arena *a, const char *fmt, ...);
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);
ArenaMark arena_mark(const Arena *a);
void arena_release(Arena *a, ArenaMark m); /* keeps the memory, too */
void arena_clear(Arena *a); /* empty again; a little of its memory is kept for what comes next */

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), arena_bytes((n), sizeof(T))))
/* n * size; SIZE_MAX (which fails) on overflow */
static inline size_t arena_bytes(size_t n, size_t size)
{
    return size && n > SIZE_MAX / size ? SIZE_MAX : n * size;
}

/* A growing array whose storage comes from an arena: struct { T *v; uint32_t n, cap; }. It moves when it grows: what points into
 * it, or is a copy of it, then points nowhere. */
#define VEC(T)                                                                                                         \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        uint32_t n, cap;                                                                                               \
    }
/* Makes room for one more and returns its address (zeroed). */
#define vec_add(a, vec)                                                                                                \
    ((vec)->n == (vec)->cap ? (void)((vec)->v = vec_grow((a), (vec)->v, &(vec)->cap, sizeof *(vec)->v)) : (void)0,     \
     memset(&(vec)->v[(vec)->n], 0, sizeof *(vec)->v), &(vec)->v[(vec)->n++])
#define vec_push(a, vec, item) (*vec_add(a, vec) = (item))
/* It grows no more. */
#define vec_trim(a, vec)                                                                                               \
    ((vec)->v = arena_grow((a), (vec)->v, (vec)->cap * sizeof *(vec)->v, (vec)->n * sizeof *(vec)->v),                 \
     (void)((vec)->cap = (vec)->n))
void *vec_grow(Arena *a, void *v, uint32_t *cap, size_t size);

#endif
