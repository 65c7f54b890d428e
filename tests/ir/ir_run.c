/* ir_run [--seed N] FILE.ir: a kernel written by hand in IR, run on the simulator.
 *
 * The text is read (ir_read has ir_check in it), printed and read again to the same text, and emitted; the PTX passes
 * check-ptx and runs with the arguments of cases.c, in check mode and in fuzzed schedules. What comes out is compared
 * with plain C to the byte.
 *
 * ir_run --assemble FILE.ir..: gives the PTX of each to ptxas, for several targets. ir_run --ptx FILE.ir shows it.
 *
 * Exit code: 0, 1 a kernel failed, 2 wrong use or a broken file, 77 there is no assembler.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptxgen/ptxgen.h"
#include "runtime/module.h"
#include "tests/ir/cases.h"

typedef struct Kernel { /* of a file */
    const char *path;
    char *source;
    Mem mem;
    jmp_buf fail;
    Arena arena;
    Sources sources;
    Diags diags;
    IrModule *m;
    PtxWriter *writer;
    const char *ptx;
    size_t size;
    PtxLines lines;
} Kernel;

static void give_up(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(2);
}

/* ---- from the text to PTX ---- */

static char *read_file(const char *path, size_t *size)
{
    enum { ROOM = 1 << 16 };
    FILE *f = fopen(path, "rb");
    char *s = malloc(ROOM);
    if (f == NULL || s == NULL) give_up(path, "cannot be read");
    *size = fread(s, 1, ROOM - 1, f);
    s[*size] = 0;
    fclose(f);
    return s;
}

static IrModule *read_ir(Kernel *k, const char *text, size_t size)
{
    IrModule *m = ir_read(&k->arena, names_new(&k->arena), &k->diags, sources_add(&k->sources, k->path, text, size));
    if (m) return m;
    Text t;
    text_init(&t, &k->mem);
    diags_render(&k->diags, DIAG_HUMAN, false, &t);
    give_up(k->path, t.s);
    return NULL;
}

static void check_round_trip(Kernel *k)
{
    Text once, twice;
    text_init(&once, &k->mem);
    text_init(&twice, &k->mem);
    ir_print(&once, k->m, NULL);
    ir_print(&twice, read_ir(k, once.s, once.n), NULL);
    if (strcmp(once.s, twice.s) != 0) give_up(k->path, "what is printed is not what is read back");
    text_free(&once);
    text_free(&twice);
}

static void emit(Kernel *k)
{
    PtxOptions opt = {.source_path = k->path};
    k->writer = ptx_begin(&k->arena, &k->mem, k->m, &opt);
    for (uint32_t i = 0; i < k->m->kernels.n; i++) ptx_kernel(k->writer, k->m->kernels.v[i]);
    k->ptx = ptx_end(k->writer, &k->size, &k->lines, NULL);
}

/* target: NULL for the one that the file names. */
static Kernel *load(const char *path, const char *target)
{
    size_t size;
    Kernel *k = calloc(1, sizeof *k);
    if (k == NULL) abort();
    k->path = path;
    k->source = read_file(path, &size);
    k->mem.fail = &k->fail;
    if (setjmp(k->fail)) give_up(path, "out of memory");
    arena_init(&k->arena, &k->mem);
    sources_init(&k->sources, &k->arena);
    diags_init(&k->diags, &k->arena, &k->sources);
    k->m = read_ir(k, k->source, size);
    check_round_trip(k);
    if (target) k->m->target = target;
    emit(k);
    return k;
}

static void unload(Kernel *k)
{
    ptx_free(k->writer);
    arena_free(&k->arena);
    free(k->source);
    free(k);
}

static void report_ptx(void *user, const tile_ptx_finding *f)
{
    const Kernel *k = user;
    printf("%s: PTX line %u: %s: %s\n", k->path, f->line, f->code, f->text);
}

static bool is_legal(Kernel *k)
{
    tile_ptx_summary sum;
    tile_error err;
    if (tile_check_ptx(k->ptx, k->size, NULL, NULL, report_ptx, k, &sum, &err) != TILE_OK) give_up(k->path, err.text);
    if (sum.instructions == 0) give_up(k->path, "there is nothing to judge in its PTX");
    return sum.errors == 0 && sum.warnings == 0;
}

/* ---- running it ---- */

static void demand(const Kernel *k, tile_status s, const tile_error *err)
{
    if (s != TILE_OK) give_up(k->path, err->text);
}

static void bind(const Kernel *k, tile_device *d, World *x, tile_args *args)
{
    tile_error err;
    for (int i = 0; i < x->ntensors; i++) {
        Tensor *t = &x->tensors[i];
        demand(k, tile_alloc(d, t->bytes, &t->address, &err), &err);
        demand(k, tile_write(d, t->address, t->data, t->bytes, &err), &err);
        demand(k, tile_bind(args, t->name, t->address, t->bytes, t->type, t->rank, t->shape, NULL, &err), &err);
    }
    for (int i = 0; i < x->nscalars; i++)
        demand(k, tile_bind_scalar(args, x->scalars[i].name, x->scalars[i].value, &err), &err);
}

static bool is_right(const Kernel *k, tile_device *d, const World *x, const char *where)
{
    bool right = true;
    tile_error err;
    for (int i = 0; i < x->ntensors && right; i++) {
        const Tensor *t = &x->tensors[i];
        uint8_t *got = malloc(t->bytes + 1);
        if (got == NULL) abort();
        demand(k, tile_read(d, got, t->address, t->bytes, &err), &err);
        size_t at = 0;
        while (at < t->bytes && got[at] == t->want[at]) at++;
        right = at == t->bytes;
        if (!right)
            printf("FAILED: %s, %s: byte %zu of %s is %u, not %u\n", k->path, where, at, t->name, got[at], t->want[at]);
        free(got);
    }
    return right;
}

