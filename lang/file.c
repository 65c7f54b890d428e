#include "lang/file.h"

#include <stddef.h>
#include <sys/stat.h>

const char *file_refused(const char *path, bool pipes)
{
    struct stat st;
    if (stat(path, &st) != 0) return NULL;
    if (S_ISREG(st.st_mode)) return st.st_size > FILE_MOST ? FILE_TOO_LARGE : NULL;
    if (S_ISDIR(st.st_mode)) return "is a directory";
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) return "is a device, not a file";
    return pipes ? NULL : "is a pipe, not a file";
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}
