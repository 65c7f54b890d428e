#include <string.h>

#include "ptxgen/cache/cache.h"

void key_number(CacheKey *k, uint64_t n)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(n >> 8 * i);
    sha256_put(&k->hash, bytes, sizeof bytes);
}

void key_bytes(CacheKey *k, const void *p, size_t n)
{
    key_number(k, n);
    sha256_put(&k->hash, p, n);
}

void key_text(CacheKey *k, const char *s)
{
    key_number(k, s != NULL);
    if (s) key_bytes(k, s, strlen(s));
}

/* An option that is missing here is a wrong kernel some day: who adds one changes the size, and decides. */
void key_ptx(CacheKey *k, const tilecc_options *o, const char *target, const Sources *sources)
{
    _Static_assert(sizeof(void *) != 8 || sizeof *o == 192, "a new option: does PTX, or what is said, depend on it?");
    key_begin(k, "ptx");
    key_text(k, target);
    key_text(k, o->arch);
    key_text(k, o->default_arch);
    key_number(k, o->ptx_version);
    key_number(k, o->lineinfo != 0);
    key_number(k, o->ndefines);
    for (size_t i = 0; i < o->ndefines; i++) {
        key_text(k, o->defines[i].name);
        key_text(k, o->defines[i].value);
    }
    key_number(k, o->error_format);
    key_number(k, o->colour != 0);
    key_number(k, o->no_performance_warnings != 0);
    key_number(k, (uint64_t)(int64_t)o->hints);
    key_number(k, o->no_dependent_launch != 0);
    key_text(k, o->pin);
    key_number(k, o->no_variants != 0);
    key_text(k, o->gpu);
    key_number(k, sources->files.n);
    for (uint32_t i = 0; i < sources->files.n; i++) { /* import folders and maps of paths show in these names */
        const Source *f = sources->files.v[i];
        key_text(k, f->path);
        key_text(k, source_recorded(f));
        key_bytes(k, f->text, f->len);
    }
}
