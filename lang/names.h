/* Interned identifiers: equal text <=> equal id. Id 0 is "no name". */
#ifndef LANG_NAMES_H
#define LANG_NAMES_H

#include "lang/arena.h"

typedef uint32_t Name;
typedef struct Names Names;

Names *names_new(Arena *a);
Name names_intern(Names *n, const char *s, size_t len);
Name names_find(const Names *n, const char *s, size_t len); /* 0 if never interned */
const char *names_text(const Names *n, Name id);            /* 0-terminated; "" for 0 */
uint32_t names_count(const Names *n);                       /* ids are 1 .. count */

/* Spelling distance for did-you-mean (Damerau-Levenshtein, bounded). */
unsigned spelling_distance(const char *a, const char *b);
/* The candidate nearest to s that is near enough to suggest, or NULL. */
const char *spelling_nearest(const char *s, const char *const *candidates, size_t n);

#endif
