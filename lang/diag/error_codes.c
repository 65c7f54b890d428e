/* Codes of errors without their texts: all that a launch says of them. */
#include <string.h>

#include "lang/diag/diag.h"

static const char CODES[][6] = {
#define ERROR(code, cls, rule, source, explain) #code,
#include "lang/errors.def"
#undef ERROR
};

const char *error_code(ErrorCode c)
{
    return CODES[c];
}

bool error_find(const char *code, ErrorCode *out)
{
    for (int i = 0; i < ERROR_COUNT; i++) {
        if (strcmp(CODES[i], code) != 0) continue;
        *out = (ErrorCode)i;
        return true;
    }
    return false;
}
