/* Any bytes as a cubin or PTX, and, behind a head that is right, as the words of a launch manifest, alone and inside a cubin: nothing may
 * crash, a cubin gives what its words give, and what was read is written and read again as the same words. */
#include <stdlib.h>
#include <string.h>

#include "lang/manifest/words.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Sections of a cubin: none, the words, symbols, strings; then the table of the four. */
enum { EHDR = 64, SYMBOLS = 2 * 24, SHDR = 64, SECTIONS = 4 };

static void put(unsigned char *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(v >> 8 * i);
}

static void section(unsigned char *at, uint32_t type, uint64_t offset, uint64_t size, uint32_t link, uint64_t entry)
{
    put(at + 4, type, 4);
    put(at + 24, offset, 8);
    put(at + 32, size, 8);
    put(at + 40, link, 4);
    put(at + 56, entry, 8);
}

static unsigned char *cubin(const uint64_t *words, size_t nwords, size_t *n)
{
    size_t size = 8 * nwords;
    static const char strings[] = "\0" MANIFEST_SYMBOL;
    size_t symbols = EHDR + size, names = symbols + SYMBOLS, table = names + sizeof strings;
    *n = table + SECTIONS * SHDR;
    unsigned char *p = calloc(1, *n);
    if (!p) abort();
    memcpy(p, "\177ELF\2\1\1", 7);
    put(p + 40, table, 8);
    put(p + 58, SHDR, 2);
    put(p + 60, SECTIONS, 2);
    for (size_t i = 0; i < nwords; i++) put(p + EHDR + 8 * i, words[i], 8);
    put(p + symbols + 24, 1, 4);     /* its name */
    put(p + symbols + 24 + 6, 1, 2); /* its section */
    put(p + symbols + 24 + 16, size, 8);
    memcpy(p + names, strings, sizeof strings);
    section(p + table + SHDR, 1, EHDR, size, 0, 0);
    section(p + table + 2 * SHDR, 2, symbols, SYMBOLS, 3, 24);
    section(p + table + 3 * SHDR, 3, names, sizeof strings, 0, 0);
    return p;
}

static bool same_words(MfWords a, MfWords b) { return a.n == b.n && memcmp(a.w, b.w, a.n * sizeof *a.w) == 0; }

/* A manifest that was read can be written, and reads as what it is. */
static MfWords written(Arena *a, const Manifest *m)
{
    Manifest again;
    MfWords w = manifest_encode(m, a);
    if (manifest_decode(w.w, w.n, a, &again) != NULL) abort();
    if (!same_words(w, manifest_encode(&again, a))) abort();
    return w;
}

static void look(Arena *a, const unsigned char *data, size_t size)
{
    Manifest m, inside;
    const char *wrong = manifest_find(data, size, a, &m);
    if (!wrong) written(a, &m);

    size_t n = MF_HEAD + size / 8, whole;
    uint64_t *w = arena_array(a, uint64_t, n);
    for (size_t i = 0; i < size / 8 * 8; i++) w[MF_HEAD + i / 8] |= (uint64_t)data[i] << 8 * (i % 8);
    w[0] = MANIFEST_MAGIC;
    w[1] = MANIFEST_VERSION;
    w[2] = n;
    w[3] = manifest_checksum(w + MF_HEAD, n - MF_HEAD);
    wrong = manifest_decode(w, n, a, &m);
    unsigned char *elf = cubin(w, n, &whole);
    const char *also = manifest_find(elf, whole, a, &inside);
    free(elf);
    if (!wrong != !also) abort();
    if (!wrong && !same_words(written(a, &m), written(a, &inside))) abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    jmp_buf fail;
    Mem mem = {.fail = &fail};
    Arena arena;
    if (setjmp(fail)) abort(); /* what takes more memory than there is was promised by the input alone */
    arena_init(&arena, &mem);
    look(&arena, data, size);
    arena_free(&arena);
    return 0;
}
