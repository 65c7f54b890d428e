#include "tilecc/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilecc/cli.h"

static bool ends_in(const char *s, size_t n, const char *suffix)
{
    size_t m = strlen(suffix);
    return n > m && memcmp(s + n - m, suffix, m) == 0;
}

static bool in_library(const char *s, size_t n)
{
    const char *module;
    for (size_t i = 0; (module = tilecc_library_at(i)); i++)
        if (strlen(module) == n && memcmp(module, s, n) == 0) return true;
    return false;
}

static bool is_program(const char *s, size_t n)
{
    return ends_in(s, n, ".tile") || ends_in(s, n, ".ptx") || ends_in(s, n, ".cubin") || in_library(s, n);
}

static char *copy_text(const char *s, size_t n)
{
    char *out = must_alloc(n + 1);
    memcpy(out, s, n);
    out[n] = 0;
    return out;
}

int program_split(Program *r, const char *typed, const tilecc_options *o)
{
    const char *p = typed, *colon = strrchr(p, ':');
    size_t n = strlen(p), path = n;
    if (!is_program(p, n) && colon && is_program(p, (size_t)(colon - p)) && colon[1]) path = (size_t)(colon - p);
    if (!is_program(p, path)) {
        complain("'%s' is no program: FILE.tile, FILE.ptx or FILE.cubin, and :KERNEL behind it", p);
        return EXIT_USAGE;
    }
    r->path = copy_text(p, path);
    if (path < n) r->kernel = copy_text(colon + 1, n - path - 1);
    bool library = in_library(p, path);
    r->library = library;
    r->from_source = library || ends_in(p, path, ".tile");
    if (!library && access(r->path, R_OK) != 0) { /* before the GPU is looked for */
        complain("can't read '%s': %s", r->path, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    bool changes = o->ndefines || o->arch || o->ptx_version || o->lineinfo || o->hints || o->no_dependent_launch || o->tune || o->pin || o->no_variants;
    if (!r->from_source && changes) {
        complain("'%s' is compiled already: -D, -arch, --ptx-version, --hints, --dependent-launch, --tune, --pin, --variants and -lineinfo can't change it", r->path);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* The simulator takes PTX, and names source lines. Without an assembler the driver compiles the PTX; without -arch the
 * file's targets and then the device decide. */
tilecc_result *program_compile(const Program *r, const tilecc_options *lib, tile_device *d, bool verbose, const char *text, size_t size)
{
    tilecc_options o = *lib;
    bool simulates = tile_device_simulates(d);
    o.emit = simulates ? TILECC_EMIT_PTX : TILECC_EMIT_CUBIN;
    if (simulates) o.lineinfo = 1;
    o.default_arch = tile_device_arch(d);
    o.gpu = tile_device_gpu(d);
    o.cache = 1;
    tilecc_result *c = tilecc_compile(&o, program_name(r->path), text, size);
    if (c && c->status == TILECC_ERROR_TOOL && o.assembler == TILECC_ASM_AUTO) {
        if (verbose) complain("%s; the driver compiles the PTX instead", c->message);
        tilecc_free(c);
        o.emit = TILECC_EMIT_PTX;
        c = tilecc_compile(&o, program_name(r->path), text, size);
    }
    return c;
}

int program_kernel(const Program *r, tile_module *m, tile_kernel **out)
{
    *out = NULL;
    size_t n = tile_kernel_count(m);
    if (r->kernel) *out = tile_kernel_find(m, r->kernel);
    else if (n == 1) *out = tile_kernel_at(m, 0);
    if (*out) return EXIT_OK;
    if (n == 0) {
        complain("'%s' has no kernel", r->path);
        return EXIT_USAGE;
    }
    const char **names = must_alloc(n * sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = tile_kernel_name(tile_kernel_at(m, i));
    const char *near = r->kernel ? nearest_word(r->kernel, names, n) : NULL;
    if (r->kernel) fprintf(stderr, "tilecc: '%s' has no kernel '%s'", r->path, r->kernel);
    else fprintf(stderr, "tilecc: '%s' has %zu kernels; say which one with %s:NAME", r->path, n, r->path);
    if (near) fprintf(stderr, "; did you mean '%s'?\n", near);
    for (size_t i = 0; !near && i < n; i++)
        fprintf(stderr, "%s%s%s", i ? ", " : "; it has ", names[i], i + 1 < n ? "" : "\n");
    free(names);
    return EXIT_USAGE;
}

void program_free(Program *p)
{
    free(p->path);
    free(p->kernel);
    *p = (Program){0};
}
