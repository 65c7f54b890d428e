/* What the derived cache hints of a streaming kernel leave in L2 for the kernel after it.
 *
 *     hints_next                 from the repository's root; needs a GPU
 *
 * Per round: data of 24 MB is copied, so that it lies in L2; then 1 GiB is copied to 1 GiB with or without hints; then
 * the next kernel copies 24 MB, and only it is timed: the data from the start, the end of what the big copy read, and the
 * end of what it wrote. Medians of 21 rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/moves_device.h"

enum { ROUNDS = 21, COLUMNS = 16384, ROWS = 32768, NEXT_ROWS = 768, ROW_BYTES = COLUMNS * 2 };

static tile_args *args_of(Machine *m, tile_module *module, uint64_t src, uint64_t dst, int64_t rows)
{
    tile_error err;
    tile_args *args;
    int64_t shape[] = {rows, COLUMNS};
    (void)m;
    if (tile_args_new(tile_kernel_find(module, "copy"), &args, &err) != TILE_OK ||
        tile_bind(args, "src", src, 0, TILE_BF16, 2, shape, NULL, &err) != TILE_OK ||
        tile_bind(args, "dst", dst, 0, TILE_BF16, 2, shape, NULL, &err) != TILE_OK)
        die(err.text);
    return args;
}

static tile_module *compiled(Machine *m, int hints)
{
    char why[512];
    tile_module *module;
    Variant v = {.file = "bench/tile/copy.tile", .kernel = "copy", .hints = hints};
    if (!machine_compile(m, &v, &module, why, sizeof why)) die(why);
    return module;
}

static void launch(tile_args *args)
{
    tile_error err;
    if (tile_launch(args, NULL, &err) != TILE_OK) die(err.text);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float next_ms(Machine *m, tile_args *warm, tile_args *big, tile_args *next)
{
    float ms[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        tile_error err;
        launch(warm);
        launch(big);
        bool ok = m->api.EventRecord(m->events[0], NULL) == CU_OK;
        launch(next);
        ok = ok && m->api.EventRecord(m->events[1], NULL) == CU_OK;
        if (tile_synchronize(m->device, NULL, &err) != TILE_OK) die(err.text);
        if (!ok || m->api.EventElapsedTime(&ms[i], m->events[0], m->events[1]) != CU_OK) die("the events failed");
    }
    qsort(ms, ROUNDS, sizeof *ms, by_value);
    return ms[ROUNDS / 2];
}

int main(void)
{
    Machine m;
    tile_error err;
    uint64_t src, dst, data, out;
    if (!machine_open(&m, "cuda")) return 3;
    size_t big = (size_t)ROWS * ROW_BYTES, small = (size_t)NEXT_ROWS * ROW_BYTES;
    if (tile_alloc(m.device, big, &src, &err) || tile_alloc(m.device, big, &dst, &err) ||
        tile_alloc(m.device, small, &data, &err) || tile_alloc(m.device, small, &out, &err))
        die(err.text);
    tile_module *plain = compiled(&m, -1), *hinted = compiled(&m, 1);
    tile_args *warm = args_of(&m, plain, data, out, NEXT_ROWS);
    tile_args *bigs[] = {args_of(&m, plain, src, dst, ROWS), args_of(&m, hinted, src, dst, ROWS)};
    const struct {
        const char *what;
        uint64_t from;
    } nexts[] = {{"data from before the big copy", data},
                 {"the end of what it read", src + big - small},
                 {"the end of what it wrote", dst + big - small}};
    printf("| the next kernel reads | ms, big copy without hints | with hints |\n| --- | --- | --- |\n");
    for (size_t n = 0; n < sizeof nexts / sizeof *nexts; n++) {
        tile_args *next = args_of(&m, plain, nexts[n].from, out, NEXT_ROWS);
        printf("| %s | %.4f | %.4f |\n", nexts[n].what, (double)next_ms(&m, warm, bigs[0], next),
               (double)next_ms(&m, warm, bigs[1], next));
    }
    machine_close(&m);
    return 0;
}
