#include "lang/manifest.h"

#include <string.h>

#include "lang/manifest_words.h"
#include "lang/names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t manifest_checksum(const uint64_t *w, size_t n)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    unsigned char le[512];
    for (size_t i = 0, filled = 0; i < n; i++) {
        for (unsigned k = 0; k < 8; k++) le[filled++] = (unsigned char)(w[i] >> 8 * k);
        if (filled < sizeof le && i + 1 < n) continue;
        XXH64_update(&state, le, filled);
        filled = 0;
    }
    return XXH64_digest(&state);
}

/* Equal strings are stored once: names gives each a number, `at` where it stands. */
typedef struct Writer {
    Arena *a;
    VEC(uint64_t) words;
    Names *names;
    VEC(uint32_t) at; /* at.v[name - 1] */
    VEC(char) text;
} Writer;

static void put(Writer *w, uint64_t v)
{
    vec_push(w->a, &w->words, v);
}

static void put_text(Writer *w, const char *s)
{
    if (s == NULL) s = "";
    size_t len = strlen(s);
    Name name = names_intern(w->names, s, len);
    if (name > w->at.n) {
        vec_push(w->a, &w->at, w->text.n);
        for (size_t i = 0; i <= len; i++) vec_push(w->a, &w->text, s[i]);
    }
    put(w, (uint64_t)w->at.v[name - 1] << 32 | (uint32_t)len);
}

static uint64_t pack(uint64_t lo, unsigned shift, uint64_t hi)
{
    return lo | hi << shift;
}

static void put_lx(Writer *w, const LxPool *p)
{
    put(w, p->nodes.n);
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        const LxNode *n = &p->nodes.v[i];
        bool leaf = n->op == LX_CONST || n->op == LX_SYM;
        put(w, leaf ? n->op : n->op | (uint64_t)n->a << 8 | (uint64_t)n->b << (8 + MF_OPERAND_BITS));
        if (leaf) put(w, (uint64_t)n->k);
    }
}

static void put_tensor(Writer *w, const MfTensor *t)
{
    put_text(w, t->name);
    uint64_t bits = (uint64_t)t->read | (uint64_t)t->written << 1 | (uint64_t)t->strided << 2;
    put(w, t->type | (uint64_t)t->rank << 8 | bits << 16 | (uint64_t)t->align << 32);
    for (unsigned d = 0; d < t->rank; d++) put(w, pack(t->extent[d], 32, t->stride[d]));
}

static void put_map(Writer *w, const MfMap *m)
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
    const char *s = error_info(c)->code;
    uint64_t number = 0;
    for (unsigned i = 1; s[i]; i++) number = number * 10 + (uint64_t)(s[i] - '0');
    return pack(number, 32, (unsigned char)s[0]);
}

static void put_check(Writer *w, const MfCheck *c)
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

static void put_sym(Writer *w, const MfSym *s)
{
    put_text(w, s->name);
    put(w, s->kind);
}

static void put_scalar(Writer *w, const MfScalar *s)
{
    put_text(w, s->name);
    put(w, pack(s->type, 32, s->sym));
}

static void put_arg(Writer *w, const struct MfArg *a)
{
    put(w, pack(a->is_scalar, 32, a->index));
}

static void put_param(Writer *w, const MfParam *p)
{
    put(w, pack(p->kind, 32, p->index));
}

static void put_trust(Writer *w, const char *const *s)
{
    put_text(w, *s);
}

static void put_kernel(Writer *w, const MfKernel *k)
{
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
}

MfWords manifest_encode(const Manifest *m, Arena *a)
{
    Writer w = {.a = a, .names = names_new(a)};
    put_text(&w, m->compiler);
    put_text(&w, m->target);
    put_text(&w, m->source);
    put(&w, m->source_hash);
    PUT_LIST(&w, m->kernels, put_kernel);

    size_t text_words = ((size_t)w.text.n + 7) / 8, n = MF_HEAD + 1 + text_words + w.words.n;
    uint64_t *out = arena_array(a, uint64_t, n);
    out[MF_HEAD] = w.text.n;
    for (uint32_t i = 0; i < w.text.n; i++)
        out[MF_HEAD + 1 + i / 8] |= (uint64_t)(unsigned char)w.text.v[i] << 8 * (i % 8);
    memcpy(out + MF_HEAD + 1 + text_words, w.words.v, w.words.n * sizeof *out);
    out[0] = MANIFEST_MAGIC;
    out[1] = MANIFEST_VERSION;
    out[2] = n;
    out[3] = manifest_checksum(out + MF_HEAD, n - MF_HEAD);
    return (MfWords){out, n};
}
