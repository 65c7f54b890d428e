tile_status sim_device_open(const char *words, tile_device **out, tile_error *err)
{
    (void)words;
    *out = NULL;
    return fail(err, TILE_ERROR_UNSUPPORTED, "there is no simulator here: it needs libtile (--emit=c)");
}

/* Codes are all that a launch says of errors.def. */
const ErrorInfo *error_info(ErrorCode c)
{
    static const ErrorInfo ROWS[] = {
#define ERROR(code, cls, rule, source, explain) {#code, DIAG_ERROR, false, rule, source, explain},
#include "lang/errors.def"
#undef ERROR
    };
    return &ROWS[c];
}

bool error_find(const char *code, ErrorCode *out)
{
    for (int c = 0; c < ERROR_COUNT; c++) {
        if (strcmp(error_info((ErrorCode)c)->code, code) != 0) continue;
        *out = (ErrorCode)c;
        return true;
    }
    return false;
}
