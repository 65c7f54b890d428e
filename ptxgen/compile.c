/* The compiler's table of contents: source text -> tokens -> tree -> checked program -> async IR -> PTX -> cubin. */
#define XXH_INLINE_ALL
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "frontend/prog.h"
#include "frontend/stdlib_embed.h"
#include "lang/file.h"
#include "ptxgen/c_interface.h"
#include "ptxgen/cache/cache.h"
#include "ptxgen/paths.h"
#include "ptxgen/ptxgen.h"
#include "ptxgen/schedules.h"

typedef struct Job {
    tilecc_result result; /* first: what the caller holds */
    Mem mem;
    Arena arena, scratch, proof;
    Names *names;
    Sources sources;
    Diags diags;
    Compilation c;
    Text out, rendered;
    Text certificate; /* of the IR that is printed */
    PtxWriter *writer;
    VEC(const char *) dependencies;
    const tilecc_options *opt;
    Source *main;
    Cache cache;
    CacheEntry ptx, cubin; /* from the cache */
} Job;

static tilecc_result *finish(Job *j, tilecc_status s, const char *message)
{
    j->result.status = s;
    j->result.message = message;
    return &j->result;
}

/* ---- modules: import folders, beside the importing file, the library that is built in ---- */

/* NULL where there is no such file; with *why where there is one. */
static char *read_file(Job *j, const char *path, size_t *size, const char **why)
{
    *why = file_refused(path, false);
    FILE *f = *why ? NULL : fopen(path, "rb");
    if (!f) {
        if (!*why && file_exists(path)) *why = arena_printf(&j->arena, "can't be opened: %s", strerror(errno));
        return NULL;
    }
    Text t;
    text_init(&t, &j->mem);
    char buf[4096];
    size_t n;
    while (t.n <= FILE_MOST && (n = fread(buf, 1, sizeof buf, f)) > 0) text_put(&t, buf, n);
    if (ferror(f)) *why = arena_printf(&j->arena, "can't be read: %s", strerror(errno));
    else if (t.n > FILE_MOST) *why = FILE_TOO_LARGE;
    fclose(f);
    char *copy = *why ? NULL : arena_strdup(&j->arena, t.s ? t.s : "", t.n);
    *size = t.n;
    text_free(&t);
    return copy;
}

static const char *module_file(Job *j, const char *dir, size_t n, const char *module, size_t *size, const char **path,
                               const char **why)
{
    char *p = arena_printf(&j->arena, "%.*s%s%s.tile", (int)n, dir, n && dir[n - 1] != '/' ? "/" : "", module);
    for (char *s = p + n; s < p + strlen(p) - 5; s++)
        if (*s == '.') *s = '/';
    const char *text = read_file(j, p, size, why);
    if (text || *why) *path = p;
    if (!text) return NULL;
    for (uint32_t i = 0; i < j->dependencies.n; i++)
        if (strcmp(j->dependencies.v[i], p) == 0) return text;
    vec_push(&j->arena, &j->dependencies, p);
    return text;
}

static const char *read_module(void *user, const char *module, const char *from, size_t *size, const char **path, const char **why)
{
    Job *j = user;
    const char *text;
    for (size_t i = 0; i < j->opt->nimport_dirs; i++) {
        const char *dir = j->opt->import_dirs[i];
        if ((text = module_file(j, dir, strlen(dir), module, size, path, why)) || *why) return text;
    }
    const char *slash = strrchr(from, '/');
    if ((text = module_file(j, from, slash ? (size_t)(slash - from) : 0, module, size, path, why)) || *why) return text;
    return tilecc_library(module, size, path);
}

/* ---- tune files ---- */

/* The main source is this module of the library, and nothing that happens to be called so. */
static const StdlibFile *of_library(const Job *j)
{
    size_t n;
    const StdlibFile *lib = stdlib_files(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(lib[i].path, j->main->path) == 0 && lib[i].size == j->main->len && memcmp(lib[i].text, j->main->text, j->main->len) == 0) return &lib[i];
    return NULL;
}

