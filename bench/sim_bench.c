/* sim_bench: how fast the simulator is, in time of one core. At two sizes each, for both are to be linear:
 *
 *   copies      GB/s copied from global to global memory through shared memory, by two bulk copies: each byte counted once
 *   reductions  GB/s of f16 added to global memory by tensor copies from shared memory
 *   loops       millions of thread instructions a second, arithmetic in all threads
 *
 * Schedules of check mode differ much in kind, so there it runs several seeds: the median, and the slowest and fastest.
 *
 *   sim_bench                                            the table
 *   sim_bench copies|reductions|loops DEVICE N [SEEDS]   one row; N: MB, or rounds of the loop
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/device.h"

enum { SEEDS = 9, SEEDS_MAX = 99 };

static const char COPY[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 128 .b8 smem[];\n"
    ".visible .entry k(.param .u64 from, .param .u64 to)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"
    "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L_end;\n"
    "ld.param.u64 %rd0, [from];\ncvta.to.global.u64 %rd0, %rd0;\nld.param.u64 %rd1, [to];\ncvta.to.global.u64 %rd1, "
    "%rd1;\n"
    "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 16384;\nadd.s64 %rd0, %rd0, %rd2;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, smem;\nmbarrier.init.shared::cta.b64 [%r2+16384], 1;\nfence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+16384], 16384;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 16384, [%r2+16384];\n"
    "L_wait:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r2+16384], 0;\n@!%p1 bra L_wait;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16384;\ncp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0;\nL_end:\nret;\n}\n";

/* 16 KB of shared memory are added to 32 boxes of 64 rows of 128 f16. */
enum { REDUCE_BYTES = 32 * 16384 };
static const char REDUCE[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 128 .b8 smem[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128])\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r2, smem;\nmov.u32 %r3, 0x3c003c00;\nshl.b32 %r4, %r0, 4;\n"
    "L_fill:\nadd.u32 %r5, %r2, %r4;\nst.shared.v4.b32 [%r5], {%r3, %r3, %r3, %r3};\nadd.u32 %r4, %r4, 512;\n"
    "setp.lt.u32 %p1, %r4, 16384;\n@%p1 bra L_fill;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L_end;\n"
    "mov.b64 %rd0, map;\ncvta.param.u64 %rd0, %rd0;\nmov.u32 %r4, 0;\n"
    "mov.u32 %r1, %ctaid.x;\nshl.b32 %r1, %r1, 11;\nadd.u32 %r6, %r1, 2048;\n"
    "L_next:\ncp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd0, {%r4, %r1}], [%r2];\n"
    "cp.async.bulk.commit_group;\nadd.u32 %r1, %r1, 64;\nsetp.lt.u32 %p1, %r1, %r6;\n@%p1 bra L_next;\n"
    "cp.async.bulk.wait_group.read 0;\nL_end:\nret;\n}\n";

/* A loop of 8 instructions in each thread. */
static const char LOOP[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 from, .param .u64 to)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"
    "ld.param.u64 %rd0, [from];\ncvt.u32.u64 %r0, %rd0;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
    "L_next:\nmad.lo.u32 %r1, %r1, 1664525, 1013904223;\nshr.u32 %r3, %r1, 7;\nxor.b32 %r1, %r1, %r3;\nadd.u32 %r4, "
    "%r1, %r2;\n"
    "and.b32 %r4, %r4, 1023;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, %r0;\n@%p0 bra L_next;\n"
    "ld.param.u64 %rd1, [to];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r5, %tid.x;\nmul.wide.u32 %rd2, %r5, 4;\n"
    "add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r6, %ctaid.x;\nmul.wide.u32 %rd2, %r6, 1024;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";

static void check(tile_status s, const tile_error *e)
{
    if (s == TILE_OK) return;
    fprintf(stderr, "sim_bench: %s\n", e->text);
    exit(1);
}

static double seconds(void) /* of this process on its core, whatever else runs */
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of the best of some launches. */
static double measure(tile_device *d, const char *ptx, uint32_t grid, uint32_t threads, void **params, int launches)
{
    tile_error e;
    void *module, *function;
    check(d->ops->load(d, ptx, true, &module, &e), &e);
    check(d->ops->function(d, module, "k", 16400, 1, &function, &e), &e);
    Launch l = {.function = function,
                .grid = {grid, 1, 1},
                .cluster = {1, 1, 1},
                .threads = threads,
                .smem = 16400,
                .params = params};
    double best = 0;
    for (int i = 0; i < launches; i++) {
        double from = seconds();
        check(d->ops->launch(d, &l, NULL, &e), &e);
        double s = seconds() - from;
        if (i == 0 || s < best) best = s;
    }
    d->ops->unload(d, module);
    return best;
}

static tile_device *open_device(const char *name)
{
    tile_error e;
    tile_device *d;
    check(tile_device_open(name, &d, &e), &e);
    return d;
}

static uint64_t alloc(tile_device *d, size_t bytes)
{
    tile_error e;
    uint64_t address;
    check(tile_alloc(d, bytes, &address, &e), &e);
    return address;
}

/* Each gives its rate: GB or M instructions a second. */

