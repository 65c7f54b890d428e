#include "lang/manifest/manifest.h"

#include <string.h>

#include "lang/manifest/words.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- checksum ---- */

static void hash_words(XXH64_state_t *state, const uint64_t *w, size_t n)
{
    unsigned char le[512];
    for (size_t i = 0, filled = 0; i < n; i++) {
        for (unsigned k = 0; k < 8; k++) le[filled++] = (unsigned char)(w[i] >> 8 * k);
        if (filled < sizeof le && i + 1 < n) continue;
        XXH64_update(state, le, filled);
        filled = 0;
    }
}

uint64_t manifest_checksum(const uint64_t *w, size_t n)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    hash_words(&state, w, n);
    return XXH64_digest(&state);
}

/* ---- words and strings ---- */

enum { BLOCK_WORDS = 1024 };

static MfBlock *new_block(Arena *a, size_t room)
{
    MfBlock *b = arena_new(a, MfBlock);
    b->w = arena_array(a, uint64_t, room);
    return b;
}

static void put(MfWriter *w, uint64_t v)
{
    if (w->last->n == BLOCK_WORDS) w->last = w->last->next = new_block(w->arena, BLOCK_WORDS);
    w->last->w[w->last->n++] = v;
    w->n++;
}

/* Open addressing with linear probing, at most half full. */
typedef struct MfString {
    uint32_t hash;
    uint32_t len;
    uint32_t end; /* where the text behind it starts; 0: free */
} MfString;

static uint32_t start_of(const MfString *s)
{
    return s->end - s->len - 1;
}

static void more_slots(MfWriter *w)
{
    enum { FIRST = 256 };
    MfString *old = w->strings;
    uint32_t count = old ? w->mask + 1 : 0, now = count ? count * 2 : FIRST;
    w->strings = arena_array(w->arena, MfString, now);
    w->mask = now - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (old[i].end == 0) continue;
        uint32_t at = old[i].hash & w->mask;
        while (w->strings[at].end) at = (at + 1) & w->mask;
        w->strings[at] = old[i];
    }
}

/* The slot of the string, or the free one where it belongs. */
static MfString *slot_of(const MfWriter *w, const char *s, uint32_t len, uint32_t hash)
{
    for (uint32_t i = hash & w->mask;; i = (i + 1) & w->mask) {
        MfString *slot = &w->strings[i];
        if (slot->end == 0) return slot;
        if (slot->hash == hash && slot->len == len && memcmp(w->text.v + start_of(slot), s, len) == 0) return slot;
    }
}

static void put_text(MfWriter *w, const char *s)
{
    if (s == NULL) s = "";
    uint32_t len = (uint32_t)strlen(s), hash = (uint32_t)XXH3_64bits(s, len);
    if (w->strings == NULL || w->nstrings > w->mask / 2) more_slots(w);
    MfString *slot = slot_of(w, s, len, hash);
    if (slot->end == 0) {
        while (w->text.cap - w->text.n <= len)
            w->text.v = vec_grow(w->arena, w->text.v, &w->text.cap, sizeof *w->text.v);
        memcpy(w->text.v + w->text.n, s, (size_t)len + 1);
        w->text.n += len + 1;
        *slot = (MfString){hash, len, w->text.n};
        w->nstrings++;
    }
    put(w, (uint64_t)start_of(slot) << 32 | len);
}

static uint64_t pack(uint64_t lo, unsigned shift, uint64_t hi)
{
    return lo | hi << shift;
}

static void put_lx(MfWriter *w, const LxPool *p)
{
    put(w, p->nodes.n);
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        const LxNode *n = &p->nodes.v[i];
        bool leaf = n->op == LX_CONST || n->op == LX_SYM;
        put(w, leaf ? n->op : n->op | (uint64_t)n->a << 8 | (uint64_t)n->b << (8 + MF_OPERAND_BITS));
        if (leaf) put(w, (uint64_t)n->k);
    }
}

static void put_tensor(MfWriter *w, const MfTensor *t)
{
    put_text(w, t->name);
    uint64_t bits = (uint64_t)t->read | (uint64_t)t->written << 1 | (uint64_t)t->strided << 2;
    put(w, t->type | (uint64_t)t->rank << 8 | bits << 16 | (uint64_t)t->align << 32);
    for (unsigned d = 0; d < t->rank; d++) put(w, pack(t->extent[d], 32, t->stride[d]));
}

