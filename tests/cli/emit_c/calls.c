/* The functions that kernels.tile became, called on the simulator; as C and as C++. What comes out is compared with loops. */
#include <stdio.h>
#include <string.h>

#include "kernels.h"

#define CHECK(cond)                                                          \
    do {                                                                     \
        if (cond) break;                                                     \
        printf("calls.c:%d: %s (%s)\n", __LINE__, #cond, err.text);          \
        failures++;                                                          \
    } while (0)

enum { ROWS = 100, COLUMNS = 72, BYTES = ROWS * COLUMNS * 4 };
static int failures;
static tile_error err;
static unsigned char in[BYTES], out[BYTES], zeros[BYTES];

static void fresh(tile_device *device, uint64_t a, uint64_t b)
{
    for (int i = 0; i < BYTES; i++) in[i] = (unsigned char)(i * 7 + i / 251);
    CHECK(tile_write(device, a, in, BYTES, &err) == TILE_OK);
    CHECK(tile_write(device, b, zeros, BYTES, &err) == TILE_OK);
}

int main(void)
{
    tile_device *device = NULL;
    kernels_module *k = NULL;
    uint64_t a = 0, b = 0;
    CHECK(kernels_open(NULL, &k, &err) == TILE_ERROR_ARGUMENT && !k && err.text[0]);
    CHECK(tile_device_open("sim", &device, &err) == TILE_OK);
    CHECK(kernels_open(device, NULL, &err) == TILE_ERROR_ARGUMENT && err.status == TILE_ERROR_ARGUMENT);
    CHECK(kernels_open(device, &k, &err) == TILE_OK && k && err.text[0] == 0);
    CHECK(tile_alloc(device, BYTES, &a, &err) == TILE_OK && tile_alloc(device, BYTES, &b, &err) == TILE_OK);
    void *const pa = (void *)(uintptr_t)a, *const pb = (void *)(uintptr_t)b;

    fresh(device, a, b);
    CHECK(kernels_copy(k, NULL, pa, ROWS, COLUMNS, pb, &err) == TILE_OK);
    CHECK(tile_read(device, out, b, BYTES, &err) == TILE_OK);
    CHECK(memcmp(in, out, ROWS * COLUMNS * 2) == 0 && memcmp(out + ROWS * COLUMNS * 2, zeros, BYTES / 2) == 0);

    /* Refused: nothing is written, and it says why. */
    CHECK(kernels_copy(k, NULL, pa, ROWS, 71, pb, &err) == TILE_ERROR_CHECK && strstr(err.text, "71"));
    CHECK(kernels_copy(k, NULL, pa, -1, COLUMNS, pb, &err) == TILE_ERROR_ARGUMENT && strstr(err.text, "E1104"));
    CHECK(kernels_copy(k, NULL, pa, ROWS, COLUMNS, pa, &err) == TILE_ERROR_CHECK && strstr(err.text, "overlap"));
    CHECK(kernels_copy(k, NULL, pa, ROWS, 71, pb, NULL) == TILE_ERROR_CHECK);
    CHECK(kernels_copy(NULL, NULL, pa, ROWS, COLUMNS, pb, &err) == TILE_ERROR_ARGUMENT);
    CHECK(kernels_copy(k, NULL, NULL, 0, COLUMNS, NULL, &err) == TILE_OK); /* nothing to copy */

    /* Strides: a block of columns to rows without gaps, and back beside it. */
    fresh(device, a, b);
    const int64_t wide[2] = {COLUMNS, 1};
    CHECK(kernels_columns_strided(k, NULL, (const float *)pa + 8, 50, 32, wide, (float *)pb, NULL, &err) == TILE_OK);
    CHECK(tile_read(device, out, b, BYTES, &err) == TILE_OK);
    for (int i = 0; i < 50; i++) CHECK(memcmp(out + i * 128, in + (i * COLUMNS + 8) * 4, 128) == 0);
    CHECK(kernels_columns(k, NULL, (const float *)pa, 50, COLUMNS, (float *)pb, &err) == TILE_OK);
    CHECK(tile_read(device, out, b, BYTES, &err) == TILE_OK && memcmp(out, in, 50 * COLUMNS * 4) == 0);

    /* A size that is computed, a scalar, and a kernel whose name the module's own function has. */
    fresh(device, a, b);
    CHECK(kernels_open_(k, NULL, (const int32_t *)pa, 10, 7, (int32_t *)pb, &err) == TILE_OK);
    CHECK(tile_read(device, out, b, BYTES, &err) == TILE_OK && memcmp(out, in + 7 * 128, 10 * 128) == 0);

    kernels_close(k);
    kernels_close(NULL);
    tile_release(device, a, NULL);
    tile_release(device, b, NULL);
    tile_device_close(device);
    return failures ? 1 : 0;
}