/* NULL: the one beside the source, where there is one. */
static const char *tune_path(Job *j)
{
    const char *asked = j->opt->tune, *path = j->main->path;
    size_t n = strlen(path);
    if (asked) return strcmp(asked, "off") == 0 ? NULL : asked;
    if (j->opt->pin || of_library(j) || n < 6 || strcmp(path + n - 5, ".tile") != 0) return NULL;
    char *beside = arena_printf(&j->arena, "%.*s.tune", (int)(n - 5), path);
    return file_exists(beside) ? beside : NULL;
}

/* false after an error: in what schedules there are to be. */
static bool tune_files(Job *j)
{
    const char *path = tune_path(j), *why = NULL;
    size_t size = 0;
    const char *text = path ? read_file(j, path, &size, &why) : NULL;
    const Source *src = text ? sources_add(&j->sources, path, text, size) : NULL;
    if (path && !src) diag_at(&j->diags, E0222, (Span){0, 0}, "the tune file %s %s", path, why ? why : text ? "is too large" : "is not there");
    const char *pin = j->opt->pin;
    const StdlibFile *own = src || pin || j->opt->tune ? NULL : of_library(j);
    if (src) vec_push(&j->arena, &j->dependencies, path);
    else if (own && own->tune_size) src = sources_add(&j->sources, own->tune_path, own->tune, own->tune_size);
    if (src) j->c.tune = tune_read(&j->c, src, false);
    const Source *pinned = pin ? sources_add(&j->sources, "--pin", pin, strlen(pin)) : NULL;
    if (pinned) j->c.pin = tune_read(&j->c, pinned, true);
    return j->diags.errors == 0;
}

/* ---- stages ---- */

static void show_tokens(Job *j)
{
    ParseContext pc = {&j->arena, j->names, &j->diags, &j->sources};
    print_tokens(&pc, j->main, &j->out);
}

static Unit *parse(Job *j)
{
    ParseContext pc = {&j->arena, j->names, &j->diags, &j->sources};
    return parse_unit(&pc, j->main);
}

static Define *defines(Job *j)
{
    Define *d = arena_array(&j->arena, Define, j->opt->ndefines);
    for (size_t i = 0; i < j->opt->ndefines; i++)
        d[i] = (Define){.name = j->opt->defines[i].name, .value = j->opt->defines[i].value};
    return d;
}

static void unused_defines(Job *j, Checked *ch, const Define *d)
{
    bool whole = j->diags.errors == 0;
    for (size_t i = 0; i < j->opt->ndefines; i++) {
        if (d[i].used) continue;
        const char *module = module_of_const(ch, d[i].name);
        Diag *g = module ? diag_at(&j->diags, E0213, (Span){0, 0}, "-D %s=%s: this is a constant of the module `%s`, and those can't be set",
                                   d[i].name, d[i].value, module)
                         : diag_at(&j->diags, E0213, (Span){0, 0}, "-D %s=%s: no kernel has this compile-time parameter", d[i].name,
                                   d[i].value);
        if (!module && whole) diag_note(&j->diags, g, (Span){0, 0}, "it can set %s (--emit=defines)", check_settable(ch, &j->arena));
        if (module) diag_fix(&j->diags, g, "a compile-time parameter of the kernel, which hands it to the module's functions: `f<N>(..)`");
    }
}

static IrModule module_of(Job *j)
{
    return (IrModule){.target = j->c.target->name, .cluster_dst = j->opt->ptx_version && j->opt->ptx_version < 86};
}

static void emit_ir(Job *j, Checked *ch)
{
    IrModule m = module_of(j);
    Built b;
    for (size_t i = 0; i < check_kernel_count(ch);) {
        i = build_schedules(&j->c, ch, i, NULL, &j->certificate, &b);
        for (uint32_t k = 0; k < b.kernels.n; k++) vec_push(&j->scratch, &m.kernels, b.kernels.v[k]);
    }
    if (j->opt->emit == TILECC_EMIT_TREE) {
        ir_print_tree(&j->out, &m, &j->sources);
        return;
    }
    ir_print(&j->out, &m, &j->sources);
    text_put(&j->out, j->certificate.s ? j->certificate.s : "", j->certificate.n);
}

