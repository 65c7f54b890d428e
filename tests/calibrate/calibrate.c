/* calibrate [--seed N] [--cases N] [--kind NAME] [--show NUMBER] [--against DEVICE] [--device DEVICE]
 *
 * Runs `cases` cases of each kind (or of one) on both devices (cuda and sim:fast unless told) and compares: prints a row
 * per kind and the first differences. Exit code 0: none; 1: some; 77: no such device here. --show prints one case's
 * result of --device instead. Each device works in processes of its own, since a trap ends a CUDA process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/device.h"
#include "tests/calibrate/calibrate.h"

typedef enum Class { CLASS_OK, CLASS_TIMEOUT, CLASS_TRAP, CLASS_REFUSED, CLASS_BROKEN } Class;
static const char *const CLASS_NAMES[] = {"ok", "bytes missing", "trap", "refused", "BROKEN"};

typedef struct Result {
    uint32_t class;
    uint64_t shared, tensor, status; /* hashes */
    char text[160];
} Result;

typedef struct Setup {
    uint64_t seed;
    uint32_t cases;
    int kind; /* -1: all */
    const char *device[2];
} Setup;

static uint32_t total(const Setup *s)
{
    return s->kind >= 0 ? s->cases : s->cases * KIND_COUNT;
}

static Kind kind_of(const Setup *s, uint32_t index)
{
    return s->kind >= 0 ? (Kind)s->kind : (Kind)(index / s->cases);
}

/* ---- one process: a device and its buffers ---- */

enum { MODULES = 512, OUT_BYTES = RANKS * REGION_MAX + 4 * STATUS_WORDS };
typedef struct Bench {
    tile_device *d;
    uint64_t tensor, fill, out, args;
    uint64_t hash[MODULES];
    void *module[MODULES], *function[MODULES];
    uint32_t nmodules;
    uint8_t *host_fill, *host_tensor, *host_out;
} Bench;

static bool bench_open(Bench *b, const char *device, tile_error *e)
{
    if (tile_device_open(device, &b->d, e) != TILE_OK) return false;
    b->host_fill = malloc(OUT_BYTES);
    b->host_tensor = malloc(TENSOR_MAX);
    b->host_out = malloc(OUT_BYTES);
    return b->host_fill && b->host_tensor && b->host_out && tile_alloc(b->d, TENSOR_MAX, &b->tensor, e) == TILE_OK &&
           tile_alloc(b->d, OUT_BYTES, &b->fill, e) == TILE_OK && tile_alloc(b->d, OUT_BYTES, &b->out, e) == TILE_OK &&
           tile_alloc(b->d, ARGS * 4, &b->args, e) == TILE_OK;
}

/* The kernel of the case; loaded once for each text. */
static tile_status find_function(Bench *b, const Case *c, void **function, tile_error *e)
{
    static char text[16384];
    write_ptx(c, text, sizeof text);
    uint64_t hash = XXH64(text, strlen(text), c->cluster);
    for (uint32_t i = 0; i < b->nmodules; i++) {
        if (b->hash[i] != hash) continue;
        *function = b->function[i];
        return TILE_OK;
    }
    void *module = NULL;
    tile_status s = b->d->ops->load(b->d, text, true, &module, e);
    if (s == TILE_OK) s = b->d->ops->function(b->d, module, "k", REGION_MAX + 2048, c->cluster, function, e);
    if (s == TILE_OK && b->nmodules < MODULES) {
        b->hash[b->nmodules] = hash;
        b->module[b->nmodules] = module;
        b->function[b->nmodules++] = *function;
    }
    return s;
}

static tile_status put(Bench *b, const Case *c, tile_error *e)
{
    memset(b->host_out, 0xc5, OUT_BYTES);
    tile_status s = tile_write(b->d, b->tensor, c->tensor, c->tensor_bytes, e);
    if (s == TILE_OK) s = tile_write(b->d, b->fill, c->fill, (size_t)c->cluster * c->region, e);
    if (s == TILE_OK) s = tile_write(b->d, b->out, b->host_out, OUT_BYTES, e);
    if (s == TILE_OK) s = tile_write(b->d, b->args, c->args, sizeof c->args, e);
    return s;
}

static tile_status launch(Bench *b, const Case *c, void *function, void *map, tile_error *e)
{
    void *params[] = {map, &b->tensor, &b->fill, &b->out, &b->args};
    Launch l = {.function = function,
                .grid = {c->cluster, 1, 1},
                .cluster = {c->cluster, 1, 1},
                .threads = 128,
                .smem = REGION_MAX + 2048,
                .params = params};
    tile_status s = b->d->ops->launch(b->d, &l, NULL, e);
    return s == TILE_OK ? tile_synchronize(b->d, NULL, e) : s;
}

