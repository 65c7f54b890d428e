/* In process: libnvJitLink, loaded when first needed and kept (a second dlopen only counts). Its interface is
 * declared here, so that neither its header nor the library is needed to build. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "ptxgen/assemble.h"

typedef struct nvJitLink *Handle;
enum { INPUT_PTX = 2, RESULT_SUCCESS = 0, RESULT_PTX_COMPILE = 4 };

/* symbol, return type is the library's result code */
#define NVJITLINK_CALLS(X)                                                                                             \
    X(Create, (Handle * h, uint32_t n, const char **options))                                                          \
    X(Destroy, (Handle * h))                                                                                           \
    X(AddData, (Handle h, int type, const void *data, size_t size, const char *name))                                  \
    X(Complete, (Handle h))                                                                                            \
    X(GetLinkedCubinSize, (Handle h, size_t * size))                                                                   \
    X(GetLinkedCubin, (Handle h, void *cubin))                                                                         \
    X(GetErrorLogSize, (Handle h, size_t * size))                                                                      \
    X(GetErrorLog, (Handle h, char *log))                                                                              \
    X(GetInfoLogSize, (Handle h, size_t * size))                                                                       \
    X(GetInfoLog, (Handle h, char *log))

typedef struct Link {
#define X(name, params) int(*name) params;
    NVJITLINK_CALLS(X)
#undef X
    int (*Version)(unsigned *major, unsigned *minor); /* since 12.3 */
    Handle handle;
    jmp_buf *outer, fail; /* a failing allocation passes by here, so that the handle is destroyed */
} Link;

static bool bind_symbol(void *lib, const char *name, void *slot)
{
    void *p = dlsym(lib, name);
    memcpy(slot, &p, sizeof p); /* ISO C has no cast from an object pointer to a function pointer */
    return p != NULL;
}

static bool bind_library(void *lib, Link *l)
{
    bool all = true;
#define X(name, params) all = bind_symbol(lib, "nvJitLink" #name, &l->name) && all;
    NVJITLINK_CALLS(X)
#undef X
    bind_symbol(lib, "nvJitLinkVersion", &l->Version);
    return all;
}

static bool open_library(AsmRun *r, const char *path, Link *l)
{
    if (path == NULL) return false;
    asm_tried(r, path);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL || !bind_library(lib, l)) return false;
    unsigned major = 0, minor = 0;
    if (l->Version) l->Version(&major, &minor);
    r->assembler = arena_printf(r->arena, "nvJitLink %u.%u (%s)", major, minor, path);
    return true;
}

static bool find_library(AsmRun *r, Link *l)
{
    static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"};
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    const char *chosen = r->opt->nvjitlink ? r->opt->nvjitlink : getenv("TILECC_NVJITLINK");
    if (chosen && *chosen) return open_library(r, chosen, l);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (open_library(r, names[i], l)) return true;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (open_library(r, asm_env_path(r->arena, variables[i], "lib64/libnvJitLink.so"), l)) return true;
    return open_library(r, "/usr/local/cuda/lib64/libnvJitLink.so", l);
}

static const char *get_log(AsmRun *r, const Link *l, bool errors)
{
    size_t n = 0;
    if ((errors ? l->GetErrorLogSize : l->GetInfoLogSize)(l->handle, &n) != RESULT_SUCCESS || n == 0) return "";
    char *log = arena_alloc(r->arena, n + 1);
    (errors ? l->GetErrorLog : l->GetInfoLog)(l->handle, log);
    return log;
}

static AsmOutcome link_ptx(AsmRun *r, Link *l)
{
    /* PTX is compiled in AddData; Complete succeeds even after it failed. */
    int code = l->AddData(l->handle, INPUT_PTX, r->ptx, r->size, "tile");
    if (code == RESULT_SUCCESS) code = l->Complete(l->handle);
    if (code != RESULT_SUCCESS) {
        r->log = get_log(r, l, true);
        if (asm_says_too_old(r->log)) return ASM_TOO_OLD;
        if (code == RESULT_PTX_COMPILE) return ASM_REFUSED;
        r->message = arena_printf(r->arena, "%s failed with result %d", r->assembler, code);
        return ASM_BROKEN;
    }
    size_t n = 0;
    code = l->GetLinkedCubinSize(l->handle, &n);
    void *cubin = arena_alloc(r->arena, n);
    if (code == RESULT_SUCCESS) code = l->GetLinkedCubin(l->handle, cubin);
    if (code != RESULT_SUCCESS) {
        r->message = arena_printf(r->arena, "%s gave no cubin, result %d", r->assembler, code);
        return ASM_BROKEN;
    }
    r->log = get_log(r, l, false);
    r->cubin = cubin;
    r->cubin_size = n;
    return ASM_DONE;
}

AsmOutcome asm_nvjitlink(AsmRun *r)
{
    Arena *a = r->arena;
    Link *l = arena_new(a, Link);
    if (!find_library(r, l)) return ASM_ABSENT;
    const char *options[2] = {arena_printf(a, "-arch=%s", r->opt->arch), "-lineinfo"};
    if (l->Create(&l->handle, r->opt->lineinfo ? 2 : 1, options) != RESULT_SUCCESS)
        return ASM_TOO_OLD; /* unknown target */
    l->outer = a->mem->fail;
    if (setjmp(l->fail)) {
        l->Destroy(&l->handle);
        a->mem->fail = l->outer;
        longjmp(*l->outer, 1);
    }
    a->mem->fail = &l->fail;
    AsmOutcome o = link_ptx(r, l);
    a->mem->fail = l->outer;
    l->Destroy(&l->handle);
    return o;
}

bool asm_nvjitlink_key(AsmRun *r, CacheKey *k)
{
    Link *l = arena_new(r->arena, Link);
    if (!find_library(r, l)) return false;
    const void *code;
    memcpy(&code, &l->Create, sizeof code);
    key_text(k, r->assembler);
    key_program_of(k, code);
    return true;
}
