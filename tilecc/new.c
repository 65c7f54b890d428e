/* tilecc new: a folder to start from. It is made under another name and takes its own when all is there. */
#include "tilecc/commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tilecc/cli.h"
#include "tilecc/embedded.h"

/* The files of new/, and what they are called in the folder; @ stands for the name. */
static const struct {
    const char *from, *to;
} FILES[] = {
    {"program.tile", "@.tile"}, {"use.c", "use_@.c"},    {"use.py", "use_@.py"}, {"CMakeLists.txt", "CMakeLists.txt"},
    {"Makefile", "Makefile"},   {"README.md", "README.md"},
};
enum { NFILES = sizeof FILES / sizeof FILES[0], NAME_MOST = 64 };

const Embedded *embedded_find(const char *name)
{
    const Embedded *e = embedded_files;
    while (strcmp(e->name, name) != 0) e++;
    return e;
}

/* `text` with `name` for each `mark`, from malloc. */
static char *fill_in(const char *text, const char *mark, const char *name, size_t *size)
{
    size_t n = 0, marks = 0;
    for (const char *p = text; (p = strstr(p, mark)) != NULL; p += strlen(mark)) marks++;
    char *out = must_alloc(strlen(text) + marks * strlen(name) + 1);
    for (const char *p = text; *p;) {
        bool is_mark = strncmp(p, mark, strlen(mark)) == 0;
        const char *piece = is_mark ? name : p;
        size_t length = is_mark ? strlen(name) : 1;
        memcpy(out + n, piece, length);
        n += length;
        p += is_mark ? strlen(mark) : 1;
    }
    out[n] = 0;
    *size = n;
    return out;
}

/* What --emit=c calls a pair of files. */
static bool good_in_c(const char *name)
{
    tilecc_result *r = tilecc_write_c(name, NULL, 0, 0, TILECC_C_HEADER);
    bool good = r && r->status == TILECC_OK;
    if (!good) complain("%s", r ? r->message : "memory ran out");
    tilecc_free(r);
    return good;
}

/* What the names of functions begin with and a target of CMake may be called. */
static bool good_name(const char *name)
{
    static const char *const TAKEN[] = {"all", "test", "install", "clean"};
    size_t n = strlen(name);
    bool good = n > 0 && n <= NAME_MOST && !isdigit((unsigned char)name[0]);
    for (size_t i = 0; i < n && good; i++) good = (name[i] >= '0' && name[i] <= '9') || name[i] == '_' || isalpha((unsigned char)name[i]);
    if (!good) {
        complain("'%s' is no name for a program: letters, digits and _, no digit first, at most %d", name, NAME_MOST);
        return false;
    }
    for (size_t i = 0; i < sizeof TAKEN / sizeof TAKEN[0] && good; i++) good = strcmp(name, TAKEN[i]) != 0;
    if (!good) complain("'%s' is a name that CMake or make has: another one is needed", name);
    return good && good_in_c(name);
}

/* Writes the files into `folder`, which is then renamed to `path`; where that fails they are gone again. */
static bool fill_folder(const char *folder, const char *path, const char *name)
{
    OutFile files[NFILES];
    char *paths[NFILES], *texts[NFILES];
    for (size_t i = 0; i < NFILES; i++) {
        const Embedded *e = embedded_find(FILES[i].from);
        size_t size;
        char *file = fill_in(FILES[i].to, "@", name, &size);
        paths[i] = printed("%s/%s", folder, file);
        free(file);
        texts[i] = fill_in(e->text, "@NAME@", name, &size);
        files[i] = (OutFile){paths[i], texts[i], size};
    }
    bool ok = write_files(files, NFILES);
    if (ok && rename(folder, path) != 0) {
        complain("can't make '%s': %s", path, strerror(errno));
        ok = false;
    }
    if (!ok)
        for (size_t i = 0; i < NFILES; i++) unlink(paths[i]);
    for (size_t i = 0; i < NFILES; i++) {
        free(paths[i]);
        free(texts[i]);
    }
    return ok;
}

/* It takes a moment only: signals come before or after. */
static bool make_folder(const char *path, const char *name)
{
    sigset_t before;
    hold_signals(&before);
    char *temp = printed("%s.XXXXXX", path);
    mode_t mask = umask(0);
    umask(mask);
    bool made = mkdtemp(temp) != NULL, ok = made;
    if (!made) complain("can't make '%s': %s", path, strerror(errno));
    ok = ok && chmod(temp, 0777 & ~mask) == 0 && fill_folder(temp, path, name);
    if (made && !ok) rmdir(temp);
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(temp);
    return ok;
}

int command_new(const char *where)
{
    size_t n = strlen(where);
    char *path = copy_text(where, n);
    while (n > 1 && path[n - 1] == '/') path[--n] = 0;
    const char *name = file_base_name(path);
    struct stat st;
    int code = EXIT_USAGE;
    if (good_name(name)) {
        code = EXIT_ENVIRONMENT;
        if (lstat(path, &st) == 0) complain("'%s' is there already: nothing was written", path);
        else if (make_folder(path, name)) code = EXIT_OK;
    }
    if (code == EXIT_OK) printf("%s: `tilecc test %s` tests its kernels; README.md there says how they are called from C and Python\n", path, path);
    free(path);
    return code == EXIT_OK && !finish_stdout() ? EXIT_ENVIRONMENT : code;
}
