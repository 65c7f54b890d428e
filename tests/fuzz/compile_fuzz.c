/* Any bytes in: the compiler gives PTX or diagnostics, and never both or neither. */
#include <stdlib.h>
#include <string.h>

#include "tilecc.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const tilecc_error_format FORMATS[] = {TILECC_HUMAN, TILECC_SHORT, TILECC_JSON};
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX, .error_format = FORMATS[size % 3]};
    tilecc_result *r = tilecc_compile(&opt, "fuzz.tile", (const char *)data, size);
    if (!r) return 0;
    if (r->status == TILECC_ERROR_INTERNAL) abort();
    if (r->status == TILECC_OK && (!r->output || r->errors)) abort();
    if (r->status == TILECC_ERROR_SOURCE && (r->output || !r->errors || !r->diagnostics_size)) abort();
    tilecc_free(r);
    return 0;
}
