/* ptx_run [--device NAME] [--seed N] [--schedules N] FILE.ptx..: runs PTX files by the directives in their comments.
 *
 * Without --device: in the simulator's check mode, then --schedules fuzzed schedules. With it: once on that device, with
 * the name as it stands ("cuda", "sim:fast"). A file with `//! fails` must be reported with one of its codes; it is only
 * run in the simulator, as is one whose .target the device can't run. Exit code: 0, 1 a file failed, 2 wrong use or a
 * broken file, 77 there is no such device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/case.h"

/* A wrong program may run for ever; a right one may wait long for a copy that the schedule keeps back. */
enum { STEPS_WRONG = 2000000, STEPS_RIGHT = 200000000 };

typedef struct Options {
    const char *device;
    uint64_t seed;
    unsigned long schedules;
} Options;

static tile_device *open_device(const char *name)
{
    tile_device *d = NULL;
    tile_error err;
    tile_status s = tile_device_open(name, &d, &err);
    if (s == TILE_OK) return d;
    fprintf(stderr, "%s: %s\n", name, err.text);
    exit(s == TILE_ERROR_NO_DEVICE ? 77 : 2);
}

static bool has_code(const Case *c, const char *said)
{
    for (int i = 0; i < c->nfails; i++)
        if (strncmp(said, c->fails[i], strlen(c->fails[i])) == 0) return true;
    return false;
}

static bool run_on(const Case *c, const char *device, const char *image, size_t size, uint64_t seed)
{
    tile_device *d = open_device(device);
    Verdict v;
    case_run(c, d, image, size, seed, &v);
    tile_device_close(d);
    bool good = c->nfails ? !v.ran && has_code(c, v.said) : v.ran && v.right;
    if (!good) {
        printf("FAILED: %s on %s, data of seed %llu: %s\n", c->path, device, (unsigned long long)seed,
               c->nfails && v.ran ? "ran, and should have been reported" : v.said);
        for (int i = 0; i < c->nfails; i++) printf("    expected: %s\n", c->fails[i]);
    }
    return good;
}

/* Prints why the device can't run code for the file's .target. */
static bool is_for_another(const char *path, const char *device, const char *text)
{
    char name[16] = "", why[300];
    const char *at = strstr(text, "\n.target ");
    if (at == NULL || sscanf(at, " .target %15[a-z0-9_]", name) != 1) return false;
    const TargetInfo *target = target_find(name);
    tile_device *d = open_device(device);
    const char *refused = target ? device_refuses(d, target, true, why, sizeof why) : NULL;
    if (refused) printf("%s: not run, %s\n", path, refused);
    tile_device_close(d);
    return refused != NULL;
}

static bool run_file(const char *path, const Options *o)
{
    size_t size;
    char *text = read_text(path, &size);
    const char *at = text;
    int line = 1;
    Case c;
    if (!case_read(&c, path, &at, &line)) give_up("%s: no directives", path);
    bool good = true;
    char name[120];
    if (o->device) {
        bool sim = strncmp(o->device, "sim", 3) == 0;
        if (c.nfails && !sim) printf("%s: not run, it must fail\n", path);
        else if (sim || !is_for_another(path, o->device, text)) good = run_on(&c, o->device, text, size, o->seed);
    } else {
        bool by_comparison = c.nfails && strcmp(c.fails[0], "E1326") == 0; /* of schedules, so one shows nothing */
        int steps = c.nfails ? STEPS_WRONG : STEPS_RIGHT;
        unsigned long schedules = by_comparison && o->schedules < 30 ? 30 : o->schedules;
        snprintf(name, sizeof name, "sim:check,seed=%llu,steps=%d", (unsigned long long)o->seed, steps);
        if (!by_comparison) good = run_on(&c, name, text, size, o->seed);
        snprintf(name, sizeof name, "sim:fuzz,seed=%llu,schedules=%lu,steps=%d", (unsigned long long)o->seed, schedules,
                 steps);
        if (good && schedules) good = run_on(&c, name, text, size, o->seed);
    }
    free(text);
    return good;
}

int main(int argc, char **argv)
{
    Options o = {.seed = (uint64_t)time(NULL) % 1000000 + 1};
    int failed = 0, files = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], "--", 2) != 0) {
            files++;
            failed += !run_file(argv[i], &o);
            continue;
        }
        if (strncmp(argv[i], "--device=", 9) == 0) {
            o.device = argv[i] + 9;
            continue;
        }
        if (!value) give_up("%s needs a value", argv[i]);
        if (strcmp(argv[i], "--device") == 0) o.device = value;
        else if (strcmp(argv[i], "--seed") == 0) o.seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--schedules") == 0) o.schedules = strtoul(value, NULL, 10);
        else give_up("there is no option %s", argv[i]);
        i++;
    }
    if (!files) give_up("usage: ptx_run [--device NAME] [--seed N] [--schedules N] FILE.ptx..");
    printf("%d of %d passed, seed %llu\n", files - failed, files, (unsigned long long)o.seed);
    return failed != 0;
}
