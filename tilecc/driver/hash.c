/* XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), as far as libtile uses xxhash.h: manifests have a checksum. */
#include <stdint.h>
#include <string.h>
typedef struct XXH64_state_t {
    uint64_t lanes[4], total, seed;
    unsigned char rest[32];
} XXH64_state_t;
static const uint64_t XXH_P[5] = {UINT64_C(0x9E3779B185EBCA87), UINT64_C(0xC2B2AE3D27D4EB4F), UINT64_C(0x165667B19E3779F9),
                                  UINT64_C(0x85EBCA77C2B2AE63), UINT64_C(0x27D4EB2F165667C5)};
static uint64_t xxh_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}
static uint64_t xxh_read(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x |= (uint64_t)p[i] << 8 * i;
    return x;
}
static uint64_t xxh_round(uint64_t lane, uint64_t x)
{
    return xxh_rotate(lane + x * XXH_P[1], 31) * XXH_P[0];
}
static void XXH64_reset(XXH64_state_t *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed;
    s->lanes[0] = seed + XXH_P[0] + XXH_P[1];
    s->lanes[1] = seed + XXH_P[1];
    s->lanes[2] = seed;
    s->lanes[3] = seed - XXH_P[0];
}
static void XXH64_update(XXH64_state_t *s, const void *data, size_t n)
{
    const unsigned char *p = (const unsigned char *)data;
    for (size_t i = 0; i < n; i++) {
        s->rest[s->total++ % 32] = p[i];
        if (s->total % 32 == 0)
            for (int k = 0; k < 4; k++) s->lanes[k] = xxh_round(s->lanes[k], xxh_read(s->rest + 8 * k, 8));
    }
}
static uint64_t XXH64_digest(const XXH64_state_t *s)
{
    uint64_t h = s->seed + XXH_P[4];
    if (s->total >= 32) {
        h = xxh_rotate(s->lanes[0], 1) + xxh_rotate(s->lanes[1], 7) + xxh_rotate(s->lanes[2], 12) + xxh_rotate(s->lanes[3], 18);
        for (int k = 0; k < 4; k++) h = (h ^ xxh_round(0, s->lanes[k])) * XXH_P[0] + XXH_P[3];
    }
    h += s->total;
    size_t n = (size_t)(s->total % 32), at = 0;
    for (; at + 8 <= n; at += 8) h = xxh_rotate(h ^ xxh_round(0, xxh_read(s->rest + at, 8)), 27) * XXH_P[0] + XXH_P[3];
    for (; at + 4 <= n; at += 4) h = xxh_rotate(h ^ xxh_read(s->rest + at, 4) * XXH_P[0], 23) * XXH_P[1] + XXH_P[2];
    for (; at < n; at++) h = xxh_rotate(h ^ s->rest[at] * XXH_P[4], 11) * XXH_P[0];
    h = (h ^ h >> 33) * XXH_P[1];
    h = (h ^ h >> 29) * XXH_P[2];
    return h ^ h >> 32;
}
static uint64_t XXH64(const void *data, size_t n, uint64_t seed)
{
    XXH64_state_t s;
    XXH64_reset(&s, seed);
    XXH64_update(&s, data, n);
    return XXH64_digest(&s);
}
static uint64_t XXH3_64bits(const void *data, size_t n) /* of tables in memory: any hash will do */
{
    return XXH64(data, n, 0);
}
