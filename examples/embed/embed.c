/* Compiles a .tile program at run time, binds two matrices by name, launches, compares.
 *
 *     embed [copy.tile [device]]
 *
 * Device: cuda, sim (the simulator); by default cuda where there is a GPU, else sim. Exit code 0: what came back is right;
 * 1: it is not, or something failed; 3: there is no such device.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile.h"
#include "tile_source.h"

enum { ROWS = 1000, COLUMNS = 4104, BYTES = ROWS * COLUMNS * 2 };

static tile_status copy_matrix(tile_device *device, const char *path, uint16_t *matrix, uint16_t *result,
                               tile_error *err)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    tile_module *module = NULL;
    tile_args *args = NULL;
    uint64_t src = 0, dst = 0;

    tile_use_compiler(device);
    tile_status s = tile_module_load_source(device, path, NULL, 0, NULL, 0, &module, err);
    if (s == TILE_OK) s = tile_args_new(tile_kernel_at(module, 0), &args, err);
    if (s == TILE_OK) s = tile_alloc(device, BYTES, &src, err);
    if (s == TILE_OK) s = tile_alloc(device, BYTES, &dst, err);
    if (s == TILE_OK) s = tile_write(device, src, matrix, BYTES, err);
    if (s == TILE_OK) s = tile_bind(args, "src", src, BYTES, TILE_BF16, 2, shape, NULL, err);
    if (s == TILE_OK) s = tile_bind(args, "dst", dst, BYTES, TILE_BF16, 2, shape, NULL, err);
    if (s == TILE_OK) s = tile_launch(args, NULL, err);
    if (s == TILE_OK) s = tile_synchronize(device, NULL, err);
    if (s == TILE_OK) s = tile_read(device, result, dst, BYTES, err);

    tile_args_free(args);
    tile_release(device, src, NULL);
    tile_release(device, dst, NULL);
    tile_module_free(module);
    return s;
}

int main(int argc, char **argv)
{
    tile_error err;
    tile_device *device;
    tile_status s = tile_device_open(argc > 2 ? argv[2] : NULL, &device, &err);
    if (s != TILE_OK) {
        printf("embed: %s\n", err.text);
        return s == TILE_ERROR_NO_DEVICE ? 3 : 1;
    }
    uint16_t *matrix = malloc(BYTES), *result = calloc(1, BYTES);
    if (!matrix || !result) {
        printf("embed: out of memory\n");
        return 1;
    }
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) matrix[i] = (uint16_t)(i * 2654435761u >> 16);

    int code = 1;
    if (copy_matrix(device, argc > 1 ? argv[1] : "copy.tile", matrix, result, &err) != TILE_OK)
        printf("embed: %s\n", err.text);
    else if (memcmp(matrix, result, BYTES) != 0) printf("embed: the copy differs from the original\n");
    else {
        printf("embed: %d bytes copied by %s, all the same\n", BYTES, tile_device_name(device));
        code = 0;
    }
    free(matrix);
    free(result);
    tile_device_close(device);
    return code;
}
