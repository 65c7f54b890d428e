#include "tile_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc.h"

/* "name=value" strings to tilecc's pairs; one block, freed by the caller. NULL: no memory, or (*bad) no `=`. */
static tilecc_define *split_defines(const char *const *defines, size_t n, const char **bad)
{
    size_t text = 0;
    for (size_t i = 0; i < n; i++) text += strlen(defines[i]) + 1;
    if (n > (SIZE_MAX - text) / sizeof(tilecc_define) - 1) return NULL;
    tilecc_define *d = malloc((n + 1) * sizeof *d + text);
    char *at = d ? (char *)(d + n + 1) : NULL;
    for (size_t i = 0; d && i < n; i++) {
        size_t len = strlen(defines[i]) + 1;
        memcpy(at, defines[i], len);
        char *eq = strchr(at, '=');
        if (!eq) {
            *bad = defines[i];
            free(d);
            return NULL;
        }
        *eq = 0;
        d[i] = (tilecc_define){at, eq + 1};
        at += len;
    }
    return d;
}

static tile_status report(const tilecc_result *r, tile_error *err)
{
    tile_status s = TILE_ERROR_UNSUPPORTED;
    if (r->status == TILECC_ERROR_SOURCE) s = TILE_ERROR_SOURCE;
    else if (r->status == TILECC_ERROR_USAGE) s = TILE_ERROR_ARGUMENT;
    else if (r->status == TILECC_ERROR_ENVIRONMENT) s = TILE_ERROR_MEMORY;
    if (err) {
        static const char cut[] = "\n(there is more)";
        err->status = s;
        int n = snprintf(err->text, sizeof err->text, "%s",
                         s == TILE_ERROR_SOURCE && r->diagnostics[0] ? r->diagnostics : r->message);
        if (n >= (int)sizeof err->text) memcpy(err->text + sizeof err->text - sizeof cut, cut, sizeof cut);
    }
    return s;
}

/* Without an assembler the driver's own compiler takes the PTX. */
static tilecc_result *compile_some_way(tilecc_options *opt, const char *path, const char *text, size_t size)
{
    tilecc_result *r = tilecc_compile(opt, path, text, size);
    if (r && r->status == TILECC_ERROR_TOOL) {
        tilecc_free(r);
        opt->emit = TILECC_EMIT_PTX;
        r = tilecc_compile(opt, path, text, size);
    }
    return r;
}

static tile_status compile(void *user, const char *arch, int ptx, const char *path, const char *text, size_t size,
                           const char *const *defines, size_t ndefines, void **image, size_t *image_size,
                           tile_error *err)
{
    static const char no_memory[] = "out of memory";
    const char *bad = NULL;
    tilecc_define *pairs = split_defines(defines, ndefines, &bad);
    if (!pairs) {
        if (err) {
            err->status = bad ? TILE_ERROR_ARGUMENT : TILE_ERROR_MEMORY;
            snprintf(err->text, sizeof err->text, "%s%s%s", bad ? "the definition `" : no_memory, bad ? bad : "",
                     bad ? "` has no `=`" : "");
        }
        return bad ? TILE_ERROR_ARGUMENT : TILE_ERROR_MEMORY;
    }
    tilecc_options opt = {.struct_size = sizeof opt,
                          .emit = ptx ? TILECC_EMIT_PTX : TILECC_EMIT_CUBIN,
                          .lineinfo = ptx,
                          .default_arch = arch,
                          .defines = pairs,
                          .ndefines = ndefines,
                          .no_performance_warnings = 1,
                          .cache = 1,
                          .gpu = tile_device_gpu(user)};
    tilecc_result *r = compile_some_way(&opt, path, text, size);
    free(pairs);
    tile_status s = TILE_OK;
    void *copy = r && r->status == TILECC_OK ? malloc(r->output_size + 1) : NULL;
    if (r && r->status != TILECC_OK) {
        s = report(r, err);
    } else if (!copy) {
        s = TILE_ERROR_MEMORY;
        if (err) {
            err->status = s;
            memcpy(err->text, no_memory, sizeof no_memory);
        }
    } else {
        memcpy(copy, r->output, r->output_size);
        *image = copy;
        *image_size = r->output_size;
    }
    tilecc_free(r);
    return s;
}

static void release(void *user, void *image)
{
    (void)user;
    free(image);
}

void tile_use_compiler(tile_device *d)
{
    const tile_compiler c = {compile, release, d};
    tile_device_use_compiler(d, &c);
}
