#include "lang/names.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Open addressing with linear probing; at most half full. The hash stands beside the id so that a probe
 * touches the text only when it is very likely the same. */
typedef struct Slot {
    uint32_t hash;
    Name id; /* 0: free */
} Slot;

typedef struct Entry {
    const char *text;
    size_t len;
} Entry;

struct Names {
    Arena *arena;
    Slot *slots;
    uint32_t mask;
    VEC(Entry) entries; /* entries.v[id - 1] */
};

enum { FIRST_SLOTS = 1024 };

Names *names_new(Arena *a)
{
    Names *n = arena_new(a, Names);
    n->arena = a;
    n->slots = arena_array(a, Slot, FIRST_SLOTS);
    n->mask = FIRST_SLOTS - 1;
    return n;
}

/* The slot that holds the text, or the free one where it belongs. */
static Slot *probe(const Names *n, const char *s, size_t len, uint32_t hash)
{
    for (uint32_t i = hash & n->mask;; i = (i + 1) & n->mask) {
        Slot *slot = &n->slots[i];
        if (slot->id == 0) return slot;
        if (slot->hash != hash) continue;
        const Entry *e = &n->entries.v[slot->id - 1];
        if (e->len == len && memcmp(e->text, s, len) == 0) return slot;
    }
}

static void double_slots(Names *n)
{
    uint32_t count = n->mask + 1;
    Slot *old = n->slots;
    n->slots = arena_array(n->arena, Slot, (size_t)count * 2);
    n->mask = count * 2 - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (old[i].id == 0) continue;
        uint32_t j = old[i].hash & n->mask;
        while (n->slots[j].id) j = (j + 1) & n->mask;
        n->slots[j] = old[i];
    }
}

static uint32_t hash_of(const char *s, size_t len)
{
    return (uint32_t)XXH3_64bits(s, len);
}

Name names_intern(Names *n, const char *s, size_t len)
{
    uint32_t hash = hash_of(s, len);
    Slot *slot = probe(n, s, len, hash);
    if (slot->id) return slot->id;
    const char *text = arena_strdup(n->arena, s, len);
    vec_push(n->arena, &n->entries, ((Entry){text, len}));
    *slot = (Slot){hash, n->entries.n};
    Name id = n->entries.n;
    if (id > n->mask / 2) double_slots(n);
    return id;
}

Name names_find(const Names *n, const char *s, size_t len)
{
    return probe(n, s, len, hash_of(s, len))->id;
}

const char *names_text(const Names *n, Name id)
{
    return id == 0 || id > n->entries.n ? "" : n->entries.v[id - 1].text;
}

uint32_t names_count(const Names *n)
{
    return n->entries.n;
}

enum { SPELL_MAX = 48 }; /* words longer than this are never suggestions */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

unsigned spelling_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    if (la > SPELL_MAX || lb > SPELL_MAX) return strcmp(a, b) == 0 ? 0 : SPELL_MAX;
    /* Three rows of the table: a transposition looks two rows back (optimal string alignment). */
    unsigned rows[3][SPELL_MAX + 1];
    for (size_t j = 0; j <= lb; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        unsigned *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned other = a[i - 1] != b[j - 1];
            unsigned d = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < d)
                d = up2[j - 2] + 1;
            now[j] = d;
        }
    }
    return rows[la % 3][lb];
}

const char *spelling_nearest(const char *s, const char *const *candidates, size_t n)
{
    size_t len = strlen(s);
    if (len == 0 || len > SPELL_MAX) return NULL;
    unsigned best = (unsigned)(len < 3 ? 1 : len / 3); /* a third of the letters may be wrong */
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned d = spelling_distance(s, candidates[i]);
        if (d > best || d >= len) continue; /* d == len: nothing in common */
        if (found && d == best) continue;
        best = d;
        found = candidates[i];
    }
    return found;
}