static void put_map(MfWriter *w, const MfMap *m)
{
    put_text(w, m->name);
    put(w, pack(m->tensor, 32, m->offset));
    put(w, m->mode | (uint64_t)m->interleave << 8 | (uint64_t)m->swizzle << 16 | (uint64_t)m->l2 << 24 |
               (uint64_t)m->fill << 32 | (uint64_t)m->rank << 40 | (uint64_t)m->type << 48 |
               (uint64_t)m->is_load << 56 | (uint64_t)m->is_store << 57);
    put(w, pack(m->channels, 32, m->pixels));
    for (unsigned d = 0; d < m->rank; d++) put(w, pack(m->dim[d], 32, m->pitch[d]));
    for (unsigned d = 0; d < m->rank; d++) put(w, pack(m->box[d], 32, m->elem_stride[d]));
    for (unsigned i = 0; i < 3; i++) put(w, pack((uint16_t)m->lower[i], 32, (uint16_t)m->upper[i]));
}

static uint64_t code_word(ErrorCode c)
{
    const char *s = error_code(c);
    uint64_t number = 0;
    for (unsigned i = 1; s[i]; i++) number = number * 10 + (uint64_t)(s[i] - '0');
    return pack(number, 32, (unsigned char)s[0]);
}

static void put_check(MfWriter *w, const MfCheck *c)
{
    put(w, code_word(c->code));
    put(w, c->cond);
    put_text(w, c->text);
    put_text(w, c->why);
    put_text(w, c->place);
}

#define PUT_LIST(w, list, item)                                                                                        \
    do {                                                                                                               \
        put((w), (list).n);                                                                                            \
        for (uint32_t i_ = 0; i_ < (list).n; i_++) item((w), &(list).v[i_]);                                           \
    } while (0)

static void put_sym(MfWriter *w, const MfSym *s)
{
    put_text(w, s->name);
    put(w, s->kind);
}

static void put_scalar(MfWriter *w, const MfScalar *s)
{
    put_text(w, s->name);
    put(w, pack(s->type, 32, s->sym));
}

static void put_arg(MfWriter *w, const struct MfArg *a)
{
    put(w, pack(a->is_scalar, 32, a->index));
}

static void put_param(MfWriter *w, const MfParam *p)
{
    put(w, pack(p->kind, 32, p->index));
}

static void put_trust(MfWriter *w, const MfTrust *t)
{
    put(w, pack(t->fact, 32, t->tensor));
}

static void put_pick(MfWriter *w, const MfPick *p)
{
    put_text(w, p->gpu);
    put(w, p->schedule | (uint64_t)p->measure << 8);
    put(w, (uint64_t)p->least);
}

/* ---- the whole ---- */

enum { KERNELS_AT = 4 }; /* word of the number of kernels, behind three strings and a hash */

void manifest_begin(MfWriter *w, Arena *a, const Manifest *head)
{
    *w = (MfWriter){.arena = a};
    w->first = w->last = new_block(a, BLOCK_WORDS);
    put_text(w, head->compiler);
    put_text(w, head->target);
    put_text(w, head->source);
    put(w, head->source_hash);
    put(w, 0);
}

static bool same_lx(const MfKernel *a, Lx x, const MfKernel *b, Lx y)
{
    if (x == 0 || y == 0) return x == y;
    const LxNode *p = &a->lx.nodes.v[x - 1], *q = &b->lx.nodes.v[y - 1];
    return p->op == q->op && p->k == q->k && same_lx(a, p->a, b, q->a) && same_lx(a, p->b, b, q->b);
}

static bool same_tensor(const MfKernel *a, const MfTensor *x, const MfKernel *b, const MfTensor *y)
{
    bool same = strcmp(x->name, y->name) == 0 && x->type == y->type && x->rank == y->rank && x->read == y->read && x->written == y->written && x->strided == y->strided;
    for (int d = 0; same && d < x->rank; d++) same = same_lx(a, x->extent[d], b, y->extent[d]) && same_lx(a, x->stride[d], b, y->stride[d]);
    return same;
}

uint64_t manifest_param_bytes(const MfKernel *k)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < k->params.n; i++) at = k->params.v[i].kind == MF_PARAM_MAP ? (at + 63) / 64 * 64 + 128 : at + 8;
    return at;
}

