/* NULL for every pointer of every public function: what the headers say happens. The table below must have a row for
 * each pointer that the headers declare, and the libraries export what the headers declare and nothing else. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tile.h"
#include "tile_source.h"
#include "tilecc.h"

static const char PROGRAM[] =
    "kernel k(x: global f32[N], n: s32, y: global f32[N]) where N % 4 == 0 {"
    " pipeline i in ceil(N, 64) across grid { shared t: f32[64]; move x[i * 64] -> t; move t -> y[i * 64]; } }";

typedef struct World {
    tilecc_result *compiled;
    tile_device *device;
    tile_module *module;
    tile_kernel *kernel;
    tile_args *args;
    uint64_t memory;
    tile_error err;
    /* what calls fill */
    tile_device *d;
    tile_module *m;
    tile_args *a;
    tile_type type;
    tile_kernel_facts facts;
    tile_param param;
    tile_launch_facts launch;
    tile_ptx_summary summary;
    uint64_t address;
    int64_t value;
    double ms;
    float data[64];
} World;

static const int64_t SHAPE[1] = {64};
static const char DEFINE[] = "A=1";
static const char *const DEFINES[1] = {DEFINE}, *const NO_DEFINE[1] = {NULL};

/* ---- what is expected ---- */

static void refused(World *w, tile_status s)
{
    assert_int_equal(s, TILE_ERROR_ARGUMENT);
    assert_int_equal(w->err.status, TILE_ERROR_ARGUMENT);
    assert_non_null(strstr(w->err.text, "NULL"));
    w->err = (tile_error){.status = TILE_OK};
}

static void fine(tile_status s) { assert_int_equal(s, TILE_OK); }
static void text(const char *s, const char *expected) { assert_string_equal(s, expected); }
static void is(bool holds) { assert_true(holds); }

static void report(void *user, const tile_ptx_finding *f) { (void)user, (void)f; }

static tilecc_status compiled(const tilecc_options *o, const char *path, const char *source, size_t n)
{
    tilecc_result *r = tilecc_compile(o, path, source, n);
    tilecc_status s = r ? r->status : TILECC_ERROR_INTERNAL;
    tilecc_free(r);
    return s;
}

static tilecc_options options(void)
{
    return (tilecc_options){.struct_size = sizeof(tilecc_options), .emit = TILECC_EMIT_PTX};
}

static tilecc_status without(bool dirs, const char *name, const char *value, bool list)
{
    tilecc_options o = options();
    tilecc_define d = {name, value};
    const char *dir[1] = {NULL};
    if (dirs) o.import_dirs = list ? dir : NULL, o.nimport_dirs = 1;
    else o.defines = list ? &d : NULL, o.ndefines = 1;
    return compiled(&o, "t.tile", PROGRAM, sizeof PROGRAM - 1);
}

static tilecc_status written(const char *name, const tilecc_image *images, size_t n)
{
    tilecc_result *r = tilecc_write_c(name, images, n, 0, TILECC_C_HEADER);
    tilecc_status s = r ? r->status : TILECC_ERROR_INTERNAL;
    tilecc_free(r);
    return s;
}

#define IMAGE w->compiled->output, w->compiled->output_size
#define SOURCE PROGRAM, sizeof PROGRAM - 1
#define WHERE(w) ((const int64_t[]){(int64_t)(w)->memory, 1, (int64_t)(w)->memory + 256})

