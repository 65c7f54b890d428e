/* The kernels of a module as functions of C: the text of a header and of a source (tilecc_write_c()).
 *
 * In: the images of one program, each for one target, with their manifests. Out: text, the same for the same input; it compiles as C99 and
 * as C++17. What the functions do is libtile's: they bind by name and launch, so that there is one place where launches are checked.
 *
 * Invariants: every function of C has one name, and every parameter of it one that is no word of C or C++.
 */
#ifndef PTXGEN_C_INTERFACE_H
#define PTXGEN_C_INTERFACE_H

#include "lang/manifest/manifest.h"
#include "tilecc.h"

typedef struct CInterface {
    Arena *arena;
    const char *file;            /* of the header and the source, without suffix */
    const char *name;            /* what all names begin with */
    uint32_t hash;               /* of the images: tells headers of one name apart */
    bool driver;                 /* opens the device itself: libtile is in the source, and its types are in the header */
    const tilecc_image *images;  /* in the order in which they are tried */
    const Manifest *manifests;   /* of each */
    size_t nimages;
} CInterface;

/* NULL, or why the images don't belong together. */
const char *c_interface_differs(const CInterface *c);
void c_interface_header(const CInterface *c, Text *out);
void c_interface_source(const CInterface *c, Text *out);

#endif
