#include "runtime/sim/device_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/report.h"

#define DEFAULT_STEPS UINT64_C(1000000000000)
#define DEFAULT_BYTES (UINT64_C(16) << 30)
#define DEFAULT_SECONDS 600.0
#define DEFAULT_SCHEDULES 50

typedef struct Word {
    const char *s;
    size_t n;
} Word;

static bool is_word(Word w, const char *text)
{
    return strlen(text) == w.n && memcmp(w.s, text, w.n) == 0;
}

static bool read_number(Word w, uint64_t least, uint64_t most, uint64_t *out)
{
    char text[24];
    if (w.n == 0 || w.n >= sizeof text || w.s[0] < '0' || w.s[0] > '9') return false;
    memcpy(text, w.s, w.n);
    text[w.n] = 0;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !*end && !errno && *out >= least && *out <= most;
}

static bool read_target(Word w, const TargetInfo **out)
{
    char text[24];
    if (w.n >= sizeof text) return false;
    memcpy(text, w.s, w.n);
    text[w.n] = 0;
    *out = target_find(text);
    return *out != NULL;
}

/* NAME=VALUE; false: not known or out of range. */
static bool read_pair(Word name, Word value, DeviceWords *out)
{
    uint64_t n = 0;
    SimOptions *o = &out->options;
    if (is_word(name, "seed")) return read_number(value, 0, UINT64_MAX, &o->seed);
    if (is_word(name, "steps")) return read_number(value, 1, UINT64_MAX, &o->max_steps);
    if (is_word(name, "bytes")) return read_number(value, 1, UINT64_MAX, &o->max_bytes);
    if (is_word(name, "arch")) return read_target(value, &out->target);
    if (is_word(name, "schedules") && read_number(value, 1, 1000000, &n)) {
        o->schedules = (uint32_t)n;
        return true;
    }
    if (is_word(name, "seconds") && read_number(value, 1, 1000000, &n)) {
        o->max_seconds = (double)n;
        return true;
    }
    return false;
}

static bool read_word(Word w, DeviceWords *out)
{
    static const char *const MODES[] = {"fast", "check", "fuzz"};
    for (int i = 0; i < 3; i++) {
        if (!is_word(w, MODES[i])) continue;
        out->options.mode = (SimMode)i;
        return true;
    }
    const char *equals = memchr(w.s, '=', w.n);
    if (!equals) return false;
    size_t n = (size_t)(equals - w.s);
    return read_pair((Word){w.s, n}, (Word){equals + 1, w.n - n - 1}, out);
}

tile_status sim_read_options(const char *words, DeviceWords *out, char **trace, tile_error *err)
{
    *out = (DeviceWords){.options = {.mode = SIM_CHECK,
                                     .seed = 1,
                                     .schedules = DEFAULT_SCHEDULES,
                                     .max_steps = DEFAULT_STEPS,
                                     .max_bytes = DEFAULT_BYTES,
                                     .max_seconds = DEFAULT_SECONDS},
                         .target = target_find("sm_90a")};
    *trace = NULL;
    for (const char *p = words ? words : ""; *p;) {
        if (strncmp(p, "trace=", 6) == 0 && p[6]) { /* takes the rest: paths have commas */
            *trace = malloc(strlen(p + 6) + 1);
            if (!*trace) return fail(err, TILE_ERROR_MEMORY, "out of memory");
            memcpy(*trace, p + 6, strlen(p + 6) + 1);
            break;
        }
        Word w = {p, strcspn(p, ",")};
        if (!read_word(w, out))
            return fail(err, TILE_ERROR_ARGUMENT,
                        "the simulator has no option `%.*s`; it has fast, check, fuzz, seed=N, schedules=N, steps=N, "
                        "bytes=N, seconds=N, arch=TARGET, trace=FILE",
                        (int)(w.n < 80 ? w.n : 80), p);
        p += w.n;
        if (*p == ',') p++;
    }
    return TILE_OK;
}