static double copies(const char *device, uint32_t mb, int launches)
{
    tile_error e;
    tile_device *d = open_device(device);
    size_t bytes = (size_t)mb << 20;
    uint64_t from = alloc(d, bytes), to = alloc(d, bytes);
    uint8_t *data = malloc(bytes), *back = malloc(bytes);
    if (!data || !back) exit(3);
    for (size_t i = 0; i < bytes; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
    check(tile_write(d, from, data, bytes, &e), &e);
    double s = measure(d, COPY, (uint32_t)(bytes / 16384), 32, (void *[]){&from, &to}, launches);
    check(tile_read(d, back, to, bytes, &e), &e);
    if (memcmp(data, back, bytes) != 0) {
        fprintf(stderr, "sim_bench: the copy is wrong\n");
        exit(1);
    }
    free(data);
    free(back);
    tile_device_close(d);
    return (double)bytes * 1e-9 / s;
}

static double reductions(const char *device, uint32_t mb, int launches)
{
    tile_error e;
    tile_device *d = open_device(device);
    size_t bytes = (size_t)mb << 20;
    uint64_t to = alloc(d, bytes);
    uint16_t first = 0;
    uint8_t map[128];
    MapDesc desc = {.mode = MAP_TILED,
                    .type = MAP_F16,
                    .rank = 2,
                    .address = (int64_t)to,
                    .dim = {(int64_t)(bytes / 256), 128},
                    .pitch = {256},
                    .box = {64, 128},
                    .elem_stride = {1, 1},
                    .is_store = true,
                    .sm = 90};
    MapMemory memory = {0};
    check(d->ops->encode_map(d, &desc, &memory, map, &e), &e);
    double s = measure(d, REDUCE, (uint32_t)(bytes / REDUCE_BYTES), 32, (void *[]){map}, launches);
    check(tile_read(d, &first, to, sizeof first, &e), &e);
    if (first != (launches == 1 ? 0x3c00 : launches == 3 ? 0x4200 : first)) {
        fprintf(stderr, "sim_bench: the reduction is wrong\n");
        exit(1);
    }
    tile_device_close(d);
    return (double)bytes * 1e-9 / s;
}

enum { GRID = 8, THREADS = 256, LOOP_LENGTH = 8 };

static double loops(const char *device, uint32_t rounds, int launches)
{
    tile_device *d = open_device(device);
    uint64_t out = alloc(d, 1 << 16), n = rounds;
    double s = measure(d, LOOP, GRID, THREADS, (void *[]){&n, &out}, launches);
    tile_device_close(d);
    return (double)GRID * THREADS * LOOP_LENGTH * rounds * 1e-6 / s;
}

static const struct Row {
    const char *what, *unit, *size;
    double (*rate)(const char *device, uint32_t n, int launches);
} ROWS[] = {{"copies", "GB/s", "MB", copies},
            {"reductions", "GB/s of f16", "MB", reductions},
            {"loops", "M instructions/s", "rounds", loops}};

static int by_rate(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void row(const struct Row *r, const char *device, uint32_t n, int seeds)
{
    double rate[SEEDS_MAX];
    struct rusage use;
    char name[80];
    for (int i = 0; i < seeds; i++) {
        snprintf(name, sizeof name, seeds == 1 ? "%s" : "%s,seed=%d", device, i + 1);
        rate[i] = r->rate(name, n, seeds == 1 ? 3 : 1);
    }
    qsort(rate, (size_t)seeds, sizeof *rate, by_rate);
    getrusage(RUSAGE_SELF, &use);
    printf("%-9s %-10s %5u %-6s %7.2f %-16s", device, r->what, n, r->size, rate[seeds / 2], r->unit);
    if (seeds > 1) printf(" (%.2f .. %.2f, %d seeds)", rate[0], rate[seeds - 1], seeds);
    printf(" peak memory %ld MB\n", use.ru_maxrss / 1024);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc >= 4 && i < sizeof ROWS / sizeof *ROWS; i++) {
        if (strcmp(ROWS[i].what, argv[1]) != 0) continue;
        int seeds = argc > 4 ? atoi(argv[4]) : 1;
        row(&ROWS[i], argv[2], (uint32_t)strtoul(argv[3], NULL, 10),
            seeds < 1           ? 1
            : seeds > SEEDS_MAX ? SEEDS_MAX
                                : seeds);
        return 0;
    }
    if (argc > 1) {
        fprintf(stderr, "sim_bench [copies|reductions|loops DEVICE N [SEEDS]]\n");
        return 2;
    }
    row(&ROWS[0], "sim:fast", 16, 1);
    row(&ROWS[0], "sim:fast", 128, 1);
    row(&ROWS[0], "sim:check", 8, SEEDS);
    row(&ROWS[0], "sim:check", 32, SEEDS);
    row(&ROWS[1], "sim:fast", 16, 1);
    row(&ROWS[1], "sim:check", 8, SEEDS);
    row(&ROWS[2], "sim:fast", 2000, 1);
    row(&ROWS[2], "sim:fast", 20000, 1);
    row(&ROWS[2], "sim:check", 500, SEEDS);
    row(&ROWS[2], "sim:check", 5000, SEEDS);
    return 0;
}