/* function, pointer, what happens when that one is NULL */
#define ROWS(ROW)                                                                                                        \
    ROW(tile_type_find, name, is(tile_type_find(NULL, &w->type) == 0))                                                   \
    ROW(tile_type_find, out, is(tile_type_find("f32", NULL) == 1))                                                       \
    ROW(tile_device_open, name, fine(tile_device_open(NULL, &w->d, &w->err)); tile_device_close(w->d))                   \
    ROW(tile_device_open, out, refused(w, tile_device_open("sim", NULL, &w->err)))                                       \
    ROW(tile_device_open, err, fine(tile_device_open("sim", &w->d, NULL)); tile_device_close(w->d))                      \
    ROW(tile_device_open_with, name, fine(tile_device_open_with(NULL, NULL, &w->d, &w->err)); tile_device_close(w->d))   \
    ROW(tile_device_open_with, opt, fine(tile_device_open_with("sim", NULL, &w->d, &w->err)); tile_device_close(w->d))   \
    ROW(tile_device_open_with, out, refused(w, tile_device_open_with("sim", NULL, NULL, &w->err)))                       \
    ROW(tile_device_open_with, err, fine(tile_device_open_with("sim", NULL, &w->d, NULL)); tile_device_close(w->d))      \
    ROW(tile_device_close, d, tile_device_close(NULL))                                                                   \
    ROW(tile_device_name, d, text(tile_device_name(NULL), ""))                                                           \
    ROW(tile_device_gpu, d, text(tile_device_gpu(NULL), ""))                                                             \
    ROW(tile_device_simulates, d, is(tile_device_simulates(NULL) == 0))                                                  \
    ROW(tile_device_arch, d, is(tile_device_arch(NULL) == NULL))                                                         \
    ROW(tile_alloc, d, w->address = 1; refused(w, tile_alloc(NULL, 16, &w->address, &w->err)); is(w->address == 0);      \
        refused(w, tile_alloc(NULL, 0, &w->address, &w->err)))                                                           \
    ROW(tile_alloc, address, refused(w, tile_alloc(w->device, 16, NULL, &w->err)))                                       \
    ROW(tile_alloc, err, fine(tile_alloc(w->device, 16, &w->address, NULL)); tile_release(w->device, w->address, NULL))  \
    ROW(tile_release, d, refused(w, tile_release(NULL, w->memory, &w->err)); refused(w, tile_release(NULL, 0, &w->err))) \
    ROW(tile_release, err, fine(tile_release(w->device, 0, NULL)); is(tile_release(w->device, 1, NULL) != TILE_OK))      \
    ROW(tile_write, d, refused(w, tile_write(NULL, w->memory, w->data, 16, &w->err)))                                    \
    ROW(tile_write, from, refused(w, tile_write(w->device, w->memory, NULL, 16, &w->err));                               \
        fine(tile_write(w->device, w->memory, NULL, 0, &w->err)))                                                        \
    ROW(tile_write, err, fine(tile_write(w->device, w->memory, w->data, 16, NULL)))                                      \
    ROW(tile_read, d, refused(w, tile_read(NULL, w->data, w->memory, 16, &w->err)))                                      \
    ROW(tile_read, to, refused(w, tile_read(w->device, NULL, w->memory, 16, &w->err));                                   \
        fine(tile_read(w->device, NULL, w->memory, 0, &w->err)))                                                         \
    ROW(tile_read, err, fine(tile_read(w->device, w->data, w->memory, 16, NULL)))                                        \
    ROW(tile_copy, d, refused(w, tile_copy(NULL, w->memory, w->memory, 16, NULL, &w->err)))                              \
    ROW(tile_copy, stream, fine(tile_copy(w->device, w->memory, w->memory, 16, NULL, &w->err)))                          \
    ROW(tile_copy, err, fine(tile_copy(w->device, w->memory, w->memory, 16, NULL, NULL)))                                \
    ROW(tile_synchronize, d, refused(w, tile_synchronize(NULL, NULL, &w->err)))                                          \
    ROW(tile_synchronize, stream, fine(tile_synchronize(w->device, NULL, &w->err)))                                      \
    ROW(tile_synchronize, err, fine(tile_synchronize(w->device, NULL, NULL)))                                            \
    ROW(tile_time, args, w->ms = 1; refused(w, tile_time(NULL, NULL, 1, &w->ms, &w->err)); is(w->ms == 0))               \
    ROW(tile_time, stream, fine(tile_time(w->args, NULL, 1, &w->ms, &w->err)))                                           \
    ROW(tile_time, milliseconds, refused(w, tile_time(w->args, NULL, 1, NULL, &w->err)))                                 \
    ROW(tile_time, err, fine(tile_time(w->args, NULL, 1, &w->ms, NULL)))                                                 \
    ROW(tile_module_load, d, w->m = w->module; refused(w, tile_module_load(NULL, IMAGE, &w->m, &w->err)); is(!w->m))     \
    ROW(tile_module_load, image, refused(w, tile_module_load(w->device, NULL, 16, &w->m, &w->err)); is(!w->m);           \
        is(tile_module_load(w->device, NULL, 0, &w->m, &w->err) == TILE_ERROR_MODULE && !w->m))                          \
    ROW(tile_module_load, out, refused(w, tile_module_load(w->device, IMAGE, NULL, &w->err)))                            \
    ROW(tile_module_load, err, fine(tile_module_load(w->device, IMAGE, &w->m, NULL)); tile_module_free(w->m))            \
    ROW(tile_module_load_file, d, w->m = w->module; refused(w, tile_module_load_file(NULL, "/x", &w->m, &w->err)); is(!w->m)) \
    ROW(tile_module_load_file, path, refused(w, tile_module_load_file(w->device, NULL, &w->m, &w->err)); is(!w->m))      \
    ROW(tile_module_load_file, out, refused(w, tile_module_load_file(w->device, "/x", NULL, &w->err)))                   \
    ROW(tile_module_load_file, err, is(tile_module_load_file(w->device, "/x", &w->m, NULL) == TILE_ERROR_ARGUMENT))      \
    ROW(tile_device_use_compiler, d, tile_device_use_compiler(NULL, NULL))                                               \
    ROW(tile_device_use_compiler, compiler, tile_device_use_compiler(w->device, NULL);                                   \
        is(tile_module_load_source(w->device, "t", SOURCE, NULL, 0, &w->m, &w->err) == TILE_ERROR_UNSUPPORTED);          \
        tile_use_compiler(w->device))                                                                                    \
    ROW(tile_module_load_source, d, w->m = w->module;                                                                    \
        refused(w, tile_module_load_source(NULL, "t", SOURCE, NULL, 0, &w->m, &w->err)); is(!w->m))                      \
    ROW(tile_module_load_source, path, fine(tile_module_load_source(w->device, NULL, SOURCE, NULL, 0, &w->m, &w->err));  \
        tile_module_free(w->m);                                                                                          \
        is(tile_module_load_source(w->device, NULL, NULL, 0, NULL, 0, &w->m, &w->err) == TILE_ERROR_ARGUMENT && !w->m))  \
    ROW(tile_module_load_source, text,                                                                                   \
        is(tile_module_load_source(w->device, "/x", NULL, 0, NULL, 0, &w->m, &w->err) == TILE_ERROR_ARGUMENT))           \
    ROW(tile_module_load_source, defines, refused(w, tile_module_load_source(w->device, "t", SOURCE, NULL, 1, &w->m, &w->err)); \
        refused(w, tile_module_load_source(w->device, "t", SOURCE, NO_DEFINE, 1, &w->m, &w->err)))                       \
    ROW(tile_module_load_source, out, refused(w, tile_module_load_source(w->device, "t", SOURCE, NULL, 0, NULL, &w->err))) \
    ROW(tile_module_load_source, err,                                                                                    \
        is(tile_module_load_source(w->device, "t", SOURCE, DEFINES, 1, &w->m, NULL) == TILE_ERROR_SOURCE && !w->m))      \
    ROW(tile_module_free, m, tile_module_free(NULL))                                                                     \
    ROW(tile_kernel_count, m, is(tile_kernel_count(NULL) == 0))                                                          \
    ROW(tile_kernel_at, m, is(tile_kernel_at(NULL, 0) == NULL))                                                          \
    ROW(tile_kernel_find, m, is(tile_kernel_find(NULL, "k") == NULL))                                                    \
    ROW(tile_kernel_find, name, is(tile_kernel_find(w->module, NULL) == NULL))                                           \
    ROW(tile_kernel_name, k, text(tile_kernel_name(NULL), ""))                                                           \
    ROW(tile_kernel_info, k, w->facts.threads = 1; tile_kernel_info(NULL, &w->facts); text(w->facts.compiler, "");       \
        text(w->facts.target, ""); text(w->facts.source, ""); is(w->facts.threads == 0 && w->facts.ntrusts == 0))        \
    ROW(tile_kernel_info, out, tile_kernel_info(w->kernel, NULL))                                                        \
    ROW(tile_param_count, k, is(tile_param_count(NULL) == 0))                                                            \
    ROW(tile_param_info, k, w->param.rank = 1; is(tile_param_info(NULL, 0, &w->param) == TILE_ERROR_ARGUMENT);           \
        text(w->param.name, ""); text(w->param.extents, ""); is(w->param.rank == 0))                                     \
    ROW(tile_param_info, out, is(tile_param_info(w->kernel, 0, NULL) == TILE_ERROR_ARGUMENT))                            \
    ROW(tile_args_new, k, w->a = w->args; refused(w, tile_args_new(NULL, &w->a, &w->err)); is(!w->a))                    \
    ROW(tile_args_new, out, refused(w, tile_args_new(w->kernel, NULL, &w->err)))                                         \
    ROW(tile_args_new, err, fine(tile_args_new(w->kernel, &w->a, NULL)); tile_args_free(w->a))                           \
    ROW(tile_args_free, a, tile_args_free(NULL))                                                                         \
    ROW(tile_bind, a, refused(w, tile_bind(NULL, "x", w->memory, 256, TILE_F32, 1, SHAPE, NULL, &w->err)))               \
    ROW(tile_bind, param, refused(w, tile_bind(w->args, NULL, w->memory, 256, TILE_F32, 1, SHAPE, NULL, &w->err)))       \
    ROW(tile_bind, shape, refused(w, tile_bind(w->args, "x", w->memory, 256, TILE_F32, 1, NULL, NULL, &w->err)))         \
    ROW(tile_bind, strides, fine(tile_bind(w->args, "x", w->memory, 256, TILE_F32, 1, SHAPE, NULL, &w->err)))            \
    ROW(tile_bind, err, fine(tile_bind(w->args, "x", w->memory, 256, TILE_F32, 1, SHAPE, NULL, NULL)))                   \
    ROW(tile_bind_scalar, a, refused(w, tile_bind_scalar(NULL, "n", 1, &w->err)))                                        \
    ROW(tile_bind_scalar, param, refused(w, tile_bind_scalar(w->args, NULL, 1, &w->err)))                                \
    ROW(tile_bind_scalar, err, fine(tile_bind_scalar(w->args, "n", 1, NULL)))                                            \
    ROW(tile_symbol, a, refused(w, tile_symbol(NULL, "N", &w->value, &w->err)))                                          \
    ROW(tile_symbol, name, refused(w, tile_symbol(w->args, NULL, &w->value, &w->err)))                                   \
    ROW(tile_symbol, value, refused(w, tile_symbol(w->args, "N", NULL, &w->err)))                                        \
    ROW(tile_symbol, err, fine(tile_symbol(w->args, "N", &w->value, NULL)); is(w->value == 64))                          \
    ROW(tile_launch, a, refused(w, tile_launch(NULL, NULL, &w->err)))                                                    \
    ROW(tile_launch, stream, fine(tile_launch(w->args, NULL, &w->err)))                                                  \
    ROW(tile_launch, err, fine(tile_launch(w->args, NULL, NULL)))                                                        \
    ROW(tile_launch_at, a, refused(w, tile_launch_at(NULL, WHERE(w), 3, NULL, &w->err)))                                 \
    ROW(tile_launch_at, where, refused(w, tile_launch_at(w->args, NULL, 3, NULL, &w->err)))                              \
    ROW(tile_launch_at, stream, fine(tile_launch_at(w->args, WHERE(w), 3, NULL, &w->err)))                               \
    ROW(tile_launch_at, err, fine(tile_launch_at(w->args, WHERE(w), 3, NULL, NULL)))                                     \
    ROW(tile_check_trusts, a, refused(w, tile_check_trusts(NULL, 1, &w->err)))                                           \
    ROW(tile_check_trusts, err, fine(tile_check_trusts(w->args, 1, NULL)))                                               \
    ROW(tile_launch_info, a, w->launch.per_sm = 1; refused(w, tile_launch_info(NULL, &w->launch, &w->err));              \
        is(w->launch.per_sm == 0 && w->launch.hints == -1))                                                              \
    ROW(tile_launch_info, out, refused(w, tile_launch_info(w->args, NULL, &w->err)))                                     \
    ROW(tile_launch_info, err, fine(tile_launch_info(w->args, &w->launch, NULL)))                                        \
    ROW(tile_check_ptx, text, refused(w, tile_check_ptx(NULL, 9, NULL, NULL, report, NULL, &w->summary, &w->err));       \
        fine(tile_check_ptx(NULL, 0, NULL, NULL, report, NULL, &w->summary, &w->err)); is(w->summary.instructions == 0)) \
    ROW(tile_check_ptx, target, fine(tile_check_ptx(IMAGE, NULL, "8.8", report, NULL, &w->summary, &w->err)))            \
    ROW(tile_check_ptx, version, fine(tile_check_ptx(IMAGE, "sm_90a", NULL, report, NULL, &w->summary, &w->err)))        \
    ROW(tile_check_ptx, report, fine(tile_check_ptx("?", 1, NULL, NULL, NULL, NULL, &w->summary, &w->err));              \
        is(w->summary.errors > 0))                                                                                       \
    ROW(tile_check_ptx, user, fine(tile_check_ptx(IMAGE, NULL, NULL, report, NULL, &w->summary, &w->err));               \
        is(w->summary.instructions > 0 && w->summary.errors == 0))                                                       \
    ROW(tile_check_ptx, out, fine(tile_check_ptx(IMAGE, NULL, NULL, report, NULL, NULL, &w->err)))                       \
    ROW(tile_check_ptx, err, is(tile_check_ptx(IMAGE, "x", NULL, report, NULL, &w->summary, NULL) == TILE_ERROR_ARGUMENT)) \
    ROW(tile_use_compiler, d, tile_use_compiler(NULL))                                                                   \
    ROW(tilecc_compile, opt, is(compiled(NULL, "t.tile", SOURCE) == TILECC_OK))                                          \
    ROW(tilecc_compile, path, tilecc_options o = options(); is(compiled(&o, NULL, SOURCE) == TILECC_OK))                 \
    ROW(tilecc_compile, text, tilecc_options o = options(); is(compiled(&o, "t", NULL, 9) == TILECC_ERROR_USAGE);        \
        is(compiled(&o, "t", NULL, 0) == TILECC_ERROR_SOURCE); is(without(false, NULL, "1", true) == TILECC_ERROR_USAGE); \
        is(without(false, "A", NULL, true) == TILECC_ERROR_USAGE); is(without(false, NULL, NULL, false) == TILECC_ERROR_USAGE); \
        is(without(true, NULL, NULL, true) == TILECC_ERROR_USAGE); is(without(true, NULL, NULL, false) == TILECC_ERROR_USAGE)) \
    ROW(tilecc_write_c, name, const tilecc_image image = {IMAGE}; is(written(NULL, &image, 1) == TILECC_ERROR_USAGE);    \
        is(written("", &image, 1) == TILECC_ERROR_USAGE); is(written("k", &image, 1) == TILECC_OK))                      \
    ROW(tilecc_write_c, images, const tilecc_image no = {NULL, 0}; is(written("k", NULL, 0) == TILECC_OK && written("time", NULL, 0) == TILECC_ERROR_USAGE); \
        is(written("k", NULL, 1) == TILECC_ERROR_USAGE); is(written("k", &no, 1) == TILECC_ERROR_USAGE))                 \
    ROW(tilecc_cache, out, is(tilecc_cache(TILECC_CACHE_COUNT, NULL) == TILECC_ERROR_USAGE))                             \
    ROW(tilecc_free, r, tilecc_free(NULL))                                                                               \
    ROW(tilecc_explain, code, const char *rule; is(tilecc_explain(NULL, &rule, &rule) == NULL))                          \
    ROW(tilecc_explain, rule, const char *from; is(tilecc_explain("E0201", NULL, &from) && from))                        \
    ROW(tilecc_explain, source, const char *rule; is(tilecc_explain("E0201", &rule, NULL) && rule))                      \
    ROW(tilecc_library, module, size_t size; const char *path; is(tilecc_library(NULL, &size, &path) == NULL))           \
    ROW(tilecc_library, size, const char *path; is(tilecc_library("std.copy", NULL, &path) && path))                     \
    ROW(tilecc_library, path, size_t size; is(tilecc_library("std.copy", &size, NULL) && size > 0))