static void emit_plan(Job *j, Checked *ch)
{
    Built b;
    for (size_t i = 0; i < check_kernel_count(ch);) i = build_schedules(&j->c, ch, i, &j->out, NULL, &b);
}

static void emit_schedules(Job *j, Checked *ch)
{
    IrModule m = module_of(j);
    list_schedules(&j->c, ch, &m, &j->out);
}

/* The checks say so earlier and better where they know; nothing that the target lacks gets past this one. */
static void check_legal(Job *j, const PtxWriter *w)
{
    InstrForm form;
    Span span;
    if (!ptx_illegal(w, &form, &span)) return;
    const FormInfo *info = form_info(form);
    int words = (int)strcspn(info->ptx, " {;");
    Diag *g = diag_at(&j->diags, E0801, span, "%s has no `%.*s..` of the kind that this becomes (%s)", j->c.target->name, words,
                      info->ptx, info->ident);
    diag_fix(&j->diags, g, "targets that have it: %s", feature_targets(&j->arena, info->feature));
}

/* Kernel by kernel, so that only one kernel's IR is in memory at a time. */
static void emit_ptx(Job *j, Checked *ch, PtxLines *lines)
{
    IrModule m = module_of(j);
    PtxOptions po = {.lineinfo = j->opt->lineinfo != 0,
                     .sources = &j->sources,
                     .source_path = source_recorded(j->main),
                     .source_hash = XXH64(j->main->text, j->main->len, 0)};
    PtxWriter *w = j->writer = ptx_begin(&j->arena, &j->mem, &m, &po);
    ArenaMark mark = arena_mark(&j->scratch);
    for (size_t i = 0; i < check_kernel_count(ch);) {
        Built b;
        i = build_schedules(&j->c, ch, i, NULL, NULL, &b);
        for (uint32_t k = 0; k < b.kernels.n && !j->diags.errors; k++) ptx_kernel(w, b.kernels.v[k]);
        arena_release(&j->scratch, mark);
    }
    check_legal(j, w);
    if (!j->diags.errors) {
        unsigned version;
        j->result.ptx = ptx_end(w, &j->result.ptx_size, lines, &version);
        if (j->opt->ptx_version && version > j->opt->ptx_version)
            diag_at(&j->diags, E0804, (Span){0, 0}, "the program needs PTX %u.%u, --ptx-version asks for %u.%u", version / 10,
                    version % 10, j->opt->ptx_version / 10, j->opt->ptx_version % 10);
    }
}

static void render(Job *j)
{
    const tilecc_options *o = j->opt;
    diags_render(&j->diags, o->error_format == TILECC_JSON ? DIAG_JSON : o->error_format == TILECC_SHORT ? DIAG_SHORT : DIAG_HUMAN,
                 o->colour != 0, &j->rendered);
}

/* ---- the disk cache ---- */

static void cache_said(Job *j, const char *what, const char *became)
{
    const char *before = j->result.cache ? j->result.cache : j->cache.path;
    j->result.cache = arena_printf(&j->arena, "%s%s%s %s", before, j->result.cache ? ", " : ": ", what, became);
}

static void keep(Job *j, const char *what, const CacheKey *k, const CacheEntry *e)
{
    if (cache_put(&j->cache, k, e)) cache_said(j, what, "kept");
    else cache_said(j, what, arena_printf(&j->arena, "not kept: %s", j->cache.said));
}

/* The modules are read, and all is as if it were compiled now: only what makes the PTX is left out. */
static bool take_ptx(Job *j, CacheKey *k)
{
    if (!j->opt->cache || j->diags.errors) return false;
    cache_open(&j->cache, true);
    if (j->cache.folder < 0) {
        if (j->cache.said[0]) j->result.cache = arena_printf(&j->arena, "%s%s%s", j->cache.path, j->cache.path[0] ? ": " : "", j->cache.said);
        return false;
    }
    key_ptx(k, j->opt, j->c.target->name, &j->sources);
    if (!cache_get(&j->cache, &j->mem, k, &j->ptx)) return false;
    cache_said(j, "PTX", "taken");
    j->result.ptx = j->ptx.output;
    j->result.ptx_size = (size_t)j->ptx.output_size;
    j->diags.warnings = (uint32_t)j->ptx.number;
    text_put(&j->rendered, j->ptx.note, (size_t)j->ptx.note_size);
    return true;
}