bool manifest_same_signature(const MfKernel *a, const MfKernel *b)
{
    bool same = a->args.n == b->args.n && a->syms.n == b->syms.n && a->scalars.n == b->scalars.n && a->tensors.n == b->tensors.n && a->trusts.n == b->trusts.n;
    for (uint32_t i = 0; same && i < a->args.n; i++) same = a->args.v[i].is_scalar == b->args.v[i].is_scalar && a->args.v[i].index == b->args.v[i].index;
    for (uint32_t i = 0; same && i < a->syms.n; i++) same = strcmp(a->syms.v[i].name, b->syms.v[i].name) == 0 && a->syms.v[i].kind == b->syms.v[i].kind;
    for (uint32_t i = 0; same && i < a->scalars.n; i++) {
        const MfScalar *x = &a->scalars.v[i], *y = &b->scalars.v[i];
        same = strcmp(x->name, y->name) == 0 && x->type == y->type && x->sym == y->sym;
    }
    for (uint32_t i = 0; same && i < a->tensors.n; i++) same = same_tensor(a, &a->tensors.v[i], b, &b->tensors.v[i]);
    for (uint32_t i = 0; same && i < a->trusts.n; i++) same = a->trusts.v[i].fact == b->trusts.v[i].fact && a->trusts.v[i].tensor == b->trusts.v[i].tensor;
    return same;
}

void manifest_kernel(MfWriter *w, const MfKernel *k)
{
    w->first->w[KERNELS_AT]++;
    put_text(w, k->name);
    put_text(w, k->entry);
    PUT_LIST(w, k->syms, put_sym);
    put_lx(w, &k->lx);
    PUT_LIST(w, k->tensors, put_tensor);
    PUT_LIST(w, k->scalars, put_scalar);
    PUT_LIST(w, k->args, put_arg);
    PUT_LIST(w, k->maps, put_map);
    PUT_LIST(w, k->params, put_param);
    PUT_LIST(w, k->checks, put_check);
    PUT_LIST(w, k->trusts, put_trust);
    for (unsigned i = 0; i < 3; i++) put(w, pack(k->grid[i], 32, k->cluster[i]));
    put(w, pack(k->threads, 32, k->smem));
    put(w, pack(k->deal | (uint32_t)k->dependent << 8, 32, k->deal == MF_DEAL_NONE ? k->loads : k->per_sm));
    put(w, pack(k->teams, 32, k->traffic));
    put(w, k->schedule | (uint64_t)k->schedules << 8 | (uint64_t)k->picks.n << 32);
    for (uint32_t i = 0; i < k->picks.n; i++) put_pick(w, &k->picks.v[i]);
}

const MfBlock *manifest_end(MfWriter *w)
{
    uint32_t text_words = (w->text.n + 7) / 8;
    MfBlock *front = new_block(w->arena, MF_HEAD + 1 + text_words);
    front->n = MF_HEAD + 1 + text_words;
    front->next = w->first;
    w->n += front->n;
    front->w[0] = MANIFEST_MAGIC;
    front->w[1] = MANIFEST_VERSION;
    front->w[2] = w->n;
    front->w[MF_HEAD] = w->text.n;
    for (uint32_t i = 0; i < w->text.n; i++)
        front->w[MF_HEAD + 1 + i / 8] |= (uint64_t)(unsigned char)w->text.v[i] << 8 * (i % 8);
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    hash_words(&state, front->w + MF_HEAD, front->n - MF_HEAD);
    for (const MfBlock *b = front->next; b; b = b->next) hash_words(&state, b->w, b->n);
    front->w[3] = XXH64_digest(&state);
    return front;
}

MfWords manifest_encode(const Manifest *m, Arena *a)
{
    MfWriter w;
    manifest_begin(&w, a, m);
    for (uint32_t i = 0; i < m->kernels.n; i++) manifest_kernel(&w, &m->kernels.v[i]);
    const MfBlock *b = manifest_end(&w);
    MfWords out = {arena_array(a, uint64_t, w.n), 0};
    for (; b; b = b->next) {
        memcpy(out.w + out.n, b->w, b->n * sizeof *out.w);
        out.n += b->n;
    }
    return out;
}

MapDesc manifest_map(const MfMap *m)
{
    MapDesc d = {.mode = (MapMode)m->mode,
                 .type = m->type,
                 .rank = m->rank,
                 .address = MAP_UNKNOWN,
                 .interleave = m->interleave,
                 .swizzle = m->swizzle,
                 .l2 = m->l2,
                 .fill = m->fill,
                 .channels = m->channels,
                 .pixels = m->pixels,
                 .is_store = m->is_store,
                 .is_load = m->is_load};
    for (unsigned i = 0; i < m->rank; i++) {
        d.box[i] = m->box[i];
        d.elem_stride[i] = m->elem_stride[i];
        d.dim[i] = d.pitch[i] = MAP_UNKNOWN;
    }
    for (unsigned i = 0; i < 3; i++) {
        d.lower[i] = m->lower[i];
        d.upper[i] = m->upper[i];
    }
    return d;
}
