/* What --emit=c-driver made of kernels.tile: each kernel once, and launches that are refused. What the driver got it prints itself. */
#include <stdio.h>
#include <string.h>

#include "kernels.h"

int main(void)
{
    static union {
        double align;
        char bytes[1 << 16];
    } a[2];
    static char stream;
    const int64_t wide[2] = {72, 1};
    kernels_module *k = NULL;
    tile_error err;
    char *from = (char *)(((uintptr_t)a[0].bytes + 4095) & ~(uintptr_t)4095), *to = (char *)(((uintptr_t)a[1].bytes + 4095) & ~(uintptr_t)4095);
    tile_status s = kernels_open(-1, &k, &err);
    if (s != TILE_OK) {
        printf("%d %s\n", (int)s, err.text);
        return s == TILE_ERROR_NO_DEVICE && !k ? 0 : 1;
    }
    if (kernels_copy(k, NULL, from, 100, 72, to, &err) != TILE_OK) puts(err.text);
    if (kernels_copy(k, &stream, from, 100, 72, to, &err) != TILE_OK) puts(err.text);
    if (kernels_columns_strided(k, NULL, (const float *)from + 8, 50, 32, wide, (float *)to, NULL, &err) != TILE_OK) puts(err.text);
    if (kernels_open_(k, NULL, (const int32_t *)from, 10, 7, (int32_t *)to, &err) != TILE_OK) puts(err.text);
    if (kernels_copy(k, NULL, from, 100, 71, to, &err) == TILE_ERROR_CHECK && strstr(err.text, "71")) puts("71 is refused");
    if (kernels_copy(k, NULL, from, 0, 72, to, &err) != TILE_OK) puts(err.text);
    kernels_close(k);
    return 0;
}
