/* The simulator and the reader of PTX, where they are a library of their own: loaded when they are first wanted, and kept. Linked only where
 * sim/ and ptx/ are not. */
#define _GNU_SOURCE /* dladdr(): glibc, musl, the BSDs */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/report.h"

/* Beside libtile, wherever that is, else where the loader looks. Its interface is libtile's own business, so it is of the very same version. */
static void *open_library(void)
{
    char path[4096];
    tile_status (*own)(const char *, const Host *, tile_device **, tile_error *) = sim_device_open;
    void *at, *library = NULL;
    Dl_info info;
    memcpy(&at, &own, sizeof at); /* ISO C has no conversion between object and function pointers; POSIX relies on their bytes */
    const char *slash = dladdr(at, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    if (slash && snprintf(path, sizeof path, "%.*s/" TILE_SIM_LIBRARY, (int)(slash - info.dli_fname), info.dli_fname) < (int)sizeof path)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen(TILE_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

static tile_status load(const char *name, void *function, tile_error *err)
{
    void *library = open_library(), *p = library ? dlsym(library, name) : NULL;
    if (!p) {
        const char *why = dlerror();
        return fail(err, TILE_ERROR_UNSUPPORTED, "the simulator, which belongs beside libtile, can't be loaded: %s", why ? why : TILE_SIM_LIBRARY);
    }
    memcpy(function, &p, sizeof p);
    return TILE_OK;
}

tile_status sim_device_open(const char *words, const Host *host, tile_device **out, tile_error *err)
{
    tile_status (*open)(const char *, const Host *, tile_device **, tile_error *);
    tile_status s = load("sim_device_open", (void *)&open, err);
    return s == TILE_OK ? open(words, host, out, err) : s;
}

tile_status tile_check_ptx(const char *text, size_t size, const char *target, const char *version,
                           void (*report)(void *user, const tile_ptx_finding *f), void *user, tile_ptx_summary *out, tile_error *err)
{
    tile_status (*check)(const char *, size_t, const char *, const char *, void (*)(void *, const tile_ptx_finding *), void *, tile_ptx_summary *, tile_error *);
    tile_status s = load("tile_check_ptx", (void *)&check, err);
    return s == TILE_OK ? check(text, size, target, version, report, user, out, err) : s;
}