static void keep_ptx(Job *j, const CacheKey *k)
{
    render(j);
    const char *said = j->rendered.s ? j->rendered.s : "";
    keep(j, "PTX", k, &(CacheEntry){.output = j->result.ptx, .output_size = j->result.ptx_size, .note = said, .note_size = j->rendered.n, .number = j->diags.warnings});
}

static bool take_cubin(Job *j, const CacheKey *k)
{
    if (!cache_get(&j->cache, &j->mem, k, &j->cubin)) return false;
    cache_said(j, "cubin", "taken");
    j->result.output = j->cubin.output;
    j->result.output_size = (size_t)j->cubin.output_size;
    j->result.assembler = j->cubin.note;
    return true;
}

static const char *emit_cubin(Job *j, Checked *ch, PtxLines *lines)
{
    AsmOptions ao = {.arch = target_today(j->c.target)->name,
                     .lineinfo = j->opt->lineinfo != 0,
                     .which = j->opt->assembler,
                     .ptxas = j->opt->ptxas,
                     .nvjitlink = j->opt->nvjitlink};
    CacheKey key;
    bool cached = j->cache.folder >= 0;
    if (cached) assemble_key(&j->arena, &ao, j->result.ptx, j->result.ptx_size, &key);
    if (cached && take_cubin(j, &key)) return NULL;
    AsmResult r = assemble(&j->arena, &ao, j->result.ptx, j->result.ptx_size, lines, &j->sources);
    if (r.status != TILECC_OK && j->ptx.block && *r.log) { /* which places of the source the assembler speaks of */
        emit_ptx(j, ch, lines);
        r = assemble(&j->arena, &ao, j->result.ptx, j->result.ptx_size, lines, &j->sources);
    }
    j->result.assembler = r.assembler;
    if (r.status != TILECC_OK) {
        j->result.status = r.status;
        return r.log && *r.log ? arena_printf(&j->arena, "%s\n%s", r.message, r.log) : r.message;
    }
    j->result.output = r.cubin;
    j->result.output_size = r.size;
    if (cached) keep(j, "cubin", &key, &(CacheEntry){.output = r.cubin, .output_size = r.size, .note = r.assembler, .note_size = strlen(r.assembler)});
    return NULL;
}

/* Files that were read; those of the built-in library have one name everywhere. */
static void record_paths(Job *j)
{
    PathMaps maps = {j->opt->path_maps, j->opt->npath_maps};
    for (uint32_t i = 0; i < j->sources.files.n; i++) {
        Source *f = j->sources.files.v[i];
        for (uint32_t k = 0; k < j->dependencies.n; k++)
            if (strcmp(j->dependencies.v[k], f->path) == 0) f->recorded = path_recorded(&j->arena, maps, j->main->path, f->path);
    }
}

/* ---- the whole way ---- */

