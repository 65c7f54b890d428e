#include "runtime/cuda_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/report.h"

#define REQUIRED true
#define OPTIONAL false

typedef struct CudaRow {
    bool required;
    size_t offset; /* of the pointer in CudaApi */
    const char *symbol;
} CudaRow;
static const CudaRow ROWS[] = {
#define CUDA_ROW(need, field, symbol, params) {need, offsetof(CudaApi, field), symbol},
    CUDA_FUNCTIONS(CUDA_ROW)
#undef CUDA_ROW
};

tile_status cuda_api_load(CudaApi *api, void **library, tile_error *err)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        const char *why = dlerror();
        return fail_rule(err, TILE_ERROR_NO_DEVICE, E1116, "no NVIDIA driver: libcuda.so.1 can't be loaded (%s)",
                         why ? why : "no reason given");
    }
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        void *p = dlsym(lib, ROWS[i].symbol);
        if (!p && ROWS[i].required) {
            dlclose(lib);
            return fail_rule(err, TILE_ERROR_NO_DEVICE, E1116, "libcuda.so.1 has no %s: libtile can't use this driver",
                             ROWS[i].symbol);
        }
        /* ISO C has no conversion between object and function pointers; POSIX dlsym relies on their bytes. */
        memcpy((char *)api + ROWS[i].offset, &p, sizeof p);
    }
    *library = lib;
    return TILE_OK;
}

void cuda_api_unload(void *library)
{
    if (library) dlclose(library);
}

/* cuda.h says of these that the process must be terminated and relaunched. */
bool cuda_context_lost(CuResult r)
{
    return r == 700 || r == 702 || (r >= 714 && r <= 719) || r == 721;
}

static tile_status status_of(CuResult r)
{
    if (r == CU_OUT_OF_MEMORY) return TILE_ERROR_MEMORY;
    if (r == CU_NO_DEVICE || r == CU_INVALID_DEVICE || r == CU_STUB_LIBRARY) return TILE_ERROR_NO_DEVICE;
    return TILE_ERROR_DRIVER;
}

tile_status cuda_failed(const CudaApi *api, tile_error *err, CuResult r, const char *call)
{
    const char *name = NULL, *text = NULL;
    if (api->GetErrorName(r, &name) != CU_OK || !name) name = "unknown error";
    if (api->GetErrorString(r, &text) != CU_OK || !text) text = "no text";
    return fail(err, status_of(r), "%s failed: %s (%d): %s%s", call, name, r, text,
                cuda_context_lost(r) ? "; the process can't use this GPU any more and must be restarted" : "");
}
