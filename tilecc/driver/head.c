/* What follows, up to the kernels, is libtile without its simulator: it reads the manifests inside the images, binds, checks, makes tensor
 * maps and launches by the CUDA driver, which it loads at run time. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif
#include <stddef.h>
#if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
typedef union tile_max_align {
    long long i;
    long double d;
    void *p;
} tile_max_align;
#define max_align_t tile_max_align
#define _Alignof(type) __alignof__(type)
#define _Alignas(bytes) __attribute__((aligned(bytes)))
#define _Static_assert(condition, text) extern int tile_static_assert(int assertion[(condition) ? 1 : -1])
#endif
