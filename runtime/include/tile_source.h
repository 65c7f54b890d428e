/* tile_source.h - lets tile_module_load_source compile, for programs that link libtilecc too (libtile_source).
 *
 * Kept apart from libtile so that a program that only loads cubins or PTX links no compiler.
 */
#ifndef TILE_SOURCE_H
#define TILE_SOURCE_H

#include "tile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on the device compiles .tile source with tilecc_compile. Once per device, before the first
 * tile_module_load_source. Where no assembler is found, PTX is handed to the driver's own compiler. Assemblers are
 * looked for as tilecc.h says for NULL. What was compiled before comes from the disk cache (tilecc.h, tilecc_cache; TILECC_CACHE=off in
 * the environment switches it off). d NULL: nothing. */
TILE_API void tile_use_compiler(tile_device *d);

#ifdef __cplusplus
}
#endif
#endif
