/* Inputs and references: filled and compared by all cores, in pieces. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/moves.h"

enum { PIECE = 64 << 20, SLICE = 4096, THREADS_MOST = 32 };

static uint64_t mix(uint64_t x) /* splitmix64 */
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static uint64_t finite_bits(tile_type type, uint64_t h)
{
    if (type == TILE_BF16) return h & 0xBFFF; /* the highest bit of the exponent is 0 */
    if (type == TILE_F32) return h & 0xBFFFFFFF;
    return h;
}

uint64_t bench_value(const Tensor *t, uint64_t i)
{
    uint64_t h = mix(t->seed + i), bits = 0;
    switch (t->fill) {
    case FILL_BITS: return finite_bits(t->type, h) & (UINT64_MAX >> (64 - 8 * t->size));
    case FILL_SMALL: {
        float f = (float)((int)(h % 129) - 64) / 8;
        memcpy(&bits, &f, sizeof f);
        return bits;
    }
    case FILL_INDEX: return h % (uint64_t)t->limit;
    case FILL_ZERO: return 0;
    case FILL_POISON: return UINT64_C(0xA5A5A5A5A5A5A5A5) & (UINT64_MAX >> (64 - 8 * t->size));
    }
    return 0;
}

Tensor *bench_tensor(Bench *b, const char *param, tile_type type, Fill fill, int rank, const int64_t *shape)
{
    Tensor *t = &b->tensors[b->ntensors++];
    *t = (Tensor){.param = param, .type = type, .rank = rank, .fill = fill, .n = 1};
    t->seed = (uint64_t)b->ntensors << 48;
    t->size = (size_t)tile_type_bits(type) / 8;
    for (int i = 0; i < rank; i++) {
        t->shape[i] = shape[i];
        t->n *= (uint64_t)shape[i];
    }
    return t;
}

/* ---- all cores ---- */

typedef struct Work { /* elements [from, to) of a tensor, which stand at `at` (element `base` first) */
    const Bench *b;
    const Tensor *t;
    unsigned char *at;
    uint64_t base, from, to, wrong, first_wrong;
    bool compare;
} Work;

static void compare_range(Work *w)
{
    for (uint64_t i = w->from; i < w->to; i++) {
        uint64_t have = 0, want = w->b->c->want(w->b, w->t, i);
        memcpy(&have, w->at + (i - w->base) * w->t->size, w->t->size);
        if (have == want) continue;
        if (w->wrong++ == 0) w->first_wrong = i;
    }
}

static void fill_range(Work *w)
{
    for (uint64_t i = w->from; i < w->to; i++) {
        uint64_t v = bench_value(w->t, i);
        memcpy(w->at + (i - w->base) * w->t->size, &v, w->t->size);
    }
}

static void *run_range(void *user)
{
    Work *w = user;
    if (w->compare) compare_range(w);
    else fill_range(w);
    return NULL;
}

/* Little-endian machines only, as CUDA's are: elements are the low bytes of words. */
static void run_all(Work *whole)
{
    Work part[THREADS_MOST];
    pthread_t id[THREADS_MOST];
    bool started[THREADS_MOST] = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = whole->to - whole->from, k = cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (uint64_t)cores;
    if (n < 1 << 16) k = 1;
    for (uint64_t i = 0; i < k; i++) {
        part[i] = *whole;
        part[i].from = whole->from + n * i / k;
        part[i].to = whole->from + n * (i + 1) / k;
        started[i] = i + 1 < k && pthread_create(&id[i], NULL, run_range, &part[i]) == 0;
        if (!started[i]) run_range(&part[i]);
    }
    for (uint64_t i = 0; i < k; i++) {
        if (started[i]) pthread_join(id[i], NULL);
        if (part[i].wrong && !whole->wrong) whole->first_wrong = part[i].first_wrong;
        whole->wrong += part[i].wrong;
    }
}

/* ---- pieces ---- */

static bool no_memory(tile_error *err)
{
    err->status = TILE_ERROR_MEMORY;
    snprintf(err->text, sizeof err->text, "out of memory");
    return false;
}

bool bench_fill(tile_device *d, const Tensor *t, tile_error *err)
{
    uint64_t most = PIECE / t->size;
    unsigned char *piece = malloc(PIECE);
    if (!piece) return no_memory(err);
    bool ok = true;
    for (uint64_t i = 0; ok && i < t->n; i += most) {
        uint64_t to = i + most < t->n ? i + most : t->n;
        Work w = {.t = t, .at = piece, .base = i, .from = i, .to = to};
        run_all(&w);
        ok = tile_write(d, t->address + i * t->size, piece, (size_t)(to - i) * t->size, err) == TILE_OK;
    }
    free(piece);
    return ok;
}

static bool compare_piece(tile_device *d, const Bench *b, const Tensor *t, uint64_t from, uint64_t to,
                          unsigned char *piece, Differences *out, tile_error *err)
{
    if (tile_read(d, piece, t->address + from * t->size, (size_t)(to - from) * t->size, err) != TILE_OK) return false;
    Work w = {.b = b, .t = t, .at = piece, .base = from, .from = from, .to = to, .compare = true};
    run_all(&w);
    if (w.wrong && !out->wrong) {
        uint64_t have = 0;
        memcpy(&have, piece + (w.first_wrong - from) * t->size, t->size);
        snprintf(out->first, sizeof out->first, "%s[%" PRIu64 "] is 0x%" PRIx64 ", not 0x%" PRIx64, t->param,
                 w.first_wrong, have, b->c->want(b, t, w.first_wrong));
    }
    out->compared += to - from;
    out->wrong += w.wrong;
    return true;
}

bool bench_compare(tile_device *d, const Bench *b, int samples, Differences *out, tile_error *err)
{
    *out = (Differences){0};
    unsigned char *piece = malloc(PIECE);
    if (!piece) return no_memory(err);
    bool ok = true;
    for (int k = 0; k < b->ntensors; k++) {
        const Tensor *t = &b->tensors[k];
        if (!t->is_output) continue;
        uint64_t step = (samples ? SLICE : PIECE) / t->size;
        if (step > t->n) step = t->n;
        uint64_t pieces = samples ? (uint64_t)samples : (t->n + step - 1) / step;
        for (uint64_t i = 0; ok && i < pieces; i++) {
            uint64_t from = samples ? mix(i ^ (uint64_t)b->launches << 32) % (t->n - step + 1) : i * step;
            ok = compare_piece(d, b, t, from, from + step < t->n ? from + step : t->n, piece, out, err);
        }
    }
    free(piece);
    return ok;
}
