/* What a tensor holds that no file gives: the word behind `~` in name=type[extents]~WORD. */
#ifndef TILECC_CONTENTS_H
#define TILECC_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"

typedef enum ContentsKind { CONTENTS_RANDOM, CONTENTS_BELOW, CONTENTS_ZEROS, CONTENTS_IOTA, CONTENTS_PERM } ContentsKind;
typedef struct Contents {
    ContentsKind kind;
    uint64_t seed;
    uint64_t below; /* CONTENTS_BELOW: numbers 0 .. below - 1 */
} Contents;

/* "7" (any numbers, finite ones, by that seed), "7%100" (whole numbers below 100), "zeros", "iota" (0, 1, 2, .. as far as the type
 * counts exactly, then again), "perm" or "perm7" (each of 0 .. n - 1 once). False: it is none of these. */
bool contents_parse(const char *word, size_t n, Contents *out);
/* `bytes` bytes, n elements, of the type. The same on every machine. */
void contents_fill(const Contents *c, tile_type t, void *to, size_t n, size_t bytes);

#endif
