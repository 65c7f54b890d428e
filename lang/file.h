/* Files that are read whole: what may be opened.
 *
 * What is read must have an end. Devices have none, pipes have one only where somebody waits for it, and what is larger
 * than FILE_MOST is no program; the size of a regular file says so before it is read, of a pipe the reader finds out.
 */
#ifndef LANG_FILE_H
#define LANG_FILE_H

#include <stdbool.h>

enum { FILE_MOST = 1 << 30 }; /* bytes */
#define FILE_TOO_LARGE "is larger than 1 GiB"

/* NULL: it may be opened, or is not there; else what it is, a clause for behind its name. */
const char *file_refused(const char *path, bool pipes);
bool file_exists(const char *path);

#endif
