#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile_source.h"

static _Noreturn void die(const char *what, const char *text)
{
    fprintf(stderr, "hostile: %s: %s\n", what, text);
    exit(3);
}

void world_open(World *w, const char *device, const char *program)
{
    tile_error e;
    *w = (World){0};
    if (tile_device_open(device, &w->device, &e) != TILE_OK) {
        printf("SKIPPED: %s\n", e.text);
        exit(77);
    }
    tile_use_compiler(w->device);
    if (tile_module_load_source(w->device, program, NULL, 0, NULL, 0, &w->module, &e) != TILE_OK) die(program, e.text);
}

void world_close(World *w)
{
    tile_args_free(w->args);
    for (int i = 0; i < w->nmemory; i++) tile_release(w->device, w->memory[i], NULL);
    tile_module_free(w->module);
    tile_device_close(w->device);
}

void use(World *w, const char *kernel)
{
    tile_error e;
    tile_args_free(w->args);
    w->args = NULL;
    w->kernel = tile_kernel_find(w->module, kernel);
    if (!w->kernel) die(kernel, "no such kernel");
    if (tile_args_new(w->kernel, &w->args, &e) != TILE_OK) die(kernel, e.text);
}

uint64_t memory(World *w, uint64_t bytes)
{
    tile_error e;
    uint64_t address;
    if (w->nmemory == MOST_MEMORIES) die("memory", "too many");
    if (tile_alloc(w->device, (size_t)bytes, &address, &e) != TILE_OK) {
        printf("SKIPPED: %s\n", e.text);
        exit(77);
    }
    return w->memory[w->nmemory++] = address;
}

unsigned char pattern(uint32_t seed, uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9E3779B97F4A7C15) + seed * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 31)) * UINT64_C(0x94D049BB133111EB);
    return (unsigned char)((z >> 56) | 1); /* never the 0 of what is outside */
}

void fill(World *w, uint64_t address, size_t bytes, uint32_t seed)
{
    tile_error e;
    unsigned char *b = malloc(bytes + 1);
    if (!b) die("fill", "out of memory");
    for (size_t i = 0; i < bytes; i++) b[i] = pattern(seed, i);
    if (tile_write(w->device, address, b, bytes, &e) != TILE_OK) die("tile_write", e.text);
    free(b);
}

static void wrong(World *w, const char *what, const char *text)
{
    printf("    WRONG: %s: %s\n", what, text);
    w->failures++;
}

void expect(World *w, bool holds, const char *what)
{
    if (!holds) wrong(w, "result", what);
}

void bind_tensor(World *w, const char *param, uint64_t address, tile_type type, int rank, const int64_t *shape,
          const int64_t *strides)
{
    tile_error e;
    if (tile_bind(w->args, param, address, 0, type, rank, shape, strides, &e) != TILE_OK) wrong(w, param, e.text);
}

void bind_scalar(World *w, const char *param, int64_t value)
{
    tile_error e;
    if (tile_bind_scalar(w->args, param, value, &e) != TILE_OK) wrong(w, param, e.text);
}

static void must_fail(World *w, tile_status s, const tile_error *e, const char *code, const char *what)
{
    if (s == TILE_OK) wrong(w, what, "not refused");
    else if (s != TILE_ERROR_ARGUMENT && s != TILE_ERROR_CHECK) wrong(w, "refused with another status", e->text);
    else if (!strstr(e->text, code)) wrong(w, code, e->text);
    else printf("    refused: %.*s\n", (int)strcspn(e->text, "\n"), e->text);
}

void tensor_refused(World *w, const char *code, const char *param, uint64_t address, size_t bytes, tile_type type, int rank,
                  const int64_t *shape, const int64_t *strides)
{
    tile_error e;
    must_fail(w, tile_bind(w->args, param, address, bytes, type, rank, shape, strides, &e), &e, code, param);
}

void scalar_refused(World *w, const char *code, const char *param, int64_t value)
{
    tile_error e;
    must_fail(w, tile_bind_scalar(w->args, param, value, &e), &e, code, param);
}

void launch(World *w)
{
    tile_error e;
    if (tile_launch(w->args, NULL, &e) != TILE_OK || tile_synchronize(w->device, NULL, &e) != TILE_OK) wrong(w, "launch", e.text);
}

void launch_refused(World *w, const char *code)
{
    tile_error e;
    must_fail(w, tile_launch(w->args, NULL, &e), &e, code, "launch");
    if (tile_synchronize(w->device, NULL, &e) != TILE_OK) wrong(w, "after a refused launch", e.text);
}

void found(World *w, const char *a, const char *b)
{
    tile_error e;
    tile_status s = tile_launch(w->args, NULL, &e);
    bool looks = tile_device_simulates(w->device) && !strstr(tile_device_name(w->device), "(fast)");
    if (!looks) {
        if (s != TILE_OK || tile_synchronize(w->device, NULL, &e) != TILE_OK) wrong(w, "launch", e.text);
    } else if (s != TILE_ERROR_KERNEL || (!strstr(e.text, a) && !strstr(e.text, b))) {
        wrong(w, "no finding", e.text);
    }
}

void read_back(World *w, void *to, uint64_t address, size_t bytes)
{
    tile_error e;
    if (tile_read(w->device, to, address, bytes, &e) != TILE_OK) die("tile_read", e.text);
}

static void compare(World *w, uint64_t address, size_t bytes, uint32_t seed, uint64_t from, bool zeros)
{
    unsigned char *b = malloc(bytes + 1);
    if (!b) die("compare", "out of memory");
    read_back(w, b, address, bytes);
    for (size_t i = 0; i < bytes; i++) {
        unsigned want = zeros ? 0 : pattern(seed, from + i);
        char text[80];
        if (b[i] == want) continue;
        snprintf(text, sizeof text, "byte %zu is %02x, expected %02x", i, b[i], want);
        wrong(w, "result", text);
        break;
    }
    free(b);
}

void expect_pattern(World *w, uint64_t address, size_t bytes, uint32_t seed, uint64_t from)
{
    compare(w, address, bytes, seed, from, false);
}

void expect_zeros(World *w, uint64_t address, size_t bytes)
{
    compare(w, address, bytes, 0, 0, true);
}