static const char *compile(Job *j)
{
    const tilecc_options *o = j->opt;
    if (o->emit == TILECC_EMIT_TOKENS) {
        show_tokens(j);
        return NULL;
    }
    Unit *unit = parse(j);
    if (o->emit == TILECC_EMIT_AST) {
        print_unit(unit, j->names, &j->sources, &j->out);
        return NULL;
    }
    if (j->diags.errors) return NULL; /* what could not be read has no meaning to check */
    if (!tune_files(j)) return NULL;
    Define *d = defines(j);
    ImportReader reader = {.read = read_module, .user = j};
    Checked *ch = check_unit(&j->c, unit, d, o->ndefines, &reader, o->arch);
    record_paths(j);
    PtxLines lines = {NULL, 0, 0};
    CacheKey key;
    if (o->emit == TILECC_EMIT_IR || o->emit == TILECC_EMIT_TREE) emit_ir(j, ch);
    else if (o->emit == TILECC_EMIT_PLAN) emit_plan(j, ch);
    else if (o->emit == TILECC_EMIT_SCHEDULES) emit_schedules(j, ch);
    else if (o->emit == TILECC_EMIT_DEFINES) check_defines(ch, &j->out);
    else if (take_ptx(j, &key)) return o->emit == TILECC_EMIT_CUBIN ? emit_cubin(j, ch, &lines) : NULL;
    else emit_ptx(j, ch, &lines);
    unused_defines(j, ch, d);
    if (j->diags.errors) return NULL;
    if (j->cache.folder >= 0) keep_ptx(j, &key);
    return o->emit == TILECC_EMIT_CUBIN ? emit_cubin(j, ch, &lines) : NULL;
}

static void deliver(Job *j)
{
    tilecc_result *r = &j->result;
    const tilecc_options *o = j->opt;
    if (!j->rendered.n && !j->ptx.block) render(j);
    r->diagnostics = j->rendered.s ? j->rendered.s : "";
    r->diagnostics_size = j->rendered.n;
    r->errors = j->diags.errors;
    r->warnings = j->diags.warnings;
    bool failed = r->errors || (o->warnings_are_errors && r->warnings);
    if (failed) {
        r->status = TILECC_ERROR_SOURCE;
        r->message = r->errors ? arena_printf(&j->arena, "%u error%s", r->errors, r->errors == 1 ? "" : "s")
                               : arena_printf(&j->arena, "%u warning%s (-Werror)", r->warnings,
                                              r->warnings == 1 ? " counts as an error" : "s count as errors");
    }
    if (r->status != TILECC_OK) {
        r->output = NULL;
        r->output_size = 0;
        return;
    }
    if (o->emit == TILECC_EMIT_PTX) {
        r->output = r->ptx;
        r->output_size = r->ptx_size;
    } else if (o->emit != TILECC_EMIT_CUBIN) {
        r->output = j->out.s ? j->out.s : "";
        r->output_size = j->out.n;
    }
}

/* ---- options ---- */

static void *libc_realloc(void *user, void *p, size_t n)
{
    (void)user;
    if (n) return realloc(p, n);
    free(p);
    return NULL;
}

static const char *bad_option(Job *j, const tilecc_options *o)
{
    if ((o->ndefines && !o->defines) || (o->nimport_dirs && !o->import_dirs) || (o->npath_maps && !o->path_maps)) return "a list of options is NULL and has a length";
    for (size_t i = 0; i < o->ndefines; i++)
        if (!o->defines[i].name || !o->defines[i].value) return "a definition is NULL";
    for (size_t i = 0; i < o->nimport_dirs; i++)
        if (!o->import_dirs[i]) return "an import folder is NULL";
    for (size_t i = 0; i < o->npath_maps; i++)
        if (!o->path_maps[i] || !strchr(o->path_maps[i], '=')) return "a map of paths is OLD=NEW";
    if (o->arch && older_target_find(o->arch) && !target_find(o->arch))
        return arena_printf(&j->arena, "there is no PTX for %s, which has none of the asynchronous copies; the least target is %s",
                            o->arch, target_at(0)->name);
    if (o->arch && !target_find(o->arch)) {
        const char *near = target_nearest(o->arch);
        return arena_printf(&j->arena, "unknown target `%s`%s%s%s", o->arch, near ? "; did you mean `" : "", near ? near : "",
                            near ? "`?" : ": see --list-targets");
    }
    if ((unsigned)o->emit > TILECC_EMIT_DEFINES || (unsigned)o->error_format > TILECC_JSON ||
        (unsigned)o->assembler > TILECC_ASM_PTXAS || o->hints < -1 || o->hints > 1)
        return "an option has a value that tilecc.h does not list";
    if (o->ptx_version && o->ptx_version < 80)
        return arena_printf(&j->arena, "PTX version %u.%u: the instructions need at least 8.0", o->ptx_version / 10,
                            o->ptx_version % 10);
    if (o->ptx_version && !ptx_version_exists(o->ptx_version))
        return arena_printf(&j->arena, "there is no PTX version %u.%u; the newest is %u.%u", o->ptx_version / 10,
                            o->ptx_version % 10, ptx_version_newest() / 10, ptx_version_newest() % 10);
    return NULL;
}

