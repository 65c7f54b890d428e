/* Layout of the manifest's words, version 3. Private to manifest*.c.
 *
 *   0  MANIFEST_MAGIC
 *   1  MANIFEST_VERSION
 *   2  number of words, these four included
 *   3  XXH64 (seed 0) of the words from 4 on, little-endian
 *   4  bytes of text, then that text padded to whole words; strings are (length, offset) in it,
 *      each followed by a zero byte
 *      compiler, target, source, source hash, number of kernels, then kernel after kernel, each field in the order
 *      of the structs in manifest.h, each list with its length first
 *
 * Small fields share a word, lowest bits first. Error codes travel as (letter, number) because their enumerators
 * move when rows are added to errors.def.
 */
#ifndef LANG_MANIFEST_WORDS_H
#define LANG_MANIFEST_WORDS_H

#include "lang/manifest/manifest.h"

enum { MF_HEAD = 4, MF_OPERAND_BITS = 28 };

uint64_t manifest_checksum(const uint64_t *w, size_t n);

#endif
