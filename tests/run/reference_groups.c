/* Commands of the reference for groups of rows, and matrices, that data places:
 *
 *   reference numbers DTYPE N0,N1,.. OUT.npy          makes OUT[i] = Ni
 *   reference groups IN.npy OFFSETS.npy BEFORE.npy OUT.npy STEP
 *             OUT[.., r, ..] = IN[r, ..] for the rows OFFSETS[g] <= r < OFFSETS[g + 1] of every STEP-th group, elsewhere
 *             BEFORE; OUT may be several times IN, one behind the other
 *   reference firsts IN.npy OFFSETS.npy ROWS.npy BEFORE.npy OUT.npy
 *             OUT[g, ..] = row ROWS[s] of the group, s being its first row in IN, zeros where it has no such row; BEFORE where
 *             OFFSETS[g + 1] <= OFFSETS[g]
 *   reference matrices IN.npy START.npy M.npy K.npy BEFORE.npy OUT.npy UNIT
 *             OUT[i] = IN[i] for the elements of matrices M[g] x K[g] * UNIT that begin at START[g] * UNIT: as many rows as lie
 *             in IN, elsewhere BEFORE
 *   reference turned IN.npy START.npy M.npy BEFORE.npy OUT.npy
 *             of M[g] matrices 4 x 32, one behind the other from START[g] * 4 on, as many as lie in IN, each turned
 *   reference bumped IN.npy OFFSETS.npy OUT.npy
 *             f32: OUT[r, ..] = IN[r, ..] + 1 for the rows OFFSETS[g] <= r < OFFSETS[g + 1] of the groups, elsewhere IN[r, ..]
 *   reference by_mask IN.npy MASKS.npy BEFORE.npy OUT.npy
 *             OUT[c, r, ..] = IN[r, ..] where bit c is set in the mask of the rows of IN that r is among (as many for each), elsewhere
 *             BEFORE
 */
#include <stdlib.h>
#include <string.h>

#include "reference.h"

int make_numbers(char **v)
{
    char shape[32];
    long n = 1;
    for (const char *s = v[1]; *s; s++) n += *s == ',';
    long digits = n, at = 0;
    char text[24];
    do text[at++] = (char)('0' + digits % 10);
    while (digits /= 10);
    for (long i = 0; i < at; i++) shape[i] = text[at - 1 - i];
    shape[at] = 0;
    Array a = new_array(v[0], shape, v[2]);
    char *s = v[1];
    for (long i = 0; i < n; i++) {
        int64_t x = strtoll(s, &s, 10);
        if (*s == ',') s++;
        memcpy(a.data + i * a.size, &x, (size_t)a.size); /* of this machine: the least byte first */
    }
    save(&a, v[2]);
    return 0;
}

/* start .. end within 0 .. limit. */
static void cut(int64_t *start, int64_t *end, int64_t limit)
{
    if (*start < 0) *start = 0;
    if (*end > limit) *end = limit;
    if (*end < *start) *end = *start;
}

int groups(char **v)
{
    Array in = load(v[0]), offsets = load(v[1]), before = load(v[2]), out = load(v[3]);
    long step = atol(v[4]);
    size_t size = (size_t)in.size, width = in.shape[0] ? in.count / (size_t)in.shape[0] : 0;
    char *taken = calloc((size_t)in.shape[0] + 1, 1);
    if (!taken || before.count != out.count || (in.count && out.count % in.count)) fail("shapes", v[3]);
    for (size_t g = 0; g + 1 < offsets.count; g += (size_t)step) {
        int64_t s = integer(&offsets, g), e = integer(&offsets, g + 1);
        cut(&s, &e, in.shape[0]);
        for (int64_t r = s; r < e; r++) taken[r] = 1;
    }
    for (size_t i = 0; i < out.count; i++) {
        size_t at = i % in.count;
        if (differ(&out, i, taken[at / width] ? in.data + at * size : before.data + i * size)) return 1;
    }
    free(taken);
    return 0;
}

