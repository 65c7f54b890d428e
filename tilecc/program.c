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

int program_split(Program *r, const char *typed, const tilecc_options *o)
{
    const char *p = typed, *colon = strrchr(p, ':');
    size_t n = strlen(p), path = n;
    if (!is_program(p, n) && colon && is_program(p, (size_t)(colon - p)) && colon[1]) path = (size_t)(colon - p);
    if (!is_program(p, path)) {
        if (!no_module(p)) complain("'%s' is no program: FILE.tile, FILE.ptx or FILE.cubin, and :KERNEL behind it", p);
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

/* Which of the kernels is meant; n after a complaint. */
static size_t choose_kernel(const Program *p, const char *const *names, size_t n)
{
    if (!p->kernel && n == 1) return 0;
    for (size_t i = 0; p->kernel && i < n; i++)
        if (strcmp(names[i], p->kernel) == 0) return i;
    if (n == 0) complain("'%s' has no kernel", p->path);
    else if (p->kernel) complain_word(p->kernel, names, n, "it has ", "'%s' has no kernel '%s'", p->path, p->kernel);
    else complain_word(NULL, names, n, "it has ", "'%s' has %zu kernels; say which one with %s:NAME", p->path, n, p->path);
    return n;
}

/* ---- what -D can set ---- */

static void split_lines(Program *p)
{
    size_t lines = 0;
    for (const char *at = p->listed; (at = strchr(at, '\n')) != NULL; at++) lines++;
    p->defines = must_alloc(lines * sizeof *p->defines);
    for (char *line = p->listed; p->ndefines < lines; p->ndefines++) {
        char *end = strchr(line, '\n'), *equals = strchr(line, '=');
        *end = *equals = 0;
        p->defines[p->ndefines] = (tilecc_define){line, equals + 1};
        line = end + 1;
    }
}

static int list_defines(Program *p, const tilecc_options *lib)
{
    tilecc_options o = *lib;
    o.emit = TILECC_EMIT_DEFINES;
    o.tune = "off";
    tilecc_result *r = tilecc_compile(&o, program_name(p->path), p->text, p->size);
    int code = r && r->status == TILECC_OK ? EXIT_OK : say_result(r, o.error_format == TILECC_JSON); /* warnings come when it is compiled */
    if (code == EXIT_OK) {
        p->listed = copy_text(r->output, r->output_size);
        split_lines(p);
    }
    tilecc_free(r);
    return code;
}

static int name_kernel(Program *p)
{
    const char **names = must_alloc(p->ndefines * sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < p->ndefines; i++)
        if (strcmp(p->defines[i].name, "kernel") == 0) names[n++] = p->defines[i].value;
    size_t i = choose_kernel(p, names, n);
    if (i < n && !p->kernel) p->kernel = copy_text(names[i], strlen(names[i]));
    free(names);
    return i < n ? EXIT_OK : EXIT_USAGE;
}

/* Of a compile-time parameter of the kernel what it is called there; NULL: it is something else. */
static const char *own_name(const Program *p, const tilecc_define *d)
{
    size_t n = strlen(p->kernel);
    return strncmp(d->name, p->kernel, n) == 0 && d->name[n] == '.' ? d->name + n + 1 : NULL;
}

/* E0212, before it is compiled, with what to type. */
static int check_values(const Program *p, const char *command)
{
    size_t size = 1, n = 0;
    for (size_t i = 0; i < p->ndefines; i++) size += strlen(p->defines[i].name) + sizeof " -D =..";
    char *missing = must_alloc(size);
    for (size_t i = 0; i < p->ndefines; i++)
        if (own_name(p, &p->defines[i]) && !p->defines[i].value[0]) n += (size_t)snprintf(missing + n, size - n, " -D %s=..", p->defines[i].name);
    if (n) complain("E0212: kernel '%s' has compile-time parameters without a value: tilecc %s%s %s:%s", p->kernel, command, missing, p->path, p->kernel);
    free(missing);
    return n ? EXIT_USAGE : EXIT_OK;
}

const char *program_value(const Program *p, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < p->ndefines; i++) {
        const char *own = own_name(p, &p->defines[i]);
        if (strcmp(own ? own : p->defines[i].name, name) == 0) value = p->defines[i].value; /* parameters stand behind constants, which they hide */
    }
    return value && value[0] && !strchr(value, '|') ? value : NULL;
}

int program_read(Program *p, const tilecc_options *o, const char *command)
{
    if (!p->from_source) return EXIT_OK;
    p->text = read_program(p->path, &p->size);
    if (!p->text) return EXIT_ENVIRONMENT;
    const char *kind = compiled_kind(p->text, p->size);
    if (kind) {
        complain("'%s' is %s, compiled already: name it .%s", p->path, kind, strcmp(kind, "PTX") == 0 ? "ptx" : "cubin");
        return EXIT_USAGE;
    }
    int code = list_defines(p, o);
    if (code == EXIT_OK) code = name_kernel(p);
    return code == EXIT_OK ? check_values(p, command) : code;
}

tilecc_result *program_make(const Program *p, const tilecc_options *lib)
{
    tilecc_options o = *lib;
    tilecc_define *defines = must_alloc((o.ndefines + 1) * sizeof *defines);
    if (o.ndefines) memcpy(defines, o.defines, o.ndefines * sizeof *defines);
    defines[o.ndefines++] = (tilecc_define){"kernel", p->kernel};
    o.defines = defines;
    tilecc_result *r = tilecc_compile(&o, program_name(p->path), p->text, p->size);
    free(defines);
    return r;
}

/* The simulator takes PTX, and names source lines. Without an assembler the driver compiles the PTX; without -arch the
 * file's targets and then the device decide. */
tilecc_result *program_compile(const Program *p, const tilecc_options *lib, tile_device *d, bool verbose)
{
    tilecc_options o = *lib;
    bool simulates = tile_device_simulates(d);
    o.emit = simulates ? TILECC_EMIT_PTX : TILECC_EMIT_CUBIN;
    if (simulates) o.lineinfo = 1;
    o.default_arch = tile_device_arch(d);
    o.gpu = tile_device_gpu(d);
    o.cache = 1;
    tilecc_result *c = program_make(p, &o);
    if (c && c->status == TILECC_ERROR_TOOL && o.assembler == TILECC_ASM_AUTO) {
        if (verbose) complain("%s; the driver compiles the PTX instead", c->message);
        tilecc_free(c);
        o.emit = TILECC_EMIT_PTX;
        c = program_make(p, &o);
    }
    return c;
}

int program_kernel(const Program *p, tile_module *m, tile_kernel **out)
{
    size_t n = tile_kernel_count(m);
    const char **names = must_alloc(n * sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = tile_kernel_name(tile_kernel_at(m, i));
    size_t i = choose_kernel(p, names, n);
    *out = i < n ? tile_kernel_at(m, i) : NULL;
    free(names);
    return *out ? EXIT_OK : EXIT_USAGE;
}

void program_free(Program *p)
{
    free(p->path);
    free(p->kernel);
    free(p->text);
    free(p->listed);
    free(p->defines);
    *p = (Program){0};
}
