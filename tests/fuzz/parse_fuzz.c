/* Any bytes in: tokens and a tree come out, without a crash. Faster than compile_fuzz.c, so it gets further here. */
#include <stdlib.h>

#include "tilecc.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    tilecc_options opt = {.struct_size = sizeof opt, .emit = size % 8 ? TILECC_EMIT_AST : TILECC_EMIT_TOKENS};
    tilecc_result *r = tilecc_compile(&opt, "fuzz.tile", (const char *)data, size);
    if (r && r->status == TILECC_ERROR_INTERNAL) abort();
    if (r) tilecc_free(r);
    return 0;
}
