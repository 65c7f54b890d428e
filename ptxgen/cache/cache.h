/* The disk cache of what was compiled (tilecc_options.cache): PTX by what it was made from, cubins by their PTX and assembler.
 *
 *   keys.c      what something is made from, as one SHA-256: sources, options,
 *   programs.c  and the compiler itself, and the assembler
 *   cache.c     an entry is read and checked, or written
 *   folder.c    where the cache lies, how large it may be, and what is there: counted, checked, thrown out
 *
 * An entry is one file, named by its key, with its key and a SHA-256 of everything inside. It is written beside its place and
 * renamed, so that who reads sees all of it or nothing; what is damaged all the same is removed and made anew. Nobody waits
 * for anybody: two processes that make one thing write it twice, and one that reads what another removes has its file open.
 * Nothing here is an error: where something can't be done the compiler goes on without it, and `said` has why.
 */
#ifndef PTXGEN_CACHE_CACHE_H
#define PTXGEN_CACHE_CACHE_H

#include <stdbool.h>

#include "lang/diag/source.h"
#include "ptxgen/cache/sha256.h"
#include "tilecc.h"

/* ---- keys ---- */

/* A list of texts and numbers, each with its length, so that different lists are different bytes. */
typedef struct CacheKey {
    Sha256 hash;
    const char *unknown; /* something that it should say and that can't be known: it is no key. NULL: it is one */
} CacheKey;

void key_begin(CacheKey *k, const char *kind); /* the kind, and the compiler */
/* All that PTX, and what is said on the way to it, depends on. */
void key_ptx(CacheKey *k, const tilecc_options *o, const char *target, const Sources *sources);
void key_bytes(CacheKey *k, const void *p, size_t n);
void key_text(CacheKey *k, const char *s); /* NULL is another than "" */
void key_number(CacheKey *k, uint64_t n);
void key_program(CacheKey *k, const char *path);      /* an executable or a library, as it is now */
void key_program_of(CacheKey *k, const void *code); /* the one that has this code */

/* ---- entries ---- */

enum { CACHE_NAME = 2 * SHA256_BYTES, CACHE_PATH = 4096, CACHE_SAID = 256 };

typedef struct Cache {
    int folder;     /* open; -1: there is none */
    uint64_t limit; /* bytes of all entries */
    char path[CACHE_PATH], said[CACHE_SAID];
    char off[CACHE_SAID]; /* what TILECC_CACHE is, where that switches it off; else "" */
} Cache;

typedef struct CacheEntry {
    char *block; /* what the others point into, of the Mem; NULL: not from the cache */
    const char *output, *note; /* 0-terminated */
    uint64_t output_size, note_size, number;
} CacheEntry;

/* compiles: TILECC_CACHE may switch it off, and where there is no folder one is made. Where it can't be used `folder`
 * is -1, and said has why, or is "" where nobody wants it. */
void cache_open(Cache *c, bool compiles);
void cache_close(Cache *c);
/* false: there is none that is whole. The entry's block is the caller's, to be freed by mem_free(). Jumps nowhere. */
bool cache_get(Cache *c, Mem *m, const CacheKey *k, CacheEntry *out);
bool cache_put(Cache *c, const CacheKey *k, const CacheEntry *e); /* false: it was not kept */

/* ---- the folder ---- */

/* The least recently used go until the others take up less than the limit, by a sixteenth at least. */
void cache_trim(Cache *c);
/* Is the file an entry of this name, whole? NULL out: only looked at. false: *damaged, or it can't be read. */
bool cache_read(const Cache *c, const char *name, Mem *m, CacheEntry *out, bool *damaged);
bool cache_remove(const Cache *c, const char *name); /* also an empty folder of that name */

#endif
