/* replay SUFFIX FILE-OR-FOLDER..: runs a fuzz target over files without libFuzzer: each file as it is, cut at some
 * places, and with one byte changed at some places. Of folders only files with the suffix (".tile") or without any are
 * taken.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { CUTS = 8, LARGEST = 1 << 20 };

static unsigned long files, runs;
static const char *suffix;

static void run(const unsigned char *data, size_t size)
{
    /* A block of its own size, so that reading past the end is seen. */
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) exit(3);
    if (size) memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    runs++;
}

static void replay_file(const char *path)
{
    static unsigned char data[LARGEST];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(3);
    }
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    files++;
    run(data, size);
    for (size_t i = 1; i < CUTS && size >= CUTS; i++) {
        size_t at = size * i / CUTS;
        run(data, at);
        unsigned char kept = data[at];
        data[at] = (unsigned char)(kept ^ (1u << i));
        run(data, size);
        data[at] = kept;
    }
}

static bool wanted(const char *path)
{
    const char *dot = strrchr(path, '.');
    return !dot || strchr(dot, '/') || strcmp(dot, suffix) == 0;
}

static void replay(const char *path, bool given)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        perror(path);
        exit(3);
    }
    if (!S_ISDIR(st.st_mode)) {
        if (given || wanted(path)) replay_file(path);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') replay(name, false);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    suffix = argv[1];
    for (int i = 2; i < argc; i++) replay(argv[i], true);
    printf("%lu files, %lu inputs\n", files, runs);
    return files > 0 ? 0 : 1;
}
