/* Launches a kernel that was compiled before: libtile alone, no compiler. The file is a cubin for the GPU (tilecc copy.tile
 * -o copy.cubin), or PTX, which the simulator takes, too (tilecc -S copy.tile -o copy.ptx).
 *
 *     load copy.ptx [device]
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tile.h"

enum { ROWS = 100, COLUMNS = 264 };

static uint16_t from[ROWS][COLUMNS], to[ROWS][COLUMNS]; /* bf16 */

int main(int argc, char **argv)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    tile_device *device = NULL;
    tile_module *module = NULL;
    tile_args *args = NULL;
    uint64_t src = 0, dst = 0;
    tile_error err;
    for (int i = 0; i < ROWS * COLUMNS; i++) from[i / COLUMNS][i % COLUMNS] = (uint16_t)i;

    tile_status s = tile_device_open(argc > 2 ? argv[2] : NULL, &device, &err); /* a GPU, else the simulator */
    if (s == TILE_OK) s = tile_module_load_file(device, argc > 1 ? argv[1] : "copy.ptx", &module, &err);
    if (s == TILE_OK) s = tile_args_new(tile_kernel_find(module, "copy"), &args, &err);
    if (s == TILE_OK) s = tile_alloc(device, sizeof from, &src, &err);
    if (s == TILE_OK) s = tile_alloc(device, sizeof to, &dst, &err);
    if (s == TILE_OK) s = tile_write(device, src, from, sizeof from, &err);
    if (s == TILE_OK) s = tile_bind(args, "src", src, sizeof from, TILE_BF16, 2, shape, NULL, &err);
    if (s == TILE_OK) s = tile_bind(args, "dst", dst, sizeof to, TILE_BF16, 2, shape, NULL, &err);
    if (s == TILE_OK) s = tile_launch(args, NULL, &err); /* on a stream of yours instead of NULL */
    if (s == TILE_OK) s = tile_read(device, to, dst, sizeof to, &err);

    if (s != TILE_OK) printf("load: %s\n", err.text);
    else
        printf("load: %s on %s\n", memcmp(from, to, sizeof to) == 0 ? "the same" : "different",
               tile_device_name(device));
    tile_args_free(args);
    tile_release(device, src, NULL);
    tile_release(device, dst, NULL);
    tile_module_free(module);
    tile_device_close(device);
    return s == TILE_OK && memcmp(from, to, sizeof to) == 0 ? 0 : 1;
}
