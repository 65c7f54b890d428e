#include "runtime/sim/device_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/report.h"

/* Numbers: name, least, most, default. Steps: a minute or so of fast mode. SMs, L2: so small that the loops of a kernel
 * whose work is dealt have several turns, and that hints are on where more than a few tiles are moved. */
typedef enum Number { SEED, SCHEDULES, STEPS, BYTES, SECONDS, SMS, L2, NUMBERS } Number;
static const struct {
    const char *name;
    uint64_t least, most, value;
} LIMITS[NUMBERS] = {
    [SEED] = {"seed", 0, UINT64_MAX, 1},
    [SCHEDULES] = {"schedules", 1, 1000000, 50},
    [STEPS] = {"steps", 1, UINT64_MAX, UINT64_C(5000000000)},
    [BYTES] = {"bytes", 1, UINT64_MAX, UINT64_C(16) << 30},
    [SECONDS] = {"seconds", 1, 1000000, 600},
    [SMS] = {"sms", 1, 132, 3},
    [L2] = {"l2", 0, INT64_MAX, 65536},
};

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

/* One word into `numbers`, the mode or the target; else the sentence that says what is wrong with it. */
static tile_status read_word(Word w, uint64_t numbers[NUMBERS], DeviceWords *out, tile_error *err)
{
    static const char *const MODES[] = {"fast", "check", "fuzz"};
    for (int i = 0; i < 3; i++) {
        if (!is_word(w, MODES[i])) continue;
        out->options.mode = (SimMode)i;
        return TILE_OK;
    }
    if (is_word(w, "trust")) {
        out->options.check_trust = true;
        return TILE_OK;
    }
    int shown = (int)(w.n < 80 ? w.n : 80);
    const char *equals = memchr(w.s, '=', w.n);
    Word name = {w.s, equals ? (size_t)(equals - w.s) : w.n};
    Word value = {w.s + name.n + (equals != NULL), w.n - name.n - (equals != NULL)};
    for (int i = 0; i < NUMBERS; i++) {
        if (!is_word(name, LIMITS[i].name)) continue;
        if (read_number(value, LIMITS[i].least, LIMITS[i].most, &numbers[i])) return TILE_OK;
        return fail(err, TILE_ERROR_ARGUMENT,
                    "`%.*s`: the simulator's option `%s` takes a number from %" PRIu64 " to %" PRIu64, shown, w.s,
                    LIMITS[i].name, LIMITS[i].least, LIMITS[i].most);
    }
    if (is_word(name, "arch")) {
        if (read_target(value, &out->target)) return TILE_OK;
        return fail(err, TILE_ERROR_ARGUMENT, "`%.*s` is no target that the simulator knows", shown, w.s);
    }
    return fail(err, TILE_ERROR_ARGUMENT,
                "the simulator has no option `%.*s`; it has fast, check, fuzz, trust, seed=N, schedules=N, steps=N, bytes=N, "
                "seconds=N, sms=N, l2=N, arch=TARGET, trace=FILE",
                shown, w.s);
}

tile_status sim_read_options(const char *words, const Host *host, DeviceWords *out, char **trace, tile_error *err)
{
    uint64_t numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) numbers[i] = LIMITS[i].value;
    *out = (DeviceWords){.options = {.mode = SIM_CHECK}, .target = target_find("sm_90a")};
    *trace = NULL;
    for (const char *p = words ? words : ""; *p;) {
        if (strncmp(p, "trace=", 6) == 0 && p[6]) { /* takes the rest: paths have commas */
            *trace = host_resize(host, NULL, strlen(p + 6) + 1);
            if (!*trace) return fail(err, TILE_ERROR_MEMORY, "out of memory");
            memcpy(*trace, p + 6, strlen(p + 6) + 1);
            break;
        }
        Word w = {p, strcspn(p, ",")};
        tile_status s = read_word(w, numbers, out, err);
        if (s != TILE_OK) return s;
        p += w.n;
        if (*p == ',') p++;
    }
    SimOptions *o = &out->options;
    o->seed = numbers[SEED];
    o->schedules = (uint32_t)numbers[SCHEDULES];
    o->max_steps = numbers[STEPS];
    o->max_bytes = numbers[BYTES];
    o->max_seconds = (double)numbers[SECONDS];
    out->sms = (int)numbers[SMS];
    out->l2 = (int64_t)numbers[L2];
    return TILE_OK;
}
