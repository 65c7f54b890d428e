/* The runtime without the compiler. Works on a machine without a driver too, where it says so. */
#include <stdio.h>
#include <string.h>

#include <tile.h>

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(tile_error) == 4100, "tile_error");
_Static_assert(sizeof(tile_param) == 40, "tile_param");
_Static_assert(sizeof(tile_launch_facts) == 104, "tile_launch_facts");
_Static_assert(TILE_U8 == 0 && TILE_BF16 == 9 && TILE_B6A16 == 17, "element types keep their numbers");
#endif

int main(void)
{
    tile_device *device = NULL;
    tile_error err;
    if (strcmp(tile_type_name(TILE_BF16), "bf16") != 0) return 1;
    tile_status status = tile_device_open("cuda", &device, &err);
    if (status == TILE_OK) {
        printf("%s\n", tile_device_name(device));
        tile_device_close(device);
        return 0;
    }
    printf("%s\n", err.text);
    return status == TILE_ERROR_NO_DEVICE && err.text[0] ? 0 : 1;
}