static int param_of(const tile_args *a, MfParamKind kind)
{
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == kind) return (int)i;
    return -1;
}

static bool launched(const Kernel *k, tile_args *args, const char *where)
{
    tile_error err;
    if (tile_launch(args, NULL, &err) == TILE_OK) return true;
    printf("FAILED: %s, %s: %s\n", k->path, where, err.text);
    return false;
}

/* Tickets need a counter, which a launch leaves at 0. A runtime that has none of its own takes this one. */
static bool counted(const Kernel *k, tile_device *d, tile_args *args, const char *where,
                    bool (*go)(const Kernel *, tile_args *, const char *))
{
    int param = param_of(args, MF_PARAM_COUNTER);
    uint64_t address = 0;
    uint32_t count = 0;
    tile_error err;
    if (param < 0) return go(k, args, where);
    demand(k, tile_alloc(d, sizeof count, &address, &err), &err);
    demand(k, tile_write(d, address, &count, sizeof count, &err), &err);
    args->words[param] = address;
    bool good = go(k, args, where);
    demand(k, tile_read(d, &count, address, sizeof count, &err), &err);
    if (good && count) printf("FAILED: %s, %s: the counter is left at %u\n", k->path, where, count);
    tile_release(d, address, &err);
    return good && count == 0;
}

static bool run_on(const Kernel *k, const Case *c, const char *device, int64_t variant, uint64_t seed)
{
    tile_error err;
    tile_device *d;
    tile_module *module;
    tile_args *args;
    char where[120];
    World x = {.seed = seed};
    snprintf(where, sizeof where, "variant %lld on %s", (long long)variant, device);
    c->make(&x, variant);
    demand(k, tile_device_open(device, &d, &err), &err);
    demand(k, tile_module_load(d, k->ptx, k->size, &module, &err), &err);
    demand(k, tile_args_new(tile_kernel_at(module, 0), &args, &err), &err);
    bind(k, d, &x, args);
    bool good = counted(k, d, args, where, launched) && is_right(k, d, &x, where);
    int hints = param_of(args, MF_PARAM_HINTS);
    if (good && hints >= 0) { /* the same again, told that there is much to move */
        for (int i = 0; i < x.ntensors; i++)
            demand(k, tile_write(d, x.tensors[i].address, x.tensors[i].data, x.tensors[i].bytes, &err), &err);
        args->words[hints] = 1;
        good = launched(k, args, where) && is_right(k, d, &x, where);
    }
    for (int i = 0; i < x.ntensors; i++) {
        tile_release(d, x.tensors[i].address, &err);
        free(x.tensors[i].data);
        free(x.tensors[i].want);
    }
    tile_args_free(args);
    tile_module_free(module);
    tile_device_close(d);
    return good;
}

static bool run_file(const char *path, uint64_t seed)
{
    char name[64];
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(stem, "."), stem);
    const Case *c = case_find(name);
    if (c == NULL) give_up(path, "cases.c has no case of this name");
    Kernel *k = load(path, NULL);
    bool good = is_legal(k);
    for (int i = 0; i < c->nvariants && good; i++) {
        char device[80];
        snprintf(device, sizeof device, "sim:check,seed=%llu,steps=20000000", (unsigned long long)seed);
        good = run_on(k, c, device, c->variants[i], seed);
        snprintf(device, sizeof device, "sim:fuzz,seed=%llu,schedules=12,steps=20000000", (unsigned long long)seed);
        good = good && run_on(k, c, device, c->variants[i], seed + 1);
    }
    unload(k);
    return good;
}

/* ---- the assembler ---- */

/* 0, 1 or 77, as the program exits. */
static int assemble_for(const char *path, const char *target)
{
    Kernel *k = load(path, target);
    AsmOptions opt = {.arch = target, .which = TILECC_ASM_PTXAS};
    AsmResult r = assemble(&k->arena, &opt, k->ptx, k->size, &k->lines, NULL);
    bool none = r.status != TILECC_OK && (r.assembler[0] == 0 || strstr(r.message, "too old"));
    if (none) printf("SKIPPED: %s\n", r.message);
    else if (r.status != TILECC_OK) printf("FAILED: %s for %s: %s\n%s\n", path, target, r.message, r.log);
    int status = none ? 77 : r.status != TILECC_OK;
    unload(k);
    return status;
}

static int assemble_file(const char *path)
{
    static const char *const targets[] = {"sm_90a", "sm_90", "sm_100a", "sm_103a", "sm_120a"};
    int status = 0;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0] && status == 0; i++)
        status = assemble_for(path, targets[i]);
    return status;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    bool assembling = false;
    int status = 0, files = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--assemble") == 0) {
            assembling = true;
        } else if (strcmp(argv[i], "--ptx") == 0 && i + 1 < argc) {
            Kernel *k = load(argv[++i], NULL);
            fwrite(k->ptx, 1, k->size, stdout);
            unload(k);
            return 0;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 10);
        } else {
            int one = assembling ? assemble_file(argv[i]) : !run_file(argv[i], seed);
            if (one > status) status = one;
            files++;
        }
    }
    if (files == 0) give_up(argv[0], "no file is given");
    return status;
}