int firsts(char **v)
{
    static const unsigned char zero[8];
    Array in = load(v[0]), offsets = load(v[1]), rows = load(v[2]), before = load(v[3]), out = load(v[4]);
    size_t size = (size_t)in.size, width = in.count / (size_t)in.shape[0];
    for (size_t i = 0; i < out.count; i++) {
        size_t g = i / width;
        const unsigned char *want = before.data + i * size;
        if (g + 1 < offsets.count && integer(&offsets, g + 1) > integer(&offsets, g)) {
            int64_t s = integer(&offsets, g), e = integer(&offsets, g + 1);
            cut(&s, &e, in.shape[0]);
            int64_t row = s < e ? integer(&rows, (size_t)s) : -1;
            want = row < 0 || row >= e - s ? zero : in.data + ((size_t)(s + row) * width + i % width) * size;
        }
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

int matrices(char **v)
{
    Array in = load(v[0]), start = load(v[1]), ms = load(v[2]), ks = load(v[3]), before = load(v[4]), out = load(v[5]);
    int64_t unit = atoll(v[6]);
    char *taken = calloc(in.count + 1, 1);
    if (!taken) fail("memory", v[5]);
    for (size_t g = 0; g < start.count; g++) {
        int64_t m = integer(&ms, g), k = integer(&ks, g) * unit, s = integer(&start, g) * unit, e = s + m * k;
        cut(&s, &e, (int64_t)in.count);
        if (m <= 0 || k <= 0) continue;
        if (m > (e - s) / k) m = (e - s) / k;
        for (int64_t i = 0; i < m * k; i++) taken[s + i] = 1;
    }
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, (taken[i] ? in.data : before.data) + i * (size_t)in.size)) return 1;
    free(taken);
    return 0;
}

int turned(char **v)
{
    Array in = load(v[0]), start = load(v[1]), ms = load(v[2]), before = load(v[3]), out = load(v[4]);
    size_t size = (size_t)in.size;
    unsigned char *want = malloc(out.count * size + 1);
    if (!want) fail("memory", v[4]);
    memcpy(want, before.data, out.count * size);
    for (size_t g = 0; g < start.count; g++) {
        int64_t m = integer(&ms, g), s = integer(&start, g) * 4, e = s + m * 128;
        cut(&s, &e, (int64_t)in.count);
        if (m > (e - s) / 128) m = (e - s) / 128;
        for (int64_t i = 0; i < m; i++)
            for (int64_t r = 0; r < 4; r++)
                for (int64_t c = 0; c < 32; c++)
                    memcpy(want + (size_t)(s + i * 128 + c * 4 + r) * size,
                           in.data + (size_t)(s + i * 128 + r * 32 + c) * size, size);
    }
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, want + i * size)) return 1;
    free(want);
    return 0;
}

/* Where a group has them the rows have one more. */
int bumped(char **v)
{
    Array in = load(v[0]), offsets = load(v[1]), out = load(v[2]);
    long rows = in.shape[0];
    char *taken = calloc((size_t)rows + 1, 1);
    if (!taken || in.size != 4 || in.count != out.count) fail("shapes", v[2]);
    for (size_t g = 0; g + 1 < offsets.count; g++) {
        int64_t s = integer(&offsets, g), e = integer(&offsets, g + 1);
        cut(&s, &e, rows);
        for (int64_t r = s; r < e; r++) taken[r] = 1;
    }
    for (size_t i = 0; i < out.count; i++) {
        float want;
        memcpy(&want, in.data + i * 4, 4);
        want += (float)taken[i / (in.count / (size_t)rows)];
        if (differ(&out, i, (const unsigned char *)&want)) return 1;
    }
    free(taken);
    return 0;
}

int by_mask(char **v)
{
    Array in = load(v[0]), masks = load(v[1]), before = load(v[2]), out = load(v[3]);
    size_t per = masks.count ? in.count / masks.count : 0; /* elements under one mask */
    if (out.count % (in.count ? in.count : 1) || before.count != out.count || per * masks.count != in.count) fail("shapes", v[3]);
    for (size_t i = 0; i < out.count; i++) {
        uint32_t mask = 0;
        size_t from = i % in.count, at = from / per;
        memcpy(&mask, masks.data + at * (size_t)masks.size, (size_t)masks.size);
        int set = mask >> i / in.count & 1;
        const Array *a = set ? &in : &before;
        if (differ(&out, i, a->data + (set ? from : i) * (size_t)a->size)) return 1;
    }
    return 0;
}