static Result judge(const Bench *b, const Case *c)
{
    size_t regions = (size_t)c->cluster * c->region;
    Result r = {.class = CLASS_OK};
    r.shared = XXH64(b->host_out, regions, 0);
    r.status = XXH64(b->host_out + regions, 4 * STATUS_WORDS, 0);
    r.tensor = XXH64(b->host_tensor, c->tensor_bytes, 0);
    for (uint32_t i = 0; i < c->cluster; i++)
        if (b->host_out[regions + 4 * i] != 1) r.class = CLASS_TIMEOUT;
    return r;
}

/* *ended: the device is of no more use. */
static Result run_case(Bench *b, const Case *c, bool *ended)
{
    static _Alignas(128) unsigned char map[MAP_BYTES];
    tile_error e = {0};
    void *function = NULL;
    Result r = {.class = CLASS_BROKEN};
    memset(map, 0, sizeof map);
    tile_status s = find_function(b, c, &function, &e);
    if (s == TILE_OK) s = put(b, c, &e);
    if (s == TILE_OK && c->has_map) {
        MapDesc m = c->map;
        MapMemory memory = {TENSOR_MAX, true};
        m.address += (int64_t)b->tensor;
        s = b->d->ops->encode_map(b->d, &m, &memory, map, &e);
        if (s != TILE_OK) r.class = CLASS_REFUSED;
    }
    if (s == TILE_OK) {
        s = launch(b, c, function, map, &e);
        if (s == TILE_OK) {
            s = tile_read(b->d, b->host_out, b->out, OUT_BYTES, &e);
            if (s == TILE_OK) s = tile_read(b->d, b->host_tensor, b->tensor, c->tensor_bytes, &e);
            if (s == TILE_OK) return judge(b, c);
        } else {
            r.class = CLASS_TRAP;
            *ended = !b->d->simulates;
        }
    }
    snprintf(r.text, sizeof r.text, "%.150s", e.text);
    return r;
}

/* Cases from..n-1 into the pipe, up to a trap. */
static void work(const Setup *s, const char *device, uint32_t from, uint32_t n, int out)
{
    static Bench b;
    static Case c;
    tile_error e;
    if (!bench_open(&b, device, &e)) {
        printf("SKIPPED: %s: %s\n", device, e.text);
        fflush(stdout);
        _exit(77);
    }
    bool ended = false;
    for (uint32_t i = from; i < n && !ended; i++) {
        draw_case(&c, kind_of(s, i), i % s->cases, s->seed, b.host_fill, b.host_tensor);
        Result r = run_case(&b, &c, &ended);
        if (write(out, &r, sizeof r) != (ssize_t)sizeof r) _exit(1);
    }
    _exit(0);
}

/* All cases on one device; false: there is none. */
static bool run_all(const Setup *s, const char *device, Result *results)
{
    uint32_t n = total(s), done = 0;
    while (done < n) {
        int ends[2];
        if (pipe(ends) != 0) return false;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            work(s, device, done, n, ends[1]);
        }
        close(ends[1]);
        FILE *in = fdopen(ends[0], "rb");
        uint32_t before = done;
        while (in && done < n && fread(&results[done], sizeof *results, 1, in) == 1) done++;
        if (in) fclose(in);
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return false;
        if (done == before) { /* died without a word */
            results[done] = (Result){.class = CLASS_BROKEN};
            snprintf(results[done].text, sizeof results[done].text, "the process ended with status %d", status);
            done++;
        }
    }
    return true;
}

/* ---- the comparison ---- */

static bool same(const Result *a, const Result *b)
{
    if (a->class != b->class) return false;
    return a->class != CLASS_OK || (a->shared == b->shared && a->tensor == b->tensor && a->status == b->status);
}

static void explain(const Setup *s, uint32_t index, const Result *a, const Result *b)
{
    static Case c;
    static uint8_t fill[OUT_BYTES], tensor[TENSOR_MAX];
    draw_case(&c, kind_of(s, index), index % s->cases, s->seed, fill, tensor);
    printf("DIFFERENT %s %u (--seed %" PRIu64 "): %s\n", KIND_NAMES[c.kind], c.number, s->seed, c.name);
    printf("    %s: %s %s\n    %s: %s %s\n", s->device[0], CLASS_NAMES[a->class], a->text, s->device[1],
           CLASS_NAMES[b->class], b->text);
    if (a->class == b->class)
        printf("    differ in:%s%s%s\n", a->shared != b->shared ? " shared memory" : "",
               a->tensor != b->tensor ? " global memory" : "", a->status != b->status ? " status words" : "");
}

