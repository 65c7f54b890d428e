/* Calls what `two words.tile` became, on the simulator, and has the header of a module of the library. */
#include <stdio.h>
#include <string.h>

#include "rows.h"
#include "two words.h"

enum { ROWS = 20, COLUMNS = 36 };
static int32_t from[ROWS][COLUMNS], to[ROWS][COLUMNS];

int main(void)
{
    tile_device *device = NULL;
    two_words_module *kernels = NULL;
    rows_module *rows = NULL;
    tile_error err;
    uint64_t src = 0, dst = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) from[i / COLUMNS][i % COLUMNS] = i * 3 + 1;
    tile_status s = tile_device_open("sim", &device, &err);
    if (s == TILE_OK) s = rows_open(device, &rows, &err);
    if (s == TILE_OK) s = two_words_open(device, &kernels, &err);
    if (s == TILE_OK) s = tile_alloc(device, sizeof from, &src, &err);
    if (s == TILE_OK) s = tile_alloc(device, sizeof to, &dst, &err);
    if (s == TILE_OK) s = tile_write(device, src, from, sizeof from, &err);
    if (s == TILE_OK)
        s = two_words_copy(kernels, NULL, (const int32_t *)(uintptr_t)src, ROWS, COLUMNS, (int32_t *)(uintptr_t)dst, &err);
    if (s == TILE_OK) s = tile_read(device, to, dst, sizeof to, &err);
    if (s != TILE_OK) printf("app: %s\n", err.text);
    tile_release(device, src, NULL);
    tile_release(device, dst, NULL);
    two_words_close(kernels);
    rows_close(rows);
    tile_device_close(device);
    return s == TILE_OK && memcmp(from, to, sizeof to) == 0 ? 0 : 1;
}