#define ROW(function, pointer, ...) static void function##_##pointer(World *w) { (void)w; __VA_ARGS__; }
ROWS(ROW)
#undef ROW

typedef struct Row {
    const char *function, *pointer;
    void (*call)(World *w);
} Row;
#define ROW(function, pointer, ...) {#function, #pointer, function##_##pointer},
static const Row TABLE[] = {ROWS(ROW)};
#undef ROW
enum { NROWS = sizeof TABLE / sizeof *TABLE };

static void every_null(void **state)
{
    World w = {.err = {.status = TILE_OK}};
    tilecc_options o = options();
    (void)state;
    w.compiled = tilecc_compile(&o, "t.tile", SOURCE);
    assert_true(w.compiled && w.compiled->status == TILECC_OK);
    fine(tile_device_open("sim", &w.device, &w.err));
    tile_use_compiler(w.device);
    fine(tile_module_load(w.device, w.compiled->output, w.compiled->output_size, &w.module, &w.err));
    w.kernel = tile_kernel_find(w.module, "k");
    fine(tile_args_new(w.kernel, &w.args, &w.err));
    fine(tile_alloc(w.device, 512, &w.memory, &w.err));
    fine(tile_bind(w.args, "x", w.memory, 256, TILE_F32, 1, SHAPE, NULL, &w.err));
    fine(tile_bind(w.args, "y", w.memory + 256, 256, TILE_F32, 1, SHAPE, NULL, &w.err));
    fine(tile_bind_scalar(w.args, "n", 1, &w.err));
    for (int i = 0; i < NROWS; i++) TABLE[i].call(&w);
    fine(tile_launch(w.args, NULL, &w.err)); /* nothing that was there has changed */
    tile_args_free(w.args);
    fine(tile_release(w.device, w.memory, &w.err));
    tile_module_free(w.module);
    tile_device_close(w.device);
    tilecc_free(w.compiled);
}

