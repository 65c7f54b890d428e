/* Shared memory: what every tile and barrier takes, and where it lies. */
#include "lower/kernel/report.h"
#include "lower/plan/tensor_memory.h"
#include "lower/plan/work.h"

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

void memory_buffers(Lower *L)
{
    for (uint32_t i = 0; i < L->k->tiles.n; i++) {
        const PTile *t = L->k->tiles.v[i];
        if (t->tensor) {
            tmem_buffer(L, t);
            continue;
        }
        int64_t bytes = elem_info(t->type)->shared_bits, span = swizzle_span(t->swizzle);
        for (int d = 0; d < t->rank; d++) bytes *= t->extent[d];
        bytes = (bytes + 7) / 8;
        if (span && !t->interleave) { /* panels as wide as the span: a narrower last one takes its full width */
            int64_t width = t->extent[t->rank - 1] * elem_info(t->type)->shared_bits / 8;
            if (width > 0) bytes = bytes / width * round_up(width, span);
        }
        int64_t align = span ? swizzle_align(t->swizzle) : SMEM_TMA_ALIGN;
        int64_t pitch = round_up(bytes, align);
        IrBuf *b = vec_add(L->a, &L->ir->bufs);
        b->name = name_text(L, t->name);
        b->span = t->span;
        b->align = (uint32_t)align;
        b->bytes = (uint32_t)bytes; /* no more than a CTA has, but for padding: frontend/check/types.c */
        b->slots = (uint32_t)t->slots;
        b->pitch = (uint32_t)pitch;
    }
    tmem_columns(L);
}

enum { TOLD_MAX = 40 };

static void too_much(Lower *L, uint64_t total)
{
    const IrKernel *k = L->ir;
    Diag *g = lower_error(L, E0901, k->span, "kernel `%s` needs %llu bytes of shared memory per CTA, %s has %u",
                          k->mf.name, (unsigned long long)total, L->c->target->name, L->c->target->smem_per_cta);
    uint32_t told = 0;
    for (uint32_t i = 0; i < k->bufs.n && told < TOLD_MAX; i++) {
        const IrBuf *b = &k->bufs.v[i];
        if (b->lanes || b->maps || b->slots == 0) continue; /* 0: it lies in another one */
        told++;
        if (b->slots == 1) diag_note(L->c->diags, g, b->span, "%s: %u bytes", b->name, b->pitch);
        else
            diag_note(L->c->diags, g, b->span, "%s: %u slots of %u bytes, %u together", b->name, b->slots, b->pitch,
                      b->slots * b->pitch);
    }
    if (told == TOLD_MAX) diag_note(L->c->diags, g, (Span){0, 0}, "and so on: %u tiles", L->k->tiles.n);
    uint64_t bars = 0;
    for (uint32_t i = 0; i < k->bars.n; i++) bars += UINT64_C(8) * k->bars.v[i].slots;
    if (bars) diag_note(L->c->diags, g, (Span){0, 0}, "barriers: %llu bytes", (unsigned long long)bars);
    const char *others = smem_targets(L->a, (int64_t)total);
    int64_t over = round_up((int64_t)total - L->c->target->smem_per_cta, SMEM_TMA_ALIGN);
    diag_fix(L->c->diags, g, "make tiles smaller%s, by %lld bytes together: they take multiples of %d%s%s",
             agents_wanted(L->k) ? ", arrays shorter or `stages` fewer" : " or arrays shorter", (long long)over, SMEM_TMA_ALIGN,
             others ? "; targets that have as many: " : "", others ? others : "");
}

/* Buffers by descending alignment, so that nothing is lost between them; barriers last. */
static uint64_t place(IrKernel *k)
{
    uint64_t at = 0;
    static const uint32_t ALIGNS[] = {1024, 512, 256, 128};
    for (size_t a = 0; a < sizeof ALIGNS / sizeof *ALIGNS; a++) {
        for (uint32_t i = 0; i < k->bufs.n; i++) {
            IrBuf *b = &k->bufs.v[i];
            if (b->lanes || b->maps || b->align != ALIGNS[a]) continue;
            b->offset = (uint32_t)at;
            at += (uint64_t)b->pitch * b->slots;
            if (at > UINT32_MAX / 2) at = UINT32_MAX / 2;
        }
    }
    for (uint32_t i = 0; i < k->bars.n; i++) {
        k->bars.v[i].offset = (uint32_t)at;
        at += UINT64_C(8) * k->bars.v[i].slots;
        if (at > UINT32_MAX / 2) at = UINT32_MAX / 2;
    }
    return at;
}

void memory_place(Lower *L)
{
    uint64_t at = place(L->ir);
    L->ir->mf.smem = (uint32_t)at;
    if (at > L->c->target->smem_per_cta) too_much(L, at);
}
