#include "ptxgen/emit/emit.h"

static char *put_word(char *p, uint64_t v)
{
    unsigned digits = 1;
    while (digits < 16 && v >> 4 * digits) digits++;
    *p++ = '0';
    *p++ = 'x';
    while (digits--) *p++ = "0123456789abcdef"[v >> 4 * digits & 15];
    return p;
}

/* .visible keeps the array in the cubin although no kernel names it: a linker that drops what is not used (nvJitLink's
 * -optimize-unused-variables) is not asked to. */
void ptx_manifest(PtxWriter *w)
{
    enum { PER_LINE = 8, WORD_ROOM = 20 };
    Text *t = &w->out;
    const MfBlock *b = manifest_end(&w->manifest);
    const size_t n = w->manifest.n;
    text_lit(t, "\n.visible .global .align 8 .b64 " MANIFEST_SYMBOL "[");
    text_uint(t, n);
    text_lit(t, "] = {\n");
    char line[PER_LINE * WORD_ROOM], *p = line;
    size_t i = 0;
    for (; b; b = b->next) {
        for (uint32_t k = 0; k < b->n; k++) {
            p = put_word(p, b->w[k]);
            if (++i < n) {
                *p++ = ',';
                *p++ = i % PER_LINE ? ' ' : '\n';
            }
            if (i < n && i % PER_LINE) continue;
            text_put(t, line, (size_t)(p - line));
            p = line;
        }
    }
    text_lit(t, "\n};\n");
}
