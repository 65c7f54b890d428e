/* Calls the kernel `copy` of @NAME@.tile, on a GPU where there is one, else on the simulator. */
#include <stdio.h>
#include <string.h>

#include "@NAME@.h" /* made by tilecc --emit=c: it says what the functions take */

enum { ROWS = 100, COLUMNS = 136 };

static float from[ROWS][COLUMNS], to[ROWS][COLUMNS];

int main(void)
{
    tile_device *device = NULL;
    @NAME@_module *kernels = NULL;
    tile_error err;
    uint64_t src = 0, dst = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) from[i / COLUMNS][i % COLUMNS] = (float)i;

    tile_status s = tile_device_open(NULL, &device, &err);
    if (s == TILE_OK) s = @NAME@_open(device, &kernels, &err);
    if (s == TILE_OK) s = tile_alloc(device, sizeof from, &src, &err);
    if (s == TILE_OK) s = tile_alloc(device, sizeof to, &dst, &err);
    if (s == TILE_OK) s = tile_write(device, src, from, sizeof from, &err);
    if (s == TILE_OK)
        s = @NAME@_copy(kernels, NULL, (const float *)(uintptr_t)src, ROWS, COLUMNS, (float *)(uintptr_t)dst, &err);
    if (s == TILE_OK) s = tile_read(device, to, dst, sizeof to, &err);

    int same = s == TILE_OK && memcmp(from, to, sizeof to) == 0;
    if (s != TILE_OK) fprintf(stderr, "%s\n", err.text);
    else printf("%s on %s\n", same ? "the same" : "different", tile_device_name(device));
    @NAME@_close(kernels);
    tile_release(device, src, NULL);
    tile_release(device, dst, NULL);
    tile_device_close(device);
    return same ? 0 : 1;
}
