/* moves.h says what this does.
 *
 *     moves [--device=cuda] [--scale=full|small] [--repeats=N] [--peers=FILE] [--variants=FILE] [--samples=N] [--quick]
 *           [CASE..]
 *
 * From the repository's root. CASE: a part of a case's name; without one all run. FILE of peers: what peers.py writes.
 * FILE of variants: lines "LABEL FILE KERNEL HINTS DEFINES", which stand for the variants of the one case named (HINTS:
 * auto, on, off; DEFINES: "BM=64,BN=256" or -).
 *
 * Each launch is timed by events, the launches of a variant in a row; the median counts. Outputs are compared with the
 * reference completely after the first launch, and in random slices (samples) after the timed ones; with --quick in
 * slices both times. Exit code 1: something differs
 * or did not compile. 3: no GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/moves.h"
#include "bench/moves_device.h"

typedef struct Options {
    const char *device, *peers, *variants;
    bool small, quick;
    int repeats, samples;
    char **cases;
    int ncases;
} Options;

/* ---- peers ---- */

static double peer_ms(const char *path, const char *peer, double bytes)
{
    FILE *f = path && peer ? fopen(path, "r") : NULL;
    char name[64];
    double ms, of, found = 0;
    while (f && fscanf(f, "%63s %lf %lf", name, &ms, &of) == 3) {
        if (strcmp(name, peer) != 0) continue;
        found = ms;
        if (of != bytes) {
            fprintf(stderr, "moves: %s moves %.0f bytes in peers.py and %.0f here\n", peer, of, bytes);
            exit(1);
        }
    }
    if (f) fclose(f);
    return found;
}

/* ---- one variant ---- */

typedef struct Row {
    double ms, memcpy_ms, peer_ms;
    tile_launch_facts facts;
    uint64_t compared;
} Row;

static void print_row(const Bench *b, const Variant *v, const Row *r)
{
    printf("| %s | %s | %.4f | %.3f |", b->c->name, v->label, r->ms, b->bytes / r->ms / 1e9);
    if (r->memcpy_ms > 0) printf(" %.3f |", r->memcpy_ms / r->ms);
    else printf(" - |");
    if (r->peer_ms > 0) printf(" %.4f | %.2f |", r->peer_ms, r->peer_ms / r->ms);
    else printf(" - | - |");
    const tile_launch_facts *f = &r->facts;
    printf(" %u x %u x %u%s%s | %s | %llu |\n", f->grid[0], f->grid[1], f->grid[2], f->deal ? ", " : "",
           f->deal ? f->deal : "",
           f->hints > 0    ? "on"
           : f->hints == 0 ? "off"
                           : "-",
           (unsigned long long)r->compared);
    fflush(stdout);
}

static bool outputs_are_right(Machine *m, const Bench *b, int samples, uint64_t *compared)
{
    Differences diff;
    tile_error err;
    if (!bench_compare(m->device, b, samples, &diff, &err)) die(err.text);
    *compared += diff.compared;
    if (diff.wrong)
        printf("| %s | WRONG: %llu of %llu elements, first %s |\n", b->c->name, (unsigned long long)diff.wrong,
               (unsigned long long)diff.compared, diff.first);
    return diff.wrong == 0;
}

static void fill_outputs(Machine *m, Bench *b)
{
    tile_error err;
    for (int i = 0; i < b->ntensors; i++)
        if (b->tensors[i].is_output && !machine_clear(m, &b->tensors[i]) &&
            !bench_fill(m->device, &b->tensors[i], &err))
            die(err.text);
    b->launches = 0;
}

static void launch_once(Bench *b, tile_args *args, Machine *m)
{
    tile_error err;
    if (tile_launch(args, NULL, &err) != TILE_OK || tile_synchronize(m->device, NULL, &err) != TILE_OK) die(err.text);
    b->launches++;
}

static void launch_many(Bench *b, Row *row, tile_args *args, Machine *m, int repeats)
{
    row->ms = machine_time_tile(m, args, repeats);
    b->launches += repeats + WARM_UP;
}

static bool run_variant(Machine *m, Bench *b, const Variant *v, const Options *o, Row row)
{
    tile_module *module;
    char why[512];
    if (!machine_compile(m, v, &module, why, sizeof why)) {
        printf("| %s | %s | does not compile: %s |\n", b->c->name, v->label, why);
        return false;
    }
    tile_error err;
    tile_args *args;
    tile_kernel *k = tile_kernel_find(module, v->kernel);
    if (tile_args_new(k, &args, &err) != TILE_OK) die(err.text);
    for (int i = 0; i < b->ntensors; i++) {
        const Tensor *t = &b->tensors[i];
        if (tile_bind(args, t->param, t->address, 0, t->type, t->rank, t->shape, NULL, &err) != TILE_OK) die(err.text);
    }
    fill_outputs(m, b);
    if (tile_launch_info(args, &row.facts, &err) != TILE_OK) die(err.text);
    launch_once(b, args, m);
    bool ok = outputs_are_right(m, b, o->quick ? o->samples : 0, &row.compared);
    if (ok) {
        launch_many(b, &row, args, m, o->repeats);
        ok = outputs_are_right(m, b, o->samples, &row.compared);
    }
    if (ok) print_row(b, v, &row);
    tile_args_free(args);
    tile_module_free(module);
    return ok;
}

