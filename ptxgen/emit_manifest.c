#include <string.h>

#include "ptxgen/emit.h"

/* ---- keeping: the kernels' IR may be dropped before the manifest is written ---- */

static const char *keep_text(Arena *a, const char *s)
{
    return s ? arena_strdup(a, s, strlen(s)) : NULL;
}

static void *keep_bytes(Arena *a, const void *p, size_t n, size_t size)
{
    void *q = arena_alloc(a, arena_bytes(n, size));
    if (n) memcpy(q, p, n * size);
    return q;
}

#define KEEP(a, vec) ((vec)->v = keep_bytes((a), (vec)->v, (vec)->n, sizeof *(vec)->v), (vec)->cap = (vec)->n)

MfKernel *ptx_keep(PtxWriter *w, const MfKernel *mf, const char *entry)
{
    Arena *a = w->arena;
    MfKernel *k = vec_add(a, &w->manifest.kernels);
    *k = *mf;
    k->name = keep_text(a, mf->name);
    k->entry = entry;
    KEEP(a, &k->syms);
    KEEP(a, &k->lx.nodes);
    KEEP(a, &k->tensors);
    KEEP(a, &k->scalars);
    KEEP(a, &k->args);
    KEEP(a, &k->maps);
    KEEP(a, &k->params);
    KEEP(a, &k->checks);
    KEEP(a, &k->trusts);
    for (uint32_t i = 0; i < k->syms.n; i++) k->syms.v[i].name = keep_text(a, k->syms.v[i].name);
    for (uint32_t i = 0; i < k->tensors.n; i++) k->tensors.v[i].name = keep_text(a, k->tensors.v[i].name);
    for (uint32_t i = 0; i < k->scalars.n; i++) k->scalars.v[i].name = keep_text(a, k->scalars.v[i].name);
    for (uint32_t i = 0; i < k->maps.n; i++) k->maps.v[i].name = keep_text(a, k->maps.v[i].name);
    for (uint32_t i = 0; i < k->checks.n; i++) {
        MfCheck *c = &k->checks.v[i];
        c->text = keep_text(a, c->text);
        c->why = keep_text(a, c->why);
        c->place = keep_text(a, c->place);
    }
    for (uint32_t i = 0; i < k->trusts.n; i++) k->trusts.v[i] = keep_text(a, k->trusts.v[i]);
    return k;
}

/* ---- writing ---- */

static void put_word(Text *t, uint64_t v)
{
    char buf[18];
    size_t n = sizeof buf;
    do {
        buf[--n] = "0123456789abcdef"[v & 15];
        v >>= 4;
    } while (v);
    buf[--n] = 'x';
    buf[--n] = '0';
    text_put(t, buf + n, sizeof buf - n);
}

/* .visible keeps the array in the cubin although no kernel names it: a linker that drops what is not used (nvJitLink's
 * -optimize-unused-variables) is not asked to. */
void ptx_manifest(PtxWriter *w)
{
    enum { PER_LINE = 8 };
    Text *t = &w->out;
    MfWords words = manifest_encode(&w->manifest, w->arena);
    if (words.n == 0) return;
    text_lit(t, "\n.visible .global .align 8 .b64 " MANIFEST_SYMBOL "[");
    text_uint(t, words.n);
    text_lit(t, "] = {\n");
    for (size_t i = 0; i < words.n; i++) {
        put_word(t, words.w[i]);
        if (i + 1 == words.n) break;
        if (i % PER_LINE == PER_LINE - 1) text_lit(t, ",\n");
        else text_lit(t, ", ");
    }
    text_lit(t, "\n};\n");
}