static int compare(const Setup *s, const Result *a, const Result *b)
{
    uint32_t n = total(s), differences = 0, shown[KIND_COUNT] = {0};
    uint32_t count[KIND_COUNT] = {0}, bad[KIND_COUNT] = {0}, classes[KIND_COUNT][5] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        Kind k = kind_of(s, i);
        count[k]++;
        classes[k][a[i].class]++;
        if (same(&a[i], &b[i])) continue;
        bad[k]++;
        differences++;
        if (shown[k]++ < 5) explain(s, i, &a[i], &b[i]);
    }
    printf("%-18s %6s %6s %8s %6s %8s %7s %11s\n", "kind", "cases", "ok", "missing", "trap", "refused", "broken",
           "differences");
    for (int k = 0; k < KIND_COUNT; k++)
        if (count[k])
            printf("%-18s %6u %6u %8u %6u %8u %7u %11u\n", KIND_NAMES[k], count[k], classes[k][0], classes[k][1],
                   classes[k][2], classes[k][3], classes[k][4], bad[k]);
    printf("%u cases, %u differences (seed %" PRIu64 ", %s against %s)\n", n, differences, s->seed, s->device[1],
           s->device[0]);
    return differences != 0;
}

/* One case on device[0]: what was asked and what is in memory afterwards, as hexadecimal lines that differ from before. */
static void print_bytes(const char *what, const uint8_t *before, const uint8_t *after, size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        if (before && memcmp(before + i, after + i, 16) == 0) continue;
        printf("%s %6zu:", what, i);
        for (size_t k = 0; k < 16; k++) printf(" %02x", after[i + k]);
        putchar('\n');
    }
}

static int show(const Setup *s, uint32_t number)
{
    static Bench b;
    static Case c;
    static uint8_t tensor[TENSOR_MAX];
    static char text[16384];
    tile_error e;
    if (!bench_open(&b, s->device[0], &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 77;
    }
    draw_case(&c, s->kind < 0 ? KIND_LOAD : (Kind)s->kind, number, s->seed, b.host_fill, b.host_tensor);
    memcpy(tensor, b.host_tensor, c.tensor_bytes);
    write_ptx(&c, text, sizeof text);
    printf("%s\n%sargs:", c.name, c.core);
    for (int i = 0; i < ARGS; i++) printf("%s %d", i % 16 ? "" : "\n", c.args[i]);
    putchar('\n');
    bool ended = false;
    Result r = run_case(&b, &c, &ended);
    printf("%s %s\n", CLASS_NAMES[r.class], r.text);
    if (r.class > CLASS_TIMEOUT) return 0;
    print_bytes("shared", b.host_fill, b.host_out, (size_t)c.cluster * c.region);
    print_bytes("global", tensor, b.host_tensor, c.tensor_bytes);
    if (c.kind == KIND_BARRIER)
        print_bytes("status", NULL, b.host_out + (size_t)c.cluster * c.region, 4 * STATUS_WORDS);
    return 0;
}

int main(int argc, char **argv)
{
    Setup s = {.seed = (uint64_t)time(NULL), .cases = 200, .kind = -1, .device = {"cuda", "sim:fast"}};
    long number = -1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) s.seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--cases") == 0) s.cases = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--device") == 0) s.device[0] = argv[i + 1];
        else if (strcmp(argv[i], "--against") == 0) s.device[1] = argv[i + 1];
        else if (strcmp(argv[i], "--show") == 0) number = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--kind") == 0)
            for (int k = 0; k < KIND_COUNT; k++)
                if (strcmp(argv[i + 1], KIND_NAMES[k]) == 0) s.kind = k;
    }
    if (number >= 0) return show(&s, (uint32_t)number);
    if (s.cases == 0) return 2;
    Result *a = calloc(total(&s), sizeof *a), *b = calloc(total(&s), sizeof *b);
    if (!a || !b) return 3;
    bool ran = run_all(&s, s.device[0], a) && run_all(&s, s.device[1], b);
    int code = ran ? compare(&s, a, b) : 77;
    free(a);
    free(b);
    return code;
}