/* ---- the headers ---- */

typedef struct Declared {
    char function[64], pointers[12][32];
    int n;
} Declared;

static const char *header(const char *path, char *out, size_t size)
{
    char full[1024];
    const char *root = getenv("ROOT");
    snprintf(full, sizeof full, "%s/%s", root ? root : "..", path);
    FILE *f = fopen(full, "rb");
    if (!f) fail_msg("can't read %s", full);
    size_t n = fread(out, 1, size - 1, f);
    fclose(f);
    assert_true(n < size - 1);
    out[n] = 0;
    return out;
}

/* One parameter, from `s` up to `end`: its name if it is a pointer. */
static void parameter(Declared *d, const char *s, const char *end)
{
    const char *star = memchr(s, '*', (size_t)(end - s)), *call = memchr(s, '(', (size_t)(end - s));
    if (!star) return;
    const char *last = call ? call + 2 : end; /* void (*report)(..) */
    if (call) while (isalnum((unsigned char)*last) || *last == '_') last++;
    const char *first = last;
    while (isalnum((unsigned char)first[-1]) || first[-1] == '_') first--;
    assert_true(d->n < 12 && last - first < 32);
    memcpy(d->pointers[d->n], first, (size_t)(last - first));
    d->pointers[d->n++][last - first] = 0;
}