static bool begin(Job *j, const char *path, const char *text, size_t size)
{
    j->names = names_new(&j->arena);
    sources_init(&j->sources, &j->arena);
    diags_init(&j->diags, &j->arena, &j->sources);
    j->diags.no_performance = j->opt->no_performance_warnings != 0;
    path = arena_strdup(&j->arena, path ? path : "<source>", strlen(path ? path : "<source>"));
    j->main = sources_add(&j->sources, path, arena_strdup(&j->arena, text ? text : "", size), size);
    vec_push(&j->arena, &j->dependencies, path);
    j->c = (Compilation){.arena = &j->arena,
                         .scratch = &j->scratch,
                         .proof = &j->proof,
                         .names = j->names,
                         .sources = &j->sources,
                         .diags = &j->diags,
                         .default_arch = j->opt->default_arch,
                         .ptx_version = j->opt->ptx_version,
                         .hints = j->opt->hints,
                         .no_dependent = j->opt->no_dependent_launch,
                         .no_variants = j->opt->no_variants,
                         .gpu = j->opt->gpu};
    return j->main != NULL;
}

static Job *new_job(const tilecc_options *o, jmp_buf *fail)
{
    MemRealloc alloc = o->realloc ? o->realloc : libc_realloc;
    Job *j = alloc(o->user, NULL, sizeof *j + sizeof *o);
    if (!j) return NULL;
    memset(j, 0, sizeof *j);
    j->opt = memcpy(j + 1, o, sizeof *o);
    j->mem = (Mem){.realloc = alloc, .user = o->user, .fail = fail};
    arena_init(&j->arena, &j->mem);
    arena_init(&j->scratch, &j->mem);
    arena_init(&j->proof, &j->mem);
    text_init(&j->out, &j->mem);
    text_init(&j->rendered, &j->mem);
    text_init(&j->certificate, &j->mem);
    j->cache.folder = -1;
    j->result.message = j->result.diagnostics = "";
    return j;
}

tilecc_result *tilecc_compile(const tilecc_options *opt, const char *path, const char *text, size_t size)
{
    tilecc_options o;
    memset(&o, 0, sizeof o);
    o.struct_size = sizeof o;
    if (opt) memcpy(&o, opt, opt->struct_size < sizeof o ? opt->struct_size : sizeof o);
    jmp_buf fail;
    Job *j = new_job(&o, &fail);
    if (!j) return NULL;
    if (setjmp(fail)) {
        j->mem.fail = NULL;
        cache_close(&j->cache);
        j->result.output = NULL;
        j->result.output_size = 0;
        return finish(j, TILECC_ERROR_ENVIRONMENT, "memory ran out");
    }
    const char *wrong = text || !size ? bad_option(j, j->opt) : "the text is NULL";
    if (opt && opt->struct_size < sizeof opt->struct_size) wrong = "struct_size of the options is 0: set it to sizeof(tilecc_options)";
    if (wrong) return finish(j, TILECC_ERROR_USAGE, wrong);
    if (!begin(j, path, text, size)) return finish(j, TILECC_ERROR_ENVIRONMENT, "the source is larger than 1 GiB");
    const char *message = compile(j);
    cache_close(&j->cache);
    if (message) j->result.message = message;
    deliver(j);
    j->result.dependencies = j->dependencies.v;
    j->result.ndependencies = j->dependencies.n;
    arena_free(&j->proof);
    arena_free(&j->scratch);
    j->mem.fail = NULL;
    return &j->result;
}

