/* Outputs that would destroy an input or each other, files are compared, not names alone; and those that can't be written at all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tilecc/cli.h"

static bool same_node(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder that a file is in, or will be; from malloc. */
static char *folder_of(const char *path)
{
    size_t n = (size_t)(file_base_name(path) - path);
    return n ? copy_text(path, n) : copy_text(".", 1);
}

static bool stat_folder(const char *path, struct stat *out)
{
    char *folder = folder_of(path);
    bool ok = stat(folder, out) == 0;
    free(folder);
    return ok;
}

/* Devices and pipes are written to, not replaced: they are never the same. */
static bool same_file(const char *output, const char *other, bool other_is_input)
{
    struct stat a, b;
    if (strcmp(output, "-") == 0 || (!other_is_input && strcmp(other, "-") == 0)) return false;
    bool there = stat(output, &a) == 0;
    bool other_there = strcmp(other, "-") == 0 ? fstat(0, &b) == 0 : stat(other, &b) == 0;
    if (there && other_there) return S_ISREG(a.st_mode) && same_node(&a, &b);
    return !there && !other_there && strcmp(file_base_name(output), file_base_name(other)) == 0 && stat_folder(output, &a) &&
           stat_folder(other, &b) && same_node(&a, &b);
}

bool outputs_are_apart(const char *const *outputs, size_t n, const char *const *inputs, size_t ninputs)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ninputs; k++) {
            if (!same_file(outputs[i], inputs[k], true)) continue;
            bool standard = strcmp(inputs[k], "-") == 0;
            complain("the output '%s' would replace the input %s%s%s: give it another name", outputs[i],
                     standard ? "" : "'", standard ? "on standard input" : inputs[k], standard ? "" : "'");
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (!same_file(outputs[i], outputs[k], false)) continue;
            complain("two outputs would be one file, '%s' and '%s': give one of them another name", outputs[k],
                     outputs[i]);
            return false;
        }
    }
    return true;
}

bool outputs_can_be_written(const char *const *outputs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        if (strcmp(outputs[i], "-") == 0) continue;
        char *folder = folder_of(outputs[i]);
        bool there = stat(outputs[i], &st) == 0, ok = access(there ? outputs[i] : folder, there ? W_OK : W_OK | X_OK) == 0;
        if (there && S_ISDIR(st.st_mode)) ok = false, errno = EISDIR;
        if (!ok) complain("can't write '%s': %s", outputs[i], strerror(errno));
        free(folder);
        if (!ok) return false;
    }
    return true;
}
