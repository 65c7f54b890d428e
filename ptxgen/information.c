/* What the compiler has inside and says without a program: texts of error codes, targets, modules of the library, its version. */
#include <string.h>

#include "frontend/stdlib_embed.h"
#include "lang/diag/diag.h"
#include "lang/lang.h"
#include "tilecc.h"

const char *tilecc_explain(const char *code, const char **rule, const char **source)
{
    ErrorCode c;
    if (!code || !error_find(code, &c)) return NULL;
    const ErrorInfo *i = error_info(c);
    if (rule) *rule = i->rule;
    if (source) *source = i->source;
    return i->explain;
}

const char *tilecc_target(size_t i)
{
    for (size_t k = 0; k < target_count(); k++)
        if (!target_at(k)->today[0] && i-- == 0) return target_at(k)->name;
    return NULL;
}

const char *tilecc_library(const char *module, size_t *size, const char **path)
{
    size_t n;
    const StdlibFile *lib = stdlib_files(&n);
    for (size_t i = 0; module && i < n; i++) {
        if (strcmp(lib[i].module, module) != 0) continue;
        if (size) *size = lib[i].size;
        if (path) *path = lib[i].path;
        return lib[i].text;
    }
    return NULL;
}

const char *tilecc_library_at(size_t i)
{
    size_t n;
    const StdlibFile *lib = stdlib_files(&n);
    return i < n ? lib[i].module : NULL;
}

const char *tilecc_version(void) { return TILECC_VERSION; }
