/* The compiler as a library; and the layout of its public structs, which must not change within a version. */
#include <stdio.h>
#include <string.h>

#include <tilecc.h>

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(tilecc_define) == 16, "tilecc_define");
_Static_assert(sizeof(tilecc_options) == 192, "tilecc_options");
_Static_assert(sizeof(tilecc_result) == 104, "tilecc_result");
#endif

int main(void)
{
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX};
    const char *wrong = "kernel broken(";
    tilecc_result *r = tilecc_compile(&opt, "broken.tile", wrong, strlen(wrong));
    if (!r) return 3;
    int ok = r->status == TILECC_ERROR_SOURCE && r->errors > 0 && r->diagnostics_size == strlen(r->diagnostics) &&
             !r->output;
    if (!ok) printf("status %d, %u errors, %s\n", (int)r->status, r->errors, r->diagnostics);
    tilecc_free(r);
    if (strcmp(tilecc_version(), TILECC_VERSION) != 0) ok = 0;
    return ok ? 0 : 1;
}