/* ---- one case ---- */

static void set_up(Machine *m, Bench *b, const Case *c, bool small)
{
    tile_error err;
    *b = (Bench){.c = c};
    memcpy(b->dim, small ? c->small : c->full, sizeof b->dim);
    c->set_up(b);
    for (int i = 0; i < b->ntensors; i++) {
        Tensor *t = &b->tensors[i];
        if (tile_alloc(m->device, (size_t)t->n * t->size, &t->address, &err) != TILE_OK) die(err.text);
        if (!t->is_output && !bench_fill(m->device, t, &err)) die(err.text);
    }
}

static void tear_down(Machine *m, Bench *b)
{
    for (int i = 0; i < b->ntensors; i++) tile_release(m->device, b->tensors[i].address, NULL);
    free(b->first);
    free(b->next);
}

static bool run_variants_of(Machine *m, Bench *b, const Options *o, Row row)
{
    FILE *f = fopen(o->variants, "r");
    if (!f) die("the file of variants can't be opened");
    Variant v;
    char hints[8];
    bool ok = true;
    while (fscanf(f, "%63s %127s %31s %7s %127s", v.label, v.file, v.kernel, hints, v.defines) == 5) {
        v.hints = strcmp(hints, "on") == 0 ? 1 : strcmp(hints, "off") == 0 ? -1 : 0;
        if (strcmp(v.defines, "-") == 0) v.defines[0] = 0;
        ok = run_variant(m, b, &v, o, row) && ok;
    }
    fclose(f);
    return ok;
}

static bool run_case(Machine *m, const Case *c, const Options *o)
{
    Bench b;
    set_up(m, &b, c, o->small);
    Row row = {.memcpy_ms = machine_time_memcpy(m, (size_t)(b.bytes / 2), o->repeats),
               .peer_ms = peer_ms(o->peers, c->peer, b.bytes)};
    bool ok = true;
    if (o->variants) ok = run_variants_of(m, &b, o, row);
    else
        for (size_t i = 0; i < sizeof c->variants / sizeof *c->variants && c->variants[i].label[0]; i++)
            ok = run_variant(m, &b, &c->variants[i], o, row) && ok;
    tear_down(m, &b);
    return ok;
}

static bool is_chosen(const Options *o, const Case *c)
{
    for (int i = 0; i < o->ncases; i++)
        if (strstr(c->name, o->cases[i])) return true;
    return o->ncases == 0;
}

static const char *value_of(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static Options read_options(int argc, char **argv)
{
    Options o = {.device = "cuda", .repeats = 21, .samples = 256, .cases = argv};
    for (int i = 1; i < argc; i++) {
        const char *v;
        if ((v = value_of(argv[i], "--device"))) o.device = v;
        else if ((v = value_of(argv[i], "--peers"))) o.peers = v;
        else if ((v = value_of(argv[i], "--variants"))) o.variants = v;
        else if ((v = value_of(argv[i], "--scale"))) o.small = strcmp(v, "small") == 0;
        else if ((v = value_of(argv[i], "--repeats"))) o.repeats = atoi(v);
        else if ((v = value_of(argv[i], "--samples"))) o.samples = atoi(v);
        else if (strcmp(argv[i], "--quick") == 0) o.quick = true;
        else if (argv[i][0] == '-')
            die("usage: moves [--device=D] [--scale=full|small] [--repeats=N] [--peers=FILE] "
                "[--variants=FILE] [--samples=N] [--quick] [CASE..]");
        else o.cases[o.ncases++] = argv[i];
    }
    if (o.repeats < 1 || o.repeats > REPEATS_MOST || o.samples < 1) die("--repeats and --samples take a number from 1");
    return o;
}

int main(int argc, char **argv)
{
    Options o = read_options(argc, argv);
    Machine m;
    if (!machine_open(&m, o.device)) return 3;
    printf("%s, %s; median of %d launches; TB/s count bytes read and written\n\n", tile_device_name(m.device),
           o.small ? "small sizes" : "full sizes", o.repeats);
    printf(
        "| movement | program | ms | TB/s | of cudaMemcpyAsync | PyTorch ms | times PyTorch | CTAs | hints | elements "
        "compared |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    bool ok = true, any = false;
    for (size_t i = 0; i < bench_ncases; i++) {
        if (!is_chosen(&o, &bench_cases[i])) continue;
        any = true;
        ok = run_case(&m, &bench_cases[i], &o) && ok;
    }
    machine_close(&m);
    if (!any) die("no case is named so");
    return ok ? 0 : 1;
}