/* The declaration at `s`, behind TILE_API or TILECC_API. */
static void declaration(Declared *d, const char *s)
{
    const char *open = strchr(s, '('), *first = open;
    while (isalnum((unsigned char)first[-1]) || first[-1] == '_') first--;
    *d = (Declared){.n = 0};
    assert_true(open - first < 64);
    memcpy(d->function, first, (size_t)(open - first));
    int depth = 0;
    const char *from = open + 1;
    for (const char *p = open; *p != ';'; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if ((*p == ',' && depth == 1) || (*p == ')' && depth == 0)) {
            parameter(d, from, p);
            from = p + 1;
        }
    }
}

static int declarations(Declared *out, int max)
{
    static const char *const HEADERS[] = {"runtime/include/tile.h", "runtime/include/tile_source.h", "ptxgen/include/tilecc.h"};
    static char s[1 << 16];
    int n = 0;
    for (int i = 0; i < 3; i++) {
        const char *word = i == 2 ? "\nTILECC_API " : "\nTILE_API ";
        for (const char *p = header(HEADERS[i], s, sizeof s); (p = strstr(p, word)) != NULL; p++) {
            assert_true(n < max);
            declaration(&out[n++], p + strlen(word));
        }
    }
    return n;
}

static void table_is_complete(void **state)
{
    static Declared all[128];
    int n = declarations(all, 128), rows = 0;
    (void)state;
    assert_true(n > 35);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < all[i].n; k++) {
            int found = 0;
            for (int r = 0; r < NROWS; r++)
                found += strcmp(TABLE[r].function, all[i].function) == 0 && strcmp(TABLE[r].pointer, all[i].pointers[k]) == 0;
            if (found != 1) fail_msg("%d rows for %s(.. %s ..)", found, all[i].function, all[i].pointers[k]);
            rows++;
        }
    assert_int_equal(rows, NROWS);
}

/* Of the functions that the libraries show the headers declare all. */
static void exported(void **state)
{
    static Declared all[128];
    int n = declarations(all, 128), symbols = 0;
    const char *build = getenv("BUILD");
    char command[2048], line[512];
    (void)state;
    if (!build) skip();
    snprintf(command, sizeof command, "nm -D --defined-only '%s/lib/libtile.so' '%s/lib/libtile_source.so' '%s/lib/libtilecc.so' 2>/dev/null",
             build, build, build);
    FILE *nm = popen(command, "r");
    assert_non_null(nm);
    while (fgets(line, sizeof line, nm)) {
        char name[256];
        if (sscanf(line, "%*s T %255s", name) != 1) continue;
        char *version = strstr(name, "@@TILE");
        if (!version) fail_msg("%s has no version", name);
        *version = 0;
        bool declared = false;
        for (int i = 0; i < n; i++) declared = declared || strcmp(all[i].function, name) == 0;
        if (!declared) fail_msg("%s is exported, and no header declares it", name);
        symbols++;
    }
    pclose(nm);
    if (symbols == 0) skip(); /* built as one, without shared libraries, or without nm */
    assert_int_equal(symbols, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_null), cmocka_unit_test(table_is_complete), cmocka_unit_test(exported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
