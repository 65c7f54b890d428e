/* The simulator and the reader of PTX, where they are a library of their own: loaded when they are first wanted, and kept. Linked only where
 * sim/ and ptx/ are not. */
#include <dlfcn.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/report.h"

/* Its interface is libtile's own business, so it is of the very same version. ISO C has no conversion between object and function
 * pointers; POSIX dlsym relies on their bytes. */
static tile_status load(const char *name, void *function, tile_error *err)
{
    void *library = dlopen(TILE_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL), *p = library ? dlsym(library, name) : NULL;
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