/* Names of libtile's and C's headers, which a header of that name would hide from all who look in its folder. */
static bool hides(const char *name)
{
    static const char *const NAMES[] = {"tile", "tilecc", "tile_source", "tile_device", "tile_module", "tile_kernel", "tile_args",
                                        "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math", "setjmp",
                                        "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "tgmath", "time", "wchar", "wctype",
                                        "dlfcn", "pthread"}; /* of POSIX, which libtile includes */
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(NAMES[i], name) == 0) return true;
    return false;
}

/* Between the quotes of #include. */
static bool can_be_included(const char *name)
{
    for (; *name; name++)
        if (*name == '"' || *name == '\\' || (unsigned char)*name < ' ') return false;
    return true;
}

/* Of each kernel the first schedule: the others are called as it is, by libtile. */
static void keep_callable(Manifest *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->kernels.n; i++)
        if (m->kernels.v[i].schedule == 0) m->kernels.v[n++] = m->kernels.v[i];
    m->kernels.n = n;
}

static const char *write_c(Job *j, CInterface *c, tilecc_c_part part)
{
    if (!c->file || !c->file[0]) return "the pair of files has no name";
    if (!c->images && c->nimages) return "there is no image";
    if (hides(c->file)) return arena_printf(&j->arena, "`%s` is a name of libtile's or of C's: another one is needed for the kernels", c->file);
    if (!can_be_included(c->file)) return arena_printf(&j->arena, "`%s.h` can't stand in an #include: another name is needed for the kernels", c->file);
    if (!c->nimages) return NULL;
    bool digit = c->file[0] >= '0' && c->file[0] <= '9';
    char *name = arena_printf(&j->arena, "%s%s", digit ? "_" : "", c->file);
    for (char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *p)) *p = '_';
    c->name = name;
    Manifest *m = arena_array(&j->arena, Manifest, c->nimages);
    for (size_t i = 0; i < c->nimages; i++) {
        const char *wrong = c->images[i].data ? manifest_find(c->images[i].data, c->images[i].size, &j->arena, &m[i]) : "it is NULL";
        if (wrong) return arena_printf(&j->arena, "image %zu: %s", i, wrong);
        keep_callable(&m[i]);
        c->hash = (uint32_t)XXH64(c->images[i].data, c->images[i].size, c->hash);
    }
    c->manifests = m;
    if (m[0].kernels.n == 0) return arena_printf(&j->arena, "%s has no kernel", m[0].source);
    const char *wrong = c_interface_differs(c);
    if (wrong) return wrong;
    if (part == TILECC_C_HEADER) c_interface_header(c, &j->out);
    else c_interface_source(c, &j->out);
    j->result.output = j->out.s;
    j->result.output_size = j->out.n;
    return NULL;
}

tilecc_result *tilecc_write_c(const char *name, const tilecc_image *images, size_t nimages, int driver, tilecc_c_part part)
{
    const tilecc_options none = {.struct_size = sizeof none};
    jmp_buf fail;
    Job *j = new_job(&none, &fail);
    if (!j) return NULL;
    if (setjmp(fail)) {
        j->mem.fail = NULL;
        j->result.output = NULL;
        return finish(j, TILECC_ERROR_ENVIRONMENT, "memory ran out");
    }
    CInterface c = {.arena = &j->arena, .file = name, .driver = driver != 0, .images = images, .nimages = nimages};
    const char *wrong = write_c(j, &c, part);
    j->mem.fail = NULL;
    return wrong ? finish(j, TILECC_ERROR_USAGE, wrong) : &j->result;
}

void tilecc_free(tilecc_result *r)
{
    if (!r) return;
    Job *j = (Job *)(void *)r;
    Mem mem = j->mem;
    text_free(&j->out);
    text_free(&j->rendered);
    text_free(&j->certificate);
    if (j->writer) ptx_free(j->writer);
    if (j->ptx.block) mem.realloc(mem.user, j->ptx.block, 0);
    if (j->cubin.block) mem.realloc(mem.user, j->cubin.block, 0);
    arena_free(&j->proof);
    arena_free(&j->scratch);
    arena_free(&j->arena);
    mem.realloc(mem.user, j, 0);
}
